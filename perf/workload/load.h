// Load from existing tools against one server, with the CPU time that both sides spent on it.
//
// ab opens a new connection for every request, wrk keeps its connections. Neither sets TCP_NODELAY before it writes a
// request (ab) or needs to (wrk's requests are one segment each and wait for no ACK but the first), so ab shows the
// stall and wrk does not. Whatever a tool reports as failed fails the workload; it is never a sample.
#ifndef TLSGATE_PERF_WORKLOAD_LOAD_H
#define TLSGATE_PERF_WORKLOAD_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "harness/base/error.h"
#include "perf/process/server.h"

// What one run of a tool measured.
struct tg_load {
  double units;         // requests answered; each is a connection with ab
  double seconds;       // the tool's own figure
  double rate;          // units a second
  double bytes_per_s;   // body bytes a second, response or upload
  double client_cpu_s;  // of the tool, its start included
  double server_cpu_s;
  bool client_bound;  // see tg_client_bound
  char command[512];  // what was run, for a report
};

// tg_client_bound says whether it was the client that limited a run: it kept all of its `client_threads` busy for 90 %
// of the time, or client and server together kept all `cpus` busy for 90 % of the time and the client took a quarter
// of that or more. Throughput then says little about the server, whose CPU time per unit is the firm figure.
bool tg_client_bound(double seconds, double client_cpu_s, double server_cpu_s, int client_threads, int cpus);

// tg_usable_cpus returns how many CPUs this process may use (sched_getaffinity(2)), which its children inherit.
int tg_usable_cpus(void);

// Where to send what.
struct tg_target {
  struct tg_server *server;
  bool tls;
  const char *path;     // "/..."
  uint64_t body_bytes;  // what a response's body must hold
};

// tg_load_ab runs `ab -n REQUESTS -c CONCURRENCY` and checks that every request was answered with the whole body.
bool tg_load_ab(const struct tg_target *target, uint64_t requests, unsigned concurrency, struct tg_load *out,
                struct tg_error *err);

// tg_load_ab_keepalive runs `ab -k`: the same fixed work over `connections` that stay open, and every request must have
// found its connection kept.
bool tg_load_ab_keepalive(const struct tg_target *target, uint64_t requests, unsigned connections, struct tg_load *out,
                          struct tg_error *err);

// tg_load_ab_hyperfine is the fixed work of tg_load_ab timed from the outside by `hyperfine -N` (one run, with
// `json_path` for its export and `out_path` for what ab prints): `seconds` includes the tool's start, so the rate is a
// lower limit.
bool tg_load_ab_hyperfine(const struct tg_target *target, uint64_t requests, unsigned concurrency,
                          const char *json_path, const char *out_path, struct tg_load *out, struct tg_error *err);

// tg_load_wrk runs `wrk -t THREADS -c CONNECTIONS -d SECONDS`. `upload_script` is a wrk script that posts
// `upload_bytes` a request, or NULL for GET.
bool tg_load_wrk(const struct tg_target *target, unsigned threads, unsigned connections, unsigned seconds,
                 const char *upload_script, uint64_t upload_bytes, struct tg_load *out, struct tg_error *err);

#endif
