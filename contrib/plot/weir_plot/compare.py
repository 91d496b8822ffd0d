# SPDX-License-Identifier: BSD-3-Clause
"""weir-compare: is B slower than A? For every operation of JSON results of like configuration."""
import argparse
import difflib
import math
import statistics
import sys

from . import compare_stats, complete, jsonfile, quantities
from .refusal import Refusal
from .result import Result

SLOWER = 7  # exit status
NOT_WHOLE = {3: "an I/O error", 4: "wrong data", 6: "a signal"}

EPILOG = """Exit status: 0 no operation is slower; 7 one is, by more than --worse-than; 1 a file cannot be used, or
configurations differ; 2 wrong options."""


class Operation:
    """One kind of operation of one test: its name and the rates of all repetitions in A and in B."""

    def __init__(self, name, a, b, in_bytes):
        self.name, self.a, self.b, self.in_bytes = name, a, b, in_bytes
        self.difference = self.needed = None

    def decide(self, alpha, normal):
        self.difference = compare_stats.compare(self.a, self.b, alpha, normal)
        if self.difference.method == compare_stats.NONE:
            self.needed = compare_stats.needed(alpha, normal)


# ---- are they alike? ----


def flat(value, prefix=""):
    """Names and values of an object and of those in it."""
    if not isinstance(value, dict):
        return {prefix: value}
    found = {}
    for key, one in value.items():
        found.update(flat(one, "%s.%s" % (prefix, key) if prefix else key))
    return found


def configuration(result, place):
    found = result.tests[place].get("configuration")
    if not isinstance(found, dict):
        raise Refusal(
            "%s: test %d has no member 'configuration'; it was made by an older version, run it again"
            % (result.source, place)
        )
    return {key: value for key, value in flat(found).items() if key != "hash"}


def words(value):
    return "the default" if value is None else str(value)


def check_alike(a, b, ignored):
    if len(a.tests) != len(b.tests):
        raise Refusal("%s has %d tests and %s has %d" % (a.source, len(a.tests), b.source, len(b.tests)))
    for place in range(len(a.tests)):
        one, other = configuration(a, place), configuration(b, place)
        differing = [
            "%s is %s and %s" % (key.replace("options.", "", 1), words(one.get(key)), words(other.get(key)))
            for key in sorted({**one, **other})
            if one.get(key) != other.get(key) and key.replace("options.", "", 1) not in ignored
        ]
        if differing:
            raise Refusal(
                "%s and %s are not alike: %s%s; --ignore=NAME,... compares them all the same"
                % (a.source, b.source, "test %d: " % place if place else "", ", ".join(differing))
            )


def known_names(result):
    """The names that --ignore can have: what the configurations have, and all options where they are told."""
    found = set()
    for place, test in enumerate(result.tests):
        found.update(key.replace("options.", "", 1) for key in configuration(result, place))
        values = test.get("optionValues")
        found.update(values if isinstance(values, dict) else ())
    return found


def near(name, known):
    """The known name that was probably meant, or None."""
    of_backend = [one for one in sorted(known) if one.lower().endswith("." + name.lower())]
    plain = {one.lower(): one for one in sorted(known)}
    found = difflib.get_close_matches(name.lower(), plain, 1)
    return of_backend[0] if of_backend else plain[found[0]] if found else None


def unmatched(results, ignored):
    """Words about each name of --ignore that no result has. Not an error: a default stands in few results."""
    known = set().union(*map(known_names, results)) if ignored else set()
    for name in ignored:
        if name not in known:
            meant = near(name, known)
            yield "--ignore: '%s' is in no configuration of these results%s" % (
                name,
                " (did you mean '%s'?)" % meant if meant else "",
            )


# ---- what is compared ----


def read(path):
    result = Result(path, jsonfile.read(path))
    if not result.tests:
        raise Refusal("%s: has no tests" % path)
    status = jsonfile.member(path, result.document, "status", int)
    if status not in (0, 5):
        raise Refusal(
            "%s: the run ended with status %s (%s)" % (path, status, NOT_WHOLE.get(status, "it failed"))
        )
    return result


def series(result, test):
    """The rates above 0 of each operation, and whether they are bytes/s."""
    found = {}
    for rate in result.rates(test):
        values, _ = found.setdefault(rate.operation, ([], rate.in_bytes))
        if rate.value > 0:
            values.append(rate.value)
    return found


def operations(a, b):
    found = []
    for place, test in enumerate(a.tests):
        mine, theirs = series(a, test), series(b, b.tests[place])
        before = "test %d: " % place if len(a.tests) > 1 else ""
        for name in list(mine) + [n for n in theirs if n not in mine]:
            in_bytes = (mine.get(name) or theirs[name])[1]
            none = ([], False)
            one, other = mine.get(name, none)[0], theirs.get(name, none)[0]
            found.append(Operation(before + name, one, other, in_bytes))
    return found


# ---- what is said ----


def percent(ratio):
    return "%+.1f %%" % (100 * (ratio - 1))


def row_of(one):
    d = one.difference
    medians = [quantities.rate(statistics.median(v), one.in_bytes) if v else "-" for v in (one.a, one.b)]
    verdict = d.verdict
    if d.ratio is None:
        verdict = "not measured in both"
    elif one.needed:
        verdict += " (%d repetitions of each are needed)" % one.needed
    return (
        one.name,
        *medians,
        "-" if d.ratio is None else percent(d.ratio),
        "-" if d.low is None else "%s to %s" % (percent(d.low), percent(d.high)),
        verdict,
    )


HEADINGS = "operation", "A", "B", "change", "interval", "B is"


def table(found):
    rows = [HEADINGS] + [row_of(one) for one in found]
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEADINGS))]
    for row in rows:
        yield "  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip()


def is_worse(one, most):
    return one.difference.verdict == "slower" and one.difference.ratio < 1 - most


def compare(a, b, options):
    """Lines, and whether an operation is slower by more than was allowed."""
    check_alike(a, b, options.ignore)
    found = operations(a, b)
    measured = sum(1 for one in found if one.a and one.b)
    alpha = (1 - options.confidence) / max(measured, 1)
    for one in found:
        one.decide(alpha, options.normal)
    worse = [one.name for one in found if is_worse(one, options.worse_than)]
    lines = [
        "A: %s, B: %s; confidence %g %% for all operations together"
        % (a.source, b.source, 100 * options.confidence)
    ]
    lines += table(found)
    lines += ["slower by more than %g %%: %s" % (100 * options.worse_than, ", ".join(worse))] if worse else []
    return lines, bool(worse)


# ---- the command ----


def share(least, most):
    def parse(text):
        try:
            value = float(text[:-1] if text.endswith("%") else text) / 100
        except ValueError:
            value = math.nan
        if not least <= value < most:
            raise argparse.ArgumentTypeError(
                "'%s' is not a percentage from %g to below %g" % (text, 100 * least, 100 * most)
            )
        return value

    return parse


def make_parser():
    parser = argparse.ArgumentParser(
        prog="weir-compare",
        description="Is B slower than A? For every operation of JSON results of like configuration.",
        epilog=EPILOG,
        allow_abbrev=False,
    )
    parser.add_argument("a", metavar="A.json", help="JSON result to compare with")
    parser.add_argument("b", metavar="B.json", nargs="+", help="JSON results, each compared with A")
    parser.add_argument(
        "--worse-than",
        metavar="PERCENT",
        type=share(0, 1),
        default=0,
        help="status 7 only for operations that are slower by more than this (default: 0)",
    )
    parser.add_argument(
        "--confidence",
        metavar="PERCENT",
        type=share(0.5, 1),
        default=0.95,
        help="with which the intervals of all operations hold (default: 95)",
    )
    parser.add_argument(
        "--normal",
        action="store_true",
        help="take logarithms of rates for normally distributed where repetitions are too few otherwise (3 at least)",
    )
    parser.add_argument(
        "--ignore",
        metavar="NAME,...",
        type=lambda text: text.split(","),
        default=[],
        help="differences of the configuration that are meant, such as backend,nodes",
    )
    return parser


def main(arguments=None):
    """Exit status of the command."""
    given = sys.argv[1:] if arguments is None else arguments
    if given[:1] == ["--complete"]:
        sys.stdout.writelines(complete.answer(make_parser(), given[1:]))
        return 0
    options = make_parser().parse_args(given)
    notes = []
    try:
        a, others = read(options.a), [read(path) for path in options.b]
        notes += unmatched([a] + others, options.ignore)
        outcomes = [compare(a, b, options) for b in others]
    except Refusal as e:
        print("weir-compare: %s" % "; ".join([str(e)] + notes), file=sys.stderr)
        return e.status
    for note in notes:
        print("weir-compare: note: %s" % note, file=sys.stderr)
    print("\n\n".join("\n".join(lines) for lines, _ in outcomes))
    return SLOWER if any(worse for _, worse in outcomes) else 0
