# SPDX-License-Identifier: BSD-3-Clause
"""weir-compare run: how often a sequence of pairs is wrong, when it ends, and what becomes of commands that fail."""
import json
import math
import os
import pathlib
import random
import re
import signal
import statistics
import subprocess
import sys
import time
import types

import pytest

import conftest

sys.path.insert(0, str(conftest.SOURCE / "contrib" / "plot"))
from weir_plot import compare, compare_run, result  # noqa: E402

SCRIPT = conftest.SOURCE / "contrib" / "plot" / "weir-compare"


# ---- statistics of the sequence, on runs that nobody made ----

class Simulated:
    """Pairs whose rates are known: runs differ by 'spread', some fall into a second group, repetitions of one run differ by
    1 %, and the machine drifts."""

    folder = "nowhere"

    def __init__(self, rng, scale, most, spread=0.1, group=0.8):
        self.rng, self.scale, self.most, self.spread, self.group = rng, scale, most, spread, group
        self.sides, self.load = {"A": [], "B": []}, 1.0

    @property
    def count(self):
        return len(self.sides["B"])

    def rates(self, scale):
        luck = self.rng.lognormvariate(0, self.spread) * self.rng.choice((1, 1, self.group))
        self.load *= self.rng.lognormvariate(0, 0.05)
        return [scale * self.load * luck * self.rng.gauss(1, 0.01) for _ in range(6)]

    def run(self):
        for label in self.rng.choice(("AB", "BA")):
            rows = [{"access": kind, "bwMiB": rate} for kind in ("write", "read")
                    for rate in self.rates(self.scale if (label, kind) == ("B", "write") else 1)]
            test = {"Results": rows, "configuration": {}}
            self.sides[label].append(result.Result(label, {"program": "ior", "tests": [test]}))


def judged(scale, seed, pairs=20, worse_than=0.0, **how):
    """(verdicts by operation, number of pairs) of a sequence in which B writes at 'scale' times the rate of A."""
    simulated = Simulated(random.Random(seed), scale, pairs, **how)
    verdicts, _ = compare_run.run_all(simulated, types.SimpleNamespace(confidence=0.95, worse_than=worse_than))
    return {v.operation.name: v for v in verdicts}, simulated.count


def test_equal_commands_alarm_in_at_most_5_of_100_sequences():
    found = [judged(1, seed)[0] for seed in range(100)]
    assert sum(any(v.decided for v in verdicts.values()) for verdicts in found) <= 5


def test_repetitions_of_one_run_would_alarm_in_more_than_half():
    """What the tool did when its unit was the repetition: the test above would see it."""
    def wrong(seed):
        simulated = Simulated(random.Random(seed), 1, 1)
        simulated.run()
        found = compare_run.compare_sides.operations(simulated.sides["A"], simulated.sides["B"])
        return any(compare_run.compare_stats.compare(one.a[0], one.b[0], 0.025).verdict != "not told apart" for one in found)
    assert sum(map(wrong, range(100))) > 50


def test_10_percent_less_is_found_in_20_pairs():
    found = [judged(0.9, seed, spread=0.04, group=1)[0]["write"] for seed in range(100)]
    assert sum(v.is_worse(0) for v in found) >= 90


def test_pairs_end_when_the_answer_is_clear():
    assert judged(0.3, 1)[1] == 20, "equal reads are never told apart"
    verdicts, pairs = judged(0.3, 1, worse_than=0.05)
    assert pairs == 10 and verdicts["write"].is_worse(0.05), "the status is known"
    assert judged(1, 1, worse_than=0.3, spread=0.02, group=1)[1] < 20, "none is slower by 30 %"
    assert judged(1, 1, pairs=3)[1] == 3


def test_the_looks_share_the_probability_of_an_alarm():
    for pairs, alpha in ((20, 0.025), (10, 0.025), (10, 0.05), (20, 0.005), (6, 0.05), (3, 0.05), (100, 0.01), (1, 0.05)):
        looks = compare_run.compare_stats.looks(pairs, alpha)
        assert sum(looks.values()) == pytest.approx(alpha) and max(looks) == pairs and all(0 < n <= pairs for n in looks), looks
    assert sorted(compare_run.compare_stats.looks(20, 0.025)) == [10, 13, 16, 20]


# ---- the same on runs of one command that were made on a real disk ----

class Recorded:
    """The pairs of one comparison in golden/equal-runs.csv; the rates of B times 'scale'."""

    folder = "nowhere"

    def __init__(self, pairs, scale=1.0):
        self.pairs, self.scale, self.most = pairs, scale, len(pairs)
        self.sides = {"A": [], "B": []}

    count = Simulated.count

    def run(self):
        write_a, write_b, read_a, read_b = self.pairs[self.count]
        for label, write, read in (("A", write_a, read_a), ("B", self.scale * write_b, self.scale * read_b)):
            rows = [{"access": "write", "bwMiB": write}, {"access": "read", "bwMiB": read}]
            self.sides[label].append(result.Result(label, {"program": "ior", "tests": [{"Results": rows, "configuration": {}}]}))

    def spread(self):
        """Of the differences of its writes."""
        return statistics.stdev(math.log(pair[1] / pair[0]) for pair in self.pairs)


@pytest.fixture(scope="module")
def recorded():
    """Lists of pairs: of 100 comparisons."""
    found = {}
    for line in (conftest.SOURCE / "testing" / "golden" / "equal-runs.csv").read_text().splitlines()[2:]:
        number, *rates = line.split(",")
        found.setdefault(number, []).append([float(rate) for rate in rates])
    assert len(found) == 100 and {len(pairs) for pairs in found.values()} == {20}
    return list(found.values())


def replayed(pairs, scale=1.0):
    verdicts, _ = compare_run.run_all(Recorded(pairs, scale), types.SimpleNamespace(confidence=0.95, worse_than=0))
    return {v.operation.name: v for v in verdicts}


def test_equal_runs_of_a_real_disk_alarm_in_at_most_5_of_100_comparisons(recorded):
    assert sum(any(v.decided for v in replayed(pairs).values()) for pairs in recorded) <= 5


def test_groups_of_equal_runs_that_were_taken_in_turn_alarm_in_at_most_5_percent(recorded):
    def alarm(pairs):
        return any(compare_run.compare_stats.compare([p[i] for p in pairs], [p[i + 1] for p in pairs], 0.025).verdict != "not told apart"
                   for i in (0, 2))
    assert sum(alarm(pairs[k:k + 5]) for pairs in recorded for k in (0, 5, 10, 15)) <= 20


def test_10_percent_are_found_in_runs_of_a_real_disk_that_was_quiet(recorded):
    quiet = [pairs for pairs in recorded if Recorded(pairs).spread() < 0.12]
    found = [replayed(pairs, 0.9)["write"].is_worse(0) for pairs in quiet]
    assert len(quiet) >= 5 and sum(found) >= 0.8 * len(quiet), (sum(found), len(quiet))


def test_the_loss_that_is_named_is_found_in_most_cases(recorded):
    """Where a disk was too busy for a loss of 10 %: in the same runs, each pair in a random order."""
    random_order, tried, found = random.Random(7), 0, 0
    for pairs in recorded:
        write = replayed(pairs)["write"]
        for line in compare_run.compare_verdict.limits([write], True):
            loss, needed = map(int, re.fullmatch(r"write: 20 pairs find a loss of about (\d+) %; for one of 10 % about (\d+) are needed", line).groups())
            assert loss >= 10 and needed > 20, line
            shuffled = [[*random_order.sample(pair[:2], 2), *pair[2:]] for pair in pairs]
            found += replayed(shuffled, 1 - loss / 100)["write"].is_worse(0)
            tried += 1
    assert tried > 50 and 0.65 * tried <= found <= 0.95 * tried, (found, tried)


# ---- commands ----

def program(path, rate, more=""):
    """A program whose result says this rate, and how often it was run. In sh, which begins in a thirtieth of the time of Python."""
    path.write_text("""n=$1
for word; do
    case $word in --report=json:*) name=${word#*:} ;; esac
done
[ -n "$name" ] || exit 1
printf %%s '%s' >>order
%s
row='{"access": "write", "bwMiB": %%s}'
printf '{"program": "ior", "status": 0, "tests": [{"verdict": "SUSPECT", "configuration": {"n": "%%s"}, "Results": ['"$row, $row]}]}" \\
    "$n" %s %s >"$name"
""" % (path.stem, more, rate * 1.0, rate * 1.01))
    return ["sh", str(path), "1"]


@pytest.fixture
def two(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return program(tmp_path / "a", 100), program(tmp_path / "b", 80)


def run(capsys, *words):
    try:
        status = compare.main(["run", *words])
    except SystemExit as e:
        status = e.code
    return (status, *capsys.readouterr())


def test_two_commands_are_run_in_pairs_and_judged(two, capsys):
    a, b = two
    status, out, err = run(capsys, "-n", "20", "-o", "kept", "--seed=1", "--", *a, "::", *b)
    assert status == 7 and "10 of 20 pairs, which is enough, in random order, kept in kept" in out, out
    assert re.search(r"^write  100 MiB/s +80.4 MiB/s +-20.0 % .* slower$", out.replace("100 MiB/s  ", "100 MiB/s "), re.M) or "slower" in out
    assert out.startswith("A: %s\n" % " ".join(a)) and "A: 10 of 10 runs are SUSPECT" in out and "B: 10 of 10" in out, out
    lines = err.splitlines()
    assert len(lines) == 10 and lines[0].startswith("weir-compare: pair 1 of 20 (") and "at most" in lines[0] and "MiB/s -> " in lines[0], err
    order = pathlib.Path("order").read_text()
    pairs = [order[i:i + 2] for i in range(0, 20, 2)]
    assert set(pairs) == {"ab", "ba"}, order
    assert [line.split("(")[1][:4] for line in lines] == ["%s, %s" % tuple(p.upper()) for p in pairs]
    assert len(os.listdir("kept")) == 41 and pathlib.Path("kept/verdict.txt").read_text() == out
    os.unlink("order")
    assert run(capsys, "-n", "20", "-o", "again", "--seed=1", "--", *a, "::", *b)[0] == 7 and pathlib.Path("order").read_text() == order
    names = sorted(os.listdir("kept"))
    a, b = (["kept/" + n for n in names if n.endswith(label + ".json")] for label in "AB")
    assert compare.main(["--paired", *a, ":", *b]) == 7


def test_where_the_result_goes_can_be_said(two, tmp_path, capsys):
    (tmp_path / "job.sh").write_text('[ -n "$out" ] && %s "--report=json:$out"\n' % " ".join(two[0]))
    job = ["env", "out={}", "sh", "job.sh"]
    status, out, _ = run(capsys, "-n", "7", "-o", "kept", "--", *job, "::", *two[0])
    assert status == 0 and "not told apart" in out and "7 pairs in random order" in out, out


def test_commands_that_fail_are_told_in_one_line(two, tmp_path, capsys):
    a, _ = two
    bad = program(tmp_path / "bad", 1, "printf 'NOTE\\nERROR: no disk\\nbye\\n' >&2; exit 3")
    quiet = program(tmp_path / "quiet", 1, "exit 0")
    cut = program(tmp_path / "cut", 1, "printf '{' >$name; exit 0")
    for number, (b, words) in enumerate(((bad, "ended with status 3: ERROR: no disk (all of it is in k0/"), (quiet, "has not written its result"),
                                         (cut, "-B.json: not JSON"), (["./none"], "B: ./none: No such file"))):
        status, out, err = run(capsys, "-n", "2", "-o", "k%d" % number, "--", *a, "::", *b)
        assert status == 1 and out == "" and err.count("\n") == 1 and words in err, err
    changing = program(tmp_path / "changing", 1, "n=$(wc -c <order)")
    status, _, err = run(capsys, "-n", "3", "-o", "k5", "--", *a, "::", *changing)
    assert status == 1 and "are not alike: n is" in err, err
    status, _, err = run(capsys, "-n", "2", "-o", "k6", "--", *a, "::", *a[:2], "2")
    assert status == 0 and "note: A and B differ: n is 1 and 2" in err and "note: 2 pairs can tell nothing apart: 6 are needed" in err, err


def test_what_is_no_pair_of_commands_is_refused(two, capsys):
    a, b = two
    for words in ([], ["--"], ["--", *a], ["--", *a, "::"], ["--", "::", *b], ["--", *a, "::", *b, "::", *b]):
        status, out, err = run(capsys, *words)
        assert status == 2 and out == "" and "COMMAND A :: COMMAND B" in err, err
    for words in (["-n", "0"], ["-n", "x"], ["--worse-than=x"], ["--frob"], ["word"]):
        assert run(capsys, *words, "--", *a, "::", *b)[0] == 2
    os.mkdir("full")
    pathlib.Path("full/x").touch()
    assert "full: is not empty" in run(capsys, "-o", "full", "--", *a, "::", *b)[2]
    assert "a: " in run(capsys, "-o", "a", "--", *a, "::", *b)[2]
    assert not pathlib.Path("order").exists() and not [n for n in os.listdir() if n.startswith("weir-compare")]


def test_runs_that_begin_in_the_same_second_have_folders_of_their_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(time, "strftime", lambda form: form.replace("%", ""))
    assert [compare_run.make_folder(None) for _ in range(3)] == ["weir-compare-Ymd-HMS" + tail for tail in ("", "-2", "-3")]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT], ids=["batch system", "lost terminal", "keyboard"])
def test_a_signal_ends_the_command_that_runs_and_keeps_the_pairs(two, tmp_path, number):
    slow = program(tmp_path / "slow", 1, "echo $$ >pid; exec sleep 300")
    job = ["sh", "-c", " ".join(slow) + " $0; true", "--report=json:{}"]
    process = subprocess.Popen([sys.executable, str(SCRIPT), "run", "-o", "kept", "--", *job, "::", *job], stderr=subprocess.PIPE, text=True)
    conftest.wait_until(lambda: pathlib.Path("pid").exists() and pathlib.Path("pid").read_text())
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 128 + number and err == "weir-compare: interrupted after 0 pairs, which are kept in kept\n", err
    conftest.wait_until(lambda: not conftest.is_alive(int(pathlib.Path("pid").read_text())))  # its parent ended before it, and init may take its time


def test_a_signal_while_a_command_starts_ends_it(monkeypatch):
    """Its process is not known to the caller then."""
    started, popen = [], subprocess.Popen

    def begin(*args, **kwargs):
        started.append(popen(*args, **kwargs))
        os.kill(os.getpid(), signal.SIGTERM)
        return started[0]
    monkeypatch.setattr(compare_run.subprocess, "Popen", begin)
    before = signal.signal(signal.SIGTERM, compare_run.stop)
    try:
        with pytest.raises(KeyboardInterrupt):
            compare_run.status_of(["sleep", "300"], subprocess.DEVNULL)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert started[0].poll() == -signal.SIGTERM


def test_real_runs_in_pairs(ior, tmp_path):
    """From the command line to the verdict; what it says is not known."""
    words = [*conftest.LAUNCHER, "-np", "2", str(conftest.BUILD / "src" / "ior"), "-t", "64k", "-b", "256k", "-i", "2", "-o", "f"]
    done = subprocess.run([str(SCRIPT), "run", "-n", "2", "-o", "kept", "--worse-than=99%", "--", *words, "::", *words], cwd=ior.cwd,
                          capture_output=True, text=True, timeout=120, env=conftest.program_env())
    assert done.returncode == 0 and "2 pairs in random order, kept in kept" in done.stdout, done
    assert [line.split()[0] for line in done.stdout.splitlines()[-2:]] == ["write", "read"], done.stdout
    assert sorted(n for n in os.listdir(ior.cwd / "kept") if n.endswith(".json")) == ["pair%03d-%s.json" % (i, x) for i in (1, 2) for x in "AB"]
    assert json.loads((ior.cwd / "kept" / "pair002-B.json").read_text())["status"] == 0
