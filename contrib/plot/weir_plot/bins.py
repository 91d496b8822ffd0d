# SPDX-License-Identifier: BSD-3-Clause
"""Calls become rates: what a call did is spread evenly from its begin to its end, so that the sum stays exact."""
import numpy as np

from .chosen import ENOUGH
from .refusal import BAD_USAGE, Refusal

SHORTEST = 1e-3  # seconds of a bin, unless asked for
MOST = 5000


def edges(begin, end, width=None, calls=0, wanted=200, whole=None, drawn=None):
    """Edges of bins over [begin, end] in seconds. whole: length of all that is drawn, where this is a part. drawn:
    calls of a sample, of which a bin needs some."""
    span = max(end - begin, 1e-9)
    if width is None:
        count = span / max((whole or span) / wanted, SHORTEST)
        count = int(min(max(count, min(calls / 4, 40)), 2 * wanted))
        if drawn is not None:
            count = min(count, drawn // ENOUGH)
    else:
        count = int(np.ceil(span / width * (1 - 1e-12)))
        if count > MOST:
            raise Refusal(
                "--bin=%g: makes %d bins of %g s; at most %d" % (width, count, span, MOST), BAD_USAGE
            )
        return begin + width * np.arange(max(count, 1) + 1)
    return np.linspace(begin, begin + span, max(count, 1) + 1)


def sums(calls, weights, at, rows=None, count=1):
    """weights of the calls in each bin between the edges at: an array count x bins. rows: the row of each call.
    What lies outside the first and the last edge goes into the first and the last bin."""
    bins = len(at) - 1
    width = (at[-1] - at[0]) / bins
    row = (np.zeros(calls.count, np.int64) if rows is None else rows) * bins
    begin, end = np.clip(calls.begin, at[0], at[-1]), np.clip(calls.end, at[0], at[-1])
    first = np.clip(((begin - at[0]) / width).astype(np.int64), 0, bins - 1)
    last = np.clip(((end - at[0]) / width).astype(np.int64), first, bins - 1)
    per_second = weights / np.maximum(end - begin, 1e-12)
    inside = first == last
    in_first = np.where(inside, weights, per_second * np.maximum(at[first + 1] - begin, 0))
    full = per_second * width
    in_last = np.where(inside, 0, weights - in_first - full * (last - first - 1))
    out = np.bincount(row + first, in_first, count * bins)
    out += np.bincount(row + last, in_last, count * bins)
    long = last - first > 1
    if np.any(long):
        out += between(row[long], first[long], last[long], full[long], count, bins)
    return out.reshape(count, bins)


def between(row, first, last, full, count, bins):
    """full for each bin after first and before last: steps up and down, then the running sum."""
    # One bin more in each row takes the steps down that come after the last bin.
    start = row // bins * (bins + 1)
    steps = np.bincount(start + first + 1, full, count * (bins + 1))
    steps -= np.bincount(start + last, full, count * (bins + 1))
    return np.cumsum(steps.reshape(count, bins + 1), axis=1)[:, :bins].reshape(-1)
