# SPDX-License-Identifier: BSD-3-Clause
"""weir-compare history: runs over time, where they changed, what changed beside, and a gate for CI."""

import os
import sys

from . import history_read, history_series, history_verdict, style, wholefile
from .refusal import BAD_USAGE, Refusal

SUFFIXES = ".svg", ".png", ".pdf", ".html"


def check_output(path):
    if path and os.path.splitext(path)[1].lower() not in SUFFIXES:
        raise Refusal("-o %s: the name has to end in one of %s" % (path, ", ".join(SUFFIXES)), BAD_USAGE)


def heading(history, found, options):
    """What was read, in a line."""
    dates = [point.date for one in found for point in (one.points[0], one.points[-1])]
    return "%d runs from %s to %s in %d series; confidence %g %% for all together" % (
        len(history.runs),
        min(dates),
        max(dates),
        len(found),
        100 * options.confidence,
    )


def tell_of_runs(history):
    """Notes about runs that are not in the series, or doubt themselves."""
    notes = list(history.notes)
    if history.failed:
        last = history.failed[-1]
        notes.append(
            "%d run%s failed or measured nothing, and %s left out (the last one: %s)"
            % (
                len(history.failed),
                "" if len(history.failed) == 1 else "s",
                "is" if len(history.failed) == 1 else "are",
                last.document.get("error") or last.source,
            )
        )
    for word in ("SUSPECT", "INVALID"):
        count = sum(any(test.get("verdict") == word for test in run.tests) for run in history.runs)
        if count:
            notes.append("%d of %d runs say of themselves that they are %s" % (count, len(history.runs), word))
    return notes


def write(path, history, judged, gates, lines):
    """The picture or the page."""
    from . import history_draw

    with style.matplotlib().rc_context(style.SETTINGS):
        if path.lower().endswith(".html"):
            text = history_draw.page_of(history, judged, gates, lines[0])
            with wholefile.writing(path, "w", encoding="utf-8") as f:
                f.write(text)
        else:
            history_draw.save(judged, path)


def run(options):
    """Exit status without that of refusals: is a series worse?"""
    check_output(options.output)
    if options.output:
        wholefile.keep_inputs(options.output, options.results)
    history = history_read.read(options.results)
    found = history_series.collect(history, options.by)
    judged = history_verdict.judge(found, options.confidence, options.seed)
    gates = history_verdict.gates(found, options) if options.gate is not None else []
    lines = [heading(history, found, options)]
    for one in judged:
        lines += history_verdict.lines_of(one)
    lines += ["gate: %s: %s" % (gate.series.name, gate.text) for gate in gates]
    for note in tell_of_runs(history):
        print("weir-compare: note: %s" % note, file=sys.stderr)
    if options.output:
        write(options.output, history, judged, gates, lines)
    print("\n".join(lines))
    return any(gate.worse for gate in gates)
