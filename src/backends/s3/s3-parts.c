/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-parts.c - how a file becomes parts of an object, and what a service takes */
#include "backends/s3/s3-objects.h"

#include <inttypes.h>
#include <stdarg.h>

#include "base/size.h"

/* A file as it is written. */
struct shape {
    const struct s3_options *o;
    const struct weir_access *a;
    uint64_t transfer, block, segments, bytes; /* bytes: of the whole file */
    bool random; /* writes are in no order */
    bool sole; /* one task writes all of it, from its begin to its end: a block of others is nowhere between */
    bool uneven; /* blocks of tasks have different lengths, each of whole transfers */
};

static struct shape shape_of(const struct weir_session *s, const struct weir_extent *x)
{
    struct shape f = { .o = s->opt,
                       .a = &s->access,
                       .transfer = x->transfer,
                       .block = x->block,
                       .segments = x->segments,
                       .bytes = x->file_bytes,
                       .random = s->access.random && !s->access.writes_ascend,
                       .sole = !s3_is_shared(s, x) };

    f.uneven = !f.sole && f.block == 0;
    if (f.uneven)
        f.block = f.transfer;
    if (f.sole && f.segments <= 1)
        f.block = f.bytes;
    return f;
}

static uint64_t parts_of(uint64_t bytes, uint64_t size)
{
    return bytes / size + (bytes % size != 0);
}

/* ---- parts that would do ---- */

/* The least divisor of q that is not less than 'least'; 0: none. */
static uint64_t divisor_from(uint64_t q, uint64_t least)
{
    uint64_t best = 0;

    for (uint64_t d = 1; d <= q / d; d++) {
        if (q % d)
            continue;
        if (d >= least)
            return best && best < d ? best : d;
        if (q / d >= least)
            best = q / d; /* descends */
    }
    return best;
}

/* The least part that transfers can be coalesced to; 0: there is none. */
static uint64_t part_that_does(const struct shape *f)
{
    uint64_t need = (uint64_t)f->o->part_least, most = parts_of(f->bytes, S3_PARTS_MOST), size;

    if (f->random || f->transfer == 0 || f->uneven || (!f->sole && f->block % f->transfer))
        return 0;
    need = need > most ? need : most;
    size = f->sole ? parts_of(need, f->transfer) * f->transfer
                    : f->transfer * divisor_from(f->block / f->transfer, parts_of(need, f->transfer));
    return size <= S3_PUT_MOST ? size : 0;
}

static const char *typed(uint64_t bytes, char out[WEIR_SIZE_TEXT])
{
    return weir_size_typed(weir_signed(bytes), out);
}

/* Refuse with a remedy. least: a transfer that would do; 0: none. */
static int refuse_with(const struct shape *f, uint64_t least, struct weir_err *err, const char *fmt,
                       ...) __attribute__((format(printf, 4, 5)));
static int refuse_with(const struct shape *f, uint64_t least, struct weir_err *err, const char *fmt,
                       ...)
{
    char part[WEIR_SIZE_TEXT], transfer[WEIR_SIZE_TEXT];
    const uint64_t size = part_that_does(f);
    struct weir_str why = { 0 };
    va_list ap;

    va_start(ap, fmt);
    weir_str_vaddf(&why, fmt, ap);
    va_end(ap);
    weir_str_addf(&why, "; give ");
    if (size > 0)
        weir_str_addf(&why, "--s3.part=%s, which coalesces transfers, or ", typed(size, part));
    if (least > 0)
        weir_str_addf(&why, "transfers of %s (-t %s) or more, or ",
                      weir_size_show(weir_signed(least), part), typed(least, transfer));
    weir_str_addf(&why, "--s3.object=transfer, an object for each transfer");
    weir_refuse(err, WEIR_EUSAGE, "%s", weir_str_words(&why));
    weir_str_free(&why);
    return -1;
}

/* ---- what is refused ---- */

static int check_put(const struct shape *f, uint64_t bytes, struct weir_err *err)
{
    char text[WEIR_SIZE_TEXT];
    const uint64_t size = part_that_does(f);

    if (bytes <= S3_PUT_MOST)
        return 0;
    weir_size_show(weir_signed(bytes), text);
    if (size > 0 && size < bytes)
        return refuse_with(f, 0, err, "a request carries 5 GiB at most, not %s", text);
    return weir_refuse(err, WEIR_EUSAGE, "a request can have at most 5 GiB, not %s; use smaller "
                                         "transfers (-t)", text);
}

static int check_coalescing(const struct shape *f, uint64_t part, struct weir_err *err)
{
    char own[WEIR_SIZE_TEXT], transfer[WEIR_SIZE_TEXT];

    if (f->random)
        return refuse_with(f, (uint64_t)f->o->part_least, err,
                           "--s3.part=%s coalesces transfers in the order of their offsets, but "
                           "the offsets are random", typed(part, own));
    if (part % f->transfer == 0)
        return 0;
    return refuse_with(f, 0, err, "--s3.part=%s is not a multiple of the transfer size (%s)",
                                  typed(part, own), typed(f->transfer, transfer));
}

/* Parts of several tasks, or of several blocks, are where the bytes of one block are. */
static int check_blocks(const struct shape *f, uint64_t size, struct weir_err *err)
{
    char part[WEIR_SIZE_TEXT], block[WEIR_SIZE_TEXT];

    if (f->block % size == 0)
        return 0;
    return refuse_with(f, f->uneven ? size : 0, err,
                       "parts of %s do not divide blocks of %s: a part has bytes of one block only",
                       typed(size, part), typed(f->block, block));
}

static int check_least(const struct shape *f, uint64_t size, struct weir_err *err)
{
    const uint64_t least = (uint64_t)f->o->part_least;
    const bool own = size == f->transfer,
               larger = f->uneven || (f->block >= least && f->block % least == 0);
    char part[WEIR_SIZE_TEXT], text[WEIR_SIZE_TEXT];

    if (size >= least)
        return 0;
    return refuse_with(f, larger ? least : 0, err,
                       "%s of %s make%s parts that are too small: the service takes no part of "
                       "less than %s but the last (--s3.part-least)",
                       own ? "transfers" : "--s3.part", typed(size, part), own ? "" : "s",
                       weir_size_show(f->o->part_least, text));
}

static int check_number(const struct shape *f, uint64_t size, struct weir_err *err)
{
    char text[WEIR_SIZE_TEXT], part[WEIR_SIZE_TEXT];

    weir_size_show(weir_signed(f->bytes), text);
    if (f->bytes > S3_OBJECT_MOST)
        return weir_refuse(err, WEIR_EUSAGE,
                           "an object can have at most 5 TiB, not %s; use more files or smaller "
                           "ones, or --s3.object=transfer", text);
    if (parts_of(f->bytes, size) <= S3_PARTS_MOST)
        return 0;
    return refuse_with(
        f, 0, err, "an object of %s has %" PRIu64 " parts of %s, and no object has more than %u",
        text, parts_of(f->bytes, size), typed(size, part), S3_PARTS_MOST);
}

/* Bytes that are not written would be a hole, and objects have none. An end that is missing makes a shorter object. */
static int check_holes(const struct shape *f, struct weir_err *err)
{
    if (!f->a->stops || (f->sole && !f->random))
        return 0;
    return weir_refuse(err, WEIR_EUSAGE,
                       "with %s the run may skip %s, but an object cannot have holes; remove that option, or give %s--s3.object=transfer",
                       f->a->stops, f->sole ? "transfers at any offset" : "blocks of tasks that are slower",
                       f->sole ? "" : "a file per task (-F), or ");
}

static int check_parts(const struct shape *f, const struct s3_parts *p, struct weir_err *err)
{
    bool blocks = !f->sole || f->segments > 1;

    if (p->coalesced && check_coalescing(f, p->size, err) < 0)
        return -1;
    if (check_least(f, p->size, err) < 0 || check_number(f, p->size, err) < 0 || check_put(f, p->size, err) < 0)
        return -1;
    if (f->sole && blocks && f->block % f->transfer == 0)
        blocks = false; /* one after the other */
    return blocks && check_blocks(f, p->size, err) < 0 ? -1 : check_holes(f, err);
}

/* ---- */

/* Sizes are not known before they come: from one task, in order. */
static int unknown_parts(const struct shape *f, struct s3_parts *out, struct weir_err *err)
{
    *out = (struct s3_parts) { .size = (uint64_t)(f->o->part ? f->o->part : f->o->part_least), .coalesced = true };
    if (!f->sole)
        return weir_refuse(err, WEIR_EUSAGE, "parts of a shared file need known transfer and block "
                                             "sizes; use a file per task");
    return 0;
}

int s3_parts_of(const struct weir_session *s, const struct weir_extent *x, struct s3_parts *out, struct weir_err *err)
{
    const struct shape f = shape_of(s, x);
    uint64_t part = (uint64_t)f.o->part;

    *out = (struct s3_parts) { 0 };
    if (f.a->only_reads)
        return 0;
    if (f.transfer == 0)
        return unknown_parts(&f, out, err);
    *out = (struct s3_parts) { .size = f.transfer, .n = 1, .bytes = f.bytes, .single = true };
    if (s3_is_split(f.o))
        return check_put(&f, f.transfer, err);
    if (part > 0 && part < f.transfer && part < f.bytes)
        return weir_refuse(err, WEIR_EUSAGE, "--s3.part=%" PRIu64 " is less than a transfer of %" PRIu64
                           " bytes: a part has whole transfers; leave it out", part, f.transfer);
    if (part > f.transfer)
        out->size = part;
    out->coalesced = out->size > f.transfer && f.transfer < f.bytes;
    if (f.bytes == 0 || (f.sole && f.bytes <= out->size && !(out->coalesced && f.random)))
        return check_put(&f, f.bytes, err);
    out->single = false;
    out->n = parts_of(f.bytes, out->size);
    return check_parts(&f, out, err);
}
