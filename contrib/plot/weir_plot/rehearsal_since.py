# SPDX-License-Identifier: BSD-3-Clause
"""What a report says about two rehearsals of IO500: what each phase did to the score, and what was different."""
import math
import re

from . import anatomy, page, quantities, style, words
from .compare_verdict import percent
from .rehearsal_parts import COLOURS, WORST, amount, finish, reasons_of, timed

NUMBER = re.compile(r"\d+(\.\d+)?")


def pieces(old, new):
    out = ["<h3>What changed since %s</h3>" % page.text(old[0].document.get("Began") or old[0].source)]
    before = {score.name: score for score, _ in anatomy.scores(*old)}
    for score, _ in anatomy.scores(*new):
        both = anatomy.Comparison(before[score.name], score) if score.name in before else None
        if both and both.old.is_whole and both.new.is_whole:
            out += compared(both, new)
    out.append(causes(old, new))
    return out


def compared(both, new):
    """The changes of a score, those that did most to it first."""
    total = quantities.short(both.old.total), quantities.short(both.new.total)
    ordered = sorted(both.changes, key=lambda c: -abs(math.log(c.effect)))
    meaning = "%s: TOTAL %s to %s, %s. The effects multiply to that."
    yield "<p>%s</p>" % page.text(meaning % (both.new.name, *total, percent(both.ratio)))
    for side, names in ("old", both.only_old), ("new", both.only_new):
        if names:
            yield '<p class="bad">%s</p>' % page.text(
                "Only the %s run has a result of %s: both TOTALs above are those of the phases that both have."
                % (side, ", ".join(names))
            )
    rows = [
        {
            "phase": c.name,
            "old": amount(c.old.score, c.old.unit),
            "new": amount(c.new.score, c.new.unit),
            "change": percent(c.ratio),
            "effect on TOTAL": percent(c.effect),
            "told apart": {True: "yes", False: "no, the intervals overlap", None: "not known"}[c.is_told_apart],
            "old time": timed(c.old.seconds),
            "new time": timed(c.new.seconds),
        }
        for c in ordered
    ]
    yield page.table(rows, right=("old", "new", "change", "effect on TOTAL", "old time", "new time"), kind="stack")
    caption = "What the change of each phase did to TOTAL. Pale: its intervals overlap."
    yield page.figure(draw_changes(both, "%s: what changed" % new[0].program, new[0].describe(new[1])), caption)


def draw_changes(both, title, subtitle):
    fig, (ax,) = style.figure(title, subtitle, 1, 1, (9.2, 1.5 + 0.3 * len(both.changes)))
    for y, change in enumerate(both.changes):
        colour = COLOURS[change.new.group]
        pale = 0.35 if change.is_told_apart is False else 1
        (bar,) = ax.barh(y, 100 * (change.effect - 1), color=colour, height=0.62, alpha=pale)
        style.hover(bar, "%s: %s, TOTAL %s" % (change.name, percent(change.ratio), percent(change.effect)))
    ax.axvline(0, color=style.GREY, linewidth=1)
    ax.set_xlabel("change of TOTAL by this phase (%)")
    finish(ax, [change.name for change in both.changes])
    style.legend_of_colours(ax, [(COLOURS[g], anatomy.GROUPS[g]) for g in anatomy.GROUPS])
    return fig


def causes(old, new):
    """What was different: settings, places, commands, and what was found."""
    rows = list(anatomy.changed_settings(anatomy.settings(*old), anatomy.settings(*new)))
    changed = [{"what": words.label(name), "old": words.cell(a), "new": words.cell(b)} for name, a, b in rows]
    spoken = {}
    for name, gone, come in anatomy.commands(*(anatomy.phases_of(*side) for side in (old, new))):
        spoken.setdefault((gone or "-", come or "-"), []).append(name)
    rows = [{"old": gone, "new": come, "phases": ", ".join(names)} for (gone, come), names in spoken.items()]
    told = page.table(changed, "Settings and places that differ", kind="stack")
    return (
        (told if changed else "<p>No setting that is known differs.</p>")
        + (page.table(rows, "Words of the commands that differ", kind="stack") if rows else "")
        + came_and_went(old, new)
    )


def against(result, test):
    """{(phase, kind, rule, or words without their numbers): words} of what speaks against a run."""
    found = {}
    for row in reasons_of(result, test):
        if row.get("kind") in WORST[:2]:
            text = str(row.get("text"))
            found[str(row.get("phase")), row["kind"], row.get("rule") or NUMBER.sub("N", text)] = text
    return found


def came_and_went(old, new):
    """Reasons against the run that are new, and those that are gone, each with its phases."""
    sides, found = (against(*old), against(*new)), {}
    for what, one, other in (("new", sides[1], sides[0]), ("gone", sides[0], sides[1])):
        for (phase, kind, reason), text in one.items():
            if (phase, kind, reason) not in other:
                found.setdefault((what, kind, reason), (text, []))[1].append(phase)
    rows = [
        {"": what, "kind": kind, "reason": text, "phases": ", ".join(phases)}
        for (what, kind, _), (text, phases) in found.items()
    ]
    return page.table(rows, "Reasons against it that came or went", kind="stack") if rows else ""
