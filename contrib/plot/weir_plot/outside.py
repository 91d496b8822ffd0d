# SPDX-License-Identifier: BSD-3-Clause
"""Series that something else measured, such as servers: CSV with epoch, read, write, or the lines of lwatch, which have
the time of day as words."""
import csv
import time

import numpy as np

from .quantities import RATE_UNITS
from .refusal import BAD_USAGE, Refusal, reason


class Series:
    """time in seconds (of the run after align), rates: {"read", "write"} in bytes/s, step: seconds of a sample.
    A sample says what happened in the step that ends at its time."""

    def __init__(self, path, time, rates):
        self.path, self.time, self.rates = path, time, rates
        self.step = float(np.median(np.diff(time)))

    @property
    def edges(self):
        return np.concatenate([[self.time[0] - self.step], self.time])


def read(path, unit):
    """The series in a CSV file; a heading is passed over, and so are lines that begin with #."""
    rows, of_lwatch = [], False
    try:
        with open(path, newline="", encoding="utf-8", errors="replace") as f:
            for place, row in enumerate(csv.reader(f), 1):
                if not row or row[0].lstrip().startswith("#") or (not rows and is_heading(row)):
                    continue
                rows.append(numbers(path, place, lwatch(row) or row))
                of_lwatch = bool(lwatch(row))
    except OSError as e:
        raise Refusal("%s: %s" % (path, reason(e)))
    except csv.Error as e:
        raise Refusal("%s: not CSV: %s" % (path, e))
    if len(rows) < 2:
        raise Refusal("%s: has %d samples: two are needed to know how long one is" % (path, len(rows)))
    table = np.array(rows)
    if of_lwatch and np.all(np.diff(table[:, 0]) >= 0) and table[-1, 0] > table[0, 0]:
        table[:, 0] = np.linspace(table[0, 0], table[-1, 0], len(table))  # its times are whole seconds
    if np.any(np.diff(table[:, 0]) <= 0):
        place = int(np.argmax(np.diff(table[:, 0]) <= 0)) + 2
        raise Refusal("%s: sample %d is not later than the one before it" % (path, place))
    scale = RATE_UNITS[unit]
    return Series(path, table[:, 0], {"read": table[:, 1] * scale, "write": table[:, 2] * scale})


def lwatch(row):
    """[epoch, read, write] of a line such as: Sun Nov 22 05:08:46 2026 120.5 0.0, else None."""
    words = row[0].split() if len(row) == 1 else []
    if len(words) == 3:
        return words
    try:
        return [str(time.mktime(time.strptime(" ".join(words[:5]), "%a %b %d %H:%M:%S %Y")))] + words[5:]
    except (ValueError, OverflowError):
        return None


def is_heading(row):
    return row[0].strip().lower() in ("epoch", "time", "timestamp")


def numbers(path, place, row):
    if len(row) < 3:
        raise Refusal("%s: line %d has %d columns: wanted are epoch,read,write" % (path, place, len(row)))
    values = []
    for cell in row[:3]:
        try:
            values.append(float(cell))
        except ValueError:
            values.append(float("nan"))
        if not np.isfinite(values[-1]):
            raise Refusal("%s: line %d: '%s' is not a number" % (path, place, cell.strip()[:40]))
    return values


def align(series, run, phases, zero):
    """Put the series on the clock of the run. zero: epoch of the run's 0, or None: what the timeline says, else the
    first sample with a tenth of the highest rate is where the calls begin. Returns words on what was done."""
    said = run.epoch(phases[0].test)
    if zero is not None:
        how = "with the given zero"
    elif said is not None:
        zero, how = said, "by the clock of the run"
    else:
        moving = [p for p in phases if p.moves_bytes]
        first = min(moving or phases, key=lambda p: p.begin)
        rate = series.rates.get(first.key, series.rates["read"] + series.rates["write"])
        if not np.any(rate > 0):
            raise Refusal("%s: has no rate above 0 to align with the calls: give --zero=EPOCH" % series.path)
        busy = int(np.argmax(rate >= rate.max() / 10))
        zero = series.edges[busy] - first.begin
        how = "by its first sample with data; --zero=EPOCH says better"
    series.time = series.time - zero
    begin, end = min(p.begin for p in phases), max(p.end for p in phases)
    if series.time[-1] < begin or series.edges[0] > end:
        raise Refusal(
            "%s: lies from %.0f s to %.0f s of the run, whose phases last from %.0f s to %.0f s: give --zero=EPOCH"
            % (series.path, series.edges[0], series.time[-1], begin, end),
            BAD_USAGE,
        )
    return "aligned " + how
