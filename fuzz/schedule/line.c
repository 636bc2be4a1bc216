#include "fuzz/schedule/line.h"

#include <string.h>

#define LIST_MAX 440

bool tg_line_read(struct tg_line_reader *line, const char *bytes, size_t len, struct tg_error *err) {
  line->err = err;
  line->len = 0;
  line->at = 0;
  const char *comment = memchr(bytes, '#', len);
  if (comment != NULL) {
    len = (size_t)(comment - bytes);
  }
  if (len >= sizeof(line->text)) {
    tg_error_set(err, "longer than %zu bytes; write one step a line", sizeof(line->text) - 1);
    return false;
  }
  bool in_word = false;
  for (size_t i = 0; i < len; i++) {
    if (bytes[i] == '\0') {
      tg_error_set(err, "a NUL byte: this is no text; `schedule explain` and `disassemble` read encoded schedules");
      return false;
    }
    const bool space = bytes[i] == ' ' || bytes[i] == '\t' || bytes[i] == '\r';
    if (!space) {
      line->text[line->len++] = bytes[i];
    } else if (in_word) {
      line->text[line->len++] = '\0';
    }
    in_word = !space;
  }
  if (in_word) {
    line->text[line->len++] = '\0';
  }
  return true;
}

const char *tg_line_peek(const struct tg_line_reader *line) {
  return line->at < line->len ? &line->text[line->at] : NULL;
}

const char *tg_line_next(struct tg_line_reader *line) {
  const char *word = tg_line_peek(line);
  if (word != NULL) {
    line->at += strlen(word) + 1;
  }
  return word;
}

bool tg_line_skip(struct tg_line_reader *line, const char *word) {
  const char *next = tg_line_peek(line);
  if (next == NULL || strcmp(next, word) != 0) {
    return false;
  }
  (void)tg_line_next(line);
  return true;
}

bool tg_line_word(struct tg_line_reader *line, const struct tg_words *words, const char *what, uint16_t *out) {
  char list[LIST_MAX];
  const char *word = tg_line_next(line);
  if (word == NULL) {
    tg_error_set(line->err, "no %s; write one of %s", what, tg_words_join(words, list, sizeof(list)));
    return false;
  }
  const int found = tg_words_find(words, word);
  if (found < 0) {
    tg_error_set(line->err, "`%.40s` is no %s; write one of %s", word, what, tg_words_join(words, list, sizeof(list)));
    return false;
  }
  *out = (uint16_t)found;
  return true;
}

bool tg_line_number(struct tg_line_reader *line, const struct tg_words *words, uint16_t min, uint16_t max,
                    const char *what, uint16_t *out) {
  const char *word = tg_line_next(line);
  uint32_t number = 0;
  const char *at = word;
  for (; at != NULL && *at >= '0' && *at <= '9' && number <= max; at++) {
    number = number * 10 + (uint32_t)(*at - '0');
  }
  if (at != word && *at == '\0' && number >= min && number <= max) {
    *out = (uint16_t)number;
    return true;
  }
  static const struct tg_words none = {NULL, 0};
  char list[LIST_MAX];
  (void)tg_words_join(words == NULL ? &none : words, list, sizeof(list));
  const char * or = list[0] == '\0' ? "" : ", or ";
  if (word == NULL) {
    tg_error_set(line->err, "no %s; write a number from %u to %u%s%s", what, min, max, or, list);
  } else {
    tg_error_set(line->err, "%s `%.40s`: write a number from %u to %u%s%s", what, word, min, max, or, list);
  }
  return false;
}
