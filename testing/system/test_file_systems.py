# SPDX-License-Identifier: BSD-3-Clause
"""Layouts and hints of Lustre, GPFS and BeeGFS: builds with stand-ins for their libraries (stand-ins/), and what reaches those.

This shows that the code is compiled where the libraries are, and what it asks them for; it says nothing about the file systems."""
import fcntl
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

import conftest
import mdtest_support

pytestmark = pytest.mark.slow
STAND_INS = conftest.SOURCE / "testing" / "system" / "stand-ins"
WITHOUT = ["--without-" + name for name in ("hdf5", "ncmpi", "mmap", "mpiio", "cmocka")]
OURS = ["lustre", "gpfs", "beegfs"]


def run_step(words, cwd):
    env = conftest.program_env()
    env["MAKEFLAGS"] = "-j%d" % (os.cpu_count() or 1)
    env.pop("MAKELEVEL", None)
    done = subprocess.run([str(w) for w in words], cwd=cwd, env=env, stdin=subprocess.DEVNULL, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=400)
    assert done.returncode == 0, "%s\n--- said\n%s" % (words, done.stdout[-4000:])
    return done.stdout


def compiler():
    return os.environ.get("WEIR_CC", "mpicc")


def add_libraries(top):
    """A folder with include and lib, as configure's --with-NAME wants it."""
    shutil.copytree(STAND_INS / "include", top / "include")
    subprocess.run(["chmod", "-R", "u+w", str(top)], check=True)
    (top / "lib").mkdir()
    for name in ("lustreapi", "gpfs"):
        run_step([compiler(), "-shared", "-fPIC", "-Wall", "-Werror", "-I", top / "include", "-o", top / "lib" / ("lib%s.so" % name),
                  STAND_INS / "stand-ins.c"], top)


def configured(top, build, *words, known=""):
    build.mkdir()
    (build / "config.cache").write_text(known)
    # What config.h says about these libraries is for posixfile.h and its users only, so it counts as old for all others
    conftest.reuse_objects(build, top / "weir", ["src/backends/posix", "src/backends/aio"])
    said = run_step([top / "weir" / "configure", "--cache-file=%s/config.cache" % build, "CC=" + compiler(), "--enable-werror", *WITHOUT,
                     *["--with-%s=%s" % (name, top / "libraries") for name in OURS], *words], build)
    os.utime(build / "src" / "config.h", (0, 0))
    return said


def make_builds(top):
    """Below top: a copy of the sources, as where somebody built in the source tree that cannot be configured elsewhere; the libraries;
    the build, and another one with an older GPFS, whose configure is told what the first one has found of all else."""
    conftest.copy_sources(top / "weir", "configure")
    add_libraries(top / "libraries")
    said = configured(top, top / "build")
    for name in OURS:
        assert re.search(r"^ +%s +in$" % name, said, re.M), said
    run_step(["make", "src/ior", "src/mdtest"], top / "build")
    known = [line for line in (top / "build" / "config.cache").read_text().splitlines(True) if not re.search("gpfs|ac_cv_env_", line)]
    configured(top, top / "old", "CPPFLAGS=-DSTAND_IN_OLD_GPFS", known="".join(known))
    run_step(["make", "src/ior"], top / "old")
    return str(top)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Where the builds are. They are made once, for all workers."""
    if not (conftest.SOURCE / "configure").exists():
        pytest.skip("no complete source tree: no configure")
    return pathlib.Path(conftest.once(tmp_path_factory, "file-systems", make_builds))


@pytest.fixture
def libraries(request, place):
    """The libraries are there, or away while a test is on a node that lacks them: no other worker has one that needs them then."""
    lib, away = place / "libraries" / "lib", "without_libraries" in request.fixturenames
    with open(place / "in-use", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX if away else fcntl.LOCK_SH)
        if away:
            lib.rename(lib.with_name("away"))
        yield lib
        if away:
            lib.with_name("away").rename(lib)


@pytest.fixture
def build(place, libraries):
    return place / "build"


@pytest.fixture
def without_libraries(libraries):
    """A node that lacks them."""


class Log:
    """The calls of the stand-ins."""

    def __init__(self, path, run):
        self.path, self.program = path, run

    def __call__(self, args, fail="", **kwargs):
        self.path.write_text("")
        return self.program(args, env={"STAND_IN_LOG": str(self.path), "STAND_IN_FAIL": fail}, **kwargs)

    def lines(self, begin=""):
        return [line for line in self.path.read_text().splitlines() if line.startswith(begin)]


@pytest.fixture
def logged(ior, build, tmp_path):
    ior.program = build / "src" / "ior"
    return Log(tmp_path / "calls", ior)


# ---- the libraries ----

def test_programs_start_where_the_libraries_are_not(logged, without_libraries):
    logged("-t 4k -b 16k -o f", np=1).ok()
    for options, words in (("lustre.stripecount=4", ["llapi_file_open_pool", "liblustreapi.so.1"]),
                           ("gpfs.hintaccess", ["gpfs_fcntl", "/usr/lpp/mmfs/lib/libgpfs.so"])):
        logged("-t 4k -b 16k --posix.%s -o f" % options, np=None).fails(2, "load the library that has", "LD_LIBRARY_PATH", *words)
    assert logged.lines() == [] and logged.program.files() == []


def test_mdtest_says_that_the_library_is_not_there(mdtest_logged, without_libraries):
    mdtest_logged("-g -n 4 -d out").fails(2, "load the library that has llapi_dir_set_default_lmv_stripe", "liblustreapi.so.1")
    assert mdtest_logged.program.files() == []


# ---- Lustre ----

LUSTRE = "--posix.lustre.stripecount=4 --posix.lustre.stripesize=1m"


def test_each_task_asks_lustre_for_the_layout_of_the_shared_file(logged):
    logged("-t 4k -b 16k -k -w -W -r -R %s --posix.lustre.startost=2 -o f" % LUSTRE).ok()
    assert logged.lines() == 2 * ["llapi_file_open_pool f size=1048576 start=2 count=4 pattern=0 pool=-"]
    assert logged.program.files() == ["f"] and (logged.program.cwd / "f").stat().st_size == 32768
    logged("-t 4k -b 16k -E -k -w -W %s -o f" % LUSTRE).ok()  # an existing file keeps its own
    logged("-t 4k -b 16k -r -k %s -o f" % LUSTRE).ok()
    assert logged.lines() == []  # nothing is created


def test_stripes_that_are_not_as_asked_are_found(logged, libraries, tmp_path):
    """A file that is there keeps its own."""
    def outcome(stripes, options):
        env = {"STAND_IN_LOG": str(tmp_path / "calls"), "STAND_IN_STRIPES": stripes, "LD_PRELOAD": str(libraries / "liblustreapi.so")}
        logged.program("-t 4k -b 16k -w -o f --report=json:r.json " + options, np=None, env=env).ok()
        test, = json.loads((logged.program.cwd / "r.json").read_text())["tests"]
        return {f["id"]: f["outcome"] for f in test["findings"]}["H30"]
    if conftest.SANITIZED:
        pytest.skip("a preloaded library and a sanitizer do not go together")
    assert outcome("1048576 4", LUSTRE) == "fine"
    assert outcome("1048576 1", LUSTRE) == outcome("65536 4", "--posix.lustre.stripesize=1m") == "found"
    assert outcome("1048576 7", "--posix.lustre.stripecount=-1") == "fine"
    assert outcome("1048576 1", "") == outcome("", LUSTRE) == "not judged"
    targets = "--posix.lustre.osts=0-2,7"
    assert outcome("1048576 4 0 1 2 7", targets) == "fine"
    assert outcome("1048576 4 0 1 2 8", targets) == outcome("1048576 3 0 1 2", targets) == outcome("1048576 4 7 0 1 2", targets) == "found"


def test_files_of_their_own_get_layout_and_pool(logged):
    logged("-F -t 4k -b 16k -w -k %s --posix.lustre.pool=fast -o f" % LUSTRE).ok()
    assert sorted(logged.lines()) == ["llapi_file_open_pool f.0000000%d size=1048576 start=-1 count=4 pattern=0 pool=fast" % i
                                      for i in (0, 1)]


def test_stripes_are_on_the_targets_of_a_list(logged):
    logged("-t 4k -b 16k -k -w -r --posix.lustre.osts=0-2,8,9-13:2 --posix.lustre.stripesize=1m -o f").ok()
    assert logged.lines() == 2 * ["llapi_layout_file_open f count=7 size=1048576 0:0 1:1 2:2 3:8 4:9 5:11 6:13"]
    assert logged.program.files() == ["f"] and (logged.program.cwd / "f").stat().st_size == 32768
    logged("-t 4k -b 16k -E -k -w --posix.lustre.osts=5 -o f").ok()  # an existing file keeps its own
    logged("-t 4k -b 16k -r -k --posix.lustre.osts=5 -o f").ok()
    assert logged.lines() == []
    logged("-F -t 4k -b 16k -w --posix.lustre.osts=3,1 -o g").ok()
    assert sorted(logged.lines()) == ["llapi_layout_file_open g.0000000%d count=2 0:3 1:1" % i for i in (0, 1)]
    logged("-F -t 4k -b 16k --posix.lustre.osts=1 -o g", fail="llapi_layout").fails(3, "create 'g.0000000", "with a Lustre layout", "ioctl")
    assert logged.program.files() == ["f"]


def test_a_target_may_get_several_stripes(logged):
    for options, words in (("stripecount=64", "count=64 pattern=4"), ("stripecount=-1 --posix.lustre.startost=3", "count=-1 0:3 pattern=4"),
                           ("osts=1,1,2", "count=3 pattern=4 0:1 1:1 2:2"),
                           ("stripecount=8 --posix.lustre.stripesize=1m --posix.lustre.pool=fast", "count=8 size=1048576 pool=fast pattern=4")):
        logged("-t 4k -b 16k -w --posix.lustre.overstripe --posix.lustre.%s -o f" % options, np=1).ok()
        assert logged.lines() == ["llapi_layout_file_open f " + words]


@pytest.mark.parametrize("args, words", [
    ("--posix.lustre.osts=1,", "a list of numbers like 0-3,8"), ("--posix.lustre.osts=3-1", "a list of numbers"), ("--posix.lustre.osts=x", "a list of numbers"),
    ("--posix.lustre.osts=0-2000", "at most 2000"), ("--posix.lustre.osts=0-2147483647", "at most 2000"),
    ("--posix.lustre.osts=0-3 --posix.lustre.stripecount=3", "lists 4 targets, and --posix.lustre.stripecount is 3"),
    ("--posix.lustre.osts=0-3 --posix.lustre.startost=3", "leave out --posix.lustre.startost"),
    ("--posix.lustre.osts=0-3 --posix.lustre.pool=fast", "leave out --posix.lustre.pool"), ("--posix.lustre.overstripe", "needs --posix.lustre.stripecount or"),
    ("--posix.lustre.pool=fast", "needs --posix.lustre.stripecount"),
    ("--posix.lustre.pool=fast --posix.lustre.stripecount=1", "and --posix.lustre.stripesize"),
    (LUSTRE + " --posix.lustre.pool=" + 70 * "p", "the name is too long for a pool"),
    ("--posix.beegfs.ChunkSize=4k", "power of two from 64k"), ("--posix.beegfs.ChunkSize=100k", "power of two"),
    ("--posix.beegfs.ChunkSize=4g", "to 2g"), ("--posix.beegfs.ChunkSize=0", "power of two")])
def test_values_that_do_not_fit_are_refused_before_anything_is_made(logged, args, words):
    logged("-t 4k -b 16k %s -o f" % args, np=None).fails(1, words)
    assert logged.lines() == [] and logged.program.files() == []


def test_a_layout_that_lustre_refuses_is_an_error_that_leaves_nothing(logged):
    logged("-F -t 4k -b 16k %s -o f" % LUSTRE, fail="llapi").fails(3, "create 'f.0000000", "with a Lustre layout", "ioctl")
    assert logged.program.files() == []


def test_locks_cannot_be_ignored_where_there_is_no_lustre(logged):
    """The one request that does not pass through the library."""
    logged("-t 4k -b 16k --posix.lustre.ignorelocks -o f").fails(3, "make Lustre ignore locks of 'f'")
    assert logged.program.files() == []


# ---- GPFS ----

def test_gpfs_hears_of_each_transfer_before_and_after_it(logged):
    logged("-t 4k -b 8k -s 2 -w -r -R --posix.gpfs.hintaccess -o f", np=1).ok()
    wanted = []
    for write in (1, 0):
        for off in range(0, 16384, 4096):
            wanted += ["gpfs_fcntl access start=%d length=4096 write=%d" % (off, write), "gpfs_fcntl free start=%d length=4096" % off]
    assert logged.lines() == wanted


def test_the_other_hints_of_gpfs_are_given_once_for_each_open_file(logged):
    hints = "releasetoken finegrainwritesharing finegrainreadsharing createsharing".split()
    logged("-t 4k -b 8k -w -r -R %s -o f" % " ".join("--posix.gpfs." + h for h in hints), np=1).ok()
    opened = ["gpfs_fcntl free start=0 length=0", "gpfs_fcntl hint 11", "gpfs_fcntl hint 12"]
    assert logged.lines() == ["gpfs_fcntl hint 13"] + opened + opened


def test_hints_and_locks_go_together(logged):
    logged("-t 4k -b 8k -w -W -r -R --posix.gpfs.hintaccess --posix.rangelocks -o d/f", np=1).fails(3, "'d/f'")
    (logged.program.cwd / "d").mkdir()
    logged("-t 4k -b 8k -w -W -r -R --posix.gpfs.hintaccess --posix.gpfs.createsharing --posix.rangelocks -o d/f").ok()
    assert len(logged.lines("gpfs_fcntl access")) == 2 * 3 * 2 and len(logged.lines("gpfs_fcntl hint 13")) == 2


@pytest.mark.parametrize("option, words", [
    ("hintaccess", ["write", "announce the range to GPFS", "'f'"]), ("releasetoken", ["release the locks of GPFS on 'f'"]),
    ("finegrainwritesharing", ["small shared writes of 'f'"]), ("finegrainreadsharing", ["small shared reads of 'f'"]),
    ("createsharing", ["create files next to 'f'"])])
def test_a_hint_that_gpfs_refuses_is_an_error_that_leaves_nothing(logged, option, words):
    logged("-t 4k -b 8k --posix.gpfs.%s -o f" % option, fail="gpfs").fails(3, "ioctl", *words)
    assert logged.program.files() == []


def test_a_library_that_is_too_old_for_a_hint_refuses_that_one_only(place, libraries, ior, tmp_path):
    ior.program = place / "old" / "src" / "ior"
    log = Log(tmp_path / "calls", ior)
    log("-t 4k -b 8k --posix.gpfs.createsharing -o f", np=None).fails(1, "--posix.gpfs.createsharing needs a newer GPFS")
    log("-t 4k -b 8k --posix.gpfs.finegrainwritesharing -w -o f", np=1).ok()
    assert log.lines() == ["gpfs_fcntl hint 11"]


# ---- BeeGFS ----

@pytest.mark.parametrize("args, said", [
    ("NumTargets=4", "targets=4 chunk=0"), ("ChunkSize=1m", "targets=0 chunk=1048576"),
    ("NumTargets=2 --posix.beegfs.ChunkSize=64k", "targets=2 chunk=65536"), ("ChunkSize=2g", "targets=0 chunk=2147483648")])
def test_beegfs_makes_the_file_with_targets_and_chunks(logged, args, said):
    (logged.program.cwd / "d").mkdir()
    logged("-t 4k -b 16k -k -w -W -r -R --posix.beegfs.%s -o d/f" % args).ok()
    assert logged.lines() == 2 * ["beegfs_createFile f " + said]
    assert (logged.program.cwd / "d" / "f").stat().st_size == 32768


def test_a_pattern_that_beegfs_refuses_is_an_error_that_leaves_nothing(logged):
    logged("-t 4k -b 16k --posix.beegfs.NumTargets=4 -o f", fail="beegfs").fails(
        3, "create 'f' with a stripe pattern of BeeGFS", "ioctl")
    assert logged.program.files() == []


# ---- mdtest ----

@pytest.fixture
def mdtest_logged(ior, build, tmp_path):
    runner = mdtest_support.Mdtest(ior.cwd)
    runner.file = build / "src" / "mdtest"
    return Log(tmp_path / "calls", runner)


def test_mdtest_resets_the_layout_of_each_test_directory(mdtest_logged):
    mdtest_logged("-g -n 4 -i 2 -d out").ok()
    assert mdtest_logged.lines() == ["llapi_dir_set_default_lmv_stripe out/test-dir.%d-0 start=-1 count=0 pattern=0 pool=-" % i
                                     for i in (0, 1)]
    mdtest_logged("-n 4 -d out").ok()
    assert mdtest_logged.lines() == []


def test_mdtest_gives_files_the_layout_of_the_backend(mdtest_logged):
    mdtest_logged("-F -C -r -n 2 -d out --posix.lustre.stripecount=1", np=1).ok()
    assert len(mdtest_logged.lines("llapi_file_open_pool")) == 2


def test_a_directory_whose_layout_cannot_be_reset_is_an_error_that_leaves_nothing(mdtest_logged):
    mdtest_logged("-g -n 4 -d out", fail="llapi_dir").fails(3, "out/test-dir.0-0' the default layout of Lustre")
    assert mdtest_logged.program.files() == []
