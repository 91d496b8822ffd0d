# SPDX-License-Identifier: BSD-3-Clause
"""Backends that are plugins: loaded when they are wanted, found where they are, missed with one line."""
import os
import re
import shutil
import subprocess

import pytest

import conftest

PLUGINS = sorted(p.name[len("weir-"):-len(".so")] for p in (conftest.BUILD / "src" / ".libs").glob("weir-*.so"))


LIBRARY = {"aio": "libaio", "hdf5": "libhdf5", "ncmpi": "libpnetcdf", "s3": "libcurl", "uring": "liburing"}


@pytest.fixture(params=sorted(LIBRARY))
def plugin(request):
    if request.param not in PLUGINS:
        pytest.skip("this build has no plugin weir-%s.so" % request.param)
    return request.param


def mapped(ior, args):
    """Names of the shared objects that a run of one rank has mapped while it waits."""
    proc = ior.start(args + " -w -O interIODelay=20000000 -t 4k -b 8k", np=1)
    pid, = ior.wait_for_ranks(proc, 1)
    seen = set()
    while proc.poll() is None and "testFile" not in seen:  # what opens the file is mapped before
        seen = {"testFile" for n in os.listdir("/proc/%d/fd" % pid) if _target(pid, n).endswith("/testFile")}
        with open("/proc/%d/maps" % pid) as maps:
            seen |= {os.path.basename(line.split()[-1]) for line in maps if "/" in line}
    conftest.kill_all(proc)
    proc.wait()
    ior.collect(proc)
    return seen


def _target(pid, name):
    try:
        return os.readlink("/proc/%d/fd/%s" % (pid, name))
    except OSError:
        return ""


def _needed(path):
    return subprocess.run(["objdump", "-p", str(path)], capture_output=True, text=True, check=True).stdout


def test_a_run_loads_the_libraries_of_its_backend_and_no_other(ior, plugin):
    plain = mapped(ior, "-a POSIX")
    assert "testFile" in plain and not [n for n in plain if n.startswith(("weir-",) + tuple(LIBRARY.values()))], plain
    if plugin == "s3":  # has no file, and no service here
        assert re.search(r"NEEDED +%s" % LIBRARY[plugin], _needed(conftest.BUILD / "src" / ".libs" / "weir-s3.so"))
        return
    chosen = mapped(ior, "-a %s" % plugin)
    assert "weir-%s.so" % plugin in chosen, chosen
    assert [n for n in chosen if n.startswith(LIBRARY[plugin])], chosen


def test_a_plugin_that_is_not_there_is_one_line_and_others_still_work(ior, plugin, tmp_path):
    alone = tmp_path / "bin"
    alone.mkdir()
    shutil.copy(conftest.IOR, alone / "ior")
    ior.program = alone / "ior"
    ior("-a %s -t 4k -b 8k" % plugin).fails(2, "load backend %s" % plugin.upper(), "'weir-%s.so' is not in" % plugin,
                                             "'%s'" % alone, "LD_LIBRARY_PATH", "(and 1 more rank failed)")
    assert ior.files() == []
    ior("-a POSIX -t 4k -b 8k -w -W -R").ok()
    assert "--%s." % plugin in ior("--help=%s" % plugin, np=None).ok().stdout


def test_a_plugin_of_something_else_is_refused(ior, plugin, tmp_path):
    alone = tmp_path / "bin"
    alone.mkdir()
    shutil.copy(conftest.IOR, alone / "ior")
    subprocess.run(["gcc", "-shared", "-fPIC", "-x", "c", "/dev/null", "-o", str(alone / ("weir-%s.so" % plugin))], check=True)
    ior.program = alone / "ior"
    ior("-a %s -t 4k -b 8k" % plugin, np=1).fails(2, "weir-%s.so' is not a plugin of weir" % plugin)


@pytest.mark.skipif("aio" not in PLUGINS, reason="this build has no plugin that needs no MPI")
def test_a_plugin_that_cannot_be_opened_is_told_with_the_reason(tmp_path, preload):
    """Wherever it is found. (mib needs no MPI, so nothing else is loaded.)"""
    for folder in ("bin", "lib"):
        (tmp_path / folder).mkdir()
        shutil.copy(conftest.BUILD / "src" / ".libs" / "weir-aio.so", tmp_path / folder)
    shutil.copy(conftest.BUILD / "src" / "mib", tmp_path / "bin")

    def load(reason, where, **env):
        said = subprocess.run([str(tmp_path / "bin" / "mib"), "-M", "--api=AIO", "-b", "1", "-s", "1k"], cwd=tmp_path,
                              env=conftest.program_env(env), capture_output=True, text=True, timeout=60)
        assert said.returncode == 2 and reason in said.stderr and "backend AIO from '%s'" % where in said.stderr, said
        assert "is not in" not in said.stderr and said.stderr.count("\n") == 1, said

    full = dict(LD_PRELOAD=preload("no-descriptors.c"), LD_LIBRARY_PATH=str(tmp_path / "lib"))
    load("Too many open files", tmp_path / "bin" / "weir-aio.so", **full)
    (tmp_path / "bin" / "weir-aio.so").unlink()
    load("Too many open files", "weir-aio.so", **full)  # where the dynamic linker looks


def test_installed_programs_find_the_installed_plugins(ior, tmp_path):
    if not PLUGINS or conftest.SANITIZED or not (conftest.BUILD / "Makefile").exists():
        pytest.skip("this build has no plugins to install")
    root = tmp_path / "root"
    done = subprocess.run(["make", "-C", str(conftest.BUILD), "install-exec", "DESTDIR=%s" % root, "prefix=/opt/we ir"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    ior.program = root / "opt" / "we ir" / "bin" / "ior"
    assert sorted(os.listdir(root / "opt" / "we ir" / "lib" / "weir")) == ["weir-%s.so" % p for p in PLUGINS]
    for plugin in PLUGINS:
        if plugin == "netcdf":  # arrays only
            ior("-a netcdf -t 4k -b 8k -w", np=None).fails(1, "NETCDF stores only arrays")
        elif plugin != "s3":
            ior("-a %s -t 4k -b 8k -w -W -R" % plugin, np=None).ok()
    if "s3" in PLUGINS:  # there is no service here: what it refuses itself
        ior("-a s3 -t 4k -b 12k -w --s3.bucket=data --s3.endpoints=http://127.0.0.1:1", np=None).fails(1, "--s3.part-least")
    done = subprocess.run(["make", "-C", str(conftest.BUILD), "uninstall", "DESTDIR=%s" % root, "prefix=/opt/we ir"],
                          capture_output=True, text=True)
    assert done.returncode == 0 and not [p for p in root.rglob("*") if p.is_file()], done.stderr


def test_programs_need_mpi_and_libc_and_nothing_else():
    """Nothing starts on a node without libraries that only some backends need."""
    if conftest.SANITIZED:
        pytest.skip("the compiler's libraries are there too")
    need_mpi = re.compile(r"lib(mpi(ch|_cxx)?|c|m|pthread|dl|rt|gcc_s)\.so|ld-linux")
    for program in ("ior", "mdtest", "md-workbench", "mib", "h5exerciser", "checkpoint_simulator.x", "raw_bw.x"):
        path = conftest.BUILD / "src" / program
        said = _needed(path)
        needed = re.findall(r"NEEDED +(\S+)", said)
        assert "libc.so.6" in needed and [n for n in needed if not need_mpi.match(n)] == [], (program, needed)
        assert "RPATH" not in said and "RUNPATH" not in said, program
