/* SPDX-License-Identifier: BSD-3-Clause */
/* cleanup.c - remove what earlier runs left in a directory, and nothing else */
#include "engine/place/cleanup.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text/path.h"
#include "par/agree.h"

#define NAMES_BETWEEN 256 /* from one poll of signals and clock to the next */
#define FIRST_NOTE_NS (5 * (uint64_t)WEIR_NS_PER_S)
#define NOTES_NS (30 * (uint64_t)WEIR_NS_PER_S)

/* Counts of the names that were removed, and of those that were not ours. */
struct cleanup {
    struct weir_run *run;
    const char *dir;
    const struct weir_cleanup_form *forms;
    size_t n;
    uint64_t files, dirs, foreign, looked;
    int share_level;           /* of directories that the ranks share out for the look */
    uint64_t begin_ns, next_ns; /* of the look, and of its next note */
    bool refuses; /* mounts: the test would work there; else they stay */
};

static int clean_dir(struct cleanup *t, int parent, const char *name, int level, struct weir_err *err);

/* True when the name matches the form, in which '#' stands for a number. */
static bool is_like(const char *name, const char *form)
{
    for (; *form; form++) {
        if (*form != '#' && *name++ != *form)
            return false;
        if (*form == '#' && !isdigit((unsigned char)*name))
            return false;
        while (*form == '#' && isdigit((unsigned char)*name))
            name++;
    }
    return *name == '\0';
}

static enum weir_cleanup judge(const struct cleanup *t, const char *name, bool is_dir, int level)
{
    for (const struct weir_cleanup_form *f = t->forms; f < t->forms + t->n; f++)
        if (is_dir == f->is_dir && level >= f->from && level <= f->to && is_like(name, f->form))
            return f->what;
    return level > 0 ? WEIR_CLEANUP_FOREIGN : WEIR_CLEANUP_OTHER;
}

static int remove_file(struct cleanup *t, int fd, const char *name, struct weir_err *err)
{
    if (unlinkat(fd, name, 0) < 0)
        return weir_fail(err, WEIR_EIO, "remove '%s' below '%s'", name, t->dir);
    t->files++;
    return 1;
}

/* A directory of ours with something foreign in it stays. */
static int remove_dir(struct cleanup *t, int fd, const char *name, struct weir_err *err)
{
    if (unlinkat(fd, name, AT_REMOVEDIR) == 0) {
        t->dirs++;
        return 1;
    }
    if (errno == ENOTEMPTY || errno == EEXIST)
        return 0;
    return weir_fail(err, WEIR_EIO, "remove directory '%s' below '%s'", name, t->dir);
}

/* True when another file system, or another part of one, is mounted here: it is not ours. */
static bool is_mount(int fd, const char *name, const struct stat *st)
{
    struct stat above;
#ifdef STATX_ATTR_MOUNT_ROOT
    struct statx x;

    if (statx(fd, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, 0, &x) == 0 &&
        (x.stx_attributes_mask & x.stx_attributes & STATX_ATTR_MOUNT_ROOT))
        return true;
#endif
    return fstat(fd, &above) == 0 && above.st_dev != st->st_dev;
}

static int check_mount(const struct cleanup *t, int fd, const char *name, const struct stat *st,
                       enum weir_cleanup *what, struct weir_err *err)
{
    if ((*what != WEIR_CLEANUP_TREE && *what != WEIR_CLEANUP_OURS) || !is_mount(fd, name, st))
        return 0;
    *what = WEIR_CLEANUP_FOREIGN;
    if (!t->refuses)
        return 0;
    return weir_refuse(err, WEIR_ESETUP,
                       "a file system is mounted at '%s' below '%s', and --existing=replace does "
                       "not go into it; unmount it, or give another directory",
                       name, t->dir);
}

/* One entry. Returns 1 when it was removed, 0 when it stays, -1 and err. */
static int clean_entry(struct cleanup *t, int fd, const char *name, int level, struct weir_err *err)
{
    enum weir_cleanup what;
    struct stat st;
    bool is_dir;

    if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? 0 : weir_fail(err, WEIR_EIO, "stat '%s' below '%s'", name, t->dir);
    is_dir = S_ISDIR(st.st_mode);
    what = judge(t, name, is_dir, level);
    if (!is_dir && !S_ISREG(st.st_mode) && !(S_ISLNK(st.st_mode) && what == WEIR_CLEANUP_LINK))
        what = level > 0 ? WEIR_CLEANUP_FOREIGN : WEIR_CLEANUP_OTHER;
    if (is_dir && check_mount(t, fd, name, &st, &what, err) < 0)
        return -1;
    t->foreign += what == WEIR_CLEANUP_FOREIGN;
    if (what == WEIR_CLEANUP_TREE && clean_dir(t, fd, name, level + 1, err) < 0)
        return -1;
    if (what == WEIR_CLEANUP_TREE || (what == WEIR_CLEANUP_OURS && is_dir))
        return remove_dir(t, fd, name, err);
    return what <= WEIR_CLEANUP_LINK ? remove_file(t, fd, name, err) : 0;
}

static DIR *open_dir(const struct cleanup *t, int parent, const char *name, int level,
                     struct weir_err *err)
{
    int fd =
        openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (level == 0 ? 0 : O_NOFOLLOW));
    DIR *d = fd < 0 ? NULL : fdopendir(fd);

    if (d)
        return d;
    weir_fail(err, WEIR_EIO, "open directory '%s'%s%s", name, level == 0 ? "" : " below ",
              level == 0 ? "" : t->dir);
    if (fd >= 0)
        close(fd);
    return NULL;
}

/* One pass over the entries: how many were removed, -1 and err. */
static int64_t clean_pass(struct cleanup *t, DIR *d, int level, struct weir_err *err)
{
    char cause[WEIR_INTERRUPT_TEXT];
    struct dirent *e;
    int64_t gone = 0;

    rewinddir(d);
    while ((e = readdir(d))) {
        int rc;

        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (++t->looked % NAMES_BETWEEN == 0 && weir_interrupt_poll(&t->run->interrupt))
            return weir_refuse(err, WEIR_EINTR, "interrupted by %s while cleaning up '%s'",
                               weir_interrupt_cause(&t->run->interrupt, cause), t->dir);
        rc = clean_entry(t, dirfd(d), e->d_name, level, err);
        if (rc < 0)
            return -1;
        gone += rc;
    }
    return gone;
}

/* Entries that are removed while a directory is read can hide others, so it is read again until
 * nothing is removed any more. */
static int clean_dir(struct cleanup *t, int parent, const char *name, int level, struct weir_err *err)
{
    DIR *d = open_dir(t, parent, name, level, err);
    uint64_t foreign = t->foreign;
    int64_t gone;

    if (!d)
        return -1;
    do {
        t->foreign = foreign; /* count existing files in the last pass only */
        gone = clean_pass(t, d, level, err);
    } while (gone > 0);
    closedir(d);
    return gone < 0 ? -1 : 0;
}

/* ---- a look before the test ---- */

static int check_dir(struct cleanup *t, int parent, const char *name, int level, struct weir_err *err);

static unsigned char type_of(int fd, const struct dirent *e)
{
    struct stat st;

    if (e->d_type != DT_UNKNOWN || fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return e->d_type;
    return IFTODT(st.st_mode);
}

/* True when this rank has a directory of the level of t. The rank follows from the sum of the
 * numbers in its name, which are those of a task or of a tree. */
static bool is_mine(const struct cleanup *t, const char *name, int level)
{
    uint64_t sum = 0;

    if (level != t->share_level)
        return true;
    while (*(name += strcspn(name, "0123456789"))) {
        char *end;

        sum += strtoull(name, &end, 10);
        name = end;
    }
    return sum % (uint64_t)t->run->world.size == (uint64_t)t->run->world.rank;
}

static int check_entry(struct cleanup *t, int fd, const struct dirent *e, int level, struct weir_err *err)
{
    const enum weir_cleanup what[] = { judge(t, e->d_name, false, level),
                                       judge(t, e->d_name, true, level) };
    const bool ours[] = { what[false] <= WEIR_CLEANUP_TREE, what[true] <= WEIR_CLEANUP_TREE };
    unsigned char type;

    if (!ours[false] && !ours[true])
        return 0;
    type = type_of(fd, e);
    if (type == DT_DIR && what[true] == WEIR_CLEANUP_TREE)
        return is_mine(t, e->d_name, level) ? check_dir(t, fd, e->d_name, level + 1, err) : 0;
    if (type == DT_UNKNOWN || (ours[type == DT_DIR] && (type == DT_DIR || type == DT_REG)) ||
        (type == DT_LNK && what[false] == WEIR_CLEANUP_LINK))
        return 0;
    return weir_refuse(err, WEIR_EUSAGE,
                       "'%s' below '%s' is %s, but the test creates %s of that name; remove it, or "
                       "give another directory", e->d_name, t->dir, weir_kind_of_file(DTTOIF(type)),
                       ours[true] ? "a directory" : "a file");
}

/* Print a note when the work takes long. Rank 0. */
static void note_time(struct cleanup *t)
{
    uint64_t now = ++t->looked % NAMES_BETWEEN == 0 ? weir_now_ns() : 0;

    if (now < t->next_ns || t->run->world.rank > 0)
        return;
    weir_note(&t->run->log,
              "checking '%s' for existing files: rank 0 has read %" PRIu64 " names in %.0f s",
              t->dir, t->looked, (double)(now - t->begin_ns) / WEIR_NS_PER_S);
    t->next_ns = now + NOTES_NS;
}

static int check_dir(struct cleanup *t, int parent, const char *name, int level, struct weir_err *err)
{
    DIR *d = open_dir(t, parent, name, level, NULL);
    struct dirent *e;
    int rc = 0;

    if (!d) /* one that can be used and not be read is no fault */
        return 0;
    while (rc == 0 && (e = readdir(d))) {
        note_time(t);
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            rc = check_entry(t, dirfd(d), e, level, err);
    }
    closedir(d);
    return rc;
}

/* ---- removal ---- */

static void note_foreign(const struct cleanup *t, const char *program)
{
    if (t->foreign)
        weir_note(&t->run->log,
                  "%" PRIu64 " names in '%s' were not created by %s; they are kept, with the "
                  "directories that contain them", t->foreign, t->dir, program);
}

int weir_cleanup(struct weir_run *run, const char *program, const char *dir,
              const struct weir_cleanup_form *forms, size_t n, struct weir_err *err)
{
    struct cleanup t = { .run = run, .dir = dir, .forms = forms, .n = n };
    int rc = 0;

    if (run->world.rank == 0) {
        rc = clean_dir(&t, AT_FDCWD, dir, 0, err);
        if (weir_report_add(&run->report, "text", "-", rc < 0 ? NULL : err) < 0)
            rc = -1;
        if (rc == 0 || t.files + t.dirs > 0)
            weir_report_line(&run->report,
                             "removed %" PRIu64 " files and %" PRIu64 " directories in %s", t.files,
                             t.dirs, dir);
        note_foreign(&t, program);
        if (weir_report_end(&run->report, true, rc < 0 ? NULL : err) < 0)
            rc = -1;
    }
    return weir_agree(&run->world, rc, err);
}

static int replace(struct cleanup *t, const char *program, struct weir_err *err)
{
    int rc = clean_dir(t, AT_FDCWD, t->dir, 0, err);

    if (t->files + t->dirs > 0)
        weir_note(&t->run->log,
                  "--existing=replace has removed %" PRIu64 " files and %" PRIu64
                  " directories of earlier runs in '%s'",
                  t->files, t->dirs, t->dir);
    note_foreign(t, program);
    return rc;
}

int weir_cleanup_existing(struct weir_run *run, const char *program, const char *dir, bool replaces,
                       const struct weir_backend *be, const struct weir_cleanup_form *forms, size_t n,
                       int share_level, struct weir_err *err)
{
    struct cleanup t = { .run = run,
                      .forms = forms,
                      .n = n,
                      .refuses = true,
                      .share_level = share_level,
                      .begin_ns = weir_now_ns() };
    struct stat st = { .st_mode = 0 };
    int rc = 0;

    t.dir = weir_system_path(be, dir);
    if ((be->flags & WEIR_BE_NO_DATA) || !t.dir) /* it makes nothing, so nothing there is of it */
        return 0;
    t.next_ns = t.begin_ns + FIRST_NOTE_NS;
    if (stat(t.dir, &st) == 0 && S_ISDIR(st.st_mode))
        rc = check_dir(&t, AT_FDCWD, t.dir, 0, err);
    else if (st.st_mode)
        rc = weir_refuse(err, WEIR_EUSAGE, "'%s' is %s; give a directory", t.dir,
                         weir_kind_of_file(st.st_mode));
    else
        rc = weir_path_leads(t.dir, err);
    rc = weir_agree(&run->world, rc, err);
    if (rc < 0 || !replaces)
        return rc;
    if (run->world.rank == 0 && stat(t.dir, &st) == 0)
        rc = replace(&t, program, err);
    return weir_agree(&run->world, rc, err);
}
