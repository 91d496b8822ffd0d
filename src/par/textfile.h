/* SPDX-License-Identifier: BSD-3-Clause */
/* textfile.h - text files that rank 0 reads for all ranks */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "par/comm.h"

/* Append a text file, without the mark of UTF-8 with which some editors begin it. 'what' it is, for messages. Local.
 * Returns 0, or -1 and err with this code. */
int weir_text_read(const char *what, const char *path, enum weir_code code, struct weir_str *text,
                   struct weir_err *err);

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

/* Distribute the text of rank 0, which is already in memory there (text and len). */
int weir_shared_text_bcast(const struct weir_par *par, struct weir_shared_text *t,
                           struct weir_err *err);
