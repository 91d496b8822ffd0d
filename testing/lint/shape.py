#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""shape.py - circles of modules and the figures of src, compared with the budgets in testing/lint/budgets.

usage: shape.py           fails where a figure is above its budget
       shape.py --lower   writes the figures of today where they are lower
       shape.py --names   lists what is counted, too

A module is a .c with its .h. Includes and declarations are read as text: all are written in one form (doc/dev/style.md)."""
import collections
import os
import re
import sys

BUDGETS = "testing/lint/budgets"
MADE = {"src/config.h", "src/backends/registry.c", "src/library/benchmarks.c"}


def read_sources():
    found = {}
    for folder, _, names in os.walk("src"):
        for name in names:
            path = os.path.join(folder, name)
            if name.endswith((".c", ".h")) and path not in MADE:
                with open(path, encoding="utf-8") as f:
                    found[path] = f.read()
    return found


def includes(text):
    return ["src/" + name for name in re.findall(r'^#include "([^"]+/[^"]+)"', text, re.M)]


def module(path):
    return path[4:].rsplit(".", 1)[0]


def circles(uses):
    """The strongly connected sets of more than one module (Tarjan), the largest first."""
    index, low, stack, found = {}, {}, [], []

    def visit(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        for w in sorted(uses[v]):
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in stack:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            at = stack.index(v)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for v in sorted(uses):
        if v not in index:
            visit(v)
    return sorted(found, key=len, reverse=True)


def members(text, name):
    """Declarations between the braces of 'struct name'; one with several names counts once for each."""
    body = re.search(r"^struct %s \{\n(.*?)^\}" % name, text, re.M | re.S)
    if not body:
        return []
    body = re.sub(r"/\*.*?\*/", "", body.group(1), flags=re.S)
    body = re.sub(r"\([^()]*\)", "", re.sub(r"\([^()]*\)\([^;]*\)", "", body))
    body = re.sub(r"\{[^{}]*\}", "", body)
    return [name.strip() for line in body.split(";") for name in line.split(",") if name.strip()]


def single_users(texts):
    """Functions in a header of src that one .c file calls beside the one that defines it."""
    declared = {name for path, text in texts.items() if path.endswith(".h") and path != "src/weir.h"
                for name in re.findall(r"^(?!static|typedef|#| )[\w *]*?\b(weir_\w+|\w+)\(", text, re.M)}
    users = collections.defaultdict(set)
    for path, text in texts.items():
        if path.endswith(".c"):
            for word in set(re.findall(r"\w+", text)) & declared:
                users[word].add(path)
    return sorted(name for name, where in users.items() if len(where) == 2)


def figures(texts):
    uses = {module(path): set() for path in texts}
    readers = collections.Counter()
    folders = collections.Counter(os.path.dirname(path) for path in texts)
    for path, text in texts.items():
        for name in includes(text):
            if name in texts and module(name) != module(path):
                uses[module(path)].add(module(name))
                readers[name] += 1
    code = {path: text.count("\n") for path, text in texts.items() if path.endswith(".c")}
    everything = "".join(texts[path] for path in texts if path.endswith(".h"))
    return {
        "modules in circles": [name for circle in circles(uses) for name in circle],
        "modules in the largest circle": (circles(uses) or [[]])[0],
        "headers that run.h includes": includes(texts["src/engine/run.h"]),
        "members of weir_run": members(texts["src/engine/run.h"], "weir_run"),
        "members of weir_program": members(everything, "weir_program"),
        "functions exported for one file": single_users(texts),
        "code files over 450 lines": [path for path in code if code[path] > 450],
        "code files under 60 lines": [path for path in code if code[path] < 60],
        "headers with one reader": [path for path in texts if path.endswith(".h") and readers[path] == 1],
        "files in a folder": range(max(folders.values())),
        "lines of src": range(sum(text.count("\n") for text in texts.values())),
    }


def main():
    found = figures(read_sources())
    with open(BUDGETS, encoding="utf-8") as f:
        allowed = {name.strip(): int(number) for number, name in (line.split(None, 1) for line in f if line.strip())}
    over = [name for name in found if len(found[name]) > allowed[name]]
    for name in found:
        if "--names" in sys.argv and isinstance(found[name], list):
            print("\n".join("  %s: %s" % (name, what) for what in sorted(found[name])))
        print("%6d of %6d %s%s" % (len(found[name]), allowed[name], name, " : MORE THAN ALLOWED" if name in over else ""))
    if "--lower" in sys.argv:
        with open(BUDGETS, "w", encoding="utf-8") as f:
            f.writelines("%6d %s\n" % (min(len(found[name]), allowed[name]), name) for name in found)
    if over:
        sys.exit("shape.py: above %s: %s. See the names with --names." % (BUDGETS, ", ".join(over)))


if __name__ == "__main__":
    os.chdir(os.environ.get("WEIR_SOURCE") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    main()
