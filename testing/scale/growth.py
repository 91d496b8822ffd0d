# SPDX-License-Identifier: BSD-3-Clause
"""growth.py - what the calls of a rank cost, how that grows with the number of ranks P, and what may grow faster than log P"""
import collections
import fnmatch
import math

import numpy

# ---- what a call costs a rank ----

TREE = {"Bcast", "Reduce", "Allreduce", "Iallreduce", "Iallreduce.watch", "Scan", "Exscan"}
WAIT = {"Barrier", "Ibarrier", "Comm_dup", "Comm_free", "Comm_create", "Intercomm_merge"}
SPLIT = {"Comm_split", "Comm_split_type"}  # Open MPI and MPICH gather color and key of all ranks on each rank
SPLIT_BYTES = 8
ROOTED = {"Gather", "Scatter"}
LINEAR = {"Gatherv", "Scatterv"}  # their root sends or receives a message of each rank
ALL = {"Allgather", "Allgatherv", "Reduce_scatter_block"}
EACH = {"Alltoall", "Alltoallv"}
ONE = {"Send", "Isend", "Issend", "Recv", "Irecv", "Sendrecv"}
# How often they are called is a question of time: only what one call costs may not grow. One a phase is counted.
BY_TIME = {"Iallreduce.watch"}


def name_of(kind):
    """Without its tag."""
    return kind.partition(":")[0]


def cost(c):
    """Messages and bytes that this rank sends and receives for calls of a kind (a runs.Call): a collective is one call, and more
    for its rank. The logarithm is not rounded up, so that numbers of ranks between powers of two can be compared."""
    log = math.log2(c.ranks) if c.ranks > 1 else 0
    data = c.sent + c.received
    if c.kind in TREE:
        return c.calls * log, max(c.sent, c.received) * log
    if c.kind in WAIT:
        return c.calls * log, 0
    if c.kind in SPLIT:
        return c.calls * log, c.calls * SPLIT_BYTES * c.ranks
    if c.kind in ROOTED:
        return c.calls * (log if c.is_root else 1), data
    if c.kind in LINEAR:
        return c.calls * (c.ranks - 1 if c.is_root else 1), data
    if c.kind in ALL:
        return c.calls * log, data
    if c.kind in EACH:
        return c.calls * (c.ranks - 1), data
    if name_of(c.kind) in ONE:
        return c.calls * (1 + (name_of(c.kind) == "Sendrecv")), data
    if c.kind.startswith("File_"):
        return 0, 0
    raise KeyError("nobody has said what MPI_%s costs" % c.kind)


# ---- ranks and numbers ----

MEASURES = ("calls", "messages", "bytes")
ROLES = ("root", "leader", "follower")


def role_of(rank, per_node):
    return "root" if rank == 0 else "leader" if rank % per_node == 0 else "follower"


def tally(rank):
    """(phase, kind) -> [calls, messages, bytes] of a rank (a runs.Rank); also for all phases and kinds, as "all"."""
    out = collections.defaultdict(lambda: [0, 0, 0])
    for c in rank.calls:
        messages, size = cost(c)
        keys = [(c.phase, c.kind)] + [("all", "all"), (c.phase, "all")] * (c.kind not in BY_TIME)
        for key in keys:
            for i, n in enumerate((c.calls, messages, size)):
                out[key][i] += n
    for (phase, kind), sums in out.items():
        if kind in BY_TIME:
            n = max(1, sum(h.phase == phase for h in rank.heap))
            out[phase, kind] = [n, sums[1] * n / sums[0], sums[2] * n / sums[0]]
    return out


def heap_of(rank):
    """(phase, "heap", measure) -> the most bytes in the phase ("peak") and at its end ("kept"), also of all phases."""
    out = collections.defaultdict(int)
    for h in rank.heap:
        for phase in (h.phase, "all"):
            for measure, n in (("peak", h.peak), ("kept", h.live)):
                out[phase, "heap", measure] = max(out[phase, "heap", measure], n)
    return out


def numbers(ranks, per_node):
    """(role, phase, kind, measure) -> the largest number of a rank of that role in one run."""
    out = collections.defaultdict(float)
    for number, rank in enumerate(ranks):
        role = role_of(number, per_node)
        found = {(phase, kind, m): n for (phase, kind), sums in tally(rank).items() for m, n in zip(MEASURES, sums)}
        found.update(heap_of(rank))
        for key, n in found.items():
            out[(role, *key)] = max(out[(role, *key)], n)
    return out


# ---- growth ----

Fit = collections.namedtuple("Fit", "begin log linear exponent")


def exponent(points):
    """The slope of the growth from one P to the next, for each doubling, against P: 0 for a + b log P, 1 for a + b P, whatever
    a and b are. 0 where it does not grow each time."""
    rises = [((p1 - p0) / math.log(p1 / p0), (y1 - y0) / math.log2(p1 / p0)) for (p0, y0), (p1, y1) in zip(points, points[1:])]
    rises = [(math.log2(p), math.log2(y)) for p, y in rises if y > 1e-9]
    if len(rises) < max(2, len(points) - 1):
        return 0.0
    return float(numpy.polyfit(*zip(*rises), 1)[0])


def fit(points):
    """a + b log2 P + c P through [(P, y), ...], at least three, by least squares."""
    p, y = numpy.array(points, dtype=float).T
    a, b, c = numpy.linalg.lstsq(numpy.stack([p ** 0, numpy.log2(p), p], axis=1), y, rcond=None)[0]
    return Fit(float(a), float(b), float(c), exponent(points))


def series(runs, per_node):
    """(role, phase, kind, measure) -> [(P, y), ...] from {P: ranks}; what is not there in a run is 0."""
    tables = {p: numbers(ranks, per_node) for p, ranks in sorted(runs.items())}
    keys = sorted({key for t in tables.values() for key in t})
    return {key: [(p, t.get(key, 0.0)) for p, t in tables.items()] for key in keys}


# Growth by less than this for each rank is the digits of larger numbers, and allocations of other lengths.
NOISE = {"calls": 0.02, "messages": 0.02, "bytes": 0.5, "peak": 3, "kept": 3}
# A logarithm that is rounded up is a staircase, of which a fit takes so much for linear growth.
STAIRS = 0.1


def is_linear(f, points, measure):
    grown = points[-1][1] - min(y for _, y in points)
    return grown > 0 and f.linear > NOISE[measure] and f.linear * (points[-1][0] - points[0][0]) > STAIRS * grown


# Growth that is known: program, role, phase, kind, measure, the most for each rank, and why.
Known = collections.namedtuple("Known", "program role phase kind measure most why")
KNOWN = (
    Known("*", "*", "start", "Comm_split*", "bytes", 24,
          "the MPI library gathers color and key of all ranks on each, in two calls, and of the leaders of nodes, in one"),
    Known("*.x", "*", "start", "Comm_split*", "bytes", 80, "the same, for groups with a writer each"),
    Known("ior", "[rl]*", "start", "Recv:10", "bytes", 40, "the document of results names every host: their names come up a tree"),
    Known("ior", "leader", "start", "Send:10", "bytes", 40, "the same, from a rank that passes them on"),
    Known("md*", "root", "start", "Gather", "bytes", 2, "the line Nodemap has a character for each of up to 4096 tasks"),
)

# A tree with many branches is a staircase with few and high steps. So that of the clocks (par/clock.c) has a bound instead: PINGS
# messages and one more with each child, with the parent and with each rank of the node.
PINGS, FAN, TAG = 12, 8, ":1"
EXCHANGED = {"calls": 1, "messages": 1, "bytes": 32}


def in_tree(key, points, per_node):
    role, phase, kind, measure = key
    if not kind.endswith(TAG) or measure not in EXCHANGED:
        return False
    levels = [math.ceil(math.log(max(p / per_node, 1), FAN) - 1e-9) for p, _ in points]
    return all(y <= EXCHANGED[measure] * (PINGS + 1) * ((FAN - 1) * n + per_node) for n, (_, y) in zip(levels, points))


def reason(program, key, f, points, per_node):
    """Why this may grow faster than log P; None: nobody has said."""
    if in_tree(key, points, per_node):
        return "the tree of clocks has a level more for %d times as many nodes" % FAN
    return next((k.why for k in KNOWN if f.linear <= 1.01 * k.most and fnmatch.fnmatch(program, k.program) and
                 all(fnmatch.fnmatch(a, b) for a, b in zip(key, k[1:5]))), None)


Verdict = collections.namedtuple("Verdict", "key fit points why")


def judge(program, runs, per_node):
    """All that grows faster than log P, with the reason where it is known, else why is None. Sums over kinds and phases are
    not judged: each of their parts is."""
    out = []
    for key, points in series(runs, per_node).items():
        if "all" in key[1:3] or len(points) < 3:
            continue
        f = fit(points)
        if is_linear(f, points, key[3]):
            out.append(Verdict(key, f, points, reason(program, key, f, points, per_node)))
    return out
