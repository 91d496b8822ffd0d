# SPDX-License-Identifier: BSD-3-Clause
"""The shell blocks of doc/guide/ are run as they stand, page by page, each page in a fresh directory."""
import os
import re
import subprocess

import pytest

import conftest

PAGES = sorted((conftest.SOURCE / "doc" / "guide").glob("*.md"))


def blocks(page):
    return re.findall(r"^```sh\n(.*?)^```$", page.read_text(), re.M | re.S)


@pytest.fixture
def bin(tmp_path):
    """A directory with the programs, and a launcher that takes more tasks than processors."""
    path = tmp_path / "bin"
    path.mkdir()
    for name in ("ior", "mdtest", "md-workbench", "mib", "checkpoint_simulator.x", "restart_simulator.x",
                 "raw_bw.x", "gatherv.x", "combo.x", "h5exerciser", "hdf5Exerciser"):
        (path / name).symlink_to(conftest.BUILD / "src" / name)
    (path / "weir-compare").symlink_to(conftest.SOURCE / "contrib" / "plot" / "weir-compare")
    launcher = path / "mpirun"
    launcher.write_text('#!/bin/sh\nexec %s "$@"\n' % " ".join(conftest.LAUNCHER))
    launcher.chmod(0o755)
    return path


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p)], ids=lambda p: p.stem)
def test_the_examples_of_the_guide_run(page, bin, tmp_path):
    env = conftest.program_env()
    real = conftest.shutil.which(conftest.LAUNCHER[0])
    (bin / "mpirun").write_text((bin / "mpirun").read_text().replace(conftest.LAUNCHER[0], real, 1))
    env["PATH"] = "%s%s%s" % (bin, os.pathsep, env["PATH"])
    work = tmp_path / "work"
    work.mkdir()
    for block in blocks(page):
        done = subprocess.run(["sh", "-e", "-c", block], cwd=work, env=env, stdin=subprocess.DEVNULL, text=True, timeout=120,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        assert done.returncode == 0, "%s\n--- said\n%s" % (block, done.stdout[-4000:])
