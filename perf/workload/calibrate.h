// What a handshake costs on this CPU without a socket: the measure that server CPU is held against.
#ifndef TLSGATE_PERF_WORKLOAD_CALIBRATE_H
#define TLSGATE_PERF_WORKLOAD_CALIBRATE_H

#include <stdbool.h>

#include "harness/base/error.h"

// tg_calibrate runs `bench` (the path of handshake_bench) for `count` full handshakes in memory and returns the median
// of the server side's CPU microseconds a handshake in *server_us: a mean of so few is carried away by one
// interruption. `cert` and `key` are PEM files of the server's certificate chain and key; NULL: a P-256 certificate.
bool tg_calibrate(const char *bench, unsigned count, const char *cert, const char *key, double *server_us,
                  struct tg_error *err);

#endif
