// What a scenario costs the server, on the simulated kernel: counts that are the same on every machine.
#ifndef TLSGATE_PERF_EXACT_MEASURE_H
#define TLSGATE_PERF_EXACT_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

#include "harness/base/error.h"
#include "harness/kernel/call.h"
#include "perf/exact/scenario.h"

// Of the part that is measured, and of the server alone.
struct tg_exact_counts {
  // System calls by name. epoll_wait as a real thread makes it: the model's calls less its wake-ups, since a wait that
  // parks on the model is made again when it is over (kernel.h). TG_CALL_MALLOC is not used.
  uint64_t calls[TG_CALL_COUNT];
  uint64_t rearms;       // TCP_QUICKACK set to an odd value and taken
  uint64_t wakeups;      // times that a thread came out of an epoll_wait that waited
  uint64_t stalls;       // times that a client's Nagle waited for the server's delayed ACK
  uint64_t allocations;  // made, BoringSSL's among them
  uint64_t bytes;        // of these
  uint64_t peak_bytes;   // the most held at once, beyond what was held when measuring began
};

// tg_measure runs a scenario. Returns false with `err` filled in when it did not come to what it expects. A property of
// docs/properties.md that is broken on the way ends the process (abort), the finding on standard error; a stall is
// none, and is counted. tg_world_init() has been called.
bool tg_measure(const struct tg_scenario *scenario, struct tg_exact_counts *out, struct tg_error *err);

// tg_measure calls these where what is measured begins and ends, and they do nothing: callgrind is told their names
// (--dump-before, run.c).
void tg_exact_measured_begins(void);
void tg_exact_measured_ends(void);

#endif
