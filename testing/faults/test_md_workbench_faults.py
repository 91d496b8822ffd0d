# SPDX-License-Identifier: BSD-3-Clause
"""md-workbench when something fails: counted or one clear line, the right status, nobody hangs, own sets removed."""
import os
import pathlib
import shutil
import signal
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "system"))
import conftest  # noqa: E402
from mdtest_support import tmpfs  # noqa: E402
from mdw_support import SMALL, lines, mdw  # noqa: E402,F401

SECONDS = 20  # "within seconds" on a busy machine
FAIL = SMALL + "-a DUMMY --dummy.store --dummy.fail-rank=1 --dummy.fail-op=%s --dummy.fail-at=%d --dummy.fail-errno=%s "


def wait_for(proc, true):
    conftest.wait_until(lambda: true() or proc.poll() is not None)


# ---- injected failures ----

@pytest.mark.parametrize("op, at, name, words", [
    ("mkdir", 2, "EIO", ["create directory", "1_1", "Input/output error"]),
    ("mkdir", 1, "EACCES", ["create directory", "1_0", "Permission denied"]),
    ("open", 3, "EDQUOT", ["open", "1_0/file-1", "Disk quota exceeded"]),
    ("xfer", 6, "ENOSPC", ["write 3901 bytes", "1_1/file-2", "No space left on device"]),
    ("close", 1, "EIO", ["close", "1_0/file-0", "Input/output error"]),
])
@pytest.mark.parametrize("phases", ["", "-1"])
def test_a_failure_in_precreate_ends_the_run_on_all(mdw, op, at, name, words, phases):
    run = mdw(FAIL % (op, at, name) + phases, np=3, timeout=SECONDS).fails(3, "rank 1 on ", *words)
    assert lines(run, "benchmark") == [] == lines(run, "cleanup")
    assert not (mdw.cwd / "md-workbench.status").exists()
    mdw.clean()


@pytest.mark.parametrize("op, at, words", [
    ("stat", 2, ["stat", "file-0"]),
    ("open", 7, ["open", "file-0"]),
    ("open", 8, ["open", "file-3"]),
    ("xfer", 7, ["read 3901 bytes", "file-0"]),
    ("xfer", 8, ["write 3901 bytes", "file-3"]),
    ("close", 8, ["close", "file-3"]),
    ("unlink", 1, ["remove", "file-0"]),
])
def test_a_failure_in_the_benchmark_is_counted(mdw, op, at, words):
    run = mdw(FAIL % (op, at, "EIO"), np=2, timeout=SECONDS).fails(3, "1 operation failed, the first: rank 1 on ", *words)
    assert "(1 errs!!!)" in lines(run, "benchmark")[0] and "(0 errs)" in lines(run, "cleanup")[0]
    note, = [n for n in run.notes if "rank 1 on " in n]
    assert all(word in note for word in words), note
    mdw.clean()


@pytest.mark.parametrize("op, at, errors", [("unlink", 6, 2), ("rmdir", 1, 1)])
def test_a_failure_in_the_cleanup_is_counted_and_tried_again(mdw, op, at, errors):
    run = mdw(FAIL % (op, at, "EIO"), np=2, timeout=SECONDS).fails(3, "%d operation%s failed, the first: rank 1 on " % (errors, "s" * (errors > 1)))
    assert "(%d errs!!!)" % errors in lines(run, "cleanup")[0]
    mdw.clean()


@pytest.mark.parametrize("op, at", [("open", 2), ("xfer", 2), ("close", 2)])
def test_failures_in_precreate_can_be_ignored(mdw, op, at):
    run = mdw(FAIL % (op, at, "EIO") + "--ignore-precreate-errors", np=2, timeout=SECONDS)
    assert run.returncode == 3 and "(1 errs!!!)" in lines(run, "precreate")[0]
    assert lines(run, "cleanup")
    mdw.clean()


def test_failures_of_all_ranks_are_added_up(mdw):
    run = mdw((FAIL % ("stat", 2, "EIO")).replace("--dummy.fail-rank=1", ""), np=3).fails(3, "3 operations failed")
    assert "(3 errs!!!)" in lines(run, "benchmark")[0]
    mdw.clean()


def test_a_wrong_bit_is_wrong_data(mdw):
    run = mdw(SMALL + "-X -a DUMMY --dummy.corrupt-at=2").fails(4, "wrong data in 2 places")
    assert any("verification error" in note and "expected 0x" in note for note in run.notes), run
    mdw.clean()


def test_a_wrong_bit_that_nobody_looks_for_is_none(mdw):
    mdw(SMALL + "-a DUMMY --dummy.corrupt-at=2").ok()


def test_what_an_earlier_read_has_left_in_memory_does_not_pass(mdw, shim):
    """The second read of the same object claims success and moves nothing."""
    mdw("-I 1 -P 1 -D 1 -R 1 -G 10 -1", np=1).ok()
    again = "-I 1 -P 1 -D 1 -R 2 -G 10 -2 --read-only -X"
    mdw(again, np=1).ok()
    run = mdw(again, np=1, env={"LD_PRELOAD": shim, "FAULT_PREFIX": str(mdw.dir) + "/", "FAULT": "call=read count=2 drop"})
    run.fails(4, "wrong data in 1 place")


def test_short_transfers_are_continued(mdw):
    run = mdw(SMALL + "-X -a DUMMY --dummy.store --dummy.short-every=2").ok()
    assert "(0 errs)" in lines(run, "benchmark")[0]
    mdw.clean()


# ---- what is not there, not enough, not ours ----

@pytest.fixture
def small(mdw):
    path = mdw.cwd / "small"

    def mount(options):
        tmpfs(path, options)
        return path
    yield mount
    subprocess.run(["umount", "-l", str(path)], check=False, capture_output=True)


def test_a_full_inode_table_ends_precreate(mdw, small):
    """One rank alone cannot fill the table: the other one has its sets whatever comes first."""
    place = small("size=10m,nr_inodes=300") / "t"
    run = mdw("--no-space-check -P 100 -I 10 -D 2 -o %s" % place, timeout=SECONDS).fails(3, "file-", "No space left on device")
    assert lines(run, "benchmark") == [] and not place.exists()


def test_an_inode_table_that_is_full_of_sets_ends_precreate(mdw, small):
    place = small("size=10m,nr_inodes=10") / "t"
    mdw("--no-space-check -P 1 -I 1 -D 20 -o %s" % place, timeout=SECONDS).fails(3, "create directory", "No space left on device")
    assert not place.exists()


def test_a_full_disk_ends_precreate(mdw, small):
    place = small("size=1m") / "t"
    mdw("--no-space-check -P 100 -I 10 -D 2 -S 16k -o %s" % place, timeout=SECONDS).fails(3, "write", "No space left on device")
    assert not place.exists()


def test_a_full_disk_can_be_ignored(mdw, small):
    place = small("size=1m") / "t"
    run = mdw("--no-space-check -P 100 -I 1 -D 2 -S 16k -R 1 --ignore-precreate-errors -o %s" % place, timeout=SECONDS).fails(3, "operations failed")
    assert "errs!!!" in lines(run, "precreate")[0] and lines(run, "cleanup")
    assert not place.exists()


def test_a_read_only_file_system_is_told(mdw, small):
    place = small("size=1m,ro") / "t"
    run = mdw(SMALL + "-o %s" % place).fails(3, "create directory")
    assert any("Read-only file system" in w for w in run.warnings)


def test_a_directory_without_permission_is_told(mdw):
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    (mdw.cwd / "closed").mkdir(mode=0o555)
    run = mdw(SMALL + "-o %s/closed/t" % mdw.cwd).fails(3, "create directory")
    assert any("Permission denied" in w for w in run.warnings)


def test_a_missing_parent_is_told(mdw):
    run = mdw(SMALL + "-o %s/no/such/place" % mdw.cwd).fails(3, "create directory", "no/such/place/0_0", "No such file or directory")
    assert any("no/such/place" in w for w in run.warnings) and lines(run, "precreate") == []


def test_a_file_in_the_place_of_the_directory_is_told(mdw):
    (mdw.cwd / "file").write_text("keep")
    mdw(SMALL + "-o %s/file" % mdw.cwd).fails(1, "/file' is a file; give a directory")
    mdw(SMALL + "-o %s/file/below" % mdw.cwd).fails(1, "/file' is a file, not a directory")
    assert (mdw.cwd / "file").read_text() == "keep"


def test_something_foreign_in_a_set_stays_and_is_told(mdw):
    mdw(SMALL + "-1").ok()
    (mdw.dir / "1_0" / "foreign").write_text("keep")
    run = mdw(SMALL + "-3").fails(3, "1 operation failed, the first: ")
    assert any("1_0" in note and "Directory not empty" in note for note in run.notes)
    assert mdw.names() == ["1_0", "1_0/foreign"]


def test_a_directory_that_was_there_stays(mdw):
    mdw.dir.mkdir()
    (mdw.dir / "foreign").write_text("keep")
    mdw(SMALL).ok()
    mdw(FAIL % ("open", 2, "EIO")).fails(3)
    assert mdw.names() == ["foreign"]


def test_objects_of_nobody_are_counted_one_by_one(mdw):
    (mdw.cwd / "md-workbench.status").write_text("pos: 0\n")
    run = mdw(SMALL + "-2").fails(3, "8 operations failed")
    assert "(8 errs!!!)" in lines(run, "benchmark")[0] and any("No such file" in note for note in run.notes)
    assert not mdw.dir.exists()


def test_a_directory_that_vanishes_is_counted(mdw):
    proc = mdw.start("-P 10 -I 100000 -R 1 -D 2", np=2)
    mdw.wait_for(proc, 30, "1_1")
    mdw.dir.rename(mdw.cwd / "gone")
    run = mdw.finish(proc).fails(3, "operations failed")
    assert any("No such file or directory" in note for note in run.notes)
    shutil.rmtree(mdw.cwd / "gone")
    assert not mdw.dir.exists()


# ---- signals ----

@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("args", [
    "-P 3000000 -I 1 -D 1 -S 0",
    "-P 3000000 -D 1 -S 0 -1",
    "-P 10 -I 1000000 -R 1000 -D 2",
    "-P 10 -I 1000000 -R 1000 -D 2 -1 -2",
    "-P 10 -I 1000000 -R 1000 -D 2 -T -w 100 -W",
])
def test_a_signal_ends_the_run_and_removes_the_sets(mdw, number, args):
    proc = mdw.start(args, np=2)
    ranks = mdw.wait_for_ranks(proc, 2)
    mdw.wait_for(proc, 50)
    os.kill(ranks[-1], number)
    mdw.finish(proc).fails(6, "interrupted in the")
    assert not (mdw.cwd / "md-workbench.status").exists()
    mdw.clean()


def test_a_signal_in_the_cleanup_removes_the_rest_all_the_same(mdw):
    proc = mdw.start("-P 20000 -I 0 -D 1 -S 0 -R 1", np=2)
    ranks = mdw.wait_for_ranks(proc, 2)
    wait_for(proc, (mdw.dir / "1_0" / "file-19999").exists)
    wait_for(proc, lambda: not (mdw.dir / "1_0" / "file-0").exists())
    os.kill(ranks[-1], signal.SIGTERM)
    run = mdw.finish(proc)
    assert run.returncode in (0, 6), run  # it may have been over by then
    mdw.clean()


def test_a_signal_during_a_long_wait_ends_the_run(mdw):
    proc = mdw.start("-P 2 -I 10 -R 1 -D 1 -t 1e6", np=1)
    ranks = mdw.wait_for_ranks(proc, 1)
    mdw.wait_for_delay(proc, ranks)
    os.kill(ranks[0], signal.SIGTERM)
    run = mdw.finish(proc, timeout=SECONDS).fails(6, "interrupted in the benchmark phase")
    conftest.timely(run.elapsed < SECONDS, run)
    mdw.clean()


def test_a_signal_leaves_the_sets_of_an_earlier_run_and_their_position(mdw):
    mdw("-P 10 -D 2 -1").ok()
    proc = mdw.start("-P 10 -I 1000000 -R 1000 -D 2 -2", np=2)
    ranks = mdw.wait_for_ranks(proc, 2)
    mdw.wait_for(proc, 50)
    os.kill(ranks[0], signal.SIGTERM)
    mdw.finish(proc).fails(6, "interrupted in the benchmark phase")
    assert len(mdw.names()) >= 2 * 2 * 11 - 4 and mdw.position() != "pos: 0\n"
    mdw("-P 10 -D 2 -3").ok()
    mdw.clean()


def test_what_a_killed_rank_leaves_can_be_removed(mdw):
    proc = mdw.start("-P 10 -I 1000000 -R 1000 -D 2", np=2)
    ranks = mdw.wait_for_ranks(proc, 2)
    mdw.wait_for(proc, 50)
    os.kill(ranks[1], signal.SIGKILL)
    assert mdw.finish(proc).returncode != 0
    assert mdw.dir.exists()
    last = max(int(p.name[5:]) for p in mdw.dir.rglob("file-*"))
    (mdw.cwd / "left").write_text("pos: 0\nfirst: 0\nend: %d\n" % (last + 1))
    mdw("-P 10 -D 2 -3 --run-info-file=left").ok()
    mdw.clean()


# ---- output that cannot be written ----

@pytest.mark.parametrize("args", ["--report=json:no/such/file", "--report=text:/dev/full", "-L no/such/prefix",
                                  "-1 --run-info-file=no/such/file", "-1 -2 --run-info-file=/"])
def test_a_result_that_cannot_be_written_is_an_error(mdw, args):
    run = mdw(SMALL + args).ok(2)
    assert len(run.errors) == 1, run
    mdw.clean()


# ---- bad input ----

BAD = [
    ("-O x", "-O"), ("-O 1.5", "-O"), ("-a nothing", "POSIX"), ("-a ''", "api"), ("-I -1", "-I"), ("-I abc", "-I"), ("-I=", "-I"),
    ("-P -1", "-P"), ("-P 1x", "-P"), ("-P 99999999999", "-P"), ("-D 0", "-D"), ("-D -3", "-D"), ("-D many", "-D"), ("-o ''", "-o"),
    ("-S -1", "-S"), ("-S x", "-S"), ("-S 3g", "-S"), ("-R 0", "-R"), ("-R -1", "-R"), ("-R x", "-R"), ("-G x", "-G"),
    ("-G 99999999999", "-G"), ("-t x", "waiting-time"), ("-t -1", "waiting-time"), ("-t nan", "waiting-time"), ("-t inf", "waiting-time"),
    ("-t=", "-t"), ("-t 1e7", "waiting-time"), ("-T=maybe", "-T"), ("-1=x", "-1"), ("-2=x", "-2"), ("-3=", "-3"), ("-w -1", "-w"),
    ("-w 1.5x", "-w"), ("-W=x", "-W"), ("-X=x", "-X"), ("--dataPacketType=z", "dataPacketType"), ("--dataPacketType=signature", "dataPacketType"),
    ("-L ''", "latency"), ("--latency-all=x", "latency-all"), ("-q=x", "-q"), ("-v=x", "-v"), ("--start-item=-1", "start-item"),
    ("--start-item=9223372036854775807", "start-item"), ("--print-detailed-stats=x", "print-detailed-stats"), ("--read-only=x", "read-only"),
    ("--ignore-precreate-errors=x", "ignore-precreate-errors"), ("--process-reports=x", "process-reports"), ("--run-info-file=", "run-info-file"),
    ("--report=xml:f", "xml"), ("--report=", "report"), ("--allocateBufferOnGPU=4", "GPU"), ("--GPUid=x", "GPU"), ("--gpuDirect=1", "gpuDirect"),
    ("--no-such-option", "no-such-option"), ("word", "word"), ("-Iq", "-I"), ("-Tz", "z"), ("--posix.nothing", "posix.nothing"),
    ("-D 2000000000 -I 2000000000 -R 2000000000", "counted"),
]


@pytest.mark.parametrize("args, word", BAD, ids=[case[0].replace("/", "_") for case in BAD])
def test_bad_input_is_refused_before_anything_happens(mdw, args, word):
    run = mdw(args, np=None, timeout=SECONDS).fails(1, word)
    assert not mdw.dir.exists() and lines(run, "precreate") == []


@pytest.mark.parametrize("text", ["", "position 3\n", "pos: x\n", "pos: -1\n", "pos: 3\nfirst: 2\n", "pos: 3\nfirst: 9\nend: 2\n", "\0" * 10, "pos:",
                                  "pos: 99999999999999999999\n"])
@pytest.mark.parametrize("phase", ["-2", "-3"])
def test_a_broken_run_info_file_is_refused(mdw, text, phase):
    (mdw.cwd / "md-workbench.status").write_text(text)
    mdw(SMALL + phase, np=None, timeout=SECONDS).fails(1, "run-info file")
