/* SPDX-License-Identifier: BSD-3-Clause */
/* ini.h - INI files: sections of lines "key = value" */
#pragma once

#include <stddef.h>

#include "base/err.h"

struct weir_arena;

/* Receives the lines of a file. Each function returns 0, or -1 and err: the reader adds "FILE:LINE"
 * and stops. */
struct weir_ini_sink {
    const char *name;     /* of a section, for messages: "section", "GROUP" */
    const char *comments; /* the characters that begin one: "#;" */
    int (*section)(void *arg, const char *section, struct weir_err *err);
    int (*value)(void *arg, const char *section, const char *key, const char *value,
                 struct weir_err *err);
    void *arg;
    unsigned long line; /* the reader sets it before each call */
};

/* Read len bytes. A comment begins a line or stands after a blank, but not within double quotes. The
 * texts live as long as the arena. 'name' is for messages. Local. Returns 0, or -1 and err
 * (WEIR_EUSAGE) "FILE:LINE: ...". */
int weir_ini_read(const char *text, size_t len, const char *name, struct weir_ini_sink *sink,
                  struct weir_arena *arena, struct weir_err *err);
