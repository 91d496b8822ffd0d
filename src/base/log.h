/* SPDX-License-Identifier: BSD-3-Clause */
/* log.h - messages for people: one line, one write, stderr, from rank 0 unless it concerns a
 * rank */
#pragma once

#include <stdbool.h>

#include "base/err.h"

/* The target of messages. Owned by the run; nothing here is allocated. */
struct weir_log {
    int fd;                   /* usually 2 */
    int rank;                 /* our rank; only rank 0 prints in warn and note */
    int verbose;              /* level of -v */
    bool warnings_are_errors; /* --warningAsErrors */
    /* Gets each message first, without its title; may be NULL. True: it is written by the observer
     * or in a result, so not here. */
    bool (*observer)(void *arg, const char *kind, const char *text);
    void *observer_arg;
};

/* Print "WARNING: <text>" from rank 0. Local. Returns 0; with warnings_are_errors nothing is
 * printed and every rank gets -1 with err filled (WEIR_EUSAGE). */
int weir_warn(const struct weir_log *log, struct weir_err *err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Print "NOTE: <text>" from rank 0. Local. */
void weir_note(const struct weir_log *log, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Print "ERROR: <text>", whatever the rank; the ranks have agreed before which of them prints.
 * Local. */
void weir_report_error(const struct weir_log *log, const struct weir_err *err);
