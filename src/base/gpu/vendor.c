/* SPDX-License-Identifier: BSD-3-Clause */
/* vendor.c - the libraries of NVIDIA (the driver's own interface, libcuda.so.1, and cuFile) and AMD
 * (libamdhip64.so and hipFile) */
#include "base/gpu/gpu.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

const struct weir_gpu_vendor weir_gpu_vendors[WEIR_GPU_VENDORS] = {
    { "CUDA", { "cu", { "libcuda.so.1" } }, { "cuFile", { "libcufile.so.0" } }, 1 },
    { "HIP",
      { "hip", { "libamdhip64.so", "libamdhip64.so.6", "libamdhip64.so.7" } },
      { "hipFile", { "libhipfile.so" } },
      0 },
};

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

/* The names of the functions of a list, in its order, without their prefix; "": there is none. */
typedef const char *const names_of[WEIR_GPU_VENDORS];
#define NAMES(member, type, parameters, cuda, hip) { #cuda, #hip },

/* The addresses of the functions of a library, which stays loaded, into pointers at 'out'. */
static int load(const struct weir_gpu_vendor *vendor, const struct weir_gpu_library *library,
                names_of *name, void *out, struct weir_err *err)
{
    void *loaded = open_first(library->name, err), *function;
    const ptrdiff_t which = vendor - weir_gpu_vendors;
    char text[64];

    for (size_t i = 0; loaded && name[i][which]; i++) {
        if (!*name[i][which])
            continue;
        snprintf(text, sizeof(text), "%s%s", library->prefix, name[i][which]);
        function = dlsym(loaded, text);
        if (!function)
            return weir_refuse(err, WEIR_ESETUP, "%s", dlerror());
        memcpy((char *)out + i * sizeof(function), &function, sizeof(function));
    }
    return loaded ? 0 : -1;
}

int weir_gpu_driver_begin(struct weir_gpu *g, const struct weir_gpu_vendor *vendor,
                          struct weir_err *err)
{
    static names_of names[] = { WEIR_GPU_DRIVER(NAMES, , , ) { NULL } };

    _Static_assert(sizeof(names) / sizeof(*names) - 1 == sizeof(g->driver) / sizeof(void *),
                   "a pointer for each name, and nothing else");
    g->vendor = vendor;
    g->driver = (struct weir_gpu_driver) { 0 };
    return load(vendor, &vendor->driver, names, &g->driver, err);
}

/* ---- files ---- */

#define DESCRIPTOR 1 /* type of a handle: of a file descriptor */
#define CODES 5000   /* errors of the library begin here */

/* The types of the interface, for which there is no header. */
struct status {
    int code, device; /* 0, or 5000 + n; an error of the driver of the device */
};

struct descriptor {
    int type;
    union {
        int fd;
        void *handle;
    } file;
    const void *operations;
};

struct properties {
    struct {
        unsigned major, minor; /* of the kernel module; 0: it is not loaded */
        size_t poll_threshold, max_direct_io;
        unsigned status_flags, control_flags;
    } module;
    unsigned feature_flags, max_device_cache, per_buffer_cache, max_pinned, max_batch, max_batch_ms;
};

/* The functions, as in WEIR_GPU_DRIVER, with the same names after both prefixes. */
#define FILES(F, status, file, facts)                                                              \
    F(open, status, (void), DriverOpen, DriverOpen)                                                \
    F(close, status, (void), DriverClose_v2, DriverClose_v2)                                       \
    F(version, status, (int *), GetVersion, GetVersion)                                            \
    F(properties, status, (facts *), DriverGetProperties, DriverGetProperties)                     \
    F(add, status, (void **handle, file *), HandleRegister, HandleRegister)                        \
    F(drop, void, (void *handle), HandleDeregister, HandleDeregister)                              \
    F(add_buffer, status, (const void *, size_t, int flags), BufRegister, BufRegister)             \
    F(drop_buffer, status, (const void *), BufDeregister, BufDeregister)                           \
    F(read, ssize_t, (void *, void *, size_t, off_t in_file, off_t in_buffer), Read, Read)         \
    F(write, ssize_t, (void *, const void *, size_t, off_t in_file, off_t in_buffer), Write, Write)

struct weir_gpu_files {
    FILES(WEIR_GPU_MEMBER, struct status, struct descriptor, struct properties)
    const char *prefix; /* of the functions */
    bool is_open;
};

static const struct {
    int code;
    const char *text;
} reasons[] = {
    { 5001,
      "the kernel module for direct transfers (nvidia_fs) is not loaded, and the configuration "
      "(CUFILE_ENV_PATH_JSON) does not allow compatibility mode" },
    { 5007, "the platform is not supported" },
    { 5008,
      "the file is not supported: its file system has no direct transfers, and the configuration "
      "does not allow compatibility mode" },
    { 5011, "an error of the driver of the device" },
    { 5018, "the type of the file is not supported" },
    { 5020, "the file was not opened with O_DIRECT (--posix.odirect)" },
    { 5033, "the library could not be set up; its file cufile.log has the reason" },
    { 5034, "the configuration (CUFILE_ENV_PATH_JSON) has switched it off" },
};

static int check(const struct weir_gpu_files *l, struct status s, enum weir_code code,
                 const char *call, struct weir_err *err)
{
    const char *reason = "an error of the library";

    if (s.code == 0)
        return 0;
    for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++)
        if (reasons[i].code == s.code)
            reason = reasons[i].text;
    return weir_refuse(err, code, "%s%s: %s (code %d%s%.0d)", l->prefix, call, reason, s.code,
                       s.device ? ", device error " : "", s.device);
}

int weir_gpu_files_begin(struct weir_gpu *g, struct weir_err *err)
{
    struct weir_gpu_files *l = g->files = calloc(1, sizeof(*l));
    static names_of names[] = { FILES(NAMES, , , ) { NULL } };
    struct properties known = { 0 };

    if (!l)
        return weir_fail(err, WEIR_ESETUP, "memory for %s", g->vendor->files.prefix);
    l->prefix = g->vendor->files.prefix;
    if (load(g->vendor, &g->vendor->files, names, l, err) < 0 ||
        check(l, l->open(), WEIR_ESETUP, "DriverOpen", err) < 0)
        return -1;
    l->is_open = true;
    l->version(&g->files_version);
    if (check(l, l->properties(&known), WEIR_ESETUP, "DriverGetProperties", err) < 0)
        return -1;
    g->files_staged = known.module.major == 0;
    return 0;
}

void weir_gpu_files_end(struct weir_gpu_files *l)
{
    if (l && l->is_open)
        l->close();
    free(l);
}

int weir_gpu_files_register(struct weir_gpu_files *l, const void *device, size_t bytes,
                            struct weir_err *err)
{
    return check(l, l->add_buffer(device, bytes, 0), WEIR_ESETUP, "BufRegister", err);
}

void weir_gpu_files_deregister(struct weir_gpu_files *l, const void *device)
{
    l->drop_buffer(device);
}

int weir_gpu_file_open(struct weir_gpu_files *l, int fd, void **handle, struct weir_err *err)
{
    struct descriptor d = { .type = DESCRIPTOR, .file.fd = fd };

    return check(l, l->add(handle, &d), WEIR_EIO, "HandleRegister", err);
}

void weir_gpu_file_close(struct weir_gpu_files *l, void *handle)
{
    l->drop(handle);
}

int weir_gpu_file_failed(const struct weir_gpu_files *l, bool write, int sys, struct weir_err *err)
{
    const char *call = write ? "Write" : "Read";

    if (sys >= CODES) {
        check(l, (struct status) { sys, 0 }, WEIR_EIO, call, err);
        if (err)
            err->sys = EIO;
        return -1;
    }
    errno = sys;
    return weir_fail(err, WEIR_EIO, "%s%s", l->prefix, call);
}

ssize_t weir_gpu_file_move(struct weir_gpu_files *l, void *handle, bool write, void *device,
                           size_t len, off_t off, off_t at, struct weir_err *err)
{
    ssize_t n = write ? l->write(handle, device, len, off, at)
                      : l->read(handle, device, len, off, at);
    int sys = n < -1 ? (int)-n : errno; /* -1: the reason is in errno; below: minus a code */

    if (n >= 0)
        return n;
    weir_gpu_file_failed(l, write, sys, err);
    errno = sys;
    return -1;
}
