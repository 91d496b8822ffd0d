# SPDX-License-Identifier: BSD-3-Clause
"""Files of arrays, read by programs that are not ours: h5py, the words of the CDF-5 format, and numpy for plain files.

testing/backend/test_arrays.c writes them and says what is in them. Element i of array k holds i * 7919 + k * 31.
"""
import struct

import pytest

from conftest import BUILD

PROGRAM = BUILD / "testing" / "backend" / "test_arrays.mpi"
ALIGN = 8  # of arrays in a plain file
WITH_ARRAYS = ["POSIX", "MPIIO", "HDF5", "NETCDF", "NCMPI"]
FORMATS = {"byte": "i1", "int32": "i4", "int64": "i8", "float32": "f4", "float64": "f8"}
RECORD = {"names": ["id", "value", "tag", "small"], "formats": ["<i4", "<f8", "<i8", "<f4"], "offsets": [0, 8, 16, 24],
          "itemsize": 32}
ATTRIBUTES = {"years": [1987, 1988, 2 ** 63 - 1], "tide": [0.25, -1e300], "answer": [42], "title": list(b"heights of the sea")}

np = pytest.importorskip("numpy", reason="needs python3-numpy to look into the files")


@pytest.fixture
def program(ior, need_backend):
    if not PROGRAM.exists():
        pytest.skip("%s is not built (a check program)" % PROGRAM.name)
    ior.program = PROGRAM

    def run(args, np=3, **more):
        need_backend(args.split()[1] if " " in args else args)
        return ior(args, np=np, **more)
    return run


def manifest(run):
    """What the program says it wrote: (name, type, number, shape, chunk)."""
    for line in run.stdout.split("\n"):
        if line.startswith("array\t"):
            _, name, kind, k, shape, chunk = line.split("\t")
            yield name, kind, int(k), *(tuple(int(n) for n in text.split(",") if n) for text in (shape, chunk))


def expected(kind, k, shape):
    i = np.arange(np.prod(shape, dtype=np.int64), dtype=np.int64).reshape(shape) * 7919 + k * 31
    if kind == "compound":
        out = np.zeros(shape, dtype=RECORD)
        for name in RECORD["names"]:
            out[name] = i
        return out
    return (i % 127 if kind == "byte" else i).astype(FORMATS[kind])


def same(have, want):
    if want.dtype.names:
        return all((have[name] == want[name]).all() for name in want.dtype.names)
    return have.shape == want.shape and (have == want).all()


# ---- the matrix on more ranks than make check has ----

@pytest.mark.parametrize("backend", WITH_ARRAYS)
def test_the_matrix_on_four_ranks(program, backend):
    run = program(backend, np=4, timeout=120).ok()
    assert "\nnot ok" not in run.stdout and "file is closed" in run.stdout, run


# ---- plain files ----

@pytest.mark.parametrize("backend", ["POSIX", "MPIIO"])
def test_a_plain_file_is_its_arrays(program, ior, backend):
    """One after the other, each at the next multiple of 8 bytes, the last dimension fastest."""
    run = program("write %s ." % backend).ok()
    raw = (ior.cwd / "arrays").read_bytes()
    at = 0
    for name, kind, k, shape, _ in manifest(run):
        want = expected(kind, k, shape)
        at = (at + ALIGN - 1) // ALIGN * ALIGN
        assert same(np.frombuffer(raw, want.dtype, want.size, at).reshape(shape), want), name
        at += want.nbytes
    assert at == len(raw) > 0


def test_posix_and_mpiio_read_each_other(program, ior):
    program("write POSIX .").ok()
    program("read MPIIO .", np=2).ok()
    (ior.cwd / "arrays").unlink()
    program("write MPIIO .", np=2).ok()
    program("read POSIX .", np=4).ok()


# ---- HDF5 ----

def assert_attributes(thing):
    for key, want in ATTRIBUTES.items():
        assert list(np.atleast_1d(thing.attrs[key])) == want, (thing, key)


def test_h5py_reads_arrays_of_hdf5(program, ior):
    h5py = pytest.importorskip("h5py", reason="needs python3-h5py to look into the file")
    run = program("write HDF5 .").ok()
    arrays = list(manifest(run))
    assert "compound" in [kind for _, kind, *_ in arrays] and any("/" in name for name, *_ in arrays)
    with h5py.File(ior.cwd / "arrays", "r") as f:
        for name, kind, k, shape, chunk in arrays:
            assert same(f[name][()], expected(kind, k, shape)), name
            assert f[name].chunks == (chunk or None), name
        for thing in (f, f["group"]):
            assert_attributes(thing)


# ---- netCDF ----

def test_h5py_reads_variables_of_netcdf(program, ior):
    h5py = pytest.importorskip("h5py", reason="needs python3-h5py to look into the file")
    run = program("write NETCDF .").ok()
    arrays = list(manifest(run))
    assert len(arrays) > 4
    with h5py.File(ior.cwd / "arrays", "r") as f:
        for name, kind, k, shape, chunk in arrays:
            assert same(f[name][()], expected(kind, k, shape)), name
            assert not chunk or f[name].chunks == chunk, name
        assert_attributes(f)


class Cdf5:
    """The header of a CDF-5 file, as the specification of the format has it. Numbers are big-endian."""
    TYPES = {1: ">i1", 4: ">i4", 5: ">f4", 6: ">f8", 10: ">i8"}

    def __init__(self, raw):
        self.raw, self.at = raw, 4
        assert raw[:4] == b"CDF\x05"
        self.records = self.number()
        self.dims = self.list(10, lambda: (self.name(), self.number()))
        self.attributes = dict(self.list(12, self.attribute))
        self.variables = dict(self.list(11, self.variable))

    def number(self, code=">q"):
        value, = struct.unpack_from(code, self.raw, self.at)
        self.at += struct.calcsize(code)
        return value

    def name(self):
        n = self.number()
        text = self.raw[self.at:self.at + n].decode()
        self.at += (n + 3) // 4 * 4
        return text

    def list(self, tag, item):
        have, n = self.number(">i"), self.number()
        assert have in (0, tag)
        return [item() for _ in range(n)]

    def attribute(self):
        name, kind, n = self.name(), self.number(">i"), self.number()
        dtype = np.dtype(self.TYPES[kind])
        values = np.frombuffer(self.raw, dtype, n, self.at)
        self.at += (values.nbytes + 3) // 4 * 4
        return name, list(values)

    def variable(self):
        name, rank = self.name(), self.number()
        shape = tuple(self.dims[self.number()][1] for _ in range(rank))
        attributes, kind = dict(self.list(12, self.attribute)), self.number(">i")
        self.number()  # bytes, rounded up
        begin = self.number()
        values = np.frombuffer(self.raw, self.TYPES[kind], int(np.prod(shape)), begin).reshape(shape)
        return name, (values, attributes)


def test_variables_of_ncmpi_are_as_the_format_says(program, ior):
    run = program("write NCMPI .").ok()
    file = Cdf5((ior.cwd / "arrays").read_bytes())
    arrays = list(manifest(run))
    assert len(arrays) == len(file.variables) > 4
    for name, kind, k, shape, _ in arrays:
        want = expected(kind, k, shape)
        have, _ = file.variables[name]
        assert have.dtype == want.dtype.newbyteorder(">") and same(have, want), name
    assert file.attributes == ATTRIBUTES


# ---- what is left of a file ----

@pytest.mark.parametrize("backend", WITH_ARRAYS)
def test_a_file_that_is_cut_short_is_not_read(program, ior, backend):
    program("write %s ." % backend).ok()
    path = ior.cwd / "arrays"
    with open(path, "r+b") as f:
        f.truncate(path.stat().st_size // 2)
    run = program("read %s ." % backend)
    assert run.returncode == 1 and "not ok" in run.stdout, run


@pytest.mark.parametrize("backend", ["HDF5", "NETCDF", "NCMPI"])
@pytest.mark.parametrize("content", [b"", b"no file of arrays", b"CDF\x05" + bytes(200)])
def test_another_file_is_not_read(program, ior, backend, content):
    (ior.cwd / "arrays").write_bytes(content)
    run = program("read %s ." % backend, np=2)
    assert run.returncode == 1 and "not ok" in run.stdout, run
