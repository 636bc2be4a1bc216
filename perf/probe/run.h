// Probes run one after another on one server.
#ifndef TLSGATE_PERF_PROBE_RUN_H
#define TLSGATE_PERF_PROBE_RUN_H

#include <stdbool.h>
#include <stddef.h>

#include "harness/base/error.h"
#include "perf/probe/judge.h"
#include "perf/probe/probe.h"
#include "perf/servers/launch.h"

#define TG_PROBES_MAX     32
#define TG_PROBE_WHY_SIZE 400

struct tg_probe_config {
  const struct tg_server_description *description;
  struct tg_launch_config launch;
  double limit_s;              // as in struct tg_probe_target, as are the next two
  double late_s;               // TG_PROBE_LATE_S, but for tests
  double watched_s;            // TG_PROBE_WATCHED_S, but for tests
  double settle_s;             // how long a server has to be back where it was
  size_t connections;          // as in struct tg_probe_target
  bool wanted[TG_PROBES_MAX];  // by place in tg_probes
  bool quiet;                  // nothing on stderr while it runs
};

struct tg_probe_result {
  const struct tg_probe *probe;
  struct tg_observed observed;
  enum tg_probe_outcome outcome;
  char why[TG_PROBE_WHY_SIZE];
};

struct tg_probe_run {
  struct tg_probe_result results[TG_PROBES_MAX];
  size_t num;
  char command[512];
  double took_s;
};

// tg_probe_run_all starts the server, runs the probes that are wanted and stops it; the server is started anew when it
// has died, and with few descriptors for the probes that exhaust them. Returns false with `err` filled in when the
// server cannot be started.
bool tg_probe_run_all(const struct tg_probe_config *config, struct tg_probe_run *out, struct tg_error *err);

// tg_probe_run_outcome is failed if any is, else undecided if any is, else pass.
enum tg_probe_outcome tg_probe_run_outcome(const struct tg_probe_run *run);

#endif
