# SPDX-License-Identifier: BSD-3-Clause
"""The limit on file sizes (ulimit -f): an error like any other, not the end by SIGXFSZ."""
import pytest

LIMIT = ["bash", "-c", 'ulimit -f 16000; exec "$@"', "-"]  # KiB; Open MPI's own files need some, too


@pytest.mark.parametrize("access", ["", "-c", "-F"], ids=["shared", "collective", "private"])
@pytest.mark.parametrize("backend", ["POSIX", "AIO", "MMAP", "MPIIO", "HDF5", "NETCDF", "NCMPI"])
def test_a_file_may_not_grow_beyond_the_limit(ior, need_backend, backend, access):
    need_backend(backend)
    if backend == "NCMPI" and access == "-F":
        pytest.skip("NCMPI has no file per process")
    run = ior("-a %s %s -w -b 20m -t 256k" % (backend, access), prefix=LIMIT)
    if backend in ("HDF5", "NETCDF"):  # the library would not survive it
        run.fails(2, "a file may have 16384000 bytes at most (ulimit -f)")
    else:
        run.fails(3, "testFile", "File too large")
    assert ior.files() == []


def test_a_file_within_the_limit_is_written(ior, need_backend):
    for backend in ("POSIX", "HDF5"):
        need_backend(backend)
        ior("-a %s -w -W -b 4m -t 256k" % backend, prefix=LIMIT).ok()


def test_one_rank_with_a_limit_is_named(ior, need_backend):
    need_backend("HDF5")
    only_one = ["bash", "-c", '[ "${OMPI_COMM_WORLD_RANK-$PMI_RANK}" = 0 ] || ulimit -f 16000; exec "$@"', "-"]
    ior("-a HDF5 -w -b 20m -t 256k", prefix=only_one).fails(2, "rank 1 on ", "ulimit -f")
