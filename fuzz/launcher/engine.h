// One run of an engine.
#ifndef TLSGATE_FUZZ_LAUNCHER_ENGINE_H
#define TLSGATE_FUZZ_LAUNCHER_ENGINE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "fuzz/launcher/files.h"
#include "fuzz/launcher/targets.h"
#include "harness/base/error.h"

// An input that runs longer is a finding: targets run on virtual time, and in microseconds to milliseconds.
#define TG_ENGINE_HANG_S 10

// What may be used by one input, in MiB, under libFuzzer.
#define TG_ENGINE_MEMORY_MB 2048

struct tg_engine_run {
  const struct tg_fuzz_target *target;
  double seconds;       // the run ends after so long ...
  uint64_t executions;  // ... or after so many; 0: only the time counts
  unsigned seed;        // 0: a new one
  bool show_progress;
  unsigned memory_mb;     // of one input under libFuzzer; 0: TG_ENGINE_MEMORY_MB
  bool keep_entries;      // libFuzzer does not replace entries of this run by smaller ones: a file that is there stays
  char corpus[PATH_MAX];  // folder: read, and new entries are added
  char findings[PATH_MAX];  // folder for inputs with findings
  char scratch[PATH_MAX];   // folder for what the engine leaves; the caller's to remove
};

struct tg_engine_result {
  uint64_t executions;
  uint64_t edges;  // covered; each engine counts its own
  double seconds;
  char finding[PATH_MAX];      // an input with a finding; empty: none
  char finding_log[PATH_MAX];  // what the target said about it
};

// Each runs the engine on the target's seeds, its regressions and run->corpus. Returns false with `err` filled in if it
// could not run; a finding is no failure.
bool tg_engine_libfuzzer(const struct tg_engine_run *run, struct tg_engine_result *out, struct tg_error *err);
bool tg_engine_afl(const struct tg_engine_run *run, struct tg_engine_result *out, struct tg_error *err);

// tg_engine_replay runs files one after another with `program`, a runfile that has libFuzzer's main (target->replayer,
// target->coverage), until one is a finding. Returns false with `err` filled in if they could not be run;
// out->executions says how many ran.
bool tg_engine_replay(const char *program, const struct tg_file_list *files, const char *log_path,
                      struct tg_engine_result *out, struct tg_error *err);

// tg_engine_runfile writes the absolute path of one of the target's files. It also has UBSan print stacks, unless the
// environment says otherwise.
bool tg_engine_runfile(const char *path, char out[PATH_MAX], struct tg_error *err);

// tg_engine_seeds is tg_engine_runfile for the folder of seeds; a target without a seed is an error.
bool tg_engine_seeds(const struct tg_fuzz_target *target, char out[PATH_MAX], struct tg_error *err);

// tg_engine_print_tail prints the end of a log to stderr: why an engine could not run.
void tg_engine_print_tail(const char *log_path);

// tg_engine_progress prints a line, at most every five seconds: with executions when the engine has told how many.
struct tg_engine_progress {
  double printed_s;
  double told_s;
  uint64_t executions;
};
void tg_engine_progress(struct tg_engine_progress *progress, const struct tg_engine_run *run, double elapsed_s,
                        uint64_t executions, uint64_t edges, uint64_t corpus);

#endif
