// The runner on parts that are scripts: they fail, hang, are killed, and go on.
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

#include "perf/certify/command.h"
#include "perf/certify/runner.h"
#include "perf/certify/testing/repository.h"
#include "perf/certify/verify.h"
#include "perf/manifest/strict_json.h"
#include "perf/process/child.h"

// A part named X runs the script $folder/X.sh in its folder of raw files; the script says its verdict in the file
// `verdict`. It runs at most this long.
#define LIMIT_S 2.0

static struct tg_test_repository repository;
static struct tg_source source;
static struct tg_progress progress;
static json_t *provenance;
static char out_folder[128];

static bool run_script(const struct tg_part_run *run, struct tg_error *err) {
  char script[PATH_MAX];
  char log[PATH_MAX];
  (void)snprintf(script, sizeof(script), "cd %s && . %s/%s.sh", run->folder, repository.folder, run->part->name);
  (void)snprintf(log, sizeof(log), "%s/log", run->folder);
  const char *const argv[] = {"/bin/sh", "-c", script, NULL};
  const struct tg_command command = {.argv = argv, .log = log, .limit_s = LIMIT_S, .follow = true};
  int status = tg_command_run(&command, run->progress, err);
  if (status > 0) {
    tg_error_set(err, "the script ended with %d", status);
  }
  return status == 0;
}

static bool read_verdict(const struct tg_part *part, const struct tg_evidence *evidence, struct tg_part_verdict *out,
                         struct tg_error *err) {
  char path[PATH_MAX];
  char word[32] = "";
  (void)snprintf(path, sizeof(path), "%s/verdict", evidence->folder);
  FILE *file = fopen(path, "re");
  if (file == NULL || fscanf(file, "%31s", word) != 1) {
    tg_error_set(err, "%s: says nothing", path);
  }
  if (file != NULL) {
    (void)fclose(file);
  }
  for (int i = 0; i < TG_OUTCOME_ERROR; i++) {
    if (strcmp(word, tg_outcome_name((enum tg_outcome)i)) == 0) {
      out->outcome = (enum tg_outcome)i;
      (void)snprintf(out->message, sizeof(out->message), "%s said %s", part->name, word);
      out->figures = json_pack("{s:s}", "word", word);
      return true;
    }
  }
  return false;
}

static bool name_program(const struct tg_part_run *run, json_t *paths, struct tg_error *err) {
  (void)run;
  (void)err;
  return json_array_append_new(paths, json_string("../program")) == 0;
}

static const char *const inputs[] = {"file", "missing", NULL};
static const struct tg_part parts[] = {
    {"build", "Build", "", inputs, NULL, run_script, NULL, read_verdict},
    {"one", "One", "", inputs, NULL, run_script, name_program, read_verdict},
    {"two", "Two", "", NULL, NULL, run_script, NULL, read_verdict},
    {"again", "Two again", "", NULL, "two", NULL, NULL, read_verdict},
};
#define NUM (sizeof(parts) / sizeof(parts[0]))

static void put(const char *name, const char *text) {
  char path[160];
  (void)snprintf(path, sizeof(path), "%s/%s", repository.folder, name);
  FILE *file = fopen(path, "we");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

// Has the part say a verdict, and leave a mark each time that it runs.
static void say(const char *part, const char *verdict) {
  char name[64];
  char text[256];
  (void)snprintf(name, sizeof(name), "%s.sh", part);
  (void)snprintf(text, sizeof(text), "echo %s > verdict; echo x >> %s/%s.runs\n", verdict, repository.folder, part);
  put(name, text);
}

static int runs_of(const char *part) {
  char path[160];
  (void)snprintf(path, sizeof(path), "%s/%s.runs", repository.folder, part);
  FILE *file = fopen(path, "re");
  int lines = 0;
  for (int c; file != NULL && (c = fgetc(file)) != EOF;) {
    lines += c == '\n';
  }
  if (file != NULL) {
    (void)fclose(file);
  }
  return lines;
}

static int set_up(void **state) {
  (void)state;
  struct tg_error err;
  tg_test_repository_make(&repository);
  assert_true(tg_source_open(&source, repository.tree, &err));
  (void)snprintf(out_folder, sizeof(out_folder), "%s/out", repository.folder);
  progress = (struct tg_progress){.out = tmpfile(), .total = NUM, .started_s = tg_now_s()};
  provenance = json_pack("{s:s, s:s}", "host", "here", "kernel", "6.1");
  put("program", "one");
  say("build", "pass");
  say("one", "pass");
  say("two", "pass");
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  (void)fclose(progress.out);
  json_decref(provenance);
  tg_test_repository_remove(&repository);
  return 0;
}

static struct tg_certify certification(void) {
  return (struct tg_certify){.parts = parts,
                             .num_parts = NUM,
                             .source = &source,
                             .out = out_folder,
                             .minutes = 1,
                             .provenance = provenance,
                             .progress = &progress};
}

static void assert_refused(const struct tg_certify *certify, const char *says) {
  json_t *value;
  struct tg_error err;
  assert_int_equal(tg_certify_run(certify, &value, &err), TG_CERTIFY_REFUSED);
  assert_null(value);
  if (strstr(err.text, says) == NULL) {
    fail_msg("\"%s\" is not in \"%s\"", says, err.text);
  }
}

// Certifies, and decodes what came of it; the value is the caller's.
static json_t *certified(struct tg_certificate *out) {
  struct tg_certify certify = certification();
  json_t *value = NULL;
  struct tg_error err;
  if (tg_certify_run(&certify, &value, &err) != TG_CERTIFIED ||
      !tg_certificate_decode(out, "certificate", value, parts, NUM, &err)) {
    fail_msg("%s", err.text);
  }
  return value;
}

static size_t differences(void) {
  struct tg_verified verified;
  FILE *said = tmpfile();
  assert_non_null(said);
  tg_verify(&verified, out_folder, repository.tree, parts, NUM, said);
  (void)fclose(said);
  return verified.differences;
}

static struct tg_certificate certificate;

static void test_parts_that_pass_make_a_pass_that_verifies(void **state) {
  (void)state;
  json_t *value = certified(&certificate);
  assert_true(certificate.complete);
  assert_int_equal(certificate.verdict, TG_OUTCOME_PASS);
  assert_int_equal(certificate.exit_status, 0);
  assert_string_equal(certificate.commit, source.commit);
  const struct tg_attempt *one = tg_cert_part_last(tg_certificate_part(&certificate, "one"));
  assert_string_equal(one->message, "one said pass");
  assert_int_equal(json_object_size(one->binaries), 1);
  assert_int_equal(json_object_size(one->files), 2);
  assert_true(json_is_null(json_object_get(one->inputs, "missing")));
  assert_true(json_is_string(json_object_get(one->inputs, "file")));
  json_decref(value);
  assert_int_equal(differences(), 0);
}

static void test_verdicts_have_an_order(void **state) {
  (void)state;
  static const struct {
    const char *one;
    const char *two;
    enum tg_outcome verdict;
    int exit_status;
  } cases[] = {
      {"pass", "undecided", TG_OUTCOME_UNDECIDED, 3},
      {"undecided", "unenforced", TG_OUTCOME_UNENFORCED, 4},
      {"unenforced", "fail", TG_OUTCOME_FAIL, 1},
      {"nonsense", "pass", TG_OUTCOME_FAIL, 1},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    (void)snprintf(out_folder, sizeof(out_folder), "%s/out%zu", repository.folder, i);
    say("one", cases[i].one);
    say("two", cases[i].two);
    json_t *value = certified(&certificate);
    assert_int_equal(certificate.verdict, cases[i].verdict);
    assert_int_equal(certificate.exit_status, cases[i].exit_status);
    json_decref(value);
    assert_int_equal(differences(), 0);
  }
}

static void test_a_part_that_failed_runs_again_and_its_failure_stays(void **state) {
  (void)state;
  say("one", "fail");
  json_t *value = certified(&certificate);
  assert_int_equal(certificate.verdict, TG_OUTCOME_FAIL);
  assert_int_equal(runs_of("two"), 1);
  json_decref(value);
  say("one", "pass");
  value = certified(&certificate);
  assert_int_equal(certificate.verdict, TG_OUTCOME_PASS);
  const struct tg_cert_part *one = tg_certificate_part(&certificate, "one");
  assert_int_equal(one->num_attempts, 2);
  assert_int_equal(one->attempts[0].outcome, TG_OUTCOME_FAIL);
  assert_string_equal(one->attempts[0].message, "one said fail");
  assert_string_equal(one->attempts[0].folder, "raw/one");
  assert_string_equal(one->attempts[1].folder, "raw/one.2");
  // What had passed was kept.
  assert_int_equal(runs_of("two"), 1);
  assert_int_equal(tg_certificate_part(&certificate, "two")->num_attempts, 1);
  json_decref(value);
  assert_int_equal(differences(), 0);
}

static void test_undecided_stays(void **state) {
  (void)state;
  say("one", "undecided");
  json_decref(certified(&certificate));
  say("one", "pass");
  json_t *value = certified(&certificate);
  assert_int_equal(certificate.verdict, TG_OUTCOME_UNDECIDED);
  assert_int_equal(runs_of("one"), 1);
  json_decref(value);
}

static void test_a_part_that_hangs_is_ended(void **state) {
  (void)state;
  put("one.sh", "echo pass > verdict; exec sleep 1000\n");
  double start = tg_now_s();
  json_t *value = certified(&certificate);
  assert_true(tg_now_s() - start < 60);
  const struct tg_attempt *one = tg_cert_part_last(tg_certificate_part(&certificate, "one"));
  assert_int_equal(one->outcome, TG_OUTCOME_ERROR);
  assert_non_null(strstr(one->message, "did not end within 2 s"));
  assert_int_equal(certificate.verdict, TG_OUTCOME_FAIL);
  json_decref(value);
}

static void test_without_a_build_nothing_runs(void **state) {
  (void)state;
  say("build", "fail");
  json_t *value = certified(&certificate);
  assert_int_equal(certificate.verdict, TG_OUTCOME_FAIL);
  assert_int_equal(runs_of("one") + runs_of("two"), 0);
  assert_string_equal(tg_cert_part_last(tg_certificate_part(&certificate, "two"))->message,
                      "was not run: the build failed");
  json_decref(value);
}

static void test_killed_it_goes_on_where_it_was(void **state) {
  (void)state;
  put("two.sh", "touch $PPID.started; exec sleep 1000\n");
  pid_t pid = fork();
  if (pid == 0) {
    struct tg_certify certify = certification();
    json_t *value;
    struct tg_error err;
    (void)tg_certify_run(&certify, &value, &err);
    _exit(0);
  }
  char folder[256];
  (void)snprintf(folder, sizeof(folder), "%s/raw/two/%d.started", out_folder, (int)pid);
  for (int i = 0; i < 600 && access(folder, F_OK) != 0; i++) {
    (void)usleep(100000);
  }
  assert_int_equal(access(folder, F_OK), 0);
  assert_int_equal(kill(pid, SIGKILL), 0);
  assert_int_equal(waitpid(pid, NULL, 0), pid);
  say("two", "pass");
  json_t *value = certified(&certificate);
  const struct tg_cert_part *two = tg_certificate_part(&certificate, "two");
  assert_int_equal(two->num_attempts, 2);
  assert_int_equal(two->attempts[0].outcome, TG_OUTCOME_ERROR);
  assert_null(two->attempts[0].finish);
  assert_string_equal(two->attempts[0].message, "did not end: it was killed, or still runs");
  // What it had left is kept, and hashed.
  assert_true(json_object_size(two->attempts[0].files) > 0);
  assert_int_equal(two->attempts[1].outcome, TG_OUTCOME_PASS);
  assert_int_equal(runs_of("one"), 1);
  assert_int_equal(certificate.verdict, TG_OUTCOME_PASS);
  json_decref(value);
  assert_int_equal(differences(), 0);
}

static void test_what_rests_on_something_else_now_runs_again(void **state) {
  (void)state;
  json_decref(certified(&certificate));
  put("program", "two");
  json_decref(certified(&certificate));
  assert_int_equal(runs_of("one"), 2);
  put("out/raw/two/verdict", "pass\n# edited\n");
  json_t *value = certified(&certificate);
  assert_int_equal(runs_of("one"), 2);
  assert_int_equal(runs_of("two"), 2);
  json_decref(value);
  // The edited attempt stays listed as it was hashed, and so does not agree.
  assert_true(differences() > 0);
}

static void test_only_a_clean_tree_is_certified(void **state) {
  (void)state;
  struct tg_certify certify = certification();
  tg_test_repository_add(&repository, "another", "x");
  assert_refused(&certify, "the tree is not clean: another differs from the commit");
  assert_int_not_equal(access(out_folder, F_OK), 0);
}

static void test_a_tree_that_changes_meanwhile_is_no_evidence(void **state) {
  (void)state;
  char script[256];
  (void)snprintf(script, sizeof(script), "echo pass > verdict; echo x > %s/file\n", repository.tree);
  put("one.sh", script);
  json_t *value = certified(&certificate);
  const struct tg_attempt *one = tg_cert_part_last(tg_certificate_part(&certificate, "one"));
  assert_int_equal(one->outcome, TG_OUTCOME_ERROR);
  assert_non_null(strstr(one->message, "the tree is not clean: file differs"));
  json_decref(value);
}

static void test_a_program_that_changes_meanwhile_is_no_evidence(void **state) {
  (void)state;
  char script[256];
  (void)snprintf(script, sizeof(script), "echo pass > verdict; echo x > %s/program\n", repository.folder);
  put("one.sh", script);
  json_t *value = certified(&certificate);
  assert_non_null(strstr(tg_cert_part_last(tg_certificate_part(&certificate, "one"))->message,
                         "its programs changed while it ran"));
  json_decref(value);
}

static void test_two_certificates_are_not_mixed(void **state) {
  (void)state;
  json_decref(certified(&certificate));
  struct tg_certify certify = certification();
  certify.minutes = 2;
  assert_refused(&certify, "is about --minutes 1, not 2");
  certify = certification();
  certify.label = "quiet";
  assert_refused(&certify, "is about TLSGATE_PERF_HOST=(unset), not quiet");
  certify = certification();
  json_t *elsewhere = json_pack("{s:s, s:s}", "host", "there", "kernel", "6.1");
  certify.provenance = elsewhere;
  assert_refused(&certify, "another machine or build: host is not what it was");
  json_decref(elsewhere);
  tg_test_repository_add(&repository, "file", "two\n");
  tg_test_repository_commit(&repository);
  struct tg_error err;
  assert_true(tg_source_open(&source, repository.tree, &err));
  certify = certification();
  assert_refused(&certify, "and the tree is at");
  assert_int_equal(runs_of("build"), 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_parts_that_pass_make_a_pass_that_verifies, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_verdicts_have_an_order, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_a_part_that_failed_runs_again_and_its_failure_stays, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_undecided_stays, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_a_part_that_hangs_is_ended, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_without_a_build_nothing_runs, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_killed_it_goes_on_where_it_was, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_what_rests_on_something_else_now_runs_again, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_only_a_clean_tree_is_certified, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_a_tree_that_changes_meanwhile_is_no_evidence, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_a_program_that_changes_meanwhile_is_no_evidence, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_two_certificates_are_not_mixed, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
