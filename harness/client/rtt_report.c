#include "harness/client/rtt_report.h"

#include <assert.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>

#include "perf/stats/quantile.h"

static const char tg_schema[] = "tlsgate.rtt/1";

static json_t *summary(const double *values, size_t num) {
  assert(num > 0);
  double *sorted = malloc(num * sizeof(*sorted));
  if (sorted == NULL) {
    return NULL;
  }
  memcpy(sorted, values, num * sizeof(*sorted));
  tg_sort(sorted, num);
  json_t *json = json_pack("{s:f, s:f, s:f, s:f}", "p50", tg_quantile_sorted(sorted, num, 0.5), "p90",
                           tg_quantile_sorted(sorted, num, 0.9), "p99", tg_quantile_sorted(sorted, num, 0.99), "max",
                           sorted[num - 1]);
  free(sorted);
  return json;
}

static json_t *list(const double *values, size_t num) {
  json_t *json = json_array();
  for (size_t i = 0; i < num; i++) {
    if (json_array_append_new(json, json_real(values[i])) != 0) {
      json_decref(json);
      return NULL;
    }
  }
  return json;
}

json_t *tg_rtt_report(const struct tg_rtt_result *result, uint32_t clients) {
  json_int_t stalled = 0;
  for (size_t i = 0; i < result->num_rtt; i++) {
    stalled += result->rtt_ms[i] >= TG_RTT_STALLED_MS;
  }
  return json_pack(
      "{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:o, s:o, s:{s:o, s:o}}", "schema", tg_schema,
      "tls_version", result->tls_version == TLS1_3_VERSION ? "1.3" : "1.2", "count", (json_int_t)result->num_handshake,
      "requests", (json_int_t)(result->num_rtt / result->num_handshake), "resumed", (json_int_t)result->resumed,
      "hello_retry_requests", (json_int_t)result->hello_retry_requests, "unclean_closes",
      (json_int_t)result->unclean_closes, "stalled", stalled, "clients", (json_int_t)clients, "shed",
      (json_int_t)result->shed, "seconds", result->seconds, "client_cpu_ms", result->client_cpu_ms, "rtt_ms",
      summary(result->rtt_ms, result->num_rtt), "handshake_ms", summary(result->handshake_ms, result->num_handshake),
      "samples", "rtt_ms", list(result->rtt_ms, result->num_rtt), "handshake_ms",
      list(result->handshake_ms, result->num_handshake));
}

json_t *tg_rtt_report_failure(const struct tg_rtt_failure *why) {
  return json_pack("{s:s, s:s, s:s}", "schema", tg_schema, "error", why->error.text, "phase",
                   why->in_warm_up ? "warm-up" : "measurement");
}
