# SPDX-License-Identifier: BSD-3-Clause
"""Timelines of the engine: FILE.npy has a record for each call, FILE.timeline.json the names. doc/timeline.md"""
import os

import numpy as np

from . import jsonfile
from .model import PICKED, RECORD, Run
from .refusal import Refusal, reason

SCHEMAS = ("weir-timeline-2", "weir-timeline-1")  # the hosts of a test have another form in the older one
DOCUMENT = (".timeline.json", ".json")


def read(path):
    """The run in FILE.npy. The records stay on disk: what a picture needs is mapped."""
    records = map_records(path)
    names = names_of(path)
    head = jsonfile.read(names)
    check_head(names, head)
    late = late_records(head, records)
    records = records[: records.size - late]
    check_records(path, head, records)
    run = Run(path, head, records, remarks(head, records, late))
    if run.chosen.picked != (records.dtype == PICKED):
        raise Refusal("%s: its records are not those of what was chosen: the two files do not belong together" % path)
    words = run.chosen.words()
    if words:
        scaled = ": rates and counts are scaled" if run.chosen.sample else ""
        run.notes.insert(0, "holds %s%s" % (", ".join(words), scaled))
    return run


def documents_of(path):
    """The names that the document of FILE.npy may have."""
    return [os.path.splitext(path)[0] + end for end in DOCUMENT]


def names_of(path):
    """The document of FILE.npy. That of an older weir is FILE.json, which may also be a result."""
    names = documents_of(path)
    for name in names:
        if os.path.exists(name):
            return name
    raise Refusal("%s: its document %s, which has the names of the phases, is missing" % (path, names[0]))


def records_of(names):
    """FILE.npy of its document."""
    return next(names[: -len(end)] for end in DOCUMENT + ("",) if names.endswith(end)) + ".npy"


def map_records(path):
    """The records, read-only, after the checks that numpy leaves to its caller."""
    try:
        with open(path, "rb") as f:
            shape, dtype = read_header(path, f)
            begin = f.tell()
            size = os.fstat(f.fileno()).st_size
    except OSError as e:
        raise Refusal("%s: %s" % (path, reason(e)))
    if dtype not in (RECORD, PICKED):
        raise Refusal("%s: not a timeline of weir: its records are %s" % (path, dtype))
    if len(shape) != 1:
        raise Refusal("%s: not a timeline of weir: it has %d dimensions, not 1" % (path, len(shape)))
    if type(shape[0]) is not int or shape[0] < 0:  # numpy takes negative numbers and True for lengths
        raise Refusal("%s: not a NumPy file, or damaged: %s is no number of records" % (path, shape[0]))
    wanted = begin + shape[0] * dtype.itemsize
    if size < wanted:
        raise Refusal(
            "%s: cut off: %d records need %d bytes, the file has %d" % (path, shape[0], wanted, size)
        )
    if shape[0] == 0:
        return np.zeros(0, dtype)
    return np.memmap(path, dtype, "r", begin, shape)


def read_header(path, f):
    try:
        version = np.lib.format.read_magic(f)
        if version != (1, 0):
            raise ValueError("format %d.%d instead of 1.0" % version)
        shape, _, dtype = np.lib.format.read_array_header_1_0(f)
    except OSError:
        raise
    except Exception as e:  # numpy's parser has no closed set of errors for bytes that are not a header
        raise Refusal("%s: not a NumPy file, or cut off: %s" % (path, e))
    return shape, dtype


def check_head(path, head):
    schema = head.get("schema")
    if schema not in SCHEMAS:
        known = " or ".join(repr(name) for name in SCHEMAS)
        raise Refusal("%s: not the document of a timeline: schema is %r, not %s" % (path, schema, known))
    for key, kind, wanted in (
        ("tests", "test", ("index",)),
        ("phases", "phase", ("index", "test", "begin", "end")),
        ("operations", "operation", ("index",)),
    ):
        jsonfile.member(path, head, key, list)
        for place, row in enumerate(jsonfile.rows(path, head, key)):
            where = "%s: %s %d" % (path, kind, place)
            for name in wanted:
                jsonfile.member(where, row, name, int)
            if key != "tests" and row["index"] != place:
                raise Refusal("%s: has the index %d instead of %d" % (where, row["index"], place))
            if key != "tests":
                jsonfile.member(where, row, "key", str)
    there = [test["index"] for test in head["tests"]]
    for place, phase in enumerate(head["phases"]):
        if phase["test"] not in there:
            raise Refusal("%s: phase %d: there is no test %d" % (path, place, phase["test"]))


def late_records(head, records):
    """How many came after the names were written last. The names follow the records, at most a second later
    than a phase: a run that was killed in between has records without them."""
    named = jsonfile.number(head.get("records"))
    if head.get("complete") is not False or named is None or not 0 <= named < records.size:
        return 0
    return int(records.size - named)


def check_records(path, head, records):
    """Indices have to name something, and the order is what the pictures rely on."""
    for field, names in (("phase", head["phases"]), ("operation", head["operations"])):
        column = np.ascontiguousarray(records[field])
        if column.size and column.max() >= len(names):
            raise Refusal(
                "%s: a record has %s %d, and the JSON file names only %d: the two files do not belong together"
                % (path, field, column.max(), len(names))
            )
        if field == "phase" and np.any(column[1:] < column[:-1]):
            raise Refusal("%s: its records are not in the order of phases" % path)
    if records.size and np.any(records["end"] < records["begin"]):
        raise Refusal("%s: a record ends before it begins" % path)


def remarks(head, records, late):
    """What the reader of a picture must know about the timeline."""
    said = []
    if late:
        said.append("%d calls of later phases are left out: the run was killed before it named these" % late)
    dropped = jsonfile.number(head.get("dropped"))
    if dropped:
        said.append("%d calls are not in the timeline: its limit was reached" % dropped)
    failed = int(np.count_nonzero(records["error"]))
    if failed:
        said.append("%d calls ended with an error" % failed)
    if head.get("complete") is False:
        said.append("the run did not end in order: the timeline holds the phases that were finished")
    return said
