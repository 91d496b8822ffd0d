# SPDX-License-Identifier: BSD-3-Clause
"""The parallel find of weir-io500 (find.c) beside GNU find, on a tree with all that a tree may have."""
import collections
import os
import pathlib
import re
import subprocess
import tempfile

import pytest

import conftest
from conftest import BUILD, LAUNCHER, program_env

FIND = BUILD / "testing" / "system" / "find"
SIZE = 3901


def put(fd, name, size=0):
    out = os.open(name, os.O_CREAT | os.O_WRONLY, dir_fd=fd)
    os.ftruncate(out, size)
    os.close(out)


def make_tree(top):
    """Odd names, links of all kinds, a wide directory, a deep one whose paths are longer than PATH_MAX."""
    opened = [os.open(top, os.O_RDONLY)]
    try:
        fill_tree(opened)
    finally:
        for fd in opened:  # and no other: some are of fixtures
            os.close(fd)


def fill_tree(opened):
    """The tree below the first descriptor; those of its directories follow it."""
    def sub(fd, name):
        os.mkdir(name, dir_fd=fd)
        opened.append(os.open(name, os.O_RDONLY, dir_fd=fd))
        return opened[-1]
    fd = opened[0]
    odd = sub(fd, b"a")
    names = [b".01", b"x\n01y", b"\xff01\xfe", b" 01 ", b"-01", b"[01]*?\\", b"0" * 126 + b"01" + b"9" * 127, b"10", b"01unstatable"]
    for number, name in enumerate(names):
        put(odd, name, SIZE + number % 2)
    for to, name in (b"a", b"l01"), (b"..", b"up01"), (b"nowhere", b"d01"), (b"x" * SIZE, b"long01"):
        os.symlink(to, name, dir_fd=odd)
    os.mkfifo(b"p01", dir_fd=odd)
    os.link(b".01", b"hard01", src_dir_fd=odd, dst_dir_fd=odd)
    put(sub(odd, b"01unreadable"), b"01", SIZE)
    put(sub(odd, b"01gone"), b"01", SIZE)
    wide = sub(fd, b"wide")
    for i in range(2000):
        put(wide, b"file.%06d" % i, SIZE if i % 7 == 0 else 5)
    many = sub(fd, b"many")
    for i in range(200):
        put(sub(many, b"d%03d" % i), b"01", SIZE)
    deep = fd
    for i in range(30):
        deep = sub(deep, b"%02d" % i + b"z" * 240)
        put(deep, b"f01", SIZE)
        for name in b"g0", b"g1":
            put(sub(deep, name), b"01", SIZE)


def make_large(factory):
    """10^5 entries, half of them in one directory: in memory, where they take half a second."""
    shm = pathlib.Path("/dev/shm")
    is_room = os.access(shm, os.W_OK) and os.statvfs(shm).f_favail > 10**6
    top = pathlib.Path(tempfile.mkdtemp(dir=shm)) if is_room else factory.mktemp("large")
    for directory, files in ("one", 50000), ("two", 25000), ("two/three", 25000):
        (top / directory).mkdir()
        fd = os.open(top / directory, os.O_RDONLY)
        for i in range(files):
            os.close(os.open("file.mdtest.%d" % i, os.O_CREAT | os.O_WRONLY, dir_fd=fd))
        os.close(fd)
    return top


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """(directory, file that is older than half of the entries): times around it, one ns before and after."""
    where = tmp_path_factory.mktemp("find")
    top = where / "tree01"
    top.mkdir()
    make_tree(top)
    stamp = where / "stamp"
    stamp.write_text("")
    at = 1700000000123456789
    os.utime(stamp, ns=(at, at))
    for i in range(2000):
        os.utime(top / "wide" / ("file.%06d" % i), ns=(at, at + (i % 3 - 1)))
    (where / "link").symlink_to(top / "many")
    (where / "nothing01").mkdir()
    large = make_large(tmp_path_factory)
    (where / "large").symlink_to(large)
    yield top, stamp
    subprocess.run(["rm", "-rf", str(where), str(large)], check=True)  # Python cannot go so deep


CONDITIONS = {
    "all": [],
    "name": ["name", "*01*"],
    "size": ["size", str(SIZE)],
    "time": ["newer", "STAMP"],
    "three": ["newer", "STAMP", "size", str(SIZE), "name", "*01*"],
    "one waits": ["size", str(SIZE), "queue", "1"],
    "next rank": ["size", str(SIZE), "next", "1"],
    "kinds unknown": ["name", "*0[0-4]*", "unknown", "1"],
    "kinds unknown, one waits": ["unknown", "1", "queue", "1"],
    "pattern": ["name", ".?[1]"],
    "10^5 files": ["in", "WHERE/large", "name", "*01*", "size", "0"],
    "a link": ["in", "WHERE/link", "name", "*1"],
    "slashes": ["in", "WHERE/nothing01//", "name", "*01"],
    "slow": ["size", str(SIZE), "name", "*[0-4e]", "slow", "1000"],
}
COUNT = re.compile(r"found (\d+) total (\d+) directories (\d+) vanished (\d+) errors (\d+) seconds [\d.]+")


def words_of(conditions, stamp):
    return [word.replace("WHERE", str(stamp.parent)).replace("STAMP", str(stamp)) for word in conditions]


def run_finds(ranks, top, stamp, where):
    """{name of CONDITIONS: (its counts, its problem, a set of paths, ranks that found some)}"""
    words = []
    for conditions in CONDITIONS.values():
        words += ["+", *words_of(conditions, stamp)]
    command = [*LAUNCHER, "-n", str(ranks), str(FIND), str(top), str(where / "list"), *words[1:]]
    done = subprocess.run(command, capture_output=True, text=True, env=program_env(), timeout=120 * conftest.PATIENCE)
    assert done.returncode == 0, done.stdout + done.stderr
    lines, found = done.stdout.splitlines(), {}
    for i, name in enumerate(CONDITIONS):
        lists = [(where / ("list.%d.%d" % (i, rank))).read_bytes().split(b"\0")[:-1] for rank in range(ranks)]
        counts = [int(n) for n in COUNT.fullmatch(lines[2 * i]).groups()]
        found[name] = counts, lines[2 * i + 1], [path for one in lists for path in one], sum(map(bool, lists))
    return found


@pytest.fixture(scope="module", params=[1, 4])
def finds(request, tree, tmp_path_factory):
    return run_finds(request.param, *tree, tmp_path_factory.mktemp("lists")), request.param


def gnu(top, stamp, conditions, *more):
    """Paths that GNU find prints, without those that find.c makes fail: what is in them, and their sizes and times."""
    words = words_of(conditions, stamp)
    top = words[1] if "in" in words else top
    options = ["-not", "-path", "*unreadable/*", "-not", "-path", "*gone/*"]
    for key, value in zip(words[::2], words[1::2]):
        if key in ("name", "newer", "size"):
            options += ["-" + key, value + ("c" if key == "size" else "")]
        if key in ("newer", "size"):
            options += ["-not", "-name", "*unstatable", "-not", "-name", "*gone"]
    out = subprocess.run(["find", "-H", str(top), *options, *more, "-print0"], capture_output=True, check=True, env={**os.environ, "LC_ALL": "C"})
    return out.stdout.split(b"\0")[:-1]


def test_it_finds_exactly_what_gnu_find_finds(tree, finds):
    found, _ = finds
    for name, conditions in CONDITIONS.items():
        counts, _, paths, _ = found[name]
        place = conditions[:2] if "in" in conditions else []
        expected, total, directories = gnu(*tree, conditions), len(gnu(*tree, place)), len(gnu(*tree, place, "-type", "d"))
        assert collections.Counter(paths) == collections.Counter(expected), name
        assert counts[:3] == [len(expected), total, directories - (name.startswith("kinds unknown"))], name
    assert found["10^5 files"][0][1:3] == [100004, 4] and found["a link"][0][0] > 20 and found["slashes"][0][:3] == [1, 1, 1]
    assert any(len(path) > 4096 for path in found["three"][2])


def test_what_cannot_be_read_is_counted_and_the_first_is_named(finds):
    found, _ = finds
    for name in (name for name, conditions in CONDITIONS.items() if "in" not in conditions):
        counts, problem, _, _ = found[name]
        looks = not {"size", "newer"}.isdisjoint(CONDITIONS[name])
        assert counts[3:] == [1 + looks, 1 + (looks or "unknown" in CONDITIONS[name])], name
        assert re.match(r"rank \d on \S+: (open directory|stat) '.*/a/01(unreadable|unstatable)': (Permission denied|Input/output error)", problem), name


def test_a_wide_directory_is_looked_at_by_all_ranks(tree, finds, tmp_path):
    """Two seconds of looks; a rank that gets no processor for so long has found nothing."""
    found, ranks = finds
    for attempt in "ab":
        if found["slow"][3] == ranks:
            break
        (tmp_path / attempt).mkdir()
        found = run_finds(ranks, *tree, tmp_path / attempt)
    assert found["slow"][3] == ranks


def run_one(ranks, *words, **options):
    return subprocess.run([*LAUNCHER, "-n", str(ranks), str(FIND), *map(str, words)], capture_output=True, text=True,
                          env=program_env(), timeout=60 * conftest.PATIENCE, **options)


def test_a_rank_that_stops_or_cannot_begin_ends_all(tree, tmp_path):
    top, _ = tree
    done = run_one(3, top, tmp_path / "list", "slow", "20000", "size", "1", "stop", "2", "+", "newer", tmp_path / "none")
    stopped, _, none = done.stdout.splitlines()[:3]
    assert re.fullmatch(r"error rank 1 on \S+: interrupted while finding files in '%s'" % re.escape(str(top)), stopped)
    assert re.fullmatch(r"error rank 0 on \S+: stat '.*/none', the file to compare with: No such file or directory", none)
    assert done.returncode == 3
    done = run_one(2, tmp_path / "no directory", tmp_path / "list")
    assert "open directory '%s/no directory': No such file or directory" % tmp_path in done.stdout and done.returncode == 3
