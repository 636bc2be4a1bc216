#include "perf/run/session.h"

#include <string.h>
#include <unistd.h>

#include "perf/host/lock.h"
#include "perf/host/provenance.h"
#include "perf/process/runfiles.h"
#include "perf/run/plan.h"
#include "perf/servers/launch.h"

#define LOCK_TIMEOUT_MS 600000

static bool load_manifest(struct tg_session *session, const char *manifest, struct tg_error *err) {
  char path[PATH_MAX];
  if (!tg_runfile(manifest, path, err)) {
    return false;
  }
  struct tg_error problem;
  session->manifest = tg_manifest_load(path, &problem);
  if (session->manifest == NULL) {
    tg_error_set(err, "%s", problem.text);
    return false;
  }
  return tg_plan_check(session->manifest, err);
}

const char *tg_session_timed(const struct tg_session *session) {
  if (session->described[0] != '\0') {
    return session->described;
  }
  return session->faulty ? session->faulty_server : session->server;
}

// What was read before stays when it cannot be read anew.
static bool read_provenance(struct tg_session *session, struct tg_error *err) {
  const char *workspace = session->workspace[0] != '\0' ? session->workspace : NULL;
  json_t *provenance = tg_provenance(workspace, tg_session_timed(session), err);
  if (provenance == NULL) {
    return false;
  }
  json_decref(session->provenance);
  session->provenance = provenance;
  return true;
}

bool tg_session_use(struct tg_session *session, const struct tg_server_description *description, struct tg_error *err) {
  return tg_launch_program(description, session->server, session->described, err) && read_provenance(session, err);
}

bool tg_session_find(struct tg_session *session, const char *manifest, bool faulty, struct tg_error *err) {
  memset(session, 0, sizeof(*session));
  session->lock = -1;
  session->faulty = faulty;
  if (!tg_runfile("harness/server/https_server", session->server, err)) {
    return false;
  }
  if (!tg_runfile("perf/testing/faulty_server", session->faulty_server, faulty ? err : NULL)) {
    session->faulty_server[0] = '\0';
    if (faulty) {
      return false;
    }
  }
  if (!tg_workspace(manifest, session->workspace)) {
    session->workspace[0] = '\0';
  }
  bool ok = load_manifest(session, manifest, err) && read_provenance(session, err);
  if (!ok) {
    tg_session_close(session);
  }
  return ok;
}

bool tg_session_lock(struct tg_session *session, struct tg_error *err) {
  session->lock = tg_measure_lock(session->workspace[0] != '\0' ? session->workspace : NULL, LOCK_TIMEOUT_MS, err);
  // A wait may be long: what was read before it is not what is measured.
  return session->lock >= 0 && read_provenance(session, err);
}

bool tg_session_open(struct tg_session *session, const char *manifest, struct tg_error *err) {
  if (!tg_session_find(session, manifest, false, err)) {
    return false;
  }
  bool ok = tg_session_lock(session, err);
  if (!ok) {
    tg_session_close(session);
  }
  return ok;
}

void tg_session_close(struct tg_session *session) {
  if (session->lock >= 0) {
    close(session->lock);
  }
  tg_manifest_free(session->manifest);
  json_decref(session->provenance);
  memset(session, 0, sizeof(*session));
  session->lock = -1;
}
