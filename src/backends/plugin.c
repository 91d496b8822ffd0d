/* SPDX-License-Identifier: BSD-3-Clause */
/* plugin.c - backends whose library is loaded when the backend is chosen
 *
 * A parallel HDF5 brings some fifty shared libraries. In the program, every rank of every run
 * would map and relocate them, with or without HDF5. That is a quarter of the start-up of 64
 * ranks on one node. A program that is linked with libaio does not start on a node that lacks
 * it. */
#include "backends/plugin.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

/* Places to search, relative to the folder of the program or library: where libtool makes
 * plugins, beside it, and where they are installed (programs in bin, libweir.so in lib). The
 * last one is as configured. */
static const char *const places[] = { "/.libs", "", "/../lib/weir", "/weir", WEIR_PLUGIN_DIR };

#define PLACES (sizeof(places) / sizeof(*places))

/* Files that were tried: words for an error. */
struct search {
    char file[64];
    struct weir_str path;   /* of the plugin */
    struct weir_str looked; /* 'PLACE' (REASON), ...; the reason where it cannot be looked at */
};

/* Find the folder of the program or library that has this code; "" when it is not known. */
static void own_folder(char *out, size_t size)
{
    struct link_map *map = NULL;
    Dl_info info;
    ssize_t len;
    char *slash;

    *out = '\0';
    if (dladdr1(places, &info, (void **)&map, RTLD_DL_LINKMAP) && map && map->l_name[0] == '/') {
        snprintf(out, size, "%s", map->l_name);
    } else { /* the program itself */
        len = readlink("/proc/self/exe", out, size - 1);
        out[len < 0 ? 0 : len] = '\0';
    }
    slash = strrchr(out, '/');
    if (slash)
        *slash = '\0';
}

/* The first place with such a file, in s->path. */
static bool find(struct search *s)
{
    char folder[PATH_MAX];

    own_folder(folder, sizeof(folder));
    for (size_t i = 0; i < PLACES; i++) {
        bool is_own = i + 1 < PLACES;

        if (is_own && !folder[0])
            continue;
        weir_str_clear(&s->path);
        weir_str_addf(&s->path, "%s%s", is_own ? folder : "", places[i]);
        weir_str_addf(&s->looked, "'%s'", weir_str_text(&s->path));
        weir_str_addf(&s->path, "/%s", s->file);
        if (access(weir_str_text(&s->path), F_OK) == 0)
            return true;
        if (errno != ENOENT && errno != ENOTDIR)
            weir_str_addf(&s->looked, " (%s)", strerror(errno));
        weir_str_addf(&s->looked, ", ");
    }
    weir_str_clear(&s->path);
    weir_str_addf(&s->path, "%s", s->file); /* the dynamic linker has places, too */
    return false;
}

static int check(const struct weir_backend *be, const struct weir_backend *loaded, const char *path,
                 struct weir_err *err)
{
    if (!loaded)
        return weir_refuse(err, WEIR_ESETUP, "load backend %s: '%s' is not a plugin of weir",
                                             be->name, path);
    if (loaded->abi != WEIR_BACKEND_ABI)
        return weir_refuse(err, WEIR_ESETUP,
                           "load backend %s: '%s' was built for interface %u, this is %d: install "
                           "programs and plugins of one version",
                           be->name, path, loaded->abi, WEIR_BACKEND_ABI);
    return 0;
}

/* True when the dynamic linker found no such file; false when it failed with one, or with a
 * library of it. words: what dlerror says. */
static bool is_missing(const struct search *s, const char *words)
{
    const char *reason = strerror(ENOENT);
    size_t len = strlen(words), tail = strlen(reason);

    return strncmp(words, s->file, strlen(s->file)) == 0 && len >= tail &&
           strcmp(words + len - tail, reason) == 0;
}

static int load(const struct weir_backend **be, struct search *s, const char *file,
                struct weir_err *err)
{
    void *plugin = *file ? dlopen(file, RTLD_NOW | RTLD_LOCAL) : NULL;
    const struct weir_backend *loaded;
    struct weir_clock_source *clock;
    const char *words;
    bool found;

    weir_str_addf(&s->path, "%s", file);
    found = plugin || find(s);
    if (s->path.failed || s->looked.failed)
        return weir_refuse(err, WEIR_ESETUP, "load backend %s: no memory for its name",
                           (*be)->name);
    if (!plugin)
        plugin = dlopen(weir_str_text(&s->path), RTLD_NOW | RTLD_LOCAL);
    words = plugin ? NULL : dlerror();
    if (words && (found || !is_missing(s, words)))
        return weir_refuse(err, WEIR_ESETUP, "load backend %s from '%s': %s", (*be)->name,
                           weir_str_text(&s->path), words);
    if (words)
        return weir_refuse(err, WEIR_ESETUP,
                           "load backend %s: '%s' is not in %sor where the dynamic linker searches "
                           "(LD_LIBRARY_PATH); put the file next to the program, or install weir",
                           (*be)->name, s->file, weir_str_text(&s->looked));
    loaded = dlsym(plugin, "weir_plugin");
    if (check(*be, loaded, weir_str_text(&s->path), err) < 0)
        return -1;
    clock = dlsym(plugin, "weir_clock_source");
    if (clock)
        weir_clock_share(clock);
    *be = loaded;
    return 0;
}

int weir_backend_load(const struct weir_backend **be, char *file, struct weir_err *err)
{
    struct search s = { .file = "" };
    int rc, len;

    if (!(*be)->plugin)
        return 0;
    len = snprintf(s.file, sizeof(s.file), "weir-%s.so", (*be)->plugin);
    if (len < 0 || (size_t)len >= sizeof(s.file))
        return weir_refuse(err, WEIR_EBUG, "backend %s: the name of its plugin is too long",
                           (*be)->name);
    rc = load(be, &s, file ? file : "", err);
    if (file && (rc < 0 || snprintf(file, PATH_MAX, "%s", weir_str_text(&s.path)) >= PATH_MAX))
        *file = '\0';
    weir_str_free(&s.path);
    weir_str_free(&s.looked);
    return rc;
}
