# SPDX-License-Identifier: BSD-3-Clause
"""How the tests run h5exerciser and read its table."""
import pytest

import conftest

COLUMNS = "bufsize write write_rate read read_rate dataset group attribute fopen fclose fflush otherclose".split()


class Exerciser(conftest.Ior):
    """h5ex(args) runs the program in the test's own directory."""
    file = conftest.BUILD / "src" / "h5exerciser"

    def __init__(self, cwd):
        super().__init__(cwd)
        if not self.file.exists():
            pytest.skip("this build has no h5exerciser")


def table(run):
    """A dict for each size: statistic -> column -> number."""
    sizes = []
    for line in run.stdout.split("\n"):
        words = line.split()
        if words and words[0] in ("Min", "Med", "Max", "Avg", "Std"):
            assert len(words) == 13, run
            if words[0] == "Min":
                sizes.append({})
            sizes[-1][words[0]] = dict(zip(COLUMNS, map(float, words[1:])))
    return sizes


h5ex = conftest.fixture_of(Exerciser)
