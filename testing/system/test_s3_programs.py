# SPDX-License-Identifier: BSD-3-Clause
"""mdtest, md-workbench and mib on objects: each phase, what is left after it, and how many requests it takes."""
import json
import re
import subprocess

import pytest

import conftest
import s3_proxy  # noqa
from mdtest_support import mdtest  # noqa
from mdw_support import mdw  # noqa
from mib_support import mib  # noqa
from s3_support import has_the_backend, moto, moto_server, no_keys, proxy, rclone, rclone_server, store  # noqa


# ---- mdtest ----

FILES, TREES, BOTH = "-F -w 100 -e 100 -X -R --existing=fail", "-F -u -z 1 -b 2 -L", "--s3.markers -w 9 -i 2"


@pytest.mark.parametrize("np, options, phases", [(1, FILES, "F"), (3, FILES, "F"), (5, FILES, "F"), (5, TREES, "F"), (1, BOTH, "DF"), (3, BOTH, "DF")])
def test_all_phases_are_measured_and_nothing_is_left(mdtest, request, np, options, phases):
    """rclone keeps objects as files, so that none of them can be a marker of a directory."""
    store = request.getfixturevalue("moto" if "markers" in options else "rclone")
    run = mdtest("-a S3 -n 6 %s -d %s" % (options, store.name("t")), np=np, env=store.env).ok()
    want = {"F": {"File creation", "File stat", "File read", "File removal"},
            "D": {"Directory creation", "Directory stat", "Directory removal"}}
    assert set.union(*(want[p] for p in phases)) <= set(run.measured()), run
    store.is_clean()


@pytest.mark.parametrize("np", [1, 3])
def test_each_phase_alone_finds_what_the_one_before_it_left(mdtest, proxy, np):
    name, n = proxy.store.name("t"), 4 * np
    ask = {"-C": "PUT", "-T": "HEAD", "-E -e 64 -w 64 -X": "GET", "-r": "DELETE"}
    for phase, method in ask.items():
        proxy.forget()
        mdtest("-a S3 -F -n 4 %s -d %s" % (phase + " -w 64" if phase == "-C" else phase, name), np=np, env=proxy.store.env).ok()
        assert proxy.count(method, path=r"file\.mdtest\.") == n + ("X" in phase), proxy.asked()  # the seed is in the first file
        assert len(proxy.behind.keys()) == (0 if phase == "-r" else n), (phase, proxy.behind.keys())
        assert set(proxy.behind.keys().values()) <= {64}


def test_a_tree_has_its_items_where_they_belong(mdtest, rclone):
    """2 branches on 2 levels: 7 directories, of which 4 are leaves."""
    for options, files in (("-z 2 -b 2 -I 3", 7 * 3), ("-z 2 -b 2 -I 3 -L", 4 * 3), ("-z 2 -b 2 -I 3 -u -L", 4 * 3)):
        name = rclone.name("t" + re.sub(r"\W", "", options))
        mdtest("-a S3 -F -C %s -d %s" % (options, name), np=2, env=rclone.env).ok()
        keys = rclone.keys(name.partition("//")[2].partition("/")[2])
        assert len(keys) == 2 * files, keys
        assert ("/mdtest_tree.1.0/" in " ".join(keys)) == ("-u" in options), keys
        mdtest("-a S3 -F -r %s -d %s" % (options, name), np=2, env=rclone.env).ok()
    rclone.is_clean()


def test_directories_are_objects_with_markers_only(mdtest, moto):
    words = "-a S3 -D -n 3 --s3.markers -d " + moto.name("t")
    mdtest(words + " -C", np=3, env=moto.env).ok()
    keys = moto.keys()
    assert len([key for key in keys if re.search(r"/dir\.mdtest\.\d\.\d/$", key)]) == 9 and set(keys.values()) == {0}, keys
    mdtest(words + " -T", np=3, env=moto.env).ok()
    mdtest(words + " -r", np=3, env=moto.env).ok()
    assert moto.keys() == {"t/": 0}, "the directory of -d was there before -r began"


@pytest.mark.parametrize("options, words", [("-D", "--s3.markers"), ("", "--s3.markers"), ("-F -S", "-S"), ("-F -y -w 5", "-y")])
def test_what_objects_cannot_do_is_refused_before_anything_is_made(mdtest, proxy, options, words):
    run = mdtest("-a S3 %s -n 2 -d %s" % (options, proxy.store.name("t")), np=2, env=proxy.store.env)
    assert run.returncode == 1 and words in " ".join(run.errors) and len(run.errors) == 1 and run.warnings == [], run
    assert proxy.asked() == []


def test_directories_are_not_renamed(mdtest, moto):
    run = mdtest("-a S3 -D -C -T -U -r -n 2 --s3.markers -d " + moto.name("t"), np=2, env=moto.env).ok()
    assert any("cannot rename" in warning for warning in run.warnings) and "Directory rename" not in run.measured(), run
    moto.is_clean()


def test_files_that_are_there_are_a_reason_to_stop_where_that_is_wanted(mdtest, rclone):
    mdtest("-a S3 -F -C -n 2 -w 5 -d " + rclone.name("t"), np=2, env=rclone.env).ok()
    run = mdtest("-a S3 -F -n 2 -w 7 --existing=fail -d " + rclone.name("t"), np=2, env=rclone.env)
    assert run.returncode != 0 and len(run.errors) == 1 and set(rclone.keys().values()) == {5}, run
    mdtest("-a S3 -F -n 2 -w 7 -d " + rclone.name("t"), np=2, env=rclone.env).ok()
    rclone.is_clean()


@pytest.mark.parametrize("options", ["-c", "-k -N 1", "-Y -w 200k -e 200k -R -t"])
def test_other_modes_of_files(mdtest, rclone, options):
    mdtest("-a S3 -F -n 3 %s -d %s" % (options, rclone.name("t")), np=3, env=rclone.env).ok()
    rclone.is_clean()


def test_data_that_are_wrong_are_found(mdtest, rclone):
    mdtest("-a S3 -F -C -n 2 -w 64 -d " + rclone.name("t"), np=1, env=rclone.env).ok()
    key = sorted(rclone.keys())[0]
    rclone.put(key, b"x" * 64)
    run = mdtest("-a S3 -F -E -X -n 2 -w 64 -e 64 -d " + rclone.name("t"), np=1, env=rclone.env)
    assert run.returncode != 0 or "differ" in run.stdout + run.stderr, run


def test_an_object_that_is_missing_is_an_error_with_its_name(mdtest, rclone):
    mdtest("-a S3 -F -C -n 2 -d " + rclone.name("t"), np=1, env=rclone.env).ok()
    key = sorted(rclone.keys())[1]
    assert rclone.ask("DELETE", key)[0] == 204
    run = mdtest("-a S3 -F -T -n 2 -d " + rclone.name("t"), np=1, env=rclone.env)
    assert run.returncode != 0 and key in run.stderr, run


# ---- md-workbench ----

@pytest.mark.parametrize("np", [1, 3])
def test_md_workbench_has_its_objects_and_removes_them(mdw, store, np):
    words = "-a S3 -I 2 -P 3 -D 2 -R 1 -G 10 -S 200 --verify-read -o %s " % store.name("sets")
    mdw(words, np=np, env=store.env).ok()
    store.is_clean()


def test_md_workbench_in_single_phases(mdw, rclone):
    words = "-a S3 -I 2 -P 3 -D 2 -R 2 -S 200 -o %s " % rclone.name("sets")
    mdw(words + "-1", np=2, env=rclone.env).ok()
    keys = rclone.keys()
    assert len(keys) == 2 * 2 * 3 and set(keys.values()) == {200}, keys
    mdw(words + "-2", np=2, env=rclone.env).ok()
    assert len(rclone.keys()) == 2 * 2 * 3 and rclone.keys().keys() != keys.keys(), rclone.keys()
    mdw(words + "-3", np=2, env=rclone.env).ok()
    rclone.is_clean()


# ---- mib ----

@pytest.mark.parametrize("np, options", [(1, ""), (3, ""), (3, "-b 16k --verify"), (2, "--depth=4"), (2, "-n"), (2, "--s3.object=transfer")])
def test_mib_writes_and_reads_objects(mib, rclone, np, options):
    words = "--api=S3 --s3.part-least=64k -s 64k -l 4 -t %s %s" % (rclone.name("m"), options)
    mib(words, np=np, env=rclone.env).ok()
    assert sum(rclone.keys().values()) == np * 4 * 65536 and rclone.uploads() == [], rclone.keys()
    mib(words + " -R -r", np=np, env=rclone.env).ok()
    rclone.is_clean()


def test_requests_of_the_preparation_are_not_those_of_the_phase(mib, rclone):
    """Before the clock of a phase mib looks for the objects."""
    mib("--api=S3 --s3.part-least=64k -s 64k -l 4 -t %s --report=json:r.json" % rclone.name("m"), np=1, env=rclone.env).ok()
    test = json.loads((mib.cwd / "r.json").read_text())["tests"][0]
    for table in "endpoints", "requests":
        assert {row["operation"]: row["requests"] for row in test[table]} == {"write": 1 + 4 + 1, "read": 1 + 4}, test[table]


def test_the_name_of_an_object_is_none_of_a_file(ior, tmp_path):
    ior("-t 4k -b 8k -o s3://b/x", np=2).fails(1, "s3://b/x", "POSIX", "S3")
    (tmp_path / "c.ini").write_text("[global]\ndatadir = s3://b/io\n")
    run = subprocess.run([conftest.BUILD / "src" / "weir-io500", "c.ini"], cwd=tmp_path, env=conftest.program_env(), capture_output=True, text=True)
    assert run.returncode == 1 and "datadir" in run.stderr and not (tmp_path / "s3:").exists(), run
