// Runs AFL++ and reads what it leaves: https://aflplus.plus/docs/, "Interpreting output".
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/base/thrift.h"
#include "fuzz/launcher/engine.h"
#include "fuzz/launcher/process.h"

// Beyond -V: it measures every seed first, several times each.
#define GRACE_S 120.0

#define MERGE_S 300.0

struct log_reader {
  const struct tg_engine_run *run;
  struct tg_engine_result *result;
  struct tg_engine_progress progress;
  const char *log_path;
  const char *out_folder;
  long offset;
  uint64_t corpus;
};

static void read_stats(const char *out_folder, struct tg_engine_result *out) {
  char path[PATH_MAX];
  tg_path(path, "%s/default/fuzzer_stats", out_folder);
  FILE *stats = fopen(path, "re");
  char line[512];
  while (stats != NULL && fgets(line, sizeof(line), stats) != NULL) {
    const char *value = strchr(line, ':');
    if (value == NULL) {
      continue;
    }
    if (strncmp(line, "execs_done ", strlen("execs_done ")) == 0) {
      out->executions = strtoull(value + 1, NULL, 10);
    } else if (strncmp(line, "edges_found ", strlen("edges_found ")) == 0) {
      out->edges = strtoull(value + 1, NULL, 10);
    }
  }
  if (stats != NULL) {
    fclose(stats);
  }
}

// "Fuzzing test case #168 (169 total, 0 crashes saved, ...": how many inputs there are. Executions are told once a
// minute.
static bool watch(void *context, double elapsed_s) {
  static const char kMark[] = "Fuzzing test case #";
  struct log_reader *reader = context;
  FILE *log = fopen(reader->log_path, "re");
  if (log != NULL && fseek(log, reader->offset, SEEK_SET) == 0) {
    char line[512];
    while (fgets(line, sizeof(line), log) != NULL && strchr(line, '\n') != NULL) {
      const char *mark = strstr(line, kMark);
      const char *total = mark == NULL ? NULL : strchr(mark, '(');
      if (total != NULL) {
        reader->corpus = strtoull(total + 1, NULL, 10);
      }
      reader->offset = ftell(log);
    }
  }
  if (log != NULL) {
    fclose(log);
  }
  reader->result->seconds = elapsed_s;
  read_stats(reader->out_folder, reader->result);
  tg_engine_progress(&reader->progress, reader->run, elapsed_s, reader->result->executions, reader->result->edges,
                     reader->corpus);
  return true;
}

static void set_environment(const char *mutator) {
  setenv(TG_FUZZ_THRIFT_ENV, "1", 1);
  setenv("AFL_NO_UI", "1", 1);
  setenv("AFL_SKIP_CPUFREQ", "1", 1);
  setenv("AFL_NO_AFFINITY", "1", 1);
  // Crashes are found by the exit status; the host's core_pattern does not matter.
  setenv("AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES", "1", 1);
  setenv("AFL_FAST_CAL", "1", 1);
  // As libFuzzer does.
  setenv("AFL_BENCH_UNTIL_CRASH", "1", 1);
  // Its program has no sanitizer, and it refuses options for one that it does not know.
  unsetenv("ASAN_OPTIONS");
  unsetenv("UBSAN_OPTIONS");
  if (mutator != NULL) {
    setenv("AFL_CUSTOM_MUTATOR_LIBRARY", mutator, 1);
  }
}

// Seeds, regressions and the shared corpus, as real files: AFL++ passes over links.
static bool gather_inputs(const struct tg_engine_run *run, const char *folder, struct tg_error *err) {
  char seeds[PATH_MAX];
  struct tg_file_list list = {0};
  bool ok = tg_engine_seeds(run->target, seeds, err) && tg_files_add(&list, seeds, err) &&
            tg_files_add(&list, run->corpus, err) && tg_files_make_folder(folder, err) &&
            tg_files_copy_all(&list, folder, err);
  tg_files_free(&list);
  return ok;
}

// What of AFL++'s queue covers something new goes to the shared corpus. libFuzzer decides: it is the one who counts.
// It has sanitizers, which AFL++'s program has not: what it stumbles over goes to the findings.
static bool merge(const struct tg_engine_run *run, const char *in, const char *queue, struct tg_error *err) {
  char program[PATH_MAX];
  char all[PATH_MAX];
  char log[PATH_MAX];
  tg_path(all, "%s/merged", run->scratch);
  tg_path(log, "%s/merge.log", run->scratch);
  struct tg_file_list known = {0};
  struct tg_file_list merged = {0};
  bool ok = tg_engine_runfile(run->target->libfuzzer, program, err) && tg_files_add(&known, in, err) &&
            tg_files_make_folder(all, err) && tg_files_copy_all(&known, all, err);
  if (ok) {
    char hang[32];
    snprintf(hang, sizeof(hang), "-timeout=%d", TG_ENGINE_HANG_S);
    // By default it is named by the process in /tmp, which sandboxes share though each has its own process numbers.
    char control[PATH_MAX + 32];
    snprintf(control, sizeof(control), "-merge_control_file=%s/merge.control", run->scratch);
    char artifacts[PATH_MAX + 32];
    snprintf(artifacts, sizeof(artifacts), "-artifact_prefix=%s/", run->findings);
    const char *argv[] = {program, "-merge=1", hang, control, artifacts, all, queue, NULL};
    int status = tg_process_run(argv, log, MERGE_S, NULL, NULL, err);
    ok = status >= 0;
    if (status > 0) {
      tg_engine_print_tail(log);
      tg_error_set(err, "merging AFL++'s queue ended with status %d: %s says why", status, log);
      ok = false;
    }
  }
  ok = ok && tg_files_add(&merged, all, err);
  for (size_t i = 0; ok && i < merged.num; i++) {
    const char *name = strrchr(merged.paths[i], '/') + 1;
    // Copies of what was there have a number and a dash; what libFuzzer added is named by its SHA-1.
    if (strchr(name, '-') == NULL) {
      char to[PATH_MAX];
      tg_path(to, "%s/%s", run->corpus, name);
      ok = tg_files_copy(merged.paths[i], to, err);
    }
  }
  tg_files_free(&known);
  tg_files_free(&merged);
  return ok;
}

// Keeps crashes and hangs, and has the libFuzzer program, with its sanitizers, say what the first is.
static bool keep_findings(const struct tg_engine_run *run, const char *out_folder, struct tg_engine_result *out,
                          struct tg_error *err) {
  static const char *const kKinds[] = {"crashes", "hangs"};
  struct tg_file_list list = {0};
  struct tg_file_list kept = {0};
  bool ok = true;
  for (size_t i = 0; ok && i < sizeof(kKinds) / sizeof(kKinds[0]); i++) {
    char folder[PATH_MAX];
    tg_path(folder, "%s/default/%s", out_folder, kKinds[i]);
    ok = tg_files_add(&list, folder, err);
  }
  for (size_t i = 0; ok && i < list.num; i++) {
    const char *name = strrchr(list.paths[i], '/') + 1;
    if (strcmp(name, "README.txt") == 0) {
      continue;
    }
    char to[PATH_MAX];
    tg_path(to, "%s/afl-%s", run->findings, name);
    ok = tg_files_copy(list.paths[i], to, err) && tg_files_add(&kept, to, err);
  }
  if (ok && kept.num > 0) {
    char log[PATH_MAX];
    tg_path(log, "%s/finding.log", run->scratch);
    struct tg_engine_result replayed = {0};
    ok = tg_engine_replay(run->target->libfuzzer, &kept, log, &replayed, err);
    bool again = replayed.finding[0] != '\0';
    tg_path(out->finding, "%s", again ? replayed.finding : kept.paths[0]);
    tg_path(out->finding_log, "%s", log);
    if (ok && !again) {
      printf("AFL++ reports it; the libFuzzer program runs it without a finding\n");
    }
  }
  tg_files_free(&list);
  tg_files_free(&kept);
  return ok;
}

bool tg_engine_afl(const struct tg_engine_run *run, struct tg_engine_result *out, struct tg_error *err) {
  const struct tg_fuzz_target *target = run->target;
  char program[PATH_MAX];
  char cmplog[PATH_MAX];
  char dictionary[PATH_MAX];
  char mutator[PATH_MAX];
  if (!tg_engine_runfile(target->afl, program, err) || !tg_engine_runfile(target->afl_cmplog, cmplog, err) ||
      (target->dictionary != NULL && !tg_engine_runfile(target->dictionary, dictionary, err)) ||
      (target->mutator != NULL && !tg_engine_runfile(target->mutator, mutator, err))) {
    return false;
  }
  char in[PATH_MAX];
  char out_folder[PATH_MAX];
  char queue[PATH_MAX];
  char log[PATH_MAX];
  tg_path(in, "%s/in", run->scratch);
  tg_path(out_folder, "%s/out", run->scratch);
  tg_path(queue, "%s/default/queue", out_folder);
  tg_path(log, "%s/afl.log", run->scratch);
  if (!gather_inputs(run, in, err)) {
    return false;
  }
  set_environment(target->mutator != NULL ? mutator : NULL);

  char seconds[32];
  char executions[32];
  char seed[32];
  char max_len[32];
  char hang[32];
  snprintf(seconds, sizeof(seconds), "%.0f", run->seconds);
  snprintf(executions, sizeof(executions), "%" PRIu64, run->executions);
  snprintf(seed, sizeof(seed), "%u", run->seed);
  snprintf(max_len, sizeof(max_len), "%u", target->max_len);
  snprintf(hang, sizeof(hang), "%d", TG_ENGINE_HANG_S * 1000);
  const char *argv[32] = {"afl-fuzz", "-i", in, "-o", out_folder, "-c", cmplog, "-G", max_len, "-t", hang};
  int num = 11;
  argv[num++] = run->executions > 0 ? "-E" : "-V";
  argv[num++] = run->executions > 0 ? executions : seconds;
  if (run->seed > 0) {
    argv[num++] = "-s";
    argv[num++] = seed;
  }
  if (target->dictionary != NULL) {
    argv[num++] = "-x";
    argv[num++] = dictionary;
  }
  argv[num++] = "--";
  argv[num++] = program;

  struct log_reader reader = {.run = run, .result = out, .log_path = log, .out_folder = out_folder};
  int status = tg_process_run(argv, log, run->seconds + GRACE_S, watch, &reader, err);
  if (status < 0) {
    return false;
  }
  read_stats(out_folder, out);
  if (out->executions == 0) {
    tg_engine_print_tail(log);
    tg_error_set(err, "AFL++ ran nothing (exit status %d): %s says why", status, log);
    return false;
  }
  return keep_findings(run, out_folder, out, err) && merge(run, in, queue, err);
}
