# SPDX-License-Identifier: BSD-3-Clause
"""guide.py - lines of the guide have at most 100 columns (rows of tables may be longer), no sentence has more than 35 words, and the links
of all documents lead to files and headings that are there.

usage: guide.py [PAGE...]    pages that are checked as those of the guide are, instead of all"""
import pathlib
import re
import sys

COLUMNS = 100
WORDS = 35
ITEM = re.compile(r" *([*-]|\d+\.) +")


def without_code(text):
    """The lines of a page, empty where they are code."""
    inside = False
    for line in text.split("\n"):
        fence = line.lstrip().startswith("```")
        yield "" if fence or inside else line
        inside ^= fence


def paragraphs(text):
    """The paragraphs of a page: items of lists are some, and tables, headings and pictures are none."""
    part = []
    for line in without_code(text):
        item = ITEM.match(line)
        if item or not line.strip() or re.match(r"[#|]|<!--|!\[", line):
            yield " ".join(part)
            part = [line[item.end():]] if item else []
        else:
            part.append(line.strip())
    yield " ".join(part)


def style(text):
    """What is too long in a page."""
    for n, line in enumerate(text.split("\n"), 1):
        if len(line) > COLUMNS and not line.startswith("|"):
            yield "line %d has %d columns" % (n, len(line))
    for part in paragraphs(text):
        for sentence in re.split(r"(?<=[.!?:;])\s+(?=[A-Z`'\"(*\[])", part):
            if len(sentence.split()) > WORDS:
                yield "%d words in one sentence: %s ..." % (len(sentence.split()), sentence[:60])


def headings(text):
    """The anchors of the headings of a page."""
    found = (re.match(r"#+ (.*)", line) for line in without_code(text))
    return {re.sub(r"[^\w\- ]", "", m.group(1).lower()).replace(" ", "-") for m in found if m}


def links(page, text):
    """Links of a page that lead nowhere."""
    for link in re.findall(r"\]\(([^)\s]+)\)", "\n".join(without_code(text))):
        name, _, heading = link.partition("#")
        target = page.parent / name if name else page
        if re.match(r"[a-z]+:", link):
            continue
        if not target.exists() or (heading and heading not in headings(target.read_text())):
            yield "the link %s leads nowhere" % link


def main():
    guide = [pathlib.Path(name) for name in sys.argv[1:]] or sorted(pathlib.Path("doc/guide").glob("*.md"))
    others = [] if sys.argv[1:] else [pathlib.Path("README.md"), *sorted(pathlib.Path("doc").rglob("*.md")), *sorted(pathlib.Path("contrib").rglob("*.md"))]
    wrong = ["%s: %s" % (page, what) for page in guide for what in style(page.read_text())]
    wrong += ["%s: %s" % (page, what) for page in dict.fromkeys(guide + others) for what in links(page, page.read_text())]
    print("\n".join(wrong), end="\n" if wrong else "")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
