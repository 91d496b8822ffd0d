/* SPDX-License-Identifier: BSD-3-Clause */
/* status.h - the status file of a stonewall: how far a phase came, for a later run */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/run.h"

/* Read the one number in the file on rank 0 for all. *there is false, and *count untouched, when
 * there is no file. 'what' names the things counted, for messages. Collective over run->par. -1
 * and err on every rank (WEIR_EUSAGE: it is no number). */
int weir_status_read(const struct weir_run *run, const char *path, const char *what, bool *there,
                     uint64_t *count, struct weir_err *err);

/* Remove what an earlier run wrote, before files are made of which it would not be true: a run that
 * fails leaves no number. Devices and pipes stay. Rank 0 does it. Collective over run->par. -1 and
 * err (WEIR_ESETUP) on every rank. */
int weir_status_forget(const struct weir_run *run, const char *path, struct weir_err *err);

/* Write the number, bare, by rank 0; the file is whole or as it was. Collective over run->par. -1
 * and err (WEIR_ESETUP) on every rank. */
int weir_status_write(const struct weir_run *run, const char *path, uint64_t count,
                      struct weir_err *err);
