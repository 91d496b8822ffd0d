#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The table of matrix.py between its markers in doc/guide/backends.md.

  testing/system/matrix_table.py           print it
  testing/system/matrix_table.py --write   put it into the page
"""
import pathlib

import matrix
import page_table

PAGE = pathlib.Path(__file__).resolve().parents[2] / "doc" / "guide" / "backends.md"
BEGIN = "<!-- matrix: made by testing/system/matrix_table.py --write -->\n"
END = "<!-- end of matrix -->\n"


COLUMNS = [(files, access) for files in matrix.FILES for access in matrix.ACCESS]


def cell(row):
    """The endings that are run with both kinds of work; 'all' where these are all endings."""
    if row not in matrix.rows():
        return "-"
    if matrix.refusal(row):
        return "refused"
    done = [ending for ending in matrix.ENDINGS if [c.work for c in matrix.cases() if c[:4] == row and c.ending == ending] == matrix.WORK]
    return "all" if done == matrix.ENDINGS else " and ".join(done) or "no"


def table():
    lines = ["| backend | variant | %s |" % " | ".join(", ".join(column) for column in COLUMNS), "|---|---|%s" % ("---|" * len(COLUMNS))]
    for backend, variants in matrix.VARIANTS.items():
        for variant in variants:
            cells = [cell((backend, variant, access, files)) for files, access in COLUMNS]
            lines.append("| %s |" % " | ".join([backend, variant] + cells))
    return "\n".join(lines) + "\n"


PAGE_TABLE = page_table.PageTable(PAGE, BEGIN, END, table)
parts = PAGE_TABLE.parts

if __name__ == "__main__":
    PAGE_TABLE.main()
