/* SPDX-License-Identifier: BSD-3-Clause */
/* data.c - the data of the transfers of a file */
#include "base/data/data.h"
#include "config.h"

#include <inttypes.h>
#include <string.h>

void weir_data_begin(struct weir_data *c, int task, int repetition, const char *path,
                     bool ours)
{
    memset(&c->seen, 0, sizeof(c->seen));
    c->unit_known = ours;
    c->unit.repetition = (uint32_t)repetition;
    c->unit.writer = (uint32_t)task;
    c->unit.file = weir_signature_file(path);
}

bool weir_data_take_owner(struct weir_data *c, uint64_t off)
{
    int owner;

    if (!c->by_block)
        return false;
    owner = (int)(off / c->layout->block % (uint64_t)c->layout->tasks);
    if (owner == c->pattern.rank)
        return false;
    c->pattern.rank = owner;
    c->unit.writer = (uint32_t)owner;
    return true;
}

void weir_data_make(const struct weir_data *c, void *const *buf, size_t len,
                    const uint64_t *off, int n)
{
    if (!weir_data_is_signed(c)) {
        weir_pattern_stamp_many(&c->pattern, buf, len, off, n);
        return;
    }
    for (int i = 0; i < n; i++)
        weir_signature_fill(&c->unit, buf[i], len, off[i]);
}

bool weir_data_check(struct weir_data *c, const void *buf, size_t len, uint64_t off,
                     struct weir_data_damage *d)
{
    weir_data_take_owner(c, off);
    if (weir_data_is_signed(c))
        return weir_signature_check(&c->unit, c->unit_known, buf, len, off, &c->seen, d);
    if (weir_pattern_is_right(&c->pattern, buf, len, off))
        return true;
    weir_damage_of_pattern(&c->pattern, c->layout, buf, len, off, d);
    return false;
}

void weir_data_describe(const struct weir_data *c, const struct weir_data_damage *d,
                        struct weir_str *out)
{
    bool units = weir_data_is_signed(c);

    weir_str_addf(out,
                  "byte %" PRIu64 ": %s: expected 0x%016" PRIx64 ", found 0x%016" PRIx64
                  "; %" PRIu64 " wrong pieces of %d bytes in the transfer at %" PRIu64,
                  d->byte, weir_damage_name(d->kind), d->expect, d->got, d->pieces,
                  units ? WEIR_SIGNATURE_UNIT : 8, d->transfer);
    if (units && (d->kind == WEIR_DAMAGE_STALE || d->kind == WEIR_DAMAGE_MISPLACED))
        weir_str_addf(out,
                      "; the data say: run %" PRIu64 ", repetition %" PRIu32 ", task %" PRIu32
                      ", offset %" PRIu64 "%s",
                      d->found.run, d->found.repetition, d->found.writer, d->found.off,
                      d->found.file == c->unit.file
                          ? ""
                          : ", a file of another name (the name is a part of the signature)");
}
