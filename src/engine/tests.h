/* SPDX-License-Identifier: BSD-3-Clause */
/* tests.h - all tests of a run: plans, outputs, banner, tests, summary */
#ifndef WEIR_ENGINE_TESTS_H
#define WEIR_ENGINE_TESTS_H

#include "engine/driver.h"

/* All tests of a run: plans, outputs, banner, tests, summary. Collective over run->world. Returns
 * the exit status, the same on all ranks; what went wrong was said. */
enum weir_code weir_tests_run(struct weir_run *run, const struct weir_driver *d,
                              const struct weir_values *values, int n, int argc, char *const *argv);

/* Close the outputs. The documents come last and say how the run ended, which programs that read
 * them need: 'code', or what went wrong with another output when nothing else did. Returns the
 * status to end with, the same on all ranks. A no-op without outputs. Collective over
 * run->world. */
enum weir_code weir_outputs_close(struct weir_run *run, enum weir_code code);

#endif
