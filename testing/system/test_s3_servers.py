# SPDX-License-Identifier: BSD-3-Clause
"""The servers of the tests of S3 and the proxy before them do what the tests take for granted."""
import http.client
import subprocess
import threading

import pytest

import s3_proxy
import s3_support
from s3_support import certificates, moto, moto_server, no_keys, proxy, rclone, rclone_server, rclone_tls, rclone_tls_server, store


def curl(store, *words, secret=s3_support.SECRET):
    """What curl, which signs by itself, says: status and body."""
    s3_support.need_program("curl")
    keys = ["--aws-sigv4", "aws:amz:%s:s3" % s3_support.REGION, "--user", "%s:%s" % (s3_support.ID, secret)]
    ca = ["--cacert", str(store.ca)] if store.ca else []
    run = subprocess.run(["curl", "-s", "-w", "\n%{http_code}", *keys, *ca, *words], capture_output=True)
    body, _, status = run.stdout.rpartition(b"\n")
    return int(status), body


def test_a_server_answers_requests_that_curl_signed(store, tmp_path):
    (tmp_path / "data").write_bytes(bytes(range(256)) * 400)
    url = "%s/%s/a/b" % (store.url, store.bucket)
    assert curl(store, "-T", str(tmp_path / "data"), url)[0] == 200
    assert curl(store, url) == (200, bytes(range(256)) * 400)
    assert curl(store, "-r", "100-103", url) in [(206, b"defg"), (200, b"defg")]  # rclone says Content-Range, but not 206
    assert store.keys() == {"a/b": 102400} and store.uploads() == []


def test_our_own_client_signs_as_the_server_does(store):
    store.put("x/y z+é", b"data")
    assert store.get("x/y z+é") == b"data" and store.keys("x/") == {"x/y z+é": 4}


def test_rclone_refuses_a_wrong_key(rclone):
    assert curl(rclone, "%s/%s" % (rclone.url, rclone.bucket), secret="another")[0] == 403
    assert rclone.ask("GET", "x", secret="another")[0] == 403


def test_a_server_with_a_private_authority_is_trusted_only_with_its_certificate(rclone_tls):
    rclone_tls.put("x", b"data")
    url = "%s/%s/x" % (rclone_tls.url, rclone_tls.bucket)
    assert curl(rclone_tls, url) == (200, b"data")
    rclone_tls.ca = None
    assert curl(rclone_tls, url) == (0, b"")


def test_an_upload_that_is_not_completed_is_listed(store):
    _, _, body = store.ask("POST", "up", {"uploads": ""})
    upload = s3_support.without_namespace(body).findtext("UploadId")
    assert store.uploads() == ["up"] and store.keys() == {}
    assert store.ask("DELETE", "up", {"uploadId": upload})[0] == 204
    store.is_clean()


def test_moto_refuses_a_part_that_is_too_small(moto):
    upload = s3_support.without_namespace(moto.ask("POST", "up", {"uploads": ""})[2]).findtext("UploadId")
    tags = [moto.ask("PUT", "up", {"partNumber": n, "uploadId": upload}, b"x" * s3_support.LEAST * (n - 1) or b"small")[1]["ETag"] for n in (1, 2)]
    parts = "".join("<Part><PartNumber>%d</PartNumber><ETag>%s</ETag></Part>" % pair for pair in enumerate(tags, 1))
    done = moto.ask("POST", "up", {"uploadId": upload}, b"<CompleteMultipartUpload>%s</CompleteMultipartUpload>" % parts.encode())
    assert done[0] == 400 and b"EntityTooSmall" in done[2]


# ---- the proxy ----

def test_a_proxy_without_rules_changes_nothing_and_notes_all(proxy):
    proxy.store.put("a", b"12345")
    assert proxy.store.get("a") == b"12345" == proxy.behind.get("a")
    assert [(r.method, r.status, len(r.body)) for r in proxy.asked()] == [("PUT", 200, 5), ("GET", 200, 0)]
    assert proxy.connections == 2 and proxy.most_in_flight == 1 and s3_support.SECRET not in repr([r.headers for r in proxy.asked()])


def test_the_proxy_keeps_connections(proxy):
    proxy.behind.put("a", b"12345")
    connection = http.client.HTTPConnection(proxy.host)
    for _ in range(3):
        connection.request("GET", "/%s/a" % proxy.store.bucket, headers=s3_support.signed("GET", proxy.host, "/%s/a" % proxy.store.bucket, "", b""))
        assert connection.getresponse().read() == b"12345"
    connection.close()
    assert proxy.count("GET") == 3 and proxy.connections == 1 == proxy.most_open


def test_the_first_or_each_third_request_is_refused(proxy):
    proxy.rule(s3_proxy.slow_down(), method="PUT", first=2)
    assert [proxy.store.ask("PUT", "a", body=b"1")[0] for _ in range(4)] == [503, 503, 200, 200]
    proxy.rule(s3_proxy.internal(), method="GET", path="/a$", every=3)
    assert [proxy.store.ask("GET", "a")[0] for _ in range(6)] == [200, 200, 500, 200, 200, 500]
    proxy.rule(s3_proxy.error(400, "ExpiredToken"), query="list-type", after=1)
    assert [proxy.store.ask("GET", query={"list-type": 2})[0] for _ in range(3)] == [200, 400, 400]


@pytest.mark.parametrize("do, is_done", [(s3_proxy.drop, False), (s3_proxy.drop_after, True)])
def test_a_connection_is_lost_before_or_after_the_server_did_it(proxy, do, is_done):
    proxy.rule(do, method="PUT")
    with pytest.raises(http.client.RemoteDisconnected):
        proxy.store.ask("PUT", "a", body=b"1")
    assert ("a" in proxy.behind.keys()) == is_done


def test_answers_are_changed(proxy):
    proxy.store.put("a", b"12345")
    rules = {
        "a": (s3_proxy.corrupt(2), b"12245"),
        "b": (s3_proxy.changed(body=lambda body: body + b"more"), b"12345more"),
        "c": (s3_proxy.changed(lie=3), b"123"),
    }
    for do, body in rules.values():
        proxy.rules.clear()
        proxy.rule(do, method="GET")
        assert proxy.store.get("a") == body
    for do in (s3_proxy.truncate(3), s3_proxy.changed(lie=9)):
        proxy.rules.clear()
        proxy.rule(do, method="GET")
        with pytest.raises(http.client.IncompleteRead):
            proxy.store.get("a")
    proxy.rules.clear()
    proxy.rule(s3_proxy.changed(headers={"etag": '"other"', "last-modified": None}))
    headers = proxy.store.ask("HEAD", "a")[1]
    assert headers["ETag"] == '"other"' and headers["Last-Modified"] is None and headers["Content-Length"] == "5"


def test_what_is_sent_is_changed_on_its_way(proxy):
    proxy.rule(s3_proxy.corrupt_sent(1), method="PUT")
    status, _, body = proxy.store.ask("PUT", "a", body=b"12345")
    assert status != 200 or proxy.behind.get("a") == b"13345", body


def test_answers_of_a_clock_and_of_another_region(proxy):
    proxy.rule(s3_proxy.skewed(3600), path="skewed")
    status, headers, body = proxy.store.ask("GET", "skewed")
    assert status == 403 and b"RequestTimeTooSkewed" in body and headers["Date"]
    proxy.rule(s3_proxy.redirect("http://127.0.0.1:1"), path="other")
    status, headers, body = proxy.store.ask("GET", "other")
    assert status == 307 and headers["Location"] == "http://127.0.0.1:1/%s/other" % proxy.store.bucket and b"TemporaryRedirect" in body


def test_a_failure_of_the_server_itself_is_asked_again_by_the_proxy(proxy, tmp_path):
    proxy.rule(s3_proxy.internal(), method="PUT", first=1)
    with s3_support.seen_through_a_proxy(proxy.store, tmp_path) as outer:
        assert outer.store.ask("PUT", "a", body=b"1")[0] == 200 and (outer.count("PUT"), proxy.count("PUT")) == (1, 2)
        proxy.rule(s3_proxy.internal(), method="GET")
        assert outer.store.ask("GET", "a")[0] == 500


def test_requests_in_flight_are_counted(proxy):
    proxy.rule(s3_proxy.Gate(together=4))
    threads = [threading.Thread(target=proxy.store.ask, args=("GET", "a")) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert proxy.most_in_flight == 4 == proxy.connections


def test_a_proxy_with_a_certificate_of_a_private_authority(rclone, certificates, tmp_path):
    with s3_support.proxied(rclone, tmp_path, tls=certificates) as (proxy, store):
        store.put("a", b"12345")
        assert proxy.url.startswith("https:") and rclone.get("a") == b"12345"
