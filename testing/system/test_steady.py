# SPDX-License-Identifier: BSD-3-Clause
"""--until=steady: phases that end when their rate and p99 are steady, by the rule of SNIA. What depends on time is asked of a
device on a virtual clock (virtual-clock.c), which is compared with a model of it; with several ranks any rate is steady."""
import json
import os
import signal

import pytest

from conftest import timely
from mdtest_support import mdtest  # noqa: F401
from mdw_support import mdw  # noqa: F401
from mib_support import mib  # noqa: F401

ANY = ",round=0.05,window=2,most=30,excursion=1000%,slope=1000%"  # these limits hold for any rates above 0
OURS = "--until=steady" + ANY + " --report=json:r.json "
DEVICE = "-a DUMMY -w -b 80k -t 8k --dummy.delay-xfer=10000 --progress=never --report=json:r.json,text:out "


def results(program, n=0):
    test = json.loads((program.cwd / "r.json").read_text())["tests"][n]
    return test, test["steadyState"], [f for f in test["findings"] if f["id"] == "H38"][0]


# ---- a device on a virtual clock ----

def model(slower=0.0, until=1e9, round_s=1.0, most=25, window=5):
    """Rates of the rounds of transfers of 8192 bytes and 10 ms, with a look every 50 ms; and the rounds after which they are steady."""
    t, look, due, last, done, given, rates = 0.0, 0.05, round_s, 0.0, 0, None, []
    while len(rates) < most:
        t += 0.01 * (1 + slower * min(t, until)) + 1e-7  # some looks at the clock
        done += 8192
        if t < look:
            continue
        look = t + 0.05
        if given is not None:
            rates.append(given)
            given = None
            if len(rates) >= window and is_steady(rates[-window:]):
                break
        elif t >= due:
            given, last, done, due = done / (t - last), t, 0, (t // round_s + 1) * round_s
    return rates


def fit(y):
    """Excursion and slope over the window, percent of the mean; the line of least squares by its normal equations."""
    n, mean = len(y), sum(y) / len(y)
    xs, xx, xy = sum(range(n)), sum(i * i for i in range(n)), sum(i * v for i, v in enumerate(y))
    slope = (n * xy - xs * sum(y)) / (n * xx - xs * xs)
    return 100 * (max(y) - min(y)) / mean, 100 * slope * (n - 1) / mean


def is_steady(y):
    excursion, slope = fit(y)
    return excursion <= 20 and abs(slope) <= 10


CASES = {
    "constant": ({}, ""),
    "slower for 4 s": (dict(slower=0.3, until=4), ""),
    "always slower": (dict(slower=0.2), ""),
    "a minute": (dict(slower=0.001, round_s=60), ""),
    "three rounds": (dict(slower=0.3, until=4, window=3), ",window=3"),
}


@pytest.mark.parametrize("name", CASES, ids=lambda name: name.replace(" ", "_"))
def test_a_phase_ends_with_the_round_that_a_model_of_the_device_gives(ior, preload, name):
    device, words = CASES[name]
    rates = model(**device)
    steady = is_steady(rates[-device.get("window", 5):])
    env = {"LD_PRELOAD": preload("virtual-clock.c"), "SLOWER": str(device.get("slower", 0)), "SLOWER_UNTIL": str(device.get("until", 1e9))}
    words += "" if name == "a minute" else ",round=1"  # that is the default
    run = ior(DEVICE + "--until=steady,of=rate" + words, np=None, env=env).ok()
    test, (row,), finding = results(ior)
    excursion, slope = fit(rates[-device.get("window", 5):])
    assert (row["rounds"], row["steady"]) == (len(rates), "yes" if steady else "no"), (rates, row)
    assert steady == (name not in ("always slower", "a minute")) and row["unit"] == "bytes/s" and row["operation"] == "write"
    assert row["rateExcursion"] == pytest.approx(excursion, abs=0.05) and row["rateSlope"] == pytest.approx(slope, abs=0.05), (rates, row)
    assert row["rate"] == pytest.approx(sum(rates[-device.get("window", 5):]) / device.get("window", 5), rel=1e-3)
    (phase,) = test["phases"]
    assert phase["ended"] == ("steady" if steady else "time") and phase["tasksBySteady"] == steady, phase
    assert row["begin"] < row["end"] <= phase["totalTime"] < row["end"] + 0.2 and phase["bytes"] > 80 << 10, (row, phase)
    assert finding["outcome"] == ("fine" if steady else "found") and finding["value"] == pytest.approx(
        100 * max(excursion / 20, abs(slope) / 10), abs=1), finding
    said = [n for n in run.notes if n.startswith("--until=steady: the write phase was ")]
    assert len(said) == 1 and ("steady after %d rounds in" % len(rates) if steady else "never steady: in the last 5 of 25 rounds") in said[0], run
    table = (ior.cwd / "out").read_text().split("\nSteady state, last window of each phase:\n")[1].split("\n")
    assert table[0].split()[:4] == ["phase", "iter", "steady", "rounds"] and table[1].split()[:4] == ["write", "0", row["steady"], str(len(rates))]
    assert float(table[1].split()[6]) == pytest.approx(row["rate"] / 2 ** 20, rel=1e-4) and "never steady" in "".join(run.findings) or steady, run


def test_latency_alone_can_be_what_is_not_steady(ior, preload):
    """Each 20th transfer becomes slower: that is 5 % of the operations, and hardly the rate."""
    env = {"LD_PRELOAD": preload("virtual-clock.c"), "SLOWER": "0.08", "ONLY_EACH": "20"}
    for words, steady, worst in (("", "no", "of p99"), (",of=p99", "no", "of p99"), (",of=rate", "yes", "of the rate")):
        ior(DEVICE + "--until=steady,round=1,most=10" + words, np=None, env=env).ok()
        test, (row,), finding = results(ior)
        assert row["steady"] == steady and row["worst"].endswith(worst) and abs(row["rateSlope"]) < 3 and row["rateExcursion"] < 6, row
        assert steady == "yes" or row["p99Slope"] > 10 and row["rounds"] == 10 and "slope of p99 is" in finding["text"], (row, finding)
        assert row["p99"] == pytest.approx(0.01 * (1 + 0.08 * (row["begin"] + row["end"]) / 2), rel=0.06), row
    assert row["worstLimit"] in (10, 20) and row["worstValue"] < row["worstLimit"], row


def test_a_rate_that_is_too_high_is_never_steady(ior, preload):
    """100 transfers a second can be done, and 110 are due: the rate is steady, but all wait longer and longer."""
    env = {"LD_PRELOAD": preload("virtual-clock.c")}
    for rate, steady in (("110ops", "no"), ("90ops", "yes")):
        ior(DEVICE + "--until=steady,round=1,most=10 --rate=" + rate, np=None, env=env).ok()
        test, (row,), finding = results(ior)
        assert row["steady"] == steady and abs(row["rateSlope"]) < 1 and row["rateExcursion"] < 2, row
        assert steady == "yes" or row["p99Slope"] > 30 and row["rounds"] == 10 and row["worst"].endswith("p99"), row


def test_a_phase_that_must_be_longer_is_judged_later(ior, preload):
    env = {"LD_PRELOAD": preload("virtual-clock.c")}
    ior(DEVICE + "--until=steady,round=1 -O minTimeDuration=9", np=None, env=env).ok()
    assert results(ior)[1][0]["rounds"] == 9
    ior(DEVICE + "--until=steady,round=1 -D 5 -r -i 2", np=None, env=env).ok()
    test, rows, _ = results(ior)
    assert [(r["operation"], r["iter"], r["rounds"], r["steady"]) for r in rows] == [(o, i, 5, "yes") for i in (0, 1) for o in ("write", "read")]
    ior(DEVICE + "--until=steady,round=1 -D 5 -O stoneWallingWearOutIterations=30", np=None, env=env).ok()
    test, (row,), finding = results(ior)
    assert (row["steady"], row["rounds"], row["rate"], row["worst"], test["phases"][0]["ended"]) == ("no", 0, None, None, "count"), row
    assert finding["outcome"] == "found" and "it had 0 of the 5 rounds that are needed" in finding["text"], finding


# ---- several ranks ----

def test_all_ranks_end_by_one_judgement(ior):
    """Also where one rank is slow, the others have long been through their transfers, and with wear-out."""
    ior("-a DUMMY -w -F -b 32k -t 8k --dummy.delay-xfer=20000 --dummy.delay-only-rank0 " + OURS.replace("w=2", "w=5"), np=3).ok()
    test, (row,), _ = results(ior)
    assert (row["rounds"], row["steady"]) == (5, "yes") and test["phases"][0]["tasksBySteady"] == 3, test["phases"]
    assert 0.25 <= row["end"] <= test["phases"][0]["totalTime"], row
    ior("-a DUMMY -w -F -b 32k -t 8k --dummy.delay-xfer=5000 -O stoneWallingWearOut=1 " + OURS, np=3).ok()
    test, (row,), _ = results(ior)
    assert (row["rounds"], row["steady"]) == (2, "yes"), row
    assert test["phases"][0]["stepsMin"] == test["phases"][0]["stepsMax"] >= 4 and test["phases"][0]["ended"] == "steady", test["phases"]


def test_data_are_verified_in_all_passes_also_in_lock_step(ior, need_backend):
    need_backend("MPIIO")
    for args in ("-a MPIIO -c", "-a POSIX -z -l signature -g"):
        run = ior(args + " -w -W -r -R -b 64k -t 16k --warning-as-errors " + OURS, np=2).ok()
        test, rows, _ = results(ior)
        assert [(r["operation"], r["rounds"], r["steady"]) for r in rows] == [("write", 2, "yes"), ("read", 2, "yes")], rows
        assert all(p["ended"] == "steady" and p["wrong"] == 0 and p["bytes"] > 2 * 64 << 10 for p in test["phases"] if p["operation"] != "check write")
        assert len([n for n in run.notes if "phase was steady after 2 rounds" in n and ", and ended" in n]) == 2, run


def test_a_rank_that_fails_and_a_signal_end_the_phase(ior):
    slow = "-a DUMMY -w -F -b 32k -t 8k --dummy.delay-xfer=5000 --until=steady,round=60 --report=json:r.json "
    run = ior(slow + "--dummy.fail-at=40 --dummy.fail-rank=1", np=3).fails(3, "rank 1 ")
    assert "steadyState" not in json.loads((ior.cwd / "r.json").read_text())["tests"][0], run
    proc, pids = ior.begin(slow, 2)
    os.kill(pids[1], signal.SIGINT)
    run = ior.finish(proc)
    assert run.returncode == 6 and results(ior)[1][0]["rounds"] == 0, run


# ---- other programs ----

def test_other_programs_end_the_phases_that_a_deadline_ends(mdtest, mdw, mib):  # noqa: F811
    mdtest(["-n", "100000000", "-F", "-a", "DUMMY", "--until=steady" + ANY, "-C", "-T", "--report=json:r.json"], np=None).ok()
    test, (row,), _ = results(mdtest)
    assert (row["operation"], row["rounds"], row["steady"], row["unit"]) == ("file create", 2, "yes", "ops/s"), row
    create, stat = [p for p in test["phases"] if p["operation"].startswith("file")]
    assert create["ended"] == "steady" and stat["ended"] == "work" and stat["steps"] == create["steps"], test["phases"]
    mdw("-a DUMMY -I 100000000 -P 3 -D 2 -R 1 " + OURS, np=None).ok()
    assert [(r["operation"], r["rounds"], r["steady"], r["unit"]) for r in results(mdw)[1]] == [("benchmark", 2, "yes", "ops/s")]
    mib("-t {d} -n -l 40 -s 8k -W", np=None).ok()  # then the file is read again and again
    run = mib("-t {d} -l 100000000 -s 8k -R -I " + OURS + "--verify", np=None).ok(4)
    test, (row,), _ = results(mib)
    assert (row["operation"], row["rounds"], row["steady"]) == ("read", 2, "yes") and test["phases"][0]["bytes"] > 80 * 8192, test
    assert "wrong data" in run.stderr, run


def test_operations_are_counted_where_nobody_else_asks_for_them(mdtest):  # noqa: F811
    """mdtest has no times of single operations in its text."""
    run = mdtest("-a DUMMY -F -C -n 20000000 --dummy.delay-create=200 --until=steady" + ANY, np=2).ok()
    assert any("the file create phase was steady after 2 rounds" in n for n in run.notes), run


def test_what_cannot_be_is_refused(ior, mdtest):  # noqa: F811
    for args, words in (("--until=steady,rounds=1", "'rounds=1' is not one of the words that can follow 'steady'"),
                        ("--until=steady,of=rate,of=p99", "'of=p99' is not allowed twice (for rate and p99: of=both)"),
                        ("--until=steady,round=1e7", "'round=1e7' is not round=SECONDS, from 0.05 to 1000000"),
                        ("--until=steady -D 60", "5 rounds of 60 s take 300 s, but the deadline ends a phase after 60 s"),
                        ("--until=steady,most=10,round=3", "5 rounds of 3 s take 15 s, but most ends a phase after 10 s"),
                        ("--until=steady --until-max=3", "--until-max needs --until=PERCENT"),
                        ("--until=steadily", "nor steady")):
        ior("-a DUMMY -w " + args, np=None).fails(1, words)
    mdtest(["-n", "3", "-F", "-a", "DUMMY", "--until=steady" + ANY, "-T"], np=None).fails(1, "no phase that can end early")
    (ior.cwd / "s").write_text("IOR START\napi=DUMMY\nreadFile=0\nblockSize=8k\ntransferSize=8k\nuntil=steady+round=0.05+window=2+most=3"
                               "+excursion=1000+slope=1000\nRUN\nIOR STOP\n")
    ior("-f s --dummy.delay-xfer=1000 --report=json:r.json", np=None).ok()
    row = results(ior)[1][0]
    timely(row["steady"] == "yes" and row["rounds"] == 2, row)
