// From samples to a verdict: per gate, and for the suite.
//
//     manifest + samples by round (+ what the host hides)  ->  tg_verdict  ->  table, report
//
// Judging changes nothing and may be done after every round; the last verdict counts. A run goes on while
// tg_verdict_settled() is false and there is budget left.
#ifndef TLSGATE_PERF_VERDICT_VERDICT_H
#define TLSGATE_PERF_VERDICT_VERDICT_H

#include <stdbool.h>
#include <stddef.h>

#include "perf/manifest/manifest.h"
#include "perf/verdict/samples.h"

enum tg_status {
  TG_STATUS_PASS,
  TG_STATUS_FAIL,
  TG_STATUS_UNDECIDED,     // the samples do not tell, or the host hides what they should tell; never a pass
  TG_STATUS_CLIENT_BOUND,  // the load client was the limit and no firm metric decides; counts as undecided
  TG_STATUS_RECORDED,      // not gated, for the reason in the manifest
  TG_STATUS_DISABLED,      // bound null in the manifest
  TG_STATUS_LEFT_OUT,      // does not apply to the server that was judged, for the reason in the message
};

struct tg_gate_verdict {
  const struct tg_gate *gate;  // borrowed from the manifest
  enum tg_status status;
  bool has_value;
  double value;                 // median of the rounds; of a fraction, hits / trials
  double spread;                // robust relative standard deviation of the rounds: 0.05 is 5 %; 0 for a fraction
  bool has_bound;               // false if recorded, disabled, or judged by the firm metric
  double bound;                 // in force; of a relative bound, the median of the rounds
  double distance;              // how many times the value is outside the bound: 0.5 is 2 x inside, 2 is 2 x outside
  double limit;                 // of a fraction: the exact upper confidence limit, which is what is compared
  size_t rounds;                // that have a sample
  size_t client_bound;          // of which the client was saturated in so many
  size_t control_client_bound;  // and that of the metric that the bound is relative to, in so many
  bool judged_by_firm;          // the status is that of the firm metric
  bool open;                    // undecided, and more rounds may decide it
  bool folded;                  // no line in the table: the verdict's note tells of it
  char message[400];            // one line: what was found and the remedy
};

struct tg_verdict {
  struct tg_gate_verdict *gates;  // in the order of the manifest
  size_t num_gates;
  enum tg_status status;  // FAIL if any gate fails; else UNDECIDED if any gate is undecided or client-bound; else PASS
  size_t gated;           // gates that count: neither recorded, disabled nor left out (the M of "N/M passed")
  size_t passed;
  size_t failed;
  size_t undecided;  // client-bound ones included
  const char *note;  // lines that the table has above its summary, each with its newline; NULL: none. Borrowed
};

// What the host does to the samples.
struct tg_host_view {
  // The setting that keeps a stalled server from stalling here ("net.ipv4.tcp_pingpong_thresh=3"), found by the run's
  // own negative control; NULL if the stall shows. A stall-sensitive gate that would pass is then undecided.
  const char *stall_hidden_by;
};

// tg_verdict_judge judges what there is. Returns a verdict that borrows the manifest's gates, to be released with
// tg_verdict_free.
struct tg_verdict *tg_verdict_judge(const struct tg_manifest *manifest, const struct tg_samples *samples,
                                    const struct tg_host_view *host);

// tg_verdict_replay judges one row by plain comparison: a row has no rounds, so nothing but the value speaks. A gated
// metric that the row lacks is undecided.
struct tg_verdict *tg_verdict_replay(const struct tg_manifest *manifest, const struct tg_row *row);

// tg_gate_explain writes the message of a gate that is beyond its bound: value, bound, and `why`.
void tg_gate_explain(struct tg_gate_verdict *gate, const char *why);

// tg_verdict_free releases a verdict. NULL is ignored.
void tg_verdict_free(struct tg_verdict *verdict);

// tg_verdict_settled says whether more rounds would be wasted: no gate is open.
bool tg_verdict_settled(const struct tg_verdict *verdict);

// tg_verdict_exit_code returns what a program that judged should exit with: 0 pass, 1 fail, 3 undecided.
// (2 is a usage error everywhere in this project.)
int tg_verdict_exit_code(const struct tg_verdict *verdict);

// tg_verdict_gate returns the verdict on the gate of that name, or NULL.
const struct tg_gate_verdict *tg_verdict_gate(const struct tg_verdict *verdict, const char *name);

// tg_status_name returns "pass", "fail", "undecided", "client-bound", "recorded", "disabled" or
// "left-out".
const char *tg_status_name(enum tg_status status);

#endif
