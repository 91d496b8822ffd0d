# SPDX-License-Identifier: BSD-3-Clause
"""Random data with a chosen ratio of compression and of equal blocks: zstd, lz4 and a count of blocks find it in the files of
all programs, the check finds what is wrong, and bad words are refused."""
import hashlib
import json
import shutil
import subprocess

import pytest

import conftest
from mdtest_support import mdtest  # noqa: F401
from mdw_support import mdw  # noqa: F401
from mib_support import mib  # noqa: F401
from test_weir_mix import mix, mixes  # noqa: F401

BLOCK = 4096


def read_all(folder):
    """The contents of all files below a folder."""
    return [p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()]


def blocks_of(files):
    return [data[i:i + BLOCK] for data in files for i in range(0, len(data), BLOCK)]


def packed(data, tool):
    """How much smaller a tool makes it."""
    if not shutil.which(tool):
        pytest.skip("needs the command " + tool)
    return len(data) / len(subprocess.run([tool, "-q", "-c"], input=data, stdout=subprocess.PIPE, check=True).stdout)


def expect(files, compress=1.0, dedupe=1.0):
    """What storage would do: blocks that are equal once, and these compressed."""
    blocks = blocks_of(files)
    different = {hashlib.sha256(b).digest(): b for b in blocks}
    assert len(blocks) / len(different) == pytest.approx(dedupe, rel=0.03), (len(blocks), len(different))
    for tool in "zstd", "lz4":
        assert packed(b"".join(different.values()), tool) == pytest.approx(compress, rel=0.03), tool


@pytest.fixture
def folder(ior):
    (ior.cwd / "d").mkdir()
    return ior.cwd / "d"


# ---- ior ----

@pytest.mark.parametrize("words, compress, dedupe", [("compress=2.5,dedupe=3", 2.5, 3), ("compress=4", 4, 1), ("dedupe=1.5", 1, 1.5),
                                                     ("compress=1", 1, 1), ("dedupe=10,compress=1.2", 1.2, 10)])
@pytest.mark.parametrize("args", ["-b 4m -t 1m", "-b 4m -t 1m -F"])
def test_the_files_of_ior_have_the_ratio(ior, folder, args, words, compress, dedupe):
    ior("-w -r -R -W -k -o d/f -l random:%s %s" % (words, args), np=3).ok()
    files = read_all(folder)
    assert len(files) == (3 if "-F" in args else 1)
    expect(files, compress, dedupe)


def test_zstd_and_lz4_find_the_ratio_in_whole_files(ior, folder):
    ior("-w -k -o d/f -F -l random:compress=2.5 -b 8m -t 1m").ok()
    for tool in "zstd", "lz4":
        assert packed(b"".join(read_all(folder)), tool) == pytest.approx(2.5, rel=0.03)


WAYS = ["-t 188032", "-t 47008", "-t 8", "-t 47008 -z --random-offset-seed=3", "-t 47008 -s 2 -b 94016",
        "-t 47008 -a MPIIO -c", "-t 47008 -a MMAP", "-t 47008 -a AIO --depth=4", "-t 94016 -E"]


@pytest.mark.sanitize
@pytest.mark.parametrize("shared", [True, False])
def test_a_byte_depends_on_its_place_alone_whatever_writes_it(ior, folder, shared):
    """Transfers that are no multiples of blocks, in any order, of any backend: one content."""
    sums = set()
    for way in WAYS:
        name = way.split("-a ")[1].split()[0] if "-a " in way else "POSIX"
        if name not in conftest.backends() or (not shared and ("-s" in way or "-c" in way)):
            continue
        args = "-o d/f -k -G 7 -b 188032 -l random:compress=2.5,dedupe=3 %s %s" % (way, "" if shared else "-F")
        ior("-w -W -R " + args).ok()
        sums.add(hashlib.sha256(b"".join(read_all(folder))).hexdigest())
    assert len(sums) == 1, sums
    other = ior("-R -o d/f -k -G 7 -b 188032 -t 1469 -C -l random:compress=2.5,dedupe=3 %s" % ("" if shared else "-F"))
    other.fails(1, "must be a multiple of 8 bytes")
    ior("-R -o d/f -k -G 7 -b 188032 -t 1664 -C -l random:compress=2.5,dedupe=3 %s" % ("" if shared else "-F")).ok()


@pytest.mark.parametrize("args", ["-z -z --random-offset-seed=5 -b 64k -t 4k -s 4", "-F -z -z --random-offset-seed=5 -b 64k -t 4k -s 4",
                                  "-F -Z -X 3 -b 256k -t 47008 -b 188032", "-F -C -b 256k -t 64k -i 2 -m", "-Z -Z -b 256k -t 64k",
                                  "-z --mix=read:50,write:50 -b 256k -t 4k -F", "-b 256k -t 64k --random-prefill=64k -z"])
def test_data_are_right_for_all_who_read_them(ior, args):
    ior("-w -r -R -l random:compress=2,dedupe=2 -G 9 -k " + args, np=4).ok()


def test_two_seeds_share_no_blocks(ior, folder):
    for seed in 7, 8:
        ior("-w -k -o d/f%d -G %d -l random:dedupe=3 -b 1m -t 1m" % (seed, seed)).ok()
    one, two = (set(blocks_of([data])) for data in read_all(folder))
    assert one and two and not one & two


@pytest.mark.sanitize
@pytest.mark.parametrize("where", [0, 4096 * 17 + 40, 65536 * 3 + 3000])
def test_a_flipped_bit_is_found_where_it_is(ior, where):
    """Also in the zeros of a block."""
    line = "-b 128k -t 64k -G 99 -l random:compress=2.5,dedupe=3 -k"
    ior("-w " + line).ok()
    path = ior.cwd / "testFile"
    data = bytearray(path.read_bytes())
    data[where] ^= 0x10
    path.write_bytes(data)
    run = ior("-R " + line).fails(4, "test 0: wrong data in 1 place")
    assert len([n for n in run.notes if "testFile" in n and "byte %d: bit flip" % (where // 8 * 8) in n]) == 1, run
    ior("-R " + line.replace("-G 99", "-G 98")).fails(4, "wrong data in 4 places")


def test_data_of_another_place_or_time_are_named(ior):
    line = "-b 256k -t 64k -l random:compress=2.5 -k "
    ior("-w -G 98 " + line).ok()
    path = ior.cwd / "testFile"
    old = path.read_bytes()
    ior("-w -G 99 " + line).ok()
    data = path.read_bytes()
    path.write_bytes(data[:65536] + data[:65536] + old[131072:196608] + b"\0" * 65536 + data[262144:])
    run = ior("-R -G 99 " + line).ok(4)
    assert "wrong transfers by kind: 1 zeros, 1 stale data, 1 misplaced data" in run.notes, run


def test_without_words_all_is_as_before(ior):
    for kind in "random", "r", "rubbish":
        ior("-w -k -G 7 -b 16384 -t 8192 -l " + kind).ok()
        assert hashlib.sha256((ior.cwd / "testFile").read_bytes()).hexdigest() == \
            "359777505531ffe69bcb47af6836a5146f907e77174ff61476b45acb3cd21413"


# ---- words ----

ACCEPTED = "choose compress=X, dedupe=Y or both, joined by a comma, each once and from 1 to 512"


@pytest.mark.parametrize("words, bad", [("compress=0.5", "compress=0.5"), ("dedupe=x", "dedupe=x"), ("zip=2", "zip=2"), ("", ""),
                                        ("compress=2,compress=3", "compress=3"), ("compress=2,", ""), ("dedupe=513", "dedupe=513")])
def test_bad_words_get_one_line(ior, words, bad):
    run = ior("-w -l random:" + words, np=1)
    assert run.returncode == 1 and run.errors == ["option -l (dataPacketType): '%s' after the colon: %s" % (bad, ACCEPTED)], run


def test_other_kinds_have_no_words(ior, mdtest, mib):
    for kind in "offset", "timestamp", "incompressible", "signature":
        ior("-w -l %s:compress=2" % kind, np=1).fails(1, "'%s:compress=2': only random can have settings after a colon" % kind)
    mdtest("-n 1 -F -w 8 --dataPacketType=offset:dedupe=2").fails(1, "option --dataPacketType: 'offset:dedupe=2': only random can have settings")
    mib("-t {d} -F --dataPacketType=offset").fails(1, "option --dataPacketType: 'offset' is not known; choose random")


def test_the_words_are_shown_and_read_again(ior):
    run = ior("-w -l random:compress=2.5,dedupe=3 -b 64k -t 64k --report=json:r.json").ok()
    text = json.dumps(run.document())
    assert '"random:compress=2.5,dedupe=3"' in text
    (ior.cwd / "s").write_text("IOR START\ndataPacketType=random:compress=2+dedupe=3\nblockSize=256k\nRUN\nIOR STOP\n")
    ior("-f s").ok()


def test_the_finding_has_the_ratio_that_was_asked_for(ior):
    def finding(words):
        ior("-w -l random:%s -b 64k -t 64k --report=json:r.json" % words).ok()
        return next(f for f in json.loads((ior.cwd / "r.json").read_text())["tests"][0]["findings"] if f["id"] == "H13")

    got = finding("compress=2.5,dedupe=3")
    assert got["severity"] == "NOTE" and got["text"] == "the data written compress by 2.5 and have each block 3 times, as was asked for", got
    assert finding("compress=1")["outcome"] == "fine"


# ---- the other programs ----

@pytest.mark.parametrize("args, words, compress, dedupe", [
    ("-n 600 -w 4096 -e 4096 -u", "compress=2,dedupe=4", 2, 4), ("-n 200 -w 20480 -e 20480", "compress=2.5,dedupe=3", 2.5, 3),
    ("-n 600 -w 4096 -e 4096 -N 1", "dedupe=2", 1, 2), ("-n 600 -w 4096 -S", "dedupe=2", 1, 2)])
def test_mdtest(mdtest, args, words, compress, dedupe):
    common = args + " -F -G 5 --dataPacketType=random:%s " % words
    mdtest(common + "-C").ok()
    expect(read_all(mdtest.dir), compress, dedupe)
    if "-S" not in args:
        mdtest(common + "-E -X").ok()


@pytest.mark.parametrize("size", [1, 7, 3901, 8205])
def test_small_files_of_any_size_are_right_and_wrong(mdtest, size):
    common = "-F -n 5 -w %d -e %d -N 1 --dataPacketType=random:compress=2,dedupe=3 " % (size, size)
    mdtest(common + "-C --verify-write -G 77").ok()
    if size >= 8:  # the seed is found in the files of another run
        assert "file.mdtest.0.0': -G 77" in "\n".join(mdtest(common + "-E -X").ok().notes)
    victim = next(mdtest.dir.rglob("file.mdtest.0.3"))
    data = bytearray(victim.read_bytes())
    data[-1] ^= 1
    victim.write_bytes(data)
    run = mdtest(common + "-E -X -G 77")
    assert run.returncode == 4 and "byte %d: expected" % (size - 1) in run.stdout + run.stderr, run


def test_md_workbench(mdw):
    common = "-I 3 -P 300 -D 1 -R 1 -G 10 -S 8192 -X --dataPacketType=random:compress=2,dedupe=3 "
    mdw(common + "-1", np=2).ok()
    expect(read_all(mdw.dir), 2, 3)
    mdw(common + "-2", np=2).ok()


@pytest.mark.parametrize("args", ["-s 64k -l 100", "-s 47001 -l 60", "-s 8k -l 300 --depth=3 --api=AIO", "-s 4k -l 500 -b 1"])
def test_mib(mib, args):
    if "AIO" in args and "AIO" not in conftest.backends():
        pytest.skip("needs AIO")
    common = "-t {d} -F -L 60 --verify --dataPacketType=random:compress=2.5,dedupe=3 " + args
    mib(common, np=3).ok()
    expect(read_all(mib.dir), 2.5, 3)
    path = mib.dir / "mibData.00000001"
    data = bytearray(path.read_bytes())
    data[4100] ^= 1
    path.write_bytes(data)
    if "-b" not in args:
        mib(common + " -R", np=3).fails(4, "first at offset 4100")


def test_mib_takes_random_alone(mib):
    mib("-t {d} -F -L 60 -s 64k -l 20 --dataPacketType=random").ok()
    expect(read_all(mib.dir), 1, 1)
    mib("-t {d} -F -L 60 -s 64k -l 20 --dataPacketType=random -R --verify").ok()


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["torch", "shared --zero=1", "deepspeed --zero=3"])
def test_model_checkpoint(ior, layout):
    ior.program = conftest.BUILD / "src" / "model_checkpoint"
    line = "--model=llama3-8b --scale=1/512 -o ckpt --rules=none --layout=%s " % layout
    ior(line + "--load=no --dataPacketType=random:compress=2,dedupe=3", np=4).ok()
    if "zero=3" not in layout:  # which divides within blocks
        expect(read_all(ior.cwd / "ckpt"), 2, 3)
    ior("-o ckpt --rules=none --save=no --load-tp=2", np=4).ok()  # in another shape, by what was saved
    victim = sorted((ior.cwd / "ckpt").rglob("*.data"))[0]
    data = bytearray(victim.read_bytes())
    data[len(data) // 2] ^= 1
    victim.write_bytes(data)
    ior("-o ckpt --rules=none --save=no", np=4).fails(4, "wrong data in")
    ior("-o ckpt --rules=none --save=no --dataPacketType=random", np=4).fails(1, "--dataPacketType is of what a run saves")


def test_a_job_of_weir_mix(mix):
    mix.plan({"write": (2, "ior -w -R -k -o data/f -b 4m -t 1m -l random:compress=2,dedupe=3"),
              "items": (1, "mdtest -d data/d -F -C -n 300 -w 4096 --dataPacketType=random:dedupe=2")})
    mix("plan.txt", np=3).ok()
    expect([(mix.cwd / "data" / "f").read_bytes()], 2, 3)
    expect(read_all(mix.cwd / "data" / "d"), 1, 2)
