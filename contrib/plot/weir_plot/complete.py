# SPDX-License-Identifier: BSD-3-Clause
"""What a shell offers for a word, from the parser itself; asked and answered as the programs do it."""
import argparse


def answer(parser, words, beside=()):
    """words: the one before, the one that is typed, the first after the program; beside: pairs of word and sentence
    that may be the first one, beside options. Lines: a word, a tab, a sentence."""
    before, typed, first = (list(words) + ["", "", ""])[:3]
    commands = list(beside) or subcommands(parser)
    if commands and not first:
        found = commands + (options(parser) if typed.startswith("-") else [])
    else:
        one = parser_of(parser, first)
        name, equals, _ = typed.partition("=")
        if equals:
            found = [(name + "=" + value, "") for value in values(one, name)]
        elif before.startswith("-"):
            found = [(value, "") for value in values(one, before)]
        else:
            found = []
        if not equals and typed.startswith("-"):
            found += options(one)
    return ["%s\t%s\n" % (word, words) for word, words in found if word.startswith(typed)]


def subcommands(parser):
    """Pairs of name and sentence."""
    return [
        (row.dest, row.help.replace("%%", "%"))
        for action in parser._actions
        if isinstance(action, argparse._SubParsersAction)
        for row in action._choices_actions
    ]


def parser_of(parser, first):
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction) and first in action.choices:
            return action.choices[first]
    return parser


def options(parser):
    """Long names; one that takes a value ends with '='."""
    return [
        (name + ("" if action.nargs == 0 else "="), (action.help or "").replace("%%", "%"))
        for action in parser._actions
        for name in action.option_strings
        if name.startswith("--")
    ]


def values(parser, name):
    return [
        str(value)
        for action in parser._actions
        if name in action.option_strings and action.choices
        for value in action.choices
    ]
