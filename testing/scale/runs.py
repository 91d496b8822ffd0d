# SPDX-License-Identifier: BSD-3-Clause
"""runs.py - every program under the counting library (calls.c, heap.c), on pretended nodes: what each rank did"""
import collections
import math
import os
import pathlib
import shlex
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
OPEN_MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_btl": "self,vader",
            "OMPI_MCA_pml": "ob1", "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
            "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}  # as the line above, for Open MPI 5
POWERS = (4, 8, 16, 32, 64)

Program = collections.namedtuple("Program", "name args ranks", defaults=(POWERS,))
Call = collections.namedtuple("Call", "phase kind ranks is_root calls sent received")
Heap = collections.namedtuple("Heap", "phase live peak")
Rank = collections.namedtuple("Rank", "calls heap")


def edge(ranks):
    """Cells along the edge of a face, so that each rank has as many however many ranks there are."""
    return round(8 * math.sqrt(ranks))


def gather(ranks):
    return f"--nx={edge(ranks)} --n_levs=2 --n_writers={ranks // 2}"


def checkpoint(ranks):
    n = round(math.sqrt(ranks / 6))
    return f"--nx=1 --ny={n * n} --im_world={8 * n} --lm=2 --num_arrays=2 --ntrials=1 -a POSIX"


# The work of a rank is the same however many ranks there are. DUMMY where it can do it: it has no arrays, and POSIX is the least
# backend that has. More ranks are more writers.
SQUARES = (4, 16, 36, 64)
CUBES = (6, 24, 54, 96)  # six faces
PROGRAMS = {p.name: p for p in (
    Program("ior", lambda p: "-a DUMMY -w -r -C -b 64k -t 16k -i 2 --report=text:-,json:out.json,csv:out.csv -o any"),
    Program("mdtest", lambda p: "-a DUMMY -n 4 -i 2 -N 1 -d any"),
    Program("md-workbench", lambda p: "-a DUMMY -I 2 -P 2 -D 2 -R 2 -o any"),
    Program("mib", lambda p: "--api=DUMMY -t . -l 4 -s 4k"),
    Program("h5exerciser", lambda p: "-a POSIX --numdims=1 --minels=64 -i 2"),
    Program("checkpoint_simulator.x", lambda p: checkpoint(p) + f" --num_writers={p // 2}", CUBES),
    Program("restart_simulator.x", lambda p: checkpoint(p) + f" --num_readers={p // 2}", CUBES),
    Program("gatherv.x", gather, SQUARES),
    Program("raw_bw.x", gather, SQUARES),
    Program("combo.x", gather, SQUARES),
)}
NEEDS_FIRST = {"restart_simulator.x": "checkpoint_simulator.x"}


def make_library(compiler, out):
    """The counting library at out, made by the words of the MPI compiler."""
    sources = [str(HERE / name) for name in ("calls.c", "heap.c")]
    subprocess.run([*compiler, "-O2", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-o", str(out), *sources, "-ldl"], check=True)
    return str(out)


def read_rank(path):
    calls, heap = [], []
    for line in path.read_text().splitlines():
        what, phase, *rest = line.split("\t")
        if what == "heap":
            heap.append(Heap(phase, *map(int, rest)))
        else:
            calls.append(Call(phase, rest[0], int(rest[1]), rest[2] == "1", *map(int, rest[3:])))
    return Rank(calls, heap)


class Runner:
    """run(program, ranks, per_node) is the list of what each rank did, with more options, or with these alone. A failure is a
    RuntimeError with what was said."""

    def __init__(self, launcher, build, library, folder, env):
        self.launcher, self.build, self.library, self.folder, self.env = launcher, build, library, pathlib.Path(folder), env

    def start(self, name, ranks, args, env, timeout):
        words = [*self.launcher, "-n", str(ranks), "env", *("%s=%s" % item for item in env.items()),
                 str(self.build / "src" / name), *shlex.split(args)]
        done = subprocess.run(words, cwd=self.folder, env={**os.environ, **self.env}, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=timeout, check=False)
        if done.returncode != 0:
            raise RuntimeError("%s: status %d\n%s%s" % (shlex.join(words), done.returncode, done.stdout, done.stderr))

    def run(self, name, ranks, per_node, more="", args=None, timeout=300):
        out = self.folder / ("%s-%d-%d" % (name, ranks, per_node))
        out.mkdir(exist_ok=True)
        if name in NEEDS_FIRST:
            first = NEEDS_FIRST[name]
            self.start(first, ranks, PROGRAMS[first].args(ranks), {}, timeout)
        # Not in the environment of the launcher, which is a program of MPI, too.
        args = PROGRAMS[name].args(ranks) + " " + more if args is None else args
        self.start(name, ranks, args, {"LD_PRELOAD": self.library, "SCALE_OUT": str(out), "SCALE_PER_NODE": str(per_node)}, timeout)
        return [read_rank(out / str(r)) for r in range(ranks)]
