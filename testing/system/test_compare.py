# SPDX-License-Identifier: BSD-3-Clause
"""weir-compare: what it refuses, what it says, how often it is wrong; and the configuration in the results of programs."""
import json
import random
import shlex
import sys

import pytest

import conftest

sys.path.insert(0, str(conftest.SOURCE / "contrib" / "plot"))
from weir_plot import compare, compare_stats  # noqa: E402


# ---- documents with known rates ----

def document(write, read=(), program="ior", status=0, **options):
    rows = [{"access": k, "bwMiB": v, "iter": i} for k, rates in (("write", write), ("read", read)) for i, v in enumerate(rates)]
    test = {"TestID": 0, "Results": rows, "configuration": {
        "program": program, "tasks": 4, "backend": "POSIX", "options": options, "hash": str(hash(str(options)))}}
    return {"program": program, "status": status, "tests": [test]}


def side(write, read=None, **options):
    """A run for each rate."""
    return [document([w], [read[i]] if read else (), **options) for i, w in enumerate(write)]


@pytest.fixture
def weir_compare(tmp_path, monkeypatch, capsys):
    """weir_compare([documents of A], [documents of B], words...) -> (status, out, err)"""
    monkeypatch.chdir(tmp_path)

    def run(a, b, words=""):
        names = {}
        for label, documents in (("a", a), ("b", b)):
            names[label] = ["%s%d.json" % (label, i) for i in range(len(documents))]
            for name, doc in zip(names[label], documents):
                (tmp_path / name).write_text(doc if isinstance(doc, str) else json.dumps(doc))
        try:
            status = compare.main(shlex.split(words) + names["a"] + [":"] + names["b"])
        except SystemExit as e:
            status = e.code
        return (status, *capsys.readouterr())
    return run


A = [100, 101, 99, 100.5, 98]
SLOW = [90, 91, 89, 90.5, 88]


def test_runs_at_one_rate_are_compared_by_their_response_times(weir_compare):
    def at_rate(times, **more):
        runs = side(A, rate="1m")
        for run, time in zip(runs, times):
            run["tests"][0]["load"] = [{"operation": "write", "unit": "bytes/s", "percent": None, "rateAsked": 2.0 ** 20, "responseP99": time, **more}]
        return runs

    quick, slow = [1.0e-3, 1.1e-3, 0.9e-3, 1.05e-3, 0.95e-3], [2.0e-3, 2.2e-3, 1.8e-3, 2.1e-3, 1.9e-3]
    status, out, _ = weir_compare(at_rate(quick), at_rate(slow))
    line, = (" ".join(line.split()) for line in out.splitlines() if line.startswith("write at 1 MiB/s: response p99 "))
    assert status == 7 and line.endswith(" p99 1 ms 2 ms +100.0 % +71.4 % to +133.3 % slower") and out.endswith("slower by more than 0 %: write at 1 MiB/s: response p99\n"), out
    status, out, _ = weir_compare(at_rate(quick), at_rate(slow, rateAsked=2.0 ** 21))
    assert status == 0 and out.count("not measured in both") == 2, "times at another rate are other ones"
    assert "response p99" not in weir_compare(at_rate(quick, percent=50), at_rate(slow, percent=50))[1]


def test_slower_faster_or_not_told_apart_and_the_status(weir_compare):
    status, out, err = weir_compare(side(A, SLOW), side(SLOW, A))
    assert status == 7 and err == ""
    lines = {line.split()[0]: line for line in out.splitlines()}
    assert lines["write"].endswith(" slower") and lines["read"].endswith(" faster"), out
    assert "-10.0 %" in lines["write"] and out.endswith("slower by more than 0 %: write\n"), out
    status, out, _ = weir_compare(side(A), side(A))
    assert status == 0 and "+0.0 %" in out and "not told apart" in out


def test_a_gate_lets_small_losses_pass(weir_compare):
    assert [weir_compare(side(A), side(SLOW), "--worse-than=" + w)[0] for w in ("5%", "9", "11%", "50%")] == [7, 7, 0, 0]


def test_one_run_on_a_side_tells_nothing_apart(weir_compare):
    """However far its repetitions are apart from those of the other side: they share the luck of the run."""
    word = "not told apart: one run says nothing about what differs between runs"
    for a, b in (([document(A, A)], [document(SLOW, A)]), ([document(A, A)], side(SLOW, A)), (side(A, A), [document(SLOW, A)])):
        status, out, _ = weir_compare(a, b)
        assert status == 0 and out.count(word) == 2 and "-10.0 %" in out, out
        assert out.count("% within the runs") == 2 and "slower" not in out, out
    status, out, _ = weir_compare([document(A[:1])], [document(SLOW[:1])])
    assert status == 0 and word in out and "within the runs" not in out and "-10.0 %" in out


def test_two_results_need_no_colon_and_more_do(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in ("a.json", "b.json", "c.json"):
        (tmp_path / name).write_text(json.dumps(document(A)))
    assert compare.main(["a.json", "b.json"]) == 0 and "A: a.json, B: b.json" in capsys.readouterr().out
    for words in ("a.json", "a.json b.json c.json", "a.json :", ": a.json", "a.json : b.json : c.json", ":"):
        assert compare.main(words.split()) == 2
        out, err = capsys.readouterr()
        assert out == "" and err.count("\n") == 1 and "A1.json A2.json ... : B1.json B2.json ..." in err, err
    (tmp_path / "link.json").symlink_to("a.json")
    assert compare.main("a.json ./a.json : b.json".split()) == 2 and "given twice" in capsys.readouterr().err
    assert compare.main("b.json : a.json link.json".split()) == 2 and "link.json: is given twice" in capsys.readouterr().err
    for name in ("a.json", "c.json"):
        (tmp_path / name).write_text(json.dumps(dict(document(A), Began="Mon Nov 23 05:00:00 2026")))
    assert compare.main("a.json c.json : b.json".split()) == 2 and "c.json: is a copy" in capsys.readouterr().err


def test_too_few_runs_tell_nothing_and_say_how_many_are_needed(weir_compare):
    for n in (2, 3):
        status, out, _ = weir_compare(side([100 + i for i in range(n)]), side([10 + i for i in range(n)]))
        assert status == 0 and "not told apart (4 runs of each are needed)" in out, out
        status, out, _ = weir_compare(side([100 + i for i in range(n)]), side([10 + i for i in range(n)]), "--paired")
        assert status == 0 and "not told apart (6 runs of each are needed)" in out, out
    docs = side([100, 101, 102]), side([50, 51, 52])
    assert weir_compare(*docs, "--confidence=90")[0] == 7 and weir_compare(*docs, "--normal")[0] == 7
    assert weir_compare(*docs, "--normal --paired")[0] == 7
    status, out, _ = weir_compare(side(A), side([0]))
    assert status == 0 and "not measured in both" in out


def test_pairs_find_what_drift_hides(weir_compare):
    drift = [100, 60, 140, 30, 200, 90, 45, 110]
    docs = side(drift), side([0.97 * v - v / 1000 for v in drift])
    assert weir_compare(*docs)[0] == 0 and weir_compare(*docs, "--paired")[0] == 7
    status, out, err = weir_compare(docs[0], docs[1][1:], "--paired")
    assert status == 2 and out == "" and "A has 8 runs and B has 7" in err


def test_a_row_never_contradicts_itself(weir_compare):
    """Two groups of rates: the medians are of different groups, and the median of all ratios is 1."""
    low, high = 4.34 * 1024, 8.18 * 1024
    _, out, _ = weir_compare(side([low] * 3 + [high] * 2), side([low * 1.001] * 2 + [high * 1.001] * 3))
    row = next(line for line in out.splitlines() if line.startswith("write"))
    assert "4.34 GiB/s" in row and "8.19 GiB/s" in row and "+88.7 %" in row and row.endswith("not told apart"), row
    rng = random.Random(3)
    for _ in range(300):
        a, b = ([rng.choice((1, 2)) * rng.gauss(1, 0.05) for _ in range(rng.randint(4, 9))] for _ in "ab")
        n = min(len(a), len(b))
        for d in (compare_stats.compare(a, b, 0.05), compare_stats.compare_pairs(a[:n], b[:n], 0.2)):
            assert d.ratio == d.b / d.a and (d.low is None or d.low <= d.ratio <= d.high)
            assert d.verdict == "not told apart" or (d.verdict == "faster") == (d.b > d.a)


def test_results_that_doubt_themselves_are_told(weir_compare):
    docs = side(A)
    docs[1]["tests"][0].update(verdict="SUSPECT", findings=[{"id": "H03", "outcome": "found", "severity": "SUSPECT"},
                                                            {"id": "H20", "outcome": "found", "severity": "NOTE"},
                                                            {"id": "H04", "outcome": "fine", "severity": "SUSPECT"}])
    _, out, _ = weir_compare(docs, side(A))
    assert "A: 1 of 5 runs is SUSPECT (H03): weir says itself" in out and "B: " not in out.splitlines()[1], out
    docs[1]["tests"][0]["verdict"] = "SOUND"
    assert "weir says itself" not in weir_compare(docs, side(A))[1]
    _, out, _ = weir_compare(side(A), [dict(d, tests=[dict(d["tests"][0], verdict="INVALID")]) for d in side(A)])
    assert "B: 5 of 5 runs are INVALID (no rule is named)" in out, out


def test_runs_that_were_not_taken_in_turn_are_told(weir_compare):
    def at(times):
        return [dict(d, Began="Mon Nov 23 03:%02d:00 2026" % t) for d, t in zip(side(A), times)]
    note = "all runs of one side came before those of the other"
    assert note in weir_compare(at((1, 2, 3, 4, 5)), at((6, 7, 8, 9, 10)))[2]
    assert note in weir_compare(at((6, 7, 8, 9, 10)), at((1, 2, 3, 4, 5)))[2]
    assert weir_compare(at((1, 3, 5, 7, 9)), at((2, 4, 6, 8, 10)))[2] == ""
    assert weir_compare(at((1,)), at((2,)))[2] == ""


def test_unlike_configurations_are_refused_with_the_difference(weir_compare):
    one, other = side(A, **{"transfer-size": "65536"}), side(SLOW, fsync="1")
    status, out, err = weir_compare(one, other)
    assert status == 1 and out == "" and err.count("\n") == 1
    assert "fsync is the default and 1, transfer-size is 65536 and the default" in err, err
    assert weir_compare(one, other, "--ignore=fsync,transfer-size")[0] == 7
    assert "a0.json and a4.json are not alike: fsync" in weir_compare(one[:4] + side([1], fsync="1", **{"transfer-size": "65536"}), one)[2]
    status, out, err = weir_compare(one, other, "--ignore=fsync,Transfersize")
    assert status == 1 and out == "" and err.count("\n") == 1
    assert "transfer-size is" in err and "'Transfersize' is in no configuration of these results (did you mean 'transfer-size'?)" in err
    two = document(A)
    two["tests"].append(two["tests"][0])
    assert "has 1 tests and b0.json has 2" in weir_compare([document(A)], [two])[2]


def test_a_name_to_ignore_that_matches_nothing_is_told(weir_compare):
    a, b = side(A) + side([100], **{"posix.odirect": "1"}), side(SLOW, fsync="1")
    for name, meant in (("odirect", "posix.odirect"), ("fsnc", "fsync"), ("quux", None), ("", None)):
        status, out, err = weir_compare(a, b, "--ignore=posix.odirect,fsync," + name)
        expected = " (did you mean '%s'?)" % meant if meant else ""
        assert status == 7 and "B is" in out, out
        assert err == "weir-compare: note: --ignore: '%s' is in no configuration of these results%s\n" % (name, expected), err
    a[0]["tests"][0]["optionValues"] = {"quux": 0}  # the names of all options, where a program writes them
    assert weir_compare(a, b, "--ignore=posix.odirect,fsync,quux,backend")[::2] == (7, "")


def test_what_is_no_whole_result_is_refused_by_one_line(weir_compare):
    old = document(A)
    del old["tests"][0]["configuration"]
    for bad, word in (("{", "cut off"), ("[]", "not an object"), ({"program": "ior"}, "no tests"), (old, "older version"),
                      (document(A, status=[3]), "'status' is not an integer"), (document(A, status=None), "'status' is missing"),
                      (document(A, status=3), "an I/O error"), (document(A, status=6), "a signal"), (document(A, status=4), "wrong data")):
        status, out, err = weir_compare(side(A), side(A) + [bad])
        assert status == 1 and out == "" and err.count("\n") == 1 and word in err and "b5.json" in err, (bad, err)
    for words in ("--worse-than=x", "--worse-than=-1", "--confidence=100", "--confidence=20", "--frob"):
        assert weir_compare(side(A), side(A), words)[0] == 2
    assert "'x' is not a percentage from 0 to below 100" in weir_compare(side(A), side(A), "--worse-than=x")[2]


def test_rows_of_a_damaged_result_are_left_out(weir_compare):
    bad = side(A)
    bad[0]["tests"][0]["Results"] += [{"access": ["write"], "bwMiB": 1.0}, {"access": "write", "bwMiB": 10 ** 400}, {"access": {}, "bwMiB": {}}]
    bad[1]["tests"][0].update(verdict=["SUSPECT"], findings=None)
    bad[2]["Began"] = {}
    assert weir_compare(side(A), bad)[:2] == weir_compare(side(A), side(A))[:2]


# ---- statistics ----

def rates(rng, kind, n, scale=1.0):
    """The medians of n runs."""
    if kind == "two groups":
        return [scale * rng.gauss(1, 0.01) * rng.choice((0.8, 1)) for _ in range(n)]
    if kind == "skewed":
        return [scale / (1 + rng.expovariate(40)) for _ in range(n)]
    return [scale * rng.gauss(1, 0.03) for _ in range(n)]


def alarms(kind, n, operations, scale, pairs=200):
    """In how many comparisons an operation is told apart; of the first operation the rates are scaled."""
    rng, count = random.Random(12), 0
    for _ in range(pairs):
        found = [compare_stats.compare(rates(rng, kind, n), rates(rng, kind, n, scale if i == 0 else 1), 0.05 / operations)
                 for i in range(operations)]
        count += any(d.verdict != "not told apart" for d in found) if scale == 1 else found[0].verdict == "slower"
    return count


def test_the_same_rates_alarm_in_at_most_5_percent_of_200_comparisons():
    for kind in ("normal", "skewed", "two groups"):
        for n, operations in ((1, 2), (3, 2), (5, 2), (6, 10)):
            assert alarms(kind, n, operations, 1) <= 10, (kind, n, operations)


def test_10_percent_less_are_found_in_at_least_90_percent_of_200_comparisons():
    for kind, n in (("normal", 5), ("skewed", 5), ("normal", 10)):
        assert alarms(kind, n, 2, 0.9) >= 180, (kind, n)


def test_the_intervals_are_those_of_tables():
    """Critical values of the rank sum and the signed rank test, quantiles of t, and the number of orders."""
    assert compare_stats.counts(2, 2) == [1, 1, 2, 1, 1] and sum(compare_stats.counts(5, 4)) == 126
    assert [compare_stats.cut(n, n, 0.05) for n in (3, 4, 5, 6, 10)] == [-1, 0, 2, 5, 23]
    assert abs(compare_stats.cut(30, 30, 0.05) - 317) <= 1
    assert compare_stats.signed_counts(3) == [1, 1, 1, 2, 1, 1, 1] and sum(compare_stats.signed_counts(20)) == 2 ** 20
    assert [compare_stats.signed_cut(n, 0.05) for n in (5, 6, 8, 10, 20, 25)] == [-1, 0, 3, 8, 52, 89]
    assert abs(compare_stats.signed_cut(40, 0.05) - 264) <= 1
    assert [compare_stats.needed(0.05 / n, False, False) for n in (1, 2, 6, 10)] == [4, 5, 5, 6]
    assert [compare_stats.needed(0.05 / n, True, False) for n in (1, 2, 10)] == [6, 7, 9]
    for tail, df, value in ((0.025, 4, 2.7764), (0.025, 1, 12.706), (0.005, 10, 3.1693), (0.05, 2.5, 2.5582)):
        assert abs(compare_stats.t_quantile(tail, df) - value) < 5e-4, (tail, df)
    for d in (compare_stats.compare([1, 1, 1], [2, 2, 2], 0.05, normal=True), compare_stats.compare_pairs([1, 1, 1], [2, 2, 2], 0.05, normal=True)):
        assert d.verdict == "faster" and abs(d.low - 2) < 1e-12 and abs(d.high - 2) < 1e-12
    d = compare_stats.compare_pairs([1.0] * 4, [1.1, 1.2, 1.3, 1.25], 0.05, normal=True)
    assert abs(d.low - 1.0800) < 1e-4 and abs(d.high - 1.3561) < 1e-4, (d.low, d.high)


# ---- what programs say about themselves ----

def configurations(run, program, words, np=None):
    run.program = conftest.BUILD / "src" / program
    run(words + " --report=json:r.json", np=np).ok()
    return [t["configuration"] for t in json.loads((run.cwd / "r.json").read_text())["tests"]]


def test_the_same_test_has_the_same_hash_in_any_order_and_words(ior):
    one, = configurations(ior, "ior", "-b 64k -t 16k -F -e -o f -i 2")
    again, = configurations(ior, "ior", "-k -o ../work/g -a posix -e=1 --filePerProc -O transferSize=16384,blockSize=65536 -v -w -r")
    assert one == again and one["options"] == {"block-size": "65536", "fsync": "1", "file-per-proc": "1", "read": "1", "transfer-size": "16384",
                                               "write": "1"}
    seen = {one["hash"]}
    for words in ("-b 64k -t 16k -F -e -o f --posix.odirect", "-b 64k -t 16k -e -o f", "-b 64k -t 8k -F -e -o f", "-b 64k -t 16k -F -e -a MMAP",
                  "-b 64k -t 16k -F -e -w -o f -k", "-a DUMMY --depth=2", "-a DUMMY --depth=3"):
        other, = configurations(ior, "ior", words)
        assert other["hash"] not in seen, words
        seen.add(other["hash"])


def test_every_program_has_a_configuration_without_names(ior, weir_compare, monkeypatch):
    for program, words in (("mdtest", "-n 3 -i 6 -d %s"), ("md-workbench", "-P 3 -I 5 -D 1 -R 6 -o %s"),
                           ("mib", "-M -F -s 4k -l 4 -L 1 -t . -d . --rank-csv=%s"), ("h5exerciser", "-a POSIX --numdims 1 --minels 8 -i 2 -o %s"),
                           ("raw_bw.x", "--nx 4 --n_levs 2 --n_writers 1 --rank-csv=%s")):
        first = configurations(ior, program, words % "secretname1")
        one = (ior.cwd / "r.json").read_text()
        assert first == configurations(ior, program, words % "secretname2") and "secret" not in json.dumps(first), first
        assert first[0]["program"] == program and first[0]["backend"] == "POSIX" and first[0]["tasks"] == 1
        status, out, err = weir_compare([one], [(ior.cwd / "r.json").read_text()])
        assert status == 0 and err == "" and "one run says nothing" in out.splitlines()[-1], (program, out, err)


def test_checkpoints_of_many_ranks_are_compared(ior, weir_compare):
    ior.program = conftest.BUILD / "src" / "checkpoint_simulator.x"
    if not ior.program.exists():
        pytest.skip("this build has no checkpoint_simulator.x")
    args, documents = "--nx 1 --ny 1 --im_world 12 --lm 2 -i 5 --write_binary --path %s --report=json:r.json", []
    for words in (args % "one", args % "two", args % "one" + " --split_file"):
        ior(words, np=6).ok()
        documents.append((ior.cwd / "r.json").read_text())
    status, out, err = weir_compare(documents[:1], documents[1:2])
    assert status == 0 and err == "" and [line.split()[0] for line in out.splitlines() if "one run says" in line][0] == "write", out
    status, out, err = weir_compare(documents[1:2], documents[2:])
    assert status == 1 and "split_file" in err, err


def test_tests_of_a_script_have_a_configuration_each(ior):
    (ior.cwd / "script").write_text("IOR START\nblockSize=64k\ntransferSize=16k\nRUN\nfsync=1\nRUN\nfsync=0\nRUN\nIOR STOP\n")
    first, second, third = configurations(ior, "ior", "-f script")
    assert first == third and first["hash"] != second["hash"]


def test_results_say_where_and_with_what_they_were_measured(ior):
    ior("-b 64k -t 64k -o f --report=json:r.json", np=1, env={"ROMIO_HINTS": "of mine", "OMPI_MCA_io": "romio321"}).ok()
    doc = json.loads((ior.cwd / "r.json").read_text())
    about, place = doc["provenance"]["environment"], doc["tests"][0]["provenance"]
    assert about["kernel"].startswith("Linux ") and about["binding"] and about["compiler"]
    assert 1 <= about["processorsOfTaskMin"] <= about["processorsOfTaskMax"] and about["variables"]["ROMIO_HINTS"] == "of mine"
    assert about["mpiIo"] in (conftest.ROMIO, "ROMIO")
    assert place["mountOptions"].split(",")[0] in ("rw", "ro") and place["layout"].startswith(("stripe size ", "preferred transfer size "))
    assert isinstance(place["queue"], dict) and "device" in place
    finding, = [f for f in doc["tests"][0]["findings"] if f["id"] == "H33"]
    assert finding["outcome"] == "fine"
