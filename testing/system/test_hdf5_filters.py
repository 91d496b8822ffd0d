# SPDX-License-Identifier: BSD-3-Clause
"""--hdf5.filter, page buffer, subfiles and connectors of HDF5: what is in the file, what is refused, what is reported."""
import json
import os
import shutil

import pytest

import conftest
import model
from h5ex_support import h5ex  # noqa: F401

h5py = pytest.importorskip("h5py", reason="needs python3-h5py to look into the file")


@pytest.fixture(autouse=True)
def hdf5(need_backend):
    need_backend("HDF5")


def result(ior):
    return json.loads((ior.cwd / "r.json").read_text())


def version(ior):
    ior("-a HDF5 --dry-run --report=json:v.json", np=None).ok()
    text = json.loads((ior.cwd / "v.json").read_text())["tests"][0]["Options"]["apiVersion"]
    return text.split()[0], tuple(int(n) for n in text.split()[0].split("."))


def datasets(f):
    return [f["Dataset-0000.%04d" % i] for i in range(len(f))]


# ---- what is in the file ----

BLOCK, SIZE = 24576, 8192
# options, compression and shuffle as h5py names them, elements of a chunk
FILTERS = [
    ("-c --hdf5.filter=deflate", ("gzip", False), 1024),
    ("-c --hdf5.filter=shuffle,deflate:9 --hdf5.chunkSize=1000", ("gzip", True), 1000),
    ("-c --hdf5.filter=shuffle --hdf5.chunkSize=2500 -e", (None, True), 2500),
    ("-c --hdf5.filter=fletcher32 --hdf5.collectiveMetadata -Y", (None, False), 1024),
    ("-F --hdf5.filter=szip:16 -i 2", ("szip", False), 1024),
    ("-F -c --hdf5.filter=deflate:1 -Y -C", ("gzip", False), 1024),
    ("-F --hdf5.filter=shuffle,deflate:0,fletcher32 --hdf5.noFill -m -i 2", ("gzip", True), 1024),
    ("-c -O hdf5.filter=shuffle+deflate:6 -C -E", ("gzip", True), 1024),
]


@pytest.mark.sanitize
@pytest.mark.parametrize("tasks", [1, 3])
@pytest.mark.parametrize("args, how, chunk", FILTERS, ids=[f[0] for f in FILTERS])
def test_chunks_pass_the_filters_and_hold_the_segments(ior, args, how, chunk, tasks):
    run = ior("-a HDF5 -w -W -r -R -k -l o -G 7 -b %d -t %d -s 3 %s --report=text:-,json:r.json" % (BLOCK, SIZE, args), np=tasks).ok()
    assert run.errors == [] and (run.warnings == [] or tasks == 1), run
    private = "-F" in args
    stored = 0
    number = ".1" if "-m" in args else ""
    for suffix, expect in model.files(block=BLOCK, size=SIZE, segments=3, packet="o", tasks=tasks, private=private).items():
        with h5py.File(ior.cwd / ("testFile" + suffix + number), "r") as f:
            sets = datasets(f)
            assert len(sets) == 3 and {(d.compression, d.shuffle) for d in sets} == {how} and {d.chunks for d in sets} == {(chunk,)}
            assert all(d.fletcher32 == ("fletcher32" in args) for d in sets)
            assert b"".join(d[...].tobytes() for d in sets) == expect
            stored += sum(d.id.get_storage_size() for d in sets)
    test, = result(ior)["tests"]
    if "collectiveMetadata" in args:  # rank 0 does not ask alone
        assert "storedBytes" not in test and "storedBytes" not in run.stdout
    else:
        assert test["storedBytes"] == stored and "storedBytes         : %d\n" % stored in run.stdout, (stored, run)


@pytest.mark.parametrize("size", ["-b 8 -t 8 -s 3", "-b 64k -t 64k -s 1100", "-b 3000000 -t 1m -t 1000000"])
def test_sizes_of_transfers_and_many_datasets(ior, size):
    """Datasets beyond the first 1024 are opened again to be counted."""
    ior("-a HDF5 -c -w -r -R -k -l o --hdf5.filter=deflate:1 --report=json:r.json " + size, np=2).ok()
    with h5py.File(ior.cwd / "testFile", "r") as f:
        assert result(ior)["tests"][0]["storedBytes"] == sum(d.id.get_storage_size() for d in datasets(f))


def test_what_a_deadline_leaves_is_read_back(ior):
    run = ior("-a HDF5 -c -w -r -R -D 1 -b 4m -t 64k -s 2 -l signature --hdf5.filter=shuffle,deflate -O interIODelay=30000", np=2).ok()
    assert run.errors == [], run


def test_h5exerciser_has_filters_on_both_datasets(h5ex):
    run = h5ex("--numdims 2 --minels 16 24 --dimranks 1 2 --usechunked --derivedtype --addattr --iterations 2 --keepfile --out f "
               "--hdf5.filter=shuffle,deflate:3 --report=text:-,json:r.json", np=2).ok()
    assert run.errors == []
    with h5py.File(h5ex.cwd / "f", "r") as f:
        doubles, records = next(v for k, v in f["Data"].items() if k.startswith("hdf5DataSet1")), f["Data/derivedData/simulation parameters"]
        assert doubles.chunks == records.chunks == (16, 24)
        assert {(d.compression, d.compression_opts, d.shuffle) for d in (doubles, records)} == {("gzip", 3, True)}
        assert result(h5ex)["tests"][0]["storedBytes"] == doubles.id.get_storage_size() < doubles.size * 8


# ---- what cannot be ----

REFUSED = [
    ("-c --hdf5.filter=brotli", "cannot write with 'brotli', but with: shuffle deflate "),
    ("-c --hdf5.filter=deflate:10", "'deflate:10': the value of deflate must be from 0 to 9"),
    ("-c --hdf5.filter=shuffle:0", "'shuffle:0': shuffle takes no value"),
    ("-c --hdf5.filter=szip:0", "'szip:0': the value of szip must be from 2 to 32, and even"),
    ("-c --hdf5.filter=szip:7", "'szip:7': the value of szip must be"),
    ("-c --hdf5.filter=deflate,shuffle:", "'shuffle:': shuffle takes no value"),
    ("-c --hdf5.filter=deflate:-1", "'deflate:-1': the value of deflate"),
    ("-c --hdf5.filter=deflate:99999999999999999999", "the value of deflate must be"),
    ("-c -t 128 -b 1k --hdf5.filter=szip", "szip:32 needs chunks of as many elements, and these have 16"),
    ("-c -t 1k -b 1k --hdf5.filter=szip:8 --hdf5.chunkSize=4", "szip:8 needs chunks of as many elements, and these have 4"),
    ("-c --hdf5.filter=shuffle,deflate,shuffle", "'shuffle' is given twice"),
    ("-c --hdf5.filter=deflate,", "an empty name in the list 'deflate,'"),
    ("-c --hdf5.filter=,deflate", "an empty name in the list"),
    ("--hdf5.filter=deflate", "collectively only; add -c or -F"),
    ("--hdf5.page-buffer=1m", "for a file per task (-F)"),
    ("-c --dry-run --hdf5.filter=brotli", "'brotli'"),
]


@pytest.mark.parametrize("args, words", REFUSED, ids=[r[0] for r in REFUSED])
def test_is_refused_before_a_file_is_made(ior, args, words):
    ior("-a HDF5 -w " + args, np=2).fails(1, words)
    assert ior.files() == []


def test_a_list_without_szip_has_no_error_of_the_library(ior):
    run = ior("-a HDF5 -c -w -b 8k -t 8k --hdf5.filter=deflate", np=2).ok()
    assert "HDF5-DIAG" not in run.stderr, run


def test_the_chunks_of_a_file_that_is_only_read_are_in_the_file(ior):
    ior("-a HDF5 -c -w -k -b 1k -t 1k --hdf5.filter=szip", np=2).ok()
    ior("-a HDF5 -c -r -k -b 1k -t 128 --hdf5.filter=szip", np=2).ok()


@pytest.mark.parametrize("args, words", [("--hdf5.filter=deflate", "add --usechunked"),
                                         ("--usechunked --indepio --hdf5.filter=deflate", "leave --indepio out"),
                                         ("--usechunked --derivedtype --hdf5.filter=szip", "szip takes numbers only"),
                                         ("--hdf5.page-buffer=64k", "for a file per task (-F)")])
def test_h5exerciser_refuses_it_too(h5ex, args, words):
    h5ex("--numdims 1 --minels 64 --out f " + args, np=2).fails(1, words)
    assert not (h5ex.cwd / "f").exists()


def test_what_needs_a_newer_library_names_its_version(ior):
    """With a newer one the page buffer works, and so do subfiles, which are removed with the file."""
    name, number = version(ior)
    if number < (1, 14):
        ior("-a HDF5 -F --hdf5.page-buffer=1m", np=2).fails(1, "from 1.14 on", name)
        ior("-a HDF5 --hdf5.subfiling", np=2).fails(1, "from 1.14 on", name)
    else:
        ior("-a HDF5 -F -w -W -r -R --hdf5.page-buffer=1m -t 64k -b 256k -s 2", np=2).ok()
        run = ior("-a HDF5 -w -W -r -R --hdf5.subfiling -t 64k -b 256k -s 2", np=2, env={"OMPI_MPI_THREAD_LEVEL": "3"})
        assert run.returncode == 0 or name in run.errors[0], run
    assert ior.files() == ["v.json"]


def test_a_connector_is_in_the_provenance_and_an_old_library_has_none(ior):
    name, number = version(ior)
    if number >= (1, 12):
        pytest.skip("HDF5 %s takes the connector" % name)
    run = ior("-a HDF5 -w --report=json:r.json", np=2, env={"HDF5_VOL_CONNECTOR": "daos", "H5FD_SUBFILING_IOC_PER_NODE": "2"}).ok()
    assert run.warnings == ["HDF5_VOL_CONNECTOR=daos has no effect: this HDF5 (%s) is older than 1.12" % name]
    variables = result(ior)["provenance"]["environment"]["variables"]
    assert variables["HDF5_VOL_CONNECTOR"] == "daos" and variables["H5FD_SUBFILING_IOC_PER_NODE"] == "2"
    ior("-a HDF5 -w -O warningAsErrors=1", np=2, env={"HDF5_VOL_CONNECTOR": "daos"}).fails(1, "older than 1.12")


# ---- plugins, and what a filter finds ----

@pytest.fixture
def plugin(ior, preload):
    path = preload("add-one-filter.c")
    folder = ior.cwd / "plugins"
    folder.mkdir()
    shutil.copy(path, folder / "libadd.so")
    return {"HDF5_PLUGIN_PATH": str(folder)}


def test_a_plugin_is_loaded_and_gets_its_value(ior, plugin):
    args = "-a HDF5 -c -w -k -l o --hdf5.filter=zstd%s -b 24k -t 8k"
    ior(args % ":5" + " -W -r -R", np=2, env=plugin).ok()
    with h5py.File(ior.cwd / "testFile", "r") as f:
        assert f["Dataset-0000.0000"].id.get_create_plist().get_filter(0)[:3] == (32015, 1, (5,))
    ior(args % "" + " -W -r -R", np=2, env=plugin).ok()
    ior(args % ":23", np=2, env=plugin).fails(1, "'zstd:23': the value of zstd must be from 1 to 22")
    ior("-a HDF5 -r -b 24k -t 8k -k", np=2).fails(3, "testFile")


def damage(path, dataset):
    """Change a byte in the middle of the second chunk."""
    with h5py.File(path, "r") as f:
        at = f[dataset].id.get_chunk_info(1)
    with open(path, "r+b") as f:
        f.seek(at.byte_offset + at.size // 2)
        byte = f.read(1)
        f.seek(-1, os.SEEK_CUR)
        f.write(bytes([byte[0] ^ 0x55]))


@pytest.mark.parametrize("filters, status, words", [
    ("deflate", 3, "H5Dread: "), ("shuffle,fletcher32", 3, "H5Dread: "), ("shuffle", 4, None)])
@pytest.mark.parametrize("how", ["-c", "-F", ""])
def test_damage_behind_a_filter_is_found(ior, filters, status, words, how):
    """By the filter where it checks, and then the run says so; else in the data."""
    size = " -b 24k -t 8k -s 2 -l o -k"
    ior("-a HDF5 -w %s --hdf5.filter=%s" % (how or "-c", filters) + size, np=2).ok()
    damage(ior.cwd / ("testFile" + (".00000000" if how == "-F" else "")), "Dataset-0000.0001")
    run = ior("-a HDF5 -r -R " + how + size, np=2)
    if words:
        run.fails(status, "testFile", words)
    else:
        assert run.returncode == status and any("Incorrect data on read" in w for w in run.warnings), run


# ---- what the rate is worth ----

def test_h13_says_what_a_filter_left(ior):
    def h13(args):
        ior("-a HDF5 -c -w -t 64k -b 256k --report=json:r.json " + args, np=2).ok()
        test, = result(ior)["tests"]
        return {f["id"]: f for f in test["findings"]}["H13"], test
    finding, test = h13("--hdf5.filter=deflate")
    share = 100 * test["storedBytes"] / (512 * 1024)
    assert finding["severity"] == "SUSPECT" and share < 50
    assert finding["text"] == "filters of HDF5 left %.3g %% of the bytes: the rate is not that of the storage" % share
    for more in "", " -O minTimeDuration=0.3":  # the bytes of one pass count
        finding, test = h13("--hdf5.filter=deflate -l signature" + more)
        assert finding["outcome"] == "fine" and test["storedBytes"] > 0.95 * 512 * 1024, finding
    finding, test = h13("--hdf5.chunkSize=1024")
    assert finding["severity"] == "NOTE" and "storedBytes" not in test
