/* SPDX-License-Identifier: BSD-3-Clause */
/* offset.c - the sequence of file offsets that one task visits */
#include "base/shape/offset.h"

#include <errno.h>
#include <stdlib.h>

/* Bytes from one segment to the next. */
static uint64_t segment_bytes(const struct weir_layout *l)
{
    return l->shared ? l->block * (uint64_t)l->tasks : l->block;
}

/* Blocks of one transfer each: SHUFFLED then permutes over all segments, as one long run, and the
 * transfers of SEQUENTIAL are at one distance from each other in all of them. */
static bool is_one_run(const struct weir_offset_conf *c)
{
    return (c->order == WEIR_ORDER_SHUFFLED || c->order == WEIR_ORDER_SEQUENTIAL) &&
           c->layout.block == c->layout.transfer;
}

/* glibc's sequence for DISTRIBUTED. The original adds the task to the seed when each has its
 * own file. */
static void seed_distribution(const struct weir_offset_conf *c, struct weir_glibc_random *g)
{
    uint32_t own = c->layout.shared ? 0 : (uint32_t)c->task;

    weir_glibc_srandom(g, (uint32_t)c->seed + own);
}

/* Distribute the transfers of a segment over the tasks: count ours, and store their offsets
 * unless out is NULL. */
static uint64_t distribute(const struct weir_offset_conf *c, struct weir_glibc_random *g,
                           uint64_t *out)
{
    const struct weir_layout *l = &c->layout;
    uint64_t end = segment_bytes(l), n = 0;

    for (uint64_t o = 0; o < end; o += l->transfer) {
        if (l->shared && weir_glibc_random(g) % l->tasks != c->task)
            continue;
        if (out)
            out[n] = o;
        n++;
    }
    return n;
}

static void shuffle_list(uint64_t *list, uint64_t len, struct weir_glibc_random *g)
{
    for (uint64_t i = 0; i < len; i++) {
        uint64_t j = (uint64_t)weir_glibc_random(g) % len;
        uint64_t kept = list[i];

        list[i] = list[j];
        list[j] = kept;
    }
}

/* Twice over the same random numbers, so that a task only needs memory for its own
 * transfers. */
static int init_distributed(struct weir_offsets *o, struct weir_err *err)
{
    struct weir_glibc_random g;
    size_t bytes;

    seed_distribution(&o->conf, &g);
    o->run = distribute(&o->conf, &g, NULL);
    if (o->run == 0)
        return 0;
    if (__builtin_mul_overflow(o->run, sizeof(*o->own), &bytes))
        errno = ENOMEM;
    else
        o->own = malloc(bytes);
    if (!o->own)
        return weir_fail(err, WEIR_ESETUP, "allocate the random order of %llu transfers",
                         (unsigned long long)o->run);
    seed_distribution(&o->conf, &g);
    distribute(&o->conf, &g, o->own);
    shuffle_list(o->own, o->run, &g);
    return 0;
}

/* The permutation of the current segment. */
static void key_segment(struct weir_offsets *o)
{
    const struct weir_offset_conf *c = &o->conf;
    uint64_t key = c->seed, size = o->run;

    if (c->layout.shared)
        size *= (uint64_t)c->layout.tasks;
    else
        key = weir_rng_at(key, (uint64_t)c->task);
    weir_perm_init(&o->perm, size, weir_rng_at(key, o->segment));
}

/* RANDOM: where the next block starts. */
static uint64_t draw_block(struct weir_offsets *o)
{
    uint64_t block = o->conf.layout.block;

    o->lo *= 0x866458cd56f5e605u;
    o->hi = o->hi * 0x0fc94e3bf4e9ab32u + (o->lo >> 32);
    return o->hi % (o->conf.file_bytes / block) * block;
}

/* Set up what the order needs at the start of a segment, a block for RANDOM. */
static void begin_run(struct weir_offsets *o)
{
    o->in_block = 0;
    o->ahead = 0;
    if (o->conf.order == WEIR_ORDER_RANDOM)
        o->base = draw_block(o);
    else if (o->conf.order == WEIR_ORDER_SHUFFLED)
        key_segment(o);
    if (o->conf.order == WEIR_ORDER_RANDOM || o->conf.order == WEIR_ORDER_SEQUENTIAL) {
        o->next = o->base; /* all transfers of a block but the last one follow one another */
        o->ahead = o->in_block = o->run - 1;
        o->done += o->ahead;
    }
}

/* Refuse geometry that would wrap 64-bit offsets, and what the caller should have refused. */
static int check_conf(const struct weir_offset_conf *c, struct weir_err *err)
{
    const struct weir_layout *l = &c->layout;
    uint64_t tasks = l->shared ? (uint64_t)l->tasks : 1, bytes;

    if (l->transfer == 0 || l->block % l->transfer != 0 || c->task < 0 || c->task >= l->tasks)
        return weir_refuse(err, WEIR_EBUG,
                           "offsets for task %d of %d with block %llu and transfer %llu", c->task,
                           l->tasks, (unsigned long long)l->block, (unsigned long long)l->transfer);
    if (__builtin_mul_overflow(l->block, tasks, &bytes) ||
        __builtin_mul_overflow(bytes, l->segments, &bytes) || bytes > INT64_MAX)
        return weir_refuse(err, WEIR_EUSAGE,
                           "a file of %llu segments of %llu blocks of %llu bytes is too large",
                           (unsigned long long)l->segments, (unsigned long long)tasks,
                           (unsigned long long)l->block);
    if (c->order == WEIR_ORDER_RANDOM && c->file_bytes < l->block)
        return weir_refuse(err, WEIR_EUSAGE,
                           "a random block of %llu bytes does not fit into a file of %llu bytes",
                           (unsigned long long)l->block, (unsigned long long)c->file_bytes);
    return 0;
}

int weir_offsets_init(struct weir_offsets *o, const struct weir_offset_conf *conf,
                      struct weir_err *err)
{
    const struct weir_layout *l = &conf->layout;
    uint64_t runs = l->segments;

    *o = (struct weir_offsets) { .conf = *conf };
    if (check_conf(conf, err) < 0)
        return -1;
    o->run = l->block / l->transfer;
    o->step = l->transfer;
    if (is_one_run(conf)) {
        o->run = l->segments;
        runs = 1;
        if (conf->order == WEIR_ORDER_SEQUENTIAL)
            o->step = segment_bytes(l);
    }
    if (conf->order == WEIR_ORDER_DISTRIBUTED && l->segments > 0 && init_distributed(o, err) < 0)
        return -1;
    o->count = o->run * runs;
    weir_offsets_rewind(o);
    return 0;
}

void weir_offsets_free(struct weir_offsets *o)
{
    free(o->own);
    o->own = NULL;
}

uint64_t weir_offsets_count(const struct weir_offsets *o)
{
    return o->count;
}

/* The transfer at the current position. */
static uint64_t current(const struct weir_offsets *o)
{
    const struct weir_offset_conf *c = &o->conf;
    uint64_t i = o->in_block;

    switch (c->order) {
    case WEIR_ORDER_SHUFFLED:
        if (c->layout.shared)
            i += (uint64_t)c->task * o->run;
        return o->base + weir_perm_at(&o->perm, i) * c->layout.transfer;
    case WEIR_ORDER_DISTRIBUTED:
        return o->base + o->own[i];
    case WEIR_ORDER_SEQUENTIAL:
    case WEIR_ORDER_RANDOM:
        break;
    }
    return o->base + i * o->step;
}

uint64_t weir_offsets_turn(struct weir_offsets *o)
{
    uint64_t off = current(o);

    if (++o->done == o->count) {
        weir_offsets_rewind(o);
    } else if (++o->in_block == o->run) {
        o->segment++;
        o->base += segment_bytes(&o->conf.layout);
        begin_run(o);
    }
    return off;
}

void weir_offsets_rewind(struct weir_offsets *o)
{
    const struct weir_offset_conf *c = &o->conf;

    o->done = 0;
    o->segment = 0;
    o->base = 0;
    if (o->count == 0)
        return;
    if (c->order == WEIR_ORDER_SEQUENTIAL && c->layout.shared)
        o->base = c->layout.block * (uint64_t)c->task;
    o->hi = 0;
    o->lo = (c->seed + (c->layout.shared ? 0 : (uint64_t)c->task)) * ((uint64_t)c->task + 1);
    begin_run(o);
}
