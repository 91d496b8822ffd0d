# SPDX-License-Identifier: BSD-3-Clause
"""-D: stop after a time, with and without wear-out, alone and together, and read back what was written."""
import json
import os
import re
import signal
import time

import pytest

import conftest
from conftest import TELL, timely
from timeline_support import read_records

SLOW_RANK_0 = "--dummy.delay-xfer=50000 --dummy.delay-only-rank0"
PAIRS = re.compile(r"^stonewalling pairs accessed min: (\d+) max: (\d+) -- min data: \d+\.\d GiB mean data: \d+\.\d GiB "
                   r"time: (\d+\.\d)s$", re.M)


def moved(row):
    """Bytes of a row, as near as its numbers tell."""
    return row["bw"] * row["total"] * conftest.MIB


def test_without_wear_out_every_task_stops_at_the_deadline(ior):
    run = ior("-a DUMMY %s -w -F -D 1 -b 8k -t 8k -s 100" % SLOW_RANK_0).ok()
    row = run.rows[0]
    # The slow task came to about 20 of 100; the other one did all of its own.
    assert moved(row) <= 150 * 8192 and row["total"] >= 0.9, run
    timely(101 * 8192 <= moved(row) * 1.001 and row["total"] < 4, run)
    assert not PAIRS.search(run.stdout)
    assert run.summary[0]["wall_s"] is None and run.summary[0]["wall_mib"] is None
    conftest.sound(run)


def test_with_wear_out_all_tasks_do_as_much_as_the_fastest(ior):
    run = ior("-a DUMMY %s -w -F -D 1 -b 8k -t 8k -s 40 -O stoneWallingWearOut=1" % SLOW_RANK_0).ok()
    least, most, at = PAIRS.search(run.stdout).groups()
    assert 1 <= int(least) <= 21 and float(at) >= 0.9, run
    timely(int(most) == 40 and float(at) < 3 and run.summary[0]["wall_s"] < 3, run)
    assert run.rows[0]["total"] >= 2.0  # 40 transfers of 50 ms
    conftest.sound(run, 80 * 8192)
    assert run.summary[0]["wall_s"] >= 0.9
    assert run.options["stonewallingTime"] == "1" and run.options["stoneWallingWearOut"] == "1"


def test_wear_out_is_measured_in_the_first_phase_of_every_repetition(ior):
    run = ior("-a DUMMY %s -w -r -F -D 1 -b 8k -t 8k -s 25 -i 2 -O stoneWallingWearOut=1" % SLOW_RANK_0).ok()
    timely(len(PAIRS.findall(run.stdout)) == 4 and all(most == "25" for _, most, _ in PAIRS.findall(run.stdout)), run)
    conftest.sound(run, 50 * 8192)


def test_how_far_apart_tasks_stop_is_told(ior, preload):
    """A slow task ends a transfer after the others have stopped; on nodes that are only pretended, with a clock that is 5 s ahead. Each
    operation of a timeline says when it was over."""
    env = {"LD_PRELOAD": ":".join(map(preload, ("shift-clock.c", "slow-rank.c", "two-nodes.c"))), "SHIFT_RANK": "1", "SHIFT_SECONDS": "5",
           "SLOW_RANK": "2"}
    run = ior("-a DUMMY -w -F -D 0.25 -b 8k -t 8k -s 1000 --dummy.delay-xfer=100000 --timeline=t.npy --report=json:r.json", np=4,
              prefix=["env"] + ["%s=%s" % pair for pair in env.items()]).ok()
    (row,) = json.loads((ior.cwd / "r.json").read_text())["tests"][0]["phases"]
    stops = {}
    for r in read_records(ior.cwd / "t.npy"):
        stops[r.rank] = max(stops.get(r.rank, 0), r.end)
    apart = (max(stops.values()) - min(stops.values())) / 1e9
    assert len(stops) == 4 and row["stopSpread"] <= row["workTime"], (row, stops)
    # A task may lose the processor between the end of its last operation and the end of its work.
    timely(abs(row["stopSpread"] - apart) <= row["clockError"] + 1e-6 and 0.02 < row["stopSpread"] < 1, row, stops, run)


@pytest.mark.parametrize("layout", ["", "-F", "-C", "-F -C", "-F -C -O stoneWallingWearOut=1", "-z -F"])
def test_a_read_after_a_stonewalled_write_takes_only_what_was_written(ior, layout):
    """Rank 0 comes to less than half of its transfers; who reads its data must stop there, or would meet holes or the end."""
    segments = 30 if "WearOut" in layout else 48
    run = ior("-a DUMMY --dummy.store %s -w -W -R -D 1 -b 32k -t 8k -s %d -G 3 -l o %s" % (SLOW_RANK_0, segments // 4 + 1, layout))
    assert run.ok().accesses() == ["write", "read"]
    assert not [w for w in run.warnings if "Incorrect" in w], run
    write, read = run.rows
    assert moved(read) <= moved(write) * 1.01, run
    assert ior.files() == []


def test_collective_tasks_stop_together(ior, need_backend):
    need_backend("MPIIO")
    run = ior("-a MPIIO -c -w -R -D 1 -b 8k -t 8k -s 2000 -G 3 -O interIODelay=10000").ok()
    totals = [int(w.split()[-1]) for w in run.warnings if w.startswith("Using actual aggregate bytes moved")]
    assert len(totals) == 2, run
    for total in totals:
        assert 0 < total < 2 * 2000 * 8192 and total % (2 * 8192) == 0, run
    assert not [w for w in run.warnings if "Incorrect" in w], run


@pytest.mark.parametrize("args", ["-a MPIIO -c", "-a MPIIO", "-a HDF5", "-a HDF5 -c", "-a MPIIO -c -O stoneWallingWearOut=1",
                                  "-a HDF5 -O stoneWallingWearOut=1", "-a HDF5 -F", "-a MPIIO -Y", "-a HDF5 -c -e -g"])
def test_a_task_that_falls_behind_does_not_block_the_others(ior, need_backend, args):
    """A task is held up for a while, so that the tasks come to the deadline at different points."""
    need_backend(args.split()[1])
    proc, pids = ior.begin("-w -R -D 1 -b 16k -t 8k -s 400 -G 3 -O interIODelay=2000 " + args, 2)
    for pid in pids[1:]:
        try:
            os.kill(pid, signal.SIGSTOP)
        except ProcessLookupError:
            continue
        time.sleep(0.4)
        os.kill(pid, signal.SIGCONT)
    run = ior.finish(proc, 30).ok()
    assert run.accesses() == ["write", "read"], run
    assert not [w for w in run.warnings if "Incorrect" in w], run
    assert ior.files() == []


def test_the_deadline_of_any_task_ends_a_collective_phase_for_all(ior):
    """Together tasks stop after the same number of transfers, whoever is slow."""
    ior.script("dummy.delay-only-rank0=1", "dummy.delay-only-rank0=0")
    run = ior("-a DUMMY -c -w -D 1 -b 8k -t 8k -s 400 --dummy.delay-xfer=10000 -f s" + TELL).ok()
    for p in run.phases():
        assert 0 < p["stepsMin"] == p["stepsMax"] < 400 and p["steps"] == 2 * p["stepsMax"], run
    assert len(run.phases()) == 2


def test_tasks_that_stop_in_different_datasets_do_not_wait_for_each_other(ior, need_backend):
    """In a file for all, in files of their own, and together."""
    need_backend("HDF5")
    ior.script("", "filePerProc=1", "filePerProc=0,collective=1")
    run = ior("-a HDF5 -w -r -D 0.5 -b 8k -t 8k -s 300 -O interIODelay=10000 -f s", timeout=60).ok()
    assert run.accesses() == ["write", "read"] * 3


def test_the_rate_at_the_stonewall_is_that_of_all_tasks(ior):
    """Two equal tasks reach twice the rate of one."""
    run = ior("-a DUMMY -w -F -D 1 -t 1m -b 1m -s 40 --dummy.delay-xfer=50000 -O stoneWallingWearOut=1", np=2).ok()
    done = PAIRS.search(run.stdout)
    least, most = [2 * int(n) for n in done.groups()[:2]]
    row = run.summary[0]
    assert least * 0.99 - 0.01 <= row["wall_mib"] * row["wall_s"] * 1.01 and row["wall_mib"] * row["wall_s"] * 0.99 <= most + 0.01, run


def test_a_deadline_that_is_not_reached_changes_nothing(ior):
    run = ior("-w -r -D 100 -b 64k -t 16k").ok()
    conftest.sound(run, 131072)
    assert run.messages == []


def test_less_than_expected_is_said(ior):
    run = ior("-w -D 1 -F -b 8k -t 8k -s 5000 -O interIODelay=10000").ok()
    assert run.warnings[0] == "Expected aggregate file size       = 81920000"
    assert run.warnings[1].startswith("Stat() of aggregate file size      = ")
    assert run.warnings[2].startswith("Using actual aggregate bytes moved = ")
    assert run.warnings[3] == "Maybe caused by deadlineForStonewalling" and len(run.warnings) == 4
    assert run.warnings[1].split()[-1] == run.warnings[2].split()[-1]


def test_the_size_that_is_said_is_that_of_the_file(ior, tmp_path):
    """Also where the last block of random ones was not drawn, and where an old file is longer."""
    words = "-z -z -b 16k -t 4k -s 4 --random-offset-seed=1 -k -o %s" % (tmp_path / "file")
    written = ior("-w " + words, np=None).ok()
    size = (tmp_path / "file").stat().st_size
    assert size < 65536 and not written.warnings
    read = ior("-r " + words, np=None).ok()
    assert read.warnings[:2] == ["Expected aggregate file size       = 65536", "Stat() of aggregate file size      = %d" % size]
    with open(tmp_path / "file", "ab") as file:
        file.truncate(100000)
    run = ior("-w -E -D 1 -b 64k -t 4k -O interIODelay=200000 -k -o %s" % (tmp_path / "file"), np=None).ok()
    assert "Stat() of aggregate file size      = 100000" in run.warnings


def test_the_number_of_transfers_can_be_limited(ior):
    run = ior("-a DUMMY -w -r -F -b 8k -t 8k -s 40 -O stoneWallingWearOutIterations=7").ok()
    conftest.sound(run, 2 * 7 * 8192)


def test_the_pattern_is_repeated_until_a_least_time_has_passed(ior):
    run = ior("-a DUMMY --dummy.delay-xfer=100000 -w -b 16k -t 8k -s 2 -O minTimeDuration=1", np=1).ok()
    passes = moved(run.rows[0]) / 32768
    assert abs(passes - round(passes)) < 0.05 and run.rows[0]["total"] >= 1, run
    timely(round(passes) in (2, 3), run)


@pytest.mark.parametrize("args, words", [("-w", "keep them with -k"), ("-w -k", "stoneWallingWearOut=1"), ("-w -r -k -D 1", "stoneWallingWearOut=1")])
def test_a_status_file_that_says_nothing_of_the_files_is_refused(ior, args, words):
    ior("-O stoneWallingStatusFile=st -b 8k -t 8k " + args, np=None).fails(1, "stoneWallingStatusFile", words)
    assert ior.files() == []


@pytest.mark.parametrize("args", ["-F", "-F -l r", "", "-F -z --random-offset-seed=3"])
def test_a_second_pass_over_what_a_stonewall_left_begins_at_its_first_transfer(ior, args):
    """minTimeDuration repeats the read of a file that ended early, and must not run over its end."""
    line = "-G 3 -b 8k -t 8k -s 100 -k %s -O stoneWallingStatusFile=st" % args
    ior("-w -D 1 -O stoneWallingWearOut=1,interIODelay=40000 " + line).ok()
    count = int((ior.cwd / "st").read_text())
    assert 0 < count < 100
    run = ior("-R -O minTimeDuration=1 --report=text:-,json:r.json " + line).ok()
    phase = json.loads((run.cwd / "r.json").read_text())["tests"][0]["phases"][0]
    assert phase["wrong"] == 0 and phase["stepsMin"] % count == 0, run
    timely(phase["stepsMin"] > count, run)


@pytest.mark.parametrize("args", ["", "-m"])
def test_the_status_file_holds_what_is_true_for_the_files_that_are_left(ior, preload, args):
    """The first repetition writes everything, the second one ends at its deadline: the file that is left is the short one."""
    line = "-G 3 -F -b 8k -t 8k -s 60 -k %s -O stoneWallingStatusFile=st" % args
    env = ["env", "LD_PRELOAD=" + preload("slow-rank.c"), "FAST_WRITES=60"]
    ior("-w -i 2 -D 1 -O stoneWallingWearOut=1 " + line, prefix=env).ok()
    assert 0 < int((ior.cwd / "st").read_text()) < 60
    ior("-R -i %d %s" % (2 if args else 1, line)).ok()


# ---- the status file ----

@pytest.mark.parametrize("text, np", [("", None), ("abc", 2), ("12 34", None), ("-5", None), ("\0\1\2", None), ("99999999999999999999", None),
                                      ("0x10", None)])
def test_a_status_file_that_is_no_number_is_an_error(ior, text, np):
    """All tasks end with a line that names the file."""
    for rank in range(np or 1):
        (ior.cwd / ("testFile.%08d" % rank)).write_bytes(bytes(8192))
    (ior.cwd / "st").write_text(text)
    ior("-r -k -F -b 8k -t 8k -O stoneWallingStatusFile=st", np=np, timeout=20).fails(1, "status file 'st'")


def test_a_status_file_carries_the_count_to_the_run_that_reads(ior):
    """What wear-out reached is what is read; a missing file is a warning."""
    line = "-a DUMMY -F -k -b 8k -t 8k -s 200 -O stoneWallingStatusFile=st"
    run = ior("-w -D 1 --dummy.delay-xfer=20000 -O stoneWallingWearOut=1 " + line).ok()
    count = int((ior.cwd / "st").read_text())
    assert re.search(r"accessed min: \d+ max: %d " % count, run.stdout) and 0 < count < 200
    p = ior("-r " + line + TELL).ok().phases()[0]
    assert p["stepsMin"] == p["stepsMax"] == count
    (ior.cwd / "st").unlink()
    run = ior("-r " + line, np=None).ok()
    assert len([w for w in run.warnings if "Could not read back the stonewalling status" in w]) == 1


def test_a_write_phase_that_fails_leaves_no_old_status_file(ior):
    """Its number was true for files that are gone."""
    (ior.cwd / "st").write_text("7")
    ior("-a DUMMY -w -k -F -b 16k -t 8k -D 60 -O stoneWallingWearOut=1,stoneWallingStatusFile=st --dummy.fail-at=1", np=None).fails(3, "rank 0")
    assert not (ior.cwd / "st").exists()
