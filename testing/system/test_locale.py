# SPDX-License-Identifier: BSD-3-Clause
"""A host program with a locale of its own: options and results of the library are those of the programs."""
import csv
import json
import pathlib
import re
import shutil
import subprocess

import pytest

import conftest
import pairwise

SOURCES = pathlib.Path("/usr/share/i18n/locales/de_DE")
SMALL = ["-b", "4k", "-t", "4k", "-a", "DUMMY"]
FACTS = r"^Began +: (Mon|Tue|Wed|Thu|Fri|Sat|Sun) (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) "


@pytest.fixture(scope="module")
def german(tmp_path_factory):
    """The environment of a program that runs in German."""
    if not shutil.which("localedef") or not SOURCES.exists():
        pytest.skip("no locale can be made: needs localedef and the sources of locales (Debian: locales)")
    made = tmp_path_factory.mktemp("locales")
    subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", made / "de_DE.UTF-8"], check=True, timeout=60)
    return {"LOCPATH": str(made), "LC_ALL": "de_DE.UTF-8", "LANGUAGE": ""}


def run(tmp_path, env, *cases):
    made = [pairwise.Case(words[0], list(words[1:]) + ["--report=text:r.txt,json:r.json,csv:r.csv"], ("clean", 0)) for words in cases]
    pairwise.launch(made, tmp_path, 1, env=env)
    return made


def test_that_locale_has_commas(german):
    """Else the tests below show nothing."""
    said = subprocess.run(["printf", "%.1f"] + ["1,5"], env=dict(german, PATH="/usr/bin:/bin"), capture_output=True, text=True)
    assert said.stdout == "1,5", said


def test_results_have_points_and_english_dates(german, tmp_path):
    jsonschema = pytest.importorskip("jsonschema", reason="needs python3-jsonschema to check the documents")
    schema = jsonschema.Draft202012Validator(json.loads((conftest.BUILD / "doc" / "result.schema.json").read_text()))
    programs = [["ior", *SMALL, "-w", "-r", "-i", "6", "--interval=0.5", "--until=50.5", "--limit=H01:0.25", "-D", "0.5"],
                ["mdtest", "-a", "DUMMY", "-n", "4", "-F", "-C", "-T"],
                ["md-workbench", "-a", "DUMMY", "-I", "2", "-P", "4", "-D", "1"],
                ["model_checkpoint", "-a", "DUMMY", "--scale=0.0001", "--optimizer=none", "--compute=0.01"],
                ["mib", "-F", "-t", ".", "-s", "4096", "-l", "2", "-L", "0"]]
    for case in run(tmp_path, german, *programs):
        assert (case.result, case.status) == ("end", 0), (case.words, case.error)
        schema.validate(case.document())
        text, rows = (case.dir / "r.txt").read_text(), list(csv.reader((case.dir / "r.csv").open()))
        assert not re.search(r"\d,\d", text) and {len(row) for row in rows} == {len(rows[0])}, text
        if case.program == "ior":
            assert re.search(FACTS, text, re.M) and re.search(r"^write +\d+\.\d\d ", text, re.M), text


@pytest.mark.parametrize("option", ["--interval=0,5", "--until=50,5", "-D0,5", "--interval=inf", "--until=0x1p3", "--limit=H01:nan"])
def test_what_is_no_number_in_a_program_is_none_in_the_library(german, tmp_path, option):
    case, = run(tmp_path, german, ["ior", *SMALL, "-i", "6", "-w", option])
    assert case.status == 1 and re.search("--interval|--until|deadline|-D|--limit", case.error), case.error
