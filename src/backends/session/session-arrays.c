/* SPDX-License-Identifier: BSD-3-Clause */
/* session-arrays.c - files of arrays: opened, described and closed by all ranks together */
#include "backends/session/session-array.h"

#include <stdlib.h>
#include <string.h>

#include "backends/session/session-array-call.h"

struct weir_array *weir_array_add(struct weir_array_file *f, const char *name, struct weir_err *err)
{
    char *copy;
    struct weir_array *a = weir_piece(ops_of(f)->array_size, sizeof(*a), name, &copy, err);

    if (!a)
        return NULL;
    a->file = f;
    a->name = copy;
    a->next = f->first;
    f->first = a;
    return a;
}

static int call_open(struct weir_array_file *f, unsigned flags, struct weir_err *err)
{
    struct weir_session *s = f->s;

    enter_array(s, "open", f->path);
    return leave_array_op(s, WEIR_OP_OPEN, s->be->array->open(f, flags, err));
}

/* On all ranks, or on none. Rank 0 makes a file that is not opened collectively; others find it. */
static int open_agreed(struct weir_array_file *f, unsigned flags, struct weir_err *err)
{
    const struct weir_par *par = f->s->par;
    const unsigned makes = WEIR_OPEN_CREATE | WEIR_OPEN_TRUNC | WEIR_OPEN_EXCL;
    bool in_turn = flags & makes;
    int rc = 0;

    if (!f->shared || (f->s->flags & WEIR_BE_COLLECTIVE_OPEN))
        return call_open(f, flags, err);
    if (!in_turn || par->rank == 0)
        rc = call_open(f, flags, err);
    if (in_turn && weir_agree(par, rc, err) < 0)
        return -1;
    if (in_turn && par->rank > 0)
        rc = call_open(f, flags & ~makes, err);
    if (weir_agree_call(par, rc, err) == 0)
        return 0;
    if (rc == 0) /* another rank could not */
        ops_of(f)->close(f, NULL);
    return -1;
}

static struct weir_array_file *make_file(struct weir_session *s, const char *path,
                                         struct weir_err *err)
{
    const struct weir_access *h = &s->access;
    char *copy;
    struct weir_array_file *f =
        weir_piece(s->be->array->file_size, sizeof(*f), path, &copy, err);

    if (!f)
        return NULL;
    *f = (struct weir_array_file) {
        .s = s,
        .path = copy,
        .dry_run = h->dry_run,
        .shared = !h->file_per_task,
        .collective = h->collective && !h->file_per_task && (s->flags & WEIR_BE_COLLECTIVE_XFER),
    };
    return f;
}

int weir_arrays_reserve(struct weir_session *s, const char *path, const char *const *names, int n,
                        struct weir_err *err)
{
    struct weir_array_file *f = make_file(s, path, err);

    weir_array_file_free(s->reserved_arrays);
    s->reserved_arrays = f;
    for (int i = 0; f && i < n; i++) {
        struct weir_array *a = weir_array_add(f, names[i], err);

        if (!a)
            return -1;
        a->is_reserved = true;
    }
    return f ? 0 : -1;
}

/* The memory that was reserved for this path, else new memory, which all ranks have or none. */
static struct weir_array_file *take_file(struct weir_session *s, const char *path,
                                         struct weir_err *err)
{
    struct weir_array_file *f = s->reserved_arrays;
    bool shared = !s->access.file_per_task && !s->access.dry_run;

    if (f && strcmp(f->path, path) == 0) {
        s->reserved_arrays = NULL;
        return f;
    }
    f = make_file(s, path, err);
    if (!shared || weir_agree(s->par, f ? 0 : -1, err) == 0)
        return f;
    free(f);
    return NULL;
}

int weir_arrays_open(struct weir_session *s, const char *path, unsigned flags,
                     struct weir_array_file **out, struct weir_err *err)
{
    struct weir_array_file *f;

    *out = NULL;
    if (!s->be->array)
        return cannot(s, "store arrays", err);
    f = take_file(s, path, err);
    if (!f)
        return -1;
    f->writes = flags & WEIR_OPEN_WRITE;
    if (!f->dry_run && open_agreed(f, flags, err) < 0) {
        weir_array_file_free(f);
        return -1;
    }
    s->opened = true;
    if ((flags & WEIR_OPEN_CREATE) && (s->access.file_per_task || s->par->rank == 0))
        weir_session_keep_made(s, path); /* on the rank that removes it */
    *out = f;
    return 0;
}

int weir_arrays_close(struct weir_array_file *f, struct weir_err *err)
{
    struct weir_array *a;
    int rc = 0;

    if (!f)
        return 0;
    for (a = f->first; a; a = a->next)
        if (weir_array_close(a, rc < 0 ? NULL : err) < 0)
            rc = -1;
    if (!f->dry_run) {
        enter_array(f->s, "close", f->path);
        if (leave_array_op(f->s, WEIR_OP_CLOSE, ops_of(f)->close(f, rc < 0 ? NULL : err)) < 0)
            rc = -1;
    }
    rc = agree_end(f, rc, err);
    weir_array_file_free(f);
    return rc;
}

int weir_arrays_commit(struct weir_array_file *f, struct weir_err *err)
{
    int rc;

    if (f->dry_run || !ops_of(f)->commit)
        return 0;
    enter_array(f->s, "commit", f->path);
    rc = leave_array(f->s, ops_of(f)->commit(f, err));
    return agree(f, name_step(f, rc, "define the arrays of", NULL, err), err);
}

void weir_arrays_describe(struct weir_array_file *f, struct weir_str *out)
{
    if (!f->dry_run && ops_of(f)->describe)
        ops_of(f)->describe(f, out);
}

int weir_arrays_sync(struct weir_array_file *f, struct weir_err *err)
{
    int rc;

    if (f->dry_run || !ops_of(f)->sync)
        return 0;
    enter_array(f->s, "sync", f->path);
    rc = leave_array_op(f->s, WEIR_OP_SYNC, ops_of(f)->sync(f, err));
    return agree_end(f, rc, err);
}

/* ---- names within a file ---- */

int weir_arrays_group(struct weir_array_file *f, const char *path, bool makes,
                      struct weir_err *err)
{
    const char *what = makes ? "create group" : "open group";
    int rc;

    if (!ops_of(f)->group)
        return name_step(f, cannot(f->s, "create groups", err), what, path, err);
    rc = agree_check(f, name_step(f, weir_array_check_name(f, path, err), what, path, err), err);
    if (rc < 0)
        return rc;
    if (!f->dry_run) {
        enter_array(f->s, what, f->path);
        rc = leave_array(f->s, ops_of(f)->group(f, path, makes, err));
    }
    return agree(f, name_step(f, rc, what, path, err), err);
}

static int check_attr(const struct weir_attr *attr, struct weir_err *err)
{
    if (!attr->name || !*attr->name || attr->count == 0 || attr->count > INT32_MAX ||
        (unsigned)attr->elem >= WEIR_ELEM_COMPOUND)
        return weir_refuse(err, WEIR_EUSAGE,
                           "an attribute needs a name, a simple type and 1 to 2^31 - 1 elements");
    return 0;
}

int weir_arrays_move_attr(struct weir_array_file *f, enum weir_dir dir, const char *object,
                          const struct weir_attr *attr, struct weir_err *err)
{
    const char *what = dir == WEIR_DIR_WRITE ? "write attribute" : "read attribute";
    int rc;

    if (!ops_of(f)->move_attr)
        return cannot(f->s, "store attributes", err);
    rc = agree_check(f, name_step(f, check_attr(attr, err), what, attr->name, err), err);
    if (rc < 0)
        return rc;
    if (!f->dry_run) {
        enter_array(f->s, what, f->path);
        rc = leave_array(f->s, ops_of(f)->move_attr(f, dir, object, attr, err));
    }
    if (rc < 0)
        weir_err_within(err, "object '%s'", object);
    return agree(f, name_step(f, rc, what, attr->name, err), err);
}
