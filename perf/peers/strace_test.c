// The summary of strace -c.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "perf/peers/strace.h"

static const char summary[] =
    "% time     seconds  usecs/call     calls    errors syscall\n"
    "------ ----------- ----------- --------- --------- ----------------\n"
    " 60.00    0.000700          20      1034        13 epoll_wait\n"
    " 40.00    0.000249          11       200           recvfrom\n"
    "------ ----------- ----------- --------- --------- ----------------\n"
    "100.00    0.001966          13      1234        13 total\n";

static void test_reads(void **state) {
  (void)state;
  static struct tg_strace_counts counts;
  struct tg_error err = {""};
  if (!tg_strace_parse(summary, &counts, &err)) {
    fail_msg("%s", err.text);
  }
  assert_int_equal(counts.num, 2);
  assert_int_equal((int)counts.total, 1234);
  assert_int_equal((int)tg_strace_calls(&counts, "epoll_wait"), 1034);
  assert_int_equal((int)tg_strace_calls(&counts, "recvfrom"), 200);
  assert_int_equal((int)tg_strace_calls(&counts, "sendto"), 0);
  assert_true(tg_strace_parse("", &counts, &err));
  assert_int_equal(counts.num, 0);
}

static void test_refuses(void **state) {
  (void)state;
  static const struct {
    const char *text;
    const char *says;
  } table[] = {
      {"strace: attach: ptrace(PTRACE_SEIZE, 1): Operation not permitted\n", "has no total"},
      {"% time calls syscall\n------ ---\n 60.00 0.1 20 1034 13 epoll_wait\n------ ---\n", "has no total"},
      {"% time calls syscall\n------ ---\n 60.00 0.1 20 1034 13 a\n------ ---\n 100 0 0 1035 13 total\n",
       "does not add up"},
      {"% time calls syscall\n------ ---\n 60.00 0.1 20 many 13 epoll_wait\n", "cannot be read"},
      {"% time calls syscall\n------ ---\n 60.00 epoll_wait\n", "cannot be read"},
      {"% time calls syscall\n------ ---\n 60.00 0.1 20 1034 13 epoll_wait and more\n", "cannot be read"},
  };
  static struct tg_strace_counts counts;
  for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
    struct tg_error err = {""};
    assert_false(tg_strace_parse(table[i].text, &counts, &err));
    if (strstr(err.text, table[i].says) == NULL) {
      fail_msg("\"%s\" does not say \"%s\"", err.text, table[i].says);
    }
  }
}

int main(void) {
  static const struct CMUnitTest tests[] = {cmocka_unit_test(test_reads), cmocka_unit_test(test_refuses)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
