# SPDX-License-Identifier: BSD-3-Clause
"""The combinations of a command whose words have alternatives: -t {256k,1m}.

Braces mean what they mean in bash, without ranges: groups multiply and may stand in each other, and braces without a
comma stay as they are, {} too. \\{, \\} and, in a group, \\, are these characters. An alternative may be empty; a word
that becomes empty by it is left out."""
import itertools
import math
import shlex

from .refusal import BAD_USAGE, Refusal

MOST = 1000  # combinations
QUOTE = "a shell such as bash expands braces itself unless they are in quotes: -t '{256k,1m}'"


class Combination:
    """words: those of the command; label: the words in which it differs from the others."""

    def __init__(self, words, label):
        self.words, self.label = words, label


class Unclosed(Exception):
    """A group has no end."""


def sequence(text, at, inside):
    """The alternatives of the text from 'at' to its end or, in a group, to the next ',' or '}'; and where that is."""
    found = [""]
    while at < len(text):
        if inside and text[at] in ",}":
            return found, at
        if text[at] == "{":
            parts, at = group(text, at + 1)
        else:
            escaped = text[at] == "\\" and at + 1 < len(text) and text[at + 1] in ("{},," if inside else "{}")
            at += escaped
            parts, at = [text[at]], at + 1
        found = [before + part for before in found for part in parts]
        if len(found) > MOST:
            raise Refusal("'%s' has more than %d combinations" % (text, MOST), BAD_USAGE)
    if inside:
        raise Unclosed
    return found, at


def group(text, at):
    """The alternatives of the group that has begun before 'at', and where the text after it begins."""
    found, several = [], False
    while True:
        parts, at = sequence(text, at, True)
        found += parts
        at += 1
        if text[at - 1] == "}":
            return (found if several else ["{%s}" % part for part in found]), at
        several = True


def alternatives(word):
    """The words that a word stands for, each once."""
    try:
        return list(dict.fromkeys(sequence(word, 0, False)[0]))
    except Unclosed:
        raise Refusal("'%s': a '{' is not closed; write \\{ for a brace that is none of a group" % word, BAD_USAGE)


def combinations(words):
    """The Combinations of a command, two at least."""
    choices = [alternatives(word) for word in words]
    count = math.prod(map(len, choices))
    if count > MOST:
        raise Refusal("these are %d combinations, and %d are possible" % (count, MOST), BAD_USAGE)
    if count < 2:
        raise Refusal(
            "there is one combination, since no word has {A,B}: %s; %s" % (shlex.join(words), QUOTE), BAD_USAGE
        )
    found = list(itertools.product(*choices))
    labels = [label(choices, one, True) for one in found]
    if len(set(labels)) < len(labels):
        labels = [label(choices, one, False) for one in found]
    return [
        Combination([word for word, given in zip(one, words) if word or not given], name)
        for one, name in zip(found, labels)
    ]


def in_line(text):
    """Without characters that end a line or move the cursor."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def label(choices, chosen, short):
    """The words of a combination that have alternatives."""
    found = []
    for place, (word, others) in enumerate(zip(chosen, choices)):
        if len(others) > 1:
            before = chosen[place - 1] if place else ""
            found.append(piece(word, [other for other in others if other], before, short))
    return in_line(", ".join(found))


def piece(word, others, before, short):
    """One of them: '-t 1m' where an option is before it; of --mpiio.hint=striping_factor=4 the last name and value."""
    if not word:
        return "no " + " or ".join(others)
    if short:
        word = "=".join(word.split("=")[-2:])
    is_value = before.startswith("-") and "=" not in before and not word.startswith("-")
    return "%s %s" % (before, word) if is_value else word


def expanded(words):
    """Two words that a shell may have made of one: --x=1 --x=2; None where there are none."""
    for one, other in zip(words, words[1:]):
        name = one.rpartition("=")[0]
        if one.startswith("-") and name and name == other.rpartition("=")[0]:
            return one, other
    return None
