#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""shape.py - figures of src that only go down: circles of modules, exports, lines of each room of testing/lint/rooms.

usage: shape.py           fails where a figure is above its budget in testing/lint/budgets, or a budget above an earlier one
       shape.py --lower   writes the figures of today where they are lower
       shape.py --names   lists what is counted, too

A budget is compared with the smallest value that the file has had in the history of git, and a figure with its budget. The line
"allow FIGURE N: reason" in budgets permits up to N, and names what was built for it. A larger N needs another reason.

The modules of a folder in testing/lint/floors call no module that is above them: neither a budget nor an allow line permits that.

A module is a .c with its .h. Includes and declarations are read as text: all are written in one form (doc/dev/style.md)."""
import collections
import os
import re
import subprocess
import sys

BUDGETS = "testing/lint/budgets"
ROOMS = "testing/lint/rooms"
FLOORS = "testing/lint/floors"
MADE = {"src/config.h", "src/backends/registry.c", "src/library/benchmarks.c"}
COLUMNS = 100
# The first line of budgets. Only versions of the file with this line are compared. The text of a file survives a rewrite of the
# history and a shallow clone, and the name of a commit does not.
MARK = "# Figures that only go down"


# ---- the figures ----

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


def functions_of(text):
    """The functions that a .c file defines for others."""
    return re.findall(r"^(?!static|typedef|struct \w+ \{|#)\w[\w *]*?\b(\w+)\([^;{]*\)\n\{", text, re.M)


def read_floors():
    """The modules of folders from the top down, those of one floor from the left: {folder: their names}."""
    found, folder = {}, None
    with open(FLOORS, encoding="utf-8") as f:
        for words in (line.split("#")[0].split() for line in f):
            if words and words[0].endswith(":"):
                folder = found.setdefault(words[0][:-1], [])
            elif words:
                folder += words
    return found


def calls_up(texts, floors):
    """Functions that a module names though the module that has them is above it, and modules without a floor, as sentences."""
    for folder, names in floors.items():
        code = {os.path.basename(path)[:-2]: text for path, text in texts.items()
                if os.path.dirname(path) == "src/" + folder and path.endswith(".c")}
        yield from ("%s/%s: on no floor" % (folder, name) for name in sorted(code.keys() - set(names)))
        yield from ("%s/%s: a floor has it, and there is no such module" % (folder, name) for name in names if name not in code)
        owner = {function: name for name, text in code.items() for function in functions_of(text)}
        for name in names:
            text = re.sub(r"/\*.*?\*/", "", code.get(name, ""), flags=re.S)
            for word in sorted(set(re.findall(r"\w+(?=\()|(?<=[ (,&])\w+(?=[,;)])", text)) & owner.keys()):
                if owner[word] in names and names.index(owner[word]) < names.index(name):
                    yield "%s/%s: a call goes up the floors: %s of %s" % (folder, name, word, owner[word])


def read_rooms():
    """The rooms of src, without "all": {name: (its folders, the goal)}."""
    with open(ROOMS, encoding="utf-8") as f:
        rows = [line.split("#")[0].split() for line in f]
    return {" ".join(row[:-1]): (row[:-1], int(row[-1])) for row in rows if row}


def room_of(path, rooms):
    """The name of the room of a file; "no room" for a file outside of all of them."""
    folder = os.path.dirname(path)[4:]
    found = [name for name, (folders, _) in rooms.items() for pattern in folders
             if folder == pattern or pattern.endswith("/*") and (folder + "/").startswith(pattern[:-1])]
    if len(found) > 1:
        sys.exit("%s: src/%s is in two rooms: %s" % (ROOMS, folder, ", ".join(found)))
    return (found or ["no room"])[0]


def lines_of_rooms(texts, rooms):
    lines = dict.fromkeys([*rooms, "no room"], 0)
    for path, text in texts.items():
        lines[room_of(path, rooms)] += text.count("\n")
    lines["all"] = sum(text.count("\n") for text in texts.values())
    return {"lines of " + name: range(number) for name, number in lines.items()}


def too_wide(texts):
    """The lines that have more columns than .clang-format permits."""
    return ["%s:%d" % (path, i + 1) for path, text in texts.items() for i, line in enumerate(text.split("\n")) if len(line) > COLUMNS]


def figures(texts):
    """What is counted: {figure: a list of names, or a range of the length}."""
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
        "code files over 500 lines": [path for path in code if code[path] > 500],
        "code files under 60 lines": [path for path in code if code[path] < 60],
        "lines of the median code file": range(sorted(code.values())[len(code) // 2]),
        "lines over %d columns" % COLUMNS: too_wide(texts),
        "headers with one reader": [path for path in texts if path.endswith(".h") and readers[path] == 1],
        "files in a folder": range(max(folders.values())),
        **lines_of_rooms(texts, {name: room for name, room in read_rooms().items() if name != "all"}),
    }


# ---- the budgets ----

BUDGET = r"^ *(\d+) (\S.*)$"
ALLOW = r"^allow (\S.*?) (\d+): *(\S.*)$"


def parse(text):
    """A version of budgets: ({figure: budget}, {(figure, reason): permitted}); two empty ones where it has no MARK."""
    text = text if text.startswith(MARK) else ""
    return ({name: int(number) for number, name in re.findall(BUDGET, text, re.M)},
            {(name, reason): int(number) for name, number, reason in re.findall(ALLOW, text, re.M)})


def read_budgets():
    with open(BUDGETS, encoding="utf-8") as f:
        text = f.read()
    if not text.startswith(MARK):
        sys.exit("shape.py: the first line of %s must begin with '%s'" % (BUDGETS, MARK))
    for line in text.split("\n"):
        if not re.match(r"#|$|%s|%s" % (BUDGET, ALLOW), line):
            sys.exit("%s: neither 'N FIGURE' nor 'allow FIGURE N: reason': %s" % (BUDGETS, line))
    return text


def git(*words, given=None):
    return subprocess.run(["git", *words], input=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True).stdout


def read_history():
    """The texts of budgets in all commits up to this one, and why there may be more of them ("" if there are none)."""
    if not os.path.exists(".git"):
        return [], ""  # a released tarball, which may lie below another checkout
    try:
        names = git("log", "--full-history", "--format=%H:" + BUDGETS, "--", BUDGETS)
        answers = git("cat-file", "--batch", given=names)
        shallow = git("rev-parse", "--is-shallow-repository").strip() == b"true"
    except OSError:
        return [], "there is no git (Debian: git)"
    except subprocess.CalledProcessError as e:
        return [], "git has no history here: " + e.stderr.decode().strip()
    texts = []
    while answers:
        head, answers = answers.split(b"\n", 1)
        size = 0 if head.endswith(b" missing") else int(head.split()[2]) + 1
        texts.append(answers[:size].decode())
        answers = answers[size:]
    return texts, "this is a shallow clone" if shallow else ""


def least(versions):
    """The smallest number of each key in a list of dictionaries."""
    found = {}
    for version in versions:
        for key, number in version.items():
            found[key] = min(number, found.get(key, number))
    return found


def most_allowed(name, allowed):
    return max([number for (figure, _), number in allowed.items() if figure == name], default=0)


def complaints(found, now, before):
    """What is wrong with the figures and the budgets of today, as sentences. 'before' has the smallest of each in history."""
    (budgets, allowed), (old_budgets, old_allowed) = now, before
    for name in found:
        if name not in budgets:
            yield "%s: no budget: shape.py --lower writes it" % name
        elif len(found[name]) > max(budgets[name], most_allowed(name, allowed)):
            yield "%s: %d, and %d are allowed" % (name, len(found[name]), max(budgets[name], most_allowed(name, allowed)))
    for name, budget in budgets.items():
        if name not in found:
            yield "%s: a budget for a figure that shape.py does not count" % name
        elif budget > max(old_budgets.get(name, budget), most_allowed(name, allowed)):
            yield "%s: the budget was raised from %d to %d without an allow line" % (name, old_budgets[name], budget)
    named = {name for name, _ in allowed}
    for name in old_budgets:
        if name not in budgets and name not in named:
            yield "%s: the budget is gone: name the reason in a line 'allow %s 0: reason'" % (name, name)
    for (name, reason), number in allowed.items():
        if name not in found and old_budgets and name not in old_budgets:
            yield "%s: an allow line for a figure that shape.py has never counted" % name
        if number > old_allowed.get((name, reason), number):
            yield "%s: the allow line was raised from %d to %d: a new reason is needed" % (name, old_allowed[name, reason], number)


def lowered(text, found, now, before):
    """The text of budgets with the figures of today where they are lower, and the allow lines that are still needed."""
    (budgets, allowed), (old_budgets, _) = now, before
    lines = [line for line in text.split("\n") if line.startswith("#")]
    lowest = {name: min(len(found[name]), budgets.get(name, len(found[name])), old_budgets.get(name, len(found[name]))) for name in found}
    lines += ["%6d %s" % (lowest[name], name) for name in found]
    for (name, reason), number in sorted(allowed.items(), key=lambda item: item[1]):
        today = len(found.get(name, ()))
        if name not in found or lowest[name] < today:
            lowest[name] = min(number, today)
            lines.append("allow %s %d: %s" % (name, lowest[name], reason))
    return "\n".join(lines) + "\n"


def report(found, now, goals):
    budgets, allowed = now
    for name in found:
        if "--names" in sys.argv and isinstance(found[name], list):
            print("\n".join("  %s: %s" % (name, what) for what in sorted(found[name])))
        goal = goals.get(name)
        print("%6d of %6d %s%s" % (len(found[name]), max(budgets.get(name, 0), most_allowed(name, allowed)), name,
                                   " (goal %d)" % goal if goal is not None and goal < len(found[name]) else ""))


def main():
    sources = read_sources()
    found = figures(sources)
    text = read_budgets()
    texts, doubt = read_history()
    versions = [parse(old) for old in texts]
    now = parse(text)
    before = least([budgets for budgets, _ in versions]), least([allowed for _, allowed in versions])
    if "--lower" in sys.argv:
        with open(BUDGETS, "w", encoding="utf-8") as f:
            f.write(lowered(text, found, now, before))
        return
    report(found, now, {"lines of " + name: goal for name, (_, goal) in read_rooms().items()})
    wrong = [*complaints(found, now, before), *calls_up(sources, read_floors())]
    if wrong:
        sys.exit("\n".join(["shape.py: see the names with --names, and how to allow more in its first lines", *wrong]))
    if doubt:
        print("skipped: %s: the budgets were compared with %d earlier versions only" % (doubt, len(texts)))
        sys.exit(77)


if __name__ == "__main__":
    os.chdir(os.environ.get("WEIR_SOURCE") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    main()
