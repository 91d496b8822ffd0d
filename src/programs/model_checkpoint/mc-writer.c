/* SPDX-License-Identifier: BSD-3-Clause */
/* mc-writer.c - a thread that writes the transfers of an asynchronous save, one after the other, while the work goes on. It
 * calls no MPI: the backends that do have a queue (mc.c) */
#include "config.h"
#include "programs/model_checkpoint/mc.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "engine/transfer.h"

struct mc_writer {
    pthread_t thread;
    const struct mc_test *t;
    const struct mc_plan *plan;
    struct weir_err err; /* of the transfer that failed */
    size_t done;         /* transfers that were written; set by the thread */
    bool failed;         /* set by the thread, before it ends */
    bool stop;           /* for the thread */
    struct {
        uint64_t begin_ns, end_ns;
    } time[]; /* of each transfer */
};

static void *write_all(void *arg)
{
    struct mc_writer *w = arg;

    for (size_t i = 0; i < w->plan->moves && !__atomic_load_n(&w->stop, __ATOMIC_ACQUIRE); i++) {
        const struct weir_io io = mc_save_io(w->t, &w->plan->move[i]);
        int rc;

        w->time[i].end_ns = w->time[i].begin_ns = weir_now_ns();
        rc = weir_session_xfer(w->t->save.file[w->plan->move[i].region], &io, &w->time[i].end_ns, &w->err);
        if (rc < 0) {
            __atomic_store_n(&w->failed, true, __ATOMIC_RELEASE);
            break;
        }
        __atomic_store_n(&w->done, i + 1, __ATOMIC_RELEASE);
    }
    return NULL;
}

int mc_writer_begin(struct mc_test *t, const struct mc_plan *plan, struct weir_err *err)
{
    struct mc_writer *w = calloc(1, sizeof(*w) + plan->moves * sizeof(w->time[0]));
    int sys;

    if (!w)
        return weir_refuse(err, WEIR_ESETUP, "no memory for the times of %zu transfers", plan->moves);
    w->t = t;
    w->plan = plan;
    w->err = (struct weir_err) WEIR_ERR_INIT;
    sys = pthread_create(&w->thread, NULL, write_all, w);
    if (sys != 0) {
        free(w);
        errno = sys;
        return weir_fail(err, WEIR_ESETUP, "start a thread that writes in the background");
    }
    t->save.writer = w;
    return 0;
}

int mc_writer_wait(struct weir_run *run, struct mc_test *t, uint64_t i, uint64_t *clock_ns, struct weir_err *err)
{
    struct mc_writer *w = t->save.writer;
    const struct weir_io io = mc_save_io(t, &w->plan->move[i]);
    bool failed = false;

    while (__atomic_load_n(&w->done, __ATOMIC_ACQUIRE) <= i && !(failed = __atomic_load_n(&w->failed, __ATOMIC_ACQUIRE)))
        mc_work(t);
    *clock_ns = weir_now_ns();
    /* it may have written this one before it failed */
    if (failed && __atomic_load_n(&w->done, __ATOMIC_ACQUIRE) <= i) {
        *err = w->err;
        weir_records_add_failed(&run->records, MC_WRITE, w->time[i].begin_ns, w->time[i].end_ns, io.off, err);
        return -1;
    }
    weir_transfer_count(run, &io, w->time[i].begin_ns, w->time[i].end_ns);
    return 0;
}

void mc_writer_end(struct mc_test *t)
{
    if (!t->save.writer)
        return;
    __atomic_store_n(&t->save.writer->stop, true, __ATOMIC_RELEASE);
    pthread_join(t->save.writer->thread, NULL);
    free(t->save.writer);
    t->save.writer = NULL;
}
