/* SPDX-License-Identifier: BSD-3-Clause */
/* test_session.c - the session over a backend that does what a script says */
#include "backends/session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#define ROOM 64
#define STEPS 8

/* One call of xfer: move at most n bytes, or fail with an errno; n < 0 without errno moves
 * everything. */
struct step {
    ssize_t n;
    int sys;
};
#define ALL                                                                                        \
    {                                                                                              \
        .n = -1                                                                                    \
    }

/* The fake backend's "file system" and script. It is handed over as the option struct. */
struct fake {
    struct step steps[STEPS];
    struct step rest; /* after the script; all zero: move everything */
    bool says_path;   /* errors name the file themselves */
    bool refuses, open_fails, close_fails, begin_fails, sync_fails;
    int xfers, syncs, opens, closes, begins, ends, checks, unlinks;
    int next;
    unsigned char data[ROOM];
};

struct fake_file {
    struct weir_file base;
    int unused[3];
};

static struct weir_backend_opt options(const struct fake *fake)
{
    return (struct weir_backend_opt) { .own = fake };
}

static struct fake *fake_of(const struct weir_session *s)
{
    return (struct fake *)(uintptr_t)s->opt;
}

static int fake_check(struct weir_session *s, const struct weir_extent *extent,
                      struct weir_err *err)
{
    (void)extent;
    fake_of(s)->checks++;
    assert_non_null(s->priv);
    return fake_of(s)->refuses ? weir_refuse(err, WEIR_EUSAGE, "not like this") : 0;
}

static int fake_begin(struct weir_session *s, struct weir_err *err)
{
    fake_of(s)->begins++;
    assert_int_equal(*(int *)s->priv, 0);
    return fake_of(s)->begin_fails ? weir_refuse(err, WEIR_ESETUP, "cannot begin") : 0;
}

static int fake_end(struct weir_session *s, struct weir_err *err)
{
    (void)err;
    fake_of(s)->ends++;
    return 0;
}

static int fake_open(struct weir_session *s, const char *path, unsigned flags, struct weir_file *f,
                     struct weir_err *err)
{
    (void)flags;
    fake_of(s)->opens++;
    assert_int_equal(((struct fake_file *)f)->unused[2], 0);
    errno = ENOENT;
    return fake_of(s)->open_fails ? weir_fail(err, WEIR_EIO, "open '%s'", path) : 0;
}

static int fake_close(struct weir_file *f, struct weir_err *err)
{
    fake_of(f->s)->closes++;
    errno = EDQUOT;
    return fake_of(f->s)->close_fails ? weir_fail(err, WEIR_EIO, "close '%s'", f->path) : 0;
}

static ssize_t fake_xfer(struct weir_file *f, const struct weir_io *io, struct weir_err *err)
{
    struct fake *fake = fake_of(f->s);
    struct step step = fake->next < STEPS ? fake->steps[fake->next++] : fake->rest;
    size_t n = io->len;

    fake->xfers++;
    if (step.n == 0 && step.sys == 0 && fake->next >= STEPS)
        step = (struct step)ALL;
    if (step.sys) {
        errno = step.sys;
        return fake->says_path ? weir_fail(err, WEIR_EIO, "put '%s'", f->path)
                               : weir_fail(err, WEIR_EIO, "put");
    }
    if (step.n >= 0)
        n = (size_t)step.n;
    if (io->off + n <= ROOM && n <= io->len)
        memcpy(io->dir == WEIR_DIR_WRITE ? fake->data + io->off : io->buf,
               io->dir == WEIR_DIR_WRITE ? io->buf : fake->data + io->off, n);
    return (ssize_t)n;
}

static int fake_sync(struct weir_file *f, struct weir_err *err)
{
    fake_of(f->s)->syncs++;
    errno = EIO;
    return fake_of(f->s)->sync_fails ? weir_fail(err, WEIR_EIO, "sync '%s'", f->path) : 0;
}

static int fake_unlink(struct weir_session *s, const char *path, struct weir_err *err)
{
    (void)path;
    (void)err;
    fake_of(s)->unlinks++;
    return 0;
}

static const struct weir_ns fake_ns = { .unlink = fake_unlink };

static const struct weir_backend fake_backend = {
    .abi = WEIR_BACKEND_ABI,
    .name = "FAKE",
    .brief = "Does what the script says",
    .prefix = "fake.",
    .flags = WEIR_BE_COLLECTIVE_XFER | WEIR_BE_COLLECTIVE_OPEN,
    .opt_size = sizeof(struct fake),
    .priv_size = sizeof(int),
    .file_size = sizeof(struct fake_file),
    .check = fake_check,
    .begin = fake_begin,
    .end = fake_end,
    .open = fake_open,
    .close = fake_close,
    .xfer = fake_xfer,
    .sync = fake_sync,
    .ns = &fake_ns,
};

/* A session with an open file, and a 16-byte write at offset 8. */
struct bench {
    struct fake fake;
    struct weir_access access;
    struct weir_par par;
    struct weir_session s;
    struct weir_file *f;
    unsigned char buf[16];
    struct weir_io io;
    uint64_t clock_ns;
    struct weir_err err;
};

/* Script: the steps given, then whole transfers. */
static struct bench *start(const struct step *steps, int n)
{
    struct bench *b = calloc(1, sizeof(*b));
    int i;

    assert_non_null(b);
    for (i = 0; i < STEPS; i++)
        b->fake.steps[i] = i < n ? steps[i] : (struct step)ALL;
    b->access = (struct weir_access) { .tasks = 1, .nodes = 1 };
    b->par = (struct weir_par) { .size = 1 };
    for (i = 0; i < 16; i++)
        b->buf[i] = (unsigned char)(i + 1);
    b->io = (struct weir_io) { .dir = WEIR_DIR_WRITE, .buf = b->buf, .len = 16, .off = 8 };
    assert_int_equal(weir_session_begin(&b->s, &fake_backend, options(&b->fake), &b->access,
                                        &b->par, NULL, &b->err),
                     0);
    assert_int_equal(weir_session_open(&b->s, "/x/f", WEIR_OPEN_WRITE, NULL, &b->f, &b->err), 0);
    return b;
}

static int transfer(struct bench *b)
{
    b->clock_ns = weir_now_ns();
    return weir_session_xfer(b->f, &b->io, &b->clock_ns, &b->err);
}

static void stop(struct bench *b)
{
    weir_session_close(b->f, NULL);
    assert_int_equal(weir_session_end(&b->s, NULL), 0);
    free(b);
}

static const struct weir_hist *latencies(const struct bench *b, enum weir_op op)
{
    return &b->s.stats->hist[op];
}

static void a_whole_transfer_takes_one_call_and_counts_once(void **state)
{
    struct bench *b = start(NULL, 0);
    uint64_t before = weir_now_ns();

    (void)state;
    assert_int_equal(transfer(b), 0);
    assert_int_equal(b->fake.xfers, 1);
    assert_memory_equal(b->fake.data + 8, b->buf, 16);
    assert_true(b->clock_ns >= before);
    assert_int_equal(latencies(b, WEIR_OP_XFER)->n, 1);
    assert_int_equal(latencies(b, WEIR_OP_SYNC)->n, 0);
    assert_int_equal(b->s.stats->short_transfers, 0);
    stop(b);
}

static void the_clock_of_the_caller_starts_the_interval(void **state)
{
    struct bench *b = start(NULL, 0);
    uint64_t begun = weir_now_ns() - 5000000000u;

    (void)state;
    b->clock_ns = begun;
    assert_int_equal(weir_session_xfer(b->f, &b->io, &b->clock_ns, &b->err), 0);
    assert_int_equal(latencies(b, WEIR_OP_XFER)->sum_ns, b->clock_ns - begun);
    stop(b);
}

static void short_transfers_are_continued_where_they_ended(void **state)
{
    static const struct step steps[] = { { .n = 5 }, { .n = 1 }, { .n = 9 } };
    struct bench *b = start(steps, 3);

    (void)state;
    assert_int_equal(transfer(b), 0);
    assert_int_equal(b->fake.xfers, 4);
    assert_memory_equal(b->fake.data + 8, b->buf, 16);
    assert_int_equal(b->s.stats->short_transfers, 3);
    assert_int_equal(latencies(b, WEIR_OP_XFER)->n, 1);
    stop(b);
}

static void eintr_is_tried_again_any_number_of_times(void **state)
{
    struct bench *b = start(NULL, 0);
    int i;

    (void)state;
    for (i = 0; i < STEPS; i++)
        b->fake.steps[i] = (struct step) { .sys = EINTR };
    b->fake.rest = (struct step)ALL;
    assert_int_equal(transfer(b), 0);
    assert_int_equal(b->fake.xfers, STEPS + 1);
    assert_int_equal(b->s.stats->retries, STEPS);
    assert_int_equal(b->err.code, WEIR_OK);
    assert_memory_equal(b->fake.data + 8, b->buf, 16);
    stop(b);
}

static void eagain_after_a_short_transfer_keeps_what_was_done(void **state)
{
    static const struct step steps[] = { { .n = 7 }, { .sys = EAGAIN }, { .n = 3 } };
    struct bench *b = start(steps, 3);

    (void)state;
    assert_int_equal(transfer(b), 0);
    assert_int_equal(b->fake.xfers, 4);
    assert_int_equal(b->s.stats->retries, 1);
    assert_int_equal(b->s.stats->short_transfers, 2);
    assert_memory_equal(b->fake.data + 8, b->buf, 16);
    stop(b);
}

static void an_error_names_file_offset_length_and_progress(void **state)
{
    static const struct step steps[] = { { .n = 4 }, { .sys = ENOSPC } };
    struct bench *b = start(steps, 2);

    (void)state;
    assert_int_equal(transfer(b), -1);
    assert_int_equal(b->err.code, WEIR_EIO);
    assert_int_equal(b->err.sys, ENOSPC);
    assert_int_equal(latencies(b, WEIR_OP_XFER)->n, 0);
    assert_string_equal(
        b->err.text, "write 16 bytes at offset 8 of '/x/f' (4 done): put: No space left on device");
    stop(b);
}

static void an_error_that_names_the_file_is_not_told_twice(void **state)
{
    static const struct step steps[] = { { .n = 4 }, { .sys = ENOSPC } };
    struct bench *b = start(steps, 2);

    (void)state;
    b->fake.says_path = true;
    assert_int_equal(transfer(b), -1);
    assert_string_equal(b->err.text, "after 4 of 16 bytes: put '/x/f': No space left on device");
    stop(b);
}

static void the_end_of_the_file_is_an_error_of_a_read(void **state)
{
    static const struct step steps[] = { { .n = 10 }, { .n = 0 } };
    struct bench *b = start(steps, 2);

    (void)state;
    b->io.dir = WEIR_DIR_READ;
    assert_int_equal(transfer(b), -1);
    assert_int_equal(b->err.code, WEIR_EIO);
    assert_string_equal(b->err.text, "read 16 bytes at offset 8 of '/x/f' (10 done): end of file");
    stop(b);
}

static void a_write_without_progress_is_an_error_not_a_loop(void **state)
{
    static const struct step steps[] = { { .n = 0 } };
    struct bench *b = start(steps, 1);

    (void)state;
    assert_int_equal(transfer(b), -1);
    assert_int_equal(b->fake.xfers, 1);
    assert_string_equal(b->err.text, "write 16 bytes at offset 8 of '/x/f' (0 done): no progress");
    stop(b);
}

static void a_single_try_refuses_to_continue(void **state)
{
    static const struct step steps[] = { { .n = 15 } };
    struct bench *b = start(steps, 1);

    (void)state;
    b->s.access.single_try = true;
    assert_int_equal(transfer(b), -1);
    assert_int_equal(b->fake.xfers, 1);
    assert_non_null(strstr(b->err.text, "(15 done)"));
    stop(b);
}

static void a_backend_that_reports_too_much_is_not_believed(void **state)
{
    static const struct step steps[] = { { .n = 17 } };
    struct bench *b = start(steps, 1);

    (void)state;
    assert_int_equal(transfer(b), -1);
    assert_non_null(strstr(b->err.text, "more bytes than requested"));
    stop(b);
}

static void a_collective_transfer_is_not_repeated_by_one_rank_alone(void **state)
{
    static const struct step steps[] = { { .n = 5 }, { .sys = EINTR } };
    struct bench *b = start(steps, 2);

    (void)state;
    b->s.access.collective = true;
    assert_int_equal(transfer(b), -1);
    assert_int_equal(b->fake.xfers, 1);
    assert_int_equal(transfer(b), -1);
    assert_int_equal(b->fake.xfers, 2);
    stop(b);
}

static void a_collective_transfer_of_a_private_file_is_continued(void **state)
{
    static const struct step steps[] = { { .n = 5 } };
    struct bench *b = start(steps, 1);

    (void)state;
    b->s.access.collective = b->s.access.file_per_task = true;
    assert_int_equal(transfer(b), 0);
    assert_int_equal(b->fake.xfers, 2);
    stop(b);
}

static void taking_part_with_nothing_calls_once_and_counts_nothing(void **state)
{
    struct bench *b = start(NULL, 0);

    (void)state;
    b->s.access.collective = true;
    b->io.len = 0;
    assert_int_equal(transfer(b), 0);
    assert_int_equal(b->fake.xfers, 1);
    assert_int_equal(latencies(b, WEIR_OP_XFER)->n, 0);
    stop(b);
}

static void each_write_is_synced_exactly_once(void **state)
{
    static const struct step steps[] = { { .n = 5 } };
    struct bench *b = start(steps, 1);

    (void)state;
    b->s.access.sync_each = true;
    assert_int_equal(transfer(b), 0);
    assert_int_equal(b->fake.syncs, 1);
    assert_int_equal(latencies(b, WEIR_OP_SYNC)->n, 1);
    assert_int_equal(latencies(b, WEIR_OP_XFER)->n, 1);
    assert_true(latencies(b, WEIR_OP_XFER)->sum_ns >= latencies(b, WEIR_OP_SYNC)->sum_ns);
    b->io.dir = WEIR_DIR_READ;
    assert_int_equal(transfer(b), 0);
    assert_int_equal(b->fake.syncs, 1);
    stop(b);
}

static void a_failing_sync_fails_the_write(void **state)
{
    struct bench *b = start(NULL, 0);

    (void)state;
    b->s.access.sync_each = true;
    b->fake.sync_fails = true;
    assert_int_equal(transfer(b), -1);
    assert_string_equal(b->err.text, "sync '/x/f': Input/output error");
    stop(b);
}

static void a_failed_write_still_meets_the_others_in_a_collective_sync(void **state)
{
    static const struct step steps[] = { { .sys = ENOSPC }, { .sys = ENOSPC }, { .sys = ENOSPC } };
    struct bench *b = start(steps, 3);

    (void)state;
    b->s.access.sync_each = true;
    b->fake.sync_fails = true;
    assert_int_equal(transfer(b), -1);
    assert_int_equal(b->fake.syncs, 0); /* an independent write meets nobody */
    b->s.access.collective = true;
    assert_int_equal(transfer(b), -1);
    assert_int_equal(b->fake.syncs, 1);
    assert_non_null(strstr(b->err.text, "No space left"));
    b->s.access.file_per_task = true;
    assert_int_equal(transfer(b), -1);
    assert_int_equal(b->fake.syncs, 1);
    stop(b);
}

static void errors_may_be_dropped_by_the_caller(void **state)
{
    static const struct step steps[] = { { .sys = EINTR }, { .n = 3 }, { .sys = EIO } };
    struct bench *b = start(steps, 3);

    (void)state;
    b->clock_ns = weir_now_ns();
    assert_int_equal(weir_session_xfer(b->f, &b->io, &b->clock_ns, NULL), -1);
    assert_int_equal(b->fake.xfers, 3);
    stop(b);
}

static void a_dry_run_touches_nothing(void **state)
{
    struct bench *b = calloc(1, sizeof(*b));
    uint64_t bytes = 0;
    bool yes = true;

    (void)state;
    assert_non_null(b);
    b->access = (struct weir_access) { .dry_run = true, .sync_each = true };
    b->io = (struct weir_io) { .dir = WEIR_DIR_WRITE, .buf = b->buf, .len = 16 };
    b->fake.open_fails = b->fake.close_fails = b->fake.sync_fails = b->fake.begin_fails = true;
    assert_int_equal(weir_session_begin(&b->s, &fake_backend, options(&b->fake), &b->access,
                                        &b->par, NULL, &b->err),
                     0);
    assert_int_equal(weir_session_open(&b->s, "/x/f", WEIR_OPEN_WRITE, NULL, &b->f, &b->err), 0);
    assert_int_equal(transfer(b), 0);
    assert_int_equal(weir_session_sync(b->f, &b->err), 0);
    assert_int_equal(weir_session_unlink(&b->s, "/x/f", &b->err), 0);
    assert_int_equal(weir_session_exists(&b->s, "/x/f", &yes, &b->err), 0);
    assert_false(yes);
    assert_int_equal(weir_session_size(&b->s, "/x/f", &bytes, &b->err), 0);
    assert_int_equal(bytes, 0);
    assert_int_equal(weir_session_close(b->f, &b->err), 0);
    b->f = NULL;
    assert_int_equal(b->fake.checks, 1); /* options are still judged */
    assert_int_equal(b->fake.begins + b->fake.opens + b->fake.xfers + b->fake.syncs +
                         b->fake.closes + b->fake.unlinks,
                     0);
    stop(b);
}

static void a_failing_check_or_begin_leaves_nothing(void **state)
{
    struct fake fake = { .refuses = true };
    struct weir_access access = { .tasks = 1 };
    struct weir_par par = { .size = 1 };
    struct weir_session s;
    struct weir_err err = WEIR_ERR_INIT;

    (void)state;
    assert_int_equal(
        weir_session_check(&fake_backend, options(&fake), &access, NULL, &par, NULL, &err), -1);
    assert_string_equal(err.text, "not like this");
    assert_int_equal(
        weir_session_begin(&s, &fake_backend, options(&fake), &access, &par, NULL, &err), -1);
    assert_int_equal(fake.begins, 0);
    assert_int_equal(weir_session_end(&s, &err), 0);
    fake.refuses = false;
    fake.begin_fails = true;
    assert_int_equal(
        weir_session_check(&fake_backend, options(&fake), &access, NULL, &par, NULL, &err), 0);
    assert_int_equal(
        weir_session_begin(&s, &fake_backend, options(&fake), &access, &par, NULL, &err), -1);
    assert_string_equal(err.text, "cannot begin");
    assert_int_equal(weir_session_end(&s, &err), 0);
    assert_int_equal(fake.ends, 0);
}

static void a_backend_of_another_interface_is_refused(void **state)
{
    struct weir_backend other = fake_backend;
    struct fake fake = { .xfers = 0 };
    struct weir_access access = { .tasks = 1 };
    struct weir_par par = { .size = 1 };
    struct weir_err err = WEIR_ERR_INIT;

    (void)state;
    other.abi = WEIR_BACKEND_ABI + 1;
    assert_int_equal(weir_session_check(&other, options(&fake), &access, NULL, &par, NULL, &err),
                     -1);
    assert_int_equal(err.code, WEIR_EBUG);
}

static void a_failing_open_gives_no_file_and_is_measured(void **state)
{
    struct bench *b = start(NULL, 0);
    struct weir_file *f = b->f;

    (void)state;
    b->fake.open_fails = true;
    assert_int_equal(weir_session_open(&b->s, "/x/g", WEIR_OPEN_READ, NULL, &f, &b->err), -1);
    assert_null(f);
    assert_string_equal(b->err.text, "open '/x/g': No such file or directory");
    assert_int_equal(latencies(b, WEIR_OP_OPEN)->n, 2);
    stop(b);
}

static void a_failing_close_reports_and_still_frees(void **state)
{
    struct bench *b = start(NULL, 0);

    (void)state;
    b->fake.close_fails = true;
    assert_int_equal(weir_session_close(b->f, &b->err), -1);
    assert_string_equal(b->err.text, "close '/x/f': Disk quota exceeded");
    assert_int_equal(latencies(b, WEIR_OP_CLOSE)->n, 1);
    b->f = NULL;
    stop(b);
}

static void closing_no_file_is_fine(void **state)
{
    (void)state;
    assert_int_equal(weir_session_close(NULL, NULL), 0);
}

static void what_a_backend_cannot_do_is_said_with_its_name(void **state)
{
    struct bench *b = start(NULL, 0);
    struct weir_backend bare = fake_backend;
    struct weir_fs_usage usage;

    (void)state;
    assert_int_equal(weir_session_mkdir(&b->s, "/x/d", 0755, &b->err), -1);
    assert_int_equal(b->err.code, WEIR_EUSAGE);
    assert_string_equal(b->err.text, "FAKE cannot create directories (needed for '/x/d')");
    assert_int_equal(weir_session_usage(&b->s, "/x/f", &usage, &b->err), -1);
    bare.ns = NULL;
    b->s.be = &bare;
    assert_int_equal(weir_session_unlink(&b->s, "/x/f", &b->err), -1);
    assert_string_equal(b->err.text, "FAKE cannot remove files (needed for '/x/f')");
    b->s.be = &fake_backend;
    assert_int_equal(weir_session_unlink(&b->s, "/x/f", &b->err), 0);
    stop(b);
}

static void the_options_of_the_base_come_along(void **state)
{
    struct bench *b = start(NULL, 0);
    struct weir_session s;
    struct weir_backend_opt both = { .own = &b->fake, .base = &b->par };

    (void)state;
    assert_int_equal(
        weir_session_begin(&s, &fake_backend, both, &b->access, &b->par, NULL, &b->err), 0);
    assert_ptr_equal(s.opt, &b->fake);
    assert_ptr_equal(s.base_opt, &b->par);
    assert_int_equal(weir_session_end(&s, &b->err), 0);
    stop(b);
}

static void a_backend_without_sync_is_always_in_sync(void **state)
{
    struct bench *b = start(NULL, 0);
    struct weir_backend bare = fake_backend;

    (void)state;
    bare.sync = NULL;
    b->s.be = &bare;
    b->s.access.sync_each = true;
    assert_int_equal(transfer(b), 0);
    assert_int_equal(weir_session_sync(b->f, &b->err), 0);
    assert_int_equal(b->fake.syncs, 0);
    stop(b);
}

static void a_reset_forgets_every_latency(void **state)
{
    static const struct step steps[] = { { .n = 5 } };
    struct bench *b = start(steps, 1);

    (void)state;
    assert_int_equal(transfer(b), 0);
    weir_session_reset(&b->s);
    assert_int_equal(latencies(b, WEIR_OP_XFER)->n, 0);
    assert_int_equal(latencies(b, WEIR_OP_OPEN)->n, 0);
    assert_int_equal(b->s.stats->short_transfers, 0);
    stop(b);
}

static void an_open_takes_the_memory_that_was_reserved_for_its_path(void **state)
{
    struct bench *b = start(NULL, 0);
    struct weir_file *reserved, *f;

    (void)state;
    assert_int_equal(weir_session_reserve(&b->s, "/x/g", &b->err), 0);
    reserved = b->s.reserved;
    assert_non_null(reserved);
    assert_int_equal(b->fake.opens, 1);
    assert_int_equal(weir_session_open(&b->s, "/x/h", WEIR_OPEN_READ, NULL, &f, &b->err), 0);
    assert_ptr_not_equal(f, reserved);
    assert_int_equal(weir_session_close(f, &b->err), 0);
    assert_int_equal(weir_session_open(&b->s, "/x/g", WEIR_OPEN_READ, NULL, &f, &b->err), 0);
    assert_ptr_equal(f, reserved);
    assert_null(b->s.reserved);
    assert_string_equal(f->path, "/x/g");
    assert_int_equal(weir_session_close(f, &b->err), 0);
    assert_int_equal(weir_session_reserve(&b->s, "/x/g", &b->err), 0); /* the end releases it */
    stop(b);
}

static void the_path_is_kept_by_the_file(void **state)
{
    struct bench *b = start(NULL, 0);
    char *path = malloc(5001);
    struct weir_file *f;

    (void)state;
    assert_non_null(path);
    memset(path, 'p', 5000);
    path[5000] = '\0';
    assert_int_equal(weir_session_open(&b->s, path, WEIR_OPEN_READ, NULL, &f, &b->err), 0);
    memset(path, 'q', 5000);
    assert_int_equal(strlen(f->path), 5000);
    assert_int_equal(f->path[4999], 'p');
    assert_int_equal(weir_session_close(f, &b->err), 0);
    free(path);
    stop(b);
}

/* ---- what is at a name ---- */

/* Something of each kind in a directory of its own, and what is said of it. */
static const struct at_name {
    const char *name, *given, *own; /* NULL: admitted */
    enum weir_intent intent;
} at_names[] = {
    { "missing", NULL, NULL, WEIR_INTENT_REPLACE },
    { "file", NULL, NULL, WEIR_INTENT_REPLACE },
    { "pipe", "a pipe or socket", "a pipe or socket", WEIR_INTENT_READ },
    { "dir", "a directory", "a directory", WEIR_INTENT_READ },
    { "to-file", NULL, "a symbolic link", WEIR_INTENT_REPLACE },
    { "to-pipe", "a pipe or socket", "a symbolic link", WEIR_INTENT_WRITE },
    { "to-nothing", NULL, "a symbolic link", WEIR_INTENT_REPLACE },
    { "loop", "loop", "a symbolic link", WEIR_INTENT_READ },
    { "to-device", NULL, "a symbolic link", WEIR_INTENT_WRITE },
    { "to-device", "a device, which would be removed; give -x", "a symbolic link",
      WEIR_INTENT_REPLACE },
};

static void make_names(char *dir)
{
    assert_non_null(mkdtemp(dir));
    assert_int_equal(chdir(dir), 0);
    assert_int_equal(close(open("file", O_WRONLY | O_CREAT, 0600)), 0);
    assert_int_equal(mkfifo("pipe", 0600) + mkdir("dir", 0700), 0);
    assert_int_equal(symlink("file", "to-file") + symlink("pipe", "to-pipe"), 0);
    assert_int_equal(symlink("nothing", "to-nothing") + symlink("loop", "loop"), 0);
    assert_int_equal(symlink("/dev/null", "to-device"), 0); /* is looked at, never opened */
}

static void remove_names(const char *dir)
{
    static const char *const files[] = { "file",       "pipe", "to-file",  "to-pipe",
                                         "to-nothing", "loop", "to-device" };

    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
        assert_int_equal(unlink(files[i]), 0); /* so it is still there */
    assert_int_equal(rmdir("dir"), 0);
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(rmdir(dir), 0);
}

static void check_names(struct bench *b, enum weir_code code)
{
    for (size_t i = 0; i < sizeof(at_names) / sizeof(*at_names); i++) {
        const struct at_name *n = &at_names[i];
        const char *said = b->s.access.own_names ? n->own : n->given;

        b->err = (struct weir_err)WEIR_ERR_INIT;
        assert_int_equal(weir_session_admit(&b->s, n->name, n->intent, &b->err), said ? -1 : 0);
        if (!said)
            continue;
        assert_non_null(strstr(b->err.text, n->name));
        assert_non_null(strstr(b->err.text, said));
        assert_int_equal(b->err.code, strcmp(said, "loop") == 0 ? WEIR_EUSAGE : code);
    }
}

static void only_files_are_admitted_and_removed(void **state)
{
    char dir[] = "/tmp/weir-names-XXXXXX";
    struct bench *b = start(NULL, 0);

    (void)state;
    make_names(dir);
    b->s.access.in_place = "-x";
    b->s.opened = false; /* the first look: the words of the user are wrong */
    check_names(b, WEIR_EUSAGE);
    b->s.access.own_names = true;
    check_names(b, WEIR_EUSAGE);
    b->s.opened = true; /* it was a file: something has changed */
    check_names(b, WEIR_EIO);
    for (int i = 2; i < 10; i++)
        assert_int_equal(weir_session_unlink(&b->s, at_names[i].name, &b->err), -1);
    assert_int_equal(b->fake.unlinks, 0);
    assert_int_equal(weir_session_unlink(&b->s, "file", &b->err), 0);
    assert_int_equal(b->fake.unlinks, 1);
    remove_names(dir);
    stop(b);
}

/* Of many files of a library, each is looked at before the library opens it. */
static void a_library_opens_no_pipe_in_a_slot(void **state)
{
    struct weir_backend library = fake_backend;
    char dir[] = "/tmp/weir-names-XXXXXX";
    struct bench *b = start(NULL, 0);
    struct weir_file *slot = weir_session_slot(&b->s, &b->err);
    int before = b->fake.opens;

    (void)state;
    make_names(dir);
    library.flags |= WEIR_BE_NEEDS_MPI;
    b->s.be = &library;
    b->s.access.own_names = true;
    assert_int_equal(weir_session_open_slot(&b->s, slot, "pipe", WEIR_OPEN_READ, NULL, &b->err), -1);
    assert_int_equal(weir_session_open_slot(&b->s, slot, "to-file", WEIR_OPEN_READ, NULL, &b->err),
                     -1);
    assert_int_equal(b->fake.opens, before);
    assert_int_equal(weir_session_open_slot(&b->s, slot, "file", WEIR_OPEN_READ, NULL, &b->err), 0);
    assert_int_equal(weir_session_close_slot(slot, &b->err), 0);
    b->s.be = &fake_backend;
    free(slot);
    remove_names(dir);
    stop(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_transfer_takes_one_call_and_counts_once),
        cmocka_unit_test(the_clock_of_the_caller_starts_the_interval),
        cmocka_unit_test(short_transfers_are_continued_where_they_ended),
        cmocka_unit_test(eintr_is_tried_again_any_number_of_times),
        cmocka_unit_test(eagain_after_a_short_transfer_keeps_what_was_done),
        cmocka_unit_test(an_error_names_file_offset_length_and_progress),
        cmocka_unit_test(an_error_that_names_the_file_is_not_told_twice),
        cmocka_unit_test(the_end_of_the_file_is_an_error_of_a_read),
        cmocka_unit_test(a_write_without_progress_is_an_error_not_a_loop),
        cmocka_unit_test(a_single_try_refuses_to_continue),
        cmocka_unit_test(a_backend_that_reports_too_much_is_not_believed),
        cmocka_unit_test(a_collective_transfer_is_not_repeated_by_one_rank_alone),
        cmocka_unit_test(a_collective_transfer_of_a_private_file_is_continued),
        cmocka_unit_test(taking_part_with_nothing_calls_once_and_counts_nothing),
        cmocka_unit_test(each_write_is_synced_exactly_once),
        cmocka_unit_test(a_failing_sync_fails_the_write),
        cmocka_unit_test(a_failed_write_still_meets_the_others_in_a_collective_sync),
        cmocka_unit_test(errors_may_be_dropped_by_the_caller),
        cmocka_unit_test(a_dry_run_touches_nothing),
        cmocka_unit_test(a_failing_check_or_begin_leaves_nothing),
        cmocka_unit_test(a_backend_of_another_interface_is_refused),
        cmocka_unit_test(a_failing_open_gives_no_file_and_is_measured),
        cmocka_unit_test(a_failing_close_reports_and_still_frees),
        cmocka_unit_test(closing_no_file_is_fine),
        cmocka_unit_test(what_a_backend_cannot_do_is_said_with_its_name),
        cmocka_unit_test(the_options_of_the_base_come_along),
        cmocka_unit_test(a_backend_without_sync_is_always_in_sync),
        cmocka_unit_test(a_reset_forgets_every_latency),
        cmocka_unit_test(the_path_is_kept_by_the_file),
        cmocka_unit_test(only_files_are_admitted_and_removed),
        cmocka_unit_test(a_library_opens_no_pipe_in_a_slot),
        cmocka_unit_test(an_open_takes_the_memory_that_was_reserved_for_its_path),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
