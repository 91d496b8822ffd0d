# SPDX-License-Identifier: BSD-3-Clause
"""Several hosts, reached through ssh by the launcher of the MPI library."""
import re
import shlex
import signal

import pytest

import bed
from cluster_support import OPEN_MPI, PROGRAMS, finding, readers, runs_of_the_guide, sound, system

TWO = {"node1": 1, "node2": 1}
FOUR = {"node1": 1, "node2": 1, "node3": 1, "node4": 1}
PAIRS = {"node1": 2, "node2": 2, "node3": 2, "node4": 2}
UNEVEN = {"node1": 1, "node2": 3}
mpich = pytest.mark.mpich


# ---- who is where ----

@pytest.mark.parametrize("hosts, by_node, placement", [
    (FOUR, False, "block"), ({"node1": 2, "node2": 2}, True, "cyclic"), pytest.param(UNEVEN, False, "block", marks=mpich),
    ({"node1": 3, "node2": 1, "node3": 2}, False, "block"),
], ids=["four", "cyclic", "one-and-three", "three-one-two"])
def test_hosts_are_counted(cluster, hosts, by_node, placement):
    run = cluster.mpi(hosts, "ior -b 64k -t 64k -o f --report=text:-,json:r.json", by_node).ok()
    sound(run, sum(hosts.values()) * 65536)
    fullest = str(max(hosts.values()))
    assert run.options["nodes"] == str(len(hosts)) and run.options["clients per node"] == fullest, run
    assert {row["tpn"] for row in run.summary} == {float(fullest)}, run
    doc = cluster.json()
    where = doc["provenance"]
    assert [(h["name"], h["tasks"]) for h in where["hosts"]] == list(hosts.items()), where
    if by_node:
        assert [h["ranks"] for h in where["hosts"]] == ["0,2", "1,3"], where
    assert where["nodes"] == len(hosts) and where["placement"] == placement, where
    assert doc["tests"][0]["configuration"]["tasksPerNode"] == int(fullest)
    assert cluster.files() == ["r.json"], run


def test_hosts_that_are_one_kernel_are_one_cache(cluster):
    """As containers are: MPI sees two hosts, which have the boot id of this machine."""
    boot_id = "/proc/sys/kernel/random/boot_id"
    for name in TWO:
        cluster.on(name, "umount " + boot_id)
    try:
        run = cluster.mpi(TWO, "ior -C -b 64k -t 64k -o f --report=text:-,json:r.json").ok()
        doc = cluster.json()
        assert run.options["nodes"] == "2" and (doc["provenance"]["nodes"], doc["provenance"]["kernels"]) == (2, 1), run
        assert "nodes reported by MPI: 2; kernels that the tasks run on: 1" in run.warnings[0], run
        assert finding(doc, "H36")["outcome"] == "found" and finding(doc, "H07")["value"] == 100, doc["tests"][0]["findings"]
    finally:
        for name in TWO:
            cluster.on(name, "mount --bind /mnt/etc/boot_id.%s %s" % (name, boot_id))
    run = cluster.mpi(TWO, "ior -C -b 64k -t 64k -o f --report=text:-,json:r.json").ok()
    doc = cluster.json()
    assert run.warnings == [] and doc["provenance"]["kernels"] == 2 and finding(doc, "H36")["outcome"] == "fine", run
    assert finding(doc, "H07")["value"] == 0, doc["tests"][0]["findings"]


# ---- who reads whose data ----

# As the original: -C, -Q, -Z, -X and what they lead to with eight tasks on four nodes
VECTORS = {
    (1, 1, 0, 0): [2, 3, 4, 5, 6, 7, 0, 1],
    (1, 3, 0, 0): [6, 7, 0, 1, 2, 3, 4, 5],
    (0, 1, 1, 0): [7, 0, 4, 5, 1, 0, 3, 4],
    (0, 1, 1, 5): [3, 6, 7, 5, 7, 4, 5, 1],
    (0, 2, 1, 5): [5, 6, 7, 0, 1, 4, 5, 6],
    (0, 1, 2, 0): [7, 5, 1, 3, 2, 6, 4, 0],
    (0, 1, 2, 13): [2, 7, 5, 4, 3, 6, 0, 1],
}


@pytest.fixture(scope="module")
def eight_tasks(hosts_up, log_files):
    hosts_up.clean()
    return dict(zip(VECTORS, readers(hosts_up, log_files, PAIRS, list(VECTORS))))


@pytest.mark.parametrize("order", VECTORS, ids=["C%d-Q%d-Z%d-X%d" % v for v in VECTORS])
def test_eight_tasks_on_four_hosts_read_the_files_of(eight_tasks, order):
    assert eight_tasks[order] == VECTORS[order]


def test_round_robin_shifts_by_one_task(cluster, log_files):
    one, two = readers(cluster, log_files, {"node1": 2, "node2": 2, "node3": 2}, [(1, 1, 0, 0), (1, 2, 0, 0)], by_node=True)
    assert one == [1, 2, 3, 4, 5, 0] and two == [2, 3, 4, 5, 0, 1]


@mpich
def test_uneven_hosts_shift_by_the_fullest(cluster, log_files):
    """Where it is possible nobody reads what its own host wrote: 1, 1, and 2 tasks."""
    whose, = readers(cluster, log_files, {"node1": 1, "node2": 1, "node3": 2}, [(1, 1, 0, 0)])
    assert whose == [2, 3, 0, 1]


def test_what_is_read_elsewhere_is_right(cluster):
    run = cluster.mpi(PAIRS, "ior -w -r -W -R -F -t 16k -b 64k -i 2 -o f --read-back=elsewhere")
    assert run.ok().warnings == [] and cluster.files() == [], run


# ---- directories that each host has for itself ----

@pytest.mark.parametrize("args", [pytest.param("ior -w -b 64k -t 64k -o /tmp/f", marks=mpich), "ior -F -C -b 64k -t 64k -o /tmp/f",
                                  "mdtest -n 2 -d /tmp/d", "mdtest -u -N 1 -n 2 -d /tmp/d",
                                  "md-workbench -P 2 -I 1 -D 1 -o /tmp/w"])
def test_files_of_others_are_not_looked_for_in_a_directory_of_each_host(cluster, args):
    run = cluster.mpi(TWO, args).fails(2, "rank 1 on node2", "does not see a file that rank 0 created in the directory '/tmp",
                                       "use a file system that all nodes share")
    assert [cluster.on(name, "ls -A /tmp | grep -v -e ompi -e pmix || :") for name in TWO] == ["", ""], run


def test_own_files_may_be_in_a_directory_of_each_host(cluster):
    """Each host needs room for its own tasks only: 2 x 3 MiB in 2 x 4 MiB."""
    for name in TWO:
        cluster.on(name, "mount -t tmpfs -o size=4m weir /srv")
    try:
        run = cluster.mpi(TWO, "ior -F -b 3m -t 1m -o /srv/f --report=json:r.json").ok()
        found = finding(cluster.json(), "H24")
        assert (found["outcome"], found["severity"]) == ("found", "SUSPECT"), found
        cluster.on("node2", "mount -o remount,size=2m /srv")
        run = cluster.mpi(TWO, "ior -F -b 3m -t 1m -o /srv/f")
        run.fails(2, "rank 1 on node2", "3 MiB", "2 MiB are free")
        run = cluster.mpi(TWO, "ior -F -b 3m -t 1m -o /srv/f --no-space-check")
        run.fails(3, "rank 1 on node2", "/srv/f.00000001", "No space left on device")
        assert [cluster.on(name, "ls -A /srv") for name in TWO] == ["", ""], run
    finally:
        for name in TWO:
            cluster.on(name, "umount /srv")


def test_the_runs_of_the_guide_for_two_nodes_are_found_to_be_what_it_says(cluster):
    """Its other runs: see testing/system/test_trust.py."""
    for command, says in runs_of_the_guide()[1]:
        launcher, program = command.split(" ior ")
        assert launcher == "mpirun -np 2 -host node1,node2"
        cluster.mpi(TWO, "ior %s --report=json:r.json" % program).ok()
        found = {f["id"] for f in cluster.json()["tests"][0]["findings"] if f["outcome"] == "found"}
        assert says and says <= found, (command, says, found)


# ---- every kind of end ----

# Text that the launcher does not fetch any more after its own signal would hold rank 0 back.
LONG = "ior -i 100000 -b 64k -t 64k -F -o f --report=text:/dev/null,json:r.json,csv:r.csv"


@mpich
def test_a_rank_that_fails_ends_all(cluster):
    run = cluster.mpi(FOUR, "ior -a DUMMY -t 64k -b 1m --dummy.fail-at=2 --dummy.fail-rank=2 -o any --report=json:r.json")
    run.fails(3, "rank 2 on node3", "injected")
    assert cluster.json()["status"] == 3


@pytest.mark.parametrize("where", [pytest.param("launcher-TERM", marks=mpich), "launcher-INT",
                                   pytest.param("node3-USR1", marks=mpich)])
def test_a_signal_leaves_results_and_no_files(cluster, where):
    proc = cluster.begin(cluster.mpirun(FOUR) + cluster.program(LONG))
    at, name = where.split("-")
    if at == "launcher":
        proc.send_signal(getattr(signal, "SIG" + name))
    else:
        cluster.on(at, "pkill -%s -x ior" % name)
    run = cluster.finish(proc)
    if OPEN_MPI or at != "launcher":  # the status is up to the launcher; hydra that is told to end says 0
        assert run.returncode != 0, run
    doc = cluster.json()
    assert doc["status"] == 6 and len(doc["tests"][0]["Results"]) > 0, (doc["status"], run)
    assert cluster.files() == ["r.csv", "r.json"], run


@pytest.mark.parametrize("what", [pytest.param("task", marks=mpich), "host"])
def test_the_job_ends_when_it_loses_a(cluster, what):
    """Nobody can put things in order then. What was measured is in the CSV, whole rows; nothing runs on."""
    proc = cluster.begin(cluster.mpirun(FOUR) + cluster.program(LONG))
    if what == "task":
        cluster.on("node4", "pkill -KILL -x ior")
    else:
        cluster.lose("node4")
    run = cluster.finish(proc)
    if what == "host":
        cluster.bring_back("node4")
    assert run.returncode != 0, run
    rows = (cluster.work / "r.csv").read_text().split("\n")
    assert len(rows) > 3 and rows[-1] == "" and {row.count(",") for row in rows[:-1]} == {rows[0].count(",")}, rows
    bed.await_true("the end of all tasks", lambda: not any(cluster.processes(name) for name in FOUR))
    if what == "host":  # the next job finds files of the last one
        cluster.mpi(FOUR, "ior -b 64k -t 64k -F -o f").ok()
        assert set(cluster.files()) - {".r.json.incomplete"} == {"r.csv"}


@pytest.mark.mpich
def test_progress_reaches_the_terminal_of_the_launcher(cluster):
    """Ranks on this host, whose standard error is a pipe of mpirun's. Nothing where the launcher's is none, or the rank's is a file."""
    ior = cluster.program("ior -a DUMMY -w -b 8k -t 8k -s 500 --dummy.delay-xfer=10000")
    start = system.LAUNCHER + ["-n", "2"]
    shown = cluster.on_a_terminal(start + ior)
    assert re.search(r"\rwrite: \d+ s, \d+\.\d %, \d+ s left, \d", shown), shown
    assert shown.rstrip().split("\n")[-1].split("\r")[-1].startswith(("NOTE", "Finished")), shown
    assert "s left" not in cluster.on_a_terminal(["sh", "-c", shlex.join(start + ior) + " 2>&1 | cat"])
    cluster.on_a_terminal(start + ["sh", "-c", shlex.join(ior) + " 2>>err"])
    assert "s left" not in (cluster.work / "err").read_text()


# ---- as in Kubernetes ----

@pytest.mark.skipif(not OPEN_MPI, reason="the image has Open MPI")
def test_the_command_of_a_launcher_in_kubernetes_starts_the_tasks_of_all_workers(cluster):
    """The image's configurations of sshd and ssh, and the hostfile and the variables of the mpi-operator."""
    sources, home, hostfile = bed.MOUNT / "source/contrib", cluster.work / "home", cluster.work / "hostfile"
    (home / ".ssh").mkdir(parents=True)
    bed.quiet("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", home / ".ssh/id_rsa")
    (home / ".ssh/id_rsa.pub").rename(home / ".ssh/authorized_keys")
    (home / "sshd_config").write_text((sources / "packaging/container/sshd_config").read_text().replace("/home/weir", str(home)))
    agent = home / "ssh"
    agent.write_text('#!/bin/sh\nexec ssh -F %s/packaging/container/ssh_config -i %s/.ssh/id_rsa "$@"\n' % (sources, home))
    agent.chmod(0o755)
    hostfile.write_text("".join(name + " slots=2\n" for name in TWO))
    made = [str(sources / "jobs/kubernetes/weir-kubernetes"), "--claim=c", "--nodes=2", "--ranks=2", "--", "ior", "-C", "-F", "-b", "64k", "-t", "64k", "-o", "./a f", "--report=text:-,json:r.json"]
    yaml = pytest.importorskip("yaml", reason="needs python3-yaml to read the manifest")
    spec = yaml.safe_load(bed.quiet(*made))["spec"]["mpiReplicaSpecs"]
    launcher, worker = (spec[part]["template"]["spec"]["containers"][0]["command"] for part in ("Launcher", "Worker"))
    for name in TWO:
        cluster.on(name, "%s >/mnt/log/worker.%s 2>&1 </dev/null & echo $! >/run/worker" % (
            shlex.join(worker).replace("/home/weir/.sshd_config", str(home / "sshd_config")), name))
    try:
        where = {"/etc/mpi/hostfile": str(hostfile), "ior": str(PROGRAMS / "ior")}
        variables = {"OMPI_MCA_orte_default_hostfile": hostfile, "OMPI_MCA_orte_keep_fqdn_hostnames": "true", "OMPI_MCA_plm_rsh_agent": agent,
                     "OMPI_MCA_plm_rsh_args": "-o ConnectionAttempts=10"}
        assert launcher[0] == "mpirun"
        words = system.LAUNCHER + [where.get(word, word) for word in launcher[1:]]
        run = cluster.finish(cluster.start(["env", *("%s=%s" % pair for pair in variables.items()), *words])).ok()
        sound(run, 4 * 65536)
        assert [(h["name"], h["tasks"]) for h in cluster.json()["provenance"]["hosts"]] == [("node1", 2), ("node2", 2)], run
        assert cluster.json()["provenance"]["kernels"] == 2
    finally:
        for name in TWO:
            cluster.on(name, "kill $(cat /run/worker)")
