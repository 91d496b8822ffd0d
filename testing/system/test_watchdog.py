# SPDX-License-Identifier: BSD-3-Clause
"""Calls that do not return and ranks that stand still: named in warnings, and after --io-timeout in the error that ends the job."""
import os
import pathlib
import re
import signal
import time

import pytest

from conftest import PATIENCE, is_alive, timely, wait_until
from mdtest_support import mdtest  # noqa: F401

SECONDS = 30
WARN = {"WEIR_WATCH_SECONDS": "1"}
CALL = r"rank %d on \S+: write of 8192 bytes at offset %d of 'testFile' has not returned for (\d+\.\d) seconds"
STILL = (r"rank %d on \S+ stands still: process %d is stopped by a signal, no heartbeat for (\d+\.\d) seconds, "
         r"last seen (in write of 8192 bytes at offset \d+ of 'testFile'|outside of calls)")


def seconds(words, lines):
    """Those of the lines that are these words."""
    return [float(m.group(1)) for m in (re.fullmatch(words, line) for line in lines) if m]


def apart_from_the_late(lines):
    """Without the ranks that no signal has stopped: a busy machine may keep one from its heartbeat for a second, and then it is named, too."""
    return [line for line in lines if "stands still" not in line or "is stopped" in line]


def shared_memory(pid):
    """The names of what this rank shares with others, as the kernel has them: a name that is gone has " (deleted)" after it."""
    maps = pathlib.Path("/proc/%d/maps" % pid).read_text()
    return re.findall(r" (/dev/shm/weir\..*)$", maps, re.M)


@pytest.mark.waits
@pytest.mark.sanitize
def test_a_call_that_does_not_return_is_named_in_a_warning_every_so_often(ior):
    """One rank is slow in its second transfer, the other one waits for it outside of calls; both are at their end in time."""
    run = ior("-a DUMMY -w -F -b 16k -t 8k --dummy.delay-xfer=3700000 --dummy.delay-only-rank0", env=WARN).ok()
    first, second = [seconds(CALL.replace("testFile", r"testFile\.00000000") % (0, at), run.warnings) for at in (0, 8192)]
    assert first == sorted(set(first)) and first and first[0] >= 1.0, run
    timely(2 <= len(first) <= 3 and first[0] < 1.5 and len(second) == len(first), run)
    assert len(second) == len(first) and len(apart_from_the_late(run.warnings)) == 2 * len(first) and not run.errors, run


@pytest.mark.waits
@pytest.mark.parametrize("args", ["", "-F -N 2 -i 2 -f script --timeline=ops.npy --io-timeout=2"])
def test_a_stopped_rank_is_named_by_another_one(ior, args):
    """Also with the lowest rank stopped, which speaks for its node otherwise; and no name is left of the shared memory."""
    (ior.cwd / "script").write_text("IOR START\nIOR STOP\n")
    proc, pids = ior.begin("-a DUMMY -w -b 8k -t 8k -s 100000 --dummy.delay-xfer=10000 --io-timeout=3 " + args, 3, env=WARN)
    names = [name for pid in pids for name in shared_memory(pid)]
    assert len(names) == 3 and len(set(names)) == 1 and names[0].endswith(" (deleted)"), names
    victim, rank = (pids[0], 0) if args else (pids[1], 1)
    os.kill(victim, signal.SIGSTOP)
    run = ior.finish(proc, SECONDS)
    said = [m for m in (re.match(r"rank (\d) on \S+ stands still: process %d is stopped" % victim, line) for line in run.errors) if m]
    assert run.returncode == 3 and len(said) == 1, run
    where = STILL.replace("'testFile'", r"'testFile[.0-9]*'") % (int(said[0].group(1)), victim)
    limit = 2 if args else 3
    after = seconds(where + r" \(--io-timeout\)", run.errors)[0]
    assert after >= limit, run
    timely(after < limit + 1.5, run)
    assert args or seconds(where, run.warnings), run
    assert len(apart_from_the_late(run.errors)) == 1 and rank in (0, 1), run


@pytest.mark.waits
def test_a_rank_that_goes_on_is_not_named_again(ior):
    """Stopped below the limit until it is named: the run ends as it would have."""
    proc, pids = ior.begin("-a DUMMY -w -F -b 8k -t 8k -s 250 --dummy.delay-xfer=10000 --io-timeout=60", 2, env=WARN)
    os.kill(pids[1], signal.SIGSTOP)
    begin = time.monotonic()
    wait_until(lambda: b"stands still" in os.pread(proc.err.fileno(), 1 << 20, 0))
    os.kill(pids[1], signal.SIGCONT)
    stopped = time.monotonic() - begin
    run = ior.finish(proc, SECONDS).ok()
    assert run.warnings and all("stands still" in line for line in run.warnings), run
    timely(len(run.warnings) <= stopped + 1, run)  # a busy machine may keep the other rank from its heartbeat, too


@pytest.mark.waits
def test_a_job_that_was_stopped_as_a_whole_goes_on(ior):
    """As with Ctrl-Z and fg: the time of the pause is nobody's."""
    proc, _ = ior.begin("-a DUMMY -w -b 8k -t 8k -s 100 --dummy.delay-xfer=10000 --io-timeout=2", None, env=WARN)
    os.kill(proc.pid, signal.SIGSTOP)
    time.sleep(3.5)
    os.kill(proc.pid, signal.SIGCONT)
    run = ior.finish(proc, SECONDS).ok()
    timely(not run.warnings, run)


@pytest.mark.parametrize("call", ["create", "close"])
def test_a_call_of_a_metadata_benchmark_that_does_not_return_ends_the_job(mdtest, call):  # noqa: F811
    """Files that are opened and closed over and over are in no session call that takes a time."""
    run = mdtest("-n 2 -F -a DUMMY --dummy.delay-%s=20000000 --io-timeout=1" % call, np=None, timeout=SECONDS)
    assert run.returncode == 3, run
    timely(run.elapsed < 15, run)
    assert any("has not returned" in line and "--io-timeout" in line for line in run.errors), run


COMMAND = "(trap '' TERM; echo $$ >>pids; sleep 1000 & echo $! >>pids; exec sleep 1000) & echo $! >>pids; sleep 1000 & sleep 1000"
HOOK = r"rank \d on \S+: execution of '.*' has not returned for (\d+\.\d) seconds"


@pytest.mark.parametrize("np", [None, 2])
@pytest.mark.parametrize("option", ["before", "after"])
def test_a_command_that_does_not_return_ends_the_job_and_all_that_it_has_started(mdtest, option, np):  # noqa: F811
    """Also what does not obey the signal of the launcher, and without a second error."""
    begin = time.monotonic()
    run = mdtest(["-n", "2", "-F", "-C", "--io-timeout=2", "--run-cmd-%s-phase=%s" % (option, COMMAND)], np=np).ok(3)
    errors = apart_from_the_late(run.errors)
    after = seconds(HOOK + r" \(--io-timeout\)", errors)
    assert len(errors) == 1 and len(after) == 1 and after[0] >= 2 and "sleep 1000 & sleep 1000" in errors[0], run
    pids = [int(word) for word in (mdtest.cwd / "pids").read_text().split()]
    wait_until(lambda: not any(is_alive(pid) for pid in pids))
    assert len(pids) >= 3, run
    timely(time.monotonic() - begin < SECONDS * PATIENCE, run)


def test_a_command_that_takes_long_is_named_in_a_warning(mdtest):  # noqa: F811
    run = mdtest(["-n", "2", "-F", "-C", "--run-cmd-before-phase=sleep 2"], np=2, env=WARN).ok()
    assert seconds(HOOK, run.warnings) and not run.errors and "'sleep 2'" in run.warnings[0], run
    quick = mdtest(["-n", "2", "-F", "-C", "--io-timeout=60", "--run-cmd-before-phase=true", "--run-cmd-after-phase=sleep 1"], np=2, env=WARN).ok()
    assert not quick.errors, quick
