#include "perf/exact/scenario.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/schedule/files.h"
#include "fuzz/schedule/text.h"

static const char kExpects[] = "# expects:";
static const char kMeasured[] = "# measured\n";
static const char kSuffix[] = ".txt";

// Returns the counter, or NULL if there is none of that name.
static const uint64_t *counter(const struct tg_counters *counters, const char *name) {
#define TG_COUNTER_BY_NAME(field, meaning) \
  if (strcmp(name, #field) == 0) {         \
    return &counters->field;               \
  }
  TG_COUNTERS(TG_COUNTER_BY_NAME)
#undef TG_COUNTER_BY_NAME
  return NULL;
}

static bool is_responses(const char *name) {
  return strcmp(name, "responses") == 0;
}

static bool name_of(const char *file, char out[TG_SCENARIO_NAME_MAX], struct tg_error *err) {
  const char *slash = strrchr(file, '/');
  const char *name = slash == NULL ? file : slash + 1;
  const size_t len = strlen(name);
  const size_t suffix = sizeof(kSuffix) - 1;
  if (len <= suffix || len - suffix >= TG_SCENARIO_NAME_MAX || strcmp(name + len - suffix, kSuffix) != 0) {
    tg_error_set(err, "%.300s: a scenario is named NAME.txt, with a NAME of at most %d bytes", file,
                 TG_SCENARIO_NAME_MAX - 1);
    return false;
  }
  memcpy(out, name, len - suffix);
  out[len - suffix] = '\0';
  return true;
}

// Returns the line that begins with `mark`, or NULL.
static const char *line_with(const char *text, const char *mark) {
  const size_t len = strlen(mark);
  while (strncmp(text, mark, len) != 0) {
    text = strchr(text, '\n');
    if (text == NULL) {
      return NULL;
    }
    text++;
  }
  return text;
}

static bool read_expectations(const char *file, const char *line, struct tg_scenario *out, struct tg_error *err) {
  char copy[256];
  const size_t len = strcspn(line, "\n");
  if (len >= sizeof(copy)) {
    tg_error_set(err, "%.300s: the line \"%s\" is longer than %zu bytes", file, kExpects, sizeof(copy) - 1);
    return false;
  }
  memcpy(copy, line, len);
  copy[len] = '\0';
  static const struct tg_counters nothing;
  char *rest = NULL;
  for (char *name = strtok_r(copy, " ", &rest); name != NULL; name = strtok_r(NULL, " ", &rest)) {
    const char *number = strtok_r(NULL, " ", &rest);
    char *end = NULL;
    const unsigned long long value = number == NULL ? 0 : strtoull(number, &end, 10);
    struct tg_expectation *expectation = &out->expectations[out->num_expectations];
    if (out->num_expectations == TG_EXPECTATIONS_MAX || (!is_responses(name) && counter(&nothing, name) == NULL) ||
        strlen(name) >= sizeof(expectation->name) || end == NULL || *end != '\0') {
      tg_error_set(err,
                   "%.300s: \"%s\" takes at most %d pairs of a name and a number; a name is `responses` or one of "
                   "harness/accept/counters.h: correct it at \"%.40s\"",
                   file, kExpects, TG_EXPECTATIONS_MAX, name);
      return false;
    }
    memcpy(expectation->name, name, strlen(name) + 1);
    expectation->value = value;
    out->num_expectations++;
  }
  return true;
}

bool tg_scenario_parse(const char *file, const char *text, size_t len, struct tg_scenario *out, struct tg_error *err) {
  memset(out, 0, sizeof(*out));
  if (!name_of(file, out->name, err)) {
    return false;
  }
  const char *expects = line_with(text, kExpects);
  const char *measured = line_with(text, kMeasured);
  if (expects == NULL || measured == NULL) {
    tg_error_set(err, "%.300s: needs a line \"%s NAME NUMBER...\" and a line \"# measured\"; perf/exact/scenario.h",
                 file, kExpects);
    return false;
  }
  if (!read_expectations(file, expects + sizeof(kExpects) - 1, out, err)) {
    return false;
  }
  // What comes before the mark is a schedule by itself, of as many steps.
  static struct tg_schedule before;
  struct tg_error why;
  if (!tg_schedule_assemble(text, (size_t)(measured - text), &before, &why) ||
      !tg_schedule_assemble(text, len, &out->schedule, &why)) {
    tg_error_set(err, "%.300s: %s", file, why.text);
    return false;
  }
  out->first_measured = before.num_steps;
  if (out->num_expectations == 0 || out->first_measured == out->schedule.num_steps) {
    tg_error_set(err, "%.300s: expects nothing, or has no step behind \"# measured\": it could not fail", file);
    return false;
  }
  return true;
}

static int is_scenario(const struct dirent *entry) {
  const size_t len = strlen(entry->d_name);
  const size_t suffix = sizeof(kSuffix) - 1;
  return len > suffix && strcmp(entry->d_name + len - suffix, kSuffix) == 0;
}

static bool read_one(const char *folder, const char *name, struct tg_scenario *out, struct tg_error *err) {
  char path[PATH_MAX];
  (void)snprintf(path, sizeof(path), "%.3800s/%.255s", folder, name);
  struct tg_whole_file file;
  if (!tg_whole_file_read(path, &file, err)) {
    return false;
  }
  // tg_whole_file_read leaves room for one more byte.
  file.bytes[file.len] = '\0';
  const bool ok = tg_scenario_parse(path, (const char *)file.bytes, file.len, out, err);
  tg_whole_file_free(&file);
  return ok;
}

bool tg_scenarios_read(const char *folder, struct tg_scenario *out, size_t *out_num, struct tg_error *err) {
  struct dirent **entries = NULL;
  const int num = scandir(folder, &entries, is_scenario, alphasort);
  if (num < 1 || num > TG_SCENARIOS_MAX) {
    tg_error_set(err, "%.300s: has no scenarios NAME.txt, or more than %d%s%s; name the folder perf/exact/scenarios",
                 folder, TG_SCENARIOS_MAX, num < 0 ? ": " : "", num < 0 ? strerror(errno) : "");
  }
  bool ok = num >= 1 && num <= TG_SCENARIOS_MAX;
  for (int i = 0; i < num; i++) {
    ok = ok && read_one(folder, entries[i]->d_name, &out[i], err);
    free(entries[i]);
  }
  free(entries);
  *out_num = ok ? (size_t)num : 0;
  return ok;
}

bool tg_scenario_check(const struct tg_scenario *scenario, const struct tg_counters *counters, uint64_t responses,
                       struct tg_error *err) {
  for (size_t i = 0; i < scenario->num_expectations; i++) {
    const struct tg_expectation *expected = &scenario->expectations[i];
    const uint64_t value = is_responses(expected->name) ? responses : *counter(counters, expected->name);
    if (value != expected->value) {
      tg_error_set(err, "scenario %s: %s is %" PRIu64 " and should be %" PRIu64, scenario->name, expected->name, value,
                   expected->value);
      return false;
    }
  }
  return true;
}
