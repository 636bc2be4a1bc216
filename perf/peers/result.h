// What a comparison has measured: every value of every round, and what they come to.
#ifndef TLSGATE_PERF_PEERS_RESULT_H
#define TLSGATE_PERF_PEERS_RESULT_H

#include <stdbool.h>
#include <stddef.h>

#include "perf/peers/metric.h"
#include "perf/stats/ratio.h"

#define TG_PEERS_ROUNDS_MAX  50
#define TG_PEERS_SERVERS_MAX 16
#define TG_PEERS_WHY_SIZE    240
#define TG_PEERS_ABSENT_SIZE 600

// Different system calls that are told apart for one server; more are in the sum alone.
#define TG_PEERS_CALL_NAMES_MAX 48
#define TG_PEERS_CALL_NAME_SIZE 32

// The confidence of the intervals around ratios.
#define TG_PEERS_CONFIDENCE 0.95

// The series of one metric of one server. All zero: not asked for.
struct tg_peers_cell {
  double values[TG_PEERS_ROUNDS_MAX];  // by round
  size_t num;
  size_t client_bound;          // rounds in which the client was the limit
  bool unreadable;              // a round failed; `why` says how, and the values say nothing
  bool left_out;                // does not apply to this server; `why` says why
  char why[TG_PEERS_WHY_SIZE];  // of the first round that failed
};

struct tg_peers_call {
  char name[TG_PEERS_CALL_NAME_SIZE];
  double values[TG_PEERS_ROUNDS_MAX];  // per connection, by round
};

struct tg_peers_server {
  const char *name;
  const char *file;     // its description
  const char *package;  // NULL: none
  char version[64];     // of the package; empty: not known
  char command[512];    // empty: never started
  bool own;             // the project's own
  bool floor;           // serves one client at a time: never the best of a metric
  struct tg_peers_cell cells[TG_PEERS_METRICS];
  struct tg_peers_call calls[TG_PEERS_CALL_NAMES_MAX];
  size_t num_calls;
};

struct tg_peers_result {
  size_t rounds;
  struct tg_peers_server servers[TG_PEERS_SERVERS_MAX];
  size_t num_servers;
  struct tg_peers_cell in_memory;  // CPU us of the server's half of a handshake in memory, by the own server's library
  long exact_calls;                // calls of a full connection of the own server by the exact gates; 0: not known
  char absent[TG_PEERS_SERVERS_MAX][TG_PEERS_ABSENT_SIZE];  // servers that were skipped, and what to install
  size_t num_absent;
};

// tg_peers_add adds the value of the next round; tg_peers_fail makes the series unreadable, `why` for the first reason
// alone; tg_peers_leave_out says that it does not apply.
void tg_peers_add(struct tg_peers_cell *cell, double value, bool client_bound);
void tg_peers_fail(struct tg_peers_cell *cell, size_t round, const char *why);
void tg_peers_leave_out(struct tg_peers_cell *cell, const char *why);

// tg_peers_add_call adds one system call's count per connection of round `round` (from 0). A name that has no room is
// dropped.
void tg_peers_add_call(struct tg_peers_server *server, size_t round, const char *name, double each);

// tg_peers_readable says whether a series has a value in every round.
bool tg_peers_readable(const struct tg_peers_result *result, const struct tg_peers_cell *cell);

// tg_peers_median and tg_peers_spread return a readable series' median and its robust standard deviation over the
// median (0 for one round, or where the median is 0).
double tg_peers_median(const struct tg_peers_cell *cell);
double tg_peers_spread(const struct tg_peers_cell *cell);

// tg_peers_best returns the index of the server with the best median of a metric, floors left out, or -1 when no series
// of it is readable.
int tg_peers_best(const struct tg_peers_result *result, enum tg_peers_metric metric);

// tg_peers_ratio estimates numerator / denominator, paired by round, with its interval at TG_PEERS_CONFIDENCE (of one
// round: the ratio itself). Returns false when one is unreadable or has a value that is not positive.
bool tg_peers_ratio(const struct tg_peers_result *result, const struct tg_peers_cell *numerator,
                    const struct tg_peers_cell *denominator, struct tg_interval *out);

// tg_peers_undecided says whether a series that was wanted could not be read, in any round, on any server.
bool tg_peers_undecided(const struct tg_peers_result *result);

// tg_peers_find returns the server of that name, or NULL.
const struct tg_peers_server *tg_peers_find(const struct tg_peers_result *result, const char *name);

#endif
