// What a probe's run is worth: pass, failed or undecided, by fixed tolerances.
#ifndef TLSGATE_PERF_PROBE_JUDGE_H
#define TLSGATE_PERF_PROBE_JUDGE_H

#include <stdbool.h>
#include <stddef.h>

#include "perf/probe/probe.h"

// How far from where it was a server at rest may be afterwards.
#define TG_REST_THREADS 2     // helpers that are made on first use; a thread for each client would be eight or more
#define TG_REST_FDS     4     // files kept open from first use; every probe has more clients than that
#define TG_REST_RSS_MIB 16.0  // pages that allocators keep; half of what 2,000 lost connections of 16 KiB would hold
#define TG_REST_CPU     0.05  // of a core; clocks tick in hundredths of a second, and a loop that spins takes it all

// What a server holds, and what share of a core it uses, at one time.
struct tg_rest {
  long threads;
  long fds;
  double rss_mib;
  double cpu;
};

struct tg_observed {
  struct tg_probe_seen seen;
  bool ready;          // it served before the probe; if not, nothing else is known
  bool alive;          // the process runs, and every process it had before
  bool served_after;   // a client was served within TG_CANARY_SERVED_S, at the latest when it had settled
  double settled_s;    // how long it took to be back
  size_t others;       // well-behaved clients meanwhile,
  size_t others_lost;  // those that were not served within TG_CANARY_SERVED_S,
  double longest_s;    // and the longest that one took
  double own_late_s;   // how late the measuring itself was
  struct tg_rest before;
  struct tg_rest after;
};

enum tg_probe_outcome { TG_PROBE_PASS, TG_PROBE_FAILED, TG_PROBE_UNDECIDED };

// tg_probe_outcome_name is "pass", "failed" or "undecided".
const char *tg_probe_outcome_name(enum tg_probe_outcome outcome);

// tg_probe_at_rest says whether `after` is within the tolerances of `before`.
bool tg_probe_at_rest(const struct tg_rest *before, const struct tg_rest *after);

// tg_probe_judge decides, and writes why it is no pass to `why`, separated by "; " (empty for a pass).
enum tg_probe_outcome tg_probe_judge(const struct tg_observed *observed, char *why, size_t size);

#endif
