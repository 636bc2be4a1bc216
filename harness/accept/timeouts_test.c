// Deadlines: each ends what it is for, whatever the peer does, and nothing else; and the bounds of draining.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <openssl/err.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness/accept/conn.h"
#include "harness/accept/testing_rig.h"

static const struct testing_peer_options kTls13 = {.version = TLS1_3_VERSION};

static void short_deadlines(struct testing_options *options) {
  testing_options_default(options);
  options->shard.deadlines = (struct tg_deadlines){
      .handshake_ms = 60000, .request_ms = 60000, .idle_ms = 60000, .response_ms = 60000, .drain_ms = 60000};
}

// Sends one byte of the text at a time, a few milliseconds apart, until the connection is gone.
static void trickle(struct testing_rig *rig, struct testing_peer *peer, const char *text) {
  uint64_t start_ms = testing_now_ms();
  for (size_t i = 0; tg_shard_connections(rig->shard) > 0; i = (i + 1) % strlen(text)) {
    assert_true(testing_now_ms() - start_ms < TESTING_PATIENCE_MS);
    if (peer->ssl == NULL) {
      (void)send(peer->fd, text + i, 1, MSG_NOSIGNAL);
    } else {
      ERR_clear_error();
      (void)SSL_write(peer->ssl, text + i, 1);
    }
    for (int turn = 0; turn < 3; turn++) {
      assert_true(tg_shard_turn(rig->shard, 2) >= 0);
    }
  }
  ERR_clear_error();
}

static void test_silent_and_trickling_handshakes_end_at_their_deadline(void **state) {
  (void)state;
  struct testing_rig rig;
  struct testing_peer peer;
  struct testing_options options;
  short_deadlines(&options);
  options.shard.deadlines.handshake_ms = 100;
  testing_rig_start(&rig, &options);
  uint64_t start_ms = testing_now_ms();
  testing_peer_dial(&peer, rig.tls_port, 0);
  TESTING_TURN_UNTIL(&rig, tg_shard_connections(rig.shard) == 1);
  // One turn without a time limit is enough.
  assert_int_equal(tg_shard_turn(rig.shard, -1), 0);
  assert_true(testing_now_ms() - start_ms >= 100);
  assert_int_equal(testing_rig_counters(&rig).handshake_timed_out, 1);
  testing_rig_settle(&rig);
  testing_peer_close(&peer);

  start_ms = testing_now_ms();
  testing_peer_dial(&peer, rig.tls_port, 0);
  TESTING_TURN_UNTIL(&rig, tg_shard_connections(rig.shard) == 1);
  // The header of a record of 16 KiB, and then zeroes one by one.
  assert_int_equal(send(peer.fd, "\x16\x03\x01\x40\x00", 5, MSG_NOSIGNAL), 5);
  trickle(&rig, &peer, "\x01");
  assert_in_range(testing_now_ms() - start_ms, 100, 5000);
  assert_int_equal(testing_rig_counters(&rig).handshake_timed_out, 2);
  testing_rig_settle(&rig);
  testing_peer_close(&peer);
  testing_rig_stop(&rig);
}

static void test_idle_connection_is_told_and_closed(void **state) {
  (void)state;
  struct testing_rig rig;
  struct testing_peer peer;
  struct testing_options options;
  short_deadlines(&options);
  options.shard.deadlines.idle_ms = 300;
  testing_rig_start(&rig, &options);
  testing_peer_connect(&peer, &rig, &kTls13);
  // Each response earns a new wait.
  uint64_t start_ms = testing_now_ms();
  while (testing_now_ms() - start_ms < 700) {
    testing_peer_echo(&peer, &rig);
  }
  assert_true(testing_peer_at_end(&peer, &rig));
  assert_int_equal(testing_rig_counters(&rig).open_timed_out, 1);
  testing_rig_settle(&rig);
  testing_peer_close(&peer);
  testing_rig_stop(&rig);
}

static void test_trickled_request_ends_at_its_deadline(void **state) {
  (void)state;
  struct testing_rig rig;
  struct testing_options options;
  short_deadlines(&options);
  options.shard.deadlines.request_ms = 300;
  testing_rig_start(&rig, &options);
  for (uint64_t tls = 0; tls < 2; tls++) {
    struct testing_peer peer;
    if (tls) {
      testing_peer_connect(&peer, &rig, &kTls13);
    } else {
      testing_peer_dial(&peer, rig.http_port, 0);
    }
    testing_peer_echo(&peer, &rig);
    uint64_t start_ms = testing_now_ms();
    trickle(&rig, &peer, "y");
    assert_in_range(testing_now_ms() - start_ms, 300, 5000);
    assert_int_equal(testing_rig_counters(&rig).open_timed_out, tls + 1);
    testing_rig_settle(&rig);
    testing_peer_close(&peer);
  }
  // Requests that are completed in time are not cut however long they go on.
  struct testing_peer peer;
  testing_peer_dial(&peer, rig.http_port, 0);
  uint64_t start_ms = testing_now_ms();
  testing_peer_send(&peer, &rig, "echo ");
  while (testing_now_ms() - start_ms < 700) {
    char answer[7];
    testing_peer_send(&peer, &rig, "x\necho ");
    assert_int_equal(testing_peer_receive(&peer, &rig, answer, 7), 7);
  }
  assert_int_equal(testing_rig_counters(&rig).open_timed_out, 2);
  testing_peer_close(&peer);
  testing_rig_settle(&rig);
  testing_rig_stop(&rig);
}

static void test_never_reading_peer_is_cut_and_a_slow_one_is_not(void **state) {
  (void)state;
  struct testing_rig rig;
  struct testing_peer peer;
  struct testing_options options;
  short_deadlines(&options);
  options.shard.deadlines.response_ms = 400;
  testing_rig_start(&rig, &options);
  testing_peer_connect(&peer, &rig, &(struct testing_peer_options){.receive_buffer = 8192});
  testing_peer_send(&peer, &rig, "big 100000000\n");
  testing_rig_settle(&rig);
  assert_int_equal(testing_rig_counters(&rig).open_timed_out, 1);
  testing_peer_close(&peer);

  // This one rests 60 ms every 400,000 bytes, hence far longer than the deadline for the whole.
  testing_peer_dial(&peer, rig.http_port, 65536);
  testing_peer_send(&peer, &rig, "big 8000000\n");
  uint64_t start_ms = testing_now_ms();
  for (size_t left = 8000000; left > 0;) {
    size_t part = left < 400000 ? left : 400000;
    testing_peer_receive_bulk(&peer, &rig, part);
    left -= part;
    usleep(60000);
  }
  assert_true(testing_now_ms() - start_ms > 1000);
  testing_peer_echo(&peer, &rig);
  assert_int_equal(testing_rig_counters(&rig).open_timed_out, 1);
  testing_peer_close(&peer);
  testing_rig_settle(&rig);
  testing_rig_stop(&rig);
}

static void test_trickled_reading_ends_at_the_deadline(void **state) {
  (void)state;
  struct testing_rig rig;
  struct testing_peer peer;
  struct testing_options options;
  char part[2048];
  const int small = 4608;
  short_deadlines(&options);
  options.shard.deadlines.response_ms = 150;
  testing_rig_start(&rig, &options);
  testing_peer_dial(&peer, rig.http_port, 4608);
  testing_peer_echo(&peer, &rig);
  // Small buffers on both sides, so that the server's socket takes a little each time the peer reads a little.
  struct tg_conn *conn = TG_CONTAINER(rig.shard->conns.next, struct tg_conn, member);
  assert_int_equal(setsockopt(conn->stream.fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small)), 0);
  testing_peer_send(&peer, &rig, "big 100000000\n");
  uint64_t start_ms = testing_now_ms();
  while (tg_shard_connections(rig.shard) > 0) {
    assert_true(testing_now_ms() - start_ms < 5000);
    (void)recv(peer.fd, part, sizeof(part), 0);
    usleep(10000);
    assert_true(tg_shard_turn(rig.shard, 0) >= 0);
  }
  assert_true(testing_rig_counters(&rig).bytes_written < 1000000);
  assert_int_equal(testing_rig_counters(&rig).open_timed_out, 1);
  testing_peer_close(&peer);
  testing_rig_settle(&rig);
  testing_rig_stop(&rig);
}

static void test_drain_reads_off_what_comes_late(void **state) {
  (void)state;
  struct testing_rig rig;
  struct testing_peer peer;
  static char late[1000000];
  memset(late, 'z', sizeof(late));
  testing_rig_start(&rig, NULL);
  testing_peer_dial(&peer, rig.http_port, 0);
  testing_peer_send(&peer, &rig, "bye\n");
  // The peer goes on writing before it reads, as one does that uploads what is refused.
  TESTING_TURN_UNTIL(&rig, testing_rig_counters(&rig).draining == 1);
  size_t sent = 0;
  TESTING_TURN_UNTIL(&rig, ({
    ssize_t put = send(peer.fd, late + sent, sizeof(late) - sent, MSG_NOSIGNAL);
    sent += put > 0 ? (size_t)put : 0;
    sent == sizeof(late);
  }));
  char answer[4];
  assert_int_equal(testing_peer_receive(&peer, &rig, answer, 4), 4);
  assert_memory_equal(answer, "bye\n", 4);
  assert_true(testing_peer_at_end(&peer, &rig));
  testing_peer_close(&peer);
  testing_rig_settle(&rig);
  assert_int_equal(testing_rig_counters(&rig).peer_reset, 0);
  assert_int_equal(testing_rig_counters(&rig).drain_timed_out, 0);
  testing_rig_stop(&rig);
}

static void test_drain_is_bounded_in_time_and_bytes(void **state) {
  (void)state;
  struct testing_rig rig;
  struct testing_peer peer;
  struct testing_options options;
  short_deadlines(&options);
  options.shard.deadlines.drain_ms = 100;
  testing_rig_start(&rig, &options);
  testing_peer_connect(&peer, &rig, &kTls13);
  uint64_t start_ms = testing_now_ms();
  testing_peer_send(&peer, &rig, "bye\n");
  TESTING_TURN_UNTIL(&rig, testing_rig_counters(&rig).draining == 1);
  testing_rig_settle(&rig);
  assert_true(testing_now_ms() - start_ms >= 100);
  assert_int_equal(testing_rig_counters(&rig).drain_timed_out, 1);
  testing_peer_close(&peer);
  testing_rig_stop(&rig);

  static char endless[262144];
  short_deadlines(&options);
  testing_rig_start(&rig, &options);
  testing_peer_dial(&peer, rig.http_port, 0);
  testing_peer_send(&peer, &rig, "bye\n");
  TESTING_TURN_UNTIL(&rig, ({
    (void)send(peer.fd, endless, sizeof(endless), MSG_NOSIGNAL);
    tg_shard_connections(rig.shard) == 0 && testing_rig_counters(&rig).closed == 1;
  }));
  assert_in_range(testing_rig_counters(&rig).bytes_read, 16000000, 18000000);
  testing_peer_close(&peer);
  testing_rig_stop(&rig);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_silent_and_trickling_handshakes_end_at_their_deadline),
      cmocka_unit_test(test_idle_connection_is_told_and_closed),
      cmocka_unit_test(test_trickled_request_ends_at_its_deadline),
      cmocka_unit_test(test_never_reading_peer_is_cut_and_a_slow_one_is_not),
      cmocka_unit_test(test_trickled_reading_ends_at_the_deadline),
      cmocka_unit_test(test_drain_reads_off_what_comes_late),
      cmocka_unit_test(test_drain_is_bounded_in_time_and_bytes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
