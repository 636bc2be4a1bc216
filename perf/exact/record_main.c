// record: measures the scenarios and accepts what they cost into baselines/exact.json. `record --help` and
// docs/exact.md say more.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/schedule/files.h"
#include "perf/exact/judge.h"
#include "perf/exact/options.h"
#include "perf/exact/repeat.h"
#include "perf/exact/run.h"
#include "perf/manifest/strict_json.h"

static const char kLines[] =
    "Measures every scenario of perf/exact/scenarios, writes the figures into baselines/exact.json under the keys of "
    "this\n"
    "build and CPU, and prints what has changed, for the commit message. A scenario that fails leaves the file as it "
    "was.\n"
    "Exit status: 0 recorded, or nothing has changed, 1 not recorded, 2 usage.\n";

static void print_change(const struct tg_exact_result *result, const struct tg_exact_row *row) {
  const enum tg_exact_section section = tg_exact_section_of(row->metric);
  printf("    %s: %s %s %" PRId64 " -> %" PRId64, result->figures->scenarios[row->scenario],
         tg_exact_section_name(section), tg_exact_metric_name(row->metric), row->baseline, row->now);
  if (tg_exact_is_counted(section) && row->baseline > 0) {
    printf(" (%+.2f %%)", 100 * (double)(row->now - row->baseline) / (double)row->baseline);
  }
  printf("\n");
}

// What the commit message should say: each figure that is not what it was, and keys that are new.
static void print_changes(const struct tg_exact_result *result) {
  printf("Exact figures accepted (baselines/exact.json):\n\n");
  for (int i = 0; i < TG_EXACT_SECTIONS; i++) {
    const enum tg_exact_section section = (enum tg_exact_section)i;
    if (!result->baseline->has[section]) {
      printf("    %s: recorded for the first time for", tg_exact_section_name(section));
      for (size_t key = 0; key < tg_exact_num_keys(section); key++) {
        printf("%s %s %s", key > 0 ? "," : "", tg_exact_key_name(key), tg_exact_key(&result->figures->keys, key));
      }
      printf("\n");
    }
  }
  size_t announced = result->figures->num_scenarios;
  for (size_t i = 0; i < result->num_rows; i++) {
    const struct tg_exact_row *row = &result->rows[i];
    // Every scenario has this figure.
    if (result->baseline->states[row->scenario][TG_EXACT_STALLS] == TG_EXACT_ABSENT) {
      if (row->scenario != announced) {
        announced = row->scenario;
        printf("    %s: recorded for the first time\n", result->figures->scenarios[announced]);
      }
      continue;
    }
    if ((row->verdict == TG_EXACT_PASS || row->verdict == TG_EXACT_FAIL) && row->now != row->baseline) {
      print_change(result, row);
    }
  }
}

static bool write_baseline(const char *path, const json_t *value, struct tg_error *err) {
  char *text = json_dumps(value, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
  char *lines = NULL;
  const int len = text == NULL ? -1 : asprintf(&lines, "%s\n", text);
  free(text);
  if (len < 0) {
    tg_error_set(err, "out of memory");
    return false;
  }
  const bool ok = tg_whole_file_write(path, (const uint8_t *)lines, (size_t)len, err);
  free(lines);
  return ok;
}

static bool record(const struct tg_exact_options *options, json_t *old, struct tg_error *err) {
  static struct tg_exact_figures figures;
  static struct tg_exact_baseline before;
  static struct tg_exact_result result;
  struct tg_exact_recorded recorded = {.runs = options->runs};
  if (!tg_exact_count(options->measure, options->scenarios, &figures, err) ||
      !tg_exact_repeat(options->measure, options->scenarios, &figures, &recorded, err) ||
      !tg_exact_baseline_read(options->baseline, old, &figures, TG_EXACT_RECORD, &before, err)) {
    return false;
  }
  json_t *value = tg_exact_baseline_write(old, &figures, &before, &recorded);
  if (value == NULL) {
    tg_error_set(err, "out of memory");
    return false;
  }
  bool ok = true;
  if (json_equal(value, old)) {
    printf("Nothing has changed: %s has these figures already.\n", options->baseline);
  } else if (write_baseline(options->baseline, value, err)) {
    tg_exact_judge(&figures, &before, &result);
    print_changes(&result);
  } else {
    ok = false;
  }
  json_decref(value);
  return ok;
}

int main(int argc, char **argv) {
  struct tg_exact_options options;
  const int ended = tg_exact_options_parse("record --exact", kLines, argc, argv, &options);
  if (ended >= 0) {
    return ended;
  }
  // Through the links of Bazel's tree: the file itself is replaced.
  char file[PATH_MAX];
  struct tg_error err;
  if (realpath(options.baseline, file) != NULL) {
    memcpy(options.baseline, file, sizeof(file));
  }
  json_t *old = tg_json_load(options.baseline, &err);
  const bool ok = old != NULL && record(&options, old, &err);
  json_decref(old);
  if (!ok) {
    fprintf(stderr, "record --exact: %s; %s is as it was\n", err.text, options.baseline);
    return TG_EXACT_EXIT_FAIL;
  }
  return fflush(stdout) == 0 ? TG_EXACT_EXIT_PASS : TG_EXACT_EXIT_FAIL;
}
