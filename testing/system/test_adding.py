# SPDX-License-Identifier: BSD-3-Clause
"""The walk of doc/dev/adding.md on a copy of the sources: its own shell blocks are run, so it cannot go stale."""
import json
import os
import re
import shutil
import subprocess
import time

import pytest

import conftest

NEEDS = ("autoconf", "automake", "make")


def blocks(title):
    """The shell blocks of a section."""
    text = (conftest.SOURCE / "doc" / "dev" / "adding.md").read_text()
    section = re.search(r"^## %s$(.*?)^## " % title, text, re.M | re.S).group(1)
    return re.findall(r"^```sh\n(.*?)^```$", section, re.M | re.S)


def walk(copy, title):
    """Run them in order, from the top of the copy. Returns what they said."""
    env = conftest.program_env()
    env["MAKEFLAGS"] = "-j%d" % (os.cpu_count() or 1)
    env.pop("MAKELEVEL", None)
    if os.environ.get("WEIR_CC"):
        env["CC"] = os.environ["WEIR_CC"]
    said = []
    for step in blocks(title):
        done = subprocess.run(["sh", "-e", "-c", step], cwd=copy, env=env, stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=1500)
        assert done.returncode == 0, "%s\n--- said\n%s" % (step, done.stdout[-4000:])
        said.append(done.stdout)
    return "\n".join(said)


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
    assert len(blocks("A backend")) >= 5
    everything = walk(copy, "A backend")
    assert re.search(r"^api +: NULL$", everything, re.M), "nothing was run with the new backend"
    assert re.search(r"^write .* NULL +0$", everything, re.M)
    assert "--null.hurry" in everything


@pytest.mark.slow
def test_the_new_backend_is_everywhere_and_the_old_ones_still_are(copy):
    program = copy / "scratch-build" / "src" / "ior"
    if not program.exists():
        pytest.skip("the walk did not come that far")
    text = subprocess.run([str(program), "--help=all"], capture_output=True, text=True, check=True, env=conftest.program_env()).stdout
    assert "Module NULL" in text and "Module POSIX" in text
    words = subprocess.run([str(program), "--dump-options=words"], capture_output=True, text=True, check=True,
                           env=conftest.program_env()).stdout
    assert "null.hurry" in words
    page = copy / "scratch-build" / "doc" / "man" / "ior.1"
    assert not page.exists() or "null.hurry" in page.read_text().replace("\\-", "-")


@pytest.mark.slow
def test_a_program_is_added_as_the_page_says(copy):
    """The toy has options, repetitions, phases, JSON, records of operations, signals and a manual page."""
    everything = walk(copy, "A program")
    source = (copy / "src" / "programs" / "pulse" / "main.c").read_text()
    assert source.count("\n") <= 150
    assert len(re.findall(r"^(?:write|read) .* MiB/s", everything, re.M)) == 4, everything[-2000:]
    document = json.loads((copy / "pulse.json").read_text())
    phases = document["tests"][0]["phases"]
    assert document["program"] == "pulse" and document["status"] == 0
    assert [(p["iter"], p["bytes"], p["transferCount"]) for p in phases] == [(i, 65536, 16) for i in (0, 0, 1, 1)]
    for rank in range(2):
        assert len((copy / ("ops-%05d.csv" % rank)).read_text().splitlines()) == 1 + 2 * 2 * 8
    assert not list(copy.glob("pulse.[0-9]*")), "files were left"
    page = (copy / "scratch-build" / "doc" / "man" / "pulse.1").read_text().replace("\\-", "-")
    assert "--op-csv" in page and "--posix.odirect" in page
    program = str(copy / "scratch-build" / "src" / "pulse")
    env = conftest.program_env()
    wrong = subprocess.run([program, "-n", "0"], capture_output=True, text=True, env=env, cwd=copy)
    assert wrong.returncode == 1 and wrong.stderr.count("\n") == 1 and "-n" in wrong.stderr, wrong
    faulty = subprocess.run([program, "-a", "DUMMY", "--dummy.fail-at=3"], capture_output=True, text=True, env=env, cwd=copy)
    assert faulty.returncode == 3 and "rank 0" in faulty.stderr, faulty
    slow = subprocess.Popen([program, "-a", "DUMMY", "--dummy.delay-xfer=20000", "-n", "100000"], env=env, cwd=copy,
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    conftest.wait_until(lambda: conftest.is_in_a_delay(slow.pid))
    slow.terminate()
    assert "interrupted" in slow.communicate(timeout=60)[1] and slow.returncode == 6
