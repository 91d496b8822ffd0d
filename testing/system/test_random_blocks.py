# SPDX-License-Identifier: BSD-3-Clause
"""-z -z: random blocks with repetition, whose data are right whoever wrote them last."""
import pytest

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
