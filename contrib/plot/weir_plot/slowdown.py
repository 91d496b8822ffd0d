# SPDX-License-Identifier: BSD-3-Clause
"""pairs: how much each group of a mix is slowed down by each other one, and by all (weir-mix --pairs)."""
import math

import numpy as np

from . import jsonfile, style
from .jsonfile import number
from .refusal import BAD_USAGE, Refusal

ALL = "all"
LEAST = 1.0  # the colours go to a factor of 2 at least


def mix_of(result, options):
    """The test of a mix."""
    for test in [result.test(options.test)] if options.test is not None else result.tests:
        if isinstance(test.get("groups"), list) and isinstance(test.get("slowdowns"), list):
            return test
    words = "pairs: %s has no slowdowns: it draws the results of weir-mix, whose groups ran alone, too"
    raise Refusal(words % result.source, BAD_USAGE)


def in_words(value, low):
    """4.2 times as fast; two digits where there is no interval."""
    form = "%.3g times as " if low else "%.2g times as "
    return form % value + "slow" if value >= 1 else form % (1 / value) + "fast"


def names_of(result, test):
    return [str(row.get("group")) for row in jsonfile.rows(result.source, test, "groups")]


def cells_of(result, test, options):
    """{(group, with): slowdown, low, high}: of all its work, or of one operation."""
    found = {}
    if not options.phase:
        for row in jsonfile.rows(result.source, test, "slowdowns"):
            found[row.get("group"), row.get("with")] = [number(row.get(k)) for k in ("slowdown", "low", "high")]
    for row in jsonfile.rows(result.source, test, "operations") if options.phase else []:
        if row.get("operation") in options.phase:
            keys = ("slowdown", "slowdownLow", "slowdownHigh")
            found[row.get("group"), row.get("with")] = [number(row.get(k)) for k in keys]
    if not any(cell[0] for cell in found.values()):
        raise Refusal("pairs: no slowdown of %s is known" % (" or ".join(options.phase) or "any group"), BAD_USAGE)
    return found


def draw(result, options):
    test = mix_of(result, options)
    cells, groups = cells_of(result, test, options), names_of(result, test)
    columns = ([ALL] if any(with_ == ALL for _, with_ in cells) else []) + (
        groups if any(with_ in groups for _, with_ in cells) else []
    )
    values = np.array([[cells.get((g, w), [None])[0] or np.nan for w in columns] for g in groups], dtype=float)
    what = " or ".join(options.phase) or "all its operations"
    size = (max(6.2, 3.2 + 1.25 * len(columns)), 1.9 + 0.62 * len(groups))
    words = "%s; end: %s" % (result.describe(test), test.get("end", "?"))
    fig, (ax,) = style.figure("%s: slowdown of each group, %s" % (result.program, what), words, 1, 1, size)
    paint(fig, ax, values)
    for y, group in enumerate(groups):
        for x, with_ in enumerate(columns):
            write(ax, x, y, cells.get((group, with_)), group == with_)
    ax.set_xticks(range(len(columns)), ["all others" if w == ALL else w for w in columns])
    ax.set_yticks(range(len(groups)), groups)
    ax.set_xlabel("beside")
    ax.set_ylabel("slowed down")
    ax.grid(False)
    ax.tick_params(length=0)
    return fig


def paint(fig, ax, values):
    """Pale: as alone. Red: slower; blue: faster; both by the logarithm."""
    known = values[np.isfinite(values) & (values > 0)]
    top = max(LEAST, float(np.max(np.abs(np.log2(known)))))
    image = ax.imshow(np.log2(values), cmap=style.two_sides(), vmin=-top, vmax=top, aspect="auto")
    bar = fig.colorbar(image, ax=ax, pad=0.02)
    bar.outline.set_visible(False)
    bar.ax.yaxis.set_major_formatter(style.ticker().FuncFormatter(lambda v, _: "%.3g" % 2**v))
    bar.set_label("times as slow as alone")


def write(ax, x, y, cell, is_itself):
    if is_itself or not cell or not cell[0]:
        ax.text(x, y, "" if is_itself else "not known", ha="center", va="center", color=style.GREY, fontsize=8)
        return
    shown = "%.3g" if cell[1] else "%.2g"
    ax.text(x, y, shown % cell[0], ha="center", va="bottom" if cell[1] else "center", fontsize=10, fontweight="bold")
    if cell[1] and cell[2]:
        ax.text(x, y, "%.3g to %.3g" % (cell[1], cell[2]), ha="center", va="top", fontsize=7.5)


def summary(result, options):
    """A line for each group: who slows it down most."""
    test = mix_of(result, options)
    cells, lines = cells_of(result, test, options), []
    for group in names_of(result, test):
        mine = {with_: cell for (g, with_), cell in cells.items() if g == group and cell[0]}
        others = [(cell[0], with_, cell[1]) for with_, cell in mine.items() if with_ != ALL]
        words = ["%s: %s beside all others" % (group, in_words(*mine[ALL][:2]))] if ALL in mine else []
        if others and not math.isnan(max(others, key=lambda o: o[0])[0]):
            value, with_, low = max(others, key=lambda o: o[0])
            words.append(("most by %s: %.3g" if low else "most by %s: %.2g") % (with_, value))
        lines += ["; ".join(words)] if words else []
    return lines
