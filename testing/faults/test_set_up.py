# SPDX-License-Identifier: BSD-3-Clause
"""A rank that fails alone while a test is set up: the others learn of it, and nothing is left."""
import pytest

LIMIT = '[ "${OMPI_COMM_WORLD_RANK-$PMI_RANK}" != 1 ] || ulimit -v 1200000; exec "$0" "$@"'


@pytest.mark.parametrize("api", ["POSIX", "MPIIO", "HDF5", "NCMPI"])
def test_one_rank_without_memory_ends_all(ior, need_backend, api):
    """It must not stay out of the session's begin, which is collective where the library is."""
    need_backend(api)
    run = ior(f"-a {api} -w -b 64k -t 64k -O memoryPerTask=1g -o f", np=2, prefix=["sh", "-c", LIMIT], timeout=40)
    run.fails(2, "rank 1", "memory")
    assert not ior.files(), run
