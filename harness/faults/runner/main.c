// runner PLAN RECORD: tries whether a check catches a fault, and writes down what came of it.
#include <stdio.h>
#include <stdlib.h>

#include "harness/client/json_file.h"
#include "harness/faults/runner/run.h"

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: runner PLAN.json RECORD.json\n");
    return 2;
  }
  struct tg_error err;
  struct tg_fault_plan plan;
  struct tg_fault_record record;
  // A test of the patched build may want it; a sandbox has it.
  (void)setenv("TEST_TMPDIR", "/tmp", 0);
  bool ok = tg_fault_plan_load(argv[1], &plan, &err);
  if (ok) {
    ok = tg_fault_run(&plan, &record, &err) && tg_json_write(tg_fault_record_encode(&record), argv[2], &err);
    tg_fault_plan_free(&plan);
  }
  if (!ok) {
    fprintf(stderr, "faults: %s\n", err.text);
  }
  return ok ? 0 : 1;
}
