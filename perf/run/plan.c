#include "perf/run/plan.h"

#include <assert.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "perf/process/runfiles.h"
#include "perf/run/scratch.h"
#include "perf/stats/quantile.h"
#include "perf/workload/calibrate.h"
#include "perf/workload/load.h"
#include "perf/workload/rtt.h"

#define MIB              (1024.0 * 1024.0)
#define STALL_MS         20.0
#define FEW_CONNECTIONS  10   // in the first round, and once a server has been seen to stall
#define CURVE_ROUNDS     3    // of the points of the scaling curve that are only recorded
#define PACE_S           0.7  // how long one run of ab takes in a short round, at most
#define LEAST_PER_CLIENT 4.0  // but so many connections of each client are made
#define OFF_COUNT        12

bool tg_toolbox_find(struct tg_toolbox *out, struct tg_error *err) {
  return tg_runfile("harness/client/rtt_client", out->rtt_client, err) &&
         tg_runfile("harness/client/handshake_bench", out->handshake_bench, err) &&
         tg_runfile("perf/workload/upload.lua", out->upload_script, err);
}

void tg_routes_fill(struct tg_routes *out, const struct tg_server_description *description) {
  // harness/server/https_server.
  static const struct tg_routes own = {.small = {"/", 15}, .big = {"/big", 1048576}, .upload = {"/upload", 1048576}};
  *out = own;
  if (description != NULL) {
    *out = (struct tg_routes){description->small, description->big, description->upload};
  }
}

static bool add(struct tg_bench *bench, const char *metric, double value, bool client_bound, struct tg_error *err) {
  struct tg_error problem;
  if (!tg_samples_add(bench->samples, metric, bench->round, value, client_bound, &problem)) {
    tg_error_set(err, "%s: %.400s", metric, problem.text);
    return false;
  }
  return true;
}

static void keep_raw(struct tg_bench *bench, const char *workload, json_t *entry) {
  json_t *entries = json_object_get(bench->raw, workload);
  if (entries == NULL) {
    entries = json_array();
    (void)json_object_set_new(bench->raw, workload, entries);
  }
  (void)json_object_set_new(entry, "round", json_integer((json_int_t)bench->round));
  (void)json_array_append_new(entries, entry);
}

// Keeps each different command of a workload once.
static void keep_command(struct tg_bench *bench, const char *workload, const char *command) {
  json_t *commands = json_object_get(bench->commands, workload);
  if (commands == NULL) {
    commands = json_array();
    (void)json_object_set_new(bench->commands, workload, commands);
  }
  for (size_t i = 0; i < json_array_size(commands); i++) {
    if (strcmp(json_string_value(json_array_get(commands, i)), command) == 0) {
      return;
    }
  }
  (void)json_array_append_new(commands, json_string(command));
}

static void keep_load(struct tg_bench *bench, const char *workload, const struct tg_load *load) {
  keep_command(bench, workload, load->command);
  keep_raw(bench, workload,
           json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:b}", "units", load->units, "seconds", load->seconds, "rate",
                     load->rate, "bytes_per_s", load->bytes_per_s, "client_cpu_s", load->client_cpu_s, "server_cpu_s",
                     load->server_cpu_s, "client_bound", load->client_bound));
}

// Returns the last value of a metric if it belongs to this round, else NaN.
static double value_now(const struct tg_bench *bench, const char *metric) {
  const struct tg_series *series = tg_samples_find(bench->samples, metric);
  if (series == NULL || series->samples[series->num - 1].round != bench->round) {
    return NAN;
  }
  return series->samples[series->num - 1].value;
}

static double last_value(const struct tg_bench *bench, const char *metric) {
  const struct tg_series *series = tg_samples_find(bench->samples, metric);
  return series == NULL ? NAN : series->samples[series->num - 1].value;
}

// Records numerator / denominator when both were measured in this round.
static bool add_ratio(struct tg_bench *bench, const char *metric, const char *numerator, const char *denominator,
                      struct tg_error *err) {
  double ratio = value_now(bench, numerator) / value_now(bench, denominator);
  return !isfinite(ratio) || add(bench, metric, ratio, false, err);
}

// --- rtt_client

static bool run_rtt(struct tg_bench *bench, const struct tg_workload *workload, struct tg_error *err);

struct rtt_details {
  unsigned count;            // connections in a short round
  unsigned published_count;  // in a published one
  const char *p50;           // metric
  const char *handshake;     // metric, or NULL
  const char *stalled;       // metric, or NULL
  const char *options[8];
  bool client_certificate;
};

#define RTT_OPTIONS_MAX 16

static void rtt_options(const struct tg_bench *bench, const struct rtt_details *details, const char *further,
                        const char *options[RTT_OPTIONS_MAX]) {
  size_t n = 0;
  options[n++] = "--warmup";
  options[n++] = "1";
  options[n++] = "--path";
  options[n++] = bench->routes.small.path;
  for (size_t i = 0; details->options[i] != NULL; i++) {
    options[n++] = details->options[i];
  }
  if (details->client_certificate) {
    options[n++] = "--cert";
    options[n++] = tg_scratch_path(TG_SCRATCH_CLIENT_CERT);
    options[n++] = "--key";
    options[n++] = tg_scratch_path(TG_SCRATCH_CLIENT_KEY);
  }
  options[n++] = further;
  options[n] = NULL;
}

bool tg_bench_look_again(void *context, const char *workload, const char *option, unsigned count, struct tg_rtt *out,
                         struct tg_error *err) {
  struct tg_bench *bench = context;
  const struct tg_workload *found = tg_workload_find(workload);
  const char *options[RTT_OPTIONS_MAX];
  assert(found != NULL && found->run == run_rtt);
  rtt_options(bench, found->details, option, options);
  return tg_rtt_run(bench->tools->rtt_client, &bench->fleet->servers[found->member], count, options, out, err);
}

static bool run_rtt(struct tg_bench *bench, const struct tg_workload *workload, struct tg_error *err) {
  const struct rtt_details *details = workload->details;
  const char *options[RTT_OPTIONS_MAX];
  rtt_options(bench, details, NULL, options);
  unsigned count = bench->size == TG_SIZE_PUBLISHED ? details->published_count : details->count;
  // A stalled connection costs 40 ms, so the first round only feels its way.
  bool few = bench->round == 0 || last_value(bench, details->p50) >= STALL_MS;
  if (bench->size == TG_SIZE_SHORT && few && count > FEW_CONNECTIONS) {
    count = FEW_CONNECTIONS;
  }
  struct tg_rtt rtt;
  if (!tg_rtt_run(bench->tools->rtt_client, &bench->fleet->servers[workload->member], count, options, &rtt, err)) {
    bench->warming_up = rtt.failed_in_warm_up;
    return false;
  }
  json_t *entry = json_pack("{s:f, s:f, s:f, s:f, s:f, s:I, s:f, s:f, s:O}", "p50_ms", rtt.p50_ms, "p90_ms", rtt.p90_ms,
                            "p99_ms", rtt.p99_ms, "max_ms", rtt.max_ms, "handshake_p50_ms", rtt.handshake_p50_ms,
                            "stalled", (json_int_t)rtt.stalled, "server_cpu_s", rtt.server_cpu_s, "client_cpu_s",
                            rtt.client_cpu_s, "samples", rtt.samples);
  keep_command(bench, workload->name, rtt.command);
  keep_raw(bench, workload->name, entry);
  json_decref(rtt.samples);
  struct tg_error problem;
  if (details->stalled != NULL &&
      !tg_samples_add_count(bench->samples, details->stalled, bench->round, rtt.stalled, rtt.count, &problem)) {
    tg_error_set(err, "%s: %.400s", details->stalled, problem.text);
    return false;
  }
  return add(bench, details->p50, rtt.p50_ms, false, err) &&
         (details->handshake == NULL || add(bench, details->handshake, rtt.handshake_p50_ms, false, err));
}

static const struct rtt_details rtt_fresh = {.count = 100,
                                             .published_count = 200,
                                             .p50 = "tls_rtt_p50_ms",
                                             .handshake = "tls_handshake_p50_ms",
                                             .stalled = "tls_stalled_fraction",
                                             .options = {"--tls", "1.3"}};
static const struct rtt_details rtt_tls12 = {.count = 20, .p50 = "tls12_full_rtt_p50_ms", .options = {"--tls", "1.2"}};
static const struct rtt_details rtt_resumed = {
    .count = 30, .p50 = "tls_resumed_rtt_p50_ms", .options = {"--tls", "1.3", "--resume"}};
static const struct rtt_details rtt_tls12_resumed = {
    .count = 30, .p50 = "tls12_resumed_rtt_p50_ms", .options = {"--tls", "1.2", "--resume"}};
static const struct rtt_details rtt_split = {
    .count = 10, .p50 = "keepalive_split_rtt_p50_ms", .options = {"--tls", "1.3", "--keepalive-split", "3"}};
static const struct rtt_details rtt_hrr = {
    .count = 20, .p50 = "hrr_rtt_p50_ms", .options = {"--tls", "1.3", "--groups", "X25519:P-384", "--expect-hrr"}};
static const struct rtt_details rtt_client_certificate = {
    .count = 20, .p50 = "client_cert_rtt_p50_ms", .options = {"--tls", "1.3"}, .client_certificate = true};
static const struct rtt_details rtt_rsa4096 = {.count = 20, .p50 = "rsa4096_rtt_p50_ms", .options = {"--tls", "1.3"}};

bool tg_bench_host_stalls(const struct tg_toolbox *tools, struct tg_server *off, bool *stalls, double *p50_ms,
                          struct tg_error *err) {
  const char *options[] = {"--tls", "1.3", NULL};
  struct tg_rtt rtt;
  if (!tg_rtt_run(tools->rtt_client, off, OFF_COUNT, options, &rtt, err)) {
    return false;
  }
  json_decref(rtt.samples);
  *stalls = 2 * rtt.stalled > rtt.count;
  *p50_ms = rtt.p50_ms;
  return true;
}

// --- ab

struct ab_details {
  bool tls;
  unsigned concurrency;
  uint64_t requests;
  uint64_t published_requests;
  const char *rate;        // metric
  const char *server_cpu;  // metric: microseconds a connection; NULL
  bool hyperfine;
};

static struct tg_target target_of(struct tg_bench *bench, bool tls, const struct tg_server_route *route) {
  return (struct tg_target){
      .server = &bench->fleet->servers[TG_MEMBER_MAIN], .tls = tls, .path = route->path, .body_bytes = route->bytes};
}

static bool add_cpu(struct tg_bench *bench, const char *metric, const struct tg_load *load, struct tg_error *err) {
  return metric == NULL || add(bench, metric, load->server_cpu_s * 1e6 / load->units, false, err);
}

// Runs ab, in a short round for no longer than PACE_S: the rate that `rate_metric` last had, or that of a warm-up run,
// which must finish, tells how many of at most `requests` that is. A stalled server would else use up the budget
// before it has failed.
static bool paced_ab(struct tg_bench *bench, const struct tg_target *target, uint64_t requests, unsigned concurrency,
                     const char *rate_metric, bool hyperfine, struct tg_load *out, struct tg_error *err) {
  double rate = last_value(bench, rate_metric);
  if (isnan(rate)) {
    bench->warming_up = true;
    if (!tg_load_ab(target, 2ULL * concurrency, concurrency, out, err)) {
      return false;
    }
    bench->warming_up = false;
    rate = out->rate;
  }
  double most = fmax(rate * PACE_S, LEAST_PER_CLIENT * concurrency);
  if (bench->size == TG_SIZE_SHORT && most < (double)requests) {
    requests = (uint64_t)most;
  }
  return hyperfine ? tg_load_ab_hyperfine(target, requests, concurrency, tg_scratch_path(TG_SCRATCH_HYPERFINE_JSON),
                                          tg_scratch_path(TG_SCRATCH_AB_OUT), out, err)
                   : tg_load_ab(target, requests, concurrency, out, err);
}

static bool run_ab(struct tg_bench *bench, const struct tg_workload *workload, struct tg_error *err) {
  const struct ab_details *details = workload->details;
  struct tg_target target = target_of(bench, details->tls, &bench->routes.small);
  uint64_t requests = bench->size == TG_SIZE_PUBLISHED ? details->published_requests : details->requests;
  struct tg_load load;
  if (!paced_ab(bench, &target, requests, details->concurrency, details->rate, details->hyperfine, &load, err)) {
    return false;
  }
  keep_load(bench, workload->name, &load);
  return add(bench, details->rate, load.rate, load.client_bound, err) &&
         add_cpu(bench, details->server_cpu, &load, err);
}

static const struct ab_details ab_churn_c4 = {
    .tls = true, .concurrency = 4, .requests = 200, .rate = "https_churn_c4_rps", .hyperfine = true};
static const struct ab_details ab_churn = {.tls = true,
                                           .concurrency = 32,
                                           .requests = 600,
                                           .published_requests = 6000,
                                           .rate = "https_churn_rps",
                                           .server_cpu = "server_cpu_per_handshake_us"};
static const struct ab_details ab_http_churn = {.tls = false,
                                                .concurrency = 32,
                                                .requests = 3000,
                                                .published_requests = 20000,
                                                .rate = "http_churn_rps",
                                                .server_cpu = "http_churn_cpu_us"};

static bool run_churn(struct tg_bench *bench, const struct tg_workload *workload, struct tg_error *err) {
  return run_ab(bench, workload, err) &&
         add_ratio(bench, "server_cpu_per_handshake_ratio", "server_cpu_per_handshake_us", "in_memory_handshake_us",
                   err) &&
         add_ratio(bench, "https_churn_ratio", "https_churn_rps", "http_churn_rps", err);
}

// Rates at several concurrencies. 8 and 64 are measured twice each, in the order 8 64 64 8 or the reverse by round, and
// the ratio of their geometric means is the sample: what slows the machine for a while slows both. 1,024 connections
// are enough for the end of a run, where fewer than 64 are left in flight, not to count.
#define PAIR_REQUESTS  1024
#define CURVE_REQUESTS 256

static bool scaling_rate(struct tg_bench *bench, const struct tg_workload *workload, unsigned concurrency,
                         uint64_t requests, double *rate, struct tg_error *err) {
  struct tg_target target = target_of(bench, true, &bench->routes.small);
  char metric[32];
  struct tg_load load;
  (void)snprintf(metric, sizeof(metric), "handshake_rate_%u_rps", concurrency);
  if (!paced_ab(bench, &target, requests, concurrency, metric, false, &load, err)) {
    return false;
  }
  keep_load(bench, workload->name, &load);
  *rate = load.rate;
  return true;
}

static bool scaling_pair(struct tg_bench *bench, const struct tg_workload *workload, struct tg_error *err) {
  static const unsigned few = 8;
  static const unsigned many = 64;
  bool reverse = bench->round % 2 == 1;
  unsigned outer = reverse ? many : few;
  unsigned inner = reverse ? few : many;
  double rates[4];
  if (!scaling_rate(bench, workload, outer, PAIR_REQUESTS, &rates[0], err) ||
      !scaling_rate(bench, workload, inner, PAIR_REQUESTS, &rates[1], err) ||
      !scaling_rate(bench, workload, inner, PAIR_REQUESTS, &rates[2], err) ||
      !scaling_rate(bench, workload, outer, PAIR_REQUESTS, &rates[3], err)) {
    return false;
  }
  double outer_rate = sqrt(rates[0] * rates[3]);
  double inner_rate = sqrt(rates[1] * rates[2]);
  return add(bench, "handshake_rate_8_rps", reverse ? inner_rate : outer_rate, false, err) &&
         add(bench, "handshake_rate_64_rps", reverse ? outer_rate : inner_rate, false, err) &&
         add_ratio(bench, "handshake_scaling", "handshake_rate_64_rps", "handshake_rate_8_rps", err);
}

static bool run_scaling(struct tg_bench *bench, const struct tg_workload *workload, struct tg_error *err) {
  static const unsigned others[] = {1, 2, 4, 16, 32};
  for (size_t i = 0; bench->round < CURVE_ROUNDS && i < sizeof(others) / sizeof(others[0]); i++) {
    char metric[32];
    double rate = 0;
    (void)snprintf(metric, sizeof(metric), "handshake_rate_%u_rps", others[i]);
    if (!scaling_rate(bench, workload, others[i], CURVE_REQUESTS, &rate, err) ||
        !add(bench, metric, rate, false, err)) {
      return false;
    }
  }
  return scaling_pair(bench, workload, err);
}

// --- wrk

struct wrk_details {
  bool tls;
  bool upload;
  bool big;
  unsigned connections;
  const char *rate;        // metric, requests a second; NULL
  const char *gbps;        // metric, 10^9 body bytes a second; NULL
  const char *server_cpu;  // metric: microseconds a request, or a MiB
  const char *ratio;       // metric: to `ratio_to`; NULL
  const char *ratio_to;
};

static bool run_wrk(struct tg_bench *bench, const struct tg_workload *workload, struct tg_error *err) {
  const struct wrk_details *details = workload->details;
  const struct tg_routes *routes = &bench->routes;
  struct tg_target target = target_of(bench, details->tls, details->big ? &routes->big : &routes->small);
  if (details->upload) {
    target.path = routes->upload.path;
    target.body_bytes = 0;
  }
  const char *script = details->upload ? bench->tools->upload_script : NULL;
  bool published = bench->size == TG_SIZE_PUBLISHED;
  int cpus = tg_usable_cpus();
  unsigned threads = published || cpus > 4 ? 4 : (unsigned)cpus;
  struct tg_load load;
  bench->warming_up = bench->round == 0;
  if (bench->warming_up && !tg_load_wrk(&target, threads, details->connections, 1, script, (uint64_t)MIB, &load, err)) {
    return false;
  }
  bench->warming_up = false;
  if (!tg_load_wrk(&target, threads, details->connections, published ? 10 : 1, script, (uint64_t)MIB, &load, err)) {
    return false;
  }
  keep_load(bench, workload->name, &load);
  return (details->rate == NULL || add(bench, details->rate, load.rate, load.client_bound, err)) &&
         (details->gbps == NULL || add(bench, details->gbps, load.bytes_per_s / 1e9, load.client_bound, err)) &&
         add_cpu(bench, details->server_cpu, &load, err) &&
         (details->ratio == NULL || add_ratio(bench, details->ratio, details->rate, details->ratio_to, err));
}

static const struct wrk_details wrk_http_keepalive = {
    .connections = 100, .rate = "http_keepalive_rps", .server_cpu = "http_keepalive_cpu_us"};
static const struct wrk_details wrk_https_keepalive = {.tls = true,
                                                       .connections = 100,
                                                       .rate = "https_keepalive_rps",
                                                       .server_cpu = "https_keepalive_cpu_us",
                                                       .ratio = "https_keepalive_ratio",
                                                       .ratio_to = "http_keepalive_rps"};
static const struct wrk_details wrk_http_big = {
    .big = true, .connections = 32, .gbps = "http_big_gbps", .server_cpu = "http_big_cpu_us"};
static const struct wrk_details wrk_https_big = {
    .tls = true, .big = true, .connections = 32, .gbps = "https_big_gbps", .server_cpu = "https_big_cpu_us"};
static const struct wrk_details wrk_http_upload = {
    .upload = true, .connections = 32, .gbps = "http_upload_gbps", .server_cpu = "http_upload_cpu_us"};
static const struct wrk_details wrk_https_upload = {
    .tls = true, .upload = true, .connections = 32, .gbps = "https_upload_gbps", .server_cpu = "https_upload_cpu_us"};

// --- the in-memory handshake

static bool run_calibration(struct tg_bench *bench, const struct tg_workload *workload, struct tg_error *err) {
  double server_us = 0;
  if (!tg_calibrate(bench->tools->handshake_bench, 300, bench->cert, bench->key, &server_us, err)) {
    return false;
  }
  keep_raw(bench, workload->name, json_pack("{s:f}", "server_cpu_us", server_us));
  return add(bench, "in_memory_handshake_us", server_us, false, err);
}

const struct tg_workload tg_workloads[] = {
    {"rtt_fresh", .published = true, .run = run_rtt, .details = &rtt_fresh},
    {"in_memory_handshake", .control = true, .with = "https_churn", .run = run_calibration},
    {"http_churn", .control = true, .needs = TG_NEEDS_PLAINTEXT, .published = true, .run = run_ab,
     .details = &ab_http_churn},
    {"https_churn", .published = true, .run = run_churn, .details = &ab_churn},
    {"https_churn_c4", .run = run_ab, .details = &ab_churn_c4},
    {"rtt_resumed", .run = run_rtt, .details = &rtt_resumed},
    {"rtt_tls12_resumed", .run = run_rtt, .details = &rtt_tls12_resumed},
    {"rtt_keepalive_split", .run = run_rtt, .details = &rtt_split},
    {"http_keepalive", .control = true, .needs = TG_NEEDS_PLAINTEXT, .published = true, .run = run_wrk,
     .details = &wrk_http_keepalive},
    {"https_keepalive", .published = true, .run = run_wrk, .details = &wrk_https_keepalive},
    {"handshake_scaling", .run = run_scaling},
    {"rtt_hrr", .member = TG_MEMBER_HRR, .run = run_rtt, .details = &rtt_hrr},
    {"rtt_client_cert", .member = TG_MEMBER_CLIENT_CA, .run = run_rtt, .details = &rtt_client_certificate},
    {"rtt_rsa4096", .member = TG_MEMBER_RSA4096, .run = run_rtt, .details = &rtt_rsa4096},
    {"rtt_tls12_full", .run = run_rtt, .details = &rtt_tls12},
    {"http_big", .control = true, .needs = TG_NEEDS_PLAINTEXT | TG_NEEDS_BIG, .published = true, .run = run_wrk,
     .details = &wrk_http_big},
    {"https_big", .needs = TG_NEEDS_BIG, .published = true, .run = run_wrk, .details = &wrk_https_big},
    {"http_upload", .control = true, .needs = TG_NEEDS_PLAINTEXT | TG_NEEDS_UPLOAD, .run = run_wrk,
     .details = &wrk_http_upload},
    {"https_upload", .needs = TG_NEEDS_UPLOAD, .run = run_wrk, .details = &wrk_https_upload},
    {.name = NULL},
};

const struct tg_workload *tg_workload_find(const char *name) {
  for (const struct tg_workload *workload = tg_workloads; workload->name != NULL; workload++) {
    if (strcmp(workload->name, name) == 0) {
      return workload;
    }
  }
  return NULL;
}

bool tg_plan_check(const struct tg_manifest *manifest, struct tg_error *err) {
  static const char *const faults[] = {TG_STALL_FAULT, "burn_cpu", "dribble", "serialised", "throttled_plaintext"};
  for (size_t i = 0; i < manifest->num_gates; i++) {
    const struct tg_gate *gate = &manifest->gates[i];
    if (gate->workload != NULL && tg_workload_find(gate->workload) == NULL) {
      tg_error_set(err, "%s: gate %s: there is no workload \"%s\"; docs/gates.md lists them", manifest->file,
                   gate->name, gate->workload);
      return false;
    }
    bool known = gate->fault == NULL;
    for (size_t j = 0; !known && j < sizeof(faults) / sizeof(faults[0]); j++) {
      known = strcmp(gate->fault, faults[j]) == 0;
    }
    if (!known) {
      tg_error_set(err, "%s: gate %s: there is no planted fault \"%s\"; docs/gates.md lists them", manifest->file,
                   gate->name, gate->fault);
      return false;
    }
  }
  return true;
}
