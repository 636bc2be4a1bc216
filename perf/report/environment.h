// What a figure may be compared with: the revision that was measured, and the environment it was measured in.
//
// tg_provenance (perf/host/provenance.h) collects it; a report, a deposited sample and a recorded baseline carry it,
// and all of them decode it here.
#ifndef TLSGATE_PERF_REPORT_ENVIRONMENT_H
#define TLSGATE_PERF_REPORT_ENVIRONMENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "perf/manifest/strict_json.h"

// What could not be read on the machine is NULL (null in the file), never a guess.
struct tg_environment {
  const char *commit;            // 40 or 64 lower-case hexadecimal digits; NULL if git could not tell
  const char *host;              // uname(2)'s nodename
  const char *label;             // TLSGATE_PERF_HOST; NULL if it was not set
  const char *architecture;      // uname(2)'s machine
  const char *cpu_model;         // "model name" of /proc/cpuinfo; may be NULL
  const char *os;                // PRETTY_NAME of /etc/os-release; may be NULL
  const char *kernel;            // uname(2)'s release
  const char *compiler;          // of the release build
  const char *flags;             // likewise
  const char *boringssl;         // revision or package version of BoringSSL
  const char *server_sha256;     // of the binary that was timed: 64 lower-case hexadecimal digits
  long long cpus;                // on line
  const json_t *dirty_files;     // array of paths that differ from the commit; NULL (null) if git could not tell
  const json_t *stall_settings;  // object: settings of the host that matter for delayed ACKs, as read
};

// tg_environment_decode reads the object at `place` and closes it. Texts and values are borrowed from it. Returns false
// with the error of `place` filled in.
bool tg_environment_decode(struct tg_environment *out, struct tg_json_place *place);

// tg_environment_encode returns a new object that tg_environment_decode reads, or NULL when out of memory.
json_t *tg_environment_encode(const struct tg_environment *environment);

// tg_environment_is_clean says whether the tree is known to have been exactly the commit.
bool tg_environment_is_clean(const struct tg_environment *environment);

// tg_environment_missing returns the name of the first fact that a recorded figure must have and this one lacks
// ("commit", "dirty_files", "cpu_model"), or NULL if nothing is missing.
const char *tg_environment_missing(const struct tg_environment *environment);

// tg_environment_differs returns the name of the first of these in which the two differ, or NULL: host, architecture,
// cpu_model, cpus, kernel, compiler, flags, boringssl. Figures of two environments are never put into one series. The
// revision is not among them (see tg_environment_same_revision), nor is the binary, which follows from the others. Two
// unknown CPU models differ.
const char *tg_environment_differs(const struct tg_environment *a, const struct tg_environment *b);

// tg_environment_same_revision says whether both were measured at the same known commit; trees may be dirty.
bool tg_environment_same_revision(const struct tg_environment *a, const struct tg_environment *b);

#endif
