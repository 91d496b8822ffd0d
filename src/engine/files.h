/* SPDX-License-Identifier: BSD-3-Clause */
/* files.h - the table of files that a run reads and writes, to refuse two names of one file */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"
#include "base/options/option.h"
#include "base/str.h"

enum weir_file_use {
    WEIR_FILE_READ,
    WEIR_FILE_WRITE,
    WEIR_FILE_ADD /* tests of a script write it one after the other, each after the one before */
};

/* The names of many files: number i of n, from 0, is appended to out. All of them begin with
 * 'prefix'. The function and arg live as long as the table. */
struct weir_file_names {
    const char *prefix;
    uint64_t n;
    void (*name)(const void *arg, uint64_t i,
                 struct weir_str *out); /* NULL: all that begin with prefix; n is 1 */
    const void *arg;
    bool trees; /* directories with all below them; looked at for jobs at once only */
};

/* Zero-initialise but for arena, which owns the entries. Paths and roles are not copied. */
struct weir_program;
struct weir_files {
    struct weir_arena *arena;
    struct weir_file_entry *entry;
    int n, capacity;
    /* The test, for observers that check its options and add files. */
    const struct weir_program *program;
    const struct weir_opt *rows;
    int tasks; /* at most */
    int test; /* of the entries that come */
    bool at_once; /* the table is of jobs that run at once, see weir_files_meet */
    int job;      /* of the entries that come; -1: of none of them */
};

/* Add a file under the words that messages call it by ("option -o (testFile)"). path NULL, "" and
 * "-" are no file. Local. -1 and err when memory is out. */
int weir_files_add(struct weir_files *f, const char *role, const char *path, enum weir_file_use use,
                   struct weir_err *err);
int weir_files_add_names(struct weir_files *f, const char *role,
                         const struct weir_file_names *names, enum weir_file_use use,
                         struct weir_err *err);
/* Add names to write. They begin with 'dir' (NULL: "."), "/" and 'begin', not with names.prefix. */
int weir_files_add_inside(struct weir_files *f, const char *role, const char *dir,
                          const char *begin, struct weir_file_names names, struct weir_err *err);

/* The name of an option in messages; NULL and err when memory is out. Local. */
const char *weir_files_role(struct weir_files *f, const char *prefix, const struct weir_opt *row,
                            struct weir_err *err);

/* Add what the option rows with WEIR_OPT_READS, _WRITES or _ADDS name; of jobs at once _WRITES, _ADDS, _PLACE and
 * _PLACES. Local. */
int weir_files_add_options(struct weir_files *f, const char *prefix, const struct weir_opt *rows,
                           const void *values, struct weir_err *err);

/* Add the files of a list for --report. Local. */
int weir_files_add_reports(struct weir_files *f, const char *list, struct weir_err *err);

/* Refuse (WEIR_EUSAGE) when two entries are one file, also under different names, and one of
 * them is written: the content of the other would be lost. One file is allowed for the same
 * option of two tests. Devices, pipes and directories are not looked at. Local; looks at the
 * file system. Returns 0, or -1 and err that names both roles and the path. */
int weir_files_check(const struct weir_files *f, struct weir_err *err);

/* Returns whether two jobs would use the same file or directory. Then job has these two, the lower
 * one first, and the path is appended to place. Local; asks the file system. */
bool weir_files_meet(const struct weir_files *f, int job[2], struct weir_str *place);
