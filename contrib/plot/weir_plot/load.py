# SPDX-License-Identifier: BSD-3-Clause
"""Which kind of file is it? Runs come from timelines and profiles, results from JSON."""
import csv
import os

from . import jsonfile, profile, timeline
from .refusal import BAD_USAGE, Refusal
from .result import INCOMPLETE, Result

# Tables of results: how they begin, and the list of a JSON result that a row of them is in.
TABLES = {
    b"test,operation,call,iter,begin,": lambda row: "intervalCalls" if row["call"] else "intervals",
    b"test,iter,phase,operation,percent,": lambda row: "load",
}
TEXTS = "operation", "call", "phase", "unit", "arrivals"


def kind_of(path):
    """timeline, names (its JSON file), result, profile or folder."""
    if os.path.isdir(path):
        return "folder"
    start = start_of(path)
    if not start:
        raise Refusal("%s: is empty" % path)
    if start[:6] == b"\x93NUMPY"[: len(start)]:
        return "timeline"
    if start.lstrip()[:1] == b"{":
        return "names" if jsonfile.read(path).get("schema") in timeline.SCHEMAS else "result"
    if start.startswith((*TABLES, jsonfile.LINES.encode())):
        return "result"
    if path.endswith(".npy"):
        raise Refusal("%s: not a NumPy file: it begins with other bytes" % path)
    return "profile"


def start_of(path):
    try:
        with open(path, "rb") as f:
            return f.read(64)
    except OSError as e:
        raise jsonfile.missing(path, e)


def table(path, list_of):
    """The members of a JSON result that a table has."""
    tests = {}
    try:
        with open(path, encoding="utf-8", newline="") as f:
            for row in csv.DictReader(f):
                values = {key: text if key in TEXTS else float(text) for key, text in row.items() if text}
                tests.setdefault(values.get("test", 0), {}).setdefault(list_of(row), []).append(values)
    except (OSError, TypeError, ValueError, csv.Error) as e:  # UnicodeDecodeError is a ValueError
        raise Refusal("%s: not a table of results, or cut off: %s" % (path, e))
    return {"tests": [dict(rows, TestID=int(test)) for test, rows in sorted(tests.items())]}


def result(path):
    start = start_of(path)
    document = next((table(path, list_of) for head, list_of in TABLES.items() if start.startswith(head)), None)
    document = document or jsonfile.read(path)
    if "tests" not in document and "program" not in document:
        raise Refusal(
            "%s: neither a result of weir nor the document of a timeline: no member 'tests', 'program' or 'schema'"
            % path
        )
    return Result(path, document)


def notes(paths):
    """Words about the results of runs that did not end."""
    for path in dict.fromkeys(paths):
        if kind_of(path) == "result" and result(path).is_incomplete:
            yield "%s %s" % (path, INCOMPLETE)


def files_of(path):
    """All files that are read for this one: also the two of a timeline, and those of a directory."""
    kind = kind_of(path)
    if kind == "folder":
        return list(profile.files_in(path).values())
    if kind == "profile":
        return [path]
    records = records_of(path, kind)
    return [path] + ([records] + timeline.documents_of(records) if records else [])


def records_of(path, kind):
    """The records of a timeline that these bytes, their document or a result stand for; None without."""
    if kind == "result":
        return result(path).timeline()
    return path if kind == "timeline" else timeline.records_of(path)


def runs_and_results(paths, call_size=None, log=None):
    """([runs], [results]) in the files; profiles are one run together."""
    runs, results, profiles, timelines = [], [], [], []
    for path in dict.fromkeys(paths):
        kind = kind_of(path)
        if kind == "result":
            results.append(result(path))
        elif kind == "folder":
            runs.append(profile.read_folder(path, call_size))
        elif kind == "profile":
            profiles.append(path)
        else:
            timelines.append(records_of(path, kind))
    runs += [timeline.read(path) for path in dict.fromkeys(timelines)]
    if profiles:
        runs.append(read_profiles(profiles, call_size, log))
    return runs, results


def read_profiles(paths, call_size, log):
    if len(paths) > 2 or len({profile.operation_of(p) for p in paths}) != len(paths):
        raise Refusal(
            "%s: give one profile of writes, one of reads (with 'read' in its name), or both"
            % " ".join(paths),
            BAD_USAGE,
        )
    return profile.read(paths, call_size, log)


def one_run(paths, call_size=None, log=None):
    """The run that a picture is made of."""
    return pick_run(paths, *runs_and_results(paths, call_size, log))


def pick_run(paths, runs, results):
    """The only run. A result stands for the timeline that it names."""
    for found in results:
        path = found.timeline()
        if path and not runs:
            runs.append(timeline.read(path))
    if not runs:
        raise Refusal(
            "%s: names no timeline: run the program with --timeline=FILE.npy and give that file" % paths[0]
        )
    if len(runs) > 1:
        raise Refusal("%s: give one timeline, not %d" % (" ".join(paths), len(runs)), BAD_USAGE)
    return runs[0]
