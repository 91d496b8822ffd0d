# SPDX-License-Identifier: BSD-3-Clause
"""Repetitions until the rate is known (--until), what the results say of the rates, and the ranks that end late."""
import re
import json
import signal
import statistics

import pytest

from conftest import timely
from mdtest_support import mdtest  # noqa: F401
from mdw_support import mdw  # noqa: F401

SHORT = "-a DUMMY -w -b 8k -t 8k --dummy.delay-xfer=10000 --report=json:r.json "
ONE = SHORT.replace("10000", "100000")


def results_of(ior):
    return json.loads((ior.cwd / "r.json").read_text())["tests"]


def test_repetitions_end_when_the_rate_is_known(ior):
    """Looks are at 6, 9, 14 ... repetitions; the table of findings has the same numbers in MiB/s."""
    run = ior(SHORT.replace("json:r.json", "json:r.json,text:out") + "-r --until=90 --until-max=50 --findings -D 5", np=2).ok()
    (test,) = results_of(ior)
    said = [line for line in run.notes if line.startswith("--until: condition met after ")]
    n = len(test["Results"]) // 2
    timely(test["untilEnded"] == "narrow" and n in (6, 9, 14, 21), run)
    assert len(said) == 1 and "after %d rep" % n in said[0], run
    assert "% within this run (" in said[0] and said[0].endswith("; differences between runs are not included"), run
    assert [row["operation"] for row in test["rates"]] == ["write", "read"]
    for row in test["rates"]:
        mine = [8192 * 2 / float(r["totalTime"]) for r in test["Results"] if r["access"] == row["operation"]]
        assert row["repetitions"] == n == len(mine) and row["unit"] == "bytes/s", row
        assert row["median"] == pytest.approx(statistics.median(mine), rel=0.01), row
        assert row["harmonicMean"] == pytest.approx(statistics.harmonic_mean(mine), rel=0.01), row
        assert row["low"] <= row["median"] <= row["high"] and (row["high"] - row["low"]) / 2 <= 0.9 * row["median"], row
        assert n > 6 or [row["low"], row["high"]] == pytest.approx([min(mine), max(mine)], rel=0.01), row
    assert "\nRates " in (ior.cwd / "out").read_text()


@pytest.mark.parametrize("args, ended, n, words", [
    (SHORT + "--until=0.0000001 -i 7", "most", 7, "condition not met, but the maximum number was reached after 7 repetitions: the interval of the median is +-"),
    (SHORT + "--until=0.0000001 --until-max=5 -i 30", "most", 5, "no interval of the median yet, wanted +-0.0000001 %"),
    (ONE + "--until=0.0000001 --until-time=1 -D 1 -e", "time", None, "the time limit was reached after"),
    ("-w -r -b 8k -t 8k -F -k --until=0.0000001 -i 6 --report=json:r.json -O stoneWallingWearOut=1 -D 1 -m", "most", 6, "wanted")])
def test_repetitions_end_at_their_limits(ior, args, ended, n, words):
    run = ior(args, np=None).ok()
    (test,) = results_of(ior)
    said = [line for line in run.notes if line.startswith("--until: ")]
    assert test["untilEnded"] == ended and len(said) == 1 and words in said[0], run
    assert all(row["repetitions"] == (n or row["repetitions"]) for row in test["rates"]) and test["rates"], run
    assert ended != "time" or test["rates"][0]["repetitions"] < 100, run
    timely(ended != "time" or test["rates"][0]["repetitions"] >= 5, run)


def test_each_test_of_a_script_ends_by_its_own_rule(ior):
    (ior.cwd / "script").write_text("IOR START\napi=DUMMY\nreadFile=0\nblockSize=8k\ntransferSize=8k\nuntil=90\nuntilMax=30\nRUN\n"
                                    "until=0.0000001\nuntilMax=6\nRUN\nIOR STOP\n")
    run = ior("-f script -w --dummy.delay-xfer=10000 --report=json:r.json", np=None).ok()
    first, second = results_of(ior)
    assert (second["untilEnded"], second["rates"][0]["repetitions"]) == ("most", 6), run
    timely(first["untilEnded"] == "narrow", run)


def test_without_the_option_the_rates_are_there_too(ior):
    ior(SHORT + "-i 2", np=None).ok()
    (test,) = results_of(ior)
    (row,) = test["rates"]
    assert "untilEnded" not in test and row["repetitions"] == 2 and row["low"] is None and row["median"] > 0
    ior(SHORT + "--until=5 --dry-run", np=None).ok()
    (test,) = results_of(ior)
    assert "untilEnded" not in test and not test.get("rates")


def test_a_rank_that_fails_ends_the_repetitions(ior):
    run = ior(SHORT + "-F -s 4 --until=0.0000001 --until-max=40 --dummy.fail-at=60", np=2).fails(3, "rank ")
    assert results_of(ior)[0]["untilEnded"] == "failed" and any("the test ended early" in line for line in run.notes), run


def test_a_signal_ends_the_repetitions(ior):
    proc, _ = ior.begin(ONE + "--until=0.0001 --until-max=1000", None)
    proc.send_signal(signal.SIGINT)
    run = ior.finish(proc)
    assert run.returncode == 6 and results_of(ior)[0]["untilEnded"] == "failed", run


def test_other_programs_have_it(mdtest, mdw):  # noqa: F811
    run = mdtest(["-n", "3", "-F", "-a", "DUMMY", "--until=90", "--until-max=8", "-P"], np=2).ok()
    n = 6 if "condition met after 6" in run.stderr else 8
    assert "SUMMARY rate (in ops/sec): (of %d iterations)" % n in run.stdout, run
    mdtest.empty()
    run = mdw("-I 2 -P 3 -D 2 --until=99 --until-max=9", np=2).ok()
    assert "--until: " in run.stderr and mdw.names() == [], run


@pytest.mark.parametrize("args, words", [("--until=0", "'0' is not a number of percent"), ("--until=x", "'x'"), ("--until=100", "'100'"),
                                         ("--until=5 -i 3", "at least 5 repetitions"), ("--until=5 --until-max=4", "--until-max allows 4"),
                                         ("--until-time=3", "--until-time needs --until=PERCENT")])
def test_what_makes_no_sense_is_refused(ior, args, words):
    ior("-w -a DUMMY " + args, np=None).fails(1, words)


@pytest.mark.parametrize("transfer, delay, call", [("8k", 100000, ""), ("64k", 800000, "transfer")])
def test_a_rank_that_ends_late_is_named(ior, transfer, delay, call):
    """Rank 0 takes 0.8 s for what takes the others no time: the phase would be shorter by nearly all of it. Was it one call?"""
    run = ior("-a DUMMY -w -F -b 64k -t %s --dummy.delay-xfer=%d --dummy.delay-only-rank0 --report=json:r.json" % (transfer, delay), np=6).ok()
    (test,) = results_of(ior)
    timely([row["rank"] for row in test["stragglers"]] == [0], run)
    (row,) = test["stragglers"]
    (h19,) = [f for f in test["findings"] if f["id"] == "H19"]
    assert (row["operation"], row["iter"], row["part"]) == ("write", 0, "work") and row["share"] <= 1, run
    timely(row["share"] > 0.5, run)
    assert row["host"] and "without rank 0 (host %s) the write phase would have been " % row["host"] in h19["text"], run
    words = re.search(r": late in work(?:, in one (\w+) of ([0-9.]+) s)?$", h19["text"])
    timely(call or row["call"] == "", row)  # eight calls are alike where nothing holds up one of them
    assert row["call"] == call == (words.group(1) or "") and (not call or float(words.group(2)) >= 0.8 <= row["callTime"]), (row, h19)
    assert h19["outcome"] == "found" and h19["value"] >= 100 * row["share"] - 0.01, run


def test_an_interval_that_is_not_known_is_a_dash(ior):
    run = ior("-a DUMMY -w -b 64k -t 8k -i 2 --findings", np=None).ok()
    assert re.search(r"^write +2 +[0-9.e+]+ +- +- +[0-9.e+]+  MiB/s$", run.stdout, re.M), run
