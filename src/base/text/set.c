/* SPDX-License-Identifier: BSD-3-Clause */
/* set.c - a set of texts, which have numbers in the order in which they came */
#include "base/text/set.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define FIRST_SLOTS 64
#define MOST_TEXTS (UINT32_MAX - 1)

/* A slot of the table. A lookup begins at the place of the text, and goes on while slots are taken. */
struct weir_set_slot {
    uint32_t place; /* mixed bits of the hash; the lower ones are the slot it would have */
    uint32_t next;  /* its number and one; 0: the slot is free */
};

/* The lower bits of FNV-1a do not depend on all of the upper ones. */
static uint32_t place_of(uint64_t hash)
{
    return (uint32_t)(((hash ^ hash >> 32) * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
}

static bool is_at(const struct weir_set *s, uint32_t number, const char *text, size_t len)
{
    const char *there = s->text.text + s->begin[number];
    size_t end = number + 1 < s->n ? s->begin[number + 1] : s->text.len;

    return end - s->begin[number] == len + 1 && memcmp(there, text, len) == 0;
}

/* The slot of the text, or the free one that it would have. */
static struct weir_set_slot *slot_of(const struct weir_set *s, uint32_t place, const char *text,
                                     size_t len)
{
    for (size_t i = place;; i++) {
        struct weir_set_slot *slot = &s->slot[i & (s->slots - 1)];

        if (s->looked)
            ++*s->looked;
        if (slot->next == 0 || (slot->place == place && is_at(s, slot->next - 1, text, len)))
            return slot;
    }
}

/* Twice the slots. Texts that were all different stay so: nothing is compared. */
static bool grow_slots(struct weir_set *s)
{
    size_t slots = s->slots ? 2 * s->slots : FIRST_SLOTS;
    struct weir_set_slot *slot = calloc(slots, sizeof(*slot));

    if (!slot)
        return false;
    for (size_t old = 0; old < s->slots; old++) {
        size_t i = s->slot[old].place & (slots - 1);

        while (s->slot[old].next && slot[i].next)
            i = (i + 1) & (slots - 1);
        if (s->slot[old].next)
            slot[i] = s->slot[old];
    }
    free(s->slot);
    s->slot = slot;
    s->slots = slots;
    return true;
}

static bool reserve(struct weir_set *s)
{
    if (s->n >= MOST_TEXTS || (2 * (s->n + 1) > s->slots && !grow_slots(s)))
        return false;
    return weir_mem_reserve(&s->begin, s->n, &s->begins, sizeof(*s->begin));
}

static bool append(struct weir_set *s, const char *text, size_t len)
{
    size_t begin = s->text.len;

    weir_str_add(&s->text, text, len);
    weir_str_addc(&s->text, '\0');
    if (!s->text.failed)
        s->begin[s->n++] = begin;
    return !s->text.failed;
}

int64_t weir_set_add(struct weir_set *s, const char *text, size_t len)
{
    uint32_t place = place_of(weir_hash(WEIR_HASH_BEGIN, text, len));
    struct weir_set_slot *slot;

    if (s->failed || !reserve(s)) {
        s->failed = true;
        return -1;
    }
    slot = slot_of(s, place, text, len);
    if (slot->next == 0 && append(s, text, len))
        *slot = (struct weir_set_slot) { .place = place, .next = (uint32_t)s->n };
    s->failed = s->text.failed;
    return (int64_t)slot->next - 1;
}

int64_t weir_set_find(const struct weir_set *s, uint64_t hash, const char *text, size_t len)
{
    return s->n > 0 ? (int64_t)slot_of(s, place_of(hash), text, len)->next - 1 : -1;
}

void weir_set_free(struct weir_set *s)
{
    free(s->slot);
    free(s->begin);
    weir_str_free(&s->text);
    *s = (struct weir_set) { .n = 0 };
}
