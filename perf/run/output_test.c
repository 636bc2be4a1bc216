// What a run leaves on disk: whole files or the old ones, and nothing that looks like a measurement after a failure.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "perf/manifest/row.h"
#include "perf/run/output.h"

static const char manifest_text[] =
    "{\"schema\": 1, \"about\": \"test\", \"purpose\": \"run\", \"gates\": ["
    "{\"name\": \"rtt_ms\", \"unit\": \"ms\", \"kind\": \"physics\", \"direction\": \"at_most\", \"workload\": \"w\","
    " \"bound\": 5, \"why\": \"a test\", \"fault\": \"f\"}]}";

static char folder[256];

static const char *in_folder(const char *name) {
  static char path[512];
  (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
  return path;
}

static int make_folder(void **state) {
  (void)state;
  (void)snprintf(folder, sizeof(folder), "%s/output-XXXXXX", getenv("TEST_TMPDIR"));
  return mkdtemp(folder) == NULL ? -1 : 0;
}

static void fill(struct tg_run *run, struct tg_manifest **manifest) {
  struct tg_error err;
  memset(run, 0, sizeof(*run));
  *manifest = tg_manifest_parse("test", manifest_text, strlen(manifest_text), &err);
  if (*manifest == NULL) {
    fail_msg("%s", err.text);
  }
  run->samples = tg_samples_create();
  for (size_t round = 0; round < 8; round++) {
    assert_true(tg_samples_add(run->samples, "rtt_ms", round, 0.1, false, &err));
  }
  run->raw = json_object();
  run->host_stalls = true;
  struct tg_host_view host = {.stall_hidden_by = NULL};
  run->verdict = tg_verdict_judge(*manifest, run->samples, &host);
}

static void test_a_run_is_written_whole(void **state) {
  (void)state;
  struct tg_run run;
  struct tg_manifest *manifest;
  struct tg_error err;
  fill(&run, &manifest);
  json_t *provenance = json_pack("{s:s}", "commit", "abc");
  assert_true(tg_output_write(in_folder("deep/er"), &run, provenance, &err));
  struct tg_row_file *row = tg_row_load(in_folder("deep/er/row.json"), &err);
  assert_non_null(row);
  assert_int_equal(row->row.num_values, 1);
  assert_true(row->row.values[0].value == 0.1);
  tg_row_free(row);
  json_t *report = json_load_file(in_folder("deep/er/report.json"), 0, NULL);
  assert_true(json_is_true(json_object_get(report, "passed")));
  assert_string_equal(json_string_value(json_object_get(report, "verdict")), "pass");
  assert_string_equal(json_string_value(json_object_get(json_object_get(report, "provenance"), "commit")), "abc");
  json_decref(report);
  json_t *samples = json_load_file(in_folder("deep/er/samples.json"), 0, NULL);
  assert_int_equal(json_array_size(json_object_get(json_object_get(samples, "metrics"), "rtt_ms")), 8);
  json_decref(samples);
  json_decref(provenance);
  tg_run_free(&run);
  tg_manifest_free(manifest);
}

static void test_a_failure_leaves_no_measurement(void **state) {
  (void)state;
  struct tg_run run;
  struct tg_manifest *manifest;
  struct tg_error err;
  fill(&run, &manifest);
  json_t *provenance = json_object();
  assert_true(tg_output_write(folder, &run, provenance, &err));
  assert_true(tg_output_write_failure(folder, "the server died", provenance, &err));
  assert_int_not_equal(access(in_folder("row.json"), F_OK), 0);
  assert_int_not_equal(access(in_folder("samples.json"), F_OK), 0);
  json_t *report = json_load_file(in_folder("report.json"), 0, NULL);
  assert_true(json_is_false(json_object_get(report, "passed")));
  assert_null(json_object_get(report, "gates"));
  assert_string_equal(json_string_value(json_object_get(json_object_get(report, "error"), "message")),
                      "the server died");
  json_decref(report);
  json_decref(provenance);
  tg_run_free(&run);
  tg_manifest_free(manifest);
}

// A folder stands where the file should go, so that the rename fails: what was there stays, and nothing is left beside.
static void test_a_failed_publication_keeps_what_was_there(void **state) {
  (void)state;
  struct tg_run run;
  struct tg_manifest *manifest;
  struct tg_error err;
  char beside[64];
  fill(&run, &manifest);
  json_t *provenance = json_object();
  assert_int_equal(mkdir(in_folder("row.json"), 0755), 0);
  assert_false(tg_output_write(folder, &run, provenance, &err));
  assert_non_null(strstr(err.text, "report unavailable"));
  assert_non_null(strstr(err.text, "row.json"));
  assert_int_equal(access(in_folder("row.json"), F_OK), 0);
  (void)snprintf(beside, sizeof(beside), ".row.json.%ld", (long)getpid());
  assert_int_not_equal(access(in_folder(beside), F_OK), 0);
  json_decref(provenance);
  tg_run_free(&run);
  tg_manifest_free(manifest);
}

static void test_a_folder_that_cannot_be_made_is_named(void **state) {
  (void)state;
  struct tg_error err;
  json_t *provenance = json_object();
  assert_false(tg_output_write_failure("/proc/nowhere", "x", provenance, &err));
  assert_non_null(strstr(err.text, "/proc/nowhere"));
  json_decref(provenance);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_a_run_is_written_whole, make_folder),
      cmocka_unit_test_setup(test_a_failure_leaves_no_measurement, make_folder),
      cmocka_unit_test_setup(test_a_failed_publication_keeps_what_was_there, make_folder),
      cmocka_unit_test(test_a_folder_that_cannot_be_made_is_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
