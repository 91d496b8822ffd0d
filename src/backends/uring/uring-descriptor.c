/* SPDX-License-Identifier: BSD-3-Clause */
/* uring-descriptor.c - what is known of the backend without its library */
#include "backends/uring/uring-descriptor.h"

static const char *const ways[] = { "auto", "yes", "no", NULL };
static const char *const fallbacks[] = { "none", "aio", NULL };

#define O struct uring_options
const struct weir_opt uring_opts[] = {
    OPT_STR(0, "buffers", NULL, O, buffers, "auto", "WAY",
            "Registration of a queue's buffers with the kernel (auto: where allowed)",
            .choices = ways),
    OPT_STR(0, "files", NULL, O, files, "auto", "WAY",
            "Registration of a queue's open files with the kernel, as with buffers",
            .choices = ways),
    OPT_FLAG(0, "sqpoll", NULL, O, sqpoll,
             "Kernel thread that polls for submissions, which then need no system call"),
    OPT_FLAG(0, "iopoll", NULL, O, iopoll,
             "Polling for completions, no interrupts; needs --posix.odirect and device support"),
    OPT_INT(0, "batch", NULL, O, batch, "16", "N",
            "Transfers submitted at a time (maximum: a quarter of --depth)",
            .min = 1, .max = 32768),
    OPT_STR(0, "fallback", NULL, O, fallback, "none", "BACKEND",
            "Backend of all tasks if one cannot use io_uring (none: an error)",
            .choices = fallbacks, .flags = WEIR_OPT_NEUTRAL),
    OPT_END
};
#undef O

const struct weir_backend weir_backend_uring = { URING_DESCRIPTOR, .plugin = "uring" };
