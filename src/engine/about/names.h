/* SPDX-License-Identifier: BSD-3-Clause */
/* names.h - texts without the names in them: of hosts, users, files and directories */
#pragma once

#include "base/text/set.h"

/* The text in place of a name. */
#define WEIR_NAME_LEFT_OUT "(left out)"

/* Names that are known. Zero-initialise; release with weir_names_free. */
struct weir_names {
    struct weir_set texts;
    int *what; /* each of them is */
    size_t known, capacity, longest;
    bool failed; /* memory ran out: no text is safe, and all are left out whole */
};

/* Add a name. A host is its number from 0, and is added under its full and its short name; texts
 * call it "host0". A word is left out wherever it stands alone: a user. A file or directory is left
 * out, with what follows it, in quotes (there also as a part of a path), and elsewhere when it has a
 * '/'. NULL and "" are ignored. The names are copied. Local. */
enum { WEIR_NAME_WORD = -1, WEIR_NAME_FILE = -2 };
void weir_names_add(struct weir_names *n, int what, const char *name);

/* Append the text without the names: those that are known, whatever looks like a path ("/x",
 * "./x", "../x", "~/x" at the beginning of a word), and "user@host". Takes no longer where more are known.
 * Local. */
void weir_names_hide(const struct weir_names *n, const char *text, struct weir_str *out);

void weir_names_free(struct weir_names *n);
