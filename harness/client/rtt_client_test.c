// rtt_client against a server that misbehaves in every way it must tell apart.
// Arguments: the paths of rtt_client and of fixture_server.
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "harness/client/testing/client_run.h"
#include "perf/process/server.h"

static const char *tg_client_path;
static const char *tg_server_path;
static const char *tg_cert;
static const char *tg_key;

static void start(struct tg_server *server, const char *behaviour, const char *connections) {
  const char *const argv[] = {tg_server_path, "--behaviour", behaviour,       "--cert",    tg_cert,
                              "--key",        tg_key,        "--connections", connections, NULL};
  struct tg_error err;
  if (!tg_server_start(server, behaviour, argv, NULL, &err)) {
    fail_msg("%s", err.text);
  }
}

static void stop(struct tg_server *server) {
  struct tg_error err;
  if (!tg_server_stop(server, &err)) {
    fail_msg("%s", err.text);
  }
}

static json_t *run(const struct tg_server *server, const char *options, int exit_status, char *err, size_t err_len) {
  char words[2048];
  (void)snprintf(words, sizeof(words), "%s --port %u %s", tg_client_path, (unsigned)server->tls_port, options);
  return tg_client_run(words, exit_status, err, err_len);
}

static json_int_t integer(const json_t *json, const char *key) {
  const json_t *value = json_object_get(json, key);
  if (!json_is_integer(value)) {
    fail_msg("%s is not an integer", key);
  }
  return json_integer_value(value);
}

// Checks one list of samples and its summary against each other.
static void check_samples(const json_t *json, const char *key, size_t num) {
  const json_t *samples = json_object_get(json_object_get(json, "samples"), key);
  const json_t *summary = json_object_get(json, key);
  assert_int_equal(json_array_size(samples), num);
  double max = 0;
  for (size_t i = 0; i < num; i++) {
    const double sample = json_real_value(json_array_get(samples, i));
    assert_true(sample > 0);
    max = sample > max ? sample : max;
  }
  const double p50 = json_real_value(json_object_get(summary, "p50"));
  const double p90 = json_real_value(json_object_get(summary, "p90"));
  const double p99 = json_real_value(json_object_get(summary, "p99"));
  assert_true(p50 > 0 && p50 <= p90 && p90 <= p99 && p99 <= max);
  assert_true(json_real_value(json_object_get(summary, "max")) == max);
}

static void good_runs_are_reported(void **state) {
  (void)state;
  static const struct {
    const char *options;
    const char *version;
    json_int_t requests;
    json_int_t resumed;
  } cases[] = {
      {"--count 4 --tls 1.3 --path /x --expect-bytes 5", "1.3", 1, 0},
      {"--count 4 --tls 1.2 --warmup 2", "1.2", 1, 0},
      {"--count 4 --tls any --keepalive-split 3", "1.3", 3, 0},
      {"--count 4 --tls 1.3 --resume", "1.3", 1, 4},
      {"--count 4 --tls 1.2 --resume --warmup 2", "1.2", 1, 4},
      {"--count 4 --tls 1.2 --resume --keepalive-split 2", "1.2", 2, 4},
  };
  struct tg_server server;
  start(&server, "good", "0");
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    char err[1024];
    json_t *json = run(&server, cases[i].options, 0, err, sizeof(err));
    assert_non_null(json);
    assert_string_equal(err, "");
    assert_string_equal(json_string_value(json_object_get(json, "schema")), "tlsgate.rtt/1");
    assert_string_equal(json_string_value(json_object_get(json, "tls_version")), cases[i].version);
    assert_int_equal(integer(json, "count"), 4);
    assert_int_equal(integer(json, "requests"), cases[i].requests);
    assert_int_equal(integer(json, "resumed"), cases[i].resumed);
    assert_int_equal(integer(json, "hello_retry_requests"), 0);
    assert_int_equal(integer(json, "unclean_closes"), 0);
    assert_true(json_real_value(json_object_get(json, "client_cpu_ms")) > 0);
    check_samples(json, "rtt_ms", (size_t)(4 * cases[i].requests));
    check_samples(json, "handshake_ms", 4);
    json_decref(json);
  }
  stop(&server);
}

static void a_response_in_two_records_is_whole(void **state) {
  (void)state;
  struct tg_server server;
  char err[1024];
  start(&server, "two_records", "0");
  json_t *json = run(&server, "--count 2", 0, err, sizeof(err));
  assert_int_equal(integer(json, "unclean_closes"), 0);
  json_decref(json);
  stop(&server);
}

static void a_whole_response_without_close_notify_is_counted(void **state) {
  (void)state;
  struct tg_server server;
  char err[1024];
  start(&server, "cut_after", "0");
  json_t *json = run(&server, "--count 2", 0, err, sizeof(err));
  assert_int_equal(integer(json, "unclean_closes"), 2);
  json_decref(json);
  stop(&server);
}

static void every_failure_is_told_and_never_sampled(void **state) {
  (void)state;
  static const struct {
    const char *behaviour;
    const char *connections;
    const char *options;
    const char *message;
  } cases[] = {
      {"refuse", "0", "", "measurement connection 0: connect: Connection refused"},
      {"close_early", "0", "", "measurement connection 0: handshake: "},
      {"silence", "0", "--timeout-ms 200", "measurement connection 0: handshake: timed out waiting for the server"},
      {"plain", "0", "", "measurement connection 0: handshake: TLS: "},
      {"no_response", "0", "",
       "measurement connection 0: response: the server closed the connection before the first byte"},
      {"hang", "0", "--timeout-ms 2000",
       "measurement connection 0: response: timed out waiting for the server before the first byte"},
      {"reset", "0", "", "measurement connection 0: response: Connection reset by peer before the first byte"},
      {"half_head", "0", "",
       "measurement connection 0: response: the server closed the connection inside the head, after 25 bytes"},
      {"half_body", "0", "",
       "measurement connection 0: response: the server closed the connection after 2 of 5 body bytes"},
      {"hang_body", "0", "--timeout-ms 2000",
       "measurement connection 0: response: timed out waiting for the server after 2 of 5 body bytes"},
      {"reset_body", "0", "", "measurement connection 0: response: Connection reset by peer after 2 of 5 body bytes"},
      {"too_much", "0", "", "measurement connection 0: response: 1 bytes beyond the body of 5"},
      {"too_much_later", "0", "", "measurement connection 0: response: bytes beyond the body of the last response"},
      {"wrong_status", "0", "",
       "measurement connection 0: response: the status is 503, without the code capacity-unavailable"},
      {"good", "0", "--expect-bytes 6", "measurement connection 0: response: Content-Length is 5 where 6 is expected"},
      {"close_announced", "0", "--keepalive-split 2",
       "measurement connection 0: response: \"Connection: close\" on request 1 of 2"},
      {"good", "3", "--count 5", "measurement connection 3: connect: Connection refused"},
      {"good", "1", "--count 5 --warmup 4", "warm-up connection 1: connect: Connection refused"},
      {"no_session", "0", "--resume --tls 1.2", "warm-up connection 0: response: the server gave no session to resume"},
      {"forget_session", "0", "--resume --tls 1.2", "measurement connection 0: handshake: the session was not resumed"},
      {"forget_session", "0", "--resume --tls 1.3", "measurement connection 0: handshake: the session was not resumed"},
      {"shed", "0", "",
       "measurement connection 0: response: load shedding (503 capacity-unavailable) more than 0 times"},
      {"shed", "0", "--max-shed 3 --warmup 1",
       "warm-up connection 0: response: load shedding (503 capacity-unavailable) more than 3 times"},
      {"good", "2", "--clients 3 --count 5", "client "},
      {"good", "0", "--expect-hrr", "measurement connection 0: handshake: no HelloRetryRequest"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    struct tg_server server;
    char err[1024];
    start(&server, cases[i].behaviour, cases[i].connections);
    json_t *json = run(&server, cases[i].options, 1, err, sizeof(err));
    stop(&server);
    const char *error = json_string_value(json_object_get(json, "error"));
    if (error == NULL || strstr(error, cases[i].message) != error) {
      fail_msg("%s: %s", cases[i].behaviour, error != NULL ? error : "no error in the JSON");
      continue;  // not reached
    }
    assert_null(json_object_get(json, "samples"));
    assert_null(json_object_get(json, "rtt_ms"));
    assert_int_equal(json_object_size(json), 3);
    const bool warm_up = strstr(error, "warm-up connection") != NULL;
    assert_string_equal(json_string_value(json_object_get(json, "phase")), warm_up ? "warm-up" : "measurement");
    // Nothing of what the server wrote.
    assert_null(strstr(error, "Busy"));
    assert_null(strstr(error, "hello"));
    char line[1100];
    (void)snprintf(line, sizeof(line), "rtt_client: %s\n", error);
    assert_string_equal(err, line);
    json_decref(json);
  }
}

// The fixture serves one connection at a time, so that the clients take turns; what counts is that all are counted.
static void clients_measure_together(void **state) {
  (void)state;
  struct tg_server server;
  char err[1024];
  start(&server, "good", "0");
  json_t *json = run(&server, "--clients 4 --count 3 --warmup 1 --keepalive-split 2", 0, err, sizeof(err));
  assert_int_equal(integer(json, "clients"), 4);
  assert_int_equal(integer(json, "count"), 12);
  assert_int_equal(integer(json, "requests"), 2);
  assert_int_equal(integer(json, "shed"), 0);
  assert_true(json_real_value(json_object_get(json, "seconds")) > 0);
  check_samples(json, "rtt_ms", 24);
  check_samples(json, "handshake_ms", 12);
  json_decref(json);
  stop(&server);
}

static void shed_load_is_counted_and_made_again(void **state) {
  (void)state;
  struct tg_server server;
  char err[1024];
  start(&server, "shed_every_second", "0");
  json_t *json = run(&server, "--count 4 --max-shed 10", 0, err, sizeof(err));
  assert_int_equal(integer(json, "shed"), 4);
  assert_int_equal(integer(json, "count"), 4);
  check_samples(json, "rtt_ms", 4);
  json_decref(json);
  stop(&server);
}

static void the_server_is_verified_when_asked(void **state) {
  (void)state;
  const char *other_cert = NULL;
  const char *other_key = NULL;
  tg_test_certificate("other", &other_cert, &other_key);
  struct tg_server server;
  char err[1024];
  char options[1024];
  start(&server, "good", "0");
  (void)snprintf(options, sizeof(options), "--count 1 --ca %s", tg_cert);
  json_decref(run(&server, options, 0, err, sizeof(err)));
  (void)snprintf(options, sizeof(options), "--count 1 --ca %s", other_cert);
  json_t *json = run(&server, options, 1, err, sizeof(err));
  assert_non_null(strstr(err, "measurement connection 0: handshake: TLS: CERTIFICATE_VERIFY_FAILED"));
  json_decref(json);
  stop(&server);
}

static void the_result_goes_to_a_file_when_asked(void **state) {
  (void)state;
  struct tg_server server;
  char err[1024];
  char path[512];
  char options[1024];
  (void)snprintf(path, sizeof(path), "%s/result.json", getenv("TEST_TMPDIR"));
  (void)snprintf(options, sizeof(options), "--count 2 --json %s", path);
  start(&server, "good", "0");
  assert_null(run(&server, options, 0, err, sizeof(err)));
  json_t *json = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
  assert_int_equal(integer(json, "count"), 2);
  json_decref(json);
  assert_null(run(&server, "--count 2 --json /nonexistent/result.json", 1, err, sizeof(err)));
  assert_non_null(strstr(err, "--json /nonexistent/result.json: cannot be written: No such file or directory"));
  (void)snprintf(path, sizeof(path), "%s/fifo", getenv("TEST_TMPDIR"));
  (void)snprintf(options, sizeof(options), "--count 2 --json %s", path);
  assert_int_equal(mkfifo(path, 0600), 0);
  const int fifo = open(path, O_RDWR | O_CLOEXEC);
  assert_true(fifo >= 0);
  assert_null(run(&server, options, 0, err, sizeof(err)));
  struct stat status;
  assert_int_equal(lstat(path, &status), 0);
  assert_true(S_ISFIFO(status.st_mode));
  char first;
  assert_int_equal(read(fifo, &first, 1), 1);
  assert_int_equal(first, 0x7b);
  close(fifo);
  stop(&server);
}

static void wrong_usage_is_refused(void **state) {
  (void)state;
  static const struct {
    const char *options;
    const char *message;
  } cases[] = {
      {"--bogus", "--bogus: no such option"},
      {"--count", "--count: its value is missing"},
      {"--tls 1.1", "--tls 1.1: give 1.2, 1.3 or any"},
      {"extra", "extra: no such argument"},
      {"--groups X25519:nonsense", "--groups X25519:nonsense: give names"},
      {"--host example.org", "--host example.org: not a numeric address"},
      {"--cert /nonexistent --key /nonexistent", "--cert /nonexistent: cannot be read"},
      {"--ca /nonexistent", "--ca /nonexistent: cannot be read"},
  };
  const struct tg_server nowhere = {.tls_port = 1};
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    char err[1024];
    assert_null(run(&nowhere, cases[i].options, 2, err, sizeof(err)));
    if (strstr(err, cases[i].message) == NULL || strchr(err, '\n') != err + strlen(err) - 1) {
      fail_msg("%s: %s", cases[i].options, err);
    }
  }
}

int main(int argc, char **argv) {
  if (argc != 3) {
    (void)fprintf(stderr, "usage: rtt_client_test RTT_CLIENT FIXTURE_SERVER\n");
    return 2;
  }
  tg_client_path = argv[1];
  tg_server_path = argv[2];
  tg_test_certificate("fixture", &tg_cert, &tg_key);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(good_runs_are_reported),
      cmocka_unit_test(a_response_in_two_records_is_whole),
      cmocka_unit_test(a_whole_response_without_close_notify_is_counted),
      cmocka_unit_test(every_failure_is_told_and_never_sampled),
      cmocka_unit_test(clients_measure_together),
      cmocka_unit_test(shed_load_is_counted_and_made_again),
      cmocka_unit_test(the_server_is_verified_when_asked),
      cmocka_unit_test(the_result_goes_to_a_file_when_asked),
      cmocka_unit_test(wrong_usage_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
