#include "fuzz/schedule/duration.h"

#include <stdio.h>
#include <string.h>

#include "fuzz/schedule/schedule.h"
#include "fuzz/schedule/wait.h"

static const struct {
  const char *name;
  uint64_t ns;
} units[] = {{"s", 1000000000}, {"ms", 1000000}, {"us", 1000}, {"ns", 1}};
#define UNITS  (sizeof(units) / sizeof(units[0]))
#define NS_MAX UINT64_C(3600000000000)
// Times the greatest unit, it still fits 64 bits.
#define NUMBER_MAX UINT64_C(10000000000)

static bool digit(char c) {
  return c >= '0' && c <= '9';
}

bool tg_duration_parse(const char *text, uint64_t *ns) {
  if (strcmp(text, "0") == 0) {
    *ns = 0;
    return true;
  }
  uint64_t number = 0, scale = 1;
  const char *point = NULL;
  const char *at = text;
  for (; digit(*at) || (*at == '.' && point == NULL && at > text); at++) {
    if (*at == '.') {
      point = at;
      continue;
    }
    number = number * 10 + (uint64_t)(*at - '0');
    scale *= point != NULL ? 10 : 1;
    if (number > NUMBER_MAX || scale > units[0].ns) {
      return false;
    }
  }
  if (at == text || (point != NULL && at == point + 1)) {
    return false;
  }
  for (size_t i = 0; i < UNITS; i++) {
    if (strcmp(at, units[i].name) == 0) {
      *ns = number * units[i].ns / scale;
      return number * units[i].ns % scale == 0 && *ns <= NS_MAX;
    }
  }
  return false;
}

const char *tg_duration_format(uint64_t ns, const char *gap, char out[TG_DURATION_TEXT_MAX]) {
  if (ns == 0) {
    (void)snprintf(out, TG_DURATION_TEXT_MAX, "0");
    return out;
  }
  size_t i = 0;
  while (units[i].ns > ns) {
    i++;
  }
  char fraction[16];
  int digits = 0;
  for (uint64_t left = units[i].ns; left > 1; left /= 10) {
    digits++;
  }
  (void)snprintf(fraction, sizeof(fraction), ".%0*llu", digits, (unsigned long long)(ns % units[i].ns));
  size_t len = strlen(fraction);
  while (fraction[len - 1] == '0') {
    len--;
  }
  if (fraction[len - 1] == '.') {
    len--;
  }
  (void)snprintf(out, TG_DURATION_TEXT_MAX, "%llu%.*s%s%s", (unsigned long long)(ns / units[i].ns), (int)len, fraction,
                 gap, units[i].name);
  return out;
}

bool tg_wait_parse(const char *text, uint8_t *wait, struct tg_error *err) {
  if (strcmp(text, "rest") == 0) {
    *wait = TG_SCHEDULE_WAIT_REST;
    return true;
  }
  uint64_t ns;
  if (!tg_duration_parse(text, &ns)) {
    tg_error_set(err, "`%.40s` is no duration; write a number with ns, us, ms or s, like 40ms, or 0, or rest", text);
    return false;
  }
  *wait = tg_schedule_wait_floor(ns);
  if (tg_schedule_wait_ns(*wait) == ns) {
    return true;
  }
  char below[TG_DURATION_TEXT_MAX], above[TG_DURATION_TEXT_MAX];
  if (*wait == TG_SCHEDULE_WAIT_MAX) {
    tg_error_set(err, "%.40s is over the longest wait, %s; write that, or several waits", text,
                 tg_wait_format(*wait, below));
  } else {
    tg_error_set(err, "%.40s is not on the scale of waits; the nearest are %s and %s", text,
                 tg_wait_format(*wait, below), tg_wait_format(*wait + 1, above));
  }
  return false;
}

const char *tg_wait_format(uint8_t wait, char out[TG_DURATION_TEXT_MAX]) {
  if (wait == TG_SCHEDULE_WAIT_REST) {
    (void)snprintf(out, TG_DURATION_TEXT_MAX, "rest");
    return out;
  }
  return tg_duration_format(tg_schedule_wait_ns(wait), "", out);
}
