/* SPDX-License-Identifier: BSD-3-Clause */
/* ior-pass.h - the phase in progress: whose data, which offsets, how far; and its steps */
#ifndef WEIR_PROGRAMS_IOR_IOR_PASS_H
#define WEIR_PROGRAMS_IOR_IOR_PASS_H

#include "backends/session/queue.h"
#include "base/shape/offset.h"
#include "engine/phase.h"

struct ior_test;

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

#endif
