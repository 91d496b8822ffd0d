# SPDX-License-Identifier: BSD-3-Clause
"""By how much two series of rates differ: the ratio of B to A (the median of the ratios of all pairs: Hodges and
Lehmann) and an interval that holds it. The interval is that of the rank sum test (Wilcoxon, Mann and Whitney), exact
for any distribution; on request logarithms of rates are taken for normally distributed where there are too few
repetitions for it (Welch)."""
import functools
import math
import statistics

EXACT, NORMAL, NONE = "exact", "normal", "none"
MOST_EXACT = 25  # repetitions of one side; for more the normal distribution stands in for the counts
MOST_NEEDED = 100


class Difference:
    """ratio: of B to A, above 1 when B is faster, None without rates; low and high hold it with the confidence that was
    asked for, None where there is none; method: how they were found."""

    def __init__(self, ratio, low=None, high=None, method=NONE):
        self.ratio, self.low, self.high, self.method = ratio, low, high, method

    @property
    def verdict(self):
        if self.method == NONE or self.low <= 1 <= self.high:
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


def cut(n, m, alpha):
    """How many of the sorted ratios lie outside the interval on each side: the interval begins with that one (from 0).
    -1: even the widest interval does not have the confidence 1 - alpha."""
    if max(n, m) > MOST_EXACT:
        sd = math.sqrt(n * m * (n + m + 1) / 12)
        return int(n * m / 2 - statistics.NormalDist().inv_cdf(1 - alpha / 2) * sd) - 1
    all_orders, below, k = math.comb(n + m, n), 0, -1
    for c in counts(n, m):
        below += c
        if 2 * below > alpha * all_orders * (1 + 1e-9):
            break
        k += 1
    return min(k, (n * m - 1) // 2)


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


def normal_interval(a, b, alpha):
    """Ratio of the geometric means and its interval (Welch)."""
    x, y = [math.log(v) for v in a], [math.log(v) for v in b]
    parts = statistics.variance(x) / len(x), statistics.variance(y) / len(y)
    middle, square = statistics.mean(y) - statistics.mean(x), sum(parts)
    if square == 0:
        return math.exp(middle), math.exp(middle), math.exp(middle)
    df = square**2 / (parts[0] ** 2 / (len(x) - 1) + parts[1] ** 2 / (len(y) - 1))
    half = t_quantile(alpha / 2, df) * math.sqrt(square)
    return tuple(math.exp(v) for v in (middle, middle - half, middle + half))


def needed(alpha, normal):
    """Repetitions of each side from which on there is an interval with confidence 1 - alpha."""
    return 3 if normal else next(n for n in range(2, MOST_NEEDED) if cut(n, n, alpha) >= 0)


def compare(a, b, alpha, normal=False):
    """The Difference of two series of rates above 0, with confidence 1 - alpha. One of them may be empty."""
    ratios = sorted(y / x for x in a for y in b)
    k = cut(len(a), len(b), alpha) if ratios else -1
    if k >= 0:
        return Difference(statistics.median(ratios), ratios[k], ratios[-1 - k], EXACT)
    if normal and min(len(a), len(b)) >= 3:
        return Difference(*normal_interval(a, b, alpha), NORMAL)
    return Difference(statistics.median(ratios) if ratios else None)
