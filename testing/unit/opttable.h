/* SPDX-License-Identifier: BSD-3-Clause */
/* opttable.h - tables with a row of every type, for the tests of options and their fuzz target
 */
#pragma once

#include <string.h>

#include "base/options/option.h"
#include "base/str.h"

struct table_main {
    bool collective, reorder, fsync, keep, read_file, write_file;
    int verbose, shuffle, offset, repetitions, seed, narrow, delay;
    int64_t block, xfer;
    double wait;
    const char *api, *file, *packet, *format, *help;
    struct weir_optlist lengths;
};

struct table_posix {
    bool odirect;
    int locks;
    int64_t stripe;
};

struct table_extra {
    bool odirect;
};

static const char *const packet_choices[] = { "timestamp", "offset", "random", NULL };

static const struct weir_opt main_rows[] = {
    OPT_FLAG('c', "collective", "collective", struct table_main, collective, "Collective I/O"),
    OPT_FLAG('C', "reorder-tasks", "reorderTasksConstant", struct table_main, reorder,
             "Read what another node wrote", .key2 = "reorderTasks"),
    OPT_FLAG('e', "fsync", "fsync", struct table_main, fsync, "Sync after the write phase"),
    OPT_FLAG('g', NULL, "keepFile", struct table_main, keep, "Keep the files"),
    OPT_FLAG('r', "read", "readFile", struct table_main, read_file, "Read"),
    OPT_FLAG('w', "write", "writeFile", struct table_main, write_file, "Write"),
    OPT_COUNT('v', "verbose", "verbose", struct table_main, verbose, "Say more", .min = -1,
              .max = 5),
    OPT_COUNT('z', "random", "randomOffset", struct table_main, shuffle, "Shuffle the offsets"),
    OPT_INT('Q', "task-offset", "taskPerNodeOffset", struct table_main, offset, "1", "N",
            "Distance in nodes"),
    OPT_INT('i', "repetitions", "repetitions", struct table_main, repetitions, "1", "N",
            "How often the test runs", .min = 1, .max = INT32_MAX, .flags = WEIR_OPT_RESET),
    OPT_INT('G', NULL, "setTimeStampSignature", struct table_main, seed, NULL, "N",
            "Data signature"),
    OPT_INT(0, "narrow", NULL, struct table_main, narrow, "3", "N", "Between two and nine",
            .min = 2, .max = 9),
    OPT_INT(0, NULL, "interIODelay", struct table_main, delay, "0", "MICROSECONDS",
            "Sleep after every transfer"),
    OPT_REAL(0, "wait", NULL, struct table_main, wait, "0.25", "SECONDS", "Time to wait", .min = 0,
             .max = 100, .flags = WEIR_OPT_RESET),
    OPT_SIZE('b', "block-size", "blockSize", struct table_main, block, "1m", "SIZE",
             "Contiguous bytes each task writes", OPT_FIRST(DATA), .example = "-b 16m"),
    OPT_SIZE('t', "transfer-size", "transferSize", struct table_main, xfer, "256k", "SIZE",
             "Bytes of one I/O call", .min = 1),
    OPT_LIST(0, "lengths", NULL, struct table_main, lengths, "8", "N", "Of each dimension",
             .min = 1),
    OPT_STR('a', "api", "api", struct table_main, api, "POSIX", "NAME", "Backend"),
    OPT_STR('o', "file", "testFile", struct table_main, file, NULL, "FILE",
            "Name of the test file"),
    OPT_STR('l', "dataPacketType", "dataPacketType", struct table_main, packet, "timestamp", "TYPE",
            "What the data are", .choices = packet_choices),
    OPT_STR(0, NULL, "summaryFormat", struct table_main, format, NULL, "FORMAT",
            "\"Format\" of the result, a \\ and a - in it"),
    OPT_STR('h', "help", NULL, struct table_main, help, NULL, "PART", "Show this text",
            .flags = WEIR_OPT_OPTARG | WEIR_OPT_ARGV_ONLY),
    { .type = WEIR_OPT_DIRECTIVES,
      .letter = 'O',
      .name = "options",
      .meta = "KEY=VALUE",
      .help = "Options by key" },
    { .type = WEIR_OPT_OLD,
      .letter = 'B',
      .key = "useO_DIRECT",
      .def = "--posix.odirect=1",
      .help = "O_DIRECT" },
    { .type = WEIR_OPT_OLD,
      .letter = 'J',
      .def = "posix.stripe=%s,posix.locks=%s",
      .meta = "N",
      .help = "Layout" },
    { .type = WEIR_OPT_OLD,
      .letter = 'n',
      .def = "hdf5.noFill=1",
      .help = "For a backend that is not there" },
    { .type = WEIR_OPT_GONE,
      .letter = 'P',
      .key = "useSharedFilePointer",
      .help = "shared file pointers are not supported any more" },
    OPT_END
};

static const struct weir_opt posix_rows[] = {
    OPT_FLAG(0, "odirect", NULL, struct table_posix, odirect, "Go around the page cache"),
    OPT_INT(0, "locks", NULL, struct table_posix, locks, "0", "N", "Locks"),
    OPT_SIZE(0, "stripe", "stripeSize", struct table_posix, stripe, "0", "SIZE",
             "Bytes of a stripe"),
    OPT_END
};

static const struct weir_opt extra_rows[] = { OPT_FLAG(0, "odirect", NULL, struct table_extra,
                                                       odirect,
                                                       "Go around the page cache here, too"),
                                              OPT_END };

/* The tables with their values, and what was said about them. */
struct table {
    struct weir_opts opts;
    struct weir_arena arena;
    struct table_main m;
    struct table_posix p;
    struct table_extra x;
    struct weir_err err;
    struct weir_str notes;
    int n_notes;
};

static inline void table_note(void *arg, const char *text)
{
    struct table *t = arg;

    t->n_notes++;
    weir_str_addf(&t->notes, "%s\n", text);
}

/* Add the tables and set the defaults. Returns 0, or -1 with t->err filled. */
static inline int table_open(struct table *t)
{
    const struct weir_optset sets[] = {
        { .prefix = "", .rows = main_rows, .values = &t->m, .size = sizeof(t->m) },
        { .prefix = "posix.",
          .title = "Module POSIX",
          .rows = posix_rows,
          .values = &t->p,
          .size = sizeof(t->p) },
        { .prefix = "posix.",
          .title = "Module EXTRA",
          .rows = extra_rows,
          .values = &t->x,
          .size = sizeof(t->x) },
    };

    memset(t, 0, sizeof(*t));
    t->opts.arena = &t->arena;
    t->opts.note = table_note;
    t->opts.note_arg = t;
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
        if (weir_opts_add(&t->opts, &sets[i], &t->err) < 0)
            return -1;
    return weir_opts_defaults(&t->opts, &t->err);
}

static inline void table_close(struct table *t)
{
    weir_arena_free(&t->arena);
    weir_str_free(&t->notes);
}
