/* SPDX-License-Identifier: BSD-3-Clause */
/* examples.c - command lines to copy: of a program, of an option, of a backend */
#include "base/options/help.h"
#include "config.h"

#include <string.h>
#include <strings.h>

/* A value to show, by the word that stands for values of its kind. */
static const char *sample_of(const struct weir_opt *row)
{
    static const struct {
        const char *meta, *value;
    } samples[] = {
        { "SIZE", "16m" },
        { "N", "4" },
        { "SECONDS", "30" },
        { "MINUTES", "10" },
        { "MICROSECONDS", "500" },
        { "FILE", "file" },
        { "FILE.npy", "ops.npy" },
        { "PATH", "/scratch/f" },
        { "DIR", "/scratch/d" },
        { "DIR[@DIR...]", "/scratch/d" },
        { "PREFIX", "ops" },
        { "NAME", "MPIIO" },
        { "PERCENT", "5" },
        { "SIZE|NN%", "50%" },
        { "NODES", "2" },
        { "FORMAT:PATH,...", "text:-,json:r.json" },
        { "ID:NUMBER,...", "H01:30" },
        { "FACTOR", "0.5" },
        { "N,N,...", "1,2,4" },
        { "TYPE", "random" },
        { "USEC", "100" },
        { "COMMAND", "sync" },
        { "BYTES", "1m" },
        { "KEY=VALUE,...", "blockSize=4k,transferSize=4k" },
    };

    if (row->example != NULL)
        return row->example;
    for (int i = 0; row->choices != NULL && row->choices[i] != NULL; i++)
        if (row->def == NULL || strcasecmp(row->choices[i], row->def) != 0)
            return row->choices[i];
    if (row->choices != NULL)
        return row->choices[0];
    if (row->meta != NULL && strcmp(row->meta, "N") == 0 && row->def != NULL &&
        strcmp(row->def, "0") != 0 && strcmp(row->def, "-1") != 0)
        return row->def; /* in its range */
    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
        if (row->meta != NULL && strcmp(row->meta, samples[i].meta) == 0)
            return samples[i].value;
    return row->def != NULL ? row->def : "1";
}

/* The option with a value to show, as it would be typed: "-b 16m", "--posix.odirect". */
static void add_sample(const struct weir_optset *set, const struct weir_opt *row,
                       struct weir_str *out)
{
    const bool has_value = weir_opt_takes_value(row);

    if (row->letter != 0)
        weir_str_addf(out, "-%c%s%s", row->letter, has_value ? " " : "",
                      has_value ? sample_of(row) : "");
    else if (row->name != NULL)
        weir_str_addf(out, "--%s%s%s%s", set->prefix, row->name, has_value ? "=" : "",
                      has_value ? sample_of(row) : "");
    else
        weir_str_addf(out, "-O %s%s=%s", set->prefix, row->key, has_value ? sample_of(row) : "1");
}

/* "-a MPIIO " for options of that backend. */
static void add_backend(const struct weir_opts *o, const struct weir_optset *set,
                        struct weir_str *out)
{
    const struct weir_optname api = { .text = "api", .len = 3 };
    const struct weir_opt *row = weir_opt_find(o, &api);
    const char *name = set->title != NULL ? strrchr(set->title, ' ') : NULL;

    if (row != NULL && name != NULL && row->letter != 0)
        weir_str_addf(out, "-%c %s ", row->letter, name + 1);
    else if (row != NULL && name != NULL)
        weir_str_addf(out, "--api=%s ", name + 1);
}

#define FIRST_PAGE 5 /* examples on it */

/* A command line; one that is too long goes on after a backslash, so that it can be copied. */
static void add_command(const struct weir_help *help, const char *first, const char *args,
                        struct weir_str *out)
{
    struct weir_str line = { 0 };
    const char *text;
    size_t at;

    weir_str_addf(&line, "  mpirun -np %d %s %s%s%s", help->tasks > 0 ? help->tasks : 4,
                  help->program, first, *first != '\0' ? " " : "", args);
    text = weir_str_text(&line);
    for (at = line.len; line.len > WEIR_HELP_WIDTH && at > 0; at--)
        if (text[at] == ' ' && at + 2 <= WEIR_HELP_WIDTH)
            break;
    if (line.len > WEIR_HELP_WIDTH && at > 0)
        weir_str_addf(out, "%.*s \\\n     %s\n", (int)at, text, text + at);
    else
        weir_str_addf(out, "%s\n", text);
    out->failed = out->failed || line.failed;
    weir_str_free(&line);
}

void weir_example_of_row(const struct weir_opts *o, const struct weir_help *help,
                         const struct weir_optset *set, const struct weir_opt *row,
                         struct weir_str *out)
{
    struct weir_str args = { 0 };

    add_backend(o, set, &args);
    if (row != NULL)
        add_sample(set, row, &args);
    weir_str_addf(out, "Example:\n");
    add_command(help, "", weir_str_text(&args), out);
    weir_str_free(&args);
}

/* An example below its words; first: arguments that go before its own. */
static void add_example(const struct weir_help *help, const char *first,
                        const struct weir_example *e, struct weir_str *out)
{
    weir_str_addf(out, "  # %s\n", e->what);
    add_command(help, first, e->args, out);
}

/* The arguments before those of common examples: those of the first one of the program. */
static const char *first_args(const struct weir_help *help)
{
    return help->examples != NULL ? help->examples->args : "";
}

void weir_examples_of_topic(const struct weir_help *help, enum weir_topic topic,
                            struct weir_str *out)
{
    const struct weir_example *e;
    int own = 0, room;

    for (e = help->examples; e != NULL && e->args != NULL; e++)
        if (e->topic == topic) {
            add_example(help, "", e, out);
            own++;
        }
    room = FIRST_PAGE - own;
    for (e = help->common; e != NULL && e->args != NULL; e++)
        if (topic == WEIR_TOPIC_NONE ? room-- > 0 : own == 0 && e->topic == topic)
            add_example(help, first_args(help), e, out);
}

void weir_examples(const struct weir_help *help, struct weir_str *out)
{
    for (const struct weir_example *e = help->examples; e != NULL && e->args != NULL; e++)
        add_example(help, "", e, out);
    for (const struct weir_example *e = help->common; e != NULL && e->args != NULL; e++)
        add_example(help, first_args(help), e, out);
}
