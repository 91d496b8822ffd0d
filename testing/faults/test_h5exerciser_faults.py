# SPDX-License-Identifier: BSD-3-Clause
"""h5exerciser when something fails: one clear line, the right status, nobody hangs, the file is removed."""
import re
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "system"))
import conftest  # noqa: E402
from h5ex_support import h5ex, hdf5_version  # noqa: E402,F401
from mdtest_support import tmpfs  # noqa: E402

SECONDS = 20
NO_SPACE, EIO = "No space left on device", "Input/output error"
ROMIO = {"OMPI_MCA_io": "romio321"}


@pytest.fixture
def faulty(h5ex, shim, need_backend):
    """faulty(args, fault, np): under the shim, in time; the run."""
    def run_it(args, fault, np=None, io="romio321"):
        need_backend("HDF5")
        return h5ex("--numdims 1 --out f --report=text:-,json:r.json " + ("" if "--minels" in args else "--minels 8 ") + args, np=np, timeout=SECONDS,
                    env={"OMPI_MCA_io": io, "LD_PRELOAD": shim, "FAULT_PREFIX": str(h5ex.cwd) + "/f", "FAULT": fault})  # not the report
    return run_it


@pytest.fixture
def small(h5ex):
    path = h5ex.cwd / "small"

    def mount(options):
        tmpfs(path, options)
        return path
    yield mount
    subprocess.run(["umount", "-l", str(path)], check=False, capture_output=True)


@pytest.fixture
def in_library(h5ex, faulty, need_backend):
    """in_library(words, args, fault, io): a rank fails inside of a call of HDF5, and says so. From HDF5 1.13 on the others, and in a close
    this rank, too, wait there for each other: --io-timeout ends the job, or the rank does, and the file stays."""
    def run_it(words, args, fault, io="romio321"):
        need_backend("HDF5")
        if hdf5_version() < (1, 13):
            faulty(args, fault, np=2, io=io).fails(3, "rank 0 on ", *words)
            assert left(h5ex) == []
        else:
            run = faulty(args + " --io-timeout 3", fault, np=2, io=io)
            assert run.returncode == 3 and re.search(r"ERROR: rank [01] on .*(has not returned for 3|%s)" % EIO, run.stderr), run
    return run_it


def left(h5ex):
    return [name for name in h5ex.files() if name not in ("r.json", "small")]


# ---- wrong data ----

@pytest.mark.parametrize("args, fault, words", [
    ("--api=posix", "call=read flip", ["(1 wrong)", "'hdf5DataSet1-iter0-size64' in 'f', element "]),
    ("--api=posix --derivedtype", "call=read flip count=2", ["(1 wrong)", "'simulation parameters' in 'f', element "]),
    ("", "call=write drop count=6", ["(64 wrong)", "'Data/hdf5DataSet1-iter0-size64' in 'f', element 0: expected 1, found 0;"]),
])
def test_wrong_data_are_counted_and_have_a_place(h5ex, faulty, args, fault, words):
    """The whole write is lost, or a bit is wrong."""
    run = faulty("--minels 64 --iterations 1 --indepio " + args, fault)
    assert run.returncode == 4 and len(run.warnings) == 1 and all(w in run.warnings[0] for w in words), run
    assert "All done" not in run.stdout and left(h5ex) == [], run
    doc = json.loads((run.cwd / "r.json").read_text())
    assert doc["status"] == 4 and doc["tests"][0]["verificationErrors"] == int(words[0][1:].split()[0])


def test_small_buffers_only_are_checked(h5ex, faulty):
    assert faulty("--minels 64 --iterations 1 --api=posix --maxcheck 512", "call=read flip").returncode == 4
    assert faulty("--minels 64 --iterations 1 --api=posix --maxcheck 511", "call=read flip").returncode == 0


# ---- failing calls ----

@pytest.mark.parametrize("args, fault, words", [
    ("--api=posix", "call=write errno=EIO rank=1", ["rank 1 on ", "write array 'hdf5DataSet1-iter0-size8' of 'f' (start 8 ", EIO]),
    ("--indepio", "call=write errno=EIO rank=1 count=3", ["rank 1 on ", "write array 'Data/hdf5DataSet1-iter0-size8'", EIO]),
    ("", "call=sync errno=EIO rank=1", ["rank 1 on ", "'f'", EIO]),
    ("--addattr --derivedtype", "call=open errno=EACCES rank=1 times=0", ["'f'", "H5Fcreate"]),
])
def test_a_call_that_fails_on_one_rank_ends_all(h5ex, faulty, args, fault, words):
    run = faulty("--dimranks 2 " + args, fault, np=2).fails(3, *words)
    assert "All done" not in run.stdout and left(h5ex) == [], run
    assert json.loads((run.cwd / "r.json").read_text())["status"] == 3


MOVED = "it is not known which data were moved"


@pytest.mark.parametrize("args, fault, words", [
    ("", "times=0", None), ("--memblock 4 --memstride 8 --derivedtype", "times=0", None), ("--api=ncmpi", "times=0", None),
    ("--api=ncmpi --memblock 4 --memstride 8", "times=0", None), ("--api=ncmpi", "rank=1 flip", "the file has other data"),
    ("", "rank=1 flip count=7", "the file has other data"), ("--usechunked", "times=0", MOVED), ("--collective", "times=0", MOVED)])
def test_an_errno_after_a_read_of_arrays(faulty, args, fault, words):
    """The elements are compared with the file where they lie there in one piece and no rank read for another; else it is an error."""
    args = "--minels 64 --dimranks 2 --iterations 1 " + ("--indepio " + args).replace("--indepio --collective", "")
    run = faulty(args, "call=read left=EIO " + fault, np=2, io="ompio")
    if words:
        run.fails(3, words, EIO)
    else:
        assert run.ok().warnings and all("left errno" in w and "are in the file" in w for w in run.warnings), run


@pytest.mark.parametrize("args", ["--minels 64k --dimranks 2", "--minels 8 --dimranks 2 --addattr --derivedtype"],
                         ids=["data", "metadata"])
def test_a_full_disk(h5ex, small, need_backend, args):
    """In the write of the data, or where the library writes metadata in flush and close."""
    need_backend("HDF5")
    place = small("size=%s" % ("512k" if "64k" in args else "28k"))
    run = h5ex("--numdims 1 --no-space-check --out %s/f %s" % (place, args), np=2, timeout=SECONDS, env=ROMIO)
    run.fails(3, "small/f", NO_SPACE if "64k" in args else "is full")
    assert os.listdir(place) == [], run


@pytest.mark.parametrize("io", ["ompio", "romio321"])
@pytest.mark.parametrize("count, call", [(2, "H5Fclose 'f'"), (4, "H5Dwrite 'f'")])
def test_a_write_of_a_filtered_chunk_that_fails_on_one_task(in_library, io, count, call):
    """The library exchanges sizes of chunks after the write, and writes metadata collectively: the others would wait for the task there."""
    in_library([call + ": " + EIO], "--minels 4k --dimranks 2 --usechunked --hdf5.filter=shuffle,deflate --iterations 1",
               "call=write errno=EIO rank=0 count=%d" % count, io)


@pytest.mark.parametrize("io", ["ompio", "romio321"])
@pytest.mark.parametrize("count, words", [(1, "H5Fclose 'f': write "), (2, "H5Fclose 'f': write 96 bytes at offset 0: "),
                                          (5, "H5Fflush 'f': write "), (8, "H5Fflush 'f': write ")])
def test_all_writes_of_a_rank_fail_from_some_write_of_metadata_on(in_library, io, count, words):
    """The rank would leave the call, and the others would wait in the library for it."""
    in_library([words, EIO], "--dimranks 2 --iterations 1 --addattr", "call=write errno=EIO rank=0 times=0 count=%d" % count, io)


def test_too_little_room_is_found_before_anything_is_written(h5ex, small):
    """512 KiB of numbers, 3 MiB with the records, and 8 MiB in the third size."""
    place = small("size=2m")
    size = "--numdims 2 --minels 256 128 --dimranks 2 1 --api posix --iterations 1 --out %s/f " % place
    h5ex(size + "--derivedtype", np=2).fails(2, "needs 3 MiB in '%s/f'" % place, "--no-space-check")
    run = h5ex(size + "--nsizes 3", np=2).fails(2, "needs 8 MiB")
    assert run.stdout.count("\nMax ") == 2 and os.listdir(place) == [], run


def test_a_write_in_a_close_that_fails_once_on_one_rank(in_library):
    in_library(["H5Fclose 'f': write 96 bytes", EIO], "--dimranks 2 --iterations 1 --addattr", "call=write errno=EIO rank=0 count=2")


@pytest.mark.slow
def test_a_rank_that_failed_does_not_wait_for_ever(h5ex, shim):
    """The other rank does not return from the sync; nobody asked for a limit."""
    run = h5ex("--numdims 1 --minels 8 --out f --dimranks 2 --iterations 1 --api=posix", np=2, timeout=3 * SECONDS,
               env={"LD_PRELOAD": shim, "FAULT_PREFIX": str(h5ex.cwd) + "/", "FAULT": "call=sync errno=EIO rank=0;call=sync hang rank=1"})
    assert run.returncode == 3 and run.errors[0].startswith("rank 0 on ") and EIO in run.errors[0], run
    assert "NOTE: other ranks have not returned from the same call for 20 seconds" in run.stderr, run


# ---- ends from outside ----

LONG = "--numdims 2 --minels 32 --dimranks 2 1 --iterations 1000000 --addattr --derivedtype --out f --report=text:-,json:r.json"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_signal_ends_the_run(h5ex, need_backend, number):
    need_backend("HDF5")
    proc = h5ex.start(LONG, np=2)
    ranks = h5ex.wait_for_ranks(proc, 2)
    conftest.wait_until(lambda: "MemSpace" in (h5ex.cwd.parent / "work.out").read_text())
    time.sleep(0.5)
    os.kill(ranks[1], number)
    run = h5ex.finish(proc, timeout=SECONDS)
    if number == signal.SIGKILL:
        assert run.returncode not in (0, None), run
        return
    assert run.returncode == 6 and "interrupted" in run.errors[0], run
    doc = json.loads((run.cwd / "r.json").read_text())
    assert doc["status"] == 6 and len(doc["tests"][0].get("summary", [])) in (0, 5)
    assert left(h5ex) == [], run


def test_a_call_that_never_returns_ends_the_run(h5ex, faulty):
    run = faulty("--dimranks 2 --indepio --io-timeout 2", "call=write hang rank=1", np=2)
    # The other rank waits for it in the close, and may be the first whose time is over.
    assert run.returncode not in (0, 6) and re.search(r"rank [01] on .* of 'f' has not returned for ", run.stderr), run


def test_a_file_that_cannot_be_opened_stays(h5ex, shim):
    """It was there before, and nothing of it was changed."""
    (h5ex.cwd / "f").write_text("earlier")
    h5ex("--numdims 1 --minels 8 --out f --api=posix --iterations 1", np=None, timeout=SECONDS,
         env={"LD_PRELOAD": shim, "FAULT_PREFIX": str(h5ex.cwd) + "/", "FAULT": "call=open errno=EACCES times=0"}).fails(3, "Permission denied", "'f'")
    assert (h5ex.cwd / "f").read_text() == "earlier"
