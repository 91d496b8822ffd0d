# SPDX-License-Identifier: BSD-3-Clause
"""The picture and the page of a history."""

import statistics

from . import compare_verdict, history_verdict, page, style

MOST_PANELS = 12


def series_panel(ax, judged):
    """A dot for each run with the range of its repetitions, the levels, and where they changed."""
    series = judged.series
    values = series.values
    for i, point in enumerate(series.points):
        doubted = point.verdict in ("SUSPECT", "INVALID")
        ax.plot(
            [i, i],
            [min(point.rates), max(point.rates)],
            color=style.PALE,
            linewidth=2.2,
            solid_capstyle="butt",
            zorder=1,
        )
        (dot,) = ax.plot(
            [i],
            [point.value],
            "o",
            markersize=4.2,
            color=style.BLUE,
            markerfacecolor="white" if doubted else style.BLUE,
            zorder=3,
        )
        style.hover(
            dot, "%s: %s%s" % (point.date, series.rate(point.value), ", " + point.verdict if point.verdict else "")
        )
    for start, end in judged.levels:
        level = statistics.median(values[start:end])
        ax.plot([start - 0.5, end - 0.5], [level, level], color=style.VERMILION, linewidth=1.6, zorder=2)
    top = 1.1 * max(values)  # a repetition that is far above all runs leaves the picture
    for change in judged.changes:
        line = ax.axvline(change.place - 0.5, color=style.GREY, linestyle="--", linewidth=1)
        style.hover(line, "; ".join([change.words()] + [history_verdict.fact(row) for row in change.beside]))
        ax.annotate(
            compare_verdict.percent(change.difference.ratio),
            (change.place - 0.5, top * 1.1),
            xytext=(4, 0),
            textcoords="offset points",
            va="top",
            fontsize=8.5,
            color=style.VERMILION,
        )
    ax.set_ylim(0, top * 1.14 or 1)
    ax.set_xlim(-1, len(values))
    style.rate_axis(ax, series.name if len(series.name) < 34 else series.operation, top, series.in_bytes)
    dates(ax, series)


def dates(ax, series):
    """Days where runs began, at most eight."""
    step = max(1, -(-len(series.points) // 8))
    places = list(range(0, len(series.points), step))
    days = [series.points[i].date for i in places]
    if len({day[:10] for day in days}) > len(days) // 2:
        days = [day[:10] for day in days]
    elif len({day[:10] for day in days}) == 1:
        days = [days[0]] + [day[11:] for day in days[1:]]
    ax.set_xticks(places)
    ax.set_xticklabels(days, fontsize=8)


def subtitle(judged):
    return (
        "a dot for each run, the median of its repetitions; grey: their range; red: levels; "
        "hollow: runs that doubt themselves"
        + (
            "; %d more series are on the page (-o FILE.html)" % (len(judged) - MOST_PANELS)
            if len(judged) > MOST_PANELS
            else ""
        )
    )


def figure(judged, title, words):
    size = 9.2, 0.9 + 2.3 * len(judged)
    fig, axes = style.figure(title, words, len(judged), 1, size)
    for ax, one in zip(axes, judged):
        series_panel(ax, one)
    return fig


def save(judged, path):
    title = "%s: %d runs" % (judged[0].series.points[0].result.program, max(len(one.series.points) for one in judged))
    style.save(figure(judged[:MOST_PANELS], title, subtitle(judged)), path)


def rows_of(judged):
    for one in judged:
        for change in one.changes:
            d = change.difference
            yield {
                "series": one.series.name,
                "first run": change.point.date,
                "before": one.series.rate(d.a),
                "after": one.series.rate(d.b),
                "change": compare_verdict.percent(d.ratio),
                "interval": (
                    "-"
                    if d.low is None
                    else "%s to %s" % (compare_verdict.percent(d.low), compare_verdict.percent(d.high))
                ),
                "p": "%.2g" % change.p,
                "what changed beside": "; ".join(map(history_verdict.fact, change.beside)) or "nothing that is known",
            }


def gate_boxes(gates):
    for gate in gates:
        word = "Worse" if gate.worse else "Not worse" if gate.judged else "Not judged"
        yield page.verdict(word, "%s: %s" % (gate.series.name, gate.text), [], gate.worse)


def failed_rows(history):
    return [
        {
            "run": one.document.get("Began") or one.source,
            "status": one.document.get("status"),
            "error": str(one.document.get("error") or ""),
        }
        for one in history.failed
    ]


def page_of(history, judged, gates, heading):
    body = ["<h1>History</h1>", '<p class="lead">%s</p>' % page.text(heading)]
    body += list(gate_boxes(gates))
    rows = list(rows_of(judged))
    body.append(page.table(rows, "Changes", kind="stack") if rows else "<p>No change was found.</p>")
    for one in judged:
        body.append("<h2>%s</h2>" % page.text(one.series.name))
        body += ["<p>%s</p>" % page.text(one.text)] if one.text else []
        last = one.series.points[-1]
        title = "%s: %s" % (last.result.program, one.series.operation)
        words = last.result.describe(last.test)
        body.append(page.figure(figure([one], title, words), subtitle([one])))
    if history.failed:
        body.append(page.table(failed_rows(history), "Runs that failed or measured nothing"))
    return page.document("History of %s" % history.runs[0].program, body)
