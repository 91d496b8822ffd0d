/* SPDX-License-Identifier: BSD-3-Clause */
/* main.c - the life of a program of the suite */
#include "config.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/program.h"

/* The rank that a launcher gave this process, before MPI is there to ask; NULL without a
 * launcher. */
static const char *launched_rank(void)
{
    static const char *const names[] = { "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                         "SLURM_PROCID", "MV2_COMM_WORLD_RANK" };
    const char *value;

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if ((value = getenv(names[i])))
            return value;
    return NULL;
}

static bool is_first_process(void)
{
    const char *rank = launched_rank();

    return !rank || strcmp(rank, "0") == 0;
}

/* Descriptors 0 to 2 that the caller closed would be given to files of libraries, and our words
 * written into these: take the numbers, in a direction in which any use of them fails. */
static void hold_standard_files(void)
{
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 &&
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
            return;
}

/* A wrong command line: one process says so. A launcher ends the others as soon as one has failed,
 * so all wait for each other in MPI_Finalize until the line is out. */
static int refuse_to_start(struct weir_run *run, const struct weir_err *err, int argc, char **argv)
{
    bool launched = launched_rank() != NULL;

    if (launched)
        MPI_Init(&argc, &argv);
    if (run->log.rank == 0)
        weir_report_error(&run->log, err);
    weir_interrupt_end(&run->interrupt);
    if (launched)
        MPI_Finalize();
    weir_program_end(run);
    return err->code;
}

/* --help and its like: no MPI, and no launcher needed. */
static bool answer(struct weir_command *c, bool is_first, int *status)
{
    if (!c->common.help && !c->common.version && !c->common.dump)
        return false;
    *status = 0;
    return !is_first || weir_command_answer(c, status);
}

int weir_main(const struct weir_driver *d, int argc, char **argv)
{
    struct weir_run run = { .repetition = 0 };
    struct weir_err err = WEIR_ERR_INIT;
    struct weir_command command;
    bool alone;
    int status;

    hold_standard_files();
    weir_interrupt_begin(&run.interrupt);
    /* Open MPI 4's lockedfile component overruns a buffer with names of more than some 240
     * characters when a file is opened, and is of use for shared file pointers only, which we do
     * not use. A setting of the user's stays; other libraries ignore it. */
    setenv("OMPI_MCA_sharedfp", "^lockedfile", 0);
    weir_program_begin(&run, is_first_process() ? 0 : 1);
    /* Options are read before MPI_Init: help needs no launcher, and a typing error is answered at
     * once. */
    if (weir_program_options(&run, &command, d, argc, argv, &err) < 0)
        return refuse_to_start(&run, &err, argc, argv);
    if (answer(&command, run.log.rank == 0, &status)) {
        weir_interrupt_end(&run.interrupt);
        weir_program_end(&run);
        return status;
    }
    run.launched = launched_rank() ? (int)strtol(launched_rank(), NULL, 10) : 0;
    alone = d->without_mpi && d->without_mpi(command.opts.set[0].values);
    if (!alone)
        MPI_Init(&argc, &argv);
    status =
        weir_program_run(&run, &command, alone ? MPI_COMM_NULL : MPI_COMM_WORLD, argc, argv, &err);
    weir_program_end(&run);
    weir_interrupt_end(&run.interrupt); /* a signal ends MPI_Finalize, too */
    if (!alone)
        MPI_Finalize();
    return status;
}
