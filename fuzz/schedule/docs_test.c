// docs/schedules.md says what the code does: its examples byte by byte, its tables row by row.
// usage: docs_test docs/schedules.md
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fuzz/schedule/duration.h"
#include "fuzz/schedule/explain.h"
#include "fuzz/schedule/files.h"
#include "fuzz/schedule/prefix.h"
#include "fuzz/schedule/schedule.h"
#include "fuzz/schedule/text.h"
#include "fuzz/schedule/wait.h"
#include "fuzz/schedule/words.h"

#define ROW_MAX 512

static char *page;

// Finds the first block fenced as `kind` at or after `from`, returns its text and where to look for the next.
static char *block(const char *kind, const char **from) {
  char fence[40];
  (void)snprintf(fence, sizeof(fence), "```%s\n", kind);
  const char *begin = strstr(*from, fence);
  if (begin == NULL) {
    return NULL;
  }
  begin += strlen(fence);
  const char *end = strstr(begin, "```\n");
  assert_non_null(end);
  *from = end;
  char *out = strndup(begin, (size_t)(end - begin));
  assert_non_null(out);
  return out;
}

static void assemble(const char *text, struct tg_schedule *out) {
  struct tg_error err;
  if (!tg_schedule_assemble(text, strlen(text), out, &err)) {
    fail_msg("%s\nof\n%s", err.text, text);
  }
}

static void test_the_example(void **state) {
  (void)state;
  const char *at = page;
  char *text = block("schedule", &at), *hex = block("hex", &at), *words = block("explain", &at);
  assert_true(text != NULL && hex != NULL && words != NULL);
  struct tg_schedule schedule;
  assemble(text, &schedule);
  uint8_t bytes[TG_SCHEDULE_BYTES_MAX];
  const size_t len = tg_schedule_encode(&schedule, bytes);

  size_t count = 0;
  for (char *digits = strtok(hex, " \n"); digits != NULL; digits = strtok(NULL, " \n")) {
    assert_true(count < len);
    assert_int_equal(strtoul(digits, NULL, 16), bytes[count++]);
  }
  assert_int_equal(count, len);

  struct tg_schedule decoded;
  tg_schedule_decode(bytes, len, &decoded);
  char *explained = NULL;
  size_t explained_len;
  FILE *to = open_memstream(&explained, &explained_len);
  assert_non_null(to);
  tg_schedule_explain(&decoded, to);
  assert_int_equal(fclose(to), 0);
  assert_string_equal(explained, words);
  free(explained);
  free(text);
  free(hex);
  free(words);
}

static void test_every_schedule_assembles(void **state) {
  (void)state;
  unsigned count = 0;
  const char *at = page;
  for (char *text; (text = block("schedule", &at)) != NULL; count++) {
    struct tg_schedule schedule;
    assemble(text, &schedule);
    assert_true(schedule.num_steps > 0);
    free(text);
  }
  assert_int_equal(count, 2);
}

// Expects a line that begins so.
static void assert_row(const char *begin) {
  char line[ROW_MAX];
  (void)snprintf(line, sizeof(line), "\n%s", begin);
  if (strstr(page, line) == NULL) {
    fail_msg("no line begins with: %s", begin);
  }
}

static void assert_rows(const struct tg_words *words) {
  for (size_t i = 0; i < words->count; i++) {
    char row[ROW_MAX];
    (void)snprintf(row, sizeof(row), "| %zu | `%s` |", i, words->words[i]);
    assert_row(row);
  }
}

static void test_the_lists_of_words(void **state) {
  (void)state;
  assert_rows(&tg_words_actions);
  assert_rows(&tg_words_connect_bits);
  assert_rows(&tg_words_requests);
  assert_rows(&tg_words_records);
  assert_rows(&tg_words_failures);
}

static void test_the_scale_of_waits(void **state) {
  (void)state;
  size_t count;
  const struct tg_schedule_wait_run *run = tg_schedule_wait_runs(&count);
  unsigned first = TG_SCHEDULE_WAIT_MIN;
  for (; count > 0; count--, run++) {
    char from[TG_DURATION_TEXT_MAX], step[TG_DURATION_TEXT_MAX], to[TG_DURATION_TEXT_MAX], row[ROW_MAX];
    (void)snprintf(row, sizeof(row), "| %u | %s | %s | %s |\n", first, tg_duration_format(run->from, "", from),
                   tg_duration_format(run->step, "", step),
                   tg_duration_format(run->from + (run->count - 1) * run->step, "", to));
    assert_row(row);
    first += run->count;
  }
}

// Returns a setting's value in a decoded schedule: what the tables call by name.
static unsigned setting_value(const struct tg_schedule_settings *settings, const struct tg_setting *setting) {
  const uint8_t *field = (const uint8_t *)settings + setting->offset;
  return setting->kind == TG_SETTING_FLAG ? *(const bool *)field : *field;
}

// Sets bits `low` to `high` of a byte to 1 in an input that is otherwise zero.
static void with_bits(unsigned byte, unsigned low, unsigned high, uint8_t out[TG_BYTE_INPUT_PREFIX]) {
  memset(out, 0, TG_BYTE_INPUT_PREFIX);
  for (unsigned bit = low; bit <= high; bit++) {
    out[byte] |= (uint8_t)(1u << bit);
  }
}

// A row `| BYTE | LOW-HIGH | `NAME` | VALUES |`.
struct row {
  unsigned byte, low, high;
  char name[32], values[ROW_MAX];
};

// Reads the next such row at or after `*at`, up to `end`.
static bool next_row(const char **at, const char *end, struct row *out) {
  while (*at < end) {
    const char *line = *at;
    *at = strchr(line, '\n') + 1;
    if (sscanf(line, "| %u | %u-%u | `%31[^`]` | %511[^\n]", &out->byte, &out->low, &out->high, out->name,
               out->values) == 5) {
      return true;
    }
    if (sscanf(line, "| %u | %u | `%31[^`]` | %511[^\n]", &out->byte, &out->low, out->name, out->values) == 4) {
      out->high = out->low;
      return true;
    }
  }
  return false;
}

// A bit changes the setting `name`, and no other. (No power of two is a multiple of three or five, the moduli.)
static void assert_bit(unsigned byte, unsigned bit, const char *name, bool prefix) {
  uint8_t bytes[TG_BYTE_INPUT_PREFIX];
  with_bits(byte, bit, bit, bytes);
  struct tg_schedule plain, changed;
  struct tg_byte_input plain_input, input;
  tg_schedule_decode(NULL, 0, &plain);
  tg_schedule_decode(bytes, sizeof(bytes), &changed);
  tg_byte_input_decode(NULL, 0, &plain_input);
  tg_byte_input_decode(bytes, sizeof(bytes), &input);
  size_t count;
  const struct tg_setting *settings = tg_settings_table(&count);
  bool named = false;
  for (size_t i = 0; i < count; i++) {
    const unsigned before = setting_value(prefix ? &plain_input.settings : &plain.settings, &settings[i]);
    const unsigned after = setting_value(prefix ? &input.settings : &changed.settings, &settings[i]);
    const bool this = strcmp(settings[i].name, name) == 0;
    named |= this;
    if ((before != after) != this) {
      fail_msg("byte %u bit %u is not %s: %s is %u, then %u", byte, bit, name, settings[i].name, before, after);
    }
  }
  if (!named) {
    fail_msg("`%s` is no setting", name);
  }
}

static void assert_bits(const struct row *row, bool prefix) {
  for (unsigned bit = row->low; bit <= row->high; bit++) {
    assert_bit(row->byte, bit, row->name, prefix);
  }
}

// Every word of a setting stands in its row with its number.
static void assert_values(const struct row *row) {
  size_t count;
  const struct tg_setting *setting = tg_settings_table(&count);
  while (count > 1 && strcmp(setting->name, row->name) != 0) {
    setting++;
    count--;
  }
  for (size_t i = 0; i < setting->words.count; i++) {
    char value[60];
    (void)snprintf(value, sizeof(value), "%zu `%s`", i, setting->words.words[i]);
    if (strstr(row->values, value) == NULL) {
      fail_msg("%s: no %s in: %s", row->name, value, row->values);
    }
  }
}

static void test_the_bytes_of_the_settings(void **state) {
  (void)state;
  const char *at = strstr(page, "\n## The encoding\n"), *end = strstr(page, "\n### Actions\n");
  assert_true(at != NULL && end > at);
  size_t rows = 0, count;
  (void)tg_settings_table(&count);
  for (struct row row; next_row(&at, end, &row); rows++) {
    assert_bits(&row, false);
    assert_values(&row);
  }
  assert_int_equal(rows, count);
}

static void test_the_bytes_of_the_prefix(void **state) {
  (void)state;
  const char *at = strstr(page, "\n## The raw-byte targets\n");
  assert_non_null(at);
  unsigned settings = 0, others = 0;
  for (struct row row; next_row(&at, page + strlen(page), &row);) {
    uint8_t bytes[TG_BYTE_INPUT_PREFIX];
    struct tg_byte_input input;
    with_bits(row.byte, row.low, row.high, bytes);
    tg_byte_input_decode(bytes, sizeof(bytes), &input);
    others++;
    if (strcmp(row.name, "plaintext") == 0) {
      assert_true(input.plaintext && input.settings.plaintext_listener);
    } else if (strcmp(row.name, "nodelay") == 0) {
      assert_true(input.nodelay);
    } else if (strcmp(row.name, "end") == 0) {
      assert_int_equal(input.end, TG_BYTE_INPUT_RESET);
    } else if (strcmp(row.name, "gap") == 0) {
      assert_int_equal(input.gap, TG_SCHEDULE_WAIT_REST);
    } else {
      assert_bits(&row, true);
      settings++;
      others--;
    }
  }
  assert_int_equal(settings, 11);
  assert_int_equal(others, 4);
  // The only field of two bytes.
  assert_row("| 5-6 | 0-15 | `cut` |");
  struct tg_byte_input input;
  tg_byte_input_decode((const uint8_t[]){1, 0, 0, 0, 0, 0x34, 0x12, 0}, 8, &input);
  assert_int_equal(input.cut, 0x1234);
}

static void test_the_bytes_of_a_step(void **state) {
  (void)state;
  assert_row("| 0 | action, modulo 25 |");
  assert_row("| 1 | client, modulo 8;");
  assert_row("| 2, 3 | value, low byte first |");
  assert_row("| 4 | what passes after the step");
  struct tg_schedule schedule;
  const uint8_t bytes[] = {1, 0, 0, 0, 0, 0, 0, 0, 25 + TG_SCHEDULE_CUT, 8 + 3, 0x34, 0x12, 7};
  tg_schedule_decode(bytes, sizeof(bytes), &schedule);
  assert_int_equal(schedule.num_steps, 1);
  assert_int_equal(schedule.steps[0].action, TG_SCHEDULE_CUT);
  assert_int_equal(schedule.steps[0].client, 3);
  assert_int_equal(schedule.steps[0].value, 0x1234);
  assert_int_equal(schedule.steps[0].wait, 7);
}

int main(int argc, char **argv) {
  struct tg_whole_file file;
  struct tg_error err;
  if (argc != 2 || !tg_whole_file_read(argv[1], &file, &err)) {
    (void)fputs(argc != 2 ? "usage: docs_test docs/schedules.md\n" : err.text, stderr);
    return 2;
  }
  page = strndup((const char *)file.bytes, file.len);
  tg_whole_file_free(&file);
  if (page == NULL) {
    return 2;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_example),
      cmocka_unit_test(test_every_schedule_assembles),
      cmocka_unit_test(test_the_lists_of_words),
      cmocka_unit_test(test_the_scale_of_waits),
      cmocka_unit_test(test_the_bytes_of_the_settings),
      cmocka_unit_test(test_the_bytes_of_the_prefix),
      cmocka_unit_test(test_the_bytes_of_a_step),
  };
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  free(page);
  return failed;
}
