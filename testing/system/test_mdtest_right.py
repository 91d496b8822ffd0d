# SPDX-License-Identifier: BSD-3-Clause
"""Where the original is wrong: stonewalls, counts, statuses; and what is new."""
import json
import re
import shutil

import pytest

from conftest import PEAK, timely
from mdtest_support import mdtest  # noqa: F401

SLOW = "-a DUMMY --dummy.delay-create=20000 --dummy.delay-only-rank0 -n 100 -C -W 1 -x sw "


def wall(run):
    m = re.search(r"^Continue stonewall hit min: (\d+) max: (\d+) avg: ([0-9.]+) $", run.stdout, re.M)
    assert m, run
    return int(m.group(1)), int(m.group(2)), float(m.group(3))


# ---- stonewall ----

def test_a_stonewall_makes_all_tasks_reach_the_fastest(mdtest):
    run = mdtest(SLOW + "-F").ok()
    low, high, mean = wall(run)
    timely(low >= 30 and high == 100, run)
    assert low <= 51 and abs(mean - (low + high) / 2) < 0.06
    assert (mdtest.cwd / "sw").read_text() == "100"
    rate = run.rates()["File creation"]
    assert rate < 100.5  # 200 files, and the slow task needs two seconds for its own
    timely(rate > 60, run)
    later = mdtest("-a DUMMY -n 1000 -F -T -x sw --report=json:r.json").ok()
    assert later.errors == []
    test, = json.load(open(mdtest.cwd / "r.json"))["tests"]
    assert [row["items"] for row in test["Results"]] == [200]


def test_what_was_made_before_the_wall_is_what_later_phases_visit(mdtest):
    args = "-a DUMMY --dummy.store --dummy.delay-create=10000 -n 100000 -F -u -b 1 -z 3 -W 1 -T -C -r -e 0 --report=json:r.json"
    mdtest(args).ok()
    test, = json.load(open(mdtest.cwd / "r.json"))["tests"]
    made = {row["operation"]: row["items"] for row in test["Results"]}
    assert made["File creation"] == made["File stat"] == made["File removal"] < 400
    mdtest.empty()


def test_a_wall_that_is_not_hit_says_nothing(mdtest):
    run = mdtest("-n 20 -F -W 30 -b 1 -z 3 -I 0").ok()
    assert "stonewall" not in run.stdout
    assert run.rates()["File stat"] > 0


def test_a_wall_over_several_trees_counts_them_all(mdtest):
    run = mdtest("-a DUMMY --dummy.store --dummy.delay-create=20000 -n 1000 -I 10 -F -W 1 -C -T -r").ok()
    low, high, _ = wall(run)
    assert low <= high <= 51
    timely(low > 10, run)
    mdtest.empty()


def test_a_wall_with_collective_creation_leaves_all_tasks_the_same(mdtest):
    run = mdtest("-a DUMMY --dummy.store --dummy.delay-create=10000 -c -n 1000 -F -W 1 -C -T -r -w 8").ok()
    low, high, _ = wall(run)
    assert low == high
    mdtest.empty()


def test_a_wall_stops_directories_too(mdtest):
    run = mdtest("-n 3000000 -D -W 1 -C -T -r", timeout=120).ok()
    low, high, _ = wall(run)
    assert 0 < low <= high < 3000000
    mdtest.empty()


@pytest.mark.parametrize("text", ["abc", "", "12x", "-3", "1 2"])
def test_garbage_in_the_status_file_is_an_error_on_all_ranks(mdtest, text):
    (mdtest.cwd / "sw").write_text(text)
    mdtest("-a DUMMY -n 10 -F -T -x sw", np=3).fails(1, "sw")


def test_a_missing_status_file_is_a_warning(mdtest):
    run = mdtest("-a DUMMY -n 10 -F -T -x sw").ok()
    assert any("sw" in w for w in run.warnings)
    assert "2 tasks, 20 files" in run.stdout


def test_without_a_wall_no_status_is_written(mdtest):
    mdtest("-a DUMMY -n 10 -F -C -x sw").ok()
    assert not (mdtest.cwd / "sw").exists()


def test_a_create_phase_that_fails_leaves_no_old_status_file(mdtest):
    (mdtest.cwd / "sw").write_text("7")
    mdtest("-a DUMMY -n 10 -F -C -w 8 -W 60 -x sw --dummy.fail-at=1").fails(3, "rank 0")
    assert not (mdtest.cwd / "sw").exists()


def test_the_random_order_follows_the_status_file(mdtest):
    mdtest("-n 50 -F -C").ok()
    (mdtest.cwd / "sw").write_text("20")
    run = mdtest("-n 50 -F -T -R --random-seed=3 -x sw -V=3").ok()
    assert sorted(int(n) for n in re.findall(r"mdtest_stat file: \S+\.(\d+)", run.stdout)) == list(range(20))


# ---- counts ----

def test_items_and_trees_keep_their_count_over_iterations(mdtest):
    mdtest("-n 100 -I 10 -z 1 -b 2 -F -i 3 --report=text:-,json:r.json --saveRankPerformanceDetails=r.csv").ok()
    test, = json.load(open(mdtest.cwd / "r.json"))["tests"]
    assert {row["items"] for row in test["Results"] if row["operation"].startswith("File")} == {600}
    mdtest.empty()


def test_unique_trees_count_all_their_directories(mdtest):
    mdtest("-n 14 -u -b 2 -z 2 -F --report=json:r.json", np=2).ok()
    test, = json.load(open(mdtest.cwd / "r.json"))["tests"]
    assert {row["items"] for row in test["Results"] if row["operation"].startswith("Tree")} == {14}


@pytest.mark.parametrize("args", ["-u -N 1 -n 14 -b 2 -z 2", "-c -u -n 3 -w 8 -e 8 -X", "-c -n 3 -w 8 -e 8 -X --verify-write", "-N 2 -n 5",
                                  "-R -n 20 -I 5 -F", "-c -u -N 1 -n 7 -b 2 -z 1", "-k -n 5 -F -T -C -r"])
def test_combinations_that_the_original_breaks_on_run_clean(mdtest, args):
    run = mdtest(args, np=3).ok()
    assert run.errors == []
    mdtest.empty()


def test_time_is_per_operation_as_the_heading_says(mdtest):
    run = mdtest("-a DUMMY --dummy.delay-create=10000 -n 20 -F -C -P").ok()
    ms = run.table("SUMMARY time (in ms/op)")["File creation"][0]
    assert ms >= 10
    timely(ms < 20, run)
    assert abs(run.rates()["File creation"] * ms / 2000 - 1) < 0.01


def test_one_item_is_not_renamed_and_has_no_rate(mdtest):
    run = mdtest("-n 1 -D").ok()
    assert run.rates()["Directory rename"] == 0


def test_rename_leaves_the_names_it_found(mdtest):
    mdtest("-n 7 -D -C -b 2 -z 1", np=2).ok()
    before = mdtest.names("d")
    mdtest("-n 7 -D -U -b 2 -z 1", np=2).ok()
    assert mdtest.names("d") == before


def test_the_standard_deviation_is_that_of_a_sample(mdtest):
    mdtest("-n 30 -F -i 3 --report=text:-,json:r.json").ok()
    doc = json.load(open(mdtest.cwd / "r.json"))
    test, = doc["tests"]
    rates = [row["rate"] for row in test["Results"] if row["operation"] == "File stat"]
    row, = [row for row in doc["summary"] if row["operation"] == "File stat"]
    mean = sum(rates) / 3
    assert abs(row["rateStd"] - (sum((r - mean) ** 2 for r in rates) / 2) ** 0.5) < 1e-6 * mean
    assert row["rateMax"] == max(rates) and row["rateMin"] == min(rates)


# ---- options ----

def test_no_barriers_is_an_option_again(mdtest):
    run = mdtest("-B 1 -n 5 -F").ok()
    assert any("-B" in w for w in run.warnings)


def test_an_attached_value_is_read_once(mdtest):
    run = mdtest("-n5 -F -w4k -C").ok()
    assert "2 tasks, 10 files" in run.stdout
    assert (mdtest.dir / "test-dir.0-0/mdtest_tree.0/file.mdtest.0.0").stat().st_size == 4096


def trace(mdtest, calls, args):
    if not shutil.which("strace"):
        pytest.skip("no strace (Debian: strace)")
    out = mdtest.cwd / "trace"
    run = mdtest(args, np=None, prefix=["strace", "-f", "-o", str(out), "-e", "trace=" + calls])
    if "ptrace" in run.stderr:
        pytest.skip("strace may not trace here")
    run.ok()
    return out.read_text()


def test_files_are_read_through_read_only_descriptors(mdtest):
    text = trace(mdtest, "openat,open", "-n 2 -F -w 8 -e 8")
    opens = [line for line in text.split("\n") if "file.mdtest." in line]
    assert len(opens) == 4
    assert all("O_CREAT" in line for line in opens[:2]) and all("O_RDONLY" in line for line in opens[2:])


def test_the_file_system_is_synced_without_a_new_process(mdtest):
    text = trace(mdtest, "syncfs,execve,fsync", "-n 2 -F -C -Y -y -y -w 8")
    assert text.count("syncfs(") == 1 and text.count("execve(") <= 1 and text.count("fsync(") == 2


@pytest.mark.parametrize("args", ["-w 8", "-w 8 -c", "-c"])
def test_commands_and_the_sync_of_a_phase_run_once_whatever_passes_it_has(mdtest, args):
    """-c creates in one pass and writes in a second; both are one creation."""
    run = mdtest("-n 3 -F -C -T %s --run-cmd-before-phase='echo before >>log' --run-cmd-after-phase='echo after >>log'" % args).ok()
    assert (mdtest.cwd / "log").read_text().split() == (["before"] * 2 + ["after"] * 2) * 2
    assert re.findall(r"calling (\w+)", run.stdout) == ["prologue", "epilogue"] * 2
    assert trace(mdtest, "syncfs", "-n 3 -F -C -Y -d again " + args).count("syncfs(") == 1


@pytest.mark.parametrize("packet, unique", [("t", ""), ("o", "-u"), ("i", ""), ("r", "-u")])
def test_another_run_checks_data_without_the_seed(mdtest, packet, unique):
    """The seed of files that another process wrote at another time is taken from them."""
    common = "-F -n 5 -w 3901 -e 3901 -N 1 %s --dataPacketType=%s " % (unique, packet)
    mdtest(common + "-C -G 77").ok()
    run = mdtest(common + "-E -X").ok()
    assert "file.mdtest.0.0': -G 77" in "\n".join(run.notes)  # rank 0 reads its own with two tasks
    damaged = next(mdtest.dir.rglob("file.mdtest.0.0"))
    damaged.write_bytes(b"x" * 8 + damaged.read_bytes()[8:])
    run = mdtest(common + "-E -X")
    assert run.returncode == 4 and "on read (1 errors)" in run.stdout, run
    assert "file.mdtest.0.1': -G 77" in "\n".join(run.notes)
    run = mdtest(common + "-E -X -G 78")
    assert run.returncode == 4 and "on read (10 errors)" in run.stdout, run


def test_without_a_check_or_with_files_of_its_own_no_seed_is_looked_for(mdtest):
    for args in ("-C", "-E", "-C -E -X"):
        assert "without -G" not in mdtest("-F -n 5 -w 64 -e 64 " + args).ok().stderr


# ---- IO500 ----

def test_the_sequence_of_the_io500_suite(mdtest):
    data, res = mdtest.cwd / "data", mdtest.cwd / "res"
    data.mkdir(), res.mkdir()
    easy = "--dataPacketType=timestamp -n 200 -u -L -F -P -G -123 -N 1 -d %s/mdtest-easy -x %s/easy.stonewall " % (data, res)
    hard = "--dataPacketType=timestamp -n 200 -t -w 3901 -e 3901 -P -G=-77 -N 1 -F -d %s/mdtest-hard -x %s/hard.stonewall " % (data, res)
    tail = " --saveRankPerformanceDetails=%s/rank.csv -a POSIX" % res
    mdtest(easy + "-C -Y -W 30" + tail).ok()
    mdtest(hard + "-C -Y -W 30" + tail).ok()
    files = [p for p in data.rglob("*01*") if p.is_file()]
    assert any(p.stat().st_size == 3901 for p in files) and any(p.stat().st_size == 0 for p in files)
    for args, row in [(easy + "-T", "File stat"), (hard + "-T", "File stat"), (easy + "-r", "File removal"),
                      (hard + "-E -X", "File read"), (hard + "-r", "File removal")]:
        run = mdtest(args + tail).ok()
        assert run.rates()[row] > 0 and run.warnings == []
    assert sorted(str(p.relative_to(data)) for p in data.rglob("*")) == ["mdtest-easy", "mdtest-hard"]


# ---- more than the original ----

def test_a_dry_run_counts_and_touches_nothing(mdtest):
    run = mdtest("-n 26 -b 3 -z 1 -w 1k -u --dry-run", np=2).ok()
    found = run.options
    assert found["tree directories"] == "8" and found["items of a task"] == "24"
    assert found["items"] == "48" and found["data"] == "49152 bytes" and int(found["inodes"]) >= 48 + 8 + 1
    assert not mdtest.dir.exists()


def test_a_dry_run_knows_when_there_is_no_room(mdtest):
    """A finding, as in ior; an error only where that is asked for."""
    for args, status, verdict in (("", 0, "INVALID"), ("--strict", 5, "INVALID"), ("--rules=none", 0, None), ("-w 1", 0, None)):
        run = mdtest("-n 10 -F -w 100t --dryRun --report=text:-,json:r.json " + args).ok(status)
        doc = json.loads((mdtest.cwd / "r.json").read_text())
        assert doc.get("verdict") == verdict and any("the test needs " in w and "are free" in w for w in doc["warnings"]) == ("-w" not in args), run
        assert ("INVALID" in run.stderr) == (verdict == "INVALID") and not mdtest.dir.exists(), run
    assert "H25" in mdtest("-n 10 -F -w 100t --dryRun --findings").ok().stdout


def test_cleanup_removes_leftovers_and_nothing_else(mdtest):
    mdtest("-n 5 -C -b 2 -z 2 -u -i 2", np=2).ok()
    mdtest("-n 5 -C -S -i 3", np=2).ok()
    (mdtest.dir / "mine").write_text("keep")
    (mdtest.dir / "test-dir.x-0").mkdir()
    (mdtest.dir / "test-dir.0-0" / "other").write_text("keep")
    run = mdtest("--cleanup %s" % mdtest.dir, np=1).ok()
    assert mdtest.names("") == ["mine", "test-dir.0-0", "test-dir.0-0/other", "test-dir.x-0"]
    assert "removed" in run.stdout and len(run.notes) == 1


def test_cleanup_follows_no_link(mdtest):
    victim = mdtest.cwd / "victim"
    (victim / "mdtest_tree.0").mkdir(parents=True)
    (victim / "mdtest_tree.0" / "file.mdtest.0.0").write_text("precious")
    mdtest.dir.mkdir()
    (mdtest.dir / "test-dir.0-0").symlink_to(victim)
    mdtest("--cleanup %s" % mdtest.dir, np=1).ok()
    assert (victim / "mdtest_tree.0" / "file.mdtest.0.0").read_text() == "precious"


def test_leftovers_of_an_earlier_run_are_told(mdtest):
    mdtest("-n 2 -C -F").ok()
    run = mdtest("-n 2 -C -F").ok()
    assert any("--cleanup" in w for w in run.warnings)


def test_memory_does_not_grow_with_the_items(mdtest):
    few, many = (mdtest("-a DUMMY -F -R -n %d" % n, np=None, prefix=PEAK).ok().peak_kib for n in (1000, 3000000))
    assert many < few * 1.05 + 512


def test_items_that_are_too_few_for_the_tree_are_noted(mdtest):
    run = mdtest("-a DUMMY -n 20 -z 3 -b 3", np=None).ok()
    assert any("0 items per directory" in n and "40 directories" in n for n in run.notes), run
    assert not mdtest("-a DUMMY -n 40 -z 3 -b 3", np=None).ok().notes
