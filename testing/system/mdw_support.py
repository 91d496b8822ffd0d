# SPDX-License-Identifier: BSD-3-Clause
"""How the tests run md-workbench and read its lines."""
import os
import re
import shlex
import time

import conftest

SMALL = "-I 2 -P 3 -D 2 -R 1 -G 10 "


class Workbench(conftest.Ior):
    """mdw(args) runs the program in the test's own directory; its data sets are below self.dir."""
    file = conftest.BUILD / "src" / "md-workbench"

    def __init__(self, cwd):
        super().__init__(cwd)
        self.dir = cwd / "sets"

    def words(self, args):
        return shlex.split(args) + (["-o", str(self.dir)] if " -o" not in " " + args else [])

    def names(self):
        return sorted(str(p.relative_to(self.dir)) for p in self.dir.rglob("*"))

    def wait_for(self, proc, number, name="1_0", seconds=60):
        """Until a set holds an object with this number or a higher one: objects come and go."""
        until = time.monotonic() + seconds * conftest.PATIENCE
        while proc.poll() is None and time.monotonic() < until:
            try:
                if any(int(f[5:]) >= number for f in os.listdir(self.dir / name)):
                    return
            except FileNotFoundError:
                pass
            time.sleep(0.01)
        raise AssertionError("no object %d in %s" % (number, name))

    def position(self):
        return (self.cwd / "md-workbench.status").read_text()

    def clean(self):
        assert not self.dir.exists(), self.names()


mdw = conftest.fixture_of(Workbench)


def lines(run, phase):
    return [line for line in run.stdout.split("\n") if line.startswith(phase + " ")]


def field(line, name):
    return float(re.search(re.escape(name) + r" ?([0-9.]+)", line).group(1))
