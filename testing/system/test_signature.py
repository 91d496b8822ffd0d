# SPDX-License-Identifier: BSD-3-Clause
"""-l signature: whatever happened to the data on their way is found, told apart, and named with its place."""
import random
import re
import struct
import zlib

import pytest

import conftest

SIZE, UNIT = 4096, 512
TRANSFERS = 1536  # of 4 KiB: 6 MiB, which 2 and 3 tasks share evenly
DAMAGED = 1000
KINDS = ["bit flip", "torn write", "stale data", "misplaced data", "zeros", "short"]
LINE = re.compile(r"^wrong data: rank (\d+) on \S+: '([^']*)', byte (\d+): ([a-z ]+): expected 0x([0-9a-f]{16}), found 0x([0-9a-f]{16}); "
                  r"(\d+) wrong pieces of 512 bytes in the transfer at (\d+)(?:; the data say: run \d+, repetition (\d+), task (\d+), "
                  r"offset (\d+)(, a file of another name.*)?)?$")


def geometry(np, segments=1):
    return "-l signature -t %d -b %d -s %d" % (SIZE, TRANSFERS * SIZE // np // segments, segments)


def damage(rng, kind, good, old, other):
    """A transfer with one thing wrong with it: good is what it was, old what was there before, other another place."""
    if kind == "bit flip":
        bad = bytearray(good)
        bad[rng.randrange(SIZE)] ^= 1 << rng.randrange(8)
        return bytes(bad)
    cut = UNIT * rng.randrange(1, SIZE // UNIT)
    return {"torn write": good[:cut] + old[cut:], "stale data": old, "misplaced data": other, "zeros": bytes(SIZE),
            "short": good[:cut] + bytes(SIZE - cut)}[kind]


def spoil(data, old, seed, clean=()):
    """Damage 1000 transfers of data, in place. Returns {transfer: kind}."""
    rng = random.Random(seed)
    places = rng.sample([i for i in range(TRANSFERS) if i not in clean], DAMAGED)
    good, done = bytes(data), {}
    for n, i in enumerate(places):
        at, far = i * SIZE, (i + rng.randrange(1, TRANSFERS)) % TRANSFERS * SIZE
        done[i] = KINDS[n % len(KINDS)]
        data[at:at + SIZE] = damage(rng, done[i], good[at:at + SIZE], old[at:at + SIZE], good[far:far + SIZE])
        assert data[at:at + SIZE] != good[at:at + SIZE]
    return done


def found(run, where):
    """(wrong transfers, {kind: number}, the lines) of a run that had wrong data."""
    run.ok(4)
    count = [w for w in run.warnings if w.startswith("Incorrect data on %s (" % where)]
    kinds = [n for n in run.notes if n.startswith("wrong transfers by kind: ")]
    assert len(count) == len(kinds) == len(run.errors) == 1 and "wrong data in " in run.errors[0], run
    by_kind = {k: int(n) for n, k in re.findall(r"(\d+) ([a-z ]+)", kinds[0].split(": ", 1)[1])}
    lines = [LINE.match(n) for n in run.notes if n.startswith("wrong data: ")]
    assert all(lines), run
    return int(re.search(r"\((\d+) errors", count[0]).group(1)), by_kind, lines


def expected_kinds(done):
    kinds = {}
    for kind in done.values():
        kind = "zeros" if kind == "short" else kind
        kinds[kind] = kinds.get(kind, 0) + 1
    return kinds


def check_lines(lines, done, good, bad, name):
    """The first ten, each with the very first word that differs."""
    assert len(lines) == 10
    for m in lines:
        transfer, byte = int(m.group(8)), int(m.group(3))
        assert m.group(2) == name and transfer // SIZE in done and transfer % SIZE == 0 and 0 <= byte - transfer < SIZE
        assert bad[transfer:byte] == good[transfer:byte]
        if m.group(4) in ("bit flip", "zeros"):
            assert struct.unpack_from("<Q", good, byte)[0] == int(m.group(5), 16)
        assert struct.unpack_from("<Q", bad, byte)[0] == int(m.group(6), 16)


def check_found(run, where, done, good, bad, name="testFile"):
    """Every damaged transfer, and no other one: their number is exact, and there is one kind for each."""
    n, kinds, lines = found(run, where)
    assert n == len(done) == sum(kinds.values()), run
    check_lines(lines, done, good, bad, name)
    want = expected_kinds(done)
    # A flip in the head of a unit whose neighbours are damaged, too, cannot be told from something foreign.
    foreign = kinds.pop("foreign data", 0)
    assert foreign <= 5 and kinds.pop("bit flip") + foreign == want.pop("bit flip") and kinds == want, run


class Store:
    """Where the bytes of a shared file of one backend are: read them, put others there."""

    def __init__(self, cwd, api):
        self.path, self.api = cwd / "testFile", api

    def start(self):
        if self.api == "HDF5":
            h5py = pytest.importorskip("h5py", reason="needs python3-h5py to find the data in the file")
            with h5py.File(self.path, "r") as f:
                return f["Dataset-0000.0000"].id.get_offset()
        return self.path.stat().st_size - TRANSFERS * SIZE if self.api == "NCMPI" else 0

    def read(self):
        at = self.start()
        return bytearray(self.path.read_bytes()[at:at + TRANSFERS * SIZE])

    def write(self, data):
        at = self.start()
        with self.path.open("r+b") as f:
            f.seek(at)
            f.write(data)


BACKENDS = [pytest.param("POSIX", "", marks=pytest.mark.sanitize), ("POSIX", "--posix.rangelocks"), ("AIO", "--aio.max-pending=8 --aio.granularity=4"), ("MPIIO", ""), ("MPIIO", "-c"),
            ("MPIIO", "-c --mpiio.useFileView"), ("HDF5", ""), ("HDF5", "-c"), ("MMAP", ""), ("NCMPI", ""), ("NCMPI", "-c"),
            ("DUMMY", "--dummy.store")]


@pytest.mark.parametrize("api, args", BACKENDS)
def test_each_of_1000_corruptions_is_found_by_another_job(ior, need_backend, api, args):
    """Without -G, by as many tasks and by others, with -R and with -W."""
    need_backend(api)
    line = "-a %s %s -k " % (api, args)
    store = Store(ior.cwd, api)
    ior(line + "-w " + geometry(2), np=2).ok()
    old = store.read()
    ior(line + "-w " + geometry(2), np=2).ok()
    good = store.read()
    assert len(good) == TRANSFERS * SIZE and all(a != b for a, b in zip(struct.iter_unpack("<512s", good), struct.iter_unpack("<512s", old)))
    # PnetCDF files know their number of tasks
    others = ((2, "-C"),) if api == "NCMPI" else ((3, ""), (1, "")) if api == "POSIX" else ((3, ""),)
    for np, how in others[:1]:
        assert ior(line + how + " -R " + geometry(np), np=np).ok().warnings == []
    bad = bytearray(good)
    done = spoil(bad, old, "%s %s" % (api, args), clean=(0, TRANSFERS // 3, TRANSFERS // 2, 2 * TRANSFERS // 3))
    store.write(bad)
    for np, how in others:
        check_found(ior(line + how + " -R " + geometry(np), np=np), "read", done, good, bad)
    check_found(ior(line + "-W " + geometry(2), np=2), "write", done, good, bad)
    store.write(good)
    assert ior(line + "-R " + geometry(2), np=2).ok().warnings == []


def test_random_offsets_and_other_transfer_sizes_find_the_same(ior):
    ior("-w -k " + geometry(2), np=2).ok()
    old = Store(ior.cwd, "POSIX").read()
    ior("-w -k " + geometry(2), np=2).ok()
    store = Store(ior.cwd, "POSIX")
    good = store.read()
    bad = bytearray(good)
    done = spoil(bad, old, 5, clean=range(0, TRANSFERS, 64))
    store.write(bad)
    n, _, _ = found(ior("-R -k -z --random-offset-seed=3 -z=1 " + geometry(2), np=2), "read")
    assert n == DAMAGED
    big = 4 * SIZE
    wrong = len({i * SIZE // big for i in done})
    n, _, _ = found(ior("-R -k -l signature -t %d -b %d" % (big, len(good) // 2), np=2), "read")
    assert n == wrong


def test_the_job_that_wrote_them_finds_1000_corruptions(ior, preload):
    """It knows its run, repetition and writers, so that even data of another run are stale, whatever their age."""
    store = Store(ior.cwd, "POSIX")
    ior("-w -k " + geometry(2), np=2).ok()
    old, seen = store.read(), {}

    def change():
        seen["good"] = store.read()
        seen["bad"] = bytearray(seen["good"])
        seen["done"] = spoil(seen["bad"], old, 11)
        store.write(seen["bad"])

    run = ior.change_while_it_waits(preload, "-w -R -k " + geometry(2), change)
    check_found(run, "read", seen["done"], seen["good"], seen["bad"])
    assert run.accesses() == ["write", "read"]


def test_data_of_a_later_run_are_not_ours(ior, preload):
    other = ior.cwd / "other"
    other.mkdir()

    def change():
        conftest.Ior(other)("-w -k " + geometry(2), np=2).ok()
        Store(ior.cwd, "POSIX").write(Store(other, "POSIX").read())

    n, kinds, _ = found(ior.change_while_it_waits(preload, "-w -R -k " + geometry(2), change), "read")
    assert n == TRANSFERS and kinds == {"stale data": TRANSFERS}


@pytest.mark.parametrize("args", ["", "-F", "-c", "-F -C"])
def test_a_bit_that_flips_between_writing_and_checking_is_found(ior, args):
    run = ior("-a DUMMY --dummy.corrupt-at=5 -w -W -l signature -b 64k -t 8k %s" % args, np=2)
    n, kinds, lines = found(run, "write")
    assert n == 2 and kinds == {"bit flip": 2} and len(lines) == 2
    assert sorted(int(m.group(8)) % 65536 for m in lines) == [32768, 32768] and {m.group(1) for m in lines} == {"0", "1"}
    assert all(bin(int(m.group(5), 16) ^ int(m.group(6), 16)).count("1") == 1 for m in lines)


def test_a_repetition_that_was_not_written_again_is_stale(ior, preload):
    """Data of the first repetition where the second one's should be: the same name, the same length, and right once."""
    path, copies = ior.cwd / "testFile", []
    ior.change_while_it_waits(preload, "-w -k -i 2 " + geometry(2), lambda: copies.append(path.read_bytes())).ok()
    first, = copies
    data = bytearray(path.read_bytes())
    assert data[:SIZE] != first[:SIZE]
    data[SIZE * 700:SIZE * 800] = first[SIZE * 700:SIZE * 800]
    path.write_bytes(data)
    n, kinds, lines = found(ior("-R -k " + geometry(2), np=2), "read")
    assert n == 100 and kinds == {"stale data": 100}
    assert {m.group(9) for m in lines} == {"0"}


@pytest.mark.parametrize("stale", [range(0, 100), range(0, TRANSFERS // 2), range(TRANSFERS // 2, TRANSFERS), range(1, TRANSFERS), range(7, 1000, 13)])
def test_older_data_are_found_wherever_they_stand(ior, stale):
    """In front of the newer ones, too, and when a task sees nothing but old ones."""
    ior("-w -k " + geometry(2), np=2).ok()
    old = (ior.cwd / "testFile").read_bytes()
    ior("-w -k " + geometry(2), np=2).ok()
    data = bytearray((ior.cwd / "testFile").read_bytes())
    for i in stale:
        data[i * SIZE:(i + 1) * SIZE] = old[i * SIZE:(i + 1) * SIZE]
    (ior.cwd / "testFile").write_bytes(data)
    n, kinds, _ = found(ior("-R -k " + geometry(2), np=2), "read")
    assert n == len(stale) and kinds == {"stale data": len(stale)}


def test_files_that_changed_their_places_are_misplaced_and_say_whose_they_are(ior):
    ior("-w -k -F -l signature -b 64k -t 4k", np=3).ok()
    files = [ior.cwd / ("testFile.%08d" % i) for i in range(3)]
    files[2].write_bytes(files[0].read_bytes())
    n, kinds, lines = found(ior("-R -k -F -l signature -b 64k -t 4k", np=3), "read")
    assert n == 16 and kinds == {"misplaced data": 16}
    for i, m in enumerate(sorted(lines, key=lambda m: int(m.group(3)))):
        assert m.group(1, 2, 9, 10, 11) == ("2", "testFile.00000002", "0", "0", str(i * 4096))
        assert "a file of another name" in m.group(12)


def test_a_file_of_another_repetition_is_misplaced(ior):
    ior("-w -k -m -i 2 -l signature -b 64k -t 4k").ok()
    ior("-R -k -m -i 2 -l signature -b 64k -t 4k").ok()
    (ior.cwd / "testFile.1").write_bytes((ior.cwd / "testFile.0").read_bytes())
    n, kinds, lines = found(ior("-R -k -m -i 2 -l signature -b 64k -t 4k"), "read")
    assert n == 32 and kinds == {"misplaced data": 32}
    assert {m.group(2) for m in lines} == {"testFile.1"} and all("a file of another name" in m.group(12) for m in lines)


def test_a_file_is_known_by_its_own_name_however_it_is_reached(ior):
    """One of several repetitions, and one of a list of files, read as what they are."""
    ior("-w -k -m -i 2 -l signature -b 64k -t 4k").ok()
    assert ior("-R -k -l signature -b 64k -t 4k -o testFile.1").ok().warnings == []
    for name in "AB":
        (ior.cwd / name).mkdir()
    ior("-w -k -F -l signature -b 64k -t 4k -o A/p@B/q").ok()
    assert ior("-R -k -F -l signature -b 64k -t 4k -o A/p", np=1).ok().warnings == []


def test_older_data_show_what_the_newer_would_be(ior):
    """From another job only the run tells them apart."""
    ior("-w -k " + geometry(2)).ok()
    old = (ior.cwd / "testFile").read_bytes()
    ior("-w -k " + geometry(2)).ok()
    with (ior.cwd / "testFile").open("r+b") as f:
        f.seek(3 * SIZE)
        f.write(old[3 * SIZE:4 * SIZE])
    for np in (1, 2):
        n, kinds, lines = found(ior("-R -k " + geometry(np), np=np), "read")
        assert n == 1 and kinds == {"stale data": 1} and len(lines) == 1
        assert lines[0].group(5) != lines[0].group(6) and lines[0].group(8) == str(3 * SIZE)


def test_private_files_are_verified_by_fewer_tasks_and_in_another_order(ior):
    ior("-w -k -F -l signature -b 64k -t 4k -s 2", np=3).ok()
    for args, np in (("-s 2", 2), ("-s 2 -C", 3), ("-s 2 -Z -Z", 3), ("-s 1", 3), ("-s 2 -z", 3)):
        run = ior("-R -k -F -l signature -b 64k -t 4k " + args, np=np).ok()
        assert not [w for w in run.warnings if "Incorrect" in w], run


def test_another_signature_option_changes_nothing(ior):
    """-G is for the other packets: here every run has a number of its own."""
    ior("-w -k -G 1 " + geometry(2), np=2).ok()
    one = (ior.cwd / "testFile").read_bytes()
    assert ior("-R -k -G 2 " + geometry(2), np=2).ok().warnings == []
    ior("-w -k -G 1 " + geometry(2), np=2).ok()
    assert (ior.cwd / "testFile").read_bytes() != one


def test_the_data_do_not_compress_and_do_not_repeat(ior):
    ior("-w -k -s 2 -i 2 -m -l signature -b 512k -t 64k", np=2).ok()
    data = (ior.cwd / "testFile.0").read_bytes() + (ior.cwd / "testFile.1").read_bytes()
    assert len(zlib.compress(data, 9)) > 0.99 * len(data)
    assert len({data[i:i + 512] for i in range(0, len(data), 512)}) == len(data) // 512


def test_a_transfer_size_that_has_no_whole_units_is_refused(ior):
    ior("-w -l signature -b 4000 -t 1000", timeout=20).fails(1, "512", "-t")
    assert ior.files() == []


def test_a_file_that_was_never_written_is_all_wrong(ior):
    (ior.cwd / "testFile").write_bytes(bytes(TRANSFERS * SIZE))
    n, kinds, lines = found(ior("-R -k " + geometry(2), np=2), "read")
    assert n == TRANSFERS and kinds == {"zeros": TRANSFERS} and len(lines) == 10
