/* SPDX-License-Identifier: BSD-3-Clause */
/* test_par.c - ranks, nodes, agreement, watch, rounds and clocks, on 1 to 8 ranks */
#include "par/agree.h"
#include "par/clock.h"
#include "par/comm.h"
#include "par/group.h"
#include "par/hosts.h"
#include "par/reduce.h"
#include "par/rollsum.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "backend/tap.h"
#include "base/clock.h"
#include "base/rng.h"

/* How the machine pretends to be built: the node of a rank. */
struct machine {
    const char *name;
    int (*node)(int rank, int size);
};

/* What the replacements of library functions below do: nodes that MPI reports, and kernels. Tests only. */
static const struct machine *machine, *kernels;
static int64_t clock_shift_ns;
static bool broken;
static int messages; /* that were sent */
static jmp_buf given_up;

int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *out)
{
    int rank, size;

    if (!machine)
        return PMPI_Comm_split_type(comm, type, key, info, out);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    return MPI_Comm_split(comm, 1000 - machine->node(rank, size), key,
                          out); /* colours need not ascend */
}

FILE *fopen(const char *path, const char *mode)
{
    FILE *(*next)(const char *, const char *), *f;
    int rank, size;

    *(void **)&next = dlsym(RTLD_NEXT, "fopen");
    if (!kernels || strcmp(path, "/proc/sys/kernel/random/boot_id") != 0)
        return next(path, mode);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!(f = tmpfile()))
        return NULL;
    fprintf(f, "%08d-0000-4000-8000-000000000000\n", kernels->node(rank, size));
    rewind(f);
    return f;
}

int clock_gettime(clockid_t id, struct timespec *t)
{
    long rc = syscall(SYS_clock_gettime, id, t);
    int64_t ns;

    if (rc == 0 && clock_shift_ns != 0) {
        ns = (int64_t)t->tv_sec * WEIR_NS_PER_S + t->tv_nsec + clock_shift_ns;
        t->tv_sec = ns / WEIR_NS_PER_S;
        t->tv_nsec = ns % WEIR_NS_PER_S;
    }
    return (int)rc;
}

int MPI_Exscan(const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    return broken ? MPI_ERR_OTHER : PMPI_Exscan(in, out, n, type, op, comm);
}

int MPI_Sendrecv(const void *in, int n, MPI_Datatype type, int to, int tag, void *out, int m, MPI_Datatype back, int from,
                 int its, MPI_Comm comm, MPI_Status *status)
{
    messages++;
    return broken ? MPI_ERR_OTHER : PMPI_Sendrecv(in, n, type, to, tag, out, m, back, from, its, comm, status);
}

int MPI_Issend(const void *in, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    messages++;
    return PMPI_Issend(in, n, type, to, tag, comm, request);
}

int MPI_Send(const void *in, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    messages++;
    return PMPI_Send(in, n, type, to, tag, comm);
}

int MPI_Ssend(const void *in, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    messages++;
    return PMPI_Ssend(in, n, type, to, tag, comm);
}

int MPI_Allgather(const void *in, int n, MPI_Datatype type, void *out, int m, MPI_Datatype to, MPI_Comm comm)
{
    messages += 1000000; /* it grows with the ranks */
    return PMPI_Allgather(in, n, type, out, m, to, comm);
}

int MPI_Abort(MPI_Comm comm, int status)
{
    if (broken)
        longjmp(given_up, 1);
    return PMPI_Abort(comm, status);
}

static int on_one(int rank, int size)
{
    return 0 * (rank + size);
}

static int in_pairs(int rank, int size)
{
    return rank / 2 + 0 * size;
}

static int three_and_rest(int rank, int size)
{
    return (rank >= 3) + 0 * size;
}

static int one_and_rest(int rank, int size)
{
    return (rank >= 1) + 0 * size;
}

static int round_two(int rank, int size)
{
    return rank % 2 + 0 * size;
}

static int round_three(int rank, int size)
{
    return rank % 3 + 0 * size;
}

static int snake(int rank, int size)
{
    return (rank % 4 == 1 || rank % 4 == 2) + 0 * size;
}

static int pairs_round_two(int rank, int size)
{
    return rank / 2 % 2 + 0 * size;
}

static int split_first(int rank, int size)
{
    return rank == size - 1 ? 0 : rank / 2;
}

static const struct machine machines[] = {
    { "one node", on_one },
    { "pairs", in_pairs },
    { "three and the rest", three_and_rest },
    { "one and the rest", one_and_rest },
    { "round robin over two", round_two },
    { "round robin over three", round_three },
    { "a snake", snake },
    { "pairs in turn on two", pairs_round_two },
    { "the last rank with the first", split_first },
};

/* Number of the node of a rank, counted by lowest rank: the slow way. */
static int number_of(const struct machine *m, int rank, int size)
{
    int r, q, n = 0;

    for (r = 0; m->node(r, size) != m->node(rank, size); r++) {
        for (q = 0; q < r && m->node(q, size) != m->node(r, size); q++)
            ;
        n += q == r; /* r is the first of its node */
    }
    return n;
}

static enum weir_placement placement_of(const struct machine *m, int size, int nodes)
{
    bool block = true, cyclic = true;
    int r;

    for (r = 0; r < size; r++) {
        if (r > 0 && number_of(m, r, size) < number_of(m, r - 1, size))
            block = false;
        if (number_of(m, r, size) != r % nodes)
            cyclic = false;
    }
    return block ? WEIR_PLACED_BLOCK : cyclic ? WEIR_PLACED_CYCLIC : WEIR_PLACED_OTHER;
}

static bool judge_nodes(const struct machine *m, const struct weir_par *par, const struct weir_nodes *is)
{
    int count[64] = { 0 }, nodes = 0, most = 0, r;

    for (r = 0; r < par->size; r++) {
        int n = number_of(m, r, par->size);

        count[n]++;
        nodes = n + 1 > nodes ? n + 1 : nodes;
        most = count[n] > most ? count[n] : most;
    }
    return is->nodes == nodes && is->node == number_of(m, par->rank, par->size) &&
           is->per_node == count[0] && is->per_node_max == most &&
           is->placement == placement_of(m, par->size, nodes);
}

static struct weir_nodes by_mpi(const struct weir_par *par)
{
    return (struct weir_nodes) { par->node, par->nodes, par->per_node, par->per_node_max, par->placement };
}

/* MPI's nodes are m, the kernels k. */
static bool judge_machine(const struct machine *m, const struct machine *k, const struct weir_par *par)
{
    const struct weir_nodes nodes = by_mpi(par);
    int64_t differs = number_of(m, par->rank, par->size) != number_of(k, par->rank, par->size);
    int first = 0;

    weir_allmax_i64(par, &differs, 1);
    while (k->node(first, par->size) != k->node(par->rank, par->size))
        first++;
    return judge_nodes(m, par, &nodes) && judge_nodes(k, par, &par->cache) && par->kernels == par->cache.nodes &&
           par->differs == differs && par->leader == first && (par->leader != par->rank || par->same_clock) &&
           weir_par_node_stride(par) == (par->cache.placement == WEIR_PLACED_CYCLIC ? 1 : par->cache.per_node_max);
}

static bool judge_same_node(const struct machine *m, const struct weir_par *par)
{
    int shift, r, expect;

    for (shift = -par->size - 1; shift <= 2 * par->size; shift++) {
        expect = 0;
        for (r = 0; r < par->size; r++)
            expect += m->node(r, par->size) ==
                      m->node((r + shift + 2 * par->size) % par->size, par->size);
        if (weir_par_same_node(par, shift) != expect)
            return false;
    }
    return true;
}

/* The circle of machine k: each rank finds who stands one and two steps further on. */
static bool judge_circle(const struct machine *k, const struct weir_par *par)
{
    int circle[64], found[2], n = 0, most = weir_circle_most(par), at = 0;

    for (int node = 0; node < par->size; node++)
        for (int r = 0; r < par->size; r++)
            if (number_of(k, r, par->size) == node)
                circle[n++] = r;
    while (circle[at] != par->rank)
        at++;
    weir_circle_ranks(par, most, 2, found);
    return most == par->cache.per_node_max && found[0] == circle[(at + most) % n] && found[1] == circle[(at + 2 * most) % n];
}

/* Hosts as they come: their number, and for each rank that of its host. */
struct host_list {
    const struct weir_par *par;
    int n, of[64];
    bool right;
};

/* The ranks of "0-4:2,7" have host n; false: that is no list in ascending order. */
static bool mark_ranks(struct host_list *l, const char *ranks, int64_t tasks)
{
    long last = -1;

    for (char *end; *ranks; ranks = end + (*end == ',')) {
        long from = strtol(ranks, &end, 10), to = *end == '-' ? strtol(end + 1, &end, 10) : from;
        long step = *end == ':' ? strtol(end + 1, &end, 10) : 1;

        if (end == ranks || from <= last || to < from || step < 1 || (to - from) % step != 0)
            return false;
        for (long r = from; r <= to && r < l->par->size; r += step, tasks--)
            l->of[r] = l->n;
        last = to;
    }
    return tasks == 0;
}

static void take_host(void *arg, const struct weir_host *host)
{
    struct host_list *l = arg;

    l->right = mark_ranks(l, host->ranks, host->tasks) && l->right && strcmp(host->name, l->par->host) == 0;
    l->n++;
}

/* Each kernel is a host with its ranks, in the order of the lowest ones. */
static bool judge_hosts(const struct machine *k, const struct weir_par *par)
{
    struct host_list l = { .par = par, .right = true };

    for (int r = 0; r < par->size; r++)
        l.of[r] = -1;
    if (weir_hosts(par, take_host, &l) < 0)
        return false;
    for (int r = 0; par->rank == 0 && r < par->size; r++)
        l.right = l.right && l.of[r] == (k ? number_of(k, r, par->size) : 0);
    return par->rank == 0 ? l.right && l.n == (k ? par->cache.nodes : 1) : l.n == 0;
}

#define MACHINES (sizeof(machines) / sizeof(machines[0]))

/* MPI reports each machine, on kernels that are each of them. */
static void test_nodes(struct tap *t)
{
    struct weir_err err = WEIR_ERR_INIT;
    struct weir_par par;

    for (size_t i = 0; i < MACHINES * MACHINES; i++) {
        machine = &machines[i / MACHINES];
        kernels = &machines[i % MACHINES];
        if (!tap_ok(t, weir_par_init(&par, MPI_COMM_WORLD, &err) == 0, &err, "starts on %s, kernels %s",
                    machine->name, kernels->name))
            continue;
        tap_ok(t, judge_machine(machine, kernels, &par), NULL, "numbers nodes of MPI, %s, and kernels, %s, by their lowest rank",
               machine->name, kernels->name);
        tap_ok(t, judge_same_node(kernels, &par), NULL,
               "counts the ranks that meet their own kernel, MPI %s, kernels %s", machine->name, kernels->name);
        tap_ok(t, judge_circle(kernels, &par), NULL, "the ranks of a kernel stand side by side, MPI %s, kernels %s",
               machine->name, kernels->name);
        tap_ok(t, judge_hosts(kernels, &par), NULL, "each host has its ranks, MPI %s, kernels %s", machine->name, kernels->name);
        weir_par_free(&par);
    }
    machine = kernels = NULL;
}

struct fake {
    const char *nodes, *per_node;
    bool good;
};

static void set_fakes(const struct tap *t, const struct fake *f)
{
    unsetenv("IOR_FAKE_NODES");
    unsetenv("IOR_FAKE_TASK_PER_NODES");
    if (t->rank > 0 || !f) /* the environment of rank 0 counts */
        return;
    if (f->nodes)
        setenv("IOR_FAKE_NODES", f->nodes, 1);
    if (f->per_node)
        setenv("IOR_FAKE_TASK_PER_NODES", f->per_node, 1);
}

static bool judge_fake(const struct fake *f, const struct weir_par *par,
                       const struct weir_par *real)
{
    int nodes = f->nodes ? (int)strtol(f->nodes, NULL, 10) : real->nodes;
    int per_node = f->per_node ? (int)strtol(f->per_node, NULL, 10) : real->per_node;
    int node = par->rank / per_node;

    return par->nodes == nodes && par->per_node == per_node && par->per_node_max == per_node &&
           par->placement == WEIR_PLACED_BLOCK && par->node == (node < nodes ? node : nodes - 1);
}

static void test_fakes(struct tap *t, const struct weir_par *real)
{
    static const struct fake fakes[] = {
        { "4", "2", true },
        { "3", NULL, true },
        { NULL, "2", true },
        { "100", "1", true },
        { "0", NULL, false },
        { "-1", NULL, false },
        { "", NULL, false },
        { "two", NULL, false },
        { "4", "0", false },
        { NULL, "1.5", false },
        { "99999999999999999999", NULL, false },
    };
    struct weir_err err = WEIR_ERR_INIT;
    struct weir_par par;
    size_t i;
    int rc;

    for (i = 0; i < sizeof(fakes) / sizeof(fakes[0]); i++) {
        const struct fake *f = &fakes[i];

        set_fakes(t, f);
        rc = weir_par_init(&par, MPI_COMM_WORLD, &err);
        if (f->good)
            tap_ok(t, rc == 0 && judge_fake(f, &par, real), &err,
                   "pretends %s nodes with %s tasks each", f->nodes ? f->nodes : "the real",
                   f->per_node ? f->per_node : "as many");
        else
            tap_ok(t,
                   rc < 0 && err.code == WEIR_EUSAGE && strstr(err.text, "IOR_FAKE_") &&
                       par.size == 0,
                   NULL, "refuses '%s' and '%s' as pretended nodes and tasks on every rank",
                   f->nodes ? f->nodes : "", f->per_node ? f->per_node : "");
        weir_par_free(&par);
    }
    set_fakes(t, NULL);
}

static void test_subset(struct tap *t, const struct weir_par *all)
{
    struct weir_err err = WEIR_ERR_INIT;
    struct weir_par par;
    bool good = true;
    int n, rc;

    for (n = 1; n <= all->size; n++) {
        rc = weir_par_subset(all, n, &par, &err);
        if (all->rank < n)
            good = good && rc == 0 && par.size == n && par.rank == all->rank;
        else
            good = good && rc == 0 && par.comm == MPI_COMM_NULL;
        if (par.comm != MPI_COMM_NULL)
            weir_barrier(&par);
        weir_par_free(&par);
    }
    tap_ok(t, good, &err, "the lowest ranks are a run of their own");
    rc = weir_par_subset(all, all->size + 1, &par, &err);
    tap_ok(t, rc < 0 && err.code == WEIR_EUSAGE, NULL, "more tasks than ranks are refused");
    rc = weir_par_subset(all, 0, &par, &err);
    tap_ok(t, rc < 0 && err.code == WEIR_EUSAGE, NULL, "a subset of nobody is refused");
    memset(&par, 0, sizeof(par));
    weir_par_free(&par);
    tap_ok(t, par.comm == MPI_COMM_NULL, NULL, "freeing a zeroed struct does no harm");
}

/* ---- texts of all ranks ---- */

/* Rank r has this text: mostly a line, of some ranks nothing, of one as many bytes as a piece has. */
static void make_text(int r, int big, struct weir_str *out)
{
    if (r == big)
        for (size_t i = 0; i < WEIR_PIECE; i++)
            weir_str_addc(out, (char)('a' + i % 25));
    else if (r % 3 != 2)
        weir_str_addf(out, "%d has %0*d\n", r, r % 5 + 1, r);
}

struct got {
    struct weir_str text;
    int pieces;
    bool whole; /* each piece ends where a text ends */
};

static void take_piece(void *arg, const char *bytes, size_t len)
{
    struct got *g = arg;

    g->pieces++;
    g->whole = g->whole && len > 0 && len <= WEIR_PIECE && (bytes[len - 1] == '\n' || len == WEIR_PIECE);
    weir_str_add(&g->text, bytes, len);
}

/* The texts come whole and in order; 'big': the rank with the large one, -1: none. */
static bool judge_pieces(const struct weir_par *par, int big, int most)
{
    struct weir_str mine = { 0 }, all = { 0 };
    struct got got = { .whole = true };
    bool right;

    make_text(par->rank, big, &mine);
    for (int r = 0; r < par->size; r++)
        make_text(r, big, &all);
    right = weir_pieces(par, &mine, take_piece, &got) == 0;
    if (par->rank == 0)
        right = right && got.whole && got.pieces <= most && got.text.len == all.len &&
                memcmp(got.text.text, all.text, all.len) == 0;
    else
        right = right && got.pieces == 0;
    weir_str_free(&mine);
    weir_str_free(&all);
    weir_str_free(&got.text);
    return right;
}

static void test_pieces(struct tap *t, const struct weir_par *par)
{
    struct weir_str mine = { 0 };
    struct got got = { .whole = true };
    int levels = 0;

    while (1 << levels < par->size)
        levels++;
    messages = 0;
    tap_ok(t, judge_pieces(par, -1, 1), NULL, "short texts of all ranks come in one piece, in order");
    tap_ok(t, messages <= levels + 1, NULL, "a rank has one message for each level of the tree");
    tap_ok(t, judge_pieces(par, par->size - 1, par->size) && judge_pieces(par, 0, par->size), NULL,
           "texts that are no piece together come in several");
    tap_ok(t, weir_pieces(par, &mine, take_piece, &got) == 0 && got.pieces == 0, NULL,
           "where nobody has a text, none comes");
    weir_str_addf(&mine, "lost");
    mine.failed = par->rank == par->size - 1;
    tap_ok(t, weir_pieces(par, &mine, take_piece, &got) == -1 && got.pieces == 0, NULL,
           "a text that one rank has no memory for fails on all, and none comes");
    weir_str_free(&mine);
}

static void test_alone(struct tap *t)
{
    struct weir_err err = WEIR_ERR_INIT;
    struct weir_clock clock;
    struct weir_par par;
    int64_t max = 3;
    uint64_t sum = 4, got = 0;

    weir_par_single(&par);
    weir_barrier(&par);
    weir_bcast(&par, &sum, sizeof(sum), 0);
    weir_allmax_i64(&par, &max, 1);
    weir_allsum_u64(&par, &sum, 1);
    weir_sum_u64(&par, &sum, 1);
    weir_gather(&par, &sum, sizeof(sum), &got);
    weir_clock_estimate(&par, &clock);
    tap_ok(t, max == 3 && sum == 4 && got == 4 && weir_fetch_u64(&par, 5, 0) == 5, NULL,
           "one process without MPI is all of its ranks");
    tap_ok(t, judge_pieces(&par, -1, 1) && weir_askers(&par, 0) == 1, NULL, "its text is brought to itself");
    tap_ok(t, weir_agree(&par, weir_refuse(&err, WEIR_EIO, "no"), &err) < 0 && err.code == WEIR_EIO,
           NULL, "it agrees with itself");
    tap_ok(t, judge_hosts(NULL, &par), NULL, "it is one host");
    weir_par_free(&par);
}

static void test_collectives(struct tap *t, const struct weir_par *par)
{
    uint64_t sum[2] = { (uint64_t)par->rank, 1 },
             total = (uint64_t)par->size * (uint64_t)(par->size - 1) / 2;
    int64_t most[2] = { par->rank, -par->rank };
    char word[16] = "";
    int all[64] = { 0 }, mine = 3 * par->rank, r;

    weir_allmax_i64(par, most, 2);
    tap_ok(t, most[0] == par->size - 1 && most[1] == 0, NULL, "every rank has the largest numbers");
    most[0] = par->rank == par->size - 1 ? INT64_MAX : par->rank;
    tap_ok(t, weir_allmax_rank(par, most) == par->size - 1 && most[0] == INT64_MAX, NULL,
           "the rank of the largest number is known");
    most[0] = INT64_MIN;
    tap_ok(t, weir_allmax_rank(par, most) == 0, NULL, "the lowest of several ranks");
    weir_allsum_u64(par, sum, 2);
    tap_ok(t, sum[0] == total && sum[1] == (uint64_t)par->size, NULL, "every rank has the sums");
    sum[0] = (uint64_t)par->rank;
    weir_sum_u64(par, sum, 1);
    tap_ok(t, sum[0] == (par->rank == 0 ? total : (uint64_t)par->rank), NULL,
           "rank 0 alone has the sum");
    if (par->rank == par->size - 1)
        memcpy(word, "last", 5);
    weir_bcast(par, word, sizeof(word), par->size - 1);
    tap_ok(t, strcmp(word, "last") == 0, NULL, "what one rank sends reaches all");
    weir_gather(par, &mine, sizeof(mine), all);
    for (r = 0; r < par->size && par->rank == 0 && all[r] == 3 * r; r++)
        ;
    tap_ok(t, par->rank > 0 || r == par->size, NULL, "rank 0 gathers in rank order");
}

/* Ranks in the set 'who' (bits) fail. */
static bool judge_agreement(const struct weir_par *par, unsigned who)
{
    struct weir_err err = WEIR_ERR_INIT;
    char expect[WEIR_HOST_TEXT + 200];
    bool fails = who >> par->rank & 1;
    int lowest = __builtin_ctz(who), others = __builtin_popcount(who) - 1;
    int rc = 0;

    errno = ENOSPC;
    if (fails)
        rc = weir_fail(&err, WEIR_EIO, "write 'f.%d'", par->rank);
    if (weir_agree(par, rc, &err) != -1 || err.code != WEIR_EIO || err.sys != ENOSPC)
        return false;
    snprintf(expect, sizeof(expect), ": write 'f.%d': No space left on device", lowest);
    if (!strstr(err.text, expect))
        return false;
    snprintf(expect, sizeof(expect), "rank %d on ", lowest);
    if (strncmp(err.text, expect, strlen(expect)) != 0)
        return false;
    snprintf(expect, sizeof(expect), " (and %d more rank%s failed)", others,
             others == 1 ? "" : "s");
    return (strstr(err.text, expect) != NULL) == (others > 0);
}

static void test_agreement(struct tap *t, const struct weir_par *par)
{
    struct weir_err err = WEIR_ERR_INIT, again;
    bool good = true;
    unsigned who;

    tap_ok(t, weir_agree(par, 0, &err) == 0 && err.code == WEIR_OK, &err,
           "nothing is wrong when no rank fails");
    for (who = 1; who < 1u << (par->size < 8 ? par->size : 8); who++)
        good = good && judge_agreement(par, who);
    tap_ok(t, good, NULL, "every rank gets the text of the lowest failing rank, whoever fails");

    memset(err.text, 'x', sizeof(err.text) - 1);
    err.text[sizeof(err.text) - 1] = '\0';
    err.code = WEIR_EIO;
    good = weir_agree(par, -1, &err) == -1 && strncmp(err.text, "rank 0 on ", 10) == 0;
    if (par->size > 1)
        good = good && strcmp(err.text + strlen(err.text) - 8, " failed)") == 0;
    tap_ok(t, good, NULL, "the number of failing ranks stands even after a text without end");

    tap_ok(t, weir_agree(par, par->rank == par->size - 1 ? -1 : 0, NULL) == -1, NULL,
           "a failure counts when nobody wants the text");
    err = (struct weir_err)WEIR_ERR_INIT;
    tap_ok(t, weir_agree(par, -1, &err) == -1 && err.code == WEIR_EBUG, NULL,
           "a failure without a reason is a bug");

    weir_refuse(&err, WEIR_EIO, "broken");
    weir_agree(par, par->rank == par->size - 1 ? -1 : 0, &err);
    memcpy(&again, &err, sizeof(err));
    tap_ok(t, weir_agree(par, -1, &again) == -1 && strcmp(again.text, err.text) == 0, &again,
           "what was agreed on stays as it is in the next agreement");
}

/* Every rank was interrupted but the last, which has failed. */
static void test_signal_and_failure(struct tap *t, const struct weir_par *par)
{
    enum weir_code own = par->rank == par->size - 1 ? WEIR_EIO : WEIR_EINTR;
    struct weir_err err = WEIR_ERR_INIT;
    char expect[32];

    snprintf(expect, sizeof(expect), "rank %d on ", par->size - 1);
    tap_ok(t,
           weir_agree(par, weir_refuse(&err, own, "code %d", own), &err) == -1 &&
               err.code == WEIR_EIO && strncmp(err.text, expect, strlen(expect)) == 0 &&
               !strstr(err.text, "more rank"),
           &err, "a failure holds, and is counted, before the signals of lower ranks");
}

static void test_agreed_check(struct tap *t, const struct weir_par *par)
{
    struct weir_err err = WEIR_ERR_INIT;
    int last = par->size - 1, rc = weir_refuse(&err, WEIR_EUSAGE, "no %d", par->rank);
    char own[16];

    snprintf(own, sizeof(own), "no %d", par->rank);
    tap_ok(t, weir_agree_check(par, rc, &err) == -1 && strcmp(err.text, own) == 0, &err,
           "where every rank refuses, each keeps its own text");
    err = (struct weir_err)WEIR_ERR_INIT;
    tap_ok(t, weir_agree_check(par, 0, &err) == 0 && err.code == WEIR_OK, &err,
           "a check that no rank fails is passed");
    if (par->size == 1)
        return;
    rc = par->rank == last ? weir_refuse(&err, WEIR_EUSAGE, "only here") : 0;
    tap_ok(t,
           weir_agree_check(par, rc, &err) == -1 && err.code == WEIR_EUSAGE &&
               strncmp(err.text, "rank ", 5) == 0 && strstr(err.text, ": only here"),
           &err, "a check that one rank fails is failed by all, with its text");
}

/* Tick until told to stop, for half a minute at most. */
static bool tick_until_stop(struct weir_watch *w)
{
    uint64_t end_ns = weir_now_ns() + 30ull * WEIR_NS_PER_S;

    while (!weir_watch_tick(w, false)) {
        if (weir_now_ns() > end_ns)
            return false;
        sched_yield();
    }
    return true;
}

static void test_watch(struct tap *t, const struct weir_par *par)
{
    struct weir_watch w;
    bool good = true, told;
    int round, i, ticks;

    weir_watch_begin(&w, par);
    tap_ok(t, !weir_watch_end(&w, false) && w.over && !w.pending, NULL,
           "a watch without a tick ends");

    for (round = 0; round < 50; round++) { /* everybody works for another time */
        weir_watch_begin(&w, par);
        ticks = (int)(weir_rng_at((uint64_t)round, (uint64_t)par->rank) % 200);
        for (i = 0; i < ticks; i++)
            good = !weir_watch_tick(&w, false) && good;
        good = !weir_watch_end(&w, false) && !w.pending && good;
    }
    tap_ok(t, good, NULL, "ranks that work for different times all end, and nobody stops");

    for (round = 0; round < par->size; round++) {
        weir_watch_begin(&w, par);
        told = weir_watch_tick(&w, round == par->rank) || tick_until_stop(&w);
        good = weir_watch_end(&w, false) && told && good;
    }
    tap_ok(t, good, NULL, "when one rank asks to stop, the others learn it while they work");

    weir_watch_begin(&w, par);
    told = par->rank == 0 || tick_until_stop(&w); /* rank 0 fails and goes straight to the end */
    good = weir_watch_end(&w, par->rank == 0) && told;
    tap_ok(t, good, NULL, "a rank that failed at once stops the others from its end");

    weir_watch_begin(&w, par);
    weir_watch_tick(&w, false);
    good = weir_watch_end(&w, par->rank == par->size - 1);
    tap_ok(t, good, NULL, "a stop at the very end is known to all");

    good = weir_watch_end(&w, false);
    tap_ok(t, good, NULL, "ending twice does not wait again");
}

static bool judge_period(uint64_t ns, uint32_t last, uint32_t expected)
{
    return weir_rounds_period(last, ns) == expected;
}

static void test_rounds(struct tap *t, const struct weir_par *par)
{
    bool votes = false, same = true, slow = par->rank == par->size - 1;
    struct weir_rounds r;
    int n = 0, said = 0;

    tap_ok(t,
           judge_period(1, 1, 2) && judge_period(1, 2, 4) && judge_period(1, 1024, 1024) &&
               judge_period(0, 1000, 1024) && judge_period(400000, 40, 50),
           NULL, "quick rounds have at most twice as many until the next vote");
    tap_ok(t,
           judge_period(UINT64_MAX, 1024, 1) && judge_period(100000000, 1024, 5) &&
               judge_period(100000, 2, 4),
           NULL, "slow rounds have few, and at least one");

    weir_rounds_begin(&r, par);
    for (int i = 0; i < 4; i++) {
        votes = weir_rounds_count(&r, 10);
        while (!votes)
            votes = weir_rounds_count(&r, 10);
        same &= weir_rounds_vote(&r, 0) == 0;
    }
    tap_ok(t, same && r.period == 16 && r.left == 16, NULL, "votes become rarer");
    while (!weir_rounds_count(&r, slow ? 1000000000 : 10))
        n++;
    said = weir_rounds_vote(&r, slow ? 2 : par->rank == 0);
    tap_ok(t, n == 15 && said == 2 && r.period == 1, NULL,
           "all learn the strongest wish, and vote again soon when one rank is slow");
}

/* The leader of a node has more error than its parent, whose number lacks the highest digit to the base 8; the other ranks have
 * what their leader has. */
static bool judge_errors(const struct weir_par *par, const struct weir_clock *c)
{
    int64_t mine[2] = { (int64_t)c->now.error_ns, par->leader }, all[64][2], leader[64];
    int high, nodes = 0;

    weir_gather(par, mine, sizeof(mine), all);
    for (int r = 0; r < par->size && par->rank == 0; r++) {
        if (all[r][1] != r) {
            if (all[r][0] != all[all[r][1]][0])
                return false;
            continue;
        }
        for (high = 1; high * 8 <= nodes; high *= 8)
            ;
        if (nodes > 0 && all[r][0] <= leader[nodes % high])
            return false;
        leader[nodes++] = all[r][0];
    }
    return true;
}

/* Nodes with clocks that differ. */
static void test_clocks_of_nodes(struct tap *t)
{
    struct weir_err err = WEIR_ERR_INIT;
    struct weir_par par;
    struct weir_clock c;
    int64_t off;

    for (size_t m = 0; m < sizeof(machines) / sizeof(*machines); m++) {
        machine = kernels = &machines[m];
        if (!tap_ok(t, weir_par_init(&par, MPI_COMM_WORLD, &err) == 0, &err, "%s", machine->name))
            return;
        machine = kernels = NULL;
        off = par.node * INT64_C(3000000000);
        clock_shift_ns = off + 1;
        weir_clock_estimate(&par, &c);
        clock_shift_ns = 0;
        tap_ok(t, llabs(c.now.offset_ns - off) <= (int64_t)c.now.error_ns, NULL,
               "the clock of a node is found out");
        tap_ok(t, judge_errors(&par, &c), NULL, "errors grow from node to node, not in a node");
        weir_par_free(&par);
    }
}

static void test_shifted_clocks(struct tap *t, const struct weir_par *par)
{
    struct weir_clock c;
    int64_t worst, off;

    weir_clock_estimate(par, &c);
    tap_ok(t, par->rank > 0 || (c.now.error_ns == 0 && c.now.offset_ns == 0), NULL,
           "rank 0's clock is the measure");
    if (par->nodes == 1 && par->same_clock)
        tap_ok(t, c.now.offset_ns == 0 && c.now.error_ns == 0, NULL,
               "ranks of one kernel have one clock");
    worst = (int64_t)c.now.error_ns;
    weir_allmax_i64(par, &worst, 1);
    tap_ok(t, weir_clock_worst(par, &c) == (uint64_t)worst * (par->size > 2 ? 2 : 1), NULL,
           "every rank knows the worst error");

    clock_shift_ns = par->rank % 2 ? 5000000000 : -1000000000;
    weir_clock_estimate(par, &c);
    off = par->rank % 2 ? 6000000000 : 0;
    if (par->nodes == 1)
        tap_ok(t, llabs(c.now.offset_ns - off) <= (int64_t)c.now.error_ns, NULL,
               "a clock of its own on one kernel is found out");
    clock_shift_ns += par->rank % 2 ? 1000000000 : 0;
    weir_clock_renew(par, &c);
    clock_shift_ns = 0;
    if (par->nodes == 1)
        tap_ok(t,
               llabs(c.now.offset_ns - c.before.offset_ns - par->rank % 2 * INT64_C(1000000000)) <=
                   (int64_t)(c.now.error_ns + c.before.error_ns),
               NULL, "a clock that has drifted is found out");
    off = c.root_ns;
    weir_bcast(par, &off, sizeof(off), 0);
    tap_ok(t, off == c.root_ns, NULL, "all ranks know when the estimate was");
    tap_ok(t, !weir_clock_is_old(&c, off + 100000000) && weir_clock_is_old(&c, off + 100000001),
           NULL, "an estimate is old after a tenth of a second");
}

static void test_interpolation(struct tap *t)
{
    const struct weir_clock_point first = { .offset_ns = 100, .at_ns = 1000, .error_ns = 5 };
    const struct weir_clock_point second = { .offset_ns = -100, .at_ns = 2000, .error_ns = 7 };
    const struct weir_clock_point later = { .offset_ns = -100, .at_ns = 1001000, .error_ns = 7 };
    const struct weir_clock one = { .before = first, .now = first };
    const struct weir_clock two = { .before = first, .now = second };
    const struct weir_clock slow = { .before = first, .now = later };

    tap_ok(t, weir_clock_common(&one, 1500) == 1400, NULL, "one estimate holds for all times");
    tap_ok(t, weir_clock_common(&two, 1500) == 1500 && weir_clock_common(&two, 1250) == 1200, NULL,
           "between two estimates the offset is interpolated");
    tap_ok(t, weir_clock_common(&two, 500) == 400 && weir_clock_common(&two, 9000) == 9100, NULL,
           "outside two estimates the nearer one holds");
    tap_ok(t, weir_clock_common(&one, 1000) == 900, NULL,
           "two estimates at one time do not divide by zero");
    tap_ok(t, weir_clock_common(&one, 50) == -50, NULL,
           "a time before rank 0's clock began is negative");
    tap_ok(t, weir_clock_error(&slow, 1500) == 7 && weir_clock_error(&one, 5000) == 5, NULL,
           "the error is that of the estimates");
    tap_ok(t, weir_clock_error(&slow, 1501000) == 7 + 100 + 100, NULL,
           "after the last estimate the drift goes on, and more may come");
    tap_ok(t,
           weir_clock_step(&two) == -200 && weir_clock_step(&slow) == 0 &&
               weir_clock_step(&one) == 0,
           NULL, "what no drift explains is a step");
    tap_ok(t, weir_clock_error(&two, 1500) == 207 && weir_clock_error(&two, 2000) == 207, NULL,
           "a step may have been at any time between the estimates");
}

/* A call of MPI that fails is no result. */
static void test_broken_mpi(struct tap *t, const struct weir_par *par)
{
    if (par->size == 1)
        return;
    broken = true;
    if (setjmp(given_up) == 0) {
        weir_fetch_u64(par, 1, (par->rank + 1) % par->size);
        broken = false;
    }
    tap_ok(t, broken, NULL, "a read from another rank that fails ends the job");
    broken = true;
    if (setjmp(given_up) == 0) {
        weir_before_u64(par, 1);
        broken = false;
    }
    tap_ok(t, broken, NULL, "a sum that fails ends the job");
    broken = false;
}

static void test_reductions(struct tap *t, const struct weir_par *par)
{
    uint64_t before = weir_before_u64(par, (uint64_t)par->rank + 1);

    tap_ok(t, before == (uint64_t)par->rank * (uint64_t)(par->rank + 1) / 2, NULL, "the sum of the ranks before");
    tap_ok(t,
           weir_fetch_u64(par, (uint64_t)par->rank + 10, par->size - 1) == (uint64_t)par->size + 9,
           NULL, "a number of another rank");
}

/* Calls follow each other at once, and fetches come between them. */
static void test_askers(struct tap *t, const struct weir_par *par)
{
    bool right = true;

    messages = 0;
    for (uint64_t i = 0; i < 30; i++) {
        int asked = 0;

        for (int r = 0; r < par->size; r++)
            asked += (int)weir_rng_below(i, (uint64_t)r, (uint64_t)par->size) == par->rank;
        right = right && weir_askers(par, (int)weir_rng_below(i, (uint64_t)par->rank, (uint64_t)par->size)) == asked;
    }
    tap_ok(t, right && messages <= 30, NULL, "a rank knows how many have named it, by a message of each");
    right = weir_askers(par, 0) == (par->rank ? 0 : par->size) &&
            weir_fetch_u64(par, (uint64_t)par->rank, par->rank / 2) == (uint64_t)par->rank / 2 && weir_askers(par, par->rank) == 1;
    tap_ok(t, right, NULL, "all may name one, and requests of different calls stay apart");
}

/* Odd ranks have no value. */
static void test_merged_stats(struct tap *t, const struct weir_par *par)
{
    struct weir_stats s = { .n = 0 };
    int n = (par->size + 1) / 2;

    if (par->rank % 2 == 0)
        weir_stats_add(&s, par->rank);
    weir_merge_stats(par, &s);
    tap_ok(t, par->rank > 0 || (s.n == (uint64_t)n && s.min == 0 && s.max == 2 * (n - 1) && fabs(s.mean - (n - 1)) < 1e-12),
           NULL, "statistics of the ranks that have a value");
}

/* The first has a value of each rank, the second one of the last rank only, the third none. */
static void test_histograms(struct tap *t, const struct weir_par *par)
{
    static struct weir_hist h[3];
    uint64_t n = (uint64_t)par->size;
    int64_t ends[6];

    memset(h, 0, sizeof(h));
    weir_hist_add(&h[0], 100 + (uint64_t)par->rank);
    if (par->rank == par->size - 1)
        weir_hist_add(&h[1], 7);
    weir_merge_hists(par, h, 3, ends);
    tap_ok(t, par->rank > 0 || (h[0].n == n && h[0].min_ns == 100 && h[0].max_ns == 99 + n && h[0].sum_ns == n * 100 + n * (n - 1) / 2), NULL,
           "a histogram of all ranks has their counts, sum and extremes");
    tap_ok(t, par->rank > 0 || (h[1].n == 1 && h[1].min_ns == 7 && h[1].max_ns == 7 && h[2].n == 0 && h[2].min_ns == 0), NULL,
           "a rank without a value changes no extreme");
}

/* Calls follow each other at once: an answer of one must not be taken for that of the next. */
static void test_fetches(struct tap *t, const struct weir_par *par)
{
    bool right = true;
    int shift = par->size > 1, asked = 0;

    messages = 0;
    for (uint64_t i = 0; i < 20; i++)
        right = right && weir_fetch_u64(par, i * 64 + (uint64_t)par->rank, (par->rank + shift) % par->size) ==
                             i * 64 + (uint64_t)((par->rank + shift) % par->size);
    tap_ok(t, right && messages == 20 * shift, NULL, "a number of the rank at a distance is one message");
    messages = 0;
    for (uint64_t i = 0; i < 50; i++) {
        int whom = (int)weir_rng_below(i, (uint64_t)par->rank, (uint64_t)par->size);

        for (int r = 0; r < par->size; r++)
            asked += (int)weir_rng_below(i, (uint64_t)r, (uint64_t)par->size) == par->rank;
        right = right && weir_fetch_u64(par, i * 64 + (uint64_t)par->rank, whom) == i * 64 + (uint64_t)whom;
    }
    tap_ok(t, right && messages <= 50 + asked, NULL, "numbers of any ranks are a request and an answer each");
}

/* Wait for the pending sum at a pace of our own; is it what all ranks have given as number 'i'? */
static bool comes(struct weir_rollsum *t, uint64_t i)
{
    uint64_t size = (uint64_t)t->par->size;

    while (!weir_rollsum_poll(t))
        weir_sleep_ns(1000 * (uint64_t)(1 + t->par->rank % 3));
    return !t->pending && t->sum[0] == size && t->sum[1] == i * size + size * (size - 1) / 2;
}

static void give(struct weir_rollsum *t, uint64_t i)
{
    t->mine[0] = 1;
    t->mine[1] = i + (uint64_t)t->par->rank;
    weir_rollsum_start(t);
}

/* Other collective calls come between a sum and its end. In the end rank 0 alone has begun one, all have, or none has. */
static void test_rollsum(struct tap *t, const struct weir_par *par)
{
    struct weir_rollsum sums = { .n = 0 };
    struct weir_err err = WEIR_ERR_INIT;
    bool right = weir_rollsum_begin(&sums, par, 2, &err) == 0, came;

    for (uint64_t i = 0; right && i < 20; i++) {
        right = !weir_rollsum_poll(&sums);
        give(&sums, i);
        if (i % 7 == 0)
            weir_barrier(par);
        right = comes(&sums, i) && right && !weir_rollsum_poll(&sums);
    }
    tap_ok(t, right, &err, "sums come in the same sequence on all ranks, once each");
    if (par->rank == 0)
        give(&sums, 20);
    came = weir_rollsum_finish(&sums);
    tap_ok(t, came && !sums.pending && sums.sum[0] == 1 && sums.sum[1] == 20, NULL, "a sum that one rank has begun ends with zeros of the others");
    give(&sums, 21);
    came = weir_rollsum_finish(&sums);
    tap_ok(t, came && sums.sum[0] == (uint64_t)par->size, NULL, "one that all have begun ends, too");
    give(&sums, 22);
    right = par->rank % 2 || comes(&sums, 22); /* only some have received it */
    came = weir_rollsum_finish(&sums);
    tap_ok(t, right && came == (par->rank % 2 != 0) && !weir_rollsum_finish(&sums), NULL, "a rank receives each sum once");
    weir_rollsum_free(&sums);
    weir_rollsum_free(&sums); /* does nothing */
}

int main(int argc, char **argv)
{
    struct tap t = { .failed = 0 };
    struct weir_err err = WEIR_ERR_INIT;
    struct weir_par par;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &t.rank);
    set_fakes(&t, NULL);
    if (tap_ok(&t, weir_par_init(&par, MPI_COMM_WORLD, &err) == 0, &err, "starts")) {
        tap_ok(&t,
               par.nodes >= 1 && par.node < par.nodes && par.per_node <= par.size && par.host[0],
               NULL, "finds itself on this machine");
        test_nodes(&t);
        test_fakes(&t, &par);
        test_subset(&t, &par);
        test_alone(&t);
        test_collectives(&t, &par);
        test_agreed_check(&t, &par);
        test_signal_and_failure(&t, &par);
        test_agreement(&t, &par);
        test_watch(&t, &par);
        test_rounds(&t, &par);
        test_shifted_clocks(&t, &par);
        test_clocks_of_nodes(&t);
        test_interpolation(&t);
        test_pieces(&t, &par);
        test_reductions(&t, &par);
        test_fetches(&t, &par);
        test_askers(&t, &par);
        test_merged_stats(&t, &par);
        test_histograms(&t, &par);
        test_rollsum(&t, &par);
        test_broken_mpi(&t, &par);
        weir_par_free(&par);
    }
    MPI_Finalize();
    return t.failed ? 1 : 0;
}
