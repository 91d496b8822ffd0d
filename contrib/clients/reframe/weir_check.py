# SPDX-License-Identifier: BSD-3-Clause
"""weir_check - a check of ReFrame (4.0 or later) around a program of weir

class Write(WeirCheck):
    options = ["-w", "-t", "1m", "-b", "1g", "-e", "-i", "7"]
    reference = {"*": {"write": (900, -0.1, None, "MiB/s")}}

It is sane when the program ended well and judges its tests to be worth one of 'accepted'. The figures are the median rates of all
operations, from the JSON result. What went wrong, the error or the findings with their remedies, is in the text of the failure."""
import json
import os

import reframe as rfm
import reframe.utility.sanity as sn
import reframe.utility.typecheck as typ
from reframe.core.builtins import run_before, sanity_function, variable

RESULT = "weir.json"
MIB = 2**20


class Refused(Exception):
    """Why the result is none; the text is that of the failure."""


def read(folder):
    """The JSON result of the run."""
    try:
        with open(os.path.join(folder, RESULT), encoding="utf-8") as f:
            return json.load(f)
    except (OSError, ValueError) as e:
        raise Refused("weir has left no result %s: %s" % (RESULT, e))


def reasons(test, accepted):
    """The findings that make a test less than accepted."""
    for row in test.get("findings", ()):
        if row.get("outcome") == "found" and row.get("severity") not in accepted and row.get("severity") != "NOTE":
            yield "%s: %s. %s" % (row.get("id"), row.get("text"), row.get("remedy"))


def refusals(document, accepted):
    """Lines about what is wrong with a result; none: it is well."""
    if document.get("status") not in (0, 5):
        yield "status %s: %s" % (document.get("status"), document.get("error"))
    if not document.get("tests"):
        yield "nothing was measured"
    for place, test in enumerate(document.get("tests", ())):
        verdict = test.get("verdict")
        if accepted and verdict is not None and verdict not in accepted:
            yield "test %d is %s: %s" % (place, verdict, "; ".join(reasons(test, accepted)))


def rates(document):
    """{name: (median, unit)}; with several tests their numbers stand in the names."""
    found = {}
    for place, test in enumerate(document.get("tests", ())):
        before = "test%d_" % place if len(document["tests"]) > 1 else ""
        for row in test.get("rates", ()):
            in_bytes = row.get("unit") == "bytes/s"
            value = row["median"] / MIB if in_bytes else row["median"]
            found[before + str(row["operation"]).replace(" ", "_")] = value, "MiB/s" if in_bytes else "ops/s"
    return found


@sn.deferrable
def judge(folder, accepted):
    """True, or the sanity error with the reasons."""
    try:
        found = list(refusals(read(folder), accepted))
    except Refused as e:
        found = [str(e)]
    return sn.evaluate(sn.assert_true(not found, "weir: " + "; ".join(found)))


@sn.deferrable
def rate(folder, name):
    return rates(read(folder))[name][0]


class WeirCheck(rfm.RunOnlyRegressionTest):
    """program, options: what runs. accepted: verdicts that are good enough, by default SOUND and SUSPECT; none: any."""

    program = variable(str, value="ior")
    options = variable(typ.List[str], value=[])
    accepted = variable(typ.List[str], value=["SOUND", "SUSPECT"])
    valid_systems = ["*"]
    valid_prog_environs = ["*"]

    @run_before("run")
    def set_command(self):
        self.executable = self.program
        self.executable_opts = list(self.options) + ["--report=text:-,json:" + RESULT]

    @sanity_function
    def run_is_well(self):
        return judge(self.stagedir, self.accepted)

    @run_before("performance")
    def set_figures(self):
        self.perf_variables = {
            name: sn.make_performance_function(rate(self.stagedir, name), unit)
            for name, (_, unit) in rates(read(self.stagedir)).items()
        }
