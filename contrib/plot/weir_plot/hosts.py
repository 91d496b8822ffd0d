# SPDX-License-Identifier: BSD-3-Clause
"""Hosts with their ranks in JSON: {"name": "b07", "tasks": 3, "ranks": "0-1,4"}; and as in older versions."""
import collections
import re

RANGE = re.compile(r"(\d+)(?:-(\d+)(?::([1-9]\d*))?)?")


def of_ranks(hosts, tasks):
    """The name of the host of each rank; None where they are not known. Of hosts with one name each has its own."""
    try:
        if isinstance(hosts, dict):  # until weir-timeline-1: names, and for each rank the number of one
            found = [hosts["names"][int(i)] for i in hosts["host"]]
        elif isinstance(hosts, list) and all(isinstance(host, dict) for host in hosts):
            found = spread(hosts, tasks)
        else:  # a name for each rank
            found = list(hosts)
    except (TypeError, ValueError, IndexError, KeyError, OverflowError):
        return None
    return [str(name) for name in found] if len(found) == tasks and None not in found else None


def spread(hosts, tasks):
    found = [None] * tasks
    for name, host in zip(own_names(hosts), hosts):
        for rank in ranks(host["ranks"], tasks):
            found[rank] = name
    return found


def own_names(hosts):
    """Kernels may have the same name: all machines that are called localhost."""
    often, seen = collections.Counter(host["name"] for host in hosts), collections.Counter()
    for host in hosts:
        name = host["name"]
        seen[name] += 1
        yield name if often[name] == 1 else "%s (%d)" % (name, seen[name])


def ranks(text, tasks):
    """The ranks below 'tasks' in "0-15,32-62:2"."""
    for part in str(text).split(","):
        match = RANGE.fullmatch(part)
        if not match:
            raise ValueError(part)
        first, last, step = match.groups()
        last = int(last or first)
        if last >= tasks:
            raise ValueError(part)
        yield from range(int(first), last + 1, int(step or 1))


def names(hosts):
    """The names of the hosts of a result: a text in those of schema_version 1."""
    if isinstance(hosts, list):
        return " ".join(str(host.get("name", "")) for host in hosts if isinstance(host, dict))
    return str(hosts or "")
