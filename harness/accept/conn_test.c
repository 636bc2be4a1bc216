// What becomes of connections: large responses, half-closed and reset peers, garbage.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness/accept/conn.h"
#include "harness/accept/testing_rig.h"

static const struct testing_peer_options kTls13 = {.version = TLS1_3_VERSION};

static struct tg_conn *only_conn(struct testing_rig *rig) {
  assert_int_equal(tg_shard_connections(rig->shard), 1);
  return TG_CONTAINER(rig->shard->conns.next, struct tg_conn, member);
}

static void test_plaintext(void **state) {
  (void)state;
  struct testing_rig rig;
  struct testing_peer peer;
  char answer[4];
  testing_rig_start(&rig, NULL);
  testing_peer_dial(&peer, rig.http_port, 0);
  testing_peer_echo(&peer, &rig);
  testing_peer_send(&peer, &rig, "big 1000000\n");
  testing_peer_receive_bulk(&peer, &rig, 1000000);
  struct tg_counters now = testing_rig_counters(&rig);
  assert_int_equal(now.plain_accepted, 1);
  assert_int_equal(now.accepted, 0);
  testing_peer_send(&peer, &rig, "bye\n");
  assert_int_equal(testing_peer_receive(&peer, &rig, answer, 4), 4);
  assert_true(testing_peer_at_end(&peer, &rig));
  testing_peer_close(&peer);
  testing_rig_settle(&rig);
  testing_rig_stop(&rig);
}

static void test_large_responses_and_pipelined_requests(void **state) {
  (void)state;
  struct testing_rig rig;
  struct testing_peer peer;
  char answer[12];
  testing_rig_start(&rig, NULL);
  testing_peer_connect(&peer, &rig, &kTls13);
  // The second and third requests are held back in the read-ahead buffer while the first is answered.
  testing_peer_send(&peer, &rig, "big 9000000\necho second\nbig 100000\necho th");
  testing_peer_receive_bulk(&peer, &rig, 9000000);
  assert_int_equal(testing_peer_receive(&peer, &rig, answer, 12), 12);
  assert_memory_equal(answer, "echo second\n", 12);
  testing_peer_receive_bulk(&peer, &rig, 100000);
  testing_peer_send(&peer, &rig, "ird\n");
  assert_int_equal(testing_peer_receive(&peer, &rig, answer, 11), 11);
  assert_memory_equal(answer, "echo third\n", 11);
  // At rest it holds no buffers.
  assert_null(only_conn(&rig)->stream.in);
  assert_null(only_conn(&rig)->stream.out);
  testing_peer_close(&peer);
  testing_rig_settle(&rig);
  testing_rig_stop(&rig);
}

static void test_every_accepted_socket_has_nodelay(void **state) {
  (void)state;
  struct testing_rig rig;
  testing_rig_start(&rig, NULL);
  const uint16_t ports[] = {rig.tls_port, rig.http_port};
  for (size_t i = 0; i < 2; i++) {
    struct testing_peer peer;
    testing_peer_dial(&peer, ports[i], 0);
    TESTING_TURN_UNTIL(&rig, tg_shard_connections(rig.shard) == 1);
    int on = 0;
    socklen_t len = sizeof(on);
    assert_int_equal(getsockopt(only_conn(&rig)->stream.fd, IPPROTO_TCP, TCP_NODELAY, &on, &len), 0);
    assert_int_equal(on, 1);
    testing_peer_close(&peer);
    testing_rig_settle(&rig);
  }
  testing_rig_stop(&rig);
}

static void test_half_closed_peer_is_answered(void **state) {
  (void)state;
  struct testing_rig rig;
  testing_rig_start(&rig, NULL);
  for (int tls = 0; tls < 2; tls++) {
    struct testing_peer peer;
    if (tls) {
      testing_peer_connect(&peer, &rig, &kTls13);
    } else {
      testing_peer_dial(&peer, rig.http_port, 0);
    }
    testing_peer_send(&peer, &rig, "big 9000000\n");
    if (tls) {
      assert_int_equal(SSL_shutdown(peer.ssl), 0);
    }
    assert_int_equal(shutdown(peer.fd, SHUT_WR), 0);
    // While it waits to write, the peer's FIN must not wake it.
    size_t events = 0;
    for (int i = 0; i < 50; i++) {
      int turned = tg_shard_turn(rig.shard, 1);
      assert_true(turned >= 0);
      events += (size_t)turned;
    }
    assert_true(events < 40);
    testing_peer_receive_bulk(&peer, &rig, 9000000);
    assert_true(testing_peer_at_end(&peer, &rig));
    testing_rig_settle(&rig);
    testing_peer_close(&peer);
  }
  testing_rig_stop(&rig);
}

static void test_peer_that_half_closes_while_its_answer_waits(void **state) {
  (void)state;
  struct testing_rig rig;
  struct testing_peer peer;
  const int small = 4608;
  testing_rig_start(&rig, NULL);
  testing_peer_dial(&peer, rig.http_port, small);
  testing_peer_echo(&peer, &rig);
  // The answer fits the output buffer and not the socket's, so the application is done and the peer is read from.
  assert_int_equal(setsockopt(only_conn(&rig)->stream.fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small)), 0);
  testing_peer_send(&peer, &rig, "big 100000\n");
  TESTING_TURN_UNTIL(&rig, only_conn(&rig)->stream.blocked);
  assert_int_equal(only_conn(&rig)->next, TG_APP_IDLE);
  assert_int_equal(shutdown(peer.fd, SHUT_WR), 0);
  size_t events = 0;
  for (int i = 0; i < 50; i++) {
    int turned = tg_shard_turn(rig.shard, 1);
    assert_true(turned >= 0);
    events += (size_t)turned;
  }
  assert_true(events < 10);
  testing_peer_receive_bulk(&peer, &rig, 100000);
  assert_true(testing_peer_at_end(&peer, &rig));
  testing_rig_settle(&rig);
  testing_peer_close(&peer);
  testing_rig_stop(&rig);
}

static void test_reset_in_mid_response(void **state) {
  (void)state;
  struct testing_rig rig;
  struct testing_peer peer;
  testing_rig_start(&rig, NULL);
  for (uint64_t i = 1; i <= 3; i++) {
    testing_peer_connect(&peer, &rig, &kTls13);
    testing_peer_send(&peer, &rig, "big 50000000\n");
    testing_peer_receive_bulk(&peer, &rig, 100000);
    testing_peer_reset(&peer);
    testing_rig_settle(&rig);
    assert_int_equal(testing_rig_counters(&rig).peer_reset, i);
  }
  testing_peer_start(&peer, &rig, &kTls13);
  assert_int_equal(SSL_do_handshake(peer.ssl), -1);
  TESTING_TURN_UNTIL(&rig, testing_rig_counters(&rig).in_handshake == 1);
  testing_peer_reset(&peer);
  testing_rig_settle(&rig);
  assert_int_equal(testing_rig_counters(&rig).handshake_failed, 1);
  testing_rig_stop(&rig);
}

static void test_abort_and_refusal_to_open(void **state) {
  (void)state;
  struct testing_rig rig;
  struct testing_peer peer;
  char byte;
  testing_rig_start(&rig, NULL);
  testing_peer_connect(&peer, &rig, &kTls13);
  testing_peer_send(&peer, &rig, "abort\n");
  assert_int_equal(testing_peer_receive(&peer, &rig, &byte, 1), 0);
  testing_peer_close(&peer);
  testing_rig_settle(&rig);
  rig.stats.refuse_to_open = true;
  const uint16_t ports[] = {rig.tls_port, rig.http_port};
  for (size_t i = 0; i < 2; i++) {
    if (ports[i] == rig.tls_port) {
      testing_peer_connect(&peer, &rig, &kTls13);
    } else {
      testing_peer_dial(&peer, ports[i], 0);
      TESTING_TURN_UNTIL(&rig, testing_rig_counters(&rig).plain_accepted == 1);
    }
    testing_rig_settle(&rig);
    testing_peer_close(&peer);
  }
  testing_rig_stop(&rig);
}

// Sends the text on the TLS port and returns what comes back, until the FIN.
static size_t exchange_raw(struct testing_rig *rig, const void *text, size_t len, uint8_t *out, size_t out_size) {
  struct testing_peer peer;
  testing_peer_dial(&peer, rig->tls_port, 0);
  assert_int_equal(send(peer.fd, text, len, MSG_NOSIGNAL), len);
  size_t got = testing_peer_receive(&peer, rig, (char *)out, out_size);
  // Ended by FIN and not by RST.
  assert_int_equal(recv(peer.fd, out + got, 1, 0), 0);
  testing_peer_close(&peer);
  testing_rig_settle(rig);
  return got;
}

static void test_plain_http_and_garbage_on_the_tls_port(void **state) {
  (void)state;
  struct testing_rig rig;
  uint8_t out[64];
  uint8_t garbage[3000];
  static const char kGet[] = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
  static const uint8_t kUnexpected[] = {21, 3, 1, 0, 2, 2, 10};  // RFC 8446, 6: alert, fatal, unexpected_message
  testing_rig_start(&rig, NULL);
  assert_int_equal(exchange_raw(&rig, kGet, sizeof(kGet) - 1, out, sizeof(out) - 1), sizeof(kUnexpected));
  assert_int_equal(out[0], 21);
  assert_memory_equal(out + 3, kUnexpected + 3, 4);
  uint32_t seed = 1;
  for (size_t round = 0; round < 20; round++) {
    for (size_t i = 0; i < sizeof(garbage); i++) {
      seed = seed * 1664525 + 1013904223;
      garbage[i] = (uint8_t)(seed >> 24);
    }
    garbage[0] |= 0x40;  // no record, no hello of SSL 2
    garbage[0] &= 0x7f;
    size_t got = exchange_raw(&rig, garbage, sizeof(garbage), out, sizeof(out) - 1);
    assert_int_equal(got, 7);
    assert_int_equal(out[0], 21);
  }
  assert_int_equal(testing_rig_counters(&rig).handshake_failed, 21);
  testing_rig_stop(&rig);
}

static void test_end_before_and_within_the_hello(void **state) {
  (void)state;
  struct testing_rig rig;
  struct testing_peer peer;
  testing_rig_start(&rig, NULL);
  testing_peer_dial(&peer, rig.tls_port, 0);
  testing_peer_close(&peer);
  TESTING_TURN_UNTIL(&rig, testing_rig_counters(&rig).handshake_failed == 1);
  testing_peer_dial(&peer, rig.tls_port, 0);
  testing_peer_send(&peer, &rig, "\x16\x03\x01");
  testing_peer_close(&peer);
  TESTING_TURN_UNTIL(&rig, testing_rig_counters(&rig).handshake_failed == 2);
  testing_rig_settle(&rig);
  testing_rig_stop(&rig);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_plaintext),
      cmocka_unit_test(test_large_responses_and_pipelined_requests),
      cmocka_unit_test(test_every_accepted_socket_has_nodelay),
      cmocka_unit_test(test_half_closed_peer_is_answered),
      cmocka_unit_test(test_peer_that_half_closes_while_its_answer_waits),
      cmocka_unit_test(test_reset_in_mid_response),
      cmocka_unit_test(test_abort_and_refusal_to_open),
      cmocka_unit_test(test_plain_http_and_garbage_on_the_tls_port),
      cmocka_unit_test(test_end_before_and_within_the_hello),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
