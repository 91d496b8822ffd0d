/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu.h - the way of transfers with memory of a GPU, and the backends that have it */
#pragma once

#include "backends/session/session.h"
#include "engine/options.h"

/* The way of transfers between a file and this memory. As asked for, else direct with GPUDirect,
 * staged for memory of the device and where the backend takes no pointers, mapped. Local. */
enum weir_gpu_path weir_gpu_path(const struct weir_run_options *o);

/* Check the options with the backend of a session. Local. 0, or -1 and err (WEIR_EUSAGE). */
int weir_gpu_check_session(const struct weir_run_options *o, const struct weir_session *s,
                           struct weir_err *err);
