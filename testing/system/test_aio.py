# SPDX-License-Identifier: BSD-3-Clause
"""AIO: the bytes, options and errors of POSIX, through a queue, for all three programs."""
import csv
import json
import pathlib

import pytest

import conftest
import model
from mdtest_support import mdtest  # noqa: F401
from mdw_support import SMALL, lines, mdw  # noqa: F401

QUEUE = "-a AIO --aio.max-pending=8 --aio.granularity=3 "
SUM = dict(block=24576, size=4096, segments=5)  # 30 transfers of a task: several times round the queue


@pytest.fixture(autouse=True)
def aio(need_backend):
    need_backend("AIO")


def bytes_of(ior):
    return {p.name[len("testFile"):]: p.read_bytes() for p in ior.cwd.iterdir()}


def no_direct(ior):
    """Why a test of O_DIRECT must be skipped, or nothing."""
    return "" if ior("--posix.odirect -w -b 64k -t 64k", np=1).returncode == 0 else "no O_DIRECT here"


# ---- data ----

@pytest.mark.sanitize
@pytest.mark.parametrize("args, what", [
    ("", SUM),
    ("-F", dict(SUM, private=True)),
    ("-e -Y -x", SUM),
    ("-F -z --randomPrefill 12k", dict(SUM, private=True)),
    ("-F -z --randomPrefill 1k", dict(SUM, private=True)),
    ("-C -g", dict(SUM, tasks=3)),
    ("-D 60 -O stoneWallingWearOut=1", SUM),
    ("", dict(block=3000, size=1000, segments=7)),
    ("--aio.granularity=1", SUM),
    ("--aio.granularity=8", SUM),
    ("--aio.max-pending=100000 --aio.granularity=100000", SUM),
], ids=lambda v: v.replace(" ", "_") or "plain" if isinstance(v, str) else "%d" % v["size"])
def test_files_have_the_bytes_of_posix(ior, args, what):
    run = ior(QUEUE + "-w -r -W -R -k -G 7 -l o -b %d -t %d -s %d %s" % (what["block"], what["size"], what["segments"], args),
              np=what.get("tasks", 2)).ok()
    assert bytes_of(ior) == model.files(packet="o", **what)
    assert run.warnings == [] and run.accesses() == ["write", "read"], run
    conftest.sound(run, what["block"] * what["segments"] * what.get("tasks", 2))


@pytest.mark.parametrize("args", ["-z", "-F -z -z", "-z --randomPrefill 12k"])
def test_random_offsets_give_the_file_that_posix_makes(ior, args):
    """In whose order and by which task: all comes from the seed."""
    files = []
    for api in ("-a POSIX ", QUEUE):
        ior(api + "-w -k -G 7 -l o -b 24k -t 4k -s 5 --random-offset-seed=3 " + args).ok()
        files.append(bytes_of(ior))
    assert files[0] == files[1]


@pytest.mark.parametrize("args", ["", "-F", "-F -z", "-Y"])
def test_direct_io_has_the_same_bytes(ior, args):
    if no_direct(ior):
        pytest.skip(no_direct(ior))
    ior(QUEUE + "--posix.odirect -w -r -W -R -k -G 7 -l o -b 96k -t 16k -s 5 " + args).ok()
    assert bytes_of(ior) == model.files(98304, 16384, 5, packet="o", private="-F" in args)


def test_direct_io_wants_sizes_that_fit_and_says_so(ior):
    if no_direct(ior):
        pytest.skip(no_direct(ior))
    ior("-a AIO --posix.odirect -w -b 1000 -t 1000").fails(1, "--posix.odirect needs transfer and block sizes", "1000")
    assert ior.files() == []


def test_a_part_of_a_file_is_written_over_on_request(ior):
    ior("-a POSIX -w -k -G 7 -l o -b 64k -t 4k", np=1).ok()
    ior(QUEUE + "-w -E -k -G 8 -l o -b 32k -t 4k", np=1).ok()
    assert bytes_of(ior)[""] == (model.files(32768, 4096, tasks=1, packet="o", signature=8)[""]
                                 + model.files(65536, 4096, tasks=1, packet="o")[""][32768:])


@pytest.mark.sanitize
@pytest.mark.parametrize("args", ["-l o", "-l i", "-l r", "-l t", "-l signature", "-l o -z --random-offset-seed=3", "-l o -F", "-l o -D 60 -O stoneWallingWearOut=1"])
def test_reads_in_the_queue_find_what_is_wrong(ior, args):
    """Each wrong transfer, wherever it is in the queue: one in the middle of a batch, the last, two at a time."""
    ior(QUEUE + "-w -k -G 7 -b 64k -t 4k " + args.replace(" -z --random-offset-seed=3", ""), np=1).ok()
    name, = ior.files()
    data = bytearray((ior.cwd / name).read_bytes())
    for offset in (5 * 4096 + 8, 9 * 4096, 10 * 4096 + 4000, 15 * 4096 + 4095):
        data[offset] ^= 4
    (ior.cwd / name).write_bytes(data)
    run = ior(QUEUE + "-R -k -G 7 -b 64k -t 4k " + args, np=1)
    run.fails(4, "wrong data in 4 places")
    assert "(4 errors found)" in run.stdout + run.stderr, run
    for offset in (5, 9, 10, 15):
        assert "in the transfer at %d" % (offset * 4096) in run.stderr, run


# ---- errors ----

@pytest.mark.parametrize("check", ["", "-R"])
@pytest.mark.parametrize("have, offset", [(100000, 98304), (65536, 65536), (0, 0)])
def test_a_file_that_is_too_short_ends(ior, check, have, offset):
    (ior.cwd / "testFile").write_bytes(bytes(have))
    run = ior(QUEUE + "-r -k -b 128k -t 8k -G 0 %s" % check, np=1)
    if check and have:  # zeros are wrong data, but the end comes first as an error
        assert run.returncode == 3 and "end of file" in run.errors[0], run
    else:
        run.fails(3, "read 8192 bytes at offset %d of 'testFile'" % offset, "end of file")


@pytest.mark.parametrize("values, words", [
    (("max-pending=7",), ("--aio.max-pending", "'7'", "from 8")),
    (("max-pending=0",), ("--aio.max-pending", "'0'", "from 8")),
    (("max-pending=-1",), ("--aio.max-pending", "'-1'", "from 8")),
    (("granularity=0",), ("--aio.granularity", "'0'", "from 1")),
    (("granularity=-1",), ("--aio.granularity", "'-1'", "from 1")),
    (("max-pending=8", "granularity=9"), ("--aio.granularity (9) must not be more than --aio.max-pending (8)",)),
    (("granularity=129",), ("--aio.granularity (129)", "--aio.max-pending (128)")),
], ids=lambda v: ",".join(v) if "=" in v[0] else "")
def test_queues_that_cannot_be_are_refused(ior, values, words):
    run = ior("-a AIO -w " + " ".join("--aio." + v for v in values), np=2)
    run.fails(1, *words)
    assert ior.files() == []


def test_a_queue_that_the_memory_cannot_hold_is_refused(ior):
    run = ior("-a AIO -w -l o -t 32m -b 1t --aio.max-pending=20000", np=1)
    run.fails(2, "20000 buffers of 33554432 bytes", "--aio.max-pending")
    assert ior.files() == []


def test_a_queue_that_the_system_does_not_allow_is_refused_before_memory_is_taken(ior):
    limit = ["bash", "-c", 'ulimit -v 4000000; exec "$@"', "-"]  # KiB; the buffers would be 40 GB
    run = ior("-a AIO -w -l o -t 4k -b 40g --aio.max-pending=10000000", np=1, prefix=limit)
    run.fails(2, "io_setup for a queue of depth 10000000", "--aio.max-pending",
              "aio-max-nr allows %s" % pathlib.Path("/proc/sys/fs/aio-max-nr").read_text().strip())
    assert ior.files() == []


def test_locks_around_a_call_cannot_be_kept_by_a_queue(ior):
    ior("-a AIO -w --posix.rangelocks").fails(1, "--posix.rangelocks", "AIO", "-a POSIX")
    ior("-a POSIX -w -b 8k -t 8k --posix.rangelocks").ok()


# ---- what is told ----

def operations(ior):
    with open(str(ior.cwd / "ops-0-00000.csv"), newline="") as f:
        return list(csv.DictReader(f))


def test_records_are_those_of_transfers_in_flight(ior):
    """One for each transfer; with a queue some begin before others end, and with -Y none does."""
    for args, depth in (("", 8), ("-Y", 1)):
        ior(QUEUE + "-w -r -R -b 128k -t 4k -O savePerOpDataCSV=ops " + args, np=1).ok()
        for access in ("write", "read"):
            ops = [r for r in operations(ior) if r["access"] == access]
            assert sorted(int(r["offset"]) for r in ops) == list(range(0, 131072, 4096))
            spans = [(int(r["begin_ns"]), int(r["begin_ns"]) + int(r["ns"])) for r in ops]
            most = max(sum(b <= t < e for b, e in spans) for t, _ in spans)
            assert most == (1 if access == "write" and "-Y" in args else 8), (args, access, most)


def test_the_document_has_the_options_of_both(ior):
    ior("-a aio -w -b 8k -t 8k --aio.max-pending=16 --posix.lustre.startost=-1 --report=json:r.json").ok()
    values = json.loads((ior.cwd / "r.json").read_text())["tests"][0]["optionValues"]
    assert values["aio.max-pending"] == 16 and values["aio.granularity"] == 16 and values["posix.odirect"] == 0
    ior("-w -b 8k -t 8k --aio.max-pending=16 --report=json:r.json").ok()
    assert not [k for k in json.loads((ior.cwd / "r.json").read_text())["tests"][0]["optionValues"] if k.startswith("aio.")]


def test_help_lists_the_queue_behind_posix(ior):
    text = ior("--help=aio", np=None).ok().stdout
    assert "--aio.max-pending=128" in text and "--aio.granularity=16" in text
    assert conftest.backends()[0] == "POSIX" and "AIO" in conftest.backends()


# ---- the other programs ----

@pytest.mark.parametrize("args", ["", "-u", "-y", "-Y", "-Z", "-c"])
def test_mdtest_writes_and_reads_back(mdtest, args):
    run = mdtest("-a AIO -F -n 20 -w 3901 -e 3901 -X --verify-write " + args).ok()
    assert "errors" not in run.stdout and run.errors == run.warnings == [], run
    mdtest.empty()


def test_mdtest_files_are_those_of_posix(mdtest):
    def content():
        return {name: (mdtest.dir / name).read_bytes() for name in mdtest.names()}
    mdtest("-a AIO -F -C -n 10 -w 3901 -G 7").ok()
    mine = content()
    mdtest("-a POSIX -F -n 10 -r").ok()
    mdtest("-a POSIX -F -C -n 10 -w 3901 -G 7").ok()
    assert len(mine) == 20 and content() == mine
    mdtest("-a AIO -F -E -n 10 -e 3901").ok()
    path = mdtest.dir / mdtest.names()[3]
    path.write_bytes(path.read_bytes()[:100])
    mdtest("-a AIO -F -E -n 10 -e 3901").fails(3, path.name, "end of file")


def test_md_workbench_writes_and_reads_back(mdw):
    run = mdw("-a AIO --verify-read " + SMALL, np=3).ok()
    assert "(0 errs)" in lines(run, "benchmark")[0]
    mdw.clean()
