/* SPDX-License-Identifier: BSD-3-Clause */
/* log.c - messages for people */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>

#include "base/str.h"

/* One message is one line: a line break inside, in a file name for example, becomes a blank. Other
 * control characters could change the state of a terminal. */
static void join_lines(struct weir_str *s)
{
    for (size_t i = 0; i < s->len; i++) {
        if (s->text[i] == '\n' || s->text[i] == '\r')
            s->text[i] = ' ';
        else if (((unsigned char)s->text[i] < ' ' && s->text[i] != '\t') || s->text[i] == '\177')
            s->text[i] = '?';
    }
}

/* Assemble the line first: a single write keeps lines of many ranks apart. A message that cannot be
 * written is lost: there is no other way to report it. */
static void emit(const struct weir_log *log, const char *kind, const char *title, const char *text)
{
    struct weir_str line = { .text = NULL };
    int before = errno;
    size_t done;

    if (log->observer && log->observer(log->observer_arg, kind, text))
        return;
    weir_str_addf(&line, "%s: %s", title, text);
    join_lines(&line);
    weir_str_addc(&line, '\n');
    if (line.failed)
        weir_write_all(log->fd, "ERROR: no memory for a message\n", 31, &done);
    else
        weir_write_all(log->fd, line.text, line.len, &done);
    weir_str_free(&line);
    errno = before;
}

int weir_warn(const struct weir_log *log, struct weir_err *err, const char *fmt, ...)
{
    struct weir_str text = { .text = NULL };
    va_list ap;
    int rc = 0;

    va_start(ap, fmt);
    weir_str_vaddf(&text, fmt, ap);
    va_end(ap);
    if (log->warnings_are_errors)
        rc = weir_refuse(err, WEIR_EUSAGE, "%s", weir_str_text(&text));
    else if (log->rank == 0)
        emit(log, "warning", "WARNING", weir_str_words(&text));
    weir_str_free(&text);
    return rc;
}

void weir_note(const struct weir_log *log, const char *fmt, ...)
{
    struct weir_str text = { .text = NULL };
    va_list ap;

    if (log->rank != 0)
        return;
    va_start(ap, fmt);
    weir_str_vaddf(&text, fmt, ap);
    va_end(ap);
    emit(log, "note", "NOTE", weir_str_words(&text));
    weir_str_free(&text);
}

void weir_report_error(const struct weir_log *log, const struct weir_err *err)
{
    emit(log, "error", "ERROR", err->text);
}
