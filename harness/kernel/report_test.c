// What a sanitizer has to say about code inside a run comes out, with its stack, and the process ends: the runtime's
// own calls are not the simulated kernel's. usage: report_test [overflow|use_after_free]
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/kernel/kernel.h"
#include "perf/process/child.h"

#define LIMIT_S 60.0

static const char *self;
static volatile int number = INT_MAX;

__attribute__((noinline)) static void overflow(void) {
  number = number + 1;
}

__attribute__((noinline)) static void use_after_free(void) {
  volatile char *bytes = malloc(8);
  if (bytes != NULL) {
    free((void *)bytes);
    bytes[0] = 1;  // NOLINT(clang-analyzer-unix.Malloc): this is what the runtime is to report
  }
}

static int misbehave(const char *how) {
  struct tg_kernel_options options;
  tg_kernel_options_default(&options);
  struct tg_kernel *kernel = tg_kernel_create(&options);
  if (kernel == NULL) {
    return 2;
  }
  tg_kernel_enter(kernel, 0);
  if (strcmp(how, "overflow") == 0) {
    overflow();
  } else {
    use_after_free();
  }
  tg_kernel_leave(kernel);
  tg_kernel_destroy(kernel);
  return 0;
}

static void assert_reported(const char *how, const char *says) {
  const char *const argv[] = {self, how, NULL};
  struct tg_child_result result;
  struct tg_error err;
  if (!tg_child_run(argv, LIMIT_S, &result, &err)) {
    fail_msg("%s", err.text);
  }
  // The frame that is to blame, with a name or without.
  if (result.exit_status == 0 || strstr(result.err, says) == NULL || strstr(result.err, "    #0 0x") == NULL) {
    fail_msg("exit status %d:\n%s", result.exit_status, result.err);
  }
  tg_child_result_free(&result);
}

static void an_overflow_is_reported(void **state) {
  (void)state;
  assert_reported("overflow", "signed integer overflow");
}

static void a_use_after_free_is_reported(void **state) {
  (void)state;
  assert_reported("use_after_free", "heap-use-after-free");
}

int main(int argc, char **argv) {
  self = argv[0];
  if (argc == 2) {
    return misbehave(argv[1]);
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_overflow_is_reported),
      cmocka_unit_test(a_use_after_free_is_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
