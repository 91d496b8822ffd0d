# SPDX-License-Identifier: BSD-3-Clause
"""The lists of words in the schema of results come from the rows of the programs when it is built."""
import json
import os
import re
import shutil
import subprocess

import pytest

import conftest

TEMPLATE = "doc/result.schema.json.in"
# The only lists of the template: 0 and 1, the two directions of data, a condition of the schema itself, units and scores of IO500,
# the operations of model_checkpoint.
OWN = ([0, 1], ["write", "read"], ["MPIIO", "HDF5", "NCMPI"], ["GiB/s", "kIOPS"], ["SCORE", "SCOREX"], ["save", "load"])


def lists(node):
    if isinstance(node, dict):
        if "enum" in node:
            yield node["enum"]
        node = list(node.values())
    for value in node if isinstance(node, list) else ():
        yield from lists(value)


def words_of_the_program(row):
    rows = json.loads(subprocess.run([str(conftest.IOR), "--dump-options=json"], capture_output=True, text=True, check=True,
                                     env=conftest.program_env()).stdout)
    return set(next(r["choices"] for r in rows if r["name"] == row))


def test_the_schema_is_whole_and_has_its_words_from_elsewhere():
    """What was built has no place left empty; what it was built from has no list of words that the sources have."""
    jsonschema = pytest.importorskip("jsonschema")
    built = json.loads((conftest.BUILD / "doc" / "result.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(built)
    found = list(lists(built))
    assert len(found) > 35 and all(found) and not any("@" in str(word) for words in found for word in words), found
    template = [words for words in lists(json.loads((conftest.SOURCE / TEMPLATE).read_text())) if words not in OWN]
    assert len(template) > 25 and all(word is None or str(word).startswith("@") for words in template for word in words), template


def test_the_words_are_those_that_a_program_has():
    """Of two lists the programs can be asked, or the process that built them."""
    schema = json.loads((conftest.BUILD / "doc" / "result.schema.json").read_text())["$defs"]
    assert set(schema["rules"]["enum"]) == words_of_the_program("rules") - {"none"}
    programs = set(schema["notBegun"]["properties"]["program"]["enum"])
    assert programs == {name for name in os.listdir(conftest.SOURCE / "doc" / "man") for name in [name[:-len(".1.in")]]
                        if not name.startswith("weir-")}


@pytest.fixture
def make(tmp_path):
    """The schema from a copy of the sources in which a text is another one."""
    shutil.copytree(conftest.SOURCE / "src", tmp_path / "src", ignore=shutil.ignore_patterns("*.o", "*.a", "*.la", "*.so", ".libs"))
    (tmp_path / "doc").mkdir()
    for name in (TEMPLATE, "doc/result.schema.awk"):
        shutil.copy(conftest.SOURCE / name, tmp_path / name)

    def run(name="", before="", after=""):
        for path in (tmp_path / "src").rglob(name) if name else ():
            assert path.read_text().count(before) == 1, path
            path.write_text(path.read_text().replace(before, after))
        sources = sorted(str(p.relative_to(tmp_path)) for p in (tmp_path / "src").rglob("*.[ch]"))
        return subprocess.run(["awk", "-f", "doc/result.schema.awk", *sources, TEMPLATE], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    return run


def test_a_word_that_a_row_gets_is_in_the_schema(make):
    done = make("straggler.c", '"work", "close" }', '"work", "close", "wait" }')
    schema = json.loads(done.stdout)["$defs"]
    assert done.returncode == 0 and schema["stragglers"]["items"]["properties"]["part"]["enum"] == ["open", "work", "close", "wait"], done


@pytest.mark.parametrize("name, before, after, words", [
    ("straggler.c", "part_names[PARTS] = ", "part_words[PARTS] = ", "no source has words of 'part'"),
    ("options.c", '"snia", "mlperf", "none"', '"snia", "mlperf"', "'rules' has no word 'none' to leave out")])
def test_a_list_whose_rows_are_gone_ends_the_build(make, name, before, after, words):
    done = make(name, before, after)
    assert done.returncode != 0 and words in done.stderr and re.search(r"^result\.schema\.awk: ", done.stderr), done
