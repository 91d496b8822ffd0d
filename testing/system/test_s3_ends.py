# SPDX-License-Identifier: BSD-3-Clause
"""Runs on objects that are ended before their end: what is left is what the guide says."""
import os
import signal

import pytest

import conftest
import s3_proxy
from mdtest_support import mdtest  # noqa
from s3_support import has_the_backend, no_keys, proxy, rclone, rclone_server  # noqa

SMALL = "-a S3 --s3.part-least=64k -t 64k -b 512k "
INT, TERM, KILL = signal.SIGINT, signal.SIGTERM, signal.SIGKILL
# The launcher of Open MPI kills what has not ended a second after a signal; a busy machine may need
# longer to give up the uploads. It always waits for so long.
PATIENT = {"OMPI_MCA_odls_base_sigkill_timeout": "5"}


def ended(ior, proxy, options, number, whom, np=3, method="PUT", query=None, answered=3):
    """The run to which a signal was sent while a request was in flight, after the first ones of its kind were answered. whom: "rank N",
    "launcher" or "all ranks"."""
    gate = s3_proxy.Gate(seconds=0.2)
    rule = proxy.rule(gate, method=method, query=query, after=answered)
    env = {**proxy.store.env, **(PATIENT if whom == "launcher" else {})}
    proc = ior.start(SMALL + "-w %s -o %s" % (options, proxy.store.name("x")), np=np, env=env)
    pids = ior.wait_for_ranks(proc, np)
    conftest.wait_until(lambda: rule["done"] > 0 or proc.poll() is not None)
    assert proc.poll() is None, ior.collect(proc)
    for pid in [proc.pid] if whom == "launcher" else pids if whom == "all ranks" else [pids[int(whom.split()[1])]]:
        os.kill(pid, number)
    if number != KILL:  # the launcher ends the others, which must not have ended
        gate.open()
    run = ior.finish(proc)
    gate.open()
    assert run.returncode != 0, run
    return run


@pytest.mark.parametrize("number, whom", [(INT, "rank 0"), (TERM, "rank 2"), (TERM, "all ranks"), (INT, "launcher"), (TERM, "launcher")])
@pytest.mark.parametrize("mode", ["", "-F --depth=4"])
def test_a_signal_leaves_no_upload_and_no_object(ior, proxy, number, whom, mode):
    ended(ior, proxy, mode, number, whom)
    proxy.behind.is_clean()


@pytest.mark.parametrize("number, whom", [(TERM, "rank 1"), (INT, "launcher")])
def test_a_signal_between_objects_of_a_transfer(ior, proxy, number, whom):
    ended(ior, proxy, "--s3.object=transfer", number, whom)
    proxy.behind.is_clean()


@pytest.mark.parametrize("mode", ["", "-F"])
def test_a_signal_while_an_upload_is_completed(ior, proxy, mode):
    """It is completed or given up, and never between."""
    ended(ior, proxy, mode, TERM, "rank 0", method="POST", query="uploadId", answered=0)
    assert proxy.behind.uploads() == [] and set(proxy.behind.keys().values()) <= {512 * 1024, 3 * 512 * 1024}


@pytest.mark.parametrize("mode, uploads", [("", 1), ("-F", 3)])
def test_a_rank_that_is_killed_leaves_uploads_that_are_listed_and_no_objects(ior, proxy, mode, uploads):
    ended(ior, proxy, mode, KILL, "rank 1")
    left = proxy.behind.uploads()
    assert 1 <= len(left) <= uploads and all(key.startswith("x") for key in left) and proxy.behind.keys() == {}


def test_a_deadline_leaves_what_was_written_and_no_upload(ior, proxy):
    """-D ends a phase as it should: objects have what there was."""
    proxy.rule(s3_proxy.delay(0.4), method="PUT")
    ior(SMALL + "-F -w -k -D 1 -o " + proxy.store.name("x"), np=2, env=proxy.store.env).ok()
    sizes = proxy.behind.keys().values()
    assert proxy.behind.uploads() == [] and len(sizes) == 2 and all(0 < n < 512 * 1024 and n % 65536 == 0 for n in sizes), sizes


def test_mdtest_that_is_ended_has_files_that_the_next_run_replaces(mdtest, proxy):
    gate = s3_proxy.Gate(seconds=0.05)
    proxy.rule(gate, method="PUT", after=5)
    words = "-a S3 -F -n 20 -w 10 -d " + proxy.store.name("t")
    proc = mdtest.start(words, np=2, env=proxy.store.env)
    pids = mdtest.wait_for_ranks(proc, 2)
    conftest.wait_until(lambda: proxy.count("PUT") >= 6)
    os.kill(pids[1], TERM)
    gate.open()
    assert mdtest.finish(proc).returncode != 0
    assert set(proxy.behind.keys().values()) <= {10}
    proxy.rules.clear()
    mdtest(words, np=2, env=proxy.store.env).ok()
    proxy.behind.is_clean()


@pytest.mark.parametrize("do", [s3_proxy.error(503, "SlowDown", headers={"Retry-After": "40"}), s3_proxy.internal()])
def test_a_signal_ends_a_wait_for_the_next_try(ior, proxy, do):
    proxy.rule(do, method="PUT")
    proc = ior.start(SMALL + "-F -w --s3.retries=1000 -o " + proxy.store.name("x"), np=None, env=proxy.store.env)
    conftest.wait_until(lambda: proxy.count("PUT") >= 1)
    os.kill(proc.pid, signal.SIGTERM)
    run = ior.finish(proc)
    assert run.returncode != 0
    conftest.timely(run.elapsed < 20, run)
    proxy.behind.is_clean()


def test_a_service_that_has_gone_is_told_before_long(ior, proxy):
    """An upload is given up with two tries, not with as many as a request has."""
    proxy.rule(s3_proxy.drop, method="PUT")
    proxy.rule(s3_proxy.drop, method="DELETE")
    run = ior(SMALL + "-F -w --s3.retries=3 -o " + proxy.store.name("x"), np=None, env=proxy.store.env)
    assert run.returncode == 3 and proxy.count("PUT") == 4 and 1 <= proxy.count("DELETE", query="uploadId") <= 2 and "unfinished multipart upload remains" in run.stderr, run
