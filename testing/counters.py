# SPDX-License-Identifier: BSD-3-Clause
"""The counters of gcc --coverage: read them, add them up, and write the sums. gcov is too slow to be run for each test.

A file of counters (.gcda) has for each function of an object its number and how often each of its arcs was taken; the notes that the
compiler wrote beside the object (.gcno) have the name and the source of the function. gcc 12 and later."""
import os
import pathlib
import shutil
import struct

FUNCTION, ARCS, SUMMARY = 0x01000000, 0x01A10000, 0xA1000000


class Unknown(Exception):
    """A file that this module cannot read."""


def begin_of(data, magic, path):
    """Check the first words; return the stamp, by which notes and counters belong to each other."""
    if len(data) < 16 or data[:4] != magic:
        raise Unknown("%s: not a file of gcov, or of a machine that is big-endian" % path)
    version = data[4:8][::-1].decode("ascii", "replace")
    if version[0] < "B" or (version[0] == "B" and version[1] < "2"):
        raise Unknown("%s: coverage needs gcc 12 or later, and this is version '%s'" % (path, version))
    return struct.unpack_from("<I", data, 8)[0]


def text_at(data, at):
    length = struct.unpack_from("<I", data, at)[0]
    return data[at + 4:at + 4 + length].split(b"\0")[0].decode(), at + 4 + length


def read_notes(path):
    """{number: (source, name)} of the functions of an object"""
    data = pathlib.Path(path).read_bytes()
    begin_of(data, b"oncg", path)
    _, at = text_at(data, 16)
    at += 4  # are there unexecuted blocks?
    found = {}
    while at + 8 <= len(data):
        tag, length = struct.unpack_from("<Ii", data, at)
        if tag == FUNCTION:
            number = struct.unpack_from("<I", data, at + 8)[0]
            name, after = text_at(data, at + 20)
            source, _ = text_at(data, after + 4)
            found[number] = (source, name)
        elif tag == 0:
            break
        at += 8 + length
    return found


def read_counters(path):
    """{number: (checksums, [count, ...])} of an object; [] is a function of which no arc was taken, with its number of arcs"""
    data = pathlib.Path(path).read_bytes()
    stamp = begin_of(data, b"adcg", path)
    at, number, found = 16, None, {}
    while at + 8 <= len(data):
        tag, length = struct.unpack_from("<Ii", data, at)
        at += 8
        if tag == FUNCTION and length:
            number, *sums = struct.unpack_from("<III", data, at)
        elif tag == FUNCTION:
            number = None
        elif tag == ARCS and number is not None:
            arcs = abs(length) // 8
            found[number] = (tuple(sums), struct.unpack_from("<%dQ" % arcs, data, at) if length > 0 else (0,) * arcs)
        at += max(length, 0)
    return stamp, data[:16], found


class Sums:
    """Counters of many runs of the objects of a build. Paths are relative to the build."""

    def __init__(self, build):
        self.build, self.notes = pathlib.Path(build), {}
        self.total = {}  # object: (first words, {number: [checksums, counts]})

    def names(self, path):
        if path not in self.notes:
            self.notes[path] = read_notes((self.build / path).with_suffix(".gcno"))
        return self.notes[path]

    def add(self, path, counters):
        """Add the counters of one object. Returns the functions that were entered, as (source, name)."""
        _, first, found = counters
        known = self.total.setdefault(path, (first, {}))[1]
        entered = set()
        for number, (checksums, counts) in found.items():
            if number not in known:
                known[number] = [checksums, counts]
            elif any(counts):
                known[number][1] = tuple(a + b for a, b in zip(known[number][1], counts))
            if any(counts):
                entered.add(self.names(path).get(number))
        return entered - {None}

    def take(self, folder):
        """Add all counters below a folder, as GCOV_PREFIX leaves them, or of the build itself, and remove them. Returns the
        functions that were entered."""
        folder = pathlib.Path(folder)
        inside = folder if folder == self.build else folder / str(self.build).lstrip("/")
        entered = set()
        for path in sorted(inside.rglob("*.gcda")):
            relative = path.relative_to(inside)
            if (self.build / relative).with_suffix(".gcno").exists():
                entered |= self.add(str(relative), read_counters(path))
            path.unlink()
        if folder != self.build:
            shutil.rmtree(folder, ignore_errors=True)
        return entered

    def merge(self, other):
        for path, (first, known) in other.items():
            self.add(path, (None, first, {n: (c, v) for n, (c, v) in known.items()}))

    def write(self):
        """The sums as files of counters in the build, for gcov. Returns their paths."""
        for path, (first, known) in self.total.items():
            out = [first, struct.pack("<IiII", SUMMARY, 8, 1, 0)]
            for number, (checksums, counts) in known.items():
                out.append(struct.pack("<IiIII", FUNCTION, 12, number, *checksums))
                out.append(struct.pack("<Ii%dQ" % len(counts), ARCS, 8 * len(counts), *counts))
            out.append(struct.pack("<I", 0))
            (self.build / path).write_bytes(b"".join(out))
        return sorted(self.total)


def name_of(path, source, build):
    """The name of a file of src from the top of the sources, or of the build; None for another file"""
    names = (os.path.relpath(path, top) for top in (source, build))
    return next((name for name in names if name.startswith("src/")), None)


def of_src(entered, source, build):
    """{file of src: [function, ...]} of what was entered"""
    found = {}
    for path, function in entered:
        name = name_of(os.path.normpath(os.path.join(build, path)), source, build)
        if name:
            found.setdefault(name, set()).add(function)
    return {name: sorted(functions) for name, functions in found.items()}
