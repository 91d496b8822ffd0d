# SPDX-License-Identifier: BSD-3-Clause
"""contrib/clients: frameworks run weir and read its results; the real ones where they are installed."""
import json
import os
import re
import shutil
import subprocess

import pytest

import conftest

CLIENTS = conftest.SOURCE / "contrib" / "clients"


def start(words, bin, cwd, **more):
    env = conftest.program_env({"PATH": bin, **more})
    done = subprocess.run(words, cwd=cwd, env=env, stdin=subprocess.DEVNULL, text=True, timeout=120,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def test_jube_runs_the_example_and_reads_its_rates(bin, tmp_path):
    if not shutil.which("jube"):
        pytest.skip("needs jube to run the benchmark")
    for name in ("weir.xml", "ior.xml"):
        shutil.copy(CLIENTS / "jube" / name, tmp_path)
    status, out = start(["jube", "run", "ior.xml", "-r"], bin, tmp_path)
    assert status == 0, out
    table = [line.split(",") for line in out[out.index("size,"):].splitlines() if line.count(",") == 4]
    assert table[0] == ["size", "weir_status", "weir_verdict", "weir_write[bytes/s]", "weir_read[bytes/s]"], out
    found = {row[0]: row[1:] for row in table[1:]}
    assert set(found) == {"64k", "1m"}, out
    for path in tmp_path.glob("weir-jube/*/*/work/weir.json"):
        test = json.loads(path.read_text())["tests"][0]
        size = {65536: "64k", 1048576: "1m"}[test["optionValues"]["transfer-size"]]
        status, verdict, *rates = found.pop(size)
        assert status == "0" and verdict == test["verdict"]
        assert [float(rate) for rate in rates] == pytest.approx([row["median"] for row in test["rates"]])
    assert not found


CHECKS = """
import reframe as rfm
from weir_check import WeirCheck

class Base(WeirCheck):
    options = ["-a", "DUMMY", "-w", "-b", "64k", "-t", "1k", "-i", "7"]
    accepted = []

@rfm.simple_test
class Good(Base):
    reference = {"*": {"write": (1, 0, None, "MiB/s")}}

@rfm.simple_test
class Slow(Base):
    reference = {"*": {"write": (10**12, -0.1, None, "MiB/s")}}

@rfm.simple_test
class Broken(Base):
    options = Base.options + ["--dummy.fail-at=3"]

@rfm.simple_test
class Doubtful(Base):
    accepted = ["SOUND"]
"""


def test_reframe_says_what_is_wrong(bin, tmp_path):
    if not shutil.which("reframe"):
        pytest.skip("needs the command reframe (PyPI: reframe-hpc)")
    (tmp_path / "checks.py").write_text(CHECKS)
    status, out = start(["reframe", "-c", "checks.py", "-r", "--prefix=out", "--report-file=report.json"], bin, tmp_path,
                        PYTHONPATH=str(CLIENTS / "reframe"))
    assert status != 0
    cases = {case["name"]: case for case in json.loads((tmp_path / "report.json").read_text())["runs"][0]["testcases"]}
    assert {name: case["result"] for name, case in cases.items()} == {"Good": "pass", "Slow": "fail", "Broken": "fail", "Doubtful": "fail"}, out
    assert "failed to meet reference" in out and "status 3: rank 0 on" in out and "injected" in out
    assert re.search(r"weir: test 0 is SUSPECT: H\d\d: .* [a-z]+ .*", out), "findings and what to do"


def test_the_expressions_of_ramble_find_what_a_result_has(ior):
    """A stand-in keeps what the application says; expressions are applied line by line, as Ramble does it."""
    ior("-w -r -b 64k -t 16k -i 3 -o f --report=json:weir.json", np=None).ok()
    said = []
    words = "tags software_spec required_package executable workload workload_variable figure_of_merit_context figure_of_merit success_criteria"
    names = {w: (lambda w: lambda *a, **k: said.append((w, a, k)))(w) for w in words.split()}
    text = (CLIENTS / "ramble" / "application.py").read_text().replace("from ramble.appkit import *", "")
    exec(compile(text, "application.py", "exec"), {"ExecutableApplication": type("A", (), {}), **names})
    merits = {a[0]: k for w, a, k in said if w == "figure_of_merit"}
    context = next(k["regex"] for w, a, k in said if w == "figure_of_merit_context")
    success = next(k["match"] for w, a, k in said if w == "success_criteria")
    found, last, verdicts, good = {}, None, [], False
    for line in (ior.cwd / "weir.json").read_text().splitlines():
        good |= bool(re.match(success, line))
        match = re.match(context, line)
        last = match.group("operation") if match else last
        match = re.match(merits["median rate"]["fom_regex"], line)
        if match:
            found[last] = float(match.group("rate"))
        verdicts += re.findall("^" + merits["verdict"]["fom_regex"], line)
    test = json.loads((ior.cwd / "weir.json").read_text())["tests"][0]
    assert good and found == {row["operation"]: row["median"] for row in test["rates"]} and test["verdict"] in verdicts
    programs = [a[1].split()[0] for w, a, k in said if w == "executable"]
    assert all(os.access(conftest.BUILD / "src" / name, os.X_OK) for name in programs) and len(programs) == 4
