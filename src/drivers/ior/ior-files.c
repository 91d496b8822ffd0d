/* SPDX-License-Identifier: BSD-3-Clause */
/* ior-files.c - names of the files of a test that its option rows do not name */
#include "config.h"
#include "drivers/ior/ior.h"

#include <string.h>

#include "engine/op-files.h"

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
    struct weir_err ignored = WEIR_ERR_INIT; /* what is wrong with -o is found elsewhere */
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
        while (len > 0 && piece[len - 1] != '/')
            len--;
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
    const char *piece = n.o->test_file ? n.o->test_file : "";

    if (n.o->tasks > 0 && n.o->tasks < tasks)
        n.tasks = n.o->tasks;
    if (weir_op_files_add(&weir_ior, opt, n.tasks, files, err) < 0)
        return -1;
    if (n.o->file_per_task)
        n.step = ior_count_names(piece);
    else
        n.tasks = 1;
    for (int k = 0; k < n.step && k < n.tasks; k++, n.first++) {
        size_t len = strcspn(piece, "@");

        if (len > 0 && add_test_files(&n, piece, len, files, err) < 0)
            return -1;
        piece += len + (piece[len] == '@');
    }
    return 0;
}
