# SPDX-License-Identifier: BSD-3-Clause
"""--mix: reads and writes of one phase, with rows of their own, and the version of each transfer."""
import csv
import json

import pytest

import conftest

SIZE, BLOCK = 4096, 24576
QUEUED = {"AIO": "depth=4", "URING": "depth=4", "DUMMY": "depth=4 dummy.store=1 dummy.reverse=1", "POSIX": "posix.threads=3 depth=0"}
WAYS = ["", "filePerProc=1", "randomOffset=1 segmentCount=5", "filePerProc=1 randomOffset=1 randomOffsetDeal=original segmentCount=3",
        "reorderTasksConstant=1 fsync=1", "fsyncPerWrite=1 checkWrite=1", "stoneWallingWearOutIterations=4", "minTimeDuration=0.02"]


def result(ior, name="r.json"):
    return json.loads((ior.cwd / name).read_text())


def phases(test):
    """Rows of the first repetition, by operation."""
    return {row["operation"]: row for row in test["phases"] if row["iter"] == 0}


def versions(test):
    return {row["operation"]: row for row in test["versions"] if row["iter"] == 0}


def check_versions(test):
    """Each operation has its share of the bytes and of the steps, and each read found a version that must be there."""
    of, found = phases(test), versions(test)
    write, read = of["mix-write"], of["mix-read"]
    for row in write, read:
        assert row["bytes"] == SIZE * row["steps"] and row["transferCount"] == row["operations"] == row["steps"] > 0, row
        assert row["stepsMin"] <= row["steps"] / 2 <= row["stepsMax"], row
        assert row["transferP50"] <= row["transferP99"] <= row["transferMax"] and row["totalTime"] == read["totalTime"], row
    for name, row in found.items():
        assert row["checked"] == row["before"] + row["mixed"] and row["lostUpdates"] == row["torn"] == 0, (name, row)
    assert found["mix"]["checked"] == read["steps"] and found["read"]["checked"] == of["read"]["steps"]
    asked = test["Options"]
    places = int(asked["tasks"]) * int(asked["segments"]) * BLOCK // SIZE
    if write["steps"] + read["steps"] <= places:  # no place was touched twice
        assert found["mix"]["mixed"] == 0 and found["read"]["mixed"] == write["steps"], found
    else:
        assert found["mix"]["mixed"] > 0 and found["read"]["mixed"] > 0, found


@pytest.mark.sanitize
def test_every_transfer_is_read_or_written_and_has_the_version_that_it_should_have(ior):
    lines = ["IOR START", "mix=read:60+write:40", "checkRead=1", "writeFile=1", "readFile=0", "dataPacketType=signature"]
    lines += ["transferSize=%d" % SIZE, "blockSize=%d" % BLOCK, "random-offset-seed=3"]
    tests = [("POSIX", way) for way in WAYS] + [(api, QUEUED.get(api, "") + " " + way) for api, ways in (
        ("URING", WAYS), ("AIO", WAYS[1:3]), ("DUMMY", WAYS[:1] + WAYS[-1:]), ("POSIX", WAYS[2:3]), ("MPIIO", WAYS[:1]),
        ("MMAP", WAYS[1:2]), ("HDF5", WAYS[:1]), ("NCMPI", WAYS[:1])) if api in conftest.backends() for way in ways]
    for number, (api, settings) in enumerate(tests):
        more = ["api=" + api, "testFile=f%d" % number] + settings.split()
        lines += more + ["RUN"] + [word.split("=")[0] + "=" + ("even" if "Deal" in word else "0" if "seg" not in word else "1") for word in more[2:]]
    (ior.cwd / "script").write_text("\n".join(lines + ["IOR STOP", ""]))
    run = ior("-f script --report=text:-,json:r.json --rules=none").ok()
    found = result(ior)["tests"]
    assert len(found) == len(tests) and ior.files() == ["r.json", "script"], run
    for test in found:
        check_versions(test)
        assert test["configuration"]["options"]["mix"] == "read:60+write:40", test["configuration"]
    assert run.accesses().count("mix-write") == run.accesses().count("mix-read") == len(tests), run
    assert [row["operation"] for row in run.summary][:4] == ["write", "mix-write", "mix-read", "read"], run


def drawn(ior, rank):
    rows = [row for row in csv.DictReader((ior.cwd / ("ops-0-%05d.csv" % rank)).open()) if row["access"].startswith("mix")]
    return {test: [(row["access"], row["offset"]) for row in rows if row["test"] == test] for test in sorted({row["test"] for row in rows})}


def test_the_same_command_draws_the_same_and_another_seed_or_task_something_else(ior):
    lines = ["IOR START", "api=DUMMY", "mix=read:1+write:1", "writeFile=0", "filePerProc=1", "blockSize=400k", "transferSize=4k"]
    lines += ["RUN", "RUN", "random-offset-seed=9", "RUN", "randomOffset=1", "RUN", "RUN", "IOR STOP", ""]
    (ior.cwd / "script").write_text("\n".join(lines))
    ior("-f script -O savePerOpDataCSV=ops").ok()
    of, other = drawn(ior, 0), drawn(ior, 1)
    assert len(of["0"]) == 100 and of["0"] == of["1"] and 30 < sum(access == "mix-write" for access, _ in of["0"]) < 70
    assert [o for _, o in of["0"]] == [o for _, o in of["2"]] and of["0"] != of["2"]
    assert of["3"] == of["4"] and sorted(o for _, o in of["3"]) == sorted(o for _, o in of["2"]) and of["3"] != of["2"]
    assert [a for a, _ in of["0"]] != [a for a, _ in other["0"]]


def test_a_lost_update_and_a_torn_one_are_named_with_their_offsets(ior, preload):
    """Bytes of before the mix are put back while the run waits before the read phase; and a byte is wrong."""
    args = "-l signature -b 80k -t 4k -o f -k "
    ior(args + "-w", np=1).ok()
    path = ior.cwd / "f"
    old, at = path.read_bytes(), {}

    def change():
        new = bytearray(path.read_bytes())
        written = [o for o in range(0, len(old), SIZE) if old[o:o + SIZE] != new[o:o + SIZE]]
        kept = sorted(set(range(0, len(old), SIZE)) - set(written))
        at.update(zip(("lost", "torn", "turned", "flip"), written), zeros=kept[0], untouched=kept[1:], written=written)
        new[at["lost"]:at["lost"] + SIZE] = old[at["lost"]:at["lost"] + SIZE]
        new[at["torn"] + 2048:at["torn"] + SIZE] = old[at["torn"] + 2048:at["torn"] + SIZE]
        new[at["turned"]:at["turned"] + 2048] = old[at["turned"]:at["turned"] + 2048]
        new[at["flip"] + 1000] ^= 4
        new[at["zeros"]:at["zeros"] + SIZE] = bytes(SIZE)
        path.write_bytes(new)

    run = ior.change_while_it_waits(preload, args + "--mix=read:1,write:1 -R -v --findings --report=text:-,json:r.json", change, np=None,
                                    after="mix-read")
    run.fails(4, "wrong data in 5 places")
    assert 'the mix writes over the file "f", which exists already' in run.notes, run
    for kind, words in (("lost", "lost update"), ("torn", "torn write"), ("turned", "torn write"), ("flip", "bit flip"), ("zeros", "zeros")):
        line, = [note for note in run.notes if "in the transfer at %d;" % at[kind] in note + ";"]
        assert words in line, (kind, line)
        assert (", written before the mix" in line) == (kind == "lost"), line
    row = versions(result(ior)["tests"][0])["read"]
    assert row == dict(row, checked=20, before=len(at["untouched"]), mixed=len(at["written"]) - 4, lostUpdates=1, torn=2), row
    assert "versions found by read: %d transfers as before the mix, %d as" % (row["before"], row["mixed"]) in run.stdout, run
    found = {row["id"]: row for row in result(ior)["tests"][0]["findings"]}
    for rule in ("H03", "H06", "H13"):  # a mix reads and writes
        assert found[rule]["outcome"] != "not judged", found[rule]
    assert found["H03"]["value"] > 50 and found["H06"]["outcome"] == "found", found
    again = ior("-R -l signature -b 80k -t 4k -o f", np=1)  # another run cannot know that an update was lost
    again.fails(4, "wrong data in 4 places")


def test_at_a_rate_each_operation_has_response_times_of_its_own(ior):
    ior("-a DUMMY --dummy.delay-xfer=500 -w --mix=read:1,write:1 -b 256k -t 4k --rate=1000ops --report=json:r.json,csv:r.csv", np=1).ok()
    load = {row["operation"]: row for row in result(ior)["tests"][0]["load"]}
    rows = {row["operation"]: row for row in csv.DictReader((ior.cwd / "r.csv").open())}
    for name in "mix-write", "mix-read":
        assert load[name]["phase"] == "mix" and load[name]["count"] == int(rows[name]["steps"]), (load, rows)
        for key in "responseP50", "responseMax":
            assert load[name][key] == float(rows[name][key]) > 0, (name, load, rows)
    assert rows["mix-write"]["responseMax"] != rows["mix-read"]["responseMax"], rows


def test_reads_of_a_mix_are_checked_with_every_kind_of_data(ior):
    for kind in ("timestamp", "offset", "random", "incompressible"):
        run = ior("-a DUMMY --depth=3 --dummy.corrupt-at=4 -w --mix=read:2,write:1 -R -b 64k -t 4k -l " + kind, np=1)
        run.fails(4, "wrong data in 1 place")
        assert any("Incorrect data on mix (1 errors" in w for w in run.warnings), run


def test_what_later_passes_read_again_is_not_called_cold(ior):
    """Nor is a device expected to move each of their bytes. A file system in memory has everything in the page cache."""
    for seconds in 0.03, 0.3, 3:  # in which a slow machine may come through one pass only
        ior("-w -e --drop-cache --mix=read:1,write:1 -b 256k -t 16k -O minTimeDuration=%g --report=json:r.json" % seconds, np=1).ok()
        test, = result(ior)["tests"]
        if sum(phases(test)[name]["steps"] for name in ("mix-write", "mix-read")) > 16:
            break
    found = {row["id"]: row for row in test["findings"]}
    assert found["H03"]["outcome"] != "fine" and "durable" not in found["H04"]["text"], found
    assert "passes after the first" in found["H03"]["text"] or "memory" in found["H03"]["text"], found["H03"]


@pytest.mark.parametrize("args, status, words", [
    ("-c -w", 1, ("--mix with -c", "leave -c out")),
    ("-z -z -w", 1, ("--mix with -z -z", "give -z once")),
    ("--sweep=ranks -w", 1, ("--mix with --sweep",)),
    ("--mix=read:70,write:30, -w", 1, ("option --mix: 'read:70,write:30,'", "read:70,write:30")),
    ("--mix=read:70 -w", 1, ("option --mix: 'read:70'", "read:70,write:30")),
    ("--existing=replace -o there", 1, ("--existing=replace", "add -w")),
    ("--existing=fail -o there", 2, ("'there' exists",)),
    ("-o missing", 2, ("'missing' does not exist", "add -w")),
    ("-o short", 2, ("'short' has 1000 bytes", "1048576 existing bytes", "add -w")),
], ids=lambda v: v.replace(" ", "_") if isinstance(v, str) else "")
def test_mixes_that_cannot_be_are_refused_and_leave_files_as_they_were(ior, args, status, words):
    (ior.cwd / "there").write_bytes(bytes(1048576))
    (ior.cwd / "short").write_bytes(bytes(1000))
    ior("--mix=read:70,write:30 " + args, np=None).fails(status, *words)
    assert ior.files() == ["short", "there"]
    assert (ior.cwd / "there").read_bytes() == bytes(1048576) and (ior.cwd / "short").read_bytes() == bytes(1000)
