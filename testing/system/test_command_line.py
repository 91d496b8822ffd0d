# SPDX-License-Identifier: BSD-3-Clause
"""Command lines of people: fractions of seconds, files of options, words of the launcher, backends that are not there."""
import json

import pytest

import conftest
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
