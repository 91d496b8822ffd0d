/* SPDX-License-Identifier: BSD-3-Clause */
/* test_io500.c - weir-io500: configurations, command lines, the score and its lines, the arithmetic of a forecast */
#include "programs/weir-io500/io500.h"
#include "config.h"
#include "programs/weir-io500/forecast.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define NEAR(a, b) assert_true(fabs((a) - (double)(b)) <= 1e-6 * fabs((double)(b)))

/* ---- the configuration ---- */

static int read_config(const char *text, struct weir_arena *arena, struct io500_config *c, struct weir_err *err)
{
    memset(c, 0, sizeof(*c));
    *err = (struct weir_err) WEIR_ERR_INIT;
    return io500_config_read(text, strlen(text), "c.ini", arena, c, err);
}

static void test_a_configuration_has_values_and_defaults(void **state)
{
    struct weir_arena arena = { 0 };
    struct io500_config c;
    struct weir_err err;

    (void)state;
    assert_int_equal(read_config("# one\n; two\r\n [global] # three\n  DataDir =  /scratch/my dir ; four\r\ndrop-caches=true\n"
                                 "drop-caches-cmd = sh -c \"a; b # c\"\n\n[ior-easy]\nAPI = POSIX --posix.odirect\nblockSize = 4g\n[find]\nnproc =",
                                 &arena, &c, &err), 0);
    assert_string_equal(io500_text(&c, "global", "datadir"), "/scratch/my dir");
    assert_string_equal(io500_text(&c, "global", "drop-caches-cmd"), "sh -c \"a; b # c\"");
    assert_true(io500_flag(&c, "global", "drop-caches") && !io500_flag(&c, "global", "scc"));
    assert_int_equal(io500_number(&c, "ior-easy", "blockSize"), (int64_t)4 << 30);
    assert_int_equal(io500_number(&c, "debug", "stonewall-time"), 300);
    assert_int_equal(io500_number(&c, "find", "nproc"), -1);
    weir_arena_free(&arena);
}

static void test_a_wrong_configuration_is_refused_with_its_line_and_the_nearest_word(void **state)
{
    static const struct {
        const char *text, *words;
    } wrong[] = {
        { "[globl]", "c.ini:1: there is no section [globl] (did you mean 'global'?)" },
        { "[mdtest-easy]\nm = 1\nN=2", "c.ini:2: there is no key 'm' in section [mdtest-easy]" },
        { "[ior-easy]\n\nblocksiz = 1", "c.ini:3: there is no key 'blocksiz' in section [ior-easy] (did you mean 'blockSize'?)" },
        { "[find]\nrun = yes", "c.ini:2: 'run = yes': write TRUE or FALSE" },
        { "[mdtest-hard]\nn = many", "c.ini:2: 'n': " },
        { "[mdtest-hard]\nn = -1", "c.ini:2: 'n': " },
        { "[mdworkbench]\nwaitingTime = 1x", "'waitingTime = 1x': write a number" },
        { "n = 1", "c.ini:1: a line '[section]' must come before 'n = 1'" },
        { "[find]\nnproc", "'nproc' is neither '[section]' nor 'key = value'" },
        { "[find]\nnproc = 1\nnproc = 2", "c.ini:3: 'nproc' stands twice in section [find]" },
        { "[find]\nnproc =\nnproc = 2", "c.ini:3: 'nproc' stands twice in section [find]" },
        { "[ior-easy]\nblockSize = 3m", "blockSize = 3m is no multiple of transferSize = 2m" },
        { "[ior-easy]\ntransferSize = 0", "'transferSize'" },
        { "[debug]\nstonewall-time = 0", "'stonewall-time': '0' is out of range: it must be from 1" },
        { "[global]\nio-buffers-on-gpu = TRUE", "the memory of the host" },
    };
    struct weir_arena arena = { 0 };
    struct io500_config c;
    struct weir_err err;

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        assert_int_equal(read_config(wrong[i].text, &arena, &c, &err), -1);
        assert_int_equal(err.code, WEIR_EUSAGE);
        if (!strstr(err.text, wrong[i].words))
            fail_msg("%s", err.text);
    }
    weir_arena_free(&arena);
}

static void test_the_list_of_keys_is_a_configuration_with_the_defaults(void **state)
{
    struct weir_str list = { 0 }, again = { 0 }, all = { 0 };
    struct weir_arena arena = { 0 };
    struct io500_config c, none = { .value = { NULL } };
    struct weir_err err;

    (void)state;
    io500_config_show(NULL, &list);
    assert_int_equal(read_config(list.text, &arena, &c, &err), 0);
    io500_config_show(&c, &again);
    io500_config_show(&none, &all);
    assert_string_equal(again.text, all.text);
    for (int i = 0; io500_phases[i].name; i++) /* each phase can be left out, and is run unless it is */
        assert_true(io500_phase_wanted(&c, &io500_phases[i], true));
    weir_str_free(&list);
    weir_str_free(&again);
    weir_str_free(&all);
    weir_arena_free(&arena);
}

/* ---- command lines ---- */

static const char *command_of(const char *config, const char *name, const char *results, struct weir_arena *arena)
{
    static struct io500_command out; /* of the last call */
    struct io500_config c;
    struct weir_err err;
    struct io500_place place = { .config = &c, .data = "D", .results = results, .stonewall_s = 300, .seed = 7, .mdw_files = 25 };

    assert_int_equal(read_config(config, arena, &c, &err), 0);
    assert_int_equal(io500_command_make(&place, &io500_phases[io500_phase_find(name)], arena, &out, &err), 0);
    assert_null(out.argv[out.argc]);
    return out.text;
}

static void test_command_lines_are_those_of_io500(void **state)
{
    static const struct {
        const char *phase, *command;
    } of[] = {
        { "ior-easy-write", "./ior --dataPacketType=timestamp -C -Q 1 -g -G 7 -k -e -o D/ior-easy/ior_file_easy "
                            "-O stoneWallingStatusFile=R/ior-easy.stonewall -t 2m -b 9920000m -F -w -D 300 -O stoneWallingWearOut=1 "
                            "-O saveRankPerformanceDetailsCSV=R/ior-easy-write.csv" },
        { "mdtest-easy-write", "./mdtest --dataPacketType=timestamp -n 1000000 -u -L -F -P -G 9 -N 1 -d D/mdtest-easy -x R/mdtest-easy.stonewall "
                               "-C -Y -W 300 --saveRankPerformanceDetails=R/mdtest-easy-write.csv" },
        { "mdworkbench-create", "./md-workbench --dataPacketType=timestamp --process-reports -o=D/mdworkbench -t=0.0 -O=1 "
                                "--run-info-file=R/mdworkbench.status -D=10 -G=11 -P=25 -I=25 -1" },
        { "ior-hard-write", "./ior --dataPacketType=timestamp -C -Q 1 -g -G=8 -k -e -o D/ior-hard/file "
                            "-O stoneWallingStatusFile=R/ior-hard.stonewall -t 47008 -b 47008 -s 10000000 -w -D 300 "
                            "-O saveRankPerformanceDetailsCSV=R/ior-hard-write.csv -O stoneWallingWearOut=1" },
        { "mdtest-hard-write", "./mdtest --dataPacketType=timestamp -n 1000000 -t -w 3901 -e 3901 -P -G=10 -N 1 -F -d D/mdtest-hard "
                               "-x R/mdtest-hard.stonewall -C -Y -W 300 --saveRankPerformanceDetails=R/mdtest-hard-write.csv" },
        { "mdworkbench-bench", "./md-workbench --dataPacketType=timestamp --process-reports -o=D/mdworkbench -t=0.0 -O=1 "
                               "--run-info-file=R/mdworkbench.status -D=10 -G=11 -P=25 -I=25 -2 -R=2 -X" },
        { "ior-hard-read", "./ior --dataPacketType=timestamp -C -Q 1 -g -G=8 -k -e -o D/ior-hard/file "
                           "-O stoneWallingStatusFile=R/ior-hard.stonewall -t 47008 -b 47008 -s 10000000 -r -R "
                           "-O saveRankPerformanceDetailsCSV=R/ior-hard-read.csv" },
        { "mdtest-hard-read", "./mdtest --dataPacketType=timestamp -n 1000000 -t -w 3901 -e 3901 -P -G=10 -N 1 -F -d D/mdtest-hard "
                              "-x R/mdtest-hard.stonewall -E -X --saveRankPerformanceDetails=R/mdtest-hard-read.csv" },
        { "ior-rnd4K-easy-read", "./ior --dataPacketType=timestamp -C -Q 1 -g -G 7 -k -e -o D/ior-easy/ior_file_easy "
                                 "-O stoneWallingStatusFile=R/ior-easy.stonewall -t 2m -b 9920000m -F "
                                 "-r -D 300 -z -z -t=4096 -b=4096 -s=10000000 -O stoneWallingWearOut=1 -C -Q 2" },
    };
    struct weir_arena arena = { 0 };

    (void)state;
    for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++)
        assert_string_equal(command_of("", of[i].phase, "R", &arena), of[i].command);
    weir_arena_free(&arena);
}

static void test_the_configuration_changes_command_lines(void **state)
{
    static const struct {
        const char *config, *phase, *words;
    } of[] = {
        { "[global]\napi = MPIIO", "ior-hard-write", " -a MPIIO -t 47008" },
        { "[global]\napi = MPIIO\n[ior-hard]\nAPI = POSIX --posix.odirect", "ior-hard-read", ".stonewall -a POSIX --posix.odirect -t 47008" },
        { "[ior-hard]\nAPI = MPIIO\n[ior-hard-read]\nAPI = MMAP", "ior-hard-read", " -a MMAP " },
        { "[ior-hard]\ncollective = TRUE", "ior-hard-write", " -w -c -D 300 " },
        { "[ior-hard]\ncollective = TRUE", "ior-hard-read", " -r -R -c -O " },
        { "[ior-easy]\nfilePerProc = FALSE\nuniqueDir = TRUE\nverbosity = 2", "ior-easy-write", " -b 9920000m -u -w" },
        { "[ior-easy]\nverbosity = 2", "ior-easy-write", "./ior -v -v --data" },
        { "[mdtest-hard]\nfiles-per-dir = 100", "mdtest-hard-stat", " -n 1000000 -I=100 -t " },
        { "[mdworkbench]\nprecreatePerSet = 3\nfilesPerProc = 4\nwaitingTime = 0.5", "mdworkbench-create", " -t=0.5 " },
        { "[mdworkbench]\nprecreatePerSet = 3\nfilesPerProc = 4", "mdworkbench-create", " -P=3 -I=4 -1" },
        { "[global]\ndataPacketType = random", "mdtest-easy-stat", "--dataPacketType=random" },
    };
    struct weir_arena arena = { 0 };

    (void)state;
    for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++)
        if (!strstr(command_of(of[i].config, of[i].phase, "R", &arena), of[i].words))
            fail_msg("%s: %s", of[i].words, command_of(of[i].config, of[i].phase, "R", &arena));
    assert_non_null(strstr(command_of("", "ior-easy-write", "my R", &arena), "'stoneWallingStatusFile=\"my R/ior-easy.stonewall\"'"));
    weir_arena_free(&arena);
}

/* ---- the score ---- */

/* Numbers of the samples of IO500. */
static void put(double score[IO500_PHASES], const char *name, double value)
{
    score[io500_phase_find(name)] = value;
}

static void test_the_score_is_that_of_the_samples(void **state)
{
    double score[IO500_PHASES] = { 0 };
    struct io500_score s, x;

    (void)state;
    put(score, "ior-easy-write", 0.112119), put(score, "mdtest-easy-write", 2.125538), put(score, "mdworkbench-create", 4.775728);
    put(score, "find-easy", 6.783854), put(score, "ior-hard-write", 0.329325), put(score, "mdtest-hard-write", 13.660226);
    put(score, "find", 1134.360892), put(score, "find-hard", 2113.068164), put(score, "mdworkbench-bench", 28.886391);
    put(score, "ior-easy-read", 0.384120), put(score, "mdtest-easy-stat", 232.030365), put(score, "ior-hard-read", 1.239630);
    put(score, "mdtest-hard-stat", 98.080254), put(score, "mdworkbench-delete", 9.170688), put(score, "mdtest-easy-delete", 135.025519);
    put(score, "mdtest-hard-read", 45.223313), put(score, "mdtest-hard-delete", 6.134696), put(score, "ior-rnd4K-easy-read", 1.477168);
    s = io500_score_of(score, false);
    x = io500_score_of(score, true);
    NEAR(s.bw, 0.364138);
    NEAR(s.iops, 47.978534);
    NEAR(s.total, 4.179810);
    NEAR(x.bw, 0.364138);
    NEAR(x.iops, 54.103275);
    NEAR(x.total, 4.438588);
    put(score, "find", 0); /* is left out */
    assert_true(io500_score_of(score, false).iops > 0);
    memset(score, 0, sizeof(score));
    assert_true(io500_score_of(score, true).total == 0);
}

static void test_lines_are_those_of_the_samples(void **state)
{
    const struct io500_score s = { 0.439608, 40.996127, 4.245257 };
    struct weir_str out = { 0 };

    (void)state;
    io500_line(&io500_phases[io500_phase_find("ior-easy-write")], 0.197446, 1.289, false, &out);
    weir_str_addc(&out, '\n');
    io500_line(&io500_phases[io500_phase_find("mdworkbench-create")], 4.775728, 0.533, true, &out);
    weir_str_addc(&out, '\n');
    io500_line(&io500_phases[io500_phase_find("ior-rnd4K-easy-read")], 0.532574, 1.64, true, &out);
    weir_str_addc(&out, '\n');
    io500_score_line("SCORE ", &s, false, &out);
    assert_string_equal(out.text, "[RESULT]       ior-easy-write        0.197446 GiB/s : time 1.289 seconds [INVALID]\n"
                                  "[      ]   mdworkbench-create        4.775728 kIOPS : time 0.533 seconds\n"
                                  "[      ]  ior-rnd4K-easy-read        0.532574 GiB/s : time 1.640 seconds\n"
                                  "[SCORE ] Bandwidth 0.439608 GiB/s : IOPS 40.996127 kiops : TOTAL 4.245257 [INVALID]");
    weir_str_free(&out);
}

static void test_md_workbench_has_files_for_a_minute_of_mdtest(void **state)
{
    (void)state;
    assert_int_equal(io500_mdw_files(40000, 300, 4), 60000); /* 40000/s x 60 s / 4 ranks / 10 sets */
    assert_int_equal(io500_mdw_files(40000, 6, 4), 6000);
    assert_int_equal(io500_mdw_files(0.1, 300, 4), 1);
    assert_int_equal(io500_mdw_files(NAN, 300, 4), 1);
}

/* ---- a forecast ---- */

static void test_a_phase_that_writes_ends_at_the_stonewall_or_with_its_limit(void **state)
{
    struct io500_writes w = { .rate = { 1000, 900, 1100 }, .spread = 1.2, .limit = 1e9, .ranks = 4, .stonewall_s = 300 };
    struct io500_written r = io500_forecast_writes(&w);

    (void)state;
    NEAR(r.units.value, 360000); /* all ranks do what the fastest has done */
    NEAR(r.seconds.value, 360);
    NEAR(r.units.high, 396000);
    assert_int_equal(r.length, IO500_LONG_ENOUGH);
    w.limit = 60000; /* 240000 of all: 240 s */
    r = io500_forecast_writes(&w);
    NEAR(r.units.value, 240000);
    NEAR(r.seconds.value, 240);
    assert_true(r.seconds.low < 240 && r.seconds.high > 240);
    assert_int_equal(r.length, IO500_TOO_SHORT);
    assert_true(r.wanted >= 1100.0 / 4 * 1.2 * 300);
    w.limit = r.wanted; /* the remedy mends it */
    assert_int_equal(io500_forecast_writes(&w).length, IO500_LONG_ENOUGH);
    w.limit = 75000;
    assert_int_equal(io500_forecast_writes(&w).length, IO500_PERHAPS);
}

static void test_times_follow_from_units_and_rates_with_their_intervals(void **state)
{
    const struct io500_range units = { 1000, 800, 1200 }, rate = { 10, 8, 16 };
    struct io500_range t = io500_forecast_time(units, rate);

    (void)state;
    NEAR(t.value, 100);
    NEAR(t.low, 50);
    NEAR(t.high, 150);
    assert_true(io500_forecast_time(units, (struct io500_range) { 0, 0, 0 }).value == 0);
    NEAR(io500_range_sum(t, t).high, 300);
    NEAR(io500_round_up(4813), 4900);
    NEAR(io500_round_up(4900), 4900);
    NEAR(io500_round_up(7), 7);
}

/* Even work has a narrow interval, uneven work a wide one; more samples than there is room for change little. */
static void test_slices_give_an_interval_of_the_rate(void **state)
{
    struct io500_slices even = { .n = 0 };
    double slice[IO500_SLICES], low, high;

    (void)state;
    for (int i = 1; i <= 5000; i++)
        io500_slices_add(&even, i * 0.01, i * 2.0);
    assert_true(even.n <= IO500_SAMPLES && even.n > IO500_SAMPLES / 4);
    io500_slices_of(&even, 50, slice);
    for (int i = 0; i < IO500_SLICES; i++)
        assert_true(fabs(slice[i] - 1000) < 60);
    assert_true(io500_slices_interval(slice, &low, &high));
    assert_true(low > 0.9 && low <= high && high < 1.1);
    memset(slice, 0, sizeof(slice));
    assert_false(io500_slices_interval(slice, &low, &high));
    for (int i = 0; i < IO500_SLICES; i++)
        slice[i] = i + 1;
    assert_true(io500_slices_interval(slice, &low, &high));
    assert_true(low < 0.6 && high > 1.4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_configuration_has_values_and_defaults),
        cmocka_unit_test(test_a_wrong_configuration_is_refused_with_its_line_and_the_nearest_word),
        cmocka_unit_test(test_the_list_of_keys_is_a_configuration_with_the_defaults),
        cmocka_unit_test(test_command_lines_are_those_of_io500),
        cmocka_unit_test(test_the_configuration_changes_command_lines),
        cmocka_unit_test(test_the_score_is_that_of_the_samples),
        cmocka_unit_test(test_lines_are_those_of_the_samples),
        cmocka_unit_test(test_md_workbench_has_files_for_a_minute_of_mdtest),
        cmocka_unit_test(test_a_phase_that_writes_ends_at_the_stonewall_or_with_its_limit),
        cmocka_unit_test(test_times_follow_from_units_and_rates_with_their_intervals),
        cmocka_unit_test(test_slices_give_an_interval_of_the_rate),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
