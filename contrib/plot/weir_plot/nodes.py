# SPDX-License-Identifier: BSD-3-Clause
"""nodes: the rate of each node, pair or rank that a sweep has measured alone (--sweep), and who is slow."""
from . import jsonfile, quantities, style
from .jsonfile import number
from .refusal import BAD_USAGE, Refusal

MOST = 8  # names in a panel
WORDS = {"nodes": "node", "pairs": "pair of nodes", "ranks": "rank"}


def sweep_of(result, options):
    """The test with a sweep, and it."""
    for test in [result.test(options.test)] if options.test is not None else result.tests:
        if isinstance(test.get("sweep"), dict):
            return test, test["sweep"]
    by = "ranks (all its ranks were on one node)" if number(result.provenance.get("nodes")) == 1 else "nodes"
    raise Refusal("nodes: %s has no sweep: run it with --sweep=%s" % (result.source, by), BAD_USAGE)


def rows_of(result, sweep, options):
    """{operation: its rows that were measured}"""
    found = {}
    for row in jsonfile.rows(result.source, sweep, "measured"):
        if number(row.get("rate")) and number(row.get("number")) is not None:
            found.setdefault(str(row.get("operation")), []).append(row)
    found = {k: v for k, v in found.items() if not options.phase or k in options.phase}
    if not found:
        raise Refusal("nodes: no operation is called %s" % " or ".join(options.phase or ["anything"]), BAD_USAGE)
    return found


def draw(result, options):
    test, sweep = sweep_of(result, options)
    found = rows_of(result, sweep, options)
    word = WORDS.get(sweep.get("by"), "node")
    turns = sum(number(row.get("turns")) or 0 for row in jsonfile.rows(result.source, sweep, "rounds"))
    words = "%s; %d turns, %s slow" % (result.describe(test), turns, sweep.get("slow", "?"))
    columns = 1 if len(found) < 3 else 2
    fig, axes = style.figure("%s: each %s alone" % (result.program, word), words, len(found), columns)
    for ax, (operation, rows) in zip(axes, found.items()):
        draw_operation(ax, rows, word)
        ax.set_title(operation, loc="left", fontweight="bold")
    return fig


def draw_operation(ax, rows, word):
    """Dots from left to right; with the rates of the phase of all ranks below them, and the median."""
    in_bytes = rows[0].get("unit") == "bytes/s"
    slow = [row for row in rows if str(row.get("outcome")).startswith("slow")]
    peak = max(max(row["rate"], number(row.get("joint")) or 0) for row in rows)
    size = 5 if len(rows) <= 200 else 2
    dots(ax, [r for r in rows if number(r.get("joint"))], "joint", style.PALE, size, "with all others")
    dots(ax, [r for r in rows if r not in slow], "rate", style.BLUE, size, "alone")
    dots(ax, slow, "rate", style.VERMILION, size + 2, "slow", marker="v")
    first = [number(row.get("median")) for row in rows if row.get("round") == 0 and number(row.get("median"))]
    if first:
        ax.axhline(first[0], color=style.BLACK, linewidth=1, linestyle=style.DASHES[1], label="median")
    for row in sorted(slow, key=lambda r: number(r.get("z")) or 0)[:MOST]:
        ax.annotate(
            "%s %d (%s)" % (word, row["number"], row.get("host")),
            (row["number"], row["rate"]),
            xytext=(4, -9),
            textcoords="offset points",
            fontsize=8,
            color=style.VERMILION,
        )
    ax.set_xlim(min(r["number"] for r in rows) - 0.6, max(r["number"] for r in rows) + 0.6)
    ax.xaxis.set_major_locator(style.ticker().MaxNLocator(integer=True))
    ax.set_ylim(0, 1.12 * peak)
    ax.set_xlabel(word)
    style.rate_axis(ax, "data rate" if in_bytes else "rate", peak, in_bytes)
    style.legend(ax)


def dots(ax, rows, key, colour, size, label, marker="o"):
    if rows:
        numbers, values = [r["number"] for r in rows], [r[key] for r in rows]
        ax.plot(numbers, values, marker, color=colour, markersize=size, markeredgewidth=0, label=label)


def summary(result, options):
    """A line for each slow one."""
    _, sweep = sweep_of(result, options)
    word = WORDS.get(sweep.get("by"), "node")
    lines = []
    for operation, rows in rows_of(result, sweep, options).items():
        in_bytes = rows[0].get("unit") == "bytes/s"
        for row in rows:
            if str(row.get("outcome")).startswith("slow"):
                said = quantities.rate(row["rate"], in_bytes), quantities.rate(row["median"], in_bytes)
                who = "%s %d (%s)" % (word, row["number"], row.get("host"))
                lines.append("%s: %s %s, median %s" % ((who, operation) + said))
    return lines
