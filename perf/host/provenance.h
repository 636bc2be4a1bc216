// Where a figure comes from: what was measured, built from what, on which machine, in which state.
#ifndef TLSGATE_PERF_HOST_PROVENANCE_H
#define TLSGATE_PERF_HOST_PROVENANCE_H

#include <jansson.h>
#include <stdbool.h>

#include "harness/base/error.h"

// The state of the machine's CPUs at one moment, in clock ticks since boot (/proc/stat).
struct tg_cpu_times {
  double total;
  double idle;
  double stolen;  // taken by the hypervisor for other guests
};
bool tg_cpu_times_read(struct tg_cpu_times *out);

// tg_stolen_fraction returns the share of the machine's CPU time between two moments that was stolen, 0 to 1.
double tg_stolen_fraction(const struct tg_cpu_times *from, const struct tg_cpu_times *to);

// tg_load_average returns a new array of the load averages of 1, 5 and 15 minutes (getloadavg(3)), or null.
json_t *tg_load_average(void);

// The environment variable that names this host for recorded baselines.
#define TG_HOST_LABEL "TLSGATE_PERF_HOST"

#define TG_SHA256_HEX 64

// tg_sha256_of_file writes the digest of a file, in lower-case hexadecimal, to `out`. Returns false with `err` filled
// in when it cannot be read.
bool tg_sha256_of_file(const char *path, char out[TG_SHA256_HEX + 1], struct tg_error *err);

// tg_provenance returns a new JSON object, in the form that tg_environment_decode (perf/report/environment.h) reads:
// commit, dirty files, host and its label (TG_HOST_LABEL), CPU model and count, OS, kernel, compiler, flags, BoringSSL
// revision, settings that matter for delayed ACKs, and the SHA-256 of `server_binary` (the file timed). `workspace` is
// the source tree, or NULL if it is not known: then commit is null. What cannot be read is null. Returns NULL with
// `err` filled in when the server binary cannot be read or memory runs out.
json_t *tg_provenance(const char *workspace, const char *server_binary, struct tg_error *err);

#endif
