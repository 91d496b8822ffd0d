# SPDX-License-Identifier: BSD-3-Clause
"""md-workbench: the shape of its lines, names and positions of objects, data, errors, options.

WEIR_UPDATE_GOLDEN=1 writes the golden files anew; read the difference.
"""
import json
import os
import re
import signal

import pytest

from conftest import PEAK, timely, wait_until
from mdw_support import SMALL, field, lines, mdw  # noqa: F401
from shape import assert_golden


def shape(text, run):
    """Times, rates and places are taken out; counts stay."""
    text = text.replace(str(run.cwd), "CWD")
    for pattern, word in ((r"(?m)^Args: \S+md-workbench", "Args: md-workbench"), (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "<date>"),
                          (r"\(version: \S+\)", "(version: #)"), (r"(?m)^(Nodemap: )1+$", r"\1<ones>"),
                          (r"\d\.\d{4}e[-+]\d\d", "#"), (r"\b(max|min|balance|stddev|tp):\d+\.\d+", r"\1:#"), (r"mean: \d+\.\d+", "mean: #"),
                          (r"rate:\d+\.(\d+)", lambda m: "rate:#." + "#" * len(m.group(1))), (r"runtime: \d+s", "runtime: #s"),
                          (r"\d+\.\d{3}s\t\d+\.\d{3}s\t\d+\.\d\d MiB/s", "#s\t#s\t# MiB/s")):
        text = re.sub(pattern, word, text)
    return text


CASES = [
    ("md-workbench-default", 2, "-I 3 -P 4 -D 2 -R 2 -G 10"),
    ("md-workbench-process-reports", 2, "-I 3 -P 4 -D 2 -R 1 -G 10 --process-reports -X -q"),
    ("md-workbench-detailed", 2, "-I 3 -P 4 -D 2 -R 1 -G 10 --print-detailed-stats"),
    ("md-workbench-wait", 1, "-I 2 -P 2 -D 1 -R 1 -G 10 -t=0.5"),
    ("md-workbench-adaptive", 1, "-I 2 -P 2 -D 1 -R 1 -G 10 -T -q"),
    ("md-workbench-num-above-precreate", 1, "-I 4 -P 2 -D 1 -R 1 -G 10"),
    ("md-workbench-verbose-2", 2, "-I 1 -P 1 -D 2 -R 1 -G 10 -v -v -S 16"),
]


@pytest.mark.parametrize("name, np, args", CASES, ids=[case[0] for case in CASES])
def test_the_output_has_the_shape_of_the_golden_file(mdw, name, np, args):
    run = mdw(args, np=np).ok()
    assert_golden(name, shape(run.stdout, run))
    mdw.clean()


def test_the_phases_can_be_run_one_by_one_and_leave_nothing(mdw):
    args = "-I 2 -P 3 -D 2 -R 2 -G 10 "
    mdw(args + "-1", np=2).ok()
    assert mdw.position() == "pos: 0\n"
    sets = ["0_0", "0_1", "1_0", "1_1"]
    assert mdw.names() == sorted(sets + ["%s/file-%d" % (s, i) for s in sets for i in (0, 1, 2)])
    mdw(args + "-2 -X", np=2).ok()
    assert mdw.position() == "pos: 4\n"
    assert mdw.names() == sorted(sets + ["%s/file-%d" % (s, i) for s in sets for i in (4, 5, 6)])
    mdw(args + "-3", np=2).ok()
    mdw.clean()


def test_read_only_does_not_move_the_position(mdw):
    mdw(SMALL + "-1", np=1).ok()
    before = mdw.names()
    run = mdw(SMALL + "-2 --read-only -X", np=1).ok()
    assert mdw.position() == "pos: 0\n" and mdw.names() == before
    assert "create(" not in lines(run, "benchmark")[0]


def test_a_run_with_cleanup_writes_no_position(mdw):
    mdw(SMALL, np=1).ok()
    assert not (mdw.cwd / "md-workbench.status").exists()


@pytest.mark.parametrize("packet", ["t", "o", "i", "r"])
def test_data_of_other_tasks_verify(mdw, packet):
    run = mdw(SMALL + "-X --dataPacketType=%s -O 1 -S 8205" % packet, np=3).ok()
    assert "(0 errs)" in lines(run, "benchmark")[0]
    mdw.clean()


def test_a_benchmark_goes_on_with_the_seed_of_the_objects_that_it_finds(mdw):
    """Those of the precreate run, and those of a benchmark run after it that checked nothing."""
    common = "-I 2 -P 3 -D 2 -R 1 "
    mdw(common + "-G 77 -1", np=2).ok()
    assert "without -G" not in mdw(common + "-2", np=2).ok().stderr
    run = mdw(common + "-2 -X", np=2).ok()
    assert "file-2': -G 77" in run.stderr


def test_another_seed_is_wrong_data(mdw):
    mdw("-I 2 -P 2 -D 1 -R 1 -G 10 -1", np=2).ok()
    run = mdw("-I 2 -P 2 -D 1 -R 1 -G 11 -2 -X", np=2).fails(4, "wrong data in 4 places")
    line = lines(run, "benchmark")[0]
    assert "objects:0 " in line and "(4 errs!!!)" in line and "verification error" in run.notes[0]
    assert mdw.position() == "pos: 2\n"


def test_missing_objects_are_counted_even_with_v(mdw):
    mdw(SMALL + "-1", np=1).ok()
    run = mdw(SMALL + "-2 -v --start-item=100", np=1).fails(3, "4 operations failed, the first: rank 0 on ", "file-", "No such file or directory")
    assert "Using start position 100" in run.stdout
    line = lines(run, "benchmark")[0]
    assert "objects:0 " in line and "(4 errs!!!)" in line and "read(" not in line


def test_cleanup_finds_what_is_left_after_objects_were_missing(mdw):
    mdw(SMALL + "-1", np=1).ok()
    (mdw.dir / "0_1" / "file-0").unlink()
    mdw(SMALL + "-2", np=1).fails(3)
    mdw(SMALL + "-3", np=1).ok()
    mdw.clean()


def test_an_object_that_cannot_be_removed_is_an_error(mdw):
    mdw(SMALL + "-1", np=1).ok()
    (mdw.dir / "0_0" / "file-1").unlink()
    run = mdw(SMALL + "-3", np=1).fails(3, "1 operation failed, the first: ")
    line = lines(run, "cleanup")[0]
    assert "objects:5 " in line and "dsets: 2 " in line and "(1 errs!!!)" in line


def test_a_set_that_is_not_empty_is_an_error_and_not_counted(mdw):
    mdw(SMALL + "-1", np=1).ok()
    (mdw.dir / "0_0" / "mine").write_text("")
    run = mdw(SMALL + "-3", np=1).fails(3)
    assert "dsets: 1 " in lines(run, "cleanup")[0] and mdw.names() == ["0_0", "0_0/mine"]


def test_start_item_makes_all_objects_from_there(mdw):
    run = mdw(SMALL + "-1 --start-item 7", np=1).ok()
    assert "objects:6 " in lines(run, "precreate")[0]
    assert mdw.names() == ["0_0", "0_0/file-7", "0_0/file-8", "0_0/file-9", "0_1", "0_1/file-7", "0_1/file-8", "0_1/file-9"]
    assert mdw.position() == "pos: 7\n"


def test_an_attached_value_is_only_a_value(mdw):
    run = mdw("-I 2 -P12 -D 1 -R 1", np=1).ok()
    assert "objects:12 " in lines(run, "precreate")[0] and len(lines(run, "cleanup")) == 1
    mdw.clean()


def far(run):
    """A task can run ahead of the one whose objects it reads: what is not there yet is counted, and no failure of the test."""
    assert run.returncode in (0, 3), run
    return run


def test_after_a_stonewall_without_wear_out_nothing_is_left(mdw):
    run = far(mdw("-I 2000000000 -P 3 -D 2 -R 1 -w 1 -X", np=2))
    assert re.search(r"stonewall-iter:[1-9]", lines(run, "benchmark")[0])
    assert "objects:12 dsets: 4 " in lines(run, "cleanup")[0]
    mdw.clean()


def test_tasks_at_different_objects_are_cleaned_up_by_a_later_run(mdw):
    far(mdw("-I 2000000000 -P 3 -D 2 -R 1 -w 1 -1 -2", np=2))
    run = mdw("-I 1 -P 3 -D 2 -R 1 -3", np=2).ok()
    assert "objects:12 dsets: 4 " in lines(run, "cleanup")[0]
    mdw.clean()


def test_wear_out_brings_all_tasks_to_the_same_step(mdw):
    run = mdw("-I 2000000000 -P 3 -D 2 -R 1 -w 1 -W -1 -2 -O 2", np=2).ok()  # each task reads its own
    n = int(re.search(r"stonewall wear out [0-9.]+s \((\d+) iter\)", run.stdout).group(1))
    line = lines(run, "benchmark")[0]
    assert "stonewall-iter:%d" % n in line and "objects:%d " % (4 * n) in line
    assert mdw.position() == "pos: %d\n" % n


def test_only_the_slow_rank_is_slow(mdw):
    run = mdw("-a DUMMY --dummy.delay-create=20000 --dummy.delay-only-rank0 -I 4 -P 2 -D 1 -R 1 --process-reports", np=2).ok()
    slow, fast = (re.search(r"^%d: benchmark.* create\(([^s]+)s" % k, run.stdout, re.M).group(1) for k in (0, 1))
    assert float(slow) >= 0.02
    timely(float(fast) < 0.02, run)


def test_the_adaptive_mode_runs_many_iterations(mdw):
    run = mdw("-I 1 -P 1 -D 1 -R 14 -T -q", np=1).ok()
    assert len(lines(run, "benchmark")) == 8 * 14


def test_quantiles_ascend(mdw):
    run = mdw("-I 2 -P 2 -D 1 -R 1", np=1).ok()
    for cell in re.findall(r"\w+\(([^)]+s)\)", run.stdout):
        values = [float(v.rstrip("s")) for v in cell.split(", ")]
        assert len(values) == 7 and values == sorted(values)


@pytest.mark.parametrize("every", [False, True], ids=["rank 0", "all ranks"])
def test_latency_files_have_a_row_for_each_operation(mdw, every):
    mdw("-I 2 -P 3 -D 1 -R 2 -q -L=lat" + (" --latency-all" if every else ""), np=2).ok()
    tail, ranks = ("-all.csv", 2) if every else (".csv", 1)
    names = ["lat-0.00-0-precreate", "lat-0.00-2-cleanup"]
    names += ["lat-0.00-%d-%s" % (i, op) for i in (0, 1) for op in ("read", "stat", "create", "delete")]
    assert sorted(p.name for p in mdw.cwd.glob("lat*")) == sorted(n + tail for n in names)
    for name in names:
        rows = (mdw.cwd / (name + tail)).read_text().split("\n")
        assert rows[0] == "time,runtime" and rows[-1] == ""
        assert len(rows) - 2 == ranks * (2 if name[-1] in "dte" and "precreate" not in name else 3)
        assert all(re.match(r"\d+\.\d{7},\d\.\d{4}e[-+]\d\d$", row) for row in rows[1:-1])


def test_the_json_report_has_the_counts_and_quartiles(mdw):
    mdw(SMALL + "--report=json:out.json", np=2).ok()
    doc = json.loads((mdw.cwd / "out.json").read_text())
    rows = doc["tests"][0]["Results"]
    assert doc["program"] == "md-workbench" and doc["status"] == 0
    assert [(r["phase"], r["objects"], r["errors"]) for r in rows] == [("precreate", 12, 0), ("benchmark", 8, 0), ("cleanup", 12, 0)]
    assert rows[1]["readQ1"] <= rows[1]["readMedian"] <= rows[1]["readQ3"] and rows[0]["readMedian"] is None


def test_detailed_errors_do_not_replace_the_counts(mdw):
    mdw(SMALL + "-1", np=1).ok()
    (mdw.dir / "0_0" / "file-1").unlink()
    run = mdw(SMALL + "-3 --print-detailed-stats -q", np=1).fails(3)
    assert "cleanup \t0\t2\t0\t0\t0\t5\t" in run.stdout and "\ncleanup err\t0\t0\t0\t0\t0\t1\n" in run.stdout


def test_sets_of_an_earlier_run_end_the_run_and_stay(mdw):
    mdw(SMALL + "-1", np=2).ok()
    before = mdw.names()
    run = mdw(SMALL, np=2).fails(3, "create directory", "File exists")
    assert "Unable to create test directory" in run.warnings[0] and mdw.names() == before


def test_precreate_errors_can_be_ignored(mdw):
    mdw(SMALL + "-1", np=1).ok()
    run = mdw(SMALL + "--ignore-precreate-errors", np=1).fails(3, "2 operations failed")
    assert "dsets: 0 objects:6 " in lines(run, "precreate")[0] and "(2 errs!!!)" in lines(run, "precreate")[0]
    assert "objects:6 dsets: 2 " in lines(run, "cleanup")[0]


def test_a_failure_in_precreate_removes_what_was_made(mdw):
    mdw(SMALL + "-a DUMMY --dummy.store --dummy.fail-at=5 --dummy.fail-op=open --dummy.fail-rank=1", np=2).fails(3, "rank 1")
    mdw.clean()


def test_a_failed_create_in_the_benchmark_is_counted(mdw):
    run = mdw("-I 2 -P 2 -D 1 -R 1 -a DUMMY --dummy.store --dummy.fail-at=4 --dummy.fail-op=open", np=1).fails(3, "1 operation failed, the first: ")
    assert "(1 errs!!!)" in lines(run, "benchmark")[0]
    mdw.clean()


def test_a_missing_run_info_file_is_told(mdw):
    mdw("-2 --run-info-file=missing", np=1).fails(2, "open run-info file", "No such file")


def test_the_run_info_file_is_replaced_not_written_over(mdw):
    """A run that is killed while it writes leaves the old one: the other name of it keeps its text."""
    (mdw.cwd / "info").write_text("pos: 7\n")
    os.link(mdw.cwd / "info", mdw.cwd / "other")
    mdw("-1 -2 -I 1 -P 2 -D 1 -R 1 -a DUMMY --dummy.store --run-info-file=info", np=1).ok()
    assert (mdw.cwd / "info").read_text() == "pos: 1\n" and (mdw.cwd / "other").read_text() == "pos: 7\n"


def test_help_and_version_need_no_launcher(mdw):
    run = mdw("--help=all", np=None).ok()
    assert "--precreate-per-set" in run.stdout and "--run-info-file" in run.stdout
    mdw("--version", np=None).ok()


def test_memory_does_not_grow_with_the_data_sets(mdw):
    few, many = (mdw("-a DUMMY -P 1 -I 1 -R 1 -D %d" % sets, np=None, prefix=PEAK).ok().peak_kib for sets in (1000, 2000000))
    assert many < few * 1.05 + 1024


def seconds_of_work(pid):
    """Of the processor, for a process."""
    with open("/proc/%d/stat" % pid, encoding="utf-8") as f:
        ticks = f.read().rpartition(")")[2].split()[11:13]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


def test_a_signal_is_heard_with_any_number_of_data_sets(mdw):
    """While they are made, which is work without a delay, and within a round over them."""
    for phase in ("-1", "-2 --start-item=1"):
        proc = mdw.start("-a DUMMY --dummy.delay-xfer=1000 -P 1 -D 99999999 " + phase, np=1)
        pids = mdw.wait_for_ranks(proc, 1)
        if phase == "-1":
            wait_until(lambda: seconds_of_work(pids[0]) > 1)
        else:
            mdw.wait_for_delay(proc, pids)
        os.kill(pids[0], signal.SIGINT)
        mdw.finish(proc).ok(6)


def test_files_of_ranks_and_of_operations(mdw):
    """As in ior: a row for each task and phase, and one for each operation under its name."""
    mdw(SMALL + "--savePerOpDataCSV ops --saveRankPerformanceDetails ranks.csv -S 16", np=2).ok()
    head, *rows = (mdw.cwd / "ranks.csv").read_text().splitlines()
    assert head.startswith("access,rank,") and [r.split(",")[:2] for r in rows] == [
        [phase, rank] for phase in ("precreate", "benchmark", "cleanup") for rank in "01"]
    for rank in range(2):
        head, *rows = (mdw.cwd / ("ops-%05d.csv" % rank)).read_text().splitlines()
        names = [r.split(",")[3] for r in rows]
        # 2 sets of 3 objects; 2 steps in each set
        assert head.startswith("time,runtime,tp,access,") and [names.count(n) for n in ("create", "read", "stat", "delete")] == [10, 4, 4, 10]
        assert {r.split(",")[8] for r in rows if r.split(",")[3] == "read"} == {"16"}


def test_a_warning_can_be_an_error(mdw):
    mdw.dir.mkdir()
    mdw(SMALL, np=1).ok()
    mdw.dir.mkdir(exist_ok=True)
    mdw(SMALL + "--warningAsErrors", np=1).fails(1, "Unable to create test directory", "File exists")
