/* SPDX-License-Identifier: BSD-3-Clause */
/* posix.h - shared by the files of the backend: direct and atomic transfers, threads, layouts */
#pragma once

#include <pthread.h>

#include "backends/backend.h"

/* ---- direct and atomic transfers (posix-direct.c), and several in flight by threads that each
 * move one (posix-threads.c) ---- */

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

/* submit and complete of struct weir_backend, for a session with threads; neither fails. */
int posix_threads_submit(struct weir_request *r, struct weir_err *err);
int posix_threads_complete(struct weir_file *f, int least, int most, struct weir_request **done,
                           struct weir_err *err);

/* describe of struct weir_backend, with -v: how many threads there are, and how many processors
 * they may use. */
void posix_threads_describe(struct weir_file *f, struct weir_str *out);

/* ---- what Lustre, GPFS and BeeGFS let a program ask for beyond POSIX (posix-layout.c) ---- */

/* The options, whose rows are in posix.c. */
struct posix_layout {
    int stripe_count, start_ost;
    int64_t stripe_size; /* bytes */
    const char *pool, *osts;
    bool ignore_locks, overstripe;
    bool hint_access, release_token, fine_write, fine_read, create_sharing; /* GPFS */
    int targets;                                                            /* BeeGFS */
    int64_t chunk;                                                          /* bytes */
};

/* The type of gpfs_fcntl. */
typedef int posix_hint(int fd, void *hints);

/* One of these file systems. A build without its library has a struct with prefix and needs only;
 * in one with it, the library is loaded when an option asks for what it does. All functions are
 * local, do nothing unless an option asks for it, and return 0, or -1 and err (WEIR_EIO, check:
 * WEIR_EUSAGE; and WEIR_ESETUP where the library is not there). Any may be NULL. */
struct posix_fs {
    const char *prefix, *needs; /* "lustre." of its options; what a build takes */
    bool is_built;              /* with its library? */
    const char *const *missing; /* options that its library is too old for; NULL-terminated */
    const char *const *files;   /* the library, for posix_function; NULL: there is none to load */
    const char *function;       /* one that it must have */
    int (*check)(const struct posix_layout *l, struct weir_err *err);
    /* before a file is opened to be created, and on a file that is open */
    int (*create)(const char *path, const struct posix_layout *l, struct weir_err *err);
    int (*apply)(int fd, const char *path, const struct posix_layout *l, struct weir_err *err);
    /* 1: the file's layout is not that asked for, 0: it is, -1: not known, or none was asked for. */
    int (*is_other)(const char *path, const struct posix_layout *l);
    /* around each transfer, with 'function'; errno holds the reason where they return -1 */
    int (*announce)(posix_hint *hint, int fd, const struct weir_io *io);
    int (*withdraw)(posix_hint *hint, int fd, const struct weir_io *io);
};

/* Open the directory of path for reading (the caller closes it); *name gets the name in it, a part
 * of path. Local, without allocation. Returns -1 and err (WEIR_EIO). */
int posix_open_parent(const char *path, const char **name, struct weir_err *err);

/* Find the function of this name in a library, whose names for the dynamic linker, or paths, are
 * 'files' (NULL-terminated). The first that can be loaded counts, and stays until the process ends.
 * Local. NULL and err (WEIR_ESETUP) that says what is missing and where it was looked for. */
void *posix_function(const char *const *files, const char *name, struct weir_err *err);

extern const struct posix_fs posix_lustre, posix_gpfs, posix_beegfs;

/* Refuse a value that is not the default where this build lacks what the option needs, and values
 * that contradict each other. 'rows' and 'opt' are the backend's. Local. Returns 0, or -1 and err
 * (WEIR_EUSAGE). */
int posix_layout_check(const struct weir_opt *rows, const void *opt, const struct posix_layout *l,
                       struct weir_err *err);

/* Make the file with the layout asked for, before it is opened; nothing when none is, or when the
 * file is there. All ranks may do this at the same time. Local. Returns 0, or -1 and err
 * (WEIR_EIO). */
int posix_layout_create(const char *path, const struct posix_layout *l, struct weir_err *err);

/* 1: the file's layout is not that asked for, 0: it is, -1: not known, or none was asked for. Local. */
int posix_layout_is_other(const char *path, const struct posix_layout *l);

/* Set the layout of an open file. Local. Returns 0, or -1 and err (WEIR_EIO). */
int posix_layout_apply(int fd, const char *path, const struct posix_layout *l,
                       struct weir_err *err);
