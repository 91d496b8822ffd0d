# SPDX-License-Identifier: BSD-3-Clause
"""weir-plot: the pictures, on timelines whose numbers are known."""
import gzip
import importlib
import json
import pathlib
import re
import subprocess
import time
import types

import pytest

import conftest
import plot_support
from mib_support import mib  # noqa: F401 (it is a fixture)
from plot_support import np, plot, words_of  # noqa: F401 (plot is a fixture)

KIB300 = 300 * 1024


@pytest.fixture
def runs(tmp_path):
    plot_support.write(tmp_path / "data", ranks=4, calls=60, repetitions=2)
    plot_support.write(tmp_path / "md", ranks=3, calls=50, metadata=True, mean=0.0004)


# ---- every picture ----

def test_pictures_have_titles_units_and_the_parameters(plot, runs):
    for command, words in (("rate", ["rate over time", "data rate", "(s)", "average of a phase", "mean of 2"]),
                           ("spread", ["median task", "latest task", "call number of a task"]),
                           ("calls", ["task 3", "calls that returned"]),
                           ("heat", ["rate of each rank", "rank", "iB/s)"]),
                           ("latency", ["time of single calls", "p99.9", "calls that took at most this long (%)"])):
        plot(command, "data.npy").ok()
        said = " | ".join(words_of("data-%s.svg" % command))
        for word in words + ["ior: ", "4 tasks on 2 nodes, POSIX, transfer 1 MiB, block 60 MiB, one shared file"]:
            assert word in said, (command, word, said)
    plot("rate", "md.json").ok()
    assert "rate (kops/s)" in " ".join(words_of("md-rate.svg"))
    plot("spread", "md.npy", "-o", "md.png").ok()
    assert pathlib.Path("md.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_kinds_of_metadata_get_a_panel_each(plot, tmp_path):
    plot_support.write(tmp_path / "md", ranks=2, calls=30, metadata=True)
    head = json.loads((tmp_path / "md.json").read_text())
    head["phases"].append(dict(head["phases"][0], index=3, key="rename", title="Rename", rate=1500.0, rate_unit="items"))
    (tmp_path / "md.json").write_text(json.dumps(head))
    table = np.load("md.npy")
    extra = table[table["phase"] == 0].copy()
    extra["phase"], extra["error"] = 3, 5
    np.save("md.npy", np.concatenate([table, extra]))
    plot("rate", "md.npy").ok()
    said = words_of("md-rate.svg")
    assert "Rename" in said and "average 1,500 ops/s" in said and "create" in said, said
    assert "60 calls ended with an error" in plot.err


def test_the_same_run_gives_the_same_file(plot, runs):
    for name in ("one.svg", "two.svg"):
        plot("rate", "data.npy", "-o", name).ok()
    assert pathlib.Path("one.svg").read_bytes() == pathlib.Path("two.svg").read_bytes()


def test_phases_repetitions_and_tasks_can_be_chosen(plot, runs):
    plot("calls", "data.npy", "--phase=read", "--repetition=1", "--tasks=0,2-3").ok()
    said = words_of("data-calls.svg")
    assert "task 0" in said and "task 2" in said and "task 1" not in said and "read" in said and "write" not in said
    plot("spread", "data.npy", "--phase", "write").ok()
    assert plot.out.splitlines()[1].startswith("write: 240 calls of 4 tasks in ")


@pytest.mark.slow
def test_a_million_calls_of_a_thousand_ranks(plot, tmp_path):
    plot_support.write(tmp_path / "big", ranks=1000, calls=500)  # of writes, and as many of reads
    for command, most in (("rate", 300e3), ("heat", 2e6), ("latency", 300e3)):
        plot(command, "big.npy", "-o", "big.svg").ok()
        assert pathlib.Path("big.svg").stat().st_size < most, command
    for command in ("calls", "spread"):
        plot(command, "big.npy", "--phase=read", "-o", "big.svg").ok()
        assert pathlib.Path("big.svg").stat().st_size < 600e3, command
    plot("trace", "big.npy", "--limit=1000").ok()
    assert len(json.loads(pathlib.Path("big-trace.json").read_text())["traceEvents"]) < 2100


def test_one_straggler_of_a_thousand_is_seen(plot):
    from weir_plot import heat, model
    table = np.zeros(2000, plot_support.RECORD)
    table["rank"] = np.arange(2000) % 1000
    table["begin"] = np.arange(2000) // 1000 * 10 ** 9
    table["end"], table["bytes"] = table["begin"] + 10 ** 9, 1000
    table["bytes"][777], table["end"][1777] = 100, 4 * 10 ** 9
    phase = types.SimpleNamespace(calls=lambda: model.Calls(table), moves_bytes=True, begin=0.0, end=4.0)
    at, rates, still, ranks = heat.grid(phase, np.arange(1000), 4, 1.0)
    assert ranks == 4 and rates.shape == (250, len(at) - 1)
    assert np.nanmin(rates[194]) == rates[194, 0] == 100 and np.nanmin(rates[193]) == 1000
    assert np.isfinite(rates[:, 3]).nonzero()[0].tolist() == [194], "only the straggler works in the end"
    assert not still.any(), "twice as long is slow"
    table["end"][1777] = 20 * 10 ** 9
    phase.end = 20.0
    _, _, still, _ = heat.grid(phase, np.arange(1000), 4, 1.0)
    assert still[194].tolist() == [False] + 19 * [True] and still.sum() == 19, "one call of 19 s"


def test_neighbouring_panels_have_one_unit(plot, tmp_path):
    table = plot_support.write(tmp_path / "a", ranks=2, calls=40)
    head = json.loads((tmp_path / "a.json").read_text())
    reads = table["phase"] == 1
    begin = table["begin"][reads].min()
    for field in ("begin", "end"):
        table[field][reads] = begin + (table[field][reads] - begin) // 4000
    np.save("a.npy", table)
    head["phases"][1]["end"] = int(table["end"].max())
    (tmp_path / "a.json").write_text(json.dumps(head))
    for command in ("heat", "spread", "calls"):
        plot(command, "a.npy").ok()
        said = words_of("a-%s.svg" % command)
        units = {w for w in said if w.startswith(("time since", "rate of a rank"))}
        assert len(units) == (2 if command == "heat" else 1), (command, units)


def test_the_axis_of_latency_shows_the_tail(plot, tmp_path):
    plot_support.write(tmp_path / "a", ranks=4, calls=2000)
    plot("latency", "a.npy").ok()
    said = words_of("a-latency.svg")
    assert {"0", "50", "90", "99", "99.9", "99.99"} <= set(said) and "99.999" not in said, said
    from weir_plot import latency
    heights = latency.stretched(np.array([0, 90, 99, 99.9, 100]))
    assert heights[:4].tolist() == pytest.approx([0, 1, 2, 3]) and np.isfinite(heights[4])


def test_pictures_have_values_to_hover_over(plot, runs):
    for command, words in (("rate", r"write, repetition 1: average [\d.]+ .iB/s, highest bin [\d.]+ .iB/s"), ("calls", "task 3: 60 calls"),
                           ("latency", r"read: 480 calls, mean [\d.]+ ms, p50 .*, max [\d.]+ ms")):
        plot(command, "data.npy").ok()
        assert re.search("<g><title>%s</title>" % words, pathlib.Path("data-%s.svg" % command).read_text()), command
        assert 'id="hover' not in pathlib.Path("data-%s.svg" % command).read_text()


def test_the_shell_completes_commands_options_and_values(plot):
    """The words before, typed and first after the program, as the completions of bash, zsh and fish ask."""
    for words, expected in [
            (("", "he", ""), ["heat"]),
            (("rate", "--ou", "rate"), ["--output=", "--outside=", "--outside-unit="]),
            (("--outside-unit", "M", "diff"), ["MB/s", "MiB/s"]),
            (("diff", "--outside-unit=MB", "diff"), ["--outside-unit=MB/s"]),
            (("x.npy", "--ta", "calls"), ["--tasks="]),
            (("rate", "f", "rate"), [])]:
        said = plot("--complete", *words).ok().out
        assert [line.split("\t")[0] for line in said.splitlines() if line] == expected, words


# ---- numbers ----

def test_sums_of_bins_are_exact(plot):
    from weir_plot import bins, model
    rng = np.random.default_rng(1)
    table = np.zeros(3000, plot_support.RECORD)
    table["begin"] = rng.integers(0, 10 ** 9, 3000)
    table["end"] = table["begin"] + rng.choice([0, 1, 10 ** 5, 10 ** 8, 2 * 10 ** 9], 3000)
    table["bytes"] = rng.integers(0, 2 ** 30, 3000)
    table["rank"] = rng.integers(0, 7, 3000)
    calls = model.Calls(table)
    at = np.linspace(0.1, 1.5, 101)  # some calls lie outside
    by_rank = bins.sums(calls, calls.bytes, at, calls.rank, 7)
    assert np.all(by_rank > -1)
    for rank in range(7):
        assert by_rank[rank].sum() == pytest.approx(table["bytes"][table["rank"] == rank].sum(), rel=1e-9)
    inside = np.clip(np.stack([calls.begin, calls.end]), at[0], at[-1])
    length = np.maximum(inside[1] - inside[0], 1e-12)
    middle = np.clip((np.minimum(inside[1], at[51]) - np.maximum(inside[0], at[50])) / length, 0, 1)
    middle = np.where(inside[0] == inside[1], (inside[0] >= at[50]) & (inside[0] < at[51]), middle)
    assert bins.sums(calls, calls.bytes, at)[0][50] == pytest.approx((middle * calls.bytes).sum(), rel=1e-6)


def test_percentiles_are_those_of_the_calls(plot, tmp_path):
    table = plot_support.write(tmp_path / "md", ranks=2, calls=500, metadata=True)
    plot("latency", "md.npy").ok()
    seconds = (table["end"] - table["begin"])[table["operation"] == 1] / 1e9  # stat
    from weir_plot import quantities
    said = words_of("md-latency.svg")
    for value in (seconds.mean(), *np.percentile(seconds, (50, 90, 99, 99.9)), seconds.max()):
        assert quantities.seconds(value) in said, (value, said)
    assert "1,000" in said


def test_the_reported_average_is_drawn(plot, tmp_path):
    plot_support.write(tmp_path / "a")
    head = json.loads((tmp_path / "a.json").read_text())
    head["phases"][0].update(rate=123 * 2 ** 20, rate_unit="bytes")
    (tmp_path / "a.json").write_text(json.dumps(head))
    plot("rate", "a.npy").ok()
    assert any("average 123 MiB/s" in w for w in words_of("a-rate.svg"))


# ---- series from outside ----

def servers(path, table, extra, epoch=1.7e9, step=0.1):
    """What servers would have seen of the writes of a timeline: the calls, and 'extra' bytes after them."""
    end = table["end"].max() / 1e9 + 1
    edges = np.arange(0, end + step, step)
    rows = ["epoch,read,write"]
    mine = table[table["phase"] == 0]
    moved = np.zeros(len(edges) - 1)
    for begin, stop, size in zip(mine["begin"] / 1e9, mine["end"] / 1e9, mine["bytes"]):
        share = (np.minimum(stop, edges[1:]) - np.maximum(begin, edges[:-1])) / (stop - begin)
        moved += np.clip(share, 0, 1) * size
    moved[-3] += extra
    for time, value in zip(edges[1:], moved / step / 2 ** 20):
        rows.append("%.3f,0,%.9f" % (epoch + time, value))
    path.write_text("\n".join(rows) + "\n")


def test_the_difference_to_an_outside_series(plot, tmp_path):
    table = plot_support.write(tmp_path / "a", ranks=3, calls=80)
    servers(tmp_path / "s.csv", table, 40 * 2 ** 20)
    plot("diff", "a.npy", "--outside=s.csv", "--zero=1.7e9").ok()
    found = re.search(r"for write: (\S)([\d.]+) MiB", plot.out)
    assert found and found.group(1) == "+" and float(found.group(2)) == pytest.approx(40, abs=0.5), plot.out
    assert any("with the given zero" in w for w in words_of("a-diff.svg"))
    plot("rate", "a.npy", "--outside=s.csv").ok()  # aligned by its first sample with data
    said = words_of("a-rate.svg")
    assert "write outside" in said and any("first sample" in w for w in said)


# ---- profiles of mib ----

def profile(path, tasks=3, calls=8, begin=0.25):
    rows = []
    for k in range(calls + 1):
        rows.append("".join("%f\t" % (begin + k * 0.01 * (1 + t / 10) if k <= calls - t else 0) for t in range(tasks)))
    path.write_bytes(("\n".join(rows) + "\n").encode() if path.suffix != ".gz" else gzip.compress(("\n".join(rows) + "\n").encode()))


def test_profiles_of_mib(plot, tmp_path):
    profile(tmp_path / "p.write")
    profile(tmp_path / "p.read.gz", begin=0.5)
    plot("spread", "p.write", "p.read.gz").ok()
    assert plot.out.splitlines()[1:] == ["write: 21 calls of 3 tasks in 80 ms", "read: 21 calls of 3 tasks in 80 ms"], plot.out
    assert "--call-size" in plot.err
    plot("rate", "p.write", "--call-size=1m").ok()
    assert plot.err == "" and any("transfer 1 MiB" in w for w in words_of("p.write-rate.svg"))


@pytest.mark.parametrize("names", [("write.profile", "read.profile"), ("profile.write", "profile.read.gz"),
                                   ("write.syscall.aves", "read.syscall.aves")], ids=lambda n: n[0])
def test_a_log_directory_of_mib(plot, tmp_path, names):
    for name in names:
        profile(tmp_path / name)
    (tmp_path / "log").write_text("call_size                = 65536\nFri Nov 20 21:40:26 2026      3   64k     8    10     449.19    8016.80\n")
    plot("rate", tmp_path, "-o", "x.svg").ok()
    said = " ".join(words_of("x.svg"))
    assert "transfer 64 KiB" in said and "average 449 MiB/s" in said and "7.83 GiB/s" in said, said


def test_series_of_lwatch(plot, mib, tmp_path):
    """mib and its lwatch as they are: times of day as words, and two samples in a second. In mib's directory it is taken without a word."""
    mib("-M -F -t . -l 20 -s 4k -d . -p -H", np=2).ok()
    for name in ("write.profile", "read.profile"):
        (tmp_path / name).write_bytes((mib.cwd / name).read_bytes())
    (tmp_path / "lwatch").write_text("".join("%s %.1f %.1f\n" % (time.ctime(1.7e9 + k // 2), k, 7) for k in range(6)))
    from weir_plot import outside
    series = outside.read("lwatch", "MiB/s")
    assert series.time.tolist() == pytest.approx([1.7e9 + 0.4 * k for k in range(6)]) and series.step == pytest.approx(0.4)
    assert series.rates["read"].tolist() == [k * 2 ** 20 for k in range(6)] and set(series.rates["write"]) == {7 * 2 ** 20}
    (tmp_path / "lwatch").write_text("".join("%s 0.0 %.1f\n" % (time.ctime(1.7e9 + 5 * k), 100 * (k == 3)) for k in range(6)))
    plot("diff", tmp_path, "--call-size=4k", "-o", "d.svg").ok()
    assert "integral of the difference for write: +500 MiB" in plot.out, plot.out
    plot("rate", tmp_path, "--call-size=4k", "-o", "x.svg").ok()
    assert "write outside" in words_of("x.svg")
    (tmp_path / "lwatch").write_text("Sun Nov 22 05:08:46 2026 1.0\n")
    plot("rate", tmp_path, "--call-size=4k", "-o", "x.svg").refuses(1, "lwatch: line 1 has 2 columns")


# ---- trace events ----

def test_trace_events(plot, tmp_path):
    table = plot_support.write(tmp_path / "a", ranks=2, calls=20)
    plot("trace", "a.npy").ok()
    document = json.loads((tmp_path / "a-trace.json").read_text())
    calls = [e for e in document["traceEvents"] if e["ph"] == "X" and e["cat"] != "phase"]
    assert len(calls) == table.size
    last = calls[-1]
    assert last["ts"] == pytest.approx(table["begin"][-1] / 1e3, abs=0.001)
    assert last["args"] == {"offset": int(table["offset"][-1]), "bytes": 2 ** 20} and last["name"] == "read" and last["tid"] == 1
    hosts = {e["args"]["name"] for e in document["traceEvents"] if e.get("name") == "process_name"}
    assert hosts == {"phases", "node1", "node2"}
    where = {e["tid"]: e["pid"] for e in document["traceEvents"] if e.get("name") == "thread_name"}
    assert where == {0: 1, 1: 2}
    plot("trace", "a.npy", "--limit=7", "-o", "b.json.gz").ok()
    short = json.loads(gzip.decompress((tmp_path / "b.json.gz").read_bytes()))["traceEvents"]
    kept = [e["dur"] for e in short if e["ph"] == "X" and e["cat"] != "phase"]
    longest = np.sort(table["end"] - table["begin"])[-7:] / 1e3
    assert sorted(kept) == pytest.approx(list(longest), abs=0.001) and "left out" in plot.out


@pytest.mark.parametrize("hosts, expected", [
    ([{"name": "b1", "ranks": "0-2:2,5"}, {"name": "b2", "ranks": "1,3-4"}], ["b1", "b2", "b1", "b2", "b2", "b1"]),
    ([{"name": "localhost", "ranks": "0-4:2"}, {"name": "b2", "ranks": "1"}, {"name": "localhost", "ranks": "3-5:2"}],
     ["localhost (1)", "b2", "localhost (1)", "localhost (2)", "localhost (1)", "localhost (2)"]),
    ({"names": ["b1", "b2"], "host": [0, 1, 0, 1, 1, 0]}, ["b1", "b2", "b1", "b2", "b2", "b1"]),  # weir-timeline-1
    (["b1", "b2", "b1", "b2", "b2", "b1"], ["b1", "b2", "b1", "b2", "b2", "b1"]),
] + [([{"name": "b1", "ranks": bad}], None) for bad in ("0-4", "0-6", "0-99999999999999", "0-5:0", "", "5-0", "0--5", "x", 3, None)]
    + [(bad, None) for bad in ([{"ranks": "0-5"}], [], {}, 7, None, [{"name": ["b1"], "ranks": "0-5"}])])
def test_hosts_of_ranks_in_new_and_old_documents(plot, hosts, expected):
    assert importlib.import_module("weir_plot.hosts").of_ranks(hosts, 6) == expected


# ---- results ----

def result(tmp_path, name, transfer, tasks, rates):
    rows = [{"access": a, "bwMiB": r, "iter": i} for i, pair in enumerate(rates) for a, r in zip(("write", "read"), pair)]
    (tmp_path / name).write_text(json.dumps({
        "program": "ior", "provenance": {"tasks": tasks, "nodes": 1}, "status": 0,
        "tests": [{"TestID": 0, "optionValues": {"transfer-size": transfer, "block-size": 2 ** 24, "api": "POSIX"}, "Results": rows}]}))


def test_a_sweep_of_depths_shows_the_times_of_transfers(plot, tmp_path):
    """By the option, or, where it is 0, by what the backend made of it; results without a queue are of depth 1."""
    for place, (asked, made) in enumerate(((0, None), (0, 8), (64, 64))):
        name = "d%d.json" % place
        result(tmp_path, name, 2 ** 16, 1, [(100 * (place + 1), 200)])
        document = json.loads((tmp_path / name).read_text())
        test, = document["tests"]
        test["optionValues"]["depth"] = asked
        test["phases"] = [{"operation": "read", "transferP50": 0.0004 * 2 ** place, "transferP99": 0.003}, {"operation": "write"}]
        test["queue"] = [{"operation": "read", "depth": made}] if made else []
        (tmp_path / name).write_text(json.dumps(document))
    plot("sweep", "d0.json", "d1.json", "d2.json", "--phase=read").ok()
    said = words_of("d0-sweep.svg")
    for word in ("ior: rate and latency against transfers of a task in flight", "time of a transfer", "read, p50", "read, p99"):
        assert word in said, (word, said)
    assert {"1", "8", "64"} <= set(said) and "write" not in said


def test_a_sweep_finds_what_differs(plot, tmp_path):
    for place, transfer in enumerate((2 ** 16, 2 ** 20, KIB300)):
        result(tmp_path, "r%d.json" % place, transfer, 4, [(100 + place, 200), (110, 220)])
    plot("sweep", "r0.json", "r1.json", "r2.json").ok()
    said = words_of("r0-sweep.svg")
    for word in ("64 KiB", "300 KiB", "1 MiB", "transfer size", "write", "read", "ior: rate against transfer size"):
        assert word in said, (word, said)
    result(tmp_path, "r3.json", 2 ** 16, 16, [(100, 200)])
    plot("sweep", "r0.json", "r3.json").ok()
    assert "ior: rate against tasks" in words_of("r0-sweep.svg")
    plot("sweep", "r0.json", "r3.json", "--against=block").refuses(2, "--against=block", "the same")


def test_the_slow_nodes_of_a_sweep_have_their_names(plot, tmp_path):
    def row(number, rate, outcome):
        return {"operation": "write", "number": number, "rank": 4 * number, "tasks": 4, "joint": 2e8, "rate": rate, "median": 9e8, "unit": "bytes/s",
                "z": -9.0 if outcome == "slow" else 0.1, "round": 0, "together": 1, "outcome": outcome, "host": "b%02d" % number}

    result(tmp_path, "r.json", 2 ** 16, 64, [(100, 200)])
    plot("nodes", "r.json").refuses(2, "no sweep", "--sweep=ranks (all its ranks were on one node)")
    document = json.loads((tmp_path / "r.json").read_text())
    (tmp_path / "two.json").write_text(json.dumps(dict(document, provenance={"tasks": 4, "nodes": 2})))
    plot("nodes", "two.json").refuses(2, "no sweep", "--sweep=nodes")
    rows = [row(i, 9e8, "fine") for i in range(7)] + [row(7, 3e8, "slow"), dict(row(8, None, "not judged"), joint=None, median=None, z=None)]
    document["tests"][0]["sweep"] = {"by": "nodes", "number": 9, "slow": 1, "turnTime": 1, "time": 9,
                                     "rounds": [{"round": 0, "turns": 9, "together": 1, "suspects": 1}], "measured": rows}
    (tmp_path / "r.json").write_text(json.dumps(document))
    done = plot("nodes", "r.json")
    done.ok()
    assert "node 7 (b07): write 286 MiB/s, median 858 MiB/s" in done.out, done.out
    said = words_of("r-nodes.svg")
    assert "ior: each node alone" in said and "node 7 (b07)" in said and not any("b03" in words for words in said), said
    assert any("9 turns, 1 slow" in words for words in said), said
    plot("nodes", "r.json", "--phase=read").refuses(2, "read")
    plot("report", "r.json").ok()
    assert "the slow ones have their names" in (tmp_path / "r-report.html").read_text()


def load_rows(tmp_path, name, most, late=1.0):
    """A curve of three points below the maximum, with a fourth that was not reached."""
    def row(percent, asked, reached, seconds):
        times = {"response" + q: seconds and late * seconds * f for q, f in (("P50", 1), ("P99", 4), ("P999", 9))}
        return {"test": 0, "iter": 0, "phase": "write", "operation": "write", "percent": percent, "rateAsked": asked, "rateReached": reached,
                "unit": "ops/s", "late": percent and 2.0, "serviceP50": 1e-3, "serviceP99": 2e-3, "serviceP999": 3e-3, **times}

    result(tmp_path, name, 2 ** 16, 4, [(100, 200)])
    document = json.loads((tmp_path / name).read_text())
    document["tests"][0]["load"] = [row(None, None, most, None)] + [row(p, most * p / 100, most * min(p, 95) / 100, 1e-3 * p / 20) for p in (20, 60, 90, 110)]
    (tmp_path / name).write_text(json.dumps(document))


def test_latency_against_load_of_one_result_and_of_two(plot, tmp_path):
    result(tmp_path, "without.json", 2 ** 16, 4, [(100, 200)])
    plot("load", "without.json").refuses(2, "no operation at a rate", "--rate=10%..90%:5")
    load_rows(tmp_path, "a.json", 5000)
    load_rows(tmp_path, "b.json", 8000, late=3)
    done = plot("load", "a.json")
    done.ok()
    assert "a.json: write: 4,500 ops/s was reached, with p99 18 ms, maximum 5,000 ops/s" in done.out, done.out
    said = words_of("a-load.svg")
    for word in ("ior: latency against load", "p99.9 response", "p99 service", "maximum 5,000 ops/s", "write"):
        assert word in said, (word, said)
    assert "response p50 of 5,500 ops/s: 5.5 ms; 4,750 ops/s reached, 2.0 % late" in (tmp_path / "a-load.svg").read_text()
    plot("load", "a.json", "b.json", "-o", "both.svg").ok()
    said = words_of("both.svg")
    assert "a.json" in said and "b.json" in said and not any("service" in words for words in said), said
    plot("load", "a.json", "--phase=read").refuses(2, "called read")
    rows = json.loads((tmp_path / "a.json").read_text())["tests"][0]["load"]
    heads = ["test", "iter", "phase", "operation", "percent"]
    heads += sorted({key for row in rows for key in row} - set(heads))
    lines = [",".join(str(row[h]) if row.get(h) is not None else "" for h in heads) for row in rows]
    (tmp_path / "a.csv").write_text("\n".join([",".join(heads)] + lines) + "\n")  # as --report=csv-load:a.csv
    plot("load", "a.csv", "-o", "csv.svg").ok()
    assert "a.csv: write: 4,500 ops/s was reached" in plot.out and len(words_of("csv.svg")) >= len(said) - 2, plot.out
    plot("report", "a.json").ok()
    assert "Latency against load: response times" in (tmp_path / "a-report.html").read_text()


def test_help_has_no_doubled_signs(plot):
    from weir_plot import cli
    parser = cli.make_parser()
    for one in [parser, *parser._subparsers._group_actions[0].choices.values()]:
        assert "%%" not in one.format_help(), one.prog
    assert "earliest, 5 %, median" in parser.format_help()


def test_the_groups_of_a_mix_and_who_slows_whom_down(plot, tmp_path):
    def row(group, with_, slowdown, **more):
        return dict({"group": group, "with": with_, "slowdown": slowdown}, **more)

    def document(**members):
        groups = [{"group": g, "ranks": 2, "firstRank": 0, "start": "at once", "program": "ior", "command": "ior"} for g in ("writer", "meta")]
        (tmp_path / "r.json").write_text(json.dumps({"program": "weir-mix", "provenance": {"tasks": 4, "nodes": 2}, "status": 0,
                                                     "tests": [dict({"end": "all", "groups": groups}, **members)]}))

    document()
    plot("pairs", "r.json").refuses(2, "no slowdowns", "weir-mix")
    document(slowdowns=[row("writer", "all", None, low=None, high=None)])
    plot("pairs", "r.json").refuses(2, "no slowdown of any group is known")
    cells = [row("writer", "all", 1.25, low=None, high=None), row("meta", "all", 4.5, low=3.25, high=6.5),
             row("writer", "meta", 0.75, low=None, high=None), row("meta", "writer", None, low=None, high=None)]
    rows = [row("meta", "all", 9.125, operation="file stat", slowdownLow=None, slowdownHigh=None)]
    rates = [row("writer", "alone", None, operation="write", repetition=0, rate=2e9, unit="bytes/s", p99=0.5),
             row("meta", "all", None, operation="file stat", repetition=1, rate=2e7, unit="ops/s")]
    document(slowdowns=cells, operations=rows, measured=rates)
    done = plot("pairs", "r.json")
    done.ok()
    assert "meta: 4.5 times as slow beside all others" in done.out and "beside all others; most by meta: 0.75" in done.out, done.out
    said = words_of("r-pairs.svg")
    for word in ("weir-mix: slowdown of each group, all its operations", "writer", "meta", "all others", "1.2", "4.5", "3.25 to 6.5", "0.75", "not known"):
        assert word in said, (word, said)
    plot("pairs", "r.json", "--phase=file stat").ok()
    assert "9.1" in words_of("r-pairs.svg") and "4.5" not in words_of("r-pairs.svg")
    plot("pairs", "r.json", "--phase=read").refuses(2, "no slowdown of read")
    plot("report", "r.json").ok()
    page = (tmp_path / "r-report.html").read_text()
    assert "by all others, and by each" in page
    table = re.sub("<[^>]*>", " ", page[page.index("Measured"):])
    for word in ("group", "repetition", "writer", "1.86 GiB/s", "20 Mops/s", "500 ms"):
        assert word in table, (word, table)
    cells[0] = row("writer", "all", 0.237, low=None, high=None)
    document(slowdowns=cells)
    assert "writer: 4.2 times as fast beside all others" in plot("pairs", "r.json").out, plot.out


def test_percentiles_of_a_result_without_timeline(plot, tmp_path):
    row = {"operation": "File creation", "call": "create", "iter": 0, "count": 1234, "mean": 1e-4, "p50": 9e-5, "p90": 2e-4,
           "p99": 1e-3, "p999": None, "max": 0.5}
    (tmp_path / "md.json").write_text(json.dumps({"program": "mdtest", "tests": [{"TestID": 0, "latency": [row]}]}))
    plot("latency", "md.json").ok()
    assert "File creation: create (1,234)" in words_of("md-latency.svg")


def test_intervals_of_a_result_without_timeline(plot, tmp_path):
    rows = [{"test": 0, "operation": o, "iter": r, "begin": k * 0.5, "seconds": 0.5 if k < 3 else 0.2, "bytes": 2 ** 20 * (k + 1),
             "bwMiB": 2.0 * (k + 1), "operations": 4, "opsPerSecond": 8.0} for o in ("write", "read") for r in (0, 1) for k in range(4)]
    rows.append({"operation": "write", "begin": None})
    (tmp_path / "r.json").write_text(json.dumps({"program": "ior", "tests": [{"TestID": 0, "intervals": rows}]}))
    plot("rate", "r.json").ok()
    said = words_of("r-rate.svg")
    assert "2 repetitions, dashed: their means" in said and "read" in said and "data rate (MiB/s)" in said, said
    plot("rate", "r.json", "--repetition=1", "--phase=write").ok()
    said = words_of("r-rate.svg")
    assert "dashed: mean" in said and "read" not in said
    plot("report", "r.json", "-o", "r.html").ok()
    assert plot.out == "r.html: written, 1 pictures\n"
    plot("rate", "r.json", "--phase=stat").refuses(1, "--interval")
    plot("tail", "r.json").refuses(1, "no intervals with a latency", "--interval")  # of an older release


def slow_interval(call, k):
    """Of ten; in the sixth a task stands still, and nothing ends in the eighth."""
    times = {"p50": 1e-3, "p99": 2e-3, "p999": 3e-3, "max": 0.4 if k == 6 else 4e-3} if k != 8 else {}
    row = {"test": 0, "operation": "benchmark", "iter": 0, "begin": k * 0.1, "seconds": 0.1, "bytes": 0, "bwMiB": 0.0,
           "operations": 0 if k == 8 else 40, "opsPerSecond": 400.0, "stalled": 3 if k == 5 else 0}
    return dict(row, **dict.fromkeys(("p50", "p99", "p999", "max")), **({"call": call} if call else {})) | times


def test_latency_over_time_of_a_result(plot, tmp_path):
    """A band below the rate, and lines of its own; where a phase has several operations, for each of them."""
    test = {"TestID": 0, "tasks": 4, "intervals": [slow_interval(None, k) for k in range(10)]}
    (tmp_path / "w.json").write_text(json.dumps({"program": "md-workbench", "tests": [test]}))
    plot("rate", "w.json").ok()
    said = " | ".join(words_of("w-rate.svg"))
    assert "grey: latency, p50 to p99" in said and "latency" in said and "1 ms" in said and "10 ms" in said, said
    plot("tail", "w.json").ok()
    said = words_of("w-tail.svg")
    assert {"benchmark", "p99.9", "max", "up to 3 of 4 tasks stood still"} <= set(said), said
    hovers = pathlib.Path("w-tail.svg").read_text()
    assert "1 s" in said and "benchmark: max: up to 400 ms" in hovers and "benchmark: p99: up to 2 ms" in hovers
    test["intervalCalls"] = [slow_interval(call, k) for k in range(10) for call in ("stat", "create")]
    (tmp_path / "w.json").write_text(json.dumps({"program": "md-workbench", "tests": [test]}))
    plot("tail", "w.json").ok()
    said = words_of("w-tail.svg")
    assert {"benchmark: stat", "benchmark: create"} <= set(said) and "benchmark" not in said
    plot("report", "w.json", "-o", "w.html").ok()
    assert plot.out == "w.html: written, 2 pictures\n"


def test_a_table_of_intervals_gives_the_pictures_of_the_result(plot, tmp_path):
    """What --report=csv-intervals writes, with the rows of each operation before those of all."""
    rows = [slow_interval(call, k) for k in range(10) for call in ("stat", "create", None)]
    test = {"TestID": 0, "intervals": [r for r in rows if "call" not in r], "intervalCalls": [r for r in rows if "call" in r]}
    (tmp_path / "w.json").write_text(json.dumps({"program": "weir", "tests": [test]}))
    heads = "test operation call iter begin seconds bytes bwMiB operations opsPerSecond p50 p99 p999 max stalled".split()
    lines = [",".join("" if row.get(h) is None else str(row[h]) for h in heads) for row in rows]
    (tmp_path / "w.csv").write_text("\n".join([",".join(heads)] + lines) + "\n")
    for command in ("rate", "tail"):
        for name in ("w.json", "w.csv"):
            plot(command, name, "-o", name + ".svg").ok()
        assert words_of("w.csv.svg") == words_of("w.json.svg") and "benchmark: stat" in words_of("w.csv.svg")
    (tmp_path / "bad.csv").write_text(",".join(heads) + "\n0,write,,zero\n")
    plot("tail", "bad.csv").refuses(1, "bad.csv: not a table of results", "zero")


def test_latency_over_time_of_a_timeline(plot, runs):
    """A call counts where it ends; a rank that is in one call during a whole bin stands still."""
    from weir_plot import load, tail
    run = load.one_run(["data.npy"])
    phase = run.phases[0]
    calls = phase.calls()
    series = tail.of_calls(phase, 0.05)
    for place in range(len(series.at) - 1):
        mine = [s for s, end in zip(calls.seconds, calls.end) if series.at[place] < end <= series.at[place + 1]]
        if mine:
            assert series.times["max"][place] == max(mine) and series.times["p50"][place] == sorted(mine)[(len(mine) + 1) // 2 - 1]
        else:
            assert np.isnan(series.times["max"][place])
    at = np.array([0, 1, 2, 3, 4.0])
    table = types.SimpleNamespace(begin=np.array([0.5, 0.0, 1.0]), end=np.array([3.5, 2.0, 2.5]), rank=np.array([0, 2, 2]))
    assert tail.standing(table, at, [0, 2]).tolist() == [1, 1, 1, 0]
    plot("tail", "data.npy").ok()
    assert "latency over time" in " ".join(words_of("data-tail.svg"))
