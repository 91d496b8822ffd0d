#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""words.py - sentences in comments of src and in doc/dev are short, name their subject, and use the words of the field (doc/dev/style.md)

usage: words.py    fails where a sentence breaks a rule, and prints which"""
import glob
import re
import sys

# A comment's sentence that begins so names no subject: "The same for ...", "Of all ...", "How ...", "Is there ...?"
RIDDLE = re.compile(r"(The same|Of(?! course)|And|How|Is (?:it|there|this|the)|Are (?:there|they)|Whether|What|Whose?|Or|Nor|Also"
                    r"|As(?= \w+\.$)|Where(?=[^,]*$))\b")
# Words that stand for a number, a part of a program or an event without naming it.
DIALECT = re.compile(r"\b(so many|what is there|where it is not|somebody|nobody|(?:is|are) told|has its turn|comes to its end"
                     r"|on its own|had enough|hears?|may not|as ever|for nothing|in any case|surroundings|stranger)\b"
                     r"|\bthe words of\b", re.IGNORECASE)
MOST = {"comment": 30, "page": 35}
PLACES = "src/**/*.[ch]", "contrib/**/*.[ch]", "doc/dev/*.md", "doc/CONTRIBUTING.md"
MADE = {"src/config.h", "src/backends/registry.c", "src/library/benchmarks.c"}


def sentences(text):
    """The sentences of a text. A line that is indented by two blanks or more, or empty, ends one: it is a row of a list or code."""
    parts = [""]
    listed = False
    for line in text.split("\n"):
        row = line.startswith("  ")
        if not line.strip() or row or listed:
            parts.append("")
        listed = row
        if not row:
            parts[-1] += " " + line.strip()
    for part in parts:
        for sentence in re.split(r"(?<=[.!?])\s+|(?<=[:;])\s+(?=[A-Z`'\"(])", part):
            if sentence.strip():
                yield sentence.strip()


def comments(text):
    """The line and the text of each comment, without the stars before its lines. Strings hold none."""
    for found in re.finditer(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|/\*(.*?)\*/', text, re.S):
        if found.group(1) is not None:
            lines = found.group(1).split("\n")
            yield (text.count("\n", 0, found.start()) + 1,
                   "\n".join([lines[0].strip()] + [re.sub(r"^\s*\* ?", "", line).rstrip() for line in lines[1:]]))


def paragraphs(page):
    """The line and the text of each paragraph of a page, without code, tables and headings. An item of a list is one."""
    page = re.sub(r"^ *```.*?^ *```", lambda found: re.sub(r".+", "", found.group()), page, flags=re.S | re.M)
    page = re.sub(r"^(?: *\||#|<|!\[| {4}).*$", "", page, flags=re.M)
    for found in re.finditer(r"(?:^ *\S.*\n?)+", page, re.M):
        for item in re.finditer(r"(?:(?:^ *(?:[*-]|\d+[.]) ).*\n?|.*\n?)(?:^(?! *(?:[*-]|\d+[.]) ).*\n?)*", found.group(), re.M):
            if item.group().strip():
                yield (page.count("\n", 0, found.start() + item.start()) + 1,
                       re.sub(r"\s+", " ", item.group()).strip())


def faults(kind, text):
    for sentence in sentences(text):
        words = len(sentence.split())
        if words > MOST[kind]:
            yield "%d words, and %d are allowed" % (words, MOST[kind]), sentence
        found = RIDDLE.match(sentence) if kind == "comment" else None
        if found:
            yield 'begins with "%s": name the subject' % found.group(), sentence
        found = DIALECT.search(sentence)
        if found:
            yield '"%s": name what it is' % found.group(), sentence


def check(name, text):
    bad = 0
    kind, parts = ("page", paragraphs(text)) if name.endswith(".md") else ("comment", comments(text))
    for line, part in parts:
        for why, sentence in faults(kind, part):
            print("%s:%d: %s: %s" % (name, line, why, sentence[:160]))
            bad += 1
    return bad


def try_itself():
    """Each of these has one fault, but for the last two."""
    cut = "a " * MOST["comment"]
    cases = [("a.c", "/* The same for a file. */", 1), ("b.c", "int a; /* Of all ranks. */", 1), ("c.c", "/* A\n * " + cut + "word. */", 1),
             ("d.c", "/* Waits for nobody. */", 1), ("e.c", "/* Good. How many there are. */", 1), ("f.md", "A\n\n* so many bytes\n", 1),
             ("g.c", '/* Copies n bytes. As weir_copy. */', 1),
             ("h.c", 'puts("/* How */"); /* Waits for rank 0, as How says. */\n/* Rows:\n *   ' + cut + "\n *   " + cut + " */", 0),
             ("i.md", "# How\n\n```sh\nsomebody\n```\n\n| so many |\n", 0)]
    for name, text, expected in cases:
        kind, parts = ("page", paragraphs(text)) if name.endswith(".md") else ("comment", comments(text))
        seen = sum(len(list(faults(kind, part))) for _, part in parts)
        if seen != expected:
            sys.exit("words.py finds %d faults in %r, not %d" % (seen, text, expected))


def main():
    try_itself()
    names = [name for pattern in PLACES for name in glob.glob(pattern, recursive=True) if name not in MADE]
    bad = 0
    for name in sorted(names):
        with open(name, encoding="utf-8") as file:
            bad += check(name, file.read())
    sys.exit(bad != 0)


main()
