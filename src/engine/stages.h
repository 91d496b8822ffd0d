/* SPDX-License-Identifier: BSD-3-Clause */
/* stages.h - the stages of a test, in each of its repetitions; for test.c */
#ifndef WEIR_ENGINE_STAGES_H
#define WEIR_ENGINE_STAGES_H

#include "engine/test.h"

/* The first stages, the repetitions of the others, and the last ones, as the rows of the program
 * say. What a repetition made is removed after it, also after one that failed. Collective over
 * run->par. Returns 0, or -1 and err on every rank; what went wrong on a rank was said. */
int weir_stages_run(struct weir_run *run, struct weir_test *t, struct weir_err *err);

#endif
