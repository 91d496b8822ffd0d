# SPDX-License-Identifier: BSD-3-Clause
"""--report=jsonl: a line of a history, whole or not at all; --report=openmetrics: a file for the text collector of node_exporter."""
import fcntl
import json
import math
import os
import re
import subprocess
import time

import pytest

import conftest
from mdtest_support import mdtest  # noqa: F401

SMALL = "-a DUMMY -w -b 8k -t 1k"


def lines(path):
    """The documents of a history; each line is one."""
    text = path.read_text()
    assert text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


def test_a_line_is_the_document_of_the_run(ior):
    (ior.cwd / "h.jsonl").write_text('{"mine": 1}')  # its writer was killed before the end of the line
    run = ior(SMALL + " -r -i 3 --report=jsonl:h.jsonl,json:r.json", np=2).ok()
    first, line = lines(ior.cwd / "h.jsonl")
    assert first == {"mine": 1} and line == json.loads((ior.cwd / "r.json").read_text()), run
    ior(SMALL + " --dummy.fail-at=3 --report=jsonl:h.jsonl", np=None).ok(3)
    last = lines(ior.cwd / "h.jsonl")[-1]
    assert last["status"] == 3 and "injected" in last["error"] and "unfinished" not in last
    out = ior(SMALL + " --report=jsonl:-", np=None).ok().stdout
    assert out.count("\n") == 1 and json.loads(out)["status"] == 0


def test_what_grows_with_time_is_not_in_a_line_and_is_counted(ior):
    ior("-a DUMMY -w -b 64k -t 1k --dummy.delay-xfer=500 --interval=0.001 --report=jsonl:h.jsonl,json:r.json", np=None).ok()
    (line,), whole = lines(ior.cwd / "h.jsonl"), json.loads((ior.cwd / "r.json").read_text())
    test = line["tests"][0]
    assert len(whole["tests"][0]["intervals"]) == test["rowsLeftOut"] > 10 and test["intervals"] == []
    assert line["provenance"] == whole["provenance"], "few hosts are there"
    pytest.importorskip("jsonschema", reason="needs python3-jsonschema to check the line")
    from test_json import VALIDATOR
    assert [e.message for e in VALIDATOR.iter_errors(line)] == []


def has_open(pid, path):
    folder = "/proc/%d/fd/" % pid
    try:
        return any(os.path.samefile(folder + fd, path) for fd in os.listdir(folder) if os.path.exists(folder + fd))
    except FileNotFoundError:  # it was closed while we looked
        return False


def test_jobs_that_end_at_one_time_add_whole_lines(ior):
    """Lines of 200 kB, more than any system writes in one piece by itself, while another process holds the lock for a moment, and
    removes the file before it gives the lock up: no line goes into what nobody can open."""
    path = ior.cwd / "h.jsonl"
    with open(path, "w") as f:
        fcntl.lockf(f, fcntl.LOCK_EX)
        jobs = [SMALL + " -i 250 --ref-num=%d --report=jsonl:h.jsonl" % i for i in range(6)]
        running = [subprocess.Popen(ior.command(job, None)[1], cwd=ior.cwd,
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                    env=conftest.program_env())
                   for job in jobs]
        conftest.wait_until(lambda: all(has_open(p.pid, path) for p in running))
        assert path.stat().st_size == 0, "nobody writes past a lock"
        path.unlink()
    for p in running:
        assert p.wait(60) == 0
    found = lines(path)
    assert len(found) == 6 and min(map(len, path.read_text().splitlines())) > 100000
    assert sorted(one["tests"][0]["optionValues"]["ref-num"] for one in found) == list(range(6))


def test_a_history_that_cannot_be_written_is_refused_before_the_run(ior):
    (ior.cwd / "d").mkdir()
    for name, words in (("d", "Is a directory"), ("no/h.jsonl", "No such file or directory")):
        ior(SMALL + " --report=jsonl:" + name, np=None).fails(2, "open '%s' to add a line" % name, words)
    ior("-a DUMMY -w --report=jsonl:h --bad", np=None).ok(1)
    assert ior.files() == ["d"]
    ior(SMALL + " --report=openmetric:f", np=None).fails(1, "(did you mean 'openmetrics'?)")


def test_each_form_that_help_names_works_and_is_in_the_error_and_the_documents(ior, mdtest):  # noqa: F811
    said = [" ".join(program("--help=report", np=None).ok().stdout.split()) for program in (ior, mdtest)]
    forms = re.findall(r"([a-z0-9.-]+):(?:-|FILE)", said[0].split("Results: ")[1].split(". ")[0])
    assert {"text-3.3", "csv-intervals", "csv-load"} < set(forms) and "Results: text:-, text-3.3:FILE, " in said[1]
    reports = ",".join("%s:%s" % (form, form) for form in forms)
    ior(SMALL + " --interval=1 --rate=1000ops --report=" + reports, np=None).ok()
    assert ior.files() == sorted(forms) and all((ior.cwd / form).read_text() for form in forms)
    ior(SMALL + " --report=bad:x", np=None).fails(1, "choose one of " + ", ".join(forms))
    documented = re.findall(r"^\| `([^`]+):FILE` \|", (conftest.SOURCE / "doc" / "result-format.md").read_text(), re.M)
    assert documented == forms


# ---- OpenMetrics ----

LABEL = re.compile(r'([a-z_]+)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)')


def labels(text):
    found, at = {}, 0
    while at < len(text):
        match = LABEL.match(text, at)
        assert match and match.group(1) not in found, text
        found[match.group(1)] = re.sub(r"\\(.)", lambda m: {"n": "\n"}.get(m.group(1), m.group(1)), match.group(2))
        at = match.end()
    assert not text.endswith(",")
    return tuple(sorted(found.items()))


def exposition(path):
    """{(metric, labels): value} of a file that keeps to the rules of OpenMetrics, and of the older form that node_exporter reads."""
    text = path.read_bytes().decode("utf-8")
    assert text.endswith("\n# EOF\n") and text.count("# EOF") == 1
    found, family, told = {}, None, {}
    for line in text.splitlines()[:-1]:
        if line.startswith("# "):
            _, kind, name, words = line.split(" ", 3)
            assert kind in ("TYPE", "UNIT", "HELP") and re.fullmatch("weir_[a-z_]+", name) and words
            if kind == "TYPE":
                assert name not in told and words == "gauge", "each family stands in one place; both forms know gauges"
                family = name
            assert kind != "UNIT" or name.endswith("_" + words)
            assert name == family and kind not in told.setdefault(name, set()), line
            told[name].add(kind)
            continue
        name, words, value = re.fullmatch(r"([a-z_]+)\{(.*)\} (\S+)", line).groups()
        assert name == family and {"TYPE", "HELP"} <= told[name], line
        key = name, labels(words)
        assert key not in found and math.isfinite(float(value)), line
        found[key] = float(value)
    return found


def values(found, name):
    return {dict(words).get("operation"): value for (one, words), value in found.items() if one == name}


def test_metrics_are_those_of_the_document(ior):
    name, before = 'we"ird\\na me.prom', int(time.time())
    run = ior("-a DUMMY -w -r -b 64k -t 1k --dummy.delay-xfer=50 -i 7".split() + ["--report=openmetrics:%s,json:r.json" % name], np=2).ok()
    found, test = exposition(ior.cwd / name), json.loads((ior.cwd / "r.json").read_text())["tests"][0]
    (begin,), (end,) = (values(found, "weir_run_%s_timestamp_seconds" % what).values() for what in ("begin", "end"))
    assert before <= begin <= end <= time.time() + 1, (before, begin, end)  # by whole seconds
    assert {dict(words)["name"] for _, words in found} == {'we"ird\\na me'}, "the name of the file tells jobs apart"
    for key, suffix in (("median", ""), ("low", "_low"), ("high", "_high")):
        rates = {row["operation"]: row[key] for row in test["rates"]}
        assert values(found, "weir_rate%s_bytes_per_second" % suffix) == pytest.approx(rates), run
    times = [row for row in test["phases"] if row["operation"] == "write"]
    assert values(found, "weir_phase_time_seconds")["write"] == pytest.approx(max(row["totalTime"] for row in times))
    slow = [v for (one, words), v in found.items() if one == "weir_call_time_seconds"
            and {"operation": "write", "call": "transfer", "quantile": "0.99"}.items() <= dict(words).items()]
    assert slow == [pytest.approx(max(row["transferP99"] for row in times))]
    info = next(dict(words) for one, words in found if one == "weir_test_info")
    assert info["configuration"] == test["configuration"]["hash"] and info["verdict"] == test["verdict"]
    page = (conftest.SOURCE / "doc" / "result-format.md").read_text()
    assert all("`%s`" % one in page for one, _ in found), "each metric is documented"


def test_metrics_of_the_run_before_stay_until_the_new_ones_are_whole(ior, mdtest):  # noqa: F811
    path = ior.cwd / "m.prom"
    ior(SMALL + " --report=openmetrics:m.prom", np=None).ok()
    before, inode = path.read_text(), path.stat().st_ino
    proc, _ = ior.begin("-a DUMMY -w -b 8k -t 1k --dummy.delay-xfer=300000 --dummy.fail-at=6 --report=openmetrics:m.prom", None)
    assert path.read_text() == before
    ior.finish(proc)
    found = exposition(path)
    assert values(found, "weir_run_status") == {None: 3} and not values(found, "weir_rate_bytes_per_second")
    assert path.stat().st_ino != inode and ior.files() == ["m.prom"]
    mdtest("-a DUMMY -n 4 -F -i 6 --report=openmetrics:m.prom", np=1).ok()
    rates = values(exposition(mdtest.cwd / "m.prom"), "weir_rate_operations_per_second")
    assert {"file create", "file stat", "file remove"} <= set(rates) and min(rates.values()) > 0


def test_a_job_that_the_watchdog_ends_is_in_both(ior):
    ior(SMALL + " --dummy.delay-xfer=20000000 --io-timeout=1 --report=jsonl:h.jsonl,openmetrics:m.prom", np=None, timeout=30).ok(3)
    (line,) = lines(ior.cwd / "h.jsonl")
    assert line["unfinished"] == 1 and line["status"] == 3 and "--io-timeout" in line["error"]
    assert values(exposition(ior.cwd / "m.prom"), "weir_run_status") == {None: 3} and ior.files() == ["h.jsonl", "m.prom"]
