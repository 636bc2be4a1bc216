// A simulated world: the accept path as shipped, clients, a network, and a watch over properties P1 to P11
// (docs/properties.md). One world exists in a process and is run again and again; no run leaves anything behind.
#ifndef TLSGATE_FUZZ_WORLD_WORLD_H
#define TLSGATE_FUZZ_WORLD_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "fuzz/schedule/prefix.h"
#include "fuzz/schedule/schedule.h"
#include "harness/accept/counters.h"

// TG_WORLD_PEERS is one for each client of a schedule, and one that finds out at the end whether the server still
// serves.
#define TG_WORLD_PEERS (TG_SCHEDULE_CLIENTS_MAX + 1u)

struct tg_kernel;

// What a client got over all its connections; equal for equal outcomes.
struct tg_world_client_outcome {
  uint32_t established;
  uint32_t responses;
  uint64_t hash;  // FNV-1a of every response in order (http_reader.h), or of all bytes for raw clients
};

struct tg_world_outcome {
  struct tg_world_client_outcome clients[TG_WORLD_PEERS];
  bool comparable;  // no deadline ended anything, no call was made to fail, nothing was cut short
  uint64_t trace_hash;
  uint64_t trace_lines;
  uint64_t handshakes;          // completed, of all clients
  uint64_t stalls;              // Nagle against a delayed ACK, of well-behaved clients (breaks P5 unless expected)
  struct tg_counters counters;  // of all shards, at the end
};

// A connection of a client, seen when it is over.
struct tg_world_connection {
  uint16_t bits;  // enum tg_schedule_connect
  bool plaintext;
  uint8_t end;  // enum tg_byte_input_end: what the client itself did
};

// What a recorder is told (fuzz/record), and what a test may do to the network. Clients are numbered as in a schedule.
// Each may be NULL.
struct tg_world_tap {
  void *context;
  // These bytes have come to the client's socket. Returns how many of them it gets, from the first on; they may be
  // changed before.
  size_t (*received)(void *context, unsigned client, uint8_t *data, size_t len);
  void (*sent)(void *context, unsigned client, const uint8_t *data, size_t len);  // its socket has taken these bytes
  void (*said)(void *context, unsigned client, const uint8_t *data, size_t len);  // inside TLS, or in plaintext
  void (*over)(void *context, unsigned client, const struct tg_world_connection *connection);
};

// What a meter is told (perf/exact): the kernel before each step is done, and after the wait of the last one, with
// `step` the number of steps that are done. Nothing runs in between.
struct tg_world_meter {
  void *context;
  void (*at_step)(void *context, struct tg_kernel *kernel, size_t step);
};

struct tg_world_options {
  FILE *trace;                           // all lines; NULL: the last ones are kept, for a finding
  bool thrifty;                          // see below
  bool own_tls;                          // the server makes its TLS context itself, thrifty or not
  uint8_t open_clients;                  // so many clients have a keep-alive connection before the first step
  bool expect_stalls;                    // quickack is not re-armed on purpose: stalls are counted, and no finding
  uint8_t quickack;                      // enum tg_quickack
  const struct tg_schedule_step *first;  // TG_SCHEDULE_INJECT steps done before the server is made, and at their place
  size_t num_first;
  const struct tg_world_tap *tap;      // NULL: nobody records
  const struct tg_world_meter *meter;  // NULL: nobody measures
  uint32_t post_unit;  // bytes that one unit of a POST's size stands for, 64 to 1,024; 0: 64. The server's limit
                       // on bodies is 4,096 units
};

// A thrifty run is the same run, call for call, and cheaper: no line of the trace is formatted (on a finding the run is
// done once more, with all of them), the server uses a TLS context that earlier runs have made unless calls are to fail
// or `own_tls` is set, and large blocks of memory are kept (tg_kernel_options). Its outcome has no trace_hash and no
// trace_lines.

// tg_world_init prepares keys, the TLS library and the kernel. Called once, before anything else. Reads the environment
// variable TRACE: 1 prints every run's trace on stderr.
void tg_world_init(void);

// tg_world_init_with does the same for another accept path than the one that the program is linked with; borrowed for
// ever.
struct tg_accept_path;
void tg_world_init_with(const struct tg_accept_path *path);

// tg_world_run does the schedule. A broken property prints a finding (finding.h) and aborts the process.
void tg_world_run(const struct tg_schedule *schedule, const struct tg_world_options *options,
                  struct tg_world_outcome *out);

// tg_world_run_bytes sends the payload of `input` to the server as it says: to the TLS port as they are (`raw`), or
// inside a connection that is established.
void tg_world_run_bytes(const struct tg_byte_input *input, bool raw, const struct tg_world_options *options,
                        struct tg_world_outcome *out);

// tg_world_require_same is P7: aborts with a finding unless both outcomes are equal, or one is not comparable.
void tg_world_require_same(const struct tg_world_outcome *one, const struct tg_world_outcome *other);

#endif
