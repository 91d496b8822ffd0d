# SPDX-License-Identifier: BSD-3-Clause
"""What each subcommand does with the options of its command line."""
import os
import sys

from . import calls, chosen, curve, diff, heat, intervals, latency, load, nodes, profile, rate, report, slowdown, spread
from . import style, sweep, tail, trace
from .refusal import BAD_USAGE, Refusal


def one_picture(picture):
    """A command that draws one run."""

    def make(options):
        return draw_run(picture, load.one_run(options.inputs, call_size(options), options.log), options)

    return make


def draw_run(picture, run, options):
    chosen.allow(run, picture)
    with style.matplotlib().rc_context(style.SETTINGS):
        drawn = picture.draw(run, options)
        notes(run)
        style.save(drawn, options.output)
    said = picture.summary(run, options) if hasattr(picture, "summary") else []
    return ["%s: written" % options.output] + said


def make_diff(options):
    if not options.outside:
        raise Refusal("diff: --outside=FILE.csv is missing: the series to compare the calls with", BAD_USAGE)
    return one_picture(diff)(options)


def run_or_result(picture, of_result, source):
    """A command that draws a run, or what one JSON result without a timeline holds."""

    def make(options):
        runs, results = load.runs_and_results(options.inputs, call_size(options), options.log)
        if len(results) != 1 or runs or results[0].timeline():
            return draw_run(picture, load.pick_run(options.inputs, runs, results), options)
        with style.matplotlib().rc_context(style.SETTINGS):
            style.save(of_result(results[0], options), options.output)
        return ["%s: written, from %s" % (options.output, source)]

    return make


def several_results(name, picture, summary=lambda results, options: []):
    """A command that draws several results in one picture."""

    def make(options):
        runs, results = load.runs_and_results(options.inputs)
        if runs:
            raise Refusal("%s: %s needs JSON results, not timelines" % (runs[0].source, name), BAD_USAGE)
        with style.matplotlib().rc_context(style.SETTINGS):
            style.save(picture.draw(results, options), options.output)
        return ["%s: written" % options.output] + summary(results, options)

    return make


def one_result(name, picture):
    def make(options):
        _, results = load.runs_and_results(options.inputs)
        if len(results) != 1:
            raise Refusal("%s: needs one JSON result, not %d" % (name, len(results)), BAD_USAGE)
        with style.matplotlib().rc_context(style.SETTINGS):
            style.save(picture.draw(results[0], options), options.output)
        return ["%s: written" % options.output] + picture.summary(results[0], options)

    return make


def make_trace(options):
    run = load.one_run(options.inputs, call_size(options), options.log)
    notes(run)
    return trace.write(run, options)


def make_report(options):
    return report.write(options.inputs, options, call_size(options))


def call_size(options):
    return profile.parse_size(options.call_size) if options.call_size else None


def notes(run):
    for note in run.notes:
        print("weir-plot: %s: %s" % (run.source, note), file=sys.stderr)


def take_outside(options):
    """mib's directory may have a series of servers, which the pictures with such a series then show."""
    if getattr(options, "outside", "") is None and os.path.isdir(options.inputs[0]):
        options.outside = profile.files_in(options.inputs[0]).get("lwatch")


def files_read(options):
    found = [name for path in options.inputs for name in load.files_of(path)]
    more = [getattr(options, name, None) for name in ("log", "outside", "compare")]
    return found + [name for name in more if name]


FUNCTIONS = {
    "rate": run_or_result(rate, intervals.draw_result, "intervals"),
    "spread": one_picture(spread),
    "calls": one_picture(calls),
    "diff": make_diff,
    "heat": one_picture(heat),
    "latency": run_or_result(latency, latency.draw_result, "percentiles"),
    "tail": run_or_result(tail, tail.draw_result, "intervals"),
    "sweep": several_results("sweep", sweep),
    "load": several_results("load", curve, curve.summary),
    "nodes": one_result("nodes", nodes),
    "pairs": one_result("pairs", slowdown),
    "trace": make_trace,
    "report": make_report,
}
