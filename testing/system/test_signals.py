# SPDX-License-Identifier: BSD-3-Clause
"""Signals: the first ends the measured part in order, the second ends the process; elsewhere the first does."""
import json
import os
import signal
import time

import pytest

import conftest
from conftest import is_alive, wait_until as until
from mdtest_support import mdtest  # noqa: F401

SECONDS = 30
HANGS = "-a DUMMY -w -b 8k -t 8k --dummy.delay-xfer=100000000"  # microseconds
IGNORING = ["sh", "-c", 'trap "" HUP; exec "$0" "$@"']


def send(pids, number):
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


# ---- in the measured part ----

@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGXCPU])
def test_what_batch_systems_send_ends_the_run_in_order(ior, number):
    proc, pids = ior.begin("-w -k=0 -b 8k -t 8k -s 100000 -O interIODelay=5000", 2)
    send(pids[1:], number)
    run = ior.finish(proc, SECONDS)
    assert run.returncode == 6 and len(run.errors) == 1 and "interrupt" in run.errors[0], run
    assert run.accesses() == ["write"] and ior.files() == [], run


def test_a_signal_does_not_hide_the_failure_of_another_rank(ior):
    proc, pids = ior.begin("-a DUMMY -w -t 4k -b 40k --dummy.delay-xfer=2000000 --dummy.delay-only-rank0 --dummy.fail-at=2 "
                       "--dummy.fail-rank=3 --report=text:-,json:r.json", 4)
    waiting = set()

    def all_have_waited():
        """Rank 0 in a transfer, the others for it: they are done, or have failed."""
        waiting.update(pid for pid in pids if conftest.is_in_a_delay(pid))
        return len(waiting) == 4 or proc.poll() is not None
    until(all_have_waited)
    send(pids, signal.SIGTERM)
    run = ior.finish(proc, SECONDS).fails(3, "rank 3", "injected: Input/output error")
    assert json.loads((ior.cwd / "r.json").read_text())["error"] == run.errors[0]


def test_a_signal_ends_the_prefill_in_order(ior):
    """It is a phase like the others, though nothing of it is measured."""
    proc, pids = ior.begin("-w -z -b 8m -t 8k --randomPrefill=8k -a DUMMY --dummy.delay-xfer=100000", None)
    send(pids, signal.SIGTERM)
    run = ior.finish(proc, SECONDS)
    assert run.returncode == 6 and len(run.errors) == 1 and "random prefill" in run.errors[0], run


@pytest.mark.parametrize("numbers", [(signal.SIGTERM, signal.SIGTERM), (signal.SIGINT, signal.SIGINT), (signal.SIGHUP, signal.SIGUSR1)])
def test_the_second_signal_ends_a_process_that_hangs(ior, numbers):
    proc, pids = ior.begin(HANGS, None)
    send(pids, numbers[0])
    time.sleep(1.5)  # within a quarter of a second it would be the same signal
    assert proc.poll() is None
    send(pids, numbers[1])
    assert ior.finish(proc, SECONDS).returncode == -numbers[1]


def test_the_second_signal_ends_all_ranks(ior):
    proc, pids = ior.begin(HANGS, 2)
    for number in (signal.SIGTERM, signal.SIGTERM):
        send(pids, number)
        time.sleep(1.5)
    assert ior.finish(proc, SECONDS).returncode not in (0, 6)


@pytest.mark.parametrize("args", ["-a DUMMY -w -c -b 8k -t 8k -O minTimeDuration=60 --dummy.delay-xfer=1000",
                                  "-a DUMMY -w -N 1 -b 8k -t 8k -s 100000 --dummy.delay-xfer=1000"])
def test_the_first_signal_to_all_ranks_ends_all_in_order(ior, args):
    proc, pids = ior.begin(args, 2)
    send(pids, signal.SIGTERM)
    run = ior.finish(proc, SECONDS)
    assert run.returncode == 6 and len(run.errors) == 1, run


def test_what_was_ignored_at_the_start_stays_ignored(ior):
    proc, pids = ior.begin("-a DUMMY -w -b 8k -t 8k -s 20 --dummy.delay-xfer=100000", None, prefix=IGNORING)
    for _ in range(3):
        send(pids, signal.SIGHUP)
        time.sleep(0.3)
    assert ior.finish(proc, SECONDS).ok().rows


def test_the_limit_of_processor_time_ends_the_run_in_order(ior):
    """The kernel repeats its signal every second: that is no second signal."""
    run = ior("-a DUMMY -w -b 8k -t 8k -s 100000000", np=None, prefix=["sh", "-c", 'ulimit -S -t 1; exec "$0" "$@"'])
    assert run.returncode == 6 and run.accesses() == ["write"], run


# ---- elsewhere ----

@pytest.mark.parametrize("args", ["-f fifo", "-w -b 8k -t 8k -a DUMMY --report=json:fifo"])
@pytest.mark.parametrize("np", [None, 2])
def test_a_fifo_that_nobody_serves_is_no_trap(ior, args, np):
    os.mkfifo(ior.cwd / "fifo")
    proc = ior.start(args, np=np)
    pids = [proc.pid] if np is None else ior.wait_for_ranks(proc, np)
    time.sleep(1)  # up to the FIFO or not: it ends in both cases
    assert proc.poll() is None
    send(pids, signal.SIGTERM)
    run = ior.finish(proc, SECONDS)
    assert run.returncode == -signal.SIGTERM if np is None else run.returncode not in (0, 6), run


@pytest.mark.parametrize("program, args", [("ior", "-a DUMMY -w -b 8k -t 8k"), ("mdtest", "-a DUMMY -n 2 -F -C"),
                                           ("md-workbench", "-a DUMMY -I 2 -P 3 -D 2 -R 1"), ("mib", "-t . -F -l 1 -s 1k"),
                                           ("h5exerciser", "--api posix --numdims 1 --minels 8"),
                                           ("checkpoint_simulator.x", "-a DUMMY --nx 1 --ny 6")])
@pytest.mark.parametrize("where, number", [("MPI_Init", signal.SIGINT), ("MPI_Finalize", signal.SIGTERM)])
def test_the_first_signal_ends_what_mpi_does_not(ior, preload, program, args, where, number):
    """Also after options that a program refuses when it knows how many ranks there are."""
    ior.program = conftest.BUILD / "src" / program
    if not ior.program.exists():
        pytest.skip("this build has no " + program)
    proc = ior.start(args, np=None, env={"LD_PRELOAD": preload("hang-mpi.c"), "HANG_IN": where})
    until((ior.cwd / where).exists)
    send([proc.pid], number)
    assert ior.finish(proc, SECONDS).returncode == -number


def test_a_signal_that_reaches_a_rank_after_the_end_of_the_run_is_not_the_second(ior, preload):
    """A launcher sends it to all ranks, and not at one time. The second one of this rank ends it, as it ends any run that hangs."""
    proc, pids = ior.begin("-a DUMMY -w -c -b 8k -t 8k -O minTimeDuration=1000 --dummy.delay-xfer=1000", 2,
                           env={"LD_PRELOAD": preload("hang-mpi.c"), "HANG_IN": "MPI_Finalize"})
    send(pids[:1], signal.SIGTERM)
    until((ior.cwd / "MPI_Finalize").exists)
    send(pids[1:], signal.SIGTERM)
    time.sleep(1)  # more than a quarter of a second
    assert proc.poll() is None and is_alive(pids[1])
    send(pids[1:], signal.SIGTERM)
    run = ior.finish(proc, SECONDS)
    assert run.returncode not in (0, 6) and "interrupt" in run.stderr, run


# ---- commands around the phases of mdtest ----

@pytest.mark.parametrize("command, words", [("exit 3", ["failed with exit status 3"]), ("no-such-command", ["exit status 127", "not found"]),
                                            ("kill -KILL $$", ["was ended by signal 9"])])
@pytest.mark.parametrize("option", ["before", "after"])
def test_a_hook_that_fails_is_an_error(mdtest, option, command, words):  # noqa: F811
    mdtest(["-n", "2", "-F", "--run-cmd-%s-phase=%s" % (option, command)], np=1).fails(2, "rank 0 on ", command, *words)
    mdtest.empty()


@pytest.mark.parametrize("earlier", [False, True])
def test_the_error_of_a_failed_run_is_its_last_line_after_the_clean_up(mdtest, earlier):  # noqa: F811
    """A clean-up that leaves nothing says nothing; where it removes nothing the error comes once more after its note."""
    if earlier:
        mdtest("-C -F -n 2 -d d").ok()
    run = mdtest(["-C", "-F", "-n", "2", "-d", "d", "--run-cmd-after-phase=exit 3"], np=2)
    assert run.returncode == 2 and "failed with exit status 3" in run.errors[-1], run
    assert run.messages[-1].startswith("ERROR: rank 0 on ") and len(run.errors) == 1 + earlier and len(set(run.errors)) == 1, run
    assert any("nothing was removed" in line for line in run.messages) == earlier, run


def test_a_hook_has_a_status_where_children_are_ignored(mdtest):  # noqa: F811
    ignoring = ["python3", "-c", "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execvp(sys.argv[1], sys.argv[1:])"]
    mdtest(["-n", "2", "-F", "--run-cmd-before-phase=exit 3"], np=None, prefix=ignoring).fails(2, "failed with exit status 3")


def test_a_hook_has_the_signals_of_the_start(mdtest):  # noqa: F811
    mdtest(["-n", "2", "-F", "-C", "--run-cmd-before-phase=grep '^Sig[BI]' /proc/self/status > signals"], np=None).ok()
    blocked, ignored = [int(line.split()[1], 16) for line in (mdtest.cwd / "signals").read_text().splitlines()]
    assert blocked == 0
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        assert not ignored & 1 << (number - 1)


@pytest.mark.parametrize("option", ["before", "after"])
def test_a_hook_that_hangs_is_ended_with_the_run(mdtest, option):  # noqa: F811
    proc = mdtest.start(["-n", "2", "-F", "--run-cmd-%s-phase=: > here; exec sleep 1000" % option], np=None)
    until((mdtest.cwd / "here").exists)
    hooks = conftest.children(proc.pid)
    send([proc.pid], signal.SIGTERM)
    run = mdtest.finish(proc, SECONDS)
    assert run.returncode == 6 and "interrupted" in run.stderr, run
    assert hooks and not any(os.path.exists("/proc/%d" % pid) for pid in hooks)
    mdtest.empty()


def test_all_that_a_hook_has_started_ends_with_the_run(mdtest):  # noqa: F811
    """The shell, a child of it, and one that does not obey the signal."""
    words = "sleep 1000 & echo $! >one; (trap '' TERM; : >deaf; exec sleep 1000) & echo $! >two; : >here; wait"
    proc = mdtest.start(["-n", "2", "-F", "--run-cmd-before-phase=" + words], np=None)
    until(lambda: (mdtest.cwd / "here").exists() and (mdtest.cwd / "deaf").exists())
    started = [int((mdtest.cwd / name).read_text()) for name in ("one", "two")]
    send([proc.pid], signal.SIGTERM)
    run = mdtest.finish(proc, SECONDS)
    assert run.returncode == 6 and "interrupted" in run.stderr, run
    until(lambda: not any(is_alive(pid) for pid in started))
