# SPDX-License-Identifier: BSD-3-Clause
"""Files that a run makes beside its data: where they go, when they come, and what is never lost."""
import csv
import json
import re

import pytest

import conftest
from conftest import TELL, timely


def rows_of(path):
    with open(path) as f:
        return list(csv.DictReader(f))


# ---- operations ----

def test_repeated_patterns_are_in_the_file_of_operations(ior):
    run = ior("-a DUMMY -w -t 16 -b 112 -O savePerOpDataCSV=p,minTimeDuration=1,interIODelay=1000", np=2).ok()
    for rank in (0, 1):
        rows = rows_of(ior.cwd / ("p-0-%05d.csv" % rank))
        assert len(rows) > 7 and len(rows) % 7 == 0, run
        assert [int(r["offset"]) for r in rows[:7]] == [int(r["offset"]) for r in rows[7:14]]
    assert not run.warnings


def test_operations_without_room_are_counted_over_all_tasks(ior):
    run = ior("-a DUMMY -w -t 8 -b 8k --timeline-limit=1000 -O savePerOpDataCSV=p --report=text:-,json:r.json", np=2).ok()
    kept = sum(len(rows_of(ior.cwd / ("p-0-%05d.csv" % rank))) for rank in (0, 1))
    done = [p for p in json.loads((ior.cwd / "r.json").read_text())["tests"][0]["phases"]][0]["steps"]
    assert (kept, done) == (2000, 2048) and any("2000 are recorded, 48 are not" in w for w in run.warnings), run


def test_files_of_repetitions_that_were_not_reached_are_not_made(ior):
    ior("-a DUMMY -b 8k -t 8k -i 20 -w -O savePerOpDataCSV=p --dummy.fail-at=1").ok(3)
    assert ior.files() == ["p-0-00000.csv", "p-0-00001.csv"]
    ior("-a DUMMY -b 8k -t 8k -i 3 -w -O savePerOpDataCSV=q").ok()
    assert [f for f in ior.files() if f[0] == "q"] == ["q-%d-%05d.csv" % (i, r) for i in (0, 1, 2) for r in (0, 1)]


def test_tests_of_a_script_add_to_the_same_files_of_operations(ior):
    """The second test has more repetitions and more tasks than the first; nothing of an earlier run stays."""
    for name in ("p-2-00000.csv", "p-0-00001.csv"):
        (ior.cwd / name).write_text("old\n")
    (ior.cwd / "s").write_text("IOR START\napi=DUMMY\nwriteFile=1\nblockSize=8k\ntransferSize=8k\nsavePerOpDataCSV=p\nnumTasks=1\n"
                               "repetitions=2\nRUN\nnumTasks=2\nrepetitions=3\nRUN\nIOR STOP\n")
    ior("-f s", np=2).ok()
    tests = {name: [row["test"] for row in rows_of(ior.cwd / name)] for name in ior.files() if name.startswith("p-")}
    assert tests == {"p-0-00000.csv": ["0", "1"], "p-1-00000.csv": ["0", "1"], "p-2-00000.csv": ["1"],
                     "p-0-00001.csv": ["1"], "p-1-00001.csv": ["1"], "p-2-00001.csv": ["1"]}


def test_operations_before_a_failure_are_kept(ior):
    ior("-a DUMMY -w -r -b 16k -t 8k -O savePerOpDataCSV=p --dummy.fail-at=4", np=None).fails(3)
    assert [r["access"] for r in rows_of(ior.cwd / "p-0-00000.csv")] == ["write"] * 2


def test_a_rank_that_was_stopped_is_shown_with_the_bytes_that_it_moved(ior):
    """And each line of the file of ranks says which repetition it is of."""
    run = ior("-a DUMMY -w -r -i 2 -F -D 1 -b 8k -t 8k -s 100 --dummy.delay-xfer=50000 --dummy.delay-only-rank0 "
              "-O saveRankPerformanceDetailsCSV=ranks.csv" + TELL).ok()
    rows = rows_of(ior.cwd / "ranks.csv")
    assert [(r["access"], r["rank"], r["iter"], r["test"]) for r in rows] == [
        (a, r, i, "0") for i in "01" for a in ("write", "read") for r in "01"]
    for (slow, fast), p in zip(zip(rows[::2], rows[1::2]), run.phases()):
        assert int(slow["bytes"]) + int(fast["bytes"]) == p["bytes"]
        timely(int(slow["bytes"]) < int(fast["bytes"]), run)
        assert abs(float(slow["throughput"]) * float(slow["runtime"]) - int(slow["bytes"])) < 1


# ---- where results go ----

def script(ior, *tests):
    text = "IOR START\napi=DUMMY\nwriteFile=1\nblockSize=8k\ntransferSize=8k\n" + "RUN\n".join(tests) + "RUN\nIOR STOP\n"
    (ior.cwd / "s").write_text(text)


@pytest.mark.parametrize("tests, path", [
    (["", "summaryFormat=JSON\nsummaryFile=B\n"], "B"), (["summaryFile=A\nsummaryFormat=JSON\n", "summaryFile=B\n", ""], "B")])
def test_any_test_of_a_script_says_where_the_results_go(ior, tests, path):
    script(ior, *tests)
    run = ior("-f s").ok()
    assert len(json.loads((ior.cwd / path).read_text())["tests"]) == len(tests) and run.stdout == "", run
    assert not (ior.cwd / "A").exists()


@pytest.mark.parametrize("args, words", [
    ("-o ff -O summaryFile=ff", ["testFile", "summaryFile"]), ("-o ff -O saveRankPerformanceDetailsCSV=ff", ["testFile", "saveRank"]),
    ("-O summaryFile=x,saveRankPerformanceDetailsCSV=x", ["summaryFile", "saveRank"]), ("-o x --report=text:-,json:x", ["--report"]),
    ("-k -D 1 -O stoneWallingWearOut=1,stoneWallingStatusFile=x --report=csv:x", ["--report", "stoneWallingStatusFile"]),
    ("--report=json:a,csv:a", ["two outputs", "'a'"])])
def test_two_files_that_are_one_are_refused_and_nothing_is_touched(ior, args, words):
    (ior.cwd / "ff").write_text("mine")
    (ior.cwd / "x").write_text("mine")
    ior("-b 8k -t 8k -w " + args, np=2).fails(1, *words)
    assert (ior.cwd / "ff").read_text() == (ior.cwd / "x").read_text() == "mine"


def test_a_device_takes_any_number_of_outputs(ior):
    ior("-b 8k -t 8k -w -O summaryFile=/dev/null,saveRankPerformanceDetailsCSV=/dev/null").ok()
    ior("-b 8k -t 8k -w --report=json:/dev/null,csv:/dev/null").ok()


# ---- warnings and dry runs ----

@pytest.mark.parametrize("flags, what", [("-w -R", "read"), ("-w -W -r", "write")])
def test_wrong_data_are_an_error_that_ends_the_run_where_warnings_are_errors(ior, flags, what):
    wrong = "-a DUMMY --dummy.store --dummy.corrupt-at=1 -b 16k -t 8k -i 3 -l o %s" % flags
    run = ior(wrong + " --warningAsErrors --report=text:-,json:r.json", np=2).fails(4, "Incorrect data on " + what, "errors found")
    document = json.loads((ior.cwd / "r.json").read_text())
    assert document["status"] == 4 and "Incorrect data" in document["error"]
    assert {row["iter"] for row in run.rows} <= {0}, run
    assert any("wrong transfers by kind" in n for n in run.notes), run
    kept = ior(wrong, np=2).ok(4)
    assert {row["iter"] for row in kept.rows} == {0, 1, 2} and kept.errors[0].startswith("test 0: wrong data in "), kept


def test_a_dry_run_leaves_the_status_file_alone(ior):
    (ior.cwd / "st").write_text("30")
    ior("-w -k -b 8k -t 4k --dryRun -D 1 -O stoneWallingWearOut=1,stoneWallingStatusFile=st").ok()
    assert (ior.cwd / "st").read_text() == "30"


# ---- nodes ----

def test_a_distance_that_no_task_has_is_found_before_anything_is_written(ior):
    env = {"IOR_FAKE_NODES": "2", "IOR_FAKE_TASK_PER_NODES": "4"}
    run = ior("-b 8k -t 8k -F -w -r -Z", np=4, env=env).fails(1, "-Z", "4 tasks away")
    assert "write" not in run.accesses() and ior.files() == []
    ior("-b 8k -t 8k -F -w -r -Z -O numNodes=4,numTasksOnNode0=4", np=4).fails(1, "-Z", "tasks away")
    ior("-b 8k -t 8k -F -w -r -Z -N 2 -O numNodes=4,numTasksOnNode0=4", np=4).fails(1, "-Z", "tasks away")


def test_nodes_that_the_user_names_are_the_nodes_of_every_figure(ior):
    run = ior("-a DUMMY -w -r -b 8k -t 8k -C -O numNodes=4,numTasksOnNode0=2", np=8).ok()
    assert run.options["nodes"] == "4" and run.options["task shift"] == "2"
    assert not any("own node" in n for n in run.notes), run
    run = ior("-a DUMMY -w -r -b 8k -t 8k -C -Q 8 -O numNodes=4,numTasksOnNode0=2", np=8).ok()
    assert any("4 of 8 tasks" in n for n in run.notes), run
    run = ior("-a DUMMY -w -r -b 8k -t 8k -C -N 2 -O numNodes=2", np=4).ok()  # a share of a task on a node
    assert run.options["tasks"] == "2" and run.options["nodes"] == "2", run
    run = ior("-a DUMMY -w -b 8k -t 8k -M 10m -O numTasksOnNode0=4", np=2).ok()
    assert run.options["memoryPerNode"] == "10 MiB", run


@pytest.mark.parametrize("key", ["numNodes", "numTasksOnNode0"])
def test_no_node_is_no_number_of_nodes(ior, key):
    ior("-O %s=0" % key, np=None).fails(1, key)


# ---- manual pages ----

@pytest.mark.parametrize("program", ["ior", "mdtest", "md-workbench", "h5exerciser"])
def test_manual_pages_are_complete(program):
    page = conftest.BUILD / "doc" / "man" / (program + ".1")
    if not page.exists():
        pytest.skip("this build has no manual pages")
    text = page.read_text()
    assert not re.search(r"@[A-Z_]+@|%s|%d", text) and re.search(r'^\.TH .* "weir \d+\.\d+\.\d+"', text, re.M)


def test_nodes_that_the_user_names_may_go_with_fewer_tasks(ior):
    """Tasks that take no part have no nodes."""
    ior("-a DUMMY -w -r -b 8k -t 8k -N 2 -O numNodes=2", np=4).ok()


# ---- checks ----

def test_a_check_that_only_one_rank_fails_ends_all(ior):
    """The others work in a directory where the two outputs are no files that lose anything."""
    (ior.cwd / "sub").mkdir()
    (ior.cwd / "r").symlink_to("/dev/null")
    move = ["sh", "-c", 'test "${OMPI_COMM_WORLD_RANK-}${PMI_RANK-}" != 0 || cd sub; exec "$@"', "sh"]
    ior("-a DUMMY -w -b 8k -t 8k -k -o r -O summaryFile=r", prefix=move, timeout=20).fails(1, "rank 0", "same file")
