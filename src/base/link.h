/* SPDX-License-Identifier: BSD-3-Clause */
/* link.h - where a symbolic link leads */
#ifndef WEIR_BASE_LINK_H
#define WEIR_BASE_LINK_H

#include "base/err.h"
#include "base/str.h"

/* Replace *out by the path that a symbolic link leads to, through further links, whether something
 * is there or not; any other path is taken as it is. Links in the directories of a path stay. Local.
 * -1 and err (WEIR_EUSAGE: the links form a loop; WEIR_EIO; WEIR_ESETUP: no memory). */
int weir_link_follow(const char *path, struct weir_str *out, struct weir_err *err);

#endif
