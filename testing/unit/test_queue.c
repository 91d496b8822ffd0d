/* SPDX-License-Identifier: BSD-3-Clause */
/* test_queue.c - several transfers in flight: a backend that completes them in another order, in part,
 * or not at all */
#include "backends/session/queue.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ROOM 256 /* bytes of the fake file */
#define DEPTH 4  /* of its queue */
#define LEN 16   /* of a transfer */

/* The outcome of the transfer at an offset, in the queue. All zero: all is moved. */
struct outcome {
    uint64_t off;
    bool set;
    ssize_t n; /* bytes moved */
    int sys;   /* or this errno */
};

/* The fake backend's "file system" and script. It is handed over as the option struct. */
struct fake {
    unsigned char data[ROOM];
    struct outcome outcomes[DEPTH];
    struct weir_request *held[DEPTH]; /* in flight, in the order of submission */
    int n_held, depth;
    bool refuses, lost; /* submit; complete */
    int xfers, syncs, closes, most_held, completes;
    int xfer_sys; /* errno of xfer, which is called for the rest */
};

static struct fake *fake_of(const struct weir_session *s)
{
    return (struct fake *)(uintptr_t)s->opt;
}

static ssize_t move_bytes(struct fake *fake, const struct weir_io *io, size_t n)
{
    if (io->dir == WEIR_DIR_WRITE)
        memcpy(fake->data + io->off, io->buf, n);
    else
        memcpy(io->buf, fake->data + io->off, n);
    return (ssize_t)n;
}

static int fake_begin(struct weir_session *s, struct weir_err *err)
{
    (void)err;
    s->depth = DEPTH;
    return 0;
}

static int fake_open(struct weir_session *s, const char *path, unsigned flags, struct weir_file *f,
                     struct weir_err *err)
{
    (void)s;
    (void)path;
    (void)flags;
    (void)f;
    (void)err;
    return 0;
}

static int fake_close(struct weir_file *f, struct weir_err *err)
{
    (void)err;
    assert_int_equal(f->in_flight, 0);
    fake_of(f->s)->closes++;
    return 0;
}

static int fake_sync(struct weir_file *f, struct weir_err *err)
{
    (void)err;
    fake_of(f->s)->syncs++;
    return 0;
}

static ssize_t fake_xfer(struct weir_file *f, const struct weir_io *io, struct weir_err *err)
{
    struct fake *fake = fake_of(f->s);

    fake->xfers++;
    errno = fake->xfer_sys;
    return errno ? weir_fail(err, WEIR_EIO, "xfer") : move_bytes(fake, io, io->len);
}

static int fake_queue(struct weir_session *s, int depth, struct weir_err *err)
{
    (void)err;
    fake_of(s)->depth = depth;
    return 0;
}

static int fake_submit(struct weir_request *r, struct weir_err *err)
{
    struct fake *fake = fake_of(r->file->s);

    errno = EBADF;
    if (fake->refuses)
        return weir_fail(err, WEIR_EIO, "submit");
    assert_true(fake->n_held < fake->depth);
    fake->held[fake->n_held++] = r;
    if (fake->n_held > fake->most_held)
        fake->most_held = fake->n_held;
    return 0;
}

static void fake_end(struct fake *fake, struct weir_request *r)
{
    r->n = (ssize_t)r->io.len;
    r->sys = 0;
    for (int i = 0; i < DEPTH; i++)
        if (fake->outcomes[i].set && fake->outcomes[i].off == r->io.off) {
            r->n = fake->outcomes[i].sys ? -1 : fake->outcomes[i].n;
            r->sys = fake->outcomes[i].sys;
        }
    if (r->n > 0)
        move_bytes(fake, &r->io, (size_t)r->n);
}

/* The last that was submitted comes back first; no more than two at a time. */
static int fake_complete(struct weir_file *f, int least, int most, struct weir_request **done,
                         struct weir_err *err)
{
    struct fake *fake = fake_of(f->s);
    int n = 0;

    fake->completes++;
    assert_true(least <= fake->n_held);
    errno = EFAULT;
    if (fake->lost)
        return weir_fail(err, WEIR_EIO, "wait for '%s'", f->path);
    for (; n < most && fake->n_held > 0 && (n < 2 || n < least); n++) {
        done[n] = fake->held[--fake->n_held];
        fake_end(fake, done[n]);
    }
    return n;
}

static const struct weir_backend fake_backend = {
    .abi = WEIR_BACKEND_ABI,
    .name = "FAKE",
    .brief = "Does what the script says",
    .prefix = "fake.",
    .flags = WEIR_BE_COLLECTIVE_XFER,
    .opt_size = sizeof(struct fake),
    .file_size = sizeof(struct weir_file),
    .begin = fake_begin,
    .open = fake_open,
    .close = fake_close,
    .xfer = fake_xfer,
    .depth_option = "depth",
    .queue = fake_queue,
    .submit = fake_submit,
    .complete = fake_complete,
    .sync = fake_sync,
};

/* A session with a queue and an open file. */
struct bench {
    struct fake fake;
    struct weir_access access;
    struct weir_par par;
    struct weir_session s;
    struct weir_queue q;
    struct weir_file *f;
    unsigned char buf[DEPTH][LEN]; /* of requests that are not the queue's */
    uint64_t clock_ns;
    struct weir_err err;
};

static struct bench *start_with(const struct weir_backend *be, struct weir_access access)
{
    struct bench *b = calloc(1, sizeof(*b));

    assert_non_null(b);
    b->access = access;
    b->par = (struct weir_par) { .size = 1 };
    b->clock_ns = weir_now_ns();
    assert_int_equal(weir_session_begin(&b->s, be, (struct weir_backend_opt) { .own = &b->fake },
                                        &b->access, &b->par, NULL, &b->err),
                     0);
    assert_int_equal(weir_session_open(&b->s, "/x/f", WEIR_OPEN_WRITE, NULL, &b->f, &b->err), 0);
    return b;
}

static struct bench *start(void)
{
    struct bench *b = start_with(&fake_backend, (struct weir_access) { .tasks = 1 });

    assert_int_equal(weir_queue_begin(&b->q, &b->s, UINT64_MAX, LEN, (struct iovec) { 0 }, &b->err), 0);
    return b;
}

static void stop(struct bench *b)
{
    if (b->f)
        assert_int_equal(weir_session_close(b->f, &b->err), 0);
    assert_int_equal(weir_session_end(&b->s, &b->err), 0);
    weir_queue_end(&b->q);
    free(b);
}

/* Submit a transfer at an offset. */
static int put(struct bench *b, enum weir_dir dir, uint64_t off)
{
    struct weir_request *r = weir_queue_take(&b->q);

    assert_non_null(r);
    r->file = b->f;
    r->io = (struct weir_io) {
        .dir = dir, .buf = weir_queue_buffer(&b->q, r), .len = LEN, .off = off, .tag = off / LEN
    };
    if (dir == WEIR_DIR_WRITE)
        memset(r->io.buf, 'a' + (int)(off / LEN), LEN);
    return weir_queue_submit(&b->q, r, &b->clock_ns, &b->err);
}

static int get(struct bench *b, int least)
{
    return weir_queue_complete(&b->q, b->f, least, &b->clock_ns, &b->err);
}

static bool is_whole(const struct fake *fake, uint64_t off)
{
    for (int i = 0; i < LEN; i++)
        if (fake->data[off + (uint64_t)i] != 'a' + (int)(off / LEN))
            return false;
    return true;
}

static uint64_t latencies(const struct bench *b)
{
    return b->s.stats->hist[WEIR_OP_XFER].n;
}

/* ---- order, depth, times ---- */

static void transfers_end_in_any_order_with_times_of_their_own(void **state)
{
    struct bench *b = start();
    uint64_t begin[DEPTH];

    (void)state;
    for (unsigned i = 0; i < DEPTH; i++) {
        begin[i] = b->clock_ns;
        assert_int_equal(put(b, WEIR_DIR_WRITE, i * LEN), 0);
        weir_sleep_ns(1000000);
    }
    assert_null(weir_queue_take(&b->q));
    assert_int_equal(b->s.in_flight, DEPTH);
    assert_int_equal(b->f->in_flight, DEPTH);
    assert_int_equal(latencies(b), 0);
    for (unsigned last = DEPTH; last > 0; last -= 2) {
        assert_int_equal(get(b, 1), 2);
        assert_int_equal(b->q.done[0]->io.tag, last - 1);
        assert_int_equal(b->q.done[1]->io.tag, last - 2);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(b->q.done[i]->n, LEN);
            assert_int_equal(b->q.done[i]->begin_ns, begin[b->q.done[i]->io.tag]);
            assert_int_equal(b->q.done[i]->end_ns, b->clock_ns);
        }
        weir_sleep_ns(1000000);
    }
    assert_int_equal(latencies(b), DEPTH);
    assert_true(b->s.stats->hist[WEIR_OP_XFER].max_ns >= (DEPTH + 1) * 1000000);
    assert_int_equal(weir_queue_in_flight(&b->q) + b->s.in_flight + b->f->in_flight, 0);
    assert_true(is_whole(&b->fake, 0) && is_whole(&b->fake, (DEPTH - 1) * LEN));
    assert_int_equal(b->fake.xfers, 0);
    stop(b);
}

/* The last ends first; the watchdog sees the first until it has ended, and then no call. */
static void the_oldest_transfer_is_the_call_that_is_watched(void **state)
{
    struct bench *b = start();
    struct weir_call call = { 0 };
    uint64_t version;

    (void)state;
    b->s.call = &call;
    for (unsigned i = 0; i < DEPTH; i++)
        assert_int_equal(put(b, WEIR_DIR_WRITE, i * LEN), 0);
    version = call.version;
    assert_int_equal(version % 2, 1);
    assert_int_equal(call.io->off, 0);
    assert_int_equal(get(b, 1), 2);
    assert_int_equal(call.io->off, 0);
    assert_int_equal(put(b, WEIR_DIR_WRITE, 2 * LEN), 0);
    assert_int_equal(call.version, version);
    assert_int_equal(get(b, 3), 3);
    assert_int_equal(call.version % 2, 0);
    stop(b);
}

/* Two at a time come back: no time between these, and none before the first. */
static void depths_and_times_between_completions_are_counted(void **state)
{
    struct bench *b = start();
    const struct weir_hist *depth = &b->s.stats->hist[WEIR_HIST_DEPTH];
    const struct weir_hist *between = &b->s.stats->hist[WEIR_HIST_BETWEEN];

    (void)state;
    for (unsigned i = 0; i < DEPTH; i++)
        assert_int_equal(put(b, WEIR_DIR_WRITE, i * LEN), 0);
    assert_int_equal(get(b, 1), 2);
    weir_sleep_ns(1000000);
    assert_int_equal(get(b, 1), 2);
    assert_int_equal(depth->n, DEPTH);
    assert_int_equal(depth->sum_ns, 1 + 2 + 3 + 4);
    assert_int_equal(depth->max_ns, DEPTH);
    assert_int_equal(between->n, DEPTH - 1);
    assert_int_equal(between->min_ns, 0);
    assert_true(between->max_ns >= 1000000);
    assert_int_equal(put(b, WEIR_DIR_WRITE, 0), 0); /* the queue was empty */
    assert_int_equal(get(b, 1), 1);
    assert_int_equal(between->n, DEPTH - 1);
    stop(b);
}

static void waiting_for_more_than_is_in_flight_takes_what_there_is(void **state)
{
    struct bench *b = start();

    (void)state;
    assert_int_equal(get(b, 1), 0);
    assert_int_equal(put(b, WEIR_DIR_READ, 0), 0);
    assert_int_equal(put(b, WEIR_DIR_READ, LEN), 0);
    assert_int_equal(put(b, WEIR_DIR_READ, 2 * LEN), 0);
    assert_int_equal(get(b, DEPTH), 3);
    assert_int_equal(get(b, 0), 0);
    stop(b);
}

static void a_queue_is_no_deeper_than_the_work(void **state)
{
    struct bench *b = start_with(&fake_backend, (struct weir_access) { .tasks = 1 });

    (void)state;
    assert_int_equal(weir_queue_begin(&b->q, &b->s, 3, 0, (struct iovec) { 0 }, &b->err), 0);
    assert_int_equal(b->q.depth, 3);
    assert_int_equal(b->fake.depth, 3);
    assert_null(b->q.pool);
    weir_queue_end(&b->q);
    assert_int_equal(weir_queue_begin(&b->q, &b->s, 1, LEN, (struct iovec) { 0 }, &b->err), 0);
    assert_int_equal(b->q.depth, 0);
    assert_int_equal(weir_session_queue(&b->s, DEPTH + 1, &b->err), -1);
    assert_int_equal(b->err.code, WEIR_EBUG);
    stop(b);
}

static void buffers_that_no_memory_holds_are_refused_with_the_option(void **state)
{
    struct bench *b = start_with(&fake_backend, (struct weir_access) { .tasks = 1 });

    (void)state;
    assert_int_equal(weir_queue_begin(&b->q, &b->s, DEPTH, (size_t)1 << 50, (struct iovec) { 0 }, &b->err), -1);
    assert_int_equal(b->err.code, WEIR_ESETUP);
    assert_non_null(strstr(b->err.text, "give a smaller --fake.depth"));
    assert_int_equal(b->q.depth, 0);
    stop(b);
}

/* ---- what is not whole ---- */

static void a_short_transfer_in_the_queue_is_continued(void **state)
{
    struct bench *b = start();

    (void)state;
    b->fake.outcomes[0] = (struct outcome) { .set = true, .off = LEN, .n = 5 };
    b->fake.outcomes[1] = (struct outcome) { .set = true, .off = 2 * LEN, .sys = EINTR };
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(put(b, WEIR_DIR_WRITE, i * LEN), 0);
    assert_int_equal(get(b, 3), 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(b->q.done[i]->n, LEN);
    assert_int_equal(b->err.code, WEIR_OK);
    assert_int_equal(b->fake.xfers, 2); /* the rest of one, all of the other */
    assert_int_equal(b->s.stats->short_transfers, 1);
    assert_int_equal(b->s.stats->retries, 1);
    assert_true(is_whole(&b->fake, LEN) && is_whole(&b->fake, 2 * LEN));
    assert_int_equal(latencies(b), 3);
    stop(b);
}

static void an_error_in_the_middle_names_its_transfer_and_the_others_count(void **state)
{
    struct bench *b = start();

    (void)state;
    b->fake.outcomes[0] = (struct outcome) { .set = true, .off = 2 * LEN, .sys = ENOSPC };
    b->fake.outcomes[1] = (struct outcome) { .set = true, .off = LEN, .sys = EIO };
    for (unsigned i = 0; i < DEPTH; i++)
        assert_int_equal(put(b, WEIR_DIR_WRITE, i * LEN), 0);
    assert_int_equal(get(b, DEPTH), DEPTH);
    for (int i = 0; i < DEPTH; i++)
        assert_int_equal(b->q.done[i]->n, i == 1 || i == 2 ? -1 : LEN);
    assert_string_equal(b->err.text,
                        "write 16 bytes at offset 32 of '/x/f' (0 done): No space left on device");
    assert_int_equal(b->err.sys, ENOSPC);
    assert_int_equal(latencies(b), DEPTH - 2);
    stop(b);
}

static void an_error_of_the_rest_says_how_much_was_done(void **state)
{
    struct bench *b = start();

    (void)state;
    b->fake.outcomes[0] = (struct outcome) { .set = true, .off = 0, .n = 5 };
    b->fake.xfer_sys = EDQUOT;
    assert_int_equal(put(b, WEIR_DIR_WRITE, 0), 0);
    assert_int_equal(get(b, 1), 1);
    assert_int_equal(b->q.done[0]->n, -1);
    assert_string_equal(b->err.text, "write 16 bytes at offset 0 of '/x/f' (5 done): xfer: "
                                     "Disk quota exceeded");
    stop(b);
}

static void the_end_of_the_file_is_an_error_of_a_read_in_the_queue(void **state)
{
    struct bench *b = start();

    (void)state;
    b->fake.outcomes[0] = (struct outcome) { .set = true, .off = LEN, .n = 0 };
    assert_int_equal(put(b, WEIR_DIR_READ, LEN), 0);
    assert_int_equal(get(b, 1), 1);
    assert_int_equal(b->q.done[0]->n, -1);
    assert_string_equal(b->err.text, "read 16 bytes at offset 16 of '/x/f' (0 done): end of file");
    stop(b);
}

static void a_request_that_is_refused_is_not_in_the_queue(void **state)
{
    struct bench *b = start();

    (void)state;
    b->fake.refuses = true;
    assert_int_equal(put(b, WEIR_DIR_WRITE, 0), -1);
    assert_string_equal(b->err.text, "submit: Bad file descriptor");
    assert_int_equal(weir_queue_in_flight(&b->q) + b->s.in_flight + b->f->in_flight, 0);
    stop(b);
}

static void a_queue_that_does_not_answer_is_an_error(void **state)
{
    struct bench *b = start();

    (void)state;
    assert_int_equal(put(b, WEIR_DIR_WRITE, 0), 0);
    b->fake.lost = true;
    assert_int_equal(get(b, 1), -1);
    assert_string_equal(b->err.text, "wait for '/x/f': Bad address");
    weir_session_drain(b->f); /* does not wait for ever */
    b->fake.lost = false;
    stop(b);
}

/* ---- sync and close ---- */

static void a_sync_comes_after_what_is_in_flight(void **state)
{
    struct bench *b = start();

    (void)state;
    assert_int_equal(put(b, WEIR_DIR_WRITE, 0), 0);
    assert_int_equal(weir_session_sync(b->f, &b->err), -1);
    assert_int_equal(b->err.code, WEIR_EBUG);
    assert_int_equal(get(b, 1), 1);
    assert_int_equal(weir_session_sync(b->f, &b->err), 0);
    assert_int_equal(b->fake.syncs, 1);
    stop(b);
}

static void close_waits_for_what_a_failure_has_left(void **state)
{
    struct bench *b = start();

    (void)state;
    for (unsigned i = 0; i < DEPTH; i++)
        assert_int_equal(put(b, WEIR_DIR_WRITE, i * LEN), 0);
    assert_int_equal(weir_session_close(b->f, &b->err), 0);
    b->f = NULL;
    assert_int_equal(b->fake.n_held + b->s.in_flight, 0);
    assert_int_equal(b->fake.closes, 1);
    stop(b);
}

static void the_files_of_a_session_share_its_queue(void **state)
{
    struct bench *b = start();
    struct weir_file *first = b->f, *second;

    (void)state;
    assert_int_equal(weir_session_open(&b->s, "/x/g", WEIR_OPEN_WRITE, NULL, &second, &b->err), 0);
    assert_int_equal(put(b, WEIR_DIR_WRITE, 0), 0);
    b->f = second;
    assert_int_equal(put(b, WEIR_DIR_WRITE, LEN), 0);
    assert_int_equal(first->in_flight, 1);
    assert_int_equal(second->in_flight, 1);
    assert_int_equal(get(b, 2), 2);
    assert_ptr_equal(b->q.done[0]->file, second);
    assert_ptr_equal(b->q.done[1]->file, first);
    assert_int_equal(first->in_flight + second->in_flight, 0);
    assert_int_equal(weir_session_close(first, &b->err), 0);
    stop(b);
}

/* ---- one at a time ---- */

static struct weir_request request(struct bench *b, unsigned i)
{
    return (struct weir_request) {
        .file = b->f,
        .io = { .dir = WEIR_DIR_WRITE, .buf = b->buf[i], .len = LEN, .off = i * LEN, .tag = i },
    };
}

/* Two transfers, one after the other, through submit and complete. */
static void move_two(struct bench *b)
{
    struct weir_request one = request(b, 0), two = request(b, 1), *done[DEPTH];

    assert_int_equal(weir_session_submit(&one, &b->clock_ns, &b->err), 0);
    assert_int_equal(weir_session_submit(&two, &b->clock_ns, &b->err), -1);
    assert_int_equal(b->err.code, WEIR_EBUG);
    assert_int_equal(weir_session_complete(b->f, 1, DEPTH, done, &b->clock_ns, &b->err), 1);
    assert_ptr_equal(done[0], &one);
    assert_int_equal(one.n, LEN);
    assert_int_equal(one.end_ns, b->clock_ns);
    assert_int_equal(weir_session_submit(&two, &b->clock_ns, &b->err), 0);
    assert_int_equal(weir_session_complete(b->f, 1, DEPTH, done, &b->clock_ns, &b->err), 1);
    assert_ptr_equal(done[0], &two);
    assert_int_equal(b->s.in_flight + b->f->in_flight, 0);
    assert_int_equal(b->fake.completes, 0);
    assert_int_equal(latencies(b), 2);
}

static void a_backend_without_a_queue_has_one_of_depth_1(void **state)
{
    struct weir_backend plain = fake_backend;
    struct bench *b;

    (void)state;
    plain.begin = NULL;
    plain.submit = NULL;
    plain.complete = NULL;
    plain.queue = NULL;
    b = start_with(&plain, (struct weir_access) { .tasks = 1 });
    assert_int_equal(b->s.depth, 1);
    assert_int_equal(weir_queue_begin(&b->q, &b->s, UINT64_MAX, LEN, (struct iovec) { 0 }, &b->err), 0);
    assert_int_equal(b->q.depth, 0);
    move_two(b);
    assert_int_equal(b->fake.xfers, 2);
    stop(b);
}

static void collective_transfers_are_in_the_queue(void **state)
{
    struct bench *b =
        start_with(&fake_backend, (struct weir_access) { .tasks = 1, .collective = true });

    (void)state;
    assert_int_equal(b->s.depth, DEPTH);
    stop(b);
}

static void writes_with_a_sync_each_go_one_by_one(void **state)
{
    struct bench *b =
        start_with(&fake_backend, (struct weir_access) { .tasks = 1, .sync_each = true });

    (void)state;
    move_two(b);
    assert_int_equal(b->fake.syncs, 2);
    assert_int_equal(weir_queue_begin(&b->q, &b->s, UINT64_MAX, LEN, (struct iovec) { 0 }, &b->err), 0);
    assert_int_equal(put(b, WEIR_DIR_READ, 0), 0);
    assert_int_equal(put(b, WEIR_DIR_READ, LEN), 0);
    assert_int_equal(put(b, WEIR_DIR_WRITE, 2 * LEN), 0);
    assert_int_equal(get(b, 3), 3);
    assert_int_equal(b->q.done[0]->io.tag, 2);
    assert_int_equal(b->fake.syncs, 3);
    stop(b);
}

static void a_failure_without_a_queue_comes_back_with_its_request(void **state)
{
    struct bench *b =
        start_with(&fake_backend, (struct weir_access) { .tasks = 1, .sync_each = true });
    struct weir_request one = request(b, 0), *done;

    (void)state;
    b->fake.xfer_sys = EIO;
    assert_int_equal(weir_session_submit(&one, &b->clock_ns, &b->err), 0);
    assert_int_equal(weir_session_complete(b->f, 1, 1, &done, &b->clock_ns, &b->err), 1);
    assert_int_equal(done->n, -1);
    assert_non_null(strstr(b->err.text, "write 16 bytes at offset 0 of '/x/f'"));
    assert_int_equal(latencies(b), 0);
    stop(b);
}

static void a_dry_run_moves_nothing_and_completes(void **state)
{
    struct bench *b =
        start_with(&fake_backend, (struct weir_access) { .tasks = 1, .dry_run = true });

    (void)state;
    assert_int_equal(b->s.depth, 1);
    move_two(b);
    assert_int_equal(b->fake.xfers, 0);
    stop(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transfers_end_in_any_order_with_times_of_their_own),
        cmocka_unit_test(the_oldest_transfer_is_the_call_that_is_watched),
        cmocka_unit_test(depths_and_times_between_completions_are_counted),
        cmocka_unit_test(waiting_for_more_than_is_in_flight_takes_what_there_is),
        cmocka_unit_test(a_queue_is_no_deeper_than_the_work),
        cmocka_unit_test(buffers_that_no_memory_holds_are_refused_with_the_option),
        cmocka_unit_test(a_short_transfer_in_the_queue_is_continued),
        cmocka_unit_test(an_error_in_the_middle_names_its_transfer_and_the_others_count),
        cmocka_unit_test(an_error_of_the_rest_says_how_much_was_done),
        cmocka_unit_test(the_end_of_the_file_is_an_error_of_a_read_in_the_queue),
        cmocka_unit_test(a_request_that_is_refused_is_not_in_the_queue),
        cmocka_unit_test(a_queue_that_does_not_answer_is_an_error),
        cmocka_unit_test(a_sync_comes_after_what_is_in_flight),
        cmocka_unit_test(close_waits_for_what_a_failure_has_left),
        cmocka_unit_test(the_files_of_a_session_share_its_queue),
        cmocka_unit_test(a_backend_without_a_queue_has_one_of_depth_1),
        cmocka_unit_test(collective_transfers_are_in_the_queue),
        cmocka_unit_test(writes_with_a_sync_each_go_one_by_one),
        cmocka_unit_test(a_failure_without_a_queue_comes_back_with_its_request),
        cmocka_unit_test(a_dry_run_moves_nothing_and_completes),
    };

    return cmocka_run_group_tests_name("queue", tests, NULL, NULL);
}
