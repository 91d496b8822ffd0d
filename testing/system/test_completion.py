# SPDX-License-Identifier: BSD-3-Clause
"""What the shells complete, in a pseudo-terminal: the Tab key is pressed and the line read."""
import os
import shutil

import pytest

import conftest

pexpect = pytest.importorskip("pexpect", reason="needs python3-pexpect for a terminal")
FOLDER = conftest.SOURCE / "contrib" / "completion"

# What is typed, and what stands on the line after the Tab key
CASES = [
    ("ior --api=PO", "ior --api=POSIX"),
    ("ior --block-s", "ior --block-size="),
    ("ior -O blockSize=4k,transfer", "ior -O blockSize=4k,transferSize="),
    ("ior -l ran", "ior -l random"),
    ("mpirun -np 4 ior --reorder-t", "mpirun -np 4 ior --reorder-tasks"),
    ("mpirun -np 4 mdtest --unique-d", "mpirun -np 4 mdtest --unique-directory"),
    ("md-workbench --process-r", "md-workbench --process-reports"),
    ("mib --call_l", "mib --call_limit="),
    ("ior --posix.odi", "ior --posix.odirect"),
    ("ior -o somef", "ior -o somefile"),
    ("weir-compare --worse", "weir-compare --worse-than="),
    ("weir-compare somef", "weir-compare somefile"),
    ("weir-plot --h", "weir-plot --help"),
]

START = {
    "bash": (["--norc", "--noprofile", "-i"], "source %s/weir.bash; PS1='READY> '; bind 'set bell-style none'; bind 'set enable-bracketed-paste off'" % FOLDER),
    "zsh": (["-f", "-i"], "fpath=(%s $fpath); autoload -Uz compinit; compinit -u -D; unsetopt beep prompt_cr prompt_sp; unset zle_bracketed_paste; PS1='READY> '" % FOLDER),
    "fish": (["--no-config", "-i"], "source %s/weir.fish; function fish_prompt; echo -n 'READY> '; end; set -g fish_autosuggestion_enabled 0" % FOLDER),
}


def test_every_program_is_completed():
    made = {p.name[:-len(".1.in")] for p in (conftest.SOURCE / "doc" / "man").glob("*.1.in")}
    assert {"ior", "combo.x", "weir-plot"} <= made
    for name in ("weir.bash", "_weir", "weir.fish"):
        words = set((FOLDER / name).read_text().replace("'", " ").split())
        assert made <= words, (name, made - words)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_tab_key_completes_options_values_and_keys(shell, tmp_path):
    """The line is not run: it gets 'echo ' in front, and the shell says what it has."""
    if not shutil.which(shell):
        pytest.skip("no %s" % shell)
    (tmp_path / "somefile").write_text("")
    env = dict(conftest.program_env(), PATH="%s:%s:%s" % (FOLDER.parent / "plot", conftest.IOR.parent, os.environ["PATH"]), TERM="dumb", HOME=str(tmp_path), COLUMNS="200")
    args, setup = START[shell]
    terminal = pexpect.spawn(shell, args, env=env, cwd=str(tmp_path), encoding="utf-8", timeout=60, dimensions=(50, 200), echo=False)
    try:
        terminal.sendline(setup + "; echo IS''SET")
        terminal.expect("ISSET")
        for typed, expected in CASES:
            # Ctrl-A puts a word before the line after the completion, so that nothing but echo runs.
            terminal.send(typed + "\t")
            terminal.send("\x05@\x01echo A''NSWER \r")
            terminal.expect(r"ANSWER ([^\r\n]*?) ?@")
            assert terminal.match.group(1).strip() == expected, (shell, typed)
    finally:
        terminal.close(force=True)
