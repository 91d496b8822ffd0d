/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-names.c - names of objects: what is there, how long it is, its removal; directories are in names only */
#include "backends/s3/s3-names.h"
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backends/s3/s3-file.h"
#include "backends/s3/s3-list.h"

/* A name as requests have it. */
struct place {
    struct s3_line *line;
    struct weir_str bucket, key; /* for a moment; then key is the prefix of what is below it */
    struct weir_str object, whole; /* URLs of the object, and of the bucket */
    bool is_bucket; /* it has no key */
};

static bool has_pieces(const struct weir_session *s)
{
    return s3_has_pieces(s->opt);
}

static bool has_markers(const struct weir_session *s)
{
    return ((const struct s3_options *)s->opt)->markers;
}

static void leave(struct place *p)
{
    weir_str_free(&p->bucket);
    weir_str_free(&p->key);
    weir_str_free(&p->object);
    weir_str_free(&p->whole);
}

/* dir: the object is the marker of a directory. -1 and err; then nothing is left. */
static int enter(const struct weir_session *s, const char *path, bool dir, struct place *p, struct weir_err *err)
{
    const struct s3 *r = s3_of(s);

    *p = (struct place) { .line = r->line };
    if (s3_place_dir(s->opt, path, &p->bucket, &p->key, err) < 0) {
        leave(p);
        return -1;
    }
    p->is_bucket = p->key.len == 0;
    if (!p->is_bucket && dir)
        weir_str_addf(&p->key, "/");
    s3_url(&r->service, weir_str_text(&p->bucket), weir_str_text(&p->key), &p->object);
    s3_url(&r->service, weir_str_text(&p->bucket), "", &p->whole);
    if (!p->is_bucket && !dir)
        weir_str_addf(&p->key, "/");
    if (!p->bucket.failed && !p->key.failed && !p->object.failed && !p->whole.failed)
        return 0;
    leave(p);
    return weir_refuse(err, WEIR_ESETUP, "no memory for the URL of '%s'", path);
}

/* A request without data. Its error is errno of the answer. */
static int ask(struct place *p, enum s3_method method, struct s3_call *c, struct weir_err *err)
{
    *c = (struct s3_call) { .method = method, .url = weir_str_text(&p->object) };
    return s3_call(p->line, c, err);
}

/* ---- what is below a name ---- */

struct below {
    const char *prefix;
    uint64_t others, end; /* keys besides the marker; where the last object of a file ends */
    bool marker;
};

static int look_at_key(void *mine, const char *key, uint64_t size, struct weir_err *err)
{
    struct below *b = mine;
    const char *rest = key + strlen(b->prefix);
    uint64_t off;

    (void)err;
    if (strncmp(key, b->prefix, strlen(b->prefix)) != 0 || !*rest) {
        b->marker |= strcmp(key, b->prefix) == 0;
        return 0;
    }
    b->others++;
    off = s3_is_offset(rest) ? strtoull(rest, NULL, 16) : 0;
    if (s3_is_offset(rest) && off + size > b->end)
        b->end = off + size;
    return 0;
}

static int look_below(struct place *p, int most, struct below *b, struct weir_err *err)
{
    *b = (struct below) { .prefix = weir_str_text(&p->key) };
    return s3_list(p->line, weir_str_text(&p->whole), b->prefix, most, look_at_key, b, err);
}

/* ---- files ---- */

/* One look: the object, or else whatever is below it. */
static int look(struct weir_session *s, const char *path, bool *yes, struct weir_err *err)
{
    struct weir_err why = WEIR_ERR_INIT;
    struct place p;
    struct s3_call c;
    struct below b;
    int rc;

    *yes = false;
    if (enter(s, path, false, &p, err) < 0)
        return -1;
    if (!p.is_bucket && !has_pieces(s)) {
        rc = ask(&p, S3_HEAD, &c, &why);
        *yes = rc == 0;
        if (rc == 0 || c.answer.sys != ENOENT) {
            leave(&p);
            if (rc < 0 && err)
                *err = why;
            return rc;
        }
    }
    rc = look_below(&p, 1, &b, err);
    *yes = rc == 0 && (p.is_bucket || b.marker || b.others > 0);
    leave(&p);
    return rc;
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
    struct place p;
    struct s3_call c;
    struct below b = { .prefix = "" };
    int rc;

    *bytes = 0;
    if (enter(s, path, false, &p, err) < 0)
        return -1;
    if (!has_pieces(s)) {
        rc = ask(&p, S3_HEAD, &c, err);
        *bytes = rc == 0 ? c.answer.length : 0;
    } else {
        rc = look_below(&p, 0, &b, err);
        *bytes = b.end;
    }
    leave(&p);
    errno = ENOENT;
    return rc == 0 && has_pieces(s) && b.others == 0 ? weir_fail(err, WEIR_EIO, "size of '%s'", path) : rc;
}

/* Keys below a file that are no transfers of it are not its own. */
static int remove_file(struct weir_session *s, const char *path, struct weir_err *err)
{
    struct place p;
    struct s3_call c;
    int rc;

    if (enter(s, path, false, &p, err) < 0)
        return -1;
    if (p.is_bucket)
        rc = weir_refuse(err, WEIR_EUSAGE, "'%s' is a bucket, which is not removed", path);
    else
        rc = has_pieces(s) ? s3_delete_below(p.line, weir_str_text(&p.whole), weir_str_text(&p.key), s3_is_offset, err)
                           : ask(&p, S3_DELETE, &c, err);
    leave(&p);
    return rc;
}

static int make_empty(struct weir_session *s, const char *path, bool dir, struct weir_err *err)
{
    struct place p;
    struct s3_call c;
    int rc;

    if (enter(s, path, dir, &p, err) < 0)
        return -1;
    if (!dir && has_pieces(s))
        weir_str_addf(&p.object, "/%0*d", S3_OFFSET_DIGITS, 0);
    if (p.object.failed)
        rc = weir_refuse(err, WEIR_ESETUP, "no memory for the URL of '%s'", path);
    else
        rc = p.is_bucket ? 0 : ask(&p, S3_PUT, &c, err);
    leave(&p);
    return rc;
}

static int make_node(struct weir_session *s, const char *path, struct weir_err *err)
{
    return make_empty(s, path, false, err);
}

/* ---- directories ---- */

static int make_dir(struct weir_session *s, const char *path, unsigned mode, struct weir_err *err)
{
    (void)mode;
    return has_markers(s) ? make_empty(s, path, true, err) : 0;
}

static int remove_dir(struct weir_session *s, const char *path, struct weir_err *err)
{
    struct place p;
    struct s3_call c;
    struct below b;
    int rc;

    if (enter(s, path, true, &p, err) < 0)
        return -1;
    rc = look_below(&p, 2, &b, err);
    if (rc == 0 && b.others > 0) {
        errno = ENOTEMPTY;
        rc = weir_fail(err, WEIR_EIO, "remove directory '%s'", path);
    } else if (rc == 0 && b.marker && !p.is_bucket) {
        rc = ask(&p, S3_DELETE, &c, err);
    }
    leave(&p);
    return rc;
}

/* ---- lists ---- */

/* Keys on their way to who asked for names. */
struct listing {
    weir_name_fn *take;
    void *mine;
    size_t skip; /* bytes of a key before the name */
    bool pieces;
    struct weir_str name; /* pieces: of the file that grows */
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
    const char *name = key + l->skip, *end = l->pieces ? offset_in(name) : NULL;
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
    if (rc == 0 && l->name.failed)
        rc = weir_refuse(err, WEIR_ESETUP, "no memory for a name");
    l->bytes += size;
    return rc;
}

static int list_names(struct weir_session *s, const char *dir, const char *begin, weir_name_fn *take, void *mine,
                      struct weir_err *err)
{
    struct listing l = { .take = take, .mine = mine, .pieces = has_pieces(s), .err = err };
    struct place p;
    int rc;

    if (enter(s, dir, false, &p, err) < 0)
        return -1;
    l.skip = p.key.len;
    weir_str_addf(&p.key, "%s", begin);
    rc = p.key.failed ? weir_refuse(err, WEIR_ESETUP, "no memory for a listing")
                      : s3_list(p.line, weir_str_text(&p.whole), weir_str_text(&p.key), 0, list_key, &l, err);
    if (rc == 0)
        rc = end_name(&l);
    weir_str_free(&l.name);
    leave(&p);
    return rc < 0 ? weir_err_within(err, "list '%s'", dir) : 0;
}

static int sync_nothing(struct weir_session *s, const char *path, struct weir_err *err)
{
    (void)s, (void)path, (void)err;
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
