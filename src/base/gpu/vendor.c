/* SPDX-License-Identifier: BSD-3-Clause */
/* vendor.c - the libraries of NVIDIA (the driver's own interface, libcuda.so.1, and cuFile) and AMD
 * (libamdhip64.so and hipFile) */
#include "base/gpu/gpu.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

const struct weir_gpu_vendor weir_gpu_vendors[WEIR_GPU_VENDORS] = {
    { "CUDA", { "cu", { "libcuda.so.1" } }, { "cuFile", { "libcufile.so.0" } }, true },
    { "HIP",
      { "hip", { "libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5" } },
      { "hipFile", { "libhipfile.so", "libhipfile.so.0" } },
      false },
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

#define CODES 5000              /* errors of the library begin here */
#define PEER_TO_PEER (1u << 11) /* status flag: NVMe devices need no kernel module */

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

int weir_gpu_files_check(const struct weir_gpu *g, struct weir_gpu_status s, enum weir_code code,
                         const char *call, struct weir_err *err)
{
    const char *reason = "an error of the library";

    if (s.code == 0)
        return 0;
    for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++)
        if (reasons[i].code == s.code)
            reason = reasons[i].text;
    return weir_refuse(err, code, "%s%s: %s (code %d%s%.0d)", g->vendor->files.prefix, call, reason,
                       s.code, s.device ? ", device error " : "", s.device);
}

int weir_gpu_files_begin(struct weir_gpu *g, struct weir_err *err)
{
    static names_of names[] = { WEIR_GPU_FILES(NAMES, , , ) { NULL } };
    struct weir_gpu_properties known = { 0 };

    _Static_assert(sizeof(names) / sizeof(*names) - 1 == sizeof(g->files) / sizeof(void *),
                   "a pointer for each name, and nothing else");
    if (load(g->vendor, &g->vendor->files, names, &g->files, err) < 0 ||
        weir_gpu_files_check(g, g->files.open(), WEIR_ESETUP, "DriverOpen", err) < 0)
        return -1;
    g->files_open = true;
    if (g->files.version)
        g->files.version(&g->files_version);
    if (weir_gpu_files_check(g, g->files.properties(&known), WEIR_ESETUP, "DriverGetProperties",
                             err) < 0)
        return -1;
    g->files_staged = g->vendor->has_module && known.module.major == 0 &&
                      !(known.module.status_flags & PEER_TO_PEER);
    return 0;
}

int weir_gpu_file_failed(const struct weir_gpu *g, bool write, int sys, struct weir_err *err)
{
    const char *call = write ? "Write" : "Read";

    errno = sys;
    if (sys < CODES)
        return weir_fail(err, WEIR_EIO, "%s%s", g->vendor->files.prefix, call);
    weir_gpu_files_check(g, (struct weir_gpu_status) { sys, 0 }, WEIR_EIO, call, err);
    if (err)
        err->sys = EIO;
    return -1;
}
