/* SPDX-License-Identifier: BSD-3-Clause */
/* settings.h - files of options: lines "key = value" */
#ifndef WEIR_ENGINE_SETTINGS_H
#define WEIR_ENGINE_SETTINGS_H

#include <stdbool.h>

#include "base/options/option.h"
#include "engine/report/report.h"

/* Show options in the results for people as lines of such a file, under the keys of a list that
 * ends with NULL; with changed_only those that do not have their default. And one line that is
 * none of an option. Local. */
void weir_settings_show(struct weir_report *r, const struct weir_opt *rows, const void *values,
                        const char *const *keys, bool changed_only);
void weir_settings_line(struct weir_report *r, const char *key, const char *value);

#endif
