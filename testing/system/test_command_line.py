# SPDX-License-Identifier: BSD-3-Clause
"""Command lines of people: values, numbers and flags, fractions of seconds, words of the launcher, what is not there."""
import json
import os
import re

import pytest

import conftest
from conftest import TELL
from mdtest_support import mdtest  # noqa: F401  (a fixture)
from mdw_support import mdw  # noqa: F401  (a fixture)


def test_times_may_be_fractions_of_seconds(ior, mdtest, mdw):  # noqa: F811
    """The values that the results name; a run without a phase longer than the deadline is not cut."""
    run = ior("-a DUMMY -b 8k -t 8k -v -d 0.01 -D 30.5 -T 0.5 -j 9.5 -O interIODelay=0.5,minTimeDuration=0.001 --report=text:-,json:r.json", np=None).ok()
    test = json.loads((ior.cwd / "r.json").read_text())["tests"][0]
    assert "delaying 0.01 seconds" in run.stdout
    expected = {"inter-test-delay": 0.01, "deadline": 30.5, "max-time-duration": 0.5, "outlier-threshold": 9.5, "interIODelay": 0.5, "minTimeDuration": 0.001}
    assert {name: test["optionValues"][name] for name in expected} == expected
    jsonschema = pytest.importorskip("jsonschema", reason="needs python3-jsonschema to check the documents")
    schema = json.loads((conftest.BUILD / "doc" / "result.schema.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(json.loads((ior.cwd / "r.json").read_text()))
    for word in ("nan", "inf", "0,5", "0x10", "1e-400"):
        ior("-a DUMMY -b 8k -t 8k -w -D " + word, np=None).fails(1, "'%s' is " % word, "too close to 0" if word == "1e-400" else "a number like 10, 0.5 or 1e-3")
    assert test["Parameters"]["deadlineForStonewall"] == test["Options"]["stonewallingTime"] == 30.5
    assert type(json.loads(ior("-a DUMMY -b 8k -t 8k -D 30 --report=json:-", np=None).ok().stdout)["tests"][0]["optionValues"]["deadline"]) is int
    assert "pre_delay               : 0.01" in mdtest("-n 1 -a DUMMY -v -p 0.01 -W 30.5", np=None).ok().stdout
    mdw("-I 1 -P 1 -D 1 -R 1 -a DUMMY --delay 0.01 -w 30.5", np=None).ok()
    assert "stonewallingTime    : 1e-05\n" in ior("-a DUMMY -b 8k -t 8k -w -D 1e-5", np=None).ok().stdout
    ior("-d 0.5x", np=None).fails(1, "'0.5x' is not a number like 10, 0.5 or 1e-3")


def test_a_file_without_start_has_options_of_the_test(ior):
    (ior.cwd / "s").write_text("api=DUMMY, blockSize=16k\n# comment\ntransferSize=8k\n")
    run = ior("-w -s 3 -b 1m -f s --report=text:-,json:r.json", np=None).ok()
    tests = json.loads((ior.cwd / "r.json").read_text())["tests"]
    assert [(t["optionValues"]["block-size"], t["optionValues"]["segments"], t["optionValues"]["api"]) for t in tests] == [(16384, 3, "DUMMY")]
    assert any('no line "IOR START"' in note for note in run.notes)
    (ior.cwd / "s").write_text("# xsize=1\nblockSize=16k\nIOR START\napi=DUMMY\nRUN\nIOR STOP\n")
    run = ior("-w -f s", np=None).ok()
    assert run.notes == ["s:2: lines before IOR START are ignored; options belong after it"], run
    (ior.cwd / "s").write_text("IOR START\napi=DUMMY\nRUN\nIOR STOP\n# a=1\nblockSize=64k\nRUN\n")
    assert ior("-w -f s", np=None).ok().notes == ["s:6: lines after IOR STOP are ignored; options belong before it"]


@pytest.mark.parametrize("program, word", [("ior", "-np"), ("ior", "-n"), ("mdtest", "-np"), ("md-workbench", "-np"), ("mib", "-np"), ("raw_bw.x", "--np")])
def test_the_number_of_tasks_is_the_launchers(program, word):
    run = conftest.subprocess.run([str(conftest.IOR.parent / program), word, "4"], capture_output=True, text=True, env=conftest.program_env())
    assert run.returncode == 1 and run.stdout == ""
    assert run.stderr == "ERROR: '%s 4' is an option of the launcher: start it with mpirun -np 4 %s ...\n" % (word, program)


@pytest.mark.parametrize("args", ["-a NOPE --nope.x=1", "--nope.x=1 -aNOPE", "--nope.x --api=NOPE", "-O api=NOPE,nope.x=1", "-f s"])
def test_a_missing_backend_is_named_before_its_options(ior, args):
    (ior.cwd / "s").write_text("IOR START\napi=NOPE\nnope.x=1\nRUN\nIOR STOP\n")
    ior(args, np=None).fails(1, "'NOPE' is not a backend of this build; there are POSIX")
    ior("-a POSIX --nope.x=1", np=None).fails(1, "unknown option '--nope.x'")


# ---- letters and flags ----

def test_attached_values_are_not_read_as_flags(ior):
    """A value that follows its letter at once is a value and switches on nothing else."""
    run = ior("-w -r -b4k -t1k -i2 -oakmwFu" + TELL, np=None).ok()
    values = run.document()["tests"][0]["optionValues"]
    assert (values["keep-file"], values["multi-file"], values["file-per-proc"], values["api"]) == (0, 0, 0, "POSIX")
    assert values["test-file"] == "akmwFu" and values["block-size"] == 4096
    assert ior.files() == ["r.json"]
    ior("-w -k -b8m -t8m -ofile", np=None).ok()
    assert ior.files() == ["file", "r.json"]


def test_an_unknown_letter_is_the_only_thing_complained_about(ior):
    """The error names the unknown option and nothing that follows it, once for all ranks."""
    run = ior("-wL -b 4k -t 4k", np=2).fails(1, "'L'", "-wL")
    assert run.messages == ["ERROR: " + run.errors[0]]
    run = ior("--nonsense -b 4k -t 1k", np=None).fails(1, "nonsense")
    assert "4k" not in run.errors[0] and len(run.messages) == 1
    ior("-w=", np=None).fails(1, "-w")


def test_a_flag_given_twice_is_still_on(ior, preload):
    """Each rank syncs each of its four writes (-Y) and the file once more (-e); with -F the size of the files is known."""
    log = ior.cwd.parent / "log"
    log.touch()
    run = ior("-w -w -F -F -Y -Y -e -e -k -b 16k -t 4k", np=2,
              prefix=["env", "LD_PRELOAD=" + preload("log-syncs.c"), "SYNC_LOG=%s" % log, "SYNC_NAME=testFile"]).ok()
    assert run.accesses() == ["write"] and run.warnings == [] and len(log.read_text().split()) == 2 * (4 + 1), run
    assert ior.files() == ["testFile.00000000", "testFile.00000001"]


# ---- numbers ----

@pytest.mark.parametrize("words", ["-b 1.5m", "-b 0x10", "-b 16x", "-i abc", "-G=", "-O blockSize=1.5m", "-O repetitions=0x2", "-O refNum=true"])
def test_a_number_with_something_behind_it_is_refused(ior, words):
    """What is not wholly a number is an error."""
    ior(words + " -a DUMMY -w", np=None).fails(1, re.split("[ =]", words)[-1])


def test_suffixes_work_for_every_number_everywhere(ior):
    """Keys take the same numbers as the command line."""
    run = ior("-a DUMMY -w -C -O taskPerNodeOffset=2k,refNum=1k,segmentCount=1k -b 8 -t 8" + TELL, np=None).ok()
    got = run.document()["tests"][0]["Parameters"]
    assert (run.options["task offset"], got["refnum"], got["segmentCount"]) == ("2048", 1024, 1024)


def test_memory_is_a_size_or_a_share(ior):
    """-M 64m is 64 MiB of the node, and only a value with a percent sign is a share of it."""
    assert ior("-a DUMMY -w -M 64m -b 8k -t 8k", np=None).ok().options["memoryPerNode"] == "64 MiB"
    share = ior("-a DUMMY -w -M 1% -b 8k -t 8k" + TELL, np=None).ok().document()["tests"][0]["Parameters"]["memoryPerNode"]
    whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert abs(share - whole / 100) < whole / 1000
    ior("-a DUMMY -w -M 101% -b 8k -t 8k", np=None).fails(1, "101%")


def test_a_number_that_was_a_share_is_bytes_with_a_note(ior):
    for given, noted in (("50", True), ("0", False), ("101", False), ("50m", False), ("50%", False)):
        run = ior("--dry-run -a DUMMY -w -M %s -b 8k -t 8k" % given, np=None).ok()
        assert any("write -M 50% for a part" in n for n in run.notes) == noted, run


@pytest.mark.parametrize("count", ["0", "-1", "-3", "-2147483648"])
def test_too_few_repetitions_are_one(ior, count):
    """Less than one repetition means one, with one message, and overruns nothing."""
    run = ior("-w -r -i %s -b 8k -t 8k" % count, np=None).ok()
    assert run.accesses() == ["write", "read"] and len(run.messages) == 1 and ior.files() == []


def test_no_tasks_are_refused_with_the_number_that_means_all(ior):
    ior("-N 0", np=None).fails(1, "-1 takes all")


def test_keys_and_values_of_any_length_are_refused_or_taken(ior):
    """The error shows a part of the key; the value is whole."""
    run = ior(["-O", "x" * 100000 + "=1"], np=None).fails(1, "xxxx")
    assert len(run.errors[0]) < 1000
    run = ior(["-w", "-a", "DUMMY", "-O", "debug=%s" % ("y" * 100000)], np=None).ok()
    assert "y" * 100000 in run.stdout
