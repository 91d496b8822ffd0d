# SPDX-License-Identifier: BSD-3-Clause
"""What is said on standard error stands in the JSON document too: about a test in the test, else in the run."""
import json

import pytest

import conftest
from mdtest_support import mdtest  # noqa: F401  (a fixture)


def document(run, name="r.json"):
    return json.loads((run.cwd / name).read_text())


def texts(run, data):
    """Every message of the document, and that it is what people read."""
    tests = data.get("tests", [])
    for key, said in (("warnings", run.warnings), ("notes", run.notes)):
        found = data[key] + [text for test in tests for text in test[key]]
        assert sorted(text.replace("\n", " ") for text in found) == sorted(said), run
    return data


JSON = " --report=json:r.json"


def test_a_run_with_nothing_to_say_has_empty_lists(ior):
    run = ior("-w -r -b 8k -t 8k" + JSON).ok()
    data = texts(run, document(run))
    assert data["warnings"] == data["notes"] == data["tests"][0]["warnings"] == data["tests"][0]["notes"] == []


def test_what_is_said_of_the_command_line_belongs_to_the_run(ior):
    run = ior("-w -q -i 0 -a DUMMY" + JSON).ok()
    data = texts(run, document(run))
    assert len(data["notes"]) == 2 and "-q" in data["notes"][0] and "repetitions" in data["notes"][1]


def test_each_test_of_a_script_has_its_own(ior):
    (ior.cwd / "old").write_text("x")
    (ior.cwd / "s").write_text("IOR START\napi=POSIX\nwriteFile=1\nblockSize=8k\ntransferSize=8k\ntestFile=new\nRUN\n"
                               "testFile=old\nRUN\ntestFile=new,numTasks=9\nRUN\nIOR STOP\n")
    run = ior("-f s" + JSON, np=2).ok()
    data = texts(run, document(run))
    assert [len(t["warnings"]) for t in data["tests"]] == [0, 1, 1] and data["warnings"] == []
    assert "old" in data["tests"][1]["warnings"][0] and "(9)" in data["tests"][2]["warnings"][0]


def test_wrong_data_are_told_in_the_test(ior):
    run = ior("-a DUMMY -w -R -b 16k -t 8k --dummy.corrupt-at=2" + JSON).ok(4)
    test = texts(run, document(run))["tests"][0]
    assert "Incorrect data on read" in test["warnings"][0] and any("bit flip" in note for note in test["notes"])


def test_an_error_is_not_a_warning(ior):
    run = ior("-a DUMMY -w -b 16k -t 8k --dummy.fail-at=1" + JSON).ok(3)
    data = texts(run, document(run))
    assert data["error"] == run.errors[0] and data["error"] not in data["warnings"] + data["notes"]


def test_a_name_with_odd_bytes_is_one_text(ior):
    (ior.cwd / 'a"b\n\tc').write_text("x")
    run = ior(["-w", "-b", "8k", "-t", "8k", "-o", 'a"b\n\tc', "--report=json:r.json"]).ok()
    assert 'a"b\n\tc' in document(run)["tests"][0]["warnings"][0]


def test_text_has_none(ior):
    run = ior("-w -q -b 8k -t 8k -N 9 --report=text:-,json:r.json").ok()
    assert "IOR 3.x" not in run.stdout
    texts(run, document(run))


def test_mdtest_has_them_too(mdtest):  # noqa: F811
    run = mdtest("-n 2 -w 4 --report=json:r.json").ok()
    data = texts(run, document(run))
    assert any("Read bytes is 0" in text for text in data["warnings"] + data["tests"][0]["warnings"])


@pytest.mark.parametrize("args, words", [
    ("-w -r -Z -Q 99", ["-Q 99", "number of nodes, 1:", "0 nodes"]), ("-w -s 0", ["-s 0", "nothing"]), ("-w -u", ["-u", "-F"]),
    ("-w --posix.odirect", ["--posix.odirect", "POSIX", "no test"]), ("-w -B", ["--posix.odirect", "no test"])])
def test_options_that_do_nothing_are_noted(ior, args, words):
    run = ior("-a DUMMY -b 8k -t 8k " + args).ok()
    assert any(all(word in note for word in words) for note in run.notes), run


def test_options_that_act_are_not_noted(ior, need_backend):
    """An option of a base, of several backends at once, or of another test of the script acts."""
    (ior.cwd / "s").write_text("IOR START\napi=DUMMY\n--posix.odirect=0\nwriteFile=1\nRUN\napi=POSIX\nRUN\nIOR STOP\n")
    lines = ["-w -b 8k -t 8k --posix.odirect=0", "-f s"]
    if "AIO" in conftest.backends():
        lines.append("-a AIO -w -b 8k -t 8k --posix.odirect=0")
    if "MPIIO" in conftest.backends():
        lines.append("-a MPIIO -w -b 8k -t 8k -H")
    for line in lines:
        assert not [n for n in ior(line).ok().notes if "no effect" in n]


def test_an_empty_data_packet_type_is_refused(ior):
    ior(["-w", "-l", ""]).fails(1, "-l", "timestamp")


TWO_TESTS = "IOR START\napi=DUMMY\nblockSize=64k\ntransferSize=8k\nwriteFile=1\nRUN\ndummy.fail-at=2\nRUN\nIOR STOP\n"


@pytest.mark.parametrize("args, status, words", [
    ("-a DUMMY -w -r -R -b 64k -t 8k --dummy.corrupt-at=2", 4, "wrong data in 1 place"), ("-f script", 3, "Input/output error"),
    ("-a DUMMY -w -b 64k -t 8k --strict --rules=io500", 5, "INVALID")])
def test_the_error_of_a_failed_run_is_its_last_line(ior, args, status, words):
    """After the lines of findings, those of tests before it, too."""
    (ior.cwd / "script").write_text(TWO_TESTS)
    run = ior(args, np=None).fails(status, words)
    last = run.stderr.rstrip("\n").split("\n")[-1]
    assert last.startswith("ERROR: ") and words in last and "; --findings): " in run.stderr, run


# Tests of a script, and the statuses that they have alone; a test that cannot be done ends the script.
FAULTS = {"wrong": ("dummy.corrupt-at=2", 4, "wrong data"), "invalid": ("rules=io500", 5, "INVALID"), "broken": ("dummy.fail-at=2", 3, "Input/output error"),
          "good": ("", 0, "")}
GOOD = "dummy.corrupt-at=0\ndummy.fail-at=0\nrules=none\n"


@pytest.mark.parametrize("order, worst", [
    ("wrong invalid broken", "wrong"), ("invalid wrong broken", "wrong"), ("wrong invalid good", "wrong"), ("invalid wrong good", "wrong"),
    ("good wrong invalid", "wrong"), ("invalid good broken", "broken"), ("good good invalid", "invalid"), ("wrong good broken", "wrong")])
def test_the_last_error_of_a_script_is_the_one_of_the_status(ior, order, worst):
    """And the error of JSON; each error is said once."""
    tests = "".join(GOOD + FAULTS[word][0] + "\nRUN\n" for word in order.split())
    (ior.cwd / "script").write_text("IOR START\napi=DUMMY\nblockSize=64k\ntransferSize=8k\nwriteFile=1\nreadFile=1\ncheckRead=1\nstrict=1\ndummy.store=1\n" + tests + "IOR STOP\n")
    for ranks in (None, 2):
        run = ior("-f script --report=json:r.json,text:-", np=ranks).ok(FAULTS[worst][1])
        assert len(run.errors) == len(set(run.errors)) == sum(word != "good" for word in order.split()), run
        assert FAULTS[worst][2] in run.errors[-1] and run.messages[-1] == "ERROR: " + run.errors[-1], run
        assert document(run)["error"] == run.errors[-1], run
