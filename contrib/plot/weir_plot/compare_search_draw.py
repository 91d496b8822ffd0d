# SPDX-License-Identifier: BSD-3-Clause
"""The picture and the page of a search: a row for each combination, a dot for each run."""
import statistics

from . import compare_search_report, page, quantities, style

MOST_ROWS = 40
WIDEST = 46  # characters of a label


def subtitle(race):
    shown = race.ranked()
    return "a dot for each run, the median of its repetitions; blue: pairs of the last two; grey: rounds before%s" % (
        "; the first %d of %d combinations" % (MOST_ROWS, len(shown)) if len(shown) > MOST_ROWS else ""
    )


def draw_row(ax, race, arm, row):
    """The runs of a combination, a line at their median, and the ratio to the first one at the right."""
    paired = len(race.sides.get(arm, ()))
    values = arm.values()
    for place, value in enumerate(values):
        in_final = place >= len(values) - paired
        (dot,) = ax.plot(
            [value],
            [row],
            "o",
            color=style.BLUE if in_final else style.GREY,
            alpha=0.6,
            markersize=6,
            markeredgewidth=0,
        )
        stage = race.name_of(arm.runs[place][0])
        style.hover(dot, "%s, %s: %s" % (arm.label, stage, compare_search_report.value_of(race, value)))
    middle = statistics.median(race.values(arm))
    ax.plot([middle, middle], [row - 0.3, row + 0.3], color=style.BLACK, linewidth=1.6)
    said = compare_search_report.against(race, arm, race.ranked()[0])
    ax.annotate(
        compare_search_report.value_of(race, middle) + ("" if said == "-" else ", " + said),
        (1.01, row),
        xycoords=("axes fraction", "data"),
        va="center",
        fontsize=8.5,
        annotation_clip=False,
    )


def label_axis(ax, race, values):
    """Of the values; logarithmic where they differ much or are one over a time."""
    if race.unit is None or max(values) > 30 * min(values):
        ax.set_xscale("log")
        form = style.ticker().FuncFormatter(lambda v, _: compare_search_report.value_of(race, v))
        ax.xaxis.set_major_formatter(form)
        ax.xaxis.set_minor_formatter(style.ticker().NullFormatter())
        ax.set_xlabel(race.operation)
        return
    name, unit = quantities.rate_scale(max(values), race.unit)
    style.scaled_axis(ax.xaxis, unit)
    ax.set_xlim(0, 1.06 * max(values))
    ax.set_xlabel("%s (%s)" % (race.operation, name))


def figure(race):
    arms = [arm for arm in race.ranked() if arm.runs][:MOST_ROWS]
    fig, axes = style.figure(
        "%d combinations, %d runs" % (len(race.arms), race.used), subtitle(race), size=(9.2, 1.4 + 0.34 * len(arms))
    )
    ax = axes[0]
    for row, arm in enumerate(arms):
        draw_row(ax, race, arm, row)
    labels = [arm.label if len(arm.label) <= WIDEST else arm.label[: WIDEST - 3] + "..." for arm in arms]
    ax.set_yticks(range(len(arms)))
    ax.set_yticklabels(labels)
    ax.set_ylim(len(arms) - 0.4, -0.6)
    label_axis(ax, race, [value for arm in arms for value in arm.values()])
    return fig


def save(race, path):
    style.save(figure(race), path)


def page_of(race, options):
    """The text of the page."""
    verdict = compare_search_report.verdict_of(race, options)
    decided = race.verdict is not None and race.verdict.decided
    notes = [*compare_search_report.notes_of(race), *compare_search_report.limits_of(race)]
    rows = [dict(zip(compare_search_report.HEADINGS, row)) for row in compare_search_report.rows_of(race)]
    body = [
        "<h1>Search</h1>",
        '<p class="lead">%s</p>' % page.text(compare_search_report.heading(race, options)),
        page.verdict("Result", verdict, notes, not decided),
        page.figure(figure(race), subtitle(race)),
        page.table(rows, "Combinations", right=("runs", "median"), kind="stack"),
    ]
    return page.document("Search of %d combinations" % len(race.arms), body)
