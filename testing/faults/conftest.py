# SPDX-License-Identifier: BSD-3-Clause
"""What the fault tests share: all that the system tests share, the preloaded shim, and the table of cases at the end."""
import importlib.util
import pathlib
import shutil
import subprocess

import pytest

FAULTS = pathlib.Path(__file__).resolve().parent


def load_system():
    path = FAULTS.parent / "system" / "conftest.py"
    spec = importlib.util.spec_from_file_location("system_conftest", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# "import conftest" means this file in both directories when both are tested in one go: whatever is there is here, too.
system = load_system()
globals().update({name: value for name, value in vars(system).items() if not name.startswith("__")})

CASES = {}  # test: [name, outcome, status, seconds, what else], for the table


def pytest_configure(config):
    system.pytest_configure(config)
    for marker in ("sanitize: quick and broad, also run with the build that has the sanitizers", "slow: takes more than ten seconds",
                   "waits: takes some seconds, mostly by waiting",
                   "batched(plan): its run is made together with others (batches.py)"):
        config.addinivalue_line("markers", marker)


@pytest.fixture(scope="session")
def shim(tmp_path_factory):
    """The path of shim.c as a library for LD_PRELOAD."""
    if system.SANITIZED:
        pytest.skip("a preloaded library and a sanitizer do not go together")
    compiler = next((c for c in ("gcc", "cc", "clang") if shutil.which(c)), None)
    if not compiler:
        pytest.skip("no compiler to make the preloaded library")
    out = tmp_path_factory.mktemp("shim") / "shim.so"
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-Wall", "-Werror", "-o", str(out), str(FAULTS / "shim.c"), "-ldl"],
                   check=True)
    return str(out)


# ---- running a case ----

@pytest.fixture
def told(record_property):
    """told(name) at the beginning of a case, told(name, run, left) at its end."""
    def tell(name, run=None, left=()):
        record_property("case", name)
        if run is None:
            return
        lines = run.errors or [line for line in run.messages if "wrong data: " in line] or ["-"]
        record_property("status", run.returncode)
        record_property("seconds", run.elapsed)
        record_property("found", "%s | %s" % (lines[0][:150], " ".join(left) or "nothing"))
    return tell


@pytest.fixture
def mounted(ior):
    """mounted(options): a tmpfs, fs/ in the working directory."""
    path = ior.cwd / "fs"
    done = []

    def mount(options):
        system.tmpfs(path, options)
        done.append(path)
        return path
    yield mount
    for path in done:
        subprocess.run(["umount", "-l", str(path)], check=True)


# ---- the table ----

def pytest_runtest_logreport(report):
    """Tests that record the property "case" are rows of the table."""
    known = dict(report.user_properties)
    if "case" in known and (report.when == "call" or report.outcome != "passed"):
        CASES[report.nodeid] = (known["case"], report.outcome, known.get("status", "-"), known.get("seconds", 0.0), known.get("found", ""))


def pytest_terminal_summary(terminalreporter):
    if not CASES:
        return
    terminalreporter.section("faults: %d cases" % len(CASES))
    width = max(len(row[0]) for row in CASES.values())
    terminalreporter.write_line("%-*s  %-7s  %6s %7s  %s" % (width, "case", "test", "status", "seconds", "what it said, what it left"))
    for name, outcome, status, seconds, found in CASES.values():
        terminalreporter.write_line("%-*s  %-7s  %6s %7.1f  %s" % (width, name, outcome, status, seconds, found))
