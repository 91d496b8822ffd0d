# SPDX-License-Identifier: BSD-3-Clause
"""What the shells complete, in a pseudo-terminal: the Tab key is pressed and the line read."""
import os
import pathlib
import shutil
import subprocess

import pytest

import conftest

pexpect = pytest.importorskip("pexpect", reason="needs python3-pexpect for a terminal")
FOLDER = conftest.BUILD / "src" / "completion"

# What is typed, and what stands on the line after the Tab key and a '+': a word that goes on has no blank
CASES = [
    ("ior --api=PO", "ior --api=POSIX +"),
    ("ior --block-s", "ior --block-size=+"),
    ("ior -O blockSize=4k,transfer", "ior -O blockSize=4k,transferSize=+"),
    ("ior -l ran", "ior -l random +"),
    ("ior --report=op", "ior --report=openmetrics:+"),
    ("ior --report op", "ior --report openmetrics:+"),
    ("ior --report=text:-,op", "ior --report=text:-,openmetrics:+"),
    ("ior --report=json:somef", "ior --report=json:somefile +"),
    ("ior --limit=H02", "ior --limit=H02:+"),
    ("mdtest --limit h02:3,h03", "mdtest --limit h02:3,H03:+"),
    ("ior -O limit=H02", "ior -O limit=H02:+"),
    ("mpirun --weir-o", "mpirun --weir-option +"),
    ("mpirun -n 4 only-h", "mpirun -n 4 only-here +"),
    ("mpirun -n somef", "mpirun -n somef+"),
    ("mpirun --hostfile somef", "mpirun --hostfile somefile +"),
    ("mpirun -n 4 ior --reorder-t", "mpirun -n 4 ior --reorder-tasks +"),
    ("mpirun -np 4 mdtest --unique-d", "mpirun -np 4 mdtest --unique-directory +"),
    ("md-workbench --process-r", "md-workbench --process-reports +"),
    ("mib --call_l", "mib --call_limit=+"),
    ("ior --posix.odi", "ior --posix.odirect +"),
    ("ior -o somef", "ior -o somefile +"),
    ("weir-compare --worse", "weir-compare --worse-than=+"),
    ("weir-compare history --ga", "weir-compare history --gate=+"),
    ("weir-compare somef", "weir-compare somefile +"),
    ("weir-compare hi", "weir-compare history +"),
    ("weir-compare ru", "weir-compare run +"),
    ("weir-compare se", "weir-compare search +"),
    ("weir-compare search --dr", "weir-compare search --dry-run +"),
    ("weir-compare res", "weir-compare result.json +"),
    ("ior --until=st", "ior --until=steady +"),
    ("srun -N2 ior --repo", "srun -N2 ior --report=+"),
    ("srun -N 2 -n 4 ior --rep", "srun -N 2 -n 4 ior --rep+"),
    ("weir-plot --h", "weir-plot --help +"),
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
    (tmp_path / "result.json").write_text("{}")
    programs = tmp_path / "programs"
    programs.mkdir()
    for name, text in (("mpirun", "echo ' -n|--np N  tasks\n -w|--weir-option  nothing'"), ("only-here", "")):
        (programs / name).write_text("#!/bin/sh\n%s\n" % text)
        (programs / name).chmod(0o755)
    path = (programs, conftest.IOR.parent, os.environ["PATH"])
    env = dict(conftest.program_env(), PATH=":".join(map(str, path)), TERM="dumb", HOME=str(tmp_path), COLUMNS="200")
    args, setup = START[shell]
    terminal = pexpect.spawn(shell, args, env=env, cwd=str(tmp_path), encoding="utf-8", timeout=60, dimensions=(50, 200), echo=False)
    try:
        terminal.sendline(setup + "; echo IS''SET")
        terminal.expect("ISSET")
        for typed, expected in CASES:
            # Ctrl-A puts a word before the line after the completion, so that nothing but echo runs.
            terminal.send(typed + "\t")
            terminal.send("+\x05@\x01echo A''NSWER \r")
            terminal.expect(r"ANSWER ([^\r\n]*?)@")
            assert terminal.match.group(1) == expected, (shell, typed)
    finally:
        terminal.close(force=True)


def test_a_launcher_keeps_the_completion_that_another_package_brought(tmp_path):
    """bash-completion loads that one at the first Tab: not there yet is not free."""
    theirs = tmp_path / "bash-completion" / "completions"
    theirs.mkdir(parents=True)
    (theirs / "mpirun").write_text("complete -W theirs mpirun\n")
    loader = pathlib.Path("/usr/share/bash-completion/bash_completion")
    if not loader.exists():
        pytest.skip("no %s (Debian: bash-completion)" % loader)
    script = ". %s; . %s/weir.bash; complete -p mpirun mpiexec ior" % (loader, FOLDER)
    env = dict(os.environ, XDG_DATA_DIRS="%s:/usr/share" % tmp_path, HOME=str(tmp_path))
    said = subprocess.run(["bash", "--norc", "--noprofile", "-c", script], env=env, capture_output=True, text=True, timeout=60)
    assert said.stdout.split("\n")[:3] == ["complete -W 'theirs' mpirun", "complete -F _weir mpiexec", "complete -F _weir ior"], said


@pytest.mark.skipif(not (conftest.BUILD / "Makefile").exists() or not shutil.which("make"), reason="needs the build and make")
def test_no_file_is_installed_for_what_is_not_ours(tmp_path):
    parts = ["install-exec-local", "install-binSCRIPTS", "install-data-local"]
    done = subprocess.run(["make", "-s", *parts, "prefix=/opt/w", "DESTDIR=%s" % tmp_path],
                          cwd=conftest.BUILD, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    share, programs = tmp_path / "opt/w/share", {p.name for p in (tmp_path / "opt/w/bin").iterdir()}
    assert {p.name for p in (share / "bash-completion/completions").iterdir()} == programs
    assert {p.stem if p.suffix == ".fish" else p for p in (share / "fish/vendor_completions.d").iterdir()} == programs
