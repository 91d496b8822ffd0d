/* SPDX-License-Identifier: BSD-3-Clause */
/* ior-state.h - the options of the bandwidth benchmark and the state of one test: a struct for each concern */
#ifndef WEIR_PROGRAMS_IOR_IOR_STATE_H
#define WEIR_PROGRAMS_IOR_IOR_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "backends/session/queue.h"
#include "base/data/data.h"
#include "base/shape/offset.h"
#include "base/stats.h"
#include "base/str.h"
#include "engine/driver.h"
#include "engine/options.h"
#include "engine/phase.h"

/* Values of the option rows in ior.c, which have names and meaning. */
struct ior_options {
    struct weir_run_options run; /* first: the engine reads it */
    const char *script, *packet, *test_file, *distribution, *read_back;
    const char *summary_file, *summary_format, *status_file, *debug, *platform, *memory_per_node;
    int64_t block, transfer, segments, memory_per_task, prefill, signature;
    int nodes, node0_tasks, ref_num, tasks, node_offset, seed;
    int random_seed, random_offset, reorder_random;
    bool collective, reorder_constant, sync_end, use_existing, file_per_task, keep, keep_with_error,
        multi_file;
    bool read, check_read, unique_dir, write, check_write, single_try, sync_each, dual_mount,
        summary_always;
};

/* Offsets that are taken at a time where all transfers have the same data: no fewer than lanes. */
#define IOR_OFFSETS_AHEAD 64
_Static_assert(IOR_OFFSETS_AHEAD >= WEIR_LANES, "each lane has an offset");

struct ior_data {
    struct weir_data content;
    uint32_t signature;
    void *buf[WEIR_LANES];
    uint64_t off[IOR_OFFSETS_AHEAD]; /* of the transfers that come next */
    int lanes, next,
        filled; /* buffers; the transfer that comes next in 'off', how many there are */
};

#define IOR_DAMAGE_SHOWN 10

/* Wrong data that this rank has found. */
struct ior_damages {
    struct weir_data_damage first[IOR_DAMAGE_SHOWN]; /* of the phase */
    int n;
    uint64_t kinds[WEIR_DAMAGES]; /* wrong transfers by kind of damage */
    bool dirty;                   /* this repetition had wrong data */
};

/* Memory that each task keeps from the page cache. */
struct ior_memory {
    int64_t bytes;
    void *taken;
};

struct ior_use {
    struct weir_str path;
    struct weir_file *file;    /* open, or NULL */
    struct weir_str facts;     /* what the backend says about it */
    struct weir_str in_effect; /* hints of the first open file, "key\0value\0" each */
    bool knows_hints;
    bool created, removed, made_dir, prefilled;
    int mount;       /* which of the two mounts of -y this rank uses, -1: without -y */
    int owner_mount; /* the same of the task whose data are read */
};

#define IOR_DEVIATION WEIR_DEVIATION_POPULATION

/* What the repetitions of one operation measured. */
struct ior_series {
    struct weir_stats bw, ops, time, bytes;
    double wall_s, wall_bytes; /* sums over the repetitions with wear-out */
    int walls;
};

struct ior_results {
    struct ior_series write, read;
    /* Transfers that this rank wrote in this repetition, UINT64_MAX: no write phase. */
    uint64_t written;
    bool wrote_short;      /* the write phase ended early on some rank */
    uint64_t first_steps;  /* transfers of a task in the write phase of the first repetition */
    bool wore_out;         /* it had a stonewall with wear-out */
    uint64_t status_steps; /* for the status file: transfers of a task in the files that are left */
    bool knows_status;     /* some write phase has ended */
};

struct ior_pass {
    enum weir_dir dir;
    bool verify;
    int owner; /* whose data: the pretend rank */
    struct weir_offsets offsets;
    uint64_t limit; /* transfers to do at most, UINT64_MAX: no limit */
};

/* What is written in order before the random writes of a phase. */
struct ior_prefill {
    struct weir_offsets offsets;
    struct weir_io io;
};

/* One test in progress. */
struct ior_test {
    const struct ior_options *o;
    const struct weir_backend *be;
    struct weir_backend_opt be_opt;
    int id;
    struct weir_access access;
    struct weir_extent extent; /* of this rank's own file */
    struct weir_session session;
    struct weir_queue queue; /* of the session */
    struct weir_layout layout;
    struct ior_data data;
    struct ior_memory memory;
    struct ior_pass pass;
    struct ior_prefill *prefill; /* while it runs */
    struct ior_use use;
    struct ior_damages damage;
    struct ior_results results;
    int *node_of;     /* with --read-back=elsewhere: of each task, else NULL */
    uint32_t begun_s; /* when the test began, time of day of rank 0 */
};

#endif
