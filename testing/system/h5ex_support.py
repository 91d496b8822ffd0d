# SPDX-License-Identifier: BSD-3-Clause
"""How the tests run h5exerciser and read its table."""
import json
import subprocess
import tempfile

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


def hdf5_version():
    """The version of HDF5 in this build: (1, 10, 8)."""
    with tempfile.NamedTemporaryFile() as out:
        subprocess.run([conftest.IOR, "-a", "HDF5", "--dry-run", "--report=json:" + out.name], env=conftest.program_env(), check=True,
                       capture_output=True)
        version = json.load(open(out.name))["tests"][0]["Options"]["apiVersion"]
    return tuple(int(n) for n in version.split()[0].split("."))
