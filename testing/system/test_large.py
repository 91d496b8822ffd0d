# SPDX-License-Identifier: BSD-3-Clause
"""Numbers that do not fit into 31, 32 or 53 bits: long transfers, and offsets far out in files with holes."""
import fcntl
import json
import os
import pathlib
import re
import shutil
import struct
import tempfile

import pytest

import conftest
import model

SIZE = 8192
FAR = {"2^32": 2 ** 32 + SIZE, "2^42": 2 ** 42 + SIZE, "2^53": 2 ** 53 + SIZE}
WAYS = [
    ("POSIX", "", 0), ("MPIIO", "", 0), ("MPIIO", "-c", 0), ("MPIIO", "--mpiio.useFileView", 0),
    ("MPIIO", "-c --mpiio.useFileView --mpiio.useStridedDatatype", 0), ("HDF5", "--hdf5.noFill", 2048), ("HDF5", "-c --hdf5.noFill", 2048),
    ("NCMPI", "", 512), ("NCMPI", "-c", 512),
]
LONG = 2049 * 2 ** 20


@pytest.fixture
def memory():
    """A directory in a tmpfs, whose files may be as long as numbers go."""
    base = pathlib.Path("/dev/shm")
    if not base.is_dir():
        pytest.skip("no /dev/shm")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="weir-large.", dir=base))
    yield folder
    shutil.rmtree(folder)


@pytest.mark.parametrize("block", FAR.values(), ids=FAR)
@pytest.mark.parametrize("backend, args, begin", WAYS, ids=["%s %s" % way[:2] for way in WAYS])
def test_data_far_out_are_where_they_belong(ior, need_backend, memory, backend, args, begin, block):
    need_backend(backend)
    path = memory / "far"
    try:
        path.touch()
        os.truncate(path, 2 * block)
    except OSError:
        pytest.skip("no file of %d bytes here" % (2 * block))
    path.unlink()
    ior("-a %s %s -w -R -k -l o -G 7 -t %d -b %d -O stoneWallingWearOutIterations=1 -o %s" % (backend, args, SIZE, block, path)).ok()
    with open(path, "rb") as f:
        for rank in range(2):
            f.seek(begin + rank * block)
            assert f.read(SIZE) == model.transfer("o", SIZE, 7, rank, rank * block)
    assert path.stat().st_blocks * 512 < 2 ** 20


def room(folder):
    for line in pathlib.Path("/proc/meminfo").read_text().split("\n"):
        if line.startswith("MemAvailable:"):
            return min(int(line.split()[1]) * 1024, shutil.disk_usage(folder).free)
    return 0


@pytest.fixture
def alone(tmp_path_factory):
    """One test at a time has it: each takes gigabytes, which are free until another takes them."""
    base = tmp_path_factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with open(base / "long.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.mark.slow
@pytest.mark.parametrize("backend, args, begin", [("MPIIO", "", 0), ("HDF5", "", 2048), ("NCMPI", "-c", 512)])
@pytest.mark.usefixtures("alone")
def test_one_transfer_may_have_more_bytes_than_an_int_counts(ior, need_backend, memory, backend, args, begin):
    need_backend(backend)
    if room(memory) < 3 * LONG:
        pytest.skip("needs %d MiB of memory" % (3 * LONG // 2 ** 20))
    path = memory / "long"
    ior("-a %s %s -w -R -k -l o -G 7 -t %d -b %d -o %s" % (backend, args, LONG, LONG, path), np=1, timeout=120).ok()
    with open(path, "rb") as f:
        for page in (0, 1, 2 ** 19 - 1, 2 ** 19, LONG // 4096 - 1):
            f.seek(begin + page * 4096)
            words = struct.unpack("<512Q", f.read(4096))
            assert words[0] == 0 and words[1] == 7 + page * 512 + 1  # the stamp of offset 0, and the count of words
    assert begin + LONG <= path.stat().st_size <= begin + LONG + 4096


# ---- sums over ranks ----

def test_blocks_of_a_tebibyte_in_many_segments_are_counted_exactly(ior):
    """Two files of 2^62 bytes and more are more than 2^63 together; a shared one is refused. What is moved is counted to the byte."""
    (ior.cwd / "script").write_text("""IOR START
api=DUMMY
writeFile=1
readFile=0
blockSize=1t
transferSize=64m
filePerProc=1
segmentCount=8
RUN
transferSize=64m
segmentCount=8388607
deadlineForStonewalling=1
stoneWallingWearOut=1
RUN
IOR STOP
""")
    run = ior("-f script --report=text:-,json:r.json").ok()
    assert re.findall(r"aggregate filesize *: (.*)", run.stdout) == ["16 TiB", "16777214.00 TiB"], run
    eight, far = [test["phases"][0] for test in json.loads((ior.cwd / "r.json").read_text())["tests"]]
    assert eight["bytes"] == 16 * 2 ** 40 and eight["operations"] == 2 ** 18, eight
    assert far["bytes"] == far["operations"] * 2 ** 26 and far["operations"] == 2 * far["stepsMax"], far
    ior("-a DUMMY -w -b 1t -t 64m -s 8388607", np=2).fails(1, "for 2 tasks are more than a file can hold, 2^63 bytes")
    ior("-a DUMMY -w -F -b 1t -t 64m -s 8388607", np=3).fails(1, "for 3 tasks are more than can be counted, 2^64 bytes")


@pytest.mark.parametrize("program, args, word", [
    ("mdtest", "-a DUMMY -n 4611686018427387904", "4611686018427387904 items for each of 2 tasks are more than can be counted"),
    ("md-workbench", "-a DUMMY -I 2147483647 -D 2147483647 -P 2147483647 -R 2 -o w", "more objects than can be counted"),
])
def test_more_than_can_be_counted_over_the_ranks_is_refused(ior, program, args, word):
    ior.program = conftest.BUILD / "src" / program
    ior(args).fails(1, word)
