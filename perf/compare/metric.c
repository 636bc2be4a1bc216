#include "perf/compare/metric.h"

#include <assert.h>

const struct tg_compare_metric tg_compare_metrics[TG_COMPARE_METRICS] = {
    {"full_handshake_cpu_us", "us", TG_COMPARE_FULL, TG_AT_MOST, true},
    {"resumed_handshake_cpu_us", "us", TG_COMPARE_RESUMED, TG_AT_MOST, true},
    {"keepalive_request_cpu_us", "us", TG_COMPARE_KEEPALIVE, TG_AT_MOST, true},
    {"mib_cpu_us", "us/MiB", TG_COMPARE_BIG, TG_AT_MOST, true},
    {"rtt_p50_ms", "ms", TG_COMPARE_RTT, TG_AT_MOST, true},
    {"handshakes_rps", "1/s", TG_COMPARE_FULL, TG_AT_LEAST, false},
    {"keepalive_rps", "1/s", TG_COMPARE_KEEPALIVE, TG_AT_LEAST, false},
    {"big_gbps", "GB/s", TG_COMPARE_BIG, TG_AT_LEAST, false},
};

const char *tg_compare_workload_name(enum tg_compare_workload workload) {
  static const char *const names[TG_COMPARE_WORKLOADS] = {
      [TG_COMPARE_FULL] = "full_handshake",
      [TG_COMPARE_RESUMED] = "resumed_handshake",
      [TG_COMPARE_KEEPALIVE] = "keepalive",
      [TG_COMPARE_BIG] = "big",
      [TG_COMPARE_RTT] = "rtt",
  };
  assert(workload < TG_COMPARE_WORKLOADS);
  return names[workload];
}
