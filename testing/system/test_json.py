# SPDX-License-Identifier: BSD-3-Clause
"""Results for programs: JSON that keeps to doc/result.schema.json whatever happens, and CSV in all its forms."""
import copy
import csv
import io
import json
import os
import random
import signal
import time

import pytest

import conftest
from mdtest_support import mdtest  # noqa: F401

jsonschema = pytest.importorskip("jsonschema", reason="needs python3-jsonschema to check the documents")

SCHEMA = json.loads((conftest.BUILD / "doc" / "result.schema.json").read_text())
HEAD = "access,bw(MiB/s),IOPS,Latency,block(KiB),xfer(KiB),open(s),wr/rd(s),close(s),total(s),numTasks,iter,verdict,findings,remarks".split(",")
RANK_HEAD = ("access,rank,runtime-with-openclose,runtime,throughput-withopenclose,throughput,"
             "test,iter,bytes,transfers").split(",")
OP_HEAD = "time,runtime,tp,access,test,iter,rank,offset,bytes,begin_ns,ns".split(",")


def closed(node):
    """The schema lets readers live with new keys; here a key that is not in it is an error, so that it stays complete."""
    if isinstance(node, list):
        return [closed(n) for n in node]
    if not isinstance(node, dict):
        return node
    out = {key: closed(value) for key, value in node.items()}
    if isinstance(out.get("properties"), dict) and out.get("type") == "object":
        out.setdefault("additionalProperties", False)
    return out


VALIDATOR = jsonschema.Draft202012Validator(closed(SCHEMA))


def no_constant(text):
    raise AssertionError("%s is not JSON" % text)


def no_twins(pairs):
    keys = [key for key, _ in pairs]
    assert len(keys) == len(set(keys)), "a key twice in one object: %s" % keys
    return dict(pairs)


def checked(text, run):
    """The document, when it is one and keeps to the schema."""
    data = json.loads(text, parse_constant=no_constant, object_pairs_hook=no_twins)
    wrong = ["%s: %s" % ("/".join(map(str, e.absolute_path)), e.message[:200]) for e in VALIDATOR.iter_errors(data)]
    assert wrong == [], "%s\n%r" % ("\n".join(wrong[:10]), run)
    assert data["status"] == run.returncode and bool(data["error"]) == bool(run.errors), run
    assert not run.errors or data["error"] == run.errors[0]
    for test in data["tests"]:
        check_test(test, data, run)
    return data


def ends(p):
    """Of a phase: what ended it, and the tasks that had no more to do, did as much as allowed, ran out of time, were steady."""
    return p["ended"], (p["tasksByWork"], p["tasksByCount"], p["tasksByTime"], p["tasksBySteady"])


def check_test(test, data, run):
    names = set(test["optionValues"])
    assert option_names(test["provenance"]["backend"]) == names
    rows = [row["access"] for row in test["Results"] if row["access"] != "remove"]
    phases = [p for p in test["phases"] if p["operation"] != "check write"]
    assert [p["operation"] for p in phases] == rows or None in [r.get("bwMiB", 0) for r in test["Results"]], run
    for p in test["phases"]:
        assert p["stepsMin"] <= p["stepsMax"] and p["steps"] <= p["stepsMax"] * p["tasks"]
        assert p["bytes"] == p["steps"] * test["Parameters"]["transferSize"] and p["transferCount"] >= p["steps"]
        assert sum(ends(p)[1]) == p["tasks"] and (p["ended"] == "signal") == p["interrupted"]
        assert p["fastestTime"] <= p["slowestTime"] <= p["totalTime"] + p["clockError"] + 1e-6
        assert max(p["fastestRank"], p["slowestRank"]) < p["tasks"]
        for op in ("open", "transfer", "sync", "close"):
            cells = [p[op + m] for m in ("P50", "P90", "P99", "P999", "Max")]
            assert all(c is None for c in cells) == (p[op + "Count"] == 0), run
            assert p[op + "Count"] == 0 or cells == sorted(cells), run
    assert data["provenance"]["tasks"] >= test["Options"]["tasks"]


_names = {}


def option_names(backend):
    """What optionValues must hold: every row that has a value, of the program, of this backend, and of what it is built on."""
    if not _names:
        text = conftest.subprocess.run([str(conftest.IOR), "--dump-options=json"], capture_output=True, text=True, check=True,
                                       env=conftest.program_env()).stdout
        for row in json.loads(text):
            if row["type"] not in ("flag", "count", "int", "size", "real", "string") or row["name"] in ("help", "version", "dump-options", "clock"):
                continue
            _names.setdefault(row["name"].split(".")[0] if "." in (row["name"] or "") else "", set()).add(row["name"] or row["keys"][0])
    return _names[""] | _names.get(backend.lower(), set()) | (_names["posix"] if backend.upper() == "AIO" else set())


def on_stdout(run):
    return checked(run.stdout, run)


def in_file(run, name="r.json"):
    return checked((run.cwd / name).read_text(), run)


def test_what_was_measured_before_a_call_hung_is_written(ior):
    """Also with names left out, which the error then has on standard error only."""
    (ior.cwd / "script").write_text("IOR START\nRUN\ndummy.delay-xfer=60000000\nRUN\nIOR STOP\n")
    run = ior("-a DUMMY -w -b 16k -t 8k -f script --io-timeout=1 --report=json:r.json", np=None)
    assert run.returncode == 3 and ior.files() == ["r.json", "script"], run
    data = json.loads((ior.cwd / "r.json").read_text())
    wrong = [e.message for e in VALIDATOR.iter_errors(data)]
    assert wrong == [] and data["status"] == 3 and data["error"] == run.errors[0], (wrong, run)
    assert [len(t["phases"]) for t in data["tests"]] == [1, 0] and "has not returned" in data["error"], data
    (ior.cwd / "r.json").write_text("old")
    run = ior("-a DUMMY -w -b 16k -t 8k -f script --io-timeout=1 --report=json:r.json --anonymous", np=None)
    data = json.loads((ior.cwd / "r.json").read_text())
    assert data["error"].startswith("rank 0 on host0: write of 8192 bytes at offset 0 of '(left out)'"), data["error"]


# ---- the schema itself ----

def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def breakages():
    yield "a key is missing", lambda d: d["tests"][0]["Parameters"].pop("fsync")
    yield "a result without its time", lambda d: d["tests"][0]["Results"][0].pop("totalTime")
    yield "a phase without a percentile", lambda d: d["tests"][0]["phases"][0].pop("transferP999")
    yield "no summary", lambda d: d.pop("summary")
    yield "a number as text", lambda d: d["tests"][0]["Results"][0].update(bwMiB="inf")
    yield "a text as number", lambda d: d["tests"][0]["Options"].update(api=1)
    yield "a time below zero", lambda d: d["tests"][0]["phases"][0].update(openTime=-1e-9)
    yield "half a transfer", lambda d: d["tests"][0]["phases"][0].update(steps=1.5)
    yield "an unknown packet", lambda d: d["tests"][0]["Parameters"].update({"data packet type": "g"})
    yield "another version of the schema", lambda d: d.update(schema_version=1)
    yield "an object in place of the list", lambda d: d.update(tests=d["tests"][0])
    yield "a row of nothing", lambda d: d["tests"][0]["Results"].append({})
    yield "a date that is none", lambda d: d.update(Finished="soon")
    yield "a new key that nobody described", lambda d: d["tests"][0].update(surprise=1)


def test_the_schema_finds_a_broken_document(ior):
    good = on_stdout(ior("-a DUMMY -w -r -v -i 2 -b 16k -t 8k -O summaryFormat=JSON").ok())
    assert VALIDATOR.is_valid(good)
    for what, damage in breakages():
        bad = copy.deepcopy(good)
        damage(bad)
        assert not VALIDATOR.is_valid(bad), what


def test_nan_and_infinity_do_not_pass():
    for word in ("NaN", "Infinity", "-Infinity"):
        with pytest.raises(AssertionError):
            json.loads("[%s]" % word, parse_constant=no_constant)


# ---- 300 sets of options ----

SETS, EACH = 300, 20


def choose_order(rng, api, o):
    """Random offsets and reordering, as far as they go together."""
    private = o["filePerProc"]
    may_shuffle = api in ("AIO", "DUMMY", "POSIX") or (api == "MPIIO" and not o["collective"])
    if may_shuffle and rng.random() < 0.3:
        nowhere = o["segmentCount"] == 0 or o["readFile"] or o["checkRead"] or o["checkWrite"]
        o["randomOffset"] = 2 if not nowhere and rng.random() < 0.3 else 1
        o["randomOffsetSeed"] = rng.choice([-1, 0, 42, 2 ** 31 - 1] if o["randomOffset"] < 2 else [-1, 1, 42, 2 ** 31 - 1])
        if rng.random() < 0.3:
            o["randomPrefill"] = o["transferSize"]
    if private or not o.get("randomOffset"):
        how = rng.choice(["", "", "C", "Z", "ZZ"])
        o["reorderTasksConstant"] = int(how == "C")
        o["reorderTasksRandom"] = how.count("Z")
        o["taskPerNodeOffset"] = rng.choice([0, 1, 1, 3]) if how == "C" else 1
        o["reorderTasksRandomSeed"] = rng.choice([0, 5, -5, 2 ** 31 - 1])


def option_set(rng, i, api):
    size = rng.choice([8, 1024, 4096])
    flags = ("filePerProc collective fsync fsyncPerWrite intraTestBarriers keepFile keepFileWithError multiFile singleXferAttempt "
             "useExistingTestFile readFile checkRead checkWrite summaryAlways").split()
    o = {flag: int(rng.random() < 0.35) for flag in flags}
    o.update(api=rng.choice([api, api.lower()]), testFile="t%d" % i, writeFile=1, transferSize=size, blockSize=size * rng.randint(1, 4),
             segmentCount=rng.choice([0, 1, 1, 2, 3]), repetitions=rng.randint(1, 2), verbose=rng.randint(-1, 5),
             dataPacketType=rng.choice("toir" if size < 512 else "toirs"), refNum=rng.randint(-5, 99),
             setTimeStampSignature=rng.choice([0, 7, -1, 2 ** 31 - 1]), outlierThreshold=rng.choice([0, 0, 1]),
             memoryPerTask=rng.choice([0, 0, 65536]), interIODelay=rng.choice([0, 0, 50]), dryRun=int(rng.random() < 0.1),
             stoneWallingWearOutIterations=rng.choice([0, 0, 0, 2]), uniqueDir=0, dualMount=0, randomOffset=0, randomPrefill=0,
             reorderTasksConstant=0, reorderTasksRandom=0, deadlineForStonewalling=0, stoneWallingWearOut=0)
    if rng.random() < 0.15:
        o["deadlineForStonewalling"] = 60
        o["stoneWallingWearOut"] = rng.randint(0, 1)
    if api == "HDF5" and o["segmentCount"] == 0:
        o["segmentCount"] = 1
    if o["filePerProc"]:
        o["uniqueDir"] = int(rng.random() < 0.2)
    choose_order(rng, api, o)
    if api == "DUMMY":
        o["dummy.delay-xfer"] = rng.choice([0, 20])
        o["checkRead"] = o["checkWrite"] = 0  # it keeps nothing
    if rng.random() < 0.1:
        o["saveRankPerformanceDetailsCSV"] = "ranks.csv"
        o["savePerOpDataCSV"] = "ops%d" % i
    return o


def script(seed):
    rng = random.Random(seed)
    apis = [api for api in ("DUMMY", "POSIX", "AIO", "MPIIO", "HDF5") if api in conftest.backends()]
    sets, keys = [], {}
    for i in range(EACH):
        # a test inherits from the one before: what this one does not name goes back to its default
        o = option_set(rng, i, rng.choice(apis))
        keys.update({k: 0 for k in o if isinstance(o[k], int)})
        sets.append({**{k: v for k, v in keys.items() if "." not in k}, "randomOffsetSeed": -1, "taskPerNodeOffset": 1, **o})
    lines = ["%s\nRUN\n" % "\n".join("%s=%s" % pair for pair in o.items()) for o in sets]
    return sets, "IOR START\n%sIOR STOP\n" % "".join(lines)


def batches():
    for n in range(SETS // EACH):
        yield pytest.param(n, marks=[pytest.mark.sanitize] if n == 0 else [])


@pytest.mark.parametrize("seed", batches())
def test_many_sets_of_options_make_one_valid_document(ior, seed):
    sets, text = script(seed)
    (ior.cwd / "s").write_text(text)
    where = ("-O summaryFormat=JSON", "-O summaryFormat=json,summaryFile=r.json",
             "--report=text:t.txt,json:r.json,csv:c.csv,csv:-")[seed % 3]
    run = ior("-f s " + where, np=1 + (seed + 1) % 3, timeout=120).ok()
    data = on_stdout(run) if seed % 3 == 0 else in_file(run)
    assert [t["TestID"] for t in data["tests"]] == list(range(EACH))
    for want, test in zip(sets, data["tests"]):
        got = test["Parameters"]
        assert {k: got[k] for k in ("segmentCount", "transferSize", "blockSize", "repetitions", "api", "verbose", "readFile")} == {
            k: want[k] for k in ("segmentCount", "transferSize", "blockSize", "repetitions", "api", "verbose", "readFile")}
        assert got["data packet type"] == want["dataPacketType"]
        phases = 1 + (want["readFile"] | want["checkRead"])
        assert len([row for row in test["Results"] if row["access"] != "remove"]) == phases * want["repetitions"]
        assert all(p["wrong"] == 0 for p in test["phases"]), (want, test["phases"], run)
        assert want["segmentCount"] or all(row["bwMiB"] is None for row in test["Results"] if row["access"] != "remove")
    assert [row["TestID"] for row in data["summary"]] == sorted(row["TestID"] for row in data["summary"])
    if seed % 3 == 2:
        rows = list(csv.DictReader((ior.cwd / "c.csv").open()))
        assert (ior.cwd / "c.csv").read_text() == run.stdout
        assert len(rows) == sum(len(t["phases"]) for t in data["tests"])


# ---- one at a time ----

@pytest.mark.parametrize("level", range(6))
def test_no_verbosity_gets_into_the_document(ior, level):
    flags = "-v " * level
    run = ior(flags + "-w -W -R -C -g -e -i 2 -b 16k -t 8k -s 2 -O summaryFormat=JSON").ok()
    data = on_stdout(run)
    assert data["tests"][0]["Parameters"]["verbose"] == level
    assert ("max" in data["tests"][0]) == (level > 0)
    assert [row["access"] for row in data["tests"][0]["Results"]] == (["write", "read", "remove"] if level else ["write", "read"]) * 2
    assert not any("iter" in row for row in data["tests"][0]["Results"]), "clients build objects from whole rows"
    assert [row["iter"] for row in data["tests"][0]["phases"] if row["operation"] != "check write"] == [0, 0, 1, 1]
    assert not [key for row in data["summary"] for key in row if key.startswith("StoneWall")]


@pytest.mark.parametrize("api", ["MPIIO", "HDF5"])
def test_hints_are_a_text_in_the_document(ior, need_backend, api):
    need_backend(api)
    run = ior("-a %s --%s.showHints -w -b 16k -t 8k -O summaryFormat=JSON" % (api, api.lower()), env={"IOR_HINT__MPI__a_key": "\"x\"\\"}).ok()
    assert "a_key" in on_stdout(run)["tests"][0]["hints"]


@pytest.mark.parametrize("api", ["MPIIO", "HDF5", "NCMPI", "POSIX"])
def test_hints_in_effect_are_an_object_in_every_test(ior, need_backend, api):
    """Also without showHints, and the text stays as it was. (Open MPI 4.1 tells only what was given.)"""
    need_backend(api)
    (ior.cwd / "s").write_text("IOR START\napi=%s\nblockSize=16k\ntransferSize=8k\nrepetitions=2\nRUN\nwriteFile=0\ndryRun=1\nRUN\nIOR STOP\n" % api)
    run = ior("-f s --report=json:r.json,text:-", env={"IOR_HINT__MPI__cb_nodes": "1", "IOR_HINT__MPI__odd": "\"x\"\\"}).ok()
    first, dry = in_file(run)["tests"]
    assert "hints" not in first and "cb_nodes" not in run.stdout
    if api == "POSIX":
        assert "hintsInEffect" not in first and "hintsInEffect" not in dry
        return
    assert first["hintsInEffect"]["cb_nodes"] == "1" and dry["hintsInEffect"] == {}
    assert api != "NCMPI" or first["hintsInEffect"]["nc_header_align_size"]


def test_a_test_that_failed_has_the_hints_of_its_file(ior, need_backend):
    need_backend("HDF5")
    ior("-a HDF5 -w -k -b 16k -t 8k -o whole", np=1).ok()
    run = ior("-a HDF5 -r -b 32k -t 8k -o whole -O summaryFormat=JSON", np=1, env={"IOR_HINT__MPI__cb_nodes": "1"})
    assert on_stdout(run.ok(3))["tests"][0]["hintsInEffect"]["cb_nodes"] == "1"


@pytest.mark.parametrize("api", ["MPIIO", "HDF5", "NCMPI"])
def test_hints_of_a_dry_run_are_not_asked_for(ior, need_backend, api):
    need_backend(api)
    ior("-a %s --%s.showHints --dry-run -w -r -b 16k -t 8k" % (api, api.lower())).ok()


FAILURES = ["--dummy.fail-at=%d --dummy.fail-op=%s --dummy.fail-rank=%d" % (at, op, rank)
            for at, op, rank in ((1, "open", 0), (1, "open", -1), (3, "xfer", 1), (3, "xfer", -1), (1, "close", 1), (3, "close", 0), (1, "sync", 0))]


@pytest.mark.parametrize("how", FAILURES)
def test_a_failed_run_leaves_a_whole_document(ior, how):
    run = ior("-a DUMMY -v -e -w -r -i 3 -b 16k -t 8k -O summaryFormat=JSON " + how, np=2)
    data = on_stdout(run.ok(3))
    assert len(data["tests"]) == 1 and len(data["summary"]) == 2
    assert data["summary"][1]["repetitions"] in (0, 1)
    if data["summary"][0]["repetitions"] == 0:
        assert data["summary"][0]["bwMeanMIB"] is None and data["summary"][0]["MeanTime"] is None


@pytest.mark.parametrize("args, status", [
    ("-r -o nowhere/x", 3), ("-w -o nowhere/x", 3), ("-w -F -u -o nowhere/x", 3), ("-W", 3),
    ("-a DUMMY --dummy.corrupt-at=2 -w -W -R -i 2", 4), ("-a DUMMY --dummy.corrupt-at=2 -w -R -l r -F", 4)])
def test_whatever_goes_wrong_there_is_one_document(ior, args, status):
    data = on_stdout(ior(args + " -b 16k -t 8k -O summaryFormat=JSON").ok(status))
    assert (sum(p["wrong"] for p in data["tests"][0]["phases"]) > 0) == (status == 4)


def test_a_warning_that_is_an_error_leaves_a_document(ior):
    (ior.cwd / "testFile").write_text("old")
    data = on_stdout(ior("-w --warning-as-errors -b 8k -t 8k -O summaryFormat=JSON").ok(1))
    assert "testFile" in data["error"] and data["tests"][0]["Results"] == []


@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGINT])
def test_an_interrupted_run_leaves_a_document_with_what_was_measured(ior, sig):
    proc, pids = ior.begin("-a DUMMY -w -r -i 3 -b 8k -t 8k -s 2000 -O interIODelay=5000,summaryFormat=JSON", 2)
    os.kill(pids[0], sig)
    data = on_stdout(ior.finish(proc, 30).ok(6))
    assert data["tests"][0]["phases"][-1]["interrupted"] == 1
    assert data["tests"][0]["phases"][-1]["bytes"] > 0


def test_the_tests_before_a_failed_one_are_in_the_document(ior):
    (ior.cwd / "s").write_text("IOR START\napi=DUMMY\nblockSize=8k\ntransferSize=8k\nRUN\ndummy.fail-at=1\nRUN\nRUN\nIOR STOP\n")
    data = on_stdout(ior("-f s -O summaryFormat=JSON").ok(3))
    assert len(data["tests"]) == 2 and [row["TestID"] for row in data["summary"] if row["repetitions"]] == [0, 0]


@pytest.mark.parametrize("name", ["a\"b", "a\\b", "a\tb", "a\nb", "gr\u00fc\u00dfe", "\u65e5\u672c", "%s%n", "{}[],:", "a'b"])
def test_every_name_is_quoted(ior, name):
    run = ior(["-w", "-k", "-b", "8k", "-t", "8k", "-O", "summaryFormat=JSON", "-A", "3", "-o", "./" + name]).ok()
    data = on_stdout(run)
    assert data["tests"][0]["Parameters"]["testFileName"] == "./" + name == data["tests"][0]["Path"]
    assert data["tests"][0]["optionValues"]["test-file"] == "./" + name and name in os.listdir(ior.cwd)


def test_a_name_that_is_no_text_leaves_the_document_readable(ior):
    name = os.fsdecode(b"./odd\xff\xfename")
    data = on_stdout(ior(["-w", "-b", "8k", "-t", "8k", "-O", "summaryFormat=JSON", "-o", name]).ok())
    assert data["tests"][0]["Path"] == "./odd\ufffd\ufffdname"


# Columns of the full CSV that JSON has in the rows of "load"; empty without a rate
AT_A_RATE = ["rateAsked", "rateReached", "late", "lateMax", "responseP50", "responseP99", "responseP999", "responseMax"]
RATE = ["rate", "unit"]  # JSON has the medians in "rates"
# Times of a phase. One of a thousand is a whole number of microseconds, and never all of them
NANOSECONDS = ["openTime", "workTime", "closeTime", "totalTime"]


def test_numbers_have_their_full_precision(ior):
    run = ior("-a DUMMY -w -r -F -b 8k -t 8 -s 3 --report=json:r.json,csv:c.csv,text:-").ok()
    data = in_file(run)
    phase = data["tests"][0]["phases"][0]
    assert phase["transferMean"] > 0 and any(phase[key] != round(phase[key], 6) for key in NANOSECONDS)
    row = next(csv.DictReader((ior.cwd / "c.csv").open()))
    assert row.pop("verdict") == data["tests"][0]["verdict"] and row.pop("findings") is not None and row.pop("remarks") == ""
    assert [row.pop(key) for key in AT_A_RATE] == [""] * len(AT_A_RATE)
    rate, unit = (row.pop(key) for key in RATE)
    assert float(rate) > 0 and unit == "bytes/s", (rate, unit)
    for key, value in row.items():
        same = value if key in ("operation", "ended") or value == "" else float("%.16g" % float(value))  # JSON has 16 digits
        assert (value == "" and phase[key] is None) or same == phase[key], key
    result = data["tests"][0]["Results"][0]
    assert abs(result["bwMiB"] * result["totalTime"] * 2 ** 20 - phase["bytes"]) < 1e-6 * phase["bytes"]


def test_repetitions_with_wear_out_and_a_quoted_name_make_a_valid_document(ior):
    """Times have nanoseconds at the highest level of -v, too, and what was not measured is null."""
    run = ior(["-a", "DUMMY", "-vvv", "-w", "-r", "-i", "2", "-D", "1", "-b", "8k", "-t", "8k", "-o", "./a\"b\\c",
               "-O", "summaryFormat=JSON,summaryAlways=1,stoneWallingWearOut=1,debug=x"], np=None).ok()
    data = on_stdout(run)
    rows = [r for r in data["tests"][0]["Results"] if r["access"] != "remove"]
    assert data["tests"][0]["Path"] == "./a\"b\\c" and [r["access"] for r in rows] == ["write", "read"] * 2
    assert 0 < rows[0]["wrRdTime"] and any(row["wrRdTime"] != round(row["wrRdTime"], 4) for row in rows)
    assert all(row["StoneWallTime"] > 0 and row["StoneWallbwMeanMIB"] > 0 for row in data["summary"])
    none = on_stdout(ior("-a DUMMY -w -r -s 0 -O summaryFormat=JSON", np=None).ok())
    assert none["tests"][0]["Results"][0]["bwMiB"] is None and none["summary"][0]["bwMaxMIB"] is None


def test_several_outputs_are_written_at_once_and_agree(ior):
    run = ior("-w -r -i 2 -b 16k -t 8k --report=text:-,json:r.json,csv:c.csv,text:t.txt").ok()
    data = in_file(run)
    assert (ior.cwd / "t.txt").read_text() == run.stdout and len(run.rows) == 4
    for row, result in zip(run.rows, data["tests"][0]["Results"]):
        assert row["access"] == result["access"] and abs(row["total"] - result["totalTime"]) <= 0.5e-6 + 1e-9
    assert len(list(csv.DictReader((ior.cwd / "c.csv").open()))) == 4


@pytest.mark.parametrize("words, part", [("--report=xml:f", "xml"), ("--report=json", "json"), ("--report=json:", "json"),
                                         ("--report=text:-,,", ""), ("--report=", "report")])
def test_a_wrong_report_is_refused(ior, words, part):
    ior("-a DUMMY -w " + words, timeout=20).fails(1, part)


def test_a_report_that_cannot_be_opened_is_found_before_any_io(ior):
    ior("-w -k -b 8k -t 8k --report=text:-,json:nowhere/r.json", timeout=20).fails(2, "nowhere/r.json")
    assert ior.files() == []


# ---- CSV ----

def rows_of(text, head):
    lines = list(csv.reader(io.StringIO(text)))
    assert lines[0] == head and lines.count(head) == 1, text
    assert all(len(line) == len(head) for line in lines), text
    return [dict(zip(head, line)) for line in lines[1:]]


def test_csv_has_its_columns_and_one_heading_for_all_tests(ior):
    (ior.cwd / "s").write_text("IOR START\nblockSize=16k\ntransferSize=8k\nrepetitions=2\nverbose=5\nRUN\nfilePerProc=1\nRUN\nRUN\nIOR STOP\n")
    run = ior("-f s -O summaryFormat=CSV").ok()
    rows = rows_of(run.stdout, HEAD)
    assert [r["access"] for r in rows] == ["write", "read"] * 6 and [r["iter"] for r in rows] == ["0", "0", "1", "1"] * 3
    for r in rows:
        numbers = {k: float(v) for k, v in r.items() if k not in ("access", "verdict", "findings", "remarks")}
        assert numbers["block(KiB)"] == 16 and numbers["xfer(KiB)"] == 8 and numbers["numTasks"] == 2
        assert abs(numbers["bw(MiB/s)"] * numbers["total(s)"] - 1 / 32) < 1e-9
        assert abs(numbers["IOPS"] * numbers["wr/rd(s)"] - 4) < 1e-9


def test_csv_leaves_empty_what_was_not_measured(ior):
    rows = rows_of(ior("-a DUMMY -w -s 0 -O summaryFormat=CSV").ok().stdout, HEAD)
    assert rows[0]["bw(MiB/s)"] == rows[0]["IOPS"] == "" and float(rows[0]["total(s)"]) > 0


def test_csv_goes_into_a_file(ior):
    run = ior("-a DUMMY -w -v -O summaryFormat=csv,summaryFile=out.csv").ok()
    assert len(rows_of((ior.cwd / "out.csv").read_text(), HEAD)) == 1 and run.stdout == ""


def test_the_full_csv_has_the_columns_of_the_phases(ior):
    (ior.cwd / "s").write_text("IOR START\nblockSize=16k\ntransferSize=8k\nrepetitions=2\ncheckWrite=1\nwriteFile=1\nreadFile=1\nRUN\nfsync=1\nRUN\nIOR STOP\n")
    run = ior("-f s --report=csv:c.csv,text:-").ok()
    head = SCHEMA["$defs"]["phase"]["required"] + AT_A_RATE + RATE + ["verdict", "findings", "remarks"]
    rows = rows_of((ior.cwd / "c.csv").read_text(), head)
    assert [(r["test"], r["iter"], r["operation"]) for r in rows] == [
        (t, i, op) for t in "01" for i in "01" for op in ("write", "check write", "read")]
    assert set(AT_A_RATE) < set(SCHEMA["$defs"]["load"]["required"])
    for r in rows:
        assert float(r["bytes"]) == 32768 and (r["syncCount"] == "2") == (r["test"] == "1" and r["operation"] == "write")
        assert (r["syncP99"] == "") == (r["syncCount"] == "0")
        assert r["unit"] == "bytes/s" and float(r["rate"]) * float(r["totalTime"]) == pytest.approx(32768)


def test_the_full_csv_has_the_rates_of_phases_without_data(mdtest):  # noqa: F811
    mdtest("-n 7 -F -C -T --report=csv:c.csv", np=None).ok()
    rows = list(csv.DictReader((mdtest.cwd / "c.csv").open()))
    assert {"file create", "file stat"} <= {row["operation"] for row in rows}
    for r in rows:
        assert r["unit"] == "ops/s" and float(r["rate"]) * float(r["totalTime"]) == pytest.approx(int(r["operations"])), r


# ---- single ranks and operations ----

def test_the_csv_of_ranks_tells_what_each_rank_did(ior):
    (ior.cwd / "s").write_text("IOR START\nblockSize=16k\ntransferSize=8k\nrepetitions=2\nRUN\nfilePerProc=1\nRUN\nIOR STOP\n")
    ior("-f s -O saveRankPerformanceDetailsCSV=ranks.csv", np=3).ok()
    rows = rows_of((ior.cwd / "ranks.csv").read_text(), RANK_HEAD)
    assert [(r["test"], r["iter"], r["access"], r["rank"]) for r in rows] == [
        (t, i, a, r) for t in "01" for i in "01" for a in ("write", "read") for r in "012"]
    for r in rows:
        with_open, work = float(r["runtime-with-openclose"]), float(r["runtime"])
        assert 0 < work <= with_open and r["bytes"] == "16384" and r["transfers"] == "2"
        assert abs(float(r["throughput"]) * work - 16384) < 1e-3 and abs(float(r["throughput-withopenclose"]) * with_open - 16384) < 1e-3


def operations(ior, prefix, rep, rank):
    return rows_of((ior.cwd / ("%s-%d-%05d.csv" % (prefix, rep, rank))).read_text(), OP_HEAD)


def test_the_csv_of_operations_keeps_every_phase(ior):
    ior("-w -W -r -C -i 2 -s 2 -b 16k -t 8k -O savePerOpDataCSV=ops").ok()
    assert [n for n in ior.files() if n.startswith("ops")] == ["ops-%d-%05d.csv" % (i, r) for i in (0, 1) for r in (0, 1)]
    for rep in (0, 1):
        for rank in (0, 1):
            rows = operations(ior, "ops", rep, rank)
            assert [r["access"] for r in rows] == ["write"] * 4 + ["read"] * 4
            mine, other = [16384 * k for k in (rank, 1 - rank)]
            assert [int(r["offset"]) for r in rows] == [base + s * 32768 + j for base in (mine, other) for s in (0, 1) for j in (0, 8192)]
            assert {(r["bytes"], r["iter"], r["rank"], r["test"]) for r in rows} == {("8192", str(rep), str(rank), "0")}
            check_times(rows[:4])
            check_times(rows[4:])


def check_times(rows):
    begin = [int(r["begin_ns"]) for r in rows]
    assert begin == sorted(begin) and begin[0] >= 0
    for r in rows:
        assert abs(float(r["time"]) - int(r["begin_ns"]) / 1e9) < 1e-9 + 1e-8 * float(r["time"])
        assert abs(float(r["runtime"]) - max(1, int(r["ns"])) / 1e9) < 1e-8 * float(r["runtime"]) + 1e-12
        assert abs(float(r["tp"]) / (8192 / float(r["runtime"])) - 1) < 1e-5


@pytest.mark.parametrize("key", ["savePerOpDataCSV", "saveRankPerformanceDetailsCSV"])
def test_a_file_for_ranks_that_cannot_be_written_is_found_before_any_io(ior, key):
    ior("-w -k -b 8k -t 8k -O %s=nowhere/x" % key, timeout=20).fails(2, "nowhere/x")
    assert ior.files() == []


@pytest.mark.parametrize("args, np, end", [
    ("-b 16k", None, ("work", (1, 0, 0, 0))), ("-b 64k -O stoneWallingWearOutIterations=3", None, ("count", (0, 1, 0, 0))),
    ("-b 64k -D 1 --dummy.delay-xfer=600000", None, ("time", (0, 0, 1, 0))),
    ("-b 32k -F -D 1 --dummy.delay-xfer=600000 --dummy.delay-only-rank0", 2, ("mixed", (1, 0, 1, 0))),
    ("-b 32k -F -D 1 -O stoneWallingWearOut=1 --dummy.delay-xfer=600000 --dummy.delay-only-rank0", 2, ("mixed", (1, 0, 1, 0)))])
def test_what_ended_a_phase(ior, args, np, end):
    run = ior("-a DUMMY -w -t 8k --report=json:r.json " + args, np=np).ok()
    found = ends(json.loads((ior.cwd / "r.json").read_text())["tests"][0]["phases"][0])
    conftest.timely(found == end or end[0] != "mixed", found, run)  # rank 1 has a second for four transfers of no time
    assert found == end


def test_reading_elsewhere_is_in_the_schema(ior, preload):
    """in_file checks it."""
    run = ior("-a DUMMY -w -r -b 8k -t 8k --read-back=elsewhere --report=json:r.json", env={"LD_PRELOAD": preload("two-nodes.c")}).ok()
    assert in_file(run)["tests"][0]["Options"]["ordering inter file"] == "another node"


def test_the_component_of_mpi_io_is_not_guessed(ior):
    about = in_file(ior("-a DUMMY -w -b 8k -t 8k --report=json:r.json").ok())["provenance"]["environment"]["mpiIo"]
    assert about == ("unknown" if conftest.OPEN_MPI else "ROMIO"), about


def test_the_component_of_mpi_io_is_not_guessed(ior):
    if not conftest.OPEN_MPI:
        pytest.skip("other libraries have one component")
    for words, component in ((conftest.ROMIO, conftest.ROMIO), ("^ompio", "unknown"), (None, "unknown")):
        run = ior("-a DUMMY -w -b 8k -t 8k --report=json:r.json", env={"OMPI_MCA_io": words} if words else None).ok()
        assert in_file(run)["provenance"]["environment"]["mpiIo"] == component


# ---- standard deviations ----

def deviation(numbers, divisor):
    mean = sum(numbers) / len(numbers)
    return (sum((x - mean) ** 2 for x in numbers) / (len(numbers) - {"n": 0, "n-1": 1}[divisor])) ** 0.5


def of_ior(doc):
    return [r["bwMiB"] for r in doc["tests"][0]["Results"]], doc["summary"][0]["bwStdMIB"]


def of_mdtest(doc):
    row = doc["summary"][0]
    return [r["rate"] for r in doc["tests"][0]["Results"] if r["operation"] == row["operation"]], row["rateStd"]


def of_exerciser(doc):
    row = doc["tests"][0]["operations"][0]
    return [r["seconds"] for r in doc["tests"][0]["Results"] if (r["operation"], r["side"]) == (row["operation"], row["side"])], row["sd"]


def of_checkpoint(doc):
    test = doc["tests"][0]
    return [t["storageThroughput"] / 2**20 for t in test["trials"]], test["throughput"]["storage"]["deviation"]


def of_gathers(doc):
    t = doc["tests"][0]["time"]
    return [t["min"], t["max"], 3 * t["mean"] - t["min"] - t["max"]], t["deviation"]


@pytest.mark.parametrize("program, args, numbers", [
    ("ior", "-a DUMMY -w -i 3 -b 8k -t 8k", of_ior),
    ("mdtest", "-a DUMMY -C -F -n 5 -i 3 -d d", of_mdtest),
    ("h5exerciser", "--numdims 1 --minels 8 -i 3", of_exerciser),
    ("checkpoint_simulator.x", "--nx 1 --ny 1 --im_world 12 --lm 2 --num_arrays 1 --num_writers 1 --ntrials 3 --write_binary", of_checkpoint),
    ("gatherv.x", "--nx 8 --n_levs 2 --n_writers 1 --n_tries 3", of_gathers)])
def test_a_document_says_the_divisor_of_its_deviations(ior, program, args, numbers):
    file = conftest.BUILD / "src" / program
    if not file.exists():
        pytest.skip("this build has no %s" % program)
    start = conftest.LAUNCHER + ["-np" if conftest.OPEN_MPI else "-n", "6"] if program.endswith(".x") else []
    conftest.subprocess.run(start + [str(file)] + (args + " --report=json:r.json").split(), cwd=ior.cwd, check=True, timeout=60,
                            stdout=conftest.subprocess.DEVNULL, env=conftest.program_env())
    doc = json.loads((ior.cwd / "r.json").read_text())
    assert [e.message for e in jsonschema.Draft202012Validator(SCHEMA).iter_errors(doc)] == []
    values, told = numbers(doc)
    assert len(values) == 3 and abs(deviation(values, doc["deviationDivisor"]) - told) <= 1e-9 * max(values) and told > 0
