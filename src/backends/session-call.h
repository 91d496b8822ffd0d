/* SPDX-License-Identifier: BSD-3-Clause */
/* session-call.h - how a session notes the call that it is in; for its own files only */
#ifndef WEIR_BACKENDS_SESSION_CALL_H
#define WEIR_BACKENDS_SESSION_CALL_H

#include "backends/session.h"

/* A call into the backend begins: whoever watches calls that do not return sees it. The time goes
 * in last. */
static inline struct weir_session *enter_call(struct weir_session *s, const char *what,
                                              const char *path)
{
    if (s->call)
        weir_call_enter(s->call, what, path, 0, 0, weir_now_ns());
    return s;
}

/* It has returned; passes its result on. */
static inline int leave_call(struct weir_session *s, int rc)
{
    if (s->call)
        weir_call_leave(s->call);
    return rc;
}

#endif
