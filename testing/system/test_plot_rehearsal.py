# SPDX-License-Identifier: BSD-3-Clause
"""weir-plot report of a rehearsal of IO500: the anatomy of its score, its validity, and what changed since another one."""
import copy
import html
import json
import math
import pathlib
import re

import pytest

from plot_support import plot  # noqa: F401 (it is a fixture)

# The score phases of a run of the real IO500 (standard mode), its seconds, and what it printed at the end.
PHASES = (
    ("ior-easy-write", "bw", 0.197446, 1.289),
    ("mdtest-easy-write", "md", 1.545539, 2.463),
    ("timestamp", "none", 0.0, 0.0),
    ("ior-hard-write", "bw", 0.351451, 0.999),
    ("mdtest-hard-write", "md", 1.161625, 2.293),
    ("find", "md", 924.917230, 0.008),
    ("ior-easy-read", "bw", 0.743512, 0.347),
    ("mdtest-easy-stat", "md", 242.024994, 1.011),
    ("ior-hard-read", "bw", 0.723869, 0.490),
    ("mdtest-hard-stat", "md", 613.081681, 1.027),
    ("mdtest-easy-delete", "md", 133.532699, 1.067),
    ("mdtest-hard-read", "md", 71.632748, 1.023),
    ("mdtest-hard-delete", "md", 3.385447, 1.529),
    ("ior-rnd4K-easy-read", "none", 0.532574, 1.640),
)
BANDWIDTH, IOPS, TOTAL = 0.439608, 40.996127, 4.245257


def phase(name, group, score, seconds):
    return {"phase": name, "group": group, "standard": "yes", "score": score, "unit": "GiB/s" if group == "bw" else "kIOPS",
            "low": None, "high": None, "seconds": seconds, "bytes": 0, "operations": 10, "wrong": 0, "found": None, "total": None,
            "command": "./ior -G 12 -b 200m -o ./data/x -O stoneWallingStatusFile=./r/x", "valid": "yes", "verdict": "SOUND", "resumed": "no"}


def document():
    test = {"mode": "standard", "kind": "rehearsal", "stonewall": 300.0, "phases": [phase(*row) for row in PHASES], "reasons": [],
            "scores": [{"name": "SCORE", "bandwidth": BANDWIDTH, "iops": IOPS, "total": TOTAL, "valid": "yes"}],
            "settings": [{"section": "ior-easy", "key": "blockSize", "value": "200m"}], "configuration": {"program": "weir-io500", "tasks": 2}}
    return {"Version": "0", "program": "weir-io500", "provenance": {"tasks": 2, "nodes": 1, "mpi": "one"}, "Began": "Mon Nov 23 20:04:18 2026",
            "tests": [test], "status": 0}


def with_phases(changes, **members):
    """A copy with other members of some phases."""
    new = copy.deepcopy(document())
    for row in new["tests"][0]["phases"]:
        row.update(changes.get(row["phase"], {}))
    new["tests"][0].update(members)
    return new


@pytest.fixture
def page(plot, tmp_path, monkeypatch):  # noqa: F811
    """The words of the report of documents, the first of which is compared with the second. With pictures it takes longer."""
    from weir_plot import page as pieces

    def make(new, old=None, pictures=0):
        if not pictures:
            monkeypatch.setattr(pieces, "figure", lambda fig, caption: "")
        (tmp_path / "new.json").write_text(json.dumps(new))
        (tmp_path / "old.json").write_text(json.dumps(old))
        plot("report", "new.json", "-o", "page.html", *(["--compare", "old.json"] if old else [])).ok()
        text = pathlib.Path("page.html").read_text()
        assert not re.search(r"(src|href)=.(https?:)?//", text)
        assert text.count("<figure>") == text.count("<svg") == pictures
        body = re.sub(r"<svg.*?</svg>", "", text[text.index("<body>"):], flags=re.S)
        return html.unescape(re.sub(r"<[^>]+>", "", re.sub(r"</t[dh]>", "|", re.sub(r"</(tr|p|li|h\d)>", "\n", body))))

    return make


def row_of(said, name, table=None):
    """The cells of the first row that begins so, after the words of a table."""
    part = said[said.index(table):] if table else said
    return next(line for line in part.splitlines() if line.startswith(name + "|")).split("|")[:-1]


@pytest.fixture
def anatomy(plot):  # noqa: F811
    """weir_plot's module, and the Anatomy of a document."""
    from weir_plot import anatomy, result

    def of(document, which=0):
        one = result.Result("r.json", document)
        return anatomy.scores(one, one.tests[0])[which][0]

    anatomy.of = of
    return anatomy


def total_of(rows):
    """By the definition."""
    groups = [[row["score"] for row in rows if row["group"] == group] for group in ("bw", "md")]
    return math.sqrt(math.prod(math.prod(one) ** (1 / len(one)) for one in groups))


def test_the_score_is_that_of_io500(anatomy):
    score = anatomy.of(document())
    assert math.isclose(score.group_mean("bw"), BANDWIDTH, rel_tol=1e-5) and math.isclose(score.group_mean("md"), IOPS, rel_tol=1e-5)
    assert math.isclose(score.total, TOTAL, rel_tol=1e-5)


def test_what_a_phase_does_to_the_total_is_what_happens_when_it_changes(anatomy):
    score, rows = anatomy.of(document()), document()["tests"][0]["phases"]
    for part in score.parts:
        others = [r["score"] for r in rows if r["group"] == part.group and r["phase"] != part.name]
        for factor, told in ((2, score.if_times(part, 2)), (0.1, score.if_times(part, 0.1)),
                             (math.prod(others) ** (1 / len(others)) / part.score, score.if_as(part, score.others(part)))):
            changed = [dict(r, score=r["score"] * (factor if r["phase"] == part.name else 1)) for r in rows]
            assert math.isclose(total_of(changed) / total_of(rows), told, rel_tol=1e-9), part.name
    assert score.costliest().name == "mdtest-hard-write"
    assert anatomy.of(with_phases({"ior-easy-write": {"score": 0.001}})).costliest().name == "ior-easy-write"


def test_a_phase_without_a_result_is_in_no_mean(anatomy, page):
    for nothing in 0, None, "x":
        new = with_phases({"find": {"score": nothing}})
        assert len(anatomy.of(new).groups["md"]) == 7
    said = page(new)
    assert "Not in the score, because they have no result: find." in said
    assert "The document says that TOTAL is 4.25; from its phases it is" in said  # it was not computed from these


def test_the_page_says_what_costs_most_and_what_doubling_brings(page):
    said = page(document())
    assert "mdtest-hard-write costs most: if it were as fast as the mean of the other metadata phases, TOTAL would be 29 % higher." in said
    assert "by 1.09 (bandwidth, 1 of 4), and by 1.04 (metadata, 1 of 8)" in said and "The document says" not in said
    assert "mdtest-easy-write takes the most time: 2.46 s of 15.2 s (16 %)." in said
    assert row_of(said, "ior-hard-write", "Anatomy")[1:6] == ["0.351 GiB/s", "+9.1 %", "+3.8 %", "-7.0 %", "999 ms"]
    assert row_of(said, "ior-rnd4K-easy-read", "Phases")[1] == "0.533 kIOPS"
    assert row_of(said, "SCORE")[:4] == ["SCORE", "4.25", "0.44 GiB/s", "41 kIOPS"]
    assert "Valid." in said and "INVALID" not in said


REASONS = [{"phase": "ior-easy-write", "kind": "INVALID", "rule": "", "text": "Runtime 1.3 s", "remedy": "raise blockSize"},
           {"phase": "ior-easy-read", "kind": "INVALID", "rule": "H03", "text": "100 % in the cache", "remedy": "drop it"},
           {"phase": "ior-hard-read", "kind": "INVALID", "rule": "H03", "text": "99 % in the cache", "remedy": "drop it"}]


def test_reasons_of_io500_are_apart_from_those_of_weir(page):
    new = with_phases({"ior-easy-read": {"verdict": "INVALID"}}, reasons=REASONS[1:])
    said = page(new)
    assert "Valid. Nothing that IO500 itself asks for is missing. By weir's rules the numbers of these phases are not:\nior-easy-read\n" in said
    assert "H03|INVALID|100 % in the cache (and 1 more like it)|ior-easy-read, ior-hard-read|drop it|" in said
    new["tests"][0].update(reasons=REASONS, scores=[dict(new["tests"][0]["scores"][0], valid="no")])
    said = page(new)
    assert "INVALID. As it is this run could not be submitted to the list.\nior-easy-write: Runtime 1.3 s. Raise blockSize\n" in said


def test_a_run_that_has_not_ended_is_not_called_valid(page):
    new = with_phases({}, scores=[], phases=document()["tests"][0]["phases"][:3])
    del new["status"]
    new["unfinished"] = True
    said = page(new)
    assert "No score. The run has not come to its end." in said and "Valid" not in said and "ior-easy-write" in said


def test_what_changed_multiplies_to_the_change_of_the_total(anatomy, page):
    old = with_phases({"find": {"low": 900, "high": 950}, "ior-hard-read": {"low": 0.7, "high": 0.8}})
    new = with_phases({"find": {"score": 1849.8, "low": 1800, "high": 1900}, "ior-hard-read": {"score": 0.79, "low": 0.75, "high": 0.9}},
                      settings=[{"section": "ior-easy", "key": "blockSize", "value": "400m"}], reasons=REASONS[1:2])
    new["tests"][0]["phases"][0]["command"] = "./ior -G 99 -b 400m -o ./elsewhere/x -O stoneWallingStatusFile=./q/x"
    new["provenance"]["mpi"] = "two"
    both = anatomy.Comparison(anatomy.of(old), anatomy.of(new))
    assert math.isclose(math.prod(c.effect for c in both.changes), both.ratio, rel_tol=1e-9)
    assert math.isclose(both.ratio, total_of(new["tests"][0]["phases"]) / total_of(old["tests"][0]["phases"]), rel_tol=1e-9)
    said = page(new, old, pictures=2)
    first, second = (row_of(said, name, "What changed since Mon Nov 23 20:04:18 2026") for name in ("find", "ior-hard-read"))
    assert first[1:6] == ["925 kIOPS", "1,850 kIOPS", "+100.0 %", "+4.4 %", "yes"] and "no, the intervals overlap" in second
    assert said.index("find|925") < said.index("ior-hard-read|0.724") < said.index("find|1,850")
    assert row_of(said, "[ior-easy] block size")[1:] == ["200m", "400m"] and row_of(said, "MPI")[1:] == ["one", "two"]
    assert row_of(said, "-b 200m")[1:] == ["-b 400m", "ior-easy-write"]
    assert "new|INVALID|100 % in the cache|ior-easy-read|" in said
    assert "gone|INVALID|100 % in the cache|ior-easy-read|" in page(old, new)


def test_runs_with_other_phases_are_compared_by_those_that_both_have(page):
    said = page(with_phases({"find": {"score": None}}), document())
    assert "Only the old run has a result of find: both TOTALs above are those of the phases that both have." in said
    assert "TOTAL 3.4 to 3.4, +0.0 %" in said
    assert "No setting that is known differs." in said


def test_an_extended_run_has_both_scores(anatomy, page):
    new = document()
    new["tests"][0]["phases"].append(dict(phase("find-easy", "md", 6.78, 0.4), standard="no"))
    new["tests"][0]["scores"].append({"name": "SCOREX", "bandwidth": 1.0, "iops": 1.0, "total": 1.0, "valid": "yes"})
    assert [len(anatomy.of(new, i).groups["md"]) for i in (0, 1)] == [8, 9]
    assert "Anatomy of the SCOREX" in page(new)


def test_a_forecast_names_the_phases_that_would_be_too_short(page):
    rows = [{"phase": name, "rate": 1.5, "low": 1.4, "high": 1.6, "unit": "GiB/s", "seconds": 100, "secondsLow": 90, "secondsHigh": 110,
             "wanted": 300, "length": length, "remedy": "raise " + name} for name, length in (("a", "too short"), ("b", "long enough"), ("c", "perhaps too short"))]
    facts = {"allSeconds": 420, "allSecondsLow": 400, "allSecondsHigh": 440, "allBytes": 2**30, "allBytesLow": 2**30, "allBytesHigh": 2**30, "allFiles": 16,
             "allRoom": "fit", "mendedFiles": 16000, "mendedRoom": "do not fit"}
    new = with_phases({}, kind="forecast", stonewall=10.0, forecast=rows, phases=[], **facts)
    del new["tests"][0]["scores"]
    said = page(new)
    assert "1 phase would be too short. By rates of 10 s.\na: raise a\nc: perhaps\n" in said and "No score" not in said
    assert "With this configuration: 420 s (400 s to 440 s), 1 GiB, 16 files; they fit\nWith the remedies: 16,000 files; they do not fit\n" in said
    assert row_of(said, "b", "Forecast")[1:5] == ["1.5 GiB/s", "1.4", "1.6", "100 s"]


def test_other_results_are_refused(plot, page, tmp_path):  # noqa: F811
    page(document())
    (tmp_path / "ior.json").write_text(json.dumps({"program": "ior", "tests": [{}]}))
    plot("report", "new.json", "--compare=ior.json").refuses(2, "is a result of ior", "weir-compare")
    plot("report", "ior.json", "--compare=new.json").refuses(2, "--compare: is for results of weir-io500")
    plot("report", "new.json", "--compare=new.json", "-o", "new.json").refuses(2, "new.json")
