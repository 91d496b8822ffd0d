# SPDX-License-Identifier: BSD-3-Clause
"""Timelines that no program wrote, for the tests of weir-plot: any number of ranks and calls, with a shape that is known."""
import html
import json
import pathlib
import re
import sys
import xml.dom.minidom

import pytest

import conftest

np = pytest.importorskip("numpy", reason="needs python3-numpy to look into the files")

RECORD = np.dtype(
    [
        ("begin", "<i8"),
        ("end", "<i8"),
        ("offset", "<i8"),
        ("bytes", "<i8"),
        ("rank", "<u4"),
        ("repetition", "<u4"),
        ("phase", "<u2"),
        ("operation", "<u2"),
        ("error", "<i4"),
    ]
)
PICKED = np.dtype(RECORD.descr + [("number", "<i8"), ("chosen", "<i8")])
DATA = ("open", "write", "read", "close")
METADATA = ("create", "stat", "remove")


def records(phase, repetition, operation, ranks, calls, begin, mean, moved, seed):
    """calls of each rank one after the other, from begin (s) on; mean (s) of a call. The last rank is slow, and in the middle
    all wait for a moment."""
    rng = np.random.default_rng(seed)
    seconds = rng.gamma(3, mean / 3, (ranks, calls))
    seconds[-1] *= 1.3
    if calls > 10:
        seconds[:, calls // 2] += mean * 12
        seconds[:, : calls // 20] /= 3  # a cache
    ends = begin + rng.uniform(0, mean, (ranks, 1)) + np.cumsum(seconds, axis=1)
    out = np.zeros(ranks * calls, RECORD)
    out["end"] = (ends * 1e9).reshape(-1)
    out["begin"] = ((ends - seconds * 0.97) * 1e9).reshape(-1)
    out["rank"] = np.repeat(np.arange(ranks), calls)
    out["offset"] = np.tile(np.arange(calls) * moved, ranks) if moved else -1
    out["bytes"] = moved
    out["phase"], out["operation"], out["repetition"] = phase, operation, repetition
    return out


def hosts_of(ranks):
    """The first half of the ranks on one host, the others on another."""
    half = (ranks + 1) // 2
    return [{"name": "node1", "tasks": half, "ranks": "0-%d" % (half - 1) if half > 1 else "0"}] + (
        [{"name": "node2", "tasks": ranks - half, "ranks": "%d-%d" % (half, ranks - 1) if ranks - half > 1 else str(half)}] if ranks > half else [])


def write(path, ranks=4, calls=100, repetitions=1, metadata=False, moved=2**20, mean=0.01, **head):
    """FILE.npy and FILE.json, the name that older versions gave the document, at path (without suffix). Returns the records."""
    operations = METADATA if metadata else DATA
    keys = operations if metadata else ("write", "read")
    parts, phases, begin = [], [], 0.0
    for repetition in range(repetitions):
        for place, key in enumerate(keys):
            index = len(phases)
            part = records(
                index,
                repetition,
                operations.index(key),
                ranks,
                calls,
                begin,
                mean / (1, 3, 2)[place],
                0 if metadata else moved,
                index,
            )
            end = part["end"].max() / 1e9
            phases.append(
                {
                    "index": index,
                    "test": 0,
                    "repetition": repetition,
                    "key": key,
                    "title": key,
                    "begin": int(begin * 1e9),
                    "end": int(end * 1e9),
                }
            )
            parts.append(part)
            begin = end + mean
    table = np.concatenate(parts) if parts else np.zeros(0, RECORD)
    np.save(str(path) + ".npy", table)
    document = {
        "schema": "weir-timeline-2",
        "program": "mdtest" if metadata else "ior",
        "version": "4.1.0",
        "command": ["ior", "-t", "1m"],
        "records": int(table.size),
        "dropped": 0,
        "complete": True,
        "tests": [
            {
                "index": 0,
                "tasks": ranks,
                "parameters": {
                    "api": "POSIX",
                    "transfer-size": moved,
                    "block-size": calls * moved,
                    "file-per-proc": 0,
                },
                "hosts": hosts_of(ranks),
            }
        ],
        "phases": phases,
        "operations": [
            {"index": i, "key": k, "title": k, "unit": "B", "moves_bytes": k in ("write", "read")}
            for i, k in enumerate(operations)
        ],
    }
    document.update(head)
    with open(str(path) + ".json", "w") as f:
        json.dump(document, f)
    return table


def choose(path, source, ranks=None, sample=0, slowest=0):
    """Of the timeline at 'source' what the words would have kept, at path (both without suffix). Returns the records."""
    table, document = np.load(str(source) + ".npy"), json.loads(pathlib.Path(str(source) + ".json").read_text())
    words = {"sample": sample, "slowest": slowest, "ranks": ranks and ",".join(map(str, ranks))}
    document["chosen"] = {key: value for key, value in words.items() if value}
    if ranks:
        table = table[np.isin(table["rank"], ranks)]
    if sample or slowest:
        table = pick(table, sample, slowest)
    document["records"] = int(table.size)
    np.save(str(path) + ".npy", table)
    pathlib.Path(str(path) + ".timeline.json").write_text(json.dumps(document))
    return table


def pick(table, sample, slowest):
    """Those that are drawn, and the slowest with their neighbours; the records of a rank and phase follow each other."""
    out = np.zeros(table.size, PICKED)
    for name in RECORD.names:
        out[name] = table[name]
    if sample:
        out["chosen"] = np.random.default_rng(1).integers(0, sample, table.size) == 0
    bounds = np.flatnonzero(np.diff(table["rank"].astype(int) + 10**6 * table["phase"], prepend=-1, append=-1))
    for begin, end in zip(bounds, bounds[1:]):
        part = out[begin:end]
        part["number"] = np.arange(part.size)
        slow = np.argsort(part["begin"] - part["end"])[:slowest]
        part["chosen"][slow] |= 2
        part["chosen"][[n for n in {*(slow - 1), *(slow + 1)} if 0 <= n < part.size]] |= 4
    return out[out["chosen"] > 0]


# ---- weir-plot in this process ----

def load_weir_plot(source):
    """The module with main(), or a skip where its packages are missing. Importing matplotlib takes longer than most tests."""
    pytest.importorskip("matplotlib", reason="needs python3-matplotlib for the pictures")
    place = str(source / "contrib" / "plot")
    if place not in sys.path:
        sys.path.insert(0, place)
    from weir_plot import cli
    return cli


class Plot:
    """plot(words...) runs weir-plot in a directory of the test; then status, out and err are what it said."""

    def __init__(self, cli, capsys):
        self.cli, self.capsys = cli, capsys

    def __call__(self, *words):
        try:
            self.status = self.cli.main([str(w) for w in words])
        except SystemExit as e:  # argparse
            self.status = e.code
        self.out, self.err = self.capsys.readouterr()
        return self

    def ok(self):
        assert self.status == 0, (self.status, self.out, self.err)
        return self

    def refuses(self, status, *words):
        """One line on standard error that has these words, and that status."""
        lines = self.err.splitlines()
        assert self.status == status and len(lines) == 1 and lines[0].startswith("weir-plot: "), (self.status, self.err)
        for word in words:
            assert word in lines[0], (word, lines[0])
        return self


@pytest.fixture
def plot(tmp_path, monkeypatch, capsys):
    cli = load_weir_plot(conftest.SOURCE)
    monkeypatch.chdir(tmp_path)
    return Plot(cli, capsys)


def words_of(svg):
    """The texts of a picture: matplotlib draws their letters and keeps the text in comments."""
    text = pathlib.Path(svg).read_text()
    xml.dom.minidom.parseString(text)
    return [html.unescape(w) for w in re.findall(r"<!-- (.*?) -->", text, re.S)]
