/* SPDX-License-Identifier: BSD-3-Clause */
/* paths.c - the files and directories that the options of a benchmark name */
#include "config.h"
#include "library/library.h"

#include "base/options/option.h"
#include "engine/command.h"

#define PATHS (WEIR_OPT_PLACE | WEIR_OPT_PLACES | WEIR_OPT_WRITES | WEIR_OPT_ADDS)

/* The i-th path in the value of a row; false: it has *n only. */
static bool path_of(const struct weir_opt *row, const char *value, int i, int *n, struct weir_str *out)
{
    size_t len;

    *n = 1;
    if (row->flags & WEIR_OPT_PLACES) {
        *n = weir_places_count(value);
        value = i < *n ? weir_places_at(value, i, &len) : "";
    } else {
        len = weir_opt_file_length(row, value);
    }
    if (i >= *n)
        return false;
    weir_str_add(out, value, len);
    return true;
}

static bool find_path(const struct weir_opts *opts, int i, struct weir_str *out)
{
    for (struct weir_optrow at = { 0 }; weir_opts_next(opts, &at);) {
        const char *const *field = (const void *)((const char *)at.set->values + at.row->offset);
        const char *value;
        int n;

        if (at.row->type != WEIR_OPT_STR || !(at.row->flags & PATHS))
            continue;
        value = !*field && (at.row->flags & WEIR_OPT_PLACE) ? "." : *field;
        if (!value || !*value)
            continue;
        if (path_of(at.row, value, i, &n, out))
            return true;
        i -= n;
    }
    return false;
}

bool weir_inside_path(const struct weir_program *program, int argc, char *const *argv, int i,
                      struct weir_str *out)
{
    struct weir_run run = { .repetition = 0 };
    struct weir_err err = WEIR_ERR_INIT;
    struct weir_command command;
    bool found = false;

    weir_program_begin(&run, 1); /* not the rank that speaks */
    if (i >= 0 && weir_program_options(&run, &command, program, argc, argv, &err) == 0)
        found = find_path(&command.opts, i, out);
    weir_program_end(&run);
    return found && !out->failed;
}
