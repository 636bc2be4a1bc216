// What happened in a run, one line an event, after packetdrill: time, who, what, and why.
//
//   +0.042311 c1 client > P. 0:80 (80) ack 1201 win 65536
//   +0.042313 c1 server . ack delayed 40 ms (pingpong 1 >= 1)
//   +0.042320 s0 setsockopt(7, TCP_QUICKACK, 1) = 0
//
// The last lines are always kept (a ring), so that a finding can show them; all lines go to a stream when there is one.
#ifndef TLSGATE_HARNESS_KERNEL_TRACE_H
#define TLSGATE_HARNESS_KERNEL_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "harness/kernel/sim.h"

#define TG_TRACE_LINES    64u
#define TG_TRACE_LINE_LEN 160u

struct tg_trace {
  const struct tg_sim *sim;  // the clock
  uint64_t start_ns;         // printed times count from here
  FILE *stream;              // borrowed; NULL: none
  bool silent;               // keep nothing: lines are not even formatted
  uint64_t hash;             // FNV-1a of all lines: two runs with the same hash and count had the same trace
  uint64_t lines;
  char ring[TG_TRACE_LINES][TG_TRACE_LINE_LEN];
};

void tg_trace_init(struct tg_trace *trace, const struct tg_sim *sim, FILE *stream);

// tg_trace_line adds a line, cut at TG_TRACE_LINE_LEN - 1 bytes. A NULL trace is ignored.
__attribute__((format(printf, 2, 3))) void tg_trace_line(struct tg_trace *trace, const char *format, ...);

// tg_trace_tail writes the lines that are kept, oldest first.
void tg_trace_tail(const struct tg_trace *trace, FILE *to);

#endif
