# SPDX-License-Identifier: BSD-3-Clause
"""What a number is worth: findings in a line, in a table, in JSON, and in the exit status."""
import json
import os
import re

import pytest

import conftest

LINE = re.compile(r"^NOTE: (?:test (\d+): )?(?:(SUSPECT|INVALID) by the rules (\w+), )?(\d+) findings?: (H\d\d .*)"
                  r"; --findings lists them with remedies$")


def document(run, name="r.json"):
    return json.loads((run.cwd / name).read_text())


def found(test):
    return {f["id"]: f for f in test["findings"] if f["outcome"] == "found"}


def test_a_small_run_says_in_one_line_what_it_is_worth(ior):
    run = ior("-b 64k -t 16k --report=text:-,json:r.json", np=None).ok()
    assert run.messages == [] and len(run.findings) == 1, run
    test, verdict, rules, count, text = LINE.match(run.findings[0]).groups()
    assert test is None and verdict == "SUSPECT" and rules == "default" and text.startswith("H01 a "), run
    doc = document(run)
    assert doc["notes"] == [] and doc["status"] == 0
    one = doc["tests"][0]
    assert one["verdict"] == "SUSPECT" and one["rules"] == "default"
    assert len(one["findings"]) == 34 and [f["id"] for f in one["findings"]] == sorted(f["id"] for f in one["findings"])
    bad = found(one)
    assert {"H01", "H02", "H06", "H13", "H15"} <= set(bad), bad
    assert len(set(bad) - {"H33"}) == int(count)
    assert bad["H01"]["unit"] == "s" and bad["H01"]["limit"] == 0.1 and 0 < bad["H01"]["value"] < 0.1 and bad["H01"]["remedy"]
    for f in one["findings"]:
        assert (f["outcome"] == "not judged") <= f["text"].startswith("because "), f
        assert (f["outcome"] == "found") == (f["remedy"] != ""), f
    assert {f["id"] for f in one["findings"] if f["outcome"] == "not judged"} >= {"H17", "H24", "H30"}


def test_without_rules_nothing_is_said(ior):
    run = ior("-b 64k -t 16k --rules=none --strict --report=text:-,json:r.json", np=None).ok()
    assert run.messages == [] and run.findings == [], run
    assert not {"findings", "rules", "verdict"} & set(document(run)["tests"][0])


def test_the_text_is_the_same_but_for_the_table_of_findings(ior):
    def shape(run):
        return re.sub(r"[\d.]+|Command line.*|(Began|StartTime|Finished).*", "", run.stdout).split()
    plain, quiet = ior("-b 64k -t 16k", np=None).ok(), ior("-b 64k -t 16k --rules=none", np=None).ok()
    assert shape(plain) == shape(quiet)
    full = ior("-b 64k -t 16k --findings", np=None).ok()
    table = full.stdout.split("\nFindings of test 0 by the rules default: SUSPECT\n")
    assert len(table) == 2 and "Summary of all tests" in table[0] and "remedy: " in table[1], full
    assert re.search(r"^H06 +SUSPECT +1 +0  phases$", table[1], re.M), full


def test_strict_ends_an_invalid_run_with_status_5(ior):
    run = ior("-b 64k -t 16k --strict --rules=jupiter --report=text:-,json:r.json", np=None).ok(5)
    assert LINE.match(run.findings[0]).group(2) == "INVALID" and run.errors == [], run
    assert document(run)["status"] == 5 and document(run)["tests"][0]["verdict"] == "INVALID"
    ior("-b 64k -t 16k --strict", np=None).ok()
    ior("-b 64k -t 16k --strict --peak=1", np=None).ok(5)
    run = ior("-b 64k -t 16k --strict --rules=io500 -N 1", np=2).ok(5)
    assert len(run.findings) == 1, run


def test_rules_and_limits_belong_to_a_test_of_a_script(ior):
    (ior.cwd / "script").write_text("IOR START\nblockSize=64k\ntransferSize=16k\nrules=io500\nRUN\nrules=none\nRUN\n"
                                    "rules=default\nlimit=H01:1e-9+H25:100\nRUN\nIOR STOP\n")
    run = ior("-f script --report=json:r.json", np=None).ok()
    assert len(run.findings) == 2, run
    assert [LINE.match(line).group(1) for line in run.findings] == [None, "2"], run
    tests = document(run)["tests"]
    assert tests[0]["verdict"] == "INVALID" and "findings" not in tests[1]
    assert {f["id"]: f["limit"] for f in tests[2]["findings"]}["H25"] == 100


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


def test_reading_what_the_own_node_wrote_is_counted(ior):
    two = {"IOR_FAKE_NODES": "2", "IOR_FAKE_TASK_PER_NODES": "2"}
    (ior.cwd / "script").write_text("IOR START\nblockSize=16k\ntransferSize=16k\nRUN\nreorderTasks=1\nRUN\n"
                                    "taskPerNodeOffset=4\nRUN\nIOR STOP\n")
    run = ior("-f script --report=json:r.json", np=4, env=two).ok()
    tests = [{f["id"]: f for f in t["findings"]} for t in document(run)["tests"]]
    assert [t["H07"]["value"] for t in tests[:2]] == [100, 0]
    assert tests[2]["H07"]["outcome"] == "found" and tests[2]["H07"]["value"] == 50


def test_a_dry_run_is_judged_in_a_moment_whatever_the_size(ior):
    """It took 105 s and printed a rate."""
    run = ior("--dry-run -b 900t -t 1m --assume-rate=1g --report=text:-,json:r.json", np=None, timeout=20).ok()
    assert ior.files() == ["r.json"]
    assert run.rows and all(row["bw"] is None for row in run.rows) and len(run.findings) == 1, run
    assert len([w for w in run.warnings if str(900 * 2 ** 40) in w and "free" in w]) == 1, run
    one = document(run)["tests"][0]
    assert one["need"]["bytes"] == 900 * 2 ** 40 and one["need"]["files"] == 1 and one["need"]["free bytes"] > 0
    judged = {f["id"]: f for f in one["findings"]}
    assert judged["H01"]["value"] == 900 * 1024 and judged["H02"]["outcome"] == "fine" and judged["H06"]["outcome"] == "found"
    assert judged["H10"]["outcome"] == judged["H03"]["outcome"] == "not judged"
    small = ior("--dry-run -b 1m -F -z --assume-rate=1g --report=text:-,json:r.json", np=2).ok()
    assert small.warnings == [] and document(small)["tests"][0]["need"]["files"] == 2
    assert document(small)["tests"][0]["verdict"] == "SUSPECT"


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


@pytest.mark.parametrize("share", [0, 50, 100])
def test_the_page_cache_is_looked_at_before_a_read_phase(ior, share):
    prepared(ior.cwd / "old", share / 100)
    run = ior("-r -b 16m -t 1m -o old --report=json:r.json", np=None).ok()
    seen = {f["id"]: f for f in document(run)["tests"][0]["findings"]}["H03"]
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
        assert least <= seen["value"] <= most, (sync, seen)
    own = ior("-b 64k -t 16k --report=json:r.json", np=2).ok()
    assert found(document(own)["tests"][0])["H03"]["value"] == 100
