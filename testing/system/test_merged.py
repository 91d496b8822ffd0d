# SPDX-License-Identifier: BSD-3-Clause
"""A batch system writes standard output and standard error into one file. Where a result is on standard output, that file is the
result: what there is to say is in it, and not on standard error as well."""
import csv
import io
import json
import subprocess

import pytest

import conftest

SMALL = "--nx 8 --n_levs 2 --n_tries 1 --n_writers 1"
CHECKPOINT = "--nx 1 --ny 1 --im_world 12 --lm 2 --write_binary -i 1 -o c --dummy.fail-at=3"
READ = CHECKPOINT.replace("write_binary", "read_binary")

# A small run of each program, on this number of tasks. One that has a note of its own comes with words of it.
PROGRAMS = {
    "ior": (2, "-w -r -u -b 64k -t 16k", "-u has no effect"),
    "mdtest": (2, "-n 2 -w 4 -d d", "Read bytes is 0"),
    "md-workbench": (1, "-I 2 -P 4 -D 1 -R 1 --dummy.fail-at=3", "no test uses the backend DUMMY"),
    "mib": (1, "-t . -n -l 4 -s 64k --dummy.fail-at=3", "no test uses the backend DUMMY"),
    "h5exerciser": (1, "--numdims 1 --minels 64 -i 1 --dummy.fail-at=3", "no test uses the backend DUMMY"),
    "hdf5Exerciser": (1, "--numdims 1 --minels 64 -i 1 --dummy.fail-at=3", "no test uses the backend DUMMY"),
    "checkpoint_simulator.x": (6, CHECKPOINT, "no test uses the backend DUMMY"),
    "restart_simulator.x": (6, READ, "no test uses the backend DUMMY"),
    "raw_bw.x": (1, SMALL, ""),
    "gatherv.x": (1, SMALL, ""),
    "combo.x": (1, SMALL, ""),
}
NOTES = " --interval=0"  # which every program has
SAID = "option --interval: 0 shows no intervals"


def merged(ior, program, args, np, status=0):
    """Both streams in one file, as batch systems write it."""
    ior.program = conftest.BUILD / "src" / program
    done = subprocess.run(ior.command(args, np)[1], cwd=ior.cwd, env=conftest.program_env(), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
    assert done.returncode == status, done.stdout
    return "".join(line for line in done.stdout.splitlines(True) if not conftest.LAUNCHER_NOISE.match(line))


def remarks_of(data):
    return [text for place in [data] + data["tests"] for kind in ("warnings", "notes") for text in place[kind]]


def rows_of(text):
    rows = list(csv.DictReader(io.StringIO(text)))
    assert rows and all(None not in row and None not in row.values() for row in rows), text
    return rows


@pytest.mark.parametrize("program", PROGRAMS)
def test_both_streams_of_a_run_with_remarks_are_its_result(ior, program):
    np, args, own = PROGRAMS[program]
    if not (conftest.BUILD / "src" / program).exists():
        pytest.skip("this build has no %s" % program)
    if program.startswith("restart"):
        merged(ior, "checkpoint_simulator.x", CHECKPOINT, np)
    told = remarks_of(json.loads(merged(ior, program, args + NOTES + " --report=json:-", np)))
    assert len([text for text in told if SAID in text]) == 1 and any(own in text for text in told), told
    if program.startswith("checkpoint"):
        for path in ior.cwd.glob("c*"):
            path.unlink()
    rows = rows_of(merged(ior, program, args + NOTES + " --report=csv:-", np))
    assert list(rows[0])[-3:] == ["verdict", "findings", "remarks"]
    cells = "; ".join(row["remarks"] for row in rows)
    assert cells.count("NOTE: " + SAID) == 1 and own in cells, rows


def test_where_text_is_on_standard_output_they_are_on_standard_error(ior):
    run = ior("-w -u -b 64k -t 16k -q" + NOTES + " --report=text:-,json:r.json,csv:c.csv").ok()
    assert len(run.notes) == 3 and len(run.findings) == 1 and any(SAID in note for note in run.notes), run
    assert sorted(run.notes) == sorted(remarks_of(json.loads((ior.cwd / "r.json").read_text())))
    row, = rows_of((ior.cwd / "c.csv").read_text())
    assert row["remarks"] == "; ".join("NOTE: " + note for note in run.notes)


def test_a_result_on_standard_output_is_all_that_a_good_run_writes(ior):
    for form in ("JSON", "CSV"):
        run = ior("-w -r -u -k -b 64k -t 16k -O summaryFormat=" + form).ok()
        assert run.messages == run.findings == [] and "-u has no effect" in run.stdout, run


def test_csv_with_the_old_columns_alone_has_no_place_for_them(ior):
    run = ior("-w -u -b 64k -t 16k --rules=none -O summaryFormat=CSV").ok()
    assert len(run.notes) == 1 and "remarks" not in run.stdout and len(run.stdout.split("\n")[1].split(",")) == 12, run


def test_what_is_said_after_the_last_row_is_in_it(ior):
    """What is said before it is not: rows are measured in the same second, and say what they are."""
    rows = rows_of(merged(ior, "ior", "-a DUMMY -w -q -i 9 --until=0.001 --until-max=9 -b 16k -t 16k --report=csv:-", 1))
    assert len(rows) == 9 and "--until" in rows[-1]["remarks"] and "IOR 3.x" in rows[0]["remarks"], rows
    assert all(row["remarks"] == "" for row in rows[1:-1]), rows


def test_a_file_whose_name_has_a_line_break_is_named_within_one_row(ior):
    (ior.cwd / "a\nb").write_text("x")
    ior.program = conftest.IOR
    text = ior(["-w", "-b", "16k", "-t", "16k", "-o", "a\nb", "--report=csv:-"], np=None).ok().stdout
    assert text.count("\n") == 2 and '""a b"" exists already' in text, text


@pytest.mark.parametrize("where", ["--report=json:-", "--report=csv:-"])
def test_a_run_that_fails_says_why_on_standard_error_in_a_line_of_its_own(ior, where):
    """Without a launcher, which reads one stream before the other."""
    text = merged(ior, "ior", "-a DUMMY -w -r -u -b 64k -t 16k --dummy.fail-at=6 " + where, None, status=3)
    errors = [line for line in text.split("\n") if line.startswith("ERROR: ")]
    assert len(errors) == 1 and text.count("-u has no effect") == 1, text


def test_a_command_that_is_refused_has_its_remarks_before_the_error(ior):
    run = ior("-q -w -b 1m -t 3m --report=json:-", np=None).fails(1)
    assert len(run.notes) == 1 and run.messages[-1].startswith("ERROR: ") and run.messages[0].startswith("NOTE: "), run


def test_what_commands_around_phases_print_is_not_in_the_document(ior):
    """Of any rank."""
    ior.program = conftest.BUILD / "src" / "mdtest"
    args = "-n 1 -F -C -d d --run-cmd-before-phase='echo said' --report="
    run = ior(args + "json:-", np=2).ok()
    assert run.stderr.count("said\n") == 2 and json.loads(run.stdout)["status"] == 0, run
    assert ior(args + "text:-", np=2).ok().stdout.count("\nsaid\n") >= 1
