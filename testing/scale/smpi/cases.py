# SPDX-License-Identifier: BSD-3-Clause
"""cases.py - what is run on which simulated machines, and what may become of its times"""
import collections
import csv

import bed

# Nodes and ranks on each.
MACHINES = [(64, 1), (256, 1), (1024, 1), (16, 16), (64, 16), (256, 16)]

Case = collections.namedtuple("Case", "name program arguments most", defaults=(4096,))

SMALL = ["-a", "DUMMY", "-t", "4k", "-b", "16k", f"--dummy.delay-xfer={bed.STORAGE_US}"]
CASES = [
    Case("ior", "ior", [*SMALL, "-w", "-r", "-C"]),
    Case("ior-F", "ior", [*SMALL, "-w", "-r", "-C", "-F"]),
    Case("ior-json", "ior", [*SMALL, "-w", "-r", "-C", "--report=text:-,json:out.json"]),
    Case("mdtest", "mdtest", ["-a", "DUMMY", "-n", "4", f"--dummy.delay-create={bed.STORAGE_US}"], 1024),
    Case("md-workbench", "md-workbench", ["-a", "DUMMY", "-I", "2", "-P", "2", "-D", "1", "-R", "1",
                                          f"--dummy.delay-xfer={bed.STORAGE_US}"], 1024),
]

SPANS = ["start_us", "phase_us", "report_us"]
KEYS = ["case", "nodes", "per_node", "ranks", *SPANS, "allreduce_us", "processor_s"]
SLACK = 2  # a step may be so many times the one before it, beside what that of MPI_Allreduce is; 4 is growth as P


def named(name):
    return [c for c in CASES if name in (c.name, c.program)]


def row_of(case, nodes, per_node, times):
    """From the begin to the first byte; of the slowest phase with operations, from its last operation until rank 0 has the
    numbers of all; from those of the last phase to the end of MPI_Finalize."""
    phases = [p for p in times["phases"] if p["first_s"] >= 0]
    if not phases or times["ranks"] != nodes * per_node:
        raise bed.Failed(f"{case.name} on {nodes} x {per_node}: no phase with operations of {times['ranks']} ranks")
    spans = [phases[0]["first_s"], max(p["result_s"] - p["last_s"] for p in phases), times["end_s"] - times["phases"][-1]["result_s"]]
    row = dict(zip(KEYS, [case.name, nodes, per_node, nodes * per_node]))
    row.update((key, round(span * 1e6, 1)) for key, span in zip(SPANS, spans))
    return row


def write(rows, path):
    with open(path, "w", encoding="ascii", newline="") as f:
        table = csv.DictWriter(f, KEYS, lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def series(rows):
    """Lists of rows with growing numbers of ranks, by case and ranks on a node."""
    found = collections.defaultdict(list)
    for row in rows:
        found[row["case"], row["per_node"]].append(row)
    return {key: sorted(some, key=lambda row: row["ranks"]) for key, some in found.items()}


def step(a, b, c, key):
    """How many times the growth from machine a to b that from b to c is; each has four times the ranks of the one before."""
    return (c[key] - b[key]) / max(b[key] - a[key], 1e-9)


def judge(rows):
    """Words for each span that grows faster than the tree of MPI_Allreduce on the same three machines."""
    faults = []
    for (case, per_node), some in series(rows).items():
        for span in SPANS:
            for machines in zip(some, some[1:], some[2:]):
                grown, tree = step(*machines, span), step(*machines, "allreduce_us")
                if grown > SLACK * tree:
                    faults.append(f"{case}, {per_node} ranks on a node: {span} is {', '.join(str(m[span]) for m in machines)} at "
                                  f"{', '.join(str(m['ranks']) for m in machines)} ranks: the last step is {grown:.1f} times the "
                                  f"one before, that of MPI_Allreduce {tree:.1f} times")
    return faults
