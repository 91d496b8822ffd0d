/* SPDX-License-Identifier: BSD-3-Clause */
/* sharedstatus.c - memory that the ranks of a node share, a slot for each */
#include "par/sharedstatus.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"

#define TAG 2 /* the leader listens to any rank: see par/clock.c */
#define LINE 64

/* The message of the leader to a follower. */
struct segment {
    char path[64]; /* "": there is no segment */
    int32_t slot, count;
};

static void *map(int fd, size_t bytes)
{
    int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

/* Memory is bound now: a page that is missing later would end the process. */
static bool create(struct weir_shared_status *b, const struct weir_par *par, struct segment *t)
{
    int len = snprintf(t->path, sizeof(t->path), "/dev/shm/weir.%ld.%llx", (long)getpid(),
                       (unsigned long long)weir_now_ns());
    int fd = -1;

    b->count = t->count = par->followers + 1;
    if (len > 0 && (size_t)len < sizeof(t->path))
        fd = open(t->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
        t->path[0] = '\0';
        return false;
    }
    if (posix_fallocate(fd, 0, (off_t)(b->each * (size_t)b->count)) == 0)
        b->memory = map(fd, b->each * (size_t)b->count);
    close(fd);
    if (b->memory)
        return true;
    unlink(t->path);
    t->path[0] = '\0';
    return false;
}

static void join(struct weir_shared_status *b, const struct segment *t)
{
    int fd = t->path[0] ? open(t->path, O_RDWR | O_CLOEXEC) : -1;

    if (fd < 0)
        return;
    b->count = t->count;
    b->mine = t->slot;
    b->memory = map(fd, b->each * (size_t)b->count);
    close(fd);
}

/* Each follower asks, opens the segment, and confirms: then the name can go. */
static void lead(struct weir_shared_status *b, const struct weir_par *par)
{
    struct segment t = { .path = "" };
    bool created = create(b, par, &t);
    MPI_Status status;

    for (int i = 0; i < par->followers; i++) {
        weir_mpi_must(par, MPI_Recv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, TAG, par->comm, &status),
                      "MPI_Recv");
        t.slot = i + 1;
        weir_mpi_must(par,
                      MPI_Send(&t, (int)sizeof(t), MPI_BYTE, status.MPI_SOURCE, TAG + 1, par->comm),
                      "MPI_Send");
    }
    for (int i = 0; i < par->followers; i++)
        weir_mpi_must(par, MPI_Recv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, TAG + 2, par->comm, &status),
                      "MPI_Recv");
    if (created)
        unlink(t.path);
}

static void follow(struct weir_shared_status *b, const struct weir_par *par)
{
    struct segment t;

    weir_mpi_must(par, MPI_Send(NULL, 0, MPI_BYTE, par->leader, TAG, par->comm), "MPI_Send");
    weir_mpi_must(
        par,
        MPI_Recv(&t, (int)sizeof(t), MPI_BYTE, par->leader, TAG + 1, par->comm, MPI_STATUS_IGNORE),
        "MPI_Recv");
    join(b, &t);
    weir_mpi_must(par, MPI_Send(NULL, 0, MPI_BYTE, par->leader, TAG + 2, par->comm), "MPI_Send");
}

void weir_shared_status_begin(struct weir_shared_status *b, const struct weir_par *par, size_t each)
{
    *b = (struct weir_shared_status) { .each = (each + LINE - 1) / LINE * LINE };
    if (par->leader != par->rank)
        follow(b, par);
    else if (par->followers > 0)
        lead(b, par);
    if (!b->memory) { /* a slot for this rank alone */
        b->memory = map(-1, b->each);
        b->count = b->memory ? 1 : 0;
        b->mine = 0;
    }
}

void *weir_shared_status_slot(const struct weir_shared_status *b, int i)
{
    return b->memory + b->each * (size_t)i;
}

void weir_shared_status_end(struct weir_shared_status *b)
{
    if (b->memory)
        munmap(b->memory, b->each * (size_t)b->count);
    *b = (struct weir_shared_status) { 0 };
}
