/* SPDX-License-Identifier: BSD-3-Clause */
/* test_io500.c - weir-io500: configurations, command lines, the score and its lines, the arithmetic of a forecast */
#include "programs/weir-io500/io500.h"
#include "programs/weir-io500/io500-run.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define NEAR(a, b) assert_true(fabs((a) - (double)(b)) <= 1e-6 * fabs((double)(b)))

/* ---- the configuration ---- */

static int read_with_notes(const char *text, struct weir_arena *arena, struct io500_config *c, struct weir_str *notes, struct weir_err *err)
{
    memset(c, 0, sizeof(*c));
    *err = (struct weir_err) WEIR_ERR_INIT;
    return io500_config_read(text, strlen(text), "c.ini", arena, c, notes, err);
}

static int read_config(const char *text, struct weir_arena *arena, struct io500_config *c, struct weir_err *err)
{
    struct weir_str notes = { 0 };
    int rc = read_with_notes(text, arena, c, &notes, err);

    weir_str_free(&notes);
    return rc;
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
        { "[ior-easy-write]\nnoRun = TRUE", "c.ini:2: there is no key 'noRun' in section [ior-easy-write]" },
        { "[find-easy]\nnoRun = TRUE", "c.ini:2: there is no key 'noRun' in section [find-easy]" },
        { "[mdtest-easy]\nhintsFileName = x", "c.ini:2: there is no key 'hintsFileName' in section [mdtest-easy]" },
        { "[ior-rnd4K]\nsegmentCount = 1", "c.ini:2: there is no key 'segmentCount' in section [ior-rnd4K]" },
        { "[ior-rnd4K-writes]", "c.ini:1: there is no section [ior-rnd4K-writes]" },
        { "[mdtest-hard-writ]", "c.ini:1: there is no section [mdtest-hard-writ] (did you mean 'mdtest-hard-write'?)" },
        { "[ior-hard]\nposix.odirect = yes", "c.ini:2: 'posix.odirect = yes': write TRUE or FALSE" },
        { "[ior-hard]\nverbosity = 11", "c.ini:2: 'verbosity': '11' is out of range: it must be from 0 to 10" },
        { "[ior-easy]\nblockSize = 3m", "blockSize = 3m is no multiple of transferSize = 2m" },
        { "[ior-easy]\ntransferSize = 0", "'transferSize'" },
        { "[debug]\nstonewall-time = 0", "'stonewall-time': '0' is out of range: it must be from 1" },
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

/* Each key that a release knew, by section; as in its own list of all keys. */
static void test_configurations_of_all_releases_are_taken(void **state)
{
    static const char phases[] = "API= run=TRUE noRun=FALSE posix.odirect=FALSE";
    static const struct {
        const char *sections, *keys;
    } of[] = {
        { "global", "datadir=./d timestamp-datadir=TRUE resultdir=./r timestamp-resultdir=TRUE api=POSIX drop-caches=FALSE drop-caches-cmd=true "
                    "verbosity=1 scc=FALSE io-buffers-on-gpu=FALSE dataPacketType=timestamp" },
        { "debug", "stonewall-time=300 pause-dir=" },
        { "ior-easy", "API= transferSize=2m blockSize=9920000m filePerProc=TRUE uniqueDir=FALSE verbosity= run=TRUE noRun=FALSE posix.odirect=FALSE "
                      "hintsFileName=" },
        { "ior-easy-write ior-easy-read", "API= run=TRUE posix.odirect=FALSE hintsFileName=" },
        { "ior-hard", "API= segmentCount=10000000 verbosity= collective=FALSE run=TRUE noRun=FALSE posix.odirect=FALSE hintsFileName=" },
        { "ior-hard-write ior-hard-read", "API= collective= run=TRUE posix.odirect=FALSE hintsFileName=" },
        { "mdtest-easy", "API= n=1000000 run=TRUE noRun=FALSE posix.odirect=FALSE" },
        { "mdtest-hard", "API= n=1000000 run=TRUE noRun=FALSE posix.odirect=FALSE files-per-dir=" },
        { "mdtest-easy-write mdtest-easy-stat mdtest-easy-read mdtest-easy-delete", phases },
        { "mdtest-hard-write mdtest-hard-stat mdtest-hard-read mdtest-hard-delete", phases },
        { "find", "external-script= external-mpi-args= external-extra-args= external-args= nproc= pfind-queue-length=10000 pfind-steal-next=FALSE "
                  "pfind-parallelize-single-dir-access-using-hashing=FALSE run=TRUE noRun=FALSE" },
        { "find-easy find-hard", "external-script= external-mpi-args= external-extra-args= nproc= pfind-queue-length=10000 pfind-steal-next=FALSE "
                                 "pfind-parallelize-single-dir-access-using-hashing=FALSE run=TRUE" },
        { "ior-rnd ior-rnd4K ior-rnd1MB", "API= blockSize=1073741824 run=TRUE verbosity= randomPrefill=0" },
        { "ior-rnd-write ior-rnd-read", "API=" },
        { "ior-rnd4K-write ior-rnd4K-read ior-rnd1MB-write ior-rnd1MB-read ior-rnd4K-easy-read", "API= run=TRUE" },
        { "mdworkbench", "API= waitingTime=0.0 precreatePerSet= filesPerProc= run=TRUE verbosity=" },
        { "mdworkbench-create mdworkbench-bench mdworkbench-delete", "run=TRUE" },
    };
    struct weir_arena arena = { 0 };
    struct weir_str text = { 0 };
    struct io500_config c;
    struct weir_err err;

    (void)state;
    for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++)
        for (const char *at = of[i].sections; *at; at += strcspn(at, " "), at += *at == ' ') {
            weir_str_addf(&text, "[%.*s]\n", (int)strcspn(at, " "), at);
            for (const char *key = of[i].keys; *key; key += strcspn(key, " "), key += *key == ' ')
                weir_str_addf(&text, "%.*s\n", (int)strcspn(key, " "), key);
        }
    if (read_config(text.text, &arena, &c, &err) < 0)
        fail_msg("%s", err.text);
    weir_str_free(&text);
    weir_arena_free(&arena);
}

static void test_words_of_earlier_releases_become_those_of_today(void **state)
{
    static const struct {
        const char *text, *note, *section, *key, *value;
    } of[] = {
        { "[ior-easy]\nnoRun = TRUE", "c.ini:2: [ior-easy] noRun = TRUE is of an earlier release: used as run = FALSE\n", "ior-easy", "run", "FALSE" },
        { "[mdtest-hard-stat]\nNORUN = false", "used as run = TRUE", "mdtest-hard-stat", "run", "TRUE" },
        { "[mdtest-easy]\nposix.odirect = TRUE", "c.ini:2: [mdtest-easy] posix.odirect = TRUE is of an earlier release: used as API = POSIX --posix.odirect\n",
          "mdtest-easy", "API", "POSIX --posix.odirect" },
        { "[ior-easy]\nposix.odirect = 1\nAPI = posix --posix.atomic", "used as API = posix --posix.atomic --posix.odirect", "ior-easy", "API",
          "posix --posix.atomic --posix.odirect" },
        { "[ior-easy]\nposix.odirect = TRUE\nAPI = MPIIO", "c.ini:2: [ior-easy] posix.odirect = TRUE is of an earlier release, has no effect here, and is ignored\n",
          "ior-easy", "API", "MPIIO" },
        { "[ior-easy]\nposix.odirect = FALSE", "has no effect here", "ior-easy", "API", "POSIX" },
        { "[ior-easy-read]\nposix.odirect = FALSE\n[ior-easy]\nposix.odirect = TRUE", "[ior-easy-read] posix.odirect = FALSE is of an earlier release: used as "
          "API = POSIX\n", "ior-easy-read", "API", "POSIX" },
        { "[ior-hard]\nhintsFileName = /h", "used as API = MPIIO --mpiio.hintsFileName=/h", "ior-hard", "API", "MPIIO --mpiio.hintsFileName=/h" },
        { "[global]\napi = MPIIO\n[ior-hard]\nhintsFileName = /h", "used as", "ior-hard", "API", "MPIIO --mpiio.hintsFileName=/h" },
        { "[global]\napi = POSIX\n[ior-hard]\nhintsFileName = /h", "has no effect here", "ior-hard", "API", "POSIX" },
        { "[find]\nexternal-args = -j 3", "used as external-extra-args = -j 3", "find", "external-extra-args", "-j 3" },
        { "[find]\nnproc =\nnproc = 2", "c.ini:3: [find] nproc is given twice: the last value is used\n", "find", "nproc", "2" },
        { "[ior-rnd4K]\nrandomPrefill = 1\nAPI = POSIX", "c.ini:1: [ior-rnd4K] is of an earlier release, and its phases", "ior-rnd4K-easy-read", "API", "POSIX" },
    };
    struct weir_arena arena = { 0 };
    struct io500_config c;
    struct weir_err err;

    (void)state;
    for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++) {
        struct weir_str notes = { 0 };

        assert_int_equal(read_with_notes(of[i].text, &arena, &c, &notes, &err), 0);
        if (!strstr(weir_str_text(&notes), of[i].note))
            fail_msg("%s: %s", of[i].text, weir_str_text(&notes));
        assert_string_equal(io500_text(&c, of[i].section, of[i].key), of[i].value);
        weir_str_free(&notes);
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
#define EASY "./ior --dataPacketType=timestamp -C -Q 1 -g -G 7 -k -e -o D/ior-easy/ior_file_easy -O stoneWallingStatusFile=R/ior-easy.stonewall "
#define HARD "./ior --dataPacketType=timestamp -C -Q 1 -g -G=8 -k -e -o D/ior-hard/file -O stoneWallingStatusFile=R/ior-hard.stonewall "
#define MD_EASY "./mdtest --dataPacketType=timestamp -n 1000000 -u -L -F -P -G 9 -N 1 -d D/mdtest-easy -x R/mdtest-easy.stonewall "
#define MD_HARD(i) "./mdtest --dataPacketType=timestamp -n 1000000 " i "-t -w 3901 -e 3901 -P -G=10 -N 1 -F -d D/mdtest-hard -x R/mdtest-hard.stonewall "
#define MDW "./md-workbench --dataPacketType=timestamp --process-reports -o=D/mdworkbench -t=0.0 -O=1 --run-info-file=R/mdworkbench.status -D=10 " \
            "-G=11 -P=25 -I=25 "
#define RANDOM "./ior --dataPacketType=timestamp -g -G 7 -k -e -o D/ior-easy/ior_file_easy -t 2m -b 9920000m "
#define IOR_CSV(phase) "-O saveRankPerformanceDetailsCSV=R/" phase ".csv"
#define MD_CSV(phase) "--saveRankPerformanceDetails=R/" phase ".csv"
#define PIECES "-t 47008 -b 47008 -s 10000000 "
    static const struct {
        const char *config, *phase, *command;
    } of[] = {
        { "", "ior-easy-write", EASY "-t 2m -b 9920000m -F -w -D 300 -O stoneWallingWearOut=1 " IOR_CSV("ior-easy-write") },
        { "", "mdtest-easy-write", MD_EASY "-C -Y -W 300 " MD_CSV("mdtest-easy-write") },
        { "", "mdworkbench-create", MDW "-1" },
        { "", "ior-hard-write", HARD PIECES "-w -D 300 " IOR_CSV("ior-hard-write") " -O stoneWallingWearOut=1" },
        { "", "mdtest-hard-write", MD_HARD("") "-C -Y -W 300 " MD_CSV("mdtest-hard-write") },
        { "", "mdworkbench-bench", MDW "-2 -R=2 -X" },
        { "", "ior-easy-read", EASY "-t 2m -b 9920000m -F -r -R " IOR_CSV("ior-easy-read") },
        { "", "mdtest-easy-stat", MD_EASY "-T " MD_CSV("mdtest-easy-stat") },
        { "", "ior-hard-read", HARD PIECES "-r -R " IOR_CSV("ior-hard-read") },
        { "", "mdtest-hard-stat", MD_HARD("") "-T " MD_CSV("mdtest-hard-stat") },
        { "", "mdworkbench-delete", MDW "-3" },
        { "", "mdtest-easy-delete", MD_EASY "-r " MD_CSV("mdtest-easy-delete") },
        { "", "mdtest-hard-read", MD_HARD("") "-E -X " MD_CSV("mdtest-hard-read") },
        { "", "mdtest-hard-delete", MD_HARD("") "-r " MD_CSV("mdtest-hard-delete") },
        { "", "ior-rnd4K-easy-read", RANDOM "-F -C -Q 2 -r -D 300 " IOR_CSV("ior-rnd4K-easy-read")
                                     " -O stoneWallingWearOut=1 -z -z -t=4096 -b=4096 -s=10000000" },
        { "[ior-easy]\nfilePerProc = FALSE", "ior-easy-write", EASY "-t 2m -b 9920000m -w -D 300 -O stoneWallingWearOut=1 " IOR_CSV("ior-easy-write") },
        { "[ior-easy]\nfilePerProc = FALSE", "ior-easy-read", EASY "-t 2m -b 9920000m -r -R " IOR_CSV("ior-easy-read") },
        { "[ior-easy]\nfilePerProc = FALSE", "ior-rnd4K-easy-read", RANDOM "-r -D 300 " IOR_CSV("ior-rnd4K-easy-read")
                                             " -O stoneWallingWearOut=1 -z -z -t=4096 -b=4096 -s=10000000" },
        { "[ior-easy]\nAPI = MMAP", "ior-rnd4K-easy-read", RANDOM "-F -C -Q 2 -r -D 300 -a MMAP " IOR_CSV("ior-rnd4K-easy-read")
                                    " -O stoneWallingWearOut=1 -z -z -t=4096 -b=4096 -s=10000000" },
        { "[ior-easy]\nuniqueDir = TRUE", "ior-easy-write", EASY "-t 2m -b 9920000m -F -u -w -D 300 -O stoneWallingWearOut=1 " IOR_CSV("ior-easy-write") },
        { "[ior-hard]\ncollective = TRUE", "ior-hard-write", HARD PIECES "-w -c -D 300 " IOR_CSV("ior-hard-write") " -O stoneWallingWearOut=1" },
        { "[ior-hard]\ncollective = TRUE", "ior-hard-read", HARD PIECES "-r -R -c " IOR_CSV("ior-hard-read") },
        { "[ior-hard-write]\ncollective = TRUE", "ior-hard-read", HARD PIECES "-r -R " IOR_CSV("ior-hard-read") },
        { "[ior-hard]\ncollective = TRUE\n[ior-hard-read]\ncollective = FALSE", "ior-hard-read", HARD PIECES "-r -R " IOR_CSV("ior-hard-read") },
        { "[ior-hard-read]\ncollective = TRUE", "ior-hard-read", HARD PIECES "-r -R -c " IOR_CSV("ior-hard-read") },
        { "[mdtest-hard]\nfiles-per-dir = 100", "mdtest-hard-read", MD_HARD("-I=100 ") "-E -X " MD_CSV("mdtest-hard-read") },
    };
    struct weir_arena arena = { 0 };

    (void)state;
    for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++)
        assert_string_equal(command_of(of[i].config, of[i].phase, "R", &arena), of[i].command);
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
        { "[ior-easy]\nfilePerProc = FALSE\nuniqueDir = TRUE\nverbosity = 2", "ior-easy-write", " -b 9920000m -u -w" },
        { "[ior-easy]\nverbosity = 2", "ior-easy-write", "./ior -v -v --data" },
        { "[mdworkbench]\nprecreatePerSet = 3\nfilesPerProc = 4\nwaitingTime = 0.5", "mdworkbench-create", " -t=0.5 " },
        { "[mdworkbench]\nprecreatePerSet = 3\nfilesPerProc = 4", "mdworkbench-create", " -P=3 -I=4 -1" },
        { "[global]\ndataPacketType = random", "mdtest-easy-stat", "--dataPacketType=random" },
        { "[global]\nio-buffers-on-gpu = TRUE", "ior-easy-write", "--dataPacketType=timestamp -O allocateBufferOnGPU=1 -C" },
        { "[global]\nio-buffers-on-gpu = TRUE", "mdtest-hard-stat", "--dataPacketType=timestamp --allocateBufferOnGPU -n" },
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

static int phase_named(const char *name)
{
    int i = 0;

    while (io500_phases[i].name && strcmp(io500_phases[i].name, name) != 0)
        i++;
    assert_non_null(io500_phases[i].name);
    return i;
}

/* Is a phase with this outcome valid, and the whole of it? */
static bool is_valid(const char *name, struct io500_done done)
{
    const struct io500_options options = { .forecast = false };
    const int phase = phase_named(name);
    struct weir_run run = { .repetition = 0 };
    struct io500 *t = calloc(1, sizeof(*t));
    bool valid;

    assert_non_null(t);
    weir_par_single(&run.par);
    *t = (struct io500) { .o = &options, .whole = true };
    t->done[phase] = done;
    t->done[phase].valid = true;
    assert_int_equal(io500_judge_phase(&run, t, phase, NULL), 0);
    valid = t->done[phase].valid;
    assert_int_equal(io500_judge_all(t), valid);
    weir_str_free(&t->summary);
    weir_arena_free(&run.arena);
    free(t->reason);
    free(t);
    return valid;
}

static void test_wrong_data_errors_and_no_rate_make_a_phase_invalid(void **state)
{
    (void)state;
    assert_true(is_valid("ior-easy-read", (struct io500_done) { .score = 2 }));
    assert_false(is_valid("ior-easy-read", (struct io500_done) { .score = 2, .wrong = 1 }));
    assert_false(is_valid("ior-easy-read", (struct io500_done) { .score = 0 }));
    assert_true(is_valid("find", (struct io500_done) { .score = 2 }));
    assert_false(is_valid("find", (struct io500_done) { .score = 2, .errors = 1, .problem = "denied" }));
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
    struct weir_worklog even = { .n = 0 };
    uint64_t slice[IO500_SLICES];
    double low, high;

    (void)state;
    weir_worklog_begin(&even, 7);
    for (int i = 1; i <= 5000; i++)
        weir_worklog_add(&even, 7 + INT64_C(10000000) * i, 0, (uint64_t)(2 * i));
    assert_true(even.phase[0].n <= WEIR_WORKLOG_SAMPLES &&
                even.phase[0].n > WEIR_WORKLOG_SAMPLES / 4);
    io500_slices_of(&even, false, 50, slice);
    weir_worklog_free(&even);
    for (int i = 0; i < IO500_SLICES; i++)
        assert_true(slice[i] > 940 && slice[i] < 1060);
    assert_true(io500_slices_interval(slice, &low, &high));
    assert_true(low > 0.9 && low <= high && high < 1.1);
    memset(slice, 0, sizeof(slice));
    assert_false(io500_slices_interval(slice, &low, &high));
    for (int i = 0; i < IO500_SLICES; i++)
        slice[i] = (uint64_t)i + 1;
    assert_true(io500_slices_interval(slice, &low, &high));
    assert_true(low < 0.6 && high > 1.4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_configuration_has_values_and_defaults),
        cmocka_unit_test(test_a_wrong_configuration_is_refused_with_its_line_and_the_nearest_word),
        cmocka_unit_test(test_configurations_of_all_releases_are_taken),
        cmocka_unit_test(test_words_of_earlier_releases_become_those_of_today),
        cmocka_unit_test(test_the_list_of_keys_is_a_configuration_with_the_defaults),
        cmocka_unit_test(test_command_lines_are_those_of_io500),
        cmocka_unit_test(test_the_configuration_changes_command_lines),
        cmocka_unit_test(test_the_score_is_that_of_the_samples),
        cmocka_unit_test(test_lines_are_those_of_the_samples),
        cmocka_unit_test(test_wrong_data_errors_and_no_rate_make_a_phase_invalid),
        cmocka_unit_test(test_md_workbench_has_files_for_a_minute_of_mdtest),
        cmocka_unit_test(test_a_phase_that_writes_ends_at_the_stonewall_or_with_its_limit),
        cmocka_unit_test(test_times_follow_from_units_and_rates_with_their_intervals),
        cmocka_unit_test(test_slices_give_an_interval_of_the_rate),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
