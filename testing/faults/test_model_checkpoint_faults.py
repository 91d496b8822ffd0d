# SPDX-License-Identifier: BSD-3-Clause
"""model_checkpoint is killed at any moment: the newest published checkpoint loads and verifies, an unpublished one is never taken."""
import errno
import os
import pathlib
import random
import re
import signal
import sys

import pytest

import conftest
from faults_support import environment, is_stopped

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "system"))
from timeline_support import read_records  # noqa: E402

# So many runs of several ranks are killed, and one in each call on files that a run has: WEIR_KILLS=200.
KILLS = int(os.environ.get("WEIR_KILLS", "0"))

MODEL = "layers = 1\nhidden = 16\nheads = 4\nffn = 32\nvocabulary = 50\n"
SHAPES = ["--tp=2", "--zero=1", "--pp=2 --layout=shared", "--tp=2 --layout=megatron", "--zero=3 --layout=deepspeed", "--save=async --compute=0.01"]


@pytest.fixture
def mc(ior):
    ior.program = conftest.BUILD / "src" / "model_checkpoint"
    (ior.cwd / "small.model").write_text(MODEL)

    def run(args, np=None, env=None):
        return ior("--model=small.model -o c " + args, np=np, env=env or {})
    run.cwd = ior.cwd
    run.ior = ior
    return run


def names(mc):
    return sorted(p.name for p in (mc.cwd / "c").iterdir()) if (mc.cwd / "c").exists() else []


def published(mc):
    return [int(name[11:]) for name in names(mc) if re.fullmatch(r"checkpoint-\d{8}", name)]


def expect_newest_loads(mc, least, what):
    """Any number of ranks: one loads what several have saved. The status of wrong data is 4."""
    found = published(mc)
    if not found:
        assert least == 0, (what, names(mc))
        mc("--save=no").fails(3, "no published checkpoint")
        return 0
    run = mc("--save=no --load-tp=1 --load-pp=1 --load-dp=1").ok()
    loaded = re.search(r"^load +0 +(\d+) ", run.stdout, re.M)
    assert loaded and int(loaded.group(1)) == found[-1] >= least, (what, names(mc), run)
    return found[-1]


KINDS = {"place": 8, "sync": 9, "unlink": 5, "close": 12, "open": 12, "write": 30}  # and how many calls of it two saves have, about


def moments():
    """Calls of a run on its files: one after the other a run is killed in each, or in some of them."""
    if KILLS:
        return [(kind, count) for kind in KINDS for count in range(1, 100)]
    return [("place", random.randrange(1, 8)), ("unlink", random.randrange(1, 4)),
            *((kind, random.randrange(1, KINDS[kind])) for kind in random.sample(sorted(KINDS), 3))]


def test_killed_in_any_call_it_leaves_the_newest_published_checkpoint_whole(mc, shim):
    """Three saves, of which one is kept: making, writing, publishing and removing lie one after the other."""
    newest, done, died = 0, set(), 0
    for kind, count in moments():
        if kind in done:
            continue
        run = mc("-i 3 --keep=1 --load=no --optimizer=none", env=environment(mc.ior, shim, "call=%s count=%d kill" % (kind, count)))
        if run.returncode == 0:
            done.add(kind)
            newest = published(mc)[-1]
            continue
        assert run.returncode == -9, (kind, count, run)
        died += 1
        newest = expect_newest_loads(mc, newest, "killed in %s number %d" % (kind, count))
    assert died > (50 if KILLS else 0)
    mc("-i 1 --keep=1 --load=no").ok()  # the next save removes what the killed ones have left
    assert len(names(mc)) == 1 and len(published(mc)) == 1, names(mc)


def test_ranks_that_are_killed_while_they_save_leave_no_half_checkpoint(mc, shim):
    newest = 0
    for i in range(max(2, KILLS)):
        shape = SHAPES[i % len(SHAPES)] if KILLS else random.choice(SHAPES)
        fault = "rank=%d call=%s count=%d kill" % (random.randrange(2), random.choice(sorted(KINDS)), random.randrange(1, 12))
        run = mc("-i 3 --keep=2 --load=no " + shape, np=2, env=environment(mc.ior, shim, fault))
        newest = max([newest, *published(mc)]) if run.returncode == 0 else expect_newest_loads(mc, newest, (fault, shape))


@pytest.mark.parametrize("count, what", [(1, "'c/.checkpoint-00000001.staged/rank-000000.data'"), (2, "'c/.checkpoint-00000001.staged/metadata'"),
                                         (3, "directory 'c/.checkpoint-00000001.staged'"), (4, "directory 'c'")])
def test_a_save_is_an_error_where_a_file_or_a_name_is_not_durable(mc, shim, count, what):
    """The files, the metadata, their names, and the name of the checkpoint: that one has changed then."""
    run = mc("-i 1 --load=no --optimizer=none", env=environment(mc.ior, shim, "call=sync count=%d errno=EIO" % count))
    run.fails(3, "fsync " + what, "Input/output error")
    assert published(mc) == [1] * (count == 4)


def test_a_removal_that_fails_is_an_operation_that_failed(mc, shim):
    fault = {**environment(mc.ior, shim, "call=unlink count=1 errno=EIO"), "FAULT_PREFIX": str(mc.cwd / "c")}
    run = mc("-i 2 --keep=1 --load=no --optimizer=none --timeline=t.npy", env=fault)
    run.fails(3, "remove 'c/.checkpoint-00000001.removed/", "Input/output error")
    assert errno.EIO in [r.error for r in read_records(mc.cwd / "t.npy")]


def test_a_length_that_cannot_be_asked_for_is_no_wrong_data(mc, shim):
    """The directory gets another name before its file is closed: all bytes are right, and the file
    is not where it was."""
    mc("-i 1 --load=no").ok()
    saved = mc.cwd / "c" / "checkpoint-00000001"
    fault = environment(mc.ior, shim, "call=close stop")
    fault["FAULT_PREFIX"] = str(saved / "rank-000000.data")
    proc = mc.ior.start("--model=small.model -o c --save=no --drop-cache=0 --rules=none", np=None, env=fault)
    conftest.wait_until(lambda: is_stopped(proc.pid))
    saved.rename(mc.cwd / "moved")
    os.kill(proc.pid, signal.SIGCONT)
    mc.ior.finish(proc).fails(3, "size of 'c/checkpoint-00000001/rank-000000.data': No such file or directory")
