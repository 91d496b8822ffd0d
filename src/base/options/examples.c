/* SPDX-License-Identifier: BSD-3-Clause */
/* examples.c - command lines to copy: of a program, of a topic, of an option */
#include "base/options/help.h"

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

void weir_example_of_row(const struct weir_help *help, const struct weir_opt *row,
                         struct weir_str *out)
{
    if (!row->example)
        return;
    weir_str_addf(out, "Example:\n");
    add_command(help, first_args(help), row->example, out);
}

void weir_examples(const struct weir_help *help, bool all, enum weir_topic topic,
                   struct weir_str *out)
{
    const struct weir_example *e;
    int own = 0, lines;

    for (e = help->examples; e != NULL && e->args != NULL; e++)
        if (all || e->topic == topic) {
            add_example(help, "", e, out);
            own++;
        }
    lines = FIRST_PAGE - own;
    for (e = help->common; e != NULL && e->args != NULL; e++)
        if (all || (topic == WEIR_TOPIC_NONE ? lines-- > 0 : own == 0 && e->topic == topic))
            add_example(help, first_args(help), e, out);
}
