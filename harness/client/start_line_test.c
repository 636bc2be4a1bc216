// The start line: all or none, and nobody is left waiting.
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "harness/client/start_line.h"

#define CLIENTS 8

struct client {
  struct tg_start_line *line;
  atomic_int *warm;  // clients that have warmed up
  uint32_t index;
  bool fails;
  bool went;
  int warm_when_started;
};

static void *run(void *argument) {
  struct client *client = argument;
  (void)usleep(1000 * client->index);
  if (client->fails) {
    (void)tg_start_line_fail(client->line);
    return NULL;
  }
  atomic_fetch_add(client->warm, 1);
  client->went = tg_start_line_wait(client->line);
  client->warm_when_started = atomic_load(client->warm);
  return NULL;
}

// Runs CLIENTS of them, of which `failing` fails in its warm-up (CLIENTS: none). Returns how many went to measure.
static int race(struct client clients[CLIENTS], uint32_t failing) {
  struct tg_start_line line;
  atomic_int warm = 0;
  pthread_t threads[CLIENTS];
  int went = 0;
  tg_start_line_init(&line, CLIENTS);
  for (uint32_t i = 0; i < CLIENTS; i++) {
    clients[i] = (struct client){.line = &line, .warm = &warm, .index = i, .fails = i == failing};
    assert_int_equal(pthread_create(&threads[i], NULL, run, &clients[i]), 0);
  }
  for (uint32_t i = 0; i < CLIENTS; i++) {
    assert_int_equal(pthread_join(threads[i], NULL), 0);
    went += clients[i].went;
  }
  assert_int_equal(tg_start_line_failed(&line), failing < CLIENTS);
  tg_start_line_destroy(&line);
  return went;
}

static void nobody_measures_before_all_have_warmed_up(void **state) {
  (void)state;
  struct client clients[CLIENTS];
  assert_int_equal(race(clients, CLIENTS), CLIENTS);
  for (uint32_t i = 0; i < CLIENTS; i++) {
    assert_int_equal(clients[i].warm_when_started, CLIENTS);
  }
}

static void a_failure_releases_those_that_wait(void **state) {
  (void)state;
  struct client clients[CLIENTS];
  assert_int_equal(race(clients, 0), 0);
  assert_int_equal(race(clients, CLIENTS - 1), 0);
}

static void the_first_failure_is_the_one_to_report(void **state) {
  (void)state;
  struct tg_start_line line;
  tg_start_line_init(&line, 2);
  assert_true(tg_start_line_fail(&line));
  assert_false(tg_start_line_fail(&line));
  assert_false(tg_start_line_wait(&line));
  tg_start_line_destroy(&line);
}

static void one_client_waits_for_nobody(void **state) {
  (void)state;
  struct tg_start_line line;
  tg_start_line_init(&line, 1);
  assert_true(tg_start_line_wait(&line));
  assert_true(line.started_ns > 0 && line.started_cpu_ns > 0);
  tg_start_line_destroy(&line);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nobody_measures_before_all_have_warmed_up),
      cmocka_unit_test(a_failure_releases_those_that_wait),
      cmocka_unit_test(the_first_failure_is_the_one_to_report),
      cmocka_unit_test(one_client_waits_for_nobody),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
