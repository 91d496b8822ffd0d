/* SPDX-License-Identifier: BSD-3-Clause */
/* find-run.c - a find over all ranks: its begin, and what all of them have found */
#include "programs/weir-io500/find.h"

#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text/quote.h"
#include "base/text/wholefile.h"
#include "par/agree.h"

#define QUEUE 10000
#define QUEUE_BYTES ((uint64_t)16 << 20)

/* The time to compare with, as rank 0 sees it. Collective. */
static int read_newer(struct io500_walk *w, const struct weir_par *par, struct weir_err *err)
{
    char quoted[WEIR_QUOTE_TEXT];
    struct stat st = { .st_size = 0 };
    int rc = 0;

    if (!w->find->newer)
        return 0;
    if (par->rank == 0 && lstat(w->find->newer, &st) < 0)
        rc = weir_fail(err, WEIR_EIO, "stat '%s', the file to compare with", weir_quote_str(w->find->newer, quoted));
    if (weir_agree(par, rc, err) < 0)
        return -1;
    w->newer = st.st_mtim;
    weir_bcast(par, &w->newer, sizeof(w->newer), 0);
    return 0;
}

/* The directory itself is an entry, too; its name is compared without the slashes at its end. */
static int look_at_start(struct io500_walk *w, struct weir_err *err)
{
    char *path = strdup(w->find->directory);
    struct stat st;
    int rc = 0;

    if (!path)
        rc = weir_refuse(err, WEIR_ESETUP, "no memory for a path");
    else if (fstat(w->root, &st) < 0)
        rc = weir_fail(err, WEIR_EIO, "stat '%s'", w->find->directory);
    else if (io500_walk_matches(w, basename(path), &st))
        io500_walk_hit(w, "", "");
    free(path);
    w->count.total = 1;
    return rc;
}

static int start(struct io500_walk *w, const struct weir_par *par, struct weir_err *err)
{
    char quoted[WEIR_QUOTE_TEXT];
    int rc = 0;

    w->root = open(w->find->directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (w->root < 0)
        rc = weir_fail(err, WEIR_EIO, "open directory '%s'", weir_quote_str(w->find->directory, quoted));
    else if (par->rank == 0)
        rc = look_at_start(w, err);
    if (rc < 0)
        io500_pool_stop(&w->pool);
    return rc;
}

/* Counts of all ranks, and the first problem. Collective. */
static void gather(struct io500_walk *w, const struct weir_par *par, uint64_t ns, struct io500_found *found)
{
    struct io500_found *c = &w->count;
    uint64_t sum[] = { c->found, c->total, c->directories, c->vanished, c->errors };
    int64_t longest = (int64_t)ns;

    weir_allsum_u64(par, sum, (int)(sizeof(sum) / sizeof(sum[0])));
    weir_allmax_i64(par, &longest, 1);
    *found = (struct io500_found) { .found = sum[0], .total = sum[1], .directories = sum[2], .vanished = sum[3],
                                    .errors = sum[4], .seconds = (double)longest / WEIR_NS_PER_S };
    if (sum[4] > 0) {
        weir_agree(par, c->errors > 0 ? -1 : 0, &c->problem);
        found->problem = c->problem;
    }
}

/* Rank 0 has it of all ranks; NULL: no memory. */
static int write_rows(const struct io500_walk *w, const struct io500_found *of, int ranks,
                      struct weir_err *err)
{
    struct weir_str text = { 0 };
    int rc;

    weir_str_addf(&text, "rank,found,total,directories,vanished,errors,seconds\n");
    for (int i = 0; of && i < ranks; i++)
        weir_str_addf(&text, "%d,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.9g\n",
                      i, of[i].found, of[i].total, of[i].directories, of[i].vanished, of[i].errors,
                      of[i].seconds);
    rc = !of || text.failed
             ? weir_refuse(err, WEIR_ESETUP, "no memory for the rows of %d ranks", ranks)
             : weir_wholefile_put(w->find->csv, weir_str_text(&text), err);
    weir_str_free(&text);
    return rc;
}

/* Collective. */
static int report_ranks(const struct io500_walk *w, const struct weir_par *par, uint64_t ns,
                        struct weir_err *err)
{
    struct io500_found mine = w->count, *all;
    int rc = 0;

    if (!w->find->csv)
        return 0;
    mine.seconds = (double)ns / WEIR_NS_PER_S;
    all = weir_gather_new(par, &mine, sizeof(mine));
    if (par->rank == 0)
        rc = write_rows(w, all, par->size, err);
    free(all);
    return weir_agree(par, rc, err);
}

static int search(struct io500_walk *w, const struct weir_par *par, struct io500_found *found, struct weir_err *err)
{
    uint64_t begin_ns = weir_now_ns(), end_ns;
    int rc = start(w, par, err);

    io500_walk_run(w, rc == 0 && par->rank == 0);
    end_ns = weir_now_ns();
    if (w->root >= 0)
        close(w->root);
    if (rc == 0 && w->pool.failed)
        rc = weir_refuse(err, WEIR_ESETUP, "no memory to find files in '%s'", w->find->directory);
    if (rc == 0 && w->pool.asked)
        rc = weir_refuse(err, WEIR_EINTR, "interrupted while finding files in '%s'", w->find->directory);
    if (weir_agree(par, rc, err) < 0)
        return -1;
    gather(w, par, end_ns - begin_ns, found);
    return report_ranks(w, par, end_ns - begin_ns, err);
}

int io500_find_run(const struct weir_par *par, const struct io500_find *find, struct io500_found *found,
                   struct weir_err *err)
{
    struct io500_walk w = {
        .find = find,
        .root = -1,
        .pool = { .max_pieces = find->queue > 0 ? find->queue : QUEUE, .max_bytes = QUEUE_BYTES, .next = find->next,
                  .asks = find->stop, .arg = find->arg },
    };
    int rc;

    if (read_newer(&w, par, err) < 0 || io500_pool_begin(&w.pool, par, err) < 0)
        return -1;
    rc = search(&w, par, found, err);
    io500_pool_free(&w.pool);
    return rc;
}
