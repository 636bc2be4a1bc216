// What made-up rows come to: medians, ratios, the best, bars, and what table, page and report say of them.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "perf/peers/bars.h"
#include "perf/peers/page.h"
#include "perf/peers/report.h"
#include "perf/peers/table.h"

enum { OWN, NGINX, HAPROXY, H2O, OPENSSL, NUM };
static const char *const names[NUM] = {"own", "nginx", "haproxy", "h2o", "openssl"};

static struct tg_peers_result result;

static void begin(size_t rounds) {
  memset(&result, 0, sizeof(result));
  result.rounds = rounds;
  result.num_servers = NUM;
  for (size_t i = 0; i < NUM; i++) {
    result.servers[i].name = names[i];
    result.servers[i].file = "made-up.json";
    result.servers[i].own = i == OWN;
    result.servers[i].floor = i == OPENSSL;
  }
}

// One value for all rounds, with two per cent of noise that is the same on all servers and so cancels in ratios.
static void fill(struct tg_peers_cell *cell, double value) {
  for (size_t i = 0; i < result.rounds; i++) {
    tg_peers_add(cell, value * (1 + 0.02 * ((double)(i % 3) - 1)), false);
  }
}

static void fill_all(enum tg_peers_metric metric, double own, double nginx, double haproxy, double h2o) {
  const double values[] = {own, nginx, haproxy, h2o};
  for (size_t i = 0; i < 4; i++) {
    fill(&result.servers[i].cells[metric], values[i]);
  }
}

// Every metric, ours twice as good as the best of the others.
static void make_good(size_t rounds) {
  begin(rounds);
  for (int metric = 0; metric < TG_PEERS_SHARDS_1; metric++) {
    bool more = tg_peers_info((enum tg_peers_metric)metric)->more_is_better;
    fill_all((enum tg_peers_metric)metric, more ? 2000 : 99, more ? 1000 : 200, more ? 900 : 300, more ? 800 : 400);
  }
  for (size_t i = 0; i < rounds; i++) {
    result.servers[OWN].cells[TG_PEERS_IDLE_CPU].values[i] = 0.01;
  }
  fill(&result.in_memory, 70);
}

static const struct tg_peers_bar *bar_of(const struct tg_peers_bar *bars, const char *what) {
  for (size_t i = 0; i < TG_PEERS_BARS; i++) {
    if (strcmp(bars[i].what, what) == 0) {
      return &bars[i];
    }
  }
  fail_msg("there is no bar %s", what);
  return NULL;
}

static void expect(const char *what, enum tg_peers_bar_verdict verdict, const char *in_why) {
  struct tg_peers_bar bars[TG_PEERS_BARS];
  tg_peers_bars(&result, bars);
  const struct tg_peers_bar *bar = bar_of(bars, what);
  if (bar->verdict != verdict || strstr(bar->why, in_why) == NULL) {
    fail_msg("%s: %s (%s)", what, tg_peers_bar_word(bar->verdict), bar->why);
  }
}

static void test_all_bars_are_reached(void **state) {
  (void)state;
  struct tg_peers_bar bars[TG_PEERS_BARS];
  make_good(5);
  tg_peers_bars(&result, bars);
  for (size_t i = 0; i < TG_PEERS_BARS; i++) {
    if (bars[i].verdict != TG_PEERS_REACHED) {
      fail_msg("%s: %s: %s", bars[i].what, tg_peers_bar_word(bars[i].verdict), bars[i].why);
    }
  }
  assert_int_equal(tg_peers_bars_with(bars, TG_PEERS_REACHED), TG_PEERS_BARS);
}

static void scale(struct tg_peers_cell *cell, double factor) {
  for (size_t i = 0; i < cell->num; i++) {
    cell->values[i] *= factor;
  }
}

static void test_each_bar_can_be_missed(void **state) {
  (void)state;
  static const struct {
    const char *what;
    enum tg_peers_metric metric;
    double kept;  // factors on the value of make_good: still within the bound, and just beyond it
    double missed;
  } table[] = {
      {"server CPU per full handshake", TG_PEERS_FULL_CPU, 1.0, 1.02},
      {"the same, against the handshake in memory", TG_PEERS_FULL_CPU, 1.05, 1.07},
      {"server CPU per resumed handshake", TG_PEERS_RESUMED_CPU, 1.0, 1.02},
      {"server CPU per keep-alive request", TG_PEERS_REQUEST_CPU, 1.6, 1.63},
      {"server CPU per MiB sent", TG_PEERS_MIB_CPU, 1.4, 1.43},
      {"memory per idle connection", TG_PEERS_IDLE_KIB, 1.4, 1.43},
      {"CPU at rest with idle connections", TG_PEERS_IDLE_CPU, 49, 50},
      {"system calls per connection", TG_PEERS_CALLS_EACH, 2.0, 2.03},
      {"connections, 1 at once", TG_PEERS_CPS_1, 0.51, 0.49},
      {"connections, 4 at once", TG_PEERS_CPS_4, 0.51, 0.49},
      {"connections, 32 at once", TG_PEERS_CPS_32, 0.51, 0.49},
      {"resumed connections", TG_PEERS_RESUMED_CPS, 0.51, 0.49},
      {"keep-alive requests", TG_PEERS_KEEPALIVE_RPS, 0.51, 0.49},
      {"1 MiB responses", TG_PEERS_BIG_GBPS, 0.51, 0.49},
  };
  assert_int_equal(sizeof(table) / sizeof(table[0]), TG_PEERS_BARS);
  for (size_t i = 0; i < TG_PEERS_BARS; i++) {
    make_good(5);
    scale(&result.servers[OWN].cells[table[i].metric], table[i].kept);
    expect(table[i].what, TG_PEERS_REACHED, "");
    make_good(5);
    scale(&result.servers[OWN].cells[table[i].metric], table[i].missed);
    expect(table[i].what, TG_PEERS_NOT_REACHED, "");
  }
}

static void test_what_is_not_measured_says_why(void **state) {
  (void)state;
  make_good(4);
  expect("server CPU per full handshake", TG_PEERS_NOT_MEASURED, "4 rounds, and it takes 5");
  make_good(5);
  tg_peers_fail(&result.servers[H2O].cells[TG_PEERS_FULL_CPU], 2, "it fell over");
  expect("server CPU per full handshake", TG_PEERS_NOT_MEASURED, "h2o could not be read");
  expect("server CPU per resumed handshake", TG_PEERS_REACHED, "");
  make_good(5);
  tg_peers_fail(&result.servers[OWN].cells[TG_PEERS_FULL_CPU], 0, "it fell over");
  expect("server CPU per full handshake", TG_PEERS_NOT_MEASURED, "own could not be read");
  make_good(5);
  result.servers[NGINX].name = "another";
  expect("memory per idle connection", TG_PEERS_NOT_MEASURED, "nginx was not compared");
  make_good(5);
  result.in_memory.num = 0;
  expect("the same, against the handshake in memory", TG_PEERS_NOT_MEASURED, "in memory");
}

static void test_a_client_that_is_the_limit_decides_no_throughput(void **state) {
  (void)state;
  make_good(5);
  scale(&result.servers[OWN].cells[TG_PEERS_CPS_32], 0.1);
  result.servers[NGINX].cells[TG_PEERS_CPS_32].client_bound = 2;
  expect("connections, 32 at once", TG_PEERS_NOT_REACHED, "");
  result.servers[NGINX].cells[TG_PEERS_CPS_32].client_bound = 3;
  expect("connections, 32 at once", TG_PEERS_NOT_MEASURED, "the client is the limit of nginx");
  result.servers[OWN].cells[TG_PEERS_CPS_32].client_bound = 5;
  expect("connections, 32 at once", TG_PEERS_NOT_MEASURED, "the client is the limit of own");
}

static void test_a_peer_to_which_it_does_not_apply_is_no_peer(void **state) {
  (void)state;
  make_good(5);
  struct tg_peers_cell *cell = &result.servers[NGINX].cells[TG_PEERS_MIB_CPU];
  *cell = (struct tg_peers_cell){.num = 0};
  tg_peers_leave_out(cell, "it sends none");
  // Against haproxy now, the next best: 99 / 300.
  scale(&result.servers[OWN].cells[TG_PEERS_MIB_CPU], 2);
  struct tg_peers_bar bars[TG_PEERS_BARS];
  tg_peers_bars(&result, bars);
  const struct tg_peers_bar *bar = bar_of(bars, "server CPU per MiB sent");
  assert_int_equal(bar->verdict, TG_PEERS_REACHED);
  assert_string_equal(bar->bound, "<= 0.7 x haproxy");
  assert_true(fabs(bar->value.centre - 0.66) < 0.01);
  assert_false(tg_peers_undecided(&result));
}

static void test_the_best_and_the_floor(void **state) {
  (void)state;
  make_good(5);
  assert_int_equal(tg_peers_best(&result, TG_PEERS_CPS_4), OWN);
  assert_int_equal(tg_peers_best(&result, TG_PEERS_FULL_CPU), OWN);
  scale(&result.servers[HAPROXY].cells[TG_PEERS_FULL_CPU], 0.1);
  assert_int_equal(tg_peers_best(&result, TG_PEERS_FULL_CPU), HAPROXY);
  fill(&result.servers[OPENSSL].cells[TG_PEERS_FULL_CPU], 1);
  assert_int_equal(tg_peers_best(&result, TG_PEERS_FULL_CPU), HAPROXY);
  assert_int_equal(tg_peers_best(&result, TG_PEERS_SHARDS_1), -1);
}

static void test_ratios_are_paired_by_round(void **state) {
  (void)state;
  struct tg_interval ratio;
  begin(5);
  struct tg_peers_cell *one = &result.servers[OWN].cells[TG_PEERS_RTT_P50];
  struct tg_peers_cell *two = &result.servers[NGINX].cells[TG_PEERS_RTT_P50];
  for (size_t i = 0; i < 5; i++) {
    // A machine that is four times as slow in the last round.
    tg_peers_add(one, (double)(i + 1) * 3, false);
    tg_peers_add(two, (double)(i + 1), false);
  }
  assert_true(tg_peers_ratio(&result, one, two, &ratio));
  assert_true(fabs(ratio.centre - 3) < 1e-9 && fabs(ratio.low - 3) < 1e-9 && fabs(ratio.high - 3) < 1e-9);
  two->values[4] = 0;
  assert_false(tg_peers_ratio(&result, one, two, &ratio));
  two->num = 4;
  assert_false(tg_peers_readable(&result, two));
  assert_false(tg_peers_ratio(&result, one, two, &ratio));
}

static void test_one_failed_round_is_undecided(void **state) {
  (void)state;
  make_good(5);
  assert_false(tg_peers_undecided(&result));
  tg_peers_fail(&result.servers[H2O].cells[TG_PEERS_BIG_GBPS], 1, "first reason");
  tg_peers_fail(&result.servers[H2O].cells[TG_PEERS_BIG_GBPS], 2, "second reason");
  assert_true(tg_peers_undecided(&result));
  assert_string_equal(result.servers[H2O].cells[TG_PEERS_BIG_GBPS].why, "round 2: first reason");
  make_good(5);
  tg_peers_fail(&result.in_memory, 0, "no memory");
  assert_true(tg_peers_undecided(&result));
}

static char *printed(void (*print)(FILE *out)) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  assert_non_null(out);
  print(out);
  assert_int_equal(fclose(out), 0);
  return text;
}

static void print_tables(FILE *out) {
  struct tg_peers_bar bars[TG_PEERS_BARS];
  tg_peers_table(out, &result);
  tg_peers_bars(&result, bars);
  tg_peers_bars_table(out, bars);
}

static void has(const char *text, const char *what) {
  if (strstr(text, what) == NULL) {
    fail_msg("no \"%s\" in:\n%s", what, text);
  }
}

static void make_shown(void) {
  make_good(5);
  result.servers[OWN].cells[TG_PEERS_CPS_32].client_bound = 5;
  tg_peers_fail(&result.servers[H2O].cells[TG_PEERS_BIG_GBPS], 1, "it <fell> over");
  tg_peers_leave_out(&result.servers[OPENSSL].cells[TG_PEERS_BIG_GBPS], "it sends none");
  tg_peers_add_call(&result.servers[OWN], 4, "epoll_wait", 3);
  for (size_t i = 0; i < 5; i++) {
    tg_peers_add_call(&result.servers[NGINX], i, "getpid", 9);
  }
  result.exact_calls = 21;
  (void)snprintf(result.absent[result.num_absent++], TG_PEERS_ABSENT_SIZE, "lighttpd: apt-get install lighttpd");
}

static void test_table(void **state) {
  (void)state;
  make_shown();
  char *text = printed(print_tables);
  has(text, "2000* +-");
  has(text, "0.50x 0.50-0.50");
  has(text, "best");
  has(text, "unreadable: h2o, 1 MiB responses: round 2: it <fell> over");
  has(text, "skipped: lighttpd: apt-get install lighttpd");
  has(text, "exact gates (full_tls13): 21");
  has(text, "12 of 14 bars reached, 0 not reached, 2 not measured");
  has(text, "the client is the limit of own");
  assert_null(strstr(text, "shard"));
  free(text);
}

static void test_report(void **state) {
  (void)state;
  make_shown();
  struct tg_peers_bar bars[TG_PEERS_BARS];
  tg_peers_bars(&result, bars);
  json_t *provenance = json_pack("{s:s}", "commit", "abc");
  const struct tg_peers_run_facts facts = {
      .date = "2026-01-01T00:00:00Z", .workers = 2, .took_s = 5, .stolen = (double)NAN, .provenance = provenance};
  json_t *report = tg_peers_report(&result, bars, &facts);
  assert_non_null(report);
  assert_string_equal(json_string_value(json_object_get(report, "kind")), "compare");
  assert_string_equal(json_string_value(json_object_get(report, "verdict")), "undecided");
  assert_true(json_is_null(json_object_get(report, "stolen_fraction")));
  const json_t *metric = json_array_get(json_object_get(report, "metrics"), TG_PEERS_FULL_CPU);
  assert_string_equal(json_string_value(json_object_get(metric, "best")), "own");
  const json_t *nginx = json_object_get(json_object_get(metric, "servers"), "nginx");
  assert_int_equal(json_array_size(json_object_get(nginx, "values")), 5);
  assert_true(json_is_object(json_object_get(nginx, "ratio_to_best")));
  const json_t *big = json_array_get(json_object_get(report, "metrics"), TG_PEERS_BIG_GBPS);
  const json_t *servers = json_object_get(big, "servers");
  assert_string_equal(json_string_value(json_object_get(json_object_get(servers, "h2o"), "state")), "unreadable");
  assert_string_equal(json_string_value(json_object_get(json_object_get(servers, "openssl"), "state")), "left_out");
  assert_int_equal(json_array_size(json_object_get(report, "bars")), TG_PEERS_BARS);
  assert_int_equal(json_array_size(json_object_get(report, "skipped")), 1);
  json_decref(report);
  json_decref(provenance);
}

static void test_page(void **state) {
  (void)state;
  const char *temporary = getenv("TEST_TMPDIR");
  char path[300];
  char nowhere[320];
  static char text[200000];
  struct tg_peers_bar bars[TG_PEERS_BARS];
  struct tg_error err;
  const struct tg_peers_run_facts facts = {.date = "2026-01-01T00:00:00Z", .workers = 2, .took_s = 5};
  make_shown();
  tg_peers_bars(&result, bars);
  (void)snprintf(path, sizeof(path), "%.200s/compare.html", temporary != NULL ? temporary : "/tmp");
  (void)snprintf(nowhere, sizeof(nowhere), "%s/no/compare.html", path);
  assert_false(tg_peers_page(nowhere, &result, bars, &facts, &err));
  has(err.text, "report unavailable");
  if (!tg_peers_page(path, &result, bars, &facts, &err)) {
    fail_msg("%s", err.text);
  }
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
  (void)fclose(file);
  (void)unlink(path);
  has(text, "<!doctype html>");
  has(text, "prefers-color-scheme:dark");
  has(text, "it &lt;fell&gt; over");
  has(text, "<code>getpid</code>");
  has(text, "<b>2000</b>");
  has(text, "Skipped: lighttpd");
  has(text, "</html>");
  // Nothing is loaded from elsewhere.
  assert_null(strstr(text, "http://"));
  assert_null(strstr(text, "https://"));
  assert_null(strstr(text, "<script"));
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_all_bars_are_reached),
      cmocka_unit_test(test_each_bar_can_be_missed),
      cmocka_unit_test(test_what_is_not_measured_says_why),
      cmocka_unit_test(test_a_client_that_is_the_limit_decides_no_throughput),
      cmocka_unit_test(test_a_peer_to_which_it_does_not_apply_is_no_peer),
      cmocka_unit_test(test_the_best_and_the_floor),
      cmocka_unit_test(test_ratios_are_paired_by_round),
      cmocka_unit_test(test_one_failed_round_is_undecided),
      cmocka_unit_test(test_table),
      cmocka_unit_test(test_report),
      cmocka_unit_test(test_page),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
