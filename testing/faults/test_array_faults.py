# SPDX-License-Identifier: BSD-3-Clause
"""Files of arrays (testing/backend/test_arrays.c) on full disks and with failing calls: no hang, no silence, one reason for all ranks."""
import pytest

import conftest
from faults_support import SECONDS, check_time, environment

PROGRAM = conftest.BUILD / "testing" / "backend" / "test_arrays.mpi"
NO_SPACE = "No space left on device"
EIO = "Input/output error"
KINDS = [("POSIX", "ompio"), *((api, io) for api in ("MPIIO", "HDF5", "NETCDF", "NCMPI") for io in ("ompio", "romio321"))]


@pytest.fixture
def arrays(ior, shim, need_backend, told):
    """arrays(what, backend, fault): the program writes or reads ./fs or the working directory on three ranks, in time."""
    if not PROGRAM.exists():
        pytest.skip("%s is not built (a check program)" % PROGRAM.name)
    ior.program = PROGRAM

    def run_it(name, what, backend, fault="", io="ompio", where="."):
        told(name)
        need_backend(backend)
        run = ior("%s %s %s" % (what, backend, where), np=3, timeout=SECONDS,
                  env={"OMPI_MCA_io": io, **environment(ior, shim, fault)})
        told(name, run, ior.files())
        check_time(run)
        return run
    return run_it


def failed(run, claim, *words):
    """The claim that does not hold, and the reason on some rank."""
    assert run.returncode == 1 and "not ok - " + claim in run.stdout, run
    reasons = [line for line in run.stderr.split("\n") if line.startswith("# rank ")]
    assert any(all(word in line for word in words) for line in reasons), (words, run)
    assert "SIG" not in run.stderr, run


@pytest.mark.parametrize("backend, io", KINDS)
def test_a_full_disk_under_arrays(arrays, mounted, backend, io):
    mounted("size=4k")
    run = arrays("%s arrays, full disk, %s" % (backend, io), "write", backend, io=io, where="fs")
    if backend == "NETCDF":  # has a look before it writes what describes the arrays
        return failed(run, "arrays are made in it", "the file system of 'fs/arrays' is full", "the metadata can need")
    failed(run, "every rank writes its parts", "write array '", "' of 'fs/arrays' (start ", NO_SPACE)


@pytest.mark.parametrize("backend, io", KINDS)
def test_a_flush_of_arrays_that_fails_on_one_rank(arrays, backend, io):
    run = arrays("%s arrays, fsync EIO, %s" % (backend, io), "write", backend, "call=sync errno=EIO rank=1", io)
    failed(run, "they are flushed to stable storage", "rank 1 on ", "arrays'", EIO)


@pytest.mark.parametrize("backend, io, count", [("POSIX", "ompio", 3), ("MPIIO", "ompio", 3), ("MPIIO", "romio321", 3),
                                                ("HDF5", "romio321", 3), ("NCMPI", "ompio", 3), ("NCMPI", "romio321", 3)])
def test_a_write_of_arrays_that_fails_on_one_rank(arrays, backend, io, count):
    run = arrays("%s arrays, write EIO, %s" % (backend, io), "write", backend, "call=write errno=EIO rank=0 count=%d" % count, io)
    failed(run, "every rank writes its parts", "rank 0: write array '", "start 0,", EIO)


# OMPIO itself waits without end where one rank cannot open a file that all open
@pytest.mark.parametrize("what", ["write", "read"])
@pytest.mark.parametrize("backend, io", [("POSIX", "ompio"), ("MPIIO", "romio321"), ("HDF5", "romio321"),
                                         ("NETCDF", "romio321"), ("NCMPI", "romio321")])
def test_a_file_of_arrays_that_one_rank_cannot_open(ior, arrays, backend, io, what):
    if what == "read":
        assert arrays("%s arrays" % backend, "write", backend, io=io).returncode == 0
    run = arrays("%s arrays, %s, open EACCES" % (backend, what), what, backend, "call=open errno=EACCES rank=1 times=0", io)
    failed(run, "a file of arrays is made" if what == "write" else "it is opened again for reading", "'./arrays'")


def test_a_quota_on_files_of_arrays_is_named(arrays):
    """Its library says EACCES of all that it cannot make."""
    run = arrays("NETCDF arrays, create EDQUOT", "write", "NETCDF", "call=open errno=EDQUOT times=0")
    failed(run, "a file of arrays is made", "rank 0 on ", "nc_create_par './arrays'", "Disk quota exceeded")


def test_a_header_of_arrays_that_cannot_be_written(arrays):
    run = arrays("NCMPI arrays, header ENOSPC", "write", "NCMPI", "call=write errno=ENOSPC rank=0 times=0")
    failed(run, "arrays are made in it", "rank 0 on ", "define the arrays of './arrays'", NO_SPACE)


def test_short_calls_are_continued(arrays):
    run = arrays("POSIX arrays, short", "write", "POSIX", "call=write short=5 times=0")
    assert run.returncode == 0, run
    assert arrays("POSIX arrays, short read", "read", "POSIX", "call=read short=7 times=0").returncode == 0
