# SPDX-License-Identifier: BSD-3-Clause
"""What networks and services do on bad days: it is tried again and told, or it is one line that says what was asked of whom."""
import json
import re

import pytest

import s3_proxy
import s3_support
from mdtest_support import mdtest  # noqa
from s3_support import (has_the_backend, finding, judged, moto, moto_proxy, moto_server, no_keys, proxied, proxy, rclone, rclone_server, store)  # noqa

SMALL = s3_support.SMALL + "-G 7 "  # without -G the data are those of the second in which it began
JSON = "--report=json:r.json "


def kept(ior, proxy, mode="-F"):
    """An object of four parts, to be read through the proxy."""
    ior(SMALL + "%s -w -k -o %s" % (mode, proxy.store.name("x")), np=1, env=proxy.store.env).ok()
    proxy.forget()


def names_it(run, proxy, *words):
    """One line, with the bucket, the key and the endpoint."""
    assert run.returncode != 0 and len(run.errors) == 1, run
    for word in (proxy.store.bucket, "/x", proxy.url, *words):
        assert word in run.errors[0], (word, run)
    return run


# ---- reading ----

@pytest.mark.parametrize("do", [s3_proxy.truncate(1000), s3_proxy.changed(lie=70000), s3_proxy.truncate(0), s3_proxy.drop,
                                s3_proxy.error(429, "TooManyRequests"), s3_proxy.error(504, "GatewayTimeout"),
                                s3_proxy.error(400, "RequestTimeout")])
def test_a_read_that_is_cut_off_is_asked_again(ior, proxy, do):
    kept(ior, proxy)
    proxy.rule(do, method="GET", first=2)
    run = ior(SMALL + "-F -R -k " + JSON + "-o " + proxy.store.name("x"), np=1, env=proxy.store.env).ok()
    assert proxy.count("GET") == 4 + 2 and re.match(r"2 of \d+ requests", finding(run, "H28")["text"]), run


@pytest.mark.parametrize("mode", ["-F", "--s3.object=transfer"])
@pytest.mark.parametrize("do, words", [(s3_proxy.truncate(1000), "tried 2 times"), (s3_proxy.changed(body=lambda body: body + b"more"), "more than the 65536 requested bytes")])
def test_a_service_that_always_sends_other_amounts_is_an_error(ior, proxy, mode, do, words):
    kept(ior, proxy, mode)
    proxy.rule(do, method="GET", query="^$")
    names_it(ior(SMALL + "%s -r -k --s3.retries=1 -o %s" % (mode, proxy.store.name("x")), np=1, env=proxy.store.env), proxy, words)


def test_an_answer_that_is_short_by_its_own_words(ior, proxy):
    """Of a range it is no answer; of an object it is what there is, and the rest is asked for."""
    kept(ior, proxy)
    proxy.rule(s3_proxy.changed(lie=100), method="GET")
    names_it(ior(SMALL + "-F -r -k -o " + proxy.store.name("x"), np=1, env=proxy.store.env), proxy, "bytes 0-65535, but has 100 bytes")
    proxy.rules.clear()
    kept(ior, proxy, "--s3.object=transfer")
    proxy.rule(s3_proxy.changed(lie=100), method="GET", query="^$", first=1)
    run = ior(SMALL + "--s3.object=transfer -R -k %s -o %s" % (JSON, proxy.store.name("x")), np=1, env=proxy.store.env).ok()
    assert finding(run, "H28")["text"] == "1 short transfers or retried calls"


@pytest.mark.parametrize("headers, words", [
    ({"content-range": None}, "does not report its range"), ({"content-range": "bytes 0-65535/262144"}, "has 0-65535"),
    ({"content-range": "bytes 65536-131000/262144"}, "has 65536-131000")])
def test_another_range_than_was_asked_for_is_an_error(ior, proxy, headers, words):
    kept(ior, proxy)
    proxy.rule(s3_proxy.changed(headers=headers), method="GET", after=1)
    run = ior(SMALL + "-F -r -k -o " + proxy.store.name("x"), np=1, env=proxy.store.env)
    names_it(run, proxy, "bytes 65536-131071 were requested", words)


@pytest.mark.parametrize("mode", ["-F", "--s3.object=transfer", "-F --depth=4"])
def test_a_bit_that_is_another_one_is_found_by_a_check_only(ior, proxy, mode):
    kept(ior, proxy, mode)
    proxy.rule(s3_proxy.corrupt(4000), method="GET", query="^$", after=2, first=1)
    run = ior(SMALL + "%s -R -k -o %s" % (mode, proxy.store.name("x")), np=1, env=proxy.store.env)
    assert run.returncode == 4 and "wrong data in 1 place" in run.stderr, run
    ior(SMALL + "%s -r -R -k -o %s" % (mode, proxy.store.name("x")), np=1, env=proxy.store.env).ok()


def test_an_object_that_is_shorter_than_the_run_wants(ior, proxy):
    proxy.store.put("x.00000000", b"x" * 100000)
    run = ior(SMALL + "-F -r -k -o " + proxy.store.name("x"), np=1, env=proxy.store.env)
    assert run.returncode != 0 and len(run.errors) == 1 and "x.00000000" in run.errors[0], run


def test_an_object_of_a_transfer_that_has_more_bytes_is_found_by_a_range_of_it(ior, proxy):
    """No request more is made than for an object of the right length."""
    kept(ior, proxy, "--s3.object=transfer")
    key = "x/%016x" % 65536
    proxy.store.put(key, bytes(proxy.store.get(key)) + b"more")
    run = ior(SMALL + "-t 16k --s3.object=transfer -r -k -o " + proxy.store.name("x"), np=1, env=proxy.store.env)
    names_it(run, proxy, "x/%016x" % 65536, "the object has 65540 bytes, and one of a transfer 65536")


def test_lists_that_are_no_lists(ior, proxy):
    kept(ior, proxy, "--s3.object=transfer")
    for body in (b"<html>no</html>", b"<ListBucketResult><Contents><Key>x", b""):
        proxy.rules.clear()
        proxy.rule(s3_proxy.changed(body=lambda _: body), method="GET", query="list-type")
        run = ior(SMALL + "--s3.object=transfer -r -k -o " + proxy.store.name("x"), np=1, env=proxy.store.env)
        assert run.returncode == 3 and len(run.errors) == 1, (body, run)
        assert proxy.url + "/" + proxy.store.bucket in run.errors[0] or "find objects s3://" in run.errors[0], (body, run)


# ---- writing ----

@pytest.mark.parametrize("np", [1, 3])
@pytest.mark.parametrize("do", [s3_proxy.lose(0), s3_proxy.lose(50000), s3_proxy.drop_after])
def test_a_connection_that_is_lost_in_a_part(ior, proxy, np, do):
    proxy.rule(do, method="PUT", first=np)
    ior(SMALL + "-w -W -k -o " + proxy.store.name("x"), np=np, env=proxy.store.env).ok()
    assert proxy.count("PUT") == 5 * np and proxy.behind.keys() == {"x": np * 4 * 65536} and proxy.behind.uploads() == []


@pytest.mark.parametrize("retries", [0, 1, 3])
def test_a_connection_that_is_always_lost_is_tried_as_often_as_was_asked(ior, proxy, retries):
    """Also where libcurl would do it by itself: part 2 is sent over the connection of part 1."""
    proxy.rule(s3_proxy.drop, method="PUT", part=2)
    run = ior(SMALL + "-F -w --s3.retries=%d -o %s" % (retries, proxy.store.name("x")), np=1, env=proxy.store.env)
    names_it(run, proxy, *["(tried %d times)" % (retries + 1)] if retries else [])
    assert [r.part for r in proxy.asked("PUT")] == [1] + [2] * (retries + 1), proxy.asked()
    proxy.behind.is_clean()


def test_bytes_that_are_changed_on_their_way_are_found_by_a_check(ior, proxy):
    proxy.rule(s3_proxy.corrupt_sent(70), method="PUT", part=3)
    run = ior(SMALL + "-w -W -o " + proxy.store.name("x"), np=1, env=proxy.store.env)
    assert run.returncode == 4 and "wrong data in 1 place" in run.stderr, run
    proxy.behind.is_clean()


def test_a_part_without_etag_is_an_error(ior, proxy):
    proxy.rule(s3_proxy.changed(headers={"etag": None}), method="PUT", part=3)
    ior(SMALL + "-w -o " + proxy.store.name("x"), np=1, env=proxy.store.env).fails(3, "part 3", "no ETag")
    proxy.behind.is_clean()


def test_an_upload_without_id_is_an_error(ior, proxy):
    proxy.rule(s3_proxy.changed(body=lambda _: b"<InitiateMultipartUploadResult><Bucket>b</Bucket></InitiateMultipartUploadResult>"), method="POST")
    run = ior(SMALL + "-w -o " + proxy.store.name("x"), np=1, env=proxy.store.env).fails(3, "no upload id")
    assert "up to 1 unfinished uploads" in " ".join(run.notes), run


# ---- the end of an upload ----

def late(code):
    """The answer begins well and has an error in it."""
    return s3_proxy.error(200, code, "We encountered an internal error. Please try again.")


@pytest.mark.parametrize("np", [1, 3])
def test_an_error_in_a_good_answer_is_tried_again_and_counted(ior, proxy, np):
    proxy.rule(late("InternalError"), method="POST", query="uploadId", first=2)
    run = ior(SMALL + "-w -W -k " + JSON + "-o " + proxy.store.name("x"), np=np, env=proxy.store.env).ok()
    assert proxy.count("POST", "uploadId") == 3 and proxy.behind.keys() == {"x": np * 4 * 65536}, run
    assert re.match(r"2 of \d+ requests .*asked for 2 retries, and 0 requests", finding(run, "H28")["text"]), run


@pytest.mark.parametrize("code, tries", [("InternalError", 2), ("InvalidPart", 1), ("AccessDenied", 1)])
def test_an_error_in_a_good_answer_ends_the_run(ior, proxy, code, tries):
    proxy.rule(late(code), method="POST", query="uploadId")
    run = ior(SMALL + "-w --s3.retries=1 -o " + proxy.store.name("x"), np=2, env=proxy.store.env)
    assert run.returncode == 3 and len(run.errors) == 1 and code in run.errors[0], run
    assert proxy.count("POST", "uploadId") == tries and proxy.count("DELETE", "uploadId") > 0
    proxy.behind.is_clean()


@pytest.mark.parametrize("first", [1, 2])
@pytest.mark.parametrize("kind", ["proxy", "moto_proxy"])
def test_an_upload_that_was_completed_though_the_answer_was_lost(ior, request, kind, first):
    """The second try is told that there is no such upload."""
    proxy = request.getfixturevalue(kind)
    proxy.rule(s3_proxy.drop_after, method="POST", query="uploadId", first=first)
    ior(SMALL + "-w -R -k -o " + proxy.store.name("x"), np=1, env=proxy.store.env).ok()
    assert proxy.count("POST", "uploadId") == 1 + first and proxy.behind.keys() == {"x": 4 * 65536} and proxy.behind.uploads() == []


def test_an_upload_that_somebody_else_gave_up_is_an_error(ior, proxy):
    """NoSuchUpload at the first try, and no object."""
    proxy.rule(s3_proxy.error(404, "NoSuchUpload", "The specified multipart upload does not exist."), method="POST", query="uploadId")
    run = ior(SMALL + "-w -o " + proxy.store.name("x"), np=1, env=proxy.store.env)
    names_it(run, proxy, "NoSuchUpload")
    proxy.behind.is_clean()


@pytest.mark.parametrize("np", [1, 3])
def test_an_upload_that_cannot_be_given_up_is_told(ior, proxy, np):
    proxy.rule(s3_proxy.error(403, "AccessDenied"), method="PUT", part=2)
    proxy.rule(s3_proxy.error(403, "AccessDenied", "No deletes."), method="DELETE")
    run = ior(SMALL + "-w -o " + proxy.store.name("x"), np=np, env=proxy.store.env)
    assert run.returncode == 3 and "an unfinished multipart upload remains" in run.stderr, run
    assert proxy.behind.uploads() == ["x"] and proxy.behind.keys() == {}


# ---- many at a time ----

MODES = ["--depth=8", "-F --depth=8", "--s3.object=transfer --depth=8", "-t 16k --s3.part=128k --depth=4", "-z -F"]


@pytest.mark.parametrize("mode", MODES)
def test_a_service_that_refuses_each_third_request_gets_all_of_the_data(ior, proxy, mode):
    proxy.rule(s3_proxy.slow_down(), every=3)
    run = ior(SMALL + "-w -W -R -r --s3.retries=20 %s %s -o %s" % (mode, JSON, proxy.store.name("x")), np=3, env=proxy.store.env).ok()
    assert judged(run, "H28") == "SUSPECT" and finding(run, "H28")["value"] > 20, finding(run, "H28")
    proxy.behind.is_clean()


@pytest.mark.parametrize("mode", MODES)
def test_an_error_of_one_rank_is_one_line_and_leaves_nothing(ior, proxy, mode):
    proxy.rule(s3_proxy.error(403, "AccessDenied"), method="PUT", after=3)
    names_it(ior(SMALL + "-w %s -o %s" % (mode, proxy.store.name("x")), np=3, env=proxy.store.env), proxy, "AccessDenied")
    proxy.behind.is_clean()


def test_what_was_sent_again_is_in_each_phase(ior, proxy):
    proxy.rule(s3_proxy.slow_down(), method="PUT", first=3)
    proxy.rule(s3_proxy.drop, method="GET", path="x", first=2)
    run = ior(SMALL + "-v -w -r -F --report=text:-,json:r.json -o " + proxy.store.name("x"), np=1, env=proxy.store.env).ok()
    rows = {row["operation"]: row for row in json.loads((run.cwd / "r.json").read_text())["tests"][0]["requests"]}
    assert (rows["write"]["refused"], rows["write"]["lost"]) == (3, 0) and (rows["read"]["refused"], rows["read"]["lost"]) == (0, 2), rows
    assert re.search(r"requests of write: .* sent again: 3 \(refused\) and 0 \(lost\)", run.stdout), run
    assert re.search(r"requests of read: .* sent again: 0 \(refused\) and 2 \(lost\)", run.stdout), run


@pytest.mark.parametrize("do", [s3_proxy.slow_down(), s3_proxy.drop, s3_proxy.drop_after])
def test_mdtest_goes_on_after_what_fails_for_a_moment(mdtest, proxy, do):
    """A removal that was done though its answer was lost is done again."""
    for method in ("PUT", "HEAD", "GET", "DELETE"):
        proxy.rule(do, method=method, path="file", first=2)
    run = mdtest("-a S3 -F -n 4 -w 10 -e 10 %s -d %s" % (JSON, proxy.store.name("t")), np=2, env=proxy.store.env).ok()
    assert re.match(r"8 of \d+ requests", finding(run, "H28")["text"]), finding(run, "H28")
    proxy.behind.is_clean()


@pytest.mark.parametrize("method", ["PUT", "HEAD", "GET", "DELETE"])
def test_mdtest_says_which_file_was_refused(mdtest, proxy, method):
    proxy.rule(s3_proxy.error(403, "AccessDenied", "Not you."), method=method, path="file")
    run = mdtest("-a S3 -F -n 2 -w 10 -e 10 -d " + proxy.store.name("t"), np=2, env=proxy.store.env)
    assert run.returncode == 3 and "file.mdtest." in run.errors[0] and "403" in run.errors[0], run
    assert len(run.errors) == 1 + (method == "DELETE"), "what is made is removed at the end, too"
    assert proxy.url in run.errors[0] and proxy.store.bucket in run.errors[0], run


# ---- time ----

@pytest.mark.parametrize("method", ["PUT", "GET"])
def test_no_answer_in_time_is_tried_again(ior, proxy, method):
    proxy.rule(s3_proxy.delay(20), method=method, path="x", first=1)
    run = ior(SMALL + "-F -w -R --s3.timeout=1 " + JSON + "-o " + proxy.store.name("x"), np=1, env=proxy.store.env).ok()
    assert re.match(r"[1-9]\d* of \d+ requests .*asked for 0 retries, and [1-9]\d* requests lost", finding(run, "H28")["text"]), run


def test_no_answer_at_all_is_an_error_that_says_so(ior, proxy):
    proxy.rule(s3_proxy.delay(20), method="PUT", part=1)
    run = ior(SMALL + "-F -w --s3.timeout=1 --s3.retries=0 -o " + proxy.store.name("x"), np=1, env=proxy.store.env)
    names_it(run, proxy, "too slow")


# ---- refusals ----

def test_keys_of_another_time_are_one_line(ior, proxy):
    proxy.rule(s3_proxy.error(400, "ExpiredToken", "The provided token has expired."), method="PUT", after=3)
    run = ior(SMALL + "-w -o " + proxy.store.name("x"), np=3, env={**proxy.store.env, "AWS_SESSION_TOKEN": "a-token"})
    names_it(run, proxy, "400 ExpiredToken: The provided token has expired.")


@pytest.mark.parametrize("seconds, words", [(3600, "behind that of"), (-7200, "ahead of that of")])
@pytest.mark.parametrize("mode", ["-w", "-r"])
def test_clocks_that_differ_are_told_by_how_much(ior, proxy, seconds, words, mode):
    proxy.rule(s3_proxy.skewed(seconds))
    run = ior(SMALL + "-F %s -o %s" % (mode, proxy.store.name("x")), np=1, env=proxy.store.env)
    names_it(run, proxy, "RequestTimeTooSkewed", words)
    told = int(re.search(r"the clock of this node is (\d+) s (behind|ahead)", run.errors[0]).group(1))
    assert abs(seconds) - 120 <= told <= abs(seconds) + 120, run


@pytest.mark.parametrize("mode", ["-w", "-F -w", "-r", "--s3.object=transfer -r", "--s3.object=transfer -w", "-w --existing=fail"])
def test_a_bucket_that_is_not_there(ior, store, mode):
    run = ior(SMALL + "%s -o s3://weir-nowhere/x" % mode, np=2, env=store.env)
    assert run.returncode != 0 and len(run.errors) == 1 and "weir-nowhere" in run.errors[0] and store.url in run.errors[0], run
    assert "404" in run.errors[0], run


@pytest.mark.parametrize("mode", ["-r -F", "-r", "-r --s3.object=transfer"])
def test_an_object_that_is_not_there(ior, store, mode):
    run = ior(SMALL + "%s -o %s" % (mode, store.name("d/x")), np=2, env=store.env)
    assert run.returncode != 0 and len(run.errors) == 1 and "d/x" in run.errors[0], run


def test_no_permission_for_one_method(ior, proxy):
    for method, mode in (("PUT", "-F -w"), ("POST", "-w"), ("HEAD", "-r -F"), ("GET", "-r -F")):
        kept(ior, proxy)
        proxy.rule(s3_proxy.error(403, "AccessDenied", "Not you."), method=method)
        run = ior(SMALL + "%s -k -o %s" % (mode, proxy.store.name("x")), np=1, env=proxy.store.env)
        names_it(run, proxy, "403", *([] if method == "HEAD" else ["AccessDenied: Not you."]))
        assert proxy.count(method) == 1
        proxy.rules.clear()
