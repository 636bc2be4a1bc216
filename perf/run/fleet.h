// The servers of one run: the one that is judged, and the same server configured for the variants that need a
// configuration of their own. They run from the first round to the last; an idle one costs nothing.
#ifndef TLSGATE_PERF_RUN_FLEET_H
#define TLSGATE_PERF_RUN_FLEET_H

#include <stdbool.h>

#include "harness/base/error.h"
#include "perf/process/server.h"
#include "perf/servers/describe.h"
#include "perf/servers/launch.h"

enum tg_member {
  TG_MEMBER_MAIN,       // P-256, TLS and plaintext
  TG_MEMBER_HRR,        // accepts P-384 alone, so that a client which offers X25519 first gets a HelloRetryRequest
  TG_MEMBER_CLIENT_CA,  // requires a client certificate
  TG_MEMBER_RSA4096,    // an RSA key of 4096 bits
  TG_MEMBERS,
};

struct tg_fleet_config {
  // NULL: the project's own server, as the three below say.
  const struct tg_server_description *description;
  const char *server;    // the program; what @https_server@ of a description stands for
  const char *quickack;  // rearm, accept or off
  const char *fault;     // of faulty_server (perf/testing); NULL for the server itself
};

struct tg_fleet {
  struct tg_server servers[TG_MEMBERS];
  struct tg_launch launches[TG_MEMBERS];  // of a described server, which `servers` then are views of
};

// tg_member_name is the member's name in reports; tg_member_variant its variant in a description.
const char *tg_member_name(enum tg_member member);
enum tg_server_variant tg_member_variant(enum tg_member member);

// tg_fleet_start makes the scratch folder (scratch.h) with a client certificate and starts the members that `wanted`
// marks. Returns false with `err` filled in; then nothing is left running or lying about.
bool tg_fleet_start(struct tg_fleet *fleet, const struct tg_fleet_config *config, const bool wanted[TG_MEMBERS],
                    struct tg_error *err);

// tg_fleet_stop stops every member and removes the scratch folder. Returns false with `err` filled in if one of them
// did not end as it should have.
bool tg_fleet_stop(struct tg_fleet *fleet, struct tg_error *err);

#endif
