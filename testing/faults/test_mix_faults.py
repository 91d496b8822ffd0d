# SPDX-License-Identifier: BSD-3-Clause
"""ior --mix when something is wrong: a write that is lost, calls that fail, tasks that stop early, a full disk."""
import csv
import json
import os

from conftest import timely
from faults_support import environment

WORK = "-l signature -b 80k -t 4k -o f -w -R -v -O savePerOpDataCSV=ops --report=text:-,json:r.json "
WRITES = 20  # of a task in the write phase


def versions(ior, operation):
    row, = [row for row in json.loads((ior.cwd / "r.json").read_text())["tests"][0]["versions"] if row["operation"] == operation]
    return row


def offsets(ior, rank, access):
    return [int(row["offset"]) for row in csv.DictReader((ior.cwd / ("ops-0-%05d.csv" % rank)).open()) if row["access"] == access]


def test_a_write_of_the_mix_that_never_came_to_the_file_is_a_lost_update(ior, shim):
    """Another task reads it. A write of the write phase that is lost is none."""
    run = ior(WORK + "--mix=read:1,write:1 -C", env=environment(ior, shim, "call=write rank=1 count=%d drop" % (WRITES + 3)))
    run.fails(4, "wrong data in 1 place")
    lost = offsets(ior, 1, "mix-write")[2]
    line, = [note for note in run.notes if note.startswith("wrong data: ")]
    assert "rank 0 on" in line and "byte %d: lost update" % lost in line and "written before the mix" in line, line
    row, writes = versions(ior, "read"), sum(len(offsets(ior, rank, "mix-write")) for rank in (0, 1))
    assert row == dict(row, checked=2 * WRITES, mixed=writes - 1, before=2 * WRITES - writes, lostUpdates=1, torn=0), row
    kept = offsets(ior, 1, "mix-read")[0] // 4096 % WRITES  # of its transfers
    run = ior(WORK + "--mix=read:1,write:1", env=environment(ior, shim, "call=write rank=1 count=%d drop" % (kept + 1)))
    assert run.returncode == 4 and versions(ior, "read")["lostUpdates"] == 0 and any("zeros" in note for note in run.notes), run


def test_a_task_that_stopped_early_has_written_what_it_drew_until_then(ior, shim):
    """Reads of the mix take so long on one task that the stonewall ends it; those of the read phase do not."""
    run = ior(WORK + "-D 1 --mix=read:3,write:1 -z -F --random-offset-seed=2", env=environment(ior, shim, "call=read rank=1 times=4 delay=300"))
    phases = {row["operation"]: row for row in json.loads((ior.cwd / "r.json").read_text())["tests"][0]["phases"]}
    done = phases["mix-write"]["steps"] + phases["mix-read"]["steps"]
    assert done < 2 * WRITES and run.ok().warnings == [], run
    timely(done >= WRITES + 4, run)  # the other task has done all
    row = versions(ior, "read")
    assert row == dict(row, lostUpdates=0), row
    timely(row["checked"] == 2 * WRITES, row)  # the read phase may end after a second, too
    assert row["mixed"] == phases["mix-write"]["steps"], row


def test_a_transfer_of_the_mix_that_fails_is_named(ior, shim):
    run = ior(WORK + "--mix=read:1,write:1", env=environment(ior, shim, "call=read rank=1 count=2 errno=EIO"))
    run.fails(3, "rank 1 on", "read 4096 bytes at offset", "of 'f'", "Input/output error")
    assert run.accesses() == ["write", "remove"] and "f" not in ior.files(), run


def test_a_mix_that_fills_the_holes_of_a_file_can_meet_a_full_disk(ior, mounted):
    path = mounted("size=256k") / "f"
    path.touch()
    os.truncate(path, 1 << 20)
    run = ior("--no-space-check --mix=read:1,write:3 -b 1m -t 64k -o fs/f", np=1).fails(3, "write 65536 bytes at offset", "No space left")
    assert run.accesses() == [] and path.stat().st_size == 1 << 20, run
