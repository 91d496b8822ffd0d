# SPDX-License-Identifier: BSD-3-Clause
"""report: one HTML page about results and timelines, for somebody who was not there."""
import argparse
import copy
import os
import shlex
import statistics

from . import (
    calls,
    chosen,
    curve,
    diff,
    heat,
    hosts,
    intervals,
    jsonfile,
    latency,
    load,
    nodes,
    page,
    quantities,
    rate,
    rehearsal,
    repetitions,
    slowdown,
    spread,
    style,
    sweep,
    tail,
    timeline,
    wholefile,
    words,
)
from .jsonfile import number
from .refusal import BAD_USAGE, Refusal

TAIL = "Latency over time. %s: tasks stood still inside one call." % style.NAMES[style.STALLED].capitalize()
PICTURES = (
    (
        rate,
        "Rate over time. Dashed: the average of a phase. A high begin that falls off is a cache that fills.",
    ),
    (
        heat,
        "Rate of each rank. %s is slow, %s stands still inside one long call: a row is one rank, a column all."
        % (style.NAMES[style.SLOW].capitalize(), style.NAMES[style.STALLED]),
    ),
    (
        spread,
        "When the earliest, the median and the latest task came to a call. A wide fan is unfair service.",
    ),
    (calls, "Calls of each task. A flat piece is a stall."),
    (tail, TAIL),
    (
        latency,
        "Times of single calls: distribution and percentiles. The axis is stretched to 100 %, for the few slow calls.",
    ),
)
# Of members of a test: the member, its type.
MEMBERS = (
    ("sweep", dict, nodes.draw, "Each node, pair or rank alone; the slow ones have their names."),
    ("slowdowns", list, slowdown.draw, "How much each group is slowed down by all others, and by each."),
)
DIFFERENCE = "Outside series minus calls. Positive after writes: a cache that empties."
# Columns that a reader needs; all others are in the JSON document. The programs' tables have some of them.
COLUMNS = (
    "access operation phase TestID tasks numTasks iter iteration iterations repetitions items objects errors "
    "bwMaxMIB bwMinMIB bwMeanMIB bwStdMIB bwMiB iops latency openTime wrRdTime closeTime totalTime seconds "
    "OPsMean MeanTime rateMax rateMin rateMean rateStd time rate msPerOp objectRate throughputMiB opMax "
    "calls bytes ended fsyncTime group with repetition alone together slowdown slowdownLow slowdownHigh "
    "p99 p99Alone p99Together p99Slowdown shared began"
).split()
RATES = ("rate", "alone", "together")  # of rows that say their unit
WEIGHTS = ("INVALID", "SUSPECT", "NOTE")
# Tables of a test that have a form of their own here; all others are shown as they are.
KNOWN = ("Results", "phases", "latency", "intervals", "intervalCalls", "findings", "rates") + rehearsal.TABLES
SLOWEST_SHOWN = 20
MEANINGS = {
    "SOUND": "Nothing that the rules look at speaks against these numbers.",
    "SUSPECT": "The numbers probably do not mean what they seem to mean.",
    "INVALID": "By this set of rules the numbers must not be published.",
}
PICKED = (
    "test",
    "repetition",
    "phase",
    "operation",
    "bin",
    "outside",
    "outside_unit",
    "zero",
    "tasks",
    "against",
    "compare",
)


def write(inputs, options, call_size):
    """The page at options.output. Returns lines about it."""
    for name in PICKED:
        if not hasattr(options, name):
            setattr(options, name, None)
    runs, results = load.runs_and_results(inputs, call_size, options.log)
    options.old = old_of(options.compare, results) if options.compare else None
    notes = join(runs, results)
    title = options.title or heading(runs, results)
    body = ["<h1>%s</h1>" % page.text(title)]
    sections, figures = [], 0
    with style.matplotlib().rc_context(style.SETTINGS):
        for place, (result, run) in enumerate(pairs(runs, results)):
            pieces = section(result, run, options, place)
            sections.append(pieces)
        across = comparison(results, options)
    body += contents(pairs(runs, results))
    for pieces in sections + [across]:
        body += pieces
        figures += sum(piece.count("<figure>") for piece in pieces)
    body.append(
        "<footer>Made by weir-plot from %s. Nothing on this page is loaded from a network.</footer>"
        % page.text(", ".join(os.path.basename(os.path.normpath(p)) for p in inputs))
    )
    with wholefile.writing(options.output, "w", encoding="utf-8", errors="replace") as f:
        f.write(page.document(title, body))
    return ["%s: written, %d pictures" % (options.output, figures)] + notes


def old_of(path, results):
    """The run that --compare names."""
    if not any(map(rehearsal.is_one, results)):
        raise Refusal("--compare: is for results of %s; weir-compare compares others" % rehearsal.PROGRAM, BAD_USAGE)
    return rehearsal.old_of(path, load.result(path))


def join(runs, results):
    """Load the timelines that results name and nobody gave. Returns what could not be loaded."""
    notes = []
    have = {os.path.abspath(run.source) for run in runs}
    for result in results:
        path = result.timeline()
        if path and os.path.abspath(path) not in have:
            try:
                runs.append(timeline.read(path))
                have.add(os.path.abspath(path))
            except Refusal as e:
                notes.append("without the timeline of %s: %s" % (result.source, e))
    return notes


def pairs(runs, results):
    """(result, its run or None), then runs without a result. A result names its timeline; else the command tells."""
    left, found = list(runs), []
    for result in results:
        named = os.path.abspath(result.timeline() or "")
        said = str(result.document.get("Command line") or "")
        run = next(
            (
                r
                for r in left
                if os.path.abspath(r.source) == named or (r.command and " ".join(r.command) == said)
            ),
            None,
        )
        if run is None and len(results) == 1 and len(left) == 1 and left[0].program == result.program:
            run = left[0]
        if run is not None:
            left.remove(run)
        found.append((result, run))
    return found + [(None, run) for run in left]


def heading(runs, results):
    programs = list(dict.fromkeys([r.program for r in results] + [r.program for r in runs]))
    places = list(dict.fromkeys(filter(None, (hosts.names(r.provenance.get("hosts")) for r in results))))
    where = " on %s" % places[0] if len(places) == 1 and len(places[0]) < 60 else ""
    return "%s%s" % (" and ".join(programs), where)


def name_of(result, run):
    return os.path.basename(os.path.normpath(result.source if result else run.source))


def contents(found):
    if len(found) < 2:
        return []
    return [
        "<nav>%s</nav>"
        % "".join('<a href="#run%d">%s</a>' % (i, page.text(name_of(*pair))) for i, pair in enumerate(found))
    ]


def section(result, run, options, place):
    """Everything about one run: what it is worth, the command, the rates; pictures; then tables, and where it was."""
    out = ['<h2 id="run%d">%s</h2>' % (place, page.text(name_of(result, run)))]
    if not result:
        return [piece for piece in out + of_run(result, run, options) + again(result, run) if piece]
    out += failure(result)
    for test in result.tests:
        out += worth_of(result, test)
    out += again(result, run)
    for test in result.tests:
        out += rehearsal.pieces(result, test, options.old) if rehearsal.is_one(result) else rates_of(result, test)
    out.append(page.said("Warnings of the run", texts(result.document.get("warnings"))))
    for test in result.tests:
        out += pictures_of(result, test, run, options)
    if run:
        out += of_run(result, run, options)
    for test in result.tests:
        out += tables_of(result, test)
    out += of_result(result)
    return [piece for piece in out if piece]


def failure(result):
    """That nothing was measured, or not all."""
    document, out = result.document, []
    status = number(document.get("status"))
    if status or document.get("error"):
        said = [str(document["error"])] if document.get("error") else []
        out.append(page.verdict("The run failed with status %s" % words.cell(status), "", said, True))
    if result.is_incomplete:
        out.append(page.verdict("The run was killed, or still runs", "what it had measured", [], True))
    if not result.tests:
        out.append('<p class="bad">The document holds no test: nothing was measured.</p>')
    return out


def worth_of(result, test):
    """What was tested, and what its numbers are worth."""
    out = ['<p class="small">%s</p>' % page.text("%s: %s" % (result.program, result.describe(test)))]
    word = test.get("verdict")
    if isinstance(word, str) and word:
        meaning = MEANINGS.get(word, str(test.get("verdictReason") or ""))
        rules = test.get("rules")
        by = "%s by the %s rules" % (word, rules) if isinstance(rules, str) and rules else word
        out.append(page.verdict(by, meaning, reasons(test, word), word != "SOUND"))
    return out


def rates_of(result, test):
    """The headline."""
    rows = []
    for operation, values in rates_by_operation(result, test).items():
        numbers = sorted(one.value for one in values)
        shown = statistics.median(numbers), numbers[0], numbers[-1]
        middle, lowest, highest = [quantities.rate(v, values[0].in_bytes) for v in shown]
        row = {"operation": operation, "rate": middle}
        if len(numbers) > 1:
            row.update({"lowest": lowest, "highest": highest, "repetitions": len(numbers)})
        rows.append(row)
    right = ("rate", "lowest", "highest")
    more = ", medians of the repetitions" if any("repetitions" in row for row in rows) else ""
    table = page.table(rows, "Rates" + more, right=right, kind="rates stack") if rows else ""
    return [heading_of(result, test) if rows else "", table]


def rates_by_operation(result, test):
    found = {}
    for one in result.rates(test):
        found.setdefault(one.operation, []).append(one)
    return found


def reasons(test, word):
    """The findings that the verdict comes from."""
    found = test.get("findings")
    rows = by_weight(found) if isinstance(found, list) else []
    return [
        "%s: %s" % (row.get("id"), row.get("text") or row.get("remedy"))
        for row in rows
        if row.get("outcome", "found") == "found" and row.get("severity") == word
    ]


def pictures_of(result, test, run, options):
    """Those that need no timeline."""
    out = [heading_of(result, test)]
    fig = repetitions.draw(result, test)
    if fig:
        out.append(page.figure(fig, "Rates: a dot for each repetition, a line at the median."))
    only = argparse.Namespace(test=test.get("TestID"), phase=[])
    for key, kind, draw, caption in MEMBERS:
        if isinstance(test.get(key), kind):
            out.append(page.figure(draw(result, only), caption))
    if curve.has_points(result, test):
        caption = "Latency against load: response times, and broken the service times, without the wait for the begin."
        out.append(page.figure(curve.draw([result], only), caption))
    found = result.latencies(test)
    if run is None:
        fig = intervals.draw(result, test, options)
        out.append(page.figure(fig, "Rate over time, in intervals. Grey: latency, p50 to p99.") if fig else "")
        fig = tail.draw_test(result, test, options)
        out.append(page.figure(fig, TAIL) if fig else "")
        if found:
            rows = [latency.Row(label, label, None, values) for label, values in found]
            fig = latency.ranges(rows, "%s: time of single calls" % result.program, result.describe(test))
            out.append(page.figure(fig, "Times of single calls: percentiles."))
    return out


def heading_of(result, test):
    """Where there are several tests."""
    if len(result.tests) < 2:
        return ""
    return "<h3>Test %s: %s</h3>" % (page.text(test.get("TestID", 0)), page.text(result.describe(test)))


def tables_of(result, test):
    out = [heading_of(result, test)]
    out.append(findings(test))
    out.append(page.said("Warnings", texts(test.get("warnings"))))
    out.append(page.said("Notes", texts(test.get("notes"))))
    rows = jsonfile.rows(result.source, test, "Results")
    if rows:
        out.append(page.table(in_units(result, rows), "Results of the repetitions", columns(rows)))
    out.append(latencies(result, test))
    for key, rows in test.items():
        if key not in KNOWN and is_table(rows):
            out.append(page.table(in_units(result, rows), words.label(key).capitalize(), columns(rows)))
    about = list((test.get("provenance") or {}).items() if isinstance(test.get("provenance"), dict) else [])
    about += [(k, test[k]) for k in ("Path", "Capacity", "Used Capacity", "hintsInEffect") if k in test]
    out.append(page.facts(about, "Files and file system"))
    out.append(page.folded("All parameters", page.facts(sorted(result.parameters(test).items()))))
    return out


def is_table(rows):
    return isinstance(rows, list) and bool(rows) and all(isinstance(row, dict) for row in rows)


def of_result(result):
    """What was run and where."""
    document = result.document
    rows = [
        ("program", "%s %s" % (result.program, document.get("Version") or "")),
        ("source", os.path.basename(result.source)),
        ("machine", document.get("Machine")),
        ("began", document.get("Began")),
        ("finished", document.get("Finished")),
    ]
    rows += [(k, v) for k, v in result.provenance.items() if not is_table(v)]
    rows += [
        (k, document[k])
        for k in ("Path", "Capacity", "Used Capacity", "Inodes", "Used Inodes")
        if k in document
    ]
    out = [findings(document), page.said("Notes of the run", texts(document.get("notes")))]
    out.append(page.facts(rows, "What was run, and where"))
    if is_table(result.provenance.get("hosts")):
        out.append(page.folded("Hosts and their ranks", page.table(result.provenance["hosts"])))
    rows = jsonfile.rows(result.source, document, "summary")
    if rows:
        out.append(page.folded("Summary over the repetitions", page.table(rows, "", columns(rows))))
    return out


def in_units(result, rows):
    """The rows; rates get the words of the unit that their row has. Some programs have MiB/s in all rows."""
    otherwise = "MiB/s" if result.program in ("mib", "model_checkpoint") else "ops/s"
    shown = []
    for row in rows:
        rates = [k for k in RATES if number(row.get(k)) is not None]
        shown.append({**row, **{k: rate_in_unit(row[k], row.get("unit", otherwise)) for k in rates}})
    return shown


def rate_in_unit(value, unit):
    form = {"bytes/s": words.byte_rate, "MiB/s": words.data_rate, "ops/s": words.operation_rate}.get(unit)
    return form(value) if form else "%s %s" % (quantities.short(value), unit)


def latencies(result, test):
    """The table of the times of single calls."""
    found = result.latencies(test)
    if not found:
        return ""
    forms = [str] + [quantities.seconds] * 6
    rows = []
    for label, values in found:
        cells = ["-" if v is None else form(v) for v, form in zip(values, forms)]
        rows.append(dict([("operation", label)] + list(zip(latency.HEADS, cells))))
    return page.table(rows, "Times of single calls, first repetition", right=latency.HEADS)


def of_run(result, run, options):
    """The pictures of a timeline, test by test."""
    out = []
    if result is None:
        out.append(
            page.facts(
                [
                    ("program", "%s %s" % (run.program, run.version)),
                    ("source", os.path.basename(run.source)),
                    ("calls", sum(p.records.size for p in run.phases)),
                ],
                "What was run",
            )
        )
    out.append(page.said("Notes on the timeline", run.notes))
    missing = {}
    tests = (
        [options.test] if options.test is not None else sorted({p.test for p in run.phases if p.records.size})
    )
    if not tests:
        return out + ["<p>The timeline holds no call.</p>"]
    for test in tests:
        if len(tests) > 1:
            out.append("<h3>Timeline of test %d</h3>" % test)
        picked = copy.copy(options)
        picked.test = test
        for picture, caption in PICTURES + (((diff, DIFFERENCE),) if options.outside else ()):
            try:
                chosen.allow(run, picture)
            except Refusal as e:
                missing[str(e)] = None
            else:
                out.append(page.figure(picture.draw(run, picked), caption))
        out.append(slowest(run, test))
    return out + [page.said("Pictures that are missing", list(missing))]


def slowest(run, test):
    """Where a timeline has the slowest operations of each rank: the slowest of all."""
    hosts = run.hosts(test)
    rows = [
        {
            "operation": "%s: %s" % (phase.title, run.operations[r["operation"]]["key"]),
            "rank": int(r["rank"]),
            "host": hosts[r["rank"]] if hosts else "",
            "number": int(r["number"]),
            "begin": quantities.seconds(r["begin"] / 1e9),
            "time": quantities.seconds((r["end"] - r["begin"]) / 1e9),
        }
        for phase, r in chosen.slowest(run, test, SLOWEST_SHOWN)
    ]
    return page.table(rows, "Slowest operations", right=("rank", "number", "begin", "time")) if rows else ""


def again(result, run):
    """The command; weir's command line is without the launcher."""
    command = str(result.document.get("Command line") or "") if result else ""
    if not command and run:
        command = " ".join(shlex.quote(w) for w in run.command)
    if not command:
        return []
    tasks = number(result.provenance.get("tasks")) if result else run.tasks(min(run.tests))
    start = "mpirun -np %d " % tasks if tasks and tasks > 1 else ""
    return ["<pre>%s</pre>" % page.text(start + command)]


def comparison(results, options):
    """The results of each program against what differs between them, when something does."""
    out = []
    for program in dict.fromkeys(result.program for result in results):
        try:
            fig = sweep.draw([r for r in results if r.program == program], options)
        except Refusal:  # nothing to compare is no fault
            continue
        out.append(
            page.figure(fig, "Rates of all results of %s against what differs between them." % program)
        )
    return ["<h2>The results together</h2>"] + out if out else []


def findings(where):
    """Findings that the run made about itself: texts, or objects with members. Rules that found nothing are folded."""
    found = where.get("findings")
    if not isinstance(found, list) or not found:
        return ""
    rows = by_weight(found)
    quiet = [row for row in rows if row.get("outcome", "found") != "found"]
    loud = [finding(row) for row in rows if row not in quiet]
    return (
        (page.table(loud, "Findings", kind="stack") if loud else "")
        + page.said("Findings", [f for f in found if isinstance(f, str)])
        + (page.folded("Rules that found nothing", page.table(list(map(rest, quiet)), kind="stack")) if quiet else "")
    )


def by_weight(found):
    """Objects among findings, those that count most first."""
    places = {word: place for place, word in enumerate(WEIGHTS)}
    rows = [row for row in found if isinstance(row, dict)]
    return sorted(rows, key=lambda row: places.get(row.get("severity"), len(places)))


def finding(row):
    limit = "" if row.get("limit") is None else "%s %s" % (words.cell(row["limit"]), row.get("unit") or "")
    return {
        "rule": row.get("id"),
        "severity": row.get("severity"),
        "found": row.get("text") or words.cell(row.get("measured")),
        "limit": limit,
        "what to do": row.get("remedy"),
    }


def rest(row):
    return {"rule": row.get("id"), "outcome": row.get("outcome"), "why": row.get("text")}


def texts(value):
    return [str(v) for v in value] if isinstance(value, list) else []


def columns(rows):
    """The members to show, in the order of the document: known ones that are not empty;
    of an unknown table the first twelve."""
    there = [
        c
        for c in dict.fromkeys(key for row in rows for key in row)
        if any(r.get(c) not in (None, "") for r in rows)
    ]
    known = [c for c in there if c in COLUMNS]
    return known if len(known) > 2 else there[:12]
