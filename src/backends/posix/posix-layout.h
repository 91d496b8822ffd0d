/* SPDX-License-Identifier: BSD-3-Clause */
/* posix-layout.h - what Lustre, GPFS and BeeGFS let a program ask for beyond POSIX */
#ifndef WEIR_BACKENDS_POSIX_LAYOUT_H
#define WEIR_BACKENDS_POSIX_LAYOUT_H

#include "backends/backend.h"

/* The options, whose rows are in posix.c. */
struct posix_layout {
    int stripe_count, start_ost;
    int64_t stripe_size; /* bytes */
    const char *pool;
    bool ignore_locks;
    bool hint_access, release_token, fine_write, fine_read, create_sharing; /* GPFS */
    int targets;                                                            /* BeeGFS */
    int64_t chunk;                                                          /* bytes */
};

/* Refuse a value that is not the default where this build has not what it takes, and values that
 * do not fit each other. 'rows' and 'opt' are the backend's. Local. Returns 0, or -1 and err
 * (WEIR_EUSAGE). */
int posix_layout_check(const struct weir_opt *rows, const void *opt, const struct posix_layout *l,
                       struct weir_err *err);

/* Make the file with the layout asked for, before it is opened; nothing when none is, or when the
 * file is there. All ranks may do this at the same time. Local. Returns 0, or -1 and err
 * (WEIR_EIO). */
int posix_layout_create(const char *path, const struct posix_layout *l, struct weir_err *err);

/* What is set on a file that is open. Local. Returns 0, or -1 and err (WEIR_EIO). */
int posix_layout_apply(int fd, const char *path, const struct posix_layout *l,
                       struct weir_err *err);

/* Lustre: was this built with its library? The two functions fail where it was not. */
bool posix_has_lustre(void);
int posix_lustre_create(const char *path, const struct posix_layout *l, struct weir_err *err);
int posix_lustre_ignore_locks(int fd, const char *path, struct weir_err *err);

#endif
