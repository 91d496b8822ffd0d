/* SPDX-License-Identifier: BSD-3-Clause */
/* test_s3_keys.c - keys from the environment and from the files of a profile, and core files without them */
#include "backends/s3/s3-client.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* A home of its own, and nothing of the user's environment. */
static int begin(void **state)
{
    static const char *const names[] = {
        "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL_S3",
        "AWS_ENDPOINT_URL", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_CONFIG_FILE",
        "AWS_SHARED_CREDENTIALS_FILE", "AWS_CA_BUNDLE",
    };
    char *home = strdup("/tmp/weir-s3-keys-XXXXXX");

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        unsetenv(names[i]);
    *state = home;
    if (!home || !mkdtemp(home) || setenv("HOME", home, 1) != 0 || chdir(home) != 0)
        return -1;
    return mkdir(".aws", 0700);
}

static int end(void **state)
{
    unlink(".aws/credentials");
    unlink(".aws/config");
    unlink("core");
    rmdir(".aws");
    assert_int_equal(chdir("/"), 0);
    rmdir(*state);
    free(*state);
    return 0;
}

static void put(const char *file, const char *text)
{
    FILE *out = fopen(file, "w");

    assert_non_null(out);
    assert_true(fputs(text, out) >= 0);
    assert_int_equal(fclose(out), 0);
}

static void assert_keys(const char *profile, const char *id, const char *secret, const char *token)
{
    struct s3_keys k = { .id = NULL };
    struct weir_err err = WEIR_ERR_INIT;

    if (s3_keys_find(&k, profile, &err) < 0)
        fail_msg("%s", err.text);
    assert_string_equal(k.id ? k.id : "(none)", id);
    assert_string_equal(k.secret ? k.secret : "(none)", secret);
    assert_string_equal(k.token ? k.token : "(none)", token);
    s3_keys_free(&k);
    assert_null(k.id);
}

/* All words must be in the message, and "hidden", which stands for a secret, must not. */
static void assert_refused(const char *profile, const char *words, const char *more)
{
    struct s3_keys k = { .id = NULL };
    struct weir_err err = WEIR_ERR_INIT;

    assert_int_equal(s3_keys_find(&k, profile, &err), -1);
    assert_null(k.secret);
    if (!strstr(err.text, words) || !strstr(err.text, more) || strstr(err.text, "hidden"))
        fail_msg("'%s': no '%s' or no '%s'", err.text, words, more);
}

static void nowhere_are_no_keys(void **state)
{
    (void)state;
    assert_keys(NULL, "(none)", "(none)", "(none)");
    unsetenv("HOME");
    assert_keys(NULL, "(none)", "(none)", "(none)");
    assert_refused("x", "--s3.profile", "HOME is not set");
    setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null", 1);
    setenv("AWS_CONFIG_FILE", "/dev/null", 1);
    assert_keys(NULL, "(none)", "(none)", "(none)");
}

static void the_environment_has_keys(void **state)
{
    char token[4097];

    (void)state;
    memset(token, 't', sizeof(token));
    token[4096] = '\0';
    setenv("AWS_ACCESS_KEY_ID", "AK", 1);
    assert_refused(NULL, "keys of the environment: 'AWS_ACCESS_KEY_ID' is set", "'AWS_SECRET_ACCESS_KEY' is missing");
    setenv("AWS_SECRET_ACCESS_KEY", "a/b+c=", 1);
    assert_keys(NULL, "AK", "a/b+c=", "(none)");
    setenv("AWS_SESSION_TOKEN", token, 1);
    assert_keys(NULL, "AK", "a/b+c=", token);
    setenv("AWS_SECRET_ACCESS_KEY", "hidden \r\nhidden", 1);
    assert_refused(NULL, "the secret key has a blank", "at position 7 of");
}

static void a_profile_has_keys_region_and_endpoint(void **state)
{
    struct s3_keys k = { .id = NULL };
    struct weir_err err = WEIR_ERR_INIT;

    (void)state;
    put(".aws/credentials", "# keys\n[default]\naws_access_key_id = A\naws_secret_access_key=a/+=#;a\n\n"
                            "[x]\n  aws_access_key_id\t=\tX   ; mine\n  AWS_Secret_Access_Key = x\n  aws_session_token=t\n");
    put(".aws/config", "[default]\nregion=r-default\n[profile x]\nregion = r-x\nendpoint_url = http://h:1 # here\n"
                       "s3 =\n  region = nested\n  addressing_style = path\n");
    assert_keys(NULL, "A", "a/+=#;a", "(none)");
    assert_keys("x", "X", "x", "t");
    setenv("AWS_PROFILE", "x", 1);
    assert_keys(NULL, "X", "x", "t");
    assert_keys("default", "A", "a/+=#;a", "(none)");
    assert_int_equal(s3_keys_find(&k, NULL, &err), 0);
    assert_string_equal(k.region, "r-x");
    assert_string_equal(k.endpoint, "http://h:1");
    assert_non_null(strstr(k.from, "profile 'x' of "));
    s3_keys_free(&k);
    setenv("AWS_ACCESS_KEY_ID", "E", 1);
    setenv("AWS_SECRET_ACCESS_KEY", "e", 1);
    assert_keys(NULL, "E", "e", "(none)");
    assert_keys("x", "X", "x", "t");
}

static void files_of_other_systems_are_read(void **state)
{
    (void)state;
    put(".aws/credentials", "\xef\xbb\xbf[default]\r\naws_access_key_id = A\r\naws_secret_access_key = a\r\n\r\n");
    put(".aws/config", "[profile \"my own\"]\naws_access_key_id=B\naws_secret_access_key=b");
    assert_keys(NULL, "A", "a", "(none)");
    assert_keys("my own", "B", "b", "(none)");
    put(".aws/credentials", "");
    assert_keys(NULL, "(none)", "(none)", "(none)");
}

static void what_is_wrong_is_told_with_its_place(void **state)
{
    static const char *const rows[][3] = {
        { "[default]\naws_access_key_id = A\n", "profile 'default' of ", "'aws_secret_access_key' is missing" },
        { "[default]\naws_secret_access_key = hidden\n", "profile 'default' of ", "'aws_access_key_id' is missing" },
        { "[default]\naws_access_key_id=A\naws_secret_access_key=hidden\naws_secret_access_key=hidden\n",
          "/credentials:4: ", "a second 'aws_secret_access_key'" },
        { "[default]\naws_session_token=hidden\n", "session token", "'aws_access_key_id' is missing" },
        { "[default\n", "/credentials:1: ", "no ']'" },
        { "[default]\nhidden\n", "/credentials:2: ", "neither" },
        { "# of one\naws_access_key_id = hidden\n[default]\n", "/credentials:2: ", "before the first section" },
        { "[default]\naws_access_key_id=A\naws_secret_access_key=hidden hidden\n", "/credentials", "has a blank" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        put(".aws/credentials", rows[i][0]);
        assert_refused(NULL, rows[i][1], rows[i][2]);
    }
    put(".aws/credentials", "[a]\ncredential_process = x\n[profile b]\n");
    assert_refused("a", "profile 'a'", "export-credentials");
    assert_refused("b", "profile 'b' of --s3.profile is neither in ", "[profile b]");
    setenv("AWS_PROFILE", "c", 1);
    assert_refused(NULL, "profile 'c' of AWS_PROFILE is neither in ", "/.aws/config'");
    setenv("AWS_SHARED_CREDENTIALS_FILE", "/no/such/file", 1);
    assert_refused(NULL, "/no/such/file", "No such file");
    setenv("AWS_SHARED_CREDENTIALS_FILE", "/", 1);
    assert_refused(NULL, "'/'", "not a regular file");
    setenv("AWS_SHARED_CREDENTIALS_FILE", "~/.aws/other", 1);
    assert_refused(NULL, "/.aws/other", "No such file");
}

/* ---- core files ---- */

/* A process that dies with keys in its environment, after it has looked for them or not. */
static void die(bool looked)
{
    const struct rlimit any = { RLIM_INFINITY, RLIM_INFINITY };
    const struct s3_options o = { .endpoints = "http://h", .spread = "rank", .style = "path" };
    struct weir_par par = { .size = 1 };
    const struct weir_log silent = { .fd = 2, .rank = 1 };
    struct weir_session s = { .opt = &o, .par = &par, .log = &silent };
    struct s3_service sv;
    char secret[] = "core-00000000000000000000";

    for (size_t i = 5; secret[i]; i++) /* so that it is in no file of the program */
        secret[i] = (char)('a' + i % 7);
    setenv("AWS_ACCESS_KEY_ID", "A", 1);
    setenv("AWS_SECRET_ACCESS_KEY", secret, 1);
    setrlimit(RLIMIT_CORE, &any);
    signal(SIGABRT, SIG_DFL);
    if (looked && s3_service_begin(&sv, &s, NULL) < 0)
        _exit(1);
    abort();
}

/* 1: the secret is in the core file, 0: it is not, -1: there is no core file. */
static int core_has_secret(bool looked)
{
    const char secret[] = "core-fgabcdefgabcdefgabcd";
    static char text[64 << 20];
    pid_t pid = fork();
    size_t n;
    FILE *in;

    if (pid == 0)
        die(looked);
    assert_true(waitpid(pid, NULL, 0) == pid);
    in = fopen("core", "r");
    if (!in)
        return -1;
    n = fread(text, 1, sizeof(text), in);
    fclose(in);
    unlink("core");
    return memmem(text, n, secret, sizeof(secret) - 1) != NULL;
}

static void a_core_file_has_no_secret(void **state)
{
    (void)state;
    if (core_has_secret(false) != 1)
        skip(); /* core files of this system are elsewhere, or there are none */
    assert_int_not_equal(core_has_secret(true), 1);
}

#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(nowhere_are_no_keys),
        T(the_environment_has_keys),
        T(a_profile_has_keys_region_and_endpoint),
        T(files_of_other_systems_are_read),
        T(what_is_wrong_is_told_with_its_place),
        T(a_core_file_has_no_secret),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
