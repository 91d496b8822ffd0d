# SPDX-License-Identifier: BSD-3-Clause
"""weir-compare search: which combination of parameters is fastest? Successive halving in random order, and then the
last two in pairs, as weir-compare run makes and judges them.

The interval of the last two is made of their pairs alone: the runs that chose these two are not in it, so the choice
makes no false alarm more probable, however many combinations there were."""
import itertools
import os
import random
import shlex
import statistics
import time

from . import compare_braces, compare_plan, compare_run, compare_search_report, compare_sides, compare_stats
from . import compare_verdict, history, wholefile
from .compare_run import say, show
from .refusal import BAD_USAGE, Refusal

FINAL = 1000  # a stage after all rounds
RUNS_EACH = 10  # of the default budget
MOST_SEEDS = 10**6


class Arm:
    """A combination in the race. number: from 1; runs: pairs of a stage and the rates of the repetitions; stage: the
    last one that it was in; error: why it is out of the race, or None."""

    def __init__(self, number, combination):
        self.number, self.label, self.words = number, combination.label, combination.words
        self.runs, self.results, self.stage, self.error = [], [], 0, None

    def values(self, last=FINAL):
        """The medians of its runs up to that stage."""
        return [statistics.median(rates) for stage, rates in self.runs if stage <= last]


class Race:
    """The combinations and their runs. operation, unit: what is compared, as of compare_sides.Operation; sides: the
    runs of the last two in pairs; verdict: compare_verdict.Verdict of these; ended: words on why the final ended."""

    def __init__(self, combinations, options, seed, folder):
        self.arms = [Arm(n, one) for n, one in enumerate(combinations, 1)]
        self.most, self.alpha, self.seed, self.folder = options.runs, 1 - options.confidence, seed, folder
        self.operation, self.unit = options.operation, None
        self.random, self.used, self.began = random.Random(seed), 0, time.monotonic()
        self.sides, self.verdict, self.ended = {}, None, ""
        self.rounds = compare_plan.rounds(len(self.arms), self.most)[0]

    # ---- the order of the combinations ----

    def values(self, arm):
        """The medians of its runs; of the last two only those of their pairs."""
        paired = [statistics.median(rates) for rates in self.sides.get(arm, ())]
        return paired or arm.values()

    def ranked(self):
        """The combinations without an error: those that came far first, and the fastest of these."""

        def key(arm):
            values = self.values(arm)
            return -arm.stage, -(statistics.median(values) if values else 0), arm.number

        return sorted((arm for arm in self.arms if arm.error is None), key=key)

    def enter(self, stage, count):
        """The best combinations, which are now in that stage."""
        alive = self.ranked()[:count]
        for arm in alive:
            arm.stage = stage
        return alive

    # ---- runs ----

    def measure(self, arm):
        """The result of one run."""
        return compare_run.run_one(arm.words, arm.label, self.folder, "run%03d-%d" % (self.used, arm.number))

    def run(self, arm):
        """One run of a combination. False: it failed, and the combination is out of the race."""
        self.used += 1
        about = "run %d of %d (%s)" % (self.used, self.most, self.name_of(arm.stage))
        show("%s: %s runs" % (about, arm.label))
        try:
            result = self.measure(arm)
            compare_sides.check_alike((arm.results + [result])[0], [result], ())
            rates = self.rates_of(result)
        except Refusal as e:
            if e.status == BAD_USAGE:
                raise
            arm.error = str(e)
            show("")
            say("%s: out of the race: %s" % (about, arm.error))
            return False
        arm.results.append(result)
        arm.runs.append((arm.stage, rates))
        value = compare_sides.Operation(self.operation, self.unit, [rates], [])
        show("")
        say(
            "%s: %s: %s %s%s"
            % (
                about,
                arm.label,
                self.operation,
                compare_run.middle(rates, value),
                compare_run.time_left(self.began, self.used, self.most),
            )
        )
        return True

    def name_of(self, stage):
        return "final" if stage == FINAL else "round %d of %d" % (stage, len(self.rounds))

    def rates_of(self, result):
        """The rates of the operation that is compared. The first result says which one that is, unless it was named."""
        found = compare_sides.measured(result)
        known = any(arm.results for arm in self.arms)
        if not known and self.operation and self.operation not in found:
            raise Refusal(
                "--operation=%s: %s has %s" % (self.operation, result.source, ", ".join(found) or "no rates"), BAD_USAGE
            )
        self.operation = self.operation or next(iter(found), None)
        rates, unit = found.get(self.operation, ((), None))
        if not rates:
            raise Refusal("%s: has no rate of %s above 0" % (result.source, self.operation or "any operation"))
        self.unit = unit
        return rates

    # ---- the race ----

    def screen(self):
        """Rounds of halving: each combination equally often, all of them in random order again and again."""
        for number, one in enumerate(self.rounds, 1):
            alive = self.enter(number, one.alive)
            if len(alive) <= 2:
                return
            for arm in itertools.chain(*(self.random.sample(alive, len(alive)) for _ in range(one.each))):
                if len(self.ranked()) < 2:
                    return
                if arm.error is None:
                    self.run(arm)

    def final(self):
        """Pairs of the best two. Where one of them fails the next one takes its place. One that is left has to run."""
        while True:
            two = self.enter(FINAL, 2)
            count = (self.most - self.used) // 2
            if len(two) == 1 and not two[0].runs:
                self.run(two[0])
            if len(two) < 2 or not count:
                return
            self.sides, self.verdict = {arm: [] for arm in two}, None
            if self.duel(two, count):
                return
            self.sides = {}

    def duel(self, two, count):
        """Pairs until the two are told apart, or cannot be any more. False: one of them failed."""
        looks = compare_stats.looks(count, self.alpha)
        possible = compare_stats.within_reach([], looks)
        for number in range(1, count + 1):
            for arm in self.random.sample(two, 2):
                if not self.run(arm):
                    return False
                self.sides[arm].append(arm.runs[-1][1])
            if number in looks:
                self.verdict = self.judge(looks[number])
                if self.verdict.decided:
                    self.ended = ", which is enough" if number < count else ""
                    return True
            if possible and number < count and not compare_stats.within_reach(self.ratios(), looks):
                self.verdict = self.judge(looks[count])
                self.ended = ", since more of them can tell nothing apart"
                return True
        return True

    def operation_of_two(self):
        """The pairs: A is the second, and B the first, so that the ratio is above 1."""
        first, second = self.ranked()[:2]
        return compare_sides.Operation(self.operation, self.unit, self.sides[second], self.sides[first])

    def judge(self, alpha):
        return compare_verdict.judge_one(self.operation_of_two(), alpha, True, False)

    def ratios(self):
        return compare_stats.logs_of(*self.operation_of_two().pairs())


def make_race(options):
    """The race that the options describe; what cannot be run is refused."""
    if "::" in options.commands or not options.commands:
        raise Refusal("wanted is one command: weir-compare search [options] -- COMMAND", BAD_USAGE)
    found = compare_braces.combinations(options.commands)
    least = compare_plan.LEAST * len(found)
    options.runs = options.runs or RUNS_EACH * len(found)
    if options.runs < least:
        raise Refusal(
            "-n %d: %d combinations need %d runs at least, %d of each"
            % (options.runs, len(found), least, compare_plan.LEAST),
            BAD_USAGE,
        )
    seed = random.randrange(MOST_SEEDS) if options.seed is None else options.seed
    return Race(found, options, seed, None)


def tell_first(race, words):
    """Notes on what can be known before the first run."""
    pair = compare_braces.expanded(words)
    if pair:
        say("note: %s and %s follow each other; %s" % (*map(shlex.quote, pair), compare_braces.QUOTE))
    count = len(race.arms)
    if compare_plan.pairs(count, race.most) < compare_stats.needed(race.alpha, True, False):
        say(
            "note: %d runs can tell nothing apart: %d are needed for %d combinations"
            % (race.most, compare_plan.enough(count, race.alpha), count)
        )


def race_to_the_end(race, options):
    """Run, and publish what is known, also after a signal."""
    try:
        race.screen()
        race.final()
    except KeyboardInterrupt:
        show("")
        race.ended = ", interrupted"
        if any(arm.results for arm in race.arms):
            compare_run.publish(compare_search_report.lines_of(race, options), race.folder)
        say("interrupted in run %d of %d; the results are kept in %s" % (race.used, race.most, race.folder))
        raise


def check_output(path):
    """Refuse before the runs what could not be written after them."""
    history.check_output(path)
    folder = os.path.dirname(path or "") or "."
    if path and not os.access(folder, os.W_OK):
        raise Refusal("-o %s: %s" % (path, "no right to write there" if os.path.isdir(folder) else "no such directory"))


def draw(path, race, options):
    """The picture or the page."""
    from . import compare_search_draw, style

    with style.matplotlib().rc_context(style.SETTINGS):
        if path.lower().endswith(".html"):
            text = compare_search_draw.page_of(race, options)
            with wholefile.writing(path, "w", encoding="utf-8") as f:
                f.write(text)
        else:
            compare_search_draw.save(race, path)


def run(options):
    """Run the combinations, and say which one is fastest. Exit status."""
    race = make_race(options)
    tell_first(race, options.commands)
    if options.dry_run:
        print("\n".join(compare_search_report.plan_of(race, options)))
        return 0
    check_output(options.output)
    race.folder = compare_run.make_folder(options.keep)
    compare_run.end_at_signals()
    race_to_the_end(race, options)
    compare_run.publish(compare_search_report.lines_of(race, options), race.folder)
    if not race.ranked():
        raise Refusal("all %d combinations failed; their output is kept in %s" % (len(race.arms), race.folder))
    if options.output:
        draw(options.output, race, options)
    return 0
