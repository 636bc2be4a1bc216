#include "perf/exact/run.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "perf/exact/callgrind.h"
#include "perf/manifest/strict_json.h"
#include "perf/process/child.h"

#define SAID "what measure prints"

// perf/exact/measure.h
#define MEASURED_ENDS "tg_exact_measured_ends"
static const char *const kMeasured[] = {"tg_exact_measured_begins", MEASURED_ENDS, NULL};

// The last line of what a child said on standard error: there stands why it failed.
static void set_failure(const struct tg_child_result *result, const char *what, struct tg_error *err) {
  static const char kScenario[] = "scenario ";
  const char *scenario = NULL;
  for (const char *at = result->err; (at = strstr(at, kScenario)) != NULL; at++) {
    if (at == result->err || at[-1] == '\n') {
      scenario = at;
    }
  }
  const int name_len = scenario == NULL ? 0 : (int)strcspn(scenario, "\n");
  const char *why = scenario == NULL ? result->err : scenario + name_len + (scenario[name_len] == '\n');
  tg_error_set(err, "%s ended with status %d%s%.*s: %.*s", what, result->exit_status, name_len > 0 ? " in " : "",
               name_len < 60 ? name_len : 60, scenario == NULL ? "" : scenario, (int)strcspn(why, "\n"), why);
}

// Runs a child that must end with status 0; `what` is its name for errors. On true, `out` is to be released.
static bool run_child(const char *const argv[], const char *what, struct tg_child_result *out, struct tg_error *err) {
  if (!tg_child_run(argv, TG_EXACT_RUN_TIMEOUT_S, out, err)) {
    return false;
  }
  if (out->exit_status != 0) {
    set_failure(out, what, err);
    tg_child_result_free(out);
    return false;
  }
  return true;
}

static bool copy_text(struct tg_json_place *place, const char *key, char *out, size_t size) {
  const char *text = NULL;
  if (!tg_json_text(place, key, &text)) {
    return false;
  }
  if (strlen(text) >= size) {
    return tg_json_fail(place, key, "is longer than %zu bytes", size - 1);
  }
  memcpy(out, text, strlen(text) + 1);
  return true;
}

static bool read_calls(struct tg_json_place *counts, int64_t values[TG_EXACT_METRICS]) {
  struct tg_json_place calls;
  if (!tg_json_object(counts, "calls", &calls)) {
    return false;
  }
  for (int metric = 0; metric < (int)TG_CALL_COUNT; metric++) {
    long long count = 0;
    const char *name = tg_exact_metric_name(metric);
    if (tg_json_has(&calls, name) && !tg_json_integer(&calls, name, 0, INT64_MAX, &count)) {
      return false;
    }
    values[metric] = count;
  }
  return tg_json_close(&calls);
}

static bool read_counts(struct tg_json_place *scenarios, const char *name, int64_t values[TG_EXACT_METRICS]) {
  struct tg_json_place counts;
  if (!tg_json_object(scenarios, name, &counts) || !read_calls(&counts, values)) {
    return false;
  }
  for (int metric = TG_EXACT_REARMS; metric <= (int)TG_EXACT_PEAK_BYTES; metric++) {
    long long count = 0;
    if (!tg_json_integer(&counts, tg_exact_metric_name(metric), 0, INT64_MAX, &count)) {
      return false;
    }
    values[metric] = count;
  }
  return tg_json_close(&counts);
}

static bool read_scenarios(struct tg_json_place *root, struct tg_exact_figures *out) {
  struct tg_json_place scenarios;
  if (!tg_json_object(root, "scenarios", &scenarios)) {
    return false;
  }
  const char *name = NULL;
  json_t *value = NULL;
  out->num_scenarios = 0;
  json_object_foreach(scenarios.object, name, value) {
    if (out->num_scenarios == TG_SCENARIOS_MAX || strlen(name) >= TG_SCENARIO_NAME_MAX) {
      return tg_json_fail(&scenarios, name, "more scenarios, or a longer name, than fit");
    }
    const size_t at = out->num_scenarios++;
    memcpy(out->scenarios[at], name, strlen(name) + 1);
    // The names are data: what closes an object does not know them.
    if (!read_counts(&scenarios, out->scenarios[at], out->values[at])) {
      return false;
    }
  }
  return out->num_scenarios > 0 || tg_json_fail(root, "scenarios", "must not be empty");
}

static bool read_output(const struct tg_child_result *result, struct tg_exact_figures *out, char cpu[TG_CPU_TEXT_MAX],
                        struct tg_error *err) {
  json_t *value = tg_json_parse(SAID, result->out, strlen(result->out), err);
  struct tg_json_place root;
  const bool ok = value != NULL && tg_json_open(&root, SAID, value, err) && tg_json_schema(&root, 1) &&
                  copy_text(&root, "compiler", out->keys.compiler, sizeof(out->keys.compiler)) &&
                  copy_text(&root, "boringssl", out->keys.boringssl, sizeof(out->keys.boringssl)) &&
                  copy_text(&root, "cpu", cpu, TG_CPU_TEXT_MAX) && read_scenarios(&root, out) && tg_json_close(&root);
  json_decref(value);
  return ok;
}

bool tg_exact_count(const char *measure, const char *scenarios, struct tg_exact_figures *out, struct tg_error *err) {
  memset(out, 0, sizeof(*out));
  const char *argv[] = {measure, scenarios, NULL};
  struct tg_child_result result;
  if (!run_child(argv, "measuring", &result, err)) {
    return false;
  }
  const bool ok = read_output(&result, out, out->native_cpu, err);
  tg_child_result_free(&result);
  return ok;
}

static bool has_valgrind(struct tg_error *err) {
  const char *argv[] = {"valgrind", "--version", NULL};
  struct tg_child_result result;
  if (!run_child(argv, "valgrind", &result, NULL)) {
    tg_error_set(err,
                 "valgrind is not on this machine: install the Debian package valgrind (./tlsgate installs everything "
                 "that packages.txt lists)");
    return false;
  }
  tg_child_result_free(&result);
  return true;
}

// Cuts the profile before each call of a function of `cuts`.
static bool run_callgrind(const char *stripped, const char *scenarios, unsigned padding, const char *const cuts[],
                          int profile_fd, char cpu[TG_CPU_TEXT_MAX], struct tg_exact_figures *again,
                          struct tg_error *err) {
  static char cut_options[TG_EXACT_CUTS_MAX][128];
  char pad[300];
  char out_file[96];
  const int used = snprintf(pad, sizeof(pad), "TLSGATE_PADDING=");
  memset(pad + used, '.', sizeof(pad) - (size_t)used);
  pad[(size_t)used + padding % (sizeof(pad) - (size_t)used)] = '\0';
  (void)snprintf(out_file, sizeof(out_file), "--callgrind-out-file=/proc/%ld/fd/%d", (long)getpid(), profile_fd);
  // An environment of its own: its size moves the stack, and nothing of the caller's chooses code.
  const char *argv[TG_EXACT_CUTS_MAX + 20] = {"env",
                                              "-i",
                                              "PATH=/usr/bin:/bin",
                                              pad,
                                              "valgrind",
                                              "--tool=callgrind",
                                              "--quiet",
                                              "--combine-dumps=yes",
                                              "--compress-strings=no",
                                              "--compress-pos=no",
                                              "--dump-line=no",
                                              "--dump-instr=yes",
                                              "--toggle-collect=tg_shard_turn",
                                              out_file};
  size_t n = 14;
  for (size_t i = 0; i < TG_EXACT_CUTS_MAX && cuts[i] != NULL; i++) {
    (void)snprintf(cut_options[i], sizeof(cut_options[i]), "--dump-before=%s", cuts[i]);
    argv[n++] = cut_options[i];
  }
  argv[n++] = stripped;
  argv[n++] = "--once";
  argv[n++] = scenarios;
  struct tg_child_result result;
  if (!run_child(argv, "measuring under callgrind", &result, err)) {
    return false;
  }
  const bool ok = read_output(&result, again, cpu, err);
  tg_child_result_free(&result);
  return ok;
}

// It is the same program: what it counts is what it counted before.
static bool require_same(const struct tg_exact_figures *counted, const struct tg_exact_figures *again,
                         struct tg_error *err) {
  for (size_t i = 0; i < counted->num_scenarios; i++) {
    if (again->num_scenarios != counted->num_scenarios ||
        memcmp(again->values[i], counted->values[i], TG_EXACT_ACCEPT * sizeof(again->values[i][0])) != 0) {
      tg_error_set(err, "scenario %s: costs something else under callgrind than by itself", counted->scenarios[i]);
      return false;
    }
  }
  return true;
}

static bool read_map(const char *measure, struct tg_code_map *out, struct tg_error *err) {
  static const char kUnits[] = "--name=" TG_CODE_UNITS;
  const char *argv[] = {"llvm-dwarfdump", "--regex", kUnits, measure, NULL};
  struct tg_child_result result;
  if (!run_child(argv, "llvm-dwarfdump", &result, err)) {
    return false;
  }
  const bool ok = tg_code_map_parse(result.out, out, err);
  tg_child_result_free(&result);
  return ok;
}

// A profile in memory: nothing to clean up, whatever ends the run.
static int make_profile(struct tg_error *err) {
  const int profile_fd = memfd_create("tlsgate-callgrind", MFD_CLOEXEC);
  if (profile_fd < 0) {
    tg_error_set(err, "cannot make a file in memory: %s", strerror(errno));
  }
  return profile_fd;
}

// Takes the descriptor. Returns NULL with `err` filled in.
static FILE *open_profile(int profile_fd, struct tg_error *err) {
  FILE *profile = fdopen(profile_fd, "r");
  if (profile == NULL) {
    tg_error_set(err, "callgrind's profile: cannot be read: %s", strerror(errno));
    (void)close(profile_fd);
  }
  return profile;
}

static bool read_profile(int profile_fd, const struct tg_code_map *map, struct tg_exact_figures *out,
                         struct tg_error *err) {
  static struct tg_callgrind_sums sums[TG_SCENARIOS_MAX];
  FILE *profile = open_profile(profile_fd, err);
  if (profile == NULL) {
    return false;
  }
  const bool ok = tg_callgrind_read(profile, TG_EXACT_STRIPPED, map, MEASURED_ENDS, sums, out->num_scenarios, err);
  (void)fclose(profile);
  for (size_t i = 0; ok && i < out->num_scenarios; i++) {
    int64_t *values = out->values[i];
    values[TG_EXACT_ACCEPT] = sums[i].by_owner[TG_CODE_ACCEPT];
    values[TG_EXACT_SERVER] = sums[i].by_owner[TG_CODE_SERVER];
    values[TG_EXACT_SSL] = sums[i].by_owner[TG_CODE_SSL];
    values[TG_EXACT_CRYPTO] = sums[i].by_owner[TG_CODE_CRYPTO];
  }
  return ok;
}

static bool name_stripped(const char *measure, char out[PATH_MAX], struct tg_error *err) {
  if (snprintf(out, PATH_MAX, "%s" TG_EXACT_STRIPPED, measure) >= PATH_MAX) {
    tg_error_set(err, "%.100s...: the path is too long", measure);
    return false;
  }
  return true;
}

bool tg_exact_instructions(const char *measure, const char *scenarios, unsigned padding, struct tg_exact_figures *out,
                           struct tg_error *err) {
  static struct tg_exact_figures again;
  struct tg_code_map map;
  char stripped[PATH_MAX];
  memset(&again, 0, sizeof(again));
  if (!name_stripped(measure, stripped, err) || !has_valgrind(err) || !read_map(measure, &map, err)) {
    return false;
  }
  const int profile_fd = make_profile(err);
  if (profile_fd < 0) {
    tg_code_map_free(&map);
    return false;
  }
  bool ok = run_callgrind(stripped, scenarios, padding, kMeasured, profile_fd, out->keys.cpu, &again, err) &&
            require_same(out, &again, err);
  if (ok) {
    ok = read_profile(profile_fd, &map, out, err);
  } else {
    (void)close(profile_fd);
  }
  tg_code_map_free(&map);
  return ok;
}

bool tg_exact_parts(const char *measure, const char *scenarios, const char *const cuts[], struct tg_callgrind_part *out,
                    size_t size, size_t *num, struct tg_error *err) {
  static struct tg_exact_figures figures;
  struct tg_code_map map;
  char stripped[PATH_MAX];
  char cpu[TG_CPU_TEXT_MAX];
  memset(&figures, 0, sizeof(figures));
  if (!name_stripped(measure, stripped, err) || !has_valgrind(err) || !read_map(measure, &map, err)) {
    return false;
  }
  const int profile_fd = make_profile(err);
  bool ok = profile_fd >= 0 && run_callgrind(stripped, scenarios, 0, cuts, profile_fd, cpu, &figures, err);
  FILE *profile = ok ? open_profile(profile_fd, err) : NULL;
  if (!ok && profile_fd >= 0) {
    (void)close(profile_fd);
  }
  ok = profile != NULL && tg_callgrind_parts(profile, TG_EXACT_STRIPPED, &map, out, size, num, err);
  if (profile != NULL) {
    (void)fclose(profile);
  }
  tg_code_map_free(&map);
  return ok;
}
