/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-keys.c - keys from the environment or a profile of ~/.aws/credentials and ~/.aws/config */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/s3/s3-client.h"

#define FILE_MOST (1 << 20) /* bytes of a file of profiles */
#define TOKEN_MOST 16384

const char *s3_variable(const char *name)
{
    const char *value = getenv(name);

    return value && *value ? value : NULL;
}

/* ---- a profile in a text ---- */

/* Keys first. */
static const struct setting {
    const char *name;
    size_t at;
} settings[] = {
    { "aws_access_key_id", offsetof(struct s3_keys, id) },
    { "aws_secret_access_key", offsetof(struct s3_keys, secret) },
    { "aws_session_token", offsetof(struct s3_keys, token) },
    { "region", offsetof(struct s3_keys, region) },
    { "endpoint_url", offsetof(struct s3_keys, endpoint) },
};
enum { KEYS = 3, A_KEY = 1u << 0 | 1u << 1 }; /* of them; the bits of id and secret */

/* A file, the section that is looked for, and where its reader is. */
struct reader {
    struct weir_str file;         /* empty: there is no home */
    const char *kind, *name;      /* "profile": [profile NAME] or [default]; "": [NAME] */
    struct s3_keys *k;            /* gets what is not known yet, */
    bool no_keys;                 /* keys are: those of the environment */
    unsigned seen;                /* a bit for each setting that the section has */
    bool found, headed, inside;   /* there is such a section; any; this is it */
    bool nested;                  /* the last setting had no value: indented lines are below it */
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* A comment is the whole value, or stands behind a blank. */
static char *without_comment(char *value)
{
    for (char *c = value; *c; c++)
        if ((*c == '#' || *c == ';') && (c == value || is_blank(c[-1]))) {
            *c = '\0';
            break;
        }
    return weir_trim(value);
}

static bool is_section(const struct reader *r, char *head)
{
    size_t n = strlen(r->kind);

    if (n == 0 || strcmp(head, "default") == 0)
        return strcmp(head, r->name) == 0;
    if (strncmp(head, r->kind, n) != 0 || !is_blank(head[n]))
        return false;
    head = weir_trim(head + n);
    n = strlen(head);
    if (n >= 2 && (*head == '"' || *head == '\'') && head[n - 1] == *head) {
        head[n - 1] = '\0';
        head++;
    }
    return strcmp(head, r->name) == 0;
}

static int take_head(struct reader *r, char *head, struct weir_err *err)
{
    char *end = strchr(head, ']');

    if (!end)
        return weir_refuse(err, WEIR_ESETUP, "a section has no ']'");
    *end = '\0';
    r->headed = true;
    r->nested = false;
    r->inside = is_section(r, weir_trim(head));
    r->found |= r->inside;
    return 0;
}

static int keep(struct reader *r, const char *name, const char *value, struct weir_err *err)
{
    for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++) {
        char **text = (char **)((char *)r->k + settings[i].at);

        if (strcasecmp(name, settings[i].name) != 0)
            continue;
        if (r->seen & 1u << i)
            return weir_refuse(err, WEIR_ESETUP, "the profile has a second '%s'", settings[i].name);
        r->seen |= 1u << i;
        if (*text || (i < KEYS && r->no_keys))
            return 0;
        *text = strdup(value);
        return *text ? 0 : weir_fail(err, WEIR_ESETUP, "memory for keys");
    }
    return 0;
}

static int take_line(struct reader *r, char *line, struct weir_err *err)
{
    const bool indented = is_blank(*line);
    char *s = weir_trim(line), *equals = strchr(s, '='), *value;

    if (!*s || *s == '#' || *s == ';')
        return 0;
    if (*s == '[')
        return take_head(r, s + 1, err);
    if (indented && r->nested)
        return 0;
    if (!equals)
        return weir_refuse(err, WEIR_ESETUP, "neither 'name = value' nor a section nor a comment");
    if (!r->headed)
        return weir_refuse(err, WEIR_ESETUP,
                           "a setting before the first section, such as [default]");
    *equals = '\0';
    value = without_comment(weir_trim(equals + 1));
    r->nested = !*value;
    return r->inside && *value ? keep(r, weir_trim(s), value, err) : 0;
}

/* The text is cut into lines in place. */
static int read_text(struct reader *r, char *text, struct weir_err *err)
{
    int number = 0;

    if (strncmp(text, "\xef\xbb\xbf", 3) == 0)
        text += 3; /* the mark of UTF-8 that editors put in front */
    for (char *line; (line = strsep(&text, "\n"));) {
        number++;
        if (take_line(r, line, err) < 0)
            return weir_err_within(err, "%s:%d", weir_str_text(&r->file), number);
    }
    return 0;
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

/* Read all of the file at once, so that no copy of a secret stays in memory. A device such as
 * /dev/null gives nothing. */
static int read_all(int fd, char **text, size_t *len, struct weir_err *err)
{
    struct stat st;
    ssize_t n = 0;

    if (fstat(fd, &st) < 0)
        return weir_fail(err, WEIR_ESETUP, "read it");
    if (S_ISCHR(st.st_mode))
        st.st_size = 0;
    else if (!S_ISREG(st.st_mode) || st.st_size > FILE_MOST)
        return weir_refuse(err, WEIR_ESETUP, "it is %s; profiles must be in a small text file",
                           S_ISREG(st.st_mode) ? "larger than 1 MiB" : "not a regular file");
    *text = calloc(1, (size_t)st.st_size + 1);
    if (!*text)
        return weir_fail(err, WEIR_ESETUP, "memory for it");
    while (*len < (size_t)st.st_size && (n = read(fd, *text + *len, (size_t)st.st_size - *len)) > 0)
        *len += (size_t)n;
    if (n < 0)
        return weir_fail(err, WEIR_ESETUP, "read it");
    return strlen(*text) == *len ? 0 : weir_refuse(err, WEIR_ESETUP, WEIR_NOT_TEXT);
}

/* A file that is not there is empty, unless a variable names it and there are no keys yet. */
static int read_file(struct reader *r, bool must, struct weir_err *err)
{
    const char *file = weir_str_text(&r->file);
    char *text = NULL;
    size_t len = 0;
    int fd, rc;

    if (r->file.failed)
        return weir_refuse(err, WEIR_ESETUP, "no memory for the name of a file");
    fd = *file ? open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    if (fd < 0 && (!*file || (!must && (errno == ENOENT || errno == ENOTDIR))))
        return 0;
    if (fd < 0)
        return weir_fail(err, WEIR_ESETUP, "read '%s'", file);
    rc = read_all(fd, &text, &len, err);
    close(fd);
    if (rc < 0)
        weir_err_within(err, "read '%s'", file);
    else
        rc = read_text(r, text, err);
    if (text)
        explicit_bzero(text, len);
    free(text);
    return rc;
}

/* ---- keys ---- */

/* A header of a request has printable characters only, and no blank in a key. */
static int check_key(const char *key, const char *what, size_t most, struct weir_err *err)
{
    if (key && strlen(key) > most)
        return weir_refuse(err, WEIR_ESETUP,
                           "%s has %zu characters; no service gives more than %zu", what,
                           strlen(key), most);
    for (const char *c = key; c && *c; c++)
        if (*c <= ' ' || *c > '~')
            return weir_refuse(
                err, WEIR_ESETUP,
                "%s has a blank or another character that no key has, at position %td of %zu", what,
                c - key + 1, strlen(key));
    return 0;
}

/* One half of a pair is a mistake. names: the names of id and secret there. */
static int check_keys(const struct s3_keys *k, const char *const names[2], struct weir_err *err)
{
    int rc = -1;

    if (!k->id != !k->secret)
        weir_refuse(err, WEIR_ESETUP, "'%s' is set, but '%s' is missing", names[!k->id],
                    names[!k->secret]);
    else if (!k->id && k->token)
        weir_refuse(err, WEIR_ESETUP, "a session token is set, but '%s' is missing", names[0]);
    else if (check_key(k->id, "the id of the key", S3_SECRET_MOST, err) == 0 &&
             check_key(k->secret, "the secret key", S3_SECRET_MOST, err) == 0)
        rc = check_key(k->token, "the session token", TOKEN_MOST, err);
    return rc < 0 ? weir_err_within(err, "keys of %s", k->from) : 0;
}

static int take_environment(struct s3_keys *k, struct weir_err *err)
{
    static const char *const names[] = { "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY",
                                         "AWS_SESSION_TOKEN" };
    char **const texts[] = { &k->id, &k->secret, &k->token };

    if (!s3_variable(names[0]) && !s3_variable(names[1]))
        return 0;
    k->from = strdup("the environment");
    for (int i = 0; i < 3 && k->from; i++)
        if (s3_variable(names[i]) && !(*texts[i] = strdup(s3_variable(names[i]))))
            return weir_fail(err, WEIR_ESETUP, "memory for keys");
    return k->from ? check_keys(k, names, err) : weir_fail(err, WEIR_ESETUP, "memory for keys");
}

/* The keys of a profile. r: the file of credentials, and the other. */
static int judge_profile(struct s3_keys *k, const struct reader r[2], const char *named,
                         struct weir_err *err)
{
    static const char *const names[] = { "aws_access_key_id", "aws_secret_access_key" };
    const int which = r[0].seen & A_KEY ? 0 : 1;
    struct weir_str from = { 0 };

    weir_str_addf(&from, "profile '%s' of %s", r->name, weir_str_text(&r[which].file));
    k->from = from.text;
    if (!k->from || from.failed)
        return weir_refuse(err, WEIR_ESETUP, "no memory for keys");
    if (named && !k->id && !k->secret && !k->token)
        return weir_refuse(err, WEIR_ESETUP, "%s has no keys. Keys of a program or another service "
                                             "(credential_process, role_arn, SSO) are not "
                                             "supported: put the keys into the environment (aws "
                                             "configure export-credentials --format env)", k->from);
    return check_keys(k, names, err);
}

static int find(struct s3_keys *k, struct reader r[2], const char *profile, const char *named,
                struct weir_err *err)
{
    if (!profile && take_environment(k, err) < 0)
        return -1;
    r[0].no_keys = r[1].no_keys = k->id != NULL;
    if (read_file(&r[0], !r->no_keys && s3_variable("AWS_SHARED_CREDENTIALS_FILE"), err) < 0 ||
        read_file(&r[1], !r->no_keys && s3_variable("AWS_CONFIG_FILE"), err) < 0)
        return -1;
    if (named && !r[0].found && !r[1].found)
        return weir_refuse(
            err, WEIR_ESETUP,
            "profile '%s' of %s is neither in '%s' ([%s]) nor in '%s' ([profile %s])%s", r->name,
            named, weir_str_text(&r[0].file), r->name, weir_str_text(&r[1].file), r->name,
            r[0].file.len > 0 ? "" : ": HOME is not set, nor AWS_SHARED_CREDENTIALS_FILE");
    return r->no_keys ? 0 : judge_profile(k, r, named, err);
}

int s3_keys_find(struct s3_keys *k, const char *profile, struct weir_err *err)
{
    const char *variable = s3_variable("AWS_PROFILE");
    const char *name = profile ? profile : variable ? variable : "default";
    struct reader r[2] = { { .kind = "", .name = name, .k = k },
                           { .kind = "profile", .name = name, .k = k } };
    int rc;

    find_file("AWS_SHARED_CREDENTIALS_FILE", "credentials", &r[0].file);
    find_file("AWS_CONFIG_FILE", "config", &r[1].file);
    rc = find(k, r, profile, profile ? "--s3.profile" : variable ? "AWS_PROFILE" : NULL, err);
    if (rc < 0)
        s3_keys_free(k);
    for (int i = 0; i < 2; i++)
        weir_str_free(&r[i].file);
    return rc;
}

void s3_keys_free(struct s3_keys *k)
{
    char *const texts[] = { k->id, k->secret, k->token, k->region, k->endpoint, k->from };

    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        if (texts[i])
            explicit_bzero(texts[i], strlen(texts[i]));
        free(texts[i]);
    }
    *k = (struct s3_keys) { .id = NULL };
}
