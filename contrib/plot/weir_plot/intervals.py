# SPDX-License-Identifier: BSD-3-Clause
"""Rate over time from the intervals of a JSON result: what --interval measures needs no timeline."""
import numpy as np

from . import jsonfile, style
from .jsonfile import number
from .refusal import BAD_USAGE, Refusal

MEMBERS = ("begin", "seconds", "bytes", "operations")


def phases_of(result, test, options):
    """{operation: {repetition: array of begin, seconds, bytes, operations}}, in the order of the run."""
    found = {}
    for row in jsonfile.rows(result.source, test, "intervals"):
        values = [number(row.get(key)) for key in MEMBERS]
        key, repetition = row.get("operation"), number(row.get("iter"))
        if None in values or values[1] <= 0 or not isinstance(key, str):
            continue
        if (not options.phase or key in options.phase) and options.repetition in (None, repetition):
            found.setdefault(key, {}).setdefault(repetition, []).append(values)
    return {key: {r: np.array(rows, float) for r, rows in several.items()} for key, several in found.items()}


def draw(result, test, options):
    """A panel for each operation, a line for each repetition; None without intervals."""
    found = phases_of(result, test, options)
    if not found:
        return None
    columns = 1 if len(found) <= 2 else 2
    fig, axes = style.figure(
        "%s: rate over time" % result.program, result.describe(test), len(found), columns
    )
    drawn = [draw_operation(ax, *one) for ax, one in zip(axes, found.items())]
    longest = max(span for _, span, _ in drawn)
    for ax, (_, _, in_bytes) in zip(axes, drawn):
        peak = max(other for other, _, moves in drawn if moves == in_bytes)
        style.rate_axis(ax, "data rate" if in_bytes else "rate", peak, in_bytes)
        style.time_axis(ax, "time since the phase began", longest)
    return fig


def draw_operation(ax, operation, several):
    """The highest rate, the longest time, and whether it moves bytes."""
    in_bytes = any(rows[:, 2].sum() > 0 for rows in several.values())
    colour, top, longest = style.colour(operation), 0, 0
    for place, rows in enumerate(several.values()):
        begin, seconds = rows[:, 0], rows[:, 1]
        rates = rows[:, 2 if in_bytes else 3] / seconds
        at = np.append(begin, begin[-1] + seconds[-1])
        ax.step(
            at,
            np.append(rates, rates[-1]),
            where="post",
            color=colour,
            alpha=max(1 - 0.25 * place, 0.3),
            linewidth=1.2,
        )
        mean = (rates * seconds).sum() / seconds.sum()
        ax.plot([0, at[-1]], [mean, mean], color=style.BLACK, linewidth=1.1, linestyle=(0, (5, 2)))
        top, longest = max(top, rates.max()), max(longest, at[-1])
    ax.set_ylim(0, 1.08 * top or 1)
    ax.set_title(operation, loc="left", fontweight="bold")
    words = "dashed: mean" if len(several) == 1 else "%d repetitions, dashed: their means" % len(several)
    ax.set_title(words, loc="right", color=style.GREY)
    return top, longest, in_bytes


def draw_result(result, options):
    """For the command: the picture or a refusal."""
    if getattr(options, "outside", None):
        raise Refusal(
            "--outside: intervals do not say at what time of day they were; give a timeline", BAD_USAGE
        )
    fig = draw(result, result.test(options.test), options)
    if fig is None:
        raise Refusal(
            "%s: has no intervals and names no timeline: run the program with --interval or --timeline"
            % result.source
        )
    return fig
