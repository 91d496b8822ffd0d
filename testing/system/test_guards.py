# SPDX-License-Identifier: BSD-3-Clause
"""What is refused before the first byte: where the numbers would be about something else."""
import json
import os
import shutil
import subprocess

import pytest

import conftest
from conftest import on_tmpfs


def test_tasks_that_mpi_does_not_know_of_are_refused_by_one_line(ior):
    """As under the launcher of another MPI: every task believes to be the only one."""
    env = {"PMI_SIZE": "2"}
    procs = [ior.start("-b 64k -t 64k -o f", np=None, env={**env, "PMI_RANK": "0"})]
    other = conftest.Ior(ior.cwd.parent / "other" / "work")  # Open MPI's directory is in the one above, and the first that ends removes it
    other.cwd.mkdir(parents=True)
    second = other.start("-b 64k -t 64k -o ../../work/f", np=None, env={**env, "PMI_RANK": "1"})
    run = ior.finish(procs[0]).fails(2, "started 2 tasks (PMI_SIZE)", "MPI has 1", "unset PMI_SIZE")
    silent = other.finish(second).ok(2)
    assert silent.messages == [] and silent.stdout == "" and run.stdout == "" and ior.files() == []


def test_a_batch_script_may_run_a_single_process(ior):
    ior("-b 64k -t 64k -o f", np=None, env={"SLURM_PROCID": "0", "SLURM_NTASKS": "64", "SLURM_JOB_ID": "1"}).ok()


def test_mib_without_mpi_needs_no_launcher_that_agrees(ior):
    ior.program = conftest.BUILD / "src" / "mib"
    run = ior("-M -t . -F -s 4k -l 1 -L 1", np=None, env={"PMI_SIZE": "2", "PMI_RANK": "0"})
    assert run.returncode != 2 and "PMI_SIZE" not in run.stderr, run


# ---- room ----

def test_more_than_there_is_room_for_is_refused_with_both_numbers(ior):
    run = ior("-b 4p -t 1m -o f", np=None).fails(2, "needs 4096 TiB in 'f', and ", " are free; --no-space-check continues anyway")
    assert ior.files() == [] and run.rows == [], run
    ior.program = conftest.BUILD / "src" / "mdtest"
    ior("-n 200g -F -d d", np=None).fails(2, "needs 214748364802 inodes in 'd', and ")
    assert ior.files() == []
    ior.program = conftest.BUILD / "src" / "md-workbench"
    ior("-P 2147483647 -D 100 -o d", np=None).fails(2, "--no-space-check")
    assert ior.files() == []


def test_what_may_stop_before_is_warned(ior):
    for more in ("-D 1 -O interIODelay=1100000", "--no-space-check -O stoneWallingWearOutIterations=1,interIODelay=1"):
        run = ior("-w -b 4p -t 4k -o f " + more, np=None).ok()
        assert [w for w in run.warnings if "are free" in w] or "Iterations" in more, run
    assert ior.files() == []
    ior("-a DUMMY -w -b 4p -t 4p -o f", np=None)
    ior("-r -b 4p -t 1m -o f", np=None).fails(3, "No such file")  # writes nothing


def test_what_is_replaced_makes_room(ior, tmp_path):
    """Three of four MiB are taken by the file that goes."""
    with on_tmpfs(tmp_path / "small", "size=4m") as small:
        for _ in range(2):
            ior("-w -k -b 3m -t 1m -o %s/f" % small, np=None).ok()
        ior("-w -k -b 3m -t 1m -o %s/g" % small, np=None).fails(2, "3 MiB", "1 MiB are free")
        ior("-w -k -m -i 2 -b 3m -t 1m -o %s/f" % small, np=None).fails(2, "needs 6 MiB")
        ior.program = conftest.BUILD / "src" / "h5exerciser"
        run = ior("-a POSIX --numdims 1 --minels 1m -o %s/f" % small, np=None).fails(2, "MiB are free")
        assert "lose their contents" not in run.stderr and (small / "f").stat().st_size == 3 * 2 ** 20, "no note before it that the file loses its contents"


# ---- files that are there ----

def test_files_of_others_are_kept_on_request(ior):
    (ior.cwd / "f").write_bytes(b"precious" * 20000)
    for more in ("", "-E", "-i 3", "-m -i 2"):
        ior("-b 64k -t 64k -o f --existing=fail " + more, np=None).fails(2, "'f") if "-m" not in more else \
            ior("-w -b 64k -t 64k -o f --existing=fail " + more, np=None).ok()
    assert ior.files() == ["f"] and (ior.cwd / "f").read_bytes() == b"precious" * 20000
    ior("-r -k -b 64k -t 64k -o f --existing=fail", np=None).ok()
    (ior.cwd / "f.00000001").touch()
    run = ior("-w -F -b 64k -t 64k -o f --existing=fail", np=2).fails(2, "rank 1 on ", "'f.00000001' exists")
    assert ior.files() == ["f", "f.00000001"], run
    ior("-w -k -b 64k -t 64k -o f --existing=reuse", np=None).ok()
    assert (ior.cwd / "f").stat().st_size == 160000
    run = ior("-w -k -b 64k -t 64k -o f --existing=replace", np=None).ok()
    assert (ior.cwd / "f").stat().st_size == 65536 and 'The file "f" exists already and will be deleted' in run.warnings[0]
    ior("-b 64k -t 64k -o f -E --existing=replace", np=None).fails(1, "contradict")


def test_a_run_that_only_reads_deletes_nothing(ior):
    """Files of another run stay, no warning says that they will be deleted, and a note says that they were kept."""
    ior("-w -k -G 1 -b 32k -t 8k", np=None).ok()
    ior("-w -k -G 1 -F -b 32k -t 8k", np=None).ok()
    before = ior.files()
    for args in ("-r", "-R -G 1", "-W -G 1", "-r -F", "-r -W -G 1"):
        run = ior("-i 2 -b 32k -t 8k " + args, np=None).ok()
        assert ior.files() == before and run.warnings == [] and len([n for n in run.notes if "kept" in n]) == 1, (args, run)


OVERWRITTEN = {"posix": "api=POSIX", "aio": "api=AIO", "mpiio": "api=MPIIO", "collective": "api=MPIIO,collective=1", "hdf5": "api=HDF5,collective=0",
               "netcdf": "api=NCMPI", "mmap": "api=MMAP", "private": "api=POSIX,filePerProc=1", "mpiio-private": "api=MPIIO"}


def test_an_existing_file_is_overwritten_in_place(ior):
    """-E keeps what lies after the new data, and a longer old file is no reason for a warning about sizes."""
    cases = {name: words for name, words in OVERWRITTEN.items() if words.split(",")[0][4:] in conftest.backends()}
    ior.script(*("testFile=%s.,%s" % case for case in cases.items()))
    ior("-w -k -G 1 -l o -b 64k -t 8k -s 3 -f s").ok()
    files = {name: sorted(ior.cwd.glob(name + ".*")) for name in cases}
    before = {name: [(p.stat().st_ino, p.stat().st_size, p.read_bytes()) for p in paths] for name, paths in files.items()}
    run = ior("-w -E -k -G 2 -l o -b 64k -t 8k -s 1 -f s").ok()
    for name, paths in files.items():
        assert len(paths) == (2 if "private" in name else 1)
        for path, (inode, size, old) in zip(paths, before[name]):
            new = path.read_bytes()
            assert (path.stat().st_ino, len(new)) == (inode, size) and new != old and new[-65536:] == old[-65536:], (name, run)
        assert any("overwritten" in w and name + "." in w for w in run.warnings), (name, run)
    assert [w for w in run.warnings if "aggregate" in w] == [], run


def test_a_later_test_may_have_the_files_of_an_earlier_one(ior):
    head = "IOR START\nexisting=fail\nblockSize=64k\ntransferSize=64k\ntestFile=g\n"
    (ior.cwd / "script").write_text(head + "keepFile=1\nRUN\nwriteFile=0\nreadFile=1\nRUN\nkeepFile=0\nwriteFile=1\nRUN\nIOR STOP\n")
    ior("-f script", np=None).ok()
    assert ior.files() == ["script"]


def test_programs_say_what_they_cannot_do_with_what_is_there(ior):
    (ior.cwd / "d" / "test-dir.0-0").mkdir(parents=True)
    (ior.cwd / "mibData.00000000").touch()
    (ior.cwd / "h5").write_bytes(b"precious")
    (ior.cwd / "w" / "0_0").mkdir(parents=True)
    for program, words, status, said in (
            ("mdtest", "-n 1 -d d --existing=fail", 2, "'d/test-dir.0-0' exists"), ("md-workbench", "--existing=reuse", 1, "replace, fail"),
            ("md-workbench", "-o w --existing=fail", 2, "'w/0_0' exists"), ("mib", "-M -F -t . --existing=fail", 2, "mibData.00000000' exists"),
            ("h5exerciser", "-a POSIX --numdims 1 --minels 8 -o h5 --existing=fail", 2, "'h5' exists")):
        ior.program = conftest.BUILD / "src" / program
        ior(words, np=None).fails(status, said)
    assert (ior.cwd / "h5").read_bytes() == b"precious"
    run = ior("-a POSIX --numdims 1 --minels 8 -i 1 -o h5", np=None).ok()
    assert [m for m in run.messages if "lose their contents: 1, of 8 bytes" in m], run


def test_what_earlier_runs_left_is_replaced_or_used(ior):
    """Names of others stay, and are told; what is used again needs no warning."""
    ior.program = conftest.BUILD / "src" / "mdtest"
    ior("-C -F -n 4 -d d", np=None).ok()
    (ior.cwd / "d" / "mine").touch()
    run = ior("-C -F -n 4 -d d --existing=reuse", np=None).ok()
    assert run.warnings == [] and len([m for m in run.messages if "nothing was removed" in m]) <= 1, run
    run = ior("-F -n 4 -d d --existing=replace", np=2).ok()
    assert "NOTE: --existing=replace has removed 4 files and 2 directories of earlier runs in 'd'" in run.messages, run
    assert [p.name for p in (ior.cwd / "d").iterdir()] == ["mine"]
    ior.program = conftest.BUILD / "src" / "md-workbench"
    ior("-1 -P 2 -I 2 -D 2 -o w", np=None).ok()
    (ior.cwd / "w" / "0_0" / "foreign").touch()
    ior("-P 2 -I 2 -D 2 -o w", np=None).fails(3, "'w/0_0': File exists")
    ior("-P 2 -I 2 -D 2 -o w --existing=replace", np=None).fails(3, "'w/0_0': File exists")
    (ior.cwd / "w" / "0_0" / "foreign").unlink()
    run = ior("-P 2 -I 2 -D 2 -o w --existing=replace", np=None).ok()
    assert [m for m in run.messages if m.startswith("NOTE: --existing=replace has removed")], run


def test_a_backend_that_stores_nothing_replaces_nothing(ior):
    for program, words, name in (("mdtest", "-F -n 1 -d d", "d/test-dir.0-0/mdtest_tree.0/file.mdtest.0.0"),
                                 ("md-workbench", "-P 1 -I 1 -o d", "d/0_0/file-0")):
        (ior.cwd / name).parent.mkdir(parents=True)
        (ior.cwd / name).write_text("precious")
        ior.program = conftest.BUILD / "src" / program
        ior(words + " -a DUMMY --existing=replace", np=None).ok()
        assert (ior.cwd / name).read_text() == "precious"


def test_links_lead_no_replacement_to_files_elsewhere(ior):
    item = ior.cwd / "e" / "test-dir.0-0" / "mdtest_tree.0" / "file.mdtest.0.0"
    item.parent.mkdir(parents=True)
    item.write_text("precious")
    ior.program = conftest.BUILD / "src" / "mdtest"
    for link in ("test-dir.0-0", "test-dir.0-0/mdtest_tree.0"):
        path = ior.cwd / link.replace("/", "-") / link
        path.parent.mkdir(parents=True)
        path.symlink_to(ior.cwd / "e" / link)
        ior("-F -n 1 -d %s --existing=replace" % link.replace("/", "-"), np=None).fails(1, "is a symbolic link")
        assert path.is_symlink() and item.read_text() == "precious"


@pytest.mark.parametrize("kind", ["tmpfs", "bind"])
def test_a_replacement_does_not_go_into_a_mount(ior, kind):
    root = ior.cwd / "d" / "test-dir.0-0" / "mdtest_tree.0"
    root.mkdir(parents=True)
    (ior.cwd / "elsewhere").mkdir()
    if os.geteuid() != 0 or not shutil.which("unshare"):
        pytest.skip("mounting needs root and unshare")
    mount = "mount -t tmpfs weir %s" % root if kind == "tmpfs" else "mount --bind elsewhere %s" % root
    try_it = "%s && >%s/file.mdtest.0.0 || exit 77; '%s' %%s; rc=$?; ls %s; exit $rc" % (mount, root, conftest.BUILD / "src" / "mdtest", root)
    for args, status, said in (("-F -n 1 -d d --existing=replace", 2, "mounted at 'mdtest_tree.0' below 'd'"), ("--cleanup=d", 0, "they are kept")):
        run = subprocess.run(["unshare", "-m", "sh", "-c", try_it % args], cwd=ior.cwd, env=conftest.program_env(), timeout=60,
                             capture_output=True, text=True)
        if run.returncode == 77:
            pytest.skip("nothing can be mounted here: " + run.stderr)
        assert run.returncode == status and said in run.stderr and "file.mdtest.0.0" in run.stdout, run


def test_each_directory_of_a_list_is_looked_at(ior):
    """Those of later repetitions and of trees beside each other (-n over -I), too."""
    ior.program = conftest.BUILD / "src" / "mdtest"
    for name in ("b/test-dir.0-1", "b/test-dir.1-2"):
        (ior.cwd / name).mkdir(parents=True)
    args = "-C -F -n 6 -I 2 -d b"
    ior(args + " --existing=fail", np=None).fails(2, "'b/test-dir.0-1' exists")
    (ior.cwd / "b/test-dir.0-1").rmdir()
    ior(args + " -i 2 --existing=fail", np=None).fails(2, "'b/test-dir.1-2' exists")
    for name in ("b/test-dir.0-1", "b/test-dir.0-2", "b/test-dir.1-0"):
        (ior.cwd / name).mkdir()
    run = ior(args, np=None).ok()
    warning, = run.warnings
    assert warning.startswith("'b/test-dir.0-1' exists already (and 1 more), from"), run
    ior("-u -F -n 1 -i 2 -d a@b --existing=fail", np=2).fails(2, "'b/test-dir.0-0' exists")


def test_cached_metadata_cannot_be_dropped(ior):
    for program, words in (("mdtest", "-n 1"), ("md-workbench", ""), ("raw_bw.x", "--nx 16 --n_levs 2 --n_writers 1")):
        ior.program = conftest.BUILD / "src" / program
        if ior.program.exists():
            ior(words + " --drop-cache", np=None).fails(1, "drop-cache: %s has no phase that reads data" % program)
    assert ior.files() == []


def test_each_of_several_places_is_looked_at(ior, tmp_path):
    with on_tmpfs(tmp_path / "small", "size=4m") as small:
        args = "-w -F -b %s -t 1m -o f@" + str(small / "g")
        run = ior(args % "5m", np=2).fails(2, "needs 5 MiB in '%s/g', and 4 MiB are free" % small)
        assert ior.files() == [], run
        ior(args % "3m", np=2).ok()


# ---- one directory ----

def test_a_directory_that_each_node_has_for_itself(ior, preload):
    nodes = {"LD_PRELOAD": preload("two-nodes.c")}
    run = ior("-w -b 64k -t 64k -o d/../f --report=json:r.json -C", np=3, env=nodes)
    assert run.returncode == 3  # no d: the probe was in the directory above, and is gone
    run = ior("-w -b 64k -t 64k -o f", np=3, env={**nodes, "WEIR_APART": "1"})
    run.fails(2, "rank 1 on ", "does not see a file that rank 0 created", "a file system that all nodes share")
    run = ior("-w -F -b 64k -t 64k -o f --report=json:r.json", np=3, env={**nodes, "WEIR_APART": "1"}).ok()
    finding, = [f for f in json.loads((ior.cwd / "r.json").read_text())["tests"][0]["findings"] if f["id"] == "H24"]
    assert finding["outcome"] == "found" and finding["severity"] == "SUSPECT", finding
    run = ior("-w -b 64k -t 64k -o f --report=json:r.json", np=2, env=nodes).ok()
    finding, = [f for f in json.loads((ior.cwd / "r.json").read_text())["tests"][0]["findings"] if f["id"] == "H24"]
    assert finding["outcome"] == "fine" and ior.files() == ["r.json"], (finding, ior.files())


def test_a_driver_of_mpi_io_in_a_name_is_one_only_where_mpi_io_opens_it(ior):
    """Of POSIX it is a part of the name; of MPIIO links, pipes and pages are those of the file itself."""
    (ior.cwd / "ufs:x").write_text("old")
    ior("-b 4k -t 4k -w -o ufs:x --existing=fail", np=None).fails(2, "'ufs:x' exists")
    assert (ior.cwd / "ufs:x").read_text() == "old"
    (ior.cwd / "t").write_text("x")
    (ior.cwd / "link").symlink_to("t")
    os.mkfifo(ior.cwd / "pipe")
    ior("-a MPIIO -w -k -b 4k -t 4k -o ufs:link", np=None).ok()
    assert (ior.cwd / "link").is_symlink() and (ior.cwd / "t").stat().st_size == 4096
    ior("-a MPIIO -w -b 4k -t 4k -o ufs:pipe", np=None).fails(1, "a pipe")
    run = ior("-a MPIIO -b 64k -t 64k -o ufs:mf --drop-cache --report=json:r.json", np=None).ok()
    test, = json.loads((ior.cwd / "r.json").read_text())["tests"]
    assert {f["id"]: f["outcome"] for f in test["findings"]}["H05"] != "not judged", run
