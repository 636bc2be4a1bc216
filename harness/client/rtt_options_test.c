#include "harness/client/rtt_options.h"

#include <openssl/ssl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// Parses words separated by single spaces.
static enum tg_rtt_verdict parse(const char *words, struct tg_rtt_options *out, struct tg_error *err) {
  static char copy[512];
  static char program[] = "rtt_client";
  char *argv[48] = {program};
  int argc = 1;
  char *rest = NULL;
  assert_true(strlen(words) < sizeof(copy));
  (void)snprintf(copy, sizeof(copy), "%s", words);
  for (char *word = strtok_r(copy, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
    argv[argc++] = word;
  }
  argv[argc] = NULL;
  return tg_rtt_options_parse(argc, argv, out, err);
}

static void defaults(void **state) {
  (void)state;
  struct tg_rtt_options options;
  struct tg_error err;
  assert_int_equal(parse("--port 8443", &options, &err), TG_RTT_RUN);
  assert_string_equal(options.client.host, "127.0.0.1");
  assert_int_equal(options.client.port, 8443);
  assert_int_equal(options.client.tls_version, 0);
  assert_int_equal(options.client.timeout_ms, 10000);
  assert_int_equal(options.count, 100);
  assert_int_equal(options.warmup, 0);
  assert_int_equal(options.split_requests, 0);
  assert_false(options.resume);
  assert_false(options.expect_hrr);
  assert_string_equal(options.path, "/");
  assert_true(options.expect_bytes == -1);
  assert_string_equal(options.json_file, "-");
}

static void every_option(void **state) {
  (void)state;
  struct tg_rtt_options options;
  struct tg_error err;
  assert_int_equal(parse("--host ::1 --port 65535 --count 100000 --warmup 5 --tls 1.2 --resume --keepalive-split 10 "
                         "--groups X25519:P-384 --expect-hrr --cert c --key k --ca a --path /p?q --expect-bytes 0 "
                         "--timeout-ms 600000 --nodelay --quickack --json file",
                         &options, &err),
                   TG_RTT_RUN);
  assert_string_equal(options.client.host, "::1");
  assert_int_equal(options.client.port, 65535);
  assert_int_equal(options.client.tls_version, TLS1_2_VERSION);
  assert_int_equal(options.count, 100000);
  assert_int_equal(options.warmup, 5);
  assert_true(options.resume);
  assert_int_equal(options.split_requests, 10);
  assert_string_equal(options.client.groups, "X25519:P-384");
  assert_true(options.expect_hrr);
  assert_string_equal(options.client.cert_file, "c");
  assert_string_equal(options.client.key_file, "k");
  assert_string_equal(options.client.ca_file, "a");
  assert_string_equal(options.path, "/p?q");
  assert_true(options.expect_bytes == 0);
  assert_int_equal(options.client.timeout_ms, 600000);
  assert_true(options.client.nodelay);
  assert_true(options.client.quickack);
  assert_string_equal(options.json_file, "file");
  assert_int_equal(parse("--port 1 --tls 1.3", &options, &err), TG_RTT_RUN);
  assert_int_equal(options.client.tls_version, TLS1_3_VERSION);
  assert_false(options.client.nodelay);
  assert_false(options.client.quickack);
  assert_int_equal(parse("--bogus --help", &options, &err), TG_RTT_WRONG);
  assert_int_equal(parse("--help --bogus", &options, &err), TG_RTT_HELP);
}

static void what_is_refused_is_named(void **state) {
  (void)state;
  static const struct {
    const char *words;
    const char *message;
  } cases[] = {
      {"", "--port is missing"},
      {"--port 0", "--port 0: give a number from 1 to 65535"},
      {"--port 65536", "--port 65536: give a number"},
      {"--port 1x", "--port 1x: give a number"},
      {"--port -1", "--port -1: give a number"},
      {"--port", "--port: its value is missing"},
      {"--port 1 --count 0", "--count 0: give a number from 1 to 100000"},
      {"--port 1 --count 100001", "--count 100001: give"},
      {"--port 1 --count 99999999999999999999", "--count 99999999999999999999: give"},
      {"--port 1 --warmup 1.5", "--warmup 1.5: give"},
      {"--port 1 --keepalive-split 0", "--keepalive-split 0: give"},
      {"--port 1 --count 1001 --keepalive-split 1000", "more than 1000000 samples"},
      {"--port 1 --timeout-ms 0", "--timeout-ms 0: give"},
      {"--port 1 --expect-bytes -1", "--expect-bytes -1: give"},
      {"--port 1 --tls 1", "--tls 1: give 1.2, 1.3 or any"},
      {"--port 1 --path x", "--path x: give a path"},
      {"--port 1 --path /\x01", "give a path"},
      {"--port 1 --cert c", "--cert and --key go together"},
      {"--port 1 --key k", "--cert and --key go together"},
      {"--port 1 --bogus", "--bogus: no such option"},
      {"--port 1 --resume=yes", "--resume=yes: no such option"},
      {"--port 1 -v", "-v: no such option"},
      {"--port 1 word", "word: no such argument"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    struct tg_rtt_options options;
    struct tg_error err = {""};
    assert_int_equal(parse(cases[i].words, &options, &err), TG_RTT_WRONG);
    if (strstr(err.text, cases[i].message) == NULL) {
      fail_msg("%s: %s", cases[i].words, err.text);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(defaults),
      cmocka_unit_test(every_option),
      cmocka_unit_test(what_is_refused_is_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
