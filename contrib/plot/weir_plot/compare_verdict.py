# SPDX-License-Identifier: BSD-3-Clause
"""The verdict about each operation of two sides, and how it is told. The unit is the run: repetitions of one run share
its layout, its caches and its neighbours, and what differs between runs is not in them."""
import math

from . import compare_stats
from .compare_sides import rate

ONE_RUN = "not told apart: one run says nothing about what differs between runs"
ASKED = 0.1  # the change that is spoken of where runs differ too much to see it
HEADINGS = "operation", "A", "B", "change", "interval", "B is"


class Verdict:
    """operation; difference: compare_stats.Difference; text: what is said of it; decided: B is slower or faster."""

    def __init__(self, operation, difference, text=None):
        self.operation, self.difference = operation, difference
        self.decided = text is None and difference.verdict != "not told apart"
        self.text = text or difference.verdict

    def is_worse(self, most):
        return self.decided and self.difference.high < 1 and self.difference.ratio < 1 - most

    def is_clear(self, most):
        """Would more runs change nothing? Told apart, or not slower by as much as is asked about."""
        low = self.difference.low
        return self.decided or (most > 0 and low is not None and low > 1 - most)


def runs_of(one, paired):
    """How many runs of each side have measured the operation."""
    return len(one.pairs()[0]) if paired else min(map(len, one.medians()))


def judge_one(one, alpha, paired, normal):
    runs = runs_of(one, paired)
    if not runs:
        return Verdict(one, compare_stats.Difference(*one.medians()), "not measured in both")
    if runs == 1:
        within = [[value for run in side for value in run] for side in (one.a, one.b)]
        return Verdict(one, compare_stats.compare(*within, alpha), ONE_RUN)
    if paired:
        difference = compare_stats.compare_pairs(*one.pairs(), alpha, normal)
    else:
        difference = compare_stats.compare(*one.medians(), alpha, normal)
    if difference.low is None:
        needed = compare_stats.needed(alpha, paired, normal)
        return Verdict(one, difference, "not told apart (%d runs of each are needed)" % needed)
    return Verdict(one, difference)


def judge(found, alpha, paired=False, normal=False):
    """A Verdict about each operation; all their intervals hold together with the confidence 1 - alpha."""
    return [judge_one(one, share(found, alpha), paired, normal) for one in found]


def share(found, alpha):
    """Of each operation that both sides have measured."""
    return alpha / max(sum(one.measured for one in found), 1)


# ---- what is said ----


def percent(ratio):
    return "%+.1f %%" % (100 * (ratio - 1))


def row_of(verdict):
    one, d = verdict.operation, verdict.difference
    ratio, low, high = d.ratio, d.low, d.high
    if one.in_bytes is None:  # of the times themselves
        ratio, low, high = (v and 1 / v for v in (ratio, high, low))
    within = " within the runs" if verdict.text == ONE_RUN else ""
    return (
        one.name,
        "-" if d.a is None else rate(d.a, one),
        "-" if d.b is None else rate(d.b, one),
        "-" if ratio is None else percent(ratio),
        "-" if low is None else "%s to %s%s" % (percent(low), percent(high), within),
        verdict.text,
    )


def table(verdicts):
    return columns([HEADINGS] + [row_of(one) for one in verdicts])


def columns(rows):
    """The lines of a table; the first row has the headings."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip()


def reach(verdict, runs):
    """The change that so many runs find in most cases, as a ratio below 1, and how many runs would find ASKED. A change
    that is found in four of five cases is wider than half of an interval by the factor (2.24 + 0.84) / 2.24, and
    intervals narrow with the root of the number of runs."""
    half = math.log(verdict.difference.high / verdict.difference.low) / 2
    seen = half * (2.24 + 0.84) / 2.24
    return math.exp(-seen), math.ceil(runs * (seen / math.log(1 - ASKED)) ** 2)


def limits(verdicts, paired):
    """A line for each operation that was not told apart where a change of ASKED would have been missed as well."""
    for one in verdicts:
        if one.decided or one.text == ONE_RUN or one.difference.low is None:
            continue
        runs = runs_of(one.operation, paired)
        ratio, needed = reach(one, runs)
        if needed > runs:
            yield "%s: %d %s find a loss of about %.0f %%; for one of %g %% about %d are needed" % (
                one.operation.name,
                runs,
                "pairs" if paired else "runs of each",
                100 * (1 - ratio),
                100 * ASKED,
                needed,
            )


def losses(verdicts, most):
    """A line with the operations that are slower by more than 'most', or none."""
    worse = [one.operation.name for one in verdicts if one.is_worse(most)]
    return ["slower by more than %g %%: %s" % (100 * most, ", ".join(worse))] if worse else []
