#include "perf/ab/crowd.h"

#include <assert.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "perf/process/child.h"

#define TIMEOUT_S 60

static bool read_rate(const char *text, double *rate, struct tg_error *err) {
  json_error_t where;
  json_t *report = json_loads(text, JSON_REJECT_DUPLICATES, &where);
  json_int_t count = 0;
  double seconds = 0;
  bool ok = report != NULL &&
            json_unpack_ex(report, &where, 0, "{s:I, s:F}", "count", &count, "seconds", &seconds) == 0 && seconds > 0;
  if (ok) {
    *rate = (double)count / seconds;
  } else {
    tg_error_set(err, "rtt_client: its report cannot be read: %s", where.text);
  }
  json_decref(report);
  return ok;
}

bool tg_crowd_run(const char *client, const struct tg_server *server, unsigned clients, unsigned count, double *rate,
                  struct tg_error *err) {
  assert(clients >= 1 && clients <= TG_CROWD_MAX);
  char port[16];
  char clients_text[16];
  char count_text[16];
  (void)snprintf(port, sizeof(port), "%u", server->tls_port);
  (void)snprintf(clients_text, sizeof(clients_text), "%u", clients);
  (void)snprintf(count_text, sizeof(count_text), "%u", count);
  const char *argv[] = {client,     "--port", port,    "--clients", clients_text, "--count", count_text,
                        "--warmup", "1",      "--tls", "1.3",       "--json",     "-",       NULL};
  struct tg_child_result result;
  if (!tg_child_run(argv, TIMEOUT_S, &result, err)) {
    return false;
  }
  bool ok = result.exit_status == 0;
  if (!ok) {
    tg_error_set(err, "%.*s (server %s)", (int)strcspn(result.err, "\n"), result.err, server->name);
  }
  ok = ok && read_rate(result.out, rate, err);
  tg_child_result_free(&result);
  return ok;
}
