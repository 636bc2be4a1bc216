// fuzzd as a whole, on a target with two planted bugs: it finds and files them, and loses nothing when it is killed.
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "fuzz/launcher/files.h"
#include "fuzz/service/candidate.h"
#include "fuzz/service/durable.h"
#include "fuzz/service/state.h"
#include "fuzz/service/triage.h"
#include "perf/process/child.h"

#define TARGET  "two_bugs"
#define KILLS   10
#define SEED    7u
#define LIMIT_S 120.0
#define POLL_MS 50

static const char *program;
static char folder[64];
static char root[PATH_MAX];

static int make_folder(void **state) {
  (void)state;
  strcpy(folder, "/tmp/fuzzd-test-XXXXXX");
  if (mkdtemp(folder) == NULL || setenv("TLSGATE_FUZZD_LOCKS", folder, 1) != 0) {
    return 1;
  }
  tg_path(root, "%s/dir", folder);
  return 0;
}

static int remove_folder(void **state) {
  (void)state;
  tg_files_remove_folder(folder);
  return 0;
}

static pid_t start(const char *engine) {
  pid_t pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) {
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    char log[PATH_MAX];
    tg_path(log, "%s/log", folder);
    int fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0 || dup2(fd, STDERR_FILENO) < 0) {
      _exit(126);
    }
    execl(program, program, "--dir", root, "--jobs", "1", "--slice", "2", "--minimise-seconds", "2", "--engine", engine,
          (char *)NULL);
    _exit(127);
  }
  return pid;
}

static int end(pid_t pid, int signal) {
  int status;
  assert_int_equal(kill(pid, signal), 0);
  assert_int_equal(waitpid(pid, &status, 0), pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void sleep_ms(int ms) {
  poll(NULL, 0, ms);
}

// All processes of a fuzzd hold its lock.
static bool all_are_gone(double limit_s) {
  char path[PATH_MAX];
  tg_path(path, "%s/lock", root);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return true;
  }
  double begun = tg_now_s();
  bool gone;
  while (!(gone = flock(fd, LOCK_EX | LOCK_NB) == 0) && tg_now_s() - begun < limit_s) {
    sleep_ms(POLL_MS);
  }
  close(fd);
  return gone;
}

static void list(const char *place, struct tg_file_list *out) {
  char path[PATH_MAX];
  struct tg_error err;
  tg_path(path, "%s/%s/" TARGET, root, place);
  *out = (struct tg_file_list){.num = 0};
  if (!tg_files_add(out, path, &err)) {
    fail_msg("%s", err.text);
  }
}

static size_t count(const char *place) {
  struct tg_file_list files;
  list(place, &files);
  size_t num = files.num;
  tg_files_free(&files);
  return num;
}

static size_t count_candidates(void) {
  size_t num;
  size_t all;
  free(tg_candidate_list(root, 100, &num, &all));
  return all;
}

// The bug that an input shows, told as the target tells it: 1, 2, or 0 for none.
static int bug_of(const char *path) {
  size_t len;
  struct tg_error err;
  char *bytes = tg_fuzzd_read(path, 1 << 20, &len, &err);
  assert_non_null(bytes);
  int bug = len >= 2 && memcmp(bytes, "A1", 2) == 0 ? 1 : len >= 2 && memcmp(bytes, "B2", 2) == 0 ? 2 : 0;
  free(bytes);
  return bug;
}

// Which bugs the inputs in a folder show.
static void bugs_in(const char *place, bool seen[3]) {
  struct tg_file_list files;
  list(place, &files);
  for (size_t i = 0; i < files.num; i++) {
    if (access(files.paths[i], F_OK) == 0) {
      seen[bug_of(files.paths[i])] = true;
    }
  }
  tg_files_free(&files);
}

static void assert_nothing_lost(const struct tg_file_list *corpus, const bool found[3]) {
  for (size_t i = 0; i < corpus->num; i++) {
    const char *name = strrchr(corpus->paths[i], '/') + 1;
    if (name[0] != '.' && strstr(name, ".new") == NULL && access(corpus->paths[i], F_OK) != 0) {
      fail_msg("%s is gone", corpus->paths[i]);
    }
  }
  bool kept[3] = {false};
  bugs_in("incoming", kept);
  bugs_in("candidates", kept);
  for (int bug = 1; bug <= 2; bug++) {
    if (found[bug] && !kept[bug]) {
      fail_msg("a finding of bug %d is gone", bug);
    }
  }
}

static void wait_for(bool (*holds)(void), const char *what) {
  double begun = tg_now_s();
  while (!holds()) {
    if (tg_now_s() - begun > LIMIT_S) {
      fail_msg("not within %.0f s: %s", LIMIT_S, what);
    }
    sleep_ms(POLL_MS);
  }
}

static bool nothing_waits(void) {
  return !tg_triage_waits(root, TARGET);
}

static bool load_state(struct tg_fuzzd_state *out) {
  char path[PATH_MAX];
  struct tg_error err;
  tg_path(path, "%s/state.json", root);
  if (!tg_fuzzd_state_load(path, out, &err)) {
    fail_msg("%s", err.text);
  }
  return out->num_targets == 1;
}

// Both bugs are filed, and the engines have found one or both of them by themselves.
static bool all_is_found(void) {
  static struct tg_fuzzd_state now;
  return count_candidates() >= 2 && load_state(&now) &&
         now.targets[0].arms[TG_FUZZD_LIBFUZZER].findings + now.targets[0].arms[TG_FUZZD_AFL].findings > 0;
}

static void put(const char *name, const char *text) {
  char path[PATH_MAX];
  struct tg_error err;
  tg_path(path, "%s/incoming/" TARGET, root);
  assert_true(tg_files_make_folder(path, &err));
  tg_path(path, "%s/incoming/" TARGET "/%s", root, name);
  assert_true(tg_fuzzd_write(path, text, strlen(text), &err));
}

static void test_one_bug_is_one_candidate_and_two_are_two(void **state) {
  (void)state;
  struct tg_error err;
  assert_true(tg_files_make_folder(root, &err));
  put("crash-1", "A1 and so on");
  put("afl-2", "A1 as well, but longer");
  put("crash-3", "B2");
  put("crash-4", "harmless");
  pid_t pid = start("libfuzzer");
  wait_for(nothing_waits, "the four inputs are filed");
  assert_int_equal(end(pid, SIGTERM), 0);
  // What a slice found after that waits.
  assert_int_equal(count_candidates(), 2);
  size_t num;
  size_t all;
  struct tg_candidate *candidates = tg_candidate_list(root, 100, &num, &all);
  for (size_t i = 0; i < num; i++) {
    char path[PATH_MAX];
    tg_path(path, "%s/candidates/" TARGET "/regressions/%s", root, candidates[i].name);
    int bug = bug_of(path);
    assert_true(bug == 1 || bug == 2);
    assert_true(candidates[i].seen >= (bug == 1 ? 2 : 1));
    // Minimised.
    assert_int_equal(candidates[i].size, 2);
    tg_path(path, "%s/candidates/" TARGET "/explanations/%s.txt", root, candidates[i].name);
    size_t len;
    char *text = tg_fuzzd_read(path, 1 << 20, &len, &err);
    assert_non_null(text);
    assert_non_null(strstr(text, "P1: the planted property is broken by 2 bytes"));
    assert_non_null(strstr(text, "replay   bazel run //fuzz/service/testing:two_bugs_run -- --regression /"));
    assert_null(strstr(text, "/tasks/"));
    assert_non_null(strstr(text, bug == 1 ? "000000  41 31" : "000000  42 32"));
    assert_non_null(strstr(text, bug == 1 ? "in look_at_first fuzz/service/testing/two_bugs.c"
                                          : "in look_at_second fuzz/service/testing/two_bugs.c"));
    free(text);
  }
  free(candidates);
  // The other input of the first bug, and the one that shows nothing, are kept too.
  assert_true(count("duplicates") >= 1);
  assert_int_equal(count("unreproduced"), 1);
}

static void test_killed_at_any_moment_it_loses_nothing(void **state) {
  (void)state;
  srandom(SEED);
  for (int i = 0; i < KILLS; i++) {
    // Kills are to come while inputs are looked at, too: a new bug's, and more of a known one.
    put("crash-given", i % 2 == 0 ? "A1, which is longer than it need be" : "B2, and this one as well");
    pid_t pid = start("both");
    sleep_ms(300 + (int)(random() % 4000));
    // What is there before the kill is there after it, and after the next start has looked through it.
    struct tg_file_list corpus;
    bool found[3] = {false};
    list("corpus", &corpus);
    bugs_in("incoming", found);
    bugs_in("candidates", found);
    assert_int_equal(end(pid, SIGKILL), 128 + SIGKILL);
    assert_true(all_are_gone(5));
    assert_nothing_lost(&corpus, found);
    pid = start("both");
    sleep_ms(300 + (int)(random() % 500));
    assert_nothing_lost(&corpus, found);
    assert_int_equal(end(pid, SIGKILL), 128 + SIGKILL);
    assert_true(all_are_gone(5));
    assert_nothing_lost(&corpus, found);
    tg_files_free(&corpus);
  }
  pid_t pid = start("both");
  wait_for(all_is_found, "the engines find a bug, and both are filed");
  assert_int_equal(end(pid, SIGTERM), 0);
  assert_true(all_are_gone(0));
  assert_int_equal(count_candidates(), 2);
  assert_true(count("corpus") > 0);

  char path[PATH_MAX];
  static struct tg_fuzzd_state kept;
  struct tg_error err;
  assert_true(load_state(&kept));
  assert_int_equal(kept.starts, 2 * KILLS + 1);
  tg_path(path, "%s/status.html", root);
  size_t len;
  char *page = tg_fuzzd_read(path, 1 << 20, &len, &err);
  assert_non_null(page);
  assert_non_null(strstr(page, "<span class=\"pill stopped\">stopped</span>"));
  free(page);
}

static void test_a_folder_has_one_fuzzd(void **state) {
  (void)state;
  pid_t first = start("libfuzzer");
  double begun = tg_now_s();
  while (all_are_gone(0) && tg_now_s() - begun < LIMIT_S) {
    sleep_ms(POLL_MS);
  }
  // The lock is taken before the process is named in it.
  sleep_ms(500);
  const char *const argv[] = {program, "--dir", root, NULL};
  struct tg_child_result result;
  struct tg_error err;
  assert_true(tg_child_run(argv, LIMIT_S, &result, &err));
  assert_int_equal(result.exit_status, 2);
  assert_non_null(strstr(result.err, "another fuzzd works here, process "));
  tg_child_result_free(&result);
  assert_int_equal(end(first, SIGINT), 0);
}

static char state_of(pid_t pid) {
  char path[64];
  char line[512] = "";
  (void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
  FILE *stat = fopen(path, "re");
  if (stat == NULL) {
    return '-';
  }
  (void)fgets(line, sizeof(line), stat);
  fclose(stat);
  const char *name_end = strrchr(line, ')');
  return name_end != NULL ? name_end[2] : '-';
}

static int children_of(pid_t pid, pid_t out[16]) {
  char path[64];
  (void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
  FILE *children = fopen(path, "re");
  int num = 0;
  while (children != NULL && num < 16 && fscanf(children, "%d", &out[num]) == 1) {
    num++;
  }
  if (children != NULL) {
    fclose(children);
  }
  return num;
}

static void test_it_makes_way_for_a_measurement(void **state) {
  (void)state;
  char measure_path[PATH_MAX];
  char build_path[PATH_MAX];
  pid_t jobs[16];
  pid_t engines[16];
  pid_t pid = start("libfuzzer");
  double begun = tg_now_s();
  while ((children_of(pid, jobs) == 0 || children_of(jobs[0], engines) == 0) && tg_now_s() - begun < LIMIT_S) {
    sleep_ms(POLL_MS);
  }
  tg_path(measure_path, "%s/measure.lock", folder);
  tg_path(build_path, "%s/build.lock", folder);
  int measure = open(measure_path, O_RDONLY | O_CLOEXEC);
  int build = open(build_path, O_RDONLY | O_CLOEXEC);
  assert_int_equal(flock(build, LOCK_EX | LOCK_NB), -1);
  assert_int_equal(flock(measure, LOCK_EX), 0);
  begun = tg_now_s();
  while (flock(build, LOCK_EX | LOCK_NB) != 0) {
    assert_true(tg_now_s() - begun < LIMIT_S);
    sleep_ms(POLL_MS);
  }
  // Now nothing of it runs, and nothing begins to.
  for (int i = 0; i < 20; i++) {
    int num = children_of(pid, jobs);
    for (int j = 0; j < num; j++) {
      assert_non_null(strchr("TZ-", state_of(jobs[j])));
      int num_engines = children_of(jobs[j], engines);
      for (int e = 0; e < num_engines; e++) {
        assert_non_null(strchr("TZ-", state_of(engines[e])));
      }
    }
    sleep_ms(POLL_MS);
  }
  close(build);
  close(measure);
  // It goes on, and ends when asked to.
  begun = tg_now_s();
  while (children_of(pid, jobs) == 0 || state_of(jobs[0]) == 'T') {
    assert_true(tg_now_s() - begun < LIMIT_S);
    sleep_ms(POLL_MS);
  }
  assert_int_equal(end(pid, SIGTERM), 0);
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: fuzzd_test FUZZD\n");
    return 2;
  }
  program = argv[1];
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_one_bug_is_one_candidate_and_two_are_two, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(test_killed_at_any_moment_it_loses_nothing, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(test_a_folder_has_one_fuzzd, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(test_it_makes_way_for_a_measurement, make_folder, remove_folder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
