# SPDX-License-Identifier: BSD-3-Clause
"""What the parts of a report about rehearsals of IO500 share: forms of numbers, reasons, colours."""
from . import jsonfile, quantities, style
from .jsonfile import number

COLOURS = {"bw": style.BLUE, "md": style.GREEN}
WORST = "INVALID", "SUSPECT", "WARNING", "NOTE"


def amount(value, unit):
    return "-" if value is None else ("%s %s" % (quantities.short(value), unit)).strip()


def timed(value):
    return "-" if number(value) is None else quantities.seconds(number(value))


def reasons_of(result, test):
    return jsonfile.rows(result.source, test, "reasons")


def finish(ax, names):
    """A line for each phase, the first one above."""
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.grid(axis="y", visible=False)
