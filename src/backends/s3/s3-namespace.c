/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-namespace.c - names of objects: existence, size, removal; directories are in names only */
#include "backends/s3/s3-objects.h"

#include <errno.h>
#include <stdlib.h>

/* A name as requests have it, and what the service says of it. */
struct location {
    struct s3_client *client;
    struct weir_str bucket, key;   /* of the object */
    struct weir_str below;         /* keys of what is below it begin with this */
    bool is_bucket;                /* it has no key */
    struct s3_answer answer;       /* of the last request for the object */
    uint64_t others, end;          /* keys below besides the marker; where the last object ends */
    bool marker;
};

static bool has_markers(const struct weir_session *s)
{
    return ((const struct s3_options *)s->opt)->markers;
}

/* dir: the object is the marker of a directory. Call leave() for it, also where this fails. */
static int enter(const struct weir_session *s, const char *path, bool dir, struct location *p, struct weir_err *err)
{
    *p = (struct location) { .client = s3_of(s)->client };
    if (s3_locate(s->opt, path, &p->bucket, &p->key, err) < 0)
        return -1;
    p->is_bucket = p->key.len == 0;
    if (!p->is_bucket && dir)
        weir_str_addf(&p->key, "/");
    weir_str_addf(&p->below, "%s%s", weir_str_text(&p->key), p->is_bucket || dir ? "" : "/");
    return s3_has_memory(!p->key.failed && !p->below.failed, err);
}

static int leave(struct location *p, int rc)
{
    weir_str_free(&p->bucket);
    weir_str_free(&p->key);
    weir_str_free(&p->below);
    return rc;
}

/* A request without data. Its error is errno of the answer. */
static int ask(struct location *p, enum s3_method method, struct weir_err *err)
{
    struct s3_call c = { .method = method, .object = { p->bucket.text, weir_str_text(&p->key) } };
    int rc = s3_call(p->client, &c, err);

    p->answer = c.answer;
    return rc;
}

/* ---- what is below a name ---- */

static int look_at_key(void *mine, const char *key, uint64_t size, struct weir_err *err)
{
    struct location *p = mine;
    const char *rest = key + p->below.len; /* the list has only keys that begin with it */
    uint64_t off;

    if (!*rest) {
        p->marker = true;
        return 0;
    }
    p->others++;
    off = s3_is_offset(rest) ? strtoull(rest, NULL, 16) : 0;
    if (s3_is_offset(rest) && off + size > p->end)
        p->end = off + size;
    return 0;
}

/* most: of keys; 0: all. */
static int look_below(struct location *p, int most, struct weir_err *err)
{
    return s3_list(p->client, p->bucket.text, weir_str_text(&p->below), most, look_at_key, p, err);
}

/* ---- files ---- */

/* The object, or else whatever is below it. */
static int look(struct weir_session *s, const char *path, bool *yes, struct weir_err *err)
{
    struct weir_err why = WEIR_ERR_INIT;
    struct location p;
    int rc = enter(s, path, false, &p, err);

    *yes = false;
    if (rc == 0 && !p.is_bucket && !s3_is_split(s->opt)) {
        rc = ask(&p, S3_HEAD, &why);
        *yes = rc == 0;
        if (rc < 0 && p.answer.sys != ENOENT && err)
            *err = why;
        else if (rc < 0 && p.answer.sys == ENOENT)
            rc = 0;
    }
    if (rc == 0 && !*yes) {
        rc = look_below(&p, 1, err);
        *yes = rc == 0 && (p.is_bucket || p.marker || p.others > 0);
    }
    return leave(&p, rc);
}

static int stat_name(struct weir_session *s, const char *path, struct weir_err *err)
{
    bool yes;

    if (look(s, path, &yes, err) < 0)
        return -1;
    errno = ENOENT;
    return yes ? 0
               : weir_fail(err, WEIR_EIO, "stat '%s' (no object%s)", path,
                           has_markers(s) ? "" : ", and directories are in names only without --s3.markers");
}

static int file_size(struct weir_session *s, const char *path, uint64_t *bytes, struct weir_err *err)
{
    struct location p;
    int rc = enter(s, path, false, &p, err);

    if (rc == 0)
        rc = s3_is_split(s->opt) ? look_below(&p, 0, err) : ask(&p, S3_HEAD, err);
    *bytes = rc < 0 ? 0 : s3_is_split(s->opt) ? p.end : p.answer.length;
    if (rc == 0 && s3_is_split(s->opt) && p.others == 0) {
        errno = ENOENT;
        rc = weir_fail(err, WEIR_EIO, "get the size of '%s'", path);
    }
    return leave(&p, rc);
}

/* Keys below a file that are no transfers of it are not its own. */
static int remove_file(struct weir_session *s, const char *path, struct weir_err *err)
{
    struct location p;
    int rc = enter(s, path, false, &p, err);

    if (rc == 0 && p.is_bucket)
        rc = weir_refuse(err, WEIR_EUSAGE, "'%s' is a bucket, which is not removed", path);
    else if (rc == 0 && s3_is_split(s->opt))
        rc = s3_delete_below(p.client, p.bucket.text, weir_str_text(&p.below), s3_is_offset, err);
    else if (rc == 0)
        rc = ask(&p, S3_DELETE, err);
    return leave(&p, rc);
}

static int make_empty(struct weir_session *s, const char *path, bool dir, struct weir_err *err)
{
    struct location p;
    int rc = enter(s, path, dir, &p, err);

    if (rc == 0 && !dir && s3_is_split(s->opt)) {
        weir_str_addf(&p.key, "/%0*d", S3_OFFSET_DIGITS, 0);
        rc = s3_has_memory(!p.key.failed, err);
    }
    if (rc == 0 && !p.is_bucket)
        rc = ask(&p, S3_PUT, err);
    return leave(&p, rc);
}

static int make_node(struct weir_session *s, const char *path, struct weir_err *err)
{
    return make_empty(s, path, false, err);
}

/* ---- directories ---- */

static int make_dir(struct weir_session *s, const char *path, unsigned mode, struct weir_err *err)
{
    return has_markers(s) ? make_empty(s, path, true, err) : 0;
}

static int remove_dir(struct weir_session *s, const char *path, struct weir_err *err)
{
    struct location p;
    int rc = enter(s, path, true, &p, err);

    if (rc == 0)
        rc = look_below(&p, 2, err);
    if (rc == 0 && p.others > 0) {
        errno = ENOTEMPTY;
        rc = weir_fail(err, WEIR_EIO, "remove directory '%s'", path);
    } else if (rc == 0 && p.marker && !p.is_bucket) {
        rc = ask(&p, S3_DELETE, err);
    }
    return leave(&p, rc);
}

/* ---- lists ---- */

/* Keys on their way to who asked for names. */
struct listing {
    weir_name_fn *take;
    void *mine;
    size_t skip; /* bytes of a key before the name */
    bool split;
    struct weir_str name; /* split: of the file that grows */
    uint64_t bytes;
    struct weir_err *err;
};

/* All objects of the file are known. */
static int end_name(struct listing *l)
{
    return l->name.len > 0 ? l->take(l->mine, weir_str_text(&l->name), l->bytes, l->err) : 0;
}

/* The name without the offset that is an object of a file; NULL: it has none. */
static const char *offset_in(const char *name)
{
    const char *slash = strrchr(name, '/');

    return slash && s3_is_offset(slash + 1) ? slash : NULL;
}

static int list_key(void *mine, const char *key, uint64_t size, struct weir_err *err)
{
    struct listing *l = mine;
    const char *name = key + l->skip, *end = l->split ? offset_in(name) : NULL;
    size_t len = end ? (size_t)(end - name) : strlen(name);
    int rc = 0;

    if (len == 0 || name[len - 1] == '/') /* the marker of a directory */
        return 0;
    if (len != l->name.len || memcmp(weir_str_text(&l->name), name, len) != 0) {
        rc = end_name(l);
        weir_str_clear(&l->name);
        weir_str_add(&l->name, name, len);
        l->bytes = 0;
    }
    l->bytes += size;
    return rc < 0 ? -1 : s3_has_memory(!l->name.failed, err);
}

static int list_names(struct weir_session *s, const char *dir, const char *begin, weir_name_fn *take, void *mine,
                      struct weir_err *err)
{
    struct listing l = { .take = take, .mine = mine, .split = s3_is_split(s->opt), .err = err };
    struct location p;
    int rc = enter(s, dir, false, &p, err);

    l.skip = p.below.len;
    weir_str_addf(&p.below, "%s", begin);
    if (rc == 0)
        rc = s3_has_memory(!p.below.failed, err);
    if (rc == 0)
        rc = s3_list(p.client, p.bucket.text, weir_str_text(&p.below), 0, list_key, &l, err);
    if (rc == 0)
        rc = end_name(&l);
    weir_str_free(&l.name);
    return leave(&p, rc) < 0 ? weir_err_within(err, "list '%s'", dir) : 0;
}

static int sync_nothing(struct weir_session *s, const char *path, struct weir_err *err)
{
    return 0;
}

const struct weir_ns s3_names = {
    .mkdir = make_dir,
    .rmdir = remove_dir,
    .unlink = remove_file,
    .stat = stat_name,
    .exists = look,
    .size = file_size,
    .mknod = make_node,
    .syncfs = sync_nothing,
    .list = list_names,
};
