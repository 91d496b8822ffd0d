# SPDX-License-Identifier: BSD-3-Clause
"""A run as the pictures see it: phases, and the calls of every task in them, on one clock."""
import numpy as np

from . import hosts
from .chosen import DRAWN, Chosen
from .jsonfile import number
from .refusal import BAD_USAGE, Refusal

RECORD = np.dtype(
    [
        ("begin", "<i8"),
        ("end", "<i8"),
        ("offset", "<i8"),
        ("bytes", "<i8"),
        ("rank", "<u4"),
        ("repetition", "<u4"),
        ("phase", "<u2"),
        ("operation", "<u2"),
        ("error", "<i4"),
    ]
)


PICKED = np.dtype(RECORD.descr + [("number", "<i8"), ("chosen", "<i8")])  # where some operations were chosen


class Run:
    """source: file name; tests: the objects of the JSON file; phases: in order; notes: what a reader must know."""

    def __init__(self, source, head, records, notes=()):
        self.source = source
        self.program = str(head.get("program") or "run")
        self.version = str(head.get("version") or "")
        command = head.get("command")
        self.command = [str(word) for word in command] if isinstance(command, list) else []
        self.operations = head["operations"]
        self.tests = {row["index"]: row for row in head["tests"]}
        self.notes = list(notes)
        self.chosen = Chosen(source, head)
        bounds = np.searchsorted(np.ascontiguousarray(records["phase"]), np.arange(len(head["phases"]) + 1))
        self.phases = [
            Phase(self, row, records[bounds[i] : bounds[i + 1]]) for i, row in enumerate(head["phases"])
        ]

    def tasks(self, test):
        """Ranks of a test; without that number in the JSON file as many as its calls name."""
        tasks = number(self.tests[test].get("tasks"))
        seen = [int(p.records["rank"].max()) + 1 for p in self.phases if p.test == test and p.records.size]
        return max([int(tasks or 0)] + seen + [1])

    def ranks(self, test):
        """Those of which the timeline has the operations, in order."""
        seen = [np.unique(p.records["rank"]) for p in self.phases if p.test == test and p.records.size]
        return self.chosen.among(self.tasks(test), np.concatenate(seen) if seen else [])

    def hosts(self, test):
        """The host of each rank, or None."""
        return hosts.of_ranks(self.tests[test].get("hosts"), self.tasks(test))

    def epoch(self, test):
        """Seconds since 1970 at which the clock of a test was 0, or None."""
        return number(self.tests[test].get("epoch"))

    def parameters(self, test):
        found = self.tests[test].get("parameters")
        return found if isinstance(found, dict) else {}

    def select(self, test=None, repetition=None, keys=(), need_calls=True):
        """The phases of one test (the first one that has calls), as few as asked for."""
        with_calls = [p for p in self.phases if p.records.size or not need_calls]
        if not with_calls:
            raise Refusal("%s: has no calls to draw" % self.source)
        if test is None:
            test = with_calls[0].test
        found = [
            p
            for p in with_calls
            if p.test == test
            and (not keys or p.key in keys)
            and (repetition is None or p.repetition == repetition)
        ]
        if not found:
            there = sorted({"test %d %s repetition %d" % (p.test, p.key, p.repetition) for p in with_calls})
            raise Refusal(
                "%s: no phase matches --test, --repetition and --phase; there are: %s"
                % (self.source, ", ".join(there[:20])),
                BAD_USAGE,
            )
        return found


class Phase:
    """key, title, test, repetition; begin and end in seconds; records: the rows of the timeline."""

    def __init__(self, run, row, records):
        self.run, self.records, self.kept = run, records, {}
        self.index, self.test = row["index"], row["test"]
        self.key = row["key"]
        self.title = str(row.get("title") or row["key"])
        repetition = number(row.get("repetition"))
        self.repetition = int(
            repetition if repetition is not None else records["repetition"][0] if records.size else 0
        )
        self.begin, self.end = row["begin"] / 1e9, row["end"] / 1e9
        if records.size:  # a phase that was cut off may have no end of its own
            self.begin = min(self.begin, float(records["begin"].min()) / 1e9)
            self.end = max(self.end, float(records["end"].max()) / 1e9)
        self.rate, self.rate_unit = number(row.get("rate")), str(row.get("rate_unit") or "")

    def calls(self, operation=None):
        """The calls that the phase is about (main_operations), or those of the operation with that key. Kept."""
        if operation not in self.kept:
            which = (
                self.main_operations()
                if operation is None
                else [i for i, row in enumerate(self.run.operations) if row["key"] == operation]
            )
            wanted = np.isin(np.ascontiguousarray(self.records["operation"]), which)
            self.kept[operation] = Calls(self.records if wanted.all() else self.records[wanted], self.run.chosen)
        return self.kept[operation]

    def operations(self):
        """Indices of the operations that were called, most calls first."""
        counts = np.bincount(np.ascontiguousarray(self.records["operation"]), minlength=1)
        return [int(i) for i in np.argsort(-counts, kind="stable") if counts[i]]

    def main_operations(self):
        """Of calls that were made equally often the one that takes longest has the others as its parts."""
        if self.moves_bytes:
            return [i for i in self.operations() if self.run.operations[i].get("moves_bytes")]
        column = np.ascontiguousarray(self.records["operation"])
        counts = np.bincount(column, minlength=1)
        seconds = np.bincount(column, self.records["end"] - self.records["begin"], counts.size)
        chance = 6 * np.sqrt(counts.max()) if self.run.chosen.picked else 0
        most = np.flatnonzero(counts >= counts.max() - chance)
        return [int(most[np.argmax(seconds[most])])] if self.records.size else []

    @property
    def moves_bytes(self):
        """Is this a phase of data? The run says so; else its bytes do."""
        if self.rate_unit:
            return self.rate_unit == "bytes"
        return bool(self.records.size and self.records["bytes"].max() > 0)


class Calls:
    """Columns of calls as arrays: begin and end in seconds, bytes, rank; stands_for: how many calls each of them stands
    for, None: itself; number: its place among the operations of its rank, None: that among these calls."""

    def __init__(self, records, chosen=None):
        self.count = records.size
        self.stands_for = self.drawn = self.number = None
        if chosen and chosen.picked:
            self.stands_for, self.number = chosen.weights(records), records["number"] + 1
            self.drawn = int(np.count_nonzero(records["chosen"] & DRAWN))
        self.begin, self.end = records["begin"] / 1e9, records["end"] / 1e9
        self.seconds = (records["end"] - records["begin"]) / 1e9
        self.bytes = records["bytes"].astype(np.float64)
        self.rank = records["rank"].astype(np.int64)

    def weights(self, in_bytes):
        found = self.bytes if in_bytes else np.ones(self.count)
        return found if self.stands_for is None else found * self.stands_for

    @property
    def total(self):
        """How many calls there were, as far as it is known."""
        return self.count if self.stands_for is None else int(round(self.stands_for.sum()))

    def staircases(self):
        """For each rank that has calls: (rank, times at which its calls returned, their numbers 1, 2, 3 ...)."""
        order = np.lexsort((self.end, self.rank))
        ranks, first = np.unique(self.rank[order], return_index=True)
        times = np.split(self.end[order], first[1:])
        if self.number is None:
            numbers = [np.arange(1, len(t) + 1) for t in times]
        else:
            numbers = np.split(self.number[order], first[1:])
        return list(zip((int(r) for r in ranks), times, numbers))
