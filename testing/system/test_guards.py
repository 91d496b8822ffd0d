# SPDX-License-Identifier: BSD-3-Clause
"""What is refused before the first byte: where the numbers would be about something else."""
import conftest


def test_tasks_that_mpi_does_not_know_of_are_refused_by_one_line(ior):
    """As under the launcher of another MPI: every task believes to be the only one."""
    env = {"PMI_SIZE": "2"}
    procs = [ior.start("-b 64k -t 64k -o f", np=None, env={**env, "PMI_RANK": "0"})]
    other = conftest.Ior(ior.cwd.parent / "other")
    other.cwd.mkdir()
    second = other.start("-b 64k -t 64k -o ../work/f", np=None, env={**env, "PMI_RANK": "1"})
    run = ior.finish(procs[0]).fails(2, "started 2 tasks (PMI_SIZE)", "MPI has 1", "unset PMI_SIZE")
    silent = other.finish(second).ok(2)
    assert silent.messages == [] and silent.stdout == "" and run.stdout == "" and ior.files() == []


def test_a_batch_script_may_run_a_single_process(ior):
    ior("-b 64k -t 64k -o f", np=None, env={"SLURM_PROCID": "0", "SLURM_NTASKS": "64", "SLURM_JOB_ID": "1"}).ok()


def test_mib_without_mpi_needs_no_launcher_that_agrees(ior):
    ior.program = conftest.BUILD / "src" / "mib"
    run = ior("-M -t . -F -s 4k -l 1 -L 1", np=None, env={"PMI_SIZE": "2", "PMI_RANK": "0"})
    assert run.returncode != 2 and "PMI_SIZE" not in run.stderr, run
