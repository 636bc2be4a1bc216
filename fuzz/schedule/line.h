// A line of text being read, word by word. The first thing that is not understood stays in `err`.
#ifndef TLSGATE_FUZZ_SCHEDULE_LINE_H
#define TLSGATE_FUZZ_SCHEDULE_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fuzz/schedule/words.h"
#include "harness/base/error.h"

#define TG_LINE_BYTES_MAX 512

struct tg_line_reader {
  char text[TG_LINE_BYTES_MAX];  // the words, each ended by a NUL
  size_t len, at;
  struct tg_error *err;
};

// tg_line_read takes a line without its newline, cuts off the comment and finds the words. Returns false with `err`
// filled in for a line that is too long or has a NUL.
bool tg_line_read(struct tg_line_reader *line, const char *bytes, size_t len, struct tg_error *err);

// tg_line_peek returns the next word, NULL at the end; tg_line_next moves past it too.
const char *tg_line_peek(const struct tg_line_reader *line);
const char *tg_line_next(struct tg_line_reader *line);

// tg_line_skip moves past the next word if it is `word`, and returns whether.
bool tg_line_skip(struct tg_line_reader *line, const char *word);

// These read a word that must be there: one of a list, or a decimal number from `min` to `max`. `what` names it in the
// error. tg_line_number does not read the words of `words`, but names them in the error; NULL: there are none.
bool tg_line_word(struct tg_line_reader *line, const struct tg_words *words, const char *what, uint16_t *out);
bool tg_line_number(struct tg_line_reader *line, const struct tg_words *words, uint16_t min, uint16_t max,
                    const char *what, uint16_t *out);

#endif
