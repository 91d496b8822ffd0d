/* SPDX-License-Identifier: BSD-3-Clause */
/* timeline-choice.h - which operations a timeline keeps: the words after the name of its file */
#ifndef WEIR_ENGINE_OBSERVE_TIMELINE_CHOICE_H
#define WEIR_ENGINE_OBSERVE_TIMELINE_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"

struct weir_par;

/* Zero: all operations of all ranks. The texts belong to the arena of weir_timeline_read. */
struct weir_timeline_choice {
    const char *path;   /* the file, without the words */
    int64_t sample;     /* one operation of so many, drawn at random; 0: no sample */
    int64_t seed;       /* of the draw */
    const char *ranks;  /* 0-63,128, 0-4095:64 (each 64th), or "leaders": the first rank of
                         * each node; NULL: all */
    int64_t slowest;    /* so many of each rank in each phase, with their neighbours; 0: none */
};

/* Reads FILE.npy[,sample=1/N][,seed=N][,ranks=LIST][,slowest=K]. Local. Returns 0, or -1 and err
 * (WEIR_EUSAGE). */
int weir_timeline_choice_read(const char *value, struct weir_arena *arena,
                              struct weir_timeline_choice *out, struct weir_err *err);

/* Are these some operations of a rank, and not all? Then their records say why each is there. */
bool weir_timeline_picks(const struct weir_timeline_choice *c);

/* Does our rank record? Local. */
bool weir_timeline_has_rank(const struct weir_timeline_choice *c, const struct weir_par *par);

/* Are there all ranks that it names, where there are so many tasks? Local. Returns 0, or -1 and err
 * (WEIR_EUSAGE). */
int weir_timeline_check_ranks(const struct weir_timeline_choice *c, int tasks, struct weir_err *err);

#endif
