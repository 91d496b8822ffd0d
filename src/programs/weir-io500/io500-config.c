/* SPDX-License-Identifier: BSD-3-Clause */
/* io500-config.c - the configuration of IO500: one table of sections, keys and defaults */
#include "programs/weir-io500/io500.h"

#include <fnmatch.h>
#include <stdarg.h>
#include <string.h>
#include <strings.h>

#include "base/size.h"
#include "base/text/ini.h"
#include "base/text/quote.h"

#define API_OF(s) { s, "API", IO500_TEXT, "", "Backend, and its options as words: 'POSIX --posix.odirect'; empty: that of the section above it" }
#define RUN_OF(s) { s, "run", IO500_FLAG, "TRUE", "Run it; a valid run has all phases" }
#define VERBOSITY_OF(s)                                                                            \
    {                                                                                              \
        s, "verbosity", IO500_LEVEL, "", "How often the command line has -v; empty: as [global]"   \
    }
#define COLLECTIVE_OF(s)                                                                           \
    {                                                                                              \
        s, "collective", IO500_FLAG, "", "Collective transfers; empty: as [ior-hard]"              \
    }
#define PHASE(s) API_OF(s), RUN_OF(s)
#define FIND(s)                                                                                                        \
    { s, "external-script", IO500_TEXT, "", "Program that finds instead, whose last line is 'MATCHED found/total'" },   \
    { s, "external-mpi-args", IO500_TEXT, "", "Words before that program: 'mpirun -np 8'" },                            \
    { s, "external-extra-args", IO500_TEXT, "", "Words after its own" },                                                \
    { s, "nproc", IO500_COUNT, "", "Ranks that find; empty: all" },                                                     \
    RUN_OF(s),                                                                                                          \
    { s, "pfind-queue-length", IO500_COUNT, "10000", "Directories that may wait on a rank" },                           \
    { s, "pfind-steal-next", IO500_FLAG, "FALSE", "A rank without work asks the next rank only" },                      \
    { s, "pfind-parallelize-single-dir-access-using-hashing", IO500_FLAG, "FALSE", "Taken, without effect: entries of one directory are always shared" }

const struct io500_key io500_keys[] = {
    { "global", "datadir", IO500_TEXT, "./datafiles", "Directory in which the phases work" },
    { "global", "timestamp-datadir", IO500_FLAG, "TRUE", "Work in a directory below it that is named by the time" },
    { "global", "resultdir", IO500_TEXT, "./results", "Directory of the results" },
    { "global", "timestamp-resultdir", IO500_FLAG, "TRUE", "Put them into a directory below it that is named by the time" },
    { "global", "api", IO500_TEXT, "POSIX", "Backend of all phases, and its options as words" },
    { "global", "drop-caches", IO500_FLAG, "FALSE", "Run drop-caches-cmd on each node before each phase" },
    { "global", "drop-caches-cmd", IO500_TEXT, "sudo -n bash -c \"echo 3 > /proc/sys/vm/drop_caches\"", "The command that drops caches" },
    { "global", "io-buffers-on-gpu", IO500_FLAG, "FALSE", "Buffers in managed memory of a GPU" },
    { "global", "verbosity", IO500_LEVEL, "0", "How often the command lines have -v" },
    { "global", "scc", IO500_FLAG, "FALSE", "Rules of the Student Cluster Competition: phases that write take 30 s" },
    { "global", "dataPacketType", IO500_TEXT, "timestamp", "What stands in the files: timestamp, offset, incompressible, random" },
    { "debug", "stonewall-time", IO500_POSITIVE, "300", "Seconds that a phase which writes takes; other values make the run invalid" },
    { "debug", "pause-dir", IO500_TEXT, "", "A phase does not begin while there is a file with its name in this directory" },
    API_OF("ior-easy"),
    { "ior-easy", "transferSize", IO500_POSITIVE, "2m", "Bytes of a transfer" },
    { "ior-easy", "blockSize", IO500_POSITIVE, "9920000m", "Bytes that a rank writes at most" },
    { "ior-easy", "filePerProc", IO500_FLAG, "TRUE", "A file for each rank" },
    { "ior-easy", "uniqueDir", IO500_FLAG, "FALSE", "Each in a directory of its own" },
    RUN_OF("ior-easy"), VERBOSITY_OF("ior-easy"),
    PHASE("ior-easy-write"),
    API_OF("mdtest-easy"),
    { "mdtest-easy", "n", IO500_POSITIVE, "1000000", "Files that a rank makes at most" },
    RUN_OF("mdtest-easy"), VERBOSITY_OF("mdtest-easy"),
    PHASE("mdtest-easy-write"),
    API_OF("mdworkbench"),
    { "mdworkbench", "waitingTime", IO500_REAL, "0.0", "Pause after each operation, in times of the operation" },
    { "mdworkbench", "precreatePerSet", IO500_POSITIVE, "", "Files of a rank in a set; empty: by the rate of mdtest-easy-write" },
    { "mdworkbench", "filesPerProc", IO500_POSITIVE, "", "Operations of a rank in a set; empty: as many as files" },
    RUN_OF("mdworkbench"), VERBOSITY_OF("mdworkbench"),
    PHASE("mdworkbench-create"),
    RUN_OF("timestamp"),
    FIND("find-easy"),
    API_OF("ior-hard"),
    { "ior-hard", "segmentCount", IO500_POSITIVE, "10000000", "Transfers of 47008 bytes that a rank writes at most" },
    { "ior-hard", "collective", IO500_FLAG, "FALSE", "Collective transfers, with a backend that has them" },
    RUN_OF("ior-hard"), VERBOSITY_OF("ior-hard"),
    PHASE("ior-hard-write"), COLLECTIVE_OF("ior-hard-write"),
    API_OF("mdtest-hard"),
    { "mdtest-hard", "n", IO500_POSITIVE, "1000000", "Files that a rank makes at most" },
    { "mdtest-hard", "files-per-dir", IO500_POSITIVE, "", "Files in a directory; empty: all in one" },
    RUN_OF("mdtest-hard"), VERBOSITY_OF("mdtest-hard"),
    PHASE("mdtest-hard-write"),
    FIND("find"),
    FIND("find-hard"),
    PHASE("mdworkbench-bench"),
    PHASE("ior-easy-read"),
    PHASE("mdtest-easy-stat"),
    PHASE("ior-hard-read"), COLLECTIVE_OF("ior-hard-read"),
    PHASE("mdtest-hard-stat"),
    PHASE("mdworkbench-delete"),
    PHASE("mdtest-easy-delete"),
    PHASE("mdtest-hard-read"),
    PHASE("mdtest-hard-delete"),
    PHASE("ior-rnd4K-easy-read"),
    { .section = NULL }
};

_Static_assert(sizeof(io500_keys) / sizeof(*io500_keys) <= IO500_KEYS_MAX, "io500_values holds all keys");

static const struct io500_key *find_key(const char *section, const char *name)
{
    for (const struct io500_key *k = io500_keys; k->section; k++)
        if (strcasecmp(k->section, section) == 0 && (!name || strcasecmp(k->name, name) == 0))
            return k;
    return NULL;
}

static bool is_flag(const char *value, bool *out)
{
    *out = strcasecmp(value, "TRUE") == 0 || strcmp(value, "1") == 0;
    return *out || strcasecmp(value, "FALSE") == 0 || strcmp(value, "0") == 0;
}

/* ---- words of earlier releases ---- */

static const struct earlier {
    const char *sections, *keys;
    const char *now; /* a key, or an API line that ends with the value of a text; NULL: nothing */
    enum io500_kind kind;
} earlier[] = {
    { "ior-rnd ior-rnd4K ior-rnd1MB", "API blockSize run verbosity randomPrefill", NULL,
      IO500_TEXT },
    { "ior-rnd-write ior-rnd-read ior-rnd4K-write ior-rnd4K-read ior-rnd1MB-write ior-rnd1MB-read "
      "mdtest-easy-read",
      "API run noRun posix.odirect", NULL, IO500_TEXT },
    { "ior-easy ior-hard mdtest-* find", "noRun", "run", IO500_FLAG },
    { "ior-easy* ior-hard* mdtest-*", "posix.odirect", "POSIX --posix.odirect", IO500_FLAG },
    { "ior-easy* ior-hard*", "hintsFileName", "MPIIO --mpiio.hintsFileName=", IO500_TEXT },
    { "find", "external-args", "external-extra-args", IO500_TEXT },
};

/* A key that was given, for when all are known. */
struct old_value {
    const struct earlier *word;
    const char *section, *key, *value;
    unsigned long line;
    struct old_value *next;
};

struct reader {
    struct io500_config *c;
    struct weir_arena *arena;
    struct weir_str *notes;
    const char *name;
    struct weir_ini_sink sink;
    struct old_value *first, **last;
};

/* NULL: no release knew it. key NULL: a section of which nothing is left. */
static const struct earlier *find_earlier(const char *section, const char *key)
{
    for (size_t i = 0; i < sizeof(earlier) / sizeof(*earlier); i++)
        if (io500_is_like(earlier[i].sections, section, FNM_CASEFOLD) &&
            (key ? io500_is_like(earlier[i].keys, key, FNM_CASEFOLD) : !earlier[i].now))
            return &earlier[i];
    return NULL;
}

static void __attribute__((format(printf, 4, 5)))
note(struct reader *r, unsigned long line, const char *section, const char *fmt, ...)
{
    char shown[WEIR_QUOTE_TEXT];
    va_list ap;

    weir_str_addf(r->notes, "%s:%lu: [%s] ", weir_quote_str(r->name, shown), line, section);
    va_start(ap, fmt);
    weir_str_vaddf(r->notes, fmt, ap);
    va_end(ap);
    weir_str_addc(r->notes, '\n');
}

/* The API line of its section with the option that a key of an earlier release stands for, or, with FALSE, without that of the section above
 * it. NULL: nothing changes. */
static const char *find_api(const struct reader *r, const struct old_value *o,
                            struct weir_str *text)
{
    const char *api = io500_text(r->c, o->section, "API"), *now = o->word->now,
               *option = strchr(now, ' '), *has = strstr(api, option);
    bool none = api == find_key("global", "api")->def;
    bool same = strncasecmp(api, now, (size_t)(option - now)) == 0, on = true;

    if (o->word->kind == IO500_FLAG)
        is_flag(o->value, &on);
    if (!on && has)
        weir_str_addf(text, "%.*s%s", (int)(has - api), api, has + strlen(option));
    else if (on && !has && (same || none))
        weir_str_addf(text, "%s%s%s", same ? api : "", same ? option : now,
                      o->word->kind == IO500_TEXT ? o->value : "");
    return text->len ? weir_str_text(text) : NULL;
}

static int use_old(struct reader *r, const struct old_value *o, struct weir_err *err)
{
    bool is_api = strchr(o->word->now, ' ') != NULL, flag = false;
    const char *key = is_api ? "API" : o->word->now,
               **to = &r->c->value[find_key(o->section, key) - io500_keys], *value = o->value;
    struct weir_str text = { 0 };

    if (is_api)
        value = find_api(r, o, &text);
    else if (o->word->kind == IO500_FLAG && is_flag(value, &flag))
        value = flag ? "FALSE" : "TRUE";
    if (!value || (*to && !is_api))
        note(r, o->line, o->section,
             "%s = %s is of an earlier release, has no effect here, and is ignored", o->key,
             o->value);
    else
        note(r, o->line, o->section, "%s = %s is of an earlier release: used as %s = %s", o->key,
             o->value, key, value);
    if (value && (!*to || is_api))
        *to = weir_arena_strdup(r->arena, value, err);
    weir_str_free(&text);
    return err->code == WEIR_OK ? 0 : -1;
}

/* Sections above phases come first, since phases take over what these say. */
static int use_all_old(struct reader *r, struct weir_err *err)
{
    for (int of_phases = 0; of_phases < 2; of_phases++)
        for (const struct old_value *o = r->first; o; o = o->next)
            if (*o->value && (io500_phase_find(o->section) >= 0) == of_phases &&
                use_old(r, o, err) < 0)
                return -1;
    return 0;
}

/* ---- reading ---- */

/* Name the nearest word: a section, or with 'section' a key of it. */
static int refuse_unknown(const char *section, const char *typed, struct weir_err *err)
{
    const char *names[IO500_KEYS_MAX + 1] = { NULL };
    char shown[WEIR_QUOTE_TEXT];
    int n = 0;

    for (const struct io500_key *k = io500_keys; k->section; k++)
        if (section ? strcasecmp(k->section, section) == 0 : n == 0 || strcmp(names[n - 1], k->section) != 0)
            names[n++] = section ? k->name : k->section;
    weir_quote_str(typed, shown);
    if (section)
        weir_refuse(err, WEIR_EUSAGE, "there is no key '%s' in section [%s]", shown, section);
    else
        weir_refuse(err, WEIR_EUSAGE, "there is no section [%s]", shown);
    weir_near_ask(err, typed, strlen(typed), names);
    return weir_err_add(err, "; --list shows all");
}

static int begin_section(void *arg, const char *section, struct weir_err *err)
{
    struct reader *r = arg;

    if (find_key(section, NULL))
        return 0;
    if (!find_earlier(section, NULL))
        return refuse_unknown(NULL, section, err);
    note(r, r->sink.line, section,
         "is of an earlier release, and its phases are no longer a part of IO500: it is ignored");
    return 0;
}

static int check_value(const struct io500_key *k, const char *value, struct weir_err *err)
{
    char shown[WEIR_QUOTE_TEXT];
    int64_t n;
    double real;
    bool flag;

    weir_quote_str(value, shown);
    if (k->kind == IO500_FLAG && !is_flag(value, &flag))
        return weir_refuse(err, WEIR_EUSAGE, "'%s = %s': write TRUE or FALSE", k->name, shown);
    if (k->kind == IO500_REAL && (*weir_real_scan(value, &real) || real < 0))
        return weir_refuse(err, WEIR_EUSAGE, "'%s = %s': write a number that is not negative", k->name, shown);
    if ((k->kind == IO500_COUNT || k->kind == IO500_LEVEL || k->kind == IO500_POSITIVE) &&
        weir_size_parse(value, k->kind == IO500_POSITIVE, k->kind == IO500_LEVEL ? 10 : INT64_MAX,
                        &n, err) < 0)
        return weir_err_within(err, "'%s'", k->name);
    return 0;
}

static int keep_old(struct reader *r, const struct old_value *given, struct weir_err *err)
{
    const struct io500_key k = { .name = given->key, .kind = given->word->kind };

    if (!given->word->now)
        return 0;
    if ((*given->value && check_value(&k, given->value, err) < 0) ||
        !(*r->last = weir_arena_alloc(r->arena, sizeof(*given), err)))
        return -1;
    **r->last = *given;
    r->last = &(*r->last)->next;
    return 0;
}

static int keep_value(void *arg, const char *section, const char *key, const char *value, struct weir_err *err)
{
    struct reader *r = arg;
    const struct io500_key *k = find_key(section, key);
    const struct earlier *word = k ? NULL : find_earlier(section, key);

    if (word)
        return keep_old(r, &(struct old_value) { word, section, key, value, r->sink.line, NULL },
                        err);
    if (!k)
        return refuse_unknown(section, key, err);
    if (r->c->value[k - io500_keys])
        note(r, r->sink.line, k->section, "%s is given twice: the last value is used", k->name);
    if (*value && check_value(k, value, err) < 0)
        return -1;
    r->c->value[k - io500_keys] = value;
    return 0;
}

int io500_config_read(const char *text, size_t len, const char *name, struct weir_arena *arena,
                      struct io500_config *c, struct weir_str *notes, struct weir_err *err)
{
    struct reader r = { .c = c,
                        .arena = arena,
                        .notes = notes,
                        .name = name,
                        .sink = { "section", "#;", begin_section, keep_value, &r, 0 },
                        .last = &r.first };
    char shown[WEIR_QUOTE_TEXT];

    if (weir_ini_read(text, len, name, &r.sink, arena, err) < 0 || use_all_old(&r, err) < 0)
        return -1;
    if (io500_number(c, "ior-easy", "blockSize") % io500_number(c, "ior-easy", "transferSize") == 0)
        return 0;
    weir_refuse(err, WEIR_EUSAGE, "[ior-easy] blockSize = %s is no multiple of transferSize = %s",
                io500_text(c, "ior-easy", "blockSize"), io500_text(c, "ior-easy", "transferSize"));
    return weir_err_within(err, "%s", weir_quote_str(name, shown));
}

/* ---- values ---- */

/* The section whose value counts where this one has none: that above a phase, then [global]. NULL: there is none. */
static const char *above(const char *section)
{
    int phase = io500_phase_find(section);

    return phase >= 0                           ? io500_families[io500_phases[phase].family].section
           : strcasecmp(section, "global") != 0 ? "global"
                                                : NULL;
}

const char *io500_text(const struct io500_config *c, const char *section, const char *name)
{
    for (; section; section = above(section)) {
        const struct io500_key *k = find_key(section, name);
        const char *value = k ? c->value[k - io500_keys] : NULL;

        if ((value && *value) || (k && *k->def))
            return value && *value ? value : k->def;
    }
    return "";
}

bool io500_flag(const struct io500_config *c, const char *section, const char *name)
{
    bool flag;

    return is_flag(io500_text(c, section, name), &flag) && flag;
}

int64_t io500_number(const struct io500_config *c, const char *section, const char *name)
{
    int64_t n;

    return weir_size_parse(io500_text(c, section, name), 0, INT64_MAX, &n, NULL) == 0 ? n : -1;
}

void io500_config_show(const struct io500_config *c, struct weir_str *out)
{
    const char *section = "";

    for (const struct io500_key *k = io500_keys; k->section; k++) {
        if (strcmp(section, k->section) != 0)
            weir_str_addf(out, "%s[%s]\n", *section ? "\n" : "", k->section);
        section = k->section;
        if (!c)
            weir_str_addf(out, "# %s\n", k->help);
        weir_str_addf(out, "%s = %s\n", k->name, c ? io500_text(c, section, k->name) : k->def);
    }
}
