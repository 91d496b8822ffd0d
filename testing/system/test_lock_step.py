# SPDX-License-Identifier: BSD-3-Clause
"""Phases in lock step (-c): every rank takes part in every round, whatever it has to do itself, and all end after the same round."""
import csv
import json
import os
import signal

import pytest

from conftest import timely

LIMIT = 30  # seconds for what must end at once; catches hangs, measures nothing
UNEVEN = "randomOffset=1\nrandomOffsetDeal=original\nrandomOffsetSeed=2\n"
DELAY = "dummy.delay-xfer=20000\n"

DEFAULTS = ("randomOffset=0\nminTimeDuration=0\nstoneWallingWearOutIterations=0\ninterIODelay=0\ndeadlineForStonewalling=0\n"
            "stoneWallingWearOut=0\ndummy.delay-xfer=0\n")

# Each case in the words of a script, with what the write phase of 4 ranks must have done: (fewest, most) transfers of a rank. None: not known.
# The uneven distribution gives the ranks 4, 10, 9 and 9 of the 32 transfers.
SOUND = {
    "even": ("blockSize=64k\n", (8, 8)),
    "uneven": ("blockSize=64k\n" + UNEVEN, (4, 10)),
    "passes": ("blockSize=64k\nminTimeDuration=1\n" + UNEVEN + DELAY, (None, None)),
    "most": ("blockSize=64k\nminTimeDuration=1000\nstoneWallingWearOutIterations=40\n" + UNEVEN, (40, 40)),
    "nobody": ("blockSize=8k\nminTimeDuration=1000\nstoneWallingWearOutIterations=40\nrandomOffset=1\nrandomOffsetDeal=original\n"
               "randomOffsetSeed=3\n", (0, 40)),
    "pauses": ("blockSize=40k\ninterIODelay=60000\n", (5, 5)),
    "deadline": ("blockSize=8m\ndeadlineForStonewalling=1\n" + DELAY, (None, None)),
    "wear-out": ("blockSize=8m\ndeadlineForStonewalling=1\nstoneWallingWearOut=1\n" + UNEVEN + DELAY, (None, None)),
}


@pytest.fixture
def document(ior):
    def read():
        return json.loads((ior.cwd / "r.json").read_text())
    return read


def writes(document):
    return [p for test in document["tests"] for p in test["phases"] if p["operation"] == "write"]


def test_every_rank_takes_part_in_every_round(ior, document):
    """Crossings of uneven counts, passes, limits and pauses, each a test of one script."""
    base = "IOR START\napi=DUMMY\ncollective=1\nwriteFile=1\nreadFile=0\ntransferSize=8k\n"
    (ior.cwd / "s").write_text(base + "".join(DEFAULTS + words + "RUN\n" for words, _ in SOUND.values()) + "IOR STOP\n")
    run = ior("-f s --report=text:-,json:r.json", np=4, timeout=LIMIT).ok()
    phases = dict(zip(SOUND, writes(document())))
    for name, (_, (fewest, most)) in SOUND.items():
        phase = phases[name]
        assert fewest is None or phase["stepsMin"] == fewest, (name, phase)
        assert most is None or phase["stepsMax"] == most, (name, phase)
        assert phase["fillTime"] <= phase["workTime"], (name, phase)
    assert phases["uneven"]["steps"] == 32
    assert phases["passes"]["steps"] % 32 == 0 and phases["passes"]["workTime"] >= 1
    assert phases["deadline"]["stepsMin"] == phases["deadline"]["stepsMax"] < 1024  # all have ended after the same round
    assert phases["wear-out"]["stepsMin"] == phases["wear-out"]["stepsMax"] < 1024
    timely(phases["deadline"]["workTime"] < 10 and phases["wear-out"]["workTime"] < 20, run)


def test_a_rank_without_a_transfer_in_an_independent_run(ior, need_backend):
    """-Y asks for no lock step where transfers are independent."""
    need_backend("MPIIO")
    ior("-a MPIIO -Y -w -z -O randomOffsetDeal=original,randomOffsetSeed=3,saveRankPerformanceDetailsCSV=r.csv -b 4k -t 4k", np=4,
        timeout=LIMIT).ok()
    with open(ior.cwd / "r.csv") as f:
        assert sorted(int(row["transfers"]) for row in csv.DictReader(f)) == [0, 1, 1, 2]


@pytest.mark.parametrize("api", ["MPIIO", "HDF5", "NCMPI"])
def test_independent_transfers_are_not_in_lock_step(ior, need_backend, preload, api):
    """Each rank goes at its own pace with -Y, too: rank 1 waits twice as long after each write."""
    need_backend(api)
    run = ior("-a %s -w -Y -b 800k -t 8k -D 1 -O interIODelay=20000,saveRankPerformanceDetailsCSV=r.csv" % api, np=2, timeout=LIMIT,
              env={"LD_PRELOAD": preload("slow-rank.c"), "SLOW_RANK": "1"}).ok()
    with open(ior.cwd / "r.csv") as f:
        quick, slow = [int(row["transfers"]) for row in csv.DictReader(f)]
    timely(slow < quick, run)


def test_a_file_that_another_rank_cannot_open_is_closed(ior):
    """The prefill opens on all ranks and fails on one. A close takes its time, so we see that it is there."""
    run = ior("-a DUMMY -w -z -b 16k -t 8k -O randomPrefill=8k --dummy.fail-op=open --dummy.fail-rank=1 --dummy.fail-at=1 "
              "--dummy.delay-only-rank0 --dummy.delay-close=3000000", np=2, timeout=LIMIT).fails(3, "rank 1")
    assert run.elapsed >= 3, run


WORK = "-a DUMMY -c -w -t 8k --dummy.delay-xfer=5000 "
ENDLESS = {
    "passes": "-b 64k -O minTimeDuration=1000",
    "uneven passes": "-b 64k -z -O randomOffsetDeal=original,randomOffsetSeed=2,minTimeDuration=1000",
    "deadline": "-b 8g -D 1000",
    "wear-out": "-b 8g -D 1000 -O stoneWallingWearOut=1",
    "pauses": "-b 8g -O interIODelay=100000",
    "sync": "-b 8g -Y",
}


@pytest.mark.parametrize("name", ENDLESS)
def test_a_failure_ends_all_ranks(ior, name):
    """In the first pass or a later one."""
    ior(WORK + ENDLESS[name] + " --dummy.fail-rank=1 --dummy.fail-at=11", np=3, timeout=LIMIT).fails(3, "rank 1", "Input/output error")


def test_a_failure_in_a_transfer_of_nothing_ends_all_ranks(ior):
    """Rank 0 is dealt no transfer and fails all the same."""
    ior("-a DUMMY -c -w -z -b 8k -t 8k -O randomOffsetDeal=original,randomOffsetSeed=1,minTimeDuration=1000 --dummy.fail-rank=0 --dummy.fail-at=5",
        np=4, timeout=LIMIT).fails(3, "rank 0", "Input/output error")


@pytest.mark.parametrize("name, which, number", [("passes", 1, signal.SIGINT), ("uneven passes", 0, signal.SIGTERM), ("wear-out", None, signal.SIGINT),
                                                 ("pauses", 2, signal.SIGTERM)])
def test_a_signal_ends_all_ranks(ior, name, which, number):
    proc, pids = ior.begin(WORK + ENDLESS[name], 3)
    for pid in pids if which is None else [pids[which]]:
        os.kill(pid, number)
    run = ior.finish(proc, LIMIT)
    assert run.returncode == 6 and len(run.errors) == 1 and run.accesses() == ["write"], run


def test_a_call_that_hangs_in_a_transfer_of_nothing_is_seen(ior):
    """Rank 0 is dealt no transfer, and the only one that waits."""
    run = ior("-a DUMMY -c -w -z -b 8k -t 8k -O randomOffsetDeal=original,randomOffsetSeed=1 --io-timeout=1 --dummy.delay-only-rank0 "
              "--dummy.delay-xfer=10000000", np=4, timeout=LIMIT)
    assert run.returncode != 0 and any("--io-timeout" in line and "rank 0" in line for line in run.errors), run
