# SPDX-License-Identifier: BSD-3-Clause
"""weir-plot: whatever it is given, it says in one line what is wrong, and leaves no file."""
import gzip
import json
import os
import pathlib
import random
import subprocess
import sys

import pytest

import conftest
import plot_support
from plot_support import np, plot  # noqa: F401 (plot is a fixture)


def change(name, **members):
    head = json.loads(pathlib.Path(name).read_text())
    for key, value in members.items():
        if value is None:
            del head[key]
        else:
            head[key] = value
    pathlib.Path(name).write_text(json.dumps(head))


def fresh():
    return plot_support.write(pathlib.Path("a"), ranks=2, calls=10)


def test_timelines_that_are_none(plot):
    fresh()
    whole = pathlib.Path("a.npy").read_bytes()
    plot("rate", "no.npy").refuses(1, "no.npy", "No such file")
    for keep, word in ((0, "is empty"), (3, "NumPy"), (9, "cut off"), (100, "cut off"), (len(whole) - 1, "cut off: 40 records need")):
        pathlib.Path("a.npy").write_bytes(whole[:keep])
        plot("rate", "a.npy").refuses(1, "a.npy", word)
    pathlib.Path("a.npy").write_bytes(b"\x93NUMPY\x03\x00" + whole[8:])
    plot("rate", "a.npy").refuses(1, "3.0 instead of 1.0")
    pathlib.Path("a.npy").write_bytes(b"hello\n" * 50)
    plot("rate", "a.npy").refuses(1, "a.npy", "not a NumPy file")
    for table in (np.arange(5.0), np.zeros((2, 2), plot_support.RECORD), np.zeros(2, plot_support.RECORD.newbyteorder())):
        np.save("a.npy", table)
        plot("heat", "a.npy").refuses(1, "a.npy", "not a timeline of weir")
    np.save("a.npy", np.zeros(0, plot_support.RECORD))
    plot("calls", "a.npy").refuses(1, "a.npy", "no calls")
    assert not list(pathlib.Path().glob("*.svg*"))


def test_headings_that_are_damaged(plot):
    """NumPy takes a negative number or True for a length."""
    fresh()
    whole = pathlib.Path("a.npy").read_bytes()
    for shape in ("(-5,)", "(True,)", "(-40,)", "('5',)", "(5.0,)", "(2,-1)", "5", "(None,)", "((1,),)", "(%d,)" % 2 ** 70, "(%s,)" % ("9" * 5000)):
        head = ("{'descr': %s, 'fortran_order': False, 'shape': %s, }" % (plot_support.RECORD.descr, shape)).encode()
        pathlib.Path("a.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + whole[128:])
        for command in ("rate", "trace"):
            plot(command, "a.npy").refuses(1, "a.npy: ")
    assert sorted(os.listdir()) == ["a.json", "a.npy"]


@pytest.mark.parametrize("seed", range(3))
def test_bytes_that_are_damaged(plot, seed):
    """Whatever they are: a picture, or one line."""
    rng = random.Random(seed)
    fresh()
    whole = {name: pathlib.Path(name).read_bytes() for name in ("a.npy", "a.json")}
    for _ in range(15):
        for name, data in whole.items():
            damaged = bytearray(data)
            for _ in range(rng.choice((1, 3))):
                damaged[rng.randrange(len(damaged) if rng.random() < 0.5 else 128)] = rng.choice((0, 45, 127, 255))
            pathlib.Path(name).write_bytes(damaged if rng.random() < 0.9 else damaged[:rng.randrange(len(damaged))])
            if plot("trace", "a.npy").status:
                plot.refuses(plot.status)
            pathlib.Path(name).write_bytes(data)


def test_what_is_read_is_not_written(plot, tmp_path):
    """An output that is an input by any of its names: the same word, a link, another spelling, a hard link."""
    fresh()
    (tmp_path / "d").mkdir()
    pathlib.Path("r.json").write_text('{"program": "ior", "status": 0, "tests": [{"TestID": 0, "optionValues": {"timeline": "a.npy"}}]}')
    pathlib.Path("s.csv").write_text("1,0,1\n2,0,1\n")
    pathlib.Path("d/write.profile").write_text("0 0\n1 1\n")
    pathlib.Path("d/log").write_text("call_size = 4096\n")
    before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    os.symlink("a.npy", "link.svg")
    os.symlink("d/log", "link.html")
    os.link("r.json", "hard.html")
    os.symlink(tmp_path, "here")
    for words in ("trace a.npy -o a.json", "trace ./a.npy -o here/a.json", "report r.json -o r.json", "report r.json -o d/../r.json",
                  "report r.json -o hard.html", "report r.json -o a.npy", "report r.json -o here/a.json", "report a.json -o a.npy",
                  "rate a.npy -o link.svg", "report d -o d/write.profile", "report d -o link.html", "spread d/write.profile --log=d/log -o link.html",
                  "report a.npy --outside=s.csv -o s.csv"):
        plot(*words.split())
        if words.startswith("spread"):
            plot.refuses(2, "-o link.html", "has to end in")
        else:
            plot.refuses(2, "-o %s: is " % words.split()[-1], "which is read: give another name")
    assert {p: p.read_bytes() for p in before} == before and len(list(tmp_path.rglob("*.part"))) == 0
    plot("report", "d", "-o", "d/page.html").ok()
    plot("report", "d", "-o", "d/page.html").ok()


def test_a_hyphen_is_no_name_of_a_file(plot):
    fresh()
    for command in ("report", "trace", "rate"):
        plot(command, "a.npy", "-o", "-").refuses(2, "-o -", "/dev/stdout")
    assert not pathlib.Path("-").exists()


@pytest.mark.parametrize("name", ["weir-plot", "weir-compare"])
def test_the_version_is_that_of_the_programs(name):
    of_ior, own = (subprocess.run([str(conftest.BUILD / "src" / word), "--version"], capture_output=True, text=True, check=True, env=conftest.program_env())
                   for word in ("ior", name))
    assert own.stdout == of_ior.stdout.replace("ior", name, 1) and own.stderr == "", own
    source = subprocess.run([sys.executable, str(conftest.SOURCE / "contrib" / "plot" / name), "--version"], capture_output=True, text=True, check=True)
    assert source.stdout == name + " (weir) of the source tree\n"


def test_names_that_do_not_fit(plot):
    table = fresh()
    for members, words in (({"schema": "weir-timeline-3"}, ["a.json", "weir-timeline-2"]),
                           ({"phases": None}, ["member 'phases' is missing"]),
                           ({"phases": 3}, ["'phases' is not a list"]),
                           ({"phases": [1]}, ["'phases' is not a list of objects"]),
                           ({"operations": []}, ["a.npy", "do not belong together"]),
                           ({"tests": []}, ["phase 0: there is no test 0"]),
                           ({"phases": [{"index": 0, "test": 0, "key": "write", "begin": 0.5, "end": 1}]}, ["'begin' is not an integer"]),
                           ({"phases": [{"index": 7, "test": 0, "key": "write", "begin": 0, "end": 1}]}, ["phase 0: has the index 7"])):
        fresh()
        change("a.json", **members)
        plot("rate", "a.npy").refuses(1, *words)
    fresh()
    for text in ("", "{", "[]", '{"schema": NaN}', "\xff\xfe", "[" * 100000):
        pathlib.Path("a.json").write_text(text, encoding="latin-1")
        plot("rate", "a.npy").refuses(1, "a.json")
    pathlib.Path("a.json").unlink()
    plot("rate", "a.npy").refuses(1, "a.timeline.json", "is missing")
    fresh()
    for field, word in (("end", "ends before it begins"), ("phase", "order of phases")):
        bad = table.copy()
        bad[field] = bad[field][::-1] if field == "phase" else -5
        np.save("a.npy", bad)
        plot("rate", "a.npy").refuses(1, "a.npy", word)


def test_records_that_were_not_named_before_a_run_was_killed(plot):
    table = fresh()
    more = table[-1:].copy()
    more["phase"] += 1
    np.save("a.npy", np.concatenate([table, more]))
    plot("rate", "a.npy").refuses(1, "a.npy", "do not belong together")
    change("a.json", complete=False, records=len(table))
    plot("rate", "a.npy").ok()
    assert "1 calls of later phases are left out" in plot.err


def test_members_that_are_missing_or_nonsense_are_done_without(plot):
    """NaN, wrong types and missing members that no picture needs."""
    fresh()
    change("a.json", program=None, command=None, version=7, dropped="many", complete=False)
    head = json.loads(pathlib.Path("a.json").read_text())
    head["tests"][0] = {"index": 0, "tasks": float("nan"), "hosts": [{"name": "x", "ranks": "0-9:0"}], "parameters": [1]}
    head["phases"][0].update(rate=float("nan"), title=None, repetition="first")
    pathlib.Path("a.json").write_text(json.dumps(head))
    for command in ("rate", "heat", "trace"):
        plot(command, "a.npy").ok()
        assert "did not end in order" in plot.err


def test_other_files(plot):
    for name, content, words in (("r.json", b'{"a": 1}', ["neither a result"]), ("r.json", b'{"program": "ior", "tests": 5}', ["'tests'"]),
                                 ("r.json", b'{"program": "ior", "tests": []}', ["has no test"]),
                                 ("p.write", b"hello world\n", ["line 1", "'hello'"]), ("p.write", b"1.0\t2.0\n1.5\n", ["line 2 has 1 columns"]),
                                 ("p.write", b"1.0\tnan\n1.5\t2\n", ["line 1", "'nan'"]), ("p.write", b"0.1\t0.2\n", ["has no call"]),
                                 ("p.write.gz", gzip.compress(b"0 0\n1 1\n")[:-9], ["cut off"]), ("p.write", b"", ["is empty"]),
                                 ("p.write", bytes(range(256)), ["not a timeline, a result or a profile"])):
        pathlib.Path(name).write_bytes(content)
        plot("rate", name).refuses(1, name, *words)
        pathlib.Path(name).unlink()
    pathlib.Path("p.write").write_bytes(b"0 0\n1 1\n")
    plot("rate", "p.write", "--call-size=0").refuses(2, "'0' is not a size")
    plot("rate", "p.write", "--log=none").refuses(1, "none")
    plot("rate", "p.write", "p.write").ok()
    pathlib.Path("q.write").write_bytes(b"0 0\n1 1\n")
    plot("rate", "p.write", "q.write").refuses(2, "one profile of writes, one of reads")
    pathlib.Path("d").mkdir()
    plot("rate", "d").refuses(1, "write.profile")


def test_series_that_are_none(plot):
    fresh()
    plot("diff", "a.npy").refuses(2, "--outside")
    for text, words in (("", ["0 samples"]), ("epoch,read,write\n1,2,3\n", ["1 samples"]), ("1,2\n", ["line 1 has 2 columns"]),
                        ("1,2,3\n2,x,3\n", ["line 2", "'x'"]), ("1,2,nan\n", ["'nan'"]), ("2,0,1\n1,0,1\n", ["sample 2 is not later"]),
                        ("1,0,0\n2,0,0\n", ["no rate above 0"])):
        pathlib.Path("s.csv").write_text(text)
        plot("diff", "a.npy", "--outside=s.csv").refuses(1, "s.csv", *words)
    pathlib.Path("s.csv").write_text("1,0,1\n2,0,1\n")
    plot("rate", "a.npy", "--outside=s.csv", "--zero=1e6").refuses(2, "s.csv", "--zero")


def test_options_that_do_not_fit(plot):
    fresh()
    plot("rate", "a.npy", "-o", "a.gif").refuses(2, ".svg, .png, .pdf")
    plot("rate", "a.npy", "-o", "none/a.svg").refuses(1, "none/a.svg", "No such file")
    plot("rate", "a.npy", "--phase=stat").refuses(2, "no phase matches", "test 0 write repetition 0")
    plot("rate", "a.npy", "--test=3").refuses(2, "no phase matches")
    plot("rate", "a.npy", "--bin=1e-9").refuses(2, "--bin=1e-09", "at most")
    plot("calls", "a.npy", "--tasks=7").refuses(2, "none of them", "0 to 1")
    plot("calls", "a.npy", "--tasks=3-1").refuses(2, "3-1")
    plot("calls", "a.npy", "--operation=stat").refuses(2, "--operation=stat", "there are: write")
    plot("latency", "a.npy", "--operation=stat").refuses(2, "--operation=stat")
    plot("rate", "a.npy", "a.npy", "a.json").ok()  # one and the same
    plot("sweep", "a.npy").refuses(2, "JSON results")
    plot("trace", "a.npy", "-o", "a.svg").refuses(2, ".json.gz")
    for words in (["rate"], ["draw", "a.npy"], ["rate", "a.npy", "--bin=nan"], ["rate", "a.npy", "--bin=0"], []):
        assert plot(*words).status == 2 and "Traceback" not in plot.err and "did you mean" not in plot.err, plot.err
    for words, meant in ((["rport", "r.json"], "report"), (["rate", "a.npy", "--outptu=x"], "--output"), (["heat", "a.npy", "--phse", "x"], "--phase")):
        assert plot(*words).status == 2 and plot.err.endswith("(did you mean '%s'?)\n" % meant), plot.err


def test_without_matplotlib(plot, monkeypatch):
    fresh()
    monkeypatch.setitem(plot_support.sys.modules, "matplotlib", None)
    plot("rate", "a.npy").refuses(1, "matplotlib", "quickstart --plot", "pip install")
    plot("trace", "a.npy").ok()


def test_output_that_cannot_be_written_is_one_line(plot):
    fresh()
    words = [sys.executable, str(conftest.SOURCE / "contrib" / "plot" / "weir-plot"), "rate", "a.npy"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, timeout=120)
    assert done.returncode == 1 and done.stderr == "weir-plot: standard output: No space left on device\n", done
