/* SPDX-License-Identifier: BSD-3-Clause */
/* session.h - what every backend gets without writing it: dry run, retries, sync after each write,
 * latencies, errors that name the operation */
#pragma once

#include <string.h>

#include "backends/backend.h"
#include "base/clock.h"

/* The use of a file: a REPLACEd one is removed, or made anew, by the run. */
enum weir_intent { WEIR_INTENT_READ, WEIR_INTENT_WRITE, WEIR_INTENT_REPLACE };

/* The first half of a session: allocate priv and stats, check the options against the access. opt,
 * par and log must outlive the session. Local. 0, or -1 and err; then nothing is left. */
int weir_session_prepare(struct weir_session *s, const struct weir_backend *be,
                         struct weir_backend_opt opt, const struct weir_access *access,
                         const struct weir_par *par, const struct weir_log *log,
                         struct weir_err *err);

/* The second half: the backend's begin. Collective when that is (libraries with their own
 * communicator), so all ranks must have agreed that they are prepared. 0, or -1 and err; then
 * weir_session_end releases the session. */
int weir_session_start(struct weir_session *s, struct weir_err *err);

/* For weir_session_start, before the begin of the backend and after it: with s->gpu, s->be becomes
 * a copy whose functions move memory of a GPU. Local. 0, or -1 and err (WEIR_ESETUP). */
int weir_session_gpu_wrap(struct weir_session *s, bool before, struct weir_err *err);

/* Do both halves, prepare and start, for one rank alone or where prepare cannot fail on some
 * ranks only. 0, or -1 and err; then nothing is left. */
int weir_session_begin(struct weir_session *s, const struct weir_backend *be,
                       struct weir_backend_opt opt, const struct weir_access *access,
                       const struct weir_par *par, const struct weir_log *log,
                       struct weir_err *err);

/* Do only the check of weir_session_begin, and that of the geometry that its files will be
 * opened with (NULL: not known), without allocating anything that stays. Local. */
int weir_session_check(const struct weir_backend *be, struct weir_backend_opt opt,
                       const struct weir_access *access, const struct weir_extent *extent,
                       const struct weir_par *par, const struct weir_log *log,
                       struct weir_err *err);

/* End a session that was prepared, started or not; nothing happens to a zeroed one. Collective when
 * the backend's end is. 0, or -1 and err; released in both cases. */
int weir_session_end(struct weir_session *s, struct weir_err *err);

/* Reserve memory for the next weir_session_open of this path. Where that is collective, a rank
 * that finds no memory would leave the others in it: reserve before, and agree. Released by the
 * open or the end of the session. Local. 0, or -1 and err (WEIR_ESETUP). */
int weir_session_reserve(struct weir_session *s, const char *path, struct weir_err *err);

/* Open path; *out is owned by the session until weir_session_close. extent: the geometry of the
 * file, of which the file keeps a copy (NULL: not known). Collective if the backend is and the
 * file is shared. Errors: "open '<path>' ...: <reason>", WEIR_EIO. */
int weir_session_open(struct weir_session *s, const char *path, unsigned flags,
                      const struct weir_extent *extent, struct weir_file **out,
                      struct weir_err *err);

/* Close and free, also when closing fails. f may be NULL (does nothing). */
int weir_session_close(struct weir_file *f, struct weir_err *err);

/* Allocate memory for one file, for files that are opened and closed many times, one after the
 * other. Release it with free() when the file is closed. Local. NULL and err (WEIR_ESETUP). */
struct weir_file *weir_session_slot(const struct weir_session *s, struct weir_err *err);

/* For --io-timeout: a program that calls functions of s->be->ns directly notes each call with
 * 'enter' and 'leave', and a transfer, whose io must stay, with 'enter_xfer'. They read no clock and
 * fill no histogram; without a watchdog they do nothing. They return s, and 'leave' rc. Local. */
static inline struct weir_session *weir_session_enter(struct weir_session *s, const char *what,
                                                      const char *path)
{
    if (s->call)
        weir_call_name(s->call, what, path);
    return s;
}

static inline void weir_session_enter_xfer(struct weir_session *s, const char *path,
                                           const struct weir_io *io)
{
    if (s->call)
        weir_call_move(s->call, path, io);
}

static inline int weir_session_leave(struct weir_session *s, int rc)
{
    if (s->call)
        weir_call_end(s->call);
    return rc;
}

/* Check that this file may be used. Called before each phase that opens it, since an open of a pipe waits. It
 * refuses a pipe, a socket, a directory, and links that form a loop or lead nowhere. A device is refused where it
 * would be removed or replaced. With access.own_names all but a regular file are, a link to one included. The error
 * is WEIR_EUSAGE (with own_names WEIR_ESETUP), and WEIR_EIO once the session has opened files, for then the file has
 * changed. Returns 0 where nothing is there, and without a look where a session has no files. */
int weir_session_admit(struct weir_session *s, const char *path, enum weir_intent intent,
                       struct weir_err *err);

/* weir_session_open and weir_session_close in a slot, without allocation, clock and histogram: the
 * caller measures. Nothing of the file is in flight when it is closed. path must outlive the open
 * file. */
static inline int weir_session_open_slot(struct weir_session *s, struct weir_file *slot,
                                         const char *path, unsigned flags,
                                         const struct weir_extent *extent, struct weir_err *err)
{
    if (s->be->file_size > 0)
        memset(slot, 0, s->be->file_size);
    *slot = (struct weir_file) { .s = s, .path = path };
    if (extent)
        slot->extent = *extent;
    if (s->access.dry_run)
        return 0;
    /* Backends without MPI do not follow links, nor wait for pipes; a library's open does. */
    if ((s->be->flags & WEIR_BE_NEEDS_MPI) && s->access.own_names &&
        weir_session_admit(s, path, WEIR_INTENT_WRITE, err) < 0)
        return -1;
    weir_session_enter(s, "open", path);
    return weir_session_leave(s, s->be->open(s, path, flags, slot, err));
}

static inline int weir_session_close_slot(struct weir_file *slot, struct weir_err *err)
{
    struct weir_session *s = slot->s;

    if (s->access.dry_run)
        return 0;
    weir_session_enter(s, "close", slot->path);
    return weir_session_leave(s, s->be->close(slot, err));
}

/* For weir_session_xfer only: what its first call left over, the other bytes and the sync. */
int weir_session_finish_xfer(struct weir_file *f, const struct weir_io *io, ssize_t n,
                             struct weir_err *err);

/* Move all of io, in as many calls as it takes. EINTR and EAGAIN are tried again, and short transfers
 * continued (unless access.single_try). A read past the end of the file and a write that makes no
 * progress are errors that name file, offset, length and progress. With access.sync_each one sync
 * follows a write, inside the same interval. *clock_ns is when the operation starts (the caller's
 * last clock read), and is set to when it ends: One clock read a transfer. The
 * difference goes into the histogram, unless the transfer failed or its length was 0. Returns 0, or -1
 * and err (WEIR_EIO). No allocation. */
static inline __attribute__((always_inline)) int weir_session_xfer(struct weir_file *f,
                                                                   const struct weir_io *io,
                                                                   uint64_t *clock_ns,
                                                                   struct weir_err *err)
{
    /* Inline for speed: entering the kernel clears the processor's predictions of return
     * addresses. So each level of calls above a system call costs about 8 ns, and a transfer of
     * 4 KiB takes 600. */
    struct weir_session *s = f->s;
    uint64_t end_ns;
    ssize_t n;
    int rc = 0;

    if (!s->access.dry_run) {
        weir_session_enter_xfer(s, f->path, io);
        n = s->be->xfer(f, io, err);
        if (__builtin_expect(n != (ssize_t)io->len || s->access.sync_each, 0))
            rc = weir_session_finish_xfer(f, io, n, err);
        if (s->call)
            weir_call_end(s->call);
    }
    end_ns = weir_now_ns();
    if (rc == 0 && weir_io_acts(io)) /* only taking part in others' transfers is not one */
        weir_hist_add(&s->stats->hist[WEIR_OP_XFER], end_ns - *clock_ns);
    *clock_ns = end_ns;
    return rc;
}

/* Several transfers at a time, where the backend has a queue (s->depth > 1). Others and dry runs
 * have a queue of depth 1, and so have writes with access.sync_each: such a transfer begins and ends in
 * weir_session_complete. All of this is local. Where transfers are collective, all ranks submit the same
 * number, in the same order; a rank that has nothing to move submits length 0. Before the call of
 * weir_session_queue no request is in flight; after it up to depth (1 to s->depth) may be. -1 and err
 * (WEIR_ESETUP). */
int weir_session_queue(struct weir_session *s, int depth, struct weir_err *err);

/* Start the transfer r->io in r->file; r and its buffer must stay until weir_session_complete gives
 * r back. At entry *clock_ns is the time now, when the transfer begins; at the end it is the time
 * of the end of the call. No allocation. -1 and err (WEIR_EIO): r is not in the queue. */
int weir_session_submit(struct weir_request *r, uint64_t *clock_ns, struct weir_err *err);

/* Take back requests that are done, in the order in which they end: 'most' at most, after waiting for
 * 'least' (no more than are in flight; 0: do not wait). They may be of any file of the session; f, an
 * open one, is for messages. A request has moved all of its bytes (n is io.len), by the rules of
 * weir_session_xfer, or failed (n is -1). Its times are begin_ns and end_ns; the difference goes
 * into the histogram unless it failed. Sets *clock_ns to the time now. No allocation. Returns the
 * number of requests in done, and err for the first of them that failed. -1 and err (WEIR_EIO): the
 * state of the requests is no longer known. */
int weir_session_complete(struct weir_file *f, int least, int most, struct weir_request **done,
                          uint64_t *clock_ns, struct weir_err *err);

/* Wait for all that is in flight in the session and forget the outcome: for the end after a
 * failure. weir_session_close calls it. */
void weir_session_drain(struct weir_file *f);

/* Flush the file to stable storage. Backends without sync: 0. Nothing of the file is in flight. */
int weir_session_sync(struct weir_file *f, struct weir_err *err);

/* Functions on names, as in struct weir_ns. Local. In a dry run they do nothing and return 0. A
 * backend that cannot: WEIR_EUSAGE, "<name> cannot ...". */
int weir_session_unlink(struct weir_session *s, const char *path, struct weir_err *err);
int weir_session_exists(struct weir_session *s, const char *path, bool *yes, struct weir_err *err);
/* Check that a file may be created (weir_session_admit). *yes: nothing exists at this path, so what
 * this run makes there may be removed; false after an error. */
int weir_session_is_new(struct weir_session *s, const char *path, bool *yes, struct weir_err *err);
/* Check whether a file exists, or unlink it. Symbolic links are followed, also to a missing
 * target: the target is the file, and the link stays as the user made it. With access.own_names
 * links are refused (WEIR_EIO). weir_session_unlink and weir_session_remove never remove a
 * device, a pipe or a socket (WEIR_EIO). */
int weir_session_has_file(struct weir_session *s, const char *path, bool *yes, struct weir_err *err);
/* Keep which file was just opened to be made, for weir_session_remove: from what the kernel knows
 * of the name, without a request to a server. Local. */
void weir_session_keep_made(struct weir_session *s, const char *path);
/* Remove a file. It is an error (WEIR_EIO) when the file that was opened last to be made has vanished or been replaced. */
int weir_session_remove(struct weir_session *s, const char *path, struct weir_err *err);
/* Check that a file may be created (weir_session_admit), and remove an old one of that name. */
int weir_session_clear(struct weir_session *s, const char *path, struct weir_err *err);
int weir_session_size(struct weir_session *s, const char *path, uint64_t *bytes,
                      struct weir_err *err);
int weir_session_mkdir(struct weir_session *s, const char *path, unsigned mode,
                       struct weir_err *err);
int weir_session_rmdir(struct weir_session *s, const char *path, struct weir_err *err);
int weir_session_usage(struct weir_session *s, const char *path, struct weir_fs_usage *u,
                       struct weir_err *err);
int weir_session_syncfs(struct weir_session *s, const char *path, struct weir_err *err);
int weir_session_list(struct weir_session *s, const char *dir, const char *begin, weir_name_fn *take, void *mine,
                      struct weir_err *err);
int weir_session_reset_dir(struct weir_session *s, const char *path, struct weir_err *err);

/* Forgets the latencies measured so far. */
void weir_session_reset(struct weir_session *s);
