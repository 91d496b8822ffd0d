# SPDX-License-Identifier: BSD-3-Clause
"""Who reads whose data: -C, -Q, -Z, -Z -Z, -X on nodes that are only pretended, and -N."""
import pytest

FOUR_BY_TWO = {"IOR_FAKE_NODES": "4", "IOR_FAKE_TASK_PER_NODES": "2"}
FOUR_BY_ONE = {"IOR_FAKE_NODES": "4", "IOR_FAKE_TASK_PER_NODES": "1"}


@pytest.fixture
def owners(ior, preload):
    """owners(args, np, env): for every read phase in turn, whose private file each rank opened."""
    def run(args, np, env, phases=1):
        log = ior.cwd.parent / "log"
        done = ior("-F -b 8k -t 8k -w " + args, np=np, env=env,
                   prefix=["env", "LD_PRELOAD=" + preload("log-files.c"), "FILE_LOG=%s" % log]).ok()
        opens = [line.split() for line in log.read_text().split("\n") if line.startswith("open")]
        mine = [[int(path.rsplit(".", 1)[1]) for _, rank, path in opens if int(rank) == r] for r in range(np)]
        assert all(len(files) == phases for files in mine), (mine, done)
        return [[files[i] for files in mine] for i in range(phases)]
    return run


# What the original does
VECTORS = [
    ("-r -C", [2, 3, 4, 5, 6, 7, 0, 1]),
    ("-r -C -Q 3", [6, 7, 0, 1, 2, 3, 4, 5]),
    ("-r -Z", [7, 0, 4, 5, 1, 0, 3, 4]),
    ("-r -Z -X 5", [3, 6, 7, 5, 7, 4, 5, 1]),
    ("-r -Z -Q 2 -X 5", [5, 6, 7, 0, 1, 4, 5, 6]),
    ("-r -Z -Z", [7, 5, 1, 3, 2, 6, 4, 0]),
    ("-r -Z -Z -X 13", [2, 7, 5, 4, 3, 6, 0, 1]),
]


@pytest.mark.parametrize("args, whose", VECTORS, ids=[v[0] for v in VECTORS])
def test_eight_tasks_on_four_nodes_read_the_files_of(owners, args, whose):
    assert owners(args, 8, FOUR_BY_TWO, phases=2) == [list(range(8)), whose]


def test_a_negative_seed_changes_with_the_repetition(owners):
    write = list(range(8))
    assert owners("-r -Z -X -5 -i 2", 8, FOUR_BY_TWO, phases=4) == [
        write, [3, 6, 7, 5, 7, 4, 5, 1], write, [5, 6, 4, 6, 3, 4, 0, 1]]


def test_the_check_of_a_write_goes_one_node_further_than_the_read(owners):
    assert owners("-W -r -C", 4, FOUR_BY_ONE, phases=3) == [[0, 1, 2, 3], [2, 3, 0, 1], [1, 2, 3, 0]]


def test_without_reordering_a_task_reads_its_own_data(owners):
    assert owners("-W -r", 4, FOUR_BY_TWO, phases=3) == [[0, 1, 2, 3]] * 3


def test_on_one_node_the_shift_still_leads_to_another_task(owners):
    assert owners("-r -C", 2, {}, phases=2) == [[0, 1], [1, 0]]


@pytest.mark.sanitize
@pytest.mark.parametrize("order", ["-C", "-C -Q 0", "-C -Q 3", "-Z", "-Z -X 77", "-Z -Z -X -3", "-C -F -z", "-Z -F -z", "-C -F", "-Z -Z -F"])
def test_what_another_task_wrote_is_verified_as_its_data(ior, order):
    run = ior("%s -w -W -R -i 2 -b 16k -t 4k -s 2 -l o -G 8" % order, np=4, env={"IOR_FAKE_NODES": "2", "IOR_FAKE_TASK_PER_NODES": "2"})
    assert run.ok().warnings == []
    assert ior.files() == []


def test_the_owner_in_the_data_is_the_writer_not_the_reader(ior):
    """With -C the reader looks for the writer's rank in the data: shuffled ranks of another run are found."""
    ior("-w -k -F -b 8k -t 8k -G 1 -l t", np=4).ok()
    files = [ior.cwd / ("testFile.%08d" % i) for i in range(4)]
    files[0].rename(ior.cwd / "x")
    files[1].rename(files[0])
    (ior.cwd / "x").rename(files[1])
    run = ior("-R -k -F -C -b 8k -t 8k -G 1 -l t", np=4).ok(4)
    assert "Incorrect data on read (2 errors found)." in run.warnings


@pytest.mark.parametrize("api", ["MPIIO", "MPIIO -c", "HDF5", "HDF5 -c", "MPIIO -c --mpiio.useFileView",
                                 "MPIIO --mpiio.useFileView --mpiio.useStridedDatatype"])
def test_reordering_works_on(ior, need_backend, api):
    need_backend(api.split()[0])
    for order in ("-C", "-Z"):
        run = ior("-a %s %s -w -W -R -b 16k -t 4k -s 3 -l o -G 8" % (api, order), np=4, env=FOUR_BY_ONE).ok()
        assert run.warnings == []


def test_fewer_tasks_than_there_are_take_part_on_request(ior):
    run = ior("-N 2 -w -k -F -b 16k -t 16k", np=3).ok()
    assert ior.files() == ["testFile.00000000", "testFile.00000001"]
    assert run.options["tasks"] == "2" and run.summary[0]["tasks"] == 2
    assert run.options["aggregate filesize"] == "32768 bytes"


def test_more_tasks_than_there_are_give_a_warning(ior):
    run = ior("-N 5 -w -b 16k -t 16k", np=2).ok()
    assert len(run.warnings) == 1 and "5" in run.warnings[0] and "2" in run.warnings[0]
    assert run.options["tasks"] == "2"


def test_tests_of_a_script_may_have_different_numbers_of_tasks(ior):
    (ior.cwd / "s").write_text("IOR START\napi=POSIX\nblockSize=16k\ntransferSize=16k\nnumTasks=1\nRUN\nnumTasks=-1\nRUN\nIOR STOP\n")
    run = ior("-f s", np=3).ok()
    assert [row["tasks"] for row in run.summary] == [1, 1, 3, 3]


def test_faked_nodes_are_shown(ior):
    run = ior("-a DUMMY -w", np=4, env=FOUR_BY_TWO).ok()
    assert run.options["nodes"] == "4" and run.options["clients per node"] == "2"


@pytest.mark.parametrize("name, value", [("IOR_FAKE_NODES", "0"), ("IOR_FAKE_NODES", "two"), ("IOR_FAKE_TASK_PER_NODES", "-1")])
def test_a_wrong_number_of_faked_nodes_is_refused(ior, name, value):
    ior("-a DUMMY -w", np=2, env={name: value}, timeout=20).fails(1, name)


def test_a_distance_that_cannot_be_is_refused(ior):
    """A negative -Q, and -Z where no task is on another node, are errors at once."""
    ior("-a DUMMY -C -Q -1", np=None, timeout=20).fails(1, "-1")
    env = {"IOR_FAKE_NODES": "2", "IOR_FAKE_TASK_PER_NODES": "2"}
    run = ior("-a DUMMY -Z -N 2 -F -w -r -b 8k -t 8k", np=2, env=env, timeout=20)
    assert run.returncode != 0 and len(run.errors) == 1 and "2 tasks" in run.errors[0], run
