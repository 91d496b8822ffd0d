# SPDX-License-Identifier: BSD-3-Clause
"""The line of progress of a long phase: only on a terminal, in the words of the program, and wiped at the end."""
import os
import pty
import subprocess

import pytest

import conftest

CASES = {  # a phase of four seconds
    "ior": ("-a DUMMY -w -b 8k -t 8k -s 400 --dummy.delay-xfer=10000", rb"\rwrite: \d+ of 400 transfers, \d s +"),
    "mdtest": ("-a DUMMY -F -C -n 400 --dummy.delay-create=10000", rb"\rfile create: \d+ of 400 items, \d s +"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_long_phase_shows_what_it_counts(tmp_path, name):
    args, line = CASES[name]
    terminal, end = pty.openpty()
    env = conftest.program_env({"OMPI_MCA_orte_tmpdir_base": str(tmp_path)})
    with subprocess.Popen([str(conftest.BUILD / "src" / name)] + args.split(), cwd=tmp_path, env=env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=end) as proc:
        os.close(end)
        shown = read_all(terminal)
    assert proc.returncode == 0, shown
    lines = shown.split(b"\r" + b" " * 70 + b"\r")
    assert conftest.re.search(line, lines[0]) and len(lines) == 2 and b"\r" not in lines[1].replace(b"\r\n", b""), shown


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
