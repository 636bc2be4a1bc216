// The model against the kernel of this host: every schedule runs on real loopback sockets, and must wait where the
// model says and only there; the kernel's own counter of delayed ACKs must say what the model's does.
//
// Each schedule runs three times, each time on a new connection in a private network namespace of its thread, so that
// the counter is that connection's. All three alike: the kernel's outcome. Otherwise the schedule is bimodal; these are
// listed, and more than 2 in 100 are a failure. What agrees, for each schedule that is not: the class of every await,
// and the number of delayed ACKs.
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "harness/kernel/conformance/corpus.h"
#include "harness/kernel/conformance/model_run.h"
#include "harness/kernel/conformance/namespace.h"
#include "harness/kernel/conformance/socket_run.h"

#define REPEATS         3
#define THREADS         24
#define LATE_MAX        60  // a busy machine: so many times a repeat is made again
#define BIMODAL_PERCENT 2u
#define ERROR_LEN       512
#define NS_PER_MS       UINT64_C(1000000)
#define WATCH_NS        (5 * NS_PER_MS)
#define STANDSTILL_NS   (10 * NS_PER_MS)  // of the machine: what was measured meanwhile counts for nothing

struct measured {
  struct tg_outcome repeats[REPEATS];
  unsigned late;  // repeats that were made again
  bool done;
};

static struct tg_corpus corpus;
static struct measured measured[TG_CORPUS_MAX];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static size_t next_case;
static char first_error[ERROR_LEN];

static void report(const char *error) {
  pthread_mutex_lock(&lock);
  if (first_error[0] == '\0') {
    snprintf(first_error, sizeof(first_error), "%s", error);
  }
  pthread_mutex_unlock(&lock);
}

static bool take(size_t *out) {
  pthread_mutex_lock(&lock);
  *out = next_case;
  bool taken = next_case < corpus.num_cases && first_error[0] == '\0';
  next_case += taken;
  pthread_mutex_unlock(&lock);
  return taken;
}

static atomic_bool watching = true;
static atomic_uint_fast64_t stood_still_ns;  // when that was last seen

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000 * NS_PER_MS + (uint64_t)t.tv_nsec;
}

// Notes when this machine does not run what is due.
static void *watch(void *unused) {
  while (watching) {
    uint64_t start_ns = now_ns();
    nanosleep(&(struct timespec){0, WATCH_NS}, NULL);
    if (now_ns() - start_ns > WATCH_NS + STANDSTILL_NS) {
      stood_still_ns = now_ns();
    }
  }
  return unused;
}

// As tg_socket_run, on a machine that ran.
static enum tg_socket_run run_watched(const struct tg_schedule *schedule, struct tg_outcome *outcome, char *error) {
  uint64_t start_ns = now_ns();
  enum tg_socket_run run = tg_socket_run(schedule, outcome, error, ERROR_LEN);
  return run == TG_SOCKET_RUN_OK && stood_still_ns >= start_ns ? TG_SOCKET_RUN_LATE : run;
}

static bool measure(const struct tg_case *of, struct measured *out) {
  char error[ERROR_LEN];
  if (!tg_namespace_set("tcp_pingpong_thresh", of->schedule.threshold, error, sizeof(error))) {
    report(error);
    return false;
  }
  for (int i = 0; i < REPEATS; i++) {
    struct tg_outcome *outcome = &out->repeats[i];
    for (unsigned tries = 0;; tries++) {
      enum tg_socket_run run = run_watched(&of->schedule, outcome, error);
      if (run == TG_SOCKET_RUN_FAILED) {
        char text[ERROR_LEN];
        snprintf(text, sizeof(text), "%s: %.300s", of->name, error);
        report(text);
        return false;
      }
      // A wait of no class is a machine that was late, or a model that is wrong: then it is so every time.
      if (run == TG_SOCKET_RUN_OK && (strchr(outcome->waits, TG_WAIT_ODD) == NULL || tries >= 3)) {
        break;
      }
      if (tries == LATE_MAX) {
        report("the machine is too busy: sleeps of milliseconds end milliseconds late. Run nothing beside this test");
        return false;
      }
      out->late++;
    }
  }
  out->done = true;
  return true;
}

static void *worker(void *unused) {
  char error[ERROR_LEN];
  size_t at;
  if (!tg_namespace_enter(error, sizeof(error))) {
    report(error);
    return unused;
  }
  while (take(&at) && measure(&corpus.cases[at], &measured[at])) {
  }
  return unused;
}

static bool same(const struct tg_outcome *a, const struct tg_outcome *b) {
  return strcmp(a->waits, b->waits) == 0 && a->delayed_acks == b->delayed_acks;
}

static void show(const char *what, const struct tg_case *of, const struct measured *m) {
  char text[TG_SCHEDULE_TEXT_MAX];
  tg_schedule_print(&of->schedule, text);
  printf("%s: %s\n  model  %s, %" PRIu64 " delayed ACKs\n", what, of->name, of->predicted.waits,
         of->predicted.delayed_acks);
  for (int i = 0; i < REPEATS; i++) {
    printf("  kernel %s, %" PRIu64 "\n", m->repeats[i].waits, m->repeats[i].delayed_acks);
  }
  printf("  %s\n", text);
}

// Prints who was asked: the rules are one kernel's, and others may differ.
static void show_kernel(void) {
  struct utsname name;
  struct timespec tick;
  uname(&name);
  clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
  printf("kernel: %s %s, HZ %ld (from the coarse clock), tcp_pingpong_thresh %" PRId64 " by default\n", name.sysname,
         name.release, 1000000000L / tick.tv_nsec, tg_namespace_get("tcp_pingpong_thresh"));
}

static bool judge(void) {
  size_t stalling = 0;
  size_t bimodal = 0;
  size_t agree = 0;
  size_t disagree = 0;
  unsigned late = 0;
  uint64_t delayed_model = 0;
  uint64_t delayed_kernel = 0;
  for (size_t i = 0; i < corpus.num_cases; i++) {
    const struct tg_case *of = &corpus.cases[i];
    const struct measured *m = &measured[i];
    stalling += tg_case_stalls(of);
    late += m->late;
    if (!same(&m->repeats[0], &m->repeats[1]) || !same(&m->repeats[0], &m->repeats[2])) {
      bimodal++;
      show("bimodal", of, m);
      continue;
    }
    delayed_model += of->predicted.delayed_acks;
    delayed_kernel += m->repeats[0].delayed_acks;
    if (same(&m->repeats[0], &of->predicted)) {
      agree++;
    } else {
      disagree++;
      show("DISAGREES", of, m);
    }
  }
  printf("schedules: %zu, of which stall: %zu (%.0f %%)\n", corpus.num_cases, stalling,
         100.0 * (double)stalling / (double)corpus.num_cases);
  printf("model and kernel agree: %zu, disagree: %zu, bimodal: %zu (%u %% may be)\n", agree, disagree, bimodal,
         BIMODAL_PERCENT);
  printf("delayed ACKs, bimodal ones left out: model %" PRIu64 ", kernel (TcpExt DelayedACKs) %" PRIu64 "\n",
         delayed_model, delayed_kernel);
  printf("repeats made again because the machine was late: %u\n", late);
  return disagree == 0 && 100 * bimodal <= BIMODAL_PERCENT * corpus.num_cases;
}

int main(int argc, char **argv) {
  char error[ERROR_LEN];
  for (int i = 1; i < argc; i++) {
    if (!tg_corpus_read(&corpus, argv[i], error, sizeof(error))) {
      fprintf(stderr, "kernel_test: %s\n", error);
      return 1;
    }
  }
  if (corpus.num_cases == 0 || !tg_namespace_permit(error, sizeof(error))) {
    fprintf(stderr, "kernel_test: %s\n", corpus.num_cases == 0 ? "no schedules: name their files" : error);
    return 1;
  }
  show_kernel();
  pthread_t watcher;
  pthread_t threads[THREADS];
  if (pthread_create(&watcher, NULL, watch, NULL) != 0) {
    fprintf(stderr, "kernel_test: cannot make a thread\n");
    return 1;
  }
  for (int i = 0; i < THREADS; i++) {
    if (pthread_create(&threads[i], NULL, worker, NULL) != 0) {
      fprintf(stderr, "kernel_test: cannot make thread %d of %d\n", i + 1, THREADS);
      return 1;
    }
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
  }
  watching = false;
  pthread_join(watcher, NULL);
  if (first_error[0] != '\0') {
    fprintf(stderr, "kernel_test: %s\n", first_error);
    return 1;
  }
  return judge() ? 0 : 1;
}
