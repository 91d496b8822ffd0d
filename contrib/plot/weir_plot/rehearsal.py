# SPDX-License-Identifier: BSD-3-Clause
"""What a report says about a rehearsal of IO500: whether it is valid, and what its score is made of."""
import math

from . import anatomy, jsonfile, page, quantities, rehearsal_since, style, words
from .compare_verdict import percent
from .jsonfile import number
from .refusal import BAD_USAGE, Refusal
from .rehearsal_parts import COLOURS, WORST, amount, finish, reasons_of, timed

PROGRAM = "weir-io500"
TABLES = "reasons", "scores", "forecast", "settings"  # of a test, that have their own form here
RIGHT = "score", "TOTAL if doubled", "TOTAL as the others", "TOTAL as the easy one", "time", "share of the time"
SAME = 0.0005  # a TOTAL that differs by more is not that of the phases


def is_one(result):
    return result.program == PROGRAM


def pieces(result, test, old):
    """The pieces of the page about a test; old: (result, test) of another run to compare with, or None."""
    phases = anatomy.phases_of(result, test)
    out = [forecast(result, test), headline(result, test)]
    if test.get("kind") != "forecast":
        out.append(validity(result, test, phases))
    if old:
        out += rehearsal_since.pieces(old, (result, test))
    for score, row in anatomy.scores(result, test):
        if score.is_whole:
            out += anatomy_of(result, test, score, row, phases)
    out += [table_of_phases(phases), findings(result, test)]
    return [piece for piece in out if piece]


def old_of(path, old):
    """(result, test) of the run to compare with."""
    if not is_one(old):
        said = "--compare=%s: is a result of %s, not of %s; weir-compare compares it"
        raise Refusal(said % (path, old.program, PROGRAM), BAD_USAGE)
    return old, old.test()


# ---- is it valid, and what is it? ----


def headline(result, test):
    rows = [
        {
            "score": row.get("name"),
            "TOTAL": amount(number(row.get("total")), ""),
            "bandwidth": amount(number(row.get("bandwidth")), "GiB/s"),
            "metadata": amount(number(row.get("iops")), "kIOPS"),
            "valid": row.get("valid"),
        }
        for row in jsonfile.rows(result.source, test, "scores")
    ]
    return page.table(rows, right=("TOTAL", "bandwidth", "metadata"), kind="rates stack") if rows else ""


def validity(result, test, phases):
    """The box that says whether this could have been submitted, and what weir's own rules say about its numbers."""
    scores, lines = jsonfile.rows(result.source, test, "scores"), {}
    for row in reasons_of(result, test):
        if is_of_io500(row):
            said = [str(row.get(key)) for key in ("text", "remedy") if row.get(key)]
            lines.setdefault(str(row.get("phase")), []).extend(one[:1].upper() + one[1:] for one in said)
    lines = ["%s: %s" % (phase, ". ".join(said)) for phase, said in lines.items()]
    if not scores:
        return page.verdict("No score", "The run has not come to its end.", lines, True)
    if lines or any(row.get("valid") == "no" for row in scores):
        return page.verdict("INVALID", "As it is this run could not be submitted to the list.", lines, True)
    doubted = [p.name for p in phases if p.verdict == "INVALID"]
    meaning = "Nothing that IO500 itself asks for is missing. "
    if doubted:
        meaning += "By weir's rules the numbers of these phases are not:"
        return page.verdict("Valid", meaning, [", ".join(doubted)], True)
    return page.verdict("Valid", meaning + "A rehearsal it is all the same.", [], False)


def is_of_io500(row):
    """Does IO500 itself call the run INVALID for that? Then the box has it."""
    return row.get("kind") == "INVALID" and not row.get("rule")


def findings(result, test):
    """One row for each thing that was found, with the phases that have it."""
    found = {}
    members = "phase", "kind", "rule", "text", "remedy"
    every = [{key: str(row.get(key) or "") for key in members} for row in reasons_of(result, test)]
    for row in every:
        if not is_of_io500(row):
            found.setdefault((row["kind"], row["rule"] or row["text"]), []).append(row)
    order = sorted(found.values(), key=lambda rows: (WORST + (rows[0]["kind"],)).index(rows[0]["kind"]))
    table = "<h3>What was found</h3>" + page.table(list(map(finding, order)), kind="stack") if order else ""
    return table + page.folded("All reasons and findings", page.table(every, kind="stack")) if every else ""


def finding(rows):
    """The same thing in several phases."""
    more = len({row["text"] for row in rows}) - 1
    return {
        "rule": rows[0]["rule"] or "IO500",
        "kind": rows[0]["kind"],
        "found": rows[0]["text"] + (" (and %d more like it)" % more if more else ""),
        "phases": ", ".join(dict.fromkeys(row["phase"] for row in rows)),
        "what to do": rows[0]["remedy"],
    }


def forecast(result, test):
    """What --forecast predicts."""
    rows = jsonfile.rows(result.source, test, "forecast")
    if not rows:
        return ""
    short = ["%s: %s" % (row.get("phase"), row.get("remedy")) for row in rows if row.get("length") == "too short"]
    perhaps = ["%s: perhaps" % row.get("phase") for row in rows if row.get("length") == "perhaps too short"]
    word = "%s phase%s would be too short" % (len(short) or "No", "s" if len(short) > 1 else "")
    lines = short + perhaps + list(outlooks(test))
    bad = bool(short) or any(test.get(key) not in ("fit", None) for key in ("allRoom", "mendedRoom"))
    shown = [
        {
            "phase": row.get("phase"),
            "rate": amount(number(row.get("rate")), str(row.get("unit") or "")),
            "from": amount(number(row.get("low")), ""),
            "to": amount(number(row.get("high")), ""),
            "time": timed(row.get("seconds")),
            "shortest": timed(row.get("secondsLow")),
            "longest": timed(row.get("secondsHigh")),
            "wanted": timed(row.get("wanted")),
            "length": row.get("length") or "-",
            "remedy": row.get("remedy") or "-",
        }
        for row in rows
    ]
    right = ("rate", "from", "to", "time", "shortest", "longest", "wanted")
    table = page.table(shown, "Forecast, with 95 % intervals", right=right, kind="stack")
    return page.verdict(word, "By rates of %s." % timed(test.get("stonewall")), lines, bad) + table


def outlooks(test):
    """All of the run, as it is configured and with the remedies."""
    for key, meaning in ("all", "With this configuration"), ("mended", "With the remedies"):
        parts = [
            between(form, *(number(test.get(key + name + end)) for end in ("", "Low", "High")))
            for name, form in (("Seconds", quantities.seconds), ("Bytes", quantities.size), ("Files", files))
        ]
        room = test.get(key + "Room")
        if any(parts):
            yield "%s: %s%s" % (meaning, ", ".join(filter(None, parts)), "; they %s" % room if room else "")


def between(form, value, low, high):
    if value is None:
        return ""
    ends = [form(end) for end in (low, high) if end is not None]
    return form(value) + (" (%s)" % " to ".join(ends) if len(set(ends)) == 2 else "")


def files(value):
    return "{:,.0f} files".format(value)


# ---- the score ----


def anatomy_of(result, test, score, row, phases):
    """What the score is made of."""
    out = ["<h3>Anatomy of the %s</h3>" % page.text(score.name)]
    out += ["<p>%s</p>" % page.text(line) for line in summary(score, row, phases)]
    whole = sum(p.seconds or 0 for p in phases)
    out.append(
        page.table(
            [part_row(score, part, whole) for part in score.parts],
            right=RIGHT,
            kind="stack",
        )
    )
    caption = "Left: each phase beside the mean of its group; lines: its interval. Right: its share of the time."
    title = "%s: anatomy of the %s" % (result.program, score.name)
    return out + [page.figure(draw(score, whole, title, result.describe(test)), caption)]


def effect(factor):
    return "-" if factor is None else percent(factor)


def part_row(score, part, whole):
    twin = score.twin(part)
    return {
        "phase": part.name,
        "score": amount(part.score, part.unit),
        "TOTAL if doubled": effect(score.if_times(part, 2)),
        "TOTAL as the others": effect(score.if_as(part, score.others(part))),
        "TOTAL as the easy one": effect(score.if_as(part, twin.score) if twin else None),
        "time": timed(part.seconds),
        "share of the time": "%.1f %%" % (100 * (part.seconds or 0) / whole) if whole else "-",
    }


def summary(score, row, phases):
    """Sentences: what costs most, what doubling brings, where the time goes, how sure it is."""
    worst = score.costliest()
    if worst and score.if_as(worst, score.others(worst)) > 1:
        yield "%s costs most: if it were as fast as the mean of the other %s phases, TOTAL would be %.3g %% higher." % (
            worst.name,
            anatomy.GROUPS[worst.group],
            100 * (score.if_as(worst, score.others(worst)) - 1),
        )
    doubled = [
        "by %s (%s, 1 of %d)" % (quantities.short(score.if_times(parts[0], 2)), anatomy.GROUPS[group], len(parts))
        for group, parts in score.groups.items()
    ]
    meaning = "All phases of a group weigh the same, whatever their time: doubling one multiplies TOTAL %s."
    yield meaning % ", and ".join(doubled)
    longest = max(phases, key=lambda p: p.seconds or 0)
    whole = sum(p.seconds or 0 for p in phases)
    if longest.seconds:
        yield "%s takes the most time: %s of %s (%.0f %%)." % (
            longest.name,
            quantities.seconds(longest.seconds),
            quantities.seconds(whole),
            100 * longest.seconds / whole,
        )
    noise = score.noise()
    if noise:
        low, high = (quantities.short(score.total * factor) for factor in noise)
        yield "By the intervals of its phases TOTAL is between %s and %s." % (low, high)
    if score.missing:
        yield "Not in the score, because they have no result: %s." % ", ".join(p.name for p in score.missing)
    said = number(row.get("total"))
    if said and abs(score.total / said - 1) > SAME:
        from_phases = quantities.short(score.total)
        yield "The document says that TOTAL is %s; from its phases it is %s." % (quantities.short(said), from_phases)


def draw(score, whole, title, subtitle):
    parts = score.parts
    size = (11.5, 1.5 + 0.3 * len(parts))
    fig, (left, right) = style.figure(title, subtitle, 2, 2, size, sharey=True)
    for y, part in enumerate(parts):
        beside = score.group_mean(part.group)
        colour = COLOURS[part.group]
        (bar,) = left.barh(y, math.log2(part.score / beside), color=colour, height=0.62)
        doubled = percent(score.if_times(part, 2))
        style.hover(bar, "%s: %s; doubled: TOTAL %s" % (part.name, amount(part.score, part.unit), doubled))
        if part.interval:
            ends = [math.log2(v / beside) for v in part.interval]
            left.plot(ends, [y, y], color=style.BLACK, linewidth=1, zorder=3)
        if whole and part.seconds:
            (bar,) = right.barh(y, 100 * part.seconds / whole, color=colour, height=0.62)
            style.hover(bar, "%s: %s" % (part.name, quantities.seconds(part.seconds)))
    left.axvline(0, color=style.GREY, linewidth=1)
    left.xaxis.set_major_formatter(style.ticker().FuncFormatter(lambda v, _: "%.2g" % 2**v))
    left.set_xlabel("times the mean of its group")
    right.set_xlabel("share of the run's time (%)")
    for ax in left, right:
        finish(ax, [part.name for part in parts])
    style.legend_of_colours(left, [(COLOURS[g], anatomy.GROUPS[g]) for g in anatomy.GROUPS])
    return fig


def table_of_phases(phases):
    rows = [
        {
            "phase": p.name,
            "score": amount(p.score, p.unit),
            "from": amount(p.interval and p.interval[0], ""),
            "to": amount(p.interval and p.interval[1], ""),
            "time": timed(p.seconds),
            "moved": words.cell(number(p.row.get("bytes")) or None, "bytes"),
            "operations": words.cell(number(p.row.get("operations"))),
            "wrong": words.cell(number(p.row.get("wrong"))),
            "found": found_words(number(p.row.get("found")), number(p.row.get("total"))),
            "valid": "yes" if p.is_valid else "no",
            "worth": p.verdict or "-",
            "resumed": p.row.get("resumed"),
        }
        for p in phases
    ]
    commands = [(p.name, p.row.get("command")) for p in phases]
    right = ("score", "from", "to", "time", "moved", "operations", "wrong", "found")
    table = page.table(rows, "Phases", right=right, kind="stack") if rows else ""
    return table + page.folded("Commands of the phases", page.facts(commands)) if rows else ""


def found_words(found, total):
    return "-" if found is None or total is None else "{:,.0f} of {:,.0f}".format(found, total)
