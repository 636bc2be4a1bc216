// Winding down: what was promised is kept, within the grace.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness/accept/testing_rig.h"

static const struct testing_peer_options kTls13 = {.version = TLS1_3_VERSION};

static void test_wind_down(void **state) {
  (void)state;
  struct testing_rig rig;
  struct testing_peer idle;
  struct testing_peer silent;
  struct testing_peer asking;
  struct testing_peer reading;
  struct testing_peer shaking;
  char answer[12];
  testing_rig_start(&rig, NULL);
  testing_peer_connect(&idle, &rig, &kTls13);
  testing_peer_echo(&idle, &rig);
  testing_peer_connect(&asking, &rig, &kTls13);
  testing_peer_send(&asking, &rig, "echo hal");
  testing_peer_connect(&reading, &rig, &kTls13);
  testing_peer_send(&reading, &rig, "big 9000000\n");
  testing_peer_dial(&silent, rig.tls_port, 0);
  testing_peer_start(&shaking, &rig, &kTls13);
  assert_int_equal(SSL_do_handshake(shaking.ssl), -1);
  TESTING_TURN_UNTIL(&rig, testing_rig_counters(&rig).accepted == 5 && rig.stats.requests == 2);
  for (int i = 0; i < 5; i++) {
    assert_true(tg_shard_turn(rig.shard, 1) >= 0);
  }

  tg_shard_wind_down(rig.shard, 60000);
  testing_rig_counters(&rig);
  // Nobody new.
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(rig.tls_port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), -1);
  assert_int_equal(errno, ECONNREFUSED);
  close(fd);
  // The idle one is told; the silent one is closed; the others get what they were promised.
  assert_true(testing_peer_at_end(&idle, &rig));
  assert_true(testing_peer_at_end(&silent, &rig));
  testing_peer_send(&asking, &rig, "f\n");
  assert_int_equal(testing_peer_receive(&asking, &rig, answer, 10), 10);
  assert_memory_equal(answer, "echo half\n", 10);
  assert_true(testing_peer_at_end(&asking, &rig));
  testing_peer_receive_bulk(&reading, &rig, 9000000);
  assert_true(testing_peer_at_end(&reading, &rig));
  testing_peer_close(&idle);
  testing_peer_close(&silent);
  testing_peer_close(&asking);
  testing_peer_close(&reading);
  assert_true(testing_peer_shake(&shaking, &rig));
  assert_true(testing_peer_at_end(&shaking, &rig));
  testing_peer_close(&shaking);
  testing_rig_settle(&rig);
  assert_int_equal(testing_rig_counters(&rig).handshake_failed, 1);
  testing_rig_stop(&rig);
}

static void test_wind_down_cuts_after_its_grace(void **state) {
  (void)state;
  struct testing_rig rig;
  struct testing_peer asking;
  struct testing_peer shaking;
  testing_rig_start(&rig, NULL);
  testing_peer_connect(&asking, &rig, &kTls13);
  testing_peer_send(&asking, &rig, "echo hal");
  testing_peer_start(&shaking, &rig, &kTls13);
  assert_int_equal(SSL_do_handshake(shaking.ssl), -1);
  TESTING_TURN_UNTIL(&rig, testing_rig_counters(&rig).accepted == 2);
  for (int i = 0; i < 5; i++) {
    assert_true(tg_shard_turn(rig.shard, 1) >= 0);
  }
  uint64_t start_ms = testing_now_ms();
  tg_shard_wind_down(rig.shard, 100);
  while (tg_shard_connections(rig.shard) > 0) {
    assert_true(tg_shard_turn(rig.shard, -1) >= 0);
  }
  assert_in_range(testing_now_ms() - start_ms, 100, 5000);
  struct tg_counters now = testing_rig_counters(&rig);
  assert_int_equal(now.handshake_failed, 1);
  assert_int_equal(now.handshake_timed_out, 0);
  assert_int_equal(now.open_timed_out, 1);
  testing_peer_close(&asking);
  testing_peer_close(&shaking);
  testing_rig_stop(&rig);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_wind_down),
      cmocka_unit_test(test_wind_down_cuts_after_its_grace),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
