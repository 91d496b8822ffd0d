# SPDX-License-Identifier: BSD-3-Clause
"""ior on objects: each mode with each server, what a service does wrong, and what a run that ends early leaves."""
import os
import signal

import pytest

import s3_proxy
from s3_support import (SMALL, certificates, has_the_backend, moto, moto_server, no_keys, proxy, rclone, rclone_server, rclone_tls,  # noqa
                        rclone_tls_server, silent, store, end_an_upload)


@pytest.mark.parametrize("np, mode", [
    *((np, mode) for np in (1, 3) for mode in ("", "-F", "--s3.object=transfer", "-s 2", "-Z -R", "-z -F", "--depth=32", "--s3.part=128k -F", "-C -R")),
    *((5, mode) for mode in ("", "-F", "--s3.object=transfer"))])
def test_what_was_written_is_read_and_is_right(ior, rclone, np, mode):
    run = silent(ior(SMALL + "-w -r -W -R -k %s -o %s" % (mode, rclone.name("d/x")), np=np, env=rclone.env).ok())
    segments = 2 if "-s 2" in mode else 1
    assert sum(rclone.keys("d/").values()) == np * 256 * 1024 * segments and rclone.uploads() == [], run


@pytest.mark.parametrize("mode", ["", "-F", "--s3.object=transfer -F", "-z -F --depth=4"])
def test_moto_has_what_was_written_and_nothing_afterwards(ior, moto, mode):
    silent(ior(SMALL + "-w -r -R %s -o %s" % (mode, moto.name("d/x")), np=2, env=moto.env).ok())
    moto.is_clean()


def test_a_dry_run_asks_for_nothing(ior, proxy):
    ior(SMALL + "--dry-run -o " + proxy.store.name("x"), np=1, env=proxy.store.env).ok()
    assert proxy.asked() == []


def test_parts_are_put_once_each_over_few_connections(ior, proxy):
    silent(ior(SMALL + "-F -w -k --depth=4 -o " + proxy.store.name("x"), np=1, env=proxy.store.env).ok())
    assert sorted(r.part for r in proxy.asked("PUT")) == [1, 2, 3, 4] and proxy.connections <= 5, proxy.asked()
    assert proxy.count("POST", "uploads") == 1 == proxy.count("POST", "uploadId")


@pytest.mark.parametrize("do", [s3_proxy.slow_down(), s3_proxy.internal(), s3_proxy.drop, s3_proxy.drop_after])
def test_what_fails_for_a_moment_is_sent_again_and_said(ior, proxy, do):
    proxy.rule(do, method="PUT", part=2, first=2)
    run = silent(ior(SMALL + "--findings -F -w -r -R -o " + proxy.store.name("x"), np=1, env=proxy.store.env).ok())
    assert proxy.count("PUT") == 6 and "H28" in run.stdout + run.stderr, run


def test_retries_end(ior, proxy):
    proxy.rule(s3_proxy.slow_down(), method="PUT")
    ior(SMALL + "-F -w --s3.retries=1 -o " + proxy.store.name("x"), np=1, env=proxy.store.env).fails(3, "SlowDown", proxy.host)
    assert proxy.count("PUT") == 2 and proxy.behind.uploads() == []


@pytest.mark.parametrize("do", [s3_proxy.corrupt(100), s3_proxy.changed(body=lambda body: body + b"more")])
def test_wrong_data_are_found_by_a_check(ior, proxy, do):
    words = SMALL + "-F -G 7 -k -o %s " % proxy.store.name("x")
    ior(words + "-w -R", np=1, env=proxy.store.env).ok()
    ior(words + "-R", np=1, env=proxy.store.env).ok()
    proxy.rule(do, method="GET", path="x")
    assert ior(words + "-R -r", np=1, env=proxy.store.env).returncode in (3, 4)


@pytest.mark.parametrize("do, words", [
    (s3_proxy.error(403, "AccessDenied"), "AccessDenied"), (s3_proxy.error(400, "ExpiredToken"), "ExpiredToken"),
    (s3_proxy.skewed(3600), "RequestTimeTooSkewed"), (s3_proxy.error(404, "NoSuchBucket"), "NoSuchBucket")])
def test_a_refusal_is_one_line_with_the_words_of_the_service_and_is_not_repeated(ior, proxy, do, words):
    proxy.rule(do)
    run = ior(SMALL + "-F -w -o " + proxy.store.name("x"), np=1, env=proxy.store.env)
    assert run.returncode != 0 and words in run.stderr and proxy.store.bucket in run.stderr, run


def page(*keys, more=""):
    """A page of a listing; more: it goes on with this token."""
    rows = "".join("<Contents><Key>%s</Key><Size>1</Size></Contents>" % key for key in keys)
    rest = more and "<IsTruncated>true</IsTruncated><NextContinuationToken>%s</NextContinuationToken>" % more
    answer = s3_proxy.Answer(200, {"Content-Type": "application/xml"}, ("<ListBucketResult>%s%s</ListBucketResult>" % (rows, rest)).encode())
    return lambda request, ask: answer


@pytest.mark.parametrize("rows, words", [
    (page("q"), "a key without the requested prefix"), (page("other/key"), "a key without the requested prefix"), (page(more="same"), "an endless listing")])
def test_a_listing_of_other_keys_or_without_an_end_is_an_error_and_nothing_is_removed(ior, proxy, rows, words):
    proxy.behind.put("other/key", b"x")
    ior(SMALL + "-F -w -k --s3.object=transfer -o " + proxy.store.name("d/x"), np=1, env=proxy.store.env).ok()
    proxy.rule(rows, method="GET", query="list-type")
    ior(SMALL + "-F -r --s3.object=transfer -o " + proxy.store.name("d/x"), np=1, env=proxy.store.env).fails(3)
    run = ior(SMALL + "-F -w --s3.object=transfer -o " + proxy.store.name("d/x"), np=1, env=proxy.store.env).fails(3)
    assert words in run.stderr and proxy.count("DELETE") + proxy.count("POST") == 0 and "other/key" in proxy.behind.keys(), run


@pytest.mark.parametrize("status, words", [(431, "431 Request Header Fields Too Large"), (418, "418 without a reason")])
def test_an_answer_without_words_gets_some(ior, proxy, status, words):
    proxy.rule(lambda request, ask: s3_proxy.Answer(status))
    ior(SMALL + "-F -w -o " + proxy.store.name("x"), np=1, env=proxy.store.env).fails(3, words)


def test_nobody_listens(ior, rclone):
    run = ior(SMALL + "-F -w -o " + rclone.name("x"), np=1, env={**rclone.env, "AWS_ENDPOINT_URL": "http://127.0.0.1:1"})
    assert run.returncode != 0 and len(run.errors) == 1 and "127.0.0.1:1" in run.errors[0], run


def test_a_wrong_secret_is_not_shown(ior, rclone):
    run = ior(SMALL + "-F -w -o " + rclone.name("x"), np=1, env={**rclone.env, "AWS_SECRET_ACCESS_KEY": "quite-another-secret"})
    assert run.returncode != 0 and "SignatureDoesNotMatch" in run.stderr and "quite-another" not in run.stdout + run.stderr, run


@pytest.mark.parametrize("trusted", [True, False])
def test_https_with_a_private_authority(ior, rclone_tls, trusted):
    env = {k: v for k, v in rclone_tls.env.items() if trusted or k != "AWS_CA_BUNDLE"}
    run = ior(SMALL + "-F -w -r -R -o " + rclone_tls.name("x"), np=1, env=env)
    assert (run.returncode == 0) == trusted and (trusted or "certificate" in run.stderr), run


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_aborts_the_upload(ior, proxy, number):
    run = end_an_upload(ior, proxy, lambda proc: os.kill(proc.pid, number), "-F")
    assert run.returncode != 0, run
    proxy.behind.is_clean()


def test_sigkill_leaves_what_the_guide_says(ior, proxy):
    end_an_upload(ior, proxy, lambda proc: os.kill(proc.pid, signal.SIGKILL), "-F")
    assert len(proxy.behind.uploads()) == 1 and proxy.behind.keys() == {}
