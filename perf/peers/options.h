// The command line of `compare`.
#ifndef TLSGATE_PERF_PEERS_OPTIONS_H
#define TLSGATE_PERF_PEERS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "perf/peers/result.h"

struct tg_peers_options {
  const char *servers[TG_PEERS_SERVERS_MAX];  // names of shipped descriptions, or files (a '/' is in them)
  size_t num_servers;                         // all that are shipped, if none was named
  const char *out;                            // folder of the report; NULL: the default
  bool wanted[TG_PEERS_WORKLOADS];
  size_t rounds;
  int workers;
  bool bars;  // a bar that is not reached is exit status 1
  bool quiet;
};

enum tg_peers_parsed { TG_PEERS_GO, TG_PEERS_DONE, TG_PEERS_WRONG };

// tg_peers_options_parse decodes the command line, and does --help and --list itself (TG_PEERS_DONE). What is wrong has
// been said on stderr (TG_PEERS_WRONG). `out` points into `argv`.
enum tg_peers_parsed tg_peers_options_parse(struct tg_peers_options *out, int argc, char **argv);

#endif
