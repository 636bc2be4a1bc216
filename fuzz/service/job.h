// One task of fuzzd in a process of its own: a slice, a triage or a prune.
//
// The process and all that it starts die with fuzzd, at once and whatever ends it (die_with_parent.c).
#ifndef TLSGATE_FUZZ_SERVICE_JOB_H
#define TLSGATE_FUZZ_SERVICE_JOB_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "fuzz/launcher/targets.h"
#include "fuzz/service/scheduler.h"
#include "fuzz/service/state.h"
#include "fuzz/service/triage.h"
#include "harness/base/error.h"

// The largest file that a job can write: a log that runs away ends its engine and not the disk.
#define TG_JOB_FILE_MAX_MB 256u

// Inputs that one triage works through.
#define TG_JOB_TRIAGE_MAX 10u

enum tg_job_kind { TG_JOB_SLICE, TG_JOB_TRIAGE, TG_JOB_PRUNE };

struct tg_job_task {
  enum tg_job_kind kind;
  const char *root;  // DIR
  const struct tg_fuzz_target *target;
  size_t index;                 // of the target in the state
  enum tg_fuzzd_engine engine;  // of a slice
  double slice_s;
  double minimise_s;
  unsigned memory_mb;
  int close_fds[2];  // of the caller, that the process is not to hold; -1: none
};

// What came of it. `ok` is false, with `error`, when it did not do all; then DIR/tasks is to be recovered.
struct tg_job_outcome {
  bool ok;
  char error[256];
  struct tg_fuzzd_slice_result slice;
  struct tg_triage_result triage;
  uint64_t units;  // of the corpus after a prune
};

struct tg_job {
  struct tg_job_task task;
  pid_t pid;  // 0: none
  int outcome_fd;
  double ran_s;     // without pauses
  double looked_s;  // tg_now_s() when ran_s was last counted
  bool paused;
  bool ended;         // tg_job_end was called
  double end_sent_s;  // tg_now_s() of it, or of its last repetition
};

// tg_job_start starts the task. Returns false with `err` filled in.
bool tg_job_start(struct tg_job *job, const struct tg_job_task *task, struct tg_error *err);

// tg_job_reap says whether the process has ended, and then what came of it, with its CPU time.
bool tg_job_reap(struct tg_job *job, struct tg_job_outcome *out);

// tg_job_pause makes way: a slice is stopped and goes on with tg_job_resume. What judges an input by whether it comes
// to an end in time is not stopped but killed, and done again.
void tg_job_pause(struct tg_job *job);
void tg_job_resume(struct tg_job *job);

// tg_job_end has it end early: a slice keeps what it has, and is killed if it takes too long to; all else is killed. It
// is to be called again and again until the job is reaped.
void tg_job_end(struct tg_job *job);

// tg_job_overlong says whether it runs for so long that something must be wrong.
bool tg_job_overlong(struct tg_job *job);

// tg_job_task_name returns the task's part of the name of its folder, "libfuzzer" or "triage" (recover.h).
const char *tg_job_task_name(const struct tg_job_task *task);

#endif
