// bazel run //fuzz:oss_fuzz_check: what the fuzzing service would do with fuzz/oss-fuzz/build.sh, without its images.
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz/launcher/files.h"
#include "fuzz/oss-fuzz/check/combination.h"
#include "fuzz/oss-fuzz/check/contract.h"
#include "perf/process/child.h"

#define USAGE_STATUS 2

static const char usage[] =
    "usage: bazel run //fuzz:oss_fuzz_check [-- OPTION...]\n"
    "\n"
    "Builds every fuzz target with fuzz/oss-fuzz/build.sh, in the environment of OSS-Fuzz's images, for each sanitizer "
    "and\n"
    "engine; moves OUT elsewhere, hides the source tree and Bazel's folders, and checks every target as the service "
    "does:\n"
    "instrumentation, libraries, options, dictionary, seeds, and runs of its engine (docs/scale.md).\n"
    "\n"
    "  --sanitizer S  only this one: address, undefined, memory or coverage\n"
    "  --engine E     only this one: libfuzzer, or afl (with address)\n"
    "  --keep         keep what was built, and say where\n"
    "\n"
    "Exit status: 0 all good, 1 not, 2 usage.\n";

struct arguments {
  const char *sanitizer;  // NULL: all
  const char *engine;     // NULL: all
  bool keep;
};

// Where everything of one combination is.
struct folders {
  char top[PATH_MAX];
  char work[PATH_MAX];
  char built[PATH_MAX];
  char moved[PATH_MAX];
  char scratch[PATH_MAX];
  char log[PATH_MAX];
};

static bool parse(int argc, char **argv, struct arguments *out) {
  for (int i = 1; i < argc; i++) {
    const char **value = strcmp(argv[i], "--sanitizer") == 0 ? &out->sanitizer
                         : strcmp(argv[i], "--engine") == 0  ? &out->engine
                                                             : NULL;
    if (value != NULL && i + 1 < argc) {
      *value = argv[++i];
    } else if (strcmp(argv[i], "--keep") == 0) {
      out->keep = true;
    } else {
      (void)fprintf(stderr, "oss_fuzz_check: %s %s; --help lists the options\n", argv[i],
                    value != NULL ? "needs a value" : "is not known");
      return false;
    }
  }
  return true;
}

static bool is_asked_for(const struct arguments *arguments, const struct tg_combination *combination) {
  return (arguments->sanitizer == NULL || strcmp(arguments->sanitizer, combination->sanitizer) == 0) &&
         (arguments->engine == NULL || strcmp(arguments->engine, combination->engine) == 0);
}

static bool make_folders(struct folders *folders, struct tg_error *err) {
  tg_path(folders->top, "%s", "/tmp/tlsgate-oss-fuzz-XXXXXX");
  if (mkdtemp(folders->top) == NULL) {
    tg_error_set(err, "cannot make %s: %s", folders->top, strerror(errno));
    return false;
  }
  tg_path(folders->work, "%s/work", folders->top);
  tg_path(folders->built, "%s/out", folders->top);
  tg_path(folders->moved, "%s/elsewhere", folders->top);
  tg_path(folders->scratch, "%s/scratch", folders->top);
  tg_path(folders->log, "%s/build.log", folders->top);
  return true;
}

// Bazel's folder for the workspace in the current folder.
static bool output_base(char out[PATH_MAX], struct tg_error *err) {
  const char *argv[] = {"bazel", "info", "output_base", NULL};
  struct tg_child_result result;
  if (!tg_child_run(argv, 120, &result, err)) {
    return false;
  }
  result.out[strcspn(result.out, "\n")] = '\0';
  bool good = result.exit_status == 0 && result.out[0] == '/';
  if (good) {
    tg_path(out, "%s", result.out);
  } else {
    tg_error_set(err, "bazel info output_base failed with exit status %d", result.exit_status);
  }
  tg_child_result_free(&result);
  return good;
}

// In a process of its own, for which the build is out of sight.
static int check(const struct tg_combination *combination, const struct folders *folders, const char *source,
                 const char *base) {
  const char *hidden[] = {source, base, folders->work};
  const struct tg_contract contract = {
      .combination = combination,
      .out = folders->moved,
      .scratch = folders->scratch,
      .llvm_cov = TG_LLVM_COV,
      .llvm_profdata = TG_LLVM_PROFDATA,
  };
  struct tg_error err;
  struct tg_contract_result result;
  // What run_fuzzer sets for AFL++; ASan's defaults are the program's own.
  if (strcmp(combination->engine, "afl") == 0) {
    (void)setenv("ASAN_OPTIONS", "abort_on_error=1:symbolize=0:detect_leaks=0", 1);
    (void)setenv("AFL_NO_UI", "1", 1);
    (void)setenv("AFL_SKIP_CPUFREQ", "1", 1);
    (void)setenv("AFL_NO_AFFINITY", "1", 1);
    (void)setenv("AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES", "1", 1);
  }
  (void)setenv("UBSAN_OPTIONS", "silence_unsigned_overflow=1", 1);
  if (chdir("/") != 0 || !tg_contract_hide(hidden, sizeof(hidden) / sizeof(hidden[0]), &err)) {
    (void)fprintf(stderr, "oss_fuzz_check: %s\n", err.text);
    return 1;
  }
  return tg_contract_check(&contract, stdout, &result) ? 0 : 1;
}

static bool check_apart(const struct tg_combination *combination, const struct folders *folders, const char *source) {
  char base[PATH_MAX];
  struct tg_error err;
  if (!output_base(base, &err)) {
    (void)fprintf(stderr, "oss_fuzz_check: %s\n", err.text);
    return false;
  }
  (void)fflush(stdout);
  pid_t pid = fork();
  if (pid == 0) {
    _exit(check(combination, folders, source, base));
  }
  int status = -1;
  return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool try_combination(const struct tg_combination *combination, const char *source, bool keep) {
  struct folders folders;
  struct tg_error err;
  (void)printf("%s/%s: building\n", combination->sanitizer, combination->engine);
  (void)fflush(stdout);
  if (!make_folders(&folders, &err)) {
    (void)fprintf(stderr, "oss_fuzz_check: %s\n", err.text);
    return false;
  }
  const struct tg_build_folders build = {
      .source = source, .work = folders.work, .out = folders.built, .afl_dir = TG_AFL_DIR};
  double start = tg_now_s();
  if (!tg_combination_build(combination, &build, folders.log, &err)) {
    (void)fprintf(stderr, "oss_fuzz_check: %s\n", err.text);
    return false;
  }
  double built = tg_now_s();
  bool good = rename(folders.built, folders.moved) == 0 && check_apart(combination, &folders, source);
  (void)printf("%s/%s: %s, built in %.0f s, checked in %.0f s\n", combination->sanitizer, combination->engine,
               good ? "good" : "BAD", built - start, tg_now_s() - built);
  if (keep) {
    (void)printf("%s/%s: kept in %s\n", combination->sanitizer, combination->engine, folders.moved);
  } else {
    tg_files_remove_folder(folders.top);
  }
  return good;
}

int main(int argc, char **argv) {
  struct arguments arguments = {.sanitizer = NULL};
  if (argc == 2 && strcmp(argv[1], "--help") == 0) {
    (void)fputs(usage, stdout);
    return 0;
  }
  if (!parse(argc, argv, &arguments)) {
    return USAGE_STATUS;
  }
  const char *source = getenv("BUILD_WORKSPACE_DIRECTORY");
  if (source == NULL || chdir(source) != 0) {
    (void)fprintf(stderr, "oss_fuzz_check: start it as bazel run //fuzz:oss_fuzz_check: it builds in the workspace\n");
    return USAGE_STATUS;
  }
  size_t tried = 0;
  size_t bad = 0;
  for (size_t i = 0; i < tg_num_combinations; i++) {
    if (is_asked_for(&arguments, &tg_combinations[i])) {
      tried++;
      bad += !try_combination(&tg_combinations[i], source, arguments.keep);
    }
  }
  if (tried == 0) {
    (void)fprintf(stderr, "oss_fuzz_check: no such combination is supported; --help lists what is\n");
    return USAGE_STATUS;
  }
  (void)printf("%zu of %zu combinations are good\n", tried - bad, tried);
  return bad == 0 ? 0 : 1;
}
