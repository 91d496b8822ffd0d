/* SPDX-License-Identifier: BSD-3-Clause */
/* usage.h - how large and how full the file system is */
#pragma once

#include "engine/test.h"

/* Report 'path' (which need not exist), and size and use of the file system that holds it. People
 * get the lines "Path" and "FS", data readers the same and exact numbers. The text of 3.3 names the
 * directory, with keys of at least width_33 columns. A backend that cannot report it: a warning.
 * Rank 0 only; a no-op where the report has no sinks. -1 and err only where warnings are errors. */
int weir_usage_report(struct weir_run *run, struct weir_session *s, const char *path, int width_33,
                      struct weir_err *err);

/* Check that the file system of 'path', with usage *u, has the free space for a plan. When it
 * has not, that is an error (in a dry run a finding). It is a warning in a real run that a
 * deadline may end before, or with --no-space-check. Rank 0. -1 and err. */
int weir_usage_judge(const struct weir_run *run, const char *path, const struct weir_plan *plan,
                     const struct weir_fs_usage *u, struct weir_err *err);

/* In a dry run report what run->test needs: bytes, files, 'memory' bytes of a node, and what is
 * free where 'path' is. Rank 0, nothing elsewhere. */
void weir_usage_need(struct weir_run *run, const char *path, double memory);

/* Check that the file system that holds 'path' has the free space for a plan, as
 * weir_usage_judge does. Collective over run->world. Returns 0, or -1 and err on every rank. */
int weir_usage_check(struct weir_run *run, struct weir_session *s, const char *path,
                     const struct weir_plan *plan, struct weir_err *err);
