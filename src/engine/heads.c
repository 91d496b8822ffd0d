/* SPDX-License-Identifier: BSD-3-Clause */
/* heads.c - groups of ranks whose heads work on files for them */
#include "config.h"
#include "engine/heads.h"

#include "engine/test.h"
#include "par/agree.h"

static int end_heads(void *what, struct weir_err *err)
{
    struct weir_heads *h = what;

    (void)err;
    weir_par_free(&h->peers);
    weir_par_free(&h->group);
    return 0;
}

int weir_heads_begin(struct weir_run *run, struct weir_heads *h, int color, struct weir_err *err)
{
    int rc = weir_par_split(&run->par, color, &h->group, err);

    if (weir_agree(&run->par, rc, err) < 0)
        return -1;
    h->is_head = h->group.rank == 0;
    rc = weir_par_split(&run->par, h->group.rank, &h->peers, err);
    rc = weir_agree(&run->par, rc, err);
    return weir_unwind_push_together(&run->test->unwind, end_heads, h, err) < 0 ? -1 : rc;
}
