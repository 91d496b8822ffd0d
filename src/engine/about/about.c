/* SPDX-License-Identifier: BSD-3-Clause */
/* about.c - the row that reports what a run and its tests are, and where they run; and results
 * without names: --anonymous.
 *
 * JSON, CSV and the document of a timeline leave out three texts completely. These are the
 * command line, the mount point, and the values of options that name files, directories, or are
 * the user's own words (WEIR_OPT_READS, _WRITES, _ADDS, _PLACES, _PRIVATE). All other texts
 * lose what weir_names_hide takes for a name. Hosts are numbered in the order of their first
 * ranks. Text on standard output, messages on standard error and the hash of the configuration
 * stay as they are. */

#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "backends/backend.h"
#include "backends/registry.h"
#include "engine/about/banner.h"
#include "engine/about/configuration.h"
#include "engine/about/names.h"
#include "engine/observe/all.h"
#include "par/reduce.h"

/* Names of a run; used on rank 0 only. */
struct anonymous {
    struct weir_names names;
    int hosts;            /* names of them that are known */
    struct weir_set keys; /* of values that are left out completely */
};

/* ---- what is known ---- */

/* Names of the hosts of some ranks, each with its NUL. Containers of one kernel have names of their own. */
static void add_hosts(void *anonymous, const char *bytes, size_t len)
{
    struct anonymous *a = anonymous;

    for (const char *name = bytes; name < bytes + len; name += strlen(name) + 1) {
        size_t before = a->names.known;

        weir_names_add(&a->names, a->hosts, name);
        a->hosts += a->names.known > before;
    }
}

static void find_hosts(struct weir_run *run, struct anonymous *a)
{
    struct weir_str mine = { 0 };

    weir_str_add(&mine, run->world.host, strlen(run->world.host) + 1);
    if (weir_pieces(&run->world, &mine, add_hosts, a) < 0)
        a->names.failed = true;
    weir_str_free(&mine);
}

/* The machine, the user and the working directory. */
static void add_process(struct weir_names *names)
{
    const struct passwd *user = getpwuid(getuid());
    char *here = getcwd(NULL, 0);
    struct utsname u;

    if (uname(&u) == 0)
        weir_names_add(names, 0, u.nodename);
    weir_names_add(names, WEIR_NAME_WORD, getenv("USER"));
    weir_names_add(names, WEIR_NAME_WORD, getenv("LOGNAME"));
    weir_names_add(names, WEIR_NAME_WORD, user ? user->pw_name : NULL);
    weir_names_add(names, WEIR_NAME_FILE, here);
    free(here);
}

static void add_key(struct anonymous *a, const char *prefix, const char *key)
{
    struct weir_str name = { 0 };

    if (!key)
        return;
    weir_str_addf(&name, "%s%s", prefix, key);
    weir_set_add(&a->keys, weir_str_text(&name), name.len);
    a->names.failed |= name.failed || a->keys.failed;
    weir_str_free(&name);
}

/* Texts that are reported under names that are not those of options. */
static const char *const other_keys[] = {
    "Command line",      "Path",        "path",           "test filename",
    "testFileName",      "mount",       "platform",       "debug",
    "ROMIO_HINTS",       "LD_PRELOAD",  "DARSHAN_LOGDIR", "HDF5_PLUGIN_PATH",
    "MPICH_MPIIO_HINTS", "HDF5_VOL_CONNECTOR", "H5FD_SUBFILING_SUBFILE_PREFIX",
    "H5FD_SUBFILING_CONFIG_FILE_PREFIX",
};

/* A file under the names that messages have for it: whole, its directory, and its last part, which
 * may have a directory of its own (ior -u). */
static void add_place(struct weir_names *names, const char *path)
{
    const char *slash = strrchr(path, '/');
    char *directory = slash ? strndup(path, (size_t)(slash - path)) : NULL;

    weir_names_add(names, WEIR_NAME_FILE, path);
    if (slash && slash[1])
        weir_names_add(names, WEIR_NAME_FILE, slash + 1);
    if (directory && directory[strspn(directory, "./")])
        weir_names_add(names, WEIR_NAME_FILE, directory);
    names->failed |= slash && !directory;
    free(directory);
}

/* Add the names in a value, which is cut into them. The text before a ':' may be a driver
 * ("ufs:"), which messages leave out. */
static void add_places(struct weir_names *names, char *value, const char *between)
{
    for (char *one; (one = strsep(&value, between));)
        for (const char *path = strcmp(one, "-") == 0 ? NULL : one, *colon; path;
             path = colon ? colon + 1 : NULL) {
            add_place(names, path);
            colon = strchr(path, ':');
        }
}

static void add_table(struct anonymous *a, const char *prefix, const struct weir_opt *rows,
                      const void *values)
{
    const unsigned flags =
        WEIR_OPT_READS | WEIR_OPT_WRITES | WEIR_OPT_ADDS | WEIR_OPT_PLACES | WEIR_OPT_PRIVATE;
    struct weir_str value = { 0 };

    for (; rows && values && !weir_opt_is_end(rows); rows++) {
        if (rows->type != WEIR_OPT_STR || !(rows->flags & flags))
            continue;
        add_key(a, prefix, rows->name);
        add_key(a, prefix, rows->key);
        weir_str_clear(&value);
        weir_opt_show(rows, values, &value);
        if (value.len > 0)
            value.text[weir_opt_file_length(rows, value.text)] = '\0';
        add_places(&a->names, value.text, rows->flags & WEIR_OPT_PLACES ? "@" : "");
    }
    a->names.failed |= value.failed;
    weir_str_free(&value);
}

static void add_test(struct anonymous *a, const struct weir_values *v)
{
    const struct weir_backend *const *be = weir_backends();

    add_table(a, "", v->rows, v->given);
    for (int i = 0; be[i]; i++)
        add_table(a, be[i]->prefix, be[i]->opts, v->backend_opt[i]);
}

/* ---- texts ---- */

static bool is_left_out(const struct anonymous *a, const char *key)
{
    size_t len = strlen(key);

    /* where there was no memory for it, it may be any */
    return len == 0 || weir_set_find(&a->keys, weir_hash(WEIR_HASH_BEGIN, key, len), key, len) >= 0;
}

/* Options of a mount whose values are names: "addr=10.1.2.3", "username=jane". */
static bool is_name(const char *option, size_t len)
{
    static const char *const words[] = { "addr", "user", "name", "server", "domain", "cred",
                                         "dir",  "mds",  "mon",  "source", "src" };

    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (memmem(option, len, words[i], strlen(words[i])))
            return true;
    return false;
}

static void hide_mount_options(const struct weir_names *names, const char *text,
                               struct weir_str *out)
{
    struct weir_str rest = { 0 };

    for (size_t n; *text; text += n) {
        size_t key = strcspn(text, ",=");

        n = strcspn(text, ",");
        if (key < n && is_name(text, key))
            weir_str_addf(&rest, "%.*s=%s", (int)key, text, WEIR_NAME_LEFT_OUT);
        else
            weir_str_add(&rest, text, n);
        if (text[n])
            weir_str_addc(&rest, text[n++]);
    }
    weir_names_hide(names, weir_str_text(&rest), out);
    out->failed |= rest.failed;
    weir_str_free(&rest);
}

static const char *hide(const void *names, const char *key, const char *value,
                        struct weir_str *buffer)
{
    const struct anonymous *a = names;

    weir_str_clear(buffer);
    if (key && is_left_out(a, key))
        weir_str_addf(buffer, WEIR_NAME_LEFT_OUT);
    else if (key && strcmp(key, "mountOptions") == 0)
        hide_mount_options(&a->names, value, buffer);
    else
        weir_names_hide(&a->names, value, buffer);
    return buffer->failed ? WEIR_NAME_LEFT_OUT : weir_str_text(buffer);
}

/* ---- a run ---- */

/* Learn the names of n sets of options, and hide them in all that is reported from now on. */
static void begin_hiding(struct weir_run *run, struct anonymous *a,
                         const struct weir_values *values, int n)
{
    run->report.hide = hide;
    run->report.names = a;
    find_hosts(run, a);
    if (run->world.rank > 0)
        return;
    add_process(&a->names);
    for (size_t i = 0; i < sizeof(other_keys) / sizeof(*other_keys); i++)
        add_key(a, "", other_keys[i]);
    for (int i = 0; i < n; i++)
        add_test(a, &values[i]);
}

/* ---- the row ---- */

struct state {
    struct anonymous anonymous;
    bool open; /* the banner was reported */
};

/* --anonymous was given with the first test. */
static void run_read(struct weir_run *run, void *state, const struct weir_values *values, int n)
{
    const struct weir_run_options *o = values[0].given;

    if (o->anonymous)
        begin_hiding(run, &((struct state *)state)->anonymous, values, n);
}

static void run_open(struct weir_run *run, void *state)
{
    struct state *s = state;

    s->open = true;
    if (weir_output_of(run->program)->banner)
        return;
    weir_banner_data(run);
    weir_banner_time(run, WEIR_FOR_DATA, "Began");
}

static void test_open(struct weir_run *run, void *state)
{
    weir_configuration_report(run);
    if (!weir_output_of(run->program)->report)
        weir_banner_test(run);
}

/* A run that failed before anything was reported names at least its program. */
static enum weir_code run_end(struct weir_run *run, void *state, enum weir_code code)
{
    const struct state *s = state;

    if (s->open && !weir_output_of(run->program)->banner)
        weir_banner_time(run, WEIR_FOR_DATA, "Finished");
    if (!run->report.begun) {
        weir_banner_program(run);
        weir_banner_command(run, WEIR_FOR_DATA);
    }
    return code;
}

static void release(struct weir_run *run, void *state)
{
    struct anonymous *a = &((struct state *)state)->anonymous;

    run->report.hide = NULL;
    weir_names_free(&a->names);
    weir_set_free(&a->keys);
}

const struct weir_observer weir_about = {
    .name = "about",
    .state_size = sizeof(struct state),
    .run_read = run_read,
    .run_open = run_open,
    .run_end = run_end,
    .release = release,
    .test_open = test_open,
};
