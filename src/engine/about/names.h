/* SPDX-License-Identifier: BSD-3-Clause */
/* names.h - texts without the names in them: of hosts, users, files and directories */
#ifndef WEIR_ENGINE_ABOUT_NAMES_H
#define WEIR_ENGINE_ABOUT_NAMES_H

#include "base/text/set.h"

/* The text in place of a name. */
#define WEIR_NAME_LEFT_OUT "(left out)"

/* Names that are known. Zero-initialise; release with weir_names_free. */
struct weir_names {
    struct weir_set texts;
    int *what; /* each of them is */
    size_t known, room, longest;
    bool failed; /* memory ran out: no text is safe, and all are left out whole */
};

/* Add a host, the number-th one from 0, under its full and its short name; texts call it
 * "host0". Add a word that is left out wherever it stands alone: a user. Add a file or
 * directory: it is left out, with what follows it, in quotes (there also as a part of a path),
 * and elsewhere when it has a '/'. NULL and "" are ignored. The names are copied. Local. */
void weir_names_add_host(struct weir_names *n, const char *host, int number);
void weir_names_add_word(struct weir_names *n, const char *word);
void weir_names_add_file(struct weir_names *n, const char *path);

/* Append the text without the names: those that are known, whatever looks like a path ("/x",
 * "./x", "../x", "~/x" at the beginning of a word), and "user@host". Takes no longer where more are known.
 * Local. */
void weir_names_hide(const struct weir_names *n, const char *text, struct weir_str *out);

void weir_names_free(struct weir_names *n);

#endif
