/* SPDX-License-Identifier: BSD-3-Clause */
/* uring-descriptor.c - what is known of the backend without its library */
#include "backends/uring/uring-descriptor.h"
#include "config.h"

static const char *const ways[] = { "auto", "yes", "no", NULL };
static const char *const fallbacks[] = { "none", "aio", NULL };

#define O struct uring_options
const struct weir_opt uring_opts[] = {
    OPT_STR(0, "buffers", NULL, O, buffers, "auto", "WAY",
            "Register the buffers of a queue with the kernel; auto: where it allows that, and the "
            "results say whether it did",
            .choices = ways),
    OPT_STR(0, "files", NULL, O, files, "auto", "WAY",
            "Register the open files of a queue with the kernel, as with buffers", .choices = ways),
    OPT_FLAG(0, "sqpoll", NULL, O, sqpoll,
             "A thread of the kernel looks for transfers, so that submissions need no system call"),
    OPT_FLAG(0, "iopoll", NULL, O, iopoll,
             "Ask the device for completions instead of waiting for its interrupts; needs "
             "--posix.odirect and a device that can"),
    OPT_INT(0, "batch", NULL, O, batch, "16", "N",
            "Transfers that are handed to the kernel at a time, a quarter of --depth at most; fewer before "
            "each wait", .min = 1,
            .max = 32768),
    OPT_STR(0, "fallback", NULL, O, fallback, "none", "BACKEND",
            "Where the kernel or the container of a task refuses io_uring, all tasks take this backend "
            "instead, and the results say so; none: it is an error",
            .choices = fallbacks, .flags = WEIR_OPT_APART),
    OPT_END
};
#undef O

const struct weir_backend weir_backend_uring = { URING_DESCRIPTOR, .plugin = "uring" };
