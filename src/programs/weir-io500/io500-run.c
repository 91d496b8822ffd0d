/* SPDX-License-Identifier: BSD-3-Clause */
/* io500-run.c - the phases of a rehearsal, one after the other */
#include "programs/weir-io500/io500-run.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text/quote.h"
#include "base/text/wholefile.h"
#include "engine/phase.h"
#include "par/agree.h"
#include "programs/weir-io500/find.h"

#define FILES_SIZE 3901
#define FILES_NAME "*01*"

/* ---- before a phase ---- */

/* On all ranks, so that a signal to any of them ends the wait. */
static int wait_while_paused(struct weir_run *run, struct io500 *t, const char *name, struct weir_err *err)
{
    const char *dir = io500_text(&t->config, "debug", "pause-dir");
    const char *path = weir_arena_textf(&run->arena, err, "%s/%s", dir, name);
    int paused = 0, rc = 0;

    if (!*dir || weir_agree(&run->par, path ? 0 : -1, err) < 0)
        return *dir ? -1 : 0;
    do {
        bool was = paused;

        if (run->par.rank == 0)
            paused = access(path, F_OK) == 0;
        weir_bcast(&run->par, &paused, sizeof(paused), 0);
        if (paused && !was)
            weir_note(&run->log, "phase %s begins when '%s' is removed", name, path);
        if (paused)
            rc = weir_phase_pause(run, 0.5, err);
    } while (paused && rc == 0);
    return rc;
}

/* One rank of each node. */
static int drop_caches(struct weir_run *run, struct io500 *t, struct weir_err *err)
{
    const char *command = io500_text(&t->config, "global", "drop-caches-cmd");
    int rc = 0, status = 0;

    if (!io500_flag(&t->config, "global", "drop-caches"))
        return 0;
    if (run->par.rank == run->par.leader)
        status = system(command);
    if (status != 0)
        rc = weir_refuse(err, WEIR_ESETUP, "[global] drop-caches-cmd: '%s' ended with status %d", command,
                         WIFEXITED(status) ? WEXITSTATUS(status) : status);
    return weir_agree(&run->par, rc, err);
}

/* ---- phases without a benchmark ---- */

/* Files made from now on are newer, also where the clock of the kernel is coarse. */
static int touch_stamp(struct weir_run *run, struct io500 *t, struct weir_err *err)
{
    int rc = 0, fd;

    if (run->par.rank == 0) { /* a pipe at its name is not waited for */
        fd = openat(t->lock, "timestampfile",
                    O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_CLOEXEC, 0666);
        if (fd < 0 || futimens(fd, NULL) < 0)
            rc = weir_fail(err, WEIR_ESETUP, "touch '%s/timestampfile'", t->place.results);
        if (fd >= 0)
            close(fd);
        weir_sleep_ns(20000000);
    }
    return weir_agree(&run->par, rc, err);
}

static bool asks_to_stop(void *arg)
{
    return weir_interrupt_poll(&((struct weir_run *)arg)->interrupt);
}

/* By the first ranks, as many as the configuration says. */
static int find_in(struct weir_run *run, const struct io500 *t, const char *section, const struct io500_find *find,
                   struct io500_found *found, struct weir_err *err)
{
    int64_t nproc = io500_number(&t->config, section, "nproc");
    struct weir_par some;
    int rc = 0;

    if (nproc < 1 || nproc >= run->par.size)
        return io500_find_run(&run->par, find, found, err);
    if (weir_par_subset(&run->par, (int)nproc, &some, err) < 0)
        return -1;
    if (some.comm != MPI_COMM_NULL) {
        rc = io500_find_run(&some, find, found, err);
        weir_par_free(&some);
    }
    weir_bcast(&run->par, found, sizeof(*found), 0);
    return weir_agree(&run->par, rc, err);
}

/* The last line that a program has printed which is not empty. */
static void read_last(FILE *from, char *last, size_t size)
{
    char line[512];

    while (fgets(line, sizeof(line), from))
        if (line[strspn(line, " \t\r\n")] != '\0' && strlen(line) < size)
            memcpy(last, line, strlen(line) + 1);
    last[strcspn(last, "\r\n")] = '\0';
}

/* "MATCHED found/total" */
static bool read_matched(const char *line, struct io500_found *found)
{
    int end = 0;

    return sscanf(line, "MATCHED %" SCNu64 "/%" SCNu64 "%n", &found->found, &found->total, &end) == 2 && end > 0 &&
           line[end + (int)strspn(line + end, " \t")] == '\0' && !strchr(line, '-') && found->found <= found->total;
}

/* Rank 0 starts it. */
static int run_script(const char *command, struct io500_found *found, struct weir_err *err)
{
    char last[512] = "", shown[WEIR_QUOTE_TEXT];
    uint64_t begin_ns = weir_now_ns();
    FILE *from = popen(command, "r");
    int status;

    if (!from)
        return weir_fail(err, WEIR_ESETUP, "[find] external-script: start '%s'", command);
    read_last(from, last, sizeof(last));
    status = pclose(from);
    found->seconds = (double)(weir_now_ns() - begin_ns) / WEIR_NS_PER_S;
    if (status != 0)
        return weir_refuse(err, WEIR_ESETUP, "[find] external-script: '%s' ended with %s %d", command, WIFEXITED(status) ? "status" : "signal",
                           WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
    if (read_matched(last, found))
        return 0;
    return weir_refuse(err, WEIR_ESETUP, "[find] external-script: '%s' ended with the line '%s' and not with 'MATCHED found/total', found at most total", command,
                       weir_quote_str(last, shown));
}

/* Return the user's command, or find(1) with the same criteria. */
static const char *command_of(struct weir_run *run, const struct io500 *t, const char *section,
                              const struct io500_find *find, struct weir_err *err)
{
    const char *mpi = io500_text(&t->config, section, "external-mpi-args"),
               *script = io500_text(&t->config, section, "external-script");
    const char *newer = find->newer ? find->newer : "";

    return weir_arena_textf(&run->arena, err, "%s%s%s '%s'%s%s%s%s -name \"" FILES_NAME "\" %s",
                            mpi, *mpi ? " " : "", *script ? script : "find", find->directory,
                            *newer ? " -newer '" : "", newer, *newer ? "'" : "",
                            find->size >= 0 ? " -size 3901c" : "",
                            io500_text(&t->config, section, "external-extra-args"));
}

/* The find of all of it and that of the hard files have the three conditions; the easy one has the name only. */
static int run_find(struct weir_run *run, struct io500 *t, int phase, struct io500_done *d, struct weir_err *err)
{
    const struct io500_phase *p = &io500_phases[phase];
    bool easy = strcmp(p->name, "find-easy") == 0;
    struct io500_found found = { 0 };
    struct io500_find find = { .name = FILES_NAME, .size = easy ? -1 : FILES_SIZE, .stop = asks_to_stop, .arg = run };
    int64_t queue = io500_number(&t->config, p->name, "pfind-queue-length");
    struct weir_arena *arena = &run->arena;
    int rc;

    find.queue = queue > 0 ? (uint64_t)queue : 0;
    find.next = io500_flag(&t->config, p->name, "pfind-steal-next");
    find.directory =
        weir_arena_textf(arena, err, "%s%s%s", t->place.data, *p->words ? "/" : "", p->words);
    find.newer = easy ? NULL : weir_arena_textf(arena, err, "%s/timestampfile", t->place.results);
    find.csv = weir_arena_textf(arena, err, "%s/%s.csv", t->place.results, p->name);
    d->command = command_of(run, t, p->name, &find, err);
    if (weir_agree(&run->par, err->code == WEIR_OK ? 0 : -1, err) < 0)
        return -1;
    if (*io500_text(&t->config, p->name, "external-script")) {
        rc = run->par.rank == 0 ? run_script(d->command, &found, err) : 0;
        weir_bcast(&run->par, &found, sizeof(found), 0);
        rc = weir_agree(&run->par, rc, err);
    } else {
        rc = find_in(run, t, p->name, &find, &found, err);
    }
    if (rc < 0)
        return weir_err_within(err, "phase %s", p->name);
    d->found = found.found;
    d->total = d->operations = found.total;
    d->errors = found.errors;
    d->problem = found.errors ? weir_arena_strdup(&run->arena, found.problem.text, err) : NULL;
    d->measured = found.seconds;
    d->score = found.seconds > 0 ? (double)found.total / found.seconds / 1000 : 0;
    return 0;
}

/* ---- a phase ---- */

/* The rate of the files decides how many md-workbench has; a file keeps it. */
static int plan_mdw(struct weir_run *run, struct io500 *t, struct weir_err *err)
{
    const struct io500_done *d = &t->done[io500_phase_find("mdtest-easy-write")];
    const char *path = weir_arena_textf(&run->arena, err, "%s/mdworkbench-size", t->place.results);
    const char *text;
    int64_t given = io500_number(&t->config, "mdworkbench", "precreatePerSet");
    int rc = 0;

    if (t->place.mdw_files == 0)
        t->place.mdw_files = io500_mdw_files(d->score * 1000, t->place.stonewall_s, run->par.size);
    given = given > 0 ? given : t->place.mdw_files;
    text = weir_arena_textf(&run->arena, err, "%" PRId64 "\n", given);
    if (!path || !text || (run->par.rank == 0 && weir_wholefile_put(path, text, err) < 0))
        rc = -1;
    return weir_agree(&run->par, rc, err);
}

static int time_phase(struct weir_run *run, struct io500 *t, int phase, struct weir_err *err)
{
    const enum io500_family family = io500_phases[phase].family;
    struct io500_done *d = &t->done[phase];
    uint64_t begin_ns;
    int rc;

    *d = (struct io500_done) { .valid = true, .spread = 1, .low = NAN, .high = NAN };
    weir_barrier(&run->par); /* of the pattern */
    d->began = (int64_t)(weir_clock_day_ns(&run->par) / WEIR_NS_PER_S);
    begin_ns = weir_now_ns();
    if (family == IO500_STAMP)
        rc = touch_stamp(run, t, err);
    else if (family == IO500_FIND)
        rc = run_find(run, t, phase, d, err);
    else
        rc = io500_job_run(run, t, phase, d, err);
    weir_barrier(&run->par); /* of the pattern */
    d->seconds = (double)(weir_now_ns() - begin_ns) / WEIR_NS_PER_S;
    d->ended = (int64_t)(weir_clock_day_ns(&run->par) / WEIR_NS_PER_S);
    weir_bcast(&run->par, &d->seconds, sizeof(d->seconds), 0);
    d->done = rc == 0;
    return rc;
}

/* All that is known is kept before the next phase begins. Rank 0. */
static int keep(struct weir_run *run, struct io500 *t, const char *begins, struct weir_err *err)
{
    int rc = run->par.rank == 0 ? io500_state_write(t, run->par.size, begins, err) : 0;

    if (rc == 0 && !begins && run->par.rank == 0)
        rc = io500_report_files(run, t, err);
    return weir_agree(&run->par, rc, err);
}

static int run_phase(struct weir_run *run, struct io500 *t, int phase, struct weir_err *err)
{
    const char *name = io500_phases[phase].name;

    if (io500_phases[phase].family == IO500_MDW && plan_mdw(run, t, err) < 0)
        return -1;
    if (wait_while_paused(run, t, name, err) < 0 || drop_caches(run, t, err) < 0 || keep(run, t, name, err) < 0)
        return -1;
    if (time_phase(run, t, phase, err) < 0 || weir_agree(&run->par, io500_judge_phase(run, t, phase, err), err) < 0)
        return -1;
    if (strcmp(name, "timestamp") == 0)
        t->done[phase].seconds = 0; /* its wait is none of the work */
    io500_report_phase(run, t, phase);
    return keep(run, t, NULL, err);
}

/* ---- a run that was killed ---- */

/* Mend the files of a phase that had begun, because the next one expects others. Files that it
 * makes are removed; where it removes or changes files, these are made again. */
static int mend(struct weir_run *run, struct io500 *t, struct weir_err *err)
{
    int phase = t->began_phase ? io500_phase_find(t->began_phase) : -1;
    const struct io500_phase *p = &io500_phases[phase < 0 ? 0 : phase];
    uint64_t left;

    if (phase < 0 || t->done[phase].done || (!p->makes && !p->destroys))
        return 0;
    if (io500_clean_family(run, t, (int)p->family, false, &left, err) < 0)
        return -1;
    for (int i = 0; p->destroys && io500_phases[i].name; i++)
        if (io500_phases[i].makes && io500_phases[i].family == p->family) {
            struct io500_done d = { .spread = 1 };

            weir_note(&run->log, "phase %s was interrupted after it had changed its files: %s creates them again, and is not scored this time", p->name,
                      io500_phases[i].name);
            return io500_job_run(run, t, i, &d, err);
        }
    return 0;
}

int io500_run_all(struct weir_run *run, struct io500 *t, struct weir_err *err)
{
    bool whole = true;
    int rc = mend(run, t, err);

    t->began_phase = NULL;
    for (int i = 0; io500_phases[i].name && rc == 0; i++) {
        bool wanted = io500_phase_wanted(&t->config, &io500_phases[i], t->extended);

        whole &= wanted || !(t->extended || io500_phases[i].standard);
        if (wanted && t->done[i].done)
            io500_report_phase(run, t, i);
        else if (wanted)
            rc = run_phase(run, t, i, err);
    }
    t->ended = rc == 0;
    t->whole = whole && t->ended;
    return rc;
}
