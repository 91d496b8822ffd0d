/* SPDX-License-Identifier: BSD-3-Clause */
/* checks.h - what a result is worth: inputs of a test, gathered outside the measured time
 * and judged once at its end; people see one line, programs all of it */
#ifndef WEIR_ENGINE_CHECK_CHECKS_H
#define WEIR_ENGINE_CHECK_CHECKS_H

#include "base/mem.h"
#include "base/node/cache.h"
#include "base/node/device.h"
#include "base/node/machine.h"
#include "base/node/processes.h"
#include "engine/check/inputs.h"
#include "engine/check/findings.h"
#include "engine/observe/all.h"

#define WEIR_CHECKS_FILES 8 /* files of which the rate is remembered for later tests */

struct weir_run;
struct weir_test;
struct weir_stage;
struct weir_phase_rec;

#define WEIR_CHECKS_PARTS 100 /* of a phase: when tasks end */

/* Sums over the ranks after a phase: numbers of 8 bytes, which travel with the sums that
 * a phase has anyway. */
struct weir_checks_sums {
    uint64_t user_ns, reached, io_unknown, retries, sync_ns, ends_ns;
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
    /* Since the run began, or the device is another one: what it moved in phases, what the file
     * system adds to ours, and what others moved, of which this much before the test. */
    struct weir_traffic moved;
    double slack, others, others_before;
    double asked, in_test; /* bytes of this test's phases: asked for; that the device moved */
    struct weir_machine_use own_before;
    bool begun;
};

/* Of the processors that the tasks of a node may use, at one time. */
struct weir_processor_use {
    struct weir_processor_time busy, own; /* all processes; the tasks of the run and what started them */
    uint64_t at_ns;
};

/* Of the first rank of a node. */
struct weir_others_processors {
    uint64_t mask[WEIR_MACHINE_CORE_WORDS]; /* those that its tasks may use */
    int n;                                  /* of them */
    const uint64_t *task;                   /* the process of each task of the node */
    int tasks;                              /* 0: they cannot be seen, or this rank does not look */
    bool sees_kernel;                       /* its threads can be told from other processes */
    double kernel;                          /* seconds that they had when the run began */
    bool reads;                             /* the beginning of this phase is known */
    struct weir_processor_use before;
    double others, room; /* seconds of the test's phases: that others had, that there were */
    int64_t share;       /* of 1e6, of this node; INT64_MIN: not known */
};

/* Of a run, on every rank. */
struct weir_checks {
    enum weir_rule_set rules;       /* where --rules is not given */
    struct weir_limits limits;      /* of the test that runs */
    struct weir_inputs *inputs;      /* of the test that runs; NULL: nothing is judged */
    struct weir_inputs room;         /* for them */
    uint64_t spent_ns, end_ns;      /* gathering and judging them; when the judgement began */
    struct weir_machine_use before; /* the phase that runs */
    const struct weir_stage *stage; /* of that phase; NULL: nothing is gathered */
    struct weir_cache_seen cache;   /* of this rank's bytes: before a read, after a write phase */
    const char *cache_why;          /* not known; NULL: known */
    double resident_before, dirty_before; /* of this rank's bytes: before a phase that reads */
    struct weir_others_device device;
    struct weir_others_processors processors;
    /* the machine */
    double memory, cores, copy, links, step;
    /* rank 0 */
    struct {
        const char *path;
        double rate, transfer;
    } read_in_order[WEIR_CHECKS_FILES];
    int nread;
    struct weir_str tables; /* for people, after the summaries; each ends with a line break */
};

/* The checks of a run: the state of the row 'checks'; NULL: it has none. Local. */
static inline struct weir_checks *weir_checks_of(const struct weir_run *run)
{
    return weir_observed(run, "checks");
}

/* A row of the table "findings" for programs. */
struct weir_finding_row {
    const char *id, *outcome, *severity, *unit, *text, *remedy;
    double value, limit;
    int test;
};

extern const struct weir_table weir_findings_table;

/* collect.c: hooks of the row. The rule set of WEIR_RULES, and the inputs of the machine where any
 * of the tests is judged; the inputs of run->test; its judgement. */
int weir_checks_run_begin(struct weir_run *run, void *state, struct weir_test *tests, int n,
                          struct weir_err *err);
int weir_checks_test_start(struct weir_run *run, void *state, struct weir_err *err);
void weir_checks_test_end(struct weir_run *run, void *state);
/* A dry run measures nothing: note what is known of its phase before. Local. */
void weir_checks_expect(const struct weir_run *run, const struct weir_phase_rec *rec, enum weir_moves moves);

/* Note how far requests were applied (applied in struct weir_backend). f NULL: after a phase. Local;
 * a program may call it of rank 0's open file, outside the time of its transfers. */
struct weir_session;
struct weir_file;
void weir_checks_applied(struct weir_run *run, struct weir_session *s, struct weir_file *f);

/* ---- straggler.c: ranks without which a phase would have been shorter ---- */

#define WEIR_STRAGGLERS 3         /* are named at most */
#define WEIR_STRAGGLER_RANKS 4    /* fewer cannot be told apart */
#define WEIR_STRAGGLER_SHARE 0.05 /* of a phase: less is not reported */

/* How long single ranks took. */
struct weir_straggler_times {
    int ranks;                          /* all */
    uint64_t most[WEIR_STRAGGLERS + 1]; /* ns, the longest first */
    uint64_t least;                     /* ns */
    uint64_t span;                      /* of the phase, ns */
};

/* How many of the ranks that took longest are stragglers (0: nobody), and what share of the phase
 * they cost. They are a quarter of the ranks at most; the gap to the next rank is large against
 * the spread of all others (Dixon's test at 1 %), and WEIR_STRAGGLER_SHARE of the phase. Pure. */
int weir_straggler_count(const struct weir_straggler_times *t, double *share);

/* Report the stragglers of a phase with this key, and note their share of it in weir_checks_of(run)->inputs.
 * Collective over run->par. */
void weir_stragglers_note(struct weir_run *run, const struct weir_phase_rec *rec, const char *key);

/* Did a phase move the same bytes again (minTimeDuration)? Then memory may have served or kept those of all
 * passes but one. Local. */
static inline bool weir_checks_repeats(const struct weir_phase_rec *rec, const struct weir_inputs *f)
{
    return rec->timing->min_time_s > 0 && (double)rec->bytes_sum > f->planned_bytes;
}

/* others.c: find the tasks of this node, and the processors that they may use, whose number comes
 * back on its first rank, INT_MAX on others (collective over run->world). Then, for a test and before
 * each phase, begin to look at what others have of the devices and of the processors; at the end of
 * a phase, what they had of the processors of this node, of 1e6, and what this rank adds to the sums; and
 * what rank 0 knows of all. Local. */
int weir_others_find(struct weir_run *run);
void weir_others_begin(struct weir_run *run, struct weir_inputs *f);
void weir_others_before(struct weir_run *run);
void weir_others_most(struct weir_run *run, void *state, const struct weir_phase_rec *rec,
                      int64_t *max);
void weir_others_add(struct weir_run *run, const struct weir_machine_use *now,
                     enum weir_moves moves, struct weir_checks_sums *s);
void weir_others_note(struct weir_run *run, const struct weir_phase_rec *rec, struct weir_inputs *f,
                      struct weir_inputs_phase *p);

/* service.c: what is asked of a service that has the files as objects. This rank adds to the sums of a phase; rank 0 notes
 * them; and how many bytes a phase has read or written, with all that belongs to no measured time; what the backend has
 * applied. Local. */
struct weir_applied;
void weir_service_add(const struct weir_test *t, struct weir_checks_sums *s);
void weir_service_note(const struct weir_checks_sums *s, struct weir_inputs *f);
void weir_service_note_data(const struct weir_phase_rec *rec, enum weir_moves moves, double bytes, struct weir_inputs *f);
void weir_service_applied(const struct weir_session *s, const struct weir_applied *applied, struct weir_inputs *f);

/* verdict.c: judge the test by its inputs, report it to programs, in the object of the test that is
 * open, and keep what people read. Returns the verdict. Rank 0. */
enum weir_severity weir_verdict_report(struct weir_run *run);

/* Give the rows of CSV the verdict of what is known until now. Rank 0, nothing elsewhere. */
void weir_verdict_for_rows(struct weir_run *run);

/* The rule set of a test. Local. */
struct weir_run_options;
enum weir_rule_set weir_checks_rules(const struct weir_run *run, const struct weir_run_options *o);

/* verdict.c: a hook of the row. What the verdicts mean, what each rule measures, and where a finding
 * begins by the default rules, for --help=trust. */
void weir_checks_help(enum weir_topic topic, struct weir_str *out);

#endif
