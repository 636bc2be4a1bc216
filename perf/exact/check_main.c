// check: measures the scenarios and compares them with baselines/exact.json. `check --help` and docs/exact.md say more.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/schedule/files.h"
#include "perf/exact/judge.h"
#include "perf/exact/options.h"
#include "perf/exact/run.h"
#include "perf/manifest/strict_json.h"

static const char kLines[] =
    "Measures every scenario of perf/exact/scenarios and compares each figure with baselines/exact.json.\n"
    "Exit status: 0 nothing has changed, 1 something has, or a scenario failed, 2 usage.\n";

// The name that is shown: the path is Bazel's.
static const char *shown_name(const char *baseline) {
  static const char kName[] = "baselines/exact.json";
  const size_t len = strlen(baseline);
  const size_t tail = sizeof(kName) - 1;
  return len >= tail && strcmp(baseline + len - tail, kName) == 0 ? kName : baseline;
}

// Says it, where it is asked for, and in JSON. Takes the reference.
static bool write_json(const struct tg_exact_options *options, json_t *json, struct tg_error *err) {
  const char *folder = options->out != NULL ? options->out : getenv("TEST_UNDECLARED_OUTPUTS_DIR");
  char path[PATH_MAX];
  char *text = json == NULL ? NULL : json_dumps(json, JSON_INDENT(2));
  json_decref(json);
  if (text == NULL) {
    tg_error_set(err, "out of memory");
    return false;
  }
  bool ok = true;
  if (folder != NULL) {
    (void)snprintf(path, sizeof(path), "%.3900s/exact.json", folder);
    ok = tg_whole_file_write(path, (const uint8_t *)text, strlen(text), err);
  }
  free(text);
  return ok;
}

static bool judge(const struct tg_exact_options *options, struct tg_exact_result *out, struct tg_error *err) {
  static struct tg_exact_figures figures;
  static struct tg_exact_baseline baseline;
  const char *name = shown_name(options->baseline);
  // Read first: what cannot be compared need not be measured.
  json_t *value = tg_json_load(options->baseline, err);
  const bool ok = value != NULL && tg_exact_count(options->measure, options->scenarios, &figures, err) &&
                  tg_exact_instructions(options->measure, options->scenarios, 0, &figures, err) &&
                  tg_exact_baseline_read(name, value, &figures, TG_EXACT_JUDGE, &baseline, err);
  json_decref(value);
  if (ok) {
    tg_exact_judge(&figures, &baseline, out);
  }
  return ok;
}

int main(int argc, char **argv) {
  struct tg_exact_options options;
  const int ended = tg_exact_options_parse("check", kLines, argc, argv, &options);
  if (ended >= 0) {
    return ended;
  }
  static struct tg_exact_result result;
  struct tg_error err;
  struct tg_error write_err;
  if (!judge(&options, &result, &err)) {
    fprintf(stderr, "exact: %s\n", err.text);
    if (!write_json(&options, tg_exact_failure_json(err.text), &write_err)) {
      fprintf(stderr, "exact: %s\n", write_err.text);
    }
    return TG_EXACT_EXIT_FAIL;
  }
  tg_exact_print(&result, stdout);
  if (!write_json(&options, tg_exact_result_json(&result), &write_err)) {
    fprintf(stderr, "exact: %s\n", write_err.text);
    return TG_EXACT_EXIT_FAIL;
  }
  return tg_exact_passed(&result) && fflush(stdout) == 0 ? TG_EXACT_EXIT_PASS : TG_EXACT_EXIT_FAIL;
}
