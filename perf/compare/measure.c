#include "perf/compare/measure.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "perf/process/child.h"
#include "perf/process/server.h"
#include "perf/stats/quantile.h"
#include "perf/workload/load.h"
#include "perf/workload/rtt.h"

#define ROOT_BYTES 15       // the body of "/"
#define BIG_BYTES  1048576  // the body of "/big"

// A run is the best of several tries of a workload: what else the machine does only ever adds to a server's time, and a
// try of 80 ms is short enough to be left alone now and then.
#define TRIES                 3
#define FULL_REQUESTS         120
#define FULL_CONCURRENCY      32
#define RESUMED_CONNECTIONS   80
#define KEEPALIVE_REQUESTS    2500
#define KEEPALIVE_CONNECTIONS 4  // few: their own handshakes are 4 % of the work
#define BIG_REQUESTS          50
#define BIG_CONNECTIONS       4
#define RTT_CONNECTIONS       60

// A server that stalls is seen by its warm-up and gets few sequential connections: each costs 40 ms.
#define STALL_MS        20.0
#define FEW_CONNECTIONS 10
#define WARM_UP         10

#define CALIBRATION_RUNS 7

struct duel {
  const struct tg_compare_plan *plan;
  struct tg_compare_set *set;
  struct tg_server servers[TG_COMPARE_SIDES];
  bool stalls[TG_COMPARE_SIDES];
  size_t round;
};

static bool start(struct tg_server *server, const struct tg_compare_server *config, const char *name,
                  struct tg_error *err) {
  const char *argv[] = {config->program, "--port", "0", NULL};
  return tg_server_start(server, name, argv, config->env, err);
}

static bool run_rtt(struct duel *duel, enum tg_compare_side side, unsigned connections, bool resume, struct tg_rtt *rtt,
                    struct tg_error *err) {
  const char *options[] = {"--tls", "1.3", "--warmup", "1", resume ? "--resume" : NULL, NULL};
  unsigned count = duel->stalls[side] ? FEW_CONNECTIONS : connections;
  if (!tg_rtt_run(duel->plan->rtt_client, &duel->servers[side], count, options, rtt, err)) {
    return false;
  }
  json_decref(rtt->samples);
  rtt->samples = NULL;
  return true;
}

static bool run_load(struct duel *duel, enum tg_compare_side side, enum tg_compare_workload workload,
                     struct tg_load *load, struct tg_error *err) {
  struct tg_target target = {.server = &duel->servers[side],
                             .tls = true,
                             .path = workload == TG_COMPARE_BIG ? "/big" : "/",
                             .body_bytes = workload == TG_COMPARE_BIG ? BIG_BYTES : ROOT_BYTES};
  switch (workload) {
    case TG_COMPARE_FULL:
      return tg_load_ab(&target, FULL_REQUESTS, FULL_CONCURRENCY, load, err);
    case TG_COMPARE_KEEPALIVE:
      return tg_load_ab_keepalive(&target, KEEPALIVE_REQUESTS, KEEPALIVE_CONNECTIONS, load, err);
    default:
      assert(workload == TG_COMPARE_BIG);
      return tg_load_ab_keepalive(&target, BIG_REQUESTS, BIG_CONNECTIONS, load, err);
  }
}

// What a try of a workload found: the figure of its firm metric and, of a load, that of its soft one.
struct finding {
  double cost;
  double rate;  // 0: none
  bool client_bound;
};

static bool try_workload(struct duel *duel, enum tg_compare_side side, enum tg_compare_workload workload,
                         struct finding *out, struct tg_error *err) {
  struct tg_rtt rtt;
  struct tg_load load;
  *out = (struct finding){.cost = 0};
  switch (workload) {
    case TG_COMPARE_RTT:
      if (!run_rtt(duel, side, RTT_CONNECTIONS, false, &rtt, err)) {
        return false;
      }
      out->cost = rtt.p50_ms;
      return true;
    case TG_COMPARE_RESUMED:
      if (!run_rtt(duel, side, RESUMED_CONNECTIONS, true, &rtt, err)) {
        return false;
      }
      // The one full handshake that begins the series is in it, on both sides.
      out->cost = rtt.server_cpu_s * 1e6 / (double)rtt.count;
      return true;
    default:
      if (!run_load(duel, side, workload, &load, err)) {
        return false;
      }
      *out = (struct finding){.cost = load.server_cpu_s * 1e6 / load.units,
                              .rate = workload == TG_COMPARE_BIG ? load.bytes_per_s / 1e9 : load.rate,
                              .client_bound = load.client_bound};
      return true;
  }
}

static bool add(struct duel *duel, enum tg_compare_side side, size_t run, const struct tg_compare_metric *metric,
                const struct finding *found, struct tg_error *err) {
  struct tg_error why;
  if (!tg_samples_add(duel->set->sides[side], metric->name, run, metric->firm ? found->cost : found->rate,
                      !metric->firm && found->client_bound, &why)) {
    tg_error_set(err, "%.400s", why.text);
    return false;
  }
  return true;
}

// One run of one workload on one side; `run` counts the runs of the side.
static bool run_workload(struct duel *duel, enum tg_compare_side side, enum tg_compare_workload workload, size_t run,
                         struct tg_error *err) {
  struct finding best = {.cost = INFINITY};
  for (int i = 0; i < TRIES; i++) {
    struct finding found;
    if (!try_workload(duel, side, workload, &found, err)) {
      return false;
    }
    best.cost = fmin(best.cost, found.cost);
    if (found.rate > best.rate) {
      best.rate = found.rate;
      best.client_bound = found.client_bound;
    }
  }
  for (size_t i = 0; i < TG_COMPARE_METRICS; i++) {
    const struct tg_compare_metric *metric = &tg_compare_metrics[i];
    if (metric->workload == workload && !add(duel, side, run, metric, &best, err)) {
      return false;
    }
  }
  return true;
}

// First connections pay for pages that are touched for the first time. Tells as well whether the server stalls.
static bool warm_up(struct duel *duel, enum tg_compare_side side, struct tg_error *err) {
  struct tg_rtt rtt;
  struct tg_load load;
  duel->stalls[side] = false;
  if (!run_rtt(duel, side, WARM_UP, false, &rtt, err) || !run_load(duel, side, TG_COMPARE_FULL, &load, err)) {
    return false;
  }
  duel->stalls[side] = rtt.p50_ms >= STALL_MS;
  return true;
}

// base, candidate, candidate, base; in odd rounds the reverse.
static enum tg_compare_side side_of(size_t round, size_t turn) {
  bool inner = turn == 1 || turn == 2;
  return inner != (round % 2 == 1) ? TG_CANDIDATE : TG_BASE;
}

static bool run_round(struct duel *duel, struct tg_error *err) {
  for (size_t i = 0; i < TG_COMPARE_SIDES; i++) {
    enum tg_compare_side side = side_of(duel->round, i);
    const char *name = tg_compare_side_names[side];
    if (!start(&duel->servers[side], &duel->plan->servers[side], name, err) || !warm_up(duel, side, err)) {
      return false;
    }
  }
  for (int workload = 0; workload < TG_COMPARE_WORKLOADS; workload++) {
    size_t runs[TG_COMPARE_SIDES] = {2 * duel->round, 2 * duel->round};
    for (size_t turn = 0; duel->plan->workloads[workload] && turn < 4; turn++) {
      enum tg_compare_side side = side_of(duel->round, turn);
      struct tg_error why;
      if (!run_workload(duel, side, (enum tg_compare_workload)workload, runs[side]++, &why)) {
        tg_error_set(err, "workload %s, %s: %.400s", tg_compare_workload_name((enum tg_compare_workload)workload),
                     tg_compare_side_names[side], why.text);
        return false;
      }
    }
  }
  return true;
}

static bool stop_servers(struct tg_server servers[TG_COMPARE_SIDES], struct tg_error *err) {
  bool ok = true;
  for (int side = 0; side < TG_COMPARE_SIDES; side++) {
    ok = tg_server_stop(&servers[side], ok ? err : NULL) && ok;
  }
  return ok;
}

static void progress(const struct tg_compare_plan *plan, size_t round, double start) {
  if (plan->what != NULL) {
    bool terminal = isatty(STDERR_FILENO) != 0;
    fprintf(stderr, "%s%s: round %zu of %zu, %.0f s%s", terminal ? "\r\033[K" : "", plan->what, round + 1, plan->rounds,
            tg_now_s() - start, terminal ? "" : "\n");
  }
}

bool tg_compare_measure(const struct tg_compare_plan *plan, struct tg_compare_set *set, struct tg_error *err) {
  assert(plan->rounds >= 1 && plan->rounds <= TG_COMPARE_ROUNDS_MAX);
  double begin = tg_now_s();
  struct duel duel = {.plan = plan, .set = set};
  bool ok = true;
  for (; ok && duel.round < plan->rounds && tg_now_s() < plan->deadline; duel.round++) {
    progress(plan, duel.round, begin);
    memset(duel.servers, 0, sizeof(duel.servers));
    struct tg_error why;
    ok = run_round(&duel, &why);
    ok = stop_servers(duel.servers, ok ? &why : NULL) && ok;
    if (!ok) {
      tg_error_set(err, "round %zu: %.450s", duel.round + 1, why.text);
    }
  }
  if (plan->what != NULL && isatty(STDERR_FILENO) != 0) {
    fprintf(stderr, "\r\033[K");
  }
  return ok;
}

bool tg_compare_handshake_us(const struct tg_compare_server *server, double *us, struct tg_error *err) {
  struct tg_server running;
  if (!start(&running, server, "calibrated", err)) {
    return false;
  }
  struct tg_target target = {.server = &running, .tls = true, .path = "/", .body_bytes = ROOT_BYTES};
  double values[CALIBRATION_RUNS];
  bool ok = true;
  for (size_t i = 0; ok && i < CALIBRATION_RUNS; i++) {
    struct tg_load load;
    ok = tg_load_ab(&target, FULL_REQUESTS, FULL_CONCURRENCY, &load, err);
    values[i] = ok ? load.server_cpu_s * 1e6 / load.units : 0;
  }
  ok = tg_server_stop(&running, ok ? err : NULL) && ok;
  *us = ok ? tg_median(values, CALIBRATION_RUNS) : 0;
  return ok;
}
