/* SPDX-License-Identifier: BSD-3-Clause */
/* ini.c - INI files: sections of lines "key = value" */
#include "base/text/ini.h"

#include <string.h>

#include "base/str.h"
#include "base/text/quote.h"
#include "base/text/script.h"

static const char blanks[] = " \t\r\v\f";

/* Where a comment begins, or the end of the line. */
static char *end_of_words(char *line, const char *comments)
{
    bool quoted = false;
    char *at = line;

    for (; *at; at++) {
        quoted ^= *at == '"';
        if (!quoted && strchr(comments, *at) && (at == line || strchr(blanks, at[-1])))
            break;
    }
    return at;
}

/* Without a comment and blanks at its ends. */
static char *trim(char *line, const char *comments)
{
    *end_of_words(line, comments) = '\0';
    return weir_trim(line);
}

static int read_line(char *line, const char **section, struct weir_ini_sink *sink,
                     struct weir_err *err)
{
    char *equals = strchr(line, '='), shown[WEIR_QUOTE_TEXT];
    size_t len = strlen(line);

    if (len == 0)
        return 0;
    if (*line == '[' && len > 2 && line[len - 1] == ']') {
        line[len - 1] = '\0';
        *section = trim(line + 1, sink->comments);
        return sink->section(sink->arg, *section, err);
    }
    if (!equals || equals == line || *line == '[')
        return weir_refuse(err, WEIR_EUSAGE, "'%s' is neither '[%s]' nor 'key = value'",
                           weir_quote_str(line, shown), sink->name);
    if (!*section)
        return weir_refuse(err, WEIR_EUSAGE, "a line '[%s]' must come before '%s'", sink->name,
                           weir_quote_str(line, shown));
    *equals = '\0';
    return sink->value(sink->arg, *section, trim(line, sink->comments),
                       trim(equals + 1, sink->comments), err);
}

int weir_ini_read(const char *text, size_t len, const char *name, struct weir_ini_sink *sink,
                   struct weir_arena *arena, struct weir_err *err)
{
    const char *section = NULL;
    char shown[WEIR_QUOTE_TEXT], *line;
    int rc;

    sink->line = 0;
    do {
        sink->line++;
        rc = weir_text_line_copy(&text, &len, arena, &line, err);
        if (rc > 0 && read_line(trim(line, sink->comments), &section, sink, err) < 0)
            rc = -1;
    } while (rc > 0);
    return rc < 0 ? weir_err_within(err, "%s:%lu", weir_quote_str(name, shown), sink->line) : 0;
}
