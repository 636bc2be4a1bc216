// The same input gives the same run: 10,000 times one exchange, with faults, over the accept path.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <openssl/err.h>

#include "harness/kernel/testing_shard.h"

#define REPLAYS     10000
#define NUM_CLIENTS 3

struct outcome {
  uint64_t hash;
  uint64_t lines;
  uint64_t end_ns;
};

static struct outcome run_once(struct tg_kernel *kernel, int accept_error) {
  static const struct testing_shard_config kConfig = {.quickack = TG_QUICKACK_REARM, .shards = 2};
  struct tg_kernel_options options;
  tg_kernel_options_default(&options);
  tg_kernel_reset(kernel, &options);
  tg_kernel_enter(kernel, 0);
  void *server = testing_shard_adapter.create(&kConfig);
  tg_kernel_leave(kernel);
  const struct tg_injection faults[] = {
      {.call = TG_CALL_ACCEPT, .skip = 1, .times = 1, .error = accept_error},
      {.call = TG_CALL_RECV, .skip = 1, .times = 2, .limit = 5},
      {.call = TG_CALL_SEND, .times = 1, .error = EAGAIN},
      {.call = TG_CALL_EPOLL_WAIT, .skip = 2, .times = 1, .error = EINTR},
  };
  for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
    assert_true(tg_kernel_inject(kernel, &faults[i]));
  }
  struct testing_client clients[NUM_CLIENTS];
  for (size_t i = 0; i < NUM_CLIENTS; i++) {
    testing_client_start(&clients[i], kernel, TESTING_HTTP_PORT, NULL);
  }
  struct tg_sim *sim = tg_kernel_sim(kernel);
  // To the end: nothing is left that could happen.
  assert_false(tg_adapter_run(kernel, &testing_shard_adapter, server, NULL, sim->now_ns + 100000 * TG_SIM_NS_PER_MS));
  for (size_t i = 0; i < NUM_CLIENTS; i++) {
    assert_true(clients[i].answered_ns > 0 && clients[i].closed);
  }
  tg_kernel_enter(kernel, 0);
  testing_shard_adapter.destroy(server);
  tg_kernel_leave(kernel);
  assert_int_equal(tg_kernel_allocations(kernel), 0);
  const struct tg_trace *trace = tg_kernel_trace(kernel);
  return (struct outcome){.hash = trace->hash, .lines = trace->lines, .end_ns = sim->now_ns};
}

static void replays_are_identical(void **state) {
  (void)state;
  struct tg_kernel_options options;
  tg_kernel_options_default(&options);
  struct tg_kernel *kernel = tg_kernel_create(&options);
  assert_non_null(kernel);
  // What the library allocates for good the first time.
  ERR_clear_error();
  const struct outcome first = run_once(kernel, ECONNABORTED);
  assert_true(first.lines > 50);
  for (int i = 1; i < REPLAYS; i++) {
    struct outcome again = run_once(kernel, ECONNABORTED);
    assert_true(again.hash == first.hash);
    assert_int_equal(again.lines, first.lines);
    assert_int_equal(again.end_ns, first.end_ns);
  }
  // That the trace tells runs apart.
  assert_true(run_once(kernel, EMFILE).hash != first.hash);
  tg_kernel_destroy(kernel);
  // Nor does another kernel change anything.
  kernel = tg_kernel_create(&options);
  assert_non_null(kernel);
  assert_true(run_once(kernel, ECONNABORTED).hash == first.hash);
  tg_kernel_destroy(kernel);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(replays_are_identical)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
