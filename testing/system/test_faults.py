# SPDX-License-Identifier: BSD-3-Clause
"""Failure is part of the job: one clear line, the right status, everybody out within seconds, own files removed."""
import os
import re
import signal
import time

import pytest

import conftest

SECONDS = 20  # "within seconds" on a busy machine: far below what the run would take


# ---- places that do not work ----

@pytest.fixture
def small(ior):
    """A file system of one MiB: small/ in the working directory."""
    with conftest.on_tmpfs(ior.cwd / "small", "size=1m") as path:
        yield path


@pytest.fixture
def unwritable(ior):
    """A directory in which nothing can be made, not even by root."""
    path = ior.cwd / "locked"
    if os.geteuid() != 0:
        path.mkdir()
        path.chmod(0o555)
        yield path
        path.chmod(0o755)
        return
    with conftest.on_tmpfs(path, "ro,size=64k"):
        yield path


FULL = ["", "-F", "-e", "-a MPIIO", "-a MPIIO -c", "-a MPIIO -F", "-a MPIIO -c --mpiio.useFileView", "-a HDF5", "-a HDF5 -c", "-a HDF5 -F"]


@pytest.mark.parametrize("args", FULL)
def test_a_full_file_system_is_an_error_and_its_files_are_removed(ior, small, need_backend, args):
    need_backend(args.split()[1] if "-a" in args else "POSIX")
    (small / "of somebody else").write_text("stays")
    run = ior("--no-space-check -w -r -b 1m -t 64k -s 2 -o small/f " + args, timeout=SECONDS).fails(3, "small/f")
    assert "No space left" in run.errors[0] or "full" in run.errors[0] or args.startswith("-a HDF5"), run
    assert os.listdir(small) == ["of somebody else"], run
    assert run.stdout.endswith("\n") and "Finished" in run.stdout, run


def test_a_file_of_a_failed_write_is_kept_on_request(ior, small):
    ior("--no-space-check -w -k -b 1m -t 64k -s 2 -o small/f", timeout=SECONDS).fails(3)
    assert os.listdir(small) == ["f"]


def test_earlier_repetitions_are_reported_when_a_later_one_fails(ior, small):
    """The second repetition finds the space taken by somebody else."""
    run = ior("-a DUMMY -w -i 3 -b 8k -t 8k --dummy.fail-at=2", np=2).fails(3)
    assert [row["iter"] for row in run.rows] == [0]
    assert [row["reps"] for row in run.summary] == [1]


@pytest.mark.parametrize("args", ["", "-F", "-a MPIIO", "-a MPIIO -F", "-a HDF5", "-a HDF5 -F"])
def test_a_directory_that_cannot_be_written_is_an_error(ior, unwritable, need_backend, args):
    need_backend(args.split()[1] if "-a" in args else "POSIX")
    ior("-w -b 8k -t 8k -o locked/f " + args, timeout=SECONDS).fails(3, "locked/f")


@pytest.mark.parametrize("args", ["-w", "-w -F", "-r", "-w -a MPIIO", "-r -a MPIIO", "-w -a MPIIO -F", "-w -a HDF5", "-r -a HDF5",
                                  "-w -F -u"])
def test_a_directory_that_is_not_there_is_an_error(ior, need_backend, args):
    need_backend(args.split("-a ")[1].split()[0] if "-a" in args else "POSIX")
    run = ior("-b 8k -t 8k -o nowhere/f " + args, timeout=SECONDS).fails(3, "nowhere/")
    assert "no such file" in run.errors[0].lower() or "HDF5" in args, run
    assert ior.files() == []


def test_a_working_directory_that_was_removed_is_an_error(ior):
    """Open MPI crashes in MPI_File_open there, and is not asked for it."""
    lost = ["sh", "-c", 'mkdir gone && cd gone && rmdir ../gone && exec "$0" "$@"']
    for api in sorted({"POSIX", "MPIIO", "HDF5", "NCMPI"} & set(conftest.backends())):
        ior("-b 8k -t 8k -o f -a " + api, np=None, prefix=lost, timeout=SECONDS).fails(3, "'f'")


@pytest.mark.sanitize
@pytest.mark.parametrize("args", ["-r", "-R -G 1", "-r -F", "-W -G 1", "-r -a MPIIO", "-r -a MPIIO -c", "-r -a HDF5", "-r -a HDF5 -c",
                                  "-r -z"])
def test_a_file_that_is_not_there_cannot_be_read(ior, need_backend, args):
    need_backend(args.split("-a ")[1].split()[0] if "-a" in args else "POSIX")
    ior("-b 8k -t 4k " + args, timeout=SECONDS).fails(3, "testFile")
    assert ior.files() == []


def test_one_of_several_files_that_is_missing_is_named(ior):
    ior("-w -k -F -b 8k -t 8k", np=3).ok()
    (ior.cwd / "testFile.00000001").unlink()
    ior("-r -F -b 8k -t 8k", np=3, timeout=SECONDS).fails(3, "testFile.00000001", "rank 1", "No such file")
    assert ior.files() == ["testFile.00000000", "testFile.00000002"]


@pytest.mark.parametrize("args", ["", "-a MPIIO", "-a MPIIO -c", "-R -G 1", "-C", "-a MPIIO --mpiio.useFileView"])
def test_a_file_that_ends_early_is_an_error_and_stays(ior, need_backend, args):
    need_backend(args.split()[1] if "-a" in args else "POSIX")
    (ior.cwd / "testFile").write_bytes(bytes(100000))
    run = ior("-r -b 64k -t 16k " + args, timeout=SECONDS).fails(3, "testFile")
    assert "end of file" in run.errors[0] or "1696 of 16384 bytes" in run.errors[0], run
    assert ior.files() == ["testFile"]


def test_hdf5_without_memory_for_its_lists_is_an_error_of_the_set_up(ior, preload, need_backend):
    need_backend("HDF5")
    run = ior("-a HDF5 -w", np=None, env={"LD_PRELOAD": preload("refuse-alignment.c")})
    run.fails(2, "HDF5 property lists", "the library gives no reason")
    assert ior.files() == []


@pytest.mark.parametrize("args", ["", "-c", "-F"])
def test_a_file_that_is_no_hdf5_file_is_an_error(ior, need_backend, args):
    need_backend("HDF5")
    for name in ("testFile", "testFile.00000000", "testFile.00000001"):
        (ior.cwd / name).write_bytes(bytes(100000))
    run = ior("-a HDF5 -r -b 16k -t 8k " + args, timeout=SECONDS).fails(3, "testFile")
    assert run.messages == ["ERROR: " + run.errors[0]], run


def test_a_file_without_the_last_datasets_is_an_error(ior, need_backend):
    need_backend("HDF5")
    ior("-a HDF5 -w -k -b 16k -t 8k -s 2").ok()
    run = ior("-a HDF5 -r -b 16k -t 8k -s 4", timeout=SECONDS).fails(3, "testFile", "Dataset-0000.0002")
    assert run.messages == ["ERROR: " + run.errors[0]], run


def test_a_directory_in_place_of_the_file_is_an_error(ior):
    (ior.cwd / "testFile").mkdir()
    ior("-w -b 8k -t 8k", timeout=SECONDS).fails(1, "testFile", "directory")
    assert ior.files() == ["testFile"]


def test_direct_io_with_a_wrong_size_names_the_alignment_before_any_io(ior):
    run = ior("--posix.odirect -w -b 2000 -t 1000", timeout=SECONDS)
    if "not support" in run.stderr or "Invalid argument" in run.stderr:
        pytest.skip("no O_DIRECT here")
    assert run.returncode in (1, 2) and len(run.errors) == 1 and re.search(r"multiple|align", run.errors[0]), run
    assert re.search(r"\b(512|1024|2048|4096|8192|65536)\b", run.errors[0]), run
    assert ior.files() == [] and run.rows == []


# ---- the injector: every operation can fail, on every rank or on one ----

@pytest.mark.sanitize
@pytest.mark.parametrize("op, flags, words", [
    ("xfer", "", ["transfer"]), ("open", "", ["open"]), ("close", "", ["close"]), ("sync", "-e", ["sync"]), ("sync", "-Y", ["sync"]),
    ("xfer", "-F", []), ("xfer", "-c", []), ("close", "-g", []), ("xfer", "-g -C", []),
])
@pytest.mark.parametrize("rank", [1])
def test_an_operation_that_fails_on_one_rank_is_reported_with_rank_file_and_reason(ior, op, flags, words, rank):
    run = ior("-a DUMMY --dummy.store -w -r -b 32k -t 8k -i 2 --dummy.fail-at=1 --dummy.fail-op=%s --dummy.fail-rank=%d %s" % (
        op, rank, flags), np=3, timeout=SECONDS).fails(3, "testFile", "Input/output error", "rank %d" % max(rank, 0))
    assert run.rows == [] and "Finished" in run.stdout
    assert ior.files() == [], run


@pytest.mark.parametrize("op", ["xfer", "open", "close"])
def test_what_fails_on_every_rank_is_reported_once(ior, op):
    run = ior("-a DUMMY -w -b 32k -t 8k --dummy.fail-at=1 --dummy.fail-op=" + op, np=3, timeout=SECONDS).fails(3, "rank 0", "2 more ranks failed")
    assert run.messages == ["ERROR: " + run.errors[0]], run


def test_the_failed_transfer_is_named_with_its_place(ior):
    run = ior("-a DUMMY -w -b 32k -t 8k -s 3 --dummy.fail-at=6 --dummy.fail-rank=1", np=2, timeout=SECONDS).fails(3, "rank 1")
    # the second transfer of rank 1 in segment 1: 64k + 32k + 8k
    assert re.search(r"\b106496\b", run.errors[0]), run


@pytest.mark.parametrize("code, text", [("EIO", "Input/output error"), ("ENOSPC", "No space left"), ("EDQUOT", "quota"),
                                        ("EACCES", "Permission denied"), ("ESTALE", "Stale")])
def test_the_reason_is_the_systems(ior, code, text):
    ior("-a DUMMY -w -b 32k -t 8k --dummy.fail-at=2 --dummy.fail-errno=" + code, np=None, timeout=SECONDS).fails(3, text)


@pytest.mark.parametrize("code", ["EINTR", "EAGAIN"])
def test_an_interrupted_operation_is_repeated(ior, code):
    run = ior("-a DUMMY -w -b 32k -t 8k --dummy.fail-at=2 --dummy.fail-errno=" + code, np=None, timeout=SECONDS).ok()
    conftest.sound(run, 32768)


def test_short_transfers_are_continued(ior):
    run = ior("-a DUMMY --dummy.store --dummy.short-every=2 -w -W -r -R -G 2 -b 32k -t 8k").ok()
    conftest.sound(run, 65536)
    assert run.warnings == []


def test_short_transfers_are_errors_on_request(ior):
    ior("-a DUMMY --dummy.short-every=2 -x -w -b 32k -t 8k", timeout=SECONDS).fails(3, "short")


def test_a_failed_rank_does_not_leave_a_busy_one_behind(ior):
    """Rank 1 would work for more than half an hour."""
    ior("-a DUMMY -w -F -b 8k -t 8k -s 100000 --dummy.delay-xfer=20000 --dummy.fail-at=10 --dummy.fail-rank=0", timeout=SECONDS).fails(3)


@pytest.mark.parametrize("args", ["-O stoneWallingWearOut=1 -D 1", "-g", "-c", "-Y", "-O minTimeDuration=1000"])
def test_a_failed_rank_ends_the_run_with(ior, args):
    ior("-a DUMMY -w -b 8k -t 8k -s 100000 --dummy.delay-xfer=10000 --dummy.fail-at=5 --dummy.fail-rank=1 " + args,
        np=3, timeout=SECONDS).fails(3, "rank 1")


@pytest.mark.parametrize("args, rank", [("-a MPIIO -c", 0), ("-a MPIIO -c", 1), ("-a MPIIO", 1), ("-a HDF5 -c", 0), ("-a HDF5", 1),
                                        ("-a MPIIO -c --mpiio.useFileView", 0), ("-a MPIIO -Y", 1), ("-a POSIX -Y", 1)])
def test_one_rank_that_cannot_write_further_fails_for_all(ior, need_backend, args, rank):
    """The size of files is limited for one rank only, below what is written."""
    need_backend(args.split()[1])
    limit = 'trap "" XFSZ; [ "${OMPI_COMM_WORLD_RANK-$PMI_RANK}" != %d ] || ulimit -f 128; exec "$0" "$@"' % rank
    run = ior("-w -r -b 64k -t 16k -s 8 -o f " + args, prefix=["sh", "-c", limit], env=conftest.SMALL_FILES, timeout=SECONDS)
    if run.returncode == 0 and "-c" in args:
        pytest.skip("the library wrote the data of this rank from another one")
    run.fails(2 if "HDF5" in args else 3)  # HDF5 would not survive it, and does not begin
    assert ior.files() == [], run


# With HDF5 the run does not begin (test_a_full_file_system...): its way out needs memory files, which this limit is for, too.
@pytest.mark.parametrize("api, np", [("POSIX", 2), ("AIO", None), ("MPIIO", None), ("MPIIO -c", 2), ("MMAP", None), ("NCMPI", 2)])
def test_a_file_that_cannot_grow_is_one_error(ior, need_backend, api, np):
    """A write without progress ends the run at once and with one line, also where every rank has it."""
    need_backend(api.split()[0])
    limit = ["sh", "-c", 'trap "" XFSZ; ulimit -f 128; exec "$0" "$@"']
    run = ior("-a %s -w -b 256k -t 64k" % api, np=np, prefix=limit, env=conftest.SMALL_FILES, timeout=SECONDS).fails(3)
    assert run.stderr.count("testFile") == 1 and "Finished" in run.stdout and ior.files() == []


def test_an_error_leaves_what_was_measured(ior):
    """Repetitions that were finished are in the table and in the summary."""
    run = ior("-a DUMMY -w -r -i 4 -b 16k -t 8k --dummy.fail-at=9 --dummy.fail-rank=1").fails(3, "rank 1")
    assert [(row["access"], row["iter"]) for row in run.rows] == [("write", 0), ("read", 0), ("write", 1), ("read", 1)]
    assert [row["reps"] for row in run.summary] == [2, 2] and "Finished" in run.stdout


def test_a_read_that_fails_keeps_the_files_of_an_earlier_run(ior):
    ior("-a DUMMY --dummy.store -w -k -b 16k -t 8k").ok()
    ior("-a DUMMY --dummy.store -r -b 16k -t 8k --dummy.fail-at=2", timeout=SECONDS).fails(3)
    assert ior.files() == ["testFile"]


def test_a_failure_removes_the_directories_of_its_own(ior):
    ior("-a DUMMY --dummy.store -w -F -u -b 16k -t 8k --dummy.fail-at=2 -o x", timeout=SECONDS).fails(3)
    assert ior.files() == []


def test_the_tests_before_the_failed_one_are_in_the_summary(ior):
    (ior.cwd / "s").write_text("IOR START\napi=DUMMY\nblockSize=8k\ntransferSize=8k\nRUN\ndummy.fail-at=1\nRUN\nRUN\nIOR STOP\n")
    run = ior("-f s", timeout=SECONDS).fails(3)
    assert [(row["operation"], row["test"]) for row in run.summary if row["reps"]] == [("write", 0), ("read", 0)]


def test_a_warning_is_an_error_on_request(ior):
    (ior.cwd / "testFile").write_text("old")
    run = ior("-w --warning-as-errors -b 8k -t 8k", timeout=SECONDS)
    assert run.returncode == 1 and len(run.errors) == 1 and "testFile" in run.errors[0], run
    assert (ior.cwd / "testFile").read_text() == "old"


# ---- signals ----

WORK = "-w -r -k=0 -b 8k -t 8k -s 100000 -i 3 -O interIODelay=5000 "


def interrupt(ior, args, which, number, rows=0, np=2):
    """A run with delays has a signal in its first phase, or when it has shown so many rows of write phases."""
    proc, pids = ior.begin(args, np)
    conftest.wait_until(lambda: os.pread(proc.out.fileno(), 1 << 20, 0).count(b"\nwrite ") >= rows)
    for pid in pids if which is None else [pids[which]]:
        os.kill(pid, number)
    return ior.finish(proc, SECONDS)


@pytest.mark.parametrize("args", ["", "-F", "-g", "-F -u", "-a MPIIO", "-a MPIIO -c", "-a HDF5 -s 500", "-a HDF5 -c -s 500", "-e -Y -a MPIIO",
                                  "-D 100 -O stoneWallingWearOut=1", "-z -F"])
def test_sigterm_ends_the_run_in_order(ior, need_backend, args):
    need_backend(args.split("-a ")[1].split()[0] if "-a" in args else "POSIX")
    run = interrupt(ior, WORK + args, None, signal.SIGTERM)
    assert run.returncode == 6 and len(run.errors) == 1 and "interrupt" in run.errors[0], run
    assert run.accesses() == ["write"] and run.rows[0]["bw"] > 0, run
    conftest.sound(run)
    assert [row["operation"] for row in run.summary if row["reps"]] == ["write"] and "Finished" in run.stdout, run
    assert ior.files() == [], run


@pytest.mark.parametrize("number, which", [(signal.SIGINT, None), (signal.SIGINT, 0), (signal.SIGTERM, 0), (signal.SIGTERM, 1), (signal.SIGINT, 2)])
def test_a_signal_to_one_rank_or_all_ends_all(ior, number, which):
    run = interrupt(ior, WORK, which, number, np=3)
    assert run.returncode == 6 and len(run.errors) == 1, run
    assert run.accesses() == ["write"] and ior.files() == [], run


def test_a_signal_while_reading_shows_what_was_read(ior):
    (ior.cwd / "testFile").write_bytes(bytes(16384 * 4000))
    run = interrupt(ior, "-r -b 8k -t 8k -s 4000 -O interIODelay=5000", 1, signal.SIGTERM)
    assert run.returncode == 6 and run.accesses() == ["read"], run
    assert ior.files() == ["testFile"]


def test_a_signal_during_an_untimed_check_ends_the_run(ior):
    run = interrupt(ior, "-a DUMMY --dummy.store -w -W -b 8k -t 8k -s 100 --dummy.delay-xfer=20000", None, signal.SIGTERM, rows=1).ok(6)
    assert run.accesses() == ["write"] and ior.files() == [], run


def test_earlier_repetitions_are_in_the_summary_of_an_interrupted_run(ior):
    run = interrupt(ior, "-a DUMMY -w -F -b 8k -t 8k -s 10 -i 1000 --dummy.delay-xfer=10000", None, signal.SIGINT, rows=3)
    assert run.returncode == 6 and len(run.rows) >= 3, run
    assert run.summary[0]["reps"] in (len(run.rows), len(run.rows) - 1), run


def test_files_stay_after_a_signal_on_request(ior):
    run = interrupt(ior, WORK.replace("-k=0", "-k"), None, signal.SIGTERM)
    assert run.returncode == 6 and ior.files() == ["testFile"], run


def test_a_second_signal_does_no_harm(ior):
    """A stopped process gets all of them at one time, however long it takes to send them."""
    proc, pids = ior.begin(WORK, 2)
    for number in (signal.SIGSTOP, signal.SIGTERM, signal.SIGINT, signal.SIGTERM, signal.SIGCONT):
        for pid in pids:
            os.kill(pid, number)
    run = ior.finish(proc, SECONDS)
    assert run.returncode == 6 and ior.files() == [], run


def test_a_signal_in_the_long_wait_before_a_phase_ends_it(ior):
    proc, pids = ior.begin("-w -d 600 -b 8k -t 8k", 2)
    conftest.wait_until(lambda: all(conftest.is_in_a_delay(pid) for pid in pids))  # no barrier precedes this wait
    for pid in pids:
        os.kill(pid, signal.SIGTERM)
    run = ior.finish(proc, SECONDS)
    assert run.returncode == 6 and ior.files() == [], run


def test_a_signal_ends_a_run_whose_phases_are_all_skipped(ior):
    (ior.cwd / "s").write_text("IOR START\napi=DUMMY\nRUN\nmaxTimeDuration=1e-9\nrepetitions=2147483647\nRUN\nIOR STOP\n")
    proc = ior.start("-f s", np=None)
    while proc.poll() is None and os.fstat(proc.err.fileno()).st_size == 0:
        time.sleep(0.02)  # until the second test skips its first phase
    os.kill(proc.pid, signal.SIGTERM)
    ior.finish(proc, SECONDS).fails(6, "interrupted")


# ---- output that cannot be delivered ----

@pytest.mark.parametrize("redirect", [">/dev/full", ">&-"])
@pytest.mark.parametrize("args", ["-w -b 64k -t 64k", "--help", "--version", "--dump-options=json"])
def test_results_that_cannot_be_written_are_an_error(ior, redirect, args):
    np = 1 if args.startswith("-w") else None
    run = ior(args, np=np, prefix=["sh", "-c", 'exec "$0" "$@" ' + redirect], timeout=SECONDS)
    assert run.returncode == 2 and len(run.errors) == 1, run
    assert ior.files() == []


def test_a_result_file_that_cannot_be_opened_is_found_before_any_io(ior):
    run = ior("-w -k -b 8k -t 8k -O summaryFile=nowhere/out", timeout=SECONDS).fails(2, "nowhere/out")
    assert ior.files() == [], run


def test_a_closed_standard_error_does_no_harm(ior):
    ior("-w -b 8k -t 8k", prefix=["sh", "-c", 'exec "$0" "$@" 2>&-']).ok()
    assert ior.files() == []


def test_a_closed_standard_output_is_not_mistaken_for_a_test_file(ior):
    ior("-w -k -b 8k -t 8k", np=1, prefix=["sh", "-c", 'exec "$0" "$@" >&- 2>&-'])
    data = (ior.cwd / "testFile").read_bytes() if (ior.cwd / "testFile").exists() else b""
    assert b"IOR-4" not in data and b"ERROR" not in data


def test_closed_standard_input_output_and_error_do_not_crash(ior):
    run = ior("-w -b 8k -t 8k", np=1, prefix=["sh", "-c", 'exec "$0" "$@" <&- >&- 2>&-'], timeout=SECONDS)
    assert run.returncode == 2, run
