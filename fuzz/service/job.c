#include "fuzz/service/job.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz/launcher/engine.h"
#include "fuzz/launcher/files.h"
#include "fuzz/launcher/process.h"
#include "fuzz/service/prune.h"
#include "fuzz/service/recover.h"
#include "fuzz/service/slice.h"
#include "fuzz/service/tree.h"
#include "perf/process/child.h"

#define PRELOADED "fuzz/service/die_with_parent.so"

// Of a slice beyond its time, for AFL++'s start and merge; of everything else.
#define SLICE_MORE_S 900.0
#define OTHER_MAX_S  7200.0

// Before a slice that was told to end is killed. What is lost is none of it: tg_fuzzd_recover keeps the rest.
#define END_S   8.0
#define AGAIN_S 1.0

static void limit(int resource, rlim_t most) {
  struct rlimit limits;
  if (getrlimit(resource, &limits) == 0 && (limits.rlim_cur == RLIM_INFINITY || limits.rlim_cur > most)) {
    limits.rlim_cur = most;
    (void)setrlimit(resource, &limits);
  }
}

static bool prepare(const struct tg_job_task *task, const char *work, struct tg_error *err) {
  char preloaded[PATH_MAX];
  if (!tg_engine_runfile(PRELOADED, preloaded, err)) {
    return false;
  }
  tg_files_remove_folder(work);
  if (!tg_files_make_folder(work, err)) {
    return false;
  }
  for (int i = 0; i < 2; i++) {
    if (task->close_fds[i] >= 0) {
      close(task->close_fds[i]);
    }
  }
  limit(RLIMIT_FSIZE, (rlim_t)TG_JOB_FILE_MAX_MB << 20);
  limit(RLIMIT_CORE, 0);
  setenv("LD_PRELOAD", preloaded, 1);
  // libFuzzer's files while it minimises.
  setenv("TMPDIR", work, 1);
  return true;
}

static void work_on(const struct tg_job_task *task, struct tg_job_outcome *out) {
  char work[PATH_MAX];
  struct tg_error err = {.text = ""};
  tg_fuzzd_work(work, task->root, task->target->name, tg_job_task_name(task));
  out->ok = prepare(task, work, &err);
  if (out->ok && task->kind == TG_JOB_SLICE) {
    tg_fuzzd_slice(task->root, task->target, task->engine, task->slice_s, task->memory_mb, work, &out->slice);
    out->ok = out->slice.error[0] == '\0';
    (void)snprintf(err.text, sizeof(err.text), "%s", out->slice.error);
  } else if (out->ok && task->kind == TG_JOB_TRIAGE) {
    out->ok = tg_triage(task->root, task->target, work, task->minimise_s, TG_JOB_TRIAGE_MAX, &out->triage, &err);
  } else if (out->ok) {
    out->ok = tg_fuzzd_prune(task->root, task->target, work, &out->units, &err);
  }
  if (out->ok) {
    tg_files_remove_folder(work);
  }
  (void)snprintf(out->error, sizeof(out->error), "%.255s", out->ok ? "" : err.text);
}

static void become(const struct tg_job_task *task, pid_t parent, int fd) {
  static const int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
  for (size_t i = 0; i < sizeof(kSignals) / sizeof(kSignals[0]); i++) {
    (void)signal(kSignals[i], SIG_DFL);
  }
  setpgid(0, 0);
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) {
    _exit(1);
  }
  tg_process_hold_signals();
  struct tg_job_outcome outcome = {.ok = false};
  work_on(task, &outcome);
  fflush(NULL);
  _exit(write(fd, &outcome, sizeof(outcome)) == (ssize_t)sizeof(outcome) ? 0 : 1);
}

bool tg_job_start(struct tg_job *job, const struct tg_job_task *task, struct tg_error *err) {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) {
    tg_error_set(err, "pipe: %s", strerror(errno));
    return false;
  }
  fflush(NULL);
  pid_t parent = getpid();
  pid_t pid = fork();
  if (pid == 0) {
    become(task, parent, fds[1]);
  }
  close(fds[1]);
  if (pid < 0) {
    tg_error_set(err, "fork: %s", strerror(errno));
    close(fds[0]);
    return false;
  }
  *job = (struct tg_job){.task = *task, .pid = pid, .outcome_fd = fds[0], .looked_s = tg_now_s()};
  return true;
}

static double seconds(struct timeval time) {
  return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

bool tg_job_reap(struct tg_job *job, struct tg_job_outcome *out) {
  struct rusage used;
  int status;
  if (wait4(job->pid, &status, WNOHANG, &used) != job->pid) {
    return false;
  }
  if (read(job->outcome_fd, out, sizeof(*out)) != (ssize_t)sizeof(*out)) {
    *out = (struct tg_job_outcome){.ok = false};
    (void)snprintf(out->error, sizeof(out->error), "ended before it was done");
    (void)snprintf(out->slice.error, sizeof(out->slice.error), "%s", out->error);
  }
  close(job->outcome_fd);
  out->slice.cpu_s = seconds(used.ru_utime) + seconds(used.ru_stime);
  job->pid = 0;
  return true;
}

static void count(struct tg_job *job) {
  double now = tg_now_s();
  job->ran_s += job->paused ? 0 : now - job->looked_s;
  job->looked_s = now;
}

void tg_job_pause(struct tg_job *job) {
  if (job->task.kind != TG_JOB_SLICE) {
    tg_job_end(job);
  } else if (!job->paused) {
    count(job);
    job->paused = true;
    (void)tg_tree_stop(job->pid);
  }
}

void tg_job_resume(struct tg_job *job) {
  if (job->paused) {
    count(job);
    job->paused = false;
    tg_tree_signal(job->pid, SIGCONT);
  }
}

void tg_job_end(struct tg_job *job) {
  double now = tg_now_s();
  if (job->task.kind != TG_JOB_SLICE) {
    (void)kill(job->pid, SIGKILL);
    return;
  }
  if (!job->ended) {
    job->ended = true;
    job->end_sent_s = now;
    tg_job_resume(job);
    job->ran_s = 0;
    (void)kill(job->pid, SIGTERM);
    return;
  }
  count(job);
  if (job->ran_s > END_S) {
    (void)kill(job->pid, SIGKILL);
  } else if (now - job->end_sent_s > AGAIN_S) {
    // Each ends one child: an engine, the replay of what it found, the merge.
    job->end_sent_s = now;
    (void)kill(job->pid, SIGTERM);
  }
}

bool tg_job_overlong(struct tg_job *job) {
  count(job);
  return job->ran_s > (job->task.kind == TG_JOB_SLICE ? job->task.slice_s + SLICE_MORE_S : OTHER_MAX_S);
}

const char *tg_job_task_name(const struct tg_job_task *task) {
  switch (task->kind) {
    case TG_JOB_SLICE:
      return tg_fuzzd_engine_names[task->engine];
    case TG_JOB_TRIAGE:
      return "triage";
    default:
      return "prune";
  }
}
