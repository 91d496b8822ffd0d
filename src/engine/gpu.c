/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu.c - the options about memory of GPUs, and the GPU of a task in a test */
#include "config.h"
#include "engine/gpu.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "backends/registry.h"
#include "backends/session/session-gpu.h"
#include "engine/program.h"

/* ---- the options ---- */

static enum weir_gpu_memory memory_of(const struct weir_run_options *o)
{
    return (enum weir_gpu_memory)o->gpu_memory;
}

static bool takes_pointers(const char *api)
{
    const struct weir_backend *be = api ? weir_backend_find(api) : weir_backends()[0];

    return be && (be->flags & WEIR_BE_TAKES_POINTERS);
}

enum weir_gpu_path weir_gpu_path(const struct weir_run_options *o)
{
    for (int i = 0; o->gpu_path && weir_gpu_paths[i]; i++)
        if (strcasecmp(o->gpu_path, weir_gpu_paths[i]) == 0)
            return (enum weir_gpu_path)i;
    if (o->gpu_direct)
        return WEIR_GPU_DIRECT;
    return memory_of(o) == WEIR_MEMORY_DEVICE || !takes_pointers(o->api) ? WEIR_GPU_STAGED
                                                                         : WEIR_GPU_MAPPED;
}

/* The number of a device, -1 (also where the program has no such option) or "near". False: none of
 * them. */
static bool read_device(const char *text, int *device)
{
    char *end;
    long n;

    *device = WEIR_GPU_IN_TURN;
    if (!text)
        return true;
    *device = WEIR_GPU_NEAR;
    if (strcasecmp(text, "near") == 0)
        return true;
    n = strtol(text, &end, 10);
    *device = (int)n;
    return end != text && !*end && n >= -1 && n < 1024;
}

int weir_gpu_check(const struct weir_run_options *o, struct weir_err *err)
{
    bool on_host = memory_of(o) == WEIR_MEMORY_HOST;
    int device;
    const struct weir_conflict rules[] = {
        { on_host && o->gpu_direct, "GPUDirect moves bytes of a GPU, and the buffers are in memory "
                                    "of the host; choose theirs with "
                                    "allocateBufferOnGPU=1, 2 or 3" },
        { on_host && o->gpu_path, "--gpu-path is for buffers in memory of a GPU; choose it with "
                                  "allocateBufferOnGPU=1, 2 or 3" },
        { o->gpu_direct && weir_gpu_path(o) != WEIR_GPU_DIRECT,
          "--gpu-path and GPUDirect contradict each other; give one of them" },
    };

    if (!read_device(o->gpu_id, &device))
        return weir_refuse(err, WEIR_EUSAGE,
                           "GPUid: '%s' is not the number of a GPU, -1 (in turn) or near",
                           o->gpu_id);
    return weir_conflicts_check(rules, sizeof(rules) / sizeof(*rules), err);
}

static bool is_set(const struct weir_session *s, const char *flag)
{
    const struct weir_opt *row = s->be->opts ? weir_opt_row_of(s->be->opts, flag) : NULL;

    return row && s->opt && *(const bool *)((const char *)s->opt + row->offset);
}

int weir_gpu_check_session(const struct weir_run_options *o, const struct weir_session *s,
                           struct weir_err *err)
{
    enum weir_gpu_path path = weir_gpu_path(o);

    if (weir_session_gpu_check(s->be, memory_of(o), path, err) < 0)
        return -1;
    if (memory_of(o) == WEIR_MEMORY_HOST || path != WEIR_GPU_DIRECT || is_set(s, "odirect"))
        return 0;
    return weir_refuse(err, WEIR_EUSAGE,
                       "GPUDirect needs files that are open with O_DIRECT; add --posix.odirect");
}

/* ---- a test ---- */

/* Tasks of a node in turn, as IOR counts them. */
static int turn_of(const struct weir_par *par)
{
    int turn =
        par->placement == WEIR_PLACED_BLOCK ? par->rank % par->per_node : par->rank / par->nodes;

    return turn > 0 ? turn : 0;
}

int weir_gpu_test_begin(struct weir_run *run, struct weir_err *err)
{
    const struct weir_run_options *o = run->test->plan.options;
    struct weir_gpu_choice choice = { .memory = memory_of(o),
                                      .path = weir_gpu_path(o),
                                      .turn = turn_of(&run->par) };

    if (choice.memory == WEIR_MEMORY_HOST || o->dry_run)
        return 0;
    read_device(o->gpu_id, &choice.device);
    run->gpu = weir_gpu_begin(&choice, err);
    return run->gpu ? 0 : weir_err_within(err, "allocateBufferOnGPU=%d", (int)choice.memory);
}

void weir_gpu_test_end(struct weir_run *run)
{
    weir_gpu_end(run->gpu);
    run->gpu = NULL;
}
