/* SPDX-License-Identifier: BSD-3-Clause */
/* hang-mpi.c - for LD_PRELOAD: MPI_Init or MPI_Finalize (HANG_IN) does not return, and says so in a
 * file of that name */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int PMPI_Init(int *argc, char ***argv);
int PMPI_Finalize(void);

static void hang_in(const char *name)
{
    const char *chosen = getenv("HANG_IN");

    if (!chosen || strcmp(chosen, name) != 0)
        return;
    close(open(name, O_CREAT | O_WRONLY, 0666));
    for (;;)
        sleep(1);
}

int MPI_Init(int *argc, char ***argv)
{
    int rc = PMPI_Init(argc, argv);

    hang_in("MPI_Init");
    return rc;
}

int MPI_Finalize(void)
{
    hang_in("MPI_Finalize");
    return PMPI_Finalize();
}
