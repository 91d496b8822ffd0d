# SPDX-License-Identifier: BSD-3-Clause
"""MPIIO, HDF5, NCMPI, AIO and MMAP in every combination of matrix.py: the bytes in the files, by a reader that is none of ours."""
import concurrent.futures
import itertools
import pathlib

import pytest

import conftest
import matrix
import matrix_table
import model

NP = 2
AT_ONCE = 8   # runs that mostly sleep
IN_A_RUN = 7  # tests of a script


# ---- independent readers ----

def read_hdf5(path):
    h5py = pytest.importorskip("h5py", reason="needs python3-h5py to look into the file")
    with h5py.File(path, "r") as f:
        assert sorted(f) == ["Dataset-0000.%04d" % i for i in range(matrix.SEGMENTS)]
        return b"".join(f[name][...].tobytes() for name in sorted(f)), {n: (f[n].chunks, f[n].id.get_offset()) for n in f}


def read_cdf5(path):
    """The header of a CDF-5 file, from the description of the format; then the records."""
    data = path.read_bytes()
    at = 4

    def number(width):
        nonlocal at
        at += width
        return int.from_bytes(data[at - width:at], "big")

    def text():
        nonlocal at
        length = number(8)
        at += (length + 3) // 4 * 4
        return data[at - (length + 3) // 4 * 4:][:length].decode()

    assert data[:4] == b"CDF\5"
    records = number(8)
    assert number(4) == 10  # dimensions
    dims = [(text(), number(8)) for _ in range(number(8))]
    assert dims == [("segments_times_np", 0), ("number_of_transfers", matrix.BLOCK // matrix.TRANSFER), ("transfer_size", matrix.TRANSFER)]
    assert (number(4), number(8)) == (0, 0)  # no attributes
    assert (number(4), number(8)) == (11, 1)  # one variable
    assert text() == "data_var" and [number(8) for _ in range(number(8))] == [0, 1, 2]
    assert (number(4), number(8)) == (0, 0) and number(4) == 1  # no attributes; bytes
    assert number(8) == matrix.BLOCK
    begin = number(8)
    assert begin == 512 and records == matrix.SEGMENTS * NP
    return data[begin:]


def read(case, path):
    if case.backend == "HDF5":
        data, shapes = read_hdf5(path)
        for chunks, offset in shapes.values():
            assert chunks == ((3000,) if case.variant in ("chunked", "filtered") else None)
            assert case.variant != "aligned" or offset % 32768 == 0
        return data
    return read_cdf5(path) if case.backend == "NCMPI" else path.read_bytes()


# ---- what must be there ----

def expected(case, rank):
    """[(offset, bytes)] of a task's transfers in the order in which it does them."""
    private = case.files == "file per process"
    width = matrix.BLOCK * (1 if private else NP)
    start = 0 if private else rank * matrix.BLOCK
    places = range(start, start + matrix.BLOCK, matrix.TRANSFER)
    if matrix.is_distributed(case):
        places = model.distributed(matrix.BLOCK, matrix.TRANSFER, NP, rank, matrix.SEED, private)
    offsets = [segment * width + place for segment in range(matrix.SEGMENTS) for place in places]
    return [(off, model.transfer("o", matrix.TRANSFER, matrix.SIGNATURE, rank, off)) for off in offsets]


def count_done(data, transfers):
    """How many of the transfers are there: the first ones whole, the others not at all."""
    there = [data[off:off + matrix.TRANSFER] == want for off, want in transfers]
    done = there.index(False) if False in there else len(there)
    for off, _ in transfers[done:]:
        assert not any(data[off:off + matrix.TRANSFER]), "transfer at %d is neither whole nor missing" % off
    return done


def check_files(case, folder):
    names = [""] if case.files == "shared file" else [".%08d" % rank for rank in range(NP)]
    contents = [read(case, folder / (matrix.name(case) + suffix)) for suffix in names]
    whole = [len(expected(case, rank)) for rank in range(NP)]
    assert sum(len(data) for data in contents) <= sum(whole) * matrix.TRANSFER + len(contents) * 65536
    done = [count_done(contents[rank % len(contents)], expected(case, rank)) for rank in range(NP)]
    if case.ending == "complete":
        assert done == whole
        return
    assert all(0 < n <= most for n, most in zip(done, whole))
    assert done != whole or matrix.is_distributed(case)  # the deadline came first
    if case.ending == "wear-out" or (case.access, case.files) == ("collective", "shared file"):
        assert done == [min(max(done), most) for most in whole]


# ---- the runs ----

def run_batch(folder, cases, library):
    folder.mkdir()
    (folder / "cases.ior").write_text(matrix.script(cases))
    env = {**conftest.naps(library), "SLOW_RANK": "1"} if cases[0].work == "uneven" else conftest.naps()
    ior = conftest.Ior(folder)
    return ior("-f cases.ior", np=NP, timeout=120, env=env)


def outcome(future):
    try:
        run = future.result()
    except AssertionError as hang:
        return {"text": str(hang), "fine": False}
    wrong = [line for line in run.warnings if "ncorrect data" in line]
    return {"text": repr(run), "fine": run.returncode == 0 and run.errors == wrong == []}


def run_all(top, library):
    """{name of a case: outcome of its run, and the folder}"""
    batches, done = [], {}
    for work, filtered in itertools.product(matrix.WORK, (False, True)):  # a filter stays for the tests below in a script
        some = [case for case in matrix.cases() if case.work == work and case.backend in conftest.backends()
                and (case.variant == "filtered") == filtered]
        some.sort(key=lambda case: case.ending)  # the slow ones do not share a run with others
        step = max(1, -(-len(some) // IN_A_RUN))
        batches += [some[i::step] for i in range(step) if some[i::step]]
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        folders = [top / str(i) for i in range(len(batches))]
        waiting = [pool.submit(run_batch, folder, batch, library) for folder, batch in zip(folders, batches)]
        for future, folder, batch in zip(waiting, folders, batches):
            done.update({matrix.name(case): dict(outcome(future), folder=str(folder)) for case in batch})
    return done


@pytest.fixture(scope="module")
def runs(tmp_path_factory, preload):
    """All are done when the first one is asked for, once for all workers of xdist."""
    library = preload("slow-rank.c")
    return conftest.once(tmp_path_factory, "matrix", lambda top: run_all(top, library))


@pytest.mark.slow
@pytest.mark.parametrize("case", matrix.cases(), ids=matrix.name)
def test_the_bytes_are_those_of_the_model(case, need_backend, runs):
    need_backend(case.backend)
    run = runs[matrix.name(case)]
    assert run["fine"], run["text"]
    check_files(case, pathlib.Path(run["folder"]))


@pytest.mark.parametrize("row", [row for row in matrix.rows() if matrix.refusal(row)], ids="-".join)
def test_what_a_backend_cannot_do_is_refused(ior, need_backend, row):
    need_backend(row[0])
    run = ior("-a %s%s%s -O %s" % (row[0], " -F" if row[3] == "file per process" else "", " -c" if row[2] == "collective" else "",
                                   matrix.VARIANTS[row[0]][row[1]].replace(" ", ",")))
    run.fails(1, matrix.refusal(row))
    assert ior.files() == []


def test_the_table_in_the_guide_is_the_one_that_is_tested():
    assert matrix_table.parts(matrix_table.PAGE.read_text())[1] == matrix_table.table(), "run testing/system/matrix_table.py --write"
