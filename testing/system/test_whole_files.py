# SPDX-License-Identifier: BSD-3-Clause
"""Result files: documents are whole or not there and say how the program ended; rows appear when they are measured."""
import json
import os
import shutil
import signal
import stat
import subprocess
import threading

import pytest

import conftest
from mdtest_support import mdtest  # noqa: F401  (a fixture)
from mdw_support import SMALL, mdw  # noqa: F401  (a fixture)
from plot_support import load_weir_plot

LEFT = ".r.json.incomplete"
SLOW = "-a DUMMY -w -i 500 -b 8k -t 8k -d 0 --dummy.delay-xfer=20000"


def document(run, name="r.json"):
    """A complete document that tells how this run ended."""
    data = json.loads((run.cwd / name).read_text())
    assert data["status"] == run.returncode and data["error"] == (run.errors or [""])[0], run
    assert isinstance(data["warnings"], list) and isinstance(data["notes"], list) and data["program"]
    return data


# ---- the status ----

def test_the_status_of_a_document_is_that_of_the_program(ior, mdtest, mdw):  # noqa: F811
    for program, args in ((ior, "-a DUMMY -w -b 8k -t 8k"), (mdtest, "-n 1"), (mdw, SMALL)):
        run = program(args + " --report=json:r.json,csv:/dev/full", np=2).fails(2, "/dev/full")
        data = document(run)
        assert "Finished" in data and data["tests"], run


def test_a_run_that_fails_before_it_begins_has_a_document(ior, mdtest):  # noqa: F811
    run = ior("-a DUMMY -w -b 8k -t 8k --report=json:r.json -O saveRankPerformanceDetailsCSV=no/x", np=2).fails(2, "no/x")
    assert "no/x" in document(run)["Command line"]
    run = mdtest("-n 1 --report=json:r.json --saveRankPerformanceDetails=no/x", np=2).fails(2, "no/x")
    assert document(run)["program"] == "mdtest"


def test_a_document_that_cannot_be_written_is_an_error(ior):
    run = ior("-a DUMMY -w -b 8k -t 8k --report=json:/dev/full,csv:c", np=None).fails(2, "/dev/full", os.strerror(28))
    assert (ior.cwd / "c").read_text().count("\n") == 2, run


def test_a_document_whose_hidden_file_cannot_be_made_names_that_file(ior):
    (ior.cwd / LEFT).mkdir()
    ior("-a DUMMY -w -b 8k -t 8k --report=json:r.json", np=None).fails(2, "'r.json'", "'%s'" % LEFT, os.strerror(21))
    assert ior.files() == [LEFT]


def test_an_error_after_an_output_was_closed_uses_it_no_more(ior):
    """The memory of a closed stream is overwritten at once."""
    env = {"GLIBC_TUNABLES": "glibc.malloc.tcache_count=0:glibc.malloc.perturb=165"}
    ior("-a DUMMY -w -b 4k -t 4k --report=text:/dev/full,csv:c", np=None, env=env).fails(2, "/dev/full", os.strerror(28))


# ---- whole or not there ----

@pytest.mark.waits
def test_a_killed_run_leaves_rows_and_an_incomplete_document_that_tools_read(ior, monkeypatch, capsys):
    """What an earlier run has left is gone, too: nobody takes it for the results of this one."""
    (ior.cwd / "r.json").write_text("old")
    (ior.cwd / LEFT).write_text("old")
    proc = ior.start(SLOW + " --report=json:r.json,csv:c.csv,text:t.txt", np=2)
    rows = ior.cwd / "c.csv"
    conftest.wait_until(lambda: rows.exists() and rows.read_text().count("\n") > 3)
    assert (ior.cwd / "t.txt").stat().st_size > 0 and ior.files() == [LEFT, "c.csv", "t.txt"]
    for pid in ior.wait_for_ranks(proc, 2):
        os.kill(pid, signal.SIGKILL)
    ior.finish(proc)
    assert ior.files() == [LEFT, "c.csv", "t.txt"] and rows.read_text().endswith("\n")
    monkeypatch.chdir(ior.cwd)
    cli = load_weir_plot(conftest.SOURCE)
    from weir_plot import compare, jsonfile
    data = jsonfile.read(LEFT)
    assert data["unfinished"] == 1 and len(data["tests"][0]["phases"]) > 2 and "status" not in data
    assert compare.main([LEFT, LEFT]) == 0 and "A: %s is incomplete: its run was killed" % LEFT in capsys.readouterr().out
    assert compare.main(["r.json", LEFT]) == 1 and "what it had measured is in " + LEFT in capsys.readouterr().err
    assert cli.main(["report", LEFT]) == 0 and "note: %s is incomplete" % LEFT in capsys.readouterr().err
    assert "The run was killed, or still runs" in (ior.cwd / "r-report.html").read_text()


def test_two_jobs_at_once_with_one_name_do_not_mix(ior):
    """The last one to end has the place."""
    proc = ior.start(SLOW + " --report=json:r.json,csv:c.csv", np=None)
    rows = ior.cwd / "c.csv"
    conftest.wait_until(lambda: rows.exists() and rows.read_text().count("\n") > 1)
    subprocess.run([conftest.BUILD / "src" / "mdtest"] + "-a DUMMY -n 3 -F --report=json:r.json".split(), cwd=ior.cwd, check=True,
                   env=conftest.program_env(), capture_output=True, timeout=60)
    assert json.loads((ior.cwd / "r.json").read_text())["program"] == "mdtest" and LEFT in ior.files()
    proc.terminate()
    assert document(ior.finish(proc, 30).ok(6))["program"] == "ior" and ior.files() == ["c.csv", "r.json"]


def test_an_interrupted_run_has_a_document(ior):
    proc = ior.start(SLOW + " --report=json:r.json,csv:c.csv", np=2)
    rows = ior.cwd / "c.csv"
    conftest.wait_until(lambda: rows.exists() and rows.read_text().count("\n") > 1)
    os.kill(ior.wait_for_ranks(proc, 2)[1], signal.SIGTERM)
    assert document(ior.finish(proc, 30).ok(6))["tests"][0]["Results"]


def test_a_document_takes_the_place_of_what_a_link_names(ior):
    (ior.cwd / "there").mkdir()
    (ior.cwd / "there" / "file").write_text("old " * 10000)
    (ior.cwd / "r.json").symlink_to("there/file")
    (ior.cwd / "n.json").symlink_to("there/new")
    (ior.cwd / ("x" * 255)).write_text("")  # no room for a longer name
    run = ior("-a DUMMY -w -b 8k -t 8k --report=json:r.json,json:n.json,json:" + "x" * 255, np=None).ok()
    for name in ("r.json", "n.json", "x" * 255):
        assert document(run, name)["tests"]
    assert os.path.islink(ior.cwd / "r.json") and sorted(os.listdir(ior.cwd / "there")) == ["file", "new"]
    mode = stat.S_IMODE((ior.cwd / "there" / "file").stat().st_mode)
    assert mode == stat.S_IMODE((ior.cwd / "there" / "new").stat().st_mode) and mode & 0o600 == 0o600


def test_a_document_goes_into_a_pipe(ior):
    os.mkfifo(ior.cwd / "p")
    got = []
    reader = threading.Thread(target=lambda: got.append((ior.cwd / "p").read_text()), daemon=True)
    reader.start()
    ior("-a DUMMY -w -b 8k -t 8k --report=json:p", np=None).ok()
    reader.join(20)
    assert json.loads(got[0])["status"] == 0 and stat.S_ISFIFO((ior.cwd / "p").stat().st_mode)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_file_that_may_not_be_written_is_found_before_any_io(ior):
    (ior.cwd / "r.json").write_text("mine")
    (ior.cwd / "r.json").chmod(0o444)
    ior("-w -k -b 8k -t 8k --report=json:r.json", np=None).fails(2, "r.json")
    assert ior.files() == ["r.json"] and (ior.cwd / "r.json").read_text() == "mine"


def test_a_document_comes_into_a_directory_that_files_are_only_added_to(ior):
    """Names cannot be changed there: what was measured would be lost at the end."""
    place = ior.cwd / "added"
    place.mkdir()
    if not shutil.which("chattr") or subprocess.run(["chattr", "+a", str(place)], capture_output=True).returncode:
        pytest.skip("chattr +a does not work here")
    try:
        document(ior("-a DUMMY -w -b 4k -t 4k --report=json:added/r.json", np=None).ok(), "added/r.json")
    finally:
        subprocess.run(["chattr", "-a", str(place)], check=True)


def test_a_status_file_is_whole(ior):
    """The new number stands in a new file: a link to the old one keeps what it had."""
    (ior.cwd / "st").write_text("12345678")
    os.link(ior.cwd / "st", ior.cwd / "other")
    ior("-w -k -b 8k -t 4k -D 30 -O stoneWallingWearOut=1,stoneWallingStatusFile=st").ok()
    assert (ior.cwd / "st").read_text() == "2" and (ior.cwd / "other").read_text() == "12345678"
