// Who limited a run: the rule that keeps a slow client from being taken for a slow server.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "perf/workload/load.h"

static void test_client_bound(void **state) {
  (void)state;
  // seconds, client CPU, server CPU, client threads, CPUs
  assert_true(tg_client_bound(1.0, 0.95, 0.4, 1, 2));    // its one thread is busy
  assert_false(tg_client_bound(1.0, 0.5, 0.9, 1, 2));    // neither is
  assert_true(tg_client_bound(1.0, 1.0, 0.95, 4, 2));    // no CPU is left, and the client has half of them
  assert_false(tg_client_bound(1.0, 0.2, 1.75, 4, 2));   // no CPU is left, but the server has them
  assert_false(tg_client_bound(1.0, 0.01, 0.01, 1, 2));  // all wait: a server that sleeps is not excused
  assert_true(tg_client_bound(1.0, 1.9, 0.05, 4, 2));    // more threads than CPUs
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_client_bound)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
