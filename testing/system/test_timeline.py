# SPDX-License-Identifier: BSD-3-Clause
"""--timeline: every operation of every rank in one file, however the run ends."""
import csv
import errno
import json
import os
import signal

import pytest

import conftest
from mdtest_support import mdtest  # noqa: F401
from mdw_support import mdw  # noqa: F401
from timeline_support import Timeline, read_records


# ---- what is in it ----

def test_operations_are_those_of_the_csv(ior):
    ior("-w -r -C -i 2 -s 2 -b 32k -t 8k -d 0.01 -O savePerOpDataCSV=ops --timeline=t.npy", np=3).ok()
    t = Timeline(ior.cwd / "t.npy").adds_up()
    assert t.keys() == ["write", "read"] * 2 and len(t.records) == 3 * 2 * 4 * 4
    assert [p["repetition"] for p in t.doc["phases"]] == [0, 0, 1, 1] and t.doc["program"] == "ior"
    assert t.doc["command"][1:3] == ["-w", "-r"] and t.doc["tests"][0]["parameters"]["block-size"] == 32768
    assert t.doc["tests"][0]["parameters"]["inter-test-delay"] == 0.01
    for rank in range(3):
        for rep in range(2):
            with open(ior.cwd / ("ops-%d-%05d.csv" % (rep, rank))) as f:
                rows = [(r["access"], int(r["offset"]), int(r["bytes"]), int(r["ns"])) for r in csv.DictReader(f)]
            mine = [r for r in t.records if r.rank == rank and r.repetition == rep]
            assert rows == [(t.keys()[r.phase], r.offset, r.bytes, r.end - r.begin) for r in mine]


def test_numpy_reads_it(ior):
    np = pytest.importorskip("numpy", reason="needs python3-numpy to look into the files")
    ior("-a DUMMY -w -b 1m -t 4k --timeline=t.npy", np=None).ok()
    a = np.load(ior.cwd / "t.npy", mmap_mode="r")
    assert a.shape == (256,) and int(a["bytes"].sum()) == 1 << 20 and (a["end"] >= a["begin"]).all()
    assert a["offset"].tolist() == [4096 * i for i in range(256)]


@pytest.mark.sanitize
def test_tests_of_a_script_follow_each_other(ior):
    """One with fewer tasks, then one with more; collective; until a time has passed, and until it is up; a dry run without operations."""
    (ior.cwd / "s").write_text("IOR START\napi=DUMMY\nblockSize=64k\ntransferSize=8k\nnumTasks=1\nRUN\nnumTasks=3\ncollective=1\n"
                               "api=MPIIO\nRUN\ncollective=0\napi=DUMMY\nwriteFile=1\nreadFile=0\nminTimeDuration=1\n"
                               "interIODelay=20000\nRUN\nminTimeDuration=0\ninterIODelay=400000\ndeadlineForStonewalling=1\n"
                               "stoneWallingWearOut=1\nRUN\ndeadlineForStonewalling=0\nstoneWallingWearOut=0\ninterIODelay=0\ndryRun=1\nRUN\nIOR STOP\n")
    ior("-f s --timeline=t.npy", np=3).ok()
    t = Timeline(ior.cwd / "t.npy").adds_up()
    assert [(p["test"], p["key"]) for p in t.doc["phases"]] == [(0, "write"), (0, "read"), (1, "write"), (1, "read"),
                                                                 (2, "write"), (3, "write"), (4, "write")]
    assert [test["tasks"] for test in t.doc["tests"]] == [1, 3, 3, 3, 3]
    assert [len(t.of(i)) for i in (0, 1, 2, 3, 6)] == [8, 8, 24, 24, 0]
    conftest.timely(len(t.of(4)) > 24, t.of(4))  # more than one pass in a second
    assert len(t.of(4)) % 8 == 0 and len({len(t.of(5, rank)) for rank in range(3)}) == 1
    ends = [p["end"] for p in t.doc["phases"]]
    assert ends == sorted(ends), "all tests have one zero"


def test_requests_of_a_queue_are_in_the_order_of_their_begin(ior, need_backend):
    need_backend("AIO")
    ior("-a AIO -w -r -z -b 512k -t 4k --aio.max-pending=16 --timeline=t.npy", np=None).ok()
    t = Timeline(ior.cwd / "t.npy").adds_up()
    assert len(t.records) == 256


def test_items_and_trees_of_mdtest(mdtest):
    mdtest("-n 4 -z 1 -b 2 -w 100 -e 50 -i 2 -c -u --timeline=t.npy", np=2).ok()
    t = Timeline(mdtest.cwd / "t.npy").adds_up()
    first = {p["key"]: len(t.of(p["index"])) for p in t.doc["phases"] if p["repetition"] == 0}
    assert first["file create"] == first["file stat"] == first["directory create"] == first["directory remove"] > 0
    assert "file write" in first and first["tree create"] == first["tree remove"] > 0
    assert {p["rate_unit"] for p in t.doc["phases"]} == {"items"}


def test_all_calls_of_md_workbench(mdw):
    mdw("-R 1 -D 2 -I 3 -P 4 -S 16 --timeline=t.npy", np=2).ok()
    t = Timeline(mdw.cwd / "t.npy").adds_up()
    key = {op["index"]: op["key"] for op in t.doc["operations"]}
    names = [key[r.operation] for r in t.records if r.phase == t.keys().index("benchmark")]
    assert {n: names.count(n) for n in names} == {"stat": 12, "read": 12, "delete": 12, "create": 12}


@pytest.mark.parametrize("program, args", [("mib", "--api DUMMY -l 8 -s 64k"), ("combo.x", "--nx 8 --n_levs 2 --n_tries 1 --n_writers 1")])
def test_the_rate_of_data_is_in_bytes_whatever_a_step_is_called(tmp_path, program, args):
    words = [str(conftest.BUILD / "src" / program)] + args.split() + ["--timeline=t.npy"]
    done = conftest.subprocess.run(words, cwd=tmp_path, env=conftest.program_env(), text=True,
                                   capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done
    for p in Timeline(tmp_path / "t.npy").adds_up().doc["phases"]:
        assert p["rate_unit"] == "bytes" and p["rate"] * (p["end"] - p["begin"]) / 1e9 == pytest.approx(p["bytes"]), p


# ---- what is not in it ----

def test_what_has_no_room_is_counted_everywhere(ior):
    run = ior("-a DUMMY -w -r -b 80k -t 8k --timeline=t.npy --timeline-limit=7 --report=json:r.json", np=2).ok()
    t = Timeline(ior.cwd / "t.npy")
    assert [(p["records"], p["dropped"]) for p in t.doc["phases"]] == [(14, 6), (14, 6)] and t.doc["dropped"] == 12
    said = [w for w in run.warnings if "14 are recorded, 6 are not" in w and "--timeline-limit" in w]
    assert len(said) == 2, run
    assert said[0] in str(json.loads((ior.cwd / "r.json").read_text())["tests"][0]["warnings"])


# ---- runs that end early ----

def test_a_failed_run_leaves_what_there_was(ior):
    ior("-a DUMMY -w -r -i 2 -b 64k -t 8k --dummy.fail-at=12 --dummy.fail-rank=1 --timeline=t.npy", np=2).fails(3, "rank 1")
    t = Timeline(ior.cwd / "t.npy", complete=False)
    assert t.keys() == ["write", "read"] and [p["failed"] for p in t.doc["phases"]] == [False, True]
    assert len(t.of(0)) == 16 and [r.error != 0 for r in t.of(1, 1)] == [False] * (len(t.of(1, 1)) - 1) + [True]
    assert t.of(1, 1)[-1].bytes == 0


def failures(program, args, status=3, np=None):
    """The operations that failed, of the phase that did, as (key of the operation, place, errno)."""
    program(args + " --timeline=t.npy", np=np).fails(status)
    t = Timeline(program.cwd / "t.npy", complete=False)
    assert t.doc["phases"][-1]["failed"] and all(r.error == 0 for r in t.records if r.phase < len(t.doc["phases"]) - 1)
    bad = [r for r in t.records if r.error]
    assert all(r.bytes == 0 for r in bad)
    return [(t.doc["operations"][r.operation]["key"], r.offset, errno.errorcode[r.error]) for r in bad]


@pytest.mark.parametrize("args, failed", [
    ("-F -C -n 5 -a DUMMY --dummy.fail-op=open --dummy.fail-at=3", ("file create", 2, "EIO")),
    ("-F -C -n 5 -w 9 -a DUMMY --dummy.fail-at=4 --dummy.fail-errno=ENOSPC", ("file create", 3, "ENOSPC")),
    ("-F -C -E -n 5 -w 9 -e 9 -a DUMMY --dummy.fail-at=7 --dummy.fail-errno=EACCES", ("file read", 1, "EACCES")),
    ("-F -E -n 4", ("file read", 0, "ENOENT")), ("-D -T -n 4", ("directory stat", 0, "ENOENT")), ("-F -r -n 4", ("file remove", 0, "ENOENT"))])
def test_the_operation_of_mdtest_that_failed_has_its_errno(mdtest, args, failed):
    if "DUMMY" not in args:
        (mdtest.cwd / "out" / "test-dir.0-0" / "mdtest_tree.0").mkdir(parents=True)
    assert failures(mdtest, args) == [failed]


def test_the_request_of_a_queue_that_failed_has_its_errno(ior, need_backend):
    need_backend("AIO")
    (ior.cwd / "testFile").write_bytes(bytes(65536))
    bad = failures(ior, "-a AIO --aio.max-pending=8 --aio.granularity=4 -r -k -b 128k -t 8k")
    assert bad and bad[0] == ("read", 65536, "EIO") and {(b[0], b[2]) for b in bad} == {("read", "EIO")}


@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_what_there_was(ior, sig):
    proc, pids = ior.begin("-a DUMMY -w -r -b 1m -t 8k -O interIODelay=50000 --timeline=t.npy", 2)
    os.kill(pids[1], sig)
    ior.finish(proc).ok(6)
    t = Timeline(ior.cwd / "t.npy", complete=False).adds_up()
    assert t.keys() == ["write"] and t.doc["phases"][0]["interrupted"] and len(t.records) > 0


def test_a_killed_rank_leaves_the_phases_before(ior):
    """Nobody can write anything then, nor need they."""
    proc = ior.start("-a DUMMY --dummy.store -w -r -b 2m -t 1m --dummy.delay-xfer=100000 -i 1000 --timeline=t.npy", np=2)
    pids = ior.wait_for_ranks(proc, 2)
    names = ior.cwd / "t.timeline.json"
    conftest.wait_until(lambda: names.exists() and len(json.loads(names.read_text())["phases"]) >= 2)
    os.kill(pids[1], signal.SIGKILL)
    run = ior.finish(proc)
    assert run.returncode not in (0, 6), run
    t = Timeline(ior.cwd / "t.npy", complete=False).adds_up()
    assert t.keys()[:2] == ["write", "read"] and len(t.of(0, 1)) == len(t.of(1, 0)) == 2


def test_a_full_disk_ends_the_timeline_and_not_the_run(ior, tmp_path):
    with conftest.on_tmpfs(tmp_path / "small", "size=200k") as small:
        run = ior("-a DUMMY -w -r -b 8m -t 4k --timeline=%s/t.npy --report=text:-,json:r.json" % small, np=2).ok(2)
        assert len(run.errors) == 1 and "timeline '%s/t.npy' ends here; the run continues" % small in run.errors[0], run
        assert run.accesses() == ["write", "read"]
        doc = json.loads((ior.cwd / "r.json").read_text())
        assert doc["status"] == 2 and len(doc["tests"][0]["phases"]) == 2
        assert len(read_records(small / "t.npy")) == 4096  # those of the write phase had room
        assert json.loads((small / "t.timeline.json").read_text())["complete"] is False


# ---- names ----

@pytest.mark.parametrize("args, status, words", [
    ("--timeline=t.txt", 1, ["'t.txt'", "must end in .npy"]),
    ("--timeline=t,sample=1/2", 1, ["the name of the file in 't,sample=1/2' must end in .npy"]),
    ("--timeline=no/t.npy", 2, ["'no/t.npy'", "No such file"]),
    ("--timeline=d.npy", 2, ["'d.npy'", "Is a directory"]),
    ("--timeline=r.npy --report=json:r.timeline.json", 1, ["--report", "--timeline", "'r.timeline.json'"]),
    ("--timeline=t.npy -o t.npy", 1, ["timeline", "testFile", "'t.npy'"]),
    ("--timeline=t.npy --timeline-limit=0", 1, ["timeline-limit", "0"]),
    ("--timeline=l.npy", 2, ["'l.timeline.json'"]),
], ids=lambda v: v if isinstance(v, str) else "")
def test_names_that_cannot_be(ior, args, status, words):
    (ior.cwd / "d.npy").mkdir()
    (ior.cwd / "l.timeline.json").mkdir()
    run = ior("-w -b 8k -t 8k -k " + args, np=None).fails(status, *words)
    assert run.rows == [] and "testFile" not in ior.files()


def test_a_timeline_and_a_result_of_one_name_are_two_files(ior):
    ior("-w -b 8k -t 8k -k --timeline=x.npy --report=json:x.json", np=None).ok()
    assert len(Timeline(ior.cwd / "x.npy").records) == 1
    assert json.loads((ior.cwd / "x.json").read_text())["status"] == 0
    assert "x.timeline.json" in ior.files()


def test_names_with_anything_in_them(ior):
    name = "a b:\"%s\u00e9" + "x" * 100 + ".npy"
    ior(["-a", "DUMMY", "-w", "-b", "8k", "-t", "8k", "--timeline=" + name], np=None).ok()
    assert len(Timeline(ior.cwd / name).records) == 1
