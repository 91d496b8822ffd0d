#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The table of matrix.py between its markers in doc/guide/backends.md.

  testing/system/matrix_table.py           print it
  testing/system/matrix_table.py --write   put it into the page
"""
import pathlib
import sys

import matrix

PAGE = pathlib.Path(__file__).resolve().parents[2] / "doc" / "guide" / "backends.md"
BEGIN = "<!-- matrix: made by testing/system/matrix_table.py --write -->\n"
END = "<!-- end of matrix -->\n"


def cell(row, ending):
    """Both kinds of work are in one cell: they only differ where a case is not run."""
    done = [case.work for case in matrix.cases() if case[:4] == row and case.ending == ending]
    return "yes" if done == matrix.WORK else " and ".join(done) or "no"


def table():
    lines = ["| backend | variant | files | transfers | %s |" % " | ".join(matrix.ENDINGS), "|---|---|---|---|%s" % ("---|" * len(matrix.ENDINGS))]
    for row in matrix.rows():
        backend, variant, access, files = row
        why = matrix.refusal(row)
        cells = ["refused"] * len(matrix.ENDINGS) if why else [cell(row, ending) for ending in matrix.ENDINGS]
        lines.append("| %s |" % " | ".join([backend, variant, files, access] + cells))
    return "\n".join(lines) + "\n"


def parts(text):
    """The page before the table, the table, the rest."""
    before, rest = text.split(BEGIN)
    inside, after = rest.split(END)
    return before + BEGIN, inside, END + after


def main():
    if sys.argv[1:] == ["--write"]:
        before, _, after = parts(PAGE.read_text())
        PAGE.write_text(before + table() + after)
    else:
        sys.stdout.write(table())


if __name__ == "__main__":
    main()
