/* SPDX-License-Identifier: BSD-3-Clause */
/* mc-publish.c - what makes files a checkpoint, when all are durable; and the end of old ones */
#include "config.h"
#include "engine/phase.h"
#include "programs/model_checkpoint/mc.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/observer.h"
#include "engine/transfer.h"
#include "par/agree.h"

/* The calls are those of no session, but for objects. */
static void measured(struct weir_run *run, struct mc_test *t, const struct weir_phase_rec *rec)
{
    struct weir_session none = { .be = NULL };

    weir_observers_measured(run, t->is_objects ? &t->session : &none, rec);
}

static double seconds_since(uint64_t begin_ns)
{
    return (double)(weir_now_ns() - begin_ns) / WEIR_NS_PER_S;
}

/* ---- publish ---- */

/* The regions of all ranks are gathered for rank 0, which is a part of the save. */
int mc_before_publish(struct weir_run *run, void *state, const struct weir_stage *stage, struct weir_err *err)
{
    struct mc_test *t = state;
    uint64_t begin_ns = weir_now_ns();

    (void)stage;
    weir_str_clear(&t->names);
    weir_str_clear(&t->gone);
    if (mc_meta_write(run, t, &t->names, err) < 0)
        return -1;
    t->times.publish_s = seconds_since(begin_ns);
    return 0;
}

static uint64_t count_publish(struct weir_run *run, void *state)
{
    return run->par.rank == 0 && ((struct mc_test *)state)->is_stored;
}

static int step_publish(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns, struct weir_err *err)
{
    struct mc_test *t = state;
    uint64_t begin_ns = *clock_ns;
    int rc;

    (void)i;
    rc = t->store->publish(t, err);
    *clock_ns = weir_now_ns();
    if (rc < 0)
        weir_operation_add_failed(run, MC_PUBLISH, begin_ns, *clock_ns, WEIR_NO_OFFSET, err);
    else
        weir_operation_add(run, MC_PUBLISH, begin_ns, *clock_ns, WEIR_NO_OFFSET, 0);
    return rc;
}

const struct weir_phase mc_publish = {
    .key = "publish", .unit = "checkpoints", .count = count_publish, .step = step_publish
};

int mc_after_publish(struct weir_run *run, void *state, const struct weir_stage *stage, struct weir_phase_rec *rec,
                     struct weir_err *err)
{
    struct mc_test *t = state;

    (void)stage;
    (void)err;
    if (t->made_first < 0)
        t->made_first = t->step;
    t->times.publish_s += weir_phase_span(rec, WEIR_MARK_OPEN, WEIR_MARK_CLOSED);
    measured(run, t, rec);
    return 0;
}

/* ---- remove ---- */

/* The files of a checkpoint that is none any more. */
static int list_gone(struct mc_test *t, const char *path, struct weir_err *err)
{
    bool ours;

    weir_str_addf(&t->gone, "%s\n", path);
    if (t->store->files(t, path, &t->names, &ours, err) < 0)
        return -1;
    return ours ? 0 : weir_refuse(err, WEIR_EIO, "'%s' changes while it is removed", path);
}

static int take_away(struct mc_test *t, int64_t step, struct weir_err *err)
{
    struct weir_str from = { 0 }, to = { 0 };
    size_t begin = t->names.len;
    bool ours = false;
    int rc;

    mc_place_name(t->o->path, MC_PUBLISHED, step, &from);
    mc_place_name(t->o->path, t->store->withdrawn, step, &to);
    if (from.failed || to.failed)
        rc = weir_refuse(err, WEIR_ESETUP, "no memory for a name");
    else
        rc = t->store->files(t, weir_str_text(&from), &t->names, &ours, err);
    t->names.len = begin;
    if (rc == 0 && !ours) /* with something else in it: it stays */
        t->stays++;
    else if (rc == 0 && (rc = t->store->withdraw(t, weir_str_text(&from), weir_str_text(&to), err)) == 0)
        rc = list_gone(t, weir_str_text(&to), err);
    weir_str_free(&from);
    weir_str_free(&to);
    return rc;
}

/* Rank 0: take the oldest ones away. */
static int choose(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mc_test *t = state;
    struct mc_found f;
    int rc;

    weir_str_clear(&t->names);
    weir_str_clear(&t->gone);
    t->stays = 0;
    if (run->par.rank > 0 || !t->is_stored)
        return 0;
    rc = mc_place_look(t, &f, err);
    for (size_t i = 0; rc == 0 && i + (size_t)t->keep < f.n; i++)
        if (!t->removes_own || f.step[i] >= t->made_first)
            rc = take_away(t, f.step[i], err);
    mc_found_free(&f);
    if (rc == 0 && (t->names.failed || t->gone.failed))
        rc = weir_refuse(err, WEIR_ESETUP, "no memory for the names of files");
    return rc;
}

/* The names of files on all ranks. */
static int tell(struct weir_run *run, struct mc_test *t, struct weir_err *err)
{
    uint64_t len = t->names.len;
    char *text = NULL;
    int rc = 0;

    weir_bcast(&run->par, &len, sizeof(len), 0);
    if (run->par.rank > 0 && !(text = malloc(len + 1)))
        rc = weir_refuse(err, WEIR_ESETUP, "no memory for the names of files");
    if (weir_agree(&run->par, rc, err) < 0) {
        free(text);
        return -1;
    }
    if (len > 0)
        weir_bcast(&run->par, run->par.rank == 0 ? t->names.text : text, len, 0);
    if (run->par.rank > 0) {
        weir_str_add(&t->names, text, len);
        free(text);
    }
    return weir_agree(&run->par, t->names.failed ? weir_refuse(err, WEIR_ESETUP, "no memory for the names of files") : 0, err);
}

int mc_before_remove(struct weir_run *run, void *state, const struct weir_stage *stage, struct weir_err *err)
{
    struct mc_test *t = state;
    uint64_t begin_ns = weir_now_ns();

    t->removes_own = (stage->flags & WEIR_STAGE_LAST) != 0;
    t->keep = t->removes_own ? 0 : t->o->keep;
    if (weir_local(run, choose, t, err) < 0 || tell(run, t, err) < 0)
        return -1;
    if (run->par.rank == 0 && t->stays > 0 && run->repetition == 0)
        weir_note(&run->log, "--keep: %d checkpoint%s in '%s' stay%s, because something else is in %s", t->stays, t->stays == 1
                  ? "" : "s",
                  t->o->path, t->stays == 1 ? "s" : "", t->stays == 1 ? "it" : "them");
    t->next = t->names.text;
    t->times.remove_s = seconds_since(begin_ns);
    return 0;
}

/* The names are dealt to the ranks in turn. */
static char *next_name(char *at, int skip)
{
    while (at && *at && skip-- > 0) {
        at = strchr(at, '\n');
        at = at ? at + 1 : NULL;
    }
    return at && *at ? at : NULL;
}

static int prepare_remove(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mc_test *t = state;

    (void)err;
    t->next = next_name(t->names.text, run->par.rank);
    return 0;
}

static uint64_t count_remove(struct weir_run *run, void *state)
{
    uint64_t n = 0;

    for (char *at = ((struct mc_test *)state)->next; at; at = next_name(at, run->par.size))
        n++;
    return n;
}

static int step_remove(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns, struct weir_err *err)
{
    struct mc_test *t = state;
    char *name = t->next, *end = strchr(name, '\n');
    uint64_t begin_ns = *clock_ns;
    int rc;

    (void)i;
    t->next = next_name(name, run->par.size);
    *end = '\0';
    rc = t->store->unlink(t, name, err);
    *clock_ns = weir_now_ns();
    weir_operation_add(run, MC_REMOVE, begin_ns, *clock_ns, WEIR_NO_OFFSET, 0);
    return rc;
}

const struct weir_phase mc_remove = {
    .key = "remove", .unit = "files", .prepare = prepare_remove, .count = count_remove, .step = step_remove
};

/* The directories are empty now. */
static int remove_directories(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mc_test *t = state;

    for (char *at = t->gone.text, *end; run->par.rank == 0 && at && (end = strchr(at, '\n')); at = end + 1) {
        *end = '\0';
        if (t->store->rmdir && t->store->rmdir(t, at, err) < 0)
            return -1;
    }
    if (t->removes_own && t->made_dir)
        rmdir(t->o->path); /* where nothing else is in it */
    return 0;
}

int mc_after_remove(struct weir_run *run, void *state, const struct weir_stage *stage, struct weir_phase_rec *rec,
                    struct weir_err *err)
{
    struct mc_test *t = state;
    uint64_t begin_ns = weir_now_ns();
    int rc = weir_local(run, remove_directories, t, err);

    (void)stage;
    t->times.remove_s += weir_phase_span(rec, WEIR_MARK_OPEN, WEIR_MARK_CLOSED) + seconds_since(begin_ns);
    measured(run, t, rec);
    return rc;
}

/* ---- before the first save, and after a failure ---- */

/* The rest of a killed run; a directory in which something else is stays. */
static int remove_left(struct weir_run *run, struct mc_test *t, struct mc_found *f, struct weir_err *err)
{
    int n = 0, stay = 0, rc = 0;

    for (char *at = f->left.text, *end; rc == 0 && at && (end = strchr(at, '\n')); at = end + 1) {
        bool stays;

        *end = '\0';
        rc = mc_place_remove(t, at, &stays, err);
        stay += stays;
        n += !stays;
    }
    if (n > 0)
        weir_note(&run->log, "%d unfinished checkpoint%s of a run that was killed removed", n, n == 1 ? "" : "s");
    if (stay > 0)
        weir_note(&run->log, "%d unfinished checkpoint%s stay%s, because something else is in %s", stay, stay == 1 ? "" : "s",
                  stay == 1 ? "s" : "", stay == 1 ? "it" : "them");
    return rc;
}

static int take_place(struct weir_run *run, struct mc_test *t, int64_t found[2], struct weir_err *err)
{
    struct mc_found f = { .last = -1 };
    int rc;

    if (t->store->take && t->store->take(t, err) < 0)
        return -1;
    rc = mc_place_look(t, &f, err);
    if (rc == 0)
        rc = remove_left(run, t, &f, err);
    found[0] = f.last;
    for (size_t i = 0; i < f.n; i++) {
        int64_t sequence = mc_place_sequence(t, f.step[i]);

        found[1] = sequence > found[1] ? sequence : found[1];
    }
    mc_found_free(&f);
    return rc;
}

int mc_publish_begin(struct weir_run *run, struct mc_test *t, struct weir_err *err)
{
    int64_t found[2] = { -1, 0 }, every = t->o->every;
    int rc = 0;

    t->lock = t->lock > 0 ? t->lock : -1;
    if (run->par.rank == 0 && t->is_stored)
        rc = take_place(run, t, found, err);
    if (weir_agree(&run->par, rc, err) < 0)
        return -1;
    weir_bcast(&run->par, found, sizeof(found), 0);
    t->first_step = (found[0] < 0 ? 0 : found[0] / every * every) + every;
    t->first_sequence = found[1] + 1;
    return 0;
}

static int remove_staged(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mc_test *t = state;
    bool stays;

    if (run->par.rank > 0 || !t->is_staged)
        return 0;
    t->is_staged = false;
    return mc_place_remove(t, weir_str_text(&t->staged), &stays, err);
}

/* Old ones that are no checkpoints any more. */
static int remove_gone(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mc_test *t = state;
    int rc = 0;
    bool stays;

    for (char *at = t->gone.text, *end; run->par.rank == 0 && rc == 0 && at && (end = strchr(at, '\n')); at = end + 1) {
        *end = '\0';
        rc = mc_place_remove(t, at, &stays, err);
    }
    return rc;
}

/* --remove: those that were published before the failure. */
static int remove_own(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mc_test *t = state;

    if (!t->o->remove || t->made_first < 0)
        return 0;
    t->removes_own = true;
    t->keep = 0;
    return choose(run, t, err) < 0 ? -1 : remove_gone(run, t, err);
}

void mc_clean(struct weir_run *run, void *state)
{
    struct mc_test *t = state;

    weir_clean(run, remove_staged, t);
    weir_clean(run, remove_gone, t);
    weir_clean(run, remove_own, t);
    if (run->par.rank == 0 && t->made_dir)
        rmdir(t->o->path); /* where nothing was published */
}
