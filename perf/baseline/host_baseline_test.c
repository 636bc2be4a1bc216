// The decoder of a host's baseline: what it takes, and what it says of what it does not.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "perf/baseline/allowance.h"
#include "perf/baseline/baseline_fixture.h"

static struct tg_host_baseline *parse(const char *text, struct tg_error *err) {
  err->text[0] = '\0';
  return tg_host_baseline_parse("b.json", text, strlen(text), err);
}

// The fixture with `from` replaced by `to`, which must be there.
static const char *changed(const char *from, const char *to) {
  static char text[8192];
  const char *at = strstr(tg_fixture_baseline, from);
  if (at == NULL) {
    fail_msg("%s is not in the fixture", from);
  }
  (void)snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - tg_fixture_baseline), tg_fixture_baseline, to,
                 at + strlen(from));
  return text;
}

static void refuses(const char *from, const char *to, const char *expected) {
  struct tg_error err;
  struct tg_host_baseline *baseline = parse(changed(from, to), &err);
  if (baseline != NULL || strncmp(err.text, expected, strlen(expected)) != 0) {
    fail_msg("%s -> %s:\n  %s\n  expected %s", from, to, err.text, expected);
  }
}

static struct tg_host_baseline *accepts(const char *from, const char *to) {
  struct tg_error err;
  struct tg_host_baseline *baseline = parse(changed(from, to), &err);
  if (baseline == NULL) {
    fail_msg("%s -> %s: %s", from, to, err.text);
  }
  return baseline;
}

static void test_a_baseline_is_decoded_as_written(void **state) {
  (void)state;
  struct tg_error err;
  struct tg_host_baseline *baseline = parse(tg_fixture_baseline, &err);
  assert_non_null(baseline);
  assert_string_equal(baseline->label, "quiet-1");
  assert_int_equal(baseline->profile, TG_PROFILE_SHORT);
  assert_int_equal(baseline->runs, 3);
  assert_int_equal(baseline->num_run_ids, 3);
  assert_string_equal(baseline->environment.host, "quiet");
  assert_string_equal(baseline->notes, "on the shelf");
  assert_int_equal(baseline->num_rows, 4);
  const struct tg_baseline_row *rtt = tg_host_baseline_row(baseline, "rtt_ms");
  assert_true(rtt->median == 0.1 && rtt->allowance == 0.10);
  assert_string_equal(rtt->note, "timer");
  assert_null(tg_host_baseline_row(baseline, "other"));
  tg_host_baseline_free(baseline);
}

static void test_null_is_a_bound_deliberately_disabled(void **state) {
  (void)state;
  struct tg_error err;
  struct tg_host_baseline *baseline = parse(tg_fixture_baseline, &err);
  assert_true(tg_host_baseline_row(baseline, "cpu_us")->disabled);
  assert_false(tg_host_baseline_row(baseline, "rps")->disabled);
  tg_host_baseline_free(baseline);
  // Not without a reason.
  refuses("null, \"note\": \"broken counter\"", "null", "b.json: rows.cpu_us.note: missing");
}

static void test_an_absent_required_key_is_an_error(void **state) {
  (void)state;
  static const char *const required[] = {"schema", "about", "label", "recorded", "profile", "provenance", "rows"};
  for (size_t i = 0; i < sizeof(required) / sizeof(required[0]); i++) {
    struct tg_error err;
    json_t *root = json_loads(tg_fixture_baseline, 0, NULL);
    assert_int_equal(json_object_del(root, required[i]), 0);
    char *text = json_dumps(root, 0);
    struct tg_host_baseline *baseline = parse(text, &err);
    char expected[64];
    (void)snprintf(expected, sizeof(expected), "b.json: %s: missing", required[i]);
    if (baseline != NULL || strncmp(err.text, expected, strlen(expected)) != 0) {
      fail_msg("without %s: %s", required[i], err.text);
    }
    free(text);
    json_decref(root);
  }
  // An absent median is not a disabled one.
  refuses("\"median\": 1000", "\"allowance\": 0.1", "b.json: rows.rps.median: missing");
}

static void test_an_omitted_allowance_is_five_percent(void **state) {
  (void)state;
  struct tg_error err;
  struct tg_host_baseline *baseline = parse(tg_fixture_baseline, &err);
  assert_true(tg_host_baseline_row(baseline, "rps")->allowance == 0.05);
  tg_host_baseline_free(baseline);
}

static void test_an_omitted_trust_block_is_the_defaults(void **state) {
  (void)state;
  struct tg_host_baseline *baseline = accepts("\"trust\": {\"spread\": 0.2}, ", "");
  assert_true(baseline->trust.spread == TG_TRUST_SPREAD);
  assert_true(baseline->trust.instability == TG_TRUST_INSTABILITY);
  assert_true(baseline->trust.outliers == TG_TRUST_OUTLIERS);
  assert_null(baseline->trust_overrides);
  tg_host_baseline_free(baseline);
}

static void test_a_partial_trust_block_overrides_only_what_it_names(void **state) {
  (void)state;
  struct tg_error err;
  struct tg_host_baseline *baseline = parse(tg_fixture_baseline, &err);
  assert_true(baseline->trust.spread == 0.2);
  assert_true(baseline->trust.instability == TG_TRUST_INSTABILITY);
  assert_true(baseline->trust.outliers == TG_TRUST_OUTLIERS);
  tg_host_baseline_free(baseline);
  refuses("{\"spread\": 0.2}", "{\"sprad\": 0.2}", "b.json: trust.sprad: unknown key");
  refuses("{\"spread\": 0.2}", "{\"spread\": 0}", "b.json: trust.spread: must be above 0");
  refuses("{\"spread\": 0.2}", "null", "b.json: trust: must be an object, is null");
}

static void test_an_older_baseline_without_a_sample_count_comes_from_one_run(void **state) {
  (void)state;
  struct tg_error err;
  json_t *root = json_loads(tg_fixture_baseline, 0, NULL);
  (void)json_object_del(root, "runs");
  (void)json_object_del(root, "run_ids");
  char *text = json_dumps(root, 0);
  struct tg_host_baseline *baseline = parse(text, &err);
  assert_non_null(baseline);
  assert_int_equal(baseline->runs, 1);
  assert_int_equal(baseline->num_run_ids, 0);
  tg_host_baseline_free(baseline);
  free(text);
  json_decref(root);
}

static void test_notes_stand_only_where_they_are_documented(void **state) {
  (void)state;
  refuses("\"notes\"", "\"note\"", "b.json: note: unknown key");
  refuses("\"note\": \"timer\"", "\"notes\": \"timer\"", "b.json: rows.rtt_ms.notes: unknown key");
  refuses("{\"spread\": 0.2}", "{\"note\": \"x\"}", "b.json: trust.note: unknown key");
  refuses("\"host\": \"quiet\"", "\"host\": \"quiet\", \"note\": \"x\"", "b.json: provenance.note: unknown key");
}

static void test_another_schema_version_is_refused_with_the_remedy(void **state) {
  (void)state;
  struct tg_error err;
  assert_null(parse(changed("\"schema\": 1", "\"schema\": 2"), &err));
  assert_non_null(strstr(err.text, "b.json: schema: version 2 is not known, this build reads version 1"));
  assert_non_null(strstr(err.text, "record the baseline anew: ./tlsgate record"));
}

static void test_wrong_values_are_named_with_their_place(void **state) {
  (void)state;
  refuses("\"label\": \"quiet-1\"", "\"label\": \"../x\"", "b.json: label: \"../x\" is not a host's label");
  refuses("\"runs\": 3", "\"runs\": 2", "b.json: run_ids: has 3 ids where \"runs\" says 2");
  refuses("\"runs\": 3", "\"runs\": 0", "b.json: runs: must be between 1 and 64");
  refuses("00000000002", "00000000001", "b.json: run_ids: has one run twice");
  refuses("00000000002", "0000000000X", "b.json: run_ids: element 1 is not the id of a run");
  refuses("\"median\": 0.1", "\"median\": 0", "b.json: rows.rtt_ms.median: must be above 0");
  refuses("\"median\": 0.1", "\"median\": \"0.1\"", "b.json: rows.rtt_ms.median: must be a number, is a string");
  refuses("\"allowance\": 0.10", "\"allowance\": -0.1", "b.json: rows.rtt_ms.allowance: must be between 0 and 10");
  refuses("\"allowance\": 0.10", "\"allowance\": null", "b.json: rows.rtt_ms.allowance: must be a number, is null");
  refuses("\"rtt_ms\": {", "\"RTT\": {", "b.json: rows: \"RTT\" is not a metric's name");
  refuses("\"recorded\": \"2026-01-30T10:00:00Z\"", "\"recorded\": \"yesterday\"", "b.json: recorded:");
  refuses("\"profile\": \"short\"", "\"profile\": \"long\"", "b.json: profile:");
  refuses("\"commit\": \"" TG_REVISION_A "\"", "\"commit\": null", "b.json: provenance: commit is null");
  refuses("{\"schema\"", "{\"schema\": 1, \"schema\"", "b.json:1:");
}

static void test_an_edited_list_of_wide_rows_is_found_out(void **state) {
  (void)state;
  refuses("[\"curve\"]", "[]", "b.json: wide_allowances: is not the list of the rows");
  refuses("\"allowance\": 0.40", "\"allowance\": 0.30", "b.json: wide_allowances: is not the list of the rows");
}

static void test_what_is_encoded_decodes_to_the_same(void **state) {
  (void)state;
  struct tg_error err;
  struct tg_host_baseline *baseline = parse(tg_fixture_baseline, &err);
  json_t *encoded = tg_host_baseline_encode(baseline);
  char *text = json_dumps(encoded, JSON_SORT_KEYS);
  struct tg_host_baseline *again = parse(text, &err);
  assert_non_null(again);
  json_t *encoded_again = tg_host_baseline_encode(again);
  assert_true(json_equal(encoded, encoded_again));
  // Everything the fixture says is still there, and the omitted allowance is written out.
  assert_string_equal(again->notes, "on the shelf");
  assert_true(again->trust.spread == 0.2);
  assert_true(tg_host_baseline_row(again, "cpu_us")->disabled);
  assert_true(tg_host_baseline_row(again, "rps")->allowance == 0.05);
  json_decref(encoded);
  json_decref(encoded_again);
  free(text);
  tg_host_baseline_free(again);
  tg_host_baseline_free(baseline);
}

static void test_no_truncation_and_no_flipped_bit_is_taken_for_the_file(void **state) {
  (void)state;
  const size_t len = strlen(tg_fixture_baseline);
  char *text = strdup(tg_fixture_baseline);
  for (size_t i = 0; i < len; i++) {
    struct tg_error err = {""};
    assert_null(tg_host_baseline_parse("b.json", tg_fixture_baseline, i, &err));
    assert_int_equal(strncmp(err.text, "b.json:", 7), 0);
    for (int bit = 0; bit < 8; bit++) {
      text[i] = (char)(tg_fixture_baseline[i] ^ (1 << bit));
      struct tg_host_baseline *baseline = tg_host_baseline_parse("b.json", text, len, &err);
      // A digit or a letter within a text may become another one. What is taken then is whole.
      if (baseline == NULL) {
        assert_int_equal(strncmp(err.text, "b.json:", 7), 0);
      } else {
        assert_int_equal(baseline->num_rows, 4);
        assert_true(baseline->runs == 3 && baseline->num_run_ids == 3);
        tg_host_baseline_free(baseline);
      }
    }
    text[i] = tg_fixture_baseline[i];
  }
  free(text);
}

static void test_a_row_is_needed_for_every_metric_but_fractions(void **state) {
  (void)state;
  struct tg_manifest *manifest = tg_fixture_manifest();
  assert_true(tg_baseline_covers(tg_manifest_gate(manifest, "rtt_ms")));
  assert_true(tg_baseline_covers(tg_manifest_gate(manifest, "curve")));
  assert_false(tg_baseline_covers(tg_manifest_gate(manifest, "stalled")));
  tg_manifest_free(manifest);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_baseline_is_decoded_as_written),
      cmocka_unit_test(test_null_is_a_bound_deliberately_disabled),
      cmocka_unit_test(test_an_absent_required_key_is_an_error),
      cmocka_unit_test(test_an_omitted_allowance_is_five_percent),
      cmocka_unit_test(test_an_omitted_trust_block_is_the_defaults),
      cmocka_unit_test(test_a_partial_trust_block_overrides_only_what_it_names),
      cmocka_unit_test(test_an_older_baseline_without_a_sample_count_comes_from_one_run),
      cmocka_unit_test(test_notes_stand_only_where_they_are_documented),
      cmocka_unit_test(test_another_schema_version_is_refused_with_the_remedy),
      cmocka_unit_test(test_wrong_values_are_named_with_their_place),
      cmocka_unit_test(test_an_edited_list_of_wide_rows_is_found_out),
      cmocka_unit_test(test_what_is_encoded_decodes_to_the_same),
      cmocka_unit_test(test_no_truncation_and_no_flipped_bit_is_taken_for_the_file),
      cmocka_unit_test(test_a_row_is_needed_for_every_metric_but_fractions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
