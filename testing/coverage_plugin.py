# SPDX-License-Identifier: BSD-3-Clause
"""For pytest -p coverage_plugin: the programs that a test starts write their counters into a folder of that test. testing/coverage
loads it, and says in WEIR_COVERAGE the folder of what is kept of each test."""
import json
import os
import pathlib
import pickle
import time

import pytest

import counters

OUT = pathlib.Path(os.environ["WEIR_COVERAGE"])
TOP, BUILD = pathlib.Path(__file__).resolve().parent.parent, OUT.parent  # also where both have a second name, on several hosts
SUMS = counters.Sums(BUILD)


def line_of(item, seconds, entered):
    """Of the map. A test is named from the top of the sources: testing/system/test_sweep.py::test_it[1]"""
    kind = item.path.parent.name
    name = "testing/%s/%s::%s" % (kind, item.path.name, item.nodeid.partition("::")[2])
    return json.dumps({"kind": kind, "test": name, "seconds": round(seconds, 2), "files": counters.of_src(entered, TOP, BUILD)}) + "\n"


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_protocol(item):
    folder = OUT / ("run-%d" % os.getpid())
    os.environ["GCOV_PREFIX"] = str(folder)
    begin = time.monotonic()
    yield
    seconds = time.monotonic() - begin
    os.environ.pop("GCOV_PREFIX", None)
    entered = SUMS.take(folder)
    with open(OUT / ("lines-%d" % os.getpid()), "a") as f:
        f.write(line_of(item, seconds, entered))


def pytest_sessionfinish():
    with open(OUT / ("sums-%d" % os.getpid()), "wb") as f:
        pickle.dump(SUMS.total, f)
