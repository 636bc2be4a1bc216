// A child and all that it has started end with it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "fuzz/launcher/process.h"

static void what_left_the_group_is_ended(void **state) {
  (void)state;
  const char *folder = getenv("TEST_TMPDIR");
  char log_path[512];
  snprintf(log_path, sizeof(log_path), "%s/log", folder != NULL ? folder : "/tmp");
  // Each in a session of its own, as AFL++'s fork servers are, and deaf to SIGTERM.
  const char *const argv[] = {
      "sh", "-c", "for i in 1 2; do setsid sh -c 'trap \"\" TERM; echo $$; sleep 300' & done; sleep 1", NULL};
  struct tg_error err;
  assert_int_equal(tg_process_run(argv, log_path, 20, NULL, NULL, &err), 0);
  FILE *log = fopen(log_path, "re");
  assert_non_null(log);
  int seen = 0;
  char line[32];
  while (fgets(line, sizeof(line), log) != NULL) {
    pid_t pid = (pid_t)strtol(line, NULL, 10);
    assert_true(pid > 0);
    assert_int_equal(kill(pid, 0), -1);
    assert_int_equal(errno, ESRCH);
    seen++;
  }
  fclose(log);
  assert_int_equal(seen, 2);
}

static bool interrupt(void *context, double elapsed_s) {
  bool *sent = context;
  if (!*sent && elapsed_s > 0.3) {
    *sent = true;
    raise(SIGTERM);
  }
  return true;
}

static void a_signal_that_is_held_stops_the_child(void **state) {
  (void)state;
  const char *const argv[] = {"sleep", "300", NULL};
  struct tg_error err;
  bool sent = false;
  tg_process_hold_signals();
  assert_int_equal(tg_process_run(argv, "/dev/null", 20, interrupt, &sent, &err), 128 + SIGINT);
  assert_true(sent);
  struct sigaction after;
  assert_int_equal(sigaction(SIGTERM, NULL, &after), 0);
  assert_true(after.sa_handler == SIG_DFL);
  assert_int_equal(signal(SIGTERM, SIG_IGN) != SIG_ERR, 1);
  tg_process_raise_held();
  assert_int_equal(signal(SIGTERM, SIG_DFL) != SIG_ERR, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(what_left_the_group_is_ended),
                                     cmocka_unit_test(a_signal_that_is_held_stops_the_child)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
