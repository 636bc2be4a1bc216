// The system calls that the accept path makes, counted, and made to fail.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <openssl/err.h>
#include <sys/socket.h>

#include "harness/accept/testing_calls.h"
#include "harness/accept/testing_rig.h"

static const struct testing_peer_options kTls13 = {.version = TLS1_3_VERSION};

// One request, its answer, and the end.
static void one_connection(struct testing_rig *rig) {
  struct testing_peer peer;
  char answer[4];
  testing_peer_connect(&peer, rig, &kTls13);
  testing_peer_send(&peer, rig, "bye\n");
  assert_int_equal(testing_peer_receive(&peer, rig, answer, 4), 4);
  assert_true(testing_peer_at_end(&peer, rig));
  testing_peer_close(&peer);
  testing_rig_settle(rig);
}

static void test_calls_of_a_connection(void **state) {
  (void)state;
  struct testing_rig rig;
  testing_calls_reset();
  testing_rig_start(&rig, NULL);
  one_connection(&rig);
  // One recv for the hello, the Finished, the request and the FIN each, less where two came together; one more at the
  // accept if the hello is not there yet.
  assert_in_range(testing_calls.recv, 3, 5);
  assert_in_range(testing_calls.empty_recv, 0, 1);
  // The flight; the tickets, the answer and close_notify.
  assert_int_equal(testing_calls.send, 2);
  // TCP_QUICKACK: at the accept, after the hello, at establishment.
  assert_int_equal(testing_calls.setsockopt, 3);
  assert_int_equal(testing_rig_counters(&rig).quickack_armed, 3);
  assert_int_equal(testing_calls.epoll_ctl, 1);
  assert_int_equal(testing_calls.shutdown, 1);
  assert_int_equal(testing_calls.close, 1);
  // The one that is accepted, and the look whether there is another.
  assert_int_equal(testing_calls.accept4, 2);
  testing_rig_stop(&rig);
}

static void test_a_large_body_is_a_handful_of_calls(void **state) {
  (void)state;
  struct testing_rig rig;
  struct testing_peer peer;
  static char body[1048576];
  testing_calls_reset();
  testing_rig_start(&rig, NULL);
  testing_peer_connect(&peer, &rig, &kTls13);
  testing_peer_echo(&peer, &rig);
  unsigned recvs = testing_calls.recv;
  unsigned sends = testing_calls.send;
  testing_peer_send(&peer, &rig, "big 1048576\n");
  assert_int_equal(testing_peer_receive(&peer, &rig, body, sizeof(body)), sizeof(body));
  assert_int_equal(testing_calls.recv - recvs, 1);
  // 64 records. Eight output buffers; a socket that is full in between may cost each another.
  assert_in_range(testing_calls.send - sends, 8, 24);
  testing_peer_close(&peer);
  testing_rig_settle(&rig);
  testing_rig_stop(&rig);
}

static void test_setsockopt_is_best_effort(void **state) {
  (void)state;
  static const int kErrors[] = {ENOPROTOOPT, EINVAL, EBADF};
  struct testing_rig rig;
  for (size_t i = 0; i < sizeof(kErrors) / sizeof(kErrors[0]); i++) {
    testing_calls_reset();
    testing_calls.setsockopt_error = kErrors[i];
    testing_rig_start(&rig, NULL);
    one_connection(&rig);
    struct tg_counters now = testing_rig_counters(&rig);
    assert_int_equal(now.established, 1);
    assert_true(now.quickack_armed >= 3);
    assert_int_equal(now.quickack_failed, now.quickack_armed);
    testing_rig_stop(&rig);
  }
}

static void test_interrupted_and_spurious_calls(void **state) {
  (void)state;
  static const int kErrors[] = {EINTR, EAGAIN};
  struct testing_rig rig;
  for (size_t i = 0; i < 2; i++) {
    for (unsigned every = 2; every < 6; every++) {
      testing_calls_reset();
      testing_calls.io_error = kErrors[i];
      testing_calls.io_every = every;
      testing_rig_start(&rig, NULL);
      one_connection(&rig);
      testing_rig_stop(&rig);
    }
  }
}

static void test_failing_io_ends_the_connection_only(void **state) {
  (void)state;
  static const int kErrors[] = {ECONNRESET, EPIPE, ENOBUFS, ENOMEM, ETIMEDOUT};
  struct testing_rig rig;
  testing_calls_reset();
  testing_rig_start(&rig, NULL);
  for (size_t i = 0; i < sizeof(kErrors) / sizeof(kErrors[0]); i++) {
    for (unsigned every = 1; every < 7; every++) {
      struct testing_peer peer;
      char byte;
      testing_calls.io_error = kErrors[i];
      testing_calls.io_every = every;
      testing_calls.io_calls = 0;
      uint64_t accepted = testing_rig_counters(&rig).accepted;
      testing_peer_start(&peer, &rig, &kTls13);
      if (testing_peer_shake(&peer, &rig)) {
        testing_peer_send(&peer, &rig, "bye\n");
        testing_peer_receive(&peer, &rig, &byte, 1);
      }
      TESTING_TURN_UNTIL(&rig, testing_rig_counters(&rig).accepted > accepted);
      testing_peer_close(&peer);
      testing_rig_settle(&rig);
    }
  }
  testing_calls.io_every = 0;
  one_connection(&rig);
  testing_rig_stop(&rig);
}

static void test_epoll_refusing_a_connection_ends_it(void **state) {
  (void)state;
  struct testing_rig rig;
  struct testing_peer peer;
  testing_calls_reset();
  testing_rig_start(&rig, NULL);
  testing_calls.epoll_ctl_error = ENOSPC;
  testing_peer_start(&peer, &rig, &kTls13);
  // The hello may be there at once and be answered; then the connection ends for want of an event to wait for.
  testing_peer_shake(&peer, &rig);
  testing_peer_close(&peer);
  testing_rig_settle(&rig);
  assert_int_equal(testing_rig_counters(&rig).handshake_failed, 1);
  testing_calls.epoll_ctl_error = 0;
  one_connection(&rig);
  testing_rig_stop(&rig);
}

static void test_accept_errors_that_are_skipped(void **state) {
  (void)state;
  static const int kErrors[] = {EINTR, ECONNABORTED, EPROTO, ENETUNREACH, EPERM};
  struct testing_rig rig;
  testing_calls_reset();
  testing_rig_start(&rig, NULL);
  for (size_t i = 0; i < sizeof(kErrors) / sizeof(kErrors[0]); i++) {
    testing_calls.accept4_error = kErrors[i];
    testing_calls.accept4_failures = 20;
    one_connection(&rig);
  }
  assert_int_equal(testing_rig_counters(&rig).accept_skipped, 20 * sizeof(kErrors) / sizeof(kErrors[0]));
  testing_rig_stop(&rig);
}

static void test_accept_errors_that_pause(void **state) {
  (void)state;
  static const int kErrors[] = {EMFILE, ENFILE, ENOBUFS, ENOMEM};
  struct testing_rig rig;
  for (size_t i = 0; i < sizeof(kErrors) / sizeof(kErrors[0]); i++) {
    struct testing_peer waiting;
    struct testing_peer open_one;
    testing_calls_reset();
    testing_rig_start(&rig, NULL);
    testing_peer_connect(&open_one, &rig, &kTls13);
    testing_peer_echo(&open_one, &rig);
    testing_calls.accept4_error = kErrors[i];
    testing_calls.accept4_failures = 1000000;
    unsigned calls = testing_calls.accept4;
    testing_peer_dial(&waiting, rig.http_port, 0);
    // It asks once, and then every 100 ms; between those the turns wait.
    uint64_t start_ms = testing_now_ms();
    unsigned turns = 0;
    while (testing_now_ms() - start_ms < 350) {
      assert_true(tg_shard_turn(rig.shard, 50) >= 0);
      turns++;
    }
    assert_in_range(testing_calls.accept4 - calls, 2, 6);
    assert_true(turns < 30);
    assert_int_equal(testing_rig_counters(&rig).accept_paused, testing_calls.accept4 - calls);
    // When there is room again it is accepted.
    testing_calls.accept4_failures = 0;
    testing_peer_close(&open_one);
    testing_peer_echo(&waiting, &rig);
    testing_peer_close(&waiting);
    testing_rig_settle(&rig);
    testing_rig_stop(&rig);
  }
}

static void test_an_unusable_listener_is_reported(void **state) {
  (void)state;
  struct testing_rig rig;
  struct testing_peer open_one;
  struct testing_peer peer;
  testing_calls_reset();
  testing_rig_start(&rig, NULL);
  testing_peer_connect(&open_one, &rig, &kTls13);
  testing_calls.accept4_error = EINVAL;
  testing_calls.accept4_failures = 1;
  testing_peer_dial(&peer, rig.http_port, 0);
  int turned = 0;
  for (int i = 0; i < 10 && turned >= 0; i++) {
    turned = tg_shard_turn(rig.shard, 100);
  }
  assert_int_equal(turned, -1);
  assert_int_equal(errno, EINVAL);
  // Those that are here are served still.
  assert_int_equal(SSL_write(open_one.ssl, "echo\n", 5), 5);
  char answer[5];
  int got = -1;
  for (int i = 0; i < 1000 && got < 0; i++) {
    assert_int_equal(tg_shard_turn(rig.shard, 1), -1);
    got = SSL_read(open_one.ssl, answer, 5);
    ERR_clear_error();
  }
  assert_int_equal(got, 5);
  testing_peer_close(&peer);
  testing_peer_close(&open_one);
  testing_rig_stop(&rig);
}

// Makes the n-th allocation fail and all after it, for each n, in the course of a connection: whatever happens, nothing
// leaks, everything is counted, and the next connection is served.
static void test_every_allocation_may_fail(void **state) {
  (void)state;
  struct testing_rig rig;
  testing_calls_reset();
  testing_rig_start(&rig, NULL);
  one_connection(&rig);
  bool survived = false;
  long n = 0;
  for (; !survived; n++) {
    struct testing_peer peer;
    uint64_t accepted = testing_rig_counters(&rig).accepted;
    assert_true(n < 3000);
    testing_peer_start(&peer, &rig, &kTls13);
    // The client's own allocations are not to fail: it runs, then the shard does.
    bool shaken = false;
    bool asked = false;
    uint64_t limit_ms = testing_now_ms() + TESTING_PATIENCE_MS;
    long left = n;
    for (;;) {
      char byte;
      ERR_clear_error();
      if (!shaken) {
        int ret = SSL_do_handshake(peer.ssl);
        shaken = ret == 1;
        if (!shaken && SSL_get_error(peer.ssl, ret) != SSL_ERROR_WANT_READ) {
          break;
        }
      }
      if (shaken && !asked && SSL_write(peer.ssl, "bye\n", 4) != 4) {
        break;
      }
      asked = shaken;
      if (asked) {
        int ret = SSL_read(peer.ssl, &byte, 1);
        if (ret <= 0 && SSL_get_error(peer.ssl, ret) != SSL_ERROR_WANT_READ) {
          survived = SSL_get_error(peer.ssl, ret) == SSL_ERROR_ZERO_RETURN;
          break;
        }
      }
      ERR_clear_error();
      assert_true(testing_now_ms() < limit_ms);
      testing_calls.allocations_left = left;
      int turned = tg_shard_turn(rig.shard, 1);
      left = testing_calls.allocations_left;
      testing_calls.allocations_left = -1;
      assert_true(turned >= 0);
      assert_int_equal(ERR_peek_error(), 0);
    }
    ERR_clear_error();
    survived = survived && left > 0;
    TESTING_TURN_UNTIL(&rig, testing_rig_counters(&rig).accepted > accepted);
    testing_peer_close(&peer);
    testing_rig_settle(&rig);
  }
  // A handshake takes far more allocations than this: the count was real.
  assert_true(n > 50);
  one_connection(&rig);
  testing_rig_stop(&rig);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_calls_of_a_connection),
      cmocka_unit_test(test_a_large_body_is_a_handful_of_calls),
      cmocka_unit_test(test_setsockopt_is_best_effort),
      cmocka_unit_test(test_interrupted_and_spurious_calls),
      cmocka_unit_test(test_failing_io_ends_the_connection_only),
      cmocka_unit_test(test_epoll_refusing_a_connection_ends_it),
      cmocka_unit_test(test_accept_errors_that_are_skipped),
      cmocka_unit_test(test_accept_errors_that_pause),
      cmocka_unit_test(test_an_unusable_listener_is_reported),
      cmocka_unit_test(test_every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
