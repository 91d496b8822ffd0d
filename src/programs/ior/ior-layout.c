/* SPDX-License-Identifier: BSD-3-Clause */
/* ior-layout.c - names of files, owners of data, and the table of what a test reads and writes */
#include "config.h"
#include "programs/ior/ior.h"

#include <string.h>


/* The part before the last slash with the slash: its length, 0 when there is none. */
static size_t directory_length(const char *piece, size_t len)
{
    while (len > 0 && piece[len - 1] != '/')
        len--;
    return len;
}

static int finish_name(const struct weir_str *out, struct weir_err *err)
{
    return out->failed ? weir_refuse(err, WEIR_ESETUP, "no memory for a file name") : 0;
}

/* The name before anything is appended: with -y it is a file "data" on the mount of this task. */
static int base_name(const struct ior_options *o, int mount, int name, struct weir_str *out,
                     struct weir_err *err)
{
    size_t len;
    const char *piece = weir_places_at(o->test_file, name, &len);

    if (len == 0)
        return weir_refuse(err, WEIR_EUSAGE, "option -o (testFile): '%s' has an empty name in it",
                           o->test_file);
    weir_str_clear(out);
    weir_str_add(out, piece, len);
    if (mount >= 0)
        weir_str_addf(out, "%d/data", mount);
    return finish_name(out, err);
}

int ior_unique_dir(const struct ior_options *o, int mount, int task, struct weir_str *out,
                   struct weir_err *err)
{
    struct weir_str base = { 0 };
    int rc = base_name(o, mount, 0, &base, err);

    if (rc == 0) {
        weir_str_clear(out);
        weir_str_add(out, weir_str_text(&base), directory_length(weir_str_text(&base), base.len));
        weir_str_addf(out, "%d", task);
        rc = finish_name(out, err);
    }
    weir_str_free(&base);
    return rc;
}

int ior_file_name(const struct ior_options *o, int mount, int task, int repetition,
                  struct weir_str *out, struct weir_err *err)
{
    struct weir_str base = { 0 };
    size_t dir;

    if (base_name(o, mount, o->file_per_task ? task % weir_places_count(o->test_file) : 0, &base,
                  err) < 0) {
        weir_str_free(&base);
        return -1;
    }
    weir_str_clear(out);
    dir = directory_length(weir_str_text(&base), base.len);
    weir_str_add(out, weir_str_text(&base), dir);
    if (o->file_per_task && o->unique_dir)
        weir_str_addf(out, "%d/", task);
    weir_str_add(out, weir_str_text(&base) + dir, base.len - dir);
    if (o->file_per_task)
        weir_str_addf(out, ".%08d", task);
    if (o->multi_file)
        weir_str_addf(out, ".%d", repetition);
    weir_str_free(&base);
    return finish_name(out, err);
}

/* ---- files that a test reads and writes ---- */

#define MOST_MOUNTS 64 /* NUMA nodes, each with a mount of -y */

/* What the names of one test are made of. */
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

/* Tasks, in them repetitions, in them mounts. */
static void name_test_file(const void *arg, uint64_t i, struct weir_str *out)
{
    const struct namer *n = arg;
    struct weir_err ignored = WEIR_ERR_INIT; /* errors in -o are reported elsewhere */
    uint64_t task = i % tasks_of(n), rest = i / tasks_of(n);
    int repetition = (int)(rest % (uint64_t)repetitions_of(n->o));
    int mount = (int)(rest / (uint64_t)repetitions_of(n->o));

    ior_file_name(n->o, n->o->dual_mount ? mount : -1, n->first + (int)task * n->step, repetition,
                  out, &ignored);
}

/* The files of one name of the list in -o. */
static int add_test_files(const struct namer *n, const char *piece, size_t len,
                          struct weir_files *files, struct weir_err *err)
{
    const struct ior_options *o = n->o;
    bool is_read = !o->write && (o->read || o->check_read || o->check_write);
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
        return weir_files_add(files, "-o (testFile)", prefix,
                              is_read ? WEIR_FILE_READ : WEIR_FILE_WRITE, err);
    return weir_files_add_names(files, "-o (testFile)", &names,
                                is_read ? WEIR_FILE_READ : WEIR_FILE_WRITE, err);
}

int ior_files(const void *opt, int tasks, struct weir_files *files, struct weir_err *err)
{
    struct namer n = { .o = opt, .step = 1, .tasks = tasks };
    const char *list = n.o->test_file ? n.o->test_file : "";

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
