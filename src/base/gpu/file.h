/* SPDX-License-Identifier: BSD-3-Clause */
/* file.h - transfers between files and memory of a GPU by the library of its vendor: cuFile of
 * NVIDIA, hipFile of AMD */
#ifndef WEIR_BASE_GPU_FILE_H
#define WEIR_BASE_GPU_FILE_H

#include <stdint.h>
#include <sys/types.h>

#include "base/gpu/vendor.h"

/* The library of a vendor in use. */
struct weir_gpu_files;

/* Load the library and open its driver. Local. weir_gpu_files_end releases *out, also after an
 * error. 0, or -1 and err (WEIR_ESETUP). */
int weir_gpu_files_begin(struct weir_gpu_files **out, const struct weir_gpu_vendor *vendor,
                         struct weir_err *err);
void weir_gpu_files_end(struct weir_gpu_files *l); /* NULL: nothing happens */

/* May the library read into memory of the host and copy, because the kernel module for direct
 * transfers is not loaded? Its numbers are then those of a staged transfer. NULL: no. Local. */
bool weir_gpu_files_are_staged(const struct weir_gpu_files *l);

/* The version of the library, as its vendor counts; 0: not known, or NULL. Local. */
int weir_gpu_files_version(const struct weir_gpu_files *l);

/* Tell the library of memory of the device. Local. 0, or -1 and err (WEIR_ESETUP). */
int weir_gpu_files_register(struct weir_gpu_files *l, const void *device, size_t bytes,
                            struct weir_err *err);
void weir_gpu_files_deregister(struct weir_gpu_files *l, const void *device);

/* Tell it of an open file. Local. *handle is for the calls below. 0, or -1 and err (WEIR_EIO). */
int weir_gpu_file_open(struct weir_gpu_files *l, int fd, void **handle, struct weir_err *err);
void weir_gpu_file_close(struct weir_gpu_files *l, void *handle);

/* One transfer: len bytes of a file from 'off', and of registered memory from 'in_buffer'. */
struct weir_gpu_move {
    bool write;
    void *device; /* where the memory begins */
    size_t len;
    off_t off, in_buffer;
};

/* Do it. Returns how many bytes; -1 and err (WEIR_EIO). Local; no allocation; any thread that has
 * the device (weir_gpu_driver_enter). */
ssize_t weir_gpu_file_move(struct weir_gpu_files *l, void *handle, const struct weir_gpu_move *m,
                           struct weir_err *err);

#endif
