/* SPDX-License-Identifier: BSD-3-Clause */
/* command.h - from argv and script to the tests of a run */
#pragma once

#include "engine/program.h"

/* Options that every program has. */
struct weir_common {
    const char *help, *dump; /* NULL: not asked for; help may be "" */
    const char *clock;
    bool version;
};

/* The tables of a program with one set of values, and the tests made of them so far. */
struct weir_command {
    const struct weir_program *program;
    const struct weir_cli *cli; /* the program's; one without members where it has none */
    struct weir_arena *arena;
    struct weir_opts opts;
    struct weir_common common;
    struct weir_values *tests;
    int n, capacity; /* tests, and for how many there is memory */
    int argc;    /* arguments of the command line */
    char *const *argv;
    bool looks_here;  /* for a default script that the user did not name (cli->script_here) */
    const char *here; /* its name when it was read; else NULL */
};

/* Fill in tables and defaults. Local. Returns 0, or -1 and err. */
int weir_command_init(struct weir_command *c, const struct weir_program *p, struct weir_arena *arena,
                      struct weir_err *err);

/* Read the command line once more, without its notes, over values of a file. Local. Returns 0, or -1 and err. */
int weir_command_line_again(struct weir_command *c, struct weir_err *err);

/* After options were refused: append to err that the backend which they name is not in this
 * build, if that is the reason. Looks at the values that were read and at all of this command
 * line (argc 0: there is none). Local. Returns -1. */
int weir_command_blame_backend(const struct weir_command *c, int argc, char *const *argv,
                               struct weir_err *err);

/* answer.c: print on stdout the completions that a shell asks for with "--complete WORD-BEFORE WORD" as the
 * only words of a command line (base/options/help.h). Local. */
void weir_command_complete(const struct weir_command *c, const char *before, const char *typed);

/* Answer --help, --version, --dump-options on stdout. Returns true when one was asked for
 * (*status: the exit status). Local. */
bool weir_command_answer(struct weir_command *c, int *status);

/* The file of options that the program names, if it is there: its lines, and then the command line
 * once more, which overrides them. Rank 0 reads it for all. Collective over par->comm. Returns 0, or
 * -1 and the same err on all ranks. */
int weir_command_settings(struct weir_command *c, const struct weir_par *par,
                          const struct weir_log *log, struct weir_err *err);

/* The tests: one from the command line, or those of the script (a default script is noted). Rank 0
 * reads it for all. Collective over par->comm. Returns 0, or -1 and the same err on all ranks. */
int weir_command_tests(struct weir_command *c, const struct weir_par *par, struct weir_err *err);

/* Add the files of all tests; observers check the options of each and add theirs. Local. Returns 0, or -1 and err
 * (WEIR_EUSAGE). */
struct weir_files;
int weir_command_add_files(struct weir_command *c, struct weir_files *files, struct weir_err *err);

/* Note which options of backends have no effect because no test uses that backend. Local. */
void weir_command_note_unused(const struct weir_command *c, const struct weir_log *log);

/* ---- tests.c: the life of a run, from its command line to the exit status ---- */

/* Begin a zeroed run: messages go to standard error, and from rank 0 to the readers of the results
 * too. 'rank' is what is known of it now. Local. */
void weir_program_begin(struct weir_run *run, int rank);

/* Put tables, defaults and the arguments of the command line into *c, which belongs to the run.
 * Local. -1 and err (WEIR_EUSAGE). */
int weir_program_options(struct weir_run *run, struct weir_command *c, const struct weir_program *p,
                         int argc, char *const *argv, struct weir_err *err);

/* Read the script, and run its tests, on a duplicate of 'comm' (MPI_COMM_NULL: without MPI, in
 * this process). Collective over comm. Returns the exit status, the same on all ranks; errors
 * were reported on standard error, and the worst of them is in err on rank 0. */
enum weir_code weir_program_run(struct weir_run *run, struct weir_command *c, MPI_Comm comm,
                                int argc, char *const *argv, struct weir_err *err);

/* Release everything that the run holds. Local. */
void weir_program_end(struct weir_run *run);
