/* SPDX-License-Identifier: BSD-3-Clause */
/* command.c - from argv and script to the tests of a run */
#include "engine/command.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "backends/plugin.h"
#include "backends/registry.h"
#include "base/options/help.h"
#include "base/options/option.h"
#include "base/text/script.h"
#include "engine/observer.h"
#include "engine/options.h"
#include "par/agree.h"
#include "par/reduce.h"
#include "par/textfile.h"

static const char *const dumps[] = { "words", "json", "man", NULL };
static const char *const clocks[] = { "auto", "monotonic", NULL };

static const struct weir_opt common_opts[] = {
    OPT_STR('h', "help", NULL, struct weir_common, help, NULL, "NAME",
            "Help: first page, or a topic, backend, option or word",
            .flags = WEIR_OPT_OPTARG | WEIR_OPT_ARGV_ONLY, OPT_IN(OUTPUT)),
    OPT_FLAG(0, "version", NULL, struct weir_common, version, "Version",
             .flags = WEIR_OPT_ARGV_ONLY, OPT_IN(OUTPUT)),
    OPT_STR(0, "clock", NULL, struct weir_common, clock, "auto", "CLOCK",
            "Clock: the processor's counter if the kernel trusts it, or the kernel's",
            .choices = clocks, .flags = WEIR_OPT_ARGV_ONLY, OPT_IN(OUTPUT)),
    OPT_STR(0, "dump-options", NULL, struct weir_common, dump, NULL, "FORM",
            "Option rows for other programs", .choices = dumps,
            .flags = WEIR_OPT_ARGV_ONLY | WEIR_OPT_HIDDEN, OPT_IN(OUTPUT)),
    OPT_END
};

static int add_table(struct weir_command *c, const char *prefix, const char *title,
                     const struct weir_opt *rows, size_t size, struct weir_err *err)
{
    struct weir_optset set = { .prefix = prefix, .title = title, .rows = rows, .size = size };

    set.values = weir_arena_alloc(c->arena, size ? size : 1, err);
    if (!set.values)
        return -1;
    return weir_opts_add(&c->opts, &set, err);
}

static int add_backend_tables(struct weir_command *c, struct weir_err *err)
{
    static const struct weir_opt none[] = { OPT_END };

    for (const struct weir_backend *const *be = weir_backends(); *be; be++) {
        const char *title = weir_arena_textf(c->arena, err, "Module %s", (*be)->name);

        if (!title || add_table(c, (*be)->prefix ? (*be)->prefix : "", title,
                                (*be)->opts ? (*be)->opts : none, (*be)->opt_size, err) < 0)
            return -1;
    }
    return 0;
}

#define FIRST_BACKEND 2 /* tables before: the program's, the common one */

int weir_command_init(struct weir_command *c, const struct weir_program *p, struct weir_arena *arena,
                      struct weir_err *err)
{
    static const struct weir_cli none;
    struct weir_optset common = {
        .prefix = "", .rows = common_opts, .values = &c->common, .size = sizeof(c->common)
    };

    const struct weir_opt *rows = weir_options_merge(p->opts, p->whole, false, arena, err);

    memset(c, 0, sizeof(*c));
    c->program = p;
    c->cli = p->cli ? p->cli : &none;
    c->arena = arena;
    c->opts.arena = arena;
    c->opts.program = p->name;
    if (!rows || add_table(c, "", NULL, rows, p->opt_size, err) < 0 ||
        weir_opts_add(&c->opts, &common, err) < 0 || add_backend_tables(c, err) < 0 ||
        weir_opts_defaults(&c->opts, err) < 0)
        return -1;
    c->opts.set[0].typed = &((struct weir_run_options *)c->opts.set[0].values)->typed;
    if (!c->cli->minimal)
        return 0;
    c->opts.n = FIRST_BACKEND; /* other options keep their defaults */
    c->opts.set[0].rows = weir_options_merge(p->opts, p->whole, true, arena, err);
    return c->opts.set[0].rows ? 0 : -1;
}

static void *copy_values(struct weir_command *c, const struct weir_optset *set,
                         struct weir_err *err)
{
    void *v = weir_arena_alloc(c->arena, set->size ? set->size : 1, err);

    if (v && set->size)
        memcpy(v, set->values, set->size);
    return v;
}

/* The present values of all backends; of those that nothing has changed, the copy of the test before. */
static const void **keep_backends(struct weir_command *c, struct weir_err *err)
{
    const struct weir_values *before = c->n > 0 ? &c->tests[c->n - 1] : NULL;
    int n = c->opts.n - FIRST_BACKEND;
    const void **kept = weir_arena_alloc(c->arena, sizeof(*kept) * WEIR_OPTSETS, err);

    for (int i = 0; kept && i < n; i++) {
        const struct weir_optset *set = &c->opts.set[FIRST_BACKEND + i];

        if (before && memcmp(before->backend_opt[i], set->values, set->size) == 0)
            kept[i] = before->backend_opt[i];
        else if (!(kept[i] = copy_values(c, set, err)))
            return NULL;
    }
    return kept;
}

/* Room for one more test; it doubles, so that all of it stays in proportion to the tests. */
static int reserve(struct weir_command *c, struct weir_err *err)
{
    int capacity = c->capacity ? 2 * c->capacity : 1;
    struct weir_values *more;

    if (c->n < c->capacity)
        return 0;
    more = weir_arena_alloc(c->arena, sizeof(*more) * (size_t)capacity, err);
    if (!more)
        return -1;
    if (c->n)
        memcpy(more, c->tests, sizeof(*more) * (size_t)c->n);
    c->tests = more;
    c->capacity = capacity;
    return 0;
}

/* Keep the present values as one more test. */
static int add_test(void *arg, struct weir_err *err)
{
    struct weir_command *c = arg;
    struct weir_run_options *o = copy_values(c, &c->opts.set[0], err);
    struct weir_values t = { .given = o,
                             .rows = c->opts.set[0].rows,
                             .backend_opt = keep_backends(c, err) };

    if (!o || !t.backend_opt || reserve(c, err) < 0)
        return -1;
    if (!o->dry_run)
        o->repetitions = weir_run_options_most(o);
    c->tests[c->n++] = t;
    return 0;
}

/* Refuse a backend that another benchmark has, with the ways of weir. Returns 0 when there is none. */
static int refuse_foreign_backend(const char *name, struct weir_err *err)
{
    const struct weir_foreign *first = weir_foreign_next(NULL, name, true), *way = first;
    struct weir_str ways = { 0 };

    if (!first)
        return 0;
    for (; way; way = weir_foreign_next(way, name, true))
        weir_str_addf(&ways, "%s%s (%s)", way == first ? "" : ", or ", way->ours, way->what);
    weir_refuse(err, WEIR_EUSAGE,
                "option -a (api): '%s' is a backend of %s that weir does not have: use %s", name,
                first->of, weir_str_text(&ways));
    weir_str_free(&ways);
    return -1;
}

int weir_backend_refuse(const char *name, struct weir_err *err)
{
    const struct weir_backend *const *all = weir_backends();
    const char *words[WEIR_OPTSETS] = { NULL };
    struct weir_str names = { 0 };

    if (refuse_foreign_backend(name, err) < 0)
        return -1;

    for (int i = 0; all[i] && i < WEIR_OPTSETS - 1; i++)
        words[i] = all[i]->name;
    weir_backend_names(&names, ", ");
    weir_refuse(err, WEIR_EUSAGE,
                "option -a (api): '%s' is not a backend of this build; there are %s", name,
                weir_str_text(&names));
    weir_str_free(&names);
    return weir_near_ask(err, name, strlen(name), words);
}

/* The row that names the backend; NULL where the program has none. */
static const struct weir_opt *api_row(const struct weir_opt *row)
{
    for (; !weir_opt_is_end(row); row++)
        if (row->type == WEIR_OPT_STR && row->offset == offsetof(struct weir_run_options, api))
            return row;
    return NULL;
}

/* The value that a word of the command line has for the row: after '=', after the letter, or in
 * the next word. NULL: the word is another option. */
static const char *value_in(const struct weir_opt *row, const char *word, const char *next)
{
    size_t len = row->name ? strlen(row->name) : 0;

    if (row->letter && word[0] == '-' && word[1] == row->letter)
        word += 2;
    else if (len && strncmp(word, "--", 2) == 0 && strncasecmp(word + 2, row->name, len) == 0 &&
             (word[2 + len] == '=' || !word[2 + len]))
        word += 2 + len;
    else
        return NULL;
    return *word == '=' ? word + 1 : *word ? word : next;
}

int weir_command_blame_backend(const struct weir_command *c, int argc, char *const *argv,
                               struct weir_err *err)
{
    const struct weir_opt *row = api_row(c->opts.set[0].rows);
    const char *name =
        row ? ((const struct weir_run_options *)c->opts.set[0].values)->api : NULL;

    for (int i = 1; row && i < argc; i++) {
        const char *next = i + 1 < argc ? argv[i + 1] : NULL;
        const char *value = value_in(row, argv[i], next);

        name = value ? value : name;
    }
    if (name && !weir_backend_find(name))
        weir_backend_refuse(name, err);
    return -1;
}

static int add_directives(void *arg, const char *list, struct weir_err *err)
{
    struct weir_command *c = arg;

    if (weir_opts_directives(&c->opts, list, err) == 0)
        return 0;
    return weir_command_blame_backend(c, 0, NULL, err);
}

static void note_script(void *arg, const char *text)
{
    const struct weir_command *c = arg;

    weir_opts_note(&c->opts, "%s", text);
}

int weir_command_line_again(struct weir_command *c, struct weir_err *err)
{
    void (*note)(void *arg, const char *text) = c->opts.note;
    int rc;

    c->opts.note = NULL;
    rc = weir_opts_argv(&c->opts, c->argc, c->argv, err);
    c->opts.note = note;
    return rc;
}

/* Add the test of a default script (script_here), which the command line overrides. */
static int add_given_test(void *arg, struct weir_err *err)
{
    return weir_command_line_again(arg, err) < 0 ? -1 : add_test(arg, err);
}

/* Rank 0 reads the script for all. One that need not be there leaves text NULL when it is not. */
static int read_script(struct weir_command *c, struct weir_shared_text *text,
                       const struct weir_par *par, struct weir_err *err)
{
    const struct weir_script_sink sink = { .directives = add_directives,
                                           .run = text->must_be ? add_test : add_given_test,
                                           .note = note_script,
                                           .arg = c };
    int rc = weir_shared_text_read(par, text, err);

    if (rc == 0 && text->text && !text->must_be)
        rc = weir_opts_defaults(&c->opts, err);
    if (rc == 0 && text->text)
        rc = c->cli->read_script(text->text, text->len, text->path, &sink, err);
    free(text->text);
    return rc;
}

int weir_command_tests(struct weir_command *c, const struct weir_par *par, struct weir_err *err)
{
    const char *named = c->cli->script ? c->cli->script(c->opts.set[0].values) : NULL;
    struct weir_shared_text text = { .what = "script", .path = named, .must_be = named != NULL };

    if (!named && c->looks_here)
        text.path = c->cli->script_here;
    if (text.path && read_script(c, &text, par, err) < 0)
        return -1;
    if (c->n > 0 && !named) {
        c->here = text.path;
        weir_opts_note(&c->opts,
                       "options are read from '%s', which is in the working directory; those of the "
                       "command line override them",
                       c->here);
    }
    return c->n > 0 || named ? 0 : add_test(c, err);
}

/* Adds the files that one test reads and writes. */
static int add_files(struct weir_command *c, const struct weir_values *t, struct weir_files *files,
                     struct weir_err *err)
{
    const struct weir_program *p = c->program;

    if (weir_files_add_options(files, "", t->rows, t->given, err) < 0 ||
        (p->files && p->files->add && p->files->add(t->given, files->tasks, files, err) < 0))
        return -1;
    for (int i = FIRST_BACKEND; i < c->opts.n; i++)
        if (weir_files_add_options(files, c->opts.set[i].prefix, c->opts.set[i].rows,
                                   t->backend_opt[i - FIRST_BACKEND], err) < 0)
            return -1;
    return 0;
}

int weir_command_add_files(struct weir_command *c, struct weir_files *files, struct weir_err *err)
{
    const struct weir_run_options *first = c->tests[0].given;

    files->program = c->program;
    if (weir_files_add(files, "the script", c->here, WEIR_FILE_READ, err) < 0 ||
        (first->reports && weir_files_add_reports(files, first->reports, err) < 0))
        return -1;
    for (files->test = 0; files->test < c->n; files->test++) {
        const struct weir_values *t = &c->tests[files->test];

        files->rows = t->rows;
        if (add_files(c, t, files, err) < 0)
            return -1;
        if (weir_observers_check(t->given, files, err) < 0)
            return c->n > 1 ? weir_err_within(err, "test %d", files->test) : -1;
    }
    files->test = c->n - 1;
    return 0;
}

/* The options of a backend in the registry; NULL for none. */
static const void *options_of(const struct weir_values *t, const struct weir_backend *be)
{
    const struct weir_backend *const *list = weir_backends();
    int i = 0;

    if (!be)
        return NULL;
    while (list[i] != be)
        i++;
    return t->backend_opt[i];
}

/* The name of the backend that its options ask for where the system refuses it; NULL: none. */
static const char *fallback_of(const struct weir_values *t, const struct weir_backend *be)
{
    const struct weir_opt *row = be->opts ? weir_opt_row_of(be->opts, "fallback") : NULL;
    const char *name;

    if (!row)
        return NULL;
    memcpy(&name, (const char *)options_of(t, be) + row->offset, sizeof(name));
    return strcasecmp(name, "none") == 0 ? NULL : name;
}

static bool is_chosen(const struct weir_values *t, const char *name, const struct weir_backend *be)
{
    const struct weir_backend *own = name ? weir_backend_find(name) : weir_backends()[0];
    const char *other = own ? fallback_of(t, own) : NULL;

    return own && (own == be || own->base == be || (other && weir_backend_find(other) == be));
}

static bool is_used(const struct weir_command *c, const struct weir_backend *be)
{
    for (int i = 0; i < c->n; i++) {
        const struct weir_run_options *o = c->tests[i].given;

        if (is_chosen(&c->tests[i], c->cli->api ? c->cli->api(o) : o->api, be))
            return true;
    }
    return false;
}

void weir_command_note_unused(const struct weir_command *c, const struct weir_log *log)
{
    const bool names = c->cli->api || api_row(c->opts.set[0].rows); /* one that tests use */
    char name[WEIR_OPT_NAME];

    for (int i = FIRST_BACKEND; names && i < c->opts.n; i++) {
        const struct weir_optset *set = &c->opts.set[i];
        const struct weir_backend *be = weir_backends()[i - FIRST_BACKEND];
        const struct weir_opt *row = set->given;

        if (row && !is_used(c, be))
            weir_note(log, "option --%s has no effect: no test uses the backend %s",
                      weir_opt_fullname(set, row->name ? row->name : row->key, name), be->name);
    }
}

/* One rank of each kernel looks for the plugin. The others open it when that rank has, so that they
 * find it in the page cache. Collective over par. */
static int load_plugin(const struct weir_backend **be, const struct weir_par *par,
                       struct weir_err *err)
{
    const bool asks = weir_par_asks(par);
    char file[PATH_MAX] = "";
    int rc = asks ? weir_backend_load(be, file, err) : 0;

    weir_nodes_bcast(par, file, sizeof(file));
    if (!asks)
        rc = weir_backend_load(be, file, err);
    return weir_agree(par, rc, err);
}

static int find_backend(const struct weir_values *t, const char *name, const struct weir_par *par,
                        const struct weir_backend **be, struct weir_backend_opt *opt,
                        struct weir_err *err)
{
    *be = name ? weir_backend_find(name) : weir_backends()[0];
    if (!*be)
        return weir_backend_refuse(name, err);
    *opt =
        (struct weir_backend_opt) { .own = options_of(t, *be), .base = options_of(t, (*be)->base) };
    if ((*be)->plugin && load_plugin(be, par, err) < 0)
        return -1;
    if (par->without_mpi && ((*be)->flags & WEIR_BE_NEEDS_MPI)) /* the same on all ranks */
        return weir_refuse(err, WEIR_EUSAGE, "the backend %s needs MPI, which was not started",
                           (*be)->name);
    return 0;
}

int weir_values_backend(const struct weir_values *t, const char *name, const struct weir_par *par,
                        const struct weir_backend **be, struct weir_backend_opt *opt,
                        struct weir_err *err)
{
    const struct weir_backend *asked = name ? weir_backend_find(name) : NULL;
    const char *other = asked ? fallback_of(t, asked) : NULL;
    int64_t sys;

    if (find_backend(t, name, par, be, opt, err) < 0)
        return -1;
    if (!other)
        return 0;
    sys = (*be)->refused(opt->own);
    weir_allmax_i64(par, &sys, 1);
    if (sys == 0)
        return 0;
    if (find_backend(t, other, par, be, opt, err) < 0)
        return -1;
    opt->refused = asked;
    opt->refused_sys = (int)sys;
    return 0;
}
