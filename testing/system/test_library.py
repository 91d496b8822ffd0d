# SPDX-License-Identifier: BSD-3-Clause
"""libweir: what is installed, its symbols, and the examples of doc/examples with what pkg-config says of it."""
import os
import re
import shlex
import shutil
import subprocess

import pytest

import conftest

# A name that is wrong is a message, not a crash of the caller
NO_BENCHMARK = r"""
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <weir.h>

int main(void)
{
    struct weir_job *job = weir_job_new("no", 0);
    struct weir_job *two[] = { weir_job_new("ior", NULL), weir_job_new("ior", NULL) };
    int number = 1, tasks[] = { 1, 1 };
    struct weir_storage *here;
    struct stat status;
    char *name = "ior";

    puts(weir_version());
    puts(weir_job_error(job));
    weir_job_before(job, NULL, NULL);
    weir_job_watch(job, NULL, NULL, NULL);
    weir_job_until(job, NULL, NULL);
    if (weir_jobs_clash(&job, &number, 1, NULL, &number) != -1 || weir_job_set(job, "b", "4k") != 1 || weir_job_unset(job, "b") != 1 || weir_job_run(job) != 1)
        return 2;
    if (weir_job_results(job) != 0 || weir_job_result(job, 0) || weir_job_remarks(job) != 0 || weir_job_remark(job, 0))
        return 3;
    weir_job_free(job);
    if (weir_jobs_clash(two, tasks, 2, NULL, &number) != 1 || number != 0)
        return 4;
    if (weir_jobs_clash(two, tasks, 2, NULL, NULL) != 1 || !strstr(weir_job_error(two[1]), "NULL") || weir_jobs_clash(two, tasks, 0, NULL, NULL) != -1)
        return 5;
    if (weir_jobs_clash(two, NULL, 2, NULL, &number) != 1 || weir_jobs_clash(NULL, tasks, 2, NULL, &number) != 1)
        return 5;
    if (weir_measure("ior", 1, &name, NULL, NULL, NULL, NULL) != 1 || weir_storage_open("POSIX", 2, NULL))
        return 6;
    MPI_Init(NULL, NULL);
    here = weir_storage_open(NULL, 0, NULL);
    if (weir_storage_status(here, ".", NULL) != EINVAL || !strstr(weir_storage_error(here), "NULL") || weir_storage_status(here, ".", &status) != 0 || weir_storage_close(here) != 0)
        return 7;
    puts(weir_storage_error(weir_storage_open("HDF5", 0, NULL)));
    MPI_Finalize();
    return *weir_job_verdict(job) != 0;
}
"""
EXAMPLES = conftest.SOURCE / "doc" / "examples"


def done(*words, **more):
    ran = subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=120, **more)
    assert ran.returncode == 0, (words, ran.stdout, ran.stderr)
    return ran.stdout


def flags(prefix, *words):
    env = dict(os.environ, PKG_CONFIG_PATH=str(prefix / "lib" / "pkgconfig"))
    return done("pkg-config", *words, "weir", env=env)


def build(prefix, source, out, *more):
    """The example with the compiler of the build, as a user would."""
    done(*shlex.split(os.environ["WEIR_CC"]), "-Wall", "-Wextra", "-Werror", source, *more,
         *shlex.split(flags(prefix, "--cflags") + os.environ.get("WEIR_MPI_CFLAGS", "")), *shlex.split(flags(prefix, "--libs")),
         *shlex.split(os.environ.get("WEIR_MPI_LIBS", "")), "-Wl,-rpath,%s/lib" % prefix, "-o", out)


def shows_only_what_its_header_declares(installed):
    lib = installed / "lib"
    assert os.path.islink(lib / "libweir.so") and os.path.islink(lib / "libweir.so.0") and (lib / "libweir.a").exists()
    shown = dict(re.findall(r" T (\w+)@@(\w+)$", done("nm", "-D", "--defined-only", lib / "libweir.so"), re.M))
    header = (installed / "include" / "weir.h").read_text()
    declared = set(re.findall(r"^[a-z].*?\b\*?(weir_\w+)\(", header, re.M))
    assert set(shown) == declared and len(declared) == 32 and set(shown.values()) == {"WEIR_0"}, (shown, declared)
    assert "libaio" not in done("objdump", "-p", lib / "libweir.so")
    archive = re.findall(r"^\w+ [A-TV-Z] (\w+)$", done("nm", "--extern-only", "--defined-only", lib / "libweir.a"), re.M)
    assert sorted(archive) == sorted(declared), archive


def run_example_in_c(installed, ior, tmp_path):
    build(installed, EXAMPLES / "library.c", tmp_path / "library")
    ior.program = tmp_path / "library"
    run = ior(str(tmp_path)).ok()
    lines = run.stdout.splitlines()
    told = [line.split(":")[0] for line in lines if " operations in " in line and "stonewall" not in line]
    assert told[:2] == ["write", "read"] and {"file create", "directory stat", "file remove"} <= set(told), run
    assert "begin write" in lines and "begin read" in lines and not run.stderr, run
    assert len([line for line in lines if re.match(r"(write|read): 2097152 bytes, 32 operations in ", line)]) == 2, run
    assert re.search(r"^file create: 0 bytes, 40 operations in \S+ s, longest (?!0 s)", run.stdout, re.M), run
    assert "at the stonewall: 2097152 bytes" in run.stdout and "    H02 " in run.stdout, run
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith("library-")] == []


def link_statically(installed, tmp_path):
    (tmp_path / "static.c").write_text(NO_BENCHMARK)
    libs = [w for w in shlex.split(flags(installed, "--libs", "--static")) if w.startswith(("-l", "-Wl")) and w != "-lweir"]
    done(*shlex.split(os.environ["WEIR_CC"]), tmp_path / "static.c", "-I%s/include" % installed, installed / "lib" / "libweir.a",
         *shlex.split(os.environ.get("WEIR_MPI_CFLAGS", "")), *libs, "-o", tmp_path / "static")
    version, error, plugin = done(tmp_path / "static", env=dict(conftest.program_env(), HOME=str(tmp_path))).splitlines()
    assert version == flags(installed, "--modversion").strip()
    assert plugin == "" or "HDF5" not in conftest.backends(), "a static program finds the plugins beside libweir.a: " + plugin
    assert error == "there is no benchmark of this name (weir_benchmark_name lists them), or no memory for a job"


def run_example_in_python(installed, ior, tmp_path):
    ior.program = shutil.which("python3")
    run = ior("%s %s" % (EXAMPLES / "library.py", tmp_path), env={"LIBWEIR": str(installed / "lib" / "libweir.so.0")}).ok()
    assert run.stdout.count("write: 2097152 bytes by 2 tasks in ") == 1, run  # rank 0 prints
    assert re.search(r"refused: .*blockSize.*3 sheep", run.stdout) and "weir 0." in run.stdout and not run.stderr, run


def describes_where_it_is(tmp_path):
    """Also below another libdir than that of configure."""
    prefix = tmp_path / "other place"
    lib = prefix / "lib" / "of" / "this-machine"
    done("make", "-s", "-C", conftest.BUILD, "install-pkgconfigDATA", "prefix=%s" % prefix, "libdir=%s" % lib)
    env = dict(os.environ, PKG_CONFIG_PATH=str(lib / "pkgconfig"))
    found = {name: os.path.normpath(done("pkg-config", "--variable=" + name, "weir", env=env).strip().replace("\\ ", " "))
             for name in ("libdir", "includedir", "plugindir")}
    assert found == {"libdir": str(lib), "includedir": str(prefix / "include"), "plugindir": str(lib / "weir")}


def test_the_installed_library(ior, tmp_path):
    """What its header declares it shows, and the examples of the guide run with it, linked as pkg-config says."""
    if conftest.SANITIZED or not (conftest.BUILD / "Makefile").exists() or not shutil.which("pkg-config"):
        pytest.skip("examples are built without the compiler's checks, and with pkg-config")
    prefix = tmp_path / "pre fix"
    done("make", "-s", "-C", conftest.BUILD, "install-exec", "install-includeHEADERS", "install-pkgconfigDATA",
         "prefix=%s" % prefix)
    describes_where_it_is(tmp_path)
    shows_only_what_its_header_declares(prefix)
    run_example_in_c(prefix, ior, tmp_path)
    link_statically(prefix, tmp_path)
    run_example_in_python(prefix, ior, tmp_path)
