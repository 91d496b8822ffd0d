# SPDX-License-Identifier: BSD-3-Clause
"""Faults below MPI-IO, HDF5 and PnetCDF with both MPI-IO parts of Open MPI: one returns no errors, with the other ranks part ways."""
import errno
import os

import pytest

import conftest
from batches import batched, batches, check_ends, run  # noqa: F401
from faults_support import SECONDS

GEOMETRY = "-b 64k -t 16k -s 2 -l signature "
IO = ["ompio", "romio321"]
APIS = ["MPIIO", "HDF5", "NCMPI"]
CHUNKS = "--hdf5.chunkSize=2048 "
# the errnos of failed storage calls: weir_mpi_is_io_errno
IO_ERRNOS = ("EIO ENOSPC EDQUOT EROFS EFBIG ESTALE ENXIO ENODEV EREMOTEIO EPERM EACCES ENOLCK ENOMEM ENOTCONN ESHUTDOWN ETIMEDOUT "
           "ECANCELED").split()


def plan(name, args, fault="", io="ompio", **more):
    """A run on three ranks. After a collective write that has failed, OMPIO fails in every MPI_File_sync."""
    if " -c" in args and "-W" not in args and "-r" not in args and ("call=write" in fault or not fault):
        more["part"] = "collective"
    return dict(name=name, args=GEOMETRY + args, fault=fault, np=3, io=io, **more)


def failed(run, *words):
    run.fails(3, "'testFile", *words)
    assert run.accesses() in ([], ["write"]) and run.left == [], (run.left, run)


# ---- success that is none ----

@pytest.mark.parametrize("name", IO_ERRNOS)
@batched(lambda name: plan("MPIIO -c %s" % name, "-a MPIIO -c -w", "call=write count=2 rank=0 errno=" + name))
def test_a_collective_write_that_fails_is_no_success(run, name):
    failed(run, "rank 0 on ", os.strerror(getattr(errno, name)))


@pytest.mark.parametrize("io", IO)
@pytest.mark.parametrize("args", ["-a HDF5 -c", "-a HDF5", "-a NCMPI -c", "-a NCMPI", "-a MPIIO", "-a MPIIO -c", "-a MPIIO -c -e"])
@pytest.mark.parametrize("name", ["ETIMEDOUT", "EPERM"])
@batched(lambda args, name, io: plan("%s write %s %s" % (io, name, args[3:]), args + " -w", "call=write count=3 rank=0 errno=" + name, io))
def test_an_unusual_errno_in_a_write(run, args, name, io):
    failed(run, "rank 0 on ", os.strerror(getattr(errno, name)))


@pytest.mark.parametrize("io", IO)
@pytest.mark.parametrize("api, count", [("MPIIO", 2), ("NCMPI", 3), ("HDF5", 6)])
@batched(lambda api, count, io: plan("%s read ETIMEDOUT %s" % (io, api), "-w -r -a " + api,
                                     "call=read count=%d rank=1 errno=ETIMEDOUT" % count, io))
def test_an_unusual_errno_in_a_read(run, api, count, io):
    failed(run, "rank 1 on ", os.strerror(errno.ETIMEDOUT))
    assert run.accesses() == ["write"]


def plan_of_others_at_work(api, count):
    args = "-b 1m -k -a %s " % api
    return plan("%s read EIO, others at work" % api, "-r -O interIODelay=1000000 " + args, "call=read count=%d rank=1 errno=EIO" % count,
                before="-w " + GEOMETRY + args)


@pytest.mark.parametrize("api, count", [("MPIIO", 2), ("NCMPI", 3), ("HDF5", 6)])
@batched(plan_of_others_at_work)
def test_a_read_that_fails_ends_the_work_of_the_others(run, api, count):
    """Who has failed does not wait in the close, where the others would not learn of it: they have a minute of work."""
    run.fails(3, "rank 1 on ", "Input/output error")
    conftest.timely(run.elapsed < SECONDS, run)


@pytest.mark.parametrize("args", ["-a MPIIO -c", "-a HDF5 -c", "-a NCMPI -c", "-a NCMPI"])
@batched(lambda args: plan("no memory of others " + args[3:], args + " -b 1m -t 1m -w -r -R", "call=memory times=0 errno=EPERM"))
def test_what_messages_leave_behind_is_no_failure(run, args):
    """A container may forbid ranks to read each other's memory: EPERM for every long message, and then another way."""
    conftest.sound(run.ok())
    assert run.errors == [] and run.accesses() == ["write", "read"], run


LEFT = "call=write times=0 left=ETIMEDOUT;call=read times=0 left=EIO"


@pytest.mark.parametrize("io", IO)
@pytest.mark.parametrize("args", ["-a MPIIO", "-a MPIIO -c", "-a MPIIO -c --mpiio.useFileView", "-a MPIIO -c -F", "-a HDF5", "-a HDF5 -c",
                                  "-a NCMPI", "-a NCMPI -c"])
@batched(lambda args, io: plan("%s errno after success %s" % (io, args[3:]), args + " -w -W -r -R -e -k", LEFT, io))
def test_an_errno_after_success_is_no_failure(run, args, io):
    """It makes weir look for the bytes, and where those are there, it is a warning at most."""
    conftest.sound(run.ok())
    assert run.errors == [] and run.accesses() == ["write", "read"], run
    assert all("left errno" in line and "are in the file" in line for line in run.warnings), run
    if io == "ompio" and "-c" in args:
        assert any("rank 0: " in line and "(Connection timed out)" in line for line in run.warnings), run


@batched(lambda: plan("errno after success in a file with older data", "-a MPIIO -c -w -E", "call=write rank=0 left=EIO",
                      before=GEOMETRY + "-a MPIIO -c -w -k"))
def test_an_errno_after_success_where_nothing_can_be_looked_at(run):
    """Bytes of an older file could be what is there: then the errno stays an error."""
    run.fails(3, "'testFile'", "rank 0 on ", "MPI_File_write_at_all: Input/output error", "it is not known whether all data were written")


# ---- PnetCDF: header, number of records ----

@pytest.mark.parametrize("io", IO)
@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("args", ["", "-c", "-E"])
@pytest.mark.parametrize("name", ["ENOSPC", "EIO"])
@batched(lambda name, args, count, io: plan("%s NCMPI %s %s in write %d" % (io, args, name, count), "-a NCMPI -w " + args,
                                            "call=write count=%d rank=0 errno=%s" % (count, name), io))
def test_a_header_of_netcdf_that_cannot_be_written(run, name, args, count, io):
    failed(run, "rank 0 on ", os.strerror(getattr(errno, name)))
    second = "create 6 records", "ncmpi_put_vara"  # PnetCDF 1.14 writes the number of records later: data are in write 2
    assert any(words in run.errors[0] for words in (["ncmpi_enddef"] if count == 1 else second)), run


# ---- HDF5: fill values, and a disk that is full while datasets are made ----

@pytest.mark.parametrize("io", IO)
@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("args", ["-c", ""])
@batched(lambda args, count, io: plan("%s HDF5 chunks %s EIO in write %d" % (io, args, count), "-w -a HDF5 %s%s" % (CHUNKS, args),
                                      "call=write count=%d rank=0 errno=EIO" % count, io))
def test_fill_values_that_cannot_be_written(run, args, count, io):
    failed(run, "rank 0 on ", "fill values", "Input/output error")


@pytest.mark.parametrize("io", IO)
@pytest.mark.parametrize("args", ["-a HDF5 -c " + CHUNKS, "-a HDF5 " + CHUNKS, "-a HDF5 -F " + CHUNKS, "-a HDF5", "-a HDF5 -c",
                                  "-a HDF5 -F --hdf5.filter=shuffle,deflate", "-a NCMPI",
                                  "-a NCMPI -c", "-a MPIIO -c"])
@batched(lambda args, io: plan("%s full disk %s" % (io, args[3:]), args + " --no-space-check -w -b 256k -t 64k -o fs/f", io=io,
                               mount="size=1m"))
def test_a_full_file_system_is_named(run, args, io):
    run.fails(3, "fs/f")
    assert "No space left on device" in run.errors[0] or "is full: " in run.errors[0], run
    assert run.left == ["fs"], run


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
@batched(lambda args, fault, io: plan("%s EAGAIN %s" % (io, args[3:]), args + " -w -r -R", fault, io))
def test_eagain_is_tried_again(run, args, fault, io):
    conftest.sound(run.ok())
    assert run.errors == [] and run.accesses() == ["write", "read"], run


@pytest.mark.parametrize("io", IO)
@pytest.mark.parametrize("how", ["-e", "-e -c", "-Y", "-Y -c", "-e -F"])
@pytest.mark.parametrize("api", APIS)
@batched(lambda api, how, io: plan("%s EINTR in a sync %s %s" % (io, api, how), "-a %s -w %s" % (api, how), "call=sync rank=1 eintr", io,
                                   skip="NCMPI has no file per process" if api == "NCMPI" and "-F" in how else None))
def test_a_sync_that_is_interrupted_is_done_again(run, api, how, io):
    conftest.sound(run.ok())
    assert run.errors == [], run


# ---- a file that somebody else cuts short ----

def plan_of_a_cut(args, io):
    """The file is cut when rank 0 has read some of it; MMAP has only the call that maps it."""
    skip = None
    if args == "-a MMAP" and io != IO[0]:
        skip = "MMAP has no MPI-IO"
    if "-c --depth" in args and io != IO[0]:
        skip = "refused: this ROMIO crashes in nonblocking collective calls"
    call = "map" if "MMAP" in args else "read count=%d" % (8 if "HDF5" in args else 3)
    same = "-k -b 256k -t 16k " + args
    return dict(name="%s cut short %s" % (io, args[3:]), args="-r " + same, fault="call=%s rank=0 cut=100000" % call, io=io, before="-w " + same,
                skip=skip)


@pytest.mark.parametrize("io", IO)
@pytest.mark.parametrize("args", ["-a NCMPI", "-a NCMPI -c", "-a MPIIO -c", "-a MPIIO --mpiio.useFileView", "-a MPIIO", "-a HDF5", "-a HDF5 -c",
                                  "-a MMAP", "-a MPIIO --depth=4", "-a MPIIO -c --depth=4"])
@batched(plan_of_a_cut)
def test_a_file_that_is_cut_short_while_it_is_read(run, args, io):
    run.fails(3, "'testFile'")
    assert run.accesses() == [], run
    assert os.path.getsize(run.cwd / "testFile") == 100000


def test_the_processes_of_all_these_runs_end_in_order(batches):
    check_ends(batches)
