/* SPDX-License-Identifier: BSD-3-Clause */
/* anonymous.h - results without names: --anonymous
 *
 * In JSON, CSV and the document of a timeline, these texts are left out completely: the command
 * line, the mount point, and the values of options that name files, directories, or are the user's
 * own words (WEIR_OPT_READS, _WRITES, _ADDS, _PLACES, _PRIVATE). All other texts lose what
 * weir_names_hide takes for a name. Hosts are numbered in the order of their first ranks. Text on
 * standard output, messages on standard error and the hash of the configuration stay as they
 * are. */
#ifndef WEIR_ENGINE_ABOUT_ANONYMOUS_H
#define WEIR_ENGINE_ABOUT_ANONYMOUS_H

#include "base/options/option.h"
#include "base/text/names.h"

struct weir_command;
struct weir_run;

/* Of a run; used on rank 0 only. */
struct weir_anonymous {
    bool on;
    struct weir_names names;
    struct weir_str keys; /* of values that are left out completely, each between line ends */
};

/* Learn the names, where --anonymous was given with the first test; before anything is reported.
 * Collective over run->world. */
void weir_anonymous_begin(struct weir_run *run, const struct weir_command *c);

void weir_anonymous_end(struct weir_anonymous *a);

/* The value of 'key' (NULL: a text without one) for documents: itself, or *room, which is replaced.
 * Local. */
const char *weir_anonymous_text(const struct weir_anonymous *a, const char *key, const char *value,
                                struct weir_str *room);

#endif
