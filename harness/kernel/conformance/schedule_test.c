#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
// cmocka needs the above.
#include <cmocka.h>

#include "harness/kernel/conformance/corpus.h"
#include "harness/kernel/conformance/generate.h"
#include "harness/kernel/conformance/schedule.h"

#define MS TG_SIM_NS_PER_MS

static struct tg_schedule schedule;
static char error[256];

static void what_is_printed_parses_to_the_same(void **state) {
  (void)state;
  static const char all[] =
      "mss 88, thresh 3, buffer s 4608, buffer c 2304, listen 0, c write 300, c more 1, s await, s await 7, s read, "
      "s read 5, s quickack 0, c nodelay 1, c cork 0, sleep 1000, c shutdown";
  char text[TG_SCHEDULE_TEXT_MAX];
  assert_true(tg_schedule_parse(&schedule, all, error, sizeof(error)));
  tg_schedule_print(&schedule, text);
  assert_string_equal(text, all);
  for (uint64_t number = 0; number < 500; number++) {
    static struct tg_schedule again;
    struct tg_outcome outcome;
    tg_generate(9, number, &schedule, &outcome);
    tg_schedule_print(&schedule, text);
    assert_true(tg_schedule_parse(&again, text, error, sizeof(error)));
    assert_memory_equal(&schedule, &again, sizeof(again));
  }
}

static void what_is_wrong_is_named(void **state) {
  (void)state;
  static const struct {
    const char *text;
    const char *says;
  } wrong[] = {
      {"", "0 awaits"},
      {"c write 1", "0 awaits"},
      {"c write 0, s await", "step 1"},
      {"c write 65537, s await", "step 1"},
      {"c write 9999999999, s await", "step 1"},
      {"c write, s await", "step 1"},
      {"x write 1, s await", "step 1"},
      {"write 1, s await", "step 1"},
      {"s await, c write 1 2", "step 2"},
      {"s await, c cork 2", "step 2"},
      {"s await, c shutdown 1", "step 2"},
      {"s await, c sleep 1", "step 2"},
      {"s await, sleep 1001", "step 2"},
      {"s await, , c read", "step 2"},
      {"s await, c dance", "step 2"},
      {"mss 87, s await", "mss 87"},
      {"s await, mss 88", "mss 88"},
      {"thresh 0, s await", "thresh 0"},
      {"buffer s 100, s await", "buffer s 100"},
      {"listen, s await", "listen"},
  };
  for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
    assert_false(tg_schedule_parse(&schedule, wrong[i].text, error, sizeof(error)));
    if (strstr(error, wrong[i].says) == NULL) {
      fail_msg("'%s' gives '%s', without '%s'", wrong[i].text, error, wrong[i].says);
    }
  }
}

static void too_many_steps_are_refused(void **state) {
  (void)state;
  char text[TG_SCHEDULE_TEXT_MAX];
  for (size_t steps = TG_STEPS_MAX; steps <= TG_STEPS_MAX + 1; steps++) {
    size_t len = (size_t)snprintf(text, sizeof(text), "s await");
    for (size_t i = 1; i < steps; i++) {
      len += (size_t)snprintf(text + len, sizeof(text) - len, ", c read");
    }
    assert_int_equal(tg_schedule_parse(&schedule, text, error, sizeof(error)), steps <= TG_STEPS_MAX);
  }
}

static void waits_have_classes(void **state) {
  (void)state;
  assert_int_equal(tg_wait_of(0), TG_WAIT_NONE);
  assert_int_equal(tg_wait_of(20 * MS - 1), TG_WAIT_NONE);
  assert_int_equal(tg_wait_of(20 * MS), TG_WAIT_ODD);
  assert_int_equal(tg_wait_of(36 * MS - 1), TG_WAIT_ODD);
  assert_int_equal(tg_wait_of(36 * MS), TG_WAIT_STALL);
  assert_int_equal(tg_wait_of(61 * MS - 1), TG_WAIT_STALL);
  assert_int_equal(tg_wait_of(61 * MS), TG_WAIT_ODD);
  assert_int_equal(tg_wait_of(180 * MS - 1), TG_WAIT_ODD);
  assert_int_equal(tg_wait_of(180 * MS), TG_WAIT_LONG);
}

static void a_file_with_a_mistake_is_named(void **state) {
  (void)state;
  static const struct {
    const char *text;
    const char *says;
  } files[] = {
      {"# a comment\n\nname | - | 0 | c write 1, s await\n", ""},
      {"name | - | 0\n", ":1: not of the form"},
      {"# a comment\nname | x | 0 | c write 1, s await\n", ":2: name too long"},
      {"name | - | many | c write 1, s await\n", ":1: delayed ACKs"},
      {"name | - | 0 | c write 1, s wait\n", ":1: step 2"},
  };
  for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
    char path[] = "/tmp/tg_corpus_XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, files[i].text, strlen(files[i].text)), (ssize_t)strlen(files[i].text));
    close(fd);
    static struct tg_corpus corpus;
    corpus.num_cases = 0;
    bool ok = tg_corpus_read(&corpus, path, error, sizeof(error));
    unlink(path);
    assert_int_equal(ok, files[i].says[0] == '\0');
    if (!ok && strstr(error, files[i].says) == NULL) {
      fail_msg("'%s', without '%s'", error, files[i].says);
    }
  }
  static struct tg_corpus none;
  assert_false(tg_corpus_read(&none, "/nonexistent/schedules", error, sizeof(error)));
  assert_non_null(strstr(error, "/nonexistent/schedules"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_printed_parses_to_the_same), cmocka_unit_test(what_is_wrong_is_named),
      cmocka_unit_test(too_many_steps_are_refused),         cmocka_unit_test(waits_have_classes),
      cmocka_unit_test(a_file_with_a_mistake_is_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
