#include "perf/peers/metric.h"

#include <assert.h>
#include <stddef.h>

static const struct tg_peers_metric_info infos[TG_PEERS_METRICS] = {
    [TG_PEERS_RTT_P50] = {"rtt_p50_ms", "RTT p50", "ms", TG_PEERS_RTT, false, false},
    [TG_PEERS_RTT_P99] = {"rtt_p99_ms", "RTT p99", "ms", TG_PEERS_RTT, false, false},
    [TG_PEERS_STALLED] = {"stalled_fraction", "stalled", "fraction", TG_PEERS_RTT, false, false},
    [TG_PEERS_CPS_1] = {"connections_c1_per_s", "connections, 1 at once", "1/s", TG_PEERS_CHURN, true, true},
    [TG_PEERS_CPS_4] = {"connections_c4_per_s", "connections, 4 at once", "1/s", TG_PEERS_CHURN, true, true},
    [TG_PEERS_CPS_32] = {"connections_c32_per_s", "connections, 32 at once", "1/s", TG_PEERS_CHURN, true, true},
    [TG_PEERS_RESUMED_CPS] = {"resumed_c4_per_s", "resumed connections, 4", "1/s", TG_PEERS_RESUMED, true, true},
    [TG_PEERS_KEEPALIVE_RPS] = {"keepalive_per_s", "keep-alive requests", "1/s", TG_PEERS_KEEPALIVE, true, true},
    [TG_PEERS_BIG_GBPS] = {"big_gb_per_s", "1 MiB responses", "GB/s", TG_PEERS_BIG, true, true},
    [TG_PEERS_FULL_CPU] = {"full_cpu_us", "CPU, full handshake", "us", TG_PEERS_CHURN, false, false},
    [TG_PEERS_RESUMED_CPU] = {"resumed_cpu_us", "CPU, resumed handshake", "us", TG_PEERS_RESUMED, false, false},
    [TG_PEERS_REQUEST_CPU] = {"request_cpu_us", "CPU, keep-alive request", "us", TG_PEERS_KEEPALIVE, false, false},
    [TG_PEERS_MIB_CPU] = {"mib_cpu_us", "CPU, MiB sent", "us", TG_PEERS_BIG, false, false},
    [TG_PEERS_IDLE_KIB] = {"idle_kib", "memory, idle connection", "KiB", TG_PEERS_IDLE, false, false},
    [TG_PEERS_IDLE_CPU] = {"idle_cpu_percent", "CPU at rest", "% of a core", TG_PEERS_IDLE, false, false},
    [TG_PEERS_CALLS_EACH] = {"system_calls", "system calls, connection", "calls", TG_PEERS_CALLS, false, false},
    [TG_PEERS_SHARDS_1] = {"shards_1_per_s", "connections, 1 shard", "1/s", TG_PEERS_SHARDS, true, true},
    [TG_PEERS_SHARDS_2] = {"shards_2_per_s", "connections, 2 shards", "1/s", TG_PEERS_SHARDS, true, true},
    [TG_PEERS_SHARDS_4] = {"shards_4_per_s", "connections, 4 shards", "1/s", TG_PEERS_SHARDS, true, true},
    [TG_PEERS_SHARDS_8] = {"shards_8_per_s", "connections, 8 shards", "1/s", TG_PEERS_SHARDS, true, true},
    [TG_PEERS_SHARDS_16] = {"shards_16_per_s", "connections, 16 shards", "1/s", TG_PEERS_SHARDS, true, true},
};

static const struct {
  const char *name;
  const char *what;
} workloads[TG_PEERS_WORKLOADS] = {
    [TG_PEERS_IDLE] = {"idle", "memory and CPU with connections that are open and do nothing"},
    [TG_PEERS_RTT] = {"rtt", "time to the first byte on sequential new connections, client without TCP_NODELAY"},
    [TG_PEERS_CHURN] = {"churn", "new connections, 1, 4 and 32 at once, and the server's CPU for each"},
    [TG_PEERS_RESUMED] = {"resumed", "resumed connections, 4 clients, and the server's CPU for each"},
    [TG_PEERS_KEEPALIVE] = {"keepalive", "requests on connections that stay, and the server's CPU for each"},
    [TG_PEERS_BIG] = {"big", "responses of 1 MiB, and the server's CPU for each MiB"},
    [TG_PEERS_CALLS] = {"calls", "system calls per new connection, counted by strace -c"},
    [TG_PEERS_SHARDS] = {"shards", "new connections with 1, 2, 4, 8 and 16 shards of the project's own server"},
};

const struct tg_peers_metric_info *tg_peers_info(enum tg_peers_metric metric) {
  assert(metric < TG_PEERS_METRICS);
  return &infos[metric];
}

const char *tg_peers_workload_name(enum tg_peers_workload workload) {
  assert(workload < TG_PEERS_WORKLOADS);
  return workloads[workload].name;
}

const char *tg_peers_workload_what(enum tg_peers_workload workload) {
  assert(workload < TG_PEERS_WORKLOADS);
  return workloads[workload].what;
}
