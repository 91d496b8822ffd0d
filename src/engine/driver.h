/* SPDX-License-Identifier: BSD-3-Clause */
/* driver.h - what a benchmark is to the engine: its options, and one function that runs its
 * tests */
#ifndef WEIR_ENGINE_DRIVER_H
#define WEIR_ENGINE_DRIVER_H

#include "backends/backend.h"
#include "base/opt.h"
#include "engine/run.h"

/* The options of one test: a copy of the driver's option struct, which the driver may change, and
 * those of every backend, which tests share as long as they are the same. Owned by the run's
 * arena. */
struct weir_test {
    void *driver_opt;
    const void **backend_opt; /* in the order of weir_backends() */
};

struct weir_driver {
    const char *name;            /* of the program */
    const char *brief;           /* one sentence for --help and the man page */
    const struct weir_opt *opts; /* ends with OPT_END */
    size_t opt_size;
    /* The script file named on the command line (ior -f), or NULL; the function may be NULL. */
    const char *(*script)(const void *opt);
    /* Level of -v and --warningAsErrors, so that the log knows them. May be NULL. */
    void (*set_log)(const void *opt, struct weir_log *log);
    /* Run all tests. Collective over run->world. Returns an exit status, the same on all ranks;
     * has reported its errors through weir_report_error on rank 0. */
    enum weir_code (*run)(struct weir_run *run, const struct weir_test *tests, int n, int argc,
                          char *const *argv);
};

/* The backend that the user named ('name', in any case; NULL: the default), ready to work, and
 * in *opt its options and its base's in this test. Collective over par->comm. Returns 0, or -1
 * and the same err on all ranks: there is no such backend (WEIR_EUSAGE), or it cannot be loaded
 * (WEIR_ESETUP). */
int weir_test_backend(const struct weir_test *t, const char *name, const struct weir_par *par,
                      const struct weir_backend **be, struct weir_backend_opt *opt,
                      struct weir_err *err);

/* main() of every program: --help, --version and --dump-options without MPI; MPI, options, script,
 * run, report, MPI_Finalize. Returns the exit status. */
int weir_main(const struct weir_driver *d, int argc, char **argv);

#endif
