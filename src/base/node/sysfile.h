/* SPDX-License-Identifier: BSD-3-Clause */
/* sysfile.h - lines of the small files in which the kernel shows this node */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Copy the rest of the first line that begins with a word ("": of the first line), without its line
 * break, cut to size, into out. The format gives the path. Local. False, and "" in out: there is no
 * such line or file, or its path is too long. */
bool weir_sysfile_line(const char *word, char *out, size_t size, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
