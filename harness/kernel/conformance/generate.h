// Schedules from a seed.
#ifndef TLSGATE_HARNESS_KERNEL_CONFORMANCE_GENERATE_H
#define TLSGATE_HARNESS_KERNEL_CONFORMANCE_GENERATE_H

#include <stdbool.h>
#include <stdint.h>

#include "harness/kernel/conformance/schedule.h"

// tg_generate makes schedule number `number` of `seed`: the same, always. A few messages to and fro, each in one to
// three writes, with the socket options, reads and pauses that the rules of tcp.h turn on. Returns whether it is fit to
// be compared: the model predicts the same waits under all circumstances (tg_model_predict), and each has a class.
// `out` and `outcome` are set in any case.
bool tg_generate(uint64_t seed, uint64_t number, struct tg_schedule *out, struct tg_outcome *outcome);

#endif
