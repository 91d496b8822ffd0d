/* SPDX-License-Identifier: BSD-3-Clause */
/* mpihints.c - hints for MPI-IO from the environment and from a file */
#include "par/io/mpisession.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "par/textfile.h"

#define MARK "IOR_HINT"

static const char *const kinds[] = { MARK "__MPI__", MARK "__GPFS__", NULL };

struct range {
    const char *key;
    int64_t min, max;
    const char *what; /* the number is of these */
};

/* Libraries do not check these values. 0 aggregators or a negative stripe divide by zero. A
 * negative buffer ends the job in the allocation. A suffix is ignored ("1m" is 1). ROMIO and
 * OMPIO keep their numbers in an int. */
static const struct range ranges[] = {
    { "bytes_per_agg", 1, INT_MAX, "bytes" },
    { "cb_block_size", 1, INT_MAX, "bytes" },
    { "cb_buffer_size", 1, INT_MAX, "bytes" },
    { "cb_nodes", 1, INT_MAX, "tasks" },
    { "ind_rd_buffer_size", 1, INT_MAX, "bytes" },
    { "ind_wr_buffer_size", 1, INT_MAX, "bytes" },
    { "nb_proc", 1, INT_MAX, "tasks" },
    { "nc_header_align_size", 0, INT64_MAX, "bytes" },
    { "nc_header_read_chunk_size", 0, INT_MAX, "bytes" },
    { "nc_ibuf_size", 0, INT64_MAX, "bytes" },
    { "nc_num_subfiles", 0, INT_MAX, "files" },
    { "nc_record_align_size", 0, INT64_MAX, "bytes" },
    { "nc_var_align_size", 0, INT64_MAX, "bytes" },
    { "num_aggregators", -1, INT_MAX, "tasks" },
    { "num_io_nodes", 1, INT_MAX, "nodes" },
    { "romio_cb_ds_threshold", 0, INT_MAX, "bytes" },
    { "romio_cb_fr_alignment", 1, INT_MAX, "bytes" },
    { "romio_lustre_co_ratio", 1, INT_MAX, "tasks for a stripe" },
    { "romio_lustre_coll_threshold", 0, INT_MAX, "bytes" },
    { "romio_min_fdomain_size", 0, INT_MAX, "bytes" },
    { "start_iodevice", -1, INT_MAX, "devices" },
    { "striping_factor", -1, INT_MAX, "devices" },
    { "striping_unit", 0, INT_MAX, "bytes" },
    { NULL, 0, 0, NULL },
};

int weir_hint_check(const char *key, const char *value, struct weir_err *err)
{
    const struct range *r = ranges;
    char *end;
    long long n;

    while (r->key && strcmp(r->key, key) != 0)
        r++;
    if (!r->key)
        return 0;
    n = strtoll(value, &end, 10); /* too large a number is the largest */
    if (end != value && *end == '\0' && n >= r->min && n <= r->max &&
        (r->max < LLONG_MAX || n < LLONG_MAX))
        return 0;
    return weir_refuse(err, WEIR_EUSAGE,
                       "must be a whole number from %lld to %lld (%s), without a suffix",
                       (long long)r->min, (long long)r->max, r->what);
}

/* The hints that rank 0 has found: "key\0value\0" for each hint, in the order in which they apply.
 */
struct harvest {
    struct weir_str pairs;
    struct weir_str left_out; /* the first one that was */
    int n_left_out;
};

enum weir_hint_kind weir_mpihints_parse(const char *line, size_t len, struct weir_hint *out)
{
    const char *eq;
    size_t skip = 0;

    line = weir_trimmed(line, &len);
    if (len < strlen(MARK) || memcmp(line, MARK, strlen(MARK)) != 0)
        return WEIR_HINT_NONE;
    for (const char *const *k = kinds; *k && skip == 0; k++)
        if (len > strlen(*k) && memcmp(line, *k, strlen(*k)) == 0)
            skip = strlen(*k);
    eq = memchr(line, '=', len);
    if (skip == 0 || !eq || eq < line + skip || memchr(line, '\0', len))
        return WEIR_HINT_UNKNOWN;
    out->key_len = (size_t)(eq - line) - skip;
    out->key = weir_trimmed(line + skip, &out->key_len);
    out->value_len = len - (size_t)(eq - line) - 1;
    out->value = weir_trimmed(eq + 1, &out->value_len);
    if (out->key_len == 0 || out->value_len == 0)
        return WEIR_HINT_UNKNOWN; /* MPI_Info takes neither */
    if (out->key_len >= MPI_MAX_INFO_KEY || out->value_len >= MPI_MAX_INFO_VAL)
        return WEIR_HINT_TOO_LONG;
    return WEIR_HINT_MPI;
}

/* Append key and value when a library may be given them. from: the source of a hint in words, here
 * and below. */
static int keep(struct harvest *h, const struct weir_hint *hint, const char *from,
                struct weir_err *err)
{
    char key[MPI_MAX_INFO_KEY] = "";
    char value[MPI_MAX_INFO_VAL] = "";

    memcpy(key, hint->key, hint->key_len); /* both fit: weir_mpihints_parse has looked */
    memcpy(value, hint->value, hint->value_len);
    if (weir_hint_check(key, value, err) < 0)
        return weir_err_within(err, "hint '%s=%s' in %s", key, value, from);
    weir_str_add(&h->pairs, key, hint->key_len + 1);
    weir_str_add(&h->pairs, value, hint->value_len + 1);
    return 0;
}

static int take(struct harvest *h, const char *line, size_t len, const char *from,
                struct weir_err *err)
{
    struct weir_hint hint;

    switch (weir_mpihints_parse(line, len, &hint)) {
    case WEIR_HINT_NONE:
        return 0;
    case WEIR_HINT_UNKNOWN:
        line = weir_trimmed(line, &len);
        if (h->n_left_out++ == 0)
            weir_str_addf(&h->left_out, "'%.*s' in %s", (int)(len < 128 ? len : 128), line, from);
        return 0;
    case WEIR_HINT_TOO_LONG:
        weir_refuse(err, WEIR_EUSAGE, "a key can have at most %d bytes, a value at most %d",
                    MPI_MAX_INFO_KEY - 1, MPI_MAX_INFO_VAL - 1);
        return weir_err_within(err, "hint '%.55s...' in %s", hint.key, from); /* is cut */
    case WEIR_HINT_MPI:
        return keep(h, &hint, from, err);
    }
    return 0;
}

static int take_file(struct harvest *h, const char *path, struct weir_err *err)
{
    struct weir_str text = { 0 }, from = { 0 };
    int rc = weir_text_read("hints file", path, WEIR_ESETUP, &text, err), number = 0;

    for (size_t at = 0, len; rc == 0 && at < text.len; at += len + 1) {
        const char *end = memchr(text.text + at, '\n', text.len - at);

        len = end ? (size_t)(end - text.text) - at : text.len - at;
        weir_str_clear(&from);
        weir_str_addf(&from, "line %d of '%s'", ++number, path);
        rc = take(h, text.text + at, len, weir_str_words(&from), err);
    }
    weir_str_free(&text);
    weir_str_free(&from);
    return rc;
}

static int gather_hints(struct harvest *h, const char *path, struct weir_err *err)
{
    int rc = 0;

    for (char **v = environ; rc == 0 && v && *v; v++)
        rc = take(h, *v, strlen(*v), "the environment", err);
    if (rc == 0 && path)
        rc = take_file(h, path, err);
    if (rc == 0 && h->pairs.failed)
        rc = weir_refuse(err, WEIR_ESETUP, "no memory for MPI hints");
    return rc;
}

static void fill_info(MPI_Info info, const struct weir_shared_text *pairs)
{
    const char *key = pairs->text, *value;

    for (; key && key < pairs->text + pairs->len; key = value + strlen(value) + 1) {
        value = key + strlen(key) + 1;
        MPI_Info_set(info, key, value);
    }
}

int weir_mpihints_read(const struct weir_par *par, const struct weir_log *log, const char *path,
                       MPI_Info *out, struct weir_err *err)
{
    struct weir_err scratch = WEIR_ERR_INIT;
    struct weir_shared_text all = { .what = "MPI hints of", .path = path ? path : "environment" };
    struct harvest h = { .n_left_out = 0 };
    int rc = 0;

    err = err ? err : &scratch;
    if (par->rank == 0)
        rc = gather_hints(&h, path, err);
    all.text = h.pairs.text;
    all.len = h.pairs.len;
    rc = weir_agree_root(par, rc, err);
    if (rc == 0)
        rc = weir_shared_text_bcast(par, &all, err);
    if (rc == 0 && log && h.n_left_out > 0)
        weir_note(log, "%d hint%s not of the form %s__MPI__key=value left out: %s", h.n_left_out,
                  h.n_left_out == 1 ? "" : "s", MARK, weir_str_text(&h.left_out));
    if (rc == 0) {
        MPI_Info_create(out);
        fill_info(*out, &all);
    }
    weir_str_free(&h.left_out);
    free(all.text);
    return rc;
}
