# SPDX-License-Identifier: BSD-3-Clause
"""Scripts: what a test of one has from the command line and from the test before, how many there may be, and whose an error is."""
import json
import re

import conftest
from conftest import PEAK, TELL

HEAD = "IOR START\napi=DUMMY\nwriteFile=1\nblockSize=8k\ntransferSize=8k\n"


def peak(ior, tests):
    """KiB that a script with so many tests takes; its last line is wrong, so that none of them runs."""
    (ior.cwd / "s").write_text(HEAD + "RUN\n" * tests + "nonsense=1\n")
    run = ior("-f s", np=None, prefix=PEAK).ok(1)
    assert "nonsense" in run.errors[0], run
    return run.peak_kib


def test_memory_is_in_proportion_to_the_tests_of_a_script(ior):
    assert peak(ior, 3000) - peak(ior, 1) < 3000 * (4 if conftest.SANITIZED else 2)


def test_too_many_tasks_end_a_run_where_warnings_are_errors(ior):
    """In a script the test that asks for them is the last one, also when the one before does not mind warnings."""
    ior("-a DUMMY -w -b 8k -t 8k --warningAsErrors -N 100", np=2).fails(1, "more tasks requested (100)")
    (ior.cwd / "s").write_text(HEAD + "RUN\nnumTasks=100,warningAsErrors=1\nRUN\nnumTasks=1\nRUN\nIOR STOP\n")
    run = ior("-f s --report=text:-,json:r.json", np=2).fails(1, "more tasks requested (100)")
    document = json.loads((ior.cwd / "r.json").read_text())
    assert document["status"] == 1 and document["error"] == run.errors[0] and len(document["tests"]) == 1, run


def test_a_script_says_the_same_as_a_command_line(ior):
    """Words after -f are defaults of the script, each test shows its own backend, and short options in it count."""
    (ior.cwd / "s").write_text("IOR START\n-a=DUMMY\n-l=o\n-b=8k\n-t=4k\n-M=1m\nRUN\n-a=POSIX\nRUN\nIOR STOP\n")
    run = ior("-w -f s -i 3 -O platform=mine" + TELL, np=None).ok()
    assert len(run.rows) == 6 and re.findall(r"^apiVersion +: (.*)$", run.stdout, re.M) == ["0.5", ""]
    for test in run.document()["tests"]:
        assert test["Parameters"]["platform"] == "mine" and test["Parameters"]["data packet type"] == "o"
        assert test["Parameters"]["memoryPerNode"] == 2 ** 20


def test_an_error_has_file_and_line_and_comes_once(ior):
    (ior.cwd / "s").write_text("IOR START\napi=DUMMY\n\nnoSuchKey=1\nRUN\nIOR STOP\n")
    run = ior("-f s", np=2).fails(1, "s:4", "noSuchKey")
    assert run.messages == ["ERROR: " + run.errors[0]] and run.stdout == ""


def test_a_value_with_commas_needs_quotes_and_the_error_says_so(ior):
    for value, rest in ("--mix=%sread:60,write:40%s", "write:40"), ("-l=%srandom:compress=2,dedupe=3%s", "dedupe"):
        (ior.cwd / "s").write_text(HEAD + value % ("", "") + "\n")
        ior("-f s --dry-run", np=None).fails(1, "s:6: ", "'%s'" % rest, 'put double quotes around that value: %s="r' % value.split("=")[0])
        (ior.cwd / "s").write_text(HEAD + value % ('"', '"') + "\n")
        ior("-f s --dry-run", np=None).ok()


def test_lines_values_and_names_of_any_length_come_to_all_ranks(ior):
    """A line of 50 kB and a name of 3.6 kB."""
    name = "/".join(["."] * 1800) + "/end"
    ior.script("api=DUMMY, writeFile=1, debug=%s, refNum=9" % ("z" * 50000),
               "api=POSIX, keepFile=1, blockSize=8k, transferSize=8k, testFile=" + name)
    assert [row["refnum"] for row in ior("-w -f s", np=2).ok().summary] == [9, 9]
    assert ior.files() == ["end", "s"] and (ior.cwd / "end").stat().st_size == 16384
