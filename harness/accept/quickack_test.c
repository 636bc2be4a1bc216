// When TCP_QUICKACK is set, and what that does to a client that leaves Nagle on.
//
// The clients here write their request behind their Finished at once, so the kernel holds it until the server's kernel
// acknowledges the Finished: at once, or 40 ms later. The bounds leave room for a busy machine on one side and are
// physics on the other.
#include "harness/accept/quickack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <openssl/err.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness/accept/testing_rig.h"

enum { kStallMs = 30, kRounds = 5 };

static void start(struct testing_rig *rig, enum tg_quickack mode, bool flush_tickets) {
  struct testing_options options;
  testing_options_default(&options);
  options.shard.quickack = mode;
  options.shard.flush_tickets = flush_tickets;
  testing_rig_start(rig, &options);
}

// Returns the least time, of some rounds, from the request to its answer on a fresh connection.
static uint64_t least_wait_ms(struct testing_rig *rig, const struct testing_peer_options *options) {
  uint64_t least_ms = UINT64_MAX;
  for (int i = 0; i < kRounds; i++) {
    struct testing_peer peer;
    testing_peer_connect(&peer, rig, options);
    uint64_t start_ms = testing_now_ms();
    testing_peer_echo(&peer, rig);
    uint64_t wait_ms = testing_now_ms() - start_ms;
    least_ms = wait_ms < least_ms ? wait_ms : least_ms;
    testing_peer_close(&peer);
    testing_rig_settle(rig);
  }
  return least_ms;
}

static SSL_SESSION *make_session(struct testing_rig *rig, const struct testing_peer_options *options) {
  struct testing_peer peer;
  testing_peer_connect(&peer, rig, options);
  testing_peer_echo(&peer, rig);
  SSL_SESSION *session = testing_peer_session(&peer);
  testing_peer_close(&peer);
  testing_rig_settle(rig);
  return session;
}

static void check_fresh(enum tg_quickack mode, bool stalls) {
  struct testing_rig rig;
  struct testing_peer_options options = {.version = TLS1_3_VERSION};
  start(&rig, mode, false);
  uint64_t wait_ms = least_wait_ms(&rig, &options);
  if ((wait_ms >= kStallMs) != stalls) {
    fail_msg("TLS 1.3: %llu ms, expected %s; a route with `quickack`, or tcp_pingpong_thresh, may hide the stall",
             (unsigned long long)wait_ms, stalls ? "a stall" : "none");
  }
  options.session = make_session(&rig, &options);
  wait_ms = least_wait_ms(&rig, &options);
  SSL_SESSION_free(options.session);
  assert_int_equal(wait_ms >= kStallMs, stalls);
  // In a resumed TLS 1.2 handshake, too, the client speaks last.
  options = (struct testing_peer_options){.version = TLS1_2_VERSION};
  options.session = make_session(&rig, &options);
  wait_ms = least_wait_ms(&rig, &options);
  SSL_SESSION_free(options.session);
  assert_int_equal(wait_ms >= kStallMs, stalls);
  testing_rig_stop(&rig);
}

static void test_rearm_does_not_stall(void **state) {
  (void)state;
  check_fresh(TG_QUICKACK_REARM, false);
}

static void test_armed_at_accept_stalls(void **state) {
  (void)state;
  check_fresh(TG_QUICKACK_ACCEPT, true);
}

static void test_off_stalls(void **state) {
  (void)state;
  check_fresh(TG_QUICKACK_OFF, true);
}

static void test_flushed_tickets_hide_the_stall(void **state) {
  (void)state;
  struct testing_rig rig;
  start(&rig, TG_QUICKACK_OFF, true);
  assert_true(least_wait_ms(&rig, &(struct testing_peer_options){.version = TLS1_3_VERSION}) < kStallMs);
  testing_rig_stop(&rig);
  // With the rule and tickets both, the response must not wait behind the ticket under our own Nagle.
  start(&rig, TG_QUICKACK_REARM, true);
  assert_true(least_wait_ms(&rig, &(struct testing_peer_options){.version = TLS1_3_VERSION}) < kStallMs);
  testing_rig_stop(&rig);
}

// Three requests, each in two writes. Returns the least wait of the third over some rounds.
static uint64_t least_split_wait_ms(struct testing_rig *rig, bool tls) {
  uint64_t least_ms = UINT64_MAX;
  for (int i = 0; i < kRounds; i++) {
    struct testing_peer peer;
    char answer[7];
    if (tls) {
      testing_peer_connect(&peer, rig, &(struct testing_peer_options){.version = TLS1_3_VERSION});
    } else {
      testing_peer_dial(&peer, rig->http_port, 0);
    }
    uint64_t wait_ms = 0;
    for (int request = 0; request < 3; request++) {
      uint64_t start_ms = testing_now_ms();
      testing_peer_send(&peer, rig, "ec");
      testing_peer_send(&peer, rig, "ho x");
      testing_peer_send(&peer, rig, "\n");
      assert_int_equal(testing_peer_receive(&peer, rig, answer, 7), 7);
      wait_ms = testing_now_ms() - start_ms;
    }
    least_ms = wait_ms < least_ms ? wait_ms : least_ms;
    testing_peer_close(&peer);
    testing_rig_settle(rig);
  }
  return least_ms;
}

static void test_requests_in_several_writes(void **state) {
  (void)state;
  struct testing_rig rig;
  for (int tls = 0; tls < 2; tls++) {
    start(&rig, TG_QUICKACK_REARM, false);
    assert_true(least_split_wait_ms(&rig, tls) < kStallMs);
    testing_rig_stop(&rig);
    start(&rig, TG_QUICKACK_OFF, false);
    assert_true(least_split_wait_ms(&rig, tls) >= kStallMs);
    testing_rig_stop(&rig);
  }
}

// A TLS record cut in two, so that the application has seen nothing of the request when the ACK is due.
static void test_a_record_in_two_writes(void **state) {
  (void)state;
  struct testing_rig rig;
  start(&rig, TG_QUICKACK_REARM, false);
  uint64_t least_ms = UINT64_MAX;
  for (int i = 0; i < kRounds; i++) {
    struct testing_peer peer;
    char answer[7];
    testing_peer_connect(&peer, &rig, &(struct testing_peer_options){.version = TLS1_3_VERSION});
    testing_peer_echo(&peer, &rig);
    BIO *out = BIO_new(BIO_s_mem());
    assert_non_null(out);
    SSL_set0_wbio(peer.ssl, out);
    assert_int_equal(SSL_write(peer.ssl, "echo x\n", 7), 7);
    const uint8_t *record;
    size_t len;
    assert_int_equal(BIO_mem_contents(out, &record, &len), 1);
    uint64_t start_ms = testing_now_ms();
    assert_int_equal(send(peer.fd, record, 5, MSG_NOSIGNAL), 5);
    assert_int_equal(send(peer.fd, record + 5, 4, MSG_NOSIGNAL), 4);
    assert_int_equal(send(peer.fd, record + 9, len - 9, MSG_NOSIGNAL), len - 9);
    assert_int_equal(testing_peer_receive(&peer, &rig, answer, 7), 7);
    uint64_t wait_ms = testing_now_ms() - start_ms;
    least_ms = wait_ms < least_ms ? wait_ms : least_ms;
    testing_peer_close(&peer);
    testing_rig_settle(&rig);
  }
  assert_true(least_ms < kStallMs);
  testing_rig_stop(&rig);
}

static uint64_t armed_in_an_exchange(enum tg_quickack mode) {
  struct testing_rig rig;
  struct testing_peer peer;
  start(&rig, mode, false);
  testing_peer_connect(&peer, &rig, &(struct testing_peer_options){.version = TLS1_3_VERSION});
  testing_peer_echo(&peer, &rig);
  testing_peer_close(&peer);
  testing_rig_settle(&rig);
  struct tg_counters now = testing_rig_counters(&rig);
  assert_int_equal(now.quickack_failed, 0);
  testing_rig_stop(&rig);
  return now.quickack_armed;
}

static void test_how_often_each_mode_arms(void **state) {
  (void)state;
  // At the accept, after the hello's step, at establishment, and at the client's FIN at most.
  assert_in_range(armed_in_an_exchange(TG_QUICKACK_REARM), 3, 4);
  assert_int_equal(armed_in_an_exchange(TG_QUICKACK_ACCEPT), 1);
  assert_int_equal(armed_in_an_exchange(TG_QUICKACK_OFF), 0);
}

static void test_the_rule(void **state) {
  (void)state;
  static const enum tg_quickack_moment kMoments[] = {TG_QUICKACK_AT_ACCEPT, TG_QUICKACK_AT_HANDSHAKE_STEP,
                                                     TG_QUICKACK_AT_ESTABLISHMENT, TG_QUICKACK_AT_REQUEST_PARTIAL};
  for (size_t i = 0; i < 4; i++) {
    struct tg_counters counters = {0};
    // Not a socket: the refusal is counted and that is all.
    tg_quickack_at(kMoments[i], TG_QUICKACK_REARM, -1, &counters);
    assert_int_equal(counters.quickack_armed, 1);
    assert_int_equal(counters.quickack_failed, 1);
    tg_quickack_at(kMoments[i], TG_QUICKACK_OFF, -1, &counters);
    assert_int_equal(counters.quickack_armed, 1);
    tg_quickack_at(kMoments[i], TG_QUICKACK_ACCEPT, -1, &counters);
    assert_int_equal(counters.quickack_armed, i == 0 ? 2 : 1);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_rule),
      cmocka_unit_test(test_how_often_each_mode_arms),
      cmocka_unit_test(test_rearm_does_not_stall),
      cmocka_unit_test(test_armed_at_accept_stalls),
      cmocka_unit_test(test_off_stalls),
      cmocka_unit_test(test_flushed_tickets_hide_the_stall),
      cmocka_unit_test(test_requests_in_several_writes),
      cmocka_unit_test(test_a_record_in_two_writes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
