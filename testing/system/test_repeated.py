# SPDX-License-Identifier: BSD-3-Clause
"""Which tests are run again: those that a duration, the launcher or a service fails, no others."""
import re
import subprocess
import sys

import pytest

import conftest

pytest.importorskip("pytest_rerunfailures", reason="needs python3-pytest-rerunfailures")

CONFTEST = """
import importlib.util
spec = importlib.util.spec_from_file_location("system_conftest", %r)
system = importlib.util.module_from_spec(spec)
spec.loader.exec_module(system)
pytest_configure = system.ask_again
pytest_runtest_makereport = system.pytest_runtest_makereport
pytest_terminal_summary = system.pytest_terminal_summary
"""
TESTS = """
import pathlib
import pytest
from conftest import system

def first(name):
    path = pathlib.Path(name)
    there = path.exists()
    path.touch()
    return not there

def test_late():
    system.timely(not first("late"), "a run")

def test_launcher():
    system.check_launcher(17, "[node:17] *** Process received signal ***\\n" if first("launcher") else "")

def test_init():
    system.check_launcher(None, "[node:18] [ 7] libmpi.so.40(ompi_mpi_init+0x2f4)[0x7f]\\n" if first("init") else "")

NULL = '''[node1:00358] Failing at address: (nil)
[node1:00358] [ 0] /lib/x86_64-linux-gnu/libc.so.6(+0x3c050)[0x7fd2a1db1050]
[node1:00358] *** End of error message ***
'''

def test_null_in_init():
    system.check_launcher(None, NULL + "A system call failed during shared memory initialization that should\\n" if first("null") else "")

def test_null_in_a_rank():
    system.check_launcher(None, NULL)
    assert not first("null of a rank")

def test_wrong():
    assert not first("wrong"), "Untimely: only words"

def test_crash_of_a_rank():
    system.check_launcher(17, "[node:18] *** Process received signal ***\\n")
    assert not first("rank")

class Service:
    said = []

    def service_faults(self):
        return self.said

@pytest.fixture
def service():
    return Service()

def test_service_that_failed(service):
    service.said = ["wrong"]
    assert not first("service"), "a run"

def test_service_that_did_not(service):
    assert not first("fine service")

def test_always_late():
    system.timely(False)
"""


def test_only_durations_and_crashes_of_the_launcher_are_asked_again(tmp_path):
    (tmp_path / "conftest.py").write_text(CONFTEST % str(conftest.HERE / "conftest.py"))
    (tmp_path / "test_them.py").write_text(TESTS)
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-rf", "-p", "no:cacheprovider", "test_them.py"], cwd=tmp_path, text=True,
                          capture_output=True, timeout=60, check=False)
    failed = set(re.findall(r"^FAILED test_them.py::(\w+)", done.stdout, re.M))
    repeated = re.findall(r"^REPEATED test_them.py::(\w+)", done.stdout, re.M)
    assert failed == {"test_wrong", "test_crash_of_a_rank", "test_null_in_a_rank",
                      "test_service_that_did_not", "test_always_late"}, done.stdout
    assert {name: repeated.count(name) for name in repeated} == {"test_late": 1, "test_launcher": 1, "test_init": 1, "test_null_in_init": 1,
                                                                 "test_service_that_failed": 1,
                                                                 "test_always_late": 3}, done.stdout
