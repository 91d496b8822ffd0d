# SPDX-License-Identifier: BSD-3-Clause
"""What a run does between its transfers grows at most as log P: a small part of testing/scale/run, and its arithmetic."""
import math
import os
import shlex
import shutil
import sys

import pytest

import conftest

pytest.importorskip("numpy", reason="needs python3-numpy for fits")
sys.path.append(str(conftest.SOURCE / "testing" / "scale"))
import growth  # noqa: E402
import loggp  # noqa: E402
import runs  # noqa: E402

RANKS = (4, 8, 16)


def compiler():
    """The words that compile for the MPI library under test."""
    if "WEIR_MPI_CFLAGS" in os.environ:
        return shlex.split(os.environ["WEIR_CC"] + " " + os.environ["WEIR_MPI_CFLAGS"])
    return ["mpicc"]


@pytest.fixture(scope="module")
def counted(tmp_path_factory):
    """counted(name, ranks, per_node, more): what each rank of a program did, with more options."""
    if conftest.SANITIZED:
        pytest.skip("a preloaded library and a sanitizer do not go together")
    if not shutil.which(compiler()[0]):
        pytest.skip("no %s to make the preloaded library" % compiler()[0])
    folder = tmp_path_factory.mktemp("scale")
    library = runs.make_library(compiler(), folder / "count.so")

    def count(name, ranks, per_node=2, more=""):
        here = folder / str(len(os.listdir(folder)))
        here.mkdir()
        runner = runs.Runner(conftest.LAUNCHER, conftest.BUILD, library, here, conftest.program_env())
        try:
            return runner.run(name, ranks, per_node, more, timeout=100 * conftest.PATIENCE)
        except RuntimeError as e:
            conftest.check_launcher(None, str(e))
            raise
    return count


def unknown(program, got, per_node=2):
    return [v.key for v in growth.judge(program, got, per_node) if v.why is None]


@pytest.mark.parametrize("name", ["ior", "md-workbench"])
def test_nothing_grows_with_all_ranks(counted, name):
    got = {p: counted(name, p) for p in RANKS}
    assert unknown(name, got) == []
    assert {c.kind for c in got[16][0].calls} >= {"Allreduce", "Comm_split", "Recv:1", "Send:1"}
    # The nodes of MPI, and their leaders. Kernels are compared by the leaders only.
    assert sum(c.calls for c in got[16][0].calls if c.kind in growth.SPLIT and c.ranks == 16) == 2
    phases = {"ior": {"write", "read"}, "md-workbench": {"precreate", "benchmark", "cleanup"}}[name]
    assert {c.phase for c in got[16][0].calls} == {"start", "between", "end"} | phases
    assert all(h.peak > 0 for rank in got[16] for h in rank.heap)


@pytest.mark.parametrize("name, more", [("ior", ""), ("mdtest", "-F -C ")])
def test_rank_0_keeps_some_numbers_of_a_repetition_and_no_rows(counted, name, more):
    """For summaries. The rows of a repetition in JSON are kilobytes. The start takes more than all that comes later. What is found on
    a busy machine once takes memory once: it is measured again then, and what grows with the repetitions grows again."""
    few, many = 30, 230

    def peak(n):
        run = counted(name, 1, 1, "%s--report=json:out.json,csv:out.csv -i %d" % (more, n))[0]
        return max(h.peak for h in run.heap if h.phase != "start")

    for _ in range(3):
        most = [peak(few), peak(many)]
        if most[1] - most[0] < 160 * (many - few):
            break
    assert most[1] - most[0] < 160 * (many - few), most


def test_what_grows_is_found(counted):
    """A line for each rank comes to rank 0, through a tree."""
    got = {p: counted("ior", p, 1, "-O saveRankPerformanceDetailsCSV=ranks.csv -i 1") for p in (2, 4, 8)}
    found = unknown("ior", got, 1)
    assert {("root", phase, "Recv:10", "bytes") for phase in ("write", "read")} <= set(found), found
    assert not {key for key in found if key[1] not in ("write", "read") or key[3] in ("calls", "messages")}, found


def test_calls_inside_of_a_library_are_not_ours(counted, need_backend):
    need_backend("HDF5")
    kinds = {c.kind for rank in counted("h5exerciser", 2, more="-a HDF5 -i 1") for c in rank.calls}
    assert "Allreduce" in kinds and not any(kind.startswith("File_") for kind in kinds), kinds


# ---- the arithmetic ----

def run_of(ranks, calls, heap=()):
    """What ranks do, from calls(rank) and heap(rank): (kind, sent, received) and bytes."""
    made = []
    for r in range(ranks):
        rows = [runs.Call("write", kind, ranks, r == 0, 1, sent, received) for kind, sent, received in calls(r)]
        made.append(runs.Rank(rows, [runs.Heap("write", 0, heap(r))] if heap else []))
    return made


def growing(calls, heap=()):
    return {v.key for v in growth.judge("any", {p: run_of(p, lambda r, p=p: calls(r, p), heap and (lambda r, p=p: heap(r, p)))
                                                for p in (4, 16, 64)}, 2)}


ROLES = {"root", "leader", "follower"}


@pytest.mark.parametrize("kind, sent, received, roles, measures", [
    ("Allgather", lambda p: 4, lambda p: 4 * p, ROLES, {"bytes"}),
    ("Alltoall", lambda p: p, lambda p: p, ROLES, {"messages", "bytes"}),
    ("Gatherv", lambda p: 0, lambda p: 0, {"root"}, {"messages"}),
    ("Bcast", lambda p: 4 * p, lambda p: 0, ROLES, {"bytes"}),
    ("Allreduce", lambda p: 4000, lambda p: 4000, set(), set()),
    ("Barrier", lambda p: 0, lambda p: 0, set(), set()),
    ("Sendrecv", lambda p: 8, lambda p: 8, set(), set()),
])
def test_a_collective_is_one_call_and_costs_more(kind, sent, received, roles, measures):
    found = growing(lambda r, p: [(kind, sent(p), received(p))])
    assert found == {(role, "write", kind, measure) for role in roles for measure in measures}


def test_one_rank_that_is_no_leader_is_found():
    assert growing(lambda r, p: [("Recv:5", 0, 8)] * (p if r == 3 else 1)) == \
        {("follower", "write", "Recv:5", measure) for measure in growth.MEASURES}


def test_memory_for_a_number_of_each_rank_is_found():
    assert growing(lambda r, p: [], lambda r, p: 10 ** 6 + 4 * p * (r == 0)) == {("root", "write", "heap", "peak")}
    assert growing(lambda r, p: [], lambda r, p: 10 ** 6 + 4 * len(str(p))) == set()


def test_the_exponent_does_not_see_what_is_constant():
    assert growth.exponent([(p, 10 ** 6 + 5 * p) for p in (6, 24, 54, 96)]) == pytest.approx(1)
    assert growth.exponent([(p, 7 + 5 * math.log2(p)) for p in (4, 8, 16, 32)]) == pytest.approx(0)
    assert growth.exponent([(p, 7 + p * p) for p in (1024, 2048, 4096)]) == pytest.approx(2, abs=0.01)
    assert growth.exponent([(4, 7), (8, 7), (16, 7)]) == 0


def test_a_logarithm_that_is_rounded_up_is_not_linear():
    stairs = [(p, 1000 + 100 * math.ceil(math.log2(p))) for p in (6, 24, 54, 96)]
    assert not growth.is_linear(growth.fit(stairs), stairs, "messages")


# ---- the model ----

def test_the_model_finds_the_times_that_made_its_numbers():
    def series(nodes):
        points = [(p, p // nodes) for p in (32, 64, 128)]
        return [["root", "start", "Allreduce", "messages", [(p, 20 * math.log2(p)) for p, _ in points]],
                ["root", "start", "Send:1", "messages", [(p, 5 + 13 * loggp.children(n)) for p, n in points]],
                ["root", "start", "Comm_split", "bytes", [(p, 24 * p) for p, _ in points]]]

    counts = {("any", n): loggp.Counts(series(n), n) for n in (1, 16)}
    true = loggp.Model(3e-6, 1e-6, 1e-10)
    times = [loggp.Time("any", n, p, "start", loggp.predict(true, counts["any", n], "start", p)) for n in (1, 16) for p in (64, 1024, 4096)]
    assert loggp.fit(counts, times, 1e-10) == pytest.approx(true, rel=1e-6)
    assert loggp.fit(counts, times[:3], 1e-10).message == pytest.approx(3e-6, rel=1e-6)
    far, inside, size = counts["any", 16].at("start", 2 ** 20)
    assert (far, inside, size) == pytest.approx((2 * 20 * 16 + 13 * loggp.children(2 ** 16), 2 * 20 * 4 + 5, 24 * 2 ** 20))


def test_the_tree_of_clocks_has_seven_children_a_level():
    assert [loggp.children(n) for n in (1, 2, 8, 9, 64, 65, 512, 513)] == [0, 1, 7, 8, 14, 15, 21, 22]
