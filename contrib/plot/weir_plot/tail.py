# SPDX-License-Identifier: BSD-3-Clause
"""tail: latency over time, p50, p99, p99.9 and the longest, and where tasks stood still."""
import warnings

import numpy as np

from . import bins, intervals, panels, quantities, style
from .chosen import RATES
from .refusal import Refusal

NEEDS = (RATES,)
LINES = (
    ("p50", 50, style.BLUE, "-", "p50"),
    ("p99", 99, style.ORANGE, "-", "p99"),
    ("p999", 99.9, style.PURPLE, "--", "p99.9"),
    ("max", 100, style.BLACK, ":", "max"),
)


class Series:
    """Of a phase or an operation: edges of the intervals in seconds, an array of times for each of LINES, NaN where
    no operation ended, and how many tasks of how many stood still."""

    def __init__(self, title, at, times, stalled, tasks):
        self.title, self.tasks = title, tasks
        group = -(-len(stalled) // style.POINTS)
        self.at = np.append(at[:-1:group], at[-1])
        self.times = {key: highest(values, group) for key, values in times.items()}
        self.stalled = highest(stalled, group)


def highest(values, group):
    """Of so many values that become one."""
    padded = np.pad(np.asarray(values, float), (0, -len(values) % group), constant_values=np.nan)
    with warnings.catch_warnings():  # an interval without operations has no highest
        warnings.simplefilter("ignore", RuntimeWarning)
        return np.nanmax(padded.reshape(-1, group), axis=1)


def draw(run, options):
    phases = panels.choose(run, options)
    fig, axes = panels.figure(run, phases, "latency over time", 1 if len(phases) <= 2 else 2)
    series = [of_calls(phase, options.bin) for phase in phases]
    for ax, one in zip(axes, series):
        draw_series(ax, one)
    panels.finish(axes, phases)
    name_lines(axes, series)
    return fig


def of_calls(phase, width):
    """A call counts, with its whole time, in the bin in which it ends."""
    calls = phase.calls()
    at = bins.edges(phase.begin, phase.end, width, calls.count, drawn=calls.drawn)
    count = len(at) - 1
    place = np.clip(np.ceil((calls.end - at[0]) / (at[1] - at[0]) - 1e-9).astype(int) - 1, 0, count - 1)
    weights = calls.weights(False)
    order = np.lexsort((calls.seconds, place))
    seconds, below, place = calls.seconds[order], np.cumsum(weights[order]), place[order]
    last = np.searchsorted(place, np.arange(count), side="right")
    before = np.append(0, below)[np.append(0, last[:-1])]
    total = np.append(0, below)[last] - before
    times = {}
    for key, percent, *_ in LINES:
        found = np.searchsorted(below, before + total * percent / 100 * (1 - 1e-12))
        times[key] = np.where(total > 0, seconds[np.clip(found, 0, last - 1)], np.nan)
    ranks = phase.run.ranks(phase.test)
    return Series(phase.title, at, times, standing(calls, at, ranks), len(ranks))


def standing(calls, at, ranks):
    """Tasks that had one call during all of a bin, and ended none."""
    count, width = len(at) - 1, at[1] - at[0]
    rows = np.searchsorted(ranks, calls.rank)
    first = np.clip(np.ceil((calls.begin - at[0]) / width - 1e-9).astype(int), 0, count)
    end = np.clip(np.ceil((calls.end - at[0]) / width - 1e-9).astype(int) - 1, 0, count - 1)
    steps = np.zeros((len(ranks), count + 1), np.int32)
    long = end > first
    np.add.at(steps, (rows[long], first[long]), 1)
    np.add.at(steps, (rows[long], end[long]), -1)
    ended = np.zeros((len(ranks), count), bool)
    ended[rows, end] = True
    return ((np.cumsum(steps, axis=1)[:, :-1] > 0) & ~ended).sum(axis=0)


def of_result(result, test, options):
    """Of the first repetition, unless one is asked for; where a phase has several operations, of each of these."""
    found = intervals.phases_of(result, test, options)
    with_calls = {key.partition(": ")[0] for key in found if ": " in key}
    series = []
    for key, several in found.items():
        table = several[min(several)]
        if key not in with_calls and np.isfinite(table["max"]).any():
            times = {line[0]: table[line[0]] for line in LINES}
            stalled = np.nan_to_num(table["stalled"])
            series.append(Series(key, intervals.edges(table), times, stalled, result.tasks(test)))
    return series[: panels.MOST]


def draw_test(result, test, options):
    """None without intervals that have a latency."""
    series = of_result(result, test, options)
    if not series:
        return None
    fig, axes = style.figure(
        "%s: latency over time" % result.program,
        result.describe(test),
        len(series),
        1 if len(series) <= 2 else 2,
    )
    for ax, one in zip(axes, series):
        draw_series(ax, one)
        style.time_axis(ax, "time since the phase began", max(s.at[-1] for s in series))
    name_lines(axes, series)
    return fig


def draw_result(result, options):
    """For the command: the picture or a refusal."""
    fig = draw_test(result, result.test(options.test), options)
    if fig is None:
        raise Refusal(
            "%s: names no timeline, and has no intervals with a latency: run the program with --interval or --timeline"
            % result.source
        )
    return fig


def draw_series(ax, series):
    still = series.stalled > 0
    if still.any():
        area = ax.stairs(
            still,
            series.at,
            transform=ax.get_xaxis_transform(),
            fill=True,
            color=style.STALLED,
            alpha=0.22,
            linewidth=0,
        )
        most = int(series.stalled.max())
        words = "up to %d of %s tasks stood still" % (most, series.tasks or "the")
        style.hover(area, "%s: %s, each in one operation" % (series.title, words))
        ax.set_title(words, loc="right", color=style.STALLED)
    for key, _, colour, form, words in LINES:
        times = np.maximum(series.times[key], 1e-9)
        line = ax.stairs(times, series.at, baseline=None, color=colour, linestyle=form, linewidth=1.3)
        style.hover(line, "%s: %s: up to %s" % (series.title, words, quantities.seconds(float(np.nanmax(times)))))
    ax.set_title(series.title, loc="left", fontweight="bold")
    style.latency_axis(ax, "time of an operation", np.concatenate(list(series.times.values())))
    ax.set_xlim(series.at[0], series.at[-1])


def name_lines(axes, series):
    """Once, beside the last panel of the first row."""
    first = axes[1] if len(axes) > 2 else axes[0]
    for _, _, colour, form, words in LINES:
        first.plot([], [], color=colour, linestyle=form, label=words)
    if any(one.stalled.any() for one in series):
        first.plot([], [], color=style.STALLED, alpha=0.22, linewidth=7, label="tasks stood still")
    style.legend(first)
