/* SPDX-License-Identifier: BSD-3-Clause */
/* sysfile.c - lines of the small files in which the kernel shows this node */
#include "base/node/sysfile.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool weir_sysfile_line(const char *word, char *out, size_t size, const char *format, ...)
{
    char path[PATH_MAX];
    size_t len = strlen(word);
    bool found = false;
    FILE *f = NULL;
    va_list ap;

    va_start(ap, format);
    if (vsnprintf(path, sizeof(path), format, ap) < (int)sizeof(path))
        f = fopen(path, "re");
    va_end(ap);
    while (f && !found && fgets(out, (int)size, f))
        found = strncmp(out, word, len) == 0;
    if (f)
        fclose(f);
    out[found ? strcspn(out, "\n") : 0] = '\0';
    if (found)
        memmove(out, out + len, strlen(out + len) + 1);
    return found;
}
