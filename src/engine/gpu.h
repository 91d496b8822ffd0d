/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu.h - the options about memory of GPUs, and the GPU of a task in a test */
#ifndef WEIR_ENGINE_GPU_H
#define WEIR_ENGINE_GPU_H

#include "backends/session/session.h"
#include "engine/options.h"
#include "engine/run.h"

/* The way of transfers between a file and this memory. As asked for, else direct with GPUDirect,
 * staged for memory of the device and where the backend takes no pointers, mapped. Local. */
enum weir_gpu_path weir_gpu_path(const struct weir_run_options *o);

/* Check that the options fit together. Local, the same on all ranks. 0, or -1 and err (WEIR_EUSAGE). */
int weir_gpu_check(const struct weir_run_options *o, struct weir_err *err);

/* Check the options with the backend of a session. Local; result and err as weir_gpu_check. */
int weir_gpu_check_session(const struct weir_run_options *o, const struct weir_session *s,
                           struct weir_err *err);

/* Take the GPU of this task for run->test into run->gpu, and give it back. Nothing without memory
 * of a GPU and in a dry run. Local. 0, or -1 and err (WEIR_ESETUP). */
int weir_gpu_test_begin(struct weir_run *run, struct weir_err *err);
void weir_gpu_test_end(struct weir_run *run);

#endif
