/* SPDX-License-Identifier: BSD-3-Clause */
/* mc-objects.c - checkpoints as objects of a service, which have no rename: the metadata are put last, at once and whole,
 * and only with them there is a checkpoint. All is done by the session of the backend. */
#include "programs/model_checkpoint/mc.h"

#include <errno.h>
#include <stdlib.h>

static int list(struct mc_test *t, const char *of, weir_name_fn *take, void *mine,
                struct weir_err *err)
{
    return of ? weir_session_list(&t->session, of, "", take, mine, err)
              : weir_session_list(&t->session, t->o->path, "checkpoint-", take, mine, err);
}

/* ---- metadata ---- */

static int move_all(struct weir_session *s, const char *path, unsigned flags, char *text, uint64_t len, uint64_t most,
                    struct weir_err *err)
{
    const struct weir_extent extent = { .transfer = len < most ? len : most, .block = len, .segments = 1, .file_bytes = len };
    bool writes = flags & WEIR_OPEN_WRITE;
    uint64_t clock_ns = weir_now_ns();
    struct weir_file *f;
    int rc = weir_session_open(s, path, flags, writes ? &extent : NULL, &f, err);

    for (uint64_t at = 0; rc == 0 && at < len; at += most) {
        const struct weir_io io = {
            .dir = writes ? WEIR_DIR_WRITE : WEIR_DIR_READ, .buf = text + at, .len = len - at < most ? len - at : most, .off = at
        };

        rc = weir_session_xfer(f, &io, &clock_ns, err);
    }
    if (weir_session_close(f, rc < 0 ? NULL : err) < 0)
        rc = -1;
    return rc;
}

static int read_text(struct mc_test *t, const char *path, struct weir_str *text, struct weir_err *err)
{
    uint64_t bytes;
    char *buf;
    int rc;

    if (weir_session_size(&t->session, path, &bytes, err) < 0)
        return -1;
    buf = malloc(bytes + 1);
    if (!buf)
        return weir_refuse(err, WEIR_ESETUP, "no memory for metadata '%s'", path);
    rc = move_all(&t->session, path, WEIR_OPEN_READ, buf, bytes, (uint64_t)t->o->transfer, err);
    if (rc == 0)
        weir_str_add(text, buf, bytes);
    free(buf);
    return rc;
}

/* ---- publish ---- */

/* The condition is that no such object is there: a checkpoint of another job that saves here is not
 * replaced, and is not ours to remove. */
static int publish(struct mc_test *t, struct weir_err *err)
{
    const unsigned flags = WEIR_OPEN_WRITE | WEIR_OPEN_CREATE | WEIR_OPEN_EXCL;
    const char *path = mc_path(t, weir_str_text(&t->pub.place), MC_METADATA, err);
    struct weir_err why = WEIR_ERR_INIT;
    int rc;

    if (!path)
        return -1;
    rc = move_all(&t->session, path, flags, t->pub.names.text, t->pub.names.len,
                  (uint64_t)t->o->transfer, &why);
    if (rc < 0 && why.sys != EEXIST) {
        *err = why;
        return -1;
    }
    t->pub.is_staged = false;
    if (rc < 0)
        weir_refuse(err, WEIR_EIO, "'%s' exists: another model_checkpoint saves into '%s', and "
                                   "only one can do so at a time", path, t->o->path);
    return rc;
}

/* ---- removal ---- */

static int unlink_file(struct mc_test *t, const char *path, struct weir_err *err)
{
    return weir_session_unlink(&t->session, path, err);
}

static int withdraw(struct mc_test *t, const char *from, const char *to, struct weir_err *err)
{
    const char *path = mc_path(t, from, MC_METADATA, err);

    return path ? unlink_file(t, path, err) : -1;
}

/* Directories are in names only, and there are no locks. */
const struct mc_store mc_objects = {
    .list = list,
    .publish = publish,
    .withdraw = withdraw,
    .unlink = unlink_file,
    .read = read_text,
};
