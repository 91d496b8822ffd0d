/* SPDX-License-Identifier: BSD-3-Clause */
/* parts.h - raw_bw.x, gatherv.x and combo.x: the parts of a checkpoint alone */
#ifndef WEIR_PROGRAMS_CHECKPOINT_PARTS_H
#define WEIR_PROGRAMS_CHECKPOINT_PARTS_H

#include "backends/session/session.h"
#include "base/stats.h"
#include "engine/options.h"
#include "engine/program.h"
#include "par/group.h"

#define PARTS_DEVIATION WEIR_DEVIATION_SAMPLE

enum parts_kind { PARTS_RAW, PARTS_GATHERV, PARTS_COMBO };

struct parts_options {
    struct weir_run_options run; /* first: the engine reads it */
    const char *api, *type;
    int nx, levels, writers;
    bool keep_buffers;
};

struct parts {
    const struct parts_options *o;
    enum parts_kind kind;
    uint64_t total, packet, part; /* elements of all, of a writer, of a rank */
    const struct weir_backend *be;
    struct weir_backend_opt be_opt;
    struct weir_access access;
    struct weir_heads ranks;     /* groups with a writer each */
    struct weir_session session; /* of the writers */
    struct weir_patches patches;
    float *mine;
    float *received;    /* on the first rank of a group; see gather */
    float *packet_data; /* on writers */
    struct weir_str name;
    bool is_new; /* nobody else's file has this name */
    uint64_t ns[2]; /* of a try: gather, write */
    struct weir_stats gather, write, both;
};

/* ckpt-report.c: as in struct weir_program. */
extern const struct weir_words parts_words;
int parts_conclude(struct weir_run *run, void *state, struct weir_err *err);

extern const struct weir_program parts_raw, parts_gatherv, parts_combo;

#endif
