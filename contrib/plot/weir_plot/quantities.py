# SPDX-License-Identifier: BSD-3-Clause
"""Numbers with units: one scale for an axis, and words for a title."""

BINARY = (("B", 1), ("KiB", 2**10), ("MiB", 2**20), ("GiB", 2**30), ("TiB", 2**40))
DECIMAL = (("ops/s", 1), ("kops/s", 1e3), ("Mops/s", 1e6))
SECONDS = (("s", 1), ("ms", 1e-3), ("\u00b5s", 1e-6), ("ns", 1e-9))


def rate_scale(peak, in_bytes):
    """(unit of the axis, what one unit is) for rates up to peak per second."""
    table = BINARY if in_bytes else DECIMAL
    name, unit = table[0]
    for row in table:
        if peak >= row[1] * (1 if in_bytes else 10):
            name, unit = row
    return (name + "/s", unit) if in_bytes else (name, unit)


def time_scale(span):
    """(unit, seconds of it) for an axis that is span seconds long."""
    for name, unit in SECONDS:
        if span >= 0.2 * unit:
            return name, unit
    return SECONDS[-1]


def short(value):
    """Three digits that count, with commas: 0.0123, 12.3, 1,234."""
    if value != 0 and abs(value) < 0.001:
        return "%.2e" % value
    if abs(value) >= 100:
        return "{:,.0f}".format(value)
    return "%.3g" % value


def rate(value, in_bytes):
    name, unit = rate_scale(abs(value), in_bytes)
    return "%s %s" % (short(value / unit), name)


def size(value):
    """4 MiB; small sizes that fit no unit stay exact: 3,901 B."""
    if abs(value) < 10**6 and value % 1024:
        return "{:,.0f} B".format(value)
    name, unit = BINARY[0]
    for row in BINARY:
        if abs(value) >= row[1]:
            name, unit = row
    return "%s %s" % (short(value / unit), name)


def seconds(value):
    for name, unit in SECONDS:
        if abs(value) >= unit:
            return "%s %s" % (short(value / unit), name)
    return "%s ns" % short(value / 1e-9)


RATE_UNITS = {
    "B/s": 1,
    "kB/s": 1e3,
    "MB/s": 1e6,
    "GB/s": 1e9,
    "KiB/s": 2**10,
    "MiB/s": 2**20,
    "GiB/s": 2**30,
}
