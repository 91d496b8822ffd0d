# SPDX-License-Identifier: BSD-3-Clause
"""A folder of programs with two programs and a library of its own: left out with a reason, or built. On a copy of the sources."""
import os
import re
import shutil
import subprocess

import pytest

import conftest

pytestmark = pytest.mark.slow
NEEDS = ("autoconf", "automake", "libtoolize", "make")

TOY_M4 = """\
m4_define([weir_program_toy_box_needs], [libtoybox])
m4_define([weir_program_toy_box_package], [libtoybox-dev])
m4_define([weir_program_toy_box_find],
  [WEIR_FIND_PKG([toybox], [-ltoybox], [[#include <toybox.h>]], [[return toybox();]])])
"""
TOY_H = """\
#ifndef WEIR_PROGRAMS_TOY_BOX_TOY_H
#define WEIR_PROGRAMS_TOY_BOX_TOY_H
int toy_answer(void);
#endif
"""
TOY_C = """\
#include "config.h"
#include "programs/toy-box/toy.h"
#include <toybox.h>
int toy_answer(void)
{
    return toybox();
}
"""
MAIN_C = """\
#include "config.h"
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
#include "config.h"
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


def add_programs(source):
    folder = source / "src" / "programs" / "toy-box"
    folder.mkdir()
    (folder / "toy-box.m4").write_text(TOY_M4)
    (folder / "toy.h").write_text(TOY_H)
    (folder / "toy.c").write_text(TOY_C)
    for name in PROGRAMS:
        (folder / (name + ".main.c")).write_text(MAIN_C.replace("%s", name).replace("%%", "%"))
        (source / "doc" / "man" / (name + ".1.in")).write_text(PAGE)
    (source / "testing" / "unit" / "test_toy.c").write_text(UNIT_C)


def add_library(path):
    (path / "include").mkdir(parents=True)
    (path / "lib").mkdir()
    (path / "include" / "toybox.h").write_text("int toybox(void);\n")
    (path / "toybox.c").write_text("int toybox(void) { return 42; }\n")
    step(["cc", "-shared", "-fPIC", "-I", path / "include", "-o", path / "lib" / "libtoybox.so", path / "toybox.c"], path)
    return path


def step(words, cwd, status=0):
    env = conftest.program_env()
    env["MAKEFLAGS"] = "-j%d" % (os.cpu_count() or 1)
    env.pop("MAKELEVEL", None)
    if os.environ.get("WEIR_CC"):
        env["CC"] = os.environ["WEIR_CC"]
    done = subprocess.run([str(w) for w in words], cwd=cwd, env=env, stdin=subprocess.DEVNULL, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=400)
    assert done.returncode == status, "%s\n--- said\n%s" % (words, done.stdout[-4000:])
    return done.stdout


def test_a_folder_with_two_programs_and_a_library(tmp_path):
    for program in NEEDS:
        if not shutil.which(program):
            pytest.skip("the build needs " + program)
    source = conftest.copy_sources(tmp_path / "weir", "bootstrap")
    add_programs(source)
    library = add_library(tmp_path / "toybox")
    step(["./bootstrap"], source)
    build = source / "scratch-build"
    build.mkdir()
    conftest.reuse_objects(build, "..")

    # The library is missing: left out, and nobody else notices
    said = step(["../configure", "--without-hdf5", "--without-pnetcdf", "-C"], build)  # as everybody calls it
    assert re.search(r"^ +NCMPI +out \(--without-ncmpi\)", said, re.M | re.I), said
    assert re.search(r"^ +toy-box +out \(libtoybox not found\): no toy-reader toy_writer\.x$", said, re.M), said
    assert re.search(r"^ +ior +in$", said, re.M), said
    targets = step(["make", "-pn"], build)
    assert "src/ior" in targets and not re.search(r"^weir_programs = .*toy", targets, re.M)
    assert not re.search(r"^weir_unit_tests = .*test_toy", targets, re.M)
    said = step(["../configure", "--with-toy-box", "-C"], build, status=1)
    assert "--with-toy-box: libtoybox not found. Debian has it in libtoybox-dev" in said
    said = step(["../configure", "--with-toy-box=" + str(library), "--without-toy-box", "-C"], build)
    assert re.search(r"^ +toy-box +out \(--without-toy-box\): no ", said, re.M), said

    # It is there: two programs, their pages, a unit test; the other programs do not get the library
    said = step(["../configure", "--without-hdf5", "--without-ncmpi", "--with-toy-box=" + str(library), "-C", "--prefix=/opt/we ir"], build)
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
    said = step(["../configure", "--help"], build)
    assert "Report bugs to the package provider." in said and "pnetcdf" in said, said
