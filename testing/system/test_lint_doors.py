# SPDX-License-Identifier: BSD-3-Clause
"""testing/lint/doors.sh: the list of the headers that a program, a backend and the library include. Each test has a small src."""
import os
import subprocess

import pytest

from conftest import SOURCE

LIST = """\
# A header, and who needs it
base/size.h      programs mpiio
base/rng.h       backends   # for delays
base/locale.h    library
engine/phase.h   one        # a reason
"""
INCLUDES = {
    "programs/one/one.c": ["base/size.h", "engine/phase.h", "programs/one/one.h"],
    "programs/one/one.h": ["base/size.h"],
    "programs/two/two.c": ["base/size.h"],
    "programs/main.c": ["base/size.h"],
    "backends/mpiio/mpiio.c": ["base/size.h", "base/rng.h"],
    "backends/posix/posix.c": ["base/rng.h"],
    "backends/s3/s3.c": ["base/rng.h"],
    "backends/shared/posixns.c": ["base/mem.h"],
    "backends/plugin.c": ["base/mem.h"],
    "library/job.c": ["library/job.h", "base/locale.h"],
    "engine/test.c": ["base/mem.h"],
}


def lint(top, rows=LIST, **more):
    """Run the linter where each source of 'more' (programs_one_one) has a further include: its status and its output."""
    for name, headers in INCLUDES.items():
        path = top / "src" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        headers = headers + more.get(name[:-2].replace("/", "_"), [])
        path.write_text('#include <mpi.h>\n' + "".join('#include "%s"\n' % header for header in headers))
    (top / "testing/lint").mkdir(parents=True)
    (top / "testing/lint/doors").write_text(rows)
    done = subprocess.run(["sh", str(SOURCE / "testing/lint/doors.sh")], env={**os.environ, "WEIR_SOURCE": str(top)}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def test_includes_of_the_list_pass(tmp_path):
    assert lint(tmp_path) == (0, "")


@pytest.mark.parametrize("source, header, who", [
    ("programs_two_two", "engine/phase.h", "two"),
    ("programs_one_one", "programs/two/two.h", "one"),
    ("backends_s3_s3", "base/size.h", "s3"),
    ("programs_main", "base/rng.h", "main.c"),
    ("library_job", "base/rng.h", "library"),
])
def test_an_include_that_is_not_in_the_list_fails(tmp_path, source, header, who):
    rc, text = lint(tmp_path, **{source: [header]})
    assert rc == 1 and "includes %s, and testing/lint/doors does not give it to %s" % (header, who) in text, text
    assert len(text.splitlines()) == (2 if source == "programs_one_one" else 1), text  # one.c and one.h


@pytest.mark.parametrize("row, said", [
    ("base/mem.h posix", "posix does not include base/mem.h"),
    ("base/mem.h gone", "gone does not include base/mem.h"),
    ("base/mem.h backends", "fewer than three backends include base/mem.h"),
    ("engine/test.h one programs", "fewer than three programs include engine/test.h"),
])
def test_a_row_that_nobody_needs_fails(tmp_path, row, said):
    rc, text = lint(tmp_path, LIST + row + "\n", programs_one_one=["engine/test.h"] if "engine" in row else [])
    assert rc == 1 and "testing/lint/doors:6: " + said in text, text


def test_a_name_beside_its_group_fails(tmp_path):
    rc, text = lint(tmp_path, LIST.replace("backends ", "backends s3 "))
    assert rc == 1 and text == "testing/lint/doors:3: s3 does not include base/rng.h\n", text


def test_a_header_has_one_row(tmp_path):
    rc, text = lint(tmp_path, LIST + "base/locale.h library\n")
    assert rc == 1 and "testing/lint/doors:6: a second line for base/locale.h" in text, text
