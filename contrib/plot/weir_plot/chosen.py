# SPDX-License-Identifier: BSD-3-Clause
"""Which operations a timeline holds (--timeline=FILE.npy,sample=1/N,ranks=LIST,slowest=K), and what they tell."""
import numpy as np

from . import hosts
from .jsonfile import number
from .refusal import Refusal

DRAWN, SLOWEST, BESIDE, FAILED = 1, 2, 4, 8  # bits of a record: why it is there
RATES, WHOLE = "rates or percentiles", "what all tasks did"  # what a picture shows: its NEEDS
ENOUGH = 50  # drawn calls that make a number: it is then some 14 % wrong


class Chosen:
    """sample: one operation of so many is there, 0: no sample; slowest: so many of each rank and phase; ranks: a list,
    "leaders" or None. Without any of them all operations are there."""

    def __init__(self, path, head):
        said = head.get("chosen")
        said = said if isinstance(said, dict) else {}
        self.sample, self.slowest = (int(number(said.get(key)) or 0) for key in ("sample", "slowest"))
        self.ranks = said.get("ranks")
        parts = str(self.ranks).split(",")
        if self.ranks not in (None, "leaders") and not all(map(hosts.RANGE.fullmatch, parts)):
            raise Refusal("%s: chosen: ranks is %r, not a list such as 0-63,128" % (path, self.ranks))

    @property
    def picked(self):
        """Are these single operations? Then the records say why each of them is there."""
        return bool(self.sample or self.slowest)

    def words(self):
        found = ["1 of {:,} operations".format(self.sample)] if self.sample else []
        if self.slowest:
            found.append("the {:,} slowest of each rank and phase".format(self.slowest))
        if self.ranks:
            leaders = self.ranks == "leaders"
            found.append("only the first rank of each node" if leaders else "only ranks " + shorten(self.ranks))
        return found

    def weights(self, records):
        """How many operations each record of those that were picked stands for."""
        why = records["chosen"]
        return np.where(why & (SLOWEST | FAILED), 1.0, np.where(why & DRAWN, float(self.sample), 0.0))

    def among(self, tasks, seen):
        """The ranks of which there can be records, of so many tasks. seen: those of which there are."""
        if not self.ranks:
            return np.arange(tasks)
        if self.ranks == "leaders":
            return np.unique(seen)
        found = set()
        for part in self.ranks.split(","):
            first, last, step = hosts.RANGE.fullmatch(part).groups()
            found.update(range(int(first), min(int(last or first), tasks - 1) + 1, int(step or 1)))
        return np.array(sorted(found), np.int64)


def shorten(text):
    return text if len(text) <= 40 else text[:37].rpartition(",")[0] + ",..."


def allow(run, picture):
    """Refuse a picture that cannot be drawn from what there is."""
    needs = getattr(picture, "NEEDS", ())
    if RATES in needs and run.chosen.slowest and not run.chosen.sample:
        raise Refusal(
            "%s: has only the %d slowest operations of each rank and phase, from which no %s follow: "
            "weir-plot calls and trace show them; sample=1/N beside slowest=K records a sample, too"
            % (run.source, run.chosen.slowest, RATES)
        )
    if WHOLE in needs and run.chosen.ranks:
        raise Refusal("%s: has only operations of ranks %s, and not %s" % (run.source, run.chosen.ranks, WHOLE))


def slowest(run, test, count):
    """Pairs of a phase and a record, the slowest of all ranks first, where the timeline has those of each rank."""
    found = []
    for phase in run.phases if run.chosen.slowest else ():
        if phase.test == test:
            records = phase.records[(phase.records["chosen"] & SLOWEST) > 0]
            order = np.argsort(records["begin"] - records["end"], kind="stable")[:count]
            found += [(phase, records[i]) for i in order]
    return sorted(found, key=lambda one: one[1]["begin"] - one[1]["end"])[:count]
