# SPDX-License-Identifier: BSD-3-Clause
"""The command line: a row for each subcommand. Help and completion need no NumPy."""
import argparse
import difflib
import os
import re
import sys

from . import add_version, complete, quantities, style, sweep, wholefile
from .refusal import BAD_USAGE, Refusal, reason

EPILOG = """RUN is a timeline (FILE.npy with FILE.timeline.json beside it), a JSON result that names one, mib's text
profiles (of writes, of reads or both; also .gz), or the directory that mib wrote them to (write.profile, read.profile),
which may have a file log with what mib printed, and lwatch with a series of the servers. Exit status: 0 made; 1 a file
cannot be used; 2 wrong options."""


# Name, what it does, suffix of its file, further options of OPTIONS.
COMMANDS = (
    (
        "rate",
        "rate over time of each phase, reported averages as rectangles",
        ".svg",
        "bin outside",
    ),
    (
        "spread",
        "earliest, 5 %, median, 95 % and latest task, call by call",
        ".svg",
        "operation",
    ),
    ("calls", "a staircase for each task", ".svg", "operation tasks"),
    ("diff", "a series from outside minus the calls, and its integral", ".svg", "outside"),
    ("heat", "rate of each rank over time, as colours", ".svg", "bin"),
    (
        "latency",
        "times of single calls: distribution and percentiles",
        ".svg",
        "operation",
    ),
    ("tail", "latency over time: p50, p99, p99.9, longest, and stalls", ".svg", "bin"),
    ("sweep", "rates of several JSON results against what differs", ".svg", "against"),
    ("nodes", "each node alone, and who is slow (--sweep)", ".svg", ""),
    ("load", "latency against the offered rate (--rate in percent)", ".svg", ""),
    ("pairs", "who slows whom down (weir-mix --pairs)", ".svg", ""),
    ("trace", "Chrome trace events for Perfetto and speedscope", ".json", "limit"),
    ("report", "one HTML page about results and timelines", ".html", "bin outside title compare"),
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
        "--outside-unit", choices=sorted(quantities.RATE_UNITS), default="MiB/s", help="of its rates (default: MiB/s)"
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
    "compare": lambda p: p.add_argument(
        "--compare", metavar="OLD", help="result of an earlier rehearsal of weir-io500: what changed since"
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
    add_version(parser)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, words, suffix, names in COMMANDS:
        one = commands.add_parser(
            name,
            help=words.replace("%", "%%"),
            description=words[0].upper() + words[1:] + ".",
            epilog=EPILOG,
            allow_abbrev=False,
        )
        add_options(one, names)
        one.set_defaults(suffix=suffix)
    return parser


def default_name(options):
    """In the working directory: RUN-COMMAND.svg"""
    name = os.path.basename(os.path.normpath(options.inputs[0]))
    name = name.lstrip(".") or name
    for suffix in (".incomplete", ".gz", ".npy", ".json", ".timeline"):
        name = name[: -len(suffix)] if name.endswith(suffix) else name
    return "%s-%s%s" % (name, options.command, options.suffix)


def without_numpy(program, why):
    """Packages of the system belong to its own Python, which need not be the first one in PATH."""
    other = "/usr/bin/python3"
    if not os.environ.get("WEIR_PLOT_PYTHON") and os.access(other, os.X_OK):
        os.environ["WEIR_PLOT_PYTHON"] = other
        sys.stdout.flush()
        os.execv(other, [other] + sys.argv)
    print(
        "%s: needs NumPy and matplotlib, and %s has none (%s): contrib/quickstart --plot, "
        "apt-get install python3-numpy python3-matplotlib, or pip install numpy matplotlib"
        % (program, sys.executable, why),
        file=sys.stderr,
    )
    return 1


def main(arguments=None):
    """Exit status of the command."""
    given = sys.argv[1:] if arguments is None else arguments
    if given[:1] == ["--complete"]:
        sys.stdout.writelines(complete.answer(make_parser(), given[1:]))
        return 0
    options = make_parser().parse_args(given)
    try:
        __import__("numpy")
    except ImportError as e:
        return without_numpy("weir-plot", e)
    from . import draw, load

    options.output = options.output or default_name(options)
    try:
        if options.output == "-":
            raise Refusal("-o -: give the name of a file; /dev/stdout is standard output", BAD_USAGE)
        if options.suffix == ".svg":
            style.check_name(options.output)
        draw.take_outside(options)
        wholefile.keep_inputs(options.output, draw.files_read(options))
        for note in load.notes(options.inputs):
            print("weir-plot: note: %s" % note, file=sys.stderr)
        for line in draw.FUNCTIONS[options.command](options):
            print(line, flush=True)
    except Refusal as e:
        print("weir-plot: %s" % e, file=sys.stderr)
        return e.status
    except BrokenPipeError:
        raise
    except OSError as e:
        print("weir-plot: %s: %s" % (e.filename or "standard output", reason(e)), file=sys.stderr)
        return 1
    except MemoryError:
        print("weir-plot: not enough memory for %s" % " ".join(options.inputs), file=sys.stderr)
        return 1
    return 0
