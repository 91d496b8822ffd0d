/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu.c - the way of transfers with memory of a GPU, and the backends that have it */
#include "engine/gpu.h"

#include <dlfcn.h>

#include "backends/registry.h"

enum weir_gpu_path weir_gpu_path(const struct weir_run_options *o)
{
    const struct weir_backend *be = o->api ? weir_backend_find(o->api) : weir_backends()[0];
    int path = weir_opt_choice(weir_gpu_paths, o->gpu_path);

    if (path >= 0)
        return (enum weir_gpu_path)path;
    if (o->gpu_direct)
        return WEIR_GPU_DIRECT;
    return be && (be->flags & WEIR_BE_TAKES_POINTERS) && o->gpu_memory != WEIR_MEMORY_DEVICE
               ? WEIR_GPU_MAPPED
               : WEIR_GPU_STAGED;
}

/* Returns whether the MPI library takes pointers of device memory. */
static bool mpi_takes_device(void)
{
    static const char *const names[] = { "MPIX_Query_cuda_support", "MPIX_Query_rocm_support" };
    void *found;

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if ((found = dlsym(RTLD_DEFAULT, names[i])) && ((int (*)(void))found)() == 1)
            return true;
    return false;
}

int weir_gpu_check_session(const struct weir_run_options *o, const struct weir_session *s,
                           struct weir_err *err)
{
    unsigned flags = s->be->flags;
    enum weir_gpu_path path = weir_gpu_path(o);
    bool mapped = path == WEIR_GPU_MAPPED, direct = path == WEIR_GPU_DIRECT;
    bool device = mapped && o->gpu_memory == WEIR_MEMORY_DEVICE;
    const struct weir_conflict rules[] = {
        { flags & WEIR_BE_HOST_ONLY, "its buffers are in host memory; use -a POSIX" },
        { mapped && !(flags & WEIR_BE_TAKES_POINTERS),
          "--gpu-path=mapped: it does not give the buffers to a system call; choose staged" },
        { device && !(flags & WEIR_BE_NEEDS_MPI),
          "--gpu-path=mapped: system calls cannot access device memory; choose staged or direct, or "
          "managed memory (2)" },
        { device && !mpi_takes_device(),
          "--gpu-path=mapped: this MPI library does not report support for device memory "
          "(MPIX_Query_cuda_support, MPIX_Query_rocm_support); choose staged, or managed memory "
          "(2)" },
        { direct && !s->be->descriptor,
          "GPUDirect: cuFile has no files of this backend; use -a POSIX, or --gpu-path=staged" },
        { direct && !weir_opt_is_on(s->be->opts, s->opt, "odirect"),
          "GPUDirect needs files that are open with O_DIRECT; add --posix.odirect" },
    };

    if (o->gpu_memory == WEIR_MEMORY_HOST ||
        weir_conflicts_check(rules, sizeof(rules) / sizeof(*rules), err) == 0)
        return 0;
    return weir_err_within(err, "allocateBufferOnGPU=%d with %s", o->gpu_memory, s->be->name);
}
