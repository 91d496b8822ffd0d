# SPDX-License-Identifier: BSD-3-Clause
"""contrib/io500: use-weir puts headers and a library into a tree of IO500, and a program that calls them as IO500 does gets right
numbers on all ranks."""
import os
import re
import shlex
import shutil
import subprocess

import pytest

import conftest
from test_library import done

NEEDED = ["install-exec", "install-includeHEADERS", "install-pkgconfigDATA", "install-io500SCRIPTS", "install-io500DATA",
          "install-io500headersDATA"]
FULL = 'mkdir full; mount -t tmpfs -o size=2m weir full; exec "$@"'


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A prefix with weir. A build with a sanitizer would need it in every program."""
    if conftest.SANITIZED or not (conftest.BUILD / "Makefile").exists() or not shutil.which("pkg-config"):
        pytest.skip("what is installed is linked without the compiler's checks, and with pkg-config")
    prefix = tmp_path_factory.mktemp("io500") / "pre fix"
    done("make", "-s", "-C", conftest.BUILD, *NEEDED, "prefix=%s" % prefix)
    return prefix


@pytest.fixture
def tree(tmp_path):
    """What use-weir looks for in the sources of IO500."""
    (tmp_path / "io 500" / "src").mkdir(parents=True)
    for name in ("Makefile", "src/phase_ior.c"):
        (tmp_path / "io 500" / name).touch()
    return tmp_path / "io 500"


def use_weir(prefix, *words, **env):
    command = [prefix / "share" / "weir" / "io500" / "use-weir", *words]
    flags = os.environ.get("WEIR_MPI_CFLAGS", "") + " -Wall -Wextra -Werror"
    compiler = {"CC": os.environ["WEIR_CC"], "CFLAGS": flags, "LIBS": os.environ.get("WEIR_MPI_LIBS", "")}
    return subprocess.run([str(w) for w in command], capture_output=True, text=True, timeout=120,
                          env={**os.environ, **compiler, **env})


def setting(tree, name):
    text = (tree / "build" / "ior" / "src" / "build.conf").read_text()
    return shlex.split(re.search("^%s=(.*)" % name, text, re.M).group(1))


def names(folder):
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def test_what_stood_there_comes_back_and_twice_is_as_once(installed, tree):
    own = tree / "build" / "ior" / "src"
    own.mkdir(parents=True)
    (own / "ior.h").write_text("of another\n")
    (own / "option.h").write_text("of another, too\n")
    before = names(tree)
    first = use_weir(installed, tree)
    assert first.returncode == 0 and "ior.h.before-weir" in first.stdout and "pfind" in first.stdout and not first.stderr, first
    after = names(tree)
    assert set(after) - set(before) == {"build/ior/src/" + name for name in (
        "aiori.h", "mdtest.h", "md-workbench.h", "build.conf", "libaiori.a", "ior.h.before-weir")}
    assert use_weir(installed, tree).returncode == 0 and names(tree) == after
    assert use_weir(installed, "--remove", tree).returncode == 0
    assert names(tree) == before and (own / "ior.h").read_text() == "of another\n"
    again = use_weir(installed, "--remove", tree)
    assert again.returncode == 0 and "nothing" in again.stdout and names(tree) == before


USES = r"""
FILE *out_logfile; /* of a checker, which links no library */

double uses(const char *api, double bytes)
{
    char name[PATH_MAX], *copy = strdup(api);
    int is_set = copy && strcmp(copy, api) == 0 ? TRUE : FALSE;

    memset(name, 0, sizeof(name));
    out_logfile = is_set ? stdout : stderr;
    if (fprintf(out_logfile, "%s %zu\n", name, strlen(api)) < 0)
        is_set = FALSE;
    return is_set ? bytes / GIBIBYTE : (double)(TEBIBYTE / MEBIBYTE / KIBIBYTE);
}
_Static_assert(GIBIBYTE == 1 << 30 && sizeof(GIBIBYTE) == 8 && TEBIBYTE / MEBIBYTE == 1 << 20 && KIBIBYTE == 1 << 10, "sizes");
"""
# Those of its makefile; -O2, as -Werror=maybe-uninitialized needs it.
FLAGS = "-O2 -std=gnu99 -Wall -Wempty-body -Werror -Wstrict-prototypes -Werror=maybe-uninitialized -Warray-bounds"


@pytest.mark.parametrize("header", ["ior", "aiori", "mdtest", "md-workbench"])
def test_each_header_alone_gives_what_files_of_io500_take_from_it(header, tmp_path):
    (tmp_path / "use.c").write_text("#include <%s.h>\n%s" % (header, USES))
    done(*shlex.split(os.environ["WEIR_CC"]), *FLAGS.split(), "-I%s" % (conftest.SOURCE / "contrib" / "io500" / "include"),
         *shlex.split(os.environ.get("WEIR_MPI_CFLAGS", "")), "-c", tmp_path / "use.c", "-o", tmp_path / "use.o")


def test_what_is_missing_is_named(installed, tree, tmp_path):
    lost = tmp_path / "lost"
    shutil.copytree(installed / "share" / "weir" / "io500", lost / "share" / "weir" / "io500")
    nothing = dict(PKG_CONFIG_PATH="", PKG_CONFIG_LIBDIR=str(tmp_path))
    for prefix, words, env, reason in (
            (lost, [tree], nothing, "finds no weir"), (installed, ["--weir=" + str(lost), tree], {}, "no weir is installed in"),
            (installed, [tmp_path], {}, "there is no Makefile"), (installed, [tmp_path / "no"], {}, "is no directory"),
            (installed, [], {}, "one directory"), (installed, ["--sheep", tree], {}, "--sheep"),
            (installed, [tree], {"CC": "no-such-compiler"}, "no compiler 'no-such-compiler'")):
        run = use_weir(prefix, *words, **env)
        assert run.returncode == 1 and reason in run.stderr and run.stderr.startswith("use-weir: "), (reason, run)
        assert names(tree) == ["Makefile", "src/phase_ior.c"]


def rates_in(phase, text):
    """What the text of a phase says: MiB/s or operations a second, of md-workbench for each of its phases."""
    if phase.startswith("ior"):
        return [float(re.search(r"^(?:write|read) +(\S+) ", text, re.M).group(1))]
    if phase.startswith("mdtest"):
        title = {"write": "creation", "stat": "stat", "read": "read", "delete": "removal"}[phase.rsplit("-", 1)[1]]
        return [float(re.search(r"   File %s +(\S+) " % title, text).group(1))]
    return [float(rate) for rate in re.findall(r"^[a-z]+ process .* rate:(\S+) iops/s", text, re.M)]


def agrees(phase, numbers, text):
    """Has the library returned what the text says, as far as its digits go?"""
    said = rates_in(phase, text)
    got = numbers[:1]
    if phase.startswith("mdworkbench"):
        said += [float(n) for n in re.findall(r"^[a-z]+ process .* op-max:(\S+)s", text, re.M)]
        got = numbers[::2] + numbers[1::2]
    return len(said) == len(got) and all(abs(a - b) <= 0.01 * b for a, b in zip(said, got))


def test_a_caller_like_io500_gets_the_same_right_numbers_on_all_ranks(installed, tree, tmp_path):
    run = use_weir(installed, tree)
    assert run.returncode == 0, run
    src = tree / "build" / "ior" / "src"
    caller = conftest.SOURCE / "testing" / "system" / "io500-caller.c"
    done(*shlex.split(os.environ["WEIR_CC"]), "-Wall", "-Wextra", "-Werror", caller, "-I%s" % src, *setting(tree, "CFLAGS"),
         *shlex.split(os.environ.get("WEIR_MPI_CFLAGS", "")), src / "libaiori.a",
         *setting(tree, "LDFLAGS"), *shlex.split(os.environ.get("WEIR_MPI_LIBS", "")), "-o", tmp_path / "caller")
    mount = ["unshare", "-m", "mount", "-t", "tmpfs", "weir", str(tmp_path)]
    may_mount = os.geteuid() == 0 and subprocess.run(mount, capture_output=True).returncode == 0
    prefix = ["unshare", "-m", "sh", "-c", "set -e; " + FULL, "sh"] if may_mount else []
    apis = ["POSIX", "DUMMY", "MPIIO --mpiio.showHints"] + ["HDF5"] * ("HDF5" in conftest.backends())
    # Tasks of other MPI libraries take a processor while they wait: each phase would take seconds.
    number, tasks = ("-np", 4) if conftest.OPEN_MPI else ("-n", 2)
    words = [number, str(tasks), tmp_path / "caller", "full" if may_mount else "-", *apis]
    run = subprocess.run([*prefix, *conftest.LAUNCHER, *words],
                         cwd=tmp_path, env=conftest.program_env(), capture_output=True, text=True, timeout=300 * conftest.PATIENCE)
    assert run.returncode == 0 and run.stdout.endswith("done\n") and "wrong" not in run.stdout, (run.stdout, run.stderr)
    told = [line.split() for line in run.stdout.splitlines()[:-1]]
    assert len(told) == 15 * 4 + 4 * ("HDF5" in apis) and [t[0] for t in told].count("POSIX-%d" % (tasks - 1)) == 15, run.stdout
    for api, phase, *numbers in told:
        if phase != "errors":
            text = (tmp_path / "results" / ("%s-%s.txt" % (api, phase))).read_text()
            assert agrees(phase, [float(n) for n in numbers], text), (api, phase, numbers, text)
    for phase in ("ior-easy-write", "mdtest-easy-write", "mdworkbench-create"):
        assert "weir: " in (tmp_path / "results" / ("POSIX-%d-%s-failed.txt" % (tasks, phase))).read_text()
    assert "No space left on device" in run.stderr or not may_mount
