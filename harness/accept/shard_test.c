// A shard as a whole: fairness, work left over between turns, limits, waking, destroying, configuration.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>

#include "harness/accept/conn.h"
#include "harness/accept/testing_rig.h"

static const struct testing_peer_options kTls13 = {.version = TLS1_3_VERSION};

static void test_a_busy_peer_does_not_hold_up_the_others(void **state) {
  (void)state;
  struct testing_rig rig;
  struct testing_peer busy;
  struct testing_peer quiet;
  char answer[4096];
  testing_rig_start(&rig, NULL);
  testing_peer_dial(&busy, rig.http_port, 0);
  testing_peer_dial(&quiet, rig.http_port, 0);
  testing_peer_echo(&busy, &rig);
  testing_peer_echo(&quiet, &rig);
  // Requests of two bytes, as many as the socket holds.
  static char many[1000000];
  for (size_t i = 0; i < sizeof(many); i += 2) {
    many[i] = 'x';
    many[i + 1] = '\n';
  }
  assert_true(send(busy.fd, many, sizeof(many), MSG_NOSIGNAL) > 0);
  assert_int_equal(send(quiet.fd, "echo\n", 5, MSG_NOSIGNAL), 5);
  // Within two turns the quiet one is answered, and in neither has the busy one had more than its share.
  for (int i = 0; i < 2; i++) {
    size_t before = rig.stats.requests;
    assert_true(tg_shard_turn(rig.shard, 100) >= 0);
    assert_true(rig.stats.requests - before <= (TG_STREAM_TURN_BYTES + TG_STREAM_IN_BLOCK) / 2 + 1);
  }
  assert_int_equal(recv(quiet.fd, answer, sizeof(answer), 0), 5);
  testing_peer_close(&busy);
  testing_peer_close(&quiet);
  testing_rig_settle(&rig);
  testing_rig_stop(&rig);
}

// An application that takes one byte at a time and asks for a pause after each: the library holds what it has not seen.
static void *sipping_opened(void *data, struct tg_conn *conn) {
  (void)conn;
  return data;
}

static enum tg_app_next sipping_readable(void *opaque, struct tg_conn *conn) {
  size_t *sipped = opaque;
  char byte;
  ssize_t got = tg_conn_read(conn, &byte, 1);
  *sipped += got == 1;
  return got == 1 ? TG_APP_WRITE : TG_APP_IDLE;
}

static enum tg_app_next sipping_writable(void *opaque, struct tg_conn *conn) {
  (void)opaque;
  (void)conn;
  return TG_APP_IDLE;
}

static void sipping_closed(void *opaque) {
  (void)opaque;
}

static void test_bytes_read_ahead_are_not_forgotten(void **state) {
  (void)state;
  static const struct tg_app kSipping = {.opened = sipping_opened,
                                         .readable = sipping_readable,
                                         .writable = sipping_writable,
                                         .finish_requested = sipping_writable,
                                         .closed = sipping_closed};
  struct testing_rig rig;
  struct testing_options options;
  size_t sipped = 0;
  testing_options_default(&options);
  options.shard.app = &kSipping;
  options.shard.app_data = &sipped;
  testing_rig_start(&rig, &options);
  for (int tls = 0; tls < 2; tls++) {
    struct testing_peer peer;
    char text[1001];
    memset(text, 'y', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    if (tls) {
      testing_peer_connect(&peer, &rig, &kTls13);
    } else {
      testing_peer_dial(&peer, rig.http_port, 0);
    }
    sipped = 0;
    testing_peer_send(&peer, &rig, text);
    // One recv has fetched it all, so no event will tell of the rest, and there is far more than a run's worth.
    TESTING_TURN_UNTIL(&rig, sipped > 0);
    assert_true(sipped < 500);
    for (int i = 0; i < 50 && sipped < 1000; i++) {
      assert_true(tg_shard_turn(rig.shard, 100) >= 0);
    }
    assert_int_equal(sipped, 1000);
    testing_peer_close(&peer);
    testing_rig_settle(&rig);
  }
  testing_rig_stop(&rig);
}

static void test_over_capacity(void **state) {
  (void)state;
  struct testing_rig rig;
  struct testing_peer peers[3];
  struct testing_options options;
  testing_options_default(&options);
  options.shard.max_connections = 2;
  testing_rig_start(&rig, &options);
  for (size_t i = 0; i < 3; i++) {
    testing_peer_connect(&peers[i], &rig, &kTls13);
    testing_peer_echo(&peers[i], &rig);
    size_t over = 0;
    for (struct tg_link *at = rig.shard->conns.next; at != &rig.shard->conns; at = at->next) {
      over += tg_conn_over_capacity(TG_CONTAINER(at, struct tg_conn, member));
    }
    assert_int_equal(over, i == 2);
  }
  assert_int_equal(testing_rig_counters(&rig).over_capacity, 1);
  for (size_t i = 0; i < 3; i++) {
    testing_peer_close(&peers[i]);
  }
  testing_rig_settle(&rig);
  testing_rig_stop(&rig);
}

static void test_shards_that_share_a_count_share_the_limit(void **state) {
  (void)state;
  enum { RIGS = 2, MOST = 3, PEERS = 6 };
  struct testing_rig rigs[RIGS];
  struct testing_peer peers[PEERS];
  struct testing_options options;
  atomic_size_t connections = 0;
  testing_options_default(&options);
  options.shard.max_connections = MOST;
  options.shard.connections = &connections;
  for (size_t i = 0; i < RIGS; i++) {
    testing_rig_start(&rigs[i], &options);
  }
  for (size_t i = 0; i < PEERS; i++) {
    struct testing_rig *rig = &rigs[i % RIGS];
    testing_peer_connect(&peers[i], rig, &kTls13);
    testing_peer_echo(&peers[i], rig);
    assert_int_equal(atomic_load(&connections), i + 1);
    uint64_t over = testing_rig_counters(&rigs[0]).over_capacity + testing_rig_counters(&rigs[1]).over_capacity;
    assert_int_equal(over, i < MOST ? 0 : i + 1 - MOST);
  }
  // What one shard gives up is the other's to take.
  for (size_t i = 0; i < PEERS; i += RIGS) {
    testing_peer_close(&peers[i]);
  }
  testing_rig_settle(&rigs[0]);
  assert_int_equal(atomic_load(&connections), PEERS / RIGS);
  testing_peer_close(&peers[1]);
  TESTING_TURN_UNTIL(&rigs[1], atomic_load(&connections) == PEERS / RIGS - 1);
  uint64_t over_before = testing_rig_counters(&rigs[1]).over_capacity;
  testing_peer_connect(&peers[1], &rigs[1], &kTls13);
  assert_int_equal(testing_rig_counters(&rigs[1]).over_capacity, over_before);
  for (size_t i = 0; i < RIGS; i++) {
    testing_rig_stop(&rigs[i]);
  }
  assert_int_equal(atomic_load(&connections), 0);
  for (size_t i = 1; i < PEERS; i += RIGS) {
    testing_peer_close(&peers[i]);
  }
}

static void test_wake(void **state) {
  (void)state;
  struct testing_rig rig;
  testing_rig_start(&rig, NULL);
  tg_shard_wake(rig.shard);
  tg_shard_wake(rig.shard);
  assert_int_equal(tg_shard_turn(rig.shard, -1), 1);
  assert_int_equal(tg_shard_turn(rig.shard, 0), 0);
  testing_rig_stop(&rig);
}

static void test_destroy_with_connections_of_every_phase(void **state) {
  (void)state;
  struct testing_rig rig;
  struct testing_peer shaking;
  struct testing_peer open_one;
  struct testing_peer draining;
  testing_rig_start(&rig, NULL);
  testing_peer_connect(&open_one, &rig, &kTls13);
  testing_peer_send(&open_one, &rig, "big 50000000\n");
  testing_peer_connect(&draining, &rig, &kTls13);
  testing_peer_send(&draining, &rig, "bye\n");
  testing_peer_start(&shaking, &rig, &kTls13);
  assert_int_equal(SSL_do_handshake(shaking.ssl), -1);
  TESTING_TURN_UNTIL(&rig, testing_rig_counters(&rig).accepted == 3 && testing_rig_counters(&rig).draining == 1);
  testing_rig_stop(&rig);
  testing_peer_close(&shaking);
  testing_peer_close(&open_one);
  testing_peer_close(&draining);
}

static void test_configuration_is_checked(void **state) {
  (void)state;
  struct tg_shard_config config;
  struct tg_error err;
  static const struct tg_app kNone = {0};
  tg_shard_config_default(&config);
  assert_null(tg_shard_create(&config, &err));
  assert_non_null(strstr(err.text, "application"));
  config.app = &kNone;
  uint32_t *fields[] = {&config.deadlines.handshake_ms, &config.deadlines.request_ms, &config.deadlines.idle_ms,
                        &config.deadlines.response_ms,  &config.deadlines.drain_ms,   &config.max_connections};
  for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
    uint32_t good = *fields[i];
    const uint32_t bad[] = {0, 86400001};
    for (size_t j = 0; j < 2; j++) {
      *fields[i] = bad[j];
      assert_null(tg_shard_create(&config, &err));
    }
    *fields[i] = good;
  }
  config.tls_listener = 0;
  assert_null(tg_shard_create(&config, &err));
  assert_non_null(strstr(err.text, "TLS context"));
  config.tls_listener = -1;
  config.http_listener = 1000000;
  assert_null(tg_shard_create(&config, &err));
  config.http_listener = -1;
  struct tg_shard *shard = tg_shard_create(&config, &err);
  assert_non_null(shard);
  tg_shard_destroy(shard);
  tg_shard_destroy(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_busy_peer_does_not_hold_up_the_others),
      cmocka_unit_test(test_bytes_read_ahead_are_not_forgotten),
      cmocka_unit_test(test_over_capacity),
      cmocka_unit_test(test_shards_that_share_a_count_share_the_limit),
      cmocka_unit_test(test_wake),
      cmocka_unit_test(test_destroy_with_connections_of_every_phase),
      cmocka_unit_test(test_configuration_is_checked),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
