#include "perf/probe/report.h"

#include <time.h>

#include "perf/probe/canary.h"

static void format_end(const struct tg_probe_seen *seen, char *out, size_t size) {
  switch (seen->end) {
    case TG_PROBE_END_NOT_ASKED:
      (void)snprintf(out, size, "-");
      break;
    case TG_PROBE_END_SERVER:
      (void)snprintf(out, size, "%.1f s", seen->ended_s);
      break;
    case TG_PROBE_END_NONE:
      (void)snprintf(out, size, "none in %.0f s", seen->waited_s);
      break;
  }
}

static void print_result(FILE *out, const struct tg_probe_result *result) {
  const struct tg_observed *observed = &result->observed;
  const struct tg_rest *before = &observed->before;
  const struct tg_rest *after = &observed->after;
  char end[32];
  format_end(&observed->seen, end, sizeof(end));
  fprintf(out, "%-10s %-22s %7.0f ms  %-13s  %+7ld  %+5ld  %+10.1f MiB  %5.0f %%  %7.1f s\n",
          tg_probe_outcome_name(result->outcome), result->probe->name, observed->longest_s * 1000, end,
          after->threads - before->threads, after->fds - before->fds, after->rss_mib - before->rss_mib,
          after->cpu * 100, observed->settled_s);
  if (result->why[0] != '\0') {
    fprintf(out, "           %s\n", result->why);
  } else if (observed->seen.note[0] != '\0') {
    fprintf(out, "           %s\n", observed->seen.note);
  }
}

void tg_probe_table(FILE *out, const struct tg_probe_run *run) {
  size_t counts[3] = {0};
  fprintf(out, "%-10s %-22s %10s  %-13s  %7s  %5s  %14s  %7s  %9s\n", "verdict", "probe", "others", "ended by it",
          "threads", "fds", "memory", "CPU", "back in");
  for (size_t i = 0; i < run->num; i++) {
    print_result(out, &run->results[i]);
    counts[run->results[i].outcome]++;
  }
  fprintf(out, "\n%zu/%zu passed", counts[TG_PROBE_PASS], run->num);
  if (counts[TG_PROBE_FAILED] > 0) {
    fprintf(out, ", %zu failed", counts[TG_PROBE_FAILED]);
  }
  if (counts[TG_PROBE_UNDECIDED] > 0) {
    fprintf(out, ", %zu undecided", counts[TG_PROBE_UNDECIDED]);
  }
  fprintf(out, "; %.0f s\n", run->took_s);
}

static json_t *rest(const struct tg_rest *at) {
  return json_pack("{s:I, s:I, s:f, s:f}", "threads", (json_int_t)at->threads, "fds", (json_int_t)at->fds, "rss_mib",
                   at->rss_mib, "cpu_cores", at->cpu);
}

static json_t *deadline(const struct tg_probe_seen *seen) {
  static const char *const ends[] = {"not_asked", "server", "none_within_limit"};
  return json_pack("{s:s, s:o, s:o}", "ended_by", ends[seen->end], "after_s",
                   seen->end == TG_PROBE_END_SERVER ? json_real(seen->ended_s) : json_null(), "waited_s",
                   seen->end == TG_PROBE_END_NOT_ASKED ? json_null() : json_real(seen->waited_s));
}

static json_t *result_json(const struct tg_probe_result *result) {
  const struct tg_observed *observed = &result->observed;
  return json_pack("{s:s, s:s, s:s, s:s, s:b, s:b, s:b, s:{s:I, s:I, s:f, s:f}, s:o, s:o, s:o, s:f}", "name",
                   result->probe->name, "verdict", tg_probe_outcome_name(result->outcome), "why", result->why, "note",
                   observed->seen.note, "ready", observed->ready, "alive", observed->alive, "served_after",
                   observed->served_after, "others", "clients", (json_int_t)observed->others, "not_served",
                   (json_int_t)observed->others_lost, "longest_s", observed->longest_s, "own_late_s",
                   observed->own_late_s, "deadline", deadline(&observed->seen), "before", rest(&observed->before),
                   "after", rest(&observed->after), "settled_s", observed->settled_s);
}

json_t *tg_probe_report(const struct tg_probe_config *config, const struct tg_probe_run *run) {
  json_t *results = json_array();
  for (size_t i = 0; i < run->num; i++) {
    if (json_array_append_new(results, result_json(&run->results[i])) != 0) {
      json_decref(results);
      return NULL;
    }
  }
  time_t now = time(NULL);
  struct tm utc;
  char date[32];
  (void)gmtime_r(&now, &utc);
  (void)strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return json_pack(
      "{s:i, s:s, s:s, s:s, s:{s:s, s:s, s:s, s:i}, s:{s:f, s:f, s:I}, s:{s:i, s:i, s:f, s:f, s:f}, "
      "s:f, s:o}",
      "schema", TG_PROBE_REPORT_SCHEMA, "kind", "probe", "verdict", tg_probe_outcome_name(tg_probe_run_outcome(run)),
      "date", date, "server", "name", config->description->name, "file", config->description->file, "command",
      run->command, "workers", config->launch.workers, "options", "limit_s", config->limit_s, "settle_s",
      config->settle_s, "connections", (json_int_t)config->connections, "tolerances", "threads", TG_REST_THREADS, "fds",
      TG_REST_FDS, "rss_mib", TG_REST_RSS_MIB, "cpu_cores", TG_REST_CPU, "served_s", TG_CANARY_SERVED_S, "took_s",
      run->took_s, "probes", results);
}
