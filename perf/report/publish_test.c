// Publication: whole files or the old ones, and never one that cannot be read back.
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "perf/report/publish.h"
#include "perf/report/report_fixture.h"

#define WRITERS 4
#define TIMES   8

static char folder[256];

static const char *in_folder(const char *name) {
  static char path[512];
  (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
  return path;
}

static int make_folder(void **state) {
  (void)state;
  (void)snprintf(folder, sizeof(folder), "%s/publish-XXXXXX", getenv("TEST_TMPDIR"));
  return mkdtemp(folder) == NULL ? -1 : 0;
}

// Everything in the folder, files that begin with a dot included.
static size_t files(void) {
  glob_t found;
  size_t num = glob(in_folder("*"), 0, NULL, &found) == 0 ? found.gl_pathc : 0;
  globfree(&found);
  num += glob(in_folder(".[!.]*"), 0, NULL, &found) == 0 ? found.gl_pathc : 0;
  globfree(&found);
  return num;
}

static bool publish(const struct tg_report *report, struct tg_error *err) {
  json_t *json = tg_report_encode(report);
  bool ok = tg_publish(in_folder("report.json"), json, TG_REPORT_DIGITS, tg_publish_report_check, err);
  json_decref(json);
  return ok;
}

static void test_both_shapes_are_published(void **state) {
  (void)state;
  struct tg_report_fixture fixture;
  struct tg_error err;
  tg_report_fixture_complete(&fixture);
  assert_true(publish(&fixture.report, &err));
  tg_report_fixture_free(&fixture);
  struct tg_report *back = tg_report_load(in_folder("report.json"), &err);
  assert_non_null(back);
  assert_int_equal(back->kind, TG_REPORT_COMPLETE);
  tg_report_free(back);
  tg_report_fixture_error(&fixture);
  assert_true(publish(&fixture.report, &err));
  tg_report_fixture_free(&fixture);
  back = tg_report_load(in_folder("report.json"), &err);
  assert_non_null(back);
  assert_int_equal(back->kind, TG_REPORT_ERROR);
  tg_report_free(back);
  assert_int_equal(files(), 1);
}

// A report that contradicts itself encodes, and is found out when it is read back.
static void test_what_cannot_be_read_back_is_not_published(void **state) {
  (void)state;
  struct tg_report_fixture fixture;
  struct tg_error err;
  tg_report_fixture_complete(&fixture);
  assert_true(publish(&fixture.report, &err));
  fixture.report.exit_status = TG_EXIT_FAIL;
  assert_false(publish(&fixture.report, &err));
  assert_int_equal(strncmp(err.text, "report unavailable", 18), 0);
  assert_non_null(strstr(err.text, "exit_status"));
  tg_report_fixture_free(&fixture);
  struct tg_report *old = tg_report_load(in_folder("report.json"), &err);
  assert_non_null(old);
  assert_true(old->passed);
  tg_report_free(old);
  assert_int_equal(files(), 1);
}

static void test_a_rename_that_fails_leaves_nothing_beside(void **state) {
  (void)state;
  struct tg_report_fixture fixture;
  struct tg_error err;
  tg_report_fixture_complete(&fixture);
  assert_int_equal(mkdir(in_folder("report.json"), 0755), 0);
  assert_false(publish(&fixture.report, &err));
  assert_int_equal(strncmp(err.text, "report unavailable", 18), 0);
  assert_int_equal(files(), 1);
  tg_report_fixture_free(&fixture);
}

static void test_errors_name_the_path(void **state) {
  (void)state;
  struct tg_error err;
  json_t *value = json_object();
  assert_false(tg_publish("/nonexistent/x.json", value, TG_EXACT_DIGITS, NULL, &err));
  assert_non_null(strstr(err.text, "/nonexistent/x.json"));
  assert_false(tg_publish(in_folder("x.json"), NULL, TG_EXACT_DIGITS, NULL, &err));
  assert_non_null(strstr(err.text, "out of memory"));
  json_decref(value);
}

static void test_exact_digits_come_back_exactly(void **state) {
  (void)state;
  struct tg_error err;
  json_t *value = json_pack("{s:f}", "x", 0.1 + 0.2);
  assert_true(tg_publish(in_folder("x.json"), value, TG_EXACT_DIGITS, NULL, &err));
  json_t *back = json_load_file(in_folder("x.json"), 0, NULL);
  assert_true(json_real_value(json_object_get(back, "x")) == 0.1 + 0.2);
  struct stat status;
  assert_int_equal(stat(in_folder("x.json"), &status), 0);
  assert_int_equal(status.st_mode & 0400, 0400);
  json_decref(back);
  json_decref(value);
}

static void write_often(char digit) {
  struct tg_report_fixture fixture;
  struct tg_error err;
  char id[TG_RUN_ID_LEN + 1];
  memset(id, digit, TG_RUN_ID_LEN);
  id[TG_RUN_ID_LEN] = '\0';
  tg_report_fixture_complete(&fixture);
  fixture.report.id = id;
  for (int i = 0; i < TIMES; i++) {
    if (!publish(&fixture.report, &err)) {
      _exit(1);
    }
  }
  _exit(0);
}

// A reader that looks while several write sees a whole report at any time.
static void test_concurrent_writers_publish_whole_files(void **state) {
  (void)state;
  pid_t pids[WRITERS];
  for (int i = 0; i < WRITERS; i++) {
    pids[i] = fork();
    assert_true(pids[i] >= 0);
    if (pids[i] == 0) {
      write_often((char)('a' + i));
    }
  }
  size_t seen = 0;
  for (int running = WRITERS; running > 0;) {
    struct tg_error err;
    if (access(in_folder("report.json"), F_OK) == 0) {
      struct tg_report *report = tg_report_load(in_folder("report.json"), &err);
      if (report == NULL) {
        fail_msg("%s", err.text);
      }
      seen++;
      tg_report_free(report);
    }
    int status = 0;
    if (waitpid(-1, &status, WNOHANG) > 0) {
      assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
      running--;
    }
  }
  assert_true(seen > 0);
  assert_int_equal(files(), 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_both_shapes_are_published, make_folder),
      cmocka_unit_test_setup(test_what_cannot_be_read_back_is_not_published, make_folder),
      cmocka_unit_test_setup(test_a_rename_that_fails_leaves_nothing_beside, make_folder),
      cmocka_unit_test_setup(test_errors_name_the_path, make_folder),
      cmocka_unit_test_setup(test_exact_digits_come_back_exactly, make_folder),
      cmocka_unit_test_setup(test_concurrent_writers_publish_whole_files, make_folder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
