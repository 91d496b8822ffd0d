# SPDX-License-Identifier: BSD-3-Clause
"""diff: a series from outside minus the calls. After writes a positive tail is a cache that empties; in reads a
positive difference is read-ahead that nobody wanted, a negative one hits in a client's cache."""
import numpy as np

from . import bins, describe, outside, quantities, style
from .chosen import RATES, WHOLE
from .refusal import Refusal

NEEDS = (RATES, WHOLE)


def compute(run, options):
    """Edges of the samples, {key: difference in bytes/s}, words on the alignment."""
    phases = [p for p in run.select(options.test, options.repetition, options.phase) if p.moves_bytes]
    if not phases:
        raise Refusal("%s: no phase moves bytes (a profile of mib needs --call-size or --log)" % run.source)
    series = outside.read(options.outside, options.outside_unit)
    how = outside.align(series, run, phases, options.zero)
    at, steps = sample_edges(series)
    differences = {}
    for key in ("write", "read"):
        mine = [p for p in phases if p.key == key]
        calls = np.zeros(len(steps))
        for phase in mine:
            calls += in_samples(phase.calls(), at)
        if mine or np.any(series.rates[key] > 0):
            differences[key] = series.rates[key] - calls / steps
    return phases, at, steps, differences, how


def sample_edges(series):
    at = series.edges
    return at, np.diff(at)


def in_samples(calls, at):
    """Bytes of the calls in each sample, whose lengths may differ. What lies outside all samples is not counted."""
    fine = np.linspace(at[0], at[-1], min(max(4 * len(at), 2000), 200000) + 1)
    inside = (calls.end > at[0]) & (calls.begin < at[-1])
    part = calls.__class__.__new__(calls.__class__)
    part.count = int(inside.sum())
    part.begin, part.end = calls.begin[inside], calls.end[inside]
    length = np.maximum(part.end - part.begin, 1e-12)
    share = (np.minimum(part.end, at[-1]) - np.maximum(part.begin, at[0])) / length
    sums = bins.sums(part, calls.weights(True)[inside] * np.clip(share, 0, 1), fine)[0]
    running = np.concatenate([[0], np.cumsum(sums)])
    return np.diff(np.interp(at, fine, running))


def integrals(steps, differences):
    return {key: float((values * steps).sum()) for key, values in differences.items()}


def signed(value):
    return ("+" if value >= 0 else "\u2212") + quantities.size(abs(value))


def shown(phases, at):
    """Of a series that may last for hours: the run, a little before it, and half of it again for what is late."""
    begin, end = min(p.begin for p in phases), max(p.end for p in phases)
    span = max(end - begin, 4 * (at[1] - at[0]))
    return max(at[0], begin - 0.1 * span), min(at[-1], end + 0.5 * span)


def draw(run, options):
    phases, at, steps, differences, how = compute(run, options)
    fig, (ax,) = style.figure(
        "%s: outside series minus calls" % run.program,
        "%s, %s" % (describe.test_of_run(run, phases[0].test), how),
    )
    total = integrals(steps, differences)
    peak = max([np.abs(values).max() for values in differences.values()] + [0]) or 1
    for key, values in differences.items():
        colour = style.colour(key)
        ax.stairs(values, at, color=colour, fill=True, alpha=0.15, linewidth=0)
        ax.stairs(
            values,
            at,
            color=colour,
            linewidth=1.3,
            baseline=None,
            linestyle="-" if key == "write" else "-.",
            label="%s\nintegral %s" % (key, signed(total[key])),
        )
    ax.axhline(0, color=style.BLACK, linewidth=0.8)
    for phase in phases:
        ax.axvspan(phase.begin, phase.end, ymin=0, ymax=0.012, color=style.colour(phase.key), linewidth=0)
    ax.set_ylim(-1.08 * peak, 1.08 * peak)
    style.rate_axis(ax, "difference", peak, True)
    first, last = shown(phases, at)
    ax.set_xlim(first, last)
    style.time_axis(ax, "time since the start of the run", last - first)
    style.legend(ax)
    return fig


def summary(run, options):
    _, _, steps, differences, _ = compute(run, options)
    return [
        "integral of the difference for %s: %s" % (key, signed(value))
        for key, value in integrals(steps, differences).items()
    ]
