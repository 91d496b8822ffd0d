# SPDX-License-Identifier: BSD-3-Clause
"""mib: both editions of its command line, what it prints, what it writes and reads."""
import json
import os
import platform
import re

import pytest

import conftest
from mib_support import DATE, HEADING, RESULT, mib, result, table  # noqa: F401

SMALL = "-F -t {d} -l 4 -s 64k "


# ---- the lines as people type them ----

@pytest.mark.parametrize("args, np", [
    ("-t {d}", 1), ("-t {d} -l 1024 -L 60 -s 512k", 2), ("-t {d} -l 1024 -L 60 -s 512k -H", 1),
    ("-l 1024 -L 60 -s 512k -d {d} -p", 2), ("-S -E -I -P", 1)])
def test_lines_as_typed(mib, args, np):
    for place in (mib.cwd, mib.dir):
        (place / "options").write_text("api = DUMMY\n")  # nothing is moved
    run = mib(args, np=np).ok()
    line = result(run)
    calls = "4096" if "-l" not in args else "1024"
    assert (line["tasks"], line["size"], line["calls"], line["time"]) == (str(np), "512k", calls, "60")
    assert ("-H" in args) == (HEADING in run.stdout)
    if args.endswith("-p"):
        assert len(table(mib.dir / "write.profile")) == 1025 == len(table(mib.dir / "read.profile"))
    else:
        assert not (mib.cwd / "write.profile").exists()
    assert len(run.stdout.split("\n")) == 2 or "-H" in args or "-S" in args


def test_everything_is_shown_in_its_place(mib):
    run = mib("-t {d} -F -l 64 -s 64k -L 10 -SHEIP", np=2).ok()
    machine = platform.machine()
    phase = ("\n%s phase\nshould last about this long---------------------->\n" + "*" * 48 + "\n"
             r"Call 64 was the last %s recorded\n\nAfter 64 calls and \d+\.\d{6} seconds\n8.000000 MB %s in \d+\.\d{6} seconds\n"
             r"Aggregate %s rate = [ \d]{7}\.\d\d\nEnded by: call limit of 2 tasks\n")
    shown = "".join("%-25s= %s\n" % pair for pair in [
        ("new", "false"), ("remove", "false"), ("testdir", mib.dir), ("call_limit", 64), ("call_size", 65536),
        ("time_limit", 10), ("tasks", 2), ("write_only", "false"), ("read_only", "false"), ("profiles", "no"),
        ("show_signon", "true"), ("show_headers", "true"), ("show_environment", "true"), ("show_progress", "true"),
        ("show_intermediate_values", "true"), ("force", "true")])
    expect = (r"Testing an? (file system of type \"\w+\" \(f_type = 0x\w+\)|unregistered file system with f_type = 0x\w+)\n"
              r"\n\nmib-\d[\w.]*-" + machine + "  " + DATE + "\n\n" + re.escape(shown) +
              phase.replace("*", r"\*") % (("write", "write", "written", "write")) +
              phase.replace("*", r"\*") % (("read", "read", "read", "read")) + HEADING.replace("(", r"\("))
    assert re.match(expect, run.stdout), run
    assert result(run)["size"] == "64k"


def dumped(run):
    return [line for line in run.stdout.split("\n") if re.match(r"^\w+ += ", line) and not line.startswith("log_dir")]


def test_a_dump_is_an_options_file(mib):
    dump = dumped(mib(SMALL + "--api DUMMY -E -p run -b4k -HI --verify -n -r -W", np=1).ok())
    logs = mib.cwd / "logs"
    logs.mkdir()
    (logs / "options").write_text("\n".join(dump) + "\n")
    assert len(dump) > 15 and dumped(mib("-d logs", np=1).ok()) == dump


def test_all_that_a_run_prints_is_an_options_file(mib):
    """Beside the options stand the file system, rates, the results, and messages where streams are merged."""
    logs = mib.cwd / "logs"
    logs.mkdir()
    first = mib(SMALL + "-L 9 -b4k -SHEIP", np=1).ok()
    assert "(f_type = " in first.stdout and "Aggregate write rate = " in first.stdout
    (logs / "options").write_text(first.stderr + first.stdout)
    again = mib("-d logs", np=1).ok()
    assert result(again)["calls"] == "4" and dumped(again) == dumped(first)
    (logs / "options").write_text("Testing = 1\n")
    mib("-d logs", np=1).fails(1, "logs/options:1", "'Testing'")


def test_a_log_directory_that_is_missing_may_be_o_direct_of_the_release(mib):
    for args in ("-F -d -t {d}", "-F -t {d} -d"):
        mib(args, np=None).fails(1, "option -d needs a value", "--directio")
    assert mib.data() == {}


def test_without_a_directory_one_note_says_what_is_written_where(mib):
    def told(args):
        return [note for note in mib("-F -l 4 -s 64k " + args, np=2).ok().notes if "without -t" in note]
    note, = told("-W")
    assert "2 tasks write up to 262144 bytes each" in note and str(mib.cwd) in note and "the files stay" in note
    assert (mib.cwd / "mibData.00000001").exists()
    assert "are removed at the end" in told("-r")[0] and not (mib.cwd / "mibData.00000001").exists()
    assert told("--api DUMMY") == told("-t .") == []


def test_the_command_line_wins_over_the_file(mib):
    (mib.cwd / "options").write_text(
        "# a comment\n  CALL_LIMIT = 3 # three\ncall_size=2m\nshow_headers = Yes\napi = DUMMY\nno equals sign\nnodes = 7\n"
        "profiles = true\nnew = f\ntime_limit = 5\n")
    run = mib("-l 2 -L 9", np=1).ok()
    line = result(run)
    assert (line["calls"], line["size"], line["time"]) == ("2", "2M", "9") and HEADING in run.stdout
    assert len(table(mib.cwd / "write.profile")) == 3 and run.notes
    assert HEADING not in mib("-l 2 --show_headers=0", np=1).ok().stdout


def test_version_and_help(mib):
    for args in ("-V", "--version", "-V -l 0x"):
        run = mib(args, np=None)
        if args.endswith("x"):
            run.fails(1, "0x")
        else:
            assert re.fullmatch(r"mib-1\.9\.8-%s\nmib \(weir\) \d[\w.]*\n" % platform.machine(), run.ok().stdout)
    for page in ("-h", "--help=order", "-h=all"):
        text = mib(page, np=None).ok().stdout
        assert text.startswith("usage: mib [b::EFIhHl:L:np:PrRs:St:VWd]\nSynopsis ")
    for name in ("--call_limit", "--profiles[=PREFIX]", "--random_reads[=SIZE]", "--directio", "--log_dir", "--no_mpi"):
        assert name in text


@pytest.mark.parametrize("size, shown", [("1m", "1024k"), ("1000", "0k"), ("'3 M'", "3M"), ("2048k", "2M"), ("1K", "1k")])
def test_sizes_have_the_unit_of_the_original(mib, size, shown):
    assert result(mib("--api DUMMY -l 2 -s " + size, np=1).ok())["size"] == shown


def test_long_names(mib):
    run = mib("--test_dir={d} --force --call_limit=8 --call_size=64k --time_limit 5 --show_headers --random_reads=4k --new", np=2)
    assert result(run.ok())["calls"] == "8" and HEADING in run.stdout


# ---- phases ----

def test_write_only_and_read_only(mib):
    assert result(mib(SMALL + "-W", np=3).ok())["read"] == 0
    first = mib.data()
    assert first == {"mibData.%08d" % i: 262144 for i in range(3)}
    assert result(mib(SMALL + "-R", np=3).ok())["write"] == 0
    line = result(mib(SMALL + "-R -W -r", np=3).ok())
    assert line["write"] > 0 and line["read"] > 0 and mib.data() == {}


def test_a_task_reads_what_another_half_the_job_away_has_written(mib):
    run = mib(SMALL + "-W --verify", np=5).ok()
    words = [int.from_bytes((mib.dir / ("mibData.%08d" % i)).read_bytes()[8:16], "little") for i in range(5)]
    assert words == [(i + 1) << 44 | 1 for i in range(5)], run
    os.unlink(mib.dir / "mibData.00000003")
    mib(SMALL + "-R", np=5).fails(3, "rank 1 on ", "mibData.00000003", "No file")


def test_files_are_overwritten_in_place_unless_they_shall_be_new(mib):
    old = mib.dir / "mibData.00000000"
    old.write_bytes(b"x" * 500000)
    node = old.stat().st_ino
    mib(SMALL + "-W", np=1).ok()
    assert old.stat().st_size == 500000 and old.stat().st_ino == node
    os.link(old, mib.dir / "keeps-the-inode")
    mib(SMALL + "-W -n", np=1).ok()
    assert old.stat().st_size == 262144 and old.stat().st_ino != node


@pytest.mark.parametrize("args, words", [
    ("-l 1 -s 64k", "are overwritten: 2, up to 131072 bytes"),
    ("-l 100 -s 64k", "are overwritten: 2, up to 524288 bytes"),
    ("-l 100 -L 0 -s 32k", "are overwritten: 2, up to 65536 bytes"),
    ("-n -l 1 -s 64k", "lose their contents: 2, of 524288 bytes")])
def test_the_note_on_old_files_counts_what_is_overwritten(mib, args, words):
    mib(SMALL + "-W", np=2).ok()
    assert [note for note in mib("-F -t {d} " + args, np=2).ok().notes if words in note]


def test_a_message_does_not_break_the_bar(mib):
    mib(SMALL + "-W", np=1).ok()
    run = mib("-F -t {d} -R -P -l 100 -s 64k", np=None, prefix=["sh", "-c", 'exec "$0" "$@" 2>&1']).ok()
    assert re.search(r"--->\n\*+\nNOTE: 1 of 1 tasks have read all", run.stdout), run


@pytest.mark.parametrize("phases", ["-W", "", "-R"])
def test_remove_holds_for_every_phase(mib, phases):
    if phases == "-R":
        mib(SMALL + "-W", np=1).ok()
    mib(SMALL + "-r " + phases, np=1).ok()
    assert mib.data() == {}


def test_short_reads_and_the_end_of_the_file(mib):
    mib("-F -t {d} -l 3 -s 64k -W", np=1).ok()
    (mib.dir / "mibData.00000000").write_bytes(b"y" * 150000)
    run = mib("-F -t {d} -l 100 -s 64k -R -I", np=1).ok()
    assert "1 short reads\n" in run.stdout and "Call 3 was the last read recorded" in run.stdout
    assert "Ended by: end of the file of 1 task" in run.stdout and "all of their file" in run.notes[0]
    (mib.dir / "mibData.00000000").write_bytes(b"")
    assert result(mib("-F -t {d} -R", np=1).ok())["read"] == 0


def test_data_are_checked(mib):
    mib(SMALL + "-W --verify", np=1).ok()
    for reads in ("", "-b", "-b 4k"):
        mib(SMALL + "-R --verify " + reads, np=1).ok()
    with open(mib.dir / "mibData.00000000", "r+b") as f:
        f.seek(100001)
        f.write(b"!")
    run = mib(SMALL + "-R --verify", np=1).fails(4, "wrong data in 1 reads", "offset 100001")
    assert result(run)["read"] > 0
    mib(SMALL + "-W -n", np=1).ok()
    mib(SMALL + "-R --verify", np=1).fails(4, "was it written with --verify?", "offset 6553")


# ---- limits ----

def test_the_time_limit_ends_a_phase(mib):
    run = mib("--api DUMMY --dummy.delay-xfer=300000 -l 100000 -L 1 -I", np=2).ok()
    assert "Ended by: time limit of 2 tasks" in run.stdout
    last = int(re.search(r"Call (\d+) was the last write", run.stdout).group(1))
    assert 1 <= last <= 5  # calls of 0.3 s in 1 s


def test_a_time_limit_of_zero_allows_one_call(mib):
    run = mib("-F -t {d} -L 0 -l 5 -s 64k -I -p x", np=2).ok()
    assert "Call 1 was the last write recorded" in run.stdout and "0.125000 MB written" in run.stdout
    assert set(mib.data().values()) == {65536} and len(table(mib.cwd / "x.write")) == 2
    assert "Ended by: time limit of 2 tasks" in run.stdout


def test_tasks_may_end_for_different_reasons(mib):
    run = mib("--api DUMMY --dummy.delay-xfer=600000 --dummy.delay-only-rank0 -l 3 -L 1 -I -p x", np=2).ok()
    conftest.timely("Ended by: call limit of 1 task, time limit of 1 task" in run.stdout, run)
    rows = table(mib.cwd / "x.write")
    assert len(rows) == 4 and rows[3][0] == 0 and rows[3][1] > 0 and all(row[1] > 0 for row in rows)


# ---- profiles ----

@pytest.mark.parametrize("args, names", [
    ("-p", ("logs/write.profile", "logs/read.profile")), ("-p one", ("one.write", "one.read")),
    ("-pone -H", ("one.write", "one.read")), ("--profiles=one", ("one.write", "one.read")),
    ("-p -H", ("logs/write.profile", "logs/read.profile"))])
def test_where_profiles_go(mib, args, names):
    (mib.cwd / "logs").mkdir()
    mib("--api DUMMY -l 5 -d logs " + args, np=1).ok()
    for name in names:
        rows = table(mib.cwd / name)
        times = [row[0] for row in rows]
        assert len(rows) == 6 and times == sorted(times)


def test_profiles_have_one_clock_and_a_column_for_each_task_or_node(mib):
    run = mib(SMALL + "-p all -I", np=3).ok()
    write, read = table(mib.cwd / "all.write"), table(mib.cwd / "all.read")
    assert {len(row) for row in write + read} == {3} and len(write) == len(read) == 5
    assert max(write[-1]) <= min(read[0]) and max(write[0]) <= min(write[1]) + 5
    assert all(before <= after for rows in (write, read) for one, more in zip(rows, rows[1:]) for before, after in zip(one, more)), (write, read)
    assert "Table of 3 tasks with up to 5 system calls" in run.stdout
    mib(SMALL + "-p -a", np=4, env={"IOR_FAKE_TASK_PER_NODES": "2", "IOR_FAKE_NODES": "2"}).ok()
    assert {len(row) for row in table(mib.cwd / "write.profile")} == {2}


def test_results_do_not_go_into_a_file_of_the_data(mib):
    mib(SMALL + "--report=json:{d}/./mibData.00000000", np=None).fails(1, "--report and the data", "are the same file")
    assert mib.data() == {}


# ---- without MPI, and other backends ----

def test_without_mpi(mib):
    run = mib(SMALL + "-M -H -E --verify -p x", np=None, env={"PMIX_RANK": "7"}).ok()
    assert result(run)["task"] == "7" and list(mib.data()) == ["mibData.00000007"]
    assert "  task " + HEADING.split("\n")[0] in run.stdout and "Command line forbade the use of MPI\n" in run.stdout
    assert len(table(mib.cwd / "x.write")) == 5
    mib(SMALL + "-M --api MPIIO", np=None).fails(1, "MPIIO needs MPI")
    mib(SMALL + "-M --timeline=x.npy", np=None).fails(1, "--timeline needs MPI")


@pytest.mark.parametrize("api", ["MPIIO", "MMAP", "AIO", "HDF5"])
def test_other_backends(mib, api):
    if api not in conftest.backends():
        pytest.skip("this build has no %s backend" % api)
    line = result(mib(SMALL + "--verify --api " + api.lower(), np=1).ok())
    assert line["write"] > 0 and line["read"] > 0


# ---- random reads ----

def test_random_reads_go_everywhere_in_multiples(mib):
    run = mib("-F -t {d} -l 64 -s 4k -b 512 -I --op-csv ops", np=2).ok()
    for task in range(2):
        rows = [line.split(",") for line in (mib.cwd / ("ops-%05d.csv" % task)).read_text().split("\n")[1:-1]]
        offsets = [int(row[7]) for row in rows if row[3] == "read"]
        assert len(offsets) == 64 and len(set(offsets)) > 32 and all(o % 512 == 0 and o + 4096 <= 64 * 4096 for o in offsets), run
    mib("-F -t {d} -R -l 4 -s 4k -b1m", np=1).fails(1, "too few for the granularity")
    mib("-F -t {d} -R -l 4 -s 1m -b", np=1).fails(1, "too few for a random read")


def test_a_granularity_that_no_file_will_have_is_refused_before_anything_is_written(mib):
    for args in ("-l 4 -s 64k -b 512k", "-l 100 -L 0 -s 64k -b 128k"):
        mib("-F -t {d} " + args, np=2).fails(1, "the granularity (-b)", "mibData.0000000")
        assert mib.data() == {}
    mib("-F -t {d} -l 16 -s 64k -b 1m", np=2).ok()
    mib("-F -t {d} -l 4 -s 64k -b 512k", np=2).ok()  # what is there is long enough
    mib("-F -t {d} -l 4 -s 64k -b 512k -n", np=2).fails(1, "will have 262144 bytes at most")
    mib("-F -t {d} -l 4 -s 64k -b 512k -W", np=2).ok()


def test_sizes_that_cannot_be_counted_do_not_become_small_ones(mib):
    huge = "-F -t {d} -s 8589934600 -l 2147483647 --warning-as-errors "
    mib(huge, np=1).fails(1, "(18446744073709551615 bytes)")
    mib(huge, np=3).fails(1, "(18446744073709551615 bytes)")
    mib("-F -t {d} -s 64k -l 2147483647 -L 0 --warning-as-errors", np=1).ok()  # which is one call
    assert mib.data() == {"mibData.00000000": 65536}


def test_what_does_not_fit_is_said_once(mib):
    """With all that the limits allow, less what files that are there have already."""
    most = 2 * 4096 * 2147483647
    for there in (0, 2 * 65536):
        run = mib("-F -t {d} -s 4k -l 2147483647 -L 1 -r" + (" -n" if there else ""), np=2).ok()
        assert len(run.warnings) == 1 and run.warnings[0].startswith("the test needs 16.00 TiB (%d bytes)" % (most - there)), run
        mib("-F -t {d} -s 64k -l 1", np=2).ok()


def test_rates_are_mebibytes_a_second_in_the_document_and_in_the_text(mib):
    run = mib(SMALL + "-I --report=text:-,json:r.json", np=2).ok()
    rows = json.loads((mib.cwd / "r.json").read_text())["tests"][0]["Results"]
    assert [(row["operation"], row["bytes"]) for row in rows] == [("write", 8 << 16), ("read", 8 << 16)]
    shown, line = re.findall(r"^Aggregate (\w+) rate = +(\S+)$", run.stdout, re.M), result(run)
    for row, (operation, rate) in zip(rows, shown):
        assert abs(row["rate"] * row["time"] * 1048576 / row["bytes"] - 1) < 1e-9, row
        assert operation == row["operation"] and rate == "%.2f" % row["rate"] and abs(line[operation] - row["rate"]) <= 0.0051, (row, rate, line)


def test_what_is_measured_is_told(mib):
    mib(SMALL + "-W", np=2).ok()
    mib(SMALL + "-n --report=json:r.json --rank-csv ranks", np=2).ok()
    test = json.loads((mib.cwd / "r.json").read_text())["tests"][0]
    write, read = test["phases"]
    for p in (write, read):
        assert min(p["openTime"], p["workTime"], p["closeTime"], p["transferP50"], p["transferMax"]) > 0 and p["transferCount"] == 8
    assert write["syncCount"] == 2 and write["syncMax"] > 0 and [row["unlinkTime"] > 0 for row in test["Results"]] == [True, False]
    rows = [line.split(",") for line in (mib.cwd / "ranks").read_text().split("\n")[1:-1]]
    assert [row[:2] for row in rows] == [["write", "0"], ["write", "1"], ["read", "0"], ["read", "1"]]
    assert all(float(r[5]) > 0 for r in rows), "a rate of each task"


def test_a_file_that_another_process_removes_is_named_so(mib, preload):
    """The run waits before its second call until the file is removed."""
    hold = {"LD_PRELOAD": preload("hold-sleep.c"), "HOLD": "1"}
    proc = mib.start("-t . -s 4k -l 8 --rate=4ops", np=None, env=hold)
    conftest.wait_until(lambda: (mib.cwd / "mibData.00000000").exists())
    (mib.cwd / "mibData.00000000").unlink()
    (mib.cwd / "go").touch()
    mib.finish(proc).fails(3, "No file: './mibData.00000000', which this run has written: another process removed it")
