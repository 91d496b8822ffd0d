# SPDX-License-Identifier: BSD-3-Clause
"""The command line: a row for each subcommand."""
import argparse
import difflib
import os
import re
import sys

from . import (
    calls,
    complete,
    diff,
    heat,
    intervals,
    latency,
    load,
    outside,
    profile,
    rate,
    report,
    spread,
    style,
    sweep,
    trace,
    wholefile,
)
from .refusal import BAD_USAGE, Refusal

EPILOG = """RUN is a timeline (FILE.npy with FILE.timeline.json beside it), a JSON result that names one, mib's text
profiles (of writes, of reads or both; also .gz), or the directory that mib wrote them to (write.profile, read.profile),
which may have a file log with what mib printed, and lwatch with a series of the servers. Exit status: 0 made; 1 a file
cannot be used; 2 wrong options."""


def one_picture(picture):
    """A command that draws one run."""

    def make(options):
        return draw_run(picture, load.one_run(options.inputs, call_size(options), options.log), options)

    return make


def draw_run(picture, run, options):
    notes(run)
    with style.matplotlib().rc_context(style.SETTINGS):
        style.save(picture.draw(run, options), options.output)
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


def make_sweep(options):
    runs, results = load.runs_and_results(options.inputs)
    if runs:
        raise Refusal("%s: sweep compares JSON results, not timelines" % runs[0].source, BAD_USAGE)
    with style.matplotlib().rc_context(style.SETTINGS):
        style.save(sweep.draw(results, options), options.output)
    return ["%s: written" % options.output]


def make_trace(options):
    run = load.one_run(options.inputs, call_size(options), options.log)
    notes(run)
    return trace.write(run, options)


def make_report(options):
    return report.write(options.inputs, options, call_size(options))


# Name, what it does, suffix of its file, the function, further options of OPTIONS.
COMMANDS = (
    (
        "rate",
        "rate over time of each phase, reported averages as rectangles",
        ".svg",
        run_or_result(rate, intervals.draw_result, "intervals"),
        "bin outside",
    ),
    (
        "spread",
        "earliest, 5 %%, median, 95 %% and latest task, call by call",
        ".svg",
        one_picture(spread),
        "operation",
    ),
    ("calls", "a staircase for each task", ".svg", one_picture(calls), "operation tasks"),
    ("diff", "a series from outside minus the calls, and its integral", ".svg", make_diff, "outside"),
    ("heat", "rate of each rank over time, as colours", ".svg", one_picture(heat), "bin"),
    (
        "latency",
        "times of single calls: distribution and percentiles",
        ".svg",
        run_or_result(latency, latency.draw_result, "percentiles"),
        "operation",
    ),
    ("sweep", "rates of several JSON results against what differs", ".svg", make_sweep, "against"),
    ("trace", "Chrome trace events for Perfetto and speedscope", ".json", make_trace, "limit"),
    ("report", "one HTML page about results and timelines", ".html", make_report, "bin outside title"),
)


def add_options(parser, names):
    """Those that all commands have, and the named groups."""
    parser.add_argument(
        "inputs",
        nargs="+",
        metavar="RUN",
        help="timeline, JSON result, profiles of mib, or a directory of them",
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="what to write; its suffix says the format: .svg, .png, .pdf"
    )
    parser.add_argument(
        "--test", type=int, metavar="N", help="only that test of the run (default: the first one)"
    )
    parser.add_argument("--repetition", type=int, metavar="N", help="only that repetition, counted from 0")
    parser.add_argument(
        "--phase",
        action="append",
        default=[],
        metavar="KEY",
        help="only that phase, such as write; may be repeated",
    )
    parser.add_argument(
        "--call-size", metavar="SIZE", help="bytes of a call in profiles of mib: 1m, 64k, 512"
    )
    parser.add_argument(
        "--log", metavar="FILE", help="what mib printed: call size and reported rates for its profiles"
    )
    for name in names.split():
        OPTIONS[name](parser)


def add_outside(parser):
    parser.add_argument(
        "--outside", metavar="FILE", help="series measured elsewhere: epoch,read,write, or a file of lwatch"
    )
    parser.add_argument(
        "--outside-unit", choices=sorted(outside.UNITS), default="MiB/s", help="of its rates (default: MiB/s)"
    )
    parser.add_argument(
        "--zero", type=finite, metavar="EPOCH", help="epoch in seconds at which the clock of the run was 0"
    )


OPTIONS = {
    "bin": lambda p: p.add_argument(
        "--bin", type=positive, metavar="SECONDS", help="width of a bin (default: run/200, at least 1 ms)"
    ),
    "outside": add_outside,
    "operation": lambda p: p.add_argument(
        "--operation", metavar="KEY", help="only that operation, such as open"
    ),
    "tasks": lambda p: p.add_argument(
        "--tasks", metavar="LIST", help="these ranks, such as 0,3-5 (default: a choice of them)"
    ),
    "against": lambda p: p.add_argument(
        "--against", choices=sorted(sweep.AXES), help="the axis (default: what differs most)"
    ),
    "limit": lambda p: p.add_argument(
        "--limit",
        type=count,
        default=500000,
        metavar="N",
        help="calls in the file; of more the longest ones (default: 500000)",
    ),
    "title": lambda p: p.add_argument("--title", metavar="TEXT", help="title of the page"),
}


def finite(text):
    value = float(text)
    if value - value != 0:
        raise ValueError
    return value


def positive(text):
    value = finite(text)
    if value <= 0:
        raise argparse.ArgumentTypeError("'%s' is not a time above 0" % text)
    return value


def count(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("'%s' is not a number above 0" % text)
    return value


class Parser(argparse.ArgumentParser):
    """Says which command or option was probably meant."""

    def error(self, message):
        found = re.search(r"invalid choice: '([^']*)'|unrecognized arguments: (\S+)", message)
        word = found and (found.group(1) or found.group(2).partition("=")[0])
        meant = difflib.get_close_matches(word, self.words(), 1) if word else []
        super().error(message + (" (did you mean '%s'?)" % meant[0] if meant else ""))

    def words(self):
        """Names of commands and options, of the commands, too."""
        found = list(self._option_string_actions)
        for action in self._actions:
            for name, parser in (action.choices.items() if isinstance(action.choices, dict) else ()):
                found += [name, *parser.words()]
        return found


def make_parser():
    parser = Parser(
        prog="weir-plot", description="Pictures and reports of weir's runs.", epilog=EPILOG
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, words, suffix, function, names in COMMANDS:
        one = commands.add_parser(
            name,
            help=words,
            description=words[0].upper() + words[1:] + ".",
            epilog=EPILOG,
            allow_abbrev=False,
        )
        add_options(one, names)
        one.set_defaults(function=function, suffix=suffix)
    return parser


def call_size(options):
    return profile.parse_size(options.call_size) if options.call_size else None


def notes(run):
    for note in run.notes:
        print("weir-plot: %s: %s" % (run.source, note), file=sys.stderr)


def default_name(options):
    """In the working directory: RUN-COMMAND.svg"""
    name = os.path.basename(os.path.normpath(options.inputs[0]))
    for suffix in (".gz", ".npy", ".json", ".timeline"):
        name = name[: -len(suffix)] if name.endswith(suffix) else name
    return "%s-%s%s" % (name, options.command, options.suffix)


def take_outside(options):
    """mib's directory may have a series of servers, which the pictures with such a series then show."""
    if getattr(options, "outside", "") is None and os.path.isdir(options.inputs[0]):
        options.outside = profile.files_in(options.inputs[0]).get("lwatch")


def files_read(options):
    found = [name for path in options.inputs for name in load.files_of(path)]
    return found + [name for name in (options.log, getattr(options, "outside", None)) if name]


def main(arguments=None):
    """Exit status of the command."""
    given = sys.argv[1:] if arguments is None else arguments
    if given[:1] == ["--complete"]:
        sys.stdout.writelines(complete.answer(make_parser(), given[1:]))
        return 0
    options = make_parser().parse_args(given)
    options.output = options.output or default_name(options)
    try:
        if options.suffix == ".svg":
            style.check_name(options.output)
        take_outside(options)
        wholefile.keep_inputs(options.output, files_read(options))
        for line in options.function(options):
            print(line)
    except Refusal as e:
        print("weir-plot: %s" % e, file=sys.stderr)
        return e.status
    except MemoryError:
        print("weir-plot: not enough memory for %s" % " ".join(options.inputs), file=sys.stderr)
        return 1
    return 0
