/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu.h - transfer buffers in memory of a GPU: the kinds of memory, the ways of a transfer
 * between them and a file, and the device of this task.
 *
 * A program fills and checks a buffer of the host. Where the memory of the test is on a GPU, this
 * buffer has a twin there. A filled buffer is copied to the twin before a transfer, and
 * transferred data are copied back before they are checked, both outside of the measured time. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/* ---- vendor.c: the libraries of the vendors, loaded when a test needs them; no header of theirs
 * is needed to build ---- */

enum { WEIR_GPU_CUDA, WEIR_GPU_HIP, WEIR_GPU_VENDORS };

struct weir_gpu_vendor {
    const char *name; /* "CUDA" */
    struct weir_gpu_library {
        const char *prefix;  /* of its functions: "cu" */
        const char *name[5]; /* the first that is there is taken; ends with NULL */
    } driver, files;
    bool has_module; /* the properties of its library of files show a kernel module */
};
extern const struct weir_gpu_vendor weir_gpu_vendors[WEIR_GPU_VENDORS];

/* The functions of a driver: rows F(member, type, parameters, symbol of CUDA, of HIP). The prefix of
 * the library precedes a symbol; "": this vendor has no such function. A result of 0 is success, a
 * number of a device is an int, and an address on it has the size of a pointer. The types are
 * parameters: testing/system/stand-ins/gpu/signatures.c compares the rows with the vendors' headers. */
#define WEIR_GPU_DRIVER(F, result, address, context)                                               \
    F(init, result, (unsigned), Init, Init)                                                        \
    F(version, result, (int *), DriverGetVersion, RuntimeGetVersion)                               \
    F(count, result, (int *), DeviceGetCount, GetDeviceCount)                                      \
    F(get, result, (int *device, int ordinal), DeviceGet, DeviceGet)                               \
    F(name, result, (char *, int bytes, int device), DeviceGetName, DeviceGetName)                 \
    F(bus, result, (char *, int bytes, int device), DeviceGetPCIBusId, DeviceGetPCIBusId)          \
    F(retain, result, (context *, int device), DevicePrimaryCtxRetain, )                           \
    F(release, result, (int device), DevicePrimaryCtxRelease_v2, )                                 \
    F(current, result, (context), CtxSetCurrent, )                                                 \
    F(set, result, (int device), , SetDevice)                                                      \
    F(alloc, result, (address *, size_t), MemAlloc_v2, Malloc)                                     \
    F(alloc_managed, result, (address *, size_t, unsigned), MemAllocManaged, MallocManaged)        \
    F(free, result, (address), MemFree_v2, Free)                                                   \
    F(alloc_host, result, (void **, size_t, unsigned), MemHostAlloc, HostMalloc)                   \
    F(free_host, result, (void *), MemFreeHost, HostFree)                                          \
    F(to_device, result, (address, const void *, size_t), MemcpyHtoD_v2, MemcpyHtoD)               \
    F(to_host, result, (void *, address, size_t), MemcpyDtoH_v2, MemcpyDtoH)                       \
    F(synchronize, result, (void), CtxSynchronize, DeviceSynchronize)                              \
    F(cuda_text, result, (result, const char **), GetErrorString, )                                \
    F(hip_text, const char *, (result), , GetErrorString)

struct weir_gpu_driver {
#define WEIR_GPU_MEMBER(member, type, parameters, cuda, hip) type(*member) parameters;
    WEIR_GPU_DRIVER(WEIR_GPU_MEMBER, int, void *, void *)
};

/* The types of cuFile and hipFile. */
struct weir_gpu_status {
    int code, device; /* 0, or 5000 + n; an error of the driver of the device */
};

struct weir_gpu_descriptor {
    int type; /* WEIR_GPU_OF_FD */
    union {
        int fd;
        void *handle;
    } file;
    const void *operations;
};
#define WEIR_GPU_OF_FD 1

struct weir_gpu_properties {
    struct {
        unsigned major, minor; /* of the kernel module; 0: it is not loaded */
        size_t poll_threshold, max_direct_io;
        unsigned status_flags, control_flags;
    } module;
    uint64_t others[8]; /* six numbers, whose size differs between the vendors */
};

/* The functions of a library of files, as in WEIR_GPU_DRIVER. Read and write return bytes, -1 with
 * errno, or minus a code. */
#define WEIR_GPU_FILES(F, status, file, facts)                                                     \
    F(open, status, (void), DriverOpen, DriverOpen)                                                \
    F(close, status, (void), DriverClose_v2, DriverClose)                                          \
    F(version, status, (int *), GetVersion, )                                                      \
    F(properties, status, (facts *), DriverGetProperties, DriverGetProperties)                     \
    F(add, status, (void **handle, file *), HandleRegister, HandleRegister)                        \
    F(drop, void, (void *handle), HandleDeregister, HandleDeregister)                              \
    F(add_buffer, status, (const void *, size_t, int flags), BufRegister, BufRegister)             \
    F(drop_buffer, status, (const void *), BufDeregister, BufDeregister)                           \
    F(read, ssize_t, (void *, void *, size_t, off_t in_file, off_t in_buffer), Read, Read)         \
    F(write, ssize_t, (void *, const void *, size_t, off_t in_file, off_t in_buffer), Write, Write)

struct weir_gpu_files {
    WEIR_GPU_FILES(WEIR_GPU_MEMBER, struct weir_gpu_status, struct weir_gpu_descriptor,
                   struct weir_gpu_properties)
};

/* ---- gpu.c: the device of a task, and its memory ---- */

/* The kinds of memory, in the order of the values of allocateBufferOnGPU. */
enum weir_gpu_memory {
    WEIR_MEMORY_HOST,
    WEIR_MEMORY_MANAGED,     /* filled and checked by the processor */
    WEIR_MEMORY_MANAGED_GPU, /* managed, and the data are on the GPU before a transfer */
    WEIR_MEMORY_DEVICE,
    WEIR_MEMORIES
};

struct weir_gpu_memory_kind {
    const char *name;            /* in JSON: "managed" */
    const char *buffer, *access; /* the values of the rows memoryBuffer and dataAccess */
    const char *allocate;        /* for messages: "allocate managed memory"; of the host, pinned */
};
extern const struct weir_gpu_memory_kind weir_gpu_memories[WEIR_MEMORIES];

/* The ways of a transfer between a file and memory of a GPU; the values of --gpu-path. */
enum weir_gpu_path {
    WEIR_GPU_DIRECT, /* the library of the vendor moves it (cuFile) */
    WEIR_GPU_STAGED, /* a call with a pinned buffer of the host, and a copy, are the transfer */
    WEIR_GPU_MAPPED  /* the call gets the pointer */
};
extern const char *const weir_gpu_paths[]; /* ends with NULL */

/* The number of copies, their bytes and their time. */
enum { WEIR_GPU_COPIES, WEIR_GPU_COPIED, WEIR_GPU_COPY_NS, WEIR_GPU_SUMS };

/* One piece of memory: the buffer that the program has, and its twin. The first is pinned, and
 * that through which staged transfers go; or it is its own twin (managed memory). */
struct weir_gpu_area {
    char *host, *device; /* device NULL: pinned memory without a twin */
    size_t bytes;
    bool registered; /* with the library of files */
};

/* The device of this task, and its memory. */
struct weir_gpu {
    const struct weir_gpu_vendor *vendor;
    struct weir_gpu_driver driver;
    enum weir_gpu_memory memory;
    enum weir_gpu_path path;
    int device, devices; /* of those that this process sees */
    int handle;          /* of the device */
    void *context;       /* of CUDA; NULL: the device is not taken */
    char name[128];      /* of the product */
    char bus[32];        /* "0000:3b:00.0" */
    int node;            /* NUMA node; -1: not known */
    int version;         /* of the driver, as its vendor counts */
    struct weir_gpu_area *area;
    size_t areas, capacity;
    struct weir_err lost; /* a copy has failed: what weir_gpu_lost says */
    uint64_t copies[WEIR_GPU_SUMS]; /* that were a part of transfers since the last phase began */
    struct weir_gpu_files files;    /* of WEIR_GPU_DIRECT: cuFile or hipFile */
    bool files_open;
    bool files_staged;            /* no kernel module: they may go through memory of the host */
    int files_version;            /* 0: not known */
    struct weir_err unregistered; /* why buffers are not registered with the library of files,
                                   * which moves them through its own; WEIR_OK: all are */
};

/* Ways to choose the device of a task. */
#define WEIR_GPU_IN_TURN (-1)
#define WEIR_GPU_NEAR (-2)

/* All functions are local. Those with err return 0, or -1 and err.
 *
 * Load the driver of the first vendor that has a device here. Take a device, and make it that of the
 * calling thread: the one with this number, or by one of the ways above for the task with the number
 * 'turn'. NULL and err (WEIR_ESETUP): which libraries were looked for, and what they said.
 * weir_gpu_end releases it, after the last weir_gpu_give (NULL: nothing happens). */
struct weir_gpu *weir_gpu_begin(enum weir_gpu_memory memory, enum weir_gpu_path path, int device,
                                int turn, struct weir_err *err);
void weir_gpu_end(struct weir_gpu *g);

/* Make the device that of the calling thread. -1 and err with this code. */
int weir_gpu_enter(const struct weir_gpu *g, enum weir_code code, struct weir_err *err);

/* Allocate len zeroed bytes for transfers, aligned to a page (WEIR_ESETUP); without 'twin' pinned
 * memory of the host for copies, not zeroed. g NULL: weir_mem_aligned, with that alignment. */
int weir_gpu_take(struct weir_gpu *g, bool twin, void **out, size_t align, size_t len,
                  struct weir_err *err);

/* Give one of them back. NULL: nothing happens. */
void weir_gpu_give(struct weir_gpu *g, void *buffer);

/* The area with this byte of a buffer that has a twin; NULL: none has it. */
const struct weir_gpu_area *weir_gpu_area_of(const struct weir_gpu *g, const void *at);

/* Copies these bytes of a buffer to its twin in device memory, or back, outside of the time of
 * transfers. weir_gpu_lost reports a failure. g NULL: nothing happens. */
void weir_gpu_move(struct weir_gpu *g, void *at, size_t len, bool to_device);
#define weir_gpu_filled(g, at, len) ((g) ? weir_gpu_move(g, at, len, true) : (void)0)
#define weir_gpu_wanted(g, at, len) ((g) ? weir_gpu_move(g, at, len, false) : (void)0)

/* A copy that is measured: between the twin of the bytes at 'at', and memory of the host, which may
 * be these bytes. No allocation (WEIR_EIO). */
int weir_gpu_copy(struct weir_gpu *g, const void *at, void *host, size_t len, bool to_device,
                  struct weir_err *err);

/* -1 and err: a copy outside of a transfer has failed, and no data are what they should be. Why is
 * known from the first: it stays. g NULL: 0. */
int weir_gpu_lost(const struct weir_gpu *g, struct weir_err *err);

/* ---- vendor.c: calls of a library. As above: local, 0, or -1 and err ---- */

/* Load the driver of a vendor, which stays loaded, into g->driver. -1: no library, or a function
 * that it has not (WEIR_ESETUP). */
int weir_gpu_driver_begin(struct weir_gpu *g, const struct weir_gpu_vendor *vendor,
                          struct weir_err *err);

/* Load the library of files of the vendor into g->files, and open it (WEIR_ESETUP). weir_gpu_end
 * closes it. */
int weir_gpu_files_begin(struct weir_gpu *g, struct weir_err *err);

/* The status that a call of the library of files ("HandleRegister") has returned. */
int weir_gpu_files_check(const struct weir_gpu *g, struct weir_gpu_status s, enum weir_code code,
                         const char *call, struct weir_err *err);

/* A transfer by the library of files has failed: sys is errno or a code of the library, and in errno
 * afterwards, also where err is NULL. Returns -1 (WEIR_EIO). */
int weir_gpu_file_failed(const struct weir_gpu *g, bool write, int sys, struct weir_err *err);
