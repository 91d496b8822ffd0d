/* SPDX-License-Identifier: BSD-3-Clause */
/* driver.h - what the engine must know about a program: data, and functions of the two kinds that
 * test.h explains */
#ifndef WEIR_ENGINE_DRIVER_H
#define WEIR_ENGINE_DRIVER_H

#include "backends/backend.h"
#include "base/node/cache.h"
#include "base/options/help.h"
#include "base/options/option.h"
#include "base/stats.h"
#include "base/text/script.h"
#include "engine/files.h"
#include "engine/run.h"
#include "engine/test.h"

/* The values of all options of one test: a copy of the driver's option struct, which begins with
 * struct weir_run_options and which the driver's plan may change, and those of every backend, which
 * tests share as long as they are the same. Owned by the run's arena. */
struct weir_values {
    void *driver_opt;
    const void **backend_opt; /* in the order of weir_backends() */
};

/* A kind of operation that a program measures. Its index in the table is what records and
 * histograms carry. */
struct weir_operation {
    const char *key;   /* in files of operations: "write" */
    const char *title; /* in tables: "File creation" */
    const char *unit;  /* what one of them does: "transfers", "items" */
    bool moves_bytes;
};

/* What the names of files of operations (savePerOpDataCSV) hold before the number of the task. */
enum weir_op_files {
    WEIR_OP_FILES_TASK,       /* PREFIX- */
    WEIR_OP_FILES_REPETITION, /* PREFIX-<repetition>- */
    WEIR_OP_FILES_OPERATION /* PREFIX-<title of the operation>-: a file for each operation, which is
                               * the index of the stage that does it */
};

/* What a program is made of. Functions may be NULL unless the comment says "always". Those of a
 * test are called in the order in which they stand here. */
struct weir_driver {
    const char *name;            /* of the program */
    const char *brief;           /* one sentence for --help and the man page */
    const char *more;            /* another one for the first page of --help; may be NULL */
    const struct weir_example
        *examples;               /* for --help, before those of all programs; may be NULL */
    int example_tasks;           /* of their command lines; 0: 4 */
    const struct weir_opt *opts; /* ends with OPT_END */
    size_t opt_size, state_size; /* of the option struct, and of the state of one test */
    const struct weir_operation *operations; /* always; ends with a row without key */
    enum weir_deviation deviation;           /* of all standard deviations in its documents */
    enum weir_op_files op_files;
    bool whole; /* a repetition is of use as a whole only: the engine refuses a deadline */
    /* With a file for each operation: does this test write that of 'op'? And the bytes that it
     * gives for each operation; 0, which is there before, means those that were moved. NULL: all
     * files. Local, the same on all ranks. */
    bool (*records)(const void *state, int op, uint64_t *size);
    /* The heading of the file of the ranks, where the program writes it with rows of its own
     * (weir_ranks_rows); NULL: the engine's rows, one for each rank and phase. */
    void (*rank_head)(struct weir_str *out);
    /* The words of --version, where a program has its own; NULL: name and version. Local. */
    void (*version)(struct weir_str *out);
    const char *usage; /* the first line of --help, where a program has its own; may be NULL */
    /* Does the test run in this process alone, without MPI_Init? NULL: no. Local. */
    bool (*without_mpi)(const void *opt);
    /* A file of lines "key = value" that the command line overrides, and that need not be there:
     * its path, or false. Keys are names of options; those that match a pattern (fnmatch) in
     * settings_skip (ends with NULL) are none, and allowed. Local, the same on all ranks;
     * settings_file NULL: there is no such file. */
    bool (*settings_file)(const void *opt, struct weir_str *path);
    const char *const *settings_skip;
    /* Where the calls of an operation are written as a table of text (calltable.h): its path
     * appended to out, nothing where there is none. Local, the same on all ranks; NULL: no
     * tables. */
    void (*call_table)(const void *opt, int op, struct weir_str *path);
    /* The script file named on the command line (ior -f), or NULL. */
    const char *(*script)(const void *opt);
    /* The script that programs (not jobs of the library) read where none is named: this file, when
     * it is in the working directory. NULL: there is no such name. */
    const char *script_here;
    /* How that file is read; NULL: weir_script_read. */
    int (*read_script)(const char *text, size_t len, const char *name,
                       const struct weir_script_sink *sink, struct weir_err *err);
    /* The backend that a test names, NULL: the default. For notes; may be NULL. */
    const char *(*api)(const void *opt);
    /* Add the files of a test that its option rows do not name, nor the engine (files of
     * operations, tables of calls), with 'tasks' tasks at most. Local. Returns 0, or -1 and err
     * when memory is out. */
    int (*files)(const void *opt, int tasks, struct weir_files *files, struct weir_err *err);

    /* ---- the run: all ranks, run->par is run->world ---- */

    /* Something else than tests was asked for: done here, true, and *code is how it ended.
     * Collective. */
    bool (*instead)(struct weir_run *run, const void *opt, enum weir_code *code);
    /* How many tests one set of options makes; without it one. Local, the same on all ranks. */
    int (*variants)(const void *opt, const struct weir_par *world);
    /* Always. Check the options of run->test, choose its backend and fill its plan and state;
     * nothing is done yet. The same on all ranks. */
    weir_together_fn *plan;
    /* Form and path of the results where --report does not say; without it text on standard
     * output. Local. */
    void (*output)(const void *opt, const char **format, const char **path);
    /* Choose what all tests share, and warn of what is unusual about the tests together.
     * Collective. */
    int (*prepare)(struct weir_run *run, struct weir_test *tests, int n, struct weir_err *err);
    /* The banner before the results; without it program, command line, machine and time, and the
     * time at the end, for data readers. Collective. */
    void (*banner)(struct weir_run *run, struct weir_test *tests, int n, int argc,
                   char *const *argv);
    /* What all tests share: before the first, and after the last (not when enter failed). Both have
     * the state of the first test; code is how the tests ended. */
    weir_together_fn *enter;
    int (*leave)(struct weir_run *run, void *state, enum weir_code code, struct weir_err *err);

    /* ---- a test: the ranks of run->par ---- */

    /* Override the numbers of nodes and tasks that were found (numNodes). Local, the same on all
     * ranks. */
    void (*place)(const void *state, struct weir_par *par);
    weir_local_fn *begin;      /* memory and names of a rank */
    void (*end)(void *state);  /* gives them back, also after a begin that failed. Local */
    /* The i-th file that this rank will make, from 0, added to *path; false: there is none. After
     * start. Without it 'range' names one file, and without that it is the plan's path on rank 0.
     * And what --existing can ask for (WEIR_EXISTING_...); 0: nothing, and no file is looked at.
     * Local. */
    bool (*target)(struct weir_run *run, const void *state, int i, struct weir_str *path);
    unsigned existing;
    weir_together_fn *start;   /* sessions, and what the ranks must know of each other */
    /* What the test is, in the object of the test that was entered; without it where it was
     * measured and the parameters, for data readers. */
    weir_together_fn *report;
    /* What its options say about the reliability of its results (engine/check/facts.h); after start.
     * Collective; rank 0 alone keeps it. Without it the tests of the program are not judged. */
    void (*facts)(struct weir_run *run, void *state, struct weir_facts *facts);
    /* Which bytes of which ordinary file this rank reads or writes in a stage, after its 'before'
     * (NULL: which file it will make; after start); false: not known, or none. For
     * weir_trust_look. Local. */
    bool (*range)(struct weir_run *run, void *state, const struct weir_stage *stage,
                  struct weir_str *path, struct weir_cache_range *range);
    weir_local_fn *repetition; /* what changes with it: signature, seed */
    const struct weir_stage *stages; /* ends with a row without key */
    /* What this rank made in a repetition, removed after it unless 'keeps' says otherwise (the
     * same on all ranks), and then reported; without 'removed' the time of the first, for data
     * readers. */
    bool (*keeps)(const void *state);
    weir_local_fn *remove;
    void (*removed)(struct weir_run *run, void *state, double seconds);
    /* After a failure: remove what is left. Collective; never fails, says what stays. */
    void (*clean)(struct weir_run *run, void *state);
    weir_together_fn *conclude; /* rows from the series of all repetitions, also after a failure */

    /* ---- the run again ---- */

    /* The summary of the first n tests. Rank 0 shows it, others do nothing. */
    void (*summary)(struct weir_run *run, const struct weir_test *tests, int n);
    /* The last lines; may be NULL. Collective. */
    void (*finish)(struct weir_run *run, const struct weir_test *tests);
};

/* The backend that the user named ('name', in upper or lower case; NULL: the default), ready to
 * work, and in *opt its options and its base's in this test. Collective over par->comm. Returns 0,
 * or -1 and the same err on all ranks: there is no such backend (WEIR_EUSAGE), or it cannot be
 * loaded (WEIR_ESETUP). */
int weir_values_backend(const struct weir_values *v, const char *name, const struct weir_par *par,
                        const struct weir_backend **be, struct weir_backend_opt *opt,
                        struct weir_err *err);

/* In a source of a driver: a program of this name. bootstrap reads the line and makes the program
 * (src/programs/main.c). */
#define WEIR_PROGRAM(name, driver) _Static_assert(sizeof(driver) > 0 && sizeof(name) > 1, name)

/* main() of every program: --help, --version and --dump-options without MPI; MPI, options, script,
 * run, report, MPI_Finalize. Returns the exit status. */
int weir_main(const struct weir_driver *d, int argc, char **argv);

#endif
