# SPDX-License-Identifier: BSD-3-Clause
"""Sixteen hosts: more than a machine has processors, so tests wait and sleep here rather than work. testing/run --release runs
them, with WEIR_CLUSTER_ALL=1."""
import contextlib
import ctypes
import os
import re

import pytest

from bed import NAMES
from cluster_support import SOURCE, finding, readers, sound, system
from timeline_support import read_records

ONE_EACH = dict.fromkeys(NAMES, 1)
pytestmark = pytest.mark.skipif(not os.environ.get("WEIR_CLUSTER_ALL"), reason="WEIR_CLUSTER_ALL is not set")


@pytest.fixture(scope="module")
def slow_disk(hosts_up):
    return hosts_up.library(SOURCE / "testing/cluster/slow-disk.c")


# ---- which one is slow, and what time it is ----

@pytest.mark.parametrize("slow", [None, "node11"])
def test_the_host_with_a_slow_disk_is_named(sixteen, slow_disk, slow):
    """And none where all are alike. Also the clocks of the last host, which are 10 s ahead, make no difference."""
    ior, env = "ior -w -F -b 32k -t 8k -o f --report=text:-,json:r.json --timeline=t.npy", {"LD_PRELOAD": slow_disk, "DISK_US": "20000"}
    uptime = [float(sixteen.on(name, "cat /proc/uptime").split()[0]) for name in ("node1", "node16")]
    assert uptime[1] - uptime[0] > 9
    with sixteen.slow_disk(slow, 200000) if slow else contextlib.nullcontext():
        run = sixteen.mpi(ONE_EACH, ior, env=env).ok()
    sound(run, 16 * 32768)
    doc = sixteen.json()
    late = [(row["host"], row["rank"]) for row in doc["tests"][0].get("stragglers", [])]
    system.timely(late == ([(slow, 10)] if slow else []), late, run)  # no other host is held up as long
    assert ("without rank 10 (host node11)" in (finding(doc, "H19")["text"] or "")) == bool(slow), finding(doc, "H19")
    assert doc["provenance"]["nodes"] == doc["provenance"]["kernels"] == 16 and run.warnings == [], run
    (phase,) = doc["tests"][0]["phases"]
    operations = [r for r in read_records(sixteen.work / "t.npy") if r.rank == 15]
    system.timely(phase["clockError"] < 5 and phase["totalTime"] < 10, phase)
    assert phase["slowestTime"] <= phase["totalTime"] + phase["clockError"], phase
    assert len(operations) >= 4 and all(0 <= r.begin <= r.end < 10 ** 10 for r in operations), operations


def sweep(hosts, slow_disk, slow, us):
    """Who is named when each host writes alone, and the run."""
    ior = "ior -w -F -b 32k -t 8k -o f --report=text:-,json:r.json --sweep=nodes --sweep-time=0.15 --rerun-suspects"
    with hosts.slow_disk(slow, 10 * us) if slow else contextlib.nullcontext():
        run = hosts.mpi(ONE_EACH, ior, env={"LD_PRELOAD": slow_disk, "DISK_US": str(us)}).ok()
    swept = hosts.json()["tests"][0]["sweep"]
    assert swept["number"] == 16 and swept["rounds"][0]["turns"] == 16 and swept["rounds"][0]["together"] == 1, swept
    return {row["host"] for row in swept["measured"] if row["outcome"] == "slow"}, run


@pytest.mark.parametrize("slow, us", [(None, 50000), ("node6", 20000)])
def test_the_host_with_a_slow_disk_is_named_by_a_sweep(sixteen, slow_disk, slow, us):
    """And none where all are alike."""
    named, run = sweep(sixteen, slow_disk, slow, us)
    system.timely(named == ({slow} if slow else set()), named, run)
    assert ("(host node6) is slow: write" in run.stderr) == bool(slow), run


# ---- who reads whose data ----

def formula(rank, tasks, nodes, per_node, order):
    """The task whose data a task reads, as the original's manual has it (-C, -Q, -Z, -X)."""
    constant, distance, shuffled, seed = order
    libc = ctypes.CDLL(None)
    if constant:
        return (rank + distance * per_node) % tasks
    libc.srand(seed if shuffled > 1 else rank + seed)
    if shuffled == 1:
        while True:
            away = libc.rand() % tasks
            if away >= min(distance, nodes - 1) * per_node:
                return (rank + away) % tasks
    whose = list(range(tasks))
    for i in range(tasks):
        j = i + libc.rand() % (tasks - i)
        whose[i], whose[j] = whose[j], whose[i]
    return whose[rank]


def test_tasks_read_the_files_that_the_formulas_say(sixteen, log_files):
    orders = [(1, 1, 0, 0), (1, 5, 0, 0), (1, 15, 0, 0), (0, 1, 1, 0), (0, 9, 1, 7), (0, 99, 1, 3), (0, 1, 2, 0), (0, 1, 2, 99)]
    whose = readers(sixteen, log_files, ONE_EACH, orders)
    for order, mine in zip(orders, whose):
        assert mine == [formula(r, 16, 16, 1, order) for r in range(16)], order


def test_mdtest_goes_on_to_the_items_of_other_hosts(sixteen, log_files):
    """-N 3: three hosts on in each phase. Stat is the phase between; trees are one phase ahead of items."""
    env = {"LD_PRELOAD": log_files, "FILE_LOG": str(sixteen.work / "log")}
    sixteen.mpi(ONE_EACH, "mdtest -u -F -C -E -w 8 -e 8 -N 3 -n 1 -d testFile", env=env).ok()
    opens = re.findall(r"^open (\d+) \S+/mdtest_tree\.(\d+)\.0/file\.mdtest\.(\d+)\.0$", (sixteen.work / "log").read_text(), re.M)
    assert {tuple(map(int, found)) for found in opens} == {
        (r, (r + tree) % 16, (r + item) % 16) for r in range(16) for tree, item in ((3, 0), (9, 6))}


def test_a_directory_of_each_host_is_found_out(sixteen):
    """One line, and nothing is left on any host."""
    run = sixteen.mpi(ONE_EACH, "ior -F -C -b 64k -t 64k -o /tmp/f")
    run.fails(2, "rank 1 on node2", "does not see a file that rank 0 created in the directory '/tmp", "(and 14 more ranks failed)")
    assert not any(sixteen.on(name, "ls -A /tmp | grep -v -e ompi -e pmix || :") for name in ("node1", "node2", "node16")), run


# ---- a host that is frozen ----

def test_a_host_that_was_frozen_for_a_while_goes_on(sixteen):
    """The others wait for its tasks in MPI, and the run ends as it would have. One that stays frozen is the batch system's to end."""
    proc = sixteen.begin(sixteen.mpirun(ONE_EACH) + sixteen.program(
        "ior -a DUMMY -w -i 3 -b 800k -t 8k --dummy.delay-xfer=20000 --io-timeout=30 -o f --report=text:/dev/null,csv:r.csv"), rows=1)
    sixteen.on("node9", "pkill -STOP -x ior; sleep 4; pkill -CONT -x ior")
    run = sixteen.finish(proc).ok()
    assert "ERROR: " not in run.stderr and (sixteen.work / "r.csv").read_text().count("\n0,") == 3, run
