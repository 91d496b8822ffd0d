# SPDX-License-Identifier: BSD-3-Clause
"""Slurm on three of the hosts, and the job script contrib/jobs/slurm/ior.sbatch."""
import json
import os
import re
import shutil
import subprocess

import pytest

import bed
from cluster_support import ENV, OPEN_MPI, PROGRAMS, system

SCRIPT = bed.MOUNT / "source/contrib/jobs/slurm/ior.sbatch"
MPI = "pmix" if OPEN_MPI else "pmi2"
THREE = ["node1", "node2", "node3"]
RUN = " %s/ior -b 64k -t 64k -o f --report=text:-,json:r.json" % PROGRAMS
ENDLESS = "-t 64k -b 64k -i 100000"


class Job:
    """A job script in a directory of its own, with three tasks on three hosts, or as 'options' say."""

    def __init__(self, name, args, options="-N3 --exclusive", program=PROGRAMS / "ior"):
        self.dir = bed.MOUNT / ("job-" + name)
        shutil.rmtree(self.dir, ignore_errors=True)
        (self.dir / "data").mkdir(parents=True)
        env = {**os.environ, **ENV, "IOR": str(program), "WEIR_MPI": MPI}
        command = ["sbatch", "--parsable", "--ntasks-per-node=1", *options.split(), str(SCRIPT), str(self.dir / "data"), *args.split()]
        done = subprocess.run(command, cwd=self.dir, env=env, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done
        self.id = done.stdout.strip()
        self.results = self.dir / ("ior." + self.id)

    def state(self):
        done = subprocess.run(["scontrol", "show", "job", self.id], capture_output=True, text=True, timeout=60)
        found = re.search(r"JobState=(\w+)", done.stdout)
        return found.group(1) if found else ""  # a controller on a busy machine may not answer

    def is_over(self):
        """Also while it is told to end, or ends, Slurm has names for its state."""
        return self.state() in ("CANCELLED", "COMPLETED", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "TIMEOUT")

    def measured(self):
        csv = self.results / "ior.csv"
        return csv.exists() and csv.read_text().count("\n") > 3

    def await_results(self):
        bed.await_true("results of the job", lambda: self.measured() or self.is_over())
        assert self.measured(), self.said()
        return self

    def said(self):
        said = (self.dir / ("slurm-%s.out" % self.id)).read_text()
        system.check_launcher(None, said)
        return said

    def await_end(self, *states):
        """The job has ended as one of 'states' says, its data are gone: what it said, and its JSON. With a node that is lost the
        state is told at once, when the script still runs, which removes the data last."""
        bed.await_true("the end of the job", self.is_over, 150)
        assert self.state() in states, (self.state(), self.said())
        data = self.dir / "data"
        bed.await_true("the removal of the data in %s" % data, lambda: not any(data.iterdir()), 60)
        said = self.said()
        assert sorted(p.name for p in self.results.iterdir()) == ["ior.csv", "ior.json", "ior.txt"], said
        return said, json.loads((self.results / "ior.json").read_text())


@pytest.fixture(scope="session")
def slurm_up(hosts_up):
    for program in ("munged", "slurmctld", "slurmd", "sbatch"):
        if not shutil.which(program):
            pytest.skip("no %s (Debian: munge, slurmctld, slurmd, slurm-client)" % program)
    hosts_up.slurm(THREE)
    known = subprocess.run(["srun", "--mpi=list"], capture_output=True, text=True, timeout=60)
    if MPI not in known.stdout + known.stderr:
        pytest.skip("this srun knows no --mpi=" + MPI)
    return hosts_up


@pytest.fixture
def slurm(slurm_up):
    slurm_up.clean()
    return slurm_up


@pytest.fixture(scope="session")
def limited(slurm_up):
    """Slurm looks at limits twice a minute, and tells the job to end up to half a minute before the time that was asked for:
    after 10 to 40 seconds, while other tests run. They do not take it for theirs: its program has another name."""
    program = bed.MOUNT / "limited"
    program.symlink_to(PROGRAMS / "ior")
    return Job("limited", ENDLESS + " -d 1", "-N1 --exclusive --nodelist=node1 --time=1 --signal=TERM@20", program)


def run(cluster, command):
    return cluster.finish(cluster.start(command.split()))


def test_a_job_with_a_limit_is_measured_until_then(limited):  # the first of all tests: see conftest.py
    limited.await_results()


@pytest.mark.parametrize("words, tasks", [("srun -N2 -n4 -m block", [3, 1]), ("srun -N2 -n2", [1, 1]),
                                          ("salloc -N2 -n3 --exclude=node1 -m cyclic srun", [2, 1])], ids=["uneven", "two", "salloc"])
def test_srun_starts_tasks_on(slurm, limited, words, tasks):
    done = run(slurm, words.replace("srun", "srun --overlap --exclude=node1 --mpi=" + MPI) + RUN).ok()
    where = slurm.json()["provenance"]
    on = {h["name"]: h["tasks"] for h in where["hosts"]}
    assert where["nodes"] == len(tasks) and sum(on.values()) == sum(tasks), (where, done)
    assert list(on) == ["node2", "node3"] and slurm.files() == ["r.json"], (where, done)
    assert done.options["clients per node"] == str(max(on.values())), done


def test_a_staged_program_runs(slurm, limited):
    (slurm.work / "stage").write_text("sbcast --force %s/ior /tmp/staged-ior && srun --mpi=%s /tmp/staged-ior -b 64k -t 64k "
                                      "-o f\n" % (PROGRAMS, MPI))
    done = run(slurm, "salloc -N2 -n2 --exclude=node1 sh stage").ok()
    assert done.options["Command line"].startswith("/tmp/staged-ior") and slurm.files() == ["stage"], done


def test_a_job_script_leaves_results_only(slurm, limited):
    said, doc = Job("whole", "-t 64k -b 64k -i 2", "-N2 --exclude=node1").await_end("COMPLETED")
    assert doc["status"] == 0 and doc["provenance"]["nodes"] == 2 and "Max Write" not in doc, said


def test_a_job_at_its_limit_reports_what_it_has(slurm, limited):
    said, doc = limited.await_end("FAILED", "TIMEOUT")  # status 6 of ior is that of the job
    assert doc["status"] == 6 and doc["tests"][0]["Results"], said


@pytest.mark.mpich
def test_srun_uses_all_nodes(slurm):
    done = run(slurm, "srun -N3 -n4 --mpi=" + MPI + RUN).ok()
    where = slurm.json()["provenance"]
    assert (where["nodes"], [h["tasks"] for h in where["hosts"]]) == (3, [2, 1, 1]) and slurm.files() == ["r.json"], (where, done)


@pytest.mark.mpich
def test_progress_reaches_the_terminal_of_srun(slurm):
    words = "srun -N1 -n2 -w node1 --mpi=%s %s/ior -a DUMMY -w -b 8k -t 8k -s 500 --dummy.delay-xfer=10000" % (MPI, PROGRAMS)
    shown = slurm.on("node1", "SLURM_CONF=/mnt/etc/slurm.conf script -qfec '%s' /dev/null" % words)
    assert re.search(r"[\r\n]write: \d+ s, \d+\.\d %, \d+ s left, \d", shown), shown


@pytest.mark.mpich
@pytest.mark.parametrize("other", ["none", "pmix" if MPI == "pmi2" else "pmi2"])
def test_srun_with_another_mpi_is_refused(slurm, other):
    """Programs that do not know of each other would write one file. Open MPI may end them itself."""
    done = run(slurm, "srun --mpi=%s -N3 -n3 env OMPI_MCA_ess_singleton_isolated=1" % other + RUN)
    assert done.returncode != 0 and slurm.files() == [], done
    assert OPEN_MPI or "srun --mpi=list" in done.stderr, done


@pytest.mark.mpich
def test_a_cancelled_job_reports_what_it_has(slurm):
    job = Job("cancelled", ENDLESS).await_results()
    subprocess.run(["scancel", job.id], check=True, timeout=60)
    said, doc = job.await_end("CANCELLED")
    assert doc["status"] == 6 and doc["tests"][0]["Results"] and "told to end" in said, said


def test_a_job_goes_on_when_a_node_daemon_is_restarted(slurm):
    job = Job("restarted", ENDLESS).await_results()
    slurm.on("node3", "pkill -KILL -x slurmd")
    slurm.slurmd("node3")
    bed.await_true("slurmd on node3", lambda: slurm.processes("node3", "slurmd"))
    assert job.state() == "RUNNING" and slurm.processes("node3")
    subprocess.run(["scancel", job.id], check=True, timeout=60)
    assert job.await_end("CANCELLED")[1]["status"] == 6


@pytest.mark.skipif(MPI == "pmi2", reason="the task on the lost node waits in MPI_Finalize until Slurm kills the script, too")
def test_a_job_that_loses_a_node_daemon_reports_what_it_has(slurm):
    """Slurm ends it on the nodes that it still reaches, and the tasks tell each other."""
    job = Job("lost", ENDLESS).await_results()
    slurm.on("node3", "pkill -KILL -x slurmd")
    # What Slurm does by itself when it has not heard of the daemon for SlurmdTimeout seconds
    subprocess.run(["scontrol", "update", "NodeName=node3", "State=DOWN", "Reason=lost"], check=True, timeout=60)
    said, doc = job.await_end("NODE_FAIL", "FAILED", "CANCELLED")
    assert doc["status"] == 6 and doc["tests"][0]["Results"], said
    bed.await_true("the end of the task on node3", lambda: not slurm.processes("node3"))
