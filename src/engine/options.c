/* SPDX-License-Identifier: BSD-3-Clause */
/* options.c - the options that every program has */
#include "config.h"
#include "engine/options.h"

#include "base/options/option.h"

const char *const weir_report_forms[] = { "text:-", "text-3.3:", "json:", "csv:", NULL };
const char *const weir_only_zero[] = { "0", NULL };
const char *const weir_only_minus_one[] = { "-1", NULL };

/* Every program must have these, under whatever name. */
static const struct {
    size_t offset;
    const char *what;
} needed[] = {
    { offsetof(struct weir_run_options, verbose), "verbosity" },
    { offsetof(struct weir_run_options, warnings_are_errors), "warnings as errors" },
    { offsetof(struct weir_run_options, reports), "report" },
    { offsetof(struct weir_run_options, io_timeout_s), "timeout of a call" },
    { offsetof(struct weir_run_options, repetitions), "repetitions" },
    { offsetof(struct weir_run_options, delay_s), "delay before phases" },
    { offsetof(struct weir_run_options, deadline_s), "deadline" },
    { offsetof(struct weir_run_options, max_minutes), "time of a test" },
    { offsetof(struct weir_run_options, rank_csv), "file of the ranks" },
    { offsetof(struct weir_run_options, op_csv), "file of the operations" },
    { offsetof(struct weir_run_options, timeline), "file of all operations" },
    { offsetof(struct weir_run_options, timeline_limit), "number of recorded operations" },
    { offsetof(struct weir_run_options, interval), "intervals" },
    { offsetof(struct weir_run_options, progress), "progress" },
    { offsetof(struct weir_run_options, rules), "rule set" },
    { offsetof(struct weir_run_options, limits), "limits of the rules" },
    { offsetof(struct weir_run_options, peak), "peak rate" },
    { offsetof(struct weir_run_options, findings), "findings" },
    { offsetof(struct weir_run_options, strict), "strict rules" },
    { offsetof(struct weir_run_options, until), "repetitions until the rate is known" },
    { offsetof(struct weir_run_options, until_max), "most repetitions" },
    { offsetof(struct weir_run_options, until_time_s), "time of the repetitions" },
    { offsetof(struct weir_run_options, drop_cache), "cold reads" },
    { offsetof(struct weir_run_options, anonymous), "results without names" },
    { offsetof(struct weir_run_options, no_space_check), "check of the room" },
    { offsetof(struct weir_run_options, existing), "files that exist" },
    { offsetof(struct weir_run_options, gpu_memory), "GPU memory" },
    { offsetof(struct weir_run_options, gpu_id), "GPU number" },
    { offsetof(struct weir_run_options, gpu_direct), "GPU direct access" },
};

const char *weir_run_options_api(const void *o)
{
    return ((const struct weir_run_options *)o)->api;
}

/* Of the options that every program has, those that change what is measured. */
static const size_t measured[] = {
    offsetof(struct weir_run_options, max_steps),  offsetof(struct weir_run_options, pause_us),
    offsetof(struct weir_run_options, delay_s),    offsetof(struct weir_run_options, deadline_s),
    offsetof(struct weir_run_options, min_time_s), offsetof(struct weir_run_options, dry_run),
    offsetof(struct weir_run_options, wear_out),   offsetof(struct weir_run_options, barriers),
    offsetof(struct weir_run_options, drop_cache),
};

bool weir_option_is_configuration(const struct weir_opt *row, bool is_program)
{
    const unsigned apart =
        WEIR_OPT_APART | WEIR_OPT_PLACES | WEIR_OPT_READS | WEIR_OPT_WRITES | WEIR_OPT_ADDS;

    if (row->type >= WEIR_OPT_DIRECTIVES || (row->flags & apart))
        return false;
    if (!is_program || row->offset >= sizeof(struct weir_run_options))
        return true;
    for (size_t i = 0; i < sizeof(measured) / sizeof(*measured); i++)
        if (measured[i] == row->offset)
            return true;
    return false;
}

void weir_run_options_log(const struct weir_run_options *o, struct weir_log *log)
{
    log->verbose = o->verbose;
    log->warnings_are_errors = o->warnings_are_errors;
}

static bool has_row(const struct weir_opt *rows, size_t offset)
{
    for (; !weir_opt_is_end(rows); rows++)
        if (rows->offset == offset &&
            (rows->type < WEIR_OPT_DIRECTIVES || rows->type == WEIR_OPT_GONE))
            return true;
    return false;
}

int weir_run_options_check(const struct weir_opt *rows, struct weir_err *err)
{
    for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++)
        if (!has_row(rows, needed[i].offset))
            return weir_refuse(err, WEIR_EBUG, "the program has no option for: %s", needed[i].what);
    return 0;
}
