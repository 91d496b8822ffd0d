/* SPDX-License-Identifier: BSD-3-Clause */
/* ior-prefill.c - write the file in order before random writes, so that they meet allocated
 * blocks */
#include "config.h"
#include "drivers/ior/ior.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "par/agree.h"

#define PAGE 4096

static int fill_blocks(struct weir_run *run, struct ior_test *t, struct weir_err *err)
{
    struct weir_offset_conf c = { .layout = t->layout,
                                  .order = WEIR_ORDER_SEQUENTIAL,
                                  .task = run->par.rank };
    struct weir_offsets seq = { 0 };
    struct weir_io io = { .dir = WEIR_DIR_WRITE, .len = (size_t)t->o->prefill };
    uint64_t clock = weir_now_ns();
    int rc;

    c.layout.transfer = (uint64_t)t->o->prefill;
    if (weir_mem_aligned(&io.buf, PAGE, io.len, err) < 0)
        return -1;
    memset(io.buf, 0xff, io.len);
    rc = weir_offsets_init(&seq, &c, err);
    for (uint64_t i = 0; rc == 0 && i < weir_offsets_count(&seq); i++) {
        io.off = weir_offsets_next(&seq);
        rc = weir_session_xfer(t->use.file, &io, &clock, err);
    }
    weir_offsets_free(&seq);
    free(io.buf);
    return rc;
}

int ior_prefill(struct weir_run *run, struct ior_test *t, struct weir_err *err)
{
    uint64_t begin = weir_now_ns();
    struct weir_file *f;
    int rc = ior_prepare_write(run, t, err);

    if (weir_agree(&run->par, rc, err) < 0)
        return -1;
    rc = ior_open_write(t, (uint64_t)t->o->prefill, err);
    if (weir_agree(&run->par, rc, err) < 0) {
        if (rc == 0)
            weir_session_close(t->use.file, NULL);
        t->use.file = NULL;
        return -1;
    }
    rc = fill_blocks(run, t, err);
    f = t->use.file;
    t->use.file = NULL;
    if (weir_session_close(f, rc < 0 ? NULL : err) < 0)
        rc = -1;
    if (weir_agree(&run->par, rc, err) < 0)
        return -1;
    t->use.prefilled = true;
    if (run->log.verbose >= 2)
        weir_report_line(&run->report, "Random prefill took: %fs",
                         (double)(weir_now_ns() - begin) / WEIR_NS_PER_S);
    return 0;
}
