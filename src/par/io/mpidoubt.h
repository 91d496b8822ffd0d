/* SPDX-License-Identifier: BSD-3-Clause */
/* mpidoubt.h - calls that report success and leave an errno: what can be found out about them
 *
 * OMPIO, and libraries on it, report success for transfers that the system refused. Only the errno
 * shows the failure; but calls that succeed can leave an errno, too. So an errno alone proves
 * nothing: it makes weir compare the bytes in the file. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/log.h"
#include "par/io/mpisession.h"

/* The doubtful calls on one open file. Zero-initialise; nothing to free. */
struct weir_mpi_doubt {
    int sys;          /* errno of the first, 0: none */
    const char *call; /* that it was */
    uint64_t calls;   /* that were doubtful */
    uint64_t open;    /* of these, collective writes whose bytes have not been looked at */
    uint64_t lo, hi;  /* the bytes of the file that those may have missed; hi UINT64_MAX: unknown */
};

/* sys, the errno after a call that began with errno 0 and reported success, when it may hide a
 * failure; else 0. Local. */
int weir_mpi_hidden_errno(const struct weir_mpi_session *m, int sys);

/* Record "<call>: <reason of sys>, but the library reports success: <words>". Local. Returns -1. */
int weir_mpi_refuse_hidden(struct weir_err *err, int sys, const char *call, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Change a buffer of len bytes before it is read into, so that a read that moves nothing shows in
 * weir_mpi_doubt_scan, also where the buffer had the right data before. Local. */
void weir_mpi_mark(void *buf, size_t len);

/* Judge the errno after a transfer that reported success, where the bytes cannot be read back.
 * It is an error when it may hide a failure. Local. Returns 0, or -1 and err (WEIR_EIO). */
int weir_mpi_judge_hidden(const struct weir_mpi_session *m, int sys, const char *call,
                          struct weir_err *err);

/* Return how many of the len bytes at offset off of the file equal those of buf. The count ends
 * at the first difference (with swap: at its element). Swap is the size of elements (2, 4 or 8)
 * whose byte order is swapped in the file; 1: none. Local. */
size_t weir_mpi_matching(int fd, const unsigned char *buf, size_t len, uint64_t off, size_t swap);

/* Check a doubtful transfer of this rank: that the len bytes of buf are at offset off of the file,
 * read as a POSIX file. Local. Returns 0 when they are, or -1 and err (WEIR_EIO). */
int weir_mpi_doubt_scan(struct weir_mpi_doubt *d, const char *path, int sys, const char *call,
                        const void *buf, size_t len, uint64_t off, struct weir_err *err);

/* Count a doubtful call that was checked otherwise, and is sound. Local. */
void weir_mpi_doubt_found(struct weir_mpi_doubt *d, int sys, const char *call);

/* A doubtful collective write: it moved bytes of [lo, hi), for other ranks too, so only the whole
 * file can tell, when all have written (weir_mpi_doubt_conclude). Local. */
void weir_mpi_doubt_keep(struct weir_mpi_doubt *d, int sys, const char *call, uint64_t lo,
                         uint64_t hi);

/* Judge the collective writes that were kept, after all ranks have written: syncs the file and
 * searches for bytes that were not written. Only a file that was empty ('fresh') shows them.
 * Only lost pieces of at least a page are found. Every write of the library has at least
 * 'piece' bytes, from multiples of it on. end: highest end of all ranks' writes (UINT64_MAX:
 * one has failed, and nothing is judged). Local. Returns 0 when the bytes are there, or -1 and
 * err (WEIR_EIO) when they are not, or when this is not known. */
int weir_mpi_doubt_conclude(struct weir_mpi_doubt *d, const char *path, bool fresh, uint64_t piece,
                            uint64_t end, struct weir_err *err);

/* A close reported success and left errno sys. It is an error when it is one that close gives: EIO,
 * ENOSPC or EDQUOT, because nothing else shows that a close has failed. Else warns once in a session of
 * the doubtful calls that were sound, from this rank; d NULL: there were none. Local. Returns 0, or
 * -1 and err (WEIR_EIO), also where warnings are errors. */
int weir_mpi_doubt_close(const struct weir_mpi_doubt *d, struct weir_mpi_session *m, int sys,
                         const char *call, const struct weir_log *log, const char *path,
                         struct weir_err *err);
