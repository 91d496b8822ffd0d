/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.c - for LD_PRELOAD, made with the compiler of the MPI library: every rank writes into SCALE_OUT/<rank> which calls of
 * MPI our own code made, a row for each phase, kind and size of communicator:
 *
 *   call <phase> <kind> <ranks of the communicator> <is this rank the root> <calls> <bytes sent> <bytes received>
 *
 * with tabs between; the kind of a call with a tag is "Send:1". Bytes are those in the buffers of the caller, as the MPI standard has them; what a kind costs between ranks is for the reader
 * (growth.py). Rows "heap" are those of heap.c. The phase is the one that weir tells profilers by MPI_Pcontrol; "start" before
 * the first, "between" after one, and "end" after the last; a phase may have several equal rows.
 * SCALE_PER_NODE=n: ranks n*i to n*i+n-1 are a node, with a kernel and a name of its own. Time stands still for our code, so that what
 * it does is not a question of how busy this machine is; but between the begin of a phase and the next call of MPI each look at
 * the clock takes a microsecond: so phases take time, and equal work equal time. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "count.h"

#define ROWS 4096
#define CALLER __builtin_return_address(0)
#define NO_ROOT (-1)
#define NO_TAG (-1)
#define BEGIN_NS INT64_C(1000000000000000)
#define PHASE_NS INT64_C(200000)
#define LOOK_NS 1000

struct row {
    char phase[32];
    const char *kind; /* a literal */
    int ranks, tag;
    bool is_root;
    uint64_t calls, sent, received;
};

static struct row row[ROWS];
static int rows;
static char phase[32] = "start";
static int64_t now_ns = BEGIN_NS;
static bool moves;

/* Rows are few, and the same ones come again and again. */
static struct row *find(const char *kind, int tag, int ranks, bool is_root)
{
    for (int i = rows - 1; i >= 0; i--)
        if (row[i].kind == kind && row[i].tag == tag && row[i].ranks == ranks && row[i].is_root == is_root &&
            strcmp(row[i].phase, phase) == 0)
            return &row[i];
    if (rows == ROWS) {
        fprintf(stderr, "testing/scale/calls.c: more than %d rows\n", ROWS);
        abort();
    }
    row[rows] = (struct row) { .kind = kind, .tag = tag, .ranks = ranks, .is_root = is_root };
    memcpy(row[rows].phase, phase, sizeof(phase));
    return &row[rows++];
}

/* root: its rank; NO_ROOT: the call has none. */
static void note(const void *caller, const char *kind, int tag, MPI_Comm comm, int root, int64_t sent, int64_t received)
{
    int ranks = 0, rank = 0;
    struct row *r;

    if (!is_ours(caller))
        return;
    moves = false;
    if (comm != MPI_COMM_NULL) {
        PMPI_Comm_size(comm, &ranks);
        PMPI_Comm_rank(comm, &rank);
    }
    r = find(kind, tag, ranks, rank == root);
    r->calls++;
    r->sent += (uint64_t)sent;
    r->received += (uint64_t)received;
}

static int64_t size_of(int n, MPI_Datatype type)
{
    int size = 0;

    PMPI_Type_size(type, &size);
    return (int64_t)n * size;
}

static int ranks_of(MPI_Comm comm)
{
    int ranks = 0;

    PMPI_Comm_size(comm, &ranks);
    return ranks;
}

/* n on the root, 0 elsewhere */
static int64_t at_root(MPI_Comm comm, int root, int64_t n)
{
    int rank = 0;

    PMPI_Comm_rank(comm, &rank);
    return rank == root ? n : 0;
}

static int64_t elsewhere(MPI_Comm comm, int root, int64_t n)
{
    return n - at_root(comm, root, n);
}

/* The sum of counts that only the root needs to have, or all (NO_ROOT) */
static int64_t sum_of(const int *counts, MPI_Datatype type, MPI_Comm comm, int root)
{
    int64_t sum = 0;

    if (root != NO_ROOT && !at_root(comm, root, 1))
        return 0;
    for (int i = 0; i < ranks_of(comm); i++)
        sum += size_of(counts[i], type);
    return sum;
}

#define TAGGED(name, tag, params, args, comm, root, sent, received)                                \
    int MPI_##name params                                                                          \
    {                                                                                              \
        note(CALLER, #name, tag, comm, root, sent, received);                                      \
        return PMPI_##name args;                                                                   \
    }
#define COUNTED(name, params, args, comm, root, sent, received) TAGGED(name, NO_TAG, params, args, comm, root, sent, received)

#define T MPI_Datatype
#define COMM MPI_Comm c
#define REQUEST MPI_Request *r
#define SEND const void *in, int n, T t
#define RECV void *out, int m, T u

/* ---- from one rank to another ---- */

TAGGED(Send, tag, (SEND, int to, int tag, COMM), (in, n, t, to, tag, c), c, NO_ROOT, size_of(n, t), 0)
TAGGED(Isend, tag, (SEND, int to, int tag, COMM, REQUEST), (in, n, t, to, tag, c, r), c, NO_ROOT, size_of(n, t), 0)
TAGGED(Issend, tag, (SEND, int to, int tag, COMM, REQUEST), (in, n, t, to, tag, c, r), c, NO_ROOT, size_of(n, t), 0)
TAGGED(Irecv, tag, (RECV, int from, int tag, COMM, REQUEST), (out, m, u, from, tag, c, r), c, NO_ROOT, 0, size_of(m, u))
TAGGED(Sendrecv, tag, (SEND, int to, int tag, RECV, int from, int tag2, COMM, MPI_Status *s),
        (in, n, t, to, tag, out, m, u, from, tag2, c, s), c, NO_ROOT, size_of(n, t), size_of(m, u))

/* There may be room for more than comes. */
int MPI_Recv(RECV, int from, int tag, COMM, MPI_Status *s)
{
    MPI_Status own;
    int rc, bytes = 0;

    s = s == MPI_STATUS_IGNORE ? &own : s;
    rc = PMPI_Recv(out, m, u, from, tag, c, s);
    PMPI_Get_count(s, MPI_BYTE, &bytes);
    note(CALLER, "Recv", tag, c, NO_ROOT, 0, bytes);
    return rc;
}

/* ---- one rank to all, all to one ---- */

COUNTED(Bcast, (void *at, int n, T t, int root, COMM), (at, n, t, root, c), c, root, at_root(c, root, size_of(n, t)),
        elsewhere(c, root, size_of(n, t)))
COUNTED(Reduce, (const void *in, void *out, int n, T t, MPI_Op op, int root, COMM), (in, out, n, t, op, root, c), c, root,
        elsewhere(c, root, size_of(n, t)), at_root(c, root, size_of(n, t)))
COUNTED(Gather, (SEND, RECV, int root, COMM), (in, n, t, out, m, u, root, c), c, root, elsewhere(c, root, size_of(n, t)),
        at_root(c, root, ranks_of(c) * size_of(m, u)))
COUNTED(Gatherv, (SEND, void *out, const int *m, const int *at, T u, int root, COMM), (in, n, t, out, m, at, u, root, c), c, root,
        elsewhere(c, root, size_of(n, t)), sum_of(m, u, c, root))
COUNTED(Scatter, (SEND, RECV, int root, COMM), (in, n, t, out, m, u, root, c), c, root,
        at_root(c, root, ranks_of(c) * size_of(n, t)), elsewhere(c, root, size_of(m, u)))
COUNTED(Scatterv, (const void *in, const int *n, const int *at, T t, RECV, int root, COMM), (in, n, at, t, out, m, u, root, c), c,
        root, sum_of(n, t, c, root), elsewhere(c, root, size_of(m, u)))

/* ---- all to all ---- */

COUNTED(Barrier, (COMM), (c), c, NO_ROOT, 0, 0)
COUNTED(Ibarrier, (COMM, REQUEST), (c, r), c, NO_ROOT, 0, 0)
COUNTED(Allreduce, (const void *in, void *out, int n, T t, MPI_Op op, COMM), (in, out, n, t, op, c), c, NO_ROOT, size_of(n, t),
        size_of(n, t))
COUNTED(Scan, (const void *in, void *out, int n, T t, MPI_Op op, COMM), (in, out, n, t, op, c), c, NO_ROOT, size_of(n, t),
        size_of(n, t))
COUNTED(Exscan, (const void *in, void *out, int n, T t, MPI_Op op, COMM), (in, out, n, t, op, c), c, NO_ROOT, size_of(n, t),
        size_of(n, t))
COUNTED(Reduce_scatter_block, (const void *in, void *out, int m, T t, MPI_Op op, COMM), (in, out, m, t, op, c), c, NO_ROOT,
        ranks_of(c) * size_of(m, t), size_of(m, t))
COUNTED(Allgather, (SEND, RECV, COMM), (in, n, t, out, m, u, c), c, NO_ROOT, size_of(m, u), ranks_of(c) * size_of(m, u))
COUNTED(Allgatherv, (SEND, void *out, const int *m, const int *at, T u, COMM), (in, n, t, out, m, at, u, c), c, NO_ROOT,
        size_of(n, t), sum_of(m, u, c, NO_ROOT))
COUNTED(Alltoall, (SEND, RECV, COMM), (in, n, t, out, m, u, c), c, NO_ROOT, ranks_of(c) * size_of(m, u),
        ranks_of(c) * size_of(m, u))
COUNTED(Alltoallv, (const void *in, const int *n, const int *from, T t, void *out, const int *m, const int *at, T u, COMM),
        (in, n, from, t, out, m, at, u, c), c, NO_ROOT, sum_of(n, t, c, NO_ROOT), sum_of(m, u, c, NO_ROOT))

/* Sums are the watch of a phase, which goes on as long as the phase does: see par/agree.c. */
int MPI_Iallreduce(const void *in, void *out, int n, T t, MPI_Op op, COMM, REQUEST)
{
    note(CALLER, op == MPI_SUM ? "Iallreduce.watch" : "Iallreduce", NO_TAG, c, NO_ROOT, size_of(n, t), size_of(n, t));
    return PMPI_Iallreduce(in, out, n, t, op, c, r);
}

/* ---- communicators ---- */

COUNTED(Comm_dup, (COMM, MPI_Comm *out), (c, out), c, NO_ROOT, 0, 0)
COUNTED(Comm_free, (MPI_Comm *c), (c), *c, NO_ROOT, 0, 0)
COUNTED(Comm_create, (COMM, MPI_Group g, MPI_Comm *out), (c, g, out), c, NO_ROOT, 0, 0)
COUNTED(Comm_split, (COMM, int color, int key, MPI_Comm *out), (c, color, key, out), c, NO_ROOT, 0, 0)
COUNTED(Intercomm_merge, (COMM, int high, MPI_Comm *out), (c, high, out), c, NO_ROOT, 0, 0)

static int per_node(void)
{
    const char *n = getenv("SCALE_PER_NODE");

    return n ? atoi(n) : 0;
}

static int rank_in_world(void)
{
    int rank = 0;

    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

int MPI_Comm_split_type(COMM, int type, int key, MPI_Info info, MPI_Comm *out)
{
    if (!is_ours(CALLER) || type != MPI_COMM_TYPE_SHARED || per_node() == 0)
        return PMPI_Comm_split_type(c, type, key, info, out);
    note(CALLER, "Comm_split_type", NO_TAG, c, NO_ROOT, 0, 0);
    return PMPI_Comm_split(c, rank_in_world() / per_node(), key, out);
}

int MPI_Get_processor_name(char *name, int *len)
{
    int rc = PMPI_Get_processor_name(name, len);

    if (per_node() > 0)
        *len = snprintf(name, MPI_MAX_PROCESSOR_NAME, "node%05d", rank_in_world() / per_node());
    return rc;
}

/* ---- MPI-IO: what it does inside is not ours ---- */

COUNTED(File_open, (COMM, const char *name, int mode, MPI_Info info, MPI_File *f), (c, name, mode, info, f), c, NO_ROOT, 0, 0)
COUNTED(File_close, (MPI_File *f), (f), MPI_COMM_NULL, NO_ROOT, 0, 0)
COUNTED(File_sync, (MPI_File f), (f), MPI_COMM_NULL, NO_ROOT, 0, 0)
COUNTED(File_set_size, (MPI_File f, MPI_Offset n), (f, n), MPI_COMM_NULL, NO_ROOT, 0, 0)
COUNTED(File_preallocate, (MPI_File f, MPI_Offset n), (f, n), MPI_COMM_NULL, NO_ROOT, 0, 0)
COUNTED(File_set_view, (MPI_File f, MPI_Offset at, T e, T t, const char *way, MPI_Info info), (f, at, e, t, way, info),
        MPI_COMM_NULL, NO_ROOT, 0, 0)
COUNTED(File_write_at_all, (MPI_File f, MPI_Offset at, SEND, MPI_Status *s), (f, at, in, n, t, s), MPI_COMM_NULL, NO_ROOT, 0, 0)
COUNTED(File_read_at_all, (MPI_File f, MPI_Offset at, RECV, MPI_Status *s), (f, at, out, m, u, s), MPI_COMM_NULL, NO_ROOT, 0, 0)

/* ---- phases, and the end ---- */

/* What came after a phase that was not the last. */
static void call_it_between(void)
{
    for (int i = 0; i < rows; i++)
        if (strcmp(row[i].phase, "end") == 0)
            snprintf(row[i].phase, sizeof(row[i].phase), "between");
}

int MPI_Pcontrol(const int level, ...)
{
    va_list more;

    if (!is_ours(CALLER))
        return MPI_SUCCESS;
    va_start(more, level);
    snprintf(phase, sizeof(phase), "%s", level > 0 ? va_arg(more, const char *) : "end");
    va_end(more);
    if (level > 0)
        call_it_between();
    moves = level > 0;
    now_ns += PHASE_NS - now_ns % PHASE_NS; /* the same on all ranks */
    heap_phase(phase);
    return MPI_SUCCESS;
}

int MPI_Finalize(void)
{
    const char *out = getenv("SCALE_OUT");
    char path[4096];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%d", out ? out : ".", rank_in_world());
    f = fopen(path, "w");
    if (!f) {
        fprintf(stderr, "testing/scale/calls.c: %s: %s\n", path, strerror(errno));
        abort();
    }
    for (int i = 0; i < rows; i++) {
        fprintf(f, "call\t%s\t%s", row[i].phase, row[i].kind);
        if (row[i].tag != NO_TAG)
            fprintf(f, ":%d", row[i].tag);
        fprintf(f, "\t%d\t%d\t%llu\t%llu\t%llu\n", row[i].ranks, row[i].is_root, (unsigned long long)row[i].calls,
                (unsigned long long)row[i].sent, (unsigned long long)row[i].received);
    }
    heap_write(f);
    fclose(f);
    return PMPI_Finalize();
}

/* ---- kernels and time ---- */

/* Each pretended node has a kernel of its own: see testing/system/two-nodes.c. */
FILE *fopen(const char *path, const char *mode)
{
    FILE *(*real)(const char *, const char *) = (FILE *(*)(const char *, const char *))dlsym(RTLD_NEXT, "fopen");
    FILE *f;

    if (per_node() == 0 || strcmp(path, "/proc/sys/kernel/random/boot_id") != 0)
        return real(path, mode);
    f = tmpfile();
    if (f) {
        fprintf(f, "%08d-7a1b-4c2d-9e3f-0123456789ab\n", rank_in_world() / per_node());
        rewind(f);
    }
    return f;
}

FILE *fopen64(const char *path, const char *mode)
{
    return fopen(path, mode);
}

int clock_gettime(clockid_t id, struct timespec *now)
{
    static int (*real)(clockid_t, struct timespec *);

    if (!real)
        real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    if ((id == CLOCK_MONOTONIC || id == CLOCK_MONOTONIC_RAW) && is_ours(CALLER)) {
        now_ns += moves ? LOOK_NS : 0;
        *now = (struct timespec) { .tv_sec = now_ns / 1000000000, .tv_nsec = now_ns % 1000000000 };
        return 0;
    }
    return real(id, now);
}
