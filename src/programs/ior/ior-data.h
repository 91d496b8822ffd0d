/* SPDX-License-Identifier: BSD-3-Clause */
/* ior-data.h - the data of the transfers, what is wrong in them, and memory that is kept from the
 * page cache */
#ifndef WEIR_PROGRAMS_IOR_IOR_DATA_H
#define WEIR_PROGRAMS_IOR_IOR_DATA_H

#include "base/data/data.h"
#include "engine/phase.h"

struct ior_options;
struct ior_test;

/* Offsets that are taken at a time where all transfers have the same data: no fewer than lanes. */
#define IOR_OFFSETS_AHEAD 64
_Static_assert(IOR_OFFSETS_AHEAD >= WEIR_FILL_LANES, "each lane has an offset");

struct ior_data {
    struct weir_content content;
    uint32_t signature;
    void *buf[WEIR_FILL_LANES];
    uint64_t off[IOR_OFFSETS_AHEAD]; /* of the transfers that come next */
    int lanes, next,
        filled; /* buffers; the transfer that comes next in 'off', how many there are */
};

#define IOR_DAMAGE_SHOWN 10

/* Wrong data that this rank has found. */
struct ior_damages {
    struct weir_content_damage first[IOR_DAMAGE_SHOWN]; /* of the phase */
    int n;
    uint64_t kinds[WEIR_DAMAGES]; /* wrong transfers by kind of damage */
    bool dirty;                   /* this repetition had wrong data */
};

/* Memory that each task keeps from the page cache. */
struct ior_memory {
    int64_t bytes;
    void *taken;
};

/* ior-data.c: data of -l, made and checked. Buffers of a test, freed by ior_free. Local. */
int ior_buffers(struct ior_test *t, struct weir_err *err);
/* Make the base pattern of a repetition. Local. */
void ior_new_signature(struct ior_test *t, uint32_t signature);
/* The rest is local, without allocation; report is collective over run->par and adds to
 * rec->wrong_sum what only all ranks together can see. */
void ior_data_begin(struct weir_run *run, struct ior_test *t);

/* Take the next offsets (t->data.off) and, in a write phase, make their data where they differ
 * from one transfer to the next. Local. True when data were made. */
bool ior_data_ahead(struct ior_test *t);

/* Returns whether the transfer at off was right. */
bool ior_data_check(struct ior_test *t, const void *buf, uint64_t off);
/* Say what was wrong in a phase; nothing where all was right. Collective over run->par. -1 and err
 * (WEIR_EDATA) only where warnings are errors. */
int ior_data_report(struct weir_run *run, struct ior_test *t, struct weir_phase_rec *rec,
                    const char *what, struct weir_err *err);
/* ior-data.c: -M, memoryPerTask: take that memory until ior_memory_free. -1 and err. Local. */
int ior_memory_parse(const struct ior_options *o, const struct weir_par *par, int64_t *bytes,
                     struct weir_err *err);
int ior_memory_take(struct ior_test *t, struct weir_err *err);
void ior_memory_free(struct ior_test *t);

#endif
