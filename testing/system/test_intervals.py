# SPDX-License-Identifier: BSD-3-Clause
"""--interval: bandwidth, operations and latency over time. Nothing is lost: the sum over the intervals is what was moved."""
import csv
import json
import math

import pytest

import conftest
from h5ex_support import h5ex  # noqa: F401
from mdtest_support import mdtest  # noqa: F401
from mdw_support import mdw  # noqa: F401
from mib_support import mib  # noqa: F401
from timeline_support import Timeline


def phases_of(path):
    """Of all tests: rows of intervals and the row of the phase, by test, repetition and phase."""
    found = {}
    for number, test in enumerate(json.loads(path.read_text())["tests"]):
        for p in test["phases"]:
            found[number, p["iter"], p["operation"]] = ([], p)
        for row in test.get("intervals", []):
            found[row["test"], row["iter"], row["operation"]][0].append(row)
    return found


def keeps_to_the_schema(doc):
    jsonschema = pytest.importorskip("jsonschema", reason="needs python3-jsonschema to check the documents")
    schema = json.loads((conftest.BUILD / "doc" / "result.schema.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(doc)


def times_fit(rows):
    for r in rows:
        times = [r[k] for k in ("p50", "p99", "p999", "max")]
        assert (times == [None] * 4) if r["operations"] == 0 else (0 <= times[0] and times == sorted(times)), r
        assert r["operations"] > 1 or len(set(times)) == 1, r


def adds_up(path):
    doc = json.loads(path.read_text())
    found = phases_of(path)
    keeps_to_the_schema(doc)
    for key, (rows, phase) in found.items():
        assert sum(r["bytes"] for r in rows) == phase["bytes"], key
        assert rows == sorted(rows, key=lambda r: r["begin"]) and all(r["seconds"] > 0 for r in rows)
        for a, b in zip(rows, rows[1:]):
            assert abs(a["begin"] + a["seconds"] - b["begin"]) < 1e-9
        for r in rows:
            assert abs(r["bwMiB"] * r["seconds"] * 2 ** 20 - r["bytes"]) <= 1e-6 * r["bytes"] + 1e-6, r
            assert 0 <= r["stalled"] <= phase["tasks"], r
        times_fit(rows)
    for test in doc["tests"]:
        times_fit(test.get("intervalCalls", []))
    return found


def begins_for(rows, records, width):
    """The least and the most time at which the first interval begins, so that in each interval as
    many operations have ended as its row says. Times in ns."""
    ends = sorted(r.end for r in records)
    least, most, ended = -math.inf, math.inf, 0
    for number, row in enumerate(rows, 1):
        ended += row["operations"]
        if ended > 0:
            least = max(least, ends[ended - 1] - number * width)
        if ended < len(ends):
            most = min(most, ends[ended] - number * width)
    return least, most


def fits_the_timeline(rows, records, phase, before):
    """The intervals begin after the phase before, and not after the first operation. A task stands
    still in no more of them than its operations can cover: pauses of a program are none."""
    width, error = 10 ** 8, 2 * phase["clock_uncertainty"] + 1
    (least, most), first = begins_for(rows, records, width), min(r.begin for r in records)
    covered = sum((r.end - r.begin + error) // width for r in records)
    assert least <= most + error and before <= most + error, (least, most, before, rows, phase)
    assert least <= first + error and rows[-1]["operations"] > 0, (least, first, rows, phase)
    assert sum(r["stalled"] for r in rows) <= covered, (rows, records)


@pytest.mark.sanitize
def test_series_of_all_kinds_of_tests_add_up(ior):
    """Fewer tasks, lock step, passes until a time, a deadline with wear-out; beside a timeline."""
    (ior.cwd / "s").write_text("IOR START\napi=DUMMY\nblockSize=64k\ntransferSize=8k\nnumTasks=1\nRUN\nnumTasks=3\ncollective=1\n"
                               "api=MPIIO\nRUN\ncollective=0\napi=DUMMY\nwriteFile=1\nreadFile=0\nrepetitions=2\nminTimeDuration=1\n"
                               "interIODelay=20000\nRUN\nrepetitions=1\nminTimeDuration=0\ninterIODelay=300000\n"
                               "deadlineForStonewalling=1\nstoneWallingWearOut=1\nRUN\nIOR STOP\n")
    run = ior("-f s --interval=0.1 --timeline=t.npy --report=text:-,json:r.json", np=3).ok()
    found = adds_up(ior.cwd / "r.json")
    t = Timeline(ior.cwd / "t.npy").adds_up()
    assert len(found) == len(t.doc["phases"]) == 7
    before = 0
    for (rows, phase), p in zip(found.values(), t.doc["phases"]):
        assert sum(r["operations"] for r in rows) == phase["steps"] == p["records"]
        fits_the_timeline(rows, t.of(p["index"]), p, before)
        before = p["end"]
    assert run.stdout.count("\nIntervals:\nphase ") == 4, run


def test_intervals_that_are_too_many_become_wider(ior):
    run = ior("-a DUMMY -w -b 8k -t 8 -O minTimeDuration=5,interIODelay=700 --interval=0.001 --report=text:-,json:r.json", np=None).ok()
    (rows, _), = adds_up(ior.cwd / "r.json").values()
    (width,) = {r["seconds"] for r in rows[:-1]}
    assert 2048 <= len(rows) <= 4096 and width / 0.001 in (2, 4, 8, 16), (width, run)  # 2 where 5 s are not much more
    assert any("--interval" in n and "width is now %g s" % width in n for n in run.notes), run


def test_a_stall_is_in_the_interval_in_which_it_ends(ior):
    """One transfer of rank 0 takes 0.3 s; rank 1 goes on. Text, JSON and CSV say the same."""
    run = ior("-a DUMMY -w -b 8 -t 8 -s 3000 -O interIODelay=200 --dummy.delay-xfer=300000 --dummy.delay-at=1000 --dummy.delay-only-rank0 "
              "--interval=0.05 --report=text:-,json:r.json,csv-intervals:i.csv", np=2).ok()
    (rows, _), = adds_up(ior.cwd / "r.json").values()
    found = [i for i, r in enumerate(rows) if r["max"] and r["max"] >= 0.3]
    assert found, run
    slow = found[0]
    conftest.timely(len(found) == 1 and rows[slow]["p50"] < 0.01, run)  # one of some hundred
    assert rows[slow]["p999"] == rows[slow]["max"], run
    still = [i for i, r in enumerate(rows) if r["stalled"]]
    conftest.timely(len([i for i in still if i < slow]) >= 4, run)
    conftest.timely(still == list(range(slow - len(still), slow)) and all(rows[i]["stalled"] == 1 for i in still), run)
    with open(ior.cwd / "i.csv") as f:
        table = list(csv.DictReader(f))
    for row, said in zip(rows, table):
        words = {k: row.get(k) for k in said if k not in ("operation", "call")}
        assert {k: pytest.approx(float(v)) if v else None for k, v in said.items() if k in words} == words, said
    assert len(table) == len(rows) and {(r["operation"], r["call"]) for r in table} == {("write", "")}
    assert [float(line.split()[-2]) for line in run.stdout.split("\nIntervals:\n")[1].splitlines()[slow + 1:slow + 2]] == [
        pytest.approx(1e6 * rows[slow]["max"], abs=1e-3)]


def test_at_depth_a_time_is_that_from_submission(ior):
    ior("-a DUMMY -w -b 8k -t 8 --depth=64 --dummy.delay-xfer=20000 --interval=0.005 --report=json:r.json", np=2).ok()
    (rows, _), = adds_up(ior.cwd / "r.json").values()
    assert all(r["p50"] >= 0.02 for r in rows if r["operations"]), rows
    conftest.timely(any(r["stalled"] == 2 for r in rows), rows)  # both have begun at about one time


def test_at_a_rate_a_time_is_that_from_when_an_operation_was_due(ior):
    """One transfer of 300 takes 0.4 s: the 400 that were due in it are late, and the stall is not one slow operation of many."""
    ior("-a DUMMY -w -b 8 -t 8 -s 700 --rate=1000ops --dummy.delay-xfer=400000 --dummy.delay-at=300 --interval=0.1 --report=json:r.json").ok()
    (rows, _), = adds_up(ior.cwd / "r.json").values()
    slow = max(range(len(rows)), key=lambda i: rows[i]["operations"])
    assert rows[slow]["operations"] >= 150 and max(r["max"] or 0 for r in rows) >= 0.4, rows
    conftest.timely(rows[slow]["p50"] > 0.02 > rows[1]["p50"] and any(r["stalled"] == 2 for r in rows[:slow]), rows)


def test_metadata_benchmarks_have_series_too(mdtest, mdw):
    mdtest("-n 20 -w 100 -e 50 --interval=0.01 --report=text:-,json:r.json", np=2).ok()
    found = adds_up(mdtest.cwd / "r.json")
    for (_, _, name), (rows, phase) in found.items():
        assert sum(r["operations"] for r in rows) == phase["steps"], name
    # also where nobody else asks for single operations
    run = mdtest("-n 1013 -F -w 100 -e 50 -d other --interval=0.001", np=2).ok()
    table = [line.split() for line in run.stdout.split("\nIntervals:\n")[1].splitlines() if line.startswith("file ")]
    for name in ("create", "stat", "read", "remove"):
        rows = [[float(v) for v in row[2:] if v != "-"] for row in table if row[1] == name]
        assert sum(row[5] for row in rows) == 2026 and sum(row[3] for row in rows) == {"create": 202600, "read": 101300}.get(name, 0), table
        assert all(0 < row[7] <= row[8] for row in rows if row[5]), table


def test_a_phase_with_several_operations_has_rows_of_each(mdw):
    mdw("-R 1 -D 2 -I 3 -P 4 -S 16 --interval=10 --report=text:-,json:w.json,csv-intervals:i.csv", np=2).ok()
    (whole,), _ = adds_up(mdw.cwd / "w.json")[0, 0, "benchmark"]
    calls = {r["call"]: r for r in json.loads((mdw.cwd / "w.json").read_text())["tests"][0]["intervalCalls"]}
    assert {call: r["operations"] for call, r in calls.items()} == {"read": 12, "stat": 12, "create": 12, "delete": 12}
    assert whole["operations"] == 48 and whole["bytes"] == sum(r["bytes"] for r in calls.values())
    assert whole["max"] == max(r["max"] for r in calls.values()) and calls["stat"]["bytes"] == 0
    with open(mdw.cwd / "i.csv") as f:
        rows = [(r["operation"], r["call"]) for r in csv.DictReader(f)]
    assert rows == [("precreate", "")] + [("benchmark", call) for call in ("read", "stat", "create", "delete", "")] + [("cleanup", "")]


def test_documents_of_other_programs_keep_to_the_schema_with_intervals(ior, mib, h5ex):
    mib("-F -t {d} -s 4k -l 50 -r --interval=0.01 --report=json:r.json", np=2).ok()
    h5ex("--numdims 1 --minels 100 --dimranks 2 --interval=0.01 --report=json:r.json", np=2).ok()
    for name, args in (("combo.x", "--nx 4 --n_levs 4 --n_writers 2"),
                       ("checkpoint_simulator.x", "--nx 1 --ny 1 --im_world 9 --lm 2 --ntrials 1 --num_writers 2 -a POSIX")):
        ior.program = conftest.BUILD / "src" / name
        ior(args + " --interval=0.01 --report=json:%s.json" % name, np=6).ok()
    for path in (mib.cwd / "r.json", h5ex.cwd / "r.json", ior.cwd / "combo.x.json", ior.cwd / "checkpoint_simulator.x.json"):
        doc = json.loads(path.read_text())
        keeps_to_the_schema(doc)
        tests = [inner for test in doc["tests"] for inner in test.get("tests", [test])]
        assert sum(r["operations"] for test in tests for r in test["intervals"]) > 0, path


@pytest.mark.parametrize("text", ["0.0001", "x", "1s", "-1", "nan", "inf", "", "1e9"])
def test_widths_that_cannot_be(ior, text):
    ior(["-a", "DUMMY", "--interval=" + text], np=None).fails(1, "interval", )


def test_a_width_of_nothing_changes_nothing(ior):
    run = ior("-a DUMMY -w -b 8k -t 8k --interval=0", np=None).ok()
    assert "Intervals:" not in run.stdout
