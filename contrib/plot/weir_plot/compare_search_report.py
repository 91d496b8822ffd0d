# SPDX-License-Identifier: BSD-3-Clause
"""What a search says: its plan, the table of the combinations, and the verdict in one sentence."""
import shlex
import statistics

from . import compare_plan, compare_sides, compare_stats, compare_verdict

HEADINGS = "rank", "combination", "runs", "median", "lowest to highest", "against the first", "reached"


# ---- the plan ----


def plan_of(race, options):
    """What would be run."""
    count = len(race.arms)
    pairs = compare_plan.pairs(count, race.most)
    yield "%d combinations, at most %d runs, seed %d" % (count, race.most, race.seed)
    for arm in race.arms:
        yield "  %d: %s: %s" % (arm.number, arm.label, shlex.join(arm.words))
    for number, one in enumerate(race.rounds, 1):
        yield "round %d: %d combinations, %d run%s of each" % (number, one.alive, one.each, "s"[: one.each > 1])
    looks = sorted(compare_stats.looks(pairs, race.alpha)) if pairs else []
    yield "final: %s" % (
        "at most %d pairs of two, judged after %s" % (pairs, ", ".join(map(str, looks))) if pairs else "no run is left"
    )


# ---- the table ----


def value_of(race, value):
    return compare_sides.rate(value, compare_sides.Operation(race.operation, race.unit, [], []))


def has_interval(verdict):
    return verdict is not None and verdict.text != compare_verdict.ONE_RUN and verdict.difference.low is not None


def times(ratio):
    return "%.3f" % ratio


def against(race, arm, first):
    """The ratio of the medians of an arm and of the first: in the pairs, else in the rounds that both were in."""
    if arm in race.sides and any(race.sides.values()):
        one, other = race.values(arm), race.values(first)
    else:
        one, other = arm.values(), first.values(arm.stage)
    if arm is first or not one or not other:
        return "-"
    text = times(statistics.median(one) / statistics.median(other))
    if arm in race.sides and has_interval(race.verdict):
        d = race.verdict.difference
        text += " (%s to %s)" % (times(1 / d.high), times(1 / d.low))
    return text


def row_of(race, arm, rank, first):
    values = race.values(arm)
    return (
        rank,
        arm.label,
        str(len(values)),
        value_of(race, statistics.median(values)) if values else "-",
        "%s to %s" % (value_of(race, min(values)), value_of(race, max(values))) if values else "-",
        against(race, arm, first) if arm.error is None else "-",
        race.name_of(arm.stage).split(" of ")[0] if arm.error is None else "failed",
    )


def rows_of(race):
    """The combinations in their order, and those that failed."""
    ranked = race.ranked()
    rows = [row_of(race, arm, str(n), ranked[0]) for n, arm in enumerate(ranked, 1)]
    return rows + [row_of(race, arm, "-", None) for arm in race.arms if arm.error is not None]


# ---- the sentence ----


def verdict_of(race, options):
    """One sentence."""
    ranked = race.ranked()
    if not ranked:
        return "all combinations failed"
    if len(ranked) == 1:
        return "%s is the only combination that did not fail" % ranked[0].label
    first, second = ranked[:2]
    if has_interval(race.verdict):
        d = race.verdict.difference
        words = "%g %% interval %s to %s" % (100 * options.confidence, times(d.low), times(d.high))
        if race.verdict.decided:
            return "%s is fastest: %s times the second, %s (%s)" % (first.label, times(d.ratio), second.label, words)
        return "the first two are not told apart: %s is %s times %s (%s)" % (
            first.label,
            times(d.ratio),
            second.label,
            words,
        )
    pairs = min(map(len, race.sides.values()), default=0)
    return "nothing is told apart: %s was fastest, and %d pair%s of the first two %s not enough" % (
        first.label,
        pairs,
        "s"[: pairs != 1],
        "is" if pairs == 1 else "are",
    )


def heading(race, options):
    return "%d combinations by %s: %d of %d runs%s, in random order (seed %d), kept in %s; confidence %g %%" % (
        len(race.arms),
        race.operation or "no operation",
        race.used,
        race.most,
        race.ended,
        race.seed,
        race.folder,
        100 * options.confidence,
    )


def notes_of(race):
    """Lines on runs that doubt themselves, and on combinations that failed."""
    yield from compare_sides.doubts("all", [result for arm in race.arms for result in arm.results])
    for arm in race.arms:
        if arm.error is not None:
            yield "out of the race: %s" % arm.error
    if any(race.sides.values()):
        yield "the first two: runs of their pairs alone, since the other runs chose them; others: in the rounds of both"


def limits_of(race):
    """A line on the loss that the pairs of the first two can find, where these are not told apart."""
    return list(compare_verdict.limits([race.verdict], True)) if has_interval(race.verdict) else []


def lines_of(race, options):
    lines = ["command: %s" % shlex.join(options.commands), heading(race, options), *notes_of(race)]
    lines += compare_verdict.columns([HEADINGS, *rows_of(race)])
    return [*lines, *limits_of(race), verdict_of(race, options)]
