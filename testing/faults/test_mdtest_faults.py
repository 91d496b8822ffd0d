# SPDX-License-Identifier: BSD-3-Clause
"""mdtest when something fails: one clear line, the right status, nobody hangs, own trees removed. And bad input of every option."""
import errno
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "system"))
import conftest  # noqa: E402
from mdtest_support import mdtest, tmpfs  # noqa: E402,F401

SECONDS = 20  # "within seconds" on a busy machine


# ---- injected failures of each call ----

CALLS = [
    ("mkdir", "EIO", "create directory", "dir.mdtest.1.4"),
    ("mkdir", "ENOSPC", "create directory", "No space left on device"),
    ("rmdir", "EACCES", "remove directory", "Permission denied"),
    ("stat", "ESTALE", "stat", "Stale file handle"),
    ("rename", "EIO", "rename", "dir.mdtest.1.4"),
    ("open", "EDQUOT", "open", "Disk quota exceeded"),
    ("close", "EIO", "close", "file.mdtest.1.4"),
    ("unlink", "EROFS", "remove", "Read-only file system"),
    ("xfer", "ENOSPC", "write 8 bytes", "No space left on device"),
    ("sync", "EIO", "sync", "file.mdtest.1.4"),
]


@pytest.mark.parametrize("call, name, what, where", CALLS, ids=["%s-%s" % case[:2] for case in CALLS])
def test_a_call_that_fails_on_one_rank_ends_the_run_on_all(mdtest, call, name, what, where):
    args = "-a DUMMY --dummy.store --dummy.fail-op=%s --dummy.fail-errno=%s --dummy.fail-at=5 --dummy.fail-rank=1 -n 10 -w 8 -e 8 -y"
    run = mdtest(args % (call, name), np=3, timeout=SECONDS).fails(3, "rank 1 on ", what, where)
    assert run.messages[-1] == "ERROR: " + run.errors[0], run
    mdtest.empty()


@pytest.mark.parametrize("rank", [0, 1])
def test_a_place_of_trees_that_one_rank_cannot_make_ends_the_run_on_all(mdtest, shim, rank):
    """One rank makes it in each of two directories. The others go no further, and what was made is removed."""
    env = {"LD_PRELOAD": shim, "FAULT_PREFIX": str(mdtest.cwd) + "/", "FAULT": "call=mkdir rank=%d count=2 errno=ENOSPC" % rank}
    run = mdtest("-u -n 4 -d a@b", np=3, timeout=SECONDS, env=env)
    run.fails(3, "rank %d on " % rank, "create directory '%s/test-dir.0-0'" % "ab"[rank], "No space left on device")
    assert not (mdtest.cwd / "a").exists() and not (mdtest.cwd / "b").exists()


SYSTEM = [("rename", "--move", "EIO", 3), ("rename", "--move", "EIO", 4), ("link", "--link", "ENOSPC", 3), ("symlink", "--symlink", "EDQUOT", 3),
          ("chmod", "--chmod", "EROFS", 3), ("setxattr", "--xattr=5", "EOPNOTSUPP", 1), ("readdir", "--readdir", "EIO", 3),
          ("unlink", "--link", "EROFS", 3)]


@pytest.mark.parametrize("phases", ["-C -r", "-U"])
@pytest.mark.parametrize("call, option, name, nth", SYSTEM, ids=["%s-%d" % (case[0], case[3]) for case in SYSTEM])
def test_a_call_of_a_phase_behind_an_option_that_fails_leaves_nothing(mdtest, shim, call, option, name, nth, phases):
    """With -U alone the items of an earlier run stay as they were."""
    shape = "-I 3 -z 1 -b 2 -F --existing=reuse "
    if phases == "-U":
        mdtest(shape + "-C", np=3).ok()
    before = mdtest.names("")
    env = {"LD_PRELOAD": shim, "FAULT_PREFIX": str(mdtest.dir) + "/test-dir.0-0/mdtest_tree.0",
           "FAULT": "call=%s rank=1 count=%d errno=%s" % (call, nth, name)}
    run = mdtest(shape + phases + " " + option, np=3, timeout=SECONDS, env=env)
    run.fails(3, "rank 1 on ", str(mdtest.dir), os.strerror(getattr(errno, name)))
    assert mdtest.names("") == before if before else mdtest.empty() is None


def test_a_failed_operation_counts_as_nothing(mdtest):
    run = mdtest("-a DUMMY --dummy.fail-op=stat --dummy.fail-at=5 -n 10 -F").ok(3)
    assert run.rates()["File stat"] == 0 and run.rates()["File read"] == 0


def test_mknod_that_fails_is_an_error(mdtest):
    mdtest("-a DUMMY --dummy.fail-op=mknod --dummy.fail-at=2 -n 5 -F -k").fails(3, "mknod '", "file.mdtest.0.1")


def test_syncfs_that_fails_is_an_error(mdtest):
    mdtest("-a DUMMY --dummy.fail-op=syncfs --dummy.fail-at=1 -n 5 -F -Y").fails(3, "syncfs")


def test_a_corrupt_read_is_wrong_data(mdtest):
    run = mdtest("-a DUMMY --dummy.corrupt-at=3 -n 5 -F -w 64 -e 64 -X").ok(4)
    assert "(2 errors)" in run.stdout and any("file.mdtest.0.2" in note for note in run.notes)
    mdtest.empty()


def test_a_corrupt_read_back_is_wrong_data(mdtest):
    mdtest("-a DUMMY --dummy.corrupt-at=2 -n 5 -F -C -w 64 --verify-write").ok(4)


def test_short_transfers_are_continued(mdtest):
    mdtest("-a DUMMY --dummy.store --dummy.short-every=2 -n 5 -F -w 64 -e 64 -X").ok()


# ---- what is not there, not enough, not ours ----

def test_files_that_are_not_there_are_not_removed(mdtest):
    mdtest.dir.mkdir()
    mdtest("-n 2 -F -r", np=1).fails(3, "file.mdtest.0.0", "No such file or directory")


def test_directories_that_are_not_there_are_not_stated(mdtest):
    mdtest("-n 2 -D -T", np=2).fails(3, "dir.mdtest.0.0", "No such file or directory")


def test_a_missing_parent_is_told_before_anything_runs(mdtest):
    run = mdtest("-n 2 -F -d %s/no/such/place" % mdtest.cwd).fails(
        3, "create directory '%s/no/such/place': No such file or directory ('%s/no/such' does not exist" % (mdtest.cwd, mdtest.cwd))
    assert "SUMMARY" not in run.stdout


def test_a_file_in_the_place_of_the_directory_is_told(mdtest):
    (mdtest.cwd / "file").write_text("")
    mdtest("-n 2 -F -d %s/file" % mdtest.cwd).fails(1, "/file' is a file; give a directory")
    mdtest("-n 2 -F -d %s/file/below" % mdtest.cwd).fails(1, "/file' is a file, not a directory")


def test_a_file_that_is_too_short_is_an_error(mdtest):
    mdtest("-n 3 -F -C -w 64").ok()
    mdtest("-n 3 -F -E -e 128").fails(3, "file.mdtest.0.0", "64", "end of file")


def test_a_tree_with_something_foreign_stays_and_is_told(mdtest):
    mdtest("-n 3 -F -C").ok()
    foreign = mdtest.dir / "test-dir.0-0" / "mdtest_tree.0" / "foreign"
    foreign.write_text("keep")
    mdtest("-n 3 -F -r").fails(3, "mdtest_tree.0", "Directory not empty")
    assert foreign.read_text() == "keep"


def test_a_failed_run_leaves_what_was_there_before(mdtest):
    mdtest("-n 3 -D -C").ok()
    before = mdtest.names("")
    run = mdtest("-n 3 -D -C").ok(3)
    assert mdtest.names("") == before
    assert any("--cleanup" in note for note in run.notes), run
    assert "File exists" in run.errors[0] and run.errors == [run.errors[0]] * 2 and run.messages[-1] == "ERROR: " + run.errors[0], run


@pytest.fixture
def small(mdtest):
    path = mdtest.cwd / "small"

    def mount(options):
        tmpfs(path, options)
        return path
    yield mount
    subprocess.run(["umount", "-l", str(path)], check=False, capture_output=True)


def test_a_full_inode_table_is_an_error_and_cleaned_up(mdtest, small):
    place = small("size=10m,nr_inodes=40") / "t"
    run = mdtest("--no-space-check -n 100 -F -d %s" % place, np=2, timeout=SECONDS).fails(3, "file.mdtest.", "No space left on device")
    assert any("inodes" in w for w in run.warnings)
    assert not place.exists()


def test_a_full_disk_is_an_error_and_cleaned_up(mdtest, small):
    place = small("size=1m") / "t"
    run = mdtest("--no-space-check -n 100 -F -w 64k -d %s" % place, np=2, timeout=SECONDS).fails(3, "write", "No space left on device")
    assert any("bytes" in w for w in run.warnings)
    assert not place.exists()


def test_a_full_inode_table_stops_directories_too(mdtest, small):
    place = small("size=10m,nr_inodes=40") / "t"
    mdtest("--no-space-check -n 100 -D -d %s" % place, np=2, timeout=SECONDS).fails(3, "dir.mdtest.", "No space left on device")
    assert not place.exists()


def test_a_read_only_file_system_is_told(mdtest, small):
    place = small("size=1m,ro")
    mdtest("-n 2 -F -d %s" % place).fails(3, "test-dir.0-0", "Read-only file system")


def test_a_directory_that_vanishes_is_an_error(mdtest):
    proc = mdtest.start("-n 2000000 -F -C", np=2)
    tree = mdtest.dir / "test-dir.0-0"
    conftest.wait_until((tree / "mdtest_tree.0" / "file.mdtest.1.10").exists)
    tree.rename(mdtest.cwd / "gone")
    run = mdtest.finish(proc, timeout=60).fails(3, "file.mdtest.", "No such file or directory")
    conftest.timely(run.elapsed < 60, run)
    shutil.rmtree(mdtest.cwd / "gone")


# ---- signals ----

@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("args", ["-n 3000000 -F", "-n 2000 -i 100000 -b 2 -z 2 -u"])
def test_a_signal_ends_the_run_and_removes_the_tree(mdtest, number, args):
    proc = mdtest.start(args, np=2)
    ranks = mdtest.wait_for_ranks(proc, 2)
    conftest.wait_until((mdtest.dir / "test-dir.0-0").exists)
    time.sleep(0.5)  # further on, or not: it ends in both cases
    os.kill(ranks[-1], number)
    run = mdtest.finish(proc, timeout=60).fails(6, "interrupted")
    assert "SUMMARY" in run.stdout
    mdtest.empty()


@pytest.mark.parametrize("which", [0, 2])
def test_a_signal_to_one_task_ends_the_delay_of_all(mdtest, which):
    proc = mdtest.start("-n 10 -F -p 600", np=3)
    ranks = mdtest.wait_for_ranks(proc, 3)
    mdtest.wait_for_delay(proc, ranks)
    os.kill(ranks[which], signal.SIGTERM)
    mdtest.finish(proc, timeout=SECONDS).fails(6, "interrupted")
    mdtest.empty()


def test_what_a_killed_rank_leaves_can_be_removed(mdtest):
    proc = mdtest.start("-n 3000000 -F", np=2)
    ranks = mdtest.wait_for_ranks(proc, 2)
    conftest.wait_until((mdtest.dir / "test-dir.0-0/mdtest_tree.0/file.mdtest.0.5").exists)
    os.kill(ranks[1], signal.SIGKILL)
    run = mdtest.finish(proc, timeout=60)
    assert run.returncode != 0
    mdtest("--cleanup %s" % mdtest.dir, np=1).ok()
    mdtest.empty()


# ---- output that cannot be written ----

@pytest.mark.parametrize("option", ["--saveRankPerformanceDetails=no/such/file", "--savePerOpDataCSV=no/such/file",
                                    "--report=json:no/such/file", "--report=text:/dev/full"])
def test_a_result_that_cannot_be_written_is_an_error(mdtest, option):
    run = mdtest("-n 2 -F " + option).ok(2)
    assert len(run.errors) == 1
    mdtest.empty()


def test_a_status_file_that_cannot_be_written_is_an_error(mdtest):
    mdtest("-n 2 -F -W 5 -x no/such/file").fails(2, "no/such/file")
    mdtest.empty()


# ---- bad input ----

BAD = [
    ("-W 2 -b 2 -z 1", "-W"), ("-B 1 -N 1", "-B"), ("-S -c", "-S"), ("-c -d a@b", "-d"), ("-c -B 1", "-B"), ("-u -S", "-u"),
    ("-u -d a@b -N 1", "-d"), ("-d a@b", "-u"), ("-u -d a@b@c@d", "tasks"), ("-u -d a@", "-d"), ("-u -d @a", "-d"),
    ("-z -1", "-z"), ("-z 1 -b 0", "-b"), ("-z 1 -b -3", "-b"), ("-n 4 -I 2 -u", "-u"), ("-n 5 -I 2", "multiple"),
    ("-k -w 8", "-k"), ("-k -S", "-k"), ("-X -C -T", "-X"), ("-X -E", "-e"), ("-w 8 -e 16", "-e"), ("--verify-write", "-w"),
    ("-f 2 -l 1", "-f"), ("-f 1 -l 99", "-l"), ("-s 0 -l 1", "-s"), ("-i 0", "-i"), ("-i -1", "-i"), ("-n -5", "-n"), ("-I -5", "-I"),
    ("-w -1", "-w"), ("-e -1", "-e"), ("-N -1", "-N"), ("-n abc", "-n"), ("-n 1x", "-n"), ("-n=", "-n"), ("-W -1", "-W"),
    ("-b 1000000 -z 100 -n 1", "2^63"), ("-n 9223372036854775807 -I 1 -z 2 -b 4", "2^63"), ("-w 9223372036854775807", "-w"),
    ("--dataPacketType=z", "dataPacketType"), ("-a NOSUCH", "POSIX"), ("-F=", "-F"), ("-F=maybe", "-F"), ("-g", "Lustre"),
    ("--nosuch", "nosuch"), ("-q", "-q"), ("word", "word"), ("-Fq", "q"), ("--allocateBufferOnGPU=4", "GPU"), ("--report=xml:f", "xml"),
    ("--random-seed=-1", "random-seed"), ("--warningAsErrors", "Read bytes"), ("-p -1", "-p"), ("-n 99999999999999999999", "-n"),
]


@pytest.mark.parametrize("args, word", BAD, ids=[case[0] for case in BAD])
def test_bad_input_is_refused_before_anything_happens(mdtest, args, word):
    run = mdtest(args, np=2, timeout=SECONDS).fails(1, word)
    assert not mdtest.dir.exists() and "SUMMARY" not in run.stdout
