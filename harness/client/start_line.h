// Where clients that measure together wait for each other: nobody starts to measure before all have warmed up, and
// nobody waits for one that has failed.
#ifndef TLSGATE_HARNESS_CLIENT_START_LINE_H
#define TLSGATE_HARNESS_CLIENT_START_LINE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct tg_start_line {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  uint32_t expected;  // clients that are to arrive
  uint32_t arrived;
  bool failed;
  int64_t started_ns;      // when the last one arrived: CLOCK_MONOTONIC
  int64_t started_cpu_ns;  // CPU time of the process until then
};

// tg_start_line_init prepares for `clients` of them (1 or more).
void tg_start_line_init(struct tg_start_line *line, uint32_t clients);
void tg_start_line_destroy(struct tg_start_line *line);

// tg_start_line_wait is called once by each client, when it has warmed up. It returns true when all have, and false as
// soon as one has failed: then there is nothing to measure.
bool tg_start_line_wait(struct tg_start_line *line);

// tg_start_line_fail releases those that wait, and tells those that measure (tg_start_line_failed). Returns whether
// this is the first failure, which is the one to report.
bool tg_start_line_fail(struct tg_start_line *line);

// tg_start_line_failed says whether a client has failed.
bool tg_start_line_failed(struct tg_start_line *line);

#endif
