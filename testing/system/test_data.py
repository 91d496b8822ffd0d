# SPDX-License-Identifier: BSD-3-Clause
"""The bytes in the files, and finding out when they are wrong."""
import hashlib
import lzma
import os
import stat
import struct
import zlib

import pytest

import conftest
import model

# From real files of the original. V3 is not here: our -l i is another one on purpose.
VECTORS = [
    ("V1", 2, "-b 16384 -t 8192 -G 7 -l t",
     {"": "55a53433831af76be8cd182b6aeb960caed7c076da3cfd7ba021b8d2ecbcf151"}),
    ("V2", 2, "-b 16384 -t 8192 -G 7 -l o",
     {"": "db39783479388100cd65025438862735c00f3e4a98f8ae33bc23b49eb6406862"}),
    ("V4", 2, "-b 16384 -t 8192 -G 7 -l r",
     {"": "359777505531ffe69bcb47af6836a5146f907e77174ff61476b45acb3cd21413"}),
    ("V5", 2, "-b 16384 -t 8192 -G 1511817315 -l o",
     {"": "6a16c4c95d484668bc5a53ec53155c89223505a6337a5bc5d324aed829f3eb4e"}),
    ("V6", 2, "-b 16384 -t 8192 -G 1511817315 -l o -F -s 2",
     {".00000000": "b6f718ec89b3dab1783b33f8e008d96cdf354540fba2dcb4962da333dcb96082",
      ".00000001": "a9f5816956017f8b1a4c79e7244b482c8e6ec2262532eb3c4866a8924a281ce1"}),
    ("V7", 2, "-b 4000 -t 1000 -G 7 -l o",
     {"": "5c768de42e0252e7787cf348002da21ec7e0bd4f15263356d491a4396cf46230"}),
    ("V8", 3, "-b 65536 -t 4096 -s 2 -G 1511817315 -l o -z --random-offset-seed=42 --random-offset-deal=original",
     {"": "48e952e6d508da4e40b18662fe57dd7ec4a0bd808c701e5ee123babe17d3c959"}),
    ("V9", 2, "-b 16384 -t 4096 -G -5 -l t",
     {"": "6b6c359c27f82b86c5612ebc18f8dd1c832145b714263062314323aad1009a9f"}),
]


def contents(ior, name="testFile"):
    return {p.name[len(name):]: p.read_bytes() for p in ior.cwd.iterdir() if p.name.startswith(name)}


@pytest.mark.parametrize("np, args, sums", [v[1:] for v in VECTORS], ids=[v[0] for v in VECTORS])
def test_the_file_is_byte_for_byte_that_of_the_original(ior, np, args, sums):
    ior("-w -k " + args, np=np).ok()
    assert {name: hashlib.sha256(data).hexdigest() for name, data in contents(ior).items()} == sums


def test_the_model_agrees_with_the_files_of_the_original():
    for args, sums in ((dict(block=16384, size=8192, packet="t"), VECTORS[0][3]), (dict(block=16384, size=8192, packet="r"), VECTORS[2][3]),
                       (dict(block=65536, size=4096, segments=2, tasks=3, signature=1511817315, packet="o", seed=42), VECTORS[6][3]),
                       (dict(block=16384, size=4096, signature=-5), VECTORS[7][3])):
        assert {name: hashlib.sha256(data).hexdigest() for name, data in model.files(**args).items()} == sums


CONFIGURATIONS = [
    ("POSIX", "", dict(block=24576, size=8192, segments=3, packet="o"), None),
    ("POSIX file per process", "-F", dict(block=24576, size=8192, segments=2, packet="r", private=True), None),
    ("POSIX three tasks", "", dict(block=3000, size=1000, segments=2, tasks=3, packet="o"), None),
    ("POSIX odd sizes", "", dict(block=40, size=8, segments=5, packet="t", signature=2 ** 31), None),
    ("POSIX distributed", "-z --random-offset-seed=5 --random-offset-deal=original -F",
     dict(block=32768, size=4096, packet="o", private=True, seed=5), None),
    ("POSIX shuffled", "-z", dict(block=24576, size=4096, segments=2, tasks=1, packet="o"), None),
    ("POSIX short transfers continued", "-a DUMMY --dummy.store --dummy.short-every=3", dict(block=24576, size=8192, packet="o"), None),
    ("MPIIO explicit", "-a MPIIO", dict(block=24576, size=8192, segments=3, packet="o"), "MPIIO"),
    ("MPIIO collective", "-a MPIIO -c", dict(block=24576, size=8192, segments=3, packet="o"), "MPIIO"),
    ("MPIIO view", "-a MPIIO --mpiio.useFileView", dict(block=24576, size=8192, segments=3, packet="o"), "MPIIO"),
    ("MPIIO view collective", "-a MPIIO -c --mpiio.useFileView", dict(block=24576, size=8192, segments=3, tasks=3, packet="o"), "MPIIO"),
    ("MPIIO strided", "-a MPIIO --mpiio.useFileView --mpiio.useStridedDatatype",
     dict(block=24576, size=8192, segments=3, packet="o"), "MPIIO"),
    ("MPIIO strided collective", "-a MPIIO -c --mpiio.useFileView --mpiio.useStridedDatatype",
     dict(block=24576, size=8192, segments=3, tasks=3, packet="o"), "MPIIO"),
    ("MPIIO file per process view", "-a MPIIO -F --mpiio.useFileView",
     dict(block=24576, size=8192, segments=2, packet="o", private=True), "MPIIO"),
    ("MPIIO preallocated", "-a MPIIO -F --mpiio.preallocate", dict(block=24576, size=8192, segments=2, packet="o", private=True), "MPIIO"),
    ("MPIIO distributed", "-a MPIIO -z --random-offset-seed=7 --random-offset-deal=original",
     dict(block=32768, size=4096, segments=2, packet="o", seed=7), "MPIIO"),
]


@pytest.mark.parametrize("args, what, backend", [c[1:] for c in CONFIGURATIONS], ids=[c[0] for c in CONFIGURATIONS])
def test_the_file_is_what_the_model_says_and_is_read_back(ior, need_backend, args, what, backend):
    if backend:
        need_backend(backend)
    line = "%s -b %d -t %d -s %d -G %d -l %s" % (args, what["block"], what["size"], what.get("segments", 1),
                                               what.get("signature", 7) - 2 ** 32 * (what.get("signature", 7) >= 2 ** 31),
                                               what["packet"])
    tasks = what.get("tasks", 2)
    run = ior("-w -W -R -k -O warningAsErrors=1 " + line, np=tasks).ok()
    assert contents(ior) == model.files(**what)
    assert run.messages == []


HDF5 = [
    ("plain", "", dict(block=24576, size=8192, segments=3, packet="o")),
    ("collective", "-c --hdf5.collectiveMetadata", dict(block=24576, size=8192, segments=3, tasks=3, packet="o")),
    ("one transfer in a block", "-c", dict(block=4096, size=4096, segments=5, packet="o")),
    ("chunked without fill", "--hdf5.chunkSize=1024 --hdf5.noFill", dict(block=16384, size=8192, segments=2, packet="o")),
    ("file per process", "-F", dict(block=16384, size=8192, segments=3, packet="o", private=True)),
]


@pytest.mark.parametrize("args, what", [c[1:] for c in HDF5], ids=[c[0] for c in HDF5])
def test_a_dataset_holds_one_segment(ior, need_backend, args, what):
    need_backend("HDF5")
    h5py = pytest.importorskip("h5py", reason="needs python3-h5py to look into the file")
    run = ior("-a HDF5 -w -W -R -k %s -b %d -t %d -s %d -G 7 -l %s" % (
        args, what["block"], what["size"], what["segments"], what["packet"]), np=what.get("tasks", 2)).ok()
    assert run.messages == []
    for suffix, expect in model.files(**what).items():
        with h5py.File(ior.cwd / ("testFile" + suffix), "r") as f:
            assert sorted(f) == ["Dataset-0000.%04d" % i for i in range(what["segments"])]
            sets = [f[name] for name in sorted(f)]
            assert all(d.dtype.itemsize == 8 and d.dtype.kind in "iu" and d.ndim == 1 for d in sets)
            assert b"".join(d[...].tobytes() for d in sets) == expect
            if "chunkSize" in args:
                assert sets[0].chunks == (1024,)


def test_aligned_datasets_begin_at_multiples(ior, need_backend):
    need_backend("HDF5")
    h5py = pytest.importorskip("h5py", reason="needs python3-h5py to look into the file")
    ior("-a HDF5 -w -k -b 65536 -t 65536 -s 2 --hdf5.setAlignment=64k").ok()
    with h5py.File(ior.cwd / "testFile", "r") as f:
        assert [f[name].id.get_offset() % 65536 for name in f] == [0, 0]


@pytest.mark.parametrize("args", ["-b 512k -t 256k -s 2", "-b 64k -t 4k -s 8 -F"])
def test_incompressible_data_do_not_compress(ior, args):
    ior("-w -W -R -k -l i -G 3 " + args).ok()
    data = b"".join(contents(ior).values())
    assert len(zlib.compress(data, 9)) > 0.99 * len(data)
    assert len(lzma.compress(data, preset=6)) > 0.99 * len(data)
    blocks = [data[i:i + 4096] for i in range(0, len(data), 4096)]
    assert len(set(blocks)) == len(blocks)  # nor can they be deduplicated


def test_incompressible_data_depend_on_the_signature(ior):
    ior("-w -k -l i -G 3 -o a -b 8k -t 4k").ok()
    ior("-w -k -l i -G 4 -o b -b 8k -t 4k").ok()
    a, b = contents(ior, "a")[""], contents(ior, "b")[""]
    assert all(x != y for x, y in zip(struct.iter_unpack("<Q", a), struct.iter_unpack("<Q", b)))


@pytest.mark.sanitize
@pytest.mark.parametrize("packet, where", [("t", 0), ("t", 131071), ("o", 4097), ("o", 0), ("i", 65535), ("i", 65536),
                                           ("r", 4097), ("r", 131071)])
def test_one_flipped_bit_is_found_where_it_is(ior, packet, where):
    line = "-b 64k -t 16k -G 99 -l %s -k" % packet
    ior("-w " + line).ok()
    data = bytearray((ior.cwd / "testFile").read_bytes())
    data[where] ^= 0x10
    (ior.cwd / "testFile").write_bytes(data)
    run = ior("-R " + line).fails(4, "test 0: wrong data in 1 place")
    assert run.accesses() == ["read"]
    assert "Incorrect data on read (1 errors found)." in run.warnings
    place = [note for note in run.notes if "testFile" in note and "byte %d:" % (where // 8 * 8) in note]
    assert len(place) == 1 and "rank %d" % (where // 65536) in place[0], run


def test_a_wrong_byte_in_a_private_file_is_found_with_its_file(ior):
    ior("-w -F -b 64k -t 16k -G 99 -k").ok()
    path = ior.cwd / "testFile.00000001"
    data = bytearray(path.read_bytes())
    data[20000] ^= 1
    path.write_bytes(data)
    run = ior("-R -F -b 64k -t 16k -G 99 -k").ok(4)
    assert [note for note in run.notes if "testFile.00000001" in note and "byte 20000:" in note], run


def test_the_check_after_writing_finds_what_was_damaged_on_the_way(ior):
    run = ior("-a DUMMY --dummy.corrupt-at=3 -w -W -b 64k -t 16k").ok(4)
    assert [w for w in run.warnings if w.startswith("Incorrect data on write (2 errors found)")], run
    assert ior.files() == []


def test_files_with_wrong_data_are_kept_on_request(ior):
    ior("-a DUMMY --dummy.corrupt-at=3 -w -W -K -b 64k -t 16k").ok(4)
    assert ior.files() == ["testFile"]


@pytest.mark.parametrize("wrong", [64, 128, 256, 512])
def test_the_status_does_not_wrap_with_the_number_of_errors(ior, wrong):
    line = "-b %d -t 8 -k" % (8 * wrong // 2)
    ior("-w -G 5 " + line).ok()
    run = ior("-R -G 6 " + line).ok(4)
    assert "Incorrect data on read (%d errors found)." % wrong in run.warnings


@pytest.mark.parametrize("packet", "toir")
def test_checks_pass_without_a_given_signature(ior, packet):
    run = ior("-w -W -r -R -i 2 -b 32k -t 8k -l %s" % packet).ok()
    assert run.warnings == []


def test_data_of_an_earlier_repetition_do_not_pass(ior):
    ior("-w -k -i 2 -m -b 8k -t 8k").ok()
    assert (ior.cwd / "testFile.0").read_bytes() != (ior.cwd / "testFile.1").read_bytes()


def visits(data, size):
    """[(offset in the stamp, rank)] of each transfer of a file that was written with -l o."""
    words = [struct.unpack_from("<Q", data, off)[0] for off in range(0, len(data), size)]
    return [(word & 0xffffffff, word >> 32) for word in words]


@pytest.mark.sanitize
@pytest.mark.parametrize("np, segments, block", [(2, 1, 65536), (3, 2, 65536), (4, 3, 12288), (3, 1, 4096), (2, 50, 4096)])
def test_random_offsets_visit_every_transfer_once_and_share_the_work(ior, np, segments, block):
    size = 4096
    ior("-w -k -z -l o -G 1 -b %d -t %d -s %d" % (block, size, segments), np=np).ok()
    data = contents(ior)[""]
    seen = visits(data, size)
    assert [off for off, _ in seen] == list(range(0, len(data), size))
    each = block // size * segments
    assert [sum(rank == r for _, rank in seen) for r in range(np)] == [each] * np
    if each > 4:
        assert [rank for _, rank in seen] != sorted(rank for _, rank in seen)  # it is a shuffle, too
    # a hole would be all zero; word 1 is the signature plus 1
    assert all(struct.unpack_from("<Q", data, off + 8)[0] & 0xffffffff == 2 for off in range(0, len(data), size))


def test_random_offsets_of_private_files_visit_every_transfer_once(ior):
    ior("-w -k -z -F -l o -G 1 -b 64k -t 4k -s 3").ok()
    for rank in range(2):
        data = contents(ior)[".%08d" % rank]
        assert visits(data, 4096) == [(off, rank) for off in range(0, len(data), 4096)]
        assert all(struct.unpack_from("<Q", data, off + 8)[0] == rank << 32 | 2 for off in range(0, len(data), 4096))


def test_a_seed_repeats_the_order(ior, preload):
    library = preload("log-files.c")
    orders = []
    for seed in (5, 5, 6):
        log = ior.cwd.parent / ("log%d" % len(orders))
        ior("-w -z -b 64k -t 4k --random-offset-seed=%d" % seed, np=1,
            prefix=["env", "LD_PRELOAD=" + library, "FILE_LOG=%s" % log]).ok()
        orders.append([line.split()[2] for line in log.read_text().split("\n") if line.startswith("write ")])
    assert sorted(orders[0], key=int) == [str(off) for off in range(0, 65536, 4096)]
    assert orders[0] == orders[1] != orders[2]
    assert orders[0] != sorted(orders[0], key=int)


@pytest.mark.parametrize("args", ["-z -z -r", "-zz -r -F"])
def test_random_blocks_are_read_as_many_times_as_there_are_blocks(ior, args):
    private = " -F" if "-F" in args else ""
    ior("-w -k -b 16k -t 4k -s 8 -G 4" + private).ok()
    run = ior("-k -b 16k -t 4k -s 8 " + args).ok()
    conftest.sound(run, 2 * 8 * 16384)
    assert run.accesses() == ["read"] and run.warnings == [] and run.errors == []


def test_an_existing_file_is_written_over_on_request(ior):
    (ior.cwd / "testFile").write_bytes(b"x" * 200000)
    run = ior("-w -E -k -b 64k -t 64k -G 7", np=1).ok()
    assert (ior.cwd / "testFile").read_bytes()[65536:] == b"x" * (200000 - 65536)
    assert "The file \"testFile\" exists already and will be overwritten" in run.warnings


def test_an_existing_file_is_removed_first_with_a_warning(ior):
    (ior.cwd / "testFile").write_bytes(b"x" * 200000)
    run = ior("-w -k -b 64k -t 64k -G 7", np=1).ok()
    assert (ior.cwd / "testFile").stat().st_size == 65536
    assert "The file \"testFile\" exists already and will be deleted" in run.warnings


@pytest.mark.parametrize("written, checked", [("4294967291", "-5"), ("-5", "4294967291"), ("2147483648", "-2147483648")])
def test_a_signature_is_what_the_report_shows_of_it(ior, written, checked):
    """32 bits, with sign or without: what 'Used Time Stamp' shows can be given to -G."""
    ior("-w -k -b 16k -t 8k -G %s" % written).ok()
    ior("-R -k -b 16k -t 8k -G %s" % checked).ok()
    ior("-w -G 4294967296").fails(1, "-G")
    ior("-w -G -2147483649").fails(1, "-G")


@pytest.mark.parametrize("more", ["", "-E", "-k", "-i 2", "-F", "-K"])
def test_a_device_is_not_removed(ior, more):
    """A null device of our own, also through a link."""
    name = "null.00000000" if more == "-F" else "null"
    try:
        os.mknod(ior.cwd / name, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("only root makes devices")
    run = ior("-w -b 8k -t 8k -o null " + more)
    run.fails(1, name, "is a device", "-E and -k")
    assert not [warning for warning in run.warnings if "exists already" in warning], run
    assert stat.S_ISCHR(os.lstat(ior.cwd / name).st_mode)
    if not more:
        (ior.cwd / "link").symlink_to("null")
        ior("-w -b 8k -t 8k -o link").fails(1, "link", "is a device", "-E and -k")
        assert ior.files() == ["link", "null"]


@pytest.mark.parametrize("args", ["-w", "-w -E -k", "-r", "-R -k", "-w -F -E -k", "-w -c -a MPIIO -E -k"])
def test_a_pipe_is_refused_before_it_is_opened(ior, args):
    """An open of it waits for another process."""
    name = "pipe.00000000" if "-F" in args else "pipe"
    os.mkfifo(ior.cwd / name)
    ior("-b 8k -t 8k -o pipe " + args, timeout=20).fails(1, name, "is a pipe or socket")
    assert stat.S_ISFIFO(os.lstat(ior.cwd / name).st_mode)


@pytest.mark.parametrize("args", ["", "-a MPIIO", "-a MPIIO -c", "-a HDF5", "-a NCMPI", "-F", "-a MMAP", "-E"])
@pytest.mark.parametrize("old", [False, True])
def test_a_link_is_followed_and_stays(ior, need_backend, args, old):
    """The file is where the link leads to, with and without one there before, and goes from there."""
    if "-a" in args:
        need_backend(args.split()[1])
    (ior.cwd / "there").mkdir()
    names = ["f.%08d" % i for i in range(2)] if args == "-F" else ["f"]
    for name in names:
        (ior.cwd / name).symlink_to("there/2" + name)
        (ior.cwd / "there" / ("2" + name)).symlink_to("../there/" + name)
        if old:
            (ior.cwd / "there" / name).write_bytes(b"old")
    links = sorted(names + ["there"] + ["there/2" + name for name in names])
    run = ior("-w -r -k -b 8k -t 8k -G 1 -o f " + args).ok()
    assert bool([w for w in run.warnings if "exists already" in w]) == old
    assert ior.files() == sorted(links + ["there/" + name for name in names])
    assert all((ior.cwd / "there" / name).stat().st_size >= 8192 for name in names)
    ior("-w -R -b 8k -t 8k -G 1 -o f " + args).ok()
    assert ior.files() == links and all((ior.cwd / name).is_symlink() for name in names)


@pytest.mark.parametrize("args", ["-w", "-w -E -k", "-r"])
def test_links_in_a_loop_are_refused(ior, args):
    (ior.cwd / "a").symlink_to("b")
    (ior.cwd / "b").symlink_to("a")
    ior("-b 8k -t 8k -o a " + args).fails(1, "'a'", "loop")
    assert ior.files() == ["a", "b"]


def test_a_pipe_is_no_trouble_where_nothing_is_written(ior):
    os.mkfifo(ior.cwd / "pipe")
    ior("-a DUMMY -w -r -b 8k -t 8k -o pipe").ok()
    ior("-w -b 8k -t 8k -o pipe --dry-run").ok()
    assert stat.S_ISFIFO(os.lstat(ior.cwd / "pipe").st_mode)


# ---- what a check says of wrong data ----

def test_every_512_bytes_of_incompressible_data_differ(ior):
    ior("-w -k -l i -b 1m -t 64k", np=None).ok()
    data = contents(ior)[""]
    assert len(zlib.compress(data, 9)) > 0.99 * len(data)
    assert len({data[i:i + 512] for i in range(0, len(data), 512)}) == len(data) // 512


def test_misplaced_and_stale_data_are_found(ior):
    """With -l signature pieces of 1 KiB that changed places are found, and data of the last run, with -G or without."""
    line = "-k -l signature -G 5 -b 128k -t 16k"
    path = ior.cwd / "testFile"
    ior("-w " + line, np=None).ok()
    old = path.read_bytes()
    ior("-w " + line, np=None).ok()
    good = path.read_bytes()
    moved = bytearray(good)
    moved[1024:2048], moved[3072:4096] = good[3072:4096], good[1024:2048]
    path.write_bytes(moved)
    assert any("1 misplaced data" in n for n in ior("-R " + line, np=None).ok(4).notes)
    path.write_bytes(good[:65536] + old[65536:])
    assert any("4 stale data" in n for n in ior("-R " + line, np=None).ok(4).notes)


@pytest.mark.parametrize("wrong", [1, 128])
def test_the_first_ten_wrong_transfers_are_named_with_what_was_expected_and_found(ior, wrong):
    line = "-k -b %d -t 8 -G " % (8 * wrong)
    ior("-w %s5" % line, np=None).ok()
    run = ior("-R %s6" % line, np=None).ok(4)
    assert "Incorrect data on read (%d errors found)." % wrong in run.warnings
    places = [n for n in run.notes if n.startswith("wrong data: ")]
    assert len(places) == min(wrong, 10) and "byte 0:" in places[0]
    assert "expected 0x%016x, found 0x%016x" % (6, 5) in places[0]
