# SPDX-License-Identifier: BSD-3-Clause
"""How to run programs on the hosts. See bed.py and run.sh."""
import contextlib
import importlib.util
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import time

import pytest

import bed

# What is known about reading outputs is in the system tests.
_where = pathlib.Path(__file__).resolve().parent.parent / "system" / "conftest.py"
_spec = importlib.util.spec_from_file_location("system_conftest", _where)
system = importlib.util.module_from_spec(_spec)
sys.modules["system_conftest"] = system
_spec.loader.exec_module(system)
sys.path.append(str(_where.parent))

OPEN_MPI, SOURCE, sound, runs_of_the_guide = system.OPEN_MPI, system.SOURCE, system.sound, system.runs_of_the_guide
PROGRAMS = bed.MOUNT / "build" / "src"
ENV = {
    **system.OPEN_MPI_ENV,
    "OMPI_MCA_plm_rsh_agent": "/mnt/etc/ssh",
    "OMPI_MCA_plm": "rsh",
    "OMPI_MCA_btl": "self,vader,tcp",
    "OMPI_MCA_btl_tcp_if_include": bed.NETWORK + "0/24",
    "OMPI_MCA_oob_tcp_if_include": bed.NETWORK + "0/24",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_orte_tmpdir_base": "/tmp",
    "SLURM_KILL_BAD_EXIT": "1",
    # With "mixed", the default, a task of three could leave MPI_Init of Open MPI 4.1 while another one still was in the first fence
    # there, and its first message over TCP was then a call of NULL: 5 of 65 jobs on a busy machine. With "tree": 0 of 65.
    "SLURM_PMIX_FENCE": "tree",
    "OMPI_MCA_odls_base_sigkill_timeout": "5",  # not 1 s: a busy machine needs more to write results
    "HYDRA_LAUNCHER": "ssh",
    "HYDRA_LAUNCHER_EXEC": "/mnt/etc/ssh",
}


def finding(doc, name):
    found, = [f for f in doc["tests"][0]["findings"] if f["id"] == name]
    return found


class Cluster(bed.Bed):
    """Programs run in 'work', a directory that all hosts share, empty at the start of each test."""

    def __init__(self):
        super().__init__()
        self.work = bed.SHARED
        if not OPEN_MPI:
            ENV["LD_PRELOAD"] = self.library(SOURCE / "testing/cluster/leave.c")

    def library(self, source):
        """Make a library that can be preloaded: its path"""
        if not shutil.which("gcc"):
            pytest.skip("no gcc to make a preloaded library")
        path = bed.MOUNT / (source.stem + ".so")
        bed.quiet("gcc", "-shared", "-fPIC", "-w", "-o", path, source, "-ldl")
        return str(path)

    def mpirun(self, hosts, by_node=False):
        """The words that start one process for each task of hosts, {"node1": 3, ...}."""
        n, slots = str(sum(hosts.values())), ",".join("%s:%d" % host for host in hosts.items())
        if OPEN_MPI:
            return system.LAUNCHER + ["-np", n, "-H", slots, "--map-by", "node" if by_node else "slot"]
        if by_node:
            return system.LAUNCHER + ["-n", n, "-hosts", ",".join(hosts), "-ppn", "1"]
        return system.LAUNCHER + ["-n", n, "-hosts", slots]

    def start(self, command):
        out, err = (open(bed.MOUNT / "run" / name, "w+b") for name in ("out", "err"))
        whole = {k: v for k, v in os.environ.items() if not k.startswith("IOR_")}
        whole.update(ENV)
        proc = subprocess.Popen(command, cwd=self.work, env=whole, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                start_new_session=True)
        proc.texts, proc.words, proc.begin = (out, err), command, time.monotonic()
        return proc

    def finish(self, proc, timeout=120):
        try:
            proc.wait(timeout)
            hangs = False
        except subprocess.TimeoutExpired:
            system.kill_all(proc)
            proc.wait()
            hangs = True
        texts = []
        for f in proc.texts:
            f.seek(0)
            texts.append(f.read().decode("utf-8", "replace"))
            f.close()
        system.check_launcher(proc.pid, texts[1])
        run = system.Run(proc.words, proc.returncode, texts[0], texts[1], time.monotonic() - proc.begin, self.work)
        assert not hangs, "still running after %d s\n%r" % (timeout, run)
        return run

    def program(self, args):
        name, *rest = shlex.split(args)
        return [str(PROGRAMS / name)] + rest

    def mpi(self, hosts, args, by_node=False, env=None, timeout=120):
        """args: program and options. Run on hosts by the launcher of the MPI library, through ssh, with more variables."""
        more = ["env"] + ["%s=%s" % pair for pair in self.preloaded(env)] if env else []
        return self.finish(self.start(self.mpirun(hosts, by_node) + more + self.program(args)), timeout)

    @staticmethod
    def preloaded(env):
        """Variables of a test; its library comes before that of all tests."""
        both = lambda value: value + ":" + ENV["LD_PRELOAD"] if "LD_PRELOAD" in ENV else value
        return [(k, both(v) if k == "LD_PRELOAD" else v) for k, v in env.items()]

    def begin(self, command, rows=3):
        """Start a run that tells r.csv each result at once, and wait until it has measured something."""
        proc = self.start(command)
        csv = self.work / "r.csv"
        bed.await_true("results", lambda: proc.poll() is not None or (csv.exists() and csv.read_text().count("\n") > rows))
        return proc

    def on_a_terminal(self, command):
        """What a terminal shows of a command: script(1) makes one."""
        done = self.finish(self.start(["script", "-qfec", shlex.join(command), "/dev/null"])).ok()
        return done.stdout

    @contextlib.contextmanager
    def slow_disk(self, name, us):
        """With slow-disk.c preloaded, each transfer of this host takes so many microseconds more, and not DISK_US."""
        self.on(name, "echo %d >/run/disk-us" % us)
        try:
            yield
        finally:
            self.on(name, "rm /run/disk-us")

    def files(self):
        return sorted(str(p.relative_to(self.work)) for p in self.work.rglob("*"))

    def json(self, name="r.json"):
        return json.loads((self.work / name).read_text())

    def clean(self):
        for p in self.work.iterdir():
            shutil.rmtree(p) if p.is_dir() else p.unlink()

    def processes(self, name, program="ior"):
        """The pids of ranks on a host, as the host counts them."""
        return self.on(name, "pgrep -x %s || :" % program).split()


def readers(cluster, library, hosts, orders, by_node=False):
    """For each set of options, in one run: the task whose file each task reads."""
    script = "IOR START\nfilePerProc=1\nblockSize=8k\ntransferSize=8k\nuseO_DIRECT=0\ntestFile=testFile\nwriteFile=1\nkeepFile=1\nreadFile=0\nRUN\n"
    script += "writeFile=0\nreadFile=1\n"
    keys = ("reorderTasksConstant", "taskPerNodeOffset", "reorderTasksRandom", "reorderTasksRandomSeed")
    for order in orders:
        script += "".join("%s=%s\n" % pair for pair in zip(keys, order)) + "RUN\n"
    (cluster.work / "script").write_text(script + "IOR STOP\n")
    run = cluster.mpi(hosts, "ior -f script", by_node, {"LD_PRELOAD": library, "FILE_LOG": str(cluster.work / "log")}).ok()
    opens = [line.split() for line in (cluster.work / "log").read_text().split("\n") if line.startswith("open")]
    n = sum(hosts.values())
    mine = [[int(path.rsplit(".", 1)[1]) for _, rank, path in opens if int(rank) == r] for r in range(n)]
    assert all(len(files) == 1 + len(orders) and files[0] == r for r, files in enumerate(mine)), (mine, run)
    return [[files[1 + i] for files in mine] for i in range(len(orders))]
