# SPDX-License-Identifier: BSD-3-Clause
"""The nodes that MPI reports are compared with the kernels that the tasks run on, which have the page caches."""
import json
import os
import shutil
import socket
import subprocess

import pytest

import conftest
from test_trust import document
from timeline_support import hosts_of_ranks

SMALL = "-b 64k -t 64k --report=text:-,json:r.json "
WARNING = "nodes reported by MPI: %d; kernels that the tasks run on: %d"
LIE = {"WEIR_NODES": "each", "WEIR_KERNELS": "one"}


@pytest.fixture
def lied(ior, preload):
    """Run ior on nodes and kernels as two-nodes.c makes them: the run, its document, the findings of the last test."""
    def run(args, status=0, np=4, **env):
        done = ior(args, np=np, env={"LD_PRELOAD": preload("two-nodes.c"), **env}).ok(status)
        doc = document(done)
        return done, doc, {f["id"]: f for f in doc["tests"][-1]["findings"]} if doc["tests"] else {}
    return run


# What MPI reports, the kernels, and what -C then comes to: nodes, kernels, the share of tasks that read what their own kernel wrote
MAPS = {
    "each task is a node, all are one kernel": ("each", "one", 4, 1, 100),
    "each task is a node, two are one kernel": ("each", "", 4, 2, 0),
    "one node of two kernels": ("one", "", 1, 2, 0),
    "two nodes are two kernels": ("", "", 2, 2, 0),
    "each task is a node and a kernel": ("each", "each", 4, 4, 0),
    "one node is one kernel": ("one", "one", 1, 1, None),
}


@pytest.mark.parametrize("name", MAPS)
def test_what_is_about_caches_goes_by_the_kernels(lied, name):
    nodes, kernels, by_mpi, by_kernel, own = MAPS[name]
    run, doc, finding = lied(SMALL + "-C", WEIR_NODES=nodes, WEIR_KERNELS=kernels)
    lies = by_mpi != by_kernel
    assert run.options["nodes"] == str(by_mpi) and run.options["clients per node"] == str(4 // by_mpi), run
    assert (doc["provenance"]["nodes"], doc["provenance"]["kernels"]) == (by_mpi, by_kernel)
    assert finding["H07"]["value"] == own, finding["H07"]
    assert finding["H36"]["outcome"] == ("found" if lies else "fine"), finding["H36"]
    if lies:
        warning, = run.warnings
        assert finding["H36"]["severity"] == "SUSPECT" and warning.startswith(WARNING % (by_mpi, by_kernel)), run
        assert "IOR_FAKE_NODES" in warning and "IOR_FAKE_TASK_PER_NODES" in finding["H36"]["remedy"], run
    else:
        assert run.warnings == [], run


def test_kernels_of_other_tasks_than_the_nodes_of_mpi_are_told_apart(lied):
    """Two of both: MPI says that the first two tasks are one node, and each of them has another kernel."""
    run, _, finding = lied(SMALL + "-C -Q 1", WEIR_NODES="pairs")
    assert run.warnings[0].startswith(WARNING % (2, 2) + ", but with other tasks on each"), run
    assert finding["H36"]["outcome"] == "found" and finding["H07"]["value"] == 0, finding
    _, _, finding = lied(SMALL + "-C -Q 2", WEIR_NODES="pairs")
    assert finding["H07"]["outcome"] == "found" and finding["H07"]["value"] > 0, finding


@pytest.mark.parametrize("nodes, kernels, refused", [("each", "one", True), ("one", "", False), ("each", "each", False)])
def test_reading_elsewhere_means_another_kernel(ior, lied, nodes, kernels, refused):
    args = SMALL + "-w -r -R -F --read-back=elsewhere"
    if refused:
        run, _, _ = lied(args, 1, WEIR_NODES=nodes, WEIR_KERNELS=kernels)
        assert len(run.errors) == len(run.warnings) == 1 and "all tasks are on one node" in run.errors[0], run
    else:
        _, _, finding = lied(args, WEIR_NODES=nodes, WEIR_KERNELS=kernels)
        assert finding["H07"]["outcome"] == "fine" and finding["H07"]["value"] == 0, finding["H07"]
    assert ior.files() == ["r.json"]


def test_the_user_can_say_what_nodes_there_are(lied):
    run, doc, finding = lied(SMALL + "-C", **LIE, IOR_FAKE_NODES="2", IOR_FAKE_TASK_PER_NODES="2")
    assert run.warnings == [] and finding["H36"]["outcome"] == "fine" and "given by the user: 2" in finding["H36"]["text"], run
    assert run.options["nodes"] == "2" and finding["H07"]["value"] == 0 and doc["provenance"]["kernels"] == 1, finding["H07"]


def test_kernels_that_are_not_known_are_no_evidence(lied):
    run, doc, finding = lied(SMALL + "-C", WEIR_NODES="each", WEIR_KERNELS="hidden")
    assert run.warnings == [] and finding["H36"]["outcome"] == "not judged" and doc["provenance"]["kernels"] == 0, run
    assert finding["H07"]["value"] == 0, finding["H07"]


@pytest.mark.parametrize("program, args", [("mdtest", "-n 2 -N 1 -d d"), ("md-workbench", "-I 2 -P 2 -D 1 -o d"), ("mib", "-t . -l 1 -s 4k")])
def test_every_program_warns(ior, lied, program, args):
    ior.program = conftest.BUILD / "src" / program
    run, _, finding = lied(args + " --report=text:-,json:r.json", **LIE)
    assert len([w for w in run.warnings if w.startswith(WARNING % (4, 1))]) == 1, run
    assert finding["H36"]["outcome"] == "found", finding["H36"]


# ---- hosts ----

@pytest.mark.parametrize("kernels, tasks, ranks, first_three", [("", 5, ["0-4:2", "1,3"], ["0,2", "1"]), ("pairs", 5, ["0-1", "2-3", "4"], ["0-1", "2"]),
                                                               ("one", 1, ["0"], ["0"])])
def test_hosts_are_listed_once_with_their_ranks(ior, lied, kernels, tasks, ranks, first_three):
    """In the results those of all tasks, in the timeline those of the test, which takes three."""
    _, doc, _ = lied("-a DUMMY -w --timeline=t.npy -N %d " % min(3, tasks) + SMALL, np=tasks, WEIR_KERNELS=kernels)
    hosts = doc["provenance"]["hosts"]
    assert [h["ranks"] for h in hosts] == ranks and len(hosts_of_ranks(hosts)) == tasks, hosts
    assert {h["name"] for h in hosts} == {socket.gethostname()}
    test, = json.loads((ior.cwd / "t.timeline.json").read_text())["tests"]
    assert [h["ranks"] for h in test["hosts"]] == first_three and len(hosts_of_ranks(test["hosts"])) == test["tasks"], test


# ---- name spaces ----

def space(kind, steps=""):
    """Words before the program that give each task a name space of its own."""
    words = ["unshare"] + kind.split() + ["sh", "-c", steps + 'exec "$@"', "sh"]
    if os.geteuid() != 0 or not shutil.which("unshare"):
        pytest.skip("a name space needs root and unshare")
    if subprocess.run(words + ["true"], capture_output=True, timeout=60, check=False).returncode != 0:
        pytest.skip("unshare %s is not allowed here" % kind)
    return words


def test_tasks_with_clocks_of_their_own_share_a_cache(ior):
    words = space("--time --fork --monotonic 100000")
    one, other = (document(ior(SMALL + "-C", np=2, prefix=prefix).ok()) for prefix in ([], words))
    for doc in (one, other):
        finding = {f["id"]: f for f in doc["tests"][0]["findings"]}
        assert doc["provenance"]["kernels"] == 1 and finding["H36"]["outcome"] == "fine", finding["H36"]
    assert one["tests"][0]["provenance"]["clockError"] == 0 < other["tests"][0]["provenance"]["clockError"]


def test_containers_with_names_of_their_own_are_one_cache(ior, preload):
    words = space("--uts", 'hostname "box${OMPI_COMM_WORLD_RANK-${PMI_RANK-0}}"; ')
    run = ior(SMALL + "-C", np=2, prefix=words, env={"LD_PRELOAD": preload("two-nodes.c"), **LIE}).ok()
    doc = document(run)
    finding = {f["id"]: f for f in doc["tests"][0]["findings"]}
    assert run.warnings[0].startswith(WARNING % (2, 1)) and finding["H07"]["value"] == 100, (run, finding)
    run = ior(SMALL + "-C", np=2, env={"LD_PRELOAD": preload("two-nodes.c"), "WEIR_NODES": "one", "WEIR_KERNELS": "one"}, prefix=words).ok()
    assert run.warnings == [] and document(run)["provenance"]["kernels"] == 1, run
    run = ior(SMALL + "--anonymous -j 1e-9", np=2, env={"LD_PRELOAD": preload("two-nodes.c"), "WEIR_NODES": "one", "WEIR_KERNELS": "one"}, prefix=words).ok()
    text = json.dumps(document(run))
    assert any("box" in w for w in run.warnings) and "box" not in text and "for host1, task 1" in text, run
