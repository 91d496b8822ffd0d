/* SPDX-License-Identifier: BSD-3-Clause */
/* cleanup.h - remove what earlier runs left in a directory, and nothing else */
#ifndef WEIR_ENGINE_PLACE_CLEANUP_H
#define WEIR_ENGINE_PLACE_CLEANUP_H

#include "backends/backend.h"
#include "engine/run.h"

/* The meaning of a name. */
enum weir_cleanup {
    WEIR_CLEANUP_OURS,    /* a file, or a directory that is removed when it is empty */
    WEIR_CLEANUP_TREE,    /* a directory of ours with more of ours in it */
    WEIR_CLEANUP_FOREIGN, /* stays, and is counted */
    WEIR_CLEANUP_OTHER    /* stays: nobody expects its removal */
};

/* Names that a program gives, in which '#' stands for a number, and the levels on which they
 * stand: 0 in the directory itself, 1 in one of ours there, and so on. */
struct weir_cleanup_form {
    const char *form;
    bool is_dir;
    int from, to;
    enum weir_cleanup what;
};

/* Remove what the n forms say, and tell how much, on standard output. A name in the directory
 * itself that matches no form counts as OTHER, and on the levels below as FOREIGN. Symbolic links
 * are not followed, and what is mounted there stays. A directory of ours with something foreign in
 * it stays. program: for messages. Rank 0 works. Collective over run->world. Returns 0, or -1 and
 * err on every rank. */
int weir_cleanup(struct weir_run *run, const char *program, const char *dir,
              const struct weir_cleanup_form *forms, size_t n, struct weir_err *err);

/* Check the directory of a test before it begins; dir is a name of the backend. Refused
 * (WEIR_ESETUP): a name of the forms that has another type, such as a link, a device or a pipe. The
 * types are those that directories hold: a file that was touched would be in memory. Of the
 * directories of ours on share_level each rank takes its own, by the numbers in their names. A note
 * comes from time to time. replaces (--existing=replace): then as weir_cleanup, but with a note, and
 * a file system that is mounted at a directory of ours is an error. Nothing where the directory is
 * not there, or the backend stores nothing. Collective over run->world. */
int weir_cleanup_existing(struct weir_run *run, const char *program, const char *dir, bool replaces,
                       const struct weir_backend *be, const struct weir_cleanup_form *forms, size_t n,
                       int share_level, struct weir_err *err);

#endif
