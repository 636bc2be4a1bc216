// Replacing a file: one writer at a time, whole files only, and a killed writer is noticed.
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "perf/baseline/baseline_fixture.h"
#include "perf/baseline/staged.h"

static char file[PATH_MAX];
static char staged_file[PATH_MAX + 16];

static int set_up(void **state) {
  (void)state;
  // A short path, so that the messages are whole.
  assert_int_equal(chdir(tg_fixture_folder()), 0);
  (void)snprintf(file, sizeof(file), "b.json");
  (void)snprintf(staged_file, sizeof(staged_file), "%s.staged", file);
  tg_fixture_write(file, "old");
  return 0;
}

static void assert_file_is(const char *expected) {
  char *text = tg_fixture_read(file);
  assert_non_null(text);
  assert_string_equal(text, expected);
  free(text);
}

static bool takes(const char *path, void *context, struct tg_error *err) {
  (void)err;
  char *text = tg_fixture_read(path);
  const bool same = strcmp(text, context) == 0;
  free(text);
  return same;
}

static bool refuses(const char *path, void *context, struct tg_error *err) {
  (void)context;
  tg_error_set(err, "%s: is not what was meant", path);
  return false;
}

static void test_a_file_is_written_beside_validated_and_renamed(void **state) {
  (void)state;
  struct tg_staged staged;
  struct tg_error err;
  char text[] = "new";
  assert_true(tg_staged_reserve(&staged, file, &err));
  assert_int_equal(access(staged_file, F_OK), 0);
  assert_file_is("old");
  assert_true(tg_staged_publish(&staged, text, 3, takes, text, &err));
  assert_file_is("new");
  assert_int_not_equal(access(staged_file, F_OK), 0);
}

static void test_a_file_that_does_not_validate_is_not_renamed(void **state) {
  (void)state;
  struct tg_staged staged;
  struct tg_error err;
  assert_true(tg_staged_reserve(&staged, file, &err));
  assert_false(tg_staged_publish(&staged, "new", 3, refuses, NULL, &err));
  assert_non_null(strstr(err.text, "is not what was meant"));
  assert_file_is("old");
  assert_int_not_equal(access(staged_file, F_OK), 0);
}

static void test_a_reservation_is_given_back_with_the_file_untouched(void **state) {
  (void)state;
  struct tg_staged staged;
  struct tg_error err;
  for (int i = 0; i < 2; i++) {
    assert_true(tg_staged_reserve(&staged, file, &err));
    tg_staged_abandon(&staged);
    assert_file_is("old");
  }
}

static void test_only_one_can_reserve(void **state) {
  (void)state;
  struct tg_staged first;
  struct tg_staged second;
  struct tg_error err;
  assert_true(tg_staged_reserve(&first, file, &err));
  assert_false(tg_staged_reserve(&second, file, &err));
  char pid[32];
  (void)snprintf(pid, sizeof(pid), "process %ld", (long)getpid());
  assert_non_null(strstr(err.text, "another recorder is at work"));
  assert_non_null(strstr(err.text, pid));
  tg_staged_abandon(&first);
  assert_true(tg_staged_reserve(&second, file, &err));
  tg_staged_abandon(&second);
}

static bool dies(const char *path, void *context, struct tg_error *err) {
  (void)path;
  (void)context;
  (void)err;
  return raise(SIGKILL) == 0;
}

// Kills a writer that has reserved, and if `write` also written.
static void kill_a_writer(bool write) {
  const pid_t pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) {
    struct tg_staged staged;
    if (tg_staged_reserve(&staged, file, NULL) && write) {
      (void)tg_staged_publish(&staged, "new", 3, dies, NULL, NULL);
    }
    (void)raise(SIGKILL);
  }
  int status = 0;
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void test_what_a_killed_writer_left_is_refused_with_how_to_be_sure(void **state) {
  (void)state;
  for (int written = 0; written < 2; written++) {
    struct tg_staged staged;
    struct tg_error err;
    kill_a_writer(written == 1);
    assert_file_is("old");
    assert_false(tg_staged_reserve(&staged, file, &err));
    assert_non_null(strstr(err.text, staged_file));
    assert_non_null(strstr(err.text, "No process of this machine has it locked"));
    assert_non_null(strstr(err.text, "fuser -v"));
    assert_non_null(strstr(err.text, "then remove the file"));
    assert_file_is("old");
    assert_int_equal(access(staged_file, F_OK), 0);
    assert_int_equal(unlink(staged_file), 0);
    assert_true(tg_staged_reserve(&staged, file, &err));
    tg_staged_abandon(&staged);
  }
}

static void test_a_folder_that_is_not_there_is_an_error(void **state) {
  (void)state;
  struct tg_staged staged;
  struct tg_error err;
  assert_false(tg_staged_reserve(&staged, "/nowhere/b.json", &err));
  assert_non_null(strstr(err.text, "/nowhere/b.json.staged: cannot be made"));
}

// Adds one to the number in the file, `times` times, trying again whenever another has the reservation.
static void count(int times) {
  for (int i = 0; i < times;) {
    struct tg_staged staged;
    struct tg_error err;
    if (!tg_staged_reserve(&staged, file, &err)) {
      if (strstr(err.text, ".staged") == NULL) {
        _exit(3);
      }
      (void)usleep(100);
      continue;
    }
    char *old = tg_fixture_read(file);
    char text[32];
    (void)snprintf(text, sizeof(text), "%ld", strtol(old, NULL, 10) + 1);
    free(old);
    if (!tg_staged_publish(&staged, text, strlen(text), takes, text, &err)) {
      _exit(4);
    }
    i++;
  }
  _exit(0);
}

static void test_many_writers_at_once_lose_no_update(void **state) {
  (void)state;
  enum { WRITERS = 4, TIMES = 25 };
  tg_fixture_write(file, "0");
  for (int i = 0; i < WRITERS; i++) {
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
      count(TIMES);
    }
  }
  for (int i = 0; i < WRITERS; i++) {
    int status = 0;
    assert_true(wait(&status) > 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  assert_file_is("100");
  assert_int_not_equal(access(staged_file, F_OK), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_a_file_is_written_beside_validated_and_renamed, set_up),
      cmocka_unit_test_setup(test_a_file_that_does_not_validate_is_not_renamed, set_up),
      cmocka_unit_test_setup(test_a_reservation_is_given_back_with_the_file_untouched, set_up),
      cmocka_unit_test_setup(test_only_one_can_reserve, set_up),
      cmocka_unit_test_setup(test_what_a_killed_writer_left_is_refused_with_how_to_be_sure, set_up),
      cmocka_unit_test(test_a_folder_that_is_not_there_is_an_error),
      cmocka_unit_test_setup(test_many_writers_at_once_lose_no_update, set_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
