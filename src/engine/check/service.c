/* SPDX-License-Identifier: BSD-3-Clause */
/* service.c - inputs about objects of a service: requests, what is read again, and by what means */
#include "config.h"
#include "engine/check/parts.h"

#include <math.h>

#include "engine/phase.h"

void weir_service_add(const struct weir_test *t, struct weir_checks_sums *s)
{
    for (int i = 0; i < t->sessions; i++) {
        const struct weir_service_stats *stats = t->session[i]->service;

        if (!stats)
            continue;
        s->sent += stats->count[WEIR_SENT];
        s->refused += stats->count[WEIR_SENT_REFUSED];
        s->lost += stats->count[WEIR_SENT_LOST];
    }
}

void weir_service_note(const struct weir_checks_sums *s, struct weir_inputs *f)
{
    f->service.sent += (double)s->sent;
    f->service.refused += (double)s->refused;
    f->service.lost += (double)s->lost;
}

/* Objects that are written have not been read. */
void weir_service_note_data(const struct weir_phase_rec *rec, struct weir_inputs *f)
{
    struct weir_inputs_service *v = &f->service;
    enum weir_moves moves = weir_stage_moves(rec->stage);
    double all = f->planned_bytes;
    double bytes = (double)(moves == WEIR_MOVES_BOTH ? rec->half[WEIR_DIR_READ].bytes_sum
                                                     : rec->bytes_sum);

    if (rec->stage->flags & WEIR_STAGE_CHECKS)
        moves = WEIR_MOVES_IN;
    if (!f->objects || moves == WEIR_MOVES_NOTHING)
        return;
    if (moves & WEIR_MOVES_OUT) {
        v->written = true;
        v->read_since = 0;
    }
    if (!(moves & WEIR_MOVES_IN) || bytes <= 0)
        return;
    v->working_set = fmax(v->working_set, all > 0 ? fmin(bytes, all) : bytes);
    v->read_since += bytes;
    if (all > 0)
        v->reread = fmax(v->reread, v->read_since / all);
    if (rec->verify_ns_sum > 0 && v->written && v->of_others == 1)
        v->stale = (isnan(v->stale) ? 0 : v->stale) + (double)weir_phase_wrong(rec);
}

void weir_service_applied(const struct weir_session *s, const struct weir_applied *applied, struct weir_inputs *f)
{
    struct weir_inputs_service *v = &f->service;

    v->endpoints = applied->endpoints > v->endpoints ? applied->endpoints : v->endpoints;
    v->connections = applied->connections > v->connections ? applied->connections : v->connections;
    v->depth = s->depth > v->depth ? s->depth : v->depth;
    if (applied->memory > 0)
        v->memory = (double)applied->memory;
    if (applied->memory_option)
        v->memory_option = applied->memory_option;
}
