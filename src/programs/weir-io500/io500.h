/* SPDX-License-Identifier: BSD-3-Clause */
/* io500.h - the contents of IO500: the configuration, the phases, their command lines, the score */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "base/shape/worklog.h"
#include "base/str.h"

#define IO500_MINIMUM_S 300     /* that a phase which writes takes in a valid run */
#define IO500_MINIMUM_SCC_S 30  /* of the Student Cluster Competition */

/* ---- the configuration (io500-config.c) ---- */

enum io500_kind {
    IO500_TEXT,
    IO500_FLAG,
    IO500_COUNT,
    IO500_LEVEL,
    IO500_POSITIVE,
    IO500_REAL
}; /* a number from 0; to 10; from 1 */

struct io500_key {
    const char *section, *name;
    enum io500_kind kind;
    const char *def; /* "": none */
    const char *help;
};

#define IO500_KEYS_MAX 128

extern const struct io500_key io500_keys[]; /* ends with a row without section */

struct io500_config {
    const char *value[IO500_KEYS_MAX]; /* as it was written, in the order of the keys; NULL: not given */
};

/* Read an INI file. Zero the struct before. Words of earlier releases become those of today: a line in 'notes' for each of them, and
 * for each key that stands twice. Local. Returns 0, or -1 and err (WEIR_EUSAGE) "FILE:LINE: ...". */
int io500_config_read(const char *text, size_t len, const char *name, struct weir_arena *arena,
                      struct io500_config *c, struct weir_str *notes, struct weir_err *err);

/* The value of a key, or its default, or where both are empty that of the section above: of all phases of the family, then [global]. Local. */
const char *io500_text(const struct io500_config *c, const char *section, const char *name);
bool io500_flag(const struct io500_config *c, const char *section, const char *name);
int64_t io500_number(const struct io500_config *c, const char *section, const char *name); /* -1: it is empty */

/* All keys as an INI file: with their values of c; NULL: with their defaults and what they mean. Local. */
void io500_config_show(const struct io500_config *c, struct weir_str *out);

/* ---- phases (io500-phases.c) ---- */

enum io500_family { IO500_IOR_EASY, IO500_IOR_HARD, IO500_MDTEST_EASY, IO500_MDTEST_HARD, IO500_MDW, IO500_FIND, IO500_STAMP, IO500_FAMILIES };
enum io500_group { IO500_NONE, IO500_BW, IO500_MD };

struct io500_phase {
    const char *name;
    bool standard;
    enum io500_group group;
    bool verify;            /* must not be shorter than the stonewall */
    enum io500_family family;
    const char *
        words; /* after those of the family, or, with "./" at the begin, all; of a find: the directory below the data */
    const char *operation;  /* of the library, whose rate is the score */
    bool makes;             /* files, which the other phases of the family need */
    bool destroys;          /* or changes them, so that it cannot be done twice */
};

#define IO500_PHASES 20

extern const struct io500_phase io500_phases[]; /* in the order of running; ends with a row without name */

struct io500_family_row {
    const char *section;   /* of the configuration, and the directory below the data; NULL: none */
    const char *benchmark; /* of libweir; NULL: none */
    const char *words;     /* before those of the phase */
    const char *limit;     /* the key that says how much a rank does at most; NULL: there is none */
    const char *patterns;  /* paths below the directory of the files that it makes, separated by blanks */
};

extern const struct io500_family_row io500_families[IO500_FAMILIES];

/* True for a phase of ior, whose rate is in bytes; others count operations. */
static inline bool io500_in_bytes(const struct io500_phase *phase)
{
    return phase->family == IO500_IOR_EASY || phase->family == IO500_IOR_HARD;
}

/* Values that stand in command lines. */
struct io500_place {
    const struct io500_config *config;
    const char *data, *results;
    double stonewall_s;
    bool free; /* no limit of the configuration below the default ends a phase before the stonewall */
    int64_t seed;
    int64_t mdw_files; /* of a rank in a set, where the configuration does not say */
};

struct io500_command {
    int argc;
    char **argv; /* ends with NULL */
    const char *text; /* for people and result.txt */
};

/* The command line of a phase that has one (its family has a benchmark); in the arena. Local. Returns 0, or -1 and err. */
int io500_command_make(const struct io500_place *place, const struct io500_phase *phase, struct weir_arena *arena,
                       struct io500_command *out, struct weir_err *err);

/* True when the text matches one of the patterns, which blanks separate (fnmatch with these flags). */
bool io500_is_like(const char *patterns, const char *text, int flags);

/* True when the configuration has this phase. */
bool io500_phase_wanted(const struct io500_config *c, const struct io500_phase *phase, bool extended);

/* The number of a phase by its name, in letters of either case; -1: there is none. */
int io500_phase_find(const char *name);

/* ---- the score (io500-score.c) ---- */

struct io500_score {
    double bw, iops, total; /* GiB/s, kIOPS; 0: there was no phase of the group */
};

/* score[i] is that of io500_phases[i]; 0 or NaN is left out. */
struct io500_score io500_score_of(const double *score, bool extended);

/* Files of a rank in a set of md-workbench. rate: of mdtest-easy-write, files a second. */
int64_t io500_mdw_files(double rate, double stonewall_s, int ranks);

/* The line of a phase, without the end of line; and of the score. */
void io500_line(const struct io500_phase *phase, double score, double seconds, bool valid, struct weir_str *out);
void io500_score_line(const char *name, const struct io500_score *score, bool valid, struct weir_str *out);

/* ---- what a run would be, from short phases: arithmetic without I/O (io500-forecast.c) ---- */

#define IO500_SLICES 10

/* The bytes or operations of the only phase in each of the slices of its first seconds. */
void io500_slices_of(const struct weir_worklog *work, bool bytes, double seconds,
                     uint64_t out[IO500_SLICES]);
/* The 95 % interval of the median of slices (of all ranks), as shares of their mean; false: it is not known. */
bool io500_slices_interval(const uint64_t slice[IO500_SLICES], double *low, double *high);

/* With its interval. */
struct io500_range {
    double value, low, high;
};

/* A phase that writes, with a stonewall. */
struct io500_writes {
    struct io500_range rate; /* of all ranks, units a second */
    double spread;           /* of the fastest rank over the mean */
    double limit;            /* units of a rank at most */
    int ranks;
    double stonewall_s;
};

enum io500_length { IO500_LONG_ENOUGH, IO500_PERHAPS, IO500_TOO_SHORT };

struct io500_written {
    struct io500_range units, seconds;
    enum io500_length length;
    double wanted; /* units of a rank with which it is long enough */
};

/* Each rank writes until the stonewall or its limit; then all go on to the amount of the fastest. */
struct io500_written io500_forecast_writes(const struct io500_writes *w);

/* The time of a phase that works on what was written; 0 without a rate. */
struct io500_range io500_forecast_time(struct io500_range units, struct io500_range rate);

/* A sum: the ends of the intervals are added. */
struct io500_range io500_range_sum(struct io500_range a, struct io500_range b);
struct io500_range io500_range_times(struct io500_range a, double factor);

/* n rounded up to two digits: 4813 to 4900. */
double io500_round_up(double n);
