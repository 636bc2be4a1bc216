#include "perf/peers/measure.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "perf/peers/idle.h"
#include "perf/peers/strace.h"
#include "perf/process/child.h"
#include "perf/workload/calibrate.h"
#include "perf/workload/load.h"
#include "perf/workload/rtt.h"

const struct tg_peers_amounts tg_peers_usual = {
    .rtt_connections = 400,
    .churn_connections = 1200,
    .resumed_connections = 1200,
    .wrk_s = 2,
    .idle_connections = 2000,
};

#define WARM_UP_REQUESTS 50
#define RESUMED_CLIENTS  4
#define CALIBRATION      300
// wrk: one thread leaves the other CPU to the server, and few connections make their own handshakes a hundredth of the
// work.
#define WRK_THREADS           1
#define KEEPALIVE_CONNECTIONS 32
#define BIG_CONNECTIONS       16
#define MIB                   1048576.0
// strace counts both numbers of connections, and the difference is what is used: attaching, first use and what the
// server does by itself cancel. One at a time, so that what is counted is what one connection takes; the exact gates
// count it so as well.
#define CALLS_FEW  50
#define CALLS_MANY 250
// Calls per connection below this are what else happened meanwhile.
#define CALLS_LEAST 0.02
// After 2,000 connections have gone, before the next clients come.
#define AFTER_IDLE_US 300000

static const enum tg_peers_metric churn_metrics[] = {TG_PEERS_CPS_1, TG_PEERS_CPS_4, TG_PEERS_CPS_32};
static const unsigned churn_at_once[] = {1, 4, 32};
#define NUM_CHURN (sizeof(churn_at_once) / sizeof(churn_at_once[0]))

static const enum tg_peers_metric shard_metrics[] = {TG_PEERS_SHARDS_1, TG_PEERS_SHARDS_2, TG_PEERS_SHARDS_4,
                                                     TG_PEERS_SHARDS_8, TG_PEERS_SHARDS_16};
static const int shard_counts[] = {1, 2, 4, 8, 16};
#define NUM_SHARDS     (sizeof(shard_counts) / sizeof(shard_counts[0]))
#define SHARDS_AT_ONCE 32

struct round {
  const struct tg_peers_plan *plan;
  const struct tg_server_description *description;
  struct tg_peers_server *server;
  struct tg_launch launch;
  size_t number;
};

static void add(struct round *round, enum tg_peers_metric metric, double value, bool client_bound) {
  tg_peers_add(&round->server->cells[metric], value, client_bound);
}

static struct tg_target target(struct round *round, const struct tg_server_route *route) {
  return (struct tg_target){
      .server = &round->launch.server, .tls = true, .path = route->path, .body_bytes = route->bytes};
}

// The tools' own account of the server's CPU is that of one process; a server may be several.
static void correct_cpu(struct tg_load *load, double server_cpu_s, int threads) {
  load->server_cpu_s = server_cpu_s;
  load->client_bound = tg_client_bound(load->seconds, load->client_cpu_s, server_cpu_s, threads, tg_usable_cpus());
}

static bool run_ab(struct round *round, unsigned requests, unsigned at_once, struct tg_load *load,
                   struct tg_error *err) {
  struct tg_target small = target(round, &round->description->small);
  double before = tg_peers_cpu_s(round->launch.server.pid);
  if (!tg_load_ab(&small, requests, at_once, load, err)) {
    return false;
  }
  correct_cpu(load, tg_peers_cpu_s(round->launch.server.pid) - before, 1);
  return true;
}

static bool run_wrk(struct round *round, const struct tg_server_route *route, unsigned connections,
                    struct tg_load *load, struct tg_error *err) {
  struct tg_target to = target(round, route);
  double before = tg_peers_cpu_s(round->launch.server.pid);
  if (!tg_load_wrk(&to, WRK_THREADS, connections, round->plan->amounts.wrk_s, NULL, 0, load, err)) {
    return false;
  }
  correct_cpu(load, tg_peers_cpu_s(round->launch.server.pid) - before, WRK_THREADS);
  return true;
}

static bool run_rtt(struct round *round, unsigned count, unsigned clients, bool resume, struct tg_rtt *rtt,
                    double *server_cpu_s, struct tg_error *err) {
  char at_once[16];
  char bytes[24];
  (void)snprintf(at_once, sizeof(at_once), "%u", clients);
  (void)snprintf(bytes, sizeof(bytes), "%" PRIu64, round->description->small.bytes);
  const char *options[] = {"--tls",
                           "1.3",
                           "--warmup",
                           "1",
                           "--clients",
                           at_once,
                           "--expect-bytes",
                           bytes,
                           "--path",
                           round->description->small.path,
                           resume ? "--resume" : NULL,
                           NULL};
  double before = tg_peers_cpu_s(round->launch.server.pid);
  if (!tg_rtt_run(round->plan->rtt_client, &round->launch.server, count / clients, options, rtt, err)) {
    return false;
  }
  *server_cpu_s = tg_peers_cpu_s(round->launch.server.pid) - before;
  json_decref(rtt->samples);
  rtt->samples = NULL;
  return true;
}

static bool measure_idle(struct round *round, struct tg_error *err) {
  struct tg_peers_idle idle;
  if (!tg_peers_idle(round->launch.server.pid, round->launch.server.tls_port, round->description->small.path,
                     round->plan->amounts.idle_connections, &idle, err)) {
    return false;
  }
  (void)usleep(AFTER_IDLE_US);
  add(round, TG_PEERS_IDLE_KIB, idle.kib, false);
  add(round, TG_PEERS_IDLE_CPU, idle.cpu_percent, false);
  return true;
}

static bool measure_rtt(struct round *round, struct tg_error *err) {
  struct tg_rtt rtt;
  double cpu_s = 0;
  if (!run_rtt(round, round->plan->amounts.rtt_connections, 1, false, &rtt, &cpu_s, err)) {
    return false;
  }
  add(round, TG_PEERS_RTT_P50, rtt.p50_ms, false);
  add(round, TG_PEERS_RTT_P99, rtt.p99_ms, false);
  add(round, TG_PEERS_STALLED, (double)rtt.stalled / (double)rtt.count, false);
  return true;
}

static bool measure_churn(struct round *round, struct tg_error *err) {
  struct tg_load loads[NUM_CHURN];
  for (size_t i = 0; i < NUM_CHURN; i++) {
    if (!run_ab(round, round->plan->amounts.churn_connections, churn_at_once[i], &loads[i], err)) {
      return false;
    }
  }
  for (size_t i = 0; i < NUM_CHURN; i++) {
    add(round, churn_metrics[i], loads[i].rate, loads[i].client_bound);
  }
  // At 32 at once, as server_cpu_per_handshake_ratio of the gates.
  const struct tg_load *last = &loads[NUM_CHURN - 1];
  add(round, TG_PEERS_FULL_CPU, last->server_cpu_s * 1e6 / last->units, false);
  return true;
}

static bool measure_resumed(struct round *round, struct tg_error *err) {
  struct tg_rtt rtt;
  double cpu_s = 0;
  if (!run_rtt(round, round->plan->amounts.resumed_connections, RESUMED_CLIENTS, true, &rtt, &cpu_s, err)) {
    return false;
  }
  if (rtt.seconds <= 0) {
    tg_error_set(err, "rtt_client: took no time");
    return false;
  }
  add(round, TG_PEERS_RESUMED_CPS, (double)rtt.count / rtt.seconds,
      tg_client_bound(rtt.seconds, rtt.client_cpu_s, cpu_s, RESUMED_CLIENTS, tg_usable_cpus()));
  // The full handshake that each client begins with is in it: 4 of 1,200.
  add(round, TG_PEERS_RESUMED_CPU, cpu_s * 1e6 / (double)rtt.count, false);
  return true;
}

static bool measure_keepalive(struct round *round, struct tg_error *err) {
  struct tg_load load;
  if (!run_wrk(round, &round->description->small, KEEPALIVE_CONNECTIONS, &load, err)) {
    return false;
  }
  add(round, TG_PEERS_KEEPALIVE_RPS, load.rate, load.client_bound);
  add(round, TG_PEERS_REQUEST_CPU, load.server_cpu_s * 1e6 / load.units, false);
  return true;
}

static bool measure_big(struct round *round, struct tg_error *err) {
  struct tg_load load;
  if (!run_wrk(round, &round->description->big, BIG_CONNECTIONS, &load, err)) {
    return false;
  }
  double mib = load.units * (double)round->description->big.bytes / MIB;
  add(round, TG_PEERS_BIG_GBPS, load.bytes_per_s / 1e9, load.client_bound);
  add(round, TG_PEERS_MIB_CPU, load.server_cpu_s * 1e6 / mib, false);
  return true;
}

static bool count_calls(struct round *round, unsigned connections, struct tg_strace_counts *out, struct tg_error *err) {
  struct tg_strace strace;
  struct tg_load load;
  if (!tg_strace_attach(&strace, round->launch.stage.folder, round->launch.server.pid, err)) {
    return false;
  }
  bool ok = run_ab(round, connections, 1, &load, err);
  return tg_strace_detach(&strace, out, ok ? err : NULL) && ok;
}

static bool measure_calls(struct round *round, struct tg_error *err) {
  static struct tg_strace_counts few;
  static struct tg_strace_counts many;
  if (!count_calls(round, CALLS_FEW, &few, err) || !count_calls(round, CALLS_MANY, &many, err)) {
    return false;
  }
  double sum = 0;
  for (size_t i = 0; i < many.num; i++) {
    double more = many.calls[i].calls - tg_strace_calls(&few, many.calls[i].name);
    double each = more / (CALLS_MANY - CALLS_FEW);
    sum += each;
    if (fabs(each) >= CALLS_LEAST) {
      tg_peers_add_call(round->server, round->number, many.calls[i].name, each);
    }
  }
  add(round, TG_PEERS_CALLS_EACH, sum, false);
  return true;
}

static bool stop(struct round *round, bool ok, struct tg_error *err) {
  // How a server ends after it could not be measured is no news.
  return tg_launch_stop(&round->launch, ok ? err : NULL) && ok;
}

// Starts a server of so many workers, warmed up.
static bool start(struct round *round, int workers, struct tg_error *err) {
  struct tg_launch_config config = round->plan->launch;
  struct tg_load load;
  config.workers = workers;
  if (!tg_launch_start(&round->launch, round->description, &config, err)) {
    return false;
  }
  if (round->server->command[0] == '\0') {
    (void)snprintf(round->server->command, sizeof(round->server->command), "%s", round->launch.server.command);
  }
  return run_ab(round, WARM_UP_REQUESTS, 1, &load, err) || stop(round, false, err);
}

static bool measure_shards(struct round *round, struct tg_error *err) {
  struct tg_load loads[NUM_SHARDS];
  for (size_t i = 0; i < NUM_SHARDS; i++) {
    if (!start(round, shard_counts[i], err)) {
      return false;
    }
    bool ok = run_ab(round, round->plan->amounts.churn_connections, SHARDS_AT_ONCE, &loads[i], err);
    if (!stop(round, ok, err)) {
      return false;
    }
  }
  for (size_t i = 0; i < NUM_SHARDS; i++) {
    add(round, shard_metrics[i], loads[i].rate, loads[i].client_bound);
  }
  return true;
}

static bool (*const measures[TG_PEERS_WORKLOADS])(struct round *round, struct tg_error *err) = {
    [TG_PEERS_IDLE] = measure_idle,           [TG_PEERS_RTT] = measure_rtt,
    [TG_PEERS_CHURN] = measure_churn,         [TG_PEERS_RESUMED] = measure_resumed,
    [TG_PEERS_KEEPALIVE] = measure_keepalive, [TG_PEERS_BIG] = measure_big,
    [TG_PEERS_CALLS] = measure_calls,         [TG_PEERS_SHARDS] = measure_shards,
};

static void fail(struct round *round, enum tg_peers_workload workload, const char *why) {
  for (int metric = 0; metric < TG_PEERS_METRICS; metric++) {
    struct tg_peers_cell *cell = &round->server->cells[metric];
    if (tg_peers_info((enum tg_peers_metric)metric)->workload == workload && !cell->left_out) {
      tg_peers_fail(cell, round->number, why);
    }
  }
}

// Whether any metric of a workload applies to the server.
static bool applies(const struct round *round, enum tg_peers_workload workload) {
  bool any = false;
  for (int metric = 0; metric < TG_PEERS_METRICS; metric++) {
    any = any ||
          (tg_peers_info((enum tg_peers_metric)metric)->workload == workload && !round->server->cells[metric].left_out);
  }
  return round->plan->wanted[workload] && any;
}

static void progress(const struct round *round, const char *what) {
  if (!round->plan->quiet) {
    bool terminal = isatty(STDERR_FILENO) != 0;
    fprintf(stderr, "%s  %s: %s%s", terminal ? "\r\033[K" : "", round->description->name, what, terminal ? "" : "\n");
  }
}

static void run(struct round *round, enum tg_peers_workload workload) {
  struct tg_error err;
  progress(round, tg_peers_workload_name(workload));
  if (!measures[workload](round, &err)) {
    fail(round, workload, err.text);
    progress(round, err.text);
  }
}

// All that runs on one and the same server.
static void run_usual(struct round *round) {
  struct tg_error err = {""};
  bool any = false;
  for (int workload = 0; workload < TG_PEERS_SHARDS; workload++) {
    any = any || applies(round, (enum tg_peers_workload)workload);
  }
  if (!any) {
    return;
  }
  bool started = start(round, round->plan->launch.workers, &err);
  for (int workload = 0; workload < TG_PEERS_SHARDS; workload++) {
    if (applies(round, (enum tg_peers_workload)workload)) {
      if (started) {
        run(round, (enum tg_peers_workload)workload);
      } else {
        fail(round, (enum tg_peers_workload)workload, err.text);
      }
    }
  }
  if (started && !tg_launch_stop(&round->launch, &err)) {
    // It served to the end; how it ends is for its description.
    progress(round, err.text);
  }
}

static void leave_out(struct tg_peers_server *server, enum tg_peers_metric metric, const char *why) {
  if (why != NULL) {
    tg_peers_leave_out(&server->cells[metric], why);
  }
}

static const char *gate_left_out(const struct tg_server_description *description, const char *gate) {
  for (size_t i = 0; i < description->num_left_out; i++) {
    if (strcmp(description->left_out[i].gate, gate) == 0) {
      return description->left_out[i].why;
    }
  }
  return NULL;
}

void tg_peers_leave_outs(const struct tg_server_description *description, struct tg_peers_server *server) {
  static const struct {
    enum tg_peers_metric metric;
    const char *gate;
  } table[] = {
      {TG_PEERS_KEEPALIVE_RPS, "https_keepalive_rps"}, {TG_PEERS_REQUEST_CPU, "https_keepalive_cpu_us"},
      {TG_PEERS_BIG_GBPS, "https_big_gbps"},           {TG_PEERS_MIB_CPU, "https_big_cpu_us"},
      {TG_PEERS_IDLE_KIB, "https_keepalive_rps"},      {TG_PEERS_IDLE_CPU, "https_keepalive_rps"},
  };
  for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
    leave_out(server, table[i].metric, gate_left_out(description, table[i].gate));
  }
  for (size_t i = 0; i < NUM_SHARDS; i++) {
    leave_out(server, shard_metrics[i], server->own ? NULL : "counts shards of the project's own server");
  }
}

void tg_peers_measure(const struct tg_peers_plan *plan, const struct tg_server_description *description, size_t round,
                      struct tg_peers_server *server) {
  struct round now = {.plan = plan, .description = description, .server = server, .number = round};
  run_usual(&now);
  if (applies(&now, TG_PEERS_SHARDS)) {
    run(&now, TG_PEERS_SHARDS);
  }
}

void tg_peers_measure_in_memory(const struct tg_peers_plan *plan, size_t round, struct tg_peers_cell *cell) {
  struct tg_error err;
  double us = 0;
  if (tg_calibrate(plan->handshake_bench, CALIBRATION, NULL, NULL, &us, &err)) {
    tg_peers_add(cell, us, false);
  } else {
    tg_peers_fail(cell, round, err.text);
  }
}
