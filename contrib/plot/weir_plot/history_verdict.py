# SPDX-License-Identifier: BSD-3-Clause
"""What a history says: the changes of each series with intervals, what changed beside them, and the gate."""

import math

from . import compare_stats, compare_verdict, history_series, history_stats

MOST_FACTS = 6
MOST_BEFORE = 200  # runs that the newest ones are compared with


class Change:
    """The level of a series changed after point 'place': difference (compare_stats.Difference), p, beside."""

    def __init__(self, series, place, difference, p, facts):
        self.series, self.place, self.difference, self.p, self.beside = series, place, difference, p, facts

    @property
    def point(self):
        """The first run of the new level."""
        return self.series.points[self.place]

    def words(self):
        d = self.difference
        return "%s%s, from %s to %s" % (
            compare_verdict.percent(d.ratio),
            (
                ""
                if d.low is None
                else " (%s to %s)" % (compare_verdict.percent(d.low), compare_verdict.percent(d.high))
            ),
            self.series.rate(d.a),
            self.series.rate(d.b),
        )


class Judged:
    """series; changes; levels: (first, end) places of each; text: what is said where nothing changed."""

    def __init__(self, series, changes, text):
        self.series, self.changes, self.text = series, changes, text

    @property
    def levels(self):
        places = [0] + [one.place for one in self.changes] + [len(self.series.points)]
        return list(zip(places, places[1:]))


def difference(a, b, alpha, rho):
    """Between two levels; the interval is wider where runs depend on the one before."""
    found = compare_stats.compare(a, b, alpha)
    if found.low is None or rho <= 0:
        return found
    wider, middle = math.sqrt((1 + rho) / (1 - rho)), math.log(found.ratio)
    low, high = (math.exp(middle + (math.log(end) - middle) * wider) for end in (found.low, found.high))
    return compare_stats.Difference(a, b, (low, high))


def changes_of(series, splits, alpha):
    """A Change for each split, between the levels before and after it."""
    places = [0] + [one.place for one in splits] + [len(series.points)]
    found = []
    for split, start, end in zip(splits, places, places[2:]):
        before, after = series.points[start : split.place], series.points[split.place : end]
        between = difference([p.value for p in before], [p.value for p in after], alpha, split.rho)
        found.append(Change(series, split.place, between, split.p, history_series.beside(before, after)))
    return found


def judge_one(series, splits, alpha, share):
    """Of a level that came and went one end may be no change, above all where few runs follow: it goes."""
    changes = changes_of(series, splits, alpha)
    while True:
        doubted = [
            (abs(math.log(change.difference.ratio)), i)
            for i, (change, split) in enumerate(zip(changes, splits))
            if split.is_part and change.difference.verdict == "not told apart"
        ]
        if not doubted or len(splits) < 2:
            return Judged(series, changes, None if changes else nothing(series, share))
        out = min(doubted)[1]
        splits = splits[:out] + splits[out + 1 :]
        changes = changes_of(series, splits, alpha)


def nothing(series, alpha):
    """Words on a series in which no change was found: what would have been."""
    n, values = len(series.points), series.values
    least = history_stats.needed(alpha) if n < 20 else 0
    if n < least:
        return "too few runs to see a change: %d, from %d on one can be found" % (n, least)
    seen = 100 * (1 - history_stats.reach(values, history_stats.dependence_of(values), alpha))
    return "no change; %d runs would show a loss of about %s" % (n, "%.2g %%" % seen if seen >= 0.1 else "0.1 %")


def judge(found, confidence, seed):
    """A Judged for each series; together they have a change where there is none with probability 1 - confidence."""
    alpha = 1 - confidence
    splits = history_stats.changes([one.values for one in found], alpha, seed)
    return [judge_one(one, part, alpha, alpha / len(found)) for one, part in zip(found, splits)]


# ---- the gate ----


class Gate:
    """Are the newest runs of a series worse than the level before them? text: what is said; difference; worse;
    judged: there is an interval."""

    def __init__(self, series, newest, limit, alpha, seed):
        values = series.values
        self.series, self.difference, self.worse = series, None, False
        self.judged, self.limit = False, limit
        if len(values) <= newest:
            self.text = "not judged: %d run%s, and %d are the newest" % (len(values), "s"[len(values) == 1 :], newest)
            return
        older = values[:-newest][-MOST_BEFORE:]
        splits = history_stats.changes([older], alpha, seed)[0] if len(older) >= 2 * history_stats.LEAST else []
        before = older[splits[-1].place :] if splits else older
        self.decide(before, values[-newest:], alpha, bool(splits))

    def decide(self, before, after, alpha, since):
        self.difference = d = difference(
            before, after, alpha, history_stats.dependence_of(before) if len(before) > 11 else 0
        )
        told = "newest %d against the %d before%s" % (
            len(after),
            len(before),
            " since the last change" if since else "",
        )
        if d.low is None:
            enough = (n for n in range(2, MOST_BEFORE) if compare_stats.cut(n, len(after), alpha) >= 0)
            least = next(enough, MOST_BEFORE)
            self.text = "not judged: %s; from %d before on there is an interval" % (told, least)
            return
        self.judged, self.worse = True, d.high < 1 - self.limit
        self.text = "%s, %s (%s to %s): %s" % (
            told,
            compare_verdict.percent(d.ratio),
            compare_verdict.percent(d.low),
            compare_verdict.percent(d.high),
            (
                "worse by more than %g %%" % (100 * self.limit)
                if self.worse
                else "not worse by more than %g %%" % (100 * self.limit)
            ),
        )


def gates(found, options):
    alpha = (1 - options.confidence) / len(found)
    return [Gate(one, options.newest, options.gate, alpha, options.seed) for one in found]


# ---- the text ----


def fact(row):
    name, old, new, always = row
    return "%s: %s -> %s%s" % (name, old or "none", new or "none", "" if always else " (but not only there)")


def lines_of(judged):
    series = judged.series
    last = series.values[judged.levels[-1][0] :]
    yield "%s: %d runs, now %s%s" % (
        series.name,
        len(series.points),
        series.rate(sorted(last)[len(last) // 2]),
        "; " + judged.text if judged.text else "",
    )
    for change in judged.changes:
        yield "  %s, after run %d: %s, p %.2g" % (change.point.date, change.place, change.words(), change.p)
        for row in change.beside[:MOST_FACTS]:
            yield "    beside it changed %s" % fact(row)
        more = len(change.beside) - MOST_FACTS
        if more > 0:
            yield "    and %d more" % more
        if not change.beside:
            yield "    nothing else that is known changed beside it"
