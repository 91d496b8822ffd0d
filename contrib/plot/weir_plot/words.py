# SPDX-License-Identifier: BSD-3-Clause
"""Members of results in the words of a reader, and their values with units."""
import re

from . import quantities

MIB = 2**20


def data_rate(value):
    return quantities.rate(value * MIB, True)


def byte_rate(value):
    return quantities.rate(value, True)


def operation_rate(value):
    return quantities.rate(value, False)


def milliseconds(value):
    return quantities.seconds(value / 1e3)


# What the members are called, and the form of their numbers. All others: see label() and cell().
MEMBERS = {
    "access": ("operation", None),
    "TestID": ("test", None),
    "numTasks": ("tasks", None),
    "iter": ("repetition", None),
    "iteration": ("repetition", None),
    "bwMiB": ("data rate", data_rate),
    "bwMaxMIB": ("highest", data_rate),
    "bwMinMIB": ("lowest", data_rate),
    "bwMeanMIB": ("mean", data_rate),
    "bwStdMIB": ("standard deviation", data_rate),
    "throughputMiB": ("data rate", data_rate),
    "MiBps": ("data rate", data_rate),
    "iops": ("operations", operation_rate),
    "rate": ("rate", operation_rate),
    "rateMax": ("highest", operation_rate),
    "rateMin": ("lowest", operation_rate),
    "rateMean": ("mean", operation_rate),
    "rateStd": ("standard deviation", operation_rate),
    "objectRate": ("objects", operation_rate),
    "OPsMean": ("mean of operations", operation_rate),
    "latency": ("mean of a transfer", quantities.seconds),
    "openTime": ("open", quantities.seconds),
    "wrRdTime": ("transfers", quantities.seconds),
    "closeTime": ("close", quantities.seconds),
    "fsyncTime": ("sync", quantities.seconds),
    "totalTime": ("total", quantities.seconds),
    "MeanTime": ("mean time", quantities.seconds),
    "seconds": ("time", quantities.seconds),
    "p99": ("p99", quantities.seconds),
    "p99Alone": ("p99 alone", quantities.seconds),
    "p99Together": ("p99 together", quantities.seconds),
    "began": ("begin of its first phase", quantities.seconds),
    "shared": ("share of the time in which all ran", lambda v: "%.0f %%" % (100 * v)),
    "time": ("time", quantities.seconds),
    "callTime": ("longest call", quantities.seconds),
    "opMax": ("longest operation", quantities.seconds),
    "msPerOp": ("time of an operation", milliseconds),
    "clockError": ("error of the common clock", quantities.seconds),
    "share": ("share of the phase", lambda v: "%.0f %%" % (100 * v)),
    "bytes": ("moved", quantities.size),
    "processorsOfTaskMin": ("processors of a task, fewest", None),
    "processorsOfTaskMax": ("processors of a task, most", None),
    "variables": ("environment variables", None),
    "mpi": ("MPI", None),
    "mpiIo": ("MPI-IO", None),
    "weir": ("version of weir", None),
}


def label(name):
    """mountOptions: mount options."""
    if name in MEMBERS:
        return MEMBERS[name][0]
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda m: " " + m.group(1).lower(), str(name)).replace("_", " ")


def cell(value, name=None):
    """A value as people read it: numbers with their unit and the digits that count; what is empty is left out."""
    form = MEMBERS.get(name, (None, None))[1]
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, float)) and form:
        return form(value)
    if isinstance(value, float):
        return quantities.short(value) if abs(value) < 1e15 else "%.3g" % value
    if isinstance(value, int):
        return "{:,}".format(value) if 10000 <= abs(value) < 10**30 else str(value)[:30]
    if name == "variables" and isinstance(value, dict):
        return ", ".join("%s=%s" % pair for pair in value.items())
    if isinstance(value, dict):
        return ", ".join("%s: %s" % (label(k), cell(v)) for k, v in value.items() if v not in (None, "", [], {}))
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value)
