/* SPDX-License-Identifier: BSD-3-Clause */
/* cleanup.h - remove what earlier runs left in a directory, and nothing else */
#pragma once

#include "backends/backend.h"
#include "engine/run.h"

/* The meaning of a name. */
enum weir_cleanup {
    WEIR_CLEANUP_OURS,    /* a file, or a directory that is removed when it is empty */
    WEIR_CLEANUP_LINK,    /* a file or a symbolic link */
    WEIR_CLEANUP_TREE,    /* a directory of ours with more of ours in it */
    WEIR_CLEANUP_FOREIGN, /* stays, and is counted */
    WEIR_CLEANUP_OTHER    /* stays: its removal is not expected */
};

/* Names that a program gives, in which '#' stands for a number, and the levels of directories
 * on which they are. Level 0 is the directory itself, level 1 one of ours there, and so on. */
struct weir_cleanup_form {
    const char *form;
    bool is_dir;
    int from, to;
    enum weir_cleanup what;
};

/* Remove what the n forms match, and print how much on standard output. A name in the directory
 * itself that matches no form counts as OTHER, and on the levels below as FOREIGN. Symbolic links
 * are not followed, and what is mounted there stays. A directory of ours with something foreign in
 * it stays. program: for messages. Rank 0 works. Collective over run->world. Returns 0, or -1 and
 * err on every rank. */
int weir_cleanup(struct weir_run *run, const char *program, const char *dir,
              const struct weir_cleanup_form *forms, size_t n, struct weir_err *err);

/* Check the directory of a test before it begins; dir is a name of the backend. It refuses
 * (WEIR_EUSAGE) what is no directory, or a name of the forms that has another type, as a link. Types
 * are those that directories report: a file that was touched would be in memory. Each rank takes its
 * part of our directories on share_level, by the numbers in their names. Notes report the progress.
 * replaces (--existing=replace): then as weir_cleanup, but with a note, and a file system that is
 * mounted at a directory of ours is an error. Nothing happens when the directory does not exist, or
 * the backend stores nothing. Collective over run->world. */
int weir_cleanup_existing(struct weir_run *run, const char *program, const char *dir, bool replaces,
                       const struct weir_backend *be, const struct weir_cleanup_form *forms, size_t n,
                       int share_level, struct weir_err *err);
