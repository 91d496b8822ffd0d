# SPDX-License-Identifier: BSD-3-Clause
"""-d and interIODelay wait as long as they are told, and not after a signal to whichever task."""
import json
import os
import re
import signal

import pytest

from conftest import timely

LONG = [("-w -b 32k -t 16k -d 600", "delay before a phase"),
        ("-w -b 32k -t 16k -O interIODelay=600000000", "write phase"),
        ("-a MPIIO -c -w -b 32k -t 16k -O interIODelay=600000000", "write phase"),
        ("-w -k -F -b 32k -t 16k -g -O interIODelay=600000000", "write phase")]


@pytest.mark.parametrize("which", [0, 2])
@pytest.mark.parametrize("args, words", LONG)
def test_a_signal_to_one_task_ends_a_long_delay_of_all(ior, need_backend, args, words, which):
    need_backend("MPIIO")
    proc, pids = ior.begin(args, 3)
    os.kill(pids[which], signal.SIGTERM)
    ior.finish(proc, timeout=20).fails(6, words)  # the launcher's clean-up takes what it takes


@pytest.mark.parametrize("api, flags", [("POSIX", ""), ("POSIX", "-F"), ("MPIIO", "-c"), ("POSIX", "-D 100")])
def test_every_transfer_is_followed_by_the_delay(ior, need_backend, api, flags):
    need_backend(api)
    run = ior("-a %s %s -w -W -r -b 64k -t 16k -O interIODelay=120000" % (api, flags)).ok()
    for row in run.rows:
        assert row["work"] >= 4 * 0.12, run
    assert [row["access"] for row in run.rows] == ["write", "read"]


def test_checking_what_was_written_does_not_wait(ior):
    """In the check phase nothing is measured: two waits of 3 s instead of three."""
    run = ior("-w -W -b 8k -t 8k -O interIODelay=3000000 --report=text:-,json:r.json", np=1).ok()
    phases = {p["operation"]: p for p in json.loads((ior.cwd / "r.json").read_text())["tests"][0]["phases"]}
    assert phases["write"]["workTime"] >= 3
    timely(phases["check write"]["workTime"] < 3, run)


def test_tasks_with_less_to_do_wait_with_the_others(ior, need_backend):
    """Lock step with uneven work: everybody takes the same number of pieces."""
    need_backend("MPIIO")
    ior("-a MPIIO -c -w -b 32k -t 16k -D 1 -s 20 -O interIODelay=110000", np=3).ok()
    ior("-a MPIIO -c -w -b 32k -t 16k -s 2 -O interIODelay=110000,stoneWallingWearOutIterations=3", np=3).ok()


def test_the_delay_before_phases_is_outside_of_every_time(ior):
    run = ior("-v -w -r -b 8k -t 8k -d 1").ok()
    assert run.stdout.count("delaying 1 seconds . . .") == 2 and run.elapsed >= 2
    timely(all(row["total"] < 1 for row in run.rows), run)
    assert not re.search("delaying", ior("-w -b 8k -t 8k -d 1").ok().stdout)
