/* SPDX-License-Identifier: BSD-3-Clause */
/* session-array-call.h - what the session's own files about arrays share; for them only */
#pragma once

#include "backends/array.h"
#include "backends/session/session.h"
#include "par/agree.h"

static inline const struct weir_array_ops *ops_of(const struct weir_array_file *f)
{
    return f->s->be->array;
}

static inline int cannot(const struct weir_session *s, const char *what, struct weir_err *err)
{
    return weir_refuse(err, WEIR_EUSAGE, "%s cannot %s", s->be->name, what);
}

/* The time of a function of the backend begins: all of it, unless the backend says what counts. */
static inline void begin_timed(struct weir_session *s)
{
    s->timed.call_ns = 0;
    s->timed.exact = false;
    weir_timed_begin(s);
}

/* End the time of an operation, and return it. */
static inline uint64_t end_timed(struct weir_session *s)
{
    if (!s->timed.exact)
        weir_timed_end(s);
    s->timed.sum_ns += s->timed.call_ns;
    return s->timed.call_ns;
}

/* As weir_session_enter and _leave, and the time is summed. */
static inline void enter_array(struct weir_session *s, const char *what, const char *path)
{
    weir_session_enter(s, what, path);
    begin_timed(s);
}

static inline int leave_array(struct weir_session *s, int rc)
{
    end_timed(s);
    return weir_session_leave(s, rc);
}

/* As leave_array, for an operation that has a histogram. */
static inline int leave_array_op(struct weir_session *s, enum weir_op op, int rc)
{
    uint64_t ns = end_timed(s);

    if (rc == 0)
        weir_hist_add(&s->stats->hist[op], ns);
    return weir_session_leave(s, rc);
}

/* The result of closing or flushing, on all ranks of the file unless the caller agrees. */
static inline int agree_end(const struct weir_array_file *f, int rc, struct weir_err *err)
{
    bool agrees = f->shared && !f->dry_run && !f->s->access.own_results;

    return agrees ? weir_agree_call(f->s->par, rc, err) : rc;
}

/* True when functions other than open agree on their results. All ranks define arrays together
 * before they write, so the session agrees before that, also where the caller does. */
static inline bool agrees(const struct weir_array_file *f)
{
    return f->shared && !f->dry_run && (!f->s->access.own_results || ops_of(f)->commit);
}

/* The result of a step on all ranks of the file. */
static inline int agree(const struct weir_array_file *f, int rc, struct weir_err *err)
{
    return agrees(f) ? weir_agree_call(f->s->par, rc, err) : rc;
}

/* As agree, for a check that gives the same result on every rank, where nothing else can fail. */
static inline int agree_check(const struct weir_array_file *f, int rc, struct weir_err *err)
{
    return agrees(f) ? weir_agree_check(f->s->par, rc, err) : rc;
}

/* For the error of a step within a file. */
static inline int name_step(const struct weir_array_file *f, int rc, const char *what,
                            const char *name, struct weir_err *err)
{
    if (rc < 0 && name)
        weir_err_within(err, "%s '%s' in '%s'", what, name, f->path);
    else if (rc < 0)
        weir_err_within(err, "%s '%s'", what, f->path);
    return rc;
}

/* Check that the name is a path without empty parts, and without groups if the backend has
 * none. Local. */
int weir_array_check_name(const struct weir_array_file *f, const char *name, struct weir_err *err);

/* A zeroed array in the list of its file. Local. NULL and err when memory is out. */
struct weir_array *weir_array_add(struct weir_array_file *f, const char *name,
                                  struct weir_err *err);
