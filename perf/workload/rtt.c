#include "perf/workload/rtt.h"

#include <stdio.h>
#include <string.h>

#include "perf/process/child.h"

#define TIMEOUT_S   120
#define OPTIONS_MAX 24

static bool read_report(const char *text, struct tg_rtt *out, struct tg_error *err) {
  json_error_t where;
  json_t *report = json_loads(text, JSON_REJECT_DUPLICATES, &where);
  json_t *samples = NULL;
  json_int_t stalled = 0;
  bool ok = report != NULL && json_unpack_ex(report, &where, 0, "{s:{s:F, s:F, s:F, s:F}, s:{s:F}, s:I, s:F, s:o}",
                                             "rtt_ms", "p50", &out->p50_ms, "p90", &out->p90_ms, "p99", &out->p99_ms,
                                             "max", &out->max_ms, "handshake_ms", "p50", &out->handshake_p50_ms,
                                             "stalled", &stalled, "seconds", &out->seconds, "samples", &samples) == 0;
  const json_t *values = json_object_get(samples, "rtt_ms");
  if (!ok || json_array_size(values) == 0) {
    tg_error_set(err, "rtt_client: its report cannot be read: %s", ok ? "no samples" : where.text);
    ok = false;
  } else {
    out->stalled = (uint64_t)stalled;
    out->count = json_array_size(values);
    out->samples = json_incref(samples);
  }
  json_decref(report);
  return ok;
}

// A client that failed says in which phase, in the JSON that takes the place of its report.
static bool failed_in_warm_up(const char *text) {
  json_t *report = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
  const char *phase = json_string_value(json_object_get(report, "phase"));
  bool warm_up = phase != NULL && strcmp(phase, "warm-up") == 0;
  json_decref(report);
  return warm_up;
}

bool tg_rtt_run(const char *client, struct tg_server *server, unsigned count, const char *const options[],
                struct tg_rtt *out, struct tg_error *err) {
  char port[16];
  char count_text[16];
  (void)snprintf(port, sizeof(port), "%u", server->tls_port);
  (void)snprintf(count_text, sizeof(count_text), "%u", count);
  const char *argv[OPTIONS_MAX + 8] = {client, "--port", port, "--count", count_text, "--json", "-"};
  for (size_t i = 0, n = 7; options[i] != NULL && i < OPTIONS_MAX; i++) {
    argv[n++] = options[i];
  }
  memset(out, 0, sizeof(*out));
  double before = tg_server_cpu_s(server);
  struct tg_child_result result;
  if (!tg_child_run(argv, TIMEOUT_S, &result, err)) {
    return false;
  }
  bool ok = result.exit_status == 0;
  if (!ok) {
    tg_error_set(err, "%.*s (server %s)", (int)strcspn(result.err, "\n"),
                 result.err[0] == '\0' ? "rtt_client failed without a word" : result.err, server->name);
    out->failed_in_warm_up = failed_in_warm_up(result.out);
  }
  ok = ok && tg_server_alive(server, err) && read_report(result.out, out, err);
  out->client_cpu_s = result.cpu_s;
  tg_command_line(argv, out->command, sizeof(out->command));
  out->server_cpu_s = tg_server_cpu_s(server) - before;
  tg_child_result_free(&result);
  return ok;
}
