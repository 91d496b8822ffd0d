# SPDX-License-Identifier: BSD-3-Clause
"""A document grows in a file that is valid between any two writes, and stays when the process is killed."""
import json
import os

import pytest

import conftest
from faults_support import SECONDS, environment

RUN = "-a DUMMY -w -r -b 8k -t 8k -i 40 --report=json:r.json"
LEFT = ".r.json.incomplete"


def parse(ior):
    """The incomplete document, held against the schema."""
    jsonschema = pytest.importorskip("jsonschema", reason="needs python3-jsonschema to check the documents")
    schema = json.loads((conftest.BUILD / "doc" / "result.schema.json").read_text())
    document = json.loads((ior.cwd / LEFT).read_text())
    jsonschema.Draft202012Validator(schema).validate(document)
    assert list(document)[0] == "unfinished" and "status" not in document
    return document


def test_a_run_that_is_killed_at_any_write_leaves_a_valid_document(ior, shim):
    """Beside it there may be the copy with more room that it was about to become, or the finished one."""
    rows = []
    for count in (1, 2, 4, 9, 30, 70, 120):
        run = ior(RUN, np=None, timeout=SECONDS, env=environment(ior, shim, "call=pwrite kill count=%d" % count))
        if run.returncode == 0:
            break
        if count > 1:  # the first one makes the file
            rows.append(sum(len(test.get("phases", [])) for test in parse(ior).get("tests", [])))
        assert "r.json" not in ior.files(), run
    assert rows == sorted(rows) and rows[-1] > 30, rows
    ior(RUN, np=None).ok()
    assert [name for name in ior.files() if "json" in name] == ["r.json"], "the next run replaces it"


@pytest.mark.parametrize("errno", ["ENOSPC", "EIO"])
def test_a_disk_that_fills_up_during_the_run_is_one_error_that_names_what_is_left(ior, shim, errno):
    run = ior(RUN, np=None, timeout=SECONDS, env=environment(ior, shim, "call=pwrite errno=%s count=40 times=0" % errno))
    run.fails(2, "'%s'" % (ior.cwd / LEFT).name, os.strerror(28 if errno == "ENOSPC" else 5))
    assert len(run.errors) == 1 and ior.files() == [LEFT] and parse(ior)["tests"][0]["phases"], run


def test_a_disk_without_room_for_the_finished_document_keeps_the_other(ior, mounted):
    place = mounted("size=300k")
    run = ior(RUN.replace("r.json", str(place / "r.json")) + " -O summaryFormat=default", np=None, timeout=SECONDS)
    run.fails(2, LEFT, "No space left on device")
    assert len(run.errors) == 1 and os.listdir(place) == [LEFT], run
    assert json.loads((place / LEFT).read_text())["unfinished"] == 1
