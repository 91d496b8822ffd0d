# SPDX-License-Identifier: BSD-3-Clause
"""What a number is worth that a service has given: findings about objects, each with a run in which it is not found."""
import re

import pytest

import s3_proxy
import s3_support
from mdtest_support import mdtest  # noqa
from mib_support import mib  # noqa
from s3_support import has_the_backend, finding, judged, no_keys, proxied, proxy, rclone, rclone_server  # noqa

ONE = "-a S3 --s3.part-least=64k -t 64k -b 64k --report=json:r.json "
SMALL = s3_support.SMALL + "--report=json:r.json "


# ---- H28: what was sent again ----

@pytest.mark.parametrize("rule, value", [
    (None, "fine"), ({"first": 1}, "NOTE"), ({"every": 3}, "SUSPECT"), ({"first": 1, "do": s3_proxy.drop}, "NOTE"), ({"every": 3, "do": s3_proxy.drop_after}, "SUSPECT")])
def test_requests_that_were_sent_again(ior, proxy, rule, value):
    """More than one of a hundred is SUSPECT."""
    if rule:
        proxy.rule(**{"do": s3_proxy.slow_down(), "method": "PUT", **rule})
    run = ior("-a S3 -t 1k -b 120k --s3.object=transfer --depth=8 -w -k --report=json:r.json -o " + proxy.store.name("x"), np=1,
              env=proxy.store.env).ok()
    f, sent = finding(run, "H28"), proxy.count()
    assert judged(run, "H28") == value and sent > 120, f
    again = sum(r["done"] for r in proxy.rules)
    if rule:
        lost = again if rule.get("do") else 0
        found = re.match(r"(\d+) of (\d+) requests \(.* %\) were retried: the service asked for (\d+) retries, and (\d+) requests lost", f["text"])
        assert [int(found.group(n)) for n in (1, 3, 4)] == [again, again - lost, lost], f
        assert sent - 8 <= int(found.group(2)) <= sent, "those before the phase are not of it"


def test_mdtest_and_mib_tell_it_too(mdtest, mib, proxy):
    for run, words in ((mdtest, "-a S3 -F -n 4 -d " + proxy.store.name("t")), (mib, "--api=S3 --s3.part-least=64k -s 64k -l 4 -t " + proxy.store.name("m"))):
        proxy.rules.clear()
        proxy.rule(s3_proxy.slow_down(), method="PUT", first=1)
        assert judged(run(words + " --report=json:r.json", np=1, env=proxy.store.env).ok(), "H28") == "SUSPECT"
        proxy.rules.clear()
        assert judged(run(words + " --report=json:r.json", np=1, env=proxy.store.env).ok(), "H28") == "fine"


# ---- H39, H40: what servers have in memory ----

@pytest.mark.parametrize("options, value", [
    ("-w -r", "fine"), ("-w -r -R", "fine"), ("-w -W -r", "SUSPECT"), ("-w -W", "not judged"), ("-r -i 2", "SUSPECT"), ("-r", "fine"), ("-w -r -i 2", "fine"),
    ("-r -i 2 --s3.server-memory=16k", "NOTE"), ("-r -i 2 --rules=mlperf", "NOTE"), ("-w", "not judged")])
def test_objects_that_are_read_again(ior, rclone, options, value):
    if "-w" not in options:
        ior(ONE + "-w -k -o " + rclone.name("x"), np=1, env=rclone.env).ok()
    assert judged(ior(ONE + "%s -k -o %s" % (options, rclone.name("x")), np=1, env=rclone.env).ok(), "H39") == value


@pytest.mark.parametrize("options, value", [("--s3.server-memory=1g", "SUSPECT"), ("--s3.server-memory=16k", "fine"), ("", "not judged"),
                                            ("--s3.server-memory=1g -w", "not judged")])
def test_data_that_the_servers_have_in_memory(ior, rclone, options, value):
    run = ior(ONE + "%s %s -o %s" % (options, "" if "-w" in options else "-w -r", rclone.name("x")), np=1, env=rclone.env).ok()
    assert judged(run, "H40") == value and (options or "--s3.server-memory" in finding(run, "H40")["text"]), finding(run, "H40")


# ---- H41, H42: endpoints and connections ----

def test_one_endpoint_and_few_connections(ior, proxy, tmp_path):
    run = ior(SMALL + "-w -F --depth=4 --s3.connections=2 -o " + proxy.store.name("x"), np=2, env=proxy.store.env).ok()
    assert [judged(run, id) for id in ("H41", "H42")] == ["NOTE", "NOTE"]
    assert finding(run, "H41")["value"] == 2 == finding(run, "H42")["value"]
    with proxied(proxy.behind, tmp_path) as (second, _):
        run = ior(SMALL + "-w -F --depth=4 --s3.endpoints=%s,%s -o %s" % (proxy.url, second.url, proxy.store.name("x")), np=2,
                  env=proxy.store.env).ok()
        assert [judged(run, id) for id in ("H41", "H42")] == ["fine", "fine"] and second.count("PUT") == 4


def test_one_task_needs_one_endpoint(ior, rclone):
    assert judged(ior(ONE + "-w -o " + rclone.name("x"), np=1, env=rclone.env).ok(), "H41") == "fine"


# ---- H43: old data ----

def test_old_data_that_other_ranks_read(ior, proxy):
    """A service that gives what was there before, as a cache between may do it."""
    words = SMALL + "-w -R -k -F -o %s " % proxy.store.name("x")
    run = ior(words + "-C -G 1", np=2, env=proxy.store.env).ok()
    assert judged(run, "H43") == "fine", run
    proxy.rule(s3_proxy.stale(proxy.asked("GET", path=r"x\.")), method="GET", path=r"x\.0000000[01]", after=0)
    run = ior(words + "-C -G 1", np=2, env=proxy.store.env)
    assert judged(run, "H43") == "fine", "they are the same"
    run = ior(words + "-C -G 2", np=2, env=proxy.store.env)
    assert run.returncode != 0 and judged(run, "H43") in ("SUSPECT", "INVALID") and finding(run, "H43")["value"] == 8, run
    run = ior(words + "-G 2", np=2, env=proxy.store.env)
    assert run.returncode != 0 and judged(run, "H43") == "not judged", run


# ---- H13, and what is not about objects ----

@pytest.mark.parametrize("options, value", [("", "NOTE"), ("-l random -G 5", "fine")])
def test_data_that_can_be_compressed(ior, rclone, options, value):
    run = ior(SMALL + "-w -r %s -o %s" % (options, rclone.name("x")), np=1, env=rclone.env).ok()
    assert judged(run, "H13") == value, finding(run, "H13")
    for id in ("H02", "H03", "H05", "H07", "H35"):
        f = finding(run, id)
        assert f["outcome"] == "not judged" and "objects are on a service" in f["text"], f
    assert judged(run, "H06") == "fine", finding(run, "H06")


def test_files_are_no_objects(ior):
    run = ior("-t 64k -b 64k --report=json:r.json", np=1).ok()
    assert {judged(run, "H%d" % n) for n in range(39, 44)} == {"not judged"}
