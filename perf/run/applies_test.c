// Which of the shipped gates apply to a described server: all that are left out have their reason, and no other is.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "perf/process/runfiles.h"
#include "perf/run/applies.h"

#define VARIANTS "\"variants\": {\"hrr\": {}, \"client_ca\": {}, \"rsa4096\": {}}, "
#define UPLOAD   "{\"path\": \"/up\", \"bytes\": 1048576}"

static struct tg_manifest *manifest;
static struct tg_applies applies;

static int load(void **state) {
  (void)state;
  char path[PATH_MAX];
  struct tg_error err;
  manifest = tg_runfile("baselines/gates.json", path, &err) ? tg_manifest_load(path, &err) : NULL;
  return manifest == NULL ? -1 : 0;
}

static int unload(void **state) {
  (void)state;
  tg_manifest_free(manifest);
  return 0;
}

static bool fill(const char *http, const char *big, const char *upload, const char *variants, const char *left_out,
                 struct tg_error *err) {
  char text[2048];
  struct tg_server_description description = {.json = NULL};
  (void)snprintf(text, sizeof(text),
                 "{\"schema\": 1, \"name\": \"a\", \"start\": [\"a\"], \"ready\": {\"by\": \"connect\", "
                 "\"within_s\": 5}, \"stop\": {\"signal\": \"TERM\", \"status\": 0, \"within_s\": 5}, \"ports\": "
                 "{\"tls\": \"free\", \"http\": %s}, \"routes\": {\"small\": {\"path\": \"/\", \"bytes\": 15}, "
                 "\"big\": {\"path\": \"/big\", \"bytes\": %s}, \"upload\": %s}, %s\"gates\": {\"left_out\": [%s]}}",
                 http, big, upload, variants, left_out);
  if (!tg_server_describe_text("a.json", text, &description, err)) {
    fail_msg("%s", err->text);
  }
  const bool ok = tg_applies_fill(&applies, manifest, &description, err);
  tg_server_description_free(&description);
  return ok;
}

// Left out are exactly these, separated by spaces; each says why.
static void expect(const char *names, const char *why) {
  size_t found = 0;
  size_t wanted = names[0] != '\0';
  for (const char *c = names; *c != '\0'; c++) {
    wanted += *c == ' ';
  }
  for (size_t i = 0; i < manifest->num_gates; i++) {
    const char *name = manifest->gates[i].name;
    const char *said = tg_applies_not(&applies, &manifest->gates[i]);
    const char *at = strstr(names, name);
    const size_t len = strlen(name);
    const bool named = at != NULL && (at == names || at[-1] == ' ') && (at[len] == ' ' || at[len] == '\0');
    if ((said != NULL) != named || (said != NULL && strstr(said, why) == NULL)) {
      fail_msg("%s: %s", name, said != NULL ? said : "applies");
    }
    found += said != NULL;
  }
  assert_int_equal(found, wanted);
}

static void test_all_apply_to_a_server_that_has_all(void **state) {
  (void)state;
  struct tg_error err;
  assert_true(fill("\"free\"", "1048576", UPLOAD, VARIANTS, "", &err));
  expect("", "");
  assert_true(tg_applies_fill(&applies, manifest, NULL, &err));
  expect("", "");
}

static void test_what_the_server_lacks_is_left_out(void **state) {
  (void)state;
  struct tg_error err;
  assert_true(fill("\"free\"", "1048576", UPLOAD, "", "", &err));
  expect("hrr_rtt_p50_ms client_cert_rtt_p50_ms rsa4096_rtt_p50_ms", "variants.");
  assert_true(fill("\"free\"", "1048576", "null", VARIANTS, "", &err));
  expect("https_upload_gbps https_upload_cpu_us http_upload_gbps http_upload_cpu_us", "routes.upload");
  assert_true(fill("\"free\"", "65536", UPLOAD, VARIANTS, "", &err));
  expect("https_big_gbps https_big_cpu_us http_big_gbps http_big_cpu_us", "bodies of 1048576 bytes");
  // With the plaintext controls goes what is held against them, and no more.
  assert_true(fill("null", "1048576", UPLOAD, VARIANTS, "", &err));
  expect(
      "http_churn_rps http_churn_cpu_us http_keepalive_rps http_keepalive_cpu_us http_big_gbps http_big_cpu_us "
      "http_upload_gbps http_upload_cpu_us https_keepalive_rps https_keepalive_cpu_us https_big_gbps "
      "https_big_cpu_us https_upload_gbps https_upload_cpu_us",
      "no plaintext port");
}

static void test_the_description_has_the_word(void **state) {
  (void)state;
  struct tg_error err;
  assert_true(fill("\"free\"", "1048576", UPLOAD, VARIANTS,
                   "{\"gate\": \"server_cpu_per_handshake_ratio\", \"why\": \"it signs elsewhere\"}", &err));
  // The other is judged by it.
  expect("server_cpu_per_handshake_ratio https_churn_rps", "it signs elsewhere");
  assert_false(fill("null", "1048576", UPLOAD, "", "{\"gate\": \"no_such_gate\", \"why\": \"x\"}", &err));
  assert_non_null(strstr(err.text, "left_out[0]"));
  assert_non_null(strstr(err.text, "no_such_gate"));
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_all_apply_to_a_server_that_has_all),
      cmocka_unit_test(test_what_the_server_lacks_is_left_out),
      cmocka_unit_test(test_the_description_has_the_word),
  };
  return cmocka_run_group_tests(tests, load, unload);
}
