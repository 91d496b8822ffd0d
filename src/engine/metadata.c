/* SPDX-License-Identifier: BSD-3-Clause */
/* metadata.c - options that the metadata benchmarks share */
#include "config.h"
#include "engine/metadata.h"

#include <time.h>

int weir_metadata_packet(const char *word, enum weir_packet *packet, struct weir_err *err)
{
    if (weir_packet_parse(word, packet) == 0 && *packet <= WEIR_PACKET_RANDOM)
        return 0;
    return weir_refuse(err, WEIR_EUSAGE,
                       "option --dataPacketType: '%s' is not known; choose timestamp, offset, "
                       "incompressible or random",
                       word);
}

int weir_metadata_small_files(const struct weir_run *run, const struct weir_backend *be,
                              struct weir_backend_opt be_opt, uint64_t bytes, const char *program,
                              struct weir_access *access, struct weir_extent *extent,
                              struct weir_err *err)
{
    *access = (struct weir_access) {
        .file_per_task = true, /* also when tasks share files: nothing is opened together */
        .tasks = run->world.size,
        .nodes = run->world.nodes,
    };
    *extent = (struct weir_extent) { 0 };
    if (bytes > 0)
        *extent = (struct weir_extent) {
            .transfer = bytes, .block = bytes, .segments = 1, .file_bytes = bytes
        };
    if (weir_session_check(be, be_opt, access, bytes > 0 ? extent : NULL, &run->world, &run->log,
                           err) == 0)
        return 0;
    return weir_err_within(err, "%s as %s uses it, a task to each open file", be->name, program);
}

void weir_metadata_seed(const struct weir_run *run, int *seed)
{
    int32_t now = (int32_t)(time(NULL) & INT32_MAX);

    weir_bcast(&run->world, &now, sizeof(now), 0);
    if (*seed == -1)
        *seed = now;
}
