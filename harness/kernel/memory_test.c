// The books of what the code under test has allocated, and allocations that fail.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/kernel/testing_kernel.h"

static uint64_t live(void) {
  return tg_kernel_allocations(testing_kernel);
}

static void the_books_have_what_was_made_inside(void **state) {
  (void)state;
  void *outside = malloc(10);
  assert_int_equal(live(), 0);
  void *a = TESTING_INSIDE(malloc(100));
  void *b = TESTING_INSIDE(calloc(10, 20));
  assert_int_equal(live(), 2);
  assert_int_equal(tg_kernel_allocated_bytes(testing_kernel), 300);
  tg_kernel_enter(testing_kernel, 0);
  free(a);
  free(outside);
  free(NULL);
  tg_kernel_leave(testing_kernel);
  assert_int_equal(live(), 1);
  // Freed outside counts as well.
  free(b);
  assert_int_equal(live(), 0);
  assert_int_equal(tg_kernel_allocated_bytes(testing_kernel), 0);
}

static void the_books_add_up_what_was_made_and_know_the_most_held(void **state) {
  (void)state;
  void *a = TESTING_INSIDE(malloc(100));
  void *b = TESTING_INSIDE(malloc(50));
  free(a);
  a = TESTING_INSIDE(malloc(20));
  assert_int_equal(tg_kernel_allocations_made(testing_kernel), 3);
  assert_int_equal(tg_kernel_bytes_made(testing_kernel), 170);
  assert_int_equal(tg_kernel_peak_bytes(testing_kernel), 150);
  tg_kernel_mark_peak(testing_kernel);
  assert_int_equal(tg_kernel_peak_bytes(testing_kernel), 70);
  b = TESTING_INSIDE(realloc(b, 80));
  assert_int_equal(tg_kernel_allocations_made(testing_kernel), 4);
  assert_int_equal(tg_kernel_bytes_made(testing_kernel), 250);
  assert_int_equal(tg_kernel_peak_bytes(testing_kernel), 100);
  free(a);
  free(b);
  assert_int_equal(tg_kernel_peak_bytes(testing_kernel), 100);
}

static void every_way_to_allocate_is_in_the_books(void **state) {
  (void)state;
  void *made[9];
  char *printed = NULL;
  tg_kernel_enter(testing_kernel, 0);
  made[0] = malloc(1);
  made[1] = calloc(1, 1);
  made[2] = realloc(NULL, 1);
  made[3] = reallocarray(NULL, 1, 1);
  made[4] = strdup("text");
  made[5] = strndup("text", 2);
  made[6] = aligned_alloc(64, 64);
  assert_int_equal(posix_memalign(&made[7], 64, 64), 0);
  assert_int_equal(asprintf(&printed, "%d", 12345), 5);
  made[8] = printed;
  tg_kernel_leave(testing_kernel);
  assert_string_equal(made[4], "text");
  assert_string_equal(made[5], "te");
  assert_string_equal(printed, "12345");
  assert_int_equal(live(), 9);
  assert_int_equal(tg_kernel_calls(testing_kernel, TG_CALL_MALLOC), 9);
  for (size_t i = 0; i < 9; i++) {
    assert_non_null(made[i]);
    free(made[i]);
  }
  assert_int_equal(live(), 0);
}

static void realloc_moves_the_entry(void **state) {
  (void)state;
  char *a = TESTING_INSIDE(malloc(10));
  memcpy(a, "kept", 5);
  a = TESTING_INSIDE(realloc(a, 100000));
  assert_string_equal(a, "kept");
  assert_int_equal(live(), 1);
  assert_int_equal(tg_kernel_allocated_bytes(testing_kernel), 100000);
  a = realloc(a, 50);
  assert_int_equal(live(), 1);
  assert_int_equal(tg_kernel_allocated_bytes(testing_kernel), 50);
  free(a);
  assert_int_equal(live(), 0);
}

static void the_nth_allocation_fails(void **state) {
  (void)state;
  const struct tg_injection third = {.call = TG_CALL_MALLOC, .skip = 2, .times = 1, .error = ENOMEM};
  assert_true(tg_kernel_inject(testing_kernel, &third));
  void *a = TESTING_INSIDE(malloc(1));
  void *b = TESTING_INSIDE(calloc(1, 1));
  assert_non_null(a);
  assert_non_null(b);
  assert_false(tg_kernel_was_hit(testing_kernel, TG_CALL_MALLOC));
  errno = 0;
  char *copy = TESTING_INSIDE(strdup("third"));
  assert_null(copy);
  assert_int_equal(errno, ENOMEM);
  assert_true(tg_kernel_was_hit(testing_kernel, TG_CALL_MALLOC));
  free(copy);
  void *c = TESTING_INSIDE(malloc(1));
  assert_non_null(c);
  // Outside nothing fails.
  void *d = malloc(1);
  assert_non_null(d);
  free(a);
  free(b);
  free(c);
  free(d);
}

static void a_failed_realloc_leaves_what_there_was(void **state) {
  (void)state;
  char *a = TESTING_INSIDE(malloc(10));
  memcpy(a, "kept", 5);
  const struct tg_injection all = {.call = TG_CALL_MALLOC, .error = ENOMEM};
  assert_true(tg_kernel_inject(testing_kernel, &all));
  char *moved = TESTING_INSIDE(realloc(a, 1000));
  assert_null(moved);
  assert_int_equal(errno, ENOMEM);
  a = moved == NULL ? a : moved;
  assert_string_equal(a, "kept");
  assert_int_equal(live(), 1);
  free(a);
}

static void the_books_hold_many(void **state) {
  (void)state;
  enum { NUM = 20000 };
  static void *made[NUM];
  tg_kernel_enter(testing_kernel, 0);
  for (size_t i = 0; i < NUM; i++) {
    made[i] = malloc(i % 100 + 1);
  }
  for (size_t i = 0; i < NUM; i += 3) {
    free(made[i]);
    made[i] = NULL;
  }
  tg_kernel_leave(testing_kernel);
  assert_int_equal(live(), NUM - (NUM + 2) / 3);
  for (size_t i = 0; i < NUM; i++) {
    free(made[i]);
  }
  assert_int_equal(live(), 0);
  assert_int_equal(tg_kernel_allocated_bytes(testing_kernel), 0);
}

static void a_reset_forgets(void **state) {
  (void)state;
  void *a = TESTING_INSIDE(malloc(1));
  struct tg_kernel_options options;
  tg_kernel_options_default(&options);
  testing_kernel_restart(&options);
  assert_int_equal(live(), 0);
  free(a);
  assert_int_equal(live(), 0);
}

static void what_is_left_can_be_printed(void **state) {
  (void)state;
  void *a = TESTING_INSIDE(malloc(123));
  char *text = NULL;
  size_t len = 0;
  FILE *to = open_memstream(&text, &len);
  tg_kernel_print_allocations(testing_kernel, to);
  fclose(to);
  assert_non_null(strstr(text, "allocation 0: 123 bytes"));
  free(text);
  free(a);
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#define HAS_ASAN 1
#endif
#endif

// Ends the process as a use of freed memory would be reported: the child's last words, and that it has failed.
static void expect_report(void (*misuse)(char *), char *block, const char *report) {
  char text[8192];
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    misuse(block);
    _exit(0);
  }
  close(ends[1]);
  size_t len = 0;
  for (ssize_t got; len + 1 < sizeof(text) && (got = read(ends[0], text + len, sizeof(text) - 1 - len)) > 0;) {
    len += (size_t)got;
  }
  text[len] = '\0';
  close(ends[0]);
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_not_equal(status, 0);
  assert_non_null(strstr(text, report));
}

static void use(char *block) {
  volatile char *at = block;
  at[1000] = 1;
}

static void free_again(char *block) {
  free(block);
}

static void large_blocks_are_kept_for_later_runs(void **state) {
  (void)state;
  enum { SIZE = 150000 };
  struct tg_kernel_options options;
  tg_kernel_options_default(&options);
  options.keep_blocks = true;
  testing_kernel_restart(&options);
  char *first = TESTING_INSIDE(malloc(SIZE));
  assert_non_null(first);
  memset(first, 1, SIZE);
  free(first);
  // Freed is freed: for the books, and for whoever still uses it.
  assert_int_equal(live(), 0);
#ifdef HAS_ASAN
  // In the same run it is nobody else's.
  char *second = TESTING_INSIDE(malloc(SIZE));
  assert_true(second != first);
  free(second);
  assert_true(__asan_address_is_poisoned(first));
  expect_report(use, first, "use-after-poison");
  expect_report(free_again, first, "attempting double-free");
  testing_kernel_restart(&options);
  expect_report(use, first, "use-after-poison");
  char *another_size = TESTING_INSIDE(malloc(SIZE + 8));
  assert_true(another_size != first && another_size != second);
  char *again = TESTING_INSIDE(malloc(SIZE));
  assert_true(again == second);
  assert_int_equal(live(), 2);
  memset(again, 2, SIZE);
  again = TESTING_INSIDE(realloc(again, 2 * SIZE));
  assert_int_equal(again[SIZE - 1], 2);
  free(again);
  free(another_size);
  assert_int_equal(live(), 0);
  // More than are kept.
  char *many[40];
  for (size_t i = 0; i < 40; i++) {
    many[i] = TESTING_INSIDE(malloc(20000));
    assert_non_null(many[i]);
  }
  for (size_t i = 0; i < 40; i++) {
    free(many[i]);
  }
  assert_int_equal(live(), 0);
#else
  (void)expect_report;
  (void)use;
  (void)free_again;
#endif
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, testing_kernel_set_up, testing_kernel_tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(the_books_have_what_was_made_inside),
      TEST(the_books_add_up_what_was_made_and_know_the_most_held),
      TEST(every_way_to_allocate_is_in_the_books),
      TEST(realloc_moves_the_entry),
      TEST(the_nth_allocation_fails),
      TEST(a_failed_realloc_leaves_what_there_was),
      TEST(the_books_hold_many),
      TEST(a_reset_forgets),
      TEST(what_is_left_can_be_printed),
      TEST(large_blocks_are_kept_for_later_runs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
