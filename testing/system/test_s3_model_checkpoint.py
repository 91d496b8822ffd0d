# SPDX-License-Identifier: BSD-3-Clause
"""model_checkpoint on objects: the metadata, put last, make a checkpoint; whenever a run ends, what is published is whole."""
import json
import os
import signal
import threading
import time

import pytest

import conftest
import s3_proxy
import s3_support
from s3_support import moto, moto_server, no_keys, proxy, rclone, rclone_server, store  # noqa

TINY = "--model=tiny.txt --rules=none -a S3 --s3.part-least=64k -t 64k "
ONE, TWO = "checkpoint-00000001/", "checkpoint-00000002/"


@pytest.fixture
def mc(ior, need_backend):
    need_backend("S3")
    ior.program = conftest.BUILD / "src" / "model_checkpoint"
    (ior.cwd / "tiny.txt").write_text("layers = 2\nhidden = 64\nheads = 4\nffn = 128\nvocabulary = 500\n")
    return ior


def at(store, prefix="ckpt"):
    return "-o %s " % store.name(prefix)


def published(store):
    """The steps that have metadata; nothing else is there, no upload either."""
    keys = store.keys("ckpt/")
    steps = {key.split("/")[1] for key in keys}
    assert all("ckpt/%s/metadata" % step in keys for step in steps) and store.uploads() == [], (keys, store.uploads())
    return sorted(steps)


def silent(run):
    """No key is in any output, and nobody drops a page cache."""
    for text in (run.stdout, run.stderr):
        assert s3_support.SECRET not in text and s3_support.ID not in text and "drop-cache" not in text, run
    return run


LAYOUTS = {"torch": ("--tp=1 --zero=1", ["rank-%06d.data" % i for i in range(4)]),
           "megatron": ("--tp=2 --zero=1", ["tp-00%d-pp-000.data" % i for i in range(2)]),  # each of two ranks that share an upload
           "deepspeed": ("--zero=1", ["parameters-tp-000-pp-000.data"] + ["optimizer-rank-%06d.data" % i for i in range(4)]),
           "shared": ("--zero=2", ["checkpoint.data"])}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_each_layout_is_loaded_in_its_own_shape_and_in_another_job_in_another(mc, rclone, layout):
    shape, names = LAYOUTS[layout]
    # four uploads are begun at once: rclone must not make their directory (see service_faults)
    (rclone.files / rclone.bucket / "ckpt" / ONE).mkdir(parents=True)
    silent(mc(TINY + at(rclone) + "--layout=%s %s" % (layout, shape), np=4, env=rclone.env).ok())
    assert sorted(rclone.keys("ckpt/")) == sorted("ckpt/" + ONE + name for name in names + ["metadata"])
    assert published(rclone) == [ONE[:-1]]
    mc(TINY + at(rclone) + "--save=no --load-tp=2 --load-pp=1", np=2, env=rclone.env).ok()
    mc(TINY + at(rclone) + "--save=no --load=parameters --broadcast", np=4, env=rclone.env).ok()


@pytest.mark.parametrize("layout, more", [("shared", "--save=async --compute=0.1"), ("deepspeed", "--depth=4"), ("torch", "--s3.part=128k")])
def test_moto_has_what_was_saved_and_nothing_after_its_removal(mc, moto, layout, more):
    silent(mc(TINY + at(moto) + "--layout=%s %s -i 2 --keep=1 %s" % (layout, LAYOUTS[layout][0], more), np=4, env=moto.env).ok())
    assert published(moto) == [TWO[:-1]]
    mc(TINY + at(moto) + "--save=no", np=1, env=moto.env).ok()
    mc(TINY + at(moto, "other") + "--layout=%s --remove" % layout, np=2, env=moto.env).ok()
    assert published(moto) == [TWO[:-1]] and moto.keys("other") == {}


def test_an_object_for_each_transfer(mc, store):
    args = TINY + at(store) + "--s3.object=transfer "
    mc(args + "--layout=megatron --tp=2 --zero=1 -i 2 --keep=1", np=4, env=store.env).ok()
    keys = store.keys("ckpt/")
    assert all(key.startswith("ckpt/" + TWO) and len(key.split("/")) == 4 for key in keys) and len(keys) > 20, keys
    mc(args + "--save=no --load-tp=1", np=2, env=store.env).ok()
    mc(TINY + at(store) + "--save=no", np=1, env=store.env).fails(3, "has no published checkpoint")
    mc(args + "--remove --keep=1", np=2, env=store.env).ok()
    store.is_clean()


def test_an_asynchronous_save_goes_on_beside_the_work_and_old_ones_go(mc, store):
    args = TINY + at(store) + "-i 3 --every=10 --keep=2 --save=async --compute=0.02 --depth=4 --report=json:r.json "
    silent(mc(args, np=2, env=store.env).ok())
    assert published(store) == ["checkpoint-00000020", "checkpoint-00000030"]
    rows = json.loads((mc.cwd / "r.json").read_text())["tests"][0]["checkpoints"]
    saves = [row for row in rows if row["operation"] == "save"]
    assert len(saves) == 3 and all(row["workTime"] == 0.2 and row["copyTime"] > 0 and row["stall"] > 0 for row in saves)
    store.put("ckpt/checkpoint-00000020/mine", b"1")
    assert "other files are in it" in mc(TINY + at(store) + "--keep=1", np=1, env=store.env).ok().stderr
    assert sorted({key.split("/")[1] for key in store.keys("ckpt/")}) == ["checkpoint-00000020", "checkpoint-00000031"]


def test_the_metadata_are_put_last_and_go_first(mc, proxy):
    mc(TINY + at(proxy.store) + "-i 2 --keep=1 --load=no --layout=deepspeed --zero=1", np=2, env=proxy.store.env).ok()
    made = [r for r in proxy.asked() if ONE in r.path and r.method in ("PUT", "POST")]
    assert made[-1].path.endswith(ONE + "metadata") and made[-1].headers["if-none-match"] == "*" and made[-1].method == "PUT"
    assert [r.path for r in made if r.path.endswith("metadata")] == [made[-1].path]
    gone = proxy.asked("DELETE", path=ONE)
    assert gone[0].path.endswith(ONE + "metadata") and len(gone) == 4, gone
    assert proxy.asked().index(gone[0]) > proxy.asked().index(proxy.asked("PUT", path=TWO + "metadata")[0])
    assert published(proxy.behind) == [TWO[:-1]]


KILLED = [  # method, path and query of a request; published and unfinished steps where it was never seen, and where it was done
    (None, None, "^uploads=", ([1], []), ([1], [])), ("PUT", None, "partNumber=7", ([1], []), ([1], [])),
    ("POST", None, "^uploadId=", ([1], []), ([1], [2])), ("PUT", "2/metadata", None, ([1], [2]), ([1, 2], [])),
    ("DELETE", "1/metadata", None, ([1, 2], []), ([2], [1])), ("DELETE", "1/rank-", None, ([2], [1]), ([2], []))]


@pytest.mark.parametrize("is_done", [False, True])
@pytest.mark.parametrize("method, path, query, unseen, done", KILLED)
def test_a_killed_run_leaves_no_torn_checkpoint_and_the_next_save_removes_the_rest(mc, proxy, method, path, query, unseen, done, is_done):
    def stall(request, ask):
        if is_done:
            ask()
        stalled.set()
        time.sleep(1)
    stalled = threading.Event()
    mc(TINY + at(proxy.store) + "--load=no", np=1, env=proxy.store.env).ok()
    proxy.rule(stall, method=method, path=path, query=query)
    proc = mc.start(TINY + at(proxy.store) + "--keep=1 --load=no", np=None, env=proxy.store.env)
    assert stalled.wait(60)
    os.kill(proc.pid, signal.SIGKILL)
    mc.finish(proc)
    proxy.rules.clear()
    keys = proxy.behind.keys("ckpt/")
    steps = sorted({int(key[16:24]) for key in keys})
    whole = [step for step in steps if "ckpt/checkpoint-%08d/metadata" % step in keys]
    left = [step for step in steps if step not in whole]
    assert (whole, left) == (done if is_done else unseen)
    mc(TINY + at(proxy.store) + "--save=no", np=2, env=proxy.store.env).ok()  # the newest that is published is whole
    run = mc(TINY + at(proxy.store) + "--keep=0 --load=no", np=2, env=proxy.store.env).ok()
    assert ("1 unfinished checkpoint of a run that was killed removed" in run.stderr) == bool(left), run
    steps = {int(key[16:24]) for key in proxy.behind.keys("ckpt/")}
    assert steps == {*whole, max(whole + left) + 1} and len(proxy.behind.keys("ckpt/")) == sum(2 + (step not in whole) for step in steps)


@pytest.mark.parametrize("layout", ["torch", "megatron"])
def test_a_signal_leaves_the_old_checkpoint_and_nothing_else(mc, proxy, layout):
    args = TINY + at(proxy.store) + "--layout=%s --zero=1 " % layout
    mc(args, np=1, env=proxy.store.env).ok()
    gate = s3_proxy.Gate(seconds=0.5)
    proxy.rule(gate, method="PUT", path="00002/", after=3)
    proc = mc.start(args, np=2, env=proxy.store.env)
    pids = mc.wait_for_ranks(proc, 2)
    conftest.wait_until(lambda: proxy.count("PUT", path="00002/") > 3)
    os.kill(pids[0], signal.SIGTERM)
    gate.open()
    mc.finish(proc).ok(6)
    assert published(proxy.behind) == [ONE[:-1]]


@pytest.mark.parametrize("do", [s3_proxy.drop, s3_proxy.drop_after, s3_proxy.slow_down(), s3_proxy.internal()])
def test_metadata_whose_answer_is_lost_or_that_are_refused_for_now_are_published(mc, proxy, do):
    proxy.rule(do, method="PUT", path="metadata", first=1)
    mc(TINY + at(proxy.store), np=1, env=proxy.store.env).ok()
    assert published(proxy.behind) == [ONE[:-1]]


def test_a_checkpoint_of_another_job_is_neither_replaced_nor_removed(mc, proxy):
    def other(request, ask):
        proxy.behind.put("ckpt/" + ONE + "metadata", b"another")
        return s3_proxy.error(412, "PreconditionFailed")(request, ask)
    proxy.rule(other, method="PUT", path="metadata")
    mc(TINY + at(proxy.store), np=2, env=proxy.store.env).fails(3, ONE + "metadata' exists: another model_checkpoint saves into")
    assert proxy.behind.get("ckpt/" + ONE + "metadata") == b"another" and proxy.count("DELETE", path="metadata") == 0


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("query", ["^uploads=", "partNumber=2&", "^uploadId="])
def test_what_fails_leaves_nothing_of_the_checkpoint(mc, proxy, layout, query):
    proxy.rule(s3_proxy.error(403, "AccessDenied"), method="PUT" if "part" in query else "POST", query=query, after=1)
    run = mc(TINY + at(proxy.store) + "--layout=%s %s" % (layout, LAYOUTS[layout][0]), np=4, env=proxy.store.env)
    assert layout == "shared" or run.returncode == 3 and "AccessDenied" in run.stderr, run
    assert published(proxy.behind) == ([] if run.returncode else [ONE[:-1]])


@pytest.mark.parametrize("args, words", [
    ("-t 1m", "file 'rank-000000.data' of a checkpoint (--layout=torch): transfers of 1m make parts that are too small"),
    ("-t 1m --layout=shared --zero=1", "give transfers of 5 MiB (-t 5m) or more, or --s3.object=transfer"),
    ("-t 5m --s3.part=10m --layout=shared --zero=1", "give transfers of 10 MiB (-t 10m) or more"),
    ("--layout=arrays", "S3 cannot store tensors as arrays"), ("-o nobucket", "has no bucket"), ("--list", "")])
def test_what_cannot_be_is_refused_before_anything_is_asked(mc, proxy, args, words):
    run = mc("--scale=1/16384 --rules=none -a S3 %s%s" % (at(proxy.store), args), np=2, env=proxy.store.env)
    assert run.returncode == (0 if not words else 1) and words in run.stderr and len(run.errors) <= 1, run
    assert proxy.asked() == []


@pytest.mark.parametrize("args, env, words", [
    ("-o s3://weir-no-such-bucket/x", {}, "NoSuchBucket"), ("", {"AWS_SECRET_ACCESS_KEY": "quite-another-secret"}, "SignatureDoesNotMatch"),
    ("", {"AWS_ENDPOINT_URL": "http://127.0.0.1:1"}, "127.0.0.1:1"), ("--save=no", {}, "has no published checkpoint")])
def test_what_is_not_there_is_one_line(mc, rclone, args, env, words):
    run = mc(TINY + at(rclone) + args, np=2, env={**rclone.env, **env})
    assert run.returncode == 3 and len(run.errors) == 1 and words in run.stderr and "quite-another" not in run.stdout + run.stderr, run
    rclone.is_clean()


def test_wrong_bytes_are_named_with_object_and_offset(mc, store):
    mc(TINY + at(store) + "--load=no", np=2, env=store.env).ok()
    key = "ckpt/" + ONE + "rank-000001.data"
    data = bytearray(store.get(key))
    data[-1] ^= 1
    store.put(key, bytes(data))
    mc(TINY + at(store) + "--save=no", np=1, env=store.env).fails(4, "%s/%srank-000001.data' at offset %d" % (store.name("ckpt"), ONE, len(data) - 1))
    data[-1] ^= 1
    store.put(key, bytes(data) + b"x")
    mc(TINY + at(store) + "--save=no", np=1, env=store.env).fails(4, "it has %d bytes, and was saved with %d" % (len(data) + 1, len(data)))
    store.put("ckpt/" + ONE + "metadata", store.get("ckpt/" + ONE + "metadata")[:40])
    mc(TINY + at(store) + "--save=no", np=1, env=store.env).fails(4, "metadata': line 3 is incomplete")


def test_requests_of_each_stage_are_counted(mc, store):
    mc(TINY + at(store) + "-i 2 --keep=1 --report=json:r.json", np=2, env=store.env).ok()
    requests = json.loads((mc.cwd / "r.json").read_text())["tests"][0]["requests"]
    assert {"save", "publish", "remove", "load"} <= {row["operation"] for row in requests}, requests
