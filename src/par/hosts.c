/* SPDX-License-Identifier: BSD-3-Clause */
/* hosts.c - the hosts of a run, each once with its ranks */
#include "par/hosts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "par/reduce.h"

#define H struct weir_host

const struct weir_col weir_host_cols[] = {
    COL_STR(H, name, "name", "As the first of its tasks has it"),
    COL_INT(H, tasks, "tasks", "How many run there"),
    COL_STR(H, ranks, "ranks", "Their numbers: ranges, with :N of every N-th"),
    WEIR_COL_END
};

/* ---- ranks of a host ---- */

/* Return the number of ranks from the first on that have the same distance. */
static size_t run_of(const uint64_t *rank, size_t n)
{
    size_t i = 2;

    while (i < n && rank[i] - rank[i - 1] == rank[1] - rank[0])
        i++;
    return i < n ? i : n;
}

void weir_hosts_ranks(struct weir_str *out, const uint64_t *rank, size_t n)
{
    const char *comma = "";

    for (size_t i = 0, many; i < n; i += many, comma = ",") {
        uint64_t step = i + 1 < n ? rank[i + 1] - rank[i] : 0;

        many = run_of(rank + i, n - i);
        if (step > 1 && many < 3)
            many = 1;
        weir_str_addf(out, "%s%" PRIu64, comma, rank[i]);
        if (many > 1)
            weir_str_addf(out, "-%" PRIu64, rank[i + many - 1]);
        if (many > 1 && step > 1)
            weir_str_addf(out, ":%" PRIu64, step);
    }
}

static int compare_ranks(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* The host of this rank, on its leader: name, number of tasks and ranks, each with its NUL. */
static void describe_host(const struct weir_par *par, struct weir_str *out)
{
    size_t n = par->rank == par->leader ? (size_t)par->followers + 1 : 0;
    uint64_t mine = (uint64_t)par->rank, *all = n ? malloc(n * sizeof(*all)) : NULL;

    weir_nodes_gather(par, &mine, 1, all);
    if (all) {
        qsort(all, n, sizeof(*all), compare_ranks);
        weir_str_add(out, par->host, strlen(par->host) + 1);
        weir_str_addf(out, "%zu%c", n, '\0');
        weir_hosts_ranks(out, all, n);
        weir_str_addc(out, '\0');
    }
    out->failed |= n && !all;
    free(all);
}

/* ---- hosts of a run ---- */

struct reader {
    void (*each)(void *arg, const struct weir_host *host);
    void *arg;
};

static const char *next_text(const char **at)
{
    const char *text = *at;

    *at += strlen(text) + 1;
    return text;
}

static void read_hosts(void *reader, const char *bytes, size_t len)
{
    const struct reader *r = reader;

    for (const char *at = bytes; at < bytes + len;) {
        struct weir_host h = { .name = next_text(&at) };

        h.tasks = strtoll(next_text(&at), NULL, 10);
        h.ranks = next_text(&at);
        r->each(r->arg, &h);
    }
}

int weir_hosts(const struct weir_par *par, void (*each)(void *arg, const struct weir_host *host),
               void *arg)
{
    struct reader reader = { each, arg };
    struct weir_str mine = { 0 };
    int rc;

    describe_host(par, &mine);
    rc = weir_pieces(par, &mine, read_hosts, &reader);
    weir_str_free(&mine);
    return rc;
}
