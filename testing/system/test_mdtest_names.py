# SPDX-License-Identifier: BSD-3-Clause
"""Trees, names and who works on what, and what stands in the files (3.6)."""
import hashlib
import re
import struct

import pytest

from mdtest_support import mdtest  # noqa: F401

TREE = "test-dir.0-0/mdtest_tree.0"


def items(mdtest, word="file"):
    """(directory, owner, number) of each item."""
    found = []
    for name in mdtest.names(""):
        m = re.match(r"^(.*)/%s\.mdtest\.(\w+)\.(\d+)$" % word, name)
        if m:
            found.append((m.group(1), m.group(2), int(m.group(3))))
    return found


@pytest.mark.parametrize("args, dirs, numbers", [
    ("-n 10 -b 2 -z 1", 3, range(0, 9)),
    ("-n 2 -b 3 -z 2", 13, []),
    ("-n 100 -b 3 -z 2 -L", 13, range(44, 143)),
    ("-I 2 -b 3 -z 2", 13, range(0, 26)),
    ("-I 2 -b 3 -z 2 -L", 13, range(8, 26)),
    ("-n 7 -b 1 -z 3 -L", 4, range(21, 28)),
    ("-n 5", 1, range(0, 5)),
])
def test_items_are_spread_as_the_table_says(mdtest, args, dirs, numbers):
    mdtest("-C -F " + args, np=1).ok()
    assert sorted(number for _, _, number in items(mdtest)) == list(numbers)
    assert len(mdtest.names("d")) == dirs + 1


def test_a_chain_of_directories_is_nested(mdtest):
    mdtest("-C -F -n 7 -b 1 -z 3 -L", np=1).ok()
    assert {d for d, _, _ in items(mdtest)} == {TREE + "/mdtest_tree.1/mdtest_tree.2/mdtest_tree.3"}


def test_leaves_hold_consecutive_numbers(mdtest):
    mdtest("-C -n 6 -b 2 -z 1 -L -F").ok()
    want = [(TREE + "/mdtest_tree.%d" % d, str(r), n) for d, ns in ((1, (3, 4, 5)), (2, (6, 7, 8))) for r in (0, 1) for n in ns]
    assert sorted(items(mdtest)) == sorted(want)


def test_directories_and_files_have_the_same_numbers(mdtest):
    mdtest("-C -n 4").ok()
    assert sorted(items(mdtest)) == sorted(items(mdtest, "dir")) == [(TREE, r, n) for r in "01" for n in range(4)]


def test_a_shift_moves_the_tree_of_each_phase(mdtest):
    mdtest("-u -N 1 -n 1 -F -C", np=3).ok()
    assert sorted(items(mdtest)) == [("test-dir.0-0/mdtest_tree.%d.0" % ((r + 1) % 3), str(r), 0) for r in (2, 0, 1)]
    run = mdtest("-u -N 1 -n 1 -F -T -E -r -V=3", np=3).ok()
    base = str(mdtest.dir) + "/test-dir.0-0/mdtest_tree."
    assert "mdtest_stat file: %s2.0/file.mdtest.1.0" % base in run.stdout
    assert "mdtest_read file: %s0.0/file.mdtest.2.0" % base in run.stdout
    assert "(non-dirs remove): curr_item is '%s1.0/file.mdtest.0.0'" % base in run.stdout
    mdtest.empty()


def test_shared_files_have_one_set_of_names(mdtest):
    run = mdtest("-S -n 3 -C").ok()
    assert items(mdtest) == [(TREE, "shared", n) for n in range(3)]
    assert "2 tasks, 1 file\n" in run.stdout
    mdtest("-S -n 3 -T -E -r").ok()
    mdtest.empty()


def test_several_directories_are_distributed_over_tasks(mdtest):
    a, b = mdtest.cwd / "a", mdtest.cwd / "b"
    mdtest("-n 1 -F -u -C -d %s@%s" % (a, b), np=4).ok()
    assert sorted(p.name for p in (a / "test-dir.0-0").iterdir()) == ["mdtest_tree.0.0", "mdtest_tree.2.0"]
    assert sorted(p.name for p in (b / "test-dir.0-0").iterdir()) == ["mdtest_tree.1.0", "mdtest_tree.3.0"]


def test_items_and_items_per_directory_make_several_trees(mdtest):
    run = mdtest("-n 6 -I 2 -F -C -z 1 -b 2", np=1).ok()
    tests = sorted(p.name for p in mdtest.dir.iterdir())
    assert tests == ["test-dir.0-%d" % i for i in range(3)]
    assert len(items(mdtest)) == 3 * 3 * 2 and "1 tasks, 18 files\n" in run.stdout
    mdtest("-n 6 -I 2 -F -T -E -r -z 1 -b 2", np=1).ok()
    mdtest.empty()


def test_a_tree_is_made_parents_first_and_removed_children_first(mdtest):
    """The run of strace would show it; the names at verbosity 3 do, too."""
    run = mdtest("-C -r -F -b 3 -z 2 -I 1 -V=3", np=1).ok()
    made = re.findall(r"create\): curr_item is '\S*file\.mdtest\.0\.(\d+)'", run.stdout)
    assert [int(n) for n in made] == [0, 1, 4, 5, 6, 2, 7, 8, 9, 3, 10, 11, 12]
    mdtest.empty()


def test_a_random_order_visits_everything_once_and_differs(mdtest):
    run = mdtest("-n 50 -F -R --random-seed=5 -V=3", np=1).ok()
    assert "random seed: 5\n" in run.stdout
    for word in ("stat", "read"):
        seen = [int(n) for n in re.findall(r"mdtest_%s file: \S+\.(\d+)" % word, run.stdout)]
        assert sorted(seen) == list(range(50)) and seen != list(range(50))


def test_a_deep_tree_needs_no_more_room_than_a_path(mdtest):
    mdtest("-n 101 -F -b 1 -z 100", np=1).ok()
    mdtest.empty()
    mdtest("-n 101 -F -b 1 -z 100000", np=1).fails(1, "-z")


def test_a_directory_without_a_name_is_refused(mdtest):
    """As from a variable that is not set."""
    mdtest("-n 1 -d ''", np=1).fails(1, "-d")


# ---- content ----

def content(mdtest, rank, item):
    return (mdtest.dir / TREE / ("file.mdtest.%d.%d" % (rank, item))).read_bytes()


def words(data):
    return struct.unpack("<%dQ" % (len(data) // 8), data[:len(data) // 8 * 8])


def test_timestamp_data_are_rank_and_counter(mdtest):
    mdtest("-n 2 -F -C -w 8205 -G 1000").ok()
    data = content(mdtest, 1, 0)
    assert words(data) == tuple((1 << 32) | (1000 + j) for j in range(1025))
    assert data[-5:] == bytes([8, 9, 10, 11, 12])
    assert content(mdtest, 1, 1) == data


def test_offset_data_have_a_stamp_in_each_block(mdtest):
    mdtest("-n 2 -F -C -w 8205 -G 1000 --dataPacketType=offset").ok()
    w = words(content(mdtest, 1, 1))
    assert [w[0], w[512], w[1024]] == [(1 << 32) | k for k in (1, 2, 3)] and w[1] == (1 << 32) | 1001


def test_random_data_are_those_of_the_original(mdtest):
    mdtest("-n 2 -F -C -w 8205 -G 1000 --dataPacketType=r", np=1).ok()
    assert words(content(mdtest, 0, 0))[:3] == (0x0bfacae9fe2f03c5, 0x092d5a45bde36078, 0x194acc5707806c0f)


def test_incompressible_data_do_not_repeat(mdtest):
    mdtest("-n 3 -F -C -w 8192 -G 1000 --dataPacketType=i").ok()
    seen = [w for r in (0, 1) for i in range(3) for w in words(content(mdtest, r, i))]
    assert len(set(seen)) == len(seen)


@pytest.mark.parametrize("packet", "toir")
@pytest.mark.parametrize("read", [8205, 8000, 4999, 8, 3, 1])
def test_what_was_written_is_found_right_and_nothing_else(mdtest, packet, read):
    common = "-n 3 -F -N 1 -w 8205 --dataPacketType=%s " % packet
    mdtest(common + "-C -G 1000 --verify-write").ok()
    mdtest(common + "-E -X -e %d -G 1000" % read).ok()
    path = mdtest.dir / TREE / "file.mdtest.1.2"
    data = bytearray(path.read_bytes())
    data[read - 1] ^= 4
    path.write_bytes(data)
    run = mdtest(common + "-E -X -e %d -G 1000" % read).ok(4)
    assert "ERROR: verifying the data on read (1 errors)! Take the performance values with care!" in run.stdout
    assert any(str(path) in note and "byte %d" % (read - 1) in note for note in run.notes), run


def test_shared_files_can_be_verified(mdtest):
    mdtest("-S -n 3 -w 80 -e 80 -X", np=3).ok()


def test_a_negative_seed_is_a_seed(mdtest):
    mdtest("-n 1 -F -C -w 16 -G -7", np=1).ok()
    assert words(content(mdtest, 0, 0)) == (2 ** 64 - 7, 2 ** 64 - 6)
    assert hashlib.sha256(content(mdtest, 0, 0)).hexdigest()


@pytest.mark.parametrize("api", ["AIO", "MPIIO", "HDF5", "MMAP"])
def test_other_backends_write_and_read_back(mdtest, need_backend, api):
    need_backend(api)
    run = mdtest("-a %s -F -n 5 -w 4096 -e 4096 -X" % api).ok()
    assert len(run.measured()) == 6
    mdtest.empty()
    mdtest("-a %s -F -n 5" % api).ok()
    mdtest("-a %s -D -n 5 -C -T -r" % api).ok()
