#include "perf/tools/units.h"

#include <stdlib.h>
#include <string.h>

enum { TG_DECIMAL_MAX = 30 };

struct tg_suffix {
  enum tg_unit kind;
  const char *text;
  double factor;
};

static const struct tg_suffix tg_suffixes[] = {
    {TG_UNIT_SECONDS, "us", 1e-6},
    {TG_UNIT_SECONDS, "ms", 1e-3},
    {TG_UNIT_SECONDS, "s", 1},
    {TG_UNIT_SECONDS, "m", 60},
    {TG_UNIT_SECONDS, "h", 3600},
    {TG_UNIT_BYTES, "B", 1},
    {TG_UNIT_BYTES, "KB", 1024.0},
    {TG_UNIT_BYTES, "MB", 1024.0 * 1024},
    {TG_UNIT_BYTES, "GB", 1024.0 * 1024 * 1024},
    {TG_UNIT_BYTES, "TB", 1024.0 * 1024 * 1024 * 1024},
    {TG_UNIT_BYTES, "PB", 1024.0 * 1024 * 1024 * 1024 * 1024},
    {TG_UNIT_COUNT, "", 1},
    {TG_UNIT_COUNT, "k", 1e3},
    {TG_UNIT_COUNT, "M", 1e6},
    {TG_UNIT_COUNT, "G", 1e9},
    {TG_UNIT_COUNT, "T", 1e12},
    {TG_UNIT_COUNT, "P", 1e15},
};

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

size_t tg_decimal_parse(const char *text, size_t len, double *out) {
  size_t used = 0;
  bool point = false;
  while (used < len && (is_digit(text[used]) || (text[used] == '.' && !point))) {
    point = point || text[used] == '.';
    used++;
  }
  if (used == 0 || used > TG_DECIMAL_MAX || !is_digit(text[0]) || !is_digit(text[used - 1])) {
    return 0;
  }
  char number[TG_DECIMAL_MAX + 1];
  memcpy(number, text, used);
  number[used] = '\0';
  *out = strtod(number, NULL);
  return used;
}

size_t tg_quantity_parse(enum tg_unit kind, const char *text, size_t len, double *out) {
  double number = 0;
  const size_t digits = tg_decimal_parse(text, len, &number);
  if (digits == 0) {
    return 0;
  }
  size_t used = digits;
  while (used < len && is_letter(text[used])) {
    used++;
  }
  const size_t letters = used - digits;
  for (size_t i = 0; i < sizeof(tg_suffixes) / sizeof(tg_suffixes[0]); i++) {
    const struct tg_suffix *suffix = &tg_suffixes[i];
    if (suffix->kind == kind && strlen(suffix->text) == letters && memcmp(suffix->text, text + digits, letters) == 0) {
      *out = number * suffix->factor;
      return used;
    }
  }
  return 0;
}
