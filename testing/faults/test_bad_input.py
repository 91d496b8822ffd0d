# SPDX-License-Identifier: BSD-3-Clause
"""Nonsense in every option and in scripts: no signal, no hang, one ERROR line that names it, or a sound run.

Options are read before MPI starts: with --version after them they are only read, which takes milliseconds."""
import json
import os
import re
import signal
import subprocess
import time

import pytest

import conftest

SECONDS = 10
CLASSES = {
    "empty": "",
    "blank": "  ",
    "negative": "-1",
    "zero": "0",
    "huge": "9223372036854775807",
    "beyond": "99999999999999999999999",
    "garbage": "%s%n;$(x)`y`\\\"'\x01",
    "utf-8": "größe→\U0001f4be",
    "long": "x" * 100000,
}


def options():
    text = subprocess.run([str(conftest.IOR), "--dump-options=json"], capture_output=True, text=True, check=True,
                          env=conftest.program_env()).stdout
    return [row for row in json.loads(text) if row["name"] not in ("help", "version", "dump-options")]


def label(row):
    return row["name"] or row["keys"][0]


OPTIONS = [pytest.param(row, id=label(row)) for row in options()]


def alike(row):
    """Options of these are read by the same lines; strings and old options have meanings of their own."""
    own = label(row) if row["type"] in ("string", "old", "gone", "directives") else None
    return row["type"], row["min"], row["max"], str(row["choices"]), own


def first_of_each_kind():
    """All options. With the sanitizers run the first of each kind."""
    kinds = set()
    for row in options():
        yield pytest.param(row, id=label(row), marks=[] if alike(row) in kinds else [pytest.mark.sanitize])
        kinds.add(alike(row))


READ = list(first_of_each_kind())


def words(row, value):
    return ["--%s=%s" % (row["name"], value)] if row["name"] else ["-O", "%s=%s" % (row["keys"][0], value)]


def run_alone(ior, args, may_go_on=False):
    """Without launcher. A run that is right to go on for long is asked to end half a second after the title of its
    results: signals end it in order from there on, up to its last line of text."""
    proc = ior.start(args, np=None)

    def has_said(word):
        return word in os.pread(proc.out.fileno(), 1 << 20, 0)

    if may_go_on:
        conftest.wait_until(lambda: proc.poll() is not None or has_said(b"Results"))
        try:
            proc.wait(0.5)
        except subprocess.TimeoutExpired:
            if not has_said(b"\nFinished "):
                proc.send_signal(signal.SIGTERM)
    return ior.finish(proc, SECONDS)


def sane(run, name, statuses):
    """Ended by itself, with one line when it failed, and no nonsense in the results."""
    assert run.returncode in statuses, run
    assert len(run.errors) == (0 if run.returncode in (0, 4) else 1), run
    said = run.errors + run.warnings + run.notes
    assert all(len(line) < 10000 and not re.search("[\\x00-\\x08\\x0b-\\x1f\\x7f]", line) for line in said), run
    assert not re.search(r"(?<![\w.])-?(nan|inf)(?!\w)", run.stdout), run
    if run.returncode == 1 and name:
        assert name.lower() in run.errors[0].lower(), run
    return run


@pytest.mark.parametrize("row", READ)
def test_every_class_of_values_is_taken_or_refused_by_name(ior, row):
    for value in CLASSES.values():
        name = label(row) if label(row) != "option" else ""
        run = sane(run_alone(ior, words(row, value) + ["--version"]), name, (0, 1))
        if run.returncode == 0:
            assert run.stdout.startswith("ior (weir) ") and run.stdout.count("\n") == 1, run
        else:
            assert run.stdout == "" and run.messages == ["ERROR: " + run.errors[0]], run
    assert ior.files() == []


# What an accepted value does, for the types that have a meaning to get wrong. Values that mean much work are ended by a signal.
def daring():
    for param in OPTIONS:
        row = param.values[0]
        chosen = {"int": ("negative", "zero", "huge"), "size": ("negative", "zero", "huge"), "count": ("zero", "huge"),
                  "string": ("garbage", "utf-8")}.get(row["type"], ())
        for name in chosen:
            value = CLASSES[name]
            if name == "huge" and row["max"] is not None:
                value = str(row["max"])
            if name == "huge" and "delay" in label(row).lower() and "test" not in label(row):
                value = "100000"  # microseconds in a call: what runs in there is not interrupted
            if row["choices"] or (name == "zero" and (row["min"] or 0) > 0) or (name == "negative" and (row["min"] or 0) > -1):
                continue
            if conftest.SANITIZED and name == "huge" and "memory" in label(row):
                continue  # the sanitizer's allocator ends the program where others say that there is no memory
            yield pytest.param(row, value, id="%s=%s" % (label(row), name))


BACKENDS = {"posix": "POSIX", "aio": "AIO", "mpiio": "MPIIO", "hdf5": "HDF5", "netcdf": "NETCDF", "ncmpi": "NCMPI", "mmap": "MMAP"}


@pytest.mark.sanitize
@pytest.mark.parametrize("row, value", daring())
def test_what_is_accepted_runs_or_says_why_not(ior, row, value):
    backend = BACKENDS.get(label(row).split(".")[0], "DUMMY")
    base = ["-a", backend, "-w", "-r", "-b", "4k", "-t", "1k"]
    if label(row) == "random-prefill":
        base.append("-z")
    run = sane(run_alone(ior, base + words(row, value), may_go_on=True), None, (0, 1, 2, 3, 4, 6))
    if run.returncode == 0 and value != "0" and run.rows:
        conftest.sound(run)


@pytest.mark.parametrize("row", READ)
def test_a_mebibyte_in_a_script(ior, row):
    """A word of argv cannot be that long."""
    key = row["keys"][0] if row["keys"] else "--" + row["name"]
    (ior.cwd / "script").write_text("IOR START\napi=DUMMY\nreadFile=1\n%s=%s\nRUN\nIOR STOP\n" % (key, "y" * 2 ** 20))
    run = sane(run_alone(ior, ["-f", "script"], may_go_on=True), None, (0, 1, 2, 3))
    if run.returncode == 1:
        assert "script:" in run.errors[0] or label(row).lower() in run.errors[0].lower() or key.lower() in run.errors[0].lower(), run


# ---- scripts ----

START = "IOR START\napi=DUMMY\nblockSize=4k\ntransferSize=1k\n"

WRONG = [
    ("empty", b"", "script: no line"),
    ("only blanks", b"\n\n  \t\r\n\n", "script: no line"),
    ("no START and no option", b"# api=DUMMY\nIOR STOP\n", "script: no line \"IOR START\""),
    ("NUL bytes", b"IOR START\napi=DUMMY\n\0\0\0\nRUN\n", "script:3: "),
    ("random bytes", bytes((i * 7919 + i // 256 * 31) % 256 for i in range(65536)), "script"),
    ("random bytes after START", b"IOR START\n" + bytes((i * 7919) % 255 + 1 for i in range(4096)).replace(b"\n", b"-"), "script:2: "),
    ("an ELF file", b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0>\0", "script"),
    ("one long line without end", b"IOR START\n" + b"z" * (8 << 20), "script:2: "),
    ("one long list", b"IOR START\nverbose=0" + b",refNum=1" * 100000 + b",nonsense=1\nRUN\n", "script:2: "),
    ("unknown key", START.encode() + b"\n# comment\nnonsense=1\nRUN\n", "script:7: "),
    ("unknown key far down", START.encode() + b"# x\n" * 5000 + b"nonsense=1\n", "script:5005: "),
    ("unknown key with CRLF", START.replace("\n", "\r\n").encode() + b"nonsense=1\r\nRUN\r\n", "script:5: "),
    ("UTF-8 key", START.encode() + "größe=1\n".encode(), "script:5: "),
    ("bytes that are no UTF-8", START.encode() + b"\xff\xfe=1\n", "script:5: "),
    ("key without value", START.encode() + b"segmentCount\n", "script:5: "),
    ("key with empty value", START.encode() + b"segmentCount=\n", "script:5: "),
    ("value without key", START.encode() + b"=7\n", "script:5: "),
    ("wrong value", START.encode() + b"segmentCount=many\n", "script:5: "),
    ("only on the command line", START.encode() + b"version=1\nRUN\n", "script:5: "),
    ("a script in a script", START.encode() + b"script=other\nRUN\n", "script:5: "),
    ("quote without end", START.encode() + b'testFile="abc\nRUN\n', "script:5: "),
    ("old Mac line ends", START.replace("\n", "\r").encode() + b"RUN\r", "script"),
]


@pytest.mark.sanitize
@pytest.mark.parametrize("text, where", [pytest.param(text, where, id=name.replace(" ", "-")) for name, text, where in WRONG])
def test_a_script_that_is_wrong_is_refused_with_file_and_line(ior, text, where):
    (ior.cwd / "script").write_bytes(text)
    run = sane(run_alone(ior, ["-f", "script"]), None, (1,))
    assert where in run.errors[0] and run.stdout == "", run
    assert ior.files() == ["script"]


@pytest.mark.sanitize
@pytest.mark.parametrize("text, tests", [
    (START + "RUN\nIOR STOP\n", 1), (START.replace("\n", "\r\n") + "RUN\r\nIOR STOP\r\n", 1), ("\ufeff" + START + "RUN\n", 1), (START, 1),
    (START + "RUN\nRUN", 2), ("words before\n" + START + "RUN\nIOR STOP\nnonsense after = 1\n", 1),
    ("ior   start\n API = dummy \n\tBLOCKSIZE=4k , transferSize=1k # comment\nrun\n", 1), (START + "testFile=größe→\nRUN\n", 1),
    (START + "# " + "c" * 100000 + "\nRUN\n", 1), (START + "refNum=1\nRUN\n" * 60 + "IOR STOP\n", 60),
])
def test_a_script_that_looks_odd_but_is_right_runs(ior, text, tests):
    (ior.cwd / "script").write_text(text, newline="")
    run = sane(run_alone(ior, ["-f", "script"]), None, (0,))
    assert run.accesses() == ["write", "read"] * tests, run


@pytest.mark.sanitize
@pytest.mark.parametrize("path, word", [("/dev/zero", "too much for a script"), (".", "directory"), ("/dev/null", "no line"), ("x" * 5000, "long"),
                                        ("nowhere/script", "No such file")])
def test_what_is_no_script_is_refused_in_time(ior, path, word):
    begin = time.monotonic()
    run = sane(run_alone(ior, ["-f", path]), None, (1,))
    assert word in run.errors[0], run
    conftest.timely(time.monotonic() - begin < SECONDS * conftest.PATIENCE, run)


# ---- the command line as a whole ----

@pytest.mark.sanitize
@pytest.mark.parametrize("args", [
    ["-"], ["--"], ["---"], ["--="], ["=="], ["-="], ["--=5"], ["-O", "="], ["-O", "=="], ["-O", ",,,"], ["-O=,"], ["-é"], ["--größe=1"],
    ["-" + "w" * 100000], ["-" + "q" * 100000], ["--" + "q" * 100000 + "=1"], ["-O", "q" * 100000 + "=1"], ["\x01\x02"], ["%n%n%s"],
    ["-b"], ["-b", "-t"], ["-bbbbbb"], ["-b="], ["-b", "1" * 100000], ["x"] * 5000, ["-w"] * 20000, ["-v"] * 20000,
    ["-a", "DUMMY" * 10000], ["-a", ""], ["-O", "api="], ["-G", "--"], ["-l", ""], ["--report=,"], ["--report=text"], ["--report=:"],
], ids=lambda args: ascii(" ".join(args)[:24]))
def test_a_command_line_that_makes_no_sense(ior, args):
    run = sane(run_alone(ior, args + ["--version"]), None, (0, 1))
    assert run.returncode == 0 or (run.stdout == "" and run.messages == ["ERROR: " + run.errors[0]]), run


@pytest.mark.sanitize
@pytest.mark.parametrize("value", [b"\xff\xfe\x80", b"\xc3", b"\x1b[31m", b"a\nb", b"\xe2\x80\xae"])
def test_bytes_that_harm_a_terminal_are_not_repeated_raw(ior, value):
    run = run_alone(ior, ["-b", value.decode("utf-8", "surrogateescape")])
    sane(run, None, (1,))
    assert value not in run.stderr.encode() or value == b"\xe2\x80\xae", run


@pytest.mark.sanitize
@pytest.mark.parametrize("name, value", [("IOR_HINT__MPI__" + "x" * 5000, "y" * 100000), ("IOR_HINT__", ""), ("IOR_HINT__MPI__a", "größe"),
                                         ("IOR_HINT__NOSUCH__a", "1"), ("IOR_HINT__MPI__", "\x01"), ("TMPDIR", "/nowhere")])
def test_odd_environment_variables_do_no_harm(ior, name, value):
    run = ior(["-a", "MPIIO", "-w", "-b", "4k", "-t", "1k"], np=None, env={name: value}, timeout=SECONDS)
    sane(run, None, (0, 1, 2))
