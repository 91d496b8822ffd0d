/* SPDX-License-Identifier: BSD-3-Clause */
/* runs.c - ior, mdtest and md-workbench of libweir as functions, for the IO500 program */
#include "ior.h"
#include "md-workbench.h"
#include "mdtest.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <weir.h>

FILE *out_logfile;
int rank;

static void __attribute__((constructor)) set_logfile(void)
{
    out_logfile = stdout;
}

double GetTimeStamp(void)
{
    return MPI_Wtime();
}

/* ---- a run ---- */

struct run {
    struct weir_job *job;
    FILE *out;   /* on rank 0, may be NULL */
    int results; /* the same on all ranks */
    int errors;
    double seconds; /* of a run with errors, above 0 and the same on all ranks; else 0 */
};

static void say(FILE *to, const char *kind, const char *text)
{
    if (to)
        fprintf(to, "weir: %s: %s\n", kind, text);
}

/* Warnings and notes, on rank 0. Errors come at the end, from weir_job_error. */
static void take_message(void *out, const char *kind, const char *text)
{
    if (strcmp(kind, "error") != 0)
        say(out, kind, text);
}

static int count_errors(const struct run *r, int status)
{
    uint64_t n = status == 0 || status == 5 ? 0 : 1;

    for (int i = 0; i < r->results; i++)
        n += weir_job_result(r->job, i)->wrong;
    return n < INT_MAX ? (int)n : INT_MAX;
}

/* A caller divides by the time of a phase, also of one that has failed before anything was measured. */
static double measure_failure(double begin, MPI_Comm comm)
{
    double seconds = MPI_Wtime() - begin;

    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm);
    return seconds > 0 ? seconds : 1e-9;
}

static void begin_run(struct run *r, const char *benchmark, int argc, char **argv, MPI_Comm comm, FILE *out)
{
    double begin = MPI_Wtime();
    int me, status;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_rank(comm, &me);
    *r = (struct run) { .job = weir_job_new(benchmark, &comm), .out = me == 0 ? out : NULL };
    weir_job_stream(r->job, r->out);
    weir_job_watch(r->job, NULL, take_message, r->out);
    status = weir_job_words(r->job, argc, argv);
    MPI_Allreduce(MPI_IN_PLACE, &status, 1, MPI_INT, MPI_MAX, comm); /* one rank may have no memory */
    if (status == 0)
        status = weir_job_run(r->job);
    r->results = weir_job_results(r->job);
    r->errors = count_errors(r, status);
    r->seconds = r->errors > 0 ? measure_failure(begin, comm) : 0;
    if (me == 0 && r->errors > 0) {
        say(r->out, benchmark, weir_job_error(r->job));
        say(stderr, benchmark, weir_job_error(r->job));
    }
}

/* The i-th result. Only those of the first test of a run count: of others, and after the last, NULL. */
static const struct weir_result *result_of(const struct run *r, int i)
{
    const struct weir_result *m = weir_job_result(r->job, i);

    return m && m->test == 0 ? m : NULL;
}

/* At least 1. */
static size_t count_repetitions(const struct run *r)
{
    const struct weir_result *m;
    int n = 1;

    for (int i = 0; (m = result_of(r, i)); i++)
        if (m->repetition >= n)
            n = m->repetition + 1;
    return (size_t)n;
}

/* The times of a phase: where a failed run has measured none, those of the run. */
static void fill_times(const struct run *r, double *time, double *stonewall_time)
{
    if (!(*time > 0))
        *time = r->seconds;
    if (!(*stonewall_time > 0))
        *stonewall_time = *time;
}

/* ---- ior ---- */

static void set_point(IOR_point_t *p, const struct weir_result *m)
{
    uint64_t until = m->stonewalled ? m->stonewall_bytes : m->bytes;

    *p = (IOR_point_t) { .time = m->seconds,
                         .pairs_accessed = m->operations_max,
                         .stonewall_time = m->stonewalled ? m->stonewall_seconds : m->work_seconds,
                         .stonewall_avg_data_accessed = (double)until / m->tasks,
                         .aggFileSizeForBW = (IOR_offset_t)m->bytes };
}

IOR_test_t *ior_run(int argc, char **argv, MPI_Comm comm, FILE *out)
{
    const struct weir_result *m;
    struct run r;
    IOR_test_t *test;

    begin_run(&r, "ior", argc, argv, comm, out);
    test = calloc(1, sizeof(*test) + count_repetitions(&r) * sizeof(*test->results));
    if (test)
        test->results = (IOR_results_t *)(test + 1);
    for (int i = 0; test && (m = result_of(&r, i)); i++)
        set_point(strcmp(m->operation, "write") == 0 ? &test->results[m->repetition].write
                                                     : &test->results[m->repetition].read,
                  m);
    if (test)
        test->results->errors = r.errors;
    for (size_t i = 0; test && i < count_repetitions(&r); i++) {
        fill_times(&r, &test->results[i].write.time, &test->results[i].write.stonewall_time);
        fill_times(&r, &test->results[i].read.time, &test->results[i].read.stonewall_time);
    }
    weir_job_free(r.job);
    return test;
}

/* ---- mdtest ---- */

static const char *const mdtest_words[MDTEST_LAST_NUM] = {
    [MDTEST_DIR_CREATE_NUM] = "directory create", [MDTEST_DIR_STAT_NUM] = "directory stat",
    [MDTEST_DIR_READ_NUM] = "directory read",     [MDTEST_DIR_RENAME_NUM] = "directory rename",
    [MDTEST_DIR_REMOVE_NUM] = "directory remove", [MDTEST_FILE_CREATE_NUM] = "file create",
    [MDTEST_FILE_STAT_NUM] = "file stat",         [MDTEST_FILE_READ_NUM] = "file read",
    [MDTEST_FILE_REMOVE_NUM] = "file remove",     [MDTEST_TREE_CREATE_NUM] = "tree create",
    [MDTEST_TREE_REMOVE_NUM] = "tree remove",
};

static void set_items(mdtest_results_t *to, const struct weir_result *m)
{
    int n = 0;

    while (n < MDTEST_LAST_NUM && strcmp(mdtest_words[n], m->operation) != 0)
        n++;
    if (n == MDTEST_LAST_NUM)
        return;
    to->rate[n] = m->operations_per_s;
    to->time[n] = m->work_seconds;
    to->items[n] = m->operations;
    to->stonewall_time[n] = m->stonewalled ? m->stonewall_seconds : m->work_seconds;
    to->stonewall_item_sum[n] = m->stonewalled ? m->stonewall_operations : m->operations;
    to->stonewall_item_min[n] = m->stonewalled ? m->stonewall_operations_min : m->operations_min;
}

mdtest_results_t *mdtest_run(int argc, char **argv, MPI_Comm comm, FILE *out)
{
    const struct weir_result *m;
    mdtest_results_t *results;
    struct run r;

    begin_run(&r, "mdtest", argc, argv, comm, out);
    results = calloc(count_repetitions(&r), sizeof(*results));
    for (int i = 0; results && (m = result_of(&r, i)); i++)
        set_items(&results[m->repetition], m);
    if (results)
        results->total_errors = r.errors;
    for (size_t i = 0; results && i < count_repetitions(&r) * MDTEST_LAST_NUM; i++) {
        mdtest_results_t *to = &results[i / MDTEST_LAST_NUM];

        fill_times(&r, &to->time[i % MDTEST_LAST_NUM], &to->stonewall_time[i % MDTEST_LAST_NUM]);
    }
    weir_job_free(r.job);
    return results;
}

/* ---- md-workbench ---- */

mdworkbench_results_t *md_workbench_run(int argc, char **argv, MPI_Comm comm, FILE *out)
{
    struct run r;
    mdworkbench_results_t *results;

    begin_run(&r, "md-workbench", argc, argv, comm, out);
    results = calloc(1, sizeof(*results) + ((size_t)r.results + 2) * sizeof(*results->result));
    if (results) {
        results->count = r.results;
        results->errors = r.errors;
    }
    for (int i = 0; results && i < r.results; i++) {
        const struct weir_result *m = weir_job_result(r.job, i);

        /* This is the rate in mdtest's own text, where tasks may begin at different times. */
        if (m->slowest_seconds > 0)
            results->result[i].rate = (double)m->operations / m->slowest_seconds;
        results->result[i].max_op_time = m->operation_time.max;
    }
    weir_job_free(r.job);
    return results;
}
