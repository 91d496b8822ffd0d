/* SPDX-License-Identifier: BSD-3-Clause */
/* banner.h - the banner: what every program prints before its results */
#pragma once

#include "base/options/option.h"
#include "engine/run.h"

/* Format a time, seconds since 1970, and the time now in strftime's form, in out; empty when it
 * is not known. Local. */
const char *weir_banner_when(int64_t seconds, char out[32], const char *form);
const char *weir_banner_now(char out[32], const char *form);

/* Replace the numbers of nodes and tasks by IOR_FAKE_NODES and IOR_FAKE_TASK_PER_NODES. Rank 0. */
void weir_banner_fakes(struct weir_run *run);

/* Report the program, version of its results and divisor of its deviations, for data readers;
 * and the command line. Rank 0; no-ops elsewhere. */
void weir_banner_program(struct weir_run *run);
void weir_banner_command(struct weir_run *run, unsigned readers);

/* Show people a line: 'heading', the program and its arguments, each between two quotes; 'most'
 * bytes at most. Rank 0. */
void weir_banner_words(struct weir_run *run, const char *heading, char quote, int most);

/* Report system and host of rank 0, with more of it from -v -v on. Rank 0. */
void weir_banner_machine(struct weir_run *run, unsigned readers);

/* The line "Nodemap: 110.." in these forms of the text: which tasks share the node of task 0.
 * Collective over run->world. */
void weir_banner_nodemap(struct weir_run *run, unsigned readers);

/* The value of an option as a fact called name: text for texts and lists, a number for the rest.
 * Rank 0. */
void weir_banner_option(struct weir_run *run, unsigned readers, const char *name,
                        const struct weir_opt *row, const void *values);

/* Report program, command line, machine and provenance for data readers. Rank 0. */
void weir_banner_data(struct weir_run *run);

/* The object "Parameters" of the test that was entered: every option with a long name and its
 * value, for data readers. Rank 0. */
void weir_banner_parameters(struct weir_run *run);

/* The object "optionValues" of the test that was entered: the same for options with any name, and
 * those of its backends under their prefixes. Rank 0. */
void weir_banner_values(struct weir_run *run);

/* The moment as a fact, as ctime(3) has it. Local. */
#define WEIR_BANNER_CTIME "%a %b %e %H:%M:%S %Y"
void weir_banner_time(struct weir_run *run, unsigned readers, const char *key);

/* Report the facts of a backend about an open file (describe in struct weir_backend): lines for
 * people, the text "hints" for data readers. Empties *facts; nothing where it is empty. Rank 0. */
void weir_banner_facts(struct weir_run *run, struct weir_str *facts);

/* Report the facts of an open file of arrays. Rank 0 of run->par; nothing elsewhere. Local. */
struct weir_array_file;
void weir_banner_array_facts(struct weir_run *run, struct weir_array_file *file);

/* The number of the test that was entered, where it is measured, parameters and tasks, for data
 * readers. Collective over run->par. */
void weir_banner_test(struct weir_run *run);
