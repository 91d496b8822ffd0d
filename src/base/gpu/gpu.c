/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu.c - the device of a task, and buffers in its memory */
#include "config.h"
#include "base/gpu/gpu.h"

#include <ctype.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/node/sysfile.h"
#include "base/str.h"

#define PAGE 4096

const struct weir_gpu_memory_kind weir_gpu_memories[WEIR_MEMORIES] = {
    [WEIR_MEMORY_HOST] = { "host", "CPU", "CPU" },
    [WEIR_MEMORY_MANAGED] = { "managed", "Managed", "CPU" },
    [WEIR_MEMORY_MANAGED_GPU] = { "managedOnGPU", "Managed", "GPU" },
    [WEIR_MEMORY_DEVICE] = { "device", "GPU", "GPU" },
};

const char *const weir_gpu_paths[] = { "direct", "staged", "mapped", NULL };

/* ---- the device ---- */

/* The NUMA node of the device at this place of the PCI bus; -1: not known. */
static int node_of(const char *bus)
{
    char name[32] = "", text[16];

    for (size_t i = 0; bus[i] && i < sizeof(name) - 1; i++)
        name[i] = (char)tolower((unsigned char)bus[i]);
    return weir_sysfile_line("", text, sizeof(text), "/sys/bus/pci/devices/%s/numa_node", name)
               ? (int)strtol(text, NULL, 10)
               : -1;
}

int weir_gpu_own_node(void)
{
    unsigned cpu, node;

    return getcpu(&cpu, &node) == 0 ? (int)node : -1;
}

/* In turn of those on the NUMA node of this task; of all, where none is. -1 and err. */
static int choose_near(const struct weir_gpu *g, int turn, struct weir_err *err)
{
    struct weir_gpu_facts facts;
    int own = weir_gpu_own_node(), near = 0;

    for (int pass = 0; pass < 2; pass++)
        for (int i = 0, n = 0; i < g->devices && (pass == 0 || near > 0); i++) {
            if (weir_gpu_driver_describe(g->driver, i, &facts, err) < 0)
                return -1;
            if (node_of(facts.bus) != own)
                continue;
            if (pass == 0)
                near++;
            else if (n++ == turn % near)
                return i;
        }
    return turn % g->devices;
}

static int choose(const struct weir_gpu *g, const struct weir_gpu_choice *c, struct weir_err *err)
{
    if (c->device == WEIR_GPU_NEAR)
        return choose_near(g, c->turn, err);
    if (c->device == WEIR_GPU_IN_TURN)
        return c->turn % g->devices;
    if (c->device < g->devices)
        return c->device;
    return weir_refuse(err, WEIR_ESETUP, "GPU %d: this task sees %d, numbered from 0", c->device,
                       g->devices);
}

/* The first vendor that has a device here. */
static int find_vendor(struct weir_gpu *g, struct weir_err *err)
{
    struct weir_err why = WEIR_ERR_INIT;
    struct weir_str reasons = { 0 };

    for (g->vendor = weir_gpu_vendors; g->vendor->name; g->vendor++) {
        weir_gpu_driver_end(g->driver);
        if (weir_gpu_driver_begin(&g->driver, g->vendor, &g->devices, &why) == 0 && g->devices > 0)
            break;
        weir_str_addf(&reasons, "%s%s: %s", reasons.len ? "; " : "", g->vendor->name,
                      g->driver ? "no device" : why.text);
    }
    if (g->devices == 0)
        weir_refuse(err, WEIR_ESETUP, "no GPU: %s", weir_str_text(&reasons));
    weir_str_free(&reasons);
    return g->devices > 0 ? 0 : -1;
}

struct weir_gpu *weir_gpu_begin(const struct weir_gpu_choice *choice, struct weir_err *err)
{
    struct weir_gpu *g = calloc(1, sizeof(*g));

    if (!g || !(g->lost = calloc(1, sizeof(*g->lost)))) {
        weir_fail(err, WEIR_ESETUP, "memory for a GPU");
        weir_gpu_end(g);
        return NULL;
    }
    g->memory = choice->memory;
    g->path = choice->path;
    if (find_vendor(g, err) < 0 || (g->device = choose(g, choice, err)) < 0 ||
        weir_gpu_driver_describe(g->driver, g->device, &g->facts, err) < 0 ||
        weir_gpu_driver_use(g->driver, g->device, err) < 0 ||
        (g->path == WEIR_GPU_DIRECT && weir_gpu_files_begin(&g->files, g->vendor, err) < 0)) {
        weir_gpu_end(g);
        return NULL;
    }
    g->node = node_of(g->facts.bus);
    return g;
}

void weir_gpu_end(struct weir_gpu *g)
{
    if (!g)
        return;
    while (g->areas > 0)
        weir_gpu_give(g, g->area[0].host);
    weir_gpu_files_end(g->files);
    weir_gpu_driver_end(g->driver);
    free(g->area);
    free(g->lost);
    free(g);
}

/* ---- memory ---- */

static int take_room(struct weir_gpu *g, struct weir_gpu_area *a, enum weir_gpu_room room,
                     char **out, struct weir_err *err)
{
    void *p;

    if (weir_gpu_driver_take(g->driver, room, a->bytes, &p, err) < 0)
        return weir_err_within(err, "%zu bytes of GPU %d (%s)", a->bytes, g->device, g->facts.name);
    *out = a->given[room] = p;
    return 0;
}

/* The three places of an area: see struct weir_gpu_area. */
static int take_rooms(struct weir_gpu *g, struct weir_gpu_area *a, struct weir_err *err)
{
    bool is_device = g->memory == WEIR_MEMORY_DEVICE, is_shared = g->memory == WEIR_MEMORY_MANAGED;

    if (take_room(g, a, is_device ? WEIR_GPU_DEVICE : WEIR_GPU_MANAGED, &a->device, err) < 0)
        return -1;
    if ((!is_shared || g->path == WEIR_GPU_STAGED) &&
        take_room(g, a, WEIR_GPU_PINNED, &a->stage, err) < 0)
        return -1;
    a->host = is_shared ? a->device : a->stage;
    memset(a->host, 0, a->bytes);
    if (a->stage)
        memset(a->stage, 0, a->bytes);
    if (g->path != WEIR_GPU_DIRECT)
        return 0;
    a->registered = weir_gpu_files_register(g->files, a->device, a->bytes, err) == 0;
    return a->registered ? 0 : -1;
}

static void give_rooms(struct weir_gpu *g, struct weir_gpu_area *a)
{
    if (a->registered)
        weir_gpu_files_deregister(g->files, a->device);
    for (int room = 0; room < WEIR_GPU_ROOMS; room++)
        if (a->given[room])
            weir_gpu_driver_give(g->driver, room, a->given[room]);
}

/* An area of whole pages. */
static int take_area(struct weir_gpu *g, bool is_plain, size_t len, void **out,
                     struct weir_err *err)
{
    struct weir_gpu_area a = { .bytes = len ? (len + PAGE - 1) / PAGE * PAGE : PAGE,
                               .is_plain = is_plain };
    int rc;

    *out = NULL;
    if (!weir_mem_room(&g->area, g->areas, &g->room, sizeof(a)))
        return weir_fail(err, WEIR_ESETUP, "memory for a list of buffers");
    rc = is_plain ? take_room(g, &a, WEIR_GPU_PINNED, &a.host, err) : take_rooms(g, &a, err);
    if (rc < 0) {
        give_rooms(g, &a);
        return -1;
    }
    g->area[g->areas++] = a;
    *out = a.host;
    weir_gpu_put(g, a.host, a.bytes);
    return 0;
}

int weir_gpu_take(struct weir_gpu *g, void **out, size_t align, size_t len, struct weir_err *err)
{
    return g ? take_area(g, false, len, out, err) : weir_mem_aligned(out, align, len, err);
}

int weir_gpu_take_pinned(struct weir_gpu *g, void **out, size_t align, size_t len,
                         struct weir_err *err)
{
    return g ? take_area(g, true, len, out, err) : weir_mem_aligned(out, align, len, err);
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
    give_rooms(g, a);
    *a = g->area[--g->areas];
}

struct weir_gpu_area *weir_gpu_area_of(const struct weir_gpu *g, const void *at)
{
    struct weir_gpu_area *a = find_area(g, at);

    return a && !a->is_plain ? a : NULL;
}

/* ---- copies ---- */

/* Outside of transfers. The first failure stays. */
static void move(struct weir_gpu *g, void *at, size_t len, bool to_device)
{
    const struct weir_gpu_area *a = weir_gpu_area_of(g, at);
    char *twin;

    if (!a || a->host == a->device || len == 0 || g->lost->code != WEIR_OK)
        return;
    twin = a->device + ((char *)at - a->host);
    if (!to_device) /* what a copy leaves out must not look right */
        memset(at, 0xa5, len);
    weir_gpu_driver_copy(g->driver, to_device ? twin : at, to_device ? at : twin, len, to_device,
                         g->lost);
}

void weir_gpu_put(struct weir_gpu *g, void *at, size_t len)
{
    move(g, at, len, true);
}

void weir_gpu_get(struct weir_gpu *g, void *at, size_t len)
{
    move(g, at, len, false);
}

int weir_gpu_fetch(struct weir_gpu *g, const void *at, void *to, size_t len, struct weir_err *err)
{
    const struct weir_gpu_area *a = g ? weir_gpu_area_of(g, at) : NULL;

    if (a && a->host != a->device)
        return weir_gpu_driver_copy(g->driver, to, a->device + ((const char *)at - a->host), len,
                                    false, err);
    memcpy(to, at, len);
    return 0;
}

int weir_gpu_copy(struct weir_gpu *g, const struct weir_gpu_area *a, const void *at, size_t len,
                  bool to_device, struct weir_err *err)
{
    size_t from = (size_t)((const char *)at - a->host);
    char *twin = a->device + from, *stage = a->stage + from;
    uint64_t begin_ns = weir_now_ns();
    int rc = weir_gpu_driver_copy(g->driver, to_device ? twin : stage, to_device ? stage : twin,
                                  len, to_device, err);

    g->copies.ns += weir_now_ns() - begin_ns;
    g->copies.bytes += len;
    g->copies.n++;
    return rc;
}
