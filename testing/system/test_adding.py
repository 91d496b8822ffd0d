# SPDX-License-Identifier: BSD-3-Clause
"""The walk of doc/dev/adding.md on a copy of the sources: its own shell blocks are run, so it cannot go stale."""
import os
import re
import shutil
import subprocess

import pytest

import conftest

NEEDS = ("autoconf", "automake", "make")


def blocks():
    """The shell blocks of the section about backends."""
    text = (conftest.SOURCE / "doc" / "dev" / "adding.md").read_text()
    section = re.search(r"^## A backend$(.*?)^## ", text, re.M | re.S).group(1)
    return re.findall(r"^```sh\n(.*?)^```$", section, re.M | re.S)


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    for program in NEEDS:
        if not shutil.which(program):
            pytest.skip("the walk needs " + program)
    source = conftest.copy_sources(tmp_path_factory.mktemp("adding") / "weir", "bootstrap")
    conftest.reuse_objects(source / "scratch-build", "..")
    return source


@pytest.mark.slow
def test_a_backend_is_added_as_the_page_says(copy):
    steps = blocks()
    assert len(steps) >= 5
    env = conftest.program_env()
    env["MAKEFLAGS"] = "-j%d" % (os.cpu_count() or 1)
    env.pop("MAKELEVEL", None)
    if os.environ.get("WEIR_CC"):
        env["CC"] = os.environ["WEIR_CC"]
    said = []
    for step in steps:
        done = subprocess.run(["sh", "-e", "-c", step], cwd=copy, env=env, stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=400)
        assert done.returncode == 0, "%s\n--- said\n%s" % (step, done.stdout[-4000:])
        said.append(done.stdout)
    everything = "\n".join(said)
    assert re.search(r"^api +: NULL$", everything, re.M), "nothing was run with the new backend"
    assert re.search(r"^write .* NULL +0$", everything, re.M)
    assert "--null.hurry" in everything


@pytest.mark.slow
def test_the_new_backend_is_everywhere_and_the_old_ones_still_are(copy):
    program = copy / "scratch-build" / "src" / "ior"
    if not program.exists():
        pytest.skip("the walk did not come that far")
    text = subprocess.run([str(program), "--help"], capture_output=True, text=True, check=True, env=conftest.program_env()).stdout
    assert "Module NULL" in text and "Module POSIX" in text
    words = subprocess.run([str(program), "--dump-options=words"], capture_output=True, text=True, check=True,
                           env=conftest.program_env()).stdout
    assert "null.hurry" in words
    page = copy / "scratch-build" / "doc" / "man" / "ior.1"
    assert not page.exists() or "null.hurry" in page.read_text().replace("\\-", "-")
