# SPDX-License-Identifier: BSD-3-Clause
"""How the tests read a timeline: the file of records without NumPy, and the document beside it held against its schema."""
import ast
import collections
import json
import struct

import conftest

FIELDS = "begin end offset bytes rank repetition phase operation error number chosen".split()
TYPES = ["<i8"] * 4 + ["<u4"] * 2 + ["<u2"] * 2 + ["<i4"] + ["<i8"] * 2
Record = collections.namedtuple("Record", FIELDS, defaults=(None, 0))
# All operations; some of them, with their numbers and why they are there.
FORMS = {9: struct.Struct("<qqqqIIHHi"), 11: struct.Struct("<qqqqIIHHiqq")}
SAMPLE, SLOWEST, NEIGHBOUR, FAILED = 1, 2, 4, 8


def read_records(path):
    data = path.read_bytes()
    assert data[:8] == b"\x93NUMPY\x01\x00", data[:8]
    length, = struct.unpack("<H", data[8:10])
    head = ast.literal_eval(data[10:10 + length].decode("ascii"))
    assert (10 + length) % 64 == 0 and data[10 + length - 1:10 + length] == b"\n"
    fields = len(head["descr"])
    assert head["descr"] == list(zip(FIELDS, TYPES))[:fields] and not head["fortran_order"]
    n, = head["shape"]
    body = data[10 + length:]
    assert len(body) == n * FORMS[fields].size, (len(body), n)
    return [Record(*r) for r in FORMS[fields].iter_unpack(body)]


def hosts_of_ranks(hosts):
    """The number of its host for each rank; each rank has one, and hosts are in the order of their first ranks."""
    of = {}
    for number, host in enumerate(hosts):
        mine = []
        for part in host["ranks"].split(","):
            bounds, _, step = part.partition(":")
            first, _, last = bounds.partition("-")
            mine += range(int(first), int(last or first) + 1, int(step or 1))
        assert mine == sorted(set(mine)) and len(mine) == host["tasks"] and not of.keys() & set(mine), hosts
        of.update(dict.fromkeys(mine, number))
    assert sorted(of) == list(range(len(of))) and list(dict.fromkeys(of[r] for r in sorted(of))) == list(range(len(hosts))), hosts
    return [of[r] for r in sorted(of)]


class Timeline:
    """Both files of a run, checked in every way that holds for each of them."""

    def __init__(self, path, complete=True):
        self.records = read_records(path)
        self.doc = json.loads(path.with_suffix(".timeline.json").read_text())
        if not complete:  # of a killed run, the names may be those of fewer phases
            self.records = self.records[:self.doc["records"]]
        self.check(complete)

    def check(self, complete):
        doc = self.doc
        try:
            import jsonschema
            schema = json.loads((conftest.SOURCE / "doc" / "timeline.schema.json").read_text())
            jsonschema.Draft202012Validator(schema).validate(doc)
        except ImportError:
            pass
        assert doc["records"] == len(self.records) == sum(p["records"] for p in doc["phases"]), doc
        assert doc["seen"] == sum(p["seen"] for p in doc["phases"])
        if "chosen" not in doc:
            assert all(p["seen"] == p["records"] + p["dropped"] for p in doc["phases"]), doc
        assert doc["complete"] is complete and doc["dropped"] == sum(p["dropped"] for p in doc["phases"])
        assert [p["index"] for p in doc["phases"]] == list(range(len(doc["phases"])))
        keys = [(r.phase, r.rank, r.begin) for r in self.records]
        assert keys == sorted(keys), "records are not ordered by phase, rank, begin"
        for r in self.records:
            phase = doc["phases"][r.phase]
            assert r.repetition == phase.get("repetition", r.repetition) and r.rank < doc["tests"][phase["test"]]["tasks"]
            assert phase["begin"] <= r.begin <= r.end <= phase["end"], (r, phase)
            assert r.operation < len(doc["operations"]) and r.bytes >= 0
            assert doc["operations"][r.operation]["moves_bytes"] or r.bytes == 0, r
        for test in doc["tests"]:
            assert len(hosts_of_ranks(test["hosts"])) == test["tasks"]

    def of(self, phase, rank=None):
        return [r for r in self.records if r.phase == phase and (rank is None or r.rank == rank)]

    def adds_up(self):
        """Of every phase in which nothing was dropped, all bytes are in the records."""
        for phase in self.doc["phases"]:
            if phase["dropped"] == 0:
                assert sum(r.bytes for r in self.of(phase["index"])) == phase["bytes"], phase
        return self

    def keys(self):
        return [p["key"] for p in self.doc["phases"]]
