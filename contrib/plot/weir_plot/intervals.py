# SPDX-License-Identifier: BSD-3-Clause
"""Rate over time from the intervals of a JSON result: what --interval measures needs no timeline."""
import numpy as np

from . import jsonfile, quantities, style
from .jsonfile import number
from .refusal import BAD_USAGE, Refusal

MEMBERS = ("begin", "seconds", "bytes", "operations")
TIMES = ("p50", "p99", "p999", "max", "stalled")  # which results of older releases do not have
TABLE = [(key, float) for key in MEMBERS + TIMES]


def phases_of(result, test, options):
    """{operation: {repetition: array with the members of TABLE}}, in the order of the run; what is not known is NaN.
    Where a phase has several operations, 'phase: operation' comes after 'phase'."""
    found = {}
    for row in rows_of(result, test):
        values = [number(row.get(key)) for key in MEMBERS + TIMES]
        key, repetition = row.get("operation"), number(row.get("iter"))
        if None in values[: len(MEMBERS)] or values[1] <= 0 or not isinstance(key, str):
            continue
        if (not options.phase or key in options.phase) and options.repetition in (None, repetition):
            key = "%s: %s" % (key, row["call"]) if isinstance(row.get("call"), str) else key
            values = tuple(np.nan if v is None else v for v in values)
            found.setdefault(key, {}).setdefault(repetition, []).append(values)
    order = sorted(found, key=lambda key: list(found).index(key.partition(": ")[0]))
    return {key: {r: np.array(rows, TABLE) for r, rows in found[key].items()} for key in order}


def rows_of(result, test):
    return jsonfile.rows(result.source, test, "intervals") + jsonfile.rows(result.source, test, "intervalCalls")


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
    in_bytes = any(rows["bytes"].sum() > 0 for rows in several.values())
    colour, top, longest = style.colour(operation), 0, 0
    for place, rows in enumerate(several.values()):
        rates = rows["bytes" if in_bytes else "operations"] / rows["seconds"]
        at = edges(rows)
        ax.step(
            at,
            np.append(rates, rates[-1]),
            where="post",
            color=colour,
            alpha=max(1 - 0.25 * place, 0.3),
            linewidth=1.2,
        )
        mean = (rates * rows["seconds"]).sum() / rows["seconds"].sum()
        ax.plot([0, at[-1]], [mean, mean], color=style.BLACK, linewidth=1.1, linestyle=(0, (5, 2)))
        top, longest = max(top, rates.max()), max(longest, at[-1])
    ax.set_ylim(0, 1.08 * top or 1)
    ax.set_title(operation, loc="left", fontweight="bold")
    words = "dashed: mean" if len(several) == 1 else "%d repetitions, dashed: their means" % len(several)
    if draw_band(ax, several.values()):
        words += "; grey: latency, p50 to p99"
    ax.set_title(words, loc="right", color=style.GREY)
    return top, longest, in_bytes


def edges(rows):
    return np.append(rows["begin"], rows["begin"][-1] + rows["seconds"][-1])


def draw_band(ax, several):
    """The latency of the operations below the rate, with an axis of its own at the right. False: it is not known."""
    known = [rows for rows in several if np.isfinite(rows["p99"]).any()]
    if not known:
        return False
    other = ax.twinx()
    for rows in known:
        low, high = (np.maximum(np.repeat(rows[key], 2), 1e-9) for key in ("p50", "p99"))
        band = other.fill_between(
            np.repeat(edges(rows), 2)[1:-1],
            low,
            high,
            color=style.GREY,
            alpha=0.28 / len(known) ** 0.5,
            linewidth=0.6,
        )
        style.hover(band, "p99 of the latency: up to %s" % quantities.seconds(float(np.nanmax(rows["p99"]))))
    style.latency_axis(other, "latency", np.concatenate([rows[key] for rows in known for key in ("p50", "p99")]))
    other.grid(False)
    other.spines["right"].set_visible(True)
    ax.set_zorder(other.get_zorder() + 1)
    ax.patch.set_visible(False)
    return True


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
