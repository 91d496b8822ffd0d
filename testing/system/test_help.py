# SPDX-License-Identifier: BSD-3-Clause
"""Help for people at a terminal: one screen first, then topics, backends and single options; every example can be typed."""
import json
import re
import shlex
import subprocess

import pytest

import conftest

TOPICS = ["files", "order", "data", "time", "output", "trust"]
PROGRAMS = [p.name for p in sorted(conftest.IOR.parent.iterdir())
            if p.name in ("ior", "mdtest", "md-workbench", "mib", "h5exerciser", "checkpoint_simulator.x", "restart_simulator.x", "raw_bw.x", "gatherv.x", "combo.x", "model_checkpoint")]


def answer(program, *args):
    run = subprocess.run([str(conftest.IOR.parent / program), *args], capture_output=True, text=True, env=conftest.program_env(), timeout=60)
    assert run.returncode == 0 and run.stderr == "", (program, args, run)
    return run.stdout


def commands(text, program):
    """The command lines of a page without the launcher."""
    lines = [line.strip() for line in text.replace(" \\\n", "").splitlines() if line.startswith("  mpirun ")]
    assert all(re.match(r"mpirun -np \d+ %s " % re.escape(program), line + " ") for line in lines), lines
    return [shlex.split(line)[4:] for line in lines]


def is_narrow(text):
    assert all(len(line) <= 80 for line in text.splitlines()), [line for line in text.splitlines() if len(line) > 80]


def is_accepted(program, args):
    """--version is answered only after the whole line was read without error."""
    answer(program, *args, "--version")


@pytest.mark.parametrize("program", PROGRAMS)
def test_help_is_one_screen_then_topics(program):
    first = answer(program, "--help")
    is_narrow(first)
    assert first.count("\n") <= 40 and len(commands(first, program)) == 5
    rows = json.loads(answer(program, "--dump-options=json"))
    pages = {topic: answer(program, "--help=" + topic) for topic in TOPICS}
    for topic, page in pages.items():
        is_narrow(page)
        assert len(commands(page, program)) >= 1
        for row in rows:
            if row["topic"] == topic and row["table"] is None and row["name"]:
                assert "--" + row["name"] in page or row["name"] == "dump-options"
    for page in [first, *pages.values()]:
        for args in commands(page, program):
            is_accepted(program, args)
    is_narrow(answer(program, "--help=all"))
    own = [row["name"] or row["keys"][0] for row in rows
           if row["table"] is None and row["topic"] is None and row["type"] not in ("old", "gone") and (row["name"] or row["keys"])]
    hidden = answer(program, "--help=all")
    assert [name for name in own if name in hidden and name != "version"] == [], "every option stands in a topic"


WHOLE = ["h5exerciser", "checkpoint_simulator.x", "restart_simulator.x", "raw_bw.x", "gatherv.x", "combo.x", "model_checkpoint"]


def test_programs_that_have_no_deadline_say_so():
    for program in PROGRAMS:
        whole = program in WHOLE
        assert ("Only 0: a repetition is done as a whole" in answer(program, "--help=time")) == whole
        assert not (whole and "--deadline" in answer(program, "--help"))


def test_help_of_every_option_has_an_example_that_can_be_typed():
    """One process for each row: about 170."""
    rows = json.loads(answer("ior", "--dump-options=json"))
    for row in rows:
        name = row["name"] or (row["keys"] or ["-" + (row["letter"] or "")])[0]
        page = answer("ior", "--help=" + name)
        is_narrow(page)
        for args in commands(page, "ior"):
            if name not in ("help", "version", "dump-options", "script") and row["type"] != "old":
                is_accepted("ior", args)
    assert "-C, --reorder-tasks" in answer("ior", "--help=-C") and "--posix.odirect" in answer("ior", "--help=posix")


def test_the_example_of_until_has_repetitions_enough_in_every_program(tmp_path):
    """--version does not show it: what is refused here depends on the repetitions that a program has by itself."""
    small = {"ior": "-b 4k -t 4k -o f", "mdtest": "-n 2 -d d", "md-workbench": "-P 4 -I 2 -D 1 -o d", "mib": "-l 2 -s 4k -F -t .",
             "model_checkpoint": "--scale=1/16384 --optimizer=none -o d"}
    seen = 0
    for program in PROGRAMS:
        page = answer(program, "--dump-options=man").replace("\\-", "-").replace("\\e", "\\")
        for args in (a for a in commands(page, program) if any(word.startswith("--until") for word in a)):
            run = subprocess.run([str(conftest.IOR.parent / program), *args, *small.get(program, "").split(), "--until-time=0.1"], cwd=tmp_path,
                                 capture_output=True, text=True, env=conftest.program_env(), timeout=60)
            assert "ERROR: option --until" not in run.stderr, (program, args, run.stderr)
            seen += 1
    assert seen >= len(PROGRAMS)


def test_unknown_help_says_what_there_is(ior):
    ior("--help=nonsense", np=None).fails(1, "there is no help for 'nonsense'; topics are all, files, order, data, time, output, trust, POSIX")


def test_the_manual_page_has_the_topics_and_the_examples_of_the_help():
    for program in PROGRAMS:
        page = answer(program, "--dump-options=man")
        assert page.count(".SS Files and directories") == page.count(".SS What the numbers are worth") == 1
        plain = page.split(".SH EXAMPLES\n")[1].replace("\\-", "-").replace("\\e", "\\").splitlines()
        first = [line for line in answer(program, "--help").splitlines() if line.startswith("  mpirun ")]
        assert len(first) == 5 and set(first) <= set(plain), program
    made = (conftest.BUILD / "doc" / "man" / "mdtest.1").read_text()
    assert made.count(".SH EXAMPLES\n.nf\n  # ") == 1 and "@" not in made.split(".SH EXAMPLES")[1]
