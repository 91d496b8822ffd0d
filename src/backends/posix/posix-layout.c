/* SPDX-License-Identifier: BSD-3-Clause */
/* posix-layout.c - what Lustre, GPFS and BeeGFS let a program ask for beyond POSIX */
#include "config.h"
#include "backends/posix/posix-layout.h"

#include <string.h>

#define BEEGFS_CHUNK_MIN 65536

/* A file system whose options begin with its prefix. */
struct family {
    const char *prefix, *needs;
    bool (*is_built)(void);
};

static bool is_never_built(void)
{
    return false;
}

static const struct family families[] = {
    { "lustre.", "Lustre (lustreapi)", posix_has_lustre },
    { "gpfs.", "GPFS (gpfs_fcntl)", is_never_built },
    { "beegfs.", "BeeGFS (beegfs.h)", is_never_built },
    { NULL, NULL, NULL },
};

static const struct family *family_of(const struct weir_opt *row)
{
    const struct family *f;

    for (f = families; f->prefix; f++)
        if (row->name && strncmp(row->name, f->prefix, strlen(f->prefix)) == 0)
            return f;
    return NULL;
}

static bool is_default(const struct weir_opt *row, const void *opt)
{
    const char *def = row->def ? row->def : row->type == WEIR_OPT_STR ? "" : "0";
    struct weir_str shown = { 0 };
    bool same;

    weir_opt_show(row, opt, &shown);
    same = strcmp(weir_str_text(&shown), def) == 0;
    weir_str_free(&shown);
    return same;
}

static int check_values(const struct posix_layout *l, struct weir_err *err)
{
    if (l->pool && (l->stripe_count == 0 || l->stripe_size == 0))
        return weir_refuse(
            err, WEIR_EUSAGE,
            "--posix.lustre.pool=%s needs --posix.lustre.stripecount and --posix.lustre.stripesize",
            l->pool);
    if (l->chunk != -1 && (l->chunk < BEEGFS_CHUNK_MIN || (l->chunk & (l->chunk - 1)) != 0))
        return weir_refuse(
            err, WEIR_EUSAGE,
            "--posix.beegfs.ChunkSize=%lld: it must be a power of two and at least 64k",
            (long long)l->chunk);
    return 0;
}

int posix_layout_check(const struct weir_opt *rows, const void *opt, const struct posix_layout *l,
                       struct weir_err *err)
{
    const struct weir_opt *row;

    for (row = rows; row->name; row++) {
        const struct family *f = family_of(row);

        if (f && !f->is_built() && !is_default(row, opt))
            return weir_refuse(err, WEIR_EUSAGE,
                               "--posix.%s needs a build with %s, which this one is not", row->name,
                               f->needs);
    }
    return check_values(l, err);
}

int posix_layout_create(const char *path, const struct posix_layout *l, struct weir_err *err)
{
    bool is_asked = l->stripe_count != 0 || l->stripe_size != 0 || l->start_ost != -1 || l->pool;

    return is_asked ? posix_lustre_create(path, l, err) : 0;
}

int posix_layout_apply(int fd, const char *path, const struct posix_layout *l, struct weir_err *err)
{
    return l->ignore_locks ? posix_lustre_ignore_locks(fd, path, err) : 0;
}
