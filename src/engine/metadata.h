/* SPDX-License-Identifier: BSD-3-Clause */
/* metadata.h - options that the metadata benchmarks share: rows, and what follows from them */
#ifndef WEIR_ENGINE_METADATA_H
#define WEIR_ENGINE_METADATA_H

#include "base/opt.h"
#include "base/pattern.h"
#include "engine/run.h"

/* The data of small files (--dataPacketType). Local. -1 and err (WEIR_EUSAGE). */
int weir_metadata_packet(const char *word, enum weir_packet *packet, struct weir_err *err);

/* How a program uses files that makes many small ones, each opened by one task, of 'bytes' (0: empty
 * ones, whose extent is all zeros); and the backend's own check of it. program is for messages.
 * Local. -1 and err. */
int weir_metadata_small_files(const struct weir_run *run, const struct weir_backend *be,
                              struct weir_backend_opt be_opt, uint64_t bytes, const char *program,
                              struct weir_access *access, struct weir_extent *extent,
                              struct weir_err *err);

/* The seed of rank 0's clock where *seed is -1. Collective over run->world. */
void weir_metadata_seed(const struct weir_run *run, int *seed);

#endif
