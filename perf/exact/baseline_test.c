// baselines/exact.json: what the decoder takes, what it says of what it does not, and what a recording keeps.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "perf/exact/baseline.h"
#include "perf/manifest/strict_json.h"

#define CALLS "\"calls\": {\"a\": {\"accept4\": 2, \"rearms\": 3, \"wakeups\": 4, \"stalls\": 0}}"
#define MEMORY                                                                                         \
  "\"memory\": [{\"boringssl\": \"r1\", \"scenarios\": {\"a\": {\"allocations\": 5, \"bytes\": null, " \
  "\"peak_bytes\": 7}}}]"
#define INSTRUCTIONS                                                                                     \
  "\"instructions\": [{\"boringssl\": \"r1\", \"compiler\": \"c1\", \"runs\": 5, \"allowance\": 0.001, " \
  "\"scenarios\": {\"a\": {\"accept\": 1000, \"server\": 0}}}]"
#define DISPATCHED                                                                                \
  "\"dispatched\": [{\"boringssl\": \"r1\", \"compiler\": \"c1\", \"cpu\": \"x1\", \"runs\": 5, " \
  "\"allowance\": "                                                                               \
  "0.002, \"scenarios\": {\"a\": {\"ssl\": 9, \"crypto\": 8}}}]"
#define GOOD "{\"schema\": 1, " CALLS ", " MEMORY ", " INSTRUCTIONS ", " DISPATCHED "}"

static struct tg_exact_figures figures;
static struct tg_exact_baseline baseline;

static int make_figures(void **state) {
  (void)state;
  memset(&figures, 0, sizeof(figures));
  figures.keys = (struct tg_exact_keys){.boringssl = "r1", .compiler = "c1", .cpu = "x1"};
  figures.num_scenarios = 1;
  strcpy(figures.scenarios[0], "a");
  return 0;
}

static bool read_text(const char *text, enum tg_exact_purpose purpose, struct tg_error *err) {
  json_t *value = tg_json_parse("e.json", text, strlen(text), err);
  const bool ok = value != NULL && tg_exact_baseline_read("e.json", value, &figures, purpose, &baseline, err);
  json_decref(value);
  return ok;
}

// Replaces `from` in the good text by `to` and expects an error that begins with `expected`.
static void refuses(const char *from, const char *to, const char *expected) {
  char changed[4096];
  const char *at = strstr(GOOD, from);
  assert_non_null(at);
  snprintf(changed, sizeof(changed), "%.*s%s%s", (int)(at - GOOD), GOOD, to, at + strlen(from));
  struct tg_error err = {.text = ""};
  if (read_text(changed, TG_EXACT_JUDGE, &err) || strncmp(err.text, expected, strlen(expected)) != 0) {
    fail_msg("%s -> %s:\n  %s\n  expected %s\n", from, to, err.text, expected);
  }
}

static void a_baseline_is_decoded_as_written(void **state) {
  (void)state;
  struct tg_error err = {.text = ""};
  if (!read_text(GOOD, TG_EXACT_JUDGE, &err)) {
    fail_msg("%s", err.text);
  }
  for (int section = 0; section < TG_EXACT_SECTIONS; section++) {
    assert_true(baseline.has[section]);
  }
  assert_int_equal(baseline.values[0][TG_CALL_ACCEPT], 2);
  assert_int_equal(baseline.states[0][TG_CALL_RECV], TG_EXACT_ABSENT);
  assert_int_equal(baseline.states[0][TG_EXACT_STALLS], TG_EXACT_RECORDED);
  assert_int_equal(baseline.states[0][TG_EXACT_BYTES], TG_EXACT_DISABLED);
  assert_int_equal(baseline.values[0][TG_EXACT_PEAK_BYTES], 7);
  assert_int_equal(baseline.values[0][TG_EXACT_ACCEPT], 1000);
  assert_true(baseline.allowance[TG_EXACT_INSTRUCTIONS] == 0.001);
  assert_true(baseline.allowance[TG_EXACT_DISPATCHED] == 0.002);
  assert_int_equal(baseline.runs[TG_EXACT_DISPATCHED], 5);
}

static void what_is_not_as_it_should_be_is_named_with_its_place(void **state) {
  (void)state;
  refuses("\"schema\": 1", "\"schema\": 2", "e.json: schema: version 2 is not known");
  refuses("\"schema\": 1, ", "", "e.json: schema: missing; it is required");
  refuses("\"schema\": 1,", "\"schema\": 1, \"about\": \"x\",", "e.json: about: unknown key; remove it");
  refuses(", " MEMORY, "", "e.json: memory: missing; it is required and must be an array");
  refuses(MEMORY, "\"memory\": {}", "e.json: memory: must be an array, is an object");
  refuses("\"accept4\": 2", "\"accept5\": 2", "e.json: calls.a.accept5: unknown key");
  refuses("\"accept4\": 2", "\"malloc\": 2", "e.json: calls.a.malloc: unknown key");
  refuses("\"accept4\": 2", "\"accept4\": 2.0", "e.json: calls.a.accept4: must be an integer, is a number");
  refuses("\"accept4\": 2", "\"accept4\": 0", "e.json: calls.a.accept4: must be between 1 and");
  refuses("\"accept4\": 2", "\"accept4\": 2, \"accept4\": 2", "e.json:1:");
  refuses("\"rearms\": 3, ", "", "e.json: calls.a.rearms: missing; it is required");
  refuses("\"stalls\": 0", "\"stalls\": -1", "e.json: calls.a.stalls: must be between 0 and");
  refuses("\"calls\": {\"a\"", "\"calls\": {\"b\"", "e.json: calls.b: there is no such scenario");
  refuses("{\"a\": {\"ssl\": 9, \"crypto\": 8}}", "{}",
          "e.json: dispatched[0].scenarios.a: missing; it is required; ./tlsgate record --exact writes it");
  refuses("\"allowance\": 0.001", "\"allowance\": 0.01",
          "e.json: instructions[0].allowance: must be between 0 and 0.0025, is 0.01");
  refuses("\"runs\": 5, \"allowance\": 0.001", "\"runs\": 0, \"allowance\": 0.001",
          "e.json: instructions[0].runs: must be between 1 and 99, is 0");
  refuses("\"memory\": [",
          "\"memory\": [{\"boringssl\": \"r1\", \"scenarios\": {\"a\": {\"allocations\": 5, \"bytes\": 6, "
          "\"peak_bytes\": 7}}}, ",
          "e.json: memory[1]: has the keys of an entry before it");
  refuses("\"memory\": [{\"boringssl\": \"r1\"", "\"memory\": [{\"boringssl\": 1",
          "e.json: memory[0].boringssl: must be a string, is an integer");
}

static void an_entry_under_another_key_does_not_hold(void **state) {
  (void)state;
  struct tg_error err = {.text = ""};
  strcpy(figures.keys.cpu, "x2");
  assert_true(read_text(GOOD, TG_EXACT_JUDGE, &err));
  assert_true(baseline.has[TG_EXACT_INSTRUCTIONS]);
  assert_false(baseline.has[TG_EXACT_DISPATCHED]);
  strcpy(figures.keys.compiler, "c2");
  assert_true(read_text(GOOD, TG_EXACT_JUDGE, &err));
  assert_true(baseline.has[TG_EXACT_MEMORY]);
  assert_false(baseline.has[TG_EXACT_INSTRUCTIONS]);
  strcpy(figures.keys.boringssl, "r2");
  assert_true(read_text(GOOD, TG_EXACT_JUDGE, &err));
  assert_true(baseline.has[TG_EXACT_CALLS]);
  assert_false(baseline.has[TG_EXACT_MEMORY]);
  // It is decoded all the same.
  refuses("\"allocations\": 5, ", "", "e.json: memory[0].scenarios.a.allocations: missing");
}

static void a_recording_keeps_other_entries_and_what_is_disabled(void **state) {
  (void)state;
  struct tg_error err = {.text = ""};
  json_t *old = tg_json_parse("e.json", GOOD, strlen(GOOD), &err);
  strcpy(figures.keys.compiler, "c2");
  figures.values[0][TG_CALL_ACCEPT] = 9;
  figures.values[0][TG_EXACT_BYTES] = 9;
  figures.values[0][TG_EXACT_SSL] = 9;
  assert_true(tg_exact_baseline_read("e.json", old, &figures, TG_EXACT_RECORD, &baseline, &err));
  const struct tg_exact_recorded recorded = {.runs = 3, .allowance = {[TG_EXACT_INSTRUCTIONS] = 0.0005}};
  json_t *now = tg_exact_baseline_write(old, &figures, &baseline, &recorded);
  json_t *instructions = json_object_get(now, "instructions");
  assert_int_equal(json_array_size(instructions), 2);
  assert_true(json_equal(json_array_get(instructions, 0), json_array_get(json_object_get(old, "instructions"), 0)));
  if (!tg_exact_baseline_read("e.json", now, &figures, TG_EXACT_JUDGE, &baseline, &err)) {
    fail_msg("%s", err.text);
  }
  assert_int_equal(baseline.values[0][TG_CALL_ACCEPT], 9);
  assert_int_equal(baseline.states[0][TG_EXACT_BYTES], TG_EXACT_DISABLED);
  assert_int_equal(baseline.values[0][TG_EXACT_SSL], 9);
  assert_int_equal(baseline.runs[TG_EXACT_INSTRUCTIONS], 3);
  json_t *again = tg_exact_baseline_write(now, &figures, &baseline, &recorded);
  assert_true(json_equal(now, again));
  json_decref(again);
  json_decref(now);
  json_decref(old);
}

static void a_recording_takes_scenarios_that_come_and_go(void **state) {
  (void)state;
  struct tg_error err = {.text = ""};
  strcpy(figures.scenarios[0], "new");
  assert_false(read_text(GOOD, TG_EXACT_JUDGE, &err));
  assert_true(read_text(GOOD, TG_EXACT_RECORD, &err));
  assert_int_equal(baseline.states[0][TG_EXACT_STALLS], TG_EXACT_ABSENT);
  assert_false(read_text("{\"schema\": 2}", TG_EXACT_RECORD, &err));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(a_baseline_is_decoded_as_written, make_figures),
      cmocka_unit_test_setup(what_is_not_as_it_should_be_is_named_with_its_place, make_figures),
      cmocka_unit_test_setup(an_entry_under_another_key_does_not_hold, make_figures),
      cmocka_unit_test_setup(a_recording_keeps_other_entries_and_what_is_disabled, make_figures),
      cmocka_unit_test_setup(a_recording_takes_scenarios_that_come_and_go, make_figures),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
