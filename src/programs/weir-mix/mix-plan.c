/* SPDX-License-Identifier: BSD-3-Clause */
/* mix-plan.c - the plan: groups with ranks, a command line each, and when they start */
#include "programs/weir-mix/mix.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/size.h"
#include "base/text/ini.h"
#include "base/text/quote.h"
#include "base/text/ranges.h"

static const char blanks[] = " \t\r\v\f";

/* ---- words ---- */

/* The end of the word at 'at', whose double quotes hold blanks; NULL: a quote is open. */
static const char *end_of_word(const char *at)
{
    for (; *at && !strchr(blanks, *at); at++)
        if (*at == '"' && !(at = strchr(at + 1, '"')))
            return NULL;
    return at;
}

/* A word without its quotes. */
static char *copy_word(const char *from, const char *to, struct weir_arena *arena, struct weir_err *err)
{
    char *word = weir_arena_alloc(arena, (size_t)(to - from) + 1, err), *out = word;

    for (; word && from < to; from++)
        if (*from != '"')
            *out++ = *from;
    return word;
}

/* Read the arguments of a command line. Blanks separate them, double quotes hold them together,
 * and a # at the begin of one begins a comment. Then *argv ends with NULL. */
static int read_words(const char *line, struct weir_arena *arena, int *argc, char ***argv,
                      struct weir_err *err)
{
    const char *end;

    *argc = 0;
    *argv = weir_arena_alloc(arena, (strlen(line) / 2 + 2) * sizeof(**argv), err);
    if (!*argv)
        return -1;
    for (line += strspn(line, blanks); *line && *line != '#'; line = end + strspn(end, blanks)) {
        end = end_of_word(line);
        if (!end)
            return weir_refuse(err, WEIR_EUSAGE, "a quotation mark is not closed in: %s", line);
        if (!((*argv)[*argc] = copy_word(line, end, arena, err)))
            return -1;
        ++*argc;
    }
    return 0;
}

/* ---- values ---- */

static bool whole_number(const char *text, int *out)
{
    int64_t n;

    if (weir_size_parse(text, 1, INT32_MAX, &n, NULL) < 0 || !isdigit((unsigned char)*text))
        return false;
    *out = (int)n;
    return true;
}

/* "one-a-node", "4-a-node"; then a list of nodes may follow. */
static bool per_node(const char *word, struct mix_group *g, struct weir_arena *arena)
{
    const char *dash = strstr(word, "-a-node");
    char *number;

    if (!dash || dash[7] || dash == word)
        return false;
    number = weir_arena_strndup(arena, word, (size_t)(dash - word), NULL);
    g->count = 1;
    return number && (strcasecmp(number, "one") == 0 || whole_number(number, &g->count));
}

static int refuse_ranks(const char *value, struct weir_err *err)
{
    char shown[WEIR_QUOTE_TEXT];

    return weir_refuse(err, WEIR_EUSAGE,
                       "'ranks = %s': give a number, 'one-a-node' or '4-a-node' (of all nodes, or of some: "
                       "'4-a-node 0-3'), 'nodes 0-3,8' (all ranks of these nodes), 'list 0-7,12-30:2' "
                       "(these ranks), or 'rest'",
                       weir_quote_str(value, shown));
}

static int read_ranks(const char *value, struct weir_arena *arena, struct mix_group *g,
                      struct weir_err *err)
{
    char **word;
    int n;

    if (read_words(value, arena, &n, &word, err) < 0)
        return -1;
    g->has_ranks = true;
    g->list = n == 2 ? word[1] : NULL;
    if (n < 1 || n > 2 || (g->list && !weir_ranges_check(g->list)))
        return refuse_ranks(value, err);
    if (n == 2 && strcasecmp(word[0], "nodes") == 0)
        g->by = MIX_NODES;
    else if (n == 2 && strcasecmp(word[0], "list") == 0)
        g->by = MIX_LIST;
    else if (n == 1 && strcasecmp(word[0], "rest") == 0)
        g->by = MIX_REST;
    else if (n == 1 && whole_number(word[0], &g->count))
        g->by = MIX_COUNT;
    else if (per_node(word[0], g, arena))
        g->by = MIX_PER_NODE;
    else
        return refuse_ranks(value, err);
    return 0;
}

static int refuse_start(const char *value, struct weir_err *err)
{
    char shown[WEIR_QUOTE_TEXT];

    return weir_refuse(err, WEIR_EUSAGE,
                       "'start = %s': give 'at once', 'after 5 s', or 'after GROUP PHASE', like "
                       "'after checkpoint write'",
                       weir_quote_str(value, shown));
}

/* "5 s" */
static bool seconds_of(const char *text, double *out)
{
    const char *end = weir_real_scan(text, out), *unit = end + strspn(end, blanks);

    return end > text && *out >= 0 && *out <= INT32_MAX && strcmp(unit, "s") == 0;
}

static int read_start(const char *value, unsigned long line, struct weir_arena *arena,
                      struct mix_group *g, struct weir_err *err)
{
    const char *rest;
    size_t len;

    g->start_line = line;
    g->start = MIX_AT_ONCE;
    if (strcasecmp(value, "at once") == 0)
        return 0;
    len = strcspn(value, blanks);
    rest = value + len + strspn(value + len, blanks);
    if (len != 5 || strncasecmp(value, "after", len) != 0 || !*rest)
        return refuse_start(value, err);
    g->start = MIX_AFTER_SECONDS;
    if (seconds_of(rest, &g->after_s))
        return 0;
    g->start = MIX_AFTER_PHASE;
    len = strcspn(rest, blanks);
    g->after_name = weir_arena_strndup(arena, rest, len, err);
    g->phase = weir_arena_strdup(arena, rest + len + strspn(rest + len, blanks), err);
    if (!g->after_name || !g->phase)
        return -1;
    return *g->phase && strcmp(g->phase, "s") != 0 ? 0 : refuse_start(value, err); /* "s": a time that is none */
}

/* ---- lines ---- */

struct reader {
    struct mix_plan *plan;
    struct weir_arena *arena;
    struct weir_ini_sink sink;
};

static int read_value(void *arg, const char *section, const char *key, const char *value,
                      struct weir_err *err)
{
    static const char *const keys[] = { "ranks", "command", "start", NULL };
    const struct reader *r = arg;
    struct mix_group *g = &r->plan->group[r->plan->n - 1];
    char shown[WEIR_QUOTE_TEXT];

    if (!*value)
        return weir_refuse(err, WEIR_EUSAGE, "'%s =' needs a value", weir_quote_str(key, shown));
    if ((strcasecmp(key, "ranks") == 0 && g->has_ranks) || (strcasecmp(key, "start") == 0 && g->start_line) ||
        (strcasecmp(key, "command") == 0 && g->command))
        return weir_refuse(err, WEIR_EUSAGE, "'%s' is given twice in group '%s'", key, g->name);
    if (strcasecmp(key, "ranks") == 0)
        return read_ranks(value, r->arena, g, err);
    if (strcasecmp(key, "start") == 0)
        return read_start(value, r->sink.line, r->arena, g, err);
    if (strcasecmp(key, "command") == 0) {
        g->command = value;
        return read_words(value, r->arena, &g->argc, &g->argv, err);
    }
    weir_refuse(err, WEIR_EUSAGE, "'%s' is not one of 'ranks', 'command' and 'start'",
                weir_quote_str(key, shown));
    return weir_near_ask(err, key, strlen(key), keys);
}

static int begin_group(void *arg, const char *name, struct weir_err *err)
{
    const char *good = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    struct reader *r = arg;
    struct mix_plan *plan = r->plan;
    size_t len = strlen(name);
    char shown[WEIR_QUOTE_TEXT];

    if (len == 0 || len > MIX_OPERATION - 2 || name[0] == '.' || strspn(name, good) != len ||
        strcasecmp(name, "all") == 0 || strcasecmp(name, "alone") == 0)
        return weir_refuse(err, WEIR_EUSAGE,
                           "'[%s]' does not begin a group: write [NAME], with letters, digits, '-', '_' and '.', "
                           "and not 'all' or 'alone'",
                           weir_quote_str(name, shown));
    for (int i = 0; i < plan->n; i++)
        if (strcasecmp(plan->group[i].name, name) == 0)
            return weir_refuse(err, WEIR_EUSAGE, "there is a group '%s' already, in line %lu", name,
                               plan->group[i].line);
    if (plan->n == MIX_GROUPS)
        return weir_refuse(err, WEIR_EUSAGE, "more than %d groups", MIX_GROUPS);
    plan->group[plan->n++] = (struct mix_group) { .name = name, .line = r->sink.line };
    return 0;
}

/* ---- the whole ---- */

static int find_after(struct mix_plan *plan, struct mix_group *g, struct weir_err *err)
{
    const char *names[MIX_GROUPS + 1] = { NULL };

    for (int i = 0; i < plan->n; i++) {
        names[i] = plan->group[i].name;
        if (strcasecmp(names[i], g->after_name) == 0) {
            g->after = i;
            return 0;
        }
    }
    weir_refuse(err, WEIR_EUSAGE, "group '%s' starts after a phase of '%s', which is not a group",
                g->name, g->after_name);
    return weir_near_ask(err, g->after_name, strlen(g->after_name), names);
}

static int check_group(struct mix_plan *plan, struct mix_group *g, struct weir_err *err)
{
    if (!g->has_ranks)
        return weir_refuse(err, WEIR_EUSAGE, "group '%s' has no line 'ranks = ...'", g->name);
    if (g->argc == 0)
        return weir_refuse(err, WEIR_EUSAGE, "group '%s' has no line 'command = ...'", g->name);
    for (int i = 0; g->by == MIX_REST && i < plan->n; i++)
        if (&plan->group[i] != g && plan->group[i].by == MIX_REST && plan->group[i].has_ranks)
            return weir_refuse(err, WEIR_EUSAGE, "groups '%s' and '%s' cannot both have the rest of the ranks",
                               g->name, plan->group[i].name);
    return g->start == MIX_AFTER_PHASE ? find_after(plan, g, err) : 0;
}

/* True when groups would wait for each other. */
static int check_circle(const struct mix_plan *plan, const struct mix_group *g, struct weir_err *err)
{
    int steps = 0;

    for (const struct mix_group *at = g; at->start == MIX_AFTER_PHASE; at = &plan->group[at->after])
        if (steps++ == plan->n)
            return weir_refuse(err, WEIR_EUSAGE, "group '%s' would wait for itself", g->name);
    return 0;
}

int mix_plan_read(const char *text, size_t len, const char *name, struct weir_arena *arena,
                  struct mix_plan *plan, struct weir_err *err)
{
    struct reader r = { .plan = plan,
                        .arena = arena,
                        .sink = { "GROUP", "#", begin_group, read_value, &r, 0 } };
    char shown[WEIR_QUOTE_TEXT];

    if (weir_ini_read(text, len, name, &r.sink, arena, err) < 0)
        return -1;
    weir_quote_str(name, shown);
    if (plan->n == 0)
        return weir_refuse(err, WEIR_EUSAGE, "%s: the plan has no group; write [NAME], 'ranks = 4' "
                                             "and 'command = ior ...'", shown);
    for (int i = 0; i < plan->n; i++)
        if (check_group(plan, &plan->group[i], err) < 0)
            return weir_err_within(err, "%s:%lu", shown, plan->group[i].line);
    for (int i = 0; i < plan->n; i++)
        if (check_circle(plan, &plan->group[i], err) < 0)
            return weir_err_within(err, "%s:%lu", shown, plan->group[i].line);
    return 0;
}
