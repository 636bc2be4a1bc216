// The handler of a signal that comes in the middle of a run makes real calls, and the run goes on as if nothing had
// been.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>

#include "harness/kernel/kernel.h"

static volatile sig_atomic_t handled;
static volatile sig_atomic_t opened;

static void write_down(int signal, siginfo_t *info, void *context) {
  (void)info;
  (void)context;
  FILE *file = fopen("/dev/null", "we");  // what a run must not do
  opened = file != NULL;
  if (file != NULL) {
    (void)fclose(file);
  }
  handled = signal;
}

static void test_a_handler_is_outside_the_run(void **state) {
  (void)state;
  struct tg_kernel_options options;
  tg_kernel_options_default(&options);
  struct tg_kernel *kernel = tg_kernel_create(&options);
  assert_non_null(kernel);
  const struct sigaction action = {.sa_sigaction = write_down, .sa_flags = SA_SIGINFO};
  struct sigaction before;
  assert_int_equal(sigaction(SIGALRM, &action, &before), 0);
  const struct itimerval soon = {.it_value = {.tv_usec = 20000}};
  assert_int_equal(setitimer(ITIMER_REAL, &soon, NULL), 0);
  struct timespec first;
  struct timespec next;
  tg_kernel_enter(kernel, 0);
  int result = clock_gettime(CLOCK_MONOTONIC, &first);
  while (handled == 0) {
  }
  const struct tg_kernel *inside = tg_kernel_current();
  result |= clock_gettime(CLOCK_MONOTONIC, &next);
  tg_kernel_leave(kernel);
  assert_int_equal(result, 0);
  assert_int_equal(handled, SIGALRM);
  assert_true(opened);
  assert_ptr_equal(inside, kernel);
  // The virtual clock: the two calls cost what calls cost, however long the real wait was.
  assert_true(next.tv_sec == first.tv_sec && next.tv_nsec - first.tv_nsec <= 10 * (long)tg_kernel_call_ns(kernel));
  struct sigaction now;
  assert_int_equal(sigaction(SIGALRM, &before, &now), 0);
  assert_true(now.sa_sigaction == write_down);
  tg_kernel_destroy(kernel);
}

static void test_what_has_no_handler_stays_without(void **state) {
  (void)state;
  const struct sigaction ignore = {.sa_handler = SIG_IGN};
  const struct sigaction usual = {.sa_handler = SIG_DFL};
  struct sigaction old;
  assert_int_equal(sigaction(SIGUSR1, &ignore, &old), 0);
  assert_true(old.sa_handler == SIG_DFL);
  assert_int_equal(raise(SIGUSR1), 0);
  assert_int_equal(sigaction(SIGUSR1, &usual, &old), 0);
  assert_true(old.sa_handler == SIG_IGN);
  assert_int_equal(sigaction(0, &usual, NULL), -1);
  assert_int_equal(sigaction(NSIG, &usual, NULL), -1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_handler_is_outside_the_run),
      cmocka_unit_test(test_what_has_no_handler_stays_without),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
