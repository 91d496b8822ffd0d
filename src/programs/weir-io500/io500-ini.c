/* SPDX-License-Identifier: BSD-3-Clause */
/* io500-ini.c - INI files: sections of lines "key = value" */
#include "config.h"
#include "programs/weir-io500/io500.h"

#include <string.h>

#include "base/text/quote.h"
#include "base/text/script.h"

static const char blanks[] = " \t\r\v\f";

/* Where a comment begins, or the end of the line. */
static char *end_of_words(char *line)
{
    bool quoted = false;
    char *at = line;

    for (; *at; at++) {
        quoted ^= *at == '"';
        if (!quoted && (*at == '#' || *at == ';') && (at == line || strchr(blanks, at[-1])))
            break;
    }
    return at;
}

/* Without a comment and blanks at its ends. */
static char *trim(char *line)
{
    char *end;

    line += strspn(line, blanks);
    end = end_of_words(line);
    while (end > line && strchr(blanks, end[-1]))
        end--;
    *end = '\0';
    return line;
}

static int read_line(char *line, const char **section, const struct io500_ini_sink *sink, struct weir_err *err)
{
    char *equals = strchr(line, '='), shown[WEIR_QUOTE_TEXT];
    size_t len = strlen(line);

    if (len == 0)
        return 0;
    if (*line == '[' && len > 2 && line[len - 1] == ']') {
        line[len - 1] = '\0';
        *section = trim(line + 1);
        return sink->section(sink->arg, *section, err);
    }
    if (!equals || equals == line || *line == '[')
        return weir_refuse(err, WEIR_EUSAGE, "'%s' is neither '[section]' nor 'key = value'", weir_quote_str(line, shown));
    if (!*section)
        return weir_refuse(err, WEIR_EUSAGE, "a line '[section]' must come before '%s'", weir_quote_str(line, shown));
    *equals = '\0';
    return sink->value(sink->arg, *section, trim(line), trim(equals + 1), err);
}

int io500_ini_read(const char *text, size_t len, const char *name, const struct io500_ini_sink *sink,
                   struct weir_arena *arena, struct weir_err *err)
{
    const char *section = NULL;
    char shown[WEIR_QUOTE_TEXT], *line;
    unsigned long number = 0;
    int rc;

    do {
        number++;
        rc = weir_text_line_copy(&text, &len, arena, &line, err);
        if (rc > 0 && read_line(trim(line), &section, sink, err) < 0)
            rc = -1;
    } while (rc > 0);
    return rc < 0 ? weir_err_within(err, "%s:%lu", weir_quote_str(name, shown), number) : 0;
}
