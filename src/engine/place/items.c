/* SPDX-License-Identifier: BSD-3-Clause */
/* items.c - options that the metadata benchmarks share */
#include "engine/place/items.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/rng.h"

#define SEED_BITS 27 /* of a seed of rand_r: the others do not matter */

const char *const weir_metadata_packets[] = { "timestamp", "offset", "incompressible", "random",
                                              NULL };

int weir_metadata_packet(const char *word, struct weir_pattern *p, struct weir_err *err)
{
    if (weir_pattern_parse(p, "--dataPacketType", word, weir_metadata_packets, err) < 0)
        return -1;
    if (p->packet == WEIR_PACKET_INCOMPRESSIBLE)
        p->packet = WEIR_PACKET_INDEXED;
    p->files = WEIR_FILES_SMALL;
    return 0;
}

int weir_small_files_check(struct weir_small_files *f, const struct weir_run *run, uint64_t bytes,
                           const char *program, struct weir_err *err)
{
    f->access = (struct weir_access) {
        .directories = f->access.directories,
        .own_names = true,
        .file_per_task = true, /* also when tasks share files: nothing is opened together */
        .tasks = run->world.size,
        .nodes = run->world.nodes,
    };
    f->extent = (struct weir_extent) { 0 };
    if (bytes > 0)
        f->extent = (struct weir_extent) {
            .transfer = bytes, .block = bytes, .segments = 1, .file_bytes = bytes
        };
    if (weir_session_check(f->be, f->be_opt, &f->access, bytes > 0 ? &f->extent : NULL, &run->world,
                           &run->log, err) == 0)
        return 0;
    return weir_err_within(err, "%s in %s, one task for each open file", f->be->name, program);
}

int weir_small_files_begin(struct weir_small_files *f, struct weir_gpu *gpu, size_t out, size_t in,
                           size_t want, struct weir_err *err)
{
    f->out_rank = f->want_rank = -1;
    f->gpu = gpu;
    if ((out && weir_gpu_take(gpu, true, &f->out, WEIR_PAGE, out, err) < 0) ||
        (in && weir_gpu_take(gpu, true, &f->in, WEIR_PAGE, in, err) < 0) ||
        (want && weir_mem_aligned(&f->want, WEIR_PAGE, want, err) < 0))
        return -1;
    return 0;
}

void weir_small_files_end(struct weir_small_files *f)
{
    free(f->file);
    weir_gpu_give(f->gpu, f->out);
    weir_gpu_give(f->gpu, f->in);
    free(f->want);
}

static int take_slot(struct weir_run *run, void *files, struct weir_err *err)
{
    struct weir_small_files *f = files;

    f->file = weir_session_slot(&f->session, err);
    return f->file ? 0 : -1;
}

int weir_small_files_start(struct weir_small_files *f, struct weir_run *run, struct weir_err *err)
{
    if (weir_test_session(run, &f->session, f->be, f->be_opt, &f->access, &run->par, err) < 0)
        return -1;
    return weir_local(run, take_slot, f, err);
}

/* The content of an item in buf, which holds the base pattern of task *base. */
static void make_item(const struct weir_small_files *f, int rank, uint64_t item, void *buf,
                      int *base, size_t len)
{
    struct weir_pattern p = f->data;

    p.rank = rank;
    if (*base != rank)
        weir_pattern_base(&p, buf, len);
    *base = rank;
    weir_pattern_stamp(&p, buf, len, item);
}

bool weir_small_files_fill(struct weir_small_files *f, struct weir_run *run, int rank,
                           uint64_t item, size_t len)
{
    bool is_base = len < 8 && f->data.packet != WEIR_PACKET_RATIO;
    uint64_t begin;

    if (len == 0 || (f->out_rank == rank && (is_base || !weir_pattern_varies(&f->data))))
        return false;
    begin = weir_now_ns();
    make_item(f, rank, item, f->out, &f->out_rank, len);
    weir_gpu_filled(f->gpu, f->out, len);
    run->counters.fill_ns += weir_now_ns() - begin;
    return true;
}

void weir_small_files_invalidate(struct weir_small_files *f)
{
    *(unsigned char *)f->in ^= 0xff;
    weir_gpu_filled(f->gpu, f->in, 1);
}

const void *weir_small_files_expect(struct weir_small_files *f, int rank, uint64_t item, size_t len)
{
    make_item(f, rank, item, f->want, &f->want_rank, len);
    return f->want;
}

bool weir_small_files_right(const struct weir_small_files *f, struct weir_run *run,
                            const char *object, const char *path, const void *want, size_t len,
                            struct weir_err *first)
{
    const unsigned char *expected = want, *found = f->in;
    size_t at = 0;

    weir_gpu_wanted(f->gpu, f->in, len);
    if (memcmp(expected, found, len) == 0 ||
        weir_gpu_lost(f->gpu, NULL) < 0) /* the end of the test says why there are none */
        return true;
    while (expected[at] == found[at])
        at++;
    run->counters.wrong++;
    if (first->code == WEIR_OK)
        weir_refuse(first, WEIR_EDATA,
                    "verification error in %s '%s', byte %zu: expected 0x%02x, found 0x%02x", object,
                    path, at, expected[at], found[at]);
    return false;
}

/* ---- the seed of an earlier run ---- */

#define MOST_LOOKS 16 /* files, until one is whole */

/* The x with odd * x = 1, modulo 2^64. */
static uint64_t invert(uint64_t odd)
{
    uint64_t x = odd; /* right in three bits; each round doubles them */

    for (int i = 0; i < 5; i++)
        x *= 2 - odd * x;
    return x;
}

/* The key of the stream whose n-th number is z: the inverse of weir_rng_at. */
static uint64_t key_of(uint64_t z, uint64_t n)
{
    return weir_rng_unmix(z) - (n + 1) * 0x9e3779b97f4a7c15u;
}

/* The seeds from which weir_glibc_rand_r returns 'value' first, at most 'most', rarely more than
 * one. Takes less than a millisecond. */
static int find_seeds(int32_t value, uint32_t *seeds, int most)
{
    const uint32_t known = (uint32_t)value >> 20 << 16; /* 11 bits of the state after one step */
    const uint32_t back = (uint32_t)invert(1103515245u);
    int n = 0;

    for (uint32_t low = 0; low < 1u << 16 && n < most; low++) {
        uint32_t before = ((known | low) - 12345u) * back, seed;

        before &= (1u << SEED_BITS) - 1;
        seed = before;
        if (weir_glibc_rand_r(&seed) == value)
            seeds[n++] = before;
    }
    return n;
}

/* Three bits of the first number are lost. */
static int find_random(int rank, uint64_t item, uint64_t word, int64_t *seeds)
{
    const uint64_t back = invert(WEIR_LANE_FACTOR);
    uint32_t sums[WEIR_ITEMS_SEEDS];
    int n = 0, found;

    for (uint64_t lost = 0; lost < 8 && word >> 61 == 0; lost++) {
        uint64_t x = (word << 3 | lost) * back;

        if (x > INT32_MAX)
            continue;
        found = find_seeds((int32_t)x, sums, WEIR_ITEMS_SEEDS - n);
        for (int i = 0; i < found; i++)
            seeds[n++] = (int32_t)(sums[i] - (uint64_t)rank - item); /* 32 bits and a sign */
    }
    return n;
}

/* The first word of lane 0 of the file that this one repeats, or of this one. */
static uint64_t key_of_blocks(const struct weir_pattern *p, uint64_t item, uint64_t word)
{
    struct weir_ratio_block b = { .file = (uint32_t)p->rank, .item = item };
    uint64_t key = key_of(weir_pattern_unstep(word), 0);

    b = weir_ratio_origin(&p->ratio, b);
    return key_of(key_of(key_of(key, b.number), b.item), b.file);
}

int weir_items_seeds(const struct weir_pattern *p, uint64_t item, const void *buf, size_t len,
                     int64_t seeds[WEIR_ITEMS_SEEDS])
{
    size_t at = p->packet == WEIR_PACKET_OFFSET; /* its first word is a stamp */
    uint64_t word;

    if (len < (at + 1) * sizeof(word))
        return 0;
    word = ((const uint64_t *)buf)[at];
    if (p->packet == WEIR_PACKET_RANDOM)
        return find_random(p->rank, item, word, seeds);
    if (p->packet == WEIR_PACKET_INDEXED)
        word = key_of(key_of(key_of(word, 0), item), (uint64_t)p->rank);
    if (p->packet == WEIR_PACKET_RATIO)
        word = key_of_blocks(p, item, word);
    *seeds = (int32_t)(word - at);
    return 1;
}

/* The knowledge of rank 0: seeds that make all content that was looked at, and the first file. */
struct seeds {
    int64_t v[WEIR_ITEMS_SEEDS];
    int n;
    struct weir_str first;
};

static bool read_whole(struct weir_small_files *f, const char *path, size_t len)
{
    struct weir_io io = { .dir = WEIR_DIR_READ, .buf = f->in, .len = len };
    struct weir_err why = WEIR_ERR_INIT;
    uint64_t clock_ns = weir_now_ns();
    int rc;

    if (weir_session_open_slot(&f->session, f->file, path, WEIR_OPEN_READ, &f->extent, &why) < 0)
        return false;
    rc = weir_session_xfer(f->file, &io, &clock_ns, &why);
    weir_gpu_wanted(f->gpu, f->in, len);
    return weir_session_close_slot(f->file, &why) == 0 && rc == 0;
}

/* Leave those seeds that make this file too, unless none of them does: then it is damaged. */
static void keep_makers(struct weir_small_files *f, struct seeds *s,
                        const struct weir_small_file *file, size_t len, size_t read)
{
    struct weir_pattern p = f->data;
    bool is_first = s->n == 0;
    int kept = 0;

    p.rank = file->rank;
    if (is_first)
        s->n = weir_items_seeds(&p, file->item, f->in, read, s->v);
    for (int i = 0; i < s->n; i++) {
        f->data.signature = (uint32_t)s->v[i];
        f->want_rank = -1;
        if (memcmp(weir_small_files_expect(f, file->rank, file->item, len), f->in, read) == 0)
            s->v[kept++] = s->v[i];
    }
    if (is_first && kept > 0)
        weir_str_addf(&s->first, "%s", file->path);
    if (is_first || kept > 0)
        s->n = kept;
}

void weir_small_files_learn_seed(struct weir_small_files *f, struct weir_run *run, size_t len,
                                 size_t read, bool checked, weir_small_file_fn *name, void *state)
{
    struct weir_small_file file;
    struct seeds s = { .n = 0 };
    int64_t found[2] = { 0, (int32_t)f->data.signature };

    if (!f->seed_unknown || (f->session.flags & WEIR_BE_NO_DATA))
        return;
    f->seed_unknown = false;
    for (uint64_t n = 0; run->par.rank == 0 && n < MOST_LOOKS && s.n != 1; n++) {
        if (!name(run, state, n, &file))
            break;
        if (read_whole(f, file.path, read))
            keep_makers(f, &s, &file, len, read);
    }
    if (s.n > 0) {
        found[0] = 1;
        found[1] = s.v[0];
    }
    weir_bcast(&run->par, found, sizeof(found), 0);
    f->data.signature = (uint32_t)found[1];
    f->out_rank = f->want_rank = -1;
    if (found[0] && checked)
        weir_note(&run->log, "without -G the data are checked against the seed of '%s': -G %" PRId64,
                  weir_str_text(&s.first), found[1]);
    weir_str_free(&s.first);
}

void weir_metadata_seed(const struct weir_run *run, int *seed)
{
    int now = (int)(weir_clock_day_ns(&run->world) / WEIR_NS_PER_S & INT32_MAX);

    if (*seed == -1)
        *seed = now;
}
