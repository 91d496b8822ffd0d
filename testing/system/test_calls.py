# SPDX-License-Identifier: BSD-3-Clause
"""System calls on a shared file system outside the timed parts of a run: counted by strace, in traces that mark-calls.c cuts
into parts. Ten thousand ranks that ask for one name at one time stop a file system before the first byte is moved."""
import collections
import os
import re
import shutil

import pytest

import conftest

MOST = 22  # of any rank, and three for each phase: is the file system still the one of the start, before and after it?
PHASE = 3
CALL = re.compile(r"^\d+ +([\d.]+) (\w+)\((.*)")
WRAPPER = ('exec strace -f -qq -y -ttt --seccomp-bpf -e trace=%%file,fstatfs -E LD_PRELOAD=%s '
           '-o ../trace.${OMPI_COMM_WORLD_RANK:-$PMI_RANK} -- "$@"')
ROLES = ("root", "leader", "follower")  # ranks 0, 1, and 2: with two-nodes.c odd ranks are another node


def named(call, args, cwd):
    """The file that a call is about; None: only its descriptor, or no file system is asked."""
    text = re.search(r'"((?:[^"\\]|\\.)*)"', args)
    about = re.match(r"(?:AT_FDCWD|\d+)<([^>]*)>", args)
    if call == "fstatfs":
        return about.group(1)
    if not text or not text.group(1) or call == "getcwd":
        return None
    return os.path.normpath(os.path.join(about.group(1) if about else cwd, text.group(1)))


def parts(trace, cwd):
    """part of the run -> (time, call, file), of one rank: of the run's directory and of the programs'."""
    found, part, ours = collections.defaultdict(list), "start", (str(cwd), str(conftest.BUILD))
    for line in trace.read_text(errors="replace").split("\n"):
        m = CALL.match(line)
        file = m and named(m[2], m[3], str(cwd))
        if file and file.startswith("/weir-mark/"):
            part = os.path.basename(file)
            found[part] += []
        elif file and file.startswith(ours):
            found[part].append((float(m[1]), m[2], file))
    return found


@pytest.fixture
def traced(ior, preload):
    """traced("ior -w", np) runs a program of the suite: the parts of each rank."""
    if not shutil.which("strace"):
        pytest.skip("no strace (Debian: strace)")
    library = "%s:%s" % (preload("two-nodes.c"), preload("mark-calls.c"))

    def run(command, np=3, **env):
        program, args = command.split(" ", 1)
        ior.program = conftest.BUILD / "src" / program
        if not ior.program.exists():
            pytest.skip("this build has no %s" % program)
        done = ior(args, np=np, prefix=["sh", "-c", WRAPPER % library, "sh"], env=env)
        if "ptrace" in done.stderr.lower() or "strace: " in done.stderr:
            pytest.skip("strace may not trace here")
        done.ok()
        ranks = [parts(ior.cwd.parent / ("trace.%d" % rank), ior.cwd) for rank in range(np)]
        for part in ranks:
            assert {"start", "mpi", "weir"} <= set(part), part
        return ranks
    return run


def check(ranks, follower, phases, most=MOST):
    """The counts of each role, which all ranks of it share."""
    calls = [part["weir"] for part in ranks]
    assert max(map(len, calls)) <= most + PHASE * phases, max(calls, key=len)
    assert {len(c) for c in calls[2:]} == {len(calls[2])} and len(calls[2]) <= follower, calls[2:]
    return dict(zip(ROLES, map(len, calls)))


def test_ranks_ask_as_often_for_names_however_many_ranks_there_are(traced):
    few, many = [traced("ior -F -w -r -t 64k -b 64k -o data", np) for np in (3, 8)]
    counts = check(few, 12, 2)
    assert check(many, 12, 2) == counts
    root, follower = traced("ior -F -w -r -t 64k -b 64k -o data", 2, WEIR_NODES="one", WEIR_KERNELS="one")
    assert len(follower["weir"]) == counts["follower"] and len(root["weir"]) <= counts["root"], root["weir"]
    for rank, part in enumerate(many):
        own = [c for c in part["timed"] if c[2].endswith("/data.%08d" % rank)]
        assert [c[1] for c in own] == ["openat", "statx", "openat"] and len(own) == len(part["timed"]), part["timed"]  # which file it made
        assert all(c[2].endswith("/data.%08d" % rank) for c in part["weir"]) or rank < 2, part["weir"]  # no others' files


@pytest.mark.parametrize("command, follower, phases", [
    ("ior -w -r -t 64k -b 64k -o data", 2, 2), ("ior -a MPIIO -w -r -t 64k -b 64k -o data", 2, 2),
    ("mdtest -n 2 -d out", 4, 8), ("md-workbench -o out -D 1 -P 2 -I 2", 5, 3), ("mib -F -t . -l 2 -s 64k -L 10", 14, 2),
    ("h5exerciser --numdims 2 --minels 4 4 --nsizes 1 --iterations 1", 3, 4),
    ("checkpoint_simulator.x --nx 1 --ny 1 --im_world 6 --lm 1 --num_arrays 1 --ntrials 1 --num_writers 6 -a posix", 4, 1),
    ("raw_bw.x --nx 4 --n_levs 2 --n_writers 3", 5, 1), ("gatherv.x --nx 4 --n_levs 2 --n_writers 3", 0, 1),
    ("combo.x --nx 4 --n_levs 2 --n_writers 3", 5, 1)], ids=lambda c: c.split()[0] if isinstance(c, str) else "")
def test_no_program_asks_with_all_ranks_for_what_is_the_same(traced, need_backend, command, follower, phases):
    """Libraries of arrays agree inside of a phase, and what rank 0 asks after that seems to be outside of it."""
    if "h5" in command:
        need_backend("HDF5")
    check(traced(command, 6 if "im_world" in command else 3), follower, phases, MOST + 4 * ("h5" in command))


def test_a_plugin_is_looked_for_by_one_rank_of_a_node_and_opened_by_the_others_after_it(traced):
    if not (conftest.BUILD / "src" / ".libs" / "weir-aio.so").exists():
        pytest.skip("this build has no plugin weir-aio.so")
    ranks = traced("ior -a AIO -F -w -t 64k -b 64k -o data")
    calls = [[c for c in part["weir"] if "weir-aio.so" in c[2]] for part in ranks]
    assert [c[1] for c in calls[2]] == ["openat"] and "access" in [c[1] for c in calls[0]], calls
    assert calls[2][0][0] > calls[0][-1][0], calls
