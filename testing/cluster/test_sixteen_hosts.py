# SPDX-License-Identifier: BSD-3-Clause
"""Sixteen hosts: more than a machine has processors, so tests wait and sleep here rather than work."""
import pytest

from bed import NAMES
from cluster_support import SOURCE, finding, sound

ONE_EACH = dict.fromkeys(NAMES, 1)


@pytest.fixture(scope="module")
def slow_disk(hosts_up):
    return hosts_up.library(SOURCE / "testing/cluster/slow-disk.c")


# ---- which one is slow ----

@pytest.mark.parametrize("slow", [None, "node11"])
def test_the_host_with_a_slow_disk_is_named(sixteen, slow_disk, slow):
    """And none where all are alike."""
    ior, env = "ior -w -F -b 32k -t 8k -o f --report=text:-,json:r.json", {"LD_PRELOAD": slow_disk, "DISK_US": "20000"}
    if slow:
        with sixteen.slow_disk(slow, 200000):
            run = sixteen.mpi(ONE_EACH, ior, env=env).ok()
    else:
        run = sixteen.mpi(ONE_EACH, ior, env=env).ok()
    sound(run, 16 * 32768)
    doc = sixteen.json()
    late = [(row["host"], row["rank"]) for row in doc["tests"][0].get("stragglers", [])]
    assert late == ([(slow, 10)] if slow else []), (late, run)
    assert ("without rank 10 (host node11)" in (finding(doc, "H19")["text"] or "")) == bool(slow), finding(doc, "H19")
    assert doc["provenance"]["nodes"] == doc["provenance"]["kernels"] == 16 and run.warnings == [], run
