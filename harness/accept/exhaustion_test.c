// A process that may have few descriptors: it survives, does not spin, and serves again when some are free.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/resource.h>
#include <unistd.h>

#include "harness/accept/testing_rig.h"

enum { kDescriptors = 64, kPeers = 40 };

static void test_few_descriptors(void **state) {
  (void)state;
  struct testing_rig rig;
  struct testing_peer peers[kPeers];
  const struct rlimit few = {.rlim_cur = kDescriptors, .rlim_max = kDescriptors};
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
  testing_rig_start(&rig, NULL);
  // The clients' sockets are of the same process, so the shard's share runs out in the middle of these.
  for (size_t i = 0; i < kPeers; i++) {
    testing_peer_dial(&peers[i], rig.tls_port, 0);
  }
  TESTING_TURN_UNTIL(&rig, testing_rig_counters(&rig).accept_paused > 0);
  assert_true(tg_shard_connections(rig.shard) < kPeers);

  uint64_t start_ms = testing_now_ms();
  unsigned turns = 0;
  while (testing_now_ms() - start_ms < 400) {
    assert_true(tg_shard_turn(rig.shard, 40) >= 0);
    turns++;
  }
  assert_true(turns < 40);

  // Clients go, the others get their turn.
  for (size_t i = 0; i < kPeers; i++) {
    testing_peer_close(&peers[i]);
    if (i % 4 == 0) {
      assert_true(tg_shard_turn(rig.shard, 1) >= 0);
    }
  }
  TESTING_TURN_UNTIL(&rig, testing_rig_counters(&rig).accepted == kPeers);
  testing_rig_settle(&rig);
  for (size_t i = 0; i < 3; i++) {
    struct testing_peer peer;
    testing_peer_connect(&peer, &rig, &(struct testing_peer_options){.version = TLS1_3_VERSION});
    testing_peer_echo(&peer, &rig);
    testing_peer_close(&peer);
    testing_rig_settle(&rig);
  }
  testing_rig_stop(&rig);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_few_descriptors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
