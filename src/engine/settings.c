/* SPDX-License-Identifier: BSD-3-Clause */
/* settings.c - files of options: lines "key = value" */
#include "engine/command.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/options/option.h"
#include "base/str.h"
#include "par/textfile.h"

/* Read the next line "key = value" of *at, without comments ('#') and blanks around key and
 * value. Lines without '=' are skipped. The text at *at is changed; *key and *value point into
 * it. Then *line is the number of the line, from 1. Returns false at the end. */
static bool next_setting(char **at, int *line, char **key, char **value)
{
    while (**at) {
        char *text = *at, *equals;
        size_t len = strcspn(text, "\n");

        *at += len + (text[len] == '\n');
        text[len] = '\0';
        text[strcspn(text, "#")] = '\0';
        ++*line;
        equals = strchr(text, '=');
        if (!equals)
            continue;
        *equals = '\0';
        *key = weir_trim(text);
        *value = weir_trim(equals + 1);
        return true;
    }
    return false;
}

/* ---- lines as option rows ---- */

/* -1: the value is no word for true or false. The first letter counts. */
static int truth_of(const char *value)
{
    if (*value && strchr("tTyY1", *value))
        return 1;
    return *value && strchr("fFnN0", *value) ? 0 : -1;
}

/* A word that says nothing else: a file may be called "none". */
static bool is_truth(const char *value)
{
    static const char *const words[] = { "true", "false", "yes", "no", NULL };

    return weir_opt_choice(words, value) >= 0 || (value[0] && !value[1] && truth_of(value) >= 0);
}

static int apply_line(struct weir_command *c, const char *key, const char *value,
                      struct weir_err *err)
{
    static const char *const flag[] = { "0", "1" };
    const struct weir_opt *row = weir_opt_row_of(c->opts.set[0].rows, key);
    int truth = truth_of(value);

    for (const char *const *skip = c->cli->settings_skip; skip && *skip; skip++)
        if (fnmatch(*skip, key, FNM_CASEFOLD) == 0)
            return 0;
    if (row && row->type == WEIR_OPT_FLAG && truth >= 0)
        value = flag[truth];
    else if (row && row->type == WEIR_OPT_STR && (row->flags & WEIR_OPT_OPTARG) && is_truth(value))
        return truth ? weir_opts_set(&c->opts, key, NULL, err) : 0;
    return weir_opts_set(&c->opts, key, value, err);
}

/* ---- the file of a program ---- */

/* Lines of the file over the defaults, then the command line again, without its notes. */
static int apply(struct weir_command *c, const struct weir_shared_text *t, struct weir_err *err)
{
    char *at = t->text, *key, *value;
    int line = 0;

    if (strlen(t->text) != t->len)
        return weir_refuse(err, WEIR_EUSAGE, "%s: " WEIR_NOT_TEXT, t->path);
    if (weir_opts_defaults(&c->opts, err) < 0)
        return -1;
    while (next_setting(&at, &line, &key, &value))
        if (apply_line(c, key, value, err) < 0)
            return weir_err_within(err, "%s:%d", t->path, line);
    return weir_command_line_again(c, err);
}

int weir_command_settings(struct weir_command *c, const struct weir_par *par,
                          const struct weir_log *log, struct weir_err *err)
{
    struct weir_shared_text t = { .what = "file of options" };
    struct weir_str path = { 0 };
    int rc = 0;

    if (c->cli->settings_file && c->cli->settings_file(c->opts.set[0].values, &path)) {
        t.path = weir_str_text(&path);
        rc = weir_shared_text_read(par, &t, err);
        if (rc == 0 && t.text)
            rc = apply(c, &t, err);
        if (rc == 0 && t.text)
            weir_note(log, "options from '%s'", t.path);
    }
    free(t.text);
    weir_str_free(&path);
    return rc;
}
