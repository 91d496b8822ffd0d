/* SPDX-License-Identifier: BSD-3-Clause */
/* mc-place.c - the place of checkpoints: names, existing checkpoints, what may be removed */
#include "programs/model_checkpoint/mc.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"

#define DIGITS 8 /* at least */
#define DIGITS_MAX 19

int mc_place_store(struct mc_test *t, const struct weir_backend *be, struct weir_err *err)
{
    t->is_stored = !(be->flags & WEIR_BE_NO_DATA);
    t->is_objects = be->flags & WEIR_BE_OBJECTS;
    t->store = t->is_objects ? &mc_objects : &mc_directories;
    if (!t->is_stored || t->is_objects || (be->ns && be->ns->ordinary))
        return 0;
    return weir_refuse(err, WEIR_EUSAGE, "%s cannot rename directories to publish checkpoints; use "
                                         "a backend like POSIX, URING, MPIIO or S3", be->name);
}

/* ---- names ---- */

static const struct {
    const char *before, *after;
} forms[] = {
    [MC_PUBLISHED] = { "checkpoint-", "" },
    [MC_STAGED] = { ".checkpoint-", ".staged" },
    [MC_REMOVED] = { ".checkpoint-", ".removed" },
};

void mc_place_name(const struct mc_test *t, enum mc_name what, int64_t step, struct weir_str *out)
{
    const int form = t->is_objects ? MC_PUBLISHED : what;

    weir_str_addf(out, "%s/%s%0*" PRId64 "%s", t->o->path, forms[form].before, DIGITS, step,
                  forms[form].after);
}

const char *mc_path(struct mc_test *t, const char *dir, const char *file, struct weir_err *err)
{
    weir_str_clear(&t->path);
    weir_str_addf(&t->path, "%s/%s", dir, file);
    if (!t->path.failed)
        return weir_str_text(&t->path);
    weir_refuse(err, WEIR_ESETUP, "no memory for a name");
    return NULL;
}

int mc_place_files(const void *opt, int tasks, struct weir_files *files, struct weir_err *err)
{
    const struct weir_file_names any = { .n = 1, .trees = true };
    const struct mc_options *o = opt;
    int rc = 0;

    for (size_t i = 0; i < sizeof(forms) / sizeof(*forms) && rc == 0; i++)
        rc = weir_files_add_inside(files, "", o->path, forms[i].before, any, err);
    return rc;
}

/* The step in 'len' bytes of a name; -1: it is no name of ours for that. */
static int64_t step_of(const char *name, size_t len, enum mc_name what)
{
    size_t before = strlen(forms[what].before), after = strlen(forms[what].after), n;
    int64_t step = 0;

    if (len < before + DIGITS + after || strncmp(name, forms[what].before, before) != 0)
        return -1;
    n = len - before - after;
    if (n > DIGITS_MAX || strspn(name + before, "0123456789") < n || strncmp(name + len - after, forms[what].after, after) != 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        step = step * 10 + (name[before + i] - '0');
        if (step >= INT64_MAX / 20)
            return -1;
    }
    return step;
}

/* True for the name of a file of a checkpoint. */
static bool is_file(const char *name)
{
    static const char *const begins[] = { "rank-", "tp-", "parameters-", "optimizer-", "checkpoint." };
    size_t len = strlen(name);

    if (strcmp(name, MC_METADATA) == 0 || strcmp(name, MC_ARRAYS_FILE) == 0)
        return true;
    for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++)
        if (strncmp(name, begins[i], strlen(begins[i])) == 0)
            return len > 5 && strcmp(name + len - 5, ".data") == 0;
    return false;
}

/* ---- existing checkpoints ---- */

struct search {
    const struct mc_test *t;
    struct mc_found *f;
};

static int see(struct mc_found *f, enum mc_name what, int64_t step, struct weir_err *err)
{
    if (!weir_mem_reserve(&f->at, f->n, &f->capacity, sizeof(*f->at)))
        return weir_refuse(err, WEIR_ESETUP, "no memory for a list of checkpoints");
    f->at[f->n++] = (struct mc_seen) { what, step };
    return 0;
}

/* The metadata publish a checkpoint of objects, which has a name for each of its files. */
static int see_object(struct mc_found *f, int64_t step, const char *file, struct weir_err *err)
{
    enum mc_name what = strcmp(file, MC_METADATA) == 0 ? MC_PUBLISHED : MC_STAGED;

    if (f->n == 0 || f->at[f->n - 1].step != step)
        return see(f, what, step, err);
    if (what == MC_PUBLISHED)
        f->at[f->n - 1].what = what;
    return 0;
}

/* A file that has the name of a checkpoint is none, but no checkpoint can have its name. */
static int take_step(void *mine, const char *name, uint64_t bytes, struct weir_err *err)
{
    const struct search *s = mine;
    size_t len = strcspn(name, "/");
    int what = MC_PUBLISHED;
    int64_t step;

    while ((step = step_of(name, len, (enum mc_name)what)) < 0)
        if (what++ == MC_REMOVED)
            return 0;
    s->f->last = step > s->f->last ? step : s->f->last;
    if (what == MC_PUBLISHED && !name[len])
        return 0;
    return s->t->is_objects ? see_object(s->f, step, name + len + 1, err)
                            : see(s->f, (enum mc_name)what, step, err);
}

static int compare(const void *a, const void *b)
{
    const struct mc_seen *x = a, *y = b;

    if (x->what != y->what)
        return x->what < y->what ? -1 : 1;
    return (x->step > y->step) - (x->step < y->step);
}

int mc_place_scan(struct mc_test *t, struct mc_found *f, struct weir_err *err)
{
    struct search s = { t, f };
    int rc;

    *f = (struct mc_found) { .last = -1 };
    rc = t->store->list(t, NULL, take_step, &s, err);
    if (f->n > 0)
        qsort(f->at, f->n, sizeof(*f->at), compare);
    while (f->published < f->n && f->at[f->published].what == MC_PUBLISHED)
        f->published++;
    return rc;
}

/* ---- removal ---- */

/* The names of a checkpoint on their way to a list. */
struct names {
    const char *dir;
    struct weir_str *out;
    bool ours, has_metadata;
};

static int take_name(void *mine, const char *name, uint64_t bytes, struct weir_err *err)
{
    struct names *n = mine;

    n->ours &= is_file(name);
    if (strcmp(name, MC_METADATA) == 0)
        n->has_metadata = true;
    else
        weir_str_addf(n->out, "%s/%s%c", n->dir, name, 0);
    return 0;
}

int mc_place_list(struct mc_test *t, const char *path, struct weir_str *out, bool *ours,
                  struct weir_err *err)
{
    struct weir_str others = { 0 };
    struct names n = { .dir = path, .out = &others, .ours = true };
    int rc = t->store->list(t, path, take_name, &n, err);

    if (rc == 0 && n.has_metadata)
        weir_str_addf(out, "%s/" MC_METADATA "%c", path, 0);
    weir_str_add(out, weir_str_text(&others), others.len);
    if (rc == 0 && (others.failed || out->failed))
        rc = weir_refuse(err, WEIR_ESETUP, "no memory for the names in '%s'", path);
    *ours = rc == 0 && n.ours;
    weir_str_free(&others);
    return rc;
}

int mc_place_remove(struct mc_test *t, const char *path, bool *stays, struct weir_err *err)
{
    struct weir_str names = { 0 };
    bool ours = false;
    int rc = mc_place_list(t, path, &names, &ours, err);

    *stays = !ours;
    for (const char *at = NULL; rc == 0 && ours && (at = weir_str_next(&names, at));)
        rc = t->store->unlink(t, at, err);
    if (rc == 0 && ours)
        rc = t->store->rmdir ? t->store->rmdir(t, path, err) : 0;
    weir_str_free(&names);
    return rc;
}
