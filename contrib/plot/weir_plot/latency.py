# SPDX-License-Identifier: BSD-3-Clause
"""latency: how long single calls took, as a distribution and as percentiles, for each operation of each phase."""
import numpy as np

from . import describe, quantities, style
from .chosen import RATES
from .refusal import Refusal

NEEDS = (RATES,)

PERCENTILES = (50, 90, 99, 99.9)
SHARES = (0, 50, 75, 90, 95, 99, 99.9, 99.99, 99.999, 99.9999)
HEADS = ("calls", "mean", "p50", "p90", "p99", "p99.9", "max")
MOST = 14


class Row:
    """One curve: label, key for its colour, durations sorted (or None when only percentiles are known), and numbers.
    weights: how many calls each of them stands for, None: itself."""

    def __init__(self, key, label, seconds=None, numbers=None, weights=None):
        self.key, self.label, self.seconds, self.below = key, label, seconds, None
        if weights is not None:
            self.below, numbers = np.cumsum(weights), estimate(seconds, weights)
        elif seconds is not None:
            values = [seconds.mean()] + list(np.percentile(seconds, PERCENTILES)) + [seconds[-1]]
            numbers = [seconds.size] + [float(v) for v in values]
        self.numbers = numbers

    @property
    def steps(self):
        """Calls of which the slowest is the last step of the curve."""
        if self.below is None:
            return self.seconds.size
        return self.below[-1] / max(self.below[-1] - (self.below[-2] if self.below.size > 1 else 0), 1e-9)


def estimate(seconds, weights):
    """The numbers of all calls from some of them; None where too few are slower. The slowest that is there may not be
    the slowest of all."""
    below = np.cumsum(weights)
    total = below[-1]
    numbers = [int(round(total)), float((seconds * weights).sum() / total)]
    for percent in PERCENTILES:
        known = total * (1 - percent / 100) >= weights[-1]
        numbers.append(float(seconds[np.searchsorted(below, total * percent / 100)]) if known else None)
    return numbers + [float(seconds[-1]) if weights[-1] <= 1 else None]


def of_run(run, options):
    """Rows of a timeline; all repetitions of a phase together."""
    phases = run.select(options.test, options.repetition, options.phase)
    found = {}
    for phase in phases:
        for index in phase.operations():
            key = run.operations[index]["key"]
            if getattr(options, "operation", None) in (None, key):
                found.setdefault((phase.key, phase.title, key), []).append(phase.calls(key))
    if not found:
        raise Refusal("--operation=%s: not called in these phases" % options.operation, 2)
    rows = []
    for (phase, title, operation), parts in found.items():
        label = (
            title
            if operation == phase or len({o for p, _, o in found if p == phase}) == 1
            else "%s: %s" % (title, operation)
        )
        rows.append(row_of(label, parts))
    rows = [row for row in rows if row.seconds.size]
    if not rows:
        raise Refusal("%s: the sample has no call of these phases" % run.source)
    return rows


def row_of(label, parts):
    """Of the calls of several repetitions."""
    seconds = np.concatenate([calls.seconds for calls in parts])
    order = np.argsort(seconds, kind="stable")
    if parts[0].stands_for is None:
        return Row(label, label, seconds[order])
    weights = np.concatenate([calls.stands_for for calls in parts])[order]
    return Row(label, label, seconds[order][weights > 0], weights=weights[weights > 0])


def draw(run, options):
    rows = of_run(run, options)
    test = run.select(options.test, options.repetition, options.phase)[0].test
    return picture(rows, "%s: time of single calls" % run.program, describe.test_of_run(run, test))


def draw_result(result, options):
    """From the percentiles of a JSON result: dots instead of a curve."""
    test = result.test(options.test)
    rows = [
        Row(label, label, None, numbers)
        for label, numbers in result.latencies(test)
        if not options.phase or label.split(":")[0] in options.phase
    ]
    if not rows:
        raise Refusal(
            "%s: has no times of single calls (mdtest: --latency or --report; or give a timeline)"
            % result.source
        )
    return ranges(rows, "%s: time of single calls" % result.program, result.describe(test))


def picture(rows, title, subtitle):
    """Curves of the distribution above a table, in which each curve has its key. A single call is no distribution."""
    rows = most_called([row for row in rows if row.numbers[0] > 1] or rows)
    height = 4.4 + 0.23 * (len(rows) + 1)
    fig, (ax, below) = style.figure(title, subtitle, 2, 1, size=(9.6, height))
    ax.get_gridspec().set_height_ratios([3.3, 0.23 * (len(rows) + 1)])
    keys = [r.key for r in rows]
    for row in rows:
        line = draw_curve(ax, row, style.colour(row.key, keys), style.dash(row.key, keys))
        style.hover(line, describe_row(row))
    tail_axis(ax, max(row.steps for row in rows))
    time_of_call(ax)
    table(below, rows, keys)
    return fig


def describe_row(row):
    said = ["%s %s" % (head, quantities.seconds(v)) for head, v in zip(HEADS[1:], row.numbers[1:]) if v is not None]
    return "%s: %d calls, %s" % (row.label, row.numbers[0], ", ".join(said))


def ranges(rows, title, subtitle):
    """Where only percentiles are known: a row of marks for each operation."""
    rows = most_called(rows)
    fig, (ax,) = style.figure(title, subtitle, size=(9.6, 1.6 + 0.26 * len(rows)))
    for place, (percent, form) in enumerate(zip(PERCENTILES + (100,), "o^sDX")):
        known = [
            (row.numbers[2 + place], y) for y, row in enumerate(rows) if row.numbers[2 + place] is not None
        ]
        ax.plot(
            [max(v, 1e-9) for v, _ in known],
            [y for _, y in known],
            form,
            color=style.CYCLE[place],
            markersize=5.5,
            label=HEADS[2 + place],
        )
    for y, row in enumerate(rows):
        known = [max(v, 1e-9) for v in row.numbers[2:] if v is not None]
        (bar,) = ax.plot(
            [min(known), max(known)], [y, y], color=style.PALE, linewidth=3, zorder=1, solid_capstyle="round"
        )
        style.hover(bar, describe_row(row))
    ax.set_yticks(range(len(rows)))
    ax.set_yticklabels("%s (%s)" % (row.label, "{:,}".format(row.numbers[0])) for row in rows)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    time_of_call(ax)
    style.legend(ax)
    return fig


def most_called(rows):
    if len(rows) <= MOST:
        return rows
    kept = sorted(rows, key=lambda r: -r.numbers[0])[:MOST]
    return [row for row in rows if row in kept]


def time_of_call(ax):
    """A logarithmic axis of times."""
    ax.set_xscale("log")
    ax.set_xlabel("time of a call")
    ax.xaxis.set_major_formatter(style.ticker().FuncFormatter(lambda v, _: quantities.seconds(v)))
    ax.xaxis.set_minor_formatter(style.ticker().NullFormatter())


def stretched(share):
    """A share of calls in per cent as a height: each step of 90, 99, 99.9 % ... is as high as that to 90 %."""
    return -np.log10(1 - np.minimum(share, 100 - 1e-9) / 100)


def tail_axis(ax, calls):
    """The shares up to the slowest of so many calls."""
    shown = [share for share in SHARES if share < 100 * (1 - 0.5 / calls)]
    ax.set_ylim(0, stretched(100 * (1 - 0.5 / calls)) * 1.04)
    ax.set_yticks([stretched(share) for share in shown], ["%g" % share for share in shown])
    ax.set_ylabel("calls that took at most this long (%)")


def draw_curve(ax, row, colour, form):
    """The share of calls up to each duration. Of many calls as many points in the middle as in the tail."""
    time = np.maximum(row.seconds, 1e-9)
    below = np.arange(1, time.size + 1) if row.below is None else row.below
    share = (below - np.diff(below, prepend=0) / 2) / below[-1] * 100
    if time.size > style.POINTS:
        tail = time.size - 1 - np.logspace(0, np.log10(time.size - 1), style.POINTS // 4).astype(int)
        keep = np.unique(np.concatenate([np.linspace(0, time.size - 1, style.POINTS // 2).astype(int), tail]))
        time, share = time[keep], share[keep]
    (line,) = ax.step(
        np.concatenate([time[:1], time]),
        stretched(np.concatenate([[0], share])),
        where="post",
        color=colour,
        linestyle=form,
    )
    return line


def table(ax, rows, keys):
    """The percentiles in words below the curves; columns at the same places in all pictures."""
    ax.set_axis_off()
    ax.set_xlim(0, 1)
    ax.set_ylim(len(rows) + 0.5, -0.5)
    places = np.linspace(0.40, 1.0, len(HEADS))
    for x, head in zip(places, HEADS):
        ax.text(x, 0, head, ha="right", va="center", fontsize=8.5, color=style.GREY)
    for y, row in enumerate(rows, 1):
        ax.plot(
            [0.005, 0.03],
            [y, y],
            color=style.colour(row.key, keys),
            linestyle=style.dash(row.key, keys),
            linewidth=2,
        )
        ax.text(0.04, y, row.label, ha="left", va="center", fontsize=8.5)
        for x, value, form in zip(places, row.numbers, ["{:,}".format] + [quantities.seconds] * 6):
            ax.text(x, y, "-" if value is None else form(value), ha="right", va="center", fontsize=8.5)
