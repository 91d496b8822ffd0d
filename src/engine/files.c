/* SPDX-License-Identifier: BSD-3-Clause */
/* files.c - the one table of files that a run reads and writes */
#include "engine/files.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text/path.h"
#include "base/text/set.h"

#define MOST_NAMES (UINT64_C(1) << 20) /* that are compared one by one */

struct weir_file_entry {
    const char *role;
    const char *path; /* of the one file; of many what their names begin with */
    enum weir_file_use use;
    int test, job;
    bool list;                    /* of --report: two of one test are two outputs */
    struct weir_file_names names; /* n 0: one file */
    /* Set by the check. */
    char *place; /* as path, absolute, without links; NULL: not looked at */
    bool there;
    dev_t dev;
    ino_t ino;
};

/* ---- to fill the table ---- */

static struct weir_file_entry *add_entry(struct weir_files *f, const char *role, const char *path,
                                         enum weir_file_use use, struct weir_err *err)
{
    if (f->n == f->capacity) {
        int capacity = f->capacity ? 2 * f->capacity : 16;
        struct weir_file_entry *more =
            weir_arena_alloc(f->arena, sizeof(*more) * (size_t)capacity, err);

        if (!more)
            return NULL;
        if (f->n)
            memcpy(more, f->entry, sizeof(*more) * (size_t)f->n);
        f->entry = more;
        f->capacity = capacity;
    }
    f->entry[f->n] = (struct weir_file_entry) {
        .role = role, .path = path, .use = use, .test = f->test, .job = f->job
    };
    return &f->entry[f->n++];
}

/* The last entry of this role; tests of a script mostly repeat it. */
static bool is_known(const struct weir_files *f, const char *role, const char *path,
                     enum weir_file_use use)
{
    int i = f->n - 1;

    while (i >= 0 && strcmp(f->entry[i].role, role) != 0)
        i--;
    return i >= 0 && f->entry[i].names.n == 0 && f->entry[i].use == use && f->entry[i].job == f->job &&
           strcmp(f->entry[i].path, path) == 0;
}

static bool is_file(const char *path)
{
    return path && *path && strcmp(path, "-") != 0;
}

int weir_files_add(struct weir_files *f, const char *role, const char *path, enum weir_file_use use,
                   struct weir_err *err)
{
    if (!is_file(path) || is_known(f, role, path, use))
        return 0;
    return add_entry(f, role, path, use, err) ? 0 : -1;
}

int weir_files_add_names(struct weir_files *f, const char *role,
                         const struct weir_file_names *names, enum weir_file_use use,
                         struct weir_err *err)
{
    struct weir_file_entry *e;

    if (names->trees && !f->at_once)
        return 0;
    e = add_entry(f, role, names->prefix, use, err);
    if (!e)
        return -1;
    e->names = *names;
    return 0;
}

int weir_files_add_inside(struct weir_files *f, const char *role, const char *dir,
                          const char *begin, struct weir_file_names names, struct weir_err *err)
{
    names.prefix = weir_arena_textf(f->arena, err, "%s/%s", dir ? dir : ".", begin);
    return names.prefix ? weir_files_add_names(f, role, &names, WEIR_FILE_WRITE, err) : -1;
}

const char *weir_files_role(struct weir_files *f, const char *prefix, const struct weir_opt *row,
                            struct weir_err *err)
{
    const char *name = row->key ? row->key : row->name;

    if (row->letter)
        return weir_arena_textf(f->arena, err, "-%c (%s%s)", row->letter, prefix, name);
    return weir_arena_textf(f->arena, err, "%s%s%s", row->key ? "" : "--", prefix, name);
}

/* Add the directories of a job; without a value the working directory, if the row allows that. */
static int add_places(struct weir_files *f, const struct weir_opt *row, const char *list, struct weir_err *err)
{
    const bool many = row->flags & WEIR_OPT_PLACES;

    if (!list)
        list = many ? "" : ".";
    for (int i = 0; i < (many ? weir_places_count(list) : 1); i++) {
        size_t len = strlen(list);
        const char *piece = many ? weir_places_at(list, i, &len) : list;

        piece = weir_arena_strndup(f->arena, piece, len, err);
        if (!piece || weir_files_add(f, "", piece, WEIR_FILE_WRITE, err) < 0)
            return -1;
    }
    return 0;
}

int weir_files_add_options(struct weir_files *f, const char *prefix, const struct weir_opt *rows,
                           const void *values, struct weir_err *err)
{
    const unsigned places = f->at_once ? WEIR_OPT_PLACE | WEIR_OPT_PLACES : 0;
    const unsigned files = WEIR_OPT_WRITES | WEIR_OPT_ADDS | (f->at_once ? places : WEIR_OPT_READS);

    for (; rows->name || rows->letter || rows->key; rows++) {
        const char *path, *role;

        if (!(rows->flags & files))
            continue;
        memcpy(&path, (const char *)values + rows->offset, sizeof(path));
        if (rows->flags & places && add_places(f, rows, path, err) < 0)
            return -1;
        if (rows->flags & places || !is_file(path))
            continue;
        if (path[weir_opt_file_length(rows, path)])
            path = weir_arena_strndup(f->arena, path, weir_opt_file_length(rows, path), err);
        role = weir_files_role(f, prefix, rows, err);
        if (!path || !role || weir_files_add(f, role, path,
                                    rows->flags & WEIR_OPT_READS    ? WEIR_FILE_READ
                                    : rows->flags & WEIR_OPT_WRITES ? WEIR_FILE_WRITE
                                                                    : WEIR_FILE_ADD,
                                    err) < 0)
            return -1;
    }
    return 0;
}

int weir_files_add_reports(struct weir_files *f, const char *list, struct weir_err *err)
{
    for (; *list; list += strcspn(list, ","), list += *list == ',') {
        size_t len = strcspn(list, ","), skip = strcspn(list, ":,") + 1;
        struct weir_file_entry *e;
        char *path;

        if (skip >= len) /* refused where the outputs are opened */
            continue;
        path = weir_arena_strndup(f->arena, list + skip, len - skip, err);
        if (!path)
            return -1;
        if (!is_file(path))
            continue;
        e = add_entry(f, "--report", path, WEIR_FILE_WRITE, err);
        if (!e)
            return -1;
        e->list = true;
    }
    return 0;
}

/* ---- where files are ---- */

static char *resolve_prefix(const char *prefix);

/* The absolute path without links; parts that are not there are taken as they are. malloc'ed; NULL
 * when memory is out. */
static char *resolve(const char *path)
{
    /* no call takes a longer one */
    char *real = strlen(path) < PATH_MAX ? weir_path_real(path) : strdup(path);

    return real || strcmp(path, ".") == 0 ? real : resolve_prefix(path);
}

/* As resolve, of the beginning of the names of many files: only the directory can have links. */
static char *resolve_prefix(const char *prefix)
{
    const char *base = strrchr(prefix, '/');
    struct weir_str dir = { 0 }, all = { 0 };
    size_t len;
    char *real;

    base = base ? base + 1 : prefix;
    for (len = (size_t)(base - prefix); len > 1 && prefix[len - 1] == '/'; len--)
        ; /* one that is missing has its name without them */
    weir_str_add(&dir, prefix, len);
    real = resolve(dir.len ? weir_str_text(&dir) : ".");
    if (real)
        weir_str_addf(&all, "%s/%s", strcmp(real, "/") == 0 ? "" : real, base);
    free(real);
    weir_str_free(&dir);
    if (all.failed)
        weir_str_free(&all);
    return all.text;
}

static void locate(struct weir_file_entry *e, bool at_once)
{
    struct stat st;

    if (e->names.n) {
        e->place = resolve_prefix(e->path);
        return;
    }
    e->there = stat(e->path, &st) == 0;
    if (e->there && !S_ISREG(st.st_mode) && !(at_once && S_ISDIR(st.st_mode)))
        return;
    e->place = resolve(e->path);
    if (!e->there)
        return;
    e->dev = st.st_dev;
    e->ino = st.st_ino;
}

/* ---- is it one file? ---- */

static bool is_one_file(const struct weir_file_entry *a, const struct weir_file_entry *b)
{
    if (a->there && b->there)
        return a->dev == b->dev && a->ino == b->ino;
    return strcmp(a->place, b->place) == 0;
}

/* Name i of many files, as far as it goes on after what all begin with. */
static const char *rest_of_name(const struct weir_file_names *names, uint64_t i,
                                struct weir_str *text)
{
    size_t skip = strlen(names->prefix);

    if (!names->name)
        return "";
    weir_str_clear(text);
    names->name(names->arg, i, text);
    return text->len >= skip ? weir_str_text(text) + skip : NULL;
}

/* True when 'place' is one of many files, or below one. Makes only names that begin alike. */
static bool is_among(const struct weir_file_entry *many, const char *place)
{
    size_t len = strlen(many->place), n;
    struct weir_str text = { 0 };
    bool found = false;

    if (strncmp(place, many->place, len) != 0)
        return false;
    for (uint64_t i = 0; i < many->names.n && i < MOST_NAMES && !found; i++) {
        const char *rest = rest_of_name(&many->names, i, &text);

        n = rest ? strlen(rest) : 0;
        found =
            rest && strncmp(rest, place + len, n) == 0 &&
            (!many->names.name || !place[len + n] || (many->names.trees && place[len + n] == '/'));
    }
    weir_str_free(&text);
    return found;
}

/* The place of name i of many files; false: it does not begin as all do. */
static bool find_place(const struct weir_file_entry *many, uint64_t i, struct weir_str *text,
                       struct weir_str *place)
{
    const char *rest = rest_of_name(&many->names, i, text);

    weir_str_clear(place);
    weir_str_add(place, many->place, strlen(many->place));
    weir_str_add(place, rest ? rest : "", rest ? strlen(rest) : 0);
    return rest && !place->failed;
}

/* True when the place is known, or with 'trees' one above it. */
static bool is_covered(const struct weir_set *known, const struct weir_str *place, bool trees)
{
    size_t len = place->len;

    while (len > 0 &&
           weir_set_find(known, weir_hash(WEIR_HASH_BEGIN, place->text, len), place->text, len) < 0)
        do
            len = trees ? len - 1 : 0;
        while (len > 0 && place->text[len] != '/');
    return len > 0;
}

/* True when two families of names meet; 'place' gets where. One of them may have trees: the table
 * has the places of each job, too, so that two families of trees need no more. */
static bool meet(const struct weir_file_entry *a, const struct weir_file_entry *b, struct weir_str *place)
{
    size_t len = strlen(a->place) < strlen(b->place) ? strlen(a->place) : strlen(b->place);
    struct weir_str text = { 0 };
    struct weir_set known = { 0 }; /* places of a */
    bool met = false;

    if (strncmp(a->place, b->place, len) != 0)
        return false;
    if (b->names.trees && !a->names.trees)
        return meet(b, a, place);
    for (uint64_t i = 0; i < a->names.n && a->names.name && i < MOST_NAMES; i++)
        if (find_place(a, i, &text, place))
            weir_set_add(&known, place->text, place->len);
    for (uint64_t i = 0; i < b->names.n && i < MOST_NAMES && !met; i++)
        met =
            find_place(b, i, &text, place) &&
            (a->names.name ? is_covered(&known, place, a->names.trees) : is_among(a, place->text));
    weir_set_free(&known);
    weir_str_free(&text);
    return met;
}

/* ---- the check ---- */

/* True when the two may be one file. */
static bool may_be_one(const struct weir_files *f, const struct weir_file_entry *a,
                       const struct weir_file_entry *b)
{
    if (f->at_once)
        return a->job == b->job;
    if (a->use == WEIR_FILE_READ && b->use == WEIR_FILE_READ)
        return true;
    if (strcmp(a->role, b->role) != 0)
        return false;
    if (a->use == WEIR_FILE_ADD && a->test != b->test)
        return strcmp(a->path, b->path) == 0; /* else the later test begins it anew */
    return a->test != b->test || !a->list;
}

/* Append one side of a clash: its role, and in a script its test. */
static void add_side(const struct weir_files *f, const struct weir_file_entry *e,
                     struct weir_str *out)
{
    weir_str_addf(out, "%s", e->role);
    if (f->test > 0)
        weir_str_addf(out, " of test %d", e->test);
}

static int refuse(const struct weir_files *f, const struct weir_file_entry *a,
                  const struct weir_file_entry *b, const char *place, struct weir_err *err)
{
    struct weir_str who = { 0 };

    if (a->list && b->list) {
        weir_refuse(err, WEIR_EUSAGE, "--report: two outputs go to '%s'; give each its own file",
                    b->path);
        return -1;
    }
    add_side(f, a, &who);
    weir_str_addf(&who, " and ");
    add_side(f, b, &who);
    if (strcmp(a->role, b->role) == 0)
        weir_refuse(err, WEIR_EUSAGE,
                    "%s are the same file, '%s' and '%s'; write the name the same way in both",
                    weir_str_text(&who), a->path, b->path);
    else if (strcmp(a->path, b->path) == 0 && !a->names.n && !b->names.n)
        weir_refuse(err, WEIR_EUSAGE, "%s are the same file, '%s'; give each its own",
                    weir_str_text(&who), a->path);
    else
        weir_refuse(err, WEIR_EUSAGE,
                    "%s, '%s' and '%s', are the same file, '%s'; give each its own",
                    weir_str_text(&who), a->path, b->path, place);
    weir_str_free(&who);
    return -1;
}

/* True when a and b are one file, and two files are needed. */
static bool is_clash(const struct weir_files *f, const struct weir_file_entry *a,
                     const struct weir_file_entry *b, struct weir_str *place)
{
    bool one;

    if (!a->place || !b->place || may_be_one(f, a, b))
        return false;
    if (a->names.n && b->names.n)
        return meet(a, b, place);
    one = a->names.n   ? is_among(a, b->place)
          : b->names.n ? is_among(b, a->place)
                       : is_one_file(a, b);
    weir_str_clear(place);
    if (one)
        weir_str_addf(place, "%s", a->names.n ? b->place : a->place);
    return one;
}

/* The first pair: then *b is not NULL. */
static void find_clash(const struct weir_files *f, const struct weir_file_entry **a, const struct weir_file_entry **b,
                       struct weir_str *place)
{
    *b = NULL;
    for (int i = 0; i < f->n && f->n > 1; i++) /* one has none to meet */
        locate(&f->entry[i], f->at_once);
    for (int i = 1; i < f->n && !*b; i++)
        for (int k = 0; k < i && !*b; k++)
            if (is_clash(f, *a = &f->entry[k], &f->entry[i], place))
                *b = &f->entry[i];
    for (int i = 0; i < f->n; i++) {
        free(f->entry[i].place);
        f->entry[i].place = NULL;
    }
}

int weir_files_check(const struct weir_files *f, struct weir_err *err)
{
    const struct weir_file_entry *a, *b;
    struct weir_str place = { 0 };

    find_clash(f, &a, &b, &place);
    if (b)
        refuse(f, a, b, weir_str_text(&place), err);
    weir_str_free(&place);
    return b ? -1 : 0;
}

bool weir_files_meet(const struct weir_files *f, int job[2], struct weir_str *place)
{
    const struct weir_file_entry *a, *b;

    find_clash(f, &a, &b, place);
    if (b) {
        job[0] = a->job;
        job[1] = b->job;
    }
    return b != NULL;
}
