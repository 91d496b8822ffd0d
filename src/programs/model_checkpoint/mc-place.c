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

void mc_place_name(const char *dir, enum mc_name what, int64_t step, struct weir_str *out)
{
    weir_str_addf(out, "%s/%s%0*" PRId64 "%s", dir, forms[what].before, DIGITS, step, forms[what].after);
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

int64_t mc_place_step(const char *name, size_t len, enum mc_name what)
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

bool mc_place_is_file(const char *name)
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

int mc_found_add(struct mc_found *f, int64_t step, struct weir_err *err)
{
    if (!weir_mem_reserve(&f->step, f->n, &f->capacity, sizeof(*f->step)))
        return weir_refuse(err, WEIR_ESETUP, "no memory for a list of checkpoints");
    f->step[f->n++] = step;
    return 0;
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

int mc_place_scan(struct mc_test *t, struct mc_found *f, struct weir_err *err)
{
    int rc;

    *f = (struct mc_found) { .last = -1 };
    rc = t->store->look(t, f, err);
    if (rc == 0 && f->left.failed)
        rc = weir_refuse(err, WEIR_ESETUP, "no memory for the names in '%s'", t->o->path);
    if (f->n > 0)
        qsort(f->step, f->n, sizeof(*f->step), compare);
    return rc;
}

void mc_found_free(struct mc_found *f)
{
    free(f->step);
    weir_str_free(&f->left);
    *f = (struct mc_found) { .last = -1 };
}

/* ---- removal ---- */

int mc_place_remove(struct mc_test *t, const char *path, bool *stays, struct weir_err *err)
{
    struct weir_str names = { 0 };
    bool ours = false;
    int rc = t->store->files(t, path, &names, &ours, err);

    *stays = !ours;
    for (const char *at = NULL; rc == 0 && ours && (at = weir_str_next(&names, at));)
        rc = t->store->unlink(t, at, err);
    if (rc == 0 && ours)
        rc = t->store->rmdir ? t->store->rmdir(t, path, err) : 0;
    weir_str_free(&names);
    return rc;
}
