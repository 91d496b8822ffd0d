/* SPDX-License-Identifier: BSD-3-Clause */
/* aio-descriptor.c - what is known of the backend without its library */
#include "backends/aio/aio-descriptor.h"

#define O struct aio_options
const struct weir_opt aio_opts[] = {
    OPT_INT(0, "max-pending", NULL, O, max_pending, "128", "N", "Queue depth of a task", .min = 8,
            .max = INT32_MAX),
    OPT_INT(0, "granularity", NULL, O, granularity, "16", "N",
            "Transfers submitted, and reaped, at a time (maximum: a quarter of --depth)", .min = 1,
            .max = INT32_MAX),
    OPT_END
};
#undef O

const struct weir_backend weir_backend_aio = { AIO_DESCRIPTOR, .plugin = "aio" };
