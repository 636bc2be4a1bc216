// Every shipped description decodes and names only gates that there are; broken ones are refused with place and remedy.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "perf/manifest/manifest.h"
#include "perf/process/runfiles.h"
#include "perf/servers/describe.h"
#include "perf/servers/expand.h"

static const char *const kShipped[] = {"own", "nginx", "haproxy", "h2o", "lighttpd", "script", "openssl"};
#define NUM_SHIPPED (sizeof(kShipped) / sizeof(kShipped[0]))

static void shipped_path(const char *name, char out[PATH_MAX]) {
  char path[64];
  struct tg_error err;
  (void)snprintf(path, sizeof(path), "perf/servers/%s.json", name);
  if (!tg_runfile(path, out, &err)) {
    fail_msg("%s", err.text);
  }
}

static void test_shipped_files_decode(void **state) {
  (void)state;
  char gates[PATH_MAX];
  struct tg_error err;
  assert_true(tg_runfile("baselines/gates.json", gates, &err));
  struct tg_manifest *manifest = tg_manifest_load(gates, &err);
  assert_non_null(manifest);
  for (size_t i = 0; i < NUM_SHIPPED; i++) {
    char path[PATH_MAX];
    struct tg_server_description description;
    shipped_path(kShipped[i], path);
    if (!tg_server_describe(path, &description, &err)) {
      fail_msg("%s", err.text);
    }
    assert_string_equal(description.name, kShipped[i]);
    assert_int_equal(description.big.bytes, 1048576);
    for (size_t gate = 0; gate < description.num_left_out; gate++) {
      if (tg_manifest_gate(manifest, description.left_out[gate].gate) == NULL) {
        fail_msg("%s leaves out %s, which is no gate", path, description.left_out[gate].gate);
      }
    }
    tg_server_description_free(&description);
  }
  tg_manifest_free(manifest);
}

// A description that decodes, in which one piece of text is replaced at a time.
static const char kGood[] =
    "{\"schema\": 1, \"name\": \"a\", \"start\": [\"a\", \"@tls_port@\", \"x@y\"],"
    " \"files\": [{\"template\": \"a.in\", \"as\": \"a.conf\"}, {\"template\": \"a.in\", \"as\": \"b.conf\"}],"
    " \"ready\": {\"by\": \"connect\", \"within_s\": 5}, \"stop\": {\"signal\": \"TERM\", \"status\": 0, "
    "\"within_s\": 10},"
    " \"ports\": {\"tls\": 8443, \"http\": null},"
    " \"routes\": {\"small\": {\"path\": \"/\", \"bytes\": 15}, \"big\": {\"path\": \"/big\", \"bytes\": 1048576}, "
    "\"upload\": null},"
    " \"deadlines\": {\"handshake_s\": 10}, \"few_descriptors\": 64,"
    " \"gates\": {\"left_out\": [{\"gate\": \"one\", \"why\": \"no\"}, {\"gate\": \"two\", \"why\": \"no\"}]}}";

static char *replaced(const char *what, const char *by) {
  const char *at = strstr(kGood, what);
  assert_non_null(at);
  size_t size = sizeof(kGood) + strlen(by);
  char *made = malloc(size);
  assert_non_null(made);
  (void)snprintf(made, size, "%.*s%s%s", (int)(at - kGood), kGood, by, at + strlen(what));
  return made;
}

static void test_what_decodes_is_as_written(void **state) {
  (void)state;
  struct tg_server_description description;
  struct tg_error err;
  if (!tg_server_describe_text("a.json", kGood, &description, &err)) {
    fail_msg("%s", err.text);
  }
  assert_int_equal(description.tls_port, 8443);
  assert_int_equal(description.http_port, TG_SERVER_PORT_NONE);
  assert_int_equal(description.num_files, 2);
  assert_int_equal(description.num_left_out, 2);
  assert_string_equal(description.start[2], "x@y");
  assert_null(description.start[3]);
  assert_null(description.upload.path);
  assert_true(description.handshake_deadline_s == 10);
  assert_true(description.response_deadline_s == 0);
  tg_server_description_free(&description);
}

static void test_broken_files_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *what;
    const char *by;
    const char *place;  // both are to be in the error
    const char *remedy;
  } table[] = {
      {"\"schema\": 1", "\"schema\": 2", "schema", "this build reads version 1"},
      {"\"schema\": 1, ", "", "schema", "missing"},
      {"\"name\": \"a\"", "\"name\": \"A b\"", "name", "use a-z"},
      {"\"name\": \"a\"", "\"name\": \"a\", \"colour\": 1", "colour", ""},
      {"\"name\": \"a\"", "\"name\": \"a\", \"name\": \"b\"", "a.json:1:", "correct the JSON"},
      {"[\"a\", \"@tls_port@\", \"x@y\"]", "[]", "start", "1 to 32 texts"},
      {"\"@tls_port@\"", "7", "start", "element 1 must be a text"},
      {"[\"a\",", "[\"\",", "start", "not empty"},
      {"@tls_port@", "@tls_prt@", "start", "there are: scratch"},
      {"@tls_port@", "@http_port@", "start", "ports.http is null"},
      {"\"template\": \"a.in\"", "\"template\": \"../a.in\"", "files[0].template", "plain name"},
      {"\"as\": \"a.conf\"", "\"as\": \"/etc/a.conf\"", "files[0].as", "plain file name"},
      {"\"as\": \"b.conf\"", "\"as\": \"a.conf\"", "files[1].as", "name of its own"},
      {"\"as\": \"b.conf\"", "\"as\": \"b.conf\", \"notes\": \"x\"", "files[1]", "notes"},
      {"\"by\": \"connect\"", "\"by\": \"magic\"", "ready.by", "connect"},
      {"\"by\": \"connect\"", "\"by\": \"line\"", "ports", "must be \"free\""},
      {"\"within_s\": 5", "\"within_s\": 0", "ready.within_s", ""},
      {"\"within_s\": 5", "\"within_s\": 900", "ready.within_s", "at most 120"},
      {"\"TERM\"", "\"KILL\"", "stop.signal", "TERM"},
      {"\"status\": 0", "\"status\": 256", "stop.status", "255"},
      {"8443", "\"some\"", "ports.tls", "must be \"free\""},
      {"8443", "70000", "ports.tls", "65535"},
      {"8443", "null", "ports.tls", ""},
      {"\"http\": null", "\"http\": 8443", "ports.http", "give it another"},
      {"\"upload\": null", "\"upload\": 7", "routes.upload", ""},
      {"\"path\": \"/\"", "\"path\": \"x\"", "routes.small.path", "begin with /"},
      {"\"path\": \"/\"", "\"path\": \"/a b\"", "routes.small.path", "no space"},
      {"1048576", "4096", "routes.big", "at least 65536"},
      {"\"handshake_s\": 10", "\"handshake_s\": -1", "deadlines.handshake_s", ""},
      {"\"handshake_s\": 10", "\"handshake\": 10", "deadlines", "handshake"},
      {"\"few_descriptors\": 64", "\"few_descriptors\": 64, \"variants\": {\"psk\": {}}", "variants", "psk"},
      {"\"few_descriptors\": 64", "\"few_descriptors\": 64, \"variants\": {\"hrr\": {\"text\": \"@ca@\"}}",
       "variants.hrr", "there are: scratch"},
      {"\"few_descriptors\": 64", "\"few_descriptors\": 64, \"variants\": {\"hrr\": {\"arguments\": [1]}}",
       "variants.hrr.arguments", "must be a text"},
      {"\"few_descriptors\": 64", "\"few_descriptors\": 4", "few_descriptors", "16"},
      {", \"why\": \"no\"}]", "}]", "gates.left_out[1].why", "missing"},
      {"\"gate\": \"two\"", "\"gate\": \"one\"", "gates.left_out[1].gate", "keep one"},
      {"\"left_out\": [", "\"left_out\": 1, \"x\": [", "gates.left_out", "array"},
  };
  for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
    struct tg_server_description description;
    struct tg_error err = {""};
    char *text = replaced(table[i].what, table[i].by);
    if (tg_server_describe_text("a.json", text, &description, &err)) {
      fail_msg("accepted: %s", text);
    }
    if (strstr(err.text, "a.json") != err.text || strstr(err.text, table[i].place) == NULL ||
        strstr(err.text, table[i].remedy) == NULL) {
      fail_msg("%s for %s: names neither %s nor %s", err.text, table[i].by, table[i].place, table[i].remedy);
    }
    free(text);
  }
}

static const char kVariants[] =
    "\"http\": null}, \"variants\": {\"hrr\": {\"text\": \"x @client_ca@\"}, "
    "\"client_ca\": {\"arguments\": [\"-a\", \"@client_ca@\"]}}";

static void test_variants_decode(void **state) {
  (void)state;
  struct tg_server_description description;
  struct tg_error err;
  char *fixed = replaced("\"http\": null}", kVariants);
  // They run beside the server.
  assert_false(tg_server_describe_text("a.json", fixed, &description, &err));
  assert_non_null(strstr(err.text, "must be \"free\""));
  char *at = strstr(fixed, "8443, ");
  assert_non_null(at);
  char *text = malloc(strlen(fixed) + 8);
  assert_non_null(text);
  (void)snprintf(text, strlen(fixed) + 8, "%.*s\"free\", %s", (int)(at - fixed), fixed, at + strlen("8443, "));
  if (!tg_server_describe_text("a.json", text, &description, &err)) {
    fail_msg("%s", err.text);
  }
  const struct tg_server_variation *variants = description.variants;
  assert_true(variants[TG_VARIANT_MAIN].present && variants[TG_VARIANT_HRR].present);
  assert_false(variants[TG_VARIANT_RSA4096].present);
  assert_string_equal(variants[TG_VARIANT_HRR].text, "x @client_ca@");
  assert_string_equal(variants[TG_VARIANT_CLIENT_CA].text, "");
  assert_string_equal(variants[TG_VARIANT_CLIENT_CA].arguments[1], "@client_ca@");
  assert_null(variants[TG_VARIANT_CLIENT_CA].arguments[2]);
  tg_server_description_free(&description);
  free(fixed);
  free(text);
}

static void test_a_missing_file_is_named(void **state) {
  (void)state;
  struct tg_server_description description;
  struct tg_error err;
  assert_false(tg_server_describe("/nowhere/a.json", &description, &err));
  assert_non_null(strstr(err.text, "/nowhere/a.json"));
}

static void test_placeholders(void **state) {
  (void)state;
  struct tg_error err;
  const char *const values[TG_PLACES] = {[TG_PLACE_TLS_PORT] = "443", [TG_PLACE_KEY] = "k"};
  char *made = tg_expand("t", "a@b @tls_port@@key@ @@ user@", values, &err);
  assert_non_null(made);
  assert_string_equal(made, "a@b 443k @@ user@");
  free(made);
  assert_null(tg_expand("t", "@http_port@", values, &err));
  assert_non_null(strstr(err.text, "@http_port@"));
  assert_null(tg_expand("t", "@nothing@", values, &err));
  assert_non_null(strstr(err.text, "there are: scratch"));
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_shipped_files_decode),     cmocka_unit_test(test_what_decodes_is_as_written),
      cmocka_unit_test(test_broken_files_are_refused), cmocka_unit_test(test_variants_decode),
      cmocka_unit_test(test_a_missing_file_is_named),  cmocka_unit_test(test_placeholders),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
