/* SPDX-License-Identifier: BSD-3-Clause */
/* test_api.c - benchmarks run from another program, through weir.h alone */
#include "weir.h"

#include "engine/command.h"
#include "library/library.h"

#include <errno.h>
#include <locale.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "backend/entries.h"
#include "backend/tap.h"
#include "unit/optcheck.h"

#define MOST 64
#define WORDS 32
#define SOME_RUNS 20
#define SLACK_BYTES 65536 /* of the MPI library's own, over SOME_RUNS runs */

/* What the callback was told. */
struct seen {
    struct weir_result result[MOST];
    char operation[MOST][WEIR_NAME_TEXT];
    int n;
    bool own_locale; /* the caller's in all calls */
};

static void see(void *arg, const struct weir_result *r)
{
    struct seen *s = arg;

    s->own_locale &= uselocale((locale_t)0) == LC_GLOBAL_LOCALE;
    if (s->n == MOST)
        return;
    s->result[s->n] = *r;
    snprintf(s->operation[s->n++], sizeof(s->operation[0]), "%s", r->operation);
}

/* Run with the words of one line; nothing goes to standard output. */
static int run(const char *d, MPI_Comm comm, const char *line, struct seen *s,
               struct weir_outcome *out)
{
    char words[256], *argv[WORDS] = { (char[]) { "weir" }, (char[]) { "--report=text:/dev/null" } };
    char *save = NULL;
    int argc = 2;

    snprintf(words, sizeof(words), "%s", line);
    for (char *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save))
        argv[argc++] = w;
    s->n = 0;
    s->own_locale = true;
    return weir_measure(d, argc, argv, &comm, see, s, out);
}

static int find(const struct seen *s, const char *operation)
{
    for (int i = 0; i < s->n; i++)
        if (strcmp(s->operation[i], operation) == 0)
            return i;
    return -1;
}

static bool is_rate(double rate, uint64_t amount, double seconds)
{
    double again = rate * seconds;

    return again >= (double)amount * 0.999 && again <= (double)amount * 1.001;
}

/* Rates are amounts over times: bytes over all of a phase, operations over its work. On other ranks than 0 there is
 * nothing. */
static bool sound(const struct tap *t, const struct seen *s, int phases)
{
    if (t->rank != 0)
        return s->n == 0;
    for (int i = 0; i < s->n; i++) {
        const struct weir_result *r = &s->result[i];

        if (r->seconds <= 0 || r->work_seconds <= 0 || r->interrupted || r->wrong ||
            !is_rate(r->bytes_per_s, r->bytes, r->seconds) ||
            !is_rate(r->operations_per_s, r->operations, r->work_seconds))
            return false;
    }
    return s->n == phases;
}

static void test_ior(struct tap *t, int size)
{
    struct weir_outcome out = { .size = sizeof(out) };
    struct seen s;
    int status, at;

    status =
        run("ior", MPI_COMM_WORLD, "-w -W -r -i 2 -b 64k -t 16k -s 2 -o api-ior", &s, &out);
    tap_ok(t, status == 0 && out.status == 0 && !out.error[0], NULL, "ior runs");
    tap_ok(t, sound(t, &s, 6), NULL, "rank 0 is told of every phase of every repetition");
    tap_ok(t, s.own_locale && uselocale((locale_t)0) == LC_GLOBAL_LOCALE, NULL,
           "in the locale of its program, which is not changed");
    at = find(&s, "read");
    tap_ok(t,
           t->rank != 0 || (at == 2 && s.result[at].bytes == 131072u * (unsigned)size &&
                            s.result[at].operations == 8u * (unsigned)size &&
                            s.result[at].tasks == size && s.result[5].repetition == 1),
           NULL, "bytes, transfers, tasks and repetition of a phase are right");
    status = run("ior", MPI_COMM_WORLD,
                 "-a DUMMY -w -R -b 64k -t 16k --dummy.corrupt-at=2 -o api-ior", &s, &out);
    at = find(&s, "read");
    tap_ok(t, status == 4 && (t->rank != 0 || s.result[at].wrong > 0), NULL,
           "wrong data are a status and a number");
}

static void test_mdtest(struct tap *t, int size)
{
    struct weir_outcome out = { .size = sizeof(out) };
    struct seen s;
    int status = run("mdtest", MPI_COMM_WORLD, "-n 10 -d api-mdtest", &s, &out);
    int at = find(&s, "file create");

    tap_ok(t, status == 0 && !out.error[0], NULL, "mdtest runs in the same process");
    tap_ok(t,
           t->rank != 0 || (at >= 0 && s.result[at].operations == 10u * (unsigned)size &&
                            s.result[at].operations_per_s > 0),
           NULL, "its phases are told, with the files they worked on");
    at = find(&s, "file stat");
    tap_ok(t, t->rank != 0 || (at >= 0 && s.result[at].operation_time.n == 10u * (unsigned)size), NULL,
           "with the times of operations that move no data");
    status = run("mdtest", MPI_COMM_WORLD, "-n 10 -F -c -d api-mdtest", &s, &out);
    at = find(&s, "file create");
    tap_ok(t,
           t->rank != 0 || (status == 0 && s.result[at].operations == 10u * (unsigned)size &&
                            s.result[at].operation_time.n == s.result[at].operations),
           NULL, "also where one rank makes the files of all");
}

/* -I 5 -P 6 -D 2 of so many tasks, each step a stat, read, delete, create. */
static bool counts_objects(const struct seen *s, unsigned tasks)
{
    const struct weir_result *made = &s->result[find(s, "precreate")];
    const struct weir_result *ran = &s->result[find(s, "benchmark")];
    const struct weir_result *gone = &s->result[find(s, "cleanup")];

    return made->operations == 14 * tasks && made->operation_time.n == 12 * tasks &&
           ran->operations == 40 * tasks && ran->operation_time.n == 40 * tasks &&
           ran->operations_max == 40 && gone->operations == 14 * tasks &&
           gone->operation_time.n == 12 * tasks && gone->operation_time.max > 0;
}

static void test_md_workbench(struct tap *t, int size)
{
    struct weir_outcome out = { .size = sizeof(out) };
    struct seen s;
    int status = run("md-workbench", MPI_COMM_WORLD, "-I 5 -P 6 -D 2 -R 1 -o api-mdw", &s, &out);
    int made = find(&s, "precreate"), at = find(&s, "benchmark");

    tap_ok(t, status == 0 && !out.error[0] && (t->rank == 0 || s.n == 0), NULL,
           "md-workbench runs in the same process");
    tap_ok(t,
           t->rank != 0 || (made >= 0 && at > made && find(&s, "cleanup") > at &&
                            s.result[at].tasks == size),
           NULL, "its phases are told in their order");
    tap_ok(t, t->rank != 0 || counts_objects(&s, (unsigned)size), NULL,
           "with the operations on objects and sets, and the times of those on objects, of all ranks");
}

/* A sink sees a copy of each record, without names: all of the record. */
static void test_anonymous(struct tap *t, int size)
{
    const char *const programs[][2] = {
        { "ior", "--anonymous -a DUMMY -w -b 64k -t 16k" },
        { "mdtest", "--anonymous -a DUMMY -n 4 -F -C" },
        { "md-workbench", "--anonymous -I 1 -P 1 -D 1 -R 1 -o api-mdw" },
    };
    struct weir_outcome out = { .size = sizeof(out) };
    struct seen s;
    bool good = true;

    mallopt(M_PERTURB, 0xa5); /* what nobody has written is no zero */
    for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
        good &= run(programs[i][0], MPI_COMM_WORLD, programs[i][1], &s, &out) == 0;
        good &= t->rank != 0 || s.n > 0;
        for (int k = 0; k < s.n; k++)
            good &= !s.result[k].stonewalled && s.result[k].operation_time.n <= 20u * (unsigned)size;
    }
    mallopt(M_PERTURB, 0);
    tap_ok(t, good, NULL, "anonymous results have the same numbers");
}

static void test_errors(struct tap *t)
{
    struct weir_outcome out = { .size = sizeof(out) };
    struct seen s;

    tap_ok(t, run("ior", MPI_COMM_WORLD, "-b 4k -t 3k", &s, &out) == 1 && s.n == 0, NULL,
           "a wrong option is a status");
    tap_ok(t, strstr(out.error, "transfer") != NULL, NULL, "its words are known on all ranks");
    tap_ok(t,
           run("ior", MPI_COMM_WORLD, "--no-such-option", &s, &out) == 1 &&
               strstr(out.error, "no-such-option"),
           NULL, "so is one that is not there");
    tap_ok(t,
           weir_measure("mdtest", 0, (char *[]) { NULL }, NULL, NULL, NULL, &out) == 1 &&
               strstr(out.error, "argv[0]") && weir_measure("mdtest", 1, NULL, NULL, NULL, NULL, &out) == 1,
           NULL, "so are words without the first");
    tap_ok(t,
           run("ior", MPI_COMM_WORLD, "-r -o api-nowhere/x", &s, &out) == 3 &&
               strstr(out.error, "api-nowhere"),
           NULL, "and a file that cannot be opened");
    tap_ok(t,
           run("ior", MPI_COMM_WORLD, "-a DUMMY -w -b 8k -t 8k", &s, &out) == 0 &&
               !out.error[0],
           NULL, "a failed run leaves nothing to the next");
}

static void test_part(struct tap *t, int size)
{
    struct weir_outcome out = { .size = sizeof(out) };
    struct seen s = { .n = 0 };
    MPI_Comm part;

    MPI_Comm_split(MPI_COMM_WORLD, t->rank == size - 1, 0, &part);
    if (t->rank == size - 1)
        run("ior", part, "-a DUMMY -w -b 8k -t 8k", &s, &out);
    tap_ok(t, t->rank != size - 1 || (out.status == 0 && s.n == 1 && s.result[0].tasks == 1), NULL,
           "a run can have a part of the ranks, and its own rank 0 is told");
    MPI_Comm_free(&part);
}

static rlim_t address_space(void)
{
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");

    if (f && fscanf(f, "%lu", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ADDRESS_SANITIZER 1 /* which ends the process where there is no memory */
#endif
#endif

/* One rank fails where others have taken what they need: memory, sessions, a watchdog. */
static void test_threads(struct tap *t, int size)
{
    struct rlimit before, little;
    int threads = entries("/proc/self/task");
    struct weir_outcome out = { .size = sizeof(out) };
    struct seen s;

#ifdef ADDRESS_SANITIZER
    tap_ok(t, true, NULL, "no thread outlives a run that failed # SKIP address sanitizer");
    return;
#endif
    getrlimit(RLIMIT_AS, &before);
    little = (struct rlimit) { .rlim_cur = address_space() + ((rlim_t)32 << 20),
                               .rlim_max = before.rlim_max };
    if (t->rank == size - 1)
        setrlimit(RLIMIT_AS, &little);
    run("ior", MPI_COMM_WORLD, "-a DUMMY -w -b 64m -t 64m --io-timeout=100", &s, &out);
    setrlimit(RLIMIT_AS, &before);
    tap_ok(t, out.status == 2 && out.error[0], NULL, "a rank without memory is an error of all");
    tap_ok(t, new_threads(threads) == 0, NULL, "no thread outlives a run that failed");
}

static bool run_some(void)
{
    struct weir_outcome out = { .size = sizeof(out) };
    struct seen s;
    bool good = true;

    for (int i = 0; i < SOME_RUNS; i++)
        good &= run("ior", MPI_COMM_WORLD, "-a DUMMY -w -r -N 1 -b 8k -t 8k", &s, &out) == 0;
    return good && run("ior", MPI_COMM_WORLD, "-b 4k -t 3k", &s, &out) == 1;
}

static void test_leaks(struct tap *t)
{
    size_t before, after;
    int files;

    run_some(); /* libraries take what they keep */
    files = entries("/proc/self/fd");
    before = mallinfo2().uordblks;
    tap_ok(t, run_some(), NULL, "runs can follow each other in any number");
    after = mallinfo2().uordblks;
    tap_ok(t, after < before + SLACK_BYTES, NULL, "they give their memory back");
    tap_ok(t, entries("/proc/self/fd") <= files, NULL, "and their files");
}

static void count_phase(void *arg, const char *phase)
{
    int *n = arg;

    if (uselocale((locale_t)0) == LC_GLOBAL_LOCALE)
        *n += strcmp(phase, "write") == 0 || strcmp(phase, "read") == 0;
}

static void count_messages(void *arg, const char *kind, const char *text)
{
    int *n = arg;

    *n += uselocale((locale_t)0) == LC_GLOBAL_LOCALE && strcmp(kind, "warning") == 0 && strstr(text, "ncorrect data") != NULL;
}

static void test_refusals(struct tap *t, struct weir_job *job)
{
    tap_ok(t, !weir_job_new("no such", NULL) && !weir_job_new(NULL, NULL), NULL, "there is no such benchmark");
    tap_ok(t, weir_job_set(job, "no-such", "1") == 1 && strstr(weir_job_error(job), "no-such"), NULL,
           "an unknown option is refused at once");
    tap_ok(t,
           weir_job_set(job, "b", "sheep") == 1 && weir_job_set(job, "a=b", NULL) == 1 &&
               weir_job_set(job, "blockSize 4k", NULL) == 1, NULL,
           "so is a wrong value, and a name that is none");
    tap_ok(t, weir_job_unset(job, "b") == 1, NULL, "what was refused is not set");
    tap_ok(t, weir_job_set(job, NULL, "1") == 1 && weir_job_unset(job, NULL) == 1 && weir_job_unset(job, "-") == 1,
           NULL, "no name is no option");
    tap_ok(t,
           weir_job_set(job, "help", "order") == 1 && strstr(weir_job_error(job), "--help=order") &&
               weir_job_set(job, "h", NULL) == 1 && weir_job_set(job, "version", NULL) == 1 &&
               weir_job_set(job, "dump-options", "words") == 1 && weir_job_set(job, "complete", "b") == 1,
           NULL, "what prints a text instead of a run is refused");
}

/* A job, on all ranks: phases, the same results everywhere, and a second run with other options. */
static void test_job(struct tap *t, int size)
{
    struct weir_job *job = weir_job_new("ior", NULL);
    const struct weir_result *r;
    int before = 0, messages = 0;

    test_refusals(t, job);
    weir_job_before(job, count_phase, &before);
    weir_job_watch(job, NULL, count_messages, &messages);
    weir_job_set(job, "api", "DUMMY");
    weir_job_set(job, "dummy.store", NULL);
    weir_job_set(job, "b", "32k");
    weir_job_set(job, "O", "blockSize=32k");
    weir_job_set(job, "blockSize", "48k");
    weir_job_set(job, "b", "64k");
    weir_job_set(job, "transferSize", "16k");
    weir_job_set(job, "-w", NULL);
    tap_ok(t, weir_job_run(job) == 0 && weir_job_results(job) == 1 && before == 1, NULL,
           "a job runs one phase");
    r = weir_job_result(job, 0);
    tap_ok(t,
           r && r->size == sizeof(*r) && r->bytes == 65536u * (unsigned)size &&
               r->operations_max == 4 && r->operation_time.n == 4u * (unsigned)size &&
               r->operation_time.max > 0 && !r->stonewalled && !weir_job_result(job, 1),
           NULL, "its results are there on all ranks");
    tap_ok(t, weir_job_verdict(job)[0] && weir_job_remarks(job) > 0 && weir_job_remark(job, 0)->rule[0] == 'H',
           NULL, "and what was found");
    weir_job_set(job, "checkRead", NULL);
    weir_job_set(job, "dummy.corrupt-at", "2");
    tap_ok(t,
           weir_job_run(job) == 4 && weir_job_results(job) == 2 &&
               weir_job_result(job, 1)->wrong > 0 && messages == (t->rank == 0),
           NULL, "other options, another run: wrong data are a status, a number and a message");
    tap_ok(t, weir_job_unset(job, "DUMMY.corrupt-at") == 0 && weir_job_unset(job, "block-size") == 0 &&
               weir_job_unset(job, "b") == 1, NULL, "an option is unset by any of its names, once");
    weir_job_set(job, "dummy.fail-at", "1");
    tap_ok(t, weir_job_run(job) == 3 && weir_job_error(job)[0], NULL, "an error has words");
    tap_ok(t, weir_job_results(job) == 0 && !weir_job_verdict(job)[0], NULL,
           "and no verdict before a phase was measured");
    weir_job_unset(job, "dummy.fail-at");
    tap_ok(t, weir_job_run(job) == 0 && !weir_job_error(job)[0] && weir_job_results(job) == 2, NULL,
           "and leaves nothing to the next run");
    r = weir_job_result(job, 0);
    tap_ok(t, r && r->bytes == 32768u * (unsigned)size, NULL, "what one option has set stays when another is unset");
    weir_job_free(job);
}

/* How far a rank was told to be, and after how many operations it ends the job; 0: it does not. */
struct watched {
    uint64_t bytes, operations, enough;
    int calls;
    bool wrong, own_locale;
};

static int watch(void *arg, const struct weir_progress *now)
{
    struct watched *w = arg;

    w->own_locale |= uselocale((locale_t)0) == LC_GLOBAL_LOCALE;
    w->calls++;
    if (!now->phase) {
        w->wrong |= now->bytes || now->operations;
        return 0;
    }
    w->wrong |= now->size != sizeof(*now) || strcmp(now->phase, "write") != 0 || now->bytes < w->bytes ||
                now->operations < w->operations || now->bytes != 4096 * now->operations;
    w->bytes = now->bytes;
    w->operations = now->operations;
    return w->enough && now->operations >= w->enough;
}

/* A file that a rule names for one job, and an option for another; and a report of the caller's. */
static void test_clash(struct tap *t, struct weir_job *job, int size)
{
    const int tasks[] = { size, 1 };
    const char *own[] = { "until.00000000", NULL };
    struct weir_job *jobs[] = { job, weir_job_new("ior", NULL) };
    int other = 7;

    tap_ok(t, weir_job_set(jobs[1], "l", "nothing") == 0 && weir_job_check(jobs[1]) == 1 && strstr(weir_job_error(jobs[1]), "'nothing' is not known"), NULL,
           "options that do not go together are found without a run");
    weir_job_unset(jobs[1], "l");
    weir_job_set(jobs[1], "o", "no directory/file");
    tap_ok(t, weir_job_check(jobs[1]) == 0 && weir_job_results(jobs[1]) == 0, NULL, "files are not looked for");
    weir_job_set(jobs[1], "o", "./until.00000000");
    tap_ok(t, weir_jobs_clash(jobs, tasks, 2, NULL, &other) == 1 && other == 0 && strstr(weir_job_error(jobs[1]), "/until.00000000"),
           NULL, "two jobs would use the same file");
    weir_job_set(jobs[1], "o", "until.99999999");
    tap_ok(t, weir_jobs_clash(jobs, tasks, 2, NULL, &other) == -1, NULL, "or not");
    tap_ok(t, weir_jobs_clash(jobs, tasks, 2, own, &other) == 0 && other == -1, NULL, "a job and its caller would");
    weir_job_set(jobs[1], "f", "no script");
    tap_ok(t, weir_jobs_clash(jobs, tasks, 2, NULL, &other) == 1 && other == 1 && strstr(weir_job_error(jobs[1]), "'no script'"), NULL,
           "a job whose script is not there has no files");
    weir_job_free(jobs[1]);
}

/* A job from words; of a program that has not all of them NULL. */
static struct weir_job *job_of(const char *line)
{
    char text[128], *argv[8] = { NULL }, *at = NULL;
    struct weir_job *job;
    int argc = 0;

    snprintf(text, sizeof(text), "%s", line);
    for (char *word = strtok_r(text, " ", &at); word && argc < 8; word = strtok_r(NULL, " ", &at))
        argv[argc++] = word;
    job = weir_job_new(argv[0], NULL);
    if (job && weir_job_words(job, argc, argv) == 0)
        return job;
    weir_job_free(job);
    return NULL;
}

/* What each program names by a rule, on two tasks, and ior beside it. */
static void test_rules(struct tap *t)
{
    static const struct {
        const char *words, *file;
        bool clash;
    } row[] = {
        { "mib -t ./d", "d/mibData.00000001", true },
        { "mib -t d", "d/mibData.00000002", false },
        { "mib", "mibData.00000000", true },
        { "mdtest -d c@d -u", "d/test-dir.0-0/x", true },
        { "mdtest -d d", "d/test-dir", false },
        { "mdtest -d d", "d/x", false },
        { "md-workbench -o d -D 2", "d/1_1/x", true },
        { "md-workbench -o d -D 2", "d/1_10", false },
        { "md-workbench -o d -D 1", "d/1_1/x", false },
        { "model_checkpoint -o d", "d/checkpoint-00000000/x", true },
        { "model_checkpoint -o d", "d/.checkpoint-00000007.staged/x", true },
        { "model_checkpoint -o d", "d/other", false },
        { "checkpoint_simulator.x -a POSIX -o d/c", "d/c.bin", true },
    };
    const int tasks[] = { 2, 2 };
    int other;

    for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++)
        for (int swap = 0; swap < 2; swap++) {
            struct weir_job *ior = weir_job_new("ior", NULL), *job = job_of(row[i].words);
            struct weir_job *const jobs[] = { swap ? ior : job, swap ? job : ior };

            weir_job_set(ior, "o", row[i].file);
            tap_ok(t,
                   job && weir_jobs_clash(jobs, tasks, 2, NULL, &other) == (row[i].clash ? 1 : -1),
                   NULL, "%s %s %s", row[i].words, row[i].clash ? "would use" : "does not use",
                   row[i].file);
            weir_job_free(ior);
            weir_job_free(job);
        }
}

/* A rule beside another rule: files of ior in a directory of md-workbench, and not beside it. */
static void test_two_rules(struct tap *t)
{
    static const char *const words[] = { "ior -F -o d/0_0/f", "ior -F -o d/0_0f", "mdtest -d d/0_0",
                                         "mib -t d" };
    static const bool clash[] = { true, false, true, true };
    const int tasks[] = { 2, 2 };
    int other;

    for (int i = 0; i < 4; i++) {
        struct weir_job *const jobs[] = { job_of(words[i]), job_of("md-workbench -o d") };

        tap_ok(t,
               jobs[0] && jobs[1] &&
                   weir_jobs_clash(jobs, tasks, 2, NULL, &other) == (clash[i] ? 1 : -1),
               NULL, "%s beside md-workbench -o d", words[i]);
        weir_job_free(jobs[0]);
        weir_job_free(jobs[1]);
    }
}

/* One rank ends a job of all ranks, whose file is removed; then nobody does. */
static void test_until(struct tap *t, int size)
{
    char *words[] = { (char[]) { "ior" }, (char[]) { "-w" }, (char[]) { "-F" }, (char[]) { "-t4k" }, (char[]) { "-b8m" },
                      (char[]) { "-OinterIODelay=4000" }, (char[]) { "-ountil@until" } };
    struct watched w = { .enough = t->rank == size - 1 ? 20 : 0 };
    struct weir_job *job = weir_job_new("ior", NULL);
    const struct weir_result *r;

    weir_job_words(job, 7, words);
    test_clash(t, job, size);
    test_rules(t);
    test_two_rules(t);
    weir_job_until(job, watch, &w);
    tap_ok(t, weir_job_run(job) == 6 && strstr(weir_job_error(job), "interrupted") && w.calls > 0 && !w.wrong && w.own_locale,
           NULL, "a function of one rank ends a job");
    r = weir_job_result(job, 0);
    tap_ok(t, r && r->interrupted && r->bytes >= 20 * 4096 && r->bytes < (uint64_t)size << 23 && access("until.00000000", F_OK) != 0,
           NULL, "what was measured is a result, and its files are removed");
    w = (struct watched) { .enough = 0 };
    weir_job_set(job, "b", "40k");
    tap_ok(t, weir_job_run(job) == 0 && w.bytes == 40960 && w.operations == 10 && !w.wrong, NULL,
           "the last call knows all that the rank has done");
    weir_job_until(job, NULL, NULL);
    w.calls = 0;
    tap_ok(t, weir_job_run(job) == 0 && w.calls == 0, NULL, "and nobody is asked any more");
    weir_job_free(job);
}

#define PIECES 65536

static void collect(void *arg, const char *bytes, size_t len)
{
    char *text = arg;
    size_t used = strlen(text);

    if (used + len < PIECES) {
        memcpy(text + used, bytes, len);
        text[used + len] = '\0';
    }
}

/* For writing into a file, after an error. NULL without memory. */
static FILE *faulty_stream(FILE *file)
{
    FILE *stream = file ? fdopen(dup(fileno(file)), "w") : NULL;

    return stream && getc(stream) == EOF && ferror(stream) ? stream : NULL;
}

/* A job of the words of a command line, whose text goes to a stream and to a function. */
static void test_words(struct tap *t, int size)
{
    char *words[] = { (char[]) { "./ior" }, (char[]) { "-aDUMMY" }, (char[]) { "-w" }, (char[]) { "-b" },
                      (char[]) { "32k" },   (char[]) { "-t" },      (char[]) { "16k" } };
    char *wrong[] = { (char[]) { "./ior" }, (char[]) { "-b" }, (char[]) { "sheep" }, NULL };
    struct weir_job *job = weir_job_new("ior", NULL);
    static char text[PIECES], file[PIECES]; /* large */
    FILE *back = tmpfile(), *stream = faulty_stream(back);
    size_t len = 0;

    weir_job_set(job, "i", "9");
    weir_job_stream(job, stream);
    weir_job_text(job, collect, text);
    tap_ok(t, weir_job_words(job, 7, words) == 0 && weir_job_run(job) == 0 && weir_job_results(job) == 1 &&
                  weir_job_result(job, 0)->bytes == 32768u * (unsigned)size, NULL,
           "the words of a command line replace what was set before");
    if (stream) {
        rewind(back);
        len = fread(file, 1, sizeof(file) - 1, back);
    }
    tap_ok(t, len == strlen(text) && strcmp(text, file) == 0 &&
                  (t->rank == 0) == (strstr(text, ": ior -aDUMMY -w -b 32k -t 16k\n") && strstr(text, "Summary of all tests:") && strstr(text, "Finished   ")), NULL,
           "the text is the same on a stream, which had an error and stays open, and through a function");
    tap_ok(t, weir_job_words(job, 3, wrong) == 1 && strstr(weir_job_error(job), "sheep") &&
                  weir_job_words(job, 4, wrong) == 1 && weir_job_words(job, 0, words) == 1 &&
                  weir_job_words(job, 2, (char *[]) { words[0], (char[]) { "-h" } }) == 1 &&
                  weir_job_words(NULL, 7, words) == 1, NULL, "wrong words are refused at once, and NULL");
    weir_job_set(job, "blockSize", "64k");
    weir_job_stream(job, NULL);
    weir_job_text(job, NULL, NULL);
    tap_ok(t, weir_job_run(job) == 0 && weir_job_result(job, 0)->bytes == 65536u * (unsigned)size, NULL,
           "the words before stay, and an option that is set later overrides them");
    weir_job_free(job);
    if (stream)
        fclose(stream);
    if (back)
        fclose(back);
}

/* With any backend: libraries that tell no errno, too. */
static void test_storage_refusals(struct tap *t, const char *dir)
{
    static const char *const apis[] = { "POSIX", "MPIIO", "HDF5" };
    char file[64];

    snprintf(file, sizeof(file), "%s/file", dir);
    for (size_t i = 0; i < sizeof(apis) / sizeof(*apis); i++) {
        struct weir_storage *s = weir_storage_open(apis[i], 0, NULL);

        if (!s || weir_storage_error(s)[0]) { /* HDF5 may not be there */
            weir_storage_close(s);
            continue;
        }
        tap_ok(t, weir_storage_mkdir(s, dir, 0777) == 0 && weir_storage_create(s, file) == 0 && weir_storage_create(s, file) == EEXIST &&
                      weir_storage_remove(s, dir) == EISDIR && weir_storage_remove(s, file) == 0 && weir_storage_rmdir(s, dir) == 0,
               NULL, "all backends say what is there already, and what is no file");
        tap_ok(t, weir_storage_create(s, NULL) == EINVAL && strstr(weir_storage_error(s), "NULL") && weir_storage_stat(s, NULL, NULL) == EINVAL &&
                      weir_storage_access(s, NULL) == EINVAL && weir_storage_remove(s, NULL) == EINVAL &&
                      weir_storage_mkdir(s, NULL, 0777) == EINVAL && weir_storage_rmdir(s, NULL) == EINVAL, NULL,
               "no path is an error");
        weir_storage_close(s);
    }
}

static void test_storage(struct tap *t)
{
    struct weir_storage *s = weir_storage_open(NULL, 1, (char *[]) { (char[]) { "--posix.odirect=0" } });
    char dir[32], file[64];
    uint64_t bytes = 1;
    struct stat st, of_dir;

    snprintf(dir, sizeof(dir), "storage-%d", t->rank);
    snprintf(file, sizeof(file), "%s/file", dir);
    tap_ok(t, s && !weir_storage_error(s)[0] && weir_storage_mkdir(s, dir, 0777) == 0 && weir_storage_create(s, file) == 0 &&
                  weir_storage_stat(s, file, &bytes) == 0 && bytes == 0 && weir_storage_access(s, file) == 0,
           NULL, "a process makes a directory and a file through a backend");
    tap_ok(t, weir_storage_status(s, file, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1 &&
                  weir_storage_status(s, dir, &of_dir) == 0 && S_ISDIR(of_dir.st_mode) && of_dir.st_ino != st.st_ino &&
                  weir_storage_status(s, "no-such", &st) == ENOENT && strstr(weir_storage_error(s), "no-such"), NULL,
           "and is informed of all that the system knows of them");
    tap_ok(t, weir_storage_mkdir(s, dir, 0777) == EEXIST && weir_storage_create(s, file) == EEXIST &&
                  weir_storage_rmdir(s, dir) == ENOTEMPTY && strstr(weir_storage_error(s), dir), NULL,
           "an error is an errno, with words");
    tap_ok(t, weir_storage_remove(s, file) == 0 && weir_storage_remove(s, file) == ENOENT && weir_storage_access(s, file) == ENOENT &&
                  weir_storage_stat(s, file, NULL) == ENOENT && weir_storage_rmdir(s, dir) == 0, NULL, "and removes them");
    tap_ok(t, weir_storage_close(s) == 0 && weir_storage_close(NULL) == 0, NULL, "and is closed");
    s = weir_storage_open("DUMMY", 0, NULL);
    tap_ok(t, weir_storage_status(s, "no-such", &st) == 0 && st.st_mode == 0 && st.st_size == 0 &&
                  weir_storage_status(s, NULL, &st) == EINVAL, NULL, "a backend that keeps nothing tells zeros");
    weir_storage_close(s);
    test_storage_refusals(t, dir);
    s = weir_storage_open("NO-SUCH", 0, NULL);
    tap_ok(t, s && strstr(weir_storage_error(s), "NO-SUCH") && weir_storage_mkdir(s, dir, 0777) == EINVAL, NULL,
           "a backend that is not there is an error, and nothing works");
    weir_storage_close(s);
    s = weir_storage_open("POSIX", 1, (char *[]) { (char[]) { "--posix.no-such" } });
    tap_ok(t, s && strstr(weir_storage_error(s), "no-such"), NULL, "so is an option that it does not have");
    weir_storage_close(s);
}

static int run_second(void)
{
    char *words[] = { (char[]) { "ior" }, (char[]) { "-aDUMMY" }, (char[]) { "--report=text:/dev/null" } };
    struct weir_outcome out = { .size = sizeof(out) };

    return weir_measure("ior", 3, words, NULL, NULL, NULL, &out) == 1 && strstr(out.error, "another run") != NULL;
}

/* On rank 0 alone, by the job that runs. */
static void run_the_same(void *arg, const struct weir_result *result)
{
    (void)result;
    weir_job_run(arg);
}

static void *in_thread(void *arg)
{
    *(int *)arg += run_second();
    return NULL;
}

static void run_others(void *arg, const char *phase)
{
    pthread_t thread;

    (void)phase;
    *(int *)arg += run_second();
    if (pthread_create(&thread, NULL, in_thread, arg) == 0)
        pthread_join(thread, NULL);
}

/* Ranks of even and of odd numbers. */
static void test_two_groups(struct tap *t)
{
    struct weir_job *job;
    MPI_Comm own, both;

    MPI_Comm_split(MPI_COMM_WORLD, t->rank % 2, 0, &own);
    MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, 1 - t->rank % 2, 0, &both);
    job = weir_job_new("ior", &both);
    tap_ok(t, weir_job_run(job) == 1 && strstr(weir_job_error(job), "intercommunicator"), NULL, "a communicator between groups is refused");
    weir_job_free(job);
    MPI_Comm_free(&both);
    MPI_Comm_free(&own);
}

static void test_one_at_a_time(struct tap *t)
{
    char *words[] = { (char[]) { "ior" }, (char[]) { "-aDUMMY" }, (char[]) { "-w" }, NULL };
    struct weir_outcome out = { .size = sizeof(out) };
    struct weir_job *job = weir_job_new("ior", NULL);
    const MPI_Comm none = MPI_COMM_NULL;
    struct {
        uint64_t size;
        int status, guard;
    } old = { .size = sizeof(uint64_t) + sizeof(int), .guard = 7 }; /* of a caller that knows less */
    int refused = 0;

    weir_job_words(job, 3, words);
    weir_job_before(job, run_others, &refused);
    tap_ok(t, weir_job_run(job) == 0 && refused == 2, NULL,
           "a second run is refused, from within the first and in another thread");
    weir_job_before(job, NULL, NULL);
    weir_job_set(job, "r", NULL);
    weir_job_watch(job, run_the_same, NULL, job);
    tap_ok(t, weir_job_run(job) == 0 && weir_job_results(job) == 2, NULL,
           "and nothing keeps the next one, nor takes its results where it runs itself on one rank");
    weir_job_free(job);
    tap_ok(t, weir_measure("ior", 3, words, &none, NULL, NULL, &out) == 1 && strstr(out.error, "MPI_COMM_NULL"), NULL,
           "MPI_COMM_NULL is refused");
    tap_ok(t, weir_measure("ior", 4, words, NULL, NULL, NULL, &out) == 1 && strstr(out.error, "NULL"), NULL,
           "so is a word that is NULL");
    tap_ok(t, weir_measure("no", 3, words, NULL, NULL, NULL, (struct weir_outcome *)(void *)&old) == 1 && old.status == 1 &&
                  old.guard == 7, NULL, "no more is written than the caller's outcome has room for");
}

static bool is_made_of(const struct weir_command *c, size_t offset)
{
    for (const struct weir_opt *row = c->opts.set[0].rows; !weir_opt_is_end(row); row++)
        if (row->offset == offset && row->type < WEIR_OPT_DIRECTIVES)
            return true;
    return false;
}

/* All tables of each program, once the rows of all programs are in its own. */
static void test_options(struct tap *t)
{
    const char *name;

    for (int i = 0; (name = weir_benchmark_name(i)) != NULL; i++) {
        struct weir_err err = WEIR_ERR_INIT;
        struct weir_arena arena = { 0 };
        struct weir_command c;

        tap_ok(t, weir_command_init(&c, weir_benchmark_find(name), &arena, &err) == 0 &&
                      optcheck(&c.opts, &err) == 0,
               &err, "no two options of %s have one name, and each has its default and help", name);
        tap_ok(t, is_made_of(&c, offsetof(struct weir_run_options, no_space_check)) &&
                      is_made_of(&c, offsetof(struct weir_run_options, reports)),
               NULL, "%s has options that its own table does not name", name);
        weir_arena_free(&arena);
    }
}

/* Before MPI_Init, and after MPI_Finalize. Local. */
static bool is_refused_without_mpi(void)
{
    struct weir_job *job = weir_job_new("ior", NULL);
    struct weir_storage *s = weir_storage_open(NULL, 0, NULL);
    bool good = weir_job_run(job) == 1 && strstr(weir_job_error(job), "MPI is ") &&
                strstr(weir_storage_error(s), "MPI is ") && weir_storage_create(s, "file") == EINVAL;

    weir_storage_close(s);
    weir_job_free(job);
    return good;
}

int main(int argc, char **argv)
{
    struct tap t = { .failed = 0 };
    char dir[64] = "/tmp/weir-api-XXXXXX";
    int size, level;
    bool refused;

    refused = is_refused_without_mpi();
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &t.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (t.rank == 0 && !mkdtemp(dir))
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Bcast(dir, sizeof(dir), MPI_CHAR, 0, MPI_COMM_WORLD);
    tap_ok(&t, refused, NULL, "before MPI_Init nothing runs");
    if (tap_ok(&t, chdir(dir) == 0, NULL, "has a directory of its own")) {
        test_ior(&t, size);
        test_mdtest(&t, size);
        test_md_workbench(&t, size);
        test_anonymous(&t, size);
        test_errors(&t);
        test_part(&t, size);
        test_threads(&t, size);
        test_job(&t, size);
        test_until(&t, size);
        test_words(&t, size);
        test_storage(&t);
        test_one_at_a_time(&t);
        if (size > 1)
            test_two_groups(&t);
        test_leaks(&t);
        test_options(&t);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    tap_ok(&t, t.rank != 0 || rmdir(dir) == 0, NULL, "nothing is left");
    MPI_Finalize();
    if (!is_refused_without_mpi()) {
        fprintf(stderr, "# after MPI_Finalize something runs\n");
        t.failed = 1;
    }
    return t.failed ? 1 : 0;
}
