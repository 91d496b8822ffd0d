/* SPDX-License-Identifier: BSD-3-Clause */
/* textfile.c - text files that rank 0 reads for all ranks */
#include "par/textfile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "par/agree.h"

#define TEXT_MAX                                                                                   \
    ((size_t)64 << 20) /* bytes; more is no text of options, and /dev/zero has no end */

int weir_text_read(const char *what, const char *path, enum weir_code code, struct weir_str *text,
                   struct weir_err *err)
{
    FILE *f = fopen(path, "r");
    char piece[4096];
    int rc = 0;
    size_t n;

    if (!f)
        return weir_fail(err, code, "open %s '%s'", what, path);
    while (text->len <= TEXT_MAX && (n = fread(piece, 1, sizeof(piece), f)) > 0) {
        size_t skip = text->len == 0 && n >= 3 && memcmp(piece, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

        weir_str_add(text, piece + skip, n - skip);
    }
    if (ferror(f) || text->failed)
        rc = weir_fail(err, code, "read %s '%s'", what, path);
    else if (text->len > TEXT_MAX)
        rc = weir_refuse(err, code, "read %s '%s': the file has more than %zu MiB, which is too "
                                    "much for a %s", what, path, TEXT_MAX >> 20, what);
    fclose(f);
    return rc;
}

/* An optional file was not named by the user, so no process writes into a pipe of this name. A
 * dangling link counts as a file: opening it fails. */
static int look_at_file(const struct weir_shared_text *t, bool *there, struct weir_err *err)
{
    struct stat st;

    *there = t->must_be || lstat(t->path, &st) == 0 || errno != ENOENT;
    if (!t->must_be && *there && stat(t->path, &st) == 0 && S_ISFIFO(st.st_mode))
        return weir_refuse(err, WEIR_EUSAGE, "read %s '%s': it is a pipe, not a file", t->what,
                           t->path);
    return 0;
}

static int read_file(struct weir_shared_text *t, struct weir_err *err)
{
    struct weir_str text = { 0 };
    bool there;
    int rc;

    if (look_at_file(t, &there, err) < 0 || !there)
        return there ? -1 : 0;
    rc = weir_text_read(t->what, t->path, WEIR_EUSAGE, &text, err);
    weir_str_add(&text, "", 1);
    t->text = text.text;
    t->len = text.len > 0 ? text.len - 1 : 0;
    return rc == 0 && text.failed ? weir_fail(err, WEIR_EUSAGE, "read %s '%s'", t->what, t->path) : rc;
}

int weir_shared_text_read(const struct weir_par *par, struct weir_shared_text *t,
                          struct weir_err *err)
{
    t->text = NULL;
    t->len = 0;
    if (weir_agree(par, par->rank == 0 ? read_file(t, err) : 0, err) < 0)
        return -1;
    return weir_shared_text_bcast(par, t, err);
}

int weir_shared_text_bcast(const struct weir_par *par, struct weir_shared_text *t,
                           struct weir_err *err)
{
    uint64_t head[2]; /* is there a text, and its length */
    int rc = 0;

    head[0] = t->text != NULL;
    head[1] = t->len;
    weir_bcast(par, head, sizeof(head), 0);
    if (!head[0])
        return 0;
    t->len = head[1];
    if (par->rank != 0 && !(t->text = malloc(t->len + 1)))
        rc = weir_fail(err, WEIR_ESETUP, "memory for %s '%s'", t->what, t->path);
    if (weir_agree(par, rc, err) < 0)
        return -1;
    weir_bcast(par, t->text, t->len + 1, 0);
    return 0;
}
