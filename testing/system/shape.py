# SPDX-License-Identifier: BSD-3-Clause
"""The shape of ior's output: what changes from run to run is replaced, what parsers read stays where it is.

A measured number becomes '#' in a field of the same width; before that its own format is checked, so that a shape is
only made from a line that follows the rules. Dates, host and directory become words in angle brackets.
"""
import os
import pathlib
import re

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden"

RESULT_HEAD = "access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter"
SUMMARY_FORMAT = ("{:<9s} {:10.2f} {:10.2f} {:10.2f} {:10.2f} {:10.2f} {:10.2f} {:10.2f} {:10.2f} {:10.5f} {:>10s} {:>13s} "
                  "{:5d} {:6d} {:3d} {:4d} {:3d} {:5d} {:8d} {:9d} {:4d} {:6d} {:8d} {:8d} {:9.1f} {:>3s} {:6d}")
REMOVE = "remove    -          -          -           -          -          -          -          -          "


def number(text):
    """A cell of the results table by the number rule."""
    if text == "-":
        return "   -      "
    value = float(text)
    # A number is rounded before it is seen, so the borders belong to both sides.
    assert value < float("inf"), text
    for fits, form in ((value <= 1, "%-10.6f"), (1 <= value <= 3600, "%-10.2f"), (value >= 3600, "%-10.0f")):
        if fits and (form % value).rstrip() == text:
            return form % value
    raise AssertionError("'%s' does not follow the number rule" % text)


def result_row(line):
    words = line.split()
    access, numbers, iteration = words[0], words[1:-1], words[-1]
    if access == "remove":
        cells = [number(words[-2])]
        assert line == REMOVE + cells[0] + " " + "%-4s" % iteration, line
        return REMOVE + "%-10s " % "#" + "%-4s" % iteration
    cells = [number(n) for n in numbers]
    form = "%-10s%s %s %s  %s %s %s %s %s %s %-4s"
    assert line == form % ((access,) + tuple(cells) + (iteration,)), line
    measured = ["%-10s" % "#" if i not in (3, 4) else c for i, c in enumerate(cells)]
    return form % ((access,) + tuple(measured) + (iteration,))


def summary_row(line):
    w = line.split()
    wall = w[10:12] if w[10] == "NA" else ["%10.2f" % float(w[10]), "%13.2f" % float(w[11])]
    values = [w[0]] + [float(x) for x in w[1:10]] + wall + [int(x) for x in w[12:24]] + [float(w[24]), w[25], int(w[26])]
    assert line == SUMMARY_FORMAT.format(*values), line
    shown = ["%-9s" % w[0]] + ["%10s" % "#"] * 9 + (["%10s" % "NA", "%13s" % "NA"] if w[10] == "NA" else ["%10s" % "#", "%13s" % "#"])
    if w[7] == "0.00" and w[4] == "0.00":  # one repetition
        shown[4] = shown[8] = "%10s" % "0.00"
    return " ".join(shown) + line[len(SUMMARY_FORMAT.format(*values)) - len(tail(values)):]


def tail(values):
    return " " + " ".join(SUMMARY_FORMAT.split(" ")[12:]).format(*values[12:])


SUBSTITUTIONS = [
    (r"^(Began|StartTime|Finished)( *: )[A-Z][a-z]{2} [A-Z][a-z]{2} [ 1-3]\d \d\d:\d\d:\d\d \d{4}$", r"\1\2<date>"),
    (r"^[A-Z][a-z]{2} [A-Z][a-z]{2} [ 1-3]\d \d\d:\d\d:\d\d \d{4}$", "<date>"),
    (r"^(IOR-4\.1\.0\+weir-)\d+(\.\d+)+\S*(: MPI Coordinated Test of Parallel I/O)$", r"\1<version>\3"),
    (r"^(Command line        : )\S.*$", r"\1<command>"),
    (r"^(Machine             : )\S+ \S+$", r"\1<system> <host>"),
    (r"^(Machine             : )\S+ \S+ \S+ .* \S+$", r"\1<system> <host> <release> <version> <machine>"),
    (r"^(FS                  : )\d+\.\d [GT]iB   Used FS: \d+\.\d%   Inodes: \d+\.\d Mi   Used Inodes: \d+\.\d%$",
     r"\1# GiB   Used FS: #%   Inodes: # Mi   Used Inodes: #%"),
    (r"^(apiVersion          : )\d+\.\d+\.\d+( \(Parallel\))$", r"\1<version>\2"),
    (r"^(apiVersion          : \()\d+\.\d+(\))$", r"\1<version>\2"),
    (r"^(Max Write: |Max Read:  )\d+\.\d\d MiB/sec \(\d+\.\d\d MB/sec\)$", r"\1# MiB/sec (# MB/sec)"),
    (r"^(Using Time Stamp )\d+ \(0x[0-9a-f]+\)( for Data Signature)$", r"\1# (0x#)\2"),
    (r"(data: )\d+\.\d( GiB mean data: )\d+\.\d( GiB time: )\d+\.\ds$", r"\1#\2#\3#s"),
]


def shape_line(line, directory):
    line = line.replace(directory, "<dir>")
    if re.match(r"^(write|read|remove) .*\d +$", line) and "NA" not in line:
        return result_row(line)
    if re.match(r"^(write|read) ", line):
        return summary_row(line)
    for pattern, replacement in SUBSTITUTIONS:
        line = re.sub(pattern, replacement, line)
    return line


def shape(text, directory):
    return "".join(shape_line(line, str(directory)) + "\n" for line in text.split("\n")[:-1])


def assert_golden(name, text, fixed=False):
    """The text is that of testing/golden/NAME.txt, which WEIR_UPDATE_GOLDEN=1 writes anew if it is not fixed."""
    path = GOLDEN / (name + ".txt")
    if not fixed and os.environ.get("WEIR_UPDATE_GOLDEN"):
        path.write_text(text)
    assert text.split("\n") == path.read_text().split("\n")
