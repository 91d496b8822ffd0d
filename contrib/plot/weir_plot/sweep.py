# SPDX-License-Identifier: BSD-3-Clause
"""sweep: the rates of several results against what differs between them; with depths of a queue the latencies, too."""
from . import jsonfile, quantities, style
from .jsonfile import number
from .refusal import BAD_USAGE, Refusal

# What can stand on the x axis: words of the option, names of the parameter in results, label, form of a tick.
AXES = {
    "transfer": (("transfer-size", "transferSize", "call-size"), "transfer size", quantities.size),
    "block": (("block-size", "blockSize"), "block size", quantities.size),
    "tasks": ((), "tasks", quantities.short),
    "writers": ((), "writers or readers", quantities.short),
    "items": (("items",), "items of a task", quantities.short),
    "depth": ((), "transfers of a task in flight", quantities.short),
}
SHARES = {"p50": "transferP50", "p99": "transferP99"}


class Point:
    """One test of one result: values of the axes, and its rates by operation."""

    def __init__(self, result, test):
        parameters = result.parameters(test)
        self.values = {"tasks": result.tasks(test), "writers": number(test.get("writers") or test.get("readers"))}
        for name, (keys, _, _) in AXES.items():
            if keys:
                self.values[name] = next((number(parameters[k]) for k in keys if k in parameters), None)
        self.api = str(parameters.get("api") or "")
        self.values["depth"] = depth_of(result, test, parameters)
        self.latencies = {}
        self.rates = {}
        for rate in result.rates(test):
            self.rates.setdefault((rate.operation, rate.in_bytes), []).append(rate.value)
        for row in jsonfile.rows(result.source, test, "phases"):
            for share, key in SHARES.items():
                if number(row.get(key)):
                    self.latencies.setdefault(("%s, %s" % (row.get("operation"), share), False), []).append(row[key])


def depth_of(result, test, parameters):
    """What was asked for, else what the backend has made of it; 1: there was no queue."""
    asked = [number(row.get("depth")) for row in jsonfile.rows(result.source, test, "queue")]
    return number(parameters.get("depth")) or next((n for n in asked if n), 1)


def points_of(results):
    points = [Point(r, t) for r in results for t in r.tests]
    points = [p for p in points if p.rates]
    if len(points) < 2:
        raise Refusal("sweep: needs two results or more with rates, not %d" % len(points), BAD_USAGE)
    return points


def choose(points, wanted):
    """The axis: the one asked for, else the one with the most different values."""

    def different(name):
        return len({p.values[name] for p in points if p.values[name]})

    if wanted:
        if different(wanted) < 2:
            raise Refusal("sweep: --against=%s: all results have the same" % wanted, BAD_USAGE)
        return wanted
    best = max(AXES, key=different)
    if different(best) < 2:
        raise Refusal(
            "sweep: the results differ neither in transfer size, block size, tasks, writers, items nor depth", BAD_USAGE
        )
    return best


def lines_of(points, axis, what="rates"):
    """{(operation, in_bytes, what else differs): {x: [rates]}}"""
    others = [n for n in AXES if n != axis and len({p.values[n] for p in points}) > 1]
    apis = len({p.api for p in points}) > 1
    found = {}
    for point in points:
        if not point.values[axis]:
            continue
        more = [AXES[n][1] + " " + AXES[n][2](point.values[n]) for n in others if point.values[n]]
        more += [point.api] if apis else []
        for (operation, in_bytes), rates in getattr(point, what).items():
            key = (operation, in_bytes, ", ".join(more))
            found.setdefault(key, {}).setdefault(point.values[axis], []).extend(rates)
    return found


def draw(results, options):
    points = points_of(results)
    axis = choose(points, options.against)
    lines = {k: v for k, v in lines_of(points, axis).items() if not options.phase or k[0] in options.phase}
    if not lines:
        raise Refusal("sweep: no operation is called %s" % " or ".join(options.phase), BAD_USAGE)
    units = sorted({k[1] for k in lines}, reverse=True)
    operations = {k[0] for k in lines}
    waits = lines_of(points, axis, "latencies") if axis == "depth" else {}
    waits = {k: v for k, v in waits.items() if k[0].rsplit(", ", 1)[0] in operations}
    programs = ", ".join(dict.fromkeys(r.program for r in results))
    fig, axes = style.figure(
        "%s: rate%s against %s" % (programs, " and latency" if waits else "", AXES[axis][1]),
        subtitle(results, axis),
        len(units) + bool(waits),
        1,
        sharex=True,
    )
    for ax, in_bytes in zip(axes, units):
        draw_lines(ax, {k: v for k, v in lines.items() if k[1] == in_bytes}, in_bytes)
        style.legend(ax)
    if waits:
        draw_lines(axes[-1], waits, None)
        style.legend(axes[-1])
    label_axis(axes[-1], axis, sorted({x for line in lines.values() for x in line}))
    return fig


def subtitle(results, axis):
    """What all results have in common, and what the bars are."""
    described = [
        [w for w in r.describe(t).split(", ") if not w.startswith("test ")] for r in results for t in r.tests
    ]
    common = [word for word in described[0] if all(word in words for words in described)]
    return ", ".join(common + ["mean over the repetitions, bars from lowest to highest"])


def draw_lines(ax, lines, in_bytes):
    """in_bytes: None where the lines are latencies."""
    operations = list(dict.fromkeys(k[0] for k in lines))
    others = list(dict.fromkeys(k[2] for k in lines))
    top = 0
    for number_of_line, ((operation, _, more), line) in enumerate(lines.items()):
        xs = sorted(line)
        means = [sum(line[x]) / len(line[x]) for x in xs]
        bars = [[m - min(line[x]) for x, m in zip(xs, means)], [max(line[x]) - m for x, m in zip(xs, means)]]
        place = others.index(more)
        aside = 1 + 0.012 * (number_of_line - (len(lines) - 1) / 2)  # so that bars do not hide each other
        ax.errorbar(
            [x * aside for x in xs],
            means,
            bars,
            color=style.colour(operation, operations),
            linestyle=style.DASHES[place % 4],
            marker="os^vD*"[place % 6],
            markersize=5,
            capsize=3,
            label=operation + ("\n" + more if more else ""),
        )
        top = max([top] + [max(line[x]) for x in xs])
    if in_bytes is None:
        style.latency_axis(ax, "time of a transfer", [x for line in lines.values() for xs in line.values() for x in xs])
        return
    ax.set_ylim(0, top * 1.08 or 1)
    style.rate_axis(ax, "data rate" if in_bytes else "rate", top, in_bytes)


def label_axis(ax, axis, values):
    """Steps of two, and a tick at each measured value."""
    _, label, form = AXES[axis]
    ticker = style.ticker()
    if values[-1] / values[0] > 6:
        ax.set_xscale("log", base=2)
    ax.xaxis.set_minor_locator(ticker.NullLocator())
    shown = values if len(values) <= 12 else values[:: -(-len(values) // 12)]
    ax.xaxis.set_major_locator(ticker.FixedLocator(shown))
    ax.xaxis.set_major_formatter(ticker.FuncFormatter(lambda v, _: form(v)))
    ax.set_xlabel(label)
