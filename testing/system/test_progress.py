# SPDX-License-Identifier: BSD-3-Clause
"""The line of progress of a long phase: of the whole job, on a terminal or where it is asked for, and wiped at the end."""
import os
import pty
import re
import signal
import subprocess

import pytest

import conftest

MIXED = rb"\d+\.\d\d MiB, \d+\.\d MiB/s \(mean \d+\.\d\), 0 of 1"
FINDINGS = re.compile(rb"NOTE: (SOUND|SUSPECT|INVALID) \([^\r\n]*\r\n")
IOR = "-a DUMMY -w -b 8k -t 8k -s 400 --dummy.delay-xfer=10000"
CASES = {  # a phase of four seconds
    "ior": (IOR, rb"\rwrite: \d+ s, \d+\.\d %, \d+ s left, " + MIXED),
    "mdtest": ("-a DUMMY -F -C -n 400 --dummy.delay-create=10000",
               rb"\rfile create: \d+ s, \d+\.\d %, \d+ s left, \d+ items, \d+\.\d/s \(mean \d+\.\d\), 0 of 1"),
}


def rank_of(pid):
    """The rank of a process that a launcher has started."""
    with open("/proc/%d/environ" % pid, "rb") as f:
        return int(re.search(rb"(?:^|\0)(?:OMPI_COMM_WORLD_RANK|PMI_RANK)=(\d+)", f.read())[1])


def on_a_terminal(tmp_path, name, args, launch=(), stdout=False):
    terminal, end = pty.openpty()
    env = conftest.program_env({"OMPI_MCA_orte_tmpdir_base": str(tmp_path)})
    with subprocess.Popen(list(launch) + [str(conftest.BUILD / "src" / name)] + args.split(), cwd=tmp_path, env=env, stdin=subprocess.DEVNULL,
                          stdout=end if stdout else subprocess.DEVNULL, stderr=end) as proc:
        os.close(end)
        shown = read_all(terminal)
    assert proc.returncode == 0, shown
    return FINDINGS.sub(b"", shown)


def read_all(fd):
    text = b""
    while True:
        try:
            piece = os.read(fd, 4096)
        except OSError:  # the other end is closed
            piece = b""
        if not piece:
            os.close(fd)
            return text
        text += piece


@pytest.mark.parametrize("name", CASES)
def test_a_long_phase_shows_how_far_it_is(tmp_path, name):
    args, line = CASES[name]
    shown = on_a_terminal(tmp_path, name, args)
    assert re.search(line, shown), shown
    pieces = shown.split(b"\r")
    assert all(len(p) < 80 for p in pieces) and pieces[-1].replace(b"\n", b"") == b"" and not pieces[-2].strip(), shown


def test_nothing_is_shown_where_nobody_wants_it(tmp_path, ior):
    assert on_a_terminal(tmp_path, "ior", IOR + " --progress=never") == b""
    assert ior("-a DUMMY -w -b 8k -t 8k --progress=never", np=None).ok().messages == []
    ior("-a DUMMY -w --progress=often", np=None).fails(1, "progress", "auto, always, never")


def hastened(preload, factor):
    """The words with which a program is started whose clock runs so many times as fast on all ranks."""
    return ["env", "LD_PRELOAD=" + preload("speed-clock.c"), "CLOCK_FACTOR=%d" % factor]


def test_below_a_launcher_the_terminal_is_that_of_the_launcher(tmp_path, preload):
    """Unless the end of what a rank writes is elsewhere. The row of a phase begins a line of its own: the line of progress is wiped before."""
    launch = conftest.LAUNCHER + ["-n", "2"]
    shown = on_a_terminal(tmp_path, "ior", IOR.replace("400", "50") + " -i 6", launch + hastened(preload, 10), stdout=True)
    assert re.search(rb"\rwrite: \d+ s, \d+\.\d %, \d+ s left, \d", shown), shown
    rows = re.findall(rb"([^\n]*)\bwrite +\d+\.\d+ +\d", shown)
    assert len(rows) >= 6 and all(row.endswith(b"\r") and not row.split(b"\r")[-2].strip() for row in rows if row), shown
    assert sum(b"%, " in row for row in rows) >= 1, shown
    shown = on_a_terminal(tmp_path, "ior", IOR, launch + ["sh", "-c", '"$0" "$@" 2>&1 | cat >>log'])
    assert "s left" not in (tmp_path / "log").read_text() and not shown.strip(), shown


def test_a_log_has_a_line_every_half_minute(ior, preload):
    """Of a phase that takes longer, on a clock that runs ten times as fast; none where the log is to be one document."""
    env = {"LD_PRELOAD": preload("speed-clock.c"), "CLOCK_RANK": "0", "CLOCK_FACTOR": "10"}
    prefix = ["env"] + ["%s=%s" % item for item in env.items()]
    run = ior(IOR.replace("-s 400", "-s 700"), np=2, prefix=prefix).ok()
    *lines, last = [m for m in run.messages if m.startswith("write: ")]
    at = [int(re.match(r"write: (\d+) s, \d", m)[1]) for m in lines]
    assert lines and all(later - sooner >= 29 for sooner, later in zip([0] + at, at)) and "over after" in last, run
    conftest.timely(len(lines) >= 2, run)
    quiet = ior(IOR.replace("-s 400", "-s 400 --report=json:-"), np=2, prefix=prefix).ok()
    assert not [m for m in quiet.messages if m.startswith("write: ")], quiet


def test_with_intervals_the_line_has_the_p99_of_all_tasks(ior, preload):
    """Rank 0, which shows it, takes 10 ms for each, and rank 1 four times as long."""
    env = {"LD_PRELOAD": preload("slow-rank.c"), "SLOW_RANK": "1", "SLOW_TIMES": "4"}
    run = ior("-a DUMMY -w -b 8k -t 8 -D 4 --dummy.delay-xfer=10000 --progress=always --interval=1", np=2,
              prefix=["env"] + ["%s=%s" % item for item in env.items()]).ok()
    shown, = [m for m in run.messages if re.match(r"write: \d+ s, \d", m)]
    p99 = float(re.search(r"\), p99 ([\d.]+) ms, 0 of 2 tasks done", shown)[1])
    assert p99 >= 40, run
    conftest.timely(p99 < 1000, run)


@pytest.mark.parametrize("how", ["", "-c "])
def test_the_line_is_about_the_whole_job(ior, how):
    """Rank 1 has done its work at once; in lock step both go on together."""
    run = ior(IOR + " --progress=always --dummy.delay-only-rank0 " + how, np=2).ok()
    lines = [m for m in run.messages if re.match(r"write: \d+ s, \d", m)]
    line = lines[0] if how else lines[-1]
    share, done = (float(re.search(what, line)[1]) for what in (r"([\d.]+) %, ", r"([\d.]+) MiB, "))
    # of the bytes of both ranks; the two figures are not of one moment, and may be one transfer of each rank apart
    conftest.timely(abs(share - 100 * done / 6.25) < 100 * 2 * 8 / 6400 + 0.15, run)
    if how:  # neither rank is done before the other
        assert 0 < share < 100 and "0 of 2 tasks done" in line and "the first after" not in line, run
    else:
        assert 50 < share < 100 and "1 of 2 tasks done, the first after" in line, run
    assert "p99" not in line, run
    assert any(re.match(r"write: over after \d+\.\d s, 6\.25 MiB, mean \d\.\d MiB/s", m) for m in run.messages), run


def test_while_a_task_is_stopped_old_numbers_are_not_shown_as_those_of_now(ior, preload):
    """And when the first task was done is then right at the end, though nobody could know it before."""
    proc, pids = ior.begin("-a DUMMY -w -b 8k -t 8k -s 150 --dummy.delay-xfer=10000 --progress=always", np=2, prefix=hastened(preload, 10))
    stopped, = [pid for pid in pids if rank_of(pid) == 1]
    os.kill(stopped, signal.SIGSTOP)
    try:
        conftest.wait_until(lambda: os.pread(proc.err.fileno(), 1 << 20, 0).count(b"no numbers") >= 2)
    finally:
        os.kill(stopped, signal.SIGCONT)
    run = ior.finish(proc).ok()
    old = [re.match(r"write: (\d+) s, no numbers of all tasks for (\d+) s; before: \d+\.\d %, [^()]*, 0 of 2 tasks done$", m)
           for m in run.messages if "no numbers" in m]
    assert all(old) and all(5 <= int(m[2]) <= int(m[1]) for m in old), run
    end, = [m for m in run.messages if m.startswith("write: over after ")]
    over, first = re.match(r"write: over after ([\d.]+) s, .*; the first task was done after ([\d.]+) s$", end).groups()
    conftest.timely(15 <= float(first) < int(old[-1][1]) < float(over), run)
    told = [re.search(r", the first after (?:([\d.]+) to )?([\d.]+) s$", m) for m in run.messages if ", the first after " in m]
    assert told, run
    for m in told:  # what is known then is right, too
        conftest.timely(float(m[1] or float(m[2]) - 1) <= float(first) <= float(m[2]), run)
