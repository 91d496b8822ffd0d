# SPDX-License-Identifier: BSD-3-Clause
"""Checkpoints under faults: full disks, files that are damaged or are others, failing calls, killed ranks, signals."""
import json
import os
import signal

import pytest

import conftest
from faults_support import SECONDS, check_time, environment

SIZE = "--nx 1 --ny 1 --im_world 24 --lm 4 --num_arrays 2 --ntrials 1 "  # 108 KiB


@pytest.fixture
def simulate(ior, shim, told, need_backend):
    """simulate(what, options, fault): "checkpoint" or "restart" on six ranks, in time."""
    def run_it(what, args="", fault="", api="NETCDF", size=SIZE):
        name = "%s %s %s" % (what, args, fault)
        told(name)
        need_backend(api)
        ior.program = conftest.BUILD / "src" / (what + "_simulator.x")
        run = ior(size + "-a %s %s" % (api, args), np=6, timeout=SECONDS, env=environment(ior, shim, fault))
        told(name, run, ior.files())
        check_time(run)
        return run
    return run_it


@pytest.mark.parametrize("api, how", [("POSIX", ""), ("MPIIO", ""), ("MPIIO", " -c"), ("HDF5", ""), ("HDF5", " --split_file"), ("NETCDF", ""),
                                      ("NETCDF", " --split_file"), ("NCMPI", "")])
def test_a_flush_that_takes_long_is_in_every_rate(simulate, ior, api, how):
    """A second for 108 KiB; what closes the file has no part in the flush."""
    run = simulate("checkpoint", "--num_writers 2 --fsync --report=text:-,json:r.json" + how, "call=sync delay=1000 times=0", api)
    assert run.returncode == 0, run
    trial, = json.loads((ior.cwd / "r.json").read_text())["tests"][0]["trials"]
    assert trial["flushTime"] >= 1 and trial["flushTimeMax"] >= 1, trial
    for rate in "realThroughput", "fileSystemThroughput", "applicationThroughput", "storageThroughput":
        assert trial[rate] <= trial["bytes"], (rate, trial)
    if api in ("POSIX", "MPIIO"):
        conftest.timely(trial["closeTime"] < 1, trial)


@pytest.mark.parametrize("api, how", [("NETCDF", ""), ("NETCDF", " --split_file"), ("NETCDF", " -c"), ("HDF5", " -c"),
                                      ("NCMPI", " -c"), ("POSIX", ""), ("POSIX", " --split_file")])
def test_a_full_disk(simulate, mounted, api, how):
    place = mounted("size=96k")
    run = simulate("checkpoint", "--no-space-check --num_writers 3 --path fs/c" + how, api=api)
    assert run.returncode == 3 and ("No space left on device" in run.stderr or " is full" in run.stderr), run
    assert os.listdir(place) == [], run


@pytest.mark.parametrize("program, args", [("raw_bw", "--file_type netcdf"), ("raw_bw", "-a HDF5"), ("combo", "")])
def test_a_full_disk_under_the_parts(ior, mounted, need_backend, program, args):
    need_backend("NETCDF")
    ior.program = conftest.BUILD / "src" / (program + ".x")
    ior.cwd = place = mounted("size=200k")
    run = ior("--nx 90 --n_levs 10 --n_writers 2 " + args, np=3)
    run.fails(2, "needs 1.85 MiB (1944000 bytes) in 'scratch.'")
    run = ior("--nx 90 --n_levs 10 --n_writers 2 --no-space-check " + args, np=3, timeout=SECONDS)
    assert run.returncode == 3 and "scratch.0000" in run.stderr, run
    assert "No space left on device" in run.stderr or "is full" in run.stderr, run
    assert os.listdir(place) == [], run


@pytest.mark.parametrize("program, args", [("raw_bw", "--nx 24 --n_levs 4 --n_writers 2 -a HDF5"),
                                           ("raw_bw", "--nx 24 --n_levs 4 --n_writers 2 --file_type netcdf"),
                                           ("checkpoint_simulator", SIZE + "-a HDF5 --split_file --num_writers 6")])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_file_that_cannot_be_made_is_not_left(ior, shim, need_backend, program, args, count):
    """Libraries write into it when they make it, and leave it when they cannot."""
    need_backend("NETCDF")
    ior.program = conftest.BUILD / "src" / (program + ".x")
    run = ior(args, np=6, timeout=SECONDS, env=environment(ior, shim, "call=write errno=ENOSPC rank=3 count=%d" % count))
    assert run.returncode == 3 and "rank 3 on " in run.stderr and "No space left on device" in run.stderr and ior.files() == [], run


def test_a_disk_that_is_full_at_the_close(simulate, mounted):
    """The data fit, what describes them may not: the library would not survive to find out."""
    place = mounted("size=148k")
    run = simulate("checkpoint", "--no-space-check --num_writers 3 --path fs/c --no_chunking")
    assert run.returncode == 3 and "fs/c.nc4" in run.stderr and " is full" in run.stderr, run
    assert os.listdir(place) == [], run


def test_input_that_is_not_right(simulate, ior):
    """One file, and what may be wrong about it: other sizes, a variable more, wrong data, cut short, not there."""
    assert simulate("checkpoint", "--num_writers 2").returncode == 0
    path = ior.cwd / "checkpoint.nc4"
    run = simulate("restart", size=SIZE.replace("--lm 4", "--lm 5"))
    assert run.returncode == 3 and "it is float32 4,144,24, but this test needs float32 5,144,24" in run.stderr, run
    run = simulate("restart", size=SIZE.replace("--num_arrays 2", "--num_arrays 3"))
    assert run.returncode == 3 and "VAR003" in run.stderr, run
    h5py = pytest.importorskip("h5py", reason="needs python3-h5py to damage the file")
    with h5py.File(path, "r+") as f:
        f["VAR002"][3, 100, 7] += 1
    run = simulate("restart", "--num_readers 5")
    assert run.returncode == 4 and "variable VAR002, level 3, row 100, column 7" in run.stderr, run
    with open(path, "r+b") as f:
        f.truncate(path.stat().st_size // 2)
    run = simulate("restart", "--num_readers 2")
    assert run.returncode == 3 and "checkpoint.nc4" in run.stderr, run
    path.write_bytes(b"no checkpoint")
    assert simulate("restart", "--num_readers 2").returncode == 3
    path.unlink()
    run = simulate("restart", "--num_readers 2")
    assert run.returncode == 3 and "nc_open_par 'checkpoint.nc4': No such file or directory" in run.stderr, run


def test_a_binary_file_that_is_cut_short(simulate, ior):
    assert simulate("checkpoint", api="POSIX").returncode == 0
    with open(ior.cwd / "checkpoint.bin", "r+b") as f:
        f.truncate(60000)
    run = simulate("restart", "--num_readers 4", api="POSIX")
    assert run.returncode == 3 and "checkpoint.bin" in run.stderr, run


@pytest.mark.parametrize("io", ["ompio", "romio321"])
@pytest.mark.parametrize("count", [1, 2])
def test_all_writes_of_a_rank_fail_under_netcdf(simulate, ior, monkeypatch, io, count):
    """In the writes of metadata, which are collective: other ranks would wait in the library, or in MPI_File_sync, for that rank."""
    monkeypatch.setenv("OMPI_MCA_io", io)
    run = simulate("checkpoint", "--num_writers 3", "call=write errno=EIO rank=0 times=0 count=%d" % count)
    assert run.returncode == 3 and "rank 0 on " in run.stderr and "Input/output error" in run.stderr, run
    assert ior.files() == [], run


@pytest.mark.parametrize("how", ["", "--write_barrier", "--split_file"])
def test_a_write_that_fails_on_one_writer(simulate, ior, how):
    """The others of its group, and the other groups, do not wait for it."""
    run = simulate("checkpoint", "--num_writers 3 " + how, "call=write errno=EIO rank=2 count=2", "POSIX")
    assert run.returncode == 3 and "rank 2 on " in run.stderr and "Input/output error" in run.stderr, run
    assert ior.files() == [], run


def test_what_cannot_be_opened_stays(simulate, ior):
    """A file that was there before, and a directory of that name."""
    (ior.cwd / "checkpoint.bin").write_text("earlier")
    run = simulate("checkpoint", "", "call=open errno=EACCES times=0", "POSIX")
    assert run.returncode == 3 and "Permission denied" in run.stderr, run
    assert (ior.cwd / "checkpoint.bin").read_text() == "earlier"
    (ior.cwd / "d.bin").mkdir()
    run = simulate("checkpoint", "--path d", api="POSIX")
    assert run.returncode == 1 and "'d.bin' is a directory" in run.stderr and ior.files() == ["checkpoint.bin", "d.bin"], run


def test_a_read_that_fails_on_one_reader(simulate):
    assert simulate("checkpoint", api="POSIX").returncode == 0
    run = simulate("restart", "--num_readers 3", "call=read errno=EIO rank=4 count=1 times=0", "POSIX")
    assert run.returncode == 3 and "rank 4 on " in run.stderr and "Input/output error" in run.stderr, run


def test_a_look_at_a_file_that_fails(simulate):
    """Whose file it is was to be found out; a single error at this place is not lost."""
    assert simulate("checkpoint", api="POSIX").returncode == 0
    run = simulate("restart", "--num_readers 3", "call=read errno=EIO rank=4 count=1", "POSIX")
    assert run.returncode == 3 and "rank 4 on " in run.stderr and "Input/output error" in run.stderr, run


def test_a_directory_that_is_not_there(simulate):
    run = simulate("checkpoint", "--num_writers 2 --path no/such/c")
    assert run.returncode == 3 and "nc_create_par 'no/such/c.nc4': No such file or directory" in run.stderr, run


@pytest.mark.parametrize("sent, status", [(signal.SIGTERM, 6), (signal.SIGKILL, None)])
def test_a_signal_to_one_rank(ior, need_backend, sent, status):
    need_backend("NETCDF")
    ior.program = conftest.BUILD / "src" / "checkpoint_simulator.x"
    proc = ior.start("--nx 1 --ny 1 --im_world 48 --lm 20 --num_arrays 9 --ntrials 100000 --num_writers 4", np=6)
    pids = ior.wait_for_ranks(proc, 6)
    ior.wait_for_output(proc)
    os.kill(pids[2], sent)
    run = ior.finish(proc, SECONDS)
    assert run.returncode == status if status else run.returncode != 0, run
