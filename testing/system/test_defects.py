# SPDX-License-Identifier: BSD-3-Clause
"""The known defects of the original, D1 to D73: each has a test here that shows the sound behaviour in its place."""
import csv
import errno
import json
import math
import os
import re
import subprocess
import sys
import time
import zlib

import pytest

import conftest
import model
from conftest import timely

FOUR_BY_TWO = {"IOR_FAKE_NODES": "4", "IOR_FAKE_TASK_PER_NODES": "2"}
LIMIT = 20  # seconds for what must end at once; catches hangs, measures nothing


def document(run):
    """The JSON of a run with --report=json:r.json, or on stdout."""
    path = run.cwd / "r.json"
    return json.loads(path.read_text() if path.exists() else run.stdout, parse_constant=lambda word: pytest.fail(word + " in JSON"))


def phases(run):
    return [p for test in document(run)["tests"] for p in test["phases"]]


TELL = " --report=text:-,json:r.json "


# ---- command line and scripts ----

def test_d01_attached_values_are_not_read_as_flags(ior):
    """A value that follows its letter at once is a value and switches on nothing else."""
    run = ior("-w -r -b4k -t1k -i2 -oakmwFu" + TELL, np=None).ok()
    values = document(run)["tests"][0]["optionValues"]
    assert (values["keep-file"], values["multi-file"], values["file-per-proc"], values["api"]) == (0, 0, 0, "POSIX")
    assert values["test-file"] == "akmwFu" and values["block-size"] == 4096
    assert ior.files() == ["r.json"]
    ior("-w -k -b8m -t8m -ofile", np=None).ok()
    assert ior.files() == ["file", "r.json"]


def test_d02_an_unknown_letter_is_the_only_thing_complained_about(ior):
    """The error names the unknown option, and nothing that follows it."""
    run = ior("-wL -b 4k -t 4k", np=2).fails(1, "'L'", "-wL")
    assert run.messages == ["ERROR: " + run.errors[0]]
    run = ior("--nonsense -b 4k -t 1k", np=2).fails(1, "nonsense")
    assert "4k" not in run.errors[0] and len(run.messages) == 1
    ior("-w=", np=None).fails(1, "-w")


def test_d03_a_flag_given_twice_is_still_on(ior, preload):
    """Repeating a flag changes nothing."""
    log = ior.cwd.parent / "log"

    def syncs(args):
        log.write_text("")
        run = ior("-w -w -F -F -b 16k -t 4k " + args, np=2, prefix=["env", "LD_PRELOAD=" + preload("log-syncs.c"), "SYNC_LOG=%s" % log]).ok()
        assert run.warnings == []  # -F -F still knows the size of its files
        return len(log.read_text().split())
    assert (syncs(""), syncs("-e"), syncs("-e -e"), syncs("-Y"), syncs("-Y -Y")) == (0, 2, 2, 8, 8)


def test_d04_options_of_a_backend_act_in_their_own_test(ior):
    """A delay that stands in the second test of a script delays the second one."""
    (ior.cwd / "s").write_text("IOR START\napi=DUMMY\nwriteFile=1\nblockSize=8k\ntransferSize=8k\nRUN\n"
                               "--dummy.delay-xfer=300000\nRUN\n--dummy.delay-xfer=0\nRUN\nIOR STOP\n")
    got = [t["optionValues"]["dummy.delay-xfer"] for t in document(ior("-f s" + TELL, np=1).ok())["tests"]]
    assert got == [0, 300000, 0]
    work = [row["work"] for row in ior("-f s", np=1).ok().rows]
    assert work[1] >= 0.3
    timely(max(work[0], work[2]) < 0.3, work)


def test_d05_a_script_says_the_same_as_a_command_line(ior):
    """Words after -f are defaults of the script, each test shows its own backend, and short options in it count."""
    (ior.cwd / "s").write_text("IOR START\n-a=DUMMY\n-l=o\n-b=8k\n-t=4k\n-M=1m\nRUN\n-a=POSIX\nRUN\nIOR STOP\n")
    run = ior("-w -f s -i 3 -O platform=mine" + TELL).ok()
    assert len(run.rows) == 6 and re.findall(r"^apiVersion +: (.*)$", run.stdout, re.M) == ["0.5", ""]
    for test in document(run)["tests"]:
        assert test["Parameters"]["platform"] == "mine" and test["Parameters"]["data packet type"] == "o"
        assert test["Parameters"]["memoryPerNode"] == 2 ** 20


@pytest.mark.parametrize("words", ["-b 1.5m", "-b 0x10", "-b 16x", "-i abc", "-G=", "-O blockSize=1.5m", "-O repetitions=0x2", "-O refNum=true"])
def test_d06_a_number_with_something_behind_it_is_refused(ior, words):
    """What is not wholly a number is an error."""
    ior(words + " -a DUMMY -w", np=None).fails(1, re.split("[ =]", words)[-1])


def test_d06_suffixes_work_for_every_number_everywhere(ior):
    """Keys take the same numbers as the command line."""
    run = ior("-a DUMMY -w -C -O taskPerNodeOffset=2k,refNum=1k,segmentCount=1k -b 8 -t 8" + TELL, np=2).ok()
    got = document(run)["tests"][0]["Parameters"]
    assert (run.options["task offset"], got["refnum"], got["segmentCount"]) == ("2048", 1024, 1024)


def test_d07_memory_is_a_size_or_a_share(ior):
    """-M 64m is 64 MiB of the node, and only a value with a percent sign is a share of it."""
    assert ior("-a DUMMY -w -M 64m -b 8k -t 8k", np=2).ok().options["memoryPerNode"] == "64 MiB"
    share = document(ior("-a DUMMY -w -M 1% -b 8k -t 8k" + TELL, np=1).ok())["tests"][0]["Parameters"]["memoryPerNode"]
    whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert abs(share - whole / 100) < whole / 1000
    ior("-a DUMMY -w -M 101% -b 8k -t 8k", np=None).fails(1, "101%")


def test_d08_one_process_speaks_and_names_the_line(ior):
    """Errors in a script carry file and line, help comes once with status 0, and -N 0 says what to write for all."""
    (ior.cwd / "s").write_text("IOR START\napi=DUMMY\n\nnoSuchKey=1\nRUN\nIOR STOP\n")
    run = ior("-f s", np=3).fails(1, "s:4", "noSuchKey")
    assert run.messages == ["ERROR: " + run.errors[0]] and run.stdout == ""
    assert ior("--help", np=3).ok().stdout.count("Synopsis") == 1
    ior("-N 0", np=None).fails(1, "-1 takes all")


def test_d09_nothing_is_too_long_for_a_buffer(ior):
    """Keys, values, lines and names of any length are read or refused, never cut or overrun."""
    run = ior(["-O", "x" * 100000 + "=1"], np=None).fails(1, "xxxx")
    assert len(run.errors[0]) < 1000
    run = ior(["-w", "-a", "DUMMY", "-O", "debug=%s" % ("y" * 100000)], np=None).ok()
    assert "y" * 100000 in run.stdout
    (ior.cwd / "s").write_text("IOR START\napi=DUMMY, writeFile=1, debug=%s, refNum=9\nRUN\nIOR STOP\n" % ("z" * 50000))
    assert ior("-f s", np=2).ok().summary[0]["refnum"] == 9
    name = "/".join(["."] * 1800) + "/end"
    ior(["-w", "-k", "-b", "8k", "-t", "8k", "-o", name], np=2).ok()
    assert "end" in ior.files()
    (ior.cwd / "end").unlink()


def test_d10_any_number_of_hints_is_taken(ior, need_backend):
    """Sixteen hints and more, empty ones, and values with an equals sign do no harm."""
    need_backend("MPIIO")
    env = {"IOR_HINT__MPI__key%02d" % i: "a=b=%d" % i for i in range(40)}
    env["IOR_HINT__MPI__nothing"] = ""
    run = ior("-a MPIIO --mpiio.showHints -w -b 8k -t 8k -o ./f", env=env).ok()
    assert "key39 = a=b=39" in run.stdout and "key00 = a=b=0" in run.stdout


def test_d11_an_unknown_kind_of_hint_is_left_out(ior, need_backend):
    """A prefix that nobody knows sets nothing and does not repeat the hint before it; the mark of an editor is no prefix."""
    need_backend("MPIIO")
    (ior.cwd / "h").write_text("\ufeffIOR_HINT__MPI__first=1\nIOR_HINT__XYZ__second=2\nIOR_HINT__MPI__third=3\n")
    run = ior("-a MPIIO --mpiio.showHints --mpiio.hintsFileName=h -w -b 8k -t 8k -o ./f").ok()
    shown = run.stdout.split("hints passed to MPI_File_open() {\n")[1].split("}")[0]
    assert shown.count("first = 1") == 1 and shown.count("third = 3") == 1 and "second" not in shown and shown.count("=") == 2
    assert len([line for line in run.messages if "XYZ" in line or "second" in line]) == 1, run


@pytest.mark.parametrize("count", ["0", "-1", "-3", "-2147483648"])
def test_d12_too_few_repetitions_are_one(ior, count):
    """Less than one repetition means one, with one message, and overruns nothing."""
    run = ior("-w -r -i %s -b 8k -t 8k" % count, np=2).ok()
    assert run.accesses() == ["write", "read"] and len(run.messages) == 1 and ior.files() == []


def test_d13_a_directory_for_each_task_needs_no_slash_and_goes_away(ior):
    """-u works with a plain name, its directories are removed, and an empty name in a list is refused."""
    ior("-w -k -F -u -b 8k -t 8k -o plain").ok()
    assert ior.files() == ["0", "0/plain.00000000", "1", "1/plain.00000001"]
    other = conftest.Ior(ior.cwd / "0")
    other("-w -r -i 2 -F -u -b 8k -t 8k -o plain").ok()
    assert other.files() == ["plain.00000000"]
    for names in ("@a", "a@", "a@@b"):
        ior(["-F", "-w", "-o", names], np=2).fails(1, names)


def test_d14_a_distance_that_cannot_be_is_refused(ior):
    """A negative -Q and a -Z without any task that is far enough are errors, at once."""
    ior("-a DUMMY -C -Q -1", np=2, timeout=LIMIT).fails(1, "-1")
    env = {"IOR_FAKE_NODES": "2", "IOR_FAKE_TASK_PER_NODES": "4"}
    run = ior("-a DUMMY -Z -N 4 -F -w -r -b 8k -t 8k", np=4, env=env, timeout=LIMIT)
    assert run.returncode != 0 and len(run.errors) == 1 and "4 tasks" in run.errors[0], run


# ---- measurement ----

def test_d20_time_is_that_of_a_steady_clock(ior, preload):
    """The time of day may jump, and phases may be shorter than a microsecond: all rates stay finite."""
    run = ior("-a DUMMY -w -r -i 5 -b 16k -t 8k" + TELL, prefix=["env", "LD_PRELOAD=" + preload("speed-clock.c"), "CLOCK_JUMP=3600"]).ok()
    rows = document(run)["tests"][0]["Results"]
    assert all(row["totalTime"] > 0 for row in rows)
    timely(all(row["totalTime"] < 10 for row in rows), rows)
    assert all(row[key] is not None and 0 <= row[key] < math.inf for row in rows for key in ("bwMiB", "iops", "openTime", "wrRdTime"))
    run = ior("-a DUMMY -w -r -i 50 -b 8 -t 8", np=1).ok()
    assert not re.search(r"\b(inf|nan)\b", run.stdout)


def test_d21_latency_is_that_of_all_tasks(ior):
    """A slow rank 0 is half of two tasks; extremes and percentiles say the rest."""
    run = ior("-a DUMMY -w -F -b 16k -t 8k -s 4 --dummy.delay-xfer=40000 --dummy.delay-only-rank0" + TELL).ok()
    p = phases(run)[0]
    assert run.rows[0]["latency"] >= 0.02 and p["slowestTime"] >= 0.32  # the mean of 0.04 and about 0
    assert p["transferP90"] * 1.05 >= 0.04 <= p["transferMax"] and p["transferCount"] == 16
    timely(run.rows[0]["latency"] < 0.035 and p["transferP50"] < 0.04 and p["fastestTime"] < 0.32, p)
    assert (p["slowestRank"], p["fastestRank"]) == (0, 1)


def test_d22_the_two_rates_say_what_they_are(ior):
    """IOPS goes by the time of the transfers, OPs by the whole, and with -g the columns do not overlap."""
    run = ior("-a DUMMY -w -g -F -b 32k -t 8k --dummy.delay-create=100000 --dummy.delay-xfer=20000 --dummy.delay-only-rank0").ok()
    row, total = run.rows[0], run.summary[0]
    assert abs(row["iops"] * row["work"] - 8) < 0.05 and abs(total["ops_mean"] * row["total"] - 8) < 0.05
    assert row["open"] + row["work"] + row["close"] <= row["total"] + 3e-6
    text = (conftest.SOURCE / "doc" / "result-format.md").read_text()
    assert "why OPs and IOPS differ" in text


def test_d23_making_and_checking_data_has_a_time_of_its_own(ior):
    """Filling and verification are measured apart, and the time of a transfer has neither in it."""
    run = ior("-a DUMMY --dummy.store -w -r -R -l r -F -b 2m -t 512k -s 6" + TELL).ok()
    write, read = phases(run)
    assert write["fillTime"] > 0 == write["verifyTime"] and read["verifyTime"] > 0 == read["fillTime"]
    for p, own in ((write, "fillTime"), (read, "verifyTime")):
        assert p["transferMean"] * p["transferCount"] / 2 + p[own] <= p["workTime"] * 1.01
    plain = phases(ior("-a DUMMY --dummy.store -w -r -F -b 2m -t 512k" + TELL).ok())
    assert [p["verifyTime"] for p in plain] == [0, 0]


@pytest.mark.parametrize("args, count", [("-w -Y", 8), ("-w -e", 1), ("-w -Y -e", 9), ("-r -e -Y", 0)])
def test_d24_each_write_is_synced_once_and_reads_never(ior, preload, args, count):
    """-Y means one fsync for a write, -e one for a write phase."""
    ior("-w -k -b 32k -t 4k", np=1).ok()
    log = ior.cwd.parent / "log"
    log.write_text("")
    run = ior("-k -b 32k -t 4k " + args + TELL, np=1, prefix=["env", "LD_PRELOAD=" + preload("log-syncs.c"), "SYNC_LOG=%s" % log,
                                                                   "SYNC_NAME=testFile"]).ok()
    assert len(log.read_text().split()) == count and sum(p["syncCount"] for p in phases(run)) == count


def test_d25_the_rate_at_the_stonewall_is_that_of_all_tasks(ior):
    """Three equal tasks reach three times the rate of one."""
    run = ior("-a DUMMY -w -F -D 1 -t 1m -b 1m -s 40 --dummy.delay-xfer=50000 -O stoneWallingWearOut=1", np=3).ok()
    done = re.search(r"accessed min: (\d+) max: (\d+)", run.stdout)
    least, most = [3 * int(n) for n in done.groups()]
    row = run.summary[0]
    assert least * 0.99 - 0.01 <= row["wall_mib"] * row["wall_s"] * 1.01 and row["wall_mib"] * row["wall_s"] * 0.99 <= most + 0.01, run


@pytest.fixture
def hasty(ior, preload):
    """Runs in which minutes pass in a moment, on all ranks or on one."""
    def run(args, rank=None, np=2):
        env = ["env", "LD_PRELOAD=" + preload("speed-clock.c"), "CLOCK_FACTOR=70"] + (["CLOCK_RANK=%d" % rank] if rank is not None else [])
        return ior("-a DUMMY -w -r -i 2 -b 16k -t 8k --dummy.delay-xfer=500000 -T 1 " + args, np=np, prefix=env, timeout=60).ok()
    return run


def test_d26_what_was_skipped_is_not_a_number(hasty):
    """A phase that -T left out is a row of dashes, counts nowhere, and is null for programs."""
    run = hasty("-v" + TELL)
    assert [row["access"] for row in run.rows if row["access"] != "remove"] == ["write", "read"] * 2
    skipped = [row for row in run.rows if row["access"] != "remove" and row["bw"] is None]
    assert len(skipped) == 3 and all(row["total"] is row["work"] is row["iops"] is None for row in skipped), run
    assert not re.search(r"nan|inf\b", run.stdout) and [row["reps"] for row in run.summary] == [1, 0]
    write, read = run.summary
    assert write["bw_mean"] == write["bw_max"] and write["bw_sd"] == 0 and write["mean_s"] > 0
    assert read["bw_max"] is None and read["mean_s"] is None and read["aggs"] is None
    assert len([n for n in run.notes if "skipped" in n]) == 3
    data = document(run)
    assert [r["bwMiB"] is None for r in data["tests"][0]["Results"] if r["access"] != "remove"] == [False, True, True, True]
    assert data["summary"][1]["bwMeanMIB"] is None and data["summary"][0]["bwMeanMIB"] == data["tests"][0]["Results"][0]["bwMiB"] and len(data["tests"][0]["phases"]) == 1


@pytest.mark.parametrize("rank, rows", [(0, 1), (1, 4)])
def test_d27_all_tasks_enter_a_phase_or_none(hasty, rank, rows):
    """The clock of rank 0 decides about -T for all, so clocks that differ cannot part the tasks."""
    run = hasty("", rank=rank, np=3)
    assert len([row for row in run.rows if row["bw"] is not None]) == rows, run


def test_d28_the_deadline_of_any_task_ends_a_collective_phase_for_all(ior):
    """Together tasks stop after the same number of transfers, whoever is slow."""
    for slow in ("--dummy.delay-only-rank0", ""):
        p = phases(ior("-a DUMMY -c -w -D 1 -b 8k -t 8k -s 400 --dummy.delay-xfer=10000 " + slow + TELL).ok())[0]
        assert 0 < p["stepsMin"] == p["stepsMax"] < 400 and p["steps"] == 2 * p["stepsMax"]


def test_d29_the_csv_of_ranks_has_the_bytes_of_each_rank(ior):
    """A task that was stopped early is shown with what it really moved, and each line says which repetition it is of."""
    run = ior("-a DUMMY -w -r -i 2 -F -D 1 -b 8k -t 8k -s 100 --dummy.delay-xfer=50000 --dummy.delay-only-rank0 "
              "-O saveRankPerformanceDetailsCSV=ranks.csv" + TELL).ok()
    rows = list(csv.DictReader((ior.cwd / "ranks.csv").open()))
    assert [(r["access"], r["rank"], r["iter"], r["test"]) for r in rows] == [
        (a, r, i, "0") for i in "01" for a in ("write", "read") for r in "01"]
    for (slow, fast), p in zip(zip(rows[::2], rows[1::2]), phases(run)):
        assert int(slow["bytes"]) + int(fast["bytes"]) == p["bytes"]
        timely(int(slow["bytes"]) < int(fast["bytes"]), run)
        assert abs(float(slow["throughput"]) * float(slow["runtime"]) - int(slow["bytes"])) < 1


def test_d30_no_phase_overwrites_the_operations_of_another(ior):
    """All phases are in the file, also those before a failure, and a path that cannot be written is found before the run."""
    ior("-w -r -i 2 -b 16k -t 8k -O savePerOpDataCSV=ops", np=2).ok()
    for rep in (0, 1):
        rows = list(csv.DictReader((ior.cwd / ("ops-%d-00001.csv" % rep)).open()))
        assert [(r["access"], r["offset"]) for r in rows] == [(a, o) for a in ("write", "read") for o in ("16384", "24576")]
    ior("-a DUMMY -w -r -b 16k -t 8k -O savePerOpDataCSV=bad --dummy.fail-at=4", np=2).fails(3)
    assert [r["access"] for r in csv.DictReader((ior.cwd / "bad-0-00000.csv").open())] == ["write"] * 2
    ior("-w -k -b 16k -t 8k -o kept -O savePerOpDataCSV=nowhere/ops", np=2).fails(2, "nowhere/ops")
    assert "kept" not in ior.files()


def test_d31_closing_has_its_own_time(ior):
    """With -g closing does not contain the work of slow tasks, and the time of each close call is known without it, too."""
    slow = "-a DUMMY -w -F -b 80k -t 8k --dummy.delay-xfer=40000 --dummy.delay-only-rank0"
    timely(ior(slow + " -g").ok().rows[0]["close"] < 0.3)
    p = phases(ior(slow + TELL).ok())[0]
    assert p["closeCount"] == 2
    timely(p["closeTime"] > 0.3 > p["closeMax"], p)


# ---- access patterns and data ----

@pytest.mark.parametrize("args", ["", "-F", "-s 4", "-a MPIIO", "-a DUMMY"])
def test_d40_random_blocks_are_written(ior, args):
    """-z -z works for writing as for reading."""
    run = ior("-w -z -z -b 16k -t 4k --random-offset-seed=1 " + args, np=2).ok()
    assert run.accesses() == ["write"] and any("repeat" in note for note in run.notes)


def test_d40_a_file_without_a_whole_block_is_an_error(ior):
    """Random blocks of a file that has none are refused, not divided by zero."""
    (ior.cwd / "testFile").write_bytes(bytes(1000))
    run = ior("-r -k -z -z -b 16k -t 4k", np=2, timeout=LIMIT)
    assert run.returncode in (1, 2, 3) and len(run.errors) == 1 and "testFile" in run.errors[0] + run.stdout, run


@pytest.mark.parametrize("args", ["", "-F", "-D 60", "-D 60 -F", "-s 3 -D 60 -O stoneWallingWearOut=1", "-a MPIIO"])
def test_d41_a_prefilled_file_can_be_checked(ior, args):
    """--randomPrefill is only for write phases, hangs with no deadline, and is outside the time."""
    run = ior("-w -W -R -z --randomPrefill=8k -b 64k -t 4k -G 3 -l o " + args, np=2, timeout=LIMIT).ok()
    assert run.accesses() == ["write", "read"] and not [w for w in run.warnings if "Incorrect" in w]
    assert ior.files() == []


def test_d41_the_prefill_is_not_measured(ior):
    """Four slow pieces of prefill do not make four slow writes slower."""
    p = phases(ior("-a DUMMY -w -z --randomPrefill=8k -b 32k -t 8k --dummy.delay-xfer=100000" + TELL, np=1).ok())[0]
    assert p["transferCount"] == 4 and p["workTime"] >= 0.4
    timely(p["workTime"] < 0.75, p)


def test_d42_random_offsets_deal_the_same_work_to_all(ior, preload):
    """Every task has as many transfers as the others, and each segment has an order of its own."""
    p = phases(ior("-w -z -b 32k -t 4k -s 3 --random-offset-seed=42" + TELL, np=3).ok())[0]
    assert p["stepsMin"] == p["stepsMax"] == 24
    log = ior.cwd.parent / "log"
    ior("-w -F -z -b 256k -t 4k -s 2 --random-offset-seed=42", np=1,
        prefix=["env", "LD_PRELOAD=" + preload("log-files.c"), "FILE_LOG=%s" % log]).ok()
    offs = [int(line.split()[2]) for line in log.read_text().split("\n") if line.startswith("write ")]
    assert sorted(offs) == list(range(0, 524288, 4096))
    assert [o for o in offs if o < 262144] != [o - 262144 for o in offs if o >= 262144]


def test_d42_no_task_is_without_work_when_all_wear_out(ior):
    """With a block of one transfer each task still has one, and the run ends."""
    p = phases(ior("-w -z -b 4k -t 4k -D 1 -O stoneWallingWearOut=1" + TELL, np=4, timeout=LIMIT).ok())[0]
    assert p["stepsMin"] == p["stepsMax"] == 1


def test_d43_random_offsets_cost_no_memory_and_no_set_up(ior):
    """The order of 2^33 transfers is there at once and needs no list."""
    peak = ("import resource, subprocess, sys; rc = subprocess.run(sys.argv[1:]).returncode; "
            "open('peak', 'a').write('%d\\n' % resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); sys.exit(rc)")

    def kib(size):
        ior("-a DUMMY -w -z -b %s -t 8 -O stoneWallingWearOutIterations=10" % size, np=1, prefix=[sys.executable, "-c", peak], timeout=LIMIT).ok()
        return int((ior.cwd / "peak").read_text().split()[-1])
    small, big = kib("64k"), kib("64g")
    assert big < small + 16384


def test_d44_incompressible_data_are_incompressible(ior):
    """-l i does not compress, differs everywhere, and -l r verifies without -G."""
    ior("-w -k -l i -b 512k -t 64k", np=2).ok()
    data = (ior.cwd / "testFile").read_bytes()
    assert len(zlib.compress(data, 9)) > 0.99 * len(data)
    assert len({data[i:i + 512] for i in range(0, len(data), 512)}) == len(data) // 512
    assert ior("-w -W -R -l r -b 64k -t 8k -i 2 -o other", np=2).ok().warnings == []


def test_d45_misplaced_and_stale_data_are_found(ior):
    """With -l signature pieces of 1 KiB that changed places are found, and data of the last run, with -G or without."""
    line = "-k -l signature -G 5 -b 64k -t 16k"
    ior("-w " + line).ok()
    old = (ior.cwd / "testFile").read_bytes()
    ior("-w " + line).ok()
    good = (ior.cwd / "testFile").read_bytes()
    moved = bytearray(good)
    moved[1024:2048], moved[3072:4096] = good[3072:4096], good[1024:2048]
    (ior.cwd / "testFile").write_bytes(moved)
    assert any("1 misplaced data" in n for n in ior("-R " + line).ok(4).notes)
    (ior.cwd / "testFile").write_bytes(good[:65536] + old[65536:])
    assert any("4 stale data" in n for n in ior("-R " + line).ok(4).notes)


@pytest.mark.parametrize("wrong", [1, 128, 256])
def test_d46_any_number_of_wrong_transfers_has_one_status(ior, wrong):
    """Wrong data end with status 4, and the first ones are named with what was expected and what was there."""
    line = "-k -b %d -t 8 -G " % (8 * wrong)
    ior("-w %s5" % line, np=1).ok()
    run = ior("-R %s6" % line, np=1).ok(4)
    assert "Incorrect data on read (%d errors found)." % wrong in run.warnings
    places = [n for n in run.notes if n.startswith("wrong data: ")]
    assert len(places) == min(wrong, 10) and "byte 0:" in places[0]
    assert "expected 0x%016x, found 0x%016x" % (6, 5) in places[0]


@pytest.mark.parametrize("args", ["", "-c", "-F"])
def test_d47_strided_segments_have_their_own_data(ior, need_backend, args):
    """A strided data type writes and reads each segment's own data, for other tasks' data, too."""
    need_backend("MPIIO")
    what = dict(block=24576, size=8192, segments=4, tasks=3, packet="o", private="-F" in args)
    run = ior("-a MPIIO --mpiio.useFileView --mpiio.useStridedDatatype -w -W -R -C -k -G 7 -l o -b 24576 -t 8192 -s 4 " + args, np=3).ok()
    assert run.warnings == []
    got = {p.name[8:]: p.read_bytes() for p in ior.cwd.iterdir()}
    assert got == model.files(**what)


@pytest.mark.parametrize("api, args", [("MPIIO", "--mpiio.preallocate"), ("MMAP", "")])
def test_d48_private_files_have_the_size_of_one_task(ior, need_backend, api, args):
    """Preallocation and mapping give each file its own share and not that of all."""
    need_backend(api)
    run = ior("-a %s %s -F -w -R -k -b 64k -t 8k -s 2 -G 1" % (api, args), np=3).ok()
    assert [p.stat().st_size for p in sorted(ior.cwd.iterdir())] == [131072] * 3 and run.warnings == []


@pytest.mark.parametrize("blocks", ["-b 8k -t 8k -s 5", "-b 24k -t 8k -s 4", "-b 40k -t 8k -s 3"])
@pytest.mark.parametrize("packet", "oir")
def test_d49_hdf5_checks_odd_numbers_of_transfers(ior, need_backend, blocks, packet):
    """Checked reads of several datasets find no errors where there are none."""
    need_backend("HDF5")
    assert ior("-a HDF5 -w -W -R -l %s %s" % (packet, blocks)).ok().warnings == []


def test_d49_a_deadline_ends_hdf5_with_several_datasets(ior, need_backend):
    """Tasks that stop in different datasets do not wait for each other."""
    need_backend("HDF5")
    for args in ("", "-F", "-c"):
        run = ior("-a HDF5 -w -r -D 1 -b 8k -t 8k -s 300 -O interIODelay=10000 " + args, timeout=40).ok()
        assert run.accesses() == ["write", "read"]


@pytest.mark.parametrize("args", ["-i 2", "-C", "-c -C -i 2", "-s 3 -C"])
def test_d49_ncmpi_reads_again_and_reads_what_others_wrote(ior, need_backend, args):
    """Checked reads with repetitions and with another task's data are right."""
    need_backend("NCMPI")
    run = ior("-a NCMPI -w -W -R -G 4 -l o -b 16k -t 4k " + args, np=3).ok()
    assert not [w for w in run.warnings if "Incorrect" in w], run


@pytest.mark.parametrize("api", ["POSIX", "AIO", "MPIIO", "HDF5", "NCMPI", "MMAP", "DUMMY"])
def test_d50_a_dry_run_works_with(ior, need_backend, api):
    """Everything but the I/O happens, with checks and without an error."""
    need_backend(api)
    run = ior("-a %s --dryRun -v -w -W -r -R -e -i 2 -b 16k -t 8k -o nowhere/f" % api).ok()
    assert [a for a in run.accesses() if a != "remove"] == ["write", "read"] * 2 and ior.files() == [] and run.warnings == []


@pytest.mark.parametrize("args", ["-r", "-R -G 1", "-W -G 1", "-r -F", "-r -W -G 1"])
def test_d51_a_run_that_only_reads_deletes_nothing(ior, args):
    """Files of another run stay, nobody says that they will be deleted, and a note says that they were kept."""
    ior("-w -k -G 1 -b 16k -t 8k").ok()
    ior("-w -k -G 1 -F -b 16k -t 8k").ok()
    before = ior.files()
    run = ior("-i 2 -b 16k -t 8k " + args).ok()
    assert ior.files() == before and run.warnings == [] and len([n for n in run.notes if "kept" in n]) == 1


@pytest.mark.parametrize("api", ["POSIX", "AIO", "MPIIO", "MPIIO -c", "HDF5", "NCMPI", "MMAP", "POSIX -F", "MPIIO -F"])
def test_d52_an_existing_file_is_overwritten_in_place(ior, need_backend, api):
    """-E keeps what lies after the new data, and a longer old file is no reason for a warning about sizes."""
    need_backend(api.split()[0])
    ior("-a %s -w -k -G 1 -l o -b 64k -t 8k -s 3" % api).ok()
    files = sorted(ior.cwd.iterdir())
    before = [(p.stat().st_ino, p.stat().st_size) for p in files]
    old = files[0].read_bytes()
    run = ior("-a %s -w -E -k -G 2 -l o -b 64k -t 8k -s 1" % api).ok()
    assert [(p.stat().st_ino, p.stat().st_size) for p in files] == before, run
    new = files[0].read_bytes()
    assert new != old and new[-65536:] == old[-65536:]
    assert [w for w in run.warnings if "aggregate" in w] == [] and any("overwritten" in w for w in run.warnings)


# ---- robustness ----

@pytest.mark.parametrize("code, status", [("EINTR", 0), ("EAGAIN", 0), ("EIO", 3), ("ENOSPC", 3), ("EDQUOT", 3)])
def test_d60_a_failing_write_is_tried_again_or_reported(ior, code, status):
    """What is worth another try gets one; the rest is an error with its reason."""
    run = ior("-a DUMMY -w -b 32k -t 8k --dummy.fail-at=2 --dummy.fail-errno=" + code, timeout=LIMIT)
    if status == 0:
        conftest.sound(run.ok(), 65536)
    else:
        run.fails(3, os.strerror(getattr(errno, code)))


# HDF5 on a full file system stands in test_faults.py: its way out needs memory files, which this limit is for, too
@pytest.mark.parametrize("api", ["POSIX", "AIO", "MPIIO", "MPIIO -c", "MMAP", "NCMPI"])
def test_d61_a_write_without_progress_is_one_error(ior, need_backend, api):
    """A file that cannot grow ends the run at once and with one line."""
    need_backend(api.split()[0])
    limit = ["sh", "-c", 'trap "" XFSZ; ulimit -f 128; exec "$0" "$@"']
    run = ior("-a %s -w -b 256k -t 64k" % api, prefix=limit, env=conftest.SMALL_FILES, timeout=LIMIT).fails(3)
    assert run.stderr.count("testFile") == 1 and "Finished" in run.stdout and ior.files() == []


@pytest.mark.parametrize("text", ["", "abc", "12 34", "-5", "\0\1\2", "99999999999999999999", "0x10"])
def test_d62_a_status_file_that_is_no_number_is_an_error(ior, text):
    """All tasks end with a line that names the file."""
    ior("-w -k -F -b 8k -t 8k").ok()
    (ior.cwd / "st").write_text(text)
    ior("-r -k -F -b 8k -t 8k -O stoneWallingStatusFile=st", np=2, timeout=LIMIT).fails(1, "status file 'st'")


def test_d62_a_status_file_carries_the_count_to_the_run_that_reads(ior):
    """What wear-out reached is what is read; a missing file is a warning."""
    line = "-a DUMMY -F -k -b 8k -t 8k -s 200 --dummy.delay-xfer=20000 -O stoneWallingStatusFile=st"
    run = ior("-w -D 1 -O stoneWallingWearOut=1 " + line).ok()
    count = int((ior.cwd / "st").read_text())
    assert re.search(r"accessed min: \d+ max: %d " % count, run.stdout) and 0 < count < 200
    p = phases(ior("-r %s --report=text:-,json:r.json" % line.replace("20000", "0")).ok())[0]
    assert p["stepsMin"] == p["stepsMax"] == count
    (ior.cwd / "st").unlink()
    run = ior("-r " + line.replace("20000", "0")).ok()
    assert len([w for w in run.warnings if "Could not read back the stonewalling status" in w]) == 1


def test_d62_a_write_phase_that_fails_leaves_no_old_status_file(ior):
    """Its number was true for files that are gone."""
    (ior.cwd / "st").write_text("7")
    ior("-a DUMMY -w -k -F -b 16k -t 8k -D 60 -O stoneWallingWearOut=1,stoneWallingStatusFile=st --dummy.fail-at=1").fails(3, "rank 0")
    assert not (ior.cwd / "st").exists()


def test_d63_an_error_leaves_what_was_measured(ior):
    """Repetitions that were finished are in the table and in the summary."""
    run = ior("-a DUMMY -w -r -i 4 -b 16k -t 8k --dummy.fail-at=9 --dummy.fail-rank=1").fails(3, "rank 1")
    assert [(row["access"], row["iter"]) for row in run.rows] == [("write", 0), ("read", 0), ("write", 1), ("read", 1)]
    assert [row["reps"] for row in run.summary] == [2, 2] and "Finished" in run.stdout


def test_d64_messages_are_whole_lines_said_once(ior):
    """With many tasks each warning is there once, as one line, and not among the results."""
    (ior.cwd / "testFile").write_bytes(bytes(10 ** 6))
    run = ior("-w -r -N 9 -b 16k -t 8k -i 2", np=6).ok()
    assert len(run.warnings) == len(set(run.warnings)) == 2 and all(re.match(r"^(WARNING|NOTE): \S", line) for line in run.messages)
    assert "WARNING" not in run.stdout
    run = ior("-a DUMMY -w -b 16k -t 8k --dummy.fail-at=1", np=6).fails(3)
    assert run.messages == ["ERROR: " + run.errors[0]]


# ---- output ----

def test_d70_json_is_valid_and_precise(ior):
    """Quotes, times of nanoseconds, missing numbers, wear-out and -v leave one valid document with the number of the repetition."""
    run = ior(["-a", "DUMMY", "-vvv", "-w", "-r", "-i", "2", "-D", "1", "-b", "8k", "-t", "8k", "-o", "./a\"b\\c",
               "-O", "summaryFormat=JSON,summaryAlways=1,stoneWallingWearOut=1,debug=x"]).ok()
    data = document(run)
    rows = [r for r in data["tests"][0]["Results"] if r["access"] != "remove"]
    assert data["tests"][0]["Path"] == "./a\"b\\c" and [r["access"] for r in rows] == ["write", "read"] * 2
    assert 0 < rows[0]["wrRdTime"] != round(rows[0]["wrRdTime"], 4)
    assert all(row["StoneWallTime"] > 0 and row["StoneWallbwMeanMIB"] > 0 for row in data["summary"])
    none = document(ior("-a DUMMY -w -r -s 0 -O summaryFormat=JSON").ok())
    assert none["tests"][0]["Results"][0]["bwMiB"] is None and none["summary"][0]["bwMaxMIB"] is None


@pytest.mark.parametrize("packet", ["timestamp", "offset", "incompressible", "random", "signature"])
def test_d71_parameters_show_the_letter_of_the_packet(ior, packet):
    """The letter is the one that -l takes, and nothing is (null)."""
    run = ior("-a DUMMY -vvv -w -b 8k -t 8k -l %s" % packet, np=1).ok()
    assert re.search(r"^data packet type +: %s$" % packet[0], run.stdout, re.M) and "(null)" not in run.stdout


def test_d71_the_full_csv_says_what_each_line_is_of(ior):
    """One heading, and test, repetition and operation in every line; the short form has one heading, too."""
    (ior.cwd / "s").write_text("IOR START\napi=DUMMY\nrepetitions=2\nRUN\nRUN\nIOR STOP\n")
    lines = ior("-f s --report=csv:-").ok().stdout.strip().split("\n")
    assert [tuple(line.split(",")[:3]) for line in lines[1:]] == [(t, i, op) for t in "01" for i in "01" for op in ("write", "read")]
    lines = ior("-f s -O summaryFormat=CSV").ok().stdout.strip().split("\n")
    assert len(lines) == 9 and sum(line.startswith("access,") for line in lines) == 1


def test_d72_high_verbosity_does_not_wait(ior):
    """No level sleeps, and none writes into the tables of results."""
    for level in (3, 4, 5):
        run = ior("-a DUMMY -w -r -b 8k -t 8k -v=%d -O summaryFormat=JSON" % level, np=2).ok()
        data = document(run)
        spent = [time.mktime(time.strptime(data[key])) for key in ("Began", "Finished")]
        timely(spent[1] - spent[0] < 4, run)
    run = ior("-w -R -vvvvv -b 8k -t 8k", np=2).ok()
    assert "data comparison" not in run.stdout.lower() and len([r for r in run.rows if r["access"] != "remove"]) == 2


def test_d73_the_size_of_the_file_system_is_right(ior):
    """Space is counted in fragments."""
    st = os.statvfs(ior.cwd)
    data = document(ior("-w -b 8k -t 8k -O summaryFormat=JSON", np=1).ok())["tests"][0]
    size = st.f_blocks * st.f_frsize / 2 ** 30
    shown = float(data["Capacity"].split()[0]) * (1024 if data["Capacity"].endswith("TiB") else 1)
    assert abs(shown - size) <= 0.051 * (1024 if data["Capacity"].endswith("TiB") else 1)
    assert abs(float(data["Used Capacity"][:-1]) - 100 * (1 - st.f_bfree / st.f_blocks)) < 0.5


def test_d73_a_file_system_that_counts_no_inodes_is_shown(ior):
    """No inodes are no division by zero."""
    if os.geteuid() != 0:
        pytest.skip("mounting a tmpfs needs root")
    place = ior.cwd / "m"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m,nr_inodes=0", "tmpfs", str(place)], capture_output=True).returncode:
        pytest.skip("no tmpfs can be mounted here")
    try:
        run = ior("-w -b 8k -t 8k -o m/f", np=1).ok()
        assert re.search(r"Inodes: 0\.0 Mi   Used Inodes: 0\.0%$", run.stdout, re.M) and "nan" not in run.stdout
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)
