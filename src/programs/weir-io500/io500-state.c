/* SPDX-License-Identifier: BSD-3-Clause */
/* io500-state.c - what a rehearsal keeps for --resume and --cleanup: an INI file, written whole or not at all */
#include "programs/weir-io500/io500-run.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/size.h"
#include "base/text/ini.h"
#include "par/agree.h"
#include "par/textfile.h"

/* ---- numbers of a phase ---- */

enum type { WHOLE, REAL };

static const struct field {
    const char *key;
    enum type type;
    size_t at;
} fields[] = {
#define F(type, name) { #name, type, offsetof(struct io500_done, name) }
    F(WHOLE, began),   F(WHOLE, ended),     F(REAL, seconds),       F(REAL, score),
    F(REAL, measured), F(WHOLE, bytes),   F(WHOLE, operations), F(WHOLE, wrong),
    F(WHOLE, found), F(WHOLE, total),   F(REAL, stonewall_s),   F(REAL, stonewall_rate),
    F(REAL, spread),   F(REAL, iteration1), F(REAL, iteration2),    F(REAL, longest_s),
#undef F
};
#define FIELDS (sizeof(fields) / sizeof(*fields))

static void add_field(const struct field *f, const struct io500_done *done, struct weir_str *out)
{
    const char *at = (const char *)done + f->at;

    weir_str_addf(out, "%s = ", f->key);
    if (f->type == REAL)
        weir_str_addf(out, "%.17g\n", *(const double *)(const void *)at);
    else
        weir_str_addf(out, "%" PRId64 "\n", *(const int64_t *)(const void *)at);
}

static bool read_field(const char *key, const char *value, struct io500_done *done)
{
    const struct field *f = fields;
    void *at;

    while (f < fields + FIELDS && strcmp(f->key, key) != 0)
        f++;
    if (f == fields + FIELDS)
        return false;
    at = (char *)done + f->at;
    if (f->type == REAL)
        weir_real_scan(value, at);
    else
        *(int64_t *)at = strtoll(value, NULL, 10);
    return true;
}

/* ---- writing ---- */

static void add_phases(const struct io500 *t, struct weir_str *out)
{
    for (int i = 0; io500_phases[i].name; i++) {
        const struct io500_done *d = &t->done[i];

        if (!d->done)
            continue;
        weir_str_addf(out, "\n[%s]\n", io500_phases[i].name);
        for (size_t f = 0; f < FIELDS; f++)
            add_field(&fields[f], d, out);
        weir_str_addf(out, "verdict = %s\n", d->verdict);
        for (int r = 0; r < t->reasons; r++)
            if (t->reason[r].phase == i)
                weir_str_addf(out, "reason = \"%s|%s|%s|%s\"\n", t->reason[r].kind, t->reason[r].rule, t->reason[r].text,
                              t->reason[r].remedy);
    }
}

int io500_state_write(const struct io500 *t, int ranks, const char *begins, struct weir_err *err)
{
    struct weir_str text = { 0 };
    int rc;

    weir_str_addf(&text, "# Of weir-io500, for --resume and --cleanup\n[rehearsal]\nversion = %s\n"
                         "mode = %s\nranks = %d\nseed = %" PRId64
                       "\nmdwFiles = %" PRId64 "\nbegins = %s\ndata = \"%s\"\n\n[made]\n",
                  PACKAGE_VERSION, t->extended ? "extended" : "standard", ranks, t->place.seed, t->place.mdw_files, begins ? begins : "", t->place.data);
    for (int f = 0; f <= IO500_FAMILIES; f++)
        if (t->made[f].inode)
            weir_str_addf(&text, "%d = %s %" PRIu64 " %" PRIu64 "\n", f,
                          t->made[f].ours ? "made" : "found", t->made[f].device, t->made[f].inode);
    weir_str_addf(&text, "\n[configuration]\n");
    for (const struct io500_key *k = io500_keys; k->section; k++)
        weir_str_addf(&text, "%s.%s = \"%s\"\n", k->section, k->name,
                      io500_text(&t->config, k->section, k->name));
    add_phases(t, &text);
    rc = io500_put(t, IO500_STATE, &text, err);
    weir_str_free(&text);
    return rc;
}

/* ---- reading ---- */

struct reader {
    struct weir_run *run;
    struct io500 *t;
    bool made_only;
    int phase; /* of the section; -1: none */
};

static int begin_section(void *arg, const char *section, struct weir_err *err)
{
    struct reader *r = arg;

    r->phase = io500_phase_find(section);
    if (r->phase >= 0)
        r->t->done[r->phase] = (struct io500_done) { .done = true, .resumed = true, .valid = true, .spread = 1, .low = NAN, .high = NAN };
    return 0;
}

/* A run that goes on is the same as before. */
static int compare(const char *what, const char *was, const char *is, struct weir_err *err)
{
    if (strcmp(was, is) == 0)
        return 0;
    return weir_refuse(err, WEIR_EUSAGE,
                       "option --resume: %s was '%s' and is '%s' now: a rehearsal must continue "
                       "with the settings that it began with", what, was, is);
}

/* Texts with a '#' are written between double quotes. */
static char *unquote(const char *value, struct weir_arena *arena, struct weir_err *err)
{
    size_t len = strlen(value);
    bool quoted = len >= 2 && value[0] == '"' && value[len - 1] == '"';

    return weir_arena_strndup(arena, value + quoted, len - 2 * quoted, err);
}

static int read_rehearsal(struct reader *r, const char *key, const char *value, struct weir_err *err)
{
    struct io500 *t = r->t;
    char ranks[16];

    if (snprintf(ranks, sizeof(ranks), "%d", r->run->world.size) < 0)
        return -1;
    if (strcmp(key, "seed") == 0)
        t->place.seed = strtoll(value, NULL, 10);
    else if (strcmp(key, "mdwFiles") == 0)
        t->place.mdw_files = strtoll(value, NULL, 10);
    else if (strcmp(key, "begins") == 0 && *value)
        t->began_phase = value;
    else if (strcmp(key, "data") == 0)
        return (t->place.data = unquote(value, &r->run->arena, err)) ? 0 : -1;
    else if (strcmp(key, "ranks") == 0 && !r->made_only)
        return compare("the number of ranks", value, ranks, err);
    else if (strcmp(key, "mode") == 0 && !r->made_only)
        return compare("option --mode", value, t->extended ? "extended" : "standard", err);
    else if (strcmp(key, "version") == 0 && !r->made_only)
        return compare("the version of weir", value, PACKAGE_VERSION, err);
    return 0;
}

static int read_made(struct io500 *t, const char *key, const char *value, struct weir_err *err)
{
    int family = *key >= '0' && *key <= '9' ? *key - '0' : -1;
    const char *numbers = value + strcspn(value, " ");
    char *end;

    if (family < 0 || family > IO500_FAMILIES)
        return weir_refuse(err, WEIR_EUSAGE, "'%s' is not a directory of a rehearsal", key);
    t->made[family].ours = strncmp(value, "made ", 5) == 0;
    t->made[family].device = strtoull(numbers, &end, 10);
    t->made[family].inode = strtoull(end, NULL, 10);
    return 0;
}

static int read_configuration(struct reader *r, const char *key, const char *value, struct weir_err *err)
{
    struct weir_arena *arena = &r->run->arena;
    const char *dot = strchr(key, '.'), *was, *section, *what;

    if (r->made_only || !dot)
        return 0;
    was = unquote(value, arena, err);
    section = weir_arena_strndup(arena, key, (size_t)(dot - key), err);
    what = section ? weir_arena_textf(arena, err, "[%s] %s", section, dot + 1) : NULL;
    if (!was || !what)
        return -1;
    return compare(what, was, io500_text(&r->t->config, section, dot + 1), err);
}

/* "KIND|RULE|TEXT|REMEDY" */
static int read_reason(struct reader *r, const char *value, struct weir_err *err)
{
    static const char *const kinds[] = { "INVALID", "WARNING", "SUSPECT", "NOTE" };
    char *next = unquote(value, &r->run->arena, err);
    const char *kind = next ? strsep(&next, "|") : NULL, *rule = strsep(&next, "|"), *text = strsep(&next, "|");
    struct io500_reason reason = { r->phase, NULL, "NOTE", rule, text, next ? next : "" };

    if (!text)
        return kind ? 0 : -1;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        if (strcmp(kind, kinds[i]) == 0)
            reason.kind = kinds[i];
    return io500_reason_add(NULL, r->t, &reason, err);
}

static int read_value(void *arg, const char *section, const char *key, const char *value, struct weir_err *err)
{
    struct reader *r = arg;

    if (strcmp(section, "rehearsal") == 0)
        return read_rehearsal(r, key, value, err);
    if (strcmp(section, "made") == 0)
        return read_made(r->t, key, value, err);
    if (strcmp(section, "configuration") == 0)
        return read_configuration(r, key, value, err);
    if (r->phase < 0 || r->made_only)
        return 0;
    if (strcmp(key, "reason") == 0)
        return read_reason(r, value, err);
    if (strcmp(key, "verdict") == 0 && strlen(value) < sizeof(r->t->done[0].verdict))
        memcpy(r->t->done[r->phase].verdict, value, strlen(value) + 1);
    else if (!read_field(key, value, &r->t->done[r->phase]) && strcmp(key, "verdict") != 0)
        return weir_refuse(err, WEIR_EUSAGE, "'%s' is not a file of a rehearsal", key);
    return 0;
}

int io500_state_read(struct weir_run *run, struct io500 *t, bool made_only, struct weir_err *err)
{
    struct reader r = { .run = run, .t = t, .made_only = made_only, .phase = -1 };
    struct weir_ini_sink sink = { "section", "#;", begin_section, read_value, &r, 0 };
    struct weir_shared_text text = {
        .what = "state of the rehearsal"
    }; /* not a pipe, as one must not be waited for */
    int rc;

    text.path = weir_arena_textf(&run->arena, err, "%s/" IO500_STATE, t->place.results);
    rc = weir_agree(&run->world, text.path ? 0 : -1, err);
    if (rc == 0)
        rc = weir_shared_text_read(&run->world, &text, err);
    if (rc == 0)
        rc = weir_agree_check(&run->world, weir_ini_read(text.text, text.len, text.path, &sink, &run->arena, err), err);
    free(text.text);
    return rc;
}
