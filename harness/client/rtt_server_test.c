// rtt_client against https_server: every mode works, sees the stall where the server does not re-arm TCP_QUICKACK, and
// none where it does. Arguments: the paths of rtt_client and of https_server.
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
#include "perf/process/server.h"

// Half of Linux's least delayed ACK, as in harness/client/rtt_report.h.
#define TG_STALL_MS 20.0

static const char *tg_client_path;
static const char *tg_server_path;
static const char *tg_client_cert;
static const char *tg_client_key;

enum tg_kind { TG_PLAIN, TG_HRR, TG_CLIENT_CA };

static void start(struct tg_server *server, enum tg_kind kind, const char *quickack) {
  const char *argv[16] = {tg_server_path, "--port", "0", "--shards", "1", "--quickack", quickack};
  size_t n = 7;
  if (kind == TG_HRR) {
    argv[n++] = "--groups";
    argv[n++] = "P-384";
  } else if (kind == TG_CLIENT_CA) {
    argv[n++] = "--client-ca";
    argv[n++] = tg_client_cert;
  }
  struct tg_error err;
  if (!tg_server_start(server, quickack, argv, NULL, &err)) {
    fail_msg("%s", err.text);
  }
}

static json_t *run(const struct tg_server *server, const char *options, int exit_status) {
  char words[2048];
  char err[1024];
  (void)snprintf(words, sizeof(words), "%s --port %u --count 7 %s", tg_client_path, (unsigned)server->tls_port,
                 options);
  return tg_client_run(words, exit_status, err, sizeof(err));
}

static void modes(const char *quickack, bool rearmed) {
  char with_certificate[1500];
  (void)snprintf(with_certificate, sizeof(with_certificate), "--tls 1.3 --cert %s --key %s", tg_client_cert,
                 tg_client_key);
  const struct {
    const char *options;
    json_int_t resumed;
    json_int_t hello_retry_requests;
    size_t samples;
    enum tg_kind kind;
    bool can_stall;
  } cases[] = {
      {"--tls 1.3 --expect-bytes 15", 0, 0, 7, TG_PLAIN, true},
      {"--tls 1.3 --resume", 7, 0, 7, TG_PLAIN, true},
      {"--tls 1.2 --resume", 7, 0, 7, TG_PLAIN, true},
      // The server speaks last in a full TLS 1.2 handshake: nothing is left to be acknowledged.
      {"--tls 1.2", 0, 0, 7, TG_PLAIN, false},
      {"--tls 1.3 --keepalive-split 3", 0, 0, 21, TG_PLAIN, true},
      {"--tls 1.3 --groups X25519:P-384 --expect-hrr", 0, 7, 7, TG_HRR, true},
      {with_certificate, 0, 0, 7, TG_CLIENT_CA, true},
  };
  struct tg_server servers[3];
  start(&servers[TG_PLAIN], TG_PLAIN, quickack);
  start(&servers[TG_HRR], TG_HRR, quickack);
  start(&servers[TG_CLIENT_CA], TG_CLIENT_CA, quickack);
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    json_t *json = run(&servers[cases[i].kind], cases[i].options, 0);
    assert_int_equal(json_integer_value(json_object_get(json, "resumed")), cases[i].resumed);
    assert_int_equal(json_integer_value(json_object_get(json, "hello_retry_requests")), cases[i].hello_retry_requests);
    assert_int_equal(json_integer_value(json_object_get(json, "unclean_closes")), 0);
    assert_int_equal(json_array_size(json_object_get(json_object_get(json, "samples"), "rtt_ms")), cases[i].samples);
    const double p50 = json_real_value(json_object_get(json_object_get(json, "rtt_ms"), "p50"));
    const bool stalls = cases[i].can_stall && !rearmed;
    if ((p50 >= TG_STALL_MS) != stalls) {
      fail_msg("--quickack %s, %s: p50 is %.3f ms", quickack, cases[i].options, p50);
    }
    if (stalls) {
      assert_true(json_integer_value(json_object_get(json, "stalled")) >= 4);
    }
    json_decref(json);
  }
  struct tg_error err;
  for (size_t i = 0; i < 3; i++) {
    if (!tg_server_stop(&servers[i], &err)) {
      fail_msg("%s", err.text);
    }
  }
}

static void every_mode_sees_the_stall_when_nothing_is_armed(void **state) {
  (void)state;
  modes("off", false);
}

static void no_mode_stalls_when_re_armed(void **state) {
  (void)state;
  modes("rearm", true);
}

static void what_the_server_refuses_fails_the_run(void **state) {
  (void)state;
  struct tg_server server;
  struct tg_error err;
  start(&server, TG_CLIENT_CA, "rearm");
  // In TLS 1.3 the client learns of it after its own Finished (RFC 8446, 4.4.2.4).
  json_t *json = run(&server, "--tls 1.3", 1);
  assert_non_null(strstr(json_string_value(json_object_get(json, "error")), "connection 0: re"));
  json_decref(json);
  json = run(&server, "--tls 1.2", 1);
  assert_non_null(strstr(json_string_value(json_object_get(json, "error")), "connection 0: handshake: "));
  json_decref(json);
  assert_true(tg_server_stop(&server, &err));
  start(&server, TG_PLAIN, "rearm");
  json = run(&server, "--path /nowhere", 1);
  assert_non_null(strstr(json_string_value(json_object_get(json, "error")), "the status is 404 where 200 is expected"));
  json_decref(json);
  assert_true(tg_server_stop(&server, &err));
}

int main(int argc, char **argv) {
  if (argc != 3) {
    (void)fprintf(stderr, "usage: rtt_server_test RTT_CLIENT HTTPS_SERVER\n");
    return 2;
  }
  tg_client_path = argv[1];
  tg_server_path = argv[2];
  tg_test_certificate("client", &tg_client_cert, &tg_client_key);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_mode_sees_the_stall_when_nothing_is_armed),
      cmocka_unit_test(no_mode_stalls_when_re_armed),
      cmocka_unit_test(what_the_server_refuses_fails_the_run),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
