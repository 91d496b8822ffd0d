/* SPDX-License-Identifier: BSD-3-Clause */
/* test_observers.c - the hooks of a row come in their order, and a phase ends with two reductions */
#include "base/clock.h"
#include "engine/observer.h"
#include "engine/command.h"

#include <string.h>
#include <unistd.h>

#include "backend/tap.h"

static bool counts, is_slow, is_renewed, is_merged;
static int calls;

int MPI_Allreduce(const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    calls += counts;
    return PMPI_Allreduce(in, out, n, type, op, comm);
}

int MPI_Reduce(const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm)
{
    calls += counts;
    return PMPI_Reduce(in, out, n, type, op, root, comm);
}

/* ---- a row that notes what is called ---- */

static void note(void *state, const char *hook)
{
    char *text = state;

    snprintf(text + strlen(text), 512 - strlen(text), "%s ", hook);
}

static int run_begin(struct weir_run *run, void *s, struct weir_test *t, int n, struct weir_err *err)
{
    (void)run, (void)t, (void)n, (void)err;
    note(s, "run_begin");
    return 0;
}

#define LOCAL(hook)                                                                                \
    static int hook(struct weir_run *run, void *s, struct weir_err *err)                           \
    {                                                                                              \
        (void)run, (void)err;                                                                      \
        note(s, #hook);                                                                            \
        return 0;                                                                                  \
    }
#define TELLS(hook)                                                                                \
    static void hook(struct weir_run *run, void *s)                                                \
    {                                                                                              \
        (void)run;                                                                                 \
        note(s, #hook);                                                                            \
    }
#define PHASE(hook)                                                                                \
    static int hook(struct weir_run *run, void *s, struct weir_phase_rec *rec,                     \
                    struct weir_err *err)                                                          \
    {                                                                                              \
        (void)run, (void)rec, (void)err;                                                           \
        note(s, #hook);                                                                            \
        return 0;                                                                                  \
    }
LOCAL(test_begin)
LOCAL(test_start)
LOCAL(repetition)
TELLS(run_open)
TELLS(summary)
TELLS(release)
TELLS(test_open)
TELLS(test_end)
TELLS(test_free)
PHASE(before)

static void start(struct weir_run *run, void *s, const struct weir_phase_rec *rec)
{
    (void)run, (void)rec;
    note(s, "start");
}

static void fill_max(struct weir_run *run, void *s, const struct weir_phase_rec *rec, int64_t *max)
{
    (void)rec;
    note(s, "max");
    max[0] = run->par.rank;
}

static void add(struct weir_run *run, void *s, const struct weir_phase_rec *rec, uint64_t *sum)
{
    (void)run, (void)rec;
    note(s, "add");
    sum[0] = 1;
}

static int after(struct weir_run *run, void *s, struct weir_phase_rec *rec, struct weir_err *err)
{
    (void)err;
    note(s, rec->maxima[0] == run->par.size - 1 && rec->sums[0] == (uint64_t)run->par.size ? "after"
                                                                                       : "wrong");
    return 0;
}

static void opened(struct weir_run *run, void *s, struct weir_session *session, struct weir_file *f)
{
    (void)run, (void)session, (void)f;
    note(s, "opened");
}

static enum weir_code run_end(struct weir_run *run, void *s, enum weir_code code)
{
    (void)run;
    note(s, "run_end");
    return code;
}

static const struct weir_observer recorder = {
    .name = "recorder",
    .maxima = 1,
    .sums = 1,
    .run_begin = run_begin,
    .run_open = run_open,
    .summary = summary,
    .run_end = run_end,
    .release = release,
    .test_begin = test_begin,
    .test_start = test_start,
    .test_open = test_open,
    .repetition = repetition,
    .test_end = test_end,
    .test_free = test_free,
    .before = before,
    .start = start,
    .max = fill_max,
    .add = add,
    .after = after,
    .opened = opened,
};

/* ---- a program with one phase ---- */

static uint64_t three(struct weir_run *run, void *state)
{
    (void)run, (void)state;
    return 3;
}

static int step(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns,
                struct weir_err *err)
{
    (void)state, (void)clock_ns, (void)err;
    if (i == 0)
        weir_observers_opened(run, NULL, NULL);
    weir_hist_add(&run->records.hist[0], 1 + i + 3 * (uint64_t)run->par.rank);
    if (is_slow)
        weir_sleep_ns(WEIR_NS_PER_S / 10);
    return 0;
}

static int count_from_here(struct weir_run *run, void *state, struct weir_err *err)
{
    (void)run, (void)state, (void)err;
    counts = true;
    return 0;
}

static int count_to_here(struct weir_run *run, void *state, const struct weir_stage *stage,
                         struct weir_phase_rec *rec, struct weir_err *err)
{
    const struct weir_hist *h = &run->records.hist[0];
    const uint64_t n = 3 * (uint64_t)run->par.size; /* times of 1 to n ns, one each */
    struct weir_session none = { .be = NULL };

    (void)state, (void)stage, (void)err;
    weir_observers_measured(run, &none, rec);
    counts = false;
    is_merged = h->n == n && h->sum_ns == n * (n + 1) / 2 && h->min_ns == 1 && h->max_ns == n;
    is_renewed = run->clock.before.at_ns != run->clock.now.at_ns;
    return 0;
}

static int plan(struct weir_run *run, void *state, void *chosen, struct weir_err *err)
{
    (void)run, (void)state, (void)chosen, (void)err;
    return 0;
}

static const struct weir_phase phase = {
    .key = "toy", .count = three, .step = step, .close = count_from_here
};
static const struct weir_stage stages[] = { { .key = "toy", .phase = &phase, .after = count_to_here },
                                            { .key = NULL } };
static const struct weir_operation operations[] = { { .key = "toy", .title = "Toy", .unit = "toys" },
                                                    { .key = NULL } };
static const struct weir_opt opts[] = { OPT_END };
static const struct weir_program toy = { .name = "toy",
                                        .brief = "Do nothing.",
                                        .opts = opts,
                                        .opt_size = sizeof(struct weir_run_options),
                                        .state_size = 1,
                                        .operations = operations,
                                        .plan = plan,
                                        .stages = stages };

/* The engine reports a phase where the program does not. */
static const struct weir_stage plain_stages[] = { { .key = "toy", .phase = &phase },
                                                  { .key = NULL } };
static const struct weir_program plain = { .name = "plain",
                                          .brief = "Do nothing.",
                                          .opts = opts,
                                          .opt_size = sizeof(struct weir_run_options),
                                          .state_size = 1,
                                          .operations = operations,
                                          .plan = plan,
                                          .stages = plain_stages };

/* ---- claims ---- */

static void run_toy(struct tap *t, struct weir_run *run, bool details, char *called,
                    struct weir_err *err)
{
    char word[] = "toy", quiet[] = "--rules=none", *argv[] = { word, quiet, NULL };
    struct weir_command command;

    called[0] = '\0';
    calls = 0;
    weir_program_begin(run, t->rank);
    run->report.details = details;
    weir_observers_hand_in(run, &recorder, called);
    if (tap_ok(t, weir_program_options(run, &command, &toy, 2, argv, err) == 0, err, "options"))
        tap_ok(t, weir_program_run(run, &command, MPI_COMM_WORLD, 2, argv, err) == WEIR_OK, err,
               "a run of a program with one phase");
    weir_program_end(run);
}

/* Estimates of the clocks that are older than 0.1 s are made again at the end of a phase: the largest
 * step of a clock and its rank are found, and the times are merged once more. */
static void test_order(struct tap *t, bool slow, bool details)
{
    static const char expected[] =
        "run_begin run_open test_begin test_start test_open repetition before start opened max add "
        "after test_end test_free summary run_end release ";
    static struct weir_run run; /* large */
    struct weir_err err = WEIR_ERR_INIT;
    char called[512];
    int size, expected_calls;

    is_slow = slow;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    run_toy(t, &run, details, called, &err);
    if (strcmp(called, expected) != 0)
        weir_refuse(&err, WEIR_EBUG, "%s", called);
    tap_ok(t, strcmp(called, expected) == 0, &err, "hooks come in their order, with merged numbers");
    expected_calls = size == 1 ? 0 : (is_renewed ? 5 : 2) + (details ? 2 : 0);
    if (calls != expected_calls)
        weir_refuse(&err, WEIR_EBUG, "%d calls, expected %d", calls, expected_calls);
    tap_ok(t, calls == expected_calls, &err,
           "a phase ends with one maximum and one sum, and as many for details; three for new clocks");
    tap_ok(t, is_merged || !details || t->rank > 0, NULL, "rank 0 has the latencies of all ranks");
    tap_ok(t, is_renewed || !slow || size == 1, NULL, "a slow phase has new estimates of clocks");
}

/* Standard output of rank 0 is a file meanwhile. */
static void test_report(struct tap *t)
{
    char word[] = "plain", quiet[] = "--rules=none", *argv[] = { word, quiet, NULL }, line[256];
    double mib = -1, ops = -1, seconds = -1;
    struct weir_err err = WEIR_ERR_INIT;
    static struct weir_run run; /* large */
    struct weir_command command;
    FILE *text = tmpfile();
    int out = dup(1), size, found = 0, rc;

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    is_slow = true;
    fflush(stdout);
    rc = text && out >= 0 && dup2(fileno(text), 1) == 1 ? 0 : -1;
    weir_program_begin(&run, t->rank);
    rc = rc < 0 ? rc : weir_program_options(&run, &command, &plain, 2, argv, &err);
    if (rc == 0 && weir_program_run(&run, &command, MPI_COMM_WORLD, 2, argv, &err) != WEIR_OK)
        rc = -1;
    weir_program_end(&run);
    fflush(stdout);
    (void)dup2(out, 1);
    close(out);
    tap_ok(t, rc == 0, &err, "a run of a program that reports nothing");
    rewind(text);
    while (fgets(line, sizeof(line), text))
        found += sscanf(line, "toy %lf MiB/s %lf ops/s %lf s", &mib, &ops, &seconds) == 3;
    fclose(text);
    tap_ok(t, found == (t->rank == 0), NULL, "its phase has one line, of rank 0");
    tap_ok(t,
           t->rank > 0 || (mib == 0 && seconds >= 0.3 && ops * seconds > 2.9 * size &&
                           ops * seconds < 3.1 * size),
           NULL, "with no bytes, the seconds of three slow steps, and as many operations a second");
}

int main(int argc, char **argv)
{
    struct tap t = { .failed = 0 };

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &t.rank);
    test_order(&t, false, false);
    test_order(&t, true, false);
    test_order(&t, false, true);
    test_report(&t);
    MPI_Finalize();
    return t.failed ? 1 : 0;
}
