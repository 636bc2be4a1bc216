#include "perf/peers/bars.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "perf/stats/quantile.h"

enum against { BEST_PEER, IN_MEMORY, NOTHING };

// What the project promises of its server.
static const struct rule {
  const char *what;
  enum tg_peers_metric metric;
  enum against against;
  bool at_least;
  bool strict;  // the bound itself does not keep to it
  double bound;
} rules[TG_PEERS_BARS] = {
    {"server CPU per full handshake", TG_PEERS_FULL_CPU, BEST_PEER, false, false, 0.5},
    {"the same, against the handshake in memory", TG_PEERS_FULL_CPU, IN_MEMORY, false, false, 1.5},
    {"server CPU per resumed handshake", TG_PEERS_RESUMED_CPU, BEST_PEER, false, false, 0.5},
    {"server CPU per keep-alive request", TG_PEERS_REQUEST_CPU, BEST_PEER, false, false, 0.8},
    {"server CPU per MiB sent", TG_PEERS_MIB_CPU, BEST_PEER, false, false, 0.7},
    {"memory per idle connection", TG_PEERS_IDLE_KIB, BEST_PEER, false, false, 0.7},
    {"CPU at rest with idle connections", TG_PEERS_IDLE_CPU, NOTHING, false, true, 0.5},
    {"system calls per connection", TG_PEERS_CALLS_EACH, BEST_PEER, false, true, 1.0},
    {"connections, 1 at once", TG_PEERS_CPS_1, BEST_PEER, true, false, 1.0},
    {"connections, 4 at once", TG_PEERS_CPS_4, BEST_PEER, true, false, 1.0},
    {"connections, 32 at once", TG_PEERS_CPS_32, BEST_PEER, true, false, 1.0},
    {"resumed connections", TG_PEERS_RESUMED_CPS, BEST_PEER, true, false, 1.0},
    {"keep-alive requests", TG_PEERS_KEEPALIVE_RPS, BEST_PEER, true, false, 1.0},
    {"1 MiB responses", TG_PEERS_BIG_GBPS, BEST_PEER, true, false, 1.0},
};

static const char *const peers[] = {"nginx", "haproxy", "h2o"};
#define NUM_PEERS (sizeof(peers) / sizeof(peers[0]))

// The best peer of a metric, or NULL with `why`: one that should count is not there or cannot be read.
static const struct tg_peers_server *best_peer(const struct tg_peers_result *result, const struct rule *rule,
                                               struct tg_peers_bar *bar) {
  const struct tg_peers_server *best = NULL;
  for (size_t i = 0; i < NUM_PEERS; i++) {
    const struct tg_peers_server *peer = tg_peers_find(result, peers[i]);
    const struct tg_peers_cell *cell = peer != NULL ? &peer->cells[rule->metric] : NULL;
    if (cell != NULL && cell->left_out) {
      continue;
    }
    if (cell == NULL || !tg_peers_readable(result, cell)) {
      (void)snprintf(bar->why, sizeof(bar->why), "%s %s", peers[i],
                     cell == NULL ? "was not compared" : "could not be read");
      return NULL;
    }
    double ahead = best == NULL ? 0 : tg_peers_median(cell) - tg_peers_median(&best->cells[rule->metric]);
    if (best == NULL || (tg_peers_info(rule->metric)->more_is_better ? ahead > 0 : ahead < 0)) {
      best = peer;
    }
  }
  if (best == NULL) {
    (void)snprintf(bar->why, sizeof(bar->why), "it applies to no peer");
  }
  return best;
}

// Fills in the value. Returns false with `why` when there is none.
static bool estimate(const struct tg_peers_result *result, const struct rule *rule, const struct tg_peers_cell *own,
                     struct tg_peers_bar *bar) {
  const struct tg_peers_cell *other = &result->in_memory;
  const char *name = rule->against == IN_MEMORY ? "in memory" : "the best peer";
  const struct tg_peers_server *peer = NULL;
  if (rule->against == NOTHING) {
    bar->absolute = true;
    bar->value = (struct tg_interval){.centre = tg_peers_median(own),
                                      .low = tg_quantile(own->values, own->num, 0),
                                      .high = tg_quantile(own->values, own->num, 1)};
    return true;
  }
  if (rule->against == BEST_PEER) {
    peer = best_peer(result, rule, bar);
    other = peer != NULL ? &peer->cells[rule->metric] : NULL;
    name = peer != NULL ? peer->name : name;
  }
  (void)snprintf(bar->bound + strlen(bar->bound), sizeof(bar->bound) - strlen(bar->bound), " x %s", name);
  if (other == NULL) {
    return false;
  }
  if (!tg_peers_ratio(result, own, other, &bar->value)) {
    (void)snprintf(bar->why, sizeof(bar->why), "%s: no ratio can be had", name);
    return false;
  }
  if (tg_peers_info(rule->metric)->throughput &&
      (2 * own->client_bound > own->num || 2 * other->client_bound > other->num)) {
    (void)snprintf(bar->why, sizeof(bar->why), "the client is the limit of %s",
                   2 * own->client_bound > own->num ? "own" : name);
  }
  return true;
}

static void judge(const struct tg_peers_result *result, const struct rule *rule, struct tg_peers_bar *bar) {
  const struct tg_peers_server *own = NULL;
  for (size_t i = 0; i < result->num_servers; i++) {
    own = result->servers[i].own ? &result->servers[i] : own;
  }
  *bar = (struct tg_peers_bar){.verdict = TG_PEERS_NOT_MEASURED};
  (void)snprintf(bar->what, sizeof(bar->what), "%s", rule->what);
  (void)snprintf(bar->bound, sizeof(bar->bound), "%s%s %.1f%s", rule->at_least ? ">" : "<", rule->strict ? "" : "=",
                 rule->bound, rule->against == NOTHING ? " % of a core" : "");
  if (own == NULL || !tg_peers_readable(result, &own->cells[rule->metric])) {
    (void)snprintf(bar->why, sizeof(bar->why), "own %s",
                   own == NULL                           ? "was not compared"
                   : own->cells[rule->metric].unreadable ? "could not be read"
                                                         : "was not measured");
    return;
  }
  bar->has_value = estimate(result, rule, &own->cells[rule->metric], bar);
  if (bar->has_value && result->rounds < TG_PEERS_BAR_ROUNDS) {
    (void)snprintf(bar->why, sizeof(bar->why), "%zu rounds, and it takes %d", result->rounds, TG_PEERS_BAR_ROUNDS);
  }
  if (bar->has_value && bar->why[0] == '\0') {
    double value = bar->value.centre;
    bool kept = rule->at_least ? value >= rule->bound : value <= rule->bound;
    bar->verdict = kept && !(rule->strict && value == rule->bound) ? TG_PEERS_REACHED : TG_PEERS_NOT_REACHED;
  }
}

void tg_peers_bars(const struct tg_peers_result *result, struct tg_peers_bar out[TG_PEERS_BARS]) {
  for (size_t i = 0; i < TG_PEERS_BARS; i++) {
    judge(result, &rules[i], &out[i]);
  }
}

size_t tg_peers_bars_with(const struct tg_peers_bar bars[TG_PEERS_BARS], enum tg_peers_bar_verdict verdict) {
  size_t num = 0;
  for (size_t i = 0; i < TG_PEERS_BARS; i++) {
    num += bars[i].verdict == verdict;
  }
  return num;
}

const char *tg_peers_bar_word(enum tg_peers_bar_verdict verdict) {
  static const char *const words[] = {"reached", "not reached", "not measured"};
  assert(verdict <= TG_PEERS_NOT_MEASURED);
  return words[verdict];
}
