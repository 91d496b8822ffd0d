/* SPDX-License-Identifier: BSD-3-Clause */
/* ior.h - the bandwidth benchmark: its options, the state of one test with a struct for each
 * concern, and the functions that the files of this folder share. No other folder includes it */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "backends/session/queue.h"
#include "base/data/damage.h"
#include "base/data/pattern.h"
#include "base/shape/offset.h"
#include "base/str.h"
#include "engine/gpu.h"
#include "engine/options.h"
#include "engine/phase.h"
#include "engine/program.h"

/* Values of the option rows in ior-options.c, which have names and meaning. */
struct ior_options {
    struct weir_run_options run; /* first: the engine reads it */
    const char *script, *packet, *test_file, *distribution, *read_back;
    const char *mix;
    const char *summary_file, *summary_format, *status_file, *debug, *platform, *memory_per_node;
    int64_t block, transfer, segments, memory_per_task, prefill, signature;
    int nodes, node0_tasks, ref_num, tasks, node_offset, seed;
    int random_seed, random_offset, reorder_random;
    bool collective, reorder_constant, sync_end, use_existing, file_per_task, keep, keep_with_error,
        multi_file;
    bool read, check_read, unique_dir, write, check_write, single_try, sync_each, dual_mount,
        summary_always;
};

/* True when a test has a read phase. */
static inline bool ior_wants_read(const struct ior_options *o)
{
    return o->read || o->check_read;
}

/* Offsets that are taken at a time where all transfers have the same data: no fewer than lanes. */
#define IOR_OFFSETS_AHEAD 64
_Static_assert(IOR_OFFSETS_AHEAD >= WEIR_LANES, "each lane has an offset");

/* The data of the transfers: a pattern, or units with a signature. */
struct ior_data {
    struct weir_pattern pattern;
    struct weir_signature unit; /* where the packet of the pattern is SIGNATURE */
    bool unit_known;            /* run and repetition of the data are ours */
    struct weir_signature_seen seen;
    uint64_t versions[2]; /* with --mix: right transfers that this rank has read in the phase, as before
                           * the mix and as written in it */
    bool by_block; /* a block has the data of the task whose block it is, whoever writes it: so it
                    * is right after any number of writers, in any order */
    void *buf[WEIR_LANES];
    uint64_t off[IOR_OFFSETS_AHEAD]; /* of the transfers that come next */
    int lanes;                       /* buffers */
    uint64_t made;                   /* base patterns so far: a buffer of a queue holds one of them */
    int next, filled;                /* the transfer that comes next in 'off', how many there are */
};

/* True when the data change from one transfer to the next. */
static inline bool ior_data_varies(const struct ior_data *d)
{
    return d->by_block || weir_pattern_varies(&d->pattern);
}

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
    struct weir_str facts;     /* of the backend about it */
    struct weir_str in_effect; /* hints of the first open file, "key\0value\0" each */
    bool is_known; /* what the backend says of the file */
    struct weir_str dir;       /* of -u */
    bool created, removed, made_dir;
    bool made; /* the file of this repetition is there, and is written over */
    int mount;       /* which of the two mounts of -y this rank uses, -1: without -y */
    int owner_mount; /* the same of the task whose data are read */
};

#define IOR_DEVIATION WEIR_DEVIATION_POPULATION

/* The results of the repetitions of one operation. */
struct ior_series {
    struct weir_stats bw, ops, time, bytes;
    double wall_s, wall_bytes; /* sums over the repetitions with wear-out */
    int walls;
};

struct ior_results {
    struct ior_series write, read, mix[WEIR_DIRS];
    /* Transfers that this rank wrote in this repetition, UINT64_MAX: no write phase. */
    uint64_t written;
    uint64_t mixed;        /* steps of its mix phase in this repetition */
    bool wrote_short;      /* the write phase ended early on some rank */
    uint64_t first_steps;  /* transfers of a task in the write phase of the first repetition */
    bool wore_out;         /* it had a stonewall with wear-out */
    uint64_t status_steps; /* for the status file: transfers of a task in the files that are left */
    bool knows_status;     /* some write phase has ended */
};

struct ior_pass {
    enum weir_dir dir; /* of a mix: of the transfer that comes now */
    bool mixed;        /* a mix */
    bool check_write;  /* of a read: the check of what was just written */
    bool verify;
    int owner; /* whose data: the pretend rank */
    struct weir_offsets offsets;
    uint64_t limit; /* transfers to do at most, UINT64_MAX: no limit */
    bool skips;     /* a read: the mix may have deleted the objects of some transfers */
    uint64_t skipped; /* steps of this rank without an object */
    uint64_t steps;   /* of one pass */
};

/* --mix: the draws of one task in one repetition. */
struct ior_mix {
    uint32_t weight[WEIR_DIRS]; /* reads or writes have some */
    uint64_t weights;           /* their sum */
    uint64_t seed, key; /* of all, of these draws */
    uint64_t length;    /* transfers in a pass */
    uint64_t steps;     /* that the task has done, where its data are read later */
    void *buf;          /* for reads, where there is no queue */
};

/* The data that are written in order before the random writes of a phase. */
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
    struct weir_gpu *gpu;    /* which the buffers are of; NULL: of the host */
    struct weir_layout layout;
    struct ior_data data;
    struct ior_memory memory;
    struct ior_pass pass;
    struct ior_mix mix;
    struct ior_prefill *prefill; /* while it runs */
    struct ior_use use;
    struct ior_damages damage;
    struct ior_results results;
    int *owner_of;    /* with --read-back=elsewhere: in each round of reading, else NULL */
};

/* True when the calls on a file are collective: with this backend those on one file of all tasks. */
static inline bool ior_opens_together(const struct ior_test *t)
{
    return (t->be->flags & WEIR_BE_COLLECTIVE_OPEN) && !t->o->file_per_task;
}

extern const struct weir_program weir_ior;
extern const struct weir_opt ior_opts[];
extern const char *const ior_packets[]; /* the kinds of data; NULL-terminated */

/* ior-plan.c: plan of struct weir_program. */
int ior_plan(struct weir_run *run, void *state, void *chosen, struct weir_err *err);

/* ior-file.c: the name of the file of a task in a repetition. mount is the number of the mount of
 * -y, or -1. Replaces *out. */
int ior_file_name(const struct ior_options *o, int mount, int task, int repetition,
                  struct weir_str *out, struct weir_err *err);
/* ior-owner.c: return the distance of -C in tasks, for the read phase or the check of what was
 * written. Never 0 where there is another task. */
int ior_shift(const struct ior_options *o, const struct weir_par *par, bool check_write);
/* Return the task whose data this rank takes in a read or check phase. -1 and err: no task is far
 * enough away (-Z; WEIR_EUSAGE), no memory (-Z -Z; WEIR_ESETUP). Local. */
int ior_owner(const struct ior_test *t, const struct weir_par *par, bool check_write,
              int repetition, struct weir_err *err);
/* True when a task reads what another one wrote. */
bool ior_reads_of_others(const struct ior_options *o);
/* True with --read-back=elsewhere, when anything is read. Then find_elsewhere learns the owner
 * of each round. Collective over run->par. -1 and err (WEIR_EUSAGE: it cannot be, and why). */
bool ior_reads_elsewhere(const struct ior_options *o);
int ior_find_elsewhere(struct weir_run *run, struct ior_test *t, struct weir_err *err);

/* ior-plan.c: check that, with -Z, a task is far enough away. Local, the same on all ranks. -1
 * and err (WEIR_EUSAGE). */
int ior_check_owner(const struct ior_test *t, const struct weir_par *par, struct weir_err *err);

/* ior-test.c: a line of -v -v -v; owner: whose file this rank is about to use, -1: none. Collective over
 * run->par. */
void ior_trace_file(struct weir_run *run, struct ior_test *t, const char *doing, int owner);
/* Rows of weir_ior: ior-file.c, ior-report.c, ior-test.c. */
extern const struct weir_test_files ior_files_made;
extern const struct weir_output ior_output;
extern const struct weir_stage ior_stages[];

/* ior-data.c: data of -l, made and checked. Make the base pattern of a repetition. Local. */
void ior_new_signature(struct ior_test *t, uint32_t signature);

/* The offsets of a phase whose direction, owner and path are known, and everything that counts
 * them. -1 and err. */
int ior_begin_offsets(struct weir_run *run, struct ior_test *t, struct weir_err *err);

/* Take the next offsets (t->data.off) and, in a write phase, make their data where they differ
 * from one transfer to the next. Local, without allocation. True when data were made. */
bool ior_data_ahead(struct ior_test *t);

/* Make the data of one transfer of a mix in the first buffer, which holds the base pattern. Local. True
 * when data were made. */
bool ior_data_make(struct ior_test *t, const struct weir_io *io);
/* Returns whether a transfer of step io->tag was right. */
bool ior_data_check(struct ior_test *t, const struct weir_io *io);
/* Report the wrong data of a phase; nothing where all was right. Sets rec->wrong_found to what only all
 * ranks can see. Collective over run->par. -1 and err
 * (WEIR_EDATA) only where warnings are errors. */
int ior_data_report(struct weir_run *run, struct ior_test *t, struct weir_phase_rec *rec,
                    const char *what, struct weir_err *err);
/* ior-file.c: check that t->use.path may be opened (weir_session_admit). Local. -1 and err. */
int ior_file_check(struct weir_run *run, struct ior_test *t, bool write, struct weir_err *err);

/* ior-file.c: check, for --mix without -w, that t->use.path has data to read. Not looked at where
 * an earlier run has told how far they go (t->pass.limit). Local. -1 and err (WEIR_ESETUP). */
int ior_file_there(struct weir_run *run, struct ior_test *t, struct weir_err *err);

/* ior-file.c: before a write phase: the directory of -u, the check, and the removal of an old file.
 * Local. -1 and err. */
int ior_prepare_file(struct weir_run *run, struct ior_test *t, struct weir_err *err);

/* ior-file.c: warn when the files have another size than the phase should have made or found. A
 * file of a library that is shorter than what was written to it is an error (WEIR_EIO), because
 * libraries that buffer do not always report a full disk. Collective over run->par. */
int ior_check_size(struct weir_run *run, struct ior_test *t, const struct weir_phase_rec *rec,
                   struct weir_err *err);

/* ior-phases.c: the phases. */
extern const struct weir_phase ior_write_phase, ior_mix_phase, ior_check_phase, ior_read_phase;

/* The index of its operation of writing. */
#define IOR_MIX 2

/* ior-mix.c: the weights of --mix. -1 and err (WEIR_EUSAGE). */
int ior_mix_parse(const char *text, struct ior_mix *m, struct weir_err *err);
/* True when a mix has this operation: write and read always. */
static inline bool ior_mix_has(const struct ior_mix *m, enum weir_dir dir)
{
    return dir <= WEIR_DIR_READ || m->weight[dir] > 0;
}
/* The key of the draws of a task in a repetition; the operation of a step: the same at each call. A
 * step after one that has deleted its object writes, whatever is drawn. */
uint64_t ior_mix_key(uint64_t seed, int task, int repetition);
enum weir_dir ior_mix_draw(const struct ior_mix *m, uint64_t i);
/* Return the version that step i writes, or that the transfer of step i has after 'steps' steps
 * (0: not written by them; IOR_MIX_GONE: deleted). Local; some ns for each pass that only read or
 * deleted it. */
#define IOR_MIX_GONE UINT32_MAX
uint32_t ior_mix_version_of(const struct ior_mix *m, uint64_t i);
uint32_t ior_mix_version(const struct ior_mix *m, uint64_t i, uint64_t steps);
/* Before the data of 'owner' are read: learn what its mix has written. Collective over run->par. */
void ior_mix_expect(struct weir_run *run, struct ior_test *t, int owner);
/* After a phase that has checked data: note the versions found. Collective over run->par. */
void ior_mix_report(struct weir_run *run, const struct ior_test *t, const struct weir_phase_rec *rec);

/* ior-prefill.c: --randomPrefill: write the file in order before the random writes, outside the
 * measured time of its stage. Collective over run->par. */
int ior_prefill(struct weir_run *run, struct ior_test *t, const struct weir_stage *s,
                struct weir_err *err);

/* ior-results.c: rows. report_phase and report_mix are collective over run->par. */
void ior_report_head(struct weir_run *run);
void ior_report_phase(struct weir_run *run, struct ior_test *t, const struct weir_phase_rec *rec,
                      struct ior_series *s);
void ior_report_mix(struct weir_run *run, struct ior_test *t, const struct weir_phase_rec *rec);
void ior_report_skipped(struct weir_run *run, void *state, const struct weir_stage *s);
void ior_report_remove(struct weir_run *run, void *state, double seconds);

/* ior-results.c: a test has ended: what was asked for and applied, the best of its repetitions, the
 * status file. Collective over run->par. -1 and err. */
int ior_conclude(struct weir_run *run, void *state, struct weir_err *err);

/* ior-results.c: the summary of n tests. Rank 0. */
void ior_report_summary(struct weir_run *run, const struct weir_test *tests, int n);
