/* SPDX-License-Identifier: BSD-3-Clause */
/* answer.c - what a command line asks of the program itself: help, version, its options, completions */
#include "engine/command.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "backends/registry.h"
#include "base/options/help.h"
#include "engine/check/rules.h"
#include "engine/observer.h"

static const struct weir_example common_examples[] = {
    { WEIR_TOPIC_OUTPUT, "--report=text:-,json:r.json", "the results as JSON, too" },
    { WEIR_TOPIC_OUTPUT, "--timeline=ops.npy", "every operation in a file, for weir-plot" },
    { WEIR_TOPIC_OUTPUT, "--interval=1", "the rate in each second" },
    { WEIR_TOPIC_TRUST, "--findings", "what the number is worth" },
    { WEIR_TOPIC_FILES, "--no-space-check", "also where the file system seems to be too full" },
    { WEIR_TOPIC_TIME, "--until=5 --until-max=100", "repeat until the rates are known to 5 %" },
    { .args = NULL }
};

static int dump_rows(struct weir_command *c, const struct weir_help *help, struct weir_str *out,
                     struct weir_err *err)
{
    if (strcasecmp(c->common.dump, "words") == 0)
        weir_optdump_words(&c->opts, out);
    else if (strcasecmp(c->common.dump, "man") == 0)
        weir_optdump_man(&c->opts, help, out);
    else
        weir_optdump_json(&c->opts, out);
    return out->failed ? weir_refuse(err, WEIR_ESETUP, "no memory for the list of options") : 0;
}

static struct weir_opt_word plain_word(const char *text)
{
    return (struct weir_opt_word){ text, "", "" };
}

/* Values that no table of options knows: names of backends and of rules, and what there is help for. */
static struct weir_opt_word more_values(const struct weir_opt *row, int i)
{
    const char *name = row->type == WEIR_OPT_STR && row->name ? row->name : "";
    const bool is_help = row->letter == 'h' && strcmp(name, "help") == 0;
    const struct weir_rule *rule = weir_rule_at(i);

    if (strcmp(name, "limit") == 0 && rule)
        return (struct weir_opt_word){ rule->id, ":", rule->what };
    if (!is_help && strcmp(name, "api") != 0)
        return plain_word(NULL);
    for (const char *const *topic = weir_topic_names; is_help && *topic; topic++)
        if (i-- == 0)
            return plain_word(*topic);
    for (const struct weir_backend *const *be = weir_backends(); *be; be++)
        if (i-- == 0)
            return plain_word((*be)->name);
    return plain_word(is_help && i == 0 ? "all" : NULL);
}

void weir_command_complete(const struct weir_command *c, const char *before, const char *typed)
{
    struct weir_str out = { 0 };

    weir_opt_complete(&c->opts, before, typed, more_values, &out);
    (void)fputs(weir_str_text(&out), stdout);
    weir_str_free(&out);
}

/* The help of options and observers for a topic or a word. */
static int add_help(struct weir_command *c, const struct weir_help *help, struct weir_str *out,
                    struct weir_err *err)
{
    int rc = weir_opthelp(&c->opts, help, c->common.help, out, err);

    if (!c->cli->minimal)
        weir_observers_help(c->common.help, out);
    if (rc < 0 && out->len == 0)
        return rc;
    return out->failed ? weir_refuse(err, WEIR_ESETUP, "no memory for the help text") : 0;
}

bool weir_command_answer(struct weir_command *c, int *status)
{
    const struct weir_help help = { .program = c->program->name,
                                    .brief = c->program->brief,
                                    .usage = c->cli->usage,
                                    .examples = c->program->examples,
                                    .tasks = c->program->example_tasks,
                                    .common = c->cli->minimal ? NULL : common_examples };
    struct weir_err err = WEIR_ERR_INIT;
    struct weir_str out = { 0 };
    int rc = 0;

    if (c->common.help)
        rc = add_help(c, &help, &out, &err);
    else if (c->common.version && c->cli->version)
        c->cli->version(&out);
    else if (c->common.version)
        weir_str_addf(&out, "%s (weir) %s\n", c->program->name, PACKAGE_VERSION);
    else if (c->common.dump)
        rc = dump_rows(c, &help, &out, &err);
    else
        return false;
    if (rc == 0 && !weir_str_print(&out, stdout))
        rc = weir_fail(&err, WEIR_ESETUP, "write to standard output");
    if (rc < 0)
        fprintf(stderr, "ERROR: %s\n", err.text);
    weir_str_free(&out);
    *status = rc < 0 ? (int)err.code : 0;
    return true;
}
