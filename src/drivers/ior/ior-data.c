/* SPDX-License-Identifier: BSD-3-Clause */
/* ior-data.c - the data of the transfers, made before a write and checked after a read; and memory
 * that is kept from the page cache */
#include "config.h"
#include "drivers/ior/ior.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/size.h"
#include "par/reduce.h"

#define AHEAD_BYTES (64u << 20) /* at most this much memory for transfers that are filled ahead */
#define PAGE 4096

static bool data_varies(const struct ior_test *t)
{
    return weir_pattern_varies(&t->data.pattern);
}

/* A phase begins: the owner of its data and its file are known. */
void ior_data_begin(struct weir_run *run, struct ior_test *t)
{
    t->damage.n = 0;
    memset(t->damage.kinds, 0, sizeof(t->damage.kinds));
    memset(&t->data.seen, 0, sizeof(t->data.seen));
    t->data.unit_known = t->o->write;
    t->data.unit.repetition = (uint32_t)run->repetition;
    t->data.unit.writer = (uint32_t)t->pass.owner;
    t->data.unit.file = weir_signature_file(weir_str_text(&t->use.path));
}

/* -z -z in a shared file: tasks write over each other's blocks. A block has the data of the task
 * whose block it is, whoever writes it; so it is right after any number of writers, in any order.
 * True when the data of another task begin. */
static bool take_owner(struct ior_test *t, uint64_t off)
{
    int owner = (int)(off / t->layout.block % (uint64_t)t->layout.tasks);

    if (t->o->random_offset < 2 || !t->layout.shared || owner == t->data.pattern.rank)
        return false;
    t->data.pattern.rank = owner;
    t->data.unit.writer = (uint32_t)owner;
    return true;
}

static void make_data(struct ior_test *t)
{
    if (t->data.pattern.packet != WEIR_PACKET_SIGNATURE) {
        weir_pattern_stamp_many(&t->data.pattern, t->data.buf, t->extent.transfer, t->data.off,
                                t->data.lanes);
        return;
    }
    for (int i = 0; i < t->data.lanes; i++)
        weir_signature_fill(&t->data.unit, t->data.buf[i], t->extent.transfer, t->data.off[i]);
}

static bool check_pattern(const struct ior_test *t, const void *buf, uint64_t off,
                          struct ior_damage *d)
{
    struct weir_mismatch m;

    if (weir_pattern_verify(&t->data.pattern, buf, t->extent.transfer, off, &m) == 0)
        return true;
    *d = (struct ior_damage) { .kind = weir_damage_of_pattern(&t->data.pattern, &t->layout, buf,
                                                              t->extent.transfer, off),
                               .transfer = off,
                               .byte = off + m.first,
                               .expect = m.expect,
                               .got = m.got,
                               .pieces = m.words };
    return false;
}

static bool check_units(struct ior_test *t, const void *buf, uint64_t off, struct ior_damage *d)
{
    struct weir_signature_bad bad;

    if (weir_signature_verify(&t->data.unit, t->data.unit_known, buf, t->extent.transfer, off,
                              &t->data.seen, &bad) == 0)
        return true;
    *d = (struct ior_damage) { .kind = bad.damage,
                               .transfer = off,
                               .byte = off + bad.at,
                               .expect = bad.expect,
                               .got = bad.got,
                               .pieces = bad.units,
                               .said = bad.said };
    return false;
}

bool ior_data_check(struct ior_test *t, const void *buf, uint64_t off)
{
    struct ior_damage d;
    bool right;

    take_owner(t, off);
    right = t->data.pattern.packet == WEIR_PACKET_SIGNATURE ? check_units(t, buf, off, &d)
                                                            : check_pattern(t, buf, off, &d);
    if (right)
        return true;
    t->damage.kinds[d.kind]++;
    if (t->damage.n < IOR_DAMAGE_SHOWN)
        t->damage.first[t->damage.n++] = d;
    return false;
}

/* ---- afterwards ---- */

/* Data of a run we do not know: the newest run and repetition that any rank saw is the right
 * one, and transfers that a rank took for right may be older. Returns how many there are on all
 * ranks. */
static uint64_t find_older(struct weir_run *run, struct ior_test *t)
{
    int64_t newest = (int64_t)t->data.seen.run, rep = -1;
    uint64_t older = t->data.seen.older;

    weir_allmax_i64(&run->par, &newest, 1);
    if ((int64_t)t->data.seen.run == newest)
        rep = t->data.seen.repetition;
    weir_allmax_i64(&run->par, &rep, 1);
    if (t->data.seen.any && ((int64_t)t->data.seen.run != newest || t->data.seen.repetition != rep))
        older = t->data.seen.transfers;
    t->damage.kinds[WEIR_DAMAGE_STALE] += older;
    weir_allsum_u64(&run->par, &older, 1);
    return older;
}

/* A line for each of the first wrong transfers, as text: every rank knows its own file names. */
struct line {
    char text[4600];
};

static void describe(const struct weir_run *run, const struct ior_test *t,
                     const struct ior_damage *d, struct line *out)
{
    struct weir_str s = { 0 };

    weir_str_addf(
        &s,
        "rank %d on %s: '%s', byte %" PRIu64 ": %s: expected 0x%016" PRIx64 ", found 0x%016" PRIx64
        "; %" PRIu64 " wrong pieces of %d bytes in the transfer at %" PRIu64,
        run->par.rank, run->par.host, weir_str_text(&t->use.path), d->byte,
        weir_damage_name(d->kind), d->expect, d->got, d->pieces,
        t->data.pattern.packet == WEIR_PACKET_SIGNATURE ? WEIR_SIGNATURE_UNIT : 8, d->transfer);
    if (t->data.pattern.packet == WEIR_PACKET_SIGNATURE &&
        (d->kind == WEIR_DAMAGE_STALE || d->kind == WEIR_DAMAGE_MISPLACED))
        weir_str_addf(&s,
                      "; the data say: run %" PRIu64 ", repetition %" PRIu32 ", task %" PRIu32
                      ", offset %" PRIu64 "%s",
                      d->said.run, d->said.repetition, d->said.writer, d->said.off,
                      d->said.file == t->data.unit.file
                          ? ""
                          : ", a file of another name (the name is a part of the signature)");
    snprintf(out->text, sizeof(out->text), "%s",
             weir_str_text(&s)); /* a longer line is cut at its end */
    weir_str_free(&s);
}

static void note_first(struct weir_run *run, struct ior_test *t)
{
    struct line mine[IOR_DAMAGE_SHOWN], all[IOR_DAMAGE_SHOWN];
    int n;

    memset(mine, 0, sizeof(mine));
    for (int i = 0; i < t->damage.n; i++)
        describe(run, t, &t->damage.first[i], &mine[i]);
    n = weir_collect(&run->par, mine, t->damage.n, sizeof(*mine), IOR_DAMAGE_SHOWN, all);
    for (int i = 0; i < n; i++)
        weir_note(&run->log, "wrong data: %s", all[i].text);
}

static void note_kinds(struct weir_run *run, const struct ior_test *t)
{
    struct weir_str s = { 0 };
    uint64_t kinds[WEIR_DAMAGES];

    memcpy(kinds, t->damage.kinds, sizeof(kinds));
    weir_allsum_u64(&run->par, kinds, WEIR_DAMAGES);
    for (int k = 0; k < WEIR_DAMAGES; k++)
        if (kinds[k])
            weir_str_addf(&s, "%s%" PRIu64 " %s", s.len ? ", " : "", kinds[k], weir_damage_name(k));
    weir_note(&run->log, "wrong transfers by kind: %s", weir_str_text(&s));
    weir_str_free(&s);
}

int ior_data_report(struct weir_run *run, struct ior_test *t, struct weir_phase_rec *rec,
                    const char *what, struct weir_err *err)
{
    int rc;

    if (t->data.pattern.packet == WEIR_PACKET_SIGNATURE && !t->data.unit_known && t->pass.verify)
        rec->wrong_sum += find_older(run, t);
    if (rec->wrong_sum == 0)
        return 0;
    t->damage.dirty = true;
    rc = weir_warn(&run->log, err, "Incorrect data on %s (%" PRIu64 " errors found).", what,
                   rec->wrong_sum);
    if (rc < 0 && err)
        err->code = WEIR_EDATA; /* --warningAsErrors */
    weir_note(&run->log, "Used Time Stamp %" PRIu32 " (0x%" PRIx32 ") for Data Signature",
              t->data.signature, t->data.signature);
    note_kinds(run, t);
    note_first(run, t);
    return rc;
}

int ior_buffers(struct ior_test *t, struct weir_err *err)
{
    t->data.lanes = 1;
    if (t->data.pattern.packet == WEIR_PACKET_RANDOM &&
        t->o->random_offset < 2) /* see take_owner */
        t->data.lanes = t->extent.transfer * WEIR_FILL_LANES <= AHEAD_BYTES ? WEIR_FILL_LANES : 1;
    for (int i = 0; i < t->data.lanes; i++)
        if (weir_mem_aligned(&t->data.buf[i], PAGE, t->extent.transfer, err) < 0)
            return -1;
    return 0;
}

void ior_new_signature(struct ior_test *t, uint32_t signature)
{
    t->data.signature = signature;
    t->data.pattern.signature = signature;
    for (int i = 0; i < t->data.lanes; i++)
        weir_pattern_base(&t->data.pattern, t->data.buf[i], t->extent.transfer);
}

bool ior_data_ahead(struct ior_test *t)
{
    bool moves = false, varies = data_varies(t);
    bool writes = t->pass.dir == WEIR_DIR_WRITE, alike = !varies && t->o->random_offset < 2;

    t->data.filled = writes && !alike ? t->data.lanes : IOR_OFFSETS_AHEAD;
    for (int i = 0; i < t->data.filled; i++)
        t->data.off[i] = weir_offsets_next(&t->pass.offsets);
    t->data.next = 0;
    if (!writes || alike)
        return false;
    if (take_owner(t, t->data.off[0])) {
        moves = true;
        weir_pattern_base(&t->data.pattern, t->data.buf[0], t->extent.transfer);
    }
    if (varies)
        make_data(t);
    return varies || moves;
}

/* ---- memory that is kept from the page cache (-M, memoryPerTask) ---- */

int ior_memory_parse(const struct ior_options *o, const struct weir_par *par, int64_t *bytes,
                     struct weir_err *err)
{
    int64_t node = 0;
    double percent = -1;

    *bytes = o->memory_per_task;
    if (!o->memory_per_node)
        return 0;
    if (weir_share_parse(o->memory_per_node, &node, &percent, err) < 0)
        return weir_err_within(err, "option -M (memoryPerNode)");
    if (percent >= 0)
        node = (int64_t)((double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) * percent /
                         100);
    *bytes = node / (par->per_node > 0 ? par->per_node : 1);
    return 0;
}

/* Touched page by page by weir_mem_aligned, so the kernel has really given it. */
int ior_memory_take(struct ior_test *t, struct weir_err *err)
{
    if (t->memory.bytes <= 0)
        return 0;
    if (weir_mem_aligned(&t->memory.taken, PAGE, (size_t)t->memory.bytes, err) < 0)
        return weir_err_within(err, "take memory away (-M, memoryPerTask)");
    return 0;
}

void ior_memory_free(struct ior_test *t)
{
    free(t->memory.taken);
    t->memory.taken = NULL;
}
