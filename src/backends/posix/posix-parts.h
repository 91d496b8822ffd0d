/* SPDX-License-Identifier: BSD-3-Clause */
/* posix-parts.h - parts of the backend: direct and atomic transfers (posix-direct.c), and several in
 * flight by threads that each move one (posix-threads.c) */
#ifndef WEIR_BACKENDS_POSIX_POSIX_PARTS_H
#define WEIR_BACKENDS_POSIX_POSIX_PARTS_H

#include <pthread.h>

#include "backends/backend.h"

/* Flags of preadv2 and pwritev2 that older headers do not have. */
#ifndef RWF_ATOMIC
#define RWF_ATOMIC 0x40
#endif
#ifndef RWF_DONTCACHE
#define RWF_DONTCACHE 0x80
#endif

/* Refuse an open file whose transfers cannot be direct, or cannot be atomic, for its geometry. Local. 0,
 * or -1 and err (WEIR_EUSAGE). */
int posix_check_direct(int fd, const struct weir_file *f, struct weir_err *err);
int posix_check_atomic(int fd, const struct weir_file *f, struct weir_err *err);

/* The threads of a session. Zero: there are none. */
struct posix_threads {
    ssize_t (*move)(struct weir_file *f, const struct weir_io *io, struct weir_err *err);
    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t work, done;
    struct weir_request *waiting, *newest; /* a list, and its last */
    struct weir_request *ended;            /* a list */
    bool stop;
    pthread_t *thread;
    int n;
};

/* Start n threads, which take no signals and run where this one may. move: moves one transfer, in
 * any thread. Local. 0, or -1 and err (WEIR_ESETUP); then nothing is left. */
int posix_threads_begin(struct posix_threads *t, int n,
                        ssize_t (*move)(struct weir_file *, const struct weir_io *, struct weir_err *),
                        struct weir_err *err);
/* Wait for the threads. Harmless on zeros. */
void posix_threads_end(struct posix_threads *t);

/* submit and complete of struct weir_backend; neither fails. */
void posix_threads_submit(struct posix_threads *t, struct weir_request *r);
int posix_threads_complete(struct posix_threads *t, int least, int most, struct weir_request **done);

/* Append how many threads there are, and how many processors they may use: "key = value\n". */
void posix_threads_describe(const struct posix_threads *t, struct weir_str *out);

#endif
