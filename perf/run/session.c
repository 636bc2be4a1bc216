#include "perf/run/session.h"

#include <string.h>
#include <unistd.h>

#include "perf/host/lock.h"
#include "perf/host/provenance.h"
#include "perf/process/runfiles.h"
#include "perf/run/plan.h"

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

bool tg_session_open(struct tg_session *session, const char *manifest, struct tg_error *err) {
  memset(session, 0, sizeof(*session));
  session->lock = -1;
  if (!tg_runfile("harness/server/https_server", session->server, err)) {
    return false;
  }
  if (!tg_runfile("perf/testing/faulty_server", session->faulty_server, NULL)) {
    session->faulty_server[0] = '\0';
  }
  if (!tg_workspace(manifest, session->workspace)) {
    session->workspace[0] = '\0';
  }
  const char *workspace = session->workspace[0] != '\0' ? session->workspace : NULL;
  bool ok = load_manifest(session, manifest, err) &&
            (session->lock = tg_measure_lock(workspace, LOCK_TIMEOUT_MS, err)) >= 0 &&
            (session->provenance = tg_provenance(workspace, session->server, err)) != NULL;
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
