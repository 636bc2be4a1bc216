#include <stdlib.h>
#include <string.h>

#include "fuzz/schedule/duration.h"
#include "fuzz/schedule/fold.h"
#include "fuzz/schedule/line.h"
#include "fuzz/schedule/text.h"
#include "fuzz/schedule/words.h"

#define LIST_MAX     440
#define SIZES_MAX    4095
#define KIND_BITS    4
#define FAILURE_BITS 5
#define SKIP_MAX     7
#define TIMES_SHIFT  8
#define TIMES_MAX    255
#define OFFSET_MAX   8191

struct assembler {
  struct tg_schedule *schedule;
  struct tg_line_reader line;
  bool set[TG_SETTINGS_MAX];
};

// Reads a duration of the scale as a value.
static bool read_wait(struct tg_line_reader *line, const char *what, uint16_t *out) {
  const char *word = tg_line_next(line);
  if (word == NULL) {
    tg_error_set(line->err, "no %s; write a duration like 40ms, or 0, or rest", what);
    return false;
  }
  uint8_t wait = 0;
  if (!tg_wait_parse(word, &wait, line->err)) {
    return false;
  }
  *out = wait;
  return true;
}

// Reads one of `words`, as its index, or a number, less `base`.
static bool read_number(struct tg_line_reader *line, const struct tg_words *words, uint16_t min, uint16_t max,
                        uint16_t base, const char *what, uint16_t *out) {
  const char *word = tg_line_peek(line);
  const int found = words == NULL || word == NULL ? -1 : tg_words_find(words, word);
  if (found >= 0) {
    (void)tg_line_next(line);
    *out = (uint16_t)found;
    return true;
  }
  if (!tg_line_number(line, words, min, max, what, out)) {
    return false;
  }
  *out = (uint16_t)(*out - base);
  return true;
}

static bool read_bits(struct tg_line_reader *line, const struct tg_words *words, uint16_t *out) {
  for (const char *word; (word = tg_line_peek(line)) != NULL && strcmp(word, "then") != 0;) {
    uint16_t bit;
    if (!tg_line_word(line, words, "way to connect", &bit)) {
      return false;
    }
    *out |= (uint16_t)(1u << bit);
  }
  return true;
}

static bool next_is_number(const struct tg_line_reader *line) {
  const char *word = tg_line_peek(line);
  return word != NULL && *word >= '0' && *word <= '9';
}

static bool read_kind(struct tg_line_reader *line, const struct tg_words *words, const char *what, uint16_t *out) {
  uint16_t size = 0;
  if (!tg_line_word(line, words, what, out) ||
      (next_is_number(line) && !tg_line_number(line, NULL, 0, SIZES_MAX, "size", &size))) {
    return false;
  }
  *out |= (uint16_t)(size << KIND_BITS);
  return true;
}

static bool read_flip(struct tg_line_reader *line, uint16_t *out) {
  uint16_t byte, bit;
  if (!tg_line_skip(line, "byte") || !tg_line_number(line, NULL, 0, OFFSET_MAX, "byte", &byte) ||
      !tg_line_skip(line, "bit") || !tg_line_number(line, NULL, 0, 7, "bit", &bit)) {
    tg_error_set(line->err, "flip takes `byte N bit N`, N from 0 to %u and from 0 to 7", OFFSET_MAX);
    return false;
  }
  *out = (uint16_t)(byte << 3 | bit);
  return true;
}

static bool read_inject(struct tg_line_reader *line, uint16_t *out) {
  uint16_t failure, skip = 0, times = 1;
  if (!tg_line_word(line, &tg_words_failures, "failure", &failure)) {
    return false;
  }
  if (tg_line_skip(line, "skip") && !tg_line_number(line, NULL, 0, SKIP_MAX, "skip", &skip)) {
    return false;
  }
  if (tg_line_skip(line, "times") && !read_number(line, &tg_words_all, 1, TIMES_MAX, 0, "times", &times)) {
    return false;
  }
  *out = (uint16_t)(failure | skip << FAILURE_BITS | times << TIMES_SHIFT);
  return true;
}

static bool read_value(struct tg_line_reader *line, uint8_t action, uint16_t *out) {
  const struct tg_syntax *syntax = tg_syntax_of(action);
  const char *name = tg_words_actions.words[action];
  *out = 0;
  switch (syntax->argument) {
    case TG_ARGUMENT_BITS:
      return read_bits(line, syntax->words, out);
    case TG_ARGUMENT_KIND:
      return read_kind(line, syntax->words, name, out);
    case TG_ARGUMENT_NUMBER:
      return read_number(line, syntax->words, syntax->min, syntax->max, syntax->base, name, out);
    case TG_ARGUMENT_WORD:
      return tg_line_word(line, syntax->words, name, out);
    case TG_ARGUMENT_OPTION:
      *out = tg_line_skip(line, syntax->words->words[1]);
      return true;
    case TG_ARGUMENT_DURATION:
      return read_wait(line, name, out);
    case TG_ARGUMENT_FLIP:
      return read_flip(line, out);
    case TG_ARGUMENT_INJECT:
      return read_inject(line, out);
    case TG_ARGUMENT_NONE:
      return true;
  }
  return false;
}

static bool add_step(struct assembler *a, struct tg_schedule_step step) {
  if (a->schedule->num_steps == TG_SCHEDULE_STEPS_MAX) {
    tg_error_set(a->line.err, "more than %u steps; a schedule has no room for more", TG_SCHEDULE_STEPS_MAX);
    return false;
  }
  a->schedule->steps[a->schedule->num_steps++] = step;
  return true;
}

// `cut N gap D` on one line is two steps.
static bool read_gap_of_cut(struct assembler *a, struct tg_schedule_step *step) {
  if (step->action != TG_SCHEDULE_CUT || !tg_line_skip(&a->line, "gap")) {
    return true;
  }
  if (!add_step(a, *step)) {
    return false;
  }
  step->action = TG_SCHEDULE_GAP;
  return read_value(&a->line, TG_SCHEDULE_GAP, &step->value);
}

static bool read_step(struct assembler *a, const char *first) {
  struct tg_schedule_step step = {.action = 0};
  const char *name = first;
  const bool client = strcmp(first, "client") == 0;
  if (client) {
    uint16_t number;
    if (!tg_line_number(&a->line, NULL, 0, TG_SCHEDULE_CLIENTS_MAX - 1, "client", &number)) {
      return false;
    }
    step.client = (uint8_t)number;
    name = tg_line_next(&a->line);
  }
  char list[LIST_MAX];
  const int action = name == NULL ? -1 : tg_words_find(&tg_words_actions, name);
  if (action < 0) {
    tg_error_set(a->line.err, "`%.40s` is no action; write `settings` or one of %s", name == NULL ? "" : name,
                 tg_words_join(&tg_words_actions, list, sizeof(list)));
    return false;
  }
  step.action = (uint8_t)action;
  if (client && !tg_schedule_names_client(step.action)) {
    tg_error_set(a->line.err, "%s concerns no single client; leave `client N` out", name);
    return false;
  }
  if (!client && tg_schedule_names_client(step.action)) {
    tg_error_set(a->line.err, "which client? write `client 0 %s`", name);
    return false;
  }
  if (step.action == TG_SCHEDULE_WAIT) {
    uint16_t wait;
    if (!read_wait(&a->line, "wait", &wait)) {
      return false;
    }
    step.wait = (uint8_t)wait;
    return add_step(a, step);
  }
  uint16_t wait = 0;
  if (!read_value(&a->line, step.action, &step.value) || !read_gap_of_cut(a, &step) ||
      (tg_line_skip(&a->line, "then") && !read_wait(&a->line, "wait", &wait))) {
    return false;
  }
  step.wait = (uint8_t)wait;
  return add_step(a, step);
}

static bool read_setting(struct assembler *a, const char *name) {
  size_t count, i = 0;
  const struct tg_setting *settings = tg_settings_table(&count);
  while (i < count && strcmp(settings[i].name, name) != 0) {
    i++;
  }
  if (i == count) {
    const char *names[TG_SETTINGS_MAX];
    for (size_t j = 0; j < count; j++) {
      names[j] = settings[j].name;
    }
    char list[LIST_MAX];
    tg_error_set(a->line.err, "`%.40s` is no setting; write one of %s", name,
                 tg_words_join(&(struct tg_words){names, count}, list, sizeof(list)));
    return false;
  }
  if (a->set[i]) {
    tg_error_set(a->line.err, "%s is set twice; leave one out", name);
    return false;
  }
  a->set[i] = true;
  uint8_t *field = (uint8_t *)&a->schedule->settings + settings[i].offset;
  uint16_t value = 1;
  if (settings[i].kind == TG_SETTING_FLAG) {
    *(bool *)field = true;
    return true;
  }
  if (settings[i].kind == TG_SETTING_WORD ? !tg_line_word(&a->line, &settings[i].words, name, &value)
                                          : !read_number(&a->line, &settings[i].words, settings[i].min, settings[i].max,
                                                         settings[i].base, name, &value)) {
    return false;
  }
  *field = (uint8_t)value;
  return true;
}

static bool read_settings(struct assembler *a) {
  if (a->schedule->num_steps > 0) {
    tg_error_set(a->line.err, "settings hold for the whole run; write them before the first step");
    return false;
  }
  for (const char *name; (name = tg_line_next(&a->line)) != NULL;) {
    if (!read_setting(a, name)) {
      return false;
    }
  }
  return true;
}

static bool read_line(struct assembler *a, const char *bytes, size_t len, struct tg_error *err) {
  if (!tg_line_read(&a->line, bytes, len, err)) {
    return false;
  }
  const char *first = tg_line_next(&a->line);
  if (first == NULL) {
    return true;
  }
  if (!(strcmp(first, "settings") == 0 ? read_settings(a) : read_step(a, first))) {
    return false;
  }
  const char *left = tg_line_peek(&a->line);
  if (left != NULL) {
    tg_error_set(err, "`%.40s` is one word too many; write one step a line, and `then 40ms` for what passes after it",
                 left);
  }
  return left == NULL;
}

bool tg_schedule_assemble(const char *text, size_t len, struct tg_schedule *out, struct tg_error *err) {
  memset(out, 0, sizeof(*out));
  tg_schedule_fold_settings(&out->settings);
  struct assembler a = {.schedule = out};
  unsigned number = 0;
  while (len > 0) {
    const char *newline = memchr(text, '\n', len);
    const size_t line = newline == NULL ? len : (size_t)(newline - text);
    struct tg_error problem;
    number++;
    if (!read_line(&a, text, line, &problem)) {
      tg_error_set(err, "line %u: %s", number, problem.text);
      return false;
    }
    const size_t used = line + (newline != NULL);
    text += used;
    len -= used;
  }
  return true;
}
