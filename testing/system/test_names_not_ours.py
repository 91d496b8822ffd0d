# SPDX-License-Identifier: BSD-3-Clause
"""What is at the name of a file before a run: a device, a pipe, a socket, a link, a directory. What must be there afterwards.

One rule for all programs and backends. Where the program makes the names up, only a regular file may be there; all else is
refused and stays. A name that the user gave is followed through links, which stay, and what the run made there goes; a device
is written in place where an option says so, and never removed; pipes, sockets and directories are refused before they are
opened. Each row is run without anything in the way, too, and is good then."""
import os
import pathlib
import shutil
import signal
import socket
import stat
import subprocess
import threading

import pytest

import conftest
from h5ex_support import h5ex  # noqa: F401
from pairwise import Case, launch

SECONDS = 90  # 24 000 files on a busy disk are among what is waited for
KINDS = ("device", "pipe", "socket", "link", "dangling", "dirlink", "directory")
OTHERS = ("pipe", "socket", "directory", "dirlink")  # never for data
PRECIOUS = b"precious" * 1024
SIX = "@6 "  # on six ranks
SIMULATE = SIX + "--nx 1 --ny 1 --im_world 12 --lm 2 --num_arrays 1 "
MDTEST = "-F -n 2 -w 10 -d d "
TREE = "d/test-dir.0-0/mdtest_tree.0"
MDW = "-o d -D 1 -P 2 -I 1 -S 10 --run-info-file=info "
# program: backend, words before, words, the name, and who gave it
ROWS = {
    "ior": ("ior", "", "", "-w -b 8k -t 8k -o f", "f", "user"),
    "ior in place": ("ior", "", "", "-w -E -k -b 8k -t 8k -o f", "f", "in place"),
    "ior read": ("ior", "", "-w -k -b 8k -t 8k -o f", "-r -b 8k -t 8k -o f", "f", "read"),
    "ior file per process": ("ior", "", "", "-w -F -b 8k -t 8k -o f", "f.00000000", "user"),
    "ior MMAP": ("ior", "MMAP", "", "-a MMAP -w -b 8k -t 8k -o f", "f", "user"),
    "ior AIO": ("ior", "AIO", "", "-a AIO -w -b 8k -t 8k -o f", "f", "user"),
    "ior DUMMY": ("ior", "DUMMY", "", "-a DUMMY --dummy.store -w -b 8k -t 8k -o f", "f", "user"),
    "ior MPIIO": ("ior", "MPIIO", "", "-a MPIIO -w -c -b 8k -t 8k -o f", "f", "user"),
    "ior MPIIO read": ("ior", "MPIIO", "-w -k -b 8k -t 8k -o f", "-a MPIIO -r -b 8k -t 8k -o f", "f", "read"),
    "ior HDF5": ("ior", "HDF5", "", "-a HDF5 -w -b 8k -t 8k -o f", "f", "user"),
    "ior NCMPI": ("ior", "NCMPI", "", "-a NCMPI -w -b 8k -t 8k -o f", "f", "user"),
    "h5exerciser": ("h5exerciser", "HDF5", "", "--numdims 1 --minels 64 -i 1 --out f", "f", "user"),
    "h5exerciser POSIX": ("h5exerciser", "", "", "-a POSIX --numdims 1 --minels 64 -i 1 --out f", "f", "user"),
    "checkpoint binary": ("checkpoint_simulator.x", "", "", SIMULATE + "--write_binary --path f", "f.bin", "kept"),
    "checkpoint netCDF": ("checkpoint_simulator.x", "NETCDF", "", SIMULATE + "--path f", "f.nc4", "kept"),
    "checkpoint PnetCDF": ("checkpoint_simulator.x", "NCMPI", "", SIMULATE + "-a NCMPI --path f", "f.nc", "kept"),
    "checkpoint split": ("checkpoint_simulator.x", "", "", SIMULATE + "--write_binary --split_file --path f", "f_000.bin", "own"),
    "restart": ("restart_simulator.x", "", "checkpoint_simulator.x " + SIMULATE + "--write_binary --path f",
                SIMULATE + "--read_binary --path f", "f.bin", "read"),
    "restart split": ("restart_simulator.x", "", "checkpoint_simulator.x " + SIMULATE + "--write_binary --split_file --path f",
                      SIMULATE + "--read_binary --split_file --path f", "f_000.bin", "own"),
    "raw_bw": ("raw_bw.x", "", "", "--nx 6 --n_levs 2 --n_writers 1 -a POSIX", "scratch.00000", "own"),
    "combo": ("combo.x", "", "", "--nx 6 --n_levs 2 --n_writers 1 -a POSIX", "scratch.00000", "own"),
    "mib": ("mib", "", "", "-M -F -t . -l 2 -s 4k", "mibData.00000000", "own"),
    "mib anew": ("mib", "", "", "-M -F -t . -n -r -l 2 -s 4k", "mibData.00000000", "own"),
    "mib read": ("mib", "", "-M -F -t . -W -l 2 -s 4k", "-M -F -t . -R -l 2 -s 4k", "mibData.00000000", "own"),
    "mdtest": ("mdtest", "", "-C " + MDTEST, MDTEST, TREE + "/file.mdtest.0.0", "own"),
    "mdtest stat": ("mdtest", "", "-C " + MDTEST, "-T " + MDTEST, TREE + "/file.mdtest.0.1", "own"),
    "mdtest read": ("mdtest", "", "-C " + MDTEST, "-E -e 10 " + MDTEST, TREE + "/file.mdtest.0.1", "own"),
    "mdtest remove": ("mdtest", "", "-C " + MDTEST, "-r " + MDTEST, TREE + "/file.mdtest.0.0", "own"),
    "mdtest replace": ("mdtest", "", "-C " + MDTEST, MDTEST + "--existing=replace", TREE + "/file.mdtest.0.0", "own"),
    "mdtest tree": ("mdtest", "", "-C " + MDTEST, "-r " + MDTEST, TREE, "own directory"),
    "mdtest test directory": ("mdtest", "", "-C " + MDTEST, MDTEST, "d/test-dir.0-0", "own directory"),
    "md-workbench": ("md-workbench", "", "-1 " + MDW, "-2 " + MDW, "d/0_0/file-1", "own"),
    "md-workbench clean-up": ("md-workbench", "", "-1 " + MDW, "-3 " + MDW, "d/0_0/file-0", "own"),
    "md-workbench set": ("md-workbench", "", "-1 " + MDW, "-2 " + MDW, "d/0_0", "own directory"),
}


# ---- what is put there ----

def put(path, kind):
    """In the place of what is there, if anything is."""
    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)
    target = path.with_name(path.name + "-target")
    if kind == "device":
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as s:
            here = os.getcwd()
            os.chdir(path.parent)  # the name in the address is short
            s.bind(path.name)
            os.chdir(here)
    elif kind == "directory":
        path.mkdir()
    else:
        path.symlink_to(target.name)
        if kind == "link":
            target.write_bytes(PRECIOUS)
        if kind == "dirlink":
            target.mkdir()


def state(path):
    """What a name is, without its times."""
    s = os.lstat(path)
    what = os.readlink(path) if stat.S_ISLNK(s.st_mode) else path.read_bytes() if stat.S_ISREG(s.st_mode) else s.st_rdev
    return stat.S_IFMT(s.st_mode), s.st_ino, what


def states(cwd):
    return {str(p.relative_to(cwd)): state(p) for p in cwd.rglob("*")}


PRIVATE = """set -e; mkdir "$1"; mount -t tmpfs weir "$1"; mkdir "$1/shm" "$1/pts"
mknod -m 666 "$1/null" c 1 3; mknod -m 666 "$1/zero" c 1 5; mknod -m 666 "$1/full" c 1 7
mknod -m 666 "$1/random" c 1 8; mknod -m 666 "$1/urandom" c 1 9; mount --bind "$1" /dev; shift; exec "$@" """


@pytest.fixture
def apart(tmp_path):
    """A mount namespace with a /dev of its own: prefix of a command."""
    if os.geteuid() != 0 or not shutil.which("unshare"):
        pytest.skip("only root makes devices")
    prefix = ["unshare", "-m", "sh", "-c", PRIVATE, "sh", str(tmp_path / "dev")]
    if subprocess.run(prefix + ["true"], capture_output=True).returncode:
        pytest.skip("nothing can be mounted here")
    (tmp_path / "dev").rmdir()
    return prefix


class Place:
    def __init__(self, ior, apart, name):
        self.ior, self.apart, self.cwd = ior, apart, ior.cwd / name
        self.cwd.mkdir()

    def run(self, program, words, device=False):
        prefix = self.apart if device else []
        words = words.split()
        launcher = conftest.LAUNCHER + ["-n", words.pop(0)[1:]] if words[0][0] == "@" else []
        command = prefix + launcher + [str(conftest.BUILD / "src" / program)] + words
        env = conftest.program_env({"OMPI_MCA_orte_tmpdir_base": str(self.ior.cwd), **(conftest.naps() if launcher else {})})
        try:
            return subprocess.run(command, cwd=self.cwd, env=env, timeout=SECONDS * conftest.PATIENCE, capture_output=True,
                                  text=True, stdin=subprocess.DEVNULL)
        finally:
            if device:
                shutil.rmtree(prefix[-1], ignore_errors=True)


def prepare(ior, apart, row):
    """What the row needs is made once: places(kind) has it, and what is in the way."""
    program, _, before, _, name, _ = row
    made = Place(ior, apart, "made")
    if before:
        first = before.split()[0]
        run = made.run(*(before.split(" ", 1) if first.endswith(".x") else (program, before)))
        assert run.returncode == 0, run

    def place(kind):
        there = Place(ior, apart, kind or "nothing")
        shutil.copytree(made.cwd, there.cwd, dirs_exist_ok=True)
        if kind:
            put(there.cwd / name, kind)
        return there
    return place


def expected(rule, kind):
    """Status, or None: it depends on what is read."""
    if rule.startswith("own") or kind in OTHERS:
        return 1
    if rule == "read":
        return 1 if kind == "dangling" else None
    return 1 if kind == "device" and rule != "in place" else 0


def check(cwd, row, kind, before, run):
    name, rule = row[4], row[5]
    status, after = expected(rule, kind), states(cwd)
    said = (row, kind, run)
    assert run.returncode == status or (status is None and run.returncode in (0, 3, 4)), said
    assert after[name] == before[name], said
    if status == 1:
        assert after == before and run.stderr.count("ERROR") == 1 and os.path.basename(name) in run.stderr, said
    elif kind in ("link", "dangling"):
        target = name + "-target"
        assert (target in after) == (rule in ("in place", "kept") or (rule == "read" and kind == "link")), said
        if rule != "read" and target in after:
            assert after[target][2] != PRECIOUS, said


def in_turn(row, kinds, places):
    """A process for each kind: kind, place, what was there before, and the run."""
    for kind in kinds:
        place = places(kind)
        before = states(place.cwd)
        yield kind, place.cwd, before, place.run(row[0], row[3], kind == "device")


class Six(Case):
    """A run on six ranks in one of the places."""

    def __init__(self, row, kind, places):
        super().__init__(row[0], row[3][len(SIX):].split())
        self.kind, self.places, self.prints = kind, places, True

    def prepare(self, path):
        super().prepare(path)
        path.rmdir()
        self.dir.symlink_to(self.places(self.kind).cwd, target_is_directory=True)
        self.before = states(self.dir.resolve())


def in_one_process(row, kinds, places, ior, apart):
    """The same of all kinds in one launch, as six ranks take their time to start."""
    cases = [Six(row, kind, places) for kind in kinds]
    launch(cases, ior.cwd, 6, prefix=apart)
    for case in cases:
        assert case.result == "end", (row, case.kind, case.result, case.error)
        run = subprocess.CompletedProcess(case.words, case.status, "", "\n".join(case.messages()))
        yield case.kind, case.dir.resolve(), case.before, run


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_what_a_run_finds_at_a_name_of_data(ior, need_backend, apart, row):
    if row[1]:
        need_backend(row[1])
    places = prepare(ior, apart, row)
    kinds = [None] + [kind for kind in KINDS if kind != "directory" or row[5] != "own directory"]
    for kind, cwd, before, run in in_one_process(row, kinds, places, ior, apart) if SIX in row[3] else in_turn(row, kinds, places):
        if kind:
            check(cwd, row, kind, before, run)
        else:
            assert run.returncode == 0, run


DIRECTORIES = {"mdtest": MDTEST, "md-workbench": MDW, "mib": "-M -F -t d -l 2 -s 4k"}


@pytest.mark.parametrize("program", DIRECTORIES)
def test_what_is_no_directory_is_refused_where_one_is_given(ior, apart, program):
    place = Place(ior, apart, "nothing")
    for kind in ("pipe", "device"):
        put(place.cwd / "d", kind)
        run = place.run(program, DIRECTORIES[program], kind == "device")
        assert run.returncode == 1 and "'d" in run.stderr and run.stderr.count("ERROR") == 1, run
    (place.cwd / "d").unlink()
    (place.cwd / "d" / "mibData.00000000").mkdir(parents=True)
    if program == "mib":
        run = place.run(program, DIRECTORIES[program])
        assert run.returncode == 1 and "is a directory" in run.stderr and "overwritten" not in run.stderr, run
    long = place.run("ior", "-w -b 8k -t 8k -o " + 300 * "x")
    assert long.returncode == 1 and "rank 0 on" in long.stderr and ": 'xxx" in long.stderr and "name too long" in long.stderr, long


LINKS = [("ior", "-w -b 8k -t 8k -o d/f"), ("ior", "-r -b 8k -t 8k -o d"), ("ior", "-w -F -u -b 8k -t 8k -o d/f"), ("mdtest", MDTEST),
         ("md-workbench", MDW), ("mib", DIRECTORIES["mib"])]


def test_a_link_that_leads_nowhere_is_refused_and_says_where(ior, apart):
    place = Place(ior, apart, "nothing")
    for target, words in (("gone/x", "'d' is a symbolic link to 'gone/x', which does not exist"), ("d", ": the symbolic links form a loop")):
        (place.cwd / "d").unlink(missing_ok=True)
        (place.cwd / "d").symlink_to(target)
        for program, args in LINKS + [("ior", "-w -b 8k -t 8k -o d")]:
            run = place.run(program, args)
            assert run.returncode == 1 and words in run.stderr and run.stderr.count("ERROR") == 1, (program, args, run)
    (place.cwd / "d").unlink()
    (place.cwd / "d").symlink_to("new")
    assert place.run("ior", "-w -k -b 8k -t 8k -o d").returncode == 0 and (place.cwd / "new").is_file(), "made behind the link"


# ---- outputs ----

OUTPUTS = {
    "JSON": ("ior", "-a DUMMY -w --report=json:f", "f", "written"),
    "CSV": ("ior", "-a DUMMY -w --report=csv:f", "f", "written"),
    "text": ("ior", "-a DUMMY -w --report=text:f", "f", "written"),
    "JSON lines": ("ior", "-a DUMMY -w --report=jsonl:f", "f", "written"),
    "summary file": ("ior", "-a DUMMY -w -O summaryFile=f", "f", "written"),
    "ranks": ("ior", "-a DUMMY -w -O saveRankPerformanceDetailsCSV=f", "f", "small"),
    "timeline": ("ior", "-a DUMMY -w --timeline=f.npy", "f.npy", "regular"),
    "document of a timeline": ("ior", "-a DUMMY -w --timeline=f.npy", "f.timeline.json", "whole"),
    "status of ior": ("ior", "-a DUMMY -w -k -D 1 -O stoneWallingWearOut=1,stoneWallingStatusFile=f", "f", "small"),
    "status of mdtest": ("mdtest", "-C -F -n 2 -W 1 -x f -d d", "f", "small"),
    "position": ("md-workbench", "-o d -D 1 -P 2 -I 1 -1 --run-info-file=f", "f", "small"),
}
# Where an output of each form can go. A pipe that nobody reads is not waited for during a run.
GOOD = {"written": ("device", "pipe", "link", "dangling"), "small": ("device", "link", "dangling"),
        "regular": ("link", "dangling"), "whole": ("link",)}


def with_reader(pipe, act):
    """What a reader of the pipe gets while act runs."""
    got = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()), daemon=True)
    reader.start()
    run = act()
    reader.join(SECONDS)
    assert not reader.is_alive(), "nobody wrote to the pipe"
    return run, got[0]


@pytest.mark.parametrize("row", OUTPUTS.values(), ids=OUTPUTS)
def test_what_a_run_finds_at_a_name_of_an_output(ior, apart, row):
    program, words, name, form = row
    for kind in KINDS:
        place = Place(ior, apart, kind)
        path = place.cwd / name
        put(path, kind)
        before = state(path)
        if kind == "pipe" and form == "written":
            run, got = with_reader(path, lambda: place.run(program, words))
            assert run.returncode == 0 and got, (row, run)
        else:
            run = place.run(program, words, kind == "device")
        assert state(path) == before, (row, kind, run)
        good = kind in GOOD[form]
        assert (run.returncode == 0) == good, (row, kind, run)
        if good and kind in ("link", "dangling"):
            target = path.with_name(name + "-target")
            assert target.stat().st_size > 0 and target.read_bytes() != PRECIOUS, (row, kind, run)


def test_a_line_for_a_pipe_that_nobody_reads_is_an_error(ior):
    os.mkfifo(ior.cwd / "f")
    ior("-a DUMMY -w --report=jsonl:f", np=None).fails(2, "open 'f' to add a line: No such device or address")


# ---- among many names ----

MANY, MOST = 3000, 12000  # more than one answer of getdents64 holds; more than were once looked at
FAR = {
    "remove": ("mdtest", "-C -F -n %d -d d", "-r -F -n %d -d d", TREE, "file.mdtest.0.*"),
    "stat directories": ("mdtest", "-C -D -n %d -d d", "-T -D -n %d -d d", TREE, "dir.mdtest.0.*"),
    "create": ("mdtest", "-C -F -n %d -d d", "-C -F -n %d -d d", TREE, "file.mdtest.0.*"),
    "tree of a task": ("mdtest", "@2 -C -F -u -n %d -d d", "@2 -r -F -u -n %d -d d", "d/test-dir.0-0/mdtest_tree.1.0", "file.mdtest.1.*"),
    "branch": ("mdtest", "@2 -C -F -L -b 2 -z 1 -I %d -d d", "@2 -r -F -L -b 2 -z 1 -I %d -d d", TREE + "/mdtest_tree.2", "file.mdtest.1.*"),
    "trees": ("mdtest", "@2 -C -F -I 6 -n %d -d d", "@2 -r -F -I 6 -n %d -d d", "d/test-dir.0-%d/mdtest_tree.0" % (MANY // 2 // 6 - 1), "file.mdtest.1.*"),
    "objects": ("md-workbench", "-1 -o d -D 1 -P %d -I 1 -S 10 --run-info-file=info", "-3 -o d -D 1 -P %d -I 1 -S 10 --run-info-file=info",
                "d/0_0", "file-*"),
}


def bury(directory, form, kind):
    """In the place of the name that the directory shows last."""
    order = [name for name in os.listdir(directory) if pathlib.PurePath(name).match(form)]
    put(directory / order[-1], kind)
    if os.listdir(directory).index(order[-1]) < len(order) - 100:  # this file system shows what is new first
        for name in order[:-1]:
            os.rename(directory / name, directory / "aside")
            os.rename(directory / "aside", directory / name)
    assert os.listdir(directory).index(order[-1]) >= len(order) - 100
    return directory / order[-1]


@pytest.mark.parametrize("row", FAR.values(), ids=FAR)
def test_what_is_at_a_name_after_very_many_others_is_seen_before_the_run(ior, apart, row):
    program, before, words, where, form = row
    place = Place(ior, apart, "far")
    many = MOST if row is FAR["remove"] else MANY // 2 if words.startswith("@2") else MANY  # of each rank
    assert place.run(program, before % many).returncode == 0
    names = len(list(place.cwd.rglob("*")))
    for kind in ("pipe", "device"):
        path = bury(place.cwd / where, form, kind)
        was = state(path)
        run = place.run(program, words % many, kind == "device")
        assert run.returncode == 1 and "'%s' below" % path.name in run.stderr and run.stderr.count("ERROR") == 1, (kind, run)
        assert state(path) == was and len(list(place.cwd.rglob("*"))) == names, (kind, run)
    path.unlink()
    path.mkdir() if "dir" in path.name else path.write_bytes(b"")
    assert place.run(program, words % many).returncode == 0


def test_a_directory_that_holds_no_types_is_looked_at_name_by_name(ior, preload):
    place = Place(ior, ["env", "LD_PRELOAD=" + preload("far-readdir.c"), "FAR_USEC=0"], "untyped")
    assert place.run("mdtest", "-C " + MDTEST).returncode == 0
    assert place.run("mdtest", "-T " + MDTEST, True).returncode == 0
    put(place.cwd / TREE / "file.mdtest.0.1", "pipe")
    run = place.run("mdtest", "-r " + MDTEST, True)
    assert run.returncode == 1 and "'file.mdtest.0.1' below 'd' is a pipe" in run.stderr, run


def test_a_look_that_takes_long_is_noted_and_a_signal_ends_it(ior, preload):
    place = Place(ior, [], "slow")
    assert place.run("mdtest", "-C -F -n 1000 -d d").returncode == 0
    env = conftest.program_env({"LD_PRELOAD": preload("far-readdir.c"), "FAR_USEC": "21000"})
    with open(place.cwd / "said", "w") as said, subprocess.Popen(
            [str(conftest.BUILD / "src" / "mdtest"), "-r", "-F", "-n", "1000", "-d", "d"], cwd=place.cwd, env=env, stdout=said, stderr=said) as proc:
        text = (place.cwd / "said").read_text
        conftest.wait_until(lambda: "NOTE: checking 'd' for existing files: rank 0 has read 256 names" in text())
        proc.send_signal(signal.SIGTERM)
        assert proc.wait(SECONDS) == -signal.SIGTERM, text()
    assert len(list(place.cwd.rglob("file.mdtest.*"))) == 1000


# ---- in the middle of a run ----

@pytest.mark.parametrize("backend", ["POSIX", "MPIIO"])
def test_a_file_that_becomes_a_pipe_is_an_error_of_the_outside_world(ior, preload, need_backend, backend):
    """Between write and read: the words of the user were right."""
    def change():
        (ior.cwd / "f").unlink()
        os.mkfifo(ior.cwd / "f")

    need_backend(backend)
    run = ior.change_while_it_waits(preload, "-a %s -w -r -k -b 8k -t 8k -o f" % backend, change, np=None)
    run.fails(3, "'f' is a pipe or socket")
    assert stat.S_ISFIFO(os.lstat(ior.cwd / "f").st_mode)


def test_a_file_that_another_process_has_put_in_place_of_ours_is_not_removed(ior, preload):
    def change():
        (ior.cwd / "other").write_bytes(b"x" * 8192)
        (ior.cwd / "other").rename(ior.cwd / "f")

    run = ior.change_while_it_waits(preload, "-w -r -b 8k -t 8k -o f", change, np=None)
    run.fails(3, "'f' is not the file that this run created (inode ", "is not removed")
    assert (ior.cwd / "f").read_bytes() == b"x" * 8192


@pytest.mark.parametrize("backend", ["HDF5", "NETCDF"])
def test_a_file_of_arrays_that_another_process_has_put_in_place_of_ours_is_not_removed(h5ex, preload, need_backend, backend):
    """The new file can be read, so that only the removal tells."""
    def start(words):
        env = {"LD_PRELOAD": preload("hold-sleep.c"), "HOLD": "2"}
        return h5ex.start("-a %s --numdims 1 --minels 4096 --nsizes 1 -i 1 %s" % (backend, words), np=None, env=env)

    need_backend(backend)
    h5ex.finish(start("--keepfile -o other")).ok()
    other = h5ex.cwd / "other"
    proc = start("-d 0.001 -o h5")
    new = h5ex.cwd / "h5"
    conftest.wait_until(lambda: proc.poll() is not None or (new.exists() and new.stat().st_size == other.stat().st_size))
    was = other.read_bytes()
    other.rename(new)
    (h5ex.cwd / "go").touch()
    h5ex.finish(proc).fails(3, "'h5' is not the file that this run created (inode ", "is not removed")
    assert new.read_bytes() == was


def test_a_file_system_that_goes_away_ends_the_test(ior, preload):
    """As a lost mount does: the same name is on another device. The second write is not begun."""
    def change():
        (ior.cwd / "place").unlink()
        (ior.cwd / "place").symlink_to("/dev/shm")

    if os.stat("/dev/shm").st_dev == os.stat(ior.cwd).st_dev:
        pytest.skip("/dev/shm is on the device of the tests")
    (ior.cwd / "here").mkdir()
    (ior.cwd / "place").symlink_to("here")
    name = "weir-test-%d" % os.getpid()
    run = ior.change_while_it_waits(preload, "-w -i 2 -b 8k -t 8k -o place/" + name, change, np=None)
    run.fails(3, "'place/.' was on device ", " now: a file system was mounted or unmounted there")
    assert not os.path.exists("/dev/shm/" + name)
    (ior.cwd / "go").unlink()
    (ior.cwd / "place").unlink()
    (ior.cwd / "place").symlink_to("here")
    args = "-w -k -b 8k -t 4k -O interIODelay=100000 -o place/" + name  # and between two writes of the last phase
    proc = ior.start(args, np=None, env={"LD_PRELOAD": preload("hold-sleep.c"), "HOLD": "1"})
    conftest.wait_until(lambda: proc.poll() is not None or (ior.cwd / "here" / name).exists())
    change()
    (ior.cwd / "go").touch()
    run = ior.finish(proc).fails(3, "'place/.' was on device ")
    assert run.rows == [], "no rate of a phase in which the file system went away"
