# SPDX-License-Identifier: BSD-3-Clause
"""--timeline=FILE.npy,sample=1/N,ranks=LIST,slowest=K: some of the operations, and what says so."""
import csv
import json
import pathlib

import pytest

import conftest
from mdtest_support import mdtest  # noqa: F401
from mdw_support import mdw  # noqa: F401
from timeline_support import FAILED, NEIGHBOUR, SAMPLE, SLOWEST, Timeline

ALL = 2 ** 64 - 1


def number_at(key, n):
    """The n-th number of stream 'key' (doc/timeline.md)."""
    z = (key + (n + 1) * 0x9e3779b97f4a7c15) & ALL
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9 & ALL
    z = (z ^ z >> 27) * 0x94d049bb133111eb & ALL
    return z ^ z >> 31


def drawn(seed, rank, phase, one_of, operations):
    key = number_at(number_at(seed, rank), phase)
    return [n for n in range(operations) if number_at(key, n) <= ALL // one_of]


def kept(timeline, phase, rank, why):
    return sorted(r.number for r in timeline.of(phase, rank) if r.chosen & why)


# ---- a sample ----

def test_a_sample_follows_from_seed_rank_phase_and_number(ior):
    ior("-a DUMMY -w -r -b 16000 -t 8 --timeline=t.npy,sample=1/20,seed=3 --report=json:r.json", np=3).ok()
    t = Timeline(ior.cwd / "t.npy")
    assert t.doc["chosen"] == {"sample": 20, "seed": 3} and t.doc["seen"] == 12000 and t.doc["dropped"] == 0
    samples = [kept(t, phase, rank, SAMPLE) for phase in range(2) for rank in range(3)]
    assert samples == [drawn(3, rank, phase, 20, 2000) for phase in range(2) for rank in range(3)]
    assert all(50 < len(s) < 150 for s in samples) and len({tuple(s) for s in samples}) == 6
    assert all(r.offset == 16000 * r.rank + 8 * r.number for r in t.records) and {r.chosen for r in t.records} == {SAMPLE}
    found = json.loads((ior.cwd / "r.json").read_text())["tests"][0]
    assert found["timeline"] == {"operations": 12000, "records": len(t.records), "dropped": 0, "sample": 20}
    assert found["optionValues"]["timeline"] == "t.npy,sample=1/20,seed=3"


def test_one_of_one_is_all_and_a_small_limit_is_counted(ior):
    ior("-a DUMMY -w -b 80k -t 8k --timeline=t.npy,sample=1/1", np=None).ok()
    assert kept(Timeline(ior.cwd / "t.npy").adds_up(), 0, 0, SAMPLE) == list(range(10))
    run = ior("-a DUMMY -w -b 80k -t 8k --timeline=t.npy,sample=1/1 --timeline-limit=7", np=2).ok()
    t = Timeline(ior.cwd / "t.npy")
    assert (t.doc["records"], t.doc["dropped"]) == (14, 6) and "14 are recorded, 6 are not" in run.warnings[0], run
    for words in "sample=1/1", "ranks=1":  # the same on the rank that is not named
        run = ior("-a DUMMY -w -b 80k -t 8k --timeline=t.npy,%s --timeline-limit=7 --warning-as-errors" % words, np=2)
        assert len(run.errors) == 1 and "--timeline-limit" in run.errors[0] and run.returncode != 0, run


# ---- ranks ----

def test_ranks_that_are_not_named_write_nothing(ior):
    """Collective transfers, all operations of the others, and no rank waits."""
    ior("-a MPIIO -c -w -r -b 64k -t 8k --timeline=t.npy,ranks=0,2-3,2 --report=json:r.json", np=5).ok()
    t = Timeline(ior.cwd / "t.npy")
    assert t.doc["chosen"] == {"ranks": "0,2-3,2"} and {r.number for r in t.records} == {None}
    for phase in range(2):
        assert [len(t.of(phase, rank)) for rank in range(5)] == [8, 0, 8, 8, 0]
    assert t.doc["seen"] == 80 and json.loads((ior.cwd / "r.json").read_text())["tests"][0]["timeline"]["ranks"] == "0,2-3,2"


def test_the_first_rank_of_each_node(ior):
    ior("-a DUMMY -w -b 64k -t 8k --timeline=t.npy,ranks=leaders,sample=1/1", np=3).ok()
    assert [len(Timeline(ior.cwd / "t.npy").of(0, rank)) for rank in range(3)] == [8, 0, 0]


# ---- the slowest ----

def every_operation(path):
    with open(path) as f:
        return [(int(r["ns"]), int(r["offset"])) for r in csv.DictReader(f)]


def test_the_slowest_of_each_rank_with_the_operations_before_and_after(ior):
    """Beside it a file has all operations of the same run."""
    ior("-a DUMMY -w -r -b 1200k -t 4k -O savePerOpDataCSV=ops --timeline=t.npy,slowest=5,sample=1/30", np=2).ok()
    t = Timeline(ior.cwd / "t.npy")
    for rank in range(2):
        ops = every_operation(ior.cwd / ("ops-0-%05d.csv" % rank))
        for phase, part in enumerate((ops[:300], ops[300:])):
            mine = t.of(phase, rank)
            assert all((r.end - r.begin, r.offset) == part[r.number] for r in mine)
            slow = kept(t, phase, rank, SLOWEST)
            assert sorted((part[n][0] for n in slow), reverse=True) == sorted((ns for ns, _ in part), reverse=True)[:5]
            around = {n + d for n in slow for d in (-1, 1)} & set(range(300))
            assert kept(t, phase, rank, NEIGHBOUR) == sorted(around)
            assert kept(t, phase, rank, SAMPLE) == drawn(0, rank, phase, 30, 300)
            assert len({r.number for r in mine}) == len(mine) and all(r.chosen for r in mine)


# ---- whatever the program does ----

@pytest.mark.sanitize
@pytest.mark.parametrize("args, operations", [
    ("-a DUMMY -w -b 8k -t 8k", [1]), ("-a DUMMY -w -r -b 8k -t 8k --dry-run", [0, 0]), ("-a DUMMY -w -r -z -b 64k -t 8k -F", [8, 8]),
    ("-a DUMMY -w -b 8m -t 8k -D 1 -O stoneWallingWearOut=1,interIODelay=20000", None),
    ("-a AIO -w -r -Z -b 64k -t 4k --aio.max-pending=16", [16, 16])])
def test_orders_and_queues(ior, need_backend, args, operations):
    need_backend(args.split()[1])
    ior(args + " --timeline=t.npy,sample=1/3,slowest=2", np=None).ok()
    t = Timeline(ior.cwd / "t.npy")
    seen = [p["seen"] for p in t.doc["phases"]]
    assert seen == operations or not operations and 0 < seen[0] < 1024
    for phase, n in enumerate(seen):
        assert kept(t, phase, 0, SAMPLE) == drawn(0, 0, phase, 3, n) and len(kept(t, phase, 0, SLOWEST)) == min(n, 2)


def test_items_of_mdtest_and_calls_of_md_workbench(mdtest, mdw):
    mdtest("-n 10 -z 1 -b 2 -w 10 -i 2 -u --timeline=t.npy,slowest=1", np=2).ok()
    t = Timeline(mdtest.cwd / "t.npy")
    for p in t.doc["phases"]:
        ranks = {r.rank for r in t.of(p["index"])}
        assert all(len(kept(t, p["index"], rank, SLOWEST)) == 1 for rank in ranks) and p["seen"] >= len(ranks)
        assert p["key"].startswith("tree") or ranks == {0, 1}
    mdw("-R 1 -D 2 -I 3 -P 4 -S 16 --timeline=t.npy,sample=1/4", np=None).ok()
    t = Timeline(mdw.cwd / "t.npy")
    p = next(p for p in t.doc["phases"] if p["key"] == "benchmark")
    assert p["seen"] == 24 and kept(t, p["index"], 0, SAMPLE) == drawn(0, 0, p["index"], 4, 24)


@pytest.mark.parametrize("program, args", [("mib", "--api DUMMY -l 20 -s 4k -p --profiles=prof"), ("combo.x", "--nx 8 --n_levs 2 --n_tries 1 --n_writers 1"),
                                           ("h5exerciser", "-a POSIX --numdims 2 --minels 4")])
def test_other_programs(tmp_path, program, args):
    words = [str(conftest.BUILD / "src" / program)] + args.split() + ["--timeline=t.npy,sample=1/2,slowest=1"]
    done = conftest.subprocess.run(words, cwd=tmp_path, env=conftest.program_env(), text=True,
                                   capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done
    t = Timeline(tmp_path / "t.npy")
    for p in t.doc["phases"]:
        assert kept(t, p["index"], 0, SAMPLE) == drawn(0, 0, p["index"], 2, p["seen"])
        assert len(kept(t, p["index"], 0, SLOWEST)) == min(p["seen"], 1)


def test_an_operation_that_failed_is_always_there(ior):
    ior("-a DUMMY -w -b 64k -t 8k --dummy.fail-at=5 --timeline=t.npy,sample=1/1000000000", np=None).fails(3)
    r, = Timeline(ior.cwd / "t.npy", complete=False).records
    assert r.error and r.chosen == FAILED and r.number == 4 and r.bytes == 0


# ---- words ----

@pytest.mark.parametrize("words, said", [("sample=2", "'sample=2' is not sample=1/N"), ("ranks=0,2", "there is no rank 2, the last one is 1"),
                                         ("fastest=3", "'fastest=3' is not one of the words")])
def test_words_that_cannot_be(ior, words, said):
    """All others are in testing/unit/test_timeline_choice.c."""
    run = ior("-a DUMMY -w -b 8k -t 8k --timeline=t.npy,%s" % words, np=2 if "ranks" in words else None).fails(1, said)
    assert run.rows == [] and ior.files() == []


def test_names_with_commas_and_the_name_of_the_file_without_words(ior):
    ior("-a DUMMY -w -b 8k -t 8k --timeline=a,b.npy", np=None).ok()
    ior(["-a", "DUMMY", "-w", "-b", "8k", "-t", "8k", "--timeline=c.npy,d.npy,slowest=1", "--anonymous", "--report=json:r.json"], np=None).ok()
    assert {"a,b.npy", "c.npy,d.npy", "c.npy,d.timeline.json"} <= set(ior.files())
    assert "c.npy" not in (ior.cwd / "r.json").read_text() + (ior.cwd / "c.npy,d.timeline.json").read_text()
    ior("-w -b 8k -t 8k -k -o x.npy --timeline=./x.npy,slowest=1", np=None).fails(1, "'./x.npy'", "testFile")
