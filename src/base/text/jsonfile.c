/* SPDX-License-Identifier: BSD-3-Clause */
/* jsonfile.c - a JSON document that is in a file from the beginning and grows */
#include "config.h"
#include "base/text/jsonfile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROOM ((size_t)256 << 10) /* of a new document; a part of it has a quarter of what is left, */
#define ROOM_LEAST 256           /* from this */
#define ROOM_MOST 65536          /* to this */

/* The first bytes of a document until it is finished, and where its finished form goes on. */
#define BRACE "{"
#define MARK "\n  \"unfinished\": 1"
#define GOES_ON (sizeof(BRACE MARK ",") - 1)

struct weir_json weir_jsonfile_member(const struct weir_jsonpart *in, struct weir_str *text)
{
    return (struct weir_json) {
        .out = text, .base = in->level, .depth = 1, .lists = in->list, .begun = in->members > 0
    };
}

/* The line on which a part ends, without the bracket; how long it is. */
static size_t add_end(const struct weir_jsonpart *part, struct weir_str *text)
{
    size_t len = text->len;

    weir_str_addf(text, "\n%*s", 2 * part->level, "");
    return text->len - len;
}

static void add_room(struct weir_str *text, size_t room)
{
    while (room-- > 0)
        weir_str_addc(text, WEIR_GROWING_TAB);
}

uint64_t weir_jsonfile_put(struct weir_jsonfile *f, struct weir_jsonpart *in, struct weir_str *text)
{
    size_t end = add_end(in, text);
    uint64_t at = weir_growing_insert(&f->file, &in->gap, text, end);

    in->members++;
    f->failed |= f->file.sys != 0;
    weir_str_free(text);
    return at;
}

static size_t room_in(const struct weir_jsonpart *in)
{
    uint64_t room = (in->gap.end - in->gap.at) / 4;

    return room < ROOM_LEAST ? ROOM_LEAST : room > ROOM_MOST ? ROOM_MOST : (size_t)room;
}

static struct weir_jsonpart *new_part(struct weir_jsonpart *in, const char *key, bool list)
{
    struct weir_jsonpart *part = calloc(1, sizeof(*part));

    if (!part || !(part->key = strdup(key ? key : ""))) {
        free(part);
        return NULL;
    }
    part->in = in;
    part->list = list;
    part->level = in ? in->level + 1 : 0;
    return part;
}

static void free_part(struct weir_jsonpart *part)
{
    weir_str_free(&part->keys);
    free(part->key);
    free(part);
}

struct weir_jsonpart *weir_jsonfile_enter(struct weir_jsonfile *f, struct weir_jsonpart *in,
                                          const char *key, bool list)
{
    struct weir_jsonpart *part = new_part(in, key, list);
    struct weir_str text = { 0 };
    struct weir_json j = weir_jsonfile_member(in, &text);
    size_t room = room_in(in), at;
    uint64_t place;

    if (!part) {
        f->failed = true;
        return NULL;
    }
    weir_json_open(&j, key, list);
    at = text.len;
    add_room(&text, room);
    weir_json_close(&j);
    place = weir_jsonfile_put(f, in, &text) + at;
    weir_growing_gap(&f->file, &part->gap, &in->gap, place, place + room);
    return part;
}

/* Nothing comes into the lists of an object any more. */
static void close_lists(struct weir_jsonfile *f, struct weir_jsonpart *of)
{
    while (of->lists) {
        struct weir_jsonpart *list = of->lists;

        of->lists = list->next;
        weir_growing_drop(&f->file, &list->gap, &of->gap);
        free_part(list);
    }
}

void weir_jsonfile_leave(struct weir_jsonfile *f, struct weir_jsonpart *part)
{
    struct weir_str text = { 0 };
    size_t keep;

    close_lists(f, part);
    if (part->members > 0)
        add_end(part, &text);
    weir_str_addc(&text, part->list ? ']' : '}');
    keep = add_end(part->in, &text);
    weir_growing_shut(&f->file, &part->gap, &part->in->gap, &text, keep);
    weir_str_free(&text);
    free_part(part);
}

struct weir_jsonpart *weir_jsonfile_list(struct weir_jsonfile *f, struct weir_jsonpart *in,
                                         const char *key)
{
    struct weir_jsonpart *list = in->lists;

    while (list && strcmp(list->key, key) != 0)
        list = list->next;
    if (!list && (list = weir_jsonfile_enter(f, in, key, true))) {
        list->next = in->lists;
        in->lists = list;
    }
    return list;
}

bool weir_jsonfile_is_new(struct weir_jsonfile *f, struct weir_jsonpart *in, const char *key)
{
    struct weir_str *keys = &in->keys;

    if (in->list)
        return true;
    for (size_t at = 0; at < keys->len; at += strlen(keys->text + at) + 1)
        if (strcmp(keys->text + at, key) == 0)
            return false;
    weir_str_add(keys, key, strlen(key) + 1);
    f->failed |= keys->failed;
    return true;
}

/* ---- the whole ---- */

int weir_jsonfile_open(struct weir_jsonfile *f, const char *place, struct weir_err *err)
{
    struct weir_jsonpart *root = new_part(NULL, NULL, false);
    struct weir_str text = { 0 };
    int rc;

    *f = (struct weir_jsonfile) { .root = root };
    if (!root)
        return weir_fail(err, WEIR_ESETUP, "memory for a document");
    weir_str_addf(&text, "%s%s", BRACE, MARK);
    root->members = 1;
    root->gap.at = text.len;
    root->gap.kept = add_end(root, &text);
    add_room(&text, ROOM);
    root->gap.end = text.len;
    weir_str_addf(&text, "}\n");
    rc = weir_growing_open(&f->file, place, &text, &root->gap, err);
    weir_str_free(&text);
    if (rc < 0)
        free_part(root);
    return rc;
}

bool weir_jsonfile_begun(const struct weir_jsonfile *f)
{
    return f->root->gap.inside > 0;
}

int weir_jsonfile_write(struct weir_jsonfile *f, bool marked, FILE *out)
{
    if (out && !f->failed && !marked)
        fputs(BRACE, out);
    if (out && !f->failed)
        weir_growing_copy(&f->file, marked ? 0 : GOES_ON, out);
    return f->file.sys ? f->file.sys : f->failed ? ENOMEM : 0;
}

void weir_jsonfile_close(struct weir_jsonfile *f, bool keep)
{
    if (!f->root)
        return;
    close_lists(f, f->root);
    weir_growing_close(&f->file, keep && weir_jsonfile_begun(f));
    free_part(f->root);
    f->root = NULL;
}
