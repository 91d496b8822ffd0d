# SPDX-License-Identifier: BSD-3-Clause
"""-y: a file system that is mounted twice, a mount for the tasks of each NUMA node."""
import pytest

import conftest


@pytest.fixture
def two_mounts(ior, preload):
    """Two directories in the place of mounts; odd ranks live on the second NUMA node."""
    for name in ("fs0", "fs1"):
        (ior.cwd / name).mkdir()
    shim = preload("numa-node.c")
    return lambda args, *env, np=4: ior(args, np=np, prefix=["env", "LD_PRELOAD=" + shim, *env])


def files_of(ior):
    return [name for name in ior.files() if "/" in name]


def test_each_task_uses_the_mount_of_its_node(ior, two_mounts):
    run = two_mounts("-y -F -w -k -b 16k -t 8k -o fs").ok()
    assert files_of(ior) == ["fs0/data.00000000", "fs0/data.00000002", "fs1/data.00000001", "fs1/data.00000003"]
    assert [len((ior.cwd / name).read_bytes()) for name in files_of(ior)] == [16384] * 4
    assert run.options["Path"] == "fs0/data.00000000" and run.warnings == []
    conftest.sound(run, 4 * 16384)


@pytest.mark.parametrize("more", ["", "-u", "-m -i 2", "-u -m -i 2", "-E", "-l signature"])
def test_what_was_written_is_read_checked_and_removed(ior, two_mounts, more):
    two_mounts("-y -F -w -W -R -b 16k -t 8k -o fs " + more).ok()
    assert files_of(ior) == [], ior.files()


def test_directories_of_tasks_lie_on_the_mounts(ior, two_mounts):
    two_mounts("-y -F -u -w -k -b 8k -t 8k -o fs").ok()
    assert [name for name in files_of(ior) if "data" in name] == [
        "fs0/0/data.00000000", "fs0/2/data.00000002", "fs1/1/data.00000001", "fs1/3/data.00000003"]


def test_a_task_that_is_moved_keeps_its_file(ior, two_mounts):
    two_mounts("-y -F -w -W -R -i 2 -b 16k -t 8k -o fs", "FLIP_NODE=1").ok()
    assert files_of(ior) == []


def test_another_run_reads_what_lies_on_both_mounts(ior, two_mounts):
    two_mounts("-y -F -w -k -G 5 -b 16k -t 8k -o fs").ok()
    two_mounts("-y -F -R -k -G 5 -b 16k -t 8k -o fs").ok()
    assert len(files_of(ior)) == 4


def test_the_data_of_another_task_are_read_from_its_mount(ior, two_mounts):
    """The reader goes to the mount of the writer, wherever it runs itself."""
    two_mounts("-y -F -C -w -R -G 5 -b 16k -t 8k -o fs").ok()
    two_mounts("-y -F -Z -Z -X 3 -w -R -G 5 -b 16k -t 8k -o fs").ok()
    assert files_of(ior) == []


def test_a_mount_that_is_not_there_is_named(ior, two_mounts):
    (ior.cwd / "fs1").rmdir()
    two_mounts("-y -F -w -b 16k -t 8k -o fs").fails(3, "fs1/data.00000001", "No such file")
    assert files_of(ior) == []


def test_a_shared_file_cannot_lie_on_two_mounts(ior):
    ior("-y -w -b 16k -t 8k -o fs").fails(1, "-y", "-F")
