/* SPDX-License-Identifier: BSD-3-Clause */
/* file.c - in the place of libcufile.so.0, and with -DHIP of libhipfile.so: transfers between files and memory of the
 * stand-in device. In the environment, for the rank GPU_RANK or for all:
 *
 *   FILE_COMPAT=1     the kernel module is not loaded: compatibility mode
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
#define NAME(x) hipFile##x
#else
#define NAME(x) cuFile##x
#endif

struct status {
    int code, device;
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
        unsigned major, minor;
        size_t poll_threshold, max_direct_io;
        unsigned status_flags, control_flags;
    } module;
    unsigned others[6];
};

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

static struct status status(int code)
{
    return (struct status) { code, 0 };
}

struct status NAME(DriverOpen)(void)
{
    const char *code = asked("FILE_OPEN");

    is_open = !code;
    transfers = 0;
    if (code)
        note();
    return status(code ? atoi(code) : 0);
}

struct status NAME(DriverClose_v2)(void)
{
    is_open = 0;
    return status(0);
}

struct status NAME(GetVersion)(int *v)
{
    *v = 1141;
    return status(0);
}

struct status NAME(DriverGetProperties)(struct properties *p)
{
    memset(p, 0, sizeof(*p));
    p->module.major = asked("FILE_COMPAT") ? 0 : 2;
    return status(0);
}

struct status NAME(HandleRegister)(void **handle, struct descriptor *d)
{
    if (!is_open)
        return status(5001);
    if (d->type != 1)
        return status(5018);
    if (!(fcntl(d->file.fd, F_GETFL) & O_DIRECT))
        return status(5020);
    files++;
    handles++;
    *handle = malloc(sizeof(int));
    **(int **)handle = d->file.fd;
    return status(0);
}

void NAME(HandleDeregister)(void *handle)
{
    handles--;
    free(handle);
}

struct status NAME(BufRegister)(const void *p, size_t n, int flags)
{
    buffers += p && n > 0 && flags == 0;
    return status(p && n > 0 && flags == 0 ? 0 : 5022);
}

struct status NAME(BufDeregister)(const void *p)
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
    const char *most = asked("FILE_SHORT");
    ssize_t rc = failure();
    char *at;

    *(void **)&shadow = dlsym(RTLD_DEFAULT, "stand_in_shadow");
    if (rc < 0 || !shadow || !handle)
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
