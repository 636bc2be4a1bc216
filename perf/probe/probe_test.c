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
#include <sys/wait.h>
#include <unistd.h>

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
static void probe(const char *start, const char *promises, const char *name, double late_s, struct tg_probe_run *run) {
  struct tg_server_description description = {.json = NULL};
  struct tg_error err;
  describe(start, promises, &description);
  struct tg_probe_config config = {
      .description = &description,
      .launch = {.https_server = https_server, .workers = 1},
      .limit_s = 2,
      .late_s = late_s,
      .watched_s = 1,
      .settle_s = 2,
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
  probe("\"@https_server@\", " SHORT, PROMISES, NULL, TG_PROBE_LATE_S, &run);
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

// Cases run as processes of their own, so many at one time: most of their time is waiting.
#define AT_ONE_TIME 4

struct fault_case {
  char start[2 * PATH_MAX];
  const char *name;
  const char *why;
};

static struct fault_case cases[64];
static size_t num_cases;

// The probe must fail for this reason, among others.
static void must_fail(const char *start, const char *name, const char *why) {
  struct fault_case *one = &cases[num_cases++];
  assert_true(num_cases <= sizeof(cases) / sizeof(cases[0]));
  (void)snprintf(one->start, sizeof(one->start), "%s", start);
  one->name = name;
  one->why = why;
}

static void must_fail_planted(const char *fault, const char *name, const char *why) {
  static char start[2 * PATH_MAX];
  (void)snprintf(start, sizeof(start), "\"/usr/bin/env\", \"TLSGATE_FAULT=%s\", \"%s\", " SHORT, fault, faulty_server);
  must_fail(start, name, why);
}

static int run_case(const struct fault_case *one) {
  static struct tg_probe_run run;
  probe(one->start, PROMISES, one->name, 0.3, &run);
  if (run.num == 1 && run.results[0].outcome == TG_PROBE_FAILED && strstr(run.results[0].why, one->why) != NULL) {
    return 0;
  }
  fprintf(stderr, "%s on %s: %s, \"%s\", should fail for \"%s\"\n", one->name, one->start,
          tg_probe_outcome_name(run.results[0].outcome), run.results[0].why, one->why);
  return 1;
}

static bool reap(size_t *running) {
  int status = 0;
  const pid_t pid = wait(&status);
  *running -= pid > 0;
  return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void run_cases(void) {
  size_t running = 0;
  bool ok = true;
  for (size_t i = 0; i < num_cases; i++) {
    if (running == AT_ONE_TIME) {
      ok = reap(&running) && ok;
    }
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
      _exit(run_case(&cases[i]));
    }
    running++;
  }
  while (running > 0) {
    ok = reap(&running) && ok;
  }
  num_cases = 0;
  assert_true(ok);
}

static void test_faulty_servers_fail(void **state) {
  (void)state;
  size_t num = 0;
  const struct tg_probe *probes = tg_probes(&num);
  // Planted faults fail their probe.
  must_fail_planted("leaks_descriptors", "silent_connections", "descriptors ");
  must_fail_planted("leaks_memory", "silent_connections", "memory ");
  must_fail_planted("leaks_threads", "reset_mid_response", "threads ");
  must_fail_planted("exits_on_reset", "reset_mid_response", "has died");
  must_fail_planted("waits_for_garbage", "plain_http", "others not served");
  must_fail_planted("accept_spins", "descriptor_exhaustion", "spins without descriptors");
  must_fail_planted("cuts_half_closed", "half_close", "response was cut");
  must_fail_planted("drops_short_hellos", "segmented_hello", "was not served");
  must_fail_planted("exits_on_nul", "nul_requests", "has died");
  must_fail_planted("swallows_requests", "oversized_requests", "without an end");
  must_fail_planted("exits_on_renegotiation", "renegotiation_flood", "has died");
  must_fail_planted("exits_on_full_reads", "key_update_flood", "has died");
  // So do broken promises.
  static const char *const handshakes[] = {"silent_connections", "trickled_handshake", "partial_record",
                                           "descriptor_exhaustion"};
  for (size_t i = 0; i < 4; i++) {
    must_fail("\"@https_server@\", \"--handshake-timeout-ms\", \"60000\"", handshakes[i], "promises 1.0 s");
  }
  must_fail("\"@https_server@\", \"--response-timeout-ms\", \"60000\"", "never_reading", "promises 1.5 s");
  // A server that dies fails every probe: after the 20 clients before a probe, and the first of the others in it.
  for (size_t i = 0; i < num; i++) {
    must_fail_planted("exits\", \"TLSGATE_EXIT_AT=22", probes[i].name, "has died");
  }
  run_cases();
}

// Nothing promised, nothing broken: it is reported.
static void test_no_deadline_is_reported(void **state) {
  (void)state;
  static struct tg_probe_run run;
  probe("\"@https_server@\", \"--handshake-timeout-ms\", \"60000\"", "", "silent_connections", TG_PROBE_LATE_S, &run);
  assert_int_equal(run.results[0].outcome, TG_PROBE_PASS);
  assert_int_equal(run.results[0].observed.seen.end, TG_PROBE_END_NONE);
}

int main(int argc, char **argv) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_faulty_servers_fail),
      cmocka_unit_test(test_the_own_server_passes),
      cmocka_unit_test(test_no_deadline_is_reported),
  };
  if (argc != 3 || realpath(argv[1], https_server) == NULL || realpath(argv[2], faulty_server) == NULL) {
    fprintf(stderr, "usage: probe_test HTTPS_SERVER FAULTY_SERVER\n");
    return 2;
  }
  return cmocka_run_group_tests(tests, NULL, NULL);
}
