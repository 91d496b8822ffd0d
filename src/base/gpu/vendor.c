/* SPDX-License-Identifier: BSD-3-Clause */
/* vendor.c - GPUs of NVIDIA (the driver's own interface, libcuda.so.1) and of AMD (libamdhip64.so)
 *
 * Most functions of the two differ in their names only: a number of a device is an int, and an
 * address on it has the size of a pointer. */
#include "config.h"
#include "base/gpu/vendor.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

#define ATTACH_GLOBAL 1u /* managed memory for all streams */
enum { TO_DEVICE = 1, TO_HOST = 2 };

typedef int result; /* 0: success */

struct weir_gpu_driver {
    const struct weir_gpu_vendor *vendor;
    result (*init)(unsigned flags);
    result (*version)(int *);
    result (*count)(int *);
    result (*name)(char *, int bytes, int device);
    result (*bus)(char *, int bytes, int device);
    result (*alloc)(void **, size_t);
    result (*alloc_managed)(void **, size_t, unsigned flags);
    result (*free)(void *);
    result (*alloc_host)(void **, size_t, unsigned flags);
    result (*free_host)(void *);
    /* CUDA */
    result (*get)(int *device, int ordinal);
    result (*retain)(void **context, int device);
    result (*release)(int device);
    result (*current)(void *context);
    result (*to_device)(void *, const void *, size_t);
    result (*to_host)(void *, const void *, size_t);
    result (*synchronize)(void);
    result (*cuda_text)(result, const char **);
    /* HIP */
    result (*set)(int device);
    result (*copy)(void *to, const void *from, size_t, int kind);
    result (*synchronize_stream)(void *stream);
    const char *(*hip_text)(result);
    void *context;
    int device;
};

#define AT(member) offsetof(struct weir_gpu_driver, member)
static const struct weir_gpu_symbol cuda_symbols[] = {
    { "Init", AT(init) },
    { "DriverGetVersion", AT(version) },
    { "DeviceGetCount", AT(count) },
    { "DeviceGet", AT(get) },
    { "DeviceGetName", AT(name) },
    { "DeviceGetPCIBusId", AT(bus) },
    { "MemAlloc_v2", AT(alloc) },
    { "MemAllocManaged", AT(alloc_managed) },
    { "MemFree_v2", AT(free) },
    { "MemHostAlloc", AT(alloc_host) },
    { "MemFreeHost", AT(free_host) },
    { "DevicePrimaryCtxRetain", AT(retain) },
    { "DevicePrimaryCtxRelease_v2", AT(release) },
    { "CtxSetCurrent", AT(current) },
    { "MemcpyHtoD_v2", AT(to_device) },
    { "MemcpyDtoH_v2", AT(to_host) },
    { "CtxSynchronize", AT(synchronize) },
    { "GetErrorString", AT(cuda_text) },
    { NULL, 0 },
};

static const struct weir_gpu_symbol hip_symbols[] = {
    { "Init", AT(init) },
    { "RuntimeGetVersion", AT(version) },
    { "GetDeviceCount", AT(count) },
    { "DeviceGetName", AT(name) },
    { "DeviceGetPCIBusId", AT(bus) },
    { "Malloc", AT(alloc) },
    { "MallocManaged", AT(alloc_managed) },
    { "Free", AT(free) },
    { "HostMalloc", AT(alloc_host) },
    { "HostFree", AT(free_host) },
    { "SetDevice", AT(set) },
    { "Memcpy", AT(copy) },
    { "StreamSynchronize", AT(synchronize_stream) },
    { "GetErrorString", AT(hip_text) },
    { NULL, 0 },
};
#undef AT

static const char *const cuda[] = { "libcuda.so.1", NULL };
static const char *const cufile[] = { "libcufile.so.0", NULL };
static const char *const hip[] = { "libamdhip64.so", "libamdhip64.so.6", "libamdhip64.so.7", NULL };
static const char *const hipfile[] = { "libhipfile.so", NULL };

const struct weir_gpu_vendor weir_gpu_vendors[] = {
    { "CUDA", cuda, cufile, "cu", "cuFile", cuda_symbols, 1 },
    { "HIP", hip, hipfile, "hip", "hipFile", hip_symbols, 0 },
    { .name = NULL },
};

/* ---- the library ---- */

/* The first that can be loaded, or NULL and why none can. Others of the vendor look into it. */
static void *open_first(const char *const *libraries, struct weir_err *err)
{
    struct weir_str reasons = { 0 };
    void *library = NULL;

    for (const char *const *name = libraries; *name && !library; name++) {
        library = dlopen(*name, RTLD_NOW | RTLD_GLOBAL);
        weir_str_addf(&reasons, "%s%s", name == libraries ? "" : "; ", library ? "" : dlerror());
    }
    if (!library)
        weir_refuse(err, WEIR_ESETUP, "%s (the dynamic linker also looks in LD_LIBRARY_PATH)",
                    weir_str_text(&reasons));
    weir_str_free(&reasons);
    return library;
}

int weir_gpu_load(const char *const *libraries, const char *prefix,
                  const struct weir_gpu_symbol *symbols, void *out, struct weir_err *err)
{
    void *library = open_first(libraries, err), *function;
    char name[64];

    for (; library && symbols->name; symbols++) {
        snprintf(name, sizeof(name), "%s%s", prefix, symbols->name);
        function = dlsym(library, name);
        if (!function)
            return weir_refuse(err, WEIR_ESETUP, "%s", dlerror());
        memcpy((char *)out + symbols->offset, &function, sizeof(function));
    }
    return library ? 0 : -1;
}

static int check(const struct weir_gpu_driver *d, result rc, enum weir_code code, const char *doing,
                 struct weir_err *err)
{
    const char *text = NULL;

    if (rc == 0)
        return 0;
    if (d->hip_text)
        text = d->hip_text(rc);
    else if (d->cuda_text(rc, &text) != 0)
        text = NULL;
    return weir_refuse(err, code, "%s: %s: %s (error %d)", d->vendor->name, doing,
                       text ? text : "the driver has no text for this error", rc);
}

int weir_gpu_driver_begin(struct weir_gpu_driver **out, const struct weir_gpu_vendor *vendor,
                          int *devices, struct weir_err *err)
{
    struct weir_gpu_driver *d = *out = calloc(1, sizeof(*d));

    *devices = 0;
    if (!d)
        return weir_fail(err, WEIR_ESETUP, "memory for the driver %s", vendor->name);
    d->vendor = vendor;
    if (weir_gpu_load(vendor->libraries, vendor->prefix, vendor->symbols, d, err) == 0 &&
        check(d, d->init(0), WEIR_ESETUP, "initialise the driver", err) == 0 &&
        check(d, d->count(devices), WEIR_ESETUP, "count devices", err) == 0)
        return 0;
    free(d);
    *out = NULL;
    return -1;
}

void weir_gpu_driver_end(struct weir_gpu_driver *d)
{
    if (d && d->context)
        d->release(d->device);
    free(d);
}

/* ---- the device ---- */

int weir_gpu_driver_enter(struct weir_gpu_driver *d, struct weir_err *err)
{
    result rc = d->set ? d->set(d->device) : d->current(d->context);

    return check(d, rc, WEIR_EIO, "set the device of a thread", err);
}

/* The device with this number, from 0. */
static result find(struct weir_gpu_driver *d, int ordinal)
{
    d->device = ordinal;
    return d->get ? d->get(&d->device, ordinal) : 0;
}

int weir_gpu_driver_use(struct weir_gpu_driver *d, int ordinal, struct weir_err *err)
{
    result rc = find(d, ordinal);

    if (rc == 0 && d->retain)
        rc = d->retain(&d->context, d->device);
    if (check(d, rc, WEIR_ESETUP, "take the device", err) < 0)
        return -1;
    return weir_gpu_driver_enter(d, err);
}

int weir_gpu_driver_describe(struct weir_gpu_driver *d, int ordinal, struct weir_gpu_facts *out,
                             struct weir_err *err)
{
    result rc = find(d, ordinal);

    if (rc == 0)
        rc = d->name(out->name, sizeof(out->name), d->device);
    if (rc == 0)
        rc = d->bus(out->bus, sizeof(out->bus), d->device);
    if (rc == 0)
        rc = d->version(&out->version);
    return check(d, rc, WEIR_ESETUP, "describe the device", err);
}

int weir_gpu_driver_take(struct weir_gpu_driver *d, enum weir_gpu_room room, size_t bytes,
                         void **out, struct weir_err *err)
{
    result rc = room == WEIR_GPU_PINNED    ? d->alloc_host(out, bytes, d->vendor->pinned)
                : room == WEIR_GPU_MANAGED ? d->alloc_managed(out, bytes, ATTACH_GLOBAL)
                                           : d->alloc(out, bytes);

    return check(d, rc, WEIR_ESETUP,
                 room == WEIR_GPU_PINNED    ? "allocate pinned memory"
                 : room == WEIR_GPU_MANAGED ? "allocate managed memory"
                                            : "allocate memory of the device",
                 err);
}

void weir_gpu_driver_give(struct weir_gpu_driver *d, enum weir_gpu_room room, void *p)
{
    if (room == WEIR_GPU_PINNED)
        d->free_host(p);
    else
        d->free(p);
}

int weir_gpu_driver_copy(struct weir_gpu_driver *d, void *to, const void *from, size_t bytes,
                         bool to_device, struct weir_err *err)
{
    result rc = d->copy     ? d->copy(to, from, bytes, to_device ? TO_DEVICE : TO_HOST)
                : to_device ? d->to_device(to, from, bytes)
                            : d->to_host(to, from, bytes);

    if (rc == 0) /* from memory of the host that is not pinned a copy may return before its end */
        rc = d->synchronize_stream ? d->synchronize_stream(NULL) : d->synchronize();
    return check(d, rc, WEIR_EIO, to_device ? "copy to the device" : "copy from the device", err);
}
