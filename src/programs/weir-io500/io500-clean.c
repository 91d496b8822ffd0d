/* SPDX-License-Identifier: BSD-3-Clause */
/* io500-clean.c - what a rehearsal has made is removed, by all ranks, and nothing else
 *
 * A directory is the one that was made, by device and inode. Within it paths are removed that look like those of its family; others stay,
 * and are named. Each rank walks through all directories and removes the files that fall to it by their names. */
#include "programs/weir-io500/io500-run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "par/agree.h"

struct walk {
    struct weir_run *run;
    const char *patterns;
    struct weir_str path; /* below the directory of the family */
    bool directories;     /* remove them, and what is left in them; on one rank */
    uint64_t left;        /* paths that are not like those of the family */
    struct weir_str first; /* of them */
};

static int remove_file(struct walk *w, int dir, const char *name, struct weir_err *err)
{
    const struct weir_par *par = &w->run->par;
    uint64_t hash = weir_hash(WEIR_HASH_BEGIN, w->path.text, w->path.len);
    bool is_mine = w->directories || (int)(hash % (uint64_t)par->size) == par->rank;

    if (!is_mine || unlinkat(dir, name, 0) == 0 || errno == ENOENT)
        return 0;
    return weir_fail(err, WEIR_EIO, "remove '%s'", weir_str_text(&w->path));
}

static int walk(struct walk *w, int dir, struct weir_err *err);

/* A directory that is not empty has files of others, which were counted. */
static int remove_directory(struct walk *w, int dir, const char *name, struct weir_err *err)
{
    int below = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (below < 0)
        return errno == ENOENT ? 0 : weir_fail(err, WEIR_EIO, "read '%s'", weir_str_text(&w->path));
    if (walk(w, below, err) < 0)
        return -1;
    if (!w->directories || unlinkat(dir, name, AT_REMOVEDIR) == 0 || errno == ENOTEMPTY || errno == EEXIST || errno == ENOENT)
        return 0;
    return weir_fail(err, WEIR_EIO, "remove '%s'", weir_str_text(&w->path));
}

static int visit(struct walk *w, int dir, const struct dirent *e, struct weir_err *err)
{
    struct stat st;

    if (!io500_is_like(w->patterns, weir_str_text(&w->path), FNM_PATHNAME)) {
        if (w->left++ == 0)
            weir_str_addf(&w->first, "%s", weir_str_text(&w->path));
        return 0;
    }
    if (e->d_type != DT_UNKNOWN)
        return (e->d_type == DT_DIR ? remove_directory : remove_file)(w, dir, e->d_name, err);
    if (fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? 0 : weir_fail(err, WEIR_EIO, "stat '%s'", weir_str_text(&w->path));
    return (S_ISDIR(st.st_mode) ? remove_directory : remove_file)(w, dir, e->d_name, err);
}

/* Closes dir. */
static int walk(struct walk *w, int dir, struct weir_err *err)
{
    size_t len = w->path.len;
    DIR *d = fdopendir(dir);
    int rc = d ? 0 : weir_fail(err, WEIR_ESETUP, "read a directory");

    if (!d)
        close(dir);
    for (const struct dirent *e; rc == 0 && (e = readdir(d));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        weir_str_addf(&w->path, "%s%s", len ? "/" : "", e->d_name);
        rc = w->path.failed ? weir_refuse(err, WEIR_ESETUP, "no memory for a path") : visit(w, dir, e, err);
        if (rc == 0 && weir_interrupt_poll(&w->run->interrupt))
            rc = weir_refuse(err, WEIR_EINTR, "interrupted while files were removed: --cleanup removes the rest");
        w->path.text[len] = '\0';
        w->path.len = len;
    }
    if (d)
        closedir(d);
    return rc;
}

static int walk_family(struct walk *w, const struct io500 *t, int family, struct weir_err *err)
{
    const char *name = io500_places_name(w->run, t, family, err);
    int dir, rc = 0;
    struct stat st;

    if (!name)
        return -1;
    dir = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0 || fstat(dir, &st) < 0) {
        rc = errno == ENOENT ? 0 : weir_fail(err, WEIR_EIO, "read '%s'", name);
    } else if (st.st_ino == t->made[family].inode && st.st_dev == t->made[family].device) {
        rc = walk(w, dir, err);
    } else {
        close(dir);
        rc = weir_refuse(err, WEIR_EUSAGE, "'%s' is not the directory of the rehearsal any more; "
                                           "nothing in it is removed", name);
    }
    return rc < 0 ? weir_err_within(err, "%s", name) : 0;
}

static void remove_made(struct weir_run *run, struct io500 *t, int family)
{
    const char *name = io500_places_name(run, t, family, NULL);

    if (name && t->made[family].ours && rmdir(name) == 0)
        t->made[family] = (struct io500_made) { .ours = false };
}

/* Rank 0 alone: what is left, and the directories. */
static int finish_family(struct walk *w, struct io500 *t, int family, bool directory, struct weir_err *err)
{
    int rc;

    w->left = 0;
    weir_str_clear(&w->first);
    w->directories = true;
    rc = walk_family(w, t, family, err);
    if (rc == 0 && w->left)
        weir_note(&w->run->log, "%" PRIu64 " path%s in '%s/%s' remain%s, like '%s': the rehearsal did not create %s", w->left, w->left == 1 ? "" : "s",
                  t->place.data, io500_families[family].section, w->left == 1 ? "s" : "", weir_str_text(&w->first), w->left == 1 ? "it" : "them");
    if (rc == 0 && directory && !w->left)
        remove_made(w->run, t, family);
    return rc;
}

int io500_clean_family(struct weir_run *run, struct io500 *t, int family, bool directory, uint64_t *left, struct weir_err *err)
{
    struct walk w = { .run = run, .patterns = io500_families[family].patterns };
    int rc;

    weir_bcast(&run->par, &t->made[family], sizeof(t->made[family]), 0);
    *left = 0;
    if (!t->made[family].inode)
        return 0;
    rc = weir_agree(&run->par, walk_family(&w, t, family, err), err);
    if (rc == 0)
        rc = weir_agree(&run->par, run->par.rank == 0 ? finish_family(&w, t, family, directory, err) : 0, err);
    *left = w.left;
    weir_bcast(&run->par, left, sizeof(*left), 0);
    weir_str_free(&w.path);
    weir_str_free(&w.first);
    return rc;
}

int io500_clean_all(struct weir_run *run, struct io500 *t, struct weir_err *err)
{
    static const char *const kept[] = { "ior-easy.stonewall", "ior-hard.stonewall",
                                        "mdtest-easy.stonewall", "mdtest-hard.stonewall",
                                        IO500_STATE };
    uint64_t all = 0, left;

    for (int f = 0; f < IO500_FAMILIES; f++) {
        if (!io500_families[f].section)
            continue;
        if (io500_clean_family(run, t, f, true, &left, err) < 0)
            return -1;
        all += left;
    }
    if (run->par.rank == 0 && !all) {
        remove_made(run, t, IO500_FAMILIES);
        for (size_t i = 0; i < sizeof(kept) / sizeof(*kept);
             i++) /* the last one says what may still be removed */
            unlinkat(t->lock, kept[i], 0);
    }
    return 0;
}
