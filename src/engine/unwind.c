/* SPDX-License-Identifier: BSD-3-Clause */
/* unwind.c - what was taken, given back in reverse order */
#include "config.h"
#include "engine/unwind.h"

#include "par/agree.h"

static int push(struct weir_unwind *u, weir_release_fn *release, void *what, bool together,
                struct weir_err *err)
{
    if (u->n == WEIR_UNWIND_MOST) {
        release(what, NULL);
        return weir_refuse(err, WEIR_EBUG, "a test takes more than %d things", WEIR_UNWIND_MOST);
    }
    u->item[u->n].release = release;
    u->item[u->n].what = what;
    u->item[u->n++].together = together;
    return 0;
}

int weir_unwind_push(struct weir_unwind *u, weir_release_fn *release, void *what,
                     struct weir_err *err)
{
    return push(u, release, what, false, err);
}

int weir_unwind_push_together(struct weir_unwind *u, weir_release_fn *release, void *what,
                              struct weir_err *err)
{
    return push(u, release, what, true, err);
}

int weir_unwind_all(struct weir_unwind *u, const struct weir_par *par, int rc, struct weir_err *err)
{
    struct weir_err late = WEIR_ERR_INIT, own = WEIR_ERR_INIT;
    int failed = 0, own_failed = 0;

    while (u->n > 0) {
        bool together = u->item[--u->n].together;
        struct weir_err why = WEIR_ERR_INIT;
        int one = u->item[u->n].release(u->item[u->n].what, &why);

        if (together && weir_agree(par, one, &why) < 0 && failed == 0) {
            late = why;
            failed = -1;
        } else if (!together && one < 0 && own_failed == 0) {
            own = why;
            own_failed = -1;
        }
    }
    if (weir_agree(par, own_failed, &own) < 0 && failed == 0) {
        late = own;
        failed = -1;
    }
    if (rc == 0 && failed < 0)
        *err = late;
    return rc < 0 ? rc : failed;
}
