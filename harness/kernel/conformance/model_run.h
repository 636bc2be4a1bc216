// A schedule on the model of TCP.
#ifndef TLSGATE_HARNESS_KERNEL_CONFORMANCE_MODEL_RUN_H
#define TLSGATE_HARNESS_KERNEL_CONFORMANCE_MODEL_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "harness/kernel/conformance/schedule.h"

// What a schedule leaves open and no prediction may depend on.
struct tg_circumstances {
  uint64_t phase_ns;      // of the jiffy clock when the connection is made, below 4 ms
  uint64_t oversleep_ns;  // what every sleep takes longer
  uint64_t call_ns;       // what a system call takes
  uint64_t delay_ns;      // one way
};

// tg_model_run runs `schedule` with `rules` (enum tg_tcp_rule), and writes a trace to `trace` unless that is NULL.
// An await that would never end is of class TG_WAIT_ODD and ends the run. (Round trips take microseconds here.)
void tg_model_run(const struct tg_schedule *schedule, uint32_t rules, const struct tg_circumstances *circumstances,
                  FILE *trace, struct tg_outcome *out);

// tg_model_predict runs it under circumstances of all kinds. Returns whether all agree on the waits; `out` is what the
// first one showed, and `out_counts_agree` whether all had the same number of delayed ACKs.
bool tg_model_predict(const struct tg_schedule *schedule, uint32_t rules, struct tg_outcome *out,
                      bool *out_counts_agree);

#endif
