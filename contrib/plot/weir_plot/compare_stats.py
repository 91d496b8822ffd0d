# SPDX-License-Identifier: BSD-3-Clause
"""By how much two series of values differ, one value for each run, and an interval that holds it. Runs of two sides:
the interval of the rank sum test (Wilcoxon, Mann and Whitney). Pairs of runs: that of the signed rank test (Wilcoxon).
Both are exact for any distribution; on request logarithms of rates are taken for normally distributed where there are
too few runs for them (Welch, Student)."""
import bisect
import functools
import math
import statistics

MOST_EXACT = 25  # values of one side, or pairs; for more the normal distribution stands in for the counts,
FEW, MOST_BESIDE_FEW = 8, 200  # but it is none where one side has few
MOST_NEEDED = 100
# A sequence of pairs is judged at these parts of its length, and at its end.
LOOKS = (0.5, 0.65, 0.8)


class Difference:
    """a, b: the medians, None without rates; ratio: of b to a, above 1 when B is faster; low and high hold the true
    one with the confidence that was asked for, and the ratio itself, so that a row never contradicts itself; None where
    there is no interval."""

    def __init__(self, a, b, interval=None):
        self.a, self.b = (statistics.median(side) if side else None for side in (a, b))
        self.ratio = self.b / self.a if a and b else None
        self.low, self.high = (min(self.ratio, interval[0]), max(self.ratio, interval[1])) if interval else (None, None)

    @property
    def verdict(self):
        if self.low is None or self.low <= 1 <= self.high:
            return "not told apart"
        return "slower" if self.high < 1 else "faster"


@functools.lru_cache(maxsize=None)
def counts(n, m):
    """How many orders of n and m values have each value of U (the pairs in which B is larger), from 0 to n * m."""
    row = [[1]] + [None] * m
    for j in range(1, m + 1):  # no value of A
        row[j] = [1]
    for i in range(1, n + 1):
        new = [[1]]
        for j in range(1, m + 1):
            out = [0] * (i * j + 1)
            for u, c in enumerate(new[j - 1]):  # the largest is of B: it is above all i of A
                out[u + i] += c
            for u, c in enumerate(row[j]):  # the largest is of A
                out[u] += c
            new.append(out)
        row = new
    return row[m]


@functools.lru_cache(maxsize=None)
def signed_counts(n):
    """How many of the 2 ** n signs of n differences have each sum of the ranks of those above 0."""
    row = [1]
    for rank in range(1, n + 1):
        row = [
            (row[t] if t < len(row) else 0) + (row[t - rank] if t >= rank else 0)
            for t in range(len(row) + rank)
        ]
    return row


def lowest(found, alpha, most):
    """How many sorted values lie outside the interval on each side: it begins with that one (from 0). found: of how
    many orders or signs the statistic has each value. -1: even the widest interval has less than the confidence
    1 - alpha."""
    everything, below, k = sum(found), 0, -1
    for c in found:
        below += c
        if 2 * below > alpha * everything * (1 + 1e-9):
            break
        k += 1
    return min(k, (most - 1) // 2)


def about(mean, sd, alpha):
    """The same for many values."""
    return int(mean - statistics.NormalDist().inv_cdf(1 - alpha / 2) * sd) - 1


def cut(n, m, alpha):
    """Of n * m ratios of two sides."""
    if max(n, m) > (MOST_BESIDE_FEW if min(n, m) <= FEW else MOST_EXACT):
        return about(n * m / 2, math.sqrt(n * m * (n + m + 1) / 12), alpha)
    return lowest(counts(n, m), alpha, n * m)


def signed_cut(n, alpha):
    """Of n * (n + 1) / 2 means of two of n differences."""
    if n > MOST_EXACT:
        return about(n * (n + 1) / 4, math.sqrt(n * (n + 1) * (2 * n + 1) / 24), alpha)
    return lowest(signed_counts(n), alpha, n * (n + 1) // 2)


def beta_fraction(a, b, x):
    """The continued fraction of the incomplete beta function (Lentz)."""
    tiny, c, d = 1e-300, 1.0, 1 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > tiny else tiny)
    h = d
    for m in range(1, 300):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 + term * d
            c = 1 + term / c
            d = 1 / (d if abs(d) > tiny else tiny)
            c = c if abs(c) > tiny else tiny
            h *= d * c
        if abs(d * c - 1) < 1e-14:
            break
    return h


def t_tail(t, df):
    """Probability of more than t on one side, t >= 0."""
    x, a, b = df / (df + t * t), df / 2, 0.5
    if x >= 1:
        return 0.5
    gammas = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    front = math.exp(gammas + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * beta_fraction(a, b, x) / a / 2
    return (1 - front * beta_fraction(b, a, 1 - x) / b) / 2


def t_quantile(tail, df):
    """The value with this probability above it, below 0.5."""
    low, high = 0.0, 1.0
    while t_tail(high, df) > tail:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if t_tail(middle, df) > tail else (low, middle)
    return high


def around(middle, half):
    return math.exp(middle - half), math.exp(middle + half)


def welch(a, b, alpha):
    """The interval of the ratio of the geometric means."""
    x, y = [math.log(v) for v in a], [math.log(v) for v in b]
    parts = statistics.variance(x) / len(x), statistics.variance(y) / len(y)
    middle, square = statistics.mean(y) - statistics.mean(x), sum(parts)
    if square == 0:
        return around(middle, 0)
    df = square**2 / (parts[0] ** 2 / (len(x) - 1) + parts[1] ** 2 / (len(y) - 1))
    return around(middle, t_quantile(alpha / 2, df) * math.sqrt(square))


def student(logs, alpha):
    """The interval of the mean of differences."""
    n = len(logs)
    return around(statistics.mean(logs), t_quantile(alpha / 2, n - 1) * statistics.stdev(logs) / math.sqrt(n))


def needed(alpha, paired, normal):
    """Runs of each side from which on there is an interval with confidence 1 - alpha."""
    if normal:
        return 3
    return next(n for n in range(2, MOST_NEEDED) if (signed_cut(n, alpha) if paired else cut(n, n, alpha)) >= 0)


def compare(a, b, alpha, normal=False):
    """The Difference of two series of rates above 0, with confidence 1 - alpha. One of them may be empty."""
    ratios = sorted(y / x for x in a for y in b)
    k = cut(len(a), len(b), alpha) if ratios else -1
    if k >= 0:
        return Difference(a, b, (ratios[k], ratios[-1 - k]))
    return Difference(a, b, welch(a, b, alpha) if normal and min(len(a), len(b)) >= 3 else None)


def logs_of(a, b):
    """The logarithms of the ratios of pairs."""
    return [math.log(y / x) for x, y in zip(a, b)]


def compare_pairs(a, b, alpha, normal=False):
    """The same where a[i] and b[i] are a pair of runs."""
    logs = logs_of(a, b)
    k = signed_cut(len(logs), alpha) if logs else -1
    if k >= 0:
        means = sorted((logs[i] + logs[j]) / 2 for i in range(len(logs)) for j in range(i + 1))
        return Difference(a, b, (math.exp(means[k]), math.exp(means[-1 - k])))
    return Difference(a, b, student(logs, alpha) if normal and len(logs) >= 3 else None)


def within_reach(logs, looks):
    """Can a later look still exclude 1 as the ratio? logs: of the ratios of the pairs until now. That is so when it
    would if all other pairs had the same sign and were farther apart than these."""
    against = min(below(logs), below([-one for one in logs]))
    return any(against <= signed_cut(n, alpha) for n, alpha in looks.items() if n > len(logs))


def below(values):
    """How many means of two of the values, or of one with itself, are 0 or less."""
    found = sorted(values)
    both = sum(bisect.bisect_right(found, -one) for one in found)
    return (both + bisect.bisect_right(found, 0)) // 2


def looks(pairs, alpha):
    """{after how many pairs: the alpha of that look}. Their sum is alpha: the intervals of all looks hold together, so
    that pairs may end at any of them. Looks that could tell nothing are left out."""
    for early in range(len(LOOKS), 0, -1):
        at = sorted({math.ceil(part * pairs) for part in LOOKS[-early:]} - {pairs})
        share = alpha / 2 / max(len(at), 1)
        if at and signed_cut(at[0], share) >= 0 and signed_cut(pairs, alpha / 2) >= 0:
            return {**dict.fromkeys(at, share), pairs: alpha / 2}
    return {pairs: alpha}
