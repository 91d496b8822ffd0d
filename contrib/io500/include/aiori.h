/* SPDX-License-Identifier: BSD-3-Clause */
/* aiori.h - files and directories of a backend, for the IO500 program on libweir (contrib/io500)
 *
 * Names, types and meanings are those that IO500 expects; the text is weir's own. Members that
 * IO500 does not use are left out. */
#ifndef WEIR_IO500_AIORI_H
#define WEIR_IO500_AIORI_H

#include <limits.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>

/* ---- names that files of IO500 take from each of the four headers ---- */

#ifndef PATH_MAX /* a system without a limit has none */
#define PATH_MAX 4096
#endif
#ifndef TRUE
#define TRUE 1
#endif
#ifndef FALSE
#define FALSE 0
#endif
#ifndef KIBIBYTE
#define KIBIBYTE (1LL << 10)
#endif
#ifndef MEBIBYTE
#define MEBIBYTE (1LL << 20)
#endif
#ifndef GIBIBYTE
#define GIBIBYTE (1LL << 30)
#endif
#ifndef TEBIBYTE
#define TEBIBYTE (1LL << 40)
#endif

#ifdef __cplusplus
extern "C" {
#endif

extern FILE *out_logfile; /* standard output, unless the caller sets another; never used by libweir */

/* ---- backends ---- */

typedef long long int IOR_offset_t;

/* The options of one backend. Opaque: airoi_update_module_options makes them; NULL stands for the defaults. */
typedef struct aiori_mod_opt_t aiori_mod_opt_t;

/* The way in which a test will access its files. libweir learns that from the arguments of the
 * test and ignores this. */
typedef struct aiori_xfer_hint_t {
    int dryRun, filePerProc, collective, numTasks, numNodes, randomOffset, fsyncPerWrite;
    IOR_offset_t segmentCount, blockSize, transferSize, expectedAggFileSize;
    int singleXferAttempt;
} aiori_xfer_hint_t;

/* A backend. All functions are local. Those that return int return 0, or -1 and errno; the reason is on standard error where errno
 * does not tell it (check_params, initialize, remove). */
typedef struct ior_aiori {
    char *name; /* "POSIX" */
    void (*xfer_hints)(aiori_xfer_hint_t *hints);
    void (*remove)(char *path, aiori_mod_opt_t *options); /* a file */
    int (*mkdir)(const char *path, mode_t mode, aiori_mod_opt_t *options);
    int (*rmdir)(const char *path, aiori_mod_opt_t *options);
    int (*access)(const char *path, int mode, aiori_mod_opt_t *options); /* is it there? Whatever the mode */
    int (*stat)(const char *path, struct stat *out, aiori_mod_opt_t *options);
    void (*initialize)(aiori_mod_opt_t *options); /* not needed before the others */
    void (*finalize)(aiori_mod_opt_t *options);   /* the others may follow */
    int (*check_params)(aiori_mod_opt_t *options);
} ior_aiori_t;

/* The backend with this name ("POSIX", "MPIIO", ...; letters of either case); NULL: weir has none, which is said. It stays valid. */
const ior_aiori_t *aiori_select(const char *api);

/* ---- options ---- */

typedef enum { OPTION_FLAG, OPTION_OPTIONAL_ARGUMENT, OPTION_REQUIRED_ARGUMENT } option_value_type;

/* A row of options of the calling program. They are not parsed here: a list has LAST_OPTION alone. */
typedef struct {
    char shortVar;
    char *longVar;
    char *help;
    option_value_type arg;
    char type;
    void *variable;
} option_help;

#define LAST_OPTION { 0, 0, 0, (option_value_type)0, 0, NULL }

/* Words that set options of backends. Opaque. */
typedef struct options_all options_all_t;

/* An empty list; NULL: no memory. It lives as long as the process. */
options_all_t *airoi_create_all_module_options(option_help *own);

/* Add a word, "--posix.odirect" or "posix.odirect". 0; 1: there is no such option of a backend, which is said, or no memory. */
int option_parse_str(char *word, options_all_t *options);

/* The options of this backend, as the list is now; NULL: no memory. They live as long as the process. */
aiori_mod_opt_t *airoi_update_module_options(const ior_aiori_t *backend, options_all_t *options);

#ifdef __cplusplus
}
#endif

#endif
