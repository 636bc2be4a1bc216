// A comparison: describes the servers, makes one certificate for all of them, and runs the rounds.
#ifndef TLSGATE_PERF_PEERS_RUN_H
#define TLSGATE_PERF_PEERS_RUN_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "perf/peers/measure.h"
#include "perf/peers/options.h"
#include "perf/peers/result.h"

// What a run works with.
struct tg_peers_contest {
  struct tg_server_description descriptions[TG_PEERS_SERVERS_MAX];  // of result.servers, in order
  struct tg_peers_result result;
  struct tg_stage certificate;  // that holds the certificate
};

// tg_peers_describe decodes the descriptions of the servers of `options`: those that are shipped lie in `shipped`. What
// is not installed is in result.absent and nowhere else. Returns false with `err` filled in when one cannot be decoded
// or two have one name; then there is nothing to free.
bool tg_peers_describe(struct tg_peers_contest *contest, const struct tg_peers_options *options, const char *shipped,
                       struct tg_error *err);

// tg_peers_run makes the certificate (P-256, self-signed) and runs all rounds; the order of servers moves by one with
// each. Returns false with `err` filled in when there is no certificate, or strace is wanted and missing.
bool tg_peers_run(struct tg_peers_contest *contest, const struct tg_peers_plan *plan, struct tg_error *err);

// tg_peers_free removes the certificate and frees the descriptions.
void tg_peers_free(struct tg_peers_contest *contest);

// tg_peers_exact_calls returns how many system calls the exact gates count for a full TLS 1.3 connection (`file`:
// baselines/exact.json, its calls of full_tls13 but clock_gettime, which is none where the vDSO has it), or 0.
long tg_peers_exact_calls(const char *file);

#endif
