# SPDX-License-Identifier: BSD-3-Clause
"""What a number is worth: findings in a line, in a table, in JSON, and in the exit status."""
import csv
import io
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import pytest

import conftest
import rules_table

LINE = re.compile(r"^NOTE: (?:test (\d+): )?(SOUND|SUSPECT|INVALID)(?: by (\w+) rules)?"
                  r"(?: \((?:(\d+) findings?)?(?:, )?(?:(\d+) notes?)?; --findings\): (.*))?$")


def document(run, name="r.json"):
    return json.loads((run.cwd / name).read_text())


def found(test):
    return {f["id"]: f for f in test["findings"] if f["outcome"] == "found"}


def look_for_dirty_pages(ids):
    """H05 is found. Others can have all files written between the phase and the look."""
    conftest.timely("H05" in ids, ids)


def test_a_small_run_says_in_one_line_what_it_is_worth(ior):
    run = ior("-b 64k -t 16k --report=text:-,json:r.json", np=None).ok()
    look_for_dirty_pages(found(document(run)["tests"][0]))
    assert run.messages == [] and len(run.findings) == 1, run
    test, verdict, rules, count, notes, text = LINE.match(run.findings[0]).groups()
    assert test is None and verdict == "SUSPECT" and rules is None, run
    assert text == "100 % read from page cache (H03); not flushed (H05)" and len(run.findings[0]) <= 160, run
    doc = document(run)
    assert doc["notes"] == [] and doc["status"] == 0
    one = doc["tests"][0]
    assert one["verdict"] == "SUSPECT" and one["rules"] == "default"
    assert len(one["findings"]) == 44 and [f["id"] for f in one["findings"]] == sorted(f["id"] for f in one["findings"])
    bad = found(one)
    assert {"H01", "H02", "H06", "H13", "H15"} <= set(bad), bad
    assert int(count) == len([f for f in bad.values() if f["severity"] == "SUSPECT" and f["id"] != "H06"]), "H05 has what H06 says"
    assert int(notes) == len([f for f in bad.values() if f["severity"] == "NOTE" and f["id"] not in ("H13", "H33")]), "all default data are H13"
    assert bad["H01"]["unit"] == "s" and bad["H01"]["limit"] == 0.1 and 0 < bad["H01"]["value"] < 0.1 and bad["H01"]["remedy"]
    for f in one["findings"]:
        assert (f["outcome"] == "not judged") <= f["text"].startswith("because "), f
        assert (f["outcome"] == "found") == (f["remedy"] != "") == (f["means"] != ""), f
    assert {f["id"] for f in one["findings"] if f["outcome"] == "not judged"} >= {"H17", "H24", "H30"}


@pytest.mark.parametrize("options, status", [("-i 20", 0), ("-i 20 --strict --rules=io500", 5)])
def test_the_line_stands_before_the_summary_where_a_launcher_merges_both(ior, options, status):
    """Standard output and standard error come to the launcher by different ways, and most jobs have one log. Its tail is what people parse."""
    command = ior.command("-b 64k -t 16k " + options, 2)[1]
    for attempt in range(5):  # one alone can be right by chance
        done = subprocess.run(command, cwd=ior.cwd, env=conftest.program_env(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=240, check=False)
        lines = [line for line in done.stdout.split("\n") if line and not conftest.LAUNCHER_NOISE.match(line)]
        assert done.returncode == status and len([line for line in lines if LINE.match(line)]) == 1, (attempt, done.stdout)
        at = lines.index("Summary of all tests:")
        assert [line.split()[0] for line in lines[at + 1:at + 5]] == ["Operation", "write", "read", "Finished"], done.stdout
        # the launcher reads the rows within the 20 ms that lie between them and the line
        conftest.timely(LINE.match(lines[at - 1]), attempt, done.stdout)
        assert [line.split()[0] for line in lines[at + 5:]] == ["ERROR:"] * (status != 0), done.stdout


def test_the_tail_of_a_log_is_that_of_the_original(ior):
    (ior.cwd / "log").write_text(merged(ior, "-b 64k -t 16k", None))
    tail = subprocess.run("tail -n 3 log | grep write | awk '{print $4}'", shell=True, cwd=ior.cwd, capture_output=True, text=True, check=True).stdout
    assert float(tail) > 0
    rows = (ior.cwd / "log").read_text().split("Summary of all tests:\n")[1].splitlines()
    assert [row.split()[0] for row in rows] == ["Operation", "write", "read", "Finished"], rows


def test_a_sound_run_says_so_and_names_its_notes(ior):
    """Limits of the user: what is left to say of this run is a note or nothing."""
    quiet = "--limit=" + ",".join("%s:%s" % (i, n) for i, n in [("H01", 0), ("H05", 100), ("H06", 1), ("H15", 0), ("H34", 0)] +
                                  [("H%02d" % i, 1000) for i in (4, 10, 13, 14, 16, 18, 19, 20, 21, 22, 23, 25, 26, 27)])
    found = [ior("-w -b 64k -t 16k --limit=H02:0,H01:%d" % seconds, np=None).ok().findings[0] for seconds in (1000, 0)]
    assert [LINE.match(line).group(2) for line in found] == ["SUSPECT"] * 2, "a limit does not take away the other severe ones"
    assert ["(H01)" in line for line in found] == [True, False], found
    long = "-a DUMMY -w -b 128k -t 16k -l random --dummy.delay-xfer=20000 "
    run = ior(long + quiet.replace("H15:0", "H15:3"), np=None).ok()
    assert run.findings == ["NOTE: SOUND (1 note; --findings): repetitions: 1 (H15)"], run
    assert ior(long + quiet, np=None).ok().findings == ["NOTE: SOUND"]


def merged(ior, args, np=2):
    """Standard output and standard error in one file, as batch systems write it."""
    done = subprocess.run(ior.command(args, np)[1], cwd=ior.cwd, env=conftest.program_env(), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=240, check=True)
    return "".join(line for line in done.stdout.splitlines(True) if not conftest.LAUNCHER_NOISE.match(line))


@pytest.mark.parametrize("where", ["-O summaryFormat=JSON", "--report=json:-", "--report=json:/dev/stdout,csv:r.csv"])
def test_a_log_with_both_streams_is_one_json_document(ior, where):
    test, = json.loads(merged(ior, "-b 64k -t 16k " + where))["tests"]
    assert test["verdict"] == "SUSPECT" and {"H01", "H06"} <= set(found(test))


@pytest.mark.parametrize("where", ["-O summaryFormat=CSV", "--report=csv:-"])
def test_a_log_with_both_streams_is_csv_with_the_verdict_in_columns(ior, where):
    """Readers of CSV know no comments: pandas takes a line that begins with # for a row, or refuses the file."""
    rows = list(csv.DictReader(io.StringIO(merged(ior, "-b 64k -t 16k -i 2 " + where))))
    assert len(rows) == 4 and all(None not in row and None not in row.values() for row in rows), rows
    assert list(rows[0])[-3:] == ["verdict", "findings", "remarks"] and [row["iter"] for row in rows] == ["0", "0", "1", "1"]
    assert [row["verdict"] for row in rows] == ["SUSPECT"] * 4, rows
    first, last = rows[0]["findings"].split(), rows[-1]["findings"].split()
    assert "H03" not in first and first.index("H06") < first.index("H01"), "what is known after the first phase"
    assert last.index("H03") < last.index("H06") < last.index("H01"), rows
    assert "verdict" not in merged(ior, "-b 64k -t 16k --rules=none " + where)


@pytest.mark.parametrize("program, args", [("ior", "-a DUMMY -w -b 64k -t 16k"), ("mdtest", "-n 1 -d d"), ("gatherv.x", "--nx 8 --n_levs 2 --n_tries 1 --n_writers 1"),
                                           ("mib", "-t . -n -l 2 -s 64k"), ("md-workbench", "-I 2 -P 4 -D 1 -R 1")])
def test_limits_that_are_given_one_after_the_other_all_hold(ior, program, args):
    ior.program = conftest.BUILD / "src" / program
    run = ior(args + " --limit=H01:0.25 --limit=H02:7,H26:1e6 --limit=H26:500 --report=json:r.json", np=None).ok()
    limits = {f["id"]: f["limit"] for f in document(run)["tests"][0]["findings"]}
    assert [limits[i] for i in ("H01", "H02", "H26")] == [0.25, 7, 500], limits


def test_a_limit_of_a_script_stands_alone(ior):
    (ior.cwd / "script").write_text("IOR START\napi=DUMMY\nwriteFile=1\nlimit=H01:3\nRUN\nlimit=H02:7\nRUN\nIOR STOP\n")
    run = ior("-f script --limit=H26:500 --report=json:r.json", np=None).ok()
    tests = [{f["id"]: f["limit"] for f in t["findings"]} for t in document(run)["tests"]]
    assert [(t["H01"] == 3, t["H02"] == 7, t["H26"] == 500) for t in tests] == [(True, False, False), (False, True, False)], tests


def test_each_test_of_a_script_has_its_own_verdict_in_csv(ior):
    (ior.cwd / "script").write_text("IOR START\nblockSize=64k\ntransferSize=16k\nwriteFile=1\nrules=none\nRUN\nrules=io500\nRUN\n"
                                    "rules=none\nRUN\nIOR STOP\n")
    rows = list(csv.DictReader(io.StringIO(ior("-f script --report=csv:-", np=None).ok().stdout)))
    assert [row["verdict"] for row in rows] == ["", "INVALID", ""], rows
    assert [bool(row["findings"]) for row in rows] == [False, True, False], rows


def test_the_environment_chooses_the_rules_of_tests_that_name_none(ior):
    def rules(args, **env):
        run = ior("-b 64k -t 16k --report=text:-,json:r.json " + args, np=2, env=env).ok()
        return [LINE.match(line).group(3) or "default" for line in run.findings], document(run)["tests"][0].get("rules")
    assert rules("", WEIR_RULES="IO500") == (["io500"], "io500")
    assert rules("--rules=snia", WEIR_RULES="io500") == (["snia"], "snia")
    assert rules("--rules=default", WEIR_RULES="none") == (["default"], "default")
    assert rules("", WEIR_RULES="none") == ([], None)
    assert rules("", WEIR_RULES="") == (["default"], "default")
    run = ior("-b 64k -t 16k", np=2, env={"WEIR_RULES": "iso9000"}).fails(1, "WEIR_RULES", "'iso9000'", "jupiter")
    assert run.findings == [] and ior.files() == ["r.json"], run


def test_the_help_has_the_rules():
    text = subprocess.run([str(conftest.IOR), "--help=trust"], capture_output=True, text=True, env=conftest.program_env({"WEIR_RULES": "x"}),
                          timeout=60, check=True).stdout
    ids = re.findall(r"^  (H\d\d)  ", text, re.M)
    assert len(ids) == 44 and all(word in text for word in ("--rules", "--limit", "--strict", "WEIR_RULES")), text


def test_without_rules_nothing_is_said(ior):
    run = ior("-b 64k -t 16k --rules=none --strict --report=text:-,json:r.json", np=None).ok()
    assert run.messages == [] and run.findings == [], run
    assert not {"findings", "rules", "verdict"} & set(document(run)["tests"][0])


def test_what_failed_before_a_phase_was_measured_has_no_verdict(ior):
    run = ior("-b 4k -t 4k -w -o none/x --strict --report=json:r.json", np=None).fails(3, "none/x")
    test, = document(run)["tests"]
    assert (test["rules"], test["verdict"], test["findings"]) == ("default", None, []), test
    assert test["verdictReason"] == "no phase was measured", test


def test_the_table_of_findings_begins_with_the_worst(ior):
    said = ior("-b 64k -t 16k --findings=all", np=None).ok().stdout
    found = re.findall(r"^H\d\d  (SUSPECT|NOTE) ", said, re.M)
    assert set(found) == {"SUSPECT", "NOTE"} and found == sorted(found, key=["SUSPECT", "NOTE"].index), said


def test_the_text_is_the_same_but_for_the_table_of_findings(ior):
    def shape(run):
        return re.sub(r"[\d.]+|Command line.*|(Began|StartTime|Finished).*", "", run.stdout).split()
    plain, quiet = ior("-b 64k -t 16k", np=None).ok(), ior("-b 64k -t 16k --rules=none", np=None).ok()
    assert shape(plain) == shape(quiet)
    full = ior("-b 64k -t 16k --findings=all", np=None).ok()
    table = full.stdout.split("\nFindings of test 0 by the default rules: SUSPECT\n")
    assert len(table) == 2 and "Summary of all tests" in table[0] and "remedy: " in table[1], full
    assert re.search(r"^H06 +SUSPECT +1 +0  phases$", table[1], re.M), full
    every = re.findall(r"^H\d\d", table[1], re.M)
    few = ior("-b 64k -t 16k --findings", np=None).ok().stdout
    shown = re.findall(r"^H\d\d", few, re.M)
    look_for_dirty_pages(shown)
    assert len(shown) <= 8 and shown[:2] == ["H03", "H05"] and not {"H06", "H13"} & set(shown), few
    assert {"H06", "H13"} < set(every), full
    assert re.search(r"^\d more: --findings=all$", few, re.M), few
    assert "Findings of test" not in ior("-b 64k -t 16k --findings=no", np=None).ok().stdout
    ior("-b 64k -t 16k --findings=few", np=None).fails(1, "--findings: 'few' is not 'all'")


def test_strict_ends_an_invalid_run_with_status_5(ior):
    run = ior("-b 64k -t 16k --strict --rules=jupiter --report=text:-,json:r.json", np=None).fails(5, "test 0 is INVALID by the jupiter rules")
    assert LINE.match(run.findings[0]).group(2) == "INVALID", run
    assert document(run)["status"] == 5 and document(run)["tests"][0]["verdict"] == "INVALID"
    assert document(run)["error"] == run.errors[0], run
    ior("-b 64k -t 16k --strict", np=None).ok()
    ior("-b 64k -t 16k --strict --peak=1", np=None).ok(5)
    run = ior("-b 64k -t 16k --strict --rules=io500 -N 1", np=2).ok(5)
    assert len(run.findings) == 1, run


@pytest.mark.parametrize("first, second", [("rules=jupiter,strict=1", "checkRead=1,rules=default,strict=0"),
                                           ("checkRead=1", "checkRead=0,rules=jupiter,strict=1")])
def test_wrong_data_are_worse_than_invalid_numbers_in_either_order(ior, first, second):
    (ior.cwd / "s").write_text("IOR START\napi=DUMMY\nDUMMY.corrupt-at=2\nwriteFile=1\nreadFile=1\nblockSize=64k\ntransferSize=16k\n"
                               "%s\nRUN\n%s\nRUN\nIOR STOP\n" % (first, second))
    run = ior("-f s --report=text:-,json:r.json", np=None).ok(4)
    assert len(run.errors) == 2 and document(run)["status"] == 4, run
    assert "wrong data in 1 place" in document(run)["error"] and document(run)["error"] in run.errors


def test_rules_and_limits_belong_to_a_test_of_a_script(ior):
    (ior.cwd / "script").write_text("IOR START\nblockSize=64k\ntransferSize=16k\nrules=io500\nRUN\nrules=none\nRUN\n"
                                    "rules=default\nlimit=H01:1e-9+H25:100\nRUN\nIOR STOP\n")
    run = ior("-f script --report=json:r.json", np=None).ok()
    assert len(run.findings) == 2, run
    assert [LINE.match(line).group(1) for line in run.findings] == [None, "2"], run
    tests = document(run)["tests"]
    assert tests[0]["verdict"] == "INVALID" and "findings" not in tests[1]
    assert {f["id"]: f["limit"] for f in tests[2]["findings"]}["H25"] == 100


def test_a_limit_of_the_user_holds_for_both_severities(ior):
    """H01 is a NOTE below one limit, and SUSPECT below a second one: what the user allows is neither."""
    for limit, found in (("H01:0", None), ("H01:1e-9", None), ("H01:30", ("SUSPECT", 30))):
        run = ior("-a DUMMY -w -b 64k -t 16k --report=json:r.json --limit=" + limit, np=None).ok()
        h01, = [f for f in json.loads((ior.cwd / "r.json").read_text())["tests"][0]["findings"] if f["id"] == "H01"]
        assert h01["outcome"] == ("found" if found else "fine") and (not found or (h01["severity"], h01["limit"]) == found), (h01, run)



@pytest.mark.parametrize("args, words", [
    ("--rules=iso9000", ["--rules", "iso9000", "jupiter"]),
    ("--limit=H01", ["--limit", "H01:30"]),
    ("--limit=H99:1", ["--limit", "'H99:1'", "no rule"]),
])
def test_wrong_rules_and_limits_are_refused(ior, args, words):
    run = ior("-b 64k -t 16k " + args, np=None).fails(1, *words)
    assert run.findings == [], run


@pytest.mark.parametrize("program, args", [("mdtest", "-n 4 -d d"), ("md-workbench", "-I 2 -P 4 -D 1 -R 1")])
def test_metadata_programs_are_judged_too(ior, program, args):
    ior.program = conftest.BUILD / "src" / program
    run = ior(args + " --report=text:-,json:r.json", np=None).ok()
    assert len(run.findings) == 1 and LINE.match(run.findings[0]), run
    one = document(run)["tests"][0]
    assert found(one)["H01"]["value"] < 1 and one["verdict"] == "SUSPECT"
    assert {f["id"]: f["outcome"] for f in one["findings"]}["H03"] == "not judged"
    assert "H35" in found(one)  # one node looks at what it made
    run = ior(args + " --rules=io500 --strict --report=json:r.json", np=None)
    assert run.returncode == 5 and {"H01", "H35"} <= found(document(run)["tests"][0]).keys(), run
    assert "tree create" not in found(document(run)["tests"][0])["H01"]["text"], run


PROGRAMS = {
    "h5exerciser": (2, "--numdims 2 --minels 32 -i 2 --derivedtype --addattr", {"H01", "H03", "H06"}, {"H29": "fine"}),
    "checkpoint_simulator.x": (6, "--nx 1 --ny 1 --im_world 12 --lm 2 --num_writers 2 --split_file -i 1 -o c", {"H01", "H06", "H15"}, {"H03": "not judged"}),
    "restart_simulator.x": (6, "--nx 1 --ny 1 --im_world 12 --lm 2 --num_readers 2 --split_file -i 1 -o c", {"H01", "H03"}, {"H06": "not judged"}),
    "raw_bw.x": (2, "--nx 16 --n_levs 2 --n_writers 2", {"H01", "H06"}, {"H05": "not judged"}),
    "gatherv.x": (2, "--nx 16 --n_levs 2 --n_writers 1", {"H01"}, {"H06": "not judged", "H02": "not judged"}),
}


def test_programs_for_arrays_are_judged_too(ior):
    for program, (np, args, least, others) in PROGRAMS.items():
        ior.program = conftest.BUILD / "src" / program
        if not ior.program.exists():
            continue
        run = ior(args + " --report=json:r.json,text:-", np=np).ok()
        test = document(run)["tests"][0]
        judged = {f["id"]: f["outcome"] for f in test["findings"]}
        assert test["verdict"] == "SUSPECT" and least <= set(found(test)), (run, found(test))
        assert all(judged[i] == outcome for i, outcome in others.items()), (run, judged)
        assert len(run.findings) == 1 and LINE.match(run.findings[0]), run


@pytest.mark.parametrize("program, args", [("ior", "-a DUMMY -w -l random -b 256m -t 256m"), ("mib", "--api DUMMY -t . -n -W -l 1 -s 256m")])
def test_what_a_phase_prepares_is_no_user_time_of_it(ior, program, args):
    """A buffer of random data takes 30 ms or more, and the transfer waits for all of its 120 ms."""
    ior.program = conftest.BUILD / "src" / program
    run = ior(args + " --dummy.delay-xfer=120000 --report=json:r.json", np=None).ok()
    finding, = [f for f in document(run)["tests"][0]["findings"] if f["id"] == "H21"]
    assert finding["text"].startswith("user CPU time is "), finding
    conftest.timely(finding["value"] < 10, finding)


def test_reading_what_the_own_node_wrote_is_counted(ior):
    two = {"IOR_FAKE_NODES": "2", "IOR_FAKE_TASK_PER_NODES": "2"}
    (ior.cwd / "script").write_text("IOR START\nblockSize=16k\ntransferSize=16k\nRUN\nreorderTasks=1\nRUN\n"
                                    "taskPerNodeOffset=4\nRUN\nIOR STOP\n")
    run = ior("-f script --report=json:r.json", np=4, env=two).ok()
    tests = [{f["id"]: f for f in t["findings"]} for t in document(run)["tests"]]
    assert [t["H07"]["value"] for t in tests[:2]] == [100, 0]
    assert tests[2]["H07"]["outcome"] == "found" and tests[2]["H07"]["value"] == 50
    assert tests[2]["H09"]["outcome"] == "found" and "shifts by tasks, not by nodes: 50 %" in tests[2]["H09"]["text"]


def test_a_dry_run_is_judged_in_a_moment_whatever_the_size(ior):
    """It took 105 s and printed a rate."""
    run = ior("--dry-run -b 900t -t 1m --assume-rate=1g --report=text:-,json:r.json", np=None).ok()
    conftest.timely(run.elapsed < 20, run)
    assert ior.files() == ["r.json"]
    assert run.rows and all(row["bw"] is None for row in run.rows) and len(run.findings) == 1, run
    assert len([w for w in run.warnings if "900 TiB" in w and "free" in w]) == 1, run
    one = document(run)["tests"][0]
    assert one["need"]["bytes"] == 900 * 2 ** 40 and one["need"]["files"] == 1 and one["need"]["free bytes"] > 0
    assert re.search(r"^data +: 900 TiB\nfiles +: 1\nbuffers of a node +: 1 MiB\nfree +: [0-9.]+ [MGT]iB$", run.stdout, re.M), run
    judged = {f["id"]: f for f in one["findings"]}
    assert judged["H01"]["value"] == 900 * 1024 and "would take" in judged["H01"]["text"] and judged["H02"]["outcome"] == "fine" and judged["H06"]["outcome"] == "found"
    assert judged["H10"]["outcome"] == judged["H03"]["outcome"] == "not judged"
    small = ior("--dry-run -b 1m -F -z --assume-rate=1g --report=text:-,json:r.json", np=2).ok()
    assert small.warnings == [] and document(small)["tests"][0]["need"]["files"] == 2
    assert document(small)["tests"][0]["verdict"] == "SUSPECT"
    cached = found(document(small)["tests"][0])["H03"]  # one node has one page cache, and room for all of it
    assert cached["value"] == 100 and "would be in this node's page cache" in cached["text"], cached


def test_a_dry_run_says_what_does_not_fit(ior):
    """What is asked for against what is free: as a finding, whatever the backend, and with the numbers in JSON."""
    def judged(args, status=0):
        run = ior("--dry-run -t 1m --report=text:-,json:r.json " + args, np=2).ok(status)
        test, = document(run)["tests"]
        return run, test, {f["id"]: f for f in test["findings"]}["H25"]
    for api in [a for a in ("POSIX", "MPIIO", "HDF5") if a in conftest.backends()]:
        run, test, h25 = judged("-b 450t -o nowhere/f -a " + api)
        assert test["verdict"] == "INVALID" and h25["outcome"] == "found" and "it does not fit" in h25["text"], (run, h25)
        assert 0 < test["freeBytes"] <= test["capacityBytes"] and h25["value"] == pytest.approx(100 * 900 * 2 ** 40 / test["freeBytes"], 0.05), h25
        assert LINE.match(run.findings[0]).group(2) == "INVALID" and run.findings[0].count("does not fit") == 1, run
    judged("-b 450t --strict", 5)
    for args in ("-b 1m", "-a DUMMY -b 450t", "-b 450t -r"):  # it fits, nothing is stored, nothing is written
        run, test, h25 = judged(args)
        assert test["verdict"] != "INVALID" and "does not fit" not in h25["text"] and run.warnings == [], (run, h25)
    free = os.statvfs(ior.cwd)
    run, test, h25 = judged("-b %dm" % (free.f_bavail * free.f_frsize // 2 // 2 ** 20 // 2))
    used = 1 - (free.f_bfree - free.f_bavail / 2) / free.f_blocks
    assert h25["value"] == pytest.approx(100 * used, abs=5) and "would be" in h25["text"], h25


def test_a_dry_run_counts_the_room_of_the_file_that_goes_first(ior):
    if os.geteuid() != 0 or not shutil.which("unshare"):
        pytest.skip("mounting needs root and unshare")
    (ior.cwd / "m").mkdir()
    steps = "mount -t tmpfs -o size=64m none m && dd if=/dev/zero of=m/f bs=1M count=40 2>/dev/null || exit 77; exec \"$@\""
    for size, verdict in (("50m", "SUSPECT"), ("70m", "INVALID")):
        run = ior("--dry-run -t 1m -o m/f --report=text:-,json:r.json -b " + size, np=None, prefix=["unshare", "-m", "sh", "-c", steps, "sh"])
        if run.returncode == 77:
            pytest.skip("no tmpfs can be mounted here")
        assert document(run.ok())["tests"][0]["verdict"] == verdict, run


def test_the_memory_of_a_job_is_that_of_its_control_group(ior):
    """Of the group that /proc/self/cgroup names, in version 1 and 2, or of one above it; not of the root."""
    if os.geteuid() != 0 or not shutil.which("unshare"):
        pytest.skip("mounting needs root and unshare")
    def times(group, kind, option, file):
        job = ior.cwd / kind / "job"
        (job / "task").mkdir(parents=True)
        (job / file).write_text(str(64 * conftest.MIB))
        (ior.cwd / "groups").write_text(group + "/job/task\n")
        (ior.cwd / "mounts").write_text("36 31 0:32 / %s rw - %s %s rw%s\n" % (ior.cwd / kind, kind, kind, option))
        steps = "mount --bind groups /proc/$$/cgroup && mount --bind mounts /proc/$$/mountinfo || exit 77; exec \"$@\""
        run = ior("-w -b 16m -t 1m --report=json:r.json", np=None, prefix=["unshare", "-m", "sh", "-c", steps, "sh"])
        if run.returncode == 77:
            pytest.skip("files in /proc cannot be mounted over")
        doc = document(run.ok())
        assert doc["provenance"]["environment"]["memoryLimit"] == str(64 * conftest.MIB), doc["provenance"]
        return {f["id"]: f for f in doc["tests"][0]["findings"]}["H02"]["value"]
    assert times("4:cpu,memory:", "cgroup", ",memory", "memory.limit_in_bytes") == 0.25
    assert times("0::", "cgroup2", "", "memory.max") == 0.25
    run = ior("-w -b 16m -t 1m --report=json:r.json", np=None).ok()
    assert {f["id"]: f for f in document(run)["tests"][0]["findings"]}["H02"]["value"] != 0.25


# ---- who else uses the machine ----

def neighbours(ior, preload, args, np=2, **env):
    """H26 on a machine where nothing runs but the tasks and this neighbour; the counters of the kernel are made for it."""
    run = ior(args + " --report=json:r.json", np=np, env=dict(env, LD_PRELOAD=preload("neighbour.c"))).ok()
    return {f["id"]: f for f in document(run)["tests"][-1]["findings"]}["H26"]


SLEEPY = "-a DUMMY -w -b 64k -t 8k --dummy.delay-xfer=100000"  # 0.8 s


@pytest.mark.parametrize("args, np", [("", 1), (" --dummy.delay-only-rank0", 2), (" --dummy.delay-only-rank0 -N 1", 2)])
def test_what_the_tasks_and_their_launcher_use_is_not_of_others(ior, preload, args, np):
    """Tasks that wait in MPI are busy, also those that take no part in the test."""
    seen = neighbours(ior, preload, SLEEPY + args, np)
    assert seen["outcome"] == "fine" and seen["value"] < 10 and "of the CPU time of this run's cores" in seen["text"], seen


def test_a_neighbour_on_the_processors_is_found(ior, preload):
    seen = neighbours(ior, preload, SLEEPY, NEIGHBOUR_CPU="0.4")
    assert (seen["outcome"], seen["severity"], seen["limit"]) == ("found", "SUSPECT", 25) and 30 <= seen["value"] <= 50, seen
    seen = neighbours(ior, preload, SLEEPY, NEIGHBOUR_CPU="0.1")
    assert seen["outcome"] == "fine" and 3 <= seen["value"] <= 20, seen


def test_a_neighbour_that_has_gone_does_not_accuse(ior, preload):
    """The load of the last minute told of those who were there before."""
    seen = neighbours(ior, preload, SLEEPY + " -d 0.2", NEIGHBOUR_CPU="1", NEIGHBOUR_GOES="1")
    assert seen["outcome"] == "fine" and seen["value"] < 10, seen


def test_short_phases_say_nothing_of_the_processors(ior, preload):
    seen = neighbours(ior, preload, "-a DUMMY -w -b 64k -t 8k", NEIGHBOUR_CPU="1")
    assert seen["outcome"] == "not judged" and "too short" in seen["text"], seen


def test_a_neighbour_on_the_disk_is_found(ior, preload):
    """Writes that are flushed, and another one's beside them; and two tests, of which the second one is undisturbed."""
    disk_or_skip(ior)
    slow = dict(FAST_WRITES="0")
    both = preload("neighbour.c") + ":" + preload("slow-rank.c")
    def h26(args, **env):
        run = ior(args + " --report=json:r.json", np=None, env=dict(slow, LD_PRELOAD=both, **env)).ok()
        return [{f["id"]: f for f in t["findings"]}["H26"] for t in document(run)["tests"]]
    args = "-w -e -b 40m -t 4m"  # 0.5 s
    quiet, = h26(args)
    if "traffic is not known" in quiet["text"]:
        pytest.skip(quiet["text"])
    assert quiet["outcome"] == "fine" and quiet["value"] < 10, quiet
    loud, = h26(args, NEIGHBOUR_DISK="2.5")
    assert loud["outcome"] == "found" and loud["severity"] == "SUSPECT" and 50 <= loud["value"] <= 95, loud
    assert "of the bytes of the device" in loud["text"], loud
    little, = h26(args, NEIGHBOUR_DISK="0.125")
    assert little["outcome"] == "fine", little
    (ior.cwd / "script").write_text("IOR START\nwriteFile=1\nreadFile=0\nfsync=1\nblockSize=40m\ntransferSize=4m\nRUN\ninterTestDelay=0.1\nRUN\nIOR STOP\n")
    first, second = h26("-f script", NEIGHBOUR_DISK="2.5", NEIGHBOUR_GOES="1")
    assert first["outcome"] == "found" and second["outcome"] == "fine", (first, second)


# ---- the page cache ----

def prepared(path, share, size=16 * conftest.MIB):
    """A file of which this share is in the page cache. Skips where the file system keeps all of it there (tmpfs)."""
    with open(path, "wb") as f:
        f.write(os.urandom(size))
        f.flush()
        os.fsync(f.fileno())
        os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    with open(path, "rb", buffering=0) as f:
        os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_RANDOM)  # no read-ahead
        f.read(int(size * share))


def disk_or_skip(ior):
    kind = subprocess.run(["stat", "-f", "-c", "%T", str(ior.cwd)], capture_output=True, text=True, check=True).stdout.strip()
    if kind in ("tmpfs", "ramfs"):
        pytest.skip("the tests run on a file system in memory")


@pytest.mark.parametrize("share", [0, 50, 100])
def test_pages_that_were_there_before_a_direct_read_are_not_its_own(ior, share):
    """A direct read leaves the pages of an earlier buffered one where they are."""
    disk_or_skip(ior)
    prepared(ior.cwd / "old", share / 100)
    run = ior("-r -k -b 16m -t 1m -o old --posix.odirect --report=json:r.json", np=None)
    if run.returncode:
        pytest.skip("no direct I/O on this file system")
    seen = {f["id"]: f for f in document(run)["tests"][0]["findings"]}
    assert seen["H27"]["outcome"] == ("not judged" if share == 100 else "fine"), seen["H27"]
    assert seen["H03"]["outcome"] == "not judged" and "direct I/O" in seen["H03"]["text"], seen["H03"]
    assert seen["H07"]["outcome"] == "not judged" and "one node" in seen["H07"]["text"], seen["H07"]


def test_what_is_flushed_and_not_read_need_not_be_larger_than_memory(ior):
    def outcome(args):
        return {f["id"]: f["outcome"] for f in document(ior(args + " -b 1m -t 256k --report=json:r.json", np=None).ok())["tests"][0]["findings"]}["H02"]
    assert [outcome(args) for args in ("-w -e", "-w", "-w -r -e")] == ["not judged", "found", "found"]


def test_few_repetitions_that_differ_are_suspect(ior, preload):
    """Three repetitions of 342, 1130 and 681 MiB/s were sound. Here each write takes 50 ms, or only those of the third one."""
    def h15(fast):
        run = ior("-w -b 48k -t 8k -i 3 --report=json:r.json", np=None, env={"LD_PRELOAD": preload("slow-rank.c"), "FAST_WRITES": fast}).ok()
        return {f["id"]: f for f in document(run)["tests"][0]["findings"]}["H15"]
    steady, scattered = h15("0"), h15("12")
    conftest.timely(steady["severity"] == "NOTE" and scattered["value"] > 50, steady, scattered)
    assert (scattered["outcome"], scattered["severity"], scattered["limit"]) == ("found", "SUSPECT", 25), scattered
    assert "rates of write in 3 repetitions" in scattered["text"], scattered


@pytest.mark.parametrize("share", [0, 50, 100])
def test_the_page_cache_is_looked_at_before_a_read_phase(ior, share):
    for _ in range(4):
        prepared(ior.cwd / "old", share / 100)
        run = ior("-r -b 16m -t 1m -o old --report=json:r.json", np=None).ok()
        seen = {f["id"]: f for f in document(run)["tests"][0]["findings"]}["H03"]
        if seen["value"] >= share - 2:  # others may have dropped pages of the file
            break
    if share < 100 and seen["value"] == 100:
        pytest.skip("the file system keeps the file in memory")
    assert abs(seen["value"] - share) <= 2, seen
    assert seen["outcome"] == ("found" if share else "fine"), seen


def test_what_is_not_on_storage_after_a_write_phase_is_seen(ior):
    for sync, least, most in (("", 50, 100), ("-e", 0, 2)):
        run = ior("-w -b 16m -t 1m --report=json:r.json " + sync, np=None).ok()
        seen = {f["id"]: f for f in document(run)["tests"][0]["findings"]}["H05"]
        if seen["outcome"] == "not judged":
            pytest.skip(seen["text"])
        assert seen["value"] <= most, (sync, seen)
        conftest.timely(least <= seen["value"], sync, seen)  # the kernel may have written it meanwhile
    own = ior("-b 64k -t 16k --report=json:r.json", np=2).ok()
    assert found(document(own)["tests"][0])["H03"]["value"] == 100


# ---- dropped, and read by somebody else ----

def phases(run, operation):
    return [p for p in document(run)["tests"][0]["phases"] if p["operation"] == operation]


def test_dropped_pages_are_gone_when_the_read_phase_begins(ior):
    disk_or_skip(ior)
    run = ior("-b 4m -t 1m -i 2 -C --drop-cache --report=json:r.json", np=2).ok()
    assert run.warnings == [] and len(phases(run, "read")) == 2
    for p in phases(run, "read"):
        assert p["cacheLooked"] == 8 * conftest.MIB and p["cacheResident"] == 0, p
    assert all(p["cacheResident"] == p["cacheLooked"] for p in phases(run, "write")), run
    judged = {f["id"]: f["outcome"] for f in document(run)["tests"][0]["findings"]}
    assert judged["H02"] == judged["H03"] == "fine", judged


def test_dropping_pages_of_a_file_system_in_memory_is_said_to_fail(ior):
    if not os.access("/dev/shm", os.W_OK):
        pytest.skip("no /dev/shm")
    name = "/dev/shm/weir-test-%d" % os.getpid()
    args = "-b 64k -t 64k --report=json:r.json -o %s --drop-cache" % name
    run = ior(args + " --rules=none", np=None).ok()
    warning, = run.warnings
    assert warning.startswith("--drop-cache did not work: 100 %"), run
    ior(args + " -i 2 -O warningAsErrors=1", np=None).fails(1, "--drop-cache did not work")
    assert not os.path.exists(name)


def test_each_task_reads_elsewhere_what_no_node_has_seen(ior):
    two = {"IOR_FAKE_NODES": "2", "IOR_FAKE_TASK_PER_NODES": "2"}
    (ior.cwd / "script").write_text("IOR START\nblockSize=32k\ntransferSize=16k\nreadBack=elsewhere\nwriteFile=1\ncheckRead=1\n"
                                    "repetitions=2\nRUN\nfilePerProc=1\nrandomOffset=1\nRUN\nIOR STOP\n")
    run = ior("-f script --report=json:r.json", np=4, env=two).ok()
    for test in document(run)["tests"]:
        assert {f["id"]: f["value"] for f in test["findings"]}["H07"] == 0, test
    for args, words in (("-w -W -R", "read 2 times"), ("-C", "leave -C out"), ("-r -i 2", "read 2 times")):
        ior("-b 16k -t 16k --read-back=elsewhere " + args, np=4, env=two).fails(1, words)
    ior("-b 16k -t 16k --read-back=elsewhere", np=None).fails(1, "--read-back=elsewhere", "one node")
    assert ior.files() == ["r.json", "script"]


# ---- the worked examples: what must be found, and what must not ----

EXAMPLES = {  # arguments, what is found
    "a file smaller than memory": ("-b 1m -t 256k", {"H03", "H05", "H06"}),
    "flushed, but read from the cache": ("-b 1m -t 256k -e", {"H03"}),
    "the task itself comes next on one node": ("-b 1m -t 256k -C", {"H03"}),
    "random reads faster than sequential ones": ("-f script", {"H03", "H11"}),
    "blocks that were never written": ("-w -e -b 4k -t 4k -s 256 -z -z", {"H14"}),
    "buffered random writes with a flush": ("-w -e -b 2m -t 4k -z", {"H32"}),
    "a file of another run": ("-r -b 512k -t 256k -o @", {"H31"}),
}


@pytest.mark.parametrize("where", ["disk", "tmpfs"])
def test_the_worked_examples_are_found(ior, where):
    place = ior.cwd / "f"
    if where == "tmpfs":
        if not os.access("/dev/shm", os.W_OK):
            pytest.skip("no /dev/shm")
        place = pathlib.Path("/dev/shm/weir-test-%d" % os.getpid())
    else:
        disk_or_skip(ior)
    (ior.cwd / "script").write_text("IOR START\ntestFile=%s\nblockSize=1m\ntransferSize=256k\nkeepFile=1\ninterIODelay=20000\nRUN\n"
                                    "readFile=1\nwriteFile=0\ntransferSize=4k\nrandomOffset=1\ninterIODelay=0\nkeepFile=0\nRUN\n"
                                    "IOR STOP\n" % place)
    for name, (args, wanted) in EXAMPLES.items():
        if "@" in args:
            place.write_bytes(bytes(conftest.MIB))
        args = args.replace("@", str(place)) if "@" in args or "-f" in args else args + " -o %s" % place
        run = ior(args + " --report=json:r.json", np=2 if "-C" in args else None).ok()
        ids = {id for test in document(run)["tests"] for id in found(test)}
        if where == "tmpfs":
            wanted = wanted - {"H05", "H32"}  # its pages are never written back; the kernel may say dirty or not
        if "H05" in wanted:
            look_for_dirty_pages(ids)
        assert wanted <= ids, (name, ids)
        if "H31" in wanted:  # a stonewall has ended the writing of it, as the status file says
            (ior.cwd / "status").write_text("4\n")
            run = ior(args + " -k -O stoneWallingStatusFile=status --report=json:r.json", np=None).ok()
            assert "H31" not in found(document(run)["tests"][0]), name
        if "H32" in wanted:
            run = ior(args.replace("-e", "--posix.odirect") + " --report=json:r.json", np=None).ok()
            assert {"H32": "not judged"}.items() <= {f["id"]: f["outcome"] for f in document(run)["tests"][0]["findings"]}.items(), run
        if place.exists():
            place.unlink()


@pytest.fixture
def ext4(ior):
    """A file system on a device that nobody else uses, and without a cache below it: ext4 in disk/ on a loop device with direct I/O."""
    with conftest.on_a_loop_device(ior.cwd, "--direct-io=on") as path:
        yield path


@pytest.mark.parametrize("args", ["--posix.odirect", "-e --drop-cache"])
def test_sound_runs_have_nothing_that_is_suspect(ior, ext4, args):
    """Long enough by waiting after each transfer, so that no speed matters, and whoever else uses the processors."""
    run = ior("-b 8m -t 1m -l random -O interIODelay=25000 -o disk/f --limit=H26:100 --report=json:r.json " + args, np=None).ok()
    test = document(run)["tests"][0]
    assert test["verdict"] == "SOUND", [f for f in test["findings"] if f["outcome"] == "found"]
    judged = {f["id"]: f["outcome"] for f in test["findings"]}
    assert "moved 0 % of the bytes of the device" in {f["id"]: f["text"] for f in test["findings"]}["H26"]
    assert judged["H14"] == judged["H02"] == "fine" and judged["H03" if "drop" in args else "H27"] == "fine", judged


def test_traffic_of_others_on_the_device_is_seen(ior, ext4):
    """The run goes on until somebody else has written enough, and a phase has ended after it."""
    def rows():
        return os.pread(proc.out.fileno(), 1 << 24, 0).count(b"\nwrite ")

    def wait_for(n):
        until = time.monotonic() + 60
        while rows() < n and time.monotonic() < until and proc.poll() is None:
            time.sleep(0.02)

    proc = ior.start("-w -e -b 64k -t 64k -i 100000 -O interIODelay=200000 -o disk/f --report=text:-,json:r.json", np=None)
    wait_for(1)
    for i in range(6):
        fd = os.open(ext4 / "other", os.O_WRONLY | os.O_CREAT)
        os.write(fd, os.urandom(12 * conftest.MIB))
        os.fsync(fd)
        os.close(fd)
    wait_for(rows() + 2)
    os.kill(proc.pid, signal.SIGINT)
    run = ior.finish(proc)
    finding = found(document(run)["tests"][0])["H26"]
    assert int(re.search(r"moved (\d+) % of the bytes of the device", finding["text"]).group(1)) > 50 < finding["value"], finding


# ---- the page of the guide ----

def test_the_table_in_the_guide_is_made_from_the_rows(ior):
    assert rules_table.parts(rules_table.PAGE.read_text())[1] == rules_table.table(), "run testing/system/rules_table.py --write"
    help = re.sub(r"\n {7}", " ", ior("--help=trust", np=None).ok().stdout).split("Default rules (one: --help=H01):\n")[1]
    assert re.findall(r"^  (H\d\d)  (.*?): (.*)$", help, re.M) == [(id, limits, what) for id, what, limits, _, _ in rules_table.rules()]


def test_the_guide_has_a_run_for_every_finding():
    shown = set().union(*(says for block in conftest.runs_of_the_guide() for _, says in block))
    known = {rule[0] for rule in rules_table.rules()} - {"H43", "H44"}  # no service that keeps its promises shows the one, the other needs a GPU: see test_s3_trust.py, test_gpu.py
    assert shown == known, shown ^ known


def can_run(command):
    """Has this build the backend, and this MPI library the component, that a line of the guide names?"""
    if "OMPI_MCA_io=romio321" in command and conftest.OPEN_MPI:
        known = subprocess.run(["ompi_info", "--parsable"], capture_output=True, text=True).stdout
        return "mca:io:romio321:" in known
    if "unshare" in command and subprocess.run(["unshare", "-rm", "true"], capture_output=True, check=False).returncode != 0:
        return False
    return all(name in conftest.backends() for name in re.findall(r" -a (\w+)", command))


def test_the_runs_of_the_guide_are_found_to_be_what_it_says(ior):
    """Those for several nodes: see testing/cluster."""
    env, missing = conftest.program_env(), []
    path = ior.cwd / "bin"
    path.mkdir()
    for name in ("ior", "mdtest"):
        program = path / name
        program.write_text('#!/bin/sh\nexec %s "$@" --report=json:%s/$$.json\n' % (conftest.BUILD / "src" / name, ior.cwd))
        program.chmod(0o755)
    (path / "mpirun").write_text('#!/bin/sh\nexec %s "$@"\n' % " ".join([shutil.which(conftest.LAUNCHER[0])] + conftest.LAUNCHER[1:]))
    (path / "mpirun").chmod(0o755)
    env["PATH"] = "%s:%s" % (path, env["PATH"])
    export = "true"
    for command, says in conftest.runs_of_the_guide()[0]:
        if command.startswith("export"):
            export = command
            continue
        if not can_run(command):
            continue
        done = subprocess.run(["sh", "-e", "-c", export + "; " + command], cwd=ior.cwd, env=env, stdin=subprocess.DEVNULL, timeout=120,
                              capture_output=True, text=True)
        if "--posix.odirect" in command and ("not support" in done.stderr or "Invalid argument" in done.stderr):
            continue
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        ids = set()
        for file in ior.cwd.glob("*.json"):
            text = file.read_text()
            file.unlink()
            ids |= {id for test in json.loads(text)["tests"] for id in found(test)}
        if "H05" in says:
            look_for_dirty_pages(ids)
        if not says <= ids:
            missing.append((command, says, sorted(ids)))
    assert not missing, missing


def test_what_stores_nothing_is_not_compared_with_a_device(ior):
    ior("-a DUMMY -w -b 64k -t 8k --report=json:r.json", np=None).ok()
    test, = json.loads((ior.cwd / "r.json").read_text())["tests"]
    assert [f["outcome"] for f in test["findings"] if f["id"] == "H04"] == ["not judged"]


def test_the_facts_of_a_run_cost_one_agreement_whatever_the_number_of_phases(ior, preload):
    """They travel with the sums that each phase has anyway: 80 phases add a few calls. Estimates of the clocks do not become old here."""
    env = {"LD_PRELOAD": preload("count-collectives.c") + ":" + preload("speed-clock.c"), "CLOCK_FACTOR": "0.01"}
    def calls(rules):
        ior("-w -r -i 40 -b 4k -t 4k --rules=" + rules, np=2, env=env).ok()
        return int((ior.cwd / "collectives").read_text())
    assert 0 < calls("default") - calls("none") < 10


def test_datasets_that_are_not_aligned_as_asked_are_found(ior, need_backend):
    """A layout is chosen when a file is made: a reader that asks for another one is told."""
    need_backend("HDF5")
    def layout(args):
        ior("-a HDF5 -k -b 64k -t 64k --report=json:r.json " + args, np=None).ok()
        return {f["id"]: f["outcome"] for f in json.loads((ior.cwd / "r.json").read_text())["tests"][0]["findings"]}["H30"]
    assert layout("-w -r --hdf5.setAlignment=64k") == "fine"
    assert layout("-w") == "not judged"
    assert layout("-r --hdf5.setAlignment=64k") == "found"
