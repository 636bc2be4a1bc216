#include "harness/client/testing/client_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/base/error.h"
#include "perf/process/child.h"

void tg_test_certificate(const char *name, const char **out_cert, const char **out_key) {
  static char paths[8][2][512];
  static size_t used;
  const char *folder = getenv("TEST_TMPDIR");
  assert_non_null(folder);
  assert_true(used < sizeof(paths) / sizeof(paths[0]));
  char *cert = paths[used][0];
  char *key = paths[used][1];
  used++;
  (void)snprintf(cert, sizeof(paths[0][0]), "%s/%s.pem", folder, name);
  (void)snprintf(key, sizeof(paths[0][0]), "%s/%s.key", folder, name);
  char subject[100];
  (void)snprintf(subject, sizeof(subject), "/CN=%s", name);
  const char *const argv[] = {"openssl", "req",   "-x509", "-newkey", "ec",    "-pkeyopt", "ec_paramgen_curve:P-256",
                              "-nodes",  "-days", "2",     "-subj",   subject, "-keyout",  key,
                              "-out",    cert,    NULL};
  struct tg_child_result result;
  struct tg_error err;
  if (!tg_child_run(argv, 60, &result, &err)) {
    fail_msg("%s", err.text);
  }
  if (result.exit_status != 0) {
    fail_msg("openssl req: %s", result.err);
  }
  tg_child_result_free(&result);
  *out_cert = cert;
  *out_key = key;
}

json_t *tg_client_run(const char *words, int exit_status, char *out_stderr, size_t out_len) {
  char copy[4096];
  assert_true(strlen(words) < sizeof(copy));
  (void)snprintf(copy, sizeof(copy), "%s", words);
  const char *argv[TG_CLIENT_WORDS_MAX + 1];
  size_t count = 0;
  char *rest = NULL;
  for (char *word = strtok_r(copy, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
    assert_true(count < TG_CLIENT_WORDS_MAX);
    argv[count++] = word;
  }
  argv[count] = NULL;
  struct tg_child_result result;
  struct tg_error err;
  if (!tg_child_run(argv, 60, &result, &err)) {
    fail_msg("%s: %s", words, err.text);
  }
  if (result.exit_status != exit_status) {
    fail_msg("%s: exit status %d where %d is expected: %s", words, result.exit_status, exit_status, result.err);
  }
  (void)snprintf(out_stderr, out_len, "%s", result.err);
  json_t *json = NULL;
  if (result.out[0] != '\0') {
    json_error_t problem;
    json = json_loads(result.out, JSON_REJECT_DUPLICATES, &problem);
    if (json == NULL) {
      fail_msg("%s: line %d: %s", words, problem.line, problem.text);
    }
  }
  tg_child_result_free(&result);
  return json;
}
