#include "harness/kernel/conformance/schedule.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NONE_BELOW_MS  20
#define STALL_FROM_MS  36
#define STALL_UP_TO_MS 60
#define LONG_FROM_MS   180
#define WRITE_MAX      65536u
#define SLEEP_MAX_MS   1000u
#define BUFFER_MIN     2304u
#define BUFFER_MAX     65536u
#define MSS_MIN        88u
#define MSS_MAX        1448u

enum value { VALUE_NONE, VALUE_MAY, VALUE_MUST };

static const struct {
  const char *name;
  enum value value;
  uint32_t min;
  uint32_t max;
} verbs[TG_VERBS] = {
    [TG_VERB_WRITE] = {"write", VALUE_MUST, 1, WRITE_MAX},
    [TG_VERB_MORE] = {"more", VALUE_MUST, 1, WRITE_MAX},
    [TG_VERB_READ] = {"read", VALUE_MAY, 1, WRITE_MAX},
    [TG_VERB_AWAIT] = {"await", VALUE_MAY, 1, WRITE_MAX},
    [TG_VERB_QUICKACK] = {"quickack", VALUE_MUST, 0, 255},
    [TG_VERB_NODELAY] = {"nodelay", VALUE_MUST, 0, 1},
    [TG_VERB_CORK] = {"cork", VALUE_MUST, 0, 1},
    [TG_VERB_SHUTDOWN] = {"shutdown", VALUE_NONE, 0, 0},
    [TG_VERB_SLEEP] = {"sleep", VALUE_MUST, 1, SLEEP_MAX_MS},
};

enum tg_wait tg_wait_of(uint64_t took_ns) {
  uint64_t took_ms = took_ns / TG_SIM_NS_PER_MS;
  if (took_ms < NONE_BELOW_MS) {
    return TG_WAIT_NONE;
  }
  if (took_ms >= STALL_FROM_MS && took_ms <= STALL_UP_TO_MS) {
    return TG_WAIT_STALL;
  }
  return took_ms >= LONG_FROM_MS ? TG_WAIT_LONG : TG_WAIT_ODD;
}

__attribute__((format(printf, 3, 4))) static bool fail(char *error, size_t error_len, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(error, error_len, format, args);
  va_end(args);
  return false;
}

static bool side_of(const char *word, enum tg_tcp_side *out) {
  if (strcmp(word, "c") != 0 && strcmp(word, "s") != 0) {
    return false;
  }
  *out = word[0] == 'c' ? TG_TCP_CLIENT : TG_TCP_SERVER;
  return true;
}

static bool in(uint32_t value, uint32_t min, uint32_t max) {
  return value >= min && value <= max;
}

// The words of a step, and its number if the last is one.
struct words {
  char word[3][16];
  int num_words;
  uint32_t value;
  bool has_value;
};

static bool split(const char *text, struct words *out) {
  int used = 0;
  memset(out, 0, sizeof(*out));
  while (sscanf(text, "%15s%n", out->word[out->num_words], &used) == 1) {
    const char *word = out->word[out->num_words];
    if (word[strspn(word, "0123456789")] == '\0' && strlen(word) <= 6) {
      if (sscanf(word, "%u", &out->value) != 1) {
        return false;
      }
      out->has_value = true;
      text += used;
      return text[strspn(text, " ")] == '\0';
    }
    text += used;
    if (++out->num_words == 3) {
      return false;
    }
  }
  return out->num_words > 0;
}

// A setting changes `out` and is done with; 1: it was one, 0: it was none, -1: a bad one.
static int setting(struct tg_schedule *out, const struct words *words) {
  const char *name = words->word[0];
  enum tg_tcp_side side;
  if (words->num_words == 1 && strcmp(name, "mss") == 0) {
    out->mss = words->value;
    return words->has_value && in(words->value, MSS_MIN, MSS_MAX) ? 1 : -1;
  }
  if (words->num_words == 1 && strcmp(name, "thresh") == 0) {
    out->threshold = words->value;
    return words->has_value && in(words->value, 1, UINT8_MAX) ? 1 : -1;
  }
  if (words->num_words == 1 && strcmp(name, "listen") == 0) {
    out->listen = (int)words->value;
    return words->has_value && in(words->value, 0, UINT8_MAX) ? 1 : -1;
  }
  if (words->num_words == 2 && strcmp(name, "buffer") == 0 && side_of(words->word[1], &side)) {
    out->buffer[side] = words->value;
    return words->has_value && in(words->value, BUFFER_MIN, BUFFER_MAX) ? 1 : -1;
  }
  return 0;
}

static bool step(struct tg_step *out, const struct words *words) {
  const char *name = words->word[words->num_words - 1];
  out->side = TG_TCP_SERVER;
  out->value = words->value;
  for (enum tg_verb verb = 0; verb < TG_VERBS; verb++) {
    if (strcmp(name, verbs[verb].name) != 0) {
      continue;
    }
    out->verb = verb;
    if (words->has_value ? verbs[verb].value == VALUE_NONE || !in(words->value, verbs[verb].min, verbs[verb].max)
                         : verbs[verb].value == VALUE_MUST) {
      return false;
    }
    return verb == TG_VERB_SLEEP ? words->num_words == 1 : words->num_words == 2 && side_of(words->word[0], &out->side);
  }
  return false;
}

bool tg_schedule_parse(struct tg_schedule *out, const char *text, char *error, size_t error_len) {
  *out = (struct tg_schedule){.threshold = 1, .listen = -1};
  size_t awaits = 0;
  while (*text != '\0') {
    size_t len = strcspn(text, ",");
    char part[64];
    if (len >= sizeof(part)) {
      return fail(error, error_len, "step %zu is too long", out->num_steps + 1);
    }
    memcpy(part, text, len);
    part[len] = '\0';
    text += len + (text[len] == ',' ? 1 : 0);
    struct words words;
    if (!split(part, &words)) {
      return fail(error, error_len, "step %zu: cannot read '%s'", out->num_steps + 1, part);
    }
    int is_setting = setting(out, &words);
    if (is_setting < 0 || (is_setting > 0 && out->num_steps > 0)) {
      return fail(error, error_len, "setting '%s' is out of range, or behind a step", part);
    }
    if (is_setting > 0) {
      continue;
    }
    if (out->num_steps == TG_STEPS_MAX) {
      return fail(error, error_len, "more than %u steps", TG_STEPS_MAX);
    }
    struct tg_step *next = &out->steps[out->num_steps++];
    if (!step(next, &words)) {
      return fail(error, error_len, "step %zu: '%s' is no step, or its number is out of range", out->num_steps, part);
    }
    awaits += next->verb == TG_VERB_AWAIT;
  }
  if (awaits == 0 || awaits > TG_AWAITS_MAX) {
    return fail(error, error_len, "%zu awaits: 1 to %u are needed", awaits, TG_AWAITS_MAX);
  }
  return true;
}

static char *add(char *at, const char *first, const char *format, ...) __attribute__((format(printf, 3, 4)));
static char *add(char *at, const char *first, const char *format, ...) {
  if (at != first) {
    at += sprintf(at, ", ");
  }
  va_list args;
  va_start(args, format);
  at += vsprintf(at, format, args);
  va_end(args);
  return at;
}

void tg_schedule_print(const struct tg_schedule *schedule, char *out) {
  // The longest step, "s quickack 65536, ", is 18 bytes.
  static_assert((TG_STEPS_MAX + 5) * 20 < TG_SCHEDULE_TEXT_MAX, "a schedule fits its text");
  static const char names[] = {[TG_TCP_SERVER] = 's', [TG_TCP_CLIENT] = 'c'};
  char *at = out;
  *at = '\0';
  if (schedule->mss != 0) {
    at = add(at, out, "mss %u", schedule->mss);
  }
  if (schedule->threshold != 1) {
    at = add(at, out, "thresh %u", schedule->threshold);
  }
  for (int side = 0; side < 2; side++) {
    if (schedule->buffer[side] != 0) {
      at = add(at, out, "buffer %c %u", names[side], schedule->buffer[side]);
    }
  }
  if (schedule->listen >= 0) {
    at = add(at, out, "listen %d", schedule->listen);
  }
  for (size_t i = 0; i < schedule->num_steps; i++) {
    const struct tg_step *step_at = &schedule->steps[i];
    const char *name = verbs[step_at->verb].name;
    bool value = verbs[step_at->verb].value == VALUE_MUST || step_at->value != 0;
    if (step_at->verb == TG_VERB_SLEEP) {
      at = add(at, out, "sleep %u", step_at->value);
    } else if (value) {
      at = add(at, out, "%c %s %u", names[step_at->side], name, step_at->value);
    } else {
      at = add(at, out, "%c %s", names[step_at->side], name);
    }
  }
}
