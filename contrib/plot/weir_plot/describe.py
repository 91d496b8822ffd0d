# SPDX-License-Identifier: BSD-3-Clause
"""The parameters of a test in a line: which ones, in which words, by the names that programs give them."""
from . import quantities
from .jsonfile import number


def text(value):
    return str(value)


def files(value):
    return "a file for each task" if number(value) else "one shared file"


def direct(value):
    return "direct I/O" if number(value) else ""


# What stands in a title: names of the option (results, timelines, short forms), words before the value, its form.
ROWS = (
    (("api",), "", text),
    (("transfer-size", "transferSize", "call-size", "call_size"), "transfer ", quantities.size),
    (("block-size", "blockSize"), "block ", quantities.size),
    (("segments", "segmentCount"), "segments ", text),
    (("file-per-proc", "filePerProc"), "", files),
    (("posix.odirect", "directio"), "", direct),
    (("items",), "items ", text),
    (("write-bytes",), "file size ", quantities.size),
    (("call-limit", "call_limit"), "calls ", text),
    (("time-limit", "time_limit", "deadline"), "limit ", quantities.seconds),
    (("objects", "precreate-objects"), "objects ", text),
    (("data-sets",), "data sets ", text),
)


def parameters(values):
    """Words for those parameters that have a value other than zero; files are always named."""
    words = []
    for names, before, form in ROWS:
        value = next((values[name] for name in names if name in values), None)
        if value is None or value == "" or (form is not files and number(value) == 0):
            continue
        if form is not text and number(value) is None:
            continue
        if names[0] == "segments" and number(value) == 1:
            continue
        word = form(value)
        if word:
            words.append(before + word)
    return words


def test_of_run(run, test):
    """A line about one test of a timeline or profile."""
    tasks, hosts = run.tasks(test), run.hosts(test)
    words = ["%d task%s" % (tasks, "s" if tasks > 1 else "")]
    if hosts:
        nodes = len(set(hosts))
        words[0] += " on %d node%s" % (nodes, "s" if nodes > 1 else "")
    words += run.chosen.words() + parameters(run.parameters(test))
    if len(run.tests) > 1:
        words.insert(0, "test %d" % test)
    return ", ".join(words)
