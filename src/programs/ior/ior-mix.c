/* SPDX-License-Identifier: BSD-3-Clause */
/* ior-mix.c - --mix: which transfers of a task are written and which are read, the version that
 * each of them has then, and the versions that reads have found.
 *
 * A task goes through its own transfers as in the write phase and draws for each, so a pass
 * touches each place once. Two passes never meet: no transfer is written while another one of
 * its place is in flight. The number of steps alone determines the bytes that were written.
 *
 * Where each transfer is an object (WEIR_BE_OBJECTS), it may also be listed, asked for or deleted.
 * A deleted one is written in the next pass. Without one it stays so, and phases that read leave
 * it out. */
#include "programs/ior/ior.h"

#include <inttypes.h>
#include <string.h>

#include "base/hash.h"
#include "base/size.h"
#include "base/text/columns.h"
#include "par/reduce.h"

#define VERSIONS (WEIR_DAMAGE_UNIT - 1) /* of a mix; 0 is what was there before */
#define WEIGHT_MAX 1000000

/* ---- the option ---- */

/* One word of the list, like read:70. Returns its direction, or -1. */
static int parse_word(const char *word, size_t len, uint32_t *weight)
{
    for (int d = 0; d < WEIR_DIRS; d++) {
        size_t head = strlen(weir_dir_names[d]) + 1;
        const char *end;
        double value;

        if (len <= head || memcmp(word, weir_dir_names[d], head - 1) != 0 || word[head - 1] != ':')
            continue;
        end = weir_real_scan(word + head, &value);
        if (end != word + len || !(value >= 0 && value <= WEIGHT_MAX) ||
            value != (double)(uint32_t)value)
            return -1;
        *weight = (uint32_t)value;
        return d;
    }
    return -1;
}

int ior_mix_parse(const char *text, struct ior_mix *m, struct weir_err *err)
{
    bool given[WEIR_DIRS] = { false };

    memset(m->weight, 0, sizeof(m->weight));
    m->weights = 0;
    for (const char *at = text; *at;) {
        size_t len = strcspn(at, ",+"); /* -O and scripts have other plans with commas */
        uint32_t value = 0;
        int d = parse_word(at, len, &value);

        if (d < 0 || given[d])
            break;
        given[d] = true;
        m->weight[d] = value;
        m->weights += value;
        at += len;
        if (!*at && given[0] && given[1] && m->weight[0] + m->weight[1] > 0)
            return 0;
        at += *at != '\0';
    }
    return weir_refuse(err, WEIR_EUSAGE,
                       "option --mix: '%s' is not like read:70,write:30, the two weights in whole "
                       "numbers of %d at most; objects (--s3.object=transfer) also have list, head "
                       "and delete",
                       text, WEIGHT_MAX);
}

/* ---- the draw ---- */

uint64_t ior_mix_key(uint64_t seed, int task, int repetition)
{
    static const char salt[] = "mix"; /* not the numbers of -z */

    seed ^= weir_hash(WEIR_HASH_BEGIN, salt, sizeof(salt));
    return weir_rng_at(weir_rng_at(seed, (uint64_t)task), (uint64_t)repetition);
}

static enum weir_dir draw(const struct ior_mix *m, uint64_t i)
{
    uint64_t at = weir_rng_below(m->key, i, m->weights);
    int d = WEIR_DIR_WRITE;

    for (; at >= m->weight[d]; d++)
        at -= m->weight[d];
    return (enum weir_dir)d;
}

/* Where several passes in turn draw a delete of a place, each second one writes it. */
enum weir_dir ior_mix_draw(const struct ior_mix *m, uint64_t i)
{
    bool gone = false;

    for (uint64_t at = i; m->weight[WEIR_DIR_DELETE] && at >= m->length; gone = !gone) {
        at -= m->length;
        if (draw(m, at) != WEIR_DIR_DELETE)
            break;
    }
    return gone ? WEIR_DIR_WRITE : draw(m, i);
}

/* ---- versions ---- */

uint32_t ior_mix_version_of(const struct ior_mix *m, uint64_t i)
{
    return (uint32_t)(1 + i / m->length % VERSIONS);
}

uint32_t ior_mix_version(const struct ior_mix *m, uint64_t i, uint64_t steps)
{
    uint64_t at = m->length > 0 ? i % m->length : 0;

    if (steps <= at || m->weight[WEIR_DIR_WRITE] + m->weight[WEIR_DIR_DELETE] == 0)
        return 0;
    for (uint64_t pass = (steps - at - 1) / m->length + 1; pass > 0; pass--) {
        uint64_t step = (pass - 1) * m->length + at;
        enum weir_dir dir = ior_mix_draw(m, step);

        if (dir == WEIR_DIR_WRITE || dir == WEIR_DIR_DELETE)
            return dir == WEIR_DIR_WRITE ? ior_mix_version_of(m, step) : IOR_MIX_GONE;
    }
    return 0;
}

void ior_mix_expect(struct weir_run *run, struct ior_test *t, int owner)
{
    if (!t->o->mix)
        return;
    t->mix.steps = weir_fetch_u64(&run->par, t->results.mixed, owner);
    t->mix.key = ior_mix_key(t->mix.seed, owner, run->repetition);
}

/* ---- what reads have found ---- */

struct version_row {
    const char *operation;
    int64_t test, iter, checked, before, mixed, lost, torn;
};

#define V struct version_row
static const struct weir_col cols[] = {
    COL_INT(V, test, "test", "Number of the test, from 0"),
    COL_INT(V, iter, "iter", "Repetition, from 0"),
    COL_STR(V, operation, "operation", "Phase that has read"),
    COL_INT(V, checked, "checked", "Transfers of all tasks whose data were checked"),
    COL_INT(V, before, "before", "That were as before the mix"),
    COL_INT(V, mixed, "mixed", "That a mix has written: this one, or an earlier one where the write phase did not follow it"),
    COL_INT(V, lost, "lostUpdates", "That were as before although the mix has written them since"),
    COL_INT(V, torn, "torn", "Of which a part was of another version"),
    WEIR_COL_END
};
#undef V

static const struct weir_table table = { .key = "versions",
                                         .cols = cols,
                                         .readers = WEIR_FOR_DATA };

void ior_mix_report(struct weir_run *run, const struct ior_test *t, const struct weir_phase_rec *rec)
{
    const uint64_t *kinds = t->damage.kinds;
    uint64_t sum[] = { t->data.versions[0], t->data.versions[1], kinds[WEIR_DAMAGE_LOST],
                       kinds[WEIR_DAMAGE_TORN] };
    struct version_row row;

    if (!t->o->mix || !t->pass.verify || t->data.pattern.packet != WEIR_PACKET_SIGNATURE)
        return;
    weir_allsum_u64(&run->par, sum, 4);
    row = (struct version_row) { .test = run->test->id,
                                 .iter = rec->repetition,
                                 .operation = rec->phase->key,
                                 .checked = (int64_t)(sum[0] + sum[1] + weir_phase_wrong(rec)),
                                 .before = (int64_t)sum[0],
                                 .mixed = (int64_t)sum[1],
                                 .lost = (int64_t)sum[2],
                                 .torn = (int64_t)sum[3] };
    weir_report_row(&run->report, &table, &row);
    if (run->log.verbose >= 1)
        weir_report_line(&run->report,
                         "versions found by %s: %" PRId64 " transfers as before the mix, %" PRId64
                         " as the mix has written them, %" PRId64 " lost updates, %" PRId64 " torn",
                         row.operation, row.before, row.mixed, row.lost, row.torn);
}
