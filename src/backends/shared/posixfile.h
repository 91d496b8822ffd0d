/* SPDX-License-Identifier: BSD-3-Clause */
/* posixfile.h - files of POSIX, for backends that are built on it and move bytes in another way */
#pragma once

#include "backends/backend.h"

/* The base. Its functions take sessions and files of a backend built on it, too. */
extern const struct weir_backend weir_backend_posix;

/* Its arrays: for itself. */
extern const struct weir_array_ops posix_array_ops;

/* An open file: first member of the file struct of a backend built on POSIX. */
struct weir_posix_file {
    struct weir_file base;
    int fd;
    bool is_plain; /* nothing around a transfer */
    int rw_flags[2]; /* of preadv2 and pwritev2, by enum weir_dir */
    int (*hint)(int fd, void *hints); /* gpfs_fcntl, which tells GPFS of each transfer */
};

/* Functions of struct weir_backend, of POSIX and of backends that are built on it. */
int weir_posix_open_file(struct weir_session *s, const char *path, unsigned flags,
                         struct weir_file *f, struct weir_err *err);
int weir_posix_close_file(struct weir_file *f, struct weir_err *err);
int weir_posix_sync_file(struct weir_file *f, struct weir_err *err);
int weir_posix_request_reason(const struct weir_request *r, struct weir_err *err);

/* The option, without prefix, that asks for calls around each transfer; NULL: none. Local. */
const char *weir_posix_around(const struct weir_session *s);

/* For a backend with a queue: refuse options that ask for a call before and after each transfer.
 * Local. 0, or -1 and err (WEIR_EUSAGE). */
int weir_posix_check_queue(const struct weir_session *s, struct weir_err *err);

/* True when transfers bypass the page cache. Local. */
bool weir_posix_is_direct(const struct weir_session *s);

/* Format a limit of this process (setrlimit(2)) in units of 'unit' bytes with this name. Local. */
#define WEIR_LIMIT_TEXT 32
const char *weir_posix_limit(int resource, unsigned unit, const char *name, char text[WEIR_LIMIT_TEXT]);

/* Record why a transfer failed: 'doing' and the reason in errno, which stays. weir_complete or the
 * session name the transfer. Local. Returns -1. */
int weir_posix_reason(const struct weir_posix_file *f, const char *doing, struct weir_err *err);

/* The reset_dir of struct weir_backend, in a build with Lustre (HAVE_LUSTRE) only. Local. */
int weir_posix_reset_dir(struct weir_session *s, const char *path, struct weir_err *err);
