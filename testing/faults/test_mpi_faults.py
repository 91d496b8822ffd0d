# SPDX-License-Identifier: BSD-3-Clause
"""Faults below MPI-IO, HDF5, netCDF-4 and PnetCDF with both MPI-IO parts of Open MPI: one returns no errors, with the other ranks part ways."""
import errno
import os
import subprocess
import time

import pytest

import conftest
from faults_support import SECONDS, backend_of, check_time, environment

GEOMETRY = "-b 64k -t 16k -s 2 -l signature "
IO = ["ompio", "romio321"]
APIS = ["MPIIO", "HDF5", "NETCDF", "NCMPI"]
CHUNKS = "--hdf5.chunkSize=2048 "
# the errnos of failed storage calls: weir_mpi_is_io_errno
IO_ERRNOS = ("EIO ENOSPC EDQUOT EROFS EFBIG ESTALE ENXIO ENODEV EREMOTEIO EPERM EACCES ENOLCK ENOMEM ENOTCONN ESHUTDOWN ETIMEDOUT "
           "ECANCELED").split()


@pytest.fixture
def faulty(ior, shim, need_backend, told):
    """faulty(name, args, fault, io): a run on three ranks, in time."""
    def run_it(name, args, fault, io="ompio", env=None):
        told(name)
        need_backend(backend_of(args))
        run = ior(GEOMETRY + args, np=3, timeout=SECONDS,
                  env={"OMPI_MCA_io": io, **(env or {}), **environment(ior, shim, fault)})
        told(name, run, ior.files())
        check_time(run)
        return run
    return run_it


def failed(ior, run, *words):
    run.fails(3, "'testFile", *words)
    assert run.accesses() in ([], ["write"]) and ior.files() == [], (ior.files(), run)


# ---- success that is none ----

@pytest.mark.parametrize("name", IO_ERRNOS)
def test_a_collective_write_that_fails_is_no_success(ior, faulty, name):
    run = faulty("MPIIO -c %s" % name, "-a MPIIO -c -w", "call=write count=2 rank=0 errno=" + name)
    failed(ior, run, "rank 0 on ", os.strerror(getattr(errno, name)))


@pytest.mark.parametrize("io", IO)
@pytest.mark.parametrize("args", ["-a HDF5 -c", "-a HDF5", "-a NCMPI -c", "-a NCMPI", "-a MPIIO", "-a MPIIO -c", "-a MPIIO -c -e",
                                  "-a NETCDF"])
@pytest.mark.parametrize("name", ["ETIMEDOUT", "EPERM"])
def test_an_unusual_errno_in_a_write(ior, faulty, args, name, io):
    run = faulty("%s write %s %s" % (io, name, args[3:]), args + " -w", "call=write count=3 rank=0 errno=" + name, io)
    failed(ior, run, "rank 0 on ", os.strerror(getattr(errno, name)))


@pytest.mark.parametrize("io", IO)
@pytest.mark.parametrize("api, count", [("MPIIO", 2), ("NCMPI", 3), ("HDF5", 6)])
def test_an_unusual_errno_in_a_read(ior, faulty, api, count, io):
    run = faulty("%s read ETIMEDOUT %s" % (io, api), "-w -r -a " + api, "call=read count=%d rank=1 errno=ETIMEDOUT" % count, io)
    failed(ior, run, "rank 1 on ", os.strerror(errno.ETIMEDOUT))
    assert run.accesses() == ["write"]


@pytest.mark.parametrize("api, count", [("MPIIO", 2), ("NCMPI", 3), ("HDF5", 6)])
def test_a_read_that_fails_ends_the_work_of_the_others(ior, faulty, api, count):
    """Who has failed does not wait in the close, where the others would not learn of it: they have a minute of work."""
    args = "-b 1m -k -a %s " % api
    ior("-w " + GEOMETRY + args, np=3, timeout=SECONDS).ok()
    run = faulty("%s read EIO, others at work" % api, "-r -O interIODelay=1000000 " + args, "call=read count=%d rank=1 errno=EIO" % count)
    run.fails(3, "rank 1 on ", "Input/output error")
    assert run.elapsed < SECONDS, run


@pytest.mark.parametrize("args", ["-a MPIIO -c", "-a HDF5 -c", "-a NCMPI -c", "-a NCMPI"])
def test_what_messages_leave_behind_is_no_failure(ior, faulty, args):
    """A container may forbid ranks to read each other's memory: EPERM for every long message, and then another way."""
    run = faulty("no memory of others " + args[3:], args + " -b 1m -t 1m -w -r -R", "call=memory times=0 errno=EPERM")
    conftest.sound(run.ok())
    assert run.errors == [] and run.accesses() == ["write", "read"], run


@pytest.mark.parametrize("io", IO)
@pytest.mark.parametrize("args", ["-a MPIIO", "-a MPIIO -c", "-a MPIIO -c --mpiio.useFileView", "-a MPIIO -c -F", "-a HDF5", "-a HDF5 -c",
                                  "-a NCMPI", "-a NCMPI -c"])
def test_an_errno_after_success_is_no_failure(ior, faulty, args, io):
    """It makes weir look for the bytes, and where those are there, it is a warning at most."""
    left = "call=write times=0 left=ETIMEDOUT;call=read times=0 left=EIO"
    run = faulty("%s errno after success %s" % (io, args[3:]), args + " -w -W -r -R -e -k", left, io)
    conftest.sound(run.ok())
    assert run.errors == [] and run.accesses() == ["write", "read"], run
    assert all("left errno" in line and "are in the file" in line for line in run.warnings), run
    if io == "ompio" and "-c" in args:
        assert any("rank 0: " in line and "(Connection timed out)" in line for line in run.warnings), run


def test_an_errno_after_success_where_nothing_can_be_looked_at(ior, faulty):
    """Bytes of an older file could be what is there: then the errno stays an error."""
    ior(GEOMETRY + "-a MPIIO -c -w -k", np=3, timeout=SECONDS).ok()
    run = faulty("errno after success in a file with older data", "-a MPIIO -c -w -E", "call=write rank=0 left=EIO")
    run.fails(3, "'testFile'", "rank 0 on ", "MPI_File_write_at_all: Input/output error", "it is not known whether all data were written")


# ---- PnetCDF: header, number of records ----

@pytest.mark.parametrize("io", IO)
@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("args", ["", "-c", "-E"])
@pytest.mark.parametrize("name", ["ENOSPC", "EIO"])
def test_a_header_of_netcdf_that_cannot_be_written(ior, faulty, name, args, count, io):
    run = faulty("%s NCMPI %s %s in write %d" % (io, args, name, count), "-a NCMPI -w " + args,
                 "call=write count=%d rank=0 errno=%s" % (count, name), io)
    failed(ior, run, "rank 0 on ", "ncmpi_enddef" if count == 1 else "make 6 records", os.strerror(getattr(errno, name)))


# ---- HDF5: fill values, and a disk that is full while datasets are made ----

@pytest.mark.parametrize("io", IO)
@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("args", ["-c", ""])
def test_fill_values_that_cannot_be_written(ior, faulty, args, count, io):
    run = faulty("%s HDF5 chunks %s EIO in write %d" % (io, args, count), "-w -a HDF5 %s%s" % (CHUNKS, args),
                 "call=write count=%d rank=0 errno=EIO" % count, io)
    failed(ior, run, "rank 0 on ", "fill values", "Input/output error")


@pytest.mark.parametrize("io", IO)
@pytest.mark.parametrize("args", ["-a HDF5 -c " + CHUNKS, "-a HDF5 " + CHUNKS, "-a HDF5 -F " + CHUNKS, "-a HDF5", "-a HDF5 -c", "-a NCMPI",
                                  "-a NCMPI -c", "-a MPIIO -c", "-a NETCDF", "-a NETCDF -c"])
def test_a_full_file_system_is_named(ior, faulty, mounted, args, io):
    path = mounted("size=1m")
    run = faulty("%s full disk %s" % (io, args[3:]), args + " --no-space-check -w -b 256k -t 64k -o fs/f", "", io)
    run.fails(3, "fs/f")
    assert "No space left on device" in run.errors[0] or "is full: " in run.errors[0], run
    assert os.listdir(path) == [], run


@pytest.mark.parametrize("fill", [True, False])
def test_chunks_hold_zeros_where_nothing_was_written(ior, need_backend, fill):
    """The library would have written them; -D ends the run before the data do."""
    h5py = pytest.importorskip("h5py", reason="needs python3-h5py to read the file")
    need_backend("HDF5")
    args = "-a HDF5 -w -k -l random -D 1 -b 64k -t 16k -s 2 -O interIODelay=400000 " + CHUNKS + ("" if fill else "--hdf5.noFill")
    ior(args, timeout=SECONDS).ok()
    with h5py.File(ior.cwd / "testFile") as f:
        first, last = f["Dataset-0000.0000"], f["Dataset-0000.0001"]
        assert first.chunks == last.chunks == (2048,) and first[:2048].all() and not last[:].any()
    assert (os.stat(ior.cwd / "testFile").st_blocks * 512 >= 4 * 65536) == fill


# ---- tried again ----

@pytest.mark.parametrize("io", IO)
@pytest.mark.parametrize("args, fault", [
    ("-a MPIIO", "call=write count=2 times=20 errno=EAGAIN;call=read count=2 times=20 errno=EAGAIN"),
    ("-a MPIIO -F", "call=write count=2 times=20 errno=EAGAIN;call=read count=2 times=20 errno=EAGAIN"),
    ("-a HDF5", "call=write rank=1 count=2 times=20 errno=EAGAIN")])
def test_eagain_is_tried_again(ior, faulty, args, fault, io):
    run = faulty("%s EAGAIN %s" % (io, args[3:]), args + " -w -r -R", fault, io)
    conftest.sound(run.ok())
    assert run.errors == [] and run.accesses() == ["write", "read"], run


@pytest.mark.parametrize("io", IO)
@pytest.mark.parametrize("how", ["-e", "-e -c", "-Y", "-Y -c", "-e -F"])
@pytest.mark.parametrize("api", APIS)
def test_a_sync_that_is_interrupted_is_done_again(ior, faulty, api, how, io):
    if api == "NCMPI" and "-F" in how:
        pytest.skip("NCMPI has no file per process")
    run = faulty("%s EINTR in a sync %s %s" % (io, api, how), "-a %s -w %s" % (api, how), "call=sync rank=1 eintr", io)
    conftest.sound(run.ok())
    assert run.errors == [], run


# ---- a file that somebody else cuts short ----

def holders(pids, path):
    found = 0
    for pid in pids:
        try:
            found += any(os.path.realpath("/proc/%d/fd/%s" % (pid, fd)) == str(path) for fd in os.listdir("/proc/%d/fd" % pid))
        except OSError:
            pass
    return found


@pytest.mark.parametrize("io", IO)
@pytest.mark.parametrize("args", ["-a NCMPI", "-a NCMPI -c", "-a MPIIO -c", "-a MPIIO --mpiio.useFileView", "-a MPIIO", "-a HDF5", "-a HDF5 -c",
                                  "-a NETCDF", "-a MMAP", "-a MPIIO --depth=4", "-a MPIIO -c --depth=4"])
def test_a_file_that_is_cut_short_while_it_is_read(ior, need_backend, told, args, io):
    name = "%s cut short %s" % (io, args[3:])
    told(name)
    need_backend(backend_of(args))
    if args == "-a MMAP" and io != IO[0]:
        pytest.skip("MMAP has no MPI-IO")
    if "-c --depth" in args and io != IO[0]:
        pytest.skip("refused: this ROMIO crashes in nonblocking collective calls")
    env, same = {"OMPI_MCA_io": io}, "-k -b 256k -t 16k " + args
    ior("-w " + same, env=env).ok()
    proc = ior.start("-r %s -O interIODelay=150000" % same, env=env)  # 16 transfers
    pids = ior.wait_for_ranks(proc, 2)
    until = time.monotonic() + SECONDS
    while holders(pids, ior.cwd / "testFile") < 2 and time.monotonic() < until:
        time.sleep(0.02)
    time.sleep(0.5)
    subprocess.run(["truncate", "-s", "100000", str(ior.cwd / "testFile")], check=True)
    run = ior.finish(proc, SECONDS)
    told(name, run, ior.files())
    run.fails(3, "'testFile'")
    assert run.accesses() == [], run
