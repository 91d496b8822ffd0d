/* SPDX-License-Identifier: BSD-3-Clause */
/* posix-library.c - libraries of file systems, loaded when an option asks for them
 *
 * A program that is linked with them does not start on a node that lacks one, also where nobody
 * asks for what they do. */
#include "backends/posix/posix-library.h"
#include "config.h"

#include <dlfcn.h>

#include "base/str.h"

/* The first that can be loaded, or NULL and the reasons of all. */
static void *load(const char *const *files, struct weir_str *reasons)
{
    for (const char *const *file = files; *file; file++) {
        void *library = dlopen(*file, RTLD_NOW | RTLD_LOCAL);

        if (library)
            return library;
        weir_str_addf(reasons, "%s%s", file == files ? "" : "; ", dlerror());
    }
    return NULL;
}

void *posix_function(const char *const *files, const char *name, struct weir_err *err)
{
    struct weir_str reasons = { 0 };
    void *library = load(files, &reasons), *function = NULL;

    if (library && !(function = dlsym(library, name)))
        weir_refuse(err, WEIR_ESETUP, "%s", dlerror());
    else if (!library)
        weir_refuse(err, WEIR_ESETUP,
                    "load the library that has %s: %s (the dynamic linker also looks in "
                    "LD_LIBRARY_PATH)",
                    name, weir_str_text(&reasons));
    weir_str_free(&reasons);
    return function;
}
