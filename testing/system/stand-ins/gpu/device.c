/* SPDX-License-Identifier: BSD-3-Clause */
/* device.c - in the place of libcuda.so.1, and with -DHIP of libamdhip64.so: memory of a device that the processor
 * cannot touch. Its bytes are in memory that has two mappings: the address that a program gets has no access, and
 * the copies use the other one. What is asked for stands in the environment, for the rank GPU_RANK or for all:
 *
 *   GPU_DEVICES=N         so many devices (2)
 *   GPU_FAIL=CALL:N[:E]   the N-th call (alloc, managed, host, in, out, copy, use) from 1 returns the error E (2); a copy is
 *                         'in' or 'out', and 'copy'; 'use' takes the device, or makes it that of a thread;
 *                         N+: and so do all calls after it, of every kind: the device is lost
 *   GPU_CORRUPT=N         the N-th copy to the host flips a bit of its first byte
 *   GPU_DELAY_US=N        a copy takes so long
 *   GPU_MANAGED=hidden    the processor cannot touch managed memory, either
 *   GPU_LOG=FILE          at the end a line: rank, device, allocations, copies to the device, to the host, bytes, what
 *                         was not given back
 *   GPU_FIRED=FILE        is made where one of the above failed or flipped
 *
 * Calls are counted from the initialisation of the driver, which fails when memory was not given back before. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOST 4096

static struct piece {
    char *address, *shadow;
    size_t bytes;
    int hidden;
} pieces[MOST];
static int n_pieces, made, device, to_device, to_host;
static long long bytes_copied;

/* Has this thread a device? Also for the stand-in of cuFile. */
static __thread int has_device;

__attribute__((visibility("default"))) int stand_in_ready(void)
{
    return has_device;
}

static const char *rank(void)
{
    const char *r = getenv("OMPI_COMM_WORLD_RANK");

    if (!r)
        r = getenv("PMI_RANK");
    return r ? r : "0";
}

static const char *asked(const char *name)
{
    const char *only = getenv("GPU_RANK");

    return only && strcmp(only, rank()) != 0 ? NULL : getenv(name);
}

static int calls[8], is_lost, outward;

static int begin(unsigned flags)
{
    memset(calls, 0, sizeof(calls));
    is_lost = outward = 0;
    return n_pieces > 0 ? 999 : (int)flags;
}

/* Note that a failure took place. */
static void note(void)
{
    const char *path = getenv("GPU_FIRED");

    if (path)
        close(open(path, O_CREAT | O_WRONLY, 0666));
}

/* Is this call the one that fails? The error, or 0. */
static int fails(const char *call)
{
    static const char *const names[] = { "alloc", "managed", "host", "in", "out", "copy", "use" };
    const char *text = asked("GPU_FAIL"), *more;
    size_t len = strlen(call);
    int i = 0, at, error, n;

    while (strcmp(names[i], call) != 0)
        i++;
    n = __atomic_add_fetch(&calls[i], 1, __ATOMIC_RELAXED); /* threads come here, too */
    if (is_lost)
        return is_lost;
    if (!text || strncmp(text, call, len) != 0 || text[len] != ':')
        return 0;
    at = atoi(text + len + 1);
    more = strchr(text + len + 1, ':');
    error = more ? atoi(more + 1) : 2;
    if (n != at)
        return 0;
    if (strchr(text, '+'))
        is_lost = error;
    note();
    return error;
}

static struct piece *piece_of(const void *p)
{
    for (int i = 0; i < n_pieces; i++)
        if ((const char *)p >= pieces[i].address && (const char *)p < pieces[i].address + pieces[i].bytes)
            return &pieces[i];
    return NULL;
}

/* Where the bytes at this address are for the processor. Also for the stand-in of cuFile. */
__attribute__((visibility("default"))) void *stand_in_shadow(const void *p)
{
    struct piece *at = piece_of(p);

    return at ? at->shadow + ((const char *)p - at->address) : (void *)(uintptr_t)p;
}

static int make(void **out, size_t bytes, int hidden)
{
    int fd = memfd_create("device", 0);
    struct piece *p = &pieces[n_pieces];

    if (fd < 0 || ftruncate(fd, (off_t)bytes) < 0 || n_pieces == MOST)
        return 2;
    p->bytes = bytes;
    p->hidden = hidden;
    p->address = mmap(NULL, bytes, hidden ? PROT_NONE : PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    p->shadow = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (p->address == MAP_FAILED || p->shadow == MAP_FAILED)
        return 2;
    memset(p->shadow, 0xee, bytes);
    n_pieces++;
    made++;
    *out = p->address;
    return 0;
}

static int make_device(void **out, size_t bytes)
{
    int rc = fails("alloc");

    return rc ? rc : make(out, bytes, 1);
}

static int make_managed(void **out, size_t bytes)
{
    const char *way = getenv("GPU_MANAGED");
    int rc = fails("managed");

    return rc ? rc : make(out, bytes, way && strcmp(way, "hidden") == 0);
}

static int make_host(void **out, size_t bytes)
{
    int rc = fails("host");

    return rc ? rc : make(out, bytes, 0);
}

static int drop(void *address)
{
    struct piece *p = piece_of(address);

    if (!p || p->address != address)
        return 1;
    munmap(p->address, p->bytes);
    munmap(p->shadow, p->bytes);
    *p = pieces[--n_pieces];
    return 0;
}

static int copy(void *to, const void *from, size_t bytes, int inward)
{
    const char *corrupt = asked("GPU_CORRUPT"), *delay = asked("GPU_DELAY_US");
    char *target = stand_in_shadow(to);
    int way = fails(inward ? "in" : "out"), rc = fails("copy");

    if (way || rc || !has_device)
        return way ? way : rc ? rc : 201;
    if (!piece_of(inward ? to : from)) /* not an address of the device */
        return 1;
    if (delay)
        usleep((unsigned)atoi(delay));
    memcpy(target, stand_in_shadow(from), bytes);
    *(inward ? &to_device : &to_host) += 1;
    outward += !inward;
    if (corrupt && !inward && atoi(corrupt) == outward) {
        *target ^= 1;
        note();
    }
    bytes_copied += (long long)bytes;
    return 0;
}

static int count(int *out)
{
    const char *n = asked("GPU_DEVICES");

    *out = n ? atoi(n) : 2;
    return 0;
}

/* The device becomes that of the thread. */
static int use(int ordinal)
{
    int rc = fails("use");

    if (ordinal >= 0)
        device = ordinal;
    has_device = rc == 0;
    return rc;
}

static int name(char *out, int bytes, int ordinal)
{
    snprintf(out, (size_t)bytes, "Stand-in %d", ordinal);
    return 0;
}

static int bus(char *out, int bytes, int ordinal)
{
    snprintf(out, (size_t)bytes, "0000:%02X:00.0", 0xa0 + ordinal);
    return 0;
}

static const char *text_of(int e)
{
    return e == 2 ? "out of memory" : e == 700 ? "an illegal memory access was encountered" : "another error";
}

__attribute__((destructor)) static void tell(void)
{
    const char *path = getenv("GPU_LOG");
    FILE *f = path && made + to_device + to_host > 0 ? fopen(path, "a") : NULL;

    if (!f)
        return;
    fprintf(f, "%s %d %d %d %d %lld %d\n", rank(), device, made, to_device, to_host, bytes_copied, n_pieces);
    fclose(f);
}

#ifdef HIP
#include "hip.h"

int hipInit(unsigned flags) { return begin(flags); }
int hipRuntimeGetVersion(int *v) { return *v = 60300, 0; }
int hipGetDeviceCount(int *n) { return count(n); }
int hipDeviceGet(int *d, int ordinal) { return *d = ordinal, 0; }
int hipSetDevice(int d) { return use(d); }
int hipDeviceGetName(char *s, int n, int d) { return name(s, n, d); }
int hipDeviceGetPCIBusId(char *s, int n, int d) { return bus(s, n, d); }
int hipMalloc(void **p, size_t n) { return make_device(p, n); }
int hipMallocManaged(void **p, size_t n, unsigned flags) { return flags == 1 ? make_managed(p, n) : 1; }
int hipFree(void *p) { return drop(p); }
int hipHostMalloc(void **p, size_t n, unsigned flags) { return flags == 1 ? make_host(p, n) : 1; }
int hipHostFree(void *p) { return drop(p); }
int hipMemcpyHtoD(void *to, const void *from, size_t n) { return copy(to, from, n, 1); }
int hipMemcpyDtoH(void *to, void *from, size_t n) { return copy(to, from, n, 0); }
int hipDeviceSynchronize(void) { return 0; }
const char *hipGetErrorString(int e) { return text_of(e); }
#else
/* A device is not its number, and nothing works in a thread without a context. */
static int context;

int cuInit(unsigned flags) { return begin(flags); }
int cuDriverGetVersion(int *v) { return *v = 12090, 0; }
int cuDeviceGetCount(int *n) { return count(n); }
int cuDeviceGet(int *d, int ordinal) { return *d = ordinal + 40, 0; }
int cuDeviceGetName(char *s, int n, int d) { return name(s, n, d - 40); }
int cuDeviceGetPCIBusId(char *s, int n, int d) { return bus(s, n, d - 40); }
int cuDevicePrimaryCtxRetain(void **c, int d)
{
    int rc = use(d - 40);

    has_device = 0;
    *c = rc ? NULL : &context;
    return rc;
}
int cuDevicePrimaryCtxRelease_v2(int d) { return (void)d, has_device = 0; }
int cuCtxSetCurrent(void *c) { return c == &context ? use(-1) : 201; }
int cuCtxSynchronize(void) { return has_device ? 0 : 201; }
int cuMemAlloc_v2(uint64_t *p, size_t n) { return has_device ? make_device((void **)p, n) : 201; }
int cuMemAllocManaged(uint64_t *p, size_t n, unsigned flags)
{
    return !has_device ? 201 : flags == 1 ? make_managed((void **)p, n) : 1;
}
int cuMemFree_v2(uint64_t p) { return drop((void *)(uintptr_t)p); }
int cuMemHostAlloc(void **p, size_t n, unsigned flags) { return flags == 1 ? make_host(p, n) : 1; }
int cuMemFreeHost(void *p) { return drop(p); }
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t n) { return copy((void *)(uintptr_t)to, from, n, 1); }
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t n) { return copy(to, (const void *)(uintptr_t)from, n, 0); }
int cuGetErrorString(int e, const char **text) { return *text = text_of(e), 0; }
#endif
