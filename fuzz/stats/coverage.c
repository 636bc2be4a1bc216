#include "fuzz/stats/coverage.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz/launcher/engine.h"
#include "fuzz/launcher/files.h"
#include "fuzz/launcher/process.h"

// Of llvm-profdata and llvm-cov.
#define TOOL_S 300.0

#define TARGETS_MAX 64

static const char *const kFolders[TG_COVERED_FOLDERS] = {"harness/accept", "harness/server"};

const char *tg_coverage_folder(enum tg_covered_folder folder) {
  return kFolders[folder];
}

static bool run_tool(const char *const argv[], const char *log, struct tg_error *err) {
  int status = tg_process_run(argv, log, TOOL_S, NULL, NULL, err);
  if (status > 0) {
    tg_engine_print_tail(log);
    tg_error_set(err, "%s ended with status %d", argv[0], status);
  }
  return status == 0;
}

// Merges every *.profraw or *.profdata of `files` into one.
static bool merge(const struct tg_file_list *files, const char *to, const char *log, struct tg_error *err) {
  const char **argv = calloc(files->num + 6, sizeof(*argv));
  if (argv == NULL) {
    tg_error_set(err, "out of memory");
    return false;
  }
  size_t num = 0;
  argv[num++] = tg_llvm_profdata;
  argv[num++] = "merge";
  argv[num++] = "-sparse";
  argv[num++] = "-o";
  argv[num++] = to;
  for (size_t i = 0; i < files->num; i++) {
    argv[num++] = files->paths[i];
  }
  bool ok = run_tool(argv, log, err);
  free(argv);
  return ok;
}

bool tg_coverage_run(const struct tg_fuzz_target *target, const char *folder, struct tg_error *err) {
  char seeds[PATH_MAX];
  char raw[PATH_MAX];
  char pattern[PATH_MAX];
  char log[PATH_MAX];
  char profile[PATH_MAX];
  tg_path(raw, "%s/%s.raw", folder, target->name);
  tg_path(pattern, "%s/%%p.profraw", raw);
  tg_path(log, "%s/%s.log", folder, target->name);
  tg_path(profile, "%s/%s.profdata", folder, target->name);
  struct tg_file_list files = {0};
  struct tg_file_list profiles = {0};
  struct tg_engine_result result = {0};
  bool ok = tg_engine_seeds(target, seeds, err) && tg_files_add(&files, seeds, err) && tg_files_make_folder(raw, err);
  setenv("LLVM_PROFILE_FILE", pattern, 1);
  ok = ok && tg_engine_replay(target->coverage, &files, log, &result, err);
  unsetenv("LLVM_PROFILE_FILE");
  if (ok && result.finding[0] != '\0') {
    tg_error_set(err, "%s: the input %s is a finding: bazel test //fuzz:%s", target->name, result.finding,
                 target->name);
    ok = false;
  }
  ok = ok && tg_files_add(&profiles, raw, err) && merge(&profiles, profile, log, err);
  tg_files_free(&files);
  tg_files_free(&profiles);
  return ok;
}

static bool merge_targets(const struct tg_fuzz_target *targets, size_t num, const char *folder, const char *to,
                          struct tg_error *err) {
  struct tg_file_list files = {0};
  char log[PATH_MAX];
  tg_path(log, "%s/merge.log", folder);
  bool ok = true;
  for (size_t i = 0; ok && i < num; i++) {
    char path[PATH_MAX];
    tg_path(path, "%s/%s.profdata", folder, targets[i].name);
    ok = tg_files_add(&files, path, err);
  }
  ok = ok && merge(&files, to, log, err);
  tg_files_free(&files);
  return ok;
}

// "llvm-cov VERB ... PROGRAM -object PROGRAM ..." for all targets.
static bool run_cov(const char *const options[], const struct tg_fuzz_target *targets, size_t num, const char *log,
                    struct tg_error *err) {
  char(*programs)[PATH_MAX] = calloc(num, sizeof(*programs));
  const char *argv[2 * TARGETS_MAX + 16] = {tg_llvm_cov};
  size_t count = 1;
  bool ok = programs != NULL && num <= TARGETS_MAX;
  for (size_t i = 0; options[i] != NULL; i++) {
    argv[count++] = options[i];
  }
  for (size_t i = 0; ok && i < num; i++) {
    ok = tg_engine_runfile(targets[i].coverage, programs[i], err);
    if (i > 0) {
      argv[count++] = "-object";
    }
    argv[count++] = programs[i];
  }
  ok = ok && run_tool(argv, log, err);
  free(programs);
  return ok;
}

// The folder that a source file is counted in, or TG_COVERED_FOLDERS. Paths may begin with "./".
static enum tg_covered_folder folder_of(const char *path) {
  for (int i = 0; i < TG_COVERED_FOLDERS; i++) {
    const char *at = strstr(path, kFolders[i]);
    // Code that serves tests, as its name says, is not under test.
    if (at != NULL && at[strlen(kFolders[i])] == '/' && strstr(at, "/test") == NULL) {
      return (enum tg_covered_folder)i;
    }
  }
  return TG_COVERED_FOLDERS;
}

// lcov's tracefile (geninfo(1)): "SF:path", then "DA:line,count" for every line with code.
static void read_lcov(FILE *lcov, FILE *uncovered, struct tg_coverage *out) {
  char line[PATH_MAX + 8];
  char source[PATH_MAX] = "";
  enum tg_covered_folder folder = TG_COVERED_FOLDERS;
  while (fgets(line, sizeof(line), lcov) != NULL) {
    line[strcspn(line, "\n")] = '\0';
    if (strncmp(line, "SF:", 3) == 0) {
      folder = folder_of(line + 3);
      tg_path(source, "%s", folder == TG_COVERED_FOLDERS ? "" : strstr(line, kFolders[folder]));
    } else if (folder != TG_COVERED_FOLDERS && strncmp(line, "DA:", 3) == 0) {
      const char *comma = strchr(line, ',');
      bool covered = comma != NULL && strtoull(comma + 1, NULL, 10) > 0;
      out->lines[folder]++;
      out->covered[folder] += covered;
      if (!covered && uncovered != NULL) {
        fprintf(uncovered, "%s:%lu\n", source, strtoul(line + 3, NULL, 10));
      }
    }
  }
}

bool tg_coverage_read(const struct tg_fuzz_target *targets, size_t num, const char *folder, FILE *uncovered,
                      struct tg_coverage *out, struct tg_error *err) {
  *out = (struct tg_coverage){{0}, {0}};
  char profile[PATH_MAX];
  char option[PATH_MAX + 32];
  char log[PATH_MAX];
  tg_path(profile, "%s/together.profdata", folder);
  tg_path(log, "%s/lines.lcov", folder);
  snprintf(option, sizeof(option), "-instr-profile=%s", profile);
  const char *const options[] = {"export", "-format=lcov", option, NULL};
  if (!merge_targets(targets, num, folder, profile, err) || !run_cov(options, targets, num, log, err)) {
    return false;
  }
  FILE *lcov = fopen(log, "re");
  if (lcov == NULL) {
    tg_error_set(err, "%s: cannot be read", log);
    return false;
  }
  read_lcov(lcov, uncovered, out);
  fclose(lcov);
  return true;
}

bool tg_coverage_html(const struct tg_fuzz_target *targets, size_t num, const char *folder, const char *to,
                      struct tg_error *err) {
  char profile[PATH_MAX];
  char option[PATH_MAX + 32];
  char out[PATH_MAX + 32];
  char log[PATH_MAX];
  tg_path(profile, "%s/all.profdata", folder);
  tg_path(log, "%s/html.log", folder);
  snprintf(option, sizeof(option), "-instr-profile=%s", profile);
  snprintf(out, sizeof(out), "-output-dir=%s", to);
  const char *const options[] = {
      "show", "-format=html", "-ignore-filename-regex=(^|/)(fuzz|perf|external|harness/kernel)/", out, option, NULL};
  return merge_targets(targets, num, folder, profile, err) && run_cov(options, targets, num, log, err);
}
