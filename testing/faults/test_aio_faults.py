# SPDX-License-Identifier: BSD-3-Clause
"""AIO: how transfers go through the queue, and that what is measured includes their end."""
import csv
import json
import pathlib
import sys

import pytest

import conftest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "system"))
from mdtest_support import mdtest  # noqa: E402,F401
from mdw_support import SMALL, lines, mdw  # noqa: E402,F401

LATE = 0.3  # seconds
SLOW = "call=io_getevents times=0 rank=1 delay=%d" % (1000 * LATE)
QUEUE = "-a AIO --aio.max-pending=8 --aio.granularity=4 -b 256k -t 8k "  # 32 transfers of a task


@pytest.fixture(autouse=True)
def aio(need_backend):
    need_backend("AIO")


def faulty(program, shim, fault):
    return {"LD_PRELOAD": shim, "FAULT_PREFIX": str(program.cwd) + "/", "FAULT": fault}


# ---- the queue ----

@pytest.mark.parametrize("call, first, count", [("io_submit", 4, 8), ("io_getevents", 8, 8)])
def test_batches_are_submitted_and_waited_for(ior, shim, call, first, count):
    """A batch is submitted when it is full; then a full queue waits for a batch."""
    run = ior(QUEUE + "-w", np=1, env=faulty(ior, shim, "call=%s count=%d errno=EFAULT" % (call, count)))
    assert run.returncode == 3 and len(run.errors) == 1, run
    if call == "io_submit":  # the first transfer of the last batch
        assert "write 8192 bytes at offset %d of" % ((count - 1) * 4 * 8192) in run.errors[0], run
    ior(QUEUE + "-w", np=1, env=faulty(ior, shim, "call=%s count=%d errno=EFAULT" % (call, count + 1))).ok()


@pytest.mark.parametrize("check", ["", "-R", "-W"])
def test_reads_go_through_the_queue_also_when_they_are_checked(ior, shim, check):
    """As deep: so many calls of the system for so many transfers."""
    ior(QUEUE + "-w -k -G 7", np=1).ok()
    read = QUEUE + (check or "-r") + " -k -G 7"
    for call in ("io_submit", "io_getevents"):
        ior(read, np=1, env=faulty(ior, shim, "call=%s count=8 errno=EFAULT" % call)).fails(3, "Bad address")
        ior(read, np=1, env=faulty(ior, shim, "call=%s count=9 errno=EFAULT" % call)).ok()


def test_the_time_of_a_transfer_ends_at_its_completion(ior, shim):
    """Nothing is taken back before the wait at the end is over."""
    ior("-a AIO -w -r -R -b 64k -t 8k -O savePerOpDataCSV=ops", env=faulty(ior, shim, SLOW)).ok()
    for rank, late in ((0, False), (1, True)):
        with open(str(ior.cwd / ("ops-0-%05d.csv" % rank)), newline="") as f:
            times = [int(r["ns"]) / 1e9 for r in csv.DictReader(f)]
        assert len(times) == 16 and (not late or min(times) >= LATE), times
        conftest.timely(late or min(times) < LATE, times)


def test_a_sync_comes_behind_the_transfers_before_it(ior, shim):
    """Both fail: the one that comes first is told."""
    fault = faulty(ior, shim, "call=io_submit errno=EFAULT;call=fsync errno=EIO")
    ior(QUEUE + "-w -Y", np=1, env=fault).fails(3, "write 8192 bytes at offset 0 of 'testFile'", "Bad address")


# ---- times include completion ----

@pytest.mark.parametrize("args", ["", "-F", "-D 60 -O stoneWallingWearOut=1"])
def test_the_times_of_a_phase_include_the_end_of_its_transfers(ior, shim, args):
    """One wait at the end: a queue as long as the test."""
    run = ior("-a AIO -w -r -g -b 64k -t 8k " + args, env=faulty(ior, shim, SLOW)).ok()
    conftest.sound(run, 131072)
    for row in run.rows:
        assert row["work"] >= LATE, run
        conftest.timely(row["close"] < LATE, run)
    if "Wear" in args:
        assert all(row["wall_s"] is not None for row in run.summary), run


def test_a_stonewall_counts_what_is_done(ior, shim):
    """Rank 0's time at the wall has its wait in it."""
    run = ior("-a AIO -w -b 64k -t 8k -D 60 -O stoneWallingWearOut=1", env=faulty(ior, shim, SLOW.replace("rank=1", "rank=0"))).ok()
    assert run.summary[0]["wall_s"] >= LATE, run


def test_an_operation_of_mdtest_includes_the_end_of_its_transfer_and_close_does_not(mdtest, shim):
    run = mdtest("-a AIO -F -n 4 -w 1000 -e 1000 --report=text:-,json:r.json", env=faulty(mdtest, shim, SLOW)).ok()
    assert run.rates()["File creation"] <= 8 / (4 * LATE) and run.rates()["File read"] <= 8 / (4 * LATE), run
    phases = {row["operation"]: row for row in json.loads((mdtest.cwd / "r.json").read_text())["tests"][0]["phases"]}
    for name in ("file create", "file read"):
        conftest.timely(phases[name]["closeMax"] < LATE, phases[name])
    mdtest.empty()


def test_an_operation_of_md_workbench_includes_the_end_of_its_transfer(mdw, shim):
    run = mdw("-a AIO " + SMALL, np=1, env=faulty(mdw, shim, SLOW.replace(" rank=1", ""))).ok()
    for op in ("read", "create"):  # the first number is the shortest time
        assert float(lines(run, "benchmark")[0].split(op + "(")[1].split("s")[0]) >= LATE, run
    mdw.clean()


# ---- the other programs ----

def test_a_failed_write_of_mdtest_is_one_error(mdtest, shim):
    run = mdtest("-a AIO -F -n 5 -w 1000", np=2, env=faulty(mdtest, shim, "call=write rank=1 count=3 errno=ENOSPC"))
    run.fails(3, "rank 1 on ", "write 1000 bytes at offset 0 of", "file.mdtest.1.2", "No space left on device")
    mdtest.empty()


def test_a_short_read_of_mdtest_goes_on(mdtest, shim):
    mdtest("-a AIO -F -n 5 -w 1000 -e 1000 -X", np=2, env=faulty(mdtest, shim, "call=write times=0 short=7;call=read times=0 short=100")).ok()


def test_a_failed_write_of_md_workbench_is_counted(mdw, shim):
    run = mdw("-a AIO " + SMALL, np=2, env=faulty(mdw, shim, "call=write rank=1 count=8 errno=EIO")).fails(3, "1 operation failed, the first: rank 1 on ")
    assert "(1 errs!!!)" in lines(run, "benchmark")[0], run
    note, = [n for n in run.notes if "rank 1 on " in n]
    assert "write 3901 bytes" in note and "Input/output error" in note, note
    mdw.clean()
