# SPDX-License-Identifier: BSD-3-Clause
"""The rates of a JSON result: a dot for each repetition, a line at the median. Part of reports."""
import statistics

from . import quantities, style


def draw(result, test):
    """The picture, or None when nothing was measured."""
    rates = result.rates(test)
    groups = [g for g in ([r for r in rates if r.in_bytes], [r for r in rates if not r.in_bytes]) if g]
    if not groups:
        return None
    longest = max(len({r.operation for r in g}) for g in groups)
    fig, axes = style.figure(
        "%s: rates of all repetitions" % result.program,
        result.describe(test),
        len(groups),
        1,
        size=(9.2, 1.2 + len(groups) * (0.7 + 0.32 * longest)),
    )
    for ax, group in zip(axes, groups):
        draw_group(ax, group)
    return fig


def draw_group(ax, rates):
    """An operation on each row; a logarithmic axis where they differ much, as in metadata."""
    operations = list(dict.fromkeys(r.operation for r in rates))
    positive = [r.value for r in rates if r.value > 0]
    for row, operation in enumerate(operations):
        values = [r.value for r in rates if r.operation == operation]
        middle = statistics.median(values)
        for place, value in enumerate(values):
            (dot,) = ax.plot(
                [value],
                [row],
                "o",
                color=style.colour(operation, operations),
                alpha=0.6,
                markersize=6,
                markeredgewidth=0,
            )
            said = quantities.rate(value, rates[0].in_bytes)
            style.hover(dot, "%s, repetition %d: %s" % (operation, place, said))
        ax.plot([middle, middle], [row - 0.28, row + 0.28], color=style.BLACK, linewidth=1.6)
        ax.annotate(
            quantities.rate(middle, rates[0].in_bytes),
            (1.01, row),
            xycoords=("axes fraction", "data"),
            va="center",
            fontsize=8.5,
            annotation_clip=False,
        )
    ax.set_yticks(range(len(operations)))
    ax.set_yticklabels(operations)
    ax.set_ylim(len(operations) - 0.4, -0.6)
    in_bytes = rates[0].in_bytes
    if positive and max(positive) > 30 * min(positive):
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter(style.ticker().FuncFormatter(lambda v, _: quantities.rate(v, in_bytes)))
        ax.xaxis.set_minor_formatter(style.ticker().NullFormatter())
        ax.set_xlabel("data rate" if in_bytes else "rate")
    else:
        name, unit = quantities.rate_scale(max(positive + [0]), in_bytes)
        style.scaled_axis(ax.xaxis, unit)
        ax.set_xlim(0, 1.06 * max(positive + [1e-9]))
        ax.set_xlabel("%s (%s)" % ("data rate" if in_bytes else "rate", name))
