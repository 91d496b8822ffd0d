# SPDX-License-Identifier: BSD-3-Clause
"""weir-plot on timelines that hold some of the operations: what it scales, what it names, and what it refuses."""
import json
import pathlib
import re

import pytest

import plot_support
from plot_support import np, plot, words_of  # noqa: F401 (plot is a fixture)

RATES = ("rate", "spread", "heat", "latency")
COLUMNS = ("calls", "mean", "p50", "p90", "p99", "p99.9", "max")
UNITS = {"ns": 1e-9, "\u00b5s": 1e-6, "ms": 1e-3, "s": 1}


@pytest.fixture
def full(tmp_path):
    """4 ranks, 5000 writes and 5000 reads each."""
    return plot_support.write(tmp_path / "full", ranks=4, calls=5000, mean=0.0005)


def numbers_of_writes(path):
    """The row of the table below the curves: numbers, None for a dash."""
    said = words_of(path)
    cells = said[said.index("max") + 1:][1:8]
    values = [None if c == "-" else c.replace(",", "").split() for c in cells]
    return dict(zip(COLUMNS, (v and float(v[0]) * (UNITS[v[1]] if len(v) > 1 else 1) for v in values)))


def average(path):
    number, unit = re.search(r"average ([0-9.]+) ([MG])iB/s", " ".join(words_of(path))).groups()
    return float(number) * 2 ** {"M": 20, "G": 30}[unit]


def test_a_sample_stands_for_all_and_every_picture_says_so(plot, full):
    table = plot_support.choose("s", "full", sample=10)
    for command in RATES + ("calls",):
        plot(command, "s.npy", "--phase=write").ok()
        assert "1 of 10 operations" in " ".join(words_of("s-%s.svg" % command)), command
        assert plot.err.endswith("holds 1 of 10 operations: rates and counts are scaled\n") and plot.err.count("\n") == 1
        if command == "spread":
            assert "write: {:,} calls of 4 tasks".format(10 * int((table["phase"] == 0).sum())) in plot.out
    writes = full[full["phase"] == 0]
    assert abs(average("s-rate.svg") / (writes["bytes"].sum() / (writes["end"].max() / 1e9)) - 1) < 0.15


def test_percentiles_of_a_sample_and_of_a_sample_with_the_slowest(plot, full):
    plot("latency", "full.npy", "--phase=write", "-o", "x.svg").ok()
    all_of_it = numbers_of_writes("x.svg")
    plot_support.choose("s", "full", sample=50)
    plot("latency", "s.npy", "--phase=write", "-o", "x.svg").ok()
    drawn = numbers_of_writes("x.svg")
    assert drawn["max"] is None and drawn["p99.9"] is None, "400 calls do not say what one of 1000 takes"
    assert abs(drawn["p50"] / all_of_it["p50"] - 1) < 0.2 and abs(drawn["calls"] / 20000 - 1) < 0.2
    plot_support.choose("b", "full", sample=50, slowest=20)
    plot("latency", "b.npy", "--phase=write", "-o", "x.svg").ok()
    both = numbers_of_writes("x.svg")
    assert both["max"] == all_of_it["max"] and both["p99.9"] == pytest.approx(all_of_it["p99.9"], rel=0.1)
    assert abs(both["p50"] / all_of_it["p50"] - 1) < 0.2, "the slowest do not count as if all were so slow"


def test_only_the_slowest_make_no_rates_and_no_percentiles(plot, full):
    table = plot_support.choose("k", "full", slowest=3)
    for command in RATES:
        plot(command, "k.npy").refuses(1, "k.npy", "only the 3 slowest operations of each rank", "sample=1/N")
    assert not pathlib.Path("k-rate.svg").exists()
    plot("calls", "k.npy", "--phase=write").ok()
    assert any("the 3 slowest of each rank and phase" in w for w in words_of("k-calls.svg"))
    plot("trace", "k.npy").ok()
    trace = json.loads(pathlib.Path("k-trace.json").read_text())
    calls = [e for e in trace["traceEvents"] if e["ph"] == "X" and e["cat"] != "phase"]
    assert trace["otherData"]["holds"] == "the 3 slowest of each rank and phase" and len(calls) == table.size
    assert sum("slowest" in e["args"]["chosen"] for e in calls) == 24 and calls[0]["args"]["number"] == table["number"][0]
    plot("report", "k.npy").ok()
    page = pathlib.Path("k-report.html").read_text()
    assert "Slowest operations" in page and "no rates or percentiles follow" in page and page.count("<figure>") == 1


def test_pictures_of_some_ranks_name_them_and_give_their_rates(plot, full, tmp_path):
    table = plot_support.choose("r", "full", ranks=[1, 3])
    plot("heat", "r.npy", "--phase=read").ok()
    said = words_of("r-heat.svg")
    axis = said[next(i for i, w in enumerate(said) if w.startswith("time since")) + 1:said.index("rank")]
    assert axis == ["1", "3"] and any("only ranks 1,3" in w for w in said), said
    head = json.loads(pathlib.Path("r.timeline.json").read_text())
    head["chosen"]["ranks"] = "1-3:2"  # the same
    head["phases"][0].update(rate=123.0, rate_unit="bytes")  # of all ranks
    pathlib.Path("r.timeline.json").write_text(json.dumps(head))
    plot("rate", "r.npy", "--phase=write").ok()
    writes = table[table["phase"] == 0]
    assert average("r-rate.svg") == pytest.approx(writes["bytes"].sum() / (full[full["phase"] == 0]["end"].max() / 1e9), rel=0.01)
    assert "of these ranks" in " ".join(words_of("r-rate.svg"))
    plot("calls", "r.npy", "--phase=write").ok()
    assert "task 3" in words_of("r-calls.svg") and "task 0" not in words_of("r-calls.svg")
    plot("calls", "r.npy", "--tasks=0,2").refuses(2, "none of them is in the timeline", "1-3:2")
    (tmp_path / "out.csv").write_text("0,1,1\n1,1,1\n2,1,1\n")
    plot("diff", "r.npy", "--outside=out.csv", "--zero=0").refuses(1, "only operations of ranks 1-3:2")


def test_chance_makes_no_rank_slow(plot, full):
    """Where a bin has too few calls of a sample, the picture says that it does not judge."""
    plot_support.choose("s", "full", sample=400)
    plot("heat", "s.npy", "--phase=read").ok()
    assert any("not judged" in w for w in words_of("s-heat.svg"))


def test_a_result_names_its_timeline_before_the_words(plot, full):
    plot_support.choose("s", "full", sample=10)
    result = {"program": "ior", "tests": [{"TestID": 0, "optionValues": {"timeline": "s.npy,sample=1/10,ranks=0,1"}}]}
    pathlib.Path("r.json").write_text(json.dumps(result))
    plot("spread", "r.json").ok()
    assert "1 of 10 operations" in " ".join(words_of("r-spread.svg"))


def test_two_files_that_do_not_belong_together(plot, full):
    plot_support.choose("s", "full", sample=10)
    head = json.loads(pathlib.Path("s.timeline.json").read_text())
    pathlib.Path("s.timeline.json").write_text(json.dumps({**head, "chosen": {"ranks": "0"}}))
    plot("rate", "s.npy").refuses(1, "do not belong together")
    pathlib.Path("s.timeline.json").write_text(json.dumps({**head, "chosen": {"sample": 10, "ranks": "1-"}}))
    plot("rate", "s.npy").refuses(1, "ranks is '1-'")
