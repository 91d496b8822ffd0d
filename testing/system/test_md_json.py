# SPDX-License-Identifier: BSD-3-Clause
"""Results of mdtest and md-workbench for programs: documents that keep to doc/result.schema.json, however a run ends."""
import copy
import json
import os
import signal
import time

import pytest

import conftest
from mdtest_support import mdtest  # noqa: F401
from mdw_support import SMALL, mdw  # noqa: F401
from mib_support import mib  # noqa: F401

pytest.importorskip("jsonschema", reason="needs python3-jsonschema to check the documents")
from test_json import VALIDATOR, SCHEMA, jsonschema, no_constant, no_twins  # noqa: E402

WORD = " --report=json:r.json"
PROGRAMS = {name: jsonschema.Draft202012Validator({"$ref": "#/$defs/" + name, "$defs": VALIDATOR.schema["$defs"]})
            for name in ("ior", "mdtest", "md-workbench", "mib")}


def sorted_cells(row, *keys):
    cells = [row[k] for k in keys]
    assert all(c is None for c in cells) or cells == sorted(cells), row


def document(run):
    """The document of a run, when it keeps to the schema and tells how the run ended."""
    doc = json.loads((run.cwd / "r.json").read_text(), parse_constant=no_constant, object_pairs_hook=no_twins)
    wrong = ["%s: %s" % ("/".join(map(str, e.absolute_path)), e.message[:200]) for e in PROGRAMS[doc["program"]].iter_errors(doc)]
    assert wrong == [] and VALIDATOR.is_valid(doc), "%s\n%r" % ("\n".join(wrong[:10]), run)
    assert doc["status"] == run.returncode and (not run.errors or doc["error"] == run.errors[0]), run
    for test in doc.get("tests", []):
        for p in test.get("phases", []):
            assert p["tasks"] == test["tasks"] and p["stepsMin"] <= p["stepsMax"]
            by = {key: p["tasksBy" + key.capitalize()] for key in ("work", "count", "time", "steady")}
            assert sum(by.values()) == p["tasks"] and by.get(p["ended"], p["tasks"]) == p["tasks"], p
            for op in ("open", "transfer", "sync", "close"):
                sorted_cells(p, *[op + m for m in ("P50", "P90", "P99", "P999", "Max")])
        for row in test.get("latency", []):
            sorted_cells(row, "p50", "p90", "p99", "p999", "max")
        for row in test.get("Results", []):
            if "shortCalls" in row:
                assert abs(row["rate"] * row["time"] - row["bytes"] / 2 ** 20) <= 1e-6 * row["bytes"]
            elif "phase" in row:
                for op in ("read", "stat", "create", "delete"):
                    sorted_cells(row, *[op + m for m in ("Min", "Q1", "Median", "Q3", "P90", "P99", "Max")])
            else:
                assert abs(row["rate"] * row["time"] - row["items"]) <= 1e-6 * row["items"], row
    return doc


# ---- the schema itself ----

def breakages_of_mdtest():
    yield "a key is missing", lambda d: d["tests"][0].pop("itemsPerTask")
    yield "no count of wrong data", lambda d: d["tests"][0].pop("verificationErrors")
    yield "a result without its rate", lambda d: d["tests"][0]["Results"][0].pop("rate")
    yield "an operation that there is not", lambda d: d["tests"][0]["Results"][0].update(operation="File rename")
    yield "a latency without a percentile", lambda d: d["tests"][0]["latency"][0].pop("p999")
    yield "a call that there is not", lambda d: d["tests"][0]["latency"][0].update(call="poll")
    yield "tests without a summary", lambda d: d.pop("summary")
    yield "a date in another form", lambda d: d.update(Finished=d["Finished"].replace("/", "-"))
    yield "another program", lambda d: d.update(program="ior")
    yield "a status that there is not", lambda d: d.update(status=8)
    yield "a new key that nobody described", lambda d: d["tests"][0].update(surprise=1)


def breakages_of_mdw():
    yield "no errors", lambda d: d["tests"][0].pop("operationErrors")
    yield "a phase that there is not", lambda d: d["tests"][0]["Results"][0].update(phase="warm-up")
    yield "a row without a quartile", lambda d: d["tests"][0]["Results"][0].pop("readQ3")
    yield "a time below zero", lambda d: d["tests"][0]["Results"][0].update(seconds=-1)
    yield "half an object", lambda d: d["tests"][0]["Results"][0].update(objects=0.5)
    yield "two tests", lambda d: d["tests"].append(d["tests"][0])
    yield "another program", lambda d: d.update(program="mdtest")
    yield "a new key that nobody described", lambda d: d["tests"][0].update(surprise=1)


def damaged(good, breakages):
    for what, damage in breakages:
        bad = copy.deepcopy(good)
        damage(bad)
        assert not VALIDATOR.is_valid(bad), what


def test_the_schema_finds_a_broken_document_of_mdtest(mdtest):
    damaged(document(mdtest("-n 2 -w 8 -e 8" + WORD).ok()), breakages_of_mdtest())


def test_the_schema_finds_a_broken_document_of_md_workbench(mdw):
    damaged(document(mdw(SMALL + WORD).ok()), breakages_of_mdw())


def test_every_program_has_a_part_of_the_schema():
    assert {list(part.values())[0] for part in SCHEMA["anyOf"]} == {"#/$defs/" + name for name in [*PROGRAMS, "h5exerciser", "checkpoint", "checkpointParts", "modelCheckpoint", "weir-mix", "weir-io500", "notBegun", "incomplete"]}


# ---- mdtest ----

CLEAN = ["-n 4", "-n 4 -w 10 -e 10 -X -y -i 3", "-n 0", "-n 4 -F -C -T -r -u", "-S -n 2", "-S -D -n 2", "-I 2 -b 2 -z 2 -L", "-n 4 -c -w 8",
         "-n 6 -R -P --latency --showRankStatistics --print-all-procs", "-W 1 -n 10", "-n 4 -k -F", "-a DUMMY -n 4", "-n 2 -v -v -v",
         "-a DUMMY -I 2 -z 1 --latency --readdir --move --link --symlink --xattr=9 --chmod"]


@pytest.mark.parametrize("args", CLEAN)
def test_a_clean_run_of_mdtest(mdtest, args):
    doc = document(mdtest(args + WORD).ok())
    test, = doc["tests"]
    assert doc["status"] == 0 and doc["error"] == "" and test["verificationErrors"] == 0
    assert {row["operation"] for row in doc["summary"]} == {row["operation"] for row in test["Results"]}
    for total in doc["summary"]:
        rates = [row["rate"] for row in test["Results"] if row["operation"] == total["operation"]]
        assert total["iterations"] == len(rates) and total["rateMax"] == max(rates) and total["rateMin"] == min(rates)


def test_each_number_of_tasks_is_a_test(mdtest):
    doc = document(mdtest("-n 2 -F -f 1 -l 3 -s 2" + WORD, np=3).ok())
    assert [(t["TestID"], t["tasks"]) for t in doc["tests"]] == [(0, 1), (1, 3)]
    assert {(row["TestID"], row["tasks"]) for row in doc["summary"]} == {(0, 1), (1, 3)}


def test_a_dry_run_tells_what_is_needed(mdtest):
    doc = document(mdtest("-n 5 -w 100 --dry-run" + WORD, np=2).ok())
    assert doc["need"] == {"tree directories": 1, "items of a task": 5, "items": 10, "bytes": 1000, "inodes": 12}
    assert "tests" not in doc
    most = document(mdtest("-a DUMMY -z 62 -b 2 -I 1 --dry-run" + WORD, np=1).ok())["need"]
    assert {most[key] for key in ("tree directories", "items of a task", "items", "inodes")} == {2 ** 63 - 1}  # never negative


def test_wrong_data_are_counted(mdtest):
    doc = document(mdtest("-a DUMMY --dummy.corrupt-at=3 -n 5 -F -w 64 -e 64 -X" + WORD).ok(4))
    assert doc["tests"][0]["verificationErrors"] == 2 and doc["status"] == 4


def test_a_failed_run_of_mdtest_keeps_what_was_measured(mdtest):
    doc = document(mdtest("-a DUMMY --dummy.fail-op=stat --dummy.fail-at=5 -n 10 -F" + WORD).ok(3))
    assert [row["operation"] for row in doc["tests"][0]["Results"]] == ["Tree creation", "File creation"]


@pytest.mark.parametrize("args", ["-n 2 -d no/such/place", "-n 2 -x no/such/file -W 1", "-n 2 -d /proc/none"])
def test_a_run_of_mdtest_that_fails_early_leaves_a_document(mdtest, args):
    run = mdtest(args + WORD)
    assert run.returncode in (2, 3) and document(run)["error"]


def test_a_run_that_stands_still_leaves_a_document(mdtest, mdw):
    for program, args in (mdtest, "-n 2 -F -a DUMMY --dummy.delay-create=20000000"), (mdw, SMALL + " -a DUMMY --dummy.delay-create=20000000"):
        assert document(program(args + " --io-timeout=1" + WORD, np=None).fails(3))["unfinished"] == 1


def test_an_interrupted_run_of_mdtest_leaves_a_document(mdtest):
    proc = mdtest.start("-n 3000000 -F" + WORD, np=2)
    ranks = mdtest.wait_for_ranks(proc, 2)
    conftest.wait_until(lambda: (mdtest.dir / "test-dir.0-0").exists() or proc.poll() is not None)
    time.sleep(0.3)
    os.kill(ranks[0], signal.SIGTERM)
    doc = document(mdtest.finish(proc).ok(6))
    assert doc["status"] == 6 and doc["tests"][0]["phases"][-1]["interrupted"] == 1


# ---- md-workbench ----

@pytest.mark.parametrize("args", ["", "-T", "-q --print-detailed-stats", "--process-reports -X", "-1", "--read-only", "-S 0", "-w 1 -W", "-t=0.1",
                                  "-a DUMMY", "-v -v", "-L lat --latency-all", "--start-item=3"])
def test_a_clean_run_of_md_workbench(mdw, args):
    doc = document(mdw(SMALL + args + WORD).ok())
    test, = doc["tests"]
    assert test["operationErrors"] == 0 == test["verificationErrors"]
    assert "until" in test["Parameters"] and "sweep" not in test["Parameters"], "md-workbench refuses a sweep"
    assert [p["operation"] for p in test["phases"]] == [row["phase"] for row in test["Results"]]


def test_objects_that_are_not_there_are_counted(mdw):
    mdw(SMALL + "-1").ok()
    (mdw.dir / "0_0" / "file-1").unlink()
    doc = document(mdw(SMALL + "-2" + WORD).ok(3))
    assert doc["tests"][0]["operationErrors"] == 1 and doc["status"] == 3


def test_wrong_objects_are_counted(mdw):
    mdw(SMALL + "-1").ok()
    doc = document(mdw(SMALL.replace("-G 10", "-G 11") + "-2 -X" + WORD).ok(4))
    assert doc["tests"][0]["verificationErrors"] == doc["tests"][0]["operationErrors"] == 8 and doc["status"] == 4


@pytest.mark.parametrize("args", ["-o no/such/place", "-2", "-a DUMMY --dummy.fail-op=mkdir --dummy.fail-at=2"])
def test_a_run_of_md_workbench_that_fails_leaves_a_document(mdw, args):
    run = mdw(SMALL + args + WORD)
    assert run.returncode in (2, 3) and document(run)["error"]


def test_an_interrupted_run_of_md_workbench_leaves_a_document(mdw):
    proc = mdw.start("-P 10 -I 1000000 -R 1000 -D 2" + WORD, np=2)
    ranks = mdw.wait_for_ranks(proc, 2)
    mdw.wait_for(proc, 20)
    os.kill(ranks[1], signal.SIGTERM)
    doc = document(mdw.finish(proc).ok(6))
    assert doc["tests"][0]["phases"][-1]["interrupted"] == 1


# ---- mib ----

@pytest.mark.parametrize("args, np, status, ended", [
    ("-l 3 -n -r", 2, 0, ["count", "count"]), ("-L 0 -l 3 -W", 1, 0, ["time"]), ("-l 2 --verify -i 2".replace("-i", "--repetitions"), 1, 0, ["count"] * 4),
    ("-R", 1, 3, []), ("--api DUMMY -l 2 --dummy.fail-op=sync --dummy.fail-rank=0 --dummy.fail-at=1", 1, 3, []), ("-l 0", 1, 1, None)])
def test_mib(mib, args, np, status, ended):
    run = mib("-F -t {d} -s 64k " + args + WORD, np=np).ok(status)
    if ended is None:
        assert not (mib.cwd / "r.json").exists()
        return
    doc = document(run)
    assert [row["ended"] for row in doc["tests"][0].get("phases", [])] == ended
    if not status:
        for row in doc["tests"][0]["phases"]:
            assert row["openTime"] > 0 and row["closeTime"] > 0 and ((row["syncMax"] or 0) > 0) == (row["operation"] == "write")
        assert len(doc["tests"][0]["Results"]) == len(ended) and all(r["rate"] > 0 for r in doc["tests"][0]["Results"])
