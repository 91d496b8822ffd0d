/* SPDX-License-Identifier: BSD-3-Clause */
/* preflight.h - checks before the first byte is moved: is there room, do all nodes see the same
 * directory, and would files be lost that this run did not make? */
#ifndef WEIR_ENGINE_PLACE_PREFLIGHT_H
#define WEIR_ENGINE_PLACE_PREFLIGHT_H

#include "engine/test.h"

/* The values of --existing; bits of what a program can do. */
enum {
    WEIR_EXISTING_REPLACE = 1u << 0,
    WEIR_EXISTING_REUSE = 1u << 1,
    WEIR_EXISTING_FAIL = 1u << 2,
    /* Of a program: it reports itself what it does with existing files. */
    WEIR_EXISTING_TOLD = 1u << 3
};

/* The value of --existing; 0: as the program does without it. Local. */
unsigned weir_existing(const struct weir_run_options *o);

#endif
