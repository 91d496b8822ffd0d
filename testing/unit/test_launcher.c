/* SPDX-License-Identifier: BSD-3-Clause */
/* test_launcher.c - how many tasks a launcher has started, and whether MPI knows of them */
#include "base/node/launcher.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* "NAME=VALUE ..." and nothing else of a launcher. */
static struct weir_launch launch_of(const char *words)
{
    static const char *const all[] = { "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMIX_RANK",
                                       "PMI_RANK", "PMI_SIZE", "SLURM_PROCID", "SLURM_NTASKS",
                                       "SLURM_STEP_NUM_TASKS", "MV2_COMM_WORLD_RANK",
                                       "MV2_COMM_WORLD_SIZE" };
    struct weir_launch l;
    char *copy = strdup(words), *rest = copy, *word;

    assert_non_null(copy);
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        unsetenv(all[i]);
    while ((word = strsep(&rest, " "))) {
        char *value = strchr(word, '=');

        if (!value)
            continue;
        *value++ = '\0';
        setenv(word, value, 1);
    }
    free(copy);
    weir_launch_read(&l);
    return l;
}

static void assert_fine(const char *words, int tasks)
{
    struct weir_launch l = launch_of(words);

    assert_int_equal(weir_launch_check(&l, tasks, "an MPI", NULL), 0);
}

static void assert_refused(const char *words, int tasks, const char *name, const char *number)
{
    struct weir_launch l = launch_of(words);
    struct weir_err err = WEIR_ERR_INIT;

    assert_int_equal(weir_launch_check(&l, tasks, "an MPI", &err), -1);
    assert_int_equal(err.code, WEIR_ESETUP);
    assert_non_null(strstr(err.text, name));
    assert_non_null(strstr(err.text, number));
    assert_non_null(strstr(err.text, "an MPI"));
}

static void the_rank_is_that_of_the_launcher(void **state)
{
    struct weir_launch l = launch_of("");

    (void)state;
    assert_false(l.is_launched);
    assert_int_equal(l.rank, 0);
    l = launch_of("PMI_RANK=3 PMI_SIZE=4");
    assert_true(l.is_launched);
    assert_int_equal(l.rank, 3);
    l = launch_of("PMI_RANK=three");
    assert_false(l.is_launched);
}

static void a_run_that_is_whole_is_fine(void **state)
{
    (void)state;
    assert_fine("", 1);
    assert_fine("OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=4", 4);
    assert_fine("SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=8 SLURM_NTASKS=8", 8);
    assert_fine("PMIX_RANK=1", 1);
}

static void tasks_that_mpi_does_not_know_of_are_refused(void **state)
{
    (void)state;
    assert_refused("OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=4", 1, "OMPI_COMM_WORLD_SIZE", "4 tasks");
    assert_refused("PMI_RANK=2 PMI_SIZE=64", 1, "PMI_SIZE", "64 tasks");
    assert_refused("SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=8", 1, "SLURM_STEP_NUM_TASKS", "srun --mpi=list");
    assert_refused("OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=4", 2, "OMPI_COMM_WORLD_SIZE", "MPI has 2");
}

static void a_batch_script_without_srun_is_one_process(void **state)
{
    (void)state;
    assert_fine("SLURM_PROCID=0 SLURM_NTASKS=64", 1);
}

static void of_nested_launchers_one_that_agrees_is_enough(void **state)
{
    (void)state;
    /* mpirun starts its helpers with srun: one for each node */
    assert_fine("OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=4", 2);
    assert_fine("OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=1 SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=4", 1);
}

static void a_size_without_a_rank_says_nothing(void **state)
{
    (void)state;
    assert_fine("PMI_SIZE=4", 1);
    assert_fine("PMI_RANK=0 PMI_SIZE=0", 1);
    assert_fine("PMI_RANK=0 PMI_SIZE=x", 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rank_is_that_of_the_launcher),
        cmocka_unit_test(a_run_that_is_whole_is_fine),
        cmocka_unit_test(tasks_that_mpi_does_not_know_of_are_refused),
        cmocka_unit_test(a_batch_script_without_srun_is_one_process),
        cmocka_unit_test(of_nested_launchers_one_that_agrees_is_enough),
        cmocka_unit_test(a_size_without_a_rank_says_nothing),
    };

    return cmocka_run_group_tests_name("launcher", tests, NULL, NULL);
}
