// The servers of one run: the one that is judged, and the same program configured for the variants that need a
// configuration of their own. They run from the first round to the last; an idle one costs nothing.
#ifndef TLSGATE_PERF_RUN_FLEET_H
#define TLSGATE_PERF_RUN_FLEET_H

#include <stdbool.h>

#include "harness/base/error.h"
#include "perf/process/server.h"

enum tg_member {
  TG_MEMBER_MAIN,       // P-256, TLS and plaintext
  TG_MEMBER_HRR,        // accepts P-384 alone, so that a client which offers X25519 first gets a HelloRetryRequest
  TG_MEMBER_CLIENT_CA,  // requires a client certificate
  TG_MEMBER_RSA4096,    // an RSA key of 4096 bits
  TG_MEMBERS,
};

struct tg_fleet_config {
  const char *server;    // the program
  const char *quickack;  // rearm, accept or off
  const char *fault;     // of faulty_server (perf/testing); NULL for the server itself
};

struct tg_fleet {
  struct tg_server servers[TG_MEMBERS];
};

// tg_fleet_start makes the scratch folder (scratch.h) with a client certificate and starts the members that `wanted`
// marks. Returns false with `err` filled in; then nothing is left running or lying about.
bool tg_fleet_start(struct tg_fleet *fleet, const struct tg_fleet_config *config, const bool wanted[TG_MEMBERS],
                    struct tg_error *err);

// tg_fleet_stop stops every member and removes the scratch folder. Returns false with `err` filled in if one of them
// did not end as it should have.
bool tg_fleet_stop(struct tg_fleet *fleet, struct tg_error *err);

#endif
