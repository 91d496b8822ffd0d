/* SPDX-License-Identifier: BSD-3-Clause */
/* session-array.c - arrays of an open file: made, found and closed by all ranks together */
#include "backends/session/session-array.h"

#include <stdlib.h>
#include <string.h>

#include "backends/session/session-array-call.h"

int weir_session_can_array(const struct weir_session *s, const struct weir_array_spec *spec,
                           struct weir_err *err)
{
    const struct weir_array_ops *ops = s->be->array;

    if (!ops)
        return cannot(s, "store arrays", err);
    if (weir_array_spec_check(spec, err) < 0)
        return -1;
    return ops->check ? ops->check(s, spec, err) : 0;
}

int weir_array_check_name(const struct weir_array_file *f, const char *name, struct weir_err *err)
{
    size_t len = strlen(name);

    if (len == 0 || name[0] == '/' || name[len - 1] == '/' || strstr(name, "//"))
        return weir_refuse(err, WEIR_EUSAGE,
                           "'%s' is not a valid name; use a name like 'a' or 'a/b'", name);
    if (strchr(name, '/') && !ops_of(f)->group)
        return cannot(f->s, "create groups", err);
    return 0;
}

/* Take an array out of the list of its file and free it. */
static void drop_array(struct weir_array *a)
{
    struct weir_array **at = &a->file->first;

    while (*at != a)
        at = &(*at)->next;
    *at = a->next;
    free(a);
}

static struct weir_array *find_reserved(const struct weir_array_file *f, const char *name)
{
    struct weir_array *a = f->first;

    while (a && !(a->is_reserved && strcmp(a->name, name) == 0))
        a = a->next;
    return a;
}

/* A struct for an array, in the list of its file: 'a', or where that is NULL a new one. The checks
 * are the same on all ranks; memory is not. */
static struct weir_array *make_array(struct weir_array_file *f, struct weir_array *a,
                                     const char *name, const struct weir_array_spec *spec,
                                     struct weir_err *err)
{
    const struct weir_array *other;

    if (weir_array_check_name(f, name, err) < 0 || weir_session_can_array(f->s, spec, err) < 0)
        return NULL;
    for (other = f->first; other; other = other->next)
        if (other->is_open && strcmp(other->name, name) == 0) {
            weir_refuse(err, WEIR_EUSAGE, "an array of this name is open already");
            return NULL;
        }
    if (!a)
        a = weir_array_add(f, name, err);
    if (!a)
        return NULL;
    a->is_reserved = false;
    a->spec = *spec;
    a->elem = weir_type_bytes(&a->spec.type);
    return a;
}

static int find_array(struct weir_array *a, struct weir_err *err)
{
    struct weir_array_spec have = a->spec;

    if (ops_of(a->file)->find(a, &have, err) < 0)
        return -1;
    if (weir_array_spec_match(&have, &a->spec, err) == 0)
        return 0;
    ops_of(a->file)->release(a, NULL);
    return -1;
}

/* An array that only this rank has is given back. */
int weir_array_open(struct weir_array_file *f, const char *name, bool makes,
                    const struct weir_array_spec *spec, struct weir_array **out,
                    struct weir_err *err)
{
    const char *what = makes ? "create array" : "open array";
    uint64_t next_at = f->next_at;
    struct weir_array *reserved = find_reserved(f, name);
    struct weir_array *a = make_array(f, reserved, name, spec, err);
    int rc = name_step(f, a ? 0 : -1, what, name, err);

    *out = NULL;
    if (f->shared && !f->dry_run && !(reserved && f->s->access.own_results))
        rc = weir_agree_check(f->s->par, rc, err); /* libraries do not bear that a rank stays out */
    if (rc < 0) {
        if (a)
            drop_array(a);
        return -1;
    }
    if (!f->dry_run) {
        enter_array(f->s, what, f->path);
        rc = leave_array(f->s, makes ? ops_of(f)->make(a, err) : find_array(a, err));
    }
    f->made += makes;
    if (agree(f, name_step(f, rc, what, name, err), err) == 0) {
        a->is_open = true;
        *out = a;
        return 0;
    }
    if (rc == 0)
        ops_of(f)->release(a, NULL);
    drop_array(a);
    f->next_at = next_at;
    return -1;
}

int weir_array_close(struct weir_array *a, struct weir_err *err)
{
    struct weir_array_file *f;
    int rc = 0;

    if (!a || !a->is_open)
        return 0;
    f = a->file;
    a->is_open = false;
    if (!f->dry_run) {
        enter_array(f->s, "close an array", f->path);
        rc = leave_array(f->s, ops_of(f)->release(a, err));
    }
    return agree_end(f, name_step(f, rc, "close array", a->name, err), err);
}
