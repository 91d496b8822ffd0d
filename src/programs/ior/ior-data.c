/* SPDX-License-Identifier: BSD-3-Clause */
/* ior-data.c - the offsets and data of the transfers, made before a write and checked after a read */
#include "programs/ior/ior.h"

#include <inttypes.h>
#include <string.h>

#include "par/reduce.h"

/* A phase begins: the owner of its data and its file are known. */
static void begin_data(struct weir_run *run, struct ior_test *t)
{
    t->damage = (struct ior_damages) { .dirty = t->damage.dirty };
    t->data.seen = (struct weir_signature_seen) { 0 };
    memset(t->data.versions, 0, sizeof(t->data.versions));
    t->data.unit_known = t->o->write;
    t->data.unit.version = 0;
    t->data.unit.repetition = (uint32_t)run->repetition;
    t->data.unit.writer = (uint32_t)t->pass.owner;
    t->data.unit.file = weir_signature_file(weir_str_text(&t->use.path));
}

static bool is_signed(const struct ior_test *t)
{
    return t->data.pattern.packet == WEIR_PACKET_SIGNATURE;
}

/* With -z -z: take the data of the task that owns the block at offset off. True: it is another task
 * than before, and the caller makes the base pattern. */
static bool take_owner(struct ior_test *t, uint64_t off)
{
    struct ior_data *d = &t->data;
    int owner;

    if (!d->by_block)
        return false;
    owner = (int)(off / t->layout.block % (uint64_t)t->layout.tasks);
    if (owner == d->pattern.rank)
        return false;
    d->pattern.rank = owner;
    d->unit.writer = (uint32_t)owner;
    return true;
}

/* Check a transfer of units. Data that the mix has written are known, also in a file of another
 * run. */
static bool is_right_signed(struct ior_test *t, const struct weir_io *io,
                            struct weir_data_damage *out)
{
    struct ior_data *d = &t->data;
    bool right;

    if (t->o->mix)
        d->unit.version =
            ior_mix_version(&t->mix, io->tag, t->pass.mixed ? io->tag : t->mix.steps);
    right = weir_signature_check(&d->unit, d->unit_known || d->unit.version > 0, io->buf, io->len,
                                 io->off, &d->seen, out);
    d->versions[d->seen.version > 0] += right;
    return right;
}

/* True when a transfer is right; else *out has how it is wrong. */
static bool is_right(struct ior_test *t, const struct weir_io *io, struct weir_data_damage *out)
{
    struct ior_data *d = &t->data;

    take_owner(t, io->off);
    if (is_signed(t))
        return is_right_signed(t, io, out);
    if (weir_pattern_is_right(&d->pattern, io->buf, io->len, io->off))
        return true;
    weir_damage_of_pattern(&d->pattern, &t->layout, io->buf, io->len, io->off, out);
    return false;
}

bool ior_data_check(struct ior_test *t, const struct weir_io *io)
{
    struct weir_data_damage d;

    if (is_right(t, io, &d))
        return true;
    t->damage.kinds[d.kind]++;
    if (t->damage.n < IOR_DAMAGE_SHOWN)
        t->damage.first[t->damage.n++] = d;
    return false;
}

static enum weir_order order_of(const struct ior_options *o)
{
    if (o->random_offset == 0)
        return WEIR_ORDER_SEQUENTIAL;
    if (o->random_offset >= 2)
        return WEIR_ORDER_RANDOM;
    return o->distribution[0] == 'o' ? WEIR_ORDER_DISTRIBUTED : WEIR_ORDER_SHUFFLED;
}

/* The part of the file from which -z -z takes its blocks. A run that writes takes what it was
 * going to write: the last block may never have been written. So does one that checks a file of
 * such a run. */
static int find_file_bytes(struct ior_test *t, uint64_t *bytes, struct weir_err *err)
{
    uint64_t there;

    *bytes = t->extent.file_bytes;
    if (t->o->random_offset < 2 || t->o->write || (t->session.flags & WEIR_BE_NO_DATA))
        return 0;
    if (weir_session_size(&t->session, t->use.path.text, &there, err) < 0)
        return -1;
    if (there > *bytes || !t->pass.verify)
        *bytes = there;
    return 0;
}

int ior_begin_offsets(struct weir_run *run, struct ior_test *t, struct weir_err *err)
{
    struct weir_offset_conf c = { .layout = t->layout,
                                  .order = order_of(t->o),
                                  .task = t->pass.owner,
                                  .seed = (uint64_t)(uint32_t)t->o->random_seed };
    uint64_t n;

    if (find_file_bytes(t, &c.file_bytes, err) < 0)
        return -1;
    weir_offsets_free(&t->pass.offsets);
    t->data.next = t->data.filled = 0;
    begin_data(run, t);
    if (weir_offsets_init(&t->pass.offsets, &c, err) < 0)
        return -1;
    n = weir_offsets_count(&t->pass.offsets);
    n = t->pass.limit < n ? t->pass.limit : n;
    t->pass.steps = t->mix.length = t->o->run.dry_run ? 0 : n; /* a dry run takes a moment */
    return 0;
}

/* ---- afterwards ---- */

/* Data of an unknown run: the newest run and repetition that any rank saw is the right one.
 * Transfers that a rank took for right may then be older. Returns their number on all ranks. */
static uint64_t find_older(struct weir_run *run, struct ior_test *t)
{
    const struct weir_signature_seen *seen = &t->data.seen;
    int64_t newest = (int64_t)seen->run, rep = -1;
    uint64_t older = seen->older;

    weir_allmax_i64(&run->par, &newest, 1);
    if ((int64_t)seen->run == newest)
        rep = seen->repetition;
    weir_allmax_i64(&run->par, &rep, 1);
    if (seen->any && ((int64_t)seen->run != newest || seen->repetition != rep))
        older = seen->transfers;
    t->damage.kinds[WEIR_DAMAGE_STALE] += older;
    weir_allsum_u64(&run->par, &older, 1);
    return older;
}

/* Describe the place and kind of a wrong transfer. Every rank knows its own file names. */
static void describe(const struct weir_run *run, const struct ior_test *t,
                     const struct weir_data_damage *d, struct weir_str *out)
{
    bool units = is_signed(t);

    weir_str_addf(out,
                  "rank %d on %s: '%s', byte %" PRIu64 ": %s: expected 0x%016" PRIx64
                  ", found 0x%016" PRIx64 "; %" PRIu64
                  " wrong pieces of %d bytes in the transfer at %" PRIu64,
                  run->par.rank, run->par.host, weir_str_text(&t->use.path), d->byte,
                  weir_damage_name(d->kind), d->expect, d->got, d->pieces,
                  units ? WEIR_SIGNATURE_UNIT : 8, d->transfer);
    if (units && (d->kind == WEIR_DAMAGE_STALE || d->kind == WEIR_DAMAGE_MISPLACED ||
                  d->kind == WEIR_DAMAGE_LOST))
        weir_str_addf(out,
                      "; the data say: run %" PRIu64 ", repetition %" PRIu32 ", task %" PRIu32
                      ", offset %" PRIu64 "%s%s",
                      d->found.run, d->found.repetition, d->found.writer, d->found.off,
                      !t->o->mix                ? ""
                      : d->found.version == 0 ? ", written before the mix"
                                              : ", written in the mix",
                      d->found.file == t->data.unit.file
                          ? ""
                          : ", a file of another name (the name is a part of the signature)");
    weir_str_addc(out, '\0');
}

static void note_lines(void *run, const char *bytes, size_t len)
{
    const struct weir_run *r = run;

    for (const char *at = bytes; at < bytes + len; at += strlen(at) + 1)
        weir_note(&r->log, "wrong data: %s", at);
}

static void note_first(struct weir_run *run, struct ior_test *t)
{
    uint64_t before = weir_before_u64(&run->par, (uint64_t)t->damage.n);
    struct weir_str lines = { 0 };

    for (int i = 0; i < t->damage.n && before + (uint64_t)i < IOR_DAMAGE_SHOWN; i++)
        describe(run, t, &t->damage.first[i], &lines);
    run->report.lost |= weir_pieces(&run->par, &lines, note_lines, run) < 0;
    weir_str_free(&lines);
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
    weir_note(&run->log, "wrong transfers by kind: %s", weir_str_words(&s));
    weir_str_free(&s);
}

int ior_data_report(struct weir_run *run, struct ior_test *t, struct weir_phase_rec *rec,
                    const char *what, struct weir_err *err)
{
    int rc;

    if (is_signed(t) && !t->data.unit_known && t->pass.verify)
        rec->wrong_found = find_older(run, t);
    if (weir_phase_wrong(rec) == 0)
        return 0;
    t->damage.dirty = true;
    rc = weir_warn(&run->log, err, "Incorrect data on %s (%" PRIu64 " errors found).", what,
                   weir_phase_wrong(rec));
    if (rc < 0 && err)
        err->code = WEIR_EDATA; /* --warningAsErrors */
    weir_note(&run->log, "Used Time Stamp %" PRIu32 " (0x%" PRIx32 ") for Data Signature",
              t->data.pattern.signature, t->data.pattern.signature);
    note_kinds(run, t);
    note_first(run, t);
    return rc;
}

/* The base pattern in a buffer. */
static void make_base(struct ior_test *t, int lane)
{
    weir_pattern_base(&t->data.pattern, t->data.buf[lane], t->extent.transfer);
    weir_gpu_filled(t->gpu, t->data.buf[lane], t->extent.transfer);
}

void ior_new_signature(struct ior_test *t, uint32_t signature)
{
    t->data.pattern.signature = signature;
    t->data.made++;
    for (int i = 0; i < t->data.lanes && !t->o->run.dry_run; i++)
        make_base(t, i);
}

/* Make the transfers at the next offsets; their buffers hold the base pattern. */
static void make_data(struct ior_test *t)
{
    struct ior_data *d = &t->data;

    if (!is_signed(t))
        weir_pattern_stamp_many(&d->pattern, d->buf, t->extent.transfer, d->off, d->lanes);
    for (int i = 0; is_signed(t) && i < d->lanes; i++)
        weir_signature_fill(&d->unit, d->buf[i], t->extent.transfer, d->off[i]);
    for (int i = 0; t->gpu && i < d->lanes; i++)
        weir_gpu_filled(t->gpu, d->buf[i], t->extent.transfer);
}

bool ior_data_make(struct ior_test *t, const struct weir_io *io)
{
    struct ior_data *d = &t->data;

    if (!weir_pattern_varies(&d->pattern))
        return false;
    if (is_signed(t)) {
        d->unit.version = ior_mix_version_of(&t->mix, io->tag);
        weir_signature_fill(&d->unit, d->buf[0], io->len, io->off);
    } else {
        weir_pattern_stamp(&d->pattern, d->buf[0], io->len, io->off);
    }
    weir_gpu_filled(t->gpu, d->buf[0], io->len);
    return true;
}

bool ior_data_ahead(struct ior_test *t)
{
    bool moves, varies = weir_pattern_varies(&t->data.pattern);
    bool writes = t->pass.dir == WEIR_DIR_WRITE && !t->pass.mixed, alike = !ior_data_varies(&t->data);

    t->data.filled = writes && !alike ? t->data.lanes : IOR_OFFSETS_AHEAD;
    for (int i = 0; i < t->data.filled; i++)
        t->data.off[i] = weir_offsets_next(&t->pass.offsets);
    t->data.next = 0;
    if (!writes || alike)
        return false;
    moves = take_owner(t, t->data.off[0]);
    if (moves)
        make_base(t, 0);
    if (varies)
        make_data(t);
    return varies || moves;
}
