# SPDX-License-Identifier: BSD-3-Clause
"""The anatomy of a score of IO500: the geometric mean of its phases, what each of them does to it, and what changed."""
import math
import re

from . import history_series, jsonfile
from .jsonfile import number

GROUPS = {"bw": "bandwidth", "md": "metadata"}
# Words of commands that are another one in every run, or name a file or directory.
UNLIKE = re.compile(r"-[Gdox]\b|--run-info-file=|--saveRankPerformanceDetails=|-O (saveRank|stoneWallingStatusFile)")


class Phase:
    """A row of the table of phases: name; group (bw, md, none); unit; score, low, high, seconds (None: not known)."""

    def __init__(self, row):
        self.row, self.name, self.group = row, str(row.get("phase")), row.get("group")
        self.unit = str(row.get("unit") or "")
        self.score, self.low, self.high, self.seconds = (
            number(row.get(key)) for key in ("score", "low", "high", "seconds")
        )
        self.is_valid = row.get("valid") != "no"
        self.verdict = str(row.get("verdict") or "")

    @property
    def counts(self):
        """Is it part of a mean? A phase without a result is not."""
        return self.group in GROUPS and bool(self.score) and self.score > 0

    @property
    def interval(self):
        """(low, high), where both are known and above 0."""
        return (self.low, self.high) if self.low and self.high and 0 < self.low <= self.high else None


def phases_of(result, test):
    return [Phase(row) for row in jsonfile.rows(result.source, test, "phases")]


def mean(values):
    """Geometric."""
    return math.exp(math.fsum(map(math.log, values)) / len(values))


class Anatomy:
    """A score: the phases that count, and how much of it each one is. weight: TOTAL grows by ratio ** weight where the
    phase grows by ratio."""

    def __init__(self, name, phases):
        self.name = name
        self.parts = [p for p in phases if p.counts]
        self.missing = [p for p in phases if p.group in GROUPS and not p.counts]
        self.groups = {g: [p for p in self.parts if p.group == g] for g in GROUPS}

    @property
    def is_whole(self):
        return all(self.groups.values())

    def group_mean(self, group):
        return mean([p.score for p in self.groups[group]])

    @property
    def total(self):
        """sqrt(bandwidth * metadata)"""
        return mean([self.group_mean(g) for g in GROUPS])

    def weight(self, part):
        return 1 / (len(GROUPS) * len(self.groups[part.group]))

    def if_times(self, part, ratio):
        """What TOTAL would be multiplied by."""
        return ratio ** self.weight(part)

    def others(self, part):
        """The mean of the other phases of its group; None: there is no other."""
        found = [p.score for p in self.groups[part.group] if p is not part]
        return mean(found) if found else None

    def if_as(self, part, score):
        """What TOTAL would be multiplied by, if this phase had that score; None: not known."""
        return self.if_times(part, score / part.score) if score else None

    def twin(self, part):
        """The easy phase that does the same as a hard one, or None."""
        name = part.name.replace("-hard", "-easy")
        return next((p for p in self.groups[part.group] if p.name == name and p is not part), None)

    def costliest(self):
        """The phase that is farthest below the others of its group, measured by what that costs of TOTAL."""
        known = [p for p in self.parts if self.others(p)]
        return max(known, key=lambda p: self.if_as(p, self.others(p)), default=None)

    def noise(self):
        """(lowest, highest) factor of TOTAL by the intervals of its phases, taken as independent; None: not known."""
        sides = [(p.interval, self.weight(p), p.score) for p in self.parts]
        if not any(interval for interval, _, _ in sides):
            return None
        low, high = (
            math.sqrt(sum((w * math.log(interval[i] / score)) ** 2 for interval, w, score in sides if interval))
            for i in (0, 1)
        )
        return math.exp(-low), math.exp(high)


def scores(result, test):
    """[(Anatomy, row of the table of scores)] of SCORE, and of SCOREX of an extended run."""
    phases = phases_of(result, test)
    found = []
    for row in jsonfile.rows(result.source, test, "scores"):
        counted = [p for p in phases if row.get("name") == "SCOREX" or p.row.get("standard") == "yes"]
        found.append((Anatomy(str(row.get("name")), counted), row))
    return found


# ---- what changed ----


class Change:
    """One phase in two runs: name, old and new (Phase), ratio, effect (what it multiplied TOTAL by)."""

    def __init__(self, old, new, effect):
        self.name, self.old, self.new, self.effect = new.name, old, new, effect
        self.ratio = new.score / old.score

    @property
    def is_told_apart(self):
        """Do the intervals have nothing in common? None: not known."""
        one, other = self.old.interval, self.new.interval
        return None if not one or not other else one[1] < other[0] or other[1] < one[0]


class Comparison:
    """Two anatomies of a score, over the phases that count in both: the effects multiply to the ratio of TOTAL."""

    def __init__(self, old, new):
        names = {p.name for p in old.parts} & {p.name for p in new.parts}
        self.only_old = [p.name for p in old.parts if p.name not in names]
        self.only_new = [p.name for p in new.parts if p.name not in names]
        self.old, self.new = (Anatomy(side.name, [p for p in side.parts if p.name in names]) for side in (old, new))
        before = {p.name: p for p in self.old.parts}
        self.changes = [
            Change(before[p.name], p, self.new.if_times(p, p.score / before[p.name].score)) for p in self.new.parts
        ]

    @property
    def ratio(self):
        return self.new.total / self.old.total


def words_of(command):
    """The words of a command line that say what is done: an option with its value is one."""
    found, words = [], str(command or "").split()[1:]
    while words:
        word = words.pop(0)
        if len(word) == 2 and words and not words[0].startswith("-"):
            word += " " + words.pop(0)
        if not UNLIKE.match(word):
            found.append(word)
    return found


def commands(old, new):
    """(phase, words only in the old command, words only in the new one) of the phases of two lists that differ."""
    before = {p.name: p for p in old}
    for phase in new:
        if phase.name in before and phase.row.get("command") and before[phase.name].row.get("command"):
            one, other = (words_of(p.row["command"]) for p in (before[phase.name], phase))
            gone, come = ([w for w in a if w not in b] for a, b in ((one, other), (other, one)))
            if gone or come:
                yield phase.name, " ".join(gone), " ".join(come)


def settings(result, test):
    """What a run was told, and where it ran: {name: value}."""
    found = {k: v for k, v in history_series.facts_of(result, test).items() if not isinstance(v, list)}
    for key in ("mode", "kind", "stonewall", "clientNodes", "tasks"):
        found[key] = test.get(key)
    for row in jsonfile.rows(result.source, test, "settings"):
        found["[%s] %s" % (row.get("section"), row.get("key"))] = row.get("value")
    return found


def changed_settings(old, new):
    """(name, old value, new value) of those that differ."""
    for name in sorted({**old, **new}):
        if old.get(name) != new.get(name):
            yield name, old.get(name), new.get(name)
