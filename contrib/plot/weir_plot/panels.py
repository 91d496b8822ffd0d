# SPDX-License-Identifier: BSD-3-Clause
"""Pictures with a panel for each phase: which phases, their figure, and the axis of time."""
from . import describe, style

MOST = 8


def choose(run, options):
    """The phases with calls of one repetition (the first one unless one is asked for), at most eight."""
    phases = run.select(options.test, options.repetition, options.phase)
    if options.repetition is None:
        phases = [p for p in phases if p.repetition == phases[0].repetition]
    operation = getattr(options, "operation", None)
    phases = [p for p in phases if p.calls(operation).count > 1] or phases[:1]
    if operation is not None and phases[0].calls(operation).count == 0:
        from .refusal import BAD_USAGE, Refusal

        there = sorted({run.operations[i]["key"] for p in phases for i in p.operations()})
        raise Refusal(
            "--operation=%s: not called in these phases; there are: %s" % (operation, ", ".join(there)),
            BAD_USAGE,
        )
    longest = sorted(phases, key=lambda p: p.records.size, reverse=True)[:MOST]
    return [p for p in phases if p in longest]


def figure(run, phases, what, columns=2, size=None):
    repetitions = {p.repetition for p in run.phases if p.test == phases[0].test}
    words = describe.test_of_run(run, phases[0].test)
    if len(repetitions) > 1:
        first = phases[0].repetition == min(repetitions)
        words += (
            ", the first of %d repetitions" % len(repetitions)
            if first
            else (", repetition %d of %d, counted from 0" % (phases[0].repetition, len(repetitions)))
        )
    return style.figure("%s: %s" % (run.program, what), words, len(phases), columns, size)


def finish(axes, phases):
    """Titles and time axes of the panels, all in the unit of the longest phase."""
    longest = max(phase.end - phase.begin for phase in phases)
    for ax, phase in zip(axes, phases):
        margin = (phase.end - phase.begin) * 0.01
        ax.set_xlim(phase.begin - margin, phase.end + margin)
        ax.set_title(phase.title, loc="left", fontweight="bold")
        style.time_axis(ax, "time since the start of the run", longest)
