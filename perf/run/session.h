// What every program that measures does first: find its files, take the host-wide lock, say where it measures.
#ifndef TLSGATE_PERF_RUN_SESSION_H
#define TLSGATE_PERF_RUN_SESSION_H

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>

#include "harness/base/error.h"
#include "perf/manifest/manifest.h"
#include "perf/servers/describe.h"

struct tg_session {
  char server[PATH_MAX];         // https_server
  char faulty_server[PATH_MAX];  // the same with planted faults; empty if the program does not carry it
  char described[PATH_MAX];      // the program of a described server; empty: the server is the project's own
  char workspace[PATH_MAX];      // the source tree; empty if it cannot be told
  struct tg_manifest *manifest;
  json_t *provenance;
  bool faulty;
  int lock;
};

// tg_session_use makes the program of the described server the one that is timed. Returns false with `err` filled in
// when it is not installed, or its provenance cannot be read.
bool tg_session_use(struct tg_session *session, const struct tg_server_description *description, struct tg_error *err);

// tg_session_find fills in everything but the lock; `manifest` is the manifest's path in the workspace, and `faulty`
// says that it is faulty_server that will be timed, whose hash then is in the provenance. Returns false with `err`
// filled in, and nothing to close.
bool tg_session_find(struct tg_session *session, const char *manifest, bool faulty, struct tg_error *err);

// tg_session_lock waits for the host-wide lock, up to ten minutes, and reads the provenance anew once it has it.
// Returns false with `err` filled in; the session is still to be closed.
bool tg_session_lock(struct tg_session *session, struct tg_error *err);

// tg_session_open is both, with nothing to close if one fails.
bool tg_session_open(struct tg_session *session, const char *manifest, struct tg_error *err);

// tg_session_timed returns the path of the program that is timed.
const char *tg_session_timed(const struct tg_session *session);

void tg_session_close(struct tg_session *session);

#endif
