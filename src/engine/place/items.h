/* SPDX-License-Identifier: BSD-3-Clause */
/* items.h - options that the metadata benchmarks share: rows, and what follows from them */
#pragma once

#include "base/data/pattern.h"
#include "base/options/option.h"
#include "engine/test.h"

/* Rows of option struct O for its members 'seed' and 'packet'; what: where the data are. */
#define WEIR_OPT_DATA_SEED(O, what)                                                                \
    OPT_INT('G', "data-seed", NULL, O, seed, "-1", "N",                                            \
            "Seed of the data (-1: the time, or that of existing " what ")",                       \
            .flags = WEIR_OPT_NEUTRAL, OPT_IN(DATA))
#define WEIR_OPT_DATA_PACKET(O, what)                                                              \
    OPT_STR(0, "dataPacketType", NULL, O, packet, "t", "TYPE",                                     \
            "Data in the " what ": timestamp, offset, incompressible, random (or its first "       \
            "letter); random:compress=X,dedupe=Y compress to 1/X, and 1/Y of their blocks differ", \
            OPT_IN(DATA), .suggestions = weir_metadata_packets, .flags = WEIR_OPT_ABBREV)
extern const char *const weir_metadata_packets[];

/* The data of small files (--dataPacketType): packet, ratio and files of p. Local. -1 and err
 * (WEIR_EUSAGE). */
int weir_metadata_packet(const char *word, struct weir_pattern *p, struct weir_err *err);

/* The small files of a test, one of which a task has open at a time: how the backend is used, and
 * their content. The fields of the program's plan come first; zero the rest. */
struct weir_small_files {
    const struct weir_backend *be;
    struct weir_backend_opt be_opt;
    const struct weir_ns *ns; /* of the backend; NULL where it has none */
    struct weir_pattern data; /* of any rank */
    struct weir_access access;
    struct weir_extent extent; /* of a file; zeros for empty ones */
    struct weir_session session;
    struct weir_gpu *gpu;    /* which out and in are of; NULL: of the host */
    struct weir_file *file;  /* a slot */
    void *out, *in, *want;   /* written, read, expected; NULL where there is no content */
    int out_rank, want_rank; /* whose base is in them; -1: none */
    bool seed_unknown;       /* an earlier run wrote the files, and -G was not given */
};

/* Fill access (but 'directories') and extent for files of 'bytes' (0: empty ones), and ask the
 * backend to check them; program is for messages. Local. -1 and err. */
int weir_small_files_check(struct weir_small_files *f, const struct weir_run *run, uint64_t bytes,
                           const char *program, struct weir_err *err);

/* Buffers of these lengths (0: none), those of transfers in memory of this GPU (NULL: the host). Local. -1 and err (WEIR_ESETUP); give them back with
 * weir_small_files_end in each case. */
int weir_small_files_begin(struct weir_small_files *f, struct weir_gpu *gpu, size_t out, size_t in,
                           size_t want, struct weir_err *err);
void weir_small_files_end(struct weir_small_files *f);

/* The session of the test that is running, and the slot. Collective over run->par. -1 and err. */
int weir_small_files_start(struct weir_small_files *f, struct weir_run *run, struct weir_err *err);

/* Put the content of a task's item into f->out. Returns false where it is there already; the time
 * is added to the counters of the phase. Local. */
bool weir_small_files_fill(struct weir_small_files *f, struct weir_run *run, int rank,
                           uint64_t item, size_t len);

/* Change the first byte of f->in, so that what is left of the last read does not pass. Local. */
void weir_small_files_invalidate(struct weir_small_files *f);

/* The bytes that an item must hold, in f->want. Local. */
const void *weir_small_files_expect(struct weir_small_files *f, int rank, uint64_t item,
                                    size_t len);

/* Check the data in f->in (those that a GPU has lost are not judged). Count wrong ones, and keep in
 * *first which object ("file") was wrong where, unless it has words. Local; without allocation. */
bool weir_small_files_right(const struct weir_small_files *f, struct weir_run *run,
                            const char *object, const char *path, const void *want, size_t len,
                            struct weir_err *first);

/* The nth file that an earlier run may have written: its name, task and number. False: there is no
 * more. Local, on rank 0 only. */
struct weir_small_file {
    const char *path;
    int rank;
    uint64_t item;
};
typedef bool weir_small_file_fn(struct weir_run *run, void *state, uint64_t n,
                                struct weir_small_file *file);

#define WEIR_ITEMS_SEEDS 8

/* Seeds that may have made the first len bytes (8-byte aligned) of file 'item' of task p->rank; the
 * caller compares all of the content. With RANDOM some of them may differ in other files: only the
 * 27 low bits of a seed count. Returns how many; 0 also when the content depends on no seed.
 * Local. */
int weir_items_seeds(const struct weir_pattern *p, uint64_t item, const void *buf, size_t len,
                     int64_t seeds[WEIR_ITEMS_SEEDS]);

/* Find out a seed that is not known, from the first file whose content follows from one. Rank 0
 * reads some of them, 'read' of their len bytes; where data are checked, a note names the seed.
 * Outside of the time of a phase. Collective over run->par. */
void weir_small_files_learn_seed(struct weir_small_files *f, struct weir_run *run, size_t len,
                                 size_t read, bool checked, weir_small_file_fn *name, void *state);

/* The seed of rank 0's clock where *seed is -1. Collective over run->world. */
void weir_metadata_seed(const struct weir_run *run, int *seed);
