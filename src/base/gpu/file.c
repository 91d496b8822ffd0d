/* SPDX-License-Identifier: BSD-3-Clause */
/* file.c - cuFile and hipFile, whose functions are alike but for their names */
#include "config.h"
#include "base/gpu/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DESCRIPTOR 1 /* type of a handle: of a file descriptor */

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

struct weir_gpu_files {
    const char *prefix; /* of the functions */
    struct status (*open)(void);
    struct status (*close)(void);
    struct status (*version)(int *);
    struct status (*properties)(struct properties *);
    struct status (*add)(void **handle, struct descriptor *);
    void (*drop)(void *handle);
    struct status (*add_buffer)(const void *, size_t, int flags);
    struct status (*drop_buffer)(const void *);
    ssize_t (*read)(void *handle, void *, size_t, off_t in_file, off_t in_buffer);
    ssize_t (*write)(void *handle, const void *, size_t, off_t in_file, off_t in_buffer);
    struct properties known;
    int version_known;
    bool is_open;
};

#define AT(member) offsetof(struct weir_gpu_files, member)
static const struct weir_gpu_symbol symbols[] = {
    { "DriverOpen", AT(open) },
    { "DriverClose_v2", AT(close) },
    { "GetVersion", AT(version) },
    { "DriverGetProperties", AT(properties) },
    { "HandleRegister", AT(add) },
    { "HandleDeregister", AT(drop) },
    { "BufRegister", AT(add_buffer) },
    { "BufDeregister", AT(drop_buffer) },
    { "Read", AT(read) },
    { "Write", AT(write) },
    { NULL, 0 },
};
#undef AT

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

static const char *reason_of(int code)
{
    for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++)
        if (reasons[i].code == code)
            return reasons[i].text;
    return "an error of the library";
}

static int check(const struct weir_gpu_files *l, struct status s, enum weir_code code,
                 const char *call, struct weir_err *err)
{
    if (s.code == 0)
        return 0;
    return weir_refuse(err, code, "%s%s: %s (code %d%s%.0d)", l->prefix, call, reason_of(s.code),
                       s.code, s.device ? ", device error " : "", s.device);
}

int weir_gpu_files_begin(struct weir_gpu_files **out, const struct weir_gpu_vendor *vendor,
                         struct weir_err *err)
{
    struct weir_gpu_files *l = *out = calloc(1, sizeof(*l));

    if (!l)
        return weir_fail(err, WEIR_ESETUP, "memory for %s", vendor->file_prefix);
    l->prefix = vendor->file_prefix;
    if (weir_gpu_load(vendor->file_libraries, l->prefix, symbols, l, err) < 0 ||
        check(l, l->open(), WEIR_ESETUP, "DriverOpen", err) < 0)
        return -1;
    l->is_open = true;
    l->version(&l->version_known);
    return check(l, l->properties(&l->known), WEIR_ESETUP, "DriverGetProperties", err);
}

void weir_gpu_files_end(struct weir_gpu_files *l)
{
    if (l && l->is_open)
        l->close();
    free(l);
}

bool weir_gpu_files_are_staged(const struct weir_gpu_files *l)
{
    return l && l->known.module.major == 0;
}

int weir_gpu_files_version(const struct weir_gpu_files *l)
{
    return l ? l->version_known : 0;
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

    *handle = NULL;
    return check(l, l->add(handle, &d), WEIR_EIO, "HandleRegister", err);
}

void weir_gpu_file_close(struct weir_gpu_files *l, void *handle)
{
    l->drop(handle);
}

/* -1: the reason is in errno; below: minus a code. */
static ssize_t explain(const struct weir_gpu_files *l, ssize_t rc, const char *call,
                       struct weir_err *err)
{
    int sys = errno;

    if (rc < -1)
        return check(l, (struct status) { (int)-rc, 0 }, WEIR_EIO, call, err);
    weir_fail(err, WEIR_EIO, "%s%s", l->prefix, call);
    if (err)
        err->sys = sys;
    return -1;
}

ssize_t weir_gpu_file_move(struct weir_gpu_files *l, void *handle, const struct weir_gpu_move *m,
                           struct weir_err *err)
{
    ssize_t n = m->write ? l->write(handle, m->device, m->len, m->off, m->in_buffer)
                         : l->read(handle, m->device, m->len, m->off, m->in_buffer);

    return n < 0 ? explain(l, n, m->write ? "Write" : "Read", err) : n;
}
