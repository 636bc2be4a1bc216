#include "harness/client/start_line.h"

#include <assert.h>
#include <time.h>

void tg_start_line_init(struct tg_start_line *line, uint32_t clients) {
  assert(clients > 0);
  *line = (struct tg_start_line){.expected = clients};
  (void)pthread_mutex_init(&line->lock, NULL);
  (void)pthread_cond_init(&line->changed, NULL);
}

void tg_start_line_destroy(struct tg_start_line *line) {
  (void)pthread_cond_destroy(&line->changed);
  (void)pthread_mutex_destroy(&line->lock);
}

static int64_t read_ns(clockid_t clock) {
  struct timespec now;
  (void)clock_gettime(clock, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

bool tg_start_line_wait(struct tg_start_line *line) {
  (void)pthread_mutex_lock(&line->lock);
  assert(line->arrived < line->expected);
  if (++line->arrived == line->expected) {
    line->started_cpu_ns = read_ns(CLOCK_PROCESS_CPUTIME_ID);
    line->started_ns = read_ns(CLOCK_MONOTONIC);
    (void)pthread_cond_broadcast(&line->changed);
  }
  while (line->arrived < line->expected && !line->failed) {
    (void)pthread_cond_wait(&line->changed, &line->lock);
  }
  const bool go = !line->failed;
  (void)pthread_mutex_unlock(&line->lock);
  return go;
}

bool tg_start_line_fail(struct tg_start_line *line) {
  (void)pthread_mutex_lock(&line->lock);
  const bool first = !line->failed;
  line->failed = true;
  (void)pthread_cond_broadcast(&line->changed);
  (void)pthread_mutex_unlock(&line->lock);
  return first;
}

bool tg_start_line_failed(struct tg_start_line *line) {
  (void)pthread_mutex_lock(&line->lock);
  const bool failed = line->failed;
  (void)pthread_mutex_unlock(&line->lock);
  return failed;
}
