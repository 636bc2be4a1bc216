// The command line of rtt_client.
#ifndef TLSGATE_HARNESS_CLIENT_RTT_OPTIONS_H
#define TLSGATE_HARNESS_CLIENT_RTT_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "harness/base/error.h"
#include "harness/client/tls_client.h"

struct tg_rtt_options {
  struct tg_client_config client;
  uint32_t count;           // measured connections of each client, 1 to 100,000
  uint32_t warmup;          // connections of each before them that are not sampled, 0 to 100,000
  uint32_t split_requests;  // requests a connection, each in two writes, 1 to 10,000; 0: one request in one write
  uint32_t clients;         // at the same time, each with its own connections, 1 to TG_RTT_CLIENTS_MAX
  uint32_t max_shed;        // answers of all clients that may be load shedding (response_reader.h), 0 to 1,000,000
  bool resume;              // every measured connection must resume a session
  bool expect_hrr;          // every measured connection must have been answered by HelloRetryRequest
  const char *path;         // absolute path of the request
  int64_t expect_bytes;     // what the body's length must be; -1: whatever is announced
  const char *json_file;    // where the result goes; "-": standard output
};

// The most clients of a run.
#define TG_RTT_CLIENTS_MAX 256

// The most samples a run may take: clients times count times requests.
#define TG_RTT_SAMPLES_MAX 1000000

enum tg_rtt_verdict {
  TG_RTT_RUN,
  TG_RTT_HELP,   // --help was asked for
  TG_RTT_WRONG,  // `err` names the option and what it takes
};

// tg_rtt_options_parse reads the command line into `out`, whose strings point into `argv`. Not safe to call from two
// threads at once (getopt_long).
enum tg_rtt_verdict tg_rtt_options_parse(int argc, char *const argv[], struct tg_rtt_options *out,
                                         struct tg_error *err);

// tg_rtt_options_help writes the manual.
void tg_rtt_options_help(FILE *to);

#endif
