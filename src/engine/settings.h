/* SPDX-License-Identifier: BSD-3-Clause */
/* settings.h - text files of options, which rank 0 reads for all */
#ifndef WEIR_ENGINE_SETTINGS_H
#define WEIR_ENGINE_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/options/option.h"
#include "engine/report/report.h"
#include "par/comm.h"

/* A file for all ranks. */
struct weir_shared_text {
    const char *what, *path; /* what it is, for messages; the same on all ranks */
    bool must_be;            /* a file that is not there is an error; else text stays NULL */
    char *text;              /* with a NUL at its end; to be freed, also after an error */
    uint64_t len;            /* bytes without the NUL */
};

/* Fill text and len. Collective over par->comm. Returns 0, or -1 and the same err on all ranks. */
int weir_shared_text_read(const struct weir_par *par, struct weir_shared_text *t,
                          struct weir_err *err);

/* Show options in the results for people as lines of such a file, under the keys of a list that
 * ends with NULL; with changed_only those that do not have their default. And one line that is
 * none of an option. Local. */
void weir_settings_show(struct weir_report *r, const struct weir_opt *rows, const void *values,
                        const char *const *keys, bool changed_only);
void weir_settings_line(struct weir_report *r, const char *key, const char *value);

#endif
