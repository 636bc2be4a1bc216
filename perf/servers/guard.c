#include "perf/servers/guard.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
#define NUM_SIGNALS (sizeof(signals) / sizeof(signals[0]))

// Process-wide because a signal is. The handler only writes to the pipe; a thread does what a handler may not
// (signal-safety(7)).
static int wake[2] = {-1, -1};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct tg_launch *guarded[TG_LAUNCHES_MAX];
static struct sigaction before[NUM_SIGNALS];

static size_t count(void) {
  size_t num = 0;
  for (size_t i = 0; i < TG_LAUNCHES_MAX; i++) {
    num += guarded[i] != NULL;
  }
  return num;
}

static void on_signal(int number) {
  unsigned char byte = (unsigned char)number;
  (void)!write(wake[1], &byte, 1);
}

static void *watch(void *unused) {
  (void)unused;
  unsigned char byte = 0;
  while (read(wake[0], &byte, 1) != 1) {
  }
  (void)pthread_mutex_lock(&lock);
  for (size_t i = 0; i < TG_LAUNCHES_MAX; i++) {
    if (guarded[i] != NULL && guarded[i]->server.pid > 0) {
      (void)kill(-guarded[i]->server.pid, SIGKILL);
    }
    if (guarded[i] != NULL) {
      tg_stage_remove(&guarded[i]->stage);
    }
  }
  // What others have to remove they remove, and then end the process; raise(3) would signal this thread alone.
  for (size_t i = 0; i < NUM_SIGNALS; i++) {
    (void)sigaction(signals[i], &before[i], NULL);
  }
  (void)kill(getpid(), byte);
  return NULL;
}

bool tg_guard_begin(struct tg_launch *launch, struct tg_error *err) {
  pthread_t thread;
  if (wake[0] < 0) {
    if (pipe2(wake, O_CLOEXEC) != 0 || pthread_create(&thread, NULL, watch, NULL) != 0) {
      tg_error_set(err, "cannot watch for signals: out of descriptors or threads");
      return false;
    }
    (void)pthread_detach(thread);
  }
  (void)pthread_mutex_lock(&lock);
  const size_t others = count();
  bool ok = others < TG_LAUNCHES_MAX;
  for (size_t i = 0; ok && i < TG_LAUNCHES_MAX; i++) {
    if (guarded[i] == NULL) {
      guarded[i] = launch;
      break;
    }
  }
  (void)pthread_mutex_unlock(&lock);
  if (!ok) {
    tg_error_set(err, "more than %d servers at one time", TG_LAUNCHES_MAX);
    return false;
  }
  const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  for (size_t i = 0; others == 0 && i < NUM_SIGNALS; i++) {
    (void)sigaction(signals[i], &action, &before[i]);
  }
  return true;
}

void tg_guard_end(const struct tg_launch *launch) {
  bool last = false;
  (void)pthread_mutex_lock(&lock);
  for (size_t i = 0; i < TG_LAUNCHES_MAX; i++) {
    if (guarded[i] == launch) {
      guarded[i] = NULL;
      last = count() == 0;
    }
  }
  (void)pthread_mutex_unlock(&lock);
  for (size_t i = 0; last && i < NUM_SIGNALS; i++) {
    (void)sigaction(signals[i], &before[i], NULL);
  }
}
