/* SPDX-License-Identifier: BSD-3-Clause */
/* test_model_load.c - a rank that has failed keeps its part in the broadcasts of its group */
#include "programs/model_checkpoint/mc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What the first rank of the group sends, and how many messages this one has taken part in. */
static struct {
    uint64_t good;
    int messages;
} group;

/* The first message of a move says whether it was read; the second has its bytes. */
int MPI_Bcast(void *at, int n, MPI_Datatype type, int root, MPI_Comm comm)
{
    (void)type, (void)comm;
    assert_int_equal(root, 0);
    if (group.messages++ == 0) {
        assert_int_equal(n, sizeof(group.good));
        memcpy(at, &group.good, sizeof(group.good));
    } else {
        memset(at, 'x', (size_t)n);
    }
    return MPI_SUCCESS;
}

/* Idle in a round of a load of two moves, of which the first one is that of all of the group.
 * Returns the bytes of this rank. */
static const char *idle_in(uint64_t round, bool is_read)
{
    static char memory[17];
    static struct weir_run run;
    struct mc_move moves[2] = { { .memory = 4, .len = 8 }, { .memory = 12, .len = 4 } };
    struct mc_test t = { .memory.at = memory, .load = { .same = 1, .reads = { .move = moves, .moves = 2 } } };
    uint64_t clock_ns = 0;

    memset(memory, '.', 16);
    t.load.copies.group.size = 2;
    t.load.copies.group.rank = 1;
    group.good = is_read;
    group.messages = 0;
    assert_int_equal(mc_load.idle(&run, &t, round, &clock_ns, NULL), 0);
    assert_true(clock_ns > 0);
    return memory;
}

static void an_idle_rank_takes_what_its_group_has_read(void **state)
{
    (void)state;
    assert_string_equal(idle_in(0, true), "....xxxxxxxx....");
    assert_int_equal(group.messages, 2);
}

static void an_idle_rank_hears_that_its_group_could_not_read(void **state)
{
    (void)state;
    assert_string_equal(idle_in(0, false), "................");
    assert_int_equal(group.messages, 1);
}

static void an_idle_rank_has_no_part_in_what_each_rank_reads(void **state)
{
    (void)state;
    assert_string_equal(idle_in(1, true), "................");
    assert_int_equal(group.messages, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_idle_rank_takes_what_its_group_has_read),
        cmocka_unit_test(an_idle_rank_hears_that_its_group_could_not_read),
        cmocka_unit_test(an_idle_rank_has_no_part_in_what_each_rank_reads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
