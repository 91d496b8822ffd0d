# SPDX-License-Identifier: BSD-3-Clause
"""mib when something is wrong: one clear line, the right status, nobody hangs."""
import errno
import json
import os
import pathlib
import re
import signal
import subprocess
import sys

import pytest

from conftest import timely, wait_until

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "system"))
from mdtest_support import tmpfs  # noqa: E402
from mib_support import mib, result, table  # noqa: E402,F401
from timeline_support import Timeline  # noqa: E402

SMALL = "-F -t {d} -l 4 -s 64k "
EVERYTHING = (" -p x --interval=0.1 --progress=always --timeline=t.npy --report=text:-,json:r.json,csv:c.csv --op-csv ops "
              "--rank-csv ranks --timeline-limit=100000")
BAD = [
    ("-t /nonexistent", 1, ['Could not statfs "/nonexistent" (2): No such file or directory']),
    ("-t /proc", 1, ['Mib will not write to a file system of type "PROC_SUPER_MAGIC" (f_type = 0x9fa0) unless you use the '
                     '"-F" (--force) option']),
    ("-R -t /proc", 1, ["Mib will not write"]),
    ("-F -t /proc -l 1", 3, ["/proc/mibData.00000000"]),
    ("-l 0", 1, ["-l (call_limit)", "'0'", "from 1"]),
    ("-l 4x", 1, ["-l (call_limit)", "4x"]),
    ("-L -1", 1, ["-L (time_limit)", "-1"]),
    ("-s 0", 1, ["-s (call_size)", "'0'"]),
    ("-s abc", 1, ["-s (call_size)", "'abc'"]),
    ("-b0", 1, ["-b (random_reads)", "'0'"]),
    ("-b=1q", 1, ["-b (random_reads)", "1q"]),
    ("-Z", 1, ["unknown option '-Z'"]),
    ("--call-limit=2", 1, ["unknown option '--call-limit'", "call_limit"]),
    ("word", 1, ["'word' is not an option"]),
    ("-t", 1, ["-t", "needs a value"]),
    ("-d -p", 1, ["option -d needs a value (DIR)", "--directio"]),
    ("-d none", 1, ["-d (log_dir)", "'none' is not a directory"]),
    ("--api nothing", 1, ["nothing", "is not a backend"]),
    ("--api DUMMY -p none/x", 2, ["none/x.write"]),
    ("--api DUMMY -p x --report=json:x.read", 1, ["x.read", "--report"]),
    ("-R -t {d} -F", 3, ["No file", "mibData.00000000"]),
    ("-F -t {d} -s 1000 --directio -l 2", 1, ["1000"]),
]


@pytest.mark.parametrize("args, status, words", BAD)
def test_one_clear_line(mib, args, status, words):
    run = mib(args, np=None).fails(status, *words)
    assert run.stdout == "", run


@pytest.mark.parametrize("text, words", [
    ("call_limt = 5\n", ["options:1", "call_limt"]), ("\n\ncall_size = big\n", ["options:3", "call_size", "big"]),
    ("iterations = 3\n", ["options:1", "iterations"]), ("new = perhaps\n", ["options:1", "new", "perhaps"]),
    ("new = 1\0\n", ["NUL"])])
def test_a_bad_options_file(mib, text, words):
    (mib.cwd / "options").write_text(text)
    mib("--api DUMMY", np=None).fails(1, *words)


def test_a_bad_word_is_told_by_one_of_many(mib):
    mib("--api DUMMY -l 0", np=3).fails(1, "call_limit")
    mib("-t /nonexistent", np=3).fails(1, "Could not statfs")


def test_a_local_disk_is_for_one_node(mib):
    guarded = mib("-t {d} -l 1 -s 4k", np=2, env={"IOR_FAKE_NODES": "2", "IOR_FAKE_TASK_PER_NODES": "1"})
    text = mib("-t {d} -F -l 1 -s 4k -E", np=None).ok().stdout
    if "EXT2_SUPER_MAGIC" in text or "XFS_SUPER_MAGIC" in text:
        guarded.fails(1, "Mib will not write to a file system of type")
        mib("-t {d} -l 1 -s 4k", np=None).ok()


@pytest.mark.parametrize("length", [85, 4000])
def test_long_paths(mib, length):
    place = mib.dir
    while len(str(place)) < length:
        place = place / ("d" * min(200, max(1, length - len(str(place)) - 1)))
    place.mkdir(parents=True)
    mib.dir = place
    mib(SMALL, np=2).ok()
    assert sorted(mib.data()) == ["mibData.00000000", "mibData.00000001"]


def test_many_tasks(mib):
    run = mib("--api DUMMY -l 3 -p x", np=24).ok()
    assert result(run)["tasks"] == "24" and {len(row) for row in table(mib.cwd / "x.read")} == {24}


@pytest.mark.parametrize("op, at, code, words", [
    ("open", 1, "EACCES", ["mibData.00000001", "Permission denied"]), ("xfer", 3, "EIO", ["write", "Input/output error"]),
    ("sync", 1, "ENOSPC", ["No space left"]), ("close", 1, "EIO", ["close"]), ("open", 2, "EIO", ["open", "mibData.00000000"]),
    ("xfer", 6, "EIO", ["read", "mibData.00000000", "offset 65536"])])
def test_a_failing_task_ends_all(mib, op, at, code, words):
    fail = "--api DUMMY --dummy.store --dummy.fail-rank=1 --dummy.fail-op=%s --dummy.fail-at=%d --dummy.fail-errno=%s -r "
    mib(SMALL + fail % (op, at, code), np=2, timeout=20).fails(3, "rank 1 on ", *words)
    assert mib.data() == {}


def test_a_failing_task_leaves_everything_that_was_asked_for(mib):
    fail = "--api DUMMY --dummy.store --dummy.fail-rank=1 --dummy.fail-at=7 --dummy.fail-errno=ESTALE -r -SHEIP"
    run = mib(SMALL + fail + EVERYTHING, np=2, timeout=20).fails(3, "rank 1 on ", "offset 131072", "Stale")
    assert mib.data() == {} and "read phase" in run.stdout
    t, doc = Timeline(mib.cwd / "t.npy", complete=False), json.loads((mib.cwd / "r.json").read_text())
    assert t.keys() == ["write", "read"] and [p["failed"] for p in t.doc["phases"]] == [False, True]
    assert [r.error for r in t.of(1, 1)] == [0, 0, errno.ESTALE]
    assert doc["status"] == 3 and [row["operation"] for row in doc["tests"][0]["Results"]] == ["write"]
    assert len(table(mib.cwd / "x.write")) == 5 and len((mib.cwd / "ops-00001.csv").read_text().split("\n")) == 6


def test_a_full_disk_ends_the_timeline_and_not_the_run(mib):
    small = mib.cwd / "small"
    tmpfs(small, "size=100k")
    try:
        mib("-M --api DUMMY -l 20000 -H -p %s/x" % small, np=None).fails(2, "write the table of calls to '%s/x." % small)
        for name in small.iterdir():
            name.unlink()
        run = mib("--api DUMMY -l 4000 -H --timeline=%s/t.npy --interval=1" % small, np=None).ok(2)
        assert "timeline '%s/t.npy' ends here; the run continues" % small in run.errors[0]
        assert result(run)["write"] > 0 and result(run)["read"] > 0 and run.stdout.count("4000") >= 3
    finally:
        subprocess.run(["umount", str(small)], check=True)


def test_places_that_cannot_be_written(mib):
    (mib.cwd / "file").write_text("")
    for args, words in [("-p file/x", "file/x.write"), ("--timeline=none/t.npy", "none/t.npy"), ("--rank-csv none/k", "none/k"),
                        ("--report=json:none/r.json", "none/r.json"), ("--op-csv none/o", "none/o-00000.csv")]:
        run = mib("--api DUMMY -l 2 " + args, np=None).fails(2, words)
        assert run.stdout == "", run
    mib("--api DUMMY -p x --timeline=x.npy --op-csv x --report=json:x.timeline.json", np=None).fails(1, "x.timeline.json", "the same file")


def test_without_mpi_everything_but_the_timeline_is_there(mib):
    run = mib(SMALL + "-M -P -p x --interval=0.5 --progress=always --report=text:-,json:r.json --op-csv ops", np=None).ok()
    doc = json.loads((mib.cwd / "r.json").read_text())["tests"][0]
    assert result(run)["write"] > 0 and [p["ended"] for p in doc["phases"]] == ["count", "count"]
    assert sum(row["bytes"] for row in doc["intervals"]) == 2 * 4 * 65536 and len(table(mib.cwd / "x.read")) == 5
    times = [row[0] for row in table(mib.cwd / "x.write")]
    assert times == sorted(times) and any(t != int(t) for t in times), "a clock finer than a second"
    timely(times[-1] - times[0] < 1, times)


def test_limits_as_large_as_they_can_be(mib):
    run = mib("--api DUMMY --dummy.delay-xfer=200000 -l 2147483647 -L 1 -p x -I --timeline-limit=10", np=None).ok()
    assert "Ended by: time limit of 1 task" in run.stdout and 2 <= len(table(mib.cwd / "x.write")) <= 11
    mib("--api DUMMY -l 3000000000", np=None).fails(1, "-l (call_limit)")
    mib("--api DUMMY -L 3000000000", np=None).fails(1, "-L (time_limit)")


def test_too_little_room(mib):
    small = mib.cwd / "small"
    tmpfs(small, "size=1m")
    try:
        run = mib("-F -t small -l 100 -s 64k -r", np=1)
        assert run.fails(3, "No space left on device", "mibData.00000000").warnings
        assert "the test needs 6.25 MiB (6553600 bytes) in 'small/mibData" in run.warnings[0] and list(small.iterdir()) == []
        mib("-F -t small -l 1 -s 2m -r", np=1).fails(3, "No space left on device")
        mib("-F -t small -l 100 -s 64k --warning-as-errors", np=1).fails(1, "the test needs 6.25 MiB")
        mib("-F -t small -l 8 -s 64k", np=1).ok()
        assert mib("-F -t small -l 10 -s 64k", np=1).ok().warnings == [], "what is there is written over"
    finally:
        subprocess.run(["umount", str(small)], check=True)


def sleeps(pid):
    """How often its main thread has waited for something."""
    return int(re.search(r"^voluntary_ctxt_switches:\s*(\d+)", pathlib.Path("/proc/%d/status" % pid).read_text(), re.M)[1])


@pytest.mark.parametrize("np, number", [(None, signal.SIGTERM), (2, signal.SIGINT)])
def test_a_signal_ends_it_with_what_was_measured(mib, np, number):
    proc = mib.start("--api DUMMY --dummy.store -F -t {d} -s 4k -l 100000000 -L 50 -r -S --dummy.delay-xfer=1000" + EVERYTHING, np=np)
    pid = proc.pid if np is None else mib.wait_for_ranks(proc, np)[0]
    mib.wait_for_delay(proc, [pid])
    begun = sleeps(pid)
    wait_until(lambda: sleeps(pid) > begun + 2)  # calls have ended
    os.kill(pid, number)
    run = mib.finish(proc, 30).fails(6, "interrupted")
    assert result(run)["write"] > 0 and result(run)["read"] == 0 and mib.data() == {}
    t, doc = Timeline(mib.cwd / "t.npy", complete=False).adds_up(), json.loads((mib.cwd / "r.json").read_text())
    phase = doc["tests"][0]["phases"][0]
    assert t.keys() == ["write"] and phase["ended"] == "signal" and phase["interrupted"] == doc["status"] - 5 == 1
    assert sum(row["bytes"] for row in doc["tests"][0]["intervals"]) == phase["bytes"] == sum(r.bytes for r in t.records) > 0
    rows = table(mib.cwd / "x.write")
    assert len(rows) == phase["stepsMax"] + 1 and not (mib.cwd / "x.read").read_text()
