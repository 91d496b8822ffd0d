# SPDX-License-Identifier: BSD-3-Clause
"""--rate, --rate-total, --arrivals and --burst: operations that are due at their time, and what is told of it."""
import csv
import json
import re
import os
import signal
import subprocess
import time

import pytest

import conftest
from mdtest_support import mdtest  # noqa: F401
from mdw_support import SMALL, mdw  # noqa: F401
from mib_support import mib  # noqa: F401

JSON = " --report=text:-,json:r.json,csv:r.csv"


def results_of(run):
    return json.loads((run.cwd / "r.json").read_text())["tests"]


def load_of(run):
    row, = results_of(run)[0]["load"]
    return row


def finding(test):
    one, = [f for f in test["findings"] if f["id"] == "H37"]
    return one


# ---- response times ----

# Two hundred transfers, one each 2.5 ms; one of them takes 100 ms, in which 39 others come due.
STALL = "-a DUMMY -w -b 200k -t 1k --rate=400ops --dummy.delay-xfer=100000 --dummy.delay-at=50" + JSON


def test_transfers_that_come_due_in_a_slow_one_have_its_time_in_their_response(ior):
    """No coordinated omission: one of 200 service times is long, and a fifth of the response times."""
    run = ior(STALL, np=1).ok()
    row = load_of(run)
    assert (row["operation"], row["count"], row["unit"], row["rateAsked"], row["arrivals"]) == ("write", 200, "ops/s", 400, "even"), row
    assert row["serviceMax"] >= 0.1 and row["responseMax"] >= 0.1 and row["lateMax"] >= 0.097, row
    assert row["late"] >= 19 and row["responseP90"] >= 0.05, row
    assert results_of(run)[0]["phases"][0]["workTime"] >= 199 / 400, row
    seconds, = csv.DictReader((ior.cwd / "r.csv").open())
    assert float(seconds["rateAsked"]) == 400 and float(seconds["responseP99"]) == row["responseP99"] and seconds["late"], seconds
    assert "Operations at a rate" in run.stdout and re.search("\nwrite +- +400 ", run.stdout), run
    conftest.timely(row["serviceP99"] < 0.02 and row["rateReached"] > 390 and finding(results_of(run)[0])["outcome"] == "fine", row)


def test_in_a_queue_others_go_on_beside_a_slow_transfer(ior):
    """While the next one is not due what has ended is taken back: its time is not that to the next one."""
    row = load_of(ior(STALL + " --depth=4", np=1).ok())
    assert row["count"] == 200 and row["serviceMax"] >= 0.1, row
    conftest.timely(row["responseP90"] < 0.02 and row["serviceP90"] < 0.002, row)


def test_what_io_uring_has_completed_is_taken_back_before_the_next_is_due(ior, need_backend):
    """io_uring posts what a device has done when it is called: without a call the time of a transfer was that to the next one."""
    need_backend("URING")
    if ior("-w -k -e -b 24k -t 4k --posix.odirect", np=1).returncode != 0:
        pytest.skip("no O_DIRECT here")
    row = load_of(ior("-a URING -r -E -b 24k -t 4k --posix.odirect --depth=4 --rate=8ops" + JSON, np=1).ok())
    assert (row["operation"], row["count"]) == ("read", 6), row
    conftest.timely(row["serviceP50"] < 0.06, row)


# ---- rates ----

SCRIPT = """IOR START
api=DUMMY
readFile=0
rate=200ops
RUN
rate=40k
arrivals=shifted
RUN
rate=0.1ops
arrivals=even
blockSize=1k
RUN
rate=none
burst=1:0.001
mix=read:1+write:1
RUN
burst=None
mix=none
RUN
dryRun=1
blockSize=10k
rate=5ops
RUN
deadlineForStonewalling=1
RUN
IOR STOP
"""


def test_each_test_has_the_rate_that_it_asks_for(ior):
    (ior.cwd / "script").write_text(SCRIPT)
    run = ior("-f script -w -b 20k -t 1k" + JSON).ok()
    ops, in_bytes, one, mixed, plain, *dry = results_of(run)
    assert [row["operation"] for test in (mixed, plain) for row in test["phases"]] == ["write", "mix-write", "mix-read", "write"], plain
    assert not any(key in plain["Parameters"] for key in ("rate", "burst", "mix")) and "load" not in plain, plain["Parameters"]
    assert [run.stderr.count("--dry-run: at its rate the write phase takes %d s\n" % seconds) for seconds in (2, 1)] == [1, 1], run
    assert [test["load"][0]["rateAsked"] for test in (ops, in_bytes, one)] == [400, 2 * 40 * 1024, 0.2]
    assert [test["load"][0]["unit"] for test in (ops, in_bytes, one)] == ["ops/s", "bytes/s", "ops/s"]
    assert [test["phases"][0]["transferCount"] for test in (ops, in_bytes, one)] == [40, 40, 2]
    assert ops["phases"][0]["workTime"] >= 19 / 200 and in_bytes["phases"][0]["workTime"] >= 19.5 / 40, in_bytes
    assert in_bytes["load"][0]["arrivals"] == "shifted" and ops["load"][0]["sleepTime"] > 0, ops
    conftest.timely(ops["load"][0]["spinTime"] > 0, ops)  # a machine may wake each of them too late
    for test in ops, in_bytes, one:  # the mean of the tasks
        assert test["load"][0]["sleepTime"] + test["load"][0]["spinTime"] <= test["phases"][0]["totalTime"], test


def test_a_total_rate_is_divided_and_pauses_are_in_the_schedule(ior):
    run = ior("-a DUMMY -w -b 30k -t 1k --rate-total=300ops --burst=10:0.1 --arrivals=poisson" + JSON, np=3).ok()
    row = load_of(run)
    assert row["rateAsked"] == pytest.approx(3 * 10 / (10 / 100 + 0.1)) and row["count"] == 90, row
    assert results_of(run)[0]["phases"][0]["workTime"] >= 0.2, row


def test_without_a_rate_a_burst_rests_after_its_last_transfer_has_ended(ior):
    run = ior("-a DUMMY -w -b 9k -t 1k --burst=3:0.1 --depth=4 --dummy.delay-xfer=10000" + JSON, np=1).ok()
    test, = results_of(run)
    assert test["phases"][0]["workTime"] >= 0.23 and "load" not in test and finding(test)["outcome"] == "not judged", test
    assert test["queue"][0]["depthMax"] == 3, test


def test_a_rate_that_is_not_reached_is_found_with_the_share_that_was_late(ior):
    run = ior("-a DUMMY -w -b 20k -t 1k --rate=1000ops --dummy.delay-xfer=5000 --findings" + JSON).ok()
    found = finding(results_of(run)[0])
    assert found["outcome"] == "found" and found["severity"] == "SUSPECT" and found["value"] >= 70, found
    assert "a write phase reached" in found["text"] and "of the 2000 ops/s that were asked for" in found["text"], found
    assert load_of(run)["late"] >= 90 and "% of its operations began more than 0.1 ms late" in found["text"], found
    assert "H37" in run.stdout and "H37" in run.stderr, run


def test_a_stonewall_ends_the_waiting(ior):
    run = ior("-a DUMMY -w -b 1m -t 1k -D 0.5 -O stoneWallingWearOut=1 --rate=20ops" + JSON).ok()
    phase, = results_of(run)[0]["phases"]
    assert 1 <= phase["stepsMin"] == phase["stepsMax"] <= 10, phase
    conftest.timely(phase["workTime"] < 1.5 and phase["steps"] == 20, phase)


# ---- the load curve ----

def test_a_curve_has_the_maximum_and_shares_of_it(ior, mdtest):  # noqa: F811
    curve = "--rate=50%..150%:3 --rate-time=0.1"
    run = ior("-a DUMMY --dummy.store -w -r -R -F -l signature -b 64k -t 4k --dummy.delay-xfer=200 " + curve + JSON + ",csv-load:l.csv").ok()
    test, = results_of(run)
    assert [(row["percent"], row["operation"]) for row in test["load"]] == [(p, op) for p in (None, 50, 100, 150) for op in ("write", "read")], test["load"]
    for op in "write", "read":
        most, *points = [row for row in test["load"] if row["operation"] == op]
        assert most["rateAsked"] is None and most["responseP99"] is None and most["serviceP99"] >= 0.0002 and most["late"] is None, most
        for row in points:
            assert row["rateAsked"] == pytest.approx(most["rateReached"] * row["percent"] / 100) and row["count"] > 0, row
            assert row["responseP50"] >= 0.0002 and row["serviceP50"] >= 0.0002 and row["unit"] == "ops/s", row
        conftest.timely(points[2]["late"] >= 50 and points[2]["rateReached"] < points[2]["rateAsked"], points)  # the maximum was one
    assert len(test["phases"]) == 2 and finding(test)["outcome"] == "not judged", "points are no phases of the test"
    with (ior.cwd / "l.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["percent"] or None) and float(row["percent"]) for row in rows] == [row["percent"] for row in test["load"]], rows
    assert [float(row["rateReached"]) for row in rows] == pytest.approx([row["rateReached"] for row in test["load"]]) and "Of max %" in run.stdout, run
    run = mdtest("-n 5 -F -C -T -r " + curve.replace(":3", ":2") + JSON, np=2).ok()
    test, = results_of(run)
    assert [row["operation"] for row in test["load"]] == ["file create", "file stat", "file remove"] * 3, test["load"]
    mdtest.empty()


def test_a_rank_that_fails_ends_a_curve_in_order(ior):
    ior("-a DUMMY --dummy.store -w -F -b 8k -t 1k --rate=10%..90%:5 --rate-time=0.05 --dummy.fail-at=30 --dummy.fail-rank=1").fails(3, "rank 1", "injected")
    assert ior.files() == []
    run = ior("-a DUMMY -w -r --rate=10%..90%:5 -O dryRun=1", np=None).ok()
    assert any("2 phases at the maximum rate and at 5 rates, at most 5 s each: 60 s" in note for note in run.notes), run
    run = ior("-a DUMMY -w --rate=50% -O dryRun=1", np=None).ok()
    assert any("1 phase at the maximum rate and at 1 rate, at most 5 s each: 10 s" in note for note in run.notes), run


# ---- programs ----

def test_each_kind_of_item_and_object_has_its_times(mdtest, mdw, mib):  # noqa: F811
    """With mdtest -c and in a round of md-workbench a step has several operations: each has its time."""
    run = mdtest("-n 10 -F -C -T -r -c --rate=400ops" + JSON, np=2).ok()
    rows = results_of(run)[0]["load"]
    assert [(row["operation"], row["count"]) for row in rows] == [("file create", 20), ("file stat", 20), ("file remove", 20)], rows
    assert rows[0]["rateAsked"] == 400, "one task makes the items of all"
    work = {row["operation"]: row["workTime"] for row in results_of(run)[0]["phases"]}
    assert work["file create"] >= 19 / 400 and work["file stat"] >= 9 / 400, work
    run = mdw(SMALL + "--rate=500ops" + JSON).ok()
    rows = results_of(run)[0]["load"]
    assert {row["operation"] for row in rows} == {"read", "stat", "create", "delete"} and {row["phase"] for row in rows} == {"benchmark"}, rows
    work, = [row["workTime"] for row in results_of(run)[0]["phases"] if row["operation"] == "benchmark"]
    assert work >= (sum(row["count"] for row in rows) / 2 - 1) / 500, rows
    run = mib("-F -s 1k -t . -l 20 --api=DUMMY --rate=400k" + JSON).ok()
    rows = results_of(run)[0]["load"]
    assert [(row["operation"], row["count"], row["unit"]) for row in rows] == [(op, 40, "bytes/s") for op in ("write", "read")], rows


# ---- ends ----

@pytest.mark.parametrize("args", ["-a DUMMY", "-a DUMMY --dummy.store -c"], ids=["alone", "in_lock_step"])
def test_a_rank_that_fails_ends_the_waiting_of_others(ior, args):
    began = time.monotonic()
    run = ior(args + " -w -b 8k -t 1k --rate=0.01ops --dummy.fail-at=1 --dummy.fail-rank=1").fails(3, "rank 1", "injected")
    conftest.timely(time.monotonic() - began < 20, run)
    assert ior.files() == []


def test_waiting_is_no_stall_and_a_signal_ends_it(ior):
    proc, pids = ior.begin("-a DUMMY --dummy.store -w -b 8k -t 1k --rate=0.05ops --io-timeout=1", np=2)
    time.sleep(1.5)
    assert proc.poll() is None
    os.kill(pids[1], signal.SIGINT)
    run = ior.finish(proc)
    assert run.returncode == 6 and "interrupted" in run.stderr and ior.files() == [], run


@pytest.mark.parametrize("args, words", [
    ("--rate=fast", ("--rate: 'fast' is not a rate", "500ops")),
    ("--rate=0ops", ("--rate: '0ops' is not a rate",)),
    ("--rate=100", ("--rate: '100' has no unit", "100ops are operations/s", "100b, k, m or g are bytes/s")),
    ("--rate-total=2.5", ("--rate-total: '2.5' has no unit", "2.5ops")),
    ("--rate=5ops --rate-total=5ops", ("--rate and --rate-total", "one of them")),
    ("--burst=5", ("--burst: '5' is not N:PAUSE",)),
    ("--arrivals=poisson", ("--arrivals needs --rate",)),
    ("--rate=5ops --arrivals=random", ("--arrivals", "'random'", "poisson")),
    ("--rate=5ops --sweep=ranks", ("--sweep", "--rate")),
    ("--rate=10%..90%", ("--rate: '10%..90%' is not a rate", "10%..90%:5")),
    ("--rate-total=50%", ("--rate-total: '50%' is not a rate",)),
    ("--rate-time=1", ("--rate-time needs --rate with points",)),
    ("--rate=50% --rate-time=0", ("--rate-time",)),
    ("--rate=50% --mix=read:1,write:1", ("--mix with a --rate in percent",)),
], ids=lambda v: v if isinstance(v, str) else "")
def test_rates_that_cannot_be_are_refused(ior, args, words):
    ior("-a DUMMY -w " + args, np=None).fails(1, *words)


SLOW = """IOR START
api=DUMMY
readFile=0
dryRun=1
rate=100b
RUN
rate=0.5ops
RUN
rate=5ops
burst=7:2.5
RUN
burst=7:0.5
rate=4k
RUN
IOR STOP
"""


def test_a_note_says_that_nothing_will_seem_to_happen(ior, mib):  # noqa: F811
    (ior.cwd / "script").write_text(SLOW)
    run = ior("-f script -w -b 8k -t 4k", np=None).ok()
    assert [note for note in run.notes if "each task" in note] == [
        "at its rate of 100 bytes a second each task begins an operation of the write phase every 40.96 s",
        "at its rate of 0.5 operations a second each task begins an operation of the write phase every 2 s",
        "--burst: in the write phase each task waits 2.5 s after each 7 operations"], run
    run = mib("-F -s 1k -t . -l 2 --api=DUMMY --rate=900b -W", np=None).ok()
    assert any("every 1.13778 s" in note for note in run.notes), run


def test_programs_without_a_rate_of_their_own_say_why(mdtest, mib):  # noqa: F811
    mdtest("-n 1 --rate=1m", np=None).fails(1, "--rate: operation", "of mdtest moves no bytes", "500ops")
    mib("-F -t . --rate=50%", np=None).fails(1, "--rate: mib has no phase that can run at a percentage", "ior and mdtest")
    for program in "h5exerciser", "raw_bw.x":
        if (conftest.BUILD / "src" / program).exists():
            run = subprocess.run([conftest.BUILD / "src" / program, "--rate=5ops"], text=True,
                                 env=conftest.program_env(), capture_output=True, timeout=60)
            assert run.returncode == 1 and "--rate" in run.stderr and "wait for each other" in run.stderr, run
