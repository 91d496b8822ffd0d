# SPDX-License-Identifier: BSD-3-Clause
"""Phases of mdtest that options add: lists of directories, renames across directories, links, extended attributes, modes."""
import csv
import errno
import json
import os
import re
import signal
import subprocess

import pytest

import conftest
from mdtest_support import OPERATIONS, mdtest  # noqa: F401

ALL = "--readdir --move --link --symlink --xattr=100 --chmod "
NEW = ["readdir", "readdirplus", "move", "link", "unlink", "symlink", "readlink", "unsymlink", "setxattr", "getxattr", "listxattr", "chmod"]
FILES = ["File " + what for what in NEW]
DIRS = ["Directory " + what for what in NEW if what not in ("link", "unlink")]


def needs_attributes(mdtest):
    try:
        os.setxattr(mdtest.cwd, "user.weir", b"x")
    except OSError as why:
        pytest.skip("no extended attributes in %s: %s" % (mdtest.cwd, why))


def results(mdtest, name="r.json"):
    return json.load(open(mdtest.cwd / name))


def items(mdtest):
    """operation -> items of the first iteration"""
    test, = results(mdtest)["tests"]
    return {row["operation"]: row["items"] for row in test["Results"] if row["iter"] == 0}


# ---- rows ----

def test_rows_stand_after_those_of_the_original_and_only_when_asked_for(mdtest):
    needs_attributes(mdtest)
    run = mdtest("-n 10 -z 1 -b 2 " + ALL).ok()
    assert list(run.table()) == OPERATIONS + DIRS + FILES and all(row[0] > 0 for name, row in run.table().items() if name != "Directory read")
    assert list(mdtest("-n 10 -z 1 -b 2").ok().table()) == OPERATIONS
    assert list(mdtest("-n 10 -F --chmod").ok().table()) == [op for op in OPERATIONS if not op.startswith("Dir")] + ["File chmod"]
    mdtest.empty()


def test_every_form_of_results_has_the_phases(mdtest):
    run = mdtest("-n 10 -F --symlink -i 2 --latency -P --saveRankPerformanceDetails=ranks.csv --print-all-procs --savePerOpDataCSV=ops "
                 "--report=text:-,json:r.json,csv:r.csv,text-3.3:old.txt").ok()
    assert "   File readlink             :" in (mdtest.cwd / "old.txt").read_text()
    assert run.rates()["File readlink"] > 0 and "File readlink" in run.table("SUMMARY time (in ms/op)")
    doc = results(mdtest)
    assert {row["operation"] for row in doc["summary"]} >= {"File symlink", "File readlink", "File unsymlink"}
    test, = doc["tests"]
    assert [row["items"] for row in test["Results"] if row["operation"] == "File readlink"] == [20, 20]
    assert {row["call"] for row in test["latency"] if row["operation"] == "File readlink"} == {"readlink"}
    assert "readlink" in (mdtest.cwd / "r.csv").read_text()
    rows = list(csv.reader(open(mdtest.cwd / "ranks.csv")))
    at = rows[0].index("rate-File readlink")
    assert all(len(row) == len(rows[0]) and float(row[at]) > 0 for row in rows[1:]), rows
    assert list(mdtest.cwd.glob("ops-File readlink*")), mdtest.files()
    assert "Test File readlink" in run.stdout and "File chmod" not in run.stdout


def ends(lines):
    """Where the numbers of each line end."""
    return {tuple(found.end() for found in re.finditer(r"\d+\.\d+", line)) for line in lines}


@pytest.mark.parametrize("table", ["LATENCY", "Intervals", "SUMMARY rate", "SUMMARY time"])
def test_long_names_shift_no_column(mdtest, table):
    needs_attributes(mdtest)
    run = mdtest("-n 5 -z 1 -b 2 -P --latency --interval=1 --showRankStatistics " + ALL).ok()
    lines = [line for line in run.stdout.split("\n" + table, 1)[1].split("\n\n")[0].splitlines()
             if re.match(r" *(file|directory) ", line, re.I) and "Directory read  " not in line]
    assert any(re.match(" *directory readdirplus", line, re.I) for line in lines) and len(lines) > 25, lines
    assert len(ends(lines)) == 1, "\n".join(lines)


def test_with_v_each_phase_has_a_line_with_its_rate(mdtest):
    run = mdtest("-n 5 -z 1 -v --readdir --chmod").ok()
    rates = {name: float(rate) for name, rate in re.findall(r"  (\w+ \w+): +\d+\.\d+ sec, +(\d+\.\d+) ops/sec", run.stdout)}
    assert {"%s %s" % (kind, what) for kind in ("Directory", "File") for what in ("readdir", "readdirplus", "chmod")} <= set(rates), run
    assert all(rates.values()) and "move" not in str(rates), rates


def test_the_file_of_ranks_is_as_before_without_the_options(mdtest):
    mdtest("-n 10 -F --saveRankPerformanceDetails=ranks.csv").ok()
    assert "chmod" not in (mdtest.cwd / "ranks.csv").read_text()


def test_a_run_of_another_shape_finds_all_items_in_place(mdtest):
    """Phases change no name: a later run with items of an earlier one finds and leaves them."""
    needs_attributes(mdtest)
    mdtest("-I 3 -z 2 -b 2 -C").ok()
    before = mdtest.names("")
    mdtest("-I 3 -z 2 -b 2 -T " + ALL).ok()
    assert mdtest.names("") == before
    mode = {p.name: p.stat().st_mode & 0o777 for p in mdtest.dir.rglob("*.mdtest.0.*")}
    assert {m for name, m in mode.items() if name.startswith("file")} == {0o640} and {m for name, m in mode.items() if name.startswith("dir")} == {0o750}
    path = next(mdtest.dir.rglob("file.mdtest.1.*"))
    assert len(os.getxattr(path, "user.weir")) == 100
    mdtest("-I 3 -z 2 -b 2 -r").ok()
    mdtest.empty()


@pytest.mark.parametrize("backend", ["-a POSIX ", "-a DUMMY --dummy.store ", "-a DUMMY "])
@pytest.mark.parametrize("args", ["-n 20 -z 1 -b 3", "-I 2 -z 2 -b 2 -u -N 1", "-I 2 -z 3 -b 1 -L -R --random-seed=3", "-n 20 -I 5 -N 2 -F",
                                  "-n 1 -z 1", "-n 0 -z 1", "-I 1 -z 1 -i 2 -c -u", "-n 30 -z 1 -b 1 -W 30", "-D -n 9 -z 1 -b 2 -Y",
                                  "-n 9 -z 2 -F -w 100 -e 100 -X -y"])
def test_phases_work_with_all_shapes_of_trees_and_orders(mdtest, backend, args):
    if "-X" in args and backend == "-a DUMMY ":
        pytest.skip("DUMMY keeps no data")
    needs_attributes(mdtest)
    more = ALL.replace("--link ", "") if "-D" in args else ALL
    run = mdtest(backend + args + " " + more, np=3).ok()
    assert run.errors == [] and run.notes == [n for n in run.notes if "verification" not in n]
    mdtest.empty()


def test_eight_ranks_and_an_odd_shift(mdtest):
    needs_attributes(mdtest)
    mdtest("-n 21 -z 2 -b 4 -N 3 -R " + ALL, np=8).ok()
    mdtest.empty()


@pytest.mark.parametrize("args", ["-n 40 -z 1 -b 3", "-I 2 -z 2 -b 2 -u -N 1 -R", "-n 20 -z 1 -b 2 -N 1 -C -T"])
def test_single_ranks_and_rates_in_percent_have_all_phases(mdtest, args):
    needs_attributes(mdtest)
    for more, key in ("--sweep=ranks --sweep-time=0.01", "sweep"), ("--rate=50%..100%:2 --rate-time=0.05", "load"):
        run = mdtest(args + " --report=json:r.json %s %s" % (more, ALL), np=3).ok()
        test, = results(mdtest)["tests"]
        rows = test["sweep"]["measured"] if key == "sweep" else test["load"]
        assert {row["operation"] for row in rows} >= {name.lower() for name in FILES + DIRS}, (run, rows)
        assert "-C" in args or mdtest.empty() is None
        if "-C" in args:
            assert not list(mdtest.dir.rglob("*-XX"))
            mdtest(args.replace("-C -T", "-r"), np=3).ok()


def test_items_are_counted_as_operations(mdtest):
    needs_attributes(mdtest)
    mdtest("-I 3 -z 1 -b 2 -F --report=json:r.json " + ALL, np=2).ok()
    found = items(mdtest)
    assert found["File readdir"] == found["File readdirplus"] == 6  # each task lists three directories
    assert found["File move"] == 2 * 18  # there and back
    assert {found["File " + what] for what in NEW[3:]} == {18}


def test_shared_files_have_attributes_and_modes_but_no_links(mdtest):
    needs_attributes(mdtest)
    mdtest("-n 5 -S --readdir --xattr=3 --chmod", np=3).ok()
    mdtest.empty()


@pytest.mark.parametrize("size", [1, 8, 1000])
def test_a_value_has_the_size_that_was_asked_for(mdtest, size):
    needs_attributes(mdtest)
    mdtest("-n 3 -F -C --xattr=%d" % size).ok()
    paths = list(mdtest.dir.rglob("file.mdtest.*"))
    assert len(paths) == 6 and len({os.getxattr(p, "user.weir") for p in paths}) == 6
    assert {len(os.getxattr(p, "user.weir")) for p in paths} == {size}


def test_a_stonewall_leaves_what_lists_expect(mdtest):
    args = "-a DUMMY --dummy.store --dummy.delay-create=5000 -n 100000 -F -b 1 -z 3 -W 1 --report=json:r.json " + ALL
    needs_attributes(mdtest)
    mdtest(args, np=2).ok()
    found = items(mdtest)
    assert found["File chmod"] == found["File creation"] < 200000
    mdtest.empty()


def test_findings_know_that_a_node_looks_at_its_own_items(mdtest):
    mdtest("-n 10 -F -C -r --chmod --report=json:r.json").ok()
    test, = results(mdtest)["tests"]
    assert "H35" in {finding["id"] for finding in test["findings"]}


def test_a_dry_run_makes_nothing_and_counts_symbolic_links(mdtest):
    mdtest("-n 10 -F --dry-run --report=json:r.json").ok()
    without = results(mdtest)
    mdtest("-n 10 -F --symlink --dry-run --report=json:r2.json").ok()
    assert results(mdtest, "r2.json")["need"]["items"] == without["need"]["items"] + 20
    assert not mdtest.dir.exists()


# ---- checks ----

def test_a_list_with_too_few_entries_is_wrong_data(mdtest):
    mdtest("-n 5 -F -C", np=2).ok()
    (mdtest.dir / "test-dir.0-0/mdtest_tree.0/file.mdtest.1.3").unlink()
    mdtest("-n 5 -F -U --readdir", np=2).ok(4)


def test_an_entry_that_is_missing_names_the_directory(mdtest):
    mdtest("-I 5 -z 1 -F -C", np=2).ok()
    (mdtest.dir / "test-dir.0-0/mdtest_tree.0/mdtest_tree.1/file.mdtest.1.7").unlink()
    run = mdtest("-I 5 -z 1 -F -U --readdir", np=2).ok(4)
    assert any("mdtest_tree.0/mdtest_tree.1' lists 9 items and directories instead of 10" in note for note in run.notes), run


def test_more_entries_of_an_earlier_run_are_no_error(mdtest):
    mdtest("-n 10 -F -C").ok()
    mdtest("-n 5 -F -U --readdir").ok()


@pytest.mark.parametrize("option, library, words", [
    ("--xattr=20", "getxattr", "the attribute of"), ("--symlink", "readlink", "the symbolic link of"), ("--chmod -X", "chmod", "the mode of")])
def test_a_wrong_result_is_counted_and_named(mdtest, preload, option, library, words):
    needs_attributes(mdtest)
    lies = preload("lie-metadata.c")
    run = mdtest("-n 5 -F -C -T -r " + option, np=2, env={"LD_PRELOAD": lies, "LIE": library}).ok(4)
    assert any(words in note and "file.mdtest." in note for note in run.notes) and "(10 errors)" in run.stdout, run
    mdtest.empty()


# ---- what is refused ----

REFUSED = [("--move -n 4", "--move"), ("--link -D -n 4", "--link"), ("--symlink -S -n 4", "--symlink"), ("--move -S -n 4 -z 1", "--move"),
           ("--readdir -B 1 -n 4", "--readdir"), ("--xattr=4 -k -F -n 4", "--xattr"), ("--xattr=100k -n 4", "xattr"), ("--xattr=-1 -n 4", "xattr"),
           ("--chmod -X -n 4", "-e")]


@pytest.mark.parametrize("args, word", REFUSED, ids=[case[0] for case in REFUSED])
def test_options_that_have_no_meaning_together_are_refused(mdtest, args, word):
    run = mdtest(args, np=2).fails(1, word)
    assert not mdtest.dir.exists() and "SUMMARY" not in run.stdout


@pytest.mark.parametrize("option", ["--readdir", "--move -z 1", "--link", "--symlink", "--xattr=10", "--chmod"])
@pytest.mark.parametrize("backend", ["MPIIO", "S3", "HDF5", "NCMPI"])
def test_other_backends_refuse_and_say_what_they_lack(mdtest, backend, option):
    if backend not in conftest.backends():
        pytest.skip("this build has no %s backend" % backend)
    names = " --s3.endpoints=http://localhost:1 --s3.bucket=b -d d" if backend == "S3" else ""
    run = mdtest("-a %s -F -n 2 %s%s" % (backend, option, names), np=2).fails(1, backend)
    assert option.split("=")[0].split()[0] in run.errors[0], run
    assert not mdtest.dir.exists()


# ---- signals ----

def start_until(mdtest, args, phase):
    """Start two ranks, and wait until they are in this phase, counted from 1, which takes two seconds."""
    proc = mdtest.start(args + " --rate=30ops --run-cmd-before-phase='echo >>log'", np=2)
    ranks, log = mdtest.wait_for_ranks(proc, 2), mdtest.cwd / "log"
    conftest.wait_until(lambda: log.exists() and len(log.read_text()) >= 2 * phase)
    mdtest.wait_for_delay(proc, ranks)
    return proc, ranks


# The phase of the option in which the signal comes
WHEN = [("--move", 1), ("--link", 1), ("--link", 2), ("--symlink", 1), ("--symlink", 2), ("--symlink", 3), ("--xattr=10", 2), ("--readdir", 1),
        ("--chmod", 1)]


@pytest.mark.parametrize("option, nth", WHEN)
@pytest.mark.parametrize("phases", ["-C -r", "-U"])
def test_a_signal_in_a_phase_leaves_nothing_of_it(mdtest, option, nth, phases):
    """With -U alone the items of the earlier run stay as they were."""
    needs_attributes(mdtest)
    shape = "-I 1 -z 60 -b 1 -F "
    if phases == "-U":
        mdtest(shape + "-C", np=2).ok()
    before = mdtest.names("")
    proc, ranks = start_until(mdtest, shape + phases + " " + option, nth + (phases == "-C -r"))
    os.kill(ranks[-1], signal.SIGTERM)
    mdtest.finish(proc, timeout=60).fails(6, "interrupted")
    assert mdtest.names("") == before if before else mdtest.empty() is None


def test_what_a_killed_rank_leaves_can_be_removed(mdtest):
    proc, ranks = start_until(mdtest, "-I 1 -z 60 -b 1 -D -C --symlink", 2)
    conftest.wait_until(lambda: any(mdtest.dir.rglob("*-XX")))
    os.kill(ranks[1], signal.SIGKILL)
    assert mdtest.finish(proc, timeout=60).returncode != 0
    assert any(p.is_symlink() for p in mdtest.dir.rglob("*-XX"))
    mdtest("-I 1 -z 1 -F -C -r --existing=replace", np=1).ok()
    mdtest.empty()


def test_a_rename_that_was_killed_leaves_names_that_are_removed(mdtest):
    path = mdtest.dir / "test-dir.0-0/mdtest_tree.0/mdtest_tree.1"
    mdtest("-I 2 -z 1 -C", np=1).ok()
    (path / "file.mdtest.0.0-XX").write_text("")
    (path / "dir.mdtest.0.1-XX").symlink_to("dir.mdtest.0.1")
    mdtest("--cleanup %s" % mdtest.dir, np=1).ok()
    mdtest.empty()


def test_a_symbolic_link_at_the_name_of_an_item_is_still_foreign(mdtest):
    mdtest("-I 2 -z 1 -C", np=1).ok()
    path = mdtest.dir / "test-dir.0-0/mdtest_tree.0/file.mdtest.0.9"
    path.symlink_to("file.mdtest.0.0")
    run = mdtest("--cleanup %s" % mdtest.dir, np=1).ok()
    assert path.is_symlink() and any("1 names" in note for note in run.notes), run
    mdtest("-I 2 -z 1 -C", np=1).fails(1, "is a symbolic link")


# ---- failures ----

CALLS = [("move", "--move", "EIO", 5), ("link", "--link", "ENOSPC", 5), ("symlink", "--symlink", "EDQUOT", 5), ("readlink", "--symlink", "EIO", 5),
         ("unsymlink", "--symlink", "EROFS", 5), ("unsymlink", "--link", "EROFS", 5), ("setxattr", "--xattr=5", "EOPNOTSUPP", 1),
         ("getxattr", "--xattr=5", "EIO", 5), ("listxattr", "--xattr=5", "EIO", 5), ("chmod", "--chmod", "EROFS", 5),
         ("readdir", "--readdir", "EIO", 2), ("readdirplus", "--readdir", "ESTALE", 2), ("mode", "--chmod -X", "EIO", 5), ("move", "--move", "EIO", 6)]


@pytest.mark.parametrize("phases", ["-C -r", "-U"])
@pytest.mark.parametrize("call, option, name, nth", CALLS, ids=["%s-%s-%d" % (c[0], c[1].split("=")[0], c[3]) for c in CALLS])
def test_a_call_that_fails_on_one_rank_ends_the_run_on_all(mdtest, call, option, name, nth, phases):
    needs_attributes(mdtest)
    shape = "-a DUMMY --dummy.store -I 3 -z 1 -b 2 -F "
    if phases == "-U":
        mdtest(shape + "-C", np=3).ok()
    before = mdtest.names("")
    fault = " --dummy.fail-op=%s --dummy.fail-errno=%s --dummy.fail-at=%d --dummy.fail-rank=1 " % (call, name, nth)
    run = mdtest(shape + phases + fault + option, np=3, timeout=60).fails(3, "rank 1 on ", os.strerror(getattr(errno, name)))
    assert run.messages[-1] == "ERROR: " + run.errors[0] and str(mdtest.dir) in run.errors[0], run
    assert mdtest.names("") == before if before else mdtest.empty() is None


def test_a_file_system_without_attributes_is_told_at_the_first(mdtest):
    run = mdtest("-a DUMMY --dummy.store -n 5 -F --xattr=5 --dummy.fail-op=setxattr --dummy.fail-errno=EOPNOTSUPP --dummy.fail-at=1", np=3)
    run.fails(3, "rank 0 on ", "setxattr '%s/" % mdtest.dir, "Operation not supported")
    mdtest.empty()


def test_on_a_read_only_file_system_no_name_is_said_to_be_left(mdtest):
    with conftest.on_tmpfs(mdtest.cwd / "ro", "size=1m") as path:
        args = "-d %s/d -n 3 -z 1 -F " % path
        mdtest(args + "-C", np=1).ok()
        if subprocess.run(["mount", "-o", "remount,ro", str(path)]).returncode:
            pytest.skip("no file system can be made read-only here")
        for option, call in (("--link", "link"), ("--symlink", "symlink"), ("--move", "rename"), ("--xattr=4", "setxattr"), ("--chmod", "chmod")):
            run = mdtest(args + "-T " + option, np=1).fails(3, call + " '", "Read-only file system")
            assert not any("could not be removed" in note for note in run.notes), run
            assert call != "rename" or re.search("rename '.*/file.mdtest.0.0' to '.*/mdtest_tree.1/file.mdtest.0.0-XX': ", run.errors[0]), run


def test_a_value_that_is_too_long_for_the_file_system_is_named_with_its_bytes(mdtest):
    needs_attributes(mdtest)
    try:
        os.setxattr(mdtest.cwd, "user.weir", b"x" * 65536)
        pytest.skip("this file system takes attributes of 64 KiB")
    except OSError as why:
        said = os.strerror(why.errno)
    mdtest("-F -n 1 --xattr=64k", np=1).fails(3, "setxattr '%s/" % mdtest.dir, "file.mdtest.0.0', 65536 bytes: " + said)
    mdtest.empty()
