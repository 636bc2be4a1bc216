// What a handshake costs on this CPU without a socket: the measure that server CPU is held against.
#ifndef TLSGATE_PERF_WORKLOAD_CALIBRATE_H
#define TLSGATE_PERF_WORKLOAD_CALIBRATE_H

#include <stdbool.h>

#include "harness/base/error.h"

// tg_calibrate runs `bench` (the path of handshake_bench) for `count` full handshakes with `key_type` in memory and
// returns the median of the server side's CPU microseconds a handshake in *server_us: a
// mean of so few is carried away by one interruption.
bool tg_calibrate(const char *bench, unsigned count, const char *key_type, double *server_us, struct tg_error *err);

#endif
