/* SPDX-License-Identifier: BSD-3-Clause */
/* uring-descriptor.h - what is known of the backend without its library: name and options */
#pragma once

#include "backends/backend.h"
#include "backends/shared/posixfile.h"

struct uring_options {
    const char *buffers, *files, *fallback; /* auto, yes, no */
    bool sqpoll, iopoll;
    int batch;
};

extern const struct weir_opt uring_opts[];

/* The members of struct weir_backend that the descriptor and the plugin share. The plugin has a
 * POSIX of its own, with the same option rows. */
#define URING_DESCRIPTOR                                                                           \
    .abi = WEIR_BACKEND_ABI, .name = "URING",                                                      \
    .brief = "Ordinary files with a queue of reads and writes in an io_uring (liburing)",          \
    .prefix = "uring.", .base = &weir_backend_posix, .opts = uring_opts,                           \
    .opt_size = sizeof(struct uring_options)
