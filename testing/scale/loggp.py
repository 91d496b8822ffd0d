# SPDX-License-Identifier: BSD-3-Clause
"""loggp.py - times between the transfers of a run at any number of ranks, from counts and simulated times

The model is LogGP's (Alexandrov and others 1995): a message between two ranks takes L + 2 o + n G. A section of a run is a row of
messages on the busiest rank, or on the way through a collective, each waiting for the one before:

    T = (L + 2 o) m(P) + (L' + 2 o) m'(P) + G b(P)

m, m' (between the ranks of a node) and b come from the counts, G is that of the simulated network, L + 2 o and L' + 2 o are fitted
to simulated times. Messages that do not wait for each other are rare here, so g, the gap between two of a rank, is not seen.
P ranks are on P / per_node nodes."""
import collections
import math

import numpy

import growth

SECTIONS = ("start", "phase", "report")  # to the first byte; from the last transfer to the result; from there to the end
# Messages one after the other in a call, for each doubling of P: those of a reduction to a rank and a broadcast from it are two.
DEPTH = {"Allreduce": 2, "Iallreduce": 2, "Iallreduce.watch": 2, "Barrier": 2, "Ibarrier": 2, "Comm_dup": 2, "Comm_free": 0}


def children(nodes):
    """Of the root of the tree of clocks (par/clock.c)."""
    n, step = 0, 1
    while step < nodes:
        n += min(growth.FAN - 1, math.ceil(nodes / step) - 1)
        step *= growth.FAN
    return n


def basis(kind, measure, p, per_node):
    """What the numbers of a kind are made of: those of the tree of clocks of the root's children."""
    if kind.endswith(growth.TAG):
        return [1, children(p / per_node)]
    return [1, p] if measure == "bytes" and growth.name_of(kind) in growth.ONE else [1, math.log2(p), p]


def outside(kind, y, factors, p, per_node):
    """Of y messages, those that leave the node: of a collective as many of its steps as there are doublings of nodes."""
    if per_node == 1:
        return y
    if kind.endswith(growth.TAG):
        return factors[1] * children(p / per_node)
    if growth.name_of(kind) in growth.ONE and factors[1] == 0:
        return 0
    return y * math.log2(p / per_node) / math.log2(p)


class Counts:
    """The messages and bytes of the root for a layout, at any P. series: [role, phase, kind, measure, points], as
    growth.series has them."""

    def __init__(self, series, per_node):
        self.per_node = per_node
        self.factors = collections.defaultdict(list)  # (phase, measure) -> [(kind, factors), ...]
        for role, phase, kind, measure, points in series:
            if role == "root" and "all" not in (phase, kind) and measure in ("messages", "bytes"):
                a = numpy.array([basis(kind, measure, p, per_node) for p, _ in points], dtype=float)
                found = numpy.linalg.lstsq(a, numpy.array([y for _, y in points], dtype=float), rcond=None)[0]
                self.factors[phase, measure].append((kind, numpy.where(abs(found) < 1e-6, 0, found)))

    def of_phase(self, phase, p):
        """Messages in a row that leave their node and that do not, and bytes."""
        out = numpy.zeros(3)
        for kind, factors in self.factors[phase, "messages"]:
            y = max(float(numpy.dot(factors, basis(kind, "messages", p, self.per_node))), 0)
            far = outside(kind, y, factors, p, self.per_node)
            out += DEPTH.get(kind, 1) * numpy.array([far, y - far, 0])
        for kind, factors in self.factors[phase, "bytes"]:
            out[2] += max(float(numpy.dot(factors, basis(kind, "bytes", p, self.per_node))), 0)
        return out

    def at(self, section, p):
        """Of a section; of phases that with the most messages."""
        own = {"start": ["start"], "report": ["end"]}.get(section) or {phase for phase, _ in self.factors} - {"start", "between", "end"}
        return max((self.of_phase(phase, p) for phase in own), key=lambda n: n[0] + n[1])


Model = collections.namedtuple("Model", "message inside byte")
Time = collections.namedtuple("Time", "case per_node ranks section seconds")


def fit(counts, times, byte):
    """L + 2 o and L' + 2 o in seconds, by least squares of relative errors, from a list of Time; byte is G. L' + 2 o is
    that of the network where no node has several ranks, and not negative. counts: (case, per_node) -> Counts"""
    known, wanted = [], []
    for t in times:
        n = counts[t.case, t.per_node].at(t.section, t.ranks)
        known.append(n[:2] / t.seconds)
        wanted.append(1 - byte * n[2] / t.seconds)
    known = numpy.array(known)
    several = known[:, 1].any()
    found = numpy.linalg.lstsq(known, numpy.array(wanted), rcond=None)[0]
    if not several or found[1] < 0:
        found = numpy.linalg.lstsq(known[:, :1], numpy.array(wanted), rcond=None)[0]
    return Model(float(found[0]), float(found[1]) if len(found) > 1 else 0.0 if several else float(found[0]), byte)


def predict(model, counts, section, p):
    return float(numpy.dot(model, counts.at(section, p)))
