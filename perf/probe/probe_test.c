// The probes against the project's own server, which passes all of them, and against planted faults, each of which
// fails the probe that looks for it, for the reason that it is. Deadlines are short here.
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "perf/probe/run.h"

static char https_server[PATH_MAX];
static char faulty_server[PATH_MAX];

// What the server is told, and what its description says of it.
#define SHORT \
  "\"--handshake-timeout-ms\", \"1000\", \"--response-timeout-ms\", \"1000\", \"--drain-timeout-ms\", \"500\""
#define PROMISES "\"handshake_s\": 1, \"response_s\": 1.5"

static void describe(const char *start, const char *promises, struct tg_server_description *out) {
  static char text[4 * PATH_MAX];
  struct tg_error err;
  (void)snprintf(text, sizeof(text),
                 "{\"schema\": 1, \"name\": \"t\", \"start\": [%s, \"--port\", \"@tls_port@\", \"--shards\", \"1\"],"
                 "\"ready\": {\"by\": \"line\", \"within_s\": 10},"
                 "\"stop\": {\"signal\": \"TERM\", \"status\": 0, \"within_s\": 10},"
                 "\"ports\": {\"tls\": \"free\", \"http\": null},"
                 "\"routes\": {\"small\": {\"path\": \"/\", \"bytes\": 15}, "
                 "\"big\": {\"path\": \"/big\", \"bytes\": 1048576}, \"upload\": null},"
                 "\"deadlines\": {%s}, \"gates\": {\"left_out\": []}}",
                 start, promises);
  if (!tg_server_describe_text("t.json", text, out, &err)) {
    fail_msg("%s", err.text);
  }
}

static size_t place_of(const char *name) {
  size_t num = 0;
  const struct tg_probe *probes = tg_probes(&num);
  for (size_t i = 0; i < num; i++) {
    if (strcmp(probes[i].name, name) == 0) {
      return i;
    }
  }
  fail_msg("there is no probe %s", name);
  return 0;
}

// Runs one probe, or all of them if `name` is NULL.
static void probe(const char *start, const char *promises, const char *name, struct tg_probe_run *run) {
  struct tg_server_description description = {.json = NULL};
  struct tg_error err;
  describe(start, promises, &description);
  struct tg_probe_config config = {
      .description = &description,
      .launch = {.https_server = https_server, .workers = 1},
      .limit_s = 2,
      .settle_s = 3,
      .connections = 300,
      .quiet = true,
  };
  for (size_t i = 0; name == NULL && i < TG_PROBES_MAX; i++) {
    config.wanted[i] = true;
  }
  if (name != NULL) {
    config.wanted[place_of(name)] = true;
  }
  if (!tg_probe_run_all(&config, run, &err)) {
    fail_msg("%s", err.text);
  }
  tg_server_description_free(&description);
}

static void test_the_own_server_passes(void **state) {
  (void)state;
  static struct tg_probe_run run;
  size_t num = 0;
  (void)tg_probes(&num);
  probe("\"@https_server@\", " SHORT, PROMISES, NULL, &run);
  assert_int_equal(run.num, num);
  for (size_t i = 0; i < run.num; i++) {
    const struct tg_probe_result *result = &run.results[i];
    if (result->outcome != TG_PROBE_PASS) {
      fail_msg("%s: %s: %s", result->probe->name, tg_probe_outcome_name(result->outcome), result->why);
    }
    assert_true(result->observed.others > 0);
  }
  const struct tg_probe_seen *silent = &run.results[place_of("silent_connections")].observed.seen;
  assert_int_equal(silent->end, TG_PROBE_END_SERVER);
  assert_true(silent->ended_s >= 0.9 && silent->ended_s < 4);
  assert_int_equal(tg_probe_run_outcome(&run), TG_PROBE_PASS);
}

static void must_fail(const char *start, const char *promises, const char *name, const char *why) {
  static struct tg_probe_run run;
  probe(start, promises, name, &run);
  assert_int_equal(run.num, 1);
  if (run.results[0].outcome != TG_PROBE_FAILED || strstr(run.results[0].why, why) == NULL) {
    fail_msg("%s on %s: %s, \"%s\", should fail for \"%s\"", name, start, tg_probe_outcome_name(run.results[0].outcome),
             run.results[0].why, why);
  }
}

static void must_fail_planted(const char *fault, const char *name, const char *why) {
  static char start[2 * PATH_MAX];
  (void)snprintf(start, sizeof(start), "\"/usr/bin/env\", \"TLSGATE_FAULT=%s\", \"%s\", " SHORT, fault, faulty_server);
  must_fail(start, PROMISES, name, why);
}

static void test_a_server_that_dies_fails_every_probe(void **state) {
  (void)state;
  size_t num = 0;
  const struct tg_probe *probes = tg_probes(&num);
  for (size_t i = 0; i < num; i++) {
    // After the 20 clients before a probe, and the first of the others in it.
    must_fail_planted("exits\", \"TLSGATE_EXIT_AT=22", probes[i].name, "has died");
  }
}

static void test_planted_faults_fail_their_probe(void **state) {
  (void)state;
  must_fail_planted("leaks_descriptors", "silent_connections", "descriptors ");
  must_fail_planted("leaks_memory", "silent_connections", "memory ");
  must_fail_planted("leaks_threads", "reset_mid_response", "threads ");
  must_fail_planted("exits_on_reset", "reset_mid_response", "has died");
  must_fail_planted("waits_for_garbage", "plain_http", "others not served");
  must_fail_planted("accept_spins", "descriptor_exhaustion", "spins without descriptors");
  must_fail_planted("cuts_half_closed", "half_close", "response was cut");
}

static void test_broken_promises_fail(void **state) {
  (void)state;
  static const char *const handshakes[] = {"silent_connections", "trickled_handshake", "partial_record",
                                           "descriptor_exhaustion"};
  for (size_t i = 0; i < 4; i++) {
    must_fail("\"@https_server@\", \"--handshake-timeout-ms\", \"60000\"", PROMISES, handshakes[i], "promises 1.0 s");
  }
  must_fail("\"@https_server@\", \"--response-timeout-ms\", \"60000\"", PROMISES, "never_reading", "promises 1.5 s");
}

// Nothing promised, nothing broken: it is reported.
static void test_no_deadline_is_reported(void **state) {
  (void)state;
  static struct tg_probe_run run;
  probe("\"@https_server@\", \"--handshake-timeout-ms\", \"60000\"", "", "silent_connections", &run);
  assert_int_equal(run.results[0].outcome, TG_PROBE_PASS);
  assert_int_equal(run.results[0].observed.seen.end, TG_PROBE_END_NONE);
}

int main(int argc, char **argv) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_own_server_passes),
      cmocka_unit_test(test_planted_faults_fail_their_probe),
      cmocka_unit_test(test_broken_promises_fail),
      cmocka_unit_test(test_no_deadline_is_reported),
      cmocka_unit_test(test_a_server_that_dies_fails_every_probe),
  };
  if (argc != 3 || realpath(argv[1], https_server) == NULL || realpath(argv[2], faulty_server) == NULL) {
    fprintf(stderr, "usage: probe_test HTTPS_SERVER FAULTY_SERVER\n");
    return 2;
  }
  return cmocka_run_group_tests(tests, NULL, NULL);
}
