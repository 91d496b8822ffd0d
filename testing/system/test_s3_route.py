# SPDX-License-Identifier: BSD-3-Clause
"""Where requests of S3 go: to another region that the service names, and over one connection of HTTP/2."""
import json
import socket
import subprocess

import pytest

import conftest
import s3_proxy
import s3_support
from s3_support import SMALL, has_the_backend, certificates, no_keys, proxy, rclone, rclone_server  # noqa


@pytest.fixture
def other(rclone, tmp_path):
    """Another endpoint of the same service."""
    with s3_support.proxied(rclone, tmp_path) as (proxy, _):
        yield proxy


def region_of(request):
    """That of its signature."""
    return request.headers["authorization"].split("/")[2]


@pytest.mark.parametrize("np, mode", [(None, "--depth=4 -F"), (3, ""), (2, "--s3.object=transfer --depth=8")])
def test_requests_follow_to_another_region_once_and_that_is_said(ior, proxy, other, np, mode):
    proxy.rule(s3_proxy.redirect(other.url))
    run = ior(SMALL + "-w -r -R -i 2 %s -o %s" % (mode, proxy.store.name("x")), np=np, env=proxy.store.env).ok()
    assert "requests of task 0 from %s to %s, region 'eu-test-2'" % (proxy.url, other.url) in run.stdout + run.stderr, run
    assert 1 <= proxy.count() <= 9 * (np or 1) and other.count() > proxy.count()
    assert {region_of(r) for r in other.asked()} == {"eu-test-2"}
    proxy.behind.is_clean()


@pytest.mark.parametrize("status", [301, 400])
def test_a_region_alone_changes_the_signature(ior, proxy, status):
    def do(request, ask):
        if region_of(request) == "eu-test-2":
            return ask()
        return s3_proxy.error(status, "AuthorizationHeaderMalformed", headers={"x-amz-bucket-region": "eu-test-2"}, Region="eu-test-2")(request, ask)
    proxy.rule(do)
    run = ior(SMALL + "-w -r -R -o " + proxy.store.name("x"), np=None, env=proxy.store.env).ok()
    assert "region 'eu-test-2'" in run.stdout + run.stderr and [region_of(r) for r in proxy.asked()].count(s3_support.REGION) == 1, run


def test_a_second_redirect_is_an_error_with_what_would_reach_the_place(ior, proxy, other):
    proxy.rule(s3_proxy.redirect(other.url))
    other.rule(s3_proxy.redirect("http://127.0.0.1:1", region="far-test-3"))
    run = ior(SMALL + "-w -F -o " + proxy.store.name("x"), np=None, env=proxy.store.env).fails(3, "--s3.region=far-test-3", other.host)
    assert proxy.count() == 1 <= other.count(), run


def test_without_a_redirect_nothing_is_said(ior, proxy):
    run = ior(SMALL + "-w -r -R -o " + proxy.store.name("x"), np=None, env=proxy.store.env).ok()
    assert "requests of task 0 from" not in run.stdout + run.stderr, run


# ---- HTTP/2 ----

def free_port():
    """A port that nobody has now."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def listening(words, errors):
    """A server of nghttpx that listens, and its port. It takes no port 0, and ends where somebody
    else has taken the free one meanwhile."""
    for _ in range(5):
        port = free_port()
        errors.write_text("")
        own = ["--frontend=127.0.0.1,%d" % port, "--errorlog-file=%s" % errors]
        server = subprocess.Popen(words[:1] + own + words[1:], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        ready = "Listening on 127.0.0.1:%d" % port
        conftest.wait_until(lambda: server.poll() is not None or ready in errors.read_text())
        if server.poll() is None:
            return server, port
    raise AssertionError(errors.read_text())


@pytest.fixture
def http2(rclone, certificates, tmp_path):
    """A bucket behind a proxy that speaks HTTP/2, and the file with a line for each of its requests."""
    program, log = s3_support.need_program("nghttpx", "nghttp2-proxy"), tmp_path / "requests"
    server, port = listening(
        [program, "--conf=/dev/null", "--no-ocsp", "--workers=1",
         "--backend=" + rclone.host.replace(":", ","),
         "--accesslog-file=%s" % log, "--accesslog-format=$alpn $remote_port $request",
         str(certificates / "server.key"), str(certificates / "server.pem")], tmp_path / "errors")
    try:
        yield s3_support.Store("rclone", "https://127.0.0.1:%d" % port, tmp_path, certificates / "ca.pem", bucket=rclone.bucket), log
    finally:
        server.kill()
        server.wait()


def lines(log, alpn):
    return [line.split() for line in log.read_text().splitlines() if line.startswith(alpn + " ")]


@pytest.mark.parametrize("version, alpn", [("2", "h2"), ("1.1", "http/1.1")])
def test_many_requests_share_a_connection_of_http2(ior, http2, version, alpn):
    store, log = http2
    run = ior(SMALL + "--s3.http=%s -w -r -R -b 1m --depth=16 --findings --report=text:-,json:r.json -o %s" % (version, store.name("x")),
              np=None, env=store.env).ok()
    asked = lines(log, alpn)
    assert len([words for words in asked if words[2] == "PUT"]) == 16, log.read_text()
    ports = {words[1] for words in asked}
    found = {f["id"]: f for f in json.loads((ior.cwd / "r.json").read_text())["tests"][0]["findings"]}
    if version == "2":
        assert len(ports) == 1 and found["H42"]["outcome"] == "found" and found["H42"]["value"] == 16, (ports, run)
    else:
        assert len(ports) > 4 and found["H42"]["outcome"] == "fine", (ports, run)
