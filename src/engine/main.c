/* SPDX-License-Identifier: BSD-3-Clause */
/* main.c - the life of a program of the suite */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/node/launcher.h"
#include "engine/command.h"
#include "par/agree.h"

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

/* A library does not ask for the result of an MPI call whose errors are those of MPI_COMM_WORLD. By
 * default the job would end with the number of the error as its status. */
static void end_job(MPI_Comm *comm, int *rc, ...)
{
    weir_mpi_must(NULL, *rc, "a call of MPI");
}

static void begin_mpi(int *argc, char ***argv)
{
    MPI_Errhandler handler;

    MPI_Init(argc, argv);
    if (MPI_Comm_create_errhandler(end_job, &handler) != MPI_SUCCESS)
        return;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    MPI_Errhandler_free(&handler);
}

/* Each rank reads its command line. Where all refuse it, the first prints why. Where memory is out
 * on some ranks, all have the error of the lowest of them, which prints it. When one rank does not
 * trust its time-stamp counter, all use the kernel's clock. Collective over MPI_COMM_WORLD. */
static int agree_to_start(struct weir_run *run, int rc, struct weir_err *err)
{
    char host[MPI_MAX_PROCESSOR_NAME + 1] = "";
    int rank = 0, size = 1, root, len;
    /* refuses: the lowest has the largest number; does not; has no counter */
    uint64_t any[3] = { 0, rc == 0, !weir_clock_source.trusted };

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    any[0] = rc < 0 ? (uint64_t)(size - rank) : 0;
    weir_mpi_max(MPI_COMM_WORLD, any, 3);
    if (any[2])
        weir_clock_leave();
    if (any[0] == 0)
        return 0;
    if (!any[1])
        return -1;
    root = size - (int)any[0];
    MPI_Get_processor_name(host, &len);
    if (rank == root)
        weir_err_within(err, "rank %d on %s", rank, host);
    MPI_Bcast(err, sizeof(*err), MPI_BYTE, root, MPI_COMM_WORLD);
    run->log.rank = rank == root ? 0 : 1;
    return -1;
}

/* One process says so. A launcher ends the others as soon as one has failed, so all wait for each
 * other in MPI_Finalize until the line is out. Ranks of which MPI does not know wait 'seconds'. */
static int refuse_to_start(struct weir_run *run, const struct weir_err *err, bool has_mpi,
                           unsigned seconds)
{
    if (run->log.rank == 0)
        weir_report_error(&run->log, err);
    else
        sleep(seconds);
    weir_interrupt_end(&run->interrupt);
    if (has_mpi)
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
static int complete(struct weir_run *run, struct weir_command *c, const struct weir_program *p,
                    char **argv)
{
    struct weir_err err = WEIR_ERR_INIT;

    if (weir_command_init(c, p, &run->arena, &err) == 0)
        weir_command_complete(c, argv[2], argv[3]);
    weir_interrupt_end(&run->interrupt);
    weir_program_end(run);
    return err.code;
}

/* The end of all ranks, and after all text the errors. A launcher passes on standard output and
 * standard error as it finds them, and ends a job as soon as one rank has ended with an error. */
static void end_together(struct weir_run *run, int status, bool alone)
{
    /* all results are out, and ranks that end in order would wait for one that cannot */
    bool broken = !alone && weir_mpi_agree(MPI_COMM_WORLD, run->broken ? -1 : 0) < 0;

    if (broken || status != WEIR_OK)
        weir_run_last_lines(run, PAUSE_NS);
    if (broken)
        weir_mpi_abort(status);
    if (!alone)
        MPI_Finalize();
    weir_run_last_lines(run, 0);
}

static int run_program(struct weir_run *run, const struct weir_program *p, int argc, char **argv)
{
    struct weir_err err = WEIR_ERR_INIT;
    struct weir_launch launch;
    struct weir_command command;
    bool alone;
    int rc, status;

    hold_standard_files();
    weir_interrupt_begin(&run->interrupt);
    /* Open MPI 4's lockedfile component overruns a buffer with names of more than some 240
     * characters when a file is opened. It is needed for shared file pointers only, which weir
     * does not use. A setting of the user is kept; other libraries ignore it. */
    setenv("OMPI_MCA_sharedfp", "^lockedfile", 0);
    weir_launch_read(&launch);
    weir_program_begin(run, launch.rank == 0 ? 0 : 1);
    /* Options are read before MPI_Init: help needs no launcher, typing errors are seen at once. */
    if (argc >= 4 && strcmp(argv[1], "--complete") == 0)
        return complete(run, &command, p, argv);
    rc = weir_program_options(run, &command, p, argc, argv, &err);
    if (rc < 0 && !launch.is_launched)
        return refuse_to_start(run, &err, false, 0);
    if (rc == 0 && answer(&command, run->log.rank == 0, &status)) {
        weir_interrupt_end(&run->interrupt);
        weir_program_end(run);
        return status;
    }
    if (rc == 0 && strcmp(command.common.clock, "auto") == 0)
        weir_clock_begin();
    run->launched = launch.rank;
    run->report.last.is_merged = launch.is_launched && launch.rank == 0 && weir_launch_merges();
    command.looks_here = true;
    alone = rc == 0 && command.cli->without_mpi &&
            command.cli->without_mpi(command.opts.set[0].values);
    if (!alone) {
        begin_mpi(&argc, &argv);
        if (agree_to_start(run, rc, &err) < 0)
            return refuse_to_start(run, &err, true, 0);
        if (check_launch(&launch, &err) < 0)
            return refuse_to_start(run, &err, true, 1); /* each would be a run of its own */
    }
    status =
        weir_program_run(run, &command, alone ? MPI_COMM_NULL : MPI_COMM_WORLD, argc, argv, &err);
    weir_program_end(run);
    if (status == WEIR_OK) /* a signal ends MPI_Finalize, too; after a failure the second does */
        weir_interrupt_end(&run->interrupt);
    end_together(run, status, alone);
    weir_interrupt_end(&run->interrupt);
    return status;
}

/* A run takes much memory for a stack that a user has limited. */
int weir_main(const struct weir_program *p, int argc, char **argv)
{
    struct weir_run *run = calloc(1, sizeof(*run));
    int status;

    if (!run) {
        perror("ERROR: memory for a run");
        return WEIR_ESETUP;
    }
    status = run_program(run, p, argc, argv);
    free(run);
    return status;
}
