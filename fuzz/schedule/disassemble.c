#include "fuzz/schedule/duration.h"
#include "fuzz/schedule/fold.h"
#include "fuzz/schedule/text.h"
#include "fuzz/schedule/words.h"

static void write_number(uint16_t value, const struct tg_words *words, uint16_t base, FILE *to) {
  if (words != NULL && value < words->count) {
    (void)fprintf(to, " %s", words->words[value]);
  } else {
    (void)fprintf(to, " %u", value + base);
  }
}

static void write_bits(uint16_t value, const struct tg_words *words, FILE *to) {
  for (size_t bit = 0; bit < words->count; bit++) {
    if (value >> bit & 1) {
      (void)fprintf(to, " %s", words->words[bit]);
    }
  }
}

static void write_kind(uint16_t value, const struct tg_words *words, FILE *to) {
  (void)fprintf(to, " %s", words->words[value & 0xf]);
  if (value >> 4 != 0) {
    (void)fprintf(to, " %u", value >> 4);
  }
}

static void write_inject(uint16_t value, FILE *to) {
  const unsigned skip = value >> 5 & 7, times = value >> 8;
  (void)fprintf(to, " %s", tg_words_failures.words[value & 0x1f]);
  if (skip != 0) {
    (void)fprintf(to, " skip %u", skip);
  }
  if (times == 0) {
    (void)fputs(" times all", to);
  } else {
    (void)fprintf(to, " times %u", times);
  }
}

static void write_value(const struct tg_schedule_step *step, FILE *to) {
  const struct tg_syntax *syntax = tg_syntax_of(step->action);
  char duration[TG_DURATION_TEXT_MAX];
  switch (syntax->argument) {
    case TG_ARGUMENT_BITS:
      write_bits(step->value, syntax->words, to);
      break;
    case TG_ARGUMENT_KIND:
      write_kind(step->value, syntax->words, to);
      break;
    case TG_ARGUMENT_NUMBER:
      write_number(step->value, syntax->words, syntax->base, to);
      break;
    case TG_ARGUMENT_WORD:
      (void)fprintf(to, " %s", syntax->words->words[step->value]);
      break;
    case TG_ARGUMENT_OPTION:
      write_bits((uint16_t)(step->value << 1), syntax->words, to);
      break;
    case TG_ARGUMENT_DURATION:
      (void)fprintf(to, " %s", tg_wait_format((uint8_t)step->value, duration));
      break;
    case TG_ARGUMENT_FLIP:
      (void)fprintf(to, " byte %u bit %u", step->value >> 3, step->value & 7);
      break;
    case TG_ARGUMENT_INJECT:
      write_inject(step->value, to);
      break;
    case TG_ARGUMENT_NONE:
      break;
  }
}

static void write_step(const struct tg_schedule_step *step, FILE *to) {
  char duration[TG_DURATION_TEXT_MAX];
  if (tg_schedule_names_client(step->action)) {
    (void)fprintf(to, "client %u ", step->client);
  }
  (void)fputs(tg_words_actions.words[step->action], to);
  write_value(step, to);
  if (step->action == TG_SCHEDULE_WAIT) {
    (void)fprintf(to, " %s", tg_wait_format(step->wait, duration));
  } else if (step->wait != 0) {
    (void)fprintf(to, " then %s", tg_wait_format(step->wait, duration));
  }
  (void)fputc('\n', to);
}

static void write_settings(const struct tg_schedule_settings *settings, FILE *to) {
  size_t count;
  bool any = false;
  const struct tg_setting *setting = tg_settings_table(&count);
  for (; count > 0; setting++, count--) {
    const uint8_t *field = (const uint8_t *)settings + setting->offset;
    const uint8_t value = setting->kind == TG_SETTING_FLAG ? *(const bool *)field : *field;
    if (value == setting->normal) {
      continue;
    }
    (void)fprintf(to, "%s%s", any ? " " : "settings ", setting->name);
    any = true;
    if (setting->kind == TG_SETTING_WORD) {
      (void)fprintf(to, " %s", setting->words.words[value]);
    } else if (setting->kind == TG_SETTING_NUMBER) {
      (void)fprintf(to, " %u", value + setting->base);
    }
  }
  if (any) {
    (void)fputc('\n', to);
  }
}

void tg_schedule_disassemble(const struct tg_schedule *schedule, FILE *to) {
  write_settings(&schedule->settings, to);
  for (size_t i = 0; i < schedule->num_steps; i++) {
    write_step(&schedule->steps[i], to);
  }
}
