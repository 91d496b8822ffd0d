/* SPDX-License-Identifier: BSD-3-Clause */
/* jsonlog.c - a JSON document whose members are appended to a file as JSON Lines, and which is
 * written from that file at its end */
#include "base/text/jsonlog.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ROOT "[["
#define MARK ROOT "\"unfinished\"],1]\n"

/* A key that an object has. */
struct weir_jsonlog_key {
    struct weir_jsonlog_key *next;
    uint64_t rows; /* of a list */
    char text[];
};

/* ---- lines ---- */

/* The last part of a path: a key, or a number in a list. */
static void add_step(struct weir_str *to, const char *key, uint64_t number)
{
    struct weir_json j = { .out = to };

    if (key)
        weir_json_str(&j, NULL, key);
    else
        weir_str_addf(to, "%" PRIu64, number);
}

static struct weir_json begin_line(struct weir_jsonlog *log)
{
    weir_str_addf(&log->line, "],");
    return (struct weir_json) { .out = &log->line, .base = 1, .flat = 1 };
}

/* The line of a member of what is open; key NULL: of a list. */
static struct weir_json begin_member(struct weir_jsonlog *log, const char *key, uint64_t number)
{
    weir_str_addf(&log->line, "%s%s", ROOT, weir_str_text(&log->path));
    add_step(&log->line, key, number);
    return begin_line(log);
}

void weir_jsonlog_end(struct weir_jsonlog *log)
{
    weir_str_addf(&log->line, "]\n");
    if (!log->failed)
        weir_spool_add(&log->file, &log->line);
    log->failed |= log->line.failed || log->file.sys != 0;
    weir_str_clear(&log->line);
}

static void add_empty(struct weir_jsonlog *log, const char *key, uint64_t number, bool list)
{
    begin_member(log, key, number);
    weir_str_addf(&log->line, list ? "[]" : "{}");
    weir_jsonlog_end(log);
}

/* ---- what is open ---- */

static struct weir_jsonlog_key *find(const struct weir_jsonlog *log, const char *key)
{
    struct weir_jsonlog_key *k = log->level[log->depth].keys;

    while (k && strcmp(k->text, key) != 0)
        k = k->next;
    return k;
}

static struct weir_jsonlog_key *add(struct weir_jsonlog *log, const char *key)
{
    size_t len = strlen(key) + 1;
    struct weir_jsonlog_key *k = malloc(sizeof(*k) + len);

    if (!k) {
        log->failed = true;
        return NULL;
    }
    k->next = log->level[log->depth].keys;
    k->rows = 0;
    memcpy(k->text, key, len);
    return log->level[log->depth].keys = k;
}

void weir_jsonlog_enter(struct weir_jsonlog *log, const char *key, bool list)
{
    bool in_list = log->level[log->depth].list;
    uint64_t number = log->level[log->depth].members++;
    size_t path = log->path.len;

    log->failed |= log->depth + 1 == WEIR_JSONLOG_DEPTH;
    if (log->failed)
        return;
    add_empty(log, in_list ? NULL : key, number, list);
    add_step(&log->path, in_list ? NULL : key, number);
    weir_str_addc(&log->path, ',');
    log->failed |= log->path.failed;
    log->depth++;
    log->level[log->depth].list = list;
    log->level[log->depth].path = path;
    log->level[log->depth].members = 0;
}

static void free_keys(struct weir_jsonlog *log)
{
    struct weir_jsonlog_key **keys = &log->level[log->depth].keys;

    while (*keys) {
        struct weir_jsonlog_key *k = *keys;

        *keys = k->next;
        free(k);
    }
}

void weir_jsonlog_leave(struct weir_jsonlog *log)
{
    if (log->failed || log->depth == 0)
        return;
    free_keys(log);
    log->path.len = log->level[log->depth--].path;
    if (log->path.text)
        log->path.text[log->path.len] = '\0';
}

bool weir_jsonlog_member(struct weir_jsonlog *log, const char *key, struct weir_json *value)
{
    if (find(log, key) || !add(log, key))
        return false;
    *value = begin_member(log, key, 0);
    return true;
}

uint64_t weir_jsonlog_list(struct weir_jsonlog *log, const char *key)
{
    struct weir_jsonlog_key *k = find(log, key);

    if (!k && (k = add(log, key)))
        add_empty(log, key, 0, true);
    return k ? k->rows : 0;
}

struct weir_json weir_jsonlog_row(struct weir_jsonlog *log, const char *key)
{
    uint64_t rows = weir_jsonlog_list(log, key);
    struct weir_jsonlog_key *k = find(log, key);

    if (k)
        k->rows++;
    weir_str_addf(&log->line, "%s%s", ROOT, weir_str_text(&log->path));
    add_step(&log->line, key, 0);
    weir_str_addf(&log->line, ",%" PRIu64, rows);
    return begin_line(log);
}

/* ---- the document ---- */

/* A document on its way from the lines in 'in' to 'out'. */
struct copy {
    FILE *in, *out;
    char *line;
    size_t capacity;
    off_t at, next; /* where the line begins, and the next one */
    bool flat, failed;
};

/* A line that was cut off is the end. */
static bool next_line(struct copy *c)
{
    ssize_t n = getline(&c->line, &c->capacity, c->in);

    c->at = c->next;
    if (n <= 0 || c->line[n - 1] != '\n')
        return false;
    c->next += n;
    return true;
}

static void go_to(struct copy *c, off_t at)
{
    c->failed |= fseeko(c->in, at, SEEK_SET) < 0;
    c->next = at;
}

static bool begins_with(const char *line, const struct weir_str *what)
{
    return strncmp(line, weir_str_text(what), what->len) == 0;
}

static size_t text_len(const char *text)
{
    size_t n = 1;

    while (text[n] != '"')
        n += text[n] == '\\' ? 2 : 1;
    return n + 1;
}

static void new_line(const struct copy *c, int level)
{
    if (!c->flat)
        fprintf(c->out, "\n%*s", 2 * level, "");
}

static size_t token_len(const char *at)
{
    if (*at == '"')
        return text_len(at);
    return strchr("{}, ", *at) ? 1 : strcspn(at, "\"{},] ");
}

/* The value of a line; each member of an object is on a line of its own. */
static void put_value(const struct copy *c, const char *at, const char *end, int level)
{
    while (at < end) {
        size_t len = token_len(at);

        if (*at == '}')
            new_line(c, level);
        fwrite(at, 1, len, c->out);
        if (*at == '{' || *at == ',')
            new_line(c, level + 1);
        at += *at == ',' && !c->flat ? len + 1 : len; /* not the blank after it */
    }
}

static void put_part(struct copy *c, const struct weir_str *around, const struct weir_str *part,
                     bool list, int level);

/* An object or a list whose line was read; 'step': its last step, of len bytes, 'part' the path
 * before. The lines of an object follow, those of a list are anywhere in the object around it. */
static void put_inner(struct copy *c, const struct weir_str *part, const char *step, size_t len,
                      int level)
{
    bool list = step[len + 2] == '[';
    struct weir_str inner = { 0 };
    off_t next = c->next;

    weir_str_addf(&inner, "%s%.*s,", weir_str_text(part), (int)len, step);
    c->failed |= inner.failed;
    if (!c->failed)
        put_part(c, list ? part : &inner, &inner, list, level);
    if (list)
        go_to(c, next);
    weir_str_free(&inner);
}

/* The members whose paths begin with 'part', from the lines until the first one whose path does
 * not begin with 'around'. */
static void put_part(struct copy *c, const struct weir_str *around, const struct weir_str *part,
                     bool list, int level)
{
    bool any = false;

    fputc(list ? '[' : '{', c->out);
    while (next_line(c) && begins_with(c->line, around) && !c->failed) {
        const char *step = c->line + part->len, *value;
        size_t len = 0;

        if (begins_with(c->line, part))
            len = *step == '"' ? text_len(step) : strspn(step, "0123456789");
        if (len == 0 || step[len] != ']') /* of another list, or of a member that was written */
            continue;
        value = step + len + 2;
        if (any)
            fputs(c->flat ? ", " : ",", c->out);
        any = true;
        new_line(c, level + 1);
        if (!list)
            fprintf(c->out, "%.*s: ", (int)len, step);
        if (strcmp(value, "{}]\n") == 0 || strcmp(value, "[]]\n") == 0)
            put_inner(c, part, step, len, level + 1);
        else
            put_value(c, value, value + strlen(value) - 2, level + 1);
    }
    go_to(c, c->at);
    if (any)
        new_line(c, level);
    fputc(list ? ']' : '}', c->out);
}

int weir_jsonlog_write(struct weir_jsonlog *log, bool marked, bool flat, FILE *out)
{
    struct copy c = { .in = log->file.file, .out = out, .flat = flat };
    struct weir_str root = { 0 };

    weir_spool_flush(&log->file);
    if (log->file.sys != 0 || log->failed)
        return log->file.sys ? log->file.sys : ENOMEM;
    weir_str_addf(&root, ROOT);
    errno = 0;
    go_to(&c, marked ? 0 : (off_t)strlen(MARK));
    put_part(&c, &root, &root, false, 0);
    if (!flat)
        fputc('\n', out);
    c.failed |= ferror(c.in) || root.failed;
    weir_str_free(&root);
    free(c.line);
    return !c.failed ? 0 : errno ? errno : ENOMEM;
}

int weir_jsonlog_open(struct weir_jsonlog *log, const char *place, struct weir_err *err)
{
    *log = (struct weir_jsonlog) { .depth = 0 };
    return weir_spool_open(&log->file, place, MARK, err);
}

static bool has_lines(const struct weir_jsonlog *log)
{
    return log->file.size + log->file.window.len > strlen(MARK);
}

bool weir_jsonlog_begun(const struct weir_jsonlog *log)
{
    return log->failed || has_lines(log);
}

void weir_jsonlog_close(struct weir_jsonlog *log, bool keep)
{
    if (!log->file.file)
        return;
    for (; log->depth >= 0; log->depth--)
        free_keys(log);
    weir_spool_close(&log->file, keep && has_lines(log));
    weir_str_free(&log->path);
    weir_str_free(&log->line);
    *log = (struct weir_jsonlog) { .depth = 0 };
}
