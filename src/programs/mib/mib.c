/* SPDX-License-Identifier: BSD-3-Clause */
/* mib.c - mib: option rows, kinds of file systems, and the life of a test */
#include "programs/mib/mib.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/shape/shift.h"
#include "base/size.h"
#include "base/text/path.h"
#include "engine/check/inputs.h"
#include "engine/place/usage.h"
#include "par/agree.h"

#define DATA "mibData."

#define O struct mib_options

static const struct weir_opt options[] = {
    OPT_FLAG('a', "use_node_aves", NULL, O, averages,
             "Column for each node in profiles: the mean of its tasks", .flags = WEIR_OPT_NEUTRAL,
             OPT_IN(OUTPUT)),
    OPT_RUN(api, 0, "api", NULL, .help = "I/O backend (default: POSIX)"),
    OPT_SIZE('b', "random_reads", NULL, O, granularity, NULL, "SIZE",
             "Reads at random multiples of SIZE (default: 1)", .min = 1, .max = INT64_MAX,
             .flags = WEIR_OPT_OPTARG | WEIR_OPT_NEXT, OPT_FIRST(ORDER)),
    OPT_STR('d', "log_dir", NULL, O, log_dir, ".", "DIR",
            "Directory of the file 'options' and of profiles",
            .flags = WEIR_OPT_NEUTRAL | WEIR_OPT_PRIVATE,
            .missing = "O_DIRECT, which is -d in release 1.9.10, is --directio", OPT_IN(FILES)),
    OPT_ALIAS(0, "directio", "posix.odirect=1", "No page cache (O_DIRECT): --posix.odirect",
              OPT_IN(ORDER)),
    OPT_FLAG('E', "show_environment", NULL, O, environment,
             "Parameters, in the form of an options file", .flags = WEIR_OPT_NEUTRAL,
             OPT_IN(OUTPUT)),
    OPT_FLAG('F', "force", NULL, O, force, "Writes also to a file system that is refused",
             .flags = WEIR_OPT_NEUTRAL, OPT_IN(FILES)),
    OPT_FLAG('I', "show_intermediate_values", NULL, O, intermediate, "More output of each phase",
             .flags = WEIR_OPT_NEUTRAL, OPT_IN(OUTPUT)),
    OPT_FLAG('H', "show_headers", NULL, O, headers, "Heading above the result",
             .flags = WEIR_OPT_NEUTRAL, OPT_IN(OUTPUT)),
    OPT_INT('l', "call_limit", NULL, O, call_limit, "4096", "N",
            "Maximum calls per task and phase", .min = 1, .max = INT32_MAX, OPT_FIRST(TIME)),
    OPT_RUN(deadline_s, 'L', "time_limit", NULL, .def = "60",
            .help = "Time of a phase after which no call begins, seconds (0: one call)"),
    OPT_FLAG('M', "no_mpi", NULL, O, no_mpi, "This process alone, without MPI", OPT_IN(TIME)),
    OPT_FLAG('n', "new", NULL, O, fresh, "Files of an earlier run removed before they are written",
             OPT_FIRST(FILES)),
    OPT_STR('p', "profiles", NULL, O, profiles, NULL, "PREFIX",
            "Times of calls in PREFIX.write and PREFIX.read (default: write.profile, read.profile "
            "in log_dir)",
            .flags = WEIR_OPT_NEUTRAL | WEIR_OPT_PRIVATE | WEIR_OPT_OPTARG | WEIR_OPT_NEXT,
            OPT_IN(OUTPUT)),
    OPT_FLAG('P', "show_progress", NULL, O, progress, "Progress bar of a phase",
             .flags = WEIR_OPT_NEUTRAL, OPT_IN(OUTPUT)),
    OPT_FLAG('r', "remove", NULL, O, remove, "Files removed at the end", .flags = WEIR_OPT_NEUTRAL,
             OPT_FIRST(FILES)),
    OPT_FLAG('R', "read_only", NULL, O, read_only,
             "Only reads, of what an earlier run has written",
             OPT_FIRST(ORDER)),
    OPT_SIZE('s', "call_size", NULL, O, call_size, "512k", "SIZE", "Bytes of each call", .min = 1,
             .max = INT64_C(1) << 40, OPT_FIRST(DATA)),
    OPT_FLAG('S', "show_signon", NULL, O, signon, "Name, version and date first",
             .flags = WEIR_OPT_NEUTRAL, OPT_IN(OUTPUT)),
    OPT_STR('t', "test_dir", "testdir", O, test_dir, NULL, "DIR",
            "Directory of the files (default: the current one)",
            .flags = WEIR_OPT_NEUTRAL | WEIR_OPT_PRIVATE | WEIR_OPT_PLACE, OPT_FIRST(FILES)),
    OPT_ALIAS('V', NULL, "version=1", "Version, and nothing else"),
    OPT_FLAG(0, "verify", NULL, O, verify, "Data that differ in each place, and a check of reads",
             OPT_IN(DATA)),
    OPT_STR(0, "dataPacketType", NULL, O, packet, NULL, "TYPE",
            "Data in the files: random, or random:compress=X,dedupe=Y, which compress to 1/X, and "
            "1/Y of their blocks differ (default: repeated bytes)", OPT_IN(DATA),
            .suggestions = weir_pattern_random, .flags = WEIR_OPT_ABBREV),
    OPT_FLAG('W', "write_only", NULL, O, write_only, "Only writes", OPT_FIRST(ORDER)),
    OPT_RUN(depth, 0, "depth", NULL),
    OPT_RUN(repetitions, 0, "repetitions", NULL),
    OPT_RUN_UP_TO(existing),
    OPT_RUN(delay_s, 0, "delay", NULL),
    OPT_RUN(max_minutes, 0, "max-time-duration", NULL),
    OPT_RUN(verbose, 0, "verbose", NULL),
    OPT_RUN_NO_SWEEP,
    OPT_END
};

#undef O

static const struct weir_operation operations[] = {
    [WEIR_DIR_WRITE] = { "write", "write", "calls", true },
    [WEIR_DIR_READ] = { "read", "read", "calls", true },
    { .key = NULL },
};

/* ---- kinds of file systems, by the numbers of statfs(2) ---- */

static const struct weir_fs_type known[] = {
    { 0x0BD00BD0, "S_MAGIC_LUSTRE", WEIR_FS_PARALLEL },
    { 0xADF5, "ADFS_SUPER_MAGIC", WEIR_FS_LOCAL },
    { 0xADFF, "AFFS_SUPER_MAGIC", WEIR_FS_LOCAL },
    { 0x42465331, "BEFS_SUPER_MAGIC", WEIR_FS_LOCAL },
    { 0x1BADFACE, "BFS_MAGIC", WEIR_FS_LOCAL },
    { 0xFF534D42, "CIFS_MAGIC_NUMBER", WEIR_FS_OTHER },
    { 0x73757245, "CODA_SUPER_MAGIC", WEIR_FS_OTHER },
    { 0x012FF7B7, "COH_SUPER_MAGIC", WEIR_FS_LOCAL },
    { 0x28CD3D45, "CRAMFS_MAGIC", WEIR_FS_OTHER },
    { 0x1373, "DEVFS_SUPER_MAGIC", WEIR_FS_OTHER },
    { 0x00414A53, "EFS_SUPER_MAGIC", WEIR_FS_LOCAL },
    { 0x137D, "EXT_SUPER_MAGIC", WEIR_FS_LOCAL },
    { 0xEF51, "EXT2_OLD_SUPER_MAGIC", WEIR_FS_LOCAL },
    { 0xEF53, "EXT2_SUPER_MAGIC", WEIR_FS_LOCAL },
    { 0x4244, "HFS_SUPER_MAGIC", WEIR_FS_LOCAL },
    { 0xF995E849, "HPFS_SUPER_MAGIC", WEIR_FS_LOCAL },
    { 0x958458F6, "HUGETLBFS_MAGIC", WEIR_FS_OTHER },
    { 0x9660, "ISOFS_SUPER_MAGIC", WEIR_FS_OTHER },
    { 0x72B6, "JFFS2_SUPER_MAGIC", WEIR_FS_LOCAL },
    { 0x3153464A, "JFS_SUPER_MAGIC", WEIR_FS_LOCAL },
    { 0x137F, "MINIX_SUPER_MAGIC", WEIR_FS_LOCAL },
    { 0x138F, "MINIX_SUPER_MAGIC2", WEIR_FS_LOCAL },
    { 0x2468, "MINIX2_SUPER_MAGIC", WEIR_FS_LOCAL },
    { 0x2478, "MINIX2_SUPER_MAGIC2", WEIR_FS_LOCAL },
    { 0x4D44, "MSDOS_SUPER_MAGIC", WEIR_FS_LOCAL },
    { 0x564C, "NCP_SUPER_MAGIC", WEIR_FS_OTHER },
    { 0x6969, "NFS_SUPER_MAGIC", WEIR_FS_OTHER },
    { 0x5346544E, "NTFS_SB_MAGIC", WEIR_FS_LOCAL },
    { 0x9FA1, "OPENPROM_SUPER_MAGIC", WEIR_FS_OTHER },
    { 0x9FA0, "PROC_SUPER_MAGIC", WEIR_FS_OTHER },
    { 0x002F, "QNX4_SUPER_MAGIC", WEIR_FS_LOCAL },
    { 0x52654973, "REISERFS_SUPER_MAGIC", WEIR_FS_LOCAL },
    { 0x7275, "ROMFS_MAGIC", WEIR_FS_OTHER },
    { 0x517B, "SMB_SUPER_MAGIC", WEIR_FS_OTHER },
    { 0x012FF7B6, "SYSV2_SUPER_MAGIC", WEIR_FS_LOCAL },
    { 0x012FF7B5, "SYSV4_SUPER_MAGIC", WEIR_FS_LOCAL },
    { 0x01021994, "TMPFS_MAGIC", WEIR_FS_OTHER },
    { 0x15013346, "UDF_SUPER_MAGIC", WEIR_FS_LOCAL },
    { 0x00011954, "UFS_MAGIC", WEIR_FS_LOCAL },
    { 0x9FA2, "USBDEVICE_SUPER_MAGIC", WEIR_FS_OTHER },
    { 0xA501FCF5, "VXFS_SUPER_MAGIC", WEIR_FS_LOCAL },
    { 0x012FF7B4, "XENIX_SUPER_MAGIC", WEIR_FS_LOCAL },
    { 0x58465342, "XFS_SUPER_MAGIC", WEIR_FS_LOCAL },
    { 0x012FD16D, "XIAFS_SUPER_MAGIC", WEIR_FS_LOCAL },
};

struct weir_fs_type weir_fs_type_of(unsigned long number)
{
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (known[i].number == number)
            return known[i];
    return (struct weir_fs_type) { .number = number };
}

/* ---- before a test ---- */

/* The words after -d are often not what was meant: in release 1.9.10 it is O_DIRECT. */
static int check_log_dir(const struct mib_options *o, struct weir_err *err)
{
    struct stat st;

    if (stat(o->log_dir, &st) == 0 && S_ISDIR(st.st_mode))
        return 0;
    errno = errno == ENOENT ? ENOENT : ENOTDIR;
    return weir_fail(err, WEIR_EUSAGE, "option -d (log_dir): '%s' is not a directory (O_DIRECT is "
                                       "--directio)", o->log_dir);
}

/* Look at the file system of the test directory, and refuse it where mib must not run (on 'nodes'
 * nodes), unless it was forced. */
static int check_file_system(struct mib_test *t, int nodes, struct weir_err *err)
{
    struct statfs s;

    if (weir_path_leads(t->o->test_dir, err) < 0)
        return -1;
    if (statfs(t->o->test_dir, &s) < 0)
        return weir_refuse(err, WEIR_EUSAGE, "Could not statfs \"%s\" (%d): %s", t->o->test_dir,
                           errno, strerror(errno));
    t->fs = weir_fs_type_of((unsigned long)s.f_type & 0xFFFFFFFF);
    if (t->o->force || t->fs.kind == WEIR_FS_PARALLEL ||
        (t->fs.kind == WEIR_FS_LOCAL && nodes == 1))
        return 0;
    return weir_refuse(err, WEIR_EUSAGE,
                       "Mib will not write to a file system of type \"%s\" (f_type = %#lx) unless "
                       "you use the \"-F\" (--force) option",
                       t->fs.name, t->fs.number);
}

/* The bytes that a task writes at most, if they can be counted. */
static uint64_t max_bytes(const struct mib_options *o)
{
    uint64_t calls = o->run.deadline_s == 0 ? 1 : (uint64_t)o->call_limit;

    return weir_product((uint64_t)o->call_size, calls);
}

static int plan(struct weir_run *run, void *state, void *chosen, struct weir_err *err)
{
    struct mib_options *o = chosen;
    struct mib_test *t = state;
    uint64_t all = (uint64_t)weir_signed(max_bytes(o));

    if (o->write_only && o->read_only) /* both or none: both phases */
        o->write_only = o->read_only = false;
    if (weir_existing(&o->run) == WEIR_EXISTING_REPLACE)
        o->fresh = true;
    *t = (struct mib_test) {
        .o = o,
        .rows = run->test->values->rows,
        .anywhere = !o->test_dir,
        .task = o->no_mpi ? run->launched : run->world.rank,
        .access = { .own_names = true,
                    .file_per_task = true,
                    .random = o->granularity > 0,
                    .writes_ascend = true,
                    .only_reads = o->read_only,
                    .stops = "--time_limit",
                    .queued = true,
                    .depth = o->run.depth },
        .extent = { .transfer = (uint64_t)o->call_size, .block = all, .file_bytes = all, .segments = 1 },
    };
    t->varies = o->verify || o->packet;
    if (o->packet && weir_pattern_parse(&t->data, "--dataPacketType", o->packet,
                                        weir_pattern_random, err) < 0)
        return -1;
    if (t->data.packet == WEIR_PACKET_RANDOM)
        t->data = (struct weir_pattern) { .packet = WEIR_PACKET_RATIO,
                                          .ratio = { WEIR_RATIO_ONE, WEIR_RATIO_ONE } };
    if (!o->test_dir)
        o->test_dir = ".";
    run->test->plan.path = o->test_dir;
    run->test->plan.over_bytes = o->fresh ? 0 : all;
    run->test->plan.writes = !o->read_only;
    if (weir_plan_use(run, &t->session, o->run.api, &t->access, err) < 0 ||
        weir_agree_check(&run->world, check_log_dir(o, err), err) < 0)
        return -1;
    if (run->test->plan.use[0].be->flags & (WEIR_BE_NO_DATA | WEIR_BE_OBJECTS)) /* the directory need not exist */
        return 0;
    return weir_agree_check(&run->world, check_file_system(t, run->world.cache.nodes, err), err);
}

/* ---- a test ---- */

/* Bytes of a file that an earlier run left. */
static uint64_t bytes_there(struct mib_test *t, const char *path)
{
    uint64_t bytes = 0;
    bool is_there = false;

    if (weir_session_exists(&t->session, path, &is_there, NULL) < 0 || !is_there ||
        weir_session_size(&t->session, path, &bytes, NULL) < 0)
        return 0;
    return bytes;
}

/* Warn when the longest run that the limits allow does not fit. This is before memory for its
 * calls is allocated, and so not left to the engine, which would repeat it. */
static int check_space(struct weir_run *run, struct mib_test *t, struct weir_err *err)
{
    struct weir_plan plan = run->test->plan;
    const char *path = weir_str_text(&t->own);
    uint64_t there = bytes_there(t, path), most = max_bytes(t->o);
    uint64_t share = UINT64_MAX / (uint64_t)run->par.size; /* the sum can be counted */

    plan.bytes = there < most ? most - there : 0;
    plan.bytes = plan.bytes < share ? plan.bytes : share;
    weir_allsum_u64(&run->par, &plan.bytes, 1);
    return weir_usage_check(run, &t->session, path, &plan, err);
}

/* Check that the limits allow files with the size of the granularity, which random reads need. */
static int check_granularity(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mib_test *t = state;
    const char *path = weir_str_text(&t->peer);
    uint64_t least = (uint64_t)t->o->granularity, most = max_bytes(t->o);

    if (t->o->write_only || most >= least || (!t->o->fresh && bytes_there(t, path) >= least))
        return 0;
    return weir_refuse(err, WEIR_EUSAGE,
                       "the granularity (-b) is %" PRIu64 " bytes, but '%s' will have %" PRIu64
                       " bytes at most; reduce -b, or increase -l, -s or -L",
                       least, path, most);
}

/* Note the directory for a user who gave none and may be surprised that files are written. */
static void note_place(struct weir_run *run, const struct mib_test *t)
{
    char size[WEIR_SIZE_TEXT], *place = getcwd(NULL, 0);

    weir_note(&run->log,
              "without -t, %d task%s up to %s%s to " DATA "* in the current directory%s%s; the "
              "files %s",
              run->par.size, run->par.size == 1 ? " writes" : "s write",
              weir_size_show(weir_signed(max_bytes(t->o)), size),
              run->par.size == 1 ? "" : " each", place ? ", " : "", place ? place : "",
              t->o->remove ? "are removed at the end (-r)" : "stay; -r removes them at the end");
    free(place);
}

static int take_buffers(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mib_test *t = state;
    size_t call = (size_t)t->o->call_size;

    t->gpu = run->gpu;
    if (weir_gpu_take(t->gpu, true, &t->buf, 4096, call, err) < 0)
        return -1;
    return weir_queue_begin(&t->queue, &t->session, (uint64_t)t->o->call_limit, call,
                            (struct iovec) { t->buf, call }, err);
}

static int start(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mib_test *t = state;
    bool writes = !t->o->read_only;

    if (writes &&
        (weir_local(run, check_granularity, t, err) < 0 || check_space(run, t, err) < 0))
        return -1;
    if (writes && t->anywhere && !(t->session.flags & WEIR_BE_NO_DATA))
        note_place(run, t);
    return weir_local(run, take_buffers, t, err); /* which is much where the size is a mistake */
}

static int enter(struct weir_run *run, struct weir_test *tests, int n, struct weir_err *err)
{
    const struct mib_test *t = tests[0].state;

    if (weir_agree(&run->world, run->world.rank == 0 ? mib_profile_begin(t, err) : 0, err) < 0)
        return -1;
    mib_report_begin(run, t);
    return 0;
}

/* The file of a task. */
static void name_data(const void *opt, uint64_t task, struct weir_str *out)
{
    const struct mib_options *o = opt;

    weir_str_addf(out, "%s/" DATA "%08d", o->test_dir ? o->test_dir : ".", (int)task);
}

static int add_files(const void *opt, int tasks, struct weir_files *files, struct weir_err *err)
{
    const struct mib_options *o = opt;
    const struct weir_file_names names = { .n = (uint64_t)tasks, .name = name_data, .arg = o };

    if (weir_files_add_inside(files, "the data", o->test_dir, DATA, names, err) < 0)
        return -1;
    return mib_profile_files(o, files, err);
}

static int begin(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mib_test *t = state;

    run->records.wanted |= t->o->profiles != NULL;
    t->source =
        t->o->no_mpi ? t->task : weir_shift_fixed(t->task, run->par.size, run->par.size / 2);
    name_data(t->o, (uint64_t)t->task, &t->own);
    name_data(t->o, (uint64_t)t->source, &t->peer);
    if (t->own.failed || t->peer.failed)
        return weir_refuse(err, WEIR_ESETUP, "no memory for the names of files");
    return 0;
}

static void end(void *state)
{
    struct mib_test *t = state;

    weir_str_free(&t->own);
    weir_str_free(&t->peer);
    weir_queue_end(&t->queue);
    weir_gpu_give(t->gpu, t->buf);
}

static bool keeps(const void *state)
{
    const struct mib_test *t = state;

    return !t->o->remove || !t->made;
}

static int remove_file(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mib_test *t = state;

    return weir_session_remove(&t->session, weir_str_text(&t->own), err);
}

/* Reports the last repetition, also where a signal ended it. */
static int conclude(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mib_test *t = state;

    if (t->unreported)
        mib_report_result(run, t);
    return 0;
}

/* The fsync is inside the time of a write phase. */
static void inputs_of(struct weir_run *run, void *state, struct weir_inputs *f)
{
    const struct mib_test *t = state;
    const struct mib_options *o = t->o;
    double own = weir_inputs_own_node(&run->par, o->no_mpi ? run->par.rank : t->source);

    f->path = o->test_dir;
    f->durable = 1;
    f->shared = 0;
    f->random = o->granularity > 0;
    f->transfer = (double)o->call_size;
    f->own_node = o->read_only ? NAN : own;
    f->service.of_others = !o->no_mpi && t->source != run->par.rank;
    f->data_kind = o->packet   ? WEIR_DATA_RANDOM
                   : o->verify ? WEIR_DATA_UNKNOWN
                               : WEIR_DATA_REPEATED;
    f->ratio = t->data.ratio;
}

static bool range_of(struct weir_run *run, void *state, const struct weir_stage *stage,
                     struct weir_str *path, struct weir_cache_range *range)
{
    const struct mib_test *t = state;

    weir_str_addf(path, "%s",
                  weir_str_text(stage && (stage->flags & WEIR_STAGE_READS) ? &t->peer : &t->own));
    *range = (struct weir_cache_range) { 0, UINT64_MAX, 0, 1 };
    return !path->failed && !(t->session.flags & WEIR_BE_NO_DATA);
}

static const struct weir_example examples[] = {
    { WEIR_TOPIC_NONE, "-t /scratch/d", "as many calls of 512 KiB as 60 s allow, at most 4096" },
    { WEIR_TOPIC_NONE, "-t /scratch/d -s 1m -l 1024", "1024 calls of 1 MiB" },
    { WEIR_TOPIC_NONE, "-t /scratch/d -W", "only write; then -R reads it" },
    { WEIR_TOPIC_NONE, "-t /scratch/d -b=4k", "reads at random multiples of 4 KiB" },
    { WEIR_TOPIC_NONE, "-t /scratch/d -H -r --repetitions=3",
      "with a heading, three times, and clean at the end" },
    { WEIR_TOPIC_FILES, "-t /scratch/d -n -r",
      "remove files of an earlier run before, and these after" },
    { WEIR_TOPIC_ORDER, "-t /scratch/d -R -b=4k", "read at random what an earlier run wrote" },
    { WEIR_TOPIC_DATA, "-t /scratch/d -s 4m --verify", "calls of 4 MiB, every byte checked" },
    { WEIR_TOPIC_TIME, "-t /scratch/d -L 30 -l 1000000", "30 s for each phase" },
    { .args = NULL }
};

static const struct weir_test_files files = {
    .add = add_files,
    .existing = WEIR_EXISTING_REPLACE | WEIR_EXISTING_FAIL,
    .keeps = keeps,
    .remove = remove_file,
};

static const struct weir_test_checks checks = { .inputs = inputs_of, .range = range_of };

const struct weir_program weir_mib = {
    .name = "mib",
    .examples = examples,
    .brief = "write a file for each task until a call or time limit, and read another task's",
    .opts = options,
    .opt_size = sizeof(struct mib_options),
    .state_size = sizeof(struct mib_test),
    .operations = operations,
    .cli = &mib_cli,
    .plan = plan,
    .enter = enter,
    .begin = begin,
    .files = &files,
    .end = end,
    .start = start,
    .checks = &checks,
    .stages = mib_stages,
    .conclude = conclude,
};

WEIR_PROGRAM("mib", weir_mib);
