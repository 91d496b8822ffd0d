# SPDX-License-Identifier: BSD-3-Clause
"""Help for people at a terminal: one screen first, then topics, backends and single options; every example can be typed."""
import json
import os
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
    assert first.count("\n") <= 40 and "--posix.odirect " in first and "--drop-cache" in first or program == "gatherv.x"
    assert len(commands(first, program)) == 5
    rows = json.loads(answer(program, "--dump-options=json"))
    pages = {topic: answer(program, "--help=" + topic) for topic in TOPICS}
    absent = answer(program, "--help=all").partition("\nNot in this build: ")[2]
    for topic, page in pages.items():
        is_narrow(page)
        assert len(commands(page, program)) >= 1
        for row in rows:
            if row["topic"] == topic and row["table"] is None and row["name"]:
                assert "--" + row["name"] in page or row["name"] in absent or row["name"] == "dump-options"
    for page in [first, *pages.values()]:
        for args in commands(page, program):
            is_accepted(program, args)
    is_narrow(answer(program, "--help=all"))
    own = [row["name"] or row["keys"][0] for row in rows
           if row["table"] is None and row["topic"] is None and row["type"] not in ("old", "gone") and (row["name"] or row["keys"])]
    hidden = answer(program, "--help=all")
    assert [name for name in own if name in hidden and name != "version"] == [], "every option stands in a topic"


def test_an_old_flag_has_no_value():
    """-B and -P were flags; -J had a size."""
    shown = [next(line for line in answer("ior", "--help=" + word).splitlines() if line.startswith(word)) for word in ("-B", "-P", "-J")]
    assert shown == ["-B, key useO_DIRECT", "-P, key useSharedFilePointer", "-J=SIZE, key setAlignment"], shown


WHOLE = ["h5exerciser", "checkpoint_simulator.x", "restart_simulator.x", "raw_bw.x", "gatherv.x", "combo.x", "model_checkpoint"]


def test_programs_that_have_no_deadline_say_so():
    for program in PROGRAMS:
        whole = program in WHOLE
        assert ("Only 0: a repetition is done as a whole" in answer(program, "--help=time")) == whole
        assert not (whole and "--deadline" in answer(program, "--help"))


EXAMPLES = re.compile(r'\.example = "([^"]*)"')


def row_examples(*files):
    return [words for name in files for words in EXAMPLES.findall((conftest.SOURCE / "src" / name).read_text())]


@pytest.mark.parametrize("program", ["ior", "mdtest"])
def test_every_example_of_the_help_works(program, tmp_path):
    """With --dry-run and without launcher: no data are written. An option has an example that was written for it, or none."""
    own = row_examples("engine/options.c") + row_examples("programs/ior/ior-options.c") * (program == "ior")
    man = answer(program, "--dump-options=man").split(".SH EXAMPLES\n")[1].replace("\\-", "-").replace("\\e", "\\")
    first = commands(answer(program, "--help"), program)[0]
    for args in commands(man, program) + [first + words.split() for words in own]:
        line = [word.replace("/scratch", str(tmp_path)) for word in args]
        run = subprocess.run([str(conftest.IOR.parent / program), *line, "--dry-run"], cwd=tmp_path, capture_output=True, text=True,
                             env=conftest.program_env(), timeout=60)
        assert run.returncode == 0 or "are free" in run.stderr, (program, args, run.stderr)
    assert len(own) > 5 and not (tmp_path / "f").exists() and not (tmp_path / "d").exists()


def test_help_of_an_option_has_its_example_or_none():
    page = answer("ior", "--help=mix")
    assert commands(page, "ior") == [shlex.split("-o /scratch/f -b 1g -t 1m -e -C -F -z --mix=read:70,write:30")]
    for name in ("-t", "s3.bucket", "posix.lustre.pool", "posix"):
        assert commands(answer("ior", "--help=" + name), "ior") == []
    assert "-C, --reorder-tasks" in answer("ior", "--help=-C") and "--posix.odirect" in answer("ior", "--help=posix")


def test_what_is_not_in_the_build_is_said_in_one_line():
    page = answer("ior", "--help=all")
    assert "--posix.lustre.pool" not in page and "--gpu-id=" in page
    line = page.replace("\n  ", " ").split("\nNot in this build: ")[1]
    assert line.startswith("posix.lustre.*, posix.gpfs.*, posix.beegfs.*")
    assert "posix.lustre" not in answer("ior", "--complete", "ior", "--posix.lus", "ior")
    assert "Not in this build." in answer("ior", "--help=posix.lustre.pool").replace("\n    ", " ")
    assert "reset-layout" not in answer("mdtest", "--help=files")


def test_a_word_is_searched_in_names_and_texts():
    for word, found in (("odirect", "--posix.odirect"), ("direct", "--posix.odirect"), ("cache", "--drop-cache"), ("verify", "fio --verify: ior -R"),
                        ("threads", "--posix.threads"), ("--threads", "elbencho --threads: mpirun -np N"), ("fio", "fio --bs: ior -t SIZE"),
                        ("md-workbench", "md-workbench -i: md-workbench -a NAME")):
        page = answer("ior", "--help=" + word)
        is_narrow(page)
        assert found in page, (word, page)


FOREIGN = re.compile(r'^ +\{ "([^"]+)", "([^"]+)",\s+"([^"]+)",\s+"([^"]+)" \},', re.MULTILINE)


def test_options_of_other_benchmarks_are_in_one_table(ior):
    """Messages and the guide have the same; a row of the guide may have two names."""
    rows = FOREIGN.findall((conftest.SOURCE / "src/base/options/foreign.c").read_text())
    guide = (conftest.SOURCE / "doc/guide/coming-from.md").read_text()
    for benchmark in ("md-workbench", "elbencho", "fio"):
        section = guide.split("\n## From %s\n" % benchmark)[1].split("\n## ")[0].split("\nSome whole command lines")[0]
        table = re.findall(r"^\| `(-\S+)`(?:, `(-\S+)`)? \| `(.*)` \| (.*) \|$", section, re.MULTILINE)
        expanded = [(name, weir, what) for *names, weir, what in table for name in names if name]
        assert sorted(expanded) == sorted(row[1:] for row in rows if row[0] == benchmark and row[1].startswith("-"))
    for args, message in (("--bs=4k", "unknown option '--bs' (of fio): use ior -t SIZE (bytes of one I/O call)"),
                          ("--direct", "unknown option '--direct' (of elbencho and fio): use --posix.odirect (no page cache"),
                          ("-O direct=1", "unknown option 'direct' (of elbencho and fio): use --posix.odirect (no page cache"),
                          ("--rand", "unknown option '--rand' (of elbencho): use ior -z"),
                          ("-i=posix", "'posix' is not a whole number with an optional suffix k, m, g, t or p; a backend is chosen with --api=POSIX"),
                          ("f.h5", "'f.h5' is not an option; options start with '-', and a name of a file or directory follows --test-file"),
                          ("--until=stedy", "nor steady (did you mean 'steady'?)"), ("--limit=H1:1", "(did you mean 'H01'?)"),
                          ("--limit=h20:1,x02:3", "'x02:3' names no rule (--help=trust lists them) (did you mean 'H02'?)")):
        ior(args, np=None).fails(1, message)
    assert ior("-- -D d", np=None).stderr == "ERROR: unknown option '--'\n"
    for program, args, message in (("mib", ["--direct=1"], "unknown option '--direct' (of elbencho and fio): use --posix.odirect (no page"),
                                   ("h5exerciser", ["--rate_iops=3"], "use ior --rate=Nops"), ("mdtest", ["--files=3"], "unknown option '--files' (of elbencho): use mdtest -n N"),
                                   ("mib", ["-i=posix"], "unknown option '-i=posix'\n"), ("md-workbench", ["--", "-D", "d"], "unknown option '--' (of md-workbench): use md-workbench -o DIR"),
                                   ("md-workbench", ["-i=posix"], "unknown option '-i=posix' (of md-workbench): use md-workbench -a NAME"),
                                   ("mib", ["dir"], "follows --test_dir"), ("h5exerciser", ["f.h5"], "follows --out"), ("mdtest", ["dir"], "follows --directory"),
                                   ("model_checkpoint", ["dir"], "follows --path")):
        run = subprocess.run([str(conftest.IOR.parent / program), *args], capture_output=True, text=True, env=conftest.program_env(), timeout=60)
        assert run.returncode == 1 and message in run.stderr, (program, run)


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


@pytest.mark.parametrize("command", ["ior --help=all", "mdtest --dump-options=json", "weir-io500 --list", "model_checkpoint --list --scale=1/1000",
                                     "ior --dry-run -o f", "ior --dry-run --report=json:- -o f", "mdtest --dry-run -n 1 -d d",
                                     "weir-io500 c.ini --dry-run"])
def test_help_lists_and_dry_runs_end_quietly_on_a_closed_pipe(command, tmp_path):
    (tmp_path / "c.ini").write_text("[global]\ndatadir = d\n")
    reader, writer = os.pipe()
    os.close(reader)
    program, *args = command.split()
    run = subprocess.run([str(conftest.IOR.parent / program), *args], stdout=writer, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
                         env=conftest.program_env(), timeout=60)
    os.close(writer)
    assert run.returncode == 0 and ("--dry-run" in args or run.stderr == "") and "ERROR" not in run.stderr, run


def test_unknown_help_says_what_there_is(ior):
    ior("--help=nonsense", np=None).fails(1, "there is no help for 'nonsense'; topics are all, files, order, data, time, output, trust, a backend (POSIX")


def test_the_help_has_each_rule_with_its_remedy(ior):
    ids = re.findall(r"^  (H\d\d)  ", ior("--help=trust", np=None).ok().stdout, re.M)
    assert len(ids) >= 44
    for rule in ids:
        page = ior("--help=" + rule.lower(), np=None).ok().stdout
        assert " ".join(page.split()).count("; remedy: ") == 1 and re.findall(r"^  (H\d\d)  ", page, re.M) == [rule], page
    ior("--help=H99", np=None).fails(1, "there is no help for 'H99'")


def test_the_manual_page_has_the_topics_and_the_examples_of_the_help():
    for program in PROGRAMS:
        page = answer(program, "--dump-options=man")
        assert page.count(".SS Files and directories") == page.count(".SS What the numbers are worth") == 1
        plain = page.split(".SH EXAMPLES\n")[1].replace("\\-", "-").replace("\\e", "\\").splitlines()
        first = [line for line in answer(program, "--help").splitlines() if line.startswith("  mpirun ")]
        assert len(first) == 5 and set(first) <= set(plain), program
    assert (conftest.BUILD / "doc" / "man" / "ior.1").read_text().count("without \\-w, \\-r, \\-W, \\-R, \\-\\-mix: both") == 1
    for page in (conftest.SOURCE / "doc" / "man").glob("*.1.in"):
        assert not re.search("unless one of|all are on", page.read_text()), "what runs by default is said by the rows of the options"
    made = (conftest.BUILD / "doc" / "man" / "mdtest.1").read_text()
    assert made.count(".SH EXAMPLES\n.nf\n  # ") == 1 and "@" not in made.split(".SH EXAMPLES")[1]
