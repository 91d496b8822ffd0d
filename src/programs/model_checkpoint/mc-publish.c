/* SPDX-License-Identifier: BSD-3-Clause */
/* mc-publish.c - what makes files a checkpoint, when all are durable; and the end of old ones */
#include "engine/phase.h"
#include "programs/model_checkpoint/mc.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/observer.h"
#include "engine/transfer.h"
#include "par/agree.h"
#include "par/textfile.h"

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

    weir_str_clear(&t->pub.names);
    weir_str_clear(&t->removal.gone);
    if (mc_meta_write(run, t, &t->pub.names, err) < 0)
        return -1;
    t->row.publish = seconds_since(begin_ns);
    return 0;
}

static uint64_t count_publish(struct weir_run *run, void *state)
{
    return run->par.rank == 0 && ((struct mc_test *)state)->is_stored;
}

/* Record an operation that is over, and how it ended. */
static int record(struct weir_run *run, enum mc_operation op, uint64_t *clock_ns, int rc, const struct weir_err *err)
{
    uint64_t begin_ns = *clock_ns;

    *clock_ns = weir_now_ns();
    if (rc < 0)
        weir_operation_add_failed(run, op, begin_ns, *clock_ns, WEIR_NO_OFFSET, err);
    else
        weir_operation_add(run, op, begin_ns, *clock_ns, WEIR_NO_OFFSET, 0);
    return rc;
}

static int step_publish(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns, struct weir_err *err)
{
    struct mc_test *t = state;

    return record(run, MC_PUBLISH, clock_ns, t->store->publish(t, err), err);
}

const struct weir_phase mc_publish = {
    .key = "publish", .unit = "checkpoints", .count = count_publish, .step = step_publish
};

int mc_after_publish(struct weir_run *run, void *state, const struct weir_stage *stage, struct weir_phase_rec *rec,
                     struct weir_err *err)
{
    struct mc_test *t = state;

    if (t->pub.made_first < 0)
        t->pub.made_first = t->pub.step;
    t->row.publish += weir_phase_span(rec, WEIR_MARK_OPEN, WEIR_MARK_CLOSED);
    measured(run, t, rec);
    return 0;
}

/* ---- remove ---- */

/* The files of a checkpoint that is none any more. */
static int list_gone(struct mc_test *t, const char *path, struct weir_err *err)
{
    bool ours;

    weir_str_addf(&t->removal.gone, "%s%c", path, 0);
    if (mc_place_list(t, path, &t->pub.names, &ours, err) < 0)
        return -1;
    return ours ? 0 : weir_refuse(err, WEIR_EIO, "another process changed '%s' at its removal", path);
}

static int take_away(struct mc_test *t, int64_t step, struct weir_err *err)
{
    struct weir_str from = { 0 }, to = { 0 };
    size_t begin = t->pub.names.len;
    bool ours = false;
    int rc;

    mc_place_name(t, MC_PUBLISHED, step, &from);
    mc_place_name(t, MC_REMOVED, step, &to);
    if (from.failed || to.failed)
        rc = weir_refuse(err, WEIR_ESETUP, "no memory for a name");
    else
        rc = mc_place_list(t, weir_str_text(&from), &t->pub.names, &ours, err);
    t->pub.names.len = begin;
    if (rc == 0 && !ours) /* with something else in it: it stays */
        t->removal.stays++;
    else if (rc == 0 && (rc = t->store->withdraw(t, weir_str_text(&from), weir_str_text(&to), err)) == 0)
        rc = list_gone(t, weir_str_text(&to), err);
    weir_str_free(&from);
    weir_str_free(&to);
    return rc;
}

/* Rank 0: take the oldest ones away; 'own': all of this test, and only these. */
static int choose(struct weir_run *run, struct mc_test *t, bool own, struct weir_err *err)
{
    const size_t keep = own ? 0 : (size_t)t->o->keep;
    struct mc_found f;
    int rc;

    weir_str_clear(&t->pub.names);
    weir_str_clear(&t->removal.gone);
    t->removal.stays = 0;
    if (run->par.rank > 0 || !t->is_stored)
        return 0;
    rc = mc_place_scan(t, &f, err);
    for (size_t i = 0; rc == 0 && i + keep < f.published; i++)
        if (!own || f.at[i].step >= t->pub.made_first)
            rc = take_away(t, f.at[i].step, err);
    free(f.at);
    if (rc == 0 && (t->pub.names.failed || t->removal.gone.failed))
        rc = weir_refuse(err, WEIR_ESETUP, "no memory for the names of files");
    return rc;
}

/* The names of files on all ranks. */
static int share_names(struct weir_run *run, struct mc_test *t, struct weir_err *err)
{
    struct weir_shared_text list = {
        .what = "the files in", .path = t->o->path, .text = t->pub.names.text, .len = t->pub.names.len
    };
    int rc = weir_shared_text_bcast(&run->par, &list, err);

    if (run->par.rank == 0 || !list.text)
        return rc;
    weir_str_free(&t->pub.names);
    t->pub.names =
        (struct weir_str) { .text = list.text, .len = rc < 0 ? 0 : list.len, .cap = list.len + 1 };
    return rc;
}

int mc_before_remove(struct weir_run *run, void *state, const struct weir_stage *stage, struct weir_err *err)
{
    struct mc_test *t = state;
    uint64_t begin_ns = weir_now_ns();
    bool one;

    if (weir_agree(&run->par, choose(run, t, stage->flags & WEIR_STAGE_LAST, err), err) < 0 ||
        share_names(run, t, err) < 0)
        return -1;
    one = t->removal.stays == 1;
    if (run->par.rank == 0 && t->removal.stays > 0 && run->repetition == 0)
        weir_note(&run->log, "--keep: %d checkpoint%s in '%s' remain%s: other files are in %s",
                  t->removal.stays, one ? "" : "s", t->o->path, one ? "s" : "", one ? "it" : "them");
    t->row.remove = seconds_since(begin_ns);
    return 0;
}

/* The names are dealt to the ranks in turn. */
static const char *next_name(const struct weir_str *names, const char *at, int skip)
{
    do {
        at = weir_str_next(names, at);
    } while (at && --skip > 0);
    return at;
}

static int prepare_remove(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mc_test *t = state;

    t->removal.next = next_name(&t->pub.names, NULL, run->par.rank + 1);
    return 0;
}

static uint64_t count_remove(struct weir_run *run, void *state)
{
    struct mc_test *t = state;
    uint64_t n = 0;

    for (const char *at = t->removal.next; at; at = next_name(&t->pub.names, at, run->par.size))
        n++;
    return n;
}

static int step_remove(struct weir_run *run, void *state, uint64_t i, uint64_t *clock_ns, struct weir_err *err)
{
    struct mc_test *t = state;
    const char *name = t->removal.next;

    t->removal.next = next_name(&t->pub.names, name, run->par.size);
    return record(run, MC_REMOVE, clock_ns, t->store->unlink(t, name, err), err);
}

const struct weir_phase mc_remove = {
    .key = "remove", .unit = "files", .prepare = prepare_remove, .count = count_remove, .step = step_remove
};

/* The directories are empty now. */
static int remove_directories(struct weir_run *run, struct mc_test *t, bool is_last,
                              struct weir_err *err)
{
    for (const char *at = NULL; run->par.rank == 0 && (at = weir_str_next(&t->removal.gone, at));)
        if (t->store->rmdir && t->store->rmdir(t, at, err) < 0)
            return -1;
    if (is_last && t->pub.made_dir)
        rmdir(t->o->path); /* where nothing else is in it */
    return 0;
}

int mc_after_remove(struct weir_run *run, void *state, const struct weir_stage *stage, struct weir_phase_rec *rec,
                    struct weir_err *err)
{
    struct mc_test *t = state;
    uint64_t begin_ns = weir_now_ns();
    bool is_last = stage->flags & WEIR_STAGE_LAST;
    int rc = weir_agree(&run->par, remove_directories(run, t, is_last, err), err);

    t->row.remove +=
        weir_phase_span(rec, WEIR_MARK_OPEN, WEIR_MARK_CLOSED) + seconds_since(begin_ns);
    measured(run, t, rec);
    return rc;
}

/* ---- before the first save, and after a failure ---- */

/* The rest of a killed run; a directory in which something else is stays. */
static int remove_left(struct weir_run *run, struct mc_test *t, const struct mc_found *f,
                       struct weir_err *err)
{
    struct weir_str path = { 0 };
    int n = 0, stay = 0, rc = 0;

    for (size_t i = f->published; rc == 0 && i < f->n; i++) {
        bool stays = false;

        weir_str_clear(&path);
        mc_place_name(t, f->at[i].what, f->at[i].step, &path);
        rc = path.failed ? weir_refuse(err, WEIR_ESETUP, "no memory for a name")
                         : mc_place_remove(t, weir_str_text(&path), &stays, err);
        stay += stays;
        n += !stays;
    }
    weir_str_free(&path);
    if (n > 0)
        weir_note(&run->log, "%d unfinished checkpoint%s of a run that was killed removed", n, n == 1 ? "" : "s");
    if (stay > 0)
        weir_note(&run->log, "%d unfinished checkpoint%s remain%s: other files are in %s",
                  stay, stay == 1 ? "" : "s", stay == 1 ? "s" : "", stay == 1 ? "it" : "them");
    return rc;
}

/* The number of the save of a published checkpoint; 0: not known. */
static int64_t sequence_of(struct mc_test *t, int64_t step)
{
    static const char key[] = "\nsequence = ";
    struct weir_str dir = { 0 }, text = { 0 };
    const char *path, *at = NULL;
    int64_t sequence;

    mc_place_name(t, MC_PUBLISHED, step, &dir);
    path = mc_path(t, weir_str_text(&dir), MC_METADATA, NULL);
    if (path && t->store->read(t, path, &text, NULL) == 0)
        at = strstr(weir_str_text(&text), key);
    sequence = at ? (int64_t)(strtoull(at + sizeof(key) - 1, NULL, 10) & INT32_MAX) : 0;
    weir_str_free(&dir);
    weir_str_free(&text);
    return sequence;
}

static int take_place(struct weir_run *run, struct mc_test *t, int64_t found[2], struct weir_err *err)
{
    struct mc_found f = { .last = -1 };
    int rc;

    if (t->store->take && t->store->take(t, err) < 0)
        return -1;
    rc = mc_place_scan(t, &f, err);
    if (rc == 0)
        rc = remove_left(run, t, &f, err);
    found[0] = f.last;
    for (size_t i = 0; i < f.published; i++) {
        int64_t sequence = sequence_of(t, f.at[i].step);

        found[1] = sequence > found[1] ? sequence : found[1];
    }
    free(f.at);
    return rc;
}

int mc_publish_begin(struct weir_run *run, struct mc_test *t, struct weir_err *err)
{
    int64_t found[2] = { -1, 0 }, every = t->o->every;
    int rc = 0;

    if (run->par.rank == 0 && t->is_stored)
        rc = take_place(run, t, found, err);
    if (weir_agree(&run->par, rc, err) < 0)
        return -1;
    weir_bcast(&run->par, found, sizeof(found), 0);
    t->pub.first_step = (found[0] < 0 ? 0 : found[0] / every * every) + every;
    t->pub.first_sequence = found[1] + 1;
    return 0;
}

static int remove_staged(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mc_test *t = state;
    bool stays;

    if (run->par.rank > 0 || !t->pub.is_staged)
        return 0;
    t->pub.is_staged = false;
    return mc_place_remove(t, weir_str_text(&t->pub.staged), &stays, err);
}

/* Old ones that are no checkpoints any more. */
static int remove_gone(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mc_test *t = state;
    int rc = 0;
    bool stays;

    for (const char *at = NULL;
         run->par.rank == 0 && rc == 0 && (at = weir_str_next(&t->removal.gone, at));)
        rc = mc_place_remove(t, at, &stays, err);
    return rc;
}

/* --remove: those that were published before the failure. */
static int remove_own(struct weir_run *run, void *state, struct weir_err *err)
{
    struct mc_test *t = state;

    if (!t->o->remove || t->pub.made_first < 0)
        return 0;
    return choose(run, t, true, err) < 0 ? -1 : remove_gone(run, t, err);
}

void mc_clean(struct weir_run *run, void *state)
{
    struct mc_test *t = state;

    weir_clean(run, remove_staged, t);
    weir_clean(run, remove_gone, t);
    weir_clean(run, remove_own, t);
    if (run->par.rank == 0 && t->pub.made_dir)
        rmdir(t->o->path); /* where nothing was published */
}
