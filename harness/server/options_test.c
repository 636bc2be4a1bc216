#include "harness/server/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MOST_ARGS 16

// Parses `line` cut at its spaces; two spaces make an empty argument.
static enum tg_options_verdict parse(const char *line, struct tg_options *out, struct tg_error *err) {
  // The strings of `out` point into it until the next call.
  static char text[512];
  static char name[] = "https_server";
  char *argv[MOST_ARGS + 1] = {name};
  int argc = 1;
  assert_true(strlen(line) < sizeof(text));
  snprintf(text, sizeof(text), "%s", line);
  for (char *rest = *line == '\0' ? NULL : text; rest != NULL;) {
    assert_true(argc < MOST_ARGS);
    argv[argc++] = strsep(&rest, " ");
  }
  err->text[0] = '\0';
  return tg_options_parse(argc, argv, out, err);
}

static void nothing_asked_for_gives_the_defaults(void **state) {
  (void)state;
  struct tg_options options;
  struct tg_error err;
  assert_int_equal(parse("", &options, &err), TG_OPTIONS_RUN);
  assert_int_equal(options.tls_port, 8443);
  assert_false(options.with_http);
  assert_string_equal(options.bind, "127.0.0.1");
  assert_int_equal(options.shards, 0);
  assert_null(options.cert_file);
  assert_int_equal(options.key_type, TG_KEY_P256);
  assert_false(options.early_data);
  assert_int_equal(options.quickack, TG_QUICKACK_REARM);
  assert_false(options.flush_tickets);
  assert_true(options.deadlines.handshake_ms > 0);
}

static void every_option_arrives(void **state) {
  (void)state;
  struct tg_options options;
  struct tg_error err;
  assert_int_equal(parse("--port 0 --http-port 0 --bind ::1 --shards 1024 --cert c --key k", &options, &err),
                   TG_OPTIONS_RUN);
  assert_int_equal(options.tls_port, 0);
  assert_true(options.with_http);
  assert_int_equal(options.http_port, 0);
  assert_string_equal(options.bind, "::1");
  assert_int_equal(options.shards, 1024);
  assert_string_equal(options.cert_file, "c");
  assert_string_equal(options.key_file, "k");
  assert_int_equal(
      parse("--port=65535 --http-port=1 --key-type rsa4096 --groups P-384 --client-ca a --early-data --quickack off "
            "--flush-tickets",
            &options, &err),
      TG_OPTIONS_RUN);
  assert_int_equal(options.tls_port, 65535);
  assert_int_equal(options.http_port, 1);
  assert_int_equal(options.key_type, TG_KEY_RSA4096);
  assert_string_equal(options.groups, "P-384");
  assert_string_equal(options.client_ca_file, "a");
  assert_true(options.early_data);
  assert_int_equal(options.quickack, TG_QUICKACK_OFF);
  assert_true(options.flush_tickets);
  assert_int_equal(parse("--max-connections 7 --max-body 0 --ticket-lifetime-s 604800 --key-type rsa2048 --quickack "
                         "accept --grace-ms 1",
                         &options, &err),
                   TG_OPTIONS_RUN);
  assert_int_equal(options.max_connections, 7);
  assert_int_equal(options.max_body, 0);
  assert_int_equal(options.ticket_lifetime_s, 604800);
  assert_int_equal(options.key_type, TG_KEY_RSA2048);
  assert_int_equal(options.quickack, TG_QUICKACK_ACCEPT);
  assert_int_equal(options.grace_ms, 1);
  assert_int_equal(parse("--handshake-timeout-ms 1 --request-timeout-ms 2 --idle-timeout-ms 3 --response-timeout-ms 4 "
                         "--drain-timeout-ms 86400000",
                         &options, &err),
                   TG_OPTIONS_RUN);
  assert_int_equal(options.deadlines.handshake_ms, 1);
  assert_int_equal(options.deadlines.request_ms, 2);
  assert_int_equal(options.deadlines.idle_ms, 3);
  assert_int_equal(options.deadlines.response_ms, 4);
  assert_int_equal(options.deadlines.drain_ms, 86400000);
}

static void what_is_wrong_is_named(void **state) {
  (void)state;
  static const struct {
    const char *line;
    const char *named;
  } table[] = {
      {"--no-such-option", "'--no-such-option'"},
      {"--no-such-option=1", "'--no-such-option=1'"},
      {"-x", "'-x'"},
      {"extra", "'extra'"},
      {"--early-data extra", "'extra'"},
      {"--early-data=1", "'--early-data=1'"},
      {"--port", "--port"},
      {"--port ", "--port"},
      {"--port x", "'x'"},
      {"--port 65536", "0 to 65535"},
      {"--port -1", "'-1'"},
      {"--port +1", "'+1'"},
      {"--port 1x", "'1x'"},
      {"--http-port 99999999999999999999999", "--http-port"},
      {"--bind localhost", "--bind"},
      {"--bind 127.0.0.256", "--bind"},
      {"--shards 0", "1 to 1024"},
      {"--shards 1025", "1 to 1024"},
      {"--key-type dsa", "p256, rsa2048 or rsa4096"},
      {"--quickack sometimes", "rearm, accept or off"},
      {"--groups ", "--groups"},
      {"--cert c", "--key is missing"},
      {"--key k", "--cert is missing"},
      {"--cert c --key k --key-type p256", "--key-type"},
      {"--port 5 --http-port 5", "--http-port"},
      {"--max-connections 0", "--max-connections"},
      {"--max-connections 1000001", "--max-connections"},
      {"--max-body 1099511627777", "--max-body"},
      {"--ticket-lifetime-s 604801", "--ticket-lifetime-s"},
      {"--ticket-lifetime-s 0", "--ticket-lifetime-s"},
      {"--handshake-timeout-ms 0", "--handshake-timeout-ms"},
      {"--request-timeout-ms 86400001", "--request-timeout-ms"},
      {"--idle-timeout-ms 1.5", "--idle-timeout-ms"},
      {"--response-timeout-ms 0x10", "--response-timeout-ms"},
      {"--drain-timeout-ms  ", "--drain-timeout-ms"},
      {"--grace-ms 0", "--grace-ms"},
      {"--help --port x", "'x'"},
  };
  for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
    struct tg_options options;
    struct tg_error err;
    print_message("%s\n", table[i].line);
    assert_int_equal(parse(table[i].line, &options, &err), TG_OPTIONS_WRONG);
    assert_null(strchr(err.text, '\n'));
    assert_non_null(strstr(err.text, table[i].named));
  }
}

static void help_names_every_option(void **state) {
  (void)state;
  struct tg_options options;
  struct tg_error err;
  assert_int_equal(parse("--help", &options, &err), TG_OPTIONS_HELP);
  char *text = NULL;
  size_t len = 0;
  FILE *out = open_memstream(&text, &len);
  assert_non_null(out);
  tg_options_help(out);
  assert_int_equal(fclose(out), 0);
  static const char *const mentioned[] = {
      "--port",
      "--http-port",
      "--bind",
      "--shards",
      "--cert",
      "--key",
      "--key-type",
      "--groups",
      "--client-ca",
      "--early-data",
      "--quickack",
      "--flush-tickets",
      "--max-body",
      "--max-connections",
      "--handshake-timeout-ms",
      "--drain-timeout-ms",
      "--grace-ms",
      "HTTP/2 is out of scope",
      "--ticket-lifetime-s",
      "--help",
  };
  for (size_t i = 0; i < sizeof(mentioned) / sizeof(mentioned[0]); i++) {
    assert_non_null(strstr(text, mentioned[i]));
  }
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_asked_for_gives_the_defaults),
      cmocka_unit_test(every_option_arrives),
      cmocka_unit_test(what_is_wrong_is_named),
      cmocka_unit_test(help_names_every_option),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
