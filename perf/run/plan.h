// The workloads of a round, and the metrics that each one yields.
//
// A round runs every workload once, in the order of the table, so that what changes on the machine in the course of a
// run meets all of them alike. Controls (plaintext, the in-memory handshake) run in every round.
#ifndef TLSGATE_PERF_RUN_PLAN_H
#define TLSGATE_PERF_RUN_PLAN_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "harness/base/error.h"
#include "perf/manifest/manifest.h"
#include "perf/run/fleet.h"
#include "perf/verdict/samples.h"
#include "perf/workload/rtt.h"

// The programs and files that workloads use, as absolute paths.
struct tg_toolbox {
  char rtt_client[PATH_MAX];
  char handshake_bench[PATH_MAX];
  char upload_script[PATH_MAX];
};

// tg_toolbox_find fills in the paths from the program's runfiles.
bool tg_toolbox_find(struct tg_toolbox *out, struct tg_error *err);

// How much work a workload does in a round.
enum tg_size {
  TG_SIZE_SHORT,      // a second or less of each: rounds are many
  TG_SIZE_PUBLISHED,  // the commands and durations of the published suite: one round
};

// What the servers are asked for.
struct tg_routes {
  struct tg_server_route small;
  struct tg_server_route big;
  struct tg_server_route upload;
};

// tg_routes_fill fills in the description's, or the own server's for NULL.
void tg_routes_fill(struct tg_routes *out, const struct tg_server_description *description);

// What a workload needs of a server beside TLS.
enum tg_needs { TG_NEEDS_PLAINTEXT = 1, TG_NEEDS_BIG = 2, TG_NEEDS_UPLOAD = 4 };

// What a workload works with, and where its figures go.
struct tg_bench {
  struct tg_fleet *fleet;
  const char *cert;  // PEM chain of the judged server's, if the description names one: what is calibrated with
  const char *key;   // its key; NULL with it
  const struct tg_toolbox *tools;
  struct tg_samples *samples;
  struct json_t *raw;       // object: workload name -> array of what its tool said, one entry a round
  struct json_t *commands;  // object: workload name -> array of the commands it ran, each once
  struct tg_routes routes;
  enum tg_size size;
  size_t round;
  bool warming_up;  // what runs, or failed, is a warm-up: nothing of it is a sample
};

struct tg_workload {
  const char *name;
  enum tg_member member;  // the server that it loads
  unsigned needs;         // of enum tg_needs
  bool control;           // runs in every round of a whole run
  const char *with;       // a workload whose figures it is the measure of: runs whenever that one does; NULL
  bool published;         // belongs to the published suite
  bool (*run)(struct tg_bench *bench, const struct tg_workload *workload, struct tg_error *err);
  const void *details;  // for run()
};

// The table. Ends with a workload without a name.
extern const struct tg_workload tg_workloads[];

// tg_workload_find returns the workload of that name, or NULL.
const struct tg_workload *tg_workload_find(const char *name);

// The fault that is no planted one but the server's own option.
#define TG_STALL_FAULT "quickack_off"

// tg_plan_check says whether every workload and fault that the manifest names exists; if not, `err` names the gate.
bool tg_plan_check(const struct tg_manifest *manifest, struct tg_error *err);

// tg_bench_look_again runs a workload of rtt_client once more, as it is in a round but for `count` connections and one
// option more (NULL: none), and keeps no sample. `context` is the bench: see perf/diagnose/experiment.h.
bool tg_bench_look_again(void *context, const char *workload, const char *option, unsigned count, struct tg_rtt *out,
                         struct tg_error *err);

// tg_bench_host_stalls runs a few connections against `off`, a server without re-arm, and says in *stalls whether most
// of them waited 20 ms or more: whether this host shows the fault at all.
bool tg_bench_host_stalls(const struct tg_toolbox *tools, struct tg_server *off, bool *stalls, double *p50_ms,
                          struct tg_error *err);

#endif
