/* SPDX-License-Identifier: BSD-3-Clause */
/* usage.h - how large and how full the file system is */
#ifndef WEIR_ENGINE_PLACE_USAGE_H
#define WEIR_ENGINE_PLACE_USAGE_H

#include "engine/test.h"

/* Report 'path' (which need not exist), and size and use of the file system that holds it: the
 * lines "Path" and "FS" for people, the same and exact numbers for data readers. The text of 3.3
 * names the directory, its keys have width_33 columns at least. A backend that cannot tell: a
 * warning. Rank 0 only; a no-op where the report has no sinks. -1 and err only where warnings are
 * errors. */
int weir_usage_report(struct weir_run *run, struct weir_session *s, const char *path, int width_33,
                      struct weir_err *err);

/* Has the file system of 'path', with usage *u, room for a plan? Where it has not, that is an
 * error (which a dry run makes a finding), and in a real run a warning where a deadline may end it
 * before or --no-space-check was given. Rank 0. -1 and err. */
int weir_usage_judge(const struct weir_run *run, const char *path, const struct weir_plan *plan,
                     const struct weir_fs_usage *u, struct weir_err *err);

/* In a dry run tell what run->test needs: bytes, files, 'memory' bytes of a node, and what is free
 * where 'path' is. Rank 0, nothing elsewhere. */
void weir_usage_need(struct weir_run *run, const char *path, double memory);

/* Is there room for a plan in the file system that holds 'path'? As weir_usage_judge.
 * Collective over run->world. Returns 0, or -1 and err on every rank. */
int weir_usage_check(struct weir_run *run, struct weir_session *s, const char *path,
                     const struct weir_plan *plan, struct weir_err *err);

#endif
