# SPDX-License-Identifier: BSD-3-Clause
"""The cluster, set up once."""
import pytest

from cluster_support import Cluster


@pytest.fixture(scope="session")
def hosts_up():
    return Cluster()  # the namespaces of run.sh end with us, and everything in them


@pytest.fixture
def cluster(hosts_up):
    hosts_up.clean()
    return hosts_up
