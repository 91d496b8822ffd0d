# SPDX-License-Identifier: BSD-3-Clause
"""An observer is one object and one line in engine/observe/all.h: the programs are linked without each of them in turn."""
import concurrent.futures
import json
import os
import re
import shutil
import subprocess

import pytest

import conftest

LIST = conftest.SOURCE / "src" / "engine" / "observe" / "all.h"
PRINT = """include Makefile
weir-print:
	@echo '$(CC) $(DEFS) $(weir_par_cppflags) $(CPPFLAGS) $(weir_cflags) $(CFLAGS)'
	@echo '$(CCLD) $(weir_cflags) $(CFLAGS) $(weir_ldflags) $(LDFLAGS)'
	@echo '$(weir_link) $(LIBS)'
"""
IOR = ("-w -r -R -t 4k -b 64k -s 2 -i 5 -o f -k -v --existing=replace --drop-cache --interval=1 --timeline=ops.npy --until=50 "
       "--until-max=5 --io-timeout=60 --progress=always --anonymous --findings --savePerOpDataCSV=ops "
       "--saveRankPerformanceDetailsCSV=ranks --report=text:-,json:r.json,csv:r.csv")
MDTEST = "-n 3 -d dir -i 2 -w 10 -e 10 --report=text:-,json:m.json"

CHANCE = {"run: notes", "run: warnings", "test: notes", "test: warnings", "test: stragglers"}  # a busy machine brings them


class Linker:
    """Links the programs of the build under test anew, with their own list of observers."""

    def __init__(self):
        if not (conftest.BUILD / "src" / "libweir.a").exists() or not shutil.which("make"):
            pytest.skip("no objects: nothing is built here")
        said = self.run(["make", "-s", "--no-print-directory", "-f", "-", "weir-print"], PRINT)
        self.compile, self.link, self.libraries = said.splitlines()
        symbols = self.run(["nm", "-A", "src/libweir.a"])
        found = re.findall(r"^[^:]*:([^:]+):\S+ [DR] (weir_\w+)$", symbols, re.M)
        self.object_of = {symbol: name for name, symbol in found}

    @staticmethod
    def run(command, text=""):
        env = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}  # of the make that runs the tests
        done = subprocess.run(command, cwd=conftest.BUILD, env=env, input=text, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=120 * conftest.PATIENCE, shell=isinstance(command, str))
        assert done.returncode == 0, "%s\n%s" % (command, done.stderr[-3000:])
        return done.stdout

    def __call__(self, path, row):
        """ior and mdtest in folder path, without a row; with row None with all of them."""
        header = path / "engine" / "observe" / "all.h"  # all.c finds it first, as it is beside it
        header.parent.mkdir(parents=True)
        lines = LIST.read_text().splitlines()
        kept = [line for line in lines if not (row and line.startswith("    ROW(%s)" % row[len("weir_"):]))]
        assert len(lines) - len(kept) == bool(row)
        header.write_text("\n".join(kept) + "\n")
        shutil.copy(LIST.with_suffix(".c"), path / "all.c")
        archive = path / "libweir.a"
        shutil.copy(conftest.BUILD / "src" / "libweir.a", archive)
        if row:
            self.run(["ar", "d", str(archive), self.object_of[row]])
        self.run("%s -c -o '%s' '%s'" % (self.compile, path / "all.o", path / "all.c"))
        for program in "ior", "mdtest":
            self.run("%s -o '%s' src/programs/%s-main.o '%s' %s" % (
                self.link, path / program, program, path / "all.o", self.libraries.replace("src/libweir.a", "'%s'" % archive)))
        archive.unlink()


def keys(document):
    """Of the run, and of its tests."""
    return {"run: " + key for key in document} | {"test: " + key for test in document["tests"] for key in test}


def output(path):
    """What runs with the programs in a folder leave: names of files and keys of documents. The runs must be right."""
    work = path / "work"
    work.mkdir()
    (work / "f").write_bytes(b"old" * 1000)
    program = conftest.Ior(work)
    program.program = path / "ior"
    run = program(IOR)
    assert run.returncode == 0, run
    rows = re.findall(r"^(write|read) +([\d.]+)", run.stdout.split("Results:")[1], re.M)[:10]
    assert [name for name, _ in rows] == ["write", "read"] * 5 and all(float(rate) > 0 for _, rate in rows), run
    assert (work / "f").stat().st_size == 2 ** 18
    bad = program("-r -o missing -t 4k -b 4k", np=1)
    assert bad.returncode == 3 and "missing" in bad.stderr, bad
    program.program = path / "mdtest"
    run = program(MDTEST, np=1)
    assert run.returncode == 0 and re.search(r"File creation +[\d.]+", run.stdout), run
    documents = {name: json.loads((work / name).read_text()) for name in ("r.json", "m.json")}
    assert documents["r.json"]["status"] == documents["m.json"]["status"] == 0
    return set(program.files()) | {name + ", " + key for name, document in documents.items() for key in keys(document) - CHANCE}


@pytest.mark.slow
def test_each_observer_can_be_taken_out_and_takes_only_its_own_output_with_it(tmp_path):
    link = Linker()
    rows = ["weir_" + name for name in re.findall(r"^    ROW\((\w+)\)", LIST.read_text(), re.M)]
    assert len(rows) >= 12

    def run(row):
        link(tmp_path / str(row), row)
        return output(tmp_path / str(row))

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        whole, *parts = pool.map(run, [None] + rows)
    lost = dict(zip(rows, (whole - part for part in parts)))
    assert {row: part - whole for row, part in zip(rows, parts) if part - whole} == {}, "new output"
    for row in rows:
        others = set().union(*(lost[other] for other in rows if other != row))
        assert not lost[row] & others, "%s shares output with another row" % row
    assert sum(1 for row in rows if lost[row]) >= 8, lost
