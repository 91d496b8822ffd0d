# SPDX-License-Identifier: BSD-3-Clause
"""Keys: where they come from, and that they are in no output and in no core file."""
import os
import pathlib
import resource
import signal

import pytest

import conftest
import s3_proxy
import s3_support
from s3_support import (SMALL, has_the_backend, ID, SECRET, moto, moto_proxy, moto_server, no_keys, proxied, proxy, rclone, rclone_server)  # noqa

TOKEN = "FwoGZXIvYXdzEXAMPLE/session+token"
EVERYTHING = ("-v -v -v -v --findings --report=text:-,json:out.json,csv:out.csv --savePerOpDataCSV=ops --saveRankPerformanceDetailsCSV=ranks "
              "--timeline=line.npy ")


def without_keys(env):
    return {k: v for k, v in env.items() if "KEY" not in k and "TOKEN" not in k}


def silent(run):
    """No key, and no signature, in what the run has said and written."""
    texts = [run.stdout, run.stderr] + [p.read_bytes().decode("latin-1") for p in run.cwd.rglob("*") if p.is_file()]
    for text in texts:
        for secret in (SECRET, ID, TOKEN, "Signature=", "AWS4"):
            assert secret not in text, (secret, text)
    return run


def profile(store, name, **settings):
    """A profile in the home of the run."""
    where = store.home / ".aws"
    where.mkdir(exist_ok=True)
    with open(where / "credentials", "a") as f:
        f.write("[%s]\n%s\n" % (name, "".join("%s = %s\n" % pair for pair in settings.items())))


KEYS = {"aws_access_key_id": ID, "aws_secret_access_key": SECRET}


def test_no_key_is_in_any_output(ior, proxy):
    env = {**proxy.store.env, "AWS_SESSION_TOKEN": TOKEN}
    run = silent(ior(SMALL + EVERYTHING + "-w -r -o " + proxy.store.name("x"), np=2, env=env).ok())
    assert "out.json" in run.cwd.joinpath("out.json").name and "the environment" in (run.cwd / "out.json").read_text()
    assert {r.headers["x-amz-security-token"] for r in proxy.asked()} == {TOKEN}


@pytest.mark.parametrize("code", ["InvalidAccessKeyId", "SignatureDoesNotMatch"])
def test_no_key_is_in_the_words_of_a_refusal(ior, proxy, code):
    """The answers of AWS have the key's id and what was signed beside the message."""
    proxy.rule(s3_proxy.error(403, code, "It is not yours.", AWSAccessKeyId=ID, SignatureProvided="0" * 64,
                              StringToSign="AWS4-HMAC-SHA256 x", SecurityToken=TOKEN))
    run = silent(ior(SMALL + EVERYTHING + "-w -o " + proxy.store.name("x"), np=1, env={**proxy.store.env, "AWS_SESSION_TOKEN": TOKEN}))
    assert run.returncode != 0 and code in run.stderr, run


@pytest.mark.parametrize("options, env", [("--s3.profile=mine", {}), ("", {"AWS_PROFILE": "mine"}), ("--s3.profile=mine", {"AWS_PROFILE": "other"})])
def test_keys_of_a_profile(ior, rclone, options, env):
    profile(rclone, "default", aws_access_key_id="a", aws_secret_access_key="b")
    profile(rclone, "mine", **KEYS)
    run = silent(ior(SMALL + EVERYTHING + "-w -r %s -o %s" % (options, rclone.name("x")), np=2, env={**without_keys(rclone.env), **env}).ok())
    assert "profile 'mine' of" in (run.cwd / "out.json").read_text()


def test_the_profile_default_is_last_and_has_region_and_endpoint(ior, proxy):
    profile(proxy.store, "default", endpoint_url=proxy.url, region="eu-west-9", **KEYS)
    env = {"HOME": proxy.store.env["HOME"]}
    silent(ior(SMALL + "-w -r -o " + proxy.store.name("x"), np=1, env=env).ok())
    assert all(s3_support.is_signed(r, region="eu-west-9") for r in proxy.asked())
    proxy.forget()
    ior(SMALL + "-w -o " + proxy.store.name("x"), np=1, env={**env, "AWS_ACCESS_KEY_ID": "another", "AWS_SECRET_ACCESS_KEY": "one"})
    assert all("Credential=another/" in r.headers["authorization"] for r in proxy.asked())


@pytest.mark.parametrize("options, env, words", [
    ("--s3.profile=none", {}, ["profile 'none'"]), ("", {"AWS_PROFILE": "none"}, ["profile 'none'", "AWS_PROFILE"]),
    ("", {"AWS_ACCESS_KEY_ID": ID}, ["AWS_SECRET_ACCESS_KEY"]), ("--s3.endpoints=http://me:%s@127.0.0.1:1" % SECRET, {}, ["password"]),
    ("", {"AWS_ENDPOINT_URL": "http://127.0.0.1:1/?key=" + SECRET}, ["query"]), ("", {"AWS_ACCESS_KEY_ID": ID, "AWS_SECRET_ACCESS_KEY": SECRET + "\n"}, ["secret key"])])
def test_keys_that_cannot_be_are_refused_and_not_shown(ior, rclone, options, env, words):
    run = silent(ior(SMALL + "-w %s -o %s" % (options, rclone.name("x")), np=2, env={**without_keys(rclone.env), **env}))
    assert run.returncode != 0 and len(run.errors) == 1 and all(word in run.errors[0] for word in words), run


def test_without_keys_nothing_is_signed_and_that_is_said(ior, rclone, moto_proxy):
    run = ior(SMALL + "-w -r -o " + moto_proxy.store.name("x"), np=2, env=without_keys(moto_proxy.store.env)).ok()
    assert "not signed" in " ".join(run.notes) and not any("authorization" in r.headers for r in moto_proxy.asked()), run
    run = ior(SMALL + "-w -o " + rclone.name("x"), np=1, env=without_keys(rclone.env))
    assert run.returncode != 0 and "not signed: this task has found no keys" in run.stderr, run


def cores(cwd):
    return [p for p in cwd.rglob("*core*") if p.is_file()]


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT])
def test_no_key_is_in_a_core_file(ior, proxy, number):
    """There is none. A program without keys of its own has one, with the keys of its environment."""
    pattern = pathlib.Path("/proc/sys/kernel/core_pattern").read_text().strip()
    if conftest.SANITIZED or "/" in pattern or pattern.startswith("|") or resource.getrlimit(resource.RLIMIT_CORE)[1] != resource.RLIM_INFINITY:
        pytest.skip("core files are not written into the current directory here")
    unlimited = ["/bin/sh", "-c", 'ulimit -c unlimited; exec "$@"', "sh"]
    proxy.rule(s3_proxy.Gate(), method="PUT")
    proc = ior.start(SMALL + "-w -o " + proxy.store.name("x"), np=None, env=proxy.store.env, prefix=unlimited)
    conftest.wait_until(lambda: proxy.count("PUT") > 0)
    assert SECRET.encode() in pathlib.Path("/proc", str(proc.pid), "environ").read_bytes()
    assert SECRET not in pathlib.Path("/proc", str(proc.pid), "cmdline").read_text()
    os.kill(proc.pid, number)
    silent(ior.finish(proc))
    assert cores(ior.cwd) == []
    proc = ior.start("-a DUMMY --dummy.delay-xfer=2000000 -w -t 64k -b 64k", np=None, env=proxy.store.env, prefix=unlimited)
    ior.wait_for_delay(proc, [proc.pid])
    os.kill(proc.pid, number)
    ior.finish(proc)
    found = cores(ior.cwd)
    assert any(SECRET.encode() in core.read_bytes() for core in found), found
