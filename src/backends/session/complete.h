/* SPDX-License-Identifier: BSD-3-Clause */
/* complete.h - the rest of a transfer after a first call that did not move all of it: EINTR,
 * EAGAIN, short calls, and errors that name the transfer */
#pragma once

#include "backends/backend.h"

/* The first call for io returned n, which is not io->len (-1: err, or errno where err is NULL, has
 * the reason). Go on with xfer, a function as that of struct weir_backend, until all is moved or
 * there is a reason to stop: as weir_session_xfer promises. For the session, and for backends whose
 * transfers end later than their xfer. Local. No allocation. Returns 0, or -1 and err (WEIR_EIO)
 * that names operation, length, offset, path and the bytes done. */
int weir_complete(struct weir_file *f, const struct weir_io *io, ssize_t n,
                  ssize_t (*xfer)(struct weir_file *, const struct weir_io *, struct weir_err *),
                  struct weir_err *err);

/* Explain a failed write of 'bytes' bytes. Libraries do not always report that the file system
 * is full, so this looks at its free space, and adds to err that it is full. Local. */
void weir_explain_write(struct weir_session *s, const char *path, uint64_t bytes,
                        struct weir_err *err);

/* True when this rank may make a transfer again alone: not a collective one. Local. */
static inline bool weir_may_repeat(const struct weir_session *s)
{
    return !(s->access.collective && !s->access.file_per_task &&
             (s->flags & WEIR_BE_COLLECTIVE_XFER));
}
