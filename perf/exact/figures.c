#include "perf/exact/figures.h"

#include <assert.h>

static const struct {
  const char *name;
  size_t num_keys;
} sections[TG_EXACT_SECTIONS] = {
    [TG_EXACT_CALLS] = {"calls", 0},
    [TG_EXACT_MEMORY] = {"memory", 1},
    [TG_EXACT_INSTRUCTIONS] = {"instructions", 2},
    [TG_EXACT_DISPATCHED] = {"dispatched", 3},
};

static const struct {
  const char *name;
  enum tg_exact_section section;
} metrics[TG_EXACT_METRICS - TG_CALL_COUNT] = {
    [TG_EXACT_REARMS - TG_CALL_COUNT] = {"rearms", TG_EXACT_CALLS},
    [TG_EXACT_WAKEUPS - TG_CALL_COUNT] = {"wakeups", TG_EXACT_CALLS},
    [TG_EXACT_STALLS - TG_CALL_COUNT] = {"stalls", TG_EXACT_CALLS},
    [TG_EXACT_ALLOCATIONS - TG_CALL_COUNT] = {"allocations", TG_EXACT_MEMORY},
    [TG_EXACT_BYTES - TG_CALL_COUNT] = {"bytes", TG_EXACT_MEMORY},
    [TG_EXACT_PEAK_BYTES - TG_CALL_COUNT] = {"peak_bytes", TG_EXACT_MEMORY},
    [TG_EXACT_ACCEPT - TG_CALL_COUNT] = {"accept", TG_EXACT_INSTRUCTIONS},
    [TG_EXACT_SERVER - TG_CALL_COUNT] = {"server", TG_EXACT_INSTRUCTIONS},
    [TG_EXACT_SSL - TG_CALL_COUNT] = {"ssl", TG_EXACT_DISPATCHED},
    [TG_EXACT_CRYPTO - TG_CALL_COUNT] = {"crypto", TG_EXACT_DISPATCHED},
};

const char *tg_exact_section_name(enum tg_exact_section section) {
  assert(section < TG_EXACT_SECTIONS);
  return sections[section].name;
}

bool tg_exact_is_call(int metric) {
  return metric < (int)TG_CALL_COUNT;
}

bool tg_exact_is_used(int metric) {
  return metric != (int)TG_CALL_MALLOC;
}

const char *tg_exact_metric_name(int metric) {
  // tg_call_name is the simulated kernel's, and to link that is to have one's calls wrapped.
  static const char *const kCalls[TG_CALL_COUNT] = {
#define TG_CALL_TEXT(name, text) text,
      TG_CALLS(TG_CALL_TEXT)
#undef TG_CALL_TEXT
  };
  assert(metric >= 0 && metric < (int)TG_EXACT_METRICS);
  return tg_exact_is_call(metric) ? kCalls[metric] : metrics[metric - TG_CALL_COUNT].name;
}

enum tg_exact_section tg_exact_section_of(int metric) {
  assert(metric >= 0 && metric < (int)TG_EXACT_METRICS);
  return tg_exact_is_call(metric) ? TG_EXACT_CALLS : metrics[metric - TG_CALL_COUNT].section;
}

size_t tg_exact_num_keys(enum tg_exact_section section) {
  assert(section < TG_EXACT_SECTIONS);
  return sections[section].num_keys;
}

const char *tg_exact_key_name(size_t key) {
  static const char *const kNames[] = {"boringssl", "compiler", "cpu"};
  assert(key < sizeof(kNames) / sizeof(kNames[0]));
  return kNames[key];
}

const char *tg_exact_key(const struct tg_exact_keys *keys, size_t key) {
  const char *const values[] = {keys->boringssl, keys->compiler, keys->cpu};
  assert(key < sizeof(values) / sizeof(values[0]));
  return values[key];
}

bool tg_exact_is_counted(enum tg_exact_section section) {
  return section == TG_EXACT_INSTRUCTIONS || section == TG_EXACT_DISPATCHED;
}
