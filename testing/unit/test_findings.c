/* SPDX-License-Identifier: BSD-3-Clause */
/* test_findings.c - each rule with inputs that make a finding and inputs that do not; limits, rule sets,
 * verdicts, and the statistics of series */
#include "engine/check/rules.h"
#include "engine/options.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/node/environment.h"
#include "base/stats.h"

/* Inputs of a sound test: one written and one read phase of a minute, six steady repetitions. */
static struct weir_inputs sound_facts(void)
{
    static const double rates[] = { 100e6, 101e6, 99e6, 100.5e6, 99.5e6, 100.2e6 };
    struct weir_inputs f;

    weir_inputs_init(&f);
    f.tasks = 8;
    f.nodes = f.mpi_nodes = f.kernels = 2;
    f.per_node_max = 4;
    f.memory = 1e9;
    f.cores = f.tasks_per_core = 1;
    f.others_cpu = f.others = f.others_share = 0;
    f.found.full = f.found.full_inodes = 0.5;
    f.memcpy_rate = 10e9;
    f.resolution_s = 1e-8;
    f.missing.n = 0;
    f.durable = 1;
    f.direct = f.random = f.own_metadata = f.collective = f.other_layout = f.foreign = f.found.apart = 0;
    f.shared = 1;
    f.transfer = 1 << 20;
    f.own_node = f.unread = f.repeats = f.retries = 0;
    f.data_kind = WEIR_DATA_RANDOM;
    f.allocated = f.written = 1;
    f.repetitions = 12;
    for (int i = 0; i < 2; i++) {
        struct weir_inputs_phase *p = weir_inputs_phase_of(&f, i ? "read" : "write");

        p->moves = i ? WEIR_MOVES_IN : WEIR_MOVES_OUT;
        p->shortest_s = p->busy_s = 400;
        p->bytes = 400e9;
        p->rate = 1e9;
        p->cached = p->dirty = p->left = p->tail = p->ends = p->cpu = p->data = p->clock = p->unsteady = 0;
        p->past_steady = 1;
        p->rate_missed = 0;
        p->asked = p->reached = 400e9;
        p->n = 12;
        p->nrates = 6;
        memcpy(p->rates, rates, sizeof(rates));
    }
    return f;
}

static const struct weir_finding *find(const struct weir_finding *list, int n, const char *id)
{
    for (int i = 0; i < n; i++)
        if (strcmp(list[i].rule->id, id) == 0)
            return &list[i];
    return NULL;
}

static enum weir_severity found(const struct weir_inputs *f, enum weir_rule_set set, const char *id)
{
    struct weir_finding list[WEIR_RULES];
    int n = weir_findings_judge(f, set, NULL, list);
    const struct weir_finding *one = find(list, n, id);

    return one && one->outcome == WEIR_FOUND ? one->severity : WEIR_SOUND;
}

static enum weir_judgement outcome(const struct weir_inputs *f, const char *id)
{
    struct weir_finding list[WEIR_RULES];
    int n = weir_findings_judge(f, WEIR_RULES_DEFAULT, NULL, list);

    return find(list, n, id)->outcome;
}

/* ---- each rule ---- */

#define WRITTEN (&f->phase[0])
#define READ (&f->phase[1])
#define SPOILER(name, statement)                                                                   \
    static void name(struct weir_inputs *f)                                                         \
    {                                                                                              \
        statement;                                                                                 \
    }

SPOILER(short_phase, WRITTEN->shortest_s = 0.5)
SPOILER(little_data, WRITTEN->bytes = READ->bytes = 1e6)
SPOILER(cached, READ->cached = 0.97)
SPOILER(no_device, (READ->cached = NAN, READ->reached = 1e9))
SPOILER(dirty, WRITTEN->dirty = 0.5)
SPOILER(not_durable, f->durable = 0)
SPOILER(own_node, f->own_node = 0.25)
SPOILER(unread, f->unread = 0.3)
SPOILER(uneven, f->uneven = true)
SPOILER(no_distance, (f->distance = 0, f->own_node = 0.5))
SPOILER(corrected_distance, f->distance = 0)
SPOILER(too_fast, READ->rate = 100e9)
SPOILER(random_faster, (f->random = 1, f->sequential_rate = 0.5e9))
SPOILER(repeats, f->repeats = 0.36)
SPOILER(joined_writes, (f->random = 1, WRITTEN->joined = 114))
SPOILER(other_kernels, (f->kernels = 4, f->differs = true))
SPOILER(repeated_data, f->data_kind = WEIR_DATA_REPEATED)
SPOILER(asked_ratio, (f->ratio = (struct weir_ratio) { 2500, 3000 }, f->compresses = "compress=lzo"))
SPOILER(mount_compresses, f->compresses = "compress=lzo")
SPOILER(compressed, f->compressed = 0.3)
SPOILER(filtered, f->filtered = 0.2)
SPOILER(little_stored, (WRITTEN->reached = 0.3 * WRITTEN->asked, f->data_kind = WEIR_DATA_UNKNOWN))
SPOILER(sparse, f->allocated = 0.5)
SPOILER(holes, f->written = 0.5)
SPOILER(cold_and_no_device, (READ->cached = 0, READ->reached = 1e9))
SPOILER(once, WRITTEN->n = 1)
/* Three repetitions with this range. */
static void scatter(struct weir_inputs *f, double percent)
{
    READ->rates[0] = (100 - percent / 2) * 1e6;
    READ->rates[1] = (100 + percent / 2) * 1e6;
    READ->rates[2] = 100e6;
    READ->n = WRITTEN->n = READ->nrates = WRITTEN->nrates = 3;
}

SPOILER(apart_by_20, scatter(f, 20))
SPOILER(apart_by_30, scatter(f, 30))
SPOILER(two_apart_by_30, (scatter(f, 30), READ->n = READ->nrates = 2))
SPOILER(wide, (READ->rates[0] = READ->rates[2] = 60e6, READ->rates[1] = 140e6))
SPOILER(drift, for (int i = 0; i < 6; i++) READ->rates[i] = (100 + 10 * i) * 1e6)
SPOILER(groups, for (int i = 0; i < 6; i++) READ->rates[i] = (i % 2 ? 100 + i : 200 + i) * 1e6)
SPOILER(cold_start, READ->rates[0] = 50e6)
SPOILER(stragglers, READ->tail = 0.4)
SPOILER(slow_open, READ->ends = 0.5)
SPOILER(busy, READ->cpu = 0.9)
SPOILER(checking, READ->data = 0.9)
SPOILER(crowded, f->tasks_per_core = 2)
SPOILER(bad_clock, READ->clock = 0.05)
SPOILER(apart, f->found.apart = 1)
SPOILER(full, f->found.full_inodes = 0.95)
SPOILER(busy_processors, f->others_cpu = 0.26)
SPOILER(busy_device, (f->others = 1e9, f->others_share = 0.26))
SPOILER(not_direct, (f->direct = 1, READ->left = 0.9))
SPOILER(retries, f->retries = 1)
SPOILER(not_collective, (f->collective = 1, f->independent = 1))
SPOILER(layout, f->other_layout = 1)
SPOILER(foreign, f->foreign = 1)
SPOILER(unsteady, READ->unsteady = 0.3)
SPOILER(never_steady, READ->past_steady = 1.01)
SPOILER(missing, f->missing.n = 3)
SPOILER(few_operations, READ->busy_s = 1e-6)
SPOILER(own_items, f->own_metadata = 1)

/* Of objects, that are read once and are larger than the memory of the servers. */
static void make_objects(struct weir_inputs *f)
{
    f->objects = true;
    f->service = (struct weir_inputs_service) { .sent = 1e4, .working_set = 400e9, .reread = 1, .of_others = 1, .stale = 0,
                                                .endpoints = 4, .connections = 8, .depth = 8, .memory = 100e9 };
}

SPOILER(few_sent_again, (make_objects(f), f->service.refused = 60, f->service.lost = 40))
SPOILER(many_sent_again, (make_objects(f), f->service.refused = 60, f->service.lost = 41))
SPOILER(read_twice, (make_objects(f), f->service.reread = 2, f->service.memory = 500e9))
SPOILER(large_read_twice, (make_objects(f), f->service.reread = 2))
SPOILER(servers_have_all, (make_objects(f), f->service.memory = 500e9))
SPOILER(one_endpoint, (make_objects(f), f->service.endpoints = 1))
SPOILER(one_connection, (make_objects(f), f->service.connections = 1))
SPOILER(in_compatibility_mode, f->indirect = 1)
SPOILER(stale, (make_objects(f), f->service.stale = 3))
SPOILER(missed_rate, (WRITTEN->rate_missed = 0.1, WRITTEN->at.asked = 500))

static const struct {
    const char *id;
    void (*spoil)(struct weir_inputs *);
    enum weir_severity is[WEIR_RULE_SETS];
} cases[] = {
#define IS(d, j, i, s) IS5(d, j, i, s, d)
#define IS5(d, j, i, s, m) { WEIR_##d, WEIR_##j, WEIR_##i, WEIR_##s, WEIR_##m }
    { "H01", short_phase, IS(NOTE, INVALID, INVALID, SOUND) },
    { "H02", little_data, IS5(SUSPECT, INVALID, SOUND, SOUND, INVALID) },
    { "H03", cached, IS5(SUSPECT, INVALID, INVALID, SUSPECT, INVALID) },
    { "H04", no_device, IS(NOTE, NOTE, NOTE, NOTE) },
    { "H04", cold_and_no_device, IS(SUSPECT, SUSPECT, SUSPECT, SUSPECT) },
    { "H05", dirty, IS5(SUSPECT, INVALID, INVALID, SUSPECT, INVALID) },
    { "H06", not_durable, IS5(SUSPECT, SUSPECT, INVALID, SUSPECT, INVALID) },
    { "H07", own_node, IS5(SUSPECT, INVALID, INVALID, SOUND, SOUND) },
    { "H08", unread, IS(NOTE, SUSPECT, INVALID, SOUND) },
    { "H09", uneven, IS(SUSPECT, INVALID, INVALID, SOUND) },
    { "H09", no_distance, IS(SUSPECT, INVALID, INVALID, SOUND) },
    { "H09", corrected_distance, IS(NOTE, NOTE, NOTE, SOUND) },
    { "H10", too_fast, IS(SUSPECT, SUSPECT, SUSPECT, SUSPECT) },
    { "H11", random_faster, IS(SUSPECT, SUSPECT, SUSPECT, SUSPECT) },
    { "H12", repeats, IS(NOTE, SUSPECT, INVALID, SUSPECT) },
    { "H13", repeated_data, IS(NOTE, NOTE, INVALID, SUSPECT) },
    { "H13", asked_ratio, IS(NOTE, NOTE, INVALID, SUSPECT) },
    { "H13", mount_compresses, IS(SUSPECT, SUSPECT, INVALID, SUSPECT) },
    { "H13", compressed, IS(SUSPECT, SUSPECT, INVALID, SUSPECT) },
    { "H13", filtered, IS(SUSPECT, SUSPECT, INVALID, SUSPECT) },
    { "H13", little_stored, IS(SUSPECT, SUSPECT, INVALID, SUSPECT) },
    { "H14", sparse, IS(SUSPECT, SUSPECT, INVALID, SUSPECT) },
    { "H14", holes, IS(SUSPECT, SUSPECT, INVALID, SUSPECT) },
    { "H15", once, IS5(NOTE, INVALID, SOUND, SOUND, INVALID) },
    { "H15", apart_by_20, IS5(NOTE, NOTE, SOUND, SOUND, INVALID) },
    { "H15", apart_by_30, IS5(SUSPECT, SUSPECT, SOUND, SOUND, INVALID) },
    { "H15", two_apart_by_30, IS5(SUSPECT, INVALID, SOUND, SOUND, INVALID) },
    { "H15", wide, IS5(NOTE, SOUND, SOUND, SOUND, SOUND) },
    { "H16", drift, IS(SUSPECT, SUSPECT, SUSPECT, SUSPECT) },
    { "H16", groups, IS(SUSPECT, SUSPECT, SUSPECT, SUSPECT) },
    { "H17", unsteady, IS(NOTE, NOTE, NOTE, INVALID) },
    { "H18", cold_start, IS(NOTE, NOTE, NOTE, NOTE) },
    { "H19", stragglers, IS(SUSPECT, SUSPECT, NOTE, SUSPECT) },
    { "H20", slow_open, IS(NOTE, NOTE, NOTE, NOTE) },
    { "H21", busy, IS(SUSPECT, SUSPECT, SUSPECT, SUSPECT) },
    { "H21", checking, IS(SUSPECT, SUSPECT, SUSPECT, SUSPECT) },
    { "H22", crowded, IS(SUSPECT, SUSPECT, SUSPECT, SUSPECT) },
    { "H23", bad_clock, IS(SUSPECT, SUSPECT, SUSPECT, SUSPECT) },
    { "H24", apart, IS(INVALID, INVALID, INVALID, SOUND) },
    { "H25", full, IS(NOTE, NOTE, NOTE, NOTE) },
    { "H26", busy_processors, IS(SUSPECT, SUSPECT, SUSPECT, SUSPECT) },
    { "H26", busy_device, IS(SUSPECT, SUSPECT, SUSPECT, SUSPECT) },
    { "H27", not_direct, IS(SUSPECT, INVALID, SUSPECT, INVALID) },
    { "H28", retries, IS(NOTE, NOTE, NOTE, NOTE) },
    { "H29", not_collective, IS(SUSPECT, SUSPECT, SUSPECT, SOUND) },
    { "H30", layout, IS(SUSPECT, SUSPECT, SUSPECT, SOUND) },
    { "H31", foreign, IS(NOTE, SUSPECT, INVALID, SOUND) },
    { "H32", joined_writes, IS(SUSPECT, SUSPECT, NOTE, SUSPECT) },
    { "H33", missing, IS(NOTE, NOTE, NOTE, NOTE) },
    { "H34", few_operations, IS(NOTE, NOTE, NOTE, NOTE) },
    { "H35", own_items, IS(SUSPECT, SUSPECT, INVALID, SOUND) },
    { "H36", other_kernels, IS(SUSPECT, SUSPECT, SUSPECT, SUSPECT) },
    { "H37", missed_rate, IS(SUSPECT, SUSPECT, SUSPECT, SUSPECT) },
    { "H38", never_steady, IS(SUSPECT, SUSPECT, NOTE, INVALID) },
    { "H28", few_sent_again, IS(NOTE, NOTE, NOTE, NOTE) },
    { "H28", many_sent_again, IS(SUSPECT, SUSPECT, SUSPECT, SUSPECT) },
    { "H39", read_twice, IS5(SUSPECT, SUSPECT, INVALID, SUSPECT, NOTE) },
    { "H39", large_read_twice, IS(NOTE, NOTE, NOTE, NOTE) },
    { "H40", servers_have_all, IS(SUSPECT, SUSPECT, SUSPECT, SUSPECT) },
    { "H41", one_endpoint, IS(NOTE, NOTE, NOTE, NOTE) },
    { "H42", one_connection, IS(NOTE, NOTE, NOTE, NOTE) },
    { "H43", stale, IS5(SUSPECT, INVALID, INVALID, SUSPECT, INVALID) },
    { "H44", in_compatibility_mode, IS(SUSPECT, SUSPECT, SUSPECT, SUSPECT) },
};

static void a_sound_test_has_no_finding(void **state)
{
    struct weir_inputs f = sound_facts();
    struct weir_finding list[WEIR_RULES];

    (void)state;
    for (int set = 0; set < WEIR_RULE_SETS; set++) {
        int n = weir_findings_judge(&f, (enum weir_rule_set)set, NULL, list);

        for (int i = 0; i < n; i++)
            if (list[i].outcome == WEIR_FOUND)
                fail_msg("%s by %s: %s", list[i].rule->id, weir_rule_sets[set], list[i].text);
    }
}

static void each_rule_finds_what_it_is_for(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        for (int set = 0; set < WEIR_RULE_SETS; set++) {
            struct weir_inputs f = sound_facts();

            cases[i].spoil(&f);
            if (found(&f, (enum weir_rule_set)set, cases[i].id) != cases[i].is[set])
                fail_msg("case %d, %s by %s", (int)i, cases[i].id, weir_rule_sets[set]);
        }
}

static void what_is_found_has_other_words_than_what_is_fine(void **state)
{
    struct weir_finding sound[WEIR_RULES], list[WEIR_RULES];
    const struct weir_inputs fine = sound_facts();

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        for (int set = 0; set < WEIR_RULE_SETS; set++) {
            struct weir_inputs f = sound_facts();
            int n = weir_findings_judge(&fine, (enum weir_rule_set)set, NULL, sound);

            cases[i].spoil(&f);
            weir_findings_judge(&f, (enum weir_rule_set)set, NULL, list);
            for (int k = 0; k < n; k++)
                if (list[k].outcome == WEIR_FOUND && sound[k].outcome == WEIR_FINE &&
                    strcmp(list[k].text, sound[k].text) == 0)
                    fail_msg("%s: '%s'", list[k].rule->id, list[k].text);
        }
}

static void a_finding_has_few_words_for_the_line(void **state)
{
    struct weir_finding list[WEIR_RULES];
    char words[64];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct weir_inputs f = sound_facts();
        int n;

        cases[i].spoil(&f);
        n = weir_findings_judge(&f, WEIR_RULES_JUPITER, NULL, list);
        for (int k = 0; k < n; k++)
            if (list[k].outcome == WEIR_FOUND && !list[k].rule->data_only &&
                snprintf(words, sizeof(words), list[k].brief, list[k].value) > 32)
                fail_msg("%s: '%s'", list[k].rule->id, words);
    }
}

static void what_is_not_known_is_not_judged(void **state)
{
    struct weir_finding list[WEIR_RULES];
    struct weir_inputs f;
    int n;

    (void)state;
    weir_inputs_init(&f);
    f.tasks = f.nodes = f.per_node_max = 1;
    n = weir_findings_judge(&f, WEIR_RULES_DEFAULT, NULL, list);
    assert_non_null(weir_rule_at(n - 1));
    assert_null(weir_rule_at(n));
    for (int i = 0; i < n; i++) {
        if (list[i].outcome == WEIR_FOUND)
            fail_msg("%s: %s", list[i].rule->id, list[i].text);
        if (list[i].outcome == WEIR_NOT_JUDGED && strncmp(list[i].text, "because ", 8) != 0)
            fail_msg("%s: '%s'", list[i].rule->id, list[i].text);
        assert_true(isnan(list[i].value) || list[i].outcome == WEIR_FINE);
    }
    f = sound_facts();
    f.phase[1].cached = NAN;
    f.cache_why = "nobody looked";
    n = weir_findings_judge(&f, WEIR_RULES_DEFAULT, NULL, list);
    assert_string_equal(find(list, n, "H03")->text, "because nobody looked");
}

static void what_a_file_system_in_memory_keeps_is_never_on_storage(void **state)
{
    struct weir_inputs f = sound_facts();
    struct weir_finding list[WEIR_RULES];
    int n;

    (void)state;
    f.file_system = "tmpfs"; /* where the kernel counts no page as dirty */
    f.phase[1].cached = 1;
    n = weir_findings_judge(&f, WEIR_RULES_DEFAULT, NULL, list);
    assert_int_equal(find(list, n, "H05")->outcome, WEIR_FOUND);
    assert_non_null(strstr(find(list, n, "H05")->text, "tmpfs is a file system in memory"));
    assert_non_null(strstr(find(list, n, "H03")->text, "page cache (tmpfs is memory)"));
}

static void special_cases_have_their_severity(void **state)
{
    struct weir_inputs f = sound_facts();

    (void)state;
    f.phase[1].shortest_s = 0.01;
    assert_int_equal(found(&f, WEIR_RULES_DEFAULT, "H01"), WEIR_SUSPECT);
    assert_int_equal(found(&f, WEIR_RULES_IO500, "H01"), WEIR_SOUND); /* a read phase */
    f.phase[1].moves = WEIR_MOVES_NOTHING;
    f.phase[1].makes = true;
    assert_int_equal(found(&f, WEIR_RULES_IO500, "H01"), WEIR_INVALID); /* items are made */
    f = sound_facts();
    f.peak = 0.5e9;
    assert_int_equal(found(&f, WEIR_RULES_DEFAULT, "H10"), WEIR_INVALID);
    f.peak = 2e9;
    assert_int_equal(found(&f, WEIR_RULES_DEFAULT, "H10"), WEIR_SOUND);
    f = sound_facts();
    f.found.apart = 1;
    f.shared = 0;
    assert_int_equal(found(&f, WEIR_RULES_DEFAULT, "H24"), WEIR_SUSPECT);
    f = sound_facts();
    scatter(&f, 9);
    assert_int_equal(outcome(&f, "H15"), WEIR_FINE);
    f = sound_facts();
    f.nodes = f.mpi_nodes = 1;
    f.own_node = 1;
    assert_int_equal(outcome(&f, "H07"), WEIR_NOT_JUDGED);
    assert_int_equal(found(&f, WEIR_RULES_JUPITER, "H07"), WEIR_SOUND);
    assert_int_equal(found(&f, WEIR_RULES_IO500, "H07"), WEIR_INVALID);
    f.mpi_nodes = 2;
    assert_int_equal(found(&f, WEIR_RULES_JUPITER, "H07"), WEIR_INVALID);
    f = sound_facts();
    f.phase[0].bytes = f.phase[1].bytes = 1e6;
    f.direct = 1;
    assert_int_equal(found(&f, WEIR_RULES_DEFAULT, "H02"), WEIR_SOUND);
    assert_int_equal(found(&f, WEIR_RULES_JUPITER, "H02"), WEIR_INVALID);
    f.direct = 0;
    assert_int_equal(found(&f, WEIR_RULES_DEFAULT, "H02"), WEIR_SUSPECT);
    f.phases = 1; /* nothing is read */
    assert_int_equal(outcome(&f, "H02"), WEIR_NOT_JUDGED);
    assert_int_equal(found(&f, WEIR_RULES_JUPITER, "H02"), WEIR_INVALID);
    f.durable = 0;
    assert_int_equal(found(&f, WEIR_RULES_DEFAULT, "H02"), WEIR_SUSPECT);
    f = sound_facts();
    f.direct = 1;
    f.phase[1].cached = NAN;
    assert_int_equal(outcome(&f, "H03"), WEIR_NOT_JUDGED);
    f = sound_facts();
    f.phase[0].unsteady = f.phase[1].unsteady = 0.3;
    f.phase[0].shortest_s = f.phase[1].shortest_s = 9; /* too short for all but SNIA */
    assert_int_equal(outcome(&f, "H17"), WEIR_NOT_JUDGED);
    assert_int_equal(found(&f, WEIR_RULES_SNIA, "H17"), WEIR_INVALID);
}

static const char *text_of(const struct weir_inputs *f, const char *id)
{
    static struct weir_finding list[WEIR_RULES];
    int n = weir_findings_judge(f, WEIR_RULES_DEFAULT, NULL, list);

    return find(list, n, id)->text;
}

static void few_data_of_another_node_can_be_in_a_cache_of_the_storage_only(void **state)
{
    struct weir_inputs f = sound_facts();

    (void)state;
    assert_null(strstr(text_of(&f, "H02"), "another node"));
    f.phase[0].bytes = f.phase[1].bytes = 1e6;
    assert_non_null(strstr(text_of(&f, "H02"), "memory size; another node wrote what it read, and its page "
                                               "cache did not have it, but a cache of the storage may"));
    f.phase[1].cached = NAN;
    assert_non_null(strstr(text_of(&f, "H02"), "memory size; another node wrote what it read, but a cache of "
                                               "the storage may have it"));
    f.phase[1].cached = 0.5;
    assert_null(strstr(text_of(&f, "H02"), "another node"));
    f.phase[1].cached = 0;
    f.own_node = 0.5;
    assert_null(strstr(text_of(&f, "H02"), "another node"));
}

static void a_page_cache_past_which_data_move_is_not_judged(void **state)
{
    struct weir_inputs f = sound_facts();

    (void)state;
    f.phase[0].bytes = f.phase[1].bytes = 1e6;
    f.durable = 0;
    f.intercepted = true;
    f.cache_why = WEIR_INTERCEPTED;
    f.phase[0].dirty = f.phase[1].dirty = f.phase[1].cached = NAN;
    assert_int_equal(outcome(&f, "H02"), WEIR_NOT_JUDGED);
    assert_int_equal(outcome(&f, "H03"), WEIR_NOT_JUDGED);
    assert_int_equal(outcome(&f, "H05"), WEIR_NOT_JUDGED);
    assert_int_equal(found(&f, WEIR_RULES_JUPITER, "H02"), WEIR_INVALID); /* by bytes, not memory */
    assert_int_equal(found(&f, WEIR_RULES_DEFAULT, "H06"), WEIR_SUSPECT);
}

static void a_page_cache_that_is_seen_in_part_is_never_fine(void **state)
{
    struct weir_inputs f = sound_facts();

    (void)state;
    f.cache_hides = "another cache is below";
    assert_int_equal(outcome(&f, "H03"), WEIR_NOT_JUDGED);
    assert_int_equal(outcome(&f, "H05"), WEIR_NOT_JUDGED);
    assert_int_equal(outcome(&f, "H27"), WEIR_FINE); /* nobody asked for direct I/O */
    f.direct = 1;
    assert_int_equal(outcome(&f, "H27"), WEIR_NOT_JUDGED);
    f.phase[0].dirty = f.phase[1].cached = f.phase[1].left = 0.9;
    assert_int_equal(outcome(&f, "H03"), WEIR_FOUND);
    assert_int_equal(outcome(&f, "H05"), WEIR_FOUND);
    assert_int_equal(outcome(&f, "H27"), WEIR_FOUND);
}

static void bytes_that_no_device_moved_are_a_note_where_memory_had_them(void **state)
{
    struct weir_inputs f = sound_facts();

    (void)state;
    f.phase[1].reached = 0;
    f.phase[1].cached = 1;
    assert_int_equal(found(&f, WEIR_RULES_DEFAULT, "H04"), WEIR_NOTE);
    f = sound_facts();
    f.phase[0].reached = 0;
    f.durable = 0;
    assert_int_equal(found(&f, WEIR_RULES_DEFAULT, "H04"), WEIR_NOTE);
    f.durable = 1;
    assert_int_equal(found(&f, WEIR_RULES_DEFAULT, "H04"), WEIR_SUSPECT);
    f.phase[0].reached = 0.6 * f.phase[0].asked;
    assert_int_equal(found(&f, WEIR_RULES_DEFAULT, "H04"), WEIR_NOTE);
}

/* What is about the memory of nodes has a reason why it is not judged. */
static void objects_of_a_service_have_rules_of_their_own(void **state)
{
    static const char *const new[] = { "H39", "H40", "H41", "H42", "H43" };
    struct weir_inputs f = sound_facts();
    struct weir_finding list[WEIR_RULES];
    int n;

    (void)state;
    for (size_t i = 0; i < sizeof(new) / sizeof(*new); i++)
        assert_int_equal(outcome(&f, new[i]), WEIR_NOT_JUDGED);
    assert_int_equal(outcome(&f, "H28"), WEIR_FINE);
    make_objects(&f);
    f.cache_why = WEIR_OBJECTS;
    f.phase[1].cached = f.phase[0].dirty = f.phase[1].dirty = NAN;
    f.durable = 0;
    f.found.apart = 1; /* by a look at names of the system, of which they have none */
    f.phase[0].bytes = f.phase[1].bytes = 1e6;
    f.own_node = f.own_metadata = 1;
    n = weir_findings_judge(&f, WEIR_RULES_DEFAULT, NULL, list);
    for (size_t i = 0; i < sizeof(new) / sizeof(*new); i++)
        assert_int_equal(find(list, n, new[i])->outcome, WEIR_FINE);
    assert_int_equal(find(list, n, "H06")->outcome, WEIR_FINE);
    assert_int_equal(find(list, n, "H24")->outcome, WEIR_FINE);
    assert_int_equal(find(list, n, "H28")->outcome, WEIR_FINE);
    assert_string_equal(find(list, n, "H28")->unit, "% of the requests");
    assert_string_equal(find(list, n, "H02")->text, "because " WEIR_OBJECTS);
    assert_string_equal(find(list, n, "H03")->text, "because " WEIR_OBJECTS);
    assert_string_equal(find(list, n, "H05")->text, "because " WEIR_OBJECTS);
    assert_string_equal(find(list, n, "H07")->text, "because " WEIR_OBJECTS);
    assert_string_equal(find(list, n, "H35")->text, "because " WEIR_OBJECTS);
    f.service.memory = f.service.reread = f.service.stale = NAN;
    f.service.endpoints = f.service.connections = 0;
    f.service.memory_option = "--s3.server-memory";
    n = weir_findings_judge(&f, WEIR_RULES_DEFAULT, NULL, list);
    for (size_t i = 0; i < sizeof(new) / sizeof(*new); i++)
        assert_int_equal(find(list, n, new[i])->outcome, WEIR_NOT_JUDGED);
    assert_non_null(strstr(find(list, n, "H40")->text, "give --s3.server-memory"));
}

static void requests_that_were_sent_again_are_counted_in_words(void **state)
{
    struct weir_inputs f = sound_facts();
    struct weir_finding list[WEIR_RULES];
    const struct weir_finding *one;

    (void)state;
    many_sent_again(&f);
    one = find(list, weir_findings_judge(&f, WEIR_RULES_DEFAULT, NULL, list), "H28");
    assert_string_equal(one->text, "101 of 10000 requests (1 %) were retried: the service asked for 60 retries, and 41 "
                                   "requests lost their connection or timed out");
    assert_true(fabs(one->value - 1.01) < 1e-9);
}

static void the_bound_of_a_rate_is_named(void **state)
{
    struct weir_inputs f = sound_facts();
    struct weir_finding list[WEIR_RULES];
    int n = weir_findings_judge(&f, WEIR_RULES_DEFAULT, NULL, list);

    (void)state;
    assert_non_null(strstr(find(list, n, "H10")->text, "what memory can do"));
    f.on_network = true; /* with links of unknown speed */
    n = weir_findings_judge(&f, WEIR_RULES_DEFAULT, NULL, list);
    assert_int_equal(find(list, n, "H10")->outcome, WEIR_FINE);
    assert_non_null(strstr(find(list, n, "H10")->text, "links is not known"));
    f.link_rate = 0.1e9;
    n = weir_findings_judge(&f, WEIR_RULES_DEFAULT, NULL, list);
    assert_int_equal(find(list, n, "H10")->outcome, WEIR_FOUND);
    assert_non_null(strstr(find(list, n, "H10")->text, "what the links of the nodes can do"));
}

/* ---- limits ---- */

static void limits_change_one_rule(void **state)
{
    struct weir_inputs f = sound_facts();
    struct weir_finding list[WEIR_RULES];
    struct weir_limits limits;
    const struct weir_finding *one;
    int n;

    (void)state;
    assert_int_equal(weir_limits_parse(&limits, "h01:500,H25:40", NULL), 0);
    n = weir_findings_judge(&f, WEIR_RULES_DEFAULT, &limits, list);
    one = find(list, n, "H01");
    assert_true(one->outcome == WEIR_FOUND && one->severity == WEIR_NOTE && one->limit == 500);
    one = find(list, n, "H25");
    assert_true(one->outcome == WEIR_FOUND && one->value == 50 && one->limit == 40);
    assert_int_equal(find(list, n, "H02")->outcome, WEIR_FINE);
}

static void wrong_limits_are_refused(void **state)
{
    static const char *const wrong[] = { "H01",    "H01:",   "H01:x",   "H99:1", "H99:1",
                                         "H01:-1", "H01:1x", "H01:nan", "1:1",   "H01:1,,H02:1" };
    struct weir_limits limits;

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        struct weir_err err = WEIR_ERR_INIT;

        if (weir_limits_parse(&limits, wrong[i], &err) == 0)
            fail_msg("'%s' passed", wrong[i]);
        assert_int_equal(err.code, WEIR_EUSAGE);
    }
    assert_int_equal(weir_limits_parse(&limits, NULL, NULL), 0);
    assert_true(isnan(limits.limit[0]));
}

static void rule_sets_have_names(void **state)
{
    struct weir_finding list[WEIR_RULES];
    struct weir_inputs f = sound_facts();

    (void)state;
    assert_int_equal(weir_opt_choice(weir_rule_sets, "IO500"), WEIR_RULES_IO500);
    assert_int_equal(weir_opt_choice(weir_rule_sets, "none"), WEIR_RULES_NONE);
    assert_int_equal(weir_opt_choice(weir_rule_sets, "iso9000"), -1);
    assert_int_equal(weir_findings_judge(&f, WEIR_RULES_NONE, NULL, list), 0);
    assert_null(weir_rule_at(WEIR_RULES));
}

static void each_rule_is_complete_and_they_are_in_order(void **state)
{
    (void)state;
    for (int i = 0; weir_rule_at(i); i++) {
        const struct weir_rule *r = weir_rule_at(i);

        assert_true(r->what && r->unit && r->means && r->remedy);
        assert_true(r->measure || (r->from != WEIR_VALUE_NONE && r->unknown));
        assert_true(r->from == WEIR_VALUE_NONE || r->text);
        assert_true((r->from == WEIR_VALUE_IS || r->from == WEIR_VALUE_IS_NOT) == (r->text_not != NULL));
        assert_true(i == 0 || strcmp(weir_rule_at(i - 1)->id, r->id) < 0);
    }
}

/* ---- series ---- */

static void the_interval_of_the_median_is_that_of_the_tables(void **state)
{
    double v[20], low, high;

    (void)state;
    for (int i = 0; i < 20; i++)
        v[i] = i + 1;
    assert_false(weir_median_interval(v, 5, &low, &high));
    assert_true(weir_median_interval(v, 6, &low, &high) && low == 1 && high == 6);
    assert_true(weir_median_interval(v, 9, &low, &high) && low == 2 && high == 8);
    assert_true(weir_median_interval(v, 10, &low, &high) && low == 2 && high == 9);
    assert_true(weir_median_interval(v, 15, &low, &high) && low == 4 && high == 12);
    assert_true(weir_median_interval(v, 20, &low, &high) && low == 6 && high == 15);
}

/* 1/2 to the power of 1075 is 0 in a double: the interval was that of two neighbours from there on. */
static void the_interval_of_thousands_of_values_is_no_narrower(void **state)
{
    const int n[] = { 1000, 1074, 1075, 1233, 4000 }, from[] = { 468, 504, 504, 581, 1937 };
    static double v[4000];
    double low, high;

    (void)state;
    for (int i = 0; i < 4000; i++)
        v[i] = i;
    for (int i = 0; i < 5; i++) {
        assert_true(weir_median_interval(v, n[i], &low, &high));
        assert_float_equal(low, from[i], 0);
        assert_float_equal(high, n[i] - 1 - from[i], 0);
    }
}

static void phases_outside_the_repetitions_are_not_counted(void **state)
{
    struct weir_inputs f = sound_facts();

    (void)state;
    f.phase[0].n = 1;
    assert_int_equal(found(&f, WEIR_RULES_DEFAULT, "H15"), WEIR_NOTE);
    f.phase[0].once = true;
    assert_int_equal(found(&f, WEIR_RULES_DEFAULT, "H15"), WEIR_SOUND);
    f.phase[1].n = 2;
    assert_int_equal(found(&f, WEIR_RULES_DEFAULT, "H15"), WEIR_NOTE);
}

static void the_slope_does_not_follow_an_outlier(void **state)
{
    const double line[] = { 1, 3, 5, 7, 9 }, spike[] = { 1, 3, 500, 7, 9 }, flat[] = { 2, 2 };

    (void)state;
    assert_float_equal(weir_series_slope(line, 5), 2, 1e-12);
    assert_float_equal(weir_series_slope(spike, 5), 2, 1e-12);
    assert_float_equal(weir_series_slope(flat, 2), 0, 1e-12);
}

static void a_rate_inside_a_phase_is_steady_or_not(void **state)
{
    uint64_t v[20];

    (void)state;
    for (int i = 0; i < 20; i++)
        v[i] = i < 8 ? 5000 : 100; /* only the second half counts */
    assert_float_equal(weir_series_unsteady(v, 20, 0.5, 10), 0, 1e-9);
    v[19] = 50;                     /* the last interval is half as long */
    assert_float_equal(weir_series_unsteady(v, 20, 0.5, 9.75), 0, 0.05);
    v[19] = 0;                      /* 100 after four times 200: the fit falls by 80 */
    assert_float_equal(weir_series_unsteady(v, 20, 0.5, 10), 160 / 180.0, 1e-9);
    for (int i = 0; i < 20; i++)
        v[i] = 1000 + 100 * (uint64_t)i; /* windows of 4100 to 5700 */
    assert_float_equal(weir_series_unsteady(v, 20, 0.5, 10), 2 * 1600 / 4900.0, 1e-9);
    assert_true(isnan(weir_series_unsteady(v, 9, 1, 9)));
    memset(v, 0, sizeof(v));
    assert_true(isnan(weir_series_unsteady(v, 20, 0.5, 10)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sound_test_has_no_finding),
        cmocka_unit_test(each_rule_finds_what_it_is_for),
        cmocka_unit_test(what_is_found_has_other_words_than_what_is_fine),
        cmocka_unit_test(a_finding_has_few_words_for_the_line),
        cmocka_unit_test(what_is_not_known_is_not_judged),
        cmocka_unit_test(what_a_file_system_in_memory_keeps_is_never_on_storage),
        cmocka_unit_test(special_cases_have_their_severity),
        cmocka_unit_test(few_data_of_another_node_can_be_in_a_cache_of_the_storage_only),
        cmocka_unit_test(a_page_cache_past_which_data_move_is_not_judged),
        cmocka_unit_test(a_page_cache_that_is_seen_in_part_is_never_fine),
        cmocka_unit_test(bytes_that_no_device_moved_are_a_note_where_memory_had_them),
        cmocka_unit_test(objects_of_a_service_have_rules_of_their_own),
        cmocka_unit_test(requests_that_were_sent_again_are_counted_in_words),
        cmocka_unit_test(the_bound_of_a_rate_is_named),
        cmocka_unit_test(limits_change_one_rule),
        cmocka_unit_test(wrong_limits_are_refused),
        cmocka_unit_test(rule_sets_have_names),
        cmocka_unit_test(each_rule_is_complete_and_they_are_in_order),
        cmocka_unit_test(the_interval_of_the_median_is_that_of_the_tables),
        cmocka_unit_test(the_interval_of_thousands_of_values_is_no_narrower),
        cmocka_unit_test(phases_outside_the_repetitions_are_not_counted),
        cmocka_unit_test(the_slope_does_not_follow_an_outlier),
        cmocka_unit_test(a_rate_inside_a_phase_is_steady_or_not),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
