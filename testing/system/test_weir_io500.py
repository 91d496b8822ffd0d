# SPDX-License-Identifier: BSD-3-Clause
"""weir-io500: a rehearsal with its lines and files, what makes it invalid, forecasts, kills and what is removed."""
import configparser
import csv
import json
import os
import re
import signal

import pytest

import conftest
from test_use_weir import rates_in

CONFIG = {"global": {"datadir": "./my data", "resultdir": "./the results", "timestamp-datadir": "FALSE", "timestamp-resultdir": "FALSE"},
          "debug": {"stonewall-time": "1"},
          "ior-easy": {"blockSize": "256k", "transferSize": "64k"}, "ior-hard": {"segmentCount": "5"},
          "mdtest-easy": {"n": "30"}, "mdtest-hard": {"n": "20"}, "mdworkbench": {"precreatePerSet": "2", "filesPerProc": "2"},
          "ior-rnd4K-easy-read": {"run": "FALSE"}}

# The lines of a run with 4 ranks, in extended mode (form as of IO500): a number is N
SAMPLE = """\
[RESULT] ior-easy-write N GiB/s : time N seconds [INVALID]
[RESULT] mdtest-easy-write N kIOPS : time N seconds [INVALID]
[      ] mdworkbench-create N kIOPS : time N seconds
[      ] timestamp N kIOPS : time N seconds
[RESULT] find-easy N kIOPS : time N seconds
[RESULT] ior-hard-write N GiB/s : time N seconds [INVALID]
[RESULT] mdtest-hard-write N kIOPS : time N seconds [INVALID]
[RESULT] find N kIOPS : time N seconds
[RESULT] find-hard N kIOPS : time N seconds
[RESULT] mdworkbench-bench N kIOPS : time N seconds
[RESULT] ior-easy-read N GiB/s : time N seconds
[RESULT] mdtest-easy-stat N kIOPS : time N seconds
[RESULT] ior-hard-read N GiB/s : time N seconds
[RESULT] mdtest-hard-stat N kIOPS : time N seconds
[      ] mdworkbench-delete N kIOPS : time N seconds
[RESULT] mdtest-easy-delete N kIOPS : time N seconds
[RESULT] mdtest-hard-read N kIOPS : time N seconds
[RESULT] mdtest-hard-delete N kIOPS : time N seconds
[SCORE ] Bandwidth N GiB/s : IOPS N kiops : TOTAL N [INVALID]
[SCOREX] Bandwidth N GiB/s : IOPS N kiops : TOTAL N [INVALID]
""".splitlines()


class Io500(conftest.Ior):
    def __init__(self, cwd):
        super().__init__(cwd)
        self.program = conftest.BUILD / "src" / "weir-io500"
        self.results = cwd / "the results"
        self.data = cwd / "my data"

    def config(self, **changes):
        """changes: section = {key: value}, with _ for - in names of sections."""
        sections = {name: dict(keys) for name, keys in CONFIG.items()}
        for name, keys in changes.items():
            sections.setdefault(name.replace("_", "-"), {}).update(keys)
        (self.cwd / "c.ini").write_text("".join("[%s]\n%s" % (name, "".join("%s = %s\n" % kv for kv in keys.items()))
                                                for name, keys in sections.items()))
        return self

    def document(self, directory=None):
        doc = json.loads(((directory or self.results) / "result.json").read_text())
        jsonschema = pytest.importorskip("jsonschema", reason="needs python3-jsonschema to check the documents")
        schema = json.loads((conftest.BUILD / "doc" / "result.schema.json").read_text())
        jsonschema.Draft202012Validator({"$ref": "#/$defs/weir-io500", "$defs": schema["$defs"]}).validate(doc)
        return doc["tests"][0]

    def held_at(self, phase, args, np):
        """A run that waits before a phase; and what lets it go on."""
        hold = self.cwd / "hold" / phase
        hold.parent.mkdir(exist_ok=True)
        hold.touch()
        proc = self.start(args, np=np)
        state = self.results / "rehearsal.state"
        conftest.wait_until(lambda: proc.poll() is not None or b"begins when" in os.pread(proc.err.fileno(), 1 << 20, 0))
        assert proc.poll() is None and state.exists(), self.collect(proc)
        return proc, hold


@pytest.fixture
def io500(tmp_path):
    (tmp_path / "work").mkdir()
    runner = Io500(tmp_path / "work")
    yield runner
    for proc in list(runner.started):
        conftest.kill_all(proc)
        proc.wait()
        runner.collect(proc)


def result_lines(text):
    lines = [line for line in text.splitlines() if re.match(r"\[.{6}\]", line)]
    return [re.sub(r"(?<= )[0-9]+\.[0-9]+", "N", re.sub(" +", " ", line).replace("[ ]", "[      ]", 1)) for line in lines]


def phases_of(test):
    return {row["phase"]: row for row in test["phases"]}


# ---- a rehearsal ----

@pytest.mark.waits
def test_a_rehearsal_has_the_phases_lines_files_and_score_of_io500(io500):
    run = io500.config(mdtest_easy={"n": "102"}, mdtest_hard={"n": "102"})("c.ini --mode=extended", np=2).ok()
    assert re.match(r"IO500 rehearsal by weir \S+ \(extended\): no submission, there is no hash\n", run.stdout), run
    assert result_lines(run.stdout) == SAMPLE, run
    assert run.stdout.endswith("\n\nThe result files are stored in the directory: ./the results\n")
    assert run.stdout.split("\n\nThe result")[0] == (io500.results / "result_summary.txt").read_text().rstrip("\n")
    test = io500.document()
    phases = phases_of(test)
    assert phases["find-easy"]["found"] == phases["find-hard"]["found"] == 2, phases  # file.mdtest.0.101 and file.mdtest.1.101
    assert phases["find"]["found"] == 2 and phases["find"]["total"] > 4 * 102
    assert phases["mdtest-easy-write"]["operations"] == 204 and phases["ior-easy-write"]["bytes"] == 2 << 18
    for row in phases.values():  # what a line says is what was measured
        if row["command"] and row["operations"] and not row["phase"].startswith("find"):
            assert row["score"] > 0 and row["wrong"] == 0 and row["measured"] <= row["seconds"] * 1.01, row
            said = min(rates_in(row["phase"], (io500.results / (row["phase"] + ".txt")).read_text()))
            assert row["score"] == pytest.approx(said / (1024 if row["phase"].startswith("ior") else 1000), rel=0.01), row
    ini, text = configparser.ConfigParser(), (io500.results / "result.txt").read_text()
    ini.read_string(text)
    assert ini.sections() == ["run", *phases, "SCORE", "SCOREX"] and "hash" not in ini["SCORE"] and ini["run"]["procs"] == "2"
    assert re.match("; START [0-9]", text) and re.search(r"\n; END [0-9: -]+\n$", text) and "; ERROR INVALID stonewall-time 1s != 300s\n" in text
    assert re.search(r"\[ior-hard-write\]\nt_start.*\nexe.*\n; ERROR INVALID Write phase needed .*\n(; .*\n)*throughput-stonewall = [0-9.]+\nscore", text), text
    assert float(ini["mdtest-hard-write"]["rate-stonewall"]) > 0 and ini["find-easy"]["nproc"] == "2"
    assert ini["mdworkbench-create"]["filesPerProc"] == ini["mdworkbench-create"]["precreatePerSet"] == "2"
    scores = [float(ini["mdworkbench-bench"]["scoreIteration%d" % n]) for n in (1, 2)]
    assert min(scores) == float(ini["mdworkbench-bench"]["score"]) and 0 < float(ini["mdworkbench-bench"]["maxOpTime"]) < 60, text
    assert ini["find"]["exe"] == "find './my data' -newer './the results/timestampfile' -size 3901c -name \"*01*\"", text
    assert {"t_start", "exe", "score", "t_delta", "t_end"} == set(ini["mdtest-hard-read"]) and ini["ior-easy-write"]["exe"] == phases["ior-easy-write"]["command"]
    left = {p.name for p in io500.results.iterdir()}
    assert left >= {name + ".txt" for name, row in phases.items() if row["command"] and not name.startswith("find")} | {
        "config.ini", "config-orig.ini", "timestampfile", "ior-easy-write.csv", "mdtest-hard-stat.csv"}
    assert (io500.results / "mdworkbench-size").read_text() == "2\n"
    for name in ("find-easy", "find", "find-hard"):
        rows = list(csv.DictReader((io500.results / (name + ".csv")).read_text().splitlines()))
        assert [row["rank"] for row in rows] == ["0", "1"] and all(0 < float(row["seconds"]) <= phases[name]["measured"] * 1.01 for row in rows), rows
        assert all(sum(int(row[key]) for row in rows) == phases[name][key] for key in ("found", "total")), rows
    assert (io500.results / "config-orig.ini").read_text() == (io500.cwd / "c.ini").read_text()
    assert not [name for name in left if name.endswith(".stonewall")] and not io500.data.exists(), run  # also where a phase is switched off


@pytest.mark.waits
def test_what_makes_it_invalid_is_said_with_what_mends_it(io500):
    run = io500.config(mdworkbench={"run": "FALSE"}, mdtest_hard={"run": "FALSE"})("c.ini", np=None).ok()
    for words in (r"ERROR INVALID \(configuration\) stonewall-time 1s != 300s",
                  r"ERROR INVALID \(configuration\) phase mdtest-hard-write is not run \(run = FALSE\)",
                  r"ERROR INVALID \(mdtest-easy-write\) Write phase needed [0-9.]+s instead of stonewall 1s: .*raise \[mdtest-easy\] n, which is 30",
                  r"ERROR INVALID \(ior-easy-write\) Runtime is smaller than expected minimum runtime of 300s",
                  r"WARNING \(configuration\) there is one client node", r"WARNING \([a-z-]+\) H[0-9]+ (INVALID|SUSPECT): ", r"Findings by the io500 rules: "):
        assert re.search("^" + words, run.stdout, re.M), (words, run)
    reasons = io500.document()["reasons"]
    assert {r["phase"] for r in reasons if r["kind"] == "INVALID" and not r["rule"]} == {
        "configuration", "ior-easy-write", "mdtest-easy-write", "ior-hard-write"}
    assert not [r for r in reasons if r["rule"] == "H13" and r["kind"] != "NOTE"], "what IO500 prescribes is no finding"
    assert not io500.data.exists(), "--resume has nothing more to do"
    texts = {path.name: path.read_text() for path in io500.results.glob("ior-*-read.txt")}
    assert len(texts) == 2 and "".join(texts.values()).count("note: -C has no effect with one task") == 1, texts


# ---- before anything runs ----

REFUSED = [
    ("none.ini", {}, ["'none.ini'", "No such file"]),
    ("", {}, ["a configuration is missing"]),
    ("c.ini --resume --cleanup", {}, ["--resume and --cleanup"]),
    ("c.ini --resume", {}, ["there is no rehearsal in './the results'"]),
    ("c.ini", {"ior_easy": {"blocksize2": "1"}}, ["c.ini:", "there is no key 'blocksize2' in section [ior-easy] (did you mean 'blockSize'?)"]),
    ("c.ini", {"ior_hard_read": {"API": "POSIX --posix.odirectt"}}, ["phase ior-hard-read: unknown option '--posix.odirectt'", "did you mean"]),
    ("c.ini", {"global": {"api": "PISOX"}}, ["phase ior-easy-write: ", "'PISOX' is not a backend"]),
    ("c.ini", {"global": {"dataPacketType": "foo"}}, ["phase ior-easy-write: ", "'foo' is not known; choose timestamp"]),
    ("c.ini", {"mdtest_hard": {"files-per-dir": "7"}}, ["phase mdtest-hard-write: ", "(-n 20) must be a multiple", "(-I 7)"]),
    ("c.ini", {"mdtest_easy": {"n": "0"}}, ["c.ini:", "'n': '0' is out of range: it must be from 1"]),
    ("c.ini", {"ior_hard_read": {"API": "POSIX --posix.odirect"}}, ["phase ior-hard-read: ", "--posix.odirect"]),
    ("c.ini", {"mdtest_hard": {"API": "POSIX --posix.odirect"}}, ["phase mdtest-hard-write: ", "--posix.odirect"]),
    ("c.ini", {"global": {"datadir": "/proc/x"}}, ["[global] datadir: create directory '/proc/x'"]),
    ("c.ini", {"global": {"resultdir": "/proc/x"}}, ["[global] resultdir: create directory '/proc/x'"]),
]


def test_what_cannot_run_is_refused_before_anything_runs(io500):
    for args, changes, words in REFUSED:
        run = io500.config(**changes)(args, np=None)
        assert run.returncode in (1, 2) and len(run.errors) == 1 and all(w in run.errors[0] for w in words), (words, run)
        assert not io500.data.exists() and not io500.results.exists() and not list(io500.cwd.glob(".weir*")) and not [line for line in result_lines(run.stdout)], run
    run = io500.config()("c.ini --dry-run --mode=extended", np=None).ok()
    plan = configparser.ConfigParser()
    plan.read_string(run.stdout.split("\n", 1)[1])
    assert len(plan.sections()) == 18 and plan["mdtest-hard-write"]["exe"].endswith(
        "-t -w 3901 -e 3901 -P -G=%s -N 1 -F -d './my data/mdtest-hard' -x './the results/mdtest-hard.stonewall' -C -Y -W 1 "
        "'--saveRankPerformanceDetails=./the results/mdtest-hard-write.csv'" % re.search("-G=([0-9]+)", plan["mdtest-hard-write"]["exe"])[1]), run
    run = io500.config(ior_rnd4K_easy_read={"run": "TRUE"}, ior_easy={"filePerProc": "FALSE"}, ior_rnd4K={"blockSize": "1g"},
                       mdtest_hard={"API": "POSIX --posix.odirect"}, ior_hard_read={"hintsFileName": "/none"})("c.ini --dry-run", np=None).ok()
    assert [w.split(":")[0] for w in run.warnings] == ["phase mdtest-hard-write", "phase ior-hard-read", "phase mdtest-hard-read"], run
    assert re.search("""-o './my data/ior-easy/ior_file_easy' -t 64k -b 256k -r -D 1 -O 'saveRankPerformanceDetailsCSV="./the results/ior-rnd4K-easy-read.csv"' """
                     "-O stoneWallingWearOut=1 -z -z -t=4096 -b=4096 -s=10000000\n", run.stdout), run
    assert [note for note in run.notes if re.search(r"c.ini:[0-9]+: \[ior-rnd4K\] is of an earlier release", note)], run
    assert not io500.data.exists() and not (io500.cwd / "the results" / "result.txt").exists()
    listed = io500("--list", np=None).ok().stdout
    assert "[mdtest-hard]\n" in listed and "\nsegmentCount = 10000000\n" in listed


def test_a_pipe_in_the_results_is_not_waited_for(io500):
    io500.config().results.mkdir()
    os.mkfifo(io500.results / "result.json")
    io500("c.ini", np=None).fails(1, "'./the results/result.json' is not a file")
    os.rename(io500.results / "result.json", io500.results / "rehearsal.state")
    io500("c.ini --cleanup", np=None).fails(1, "'./the results/rehearsal.state': it is a pipe")
    (io500.results / "rehearsal.state").unlink()
    os.mkfifo(io500.results / "timestampfile")
    io500("c.ini", np=None).fails(2, "touch './the results/timestampfile': No such device or address")


SCRIPTS = [("echo noise; printf 'MATCHED 2/500\\n\\n'; echo $@ >words", None),
           ("echo MATCHED 1/2; exit 3", "ended with status 3"), ("echo MATCHED x/y", "with the line 'MATCHED x/y' and not with 'MATCHED found/total'"),
           ("echo MATCHED 7/3", "'MATCHED 7/3'"), ("true", "with the line ''")]


@pytest.mark.waits
def test_a_find_of_the_user_is_taken_by_its_last_line(io500):
    skipped = {name: {"run": "FALSE"} for name in ("ior_easy", "ior_hard", "mdtest_easy", "mdtest_hard")}
    script = io500.cwd / "my.sh"
    for text, words in SCRIPTS:
        script.write_text("#!/bin/sh\n%s\n" % text)
        script.chmod(0o755)
        run = io500.config(find={"external-script": "./my.sh", "external-extra-args": "-j 3"}, **skipped)("c.ini", np=None)
        if words:
            run.fails(2, "phase find: ", "[find] external-script: './my.sh ", words)
            io500("c.ini --cleanup", np=None).ok()
        else:
            row = phases_of(io500.document())["find"]
            assert (row["found"], row["total"]) == (2, 500) and row["score"] > 0, run
            assert (io500.cwd / "words").read_text() == './my data -newer ./the results/timestampfile -size 3901c -name *01* -j 3\n'


# ---- kills ----

@pytest.mark.waits
def test_a_rehearsal_that_was_killed_goes_on_and_keeps_what_it_has(io500, tmp_path):
    io500.config(debug={"pause-dir": "./hold"})
    proc, hold = io500.held_at("mdtest-easy-delete", "c.ini", 2)
    (tmp_path / "other").symlink_to("work")  # runs at once need other files for their texts
    Io500(tmp_path / "other")("c.ini --resume", np=None).fails(1, "option --resume: the number of ranks was '2' and is '1' now")
    Io500(tmp_path / "other")("c.ini --cleanup", np=None).fails(1, "another run works in './the results'")
    ranks = conftest.ranks_of(proc.pid, io500.program)
    for pid in [proc.pid, *ranks]:
        os.kill(pid, signal.SIGKILL)
    conftest.wait_until(lambda: not any(conftest.is_alive(pid) for pid in ranks))
    io500.finish(proc)
    hold.unlink()
    before = configparser.ConfigParser()
    before.read_string((io500.results / "result.txt").read_text())
    io500("c.ini", np=2).fails(1, "in './the results' there is a rehearsal that has not ended", "--resume", "--cleanup")
    io500.config(debug={"pause-dir": "./hold"}, mdtest_easy={"n": "31"})("c.ini --resume", np=2).fails(
        1, "option --resume: [mdtest-easy] n was '30' and is '31' now")
    # as if it had been killed in the phase that removes the files
    state = io500.results / "rehearsal.state"
    state.write_text(re.sub("(?m)^begins = .*$", "begins = mdtest-easy-delete", state.read_text()))
    next((io500.data / "mdtest-easy").rglob("file.mdtest.*")).unlink()
    run = io500.config(debug={"pause-dir": "./hold"})("c.ini --resume", np=2).ok()
    assert "mdtest-easy-write creates them again" in run.notes[0], run
    phases = phases_of(io500.document())
    assert [row["resumed"] for row in phases.values()] == ["yes"] * 10 + ["no"] * 3, phases
    for name in before.sections()[1:]:
        assert "%f" % phases[name]["score"] == before[name]["score"] and before[name]["t_delta"] == "%.4f" % phases[name]["seconds"], name
    assert phases["mdtest-easy-delete"]["operations"] == 60, run
    assert not io500.data.exists() and not state.exists(), run


def test_a_signal_ends_it_in_order(io500):
    io500.config(debug={"pause-dir": "./hold"})
    proc, _ = io500.held_at("find", "c.ini", None)
    proc.send_signal(signal.SIGTERM)
    run = io500.finish(proc)
    run.fails(6, "interrupted")
    assert "--resume goes on after the last phase that ended" in run.notes[-1] and "[mdtest-hard-write]" in (io500.results / "result.txt").read_text(), run
    (io500.data / "ior-easy" / "thesis.tex").write_text("mine")
    run = io500("c.ini --cleanup", np=None).ok()
    assert [p.name for p in (io500.data / "ior-easy").iterdir()] == ["thesis.tex"] and "like 'thesis.tex'" in run.notes[0], run
    io500.config(**{"global": {"resultdir": "./other"}})("c.ini", np=None).fails(1, "is not empty: it has 'thesis.tex'", "--cleanup")
    io500.config()
    (io500.data / "ior-easy" / "thesis.tex").unlink()
    io500("c.ini --cleanup", np=None).ok()
    assert not io500.data.exists()
    io500("c.ini --cleanup", np=None).fails(1, "there is no rehearsal in './the results'", "only files of a rehearsal are removed")


def test_a_signal_in_the_middle_of_a_phase_ends_it_in_order(io500):
    io500.config(ior_easy={"API": "DUMMY", "blockSize": "9920000m"}, debug={"stonewall-time": "300"})
    proc = io500.start("c.ini", np=None)
    state = io500.results / "rehearsal.state"
    conftest.wait_until(lambda: proc.poll() is not None or (state.exists() and "\nbegins = ior-easy-write\n" in state.read_text()))
    proc.send_signal(signal.SIGTERM)
    run = io500.finish(proc).fails(6, "phase ior-easy-write: ", "interrupted")
    assert "--resume goes on" in run.notes[-1] and not [line for line in result_lines(run.stdout)], run
    io500("c.ini --cleanup", np=None).ok()
    assert not io500.data.exists()


# ---- a forecast ----

@pytest.mark.waits
def test_a_forecast_names_what_would_be_too_short_and_leaves_nothing(io500):
    changes = {name: {"run": "FALSE"} for name in ("ior_easy", "ior_hard", "mdtest_easy", "find", "mdtest_hard_read")}
    io500.config()("c.ini --forecast --forecast-time=0.05", np=None).fails(1, "--forecast-time: at least 0.1 s")
    run = io500.config(debug={"stonewall-time": "40"}, **changes)("c.ini --forecast --forecast-time=0.5", np=None).ok()
    test = io500.document(io500.results / "forecast")
    rows = {row["phase"]: row for row in test["forecast"]}
    write, delete = rows["mdtest-hard-write"], rows["mdtest-hard-delete"]
    assert write["length"] == "too short" and write["wanted"] == 40 and write["amount"] == 20, write
    wanted = int(re.fullmatch(r"\[mdtest-hard\] n = ([0-9]+)", write["remedy"])[1])
    assert wanted >= 40 * 1000 * write["rate"] and abs(write["seconds"] - 20 / (1000 * write["rate"])) < 1e-9
    assert abs(delete["seconds"] - 20 / (1000 * delete["rate"])) < 1e-9 and delete["wanted"] is None
    assert test["mendedFiles"] >= 40 * 1000 * write["rate"] * 0.99 and test["mendedSeconds"] > 40 > test["allSeconds"], test
    assert phases_of(test)["mdtest-hard-write"]["operations"] > 20, "limits of the configuration do not end the short phase"
    low, high = (float(n) for n in re.search(r"^Seconds .* \(([0-9.]+) to ([0-9.]+)\)$", run.stdout, re.M).groups())
    assert "What a run of 40 s would be" in run.stdout and "Rates and their intervals are measured in 0.5 s" in run.stdout, run
    assert all(len(re.sub("^[0.]+|[.]", "", "%.9g" % n).rstrip("0")) <= 2 for n in (low, high, *(write[k] or 0 for k in ("low", "high")))), run
    assert "would be INVALID" in run.stdout and not io500.data.exists() and not (io500.results / "forecast" / "rehearsal.state").exists(), run


def test_a_forecast_has_the_files_of_md_workbench(io500):
    """Ten sets of the files that the configuration says, those of mdtest, and one file of each rank and one more that ior makes."""
    changes = {name: {"run": "FALSE"} for name in ("ior_easy", "ior_hard", "mdtest_hard", "find", "mdtest_easy_stat", "mdworkbench_bench")}
    io500.config(**changes, mdworkbench={"precreatePerSet": "3"})("c.ini --mode=extended --forecast --forecast-time=1", np=None).ok()
    test = io500.document(io500.results / "forecast")
    assert "mdworkbench-create" in {row["phase"] for row in test["forecast"]} and test["allFiles"] == 30 + 10 * 3 + 2, test
