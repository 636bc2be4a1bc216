// The words of the text language, which the assembler, the disassembler and docs/schedules.md share.
#ifndef TLSGATE_FUZZ_SCHEDULE_WORDS_H
#define TLSGATE_FUZZ_SCHEDULE_WORDS_H

#include <stddef.h>
#include <stdint.h>

#include "fuzz/schedule/schedule.h"

// A list of words; the index of a word is its value.
struct tg_words {
  const char *const *words;
  size_t count;
};

extern const struct tg_words tg_words_actions, tg_words_connect_bits, tg_words_requests, tg_words_records,
    tg_words_failures, tg_words_delays, tg_words_off_on, tg_words_all;

// tg_words_find returns the index of `word`, or -1.
int tg_words_find(const struct tg_words *words, const char *word);

// tg_words_join writes the words with ", " between them and returns `out`.
const char *tg_words_join(const struct tg_words *words, char *out, size_t size);

// Descriptors that a limit always leaves: schedule.h's "8 + n".
#define TG_FDS_FLOOR 8

// What may follow an action.
enum tg_argument {
  TG_ARGUMENT_NONE,
  TG_ARGUMENT_BITS,      // any of `words`: a bit each
  TG_ARGUMENT_KIND,      // one of `words`: the low nibble; a size may follow
  TG_ARGUMENT_NUMBER,    // `min` to `max`, less `base`, or one of `words`: 0, 1, ...
  TG_ARGUMENT_WORD,      // one of `words`
  TG_ARGUMENT_OPTION,    // the second of `words`: 1; nothing: 0
  TG_ARGUMENT_DURATION,  // of the scale
  TG_ARGUMENT_FLIP,      // byte N bit N
  TG_ARGUMENT_INJECT,    // a failure [skip N] [times N]
};

struct tg_syntax {
  enum tg_argument argument;
  const struct tg_words *words;
  uint16_t min, max, base;
};

// tg_syntax_of returns what may follow an action in range.
const struct tg_syntax *tg_syntax_of(uint8_t action);

// A setting: a flag, one of `words`, or a number like TG_ARGUMENT_NUMBER's.
enum tg_setting_kind { TG_SETTING_FLAG, TG_SETTING_WORD, TG_SETTING_NUMBER };

struct tg_setting {
  const char *name;
  enum tg_setting_kind kind;
  size_t offset;   // in struct tg_schedule_settings: of a bool, or of a uint8_t
  uint8_t normal;  // not written by the disassembler
  struct tg_words words;
  uint16_t min, max, base;
};

// tg_settings_table returns all settings and how many, at most TG_SETTINGS_MAX.
#define TG_SETTINGS_MAX 16u
const struct tg_setting *tg_settings_table(size_t *count);

#endif
