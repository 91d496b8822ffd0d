# SPDX-License-Identifier: BSD-3-Clause
"""JSON files, the lines of a run that did not end, and members that have to be there.

NaN and infinity, which JSON does not know, become None."""
import json
import os

from .refusal import Refusal, reason

LINES = "[["  # how the lines of a run that did not end begin
MOST = 1e100  # more is no rate, time or count, and arithmetic with it overflows
KINDS = {dict: "an object", list: "a list", str: "a text", int: "an integer", bool: "true or false"}


def missing(path, error):
    """The refusal of a file that cannot be read. A run that was killed has left another one beside its place."""
    left = os.path.join(os.path.dirname(path), ".%s.incomplete" % os.path.basename(path))
    found = not os.path.exists(path) and os.path.exists(left)
    more = "; its run was killed, could not write it, or still runs: what it had measured is in " + left
    return Refusal("%s: %s%s" % (path, reason(error), more if found else ""))


def parsed(text):
    return json.loads(text, parse_constant=lambda _: None)


def of_lines(text):
    """The document whose lines have the path of a value, and the value. The last one may be cut off."""
    document = {}
    for line in text.split("\n")[:-1]:
        path, value = parsed(line)
        parent = document
        for step in path[:-1]:
            parent = parent[step]
        if isinstance(parent, list):
            parent.append(value)
        else:
            parent[path[-1]] = value
    return document


def read(path):
    """The object in file path, also where its run has not written it yet (.NAME.incomplete)."""
    try:
        with open(path, encoding="utf-8") as f:
            text = f.read()
        document = of_lines(text) if text.startswith(LINES) else parsed(text)
    except OSError as e:
        raise missing(path, e)
    except (LookupError, TypeError, ValueError, RecursionError) as e:
        raise Refusal("%s: not JSON, or cut off: %s" % (path, e))
    if not isinstance(document, dict):
        raise Refusal("%s: is JSON, but not an object {...}" % path)
    return document


def member(where, obj, key, kind):
    """obj[key], which must be of that kind. where names the object in the refusal."""
    value = obj.get(key)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        what = "is missing" if value is None else "is not " + KINDS[kind]
        raise Refusal("%s: member '%s' %s" % (where, key, what))
    return value


def rows(where, obj, key):
    """obj[key], a list of objects. Without the member: none."""
    value = obj.get(key)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
        raise Refusal("%s: member '%s' is not a list of objects" % (where, key))
    return value


def number(value):
    """A finite number of a reasonable size, or None for everything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value if value == value and abs(value) <= MOST else None
