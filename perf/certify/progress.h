// Progress for a person: which part runs, for how long, what it is at, and what comes next.
#ifndef TLSGATE_PERF_CERTIFY_PROGRESS_H
#define TLSGATE_PERF_CERTIFY_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

// On a terminal the line is written over; elsewhere there is a line every so many seconds.
#define TG_PROGRESS_LINE_S 30.0

struct tg_progress {
  FILE *out;
  bool terminal;
  size_t number;     // of the part, from 1
  size_t total;      // parts
  const char *name;  // of the part
  const char *next;  // name of the next one; NULL: none
  double started_s;  // of the certification, on CLOCK_MONOTONIC
  double part_s;     // of the part
  double shown_s;
  char detail[96];  // what the part is at
};

// tg_progress_begin says that a part begins.
void tg_progress_begin(struct tg_progress *progress, size_t number, const char *name, const char *next);

// tg_progress_detail says what the part is at; shown with the next line. Control characters become blanks.
void tg_progress_detail(struct tg_progress *progress, const char *format, ...) __attribute__((format(printf, 2, 3)));

// tg_progress_is_due says whether it is time for a line.
bool tg_progress_is_due(const struct tg_progress *progress);

// tg_progress_tick shows a line if it is time for one.
void tg_progress_tick(struct tg_progress *progress);

// tg_progress_end says what became of the part.
void tg_progress_end(struct tg_progress *progress, const char *verdict, const char *message);

#endif
