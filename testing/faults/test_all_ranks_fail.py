# SPDX-License-Identifier: BSD-3-Clause
"""All ranks fail in the same call, each for a reason of its own: one line, and no messages of each rank to rank 0.
WEIR_FAILING_RANKS=64 tries it with so many."""
import os
import re

import pytest

import conftest
from faults_support import SECONDS, environment

RANKS = int(os.environ.get("WEIR_FAILING_RANKS", 6))
REASONS = ["EIO", "ENOSPC", "EDQUOT", "EROFS", "ESTALE", "EACCES"]  # that of the last one is that of all further ranks
PROGRAMS = [
    ("ior", "-w -F -b 16k -t 8k -o f"), ("mdtest", "-F -w 100 -n 2 -d d"), ("md-workbench", "-P 2 -I 2 -D 1 -o w"), ("mib", "-W -l 4 -b 4k"),
    ("h5exerciser", "-a POSIX --numdims 1 --minels 160 --dimranks %d --iterations 1 --out f" % RANKS),
    ("checkpoint_simulator.x", "--nx 1 --ny 1 --im_world 24 --lm 4 --num_arrays 1 --ntrials 1 --split_file --num_writers 6 -a POSIX"),
]


@pytest.fixture
def messages(ior, preload, shim):
    """messages(program, args, n, fault): the run on n ranks, and how many messages rank 0 has waited for"""
    def run_it(program, args, n, fault):
        ior.program = conftest.BUILD / "src" / program
        env = environment(ior, shim, fault)
        env["LD_PRELOAD"] = ":".join([preload("count-messages.c")] + ([shim] if fault else []))
        run = ior(args, np=n, timeout=SECONDS + n, env=env)
        return run, int((ior.cwd / "messages").read_text())
    return run_it


each_rank = []  # so many messages reach rank 0 of another rank of its node in a run without an error


@pytest.mark.parametrize("program, args", PROGRAMS, ids=[case[0] for case in PROGRAMS])
def test_all_ranks_fail_at_once(messages, program, args):
    n = 6 if "--nx 1 " in args else RANKS
    if not each_rank:
        each_rank.append(messages("ior", "-a DUMMY -w -b 8k -t 8k", 2, "")[1])
    rules = ["call=write%s errno=%s times=0" % (" rank=%d" % r if r + 1 < len(REASONS) else "", name) for r, name in enumerate(REASONS)]
    run, received = messages(program, args, n, ";".join(rules))
    assert run.returncode == 3 and len(run.errors) == 1 and len(run.stderr) < 2000, run
    assert re.match(r"rank 0 on \S+: .*Input/output error.* \(and %d more ranks failed\)$" % (n - 1), run.errors[0]), run
    assert received <= (n - 1) * each_rank[0], (received, each_rank, run)
