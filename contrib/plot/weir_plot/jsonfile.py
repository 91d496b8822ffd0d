# SPDX-License-Identifier: BSD-3-Clause
"""JSON files, and members that have to be there. NaN and infinity, which JSON does not know, become None."""
import json
import os

from .refusal import Refusal, reason

MOST = 1e100  # more is no rate, time or count, and arithmetic with it overflows
KINDS = {dict: "an object", list: "a list", str: "a text", int: "an integer", bool: "true or false"}


def missing(path, error):
    """The refusal of a file that cannot be read. A run that was killed has left another one beside its place."""
    left = os.path.join(os.path.dirname(path), ".%s.incomplete" % os.path.basename(path))
    found = not os.path.exists(path) and os.path.exists(left)
    more = "; its run was killed, or still runs: what it had measured is in %s" % left if found else ""
    return Refusal("%s: %s%s" % (path, reason(error), more))


def read(path):
    """The object in file path."""
    try:
        with open(path, encoding="utf-8") as f:
            document = json.load(f, parse_constant=lambda _: None)
    except OSError as e:
        raise missing(path, e)
    except (ValueError, RecursionError) as e:  # UnicodeDecodeError and JSONDecodeError are ValueErrors
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
