// Inputs, one after another, in the libFuzzer program.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/base/thrift.h"
#include "fuzz/launcher/engine.h"
#include "fuzz/launcher/process.h"

// Of files in one process: argv is bounded.
#define BATCH 256

// libFuzzer says "Running: FILE" before each.
static uint64_t count_running(const char *log_path, char last[PATH_MAX]) {
  static const char kMark[] = "Running: ";
  uint64_t count = 0;
  FILE *log = fopen(log_path, "re");
  char line[PATH_MAX];
  while (log != NULL && fgets(line, sizeof(line), log) != NULL) {
    if (strncmp(line, kMark, strlen(kMark)) == 0) {
      line[strcspn(line, "\n")] = '\0';
      tg_path(last, "%s", line + strlen(kMark));
      count++;
    }
  }
  if (log != NULL) {
    fclose(log);
  }
  return count;
}

static bool replay_batch(const char *program, char *const paths[], size_t num, const char *log_path,
                         struct tg_engine_result *out, struct tg_error *err) {
  char hang[32];
  char memory[32];
  snprintf(hang, sizeof(hang), "-timeout=%d", TG_ENGINE_HANG_S);
  snprintf(memory, sizeof(memory), "-rss_limit_mb=%d", TG_ENGINE_MEMORY_MB);
  // The input is there already: no copy of it in the caller's folder.
  const char *argv[BATCH + 5] = {program, hang, memory, "-exact_artifact_path=/dev/null"};
  for (size_t i = 0; i < num; i++) {
    argv[4 + i] = paths[i];
  }
  double limit_s = (double)(num + 1) * TG_ENGINE_HANG_S;
  int status = tg_process_run(argv, log_path, limit_s, NULL, NULL, err);
  if (status < 0) {
    return false;
  }
  char last[PATH_MAX] = "";
  uint64_t ran = count_running(log_path, last);
  out->executions += ran;
  if (status == 0 && ran == num) {
    return true;
  }
  if (ran == 0) {
    tg_engine_print_tail(log_path);
    tg_error_set(err, "%s ran no input (exit status %d): %s says why", program, status, log_path);
    return false;
  }
  tg_path(out->finding, "%s", last);
  tg_path(out->finding_log, "%s", log_path);
  return true;
}

bool tg_engine_replay(const char *program, const struct tg_file_list *files, const char *log_path,
                      struct tg_engine_result *out, struct tg_error *err) {
  char path[PATH_MAX];
  // Here, unlike in fuzzing (fuzz/base/sanitizers.c), what is said of a finding counts for more than speed.
  unsetenv(TG_FUZZ_THRIFT_ENV);
  setenv("ASAN_OPTIONS", "malloc_context_size=30:detect_stack_use_after_return=1:strict_string_checks=1", 0);
  if (!tg_engine_runfile(program, path, err)) {
    return false;
  }
  for (size_t done = 0; done < files->num && out->finding[0] == '\0';) {
    size_t num = files->num - done < BATCH ? files->num - done : BATCH;
    if (!replay_batch(path, files->paths + done, num, log_path, out, err)) {
      return false;
    }
    done += num;
  }
  return true;
}
