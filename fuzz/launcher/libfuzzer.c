// Runs the libFuzzer program and reads its log: https://llvm.org/docs/LibFuzzer.html, "Output".
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/base/thrift.h"
#include "fuzz/launcher/engine.h"
#include "fuzz/launcher/process.h"

// For its own start and its last statistics, beyond -max_total_time.
#define GRACE_S 60.0

struct log_reader {
  const struct tg_engine_run *run;
  struct tg_engine_result *result;
  struct tg_engine_progress progress;
  char log_path[PATH_MAX];
  long offset;
  uint64_t corpus;
};

// "#8192  pulse  cov: 521 ft: 1234 corp: 54/2345b lim: 110 exec/s: 2730 rss: 120Mb"
static void read_status(struct log_reader *reader, const char *line) {
  const char *coverage = strstr(line, " cov: ");
  if (line[0] != '#' || coverage == NULL) {
    return;
  }
  uint64_t executions = strtoull(line + 1, NULL, 10);
  if (executions > reader->result->executions) {
    reader->result->executions = executions;
  }
  reader->result->edges = strtoull(coverage + strlen(" cov: "), NULL, 10);
  const char *corpus = strstr(coverage, " corp: ");
  if (corpus != NULL) {
    reader->corpus = strtoull(corpus + strlen(" corp: "), NULL, 10);
  }
}

static void read_line(struct log_reader *reader, const char *line) {
  static const char kExecutions[] = "stat::number_of_executed_units: ";
  static const char kWritten[] = "Test unit written to ";
  read_status(reader, line);
  if (strncmp(line, kExecutions, strlen(kExecutions)) == 0) {
    reader->result->executions = strtoull(line + strlen(kExecutions), NULL, 10);
  }
  const char *written = strstr(line, kWritten);
  // A slow input is reported too, and is no finding.
  if (written != NULL && strstr(written, "/slow-unit-") == NULL) {
    tg_path(reader->result->finding, "%s", written + strlen(kWritten));
    tg_path(reader->result->finding_log, "%s", reader->log_path);
  }
}

static bool watch(void *context, double elapsed_s) {
  struct log_reader *reader = context;
  FILE *log = fopen(reader->log_path, "re");
  if (log == NULL) {
    return true;
  }
  if (fseek(log, reader->offset, SEEK_SET) == 0) {
    char line[PATH_MAX + 64];
    while (fgets(line, sizeof(line), log) != NULL && strchr(line, '\n') != NULL) {
      line[strcspn(line, "\n")] = '\0';
      read_line(reader, line);
      reader->offset = ftell(log);
    }
  }
  fclose(log);
  reader->result->seconds = elapsed_s;
  tg_engine_progress(&reader->progress, reader->run, elapsed_s, reader->result->executions, reader->result->edges,
                     reader->corpus);
  return true;
}

struct arguments {
  char texts[16][PATH_MAX + 32];
  const char *argv[24];
  int num_texts;
  int num;
};

__attribute__((format(printf, 2, 3))) static void add(struct arguments *arguments, const char *format, ...) {
  char *text = arguments->texts[arguments->num_texts++];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof(arguments->texts[0]), format, list);
  va_end(list);
  arguments->argv[arguments->num++] = text;
}

bool tg_engine_libfuzzer(const struct tg_engine_run *run, struct tg_engine_result *out, struct tg_error *err) {
  const struct tg_fuzz_target *target = run->target;
  char program[PATH_MAX];
  char seeds[PATH_MAX];
  char dictionary[PATH_MAX];
  if (!tg_engine_runfile(target->libfuzzer, program, err) || !tg_engine_seeds(target, seeds, err) ||
      (target->dictionary != NULL && !tg_engine_runfile(target->dictionary, dictionary, err))) {
    return false;
  }
  struct arguments arguments = {.num = 0};
  arguments.argv[arguments.num++] = program;
  add(&arguments, "-max_total_time=%.0f", run->seconds);
  add(&arguments, "-timeout=%d", TG_ENGINE_HANG_S);
  add(&arguments, "-rss_limit_mb=%u", run->memory_mb > 0 ? run->memory_mb : TG_ENGINE_MEMORY_MB);
  add(&arguments, "-max_len=%u", target->max_len);
  add(&arguments, "-artifact_prefix=%s/", run->findings);
  add(&arguments, "-print_final_stats=1");
  // Entropic scheduling (Boehme, Manes, Cha: "Boosting Fuzzer Efficiency", 2020) keeps books on every feature of every
  // input, which takes more time here than the inputs do.
  add(&arguments, "-entropic=0");
  if (run->keep_entries) {
    add(&arguments, "-reduce_inputs=0");
  }
  if (!target->detect_leaks) {
    add(&arguments, "-detect_leaks=0");
  }
  if (run->executions > 0) {
    add(&arguments, "-runs=%" PRIu64, run->executions);
  }
  if (run->seed > 0) {
    add(&arguments, "-seed=%u", run->seed);
  }
  if (target->dictionary != NULL) {
    add(&arguments, "-dict=%s", dictionary);
  }
  arguments.argv[arguments.num++] = run->corpus;
  arguments.argv[arguments.num++] = seeds;

  setenv(TG_FUZZ_THRIFT_ENV, "1", 1);
  struct log_reader reader = {.run = run, .result = out};
  tg_path(reader.log_path, "%s/libfuzzer.log", run->scratch);
  int status = tg_process_run(arguments.argv, reader.log_path, run->seconds + GRACE_S, watch, &reader, err);
  if (status < 0) {
    return false;
  }
  if (out->executions == 0 && out->finding[0] == '\0') {
    tg_engine_print_tail(reader.log_path);
    tg_error_set(err, "libFuzzer ran nothing (exit status %d): %s says why", status, reader.log_path);
    return false;
  }
  return true;
}
