/* SPDX-License-Identifier: BSD-3-Clause */
/* benchmarks.c - the benchmarks that the library has, by name */
#include "config.h"
#include "library/benchmarks.h"

#include <string.h>

#include "weir.h"

extern const struct weir_driver weir_ior, weir_mdtest, weir_mdw, weir_mib, h5ex_driver,
    ckpt_checkpoint, ckpt_restart, parts_raw, parts_gatherv, parts_combo;

static const struct weir_driver *const all[] = {
    &weir_ior,        &weir_mdtest,  &weir_mdw,  &weir_mib,      &h5ex_driver,
    &ckpt_checkpoint, &ckpt_restart, &parts_raw, &parts_gatherv, &parts_combo
};

#define ALL ((int)(sizeof(all) / sizeof(*all)))

const char *weir_version(void)
{
    return PACKAGE_VERSION;
}

const char *weir_benchmark_name(int i)
{
    return i >= 0 && i < ALL ? all[i]->name : NULL;
}

const struct weir_driver *weir_benchmark_find(const char *name)
{
    for (int i = 0; name && i < ALL; i++)
        if (strcmp(all[i]->name, name) == 0)
            return all[i];
    return NULL;
}
