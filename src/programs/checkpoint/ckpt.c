/* SPDX-License-Identifier: BSD-3-Clause */
/* ckpt.c - checkpoint_simulator.x and restart_simulator.x: what they are made of */
#include "config.h"
#include "programs/checkpoint/ckpt.h"

#include <string.h>
#include <strings.h>

#include "engine/place/preflight.h"
#include "programs/checkpoint/ckpt-rc.h"

static const struct weir_operation write_operations[] = { { "gather", "gather", "fields", false },
                                                          { "put", "put", "fields", true },
                                                          { .key = NULL } };

static const struct weir_operation read_operations[] = { { "scatter", "scatter", "fields", false },
                                                         { "get", "get", "fields", true },
                                                         { .key = NULL } };

static const char *config_of(const void *opt)
{
    return ((const struct ckpt_options *)opt)->config;
}

/* Sizes, which a file of the originals must have. */
static const char *const sizes[] = { "NX", "NY", "IM_WORLD", "LM", "NUM_ARRAYS" };
#define SIZES (sizeof(sizes) / sizeof(*sizes))

struct config {
    const struct weir_script_sink *to;
    bool has[SIZES], any; /* any: it says something */
};

static int pass_on(void *arg, const char *list, struct weir_err *err)
{
    struct config *c = arg;
    size_t len = strcspn(list, "=");

    c->any = true;
    for (size_t i = 0; i < SIZES; i++)
        c->has[i] |= len == strlen(sizes[i]) && strncasecmp(list, sizes[i], len) == 0;
    return c->to->directives(c->to->arg, list, err);
}

static int pass_end(void *arg, struct weir_err *err)
{
    const struct config *c = arg;

    return c->to->run(c->to->arg, err);
}

/* weir_rc_read, and a note where a size is missing: what is run is then another model. */
static int read_config(const char *text, size_t len, const char *name,
                       const struct weir_script_sink *sink, struct weir_err *err)
{
    struct config c = { .to = sink };
    const struct weir_script_sink mine = { .directives = pass_on, .run = pass_end, .arg = &c };
    struct weir_str words = { 0 };
    int rc = weir_rc_read(text, len, name, &mine, err);

    for (size_t i = 0; i < SIZES; i++)
        if (c.any && !c.has[i])
            weir_str_addf(&words, "%s%s", words.len > 0 ? ", " : "", sizes[i]);
    if (words.len > 0)
        weir_str_addf(&words, ": not in '%s', where the original wants it; the command line or the "
                              "default says what holds", name);
    if (rc == 0 && words.len > 0 && sink->note)
        sink->note(sink->arg, weir_str_text(&words));
    weir_str_free(&words);
    return rc;
}

static const struct weir_example examples[] = {
    { WEIR_TOPIC_NONE, "--nx 1 --ny 1 --split_file", "a file for each writer or reader" },
    { WEIR_TOPIC_NONE, "--nx 1 --ny 1 --im_world 24 --lm 72",
      "a patch for each of six faces, 72 levels" },
    { WEIR_TOPIC_NONE, "--nx 1 --ny 1 --sweep-writers=1,2,3",
      "which number of writers or readers is best" },
    { WEIR_TOPIC_NONE, "--config_file benchmark.rc", "options from a file" },
    { WEIR_TOPIC_FILES, "--nx 1 --ny 1 -o /scratch/ckpt --split_file",
      "where the files are, one for each writer" },
    { WEIR_TOPIC_ORDER, "--nx 1 --ny 1 --sweep-writers=1,2,3",
      "a test for each number of writers or readers" },
    { WEIR_TOPIC_DATA, "--nx 1 --ny 1 --im_world 180 --lm 91 --num_arrays 3",
      "three variables on 91 levels" },
    { .args = NULL }
};

/* What the options say about the reliability of the results. */
static void declare_facts(struct weir_run *run, void *state, struct weir_facts *f)
{
    const struct ckpt *t = state;
    const struct ckpt_options *o = t->o;

    (void)run;
    f->path = t->moves ? o->path : NULL;
    f->planned_bytes = (double)t->bytes;
    f->transfer = (double)t->bytes / t->number / (double)(t->steps * (uint64_t)o->arrays);
    f->stores &= t->moves;
    f->durable = o->sync || f->direct == 1;
    f->shared = !o->split && t->number > 1;
    f->random = 0;
    f->collective = t->access.collective;
    f->unread = 0;
    f->data_kind = o->random && !o->constant ? WEIR_DATA_RANDOM : WEIR_DATA_REPEATED;
}

#define LINE .script = config_of, .read_script = read_config, .api = ckpt_api

static const struct weir_line write_line = { LINE, .script_here = CKPT_WRITE_SCRIPT };
static const struct weir_line read_line = { LINE, .script_here = CKPT_READ_SCRIPT };

static const struct weir_judged judged = { .facts = declare_facts, .range = ckpt_range };

static const struct weir_made writes = {
    .files = ckpt_writes,
    .existing = WEIR_EXISTING_REPLACE | WEIR_EXISTING_FAIL,
    .clean = ckpt_clean,
};
static const struct weir_made reads = { .files = ckpt_reads };

#define COMMON                                                                                     \
    .opt_size = sizeof(struct ckpt_options), .state_size = sizeof(struct ckpt), .whole = true,     \
    .plan = ckpt_plan, .variants = ckpt_variants, .start = ckpt_start, .end = ckpt_end,            \
    .judged = &judged, .report = ckpt_report_test, .conclude = ckpt_conclude,                      \
    .summary = ckpt_summary, .deviation = CKPT_DEVIATION

const struct weir_driver ckpt_checkpoint = {
    .name = "checkpoint_simulator.x",
    .examples = examples,
    .example_tasks = 6,
    .brief = "gather fields of a climate model to few writers that write a checkpoint",
    .opts = ckpt_checkpoint_opts,
    .line = &write_line,
    .operations = write_operations,
    .made = &writes,
    .stages = ckpt_write_stages,
    COMMON,
};

const struct weir_driver ckpt_restart = {
    .name = "restart_simulator.x",
    .examples = examples,
    .example_tasks = 6,
    .brief = "read a checkpoint by few readers that scatter its fields, and verify it",
    .opts = ckpt_restart_opts,
    .line = &read_line,
    .operations = read_operations,
    .made = &reads,
    .stages = ckpt_read_stages,
    COMMON,
};

WEIR_PROGRAM("checkpoint_simulator.x", ckpt_checkpoint);
WEIR_PROGRAM("restart_simulator.x", ckpt_restart);
