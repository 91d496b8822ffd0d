# SPDX-License-Identifier: BSD-3-Clause
"""What each level of -v adds, and verbose=-1."""
import re
import time

import pytest

from conftest import timely

WORK = "-w -W -r -F -b 32k -t 16k "
STAMP = re.compile(r"^Test (\d+): Iter=(\d+), Task=(\d+), Time=(\d+\.\d{6}), (write|read) (.*)$", re.M)
LABELS = ["open start", "open stop", "start", "stop", "close start", "close stop"]


def lines(run, begin):
    return [line for line in run.stdout.split("\n") if re.match(begin, line)]


def test_below_three_there_is_no_trace(ior):
    for level in ("", "-v ", "-v -v "):
        run = ior(level + WORK).ok()
        for word in ("ENVIRON", "Commencing", "task 0 ", "Time=", "data moved", "Parameters"):
            assert word not in run.stdout


def test_three_shows_the_environment_of_rank_0(ior):
    run = ior("-v=3 -w -b 8k -t 8k", env={"ODD_NAME": "a value", "AWS_SECRET_ACCESS_KEY": "hidden", "my_password": "hidden",
                                               "http_proxy": "http://me:hidden@host:1/", "ODD_URL": "http://host/@"}).ok()
    text = run.stdout.split("STARTING ENVIRON LOOP\n")[1].split("\nENDING ENVIRON LOOP\n")[0].split("\n")
    assert text.count("ODD_NAME=a value") == 1
    assert {"AWS_SECRET_ACCESS_KEY=(left out)", "my_password=(left out)", "http_proxy=(left out)", "ODD_URL=http://host/@"} <= set(text)
    assert "hidden" not in run.stdout, "outputs are shown to others"
    assert run.stdout.index("Machine ") < run.stdout.index("STARTING ENVIRON") < run.stdout.index("TestID ")


def test_three_names_the_file_of_every_task(ior):
    run = ior("-v=3 -C " + WORK).ok()
    assert lines(run, r"task \d") == [
        "task 0 writing testFile.00000000", "task 1 writing testFile.00000001",
        "task 0 reading testFile.00000001", "task 1 reading testFile.00000000",  # the check of -W
        "task 0 reading testFile.00000001", "task 1 reading testFile.00000000",
        "task 0 removing testFile.00000000", "task 1 removing testFile.00000001"]
    shared = ior("-v=3 -w -b 8k -t 8k", np=3).ok()
    assert lines(shared, r"task \d") == ["task %d writing testFile" % i for i in range(3)] + ["task 0 removing testFile"]


@pytest.mark.parametrize("np", [1, 3])
def test_three_shows_six_time_stamps_of_every_task(ior, np):
    before = time.time()
    run = ior("-v=3 -g -i 2 " + WORK, np=np).ok()
    found = STAMP.findall(run.stdout)
    assert [f[1:3] + f[4:] for f in found] == [
        (str(rep), str(task), access, label)
        for rep in range(2) for access in ("write", "read") for task in range(np) for label in LABELS]
    times = [float(f[3]) for f in found]
    for k in range(0, len(times), 6):
        assert times[k:k + 6] == sorted(times[k:k + 6])
    assert before - 1 <= min(times) and max(times) <= time.time() + 1  # the time of day
    rows = [row for row in run.rows if row["access"] != "remove"]
    for i, row in enumerate(rows):  # the row is made of these stamps
        mine = times[i * 6 * np:(i + 1) * 6 * np]
        assert abs(max(mine[5::6]) - min(mine[0::6]) - row["total"]) < 2e-5 + 0.002 * row["total"], run


def test_three_says_when_a_phase_begins(ior):
    run = ior("-v=3 " + WORK).ok()
    date = r"\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}\n"
    assert len(re.findall("^Commencing write performance test: " + date, run.stdout, re.M)) == 1
    assert len(re.findall("^Commencing read performance test: " + date + "\n", run.stdout, re.M)) == 1
    assert "Parameters: \n" in run.stdout


def test_three_says_how_much_memory_is_taken(ior):
    assert "This task hogging 1048576 bytes of memory\n" in ior("-v=3 -w -b 8k -t 8k -O memoryPerTask=1m").ok().stdout
    assert "This node hogging 2097152 bytes of memory\n" in ior("-v=3 -w -b 8k -t 8k -M 2m").ok().stdout


def test_four_says_what_every_task_moved_and_does_not_sleep(ior):
    run = ior("-v=4 -w -b 32k -t 16k").ok()
    assert lines(run, r"\* data moved = ") == ["* data moved = 32768"] * 2 and "sleeping" not in run.stdout


@pytest.mark.parametrize("level", [3, 4, 5])
def test_no_level_waits(ior, level):
    run = ior("-a DUMMY -w -r -b 8k -t 8k -v=%d -O summaryFormat=JSON" % level, np=None).ok()
    began, finished = (time.mktime(time.strptime(run.document()[key])) for key in ("Began", "Finished"))
    timely(finished - began < 4, run)


def test_five_writes_nothing_into_the_tables(ior):
    run = ior("-w -R -vvvvv -b 8k -t 8k", np=2).ok()
    assert "data comparison" not in run.stdout.lower() and [a for a in run.accesses() if a != "remove"] == ["write", "read"], run


def test_three_shows_the_letter_of_the_packet(ior):
    """The one that -l takes, and no parameter is (null)."""
    ior.script(*("dataPacketType=" + packet for packet in ("timestamp", "offset", "incompressible", "random", "signature")))
    run = ior("-a DUMMY -vvv -w -b 8k -t 8k -f s", np=None).ok()
    assert re.findall(r"^data packet type +: (.*)$", run.stdout, re.M) == list("toirs") and "(null)" not in run.stdout


def test_results_and_summary_are_the_same_at_every_level(ior):
    for level in range(6):
        run = ior("-v=%d -w -r -b 32k -t 16k" % level).ok()
        assert [a for a in run.accesses() if a != "remove"] == ["write", "read"] and len(run.summary) == 2
        assert run.messages == []


def test_minus_one_leaves_banner_and_summary(ior):
    run = ior("-w -r -b 32k -t 16k -O verbose=-1").ok()
    assert re.match(r"IOR-.*\nBegan .*\nCommand line .*\nMachine .*\n\nSummary of all tests:\nOperation .*\nwrite .*\nread .*\nFinished ",
                    run.stdout), run


def test_minus_one_hides_one_test_of_a_script_and_nothing_from_programs(ior):
    (ior.cwd / "s").write_text("IOR START\nblockSize=8k\ntransferSize=8k\nverbose=-1\nRUN\nverbose=0\nRUN\nIOR STOP\n")
    run = ior("-f s --report=text:-,csv:r.csv").ok()
    assert re.findall("^TestID +: (.)", run.stdout, re.M) == ["1"] and len(run.summary) == 4
    assert len((ior.cwd / "r.csv").read_text().split("\n")) == 1 + 4 + 1


def test_nodes_that_are_not_there_are_said_above_the_banner(ior):
    run = ior("-w -b 8k -t 8k", np=4, env={"IOR_FAKE_NODES": "2", "IOR_FAKE_TASK_PER_NODES": "2"}).ok()
    assert run.stdout.startswith("Fake number of node: using 2\nFake tasks per node: using 2\nIOR-")
    assert ior("-w -b 8k -t 8k", env={"IOR_FAKE_NODES": "2"}).ok().stdout.startswith("Fake number of node: using 2\nIOR-")


def test_wear_out_without_a_status_file_says_the_count(ior):
    args = "-a DUMMY -w -k -F -b 8k -t 8k -s 3 -D 60 -O stoneWallingWearOut=1"
    assert "\nPairs deadlineForStonewallingaccessed: 3\n" in ior(args).ok().stdout
    assert "Pairs" not in ior(args + ",stoneWallingStatusFile=st").ok().stdout
