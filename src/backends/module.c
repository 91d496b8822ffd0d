/* SPDX-License-Identifier: BSD-3-Clause */
/* module.c - backends whose library is loaded only when somebody wants them
 *
 * A parallel HDF5 brings some fifty shared libraries. Linked into the program they would be mapped
 * and relocated by every rank of every run, also where nobody asks for HDF5: a quarter of the
 * start-up of 64 ranks on one node. */
#include "config.h"
#include "backends/module.h"

#include <dlfcn.h>

#define MODULE_TEXT 64

int weir_backend_load(const struct weir_backend **be, struct weir_err *err)
{
    const struct weir_backend *loaded;
    char file[MODULE_TEXT];
    void *module;
    int len;

    if (!(*be)->module)
        return 0;
    len = snprintf(file, sizeof(file), "weir-%s.so", (*be)->module);
    if (len < 0 || (size_t)len >= sizeof(file))
        return weir_refuse(err, WEIR_EBUG, "backend %s: its module has too long a name",
                           (*be)->name);
    module = dlopen(file, RTLD_NOW | RTLD_LOCAL); /* found by the program's run path */
    if (!module)
        return weir_refuse(err, WEIR_ESETUP, "load backend %s: %s", (*be)->name, dlerror());
    loaded = dlsym(module, "weir_module");
    if (!loaded)
        return weir_refuse(err, WEIR_ESETUP, "load backend %s: '%s' is no module of weir",
                           (*be)->name, file);
    if (loaded->abi != WEIR_BACKEND_ABI)
        return weir_refuse(err, WEIR_ESETUP,
                           "load backend %s: '%s' was built for interface %u, this is %d: install "
                           "programs and modules of one version",
                           (*be)->name, file, loaded->abi, WEIR_BACKEND_ABI);
    *be = loaded;
    return 0;
}
