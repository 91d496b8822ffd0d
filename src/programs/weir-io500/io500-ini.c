/* SPDX-License-Identifier: BSD-3-Clause */
/* io500-ini.c - INI files: sections of lines "key = value" */
#include "config.h"
#include "programs/weir-io500/io500.h"

#include <string.h>

#include "base/text/quote.h"

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
    const char *end = text + len, *next, *section = NULL;
    char shown[WEIR_QUOTE_TEXT];
    unsigned long number = 0;

    for (; text < end; text = next + (next < end)) {
        char *line;
        int rc;

        number++;
        next = memchr(text, '\n', (size_t)(end - text));
        if (!next)
            next = end;
        line = weir_arena_strndup(arena, text, (size_t)(next - text), err);
        if (!line)
            return -1;
        rc = memchr(text, '\0', (size_t)(next - text))
                 ? weir_refuse(err, WEIR_EUSAGE, "a NUL byte; this is not a text file")
                 : read_line(trim(line), &section, sink, err);
        if (rc < 0)
            return weir_err_within(err, "%s:%lu", weir_quote_str(name, shown), number);
    }
    return 0;
}
