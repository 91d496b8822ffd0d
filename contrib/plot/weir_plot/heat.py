# SPDX-License-Identifier: BSD-3-Clause
"""heat: the rate of each rank in each moment. A dark row is a slow task, a dark column a moment in which all
waited. Where there are more ranks than a screen has rows, a row is the slowest of some ranks: one straggler of
thousands stays there."""
import numpy as np

from . import bins, panels, quantities, style

ROWS, COLUMNS = 250, 300
MOST = 16384  # ranks that are looked at one by one


def draw(run, options):
    phases = panels.choose(run, options)
    tasks = run.tasks(phases[0].test)
    group = -(-tasks // ROWS)
    columns = 1 if len(phases) <= 2 else 2
    rows = -(-len(phases) // columns)
    one = min(3.4, 1.5 + 0.12 * min(tasks, ROWS))
    fig, axes = panels.figure(
        run, phases, "rate of each rank", columns, (9.6 if columns == 1 else 11.5, 0.9 + rows * one)
    )
    for ax, phase in zip(axes, phases):
        at, rates, ranks = grid(phase, tasks, group, options.bin)
        panels.finish(ax, phase)
        paint(fig, ax, at, rates, ranks, phase.moves_bytes)
        ax.set_ylim(-0.5, tasks - 0.5)
        mark_hosts(ax, run.hosts(phase.test))
        ax.set_ylabel("rank" if ranks == 1 else "rank (row: slowest of %d)" % ranks)
    return fig


def grid(phase, tasks, group, width):
    """Edges of the columns; the lowest rate of the ranks of a row: rows x columns, NaN where none made a call; and how
    many ranks a row has."""
    means = -(-tasks // MOST)
    at, rates = rank_rates(phase, tasks, means, width)
    group = -(-group // means)
    rates = np.pad(rates, ((0, -len(rates) % group), (0, 0)), constant_values=np.nan)
    return at, np.fmin.reduce(rates.reshape(-1, group, rates.shape[1]), axis=1), group * means


def rank_rates(phase, tasks, group, width):
    """The mean rates of 'group' ranks."""
    calls = phase.calls()
    wanted = int(np.clip(calls.count / tasks / 4, 20, COLUMNS))  # some calls in a bin: else all is noise
    at = bins.edges(phase.begin, phase.end, width or max((phase.end - phase.begin) / wanted, 1e-9))
    count = -(-tasks // group)
    rows = calls.rank // group
    total = bins.sums(calls, calls.weights(phase.moves_bytes), at, rows, count)
    busy = bins.sums(calls, np.ones(calls.count), at, rows, count)
    size = np.minimum(group, tasks - group * np.arange(count))[:, None]
    return at, np.where(busy > 1e-9, total / (at[1] - at[0]) / size, np.nan)


def paint(fig, ax, at, rates, ranks, in_bytes):
    known = rates[np.isfinite(rates)]
    top = float(np.percentile(known, 99)) if known.size else 1.0
    top = top or float(known.max()) or 1.0
    name, unit = quantities.rate_scale(top, in_bytes)
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
