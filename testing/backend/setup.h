/* SPDX-License-Identifier: BSD-3-Clause */
/* setup.h - what tests of backends begin with: option structs, and a directory to work in */
#pragma once

#include <stdio.h>
#include <stdlib.h>

#include "backends/backend.h"
#include "base/mem.h"
#include "base/options/option.h"
#include "par/reduce.h"
#include "unit/optcheck.h"

/* The option structs of a backend and of its base. Zero; release with setup_free. */
struct setup {
    struct weir_arena arena;
    struct weir_opts opts;
    void *own, *base;
    struct weir_backend_opt opt;
};

static inline int setup_add(struct weir_opts *opts, const struct weir_backend *be, void **values,
                            struct weir_err *err)
{
    struct weir_optset set = {
        .prefix = be->prefix, .title = be->name, .rows = be->opts, .size = be->opt_size
    };

    set.values = *values = calloc(1, be->opt_size > 0 ? be->opt_size : 1);
    if (!set.values)
        return weir_fail(err, WEIR_ESETUP, "memory");
    return be->opts ? weir_opts_add(opts, &set, err) : 0;
}

/* The defaults, and one option set ("posix.odirect"; NULL: none). Local. 0, or -1 and err. */
static inline int setup_options(struct setup *u, const struct weir_backend *be, const char *option,
                                struct weir_err *err)
{
    u->opts.arena = &u->arena;
    if (setup_add(&u->opts, be, &u->own, err) < 0 ||
        (be->base && setup_add(&u->opts, be->base, &u->base, err) < 0) ||
        optcheck(&u->opts, err) < 0 || weir_opts_defaults(&u->opts, err) < 0 ||
        (option && weir_opts_set(&u->opts, option, NULL, err) < 0))
        return -1;
    u->opt = (struct weir_backend_opt) { .own = u->own, .base = u->base };
    return 0;
}

static inline void setup_free(struct setup *u)
{
    free(u->base);
    free(u->own);
    weir_arena_free(&u->arena);
}

/* A directory of our own, the same on all ranks. Collective. */
static inline bool setup_dir(const struct weir_par *par, char *dir, size_t len)
{
    const char *tmp = getenv("TMPDIR");

    if (par->rank == 0) {
        int n = snprintf(dir, len, "%s/weir-backends.XXXXXX", tmp && *tmp ? tmp : "/tmp");

        if (n < 0 || (size_t)n >= len || !mkdtemp(dir))
            dir[0] = '\0';
    }
    weir_bcast(par, dir, len, 0);
    return dir[0];
}
