// The launcher of one fuzz target: fuzzes, replays, or runs an engine's short test.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz/launcher/engine.h"
#include "fuzz/launcher/files.h"
#include "fuzz/launcher/finding.h"
#include "fuzz/launcher/options.h"
#include "fuzz/launcher/process.h"
#include "fuzz/launcher/summary.h"
#include "fuzz/launcher/targets.h"

enum { STATUS_OK, STATUS_FINDING, STATUS_USAGE };

// A test's run is bounded by executions; this is for a machine on which they take too long.
#define TEST_SECONDS 200.0
#define TEST_SEED    1u

static int fail(const struct tg_error *err) {
  fprintf(stderr, "fuzz: %s\n", err->text);
  return STATUS_USAGE;
}

// A folder of our own, in which logs outlive the run.
static bool make_scratch(char out[PATH_MAX], struct tg_error *err) {
  const char *base = getenv("TEST_UNDECLARED_OUTPUTS_DIR");
  tg_path(out, "%s/tlsgate-fuzz-XXXXXX", base != NULL ? base : "/tmp");
  if (mkdtemp(out) == NULL) {
    tg_error_set(err, "cannot make a folder %s", out);
    return false;
  }
  return true;
}

static uint64_t count_files(const char *folder) {
  struct tg_file_list list = {0};
  struct tg_error err;
  uint64_t num = tg_files_add(&list, folder, &err) ? list.num : 0;
  tg_files_free(&list);
  return num;
}

static bool list_inputs(const struct tg_fuzz_target *target, const struct tg_fuzz_options *options,
                        struct tg_file_list *list, struct tg_error *err) {
  if (options->num_files > 0) {
    for (int i = 0; i < options->num_files; i++) {
      char path[PATH_MAX];
      tg_path_of_caller(options->files[i], path);
      if (access(path, R_OK) != 0) {
        tg_error_set(err, "%s: cannot be read", path);
        return false;
      }
      if (!tg_files_add(list, path, err)) {
        return false;
      }
    }
    return true;
  }
  char seeds[PATH_MAX];
  if (!tg_engine_seeds(target, seeds, err) || !tg_files_add(list, seeds, err)) {
    return false;
  }
  return tg_files_add(list, options->corpus_dir, err);
}

static int replay(const struct tg_fuzz_target *target, const struct tg_fuzz_options *options) {
  struct tg_error err;
  struct tg_file_list list = {0};
  struct tg_engine_result result = {0};
  char scratch[PATH_MAX];
  char log[PATH_MAX];
  bool ok = list_inputs(target, options, &list, &err);
  if (ok && list.num == 0) {
    tg_error_set(&err, "there is no input to replay");
    ok = false;
  }
  ok = ok && make_scratch(scratch, &err);
  if (ok) {
    tg_path(log, "%s/replay.log", scratch);
    ok = tg_engine_replay(target->replayer, &list, log, &result, &err);
  }
  int status = ok ? STATUS_OK : fail(&err);
  if (ok && result.finding[0] != '\0') {
    // All that the target said: a person replays an input to read it.
    tg_finding_print_log(log);
    tg_finding_print(target, log, result.finding);
    status = STATUS_FINDING;
  } else if (ok) {
    if (options->num_files > 0) {
      tg_finding_print_log(log);
    }
    printf("%s: %" PRIu64 " inputs replayed, no finding\n", target->name, result.executions);
    tg_files_remove_folder(scratch);
  }
  tg_files_free(&list);
  return status;
}

static bool run_engine(const struct tg_engine_run *run, enum tg_fuzz_engine engine, struct tg_engine_result *out,
                       struct tg_error *err) {
  return engine == TG_ENGINE_AFL ? tg_engine_afl(run, out, err) : tg_engine_libfuzzer(run, out, err);
}

static const char *engine_name(enum tg_fuzz_engine engine) {
  return engine == TG_ENGINE_AFL ? "afl" : "libfuzzer";
}

static void print_summary(const struct tg_engine_run *run, enum tg_fuzz_engine engine,
                          const struct tg_engine_result *result, uint64_t new_entries) {
  printf("%s (%s): %" PRIu64 " executions in %.1f s, %.0f/s; %" PRIu64 " edges; %" PRIu64 " new corpus entries\n",
         run->target->name, engine_name(engine), result->executions, result->seconds,
         (double)result->executions / (result->seconds > 0 ? result->seconds : 1), result->edges, new_entries);
}

static bool write_summary(const struct tg_engine_run *run, const struct tg_fuzz_options *options,
                          const struct tg_engine_result *result, uint64_t new_entries, struct tg_error *err) {
  if (options->summary[0] == '\0') {
    return true;
  }
  const char *slash = strrchr(result->finding, '/');
  struct tg_fuzz_summary summary = {
      .asked_s = options->timeout_secs,
      .elapsed_s = result->seconds,
      .executions = result->executions,
      .edges = result->edges,
      .new_entries = new_entries,
      .has_finding = result->finding[0] != '\0',
  };
  snprintf(summary.target, sizeof(summary.target), "%s", run->target->name);
  snprintf(summary.engine, sizeof(summary.engine), "%s", engine_name(options->engine));
  snprintf(summary.finding, sizeof(summary.finding), "%.255s", slash != NULL ? slash + 1 : result->finding);
  return tg_fuzz_summary_write(options->summary, &summary, err);
}

static int fuzz(const struct tg_fuzz_target *target, const struct tg_fuzz_options *options) {
  struct tg_error err;
  struct tg_engine_result result = {0};
  struct tg_engine_run run = {.target = target, .seconds = options->timeout_secs, .show_progress = true};
  tg_path(run.corpus, "%s", options->corpus_dir);
  tg_path(run.findings, "%s-findings", options->corpus_dir);
  if (!tg_files_make_folder(run.corpus, &err) || !tg_files_make_folder(run.findings, &err) ||
      !make_scratch(run.scratch, &err)) {
    return fail(&err);
  }
  printf("%s: %s for %u s; corpus in %s\n", target->name, engine_name(options->engine), options->timeout_secs,
         run.corpus);
  fflush(stdout);
  uint64_t before = count_files(run.corpus);
  bool ok = run_engine(&run, options->engine, &result, &err);
  uint64_t new_entries = count_files(run.corpus) - before;
  if (result.executions > 0) {
    print_summary(&run, options->engine, &result, new_entries);
  }
  if (!ok || !write_summary(&run, options, &result, new_entries, &err)) {
    return fail(&err);
  }
  if (result.finding[0] != '\0') {
    tg_finding_print(target, result.finding_log, result.finding);
    return STATUS_FINDING;
  }
  printf("no finding; corpus in %s\n", run.corpus);
  tg_files_remove_folder(run.scratch);
  return STATUS_OK;
}

// Bazel keeps what a test leaves in a zip, whatever path it had while the test ran.
static void print_zip(void) {
  const char *label = getenv("TEST_TARGET");
  if (label == NULL || strncmp(label, "//", 2) != 0) {
    return;
  }
  char folder[PATH_MAX];
  tg_path(folder, "%s", label + 2);
  char *colon = strchr(folder, ':');
  if (colon != NULL) {
    *colon = '/';
  }
  printf("  after the test input and output are in bazel-testlogs/%s/test.outputs/outputs.zip\n", folder);
}

static int test(const struct tg_fuzz_target *target, const struct tg_fuzz_options *options) {
  const struct tg_fuzz_floor *floor = options->engine == TG_ENGINE_AFL ? &target->afl_floor : &target->libfuzzer_floor;
  struct tg_error err;
  struct tg_engine_result result = {0};
  struct tg_engine_run run = {
      .target = target, .seconds = TEST_SECONDS, .executions = floor->executions, .seed = TEST_SEED};
  if (!make_scratch(run.scratch, &err)) {
    return fail(&err);
  }
  tg_path(run.corpus, "%s/corpus", run.scratch);
  tg_path(run.findings, "%s/findings", run.scratch);
  if (!tg_files_make_folder(run.corpus, &err) || !tg_files_make_folder(run.findings, &err) ||
      !run_engine(&run, options->engine, &result, &err)) {
    return fail(&err);
  }
  print_summary(&run, options->engine, &result, count_files(run.corpus));
  if (result.finding[0] != '\0') {
    tg_finding_print(target, result.finding_log, result.finding);
    print_zip();
    return STATUS_FINDING;
  }
  if (result.executions < floor->executions || result.edges < floor->edges) {
    fprintf(stderr, "fuzz: below the floor of %" PRIu64 " executions and %" PRIu64 " edges (fuzz/BUILD)\n",
            floor->executions, floor->edges);
    return STATUS_FINDING;
  }
  tg_files_remove_folder(run.scratch);
  return STATUS_OK;
}

int main(int argc, char **argv) {
  const struct tg_fuzz_target *target = &tg_fuzz_targets[0];
  struct tg_fuzz_options options;
  struct tg_error err;
  if (!tg_fuzz_options_parse(target->name, argc, argv, &options, &err)) {
    return fail(&err);
  }
  if (target->libfuzzer == NULL && (options.mode == TG_MODE_FUZZ || options.mode == TG_MODE_TEST)) {
    tg_error_set(&err, "this program has no engine: it only replays (--regression); %s_run fuzzes", target->name);
    return fail(&err);
  }
  switch (options.mode) {
    case TG_MODE_REGRESSION:
      return replay(target, &options);
    case TG_MODE_TEST:
      return test(target, &options);
    case TG_MODE_HELP:
      tg_fuzz_options_help(target->name);
      return STATUS_OK;
    default: {
      // Whoever ends it early keeps what was found until then.
      tg_process_hold_signals();
      int status = fuzz(target, &options);
      fflush(stdout);
      tg_process_raise_held();
      return status;
    }
  }
}
