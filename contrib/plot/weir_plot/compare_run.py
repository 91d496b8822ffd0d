# SPDX-License-Identifier: BSD-3-Clause
"""weir-compare run: two commands in pairs, in random order within each pair, and a verdict as soon as it is clear.

The coin that orders a pair makes the signed rank test exact: where A and B are the same, each sign of a difference is
as probable as the other, whatever else the machine does."""
import itertools
import os
import random
import shlex
import signal
import statistics
import subprocess
import sys
import time

from . import compare_sides, compare_stats, compare_verdict
from .compare_sides import rate
from .refusal import BAD_USAGE, Refusal, reason

SHOWN = 3  # operations in a line of progress
GRACE_S = 10  # for a command that is told to end
ENDS = signal.SIGINT, signal.SIGTERM, signal.SIGHUP


class Pairs:
    """The pairs that have been run: results of A and of B; and how long a pair takes."""

    def __init__(self, options):
        self.commands = split_commands(options.commands)
        self.random = random.Random(options.seed)
        self.most, self.folder = options.pairs, make_folder(options.output)
        self.sides = {"A": [], "B": []}
        self.began = time.monotonic()

    @property
    def count(self):
        return len(self.sides["B"])

    def run(self):
        """One more pair; a line about it."""
        number, order = self.count + 1, self.random.choice(("AB", "BA"))
        new = {}
        for label in order:
            show("pair %d of %d: %s runs" % (number, self.most, label))
            new[label] = run_one(self.commands[label], label, self.folder, "pair%03d-%s" % (number, label))
        show("")
        for label, result in new.items():
            compare_sides.check_alike((self.sides[label] + [result])[0], [result], ())
            self.sides[label].append(result)
        found = compare_sides.operations([new["A"]], [new["B"]])
        said = ["%s %s -> %s" % (one.name, *(middle(side[0], one) for side in (one.a, one.b))) for one in found]
        more = ", ..." if len(said) > SHOWN else ""
        left = time_left(self.began, number, self.most)
        say("pair %d of %d (%s): %s%s%s" % (number, self.most, ", ".join(order), ", ".join(said[:SHOWN]), more, left))


def middle(values, one):
    return rate(statistics.median(values), one) if values else "-"


# ---- on standard error ----


def say(text):
    print("weir-compare: %s" % text, file=sys.stderr, flush=True)


def time_left(began, done, most):
    """Words on how long the rest takes at most; none at the end."""
    seconds = (time.monotonic() - began) / done * (most - done)
    words = "%.0f s" % seconds if seconds < 120 else "%.0f min" % (seconds / 60)
    return "; at most %s more" % words if done < most else ""


def show(text):
    """A line that the next one replaces; only where somebody looks."""
    if sys.stderr.isatty():
        print("\r\033[K%s" % text, end="", file=sys.stderr, flush=True)


# ---- the commands ----


def split_commands(words):
    """{"A": words, "B": words} of COMMAND A :: COMMAND B"""
    at = words.index("::") if words.count("::") == 1 else 0
    if not words[:at] or not words[at + 1 :]:
        raise Refusal("wanted are two commands: weir-compare run [options] -- COMMAND A :: COMMAND B", BAD_USAGE)
    return {"A": words[:at], "B": words[at + 1 :]}


def new_folder():
    """One of this time, which no other run has made in the same second."""
    name = time.strftime("weir-compare-%Y%m%d-%H%M%S")
    for n in itertools.count(1):
        folder = name if n == 1 else "%s-%d" % (name, n)
        try:
            os.mkdir(folder)
            return folder
        except FileExistsError:
            pass


def make_folder(name):
    folder = name
    try:
        if not name:
            return new_folder()
        os.makedirs(folder, exist_ok=True)
        if os.listdir(folder):
            raise Refusal("%s: is not empty; results of other runs are not mixed with these" % folder, BAD_USAGE)
    except OSError as e:
        raise Refusal("%s: %s" % (folder or "a folder for the results", reason(e)))
    return folder


def with_report(words, path):
    """The command that writes its result to path."""
    if any("{}" in word for word in words):
        return [word.replace("{}", path) for word in words]
    return words + ["--report=json:" + path]


class Held:
    """Signals that end this process wait in it until release()."""

    def __init__(self):
        self.handlers, self.came = {}, []

    def hold(self):
        for number in ENDS:
            if callable(signal.getsignal(number)):
                self.handlers[number] = signal.signal(number, lambda one, _frame: self.came.append(one))

    def release(self):
        """The signals that came have their effect now."""
        for number, handler in self.handlers.items():
            signal.signal(number, handler)
        while self.came:
            number = self.came.pop()
            self.handlers[number](number, None)


def status_of(words, log):
    """The status of a command, which runs in a session of its own that signals of the terminal do not reach. A signal
    to this process ends the command and all that it has started: one signal, so that it can clean up. One that comes
    while the command starts waits until its process is known, since nothing else would end it."""
    process, held = None, Held()
    try:
        held.hold()
        process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )
        held.release()
        return process.wait()
    except BaseException:
        if process:
            end(process)
        raise
    finally:
        held.release()


def end(process):
    """The process and its group, in time or by force: after GRACE_S, or at once when another signal comes."""
    try:
        wait_for_group(process)
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def wait_for_group(process):
    """Ask the group to end, and wait. ProcessLookupError: it has ended."""
    until = time.monotonic() + GRACE_S
    try:
        os.killpg(process.pid, signal.SIGTERM)
        while time.monotonic() < until:
            process.poll()
            os.killpg(process.pid, 0)
            time.sleep(0.02)
    except KeyboardInterrupt:
        pass


def run_one(command, label, folder, name):
    """Run the command once, with its result and output in files of this name. Its result."""
    path, log = (os.path.join(folder, name + suffix) for suffix in (".json", ".log"))
    words = with_report(command, path)
    try:
        with open(log, "wb") as f:
            status = status_of(words, f)
    except OSError as e:
        raise Refusal("%s: %s: %s" % (label, e.filename or words[0], reason(e)))
    if status not in (0, 5):
        raise Refusal(
            "%s: '%s' ended with status %d: %s (all of it is in %s)"
            % (label, shlex.join(words), status, last_line(log), log)
        )
    if not os.path.exists(path):
        raise Refusal(
            "%s: '%s' has not written its result %s: put --report=json:{} where the command takes it"
            % (label, shlex.join(words), path)
        )
    return compare_sides.read(path)


def last_line(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        lines = [line.strip() for line in f if line.strip()]
    return next((line for line in lines if line.startswith("ERROR")), lines[-1] if lines else "it said nothing")


# ---- the sequence ----


def stop(number, _frame):
    """The status will have the number, as a shell says it."""
    raise KeyboardInterrupt(number)


def end_at_signals():
    """Signals of a batch system and of a lost terminal end the run as Ctrl-C does."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # as nohup leaves it
            signal.signal(number, stop)


def run_all(pairs, options):
    """The pairs, until the answer is clear. Returns the verdicts, and words on why they ended."""
    pairs.run()
    found = compare_sides.operations(pairs.sides["A"], pairs.sides["B"])
    alpha = compare_verdict.share(found, 1 - options.confidence)
    tell_first(pairs, alpha)
    looks = compare_stats.looks(pairs.most, alpha)
    while pairs.count < pairs.most:
        if pairs.count in looks:
            verdicts = look(pairs, looks)
            if is_clear(verdicts, options.worse_than):
                return verdicts, "%d of %d pairs, which is enough," % (pairs.count, pairs.most)
        pairs.run()
    return look(pairs, looks), "%d pairs" % pairs.count


def look(pairs, looks):
    """The verdicts with the confidence of this look."""
    found = compare_sides.operations(pairs.sides["A"], pairs.sides["B"])
    return [compare_verdict.judge_one(one, looks[pairs.count], True, False) for one in found]


def is_clear(verdicts, most):
    """Would more pairs change nothing? With a limit the answer is the exit status."""
    return all(one.is_clear(most) for one in verdicts) or (most > 0 and any(one.is_worse(most) for one in verdicts))


def tell_first(pairs, alpha):
    """What is known after the first pair: that A and B are not the same test, or that there are too few pairs."""
    for said in compare_sides.differences(pairs.sides["A"][0], pairs.sides["B"][0], ()):
        say("note: A and B differ: %s" % said)
    needed = compare_stats.needed(alpha, True, False)
    if pairs.most < needed:
        say("note: %d pairs can tell nothing apart: %d are needed" % (pairs.most, needed))


def report(pairs, verdicts, ended, options):
    lines = ["%s: %s" % (label, shlex.join(words)) for label, words in pairs.commands.items()]
    lines.append(
        "%s in random order, kept in %s; confidence %g %% for all operations together, at every look"
        % (ended, pairs.folder, 100 * options.confidence)
    )
    for label, results in pairs.sides.items():
        lines += compare_sides.doubts(label, results)
    lines += list(compare_verdict.table(verdicts)) + list(compare_verdict.limits(verdicts, True))
    return lines + compare_verdict.losses(verdicts, options.worse_than)


def publish(lines, folder):
    """Print the verdict, and keep it beside the results. Each also where the other fails."""
    try:
        with open(os.path.join(folder, "verdict.txt"), "w", encoding="utf-8") as f:
            f.write("\n".join(lines) + "\n")
    finally:
        print("\n".join(lines), flush=True)


def run(options):
    """Run and judge. Is an operation slower by more than was allowed?"""
    pairs = Pairs(options)
    end_at_signals()
    try:
        verdicts, ended = run_all(pairs, options)
    except KeyboardInterrupt:
        show("")
        say("interrupted after %d pairs, which are kept in %s" % (pairs.count, pairs.folder))
        raise
    publish(report(pairs, verdicts, ended, options), pairs.folder)
    return any(one.is_worse(options.worse_than) for one in verdicts)
