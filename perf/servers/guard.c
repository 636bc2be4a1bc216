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
static struct tg_launch *guarded;

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
  if (guarded != NULL) {
    if (guarded->server.pid > 0) {
      (void)kill(-guarded->server.pid, SIGKILL);
    }
    tg_stage_remove(&guarded->stage);
  }
  (void)signal(byte, SIG_DFL);
  (void)raise(byte);
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
  guarded = launch;
  (void)pthread_mutex_unlock(&lock);
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  for (size_t i = 0; i < NUM_SIGNALS; i++) {
    (void)sigaction(signals[i], &action, NULL);
  }
  return true;
}

void tg_guard_end(void) {
  (void)pthread_mutex_lock(&lock);
  guarded = NULL;
  (void)pthread_mutex_unlock(&lock);
  for (size_t i = 0; i < NUM_SIGNALS; i++) {
    (void)signal(signals[i], SIG_DFL);
  }
}
