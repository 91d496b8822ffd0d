/* SPDX-License-Identifier: BSD-3-Clause */
/* test_clock_tree.c - what the common clock of many nodes is wrong by: the real estimate on ranks that are coroutines of one
 * process, over a network and clocks that are only pretended, so the true time is known. No time of this machine counts.
 * With numbers of nodes as arguments it prints the table of doc/dev/clocks.md. */
#include "par/clock.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/rng.h"

#define STACK (64u * 1024)
#define BEGIN_NS 1000000000000u
#define TRIP_NS 2000    /* there and back, where nothing is in the way */
#define HANDLING_NS 100 /* of a message, on both sides */
#define READ_NS 20      /* of a clock */
#define LEAST_NS (TRIP_NS + 4 * HANDLING_NS + 2 * READ_NS) /* of a ping */
#define NOISE_NS 400
#define SHIFT_NS (10 * (uint64_t)WEIR_NS_PER_S) /* of a clock, at most */

struct message {
    struct message *next;
    int from;
    uint64_t at_ns; /* when it is there */
    size_t size;
    unsigned char data[64];
};

struct rank {
    ucontext_t context;
    uint64_t now_ns;    /* true time */
    int64_t shift_ns;   /* of its clock */
    struct message *mail, *last;
    int from; /* it waits for a message of this rank; -1: for none */
    bool over;
    struct weir_par par;
    struct weir_clock clock;
};

/* Which messages take longer: answers to all ranks, or answers to even ones and questions of odd ones. */
enum slow { ANSWERS, IN_TURN };

/* A network and the ranks in it. */
static struct world {
    struct rank *rank;
    int size, now; /* the rank that runs; -1: none */
    uint64_t more_ns; /* that some messages take longer */
    enum slow slow;
    uint64_t seed, drawn, noise_ns, to_root;
    int64_t stepped_ns; /* of the clock of rank 1 between two estimates; 0: there is one estimate only */
    uint64_t later_ns; /* the new more_ns of the second one */
    ucontext_t back;
} world = { .now = -1 };

/* ---- what the estimate calls ---- */

int clock_gettime(clockid_t id, struct timespec *t)
{
    struct rank *r = world.rank + world.now;
    int64_t ns;

    if (world.now < 0) /* somebody else's */
        return (int)syscall(SYS_clock_gettime, id, t);
    r->now_ns += READ_NS;
    ns = (int64_t)r->now_ns + r->shift_ns;
    t->tv_sec = ns / WEIR_NS_PER_S;
    t->tv_nsec = ns % WEIR_NS_PER_S;
    return 0;
}

int MPI_Comm_rank(MPI_Comm comm, int *rank)
{
    (void)comm;
    *rank = world.now;
    return MPI_SUCCESS;
}

int MPI_Comm_size(MPI_Comm comm, int *size)
{
    (void)comm;
    *size = world.size;
    return MPI_SUCCESS;
}

/* Most messages are quick, few are slow. */
static uint64_t noise(void)
{
    uint64_t dice = weir_rng_at(world.seed, world.drawn++), slow = dice >> 32 & 15 ? 1 : 50;

    return world.noise_ns ? dice % world.noise_ns * slow : 0;
}

static uint64_t slowness(int from, int to)
{
    bool answer = to > from;

    if (world.slow == IN_TURN && (answer ? to : from) % 2 == 1)
        answer = !answer;
    return answer ? world.more_ns : 0;
}

int MPI_Send(const void *data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    struct rank *r = world.rank + world.now, *other = world.rank + to;
    struct message *m = calloc(1, sizeof(*m));

    (void)tag;
    (void)comm;
    assert_non_null(m);
    m->from = world.now;
    m->size = (size_t)n * (type == MPI_INT ? sizeof(int) : sizeof(int64_t));
    assert_true(m->size <= sizeof(m->data));
    memcpy(m->data, data, m->size);
    r->now_ns += HANDLING_NS;
    m->at_ns = r->now_ns + TRIP_NS / 2 + noise() + slowness(world.now, to);
    if (other->mail)
        other->last->next = m;
    else
        other->mail = m;
    other->last = m;
    world.to_root += to == 0;
    return MPI_SUCCESS;
}

/* The first message from this rank, taken out; NULL: there is none. */
static struct message *take(struct rank *r, int from)
{
    struct message **at = &r->mail, *m, *before = NULL;

    while (*at && (*at)->from != from) {
        before = *at;
        at = &(*at)->next;
    }
    m = *at;
    if (m) {
        *at = m->next;
        if (r->last == m)
            r->last = before;
    }
    return m;
}

int MPI_Recv(void *data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    struct rank *r = world.rank + world.now;
    struct message *m;

    (void)n;
    (void)type;
    (void)tag;
    (void)comm;
    from = from == MPI_ANY_SOURCE ? 1 : from; /* a leader has one follower here */
    assert_true(from >= 0);
    while (!(m = take(r, from))) {
        r->from = from;
        swapcontext(&r->context, &world.back);
    }
    if (r->now_ns < m->at_ns)
        r->now_ns = m->at_ns;
    r->now_ns += HANDLING_NS;
    memcpy(data, m->data, m->size);
    if (status != MPI_STATUS_IGNORE)
        status->MPI_SOURCE = m->from;
    free(m);
    return MPI_SUCCESS;
}

/* ---- a world ---- */

static void live(void)
{
    struct rank *r = world.rank + world.now;

    weir_clock_estimate(&r->par, &r->clock);
    if (world.stepped_ns != 0) {
        r->shift_ns += r->par.rank == 1 ? world.stepped_ns : 0;
        world.more_ns = world.later_ns;
        weir_clock_renew(&r->par, &r->clock);
    }
    r->over = true;
}

static bool can_run(const struct rank *r)
{
    const struct message *m = r->mail;

    while (m && m->from != r->from)
        m = m->next;
    return !r->over && (r->from < 0 || m);
}

static void begin_rank(int i, char *stack)
{
    struct rank *r = world.rank + i;

    r->from = -1;
    r->now_ns = BEGIN_NS + noise();
    r->shift_ns = i == 0 ? 0 : (int64_t)(weir_rng_at(world.seed, (uint64_t)i) % SHIFT_NS);
    r->par = (struct weir_par) { .comm = MPI_COMM_WORLD, .leaders = MPI_COMM_SELF, .rank = i, .leader = i, .size = world.size };
    getcontext(&r->context);
    r->context.uc_stack.ss_sp = stack;
    r->context.uc_stack.ss_size = STACK;
    r->context.uc_link = &world.back;
    makecontext(&r->context, live, 0);
}

/* What came of it. */
struct outcome {
    uint64_t told_ns;  /* the largest error to rank 0's clock that a rank tells */
    uint64_t wrong_ns; /* the largest that there is */
    uint64_t apart_ns; /* of two ranks to each other */
    uint64_t took_ns;  /* true time */
    bool kept;         /* no rank is wrong by more than it tells */
};

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static struct outcome judge(void)
{
    struct outcome o = { .kept = true };
    int64_t least = 0, most = 0;

    for (int i = 0; i < world.size; i++) {
        const struct rank *r = world.rank + i;
        int64_t wrong = r->clock.now.offset_ns - r->shift_ns;

        assert_true(r->over);
        o.kept &= (uint64_t)llabs(wrong) <= r->clock.now.error_ns;
        o.told_ns = larger(o.told_ns, r->clock.now.error_ns);
        o.wrong_ns = larger(o.wrong_ns, (uint64_t)llabs(wrong));
        o.took_ns = larger(o.took_ns, r->now_ns - BEGIN_NS);
        least = wrong < least ? wrong : least;
        most = wrong > most ? wrong : most;
    }
    o.apart_ns = (uint64_t)(most - least);
    return o;
}

/* So many ranks, each with a stack; unmapped by end_world. */
static char *begin_world(int nodes, uint64_t seed, enum slow slow, uint64_t more_ns)
{
    char *stacks =
        mmap(NULL, (size_t)nodes * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    assert_true(stacks != MAP_FAILED);
    world = (struct world) { .size = nodes, .slow = slow, .more_ns = more_ns, .seed = seed, .noise_ns = NOISE_NS, .now = -1 };
    world.rank = calloc((size_t)nodes, sizeof(*world.rank));
    assert_non_null(world.rank);
    for (int i = 0; i < nodes; i++)
        begin_rank(i, stacks + (size_t)i * STACK);
    return stacks;
}

static void run_world(void)
{
    bool moved = true;

    while (moved) {
        moved = false;
        for (world.now = 0; world.now < world.size; world.now++)
            if (can_run(world.rank + world.now)) {
                swapcontext(&world.back, &world.rank[world.now].context);
                moved = true;
            }
    }
    world.now = -1;
}

static void end_world(char *stacks)
{
    free(world.rank);
    munmap(stacks, (size_t)world.size * STACK);
}

/* Let so many nodes with clocks that are seconds apart estimate them. */
static struct outcome estimate(int nodes, uint64_t seed, enum slow slow, uint64_t more_ns)
{
    char *stacks = begin_world(nodes, seed, slow, more_ns);
    struct outcome o;

    run_world();
    o = judge();
    end_world(stacks);
    return o;
}

/* Two ranks that are taken for ranks of one clock: that of rank 1 is shift_ns ahead while messages take more_ns longer, and is set
 * by stepped_ns before they take later_ns longer. What is seen as a step. */
static int64_t seen_of_a_follower(uint64_t more_ns, int64_t shift_ns, int64_t stepped_ns, uint64_t later_ns)
{
    char *stacks = begin_world(2, 1, ANSWERS, more_ns);
    int64_t step_ns;

    world.stepped_ns = stepped_ns;
    world.later_ns = later_ns;
    for (int i = 0; i < 2; i++) {
        world.rank[i].par.leader = 0;
        world.rank[i].par.same_clock = true;
        world.rank[i].par.followers = i == 0;
        world.rank[i].par.leaders = MPI_COMM_NULL;
    }
    world.rank[1].shift_ns = shift_ns;
    run_world();
    assert_true(world.rank[1].over);
    step_ns = weir_clock_step(&world.rank[1].clock);
    end_world(stacks);
    return step_ns;
}

/* ---- claims ---- */

static const int sizes[] = { 1, 2, 3, 8, 9, 64, 65, 200, 513 };
#define SIZES (sizeof(sizes) / sizeof(*sizes))

/* From the root to the leaf that is furthest away: digits to the base 8 that are not 0. */
static uint64_t depth(int nodes)
{
    uint64_t most = 0;

    for (int r = 0; r < nodes; r++) {
        uint64_t steps = 0;

        for (int rest = r; rest > 0; rest /= 8)
            steps += rest % 8 > 0;
        most = larger(most, steps);
    }
    return most;
}

/* Of nodes: the logarithm to the base 8, rounded up. */
static uint64_t levels(int nodes)
{
    uint64_t n = 0;

    for (int64_t reach = 1; reach < nodes; reach *= 8)
        n++;
    return n;
}

static void no_rank_is_wrong_by_more_than_it_tells(void **state)
{
    (void)state;
    for (size_t i = 0; i < SIZES; i++)
        for (uint64_t seed = 0; seed < 6; seed++) {
            struct outcome o = estimate(sizes[i], seed, seed % 2 ? ANSWERS : IN_TURN, seed * 700);

            assert_true(o.kept);
            assert_true(o.took_ns > 0 && (sizes[i] == 1 || o.told_ns > 0));
        }
}

static void the_error_is_half_a_trip_for_each_level(void **state)
{
    (void)state;
    for (size_t i = 0; i < SIZES; i++)
        for (uint64_t more = 0; more <= 4000; more += 1000) {
            struct outcome o = estimate(sizes[i], more, ANSWERS, more);

            assert_true(o.told_ns <= depth(sizes[i]) * (LEAST_NS + more + NOISE_NS) / 2);
            assert_true(o.wrong_ns >= depth(sizes[i]) * more * 9 / 20); /* all of the asymmetry, which nobody can see */
        }
}

static void trips_that_take_as_long_both_ways_make_no_error(void **state)
{
    (void)state;
    for (size_t i = 0; i < SIZES; i++)
        assert_true(estimate(sizes[i], i, ANSWERS, 0).wrong_ns <= depth(sizes[i]) * NOISE_NS / 2);
}

static void two_ranks_may_be_as_wrong_to_each_other_as_both_to_rank_0(void **state)
{
    bool more_than_one = false;

    (void)state;
    for (size_t i = 0; i < SIZES; i++) {
        struct outcome o = estimate(sizes[i], i, IN_TURN, 8000);
        const struct weir_par par = { .size = sizes[i] };

        more_than_one |= o.apart_ns > o.told_ns;
        assert_true(o.apart_ns <= weir_clock_between(&par, o.told_ns));
    }
    assert_true(more_than_one);
}

static void rank_0_gets_a_number_of_messages_that_grows_with_the_levels(void **state)
{
    (void)state;
    for (size_t i = 0; i < SIZES; i++) {
        estimate(sizes[i], 1, ANSWERS, 0);
        assert_true(depth(sizes[i]) <= levels(sizes[i]) && world.to_root <= levels(sizes[i]) * 7 * (WEIR_PINGS + 1));
    }
}

static void a_clock_that_long_trips_hide_has_not_stepped_when_a_short_one_shows_it(void **state)
{
    (void)state;
    assert_int_equal(seen_of_a_follower(200000, -60000, 1, 0), 0);
    assert_true(seen_of_a_follower(0, -60000, 1, 0) == 0 && seen_of_a_follower(200000, 0, 1, 0) == 0);
    assert_true(seen_of_a_follower(200000, -60000, 500000, 0) > 400000);
    assert_true(seen_of_a_follower(0, 0, -10000, 0) < -5000);
}

static void a_clock_that_a_short_trip_has_shown_has_not_stepped_when_long_ones_hide_it(void **state)
{
    (void)state;
    assert_int_equal(seen_of_a_follower(0, -60000, 1, 200000), 0);
    assert_int_equal(seen_of_a_follower(0, 60000, 1, 200000), 0);
    assert_true(seen_of_a_follower(0, -60000, 500000, 200000) > 300000);
}

/* ---- by hand ---- */

static void print_table(int nodes)
{
    struct outcome even = estimate(nodes, 1, ANSWERS, 0), slow = estimate(nodes, 1, ANSWERS, 1000), turn = estimate(nodes, 1, IN_TURN, 1000);

    printf("| %d | %" PRIu64 " | %.1f | %.1f | %.1f | %.1f | %.1f | %.2f | %" PRIu64 " |\n", nodes, levels(nodes), (double)even.told_ns / 1e3,
           (double)even.wrong_ns / 1e3, (double)slow.told_ns / 1e3, (double)slow.wrong_ns / 1e3, (double)turn.apart_ns / 1e3,
           (double)even.took_ns / 1e6, world.to_root);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_rank_is_wrong_by_more_than_it_tells),
        cmocka_unit_test(the_error_is_half_a_trip_for_each_level),
        cmocka_unit_test(trips_that_take_as_long_both_ways_make_no_error),
        cmocka_unit_test(two_ranks_may_be_as_wrong_to_each_other_as_both_to_rank_0),
        cmocka_unit_test(rank_0_gets_a_number_of_messages_that_grows_with_the_levels),
        cmocka_unit_test(a_clock_that_long_trips_hide_has_not_stepped_when_a_short_one_shows_it),
        cmocka_unit_test(a_clock_that_a_short_trip_has_shown_has_not_stepped_when_long_ones_hide_it),
    };

    for (int i = 1; i < argc; i++)
        print_table((int)strtol(argv[i], NULL, 10));
    return argc > 1 ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
}
