/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu.c - the device of a task, and buffers in its memory */
#include "base/gpu/gpu.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/node/machine.h"
#include "base/node/sysfile.h"
#include "base/str.h"

#define NEAR_MOST 64     /* devices on a NUMA node */
#define ATTACH_GLOBAL 1u /* managed memory for all streams */
#define PORTABLE 1u      /* pinned memory that all contexts see */

const struct weir_gpu_memory_kind weir_gpu_memories[WEIR_MEMORIES] = {
    [WEIR_MEMORY_HOST] = { "host", "CPU", "CPU", "allocate pinned memory" },
    [WEIR_MEMORY_MANAGED] = { "managed", "Managed", "CPU", "allocate managed memory" },
    [WEIR_MEMORY_MANAGED_GPU] = { "managedOnGPU", "Managed", "GPU", "allocate managed memory" },
    [WEIR_MEMORY_DEVICE] = { "device", "GPU", "GPU", "allocate memory of the device" },
};

const char *const weir_gpu_paths[] = { "direct", "staged", "mapped", NULL };

/* ---- the device ---- */

/* The NUMA node of the device at a place of the PCI bus, written as in /sys; -1: not known. */
static int node_of(char *bus)
{
    char text[16];

    for (char *c = bus; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return weir_sysfile_line("", text, sizeof(text), "/sys/bus/pci/devices/%s/numa_node", bus)
               ? (int)strtol(text, NULL, 10)
               : -1;
}

/* The result of a call: 0 is success; else -1 and err with its text. */
static int check(const struct weir_gpu *g, int result, enum weir_code code, const char *doing,
                 struct weir_err *err)
{
    const char *text = g->driver.hip_text ? g->driver.hip_text(result) : NULL;

    if (result == 0)
        return 0;
    if (g->driver.cuda_text)
        g->driver.cuda_text(result, &text);
    return weir_refuse(err, code, "%s: %s: %s (error %d)", g->vendor->name, doing,
                       text ? text : "the driver has no text for this error", result);
}

/* The driver of this vendor has a device here. */
static int begin(struct weir_gpu *g, const struct weir_gpu_vendor *v, struct weir_err *err)
{
    if (weir_gpu_driver_begin(g, v, err) < 0 ||
        check(g, g->driver.init(0), WEIR_ESETUP, "initialise the driver", err) < 0 ||
        check(g, g->driver.count(&g->devices), WEIR_ESETUP, "count devices", err) < 0)
        return -1;
    return g->devices > 0 ? 0 : weir_refuse(err, WEIR_ESETUP, "no device");
}

/* The first vendor that has a device here. */
static int find_vendor(struct weir_gpu *g, struct weir_err *err)
{
    struct weir_err why = WEIR_ERR_INIT;
    struct weir_str reasons = { 0 };
    int rc = -1;

    for (int i = 0; rc < 0 && i < WEIR_GPU_VENDORS; i++) {
        rc = begin(g, &weir_gpu_vendors[i], &why);
        weir_str_addf(&reasons, "%s%s: %s", i ? "; " : "", g->vendor->name, why.text);
    }
    if (rc < 0)
        weir_refuse(err, WEIR_ESETUP, "no GPU: %s", weir_str_text(&reasons));
    weir_str_free(&reasons);
    return rc;
}

/* Sets the number, the handle, and what describes the device: name, bus, version and NUMA node. */
static int look_at(struct weir_gpu *g, int ordinal, struct weir_err *err)
{
    const struct weir_gpu_driver *d = &g->driver;
    int result = d->get(&g->handle, ordinal);

    g->device = ordinal;
    if (result == 0)
        result = d->name(g->name, sizeof(g->name), g->handle);
    if (result == 0)
        result = d->bus(g->bus, sizeof(g->bus), g->handle);
    if (result == 0)
        result = d->version(&g->version);
    g->node = node_of(g->bus);
    return check(g, result, WEIR_ESETUP, "describe the device", err);
}

int weir_gpu_enter(const struct weir_gpu *g, enum weir_code code, struct weir_err *err)
{
    const struct weir_gpu_driver *d = &g->driver;

    return check(g, d->set ? d->set(g->handle) : d->current(g->context), code,
                 "set the device of a thread", err);
}

/* Returns the number of the device for a task, or -1 and err: a device cannot be described. Near
 * ones are on the NUMA node of this task. Where there is none, all devices are used in turn. */
static int choose(struct weir_gpu *g, int device, int turn, struct weir_err *err)
{
    int own = weir_machine_numa_node(), near[NEAR_MOST], n = 0;

    if (device >= 0)
        return device;
    for (int i = 0; device == WEIR_GPU_NEAR && i < g->devices && n < NEAR_MOST; i++) {
        if (look_at(g, i, err) < 0)
            return -1;
        if (g->node == own)
            near[n++] = i;
    }
    return n > 0 ? near[turn % n] : turn % g->devices;
}

/* Choose the device, and take it. */
static int take_device(struct weir_gpu *g, int device, int turn, struct weir_err *err)
{
    const struct weir_gpu_driver *d = &g->driver;

    if (device >= g->devices)
        return weir_refuse(err, WEIR_ESETUP, "GPU %d: this task sees %d, numbered from 0", device,
                           g->devices);
    device = choose(g, device, turn, err);
    if (device < 0 || look_at(g, device, err) < 0 ||
        check(g, d->retain ? d->retain(&g->context, g->handle) : 0, WEIR_ESETUP, "take the device",
              err) < 0)
        return -1;
    return weir_gpu_enter(g, WEIR_ESETUP, err);
}

struct weir_gpu *weir_gpu_begin(enum weir_gpu_memory memory, enum weir_gpu_path path, int device,
                                int turn, struct weir_err *err)
{
    struct weir_gpu *g = calloc(1, sizeof(*g));

    if (!g) {
        weir_fail(err, WEIR_ESETUP, "memory for a GPU");
        return NULL;
    }
    g->memory = memory;
    g->path = path;
    if (find_vendor(g, err) < 0 || take_device(g, device, turn, err) < 0 ||
        (path == WEIR_GPU_DIRECT && weir_gpu_files_begin(g, err) < 0)) {
        weir_gpu_end(g);
        return NULL;
    }
    return g;
}

void weir_gpu_end(struct weir_gpu *g)
{
    if (!g)
        return;
    while (g->areas > 0)
        weir_gpu_give(g, g->area[0].host);
    if (g->files_open)
        g->files.close();
    if (g->context)
        g->driver.release(g->handle);
    free(g->area);
    free(g);
}

/* ---- memory ---- */

/* Memory of a kind; that of the host is pinned. */
static int alloc_one(struct weir_gpu *g, enum weir_gpu_memory kind, size_t bytes, char **out,
                     struct weir_err *err)
{
    const struct weir_gpu_driver *d = &g->driver;
    void *memory = NULL;
    int result = kind == WEIR_MEMORY_HOST     ? d->alloc_host(&memory, bytes, PORTABLE)
                 : kind == WEIR_MEMORY_DEVICE ? d->alloc(&memory, bytes)
                                              : d->alloc_managed(&memory, bytes, ATTACH_GLOBAL);

    if (check(g, result, WEIR_ESETUP, weir_gpu_memories[kind].allocate, err) < 0)
        return weir_err_within(err, "%zu bytes of GPU %d (%s)", bytes, g->device, g->name);
    *out = memory;
    return 0;
}

/* Allocate both sides of an area. */
static int alloc_area(struct weir_gpu *g, struct weir_gpu_area *a, bool twin, struct weir_err *err)
{
    bool is_shared = twin && g->memory == WEIR_MEMORY_MANAGED && g->path != WEIR_GPU_STAGED;

    if ((twin && alloc_one(g, g->memory, a->bytes, &a->device, err) < 0) ||
        (!is_shared && alloc_one(g, WEIR_MEMORY_HOST, a->bytes, &a->host, err) < 0))
        return -1;
    if (is_shared)
        a->host = a->device;
    a->registered = twin && g->path == WEIR_GPU_DIRECT &&
                    weir_gpu_files_check(g, g->files.add_buffer(a->device, a->bytes, 0),
                                         WEIR_ESETUP, "BufRegister", &g->unregistered) == 0;
    return 0;
}

static void free_area(struct weir_gpu *g, struct weir_gpu_area *a)
{
    if (a->registered)
        g->files.drop_buffer(a->device);
    if (a->host && a->host != a->device)
        g->driver.free_host(a->host);
    if (a->device)
        g->driver.free(a->device);
}

int weir_gpu_take(struct weir_gpu *g, bool twin, void **out, size_t align, size_t len,
                  struct weir_err *err)
{
    struct weir_gpu_area a = { .bytes = len ? (len + WEIR_PAGE - 1) / WEIR_PAGE * WEIR_PAGE : WEIR_PAGE };

    if (!g)
        return weir_mem_aligned(out, align, len, err);
    *out = NULL;
    if (!weir_mem_reserve(&g->area, g->areas, &g->capacity, sizeof(a)))
        return weir_fail(err, WEIR_ESETUP, "memory for a list of buffers");
    if (alloc_area(g, &a, twin, err) < 0) {
        free_area(g, &a);
        return -1;
    }
    g->area[g->areas++] = a;
    *out = a.host;
    if (twin)
        weir_gpu_move(g, memset(a.host, 0, a.bytes), a.bytes, true);
    return 0;
}

/* The area with this byte; NULL: none has it. */
static struct weir_gpu_area *find_area(const struct weir_gpu *g, const void *at)
{
    const char *byte = at;

    for (size_t i = 0; i < g->areas; i++)
        if (byte >= g->area[i].host && byte < g->area[i].host + g->area[i].bytes)
            return &g->area[i];
    return NULL;
}

void weir_gpu_give(struct weir_gpu *g, void *buffer)
{
    struct weir_gpu_area *a = g && buffer ? find_area(g, buffer) : NULL;

    if (!a) {
        free(buffer);
        return;
    }
    free_area(g, a);
    *a = g->area[--g->areas];
}

const struct weir_gpu_area *weir_gpu_area_of(const struct weir_gpu *g, const void *at)
{
    const struct weir_gpu_area *a = find_area(g, at);

    return a && a->device ? a : NULL;
}

/* ---- copies ---- */

static char *twin_of(const struct weir_gpu_area *a, const void *at)
{
    return a->device + ((const char *)at - a->host);
}

static int copy(struct weir_gpu *g, char *twin, void *host, size_t len, bool to_device,
                struct weir_err *err)
{
    const struct weir_gpu_driver *d = &g->driver;
    int result = to_device ? d->to_device(twin, host, len) : d->to_host(host, twin, len);

    if (result == 0) /* from memory of the host that is not pinned it may return before its end */
        result = d->synchronize();
    return check(g, result, WEIR_EIO, to_device ? "copy to the device" : "copy from the device",
                 err);
}

void weir_gpu_move(struct weir_gpu *g, void *at, size_t len, bool to_device)
{
    const struct weir_gpu_area *a = weir_gpu_area_of(g, at);
    char *twin;

    if (!a || a->host == a->device || len == 0 || g->lost.code != WEIR_OK)
        return;
    twin = twin_of(a, at);
    if (!to_device) /* what a copy leaves out must not look right */
        memset(at, 0xa5, len);
    if (g->memory == WEIR_MEMORY_MANAGED) /* its data are on the host */
        memcpy(to_device ? twin : at, to_device ? at : twin, len);
    else
        copy(g, twin, at, len, to_device, &g->lost);
}

int weir_gpu_copy(struct weir_gpu *g, const void *at, void *host, size_t len, bool to_device,
                  struct weir_err *err)
{
    uint64_t begin_ns = weir_now_ns();
    int rc = copy(g, twin_of(weir_gpu_area_of(g, at), at), host, len, to_device, err);

    g->copies[WEIR_GPU_COPIES]++;
    g->copies[WEIR_GPU_COPIED] += len;
    g->copies[WEIR_GPU_COPY_NS] += weir_now_ns() - begin_ns;
    return rc;
}

int weir_gpu_lost(const struct weir_gpu *g, struct weir_err *err)
{
    return !g || g->lost.code == WEIR_OK ? 0 : weir_refuse(err, g->lost.code, "%s", g->lost.text);
}
