/* SPDX-License-Identifier: BSD-3-Clause */
/* status.c - the status file of a stonewall */
#include "engine/place/status.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/size.h"
#include "base/text/path.h"
#include "base/text/wholefile.h"
#include "par/agree.h"

#define NO_FILE (-1)

/* The number in the file; NO_FILE when there is none. */
static int read_number(const char *path, const char *what, int64_t *count, struct weir_err *err)
{
    char text[64] = "";
    FILE *f = weir_open_now(path, "r");

    *count = NO_FILE;
    if (!f)
        return errno == ENOENT ? 0 : weir_fail(err, WEIR_ESETUP, "open status file '%s'", path);
    errno = 0;
    if (!fgets(text, sizeof(text), f) && ferror(f)) {
        weir_fail(err, WEIR_ESETUP, "read status file '%s'", path);
        fclose(f);
        return -1;
    }
    fclose(f);
    text[strcspn(text, "\r\n")] = '\0';
    if (weir_size_parse(text, 0, INT64_MAX, count, err) < 0)
        return weir_err_within(err, "status file '%s' must hold one number of %s", path, what);
    return 0;
}

int weir_status_read(const struct weir_run *run, const char *path, const char *what, bool *there,
                     uint64_t *count, struct weir_err *err)
{
    int64_t n = NO_FILE;
    int rc = run->par.rank == 0 ? read_number(path, what, &n, err) : 0;

    if (weir_agree(&run->par, rc, err) < 0)
        return -1;
    weir_bcast(&run->par, &n, sizeof(n), 0);
    *there = n != NO_FILE;
    if (*there)
        *count = (uint64_t)n;
    return 0;
}

static int forget(const char *path, struct weir_err *err)
{
    struct weir_str place = { 0 };
    struct stat st;
    int rc = weir_link_follow(path, &place, err);

    if (rc == 0 && stat(weir_str_text(&place), &st) == 0 && S_ISREG(st.st_mode) &&
        unlink(weir_str_text(&place)) < 0)
        rc = weir_fail(err, WEIR_ESETUP, "remove old status file '%s'", path);
    weir_str_free(&place);
    return rc;
}

int weir_status_forget(const struct weir_run *run, const char *path, struct weir_err *err)
{
    return weir_agree(&run->par, run->par.rank == 0 ? forget(path, err) : 0, err);
}

int weir_status_write(const struct weir_run *run, const char *path, uint64_t count,
                      struct weir_err *err)
{
    char text[24];
    int rc = 0;

    snprintf(text, sizeof(text), "%" PRIu64, count); /* fits */
    if (run->par.rank == 0 && weir_wholefile_put(path, text, err) < 0)
        rc = weir_err_within(err, "status file '%s'", path);
    return weir_agree(&run->par, rc, err);
}
