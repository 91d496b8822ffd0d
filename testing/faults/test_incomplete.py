# SPDX-License-Identifier: BSD-3-Clause
"""What is reported is in a file of JSON Lines until the document is written, and stays when that cannot be."""
import json
import os

import pytest

import conftest
from faults_support import SECONDS, environment

RUN = "-a DUMMY -w -r -b 8k -t 8k -i 40 --report=json:r.json"
LEFT = ".r.json.incomplete"


def of_lines(path):
    """The document of which each line has the path of a value, and the value."""
    document = {}
    for line in path.read_text().split("\n")[:-1]:
        steps, value = json.loads(line)
        parent = document
        for step in steps[:-1]:
            parent = parent[step]
        if isinstance(parent, list):
            assert len(parent) == steps[-1], line
            parent.append(value)
        else:
            assert steps[-1] not in parent, line
            parent[steps[-1]] = value
    return document


def parse(path):
    """What is left of a document, held against the schema. How the run ended is not there: it may have ended otherwise."""
    jsonschema = pytest.importorskip("jsonschema", reason="needs python3-jsonschema to check the documents")
    schema = json.loads((conftest.BUILD / "doc" / "result.schema.json").read_text())
    document = of_lines(path)
    jsonschema.Draft202012Validator(schema).validate(document)
    assert list(document)[0] == "unfinished" and not {"status", "error"} & set(document)
    return document


def test_a_run_that_is_killed_at_any_write_leaves_a_valid_document(ior, shim):
    rows = []
    for count in (1, 2, 4, 9, 30, 70, 120):
        run = ior(RUN, np=None, timeout=SECONDS, env=environment(ior, shim, "call=pwrite kill count=%d" % count))
        if run.returncode == 0:
            break
        if count > 1:  # the first one makes the file
            rows.append(sum(len(test.get("phases", [])) for test in parse(ior.cwd / LEFT).get("tests", [])))
        assert "r.json" not in ior.files(), run
    assert rows == sorted(rows) and rows[-1] > 30, rows
    ior(RUN, np=None).ok()
    assert [name for name in ior.files() if "json" in name] == ["r.json"], "the next run replaces it"


@pytest.mark.parametrize("errno", ["ENOSPC", "EIO"])
def test_a_disk_that_fills_up_during_the_run_is_one_error_that_names_what_is_left(ior, shim, errno):
    run = ior(RUN, np=None, timeout=SECONDS, env=environment(ior, shim, "call=pwrite errno=%s count=40 times=0" % errno))
    run.fails(2, "'%s'" % (ior.cwd / LEFT).name, os.strerror(28 if errno == "ENOSPC" else 5))
    assert len(run.errors) == 1 and ior.files() == [LEFT] and parse(ior.cwd / LEFT)["tests"][0]["phases"], run


def test_a_disk_without_room_for_the_finished_document_keeps_the_other(ior, mounted):
    """An exit status or an error in it would be those of a run whose document is written."""
    place = mounted("size=300k")
    run = ior(RUN.replace("r.json", str(place / "r.json")) + " -O summaryFormat=default", np=None, timeout=SECONDS)
    run.fails(2, LEFT, "No space left on device")
    assert len(run.errors) == 1 and os.listdir(place) == [LEFT], run
    assert len(parse(place / LEFT)["tests"][0]["phases"]) == 80, run
