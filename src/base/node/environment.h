/* SPDX-License-Identifier: BSD-3-Clause */
/* environment.h - what a number depends on besides the test: kernel, processor, limits, mount,
 * device, binding, environment; in words, as the system has them */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* All of this is local. Texts replace *out; empty: not known, or there is none. */

/* The frequency governor of processor 0. */
void weir_environment_governor(struct weir_str *out);

void weir_environment_kernel(struct weir_str *out);
void weir_environment_processor(struct weir_str *out);

/* A setting of the queue of a block device ("vda1"): "scheduler", "read_ahead_kb". */
void weir_environment_queue(const char *device, const char *setting, struct weir_str *out);

/* Describe the layout of path: stripes of Lustre; else the size that the file system prefers
 * for transfers. */
void weir_environment_layout(const char *path, struct weir_str *out);

/* The stripes of a file on Lustre: bytes of one, and how many (65535: on all targets). False: it has none of
 * its own, or has several layouts. */
bool weir_environment_stripes(const char *path, uint32_t *size, uint16_t *count);

/* The target (OST) of a stripe of a file on Lustre, from 0 on; -1: not known. */
int64_t weir_environment_target(const char *path, int stripe);

/* The processors that this process may use ("0-3,8"), and their number (0: not known). */
int weir_environment_binding(struct weir_str *out);

/* The i-th variable of the environment, from 0, that steers MPI-IO and the libraries on it: its
 * name in *name, and its value. NULL: there are no more. */
const char *weir_environment_variable(int i, struct weir_str *name);

/* Why a page cache is not judged where a library takes the I/O calls. */
#define WEIR_INTERCEPTED                                                                           \
    "a preloaded library takes the I/O calls: data may move past the page cache"

/* The libraries of this process that take its I/O calls: "libpil4dfs.so (DAOS)"; and whether there
 * is one. */
void weir_environment_interception(struct weir_str *out);
bool weir_environment_is_intercepted(void);

/* True when "NAME=value" looks secret: by its name, or as a URL with a user before '@'. */
bool weir_environment_is_secret(const char *variable);
