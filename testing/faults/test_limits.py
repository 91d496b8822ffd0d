# SPDX-License-Identifier: BSD-3-Clause
"""Limits of a user: on file sizes (ulimit -f) an error like any other, not the end by SIGXFSZ; a small stack is enough."""
import pytest

import conftest

LIMIT = ["bash", "-c", 'ulimit -f 16000; exec "$@"', "-"]  # KiB; Open MPI's own files need some, too


@pytest.mark.parametrize("access", ["", "-c", "-F"], ids=["shared", "collective", "private"])
@pytest.mark.parametrize("backend", ["POSIX", "AIO", "MMAP", "MPIIO", "HDF5", "NCMPI"])
def test_a_file_may_not_grow_beyond_the_limit(ior, need_backend, backend, access):
    need_backend(backend)
    if backend == "NCMPI" and access == "-F":
        pytest.skip("NCMPI has no file per process")
    run = ior("-a %s %s -w -b 20m -t 256k" % (backend, access), prefix=LIMIT)
    if backend == "HDF5":  # the library would not survive it
        run.fails(2, "files can have at most 16384000 bytes (ulimit -f)")
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


@pytest.mark.parametrize("program, args", [
    ("ior", "-b 64k -t 16k -i 2 -O savePerOpDataCSV=op --timeline=t.npy --report=text:-,json:r.json"), ("ior", "-a MPIIO -c -b 64k -t 16k"),
    ("ior", "-a HDF5 -b 64k -t 16k"), ("mdtest", "-n 4 -d d -w 10 -Z"), ("md-workbench", "-I 2 -P 4 -D 1 -L lat"),
    ("mib", "-F -s 4096 -l 2 -L 0 -t .")])
def test_a_stack_of_128_kib_is_enough(ior, need_backend, program, args):
    if conftest.SANITIZED:
        pytest.skip("the sanitizers need a larger stack")
    need_backend(args.split()[1] if args.startswith("-a") else "POSIX")
    ior.program = conftest.BUILD / "src" / program
    ior(args, prefix=["prlimit", "--stack=131072"]).ok()
