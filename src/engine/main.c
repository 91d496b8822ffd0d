/* SPDX-License-Identifier: BSD-3-Clause */
/* main.c - the life of a program of the suite */
#include "config.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/launcher.h"
#include "engine/program.h"
#include "engine/trust.h"
#include "par/mpifile.h"

#define PAUSE_NS 20000000u /* for a launcher to pass on what was written */

/* Where the caller closed descriptors 0 to 2, files of libraries would get these numbers, and
 * messages would be written into them. So open /dev/null under these numbers, in a direction in
 * which any use of them fails. */
static void hold_standard_files(void)
{
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 &&
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
            return;
}

/* A wrong command line: one process says so. A launcher ends the others as soon as one has failed,
 * so all wait for each other in MPI_Finalize until the line is out. */
static int refuse_to_start(struct weir_run *run, const struct weir_err *err,
                           const struct weir_launch *launch, int argc, char **argv)
{
    if (launch->is_launched)
        MPI_Init(&argc, &argv);
    if (run->log.rank == 0)
        weir_report_error(&run->log, err);
    weir_interrupt_end(&run->interrupt);
    if (launch->is_launched)
        MPI_Finalize();
    weir_program_end(run);
    return err->code;
}

/* MPI does not know of the tasks that the launcher has started: each would be a run of its own.
 * They cannot wait for each other, so those that are not the first leave it time to say so. */
static int refuse_to_be_alone(struct weir_run *run, const struct weir_launch *launch,
                              const struct weir_err *err)
{
    if (launch->rank == 0)
        weir_report_error(&run->log, err);
    else
        sleep(1);
    weir_interrupt_end(&run->interrupt);
    MPI_Finalize();
    weir_program_end(run);
    return err->code;
}

/* Before the first byte. */
static int check_launch(const struct weir_launch *launch, struct weir_err *err)
{
    struct weir_str mpi = { 0 };
    int size = 1, rc;

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    weir_mpi_library(&mpi);
    rc = weir_launch_check(launch, size, weir_str_text(&mpi), err);
    weir_str_free(&mpi);
    return rc;
}

/* --help and its like: no MPI, and no launcher needed. */
static bool answer(struct weir_command *c, bool is_first, int *status)
{
    if (!c->common.help && !c->common.version && !c->common.dump)
        return false;
    *status = 0;
    return !is_first || weir_command_answer(c, status);
}

/* A shell asks what could be typed. */
static int complete(struct weir_run *run, struct weir_command *c, const struct weir_driver *d,
                    char **argv)
{
    struct weir_err err = WEIR_ERR_INIT;

    if (weir_command_init(c, d, &run->arena, &err) == 0)
        weir_command_complete(c, argv[2], argv[3]);
    weir_interrupt_end(&run->interrupt);
    weir_program_end(run);
    return err.code;
}

/* All results are out. Ranks that end in order would wait for one that cannot. */
static bool any_broken(const struct weir_run *run)
{
    return weir_mpi_agree(MPI_COMM_WORLD, run->broken ? -1 : 0) < 0;
}

/* The end of all ranks, and after all text the lines of the findings. A launcher passes on standard
 * output and standard error as it finds them: while the ranks wait for each other in MPI_Finalize it
 * passes on the text. It ends a job as soon as one rank has ended with an error; then a pause must
 * do. */
static void end_together(struct weir_run *run, int status, bool alone)
{
    bool broken = !alone && any_broken(run);

    if (broken || status != WEIR_OK) {
        if (run->trust.lines.len > 0)
            weir_sleep_ns(PAUSE_NS);
        weir_trust_lines(run);
    }
    if (broken)
        weir_mpi_abort(status);
    if (!alone)
        MPI_Finalize();
    weir_trust_lines(run);
}

int weir_main(const struct weir_driver *d, int argc, char **argv)
{
    struct weir_run run = { .repetition = 0 };
    struct weir_err err = WEIR_ERR_INIT;
    struct weir_launch launch;
    struct weir_command command;
    bool alone;
    int status;

    hold_standard_files();
    weir_interrupt_begin(&run.interrupt);
    /* Open MPI 4's lockedfile component overruns a buffer with names of more than some 240
     * characters when a file is opened, and is needed for shared file pointers only, which weir
     * does not use. A setting of the user is kept; other libraries ignore it. */
    setenv("OMPI_MCA_sharedfp", "^lockedfile", 0);
    weir_launch_read(&launch);
    weir_program_begin(&run, launch.rank == 0 ? 0 : 1);
    /* Options are read before MPI_Init: help needs no launcher, and a typing error is answered at
     * once. */
    if (argc >= 4 && strcmp(argv[1], "--complete") == 0)
        return complete(&run, &command, d, argv);
    if (weir_program_options(&run, &command, d, argc, argv, &err) < 0)
        return refuse_to_start(&run, &err, &launch, argc, argv);
    if (answer(&command, run.log.rank == 0, &status)) {
        weir_interrupt_end(&run.interrupt);
        weir_program_end(&run);
        return status;
    }
    run.launched = launch.rank;
    command.looks_here = true;
    alone = d->without_mpi && d->without_mpi(command.opts.set[0].values);
    if (!alone) {
        MPI_Init(&argc, &argv);
        if (check_launch(&launch, &err) < 0)
            return refuse_to_be_alone(&run, &launch, &err);
    }
    status =
        weir_program_run(&run, &command, alone ? MPI_COMM_NULL : MPI_COMM_WORLD, argc, argv, &err);
    weir_program_end(&run);
    weir_interrupt_end(&run.interrupt); /* a signal ends MPI_Finalize, too */
    end_together(&run, status, alone);
    return status;
}
