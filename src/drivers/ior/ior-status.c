/* SPDX-License-Identifier: BSD-3-Clause */
/* ior-status.c - the status file: how far a write phase with wear-out came, for a later run that reads it back */
#include "config.h"
#include "drivers/ior/ior.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/size.h"
#include "par/agree.h"

#define NO_FILE (-1)

/* The number in the file; NO_FILE when there is none. */
static int read_number(const char *path, int64_t *steps, struct weir_err *err)
{
    char text[64] = "";
    FILE *f = fopen(path, "r");

    *steps = NO_FILE;
    if (!f)
        return errno == ENOENT ? 0 : weir_fail(err, WEIR_ESETUP, "open status file '%s'", path);
    if (!fgets(text, sizeof(text), f))
        text[0] = '\0';
    fclose(f);
    text[strcspn(text, "\r\n")] = '\0';
    if (weir_size_parse(text, 0, INT64_MAX, steps, err) < 0)
        return weir_err_within(err, "status file '%s' must hold one number of transfers", path);
    return 0;
}

int ior_status_read(struct weir_run *run, const struct ior_test *t, uint64_t *steps, struct weir_err *err)
{
    int64_t n = NO_FILE;
    int rc = 0;

    *steps = UINT64_MAX;
    if (run->par.rank == 0)
        rc = read_number(t->o->status_file, &n, err);
    if (weir_agree(&run->par, rc, err) < 0)
        return -1;
    weir_bcast(&run->par, &n, sizeof(n), 0);
    if (n == NO_FILE)
        return weir_warn(&run->log, err, "Could not read back the stonewalling status from the file '%s'!", t->o->status_file);
    *steps = (uint64_t)n;
    return 0;
}

static int write_number(const char *path, uint64_t steps, struct weir_err *err)
{
    FILE *f = fopen(path, "w");
    bool bad;

    if (!f)
        return weir_fail(err, WEIR_ESETUP, "create status file '%s'", path);
    bad = fprintf(f, "%" PRIu64, steps) < 0;
    if (fclose(f) != 0 || bad)
        return weir_fail(err, WEIR_ESETUP, "write status file '%s'", path);
    return 0;
}

int ior_status_write(struct weir_run *run, const struct ior_test *t, struct weir_err *err)
{
    int rc = run->par.rank == 0 ? write_number(t->o->status_file, t->status_steps, err) : 0;

    return weir_agree(&run->par, rc, err);
}
