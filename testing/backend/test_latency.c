/* SPDX-License-Identifier: BSD-3-Clause */
/* test_latency.c - times of calls, and what was asked of a service, of all ranks on rank 0 */
#include <stdlib.h>
#include <string.h>

#include "backend/tap.h"
#include "backends/session/session.h"
#include "engine/observe/latency.h"
#include "engine/program.h"

static const struct weir_operation operations[] = { { .key = "toy", .title = "Toy", .unit = "toys" },
                                                    { .key = NULL } };
static const struct weir_program toy = { .name = "toy", .operations = operations };

/* A session on every rank but the last, where there are several; a service of the odd ones and of rank 0. */
struct bench {
    struct weir_run run;
    struct weir_phase_rec rec;
    struct weir_session s;
    struct weir_session_stats stats;
    struct weir_service_stats service;
};

static bool has_session(int rank, int size)
{
    return rank == 0 || rank < size - 1;
}

static bool has_service(int rank, int size)
{
    return has_session(rank, size) && (rank == 0 || rank % 2 == 1);
}

static void begin(struct bench *b, bool asked)
{
    struct weir_err err = WEIR_ERR_INIT;
    int rank, size;

    memset(b, 0, sizeof(*b));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    b->run.par = (struct weir_par) { .comm = MPI_COMM_WORLD, .rank = rank, .size = size };
    b->run.program = &toy;
    b->rec.max.work_ns = 1;
    if (weir_records_begin(&b->run.records, 1, WEIR_ALL_HISTS, &err) < 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (has_session(rank, size))
        b->s.stats = &b->stats;
    if (asked && has_service(rank, size))
        b->s.service = &b->service;
}

/* Each rank opens once, in 100 ns and its rank; each request of a service has two parts, and the others none. */
static void ask(struct bench *b)
{
    uint64_t rank = (uint64_t)b->run.par.rank;

    weir_hist_add(&b->run.records.hist[0], 7);
    if (b->s.stats)
        weir_hist_add(&b->stats.hist[WEIR_OP_OPEN], 100 + rank);
    if (!b->s.service)
        return;
    for (uint64_t i = 0; i <= rank; i++) {
        weir_hist_add(&b->service.part[WEIR_PART_FIRST], 1000 * (rank + 1));
        weir_hist_add(&b->service.part[WEIR_PART_LAST], 10);
        b->service.count[WEIR_SENT]++;
    }
    b->service.count[WEIR_SENT_CONNECTIONS] = 1;
    b->service.count[WEIR_SENT_REFUSED] = 2;
    b->service.count[WEIR_SENT_LOST] = rank;
}

static bool is_summed(const struct bench *b)
{
    const struct weir_hist *part = b->service.part;
    const uint64_t *count = b->service.count;
    uint64_t n = 0, longest = 0, sum = 0, ranks = 0, lost = 0;

    for (uint64_t r = 0; r < (uint64_t)b->run.par.size; r++)
        if (has_service((int)r, b->run.par.size)) {
            longest = 1000 * (r + 1);
            n += r + 1;
            sum += longest * (r + 1);
            ranks++;
            lost += r;
        }
    return part[WEIR_PART_FIRST].n == n && part[WEIR_PART_FIRST].sum_ns == sum && part[WEIR_PART_FIRST].min_ns == 1000 &&
           part[WEIR_PART_FIRST].max_ns == longest && part[WEIR_PART_LAST].n == n && part[WEIR_PART_CONNECT].n == 0 &&
           part[WEIR_PART_TLS].n == 0 && count[WEIR_SENT] == n && count[WEIR_SENT_CONNECTIONS] == ranks &&
           count[WEIR_SENT_REFUSED] == 2 * ranks && count[WEIR_SENT_LOST] == lost;
}

static bool are_calls_summed(const struct bench *b)
{
    const struct weir_hist *h = &b->stats.hist[WEIR_OP_OPEN];
    uint64_t n = b->run.par.size > 1 ? (uint64_t)b->run.par.size - 1 : 1;

    return b->run.records.hist[0].n == (uint64_t)b->run.par.size && h->n == n && h->min_ns == 100 && h->max_ns == 99 + n;
}

static void test_sums(struct tap *t, struct bench *b, bool asked)
{
    begin(b, asked);
    ask(b);
    weir_latency_sum(&b->run, &b->s, &b->rec);
    tap_ok(t, t->rank > 0 || are_calls_summed(b), NULL, "rank 0 has the calls of all ranks, with a service: %d", asked);
    tap_ok(t, t->rank > 0 || is_summed(b) == asked, NULL, "rank 0 has what all ranks asked of the service");
    if (b->s.stats)
        weir_session_reset(&b->s);
    tap_ok(t, b->service.count[WEIR_SENT] == 0 && b->service.part[WEIR_PART_FIRST].n == 0, NULL,
           "a reset forgets what was asked of the service");
    weir_records_free(&b->run.records);
}

int main(int argc, char **argv)
{
    struct bench *b = malloc(sizeof(*b));
    struct tap t = { .failed = 0 };

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &t.rank);
    if (!b)
        MPI_Abort(MPI_COMM_WORLD, 1);
    test_sums(&t, b, false);
    test_sums(&t, b, true);
    free(b);
    MPI_Finalize();
    return t.failed ? 1 : 0;
}
