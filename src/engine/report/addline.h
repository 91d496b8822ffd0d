/* SPDX-License-Identifier: BSD-3-Clause */
/* addline.h - a line that is added to a file whole or not at all, also where several processes add
 * to it at one time */
#ifndef WEIR_ENGINE_REPORT_ADDLINE_H
#define WEIR_ENGINE_REPORT_ADDLINE_H

#include "base/err.h"

/* Check that lines can be added to the file at 'path', or that it can be made. Nothing is made
 * or changed. Local. -1 and err (WEIR_ESETUP). */
int weir_addline_check(const char *path, struct weir_err *err);

/* Add the text, which has no newline, and a newline. A regular file is locked (fcntl) as far as
 * its file system has locks, and made when it is missing. An incomplete line of another process
 * is ended first. A line that cannot be written whole is removed again. Waits half a minute at
 * most for other processes. Local. -1 and err (WEIR_ESETUP). */
int weir_addline(const char *path, const char *text, struct weir_err *err);

#endif
