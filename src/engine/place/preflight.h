/* SPDX-License-Identifier: BSD-3-Clause */
/* preflight.h - checks before the first byte is moved: is there room, do all nodes see the same
 * directory, and would files be lost that this run did not make? */
#ifndef WEIR_ENGINE_PLACE_PREFLIGHT_H
#define WEIR_ENGINE_PLACE_PREFLIGHT_H

#include "engine/test.h"

/* What --existing can say; bits of what a program can do. */
enum {
    WEIR_EXISTING_REPLACE = 1u << 0,
    WEIR_EXISTING_REUSE = 1u << 1,
    WEIR_EXISTING_FAIL = 1u << 2,
    /* Of a program: it reports itself what it does with existing files. */
    WEIR_EXISTING_TOLD = 1u << 3
};

/* What --existing asks for; 0: as the program does without it. Local. */
unsigned weir_existing(const struct weir_run_options *o);

/* Can the program of the test do what --existing and --drop-cache ask for? Local, the same on all
 * ranks. -1 and err (WEIR_EUSAGE). */
int weir_guard_check(const struct weir_test *t, struct weir_err *err);

/* Check the directory of a test that writes ordinary files, where its plan names one: 'path' and
 * 'shared' of the plan, and the files that 'target' of the program names. Refused (WEIR_ESETUP):
 * too little room; a directory that is another one on another node, for shared files (for others a
 * finding); with --existing=fail, a file that is there and that this run did not make; where such
 * files are replaced, a note says how many. A dry run touches nothing; what it would need and does not find
 * is a finding. A function for weir_together. */
int weir_guard(struct weir_run *run, void *state, struct weir_err *err);

#endif
