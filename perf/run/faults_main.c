// Proof that the gates can fail: each planted fault is served, the gates that the manifest says it must fail are
// measured, and every one of them must fail. The stall has its own control (selftest_main.c).
#include <stdio.h>
#include <string.h>

#include "perf/run/run.h"
#include "perf/run/session.h"

#define BUDGET_S 90.0

static size_t gates_of(const struct tg_manifest *manifest, const char *fault, const char *names[TG_GATES_MAX + 1]) {
  size_t n = 0;
  for (size_t i = 0; i < manifest->num_gates; i++) {
    const struct tg_gate *gate = &manifest->gates[i];
    if (tg_gate_is_gated(gate) && gate->fault != NULL && strcmp(gate->fault, fault) == 0) {
      names[n++] = gate->name;
    }
  }
  names[n] = NULL;
  return n;
}

static bool first_with_this_fault(const struct tg_manifest *manifest, size_t index) {
  for (size_t i = 0; i < index; i++) {
    if (manifest->gates[i].fault != NULL && strcmp(manifest->gates[i].fault, manifest->gates[index].fault) == 0) {
      return false;
    }
  }
  return true;
}

// Returns how many gates were not failed by the fault.
static size_t serve_fault(const struct tg_session *session, const char *fault) {
  const char *names[TG_GATES_MAX + 1];
  size_t num_gates = gates_of(session->manifest, fault, names);
  struct tg_run_config config = {
      .fleet = {.server = session->faulty_server, .quickack = "rearm", .fault = fault},
      .off_server = session->server,
      .manifest = session->manifest,
      .only = names,
      .budget_s = BUDGET_S,
      .size = TG_SIZE_SHORT,
  };
  struct tg_run run;
  struct tg_run_failure failure;
  if (!tg_run_measure(&config, &run, &failure)) {
    fprintf(stderr, "gates_faults: %s: %s\n", fault, failure.error.text);
    return num_gates;
  }
  size_t survived = 0;
  for (const char *const *name = names; *name != NULL; name++) {
    const struct tg_gate_verdict *gate = tg_verdict_gate(run.verdict, *name);
    bool caught = gate->status == TG_STATUS_FAIL;
    printf("  %-20s %-10s %-32s value %-10.4g %s\n", fault, tg_status_name(gate->status), *name, gate->value,
           caught ? "caught" : gate->message);
    survived += caught ? 0 : 1;
  }
  tg_run_free(&run);
  return survived;
}

int main(int argc, char **argv) {
  (void)argv;
  if (argc > 1) {
    fprintf(stderr, "gates_faults: takes no arguments\n");
    return 2;
  }
  struct tg_session session;
  struct tg_error err;
  if (!tg_session_open(&session, "baselines/gates.json", &err)) {
    fprintf(stderr, "gates_faults: %s\n", err.text);
    return 1;
  }
  size_t faults = 0;
  size_t survived = 0;
  for (size_t i = 0; i < session.manifest->num_gates; i++) {
    const struct tg_gate *gate = &session.manifest->gates[i];
    if (tg_gate_is_gated(gate) && gate->fault != NULL && strcmp(gate->fault, TG_STALL_FAULT) != 0 &&
        first_with_this_fault(session.manifest, i)) {
      faults++;
      survived += serve_fault(&session, gate->fault);
    }
  }
  tg_session_close(&session);
  printf("%s: %zu planted faults, %zu gates that they did not fail\n", survived == 0 ? "PASS" : "FAIL", faults,
         survived);
  return faults > 0 && survived == 0 ? 0 : 1;
}
