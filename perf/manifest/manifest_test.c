// The manifest's decoder: what it takes, and what it says of what it does not. Usage: manifest_test GATES PUBLISHED
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "perf/manifest/manifest.h"
#include "perf/manifest/row.h"

static const char *gates_file;
static const char *published_file;

#define HEAD "{\"schema\": 1, \"about\": \"x\", \"purpose\": \"run\", \"gates\": ["
#define TAIL "]}"
#define RTT                                                                                                    \
  "{\"name\": \"rtt_ms\", \"unit\": \"ms\", \"kind\": \"physics\", \"direction\": \"at_most\", \"bound\": 5, " \
  "\"workload\": \"rtt\", \"why\": \"timer\", \"fault\": \"off\"}"
#define RPS                                                                                                           \
  "{\"name\": \"rps\", \"unit\": \"1/s\", \"kind\": \"relative\", \"direction\": \"at_least\", \"workload\": \"w\", " \
  "\"relative_to\": {\"metric\": \"rtt_ms\", \"factor\": 0.5}, \"firm\": \"rtt_ms\", \"why\": \"y\", \"fault\": "     \
  "\"f\"}"

static struct tg_manifest *parse(const char *text, struct tg_error *err) {
  err->text[0] = '\0';
  return tg_manifest_parse("m.json", text, strlen(text), err);
}

// Replaces `from` in `text` by `to` and expects an error that starts with `expected`.
static void refuses_changed(const char *text, const char *from, const char *to, const char *expected) {
  char changed[4096];
  const char *at = strstr(text, from);
  assert_non_null(at);
  snprintf(changed, sizeof(changed), "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
  struct tg_error err;
  struct tg_manifest *manifest = parse(changed, &err);
  if (manifest != NULL || strncmp(err.text, expected, strlen(expected)) != 0) {
    print_error("%s -> %s:\n  %s\n  expected %s\n", from, to, err.text, expected);
    fail();
  }
}

static void a_manifest_is_decoded_as_written(void **state) {
  (void)state;
  struct tg_error err;
  struct tg_manifest *manifest = parse(HEAD RTT ", " RPS TAIL, &err);
  assert_non_null(manifest);
  assert_int_equal(manifest->num_gates, 2);
  const struct tg_gate *rtt = tg_manifest_gate(manifest, "rtt_ms");
  assert_int_equal(rtt->kind, TG_KIND_PHYSICS);
  assert_int_equal(rtt->direction, TG_AT_MOST);
  assert_int_equal(rtt->judged_by, TG_JUDGED_SEQUENTIAL);
  assert_true(rtt->bound == 5);
  assert_string_equal(rtt->why, "timer");
  assert_string_equal(rtt->fault, "off");
  assert_true(tg_gate_is_gated(rtt));
  const struct tg_gate *rps = tg_manifest_gate(manifest, "rps");
  assert_string_equal(rps->relative_to, "rtt_ms");
  assert_true(rps->factor == 0.5);
  assert_string_equal(rps->firm, "rtt_ms");
  assert_null(tg_manifest_gate(manifest, "other"));
  tg_manifest_free(manifest);
}

static void null_disables_a_bound(void **state) {
  (void)state;
  struct tg_error err;
  struct tg_manifest *manifest =
      parse(HEAD
            "{\"name\": \"a\", \"unit\": \"ms\", \"kind\": \"absolute\", \"direction\": \"at_most\", \"bound\": null, "
            "\"workload\": \"w\", \"why\": \"broken on this kernel\"}" TAIL,
            &err);
  assert_non_null(manifest);
  assert_true(manifest->gates[0].disabled);
  assert_false(tg_gate_is_gated(&manifest->gates[0]));
  tg_manifest_free(manifest);
}

static void errors_name_file_place_and_key(void **state) {
  (void)state;
  static const char good[] = HEAD RTT ", " RPS TAIL;
  refuses_changed(good, "\"schema\": 1", "\"schema\": 2", "m.json: schema: version 2 is not known");
  refuses_changed(good, "\"schema\": 1", "\"schema\": \"1\"", "m.json: schema: must be an integer, is a string");
  refuses_changed(good, "\"schema\": 1, ", "", "m.json: schema: missing; it is required");
  refuses_changed(good, "\"about\": \"x\"", "\"about\": \"x\", \"more\": 1", "m.json: more: unknown key");
  refuses_changed(good, "\"run\"", "\"walk\"", "m.json: purpose: \"walk\" is none of: run, replay");
  refuses_changed(good, "\"run\"", "\"run\", \"rows\": {}", "m.json: rows: unknown key");
  refuses_changed(good, "\"bound\": 5", "\"bound\": \"5\"", "m.json: gates[0].bound: must be a number, is a string");
  refuses_changed(good, "\"bound\": 5", "\"bound\": 0", "m.json: gates[0].bound: must be above 0, is 0");
  refuses_changed(good, "\"bound\": 5", "\"bound\": 1e999", "m.json:1:");
  refuses_changed(good, "\"bound\": 5, ", "", "m.json: gates[0].bound: missing");
  refuses_changed(good, "\"bound\": 5", "\"bound\": 5, \"bound\": 6", "m.json:1:");
  refuses_changed(good, "\"why\": \"timer\"", "\"why\": \"\"", "m.json: gates[0].why: must not be empty");
  refuses_changed(good, "\"why\": \"timer\", ", "", "m.json: gates[0].why: missing");
  refuses_changed(good, ", \"fault\": \"off\"", "", "m.json: gates[0].fault: missing");
  refuses_changed(good, "\"workload\": \"rtt\", ", "", "m.json: gates[0].workload: missing");
  refuses_changed(good, "\"unit\"", "\"Unit\"", "m.json: gates[0].unit: missing");
  refuses_changed(good, "\"physics\"", "\"magic\"", "m.json: gates[0].kind: \"magic\" is none of: exact, counted");
  refuses_changed(good, "at_most", "at_rest", "m.json: gates[0].direction: \"at_rest\" is none of");
  refuses_changed(good, "\"rtt_ms\"", "\"RTT ms\"", "m.json: gates[0].name: \"RTT ms\" is not a metric's name");
  refuses_changed(good, "\"name\": \"rps\"", "\"name\": \"rtt_ms\"",
                  "m.json: gates[1].name: \"rtt_ms\" is there already");
  refuses_changed(good, "\"factor\": 0.5", "\"factor\": -1", "m.json: gates[1].relative_to.factor: must be above 0");
  refuses_changed(good, "\"factor\": 0.5", "\"factor\": 1, \"x\": 1", "m.json: gates[1].relative_to.x: unknown key");
  refuses_changed(good, "{\"metric\": \"rtt_ms\"", "{\"metric\": \"rps\"",
                  "m.json: gates[1].relative_to: \"rps\" is not");
  refuses_changed(good, "\"firm\": \"rtt_ms\"", "\"firm\": \"cpu\"", "m.json: gates[1].firm: no gate is named \"cpu\"");
  refuses_changed(good, "\"firm\": \"rtt_ms\"", "\"firm\": \"rps\"", "m.json: gates[1].firm: \"rps\" cannot decide");
  refuses_changed(good, "\"why\": \"y\"", "\"why\": \"y\", \"bound\": 1",
                  "m.json: gates[1].relative_to: cannot stand beside bound");
  refuses_changed(good, "\"why\": \"timer\"", "\"why\": \"timer\", \"recorded_only\": \"soft\"",
                  "m.json: gates[0].bound: unknown key");
  refuses_changed(good, "\"why\": \"timer\"", "\"why\": \"timer\", \"stall_sensitive\": 1",
                  "m.json: gates[0].stall_sensitive: must be true or false, is an integer");
  refuses_changed(good, "\"why\": \"timer\"", "\"why\": \"timer\", \"min_rounds\": 2",
                  "m.json: gates[0].min_rounds: must be between 5 and 1000, is 2");
  refuses_changed(good, "\"why\": \"timer\"", "\"why\": \"timer\", \"judged_by\": \"fraction\"",
                  "m.json: gates[0].bound: of a fraction must be below 0.5");
  refuses_changed(good, "\"why\": \"timer\"", "\"why\": \"timer\", \"judged_by\": \"firm\"",
                  "m.json: gates[0].firm: missing");
  refuses_changed(good, "\"physics\"", "\"exact\", \"judged_by\": \"sequential\"",
                  "m.json: gates[0].judged_by: kinds exact");
  refuses_changed(good, RTT, "7", "m.json: gates[0]: must be an object, is an integer");
  refuses_changed(good, "[" RTT ", " RPS "]", "{}", "m.json: gates: must be an array, is an object");
  refuses_changed(good, "[" RTT ", " RPS "]", "[]", "m.json: gates: must have 1 to 128 elements");
  refuses_changed(good, good, "[1]", "m.json: root: must be an object, is an array");
  refuses_changed(good, "{\"name\": \"rtt_ms\",", "{\n\"name\" \"rtt_ms\",", "m.json:2:");
}

static void messages_stay_on_one_line(void **state) {
  (void)state;
  struct tg_error err;
  assert_null(parse(HEAD "{\"a\\n\\u0007b\": 1" TAIL, &err));
  assert_null(strchr(err.text, '\n'));
  assert_null(
      parse("{\"schema\": 1, \"about\": \"x\", \"purpose\": \"run\", \"gates\": [" RTT "], \"a\\nb\": 1}", &err));
  assert_string_equal(
      err.text, "m.json: a b: unknown key; remove it, or check its spelling against docs/gates.md or docs/evidence.md");
}

static void a_file_that_cannot_be_read_is_one_error(void **state) {
  (void)state;
  struct tg_error err;
  assert_null(tg_manifest_load("no/such/file.json", &err));
  assert_non_null(strstr(err.text, "no/such/file.json: cannot be opened"));
  assert_null(tg_manifest_load("/", &err));
  assert_non_null(strstr(err.text, "cannot be"));
  assert_null(tg_manifest_load("/dev/zero", &err));
  assert_non_null(strstr(err.text, "/dev/zero: larger than"));
}

static char *read_all(const char *file, size_t *len) {
  FILE *stream = fopen(file, "rb");
  assert_non_null(stream);
  char *text = malloc(1 << 20);
  *len = fread(text, 1, 1 << 20, stream);
  fclose(stream);
  return text;
}

static void no_truncation_of_a_shipped_file_is_taken_for_the_file(void **state) {
  (void)state;
  size_t len = 0;
  char *text = read_all(published_file, &len);
  while (len > 0 && text[len - 1] != '}') len--;
  for (size_t cut = 0; cut < len; cut++) {
    struct tg_error err = {""};
    // Its own allocation, so that a read past the cut is caught.
    char *part = malloc(cut + 1);
    memcpy(part, text, cut);
    assert_null(tg_manifest_parse("cut.json", part, cut, &err));
    assert_int_equal(strncmp(err.text, "cut.json:", 9), 0);
    free(part);
  }
  free(text);
}

static json_t *wrong_value(size_t which) {
  switch (which) {
    case 0:
      return json_null();
    case 1:
      return json_true();
    case 2:
      return json_integer(-7);
    case 3:
      return json_real(1e308);
    case 4:
      return json_string("");
    case 5:
      return json_string("a\nb");
    case 6:
      return json_array();
    default:
      return json_object();
  }
}

static size_t num_decoded;

static void decode_changed(json_t *root) {
  char *text = json_dumps(root, 0);
  struct tg_error err = {""};
  struct tg_manifest *manifest = tg_manifest_parse("wrong.json", text, strlen(text), &err);
  // Some changes leave a good file (a null bound); what matters is an error with a place, and no crash.
  if (manifest == NULL) assert_int_equal(strncmp(err.text, "wrong.json: ", 12), 0);
  tg_manifest_free(manifest);
  free(text);
  num_decoded++;
}

// Puts every wrong value at every place below `place`.
static void change_everywhere(json_t *root, json_t *place) {
  if (json_is_object(place)) {
    void *next = NULL;
    for (void *at = json_object_iter(place); at != NULL; at = next) {
      json_t *kept = json_incref(json_object_iter_value(at));
      for (size_t which = 0; which < 8; which++) {
        json_object_iter_set_new(place, at, wrong_value(which));
        decode_changed(root);
      }
      json_object_iter_set(place, at, kept);
      change_everywhere(root, kept);
      json_decref(kept);
      next = json_object_iter_next(place, at);
    }
  }
  for (size_t i = 0; json_is_array(place) && i < json_array_size(place); i++) {
    json_t *kept = json_incref(json_array_get(place, i));
    for (size_t which = 0; which < 8; which++) {
      json_array_set_new(place, i, wrong_value(which));
      decode_changed(root);
    }
    json_array_set(place, i, kept);
    if (i < 3) change_everywhere(root, kept);
    json_decref(kept);
  }
}

static void a_wrong_value_anywhere_is_an_error_with_a_place(void **state) {
  (void)state;
  const char *const files[] = {gates_file, published_file};
  for (size_t i = 0; i < 2; i++) {
    struct tg_error err;
    json_t *root = tg_json_load(files[i], &err);
    assert_non_null(root);
    change_everywhere(root, root);
    json_decref(root);
  }
  assert_true(num_decoded > 500);
}

static void a_missing_key_or_a_new_one_is_an_error_or_an_optional_key(void **state) {
  (void)state;
  struct tg_error err;
  json_t *root = tg_json_load(gates_file, &err);
  json_t *gate = json_array_get(json_object_get(root, "gates"), 0);
  static const char *const required[] = {"name", "unit", "kind", "direction", "workload", "bound", "why", "fault"};
  for (size_t i = 0; i < sizeof(required) / sizeof(required[0]); i++) {
    json_t *kept = json_incref(json_object_get(gate, required[i]));
    assert_non_null(kept);
    json_object_del(gate, required[i]);
    char *text = json_dumps(root, 0);
    char expected[64];
    snprintf(expected, sizeof(expected), "f: gates[0].%s: missing", required[i]);
    assert_null(tg_manifest_parse("f", text, strlen(text), &err));
    assert_int_equal(strncmp(err.text, expected, strlen(expected)), 0);
    free(text);
    json_object_set_new(gate, required[i], kept);
  }
  json_decref(root);
}

static void the_shipped_gates_have_the_metrics_of_the_suite(void **state) {
  (void)state;
  static const char *const gated[] = {"tls_rtt_p50_ms",
                                      "tls_stalled_fraction",
                                      "https_churn_c4_rps",
                                      "https_churn_rps",
                                      "https_keepalive_rps",
                                      "https_big_gbps",
                                      "https_upload_gbps",
                                      "http_churn_rps",
                                      "http_keepalive_rps",
                                      "http_big_gbps",
                                      "server_cpu_per_handshake_ratio",
                                      "handshake_scaling",
                                      "tls_resumed_rtt_p50_ms",
                                      "tls12_resumed_rtt_p50_ms",
                                      "keepalive_split_rtt_p50_ms",
                                      "hrr_rtt_p50_ms",
                                      "client_cert_rtt_p50_ms",
                                      "rsa4096_rtt_p50_ms"};
  static const char *const recorded[] = {"https_keepalive_ratio", "https_churn_ratio"};
  struct tg_error err;
  struct tg_manifest *manifest = tg_manifest_load(gates_file, &err);
  if (manifest == NULL) print_error("%s\n", err.text);
  assert_non_null(manifest);
  for (size_t i = 0; i < sizeof(gated) / sizeof(gated[0]); i++) assert_non_null(tg_manifest_gate(manifest, gated[i]));
  for (size_t i = 0; i < 2; i++) {
    const struct tg_gate *gate = tg_manifest_gate(manifest, recorded[i]);
    assert_non_null(gate);
    assert_non_null(gate->recorded_only);
  }
  tg_manifest_free(manifest);
}

static void sets_replace_bounds_and_rows_are_found(void **state) {
  (void)state;
  struct tg_error err;
  struct tg_manifest *manifest = tg_manifest_load(published_file, &err);
  assert_non_null(manifest);
  assert_true(tg_manifest_gate(manifest, "http_big_gbps")->bound == 5.5);
  assert_false(tg_manifest_use_set(manifest, "last", &err));
  assert_non_null(strstr(err.text, "no set of bounds is named \"last\"; there are: first"));
  assert_true(tg_manifest_use_set(manifest, "first", &err));
  assert_true(tg_manifest_gate(manifest, "http_big_gbps")->bound == 8);
  assert_true(tg_manifest_gate(manifest, "http_churn_rps")->bound == 6000);
  assert_non_null(tg_manifest_row(manifest, "healthy"));
  assert_null(tg_manifest_row(manifest, "first"));
  tg_manifest_free(manifest);
}

static void rows_and_sets_are_checked(void **state) {
  (void)state;
#define REPLAY "{\"schema\": 1, \"about\": \"x\", \"purpose\": \"replay\", \"gates\": [" RTT "], "
  static const char good[] = REPLAY
      "\"sets\": {\"s\": {\"why\": \"w\", \"bounds\": {\"rtt_ms\": 4}}}, "
      "\"rows\": {\"r\": {\"source\": \"x\", \"metrics\": {\"rtt_ms\": 3}}}}";
  struct tg_error err;
  struct tg_manifest *manifest = parse(good, &err);
  assert_non_null(manifest);
  tg_manifest_free(manifest);
  refuses_changed(good, "{\"rtt_ms\": 4}", "{\"other\": 4}", "m.json: sets.s.bounds.other: no gate of this file");
  refuses_changed(good, "{\"rtt_ms\": 4}", "{\"rtt_ms\": 0}", "m.json: sets.s.bounds.rtt_ms: must be above 0");
  refuses_changed(good, "{\"rtt_ms\": 4}", "{\"rtt_ms\": null}", "m.json: sets.s.bounds.rtt_ms: must be a number");
  refuses_changed(good, "\"why\": \"w\", ", "", "m.json: sets.s.why: missing");
  refuses_changed(good, "{\"rtt_ms\": 3}", "{\"rtt_ms\": \"3\"}", "m.json: rows.r.metrics.rtt_ms: must be a number");
  refuses_changed(good, "{\"rtt_ms\": 3}", "{\"other\": 3}",
                  "m.json: rows.r.other: no gate of this file has that name");
  refuses_changed(good, "{\"rtt_ms\": 3}", "{}", "m.json: rows.r.metrics: must not be empty");
  refuses_changed(good, "\"source\": \"x\"", "\"source\": \"x\", \"y\": 1", "m.json: rows.r.y: unknown key");
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fputs("usage: manifest_test GATES PUBLISHED\n", stderr);
    return 2;
  }
  gates_file = argv[1];
  published_file = argv[2];
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_manifest_is_decoded_as_written),
      cmocka_unit_test(null_disables_a_bound),
      cmocka_unit_test(errors_name_file_place_and_key),
      cmocka_unit_test(messages_stay_on_one_line),
      cmocka_unit_test(a_file_that_cannot_be_read_is_one_error),
      cmocka_unit_test(no_truncation_of_a_shipped_file_is_taken_for_the_file),
      cmocka_unit_test(a_wrong_value_anywhere_is_an_error_with_a_place),
      cmocka_unit_test(a_missing_key_or_a_new_one_is_an_error_or_an_optional_key),
      cmocka_unit_test(the_shipped_gates_have_the_metrics_of_the_suite),
      cmocka_unit_test(sets_replace_bounds_and_rows_are_found),
      cmocka_unit_test(rows_and_sets_are_checked),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
