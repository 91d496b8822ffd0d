# SPDX-License-Identifier: BSD-3-Clause
"""What parsers read of mdtest: headings, columns, trace lines.

WEIR_UPDATE_GOLDEN=1 writes the golden files anew; read the difference.
"""
import csv
import json
import re

import pytest

from mdtest_support import OPERATIONS, PHASES, mdtest  # noqa: F401
from shape import assert_golden

QUICK = "-n 4"


def shape(text, run):
    """Numbers, dates and names of this machine are taken out; widths of columns stay."""
    out = []
    for line in text.replace(str(run.cwd), "CWD").split("\n"):
        line = re.sub(r"^(-- (?:started|finished) at ).* --$", r"\1<date> --", line)
        line = re.sub(r"^mdtest-4\S+", "mdtest-<version>", line)
        line = re.sub(r"^Command line used: \S+mdtest", "Command line used: mdtest", line)
        line = re.sub(r"[0-9.]+ (GiB|TiB)   Used FS: [0-9.]+%   Inodes: [0-9.]+ Mi   Used Inodes: [0-9.-]+%",
                      r"# \1   Used FS: #%   Inodes: # Mi   Used Inodes: #%", line)
        line = re.sub(r"^(Nodemap: )1+$", r"\1<ones>", line)
        line = re.sub(r"(?<= )Line +[0-9]+", "Line #", line)
        if re.match(r"^   (Directory|File|Tree) \w+ ", line):
            line = re.sub(r" +[1-9][0-9]*\.[0-9]{3}| +0\.[0-9]{2}[0-9]", lambda m: " " * (len(m.group()) - 1) + "#", line)
        if re.match(r"^Test ", line):
            line = re.sub(r"[0-9]\.[0-9]{6}e[+-][0-9]{2}", "#", line)
        out.append(line)
    return "\n".join(out)


CASES = [
    ("mdtest-default", 2, "-n 10"),
    ("mdtest-files-shift-unique-P", 2, "-n 5 -F -u -N 1 -P -i 3"),
    ("mdtest-times-only", 2, "-n 10 -Z -i 2"),
    ("mdtest-rank-statistics", 2, "-n 20 -F --showRankStatistics -i 2 -P"),
    ("mdtest-all-procs", 2, "-n 20 -D --print-all-procs -i 2 -P"),
    ("mdtest-shared", 2, "-n 3 -S"),
    ("mdtest-text-3.3", 2, "-n 10 -P -i 2 --report=text-3.3:-"),
    ("mdtest-three-counts", 3, "-n 2 -F -C -r -f 1 -l 3 -s 2"),
]


@pytest.mark.parametrize("name, np, args", CASES, ids=[case[0] for case in CASES])
def test_the_output_has_the_shape_of_the_golden_file(mdtest, name, np, args):
    run = mdtest(args, np=np).ok()
    assert_golden(name, shape(run.stdout, run))


PATTERNS = [
    ("mdtest-pattern-basic0", 1, "-a POSIX", None),
    ("mdtest-pattern-basic1", 2, "-a POSIX -W 2", None),
    ("mdtest-pattern-basic2", 1, "-C -T -r -F -I 1 -z 1 -b 1 -L -u", None),
    ("mdtest-pattern-basic3", 1, "-C -T -I 1 -z 1 -b 1 -u", None),
    ("mdtest-pattern-advanced3", 2, "-I 20 -a DUMMY -W 1 -x stonewall-md.log -C", None),
    ("mdtest-pattern-advanced4", 2, "-I 20 -a DUMMY -x stonewall-md.log -T -v", "20"),
    ("mdtest-pattern-advanced5", 2, "-I 20 -a DUMMY -x stonewall-md.log -D -v", "20"),
]


@pytest.mark.parametrize("name, np, args, status", PATTERNS, ids=[case[0] for case in PATTERNS])
def test_the_trace_at_verbosity_4_is_the_known_pattern(mdtest, name, np, args, status):
    if status:
        (mdtest.cwd / "stonewall-md.log").write_text(status)
    run = mdtest(args + " -V=4", np=np).ok()
    lines = [re.sub("Line *[0-9]*", "", line, count=1) for line in run.stdout.split("\n") if "V-3" in line]
    got = "\n".join(lines).replace(str(mdtest.dir), "/dev/shm/mdest") + "\n"
    assert_golden(name, got, fixed=True)


TRACES = [
    ("mdtest-trace-unique", 2, "-b 2 -z 1 -I 1 -u -V=3"),
    ("mdtest-trace-collective", 2, "-n 2 -c -V=3"),
]


@pytest.mark.parametrize("name, np, args", TRACES, ids=[case[0] for case in TRACES])
def test_the_trace_of_all_levels_is_the_known_one(mdtest, name, np, args):
    run = mdtest(args, np=np).ok()
    lines = [re.sub("Line *[0-9]*", "", line, count=1) for line in run.stdout.split("\n") if line.startswith("V-")]
    lines = [re.sub(r" +[0-9]+[.][0-9]{3} sec, +[0-9.]+ ops", " # sec, # ops", line) for line in lines]
    got = "\n".join(lines).replace(str(mdtest.dir), "DIR") + "\n"
    assert_golden(name, got)


def test_a_stonewall_is_told_at_verbosity_1(mdtest):
    args = "-a DUMMY --dummy.delay-create=20000 --dummy.delay-only-rank0 -n 100 -F -C -W 1 -x f -v"
    run = mdtest(args).ok()
    assert "stonewall hit with " in run.stdout and re.search("stonewall: [0-9]+ of 100", run.stdout)
    assert "File creation (stonewall): " in run.stdout
    run = mdtest("-a DUMMY -n 1000 -F -T -x f -v").ok()
    assert "Read stonewall status; items: %s\n" % (mdtest.cwd / "f").read_text() in run.stdout


def test_made_up_nodes_are_told(mdtest):
    run = mdtest("-n 2 -F -N 1", np=4, env={"IOR_FAKE_NODES": "2", "IOR_FAKE_TASK_PER_NODES": "2"}).ok()
    assert "Fake number of node: using 2\n" in run.stdout and "Fake tasks per node: using 2\n" in run.stdout
    assert "on 2 node(s)" in run.stdout and "Shifting ranks by 2 for each phase" in run.stdout


def test_numbers_end_at_the_columns_that_parsers_cut(mdtest):
    run = mdtest(QUICK).ok()
    rows = [line for line in run.stdout.split("\n") if re.match("^   (Directory|File|Tree) ", line)]
    assert [line[3:21].rstrip() for line in rows] == OPERATIONS
    for line in rows:
        assert len(line) == 85
        assert [m.end() for m in re.finditer(r"[0-9]+\.[0-9]{3}", line)] == [40, 55, 70, 85]


@pytest.mark.parametrize("args, kinds", [("-F", "FT"), ("-D", "DT"), ("-D -F", "DFT"), ("", "DFT"), ("-S -D", "T"), ("-S", "FT")])
def test_the_table_has_the_rows_of_the_kinds_that_are_tested(mdtest, args, kinds):
    table = mdtest(QUICK + " " + args).ok().table()
    assert list(table) == [name for kind in kinds for name in PHASES[kind]]


@pytest.mark.parametrize("flag, rows", [("-C", ["Directory creation", "File creation", "Tree creation"]),
                                        ("-T", ["Directory stat", "File stat"]), ("-E", ["File read"]), ("-U", ["Directory rename"]),
                                        ("-r", ["Directory removal", "File removal", "Tree removal"])])
def test_only_what_was_asked_for_looks_measured(mdtest, flag, rows):
    if flag != "-C":
        mdtest(QUICK + " -C").ok()
        if flag == "-r":
            mdtest(QUICK + " -D -r", np=2)  # files keep the tree: see below
            mdtest("--cleanup {d}", np=1).ok()
            mdtest(QUICK + " -C -F").ok()
            assert mdtest(QUICK + " -r -F").ok().measured() == rows[1:]
            return
    assert mdtest(QUICK + " " + flag).ok().measured() == rows


@pytest.mark.parametrize("args", ["-n 100 -F -i 10 -C -T -r -u -d {d}", "-n 100 -D -i 10 -C -T -r -u -d {d}"])
def test_the_runs_of_a_site_work_as_typed(mdtest, args):
    run = mdtest(args).ok()
    assert "(of 10 iterations)" in run.stdout
    assert all(rate > 0 for name, rate in run.rates().items() if name.split()[1] in ("creation", "stat", "removal"))
    mdtest.empty()


def test_without_a_directory_the_tree_is_below_out(mdtest):
    run = mdtest("-n 3 -F -C -d ./out").ok()
    assert "Path                : ./out" in run.stdout
    assert (mdtest.cwd / "out/test-dir.0-0/mdtest_tree.0/file.mdtest.1.2").exists()


def test_results_are_on_stdout_and_messages_on_stderr(mdtest):
    run = mdtest(QUICK).ok()
    assert "WARNING" not in run.stdout
    assert run.warnings == ["Read bytes is 0, thus, a read test will actually just open/close"]


def test_a_long_command_line_is_cut(mdtest):
    run = mdtest("-n 1 -F -C --run-cmd-after-phase='true %s'" % ("x" * 2000), np=1).ok()
    line, = [line for line in run.stdout.split("\n") if line.startswith("Command line used")]
    assert len(line) == 1023


def test_the_csv_of_ranks_has_the_known_columns(mdtest):
    mdtest("-n 5 -F -C -r -i 2 --saveRankPerformanceDetails=r.csv").ok()
    text = (mdtest.cwd / "r.csv").read_text().split("\n")
    names = ["Directory creation", "Directory stat", "Directory read", "Directory rename", "Directory removal", "File creation",
             "File stat", "File read", "File removal", "Tree creation", "Tree removal"]
    assert text[0] == "rank,items," + ",".join("rate-%s,time-%s" % (n, n) for n in names)
    rows = list(csv.reader(text[1:-1]))
    assert [row[0] for row in rows] == ["all", "0", "1"] * 2
    assert rows[0][1] == "5" and rows[1][1] == ""
    assert rows[0][2] == "" and rows[0][14] == ""
    assert re.match(r"^[0-9]\.[0-9]{10}e[+-][0-9]{2}$", rows[0][12])
    assert abs(float(rows[0][12]) * float(rows[0][13]) - 10) < 1e-6
    assert len(rows[1]) == 2 + 2 * 9 and len(rows[0]) == 2 + 2 * 11


def test_the_csv_of_operations_has_a_line_for_each(mdtest):
    mdtest("-n 3 -F -i 2 -w 16 --savePerOpDataCSV=p").ok()
    files = sorted(p.name for p in mdtest.cwd.glob("p-*.csv"))
    assert files == ["p-File %s-0000%d.csv" % (n, r) for n in ("creation", "read", "removal", "stat") for r in (0, 1)]
    rows = list(csv.DictReader(open(mdtest.cwd / "p-File creation-00001.csv")))
    assert len(rows) == 6 and [row["iter"] for row in rows] == ["0"] * 3 + ["1"] * 3
    assert list(rows[0])[:3] == ["time", "runtime", "tp"]
    assert all(abs(float(r["tp"]) * float(r["runtime"]) - 16) < 0.01 for r in rows)


def test_the_json_document_says_it_all(mdtest):
    run = mdtest("-n 20 -w 8 -e 8 -y -i 2 --report=text:-,json:r.json,csv:r.csv").ok()
    assert run.table()
    doc = json.load(open(mdtest.cwd / "r.json"))
    test, = doc["tests"]
    assert doc["program"] == "mdtest" and doc["schema_version"] >= 1
    for key in ("Version", "Began", "Command line", "Machine", "provenance", "summary", "Finished"):
        assert doc[key]  # the frame is that of ior
    assert doc["status"] == 0 and doc["error"] == "" and len(doc["summary"]) == 10
    assert test["tasks"] == 2 and test["itemsPerTask"] == 20 and test["Parameters"]["items"] == 20
    assert len(test["Results"]) == 20 and len(test["phases"]) == 20
    for row in test["Results"]:
        assert row["rate"] > 0 and 0 < row["rankRateMin"] <= row["rankRateMean"] * 1.0001 <= row["rankRateMax"] * 1.0002, row
        assert row["items"] == (1 if row["operation"].startswith("Tree") else 40)
        assert abs(row["rate"] * row["time"] - row["items"]) < 1e-6 * row["items"]
    calls = {(row["operation"], row["call"]) for row in test["latency"]}
    for want in [("Directory creation", "mkdir"), ("Directory stat", "stat"), ("Directory rename", "rename"), ("Directory removal", "rmdir"),
                 ("File creation", "create"), ("File creation", "open"), ("File creation", "write"), ("File creation", "fsync"),
                 ("File creation", "close"), ("File stat", "stat"), ("File read", "read"), ("File removal", "remove")]:
        assert want in calls
    for row in test["latency"]:
        assert 0 < row["p50"] <= row["p90"] <= row["p99"] <= row["p999"] <= row["max"]
        assert row["count"] == (1 if row["operation"].startswith("Tree") else 40)
    rows = list(csv.DictReader(open(mdtest.cwd / "r.csv")))
    assert len(rows) == 20 and rows[0]["operation"] == "tree create"


def test_latencies_stand_behind_the_tables(mdtest):
    run = mdtest("-n 20 -F --latency").ok()
    tail = run.stdout.split("\nLATENCY (in us): (of 1 iterations)\n")[1].split("\n")
    rows = [line for line in tail if line.startswith("   File creation")]
    assert [row[25:34].strip() for row in rows] == ["create", "open", "close"]
    assert all(int(row.split()[3]) == 40 for row in rows)


def test_help_and_version_need_no_launcher(mdtest):
    run = mdtest("--help=all", np=None).ok()
    for word in ("-n", "--print-all-procs", "--saveRankPerformanceDetails", "--cleanup", "--posix.odirect"):
        assert word in run.stdout
    assert "mdtest" in mdtest("--version", np=None).ok().stdout


def test_all_processes_are_printed_for_the_iterations_that_there_were(mdtest):
    """Memory and lines grow with what is done, not with what was asked for."""
    run = mdtest("-n 1 -a DUMMY -F -i 2000000000 --print-all-procs --until=99 --until-max=5", np=None).ok()
    assert 2 <= run.stdout.count("\niteration: ") <= 5
