# SPDX-License-Identifier: BSD-3-Clause
"""One rank fails by itself - no memory, a library that cannot begin, an error of MPI - and the others do not wait for it: one line
from it, status 2 on all."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "system"))
import conftest  # noqa: E402
from h5ex_support import Exerciser  # noqa: E402

SECONDS = 40
ARRAYS = "-a NETCDF --numdims 1 --minels 16 --iterations 1 --out f"
EXERCISER = "--numdims 1 --minels 16 --iterations 1 --addattr --derivedtype --out f"


@pytest.fixture
def failing(tmp_path, preload):
    """failing(program, args, call, n): the run in which the n-th such call of rank 1 fails, and 'reached': did it come to that? Not each
    run makes as many. n 0 gives how many there are."""
    def run_it(program, args, call, n):
        cwd = tmp_path / ("%s-%d" % (call, n))
        cwd.mkdir()
        runner = Exerciser(cwd)
        runner.file = conftest.BUILD / "src" / program
        libraries = preload("fail-on-rank.c") + ":" + preload("speed-clock.c")  # no estimate of the clocks becomes old
        run = runner(args, np=2, timeout=SECONDS, env={"LD_PRELOAD": libraries, "CLOCK_FACTOR": "0.01", "FAIL": "%s 1 %d" % (call, n)})
        run.reached = (cwd / "reached").exists()
        run.left = [name for name in runner.files() if name not in ("calls", "reached")]
        return run if n else int((run.ok().cwd / "calls").read_text())
    return run_it


def spread(calls, tries):
    """So many of the numbers from 2 to 'calls', the first and the last among them. The first allocation is before anything of MPI is
    known: the launcher ends the others."""
    return sorted({2 + i * (calls - 2) // (tries - 1) for i in range(tries)})


@pytest.mark.slow
@pytest.mark.parametrize("program, args, backend", [("h5exerciser", EXERCISER, "HDF5"), ("h5exerciser", ARRAYS, "NETCDF")])
def test_a_rank_without_memory_ends_the_run_of_all(failing, need_backend, program, args, backend):
    """Memory is out before MPI begins, before a session, in the file. What only a remark would need is done without."""
    need_backend(backend)
    failed = 0
    for n in spread(failing(program, args, "memory", 0), 9):
        run = failing(program, args, "memory", n)
        assert run.returncode in (0, 2) and run.left == [], (n, run)
        assert run.returncode == 0 or (len(run.errors) == 1 and run.errors[0].startswith("rank 1 on ")), (n, run)
        failed += run.returncode
    assert failed >= 2 * 4, "hardly an allocation that matters was among them"


def test_a_reduction_that_fails_on_one_rank_ends_the_job(failing, need_backend):
    """The others wait in it: its result was ignored where backends agree."""
    need_backend("HDF5")
    args = "--numdims 1 --minels 16 --dimranks 2 --iterations 1 --out f"
    runs = [failing("h5exerciser", args, "reduction", n) for n in spread(failing("h5exerciser", args, "reduction", 0), 8)]
    for run in runs:
        assert not run.reached or "ERROR: rank 1 on " in run.stderr and ": MPI_Allreduce: " in run.stderr, run
        run.ok(2 if run.reached else 0)
    assert sum(run.reached for run in runs) >= len(runs) - 2, "the fault does not reach the runs"


@pytest.mark.parametrize("backend", ["HDF5", "NETCDF"])
def test_a_library_that_cannot_begin_on_one_rank(failing, need_backend, backend):
    need_backend(backend)
    run = failing("h5exerciser", "-a %s --numdims 1 --minels 16 --dimranks 2 --iterations 1 --out f" % backend, "hdf5", 1)
    run.fails(2, "rank 1 on ", "the HDF5 library cannot be started")
    assert run.left == []


@pytest.mark.parametrize("call", ["group", "attribute", "find"])
def test_a_call_of_the_library_that_needs_no_other_rank(failing, need_backend, call):
    """The next one that all make together must not be where the others wait."""
    need_backend("HDF5")
    run = failing("h5exerciser", EXERCISER + " --dimranks 2", call, 1)
    assert run.returncode == 3 and len(run.errors) == 1 and run.errors[0].startswith("rank 1 on "), run
    conftest.timely(run.elapsed < 15, run)


def test_an_error_that_mpi_ends_the_job_for_has_a_status_of_ours(failing, need_backend):
    """By default the status is the number of the error: 17."""
    need_backend("MPIIO")
    run = failing("ior", "-a MPIIO -w -t 4k -b 16k -o f", "open", 1)
    assert run.returncode == 2 and "ERROR: rank 1 on " in run.stderr and ": a call of MPI: " in run.stderr, run
