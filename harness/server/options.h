// The command line of https_server.
#ifndef TLSGATE_HARNESS_SERVER_OPTIONS_H
#define TLSGATE_HARNESS_SERVER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "harness/accept/accept.h"
#include "harness/base/error.h"
#include "harness/server/credentials.h"

// The most threads a server is asked for; shards beyond the CPUs only serve tests.
#define TG_SHARDS_MAX 1024

struct tg_options {
  uint16_t tls_port;  // 0: the kernel picks one
  bool with_http;     // a plaintext listener too
  uint16_t http_port;
  const char *bind;       // numeric IPv4 or IPv6 address
  uint32_t shards;        // 1 to TG_SHARDS_MAX; 0: as many as CPUs the process may use
  const char *cert_file;  // NULL: self-signed; then key_file is NULL too
  const char *key_file;
  enum tg_key_type key_type;   // of the self-signed certificate
  const char *groups;          // NULL: the TLS library's
  const char *client_ca_file;  // NULL: no client certificate is asked for
  bool early_data;
  uint32_t ticket_lifetime_s;
  enum tg_quickack quickack;
  bool flush_tickets;
  uint32_t max_connections;  // of the whole server, all shards together
  uint64_t max_body;         // bytes
  struct tg_deadlines deadlines;
  uint32_t grace_ms;  // SIGTERM -> the last connection is cut
};

enum tg_options_verdict {
  TG_OPTIONS_RUN,
  TG_OPTIONS_HELP,   // --help was asked for
  TG_OPTIONS_WRONG,  // `err` says what, in one line
};

// tg_options_parse reads the command line into `out`, whose strings point into `argv`. Every value is checked here for
// form and range. Not safe to call from two threads at once (getopt_long).
enum tg_options_verdict tg_options_parse(int argc, char *const argv[], struct tg_options *out, struct tg_error *err);

// tg_options_help writes the manual.
void tg_options_help(FILE *to);

#endif
