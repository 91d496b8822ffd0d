# SPDX-License-Identifier: BSD-3-Clause
"""weir-mix: groups of ranks with unlike jobs, each alone and all together: order, ends, results, failures, signals."""
import csv
import json
import re
import signal
import subprocess

import pytest

import conftest

JSON = " --report=text:-,json:r.json,csv:r.csv"


class Mix(conftest.Ior):
    """mix({group: lines}, args) writes the plan and runs it; the files of POSIX groups are in data/."""

    def __init__(self, cwd):
        super().__init__(cwd)
        self.program = conftest.BUILD / "src" / "weir-mix"
        (cwd / "data").mkdir()

    def plan(self, groups):
        lines = []
        for name, (ranks, command, *start) in groups.items():
            lines += ["[%s]" % name, "ranks = %s" % ranks, "command = %s" % command] + ["start = " + word for word in start]
        (self.cwd / "plan.txt").write_text("\n".join(lines) + "\n")
        return self

    def document(self):
        doc = json.loads((self.cwd / "r.json").read_text())
        return doc, doc["tests"][0]

    def data(self):
        return sorted(p.name for p in (self.cwd / "data").iterdir())


@pytest.fixture
def mixes(tmp_path):
    """mixes(): one more place for a run of its own, so that several can run at once."""
    made = []

    def make():
        cwd = tmp_path / str(len(made)) / "work"
        cwd.mkdir(parents=True)
        made.append(Mix(cwd))
        return made[-1]

    yield make
    for runner in made:
        for proc in list(runner.started):
            conftest.kill_all(proc)
            proc.wait()
            runner.collect(proc)


@pytest.fixture
def mix(mixes):
    return mixes()


def dummy(name, transfers, micro, more=""):
    return "ior -a DUMMY -w -o %s -t 4k -b %dk --dummy.delay-xfer=%d %s" % (name, 4 * transfers, micro, more)


def by_key(rows, *keys):
    found = {tuple(row[k] for k in keys): row for row in rows}
    assert len(found) == len(rows), rows
    return found


def near(a, b):
    return abs(a - b) <= 1e-9 * abs(b)


# ---- results ----

def follows(rows, measured, repetitions):
    """Each row is the median of what was measured in each repetition."""
    for (group, with_, operation), row in rows.items():
        alone = [measured[group, "alone", operation, i]["rate"] for i in range(repetitions)]
        together = [measured[group, with_, operation, i]["rate"] for i in range(repetitions)]
        ratios = sorted(a / t for a, t in zip(alone, together))
        assert near(row["slowdown"], (ratios[0] + ratios[-1]) / 2) and near(row["together"], sum(together) / 2), (row, ratios)
        assert row["repetitions"] == repetitions and row["slowdownLow"] is None and 0 < row["shared"] <= 1, row


@pytest.mark.waits
def test_each_group_alone_in_pairs_and_all_together(mix):
    jsonschema = pytest.importorskip("jsonschema", reason="needs python3-jsonschema to check the documents")
    mix.plan({"writer": ("list 2", "ior -w -r -R -t 64k -b 1m -o data/a"),
              "meta": (1, "mdtest -F -n 40 -w 3k -d data/b", "at once"),
              "late": ("rest", dummy("c", 30, 60000, "--dummy.delay-at=7 --burst=1000:2"), "after writer read")})
    run = mix("plan.txt --pairs --end=repeat -i 2 --output=texts" + JSON, np=3).ok()
    assert [n for n in run.notes if "operation" in n] == ["group 'late': --burst: in the write phase each task waits 2 s after each 1000 operations"], run
    doc, test = mix.document()
    schema = json.loads((conftest.BUILD / "doc" / "result.schema.json").read_text())
    jsonschema.Draft202012Validator({"$ref": "#/$defs/weir-mix", "$defs": schema["$defs"]}).validate(doc)
    assert [(g["group"], g["program"], g["ranks"], g["firstRank"], g["start"]) for g in test["groups"]] == [
        ("writer", "ior", 1, 2, "at once"), ("meta", "mdtest", 1, 0, "at once"), ("late", "ior", 1, 1, "after writer read")]
    measured = by_key(test["measured"], "group", "with", "operation", "repetition")
    assert all(row["rate"] is None or row["rate"] > 0 for row in test["measured"]), "a part too short for an operation is no rate"
    rows = by_key(test["operations"], "group", "with", "operation")
    sets = {"writer": {"all", "meta", "late"}, "meta": {"all", "writer", "late"}, "late": {"all", "writer", "meta"}}
    assert {(g, w) for g, w, _ in rows} == {(g, w) for g, with_ in sets.items() for w in with_}
    assert {op for g, _, op in rows if g == "writer"} == {"write", "read"}
    assert {"file create", "file stat", "file remove"} <= {op for g, _, op in rows if g == "meta"}
    follows({k: row for k, row in rows.items() if row["slowdown"] is not None and row["repetitions"] == 2}, measured, 2)
    for i in range(2):  # alone all of it counts, and with another group it waits for that
        assert all(row["shared"] == 1 for (_, with_, _, n), row in measured.items() if with_ == "alone" and n == i)
        for with_ in ("all", "writer"):
            begin, read = measured["late", with_, "write", i]["began"], measured["writer", "late" if with_ == "writer" else "all", "read", i]
            assert begin >= read["began"], (begin, read)
    assert all(measured["late", "alone", "write", i]["p99"] >= 0.06 for i in range(2)), "one of 30"
    assert {(c["group"], c["with"]) for c in test["slowdowns"]} == {(g, w) for g, w, _ in rows}
    with open(mix.cwd / "r.csv", newline="") as f:
        lines = list(csv.DictReader(f))
    assert {(c["group"], c["with"], c["operation"]) for c in lines} == set(rows)
    assert all(near(float(c["together"]), rows[c["group"], c["with"], c["operation"]]["together"]) for c in lines if c["together"])
    assert re.search(r"^Slowdown of +with all +writer +meta +late$", run.stdout, re.M), run
    assert re.search(r"^  [01]  waiting for '\w+'(?: \(not begun\))?(?:, '|$)", run.stdout, re.M), run
    factors = [word for line in run.stdout.splitlines() if re.match(r"(writer|meta|late) +(-|[\d.]+)( +(-|[\d.]+)){3}$", line) for word in line.split()[1:]]
    assert len(factors) == 12 and all(len(f.replace(".", "").strip("0")) <= 2 for f in factors if f != "-"), "of two repetitions"
    assert re.search(r"^late( +\S+){4}$", run.stdout, re.M) and test["startSkew"] >= 0 and test["sharedTime"] > 0, run
    text = (mix.cwd / "texts" / "writer.txt").read_text()
    assert "=== group writer, repetition 1, beside 'meta', 'late'" in text and text.count("=== group") == 2 * 4
    assert "Summary of all tests" in text and mix.data() == [] and doc["status"] == 0, run


def test_the_first_that_ends_ends_the_others(mix):
    mix.plan({"long": (1, "ior -w -t 4k -b 2g -O interIODelay=5000 -o data/long"),
              "short": (1, dummy("x", 60, 5000)),
              "never": ("rest", dummy("y", 1, 0), "after 100 s")})
    run = mix("plan.txt --no-alone --end=first" + JSON, np=3).ok()
    _, test = mix.document()
    assert mix.data() == [] and "the groups never all ran at once" in run.warnings[-1], run
    assert {row["group"] for row in test["measured"]} == {"long", "short"} and all(row["seconds"] == 0 and row["p99"] is None for row in test["measured"])
    mix.plan({"long": (2, "ior -N 1 -w -t 4k -b 2g -O interIODelay=5000 -o data/long"), "short": (1, dummy("x", 60, 5000), "after 0.05 s")})
    run = mix("plan.txt --no-alone --end=first" + JSON, np=3).ok()  # a rank of 'long' has no part in its test
    _, test = mix.document()
    rows = by_key(test["measured"], "group")
    assert 0 < rows["long",]["shared"] <= 1 and 0 < rows["short",]["shared"] <= 1 and test["sharedTime"] > 0, test
    conftest.timely(rows["short",]["shared"] >= 0.9 and test["sharedTime"] >= 0.3, test)  # both have begun at one time
    assert rows["long",]["began"] >= 0 and rows["short",]["began"] >= 0.05, test
    assert rows["long",]["seconds"] <= test["sharedTime"] * 1.01, "what came after the end does not count"
    assert mix.data() == [] and not run.warnings and "slowdowns" not in test, run


# ---- what goes wrong ----

def at_once(mixes, *runs):
    """Plans, command lines and numbers of ranks; the places and what was said there."""
    begun = []
    for groups, args, np in runs:
        mix = mixes()
        mix.plan(groups)
        begun.append((mix, mix.start(args, None if np == 1 else np)))
    return [(mix, mix.finish(proc)) for mix, proc in begun]


def test_a_group_that_fails_ends_the_run_with_its_name(mixes):
    long = "ior -w -t 4k -b 2g -O interIODelay=5000 -F -o data/long"
    failed, wrong, missed = at_once(
        mixes,
        ({"fine": (1, long), "bad": ("rest", dummy("x", 100, 2000, "--dummy.fail-at=40"))}, "plan.txt --no-alone" + JSON, 2),
        ({"fine": (1, long), "bad": ("rest", dummy("x", 100, 2000, "-r -R --dummy.corrupt-at=40"))}, "plan.txt --no-alone", 2),
        ({"fine": (1, dummy("x", 1, 0, "-r -O maxTimeDuration=1e-9")), "bad": ("rest", dummy("y", 20, 0), "after fine read")}, "plan.txt --no-alone", 2))
    failed[1].fails(3, "group 'bad' (ior) ended beside 'fine' with status 3: rank 0", "injected: Input/output error")
    assert failed[0].document()[0]["error"] == failed[1].errors[0]
    wrong[1].fails(4, "group 'bad' (ior) ended beside 'fine' with status 4: ", "wrong data")
    missed[1].fails(1, "group 'bad' starts after the phase 'read' of 'fine', which ended without this phase")
    assert [mix.data() for mix, _ in (failed, wrong, missed)] == [[], [], []]


REFUSED = [
    ({}, "", 1, ["a plan is missing"]),
    ({}, "none.txt", 1, ["'none.txt'", "No such file or directory"]),
    ({"a": (1, "ior -b 3x -o data/a")}, "plan.txt", 1, ["plan.txt:1: group 'a': ior: option -b (blockSize)", "3x"]),
    ({"a": (1, "mdtset -o data/a")}, "plan.txt", 1, ["plan.txt:1: group 'a': 'mdtset' is not a program of the suite; the programs are", "(did you mean 'mdtest'?)"]),
    ({"a": (1, "iro -o data/a")}, "plan.txt", 1, ["'iro' is not a program of the suite; the programs are", "(did you mean 'ior'?)"]),
    ({"a": (1, "mdtest --help")}, "plan.txt", 1, ["plan.txt:1: group 'a': mdtest: ", "run no benchmark"]),
    ({"a": (2, "ior -o data/a")}, "plan.txt", 1, ["plan.txt: group 'a' needs 2 ranks, and 1 of the 1 that were started is free"]),
    ({"a": (1, "ior -o data/a"), "b": (1, "mdtest -d ../work/data/./a")}, "plan.txt", 2,
     ["plan.txt:4: group 'a' and group 'b' would both use '", "/data/a'", "--shared-files"]),
    ({"a": (1, "ior -F -o data/a"), "b": (1, "ior -o data/a.00000000 --report=json:a.json")}, "plan.txt", 2, ["group 'a' and group 'b' would both use '", "/data/a.00000000'"]),
    ({"a": (1, dummy("x", 1, 0, "-O summaryFile=r.json"))}, "plan.txt" + JSON, 1, ["plan.txt:1: weir-mix itself and group 'a' would both use '", "/r.json'"]),
    ({"a": (1, "ior -f none")}, "plan.txt", 1, ["plan.txt:1: group 'a': ior: ", "open script 'none': No such file"]),
    ({"a": (1, dummy("x", 1, 0)), "b": (1, "ior -t 4k -b 6k -o data/b")}, "plan.txt -n", 2,
     ["plan.txt:4: group 'b': ior: block size (-b 6144", ") must be a multiple of transfer size (-t 4096"]),
    ({"a": (1, dummy("x", 1, 0, "-r")), "b": (1, dummy("y", 1, 0), "after a writes")}, "plan.txt -n", 2,
     ["plan.txt:7: group 'b' starts after the phase 'writes' of 'a', which has no phase of this name (did you mean 'write'?); its phases are 'write', 'read'"]),
    ({"a": (1, "mdtest -F -n 1 -d data/a"), "b": (1, dummy("y", 1, 0), "after a directory stat")}, "plan.txt", 2,
     ["plan.txt:7: group 'b' starts after the phase 'directory stat' of 'a'", "its phases are 'tree create', 'file create', 'file stat', 'file read', 'file remove', 'tree remove'"]),
    ({"a": (1, dummy("x", 1, 0))}, "plan.txt --pairs", 1, ["option --pairs needs two groups at least"]),
    ({"a": (1, dummy("x", 1, 0))}, "plan.txt more.txt", 1, ["'more.txt' is a second FILE, and only one is allowed"]),
]


def test_a_plan_that_cannot_be_run_is_refused_before_anything_starts(mixes):
    for (mix, run), (_, _, _, words) in zip(at_once(mixes, *(case[:3] for case in REFUSED)), REFUSED):
        run.fails(1, *words)
        assert run.stdout == "" and mix.data() == [], run


def test_groups_may_share_files_by_request_and_a_full_disk_for_their_text_is_an_error(mixes):
    same = {"a": (1, dummy("x", 1, 0)), "b": (1, dummy("x", 1, 0))}
    full = mixes().plan(same)
    (full.cwd / "plan.txt").write_text("\ufeff" + (full.cwd / "plan.txt").read_text(), "utf-8")  # as some editors do
    (full.cwd / "texts").mkdir()
    (full.cwd / "texts" / "b.txt").symlink_to("/dev/full")
    proc = full.start("plan.txt --shared-files --no-alone --output=texts", 2)
    (mix, run), = at_once(mixes, (same, "plan.txt -n --shared-files --anonymous --output=texts --report=text:-,json:r.json", 3))
    assert [g["command"] for g in mix.document()[1]["groups"]] == ["ior", "ior"], "its words name files"
    assert run.ok().notes == ["1 of 3 ranks are in no group and do nothing"] and "Slowdown" not in run.stdout, run
    assert not (mix.cwd / "texts").exists(), "a dry run has no text of a group"
    full.finish(proc).fails(2, "'texts/b.txt' (option --output): group 'b' (ior) ended beside 'a' with status 2: write results", "No space left on device")


@pytest.mark.parametrize("whom", [0, 3, 4])
def test_a_signal_to_any_rank_ends_all_groups_in_order(mix, whom):
    """Also to one that waits for the start of its group without being its root (3), or is in no group (4)."""
    mix.plan({"a": (1, "ior -w -r -t 4k -b 2g -O interIODelay=5000 -o data/long"), "b": (1, dummy("x", 100000, 2000)),
              "late": (2, dummy("y", 1, 0), "after a read")})
    proc = mix.start("plan.txt" + (" --no-alone" if whom == 3 else "") + JSON, np=5)
    pids = mix.wait_for_ranks(proc, 5)
    conftest.wait_until(lambda: mix.data() != [])
    ranks = {int(re.search(rb"OMPI_COMM_WORLD_RANK=(\d+)|PMI_RANK=(\d+)", open("/proc/%d/environ" % pid, "rb").read()).group(1) or 0): pid for pid in pids}
    subprocess.run(["kill", "-%d" % signal.SIGTERM, str(ranks[whom])], check=True)
    run = mix.finish(proc)
    words = "interrupted by signal 15 (SIGTERM: mpirun sends it for Ctrl-C); groups that had not ended: 'a'"
    assert run.returncode == 6 and run.errors == [words + (", 'b', 'late' (not begun)" if whom == 3 else "")] and mix.data() == [], run
    assert mix.document()[0]["status"] == 6, run
