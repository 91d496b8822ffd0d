/* SPDX-License-Identifier: BSD-3-Clause */
/* ior-memory.c - keep memory from the page cache: -M and memoryPerTask */
#include "config.h"
#include "drivers/ior/ior.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/size.h"

#define PAGE 4096

int ior_memory_parse(const struct ior_options *o, const struct weir_par *par, int64_t *bytes,
                     struct weir_err *err)
{
    int64_t node = 0;
    double percent = -1;

    *bytes = o->memory_per_task;
    if (!o->memory_per_node)
        return 0;
    if (o->memory_per_task)
        return weir_refuse(err, WEIR_EUSAGE,
                           "memory per node (-M) and memoryPerTask exclude each other; choose one");
    if (weir_share_parse(o->memory_per_node, &node, &percent, err) < 0)
        return weir_err_within(err, "option -M (memoryPerNode)");
    if (percent >= 0)
        node = (int64_t)((double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) * percent /
                         100);
    *bytes = node / (par->per_node > 0 ? par->per_node : 1);
    return 0;
}

/* Touched page by page by weir_mem_aligned, so the kernel has really given it. */
int ior_memory_take(struct ior_test *t, struct weir_err *err)
{
    if (t->hog_bytes <= 0)
        return 0;
    if (weir_mem_aligned(&t->hog, PAGE, (size_t)t->hog_bytes, err) < 0)
        return weir_err_within(err, "take memory away (-M, memoryPerTask)");
    return 0;
}

void ior_memory_free(struct ior_test *t)
{
    free(t->hog);
    t->hog = NULL;
}
