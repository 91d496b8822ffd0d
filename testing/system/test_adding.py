# SPDX-License-Identifier: BSD-3-Clause
"""Adding a backend, a reason to stop, a finding rule and a program as doc/dev/adding.md says: its own shell blocks are run on a copy of the sources, so it cannot go stale.
And a folder of two programs with a library of its own: left out with a reason, or built. All of them are built once, together."""
import json
import os
import re
import shutil
import subprocess

import pytest

import conftest

pytestmark = pytest.mark.slow
NEEDS = ("autoconf", "automake", "libtoolize", "make")
BUILD = """\
./bootstrap
mkdir -p scratch-build
(cd scratch-build && ../configure && make)
"""

TOY_M4 = """\
m4_define([weir_program_toy_box_needs], [libtoybox])
m4_define([weir_program_toy_box_package], [libtoybox-dev])
m4_define([weir_program_toy_box_find],
  [WEIR_FIND_PKG([toybox], [-ltoybox], [[#include <toybox.h>]], [[return toybox();]])])
"""
TOY_H = """\
#pragma once
int toy_answer(void);
"""
TOY_C = """\
#include "programs/toy-box/toy.h"
#include <toybox.h>
int toy_answer(void)
{
    return toybox();
}
"""
MAIN_C = """\
#include <stdio.h>
#include "programs/toy-box/toy.h"
int main(int argc, char **argv)
{
    (void)argv;
    printf(argc > 1 ? ".TP\\nan option\\n" : "%s %%d\\n", toy_answer());
    return 0;
}
"""
UNIT_C = """\
#include "programs/toy-box/toy.h"
int main(void)
{
    return toy_answer() == 42 ? 0 : 1;
}
"""
PAGE = """\
.TH TOY 1
.SH OPTIONS
@OPTIONS@
.SH SEE ALSO
weir @VERSION@
"""
PROGRAMS = ("toy_writer.x", "toy-reader")


def add_toys(source):
    folder = source / "src" / "programs" / "toy-box"
    folder.mkdir()
    (folder / "toy-box.m4").write_text(TOY_M4)
    (folder / "toy.h").write_text(TOY_H)
    (folder / "toy.c").write_text(TOY_C)
    for name in PROGRAMS:
        (folder / (name + ".main.c")).write_text(MAIN_C.replace("%s", name).replace("%%", "%"))
        (source / "doc" / "man" / (name + ".1.in")).write_text(PAGE)
    (source / "testing" / "unit" / "test_toy.c").write_text(UNIT_C)


def blocks(title):
    """The shell blocks of a section: before it is built, and after."""
    text = (conftest.SOURCE / "doc" / "dev" / "adding.md").read_text()
    section = re.search(r"^## %s$(.*?)^## " % title, text, re.M | re.S).group(1)
    before, built, after = "".join(re.findall(r"^```sh\n(.*?)^```$", section, re.M | re.S)).partition(BUILD)
    assert built and before and after, section
    return before, after


def step(words, cwd, status=0):
    """Run a command; returns what it printed."""
    env = dict(conftest.program_env(), MAKEFLAGS="-j%d" % (os.cpu_count() or 1))
    env.pop("MAKELEVEL", None)
    if os.environ.get("WEIR_CC"):
        env["CC"] = os.environ["WEIR_CC"]
    site = cwd / "config.site"
    if site.exists():
        env["CONFIG_SITE"] = str(site)
    done = subprocess.run([str(w) for w in words], cwd=cwd, env=env, stdin=subprocess.DEVNULL, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=1500)
    assert done.returncode == status, "%s\n--- said\n%s" % (words, done.stdout[-4000:])
    return done.stdout


def shell(text, cwd):
    return step(["sh", "-e", "-c", text], cwd)


def add_library(path):
    (path / "include").mkdir(parents=True)
    (path / "lib").mkdir()
    (path / "include" / "toybox.h").write_text("int toybox(void);\n")
    (path / "toybox.c").write_text("int toybox(void) { return 42; }\n")
    step(["cc", "-shared", "-fPIC", "-I", path / "include", "-o", path / "lib" / "libtoybox.so", path / "toybox.c"], path)
    return path


class Copy:
    """A copy of the sources with all that the page adds, and the toys; built once, with one cache for all runs of configure."""

    def __init__(self, path):
        self.source = conftest.copy_sources(path / "weir", "bootstrap")
        self.build = self.source / "scratch-build"
        self.toybox = add_library(path / "toybox")
        conftest.reuse_objects(self.build, "..")
        self.build.mkdir(exist_ok=True)
        for folder in self.source, self.build:
            (folder / "config.site").write_text("cache_file=%s/config.cache\nCFLAGS=-O0\n" % path)  # nobody waits for its programs
        shell(blocks("A backend")[0], self.source)
        shell(blocks("A reason to stop")[0], self.source)
        shell(blocks("A program")[0], self.source)
        shell(blocks("A finding rule")[0], self.source)
        add_toys(self.source)
        self.said = shell(BUILD, self.source)


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    for program in NEEDS:
        if not shutil.which(program):
            pytest.skip("the walk needs " + program)
    return Copy(tmp_path_factory.mktemp("adding"))


def test_a_backend_is_added_as_the_page_says(copy):
    everything = shell(blocks("A backend")[1], copy.source)
    assert re.search(r"^api +: NULL$", everything, re.M), "nothing was run with the new backend"
    assert re.search(r"^write .* NULL +0$", everything, re.M)
    assert "--null.hurry" in everything


def test_the_new_backend_is_everywhere_and_the_old_ones_still_are(copy):
    program = copy.build / "src" / "ior"
    text = step([program, "--help=all"], copy.source)
    assert "Module NULL" in text and "Module POSIX" in text
    assert "null.hurry" in step([program, "--dump-options=words"], copy.source)
    assert "null.hurry" in (copy.build / "doc" / "man" / "ior.1").read_text().replace("\\-", "-")


def test_a_finding_rule_is_added_as_the_page_says(copy):
    everything = shell(blocks("A finding rule")[1], copy.source)
    found, = [f for f in json.loads((copy.source / "rule.json").read_text())["tests"][0]["findings"] if f["id"] == "H45"]
    assert (found["outcome"], found["severity"], found["text"]) == ("found", "NOTE", "there are 3 tasks"), found
    assert re.search(r"^ +H45 +NOTE above 0 tasks: tasks that are no power of two$", everything, re.M), everything[-3000:]


def test_a_program_is_added_as_the_page_says(copy):
    """The toy has options, repetitions, phases, JSON, records of operations, signals and a manual page."""
    everything = shell(blocks("A program")[1], copy.source)
    top = copy.source
    source = (top / "src" / "programs" / "pulse" / "main.c").read_text()
    assert source.count("\n") <= 150
    assert len(re.findall(r"^(?:write|read) .* MiB/s", everything, re.M)) == 4, everything[-2000:]
    document = json.loads((top / "pulse.json").read_text())
    phases = document["tests"][0]["phases"]
    assert document["program"] == "pulse" and document["status"] == 0
    assert [(p["iter"], p["bytes"], p["transferCount"]) for p in phases] == [(i, 65536, 16) for i in (0, 0, 1, 1)]
    for rank in range(2):
        assert len((top / ("ops-%05d.csv" % rank)).read_text().splitlines()) == 1 + 2 * 2 * 8
    assert not list(top.glob("pulse.[0-9]*")), "files were left"
    page = (copy.build / "doc" / "man" / "pulse.1").read_text().replace("\\-", "-")
    assert "--op-csv" in page and "--posix.odirect" in page
    program = str(copy.build / "src" / "pulse")
    env = conftest.program_env()
    wrong = subprocess.run([program, "-n", "0"], capture_output=True, text=True, env=env, cwd=top)
    assert wrong.returncode == 1 and wrong.stderr.count("\n") == 1 and "-n" in wrong.stderr, wrong
    faulty = subprocess.run([program, "-a", "DUMMY", "--dummy.fail-at=3"], capture_output=True, text=True, env=env, cwd=top)
    assert faulty.returncode == 3 and "rank 0" in faulty.stderr, faulty
    slow = subprocess.Popen([program, "-a", "DUMMY", "--dummy.delay-xfer=20000", "-n", "100000"], env=env, cwd=top,
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    conftest.wait_until(lambda: conftest.is_in_a_delay(slow.pid))
    slow.terminate()
    assert "interrupted" in slow.communicate(timeout=60)[1] and slow.returncode == 6


def test_a_reason_to_stop_is_added_as_the_page_says(copy):
    """One file, one line in a list, one option: each rank ends after so many bytes, and so do ranks in lock step."""
    shell(blocks("A reason to stop")[1], copy.source)
    engine, ours = copy.source / "src" / "engine", conftest.SOURCE / "src" / "engine"
    changed = {path.name for path in engine.rglob("*.[ch]")
               if not (ours / path.relative_to(engine)).exists() or path.read_text() != (ours / path.relative_to(engine)).read_text()}
    assert changed - {"rules-run.c"} == {"bytes.c", "limits.h", "options.h", "options.c"}, changed  # that one is of the finding rule
    for name in "alone", "together":
        phase, = json.loads((copy.source / (name + ".json")).read_text())["tests"][0]["phases"]
        assert (phase["bytes"], phase["tasksByCount"]) == (2 * 192 * 1024, 2), phase


def test_programs_whose_library_is_missing_are_left_out_with_the_reason(copy):
    assert re.search(r"^ +toy-box +out \(libtoybox not found\): no toy-reader toy_writer\.x$", copy.said, re.M), copy.said
    assert re.search(r"^ +ior +in$", copy.said, re.M), copy.said
    targets = step(["make", "-pn"], copy.build)
    assert "src/ior" in targets and not re.search(r"^weir_programs = .*toy", targets, re.M)
    assert not re.search(r"^weir_unit_tests = .*test_toy", targets, re.M)
    other = copy.source / "other-build"
    other.mkdir()
    shutil.copy(copy.build / "config.site", other)
    said = step(["../configure", "--with-toy-box"], other, status=1)
    assert "--with-toy-box: libtoybox not found. Debian has it in libtoybox-dev" in said
    said = step(["../configure", "--no-create", "--with-toy-box=%s" % copy.toybox, "--without-toy-box", "--without-hdf5", "--without-pnetcdf"], other)
    assert re.search(r"^ +toy-box +out \(--without-toy-box\): no ", said, re.M), said
    assert re.search(r"^ +NCMPI +out \(--without-ncmpi\)", said, re.M | re.I), said
    said = step(["../configure", "--help"], other)
    assert "Report bugs to the package provider." in said and "pnetcdf" in said, said


def test_two_programs_with_a_library_are_built_and_installed(copy, tmp_path):
    """The other programs do not get the library."""
    build = copy.build
    said = step(["../configure", "--with-toy-box=%s" % copy.toybox, "--prefix=/opt/we ir"], build)
    assert re.search(r"^ +toy-box +in \(toy-reader toy_writer\.x\)$", said, re.M), said
    step(["make", "all", "testing/unit/test_toy"], build)
    for name in PROGRAMS:
        assert step([build / "src" / name], build) == name + " 42\n"
        assert "an option" in (build / "doc" / "man" / (name + ".1")).read_text()
        assert "toybox" in step(["ldd", build / "src" / name], build)
    assert "toybox" not in step(["ldd", build / "src" / "ior"], build)
    step([build / "testing" / "unit" / "test_toy"], build)
    step(["make", "install", "DESTDIR=" + str(tmp_path / "root")], build)
    installed = os.listdir(tmp_path / "root" / "opt" / "we ir" / "bin")
    assert set(PROGRAMS) <= set(installed) and "ior" in installed
    for name in ("share/man/man1/toy_writer.x.1", "share/doc/weir/README.md", "share/doc/weir/doc/guide/library.md",
                 "share/doc/weir/doc/examples/library.py", "share/weir/schema/result.schema.json", "include/weir.h",
                 "lib/pkgconfig/weir.pc", "lib/libweir.so.0", "share/bash-completion/completions/weir-plot"):
        assert (tmp_path / "root" / "opt" / "we ir" / name).exists(), name
    assert list((tmp_path / "root" / "opt" / "we ir" / "share" / "weir" / "jobs").iterdir())
