#include "perf/workload/calibrate.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "perf/process/child.h"

#define TIMEOUT_S 60

bool tg_calibrate(const char *bench, unsigned count, const char *cert, const char *key, double *server_us,
                  struct tg_error *err) {
  char count_text[16];
  (void)snprintf(count_text, sizeof(count_text), "%u", count);
  const bool own = cert == NULL || key == NULL;
  const char *argv[] = {bench,
                        "--count",
                        count_text,
                        own ? "--key-type" : "--cert",
                        own ? "p256" : cert,
                        own ? NULL : "--key",
                        own ? NULL : key,
                        NULL};
  struct tg_child_result result;
  if (!tg_child_run(argv, TIMEOUT_S, &result, err)) {
    return false;
  }
  json_error_t where;
  json_t *report = json_loads(result.out, JSON_REJECT_DUPLICATES, &where);
  bool ok = result.exit_status == 0 && report != NULL &&
            json_unpack_ex(report, &where, 0, "{s:F}", "server_cpu_p50_us", server_us) == 0 && *server_us > 0;
  if (!ok) {
    tg_error_set(err, "handshake_bench ended with status %d: %.200s", result.exit_status,
                 result.exit_status != 0 ? result.err : where.text);
  }
  json_decref(report);
  tg_child_result_free(&result);
  return ok;
}
