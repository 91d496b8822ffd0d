# SPDX-License-Identifier: BSD-3-Clause
"""trace: Chrome trace events, which Perfetto and speedscope open. A process is a host, a thread a rank."""
import gzip
import json
import os

import numpy as np

from . import wholefile
from .chosen import BESIDE, DRAWN, FAILED, SLOWEST
from .refusal import BAD_USAGE, Refusal

CHUNK = 20000
REASONS = ((DRAWN, "drawn"), (SLOWEST, "slowest"), (BESIDE, "beside a slow one"), (FAILED, "failed"))
WHY = [", ".join(words for bit, words in REASONS if why & bit) for why in range(16)]


def write(run, options):
    """The file; with more calls than the limit only the longest ones. Returns lines about it."""
    phases = run.select(options.test, options.repetition, options.phase)
    total = sum(p.records.size for p in phases)
    shortest = cutoff(phases, total, options.limit)
    opener = gzip.open if options.output.endswith(".gz") else open
    if not options.output.endswith((".json", ".json.gz")):
        raise Refusal("-o %s: the name has to end in .json or .json.gz" % options.output, BAD_USAGE)
    written = 0
    with wholefile.writing(options.output, "wt", opener, encoding="ascii") as f:
        holds = {"holds": ", ".join(run.chosen.words())} if run.chosen.words() else {}
        source = json.dumps({"source": os.path.basename(run.source), **holds})
        f.write('{"displayTimeUnit":"ms","otherData":%s,"traceEvents":[\n' % source)
        f.write(",\n".join(json.dumps(event) for event in names(run, phases)))
        for phase in phases:
            written += write_phase(f, run, phase, shortest)
        f.write("\n]}\n")
    said = ["%s: %d calls; open it with https://ui.perfetto.dev or speedscope" % (options.output, written)]
    if written < total:
        said.append(
            "%d calls shorter than %.3g us are left out: --limit=%d"
            % (total - written, shortest / 1e3, options.limit)
        )
    return said


def cutoff(phases, total, limit):
    """Duration in ns that a call must have to be among the longest ones."""
    if total <= limit:
        return 0
    durations = np.concatenate([p.records["end"] - p.records["begin"] for p in phases])
    return max(int(np.partition(durations, total - limit)[total - limit]), 1)


def places(run, test):
    """Of each rank: its process, one for each host; and names of the processes."""
    hosts = run.hosts(test) or [run.program] * run.tasks(test)
    known = list(dict.fromkeys(hosts))
    number = {name: i + 1 for i, name in enumerate(known)}
    return [number[h] for h in hosts], known


def names(run, phases):
    """Events that name processes and threads, and the phases on a track of their own."""
    process, hosts = places(run, phases[0].test)
    yield {"ph": "M", "name": "process_name", "pid": 0, "tid": 0, "args": {"name": "phases"}}
    for index, host in enumerate(hosts, 1):
        yield {"ph": "M", "name": "process_name", "pid": index, "tid": 0, "args": {"name": host}}
    for rank in sorted({int(r) for p in phases for r in np.unique(p.records["rank"])}):
        yield {
            "ph": "M",
            "name": "thread_name",
            "pid": process[rank],
            "tid": rank,
            "args": {"name": "rank %d" % rank},
        }
    for phase in phases:
        yield {
            "ph": "X",
            "name": phase.title,
            "cat": "phase",
            "pid": 0,
            "tid": 0,
            "ts": phase.begin * 1e6,
            "dur": (phase.end - phase.begin) * 1e6,
            "args": {"repetition": phase.repetition},
        }


def write_phase(f, run, phase, shortest):
    process, _ = places(run, phase.test)
    operations = [json.dumps(str(row.get("title") or row["key"])) for row in run.operations]
    category = json.dumps(phase.title)
    written = 0
    for start in range(0, phase.records.size, CHUNK):
        records = phase.records[start : start + CHUNK]
        records = records[records["end"] - records["begin"] >= shortest]
        written += records.size
        lines = []
        for begin, end, offset, moved, rank, _, _, operation, error, *picked in records.tolist():
            more = [] if offset < 0 else ['"offset":%d' % offset]
            more += ['"bytes":%d' % moved] if moved else []
            more += ['"errno":%d' % error] if error else []
            more += ['"number":%d,"chosen":"%s"' % (picked[0], WHY[picked[1]])] if picked else []
            lines.append(
                '{"ph":"X","name":%s,"cat":%s,"pid":%d,"tid":%d,"ts":%.3f,"dur":%.3f,"args":{%s}}'
                % (
                    operations[operation],
                    category,
                    process[rank],
                    rank,
                    begin / 1e3,
                    (end - begin) / 1e3,
                    ",".join(more),
                )
            )
        if lines:
            f.write(",\n" + ",\n".join(lines))
    return written
