# SPDX-License-Identifier: BSD-3-Clause
"""weir-compare history: changes that are there and changes that are not, what changed beside, the gate, and bad input."""
import json
import math
import random
import re
import shlex
import sys
import time

import pytest

import conftest

sys.path.insert(0, str(conftest.SOURCE / "contrib" / "plot"))
from weir_plot import compare, history_stats  # noqa: E402

BEGIN = 1790000000  # of the first run; one follows each day


def noise(rng, n, rho=0.0, spread=0.03):
    """Logarithms of rates: each run depends on the one before with rho."""
    last, found = rng.gauss(0, 1), []
    for _ in range(n):
        found.append(spread * last)
        last = rho * last + math.sqrt(1 - rho * rho) * rng.gauss(0, 1)
    return found


def document(day, write, read=None, status=0, kernel="6.1", program="ior", **options):
    rows = [{"access": k, "bwMiB": v * f, "iter": i} for k, v in (("write", write), ("read", read)) if v for i, f in enumerate((0.99, 1, 1.02))]
    began = time.strftime("%a %b %d %H:%M:%S %Y", time.localtime(BEGIN + 86400 * day))
    test = {"TestID": 0, "Results": rows, "optionValues": {"transfer-size": 65536, **options},
            "provenance": {"mount": "/scratch", "mountOptions": "rw", "clockError": 1e-6 * day},
            "configuration": {"program": program, "tasks": 4, "backend": "POSIX", "options": {}, "hash": str(sorted(options.items()))}}
    return {"program": program, "Version": "1", "Machine": "Linux n1", "Began": began, "status": status, "error": "" if status == 0 else "it broke",
            "provenance": {"mpi": "Open MPI", "tasks": 4, "environment": {"kernel": kernel}}, "tests": [test]}


def runs(n, loss=0.0, after=20, seed=5, **how):
    """Of a series write that loses some of its rate, and of a read that does not."""
    rng = random.Random(seed)
    write, read = noise(rng, n), noise(rng, n)
    return [document(i, 1000 * math.exp(write[i]) * (1 - loss if i >= after else 1), 2000 * math.exp(read[i]),
                     kernel="6.2" if loss and i >= after else "6.1", **how) for i in range(n)]


@pytest.fixture
def history(tmp_path, monkeypatch, capsys):
    """history(documents, words) -> (status, out, err); documents may have lines of text."""
    monkeypatch.chdir(tmp_path)

    def run(documents, words="", name="h.jsonl"):
        (tmp_path / name).write_text("".join(one if isinstance(one, str) else json.dumps(one) + "\n" for one in documents))
        try:
            status = compare.main(["history", *shlex.split(words), name])
        except SystemExit as e:
            status = e.code
        return (status, *capsys.readouterr())
    return run


# ---- what is found ----

def test_a_loss_is_found_with_its_day_its_interval_and_what_changed_beside(history):
    docs = runs(30, 0.1)
    random.Random(1).shuffle(docs)  # their time counts
    status, out, err = history(docs)
    assert status == 0 and err == ""
    change = re.search(r"^  (\S+) \S+, after run 20: (\S+) % \((\S+) % to (\S+) %\), from \d+ MiB/s to \d+ MiB/s, p (\S+)$", out, re.M)
    assert change and change.group(1) == time.strftime("%Y-%m-%d", time.localtime(BEGIN + 20 * 86400)), out
    loss, low, high, p = map(float, change.groups()[1:])
    assert low <= -10 <= high < 0 and -14 < loss < -6 and p <= 0.025
    assert out.count("beside it changed") == 1 and "beside it changed kernel: 6.1 -> 6.2\n" in out, "a fact that each run has anew is none"
    assert re.search(r"^read: 30 runs, now .*; no change; 30 runs would show a loss of about \d", out, re.M), out
    assert history(docs)[1] == out, "the same history says the same"


def alarms(rho, count):
    """In how many histories of two series of 30 runs a change is found that is not there."""
    rng = random.Random(1)
    return sum(any(history_stats.changes([noise(rng, 30, rho), noise(rng, 30, rho)], 0.05, i)) for i in range(count))


def test_no_change_is_found_where_there_is_none(history):
    """Of 40 histories of two series; testing/history/alarms takes more of them."""
    assert alarms(0, 40) <= 4 and alarms(0.5, 40) <= 5


def test_runs_that_depend_on_each_other_would_alarm_otherwise(monkeypatch):
    """What a permutation of the runs themselves says: the test above would see it."""
    monkeypatch.setattr(history_stats, "dependence", lambda z, places: 0)
    monkeypatch.setattr(history_stats, "corrected", lambda r, n, levels=2: 0)
    assert alarms(0.5, 10) >= 4


def test_10_percent_are_found_in_noise_of_3_percent():
    rng, hits = random.Random(4), 0
    for seed in range(20):
        lost = [v + (math.log(0.9) if i >= 20 else 0) for i, v in enumerate(noise(rng, 30))]
        splits = history_stats.changes([lost, noise(rng, 30)], 0.05, seed)[0]
        hits += any(abs(one.place - 20) <= 3 for one in splits)
    assert hits >= 18


def test_real_runs_that_are_far_apart_in_time_do_not_alarm():
    """4000 runs of one command on a disk that others used (doc/dev/statistics.md); each history has every 133rd."""
    rows = []
    for line in (conftest.SOURCE / "testing" / "golden" / "equal-runs.csv").read_text().splitlines()[2:]:
        _, write_a, write_b, read_a, read_b = map(float, line.split(","))
        rows += [(write_a, read_a), (write_b, read_b)]
    histories = [list(map(list, zip(*rows[i::133][:30]))) for i in range(0, 133, 2)]
    assert sum(any(history_stats.changes(series, 0.05)) for series in histories) <= 3


def test_two_changes_are_two(history):
    docs = [document(i, v * (1 + 0.001 * (i * 7 % 5))) for i, v in enumerate([1000] * 15 + [800] * 15 + [1000] * 15)]
    _, out, _ = history(docs)
    first, second = map(int, re.findall(r"after run (\d+):", out))
    assert abs(first - 15) <= 1 and abs(second - 30) <= 1 and out.count("nothing else that is known changed") == 2, out


def test_the_end_of_a_level_that_may_be_none_is_not_told(history):
    """Few wild runs after a loss look like its end to the test of a level that came and went."""
    docs = runs(30, 0.1, seed=2) + [document(30, 1050), document(31, 1750)]
    assert len(history_stats.changes([[d["tests"][0]["Results"][1]["bwMiB"] for d in docs]], 0.05)[0]) == 2
    assert re.findall(r"after run (\d+):", history(docs, "--by=operation")[1]) == ["20"]


def test_series_are_what_by_says(history):
    docs = [document(i, 1000 * (1 + i % 3 / 100), **{"transfer-size": 2 ** (16 + i % 2)}) for i in range(24)]
    _, out, _ = history(docs, "--by=operation,tasks,xfer")
    assert re.findall(r"^(write .*): 12 runs", out, re.M) == ["write (transfer-size 65536)", "write (transfer-size 131072)"], out
    assert re.findall(r"^write: (\d+) runs", history(docs, "--by=operation,tasks")[1], re.M) == ["24"]
    assert history(docs)[1].count(": 12 runs") == 2, "another configuration is another series"
    status, out, err = history(docs, "--by=operation,transfersise")
    assert status == 2 and out == "" and "no run has 'transfersise' (did you mean 'transfer-size'?)" in err


def test_few_runs_say_that_they_are_too_few(history):
    _, out, _ = history([document(i, v) for i, v in enumerate([1000] * 3 + [100] * 3)])
    found = re.search(r"too few runs to see a change: 6, from (\d+) on one can be found", out)
    assert found and 6 < int(found.group(1)) < 20, out
    n = int(found.group(1))
    assert "after run %d" % (n // 2) in history([document(i, 1000 + i % 3 - 900 * (i >= n // 2)) for i in range(n)])[1]


# ---- the gate ----

def test_the_gate_is_shut_by_the_newest_runs_alone(history):
    for loss, limit, status in ((0.2, "10%", 7), (0.2, "25%", 0), (0, "10%", 0), (0.05, "5%", 0)):
        got, out, _ = history(runs(30, loss, 25), "--gate=" + limit)
        assert got == status and len(re.findall("^gate: ", out, re.M)) == 2, out
        assert ("gate: write: newest 5 against the 25 before" in out) and out.count(": worse by more than") == (status == 7)
    status, out, _ = history(runs(40, 0.2, 15), "--gate=10%")
    assert status == 0 and "before since the last change, " in out, "a change of long ago is no news"
    assert history(runs(25, 0.2, 23), "--gate=10 --newest=2")[0] == 7


def test_a_gate_with_too_few_runs_is_open_and_says_so(history):
    status, out, _ = history(runs(4), "--gate=10%")
    assert status == 0 and "gate: write: not judged: 4 runs, and 5 are the newest" in out, out
    status, out, _ = history(runs(7, 0.5, 2), "--gate=10%")
    needed = int(re.search(r"gate: write: not judged: .* from (\d+) before on there is an interval", out).group(1))
    assert status == 0 and history(runs(5 + needed, 0.5, needed), "--gate=10%")[0] == 7


# ---- input ----

def test_what_is_no_good_run_is_left_out_and_told(history, tmp_path, capsys):
    docs = runs(12)
    lines = [*docs, docs[3], '{"half": \n', "[1]\n", document(13, 1, status=3), dict(docs[0], tests=[])]
    status, out, err = history(lines)
    assert status == 0 and out.startswith("12 runs from "), out
    for words in ("line 14 is no JSON", "h.jsonl:15: is no result of weir", "1 run is there twice", "2 runs failed or measured nothing"):
        assert words in err, err
    assert err.count("\n") == 4
    (tmp_path / "one.json").write_text(json.dumps(docs[0], indent=2))
    assert compare.main(["history", "one.json", "h.jsonl"]) == 0 and "2 runs are there twice" in capsys.readouterr().err
    for text, words in (("", "is empty"), ("a\nb\n", "is neither"), (json.dumps(document(1, 1, status=3)) + "\n", "no run that went well")):
        status, out, err = history([text], name="bad")
        assert status == 1 and out == "" and err.count("\n") == 1 and words in err, err
    assert compare.main(["history", "missing"]) == 1 and history(docs, "-o h.txt")[0] == 2 and history(docs, "-o h.jsonl")[0] == 2
    for words in ("--gate=-1", "--gate=x", "--newest=0", "--bad"):
        assert history(docs, words)[0] == 2


def test_lines_of_real_runs_are_read(ior, history):
    for _ in range(2):
        ior("-a DUMMY -w -r -b 8k -t 1k --report=jsonl:real", np=None).ok()
    status, out, err = history([(ior.cwd / "real").read_text()], "--by=operation,tasks,xfer,program,backend,host --gate=10")
    assert status == 0 and re.search(r"^write: 2 runs, now ", out, re.M) and re.search(r"^read: 2 runs", out, re.M), out


# ---- pictures ----

def test_picture_and_page_show_the_change(history, tmp_path):
    from plot_support import words_of
    pytest.importorskip("matplotlib", reason="needs python3-matplotlib for the pictures")
    docs = runs(30, 0.1) + [document(31, 1, status=3)]
    assert history(docs, "-o h.svg")[0] == 0 and history(docs, "--gate=10 -o h.html")[0] in (0, 7)
    words = words_of(tmp_path / "h.svg")
    assert "ior: 30 runs" in words and any(re.fullmatch(r"-\d+\.\d %", w) for w in words), words
    assert "kernel: 6.1 -&gt; 6.2" in (tmp_path / "h.svg").read_text(), "the words to hover over"
    html = (tmp_path / "h.html").read_text()
    for part in ("kernel: 6.1 -&gt; 6.2", "<svg", "it broke", "Not worse", "would show a loss of about"):
        assert part in html, part
