/* SPDX-License-Identifier: BSD-3-Clause */
/* vendor.h - the library of a vendor of GPUs: loaded when a test needs it; no header of it is needed
 * to build */
#ifndef WEIR_BASE_GPU_VENDOR_H
#define WEIR_BASE_GPU_VENDOR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* Memory that a driver gives: of the host and pinned, managed, of the device. */
enum weir_gpu_room { WEIR_GPU_PINNED, WEIR_GPU_MANAGED, WEIR_GPU_DEVICE, WEIR_GPU_ROOMS };

/* Facts of a device. */
struct weir_gpu_facts {
    char name[128]; /* of the product */
    char bus[32];   /* "0000:3b:00.0" */
    int version;    /* of the driver, as its vendor counts */
};

/* A function of a library: its symbol behind a prefix, and where its pointer is kept in a struct of
 * pointers. name NULL: the end of a list. */
struct weir_gpu_symbol {
    const char *name;
    size_t offset;
};

/* Load the first library of the list (ends with NULL) that is there, which stays loaded, and put
 * the addresses of the functions into 'out'. Local. 0, or -1 and err (WEIR_ESETUP): no library, or
 * a function that it has not. */
int weir_gpu_load(const char *const *libraries, const char *prefix,
                  const struct weir_gpu_symbol *symbols, void *out, struct weir_err *err);

/* A vendor, and the libraries of its files. */
struct weir_gpu_vendor {
    const char *name; /* "CUDA" */
    const char *const *libraries, *const *file_libraries;
    const char *prefix, *file_prefix;      /* of their functions: "cu", "cuFile" */
    const struct weir_gpu_symbol *symbols; /* of the driver */
    unsigned pinned;                       /* flags of pinned memory that all contexts see */
};
extern const struct weir_gpu_vendor weir_gpu_vendors[]; /* ends with one without a name */

/* A driver in use. All functions are local and return 0, or -1 and err: WEIR_ESETUP for what a run
 * needs before it begins, WEIR_EIO for copies. */
struct weir_gpu_driver;

/* Load the library of a vendor and count the devices that this process sees. weir_gpu_driver_end
 * releases *out, which is NULL after an error. */
int weir_gpu_driver_begin(struct weir_gpu_driver **out, const struct weir_gpu_vendor *vendor,
                          int *devices, struct weir_err *err);
void weir_gpu_driver_end(struct weir_gpu_driver *d); /* NULL: nothing happens */

/* The facts of the device with this number, from 0; 'use' takes it, after the last description.
 * 'enter' makes it that of the calling thread, which 'use' does, too. */
int weir_gpu_driver_use(struct weir_gpu_driver *d, int ordinal, struct weir_err *err);
int weir_gpu_driver_enter(struct weir_gpu_driver *d, struct weir_err *err);
int weir_gpu_driver_describe(struct weir_gpu_driver *d, int ordinal, struct weir_gpu_facts *out,
                             struct weir_err *err);

int weir_gpu_driver_take(struct weir_gpu_driver *d, enum weir_gpu_room room, size_t bytes,
                         void **out, struct weir_err *err);
void weir_gpu_driver_give(struct weir_gpu_driver *d, enum weir_gpu_room room, void *p);

/* Copy bytes to memory of the device, or from it, and wait for the end. */
int weir_gpu_driver_copy(struct weir_gpu_driver *d, void *to, const void *from, size_t bytes,
                         bool to_device, struct weir_err *err);

#endif
