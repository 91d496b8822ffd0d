#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The table of the rules of findings between its markers in doc/guide/findings.md, from the rows in src/engine/check.

  testing/system/rules_table.py           print it
  testing/system/rules_table.py --write   put it into the page
"""
import pathlib
import re

import page_table

TOP = pathlib.Path(__file__).resolve().parents[2]
CHECK = TOP / "src" / "engine" / "check"
PAGE = TOP / "doc" / "guide" / "findings.md"
BEGIN = "<!-- rules: made by testing/system/rules_table.py --write -->\n"
END = "<!-- end of rules -->\n"
SETS = ("default", "jupiter", "io500", "snia", "mlperf")


def text(row, before):
    """The string that follows 'before', whose parts may be on several lines."""
    return "".join(re.findall(r'"([^"]*)"', re.search(before + r'\s*((?:"[^"]*"\s*)+)', row).group(1)))


def number(words):
    """A limit: a number, or 100 times a macro of inputs.h."""
    macro = re.search(r"\bWEIR_\w+", words)
    if macro:
        value = re.search(r"#define %s (\S+)" % macro.group(0), (CHECK / "inputs.h").read_text()).group(1)
        return 100 * float(value)
    return float(words)


def levels(row, unit):
    """For each rule set severity, limit and unit."""
    alike = re.search(r"WEIR_RULE_AT5?\(([^,]+), ([A-Z, ]+)\)", row)
    if alike:
        severities = alike.group(2).split(", ")
        return [(severity, number(alike.group(1)), unit) for severity in (severities + severities[:1])[:len(SETS)]]
    rows = re.findall(r'\{ WEIR_([A-Z]+), ([\d.]+), (?:NULL|"([^"]+)") \}', row.split(".at = ")[1].split("} }")[0] + "}")
    return [(severity, float(limit), of or unit) for severity, limit, of in rows]


def rules():
    """ID, what, limits of the default set, those of other sets, and remedy of each rule."""
    found = []
    for path in sorted(CHECK.glob("rules-*.c")):
        for row in re.split(r"\n    \{ (?=WEIR_RULE\(|\.id = NULL)", path.read_text())[1:-1]:
            unit = re.search(r'"([^"]*)"\)', row).group(1)
            side = "below" if ".below = true" in row else "above"
            sets = dict(zip(SETS, levels(row, unit)))
            worse = re.search(r"\.worse = \{ WEIR_([A-Z]+), ([\d.]+)", row)
            default = "%s %s %g%s" % (sets["default"][0], side, sets["default"][1], unit if unit.startswith("%%") else " " + unit)
            if worse:
                default += ", %s %s %g" % (worse.group(1), side, float(worse.group(2)))
            found.append((row[len("WEIR_RULE("):].split('"')[1], text(row, r'WEIR_RULE\("H\d\d", \d+,'), default,
                          others(sets, side), text(row, r"\.remedy =")))
    return sorted(found)


def others(sets, side):
    """What the other sets have that is not as in the default set: 'jupiter, io500 INVALID; not snia'."""
    found = {}
    for name in SETS[1:]:
        severity, limit, unit = sets[name]
        if severity == "SOUND":
            found.setdefault("not %s", []).append(name)
        elif sets[name][1:] != sets["default"][1:]:
            found.setdefault("%%s %s %s %g %s" % (severity, side, limit, unit), []).append(name)
        elif severity != sets["default"][0]:
            found.setdefault("%%s %s" % severity, []).append(name)
    return "; ".join(cell % ", ".join(names) for cell, names in found.items())


def table():
    rows = ["| %s | %s | %s | %s |\n" % (id, what, "; ".join(filter(None, limits)), remedy) for id, what, *limits, remedy in rules()]
    return "| rule | measures | limits: default set; others | what to do |\n|---|---|---|---|\n" + "".join(rows)


PAGE_TABLE = page_table.PageTable(PAGE, BEGIN, END, table)
parts = PAGE_TABLE.parts

if __name__ == "__main__":
    PAGE_TABLE.main()
