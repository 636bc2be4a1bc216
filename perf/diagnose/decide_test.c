// What is concluded from which measurements: the four cases that must not be taken for one another, and their mixtures.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "perf/diagnose/decide.h"
#include "perf/diagnose/delayed_acks.h"
#include "perf/diagnose/experiment.h"

static struct tg_diagnosis diagnosis;

static int start(void **state) {
  (void)state;
  memset(&diagnosis, 0, sizeof(diagnosis));
  return 0;
}

static void saw(enum tg_stalled kind, double plain, double nodelay, double quickack, double cpu) {
  diagnosis.facts[kind] = (struct tg_stall_facts){.known = true,
                                                  .requests = 15,
                                                  .plain_ms = plain,
                                                  .nodelay_ms = nodelay,
                                                  .quickack_ms = quickack,
                                                  .clustered = 1,
                                                  .delayed_acks = 15,
                                                  .server_cpu_ms = cpu};
}

static bool says(const char *words) {
  for (size_t i = 0; i < diagnosis.num_lines; i++) {
    if (strstr(diagnosis.lines[i], words) != NULL) {
      return true;
    }
  }
  return false;
}

static void expect(const char *const *said, const char *const *not_said) {
  tg_diagnosis_decide(&diagnosis);
  for (; *said != NULL; said++) {
    if (!says(*said)) {
      fail_msg("not said: %s", *said);
    }
  }
  for (; *not_said != NULL; not_said++) {
    if (says(*not_said)) {
      fail_msg("said: %s", *not_said);
    }
  }
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void test_nothing_stalled_no_diagnosis(void **state) {
  (void)state;
  tg_diagnosis_decide(&diagnosis);
  assert_false(diagnosis.made);
  assert_int_equal(diagnosis.num_lines, 0);
  assert_null(tg_diagnosis_json(&diagnosis));
}

static void test_no_rearm_at_all(void **state) {
  (void)state;
  saw(TG_STALLED_FRESH, 43, 0.1, 43, 0.3);
  saw(TG_STALLED_RESUMED, 43, 0.1, 43, 0.3);
  saw(TG_STALLED_TLS12_RESUMED, 43, 0.1, 43, 0.3);
  saw(TG_STALLED_SPLIT, 43, 0.1, 43, 0.3);
  expect(WORDS("around every step of the handshake", "leaves a request incomplete", "applies in part", "#979", "#25538",
               "#46", "TCP_NODELAY in the client (measured here: 0.10 ms", "neither that of resumed TLS 1.2"),
         WORDS("the server itself", "the server works", "spared", "TCP_NODELAY in the server"));
  assert_non_null(strstr(diagnosis.found[TG_STALLED_FRESH], "0.10 ms with TCP_NODELAY"));
}

// OpenSSL sends its tickets at once: nginx, haproxy.
static void test_tickets_hide_the_stall_of_tls13_alone(void **state) {
  (void)state;
  saw(TG_STALLED_TLS12_RESUMED, 43, 0.1, 43, 0.3);
  expect(WORDS("resumed TLS 1.2", "TLS 1.3 is spared", "around every step", "remedy that does not apply: flush"),
         WORDS("#25538", "incomplete", "applies in part"));
}

static void test_split_requests_alone(void **state) {
  (void)state;
  saw(TG_STALLED_SPLIT, 43, 0.1, 43, 0.3);
  expect(
      WORDS("leaves a request incomplete", "The handshake does not stall", "remedy that does not apply: flush", "#46"),
      WORDS("around every step", "#979", "#25538"));
}

// The duration alone would be taken for a delayed ACK.
static void test_a_slow_server_is_no_stall(void **state) {
  (void)state;
  saw(TG_STALLED_FRESH, 45.2, 45.1, 45.2, 0.4);
  expect(WORDS("little CPU", "strace"), WORDS("TCP_QUICKACK in the server around", "published", "works that long"));
  saw(TG_STALLED_FRESH, 45.2, 45.1, 45.2, 45);
  expect(WORDS("works that long", "profile"), WORDS("published", "little CPU"));
  assert_non_null(strstr(diagnosis.found[TG_STALLED_FRESH], "it is the server"));
}

static void test_a_slow_server_that_stalls_too(void **state) {
  (void)state;
  saw(TG_STALLED_FRESH, 88, 45, 88, 0.4);
  expect(WORDS("around every step", "little CPU"), WORDS("works that long"));
  assert_non_null(strstr(diagnosis.found[TG_STALLED_FRESH], "still slow"));
}

static void test_the_other_direction(void **state) {
  (void)state;
  saw(TG_STALLED_FRESH, 42, 42, 3, 0.4);
  expect(WORDS("TCP_NODELAY on every accepted socket", "#480"), WORDS("around every step", "the server itself"));
}

static void test_what_has_gone_is_not_explained(void **state) {
  (void)state;
  saw(TG_STALLED_FRESH, 0.2, 0.2, 0.2, 0.1);
  tg_diagnosis_decide(&diagnosis);
  assert_int_equal(diagnosis.num_lines, 0);
  assert_non_null(strstr(diagnosis.found[TG_STALLED_FRESH], "did not stall"));
}

// Everything at once has room, and is not cut.
static void test_all_lines_fit(void **state) {
  (void)state;
  for (int i = 0; i < TG_STALLED_KINDS; i++) {
    saw((enum tg_stalled)i, 88, 45, 88, i % 2 == 0 ? 60 : 0.1);
  }
  saw(TG_STALLED_HRR, 42, 42, 3, 0.4);
  tg_diagnosis_decide(&diagnosis);
  for (size_t i = 0; i < diagnosis.num_lines; i++) {
    assert_true(strlen(diagnosis.lines[i]) < TG_DIAGNOSIS_LINE_SIZE - 1);
  }
  for (int i = 0; i < TG_STALLED_KINDS; i++) {
    assert_true(strlen(diagnosis.found[i]) < sizeof(diagnosis.found[i]) - 1);
  }
  json_t *json = tg_diagnosis_json(&diagnosis);
  assert_int_equal(json_array_size(json_object_get(json, "lines")), diagnosis.num_lines);
  assert_int_equal(json_object_size(json_object_get(json, "experiments")), TG_STALLED_KINDS);
  json_decref(json);
}

static void test_the_kernels_count(void **state) {
  (void)state;
  assert_true(tg_delayed_acks_parse("TcpExt: A DelayedACKs DelayedACKLost\nTcpExt: 1 22 3\nIpExt: X\nIpExt: 9\n") ==
              22);
  assert_true(tg_delayed_acks_parse("IpExt: X\nIpExt: 9\nTcpExt: DelayedACKs\nTcpExt: 7\n") == 7);
  assert_true(tg_delayed_acks_parse("TcpExt: A B\nTcpExt: 1 2\n") == -1);
  assert_true(tg_delayed_acks_parse("TcpExt: A DelayedACKs\nTcpExt: 1\n") == -1);
  assert_true(tg_delayed_acks_parse("TcpExt: DelayedACKs\n") == -1);
  assert_true(tg_delayed_acks_parse("") == -1);
  assert_true(tg_delayed_acks_read() >= 0);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_nothing_stalled_no_diagnosis, start),
      cmocka_unit_test_setup(test_no_rearm_at_all, start),
      cmocka_unit_test_setup(test_tickets_hide_the_stall_of_tls13_alone, start),
      cmocka_unit_test_setup(test_split_requests_alone, start),
      cmocka_unit_test_setup(test_a_slow_server_is_no_stall, start),
      cmocka_unit_test_setup(test_a_slow_server_that_stalls_too, start),
      cmocka_unit_test_setup(test_the_other_direction, start),
      cmocka_unit_test_setup(test_what_has_gone_is_not_explained, start),
      cmocka_unit_test_setup(test_all_lines_fit, start),
      cmocka_unit_test(test_the_kernels_count),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
