/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu.h - transfer buffers in memory of a GPU: the kinds of memory, the ways of a transfer
 * between them and a file, and the device of this task.
 *
 * A program fills and checks a buffer of the host. Where the memory of the test is on a GPU, this
 * buffer has a twin there. A filled buffer is copied to the twin before a transfer, and
 * transferred data are copied back before they are checked, both outside of the measured time. */
#ifndef WEIR_BASE_GPU_GPU_H
#define WEIR_BASE_GPU_GPU_H

#include <stdint.h>

#include "base/gpu/file.h"

/* The kinds of memory, in the order of the values of allocateBufferOnGPU. */
enum weir_gpu_memory {
    WEIR_MEMORY_HOST,
    WEIR_MEMORY_MANAGED,     /* filled and checked by the processor */
    WEIR_MEMORY_MANAGED_GPU, /* managed, and the data are on the GPU before a transfer */
    WEIR_MEMORY_DEVICE,
    WEIR_MEMORIES
};

struct weir_gpu_memory_kind {
    const char *name;   /* in JSON: "managed" */
    const char *buffer; /* the values of the rows memoryBuffer and dataAccess */
    const char *access;
};
extern const struct weir_gpu_memory_kind weir_gpu_memories[WEIR_MEMORIES];

/* The ways of a transfer between a file and memory of a GPU; the values of --gpu-path. */
enum weir_gpu_path {
    WEIR_GPU_DIRECT, /* the library of the vendor moves it (cuFile) */
    WEIR_GPU_STAGED, /* a call with a pinned buffer of the host, and a copy, are the transfer */
    WEIR_GPU_MAPPED, /* the call gets the pointer */
    WEIR_GPU_PATHS
};
extern const char *const weir_gpu_paths[]; /* ends with NULL */

/* One piece of memory: the buffer that the program has, its twin, and the buffer of the host
 * through which staged transfers go. Some of them are the same. */
struct weir_gpu_area {
    char *host, *device, *stage;
    size_t bytes;
    char *given[WEIR_GPU_ROOMS]; /* by the driver, by enum weir_gpu_room; NULL: nothing */
    bool registered;             /* with the library of files */
    bool is_plain;               /* pinned memory without a twin */
};

/* Copies that were a part of transfers. */
struct weir_gpu_copies {
    uint64_t n, bytes, ns;
};

/* The device of this task, and its memory. */
struct weir_gpu {
    const struct weir_gpu_vendor *vendor;
    struct weir_gpu_driver *driver;
    enum weir_gpu_memory memory;
    enum weir_gpu_path path;
    int device, devices; /* of those that this process sees */
    int node;            /* NUMA node of the device; -1: not known */
    struct weir_gpu_facts facts;
    struct weir_gpu_area *area;
    size_t areas, room;
    struct weir_gpu_copies copies; /* since the last phase began */
    struct weir_err
        *lost; /* why a copy outside of a transfer failed; the next transfer fails with it */
    struct weir_gpu_files *files; /* of WEIR_GPU_DIRECT; NULL: not begun */
};

/* Ways to choose the device of a task. */
#define WEIR_GPU_IN_TURN (-1)
#define WEIR_GPU_NEAR (-2)
struct weir_gpu_choice {
    enum weir_gpu_memory memory; /* not of the host */
    enum weir_gpu_path path;
    int device; /* its number, or one of the above */
    int turn;   /* the number of this task in turn */
};

/* Load the driver of the first vendor that has a device here, take the device, and make it that of
 * the calling thread. Local. NULL and err (WEIR_ESETUP): which libraries were looked for, and what
 * they said. weir_gpu_end releases it. */
struct weir_gpu *weir_gpu_begin(const struct weir_gpu_choice *choice, struct weir_err *err);

/* The NUMA node on which this task runs now; -1: not known. Local. */
int weir_gpu_own_node(void);

/* After the last weir_gpu_give. Local. NULL: nothing happens. */
void weir_gpu_end(struct weir_gpu *g);

/* len zeroed bytes for transfers, with a twin, aligned to a page. g NULL: weir_mem_aligned, with the
 * alignment that is asked for. Local. 0, or -1 and err (WEIR_ESETUP). */
int weir_gpu_take(struct weir_gpu *g, void **out, size_t align, size_t len, struct weir_err *err);

/* Pinned memory of the host without a twin, not zeroed; otherwise as weir_gpu_take. */
int weir_gpu_take_pinned(struct weir_gpu *g, void **out, size_t align, size_t len,
                         struct weir_err *err);

/* Give one of them back. NULL: nothing happens. Local. */
void weir_gpu_give(struct weir_gpu *g, void *buffer);

/* The area with this byte of a buffer of the program; NULL: it is none. Local. */
struct weir_gpu_area *weir_gpu_area_of(const struct weir_gpu *g, const void *at);

/* The program has filled these bytes of a buffer: copy them to the twin. g NULL: nothing
 * happens. Local, outside of the time of transfers; the next transfer reports a failure. */
void weir_gpu_put(struct weir_gpu *g, void *at, size_t len);

/* Copy these bytes of a buffer from the twin for the program. Otherwise as weir_gpu_put. */
void weir_gpu_get(struct weir_gpu *g, void *at, size_t len);

#define weir_gpu_filled(g, at, len) ((g) ? weir_gpu_put(g, at, len) : (void)0)
#define weir_gpu_wanted(g, at, len) ((g) ? weir_gpu_get(g, at, len) : (void)0)

/* Copy bytes of the twin of a buffer of the program, at 'at', to memory of the host. g NULL: of the
 * buffer itself. Local. 0, or -1 and err (WEIR_EIO). */
int weir_gpu_fetch(struct weir_gpu *g, const void *at, void *to, size_t len, struct weir_err *err);

/* A copy that is a part of a transfer: of the bytes at 'at' between the twin and the stage. Local.
 * No allocation. 0, or -1 and err (WEIR_EIO). */
int weir_gpu_copy(struct weir_gpu *g, const struct weir_gpu_area *a, const void *at, size_t len,
                  bool to_device, struct weir_err *err);

#endif
