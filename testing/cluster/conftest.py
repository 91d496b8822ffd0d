# SPDX-License-Identifier: BSD-3-Clause
"""The cluster, set up once."""
import pytest

from bed import NAMES
from cluster_support import SOURCE, Cluster, system

pytest_configure = system.ask_again
pytest_terminal_summary = system.pytest_terminal_summary
pytest_runtest_setup, pytest_runtest_teardown = system.pytest_runtest_setup, system.pytest_runtest_teardown


def pytest_collection_modifyitems(items):
    """What takes long by itself begins before all others and goes on beside them."""
    items.sort(key=lambda item: "with_a_limit" not in item.name)


@pytest.fixture(scope="session")
def hosts_up():
    return Cluster()  # the namespaces of run.sh end with us, and everything in them


@pytest.fixture
def cluster(hosts_up):
    hosts_up.clean()
    return hosts_up


@pytest.fixture
def sixteen(cluster):
    """The cluster with all its hosts"""
    cluster.grow(NAMES)
    return cluster


@pytest.fixture(scope="session")
def log_files(hosts_up):
    return hosts_up.library(SOURCE / "testing/system/log-files.c")
