/* SPDX-License-Identifier: BSD-3-Clause */
/* choose.h - options that the metadata benchmarks share: rows, and what follows from them */
#ifndef WEIR_ENGINE_CHOOSE_H
#define WEIR_ENGINE_CHOOSE_H

#include "base/opt.h"
#include "base/pattern.h"
#include "engine/run.h"

/* The data of small files (--dataPacketType). Local. -1 and err (WEIR_EUSAGE). */
int weir_choose_packet(const char *word, enum weir_packet *packet, struct weir_err *err);

/* The hints of a program that makes many small files of 'bytes' (0: empty ones), each opened by one
 * task; and the backend's own check of them. program is for messages. Local. -1 and err. */
int weir_choose_small_files(const struct weir_run *run, const struct weir_backend *be,
                            struct weir_backend_opt be_opt, uint64_t bytes, const char *program,
                            struct weir_hints *hints, struct weir_err *err);

/* The seed of rank 0's clock where *seed is -1. Collective over run->world. */
void weir_choose_seed(const struct weir_run *run, int *seed);

/* The values of options that only wait for GPU memory. */
extern const char *const weir_choose_zero[], *const weir_choose_minus_one[];

/* Rows for struct S with the fields reports, gpu_memory, gpu_id and gpu_direct. */
#define WEIR_OPT_REPORT(S)                                                                         \
    OPT_STR(0, "report", NULL, S, reports, NULL, "FORMAT:PATH,...",                                \
            "Write the results in these forms instead: text:-, json:FILE, csv:FILE (a row for "    \
            "each phase)")
#define WEIR_OPT_GPU(S)                                                                            \
    OPT_STR(0, "allocateBufferOnGPU", NULL, S, gpu_memory, "0", "N",                               \
            "Only 0: this build has no GPU memory", .choices = weir_choose_zero),                  \
        OPT_STR(0, "GPUid", NULL, S, gpu_id, "-1", "N", "Only -1: this build has no GPU memory",   \
                .choices = weir_choose_minus_one),                                                 \
        OPT_STR(0, "gpuDirect", NULL, S, gpu_direct, "0", "N",                                     \
                "Only 0: this build has no GPU memory", .choices = weir_choose_zero)

#endif
