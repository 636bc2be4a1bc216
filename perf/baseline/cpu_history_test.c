// The history of a CPU model: its decoder, and the one command that writes it.
#include <setjmp.h>
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
#include "perf/baseline/compare.h"
#include "perf/baseline/cpu_history.h"
#include "perf/baseline/history_update.h"

static const char file[] = "a-cpu-3-0-ghz.json";
static const char staged[] = "a-cpu-3-0-ghz.json.staged";

static struct tg_manifest *manifest;
static struct tg_run_fixture run;
static struct tg_history_request request;
static char *log_text;
static struct tg_error err;

static int set_up(void **state) {
  (void)state;
  manifest = tg_fixture_manifest();
  tg_run_fixture_make(&run, 500, TG_REVISION_B);
  run.report->mode = TG_MODE_GATES;
  run.report->enforced = false;
  run.report->file = "run.json";
  request = (struct tg_history_request){.folder = ".", .manifest = manifest, .report = run.report};
  return chdir(tg_fixture_folder());
}

static int tear_down(void **state) {
  (void)state;
  tg_manifest_free(manifest);
  tg_run_fixture_free(&run);
  free(log_text);
  log_text = NULL;
  return 0;
}

static bool update(void) {
  size_t len = 0;
  free(log_text);
  FILE *log = open_memstream(&log_text, &len);
  err.text[0] = '\0';
  const bool ok = tg_history_update(&request, log, &err);
  (void)fclose(log);
  return ok;
}

static struct tg_cpu_history *updated(void) {
  if (!update()) {
    fail_msg("%s", err.text);
  }
  struct tg_cpu_history *history = tg_cpu_history_find(".", "A CPU @ 3.0 GHz", &err);
  assert_non_null(history);
  assert_int_not_equal(access(staged, F_OK), 0);
  return history;
}

// Expects a refusal that says so, with the fixture's history left as it is.
static void refused(const char *expected) {
  tg_fixture_write(file, tg_fixture_history);
  if (update() || strstr(err.text, expected) == NULL) {
    fail_msg("\"%s\" where \"%s\" was expected", err.text, expected);
  }
  char *now = tg_fixture_read(file);
  assert_string_equal(now, tg_fixture_history);
  free(now);
}

static struct tg_cpu_history *parse(const char *text) {
  err.text[0] = '\0';
  return tg_cpu_history_parse("h.json", text, strlen(text), &err);
}

static void decoder_refuses(const char *from, const char *to, const char *expected) {
  char text[8192];
  const char *at = strstr(tg_fixture_history, from);
  assert_non_null(at);
  (void)snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - tg_fixture_history), tg_fixture_history, to,
                 at + strlen(from));
  struct tg_cpu_history *history = parse(text);
  if (history != NULL || strncmp(err.text, expected, strlen(expected)) != 0) {
    fail_msg("%s -> %s:\n  %s\n  expected %s", from, to, err.text, expected);
  }
}

static void test_a_history_is_decoded_as_written(void **state) {
  (void)state;
  struct tg_cpu_history *history = parse(tg_fixture_history);
  assert_non_null(history);
  assert_string_equal(history->cpu_model, "A CPU @ 3.0 GHz");
  assert_int_equal(history->num_rows, 6);
  assert_int_equal(history->num_apart, 1);
  assert_null(history->rows[0].label);
  assert_string_equal(history->apart[0].label, "fail");
  assert_true(history->rows[5].values[1].value == 1000);
  assert_true(tg_cpu_history_factor(history, "rtt_ms") == TG_HISTORY_FACTOR);
  tg_cpu_history_free(history);
}

static void test_wrong_histories_are_refused_with_their_place(void **state) {
  (void)state;
  decoder_refuses("\"schema\": 1", "\"schema\": 7",
                  "h.json: schema: version 7 is not known, this build reads version 1");
  decoder_refuses("\"about\": \"test\", ", "", "h.json: about: missing");
  decoder_refuses("\"cpu_model\"", "\"cpu\"", "h.json: cpu_model: missing");
  decoder_refuses("\"profile\": \"short\"", "\"profile\": \"short\", \"note\": \"x\"", "h.json: note: unknown key");
  decoder_refuses("\"rows\": [", "\"factor\": 1, \"rows\": [", "h.json: factor: must be between 1.01 and 10");
  decoder_refuses("\"rows\": [", "\"factors\": {\"rtt_ms\": 0.5}, \"rows\": [",
                  "h.json: factors.rtt_ms: must be between 1.01 and 10");
  decoder_refuses("\"rtt_ms\": 0.1", "\"rtt_ms\": 0", "h.json: rows[0].metrics.rtt_ms: must be above 0");
  decoder_refuses("\"rtt_ms\": 0.1", "\"rtt_ms\": null", "h.json: rows[0].metrics.rtt_ms: must be a number, is null");
  decoder_refuses("\"rtt_ms\": 0.1", "\"rtt-ms\": 1", "h.json: rows[0].metrics: \"rtt-ms\" is not a metric's name");
  decoder_refuses("{\"rtt_ms\": 0.1, \"rps\": 1000.0}", "{}", "h.json: rows[0].metrics: must not be empty");
  decoder_refuses("0000002\"", "0000001\"",
                  "h.json: rows[1].id: the run 00000000000000000000000000000001 is there already");
  decoder_refuses("0000007\"", "0000001\"",
                  "h.json: apart[0].id: the run 00000000000000000000000000000001 is there already");
  decoder_refuses("\"label\": \"fail\"", "\"label\": \"pass\"", "h.json: apart[0].label: \"pass\" is none of");
  decoder_refuses("\"label\": \"fail\", ", "", "h.json: apart[0].label: missing");
  decoder_refuses("\"metrics\"", "\"label\": \"fail\", \"metrics\"", "h.json: rows[0].label: unknown key");
}

static void test_what_is_encoded_decodes_to_the_same(void **state) {
  (void)state;
  struct tg_cpu_history *history = parse(tg_fixture_history);
  json_t *encoded = tg_cpu_history_encode(history);
  assert_true(json_equal(encoded, history->root));
  json_decref(encoded);
  tg_cpu_history_free(history);
}

static void test_no_truncation_and_no_flipped_bit_is_taken_for_the_file(void **state) {
  (void)state;
  const size_t len = strlen(tg_fixture_history);
  char *text = strdup(tg_fixture_history);
  for (size_t i = 0; i < len; i++) {
    assert_null(tg_cpu_history_parse("h.json", tg_fixture_history, i, &err));
    // One bit of each byte: each place of a bit comes with every kind of byte.
    text[i] = (char)(tg_fixture_history[i] ^ (1 << (i % 8)));
    struct tg_cpu_history *history = tg_cpu_history_parse("h.json", text, len, &err);
    if (history == NULL) {
      assert_int_equal(strncmp(err.text, "h.json:", 7), 0);
    } else {
      assert_int_equal(history->num_rows, 6);
      assert_int_equal(history->num_apart, 1);
      tg_cpu_history_free(history);
    }
    text[i] = tg_fixture_history[i];
  }
  free(text);
}

static void test_a_cpu_model_has_one_file(void **state) {
  (void)state;
  char name[256];
  tg_cpu_history_file(name, sizeof(name), "Intel(R) Xeon(R) CPU @ 2.60GHz");
  assert_string_equal(name, "intel-r-xeon-r-cpu-2-60ghz.json");
  tg_cpu_history_file(name, sizeof(name), "../../etc/passwd");
  assert_string_equal(name, "etc-passwd.json");
  tg_cpu_history_file(name, sizeof(name), "()");
  assert_string_equal(name, "unnamed.json");
}

static void test_another_models_file_is_refused(void **state) {
  (void)state;
  run.report->environment.cpu_model = "A CPU (3.0 GHz)";
  refused("is of the CPU model \"A CPU @ 3.0 GHz\"");
}

static void test_a_passing_row_joins_the_medians(void **state) {
  (void)state;
  struct tg_cpu_history *history = updated();
  assert_int_equal(history->num_rows, 1);
  assert_int_equal(history->num_apart, 0);
  assert_string_equal(history->rows[0].revision, TG_REVISION_B);
  // Every row of the manifest but fractions.
  assert_int_equal(history->rows[0].num_values, 4);
  assert_non_null(strstr(log_text, "joins the medians; 1 passing rows"));
  tg_cpu_history_free(history);
}

static void test_failed_and_undecided_runs_are_kept_apart_with_their_label(void **state) {
  (void)state;
  static const struct {
    enum tg_status status;
    const char *label;
  } cases[] = {{TG_STATUS_FAIL, "fail"}, {TG_STATUS_UNDECIDED, "undecided"}};
  for (size_t i = 0; i < 2; i++) {
    (void)snprintf(run.id, sizeof(run.id), "%032x", (unsigned)(900 + i));
    run.rows[TG_RTT].status = cases[i].status;
    run.report->verdict = cases[i].status == TG_STATUS_FAIL ? TG_OUTCOME_FAIL : TG_OUTCOME_UNDECIDED;
    tg_report_conclude(run.report);
    struct tg_cpu_history *history = updated();
    assert_int_equal(history->num_rows, 0);
    assert_int_equal(history->num_apart, i + 1);
    assert_string_equal(history->apart[i].label, cases[i].label);
    tg_cpu_history_free(history);
  }
  // An undecided run that was only reported exits 0, and is undecided for all that.
  run.report->undecided_reported = true;
  tg_report_conclude(run.report);
  assert_string_equal(tg_history_label(run.report), "undecided");
}

static void test_an_unreadable_run_and_an_error_are_kept_apart(void **state) {
  (void)state;
  run.report->readable = false;
  struct tg_cpu_history *history = updated();
  assert_int_equal(history->num_rows, 0);
  assert_string_equal(history->apart[0].label, "unreadable");
  tg_cpu_history_free(history);
  (void)snprintf(run.id, sizeof(run.id), "%032x", 900U);
  run.report->kind = TG_REPORT_ERROR;
  run.report->verdict = TG_OUTCOME_ERROR;
  run.report->num_rows = 0;
  history = updated();
  assert_string_equal(history->apart[1].label, "error");
  assert_int_equal(history->apart[1].num_values, 0);
  tg_cpu_history_free(history);
}

static void test_one_run_counts_once(void **state) {
  (void)state;
  tg_cpu_history_free(updated());
  struct tg_cpu_history *history = updated();
  assert_int_equal(history->num_rows, 1);
  assert_non_null(strstr(log_text, "is there already; it counts once"));
  tg_cpu_history_free(history);
}

static void test_a_conflicting_copy_is_refused(void **state) {
  (void)state;
  (void)snprintf(run.id, sizeof(run.id), "%032x", 3U);
  refused("is there already with other figures");
}

static void test_what_is_no_whole_clean_run_is_refused(void **state) {
  (void)state;
  const struct tg_report good = *run.report;
  json_t *dirty = json_pack("[s]", "x");
  run.report->environment.dirty_files = dirty;
  refused("dirty tree");
  *run.report = good;
  run.report->environment.commit = NULL;
  refused("provenance lacks commit");
  *run.report = good;
  run.report->mode = TG_MODE_RATIOS_ONLY;
  refused("partial");
  *run.report = good;
  run.report->quickack = "off";
  refused("planted fault");
  *run.report = good;
  run.report->num_rows--;
  refused("has no row stalled");
  *run.report = good;
  run.report->profile = TG_PROFILE_PUBLISHED;
  refused("profile");
  *run.report = good;
  json_decref(dirty);
}

static void test_a_leftover_is_refused(void **state) {
  (void)state;
  tg_fixture_write(staged, "x");
  refused("left by a recorder that did not end");
}

static void test_the_newest_forty_rows_are_kept_in_the_order_of_time(void **state) {
  (void)state;
  struct tg_cpu_history *history = NULL;
  // Every other run comes late.
  for (int i = 0; i < TG_HISTORY_MAX + 4; i++) {
    tg_cpu_history_free(history);
    tg_run_fixture_free(&run);
    tg_run_fixture_make(&run, 100 + (i ^ 1), TG_REVISION_B);
    request.report = run.report;
    history = updated();
  }
  assert_int_equal(history->num_rows, TG_HISTORY_MAX);
  for (size_t i = 0; i < TG_HISTORY_MAX; i++) {
    char id[40];
    (void)snprintf(id, sizeof(id), "%032x", (unsigned)(104 + i));
    assert_string_equal(history->rows[i].id, id);
  }
  tg_cpu_history_free(history);
  // One older than all of them does not get in, and that is said.
  tg_run_fixture_free(&run);
  tg_run_fixture_make(&run, 1, TG_REVISION_B);
  request.report = run.report;
  history = updated();
  assert_int_equal(history->num_rows, TG_HISTORY_MAX);
  assert_non_null(strstr(log_text, "went, as the oldest"));
  tg_cpu_history_free(history);
}

static void test_factors_are_set_and_carried(void **state) {
  (void)state;
  request.factor = 2;
  request.factors[0] = (struct tg_history_value){"rtt_ms", 3};
  request.num_factors = 1;
  tg_cpu_history_free(updated());
  request.factor = 0;
  request.factors[0].name = "rps";
  (void)snprintf(run.id, sizeof(run.id), "%032x", 900U);
  struct tg_cpu_history *history = updated();
  assert_true(tg_cpu_history_factor(history, "rtt_ms") == 3);
  assert_true(tg_cpu_history_factor(history, "rps") == 3);
  assert_true(tg_cpu_history_factor(history, "curve") == 2);
  tg_cpu_history_free(history);
}

static void test_updates_at_once_lose_no_row(void **state) {
  (void)state;
  enum { WRITERS = 4 };
  for (int i = 0; i < WRITERS; i++) {
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
      (void)snprintf(run.id, sizeof(run.id), "%032x", (unsigned)(900 + i));
      while (!update()) {
        if (strstr(err.text, ".staged") == NULL) {
          _exit(1);
        }
        (void)usleep(1000);
      }
      _exit(0);
    }
  }
  for (int i = 0; i < WRITERS; i++) {
    int status = 0;
    assert_true(wait(&status) > 0);
    assert_int_equal(status, 0);
  }
  struct tg_cpu_history *history = tg_cpu_history_find(".", "A CPU @ 3.0 GHz", &err);
  assert_non_null(history);
  assert_int_equal(history->num_rows, WRITERS);
  tg_cpu_history_free(history);
}

static void test_no_history_yet_is_no_error(void **state) {
  (void)state;
  tg_error_set(&err, "x");
  assert_null(tg_cpu_history_find(".", "Some CPU", &err));
  assert_string_equal(err.text, "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_a_history_is_decoded_as_written),
      TEST(test_wrong_histories_are_refused_with_their_place),
      TEST(test_what_is_encoded_decodes_to_the_same),
      TEST(test_no_truncation_and_no_flipped_bit_is_taken_for_the_file),
      TEST(test_a_cpu_model_has_one_file),
      TEST(test_another_models_file_is_refused),
      TEST(test_a_passing_row_joins_the_medians),
      TEST(test_failed_and_undecided_runs_are_kept_apart_with_their_label),
      TEST(test_an_unreadable_run_and_an_error_are_kept_apart),
      TEST(test_one_run_counts_once),
      TEST(test_a_conflicting_copy_is_refused),
      TEST(test_what_is_no_whole_clean_run_is_refused),
      TEST(test_a_leftover_is_refused),
      TEST(test_the_newest_forty_rows_are_kept_in_the_order_of_time),
      TEST(test_factors_are_set_and_carried),
      TEST(test_updates_at_once_lose_no_row),
      TEST(test_no_history_yet_is_no_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
