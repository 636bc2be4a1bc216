// The accept path built as where TCP_QUICKACK does not exist: it serves, and sets nothing.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "harness/accept/testing_rig.h"

static void test_it_serves(void **state) {
  (void)state;
  static const uint16_t kVersions[] = {TLS1_2_VERSION, TLS1_3_VERSION};
  struct testing_rig rig;
  struct testing_options options;
  testing_options_default(&options);
  options.shard.quickack = TG_QUICKACK_REARM;
  testing_rig_start(&rig, &options);
  for (size_t i = 0; i < 2; i++) {
    struct testing_peer peer;
    testing_peer_connect(&peer, &rig, &(struct testing_peer_options){.version = kVersions[i]});
    testing_peer_echo(&peer, &rig);
    testing_peer_send(&peer, &rig, "ec");
    testing_peer_send(&peer, &rig, "ho\n");
    char answer[5];
    assert_int_equal(testing_peer_receive(&peer, &rig, answer, 5), 5);
    testing_peer_close(&peer);
    testing_rig_settle(&rig);
  }
  struct tg_counters now = testing_rig_counters(&rig);
  assert_int_equal(now.established, 2);
  assert_int_equal(now.quickack_armed, 0);
  assert_int_equal(now.quickack_failed, 0);
  testing_rig_stop(&rig);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_it_serves),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
