# SPDX-License-Identifier: BSD-3-Clause
"""How the tests run mib and read what it prints."""
import re
import shlex

import conftest

DATE = r"[A-Z][a-z]{2} [A-Z][a-z]{2} [ 1-3][0-9] \d\d:\d\d:\d\d \d{4}"
RESULT = re.compile(r"^(?P<task>[ \d]{6} )?(?P<date>%s) (?P<tasks>[ \d]{6}) (?P<size>[ \d]{4}[kM]) (?P<calls>[ \d]{5,}) "
                    r"(?P<time>[ \d]{5,}) (?P<write>[ \d]{7,}\.\d\d) (?P<read>[ \d]{7,}\.\d\d)$" % DATE, re.M)
HEADING = ("          date            tasks  xfer  call  time      write       read\n"
           "                                      limit limit       MB/s       MB/s\n"
           "------------------------ ------ ----- ----- ----- ---------- ----------\n")


class Mib(conftest.Ior):
    """mib(args) runs the program in the test's own directory; {d} in args is a directory for its data. -F: a test may run
    on memory."""
    file = conftest.BUILD / "src" / "mib"

    def __init__(self, cwd):
        super().__init__(cwd)
        self.dir = cwd / "data"
        self.dir.mkdir()

    def words(self, args):
        return shlex.split(args.replace("{d}", str(self.dir)))

    def data(self):
        return {p.name: p.stat().st_size for p in sorted(self.dir.iterdir())}


mib = conftest.fixture_of(Mib)


def result(run):
    """The line of results; there is one."""
    found = [m.groupdict() for m in RESULT.finditer(run.stdout)]
    assert len(found) == 1, run
    return {k: float(v) if k in ("write", "read") else v if k == "date" else v and v.strip() for k, v in found[0].items()}


def table(path):
    """A profile, as rows of cells in seconds."""
    lines = path.read_text().split("\n")
    assert lines.pop() == ""
    assert all(re.fullmatch(r"(\d+\.\d{6}\t)+", line) for line in lines), lines[:3]
    return [[float(c) for c in line.split("\t")[:-1]] for line in lines]
