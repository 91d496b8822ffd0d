# SPDX-License-Identifier: BSD-3-Clause
"""--sweep: nodes, pairs of nodes or ranks measured alone, and the slow ones named; nobody where all are alike."""
import re
import signal

import pytest

import conftest
from test_json import VALIDATOR
from test_trust import document

DELAYED = "-a DUMMY -w -b 8k -t 8k --dummy.delay-xfer=%d --report=text:-,json:r.json --sweep-time=%g "
SMALL = "-w -r -R -b 16k -t 4k --sweep-time=0.01 --report=text:-,json:r.json "
SLOW = re.compile(r"^--sweep: (node|pair of nodes|rank) (\d+) \(host \S+\) is slow: ")


def checked(run):
    """The document, which keeps to the schema."""
    doc = document(run)
    assert [e.message for e in VALIDATOR.iter_errors(doc)] == [], run
    return doc


@pytest.fixture
def swept(ior, preload):
    """A run on pretended nodes with a slow rank: the run, its document, and what the sweep says of each unit of each operation."""
    def run(args, np, status=0, slow=None, nodes="each"):
        shims = preload("two-nodes.c") + ":" + preload("slow-rank.c")
        env = {"LD_PRELOAD": shims, "WEIR_NODES": nodes, "WEIR_KERNELS": "one" if nodes == "one" else nodes, "SLOW_TIMES": "12"}
        if slow is not None:
            env["SLOW_RANK"] = str(slow)
        done = ior(args, np=np, env=env).ok(status)
        doc = checked(done)
        sweep = doc["tests"][0].get("sweep")
        of = {op: [row for row in sweep["measured"] if row["operation"] == op] for op in {r["operation"] for r in sweep["measured"]}} if sweep else {}
        return done, sweep, of
    return run


def named(run):
    return [tuple(SLOW.match(note).groups()) for note in run.notes if SLOW.match(note)]


def test_a_slow_node_is_named(swept):
    run, sweep, of = swept(DELAYED % (20000, 0.05) + "--sweep=nodes", 6, slow=4)
    low = min(of["write"], key=lambda row: row["z"])  # a busy machine may make others slow, too, but none twelve times
    conftest.timely(low["number"] == 4 and low["outcome"] == "slow" and ("node", "4") in named(run), run)
    assert sweep["slow"] == len(named(run)), run
    assert sweep["by"] == "nodes" and sweep["number"] == 6, sweep
    assert sweep["rounds"] == [{"round": 0, "turns": 6, "together": 1, "suspects": sweep["slow"]}], sweep
    assert low["rank"] == low["number"] == 4 and low["tasks"] == 1, low
    conftest.timely(low["z"] < -8 and low["rate"] < low["median"] / 4, low)
    assert all(row["joint"] > 0 for row in of["write"]), of
    assert run.accesses() == ["write"] and "Slow: %d of 6 nodes" % sweep["slow"] in run.stdout, run


def test_nobody_is_named_where_all_are_alike(swept):
    """The least that is an outlier among five takes two thirds of the time more, twice."""
    run, sweep, of = swept(DELAYED % (50000, 0.3) + "--sweep=nodes --rerun-suspects", 5)
    assert sweep["slow"] == len(named(run)), run
    conftest.timely(named(run) == [] and {row["outcome"] for row in of["write"]} <= {"fine", "cleared"}, run, of)


def test_groups_then_units_of_the_groups_with_a_slow_one(swept):
    run, sweep, of = swept(DELAYED % (20000, 0.05) + "--sweep=ranks --sweep-turns=3 --rerun-suspects", 8, slow=5, nodes="one")
    conftest.timely(("rank", "5") in named(run), run)
    # a busy machine may make ranks of each group slow, or none
    rounds = [(r["turns"], r["together"]) for r in sweep["rounds"]]
    conftest.timely(rounds == [(3, 3), (8, 1), (8, 1)], sweep)
    assert of["write"][5]["round"] == 2 and of["write"][5]["together"] == 1 and 0 in {row["round"] for row in of["write"]}, of


def test_pairs_of_neighbours_are_units_and_one_that_is_left_is_not_judged(swept):
    run, sweep, of = swept("-N 7 " + DELAYED % (20000, 0.05) + "--sweep=pairs", 7, slow=2)
    assert [row["tasks"] for row in of["write"]] == [2, 2, 2, 1] and of["write"][3]["outcome"] == "not judged", of
    slowest = min(of["write"][:3], key=lambda row: row["z"])  # among three nobody is named who is not five times as slow
    assert any("1 of 4 pairs are not judged" in note for note in run.notes), run
    conftest.timely(slowest["number"] == 1 and slowest["z"] < -3, run)


@pytest.mark.parametrize("more", ["", "-C -i 2", "-F -C -i 2 -u", "-a MPIIO", "-F -z -s 4 -l signature", "-D 0.001 -b 4m -F"])
def test_the_data_stay_right_and_the_results_are_those_of_all_ranks(ior, more):
    """Each turn writes over the data of the phase of all ranks, and reads them with -R."""
    run = ior(SMALL + more + " --sweep=ranks", np=3).ok()
    doc = checked(run)
    test, = doc["tests"]
    repetitions = 2 if "-i 2" in more else 1
    assert run.accesses() == ["write", "read"] * repetitions and len(test["phases"]) == len(test["Results"]) == 2 * repetitions, test
    assert len(test["sweep"]["measured"]) == 6 and all(row["rate"] > 0 for row in test["sweep"]["measured"]), test["sweep"]
    assert ior.files() == ["r.json"]


def test_wrong_data_in_a_turn_are_found(ior):
    run = ior("-a DUMMY -w -r -R -b 16k -t 4k --dummy.corrupt-at=6 --sweep=ranks --sweep-time=0.01", np=2).ok(4)
    assert any("Incorrect data on read" in w for w in run.warnings) and "wrong data" in run.errors[0], run
    ior("-a DUMMY -w -r -R -b 16k -t 4k --dummy.corrupt-at=6", np=2).ok()
    assert ior.files() == []


def test_a_rank_that_fails_in_its_turn_ends_all(ior):
    """The line says which turn; the ranks before it are in the results."""
    run = ior("-w -b 16k -t 4k -F -a DUMMY --dummy.store --dummy.fail-at=5 --dummy.fail-rank=2 --sweep=ranks --sweep-time=0.01 "
              "--report=text:-,json:r.json", np=3)
    run.fails(3, "sweep of 3 ranks, round 1, turn 3 of 3: ", "rank 2", "injected: Input/output error")
    assert run.accesses() == ["write"] and ior.files() == ["r.json"], run
    sweep = checked(run)["tests"][0]["sweep"]
    assert [row["rate"] is None for row in sweep["measured"]] == [False, False, True] and sweep["rounds"][0]["turns"] == 2, sweep


def test_a_signal_in_a_turn_ends_all(ior):
    proc, pids = ior.begin("-a DUMMY -w -b 4k -t 4k --dummy.delay-xfer=20000 --dummy.store -F --sweep=ranks --sweep-time=60", 3)
    conftest.wait_until(lambda: proc.poll() is not None or b"\nwrite " in conftest.os.pread(proc.out.fileno(), 1 << 20, 0))
    for pid in pids:
        conftest.os.kill(pid, signal.SIGTERM)
    run = ior.finish(proc)
    assert run.returncode == 6 and len(run.errors) == 1 and "interrupt" in run.errors[0] and "sweep of 3 ranks" in run.errors[0], run
    assert run.accesses() == ["write"] and ior.files() == [], run


def test_a_dry_run_says_the_schedule_and_its_time(ior):
    run = ior("-w -r --dry-run --sweep=ranks --sweep-turns=2 --sweep-time=3 --rerun-suspects", np=3).ok()
    note, = [n for n in run.notes if "--sweep" in n]
    assert "3 ranks in 2 turns after one warm-up turn, at most 2 at a time; 2 phases of at most 3 s in each turn: 18 s in all" in note, run
    assert "if one is slow, 2 more rounds of at most 13 turns" in note and "Slow:" not in run.stdout, run
    ior.program = conftest.BUILD / "src" / "mdtest"
    run = ior("-n 3 --dry-run --sweep=ranks", np=2).ok()
    assert any("2 ranks in 2 turns" in n and "8 phases of at most 1 s in each turn: 24 s" in n and "more round" not in n for n in run.notes), run


def test_the_time_of_the_test_ends_the_sweep(ior):
    """-T 0.01 is over before the second turn."""
    run = ior("-a DUMMY -w -b 4k -t 4k --dummy.delay-xfer=1000 -T 0.01 --sweep=ranks --sweep-time=0.7 --report=text:-,json:r.json", np=3).ok()
    assert any("the time limit of the test (-T) was reached after 0 of 3 turns of round 1" in n for n in run.notes), run
    assert {row["outcome"] for row in checked(run)["tests"][0]["sweep"]["measured"]} == {"not judged"} and run.accesses() == ["write"], run


def test_one_node_is_compared_with_nothing(ior):
    run = ior(SMALL + "--sweep=nodes", np=2).ok()
    assert any("all ranks are on one node" in n and "--sweep=ranks" in n for n in run.notes), run
    assert "sweep" not in checked(run)["tests"][0]
    run = ior(SMALL + "--sweep=ranks", np=None).ok()
    assert any("there is only one rank, so no ranks can be compared" in n for n in run.notes), run


@pytest.mark.parametrize("args, words", [
    ("-a MPIIO -c --sweep=ranks", ["--sweep", "collective"]),
    ("--rerun-suspects", ["--rerun-suspects needs --sweep"]),
    ("--sweep-turns=5", ["--sweep-turns needs --sweep"]),
    ("--sweep=racks", ["nodes, pairs, ranks"]),
])
def test_what_cannot_be_swept_is_refused(ior, args, words):
    ior("-w -o f " + args, np=2).fails(1, *words)
    assert ior.files() == []


def test_the_sweep_shows_how_far_it_is(ior, preload):
    """On a clock that runs ten times as fast."""
    env = {"LD_PRELOAD": preload("speed-clock.c"), "CLOCK_FACTOR": "10"}
    run = ior("-a DUMMY -w -b 4k -t 4k --dummy.delay-xfer=10000 --progress=always --sweep=ranks --sweep-time=6", np=2,
              prefix=["env"] + ["%s=%s" % item for item in env.items()]).ok()
    lines = [m for m in run.messages if m.startswith("sweep of 2 ranks, round 1: ")]
    assert re.fullmatch(r"sweep of 2 ranks, round 1: \d+ s, phase [12] of 2 \(write\), (the first|\d+ s left)", lines[0]) and "over after" in lines[-1], run


# ---- mdtest ----

def md(args):
    return "-n 20 -d d --report=text:-,json:r.json --sweep=ranks --sweep-time=0.2 " + args


@pytest.mark.parametrize("args, operations", [
    ("", ["directory create", "directory stat", "directory rename", "directory remove", "file create", "file stat", "file read", "file remove"]),
    ("-F -u -N 1 -i 2 -w 10 -e 10 -X -z 1 -b 2", ["file create", "file stat", "file read", "file remove"]),
    ("-D -C -T -N 1", ["directory stat"]),
    ("-F -z 1 -b 2 --readdir --move", ["file create", "file stat", "file read", "file readdir", "file readdirplus", "file move", "file remove"]),
    ("-F -C -N 1 --link --symlink --chmod",
     ["file link", "file unlink", "file symlink", "file readlink", "file unsymlink", "file chmod"]),
    ("-F -C", None), ("-F -c", None), ("-F -S", None)])
def test_mdtest_makes_and_removes_items_of_single_ranks(ior, args, operations):
    ior.program = conftest.BUILD / "src" / "mdtest"
    run = ior(md(args), np=3).ok()
    doc = checked(run)
    test, = doc["tests"]
    if operations is None:
        assert "sweep" not in test and any("no phase that a subset of the ranks can run" in n for n in run.notes), run
    else:
        rows = test["sweep"]["measured"]
        assert list(dict.fromkeys(row["operation"] for row in rows)) == operations and len(rows) == 3 * len(operations), rows
        assert all(row["rate"] > 0 and row["joint"] > 0 and row["unit"] == "ops/s" for row in rows), rows
    left = [name for name in ior.files() if name not in ("d", "r.json")]
    assert bool(left) == ("-C" in args), left


def test_a_slow_rank_is_named_by_mdtest(swept, ior):
    ior.program = conftest.BUILD / "src" / "mdtest"
    run, sweep, of = swept("-a DUMMY -F -n 2 --dummy.delay-create=20000 --report=text:-,json:r.json --sweep=ranks", 6, slow=3, nodes="one")
    conftest.timely(("rank", "3") in named(run) and of["file create"][3]["outcome"] == "slow", run)


def test_a_program_that_works_as_a_whole_has_no_sweep(ior):
    ior.program = conftest.BUILD / "src" / "mib"
    ior("-t . --sweep=ranks", np=None).fails(1, "--sweep", "ior or mdtest")
