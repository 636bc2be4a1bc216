// Verification of a whole certificate: as it was made it agrees, and with samples that are not those of its run it does
// not. verify_edits_test goes through everything else in it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "perf/certify/page.h"
#include "perf/certify/testing/forgery.h"

static void test_an_untouched_certificate_agrees(void **state) {
  (void)state;
  const char *said = tg_forge_assert_agrees();
  assert_non_null(strstr(said, "agrees   gates: pass"));
  assert_non_null(strstr(said, "agrees   baseline: pass"));
  assert_non_null(strstr(said, "agrees   certificate.html"));
}

static json_t *sample_of(json_t *samples, const char *metric, size_t index) {
  return json_array_get(json_object_get(json_object_get(samples, "metrics"), metric), index);
}

static void test_a_flipped_sample_differs(void **state) {
  (void)state;
  json_t *samples = tg_forge_load("raw/gates/samples.json");
  json_t *sample = sample_of(samples, "tls_rtt_p50_ms", 3);
  assert_int_equal(json_object_set_new(sample, "value", json_real(0.25)), 0);
  tg_forge_save("raw/gates/samples.json", samples);
  tg_forge_assert_differs("samples.json: is not the file that was certified");
}

static void test_flipped_samples_differ_with_hashes_made_again(void **state) {
  (void)state;
  json_t *samples = tg_forge_load("raw/gates/samples.json");
  for (size_t i = 0; i < 12; i++) {
    json_t *sample = sample_of(samples, "tls_rtt_p50_ms", i);
    assert_int_equal(json_object_set_new(sample, "value", json_real(43)), 0);
  }
  tg_forge_save("raw/gates/samples.json", samples);
  tg_forge_hash_again("gates");
  tg_forge_assert_differs("the status of tls_rtt_p50_ms is not what samples.json comes to");
}

static void test_a_missing_row_of_samples_differs(void **state) {
  (void)state;
  json_t *samples = tg_forge_load("raw/gates/samples.json");
  assert_int_equal(json_object_del(json_object_get(samples, "metrics"), "https_big_cpu_us"), 0);
  tg_forge_save("raw/gates/samples.json", samples);
  tg_forge_hash_again("gates");
  tg_forge_assert_differs("of https_big_");
}

static void test_samples_of_another_run_differ(void **state) {
  (void)state;
  json_t *samples = tg_forge_load("raw/gates/samples.json");
  assert_int_equal(json_object_set_new(samples, "run", json_string("00000000000000000000000000000000")), 0);
  tg_forge_save("raw/gates/samples.json", samples);
  tg_forge_hash_again("gates");
  tg_forge_assert_differs("but the report is that of run");
}

static void test_an_edited_page_differs(void **state) {
  (void)state;
  char path[256];
  (void)snprintf(path, sizeof(path), "%s/" TG_PAGE_FILE, tg_forged.out);
  FILE *file = fopen(path, "ae");
  assert_non_null(file);
  assert_true(fputs("<p>PASS</p>", file) >= 0);
  assert_int_equal(fclose(file), 0);
  tg_forge_assert_differs("is not the page that was written with the certificate");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_an_untouched_certificate_agrees, tg_forge_make_passing, tg_forge_remove),
      cmocka_unit_test_setup_teardown(test_a_flipped_sample_differs, tg_forge_make_passing, tg_forge_remove),
      cmocka_unit_test_setup_teardown(test_flipped_samples_differ_with_hashes_made_again, tg_forge_make_passing,
                                      tg_forge_remove),
      cmocka_unit_test_setup_teardown(test_a_missing_row_of_samples_differs, tg_forge_make_passing, tg_forge_remove),
      cmocka_unit_test_setup_teardown(test_samples_of_another_run_differ, tg_forge_make_passing, tg_forge_remove),
      cmocka_unit_test_setup_teardown(test_an_edited_page_differs, tg_forge_make_passing, tg_forge_remove),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
