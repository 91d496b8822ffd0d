# SPDX-License-Identifier: BSD-3-Clause
"""h5exerciser: its options, lines and table; its files, read by programs that are not ours; its documents."""
import itertools
import json
import os
import re
import shutil
import statistics
import subprocess

import pytest

import conftest
from h5ex_support import h5ex, table  # noqa: F401

np = pytest.importorskip("numpy", reason="needs python3-numpy to look into the files")

HEAD = ("Metric      Bufsize   H5DWrite    RawWrBDWTH    H5Dread    RawRdBDWTH    Dataset      Group  Attribute    H5Fopen   "
        "H5Fclose   H5Fflush OtherClose")
ROW = re.compile(r"^(Min|Med|Max|Avg|Std)      [ \d]{10}( {1,2}[ \d]{3,5}\.\d{6}){11}$")
ALL = ("--usechunked --dimranks 2 1 2 --addattr --minels 8 6 4 --derivedtype --fileblocks 2 3 4 --filestrides 3 5 4 --memblock 4 "
       "--memstride 6 --metacoll --rshift 1 --numdims 3 --keepfile --out all.h5 --iterations 4 --report=text:-,json:r.json")


@pytest.fixture(autouse=True)
def hdf5(need_backend):
    need_backend("HDF5")


def places(shape):
    return np.arange(np.prod(shape, dtype=np.int64)).reshape(shape)


def written(shape, grid, lens, blocks, strides):
    """Which elements of a dataset belong to any task: a mask from the definition."""
    mask = np.zeros(shape, dtype=bool)
    per_dim = []
    for d, ranks in enumerate(grid):
        count = lens[d] // blocks[d]
        per_dim.append([r * count * strides[d] + c * strides[d] + b for r in range(ranks) for c in range(count) for b in range(blocks[d])])
    for at in itertools.product(*per_dim):
        mask[at] = True
    return mask


def check_against_schema(document):
    jsonschema = pytest.importorskip("jsonschema", reason="needs python3-jsonschema to check the documents")
    schema = json.loads((conftest.BUILD / "doc" / "result.schema.json").read_text())
    one = {"$ref": "#/$defs/h5exerciser", "$defs": schema["$defs"]}
    assert [e.message[:200] for e in jsonschema.Draft202012Validator(one).iter_errors(document)] == []
    assert jsonschema.Draft202012Validator(schema).is_valid(document)


def check_results(run):
    """The table is what the document's single times make: true medians, sums of the slowest, halves apart."""
    doc = json.loads((run.cwd / "r.json").read_text())
    check_against_schema(doc)
    test, = doc["tests"]
    shown, = table(run)
    rows = {(r["operation"], r["iter"]): r for r in test["Results"]}
    reps = range(test["Parameters"]["iterations"])
    for op in test["operations"]:
        times = [rows[op["operation"], i]["seconds"] for i in reps]
        assert op["median"] == pytest.approx(statistics.median(times)) and op["sd"] == pytest.approx(statistics.pstdev(times), abs=1e-12)
        assert (op["min"], op["max"], op["mean"]) == pytest.approx((min(times), max(times), statistics.fmean(times)))
    write = [rows["write", i]["seconds"] for i in reps]
    assert shown["Med"]["write"] == pytest.approx(statistics.median(write), abs=6e-7)
    rates = [test["tasks"] * shown["Min"]["bufsize"] / 2 ** 20 / t for t in write]
    assert shown["Med"]["write_rate"] == pytest.approx(statistics.median(rates), abs=1e-5)
    sides = {o["operation"]: (o["side"], o["column"]) for o in test["operations"]}
    assert sides["fileCreate"] == ("write", "fileOpen") and sides["fileOpen"] == ("read", "fileOpen")
    assert sides["derivedWrite"] == ("read", "none"), "the compound dataset is not in the time of the other"
    most = [max(rows[o, i]["seconds"] for o in ("fileCreate", "fileOpen")) for i in reps]
    assert shown["Min"]["fopen"] >= min(most) - 6e-7
    assert doc["tests"][0]["verificationErrors"] == 0 and doc["status"] == 0


@pytest.mark.sanitize
def test_all_features_at_once(h5ex):
    h5py = pytest.importorskip("h5py", reason="needs python3-h5py to look into the file")
    run = h5ex(ALL, np=4).ok()
    lines = run.stdout.split("\n")
    assert lines[:3] == ["WARNING: Bufsize is the size of the double-type dataset (The derived-type dataset is 5x larger!).",
                         "useMetaDataCollectives: 1 addDerivedTypeDataset: 1 addAttributes: 1 useIndependentIO: 0 numDims: 3 "
                         "useChunked: 1 rankShift: 1", HEAD], run
    assert lines[3:7] == ["FileSpace: Dim= 0 Block= 2 Stride= 3 Count= 4", "FileSpace: Dim= 1 Block= 3 Stride= 5 Count= 2",
                          "FileSpace: Dim= 2 Block= 4 Stride= 4 Count= 1", "MemSpace:  Dim= 0 Block= 4 Stride= 6 Count= 48"], run
    assert all(ROW.match(line) for line in lines[7:12]) and lines[12:] == ["All done -- Finishing normally.", ""], run
    check_results(run)
    with h5py.File(run.cwd / "all.h5") as f:
        assert sorted(f["Data"]) == ["derivedData", "hdf5DataSet1-iter3-size288"]
        data = f["Data/hdf5DataSet1-iter3-size288"]
        assert data.shape == (24, 10, 8) and data.chunks == (2, 3, 4) and data.dtype == "<f8"
        mask = written(data.shape, (2, 1, 2), (8, 6, 4), (2, 3, 4), (3, 5, 4))
        assert mask.sum() == 4 * 192 and (data[...][mask] == (places(data.shape) + 1 + 3 / 1024)[mask]).all()
        for i in range(64):
            text = f["Data"].attrs["Attribute %d Name" % i]
            assert text.dtype == "i1" and text.tobytes() == (b"This is my attribute string number %d" % i).ljust(1024, b"\0")
        assert len(f["Data"].attrs) == 64
        records = f["Data/derivedData/simulation parameters"]
        assert records.shape == (16, 6, 8) and records.dtype.itemsize == 40
        assert {n: records.dtype.fields[n][1] for n in records.dtype.names} == {
            "total blocks": 0, "number of steps": 4, "nxb": 8, "nyb": 12, "nzb": 16, "time": 24, "timestep": 32}
        at = places(records.shape)
        assert (records["time"] == at + 1 + 3 / 1024).all() and (records["timestep"] == -(at + 1 + 3 / 1024)).all()
        assert (records["total blocks"] == at).all() and (records["number of steps"] == 3).all() and (records["nzb"] == at ^ 4).all()
    if shutil.which("h5dump"):
        said = subprocess.run(["h5dump", "-A", "all.h5"], cwd=run.cwd, capture_output=True, text=True, check=True).stdout
        assert said.count("ATTRIBUTE \"Attribute ") == 64 and said.count("DATASET \"") == 2


def test_the_documented_command_in_small(h5ex):
    h5ex.file = h5ex.file.with_name("hdf5Exerciser")
    run = h5ex("--numdims 2 --minels 8 8 --nsizes 3 --bufmult 2 --dimranks 4 2 --iterations 1", np=8).ok()
    assert [t["Min"]["bufsize"] for t in table(run)] == [512, 2048, 8192] and h5ex.files() == []
    assert run.stdout.count("FileSpace: Dim= ") == 6 and "Dim= 1 Block= 32 Stride= 32 Count= 1" in run.stdout
    assert all(t["Min"] == t["Med"] == t["Max"] == t["Avg"] and not any(v for k, v in t["Std"].items() if k != "bufsize") for t in table(run))


@pytest.mark.parametrize("api", ["posix", "mpiio"])
def test_the_same_parts_without_hdf5(h5ex, need_backend, api):
    need_backend(api.upper())
    run = h5ex("--api=%s --indepio --keepfile --out f --numdims 2 --minels 4 6 --dimranks 1 2 --fileblocks 2 3 --filestrides 3 3 "
               "--memblock 2 --memstride 3 --derivedtype --rshift 3 --iterations 2" % api, np=2).ok()
    assert len(run.notes) == 1 and "no groups" in run.notes[0] and table(run)[0]["Max"]["group"] == 0, run
    raw = (run.cwd / "f").read_bytes()
    data = np.frombuffer(raw, "<f8", 6 * 12).reshape(6, 12)
    mask = written(data.shape, (1, 2), (4, 6), (2, 3), (3, 3))
    assert (data[mask] == (places(data.shape) + 1 + 1 / 1024)[mask]).all() and (data[~mask] == 0).all()
    record = {"names": ["blocks", "time"], "formats": ["<i4", "<f8"], "offsets": [0, 24], "itemsize": 40}
    records = np.frombuffer(raw, record, 4 * 12, data.nbytes)
    assert (records["blocks"] == np.arange(48)).all() and (records["time"] == np.arange(48) + 1 + 1 / 1024).all()
    assert len(raw) == data.nbytes + 48 * 40


@pytest.mark.parametrize("api, blocks, strides, memory", [("ncmpi", (2, 3), (3, 4), "--memblock 2 --memstride 3"),
                                                          ("netcdf", (2, 3), (2, 3), "")])
@pytest.mark.parametrize("how", ["", "--indepio"])
def test_the_same_parts_in_netcdf(h5ex, need_backend, api, blocks, strides, memory, how):
    """Blocks, shifted, in NCMPI with gaps in file and memory; by a reader of both formats."""
    netCDF4 = pytest.importorskip("netCDF4", reason="needs python3-netcdf4 to look into the file")
    need_backend(api.upper())
    run = h5ex("--api=%s %s --keepfile --out f --numdims 2 --minels 4 6 --dimranks 1 2 --fileblocks %d %d --filestrides %d %d %s "
               "--rshift 3 --iterations 2 --nsizes 2" % (api, how, *blocks, *strides, memory), np=2).ok()
    assert len(run.notes) == 1 and "no groups" in run.notes[0] and len(table(run)) == 2, run
    shape = tuple(n * len // b * s for n, len, b, s in zip((1, 2), (8, 12), blocks, strides))
    with netCDF4.Dataset(run.cwd / "f") as f:
        data, = f.variables.values()
        assert data.name == "hdf5DataSet1-iter1-size%d" % (144 if memory else 96) and data.shape == shape and data.dtype == "f8"
        mask = written(data.shape, (1, 2), (8, 12), blocks, strides)
        assert (data[:].data[mask] == (places(data.shape) + 1 + 1 / 1024)[mask]).all()


def test_a_shift_by_more_ranks_than_there_are(h5ex):
    run = h5ex("--numdims 1 --minels 100 --dimranks 3 --rshift 5 --derivedtype --iterations 2 --indepio", np=3).ok()
    assert run.warnings == [] and h5ex.files() == []


def test_a_product_that_is_not_the_number_of_tasks(h5ex):
    run = h5ex("--numdims 2 --minels 4 --dimranks 2 2 --iterations 1 --keepfile --out f --api=posix", np=2).ok()
    assert run.stdout.startswith("WARNING!! - ndomains: 4 must be: 2. Only dividing dim-0\n"), run
    assert (run.cwd / "f").stat().st_size == 2 * 16 * 8
    h5ex("--numdims 2 --minels 8 --dimranks 2 2 --iterations 1 --warning-as-errors", np=None).fails(1, "--dimranks", "must be 1, the number of tasks")


def test_a_queue_is_refused_with_the_reason(h5ex):
    for args in ("--depth=4", "-a POSIX --indepio --posix.threads=4"):
        h5ex("--numdims 1 --minels 8 " + args, np=None).fails(1, args.split()[-1].split("=")[0], "one transfer ")


@pytest.mark.parametrize("args, shape", [
    ("--minels 4 --numdims 5", (4,) * 5),
    ("--numdims 32 --minels 2,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,3", (2,) + (1,) * 30 + (3,)),
    ("--filestrides=3 --minels 6 4 --fileblocks 2 --numdims=2", (9, 6)),
])
def test_any_order_and_number_of_dimensions(h5ex, args, shape):
    h5py = pytest.importorskip("h5py", reason="needs python3-h5py to look into the file")
    run = h5ex(args + " --iterations 2 --keepfile --out f", np=None).ok()
    with h5py.File(run.cwd / "f") as f:
        data, = f["Data"].values()
        assert data.shape == shape and data.chunks is None
        assert (data[...] == places(shape) + 1 + 1 / 1024).sum() == table(run)[0]["Min"]["bufsize"] / 8


def test_blocks_that_do_not_divide_are_told_and_tried_again(h5ex):
    run = h5ex("--numdims 1 --minels 10 --fileblocks 4 --memblock 4 --nsizes 2 --iterations 2", np=None).ok()
    spaces = [line for line in run.stdout.split("\n") if "Space:" in line]
    assert spaces == ["FileSpace: Dim= 0 Block= 10 Stride= 10 Count= 1", "MemSpace:  Dim= 0 Block= 1 Stride= 1 Count= 10",
                      "FileSpace: Dim= 0 Block= 4 Stride= 4 Count= 5", "MemSpace:  Dim= 0 Block= 4 Stride= 4 Count= 5"], run
    assert len(run.warnings) == 2 and "--fileblocks" in run.warnings[0] and "--memblock" in run.warnings[1], run
    assert h5ex.files() == []


def test_the_file_is_dropped_from_the_page_cache_and_nothing_is_lost(h5ex):
    args = "--numdims 1 --minels 40000 --dimranks 2 --iterations 2 --keepfile --out f --drop-cache"
    run = h5ex(args, np=2).ok()
    assert all("--drop-cache did not work" in w for w in run.warnings), run  # in memory only
    h5ex(args + " --existing=fail", np=2).fails(2, "'f' exists, and --existing=fail")
    assert h5ex.files() == ["f"]


def test_only_the_last_file_is_kept(h5ex):
    run = h5ex("--numdims 1 --minels 8 --nsizes 2 --iterations 1 --keepfile --api=posix --op-csv ops --rank-csv ranks", np=None).ok()
    name, = [f for f in h5ex.files() if f.startswith("hdf5TestFile-")]
    assert re.match(r"hdf5TestFile-\d+$", name) and (run.cwd / name).stat().st_size == 16 * 8
    ops = (run.cwd / "ops-00000.csv").read_text()
    assert ops.count(",write,") == ops.count(",read,") == 2 and ops.count(",fileOpen,") == 2


@pytest.mark.parametrize("args, words", [
    ("", ["--numdims", "1 to 32"]),
    ("--numdims 2", ["--minels is missing", "one number or 2"]),
    ("--numdims 33 --minels 8", ["--numdims", "33", "32"]),
    ("--numdims 2 --minels 8 8 8", ["--minels", "3 values", "--numdims is 2"]),
    ("--numdims 2 --minels 8 0", ["--minels", "'0'", "out of range"]),
    ("--numdims 2 --minels", ["--minels", "needs a value"]),
    ("--numdims 2 --minels 8 --bufmult 2 x", ["--bufmult", "'x'", "whole number"]),
    ("--numdims 2 --minels 4g 4g", ["dimension 2", "more than 2^64 elements"]),
    ("--numdims 1 --minels 1g --nsizes 9 --bufmult 1g", ["size 2"]),
    ("--numdims 1 --minels 8 --nsizes 0", ["--nsizes", "'0'"]),
    ("--numdims 1 --minels 8 --rshift -1", ["--rshift", "'-1'"]),
    ("--numdims 1 --minels 8 --iterations 99999999999", ["--iterations"]),
    ("--numdims 1 --foo", ["unknown option '--foo'"]),
    ("--numdims 1 8", ["'8' is not an option"]),
    ("--numdims 1 --minels 8 --api=posix --addattr", ["POSIX", "attributes", "--addattr"]),
    ("--numdims 1 --minels 8 --api=posix --metacoll", ["POSIX", "collective metadata", "--metacoll"]),
    ("--numdims 1 --minels 8 --api=mpiio --usechunked", ["MPIIO", "chunks"]),
    ("--numdims 1 --minels 8 --api=ncmpi --addattr", ["NCMPI", "attributes", "--addattr"]),
    ("--numdims 1 --minels 8 --api=ncmpi --derivedtype", ["NCMPI", "compound"]),
    ("--numdims 1 --minels 8 --api=netcdf --derivedtype", ["NETCDF", "compound"]),
    ("--numdims 1 --minels 8 --api=netcdf --fileblocks 2 --filestrides 3", ["NETCDF", "gaps", "--filestrides"]),
    ("--numdims 1 --minels 8 --api=netcdf --memblock 2 --memstride 3", ["NETCDF", "gaps", "--memstride"]),
    ("--numdims 1 --minels 8 --api=dummy", ["DUMMY", "arrays"]),
    ("--numdims 1 --minels 8 --deadline 3", ["deadline", "no phase of this program can end early"]),
])
def test_what_cannot_be_is_refused_in_one_line(h5ex, args, words):
    run = h5ex(args, np=None).fails(1, *words)
    assert h5ex.files() == [] and "All done" not in run.stdout


def test_help_and_version_need_no_mpi(h5ex):
    assert "--minels=" in h5ex("--help=all", np=None).ok().stdout
    assert h5ex("--version", np=None).ok().stdout.startswith("h5exerciser (weir) ")
    words = h5ex("--dump-options=words", np=None).ok().stdout.split("\n")
    assert {"--numdims", "--rshift", "--maxcheck", "--io-timeout", "--report"} <= set(words)


# ---- what is measured ----

# The calls of the library between the two readings of the clock, in the order of a repetition.
ATTRIBUTE = ("H5Screate_simple", "H5Acreate2", "H5Awrite", "H5Aclose", "H5Sclose")
CLOSE_ALL = ("H5Dclose", "H5Sclose", "H5Sclose", "H5Gclose")
TIMED = [("fileCreate", [("H5Fcreate",)]), ("groupCreate", [("H5Gcreate2",)]), ("attributeWrite", 64 * [ATTRIBUTE]),
         ("datasetCreate", [("H5Dcreate2",)]), ("write", [("H5Dwrite",)]), ("datasetCloseWritten", [CLOSE_ALL]), ("flushWritten", [("H5Fflush",)]),
         ("fileCloseWritten", [("H5Fclose",)]), ("fileOpen", [("H5Fopen",)]), ("groupOpen", [("H5Gopen2",)]),
         ("attributeRead", 64 * [("H5Aopen",), ("H5Aread",)]), ("datasetOpen", [("H5Dopen2",)]), ("read", [("H5Dread",)]),
         ("datasetCloseRead", [CLOSE_ALL]), ("derivedGroupCreate", [("H5Gcreate2",)]), ("derivedCreate", [("H5Dcreate2",)]),
         ("derivedWrite", [("H5Dwrite",)]), ("derivedRead", [("H5Dread",)]), ("derivedClose", [CLOSE_ALL]), ("flushRead", [("H5Fflush",)]),
         ("fileCloseRead", [("H5Fclose",)])]


def between_readings(path):
    """(calls, nanoseconds) between each reading of the clock and the next."""
    parts = [[]]
    for line in path.read_text().split("\n")[:-1]:
        parts[-1].append(line)
        if line.startswith("clock "):
            parts.append([line])
    return [(tuple(part[1:-1]), int(part[-1].split()[1]) - int(part[0].split()[1])) for part in parts[1:-1]]


def measured(parts):
    """Those with a call that TIMED has, wherever it stands, and what all ranks did together since the one before. Spaces are made and
    closed elsewhere, too."""
    first = {call for _, groups in TIMED for group in groups for call in group} - {"H5Screate_simple", "H5Sclose", "H5Aclose"}
    found, together = [], []
    for calls, ns in parts:
        if first & set(calls):
            found.append((calls, ns, together))
            together = []
        else:
            together = together + [c for c in calls if c.startswith("MPI_")]
    return found


def test_each_column_is_one_call_between_two_readings_of_the_clock(h5ex, preload):
    """As in the original. The ranks begin each together and agree outside of the readings, seldom."""
    env = {"LD_PRELOAD": preload("log-h5-calls.c")}
    h5ex("--numdims 1 --minels 4k --dimranks 2 --addattr --derivedtype --iterations 1 --out f --report=json:r.json", np=2, env=env).ok()
    rows = {r["operation"]: r["seconds"] for r in json.loads((h5ex.cwd / "r.json").read_text())["tests"][0]["Results"]}
    took = {}
    for rank in "01":
        found = measured(between_readings(h5ex.cwd / ("calls." + rank)))[2:]  # without the file that is made before
        for operation, groups in TIMED:
            mine, found = found[:len(groups)], found[len(groups):]
            assert [calls for calls, _, _ in mine] == groups, (rank, operation)
            assert mine[0][2].count("MPI_Ibarrier") == 1 and not any(together for _, _, together in mine[1:]), (rank, operation)
            took.setdefault(operation, []).append(sum(ns for _, ns, _ in mine) / 1e9)
            if operation == "write":
                assert len(mine[0][2]) <= 2, (rank, mine)
        assert found == []
    assert sorted(rows) == sorted(took)
    for operation, ranks in took.items():
        assert rows[operation] == pytest.approx(max(ranks), rel=1e-9), operation


AGREEMENTS = {"MPI_Allreduce", "MPI_Iallreduce", "MPI_Bcast", "MPI_Ibarrier", "MPI_Barrier"}


@pytest.mark.parametrize("api, timed", [
    ("NETCDF", "nc_create_par nc_def_var nc_enddef nc_put_vara nc_sync nc_close nc_open_par nc_inq_varid nc_get_vara"),
    ("NCMPI", "ncmpi_create ncmpi_def_var ncmpi_enddef ncmpi_put_vars_all ncmpi_close ncmpi_open ncmpi_inq_varid ncmpi_get_vars_all"),
    ("MPIIO", "MPI_File_open MPI_File_set_size MPI_File_write_at_all MPI_File_sync MPI_File_close MPI_File_read_at_all")])
def test_no_agreement_is_in_the_time_of_a_call_of_another_library(h5ex, preload, need_backend, api, timed):
    need_backend(api)
    h5ex("--api %s --numdims 1 --minels 4k --dimranks 2 --iterations 1 --out f" % api, np=2,
         env={"LD_PRELOAD": preload("log-h5-calls.c")}).ok()
    for rank in "01":
        parts = [set(calls) for calls, _ in between_readings(h5ex.cwd / ("calls." + rank))]
        for call in timed.split():
            mine = [part for part in parts if call in part]
            assert mine and all(part & AGREEMENTS == set() for part in mine), (rank, call, mine)


def test_ranks_agree_a_few_times_in_a_repetition(h5ex, preload):
    """Between the first call of a half and the last one; the barriers are those of the original: one before each operation. Estimates
    of the clocks, which are made again with three reductions, do not become old here."""
    env = {"LD_PRELOAD": preload("log-h5-calls.c") + ":" + preload("speed-clock.c"), "CLOCK_FACTOR": "0.01"}
    h5ex("--numdims 1 --minels 4k --dimranks 2 --addattr --iterations 3 --out f", np=2, env=env).ok()
    calls = [c for c in (h5ex.cwd / "calls.0").read_text().split("\n") if not c.startswith("clock")]
    opens = [i for i, c in enumerate(calls) if c in ("H5Fcreate", "H5Fopen")][1:]
    closes = [i for i, c in enumerate(calls) if c == "H5Fclose"][1:]
    assert len(opens) == len(closes) == 6
    for begin, end in zip(opens, closes):
        half = calls[begin:end]
        assert half.count("MPI_Ibarrier") == 7 and half.count("MPI_Barrier") == 0, half
        assert half.count("MPI_Allreduce") + half.count("MPI_Iallreduce") <= 5, half


# ---- metadata, tuning, and the whole phase ----

def test_metadata_are_collective_in_every_repetition(h5ex, preload):
    env = {"LD_PRELOAD": preload("log-metacoll.c"), "METACOLL_LOG": str(h5ex.cwd / "log")}
    h5ex("--numdims 1 --minels 8 --iterations 3 --metacoll", np=None, env=env).ok()
    calls = (h5ex.cwd / "log").read_text().split("\n")[:-1]
    assert calls[-6:] == ["create 1 1", "open 1 1"] * 3 and set(calls) == {"create 1 1", "open 1 1"}
    os.unlink(h5ex.cwd / "log")
    h5ex("--numdims 1 --minels 8 --iterations 1", np=None, env=env).ok()
    assert (h5ex.cwd / "log").read_text().endswith("create 0 0\nopen 0 0\n")


def test_the_library_can_be_tuned_and_the_whole_phase_is_measured(h5ex):
    """Hints, alignment, attributes that are read, and a rate with open, flush and close in it."""
    h5py = pytest.importorskip("h5py", reason="needs python3-h5py to look into the file")
    (h5ex.cwd / "hints").write_text("IOR_HINT__MPI__cb_nodes=1\n")
    h5ex("--numdims 1 --minels 16k --iterations 2 --addattr --keepfile --out f --hdf5.setAlignment=64k --hdf5.hintsFileName=hints "
         "--hdf5.showHints --report=json:r.json", np=None).ok()
    with h5py.File(h5ex.cwd / "f") as f:
        data, = f["Data"].values()
        assert data.id.get_offset() % 65536 == 0
    test = json.loads((h5ex.cwd / "r.json").read_text())["tests"][0]
    assert test["hints"].count("hints passed") == 1 and "cb_nodes = 1" in test["hints"]
    rows = {(r["operation"], r["iter"]): r["seconds"] for r in test["Results"]}
    assert rows["attributeRead", 1] > 0 < rows["attributeWrite", 1]
    for phase in test["phases"]:
        inside = ("fileCreate", "write", "flushWritten", "fileCloseWritten") if phase["operation"] == "write" else ("fileOpen", "read")
        assert phase["bytes"] == 131072 and phase["totalTime"] > sum(rows[name, phase["iter"]] for name in inside)
