# SPDX-License-Identifier: BSD-3-Clause
"""The S3 backend with radosgw, the service of Ceph: it verifies signatures and sizes of parts, and its lists have pages."""
import os
import signal

import pytest

import conftest
import s3_proxy
from mdtest_support import mdtest  # noqa
from mdw_support import mdw  # noqa
from mib_support import mib  # noqa
from s3_support import SMALL, has_the_backend, no_keys, radosgw, radosgw_server, seen_through_a_proxy, end_an_upload  # noqa


@pytest.fixture
def proxy(radosgw, tmp_path):
    """A proxy before the service; proxy.store is the bucket as it is seen through it."""
    with seen_through_a_proxy(radosgw, tmp_path) as proxy:
        yield proxy


@pytest.mark.parametrize("np, mode", [
    (1, ""), (1, "-z -F"), (1, "--s3.part=128k -F"), (1, "--s3.payload=signed"), (1, "--depth=16 --s3.object=transfer"),
    (3, ""), (3, "-F"), (3, "-s 2 -C"), (3, "-Z"), (3, "--s3.object=transfer"), (3, "--depth=16 -F")])
def test_what_was_written_is_read_and_is_right(ior, radosgw, np, mode):
    ior(SMALL + "-w -r -W -R -k %s -o %s" % (mode, radosgw.name("d/x")), np=np, env=radosgw.env).ok()
    segments = 2 if "-s 2" in mode else 1
    assert sum(radosgw.keys("d/").values()) == np * 256 * 1024 * segments and radosgw.uploads() == []


@pytest.mark.parametrize("mode", ["", "-F --depth=8"])
def test_operations_on_objects_in_a_ratio(ior, radosgw, mode):
    words = "-a S3 --s3.object=transfer -t 4k -b 400k --mix=read:1,write:1,list:1,head:1,delete:1 -O minTimeDuration=0.5 "
    ior(words + "-w -r -W -R -l signature %s -o %s" % (mode, radosgw.name("d/x")), np=2, env=radosgw.env).ok()
    radosgw.is_clean()


@pytest.mark.parametrize("mode", ["", "-F", "--s3.object=transfer"])
def test_nothing_is_left(ior, radosgw, mode):
    ior(SMALL + "-w -r -i 2 %s -o %s" % (mode, radosgw.name("d/x")), np=3, env=radosgw.env).ok()
    radosgw.is_clean()


@pytest.mark.parametrize("checksum", ["sha256", "crc32c"])
@pytest.mark.parametrize("size", ["64k", "256k"])
def test_checksums_are_no_trouble(ior, radosgw, checksum, size):
    ior(SMALL + "-w -r -W -R -b %s --s3.checksum=%s -o %s" % (size, checksum, radosgw.name("x")), np=1, env=radosgw.env).ok()
    radosgw.is_clean()


def test_checksums_are_verified_or_a_note_says_that_they_may_not_be(ior, proxy):
    """radosgw 16 does not look at them."""
    proxy.rule(s3_proxy.corrupt_sent(100), method="PUT")
    run = ior(SMALL + "-w -k --s3.checksum=crc32c -o " + proxy.store.name("x"), np=1, env=proxy.store.env)
    assert run.returncode != 0 or len([n for n in run.notes if "has confirmed only 0 of 4 checksums" in n]) == 1, run


def test_keys_with_all_kinds_of_characters(ior, radosgw):
    ior([*SMALL.split(), "-w", "-r", "-R", "-k", "-F", "-o", radosgw.name("a b/c+d%20/é~='()")], np=1, env=radosgw.env).ok()
    assert list(radosgw.keys()) == ["a b/c+d%20/é~='().00000000"]


def test_data_that_change_on_their_way_are_refused_when_they_are_signed(ior, proxy):
    proxy.rule(s3_proxy.corrupt_sent(100), method="PUT")
    run = ior(SMALL + "-F -w --s3.payload=signed -o " + proxy.store.name("x"), np=1, env=proxy.store.env)
    assert run.returncode != 0 and "XAmzContentSHA256Mismatch" in run.stderr, run
    proxy.behind.is_clean()


def test_an_answer_that_is_lost_when_an_upload_was_completed(ior, proxy):
    proxy.rule(s3_proxy.drop_after, method="POST", query="uploadId", first=1)
    ior(SMALL + "-F -w -r -R -o " + proxy.store.name("x"), np=1, env=proxy.store.env).ok()
    proxy.behind.is_clean()


def test_parts_that_are_too_small_are_refused(ior, radosgw):
    run = ior("-a S3 --s3.part-least=8k -t 8k -b 32k -w -o " + radosgw.name("x"), np=1, env=radosgw.env)
    assert run.returncode != 0 and "EntityTooSmall" in run.stderr, run
    radosgw.is_clean()


def test_more_objects_than_a_request_removes(ior, radosgw):
    args = "-a S3 --s3.object=transfer --depth=16 -t 8 -b 8800 -o " + radosgw.name("x")
    ior(args + " -w -k", np=1, env=radosgw.env).ok()
    assert len(radosgw.keys()) == 1100
    ior(args + " -w --existing=replace -s 1 -b 8 -k", np=1, env=radosgw.env).ok()
    assert len(radosgw.keys()) == 1


def test_what_exists_stays_when_it_is_asked_for(ior, radosgw):
    radosgw.put("x", b"mine")
    ior(SMALL + "-w --existing=fail -o " + radosgw.name("x"), np=3, env=radosgw.env).fails(2, "exists")
    assert radosgw.get("x") == b"mine" and radosgw.uploads() == []


@pytest.mark.parametrize("np", [None, 3])
def test_a_signal_aborts_the_upload(ior, proxy, np):
    def end(proc):
        for pid in [proc.pid] if np is None else conftest.ranks_of(proc.pid):
            os.kill(pid, signal.SIGTERM)
    run = end_an_upload(ior, proxy, end, np=np)
    assert run.returncode != 0, run
    proxy.behind.is_clean()


def test_sigkill_leaves_an_upload_that_the_service_lists(ior, proxy):
    end_an_upload(ior, proxy, lambda proc: os.kill(proc.pid, signal.SIGKILL))
    assert proxy.behind.uploads() == ["x"] and proxy.behind.keys() == {}


def test_a_wrong_secret_is_refused_and_not_shown(ior, radosgw):
    run = ior(SMALL + "-w -o " + radosgw.name("x"), np=1, env={**radosgw.env, "AWS_SECRET_ACCESS_KEY": "quite-another-secret"})
    run.fails(3, "SignatureDoesNotMatch", radosgw.host)
    assert "quite-another" not in run.stdout + run.stderr, run


def test_a_bucket_that_is_not_there(ior, radosgw):
    ior(SMALL + "-w -o s3://%s-not/x" % radosgw.bucket, np=3, env=radosgw.env).fails(3, "NoSuchBucket", radosgw.bucket + "-not")


@pytest.mark.parametrize("args", ["-F -n 20 -w 100 -e 100 -u", "--s3.markers -n 20 -z 1 -b 2"])
def test_mdtest(mdtest, radosgw, args):  # noqa
    run = mdtest("-a S3 %s -d %s" % (args, radosgw.name("t")), np=3, env=radosgw.env).ok()
    assert {"File creation", "File stat", "File read", "File removal"} <= set(run.measured()), run
    radosgw.is_clean()


def test_md_workbench(mdw, radosgw):  # noqa
    mdw("-a S3 -D 2 -I 5 -P 5 -o " + radosgw.name("w"), np=3, env=radosgw.env).ok()
    radosgw.is_clean()


@pytest.mark.parametrize("args", ["--s3.part-least=64k", "--s3.object=transfer"])
def test_mib(mib, radosgw, args):  # noqa
    mib("--api=S3 %s -s 64k -l 4 -r -t %s" % (args, radosgw.name("m")), np=3, env=radosgw.env).ok()
    radosgw.is_clean()
