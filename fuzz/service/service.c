#include "fuzz/service/service.h"

#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "fuzz/launcher/files.h"
#include "fuzz/service/durable.h"
#include "fuzz/service/instance.h"
#include "fuzz/service/job.h"
#include "fuzz/service/page.h"
#include "fuzz/service/prune.h"
#include "fuzz/service/recover.h"
#include "fuzz/service/right_of_way.h"
#include "fuzz/service/tree.h"
#include "perf/host/lock.h"
#include "perf/process/child.h"

#define POLL_MS       200
#define NICENESS      19
#define MEMORY_LOOK_S 1.0
#define DISK_LOOK_S   30.0
#define TRIAGE_REST_S 60.0  // before a triage or a prune that failed is tried again

// A job's processes together, compared with what one input may use: the engine itself and, with AFL++, its forks.
#define MEMORY_OF_JOB 1.5

enum { STATUS_OK, STATUS_FAILED, STATUS_USAGE };

struct service {
  const struct tg_fuzzd_options *options;
  const struct tg_fuzz_target *table[TG_FUZZD_TARGETS_MAX];  // by their place in the state; NULL: not fuzzed
  struct tg_fuzzd_choice choice;
  struct tg_fuzzd_state state;
  struct tg_right_of_way way;
  struct tg_job jobs[TG_FUZZD_TARGETS_MAX];
  double rest_until_s[TG_FUZZD_TARGETS_MAX];  // tg_now_s(): of triage and prune
  char failures[TG_FUZZD_TARGETS_MAX][320];   // why they rest; empty: they do not
  bool prune_now[TG_FUZZD_TARGETS_MAX];       // for want of disk
  double begun_s;
  double saved_up_s;
  double paged_s;
  double memory_s;
  double disk_s;
  struct tg_layout_size disk;
  bool over_disk;
  bool paused;
  bool stopping;
};

static volatile sig_atomic_t caught;

static void catch_signal(int number) {
  caught = number;
}

static void path_in(const struct service *service, const char *name, char out[PATH_MAX]) {
  tg_path(out, "%s/%s", service->options->dir, name);
}

static unsigned running(const struct service *service) {
  unsigned num = 0;
  for (unsigned i = 0; i < service->options->jobs; i++) {
    num += service->jobs[i].pid != 0 ? 1 : 0;
  }
  return num;
}

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...) {
  time_t now = time(NULL);
  struct tm utc;
  char when[16] = "";
  if (gmtime_r(&now, &utc) != NULL) {
    (void)strftime(when, sizeof(when), "%H:%M:%S ", &utc);
  }
  fputs(when, stdout);
  va_list arguments;
  va_start(arguments, format);
  vprintf(format, arguments);
  va_end(arguments);
  putchar('\n');
  fflush(stdout);
}

static bool save(struct service *service, struct tg_error *err) {
  char path[PATH_MAX];
  path_in(service, "state.json", path);
  double up_s = tg_now_s() - service->begun_s;
  service->state.up_s += up_s - service->saved_up_s;
  service->saved_up_s = up_s;
  return tg_fuzzd_state_save(path, &service->state, err);
}

// The page.

static void describe_job(const struct tg_job *job, bool paused, char out[96]) {
  (void)snprintf(out, 96, "%s%s", tg_job_task_name(&job->task), paused ? ", paused" : "");
}

static bool write_page(struct service *service, struct tg_error *err) {
  static struct tg_page_target targets[TG_FUZZD_TARGETS_MAX];
  char path[PATH_MAX];
  char texts[TG_FUZZD_TARGETS_MAX + 1][512];
  const char *warnings[TG_FUZZD_TARGETS_MAX + 1];
  struct tg_page page = {
      .state = &service->state,
      .choice = &service->choice,
      .targets = targets,
      .status = service->stopping ? "stopped"
                : service->paused ? "paused"
                                  : "running",
      .note = service->stopping ? "fuzzd was told to end, and kept everything"
              : service->paused ? "Waits for a measurement on this host to end"
                                : "",
      .warnings = warnings,
      .root = service->options->dir,
      .now_s = (double)time(NULL),
      .disk = service->disk,
      .max_disk_mb = service->options->max_disk_mb,
      .refresh_s = service->stopping ? 0 : TG_PAGE_REFRESH_S,
  };
  struct tg_candidate *candidates =
      tg_candidate_list(service->options->dir, TG_PAGE_CANDIDATES_MAX, &page.num_candidates, &page.all_candidates);
  page.candidates = candidates;
  memset(targets, 0, sizeof(targets));
  for (size_t i = 0; i < service->state.num_targets; i++) {
    char corpus[PATH_MAX];
    tg_layout(corpus, service->options->dir, "corpus", service->state.targets[i].name, NULL);
    targets[i].corpus = tg_layout_measure(corpus);
    for (size_t c = 0; c < page.num_candidates; c++) {
      targets[i].candidates += strcmp(candidates[c].target, service->state.targets[i].name) == 0 ? 1 : 0;
    }
    if (service->failures[i][0] != '\0') {
      (void)snprintf(texts[page.num_warnings], sizeof(texts[0]), "%s: %s", service->state.targets[i].name,
                     service->failures[i]);
      warnings[page.num_warnings] = texts[page.num_warnings];
      page.num_warnings++;
    }
  }
  if (service->over_disk) {
    (void)snprintf(
        texts[page.num_warnings], sizeof(texts[0]),
        "Nothing is fuzzed: the folder has more than --max-disk %u MiB even though its corpora are pruned. Keep "
        "or remove candidates and unreproduced inputs, or allow more.",
        service->options->max_disk_mb);
    warnings[page.num_warnings] = texts[page.num_warnings];
    page.num_warnings++;
  }
  for (unsigned i = 0; i < service->options->jobs; i++) {
    if (service->jobs[i].pid != 0) {
      describe_job(&service->jobs[i], service->paused, targets[service->jobs[i].task.index].now);
    }
  }
  path_in(service, "status.html", path);
  bool ok = tg_page_write(path, &page, err);
  free(candidates);
  return ok;
}

// Jobs.

static void keep_log(const struct service *service, const struct tg_job_task *task) {
  char work[PATH_MAX];
  char from[PATH_MAX];
  char to[PATH_MAX];
  tg_fuzzd_work(work, task->root, task->target->name, tg_job_task_name(task));
  const char *name = task->kind == TG_JOB_SLICE    ? task->engine == TG_FUZZD_AFL ? "afl.log" : "libfuzzer.log"
                     : task->kind == TG_JOB_TRIAGE ? "replay.log"
                                                   : "merge.log";
  tg_path(from, "%s/%s", work, name);
  tg_path(to, "%s/logs/%s-%s.log", service->options->dir, task->target->name, tg_job_task_name(task));
  if (access(from, R_OK) == 0) {
    (void)rename(from, to);
  }
}

static void finish_slice(struct service *service, const struct tg_job *job, struct tg_job_outcome *outcome) {
  struct tg_fuzzd_slice_result *slice = &outcome->slice;
  struct tg_fuzzd_target_state *target = &service->state.targets[job->task.index];
  // One that fuzzd itself ended has done nothing wrong.
  if (job->ended) {
    slice->ran = true;
    slice->early = false;
  }
  tg_fuzzd_account(&service->state, &service->choice, job->task.index, job->task.engine, job->task.slice_s, slice,
                   (double)time(NULL));
  if (target->pruned_at_s == 0) {
    target->pruned_at_s = (double)time(NULL);
  }
  say("%s %s: %" PRIu64 " executions, %.1f CPU s, %" PRIu64 " edges, %" PRIu64 " new%s%s%s", target->name,
      tg_job_task_name(&job->task), slice->executions, slice->cpu_s, slice->edges, slice->new_edges,
      slice->finding ? ", a finding" : "", outcome->ok ? "" : ": ", outcome->error);
}

static void finish_other(struct service *service, const struct tg_job *job, const struct tg_job_outcome *outcome) {
  size_t index = job->task.index;
  struct tg_fuzzd_target_state *target = &service->state.targets[index];
  target->duplicates += outcome->triage.duplicates;
  target->unreproduced += outcome->triage.unreproduced;
  if (job->task.kind == TG_JOB_TRIAGE) {
    say("%s triage: %" PRIu64 " new, %" PRIu64 " known, %" PRIu64 " unreproduced%s%s", target->name,
        outcome->triage.candidates, outcome->triage.duplicates, outcome->triage.unreproduced, outcome->ok ? "" : ": ",
        outcome->error);
  } else {
    target->pruned_at_s = (double)time(NULL);
    target->pruned_units = outcome->ok ? outcome->units : target->pruned_units;
    service->prune_now[index] = false;
    say("%s pruned: %" PRIu64 " entries left%s%s", target->name, outcome->units, outcome->ok ? "" : ": ",
        outcome->error);
  }
  service->failures[index][0] = '\0';
  if (!outcome->ok && !job->ended && !service->paused) {
    service->rest_until_s[index] = tg_now_s() + TRIAGE_REST_S;
    (void)snprintf(service->failures[index], sizeof(service->failures[0]), "%s failed: %s",
                   tg_job_task_name(&job->task), outcome->error);
  }
}

// Reaps what has ended. Returns false with `err` filled in when the state cannot be kept.
static bool reap(struct service *service, struct tg_error *err) {
  for (unsigned i = 0; i < service->options->jobs; i++) {
    struct tg_job *job = &service->jobs[i];
    struct tg_job_outcome outcome;
    if (job->pid == 0 || !tg_job_reap(job, &outcome)) {
      continue;
    }
    service->choice.busy[job->task.index] = false;
    service->disk_s = 0;
    if (job->task.kind == TG_JOB_SLICE) {
      finish_slice(service, job, &outcome);
    } else {
      finish_other(service, job, &outcome);
    }
    if (!outcome.ok) {
      keep_log(service, &job->task);
    }
    if ((!outcome.ok && !tg_fuzzd_recover(service->options->dir, job->task.target->name, err)) || !save(service, err)) {
      return false;
    }
    service->paged_s = 0;
  }
  return true;
}

static uint64_t units_of(const struct service *service, size_t index) {
  char corpus[PATH_MAX];
  tg_layout(corpus, service->options->dir, "corpus", service->state.targets[index].name, NULL);
  return tg_layout_measure(corpus).files;
}

// What is to be done next: findings first, then prunes that are due, then fuzzing.
static bool choose(struct service *service, struct tg_job_task *task) {
  double now = tg_now_s();
  for (int pass = 0; pass < 2; pass++) {
    for (size_t i = 0; i < service->state.num_targets; i++) {
      if (service->table[i] == NULL || service->choice.busy[i] || now < service->rest_until_s[i]) {
        continue;
      }
      bool due = pass == 0 ? tg_triage_waits(service->options->dir, service->state.targets[i].name)
                           : service->prune_now[i] ||
                                 tg_fuzzd_prune_due(&service->state.targets[i], units_of(service, i),
                                                    (double)time(NULL), service->options->prune_hours * 3600);
      if (due) {
        task->kind = pass == 0 ? TG_JOB_TRIAGE : TG_JOB_PRUNE;
        task->index = i;
        return true;
      }
    }
  }
  task->kind = TG_JOB_SLICE;
  return !service->over_disk &&
         tg_fuzzd_pick(&service->state, &service->choice, (double)time(NULL), &task->index, &task->engine);
}

static bool start_jobs(struct service *service, struct tg_error *err) {
  for (unsigned i = 0; i < service->options->jobs; i++) {
    struct tg_job_task task = {
        .root = service->options->dir,
        .slice_s = service->options->slice_s,
        .minimise_s = service->options->minimise_s,
        .memory_mb = service->options->max_rss_mb,
        .close_fds = {service->way.measure_fd, service->way.build_fd},
    };
    if (service->jobs[i].pid != 0) {
      continue;
    }
    if (!choose(service, &task)) {
      return true;
    }
    task.target = service->table[task.index];
    if (!tg_job_start(&service->jobs[i], &task, err)) {
      return false;
    }
    service->choice.busy[task.index] = true;
    if (task.kind == TG_JOB_SLICE) {
      tg_fuzzd_charge(&service->state, task.index, task.engine, task.slice_s);
      if (!save(service, err)) {
        return false;
      }
    }
    service->paged_s = 0;
  }
  return true;
}

static void make_way(struct service *service) {
  bool wanted = tg_right_of_way_yield(&service->way);
  if (wanted && !service->paused) {
    service->paused = true;
    for (unsigned i = 0; i < service->options->jobs; i++) {
      if (service->jobs[i].pid != 0) {
        tg_job_pause(&service->jobs[i]);
      }
    }
    service->paged_s = 0;
  }
  // Not before those that were killed are gone.
  bool still = true;
  for (unsigned i = 0; i < service->options->jobs; i++) {
    still = still && (service->jobs[i].pid == 0 || service->jobs[i].paused);
  }
  if (wanted && still) {
    tg_right_of_way_leave(&service->way);
  }
  if (!wanted && tg_right_of_way_enter(&service->way) && service->paused) {
    service->paused = false;
    for (unsigned i = 0; i < service->options->jobs; i++) {
      if (service->jobs[i].pid != 0) {
        tg_job_resume(&service->jobs[i]);
      }
    }
    service->paged_s = 0;
  }
}

static void bound_memory(struct service *service) {
  if (tg_now_s() - service->memory_s < MEMORY_LOOK_S) {
    return;
  }
  service->memory_s = tg_now_s();
  for (unsigned i = 0; i < service->options->jobs; i++) {
    struct tg_job *job = &service->jobs[i];
    if (job->pid == 0) {
      continue;
    }
    bool large = job->task.kind == TG_JOB_SLICE &&
                 (double)tg_tree_rss_kb(job->pid) > MEMORY_OF_JOB * 1024 * (double)service->options->max_rss_mb;
    if (large && !job->ended) {
      say("%s %s: ended early, its processes use more than --max-rss allows", job->task.target->name,
          tg_job_task_name(&job->task));
    }
    if (large || job->ended || tg_job_overlong(job)) {
      tg_job_end(job);
    }
  }
}

static void bound_disk(struct service *service) {
  if (tg_now_s() - service->disk_s < DISK_LOOK_S) {
    return;
  }
  service->disk_s = tg_now_s();
  service->disk = tg_layout_measure(service->options->dir);
  bool over = service->disk.bytes > (uint64_t)service->options->max_disk_mb << 20;
  // Corpora are pruned once; if that is not enough, a person is to decide what goes.
  for (size_t i = 0; over && !service->over_disk && i < service->state.num_targets; i++) {
    service->prune_now[i] = service->table[i] != NULL && units_of(service, i) > 0;
  }
  service->over_disk = over;
}

// A test has locks of its own: while it runs, a measurement waits for the build that runs it, and this program would
// wait for the measurement.
static bool open_locks(struct service *service, struct tg_error *err) {
  const char *folder = getenv(TG_FUZZD_LOCKS_ENV);
  if (folder == NULL) {
    return tg_right_of_way_open(&service->way, TG_MEASURE_LOCK, TG_BUILD_LOCK, err);
  }
  char measure[PATH_MAX];
  char build[PATH_MAX];
  tg_path(measure, "%s/measure.lock", folder);
  tg_path(build, "%s/build.lock", folder);
  return tg_right_of_way_open(&service->way, measure, build, err);
}

static bool begin(struct service *service, struct tg_error *err) {
  char path[PATH_MAX];
  path_in(service, "state.json", path);
  tg_fuzzd_sweep(service->options->dir);
  if (!tg_fuzzd_state_load(path, &service->state, err)) {
    return false;
  }
  path_in(service, "logs", path);
  if (!tg_files_make_folder(path, err) || !open_locks(service, err)) {
    return false;
  }
  memcpy(service->choice.engines, service->options->engines, sizeof(service->choice.engines));
  for (size_t i = 0; i < tg_num_fuzz_targets; i++) {
    struct tg_fuzzd_target_state *target = tg_fuzzd_state_target(&service->state, tg_fuzz_targets[i].name);
    if (target == NULL) {
      tg_error_set(err, "%s knows more than %d targets: remove the file, and the figures begin anew", path,
                   TG_FUZZD_TARGETS_MAX);
      return false;
    }
    if (!tg_fuzzd_recover(service->options->dir, target->name, err)) {
      return false;
    }
    size_t index = (size_t)(target - service->state.targets);
    service->choice.targets[index] = service->options->targets[i];
    service->table[index] = service->options->targets[i] ? &tg_fuzz_targets[i] : NULL;
  }
  if (service->state.starts == 0) {
    service->state.begun_at_s = (double)time(NULL);
  }
  service->state.starts++;
  service->begun_s = tg_now_s();
  return save(service, err);
}

// Ends the jobs, keeps what they have left, and says so on the page.
static bool end(struct service *service, struct tg_error *err) {
  bool ok = true;
  for (unsigned i = 0; i < service->options->jobs; i++) {
    if (service->jobs[i].pid != 0) {
      tg_job_resume(&service->jobs[i]);
    }
  }
  while (running(service) > 0) {
    for (unsigned i = 0; i < service->options->jobs; i++) {
      if (service->jobs[i].pid != 0) {
        tg_job_end(&service->jobs[i]);
      }
    }
    ok = reap(service, err) && ok;
    poll(NULL, 0, POLL_MS);
  }
  tg_right_of_way_close(&service->way);
  service->stopping = true;
  return save(service, err) && write_page(service, err) && ok;
}

static bool work(struct service *service, struct tg_error *err) {
  double until_s = service->options->hours > 0 ? service->begun_s + service->options->hours * 3600 : 0;
  while (caught == 0 && (until_s == 0 || tg_now_s() < until_s)) {
    if (!reap(service, err)) {
      return false;
    }
    make_way(service);
    bound_memory(service);
    bound_disk(service);
    if (!service->paused && service->way.ours && !start_jobs(service, err)) {
      return false;
    }
    if (service->paged_s == 0 || tg_now_s() - service->paged_s >= TG_PAGE_REFRESH_S) {
      service->paged_s = tg_now_s();
      if (!save(service, err) || !write_page(service, err)) {
        return false;
      }
    }
    poll(NULL, 0, POLL_MS);
  }
  return true;
}

int tg_fuzzd_run(const struct tg_fuzzd_options *options) {
  static struct service service;
  struct tg_error err;
  service.options = options;
  if (!tg_files_make_folder(options->dir, &err)) {
    fprintf(stderr, "fuzzd: %s\n", err.text);
    return STATUS_USAGE;
  }
  int lock = tg_instance_lock(options->dir, &err);
  if (lock < 0 || !begin(&service, &err)) {
    fprintf(stderr, "fuzzd: %s\n", err.text);
    return STATUS_USAGE;
  }
  const struct sigaction action = {.sa_handler = catch_signal};
  sigaction(SIGTERM, &action, NULL);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGHUP, &action, NULL);
  (void)setpriority(PRIO_PROCESS, 0, NICENESS);
  say("fuzzing in %s; file://%s/status.html shows how it goes", options->dir, options->dir);
  bool ok = work(&service, &err);
  if (!ok) {
    fprintf(stderr, "fuzzd: %s\n", err.text);
  }
  ok = end(&service, &err) && ok;
  close(lock);
  say("ended; a later start goes on from here");
  return ok ? STATUS_OK : STATUS_FAILED;
}
