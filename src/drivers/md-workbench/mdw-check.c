/* SPDX-License-Identifier: BSD-3-Clause */
/* mdw-check.c - are the options sound, and what follows from them */
#include "config.h"
#include "drivers/md-workbench/mdw.h"

#include <math.h>
#include <stdlib.h>

#include "engine/metadata.h"
#include "par/agree.h"

#define MOST_WAIT 1e6

/* */
static void fill_phases(struct mdw_options *o)
{
    if (!o->precreate && !o->benchmark && !o->cleanup)
        o->precreate = o->benchmark = o->cleanup = true;
}

static int check_wait(struct mdw_test *t, struct weir_err *err)
{
    const char *text = t->o->wait;
    char *end;

    t->wait = strtod(text, &end);
    if (end == text || *end || !isfinite(t->wait) || t->wait < 0 || t->wait > MOST_WAIT)
        return weir_refuse(err, WEIR_EUSAGE,
                           "option -t (waiting-time): '%s' is not a number from 0 to %.0f", text,
                           MOST_WAIT);
    return 0;
}

static int check_words(struct mdw_test *t, struct weir_err *err)
{
    if (weir_metadata_packet(t->o->packet, &t->data.packet, err) < 0)
        return -1;
    if (!t->o->prefix || !*t->o->prefix)
        return weir_refuse(err, WEIR_EUSAGE, "option -o: the name of the directory is empty");
    if (!t->o->position_file || !*t->o->position_file)
        return weir_refuse(err, WEIR_EUSAGE,
                           "option --run-info-file: the name of the file is empty");
    if (t->o->latency && !*t->o->latency)
        return weir_refuse(err, WEIR_EUSAGE,
                           "option -L (latency): the prefix of the files is empty");
    return check_wait(t, err);
}

/* Objects are counted in 64 bits. */
static int check_count(const struct mdw_test *t, const struct weir_run *run, struct weir_err *err)
{
    const struct mdw_options *o = t->o;
    int64_t n;

    if (__builtin_mul_overflow((int64_t)o->steps, o->run.repetitions, &n) ||
        __builtin_add_overflow(n, o->population, &n) || __builtin_mul_overflow(n, o->sets, &n) ||
        __builtin_mul_overflow(n, run->world.size, &n))
        return weir_refuse(err, WEIR_EUSAGE,
                           "sets (-D), population (-P), steps (-I) and iterations (-R) make more "
                           "objects than can be counted");
    return 0;
}

static int check_backend(struct mdw_test *t, const struct weir_run *run, struct weir_err *err)
{
    const struct weir_ns *ns = t->ns = t->be->ns;

    if (!ns || !ns->mkdir || !ns->rmdir || !ns->stat || !ns->unlink)
        return weir_refuse(err, WEIR_EUSAGE,
                           "%s cannot make, stat and remove files and directories", t->be->name);
    return weir_metadata_small_files(run, t->be, t->be_opt, (uint64_t)t->o->size, "md-workbench",
                                     &t->access, &t->extent, err);
}

/* What this rank finds: memory and the backend's own check may differ. */
static int check_all(struct mdw_test *t, const struct weir_run *run, struct weir_err *err)
{
    if (check_words(t, err) < 0 || check_count(t, run, err) < 0)
        return -1;
    return check_backend(t, run, err);
}

int mdw_check(struct mdw_test *t, struct weir_run *run, struct mdw_options *o, struct weir_err *err)
{
    int rc = 0;

    run->par = run->world;
    fill_phases(o);
    if (weir_agree_check(&run->world, check_all(t, run, err), err) < 0)
        return -1;
    if (o->benchmark && !o->precreate && o->run.deadline_s > 0 && !o->run.wear_out &&
        o->run.repetitions > 1)
        rc = weir_warn(&run->log, err,
                       "with a stonewall (-w) and without wear-out (-W) tasks stop at different "
                       "objects: in later iterations some may not be there");
    weir_metadata_seed(run, &o->seed);
    t->data.seed = o->seed;
    return rc;
}
