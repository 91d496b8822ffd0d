/* SPDX-License-Identifier: BSD-3-Clause */
/* ckpt-options.c - the options and keys of checkpoint_simulator.x and restart_simulator.x, and files of
 * them: lines "KEY: value  # comment" */
#include "programs/checkpoint/ckpt.h"

#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/text/quote.h"

#define O struct ckpt_options

static const char *const verify_words[] = { "auto", "yes", "no", NULL };
#define MOST 1000000

/* The rows of both programs; here: the name of a file of options that need not be named. */
#define GEOMETRY(here)                                                                             \
    OPT_STR(                                                                                       \
        0, "config_file", NULL, O, config, NULL, "FILE",                                           \
        "File of options 'KEY: value', which override the command line (default: " here            \
        ", overridden by it)",                                                                     \
        .flags = WEIR_OPT_READS | WEIR_OPT_ARGV_ONLY, OPT_IN(FILES)),                              \
        OPT_STR('a', "api", NULL, O, api, NULL, "NAME",                                            \
                "Backend with arrays (default: NETCDF; POSIX in binary form)", OPT_FIRST(FILES),   \
                .flags = WEIR_OPT_NEUTRAL),                                                        \
        OPT_STR('o', "path", NULL, O, path, "checkpoint", "PATH",                                  \
                "Files PATH.nc4 or PATH_<number>.nc4, with .bin, .h5 or .nc for others",           \
                .flags = WEIR_OPT_NEUTRAL | WEIR_OPT_PRIVATE | WEIR_OPT_PLACE, OPT_FIRST(FILES)),  \
        OPT_INT(0, "nx", "NX", O, nx, "4", "N", "Patches of a face in x", .min = 1, .max = MOST,   \
                OPT_FIRST(DATA)),                                                                  \
        OPT_INT(0, "ny", "NY", O, ny, "4", "N", "Patches of a face in y", .min = 1, .max = MOST,   \
                OPT_FIRST(DATA)),                                                                  \
        OPT_INT(0, "im_world", "IM_WORLD", O, im, "90", "N", "Cells along the edge of a face",     \
                .min = 1, .max = 100000000, OPT_FIRST(DATA)),                                      \
        OPT_INT(0, "lm", "LM", O, lm, "137", "N", "Levels of a variable", .min = 1,                \
                .max = 100000000, OPT_FIRST(DATA)),                                                \
        OPT_INT(0, "num_arrays", "NUM_ARRAYS", O, arrays, "5", "N", "Variables", .min = 1,         \
                .max = 999, OPT_FIRST(DATA)),                                                      \
        OPT_RUN(repetitions, 'i', "ntrials", "NTRIALS", .def = "3"),                                \
        OPT_FLAG(0, "split_file", "SPLIT_FILE", O, split, "File for each writer or reader",        \
                 OPT_FIRST(FILES)),                                                                \
        OPT_FLAG(0, "random_data", "RANDOM_DATA", O, random,                                       \
                 "Values from variable and cell (0: the number of the rank)",                      \
                 .def = "1", OPT_IN(DATA)),                                                        \
        OPT_FLAG(0, "static_data", NULL, O, constant, "As --random_data=0", OPT_IN(DATA)),         \
        OPT_FLAG(0, "extra_info", "EXTRA_INFO", O, extra,                                          \
                 "No effect: hints are options of the backend (--netcdf.hintsFileName)",           \
                 OPT_IN(DATA)),                                                                    \
        OPT_FLAG(0, "keep_buffers", "KEEP_BUFFERS", O, keep_buffers,                               \
                 "Same buffers in each step, not new ones as in the originals",                    \
                 OPT_IN(ORDER)),                                                                   \
        OPT_FLAG('c', "collective", "COLLECTIVE", O, collective, "Shared files by collective I/O", \
                 OPT_IN(ORDER)),                                                                   \
        OPT_LIST(0, "sweep-writers", NULL, O, sweep, NULL, "N,N,...",                              \
                 "Numbers of writers or readers, a test each; the best is named", .min = 1,        \
                 .max = MOST, OPT_IN(ORDER))

/* Keys of the other program, so that one file can serve both. */
#define OTHERS(key)                                                                                \
    OPT_STR(0, NULL, key, O, other, NULL, "VALUE", "Key of the other program: no effect here",   \
            .flags = WEIR_OPT_HIDDEN)

const struct weir_opt ckpt_checkpoint_opts[] = {
    GEOMETRY(CKPT_WRITE_SCRIPT),
    OPT_INT(0, "num_writers", "NUM_WRITERS", O, writers, "1", "N", "Ranks that write", .min = 1,
            .max = MOST, OPT_FIRST(ORDER)),
    OPT_FLAG(0, "gather_3d", "GATHER_3D", O, whole, "Whole variables gathered, not level by level",
             OPT_IN(ORDER)),
    OPT_FLAG(0, "write_barrier", "WRITE_BARRIER", O, barrier,
             "Barrier between each gather and its write", OPT_IN(ORDER)),
    OPT_FLAG(0, "do_writes", "DO_WRITES", O, moves, "Files written (0: only gathered)", .def = "1",
             OPT_IN(ORDER)),
    OPT_FLAG(0, "suppress_writes", NULL, O, suppressed, "As --do_writes=0", OPT_IN(ORDER)),
    OPT_FLAG(0, "netcdf_writes", "NETCDF_WRITES", O, netcdf,
             "netCDF files (0: the binary form, arrays one after the other)", .def = "1",
             OPT_IN(FILES)),
    OPT_FLAG(0, "write_binary", NULL, O, binary, "As --netcdf_writes=0", OPT_IN(FILES)),
    OPT_FLAG(0, "chunk", "CHUNK", O, chunk, "Chunked variables where the format has them",
             .def = "1", OPT_IN(FILES)),
    OPT_FLAG(0, "no_chunking", NULL, O, no_chunk, "As --chunk=0", OPT_IN(FILES)),
    OPT_FLAG('e', "fsync", NULL, O, sync, "Flush to storage before the file is closed",
             OPT_IN(DATA)),
    OTHERS("NUM_READERS"),
    OTHERS("SCATTER_3D"),
    OTHERS("READ_BARRIER"),
    OTHERS("DO_READS"),
    OTHERS("NETCDF_READS"),
    OPT_RUN_NO_SWEEP, OPT_RUN_NO_GPU, OPT_RUN_NO_RATE,
    OPT_END
};

const struct weir_opt ckpt_restart_opts[] = {
    GEOMETRY(CKPT_READ_SCRIPT),
    OPT_INT(0, "num_readers", "NUM_READERS", O, writers, "1", "N", "Ranks that read", .min = 1,
            .max = MOST, OPT_FIRST(ORDER)),
    OPT_FLAG(0, "scatter_3d", "SCATTER_3D", O, whole,
             "Whole variables scattered, not level by level",
             OPT_IN(ORDER)),
    OPT_FLAG(0, "read_barrier", "READ_BARRIER", O, barrier, "Barrier after each scatter",
             OPT_IN(ORDER)),
    OPT_FLAG(0, "do_reads", "DO_READS", O, moves, "Files read (0: only scattered)", .def = "1",
             OPT_IN(ORDER)),
    OPT_FLAG(0, "suppress_reads", NULL, O, suppressed, "As --do_reads=0", OPT_IN(ORDER)),
    OPT_FLAG(0, "netcdf_reads", "NETCDF_READS", O, netcdf,
             "netCDF files (0: the binary form, arrays one after the other)", .def = "1",
             OPT_IN(FILES)),
    OPT_FLAG(0, "read_binary", NULL, O, binary, "As --netcdf_reads=0", OPT_IN(FILES)),
    OPT_STR(0, "verify", NULL, O, verify, "auto", "WHEN",
            "Comparison of the data read with what weir writes (auto: weir's files)",
            .choices = verify_words, OPT_IN(DATA)),
    OTHERS("NUM_WRITERS"),
    OTHERS("GATHER_3D"),
    OTHERS("WRITE_BARRIER"),
    OTHERS("DO_WRITES"),
    OTHERS("NETCDF_WRITES"),
    OTHERS("CHUNK"),
    OPT_RUN_MAKES_NO_FILES,
    OPT_RUN_NO_SWEEP, OPT_RUN_NO_GPU, OPT_RUN_NO_RATE,
    OPT_END
};

/* ---- files of options ---- */

static int read_pair(char *line, char **key, char **value, struct weir_err *err)
{
    char *colon = strchr(line, ':'), shown[WEIR_QUOTE_TEXT];

    weir_quote_str(line, shown);
    if (!colon)
        return weir_refuse(err, WEIR_EUSAGE, "%s: a line has the form 'KEY: value'", shown);
    *colon = '\0';
    *key = weir_trim(line);
    *value = weir_trim(colon + 1);
    if (**key && **value)
        return 0;
    return weir_refuse(err, WEIR_EUSAGE, "%s: the %s is missing", shown, **key ? "value" : "key");
}

/* Sizes, which a file of the originals must have. */
static const char *const sizes[] = { "NX", "NY", "IM_WORLD", "LM", "NUM_ARRAYS" };
#define SIZES (sizeof(sizes) / sizeof(*sizes))

struct config {
    const struct weir_script_sink *sink;
    bool has[SIZES], any; /* any: it says something */
};

static int read_line(struct config *c, char *line, struct weir_err *err)
{
    struct weir_str text = { 0 };
    char *key = line, *value = line;
    int rc;

    line[strcspn(line, "#")] = '\0';
    line = weir_trim(line);
    if (!*line)
        return 0;
    if (read_pair(line, &key, &value, err) < 0)
        return -1;
    c->any = true;
    for (size_t i = 0; i < SIZES; i++)
        c->has[i] |= strcasecmp(key, sizes[i]) == 0;
    weir_str_addf(&text, "%s=%s", key, value);
    rc = text.failed ? weir_refuse(err, WEIR_ESETUP, "no memory for a line")
                     : c->sink->directives(c->sink->arg, weir_str_text(&text), err);
    weir_str_free(&text);
    return rc;
}

static void note_missing(const struct config *c, const char *name)
{
    struct weir_str words = { 0 };

    for (size_t i = 0; i < SIZES; i++)
        if (c->any && !c->has[i])
            weir_str_addf(&words, "%s%s", words.len > 0 ? ", " : "", sizes[i]);
    if (words.len > 0 && c->sink->note) {
        weir_str_addf(&words, ": missing in '%s', where the original needs it; the value of the "
                              "command line or the default is used", name);
        c->sink->note(c->sink->arg, weir_str_text(&words));
    }
    weir_str_free(&words);
}

int ckpt_read_config(const char *text, size_t len, const char *name,
                     const struct weir_script_sink *sink, struct weir_err *err)
{
    struct config c = { .sink = sink };
    struct weir_arena arena = { NULL };
    unsigned number = 0;
    char *line;
    int rc;

    do {
        number++;
        rc = weir_text_line_copy(&text, &len, &arena, &line, err);
        if (rc > 0 && read_line(&c, line, err) < 0)
            rc = -1;
    } while (rc > 0);
    weir_arena_free(&arena);
    if (rc < 0)
        return weir_err_within(err, "%s:%u", name, number);
    if (sink->run(sink->arg, err) < 0)
        return -1;
    note_missing(&c, name);
    return 0;
}
