/* SPDX-License-Identifier: BSD-3-Clause */
/* file.c - in the place of libcufile.so.0, and with -DHIP of libhipfile.so: transfers between files and memory of the
 * stand-in device. In the environment, for the rank GPU_RANK or for all:
 *
 *   FILE_COMPAT=1     the kernel module is not loaded: compatibility mode
 *   FILE_PEER=1       NVMe devices need no such module
 *   FILE_REGISTER=E   registering a buffer returns E
 *   FILE_FAIL=N[:E]   the N-th transfer from 1 returns -E (5011), or -1 with errno EIO where E is 1
 *   FILE_OPEN=E       opening the driver returns E
 *   FILE_SHORT=N      transfers move N bytes at most
 *   FILE_LOG=FILE     at the end a line: rank, files, reads, writes, bytes, handles and buffers that were not given back */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef HIP
#include "hip.h"
#define NAME(x) hipFile##x
#define CLOSE hipFileDriverClose
typedef hipFileError_t status_t;
typedef hipFileDescr_t descriptor_t;
typedef hipFileDriverProps_t properties_t;
#else
#define NAME(x) cuFile##x
#define CLOSE cuFileDriverClose_v2
typedef struct {
    int code, device;
} status_t;
typedef struct {
    int type;
    union {
        int fd;
        void *handle;
    } handle;
    const void *operations;
} descriptor_t;
typedef struct {
    struct {
        unsigned major_version, minor_version;
        size_t poll_threshold, max_direct_io;
        unsigned driver_status_flags, control_flags;
    } nvfs;
    unsigned others[6];
} properties_t;
#endif

static int is_open, files, handles, buffers, moves[2], transfers;
static long long bytes;

static const char *rank(void)
{
    const char *r = getenv("OMPI_COMM_WORLD_RANK");

    return r ? r : "0";
}

static const char *asked(const char *name)
{
    const char *only = getenv("GPU_RANK");

    return only && strcmp(only, rank()) != 0 ? NULL : getenv(name);
}

/* Note that a failure took place. */
static void note(void)
{
    const char *path = getenv("GPU_FIRED");

    if (path)
        close(open(path, O_CREAT | O_WRONLY, 0666));
}

static status_t status(int code)
{
    return (status_t) { code, 0 };
}

status_t NAME(DriverOpen)(void)
{
    const char *code = asked("FILE_OPEN");

    is_open = !code;
    transfers = 0;
    if (code)
        note();
    return status(code ? atoi(code) : 0);
}

status_t CLOSE(void)
{
    is_open = 0;
    return status(0);
}

#ifdef HIP
status_t hipFileGetVersion(unsigned *major, unsigned *minor, unsigned *patch)
{
    *major = *patch = 0;
    *minor = 4;
    return status(0);
}
#else
status_t cuFileGetVersion(int *v)
{
    *v = 1141;
    return status(0);
}
#endif

status_t NAME(DriverGetProperties)(properties_t *p)
{
    memset(p, 0, sizeof(*p));
    p->nvfs.major_version = asked("FILE_COMPAT") ? 0 : 2;
    p->nvfs.driver_status_flags = asked("FILE_PEER") ? 1u << 11 : 1u << 4;
    return status(0);
}

status_t NAME(HandleRegister)(void **handle, descriptor_t *d)
{
    if (!is_open)
        return status(5001);
    if (d->type != 1)
        return status(5018);
    if (!(fcntl(d->handle.fd, F_GETFL) & O_DIRECT))
        return status(5020);
    files++;
    handles++;
    *handle = malloc(sizeof(int));
    **(int **)handle = d->handle.fd;
    return status(0);
}

void NAME(HandleDeregister)(void *handle)
{
    handles--;
    free(handle);
}

status_t NAME(BufRegister)(const void *p, size_t n, int flags)
{
    const char *code = asked("FILE_REGISTER");
    int rc = !p || n == 0 || flags != 0 ? 5022 : code ? atoi(code) : 0;

    buffers += rc == 0;
    return status(rc);
}

status_t NAME(BufDeregister)(const void *p)
{
    buffers -= p != NULL;
    return status(0);
}

/* The N-th transfer is the one that fails. 0: it is another one. */
static ssize_t failure(void)
{
    const char *text = asked("FILE_FAIL");
    int at = 0, error = 5011;

    if (text)
        sscanf(text, "%d:%d", &at, &error);
    if (__atomic_add_fetch(&transfers, 1, __ATOMIC_RELAXED) != at)
        return 0;
    note();
    errno = EIO;
    return -error;
}

static ssize_t move(void *handle, int writes, void *device, size_t n, off_t in_file, off_t in_buffer)
{
    void *(*shadow)(const void *) = NULL;
    int (*ready)(void) = NULL;
    const char *most = asked("FILE_SHORT");
    ssize_t rc = failure();
    char *at;

    *(void **)&shadow = dlsym(RTLD_DEFAULT, "stand_in_shadow");
    *(void **)&ready = dlsym(RTLD_DEFAULT, "stand_in_ready");
    if (rc < 0 || !shadow || !ready || !ready() || !handle)
        return rc < 0 ? rc : -5011;
    at = (char *)shadow((char *)device + in_buffer);
    if (most && n > (size_t)atoi(most))
        n = (size_t)atoi(most);
    rc = writes ? pwrite(*(int *)handle, at, n, in_file) : pread(*(int *)handle, at, n, in_file);
    __atomic_add_fetch(&moves[writes], 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&bytes, rc > 0 ? rc : 0, __ATOMIC_RELAXED);
    return rc;
}

ssize_t NAME(Read)(void *handle, void *device, size_t n, off_t in_file, off_t in_buffer)
{
    return move(handle, 0, device, n, in_file, in_buffer);
}

ssize_t NAME(Write)(void *handle, const void *device, size_t n, off_t in_file, off_t in_buffer)
{
    return move(handle, 1, (void *)device, n, in_file, in_buffer);
}

__attribute__((destructor)) static void tell(void)
{
    const char *path = getenv("FILE_LOG");
    FILE *f = path && files > 0 ? fopen(path, "a") : NULL;

    if (!f)
        return;
    fprintf(f, "%s %d %d %d %lld %d %d\n", rank(), files, moves[0], moves[1], bytes, handles, buffers);
    fclose(f);
}
