# SPDX-License-Identifier: BSD-3-Clause
"""Where a series of runs changes its level: binary segmentation, each split judged by a permutation test.

The statistic knows the ranks of the runs only (as normal scores), so one run that is far off counts as little as any
other. It is the F of the best split into two levels, divided by what the autocorrelation of the runs adds to the
variance of a level. Under "no change" the runs are exchangeable, and the test is a permutation test; where the runs
depend on the one before, what is permuted are the innovations of a first-order autoregression with that dependence."""

import functools
import itertools
import math
import operator
import random
import statistics

LEAST = 3  # runs of a level
PERMUTATIONS = 999
ENOUGH = 10  # permutations that are as extreme: the answer is no
MOST_DEPENDENCE = 0.9
SHARE = 0.8  # of the probability of an alarm, for one change that stays
MOST_PLACES = 60  # at which a level that went again may begin


@functools.lru_cache(maxsize=None)
def normal_scores(n):
    """Of the ranks 1 to n; their squares add up to 1."""
    found = [statistics.NormalDist().inv_cdf((i + 0.5) / n) for i in range(n)]
    size = math.sqrt(sum(v * v for v in found))
    return [v / size for v in found]


def scores(values, rng=None):
    """The normal score of the rank of each value; of equal values a coin says which comes first."""
    order = list(range(len(values)))
    if rng:
        rng.shuffle(order)
    order.sort(key=values.__getitem__)
    found = [0.0] * len(values)
    for place, score in zip(order, normal_scores(len(values))):
        found[place] = score
    return found


def best_split(z):
    """(the sum of squares between two levels, [how many values are before the second one]) of the best split."""
    n, total, best, at = len(z), 0.0, -1.0, LEAST
    for k in range(1, n - LEAST + 1):
        total += z[k - 1]
        if k >= LEAST and total * total > best * k * (n - k):
            best, at = total * total / (k * (n - k)), k
    return best * n, [at]


def best_stay(z):
    """The same of a level that came and went: [where it begins, where it ends]. Long series are tried at some."""
    n, step = len(z), -(-len(z) // MOST_PLACES)
    sums = [0.0] + list(itertools.accumulate(z))
    weight = [0.0] + [n / (m * (n - m)) for m in range(1, n)]
    best, at = -1.0, [LEAST, 2 * LEAST]
    for i in range(LEAST, n - 2 * LEAST + 1, step):
        begin = sums[i]
        for j in range(i + LEAST, n - LEAST + 1, step):
            found = (sums[j] - begin) ** 2 * weight[j - i]
            if found > best:
                best, at = found, [i, j]
    return best, at


def dependence(z, places):
    """The autocorrelation of neighbours around their levels, which is too low: they were chosen."""
    left, square, product = [], 0.0, 0.0
    for start, end in zip([0] + places, places + [len(z)]):
        mean = sum(z[start:end]) / (end - start)
        left = [v - mean for v in z[start:end]]
        square += sum(v * v for v in left)
        product += sum(map(operator.mul, left, left[1:]))
    return product / square if square > 1e-12 else 0.0


def corrected(r, n, levels=2):
    """The dependence of n runs from that of their residuals; of few runs little is known, and it is taken for high."""
    bias = 2.5 * (levels - 1)
    found = (r * n + 2 * bias) / (n - 6 * bias) if n > 6 * bias + 2 else max(r, 0.6)
    return min(max(found, 0.0), MOST_DEPENDENCE)


def statistic(z, best):
    """(the statistic, the places of the best levels, the dependence of the residuals)"""
    between, places = best(z)
    r = dependence(z, places)
    limited = min(max(r, -0.3), MOST_DEPENDENCE)
    within = max(1 - between, 1e-9)
    return between / within * (1 - limited) / (1 + limited), places, r


def as_dependent(innovations, rho):
    found, last = [], innovations[0] / math.sqrt(1 - rho * rho)
    found.append(last)
    for value in innovations[1:]:
        last = rho * last + value
        found.append(last)
    return scores(found)


class Found:
    """places: how many runs are before each new level; p: how probable as clear levels are where nothing changed;
    rho: the dependence of the runs."""

    def __init__(self, places, p, rho):
        self.places, self.p, self.rho = places, p, rho


def permute(z, best, rng, alpha):
    """Found of the best levels of one kind."""
    seen, places, r = statistic(z, best)
    rho = corrected(r, len(z), len(places) + 1)
    most = max(PERMUTATIONS, math.ceil(20 / alpha))
    pool, above = list(normal_scores(len(z))), 0
    for n in range(1, most + 1):
        rng.shuffle(pool)
        above += statistic(as_dependent(pool, rho) if rho > 0 else pool, best)[0] >= seen * (1 - 1e-12)
        if above == ENOUGH and above / n > alpha:
            return Found(places, above / n, rho)
    return Found(places, (above + 1) / (most + 1), rho)


def judge(values, rng, alpha):
    """Found of a series of 2 * LEAST values or more. Most of the probability of an alarm is for a change that stays,
    the rest for a level that came and went, which one split does not show."""
    z = scores(values, rng)
    found = permute(z, best_split, rng, SHARE * alpha)
    found.p /= SHARE
    if found.p > alpha and len(z) >= 3 * LEAST:
        other = permute(z, best_stay, rng, (1 - SHARE) * alpha)
        other.p /= 1 - SHARE
        found = min(found, other, key=lambda one: one.p)
    found.p = min(found.p, 1.0)
    return found


class Split:
    """A change: how many runs are before it; p and rho as of Found, of which it is all or a part."""

    def __init__(self, place, p, rho, is_part):
        self.place, self.p, self.rho, self.is_part = place, p, rho, is_part


def segment(values, rng, alpha, found, start=0):
    """The Splits of a series whose best levels are real, and of what is in each of them."""
    splits = [Split(start + place, found.p, found.rho, len(found.places) > 1) for place in found.places]
    for low, high in zip([0] + found.places, found.places + [len(values)]):
        part = values[low:high]
        inner = judge(part, rng, alpha) if len(part) >= 2 * LEAST else None
        if inner and inner.p <= alpha:
            splits += segment(part, rng, alpha, inner, start + low)
    return sorted(splits, key=lambda one: one.place)


def changes(series, alpha, seed=0):
    """The Splits of each series, a list for each; all of them together have a change where there is none with
    probability alpha (Holm). Repeatable: each series has its own random numbers."""
    rngs = [random.Random("%d %d" % (seed, len(values))) for values in series]
    firsts = [judge(v, rng, alpha / len(series)) if len(v) >= 2 * LEAST else None for v, rng in zip(series, rngs)]
    order = sorted((i for i, first in enumerate(firsts) if first), key=lambda i: firsts[i].p)
    found, left = [[] for _ in series], len(order)
    for i in order:
        if firsts[i].p > alpha / left:
            break
        found[i] = segment(series[i], rngs[i], alpha / left, firsts[i])
        left -= 1
    return found


def dependence_of(values):
    """The dependence of the runs of a series, which may have changed once."""
    if len(values) < 2 * LEAST:
        return 0.0
    return corrected(statistic(scores(values, random.Random(0)), best_split)[2], len(values))


# ---- what could be seen ----


@functools.lru_cache(maxsize=None)
def needed(alpha):
    """Runs from which on a change that is larger than all noise is found, when it is in their middle."""
    for n in range(2 * LEAST, 60):
        rng = random.Random(n)
        if judge([rng.random() + (9 if i >= n // 2 else 0) for i in range(n)], rng, alpha).p <= alpha:
            return n
    return 60


def reach(values, rho, alpha):
    """The change in the middle of so many runs that is found in most cases, as a ratio below 1: measured
    (testing/history/alarms) were 60 of 100 cases with 20 runs, 78 with 30, 82 with 60. A change that is looked at alone
    would be found in four of five; the best of many splits has to be clearer, by about 0.9 standard deviations and
    more where runs are few."""
    logs = [math.log(v) for v in values]
    noise = 1.4826 * statistics.median([abs(v - statistics.median(logs)) for v in logs])
    clear = statistics.NormalDist().inv_cdf(1 - alpha / 2) + 0.9 + 0.84
    clear *= 1 + 200 / len(values) ** 2
    return math.exp(-2 * clear * noise * math.sqrt((1 + rho) / (1 - rho)) / math.sqrt(len(values)))
