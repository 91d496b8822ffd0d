/* SPDX-License-Identifier: BSD-3-Clause */
/* ior-file.h - the file that a phase uses */
#ifndef WEIR_PROGRAMS_IOR_IOR_FILE_H
#define WEIR_PROGRAMS_IOR_IOR_FILE_H

#include "base/str.h"
#include "engine/phase.h"

struct ior_test;

struct ior_use {
    struct weir_str path;
    struct weir_file *file;    /* open, or NULL */
    struct weir_str facts;     /* what the backend says about it */
    struct weir_str in_effect; /* hints of the first open file, "key\0value\0" each */
    bool knows_hints;
    bool created, removed, made_dir, prefilled;
    int mount;       /* which of the two mounts of -y this rank uses, -1: without -y */
    int owner_mount; /* the same of the task whose data are read */
};

/* ior-file.c: may t->use.path be opened? As weir_session_admit says. Local. -1 and err. */
int ior_file_check(struct ior_test *t, bool write, struct weir_err *err);

/* ior-file.c: warn when the files have another size than the phase should have made or found; a
 * file of a library that is shorter than what was written to it is an error (WEIR_EIO):
 * libraries that buffer do not always report a full disk. Collective over run->par. */
int ior_check_size(struct weir_run *run, struct ior_test *t, const struct weir_phase_rec *rec,
                   struct weir_err *err);

#endif
