# SPDX-License-Identifier: BSD-3-Clause
"""load: latency against the offered rate, response and service times (--rate=10%..90%:5), of one result or several."""
from . import jsonfile, quantities, style
from .jsonfile import number
from .refusal import BAD_USAGE, Refusal

LINES = (("P50", style.BLUE, "p50"), ("P99", style.ORANGE, "p99"), ("P999", style.PURPLE, "p99.9"))
HELD = 0.99  # of the rate that was asked for
MOST = 8  # panels


class Curve:
    """An operation of a test: its points by rising rate, and the maximum, None where it was not measured."""

    def __init__(self, result, test, rows):
        self.result, self.test = result, test
        # A fixed rate beside the points of a curve is another load.
        points = [row for row in rows if number(row.get("percent"))] or rows
        self.points = sorted((row for row in points if number(row.get("rateAsked"))), key=lambda row: row["rateAsked"])
        most = [number(row.get("rateReached")) for row in rows if row.get("rateAsked") is None]
        self.most = most[0] if most else None
        self.in_bytes = rows[0].get("unit") == "bytes/s"

    def times(self, kind, quantile):
        return [number(row.get(kind + quantile)) or float("nan") for row in self.points]

    def rates(self):
        return [row["rateAsked"] for row in self.points]


def curves_of(result, test, phases):
    """{operation: its curve}, of those that have points"""
    found = {}
    for row in jsonfile.rows(result.source, test, "load"):
        found.setdefault(str(row.get("operation")), []).append(row)
    curves = {key: Curve(result, test, rows) for key, rows in found.items() if not phases or key in phases}
    return {key: curve for key, curve in curves.items() if curve.points}


def draw(results, options):
    found = {}
    for result in results:
        tests = [result.test(options.test)] if options.test is not None else result.tests
        for test in tests:
            for key, curve in curves_of(result, test, options.phase).items():
                found.setdefault((key, curve.in_bytes), []).append(curve)
    if not found:
        raise Refusal(
            "load: no operation at a rate%s in %s: run with --rate=10%%..90%%:5 and --report=json:FILE"
            % (
                " is called " + " or ".join(options.phase) if options.phase else "",
                " ".join(r.source for r in results),
            ),
            BAD_USAGE,
        )
    panels = list(found.items())[:MOST]
    first = panels[0][1][0]
    several = max(len(curves) for curves in found.values()) > 1
    of_several = "p50 and p99 of the response time, from when operations were due"
    words = of_several if several else first.result.describe(first.test)
    programs = ", ".join(dict.fromkeys(r.program for r in results))
    fig, axes = style.figure("%s: latency against load" % programs, words, len(panels), 1 if len(panels) < 3 else 2)
    for ax, ((operation, in_bytes), curves) in zip(axes, panels):
        draw_panel(ax, curves, several)
        ax.set_title(operation, loc="left", fontweight="bold")
        label_axes(ax, curves, in_bytes)
        style.legend(ax)
    return fig


def draw_panel(ax, curves, several):
    for place, curve in enumerate(curves):
        colour = style.CYCLE[place % len(style.CYCLE)]
        if several:
            name = name_of(curve)
            line(ax, curve, "response", "P99", colour, "-", name)
            line(ax, curve, "response", "P50", colour, ":", None)
        else:
            for quantile, own, words in LINES:
                line(ax, curve, "response", quantile, own, "-", words + " response")
            for quantile, own, words in LINES:
                line(ax, curve, "service", quantile, own, "--", words + " service")
        if curve.most:
            words = "maximum %s" % quantities.rate(curve.most, curve.in_bytes)
            mark = ax.axvline(curve.most, color=colour if several else style.BLACK, linewidth=1, linestyle="-.")
            style.hover(mark, words)
            if not several:
                mark.set_label(words)


def line(ax, curve, kind, quantile, colour, form, label):
    """A point where the rate was not reached is hollow."""
    rates, times = curve.rates(), curve.times(kind, quantile)
    ax.plot(rates, times, color=colour, linestyle=form, label=label)
    for row, rate, time in zip(curve.points, rates, times):
        held = (number(row.get("rateReached")) or 0) >= HELD * rate
        (dot,) = ax.plot([rate], [time], "o", color=colour, markersize=4.5, markerfacecolor=colour if held else "white")
        style.hover(
            dot,
            "%s %s of %s: %s; %s reached, %.1f %% late"
            % (
                kind,
                quantile.lower(),
                quantities.rate(rate, curve.in_bytes),
                quantities.seconds(time),
                quantities.rate(number(row.get("rateReached")) or 0, curve.in_bytes),
                number(row.get("late")) or 0,
            ),
        )


def name_of(curve):
    """The file, and the test where it has several."""
    test = ", test %s" % curve.test.get("TestID") if len(curve.result.tests) > 1 else ""
    return "%s%s\np99 response, and dotted p50" % (curve.result.source, test)


def label_axes(ax, curves, in_bytes):
    peak = max(max(curve.rates() + [curve.most or 0]) for curve in curves)
    unit, scale = quantities.rate_scale(peak, in_bytes)
    style.scaled_axis(ax.xaxis, scale)
    ax.set_xlim(0, 1.05 * peak)
    ax.set_xlabel("offered rate of all tasks (%s); hollow: it was not reached" % unit)
    style.latency_axis(
        ax,
        "time of an operation",
        [t for c in curves for kind in ("response", "service") for q, *_ in LINES for t in c.times(kind, q)],
    )


def has_points(result, test):
    return any(number(row.get("percent")) for row in jsonfile.rows(result.source, test, "load"))


def summary(results, options):
    """The highest load of each operation that was held."""
    lines = []
    for result in results:
        for test in [result.test(options.test)] if options.test is not None else result.tests:
            for key, curve in curves_of(result, test, options.phase).items():
                held = [row for row in curve.points if (number(row.get("rateReached")) or 0) >= HELD * row["rateAsked"]]
                most = ", maximum %s" % quantities.rate(curve.most, curve.in_bytes) if curve.most else ""
                if held:
                    reached = quantities.rate(held[-1]["rateAsked"], curve.in_bytes)
                    p99 = quantities.seconds(number(held[-1].get("responseP99")) or 0)
                    lines.append("%s: %s: %s was reached, with p99 %s%s" % (result.source, key, reached, p99, most))
                else:
                    lines.append("%s: %s: no rate was reached%s" % (result.source, key, most))
    return lines
