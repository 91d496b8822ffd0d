# SPDX-License-Identifier: BSD-3-Clause
"""--mix with operations on objects: reads, writes, lists, heads and deletes in a ratio, on objects that are a transfer each."""
import csv
import json
import os
import re
import signal

import pytest

import conftest
import s3_proxy
from s3_support import has_the_backend, moto, moto_proxy, moto_server, no_keys, proxied, proxy, rclone, rclone_server, store  # noqa

OBJECTS = "-a S3 --s3.object=transfer -t 4k -b 160k "
MIX = "--mix=read:60,write:25,list:5,head:5,delete:5 "
EVEN = "--mix=read:1,write:1,list:1,head:1,delete:1 "
NAMES = ("mix-write", "mix-read", "mix-list", "mix-head", "mix-del")


def result(ior, name="r.json"):
    return json.loads((ior.cwd / name).read_text())["tests"][0]


def rows(test, iter=0):
    return {row["operation"]: row for row in test["phases"] if row["iter"] == iter}


def counts(test, iter=0):
    return {name: rows(test, iter)[name]["operations"] if name in rows(test, iter) else 0 for name in NAMES}


def drawn(ior, ranks, name="ops-0"):
    """What each task did in the mix, and with which offset, in the order of the steps (of one at a time)."""
    found = {}
    for rank in range(ranks):
        with (ior.cwd / ("%s-%05d.csv" % (name, rank))).open() as file:
            found[rank] = [(row["access"], int(row["offset"])) for row in csv.DictReader(file) if row["access"].startswith("mix-")]
    return found


def left(ops):
    """The offsets whose objects are gone after these operations, checked on the way."""
    gone = set()
    for access, offset in ops:
        assert offset not in gone or access == "mix-write", (access, offset)
        gone.discard(offset)
        if access == "mix-del":
            gone.add(offset)
    return gone


def offsets(keys):
    return {int(key.rpartition("/")[2], 16) for key in keys}


# ---- what is sent ----

@pytest.mark.parametrize("options", ["", "--depth=8", "-F --depth=3 -z --random-offset-seed=5"])
def test_each_operation_is_one_request_and_the_rest_of_the_objects_is_read(ior, proxy, options, np=2):
    words = OBJECTS + "-o %s %s " % (proxy.store.name("d/x"), options)
    ior(words + "-w -k -l signature", np=np, env=proxy.store.env).ok()
    assert len(proxy.behind.keys()) == 80
    proxy.forget()
    run = ior(words + EVEN + "-R -l signature -k -O savePerOpDataCSV=ops --report=text:-,json:r.json", np=np, env=proxy.store.env)
    test = result(run)
    did = counts(test)
    assert sum(did.values()) == 80 and min(did.values()) > 3, did
    assert proxy.count("PUT") == did["mix-write"] and proxy.count("DELETE") == did["mix-del"], proxy.asked()
    lists = [r for r in proxy.asked("GET", "list-type=2") if "max-keys=1000" in r.query and "start-after" in r.query]
    assert len(lists) == did["mix-list"], proxy.asked()
    of = rows(test)
    for name in NAMES:
        row = of[name]
        assert row["bytes"] == (4096 * row["operations"] if name in NAMES[:2] else 0), row
        assert 0 < row["transferP50"] <= row["transferP90"] <= row["transferP99"] <= row["transferMax"], row
        assert row["totalTime"] == of["mix-read"]["totalTime"], row
    assert of["read"]["operations"] == 80 - did["mix-del"] and of["read"]["bytes"] == 4096 * of["read"]["operations"], of["read"]
    gets = [r for r in proxy.asked("GET") if "list-type" not in r.query]
    assert len(gets) == did["mix-read"] + of["read"]["operations"], proxy.asked()
    run.ok()
    gone = {rank: left(ops) for rank, ops in drawn(ior, np).items()}
    keys = proxy.behind.keys()
    if "-F" in options:
        for rank in range(np):
            assert offsets(k for k in keys if ".%08d/" % rank in k) == set(range(0, 163840, 4096)) - gone[rank]
    else:
        assert offsets(keys) == set(range(0, 2 * 163840, 4096)) - gone[0] - gone[1]
    assert len(keys) == 80 - did["mix-del"]


def test_the_same_seed_draws_the_same_and_passes_write_what_was_deleted(ior, rclone):
    """With further passes, whose deleted objects are written first."""
    words = OBJECTS + "-b 32k -F -w -R -l signature " + EVEN + "-k -O savePerOpDataCSV=ops --report=text:-,json:r.json "
    seen = []
    for name in "a", "b":
        for seconds in 0.3, 3, 30:  # a slow service does too few operations in the shorter ones
            ior(words + "-O minTimeDuration=%g -o %s" % (seconds, rclone.name(name)), np=2, env=rclone.env).ok()
            ops = drawn(ior, 2)
            test = result(ior)
            did = counts(test)
            if sum(did.values()) > 48:
                break
        seen.append(ops)
        assert sum(did.values()) > 48 and min(did.values()) > 0, did  # three passes or more
        for rank in range(2):
            gone = left(ops[rank])
            assert offsets(k for k in rclone.keys(name) if ".%08d/" % rank in k) == set(range(0, 32768, 4096)) - gone
        assert [row for row in test["versions"] if row["operation"] == "read"][0]["lostUpdates"] == 0, test["versions"]
    for rank in range(2):
        n = min(len(seen[0][rank]), len(seen[1][rank]))
        assert seen[0][rank][:n] == seen[1][rank][:n] and seen[0][0][:n] != seen[0][1][:n]


@pytest.mark.parametrize("options", ["-C", "-Z", "-F -C -W", "-F --depth=4 -z", "-i 3", "-i 2 -m -F", "-D 30", "-e -g", "-Y --depth=4", "-l random", "-s 3"])
def test_options_with_each_other(ior, store, options):
    """Each read finds what must be there, whoever reads; and nothing is left."""
    run = ior(OBJECTS + "-w -R -r %s %s -o %s --report=text:-,json:r.json" % (EVEN, options, store.name("x")), np=2, env=store.env).ok()
    test = result(run)
    for iter in range(int(re.search("-i ([0-9])", options).group(1)) if "-i" in options else 1):
        did, of = counts(test, iter), rows(test, iter)
        places = sum(did.values())
        if options != "-Z":
            assert of["read"]["operations"] == places - did["mix-del"], (did, of["read"])
        assert places == 80 * (3 if "-s 3" in options else 1), did
    store.is_clean()


def test_a_list_of_more_objects_than_a_page_is_one_request(ior, proxy):
    words = "-a S3 --s3.object=transfer --depth=16 -t 8 -b 12000 -G 7 -o %s " % proxy.store.name("x")
    ior(words + "-w -k", np=1, env=proxy.store.env, timeout=240).ok()
    proxy.forget()
    run = ior(words + "--mix=read:90,write:1,list:5,head:4 -R -k --report=json:r.json", np=1, env=proxy.store.env, timeout=240).ok()
    did = counts(result(run))
    lists = [r for r in proxy.asked("GET", "max-keys=1000") if "start-after" in r.query]
    assert len(lists) == did["mix-list"] > 20 and sum(did.values()) == 1500, did
    assert max(r.answer.body.count(b"<Key>") for r in lists) == 1000 and proxy.count("HEAD") == did["mix-head"] + 2  # and of the two opens


# ---- tables ----

def test_endpoints_have_what_their_tasks_have_asked(ior, proxy, tmp_path):
    with proxied(proxy.behind, tmp_path) as (second, _):
        urls = [proxy.url, second.url]
        words = OBJECTS + "--s3.endpoints=%s -w -R %s -o %s" % (",".join(urls), MIX, proxy.store.name("x"))
        run = ior(words + " --report=text:-,json:r.json", np=3, env=proxy.store.env).ok()
        test = result(run)
        for phase in {row["operation"] for row in test["endpoints"]}:
            of = {row["endpoint"]: row for row in test["endpoints"] if row["operation"] == phase}
            total = [row for row in test["requests"] if row["operation"] == phase][0]
            assert list(of) == urls and [row["tasks"] for row in of.values()] == [2, 1] and [row["number"] for row in of.values()] == [0, 1]
            rest = total["requests"] - sum(row["requests"] for row in of.values())
            assert rest == 0 or (phase != "mix" and 0 < rest <= 2), (of, total)  # the size of the file, after a phase
            assert sum(row["bytes"] for row in of.values()) == sum(r["bytes"] for r in test["phases"] if r["operation"].startswith(phase))
            assert of[urls[0]]["requests"] > of[urls[1]]["requests"] and all(row["requestMean"] > 0 for row in of.values())
        assert {row["endpoint"] for row in test["endpointOperations"]} == set(urls), test["endpointOperations"]
        for name, whole in rows(test).items():
            of = [row for row in test["endpointOperations"] if row["operation"] == name]
            assert sum(row["operations"] for row in of) == (whole["operations"] if name in NAMES else 0), (of, whole)
            assert name not in NAMES or sum(row["bytes"] for row in of) == whole["bytes"], (of, whole)
            for row in of:
                assert 0 < row["operationP50"] <= row["operationP90"] <= row["operationP99"] <= row["operationMax"] <= whole["transferMax"], row
                assert row["operationsPerSecond"] == pytest.approx(row["operations"] / whole["workTime"], rel=1e-3), row
        shown = run.stdout.split("Operations by endpoint (times in ms):\n")[1].split("\n\n")[0].splitlines()
        assert shown[0].split()[1:5] == ["Operation", "Operations", "ops/s", "Bytes"] and {line.split()[-1] for line in shown[1:]} == set(urls), run
        assert len(shown) == 1 + len(test["endpointOperations"]), run
        table = run.stdout.split("Endpoints (")[1].split("\n\n")[0].splitlines()
        assert table[1].split()[-3:] == ["Sent", "again", "Endpoint"] and "Bytes" in table[1].split(), run
        assert [line.split()[-1] for line in table[2:]] == urls * 3, run
        for proxied_ in proxy, second:
            proxied_.forget()
        one = ior(words.replace("," + second.url, "") + " --report=text:-,json:r.json", np=2, env=proxy.store.env).ok()
        assert len([r for r in result(one)["endpoints"] if r["operation"] == "mix"]) == 1 and "Endpoints (" not in one.stdout and "by endpoint" not in one.stdout, one
        hidden = ior(words + " --anonymous --report=text:-,json:h.json", np=2, env=proxy.store.env).ok()
        assert len(result(hidden, "h.json")["endpoints"]) == 6 and "127.0.0.1" not in (ior.cwd / "h.json").read_text()


def test_people_see_a_row_of_each_operation_with_percentiles(ior, rclone):
    run = ior(OBJECTS + "-w %s -i 2 -o %s --report=text:-,csv:r.csv" % (EVEN, rclone.name("x")), np=2, env=rclone.env).ok()
    assert [a for a in run.accesses() if a.startswith("mix")] == list(NAMES) * 2, run
    assert [row["operation"] for row in run.summary] == ["write", *NAMES], run
    table = run.stdout.split("Operations of the mix (times in ms):\n")[1].split("\n\n")[0].splitlines()
    assert table[0].split() == ["iter", "Operation", "Operations", "ops/s", "Bytes", "mean", "50%", "90%", "99%", "99.9%", "max", "ms"], run
    assert [line.split()[:2] for line in table[1:]] == [[iter, name] for iter in "01" for name in NAMES], run
    with (run.cwd / "r.csv").open() as file:
        full = {row["operation"]: row for row in csv.DictReader(file) if row["iter"] == "0"}
    for line in table[1:6]:
        _, name, ops, per_second, size = line.split()[:5]
        assert full[name]["operations"] == ops and full[name]["bytes"] == size and float(per_second) > 0, (line, full[name])


def test_a_rate_is_held_by_all_operations(ior, proxy):
    run = ior(OBJECTS + "-w --depth=4 --rate=400ops %s -R -o %s --report=json:r.json" % (EVEN, proxy.store.name("x")), np=1, env=proxy.store.env).ok()
    test = result(run)
    load = {row["operation"]: row for row in test["load"]}
    assert {name: load[name]["count"] for name in NAMES} == counts(test), load
    assert all(load[name]["responseP50"] > 0 for name in NAMES) and rows(test)["mix-read"]["workTime"] >= 39 / 400, load


def test_operations_are_in_flight_together(ior, proxy):
    words = OBJECTS + "-F -o %s " % proxy.store.name("x")
    for seconds in 0.2, 2:  # in which a slow machine sends some of them only
        proxy.rules.clear()
        ior(words + "-w -k", np=1, env=proxy.store.env).ok()
        proxy.forget()
        proxy.rule(s3_proxy.delay(seconds))
        ior(words + EVEN + "--depth=8 -k", np=1, env=proxy.store.env).ok()
        if proxy.most_in_flight >= 8:
            break
    assert proxy.most_in_flight == 8, proxy.most_in_flight


# ---- failures ----

@pytest.mark.parametrize("depth", ["", "--depth=4"])
def test_operations_that_are_refused_for_now_are_sent_again(ior, proxy, depth):
    words = OBJECTS + "-o %s %s " % (proxy.store.name("x"), depth)
    ior(words + "-w -k", np=1, env=proxy.store.env).ok()
    proxy.forget()
    for method, query in (("HEAD", None), ("DELETE", None), ("GET", "start-after"), ("PUT", None)):
        proxy.rule(s3_proxy.slow_down(), method=method, query=query, after=1, first=1)
    proxy.rule(s3_proxy.drop_after, method="DELETE", after=3, first=1)
    run = ior(words + EVEN + "-k --report=json:r.json", np=1, env=proxy.store.env).ok()
    test = result(run)
    row = [row for row in test["endpoints"] if row["operation"] == "mix"][0]
    assert row["refused"] == 4 and row["lost"] >= 1, row
    assert proxy.count("PUT") == counts(test)["mix-write"] + 1, counts(test)


@pytest.mark.parametrize("depth", ["", "--depth=4"])
@pytest.mark.parametrize("method, query, do, words", [
    ("HEAD", None, s3_proxy.error(404, "NoSuchKey", ""), ["head of the object at offset", "HEAD s3://", "404"]),
    ("HEAD", None, s3_proxy.changed(headers={"Content-Length": "4095"}), ["head of the object at offset", "has 4095 bytes", "4096"]),
    ("DELETE", None, s3_proxy.error(403, "AccessDenied", "Not you."), ["delete of the object at offset", "DELETE s3://", "403 AccessDenied: Not you."]),
    ("GET", "start-after", s3_proxy.error(403, "AccessDenied", "Not you."), ["list of the object at offset", "GET s3://", "start-after", "AccessDenied"]),
    ("GET", "start-after", s3_proxy.changed(body=lambda body: b"<html></html>"), ["list of the object at offset", "not a list of objects"]),
    ("GET", "start-after", s3_proxy.changed(body=lambda body: body.replace(b"<Key>x", b"<Key>y")), ["a key without the requested prefix 'x/'"]),
])
def test_an_operation_that_fails_ends_the_run_with_its_reason(ior, proxy, depth, method, query, do, words):
    name = proxy.store.name("x")
    ior(OBJECTS + "-w -k -o " + name, np=2, env=proxy.store.env).ok()
    proxy.rule(do, method=method, query=query, after=3 if method == "HEAD" else 1)
    run = ior(OBJECTS + EVEN + depth + " -k -o " + name, np=2, env=proxy.store.env)
    assert run.returncode == 3 and len(run.errors) == 1 and all(word in run.errors[0] for word in [*words, "rank "]), run


def test_objects_that_an_earlier_run_has_deleted_are_an_error(ior, rclone):
    words = OBJECTS + "-F -k -o %s " % rclone.name("x")
    ior(words + "-w " + EVEN, np=2, env=rclone.env).ok()
    run = ior(words + "-r", np=2, env=rclone.env)
    assert run.returncode == 3 and len(run.errors) == 1 and "404" in run.errors[0], run


def test_wrong_data_are_found_among_the_operations(ior, proxy):
    """Not in what is listed."""
    proxy.rule(s3_proxy.corrupt(100), method="GET", path="/x/", query="^$", after=2, first=1)
    run = ior(OBJECTS + "-w -R %s -o %s -l signature" % (EVEN, proxy.store.name("x")), np=1, env=proxy.store.env)
    run.fails(4, "wrong data in 1 place")


def test_a_limit_of_time_ends_a_read_that_finds_no_objects(ior, rclone):
    """Each pass has steps and no operation."""
    ior("-a S3 --s3.object=transfer -t 4k -b 4k -F -w --mix=read:1,write:0,delete:1000000 -r -k -O minTimeDuration=0.2 -o " + rclone.name("x"),
        np=2, env=rclone.env, timeout=60).ok()


def test_a_list_that_ignores_where_it_begins_is_an_error(ior, proxy):
    """The service answers as without start-after: its first object is that of another transfer."""
    first = s3_proxy.changed(body=lambda body: re.sub(rb"/[0-9a-f]+</Key>", lambda m: b"/" + b"0" * (len(m[0]) - 7) + b"</Key>", body, count=1))
    proxy.rule(first, method="GET", query="start-after", after=5, first=1)
    words = OBJECTS + "--mix=read:1,write:1,list:100 -o %s" % proxy.store.name("x")
    run = ior(words + " -w", np=1, env=proxy.store.env)
    run.fails(3, "list of the object at offset", "which is not after")


def test_the_mix_says_that_it_deletes_objects_of_an_existing_file(ior, rclone):
    words = OBJECTS + "-k -o %s " % rclone.name("x")
    ior(words + "-w", np=1, env=rclone.env).ok()
    run = ior(words + "--mix=read:1,write:1,delete:1", np=1, env=rclone.env).ok()
    assert any("writes over and deletes objects of the file" in note for note in run.notes), run


def test_results_are_compared_by_each_operation(ior, rclone):
    for name in "a", "b":
        ior(OBJECTS + EVEN + "-w -o %s --report=json:%s.json" % (rclone.name("x"), name), np=1, env=rclone.env).ok()
    compare = conftest.SOURCE / "contrib" / "plot" / "weir-compare"
    said = conftest.subprocess.run(["/usr/bin/python3", str(compare), "a.json", "b.json"], cwd=ior.cwd, capture_output=True, text=True).stdout
    assert all(re.search(r"^%s\b" % name, said, re.M) for name in NAMES), said


def test_all_objects_may_be_deleted(ior, rclone):
    run = ior("-a S3 --s3.object=transfer -t 4k -b 4k -F -w --mix=read:1,write:0,delete:1000000 -R -r -k -o %s --report=text:-,json:r.json"
              % rclone.name("x"), np=2, env=rclone.env).ok()
    assert rclone.keys() == {} and rows(result(run))["read"]["operations"] == 0, run
    run = ior("-a S3 --s3.object=transfer -t 4k -b 4k -F -w --mix=read:1,write:0,delete:1000000 -R -o %s" % rclone.name("x"), np=2, env=rclone.env).ok()


# ---- what cannot be ----

@pytest.mark.parametrize("words, found", [
    ("-w --mix=read:1,write:1,list:1", ("--mix with list, head or delete", "-a S3 --s3.object=transfer")),
    ("-a S3 --s3.part-least=1 -w --mix=read:1,write:1,delete:1 -o s3://bucket/x", ("--mix", "--s3.object=transfer")),
    ("-a S3 --s3.object=transfer --rate=1m -w --mix=read:1,write:1,head:1 -o s3://bucket/x", ("move no bytes", "500ops")),
    ("-a S3 --s3.object=transfer --rate=1M -w --mix=read:1,write:1,head:1 -o s3://bucket/x", ("move no bytes", "500ops")),
    ("-a S3 --s3.object=transfer -i 2 --mix=read:1,write:1,delete:1 -o s3://bucket/x", ("--mix with delete", "-i", "add -w")),
    ("-w --mix=read:1,write:1,stat:1", ("option --mix: 'read:1,write:1,stat:1'", "read:70,write:30")),
    ("-w --mix=read:1,write:1,head", ("option --mix:", "read:70,write:30")),
    ("-w --mix=list:1,head:1", ("option --mix:", "read:70,write:30")),
    ("-w --mix=read:0,write:0,head:1", ("option --mix:", "read:70,write:30")),
    ("-w --mix=read:1,write:1,head:1,head:1", ("option --mix:", "read:70,write:30")),
    ("-w --mix=read:1,write:1,head:-1", ("option --mix:", "read:70,write:30")),
], ids=lambda v: v.replace(" ", "_").replace("/", "") if isinstance(v, str) else "")
def test_mixes_that_cannot_be_are_refused(ior, words, found):
    run = ior("-t 4k -b 16k " + words, np=2, env={"AWS_ENDPOINT_URL": "http://127.0.0.1:9"})
    run.fails(1, *found)
    assert len(run.errors) == 1, run


def test_weights_of_zero_need_no_objects(ior):
    run = ior("-w -t 4k -b 64k --mix=read:1,write:1,list:0,delete:0 -R", np=1).ok()
    assert [a for a in run.accesses() if a.startswith("mix")] == ["mix-write", "mix-read"], run


def test_objects_of_another_size_are_not_mixed(ior, rclone):
    ior("-a S3 --s3.object=transfer -t 8k -b 64k -w -k -o " + rclone.name("x"), np=1, env=rclone.env).ok()
    run = ior("-a S3 --s3.object=transfer -t 4k -b 64k --mix=read:1,write:1 -k -o " + rclone.name("x"), np=None, env=rclone.env)
    run.fails(2, "have 8192 bytes", "give transfers of 8192 bytes")
    assert len(rclone.keys()) == 8


def test_a_dry_run_asks_nothing(ior, proxy):
    ior(OBJECTS + "-w %s --dry-run -o %s" % (MIX, proxy.store.name("x")), np=2, env=proxy.store.env).ok()
    assert proxy.asked() == []


@pytest.mark.parametrize("depth", ["", "--depth=4"])
@pytest.mark.parametrize("method, query", [("HEAD", None), ("DELETE", "^$"), ("GET", "start-after")])
def test_a_signal_ends_the_mix_and_removes_the_objects(ior, proxy, depth, method, query):
    """While a request for an object is in flight."""
    gate = s3_proxy.Gate(seconds=0.3)
    rule = proxy.rule(gate, method=method, query=query, after=3 if method == "HEAD" else 1)
    words = "-w -R --mix=read:2,write:2,list:4,head:4,delete:4 "
    proc = ior.start(OBJECTS + words + depth + " -o " + proxy.store.name("x"), np=2, env=proxy.store.env)
    pids = ior.wait_for_ranks(proc, 2)
    conftest.wait_until(lambda: rule["done"] >= 1 or proc.poll() is not None)
    assert proc.poll() is None, ior.collect(proc)
    os.kill(pids[1], signal.SIGTERM)
    gate.open()
    run = ior.finish(proc)
    assert run.returncode != 0 and len(run.errors) == 1 and "interrupted in the mix phase" in run.errors[0], run
    proxy.behind.is_clean()


def test_a_task_with_a_longer_list_of_endpoints_is_counted(ior, proxy, tmp_path):
    """Each task reads its own environment."""
    with proxied(proxy.behind, tmp_path) as (second, _):
        both = 'test "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}" = 0 || export AWS_ENDPOINT_URL=%s,%s; exec "$@"' % (proxy.url, second.url)
        run = ior(OBJECTS + "-w -R %s --report=json:r.json -o %s" % (MIX, proxy.store.name("x")), np=2, env=proxy.store.env,
                  prefix=("sh", "-c", both, "sh")).ok()
        rows = [row for row in result(run)["endpoints"] if row["operation"] == "mix"]
        assert [(row["number"], row["tasks"]) for row in rows] == [(0, 1), (1, 1)] and second.count("PUT") > 40, rows
        assert rows[0]["endpoint"] == proxy.url and rows[1]["endpoint"] == "not in the list of rank 0", rows
