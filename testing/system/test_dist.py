# SPDX-License-Identifier: BSD-3-Clause
"""The package of make dist: what a build in the source tree left there stays out of it."""
import os
import shutil
import subprocess

import conftest


def test_programs_of_earlier_builds_are_not_packed(tmp_path):
    """Also of tests that are there no more, which no list has; scripts, and what the package needs, stay."""
    folder = tmp_path / "testing" / "unit"
    folder.mkdir(parents=True)
    for name in ("test_gone", "test_opt"):
        shutil.copy(shutil.which("true"), folder / name)
    (folder / "test_wrapped").write_text("#! /bin/sh\n# test_wrapped - temporary wrapper script for .libs/test_wrapped\n# libtool wrapper\n")
    kept = {"run.sh": "#!/bin/sh\nexit 0\n", "test_opt.c": "int main(void);\n", "sample.bin": "\x7fELF"}
    for name, text in kept.items():
        (folder / name).write_text(text)
    for name in ("test_wrapped", "run.sh"):
        os.chmod(folder / name, 0o755)
    done = subprocess.run(["make", "-s", "dist-hook", "distdir=" + str(tmp_path)], cwd=conftest.BUILD, capture_output=True, text=True,
                          env=conftest.program_env(), timeout=120)
    assert done.returncode == 0 and set(os.listdir(folder)) == set(kept), (done, os.listdir(folder))
