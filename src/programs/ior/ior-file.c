/* SPDX-License-Identifier: BSD-3-Clause */
/* ior-file.c - the files of a test: their names, which it reads and writes, may they be used, their
 * size after a phase, and their removal */
#include "programs/ior/ior.h"

#include <inttypes.h>

#include "par/agree.h"

/* The part before the last slash with the slash: its length, 0 when there is none. */
static size_t directory_length(const char *piece, size_t len)
{
    while (len > 0 && piece[len - 1] != '/')
        len--;
    return len;
}

/* With -y the file "data" on the mount of this task, with -u in a directory of its own. */
int ior_file_name(const struct ior_options *o, int mount, int task, int repetition,
                  struct weir_str *out, struct weir_err *err)
{
    int name = o->file_per_task ? task % weir_places_count(o->test_file) : 0;
    size_t len, dir;
    const char *piece = weir_places_at(o->test_file, name, &len);

    if (len == 0)
        return weir_refuse(err, WEIR_EUSAGE, "option -o (testFile): '%s' has an empty name in it",
                           o->test_file);
    dir = mount >= 0 ? len : directory_length(piece, len);
    weir_str_clear(out);
    weir_str_add(out, piece, dir);
    if (mount >= 0)
        weir_str_addf(out, "%d/", mount);
    if (o->file_per_task && o->unique_dir)
        weir_str_addf(out, "%d/", task);
    weir_str_addf(out, "%.*s%s", (int)(len - dir), piece + dir, mount >= 0 ? "data" : "");
    if (o->file_per_task)
        weir_str_addf(out, ".%08d", task);
    if (o->multi_file)
        weir_str_addf(out, ".%d", repetition);
    return out->failed ? weir_refuse(err, WEIR_ESETUP, "no memory for a file name") : 0;
}

/* ---- files that a test reads and writes ---- */

#define MOST_MOUNTS 64 /* NUMA nodes, each with a mount of -y */

/* The parts of the names of one test. */
struct namer {
    const struct ior_options *o;
    /* Tasks first, first + step ... below 'tasks': those with one name of the list in -o. */
    int first, step, tasks;
};

static uint64_t tasks_of(const struct namer *n)
{
    return (uint64_t)((n->tasks - 1 - n->first) / n->step + 1);
}

static int repetitions_of(const struct ior_options *o)
{
    return o->multi_file ? o->run.repetitions : 1;
}

/* Tasks, in them repetitions, in them mounts. check_names reports errors in -o. */
static void name_test_file(const void *arg, uint64_t i, struct weir_str *out)
{
    const struct namer *n = arg;
    uint64_t task = i % tasks_of(n), rest = i / tasks_of(n);
    int repetition = (int)(rest % (uint64_t)repetitions_of(n->o));
    int mount = (int)(rest / (uint64_t)repetitions_of(n->o));

    ior_file_name(n->o, n->o->dual_mount ? mount : -1, n->first + (int)task * n->step, repetition,
                  out, NULL);
}

/* The files of one name of the list in -o. */
static int add_test_files(const struct namer *n, const char *piece, size_t len,
                          struct weir_files *files, struct weir_err *err)
{
    const struct ior_options *o = n->o;
    bool is_read = !o->write && !o->mix && (o->read || o->check_read || o->check_write);
    const enum weir_file_use use = is_read ? WEIR_FILE_READ : WEIR_FILE_WRITE;
    struct weir_file_names names = { .name = name_test_file };
    struct namer *kept;
    char *prefix;

    if (o->unique_dir && o->file_per_task && !o->dual_mount)
        len = directory_length(piece, len);
    kept = weir_arena_alloc(files->arena, sizeof(*kept), err);
    prefix = kept ? weir_arena_strndup(files->arena, piece, len, err) : NULL;
    if (!prefix)
        return -1;
    *kept = *n;
    names.arg = kept;
    names.prefix = prefix;
    names.n = tasks_of(n) * (uint64_t)repetitions_of(o) * (o->dual_mount ? MOST_MOUNTS : 1);
    if (!o->file_per_task && !o->multi_file)
        return weir_files_add(files, "-o (testFile)", prefix, use, err);
    return weir_files_add_names(files, "-o (testFile)", &names, use, err);
}

static int list_files(const void *opt, int tasks, struct weir_files *files, struct weir_err *err)
{
    struct namer n = { .o = opt, .step = 1, .tasks = tasks };
    const char *list = n.o->test_file;

    if (n.o->tasks > 0 && n.o->tasks < tasks)
        n.tasks = n.o->tasks;
    if (n.o->file_per_task)
        n.step = weir_places_count(list);
    else
        n.tasks = 1;
    for (; n.first < n.step && n.first < n.tasks; n.first++) {
        size_t len;
        const char *piece = weir_places_at(list, n.first, &len);

        if (len > 0 && add_test_files(&n, piece, len, files, err) < 0)
            return -1;
    }
    return 0;
}

/* ---- before a phase ---- */

/* The directory of -u, in which t->use.path is: made when it is not there, and then removed again
 * with the file. */
static int make_unique_dir(struct ior_test *t, struct weir_err *err)
{
    const char *path = weir_str_text(&t->use.path);
    struct weir_str *dir = &t->use.dir;
    bool there = true;

    weir_str_clear(dir);
    weir_str_add(dir, path, directory_length(path, t->use.path.len) - 1);
    if (dir->failed)
        return weir_refuse(err, WEIR_ESETUP, "no memory for a file name");
    if (weir_session_exists(&t->session, dir->text, &there, err) < 0)
        return -1;
    if (!there && weir_session_mkdir(&t->session, dir->text, 0700, err) < 0)
        return -1;
    t->use.made_dir |= !there;
    return 0;
}

int ior_file_check(struct weir_run *run, struct ior_test *t, bool write, struct weir_err *err)
{
    enum weir_intent intent = !write                           ? WEIR_INTENT_READ
                        : !t->o->write /* a mix alone */   ? WEIR_INTENT_WRITE
                        : t->o->use_existing && t->o->keep ? WEIR_INTENT_WRITE
                                                           : WEIR_INTENT_REPLACE;

    if (!t->o->file_per_task && !weir_par_asks(&run->par))
        return 0;
    return weir_session_admit(&t->session, t->use.path.text, intent, err);
}

int ior_prepare_file(struct weir_run *run, struct ior_test *t, struct weir_err *err)
{
    if (t->o->file_per_task && t->o->unique_dir &&
        (ior_file_check(run, t, true, err) < 0 || make_unique_dir(t, err) < 0))
        return -1;
    if (t->o->use_existing || t->use.made || (!t->o->file_per_task && run->par.rank != 0))
        return ior_file_check(run, t, true, err);
    return weir_session_clear(&t->session, t->use.path.text, err);
}

int ior_file_there(struct weir_run *run, struct ior_test *t, struct weir_err *err)
{
    const char *path = t->use.path.text;
    bool there = true;
    uint64_t bytes;

    if (t->o->write || t->o->run.dry_run || t->pass.limit != UINT64_MAX ||
        (t->session.flags & (WEIR_BE_NO_DATA | WEIR_BE_CONTAINER)) ||
        (!t->o->file_per_task && !weir_par_asks(&run->par)))
        return 0;
    if (weir_session_has_file(&t->session, path, &there, err) < 0)
        return -1;
    if (!there)
        return weir_refuse(err, WEIR_ESETUP, "'%s' does not exist, but --mix reads existing data; "
                                             "add -w to write the file first", path);
    if (weir_session_size(&t->session, path, &bytes, err) < 0)
        return -1;
    if (bytes < t->extent.file_bytes)
        return weir_refuse(err, WEIR_ESETUP, "'%s' has %" PRIu64 " bytes, but --mix needs "
                                             "%" PRIu64 " existing bytes; add -w to write the file "
                                             "first", path, bytes, t->extent.file_bytes);
    return 0;
}

/* ---- size after a phase ---- */

/* Bytes in the file(s) now: shared, what rank 0 sees; private, the sum. */
static int total_size(struct weir_run *run, struct ior_test *t, uint64_t *bytes,
                      struct weir_err *err)
{
    int rc = 0;

    *bytes = 0;
    if (t->o->file_per_task || run->par.rank == 0)
        rc = weir_session_size(&t->session, t->use.path.text, bytes, err);
    if (weir_agree(&run->par, rc, err) < 0)
        return -1;
    weir_allsum_u64(&run->par, bytes, 1);
    return 0;
}

/* True when these are the phase's bytes. */
static bool is_sound(const struct ior_test *t, const struct weir_phase_rec *rec, uint64_t expected,
                     uint64_t actual)
{
    const struct ior_options *o = t->o;

    if (actual > expected && !o->use_existing) /* -E: the rest of a longer old file */
        return false;
    if (rec->bounds.observed) /* until it is steady, a phase has passes, or a part of one */
        return true;
    if (actual < expected && !(o->write && o->random_offset > 1)) /* the last block is not drawn */
        return false;
    return rec->sum.bytes == expected;
}

static int warn_sizes(struct weir_run *run, struct ior_test *t, const struct weir_phase_rec *rec,
                      uint64_t expected, uint64_t actual, struct weir_err *err)
{
    if (is_sound(t, rec, expected, actual))
        return 0;
    if (weir_warn(&run->log, err, "Expected aggregate file size       = %" PRIu64, expected) < 0 ||
        weir_warn(&run->log, err, "Stat() of aggregate file size      = %" PRIu64, actual) < 0 ||
        weir_warn(&run->log, err, "Using actual aggregate bytes moved = %" PRIu64, rec->sum.bytes) < 0)
        return -1;
    return weir_run_options_bound(&t->o->run) > 0
               ? weir_warn(&run->log, err, "Maybe caused by deadlineForStonewalling")
               : 0;
}

int ior_check_size(struct weir_run *run, struct ior_test *t, const struct weir_phase_rec *rec,
                   struct weir_err *err)
{
    uint64_t expected = (uint64_t)t->o->block * (uint64_t)t->o->segments * (uint64_t)run->par.size;
    bool library = ior_opens_together(t) && !(t->session.flags & WEIR_BE_OTHER_SIZE);
    uint64_t actual;

    if (t->o->run.dry_run || (t->session.flags & WEIR_BE_NO_DATA) || t->pass.skips ||
        (rec->interrupted && (t->be->flags & WEIR_BE_OBJECTS))) /* no object of a part of an upload */
        return 0;
    if (total_size(run, t, &actual, err) < 0)
        return -1;
    if (t->pass.dir == WEIR_DIR_WRITE && library && actual < rec->max.end)
        return weir_refuse(err, WEIR_EIO,
                           "'%s' is %" PRIu64
                           " bytes long after data were written up to byte %" PRIu64
                           ": data were lost, is the file system full?",
                           t->use.path.text, actual, rec->max.end);
    if ((t->be->flags & WEIR_BE_CONTAINER) || rec->interrupted)
        return 0;
    return warn_sizes(run, t, rec, expected, actual, err);
}

/* ---- afterwards ---- */

static int remove_files(struct weir_run *run, void *state, struct weir_err *err)
{
    struct ior_test *t = state;
    int rc = 0;

    t->use.removed = t->use.created && (t->o->file_per_task || run->par.rank == 0);
    if (t->use.removed &&
        ior_file_name(t->o, t->use.mount, run->par.rank, run->repetition, &t->use.path, err) < 0)
        return -1;
    if (t->use.removed)
        rc = weir_session_remove(&t->session, t->use.path.text, err);
    t->use.created = false;
    if (t->use.made_dir &&
        weir_session_rmdir(&t->session, t->use.dir.text, rc < 0 ? NULL : err) < 0)
        rc = -1;
    t->use.made_dir = false;
    return rc;
}

/* With -k files are kept, with -K those whose data were wrong. */
static bool keeps(const void *state)
{
    const struct ior_test *t = state;

    return !t->o->write || t->o->keep || (t->o->keep_with_error && t->damage.dirty);
}

/* Each repetition of -m has its own files. */
static bool target(struct weir_run *run, const void *state, int i, struct weir_str *path)
{
    const struct ior_test *t = state;
    const struct ior_options *o = t->o;

    if (i >= repetitions_of(o) || (!o->file_per_task && run->par.rank != 0))
        return false;
    return ior_file_name(o, t->use.mount, run->par.rank, i, path, NULL) == 0;
}

const struct weir_test_files ior_files_made = {
    .add = list_files,
    .target = target,
    .existing =
        WEIR_EXISTING_REPLACE | WEIR_EXISTING_REUSE | WEIR_EXISTING_FAIL | WEIR_EXISTING_REPORTED,
    .keeps = keeps,
    .remove = remove_files,
    .removed = ior_report_remove,
};
