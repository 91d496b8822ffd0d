/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest-status.c - the status file: how many items each task has after a stonewall, for a later run */
#include "config.h"
#include "drivers/mdtest/mdtest.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/size.h"
#include "par/agree.h"

#define NO_FILE (-1)

/* The number in the file; NO_FILE when there is none. */
static int read_number(const char *path, int64_t *items, struct weir_err *err)
{
    char text[64] = "";
    FILE *f = fopen(path, "r");

    *items = NO_FILE;
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
    if (weir_size_parse(text, 0, INT64_MAX, items, err) == 0)
        return 0;
    return weir_err_within(err, "status file '%s' must hold one number of items", path);
}

int mdtest_status_read(struct weir_run *run, const struct mdtest_test *t, uint64_t *items, struct weir_err *err)
{
    int64_t n = NO_FILE;
    int rc = 0;

    if (run->par.rank == 0)
        rc = read_number(t->o->status_file, &n, err);
    if (weir_agree(&run->par, rc, err) < 0)
        return -1;
    weir_bcast(&run->par, &n, sizeof(n), 0);
    if (n == NO_FILE)
        return weir_warn(&run->log, err, "Could not read stonewall status file '%s': the planned number of items is taken",
                         t->o->status_file);
    *items = (uint64_t)n;
    return 0;
}

static int write_number(const char *path, uint64_t items, struct weir_err *err)
{
    FILE *f = fopen(path, "w");
    bool bad;

    if (!f)
        return weir_fail(err, WEIR_ESETUP, "create status file '%s'", path);
    bad = fprintf(f, "%" PRIu64, items) < 0;
    if (fclose(f) != 0 || bad)
        return weir_fail(err, WEIR_ESETUP, "write status file '%s'", path);
    return 0;
}

int mdtest_status_write(struct weir_run *run, const struct mdtest_test *t, uint64_t items, struct weir_err *err)
{
    int rc = run->par.rank == 0 ? write_number(t->o->status_file, items, err) : 0;

    return weir_agree(&run->par, rc, err);
}
