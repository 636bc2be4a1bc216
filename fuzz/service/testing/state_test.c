// The state reads back as it was written, and is decoded strictly.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fuzz/service/durable.h"
#include "fuzz/service/scheduler.h"
#include "fuzz/service/state.h"

static char path[] = "/tmp/state-test-XXXXXX";
static struct tg_fuzzd_state written;
static struct tg_fuzzd_state read_back;

static int begin(void **unused) {
  (void)unused;
  int fd = mkstemp(path);
  if (fd >= 0) {
    close(fd);
  }
  return fd < 0;
}

static int end(void **unused) {
  (void)unused;
  return unlink(path);
}

static void fill(void) {
  memset(&written, 0, sizeof(written));
  written.begun_at_s = 1700000000.5;
  written.up_s = 12.25;
  written.starts = 3;
  const struct tg_fuzzd_choice choice = {.engines = {true, true}, .targets = {true, true}};
  assert_non_null(tg_fuzzd_state_target(&written, "one"));
  assert_non_null(tg_fuzzd_state_target(&written, "two"));
  for (int i = 0; i < 2 * TG_FUZZD_HISTORY_MAX + 5; i++) {
    const struct tg_fuzzd_slice_result result = {
        .ran = i % 7 != 0, .cpu_s = 0.1 * i, .executions = 10, .edges = (uint64_t)i, .error = "it \"failed\""};
    tg_fuzzd_account(&written, &choice, 0, i % 2 == 0 ? TG_FUZZD_LIBFUZZER : TG_FUZZD_AFL, 0, &result, 1e9 + i);
    assert_true(written.targets[0].num_history <= TG_FUZZD_HISTORY_MAX);
  }
}

static void test_it_reads_back(void **unused) {
  (void)unused;
  struct tg_error err;
  fill();
  if (!tg_fuzzd_state_save(path, &written, &err) || !tg_fuzzd_state_load(path, &read_back, &err)) {
    fail_msg("%s", err.text);
  }
  assert_int_equal(read_back.num_targets, 2);
  assert_int_equal(read_back.starts, 3);
  assert_true(read_back.up_s == written.up_s && read_back.begun_at_s == written.begun_at_s);
  for (size_t i = 0; i < 2; i++) {
    const struct tg_fuzzd_target_state *a = &written.targets[i];
    const struct tg_fuzzd_target_state *b = &read_back.targets[i];
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->num_history, b->num_history);
    for (size_t h = 0; h < a->num_history; h++) {
      assert_true(a->history[h].cpu_s == b->history[h].cpu_s && a->history[h].edges == b->history[h].edges);
    }
    for (int e = 0; e < TG_FUZZD_ENGINES; e++) {
      assert_true(a->arms[e].cpu_s == b->arms[e].cpu_s && a->arms[e].credit_s == b->arms[e].credit_s);
      assert_true(a->arms[e].executions == b->arms[e].executions && a->arms[e].edges == b->arms[e].edges);
      assert_true(a->arms[e].slices == b->arms[e].slices && a->arms[e].failures == b->arms[e].failures);
      assert_true(a->arms[e].rest_until_s == b->arms[e].rest_until_s);
      assert_string_equal(a->arms[e].last_error, b->arms[e].last_error);
    }
  }
}

static void test_a_missing_file_is_an_empty_state(void **unused) {
  (void)unused;
  struct tg_error err;
  assert_true(tg_fuzzd_state_load("/nonexistent/state.json", &read_back, &err));
  assert_int_equal(read_back.num_targets, 0);
}

static char *replaced(const char *text, const char *from, const char *to) {
  const char *at = strstr(text, from);
  assert_non_null(at);
  char *out = malloc(strlen(text) + strlen(to) + 1);
  assert_non_null(out);
  (void)sprintf(out, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
  return out;
}

static void test_what_is_not_as_written_is_refused(void **unused) {
  (void)unused;
  static const struct {
    const char *from;
    const char *to;
    const char *says;
  } kCases[] = {
      {"\"schema\": 1", "\"schema\": 2", "schema"},
      {"\"starts\": 3", "\"starts\": -3", "starts"},
      {"\"starts\": 3", "\"starts\": 3, \"stars\": 3", "stars"},
      {"\"starts\": 3,", "", "starts"},
      {"\"name\": \"two\"", "\"name\": \"one\"", "is there twice"},
      {"\"name\": \"two\"", "\"name\": \"../two\"", "is not the name of a fuzz target"},
      {"\"up_s\": 12.25", "\"up_s\": \"long\"", "up_s"},
      {"\"cpu_s\": ", "\"cpu_s\": -1", "cpu_s"},
      {"{", "", ""},
  };
  struct tg_error err;
  size_t len;
  fill();
  assert_true(tg_fuzzd_state_save(path, &written, &err));
  char *good = tg_fuzzd_read(path, (size_t)1 << 24, &len, &err);
  assert_non_null(good);
  for (size_t i = 0; i < sizeof(kCases) / sizeof(kCases[0]); i++) {
    char *bad = replaced(good, kCases[i].from, kCases[i].to);
    assert_true(tg_fuzzd_write(path, bad, strlen(bad), &err));
    assert_false(tg_fuzzd_state_load(path, &read_back, &err));
    assert_non_null(strstr(err.text, kCases[i].says));
    assert_non_null(strstr(err.text, path));
    assert_non_null(strstr(err.text, "no corpus or finding is lost"));
    free(bad);
  }
  // Cut anywhere, it is refused and not half taken.
  for (size_t cut = 1; cut < len - 1; cut += 997) {
    assert_true(tg_fuzzd_write(path, good, cut, &err));
    assert_false(tg_fuzzd_state_load(path, &read_back, &err));
  }
  free(good);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_it_reads_back),
      cmocka_unit_test(test_a_missing_file_is_an_empty_state),
      cmocka_unit_test(test_what_is_not_as_written_is_refused),
  };
  return cmocka_run_group_tests(tests, begin, end);
}
