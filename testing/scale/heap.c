/* SPDX-License-Identifier: BSD-3-Clause */
/* heap.c - for LD_PRELOAD, with calls.c: bytes that our own code has allocated and not given back, as it asked for them
 *
 *   heap <phase> <bytes at its end> <most bytes in it>
 *
 * with tabs between. An allocation is ours when the call comes from the program or from one of its plugins; memory that MPI, HDF5 or the C library
 * take for themselves is not counted, whoever made them need it. Maps of files and of shared memory count as allocations do. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "count.h"

#define CALLER __builtin_return_address(0)
#define OBJECTS 512
#define PHASES 16384
#define PLACES (1u << 17) /* allocations at a time, a power of two */

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t each);
void *__libc_realloc(void *p, size_t n);
void *__libc_memalign(size_t align, size_t n);
void __libc_free(void *p);

/* ---- whose code is it? ---- */

struct object {
    uintptr_t begin, end;
    bool ours;
};

struct objects {
    struct object at[OBJECTS];
    int n;
};

static struct objects known;
static atomic_flag busy = ATOMIC_FLAG_INIT;
static atomic_bool stale = true;

static void lock(void)
{
    while (atomic_flag_test_and_set_explicit(&busy, memory_order_acquire))
        ;
}

static void unlock(void)
{
    atomic_flag_clear_explicit(&busy, memory_order_release);
}

/* The first object is the program. */
static int add_object(struct dl_phdr_info *info, size_t size, void *arg)
{
    const char *slash = strrchr(info->dlpi_name, '/');
    struct objects *all = arg;
    struct object o = { .begin = UINTPTR_MAX, .ours = all->n == 0 || (slash && strncmp(slash, "/weir-", 6) == 0) };

    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD) {
            uintptr_t at = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

            o.begin = at < o.begin ? at : o.begin;
            o.end = at + info->dlpi_phdr[i].p_memsz > o.end ? at + info->dlpi_phdr[i].p_memsz : o.end;
        }
    if (all->n < OBJECTS)
        all->at[all->n++] = o;
    return 0;
}

static const struct object *object_of(uintptr_t address)
{
    for (int i = 0; i < known.n; i++)
        if (address >= known.at[i].begin && address < known.at[i].end)
            return &known.at[i];
    return NULL;
}

/* The loader has locks of its own, so it is not asked while ours is held. */
bool is_ours(const void *caller)
{
    const struct object *found = NULL;
    struct objects now = { .n = 0 };
    bool ours;

    lock();
    if (!atomic_load(&stale))
        found = object_of((uintptr_t)caller);
    ours = found && found->ours;
    unlock();
    if (found)
        return ours;
    atomic_store(&stale, false);
    dl_iterate_phdr(add_object, &now);
    lock();
    known = now;
    found = object_of((uintptr_t)caller);
    ours = found && found->ours;
    unlock();
    return ours;
}

/* Another object may come to its place. */
int dlclose(void *handle)
{
    int (*real)(void *) = (int (*)(void *))dlsym(RTLD_NEXT, "dlclose");
    int rc = real(handle);

    atomic_store(&stale, true);
    return rc;
}

/* ---- what is allocated ---- */

struct place {
    void *p;
    size_t bytes;
};

static struct place place[PLACES];
static unsigned places;
static size_t live, peak;

static unsigned slot_of(const void *p)
{
    return (unsigned)(((uintptr_t)p >> 4) * 0x9e3779b97f4a7c15u >> 40) & (PLACES - 1);
}

static void *add(void *p, size_t bytes)
{
    unsigned i = slot_of(p);

    if (!p)
        return NULL;
    lock();
    while (place[i].p)
        i = (i + 1) & (PLACES - 1);
    place[i] = (struct place) { p, bytes };
    live += bytes;
    peak = live > peak ? live : peak;
    if (++places > PLACES / 2)
        abort(); /* a test that says nothing is worse */
    unlock();
    return p;
}

/* Linear probing: those after a hole that belong before it move up. */
static void fill_hole(unsigned hole)
{
    for (unsigned i = (hole + 1) & (PLACES - 1); place[i].p; i = (i + 1) & (PLACES - 1))
        if (((i - slot_of(place[i].p)) & (PLACES - 1)) >= ((i - hole) & (PLACES - 1))) {
            place[hole] = place[i];
            hole = i;
        }
    place[hole] = (struct place) { NULL, 0 };
}

/* Whoever gives it back; what is not ours is not here. */
static void take(const void *p)
{
    unsigned i = slot_of(p);

    if (!p)
        return;
    lock();
    while (place[i].p && place[i].p != p)
        i = (i + 1) & (PLACES - 1);
    if (place[i].p) {
        live -= place[i].bytes;
        places--;
        fill_hole(i);
    }
    unlock();
}

void *malloc(size_t n)
{
    void *p = __libc_malloc(n);

    return is_ours(CALLER) ? add(p, n) : p;
}

void *calloc(size_t n, size_t each)
{
    void *p = __libc_calloc(n, each);

    return is_ours(CALLER) ? add(p, n * each) : p;
}

void *realloc(void *p, size_t n)
{
    void *out;

    take(p);
    out = __libc_realloc(p, n);
    return is_ours(CALLER) ? add(out, n) : out;
}

void free(void *p)
{
    int kept = errno;

    take(p);
    __libc_free(p);
    errno = kept;
}

int posix_memalign(void **out, size_t align, size_t n)
{
    *out = __libc_memalign(align, n);
    if (*out && is_ours(CALLER))
        add(*out, n);
    return *out ? 0 : ENOMEM;
}

void *aligned_alloc(size_t align, size_t n)
{
    void *p = __libc_memalign(align, n);

    return is_ours(CALLER) ? add(p, n) : p;
}

char *strndup(const char *text, size_t most)
{
    size_t n = strnlen(text, most);
    char *p = __libc_malloc(n + 1);

    if (p) {
        memcpy(p, text, n);
        p[n] = '\0';
    }
    return is_ours(CALLER) ? add(p, n + 1) : p;
}

char *strdup(const char *text)
{
    char *p = __libc_malloc(strlen(text) + 1);

    if (p)
        memcpy(p, text, strlen(text) + 1);
    return is_ours(CALLER) ? add(p, strlen(text) + 1) : p;
}

char *realpath(const char *path, char *room)
{
    char *(*real)(const char *, char *) = (char *(*)(const char *, char *))dlsym(RTLD_NEXT, "realpath");
    char *found = real(path, room);

    return !room && is_ours(CALLER) ? add(found, found ? strlen(found) + 1 : 0) : found;
}

/* A map at a place that was mapped before takes nothing more. */
void *mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset)
{
    void *(*real)(void *, size_t, int, int, int, off_t) =
        (void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, "mmap");
    void *p = real(at, n, prot, flags, fd, offset);

    return p != MAP_FAILED && !(flags & MAP_FIXED) && is_ours(CALLER) ? add(p, n) : p;
}

int munmap(void *p, size_t n)
{
    int (*real)(void *, size_t) = (int (*)(void *, size_t))dlsym(RTLD_NEXT, "munmap");

    take(p);
    return real(p, n);
}

/* ---- phases ---- */

struct stage {
    char name[32];
    size_t live, peak;
};

static struct stage stage[PHASES];
static int stages;
static char now[32] = "start";

void heap_phase(const char *name)
{
    if (stages == PHASES)
        abort();
    stage[stages] = (struct stage) { .live = live, .peak = peak };
    memcpy(stage[stages++].name, now, sizeof(now));
    snprintf(now, sizeof(now), "%s", name);
    peak = live;
}

void heap_write(FILE *out)
{
    heap_phase("over");
    for (int i = 0; i < stages; i++)
        fprintf(out, "heap\t%s\t%zu\t%zu\n", i + 1 < stages && strcmp(stage[i].name, "end") == 0 ? "between" : stage[i].name,
                stage[i].live, stage[i].peak);
}
