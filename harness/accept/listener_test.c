#include "harness/accept/listener.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

static void test_every_accept_error_has_its_verdict(void **state) {
  (void)state;
  static const struct {
    int error;
    enum tg_accept_verdict verdict;
  } kCases[] = {
      {EAGAIN, TG_ACCEPT_NONE},       {EWOULDBLOCK, TG_ACCEPT_NONE},  {EINTR, TG_ACCEPT_SKIP},
      {ECONNABORTED, TG_ACCEPT_SKIP}, {EPERM, TG_ACCEPT_SKIP},        {ENETDOWN, TG_ACCEPT_SKIP},
      {EPROTO, TG_ACCEPT_SKIP},       {ENOPROTOOPT, TG_ACCEPT_SKIP},  {EHOSTDOWN, TG_ACCEPT_SKIP},
      {ENONET, TG_ACCEPT_SKIP},       {EHOSTUNREACH, TG_ACCEPT_SKIP}, {EOPNOTSUPP, TG_ACCEPT_SKIP},
      {ENETUNREACH, TG_ACCEPT_SKIP},  {ETIMEDOUT, TG_ACCEPT_SKIP},    {EMFILE, TG_ACCEPT_PAUSE},
      {ENFILE, TG_ACCEPT_PAUSE},      {ENOBUFS, TG_ACCEPT_PAUSE},     {ENOMEM, TG_ACCEPT_PAUSE},
      {EBADF, TG_ACCEPT_BROKEN},      {EINVAL, TG_ACCEPT_BROKEN},     {ENOTSOCK, TG_ACCEPT_BROKEN},
      {EFAULT, TG_ACCEPT_BROKEN},     {0, TG_ACCEPT_BROKEN},
  };
  for (size_t i = 0; i < sizeof(kCases) / sizeof(kCases[0]); i++) {
    if (tg_accept_judge(kCases[i].error) != kCases[i].verdict) {
      fail_msg("%s is judged %d", strerror(kCases[i].error), tg_accept_judge(kCases[i].error));
    }
  }
}

static void test_a_port_in_use_is_refused_and_named(void **state) {
  (void)state;
  struct tg_error err;
  int first = tg_listener_open("127.0.0.1", 0, true, &err);
  assert_true(first >= 0);
  uint16_t port = tg_listener_port(first);
  assert_true(port != 0);
  assert_int_equal(tg_listener_open("127.0.0.1", port, true, &err), -1);
  assert_non_null(strstr(err.text, "in use"));
  assert_non_null(strstr(err.text, "127.0.0.1"));
  close(first);
  int again = tg_listener_open("127.0.0.1", port, true, &err);
  assert_true(again >= 0);
  close(again);
}

static void test_shards_of_one_process_share_a_port(void **state) {
  (void)state;
  struct tg_error err;
  int first = tg_listener_open("127.0.0.1", 0, true, &err);
  assert_true(first >= 0);
  uint16_t port = tg_listener_port(first);
  int second = tg_listener_open("127.0.0.1", port, false, &err);
  assert_true(second >= 0);
  assert_int_equal(tg_listener_port(second), port);
  // With a group of sharing listeners there, an exclusive one is refused still.
  assert_int_equal(tg_listener_open("127.0.0.1", port, true, &err), -1);
  close(first);
  close(second);
}

static void test_addresses(void **state) {
  (void)state;
  struct tg_error err;
  assert_int_equal(tg_listener_open("localhost", 0, true, &err), -1);
  assert_non_null(strstr(err.text, "\"localhost\""));
  // An address of nobody (RFC 5737).
  assert_int_equal(tg_listener_open("192.0.2.1", 0, true, &err), -1);
  assert_non_null(strstr(err.text, "192.0.2.1"));
  assert_int_equal(tg_listener_open("192.0.2.1", 0, true, NULL), -1);
  assert_int_equal(tg_listener_port(-1), 0);
  int fds[2];
  assert_int_equal(pipe(fds), 0);
  assert_int_equal(tg_listener_port(fds[0]), 0);
  close(fds[0]);
  close(fds[1]);
  int fd = tg_listener_open("::1", 0, true, &err);
  if (fd < 0) {
    // A host without IPv6 says so.
    assert_non_null(strstr(err.text, "::1"));
  } else {
    assert_true(tg_listener_port(fd) != 0);
    close(fd);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_accept_error_has_its_verdict),
      cmocka_unit_test(test_a_port_in_use_is_refused_and_named),
      cmocka_unit_test(test_shards_of_one_process_share_a_port),
      cmocka_unit_test(test_addresses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
