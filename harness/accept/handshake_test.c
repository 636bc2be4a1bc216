// Handshakes of every kind, through a whole shard on loopback.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "harness/accept/testing_rig.h"

static void check_exchange(uint16_t version) {
  struct testing_rig rig;
  struct testing_peer peer;
  testing_rig_start(&rig, NULL);
  testing_peer_connect(&peer, &rig, &(struct testing_peer_options){.version = version});
  testing_peer_echo(&peer, &rig);
  testing_peer_echo(&peer, &rig);
  struct tg_counters now = testing_rig_counters(&rig);
  assert_int_equal(now.established, 1);
  assert_int_equal(now.open, 1);
  assert_int_equal(now.resumed, 0);
  testing_peer_send(&peer, &rig, "bye\n");
  char answer[4];
  assert_int_equal(testing_peer_receive(&peer, &rig, answer, 4), 4);
  assert_memory_equal(answer, "bye\n", 4);
  assert_true(testing_peer_at_end(&peer, &rig));
  testing_peer_close(&peer);
  testing_rig_settle(&rig);
  testing_rig_stop(&rig);
}

static void test_tls13_exchange(void **state) {
  (void)state;
  check_exchange(TLS1_3_VERSION);
}

static void test_tls12_exchange(void **state) {
  (void)state;
  check_exchange(TLS1_2_VERSION);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_tls13_exchange),
      cmocka_unit_test(test_tls12_exchange),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
