// What every program that measures does first: find its files, take the host-wide lock, say where it measures.
#ifndef TLSGATE_PERF_RUN_SESSION_H
#define TLSGATE_PERF_RUN_SESSION_H

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>

#include "harness/base/error.h"
#include "perf/manifest/manifest.h"

struct tg_session {
  char server[PATH_MAX];         // https_server
  char faulty_server[PATH_MAX];  // the same with planted faults; empty if the program does not carry it
  char workspace[PATH_MAX];      // the source tree; empty if it cannot be told
  struct tg_manifest *manifest;
  json_t *provenance;
  int lock;
};

// tg_session_open fills in everything; `manifest` is the manifest's path in the workspace. It waits for the lock, up to
// ten minutes. Returns false with `err` filled in, and nothing to close.
bool tg_session_open(struct tg_session *session, const char *manifest, struct tg_error *err);
void tg_session_close(struct tg_session *session);

#endif
