# SPDX-License-Identifier: BSD-3-Clause
"""JSON results of all programs (doc/result-format.md): rates, times of single calls, parameters."""
import collections
import os

from . import describe, jsonfile
from .jsonfile import number
from .refusal import BAD_USAGE, Refusal

MIB = 2**20
# Rows of "Results": the program (None: any other), the member with the operation, the one with the rate, and what one
# of it is in bytes (None: operations).
RATES = (
    ("mib", "operation", "rate", MIB),
    (None, "access", "bwMiB", MIB),
    ("ior", "access", "iops", None),
    (None, "operation", "rate", None),
    (None, "phase", "objectRate", None),
)
REPETITIONS = ("iter", "iteration", "repetition")
INCOMPLETE = "is incomplete: its run was killed, could not write it, or still runs; this is what it had measured"
QUANTILES = ("Count", "Mean", "P50", "P90", "P99", "P999", "Max")


class Rate:
    """One measured rate: operation, repetition, value in bytes/s or operations/s."""

    def __init__(self, operation, repetition, value, in_bytes):
        self.operation, self.repetition, self.value, self.in_bytes = operation, repetition, value, in_bytes


class Result:
    """source: file name; document: the JSON object; program; tests: its list, which may be empty."""

    def __init__(self, source, document):
        self.source, self.document = source, document
        self.program = str(document.get("program") or "weir")
        self.tests = jsonfile.rows(source, document, "tests")
        provenance = document.get("provenance")
        self.provenance = provenance if isinstance(provenance, dict) else {}

    @property
    def is_incomplete(self):
        """Is it what a run that was killed has left, or a run has until now?"""
        return bool(self.document.get("unfinished")) and "status" not in self.document

    def test(self, index=None):
        """The test with that TestID; the first one without."""
        for place, test in enumerate(self.tests):
            if index is None or test.get("TestID", place) == index:
                return test
        raise Refusal(
            "%s: has no test%s" % (self.source, "" if index is None else " %d" % index),
            BAD_USAGE if self.tests else 1,
        )

    def parameters(self, test):
        """All options of a test by their long names."""
        for key in ("optionValues", "Parameters"):
            if isinstance(test.get(key), dict):
                return test[key]
        return {}

    def tasks(self, test):
        for value in (
            test.get("tasks"),
            numbers_of(test, "Options").get("tasks"),
            self.provenance.get("tasks"),
        ):
            if number(value):
                return int(value)
        return None

    def describe(self, test):
        tasks, nodes = self.tasks(test), number(self.provenance.get("nodes"))
        words = ["%d task%s" % (tasks, "s" if tasks > 1 else "")] if tasks else []
        if words and nodes:
            words[0] += " on %d node%s" % (nodes, "s" if nodes > 1 else "")
        if len(self.tests) > 1:
            words.insert(0, "test %s" % test.get("TestID", "?"))
        return ", ".join(words + describe.parameters(self.parameters(test)))

    def rates(self, test):
        """The rates of all phases and repetitions; those that were not measured are left out."""
        found = []
        seen = collections.Counter()  # ior's rows do not say their repetition: they stand in its order
        for row in jsonfile.rows(self.source, test, "Results"):
            for program, name, value, unit in RATES:
                if program not in (None, self.program):
                    continue
                if isinstance(row.get(name), str) and number(row.get(value)) is not None:
                    repetition = repetition_of(row, seen[row[name]])
                    found.append(Rate(row[name], repetition, row[value] * (unit or 1), bool(unit)))
                    break
            seen[str(row.get("access"))] += 1
        return found or self.rates_of_phases(test)

    def rates_of_phases(self, test):
        """For programs without known rows: bytes or steps over the whole time."""
        found = []
        for row in jsonfile.rows(self.source, test, "phases"):
            seconds, moved, steps = (number(row.get(k)) for k in ("totalTime", "bytes", "steps"))
            if seconds and (moved or steps):
                found.append(
                    Rate(
                        str(row.get("operation")), repetition_of(row), (moved or steps) / seconds, bool(moved)
                    )
                )
        return found

    def latencies(self, test):
        """(label, [calls, mean, 50, 90, 99, 99.9 %, max]) in seconds; of repetitions the first one."""
        found = {}
        for row in jsonfile.rows(self.source, test, "latency"):
            values = [number(row.get(k.lower())) for k in QUANTILES]
            if values[0] and any(values[2:]):
                found.setdefault(label_of(row.get("operation"), row.get("call")), values)
        if not found:
            for row in jsonfile.rows(self.source, test, "phases"):
                for kind in ("open", "transfer", "sync", "close"):
                    values = [number(row.get(kind + k)) for k in QUANTILES]
                    if values[0] and any(values[2:]):
                        found.setdefault(label_of(row.get("operation"), kind), values)
        return list(found.items())

    def timeline(self):
        """The timeline that the run wrote, where it can be found: as named, or beside the result."""
        for test in self.tests:
            name = self.parameters(test).get("timeline")
            if isinstance(name, str) and name:
                if not name.endswith(".npy") and ".npy," in name:  # words on what was chosen follow
                    name = name[: name.rindex(".npy,") + 4]
                for path in (name, os.path.join(os.path.dirname(self.source), os.path.basename(name))):
                    if os.path.exists(path):
                        return path
        return None


def label_of(operation, call):
    return "%s: %s" % (operation, call) if operation != call else str(call)


def repetition_of(row, otherwise=0):
    return next((int(row[k]) for k in REPETITIONS if number(row.get(k)) is not None), otherwise)


def numbers_of(test, key):
    return test[key] if isinstance(test.get(key), dict) else {}
