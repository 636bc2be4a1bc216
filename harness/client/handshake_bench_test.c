// handshake_bench in its modes. Argument: the path of handshake_bench.
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "harness/client/testing/client_run.h"

static const char *tg_bench_path;

static json_t *run(const char *options, int exit_status, char *err, size_t err_len) {
  char words[2048];
  (void)snprintf(words, sizeof(words), "%s %s", tg_bench_path, options);
  return tg_client_run(words, exit_status, err, err_len);
}

static double real(const json_t *json, const char *key) {
  const json_t *value = json_object_get(json, key);
  if (!json_is_real(value)) {
    fail_msg("%s is not a real number", key);
  }
  return json_real_value(value);
}

static void every_mode_reports_both_sides(void **state) {
  (void)state;
  static const struct {
    const char *options;
    const char *version;
    const char *key_type;
    bool resumed;
  } cases[] = {
      {"--count 20", "1.3", "p256", false},
      {"--count 20 --tls 1.2 --key-type p256", "1.2", "p256", false},
      {"--count 5 --key-type rsa2048", "1.3", "rsa2048", false},
      {"--count 20 --resume", "1.3", "p256", true},
      {"--count 20 --resume --tls 1.2 --warmup 0", "1.2", "p256", true},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    char err[1024];
    json_t *json = run(cases[i].options, 0, err, sizeof(err));
    assert_string_equal(err, "");
    assert_string_equal(json_string_value(json_object_get(json, "schema")), "tlsgate.handshake/1");
    assert_string_equal(json_string_value(json_object_get(json, "tls_version")), cases[i].version);
    assert_string_equal(json_string_value(json_object_get(json, "key_type")), cases[i].key_type);
    assert_int_equal(json_is_true(json_object_get(json, "resumed")), cases[i].resumed);
    assert_true(real(json, "server_cpu_us") > 1);
    assert_true(real(json, "client_cpu_us") > 1);
    assert_true(real(json, "both_cpu_us") > real(json, "server_cpu_us"));
    assert_true(real(json, "server_cpu_p50_us") > 1);
    assert_true(real(json, "client_cpu_p50_us") > 1);
    assert_true(real(json, "clock_us") > 0);
    json_decref(json);
  }
}

// The order of these costs holds on every CPU and in every variant: an RSA-4096 signature takes many times the work of
// a whole P-256 handshake, instrumented or not, and a TLS 1.2 resumption makes none.
static void the_figures_follow_the_work(void **state) {
  (void)state;
  char err[1024];
  json_t *rsa = run("--count 20 --key-type rsa4096 --tls 1.2", 0, err, sizeof(err));
  json_t *p256 = run("--count 20 --key-type p256 --tls 1.2", 0, err, sizeof(err));
  json_t *resumed = run("--count 20 --key-type rsa4096 --tls 1.2 --resume", 0, err, sizeof(err));
  assert_true(real(rsa, "server_cpu_p50_us") > 1.5 * real(p256, "server_cpu_p50_us"));
  assert_true(real(rsa, "server_cpu_p50_us") > 1.5 * real(resumed, "server_cpu_p50_us"));
  json_decref(rsa);
  json_decref(p256);
  json_decref(resumed);
}

static void a_certificate_can_come_from_files(void **state) {
  (void)state;
  const char *cert = NULL;
  const char *key = NULL;
  char options[2048];
  char err[1024];
  tg_test_certificate("bench", &cert, &key);
  (void)snprintf(options, sizeof(options), "--count 3 --cert %s --key %s", cert, key);
  json_t *json = run(options, 0, err, sizeof(err));
  assert_string_equal(json_string_value(json_object_get(json, "key_type")), "file");
  json_decref(json);
  assert_null(run("--cert /nonexistent --key /nonexistent", 1, err, sizeof(err)));
  assert_non_null(strstr(err, "/nonexistent"));
}

static void wrong_usage_is_refused(void **state) {
  (void)state;
  static const struct {
    const char *options;
    const char *message;
  } cases[] = {
      {"--bogus", "--bogus: no such option"},
      {"--count", "--count: its value is missing"},
      {"--count 0", "--count 0: give a number from 1"},
      {"--tls any", "--tls any: give 1.2 or 1.3"},
      {"--key-type dsa", "--key-type dsa: give p256"},
      {"--cert x", "--cert and --key go together"},
      {"--cert x --key y --key-type p256", "exclude each other"},
      {"word", "word: no such argument"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    char err[1024];
    assert_null(run(cases[i].options, 2, err, sizeof(err)));
    if (strstr(err, cases[i].message) == NULL) {
      fail_msg("%s: %s", cases[i].options, err);
    }
  }
}

int main(int argc, char **argv) {
  if (argc != 2) {
    (void)fprintf(stderr, "usage: handshake_bench_test HANDSHAKE_BENCH\n");
    return 2;
  }
  tg_bench_path = argv[1];
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_mode_reports_both_sides),
      cmocka_unit_test(the_figures_follow_the_work),
      cmocka_unit_test(a_certificate_can_come_from_files),
      cmocka_unit_test(wrong_usage_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
