# SPDX-License-Identifier: BSD-3-Clause
"""--existing on objects: what is there is looked for before anything starts, and is a condition of each write."""
import pytest

import s3_proxy
import s3_support
from mdtest_support import mdtest  # noqa
from mdw_support import mdw  # noqa
from mib_support import mib  # noqa
from s3_support import has_the_backend, moto, moto_server, no_keys, proxy, rclone, rclone_server, store  # noqa

SMALL = s3_support.SMALL + "-w --existing=fail "


PROGRAMS = {
    "ior": "-t 64k -b 256k --s3.part-least=64k -w -k -o NAME",
    "ior --s3.object=transfer": "-t 64k -b 256k --s3.object=transfer -w -k -o NAME",
    "mdtest": "-F -C -n 3 -d NAME",
    "md-workbench": "-1 -D 2 -I 3 -P 3 -o NAME",
    "mib": "-s 64K -l 4 --s3.part-least=64k -W -t NAME",
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_is_there_is_refused_before_anything_is_written(program, request, proxy):
    run = request.getfixturevalue({"md-workbench": "mdw"}.get(program, program.split()[0]))
    words = "--api=S3 " * (program == "mib") + "-a S3 " * (program != "mib") + PROGRAMS[program].replace("NAME", proxy.store.name("here"))
    run(words, np=2, env=proxy.store.env).ok()
    assert proxy.behind.keys("here"), words
    proxy.forget()
    done = run(words + " --existing=fail", np=2, env=proxy.store.env)
    assert done.returncode != 0 and "exist" in done.stderr, done
    assert proxy.count("PUT") == 0 == proxy.count("POST"), proxy.asked()
    other = proxy.store.name("other")
    run(words.replace(proxy.store.name("here"), other) + " --existing=fail", np=2, env=proxy.store.env).ok()


@pytest.mark.parametrize("mode", ["-F -t 256k", "-F", "", "-F --s3.part=128k", "--s3.object=transfer", "-F -t 256k -i 2", "-i 2"])
def test_a_write_is_done_only_where_nothing_is(ior, proxy, mode):
    ior(SMALL + "%s -o %s" % (mode, proxy.store.name("x")), np=2, env=proxy.store.env).ok()
    makes = proxy.asked("PUT", "^$") + proxy.asked("POST", "^uploadId")
    assert makes and all(r.headers.get("if-none-match") == "*" for r in makes), [(r, r.headers) for r in makes]


def test_without_the_option_there_is_no_condition(ior, proxy):
    ior(SMALL.replace("--existing=fail", "") + "-F -o " + proxy.store.name("x"), np=2, env=proxy.store.env).ok()
    assert not [r for r in proxy.asked() if "if-none-match" in r.headers]


@pytest.mark.parametrize("mode, method, query", [("-F -t 256k", "PUT", None), ("", "POST", "^uploadId")])
def test_an_object_that_another_has_made_meanwhile_is_an_error(ior, proxy, mode, method, query):
    proxy.rule(s3_proxy.error(412, "PreconditionFailed"), method=method, query=query)
    ior(SMALL + "%s -o %s" % (mode, proxy.store.name("x")), np=2, env=proxy.store.env).fails(3, "PreconditionFailed", proxy.store.bucket)
    proxy.behind.is_clean()


@pytest.mark.parametrize("do", [s3_proxy.slow_down(), s3_proxy.drop])
def test_what_fails_for_a_moment_is_sent_again_with_its_condition(ior, proxy, do):
    proxy.rule(do, method="PUT", first=2)
    ior(SMALL + "-F -t 256k -o " + proxy.store.name("x"), np=None, env=proxy.store.env).ok()
    assert [r.headers.get("if-none-match") for r in proxy.asked("PUT")] == ["*"] * 3


@pytest.mark.parametrize("is_ours", [True, False])
def test_an_object_that_is_there_at_the_second_try_is_ours_where_it_has_our_data(ior, proxy, is_ours):
    proxy.rule(s3_proxy.drop_after if is_ours else s3_proxy.drop, method="PUT", first=1)
    proxy.rule(s3_proxy.error(412, "PreconditionFailed"), method="PUT")
    if not is_ours:  # another client puts it between the first try and the second
        proxy.rule(s3_proxy.changed(status=200, body=lambda body: bytes(262144)), method="GET", path="x.00000000$")
    run = ior(SMALL + "-F -k -t 256k -o " + proxy.store.name("x"), np=None, env=proxy.store.env)
    assert proxy.count("PUT") == 2 and proxy.count("GET", path="x.00000000$") >= 1, proxy.asked()
    assert run.returncode == (0 if is_ours else 3) and is_ours == ("PreconditionFailed" not in run.stderr), run


def test_moto_keeps_the_condition(ior, moto):
    ior(SMALL + "-F -k -t 256k -o " + moto.name("x"), np=2, env=moto.env).ok()
    assert moto.ask("PUT", "x.00000000", body=b"1")[0] == 200
    ior(SMALL.replace("-w", "-w -r") + "-F -o " + moto.name("y"), np=2, env=moto.env).ok()


def test_mdtest_says_that_its_removal_is_not_for_objects(mdtest, proxy):
    env = proxy.store.env
    mdtest("-a S3 -F -C -n 2 -d " + proxy.store.name("t"), np=None, env=env).ok()
    again = mdtest("-a S3 -F -C -n 2 -d " + proxy.store.name("t"), np=None, env=env).ok()
    assert "a tool of the service removes them" in again.stderr and "--cleanup" not in again.stderr, again
    kept = proxy.behind.keys()
    mdtest("-a S3 --cleanup " + proxy.store.name("t"), np=None, env=env).fails(1, "--cleanup", "S3", proxy.store.name("t"))
    assert kept and proxy.behind.keys() == kept
