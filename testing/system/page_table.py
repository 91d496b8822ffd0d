# SPDX-License-Identifier: BSD-3-Clause
"""A table of a page of the guide that a script makes: between two markers."""
import sys


class PageTable:
    """The table that make() returns, in the page between the lines begin and end."""

    def __init__(self, page, begin, end, make):
        self.page, self.begin, self.end, self.make = page, begin, end, make

    def parts(self, text):
        """The page before the table, the table, the rest."""
        before, rest = text.split(self.begin)
        inside, after = rest.split(self.end)
        return before + self.begin, inside, self.end + after

    def main(self):
        """Print the table, or with --write put it into the page."""
        if sys.argv[1:] == ["--write"]:
            before, _, after = self.parts(self.page.read_text())
            self.page.write_text(before + self.make() + after)
        else:
            sys.stdout.write(self.make())
