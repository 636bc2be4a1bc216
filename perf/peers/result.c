#include "perf/peers/result.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "perf/stats/quantile.h"

void tg_peers_add(struct tg_peers_cell *cell, double value, bool client_bound) {
  assert(cell->num < TG_PEERS_ROUNDS_MAX && !cell->left_out);
  cell->values[cell->num++] = value;
  cell->client_bound += client_bound;
}

void tg_peers_fail(struct tg_peers_cell *cell, size_t round, const char *why) {
  if (!cell->unreadable) {
    (void)snprintf(cell->why, sizeof(cell->why), "round %zu: %.200s", round + 1, why);
  }
  cell->unreadable = true;
}

void tg_peers_leave_out(struct tg_peers_cell *cell, const char *why) {
  cell->left_out = true;
  (void)snprintf(cell->why, sizeof(cell->why), "%s", why);
}

void tg_peers_add_call(struct tg_peers_server *server, size_t round, const char *name, double each) {
  struct tg_peers_call *call = NULL;
  for (size_t i = 0; i < server->num_calls; i++) {
    call = strcmp(server->calls[i].name, name) == 0 ? &server->calls[i] : call;
  }
  if (call == NULL && server->num_calls < TG_PEERS_CALL_NAMES_MAX) {
    call = &server->calls[server->num_calls++];
    (void)snprintf(call->name, sizeof(call->name), "%s", name);
  }
  if (call != NULL) {
    call->values[round] = each;
  }
}

bool tg_peers_readable(const struct tg_peers_result *result, const struct tg_peers_cell *cell) {
  return !cell->unreadable && !cell->left_out && cell->num > 0 && cell->num == result->rounds;
}

double tg_peers_median(const struct tg_peers_cell *cell) {
  return tg_median(cell->values, cell->num);
}

double tg_peers_spread(const struct tg_peers_cell *cell) {
  double median = tg_peers_median(cell);
  return median > 0 ? tg_robust_scale(cell->values, cell->num) / median : 0;
}

int tg_peers_best(const struct tg_peers_result *result, enum tg_peers_metric metric) {
  int best = -1;
  for (size_t i = 0; i < result->num_servers; i++) {
    const struct tg_peers_cell *cell = &result->servers[i].cells[metric];
    if (result->servers[i].floor || !tg_peers_readable(result, cell)) {
      continue;
    }
    double ahead = best < 0 ? 1 : tg_peers_median(&result->servers[best].cells[metric]) - tg_peers_median(cell);
    if (best < 0 || (tg_peers_info(metric)->more_is_better ? ahead < 0 : ahead > 0)) {
      best = (int)i;
    }
  }
  return best;
}

static bool all_positive(const struct tg_peers_cell *cell) {
  bool ok = true;
  for (size_t i = 0; i < cell->num; i++) {
    ok = ok && isfinite(cell->values[i]) && cell->values[i] > 0;
  }
  return ok;
}

bool tg_peers_ratio(const struct tg_peers_result *result, const struct tg_peers_cell *numerator,
                    const struct tg_peers_cell *denominator, struct tg_interval *out) {
  if (!tg_peers_readable(result, numerator) || !tg_peers_readable(result, denominator) || !all_positive(numerator) ||
      !all_positive(denominator)) {
    return false;
  }
  if (numerator->num == 1) {
    double ratio = numerator->values[0] / denominator->values[0];
    *out = (struct tg_interval){.centre = ratio, .low = ratio, .high = ratio};
  } else {
    tg_ratio_interval(out, numerator->values, denominator->values, numerator->num, TG_PEERS_CONFIDENCE);
  }
  return true;
}

bool tg_peers_undecided(const struct tg_peers_result *result) {
  bool undecided = result->in_memory.unreadable;
  for (size_t i = 0; i < result->num_servers; i++) {
    for (int metric = 0; metric < TG_PEERS_METRICS; metric++) {
      undecided = undecided || result->servers[i].cells[metric].unreadable;
    }
  }
  return undecided;
}

const struct tg_peers_server *tg_peers_find(const struct tg_peers_result *result, const char *name) {
  for (size_t i = 0; i < result->num_servers; i++) {
    if (strcmp(result->servers[i].name, name) == 0) {
      return &result->servers[i];
    }
  }
  return NULL;
}
