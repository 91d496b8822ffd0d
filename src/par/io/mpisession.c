/* SPDX-License-Identifier: BSD-3-Clause */
/* mpisession.c - the part of a session that belongs to the MPI-IO library below its backend */
#include "par/io/mpisession.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "par/agree.h"

/* Descriptors that the library opens for one file: without them one rank leaves MPI_File_open of
 * OMPIO, and the others wait inside. */
#define DESCRIPTORS 4

static int has_descriptors(struct weir_err *err)
{
    int fd[DESCRIPTORS];
    int n = 0, rc = 0;

    while (n < DESCRIPTORS && (fd[n] = open("/", O_RDONLY | O_CLOEXEC)) >= 0)
        n++;
    if (n < DESCRIPTORS)
        rc = weir_fail(err, WEIR_ESETUP, "MPI-IO needs %d free file descriptors, and %d could be opened",
                       DESCRIPTORS, n);
    while (n > 0)
        close(fd[--n]);
    return rc;
}

/* True when a rank's files are limited in length. */
static bool has_limit(const struct weir_par *par)
{
    struct rlimit limit;
    int64_t any = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;

    weir_allmax_i64(par, &any, 1);
    return any != 0;
}

#define EXCHANGE_BYTES (1 << 20)

/* Both neighbours of a ring exchange more than fits into the message that announces it. */
static int errno_of_exchange(MPI_Comm comm, char *out, char *in)
{
    int rank, size;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    errno = 0;
    MPI_Sendrecv(out, EXCHANGE_BYTES, MPI_BYTE, (rank + 1) % size, 0, in, EXCHANGE_BYTES, MPI_BYTE,
                 (rank + size - 1) % size, 0, comm, MPI_STATUS_IGNORE);
    return errno;
}

/* The errno that messages between ranks leave here when all is well, 0: none. One library tries, where the system forbids it
 * (EPERM), to read the memory of another rank, before it takes the longer way. Collective over comm; moves a MiB. */
static int errno_of_messages(MPI_Comm comm)
{
    char *bytes = calloc(2, EXCHANGE_BYTES);
    MPI_Comm node = MPI_COMM_NULL;
    int sys = 0;

    if (weir_mpi_agree(comm, bytes ? 0 : -1) == 0) {
        MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
        sys = errno_of_exchange(comm, bytes, bytes + EXCHANGE_BYTES);
        if (node != MPI_COMM_NULL && sys == 0)
            sys = errno_of_exchange(node, bytes, bytes + EXCHANGE_BYTES);
        if (node != MPI_COMM_NULL)
            MPI_Comm_free(&node);
    }
    free(bytes);
    return sys;
}

int weir_mpi_session_begin(struct weir_mpi_session *m, const struct weir_par *par,
                           const struct weir_log *log, const char *hints_file, bool messages,
                           struct weir_err *err)
{
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN); /* what MPI_File_open obeys */
    if (weir_agree(par, has_descriptors(err), err) < 0)
        return -1;
    if (weir_mpihints_read(par, log, hints_file, &m->info, err) < 0)
        return -1;
    m->has_info = true;
    m->limited = has_limit(par);
    m->comm_errno = messages ? errno_of_messages(par->comm) : 0;
    return 0;
}

void weir_mpi_session_end(struct weir_mpi_session *m)
{
    if (m->has_info)
        MPI_Info_free(&m->info);
    m->has_info = false;
}
