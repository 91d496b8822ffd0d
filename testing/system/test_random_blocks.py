# SPDX-License-Identifier: BSD-3-Clause
"""-z: random offsets, with a prefill, without memory; -z -z: random blocks with repetition, whose data are right whoever wrote
them last."""
import pytest

from conftest import PEAK, TELL, timely

BLOCKS = "-b 16k -t 4k -s 4 -z -z --random-offset-seed=%d"


def flip(path, at):
    """Change one bit."""
    with open(path, "r+b") as f:
        f.seek(at)
        byte = f.read(1)
        f.seek(at)
        f.write(bytes([byte[0] ^ 1]))


@pytest.mark.parametrize("packet", "t o i r s".split())
@pytest.mark.parametrize("np, flags", [(1, ""), (3, ""), (3, "-F"), (2, "-D 60 -O stoneWallingWearOut=1"), (2, "-F -C"),
                                       (2, "-i 2 -m")])
def test_what_random_blocks_write_they_find_again(ior, np, flags, packet):
    """Seeds whose last block is not drawn, so that the file stays short, and others."""
    for seed in (1, 5):
        run = ior("-w -W -r -R -l %s %s %s" % (packet, flags, BLOCKS % seed), np=np).ok()
        assert not any("aggregate file size" in w for w in run.warnings), run


@pytest.mark.parametrize("packet", "t o i r s".split())
@pytest.mark.parametrize("flags", ["", "-F"])
def test_files_written_in_order_are_right_in_random_blocks(ior, packet, flags):
    where = "-b 16k -t 4k -s 2 -G 7 -l %s %s" % (packet, flags)
    ior("-w -k %s" % where, np=3).ok()
    for seed in (1, 2):
        ior("-r -R -k -z -z --random-offset-seed=%d %s" % (seed, where), np=3).ok()
    for name in ior.files():
        for at in range(100, (ior.cwd / name).stat().st_size, 16384):
            flip(ior.cwd / name, at)
    run = ior("-R -k -z -z --random-offset-seed=1 %s" % where, np=3).ok(4)
    assert any("Incorrect data" in w for w in run.warnings), run


def test_another_job_finds_the_blocks_that_were_drawn(ior):
    """The same seed draws the same blocks, also where the last one of the file was never written."""
    for seed in (1, 3, 5, 6):
        ior("-w -k -G 7 -l o %s" % (BLOCKS % seed), np=2).ok()
        ior("-R -G 7 -l o %s" % (BLOCKS % seed), np=2).ok()


def test_a_wrong_block_is_found_in_the_run_that_wrote(ior):
    run = ior("-a DUMMY --dummy.store --dummy.corrupt-at=3 -w -R -l s " + BLOCKS % 5, np=1).ok(4)
    assert any("bit flip" in n for n in run.notes), run


def test_random_blocks_are_written_with_a_note_on_repeats(ior):
    """-z -z works for writing as for reading, with every layout and backend."""
    ior.script("", "filePerProc=1", "filePerProc=0,segmentCount=4", "segmentCount=1,api=MPIIO", "api=DUMMY")
    run = ior("-w -z -z -b 16k -t 4k --random-offset-seed=1 -f s", np=2).ok()
    assert run.accesses() == ["write"] * 5 and len([note for note in run.notes if "repeat" in note]) == 5, run


def test_a_file_without_a_whole_block_is_an_error(ior):
    """Random blocks of a file that has none are refused, not divided by zero."""
    (ior.cwd / "testFile").write_bytes(bytes(1000))
    run = ior("-r -k -z -z -b 16k -t 4k", np=None, timeout=20)
    assert run.returncode in (1, 2, 3) and len(run.errors) == 1 and "testFile" in run.errors[0] + run.stdout, run


def test_a_seed_that_draws_one_block_for_ever_is_refused(ior):
    ior("-w -z -z --random-offset-seed=0", np=None).fails(1, "--random-offset-seed=0", "another seed")
    ior("-w -r -b 8k -t 4k -z --random-offset-seed=0").ok()


def test_the_count_of_a_status_file_is_no_limit_for_random_blocks(ior):
    """It counts transfers of the writer, of another size: IO500 reads 4 KiB at random places of what was written in 2 MiB."""
    status = "-F -k -g -G 7 -l signature -O stoneWallingStatusFile=st"
    ior("-w -t 16k -b 32k -O stoneWallingWearOut=1 -D 60 " + status).ok()
    assert (ior.cwd / "st").read_text() == "2"
    run = ior("-r -t 4k -b 4k -s 50 -z -z -Q 1 -C -O stoneWallingWearOut=1 -D 60 %s --report=text:-,json:j" % status).ok()
    assert '"operations": 100,' in (ior.cwd / "j").read_text(), run
    run = ior("-r -R -t 16k -b 32k -s 2 %s --report=text:-,json:j" % status).ok()
    assert '"operations": 4,' in (ior.cwd / "j").read_text(), run


# ---- -z ----

PREFILLED = {
    "a shared file": "", "files of tasks": "filePerProc=1", "a deadline": "filePerProc=0,deadlineForStonewalling=60",
    "a deadline and files of tasks": "filePerProc=1", "wear-out": "filePerProc=0,segmentCount=3,stoneWallingWearOut=1",
    "MPIIO": "segmentCount=1,stoneWallingWearOut=0,deadlineForStonewalling=0,api=MPIIO"}


def test_a_prefilled_file_can_be_checked(ior):
    """--randomPrefill is only for write phases and hangs with no deadline."""
    ior.script(*PREFILLED.values())
    run = ior("-w -W -R -z --randomPrefill=8k -b 64k -t 4k -G 3 -l o -f s" + TELL, np=2).ok()
    found = {name: [(p["operation"], p["wrong"]) for p in test["phases"]] for name, test in zip(PREFILLED, run.document()["tests"])}
    assert found == {name: [("write", 0), ("check write", 0), ("read", 0)] for name in PREFILLED}, run
    assert ior.files() == ["r.json", "s"] and not [w for w in run.warnings if "Incorrect" in w], run


def test_the_prefill_is_not_measured(ior):
    """Four slow pieces of prefill do not make four slow writes slower."""
    p = ior("-a DUMMY -w -z --randomPrefill=8k -b 32k -t 8k --dummy.delay-xfer=100000" + TELL, np=None).ok().phases()[0]
    assert p["transferCount"] == 4 and p["workTime"] >= 0.4
    timely(p["workTime"] < 0.75, p)


def test_each_segment_has_a_random_order_of_its_own(ior, preload):
    log = ior.cwd.parent / "log"
    ior("-w -F -z -b 256k -t 4k -s 2 --random-offset-seed=42", np=None, env={"LD_PRELOAD": preload("log-files.c"), "FILE_LOG": str(log)}).ok()
    offs = [int(line.split()[2]) for line in log.read_text().split("\n") if line.startswith("write ")]
    assert sorted(offs) == list(range(0, 524288, 4096))
    assert [o for o in offs if o < 262144] != [o - 262144 for o in offs if o >= 262144]


def test_no_task_is_without_work_when_all_wear_out(ior):
    """Each task has as many transfers as the others, also with a block of one transfer, and the run ends."""
    ior.script("blockSize=4k", "blockSize=32k,segmentCount=3,stoneWallingWearOut=0,deadlineForStonewalling=0")
    run = ior("-w -z -t 4k -D 60 -O stoneWallingWearOut=1 -f s" + TELL, np=3, timeout=20).ok()
    assert [(p["stepsMin"], p["stepsMax"]) for p in run.phases()] == [(1, 1), (24, 24)], run


def test_random_offsets_cost_no_memory_and_no_set_up(ior):
    """The order of 2^33 transfers is there at once and needs no list."""
    small, big = (ior("-a DUMMY -w -z -b %s -t 8 -O stoneWallingWearOutIterations=10" % size, np=None, prefix=PEAK, timeout=20).ok().peak_kib
                  for size in ("64k", "64g"))
    assert big < small + 16384
