/* SPDX-License-Identifier: BSD-3-Clause */
/* test_peer.c - heartbeats over TCP, between two ends in one process */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/peer.h"

#define TURNS 20000 /* of a millisecond or more: long enough for any machine */

struct message {
    uint64_t beat;
    char text[700];
};

/* Turns of both ends until a has the message with this beat. */
static bool hears(struct weir_peer *a, struct weir_peer *b, uint64_t beat)
{
    struct message said = { .beat = beat, .text = "write of 'f'" }, seen = { .beat = 0 };
    struct message other;

    for (int i = 0; i < TURNS && seen.beat != beat; i++) {
        weir_peer_show(b, &said);
        weir_peer_turn(b, weir_now_ns(), &other);
        weir_peer_turn(a, weir_now_ns(), &seen);
        usleep(seen.beat == beat ? 0 : 1000);
    }
    return seen.beat == beat && strcmp(seen.text, said.text) == 0;
}

static void each_hears_the_other(void **state)
{
    struct weir_peer a, b;
    struct weir_peer_place at_a, at_b;

    (void)state;
    weir_peer_begin(&a, sizeof(struct message), &at_a);
    weir_peer_begin(&b, sizeof(struct message), &at_b);
    assert_true(at_a.port && at_b.port && at_a.count > 0);
    weir_peer_watch(&a, &at_b);
    weir_peer_watch(&b, &at_a);
    assert_true(hears(&a, &b, 1) && hears(&b, &a, 2) && hears(&a, &b, 3));
    assert_true(weir_peer_answers(&a));
    assert_int_equal(a.listener, -1); /* nobody else can connect */
    weir_peer_end(&a);
    weir_peer_end(&b);
}

static void an_address_of_somebody_else_is_passed_over(void **state)
{
    struct weir_peer a, b, stranger;
    struct weir_peer_place at_b, elsewhere;
    struct message seen;

    (void)state;
    weir_peer_begin(&stranger, sizeof(struct message), &elsewhere);
    elsewhere.token++;
    elsewhere.count = 1;
    weir_peer_begin(&a, sizeof(struct message), &at_b);
    weir_peer_watch(&a, &elsewhere);
    for (int i = 0; i < TURNS && a.tries < 3; i++) {
        assert_false(weir_peer_turn(&a, weir_now_ns(), &seen));
        weir_peer_turn(&stranger, weir_now_ns(), &seen);
        usleep(1000);
    }
    assert_int_equal(a.tries, 3);
    assert_int_equal(stranger.watcher, -1);
    weir_peer_end(&a);
    weir_peer_begin(&a, sizeof(struct message), &elsewhere);
    weir_peer_begin(&b, sizeof(struct message), &at_b);
    memmove(at_b.address + 1, at_b.address, sizeof(at_b.address) - sizeof(at_b.address[0]));
    at_b.address[0] = htonl(0x7f000000); /* nobody is there */
    at_b.count += at_b.count < WEIR_PEER_ADDRESSES;
    weir_peer_watch(&a, &at_b);
    assert_true(hears(&a, &b, 7));
    weir_peer_end(&a);
    weir_peer_end(&b);
    weir_peer_end(&stranger);
}

/* A socket at 127.0.0.host, which connects to that port, or listens where it is 0. */
static int open_at(int host, uint16_t connect_to, uint16_t *port)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(connect_to ? connect_to : *port) };
    socklen_t len = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

    at.sin_addr.s_addr = htonl(0x7f000000u + (unsigned)host);
    if (connect_to) {
        connect(fd, (struct sockaddr *)&at, sizeof(at));
        return fd;
    }
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(fd, 64), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
    *port = ntohs(at.sin_port);
    return fd;
}

#define STRANGERS 40

static void strangers_who_stay_do_not_keep_the_right_one_out(void **state)
{
    struct weir_peer_place at_a, at_b;
    struct weir_peer a, b;
    int fd[STRANGERS];

    (void)state;
    weir_peer_begin(&a, sizeof(struct message), &at_a);
    weir_peer_begin(&b, sizeof(struct message), &at_b);
    for (int i = 0; i < STRANGERS; i++)
        fd[i] = open_at(1, at_b.port, NULL);
    weir_peer_watch(&a, &at_b);
    assert_true(hears(&a, &b, 3));
    assert_int_equal(a.tries, 1);
    for (int i = 0; i < STRANGERS; i++)
        close(fd[i]);
    for (int i = 0; i < WEIR_PEER_GUESTS; i++)
        assert_int_equal(b.guest[i], -1);
    weir_peer_end(&a);
    weir_peer_end(&b);
}

/* Somebody else at the first address takes connections; the right one, at the second, is late. */
static void who_takes_a_connection_and_says_nothing_is_passed_over(void **state)
{
    struct weir_peer_place at_a, at_b;
    struct weir_peer a, b;
    struct message seen = { .beat = 0 };
    uint64_t now_ns = weir_now_ns();
    uint16_t port = 0;
    int silent = open_at(2, 0, &port);

    (void)state;
    weir_peer_begin(&a, sizeof(struct message), &at_a);
    weir_peer_begin(&b, sizeof(struct message), &at_b);
    close(b.listener);
    b.listener = open_at(3, 0, &port);
    at_b.port = port;
    at_b.count = 2;
    at_b.address[0] = htonl(0x7f000002);
    at_b.address[1] = htonl(0x7f000003);
    weir_peer_watch(&a, &at_b);
    for (int i = 0; i < 2000; i++) { /* 200 s of its time, in which b stands still */
        weir_peer_turn(&a, now_ns += 100000000, &seen);
        usleep(i % 100 ? 0 : 1000);
    }
    assert_int_equal(a.heard, false);
    for (int i = 0; i < TURNS && !a.heard; i++) {
        weir_peer_turn(&b, now_ns, &seen);
        weir_peer_turn(&a, now_ns += 100000000, &seen);
        usleep(1000);
    }
    assert_true(a.heard && hears(&a, &b, 5));
    weir_peer_end(&a);
    weir_peer_end(&b);
    close(silent);
}

static void what_was_said_last_is_seen_after_a_long_pause(void **state)
{
    struct weir_peer a, b;
    struct weir_peer_place at_a, at_b;
    struct message said = { .beat = 0 }, seen;

    (void)state;
    weir_peer_begin(&a, sizeof(struct message), &at_a);
    weir_peer_begin(&b, sizeof(struct message), &at_b);
    weir_peer_watch(&a, &at_b);
    assert_true(hears(&a, &b, 1));
    for (uint64_t i = 2; i < 100000; i++) { /* more than any buffer holds: the sender does not wait */
        said.beat = i;
        weir_peer_show(&b, &said);
    }
    assert_true(hears(&a, &b, 100000));
    weir_peer_end(&b);
    for (int i = 0; i < TURNS && !a.ended; i++) {
        weir_peer_turn(&a, weir_now_ns(), &seen);
        usleep(1000);
    }
    assert_true(a.ended);
    assert_false(weir_peer_answers(&a));
    weir_peer_end(&a);
    weir_peer_end(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_hears_the_other),
        cmocka_unit_test(an_address_of_somebody_else_is_passed_over),
        cmocka_unit_test(strangers_who_stay_do_not_keep_the_right_one_out),
        cmocka_unit_test(who_takes_a_connection_and_says_nothing_is_passed_over),
        cmocka_unit_test(what_was_said_last_is_seen_after_a_long_pause),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
