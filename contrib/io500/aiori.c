/* SPDX-License-Identifier: BSD-3-Clause */
/* aiori.c - backends of libweir as tables of functions, for the IO500 program */
#include "aiori.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <weir.h>

struct aiori_mod_opt_t {
    const char *api;
    int n;
    char **words;                 /* "--posix.odirect" */
    struct weir_storage *storage; /* NULL: not open yet */
};

struct options_all {
    struct weir_job *check; /* knows all options of all backends */
    int n;
    char **words;
};

static void complain(const char *about, const char *text)
{
    int me = 0;

    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (me == 0)
        fprintf(stderr, "weir: %s: %s\n", about, text);
}

/* ---- the functions of a backend ---- */

/* 0, or an errno. A backend that cannot be opened says so here, and stays closed. */
static int open_storage(aiori_mod_opt_t *o)
{
    struct weir_storage *storage;

    if (o->storage)
        return 0;
    storage = weir_storage_open(o->api, o->n, o->words);
    if (*weir_storage_error(storage)) {
        complain(o->api, weir_storage_error(storage));
        weir_storage_close(storage);
        return EINVAL;
    }
    o->storage = storage;
    return 0;
}

/* A call on a path, as the functions of a backend return it. */
#define CALL(o, call)                                                                              \
    do {                                                                                           \
        int failed = open_storage(o);                                                              \
                                                                                                   \
        if (!failed)                                                                               \
            failed = (call);                                                                       \
        if (failed)                                                                                \
            errno = failed;                                                                        \
        return failed ? -1 : 0;                                                                    \
    } while (0)

static int make_dir(aiori_mod_opt_t *o, const char *path, mode_t mode)
{
    CALL(o, weir_storage_mkdir(o->storage, path, mode));
}

static int remove_dir(aiori_mod_opt_t *o, const char *path)
{
    CALL(o, weir_storage_rmdir(o->storage, path));
}

static int look_for(aiori_mod_opt_t *o, const char *path)
{
    CALL(o, weir_storage_access(o->storage, path));
}

static int get_status(aiori_mod_opt_t *o, const char *path, struct stat *out)
{
    CALL(o, weir_storage_status(o->storage, path, out));
}

static void remove_file(aiori_mod_opt_t *o, const char *path)
{
    if (open_storage(o) == 0 && weir_storage_remove(o->storage, path) != 0)
        fprintf(stderr, "weir: %s: %s\n", o->api, weir_storage_error(o->storage));
}

static void close_storage(aiori_mod_opt_t *o)
{
    if (o->storage && weir_storage_close(o->storage) != 0)
        complain(o->api, "close the backend");
    o->storage = NULL;
}

static int check(aiori_mod_opt_t *o)
{
    CALL(o, 0);
}

static void ignore_hints(aiori_xfer_hint_t *hints)
{
    (void)hints;
}

/* ---- tables: where the options are NULL, a function knows its backend by its number ---- */

#define MOST 12

static struct backend {
    char name[32];
    struct aiori_mod_opt_t plain; /* without words; api NULL: not in use */
    ior_aiori_t table;
} backends[MOST];

#define PICK(i) (options ? options : &backends[i].plain)
#define FUNCTIONS(i)                                                                               \
    static void remove_##i(char *path, aiori_mod_opt_t *options)                                   \
    {                                                                                              \
        remove_file(PICK(i), path);                                                                \
    }                                                                                              \
    static int mkdir_##i(const char *path, mode_t mode, aiori_mod_opt_t *options)                  \
    {                                                                                              \
        return make_dir(PICK(i), path, mode);                                                      \
    }                                                                                              \
    static int rmdir_##i(const char *path, aiori_mod_opt_t *options)                               \
    {                                                                                              \
        return remove_dir(PICK(i), path);                                                          \
    }                                                                                              \
    static int access_##i(const char *path, int mode, aiori_mod_opt_t *options)                    \
    {                                                                                              \
        (void)mode;                                                                                \
        return look_for(PICK(i), path);                                                            \
    }                                                                                              \
    static int stat_##i(const char *path, struct stat *out, aiori_mod_opt_t *options)              \
    {                                                                                              \
        return get_status(PICK(i), path, out);                                                     \
    }                                                                                              \
    static void initialize_##i(aiori_mod_opt_t *options)                                           \
    {                                                                                              \
        open_storage(PICK(i));                                                                     \
    }                                                                                              \
    static void finalize_##i(aiori_mod_opt_t *options)                                             \
    {                                                                                              \
        close_storage(PICK(i));                                                                    \
    }                                                                                              \
    static int check_##i(aiori_mod_opt_t *options)                                                 \
    {                                                                                              \
        return check(PICK(i));                                                                     \
    }
#define TABLE(i)                                                                                   \
    [i] = { .table = { backends[i].name, ignore_hints, remove_##i, mkdir_##i, rmdir_##i,           \
                       access_##i, stat_##i, initialize_##i, finalize_##i, check_##i } },
#define EACH(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)

EACH(FUNCTIONS)

static struct backend backends[MOST] = { EACH(TABLE) };

const ior_aiori_t *aiori_select(const char *api)
{
    struct backend *b = backends;

    while (b < backends + MOST && b->plain.api && strcasecmp(b->name, api) != 0)
        b++;
    if (b == backends + MOST || strlen(api) >= sizeof(b->name)) {
        complain(api, "there is no such backend");
        return NULL;
    }
    if (b->plain.api)
        return &b->table;
    strcpy(b->name, api);
    b->plain.api = b->name;
    if (open_storage(&b->plain) == 0)
        return &b->table;
    b->plain.api = NULL;
    return NULL;
}

/* ---- options ---- */

options_all_t *airoi_create_all_module_options(option_help *own)
{
    options_all_t *all = calloc(1, sizeof(*all));

    if (own && (own->shortVar || own->longVar))
        complain("options", "those of the calling program are not parsed here");
    if (all && !(all->check = weir_job_new("ior", NULL))) {
        free(all);
        return NULL;
    }
    return all;
}

/* One more at the end, with a copy of the word. */
static int add_word(options_all_t *all, const char *word)
{
    char **more = realloc(all->words, sizeof(*more) * ((size_t)all->n + 1));
    char *copy = malloc(strlen(word) + sizeof("--"));

    if (more)
        all->words = more;
    if (!more || !copy) {
        free(copy);
        return 1;
    }
    strcat(strcpy(copy, "--"), word);
    all->words[all->n++] = copy;
    return 0;
}

int option_parse_str(char *word, options_all_t *all)
{
    const char *text = word + strspn(word, "-"), *value = strchr(text, '=');
    const char *dot = strchr(text, '.');
    char *name = strndup(text, value ? (size_t)(value - text) : strlen(text));
    int failed = 1;

    if (!name)
        return 1;
    if (!dot || (value && dot > value))
        complain(word, "an option of a backend has its name and a point in it, as in --posix.odirect");
    else if (weir_job_set(all->check, name, value ? value + 1 : NULL) != 0)
        complain(word, weir_job_error(all->check));
    else
        failed = add_word(all, text);
    free(name);
    return failed;
}

aiori_mod_opt_t *airoi_update_module_options(const ior_aiori_t *backend, options_all_t *all)
{
    aiori_mod_opt_t *o = calloc(1, sizeof(*o));

    if (!o)
        return NULL;
    o->api = backend->name;
    o->words = calloc((size_t)all->n + 1, sizeof(*o->words));
    if (!o->words) {
        free(o);
        return NULL;
    }
    o->n = all->n;
    for (int i = 0; i < all->n; i++)
        o->words[i] = all->words[i];
    return o;
}
