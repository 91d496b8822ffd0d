# SPDX-License-Identifier: BSD-3-Clause
"""Buffers on a GPU: every way of a transfer with every backend, kind of data and depth, whole and with each failure of the device or of
the library of files. Many cases are in one process (many.c); a failure names each that is not as it should be."""
import itertools
import json
import re

import pytest

import conftest
from conftest import timely
from pairwise import Case, launch
from s3_support import certificates, no_keys, rclone, rclone_server  # noqa
from test_gpu import compile_all

if conftest.SANITIZED:
    pytestmark = pytest.mark.skip(reason="memory without access and the libraries of a sanitizer do not go together")

STAGED = ["", "--posix.threads=3", "-a AIO --depth=4", "-a URING --depth=1", "-a URING --depth=4", "-a MPIIO", "-a MPIIO -c",
          "-a HDF5", "-a NCMPI", "-a DUMMY --dummy.store", "-a DUMMY --dummy.store --depth=3 --dummy.reverse"]
BACKENDS = {"staged": STAGED, "mapped": [words for words in STAGED if not re.search("AIO|URING|HDF5|NCMPI", words)],
            "direct": ["--posix.odirect", "--posix.odirect --posix.threads=3"]}
WAYS = [(kind, path) for kind in "123" for path in BACKENDS if (kind, path) != ("3", "mapped")]
DATA = ["", "-l random", "-l offset", "-l signature", "-G 7", "-z -l offset", "-F -i 2"]
# Kinds of runs that need not be crossed
OTHER = ["-z -z -F", "-s 3 -i 2", "-Y", "-x", "--mix=read:50,write:50", "--mix=read:50,write:50 -l signature", "--random-prefill=8k -z -l offset",
         "-a AIO --depth=3 --mix=read:50,write:50 -l signature", "--dummy.short-every=2 -a DUMMY --dummy.store", "-a MPIIO --depth=3"]
OBJECTS = ["", "--depth=3", "--s3.part=24k", "--s3.object=transfer", "--s3.object=transfer --depth=3"]
IOR = "-w -W -r -R -b 24k -t 8k -o f -O allocateBufferOnGPU=%s --gpu-path=%s --report=text:/dev/null "
MEMORY = " --allocateBufferOnGPU=%s --gpu-path=%s "
OTHERS = {"mdtest": "-F -n 3 -w 4k -e 4k --verify-read --verify-write -d d" + MEMORY, "md-workbench": "-I 3 -P 4 -D 2 -S 4k -X -o d" + MEMORY,
          "mib": "-F -l 5 -L 60 -s 16k --verify -r -t ." + MEMORY,
          "model_checkpoint": "--model=tiny --rules=none --remove -o d --gpu-memory=%s --gpu-path=%s "}
TINY = "layers = 2\nhidden = 64\nheads = 4\nffn = 128\nvocabulary = 500\n"

LOST = "an illegal memory access was encountered"
WRONG = "[Ww]rong data|Incorrect data"
# What fails, and the status and words of a run in which it did
FAILURES = [("GPU_FAIL=host:1", 2, "allocate pinned memory: out of memory"), ("GPU_FAIL=managed:1", 2, "allocate managed memory: out of memory"),
            ("GPU_FAIL=alloc:1", 2, "allocate memory of the device: out of memory"), ("GPU_FAIL=use:1:999", 2, "(take the device|set the device of a thread): another error"),
            # A thread of a queue has kept that it had no device, and the reason where the device is still lost
            ("GPU_FAIL=use:3:700", 3, LOST + "|No such device"), ("GPU_FAIL=use:3+:700", 3, LOST),
            *(("GPU_FAIL=%s:%d:700" % (way, n), 3, LOST) for way in ("in", "out") for n in (1, 2, 5)),
            *(("GPU_FAIL=copy:%d+:700" % n, 3, LOST) for n in (3, 9)), *(("GPU_CORRUPT=%d" % n, 4, WRONG) for n in (1, 5)),
            *(("FILE_FAIL=%s" % n, 3, text) for n, text in (("1", "code 5011"), ("4:1", "Input/output error"), ("6:5007", "not supported"))),
            ("FILE_OPEN=5001", 2, "nvidia_fs"), ("FILE_SHORT=4096", 0, "")]


def can_fail(failure, kind, path):
    """Has this way what fails? Managed memory with its data on the host is copied in staged transfers only."""
    words = failure[0]
    if words.startswith("FILE") or "use:3" in words:  # others make the device that of a thread once
        return path == "direct"
    if kind == "1" and path != "staged":
        return "managed" in words or "use" in words
    return not ("alloc" in words and kind != "3" or "managed" in words and kind == "3")


class Way(Case):
    """A run. In its directory is 'fired' where the failure took place."""

    def __init__(self, program, words, failure=("", 0, ""), rank=None):
        self.failure = failure
        variables = failure[0] + ";GPU_FIRED=fired" + (";GPU_RANK=%d" % rank if rank else "")
        super().__init__(program, words.split(), ("environment", variables))

    def prepare(self, path):
        super().prepare(path)
        if self.program == "model_checkpoint":
            (path / "tiny").write_text(TINY)

    def fired(self):
        return "fired" in self.names()

    def complaint(self):
        """Why the outcome is not what it should be, or ""."""
        status, text = self.failure[1:] if self.fired() else (0, "")
        left = [name for name in self.names() if name not in ("fired", "d", "tiny")]
        if self.result != "end":
            return "%s %s" % (self.result, self.error)
        lost = "+" in self.failure[0] and self.status == 2  # an allocation was the next call
        if (self.status != status and not lost) or not re.search(text, self.error):
            return "status %s, not %d %s: %s" % (self.status, status, text, self.error)
        return "left: %s, %s files, %s threads" % (left, self.files, self.threads) if left or self.files or self.threads else ""


def possible(words):
    """Which backends are here; containers, collective transfers and parts that are gathered have no random offsets, NCMPI no file
    per task."""
    if "-z" in words and re.search("HDF5|NCMPI|-c|s3.part=", words) or "-F" in words and "NCMPI" in words:
        return False
    return all(api in conftest.backends() for api in re.findall(r"-a (\w+)", words))


def cross(kind, path, backend, turn, name="f"):
    """A way and backend with all data, and with all failures, to which the data come in turn. name: of the file, with %d for the number."""
    words = [IOR % (kind, path) + backend + " " + data for data in DATA]
    rows = [(w, ("", 0, "")) for w in words if possible(w)]
    rows += [(next(w for w in (IOR % (kind, path) + backend + " " + data for data in turn) if possible(w)), failure)
             for failure in FAILURES if can_fail(failure, kind, path)]
    return [Way("ior", w.replace("-o f", "-o " + name.replace("%d", str(i))), failure) for i, (w, failure) in enumerate(rows)]


def crossing():
    """Each way and backend with all data, and with all failures."""
    turn = itertools.cycle(DATA)
    for kind, path in WAYS:
        for backend in BACKENDS[path]:
            yield from cross(kind, path, backend, turn)
        yield from (Way("ior", IOR % (kind, path) + words) for words in OTHER if path == "staged" and possible(words))
        for program, words in OTHERS.items():
            words = words % (kind, path) + ("--posix.odirect" if path == "direct" else "")
            some = [failure for failure in FAILURES if can_fail(failure, kind, path)][int(kind) % 2::2]
            yield from (Way(program, words, failure) for failure in [("", 0, ""), *some])


def check(done):
    wrong = ["%r: %s" % (case, case.complaint()) for case in done if case.complaint()]
    assert not wrong, "%d of %d\n%s" % (len(wrong), len(done), "\n".join(wrong[:50]))


def env(tmp_path_factory, vendor="cuda"):
    return {"LD_LIBRARY_PATH": "%s/%s" % (conftest.once(tmp_path_factory, "gpu-stand-ins", compile_all), vendor)}


@pytest.mark.slow
def test_every_way_with_every_failure(tmp_path, tmp_path_factory):
    done = launch(list(crossing()), tmp_path, 1, env=env(tmp_path_factory))
    check(done)
    for failure in FAILURES:
        which = [case for case in done if case.failure is failure]
        assert failure[1] == 0 or sum(case.fired() for case in which) > len(which) / 4, failure


@pytest.mark.slow
@pytest.mark.parametrize("kind", "123")
def test_every_failure_with_objects(tmp_path, tmp_path_factory, need_backend, rclone, kind):
    """Transfers of S3 are staged. A run that fails leaves no object and no upload, and its objects have names of their own."""
    need_backend("S3")
    turn = itertools.cycle(DATA)
    cases = [case for i, words in enumerate(OBJECTS)
             for case in cross(kind, "staged", "-a S3 --s3.part-least=8k " + words, turn, rclone.name("%d-%%d/f" % i))]
    done = launch(cases, tmp_path, 1, env={**env(tmp_path_factory), **rclone.env})
    check(done)
    assert sum(case.fired() for case in done) > len(done) / 3
    rclone.is_clean()


def test_every_failure_with_the_other_vendor(tmp_path, tmp_path_factory):
    done = launch([Way("ior", IOR % way + words, failure) for way in WAYS for words in BACKENDS[way[1]][:2] for failure in FAILURES
                   if can_fail(failure, *way)], tmp_path, 1, env=env(tmp_path_factory, "hip"))
    check(done)
    assert all(any(case.fired() for case in done if case.failure is failure) for failure in FAILURES if failure[1])
    assert all(re.search("HIP|hipFile", case.error) for case in done if case.status in (2, 3))


FAR = ["-F", "", "-a MPIIO", "-a MPIIO -c", "-a MPIIO -c --depth=2", "-a HDF5 -c", "-a NCMPI -c", "-F -a URING --depth=4", "-F --posix.threads=2"]


@pytest.mark.slow
def test_a_failure_on_one_rank_is_that_of_all(tmp_path, tmp_path_factory):
    """The others of a collective transfer do not wait for ever for the rank that has lost its device."""
    failures = [failure for failure in FAILURES if can_fail(failure, "3", "staged")][::2]
    done = launch([Way("ior", IOR % ("3", "staged") + words, failure, rank=1) for words in FAR if possible(words) for failure in failures],
                  tmp_path, 2, env=env(tmp_path_factory))
    check(done)
    assert all("rank 1 on" in case.error for case in done if case.fired() and "CORRUPT" not in case.failure[0])


# ---- depth ----

@pytest.mark.parametrize("words", ["-w", "-r"])
def test_a_copy_takes_place_beside_the_transfers_of_others(ior, tmp_path_factory, words):
    """With --depth each transfer has a pinned buffer of its own: 12 of 10 ms, with a copy of 10 ms each, take less than one after the
    other."""
    if words == "-r":
        ior("-w -k -b 96k -t 8k -o f -a DUMMY --dummy.store", np=None).ok()
    for depth in (1, 2):
        run = ior("%s -b 96k -t 8k -o f -a DUMMY --dummy.store --dummy.delay-xfer=10000 --depth=%d -O allocateBufferOnGPU=3 -k --report=json:r.json" % (
            words, depth), np=None, env={**env(tmp_path_factory), "GPU_DELAY_US": "10000"}).ok()
        (test,) = json.loads((ior.cwd / "r.json").read_text())["tests"]
        (row,) = test["gpuCopies"]
        assert row["copies"] == 12 and row["copyTime"] >= 0.12, run
        took = test["Results"][0]["wrRdTime"]
        if depth == 1:
            assert took >= 0.24, run
        else:
            timely(took < row["copyTime"] + 0.12 * 0.9, run)
