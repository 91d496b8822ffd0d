# SPDX-License-Identifier: BSD-3-Clause
"""The runs of a history: lines of --report=jsonl, or documents of --report=json, in the order of their time."""

import json
import os

from . import compare_sides, jsonfile
from .refusal import Refusal
from .result import Result

WHOLE = 0, 5


class History:
    """runs: results that can be compared, by time; failed: results of runs that failed; notes: what was left out."""

    def __init__(self):
        self.runs, self.failed, self.notes = [], [], []


def parsed(text):
    """The value, or None where the text is no JSON."""
    try:
        return json.loads(text, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return None


def documents(path, notes):
    """The objects of a file, with words about where each is."""
    try:
        with open(path, encoding="utf-8", errors="replace") as f:
            text = f.read()
    except OSError as e:
        raise jsonfile.missing(path, e)
    found = parsed(text)
    if found is not None:
        yield path, found
        return
    lines = [(n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip()]
    bad = []
    for number, line in lines:
        found = parsed(line)
        if found is None:
            bad.append(number)
        else:
            yield "%s:%d" % (path, number), found
    if len(bad) == len(lines):
        raise Refusal(
            "%s: %s" % (path, "is neither a JSON result nor lines of --report=jsonl" if lines else "is empty")
        )
    if bad:
        notes.append(
            "%s: line%s %s %s no JSON and left out; a job was killed while it wrote, or something else is in the file"
            % (path, "" if len(bad) == 1 else "s", ", ".join(map(str, bad[:5])), "is" if len(bad) == 1 else "are")
        )


def read(paths):
    history, found, twice = History(), [], 0
    seen = set()
    for path in paths:
        for source, document in documents(path, history.notes):
            if not isinstance(document, dict) or "program" not in document:
                history.notes.append("%s: is no result of weir and left out" % source)
                continue
            key = hash(json.dumps(document, sort_keys=True))
            twice += key in seen
            if key not in seen:
                found.append(Result(source, document))
            seen.add(key)
    if twice:
        history.notes.append("%d run%s there twice and counted once" % (twice, " is" if twice == 1 else "s are"))
    for result in in_time(found):
        good = result.document.get("status") in WHOLE and any(result.rates(test) for test in result.tests)
        (history.runs if good else history.failed).append(result)
    if not history.runs:
        raise Refusal("%s: no run that went well" % ", ".join(map(os.path.basename, paths)))
    return history


def in_time(results):
    """By their time; one whose time cannot be read stays after the one before it."""
    last, keys = 0.0, []
    for result in results:
        last = result.when = compare_sides.when(result.document) or last
        keys.append(last)
    return [results[i] for i in sorted(range(len(results)), key=keys.__getitem__)]
