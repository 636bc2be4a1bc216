// The negative control: the gates that guard against the stall, on the server as it ships and on the same server with
// the re-arm off, and armed once at accept, in the same minutes. Passes only if all of them pass on the first and every
// one of them fails on the other two.
#include <stdio.h>
#include <string.h>

#include "perf/run/run.h"
#include "perf/run/session.h"
#include "perf/verdict/table.h"

#define BUDGET_S 90.0

static size_t stall_gates(const struct tg_manifest *manifest, const char *names[TG_GATES_MAX + 1]) {
  size_t n = 0;
  for (size_t i = 0; i < manifest->num_gates; i++) {
    const struct tg_gate *gate = &manifest->gates[i];
    if (gate->stall_sensitive && tg_gate_is_gated(gate)) {
      names[n++] = gate->name;
    }
  }
  names[n] = NULL;
  return n;
}

// Counts the gates of `names` that do not have the status they must have, and says which.
static size_t mismatches(const struct tg_run *run, const char *const *names, enum tg_status wanted,
                         const char *quickack) {
  size_t wrong = 0;
  for (; *names != NULL; names++) {
    const struct tg_gate_verdict *gate = tg_verdict_gate(run->verdict, *names);
    bool right = gate->status == wanted;
    printf("  %-8s %-10s %-32s value %-10.4g %s\n", quickack, tg_status_name(gate->status), *names, gate->value,
           right ? "as it must be" : gate->message);
    wrong += right ? 0 : 1;
  }
  return wrong;
}

static bool control(const struct tg_session *session, const char *const *names, const char *quickack,
                    enum tg_status wanted, size_t *wrong) {
  struct tg_run_config config = {
      .fleet = {.server = session->server, .quickack = quickack},
      .off_server = session->server,
      .manifest = session->manifest,
      .only = names,
      .budget_s = BUDGET_S,
      .size = TG_SIZE_SHORT,
  };
  struct tg_run run;
  struct tg_run_failure failure;
  if (!tg_run_measure(&config, &run, &failure)) {
    fprintf(stderr, "gates_selftest: --quickack %s: %s\n", quickack, failure.error.text);
    return false;
  }
  bool stalls = run.host_stalls;
  if (stalls) {
    *wrong += mismatches(&run, names, wanted, quickack);
  } else {
    fprintf(stderr, "gates_selftest: this host hides the stall (%s): the control says nothing here\n", run.hidden_by);
  }
  tg_run_free(&run);
  return stalls;
}

int main(int argc, char **argv) {
  (void)argv;
  if (argc > 1) {
    fprintf(stderr, "gates_selftest: takes no arguments\n");
    return 2;
  }
  struct tg_session session;
  struct tg_error err;
  if (!tg_session_open(&session, "baselines/gates.json", &err)) {
    fprintf(stderr, "gates_selftest: %s\n", err.text);
    return 1;
  }
  const char *names[TG_GATES_MAX + 1];
  size_t num_gates = stall_gates(session.manifest, names);
  size_t wrong = 0;
  bool ok = num_gates > 0 && control(&session, names, "rearm", TG_STATUS_PASS, &wrong) &&
            control(&session, names, "off", TG_STATUS_FAIL, &wrong) &&
            control(&session, names, "accept", TG_STATUS_FAIL, &wrong);
  tg_session_close(&session);
  if (ok) {
    printf("%s: %zu stall-sensitive gates, %zu verdicts not as they must be\n", wrong == 0 ? "PASS" : "FAIL", num_gates,
           wrong);
  }
  return ok && wrong == 0 ? 0 : 1;
}
