/* SPDX-License-Identifier: BSD-3-Clause */
/* uring-descriptor.c - what is known of the backend without its library */
#include "backends/uring/uring-descriptor.h"
#include "config.h"

static const char *const ways[] = { "auto", "yes", "no", NULL };
static const char *const fallbacks[] = { "none", "aio", NULL };

#define O struct uring_options
const struct weir_opt uring_opts[] = {
    OPT_STR(0, "buffers", NULL, O, buffers, "auto", "WAY",
            "Registration of a queue's buffers with the kernel (auto: where it allows that; the "
            "results say whether it did)",
            .choices = ways),
    OPT_STR(0, "files", NULL, O, files, "auto", "WAY",
            "Registration of a queue's open files with the kernel, as with buffers",
            .choices = ways),
    OPT_FLAG(0, "sqpoll", NULL, O, sqpoll,
             "Kernel thread that polls for transfers, so that submissions need no system call"),
    OPT_FLAG(0, "iopoll", NULL, O, iopoll,
             "Polling of the device for completions instead of interrupts; needs --posix.odirect "
             "and a device that can"),
    OPT_INT(0, "batch", NULL, O, batch, "16", "N",
            "Transfers submitted at a time, a quarter of --depth at most; fewer before each wait",
            .min = 1, .max = 32768),
    OPT_STR(0, "fallback", NULL, O, fallback, "none", "BACKEND",
            "Backend of all tasks where the kernel or the container of one refuses io_uring, as "
            "the results say (none: an error)",
            .choices = fallbacks, .flags = WEIR_OPT_NEUTRAL),
    OPT_END
};
#undef O

const struct weir_backend weir_backend_uring = { URING_DESCRIPTOR, .plugin = "uring" };
