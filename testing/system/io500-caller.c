/* SPDX-License-Identifier: BSD-3-Clause */
/* io500-caller.c - calls what contrib/io500 installs as the IO500 program does, and checks every field on every rank
 *
 *   io500-caller FULL API...
 *
 * In the current directory. FULL: a directory without room for 4 MiB, "-": there is none. For each API, "NAME" or "NAME word...": the
 * data directories are made through the backend, all phases are run with their command lines, and one line for each is printed:
 * "API PHASE rate time ..." of what the library returned. Plain DUMMY stores nothing: phases that verify have errors there. What is
 * wrong is a line "wrong: ..."; the last one is "done". */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <aiori.h>
#include <ior.h>
#include <md-workbench.h>
#include <mdtest.h>

#define WORDS 64
#define TEXT 1024

static MPI_Comm comm; /* of all ranks, or of an odd number of them */
static int me, tasks;

/* ---- checks ---- */

static void __attribute__((format(printf, 2, 3))) check(bool right, const char *format, ...)
{
    va_list ap;

    if (right)
        return;
    va_start(ap, format);
    printf("wrong: rank %d: ", me);
    vprintf(format, ap);
    printf("\n");
    fflush(stdout);
    va_end(ap);
}

/* Has every rank what rank 0 has? */
static void check_same(const char *name, const void *p, size_t len)
{
    void *first = malloc(len);

    memcpy(first, p, len);
    MPI_Bcast(first, (int)len, MPI_BYTE, 0, comm);
    check(memcmp(first, p, len) == 0, "%s: other values than on rank 0", name);
    free(first);
}

static bool near(double a, double b)
{
    return a >= b * 0.999999 && a <= b * 1.000001;
}

/* ---- words ---- */

struct words {
    int n;
    char *v[WORDS], text[TEXT];
};

/* Splits them at blanks. Each rank has copies of its own. */
static void split(struct words *w, const char *format, ...)
{
    va_list ap;
    int n;

    va_start(ap, format);
    n = vsnprintf(w->text, sizeof(w->text), format, ap);
    va_end(ap);
    if (n < 0 || n >= TEXT)
        abort();
    w->n = 0;
    for (char *s = strtok(w->text, " "); s; s = strtok(NULL, " "))
        w->v[w->n++] = s;
    w->v[w->n] = NULL;
}

/* ---- phases: the command lines of IO500, with small sizes ---- */

#define T "1" /* the stonewall, in seconds */
#define EASY                                                                                       \
    "./ior --dataPacketType=timestamp -C -Q 1 -g -G 27 -k -e -o data/ior-easy/ior_file_easy "      \
    "-O stoneWallingStatusFile=results/ior-easy.stonewall -t 256k -b 512k -F"
#define RANDOM                                                                                     \
    "./ior --dataPacketType=timestamp -g -G 27 -k -e -o data/ior-easy/ior_file_easy -t 256k "      \
    "-b 512k -F -C -Q 2 -r -D " T                                                                  \
    " -O saveRankPerformanceDetailsCSV=results/ior-rnd4K-easy-read.csv -O stoneWallingWearOut=1"
#define HARD                                                                                       \
    "./ior --dataPacketType=timestamp -C -Q 1 -g -G=27 -k -e -o data/ior-hard/file "               \
    "-O stoneWallingStatusFile=results/ior-hard.stonewall -t 47008 -b 47008 -s 5"
#define MD_EASY                                                                                    \
    "./mdtest --dataPacketType=timestamp -n 20 -u -L -F -P -G 27 -N 1 -d data/mdtest-easy "        \
    "-x results/mdtest-easy.stonewall"
#define MD_HARD                                                                                    \
    "./mdtest --dataPacketType=timestamp -n 20 -I=10 -t -w 3901 -e 3901 -P -G=27 -N 1 -F "         \
    "-d data/mdtest-hard -x results/mdtest-hard.stonewall"
#define MDW                                                                                        \
    "./md-workbench --dataPacketType=timestamp --process-reports -o=data/mdworkbench -t=0.0 -O=1 " \
    "--run-info-file=results/mdworkbench.status -D=10 -G=27 -P=3 -I=3"
#define IOR_CSV " -O saveRankPerformanceDetailsCSV=results/"
#define MD_CSV " --saveRankPerformanceDetails=results/"

enum kind { IOR_WRITE, IOR_READ, MDTEST, BENCH };

static const struct phase {
    const char *name;
    enum kind kind;
    const char *general, *more;
    unsigned expected; /* ior: transfers of a task; mdtest: its operation; md-workbench: phases */
    size_t transfer;   /* bytes */
} phases[] = {
    { "ior-easy-write", IOR_WRITE, EASY, "-w -D " T " -O stoneWallingWearOut=1" IOR_CSV "ior-easy-write.csv", 2, 262144 },
    { "mdtest-easy-write", MDTEST, MD_EASY, "-C -Y -W " T MD_CSV "mdtest-easy-write.csv", MDTEST_FILE_CREATE_NUM, 0 },
    { "mdworkbench-create", BENCH, MDW, "-1", 1, 0 },
    { "ior-hard-write", IOR_WRITE, HARD, "-w -D " T IOR_CSV "ior-hard-write.csv -O stoneWallingWearOut=1", 5, 47008 },
    { "mdtest-hard-write", MDTEST, MD_HARD, "-C -Y -W " T MD_CSV "mdtest-hard-write.csv", MDTEST_FILE_CREATE_NUM, 0 },
    { "mdworkbench-bench", BENCH, MDW, "-2 -R=2 -X", 2, 0 },
    { "ior-easy-read", IOR_READ, EASY, "-r -R" IOR_CSV "ior-easy-read.csv", 2, 262144 },
    { "mdtest-easy-stat", MDTEST, MD_EASY, "-T" MD_CSV "mdtest-easy-stat.csv", MDTEST_FILE_STAT_NUM, 0 },
    { "ior-hard-read", IOR_READ, HARD, "-r -R" IOR_CSV "ior-hard-read.csv", 5, 47008 },
    { "mdtest-hard-stat", MDTEST, MD_HARD, "-T" MD_CSV "mdtest-hard-stat.csv", MDTEST_FILE_STAT_NUM, 0 },
    { "mdworkbench-delete", BENCH, MDW, "-3", 1, 0 },
    { "ior-rnd4K-easy-read", IOR_READ, RANDOM, "-z -z -t=4096 -b=4096 -s=10", 10, 4096 },
    { "mdtest-easy-delete", MDTEST, MD_EASY, "-r" MD_CSV "mdtest-easy-delete.csv", MDTEST_FILE_REMOVE_NUM, 0 },
    { "mdtest-hard-read", MDTEST, MD_HARD, "-E -X" MD_CSV "mdtest-hard-read.csv", MDTEST_FILE_READ_NUM, 0 },
    { "mdtest-hard-delete", MDTEST, MD_HARD, "-r" MD_CSV "mdtest-hard-delete.csv", MDTEST_FILE_REMOVE_NUM, 0 },
};

#define PHASES (sizeof(phases) / sizeof(*phases))

/* ---- one phase ---- */

static void check_empty(const char *name, const void *p, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (((const char *)p)[i]) {
            check(false, "%s: a value where nothing was run", name);
            return;
        }
}

static int run_ior(const struct phase *p, struct words *w, FILE *out)
{
    IOR_test_t *test = ior_run(w->n, w->v, comm, out);
    IOR_results_t *r = test->results;
    IOR_point_t *done = p->kind == IOR_WRITE ? &r->write : &r->read, *not_done = p->kind == IOR_WRITE ? &r->read : &r->write;
    int errors = r->errors;

    check_same(p->name, r, sizeof(*r));
    check(errors == 0 || (done->time > 0 && done->stonewall_time > 0), "%s: no time of a run with errors", p->name);
    if (errors == 0) {
        check_empty(p->name, not_done, sizeof(*not_done));
        check(done->time > 0 && done->time < 60, "%s: time %g", p->name, done->time);
        check(done->pairs_accessed == p->expected, "%s: pairs_accessed %zu", p->name, done->pairs_accessed);
        check(done->aggFileSizeForBW == (IOR_offset_t)(p->expected * p->transfer * (size_t)tasks), "%s: aggFileSizeForBW %lld",
              p->name, done->aggFileSizeForBW);
        check(done->stonewall_time > 0 && done->stonewall_time <= done->time, "%s: stonewall_time %g", p->name,
              done->stonewall_time);
        check(near(done->stonewall_avg_data_accessed, (double)(p->expected * p->transfer)), "%s: stonewall_avg_data_accessed %g",
              p->name, done->stonewall_avg_data_accessed);
        if (me == 0)
            printf("%s %.9f %.9f", p->name, (double)done->aggFileSizeForBW / done->time / (1 << 20), done->time);
    }
    free(test);
    return errors;
}

static int run_mdtest(const struct phase *p, struct words *w, FILE *out)
{
    mdtest_results_t *r = mdtest_run(w->n, w->v, comm, out);
    unsigned op = p->expected;
    int errors = r->total_errors;

    check_same(p->name, r, sizeof(*r));
    check(errors == 0 || (r->time[op] > 0 && r->stonewall_time[op] > 0), "%s: no time of a run with errors", p->name);
    if (errors == 0) {
        check(r->items[op] == 20 * (uint64_t)tasks, "%s: items %llu", p->name, (unsigned long long)r->items[op]);
        check(r->time[op] > 0 && r->time[op] < 60, "%s: time %g", p->name, r->time[op]);
        check(near(r->rate[op], (double)r->items[op] / r->time[op]), "%s: rate %g", p->name, r->rate[op]);
        check(r->stonewall_item_sum[op] == r->items[op], "%s: stonewall_item_sum %llu", p->name,
              (unsigned long long)r->stonewall_item_sum[op]);
        check(r->stonewall_time[op] > 0 && r->stonewall_time[op] <= r->time[op], "%s: stonewall_time %g", p->name,
              r->stonewall_time[op]);
        if (me == 0)
            printf("%s %.9f %.9f", p->name, r->rate[op], r->time[op]);
    }
    for (unsigned i = 0; i < MDTEST_TREE_CREATE_NUM; i++)
        check(i == op || (r->rate[i] == 0 && (r->time[i] > 0) == (errors > 0) && r->items[i] == 0), "%s: operation %u", p->name, i);
    free(r);
    return errors;
}

static int run_bench(const struct phase *p, struct words *w, FILE *out)
{
    mdworkbench_results_t *r = md_workbench_run(w->n, w->v, comm, out);
    int errors = r->errors;

    check_same(p->name, r, sizeof(*r) + (size_t)r->count * sizeof(*r->result));
    if (errors == 0) {
        check(r->count == (int)p->expected, "%s: count %d", p->name, r->count);
        if (me == 0)
            printf("%s", p->name);
        for (int i = 0; i < r->count; i++) {
            check(r->result[i].rate > 0, "%s: rate %g", p->name, r->result[i].rate);
            check(r->result[i].max_op_time > 0 && r->result[i].max_op_time < 60, "%s: max_op_time %g", p->name,
                  r->result[i].max_op_time);
            if (me == 0)
                printf(" %.9f %.9f", r->result[i].rate, r->result[i].max_op_time);
        }
    }
    free(r);
    return errors;
}

/* Returns the errors that the library counts. The text goes to a file of rank 0 alone. */
static int run_phase(const struct phase *p, const char *api, const char *more)
{
    char path[TEXT];
    struct words w;
    FILE *out = NULL;
    int errors;

    split(&w, "%s -a %s %s %s", p->general, api, p->more, more);
    if (snprintf(path, sizeof(path), "results/%.*s-%d-%s%s.txt", (int)strcspn(api, " "), api, tasks, p->name,
                 *more ? "-failed" : "") < 0)
        abort();
    if (me == 0)
        out = fopen(path, "w");
    if (me == 0 && !*more)
        printf("%.*s-%d ", (int)strcspn(api, " "), api, tasks);
    errors = (p->kind == MDTEST ? run_mdtest : p->kind == BENCH ? run_bench : run_ior)(p, &w, out);
    if (me == 0 && !*more)
        printf("%s\n", errors ? "errors" : "");
    fflush(stdout);
    if (out)
        fclose(out);
    return errors;
}

/* ---- directories of a backend ---- */

static void check_directories(const ior_aiori_t *b, aiori_mod_opt_t *o, bool stored)
{
    char file[] = "data/file";
    struct stat st;

    check(b->mkdir("data", 0755, o) == 0, "%s: mkdir: %s", b->name, strerror(errno));
    check(b->stat("data", &st, o) == 0 && (!stored || S_ISDIR(st.st_mode)), "%s: stat of a directory", b->name);
    check(!stored || b->access("data", F_OK, o) == 0, "%s: access", b->name);
    check(!stored || (b->mkdir("data", 0755, o) == -1 && errno == EEXIST), "%s: mkdir again: %s", b->name, strerror(errno));
    if (stored)
        close(open(file, O_WRONLY | O_CREAT, 0644));
    check(!stored || (b->stat(file, &st, o) == 0 && S_ISREG(st.st_mode)), "%s: stat of a file", b->name);
    check(!stored || (b->rmdir("data", o) == -1 && errno == ENOTEMPTY), "%s: rmdir: %s", b->name, strerror(errno));
    b->remove(file, o);
    check(b->access(file, F_OK, o) == -1 && errno == ENOENT, "%s: remove", b->name);
    check(b->rmdir("data", o) == 0, "%s: rmdir: %s", b->name, strerror(errno));
    check(b->access("data", F_OK, o) == -1 && errno == ENOENT, "%s: access to what is gone", b->name);
}

/* Words after the name are options. NULL: weir has no such backend. */
static const ior_aiori_t *use_backend(const char *api, aiori_mod_opt_t **o)
{
    option_help none[] = { LAST_OPTION };
    options_all_t *all = airoi_create_all_module_options(none);
    aiori_xfer_hint_t hints = { .filePerProc = 1, .numTasks = tasks };
    const ior_aiori_t *b;
    struct words w;

    split(&w, "%s", api);
    b = aiori_select(w.v[0]);
    for (int i = 1; i < w.n; i++)
        check(option_parse_str(w.v[i], all) == 0, "option %s", w.v[i]);
    *o = NULL;
    if (!b)
        return NULL;
    *o = w.n > 1 ? airoi_update_module_options(b, all) : NULL;
    if (b->initialize)
        b->initialize(*o);
    if (b->xfer_hints)
        b->xfer_hints(&hints);
    check(!b->check_params || b->check_params(*o) == 0, "%s: check_params", api);
    return b;
}

static void make_data(const ior_aiori_t *b, aiori_mod_opt_t *o)
{
    static const char *const names[] = { "data", "data/ior-easy", "data/ior-hard", "data/mdtest-easy", "data/mdtest-hard" };
    struct stat st;

    for (size_t i = 0; i < sizeof(names) / sizeof(*names) && me == 0; i++)
        if (b->stat(names[i], &st, o) != 0)
            check(b->mkdir(names[i], 0755, o) == 0, "%s: %s: %s", b->name, names[i], strerror(errno));
    MPI_Barrier(comm);
}

/* Some formats cannot go back in a file. */
static bool fits(const char *api, const struct phase *p)
{
    bool plain = strncmp(api, "POSIX", 5) == 0 || strncmp(api, "MPIIO", 5) == 0 || strncmp(api, "DUMMY", 5) == 0;

    return plain || (p->kind == IOR_WRITE || (p->kind == IOR_READ && strstr(p->name, "rnd") == NULL));
}

static bool verifies(const struct phase *p)
{
    return strstr(p->more, "-r -R") || strstr(p->more, "-E -X");
}

static void run_all(const char *api)
{
    aiori_mod_opt_t *o;
    const ior_aiori_t *b = use_backend(api, &o);

    check(b != NULL, "%s: no backend", api);
    if (!b)
        return;
    if (me == 0)
        check_directories(b, o, strcmp(api, "DUMMY") != 0);
    make_data(b, o);
    for (size_t i = 0; i < PHASES; i++)
        if (fits(api, &phases[i])) {
            bool fails = strcmp(api, "DUMMY") == 0 && verifies(&phases[i]);

            check((run_phase(&phases[i], api, "") > 0) == fails, "%s: %s: errors", api, phases[i].name);
        }
    if (b->finalize)
        b->finalize(o);
    if (me == 0)
        (void)!system("rm -rf data results/*.stonewall results/*.status");
    MPI_Barrier(comm);
}

/* The deadline ends the work, and all tasks go on to the count of the fastest. */
static void check_stonewall(void)
{
    struct words w;
    IOR_test_t *test;
    mdtest_results_t *md;
    const IOR_point_t *p;
    const unsigned op = MDTEST_FILE_CREATE_NUM;

    split(&w, "ior -a DUMMY -w -F -t 4k -b 1t -o x -D 0.05 -O stoneWallingWearOut=1");
    test = ior_run(w.n, w.v, comm, NULL);
    p = &test->results->write;
    check(test->results->errors == 0 && p->stonewall_time >= 0.05 && p->stonewall_time <= p->time, "stonewall_time %g of %g",
          p->stonewall_time, p->time);
    check(p->aggFileSizeForBW == (IOR_offset_t)p->pairs_accessed * 4096 * tasks, "aggFileSizeForBW %lld", p->aggFileSizeForBW);
    check(p->stonewall_avg_data_accessed > 0 && p->stonewall_avg_data_accessed < (double)p->aggFileSizeForBW / tasks,
          "stonewall_avg_data_accessed %g", p->stonewall_avg_data_accessed);
    free(test);
    split(&w, "mdtest -a DUMMY -C -F -n 100000000 -d x -W 0.05");
    md = mdtest_run(w.n, w.v, comm, NULL);
    check(md->total_errors == 0 && md->items[op] % (uint64_t)tasks == 0 && md->stonewall_item_sum[op] > 0 &&
              md->stonewall_item_sum[op] < md->items[op],
          "items %llu, stonewall_item_sum %llu", (unsigned long long)md->items[op], (unsigned long long)md->stonewall_item_sum[op]);
    check(md->stonewall_time[op] >= 0.05 && md->stonewall_time[op] <= md->time[op], "stonewall_time %g of %g",
          md->stonewall_time[op], md->time[op]);
    free(md);
}

/* Functions without options are those of their own backend. */
static void check_backends_apart(void)
{
    const ior_aiori_t *posix = aiori_select("POSIX"), *dummy = aiori_select("DUMMY");

    check(dummy->mkdir("apart", 0755, NULL) == 0 && posix->access("apart", F_OK, NULL) == -1 && aiori_select("posix") == posix &&
              posix->mkdir("apart", 0755, NULL) == 0 && posix->access("apart", F_OK, NULL) == 0 &&
              dummy->access("apart", F_OK, NULL) == -1 && posix->rmdir("apart", NULL) == 0,
          "two backends without options");
    posix->finalize(NULL);
    dummy->finalize(NULL);
}

/* ---- what fails ---- */

static void check_failures(const char *full)
{
    static const char *const wrong[] = { "-o no/such/place", "-d results/file", "-o results/file/x" }; /* by kind */
    char more[TEXT];
    char unknown[] = "--posix.sheep", foreign[] = "--blockSize=4k", good[] = "posix.odirect";
    options_all_t *all = airoi_create_all_module_options(NULL);
    aiori_mod_opt_t *o;

    if (me == 0)
        close(open("results/file", O_WRONLY | O_CREAT, 0644));
    MPI_Barrier(comm);
    check(!aiori_select("SHEEP"), "a backend that there is not");
    check(option_parse_str(unknown, all) != 0 && option_parse_str(foreign, all) != 0 && option_parse_str(good, all) == 0, "options");
    o = airoi_update_module_options(aiori_select("posix"), all);
    check(o && aiori_select("POSIX")->mkdir("no/such/place", 0755, o) == -1 && errno == ENOENT, "mkdir below nothing");
    for (size_t i = 0; i < 3; i++) { /* one of each family */
        check(run_phase(&phases[i], "POSIX", wrong[i]) > 0, "%s: no error in a wrong place", phases[i].name);
        check(run_phase(&phases[i], "POSIX", "--sheep") > 0, "%s: no error of an option that there is not", phases[i].name);
        if (strcmp(full, "-") != 0) {
            snprintf(more, sizeof(more), i == 0 ? "-o %s/x -b 4m" : i == 1 ? "-d %s/x -w 1m" : "-o=%s/x -S 1m", full);
            check(run_phase(&phases[i], "POSIX", more) > 0, "%s: no error on a full file system", phases[i].name);
        }
    }
    MPI_Barrier(comm);
}

/* The odd ones of all ranks have a communicator of their own, and nobody reads the text. */
static void run_on_some(void)
{
    MPI_Comm all = comm;
    int skips = me == tasks - 1;

    MPI_Comm_split(all, skips, me, &comm);
    MPI_Comm_size(comm, &tasks);
    if (!skips)
        run_all("POSIX");
    MPI_Comm_free(&comm);
    comm = all;
    MPI_Comm_size(comm, &tasks);
    MPI_Barrier(comm);
}

int main(int argc, char **argv)
{
    double begin;

    MPI_Init(&argc, &argv);
    comm = MPI_COMM_WORLD;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &tasks);
    begin = GetTimeStamp();
    if (me == 0)
        check(mkdir("results", 0755) == 0, "mkdir results");
    MPI_Barrier(comm);
    for (int i = 2; i < argc; i++)
        run_all(argv[i]);
    check_stonewall();
    if (me == 0)
        check_backends_apart();
    check_failures(argv[1]);
    check(rank == me && out_logfile == stdout && GetTimeStamp() > begin, "rank %d, out_logfile, GetTimeStamp", rank);
    run_on_some();
    if (me == 0)
        printf("done\n");
    MPI_Finalize();
    return 0;
}
