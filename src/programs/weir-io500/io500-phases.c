/* SPDX-License-Identifier: BSD-3-Clause */
/* io500-phases.c - the phases of IO500 as rows, and their command lines.
 *
 * A command line is a template: blanks separate arguments, {X} is replaced (expand). An argument
 * that consists of one replacement only vanishes when that is empty, and may become several. */
#include "programs/weir-io500/io500.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#define CSV " -O saveRankPerformanceDetailsCSV={q}{R}/{phase}.csv{q}"
#define STATUS(family) "-O stoneWallingStatusFile={q}{R}/" family ".stonewall{q}"
#define DETAILS " --saveRankPerformanceDetails={R}/{phase}.csv"

const struct io500_family_row io500_families[IO500_FAMILIES] = {
    [IO500_IOR_EASY] = { "ior-easy", "ior",
                         "./ior {v} --dataPacketType={dataPacketType} {g} -C -Q 1 -g -G {S} -k -e -o {D}/ior-easy/ior_file_easy "
                         STATUS("ior-easy") " {a} -t {transferSize} -b {blockSize} {F} {u}",
                         "blockSize", "ior_file_easy ior_file_easy.* [0-9]* [0-9]*/ior_file_easy.*" },
    [IO500_IOR_HARD] = { "ior-hard", "ior",
                         "./ior {v} --dataPacketType={dataPacketType} {g} -C -Q 1 -g -G={S} -k -e -o {D}/ior-hard/file " STATUS("ior-hard") " {a} "
                         "-t 47008 -b 47008 -s {segmentCount}",
                         "segmentCount", "file" },
    [IO500_MDTEST_EASY] = { "mdtest-easy", "mdtest",
                            "./mdtest {v} --dataPacketType={dataPacketType} {g} -n {n} -u -L -F -P -G {S} -N 1 -d {D}/mdtest-easy "
                            "-x {R}/mdtest-easy.stonewall {a}",
                            "n", "test-dir.* test-dir.*/mdtest_tree.* test-dir.*/mdtest_tree.*/file.mdtest.*" },
    [IO500_MDTEST_HARD] = { "mdtest-hard", "mdtest",
                            "./mdtest {v} --dataPacketType={dataPacketType} {g} -n {n} {I} -t -w 3901 -e 3901 -P -G={S} -N 1 -F -d {D}/mdtest-hard "
                            "-x {R}/mdtest-hard.stonewall {a}",
                            "n", "test-dir.* test-dir.*/mdtest_tree.* test-dir.*/mdtest_tree.*/file.mdtest.*" },
    [IO500_MDW] = { "mdworkbench", "md-workbench",
                    "./md-workbench {v} --dataPacketType={dataPacketType} {g} --process-reports -o={D}/mdworkbench -t={waitingTime} -O=1 "
                    "--run-info-file={R}/mdworkbench.status -D=10 -G={S} -P={precreatePerSet} -I={filesPerProc} {a}",
                    NULL, "[0-9]* [0-9]*/file-*" },
    [IO500_FIND] = { NULL, NULL, NULL, NULL, NULL },
    [IO500_STAMP] = { NULL, NULL, NULL, NULL, NULL },
};

/* name, standard, group, verify, family, words, operation, makes, destroys */
const struct io500_phase io500_phases[] = {
    { "ior-easy-write", true, IO500_BW, true, IO500_IOR_EASY, "-w -D {T} -O stoneWallingWearOut=1" CSV, "write", true, false },
    { "mdtest-easy-write", true, IO500_MD, true, IO500_MDTEST_EASY, "-C -Y -W {T}" DETAILS, "file create", true, false },
    { "mdworkbench-create", false, IO500_NONE, false, IO500_MDW, "-1", "precreate", true, false },
    { "timestamp", true, IO500_NONE, false, IO500_STAMP, "", NULL, false, false },
    { "find-easy", false, IO500_MD, false, IO500_FIND, "mdtest-easy/", NULL, false, false },
    { "ior-hard-write", true, IO500_BW, true, IO500_IOR_HARD, "-w {c} -D {T}" CSV " -O stoneWallingWearOut=1", "write", true, false },
    { "mdtest-hard-write", true, IO500_MD, true, IO500_MDTEST_HARD, "-C -Y -W {T}" DETAILS, "file create", true, false },
    { "find", true, IO500_MD, false, IO500_FIND, "", NULL, false, false },
    { "find-hard", false, IO500_MD, false, IO500_FIND, "mdtest-hard/", NULL, false, false },
    { "mdworkbench-bench", false, IO500_MD, false, IO500_MDW, "-2 -R=2 -X", "benchmark", false, true },
    { "ior-easy-read", true, IO500_BW, false, IO500_IOR_EASY, "-r -R" CSV, "read", false, false },
    { "mdtest-easy-stat", true, IO500_MD, false, IO500_MDTEST_EASY, "-T" DETAILS, "file stat", false, false },
    { "ior-hard-read", true, IO500_BW, false, IO500_IOR_HARD, "-r -R {c}" CSV, "read", false, false },
    { "mdtest-hard-stat", true, IO500_MD, false, IO500_MDTEST_HARD, "-T" DETAILS, "file stat", false, false },
    { "mdworkbench-delete", false, IO500_NONE, false, IO500_MDW, "-3", "cleanup", false, true },
    { "mdtest-easy-delete", true, IO500_MD, false, IO500_MDTEST_EASY, "-r" DETAILS, "file remove", false, true },
    { "mdtest-hard-read", true, IO500_MD, false, IO500_MDTEST_HARD, "-E -X" DETAILS, "file read", false, false },
    { "mdtest-hard-delete", true, IO500_MD, false, IO500_MDTEST_HARD, "-r" DETAILS, "file remove", false, true },
    { "ior-rnd4K-easy-read", true, IO500_NONE, false, IO500_IOR_EASY,
      "./ior {v} --dataPacketType={dataPacketType} {g} -g -G {S} -k -e -o {D}/ior-easy/ior_file_easy -t {transferSize} -b {blockSize} {F} {u} {C} -r -D {T} {a}" CSV
      " -O stoneWallingWearOut=1 -z -z -t=4096 -b=4096 -s=10000000", "read", false, false },
    { .name = NULL }
};

_Static_assert(sizeof(io500_phases) / sizeof(*io500_phases) == IO500_PHASES, "the number of phases and one more");

int io500_phase_find(const char *name)
{
    for (int i = 0; io500_phases[i].name; i++)
        if (strcasecmp(io500_phases[i].name, name) == 0)
            return i;
    return -1;
}

bool io500_is_like(const char *patterns, const char *text, int flags)
{
    char pattern[128];
    size_t len;

    for (const char *at = patterns; (len = strcspn(at, " ")) > 0; at += len + (at[len] == ' '))
        if (len < sizeof(pattern)) {
            memcpy(pattern, at, len);
            pattern[len] = '\0';
            if (fnmatch(pattern, text, flags) == 0)
                return true;
        }
    return false;
}

bool io500_phase_wanted(const struct io500_config *c, const struct io500_phase *phase, bool extended)
{
    const char *section = io500_families[phase->family].section;

    return (extended || phase->standard) && (!section || io500_flag(c, section, "run")) && io500_flag(c, phase->name, "run");
}

/* ---- command lines ---- */

struct maker {
    const struct io500_place *place;
    const struct io500_phase *phase;
    const char *section;
    struct weir_str words; /* each with its NUL */
    struct weir_str word;  /* the one that is made */
    int n;
};

static const char *value_of(const struct maker *m, const char *key)
{
    return io500_text(m->place->config, m->section, key);
}

static void end_word(struct maker *m)
{
    weir_str_add(&m->words, weir_str_text(&m->word), m->word.len + 1);
    m->word.failed |= m->words.failed;
    weir_str_clear(&m->word);
    m->n++;
}

static void add_words(struct maker *m, const char *words)
{
    for (size_t len; words += strspn(words, " \t"), (len = strcspn(words, " \t")) > 0; words += len) {
        weir_str_add(&m->word, words, len);
        end_word(m);
    }
}

/* Words of a flag; false: {NAME} is none. */
static bool add_flag(struct maker *m, const char *name)
{
    static const struct {
        const char *name, *key, *words;
    } flags[] = { { "F", "filePerProc", "-F" }, { "C", "filePerProc", "-C -Q 2" }, { "u", "uniqueDir", "-u" }, { "c", "collective", "-c" } };

    for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
        if (strcmp(flags[i].name, name) == 0) {
            add_words(m, io500_flag(m->place->config, m->phase->name, flags[i].key) ? flags[i].words : "");
            return true;
        }
    return false;
}

/* A value as it is; of the key that limits a phase the default where that is more and the phase is not to be limited. Numbers of md-workbench
 * that the configuration does not have are those that fit. */
static void add_value(struct maker *m, const char *name)
{
    const char *limit = io500_families[m->phase->family].limit;
    const struct io500_config none = { .value = { NULL } };
    const char *own = value_of(m, name), *most = io500_text(&none, m->section, name);
    bool more = m->place->free && limit && strcmp(limit, name) == 0 &&
                io500_number(m->place->config, m->section, name) < io500_number(&none, m->section, name);

    if (*own)
        weir_str_addf(&m->word, "%s", more ? most : own);
    else
        weir_str_addf(&m->word, "%" PRId64, m->place->mdw_files);
}

static void add_named(struct maker *m, const char *name)
{
    const struct io500_place *p = m->place;

    if (strcmp(name, "D") == 0 || strcmp(name, "R") == 0)
        weir_str_addf(&m->word, "%s", *name == 'D' ? p->data : p->results);
    else if (strcmp(name, "q") == 0) /* a value of -O with a blank stands between double quotes */
        weir_str_addf(&m->word, "%s", strpbrk(p->results, " \t") ? "\"" : "");
    else if (strcmp(name, "T") == 0)
        weir_str_addf(&m->word, "%.15g", p->stonewall_s);
    else if (strcmp(name, "S") == 0)
        weir_str_addf(&m->word, "%" PRId64, p->seed + (int64_t)m->phase->family);
    else if (strcmp(name, "phase") == 0)
        weir_str_addf(&m->word, "%s", m->phase->name);
    else
        add_value(m, name);
}

/* {NAME} of a template. */
static void expand(struct maker *m, const char *name)
{
    const struct io500_config *c = m->place->config;
    const char *api = io500_text(c, m->phase->name, "API");
    bool posix = strcasecmp(api, "POSIX") == 0, gpu = io500_flag(c, "global", "io-buffers-on-gpu");

    if (strcmp(name, "a") == 0) {
        add_words(m, posix ? "" : "-a");
        add_words(m, posix ? "" : api);
    } else if (strcmp(name, "v") == 0) {
        for (int64_t n = io500_number(c, m->section, "verbosity"); n > 0; n--)
            add_words(m, "-v");
    } else if (strcmp(name, "g") == 0) {
        add_words(m, !gpu                       ? ""
                     : io500_in_bytes(m->phase) ? "-O allocateBufferOnGPU=1"
                                                : "--allocateBufferOnGPU");
    } else if (strcmp(name, "I") == 0) {
        weir_str_addf(&m->word, *value_of(m, "files-per-dir") ? "-I=%s" : "%s", value_of(m, "files-per-dir"));
    } else if (!add_flag(m, name)) {
        add_named(m, name);
    }
}

/* Make the arguments of a template. */
static void make_words(struct maker *m, const char *at)
{
    for (; *at; at++) {
        const char *end = *at == '{' ? strchr(at, '}') : NULL;
        char name[32] = "";

        if (end && (size_t)(end - at) < sizeof(name)) {
            memcpy(name, at + 1, (size_t)(end - at) - 1);
            expand(m, name);
            at = end;
        } else if (*at != ' ') {
            weir_str_addc(&m->word, *at);
        } else if (m->word.len) {
            end_word(m);
        }
    }
    if (m->word.len)
        end_word(m);
}

static int keep_words(struct maker *m, struct weir_arena *arena, struct io500_command *out, struct weir_err *err)
{
    char *words = weir_arena_alloc(arena, m->words.len + 1, err);
    struct weir_str text = { 0 };

    out->argv = weir_arena_alloc(arena, sizeof(*out->argv) * (size_t)(m->n + 1), err);
    if (!words || !out->argv)
        return -1;
    memcpy(words, m->words.text, m->words.len);
    for (out->argc = 0; out->argc < m->n; words += strlen(words) + 1) {
        bool plain = words[strcspn(words, " \t\"'\\$`*?[]()<>|&;#~")] == '\0'; /* to a shell */

        out->argv[out->argc++] = words;
        weir_str_addf(&text, plain ? "%s%s" : "%s'%s'", text.len ? " " : "", words);
    }
    out->text = text.failed ? NULL : weir_arena_strdup(arena, weir_str_text(&text), err);
    weir_str_free(&text);
    return out->text ? 0 : weir_refuse(err, WEIR_ESETUP, "no memory for a command line");
}

int io500_command_make(const struct io500_place *place, const struct io500_phase *phase, struct weir_arena *arena,
                       struct io500_command *out, struct weir_err *err)
{
    struct maker m = { .place = place, .phase = phase, .section = io500_families[phase->family].section };
    int rc;

    if (strncmp(phase->words, "./", 2) != 0)
        make_words(&m, io500_families[phase->family].words);
    make_words(&m, phase->words);
    rc = m.word.failed ? weir_refuse(err, WEIR_ESETUP, "no memory for a command line") : keep_words(&m, arena, out, err);
    weir_str_free(&m.words);
    weir_str_free(&m.word);
    return rc;
}
