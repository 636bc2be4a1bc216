// What the comparison is worth on this machine: the server against itself, and against itself with CPU burnt in every
// handshake, many times.
#ifndef TLSGATE_PERF_COMPARE_SERIES_H
#define TLSGATE_PERF_COMPARE_SERIES_H

#include <jansson.h>
#include <stdbool.h>

#include "harness/base/error.h"
#include "perf/compare/options.h"

// tg_series_run compares `faulty_server` (perf/testing) without a burn with itself 10 times, with 5 % of a handshake's
// CPU burnt on top 5 times, and with 10 % 5 times, in turns. The percentage is of what a full handshake with its
// connection and request costs the server, measured first; a resumed handshake has the same time added. All of it takes
// the budget of `options`, and at most a minute more; a machine too slow for it gets fewer rounds. Prints a line
// a comparison and a table at the end on standard output, and returns in *report (a new object) every figure. Returns
// the exit status: 0, 1 or 3, as the help of the options says; or -1 with `err` filled in, and no report, when a
// comparison failed.
int tg_series_run(const char *faulty_server, const char *rtt_client, const struct tg_compare_options *options,
                  json_t **report, struct tg_error *err);

#endif
