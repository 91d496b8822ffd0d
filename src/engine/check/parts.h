/* SPDX-License-Identifier: BSD-3-Clause */
/* parts.h - the parts of the checks, which checks.c calls: each gets what it needs, and knows neither
 * the state of the checks nor the other parts */
#pragma once

#include "base/node/cache.h"
#include "base/node/device.h"
#include "base/node/machine.h"
#include "base/node/processes.h"
#include "engine/check/findings.h"
#include "engine/program.h"

/* ---- collect.c: the inputs of a test ---- */

/* The smallest node; links and copy of rank 0, elsewhere NaN. */
struct weir_collect_machine {
    double memory, cores, copy, links, step;
};

#define WEIR_COLLECT_READS 8

/* Tests of the run that read in order: how fast, in how large transfers. */
struct weir_collect_reads {
    struct {
        const char *path;
        double rate, transfer;
    } test[WEIR_COLLECT_READS];
    int n;
};

/* Fill the inputs of run->test before its first phase. Collective over run->par. */
void weir_collect_test(struct weir_run *run, const struct weir_collect_machine *machine,
                       const struct weir_collect_reads *reads, struct weir_inputs *f);

/* Ask how full the file system is; the worse of two answers stays. Rank 0. */
void weir_collect_space(struct weir_run *run, struct weir_inputs *f);

/* Note what a backend has applied of what was asked for. f NULL: after a phase. Local. */
void weir_collect_applied(struct weir_session *s, struct weir_file *f, struct weir_inputs *inputs);

/* Keep the rate of a test that read in order, for tests after it. Rank 0. */
void weir_collect_read(struct weir_run *run, const struct weir_inputs *f,
                       struct weir_collect_reads *r);

/* Note what is known before a phase that a dry run does not measure. Local. */
void weir_collect_expected(const struct weir_run *run, const struct weir_phase_rec *rec,
                           struct weir_inputs *f);

/* ---- collect-phase.c: the inputs of a phase ---- */

/* The directions in which a stage moves data. Local. */
static inline enum weir_moves weir_stage_moves(const struct weir_stage *s)
{
    return (enum weir_moves)((s->flags & WEIR_STAGE_READS ? WEIR_MOVES_IN : 0) |
                             (s->flags & WEIR_STAGE_WRITES ? WEIR_MOVES_OUT : 0));
}

/* This rank's bytes in the page cache: before a read, after a write phase. */
struct weir_cache_stat {
    struct weir_cache_seen seen;
    const char *why; /* it is not known; NULL: it is */
};

#define WEIR_CHECKS_PARTS 100 /* of a phase: when tasks end */

/* Sums over the ranks after a phase: numbers of 8 bytes, which travel with the sums that
 * a phase has anyway. */
struct weir_checks_sums {
    uint64_t user_ns, reached, io_unknown, retries, sync_ns, ends_ns;
    uint64_t stored; /* bytes that filters of a library have left */
    uint64_t sent, refused, lost; /* requests to a service; those that were sent again */
    uint64_t syncs, all_read, all_written; /* since the first test of the run began */
    uint64_t looked, resident, dirty, written, compressed, size, allocated; /* bytes */
    uint64_t before, dirty_before; /* of resident and dirty: before a phase that reads; bytes */
    uint64_t lookers, cache_unknown, cache_hidden, dirty_unknown, written_unknown; /* ranks */
    uint64_t ended[WEIR_CHECKS_PARTS];
};

/* The block devices that move the bytes of the files, of rank 0, and what this rank had moved at
 * the same time. */
struct weir_others_device {
    struct weir_devices on;
    bool known; /* what they move is counted, and ours alone of all nodes */
    struct weir_traffic phase; /* before the phase that runs */
    uint64_t reached;          /* bytes of the phase that runs: read or written */
    uint64_t requests;         /* of writing, in the phase that runs */
    /* Bytes since the run began, or since the device changed: moved in phases, added to ours by
     * the file system, moved by others, and by others before the test. */
    struct weir_traffic moved;
    double slack, others, others_before;
    double asked, in_test; /* bytes of this test's phases: asked for; that the device moved */
    struct weir_machine_use own_before;
    bool begun;
};

/* Time of the processors that the tasks of a node may use, up to a moment. */
struct weir_processor_use {
    struct weir_processor_time busy, own; /* all processes; the tasks of the run and what started them */
    uint64_t at_ns;
};

/* State of the first rank of a node. */
struct weir_others_processors {
    uint64_t mask[WEIR_MACHINE_CORE_WORDS]; /* those that its tasks may use */
    int n;                                  /* of them */
    const uint64_t *task;                   /* the process of each task of the node */
    int tasks;                              /* 0: they cannot be seen, or this rank does not look */
    bool sees_kernel;                       /* its threads can be told from other processes */
    double kernel;                          /* seconds that they had when the run began */
    bool reads;                             /* the beginning of this phase is known */
    struct weir_processor_use before;
    double others, available; /* seconds of the test's phases: that others had, that there were */
    int64_t share;       /* of 1e6, of this node; INT64_MIN: not known */
};

/* Note the results of a phase on rank 0. rec has the sums of all ranks, and 'own' the page
 * cache as rank 0 saw it. 'cached' gets the page cache as all ranks saw it, for the record. */
void weir_collect_phase(const struct weir_run *run, const struct weir_phase_rec *rec,
                        const struct weir_cache_stat *own, struct weir_inputs *f,
                        struct weir_inputs_phase *p);
void weir_collect_seen(struct weir_cached *cached, struct weir_phase_rec *rec);

/* Note what a phase has read and written of objects, also outside of measured times. Rank 0. */
void weir_collect_objects(const struct weir_phase_rec *rec, struct weir_inputs *f);

/* True when a phase moved the same bytes again (minTimeDuration). Then memory may have served
 * or kept those of all passes but one. Local. */
static inline bool weir_checks_repeats(const struct weir_phase_rec *rec, const struct weir_inputs *f)
{
    return rec->bounds.min_s > 0 && (double)rec->sum.bytes > f->planned_bytes;
}

/* ---- straggler.c: ranks without which a phase would have been shorter ---- */

#define WEIR_STRAGGLERS 3         /* are named at most */
#define WEIR_STRAGGLER_RANKS 4    /* fewer cannot be told apart */
#define WEIR_STRAGGLER_SHARE 0.05 /* of a phase: less is not reported */

/* Times of single ranks. */
struct weir_straggler_times {
    int ranks;                             /* all */
    uint64_t longest[WEIR_STRAGGLERS + 1]; /* ns, the longest first */
    uint64_t shortest;                     /* ns */
    uint64_t span;                         /* of the phase, ns */
};

/* Return the number of ranks that are stragglers (0: none), at most a quarter of all, and in
 * *share the fraction of the phase that they cost. The gap to the next rank is large against the
 * spread of all others (Dixon's test at 1 %), and WEIR_STRAGGLER_SHARE of the phase. Pure. */
int weir_straggler_count(const struct weir_straggler_times *t, double *share);

#define WEIR_STRAGGLER_TEXT 160

/* Report the stragglers of the phase of a stage to programs. Returns their share of it and a clause
 * about them on rank 0; 0: there are none. Collective over run->par. */
double weir_stragglers_report(struct weir_run *run, const struct weir_phase_rec *rec,
                              char words[WEIR_STRAGGLER_TEXT]);

/* ---- others.c: what others had of the device and of the processors ---- */

struct weir_others {
    struct weir_others_device device;
    struct weir_others_processors processors;
};

/* Find the tasks of this node, and the processors that they may use. Returns the number of these
 * processors on the node's leader, INT_MAX on others. Collective over run->world. */
int weir_others_find(struct weir_run *run, struct weir_others *o);
/* Read the counters before a test, before a phase, and at the end of its time. Local. */
void weir_others_begin(struct weir_run *run, struct weir_others *o, struct weir_inputs *f);
void weir_others_before(const struct weir_run *run, struct weir_others *o);
void weir_others_end(struct weir_others *o);
/* Add what this rank has to the sums of a phase that ends. Local. */
void weir_others_add(const struct weir_run *run, struct weir_others *o,
                     const struct weir_machine_use *now, enum weir_moves moves,
                     struct weir_checks_sums *s);
/* Put the sums of all ranks into the inputs. Rank 0. */
void weir_others_note(struct weir_others *o, const struct weir_phase_rec *rec,
                      struct weir_inputs *f, struct weir_inputs_phase *p);

/* ---- verdict.c ---- */

struct weir_judged_test {
    const char *rules;
    enum weir_severity worst;
    struct weir_finding list[WEIR_RULES];
    int n;
    const struct weir_finding *found[WEIR_RULES]; /* for people, the worst first, notes last */
    int found_n, notes;
};

/* Judge by the rules of a set. Local. */
void weir_verdict_judge(const struct weir_inputs *f, enum weir_rule_set set,
                        const struct weir_limits *limits, struct weir_judged_test *v);
/* Report the verdict of run->test to programs, in its object, which is open. measured: some phase
 * was. spent_ns: time that the checks took. Rank 0. */
void weir_verdict_report(struct weir_run *run, const struct weir_judged_test *v, bool measured,
                         uint64_t spent_ns);
/* Keep the line for people, and add the table of --findings to 'tables'. Rank 0. */
void weir_verdict_keep(struct weir_run *run, const struct weir_judged_test *v,
                       struct weir_str *tables);
/* Append the help of 'trust' (verdicts, rules with limits), or of a rule, with its remedy. Local. */
void weir_verdict_help(const char *what, struct weir_str *out);
