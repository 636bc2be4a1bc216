#include "fuzz/oss-fuzz/check/trial.h"

#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz/launcher/files.h"
#include "perf/process/child.h"

// MemorySanitizer's runs are ten times as long as a plain one's.
#define TRIAL_TIMEOUT_S 600.0
#define START_RUNS      4
#define ARGS_MAX        64
// How many of the seeds are given to one program by name.
#define NAMED_SEEDS_MAX 40

struct command {
  const char *argv[ARGS_MAX];
  size_t num;
  char texts[8][PATH_MAX + 32];
  size_t num_texts;
};

static void add(struct command *command, const char *text) {
  if (command->num + 1 < ARGS_MAX) {
    command->argv[command->num++] = text;
    command->argv[command->num] = NULL;
  }
}

static char *next_text(struct command *command) {
  return command->texts[command->num_texts++];
}

static bool is(const char *text, const char *other) {
  return strcmp(text, other) == 0;
}

// The line of what a program said that tells most: the last that names an error or a property, or else the last.
static void quote(const char *said, char *line, size_t size) {
  static const char *const telling[] = {"property ", "ERROR: ", "WARNING: MemorySanitizer",
                                        "runtime error:", "PROGRAM ABORT"};
  const char *found = NULL;
  const char *last = "";
  for (const char *at = said; *at != '\0'; at += strcspn(at, "\n"), at += *at == '\n') {
    size_t len = strcspn(at, "\n");
    for (size_t i = 0; found == NULL && i < sizeof(telling) / sizeof(telling[0]); i++) {
      found = memmem(at, len, telling[i], strlen(telling[i])) != NULL ? at : NULL;
    }
    last = len > 0 ? at : last;
  }
  const char *from = found != NULL ? found : last;
  (void)snprintf(line, size, "%.*s", (int)(strcspn(from, "\n") < size ? strcspn(from, "\n") : size - 1), from);
}

// Runs it and holds its status and what it said against what was wanted; `must_say` NULL: nothing.
static bool run(const struct command *command, const char *must_say, const char *what, struct tg_error *err) {
  struct tg_child_result result;
  if (!tg_child_run(command->argv, TRIAL_TIMEOUT_S, &result, err)) {
    return false;
  }
  bool said = must_say == NULL || strstr(result.err, must_say) != NULL || strstr(result.out, must_say) != NULL;
  bool good = result.exit_status == 0 && said;
  if (!good) {
    char line[200];
    quote(result.err[0] != '\0' ? result.err : result.out, line, sizeof(line));
    tg_error_set(err, "%s (exit status %d): %s", what, result.exit_status, line);
  }
  tg_child_result_free(&result);
  return good;
}

static void add_program(const struct tg_trial *trial, struct command *command) {
  char *program = next_text(command);
  (void)snprintf(program, sizeof(command->texts[0]), "%s/%s", trial->out, trial->name);
  add(command, program);
}

static void add_options(const struct tg_trial *trial, struct command *command) {
  add(command, "-seed=1337");
  add(command, "-rss_limit_mb=2560");
  add(command, "-timeout=25");
  for (size_t i = 0; i < trial->options->num_args; i++) {
    add(command, trial->options->args[i]);
  }
  if (trial->options->dict[0] != '\0') {
    char *dict = next_text(command);
    (void)snprintf(dict, sizeof(command->texts[0]), "-dict=%s/%s", trial->out, trial->options->dict);
    add(command, dict);
  }
}

// libAFLDriver.a runs the files that it is given, each once.
static bool start_on_files(const struct tg_trial *trial, struct tg_error *err) {
  struct tg_file_list seeds = {.num = 0};
  if (!tg_files_add(&seeds, trial->seeds, err)) {
    return false;
  }
  struct command command = {.num = 0};
  add_program(trial, &command);
  for (size_t i = 0; i < seeds.num && i < NAMED_SEEDS_MAX; i++) {
    add(&command, seeds.paths[i]);
  }
  bool good = run(&command, NULL, "does not start, or fails on a seed", err);
  tg_files_free(&seeds);
  return good;
}

bool tg_trial_start(const struct tg_trial *trial, struct tg_error *err) {
  if (is(trial->combination->engine, "afl")) {
    return start_on_files(trial, err);
  }
  struct command command = {.num = 0};
  char runs[32];
  char done[32];
  (void)snprintf(runs, sizeof(runs), "-runs=%d", START_RUNS);
  (void)snprintf(done, sizeof(done), "Done %d runs", START_RUNS);
  add_program(trial, &command);
  add_options(trial, &command);
  add(&command, runs);
  return run(&command, is(trial->combination->sanitizer, "coverage") ? NULL : done, "does not start", err);
}

static bool fuzz_libfuzzer(const struct tg_trial *trial, struct tg_error *err) {
  struct command command = {.num = 0};
  char runs[48];
  char done[48];
  (void)snprintf(runs, sizeof(runs), "-runs=%zu", trial->num_seeds + TG_TRIAL_RUNS);
  (void)snprintf(done, sizeof(done), "Done %zu runs", trial->num_seeds + TG_TRIAL_RUNS);
  add_program(trial, &command);
  add_options(trial, &command);
  add(&command, runs);
  add(&command, trial->scratch);
  add(&command, trial->seeds);
  return run(&command, done, "fails on its seeds or soon after", err);
}

static bool fuzz_afl(const struct tg_trial *trial, struct tg_error *err) {
  struct command command = {.num = 0};
  char *found = next_text(&command);
  (void)snprintf(found, sizeof(command.texts[0]), "%s/afl", trial->scratch);
  char runs[32];
  (void)snprintf(runs, sizeof(runs), "%zu", 4 * trial->num_seeds + TG_TRIAL_RUNS);
  const char *const args[] = {"afl-fuzz", "-i", trial->seeds, "-o", found, "-m",
                              "none",     "-t", "25000",      "-E", runs,  "--"};
  for (size_t i = 0; i < sizeof(args) / sizeof(args[0]); i++) {
    add(&command, args[i]);
  }
  add_program(trial, &command);
  if (!run(&command, "All set and ready to roll", "afl-fuzz cannot fuzz it", err)) {
    return false;
  }
  char crashes[PATH_MAX];
  struct tg_file_list crashed = {.num = 0};
  tg_path(crashes, "%s/default/crashes", found);
  bool good = tg_files_add(&crashed, crashes, err);
  if (good && crashed.num > 0) {
    tg_error_set(err, "afl-fuzz found %zu crashes in its first inputs", crashed.num);
    good = false;
  }
  tg_files_free(&crashed);
  return good;
}

// What llvm-cov says of the source files: each must be there, and some of the project's must have been run.
static bool check_report(const struct tg_trial *trial, const char *text, struct tg_error *err) {
  json_t *report = json_loads(text, 0, NULL);
  const json_t *files = json_object_get(json_array_get(json_object_get(report, "data"), 0), "files");
  size_t covered = 0;
  bool good = json_array_size(files) > 0;
  if (!good) {
    tg_error_set(err, "llvm-cov reports on no source file");
  }
  for (size_t i = 0; good && i < json_array_size(files); i++) {
    const json_t *file = json_array_get(files, i);
    const char *name = json_string_value(json_object_get(file, "filename"));
    const json_t *lines = json_object_get(json_object_get(file, "summary"), "lines");
    covered += json_integer_value(json_object_get(lines, "covered")) > 0;
    if (name == NULL || strncmp(name, trial->out, strlen(trial->out)) != 0 || access(name, R_OK) != 0) {
      tg_error_set(err, "the coverage report needs the source %s, which build.sh did not put below OUT",
                   name == NULL ? "?" : name);
      good = false;
    }
  }
  json_decref(report);
  if (good && covered == 0) {
    tg_error_set(err, "the seeds cover no line");
    good = false;
  }
  return good;
}

static bool cover(const struct tg_trial *trial, struct tg_error *err) {
  char raw[PATH_MAX];
  char merged[PATH_MAX];
  struct command replay = {.num = 0};
  tg_path(raw, "%s/replay.profraw", trial->scratch);
  tg_path(merged, "%s/replay.profdata", trial->scratch);
  (void)setenv("LLVM_PROFILE_FILE", raw, 1);
  add_program(trial, &replay);
  add_options(trial, &replay);
  add(&replay, "-runs=0");
  add(&replay, trial->seeds);
  struct command merge = {.argv = {trial->llvm_profdata, "merge", "-sparse", raw, "-o", merged}, .num = 6};
  struct command export = {.num = 0};
  const char *const args[] = {trial->llvm_cov, "export", "-summary-only"};
  for (size_t i = 0; i < sizeof(args) / sizeof(args[0]); i++) {
    add(&export, args[i]);
  }
  char *profile = next_text(&export);
  char *equivalence = next_text(&export);
  (void)snprintf(profile, sizeof(export.texts[0]), "-instr-profile=%s", merged);
  (void)snprintf(equivalence, sizeof(export.texts[0]), "-path-equivalence=/,%s", trial->out);
  add(&export, profile);
  add(&export, equivalence);
  add_program(trial, &export);
  struct tg_child_result result;
  if (!run(&replay, NULL, "fails on a seed", err) || !run(&merge, NULL, "its profile cannot be merged", err) ||
      !tg_child_run(export.argv, TRIAL_TIMEOUT_S, &result, err)) {
    return false;
  }
  bool good = result.exit_status == 0 && check_report(trial, result.out, err);
  if (result.exit_status != 0) {
    tg_error_set(err, "llvm-cov cannot report on it: %.200s", result.err);
  }
  tg_child_result_free(&result);
  return good;
}

bool tg_trial_fuzz(const struct tg_trial *trial, struct tg_error *err) {
  if (is(trial->combination->sanitizer, "coverage")) {
    return cover(trial, err);
  }
  return is(trial->combination->engine, "afl") ? fuzz_afl(trial, err) : fuzz_libfuzzer(trial, err);
}
