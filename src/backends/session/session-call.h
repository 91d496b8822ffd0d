/* SPDX-License-Identifier: BSD-3-Clause */
/* session-call.h - how a session notes the call that it is in; for its own files only */
#ifndef WEIR_BACKENDS_SESSION_SESSION_CALL_H
#define WEIR_BACKENDS_SESSION_SESSION_CALL_H

#include "backends/session/session.h"

/* A call into the backend begins: whoever watches calls that do not return sees it. */
static inline struct weir_session *enter_call(struct weir_session *s, const char *what,
                                              const char *path)
{
    weir_session_enter(s, what, path);
    return s;
}

/* The same for a transfer; io must stay until the call has returned. */
static inline void enter_xfer(struct weir_session *s, const char *path, const struct weir_io *io)
{
    if (s->call)
        weir_call_move(s->call, path, io);
}

/* It has returned; passes its result on. */
static inline int leave_call(struct weir_session *s, int rc)
{
    return weir_session_leave(s, rc);
}

#endif
