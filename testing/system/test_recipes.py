# SPDX-License-Identifier: BSD-3-Clause
"""Command lines that are in daily use, as typed but smaller: sound tables, and nothing is left."""
import json
import os
import tempfile

import pytest

import conftest

KIB, MIB = 2 ** 10, 2 ** 20

# name, command line, bytes of all tasks in one phase (2 tasks; None: depends on time), rows per repetition, backend
RECIPES = [
    ("easy", "-a POSIX -C -Q 4 -g -b 1m -t 256k -i 3 -o testdir/testFileA -s 1 -r -w -v -F", 2 * MIB, 3, None),
    ("hard", "-a POSIX -C -Q 4 -g -b 4096 -t 4096 -i 3 -o testdir/testFileA -s 100 -r -w -v", 800 * KIB, 3, None),
    ("hard with MPIIO", "-a MPIIO -C -Q 4 -g -b 4096 -t 4096 -i 3 -o testdir/testFileA -s 100 -r -w -v", 800 * KIB, 3, "MPIIO"),
    ("hard with HDF5", "-a HDF5 -C -Q 4 -g -b 4096 -t 4096 -i 3 -o testdir/testFileA -s 100 -r -w -v", 800 * KIB, 3, "HDF5"),
    ("plain", "-t 64k -b 512k -s 4", 4 * MIB, 2, None),
    ("plain -F", "-t 64k -b 512k -s 4 -F", 4 * MIB, 2, None),
    ("plain -F -C", "-t 64k -b 512k -s 4 -F -C", 4 * MIB, 2, None),
    ("plain -F -C -e", "-t 64k -b 512k -s 4 -F -C -e", 4 * MIB, 2, None),
    ("plain -F -C -e -i 10", "-t 64k -b 512k -s 4 -F -C -e -i 10", 4 * MIB, 2, None),
    ("wear-out", "-t 64k -b 512k -s 20 -D 2 -F -C -e -g -O stoneWallingWearOut=1 -i 3", 20 * MIB, 2, None),
    ("MPIIO with checks of every repetition", "-t 512k -b 1m -s 2 -a MPIIO -v -i 3 -F -C -e -o dir/test", 4 * MIB, 3, "MPIIO"),
    ("IOPS", "-F -C -e -g -b 64k -t 4k -s6 -D4 -w -z --posix.odirect -l random -i 3 -o dir/test", 768 * KIB, 1, None),
    ("with an odd number of tasks on the last node", "-a POSIX -C -Q 1 -g -b 64k -t 16k -i 2 -o dir/f -s 3 -r -w -F", 384 * KIB, 2, None),
]


def directories(ior):
    for name in ("dir", "testdir"):
        (ior.cwd / name).mkdir()
    (ior.cwd / "dir" / "of somebody else").write_text("stays")
    return ior.files()


def need_direct_io(path):
    try:
        with tempfile.NamedTemporaryFile(dir=path) as f:
            os.close(os.open(f.name, os.O_RDWR | os.O_DIRECT))
    except OSError as why:
        pytest.skip("no O_DIRECT in %s: %s" % (path, why))


@pytest.mark.parametrize("args, data, rows, backend", [r[1:] for r in RECIPES], ids=[r[0] for r in RECIPES])
def test_the_command_line_runs_as_typed_and_leaves_nothing_behind(ior, need_backend, args, data, rows, backend):
    if backend:
        need_backend(backend)
    if "odirect" in args:
        need_direct_io(ior.cwd)
    before = directories(ior)
    run = ior(args).ok()
    assert run.errors == [] and run.warnings == [], run
    assert ior.files() == before, run
    repetitions = int(args.split("-i ")[1].split()[0]) if "-i " in args else 1
    assert len(run.rows) == rows * repetitions, run
    conftest.sound(run, data)
    assert run.options["aggregate filesize"], run


@pytest.mark.sanitize
@pytest.mark.parametrize("api", ["POSIX", "MPIIO", "HDF5", "DUMMY"])
def test_every_backend_does_the_main_job_with_checks(ior, need_backend, api):
    need_backend(api)
    more = "--dummy.store" if api == "DUMMY" else ""
    run = ior("-a %s -w -W -r -R -C -g -e -i 2 -b 64k -t 16k -s 3 -G 5 -v %s" % (api, more)).ok()
    conftest.sound(run, 384 * KIB)
    assert run.accesses() == ["write", "read", "remove"] * 2, run
    assert run.warnings == [] and ior.files() == [], run


def test_files_kept_by_one_run_are_read_by_the_next_which_keeps_them_too(ior):
    before = directories(ior)
    first = ior("-F -C -e -g -b 256k -t 4k -s 1 -w -k -z -i 1 -o dir/test").ok()
    conftest.sound(first, 512 * KIB)
    kept = before + ["dir/test.00000000", "dir/test.00000001"]
    assert ior.files() == sorted(kept)
    then = ior("-F -C -e -g -b 256k -t 4k -D 2 -r -z -l random -i 3 -o dir/test").ok()
    conftest.sound(then, 512 * KIB)
    assert then.accesses() == ["read"] * 3
    assert ior.files() == sorted(kept)
    assert [note for note in then.notes if "kept" in note], then


def test_a_run_that_reads_and_was_told_to_keep_says_nothing_about_it(ior):
    ior("-w -k -b 64k -t 64k").ok()
    run = ior("-r -k -b 64k -t 64k").ok()
    assert run.messages == []


def test_the_expected_size_is_that_of_the_files(ior):
    run = ior("-w -k -F -b 64k -t 16k -s 3").ok()
    assert run.options["aggregate filesize"] == "393216 bytes"
    assert sum((ior.cwd / name).stat().st_size for name in ior.files()) == 393216


@pytest.mark.parametrize("args", ["-a POSIX", "-a POSIX -F -e", "-a MPIIO -e", "-a MPIIO -F", "-a HDF5 -e"])
def test_with_barriers_the_parts_are_not_more_than_the_whole(ior, need_backend, args):
    need_backend(args.split()[1])
    run = ior("-g -w -r -i 4 -b 64k -t 16k -s 3 -O summaryFormat=JSON " + args)
    data = json.loads(run.ok().stdout)
    test = data["tests"][0]
    error = test["provenance"]["clockError"]
    rows = [row for row in test["Results"] if row["access"] != "remove"]
    assert len(rows) == 8
    for row in rows:
        assert row["openTime"] + row["wrRdTime"] + row["closeTime"] <= row["totalTime"] + 4 * error + 2e-6, (row, error)


def test_open_work_and_close_do_not_overlap_with_barriers(ior):
    delays = "--dummy.delay-create=300000 --dummy.delay-xfer=100000 --dummy.delay-only-rank0"
    run = ior("-a DUMMY -w -g -b 32k -t 16k %s" % delays).ok()
    row = run.rows[0]
    assert row["open"] >= 0.3 and row["work"] >= 0.2 and row["total"] >= 0.5
    assert row["open"] + row["work"] + row["close"] <= row["total"] * 1.001


def test_sync_after_each_write_runs_on_every_backend(ior, need_backend):
    for api in ("POSIX", "MPIIO", "HDF5"):
        need_backend(api)
        run = ior("-a %s -Y -w -r -R -G 3 -b 64k -t 16k -s 2" % api).ok()
        conftest.sound(run, 256 * KIB)
