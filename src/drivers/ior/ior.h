/* SPDX-License-Identifier: BSD-3-Clause */
/* ior.h - the bandwidth benchmark: its options and the state of one test, shared by the files of
 * this folder only */
#ifndef WEIR_DRIVERS_IOR_H
#define WEIR_DRIVERS_IOR_H

#include <stdbool.h>
#include <stdint.h>

#include "backends/queue.h"
#include "base/offset.h"
#include "base/pattern.h"
#include "base/signature.h"
#include "base/stats.h"
#include "base/str.h"
#include "engine/driver.h"
#include "engine/options.h"
#include "engine/phase.h"

/* Values of the option rows in ior.c; names and meaning stand there. */
struct ior_options {
    struct weir_run_options run; /* first: the engine reads it */
    const char *script, *packet, *test_file, *distribution;
    const char *summary_file, *summary_format, *status_file, *debug, *platform, *memory_per_node;
    int64_t block, transfer, segments, memory_per_task, prefill, signature;
    int nodes, node0_tasks, ref_num, tasks, node_offset, seed;
    int random_seed, random_offset, reorder_random;
    bool collective, reorder_constant, sync_end, use_existing, file_per_task, keep, keep_with_error,
        multi_file;
    bool read, check_read, unique_dir, write, check_write, single_try, sync_each, dual_mount,
        summary_always;
};

/* One row of the results table. Times in seconds, sizes in bytes, rates in bytes or operations a
 * second; NaN: not measured. */
struct ior_row {
    const char *access;
    double bw, iops, latency, block, transfer, open, work, close, total;
    int64_t tasks, iter;
};

/* One row of the summary. */
struct ior_summary {
    const char *operation, *api;
    int64_t test, tasks, per_node, reps, file_per_task, reorder, node_offset, reorder_random, seed,
        segments, block, transfer, ref_num;
    double bw_max, bw_min, bw_mean, bw_sd, ops_max, ops_min, ops_mean, ops_sd, mean_s, wall_s,
        wall_bw, bytes;
};

/* What the repetitions of one operation measured. */
struct ior_series {
    struct weir_stats bw, ops, time, bytes;
    double wall_s, wall_bytes; /* sums over the repetitions with wear-out */
    int walls;
};

#define IOR_DAMAGE_SHOWN 10

/* One wrong transfer: the first wrong word in it. Bytes. */
struct ior_damage {
    enum weir_damage kind;
    uint64_t transfer, byte; /* offsets in the file */
    uint64_t expect, got;
    uint64_t pieces; /* wrong words of 8 bytes; wrong units with -l signature */
    struct weir_signature said;
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
    struct weir_layout layout;
    /* data */
    struct weir_pattern pattern;
    uint32_t signature;
    void *buf[WEIR_FILL_LANES];
    uint64_t off[WEIR_FILL_LANES]; /* of the transfers that are filled ahead */
    int lanes, next, filled;
    struct weir_queue queue; /* of the session */
    /* the phase in progress */
    struct weir_offsets offsets;
    struct weir_str path;
    struct weir_str facts;     /* what the backend says about the open file */
    struct weir_str in_effect; /* hints of the first open file, "key\0value\0" each */
    bool knows_hints;
    struct weir_file *file;
    enum weir_dir dir;
    bool verify, created, removed, made_dir, prefilled;
    int owner;      /* whose data: the pretend rank */
    uint64_t limit; /* transfers to do at most, UINT64_MAX: no limit */
    uint64_t
        written; /* transfers that this rank wrote in this repetition, UINT64_MAX: no write phase */
    bool wrote_short;           /* the write phase ended early on some rank */
    struct weir_signature unit; /* what -l signature writes */
    bool unit_known;            /* run and repetition of the data are ours */
    struct weir_signature_seen seen;
    struct ior_damage damage[IOR_DAMAGE_SHOWN]; /* the first wrong transfers of the phase */
    int ndamage;
    uint64_t kinds[WEIR_DAMAGES]; /* wrong transfers by kind of damage */
    bool dirty, any_dirty;        /* this repetition had wrong data, an earlier one had */
    uint32_t begun_s;             /* when the test began, time of day of rank 0 */
    int64_t hog_bytes;            /* memory that each task keeps from the page cache */
    void *hog;
    uint64_t first_steps;  /* transfers of a task in the write phase of the first repetition */
    bool wore_out;         /* it had a stonewall with wear-out */
    uint64_t status_steps; /* for the status file: transfers of a task in the files that are left */
    bool knows_status;     /* some write phase has ended */
    int mount;             /* which of the two mounts of -y this rank uses, -1: without -y */
    int owner_mount;       /* the same of the task whose data are read */
    /* results */
    struct ior_series write, read;
};

extern const struct weir_driver weir_ior;
extern const struct weir_opt *const ior_option_rows;

/* ior-check.c: the options of one test, before anything is done; own is t->o, filled up where
 * options follow from others. Collective over run->world. -1 and
 * err (WEIR_EUSAGE) on every rank. */
int ior_check(struct ior_test *t, const struct weir_run *run, struct ior_options *own,
              struct weir_err *err);

/* ior-check.c: has a test a read phase? */
bool ior_wants_read(const struct ior_options *o);

/* ior-layout.c: the name of the file of a task in a repetition (ior.md 3.4); the directory of -u
 * alone. mount is the number of the mount of -y, or -1. Replaces *out. */
int ior_file_name(const struct ior_options *o, int mount, int task, int repetition,
                  struct weir_str *out, struct weir_err *err);
int ior_unique_dir(const struct ior_options *o, int mount, int task, struct weir_str *out,
                   struct weir_err *err);
/* The state of a test of a run. */
static inline struct ior_test *ior_test_of(const struct weir_test *t)
{
    return t->state;
}

/* The names that -o lists, one for a task each. */
int ior_count_names(const char *list);
/* ior-layout.c: the files that a test reads and writes (engine/driver.h). */
int ior_files(const void *opt, int tasks, struct weir_files *files, struct weir_err *err);
/* How many tasks -C goes on, for the read phase or the check of what was written (ior.md 4.2).
 * Never 0 where there is another task. */
int ior_shift(const struct ior_options *o, const struct weir_par *par, bool check_write);
/* Whose data this rank takes in a read or check phase. */
int ior_owner(const struct ior_options *o, const struct weir_par *par, bool check_write,
              int repetition, struct weir_err *err);

/* The nodes that numNodes and numTasksOnNode0 speak of instead of those that were found. Nothing on
 * a rank that takes no part (comm is MPI_COMM_NULL). Local. */
void ior_override_nodes(const void *state, struct weir_par *par);

/* ior-check.c: with -Z, is there a task that is far enough away? Local, the same on all ranks. -1
 * and err (WEIR_EUSAGE). */
int ior_check_owner(const struct ior_options *o, const struct weir_par *par, struct weir_err *err);

/* ior-offsets.c: the offsets of a phase whose direction, owner and path are known, and everything
 * that counts them. Local. -1 and err. */
int ior_begin_offsets(struct weir_run *run, struct ior_test *t, struct weir_err *err);

/* ior-queue.c: transfers in the queue of a backend that has one.
 * begin: requests and buffers of the session of a test, after it has begun; t->queue.depth is 0
 * where transfers are done one after the other. -1 and err. queue_step, queue_drain: a step and the
 * drain of a phase through the queue, as in struct weir_phase. Local. */
int ior_queue_begin(struct ior_test *t, struct weir_session *s, struct weir_err *err);
int ior_queue_step(struct weir_run *run, struct ior_test *t, uint64_t i, uint64_t *clock_ns,
                   struct weir_err *err);
int ior_queue_drain(struct weir_run *run, struct ior_test *t, uint64_t *clock_ns,
                    struct weir_err *err);

/* ior-phase.c: the three phases, and what belongs to files. */
extern const struct weir_phase ior_write_phase, ior_check_phase, ior_read_phase;
void ior_free(void *state);
/* The first part of the write phase, for the prefill too: name, old file, offsets; and its open, for
 * transfers of that many bytes. As in struct weir_phase. */
int ior_prepare_write(struct weir_run *run, struct ior_test *t, struct weir_err *err);
int ior_open_write(struct ior_test *t, uint64_t transfer, struct weir_err *err);

/* ior-phase.c: the offset of step i, whose data are then in t->buf[t->next - 1] in a write phase; and
 * check those of a read. *clock_ns is the time before and after: what data take is not the time of a
 * transfer. Local, without allocation. */
uint64_t ior_next_offset(struct weir_run *run, struct ior_test *t, uint64_t i, uint64_t *clock_ns);
void ior_verify(struct weir_run *run, struct ior_test *t, const struct weir_io *io,
                uint64_t *clock_ns);

/* Count a transfer that is done. */
static inline void ior_count(struct weir_run *run, const struct weir_io *io, uint64_t begin_ns,
                             uint64_t end_ns)
{
    weir_records_add(&run->records, io->dir, begin_ns, end_ns, io->off, io->len);
    run->counters.bytes += io->len;
    if (io->dir == WEIR_DIR_WRITE && io->off + io->len > run->counters.end)
        run->counters.end = io->off + io->len;
}

/* Record one that has failed. Returns -1. */
int ior_count_failed(struct weir_run *run, const struct weir_io *io, uint64_t begin_ns,
                     uint64_t end_ns, const struct weir_err *err);

/* ior-data.c: data of -l, made and checked. Buffers of a test, freed by ior_free. Local. */
int ior_buffers(struct ior_test *t, struct weir_err *err);
/* Make the base pattern of a repetition. Local. */
void ior_new_signature(struct ior_test *t, uint32_t signature);
/* The rest is local, without allocation; report is collective over run->par and adds to
 * rec->wrong_sum what only all ranks together can see. */
void ior_data_begin(struct weir_run *run, struct ior_test *t);

/* Take the next offsets (t->off) and, in a write phase, make their data where they differ from one
 * transfer to the next. Local. True when data were made. */
bool ior_data_ahead(struct ior_test *t);

/* Returns whether the transfer at off was right. */
bool ior_data_check(struct ior_test *t, const void *buf, uint64_t off);
/* Say what was wrong in a phase; nothing where all was right. Collective over run->par. -1 and err
 * (WEIR_EDATA) only where warnings are errors. */
int ior_data_report(struct weir_run *run, struct ior_test *t, struct weir_phase_rec *rec,
                    const char *what, struct weir_err *err);
/* Remove what this rank made in this repetition. -1 and err; the first error is kept, everything
 * is tried. */
int ior_remove(struct weir_run *run, void *state, struct weir_err *err);

/* ior-file.c: what stands at t->path. A symbolic link is followed, whether its target is there or
 * not: the target is the file, and the link stays as the user made it. All local, -1 and err. */
/* May it be opened? A pipe or socket may not, a device only when it is not to be removed. */
int ior_file_check(const struct ior_test *t, bool write, struct weir_err *err);
int ior_file_exists(struct ior_test *t, bool *there, struct weir_err *err);
/* Nothing when there is none. */
int ior_file_remove(struct ior_test *t, struct weir_err *err);

/* ior-data.c: -M, memoryPerTask: take that memory until ior_memory_free. -1 and err. Local. */
int ior_memory_parse(const struct ior_options *o, const struct weir_par *par, int64_t *bytes,
                     struct weir_err *err);
int ior_memory_take(struct ior_test *t, struct weir_err *err);
void ior_memory_free(struct ior_test *t);

/* ior-prefill.c: --randomPrefill: write the file in order before the random writes, outside the
 * measured time. Collective over run->par. */
int ior_prefill(struct weir_run *run, struct ior_test *t, struct weir_err *err);

/* ior-file.c: warn when the files have another size than the phase should have made or found; a
 * file of a library that is shorter than what was written to it is an error (WEIR_EIO):
 * libraries that buffer do not always report a full disk. Collective over run->par. */
int ior_check_size(struct weir_run *run, struct ior_test *t, const struct weir_phase_rec *rec,
                   struct weir_err *err);

/* ior-offsets.c: say how many blocks -z -z repeats, and how many files -Z never reads. The second
 * is collective over run->par. */
void ior_note_repeats(struct weir_run *run, const struct ior_test *t);
void ior_note_unread(struct weir_run *run, const struct ior_test *t);

/* ior-report.c: what is shown. Rank 0 only; no-ops elsewhere. */
void ior_report_begin(struct weir_run *run, struct weir_test *tests, int n, int argc,
                      char *const *argv);
int ior_report_test(struct weir_run *run, struct ior_test *t, struct weir_err *err);
void ior_report_results(struct weir_run *run);
void ior_report_facts(struct weir_run *run, struct ior_test *t);

/* Ask the backend about the open file, on rank 0 in the first repetition: what ior_report_facts and
 * ior_report_hints tell. Local. */
void ior_gather_facts(struct weir_run *run, struct ior_test *t);

/* The object "hintsInEffect" of a test, for data readers, where the backend has hints. */
void ior_report_hints(struct weir_run *run, struct ior_test *t);
void ior_report_finish(struct weir_run *run, const struct weir_test *tests);
const char *ior_now_text(char out[32]);

/* ior-results.c: rows. report_phase is collective over run->par. */
void ior_report_head(struct weir_run *run);
void ior_report_phase(struct weir_run *run, struct ior_test *t, const struct weir_phase_rec *rec,
                      struct ior_series *s);
void ior_report_skipped(struct weir_run *run, struct ior_test *t, const char *access);
void ior_report_remove(struct weir_run *run, double seconds);
void ior_report_max(struct weir_run *run, struct ior_test *t);

/* ior-results.c: the rows of one test, without a head; the summary of n tests. Rank 0. */
void ior_summarise(struct weir_run *run, const struct ior_test *t);
void ior_report_summary(struct weir_run *run, const struct weir_test *tests, int n);

/* ior-report.c: what -v -v -v adds. Nothing below that level. */
void ior_trace_begin(struct weir_run *run);                            /* rank 0 */
void ior_trace_memory(struct weir_run *run, const struct ior_test *t); /* rank 0 */
void ior_trace_commence(struct weir_run *run, enum weir_dir dir);      /* rank 0 */
/* Collective over run->par. owner: whose file this rank is about to use, -1: none. */
void ior_trace_file(struct weir_run *run, struct ior_test *t, const char *doing, int owner);
void ior_trace_phase(struct weir_run *run, const struct ior_test *t,
                     const struct weir_phase_rec *rec);

/* ior-params.c: the values of all options, under the names that old readers know and under the
 * option names. */
void ior_report_parameters(struct weir_run *run, const struct ior_test *t);

/* ior-facts.c: as in struct weir_driver. */
bool ior_range(struct weir_run *run, void *state, const struct weir_stage *stage,
               struct weir_str *path, struct weir_cache_range *range);

/* ior-need.c: in a dry run, tell bytes, files, memory and free space, and warn when there is too
 * little; t->path is known. Rank 0, nothing elsewhere. -1 and err only where warnings are errors. */
int ior_report_need(struct weir_run *run, const struct ior_test *t, struct weir_err *err);
/* Bytes of all tasks in a phase. */
double ior_planned_bytes(const struct ior_options *o, const struct weir_par *par);

/* ior-facts.c: what the options say about the worth of the numbers. Collective over run->par. */
void ior_facts(struct weir_run *run, void *state, struct weir_facts *f);

/* ior-test.c: the functions of struct weir_driver for one test. */
extern const struct weir_stage ior_stages[];
int ior_begin(struct weir_run *run, void *state, struct weir_err *err);
int ior_start(struct weir_run *run, void *state, struct weir_err *err);
int ior_report(struct weir_run *run, void *state, struct weir_err *err);
int ior_repetition(struct weir_run *run, void *state, struct weir_err *err);
bool ior_keeps(const void *state);
void ior_removed(struct weir_run *run, void *state, double seconds);
int ior_conclude(struct weir_run *run, void *state, struct weir_err *err);
enum weir_code ior_verdict(const void *state);

#endif
