# SPDX-License-Identifier: BSD-3-Clause
"""weir-compare: is B slower than A? Results of runs of two sides, or two commands that are run in pairs."""
import argparse
import glob
import math
import sys

from . import add_version, cli, compare_run, compare_search, compare_sides, compare_verdict, complete, history
from . import history_series
from .refusal import BAD_USAGE, Refusal, reason

SLOWER = 7  # exit status

DESCRIPTION = """Is B slower than A? For every operation of JSON results of like configuration. What is compared are
runs: with one run on a side nothing is told apart. 'weir-compare run' makes the runs, in pairs; see weir-compare run
--help. 'weir-compare search' finds the fastest of many combinations of parameters; see weir-compare search --help.
'weir-compare history' tells when the runs of a history changed; see weir-compare history --help."""
EPILOG = """Exit status: 0 no operation is slower; 7 one is, by more than --worse-than; 1 a file cannot be used, a
command fails, or configurations differ; 2 wrong options."""


def split_sides(names):
    """A and B: what stands before and after ':', or two files."""
    if ":" in names:
        at = names.index(":")
        sides = names[:at], names[at + 1 :]
    else:
        sides = names[:1], names[1:]
    if not all(sides) or ":" in sides[1] or (":" not in names and len(names) > 2):
        raise Refusal(
            "%d results%s: wanted are A.json B.json, or A1.json A2.json ... : B1.json B2.json ..."
            % (len([name for name in names if name != ":"]), " and one ':'" if names.count(":") == 1 else ""),
            BAD_USAGE,
        )
    return sides


def name_of(side):
    return side[0].source if len(side) == 1 else "%d runs (%s ...)" % (len(side), side[0].source)


def compare(a, b, options):
    """Lines, and whether an operation is slower by more than was allowed."""
    compare_sides.check_alike(a[0], a[1:] + b, options.ignore)
    if options.paired and len(a) != len(b):
        raise Refusal("--paired: A has %d runs and B has %d" % (len(a), len(b)), BAD_USAGE)
    found = compare_sides.operations(a, b)
    verdicts = compare_verdict.judge(found, 1 - options.confidence, options.paired, options.normal)
    lines = [
        "A: %s, B: %s%s; confidence %g %% for all operations together"
        % (name_of(a), name_of(b), ", in pairs" if options.paired else "", 100 * options.confidence)
    ]
    lines += list(compare_sides.doubts("A", a)) + list(compare_sides.doubts("B", b))
    lines += list(compare_verdict.table(verdicts)) + list(compare_verdict.limits(verdicts, options.paired))
    lines += compare_verdict.losses(verdicts, options.worse_than)
    return lines, any(one.is_worse(options.worse_than) for one in verdicts)


def compare_files(options):
    """Exit status; what is told about the options and the order of the runs goes to standard error."""
    notes = []
    try:
        a, b = (compare_sides.read_side(paths) for paths in split_sides(options.results))
        notes += compare_sides.unmatched(a + b, options.ignore)
        lines, worse = compare(a, b, options)
        if min(len(a), len(b)) > 1 and compare_sides.one_after_the_other(a, b):
            notes.append(
                "all runs of one side came before those of the other: what changed in between looks like a difference; "
                "weir-compare run takes them in turn"
            )
    except Refusal as e:
        raise Refusal("; ".join([str(e)] + notes), e.status)
    for note in notes:
        print("weir-compare: note: %s" % note, file=sys.stderr)
    print("\n".join(lines))
    return SLOWER if worse else 0


def tell_history(options):
    return SLOWER if history.run(options) else 0


def run_pairs(options):
    return SLOWER if compare_run.run(options) else 0


# ---- the command ----


def share(least, most):
    def parse(text):
        try:
            value = float(text[:-1] if text.endswith("%") else text) / 100
        except ValueError:
            value = math.nan
        if not least <= value < most:
            raise argparse.ArgumentTypeError(
                "'%s' is not a percentage from %g to below %g" % (text, 100 * least, 100 * most)
            )
        return value

    return parse


def number_of(what, most=1000):
    def parse(text):
        value = int(text) if text.isdigit() else 0
        if not 1 <= value <= most:
            raise argparse.ArgumentTypeError("'%s' is not a number of %s from 1 to %d" % (text, what, most))
        return value

    return parse


def add_names(parser, name, default, words):
    """An option with a list of names."""
    parser.add_argument(
        name, metavar="NAME,...", type=lambda text: tuple(text.split(",")), default=default, help=words
    )


def add_confidence(parser, words):
    parser.add_argument(
        "--confidence",
        metavar="PERCENT",
        type=share(0.5, 1),
        default=0.95,
        help="with which %s (default: 95)" % words,
    )


def add_gate(parser):
    """The options of both forms."""
    parser.add_argument(
        "--worse-than",
        metavar="PERCENT",
        type=share(0, 1),
        default=0,
        help="status 7 only for operations that are slower by more than this (default: 0)",
    )
    add_confidence(parser, "the intervals of all operations hold")


def add_seed(parser):
    parser.add_argument("--seed", type=int, metavar="N", help="of the random order (default: another each time)")


def add_output(parser):
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="a picture (.svg, .png, .pdf) or a page (.html); needs matplotlib"
    )


def make_parser():
    parser = argparse.ArgumentParser(
        prog="weir-compare",
        usage="weir-compare [options] A.json ... : B.json ...\n"
        "       weir-compare run [options] -- COMMAND A :: COMMAND B\n"
        "       weir-compare search [options] -- COMMAND with words such as '{A,B}'\n"
        "       weir-compare history [options] FILE...",
        description=DESCRIPTION,
        epilog=EPILOG,
        allow_abbrev=False,
    )
    parser.add_argument(
        "results", metavar="A.json ... : B.json ...", nargs="+", help="JSON results of the runs of A and of B"
    )
    add_version(parser)
    add_gate(parser)
    parser.add_argument(
        "--paired",
        action="store_true",
        help="the first run of A and the first of B are a pair, made in random order one after the other, and so on",
    )
    parser.add_argument(
        "--normal",
        action="store_true",
        help="take logarithms of rates for normally distributed where runs are too few otherwise (3 at least)",
    )
    add_names(parser, "--ignore", (), "differences of the configuration that are meant, such as backend,nodes")
    parser.set_defaults(function=compare_files)
    return parser


def make_run_parser():
    parser = argparse.ArgumentParser(
        prog="weir-compare run",
        usage="weir-compare run [options] -- COMMAND A :: COMMAND B",
        description="Run two commands in pairs, in random order within each pair, and judge.",
        epilog="--report=json:FILE is added to each command; a word with {} gets the name of the file instead. "
        "Pairs end early when every operation is told apart, or, with --worse-than, when that is answered. " + EPILOG,
        allow_abbrev=False,
    )
    parser.add_argument(
        "-n",
        "--pairs",
        metavar="N",
        type=number_of("pairs"),
        default=20,
        help="at most this number of pairs (default: 20)",
    )
    parser.add_argument(
        "-o", "--output", metavar="DIR", help="keep results and output here (default: weir-compare-DATE)"
    )
    add_seed(parser)
    add_gate(parser)
    parser.set_defaults(function=run_pairs)
    return parser


def make_search_parser():
    parser = argparse.ArgumentParser(
        prog="weir-compare search",
        usage="weir-compare search [options] -- COMMAND with words such as '{A,B}'",
        description="Which combination of parameters is fastest? Braces in words of the command make combinations: "
        "-t '{256k,1m}'. Put them in quotes, since a shell such as bash expands them itself. All combinations run "
        "equally often in random order, the lower half goes, and so on; the last two run in pairs and are judged.",
        epilog="An empty alternative leaves out a word: '{,-e}'. \\{ is a brace that stays, and so are braces without "
        "a comma. --report=json:FILE is added to the command; a word with {} gets the name of the file instead. A "
        "combination that fails is out of the race. The search ends early when the last two are told apart, or cannot "
        "be any more. Exit status: 0; 1 all combinations fail; 2 wrong options.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "-n",
        "--runs",
        metavar="N",
        type=number_of("runs", 10000),
        help="at most this number of runs in all (default: 10 for each combination; least: 2)",
    )
    parser.add_argument("--operation", metavar="NAME", help="compare its rate, such as read (default: the first one)")
    parser.add_argument("--dry-run", action="store_true", help="list the combinations and the plan, and run nothing")
    parser.add_argument(
        "--keep", metavar="DIR", help="keep results and output of the runs here (default: weir-compare-DATE)"
    )
    add_output(parser)
    add_seed(parser)
    add_confidence(parser, "the interval of the last two holds")
    parser.set_defaults(function=compare_search.run)
    return parser


def make_history_parser():
    parser = argparse.ArgumentParser(
        prog="weir-compare history",
        usage="weir-compare history [options] FILE...",
        description="When did the runs of a history change, by how much, and what changed beside?",
        epilog="FILE has lines of --report=jsonl:FILE, or is a result of --report=json:FILE. Exit status: 0; 7 with "
        "--gate, when the newest runs are worse, with an interval that excludes less; 1 a file cannot be used; 2 wrong "
        "options. "
        "Series that have too few runs for an interval are told, and are not worse.",
        allow_abbrev=False,
    )
    parser.add_argument("results", metavar="FILE", nargs="+", help="lines of --report=jsonl, or JSON results")
    add_version(parser)
    words = "runs that agree in these are one series, such as operation,tasks,xfer (default: %s)"
    add_names(parser, "--by", history_series.BY, words % ",".join(history_series.BY))
    parser.add_argument(
        "--gate",
        metavar="PERCENT",
        type=share(0, 1),
        help="status 7 when the newest runs are worse than those before by more than this",
    )
    parser.add_argument(
        "--newest",
        metavar="N",
        type=number_of("runs"),
        default=5,
        help="the number of runs that are the newest (default: 5)",
    )
    add_confidence(parser, "no series has a change where there is none")
    parser.add_argument("--seed", type=int, metavar="N", default=0, help="of the permutations (default: 0)")
    add_output(parser)
    parser.set_defaults(function=tell_history)
    return parser


# The first word after the program.
COMMANDS = {"run": make_run_parser, "search": make_search_parser, "history": make_history_parser}
WITH_COMMANDS = "run", "search"  # the words after -- are commands
DRAW = tell_history, compare_search.run  # --output is a picture


def parse(given):
    if given[:1] == ["history"]:
        return make_history_parser().parse_args(given[1:])
    if not given or given[0] not in WITH_COMMANDS:
        return make_parser().parse_args(given)
    words = given[1:]
    at = words.index("--") if "--" in words else len(words)
    options = COMMANDS[given[0]]().parse_args(words[:at])
    options.commands = words[at + 1 :]
    return options


def main(arguments=None):
    """Exit status of the command."""
    given = sys.argv[1:] if arguments is None else arguments
    if given[:1] == ["--complete"]:
        parser = COMMANDS.get("".join(given[3:4]), make_parser)()
        names = [(name, make().description or "") for name, make in COMMANDS.items()]
        names += [(name, "") for name in sorted(glob.glob("*.json*"))]
        sys.stdout.writelines(complete.answer(parser, given[1:], names))
        return 0
    options = parse(given)
    if getattr(options, "output", None) and options.function in DRAW:
        try:
            __import__("matplotlib")
        except ImportError as e:
            return cli.without_numpy("weir-compare", e)
    try:
        status = options.function(options)
        sys.stdout.flush()
        return status
    except Refusal as e:
        print("weir-compare: %s" % e, file=sys.stderr)
        return e.status
    except BrokenPipeError:
        raise
    except OSError as e:
        print("weir-compare: %s: %s" % (e.filename or "standard output", reason(e)), file=sys.stderr)
        return 1
