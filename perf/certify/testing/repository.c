#include "perf/certify/testing/repository.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fuzz/launcher/files.h"
#include "perf/process/child.h"

static void git(const struct tg_test_repository *repository, const char *a, const char *b, const char *c) {
  const char *const argv[] = {"git",
                              "-C",
                              repository->tree,
                              "-c",
                              "user.name=test",
                              "-c",
                              "user.email=test@localhost",
                              "-c",
                              "commit.gpgsign=false",
                              a,
                              b,
                              c,
                              NULL};
  struct tg_child_result result;
  struct tg_error err;
  if (!tg_child_run(argv, 60, &result, &err)) {
    fail_msg("%s", err.text);
  }
  if (result.exit_status != 0) {
    fail_msg("git %s: %s", a, result.err);
  }
  tg_child_result_free(&result);
}

void tg_test_repository_make(struct tg_test_repository *out) {
  (void)snprintf(out->folder, sizeof(out->folder), "/tmp/certify-test-XXXXXX");
  assert_non_null(mkdtemp(out->folder));
  (void)snprintf(out->tree, sizeof(out->tree), "%s/tree", out->folder);
  struct tg_error err;
  assert_true(tg_files_make_folder(out->tree, &err));
  git(out, "init", "-q", NULL);
  tg_test_repository_add(out, "file", "one\n");
  tg_test_repository_commit(out);
}

void tg_test_repository_add(const struct tg_test_repository *repository, const char *path, const char *text) {
  char full[PATH_MAX];
  struct tg_error err;
  (void)snprintf(full, sizeof(full), "%s/%s", repository->tree, path);
  char *slash = strrchr(full, '/');
  *slash = '\0';
  assert_true(tg_files_make_folder(full, &err));
  *slash = '/';
  FILE *file = fopen(full, "we");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

void tg_test_repository_commit(const struct tg_test_repository *repository) {
  git(repository, "add", "-A", NULL);
  git(repository, "commit", "-qm", "test");
}

void tg_test_repository_remove(const struct tg_test_repository *repository) {
  tg_files_remove_folder(repository->folder);
}
