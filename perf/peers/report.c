#include "perf/peers/report.h"

#include <math.h>

static json_t *number(double value) {
  return isfinite(value) ? json_real(value) : json_null();
}

static json_t *interval(const struct tg_interval *at) {
  return json_pack("{s:o, s:o, s:o}", "centre", number(at->centre), "low", number(at->low), "high", number(at->high));
}

static json_t *numbers(const double *values, size_t num) {
  json_t *out = json_array();
  for (size_t i = 0; i < num; i++) {
    (void)json_array_append_new(out, number(values[i]));
  }
  return out;
}

static json_t *cell_json(const struct tg_peers_result *result, const struct tg_peers_cell *cell,
                         const struct tg_peers_cell *best) {
  struct tg_interval ratio;
  bool readable = tg_peers_readable(result, cell);
  bool has_ratio = best != NULL && tg_peers_ratio(result, cell, best, &ratio);
  const char *state = readable ? "read" : cell->unreadable ? "unreadable" : cell->left_out ? "left_out" : "not_wanted";
  return json_pack("{s:s, s:o, s:o, s:o, s:I, s:o, s:s}", "state", state, "values", numbers(cell->values, cell->num),
                   "median", readable ? number(tg_peers_median(cell)) : json_null(), "spread",
                   readable ? number(tg_peers_spread(cell)) : json_null(), "client_bound_rounds",
                   (json_int_t)cell->client_bound, "ratio_to_best", has_ratio ? interval(&ratio) : json_null(), "why",
                   cell->why);
}

static json_t *metrics_json(const struct tg_peers_result *result) {
  json_t *rows = json_array();
  for (int i = 0; i < TG_PEERS_METRICS; i++) {
    const enum tg_peers_metric metric = (enum tg_peers_metric)i;
    const struct tg_peers_metric_info *info = tg_peers_info(metric);
    int best = tg_peers_best(result, metric);
    json_t *servers = json_object();
    for (size_t j = 0; j < result->num_servers; j++) {
      (void)json_object_set_new(
          servers, result->servers[j].name,
          cell_json(result, &result->servers[j].cells[i], best < 0 ? NULL : &result->servers[best].cells[i]));
    }
    (void)json_array_append_new(
        rows, json_pack("{s:s, s:s, s:s, s:s, s:s?, s:o}", "name", info->name, "unit", info->unit, "workload",
                        tg_peers_workload_name(info->workload), "better", info->more_is_better ? "more" : "less",
                        "best", best < 0 ? NULL : result->servers[best].name, "servers", servers));
  }
  return rows;
}

static json_t *calls_json(const struct tg_peers_result *result, const struct tg_peers_server *server) {
  json_t *calls = json_object();
  for (size_t i = 0; i < server->num_calls; i++) {
    (void)json_object_set_new(calls, server->calls[i].name, numbers(server->calls[i].values, result->rounds));
  }
  return calls;
}

static json_t *servers_json(const struct tg_peers_result *result) {
  json_t *rows = json_array();
  for (size_t i = 0; i < result->num_servers; i++) {
    const struct tg_peers_server *server = &result->servers[i];
    (void)json_array_append_new(
        rows, json_pack("{s:s, s:s, s:s?, s:s?, s:s, s:b, s:b, s:o}", "name", server->name, "file", server->file,
                        "package", server->package, "version", server->version[0] != '\0' ? server->version : NULL,
                        "command", server->command, "own", server->own, "floor", server->floor,
                        "system_calls_per_connection", calls_json(result, server)));
  }
  return rows;
}

static json_t *bars_json(const struct tg_peers_bar bars[TG_PEERS_BARS]) {
  json_t *rows = json_array();
  for (size_t i = 0; i < TG_PEERS_BARS; i++) {
    const struct tg_peers_bar *bar = &bars[i];
    (void)json_array_append_new(rows, json_pack("{s:s, s:s, s:s, s:o, s:s}", "what", bar->what, "bound", bar->bound,
                                                "verdict", tg_peers_bar_word(bar->verdict), "value",
                                                bar->has_value ? interval(&bar->value) : json_null(), "why", bar->why));
  }
  return rows;
}

static json_t *absent_json(const struct tg_peers_result *result) {
  json_t *rows = json_array();
  for (size_t i = 0; i < result->num_absent; i++) {
    (void)json_array_append_new(rows, json_string(result->absent[i]));
  }
  return rows;
}

json_t *tg_peers_report(const struct tg_peers_result *result, const struct tg_peers_bar bars[TG_PEERS_BARS],
                        const struct tg_peers_run_facts *facts) {
  return json_pack("{s:i, s:s, s:s, s:s, s:I, s:i, s:f, s:o, s:f, s:o, s:o, s:o, s:o, s:o, s:o, s:O?}", "schema",
                   TG_PEERS_REPORT_SCHEMA, "kind", "compare", "verdict",
                   tg_peers_undecided(result) ? "undecided" : "compared", "date", facts->date, "rounds",
                   (json_int_t)result->rounds, "workers", facts->workers, "took_s", facts->took_s, "stolen_fraction",
                   number(facts->stolen), "confidence", TG_PEERS_CONFIDENCE, "servers", servers_json(result), "skipped",
                   absent_json(result), "metrics", metrics_json(result), "in_memory_handshake_us",
                   cell_json(result, &result->in_memory, NULL), "exact_calls",
                   result->exact_calls > 0 ? json_integer(result->exact_calls) : json_null(), "bars", bars_json(bars),
                   "provenance", facts->provenance);
}
