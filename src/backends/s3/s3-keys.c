/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-keys.c - keys, from the environment or from the files of a profile */
#include "backends/s3/s3-keys.h"
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/s3/s3-profile.h"
#include "base/str.h"
#include "base/text/quote.h"

#define FILE_MOST (1 << 20) /* bytes of a file of profiles */
#define KEY_MOST 512        /* of an id or a secret; those of services have 16 to 128 */
#define TOKEN_MOST 16384

/* The two files, and what they say of the profile. */
struct files {
    struct weir_str credentials, config; /* their names; empty: there is no home */
    struct s3_profile of_credentials, of_config;
    const char *name;  /* of the profile */
    const char *named; /* who names it; NULL: nobody, it is "default" */
    bool wanted;       /* there are no keys yet: a file that a variable names must be there */
};

const char *s3_variable(const char *name)
{
    const char *value = getenv(name);

    return value && *value ? value : NULL;
}

/* ---- files ---- */

/* Name of a file: of the variable, in which "~/" is the home, else of the home. */
static void find_file(const char *variable, const char *name, struct weir_str *out)
{
    const char *home = s3_variable("HOME"), *given = s3_variable(variable);

    if (given && strncmp(given, "~/", 2) == 0 && home)
        weir_str_addf(out, "%s%s", home, given + 1);
    else if (given)
        weir_str_addf(out, "%s", given);
    else if (home)
        weir_str_addf(out, "%s/.aws/%s", home, name);
}

/* Such as /dev/null, by which people say that there are none. */
static bool is_empty(int fd, mode_t mode)
{
    char c;

    return S_ISCHR(mode) && read(fd, &c, 1) == 0;
}

/* All of it, at once, so that no copy of a secret stays in memory. */
static int read_all(int fd, const char *file, char **text, size_t *len, struct weir_err *err)
{
    struct stat st;
    ssize_t n = 0;

    *len = 0;
    if (fstat(fd, &st) < 0)
        return weir_fail(err, WEIR_ESETUP, "read '%s'", file);
    if (is_empty(fd, st.st_mode))
        return 0;
    if (!S_ISREG(st.st_mode) || st.st_size > FILE_MOST)
        return weir_refuse(err, WEIR_ESETUP, "'%s' is %s; profiles are in a small file of text", file,
                           S_ISREG(st.st_mode) ? "larger than 1 MiB" : "no regular file");
    *text = calloc(1, (size_t)st.st_size + 1);
    if (!*text)
        return weir_fail(err, WEIR_ESETUP, "memory for '%s'", file);
    while (*len < (size_t)st.st_size && (n = read(fd, *text + *len, (size_t)st.st_size - *len)) > 0)
        *len += (size_t)n;
    return n < 0 ? weir_fail(err, WEIR_ESETUP, "read '%s'", file) : 0;
}

/* A file that is not there is empty, unless a variable names it. */
static int open_file(const char *file, bool must, int *fd, struct weir_err *err)
{
    *fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*fd >= 0 || (!must && (errno == ENOENT || errno == ENOTDIR)))
        return 0;
    return weir_fail(err, WEIR_ESETUP, "read '%s'", file);
}

/* The endpoint of S3 in the section of services that a profile names. */
static int read_services(struct s3_profile *p, const char *file, const char *text, size_t len,
                         struct weir_err *err)
{
    struct s3_profile services = { .found = false };
    const struct s3_section where = { file, "services", p->text[S3_SET_SERVICES], "s3" };
    int rc = s3_profile_read(&services, &where, text, len, err);

    if (rc == 0 && services.text[S3_SET_ENDPOINT]) {
        s3_wipe(p->text[S3_SET_ENDPOINT]);
        p->text[S3_SET_ENDPOINT] = services.text[S3_SET_ENDPOINT];
        services.text[S3_SET_ENDPOINT] = NULL;
    }
    s3_profile_free(&services);
    return rc;
}

static int read_file(struct s3_profile *p, const struct s3_section *where, bool must, struct weir_err *err)
{
    char *text = NULL;
    size_t len = 0;
    int fd, rc;

    if (open_file(where->file, must, &fd, err) < 0)
        return -1;
    if (fd < 0)
        return 0;
    rc = read_all(fd, where->file, &text, &len, err);
    close(fd);
    if (rc == 0)
        rc = s3_profile_read(p, where, text, len, err);
    if (rc == 0 && p->text[S3_SET_SERVICES])
        rc = read_services(p, where->file, text, len, err);
    if (text)
        explicit_bzero(text, len);
    free(text);
    return rc;
}

static int read_files(struct files *f, struct weir_err *err)
{
    const struct s3_section credentials = { weir_str_text(&f->credentials), "", f->name, NULL };
    const struct s3_section config = { weir_str_text(&f->config), "profile", f->name, NULL };

    if (f->credentials.failed || f->config.failed)
        return weir_refuse(err, WEIR_ESETUP, "no memory for the names of files");
    if (f->credentials.len > 0 &&
        read_file(&f->of_credentials, &credentials,
                  f->wanted && s3_variable("AWS_SHARED_CREDENTIALS_FILE"), err) < 0)
        return -1;
    if (f->config.len > 0 &&
        read_file(&f->of_config, &config, f->wanted && s3_variable("AWS_CONFIG_FILE"), err) < 0)
        return -1;
    if (f->of_credentials.found || f->of_config.found || !f->named)
        return 0;
    if (f->credentials.len == 0)
        return weir_refuse(err, WEIR_ESETUP, "profile '%s' of %s: HOME is not set, nor "
                           "AWS_SHARED_CREDENTIALS_FILE", f->name, f->named);
    return weir_refuse(err, WEIR_ESETUP, "profile '%s' of %s is neither in '%s' ([%s]) nor in '%s' "
                       "([profile %s])", f->name, f->named, weir_str_text(&f->credentials), f->name,
                       weir_str_text(&f->config), f->name);
}

/* ---- keys ---- */

/* A header of a request has printable characters only, and no blank in a key. */
static int check_key(const char *key, const char *what, size_t most, struct weir_err *err)
{
    if (key && strlen(key) > most)
        return weir_refuse(err, WEIR_ESETUP, "%s has %zu characters; no service gives more than %zu", what, strlen(key), most);
    for (const char *c = key; c && *c; c++)
        if (*c <= ' ' || *c > '~')
            return weir_refuse(err, WEIR_ESETUP, "%s has a blank or another character that is in no key, at "
                               "place %td of %zu", what, c - key + 1, strlen(key));
    return 0;
}

static int copy(char **out, const char *text, struct weir_err *err)
{
    *out = text ? strdup(text) : NULL;
    return text && !*out ? weir_fail(err, WEIR_ESETUP, "memory for keys") : 0;
}

/* The setting of the file of credentials, else that of the other. */
static void move(struct files *f, enum s3_setting setting, char **out)
{
    char **text = &f->of_credentials.text[setting];

    if (!*text)
        text = &f->of_config.text[setting];
    *out = *text;
    *text = NULL;
}

/* Keys that come in twos: one half is a mistake. where: a file or the environment. */
static int check_both(const struct s3_keys *k, const char *where, const char *id, const char *secret,
                      struct weir_err *err)
{
    if (!k->id != !k->secret)
        return weir_refuse(err, WEIR_ESETUP, "%s has '%s', but no '%s'", where, k->id ? id : secret,
                           k->id ? secret : id);
    if (!k->id && k->token)
        return weir_refuse(err, WEIR_ESETUP, "%s has a session token, but no '%s'", where, id);
    return 0;
}

static int take_profile(struct s3_keys *k, struct files *f, struct weir_err *err)
{
    struct weir_str where = { 0 };
    const struct s3_profile *p = &f->of_credentials;
    bool first = p->text[S3_SET_ID] || p->text[S3_SET_SECRET];
    int rc;

    weir_str_addf(&where, "profile '%s' of %s", f->name,
                  weir_str_text(first ? &f->credentials : &f->config));
    if (!p->text[S3_SET_ID] && !f->of_config.text[S3_SET_ID] &&
        (p->text[S3_SET_ELSEWHERE] || f->of_config.text[S3_SET_ELSEWHERE]))
        rc = weir_refuse(err, WEIR_ESETUP, "profile '%s' has its keys from a program or another service (%s), "
                         "which is not asked here: put them into the environment (aws configure "
                         "export-credentials --format env)", f->name,
                         "credential_process, role_arn, sso_session ...");
    else {
        move(f, S3_SET_ID, &k->id);
        move(f, S3_SET_SECRET, &k->secret);
        move(f, S3_SET_TOKEN, &k->token);
        rc = check_both(k, weir_str_words(&where), s3_setting_name(S3_SET_ID),
                        s3_setting_name(S3_SET_SECRET), err);
    }
    if (rc == 0 && k->id)
        rc = copy(&k->from, weir_str_words(&where), err);
    weir_str_free(&where);
    return rc;
}

static int take_environment(struct s3_keys *k, struct weir_err *err)
{
    if (copy(&k->id, s3_variable("AWS_ACCESS_KEY_ID"), err) < 0 ||
        copy(&k->secret, s3_variable("AWS_SECRET_ACCESS_KEY"), err) < 0)
        return -1;
    if (!k->id && !k->secret)
        return 0;
    if (copy(&k->token, s3_variable("AWS_SESSION_TOKEN"), err) < 0 ||
        copy(&k->from, "the environment", err) < 0)
        return -1;
    return check_both(k, "the environment", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", err);
}

static int check_keys(const struct s3_keys *k, struct weir_err *err)
{
    if (check_key(k->id, "the id of the key", KEY_MOST, err) < 0 || check_key(k->secret, "the secret key", KEY_MOST, err) < 0 ||
        check_key(k->token, "the session token", TOKEN_MOST, err) < 0)
        return weir_err_within(err, "keys of %s", k->from);
    return 0;
}

static int find(struct s3_keys *k, struct files *f, const char *profile, struct weir_err *err)
{
    if (!profile && take_environment(k, err) < 0)
        return -1;
    f->wanted = !k->id;
    if (read_files(f, err) < 0 || (!k->id && take_profile(k, f, err) < 0))
        return -1;
    move(f, S3_SET_REGION, &k->region);
    move(f, S3_SET_ENDPOINT, &k->endpoint);
    return check_keys(k, err);
}

int s3_keys_find(struct s3_keys *k, const char *profile, struct weir_err *err)
{
    const char *variable = s3_variable("AWS_PROFILE");
    struct files f = { .name = profile ? profile : variable ? variable : "default",
                       .named = profile ? "--s3.profile" : variable ? "AWS_PROFILE" : NULL };
    int rc;

    find_file("AWS_SHARED_CREDENTIALS_FILE", "credentials", &f.credentials);
    find_file("AWS_CONFIG_FILE", "config", &f.config);
    rc = find(k, &f, profile, err);
    if (rc < 0)
        s3_keys_free(k);
    s3_profile_free(&f.of_credentials);
    s3_profile_free(&f.of_config);
    weir_str_free(&f.credentials);
    weir_str_free(&f.config);
    return rc;
}

void s3_keys_free(struct s3_keys *k)
{
    s3_wipe(k->id);
    s3_wipe(k->secret);
    s3_wipe(k->token);
    free(k->region);
    free(k->endpoint);
    free(k->from);
    *k = (struct s3_keys) { .id = NULL };
}
