/* SPDX-License-Identifier: BSD-3-Clause */
/* mdw-position.c - the run-info file: how far the benchmark came, for a later run */
#include "config.h"
#include "drivers/md-workbench/mdw.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/size.h"
#include "par/agree.h"

/* One line "<key>: <number>". 0, or -1 and err. */
static int read_number(FILE *f, const char *path, const char *key, int64_t *out,
                       struct weir_err *err)
{
    char text[128] = "";
    size_t len = strlen(key);

    if (!fgets(text, sizeof(text), f) || strncmp(text, key, len) != 0 || text[len] != ':')
        return weir_refuse(err, WEIR_EUSAGE, "run-info file '%s' has no line '%s: <number>'", path,
                           key);
    text[strcspn(text, "\r\n")] = '\0';
    if (weir_size_parse(text + len + 1, 0, INT64_MAX / 4, out, err) == 0)
        return 0;
    return weir_err_within(err, "run-info file '%s', line '%s'", path, key);
}

int mdw_position_load(const char *path, int64_t v[3], struct weir_err *err)
{
    FILE *f = fopen(path, "r");
    int rc, c;

    if (!f)
        return weir_fail(err, WEIR_ESETUP, "open run-info file '%s' for restart", path);
    rc = read_number(f, path, "pos", &v[0], err);
    c = rc == 0 ? getc(f) : EOF;
    if (c != EOF) {
        ungetc(c, f);
        rc = read_number(f, path, "first", &v[1], err);
        if (rc == 0)
            rc = read_number(f, path, "end", &v[2], err);
        if (rc == 0 && v[2] < v[1])
            rc = weir_refuse(err, WEIR_EUSAGE, "run-info file '%s' ends before it begins", path);
    }
    fclose(f);
    return rc;
}

int mdw_position_read(struct weir_run *run, struct mdw_test *t, struct weir_err *err)
{
    int64_t v[3] = { 0, -1, -1 };
    int rc = run->par.rank == 0 ? mdw_position_load(t->o->position_file, v, err) : 0;

    if (weir_agree(&run->par, rc, err) < 0)
        return -1;
    weir_bcast(&run->par, v, sizeof(v), 0);
    t->pos = t->low = (uint64_t)v[0];
    t->high = t->pos + (uint64_t)t->o->population;
    t->first = t->pos;
    if (v[1] < 0)
        return 0;
    t->lost = t->ragged = true;
    t->low = t->first = (uint64_t)v[1];
    t->high = (uint64_t)v[2];
    if (!t->o->benchmark)
        return 0;
    return weir_warn(&run->log, err,
                     "the run that wrote '%s' left objects missing or tasks at different objects: "
                     "some may not be found",
                     t->o->position_file);
}

static int write_file(const struct mdw_test *t, uint64_t pos, struct weir_err *err)
{
    const char *path = t->o->position_file;
    FILE *f = fopen(path, "w");
    bool bad;

    if (!f)
        return weir_fail(err, WEIR_ESETUP, "create run-info file '%s'", path);
    bad = fprintf(f, "pos: %" PRIu64 "\n", pos) < 0;
    if (t->ragged)
        bad |= fprintf(f, "first: %" PRIu64 "\nend: %" PRIu64 "\n", t->low, t->high) < 0;
    if (fclose(f) != 0 || bad)
        return weir_fail(err, WEIR_ESETUP, "write run-info file '%s'", path);
    return 0;
}

/* Make a file and leave no trace of that. */
static int try_file(const char *path, const char *what, struct weir_err *err)
{
    bool there = access(path, F_OK) == 0;
    FILE *f = fopen(path, "a");

    if (!f)
        return weir_fail(err, WEIR_ESETUP, "create %s '%s'", what, path);
    fclose(f);
    if (!there)
        unlink(path);
    return 0;
}

static int try_files(const struct mdw_options *o, struct weir_err *err)
{
    struct weir_str path = { 0 };
    int rc = 0;

    if (!o->cleanup)
        rc = try_file(o->position_file, "run-info file", err);
    if (rc == 0 && o->latency) {
        weir_str_addf(&path, "%s-try.csv", o->latency);
        rc = try_file(weir_str_text(&path), "latency file", err);
    }
    weir_str_free(&path);
    return rc;
}

int mdw_position_try(struct weir_run *run, const struct mdw_test *t, struct weir_err *err)
{
    return weir_agree(&run->par, run->par.rank == 0 ? try_files(t->o, err) : 0, err);
}

int mdw_position_write(struct weir_run *run, struct mdw_test *t, struct weir_err *err)
{
    int64_t lowest = -(int64_t)t->pos;
    int rc;

    weir_allmax_i64(&run->par, &lowest, 1);
    rc = run->par.rank == 0 ? write_file(t, (uint64_t)-lowest, err) : 0;
    return weir_agree(&run->par, rc, err);
}
