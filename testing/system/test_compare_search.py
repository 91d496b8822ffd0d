# SPDX-License-Identifier: BSD-3-Clause
"""weir-compare search: combinations of a command, how often the race is wrong, when it ends, and combinations that fail."""
import os
import pathlib
import random
import re
import shlex
import signal
import subprocess
import sys
import types

import pytest

import conftest
from test_compare_run import SCRIPT, program

sys.path.insert(0, str(conftest.SOURCE / "contrib" / "plot"))
from weir_plot import compare, compare_braces, compare_plan, compare_search, compare_search_report, compare_stats, result  # noqa: E402
from weir_plot.refusal import Refusal  # noqa: E402


# ---- braces ----

@pytest.mark.parametrize("word, expected", [
    ("{256k,1m}", "256k 1m"), ("a{1,2}b{3,4}", "a1b3 a1b4 a2b3 a2b4"), ("{a,b{1,2}}", "a b1 b2"), ("{a,{b,c}}", "a b c"),
    ("{}", "{}"), ("x{}y", "x{}y"), ("{a}", "{a}"), ("{{a,b}}", "{a} {b}"), ("{a,{}}", "a {}"), ("{a,a}", "a"), ("a,b}", "a,b}"),
    (r"\{a,b\}", "{a,b}"), (r"{a\,b,c}", "a,b c"), (r"{a\{,b}", "a{ b"), (r"a\,b", r"a\,b"), (r"\n{1,2}", r"\n1 \n2"), ("a\\", "a\\"),
    ("{1..3}", "{1..3}")])
def test_braces_mean_what_they_mean_in_bash(word, expected):
    assert compare_braces.alternatives(word) == expected.split(" ")


@pytest.mark.parametrize("word", ["{a,b", "{", "a{b", "{a,{b}", r"{a\}"])
def test_a_brace_that_is_not_closed_is_refused(word):
    with pytest.raises(Refusal, match="is not closed; write .{ for a brace") as refused:
        compare_braces.alternatives(word)
    assert refused.value.status == 2 and repr(word)[1:-1].replace("\\\\", "\\") in str(refused.value)


def labels(*words):
    return [one.label for one in compare_braces.combinations(words)]


def test_combinations_are_named_by_the_words_that_differ():
    found = compare_braces.combinations(["mpirun", "-n", "4", "ior", "-t", "{256k,1m}", "--mpiio.hint=striping_factor={1,4}", "{,-e}", ""])
    assert [one.label for one in found[:3]] == ["-t 256k, striping_factor=1, no -e", "-t 256k, striping_factor=1, -e",
                                                "-t 256k, striping_factor=4, no -e"]
    assert len(found) == 8 and found[0].words == ["mpirun", "-n", "4", "ior", "-t", "256k", "--mpiio.hint=striping_factor=1", ""]
    assert found[7].words == ["mpirun", "-n", "4", "ior", "-t", "1m", "--mpiio.hint=striping_factor=4", "-e", ""], "an empty word that was given stays"
    assert labels("ior", "--block-size={1m,2m}") == ["--block-size=1m", "--block-size=2m"]
    assert labels("{old,new}/ior") == ["old/ior", "new/ior"] and labels("ior", "-{t,b}", "1m") == ["-t", "-b"]
    assert labels("x", "a\n\x1b{1,2}") == [r"a\n\x1b1", r"a\n\x1b2"], "a label stays in its line"
    assert labels("x", "{a=b=c,d=b=c}") == ["a=b=c", "d=b=c"], "short names would be the same"


def test_too_few_and_too_many_combinations_are_refused():
    for words in (["ior", "-t", "256k", "-t", "1m"], ["ior", "-t", "{1m,1m}"], ["ior", "{}"]):
        with pytest.raises(Refusal, match="there is one combination") as refused:
            compare_braces.combinations(words)
        assert "-t '{256k,1m}'" in str(refused.value) and shlex.join(words) in str(refused.value)
    for words in (["{1,2}"] * 10, ["{1,2}" * 20]):
        with pytest.raises(Refusal, match="1000|1024") as refused:
            compare_braces.combinations(words)
        assert refused.value.status == 2


def test_words_that_a_shell_may_have_expanded_are_seen():
    assert compare_braces.expanded(["ior", "--h=s=1", "--h=s=4", "-t", "{1,2}"]) == ("--h=s=1", "--h=s=4")
    for words in (["ior", "--h=s=1", "--h=t=1"], ["ior", "-t", "1m", "-t", "2m"], ["a=1", "a=2"]):
        assert compare_braces.expanded(words) is None


# ---- the plan ----

def test_the_lower_half_goes_in_each_round_and_the_budget_holds():
    assert [(one.alive, one.each) for one in compare_plan.rounds(12, 60)[0]] == [(12, 2), (6, 1), (3, 3)]
    assert compare_plan.pairs(12, 60) == 10 and compare_plan.rounds(2, 9) == ([], 9)
    for count in range(2, 40):
        for budget in range(2 * count, 200, 7):
            rounds, left = compare_plan.rounds(count, budget)
            assert left >= 0 and sum(one.alive * one.each for one in rounds) + left == budget
            assert count == 2 or (rounds[0].alive == count and rounds[0].each >= 2)
    for count, alpha in ((2, 0.05), (3, 0.05), (12, 0.05), (100, 0.1)):
        least, needed = compare_plan.enough(count, alpha), compare_stats.needed(alpha, True, False)
        assert compare_plan.pairs(count, least) >= needed > compare_plan.pairs(count, least - 1)


def test_pairs_that_can_tell_nothing_more_are_known():
    looks = compare_stats.looks(12, 0.05)
    assert compare_stats.within_reach([], looks) and compare_stats.within_reach([0.1] * 5, looks)
    assert not compare_stats.within_reach([], compare_stats.looks(5, 0.05)), "5 pairs are too few"
    assert not compare_stats.within_reach([0.1, -0.1] * 5, looks) and compare_stats.within_reach([0.1, -0.1], looks)
    rng = random.Random(2)
    for n in range(8):
        values = [rng.choice((-2, -1, 0, 1, 2.5)) for _ in range(n)]
        assert compare_stats.below(values) == sum(values[i] + values[j] <= 0 for i in range(n) for j in range(i + 1)), values
    for _ in range(300):  # what is out of reach is never reached
        logs = [rng.gauss(0.03, 0.05) for _ in range(12)]
        ends = [n for n in range(1, 12) if not compare_stats.within_reach(logs[:n], looks)]
        told = [n for n, alpha in looks.items() if compare_stats.compare_pairs([1] * n, [2.718281828 ** x for x in logs[:n]], alpha).verdict != "not told apart"]
        assert not ends or not told or max(told) <= min(ends), (ends, told)


# ---- races whose rates are known ----

class Simulated(compare_search.Race):
    """Runs differ by 'spread', some are slower, and the machine drifts. A rate of 0: the command fails."""

    def __init__(self, rates, seed, runs=60, spread=0.05, group=0.9, confidence=0.95, operation=None):
        found = [compare_braces.Combination(["x"], str(n)) for n in range(len(rates))]
        super().__init__(found, types.SimpleNamespace(runs=runs, confidence=confidence, operation=operation), seed, "nowhere")
        self.rng, self.rates, self.spread, self.group, self.load, self.order = random.Random(seed + 1), rates, spread, group, 1.0, []

    def measure(self, arm):
        self.order.append(arm.number - 1)
        scale = self.rates[arm.number - 1]
        scale = scale(arm) if callable(scale) else scale
        if not scale:
            raise Refusal("ended with status 3: ERROR: no disk")
        self.load *= self.rng.lognormvariate(0, 0.02)
        rate = scale * self.load * self.rng.lognormvariate(0, self.spread) * self.rng.choice((1, 1, self.group))
        rows = [{"access": kind, "bwMiB": rate * self.rng.gauss(1, 0.01)} for kind in ("write", "read") for _ in range(3)]
        return result.Result("run", {"program": "ior", "tests": [{"Results": rows, "configuration": {}}]})

    def go(self):
        self.screen()
        self.final()
        return self

    @property
    def decided(self):
        return self.verdict is not None and self.verdict.decided


OPTIONS = types.SimpleNamespace(confidence=0.95, commands=["x"], operation=None)


def test_the_fastest_of_twelve_is_found():
    races = [Simulated([100, 102, 104, 130, 98, 90, 101, 85, 107, 95, 99, 70], seed).go() for seed in range(100)]
    assert sum(race.ranked()[0].number == 4 for race in races) >= 95
    assert sum(race.decided and race.ranked()[0].number == 4 for race in races) >= 80
    assert not any(race.decided and race.ranked()[0].number != 4 for race in races)


@pytest.mark.slow
def test_of_equal_combinations_none_is_called_fastest_in_95_of_100_races():
    """However many there were: the runs that chose the last two are not in the interval."""
    for count, spread in ((2, 0.05), (4, 0.1), (16, 0.05)):
        assert sum(Simulated([100] * count, seed, 10 * count, spread).go().decided for seed in range(300)) <= 15, count


def test_the_runs_that_chose_would_alarm_more_often():
    """What the runs of a round say of the first and the last one in it: the test above would see it."""
    def wrong(seed):
        race = Simulated([100] * 16, seed, 480)
        race.screen()
        sides = sorted((arm.values(1) for arm in race.arms), key=sum)
        return compare_stats.compare(sides[0], sides[-1], 0.05).verdict != "not told apart"
    assert sum(map(wrong, range(40))) > 10


class Recorded(Simulated):
    """Runs of one command on a real disk, in the order in which they were made (golden/equal-runs.csv)."""

    def __init__(self, values, count, seed):
        super().__init__([100] * count, seed, len(values))
        self.recorded = iter(values)

    def measure(self, arm):
        rows = [{"access": "write", "bwMiB": next(self.recorded)}]
        return result.Result("run", {"program": "ior", "tests": [{"Results": rows, "configuration": {}}]})


def test_equal_runs_of_a_real_disk_are_not_told_apart():
    lines = (conftest.SOURCE / "testing" / "golden" / "equal-runs.csv").read_text().splitlines()[2:]
    values = [float(rate) for line in lines for rate in line.split(",")[1:3]]
    races = [Recorded(values[at:at + 60], 12, at).go() for at in range(0, len(values) - 60, 10)]
    assert len(races) > 390 and sum(race.decided for race in races) <= 0.05 * len(races)


def test_all_run_equally_often_in_random_order_and_the_lower_half_goes():
    race = Simulated([100, 100, 200, 190, 50], 3, 60, spread=0.001, group=1).go()
    each = [one.each for one in race.rounds]
    first = race.order[:5 * each[0]]
    assert [sorted(first[i:i + 5]) for i in range(0, len(first), 5)] == [[0, 1, 2, 3, 4]] * each[0] and first[:5] != first[5:10]
    assert len(set(race.order[5 * each[0]:5 * each[0] + 3 * each[1]])) == 3 and 4 not in race.order[5 * each[0]:]
    last = race.order[5 * each[0] + 3 * each[1]:]
    assert set(last) == {2, 3} and all(set(last[i:i + 2]) == {2, 3} for i in range(0, len(last), 2))
    assert [arm.number for arm in race.ranked()[:2]] == [3, 4] and race.ranked()[-1].number == 5
    again = Simulated([100, 100, 200, 190, 50], 3, 60, spread=0.001, group=1).go()
    assert again.order == race.order, "the same seed, the same order"


def test_the_race_ends_early_when_it_is_told_apart_or_cannot_be():
    race = Simulated([100, 150, 90, 80], 1).go()
    assert race.decided and race.used < 60 and race.ended == ", which is enough"
    row, second = compare_search_report.rows_of(race)[:2]
    assert row[5] == "-" and re.fullmatch(r"0\.\d{3} \(0\.\d{3} to 0\.\d{3}\)", second[5]), second
    assert re.fullmatch(r"1 is fastest: 1\.\d+ times the second, 0 \(95 % interval 1\.\d+ to 1\.\d+\)", compare_search_report.verdict_of(race, OPTIONS))
    ends = [Simulated([100] * 4, seed, 40).go() for seed in range(20)]
    hopeless = [race for race in ends if "nothing apart" in race.ended]
    assert len(hopeless) > 10 and all(race.used < 40 and not race.decided for race in hopeless)
    assert compare_search_report.verdict_of(hopeless[0], OPTIONS).startswith("the first two are not told apart: ")
    few = Simulated([100, 300], 1, 8).go()
    assert few.used == 8 and "nothing is told apart: 1 was fastest, and 4 pairs of the first two are not enough" in compare_search_report.verdict_of(few, OPTIONS)
    none = Simulated([100, 300, 200], 1, 6).go()
    assert none.used == 6 and "1 was fastest, and 0 pairs" in compare_search_report.verdict_of(none, OPTIONS)


def test_a_combination_that_fails_is_out_of_the_race():
    race = Simulated([100, 0, 150, 120, 0], 1).go()
    assert [arm.number for arm in race.ranked()] == [3, 4, 1] and race.order.count(1) == race.order.count(4) == 1
    lines = compare_search_report.lines_of(race, OPTIONS)
    assert sum(line.startswith("out of the race: ended with status 3: ERROR: no disk") for line in lines) == 2
    assert [line.split()[0] for line in lines if line.endswith("failed")] == ["-", "-"] and "fastest" in lines[-1]
    late = Simulated([100, lambda arm: 0 if arm.stage == compare_search.FINAL and len(arm.runs) > 12 else 150, 120, 90], 1, 100).go()
    assert late.arms[1].error and [arm.number for arm in late.ranked()[:2]] == [3, 1] and late.decided, "the next one takes its place"
    only = Simulated([0, 100, 0], 1).go()
    assert compare_search_report.verdict_of(only, OPTIONS) == "1 is the only combination that did not fail" and only.used in (2, 3, 4)
    assert compare_search_report.verdict_of(Simulated([0, 0, 0], 1).go(), OPTIONS) == "all combinations failed"


def test_the_operation_is_the_first_one_or_the_one_that_was_named():
    race = Simulated([100, 150], 1).go()
    assert race.operation == "write" and Simulated([100, 150], 1, operation="read").go().operation == "read"
    with pytest.raises(Refusal, match="--operation=frob: run has write, read") as refused:
        Simulated([100, 150], 1, operation="frob").go()
    assert refused.value.status == 2


# ---- commands ----

@pytest.fixture
def search(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, rate in (("a", 100), ("b", 80), ("c", 60)):
        program(tmp_path / name, rate)
    program(tmp_path / "bad", 1, "printf 'NOTE\\nERROR: no disk\\nbye\\n' >&2; exit 3")

    def run(*words):
        try:
            status = compare.main(["search", *words])
        except SystemExit as e:
            status = e.code
        return (status, *capsys.readouterr())
    return run


def test_a_search_from_the_command_line(search):
    status, out, err = search("-n", "30", "--keep=kept", "--seed=5", "--", "sh", "./{a,b,c,bad}", "1")
    lines = out.splitlines()
    assert status == 0 and lines[0] == "command: sh './{a,b,c,bad}' 1", out
    assert re.fullmatch(r"4 combinations by write: \d+ of 30 runs, which is enough, in random order \(seed 5\), kept in kept; confidence 95 %", lines[1]), out
    assert re.match(r"all: (\d+) of \1 runs are SUSPECT", lines[2]), out
    assert lines[3].startswith("out of the race: ./bad: 'sh ./bad 1 --report=json:kept/run") and "status 3: ERROR: no disk (all of it is in kept/run" in lines[3]
    assert [line.split()[:2] for line in lines[-5:-1]] == [["1", "./a"], ["2", "./b"], ["3", "./c"], ["-", "./bad"]], out
    assert re.fullmatch(r"./a is fastest: 1\.25\d times the second, ./b \(95 % interval 1\.2\d+ to 1\.2\d+\)", lines[-1]), out
    assert pathlib.Path("kept/verdict.txt").read_text() == out
    assert "run 1 of 30 (round 1 of 1): " in err and "(final): ./a: write 100 MiB/s" in err and err.count("out of the race") == 1, err
    order = pathlib.Path("order").read_text()
    os.unlink("order")
    assert search("-n", "30", "--keep=again", "--seed=5", "--", "sh", "./{a,b,c,bad}", "1")[0] == 0 and pathlib.Path("order").read_text() == order


def test_a_plan_is_listed_and_nothing_is_run(search):
    status, out, err = search("--dry-run", "-n", "40", "--seed=1", "--", "ior", "-t", "{1,2,3}", "-b={4,5}")
    assert status == 0 and err == ""
    assert out.splitlines()[0] == "6 combinations, at most 40 runs, seed 1" and "  6: -t 3, -b=5: ior -t 3 -b=5" in out, out
    assert "round 1: 6 combinations, 2 runs of each" in out and re.search(r"final: at most \d+ pairs of two, judged after [\d, ]+", out), out
    status, out, err = search("--dry-run", "-n", "6", "--", "ior", "{a,b,c}")
    assert status == 0 and "final: no run is left" in out and "note: 6 runs can tell nothing apart: 21 are needed for 3 combinations" in err, err
    assert sorted(os.listdir()) == ["a", "b", "bad", "c"]


def test_what_is_no_search_is_refused(search):
    for words, why in ((["-n", "5", "--", "sh", "./{a,b,c}"], "-n 5: 3 combinations need 6 runs at least, 2 of each"),
                       (["--", "sh", "./a", "1"], "there is one combination, since no word has {A,B}: sh ./a 1; a shell such as bash"),
                       (["--", "sh", "./{a,b"], "is not closed"), ([], "one command"), (["--"], "one command"),
                       (["--", "sh", "{a,b}", "::", "sh"], "one command"), (["-n", "x", "--", "sh", "{a,b}"], "number of runs"),
                       (["-o", "x", "--", "sh", "{a,b}"], "-o x: the name has to end in one of .svg, .png, .pdf, .html"),
                       (["--operation=frob", "--keep=k", "--", "sh", "./{a,b}", "1"], "--operation=frob: k/run001-")):
        status, out, err = search(*words)
        assert status == 2 and out == "" and why in err, err
    status, out, err = search("-n", "8", "--keep=x", "--", "sh", "./a", "{1,2}", "--x=1", "--x=2")
    assert status == 0 and "note: --x=1 and --x=2 follow each other; a shell such as bash" in err, err
    status, out, err = search("--keep=y", "--", "sh", "./bad", "{1,2,3}")
    assert status == 1 and out.endswith("all combinations failed\n") and "all 3 combinations failed; their output is kept in y" in err, err


def test_a_signal_ends_the_command_that_runs_and_keeps_the_table(search, tmp_path):
    program(tmp_path / "slow", 90, "[ $(wc -c <order) -lt 10 ] || { echo $$ >pid; exec sleep 300; }")
    process = subprocess.Popen([sys.executable, str(SCRIPT), "search", "--keep=kept", "--", "sh", "./slow", "{1,2}"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    conftest.wait_until(lambda: pathlib.Path("pid").exists() and pathlib.Path("pid").read_text())
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM and err.endswith("interrupted in run 3 of 20; the results are kept in kept\n"), err
    assert "3 of 20 runs, interrupted, in random order" in out and [line.split()[0] for line in out.splitlines()[-3:-1]] == ["1", "2"], out
    assert pathlib.Path("kept/verdict.txt").read_text() == out
    conftest.wait_until(lambda: not conftest.is_alive(int(pathlib.Path("pid").read_text())))


def alive(name):
    return any(conftest.is_alive(int(word)) for word in pathlib.Path(name).read_text().split())


def test_a_second_signal_ends_a_command_that_does_not_listen_at_once(search, tmp_path):
    program(tmp_path / "deaf", 90, "[ $(wc -c <order) -lt 6 ] || { trap 'echo >told' TERM INT; echo $$ >pid; while :; do sleep 0.1; done; }")
    process = subprocess.Popen([sys.executable, str(SCRIPT), "search", "--keep=kept", "--", "sh", "./deaf", "{1,2}"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, start_new_session=True)
    conftest.wait_until(lambda: pathlib.Path("pid").exists() and pathlib.Path("pid").read_text())
    process.send_signal(signal.SIGINT)
    conftest.wait_until(pathlib.Path("told").exists)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGINT and "interrupted in run" in err and "Traceback" not in err, err
    assert not alive("pid")


def test_what_cannot_be_written_is_one_line(search, tmp_path):
    words = [sys.executable, str(SCRIPT), "search", "-n", "4", "--keep=kept", "--", "sh", "./{a,b}", "1"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 1 and done.stderr.endswith("weir-compare: standard output: No space left on device\n") and "Traceback" not in done.stderr, done
    assert "was fastest" in pathlib.Path("kept/verdict.txt").read_text(), "it is kept all the same"
    program(tmp_path / "gone", 90, "rm -rf kept2; exit 0")
    status, out, err = search("-n", "4", "--keep=kept2", "--", "sh", "./gone", "{1,2}")
    assert status == 1 and out.endswith("all combinations failed\n") and err.endswith("weir-compare: kept2/verdict.txt: No such file or directory\n"), err


def test_a_picture_that_could_not_be_written_is_refused_before_the_runs(search):
    pytest.importorskip("matplotlib", reason="needs python3-matplotlib for the pictures")
    status, out, err = search("-o", "none/s.svg", "--keep=kept", "--", "sh", "./{a,b}", "1")
    assert status == 1 and err == "weir-compare: -o none/s.svg: no such directory\n" and not os.path.exists("kept"), err


def test_picture_and_page_show_the_race(search, tmp_path):
    from plot_support import words_of
    pytest.importorskip("matplotlib", reason="needs python3-matplotlib for the pictures")
    words = ["-n", "30", "--", "sh", "./{a,b,c,bad}", "1"]
    assert search("-o", "s.svg", "--keep=k1", *words)[0] == 0 and search("-o", "s.html", "--keep=k2", *words)[0] == 0
    shown = words_of(tmp_path / "s.svg")
    assert {"./a", "./b", "./c", "write (MiB/s)"} <= set(shown) and any(word.startswith("4 combinations, ") for word in shown), shown
    assert any(re.fullmatch(r"80\.\d MiB/s, 0\.80\d \(0\.\d+ to 0\.\d+\)", word) for word in shown), shown
    html = (tmp_path / "s.html").read_text()
    for part in ("Result", "./a is fastest: 1.25", "<svg", "ERROR: no disk", "against the first"):
        assert part in html, part


def test_real_runs_of_combinations(ior):
    """From the command line to the verdict; what it says is not known."""
    words = [*conftest.LAUNCHER, "-np", "2", str(conftest.BUILD / "src" / "ior"), "-a", "DUMMY", "-w", "-t", "{1k,4k}", "-b", "{64k,128k}", "-o", "f"]
    done = subprocess.run([str(SCRIPT), "search", "-n", "10", "--keep=kept", "--", *words], cwd=ior.cwd, capture_output=True, text=True, timeout=120,
                          env=conftest.program_env())
    assert done.returncode == 0 and "4 combinations by write: 10 of 10 runs, in random order" in done.stdout, done
    assert {"-t 1k, -b 64k", "-t 4k, -b 128k"} <= {line[6:20].strip() for line in done.stdout.splitlines()}, done.stdout
    assert len([name for name in os.listdir(ior.cwd / "kept") if name.endswith(".json")]) == 10
