# SPDX-License-Identifier: BSD-3-Clause
"""heat: the rate of each rank in each moment. What is slow, and what stands still inside one long call, have colours of
their own. Where there are more ranks than a screen has rows, a row is the slowest of some ranks: one straggler of
thousands stays there."""
import numpy as np

from . import bins, panels, quantities, style
from .chosen import ENOUGH, RATES

NEEDS = (RATES,)

ROWS, COLUMNS = 250, 300
MOST = 16384  # ranks that are looked at one by one
SLOW = 0.25  # of the median of the rates of a phase
LONG = 8  # times the median of the calls: where such a call fills a bin, its rank stands still


def draw(run, options):
    phases = panels.choose(run, options)
    there = run.ranks(phases[0].test)
    tasks = len(there)
    group = -(-tasks // ROWS)
    columns = 1 if len(phases) <= 2 else 2
    rows = -(-len(phases) // columns)
    one = min(3.4, 1.5 + 0.12 * min(tasks, ROWS))
    fig, axes = panels.figure(
        run, phases, "rate of each rank", columns, (9.6 if columns == 1 else 11.5, 0.9 + rows * one)
    )
    grids = [grid(phase, there, group, options.bin) for phase in phases]
    panels.finish(axes, phases)
    for ax, phase, (at, rates, still, ranks) in zip(axes, phases, grids):
        alike = [one[1] for other, one in zip(phases, grids) if other.moves_bytes == phase.moves_bytes]
        unit = quantities.rate_scale(max(map(usual_top, alike)), phase.moves_bytes)
        judged = enough(phase, tasks, len(at) - 1)
        paint(fig, ax, at, rates, still, ranks, unit, judged)
        ax.set_ylim(-0.5, tasks - 0.5)
        name_ranks(ax, there)
        hosts = run.hosts(phase.test)
        mark_hosts(ax, hosts and [hosts[rank] for rank in there])
        ax.set_ylabel("rank" if ranks == 1 else "rank (row: slowest of %d)" % ranks)
    slow = "slow: below %g %% of the median" % (100 * SLOW)
    style.legend_of_colours(
        axes[0],
        [
            (style.STALLED, "stands still inside one call"),
            (style.SLOW, slow if judged else "slow: not judged, a bin has too few calls of the sample"),
        ],
    )
    return fig


def enough(phase, tasks, columns):
    """Has a bin of a rank so many calls of a sample that chance makes none slow?"""
    drawn = phase.calls().drawn
    return drawn is None or drawn >= ENOUGH * tasks * columns / 2


def name_ranks(ax, there):
    """The ranks that are there, where these are not all."""
    if len(there) <= there[-1]:
        ax.yaxis.set_major_formatter(
            style.ticker().FuncFormatter(lambda v, _: str(there[int(v)]) if 0 <= v < len(there) else "")
        )


def grid(phase, there, group, width):
    """Edges of the columns; the lowest rate of the ranks of a row: rows x columns, NaN where none made a call; where
    one of them stands still, the same; and how many ranks a row has."""
    means = -(-len(there) // MOST)
    at, rates = rank_rates(phase, there, means, width)
    still = standing(phase.calls(), at, there, means, len(rates))
    group = -(-group // means)
    rates = np.pad(rates, ((0, -len(rates) % group), (0, 0)), constant_values=np.nan)
    still = np.pad(still, ((0, -len(still) % group), (0, 0)))
    several = (-1, group, rates.shape[1])
    return at, np.fmin.reduce(rates.reshape(several), axis=1), still.reshape(several).any(axis=1), group * means


def standing(calls, at, there, group, count):
    """Bins that lie inside one call that is long for its phase."""
    width = at[1] - at[0]
    usual = calls.seconds if not calls.drawn else calls.seconds[calls.stands_for > 1]
    long = np.flatnonzero(calls.seconds > max(LONG * float(np.median(usual if usual.size else calls.seconds)), width))
    first = np.ceil((calls.begin[long] - at[0]) / width).astype(int)
    last = np.floor((calls.end[long] - at[0]) / width + 1e-9).astype(int)
    found = np.zeros((count, len(at)))
    rows = np.searchsorted(there, calls.rank[long]) // group
    inside = (last > first) & (first >= 0)
    np.add.at(found, (rows[inside], np.minimum(first, len(at) - 1)[inside]), 1)
    np.add.at(found, (rows[inside], np.minimum(last, len(at) - 1)[inside]), -1)
    return np.cumsum(found, axis=1)[:, :-1] > 0


def rank_rates(phase, there, group, width):
    """The mean rates of 'group' ranks."""
    calls, tasks = phase.calls(), len(there)
    wanted = int(np.clip(calls.count / tasks / 4, 20, COLUMNS))  # some calls in a bin: else all is noise
    if calls.drawn is not None:
        wanted = int(np.clip(calls.drawn / tasks / ENOUGH, 1, COLUMNS))
    at = bins.edges(phase.begin, phase.end, width or max((phase.end - phase.begin) / wanted, 1e-9))
    count = -(-tasks // group)
    rows = np.searchsorted(there, calls.rank) // group
    total = bins.sums(calls, calls.weights(phase.moves_bytes), at, rows, count)
    busy = bins.sums(calls, np.ones(calls.count), at, rows, count)
    if calls.drawn is not None:  # a bin without calls of the sample is one without calls
        busy[busy.sum(axis=1) > 0] = 1
    size = np.minimum(group, tasks - group * np.arange(count))[:, None]
    return at, np.where(busy > 1e-9, total / (at[1] - at[0]) / size, np.nan)


def usual_top(rates):
    """Where the scale of colours ends."""
    known = rates[np.isfinite(rates)]
    top = float(np.percentile(known, 99)) if known.size else 1.0
    return top or float(known.max()) or 1.0


def paint(fig, ax, at, rates, still, ranks, unit, judged):
    known, top, (name, unit) = rates[np.isfinite(rates)], usual_top(rates), unit
    colours = style.colour_map()
    image = ax.imshow(
        np.ma.masked_invalid(rates / unit),
        aspect="auto",
        origin="lower",
        cmap=colours,
        vmin=0,
        vmax=top / unit,
        extent=(at[0], at[-1], -0.5, ranks * len(rates) - 0.5),
    )
    slow = judged & (np.nan_to_num(rates, nan=np.inf) < SLOW * np.median(known)) if known.size else still
    for where, colour in ((slow & ~still, style.SLOW), (still, style.STALLED)):
        if where.any():
            ax.imshow(
                np.ma.masked_equal(where.astype(float), 0),
                aspect="auto",
                origin="lower",
                cmap=style.one_colour(colour),
                extent=image.get_extent(),
            )
    beyond = known.size and known.max() > top
    bar = fig.colorbar(image, ax=ax, pad=0.015, fraction=0.05, extend="max" if beyond else "neither")
    bar.set_label("rate of a rank (%s)" % name)
    bar.outline.set_visible(False)
    ax.grid(False)
    ax.set_xlim(at[0], at[-1])
    ax.yaxis.set_major_locator(style.ticker().MaxNLocator(integer=True, nbins=8))


def mark_hosts(ax, hosts):
    """A line where the next host begins, for those who look for a slow node."""
    if not hosts:
        return
    starts = [i for i in range(1, len(hosts)) if hosts[i] != hosts[i - 1]]
    if len(starts) <= 40:
        for i in starts:
            ax.axhline(i - 0.5, color="white", linewidth=0.9)
