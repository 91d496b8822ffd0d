# SPDX-License-Identifier: BSD-3-Clause
"""mib's text profiles: row k has the time at which call k of each task returned; a column is a task. Also gzip."""
import gzip
import os
import re
import zlib

import numpy as np

from .model import RECORD, Run
from .refusal import Refusal, reason

OPERATIONS = ("write", "read")
NAMES = ("%s.profile", "profile.%s", "%s.syscall.aves")  # of mib now, and of older ones
UNITS = {
    "": 1,
    "b": 1,
    "bytes": 1,
    "k": 2**10,
    "kib": 2**10,
    "m": 2**20,
    "mib": 2**20,
    "g": 2**30,
    "gib": 2**30,
}
WITHOUT_SIZE = (
    "the size of a call is not in a profile: give --call-size=SIZE or --log=FILE for rates in bytes"
)
LOG_SIZE = re.compile(r"^call_size[ \t]*=[ \t]*(\d+)[ \t]*(\w*)", re.M)
LOG_LINE = re.compile(
    r"^(\w{3} \w{3} [ \d]\d [\d:]{8} \d{4}) +(\d+) +(\d+)([kM]) +\d+ +\d+ +([\d.]+) +([\d.]+)$", re.M
)


def parse_size(text):
    """Bytes of 1m, 64k, 512, '4 MiB'."""
    found = re.fullmatch(r"\s*(\d+)\s*([a-zA-Z]*)\s*", text)
    if not found or found.group(2).lower() not in UNITS or int(found.group(1)) == 0:
        raise Refusal("'%s' is not a size: write bytes, or a number with k, m or g" % text, 2)
    return int(found.group(1)) * UNITS[found.group(2).lower()]


def files_in(folder):
    """Those of mib's log directory: write, read, log (what mib printed) and lwatch (a series of the servers)."""
    wanted = {o: [name % o + end for name in NAMES for end in ("", ".gz")] for o in OPERATIONS}
    wanted.update(log=["log"], lwatch=["lwatch"])
    found = {}
    for key, names in wanted.items():
        there = [name for name in names if os.path.exists(os.path.join(folder, name))]
        found.update({key: os.path.join(folder, there[0])} if there else {})
    return found


def read_folder(folder, call_size):
    """The run in mib's log directory."""
    files = files_in(folder)
    paths = [files[operation] for operation in OPERATIONS if operation in files]
    if not paths:
        raise Refusal("%s: a directory without write.profile and read.profile" % folder)
    return read(paths, call_size, files.get("log"))


def read(paths, call_size=None, log=None):
    """One run of one or two tables. call_size in bytes; else from the log; without both only calls are counted."""
    said = read_log(log) if log else {}
    size = call_size or said.get("size")
    head = {
        "program": "mib",
        "tests": [{"index": 0, "parameters": {}}],
        "phases": [],
        "operations": [],
        "command": [],
    }
    parts = []
    for index, path in enumerate(sorted(paths, key=operation_of, reverse=True)):
        table = read_table(path)
        key = operation_of(path)
        part = to_records(table, index, size or 0)
        parts.append(part)
        head["phases"].append(
            {
                "index": index,
                "test": 0,
                "repetition": 0,
                "key": key,
                "title": key,
                "begin": int(table[0].min() * 1e9),
                "end": int(part["end"].max() if part.size else 0),
                "rate": said[key] * 2**20 if said.get(key) else None,
                "rate_unit": "bytes" if size else "calls",
            }
        )
        head["operations"].append({"index": index, "key": key, "title": key, "moves_bytes": bool(size)})
        head["tests"][0]["tasks"] = table.shape[1]
    if size:
        head["tests"][0]["parameters"]["call-size"] = size
    notes = [] if size else [WITHOUT_SIZE]
    return Run(" and ".join(paths), head, np.concatenate(parts), notes)


def operation_of(path):
    """write or read, from the name: readers.write has writes."""
    name = os.path.basename(path)
    parts = name.split(".")
    return next((o for o in OPERATIONS if o in parts), "read" if "read" in name else "write")


def read_log(path):
    """Call size and reported rates from what mib printed; the last match counts."""
    try:
        with open(path, encoding="utf-8", errors="replace") as f:
            text = f.read()
    except OSError as e:
        raise Refusal("%s: %s" % (path, reason(e)))
    found = {}
    for line in LOG_LINE.finditer(text):
        found.update(
            size=parse_size(line.group(3) + line.group(4).lower()) if int(line.group(3)) else None,
            write=float(line.group(5)) or None,
            read=float(line.group(6)) or None,
        )
    for line in LOG_SIZE.finditer(text):
        found["size"] = parse_size(line.group(1) + line.group(2)) if int(line.group(1)) else None
    if not found.get("size"):
        raise Refusal(
            "%s: names no size of a call: neither 'call_size = ...' nor a result line of mib" % path
        )
    return found


def read_bytes(path):
    try:
        with open(path, "rb") as f:
            data = f.read()
        return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    except EOFError:
        raise Refusal("%s: the compressed file is cut off" % path)
    except zlib.error as e:
        raise Refusal("%s: not a compressed file: %s" % (path, e))
    except OSError as e:
        raise Refusal("%s: %s" % (path, reason(e)))


def read_table(path):
    """Rows x tasks in seconds; row 0 is the start. 0 below it: the task had ended."""
    data = read_bytes(path)
    lines = data.decode("utf-8", "replace").splitlines()
    if not lines:
        raise Refusal("%s: is empty" % path)
    width = len(lines[0].split())
    values = np.array(data.split(), dtype="S")
    try:
        numbers = values.astype(np.float64)
    except ValueError:
        numbers = None
    if numbers is None or width == 0 or not np.all(np.isfinite(numbers)) or values.size != width * len(lines):
        raise Refusal(
            "%s: not a timeline, a result or a profile of mib: %s" % (path, first_fault(lines, width))
        )
    table = numbers.reshape(len(lines), width)
    if table.shape[0] < 2:
        raise Refusal("%s: has no call: only the row of the start" % path)
    return table


def first_fault(lines, width):
    """Where the table stops being one."""
    for number, line in enumerate(lines, 1):
        cells = line.split()
        for cell in cells:
            try:
                good = np.isfinite(float(cell))
            except ValueError:
                good = False
            if not good:
                return "line %d: '%s' is not a time in seconds" % (number, cell[:40])
        if len(cells) != width:
            return "line %d has %d columns, line 1 has %d" % (number, len(cells), width)
    return "line 1 has no column"


def to_records(table, phase, size):
    """A call begins when the one before it returned: mib keeps no other begin."""
    done = table[1:]
    reached = (done > 0).T  # rank by rank
    records = np.zeros(int(reached.sum()), RECORD)
    ns = np.round(table.T * 1e9).astype(np.int64)
    records["begin"] = ns[:, :-1][reached]
    records["end"] = np.maximum(ns[:, 1:][reached], records["begin"])
    records["rank"] = np.nonzero(reached)[0]
    records["phase"] = records["operation"] = phase
    records["offset"] = -1
    records["bytes"] = size
    return records
