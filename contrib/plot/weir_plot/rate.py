# SPDX-License-Identifier: BSD-3-Clause
"""rate: what all tasks did in each moment, with the reported averages as rectangles."""
import numpy as np

from . import bins, describe, outside, panels, quantities, style
from .chosen import RATES

NEEDS = (RATES,)

FEW = 3  # kinds of phases of metadata that one axis can hold
USUAL = 95  # per cent of the bins that fit below the end of the axis in each phase
CAP = 2.2  # the axis ends at so many times the highest average, so that a short spike does not press the rest flat


def draw(run, options):
    phases = run.select(options.test, options.repetition, options.phase)
    series, how = None, ""
    if options.outside:
        series = outside.read(options.outside, options.outside_unit)
        how = outside.align(series, run, phases, options.zero)
    if len({p.key for p in phases if not p.moves_bytes}) > FEW:
        return draw_panels(run, options)
    groups = [
        g for g in ([p for p in phases if p.moves_bytes], [p for p in phases if not p.moves_bytes]) if g
    ]
    title = "%s: rate over time" % run.program
    fig, axes = style.figure(title, describe.test_of_run(run, phases[0].test), len(groups), 1, sharex=True)
    begin, end = min(p.begin for p in phases), max(p.end for p in phases)
    for ax, group in zip(axes, groups):
        draw_group(ax, group, end - begin, options.bin)
        if series and group[0].moves_bytes:
            draw_series(ax, series, begin, end, how)
        style.legend(ax)
    margin = (end - begin) * 0.015
    axes[-1].set_xlim(begin - margin, end + margin)
    style.time_axis(axes[-1], "time since the start of the run", end - begin)
    return fig


def draw_panels(run, options):
    """Phases of metadata differ too much for one axis: a panel for each."""
    phases = panels.choose(run, options)
    fig, axes = panels.figure(run, phases, "rate over time")
    for ax, phase in zip(axes, phases):
        draw_group(ax, [phase], phase.end - phase.begin, options.bin)
        average = reported(phase, phase.calls(), phase.moves_bytes)
        ax.set_title("average " + quantities.rate(average, phase.moves_bytes), loc="right", color=style.GREY)
    panels.finish(axes, phases)
    for in_bytes in (True, False):
        mine = [ax for ax, phase in zip(axes, phases) if phase.moves_bytes == in_bytes]
        for ax in mine:
            style.rate_axis(
                ax, "data rate" if in_bytes else "rate", max(a.get_ylim()[1] for a in mine), in_bytes
            )
    return fig


def draw_group(ax, phases, whole, width):
    """Phases of one unit: bytes or operations."""
    in_bytes = phases[0].moves_bytes
    keys = list(dict.fromkeys(p.key for p in phases))
    tops, averages = [], []
    for phase in phases:
        calls = phase.calls()
        at = bins.edges(phase.begin, phase.end, width, calls.count, whole=whole, drawn=calls.drawn)
        rates = bins.sums(calls, calls.weights(in_bytes), at)[0] / (at[1] - at[0])
        average = reported(phase, calls, in_bytes)
        colour = style.colour(phase.key, keys)
        area = ax.stairs(rates, at, color=colour, fill=True, alpha=0.15, linewidth=0)
        style.hover(area, describe_phase(phase, average, rates.max(), in_bytes))
        ax.stairs(
            rates, at, color=colour, linewidth=1.2, linestyle=style.dash(phase.key, keys), baseline=None
        )
        ax.plot(
            [phase.begin, phase.begin, phase.end, phase.end],
            [0, average, average, 0],
            color=style.BLACK,
            linewidth=1.1,
            linestyle=(0, (5, 2)),
        )
        tops.append((rates.max(), at[int(np.argmax(rates))], np.percentile(rates, USUAL)))
        averages.append((phase.key, average))
    for key in keys:
        mine = [a for k, a in averages if k == key]
        title = next(p.title for p in phases if p.key == key)
        mean = quantities.rate(sum(mine) / len(mine), in_bytes)
        words = "mean of %d: %s" % (len(mine), mean) if len(mine) > 1 else "average " + mean
        ax.plot(
            [],
            [],
            color=style.colour(key, keys),
            linestyle=style.dash(key, keys),
            label="%s\n%s" % (title, words),
        )
    words = "average of a phase" + (",\nof these ranks" if phases[0].run.chosen.ranks else "")
    ax.plot([], [], color=style.BLACK, linewidth=1.1, linestyle=(0, (5, 2)), label=words)
    limit(ax, tops, max(a for _, a in averages), in_bytes)


def describe_phase(phase, average, peak, in_bytes):
    words = phase.title, phase.repetition, quantities.rate(average, in_bytes), quantities.rate(peak, in_bytes)
    return "%s, repetition %d: average %s, highest bin %s" % words


def reported(phase, calls, in_bytes):
    """The average as the run reported it, of all ranks; else what its calls did from begin to end: the same rule."""
    if phase.rate is not None and not phase.run.chosen.ranks and (phase.rate_unit == "bytes") == in_bytes:
        return phase.rate
    return float(calls.weights(in_bytes).sum()) / max(phase.end - phase.begin, 1e-9)


def limit(ax, tops, average, in_bytes):
    """The upper end of the axis; a spike beyond it gets words."""
    peak, where, _ = max(tops, key=lambda t: t[0])
    top = 1.08 * max(peak, average)
    usual = max(CAP * average, 1.2 * max(t[2] for t in tops))
    if top > usual > 0:
        top = usual
        right = where > sum(ax.dataLim.intervalx) / 2
        ax.annotate(
            "\u25b2 peak %s" % quantities.rate(peak, in_bytes),
            (where, top),
            xytext=(-4 if right else 4, -2),
            textcoords="offset points",
            va="top",
            ha="right" if right else "left",
            fontsize=8.5,
            color=style.BLACK,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1},
        )
    ax.set_ylim(0, top or 1)
    style.rate_axis(ax, "data rate" if in_bytes else "rate", top, in_bytes)


def draw_series(ax, series, begin, end, how):
    """The rates from outside, as lines of other colours over the calls."""
    for key, colour, form in (("write", style.GREEN, "-"), ("read", style.PURPLE, "-.")):
        shown = (series.time >= begin - series.step) & (series.edges[:-1] <= end + 10 * series.step)
        if np.any(series.rates[key][shown] > 0):
            time, rates = style.thin(series.time[shown] - series.step / 2, series.rates[key][shown])
            ax.plot(time, rates, color=colour, linestyle=form, linewidth=1.6, label="%s outside" % key)
            ax.set_ylim(top=max(ax.get_ylim()[1], min(1.08 * rates.max(), CAP * ax.get_ylim()[1])))
    ax.plot([], [], " ", label="\n".join(["outside series", how.replace("; ", "\n")]))
