# SPDX-License-Identifier: BSD-3-Clause
"""Hosts whose clocks differ: a task with a clock that is seconds ahead or behind changes no result."""
import csv
import json
import os
import pathlib
import subprocess
import sys

import pytest

import conftest
from conftest import timely

DELAYS = "-a DUMMY -w -r -g -b 32k -t 16k --dummy.delay-create=200000 --dummy.delay-xfer=100000 --dummy.delay-close=200000"


@pytest.fixture
def shifted(ior, preload):
    def run(args, rank, seconds, np=2):
        library = preload("shift-clock.c")
        return ior(args, np=np, prefix=["env", "LD_PRELOAD=" + library, "SHIFT_RANK=%d" % rank, "SHIFT_SECONDS=%d" % seconds])
    return run


def test_the_library_really_shifts_the_clock_of_that_rank(preload):
    look = "import time; print(time.monotonic())"
    env = dict(os.environ, LD_PRELOAD=preload("shift-clock.c"), SHIFT_RANK="1", SHIFT_SECONDS="100000", OMPI_COMM_WORLD_RANK="1")
    shifted_now = float(subprocess.run([sys.executable, "-c", look], env=env, capture_output=True, text=True, check=True).stdout)
    env["OMPI_COMM_WORLD_RANK"] = "0"
    now = float(subprocess.run([sys.executable, "-c", look], env=env, capture_output=True, text=True, check=True).stdout)
    assert 99000 < shifted_now - now < 101000


@pytest.mark.parametrize("rank, seconds", [(1, 5), (1, -5), (0, 5), (1, 100000)])
def test_times_are_those_of_the_work(shifted, rank, seconds):
    run = shifted(DELAYS, rank, seconds).ok()
    write, read = run.rows
    # The sleeps are lower bounds; a busy machine adds, but seconds of a wrong clock it does not add.
    assert min(write["open"], write["work"], write["close"], read["work"]) >= 0.2 and write["total"] >= 0.6, run
    timely(max(write["open"], write["work"], write["close"], read["work"]) < 1.2 and write["total"] < 2.6, run)
    conftest.sound(run, 65536)


def test_a_stonewall_goes_by_the_time_that_passes(shifted):
    run = shifted("-a DUMMY -w -F -D 1 -b 8k -t 8k -s 1000 --dummy.delay-xfer=10000", 1, 5).ok()
    assert run.rows[0]["total"] >= 0.9, run
    timely(run.rows[0]["total"] < 2.5 and run.rows[0]["bw"] * run.rows[0]["total"] * conftest.MIB > 20 * 8192, run)


def test_four_tasks_with_one_wrong_clock_give_sound_tables(shifted):
    run = shifted("-a POSIX -w -r -F -g -b 256k -t 64k", 2, 5, np=4).ok()
    conftest.sound(run, 2 ** 20)
    timely(all(row["total"] < 4 for row in run.rows), run)


@pytest.mark.parametrize("rank", [0, 1])
def test_a_clock_that_runs_too_fast_is_taken_out(ior, preload, rank):
    """Estimated before and after a phase of seconds, and interpolated. A fast clock of rank 0 is the measure."""
    env = {"LD_PRELOAD": preload("speed-clock.c"), "CLOCK_RANK": str(rank), "CLOCK_FACTOR": "3"}
    words = ["%s=%s" % item for item in env.items()]
    run = ior("-a DUMMY -w -g -b 8k -t 8k --dummy.delay-xfer=2000000", prefix=["env"] + words).ok()
    factor = 1 if rank else 3
    (row,) = run.rows
    assert min(row["work"], row["total"]) >= 2 * factor * 0.95, run
    timely(max(row["work"], row["total"]) < 3.5 * factor, run)


@pytest.mark.parametrize("env", [{}, {"IOR_FAKE_NODES": "3", "IOR_FAKE_TASK_PER_NODES": "1"}])
def test_tasks_of_one_kernel_have_one_clock(ior, env):
    ior("-a DUMMY -w -b 8k -t 8k --report=json:r.json", np=3, env=env).ok()
    result = json.loads((ior.cwd / "r.json").read_text())
    assert result["tests"][0]["provenance"]["clockError"] == 0, result


@pytest.mark.parametrize("rank, by", [("0", 5), ("1", 5), ("1", 864000)])
def test_a_clock_that_steps_is_told_of(ior, preload, rank, by):
    """In the middle of a phase: what it did to the times is no more than the uncertainty that is printed."""
    env = ["env", "LD_PRELOAD=" + preload("shift-clock.c"), "SHIFT_RANK=" + rank, "SHIFT_SECONDS=%d" % by, "SHIFT_AFTER=1"]
    run = ior("-a DUMMY -w -g -b 16k -t 8k --dummy.delay-xfer=2000000 --report=json:r.json", prefix=env).ok()
    (row,) = [r for r in json.loads((ior.cwd / "r.json").read_text())["tests"][0]["phases"] if r["operation"] == "write"]
    said = [line for line in run.warnings if "the clocks of ranks 0 and 1 have moved by " in line]
    assert len(said) == 1, run
    timely(-0.1 < float(said[0].split(" moved by ")[1].split()[0]) - by < 0.1 and -0.1 < row["clockError"] - by < 0.2, row, run)
    timely(abs(row["totalTime"] - 4) < row["clockError"] + 2, row, run)


def clock_of(result):
    return result["provenance"]["environment"]["clock"]


@pytest.mark.parametrize("words, env", [("", {}), ("--clock=monotonic", {}), ("", {"SHIFT_RANK": "7"})])
def test_the_counter_is_the_clock_where_the_kernel_trusts_it(ior, preload, words, env):
    """Unless somebody asks for the kernel's clock, or for another clock_gettime than that of the C library."""
    source = pathlib.Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
    trusted = source.exists() and source.read_text() == "tsc\n" and "nonstop_tsc" in pathlib.Path("/proc/cpuinfo").read_text()
    if env:
        env["LD_PRELOAD"] = preload("shift-clock.c")
    run = ior("-a DUMMY -w -b 16k -t 8k --report=text:-,json:r.json " + words, env=env).ok()
    asked = not words and not env
    assert clock_of(json.loads((ior.cwd / "r.json").read_text())) == ("tsc" if asked and trusted else "monotonic"), run


def test_a_counter_that_disagrees_with_the_kernel_is_left_once(ior, preload):
    """On one rank, by all: its kernel's clock steps in a phase, and the counter does not. A preloaded dladdr says that the preloaded
    clock is that of the C library."""
    env = ["env", "LD_PRELOAD=%s:%s" % (preload("shift-clock.c"), preload("one-library.c")), "SHIFT_RANK=1", "SHIFT_SECONDS=5", "SHIFT_AFTER=1"]
    run = ior("-a DUMMY -w -r -g -b 8k -t 8k --dummy.delay-xfer=500000 --report=text:-,json:r.json", prefix=env).ok()
    result = json.loads((ior.cwd / "r.json").read_text())
    if clock_of(result) == "monotonic":
        pytest.skip("the kernel does not trust this processor's counter")
    write, read = result["tests"][0]["phases"]
    said = [line for line in run.warnings if "time-stamp counter and the kernel's clock differ by up to" in line]
    assert len(said) == 1, run
    timely(abs(float(said[0].split(" up to ")[1].split()[0]) - 5) < 0.1, run)  # two clocks are read one after the other
    assert write["clockError"] > 4.9 > read["clockError"] and min(write["totalTime"], read["totalTime"]) > 0.49, (write, read)
    timely(write["totalTime"] < 4, write, run)


def test_an_operation_that_seems_to_begin_before_its_phase_has_a_small_time(ior, preload):
    """Where a clock was set back: less than nothing, not centuries."""
    ior.program = conftest.BUILD / "src" / "mib"
    env = ["env", "LD_PRELOAD=" + preload("shift-clock.c"), "SHIFT_RANK=1", "SHIFT_SECONDS=-100", "SHIFT_AFTER=3"]
    ior("--api DUMMY -W -l 8 --dummy.delay-xfer=300000 --op-csv p", prefix=env).ok()
    rows = list(csv.DictReader(open(ior.cwd / "p-00001.csv")))
    assert min(float(row["time"]) for row in rows) < -90
    assert all(abs(int(row["begin_ns"]) / 1e9 - float(row["time"])) < 1e-6 for row in rows), rows


def test_a_rank_that_takes_a_week_is_named(ior, preload):
    """By its own clock, which is wrong, as the note on clocks says."""
    env = ["env", "LD_PRELOAD=" + preload("speed-clock.c"), "CLOCK_RANK=2", "CLOCK_FACTOR=800000"]
    run = ior("-a DUMMY -w -F -b 64k -t 64k --dummy.delay-xfer=1000000 --report=json:r.json", np=6, prefix=env).ok()
    test = json.loads((ior.cwd / "r.json").read_text())["tests"][0]
    assert "the clocks of ranks 0 and 2 have moved by" in run.warnings[0]
    assert [row["rank"] for row in test["stragglers"]] == [2] and test["stragglers"][0]["callTime"] > 7 * 86400


@pytest.mark.parametrize("what", [["SHIFT_PPM=100"], ["SHIFT_PPM=-100", "SHIFT_SECONDS=5"]])
def test_a_clock_that_drifts_slowly_is_taken_out(ior, preload, what):
    """By 100 ppm: 0.2 ms in a phase of 2 s. It is no step, and the uncertainty is that of the estimates alone."""
    run = ior("-a DUMMY -w -g -b 8k -t 8k --dummy.delay-xfer=2000000 --report=json:r.json",
              prefix=["env", "LD_PRELOAD=" + preload("shift-clock.c"), "SHIFT_RANK=1"] + what).ok()
    (row,) = [r for r in json.loads((ior.cwd / "r.json").read_text())["tests"][0]["phases"] if r["operation"] == "write"]
    assert row["totalTime"] > 1.99, (row, run)
    timely(not run.warnings and row["clockError"] < 0.05 and row["totalTime"] < 3.5, row, run)
