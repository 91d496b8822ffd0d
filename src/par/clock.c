/* SPDX-License-Identifier: BSD-3-Clause */
/* clock.c - the offset of each rank's clock to rank 0's, and how it drifts */
#include "par/clock.h"

#include <stdlib.h>
#include <time.h>

#include "base/clock.h"

#define TAG 1 /* leaders receive from any rank: other messages on par->comm have tag 0 */
#define OLD_NS ((int64_t)WEIR_NS_PER_S / 10)
#define SAME_PINGS 3     /* of one clock, while the trips are long */
#define SHORT_NS 100000u /* a trip that shows what clocks differ by */
#define FAN 8 /* errors add up along the tree: its depth is the logarithm of the nodes to this base */
#define STEP_PPM 1000    /* no clock drifts so fast */
#define UNSEEN_PPM 200   /* may come on top of what was seen */

/* The answer to a rank that asks: the time now, and the estimate of the rank that answers. */
struct answer {
    int64_t local_ns;
    int64_t offset_ns;
    int64_t error_ns;
    int64_t root_ns;
};

/* Answer pings until 'ranks' ranks (from: one of them by number, or any) have sent their last one. */
static void answer(const struct weir_par *par, MPI_Comm comm, const struct weir_clock *mine,
                   int from, int ranks)
{
    struct answer a = { .offset_ns = mine->now.offset_ns,
                        .error_ns = (int64_t)mine->now.error_ns,
                        .root_ns = mine->root_ns };
    MPI_Status status;
    int more;

    while (ranks > 0) {
        weir_mpi_must(par, MPI_Recv(&more, 1, MPI_INT, from, TAG, comm, &status), "MPI_Recv");
        ranks -= !more;
        if (!more)
            continue;
        a.local_ns = (int64_t)weir_now_ns();
        weir_mpi_must(par, MPI_Send(&a, 4, MPI_INT64_T, status.MPI_SOURCE, TAG, comm), "MPI_Send");
    }
}

static void send_request(const struct weir_par *par, MPI_Comm comm, int whom, int more)
{
    weir_mpi_must(par, MPI_Send(&more, 1, MPI_INT, whom, TAG, comm), "MPI_Send");
}

/* One ping: the other rank read its clock at some time between our sending and our receiving; the
 * middle is at most half of the trip away. */
struct ping {
    uint64_t at_ns; /* the middle, local time */
    uint64_t trip_ns;
    struct answer answer;
};

/* Keep the quicker of *best and a new one: it bounds the error better (Cristian 1989). */
static void ask(const struct weir_par *par, MPI_Comm comm, int whom, struct ping *best)
{
    uint64_t sent = weir_now_ns(), got;
    struct ping p;

    send_request(par, comm, whom, 1);
    weir_mpi_must(par, MPI_Recv(&p.answer, 4, MPI_INT64_T, whom, TAG, comm, MPI_STATUS_IGNORE),
                  "MPI_Recv");
    got = weir_now_ns();
    p.trip_ns = got > sent ? got - sent : 0; /* a preloaded clock might step back */
    p.at_ns = sent + p.trip_ns / 2;
    if (p.trip_ns < best->trip_ns)
        *best = p;
}

static int64_t distance(const struct ping *p)
{
    return (int64_t)p->at_ns - p->answer.local_ns;
}

static void adopt(struct weir_clock *out, const struct ping *p, bool is_same)
{
    uint64_t half_ns = (p->trip_ns + 1) / 2;

    out->root_ns = p->answer.root_ns;
    out->now.at_ns = p->at_ns;
    out->now.offset_ns = p->answer.offset_ns + (is_same ? 0 : distance(p));
    out->now.error_ns = (uint64_t)p->answer.error_ns + (is_same ? 0 : half_ns);
    out->now.trip_ns = is_same ? half_ns : 0;
}

/* One quick ping is enough to see that the clock of the leader is ours. One that shows another clock
 * is so, too, for all that follow: their trips may be too long to show it again. */
static void ask_leader(const struct weir_par *par, struct weir_clock *out)
{
    struct ping best = { .trip_ns = UINT64_MAX };
    bool is_same = false;

    for (int i = 0; i < WEIR_PINGS; i++) {
        ask(par, par->comm, par->leader, &best);
        is_same = par->same_clock && !out->is_apart &&
                  llabs(distance(&best)) <= (int64_t)(best.trip_ns + 1) / 2;
        if (is_same && (best.trip_ns <= SHORT_NS || i + 1 >= SAME_PINGS))
            break;
    }
    send_request(par, par->comm, par->leader, 0);
    adopt(out, &best, is_same);
    out->is_apart = !is_same;
}

/* A leader's parent lacks the highest digit of its number, in base FAN. */
static void ask_leaders(const struct weir_par *par, struct weir_clock *out)
{
    struct ping best = { .trip_ns = UINT64_MAX };
    int64_t step = 1; /* of the highest digit */
    int rank, size;

    weir_mpi_must(par, MPI_Comm_rank(par->leaders, &rank), "MPI_Comm_rank");
    weir_mpi_must(par, MPI_Comm_size(par->leaders, &size), "MPI_Comm_size");
    while (step * FAN <= rank)
        step *= FAN;
    if (rank > 0) {
        for (int i = 0; i < WEIR_PINGS; i++)
            ask(par, par->leaders, (int)(rank % step), &best);
        send_request(par, par->leaders, (int)(rank % step), 0);
        adopt(out, &best, false);
        step *= FAN;
    }
    for (; step < size - rank; step *= FAN)
        for (int64_t child = rank + step; child < rank + FAN * step && child < size; child += step)
            answer(par, par->leaders, out, (int)child, 1);
}

static void estimate(const struct weir_par *par, struct weir_clock *c)
{
    c->now = (struct weir_clock_point) { .at_ns = weir_now_ns() };
    c->root_ns = (int64_t)c->now.at_ns; /* rank 0's; the others receive it */
    if (par->leader != par->rank)
        ask_leader(par, c);
    else if (par->leaders != MPI_COMM_NULL)
        ask_leaders(par, c);
    if (par->followers > 0)
        answer(par, par->comm, c, MPI_ANY_SOURCE, par->followers);
}

void weir_clock_estimate(const struct weir_par *par, struct weir_clock *out)
{
    out->is_apart = false;
    estimate(par, out);
    out->before = out->now;
    out->reported = false;
}

void weir_clock_renew(const struct weir_par *par, struct weir_clock *c)
{
    c->before = c->now;
    estimate(par, c);
    if (par->leader != par->rank && c->now.trip_ns == 0)
        c->before.error_ns += c->before.trip_ns;
}

static uint64_t parts(uint64_t ns, uint64_t ppm)
{
    return ns * ppm / 1000000;
}

int64_t weir_clock_step(const struct weir_clock *c)
{
    int64_t change = c->now.offset_ns - c->before.offset_ns;
    uint64_t passed = c->now.at_ns > c->before.at_ns ? c->now.at_ns - c->before.at_ns : 0;
    uint64_t allowed = c->now.error_ns + c->before.error_ns + parts(passed, STEP_PPM);

    return (uint64_t)llabs(change) > allowed ? change : 0;
}

bool weir_clock_is_old(const struct weir_clock *c, int64_t common_ns)
{
    return common_ns - c->root_ns > OLD_NS;
}

/* The change of the offset in this time at the speed between the two estimates. */
static double drift(const struct weir_clock *c, uint64_t ns)
{
    if (c->now.at_ns <= c->before.at_ns)
        return 0;
    return (double)(c->now.offset_ns - c->before.offset_ns) *
           ((double)ns / (double)(c->now.at_ns - c->before.at_ns));
}

int64_t weir_clock_common(const struct weir_clock *c, uint64_t local_ns)
{
    int64_t offset = c->now.offset_ns;

    if (local_ns <= c->before.at_ns)
        offset = c->before.offset_ns;
    else if (local_ns < c->now.at_ns)
        offset = c->before.offset_ns + (int64_t)drift(c, local_ns - c->before.at_ns);
    return (int64_t)local_ns - offset;
}

uint64_t weir_clock_local(const struct weir_clock *c, int64_t common_ns)
{
    return (uint64_t)(common_ns + c->now.offset_ns);
}

uint64_t weir_clock_error(const struct weir_clock *c, uint64_t local_ns)
{
    uint64_t step = (uint64_t)llabs(weir_clock_step(c)), after_ns, seen;

    if (local_ns <= c->now.at_ns)
        return step + (c->before.error_ns > c->now.error_ns ? c->before.error_ns : c->now.error_ns);
    after_ns = local_ns - c->now.at_ns;
    seen = step ? 0 : (uint64_t)llabs((int64_t)drift(c, after_ns));
    return c->now.error_ns + seen + (c->now.error_ns ? parts(after_ns, UNSEEN_PPM) : 0);
}

uint64_t weir_clock_worst(const struct weir_par *par, const struct weir_clock *c)
{
    int64_t worst = (int64_t)c->now.error_ns;

    weir_allmax_i64(par, &worst, 1);
    return weir_clock_between(par, (uint64_t)worst);
}

static uint64_t day_ns(void)
{
    struct timespec now = { 0 };

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * WEIR_NS_PER_S + (uint64_t)now.tv_nsec;
}

uint64_t weir_clock_day_ns(const struct weir_par *par)
{
    uint64_t ns = day_ns();

    weir_bcast(par, &ns, sizeof(ns), 0);
    return ns;
}

int64_t weir_clock_to_day_ns(const struct weir_par *par)
{
    int64_t ns = (int64_t)day_ns() - (int64_t)weir_now_ns();

    weir_bcast(par, &ns, sizeof(ns), 0);
    return ns;
}
