/* SPDX-License-Identifier: BSD-3-Clause */
/* device.c - the block devices under a file system */
#include "base/node/device.h"

#include <dirent.h>
#include <glob.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/node/sysfile.h"

#define DEEPEST 10 /* devices and file systems upon each other */

struct walk {
    const char *sys;
    struct weir_devices *d;
    int depth;
    bool apart; /* a place on this device is not one in the file system */
    bool counts; /* the device of the file system counts better than those below it */
    bool lost;   /* there are devices that are not known */
    const dev_t *number; /* of the files, where the caller knows it */
};

static void walk_device(struct walk *w, const char *name);
static void walk_path(struct walk *w, const char *path);

static uint64_t read_number(const struct walk *w, const char *name, const char *file)
{
    char text[32];

    weir_sysfile_line("", text, sizeof(text), "%s/class/block/%s/%s", w->sys, name, file);
    return strtoull(text, NULL, 10);
}

static void add(struct walk *w, const char *name)
{
    struct weir_devices *d = w->d;

    for (int i = 0; i < d->n; i++)
        if (strcmp(d->name[i], name) == 0)
            return;
    if (d->n < WEIR_DEVICES)
        snprintf(d->name[d->n++], WEIR_DEVICE_NAME, "%s", name);
    else
        w->lost = true;
}

/* A partition has the image of its device. */
static bool walk_loop(struct walk *w, const char *name)
{
    bool whole = !read_number(w, name, "partition");
    struct weir_devices *d = w->d;
    char image[PATH_MAX];

    if (!weir_sysfile_line("", image, sizeof(image), "%s/class/block/%s/%sloop/backing_file", w->sys,
                           name, whole ? "" : "../"))
        return false;
    if (!d->image[0] && !read_number(w, name, whole ? "loop/dio" : "../loop/dio")) {
        memcpy(d->image, image, sizeof(image));
        d->is_whole = !w->apart;
        d->image_offset = read_number(w, name, whole ? "loop/offset" : "../loop/offset") +
                          (whole ? 0 : 512 * read_number(w, name, "start"));
    }
    w->apart = w->counts = true;
    walk_path(w, image);
    return true;
}

/* Each name in a directory of names; how many. */
static int walk_each(struct walk *w, const char *path)
{
    DIR *dir = opendir(path);
    struct dirent *e;
    int n = 0;

    while (dir && (e = readdir(dir)))
        if (e->d_name[0] != '.') {
            w->apart = true;
            n++;
            walk_device(w, e->d_name);
        }
    if (dir)
        closedir(dir);
    return n;
}

static bool walk_slaves(struct walk *w, const char *name)
{
    const char *up = read_number(w, name, "partition") ? "../" : "";
    char path[PATH_MAX];
    int n;

    if (snprintf(path, sizeof(path), "%s/class/block/%s/%sslaves", w->sys, name, up) >=
        (int)sizeof(path))
        return false;
    n = walk_each(w, path);
    w->counts |= n > 1; /* a mirror would count bytes twice */
    return n > 0;
}

static void walk_device(struct walk *w, const char *name)
{
    if (w->depth++ == DEEPEST)
        w->lost = true;
    else if (!walk_loop(w, name) && !walk_slaves(w, name))
        add(w, name);
    w->depth--;
}

/* All devices of a btrfs, of which a mount names one. */
static bool walk_btrfs(struct walk *w, const char *name)
{
    char pattern[PATH_MAX];
    glob_t found = { 0 };
    bool any = false;

    if (snprintf(pattern, sizeof(pattern), "%s/fs/btrfs/*/devices/%s", w->sys, name) <
            (int)sizeof(pattern) &&
        glob(pattern, 0, NULL, &found) == 0)
        any = walk_each(w, dirname(found.gl_pathv[0])) > 0;
    globfree(&found);
    return any;
}

/* "vda1" of the numbers of a device. */
static bool name_of(const struct walk *w, dev_t dev, char name[WEIR_DEVICE_NAME])
{
    char link[PATH_MAX], real[PATH_MAX];

    if (snprintf(link, sizeof(link), "%s/dev/block/%u:%u", w->sys, major(dev), minor(dev)) >=
            (int)sizeof(link) ||
        !realpath(link, real))
        return false;
    return snprintf(name, WEIR_DEVICE_NAME, "%s", basename(real)) < WEIR_DEVICE_NAME;
}

/* Files of btrfs have the number of no device; the mount names one. */
static bool device_of(const struct walk *w, const struct weir_mount *m, char name[WEIR_DEVICE_NAME])
{
    struct stat st;

    if (w->number ? name_of(w, *w->number, name)
                  : stat(weir_str_text(&m->point), &st) == 0 && name_of(w, st.st_dev, name))
        return true;
    return stat(weir_str_text(&m->source), &st) == 0 && S_ISBLK(st.st_mode) &&
           name_of(w, st.st_rdev, name);
}

/* A process moves the bytes of FUSE, and the processor those of a file system in DAX mode. */
static bool is_moved_by_device(const struct weir_mount *m)
{
    char dax[16];

    return strncmp(weir_str_text(&m->type), "fuse", 4) != 0 &&
           (!weir_mount_option(weir_str_text(&m->options), "dax", dax, sizeof(dax)) ||
            (dax[0] && strcmp(dax, "always") != 0));
}

/* True when FIEMAP of this file system reports places on the device. */
static bool has_places(const char *type)
{
    return strncmp(type, "ext", 3) == 0 || strcmp(type, "xfs") == 0 || strcmp(type, "f2fs") == 0;
}

static void walk_mount(struct walk *w, const struct weir_mount *m)
{
    char name[WEIR_DEVICE_NAME], upper[PATH_MAX];

    w->apart |= !has_places(weir_str_text(&m->type));
    if (!is_moved_by_device(m)) {
        w->lost = true;
    } else if (device_of(w, m, name)) {
        if (!w->d->top[0])
            memcpy(w->d->top, name, sizeof(name));
        if (strcmp(weir_str_text(&m->type), "btrfs") != 0 || !walk_btrfs(w, name))
            walk_device(w, name);
    } else if (weir_mount_option(weir_str_text(&m->options), "upperdir", upper, sizeof(upper)) && upper[0] == '/' &&
               access(upper, F_OK) == 0) {
        walk_path(w, upper);
    } else {
        w->lost = true;
    }
}

static void walk_path(struct walk *w, const char *path)
{
    struct weir_mount m = { .point = { 0 } };

    w->number = NULL;
    weir_mount_find(WEIR_MOUNTS, path, &m);
    w->d->failed |= m.failed;
    if (w->depth++ == DEEPEST)
        w->lost = true;
    else
        walk_mount(w, &m);
    w->depth--;
    weir_mount_free(&m);
}

/* Above an image no device counts right: the image has bytes in memory that those below it do not
 * move. */
static void choose(const struct walk *w)
{
    struct weir_devices *d = w->d;

    if (!d->image[0] && d->top[0] && (w->counts || w->lost)) {
        memcpy(d->name[0], d->top, sizeof(d->top));
        d->n = 1;
    } else if (w->lost) {
        d->n = 0;
    }
}

void weir_devices_find(const char *path, struct weir_devices *d)
{
    struct walk w = { .sys = "/sys", .d = d };

    *d = (struct weir_devices) { .n = 0 };
    walk_path(&w, path);
    choose(&w);
}

void weir_devices_of(const struct weir_mount *m, const dev_t *number, struct weir_devices *d)
{
    struct walk w = { .sys = "/sys", .d = d, .depth = 1, .number = number };

    *d = (struct weir_devices) { .failed = m->failed };
    walk_mount(&w, m);
    choose(&w);
}

void weir_devices_underlying(const char *sys, const char *name, struct weir_devices *d)
{
    struct walk w = { .sys = sys, .d = d };

    *d = (struct weir_devices) { .n = 0 };
    snprintf(d->top, sizeof(d->top), "%s", name);
    walk_device(&w, name);
    choose(&w);
}

/* Fields 3 and 7, in sectors of 512 bytes whatever the device, and 5, requests (the kernel's
 * iostats.rst). A device that never moved anything does not count what it moves. */
static bool add_moved(const char *name, struct weir_traffic *t)
{
    unsigned long long read = 0, written = 0, writes = 0;
    char line[512];
    bool known;

    known = weir_sysfile_line("", line, sizeof(line), "/sys/class/block/%s/stat", name) &&
            sscanf(line, "%*u %*u %llu %*u %llu %*u %llu", &read, &writes, &written) == 3 &&
            read + written > 0;
    t->read += 512 * read;
    t->written += 512 * written;
    t->writes += writes;
    return known;
}

bool weir_devices_moved(const struct weir_devices *d, struct weir_traffic *t)
{
    *t = (struct weir_traffic) { .read = 0 };
    for (int i = 0; i < d->n; i++)
        if (!add_moved(d->name[i], t))
            return false;
    return d->n > 0;
}
