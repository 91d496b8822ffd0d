/* SPDX-License-Identifier: BSD-3-Clause */
/* mdw-sets.c - data sets: who reads from whom, names of directories and objects, and the file that
 * keeps the position from run to run */
#include "config.h"
#include "programs/md-workbench/mdw.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/shape/shift.h"
#include "base/size.h"
#include "base/str.h"
#include "base/text/path.h"
#include "base/text/wholefile.h"
#include "par/agree.h"

#define OBJECT "file-"
#define ROOM 64 /* for "/<rank>_<set>/file-<object>" */

static int name_init(struct mdw_name *n, const char *prefix, struct weir_err *err)
{
    size_t len = strlen(prefix);

    n->text = malloc(len + ROOM);
    if (!n->text)
        return weir_fail(err, WEIR_ESETUP, "memory for names of data sets");
    memcpy(n->text, prefix, len);
    n->text[len] = '/';
    n->base = len + 1;
    n->rank = -1;
    return 0;
}

int mdw_sets_shift(const struct mdw_options *o, int size, int d)
{
    return (int)((int64_t)o->offset % size * (((int64_t)d + 1) % size) % size);
}

int mdw_sets_init(struct mdw_test *t, const struct weir_run *run, struct weir_err *err)
{
    const struct mdw_options *o = t->o;
    int rank = run->par.rank, size = run->par.size;

    t->period = o->sets < size ? o->sets : size;
    t->set = calloc((size_t)t->period, sizeof(*t->set));
    t->made = calloc((size_t)o->sets / 8 + 1, 1);
    if (!t->set || !t->made)
        return weir_fail(err, WEIR_ESETUP, "memory for %d data sets (-D)", o->sets);
    for (int d = 0; d < t->period; d++) {
        struct mdw_set *s = &t->set[d];
        int64_t shift = mdw_sets_shift(o, size, d);

        s->from_rank = s->writer = weir_shift_fixed(rank, size, -shift);
        s->to_rank = s->reader = weir_shift_fixed(rank, size, shift);
    }
    if (name_init(&t->own, o->prefix, err) < 0 || name_init(&t->from, o->prefix, err) < 0)
        return -1;
    return name_init(&t->to, o->prefix, err);
}

uint64_t mdw_sets_objects(const struct mdw_test *t)
{
    uint64_t n = 0, sets = (uint64_t)t->o->sets, period = (uint64_t)t->period;

    for (uint64_t d = 0; d < period; d++) /* sets d, d + period ... have as many */
        n += (t->set[d].high - t->set[d].low) * ((sets - d + period - 1) / period);
    return n;
}

void mdw_sets_free(struct mdw_test *t)
{
    free(t->own.text);
    free(t->from.text);
    free(t->to.text);
    free(t->made);
    free(t->set);
}

/* Put the name of the directory in front of what follows it. */
static void choose_dir(struct mdw_name *n, int rank, int set)
{
    char *at = n->text + n->base;

    if (n->rank == rank && n->set == set)
        return;
    at = weir_put_u64(at, (uint64_t)rank);
    *at++ = '_';
    at = weir_put_u64(at, (uint64_t)set);
    memcpy(at, "/" OBJECT, sizeof(OBJECT));
    n->dir = (size_t)(at - n->text);
    n->rank = rank;
    n->set = set;
}

const char *mdw_name_dir(struct mdw_name *n, int rank, int set)
{
    choose_dir(n, rank, set);
    n->text[n->dir] = '\0';
    return n->text;
}

const char *mdw_name_object(struct mdw_name *n, int rank, int set, uint64_t index)
{
    choose_dir(n, rank, set);
    n->text[n->dir] = '/';
    weir_put_u64(n->text + n->dir + sizeof(OBJECT), index);
    return n->text;
}

/* ---- the run-info file ---- */

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
    FILE *f = weir_open_now(path, "r");
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
            rc = weir_refuse(err, WEIR_EUSAGE,
                             "run-info file '%s': 'end' (%" PRId64 ") is before 'first' (%" PRId64
                             ")",
                             path, v[2], v[1]);
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

/* Whole or as it was: a later run must not begin at a part of a position. */
static int write_file(const struct mdw_test *t, uint64_t pos, struct weir_err *err)
{
    struct weir_str text = { 0 };
    int rc;

    weir_str_addf(&text, "pos: %" PRIu64 "\n", pos);
    if (t->ragged)
        weir_str_addf(&text, "first: %" PRIu64 "\nend: %" PRIu64 "\n", t->low, t->high);
    rc = weir_wholefile_put(t->o->position_file, weir_str_text(&text), err);
    weir_str_free(&text);
    return rc < 0 ? weir_err_within(err, "run-info file '%s'", t->o->position_file) : 0;
}

/* A file, or where there is none the place where a link leads to: make it, and leave no trace of
 * that. A device or a pipe is not touched. */
static int try_file(const char *path, const char *what, struct weir_err *err)
{
    struct weir_str place = { 0 };
    struct stat st;
    bool there = stat(path, &st) == 0;
    int fd, rc;

    if (there && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
        return 0;
    rc = weir_link_follow(path, &place, err);
    if (rc == 0) {
        fd = open(weir_str_text(&place), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
        if (fd < 0 || close(fd) < 0)
            rc = weir_fail(err, WEIR_ESETUP, "create %s '%s'", what, path);
        else if (!there)
            unlink(weir_str_text(&place));
    }
    weir_str_free(&place);
    return rc;
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
