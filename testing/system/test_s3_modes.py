# SPDX-License-Identifier: BSD-3-Clause
"""ior on objects: options with each other, what requests have in them, and what is refused."""
import base64
import hashlib
import json

import pytest

import conftest
import s3_proxy
import s3_support
from s3_support import has_the_backend, certificates, moto, moto_proxy, moto_server, no_keys, proxied, proxy, rclone, rclone_server, store  # noqa

SMALL = s3_support.SMALL + "-G 7 "
BYTES = 256 * 1024


def round_trip(ior, store, options, np, bytes=BYTES):
    """Write, check, read and check; every byte is there, and no upload."""
    run = ior(SMALL + "-w -r -W -R -k %s -o %s" % (options, store.name("d/x")), np=np, env=store.env).ok()
    keys = store.keys("d/")
    assert sum(keys.values()) == np * bytes and store.uploads() == [], (run, keys)
    return keys


# ---- options with each other ----

CROSSED = ["-C -F --depth=4", "-Z -F -s 2", "-z -s 2 -F --depth=4", "--s3.object=transfer -s 2 -C --depth=8", "--s3.object=transfer -z -F --depth=3",
           "--s3.part=128k -F --depth=4 -s 2", "--s3.part=128k --depth=2", "-l random -s 3 -C -e -g",
           "--s3.checksum=crc32c --depth=4", "--s3.checksum=sha256 --s3.payload=signed -F", "--s3.connections=2 --depth=8 -Z"]


@pytest.mark.parametrize("options", CROSSED)
def test_options_with_each_other(ior, rclone, options, np=3):
    segments = 2 if "-s 2" in options else 3 if "-s 3" in options else 1
    keys = round_trip(ior, rclone, options, np, BYTES * segments)
    assert len(keys) == (4 * segments * np if "transfer" in options else np if "-F" in options else 1), keys


@pytest.mark.parametrize("options", ["", "-F --depth=4", "--s3.object=transfer -C", "--s3.checksum=sha256", "--s3.payload=signed -F"])
def test_the_same_with_moto_which_wants_parts_to_be_large(ior, moto, options):
    round_trip(ior, moto, options, 2)


def test_repetitions_replace_their_objects_and_remove_them(ior, rclone):
    run = ior(SMALL + "-i 3 -w -r -R -o " + rclone.name("x"), np=2, env=rclone.env).ok()
    assert run.accesses() == ["write", "read", "remove"] * 3 or run.accesses().count("write") == 3, run
    rclone.is_clean()
    ior(SMALL + "-i 2 -m -k -F -w -o " + rclone.name("x"), np=2, env=rclone.env).ok()
    assert len(rclone.keys()) == 4, rclone.keys()


def test_objects_are_read_with_other_transfers_than_they_were_written(ior, rclone):
    ior("-a S3 --s3.part-least=64k -t 64k -b 192k -G 7 -F -w -k -o " + rclone.name("f"), np=2, env=rclone.env).ok()
    ior("-a S3 -G 7 -t 64k -b 192k -w -k --s3.object=transfer -o " + rclone.name("t"), np=2, env=rclone.env).ok()
    for size in ("96k", "16k", "192k"):  # the pattern of -R is one of transfers
        ior("-a S3 -t %s -b 192k -F -r -k -o %s" % (size, rclone.name("f")), np=2, env=rclone.env).ok()
        ior("-a S3 -t %s -b 192k -r -k --s3.object=transfer -o %s" % (size, rclone.name("t")), np=2, env=rclone.env).ok()


def test_one_transfer_is_one_put(ior, proxy):
    ior("-a S3 -t 64k -b 64k -F -w -r -W -o " + proxy.store.name("x"), np=3, env=proxy.store.env).ok()
    assert [proxy.count(m) for m in ("PUT", "POST", "DELETE")] == [3, 0, 3], proxy.asked()
    proxy.behind.is_clean()


def test_gathered_parts_are_as_large_as_was_asked(ior, proxy):
    ior("-a S3 --s3.part-least=64k --s3.part=128k -t 16k -b 320k -F -w -R -k -o " + proxy.store.name("x"), np=1, env=proxy.store.env).ok()
    assert [len(r.body) for r in sorted(proxy.asked("PUT"), key=lambda r: r.part)] == [131072, 131072, 65536]


def test_names_with_characters_that_are_encoded(ior, store):
    """In URLs, in signatures, and in the XML of lists and removals."""
    for key in ("a b+c", "é&<>'\"", "x%41=?#", "d/e/./f"):
        for mode in ("-F", "--s3.object=transfer"):
            words = ["-a", "S3", "--s3.part-least=64k", "-t", "64k", "-b", "128k", mode, "-w", "-R", "-o", store.name(key)]
            ior([*words, "-k"], np=None, env=store.env).ok()
            assert all(k.startswith(key.replace("/./", "/")) for k in store.keys()) and store.keys(), store.keys()
            ior(words, np=None, env=store.env).ok()
            store.is_clean()


def test_a_bucket_of_an_option(ior, rclone):
    ior(SMALL + "-w -k --s3.bucket=%s -o d/x" % rclone.bucket, np=1, env=rclone.env).ok()
    assert rclone.keys() == {"d/x": BYTES}


# ---- what is in requests ----

def test_data_have_the_checksum_that_was_asked_for(ior, proxy):
    ior(SMALL + "-F -w --s3.checksum=sha256 --s3.payload=signed -k -o " + proxy.store.name("x"), np=1, env=proxy.store.env).ok()
    for r in proxy.asked("PUT"):
        digest = hashlib.sha256(r.body)
        assert r.headers["x-amz-checksum-sha256"] == base64.b64encode(digest.digest()).decode()
        assert r.headers["x-amz-content-sha256"] == digest.hexdigest()
    begin, end = proxy.asked("POST")
    assert begin.headers["x-amz-checksum-algorithm"] == "SHA256" and end.body.count(b"<ChecksumSHA256>") == 4
    assert all(s3_support.is_signed(r) for r in proxy.asked())


def test_all_requests_are_signed_and_data_are_not_where_they_need_not_be(ior, proxy):
    ior(SMALL + "-w -r -s 2 --s3.object=transfer -o " + proxy.store.name("x+y~z"), np=2,
        env={**proxy.store.env, "AWS_SESSION_TOKEN": "a/token+x"}).ok()
    assert len(proxy.asked()) > 30 and all(s3_support.is_signed(r) for r in proxy.asked())
    assert {r.headers["x-amz-content-sha256"] for r in proxy.asked("PUT")} == {"UNSIGNED-PAYLOAD"}
    assert {r.headers["x-amz-security-token"] for r in proxy.asked()} == {"a/token+x"}


@pytest.mark.parametrize("options", ["", "--s3.object=transfer -C"])
def test_the_bucket_before_the_name_of_the_host(ior, moto_proxy, options):
    """libcurl finds *.localhost on this host, and the server behind is asked by the path."""
    moto_proxy.rule(s3_proxy.by_host)
    url = moto_proxy.url.replace("127.0.0.1", "localhost")
    env = {**moto_proxy.store.env, "AWS_ENDPOINT_URL": url}
    run = ior(SMALL + "-w -r -R -k --s3.style=host %s -o %s" % (options, moto_proxy.store.name("d/x")), np=2, env=env).ok()
    assert sum(moto_proxy.behind.keys("d/").values()) == 2 * BYTES, run
    for r in moto_proxy.asked():
        assert r.headers["host"] == moto_proxy.store.bucket + "." + url.partition("//")[2] and s3_support.is_signed(r), r
    run = ior(SMALL + "-r --s3.style=host -o " + moto_proxy.store.name("nothing"), np=1, env=env)
    assert run.returncode != 0 and moto_proxy.store.bucket + "/nothing" in run.errors[0], run


@pytest.mark.parametrize("options, env", [("--s3.style=host", {}), ("--s3.endpoints=http://localhost:1/below --s3.style=host", {})])
def test_a_host_that_can_have_no_bucket_before_it(ior, rclone, options, env):
    ior(SMALL + "-w %s -o %s" % (options, rclone.name("x")), np=2, env={**rclone.env, **env}).fails(1, "--s3.style=host")


def test_endpoints_are_shared_by_ranks_or_nodes(ior, proxy, tmp_path):
    with proxied(proxy.behind, tmp_path) as (second, _):
        both = "--s3.endpoints=%s,%s " % (proxy.url, second.url)
        ior(SMALL + both + "-F -w -r -o " + proxy.store.name("x"), np=4, env=proxy.store.env).ok()
        for p, ranks in ((proxy, "02"), (second, "13")):
            assert {r.path[-1] for r in p.asked("PUT")} == set(ranks) and p.count("PUT") == 8, p.asked()
            p.forget()
        run = ior(SMALL + both + "--s3.spread=node -F -w -o " + proxy.store.name("x"), np=4, env=proxy.store.env).ok()
        assert proxy.count("PUT") == 16 and second.asked() == [] and any("1 of 2 endpoints" in note for note in run.notes), run


@pytest.mark.parametrize("options, most", [("--depth=8", 8), ("--depth=8 --s3.connections=3", 3), ("--depth=1", 1), ("--depth=8 --s3.connections=1", 1)])
def test_connections_are_as_many_as_are_allowed(ior, proxy, options, most):
    proxy.rule(s3_proxy.Gate(together=most, seconds=0.3), method="GET", path="x")
    ior("-a S3 --s3.part-least=64k -t 64k -b %dk -F -w -R %s -o %s" % (2 * 64 * most, options, proxy.store.name("x")), np=1, env=proxy.store.env).ok()
    assert proxy.most_in_flight == most and most <= proxy.most_open <= most + (options == "--depth=8"), (proxy.most_open, proxy.most_in_flight)


def test_a_check_of_a_shared_object_needs_no_more_requests_than_transfers(ior, proxy):
    ior(SMALL + "-w -R -k -C -o " + proxy.store.name("x"), np=3, env=proxy.store.env).ok()
    assert [proxy.count(m, path="x$") for m in ("PUT", "POST", "GET")] == [12, 2, 12], proxy.asked()


# ---- https ----

@pytest.mark.parametrize("options, bundle, is_right", [("", True, True), ("--s3.ca-file={ca}", False, True), ("--s3.insecure", False, True), ("", False, False)])
def test_certificates_are_verified_unless_that_is_not_wanted(ior, rclone, certificates, tmp_path, options, bundle, is_right):
    with proxied(rclone, tmp_path, tls=certificates) as (proxy, store):
        env = {k: v for k, v in store.env.items() if bundle or k != "AWS_CA_BUNDLE"}
        run = ior(SMALL + "-w -R -F %s --report=json:r.json -o %s" % (options.format(ca=certificates / "ca.pem"), store.name("x")), np=2, env=env)
        assert (run.returncode == 0) == is_right and (proxy.count() > 0) == is_right, run
        assert any("not verified" in note for note in run.notes) == ("insecure" in options), run
        if not is_right:
            assert len(run.errors) == 1 and "certificate" in run.errors[0] and proxy.url in run.errors[0], run
            return
        connections = {row["operation"]: (row["connections"], row["connectCount"], row["tlsCount"])
                       for row in json.loads((run.cwd / "r.json").read_text())["tests"][0]["requests"]}
        assert all(made == connected == secured for made, connected, secured in connections.values()), connections
        assert proxy.connections <= 4


# ---- what is refused, and nothing is sent ----

@pytest.mark.parametrize("options, words", [
    ("-E -w", ["-E", "--s3.object=transfer"]), ("--mix=read:50,write:50", ["mix", "--s3.object=transfer"]), ("-w -D 1", ["-D", "-F", "--s3.object=transfer"]),
    ("-w --s3.part-least=5m", ["64k", "--s3.part"]), ("-w --s3.part=100k", ["--s3.part"]), ("-w --s3.part=128k -z", ["--s3.part", "random"]),
    ("-w -F --s3.part=1m --s3.object=transfer", ["--s3.part"]), ("-w --s3.part=512k", ["--s3.part=", "256k"]),
    ("-w -F -b 700m", ["10000", "--s3.part="]), ("-w --s3.part=1k", ["--s3.part-least"]), ("-w --s3.insecure", ["https"]),
    ("-w --s3.region=bad/region", ["region"]), ("-w --s3.ca-file=/nonexistent", ["ca-file"]), ("-w --s3.bucket=Bench", ["small letters"])])
def test_what_objects_cannot_do_is_refused_before_anything_is_sent(ior, proxy, options, words):
    run = ior(SMALL + "%s -o %s" % (options, proxy.store.name("x")), np=2, env=proxy.store.env)
    assert run.returncode in (1, 2) and len(run.errors) == 1 and all(word in run.errors[0] for word in words), run
    assert proxy.asked() == []


@pytest.mark.parametrize("words", ["ior -t 5m -b 5m --api=S3 -o", "ior -F -b 256k --api=S3 -o", "mib --api=S3 -t", "md-workbench --api=S3 -o"])
def test_a_name_without_a_bucket_is_refused_before_anything_else_is_said(ior, words):
    """Without keys there is a note, which a session gives when it begins."""
    program, options = words.split(" ", 1)
    ior.program = conftest.BUILD / "src" / program
    run = ior(options + " nowhere", np=None, env={"HOME": str(ior.cwd)}).fails(1, "'nowhere' has no bucket")
    assert run.notes == [], run


def test_pieces_allow_what_objects_of_a_file_do_not(ior, rclone):
    words = SMALL + "--s3.object=transfer -o %s " % rclone.name("x")
    ior(words + "-w -k", np=2, env=rclone.env).ok()
    ior(words + "-E -w -k", np=2, env=rclone.env).ok()
    ior(words + "--mix=read:50,write:50 -k", np=2, env=rclone.env).ok()
    ior(words + "-w -D 30 -r", np=2, env=rclone.env).ok()
    rclone.is_clean()


@pytest.mark.parametrize("mode", ["", "-F", "--s3.object=transfer"])
def test_objects_that_are_there_are_kept_where_that_is_wanted(ior, store, mode):
    words = SMALL + "-w -k %s --existing=fail -o %s" % (mode, store.name("d/x"))
    ior(words, np=2, env=store.env).ok()
    keys = store.keys()
    before = store.get(sorted(keys)[0])
    run = ior(words + " -G 9", np=2, env=store.env)
    assert run.returncode != 0 and len(run.errors) == 1 and "d/x" in run.errors[0], run
    assert store.keys() == keys and store.get(sorted(keys)[0]) == before and store.uploads() == []


# ---- many ----

def test_ten_thousand_objects(ior, proxy):
    """10 000 objects are ten pages of a list, and ten requests that remove them. To put each of them into the service takes it longer."""
    objects = proxy.behind.files / proxy.behind.bucket / "x"
    objects.mkdir()
    for number in range(10000):
        (objects / ("%016x" % (64 * number))).write_bytes(bytes(64))
    assert len(proxy.behind.keys()) == 10000
    ior("-a S3 --s3.object=transfer -t 64 -b 64 -w -o " + proxy.store.name("x"), np=1, env=proxy.store.env, timeout=240).ok()
    assert proxy.count("POST", "delete") in (10, 11) and proxy.count("GET", "continuation-token") in (9, 10), proxy.asked()  # an empty page
    proxy.behind.is_clean()
