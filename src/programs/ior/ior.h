/* SPDX-License-Identifier: BSD-3-Clause */
/* ior.h - the functions that the files of the bandwidth benchmark share; nobody else includes it */
#ifndef WEIR_PROGRAMS_IOR_IOR_H
#define WEIR_PROGRAMS_IOR_IOR_H

#include "programs/ior/ior-state.h"

extern const struct weir_driver weir_ior;

/* ior-check.c: the options of one test, before anything is done; own is t->o, filled up where
 * options follow from others. Collective over run->world. -1 and
 * err (WEIR_EUSAGE) on every rank. */
int ior_check(struct ior_test *t, const struct weir_run *run, struct ior_options *own,
              struct weir_err *err);

/* ior-check.c: has a test a read phase? */
bool ior_wants_read(const struct ior_options *o);

/* ior-layout.c: the name of the file of a task in a repetition; the directory of -u
 * alone. mount is the number of the mount of -y, or -1. Replaces *out. */
int ior_file_name(const struct ior_options *o, int mount, int task, int repetition,
                  struct weir_str *out, struct weir_err *err);
int ior_unique_dir(const struct ior_options *o, int mount, int task, struct weir_str *out,
                   struct weir_err *err);
/* ior-layout.c: the files that a test reads and writes (engine/driver.h). */
int ior_files(const void *opt, int tasks, struct weir_files *files, struct weir_err *err);
/* ior-owner.c: how many tasks -C goes on, for the read phase or the check of what was written.
 * Never 0 where there is another task. */
int ior_shift(const struct ior_options *o, const struct weir_par *par, bool check_write);
/* Whose data this rank takes in a read or check phase. */
int ior_owner(const struct ior_test *t, const struct weir_par *par, bool check_write,
              int repetition, struct weir_err *err);
/* Does a task read what another one wrote? */
bool ior_reads_of_others(const struct ior_options *o);
/* Was --read-back=elsewhere asked for, and is anything read? Then find_elsewhere learns where all
 * tasks are. Collective over run->par. -1 and err (WEIR_EUSAGE: it cannot be, and why). */
bool ior_reads_elsewhere(const struct ior_options *o);
int ior_find_elsewhere(struct weir_run *run, struct ior_test *t, struct weir_err *err);

/* ior-check.c: with -Z, is there a task that is far enough away? Local, the same on all ranks. -1
 * and err (WEIR_EUSAGE). */
int ior_check_owner(const struct ior_test *t, const struct weir_par *par, struct weir_err *err);

/* ior-report.c: what is shown. Rank 0 only; no-ops elsewhere. */
void ior_report_begin(struct weir_run *run, struct weir_test *tests, int n, int argc,
                      char *const *argv);
int ior_report_test(struct weir_run *run, struct ior_test *t, struct weir_err *err);
void ior_report_facts(struct weir_run *run, struct ior_test *t);

/* Ask the backend about the open file, on rank 0 in the first repetition: what ior_report_facts and
 * ior_report_hints tell. Local. */
void ior_gather_facts(struct weir_run *run, struct ior_test *t);

/* The object "hintsInEffect" of a test, for data readers, where the backend has hints. */
void ior_report_hints(struct weir_run *run, struct ior_test *t);
void ior_report_finish(struct weir_run *run, const struct weir_test *tests);

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

/* ior-facts.c: as in struct weir_judged. */
bool ior_range(struct weir_run *run, void *state, const struct weir_stage *stage,
               struct weir_str *path, struct weir_cache_range *range);

/* ior-facts.c: in a dry run, tell bytes, files, memory and free space; t->use.path is known. Rank 0,
 * nothing elsewhere. */
void ior_report_need(struct weir_run *run, const struct ior_test *t);

/* ior-facts.c: what the options say about the reliability of the results. Collective over
 * run->par. */
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

/* ior-file.c: may t->use.path be opened? As weir_session_admit says. Local. -1 and err. */
int ior_file_check(struct ior_test *t, bool write, struct weir_err *err);

/* ior-file.c: warn when the files have another size than the phase should have made or found; a
 * file of a library that is shorter than what was written to it is an error (WEIR_EIO):
 * libraries that buffer do not always report a full disk. Collective over run->par. */
int ior_check_size(struct weir_run *run, struct ior_test *t, const struct weir_phase_rec *rec,
                   struct weir_err *err);

/* ior-offsets.c: the offsets of a phase whose direction, owner and path are known, and everything
 * that counts them. Local. -1 and err. */
int ior_begin_offsets(struct weir_run *run, struct ior_test *t, struct weir_err *err);

/* ior-offsets.c: say how many blocks -z -z repeats, and how many files -Z never reads. The second
 * is collective over run->par. */
void ior_note_repeats(struct weir_run *run, const struct ior_test *t);
void ior_note_unread(struct weir_run *run, const struct ior_test *t);

/* ior-queue.c: transfers in the queue of a backend that has one.
 * begin: requests and buffers of the session of a test, after it has begun; t->queue.depth is 0
 * where transfers are done one after the other. -1 and err. queue_step, queue_drain: a step and the
 * drain of a phase through the queue, as in struct weir_phase. Local. */
int ior_queue_begin(struct ior_test *t, struct weir_session *s, struct weir_err *err);
int ior_queue_step(struct weir_run *run, struct ior_test *t, uint64_t i, uint64_t *clock_ns,
                   struct weir_err *err);
int ior_queue_drain(struct weir_run *run, void *state, uint64_t *clock_ns, struct weir_err *err);

/* ior-phase.c: the three phases, and what belongs to files. */
extern const struct weir_phase ior_write_phase, ior_check_phase, ior_read_phase;
void ior_free(void *state);
/* The first part of the write phase, for the prefill too: name, old file, offsets; and its open,
 * for transfers of that many bytes. As in struct weir_phase. */
int ior_prepare_write(struct weir_run *run, struct ior_test *t, struct weir_err *err);
int ior_open_write(struct ior_test *t, uint64_t transfer, struct weir_err *err);

/* Its idle and its close. */
int ior_idle_step(struct weir_run *run, void *state, uint64_t round, uint64_t *clock_ns,
                  struct weir_err *err);
int ior_close_file(struct weir_run *run, void *state, struct weir_err *err);

/* ior-phase.c: the offset of step i, whose data are then in t->data.buf[t->data.next - 1] in a
 * write phase; and check those of a read. *clock_ns is the time before and after: what data take
 * is not the time of a transfer. Local, without allocation. */
uint64_t ior_next_offset(struct weir_run *run, struct ior_test *t, uint64_t i, uint64_t *clock_ns);
void ior_verify(struct weir_run *run, struct ior_test *t, const struct weir_io *io,
                uint64_t *clock_ns);

/* Remove what this rank made in this repetition. -1 and err; the first error is kept, everything
 * is tried. */
int ior_remove(struct weir_run *run, void *state, struct weir_err *err);

/* ior-prefill.c: --randomPrefill: write the file in order before the random writes, outside the
 * measured time. Collective over run->par. */
int ior_prefill(struct weir_run *run, struct ior_test *t, const struct weir_timing *timing,
                struct weir_err *err);

/* ior-results.c: rows. report_phase is collective over run->par. */
void ior_report_head(struct weir_run *run);
void ior_report_phase(struct weir_run *run, struct ior_test *t, const struct weir_phase_rec *rec,
                      struct ior_series *s);
void ior_report_skipped(struct weir_run *run, void *state, const struct weir_stage *s);
void ior_report_remove(struct weir_run *run, double seconds);
void ior_report_max(struct weir_run *run, struct ior_test *t);

/* ior-results.c: the rows of one test, without a head; the summary of n tests. Rank 0. */
void ior_summarise(struct weir_run *run, const struct ior_test *t);
void ior_report_summary(struct weir_run *run, const struct weir_test *tests, int n);

#endif
