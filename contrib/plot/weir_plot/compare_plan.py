# SPDX-License-Identifier: BSD-3-Clause
"""How many runs each combination of a search gets: rounds of successive halving, and pairs of the last two."""
import itertools

from . import compare_stats

LEAST = 2  # runs of each combination in the first round


class Round:
    """alive: combinations that are in it; each: runs of each of them."""

    def __init__(self, alive, each):
        self.alive, self.each = alive, each


def sizes(count):
    """Combinations in each round: the lower half goes, until two are left for the final."""
    found = []
    while count > 2:
        found.append(count)
        count = -(-count // 2)
    return found


def rounds(count, budget):
    """The Rounds, which share a half of the budget equally, and how many runs are left for the final. A round that the
    budget does not allow is left out."""
    found, left, alive = [], budget, sizes(count)
    for place, here in enumerate(alive):
        wanted = max(1 if place else LEAST, budget // (2 * len(alive) * here))
        each = min(wanted, left // here)
        if each:
            found.append(Round(here, each))
            left -= here * each
    return found, left


def pairs(count, budget):
    """Pairs of the last two that the budget allows when no run fails."""
    return rounds(count, budget)[1] // 2


def enough(count, alpha):
    """The smallest budget with which the last two can be told apart."""
    needed = compare_stats.needed(alpha, True, False)
    return next(n for n in itertools.count(LEAST * count) if pairs(count, n) >= needed)
