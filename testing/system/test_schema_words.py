# SPDX-License-Identifier: BSD-3-Clause
"""The words that doc/result.schema.json allows are those that the programs have in their tables, no more and no fewer."""
import json
import re
import subprocess

import pytest

import conftest

SCHEMA = json.loads((conftest.SOURCE / "doc" / "result.schema.json").read_text())["$defs"]
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')


def lists(node, path=""):
    """Where in the schema a value is one of a list, and that list."""
    if isinstance(node, dict):
        if "enum" in node:
            yield path, node["enum"]
        for key, value in node.items():
            yield from lists(value, path + "/" + key)
    elif isinstance(node, list):
        for i, value in enumerate(node):
            yield from lists(value, "%s/%d" % (path, i))


ENUMS = dict(lists(SCHEMA))


def within(name, beginning, keep=LITERAL, end=r"\n\}|;\n"):
    """Words in a source, from where 'beginning' matches to 'end': of a table, or of the statement that reports one of them."""
    text = (conftest.SOURCE / "src" / name).read_text()
    begin = re.search(beginning, text)
    assert begin, "nothing in src/%s matches %s" % (name, beginning)
    return set(re.findall(keep, text[begin.end():begin.end() + re.search(end, text[begin.end():]).start()]))


def in_all(folder, pattern):
    """What the group of a pattern matches in all sources of a folder."""
    return {word for source in sorted((conftest.SOURCE / "src" / folder).rglob("*.c")) for word in re.findall(pattern, source.read_text())}


def function(name, head):
    """Words that a function returns, and those of its tables."""
    body = (conftest.SOURCE / "src" / name).read_text().split(head, 1)[1].split("\n}", 1)[0]
    tables = re.findall(r"\[[^=;]*\] = \{([^;]*)\}", body)
    return set(re.findall(r'(?:return|[?:]) "([^"]+)"', body)) | set(LITERAL.findall(" ".join(tables)))


def programs(folder=""):
    return in_all("programs/" + folder, r'WEIR_PROGRAM\("([^"]+)"')


def choices(name):
    rows = json.loads(subprocess.run([str(conftest.IOR), "--dump-options=json"], capture_output=True, text=True, check=True,
                                     env=conftest.program_env()).stdout)
    return set(next(row["choices"] for row in rows if row["name"] == name))


def statuses():
    return {int(n) for n in within("base/err.h", r"enum weir_code \{", r"WEIR_\w+ = (\d+)", r"\n\};")}


def severities():
    return within("engine/check/findings.c", r"\*weir_severity_name\([^{]*\{")


def phases():
    """All that are measured, but for those whose numbers nobody reports."""
    found = in_all("programs", r'(?:ROW|PHASE)\("([a-z ]+)"') | in_all("programs", r'ROW\((\w+), "')
    found |= in_all("programs", r'struct weir_phase [^;]*?\.key = "([a-z ]+)"') | in_all("programs/ior", r'STAGE\("(check \w+)"')
    return found - {"clean-up", "random prefill", "check"}


PLACEMENTS = ("engine/about/provenance.c", r"names\[\] = \{")

# Where a list of the schema comes from.
TABLES = {
    "/h5exerciser/properties/program": lambda: programs("h5exerciser"),
    "/checkpoint/properties/program": lambda: programs("checkpoint"),
    "/checkpointParts/properties/program": lambda: programs("checkpoint-parts"),
    "/notBegun/properties/program": programs,
    "/checkpointBuffers": lambda: in_all("programs", r'"buffers", [^?]*\? "(\w+)"') | in_all("programs", r'"buffers", [^:]*: "(\w+)"'),
    "/checkpointTest/properties/verified": lambda: function("programs/checkpoint/ckpt-data.c", "*ckpt_verified("),
    "/h5exTest/properties/summary/items/properties/statistic": lambda: within("base/stats.c", r"weir_five_names\[\w+\] = "),
    "/status": statuses,
    "/notBegun/properties/status": lambda: statuses() - {0},
    "/untilEnded": lambda: function("engine/observe/until.c", "*reason_of(") | within("engine/observe/until.c", r"reasons\[REASONS\] = "),
    "/rates/items/properties/unit": lambda: within("engine/observe/until.c", r"\.unit = s->moves_bytes", end=","),
    "/stragglers/items/properties/part": lambda: within("engine/check/straggler.c", r"part_names\[PARTS\] = "),
    "/verdict": lambda: function("engine/check/findings.c", "*weir_verdict_name(") | severities() - {"none", "NOTE"} | {None},
    "/rules": lambda: choices("rules") - {"none"},
    "/findings/items/properties/outcome": lambda: within("engine/check/trust-report.c", r"outcomes\[\] = "),
    "/findings/items/properties/severity": lambda: severities() - {"none"},
    "/runProvenance/properties/placement": lambda: within(*PLACEMENTS, end=r"\};"),
    "/configuration/properties/placement": lambda: within(*PLACEMENTS, end=r"\};"),
    "/phase/properties/ended": lambda: function("engine/observe/metrics.c", "*name_end("),
    "/phase/properties/operation": phases,
    "/mdtestOperation": lambda: within("programs/mdtest/mdtest-measure.c", r"mdtest_operations\[[^{]*\{", r'"([A-Z][^"]*)"') - {"Directory read"},
    "/mdtestLatency/properties/call": lambda: within("programs/mdtest/mdtest-measure.c", r"mdtest_calls\[", end=r"\n\};")
    | function("engine/observe/latency.c", "*call_name("),
    "/mdwResult/properties/phase": lambda: in_all("programs/md-workbench", r'STAGE\(MDW_\w+, "(\w+)"'),
    "/test/properties/Options/properties/access": lambda: within("programs/ior/ior-report.c", r'"access",'),
    "/test/properties/Options/properties/type": lambda: within("programs/ior/ior-report.c", r'"type",'),
    "/test/properties/Options/properties/ordering in a file": lambda: within("programs/ior/ior-report.c", r'"ordering in a file",'),
    "/test/properties/Options/properties/ordering inter file": lambda: within("programs/ior/ior-report.c", r'"ordering inter file",'),
    "/test/properties/Parameters/properties/data packet type": lambda: within("programs/ior/ior-params.c", r"letters\[\] = ", r"'(\w)'"),
    "/deviationDivisor": lambda: within("base/stats.c", r"\*weir_deviation_divisor\([^{]*\{"),
}


# Lists that no table of a program has: each with a reason.
OTHERS = {
    "/flag": "0 and 1",
    "/test/if/properties/provenance/properties/backend": "a condition of the schema itself: backends with hintsInEffect",
    "/h5exTest/properties/Results/items/properties/side": "the two directions of data",
    "/h5exTest/properties/operations/items/properties/side": "the two directions of data",
    "/mibResult/properties/operation": "the two directions of data",
    "/row/properties/access": "the two directions of data",
    "/summary/properties/operation": "the two directions of data",
}


@pytest.mark.parametrize("where", sorted(ENUMS))
def test_a_list_of_the_schema_has_the_words_of_the_programs(where):
    if where in OTHERS:
        assert set(ENUMS[where]) in ({0, 1}, {"MPIIO", "HDF5", "NCMPI"}, {"write", "read"})
    else:
        assert where in TABLES, "%s: say in TABLES where its words come from" % where
        assert set(ENUMS[where]) == TABLES[where](), where


def test_no_row_of_these_tables_is_left_over():
    assert (set(TABLES) | set(OTHERS)) <= set(ENUMS)
