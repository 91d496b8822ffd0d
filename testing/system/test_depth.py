# SPDX-License-Identifier: BSD-3-Clause
"""--depth: several transfers of a task in flight, with every backend that has a queue, and what is told of it."""
import json
import os
import re
import subprocess
import sys

import pytest

import conftest
import model
from mdtest_support import mdtest  # noqa: F401
from mib_support import mib  # noqa: F401

QUEUES = {
    "AIO": "-a AIO --depth=8 --aio.granularity=3 ",
    "URING": "-a URING --depth=8 --uring.batch=3 ",
    "URING, nothing registered": "-a URING --depth=8 --uring.buffers=no --uring.files=no --uring.batch=1 ",
    "URING, a thread of the kernel": "-a URING --depth=8 --uring.sqpoll ",
    "POSIX": "-a POSIX --posix.threads=8 ",
    "MPIIO": "-a MPIIO --depth=8 ",
    "MPIIO, through a view": "-a MPIIO --depth=8 --mpiio.useFileView ",
    "MPIIO, collective": "-a MPIIO -c --depth=8 ",
    "DUMMY": "-a DUMMY --dummy.store --dummy.reverse --dummy.short-every=5 --depth=8 ",
}
SUM = dict(block=24576, size=4096, segments=5)  # 30 transfers of a task: several times round the queue


@pytest.fixture(params=["AIO", "URING", "POSIX", "MPIIO", "DUMMY"])
def queue(request, need_backend):
    need_backend(request.param)
    return QUEUES[request.param]


def bytes_of(ior, name):
    return {p.name[len(name):]: p.read_bytes() for p in ior.cwd.iterdir() if p.name.startswith(name)}


def queue_rows(ior):
    return {row["operation"]: row for row in json.loads((ior.cwd / "r.json").read_text())["tests"][0]["queue"]}


# ---- data ----

WAYS = {
    "plain": ("", SUM),
    "private": ("filePerProc=1 fsync=1", dict(SUM, private=True)),
    "random": ("filePerProc=1 randomOffset=1 fsyncPerWrite=1", dict(SUM, private=True)),
    "wear-out": ("reorderTasksConstant=1 deadlineForStonewalling=60 stoneWallingWearOut=1", SUM),
    "odd": ("", dict(block=3000, size=1000, segments=7)),
}


@pytest.mark.sanitize
@pytest.mark.parametrize("name", QUEUES, ids=lambda name: name.replace(", ", "-").replace(" ", "_"))
def test_files_have_the_bytes_of_one_transfer_at_a_time(ior, need_backend, name):
    need_backend(name.split(",")[0])
    lines = ["IOR START"]
    ways = {way: what for way, what in WAYS.items() if way != "random" or name not in ("MPIIO, through a view", "MPIIO, collective")}
    for way, (settings, what) in ways.items():
        lines += ["testFile=" + way, "blockSize=%d" % what["block"], "transferSize=%d" % what["size"], "segmentCount=%d" % what["segments"]]
        lines += settings.split() + ["RUN"] + [word.split("=")[0] + "=0" for word in settings.split()]
    (ior.cwd / "script").write_text("\n".join(lines + ["IOR STOP", ""]))
    run = ior(QUEUES[name] + "-w -r -W -R -k -G 7 -l o -f script").ok()
    for way, (_, what) in ways.items():
        assert bytes_of(ior, way) == model.files(packet="o", **what), way
    assert run.warnings == [] and run.accesses() == ["write", "read"] * len(ways), run


@pytest.mark.parametrize("args", ["-l signature", "-l o -F -z --random-offset-seed=3"])
def test_reads_in_the_queue_find_what_is_wrong(ior, queue, args):
    ior("-a POSIX -w -k -G 7 -b 64k -t 4k " + args.replace(" -z --random-offset-seed=3", ""), np=1).ok()
    name, = ior.files()
    data = bytearray((ior.cwd / name).read_bytes())
    for offset in (5 * 4096 + 8, 9 * 4096, 15 * 4096 + 4095):
        data[offset] ^= 4
    (ior.cwd / name).write_bytes(data)
    run = ior(queue + "-R -k -G 7 -b 64k -t 4k " + args, np=1).fails(4, "wrong data in 3 places")
    for offset in (5, 9, 15):
        assert "in the transfer at %d" % (offset * 4096) in run.stderr, run


def test_a_file_that_is_too_short_ends_the_run(ior, queue):
    (ior.cwd / "testFile").write_bytes(bytes(131000))
    ior(queue + "-r -k -b 128k -t 8k -G 0", np=1).fails(3, "read 8192 bytes at offset 122880 of 'testFile'", "end of file")


def test_a_full_disk_names_the_transfer(ior, queue):
    """Nothing is left in the queue when the file is closed and removed."""
    limit = ["bash", "-c", 'trap "" XFSZ; ulimit -f 100; exec "$@"', "-"]  # KiB
    run = ior(queue + "-w -F -b 256k -t 8k", np=1, prefix=limit)
    assert run.returncode == 3 and len(run.errors) == 1, run
    assert "of 'testFile.00000000'" in run.errors[0] and "File too large" in run.errors[0], run
    assert ior.files() == []


# ---- the queue ----

def test_results_tell_how_full_the_queue_was(ior, queue):
    run = ior(queue + "-w -r -F -k -v -b 160k -t 4k --report=text:-,json:r.json").ok()
    assert "queue of write: depth 8" in ior(queue + "-w -v -b 160k -t 4k", np=1).ok().stdout  # without JSON, too
    for name, row in queue_rows(ior).items():
        assert row["depth"] == row["depthMax"] == 8 and row["depthMin"] == 1 and 1 < row["depthMean"] <= 8, row
        shares = [row[key] for key in row if key in ("depth1", "depth2", "depth4", "depth8", "depth16", "depth32", "depthMore")]
        assert sum(shares) == pytest.approx(100) and row["depth1"] >= 2.5 and row["depth16"] == row["depth32"] == row["depthMore"] == 0, row
        assert 0 < row["completions"] <= 78 and 0 <= row["betweenP50"] <= row["betweenP99"] <= row["betweenMax"], row
        assert "queue of %s: depth 8, mean %.1f, most 8" % (name, row["depthMean"]) in run.stdout, run
    assert set(queue_rows(ior)) == {"write", "read"}


def test_a_queue_is_no_deeper_than_there_are_transfers(ior, queue):
    ior(queue + "-w -b 12k -t 4k --report=json:r.json", np=1).ok()
    assert queue_rows(ior)["write"]["depthMax"] == 3


def test_without_a_queue_there_is_nothing_to_tell(ior):
    ior("-a DUMMY -w --depth=1 --report=json:r.json", np=1).ok()
    assert "queue" not in json.loads((ior.cwd / "r.json").read_text())["tests"][0]


def test_latency_is_from_submission_to_completion(ior):
    """Eight transfers of 20 ms at a time: each takes as long, and all of them an eighth of the sum."""
    run = ior("-a DUMMY --depth=8 --dummy.delay-xfer=20000 -w -b 64k -t 4k --report=json:r.json", np=1).ok()
    phase = json.loads((ior.cwd / "r.json").read_text())["tests"][0]["phases"][0]
    assert phase["transferCount"] == 16 and phase["transferP50"] >= 0.02 and phase["workTime"] >= 0.04, phase
    conftest.timely(phase["workTime"] < 0.16, run)


def test_a_transfer_that_fails_in_the_queue_is_named(ior):
    ior("-a DUMMY --depth=8 --dummy.fail-at=11 --dummy.fail-errno=ENOSPC --dummy.fail-rank=1 -w -F -b 64k -t 4k").fails(
        3, "rank 1", "write 4096 bytes at offset 40960 of 'testFile.00000001'", "injected: No space left")


def test_a_transfer_that_never_ends_is_named_while_others_go_on(ior):
    run = ior("-a DUMMY --depth=4 --dummy.lose-at=3 --dummy.delay-xfer=2000 -w -b 64m -t 4k --io-timeout=1", np=1)
    assert run.returncode == 3 and len(run.errors) == 1, run
    assert "write of 4096 bytes at offset 8192 of 'testFile' has not returned for" in run.errors[0], run


def test_slow_requests_are_repeated_less_and_less_often(ior, preload):
    """The library may have lost a request (MPICH, where one fails): a blocking call finds out, and takes time of the phase."""
    run = ior("-a MPIIO --depth=2 -w -R -b 64k -t 16k", np=None, env={"LD_PRELOAD": preload("hold-requests.c"), "HOLD": "2"}).ok()
    notes = [re.findall(r"for (\d+) s, so a blocking call repeated the oldest one.* after (\d+) s", note) for note in run.notes]
    assert sum(notes, []) == [("3", "6"), ("6", "12")], run


def test_libraries_that_have_less_in_flight_than_asked_for_are_told(ior):
    """OMPIO moves the data of collective calls that do not block independently, ROMIO in Open MPI in the call itself."""
    ompio, romio = {"OMPI_MCA_io": "ompio"}, {"OMPI_MCA_io": "romio321"}
    findings = {}
    for depth, env in ((1, ompio), (4, ompio), (4, romio)):
        run = ior("-a MPIIO -w --depth=%d %s --report=json:r.json" % (depth, "-c" if env is ompio else ""), env=env).ok()
        test, = json.loads((ior.cwd / "r.json").read_text())["tests"]
        findings = {f["id"]: f["outcome"] for f in test["findings"]}
        if env is romio:
            assert test["queue"][0]["depth"] == 4 and test["queue"][0]["depthMax"] == 1, test["queue"]
        if env is ompio:
            assert (findings["H29"] == "found") == (depth > 1), findings
        assert any("one transfer was in flight at a time" in note for note in run.notes) == (env is romio), run


# ---- refused ----

@pytest.mark.parametrize("args, words", [
    ("-a POSIX --depth=2", ("--depth=2: POSIX has synchronous transfers", "--posix.threads=2", "URING")),
    ("-a POSIX --posix.threads=2 --posix.rangelocks", ("--posix.rangelocks", "POSIX")),
    ("-a URING --posix.threads=2", ("--posix.threads", "URING has its own queue")),
    ("-a MMAP --depth=2", ("MMAP has synchronous transfers",)),
    ("-a HDF5 --depth=4", ("HDF5 has synchronous transfers",)),
    ("-a DUMMY --depth=-1", ("--depth", "'-1'", "from 0")),
    ("-a URING --depth=40000", ("--depth=40000", "32768")),
    ("-a URING --depth=2 --posix.rangelocks", ("--posix.rangelocks", "URING", "-a POSIX")),
    ("-a URING --depth=2 --uring.iopoll", ("--uring.iopoll", "--posix.odirect")),
], ids=lambda v: v.replace(" ", "_") if isinstance(v, str) else "")
def test_depths_that_cannot_be_are_refused(ior, need_backend, args, words):
    need_backend(args.split()[1])
    ior(args + " -w", np=None).fails(1, *words)
    assert ior.files() == []


def test_an_option_that_would_do_nothing_is_told(ior, mdtest):  # noqa: F811
    """Reads with -Y are in flight, writes are not; a program without a queue has no use for threads."""
    run = ior("-a DUMMY -w -r -Y --depth=4 -b 64k -t 4k --report=json:r.json", np=1).ok()
    assert [note for note in run.notes if "one write of a task is in flight at a time; a depth of 4" in note], run
    assert set(queue_rows(ior)) == {"read"}
    assert not [note for note in ior("-a DUMMY -w -Y", np=None).ok().notes if "in flight" in note]
    mdtest("--posix.threads=4 -F -n 2", np=None).fails(1, "--posix.threads=4", "one transfer in flight at a time")


# Answers io_uring_setup with EPERM, or ERRNO, in this process and its children, as containers do; with RANK on this rank only.
FORBID = """
import ctypes, os, struct, sys
if os.environ.get("RANK", os.environ.get("OMPI_COMM_WORLD_RANK")) != os.environ.get("OMPI_COMM_WORLD_RANK"):
    os.execvp(sys.argv[1], sys.argv[1:])
filter = [(0x20, 0, 0, 0), (0x15, 0, 1, 425), (0x06, 0, 0, 0x00050000 + int(os.environ.get("ERRNO", "1"))), (0x06, 0, 0, 0x7fff0000)]  # number; is it 425?; EPERM; allowed
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in filter))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(filter), ctypes.addressof(code)))
libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, ctypes.c_void_p(ctypes.addressof(program)), 0, 0) == 0
os.execvp(sys.argv[1], sys.argv[1:])
"""


def test_a_system_that_forbids_io_uring_is_named_with_what_to_ask_for(ior, need_backend):
    need_backend("URING")
    run = ior("-a URING -w --depth=4", np=1, prefix=[sys.executable, "-c", FORBID])
    run.fails(2, "io_uring_setup for a queue of depth 4", "Operation not permitted", "kernel.io_uring_disabled", "seccomp", "-a AIO")
    assert ior.files() == []


def test_all_tasks_take_another_queue_where_one_is_refused_io_uring(ior, need_backend):
    """By request only; the depth stays, and a system that refuses nobody gets what was asked for."""
    need_backend("URING")
    need_backend("AIO")
    args = "-a URING -w -R -k -G 7 -l o -b 64k -t 4k --uring.fallback=aio --aio.granularity=2 --report=text:-,json:r.json "
    forbid = [sys.executable, "-c", FORBID]
    run = ior(args + "--depth=4", prefix=forbid, env={"RANK": "1"}).ok()
    assert bytes_of(ior, "testFile") == model.files(65536, 4096, packet="o")
    assert [n for n in run.notes if "URING is not available to a task (Operation not permitted), so all tasks use AIO" in n], run
    assert not [n for n in run.notes if "no effect" in n] and run.options["api"] == "AIO", run
    place = json.loads((ior.cwd / "r.json").read_text())["tests"][0]["provenance"]
    assert (place["backend"], place["backendRefused"]) == ("AIO", "URING") and queue_rows(ior)["write"]["depthMax"] == 4, run
    assert "queue" not in json.loads(ior(args, np=1, prefix=forbid).ok() and (ior.cwd / "r.json").read_text())["tests"][0]
    ior(args, np=1).ok()
    assert "backendRefused" not in json.loads((ior.cwd / "r.json").read_text())["tests"][0]["provenance"]


LOCKED = ["prlimit", "--memlock=131072", "setpriv", "--bounding-set=-ipc_lock", "--inh-caps=-ipc_lock"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can drop the capability to lock memory")
def test_a_limit_of_locked_memory_is_told(ior, need_backend):
    need_backend("URING")
    ior("-a URING -w --depth=4 --uring.buffers=yes", np=1, prefix=LOCKED).fails(2, "--uring.buffers=yes", "ulimit -l", "128 KiB", "Cannot allocate memory")
    run = ior("-a URING -w -k -v -G 7 -l o --depth=4", np=1, prefix=LOCKED).ok()
    assert "uring.buffers = not registered (Cannot allocate memory)" in run.stdout and "uring.files = registered" in run.stdout, run
    assert ior("-a URING -w -r -v --depth=4 --uring.buffers=yes", np=1).ok().stdout.count("uring.buffers = registered") == 1


def test_other_limits_of_the_system_are_named(ior, need_backend):
    """Memory for the ring, and for the stacks of threads."""
    ior("-a POSIX -w --posix.threads=4000", np=1, prefix=["prlimit", "--as=4000000000"]).fails(
        2, "of --posix.threads=4000", "processes of the user, ulimit -u", "4000000000 bytes of memory, ulimit -v", "Resource temporarily unavailable")
    need_backend("URING")
    ior("-a URING -w --depth=4", np=1, prefix=[sys.executable, "-c", FORBID], env={"ERRNO": "12"}).fails(
        2, "io_uring_setup for a queue of depth 4", "ulimit -l is", "Cannot allocate memory")
    assert ior.files() == []


# ---- flags of single transfers ----

@pytest.mark.parametrize("api", ["-a POSIX", "-a AIO --depth=4", "-a URING --depth=4"])
def test_pages_of_uncached_transfers_leave_the_page_cache(ior, need_backend, api):
    """Where the kernel can; otherwise the reason is told with the option."""
    need_backend(api.split()[1])
    path = ior.cwd / "testFile"

    def pages():
        return int(subprocess.run(["fincore", "-nb", "-o", "PAGES", str(path)], stdout=subprocess.PIPE, check=True).stdout)

    run = ior(api + " --posix.uncached -w -e -k -G 7 -l o -b 256k -t 64k", np=1)
    if run.returncode == 3:
        return run.fails(3, "Operation not supported", "--posix.uncached", "RWF_DONTCACHE")
    conftest.wait_until(lambda: pages() == 0)
    data = model.files(262144, 65536, tasks=1, packet="o")[""]
    conftest.wait_until(lambda: path.read_bytes() == data and pages() == 64)  # others may have dropped what was read
    ior(api + " --posix.uncached --drop-cache -R -k -G 7 -l o -b 256k -t 64k", np=1).ok()
    conftest.wait_until(lambda: pages() == 0)


def test_atomic_writes_are_refused_where_nobody_promises_them(ior):
    """Or the transfer is not one of those that are promised."""
    ior("-a POSIX --posix.atomic -w -b 3000 -t 3000", np=1).fails(1, "--posix.atomic")
    assert ior.files() == []


# ---- mib ----

def test_calls_of_mib_go_through_the_queue_and_are_verified(mib, queue):  # noqa: F811
    """In order with a short one at the end, and at random places; a wrong byte is found."""
    args = queue.replace("-a ", "--api=") + "-F -s 4k -t . --verify "
    run = mib(args + "-l 30 --report=json:r.json").ok()
    assert {row["operation"]: row["depthMax"] for row in queue_rows(mib).values()} == {"write": 8, "read": 8}, run
    data = (mib.cwd / "mibData.00000000").read_bytes()
    assert len(data) == 30 * 4096
    (mib.cwd / "mibData.00000000").write_bytes(data[:-96])
    assert "1 short reads" in mib(args + "-l 30 -R -I").ok().stdout
    mib(args + "-l 100 -R -b 8").ok()
    (mib.cwd / "mibData.00000000").write_bytes(data[:40000] + b"\1" + data[40001:])
    wrong = mib(args + "-l 30 -R")
    assert wrong.returncode == 4 and "40000" in wrong.errors[0], wrong
