# SPDX-License-Identifier: BSD-3-Clause
"""The two sides of a comparison: results of runs, whether they are alike, and the rates of their operations."""
import difflib
import os
import statistics
import time

from . import jsonfile, quantities
from .jsonfile import number
from .refusal import BAD_USAGE, Refusal
from .result import INCOMPLETE, Result

NOT_WHOLE = {3: "an I/O error", 4: "wrong data", 6: "a signal"}
DATES = "%a %b %d %H:%M:%S %Y", "%m/%d/%Y %H:%M:%S"


def read(path):
    """The result of one run, which must be whole, or what one had measured when it was killed."""
    result = Result(path, jsonfile.read(path))
    if not result.tests:
        raise Refusal("%s: has no tests" % path)
    if result.is_incomplete:
        return result
    status = jsonfile.member(path, result.document, "status", int)
    if status not in (0, 5):
        raise Refusal(
            "%s: the run ended with status %s (%s)" % (path, status, NOT_WHOLE.get(status, "it failed"))
        )
    return result


def read_side(paths):
    """The results of the runs of one side."""
    seen = {}
    for path in paths:
        if seen.setdefault(os.path.realpath(path), path) is not path:
            raise Refusal("%s: is given twice on one side; a run counts once" % path, BAD_USAGE)
    results = [read(path) for path in paths]
    for i, result in enumerate(results):
        if "Began" in result.document and any(result.document == other.document for other in results[:i]):
            raise Refusal("%s: is a copy of another result of its side; a run counts once" % paths[i], BAD_USAGE)
    return results


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
    """Names of options and other facts, and their values."""
    found = result.tests[place].get("configuration")
    if not isinstance(found, dict):
        raise Refusal(
            "%s: test %d has no member 'configuration'; it was made by an older version, run it again"
            % (result.source, place)
        )
    return {key.replace("options.", "", 1): value for key, value in flat(found).items() if key != "hash"}


def words(value):
    return "the default" if value is None else str(value)


def differences(a, b, ignored):
    """Words about what differs between the configurations of two results."""
    if len(a.tests) != len(b.tests):
        raise Refusal("%s has %d tests and %s has %d" % (a.source, len(a.tests), b.source, len(b.tests)))
    for place in range(len(a.tests)):
        one, other = configuration(a, place), configuration(b, place)
        found = [
            "%s is %s and %s" % (key, words(one.get(key)), words(other.get(key)))
            for key in sorted({**one, **other})
            if one.get(key) != other.get(key) and key not in ignored
        ]
        if found:
            yield "%s%s" % ("test %d: " % place if place else "", ", ".join(found))


def check_alike(a, others, ignored):
    for b in others:
        for said in differences(a, b, ignored):
            raise Refusal(
                "%s and %s are not alike: %s; --ignore=NAME,... compares them all the same"
                % (a.source, b.source, said)
            )


def known_names(result):
    """The names that --ignore can have: what the configurations have, and all options where they are told."""
    found = set()
    for place, test in enumerate(result.tests):
        found.update(configuration(result, place))
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


# ---- can they be trusted? ----


def doubts(label, results):
    """Words about the runs of a side that did not end, or judged themselves: those that are SUSPECT or INVALID."""
    for result in results:
        if result.is_incomplete:
            yield "%s: %s %s" % (label, result.source, INCOMPLETE)
    for verdict in ("SUSPECT", "INVALID"):
        runs, rules = [], {}
        for result in results:
            tests = [test for test in result.tests if test.get("verdict") == verdict]
            runs += [result.source] if tests else []
            for test in tests:
                for row in jsonfile.rows(result.source, test, "findings"):
                    if row.get("outcome") == "found" and row.get("severity") == verdict:
                        rules[str(row.get("id"))] = None
        if runs:
            yield "%s: %s %s (%s): weir says itself that these rates may not mean what they seem to" % (
                label,
                runs[0] if len(results) == 1 else "%d of %d runs" % (len(runs), len(results)),
                ("is " if len(runs) == 1 else "are ") + verdict,
                ", ".join(rules) or "no rule is named",
            )


def when(document):
    """When a run began, seconds; None where that cannot be read."""
    for form in DATES:
        try:
            return time.mktime(time.strptime(document["Began"], form))
        except (KeyError, TypeError, ValueError, OverflowError):
            pass
    return None


def began(results):
    """When the runs began, seconds; none where that cannot be read of all."""
    found = [when(result.document) for result in results]
    return [] if None in found else found


def one_after_the_other(a, b):
    """Was one side done before the other began?"""
    one, other = began(a), began(b)
    return bool(one and other) and (max(one) < min(other) or max(other) < min(one))


# ---- what is compared ----


class Operation:
    """One kind of operation of one test: its name, and for each run of A and of B the rates of its repetitions.
    in_bytes: None where these are one over a time."""

    def __init__(self, name, in_bytes, a, b):
        self.name, self.in_bytes, self.a, self.b = name, in_bytes, a, b

    @property
    def measured(self):
        return any(self.a) and any(self.b)

    def pairs(self):
        """The medians of the runs that are a pair, and have both measured it."""
        found = [(statistics.median(x), statistics.median(y)) for x, y in zip(self.a, self.b) if x and y]
        return [x for x, _ in found], [y for _, y in found]

    def medians(self):
        """Of the runs that have measured it."""
        return [[statistics.median(run) for run in side if run] for side in (self.a, self.b)]


def series(result, place):
    """The rates above 0 of each operation of a test, and whether they are bytes/s."""
    found = {}
    for rate in result.rates(result.tests[place]):
        values, _ = found.setdefault(rate.operation, ([], rate.in_bytes))
        if rate.value > 0:
            values.append(rate.value)
    return found


def responses(result, place):
    """At a fixed rate all runs are as fast, and what differs is how long an operation took since it was due."""
    found = {}
    for row in jsonfile.rows(result.source, result.tests[place], "load"):
        asked, time = number(row.get("rateAsked")), number(row.get("responseP99"))
        if asked and time and number(row.get("percent")) is None:
            at = quantities.rate(asked, row.get("unit") == "bytes/s")
            found.setdefault("%s at %s: response p99" % (row.get("operation"), at), ([], None))[0].append(1 / time)
    return found


def measured(result):
    """{name: (rates above 0, unit)} of the operations of all tests of a result. The unit as in_bytes of Operation."""
    found = {}
    for place in range(len(result.tests)):
        before = "test %d: " % place if len(result.tests) > 1 else ""
        for name, one in {**series(result, place), **responses(result, place)}.items():
            found[before + name] = one
    return found


def operations(a, b):
    """Those of all tests of the results of two sides."""
    sides = [[measured(result) for result in side] for side in (a, b)]
    units = {name: unit for side in sides for run in side for name, (_, unit) in run.items()}
    return [
        Operation(name, in_bytes, *([run.get(name, ([],))[0] for run in side] for side in sides))
        for name, in_bytes in units.items()
    ]


def rate(value, one):
    return quantities.seconds(1 / value) if one.in_bytes is None else quantities.rate(value, one.in_bytes)
