/* SPDX-License-Identifier: BSD-3-Clause */
/* aio-descriptor.h - what is known of the backend without its library: name and options */
#pragma once

#include "backends/backend.h"
#include "backends/shared/posixfile.h"

struct aio_options {
    int max_pending, granularity;
};

extern const struct weir_opt aio_opts[];

/* The members of struct weir_backend that the descriptor and the plugin share. The plugin has a
 * POSIX of its own, with the same option rows. */
#define AIO_DESCRIPTOR                                                                             \
    .abi = WEIR_BACKEND_ABI, .name = "AIO",                                                        \
    .brief = "Ordinary files with a queue of asynchronous reads and writes (libaio)",              \
    .prefix = "aio.", .base = &weir_backend_posix, .opts = aio_opts,                               \
    .opt_size = sizeof(struct aio_options)
