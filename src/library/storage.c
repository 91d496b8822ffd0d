/* SPDX-License-Identifier: BSD-3-Clause */
/* storage.c - single files and directories through a backend, for another program */
#include "weir.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backends/session/session.h"
#include "base/thread.h"
#include "engine/command.h"
#include "library/library.h"
#include "par/comm.h"

struct weir_storage {
    struct weir_run run; /* its options live as long */
    struct weir_command command;
    struct weir_par par; /* this process alone */
    struct weir_access access;
    struct weir_session session;
    struct weir_err err;
    bool open;
};

/* "weir -a API" and the caller's words. The caller frees it; NULL: no memory, or a word or all are NULL. */
static char **join_words(const char *api, int n, char *const *words)
{
    static const char *const before[] = { "weir", "-a" };
    char **argv = calloc((size_t)n + 4, sizeof(*argv));

    if (!argv)
        return NULL;
    memcpy(argv, before, sizeof(before));
    argv[2] = (char *)(uintptr_t)(api ? api : "POSIX");
    for (int i = 0; i < n; i++) {
        if (!words || !words[i]) {
            free(argv);
            return NULL;
        }
        argv[3 + i] = words[i];
    }
    return argv;
}

/* In the C locale. The options of a benchmark bring those of all backends. */
static int begin_session(struct weir_storage *s, const char *api, int argc, char *const *argv)
{
    const struct weir_backend *be;
    struct weir_backend_opt opt;

    if (weir_inside_no_mpi())
        return weir_refuse(&s->err, WEIR_EUSAGE, "%s", weir_inside_no_mpi());
    if (weir_par_init(&s->par, MPI_COMM_SELF, &s->err) < 0)
        return -1;
    s->access = (struct weir_access) { .file_per_task = true, .tasks = 1, .nodes = 1 };
    if (weir_program_options(&s->run, &s->command, weir_benchmark_find("ior"), argc, argv, &s->err) < 0 ||
        weir_command_tests(&s->command, &s->par, &s->err) < 0 ||
        weir_values_backend(&s->command.tests[0], api, &s->par, &be, &opt, &s->err) < 0 ||
        weir_session_begin(&s->session, be, opt, &s->access, &s->par, &s->run.log, &s->err) < 0)
        return -1;
    return 0;
}

struct weir_storage *weir_storage_open(const char *api, int n, char *const *words)
{
    struct weir_storage *s = calloc(1, sizeof(*s));
    char **argv = join_words(api, n, words);
    locale_t caller = weir_locale_plain();

    if (!s || !argv) {
        free(s);
        s = NULL;
    } else {
        weir_program_begin(&s->run, 0);
        s->run.log.fd = -1;
        s->open = begin_session(s, api, 3 + n, argv) == 0;
    }
    uselocale(caller);
    free(argv);
    return s;
}

const char *weir_storage_error(const struct weir_storage *s)
{
    return s ? s->err.text : "no memory, or an argument that is NULL";
}

/* Begin a call: clear the last error. Returns false when it is impossible, for a reason in s->err. */
static bool begin_call(struct weir_storage *s, const char *path)
{
    if (!s || !s->open)
        return false;
    s->err = (struct weir_err) WEIR_ERR_INIT;
    if (!path)
        weir_refuse(&s->err, WEIR_EUSAGE, "the path, or the pointer for the result, is NULL");
    return path != NULL;
}

/* Return the errno of a failure; 0 where a backend cannot do something, or a library reports none. */
static int reason(const struct weir_storage *s, int rc)
{
    if (rc == 0)
        return 0;
    return s->err.sys ? s->err.sys : s->err.code == WEIR_EUSAGE ? ENOTSUP : EIO;
}

int weir_storage_create(struct weir_storage *s, const char *path)
{
    const unsigned how = WEIR_OPEN_WRITE | WEIR_OPEN_CREATE | WEIR_OPEN_EXCL;
    struct weir_file *f = NULL;
    bool there = false;
    int rc;

    if (!begin_call(s, path))
        return EINVAL;
    /* Not all libraries tell this reason. */
    if (weir_session_exists(&s->session, path, &there, NULL) == 0 && there) {
        errno = EEXIST;
        return reason(s, weir_fail(&s->err, WEIR_EIO, "create '%s'", path));
    }
    rc = weir_session_open(&s->session, path, how, NULL, &f, &s->err);
    if (weir_session_close(f, rc < 0 ? NULL : &s->err) < 0)
        rc = -1;
    return reason(s, rc);
}

int weir_storage_remove(struct weir_storage *s, const char *path)
{
    return begin_call(s, path) ? reason(s, weir_session_unlink(&s->session, path, &s->err)) : EINVAL;
}

int weir_storage_mkdir(struct weir_storage *s, const char *path, unsigned mode)
{
    return begin_call(s, path) ? reason(s, weir_session_mkdir(&s->session, path, mode, &s->err)) : EINVAL;
}

int weir_storage_rmdir(struct weir_storage *s, const char *path)
{
    return begin_call(s, path) ? reason(s, weir_session_rmdir(&s->session, path, &s->err)) : EINVAL;
}

int weir_storage_stat(struct weir_storage *s, const char *path, uint64_t *bytes)
{
    uint64_t size = 0;
    int rc;

    if (!begin_call(s, path))
        return EINVAL;
    rc = weir_session_size(&s->session, path, &size, &s->err);
    if (bytes)
        *bytes = size;
    return reason(s, rc);
}

int weir_storage_status(struct weir_storage *s, const char *path, struct stat *status)
{
    uint64_t size = 0;
    int rc;

    if (!begin_call(s, status ? path : NULL))
        return EINVAL;
    *status = (struct stat) { 0 };
    if (s->session.be->ns && s->session.be->ns->ordinary) {
        rc = stat(weir_system_path(s->session.be, path), status);
        return reason(s, rc < 0 ? weir_fail(&s->err, WEIR_EIO, "stat '%s'", path) : 0);
    }
    rc = weir_session_size(&s->session, path, &size, &s->err);
    status->st_size = (off_t)size;
    return reason(s, rc);
}

int weir_storage_access(struct weir_storage *s, const char *path)
{
    bool yes = false;

    if (!begin_call(s, path))
        return EINVAL;
    if (weir_session_exists(&s->session, path, &yes, &s->err) == 0 && !yes) {
        errno = ENOENT;
        return reason(s, weir_fail(&s->err, WEIR_EIO, "look for '%s'", path));
    }
    return reason(s, yes ? 0 : -1);
}

int weir_storage_close(struct weir_storage *s)
{
    int rc;

    if (!s)
        return 0;
    rc = s->open ? weir_session_end(&s->session, &s->err) : 0;
    rc = reason(s, rc);
    weir_program_end(&s->run);
    weir_par_free(&s->par);
    free(s);
    return rc;
}
