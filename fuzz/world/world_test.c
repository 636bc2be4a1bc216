// The world itself: it serves, it sees, and it is the same every time.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <openssl/rand.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz/world/canonical.h"
#include "fuzz/world/world.h"
#include "harness/accept/accept.h"

enum { REST = 255 };

static struct tg_world_outcome run(const struct tg_schedule *schedule, enum tg_quickack quickack, bool expect_stalls) {
  struct tg_world_outcome outcome;
  const struct tg_world_options options = {.quickack = (uint8_t)quickack, .expect_stalls = expect_stalls};
  tg_world_run(schedule, &options, &outcome);
  return outcome;
}

static struct tg_schedule one_request(uint16_t bits) {
  return (struct tg_schedule){
      .settings = {.shards = 1},
      .num_steps = 2,
      .steps = {{.action = TG_SCHEDULE_CONNECT, .value = bits, .wait = REST},
                {.action = TG_SCHEDULE_REQUEST, .value = TG_REQUEST_GET, .wait = REST}},
  };
}

static void a_request_is_answered(void **state) {
  (void)state;
  static const uint16_t kBits[] = {0,
                                   TG_CONNECT_NODELAY,
                                   TG_CONNECT_TLS12,
                                   TG_CONNECT_HELLO_RETRY,
                                   TG_CONNECT_LARGE_HELLO,
                                   TG_CONNECT_ALPN_H2,
                                   TG_CONNECT_CERTIFICATE};
  for (size_t i = 0; i < sizeof(kBits) / sizeof(kBits[0]); i++) {
    struct tg_schedule schedule = one_request(kBits[i]);
    struct tg_world_outcome outcome = run(&schedule, TG_QUICKACK_REARM, false);
    assert_int_equal(outcome.clients[0].established, 1);
    assert_int_equal(outcome.clients[0].responses, 1);
    assert_true(outcome.comparable);
  }
}

// The fault the project began with: found in virtual time, and not there with the rule.
static void the_stall_is_seen_without_the_rule_and_not_with_it(void **state) {
  (void)state;
  struct tg_schedule schedule = one_request(0);
  schedule.steps[0].wait = 0;
  assert_int_equal(run(&schedule, TG_QUICKACK_OFF, true).stalls, 1);
  assert_int_equal(run(&schedule, TG_QUICKACK_ACCEPT, true).stalls, 1);
  assert_int_equal(run(&schedule, TG_QUICKACK_REARM, true).stalls, 0);
  schedule.steps[0].value = TG_CONNECT_NODELAY;
  assert_int_equal(run(&schedule, TG_QUICKACK_OFF, true).stalls, 0);
}

static struct tg_schedule busy(void) {
  return (struct tg_schedule){
      .settings = {.shards = 2, .early_data = true, .plaintext_listener = true, .mss = 1},
      .num_steps = 12,
      .steps =
          {
              {.action = TG_SCHEDULE_CONNECT, .client = 0, .value = 0},
              {.action = TG_SCHEDULE_CONNECT, .client = 1, .value = TG_CONNECT_TLS12},
              {.action = TG_SCHEDULE_CONNECT, .client = 2, .value = TG_CONNECT_PLAINTEXT},
              {.action = TG_SCHEDULE_CUT, .client = 0, .value = 40},
              {.action = TG_SCHEDULE_GAP, .client = 0, .value = 60},
              {.action = TG_SCHEDULE_REQUEST, .client = 0, .value = TG_REQUEST_GET},
              {.action = TG_SCHEDULE_REQUEST, .client = 1, .value = TG_REQUEST_PIPELINE | 5 << 4},
              {.action = TG_SCHEDULE_REQUEST, .client = 2, .value = TG_REQUEST_BYTES | 100 << 4, .wait = REST},
              {.action = TG_SCHEDULE_CONNECT,
               .client = 3,
               .value = TG_CONNECT_RESUME | TG_CONNECT_EARLY_DATA,
               .wait = 0},
              {.action = TG_SCHEDULE_REQUEST, .client = 3, .value = TG_REQUEST_POST | 200 << 4, .wait = REST},
              {.action = TG_SCHEDULE_HALF_CLOSE, .client = 1, .value = 0, .wait = REST},
              {.action = TG_SCHEDULE_RESET, .client = 2, .value = 0, .wait = REST},
          },
  };
}

static void many_clients_are_answered(void **state) {
  (void)state;
  struct tg_schedule schedule = busy();
  struct tg_world_outcome outcome = run(&schedule, TG_QUICKACK_REARM, false);
  assert_int_equal(outcome.clients[0].responses, 1);
  assert_int_equal(outcome.clients[1].responses, 6);
  assert_int_equal(outcome.clients[2].responses, 1);
  assert_int_equal(outcome.clients[3].responses, 1);
  assert_int_equal(outcome.handshakes, 3);
}

static void replays_are_the_same_run(void **state) {
  (void)state;
  struct tg_schedule schedule = busy();
  struct tg_world_outcome first = run(&schedule, TG_QUICKACK_REARM, false);
  assert_true(first.trace_lines > 100);
  for (int i = 0; i < 50; i++) {
    struct tg_world_outcome again = run(&schedule, TG_QUICKACK_REARM, false);
    assert_true(again.trace_hash == first.trace_hash);
    assert_true(again.trace_lines == first.trace_lines);
  }
  struct tg_schedule small = one_request(0);
  first = run(&small, TG_QUICKACK_REARM, false);
  for (int i = 0; i < 10000; i++) {
    struct tg_world_outcome again = run(&small, TG_QUICKACK_REARM, false);
    assert_true(again.trace_hash == first.trace_hash);
    assert_true(again.trace_lines == first.trace_lines);
  }
}

// What the TLS library's generator gives after a run tells how much randomness the run took.
static uint64_t next_random(void) {
  uint64_t next;
  RAND_bytes((uint8_t *)&next, sizeof(next));
  return next;
}

// With thrift a run is the same run, whatever the settings, and however often the TLS context has been used before.
static void a_thrifty_run_is_the_same_run(void **state) {
  (void)state;
  FILE *nowhere = fopen("/dev/null", "we");
  assert_non_null(nowhere);
  struct tg_schedule schedule = busy();
  schedule.steps[1].value |= TG_CONNECT_CERTIFICATE;
  for (unsigned i = 0; i < 36; i++) {
    schedule.settings.key = (uint8_t)(i % TG_SCHEDULE_KEYS);
    schedule.settings.ticket_lifetime = (uint8_t)(i / TG_SCHEDULE_KEYS % 3);
    schedule.settings.client_ca = i / 9 % 2 != 0;
    schedule.settings.early_data = i / 18 != 0;
    // Lines are formatted when there is somewhere to write them to, thrifty or not.
    struct tg_world_options options = {.quickack = TG_QUICKACK_REARM, .trace = nowhere};
    struct tg_world_outcome in_full;
    tg_world_run(&schedule, &options, &in_full);
    uint64_t random = next_random();
    assert_true(in_full.trace_lines > 100);
    options.thrifty = true;
    for (int again = 0; again < 3; again++) {
      struct tg_world_outcome outcome;
      tg_world_run(&schedule, &options, &outcome);
      assert_true(next_random() == random);
      assert_int_equal(outcome.trace_lines, in_full.trace_lines);
      assert_true(outcome.trace_hash == in_full.trace_hash);
      assert_memory_equal(&outcome.clients, &in_full.clients, sizeof(in_full.clients));
    }
  }
  fclose(nowhere);
}

// Runs the schedule in a child that is expected to end with a finding, and returns what it said.
static size_t told_of_stall(const struct tg_schedule *schedule, bool thrifty, char *out, size_t size) {
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    signal(SIGABRT, SIG_DFL);
    dup2(ends[1], STDERR_FILENO);
    const struct tg_world_options options = {.quickack = TG_QUICKACK_OFF, .thrifty = thrifty};
    struct tg_world_outcome outcome;
    tg_world_run(schedule, &options, &outcome);
    _exit(0);
  }
  close(ends[1]);
  size_t len = 0;
  for (ssize_t got; len + 1 < size && (got = read(ends[0], out + len, size - 1 - len)) > 0;) {
    len += (size_t)got;
  }
  out[len] = '\0';
  close(ends[0]);
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
  return len;
}

static void a_thrifty_finding_is_told_with_its_trace(void **state) {
  (void)state;
  static char plain[32768];
  static char thrifty[32768];
  struct tg_schedule schedule = one_request(0);
  schedule.steps[0].wait = 0;
  assert_true(told_of_stall(&schedule, false, plain, sizeof(plain)) > 0);
  assert_non_null(strstr(plain, "property P5 broken at +0.0"));
  assert_non_null(strstr(plain, "for a delayed ACK"));
  told_of_stall(&schedule, true, thrifty, sizeof(thrifty));
  const char *end = strstr(plain, "for a delayed ACK\n");
  assert_non_null(end);
  assert_memory_equal(thrifty, plain, (size_t)(end - plain));
}

static void another_timing_has_the_same_outcome(void **state) {
  (void)state;
  struct tg_schedule schedule = busy();
  schedule.num_steps = 10;
  struct tg_world_outcome outcome = run(&schedule, TG_QUICKACK_REARM, false);
  for (int at_once = 0; at_once < 2; at_once++) {
    struct tg_schedule retimed;
    assert_true(tg_schedule_retime(&schedule, at_once != 0, &retimed));
    struct tg_world_outcome again = run(&retimed, TG_QUICKACK_REARM, false);
    assert_true(outcome.comparable && again.comparable);
    tg_world_require_same(&outcome, &again);
    assert_true(again.trace_hash != outcome.trace_hash);
  }
}

// --- findings: what the world makes of a server that goes wrong, for which bytes on the way stand in
// ------------------

struct network {
  unsigned pieces;  // that have come, of all connections
  unsigned from;    // the first that is changed
  bool spoils;      // the last bit of those is flipped; else they are lost
};

static size_t meddle(void *context, unsigned client, uint8_t *data, size_t len) {
  struct network *network = context;
  (void)client;
  if (network->pieces++ < network->from) {
    return len;
  }
  data[len - 1] ^= 1;
  return network->spoils ? len : 0;
}

// Runs the schedule in a process of its own. Returns what it wrote to standard error before it aborted.
static char *finding_of(const struct tg_schedule *schedule, struct network network) {
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  const pid_t pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) {
    dup2(ends[1], STDERR_FILENO);
    const struct tg_world_tap tap = {.context = &network, .received = meddle};
    const struct tg_world_options options = {.tap = &tap};
    struct tg_world_outcome outcome;
    tg_world_run(schedule, &options, &outcome);
    _exit(0);
  }
  close(ends[1]);
  static char text[1 << 16];
  size_t len = 0;
  for (ssize_t got; (got = read(ends[0], text + len, sizeof(text) - 1 - len)) > 0;) {
    len += (size_t)got;
  }
  text[len] = '\0';
  close(ends[0]);
  int status;
  assert_int_equal(waitpid(pid, &status, 0), pid);
  if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT) {
    fail_msg("no finding:\n%s", text);
  }
  return text;
}

static void assert_finds(const struct tg_schedule *schedule, struct network network, const char *property,
                         const char *says) {
  const char *text = finding_of(schedule, network);
  char begins[40];
  (void)snprintf(begins, sizeof(begins), "property %s broken at ", property);
  if (strncmp(text, begins, strlen(begins)) != 0 || strstr(text, says) == NULL) {
    fail_msg("not %s, %s:\n%s", property, says, text);
  }
}

static void a_client_that_did_nothing_wrong_gets_tls(void **state) {
  (void)state;
  struct tg_schedule schedule = one_request(0);
  for (unsigned from = 0; from < 2; from++) {
    const struct network spoils = {.from = from, .spoils = true};
    assert_finds(&schedule, spoils, "P6", "the client has kept to the protocol, and its TLS library gives up: ");
  }
  // It is to blame itself.
  schedule.num_steps = 3;
  schedule.steps[2] = (struct tg_schedule_step){.action = TG_SCHEDULE_RECORD, .value = TG_RECORD_EMPTY, .wait = REST};
  assert_int_equal(run(&schedule, TG_QUICKACK_REARM, false).clients[0].responses, 1);
}

static void a_stuck_handshake_is_seen_behind_a_request(void **state) {
  (void)state;
  struct tg_schedule schedule = one_request(0);
  const struct network loses = {.from = 0};
  assert_finds(&schedule, loses, "P3", "phase HANDSHAKE: at rest and the handshake does not go on");
  schedule.steps[0].wait = 0;
  assert_finds(&schedule, loses, "P3", "phase HANDSHAKE: at rest and the handshake does not go on");
}

static void a_half_closed_client_is_owed_its_response(void **state) {
  (void)state;
  struct tg_schedule schedule = one_request(TG_CONNECT_PLAINTEXT);
  schedule.settings.plaintext_listener = true;
  schedule.num_steps = 3;
  schedule.steps[1] = (struct tg_schedule_step){.action = TG_SCHEDULE_REQUEST, .value = TG_REQUEST_BYTES | 300 << 4};
  schedule.steps[2] = (struct tg_schedule_step){.action = TG_SCHEDULE_HALF_CLOSE, .wait = REST};
  assert_int_equal(run(&schedule, TG_QUICKACK_REARM, false).clients[0].responses, 1);
  assert_finds(&schedule, (struct network){.from = 0}, "P6",
               "the server has ended the connection and owes 1 responses");
  assert_finds(&schedule, (struct network){.from = 1}, "P6", "the server ends a response after ");
  // Within TLS, close_notify is owed as well.
  schedule.steps[0].value = 0;
  schedule.steps[0].wait = REST;
  assert_int_equal(run(&schedule, TG_QUICKACK_REARM, false).clients[0].responses, 1);
  assert_finds(&schedule, (struct network){.from = 1}, "P6", "the server's FIN comes without a close_notify before it");
}

static void impossible_servers_are_refused(void **state) {
  (void)state;
  struct tg_schedule schedule = one_request(0);
  for (int refused = 0; refused < TG_SCHEDULE_REFUSALS_COUNT; refused++) {
    schedule.settings.refused = (uint8_t)refused;
    assert_int_equal(run(&schedule, TG_QUICKACK_REARM, false).clients[0].responses, 1);
  }
}

static int setup(void **state) {
  (void)state;
  tg_world_init();
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_request_is_answered),
      cmocka_unit_test(the_stall_is_seen_without_the_rule_and_not_with_it),
      cmocka_unit_test(many_clients_are_answered),
      cmocka_unit_test(another_timing_has_the_same_outcome),
      cmocka_unit_test(replays_are_the_same_run),
      cmocka_unit_test(a_client_that_did_nothing_wrong_gets_tls),
      cmocka_unit_test(a_stuck_handshake_is_seen_behind_a_request),
      cmocka_unit_test(a_half_closed_client_is_owed_its_response),
      cmocka_unit_test(impossible_servers_are_refused),
      cmocka_unit_test(a_thrifty_run_is_the_same_run),
      cmocka_unit_test(a_thrifty_finding_is_told_with_its_trace),
  };
  return cmocka_run_group_tests(tests, setup, NULL);
}
