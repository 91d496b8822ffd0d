/* SPDX-License-Identifier: BSD-3-Clause */
/* session-gpu.h - transfers whose buffers are in memory of a GPU, for every backend */
#ifndef WEIR_BACKENDS_SESSION_SESSION_GPU_H
#define WEIR_BACKENDS_SESSION_SESSION_GPU_H

#include "backends/backend.h"

/* Can the backend move bytes of this memory in this way? Local. 0, or -1 and err (WEIR_EUSAGE). */
int weir_session_gpu_check(const struct weir_backend *be, enum weir_gpu_memory memory,
                           enum weir_gpu_path path, struct weir_err *err);

/* From now on the transfers of the session are those of s->gpu: s->be is a copy of the backend with
 * other functions. For weir_session_start, which calls it before the begin of the backend (direct),
 * and after it. Local. 0, or -1 and err (WEIR_ESETUP). */
int weir_session_gpu_before(struct weir_session *s, struct weir_err *err);
int weir_session_gpu_after(struct weir_session *s, struct weir_err *err);

/* The memory that calls get in the place of a buffer of the program: the stage of staged transfers,
 * else its twin. Local. */
void *weir_session_gpu_buffer(const struct weir_session *s, void *at);

#endif
