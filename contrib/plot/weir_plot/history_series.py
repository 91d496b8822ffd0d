# SPDX-License-Identifier: BSD-3-Clause
"""The series of a history: the runs that agree in the names of --by, each with its rate and the facts known of it."""

import statistics
import time

from . import compare_sides
from .refusal import BAD_USAGE, Refusal

BY = "operation", "configuration", "mount"
# Short names of --by; all others are names of options and facts.
SHORT = {
    "xfer": "transfer-size",
    "transfer": "transfer-size",
    "block": "block-size",
    "host": "machine",
    "api": "backend",
    "hash": "configuration",
}
# Facts of each run that are no cause.
NO_FACTS = "clockError", "rowsLeftOut", "hash", "ranks"


class Point:
    """One test of one run: result, its test, rates (one a repetition) of an operation, facts."""

    def __init__(self, result, test, rates, facts):
        self.result, self.test, self.rates, self.facts = result, test, rates, facts
        self.value = statistics.median(rates)

    @property
    def when(self):
        return self.result.when

    @property
    def date(self):
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(self.when)) if self.when else self.result.source

    @property
    def verdict(self):
        return str(self.test.get("verdict") or "")


class Series:
    """name; operation; in_bytes; points by time."""

    def __init__(self, name, operation, in_bytes):
        self.name, self.operation, self.in_bytes, self.points = name, operation, in_bytes, []

    @property
    def values(self):
        return [point.value for point in self.points]

    def rate(self, value):
        return compare_sides.rate(value, self)


def facts_of(result, test):
    """Names and values of what may be the cause of a change: where, with what and how it ran."""
    found = {"machine": result.document.get("Machine"), "version": result.document.get("Version")}
    hosts = result.provenance.get("hosts")
    for part in (result.provenance, test.get("provenance"), test.get("configuration")):
        if isinstance(part, dict):
            found.update(compare_sides.flat({k: v for k, v in part.items() if k != "hosts"}))
    if isinstance(hosts, list):
        found["hosts"] = ",".join(sorted(str(one.get("name")) for one in hosts if isinstance(one, dict)))
    return {k.replace("environment.", ""): v for k, v in found.items() if k.split(".")[-1] not in NO_FACTS}


def value_of(name, result, test, facts):
    """The value of a name of --by in a test; None: it is not known there."""
    if name == "configuration":
        return compare_sides.flat(test.get("configuration") or {}).get("hash")
    if name == "program":
        return result.program
    if name == "tasks":
        return result.tasks(test)
    for key in (name, "options." + name):
        if key in facts:
            return facts[key]
    plain = {key.lower().replace("-", ""): value for key, value in result.parameters(test).items()}
    return plain.get(name.lower().replace("-", ""))


def known(history):
    """The names that --by can have."""
    found = {"operation", "program", "tasks", "configuration", *SHORT}
    for result in history.runs:
        for test in result.tests:
            found.update(key.replace("options.", "") for key in facts_of(result, test))
            found.update(result.parameters(test))
    return found


def check_names(history, names):
    for name in names:
        tests = [(r, t) for r in history.runs for t in r.tests]
        if name != "operation" and all(value_of(name, r, t, facts_of(r, t)) is None for r, t in tests):
            meant = compare_sides.near(name, known(history) - {name})
            raise Refusal(
                "--by: no run has '%s'%s" % (name, " (did you mean '%s'?)" % meant if meant else ""), BAD_USAGE
            )


def collect(history, by):
    """The Series, in the order in which they began."""
    names = [SHORT.get(name, name) for name in by]
    if by != BY:
        check_names(history, names)
    found = {}
    for result in history.runs:
        for place, test in enumerate(result.tests):
            facts = facts_of(result, test)
            key = [result.program] + [value_of(name, result, test, facts) for name in names if name != "operation"]
            key = tuple(map(str, key))
            for operation, (rates, in_bytes) in compare_sides.series(result, place).items():
                if not rates:
                    continue
                one = found.setdefault((key, operation, in_bytes), Series(None, operation, in_bytes))
                one.points.append(Point(result, test, rates, facts))
    return named(list(found.items()), names)


def named(rows, names):
    """Each with a name that no other one has: the operation, and what differs between the series."""
    shown = [name for name in names if name != "operation"]
    keys = [key for (key, _, _), _ in rows]
    differ = [i for i in range(len(shown) + 1) if len({key[i] for key in keys}) > 1]
    for (key, operation, _), series in rows:
        words = []
        for i in differ:
            last = series.points[-1]
            if i > 0 and shown[i - 1] == "configuration":
                words.append(last.result.describe(last.test))
            else:
                words.append(key[i] if i == 0 else "%s %s" % (shown[i - 1], key[i]))
        series.name = "%s (%s)" % (operation, "; ".join(words)) if words else operation
    series = [one for _, one in rows]
    said = [one.name for one in series]
    for one, key in zip(series, keys):
        if said.count(one.name) > 1:
            one.name += " [%s]" % " ".join(key[1:])
    return series


# ---- what changed beside ----


def few(values):
    """Is it a fact that stays for some runs, and not another one in each?"""
    return len(set(values)) <= max(2, len(values) // 3)


def beside(before, after):
    """(name, value before, value after, always) of the facts that changed between two levels; always: no run of one
    level has a value of the other."""
    found = []
    for name in sorted({key for point in before + after for key in point.facts}):
        old, new = ([str(point.facts.get(name, "-")) for point in side] for side in (before, after))
        if old[-1] == new[0] or not few(old + new):
            continue
        found.append((name, old[-1], new[0], not set(old) & set(new)))
    return sorted(found, key=lambda row: not row[3])
