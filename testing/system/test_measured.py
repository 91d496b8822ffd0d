# SPDX-License-Identifier: BSD-3-Clause
"""What the numbers of a result are: by which clock, of which ranks, what is in a time, and what -T leaves out."""
import math
import re

import pytest

import conftest
from conftest import TELL, timely


# ---- clocks and rates ----

def test_time_is_that_of_a_steady_clock(ior, preload):
    """The time of day may jump, and phases may be shorter than a microsecond: all rates stay finite."""
    run = ior("-a DUMMY -w -r -i 5 -b 16k -t 8k" + TELL, np=None, env={"LD_PRELOAD": preload("speed-clock.c"), "CLOCK_JUMP": "3600"}).ok()
    rows = run.document()["tests"][0]["Results"]
    assert all(row["totalTime"] > 0 for row in rows)
    timely(all(row["totalTime"] < 10 for row in rows), rows)
    assert all(row[key] is not None and 0 <= row[key] < math.inf for row in rows for key in ("bwMiB", "iops", "openTime", "wrRdTime"))
    run = ior("-a DUMMY -w -r -i 50 -b 8 -t 8", np=None).ok()
    assert not re.search(r"\b(inf|nan)\b", run.stdout)


def test_latency_is_that_of_all_tasks(ior):
    """A slow rank 0 is half of two tasks; extremes and percentiles say the rest."""
    run = ior("-a DUMMY -w -F -b 16k -t 8k -s 4 --dummy.delay-xfer=40000 --dummy.delay-only-rank0" + TELL).ok()
    p = run.phases()[0]
    assert run.rows[0]["latency"] >= 0.02 and p["slowestTime"] >= 0.32  # the mean of 0.04 and about 0
    assert p["transferP90"] * 1.05 >= 0.04 <= p["transferMax"] and p["transferCount"] == 16
    timely(run.rows[0]["latency"] < 0.035 and p["transferP50"] < 0.04 and p["fastestTime"] < 0.32, p)
    assert (p["slowestRank"], p["fastestRank"]) == (0, 1)


def test_the_two_rates_say_what_they_are(ior):
    """IOPS goes by the time of the transfers, OPs by the whole, and with -g the columns do not overlap."""
    run = ior("-a DUMMY -w -g -F -b 32k -t 8k --dummy.delay-create=100000 --dummy.delay-xfer=20000 --dummy.delay-only-rank0").ok()
    row, total = run.rows[0], run.summary[0]
    assert abs(row["iops"] * row["work"] - 8) < 0.05 and abs(total["ops_mean"] * row["total"] - 8) < 0.05
    assert row["open"] + row["work"] + row["close"] <= row["total"] + 3e-6
    text = (conftest.SOURCE / "doc" / "result-format.md").read_text()
    assert "why OPs and IOPS differ" in text


# ---- what is in a time ----

def test_making_and_checking_data_has_a_time_of_its_own(ior):
    """Filling and verification are measured apart, and the time of a transfer has neither in it."""
    run = ior("-a DUMMY --dummy.store -w -r -R -l r -b 2m -t 512k -s 6" + TELL, np=None).ok()
    write, read = run.phases()
    assert write["fillTime"] > 0 == write["verifyTime"] and read["verifyTime"] > 0 == read["fillTime"]
    for p, own in ((write, "fillTime"), (read, "verifyTime")):
        assert p["transferMean"] * p["transferCount"] + p[own] <= p["workTime"] * 1.01
    plain = ior("-a DUMMY --dummy.store -w -r -b 2m -t 512k" + TELL, np=None).ok().phases()
    assert [p["verifyTime"] for p in plain] == [0, 0]


@pytest.mark.parametrize("args, count", [("-w -Y", 8), ("-w -e", 1), ("-w -Y -e", 9), ("-r -e -Y", 0)])
def test_each_write_is_synced_once_and_reads_never(ior, preload, args, count):
    """-Y means one fsync for a write, -e one for a write phase."""
    (ior.cwd / "testFile").write_bytes(bytes(32768))
    log = ior.cwd.parent / "log"
    log.touch()
    run = ior("-k -b 32k -t 4k " + args + TELL, np=None,
              env={"LD_PRELOAD": preload("log-syncs.c"), "SYNC_LOG": str(log), "SYNC_NAME": "testFile"}).ok()
    assert len(log.read_text().split()) == count and sum(p["syncCount"] for p in run.phases()) == count


def test_closing_has_its_own_time(ior):
    """With -g closing does not contain the work of slow tasks, and the time of each close call is known without it, too."""
    ior.script("intraTestBarriers=1", "intraTestBarriers=0")
    run = ior("-a DUMMY -w -F -b 80k -t 8k --dummy.delay-xfer=40000 --dummy.delay-only-rank0 -f s" + TELL).ok()
    timely(run.rows[0]["close"] < 0.3, run)
    p = run.phases()[1]
    assert p["closeCount"] == 2
    timely(p["closeTime"] > 0.3 > p["closeMax"], p)


# ---- what -T leaves out ----

@pytest.fixture
def hasty(ior, preload):
    """Runs in which minutes pass in a moment, on all ranks or on one."""
    def run(args, rank=None, np=2):
        env = {"LD_PRELOAD": preload("speed-clock.c"), "CLOCK_FACTOR": "70", **({"CLOCK_RANK": str(rank)} if rank is not None else {})}
        prefix = ["env"] + ["%s=%s" % pair for pair in env.items()]  # not for the launcher
        return ior("-a DUMMY -w -r -i 2 -b 16k -t 8k --dummy.delay-xfer=500000 -T 1 " + args, np=np, prefix=prefix, timeout=60).ok()
    return run


def test_what_was_skipped_is_not_a_number(hasty):
    """A phase that -T left out is a row of dashes, counts nowhere, and is null for programs."""
    run = hasty("-v" + TELL, np=None)
    assert [row["access"] for row in run.rows if row["access"] != "remove"] == ["write", "read"] * 2
    skipped = [row for row in run.rows if row["access"] != "remove" and row["bw"] is None]
    assert len(skipped) == 3 and all(row["total"] is row["work"] is row["iops"] is None for row in skipped), run
    assert not re.search(r"nan|inf\b", run.stdout) and [row["reps"] for row in run.summary] == [1, 0]
    write, read = run.summary
    assert write["bw_mean"] == write["bw_max"] and write["bw_sd"] == 0 and write["mean_s"] > 0
    assert read["bw_max"] is None and read["mean_s"] is None and read["aggs"] is None
    assert len([n for n in run.notes if "skipped" in n]) == 3
    data = run.document()
    assert [r["bwMiB"] is None for r in data["tests"][0]["Results"] if r["access"] != "remove"] == [False, True, True, True]
    assert data["summary"][1]["bwMeanMIB"] is None and data["summary"][0]["bwMeanMIB"] == data["tests"][0]["Results"][0]["bwMiB"]
    assert len(data["tests"][0]["phases"]) == 1


@pytest.mark.parametrize("rank, rows", [(0, 1), (1, 4)])
def test_all_tasks_enter_a_phase_or_none(hasty, rank, rows):
    """The clock of rank 0 decides about -T for all, so clocks that differ cannot part the tasks."""
    run = hasty("", rank=rank)
    assert len([row for row in run.rows if row["bw"] is not None]) == rows, run
