/* SPDX-License-Identifier: BSD-3-Clause */
/* test_mix_plan.c - weir-mix: plans, the ranks of groups, work between two times, slowdowns */
#include "programs/weir-mix/mix.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/shape/worklog.h"

/* ---- the plan ---- */

static int read_plan(const char *text, struct weir_arena *arena, struct mix_plan *plan, struct weir_err *err)
{
    memset(plan, 0, sizeof(*plan));
    *err = (struct weir_err) WEIR_ERR_INIT;
    return mix_plan_read(text, strlen(text), "plan.txt", arena, plan, err);
}

static void test_a_plan_has_groups_with_ranks_words_and_a_start(void **state)
{
    struct weir_arena arena = { 0 };
    struct mix_plan p;
    struct weir_err err;

    (void)state;
    assert_int_equal(read_plan("# two\n\n[a.1] # the first\r\n  ranks=4\t# four\ncommand = /opt/ior -o \"my file\" -k # -w\n[b]\n"
                               "RANKS = 2-a-node 0-1\ncommand = mdtest -d #x\nstart = after A.1 write it\n"
                               "[c]\nstart=after 1.5 s\nranks = rest\ncommand=mib",
                               &arena, &p, &err), 0);
    assert_int_equal(p.n, 3);
    assert_string_equal(p.group[0].name, "a.1");
    assert_true(p.group[0].by == MIX_COUNT && p.group[0].count == 4 && p.group[0].start == MIX_AT_ONCE);
    assert_int_equal(p.group[0].argc, 4);
    assert_string_equal(p.group[0].argv[2], "my file");
    assert_null(p.group[0].argv[4]);
    assert_true(p.group[1].by == MIX_PER_NODE && p.group[1].count == 2);
    assert_string_equal(p.group[1].list, "0-1");
    assert_true(p.group[1].start == MIX_AFTER_PHASE && p.group[1].after == 0 && p.group[1].argc == 2);
    assert_string_equal(p.group[1].phase, "write it");
    assert_true(p.group[2].start == MIX_AFTER_SECONDS && p.group[2].after_s == 1.5 && p.group[2].by == MIX_REST);
    weir_arena_free(&arena);
}

#define A "[a]\nranks=1\ncommand=ior\n"

static void test_a_wrong_plan_is_refused_with_its_line_and_what_would_be_right(void **state)
{
    static const struct {
        const char *text, *words;
    } wrong[] = {
        { "", "the plan has no group" },
        { "ranks = 1", "plan.txt:1: a line '[GROUP]' must come before" },
        { "[a b]", "plan.txt:1: '[a b]' does not begin a group" },
        { "[all]", "does not begin a group" },
        { A "[A]", "plan.txt:4: there is a group 'A' already, in line 1" },
        { "[a]\nranks", "plan.txt:2: 'ranks' is neither '[GROUP]' nor 'key = value'" },
        { "[a]\nrank = 1", "'rank' is not one of 'ranks', 'command' and 'start' (did you mean 'ranks'?)" },
        { "[a]\nranks = # 4", "'ranks =' needs a value" },
        { "[a]\nranks=1\nranks=2", "plan.txt:3: 'ranks' is given twice in group 'a'" },
        { "[a]\nranks=0", "give a number, 'one-a-node'" },
        { "[a]\nranks=list 3-1", "'ranks = list 3-1': give" },
        { "[a]\nranks=two-a-node", "'ranks = two-a-node': give" },
        { "[a]\nranks=4 0-3", "'ranks = 4 0-3': give" },
        { "[a]\ncommand=ior -o \"x", "plan.txt:2: a quotation mark is not closed" },
        { "[a]\nstart=later", "give 'at once', 'after 5 s', or 'after GROUP PHASE'" },
        { "[a]\nstart=after -1 s", "'start = after -1 s': give 'at once', 'after 5 s', or" },
        { "[a]\nstart=after b", "'start = after b': give" },
        { "[a]\nranks=1", "plan.txt:1: group 'a' has no line 'command = ...'" },
        { A "start=after writer write\n[write]\nranks=1\ncommand=ior", "'writer', which is not a group (did you mean 'write'?)" },
        { A "start=after b x\n[b]\nranks=1\ncommand=ior\nstart = after a x", "plan.txt:1: group 'a' would wait for itself" },
        { "[a]\nranks=rest\ncommand=ior\n[b]\nranks=rest\ncommand=ior", "cannot both have the rest" },
    };
    struct weir_arena arena = { 0 };
    struct mix_plan p;
    struct weir_err err;

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        assert_int_equal(read_plan(wrong[i].text, &arena, &p, &err), -1);
        assert_int_equal(err.code, WEIR_EUSAGE);
        if (!strstr(err.text, wrong[i].words))
            fail_msg("%s: %s", wrong[i].text, err.text);
    }
    err = (struct weir_err) WEIR_ERR_INIT;
    memset(&p, 0, sizeof(p));
    assert_int_equal(mix_plan_read("[a]\0", 4, "plan.txt", &arena, &p, &err), -1);
    assert_non_null(strstr(err.text, "plan.txt:1: a NUL byte"));
    weir_arena_free(&arena);
}

/* ---- ranks ---- */

/* Six ranks on three nodes in turn, and the groups of a plan, as letters. */
static const char *assign(const char *ranks, struct weir_err *err)
{
    static const int node[] = { 0, 1, 2, 0, 1, 2 };
    static _Thread_local char out[7];
    struct weir_arena arena = { 0 };
    struct mix_plan p;
    char text[256], *list = strdup(ranks), *rest = list, *one;
    size_t used = 0;
    int of[6], rc;

    for (char name = 'a'; (one = strsep(&rest, "/")); name++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "[%c]\nranks=%s\ncommand=ior\n", name, one);
    assert_int_equal(read_plan(text, &arena, &p, err), 0);
    rc = mix_ranks_assign(&p, node, 6, 3, of, err);
    for (int i = 0; i < 6; i++)
        out[i] = (char)(of[i] < 0 ? '-' : 'a' + of[i]);
    out[6] = '\0';
    free(list);
    weir_arena_free(&arena);
    return rc < 0 ? err->text : out;
}

static void test_ranks_are_given_by_lists_nodes_numbers_and_the_rest(void **state)
{
    struct weir_err err;

    (void)state;
    assert_string_equal(assign("2/rest", &err), "aabbbb");
    assert_string_equal(assign("2", &err), "aa----");
    assert_string_equal(assign("rest/list 0-4:2", &err), "bababa");
    assert_non_null(strstr(assign("one-a-node/nodes 1", &err), "group 'a' needs 1 rank of node 1, and 0 are free"));
    assert_string_equal(assign("one-a-node/rest", &err), "aaabbb");
    assert_string_equal(assign("1-a-node 1-2/3", &err), "baabb-");
    assert_string_equal(assign("1/nodes 0,2", &err), "babb-b");
    assert_non_null(strstr(assign("4/3", &err), "group 'b' needs 3 ranks, and 2 of the 6 that were started are free"));
    assert_non_null(strstr(assign("6/rest", &err), "group 'b' needs 1 rank, and 0 of the 6"));
    assert_non_null(strstr(assign("list 6", &err), "group 'a': there is no rank 6: 6 ranks were started, the last one is 5"));
    assert_non_null(strstr(assign("list 0-1/list 1", &err), "rank 1 is in group 'a' and in group 'b'"));
    assert_non_null(strstr(assign("nodes 3", &err), "there is no node 3: the ranks are on 3 nodes, the last one is 2"));
    assert_non_null(strstr(assign("3-a-node", &err), "group 'a' needs 3 ranks of node 0, and 2 are free"));
}

/* ---- work over time ---- */

static void test_work_between_two_times_is_interpolated(void **state)
{
    struct weir_worklog s = { 0 };
    struct weir_work w;

    (void)state;
    weir_worklog_begin(&s, 1000000000);
    weir_worklog_add(&s, 1100000000, 100, 10);
    weir_worklog_add(&s, 1200000000, 400, 40);
    assert_true(weir_worklog_end(&s, 0) == 1200000000);
    w = weir_worklog_work(&s, 0, 1050000000, 1150000000);
    assert_true(w.bytes == 200 && w.operations == 20 && w.all_bytes == 400 && w.all_operations == 40);
    w = weir_worklog_work(&s, 0, 0, INT64_MAX);
    assert_true(w.bytes == 400);
    w = weir_worklog_work(&s, 0, 1300000000, 1400000000);
    assert_true(w.bytes == 0);
    w = weir_worklog_work(&s, 0, 1150000000, 1050000000); /* there was no time */
    assert_true(w.bytes == 0);
    assert_true(weir_worklog_share(&s, 0, 1050000000, 1150000000) == 0.5);
    assert_true(weir_worklog_share(&s, 0, 0, INT64_MAX) == 1);
    assert_true(weir_worklog_share(&s, 0, 1200000000, 1300000000) == 0);
    weir_worklog_begin(&s, 1300000000); /* a phase that took no time */
    assert_true(weir_worklog_share(&s, 1, 0, INT64_MAX) == 1 && weir_worklog_share(&s, 1, 0, 1) == 0);
    weir_worklog_free(&s);
}

static void test_a_long_phase_keeps_few_samples_and_its_end(void **state)
{
    struct weir_worklog s = { 0 };
    struct weir_work w;

    (void)state;
    weir_worklog_begin(&s, 0);
    for (int64_t i = 1; i <= 20000; i++)
        weir_worklog_add(&s, i * 50000000, (uint64_t)i, (uint64_t)i);
    assert_true(s.phase[0].n <= WEIR_WORKLOG_SAMPLES && weir_worklog_end(&s, 0) == INT64_C(1000000000000));
    w = weir_worklog_work(&s, 0, INT64_C(250000000000), INT64_C(500000000000));
    assert_true(w.bytes >= 4999 && w.bytes <= 5001 && w.all_bytes == 20000);
    weir_worklog_free(&s);
}

/* ---- slowdowns ---- */

static void add(struct mix_rates *all, int with, int repetition, const char *operation, double amount, double seconds,
                double p99)
{
    struct mix_rate r = { .group = 1, .with = with, .repetition = repetition, .bytes = 1, .amount = amount,
                          .seconds = seconds, .whole_seconds = 2 * seconds, .p99 = p99, .operations = amount / 50 };

    snprintf(r.operation, sizeof(r.operation), "%s", operation);
    assert_int_equal(mix_rates_add(all, &r, 1), 0);
}

static void test_a_slowdown_is_the_median_of_those_of_the_repetitions(void **state)
{
    struct mix_rates all = { 0 };
    struct mix_row row;

    (void)state;
    for (int i = 0; i < 7; i++) {
        add(&all, MIX_ALONE, i, "write", 100 * (i + 1), 1, 0.5);
        add(&all, MIX_ALL, i, "write", 100 * (i + 1), i == 3 ? 30 : 2 + i / 10.0, 2);
    }
    row = mix_rates_row(&all, 1, MIX_ALL, "write", 7);
    assert_true(row.bytes && row.slowdown.n == 7);
    assert_true(fabs(row.alone.median - 400) < 1e-9 && fabs(row.slowdown.median - 2.4) < 1e-9);
    assert_true(fabs(row.slowdown.low - 2) < 1e-9 && fabs(row.slowdown.high - 30) < 1e-9);
    assert_true(row.slowdown.min_ops == 2 && !mix_center_is_rough(&row.slowdown));
    row.slowdown.min_ops = 1; /* single operations */
    assert_true(mix_center_is_rough(&row.slowdown));
    assert_true(row.p99_slowdown.median == 4 && row.shared == 0.5);
    row = mix_rates_row(&all, 1, MIX_ALL, "write", 3);
    assert_true(mix_center_is_rough(&row.slowdown) && isnan(row.slowdown.low) && fabs(row.slowdown.median - 2.1) < 1e-9);
    row = mix_rates_row(&all, 1, 0, "write", 7);
    assert_true(isnan(row.slowdown.median) && isnan(row.shared) && row.together.n == 0);
    free(all.rate);
}

static void test_what_was_not_done_while_all_ran_has_no_slowdown(void **state)
{
    struct mix_rates all = { 0 };

    (void)state;
    add(&all, MIX_ALONE, 0, "write", 100, 1, NAN);
    add(&all, MIX_ALL, 0, "write", 0, 0, NAN);
    assert_true(isnan(mix_rates_row(&all, 1, MIX_ALL, "write", 1).slowdown.median));
    assert_true(isnan(mix_rates_group(&all, 1, MIX_ALL, 1).median));
    free(all.rate);
}

/* 100 at 100/s and 300 at 50/s take 7 s alone; together they took 2 s and 12 s. */
static void test_the_slowdown_of_a_group_is_that_of_the_time_of_its_work(void **state)
{
    struct mix_rates all = { 0 };

    (void)state;
    add(&all, MIX_ALONE, 0, "write", 1000, 10, NAN);
    add(&all, MIX_ALONE, 0, "read", 50, 1, NAN);
    add(&all, 0, 0, "write", 100, 2, NAN);
    add(&all, 0, 0, "read", 300, 12, NAN);
    assert_true(mix_rates_group(&all, 1, 0, 1).median == 2 && mix_rates_group(&all, 1, 0, 1).min_ops == 3);
    free(all.rate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_plan_has_groups_with_ranks_words_and_a_start),
        cmocka_unit_test(test_a_wrong_plan_is_refused_with_its_line_and_what_would_be_right),
        cmocka_unit_test(test_ranks_are_given_by_lists_nodes_numbers_and_the_rest),
        cmocka_unit_test(test_work_between_two_times_is_interpolated),
        cmocka_unit_test(test_a_long_phase_keeps_few_samples_and_its_end),
        cmocka_unit_test(test_a_slowdown_is_the_median_of_those_of_the_repetitions),
        cmocka_unit_test(test_what_was_not_done_while_all_ran_has_no_slowdown),
        cmocka_unit_test(test_the_slowdown_of_a_group_is_that_of_the_time_of_its_work),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
