// The plan against manifests: what a manifest names must exist, and the shipped one must name only what does.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "perf/process/runfiles.h"
#include "perf/run/plan.h"

static struct tg_manifest *manifest_with(const char *workload, const char *fault) {
  char text[512];
  struct tg_error err;
  (void)snprintf(text, sizeof(text),
                 "{\"schema\": 1, \"about\": \"test\", \"purpose\": \"run\", \"gates\": [{\"name\": \"rtt_ms\", "
                 "\"unit\": \"ms\", \"kind\": \"physics\", \"direction\": \"at_most\", \"workload\": \"%s\", "
                 "\"bound\": 5, \"why\": \"a test\", \"fault\": \"%s\"}]}",
                 workload, fault);
  struct tg_manifest *manifest = tg_manifest_parse("test.json", text, strlen(text), &err);
  if (manifest == NULL) {
    fail_msg("%s", err.text);
  }
  return manifest;
}

static void expect(const char *workload, const char *fault, const char *words) {
  struct tg_error err;
  struct tg_manifest *manifest = manifest_with(workload, fault);
  bool ok = tg_plan_check(manifest, &err);
  assert_int_equal(ok, words == NULL);
  if (words != NULL) {
    assert_non_null(strstr(err.text, words));
    assert_non_null(strstr(err.text, "rtt_ms"));
    assert_non_null(strstr(err.text, "test.json"));
  }
  tg_manifest_free(manifest);
}

static void test_names_must_exist(void **state) {
  (void)state;
  expect("rtt_fresh", "quickack_off", NULL);
  expect("rtt_stale", "quickack_off", "\"rtt_stale\"");
  expect("rtt_fresh", "gremlin", "\"gremlin\"");
}

static void test_the_shipped_manifest_fits_the_plan(void **state) {
  (void)state;
  char path[PATH_MAX];
  struct tg_error err;
  assert_true(tg_runfile("baselines/gates.json", path, &err));
  struct tg_manifest *manifest = tg_manifest_load(path, &err);
  assert_non_null(manifest);
  assert_true(tg_plan_check(manifest, &err));
  // Every workload is asked for by some metric, so that none is run for nothing.
  for (const struct tg_workload *workload = tg_workloads; workload->name != NULL; workload++) {
    size_t users = 0;
    for (size_t i = 0; i < manifest->num_gates; i++) {
      users += strcmp(manifest->gates[i].workload, workload->name) == 0;
    }
    assert_true(users > 0);
  }
  tg_manifest_free(manifest);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_names_must_exist),
                                     cmocka_unit_test(test_the_shipped_manifest_fits_the_plan)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
