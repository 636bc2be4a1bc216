// The bars that the project's own server is held to against the best of its peers.
#ifndef TLSGATE_PERF_PEERS_BARS_H
#define TLSGATE_PERF_PEERS_BARS_H

#include <stdbool.h>
#include <stddef.h>

#include "perf/peers/result.h"

// Medians of fewer rounds decide no bar.
#define TG_PEERS_BAR_ROUNDS 5

#define TG_PEERS_BARS 14

enum tg_peers_bar_verdict { TG_PEERS_REACHED, TG_PEERS_NOT_REACHED, TG_PEERS_NOT_MEASURED };

struct tg_peers_bar {
  char what[64];
  char bound[48];  // "<= 0.5 x nginx"
  bool has_value;
  bool absolute;             // the value is the metric's own and not a ratio
  struct tg_interval value;  // ratio to what the bound names; of an absolute one, median and range
  enum tg_peers_bar_verdict verdict;
  char why[TG_PEERS_WHY_SIZE];  // it is not measured
};

// tg_peers_bars judges all bars. The peers are nginx, haproxy and h2o; the best is that with the best median. A bar is
// reached if the centre of the ratio keeps to it. It is not measured where one of the two sides is missing or
// unreadable, where a peer that the metric applies to is not there, where a throughput had its limit in the client on
// either side, and with fewer than TG_PEERS_BAR_ROUNDS rounds.
void tg_peers_bars(const struct tg_peers_result *result, struct tg_peers_bar out[TG_PEERS_BARS]);

// tg_peers_bars_with counts the bars that have this verdict.
size_t tg_peers_bars_with(const struct tg_peers_bar bars[TG_PEERS_BARS], enum tg_peers_bar_verdict verdict);

// tg_peers_bar_word is "reached", "not reached" or "not measured".
const char *tg_peers_bar_word(enum tg_peers_bar_verdict verdict);

#endif
