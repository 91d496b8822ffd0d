/* SPDX-License-Identifier: BSD-3-Clause */
/* plugin.c - backends whose library is loaded only when somebody wants them
 *
 * A parallel HDF5 brings some fifty shared libraries. Linked into the program they would be mapped
 * and relocated by every rank of every run, also where nobody asks for HDF5: a quarter of the
 * start-up of 64 ranks on one node. */
#include "config.h"
#include "backends/plugin.h"

#include <dlfcn.h>

#define PLUGIN_TEXT 64

int weir_backend_load(const struct weir_backend **be, struct weir_err *err)
{
    const struct weir_backend *loaded;
    char file[PLUGIN_TEXT];
    void *plugin;
    int len;

    if (!(*be)->plugin)
        return 0;
    len = snprintf(file, sizeof(file), "weir-%s.so", (*be)->plugin);
    if (len < 0 || (size_t)len >= sizeof(file))
        return weir_refuse(err, WEIR_EBUG, "backend %s: its plugin has too long a name",
                           (*be)->name);
    plugin = dlopen(file, RTLD_NOW | RTLD_LOCAL); /* found by the program's run path */
    if (!plugin)
        return weir_refuse(err, WEIR_ESETUP, "load backend %s: %s", (*be)->name, dlerror());
    loaded = dlsym(plugin, "weir_plugin");
    if (!loaded)
        return weir_refuse(err, WEIR_ESETUP, "load backend %s: '%s' is no plugin of weir",
                           (*be)->name, file);
    if (loaded->abi != WEIR_BACKEND_ABI)
        return weir_refuse(err, WEIR_ESETUP,
                           "load backend %s: '%s' was built for interface %u, this is %d: install "
                           "programs and plugins of one version",
                           (*be)->name, file, loaded->abi, WEIR_BACKEND_ABI);
    *be = loaded;
    return 0;
}
