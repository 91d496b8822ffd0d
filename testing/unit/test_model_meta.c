/* SPDX-License-Identifier: BSD-3-Clause */
/* test_model_meta.c - model_checkpoint: metadata that are damaged are refused, and only names of ours are checkpoints */
#include "programs/model_checkpoint/mc.h"

#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/rng.h"

static const char head[] = "weir model_checkpoint 1\nstep = 7\nsequence = 3\nlayout = torch\napi = POSIX\nranks = 4\ntp = 2\npp = 1\n"
                           "dp = 2\nep = 1\nzero = 1\nspread = 1\ndtype = bf16\noptimizer = adam\nalign = 4096\nbytes = 15120\n";
static const char model[] = "model {\nname = \"m\"\nlayers = 2\nhidden = 8\nheads = 2\nffn = 8\nvocabulary = 9\n}\n";
static const char regions[] = "region rank-000000.data 0 0 4096 8192 2\nregion rank-000003.data 3 0 4096 12288 15\n";
static char *whole_text(void)
{
    struct weir_str s = { 0 };

    weir_str_addf(&s, "%s%s%s", head, model, regions);
    assert_non_null(s.text);
    weir_str_addf(&s, "end %016" PRIx64 "\n", weir_hash(WEIR_HASH_BEGIN, s.text, s.len));
    return s.text;
}

/* Read a copy; the text of an error must name the file. */
static int read_text(const char *text, size_t len, struct mc_meta *m, struct weir_err *err)
{
    char *copy = malloc(len + 1);
    int rc;

    assert_non_null(copy);
    memcpy(copy, text, len);
    copy[len] = '\0';
    *err = (struct weir_err) WEIR_ERR_INIT;
    rc = mc_meta_read(m, copy, len, "d/metadata", err);
    if (rc < 0) {
        assert_int_equal(err->code, WEIR_EDATA);
        if (!strstr(err->text, "d/metadata"))
            fail_msg("%s", err->text);
    }
    return rc;
}

static void test_metadata_are_read_as_they_were_written(void **state)
{
    char *text = whole_text();
    struct weir_err err;
    struct mc_meta m;

    (void)state;
    assert_int_equal(read_text(text, strlen(text), &m, &err), 0);
    assert_true(m.first == 0 && m.last == 3); /* all of them */
    assert_true(m.step == 7 && m.sequence == 3 && m.ranks == 4 && m.align == 4096 && m.layout == MC_TORCH && m.regions == 2);
    assert_true(m.job.shape.tp == 2 && m.job.shape.dp == 2 && m.job.shape.zero == 1 && m.job.shape.spread && m.job.model.hidden == 8);
    assert_string_equal(m.region[1].file, "rank-000003.data");
    assert_true(m.region[1].rank == 3 && m.region[1].head == 4096 && m.region[1].bytes == 12288 && m.region[1].lines == 15);
    mc_meta_free(&m);
    free(text);
}

static void test_metadata_that_end_early_or_go_on_are_refused(void **state)
{
    char *text = whole_text(), longer[4096];
    struct weir_err err;
    struct mc_meta m;

    (void)state;
    for (size_t len = 0; len < strlen(text); len++) {
        if (read_text(text, len, &m, &err) == 0)
            fail_msg("%d bytes are enough", (int)len);
        mc_meta_free(&m);
    }
    snprintf(longer, sizeof(longer), "%s%s", text, text + strlen(text) - 21);
    assert_int_equal(read_text(longer, strlen(longer), &m, &err), -1);
    mc_meta_free(&m);
    assert_int_equal(read_text(longer, strlen(text) + 1, &m, &err), -1); /* one letter more */
    mc_meta_free(&m);
    free(text);
}

/* And no crash. For sanitizers. */
static void test_metadata_with_any_other_byte_are_refused(void **state)
{
    char *text = whole_text();
    size_t len = strlen(text);

    (void)state;
    for (uint64_t i = 0; i < 20000; i++) {
        size_t at = (size_t)(weir_rng_at(3, 2 * i) % len);
        char byte = (char)(weir_rng_at(3, 2 * i + 1) % (i % 2 ? 256 : 10) + (i % 2 ? 0 : '0')), old = text[at];
        struct weir_err err;
        struct mc_meta m;

        text[at] = byte;
        assert_int_equal(read_text(text, len, &m, &err), byte == old ? 0 : -1);
        mc_meta_free(&m);
        text[at] = old;
    }
    free(text);
}

static void test_what_cannot_be_is_refused_with_words(void **state)
{
    static const struct {
        const char *from, *to, *words;
    } wrong[] = {
        { "checkpoint 1", "checkpoint 2", "line 1: 'weir model_checkpoint 2' is not understood" },
        { "step", "stop", "line 2: 'stop = 7' is not understood" },
        { "torch", "torsh", "is incomplete" },
        { "hidden = 8", "hiddun = 8", "d/metadata:20: unknown option 'hiddun'" },
        { "hidden = 8", "hidden = 9", "hidden = 9 is no multiple of heads = 2" },
        { "tp = 2", "tp = 3", "which tp=3 does not divide" },
        { "ranks = 4", "ranks = 5", "need 4 ranks, and there are 5" },
        { "ranks = 4", "ranks = 4\nfirst = 2\nlast = 4", "is incomplete" }, /* --play */
        { "ranks = 4", "ranks = 4\nfirst = 3\nlast = 2", "is incomplete" },
        { "bf16", "bf17", "dtype: use bf16" },
        { "zero = 1", "zero = 4", "zero=4" },
        { "region rank-000000.data", "region ../../passwd", "is not understood" },
        { "region rank-000000.data", "region /etc/passwd", "is not understood" },
        { "region rank-000000.data 0", "region rank-000000.data 4",
          "line 25: 'region rank-000000.data 4" },
        { "4096 8192 2", "4096 4095 2", "is not understood" },
        { "4096 12288 15", "4096 12288 16", "is not understood" }, /* its lines do not fit */
        { "region rank-000003.data 3 0 4096 12288 15\n", "region rank-000003.data 3 0 4096 12288\n",
          "is not understood" },
        { "}\n", "]\n", "the model has no closing '}'" },
        { "align = 4096", "align = 0", "is not" },
        { "bytes = ", "bytes = 9", "but the tensors of the model have" },
        { "region rank-000003.data 3", "region rank-000000.data 0",
          "is not understood" }, /* twice */
        { "\"m\"", "\"n\"", "the checksum in the last line is wrong" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char *text = whole_text(), *at = strstr(text, wrong[i].from), changed[4096];
        struct weir_err err;
        struct mc_meta m;

        assert_non_null(at);
        snprintf(changed, sizeof(changed), "%.*s%s%s", (int)(at - text), text, wrong[i].to, at + strlen(wrong[i].from));
        if (read_text(changed, strlen(changed), &m, &err) == 0)
            fail_msg("'%s' is accepted", wrong[i].to);
        if (!strstr(err.text, wrong[i].words))
            fail_msg("'%s' is not in: %s", wrong[i].words, err.text);
        mc_meta_free(&m);
        free(text);
    }
}

/* ---- the directory ---- */

static void make(const char *dir, const char *name, bool is_dir)
{
    char path[512];

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    if (is_dir)
        assert_int_equal(mkdir(path, 0777), 0);
    else
        assert_true(close(open(path, O_CREAT | O_EXCL | O_WRONLY, 0666)) == 0);
}

static void test_only_names_of_ours_are_checkpoints_or_left_ones(void **state)
{
    static const char *const names[] = { "checkpoint-00000012", "checkpoint-00000009", "checkpoint-123456789", ".checkpoint-00000013.staged",
                                         ".checkpoint-00000002.removed", "checkpoint-7", "checkpoint-00000010.tmp", "checkpoint-0000001x",
                                         ".checkpoint-00000014.stagedx", "xcheckpoint-00000015", "checkpoint-99999999999999999999" };
    static const struct mc_seen seen[] = { { MC_PUBLISHED, 9 }, { MC_PUBLISHED, 12 }, { MC_PUBLISHED, 123456789 },
                                           { MC_STAGED, 13 }, { MC_REMOVED, 2 } };
    char dir[] = "/tmp/test_model_meta.XXXXXX", path[512];
    struct mc_options o = { .path = dir };
    struct mc_test t = { .o = &o, .store = &mc_directories };
    struct weir_err err = WEIR_ERR_INIT;
    struct mc_found f;

    (void)state;
    assert_non_null(mkdtemp(dir));
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        make(dir, names[i], true);
    make(dir, "checkpoint-200000000", false);
    assert_int_equal(mc_place_scan(&t, &f, &err), 0);
    assert_true(f.published == 3 && f.n == 5);
    for (size_t i = 0; i < f.n; i++)
        assert_true(f.at[i].what == seen[i].what && f.at[i].step == seen[i].step);
    assert_int_equal(f.last, 200000000);
    free(f.at);
    snprintf(path, sizeof(path), "%s/checkpoint-200000000", dir);
    assert_int_equal(unlink(path), 0);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
        assert_int_equal(rmdir(path), 0);
    }
    assert_int_equal(rmdir(dir), 0);
    assert_int_equal(mc_place_scan(&t, &f, &err), 0); /* what is not there has nothing */
    assert_true(f.n == 0 && f.last == -1);
}

static void test_a_checkpoint_with_anything_else_in_it_is_not_removed(void **state)
{
    static const char *const ours[] = { "metadata", "rank-000000.data", "tp-000-pp-001.data", "optimizer-rank-000001.data" };
    static const char *const others[] = { "mine", "rank-000000.dat", "metadata~", "checkpoint.data.bak" };
    char dir[] = "/tmp/test_model_meta.XXXXXX", path[512];
    struct mc_options o = { .path = dir };
    struct mc_test t = { .o = &o, .store = &mc_directories };
    struct weir_err err = WEIR_ERR_INIT;
    bool stays;

    (void)state;
    assert_non_null(mkdtemp(dir));
    for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
        make(dir, ours[i], false);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        make(dir, others[i], false);
        assert_int_equal(mc_place_remove(&t, dir, &stays, &err), 0);
        assert_true(stays);
        snprintf(path, sizeof(path), "%s/%s", dir, others[i]);
        assert_int_equal(unlink(path), 0);
    }
    snprintf(path, sizeof(path), "%s/rank-000009.data", dir); /* a link to somewhere */
    assert_int_equal(symlink("/etc/passwd", path), 0);
    assert_int_equal(mc_place_remove(&t, dir, &stays, &err), 0);
    assert_true(stays);
    assert_int_equal(unlink(path), 0);
    make(dir, "rank-000009.data", true); /* a directory */
    assert_int_equal(mc_place_remove(&t, dir, &stays, &err), 0);
    assert_true(stays);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(mc_place_remove(&t, dir, &stays, &err), 0);
    assert_false(stays);
    assert_int_equal(access(dir, F_OK), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_metadata_are_read_as_they_were_written),
        cmocka_unit_test(test_metadata_that_end_early_or_go_on_are_refused),
        cmocka_unit_test(test_metadata_with_any_other_byte_are_refused),
        cmocka_unit_test(test_what_cannot_be_is_refused_with_words),
        cmocka_unit_test(test_only_names_of_ours_are_checkpoints_or_left_ones),
        cmocka_unit_test(test_a_checkpoint_with_anything_else_in_it_is_not_removed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
