# SPDX-License-Identifier: BSD-3-Clause
"""How the tests run mdtest and read its tables."""
import re
import shlex

import conftest

MDTEST = conftest.BUILD / "src" / "mdtest"
ROW = re.compile(r"^   ((?:Directory|File|Tree) \w+) +([0-9.]+) +([0-9.]+) +([0-9.]+) +([0-9.]+)$")
OPERATIONS = ["Directory creation", "Directory stat", "Directory rename", "Directory removal", "File creation", "File stat",
              "File read", "File removal", "Tree creation", "Tree removal"]
PHASES = {"D": OPERATIONS[:4], "F": OPERATIONS[4:8], "T": OPERATIONS[8:]}


class MdRun(conftest.Run):
    def table(self, title="SUMMARY rate (in ops/sec)", nth=0):
        """Operation -> [max, min, mean, std dev] of the nth table with this title."""
        parts = self.stdout.split("\n" + title + ": ")
        assert len(parts) > nth + 1, self
        found = {}
        for line in parts[nth + 1].split("\n")[3:]:
            m = ROW.match(line)
            if not m:
                break
            found[m.group(1)] = [float(m.group(i)) for i in range(2, 6)]
        assert found, self
        return found

    def rates(self, nth=0):
        return {name: row[0] for name, row in self.table(nth=nth).items()}

    def measured(self):
        """The operations whose rate is not 0."""
        return [name for name, rate in self.rates().items() if rate > 0]


class Mdtest(conftest.Ior):
    """mdtest(args) runs the program in the test's own directory; {d} in args is a directory for its trees."""
    file = MDTEST

    def __init__(self, cwd):
        super().__init__(cwd)
        self.dir = cwd / "trees"

    def words(self, args):
        if isinstance(args, str):
            words = shlex.split(args.replace("{d}", str(self.dir)))
        else:
            words = [str(a) for a in args]
        if "-d" not in words and "--cleanup" not in words and not any(w.startswith("--cleanup=") for w in words):
            words += ["-d", str(self.dir)]
        return words

    def collect(self, proc):
        run = super().collect(proc)
        return MdRun(run.args, run.returncode, run.stdout, run.stderr, run.elapsed, run.cwd)

    def names(self, kind="f"):
        """Names below the directory of the trees: files, directories ("d") or both ("")."""
        found = []
        for p in sorted(self.dir.rglob("*")):
            if not kind or p.is_dir() == (kind == "d"):
                found.append(str(p.relative_to(self.dir)))
        return found

    def empty(self):
        """Nothing is left of any tree."""
        assert not self.dir.exists() or list(self.dir.iterdir()) == [], self.names("")


mdtest = conftest.fixture_of(Mdtest)
tmpfs = conftest.tmpfs  # for the fault tests
